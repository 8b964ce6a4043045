//! Text in a terminal: what it can show, wrapping, columns, and what a terminal must not be sent.

use crate::format::{NO_BREAK, unbroken};
use crate::sentences;

/// Narrower terminals get lines that they have to break.
const WIDTH_MIN: usize = 40;

/// What the terminal can show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Characters in a line.
    pub width: usize,
    /// Only ASCII characters.
    pub ascii: bool,
    /// ANSI colours.
    pub colour: bool,
    /// Where the run lies, to be told at the end.
    pub run_folder: Option<String>,
}

impl TerminalStyle {
    pub(super) fn width(&self) -> usize {
        self.width.max(WIDTH_MIN)
    }
}

/// Text without control characters: a drive's model name must not steer the terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || measure::is_hidden(c) { '\u{fffd}' } else { c }).collect()
}

/// Bold where colours are allowed.
pub(super) fn bold(text: &str, style: &TerminalStyle) -> String {
    if style.colour { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// A paragraph in lines of at most `width` characters; `bullet` stands before it, the rest is indented alike. Numbers stay
/// with their units.
pub fn wrapped(text: &str, bullet: &str, width: usize) -> String {
    let indent = " ".repeat(bullet.chars().count());
    let options = textwrap::Options::new(width)
        .initial_indent(bullet)
        .subsequent_indent(&indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .break_words(false);
    format!("{}\n", textwrap::fill(&unbroken(&printable(text)), options)).replace(NO_BREAK, " ")
}

/// Whether a table needs more than the width, its last column given room for a word or two.
pub(crate) fn is_too_wide(headers: &[&str], rows: &[Vec<String>], style: &TerminalStyle) -> bool {
    let (but_last, _) = widths(headers, rows);
    but_last + LAST_COLUMN > style.width()
}

/// Characters that a table takes in a line.
pub(crate) fn table_width(headers: &[&str], rows: &[Vec<String>], style: &TerminalStyle) -> usize {
    let shown = |text: &str| finished(text, style);
    let headers: Vec<String> = headers.iter().map(|header| shown(header)).collect();
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| shown(cell)).collect()).collect();
    let (but_last, last) = widths(&headers, &rows);
    but_last + last
}

/// Characters of all columns but the last, with what separates them, and of the last.
fn widths(headers: &[&str], rows: &[Vec<String>]) -> (usize, usize) {
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([headers[column].chars().count()]).max().unwrap_or(0)
    };
    let last = headers.len().saturating_sub(1);
    ((0..last).map(|column| widest(column) + 2).sum(), if headers.is_empty() { 0 } else { widest(last) })
}

/// Room that the last column of a table has at least.
const LAST_COLUMN: usize = 14;

/// Rows in aligned columns under bold headers. What is too wide for the line is wrapped in the last column.
pub(crate) fn columns(headers: &[&str], rows: &[Vec<String>], style: &TerminalStyle) -> String {
    // What becomes shorter in ASCII has to do so before it is aligned.
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| finished(cell, style)).collect()).collect();
    let headers: Vec<String> = headers.iter().map(|header| finished(header, style)).collect();
    let width_of = |text: &str| text.chars().count();
    let last = headers.len().saturating_sub(1);
    let widths: Vec<usize> = (0..last)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| width_of(cell));
            cells.chain([width_of(&headers[column])]).max().unwrap_or(0)
        })
        .collect();
    let indent: usize = widths.iter().map(|width| width + 2).sum();
    let line = |cells: &[String]| {
        let mut start = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            let padding = " ".repeat(width + 2 - width_of(cell).min(*width));
            start.push_str(&printable(cell));
            start.push_str(&padding);
        }
        let room = style.width().saturating_sub(indent).max(12);
        let tail = wrapped(cells.get(last).map_or("", String::as_str), "", room);
        let mut lines = tail.lines();
        let mut out = format!("{start}{}", lines.next().unwrap_or_default()).trim_end().to_owned();
        out.push('\n');
        for more in lines {
            out.push_str(&format!("{}{more}\n", " ".repeat(indent)));
        }
        out
    };
    let head = line(&headers);
    let mut out = format!("{}\n", bold(head.trim_end(), style));
    rows.iter().for_each(|row| out.push_str(&line(row)));
    out
}

/// The last step: only ASCII where only that is wanted.
pub(crate) fn finished(text: &str, style: &TerminalStyle) -> String {
    if !style.ascii {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii() => out.push(c),
            '°' => {}
            '·' | '–' | '−' => out.push('-'),
            '→' => out.push_str("to"),
            '±' => out.push_str("+-"),
            '├' | '┤' | '│' => out.push('|'),
            'µ' => out.push('u'),
            '×' => out.push('x'),
            '…' => out.push('.'),
            sign => out.push(sentences::event_sign_ascii(sign)),
        }
    }
    out
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn lines_are_no_wider_than_allowed_and_nothing_is_lost() {
        let text = "one two three four five six";
        let lines = wrapped(text, "- ", 12);
        assert_eq!(lines, "- one two\n  three four\n  five six\n");
    }

    #[test]
    fn a_model_name_cannot_steer_the_terminal() {
        assert_eq!(printable("SSD\u{1b}[2J\u{7}\u{202e}"), "SSD\u{fffd}[2J\u{fffd}\u{fffd}");
    }
}
