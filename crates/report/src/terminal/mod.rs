//! The end of a run in a terminal: title, chart, verdict, phases, caveats, where it lies.
//!
//! Speed and temperature stand in panels of their own over one time axis: without colour, two curves in one
//! panel could not be told apart.

mod canvas;
mod chart;
mod text;

use crate::chart::main_chart;
use crate::figures::{self, PhaseFigures};
use crate::sentences::{self, Reason, Summary};
use crate::view::ReportInput;

use text::bold;
use text::is_too_wide;
pub use text::{TerminalStyle, wrapped};
pub(crate) use text::{columns, finished, table_width};

/// Rows of phases shown; a plan in 25 rounds has hundreds.
const MOST_PHASES: usize = 24;

/// The summary and chart of a run as text of at most `style.width` characters a line, ending in a newline.
pub fn terminal(input: &ReportInput, style: &TerminalStyle) -> String {
    let summary = sentences::summary(input);
    let mut out = heading(input, style);
    out.push_str(&answer(input, &summary, style));
    out.push('\n');
    out.push_str(&chart::draw(&main_chart(input), style));
    out.push_str(&caveats(&summary, style));
    if let Some(folder) = &style.run_folder {
        out.push_str(&format!("\nRun folder: {}\n", text::printable(folder)));
    }
    finished(&out, style)
}

/// What happened, why, and what to do: the answer without its chart.
pub fn terminal_answer(input: &ReportInput, summary: &Summary, style: &TerminalStyle) -> String {
    let text = format!("{}{}", answer(input, summary, style), caveats(summary, style));
    finished(&text, style)
}

fn answer(input: &ReportInput, summary: &Summary, style: &TerminalStyle) -> String {
    let mut out = String::new();
    let section = |title: &str| format!("\n{}\n", bold(title, style));
    if let Some(ending) = &input.ending {
        out.push_str(&wrapped(ending, "", style.width()));
    }
    out.push_str(&section("What happened"));
    for sentence in &summary.happened {
        out.push_str(&wrapped(sentence, "", style.width()));
    }
    out.push_str(&phases(&summary.figures, style));
    out.push_str(&section("Why"));
    for reason in &summary.reasons {
        out.push_str(&why(reason, style));
    }
    out.push_str(&wrapped(&summary.policy, "", style.width()));
    if !summary.ruled_out.is_empty() {
        out.push_str(&wrapped(&format!("Ruled out: {}.", summary.ruled_out.join("; ")), "", style.width()));
    }
    if !summary.next.is_empty() {
        out.push_str(&section("What to do"));
        for sentence in &summary.next {
            out.push_str(&wrapped(sentence, "- ", style.width()));
        }
    }
    out
}

fn why(reason: &Reason, style: &TerminalStyle) -> String {
    let mut out = wrapped(format!("{} {}", reason.what, reason.cause).trim_end(), "", style.width());
    for clause in &reason.evidence {
        out.push_str(&wrapped(clause, "- ", style.width()));
    }
    out
}

/// The table of phases; where it does not fit, lines for each.
fn phases(all: &[PhaseFigures], style: &TerminalStyle) -> String {
    let shown = &all[..all.len().min(MOST_PHASES)];
    if shown.is_empty() {
        return String::new();
    }
    let (headers, rows) = figures::phase_table(shown);
    let mut out = match is_too_wide(&headers, &rows, style) {
        false => columns(&headers, &rows, style),
        true => figures::phase_lines(shown)
            .iter()
            .map(|(heading, line)| {
                bold(wrapped(heading, "", style.width()).trim_end(), style)
                    + "\n"
                    + &wrapped(line, "  ", style.width())
            })
            .collect(),
    };
    if all.len() > shown.len() {
        out.push_str(&format!("... and {} more: `heatsoak report` has all.\n", all.len() - shown.len()));
    }
    out
}

fn heading(input: &ReportInput, style: &TerminalStyle) -> String {
    let title = bold(&text::printable(&input.title()), style);
    match input.simulated_badge() {
        Some(badge) => format!("{title}  [{}]\n", bold(&text::printable(&badge), style)),
        None => format!("{title}\n"),
    }
}

fn caveats(summary: &Summary, style: &TerminalStyle) -> String {
    let mut out = String::new();
    if !summary.caveats.is_empty() {
        out.push_str(&format!("\n{}\n", bold("Caveats", style)));
        for text in &summary.caveats {
            out.push_str(&wrapped(text, "- ", style.width()));
        }
    }
    if !summary.fine_print.is_empty() {
        out.push('\n');
        out.push_str(&wrapped(&format!("Fine print: {}", summary.fine_print.join(" ")), "", style.width()));
    }
    out
}
