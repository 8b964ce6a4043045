//! The report of a scan as one HTML file: what to do first, then the counts, then what cannot be said.

use std::fmt::Write as _;

use crate::cells::{CellRow, ThresholdRow};
use crate::outcome::FleetOutcome;
use crate::source::RefusedFile;

/// Rows of a table in the report; all of them are in the Parquet files.
const SHOWN: usize = 40;

/// The page.
pub(crate) fn html(
    outcome: &FleetOutcome,
    cells: &[CellRow],
    thresholds: &[ThresholdRow],
    refused: &[RefusedFile],
) -> String {
    let mut page = String::from(HEAD);
    if outcome.simulated {
        page += "<p class=\"simulated\">Simulated: these rows were made by <code>heatsoak fleet gen</code> or taken on simulated drives.</p>";
    }
    let lead = if outcome.actions.is_empty() { "Nothing stands out" } else { "What to do" };
    let _ = write!(page, "<h1>Fleet: {}</h1>", escape(&headline(outcome)));
    let _ = write!(page, "<h2>{lead}</h2>");
    if outcome.actions.is_empty() {
        page += "<p>No host, slot or drive is hotter than its like, and no drive throttles where its neighbours do not.</p>";
    } else {
        page += "<table><tr><th>What</th><th>Throttled, h</th><th>Hotter by, K</th></tr>";
        for action in outcome.actions.iter().take(SHOWN) {
            let hotter = action.hotter_k.map_or_else(String::new, |k| format!("{k:.1}"));
            row(&mut page, &[&action.text, &format!("{:.1}", action.throttled_h), &hotter]);
        }
        page += "</table>";
        more(&mut page, outcome.actions.len(), "findings.json");
        page +=
            "<p>Throttled hours are those of the drives concerned, the most that the step gives back.</p>";
    }
    trend(&mut page, outcome);
    counts(&mut page, outcome);
    cell_table(&mut page, cells);
    threshold_table(&mut page, thresholds);
    limits(&mut page, outcome, refused);
    page + "</body></html>\n"
}

const HEAD: &str = "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>heatsoak fleet</title>\
<style>body{font:15px/1.45 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}\
table{border-collapse:collapse;margin:.5rem 0}th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #ddd;vertical-align:top}\
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:1.8rem}.simulated{background:#fff3cd;padding:.4rem .8rem}\
@media(prefers-color-scheme:dark){body{background:#161616;color:#e4e4e4}th,td{border-color:#3a3a3a}.simulated{background:#4a3b00}}</style></head><body>\n";

/// The fact that decides.
pub(crate) fn headline(outcome: &FleetOutcome) -> String {
    let known = outcome.throttled + outcome.not_throttled;
    if known == 0 {
        return format!("throttling cannot be judged for any of {} drives", outcome.drives);
    }
    format!(
        "{} of {known} drives throttled, {:.1} h of {:.0} observed drive-hours; {} drives not known",
        outcome.throttled, outcome.throttled_h, outcome.observed_h, outcome.not_known
    )
}

fn trend(page: &mut String, outcome: &FleetOutcome) {
    let Some(trend) = &outcome.trend else { return };
    let rate = |rate: Option<f64>| rate.map_or_else(|| "not known".into(), |rate| format!("{rate:.3}"));
    let _ = write!(
        page,
        "<h2>Since {}</h2><p>{} drives in both scans: {} throttle now and did not, {} no longer do. Throttled hours in 1000 drive-hours: {} before, {} now.</p>",
        escape(&trend.before),
        trend.drives_in_both,
        trend.newly_throttled,
        trend.no_longer_throttled,
        rate(trend.per_1000h_before),
        rate(trend.per_1000h_now)
    );
}

fn counts(page: &mut String, outcome: &FleetOutcome) {
    *page += "<h2>Drives</h2><table>";
    let lost = if outcome.full_speed_lost_drives == 0 {
        "not known: no drive was busy long enough with and without throttling".to_owned()
    } else {
        format!(
            "{:.1} h, of {} drives that were busy",
            outcome.full_speed_lost_h, outcome.full_speed_lost_drives
        )
    };
    for (name, value) in [
        ("Throttled", outcome.throttled.to_string()),
        ("Not throttled (their counters count)", outcome.not_throttled.to_string()),
        ("Not known", outcome.not_known.to_string()),
        ("Throttled hours", format!("{:.1}", outcome.throttled_h)),
        ("Throttled hours while no rows came", format!("{:.1}", outcome.throttled_in_gaps_h)),
        ("Full-speed hours lost", lost),
    ] {
        row(page, &[name, &value]);
    }
    for (reason, drives) in &outcome.not_known_reasons {
        row(page, &[&format!("Not known: {reason}"), &drives.to_string()]);
    }
    *page += "</table>";
}

fn cell_table(page: &mut String, cells: &[CellRow]) {
    let mut shown: Vec<&CellRow> =
        cells.iter().filter(|cell| cell.throttled_h > 0.0 || cell.verdict == "odd_slot").collect();
    shown.sort_by(|one, other| other.throttled_h.total_cmp(&one.throttled_h));
    if shown.is_empty() {
        return;
    }
    *page += "<h2>Where heat costs most</h2><table><tr><th>Model</th><th>Firmware</th><th>Slot</th><th>Drives</th><th>Throttled</th><th>Throttled h in 1000 h (90 %)</th><th>Against neighbours, K</th><th></th></tr>";
    for cell in shown.iter().take(SHOWN) {
        let rate = match (cell.per_1000h(), cell.per_1000h_90) {
            (Some(rate), Some((low, high))) => format!("{rate:.2} ({low:.2} to {high:.2})"),
            (Some(rate), None) => format!("{rate:.2} (too few hosts)"),
            _ => String::new(),
        };
        let effect = cell.slot_effect_k.map_or_else(String::new, |k| format!("{k:+.1}"));
        let throttled = format!("{} of {}", cell.throttled, cell.known);
        row(
            page,
            &[
                &cell.model,
                &cell.firmware,
                &cell.slot,
                &cell.drives.to_string(),
                &throttled,
                &rate,
                &effect,
                verdict(cell.verdict),
            ],
        );
    }
    *page += "</table>";
    more(page, shown.len(), "cells.parquet");
    *page += "<p>Intervals draw hosts, not drives; slots are held against neighbours in the same host, corrected for the number of slots (Benjamini-Hochberg).</p>";
}

fn verdict(name: &str) -> &str {
    match name {
        "odd_slot" => "odd slot",
        "too_few" => "too few drives or hosts",
        _ => "",
    }
}

fn threshold_table(page: &mut String, thresholds: &[ThresholdRow]) {
    if thresholds.is_empty() {
        return;
    }
    *page += "<h2>Thresholds</h2><table><tr><th>Model</th><th>Firmware</th><th>Onsets</th><th>Drives, hosts</th><th>Onset, °C (5, 50, 95 %)</th><th>Light, h</th><th>Heavy, h</th></tr>";
    for kind in thresholds.iter().take(SHOWN) {
        let onset = kind.onset_c.map_or_else(
            || "too few onsets".to_owned(),
            |(low, middle, high)| format!("{low}, {middle}, {high}"),
        );
        row(
            page,
            &[
                &kind.model,
                &kind.firmware,
                &kind.events.to_string(),
                &format!("{}, {}", kind.drives, kind.hosts),
                &onset,
                &format!("{:.1}", kind.light_h),
                &format!("{:.1}", kind.heavy_h),
            ],
        );
    }
    *page += "</table><p>These are onsets of host-controlled throttling (TMT1, TMT2), the higher reading of the interval. A drive's own threshold does not count in them: <code>heatsoak run thermal-id</code> on one drive finds it.</p>";
}

fn limits(page: &mut String, outcome: &FleetOutcome, refused: &[RefusedFile]) {
    let _ = write!(
        page,
        "<h2>What these rows can say</h2><p>Rows come every {} (class: once a {}). They tell {}. They do not tell {}.</p><ul>",
        span(outcome.cadence_ms),
        outcome.cadence,
        escape(outcome.may_say),
        escape(outcome.may_not_say)
    );
    for caveat in &outcome.caveats {
        let _ = write!(page, "<li>{}</li>", escape(caveat));
    }
    let _ = write!(
        page,
        "<li>{} rows of {} files; {} duplicates, {} conflicting rows, {} counter resets, {} counters that outran the clock, {} rows without a serial number, {} without a time; rows of {} drives were sorted.</li></ul>",
        outcome.rows,
        outcome.files,
        outcome.duplicates,
        outcome.conflicts,
        outcome.resets,
        outcome.implausible,
        outcome.nameless_rows,
        outcome.untimed_rows,
        outcome.drives_sorted
    );
    if !refused.is_empty() {
        *page += "<h2>Refused files</h2><table><tr><th>File</th><th>Why</th></tr>";
        for file in refused.iter().take(SHOWN) {
            row(page, &[&file.path, &file.reason]);
        }
        *page += "</table>";
        more(page, refused.len(), "refused.parquet");
    }
}

fn row(page: &mut String, cells: &[&str]) {
    *page += "<tr>";
    for cell in cells {
        let _ = write!(page, "<td>{}</td>", escape(cell));
    }
    *page += "</tr>";
}

fn more(page: &mut String, rows: usize, file: &str) {
    if rows > SHOWN {
        let _ = write!(page, "<p>{} more in {file}.</p>", rows - SHOWN);
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A span of time for people.
pub(crate) fn span(ms: i64) -> String {
    match ms {
        ..1000 => format!("{ms} ms"),
        1000..120_000 => format!("{} s", ms as f64 / 1000.0),
        120_000..7_200_000 => format!("{:.0} min", ms as f64 / 60_000.0),
        7_200_000..86_400_000 => format!("{:.0} h", ms as f64 / 3_600_000.0),
        _ => format!("{:.0} d", ms as f64 / 86_400_000.0),
    }
}
