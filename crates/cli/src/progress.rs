//! What a run shows while it is under way: phase, speed, temperature, time left.
//!
//! On a terminal one line is written over ten times a second; elsewhere a line appears every few seconds.
//! Real time decides, also for simulated runs, whose own time runs thousands of times faster.

use std::time::Duration;

use capture::session::{self, Observer};
use measure::{Bytes, Clock as _, Instant, MonotonicClock};

use crate::printer::Printer;
use crate::run_live::RunLive;

/// Fast enough to look alive, slow enough to read.
const LIVE_PERIOD: Duration = Duration::from_millis(100);
/// For logs: a run of an hour makes 720 lines.
const PLAIN_PERIOD: Duration = Duration::from_secs(5);

/// Shows how far a run has come, not more often than can be read.
pub(crate) struct ProgressLine<'a> {
    printer: &'a mut Printer,
    quiet: bool,
    clock: MonotonicClock,
    period: Duration,
    /// The next line is due then. None before a first period is over: a short run needs no progress.
    due: Instant,
    live: Option<RunLive>,
    /// Whether a face on another machine is told what is new.
    tells_news: bool,
    /// What came while the screen had the terminal: notes, and warnings.
    waiting: Vec<(bool, String)>,
}

impl<'a> ProgressLine<'a> {
    /// Shows on `printer`; with `quiet` it shows nothing.
    pub(crate) fn new(printer: &'a mut Printer, quiet: bool) -> Self {
        let period = if printer.progress_is_live() { LIVE_PERIOD } else { PLAIN_PERIOD };
        Self {
            printer,
            quiet,
            clock: MonotonicClock::start(),
            period,
            due: Instant::ZERO + period,
            live: None,
            tells_news: false,
            waiting: Vec::new(),
        }
    }

    /// How much of a file is filled before the run.
    pub(crate) fn filling(&mut self, done: Bytes, total: Bytes) {
        self.show(|| format!("filling the file before the run: {done} of {total}"));
    }

    /// Shows the run on other faces too from now on.
    pub(crate) fn show_live(&mut self, live: RunLive) {
        self.live = Some(live);
    }

    /// Tells a face on another machine once a second what is new.
    pub(crate) const fn tell_news(&mut self) {
        self.tells_news = true;
    }

    fn is_on_screen(&self) -> bool {
        self.live.as_ref().is_some_and(RunLive::is_on_screen)
    }

    /// A message beside it.
    pub(crate) fn message(&mut self, text: &str) {
        self.printer.message(text);
    }

    fn show(&mut self, line: impl FnOnce() -> String) {
        let now = self.clock.now();
        if !self.quiet && now >= self.due {
            self.due = now + self.period;
            self.printer.progress(&line());
        }
    }
}

impl Observer for ProgressLine<'_> {
    fn progress(&mut self, progress: &session::Progress<'_>) {
        if let Some(live) = &mut self.live {
            let is_second = live.progress(progress, time_left(progress));
            if is_second && self.tells_news {
                // That nobody reads them is known by the end of standard input.
                let _ = live.news().tell(self.printer);
            }
        }
        if !self.is_on_screen() {
            self.show(|| line(progress));
        }
    }

    fn note(&mut self, text: &str) {
        if self.is_on_screen() {
            self.waiting.push((false, text.to_owned()));
        } else if !self.quiet {
            self.printer.message(&format!("note: {text}"));
        }
    }

    fn left_changed(&mut self, text: &str) {
        if self.is_on_screen() {
            self.waiting.push((true, text.to_owned()));
        } else {
            self.printer.warning(text);
        }
    }
}

impl Drop for ProgressLine<'_> {
    /// The terminal is given back, and what waited for it is said.
    fn drop(&mut self) {
        drop(self.live.take());
        for (is_warning, text) in std::mem::take(&mut self.waiting) {
            if is_warning {
                self.printer.warning(&text);
            } else {
                self.printer.message(&format!("note: {text}"));
            }
        }
    }
}

fn line(progress: &session::Progress<'_>) -> String {
    let mut parts =
        vec![format!("[{}/{}] {}", progress.phase_index + 1, progress.phase_count, progress.phase)];
    parts.push(progress.speed.map_or_else(|| "idle".to_owned(), |speed| speed.to_string()));
    parts.extend(progress.composite.map(|composite| composite.to_string()));
    parts.extend(progress.power.map(|power| power.to_string()));
    if progress.errors > 0 {
        parts.push(format!("{} I/O errors", progress.errors));
    }
    parts.push(time_left(progress));
    parts.join("  ")
}

fn time_left(progress: &session::Progress<'_>) -> String {
    match progress.left {
        Some(left) => format!("{} left", minutes(left)),
        None => format!("{} gone", minutes(progress.elapsed)),
    }
}

/// `1:02:03`, `2:03`, `0:03`.
fn minutes(span: Duration) -> String {
    let seconds = span.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod test {
    use measure::{BytesPerSec, Kelvin};

    use super::*;

    #[test]
    fn a_line_tells_what_is_known_and_no_more() {
        let progress = session::Progress {
            phase_index: 1,
            phase_count: 3,
            phase: "read",
            elapsed: Duration::from_secs(9),
            expected: None,
            left: Some(Duration::from_secs(3723)),
            speed: Some(BytesPerSec::new(2.4e9)),
            read_speed: None,
            write_speed: None,
            ios_per_s: None,
            composite: Some(Kelvin::from_kelvin(353)),
            power: None,
            errors: 0,
        };
        assert_eq!(line(&progress), "[2/3] read  2.40 GB/s  80 °C  1:02:03 left");
        let unknown = session::Progress { speed: None, composite: None, errors: 2, left: None, ..progress };
        assert_eq!(line(&unknown), "[2/3] read  idle  2 I/O errors  0:09 gone");
    }
}
