//! Everything the tool says: data on stdout, progress and messages on stderr.
//!
//! The only place that writes to either, and so the one where text from elsewhere (names of files, drives, plans) is
//! kept from steering the terminal: control characters are written out, see [`mod@measure::visible`]. Colour is left out by
//! itself where the stream is no terminal or `NO_COLOR` is set. A reader that went away (`heatsoak list | head`) is success, not an error.

use std::io::{self, IsTerminal as _, Write};

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use measure::patient;
use measure::visible::{visible, visible_json};

use crate::commands::JsonDocument;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Wipes the line that the cursor is in (ECMA-48, EL).
const WIPE: &str = "\r\x1b[2K";
/// Columns where stderr is no terminal, or does not say how wide it is.
const DEFAULT_WIDTH: usize = 80;

/// So many bytes of a document are held before they are written.
const CHUNK: usize = 1 << 16;

/// Says things.
#[derive(Debug)]
pub(crate) struct Printer {
    /// Whether a progress line stands on the terminal, to be wiped before anything else is said.
    progress_shown: bool,
}

impl Printer {
    /// A printer on this process's streams.
    pub(crate) const fn new() -> Self {
        Self { progress_shown: false }
    }

    /// Data: goes to stdout, with a line end if it has none.
    ///
    /// # Errors
    /// What the system says; a reader that went away is [`io::ErrorKind::BrokenPipe`].
    pub(crate) fn data(&mut self, text: &str) -> io::Result<()> {
        self.raw_data(&visible(text))
    }

    /// Data that are no text, such as a picture, as they are.
    ///
    /// # Errors
    /// As [`Self::data`].
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.wipe_progress();
        patient::write_stream(io::stdout(), bytes).map_err(unwritten)
    }

    /// The same with colours of ours in it.
    ///
    /// # Errors
    /// As [`Self::data`].
    pub(crate) fn coloured_data(&mut self, text: &str) -> io::Result<()> {
        self.raw_data(&visible_with_colours(text))
    }

    fn raw_data(&mut self, text: &str) -> io::Result<()> {
        self.wipe_progress();
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let text = if self.data_has_colour() { text.to_owned() } else { strip_str(text).to_string() };
        // Not by the standard library's buffer, which makes interrupted calls again without end.
        patient::write_stream(io::stdout(), (text + end).as_bytes()).map_err(unwritten)
    }

    /// Data that is serialised as one JSON document, which may be long: it goes out as it is made.
    ///
    /// # Errors
    /// As [`Self::data`].
    pub(crate) fn json(&mut self, value: &impl JsonDocument) -> anyhow::Result<()> {
        self.document(|out| serde_json::to_writer_pretty(out, value))
    }

    /// The same on one line.
    ///
    /// # Errors
    /// As [`Self::data`].
    pub(crate) fn json_line(&mut self, value: &impl JsonDocument) -> anyhow::Result<()> {
        self.document(|out| serde_json::to_writer(out, value))
    }

    fn document(&mut self, write: impl FnOnce(&mut JsonOut) -> serde_json::Result<()>) -> anyhow::Result<()> {
        self.wipe_progress();
        let mut out = JsonOut::default();
        write(&mut out).map_err(io::Error::from)?;
        out.pending.push(b'\n');
        Ok(out.flush()?)
    }

    /// A message: goes to stderr. That stderr is gone is nobody's business.
    pub(crate) fn message(&mut self, text: &str) {
        self.say_on_stderr(&visible(text));
    }

    /// The help that was asked for, as clap writes it.
    ///
    /// # Errors
    /// As [`Self::data`].
    pub(crate) fn help(&mut self, help: &clap::Error) -> io::Result<()> {
        self.raw_data(&help.render().ansi().to_string())
    }

    /// Why what was typed is no command, as clap says it.
    pub(crate) fn usage(&mut self, error: &clap::Error) {
        self.say_on_stderr(&visible_with_colours(&error.render().ansi().to_string()));
    }

    /// Something to be careful about.
    pub(crate) fn warning(&mut self, text: &str) {
        self.say_on_stderr(&format!("{WARNING}warning:{WARNING:#} {}", visible(text)));
    }

    /// Why nothing, or not all, was done.
    pub(crate) fn error(&mut self, error: &anyhow::Error) {
        self.say_on_stderr(&format!("{ERROR}error:{ERROR:#} {}", visible(&sentence(error))));
    }

    /// Whether progress goes to a terminal, where a line can be written over.
    pub(crate) fn progress_is_live(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Progress: one line, written over the one before on a terminal.
    pub(crate) fn progress(&mut self, line: &str) {
        let line = visible(line);
        if self.progress_is_live() {
            let fitting: String = line.chars().take(width(&io::stderr()).saturating_sub(1)).collect();
            to_stderr(&format!("{WIPE}{fitting}"));
            self.progress_shown = true;
        } else {
            to_stderr(&format!("{line}\n"));
        }
    }

    /// Whether data may be coloured.
    pub(crate) fn data_has_colour(&self) -> bool {
        anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
    }

    /// Columns for data.
    pub(crate) fn data_width(&self) -> usize {
        width(&io::stdout())
    }

    fn say_on_stderr(&mut self, text: &str) {
        self.wipe_progress();
        let has_colour = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
        let text = if has_colour { text.to_owned() } else { strip_str(text).to_string() };
        to_stderr(&format!("{}\n", text.trim_end()));
    }

    fn wipe_progress(&mut self) {
        if std::mem::take(&mut self.progress_shown) {
            to_stderr(WIPE);
        }
    }
}

/// JSON on its way to stdout. It is written in parts that end with a character: so serde_json hands it over.
#[derive(Default)]
struct JsonOut {
    pending: Vec<u8>,
}

impl Write for JsonOut {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= CHUNK {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let json = str::from_utf8(&self.pending).map_err(io::Error::other)?;
        patient::write_stream(io::stdout(), visible_json(json).as_bytes()).map_err(unwritten)?;
        self.pending.clear();
        Ok(())
    }
}

/// What of the system's word for a failed write says what was attempted; a reader that went away stays as it is.
fn unwritten(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => error,
        kind => io::Error::new(kind, format!("cannot write to standard output: {error}")),
    }
}

/// As [`visible`], but colours and weights stay: `ESC [ .. m` with nothing in it that hides text.
fn visible_with_colours(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for (index, part) in text.split("\u{1b}[").enumerate() {
        let style = part.split_once('m').filter(|(codes, _)| {
            let shows = |code: &str| matches!(code.parse(), Ok(0..=4 | 22 | 24 | 30..=37 | 39 | 90..=97));
            index > 0 && (codes.is_empty() || codes.split(';').all(shows))
        });
        match style {
            Some((codes, rest)) => {
                shown.push_str("\u{1b}[");
                shown.push_str(codes);
                shown.push('m');
                shown.push_str(&visible(rest));
            }
            None if index > 0 => {
                shown.push_str(&visible("\u{1b}["));
                shown.push_str(&visible(part));
            }
            None => shown.push_str(&visible(part)),
        }
    }
    shown
}

/// To stderr; that it is gone is nobody's business.
fn to_stderr(text: &str) {
    let _ = patient::write_stream(io::stderr(), text.as_bytes());
}

fn width(stream: &impl std::os::fd::AsFd) -> usize {
    terminal_size::terminal_size_of(stream).map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0))
}

/// An error and its causes as one sentence; a cause that is already told is not told again.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut said = String::new();
    for cause in error.chain() {
        let text = cause.to_string();
        if said.is_empty() {
            said = text;
        } else if !said.contains(&text) {
            said = format!("{said}: {text}");
        }
    }
    said
}

/// Whether an error is only a reader of stdout that went away.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}

#[cfg(test)]
mod test {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn only_colours_get_through() {
        let ours = "\u{1b}[1m\u{1b}[31mhot\u{1b}[0m";
        assert_eq!(visible_with_colours(ours), ours);
        for steers in
            ["\u{1b}[2J", "\u{1b}[8mhidden", "\u{1b}]0;title\u{7}", "\u{9b}31m", "\u{1b}[1;99999mx", "\u{1b}"]
        {
            let shown = visible_with_colours(&format!("{ours}{steers}"));
            assert_eq!(shown.matches('\u{1b}').count(), 3, "{shown:?}");
        }
    }

    #[test]
    fn a_cause_is_told_once() {
        let cause = || io::Error::other("no such device");
        let told = anyhow::Error::new(cause()).context("cannot open /dev/x: no such device");
        assert_eq!(sentence(&told), "cannot open /dev/x: no such device");
        let untold = Err::<(), _>(cause()).context("cannot open /dev/x").expect_err("an error");
        assert_eq!(sentence(&untold), "cannot open /dev/x: no such device");
    }
}
