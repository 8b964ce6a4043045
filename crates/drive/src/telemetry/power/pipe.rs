//! A program that keeps running and prints a line a reading: loggers of USB testers, sigrok-cli, mosquitto_sub.
//!
//! A line is watts, or a time and watts; the time is passed over, a reading has that of its arrival. Lines that come
//! between two looks are averaged, so that no energy is lost and a program that floods costs nothing. One that ends is
//! started again, ever later; it is ended with the run, with all it has started.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use measure::Instant;
use rustix::process::{Pid, Signal, kill_process_group};

use super::value::MeterAmount;
use super::{MeterReader, exec};

/// Time between two looks.
pub(super) const PERIOD: Duration = Duration::from_millis(100);

/// A number of watts fits in this many times over.
const LINE_BYTES_MAX: u64 = 4096;

/// A program that ends at once is started again after this, then after twice as long, up to the longest.
const PAUSE_FIRST: Duration = Duration::from_secs(1);
const PAUSE_LONGEST: Duration = Duration::from_secs(30);

/// Lines of one look. One that floods is held up until the next, so that it takes no processor from the load.
const LINES_MAX: u32 = 1000;

/// A program that prints nothing for so long has a gap.
const SILENCE: Duration = Duration::from_secs(10);

/// A program and what it has printed.
pub(super) struct PipeMeter {
    argv: Vec<String>,
    running: Option<RunningLogger>,
    /// When it may be started again, and the pause after that.
    again: (Instant, Duration),
    /// When a line came, or a gap was told.
    heard: Instant,
}

struct RunningLogger {
    child: Child,
    printed: Arc<Shared>,
}

/// What the thread that listens and the one that looks share.
#[derive(Default)]
struct Shared {
    printed: Mutex<Printed>,
    looked: Condvar,
}

/// What has come since the last look.
#[derive(Default)]
struct Printed {
    /// Of watts where a line names its unit, else of the unit that is stated.
    sum: f64,
    lines: u32,
    in_watts: bool,
    not_understood: Option<String>,
    ended: bool,
}

impl PipeMeter {
    pub(super) const fn new(argv: Vec<String>) -> Self {
        Self { argv, running: None, again: (Instant::ZERO, PAUSE_FIRST), heard: Instant::ZERO }
    }

    fn name(&self) -> String {
        self.argv.join(" ")
    }

    fn start(&mut self, now: Instant) -> Result<(), String> {
        let (_, pause) = self.again;
        self.again = (now + pause, (pause * 2).min(PAUSE_LONGEST));
        self.heard = now;
        let mut child = exec::start(&self.argv)?;
        let printed = Arc::new(Shared::default());
        if let Some(output) = child.stdout.take() {
            let printed = Arc::clone(&printed);
            thread::spawn(move || listen(output, &printed));
        }
        self.running = Some(RunningLogger { child, printed });
        Ok(())
    }
}

impl MeterReader for PipeMeter {
    fn read(&mut self, now: Instant) -> Result<Option<MeterAmount>, String> {
        let Some(running) = &self.running else {
            if now < self.again.0 {
                return Ok(None);
            }
            return self.start(now).map(|()| None);
        };
        let shared = Arc::clone(&running.printed);
        let printed = std::mem::take(&mut *shared.printed.lock().unwrap_or_else(PoisonError::into_inner));
        shared.looked.notify_one();
        if printed.lines > 0 {
            self.heard = now;
            if !printed.ended {
                self.again.1 = PAUSE_FIRST;
            }
        }
        match (printed.ended, printed.lines) {
            (true, 0) => self.running = None,
            // Its last lines first; that it has ended is told at the next look.
            (true, _) => shared.printed.lock().unwrap_or_else(PoisonError::into_inner).ended = true,
            (false, _) => {}
        }
        match printed {
            Printed { lines: LINES_MAX.., .. } => Err(format!(
                "`{}` prints {LINES_MAX} lines and more between two looks; have it print means of 1 ms or longer",
                self.name()
            )),
            Printed { lines: lines @ 1.., sum, in_watts, .. } => {
                let mean = sum / f64::from(lines);
                Ok(Some(if in_watts { MeterAmount::of_watts(mean) } else { MeterAmount::bare(mean) }))
            }
            Printed { not_understood: Some(line), .. } => {
                self.heard = now;
                Err(format!("`{}` printed {line:?}, not watts", self.name()))
            }
            Printed { ended: true, .. } => Err(format!("`{}` has ended; it is started again", self.name())),
            _ if now.since(self.heard) >= SILENCE => {
                self.heard = now;
                let seconds = SILENCE.as_secs();
                Err(format!(
                    "`{}` printed no line for {seconds} s; where it keeps lines back, put `stdbuf -oL` before it",
                    self.name()
                ))
            }
            _ => Ok(None),
        }
    }
}

impl Drop for RunningLogger {
    fn drop(&mut self) {
        // The child has not been waited for, so its number cannot belong to another process yet.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        // Killed, it ends as soon as the kernel lets it; one that hangs there is not waited for.
        let _ = self.child.try_wait();
    }
}

/// Adds up lines until the program ends or nobody looks any more.
fn listen(output: ChildStdout, shared: &Arc<Shared>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = output.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        let mut printed = shared.printed.lock().unwrap_or_else(PoisonError::into_inner);
        // Who looks no more ends the program, and with it this.
        while printed.lines >= LINES_MAX && Arc::strong_count(shared) > 1 {
            let waited = shared.looked.wait_timeout(printed, PERIOD);
            printed = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        if Arc::strong_count(shared) == 1 || !matches!(read, Ok(1..)) {
            printed.ended = true;
            return;
        }
        let text = String::from_utf8_lossy(&line);
        match amount(&text) {
            Some(amount) => {
                printed.sum += amount.watts(1.0);
                printed.in_watts = amount.names_unit();
                printed.lines += 1;
            }
            None if text.trim().is_empty() || text.trim_start().starts_with('#') => {}
            None => printed.not_understood = Some(text.trim().chars().take(60).collect()),
        }
    }
}

/// Watts, or a time and watts.
fn amount(line: &str) -> Option<MeterAmount> {
    MeterAmount::read(line).or_else(|| {
        let (time, watts) = line.trim().split_once([' ', '\t', ',', ';'])?;
        time.parse::<f64>().ok().filter(|time| time.is_finite())?;
        MeterAmount::read(watts)
    })
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: a program that floods is held up and told so. Method: the meter looks once the listener has stopped taking
    /// lines.
    #[test]
    fn a_flood_is_held_up_and_told() {
        let mut meter = PipeMeter::new(vec!["yes".to_owned(), "8.25".to_owned()]);
        assert_eq!(meter.read(Instant::ZERO), Ok(None));
        let lines = |meter: &PipeMeter| {
            let running = meter.running.as_ref().expect("it runs");
            running.printed.printed.lock().unwrap_or_else(PoisonError::into_inner).lines
        };
        while lines(&meter) < LINES_MAX {
            thread::yield_now();
        }
        assert_eq!(lines(&meter), LINES_MAX);
        let why = meter.read(Instant::ZERO).expect_err("a flood");
        assert!(why.contains("1000 lines and more"), "{why}");
    }
}
