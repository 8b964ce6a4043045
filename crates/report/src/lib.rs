//! From findings to what a person reads: an HTML page, a drawing for papers, a chart in the terminal.
//!
//! # Architecture
//! - [`ReportInput`]: everything a report shows of one run, from a record or filled by hand for a foreign log.
//! - [`sentences`]: findings in plain sentences, the same in every form.
//! - `chart`: a chart as data, shown interactively, as a drawing and as a table.
//! - [`html`], [`svg`], [`terminal`]: the forms. [`compare_html`], [`compare_terminal`]: several runs at once.
//! - [`web`]: the same charts in pages of a server, also of runs that are under way.
//! - [`sheet`]: curves, maps and tables that are no run: a fit, a forecast, a sweep of forecasts.
//!
//! # What it does not do
//! Pure functions from data to text: no file is opened, no clock is read, and no number is made up here that the
//! record or the findings do not hold. What is not known is shown as missing.

mod chart;
mod compare;
mod figures;
mod format;
mod html;
mod picture;
mod reduce;
mod scale;
pub mod sentences;
pub mod sheet;
mod terminal;
pub mod view;
pub mod web;

pub use compare::{
    Comparison, FailIf, GateResult, PowerSort, PowerTable, PowerTableFormat, StatedPower, StatedPowerError,
    check_limits, compare_html, compare_terminal,
};
pub use html::{IndexedRun, html, index_html};
pub use picture::{picture_png, picture_svg};
pub use terminal::{TerminalStyle, terminal, terminal_answer, wrapped};
pub use view::ReportInput;

/// The main chart (speed and temperature) as a drawing, a file of its own: for papers and web pages.
pub fn svg(input: &ReportInput) -> String {
    let chart = chart::main_chart(input);
    let (title, badge) = (input.title(), input.simulated_badge());
    let frame = chart::Frame {
        width: 980.0,
        height: 480.0,
        title: Some(&title),
        badge: badge.as_deref(),
        standalone: true,
    };
    chart::svg(&chart, &frame)
}
