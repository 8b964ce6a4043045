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

use measure::{Instant, Watts};
use rustix::process::{Pid, Signal, kill_process_group};

use super::{SOURCE, reading, watts};
use crate::telemetry::{Reading, Sampler};

/// A run that ends waits for its samplers; for a meter that hangs, this long at most.
const LIMIT_MAX: Duration = Duration::from_secs(5);
/// A number of watts fits in this many times over.
const OUTPUT_BYTES_MAX: u64 = 4096;

/// Runs a command once a period.
#[derive(Debug)]
pub struct CommandSampler {
    argv: Vec<String>,
    period: Duration,
    /// Threads of an earlier reading that have not ended.
    behind: Vec<JoinHandle<()>>,
}

impl CommandSampler {
    /// A sampler of the command `argv`, which is run without a shell.
    pub const fn new(argv: Vec<String>, period: Duration) -> Self {
        Self { argv, period, behind: Vec::new() }
    }

    /// The words of the command, for people.
    fn name(&self) -> String {
        self.argv.join(" ")
    }

    fn watts(&mut self) -> Result<Watts, String> {
        self.behind.retain(|thread| !thread.is_finished());
        if !self.behind.is_empty() {
            return Err(format!("`{}` of an earlier reading still hangs", self.name()));
        }
        let line = self.first_line()?;
        watts(&line).ok_or_else(|| match line.trim() {
            "" => format!("`{}` printed nothing on its first line, not watts", self.name()),
            line => format!("`{}` printed {line:?}, not watts", self.name()),
        })
    }

    fn first_line(&mut self) -> Result<String, String> {
        let (program, arguments) = self.argv.split_first().ok_or("the command has no words")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // A group of its own, so that what it starts ends with it.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("cannot run `{}`: {error}", self.name()))?;
        let (sender, receiver) = channel();
        if let Some(output) = child.stdout.take() {
            self.behind.push(thread::spawn(move || {
                let mut line = Vec::new();
                let read = BufReader::new(output.take(OUTPUT_BYTES_MAX)).read_until(b'\n', &mut line);
                // Who gave up waiting does not listen any more.
                let _ = sender.send(read.map(|_| String::from_utf8_lossy(&line).into_owned()));
            }));
        }
        let limit = self.period.min(LIMIT_MAX);
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

impl Sampler for CommandSampler {
    fn source(&self) -> &'static str {
        SOURCE
    }

    fn period(&self) -> Duration {
        self.period
    }

    fn sample(&mut self, now: Instant) -> Reading {
        let watts = self.watts();
        reading(now, watts)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn sampler(argv: &[&str], period_ms: u64) -> CommandSampler {
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        CommandSampler::new(argv, Duration::from_millis(period_ms))
    }

    /// A reading of a command that gets all the time it may need.
    fn row(script: &str) -> measure::record::TelemetryRow {
        sampler(&["sh", "-c", script], 60_000).sample(Instant::ZERO).row
    }

    #[test]
    fn the_first_line_is_the_reading() {
        assert_eq!(row("echo 8.25; echo 99").power, Some(Watts::new(8.25)));
        // Without a newline, and with more to come that nobody waits for.
        assert_eq!(row("printf ' 3 '").power, Some(Watts::new(3.0)));
        assert_eq!(row("echo 5; sleep 600").power, Some(Watts::new(5.0)));
    }

    #[test]
    fn what_is_no_number_is_a_gap() {
        assert!(row("echo 5 W").gap.expect("a gap").contains("printed \"5 W\", not watts"));
        assert!(row("echo nan").gap.is_some());
        assert!(row("exit 3").gap.expect("a gap").contains("printed nothing"));
        assert!(row("yes x | tr -d '\\n'").gap.expect("a gap").contains("not watts"));
        let missing = sampler(&["/no/such/meter"], 1000).sample(Instant::ZERO).row;
        assert!(missing.gap.expect("a gap").contains("cannot run `/no/such/meter`"));
    }

    /// Goal: a meter that hangs costs its period and no more, and does not pile up. Method: one that sleeps, and
    /// one whose grandchild holds the pipe open.
    #[test]
    fn a_command_that_hangs_is_ended_with_all_it_has_started() {
        for script in ["sleep 600", "sleep 600 & wait"] {
            let mut sampler = sampler(&["sh", "-c", script], 50);
            let gap = sampler.sample(Instant::ZERO).row.gap.expect("a gap");
            assert!(gap.contains("printed nothing within 50 ms"), "{gap}");
            for thread in sampler.behind.drain(..) {
                thread.join().expect("it ends, because the group was killed");
            }
        }
    }
}
