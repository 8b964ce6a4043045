//! What a watch or a run on another machine shows here: the screen, lines or documents, and `live.json` for whoever
//! looks into the folder that arrives.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

use measure::record::LIVE_FILE;
use ratatui::crossterm::event::Event;
use watch::{LIVE_SCHEMA, LiveDocument};

use crate::commands::replace_unsynced;
use crate::live_news::{DrivesThere, LiveNews};
use crate::printer::Printer;
use crate::screen::Screen;

/// A line of news is some kB; what is longer is none.
const LINE_MAX: usize = 4 << 20;

/// How it is shown.
pub(super) enum LiveFace {
    /// Not at all: what a run says on standard error is enough.
    Quiet,
    /// A line a second and drive.
    Plain,
    /// A document a second.
    Json,
    /// On the terminal.
    Screen(Box<Screen>, Receiver<Event>),
}

impl LiveFace {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it refuses.
    pub(super) fn screen(title: &str) -> anyhow::Result<Self> {
        let (to, keys) = channel();
        let screen = Screen::start(title, move |event| to.send(event).is_ok())?;
        Ok(Self::Screen(Box::new(screen), keys))
    }
}

/// What comes, as it is shown.
pub(super) struct NewsView {
    face: LiveFace,
    there: DrivesThere,
    /// News that are not a whole line yet.
    line: Vec<u8>,
    /// Where the record arrives.
    folder: Option<PathBuf>,
    /// How often the user asked for the end by a key.
    ends: u32,
}

impl NewsView {
    pub(super) fn new(face: LiveFace) -> Self {
        Self { face, there: DrivesThere::default(), line: Vec::new(), folder: None, ends: 0 }
    }

    pub(super) fn arrives_in(&mut self, folder: PathBuf) {
        self.folder = Some(folder);
    }

    /// Whether it has the terminal.
    pub(super) const fn is_on_screen(&self) -> bool {
        matches!(self.face, LiveFace::Screen(..))
    }

    /// What the command there printed.
    ///
    /// # Errors
    /// When it cannot be shown.
    pub(super) fn stdout(&mut self, bytes: &[u8], printer: &mut Printer) -> io::Result<()> {
        for byte in bytes {
            if *byte != b'\n' {
                self.line.push(*byte);
            } else if let Ok(news) = serde_json::from_slice(&std::mem::take(&mut self.line)) {
                self.show(news, printer)?;
            }
        }
        if self.line.len() > LINE_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the other side prints what is no news of a drive",
            ));
        }
        Ok(())
    }

    fn show(&mut self, news: LiveNews, printer: &mut Printer) -> io::Result<()> {
        let document = |drives: &[crate::screen::ScreenDrive]| LiveDocument {
            schema: LIVE_SCHEMA,
            drives: drives.iter().map(|drive| drive.live.clone()).collect(),
        };
        match &self.face {
            LiveFace::Plain => news.lines.iter().try_for_each(|line| printer.data(line))?,
            LiveFace::Json => printer.json_line(&document(&news.drives)).map_err(io::Error::other)?,
            LiveFace::Quiet | LiveFace::Screen(..) => {}
        }
        self.there.take(news.drives, news.now_s);
        if let Some(folder) = &self.folder
            && let Ok(text) = serde_json::to_string(&document(&self.there.drives))
        {
            // A face that misses a second is no reason to end anything.
            let _ = replace_unsynced(&folder.join(LIVE_FILE), text.as_bytes());
        }
        self.draw()
    }

    fn draw(&mut self) -> io::Result<()> {
        let LiveFace::Screen(screen, _) = &mut self.face else { return Ok(()) };
        screen.draw(&self.there.drives).map_err(io::Error::other)
    }

    /// Heeds the keys; how often the user asked for the end.
    pub(super) fn heed_keys(&mut self) -> u32 {
        let LiveFace::Screen(screen, keys) = &mut self.face else { return 0 };
        let mut is_news = false;
        for event in keys.try_iter() {
            is_news = true;
            let asks = screen.state.heed(&event, self.there.drives.len(), self.there.now_s);
            self.ends += u32::from(asks);
        }
        if is_news {
            // A terminal that is gone sends a signal of its own.
            let _ = self.draw();
        }
        self.ends
    }
}

impl Drop for NewsView {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = fs::remove_file(folder.join(LIVE_FILE));
        }
    }
}
