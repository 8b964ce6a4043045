//! Power in a comparison: cells of the tables, and power states against each other.

use analysis::power::{PowerRow, states};

use crate::html::{prose, text_table};
use crate::sentences;
use crate::view::ReportInput;

use super::power_table::PowerTable;

/// "13.20 ± 0.05 W", less the baseline, with its 95 % interval.
pub(super) fn net(row: &PowerRow) -> Option<String> {
    let net_w = row.net_w?;
    let half = row.high_w.map(|high_w| high_w - net_w).filter(|half| *half >= 0.005);
    Some(half.map_or_else(|| format!("{net_w:.2} W"), |half| format!("{net_w:.2} ± {half:.2} W")))
}

/// What power states do, where runs are of several.
pub(super) fn states(runs: &[ReportInput]) -> Vec<String> {
    let found: Vec<_> = runs.iter().filter_map(|run| run.findings.power.as_ref()).collect();
    let one_drive = runs.iter().all(|run| run.drive == runs[0].drive);
    if one_drive { sentences::state_effects(&states::effects(found)) } else { Vec::new() }
}

/// The table of all runs, and what power states do; nothing where no run has power.
pub(super) fn section(runs: &[ReportInput]) -> String {
    let table = PowerTable::new(runs, None);
    if table.is_empty() {
        return String::new();
    }
    let (headers, rows) = table.text_rows();
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let sentences: String = states(runs).iter().map(|one| format!("<li>{}</li>\n", prose(one))).collect();
    let list = if sentences.is_empty() { String::new() } else { format!("<ul>\n{sentences}</ul>\n") };
    format!(
        "<section id=\"power\">\n<h2>Power and efficiency</h2>\n{}{list}<p class=\"note\">{}</p>\n</section>\n",
        text_table("detail cards", &headers, &rows),
        prose(table.note())
    )
}
