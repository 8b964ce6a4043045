//! What comes from the other machine, on this terminal: shown by the printer, which keeps it from steering anything.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use capture::session::{Stop, StopFlag};
use remote::{RemoteView, StopLevel};

use super::live::NewsView;
use crate::printer::Printer;

/// Messages that wait for the terminal.
const WAITING_MAX: usize = 1000;

/// Makes the folder for the copy.
type MakeFolder = Box<dyn FnMut() -> Result<PathBuf, String>>;

/// Shows what a command on another machine prints and says.
pub(super) struct TerminalView<'a> {
    printer: &'a mut Printer,
    stop: &'a StopFlag,
    host: String,
    make: Option<MakeFolder>,
    /// Whether what it prints is shown: a single run's result is made here, of the copy.
    shows_output: bool,
    /// News of drives, where that is what it prints.
    live: Option<NewsView>,
    /// What came while the screen had the terminal.
    waiting: Vec<String>,
    /// Its folder there, and the copy.
    folder: Option<(String, PathBuf)>,
    /// Output that is not a whole line yet.
    line: Vec<u8>,
    /// Why output could not be printed.
    failed: io::Result<()>,
}

impl<'a> TerminalView<'a> {
    pub(super) fn new(printer: &'a mut Printer, stop: &'a StopFlag) -> Self {
        Self {
            printer,
            stop,
            host: String::new(),
            make: None,
            shows_output: true,
            live: None,
            waiting: Vec::new(),
            folder: None,
            line: Vec::new(),
            failed: Ok(()),
        }
    }

    /// For a run: `make` makes the folder for its copy.
    pub(super) fn with_folder(mut self, host: &str, make: MakeFolder, shows_output: bool) -> Self {
        (self.host, self.make, self.shows_output) = (host.to_owned(), Some(make), shows_output);
        self
    }

    /// What it prints are news of drives.
    pub(super) fn with_live(mut self, live: NewsView) -> Self {
        self.live = Some(live);
        self
    }

    /// The run's name there, and its copy.
    pub(super) fn arrived(&self) -> Option<(String, PathBuf)> {
        self.folder.as_ref().map(|(there, here)| (kept_name(there), here.clone()))
    }

    /// Gives the terminal back, and prints what is left.
    pub(super) fn finish(mut self) -> io::Result<()> {
        drop(self.live.take());
        for line in std::mem::take(&mut self.waiting) {
            self.say(&line);
        }
        if !self.line.is_empty() {
            self.stdout(b"\n");
        }
        self.failed
    }

    fn say(&mut self, line: &str) {
        if let Some(text) = line.strip_prefix("warning: ") {
            self.printer.warning(text);
        } else {
            self.printer.message(line);
        }
    }

    /// Text with the copy's path where the path there stands.
    fn local(&self, text: &str) -> String {
        match &self.folder {
            Some((there, here)) => text.replace(there.as_str(), &here.display().to_string()),
            None => text.to_owned(),
        }
    }
}

impl RemoteView for TerminalView<'_> {
    fn stdout(&mut self, bytes: &[u8]) {
        if let Some(live) = &mut self.live {
            if self.failed.is_ok() {
                self.failed = live.stdout(bytes, self.printer);
            }
            return;
        }
        if !self.shows_output {
            return;
        }
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = std::mem::take(&mut self.line);
            let text = self.local(&String::from_utf8_lossy(&line));
            if self.failed.is_ok() {
                self.failed = self.printer.coloured_data(&format!("{text}\n"));
            }
        }
    }

    fn stderr(&mut self, line: &str) {
        // What failed there is told of there: a disk that is full is that one, and a path one of that machine.
        let line = match line.strip_prefix("error: ").filter(|_| self.folder.is_some()) {
            Some(what) => format!("error on {}: {what}", self.host),
            None => self.local(line),
        };
        let is_progress = line.starts_with('[');
        if self.live.as_ref().is_some_and(NewsView::is_on_screen) {
            // Progress is on the screen.
            self.waiting.extend((!is_progress && self.waiting.len() < WAITING_MAX).then_some(line));
        } else if is_progress && self.printer.progress_is_live() {
            self.printer.progress(&line);
        } else {
            self.say(&line);
        }
    }

    fn folder(&mut self, there: &str) -> Result<PathBuf, String> {
        let make = self.make.as_mut().ok_or("it sends a run folder that nobody asked for")?;
        let here = make()?;
        Marker { host: self.host.clone(), run: kept_name(there) }.write(&here)?;
        self.folder = Some((there.to_owned(), here.clone()));
        if let Some(live) = &mut self.live {
            live.arrives_in(here.clone());
        }
        Ok(here)
    }

    fn stop(&mut self) -> StopLevel {
        let by_keys = match self.live.as_mut().map_or(0, NewsView::heed_keys) {
            0 => StopLevel::No,
            1 => StopLevel::Cleanly,
            _ => StopLevel::AtOnce,
        };
        // Nobody reads what is shown any more.
        let unread = if self.failed.is_ok() { StopLevel::No } else { StopLevel::Cleanly };
        let by_signals = match self.stop.asks() {
            Stop::No => StopLevel::No,
            Stop::Cleanly => StopLevel::Cleanly,
            Stop::AtOnce => StopLevel::AtOnce,
        };
        by_keys.max(by_signals).max(unread)
    }
}

/// The name of a run by its folder there, `.../NAME/run`.
pub(super) fn kept_name(there: &str) -> String {
    let name = Path::new(there).parent().and_then(Path::file_name);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Says in a folder that its record is still arriving, and from where: a fetch may complete it, and nothing else.
#[derive(PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) host: String,
    pub(super) run: String,
}

/// Its file.
const MARKER: &str = "arriving.txt";

impl Marker {
    fn text(&self) -> String {
        format!(
            "The record of this run is still arriving, or was cut off. The rest is brought by\nheatsoak fetch {} --on {}\n",
            self.run, self.host
        )
    }

    pub(super) fn write(&self, here: &Path) -> Result<(), String> {
        fs::write(here.join(MARKER), self.text())
            .map_err(|error| format!("cannot write into {}: {error}", here.display()))
    }

    /// Whether the folder holds the beginning of this run.
    pub(super) fn is_in(&self, here: &Path) -> bool {
        measure::input::read_to_string(&here.join(MARKER))
            .is_ok_and(|text| text.contains(&format!("heatsoak fetch {} --on ", self.run)))
    }

    pub(super) fn remove(here: &Path) {
        // A copy with it is no less whole.
        let _ = fs::remove_file(here.join(MARKER));
    }
}
