//! The end of a run in a terminal: title, chart, verdict, phases, caveats, where it lies.
//!
//! Speed and temperature stand in panels of their own over one time axis: without colour, two curves in one
//! panel could not be told apart.

mod canvas;
mod chart;
mod text;

use analysis::wording;

use crate::chart::main_chart;
use crate::phases::{self, PhaseSummary};
use crate::sentences;
use crate::view::ReportInput;

use text::bold;
pub use text::{TerminalStyle, wrapped};
pub(crate) use text::{columns, finished};

/// Chart and summary of a run as text of at most `style.width` characters a line, ending in a newline.
pub fn terminal(input: &ReportInput, style: &TerminalStyle) -> String {
    let mut out = heading(input, style);
    out.push('\n');
    out.push_str(&chart::draw(&main_chart(input), style));
    out.push('\n');
    let verdict = sentences::verdict(&input.findings, &input.levels);
    for sentence in input.ending.iter().chain(&verdict) {
        out.push_str(&wrapped(sentence, "", style.width()));
    }
    out.push_str(&wrapped(&sentences::policy(&input.findings.policy), "", style.width()));
    let rows: Vec<Vec<String>> = phases::summaries(input).iter().map(PhaseSummary::cells).collect();
    if !rows.is_empty() {
        out.push('\n');
        out.push_str(&columns(&phases::HEADERS, &rows, style));
    }
    out.push_str(&caveats(input, style));
    if let Some(folder) = &style.run_folder {
        out.push_str(&format!("\nRun folder: {}\n", text::printable(folder)));
    }
    finished(&out, style)
}

fn heading(input: &ReportInput, style: &TerminalStyle) -> String {
    let title = bold(&text::printable(&input.title()), style);
    match input.simulated_badge() {
        Some(badge) => format!("{title}  [{}]\n", bold(&text::printable(&badge), style)),
        None => format!("{title}\n"),
    }
}

fn caveats(input: &ReportInput, style: &TerminalStyle) -> String {
    let caveats = input.findings.caveats.iter().map(wording::caveat);
    let all: Vec<String> = caveats.chain(input.notes.iter().cloned()).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", bold("Caveats and notes", style));
    for text in &all {
        out.push_str(&wrapped(text, "- ", style.width()));
    }
    out
}
