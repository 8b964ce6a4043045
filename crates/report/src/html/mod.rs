//! One self-contained HTML page: opens from disk, loads nothing, prints, and reads without scripts.
//!
//! Every chart stands in it three times: as data for the script, as a static drawing (for print and where
//! scripts do not run) and as a table. A policy in the head forbids the browser to load anything.

mod escape;
mod figure;
mod heatmap;
mod index;
mod page;
mod scatter;
pub(crate) mod sections;
mod spread;
mod table;

pub(crate) use escape::{escape, prose, script_json};
pub(crate) use figure::figure;
pub use index::{IndexedRun, index_html};
pub(crate) use page::{HtmlPage, UPLOT_CSS, chart_library, page, style};
pub(crate) use table::{number_table, text_table};

use crate::chart::{Chart, main_chart, small_charts};
use crate::sentences;
use crate::view::ReportInput;

/// Whether there is anything to draw over time: a single reading is told in words.
fn has_course(chart: &Chart) -> bool {
    chart.lines.iter().any(|line| line.points.len() > 1)
}

/// The report of one run as an HTML page.
pub fn html(input: &ReportInput) -> String {
    let charts: Vec<Chart> =
        [main_chart(input)].into_iter().filter(has_course).chain(small_charts(input)).collect();
    let title = input.title();
    let badge = input.simulated_badge();
    let summary = sentences::summary(input);
    let mut body = sections::header(&title, badge.as_deref(), &sections::subtitle(input));
    let figures = &summary.figures;
    body.push_str(&sections::answer(input, &summary));
    charts.iter().for_each(|chart| body.push_str(&figure(chart, &title, badge.as_deref())));
    body.push_str(&heatmap::heat_maps(input));
    body.push_str(&spread::strips(figures, badge.as_deref()));
    body.push_str(&sections::findings(input, figures));
    body.push_str(&sections::facts(input));
    body.push_str(&sections::reproduce(input));
    body.push_str(&sections::caveats(&summary));
    body.push_str(&sections::footer(input.written_by.as_deref()));
    page(&HtmlPage { title: &title, is_simulated: badge.is_some(), body: &body, charts: &charts })
}
