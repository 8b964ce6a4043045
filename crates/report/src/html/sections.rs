//! The parts of a report's page.

use analysis::accesses::SizeOctave;
use analysis::findings::{Cause, EventKind, Segment};

use super::{escape, prose, scatter, text_table};
use crate::figures::{self, PhaseFigures};
use crate::format;
use crate::sentences::{self, Reason, Summary};
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
        (_, Some(_)) => "Simulated drive: no number on this page was measured",
        (Provenance::Unknown, None) => "The log does not state whether it was measured or simulated",
        (_, None) => "Measured",
    };
    format!("{origin} · {}", format::seconds(input.end_s()))
}

/// The answer: what happened, why, what to do.
pub(crate) fn answer(input: &ReportInput, summary: &Summary) -> String {
    let mut out =
        String::from("<section class=\"verdict\" aria-label=\"Summary\">\n<h2>What happened</h2>\n");
    if let Some(ending) = &input.ending {
        out.push_str(&format!("<p class=\"lead\">{}</p>\n", prose(ending)));
    }
    for sentence in &summary.happened {
        out.push_str(&format!("<p>{}</p>\n", prose(sentence)));
    }
    out.push_str(&phases(&summary.figures));
    out.push_str("<h2>Why</h2>\n");
    out.push_str(&summary.reasons.iter().map(reason).collect::<String>());
    out.push_str(&format!("<p>{}</p>\n", prose(&summary.policy)));
    if !summary.ruled_out.is_empty() {
        out.push_str(&format!("<p>Ruled out:</p>\n{}", list(&summary.ruled_out)));
    }
    if !summary.next.is_empty() {
        out.push_str(&format!("<h2>What to do</h2>\n{}", list(&summary.next)));
    }
    match summary.caveats.as_slice() {
        [] => {}
        [one] => {
            out.push_str(&format!("<p class=\"note\">{} <a href=\"#caveats\">Caveats</a></p>\n", prose(one)))
        }
        [first, more @ ..] => out.push_str(&format!(
            "<p class=\"note\">{} <a href=\"#caveats\">{} more caveats</a></p>\n",
            prose(first),
            more.len()
        )),
    }
    out.push_str("</section>\n");
    out
}

/// What happened, its cause, and the evidence that decides.
fn reason(reason: &Reason) -> String {
    let cause = match reason.cause.as_str() {
        "" => String::new(),
        cause => format!(" <strong>{}</strong>", prose(cause)),
    };
    let mut out = format!("<p class=\"lead\">{}{cause}</p>\n", prose(&reason.what));
    if !reason.evidence.is_empty() {
        out.push_str(&list(&reason.evidence));
    }
    out
}

/// One row for each operation of each phase.
fn phases(figures: &[PhaseFigures]) -> String {
    if figures.is_empty() {
        return String::new();
    }
    let (headers, rows) = figures::phase_table(figures);
    folded(rows.len(), "phases", &text_table("phases cards", &headers, &rows))
}

/// Single accesses: stalls, scatters, and a row an octave; nothing where the run keeps none.
fn accesses(input: &ReportInput) -> String {
    let mut out = String::new();
    let fills = sentences::fills(&input.findings.fills);
    if !fills.is_empty() {
        out.push_str(&format!("<h3 id=\"cache\">Fast write cache</h3>\n{}", list(&fills)));
    }
    let Some(found) = &input.findings.accesses else { return out };
    let stalls: Vec<String> = found.stalls.iter().filter_map(sentences::stalls).collect();
    out.push_str("<h3 id=\"accesses\">Single accesses</h3>\n");
    out.push_str(&match stalls.is_empty() {
        true => "<p>No access took far longer than its size and neighbours explain.</p>\n".to_owned(),
        false => list(&stalls),
    });
    if input.clouds.is_empty() {
        return out;
    }
    out.push_str(&scatter::scatters(found, &input.clouds, input.simulated_badge().as_deref()));
    let headers = [
        "Phase",
        "Operation",
        "From size",
        "Accesses",
        "Median speed",
        "5 to 95 %",
        "Median accesses a second",
    ];
    let row = |size: &SizeOctave| {
        vec![
            size.phase.clone(),
            op_word(size.op).to_owned(),
            scatter::size_label(size.from_bytes.ilog2() as i32),
            format::count(size.accesses as f64),
            format::speed(Some(size.median_bytes_per_s)),
            format!(
                "{} to {}",
                format::speed(Some(size.p5_bytes_per_s)),
                format::speed(Some(size.p95_bytes_per_s))
            ),
            format::count(size.median_iops),
        ]
    };
    let clouded = |size: &&SizeOctave| {
        input.clouds.iter().any(|cloud| cloud.phase == size.phase && cloud.op == size.op)
    };
    let rows: Vec<Vec<String>> = found.sizes.iter().filter(clouded).map(row).collect();
    out.push_str(&folded(rows.len(), "octaves", &text_table("detail cards", &headers, &rows)));
    out
}

/// What the drive drew, a row a phase and meter; nothing where nothing measured it.
fn power(input: &ReportInput) -> String {
    let Some(found) = &input.findings.power else { return String::new() };
    let (headers, rows) = figures::power_rows(found);
    let mut out = String::from("<h3 id=\"power\">Power and efficiency</h3>\n");
    if !rows.is_empty() {
        out.push_str(&folded(rows.len(), "phases", &text_table("detail cards", &headers, &rows)));
    }
    out.push_str(&list(&sentences::power(found)));
    out
}

/// Everything that was found.
pub(crate) fn findings(input: &ReportInput, figures: &[PhaseFigures]) -> String {
    let findings = &input.findings;
    let mut out = String::from("<section>\n<h2>Details</h2>\n");
    if !figures.is_empty() {
        let (headers, rows) = figures::detail_table(figures);
        out.push_str("<h3>Phases</h3>\n");
        out.push_str(&folded(rows.len(), "phases", &text_table("detail cards", &headers, &rows)));
    }
    out.push_str(&power(input));
    out.push_str(&accesses(input));
    let slc = findings.slc_cache.iter().map(sentences::slc_cache);
    let wear = findings.wear.iter().map(sentences::wear);
    let sentences: Vec<String> = slc.chain(wear).chain(sentences::thermal(&findings.thermal)).collect();
    if !sentences.is_empty() {
        out.push_str(&list(&sentences));
    }
    out.push_str("<h3>Segments</h3>\n");
    let states = figures::states(&findings.segments[..findings.segments.len().min(MOST_ROWS)], figures);
    let rows: Vec<Vec<String>> =
        findings.segments.iter().zip(states).map(|(segment, state)| segment_cells(segment, state)).collect();
    if rows.is_empty() {
        out.push_str("<p>None.</p>\n");
    } else {
        let headers =
            ["From", "To", "Operation", "Mean speed", "State", "Temperature at start", "Temperature at end"];
        out.push_str(&folded(
            findings.segments.len(),
            "segments",
            &text_table("segments cards", &headers, &rows),
        ));
    }
    out.push_str("<h3>Events</h3>\n");
    let events = findings.events.iter().take(MOST_ROWS);
    let rows: Vec<Vec<String>> = events.map(|event| event_cells(event, input)).collect();
    if rows.is_empty() {
        out.push_str("<p>None.</p>\n");
    } else {
        let headers =
            ["At", "Event", "Temperature", "Speed after / before", "Cause", "Confidence", "Evidence"];
        out.push_str(&folded(findings.events.len(), "events", &text_table("events cards", &headers, &rows)));
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

fn segment_cells(segment: &Segment, state: &str) -> Vec<String> {
    let or_missing = |value: Option<f64>, show: fn(Option<f64>) -> String| {
        value.map_or_else(|| format::MISSING.to_owned(), |value| show(Some(value)))
    };
    vec![
        format::seconds(segment.start_s),
        format::seconds(segment.end_s),
        op_word(segment.op).to_owned(),
        or_missing(segment.mean_bytes_per_s, format::speed),
        state.to_owned(),
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
        if is_release { missing() } else { sentences::event_cause(event, &input.levels) },
        match event.cause {
            Cause::Unknown => missing(),
            _ => format::percent(event.confidence),
        },
        sentences::evidence(event),
    ]
}

/// Why numbers deserve care, and behind a fold what is true of every run like this one.
pub(crate) fn caveats(summary: &Summary) -> String {
    let mut out = String::from("<section id=\"caveats\">\n<h2>Caveats</h2>\n");
    if summary.caveats.is_empty() {
        out.push_str("<p>None that concern the verdict.</p>\n");
    } else {
        out.push_str(&list(&summary.caveats));
    }
    if !summary.fine_print.is_empty() {
        out.push_str(&format!(
            "<details><summary>Precision and what was not observed ({})</summary>\n{}</details>\n",
            summary.fine_print.len(),
            list(&summary.fine_print)
        ));
    }
    out.push_str("</section>\n");
    out
}

/// What was run on what with which settings.
pub(crate) fn facts(input: &ReportInput) -> String {
    if input.facts.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section>\n<h2>Setup</h2>\n<div class=\"facts\">\n");
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
        "<section>\n<h2>Run it again</h2>\n<p>This command{}:</p>\n<pre><code>{}</code></pre>\n",
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
