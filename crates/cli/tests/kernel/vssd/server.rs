//! `heatsoak vssd` on this machine, for a guest to connect to; and a bell that the guest can ring.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;

use crate::kernel::guest::Guest;
use crate::kernel::output::Output;

/// A running virtual SSD. It ends with this value.
pub(crate) struct Vssd {
    process: Child,
    arguments: Vec<String>,
    told: Value,
}

impl Vssd {
    /// Starts it on any free port.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let (process, told) = start(&arguments, 0);
        Self { process, arguments, told }
    }

    /// Its port on the loopback.
    pub(crate) fn port(&self) -> u16 {
        self.told["port"].as_u64().and_then(|port| u16::try_from(port).ok()).expect("it tells its port")
    }

    /// The names of its subsystems, in order.
    pub(crate) fn nqns(&self) -> Vec<&str> {
        let drives = self.told["drives"].as_array().expect("it tells its drives");
        drives.iter().map(|drive| drive["nqn"].as_str().expect("each has a name")).collect()
    }

    /// The shell line that connects a guest to its drive number `at`; `options` are nvme-cli's. A connection on
    /// which nothing is heard for ten minutes is lost, which no crowd of other work brings about.
    pub(crate) fn connect(&self, at: usize, options: &str) -> String {
        format!("nvme connect -t tcp -a $host -s {} -n {} -k 600 {options}\n", self.port(), self.nqns()[at])
    }

    /// A script that has its first drive as `/dev/nvme0`.
    pub(crate) fn while_connected(&self, script: &str) -> String {
        format!(
            "{}wait_for test -b /dev/nvme0n1\n{script}\nsection disconnected; nvme disconnect -d nvme0\n",
            self.connect(0, "")
        )
    }

    /// Ends it as a power cut would (SIGKILL), and starts it again on the same port.
    pub(crate) fn crash_and_restart(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
        (self.process, self.told) = start(&self.arguments, self.port());
    }
}

impl Drop for Vssd {
    fn drop(&mut self) {
        // It may have ended already; then there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn start(arguments: &[String], port: u16) -> (Child, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heatsoak"));
    command.args(["vssd", "--json", "--listen", &format!("127.0.0.1:{port}")]).args(arguments);
    let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the binary runs");
    let output = process.stdout.take().expect("its output was asked for");
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).expect("it prints a line when it listens");
    let told = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    (process, told)
}

/// What a guest rings to have something done here.
pub(crate) struct Bell {
    listener: TcpListener,
}

impl Bell {
    /// One on a free port.
    pub(crate) fn new() -> Self {
        Self { listener: TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port") }
    }

    /// The shell line that rings it. When what it rings for has been done, it prints `done` and returns.
    pub(crate) fn ring(&self) -> String {
        format!("echo | nc $host {}\n", self.listener.local_addr().expect("it listens").port())
    }

    /// Runs the guest; once it rings, does `act` and lets it go on.
    pub(crate) fn answer(&self, guest: Guest, act: impl FnOnce()) -> Output {
        let address = self.listener.local_addr().expect("it listens");
        thread::scope(|scope| {
            let run = scope.spawn(|| {
                let output = catch_unwind(AssertUnwindSafe(|| guest.run()));
                // A guest that ended without a ring must not be waited for: this is a call without one.
                drop(TcpStream::connect(address));
                output.unwrap_or_else(|panic| resume_unwind(panic))
            });
            let (mut caller, _) = self.listener.accept().expect("somebody calls");
            if caller.read(&mut [0; 1]).is_ok_and(|bytes| bytes > 0) {
                act();
                caller.write_all(b"done\n").expect("the guest listens");
            }
            drop(caller);
            run.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }
}
