//! The parts of a report's page.

use analysis::findings::{EventKind, Segment};
use analysis::wording;

use super::{escape, prose, text_table};
use crate::format;
use crate::phases;
use crate::sentences;
use crate::view::{Provenance, ReportInput, op_word};

/// Title, badge, and a line under it.
pub(crate) fn header(title: &str, badge: Option<&str>, subtitle: &str) -> String {
    let badge =
        badge.map(|badge| format!(" <strong class=\"badge\">{}</strong>", escape(badge))).unwrap_or_default();
    format!(
        "<header>\n<h1>{}{badge}</h1>\n<p class=\"subtitle\">{}</p>\n</header>\n",
        escape(title),
        escape(subtitle)
    )
}

/// Whether it was measured, and for how long.
pub(crate) fn subtitle(input: &ReportInput) -> String {
    let origin = match (&input.source, input.simulated_badge()) {
        (_, Some(_)) => "Simulated drive: none of these numbers was measured",
        (Provenance::Unknown, None) => "The log does not say whether its numbers were measured or simulated",
        (_, None) => "Measured",
    };
    format!("{origin} · {}", format::seconds(input.end_s()))
}

/// The sentences at the top.
pub(crate) fn verdict(input: &ReportInput) -> String {
    let mut out = String::from("<section class=\"verdict\" aria-label=\"Verdict\">\n");
    for sentence in input.ending.iter().cloned().chain(sentences::verdict(&input.findings, &input.levels)) {
        out.push_str(&format!("<p>{}</p>\n", prose(&sentence)));
    }
    out.push_str(&format!("<p>{}</p>\n", prose(&sentences::policy(&input.findings.policy))));
    match input.findings.caveats.len() {
        0 => {}
        1 => out.push_str("<p><a href=\"#caveats\">One caveat</a> applies to these numbers.</p>\n"),
        n => out.push_str(&format!("<p><a href=\"#caveats\">{n} caveats</a> apply to these numbers.</p>\n")),
    }
    out.push_str("</section>\n");
    out
}

/// One row a phase.
pub(crate) fn phases(input: &ReportInput) -> String {
    let rows: Vec<Vec<String>> = phases::summaries(input).iter().map(phases::PhaseSummary::cells).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("<section>\n<h2>Phases</h2>\n{}</section>\n", text_table("phases", &phases::HEADERS, &rows))
}

/// Everything that was found.
pub(crate) fn findings(input: &ReportInput) -> String {
    let findings = &input.findings;
    let mut out = String::from("<section>\n<h2>Findings</h2>\n");
    let slc = findings.slc_cache.iter().map(sentences::slc_cache);
    let sentences: Vec<String> = slc.chain(sentences::thermal(&findings.thermal)).collect();
    if !sentences.is_empty() {
        out.push_str(&list(&sentences));
    }
    out.push_str("<h3>Segments</h3>\n");
    let rows: Vec<Vec<String>> = findings.segments.iter().take(MOST_ROWS).map(segment_cells).collect();
    if rows.is_empty() {
        out.push_str("<p>None found.</p>\n");
    } else {
        let headers =
            ["From", "To", "Operation", "Mean speed", "What it is", "Temp. at start", "Temp. at end"];
        out.push_str(&folded(findings.segments.len(), "segments", &text_table("segments", &headers, &rows)));
    }
    out.push_str("<h3>Events</h3>\n");
    let events = findings.events.iter().take(MOST_ROWS);
    let rows: Vec<Vec<String>> = events.map(|event| event_cells(event, input)).collect();
    if rows.is_empty() {
        out.push_str("<p>None found.</p>\n");
    } else {
        let headers = ["At", "Event", "Temp.", "Speed after / before", "Cause", "Confidence", "Evidence"];
        out.push_str(&folded(findings.events.len(), "events", &text_table("events", &headers, &rows)));
    }
    out.push_str("</section>\n");
    out
}

fn list(sentences: &[String]) -> String {
    let items: String = sentences.iter().map(|sentence| format!("<li>{}</li>\n", prose(sentence))).collect();
    format!("<ul>\n{items}</ul>\n")
}

/// Rows that a page shows without being asked.
const OPEN_ROWS: usize = 12;

/// Rows that a page holds at most: a month of cycles has 100 000, and no browser shows them.
const MOST_ROWS: usize = 1000;

/// A long table is folded away behind its number of rows.
fn folded(rows: usize, what: &str, table: &str) -> String {
    if rows <= OPEN_ROWS {
        return table.to_owned();
    }
    if rows <= MOST_ROWS {
        return format!("<details><summary>All {rows} {what}</summary>\n{table}</details>\n");
    }
    format!(
        "<details><summary>The first {MOST_ROWS} of {rows} {what}</summary>\n{table}\
         <p class=\"note\">The findings as JSON have all {rows}.</p></details>\n"
    )
}

fn segment_cells(segment: &Segment) -> Vec<String> {
    let or_missing = |value: Option<f64>, show: fn(Option<f64>) -> String| {
        value.map_or_else(|| format::MISSING.to_owned(), |value| show(Some(value)))
    };
    vec![
        format::seconds(segment.start_s),
        format::seconds(segment.end_s),
        op_word(segment.op).to_owned(),
        or_missing(segment.mean_bytes_per_s, format::speed),
        sentences::label(segment.label).to_owned(),
        or_missing(segment.temp_start_k, format::temperature),
        or_missing(segment.temp_end_k, format::temperature),
    ]
}

fn event_cells(event: &analysis::findings::Event, input: &ReportInput) -> Vec<String> {
    let missing = || format::MISSING.to_owned();
    let is_release = event.kind == EventKind::ThrottleRelease;
    vec![
        format::seconds(event.t_s),
        format!("{} {}", sentences::event_sign(event.kind), sentences::event_kind(event.kind)),
        event.temp_k.map_or_else(missing, |k| format::temperature(Some(k))),
        event.strength.map_or_else(missing, sentences::ratio_cell),
        if is_release { missing() } else { sentences::cause(event.cause, &input.levels) },
        format::percent(event.confidence),
        wording::evidence(event).join(" "),
    ]
}

/// Why numbers deserve care.
pub(crate) fn caveats(input: &ReportInput) -> String {
    let mut out = String::from("<section id=\"caveats\">\n<h2>Caveats and notes</h2>\n");
    if input.findings.caveats.is_empty() && input.notes.is_empty() {
        out.push_str("<p>None.</p>\n");
    } else {
        out.push_str("<ul>\n");
        for caveat in &input.findings.caveats {
            let (text, kind) = (prose(&wording::caveat(caveat)), wording::kind(caveat));
            out.push_str(&format!("<li>{text} <code>{kind}</code></li>\n"));
        }
        for note in &input.notes {
            out.push_str(&format!("<li>{}</li>\n", prose(note)));
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</section>\n");
    out
}

/// What was run on what with which settings.
pub(crate) fn facts(input: &ReportInput) -> String {
    if input.facts.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section>\n<h2>What was run on what</h2>\n<div class=\"facts\">\n");
    for group in &input.facts {
        out.push_str(&format!("<div><h3>{}</h3>\n<dl>\n", escape(group.title)));
        for (name, value) in &group.facts {
            out.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(value)));
        }
        out.push_str("</dl></div>\n");
    }
    out.push_str("</div>\n</section>\n");
    out
}

/// The command and its files.
pub(crate) fn reproduce(input: &ReportInput) -> String {
    let Some(command) = &input.reproduce.command else { return String::new() };
    let names: Vec<&str> = input.reproduce.files.iter().map(|(name, _)| name.as_str()).collect();
    let with = if names.is_empty() {
        String::new()
    } else {
        format!(" with the content below as {}", names.join(" and "))
    };
    let mut out = format!(
        "<section>\n<h2>How to run it again</h2>\n<p>This command{}:</p>\n<pre><code>{}</code></pre>\n",
        escape(&with),
        escape(command)
    );
    for (name, content) in &input.reproduce.files {
        out.push_str(&format!(
            "<details><summary>{}</summary>\n<pre><code>{}</code></pre>\n</details>\n",
            escape(name),
            escape(content)
        ));
    }
    out.push_str("</section>\n");
    out
}

/// Who made the page.
pub(crate) fn footer(written_by: Option<&str>) -> String {
    let recorded = written_by.map(|by| format!("Recorded by {}. ", escape(by))).unwrap_or_default();
    format!(
        "<footer><p>{recorded}Temperatures are whole kelvins shown as °C with an offset of 273; \
         1 MB/s is 10<sup>6</sup> bytes per second. Charts by uPlot (MIT licence). \
         This page is complete: it loads nothing.</p></footer>\n"
    )
}
