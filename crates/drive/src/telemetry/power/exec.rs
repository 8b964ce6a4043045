//! A command that prints watts on its first line of output.
//!
//! The command is somebody else's program, so nothing about it is trusted: it has a limit of time and of output, is
//! ended with all it has started, and what still hangs then is left to a thread that nobody waits for.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use measure::Instant;
use rustix::process::{Pid, Signal, kill_process_group};

use super::MeterReader;
use super::value::MeterAmount;

/// A number of watts fits in this many times over.
const OUTPUT_BYTES_MAX: u64 = 4096;

/// Runs a command for each reading.
#[derive(Debug)]
pub(super) struct ExecMeter {
    argv: Vec<String>,
    limit: Duration,
    /// Threads of an earlier reading that have not ended.
    behind: Vec<JoinHandle<()>>,
}

impl ExecMeter {
    /// A meter that is read by running `argv`, without a shell, and waiting so long.
    pub(super) const fn new(argv: Vec<String>, limit: Duration) -> Self {
        Self { argv, limit, behind: Vec::new() }
    }

    /// The words of the command, for people.
    fn name(&self) -> String {
        self.argv.join(" ")
    }

    fn amount(&mut self) -> Result<MeterAmount, String> {
        self.behind.retain(|thread| !thread.is_finished());
        if !self.behind.is_empty() {
            return Err(format!("`{}` of an earlier reading still hangs", self.name()));
        }
        let line = self.first_line()?;
        MeterAmount::read(&line).ok_or_else(|| match line.trim() {
            "" => format!("`{}` printed nothing on its first line, not watts", self.name()),
            line => format!("`{}` printed {line:?}, not watts", self.name()),
        })
    }

    fn first_line(&mut self) -> Result<String, String> {
        let mut child = start(&self.argv)?;
        let (sender, receiver) = channel();
        if let Some(output) = child.stdout.take() {
            self.behind.push(thread::spawn(move || {
                let mut line = Vec::new();
                let read = BufReader::new(output.take(OUTPUT_BYTES_MAX)).read_until(b'\n', &mut line);
                // Who gave up waiting does not listen any more.
                let _ = sender.send(read.map(|_| String::from_utf8_lossy(&line).into_owned()));
            }));
        }
        let limit = self.limit;
        let line = receiver.recv_timeout(limit);
        self.end(child);
        match line {
            Ok(line) => line.map_err(|error| format!("cannot read from `{}`: {error}", self.name())),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("`{}` printed nothing within {} ms", self.name(), limit.as_millis()))
            }
            Err(RecvTimeoutError::Disconnected) => Err(format!("`{}` cannot be read from", self.name())),
        }
    }

    /// Ends the command and all it has started, and lets a thread wait for that: a process that hangs in the kernel
    /// ends when it pleases.
    fn end(&mut self, mut child: Child) {
        // The child has not been waited for, so its number cannot belong to another process yet. Whether the group
        // is still there does not matter.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        self.behind.push(thread::spawn(move || {
            let _ = child.wait();
        }));
    }
}

/// Starts a command whose output is read.
pub(super) fn start(argv: &[String]) -> Result<Child, String> {
    let (program, arguments) = argv.split_first().ok_or("the command has no words")?;
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // A group of its own, so that what it starts ends with it.
        .process_group(0)
        .spawn()
        .map_err(|error| format!("cannot run `{}`: {error}", argv.join(" ")))
}

impl MeterReader for ExecMeter {
    fn read(&mut self, _: Instant) -> Result<Option<MeterAmount>, String> {
        self.amount().map(Some)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn meter(argv: &[&str], limit_ms: u64) -> ExecMeter {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        ExecMeter::new(argv, Duration::from_millis(limit_ms))
    }

    /// A reading of a command that gets all the time it may need.
    fn read(script: &str) -> Result<f64, String> {
        let amount = meter(&["sh", "-c", script], 60_000).read(Instant::ZERO)?;
        Ok(amount.expect("a reading").watts(1.0))
    }

    #[test]
    fn the_first_line_is_the_reading() {
        assert_eq!(read("echo 8.25; echo 99"), Ok(8.25));
        // Without a newline, and with more to come that nobody waits for.
        assert_eq!(read("printf ' 3 '"), Ok(3.0));
        assert_eq!(read("echo 5 W; sleep 600"), Ok(5.0));
    }

    #[test]
    fn what_is_no_number_is_a_gap() {
        assert!(read("echo 5 V").expect_err("a gap").contains("printed \"5 V\", not watts"));
        assert!(read("echo nan").is_err());
        assert!(read("exit 3").expect_err("a gap").contains("printed nothing"));
        assert!(read("yes x | tr -d '\\n'").expect_err("a gap").contains("not watts"));
        let missing = meter(&["/no/such/meter"], 1000).read(Instant::ZERO);
        assert!(missing.expect_err("a gap").contains("cannot run `/no/such/meter`"));
    }

    /// Goal: a meter that hangs costs its period and no more, and does not pile up. Method: one that sleeps, and
    /// one whose grandchild holds the pipe open.
    #[test]
    fn a_command_that_hangs_is_ended_with_all_it_has_started() {
        for script in ["sleep 600", "sleep 600 & wait"] {
            let mut meter = meter(&["sh", "-c", script], 50);
            let gap = meter.read(Instant::ZERO).expect_err("a gap");
            assert!(gap.contains("printed nothing within 50 ms"), "{gap}");
            for thread in meter.behind.drain(..) {
                thread.join().expect("it ends, because the group was killed");
            }
        }
    }
}
