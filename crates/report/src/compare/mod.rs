//! Several runs against each other: one chart, one table of key figures, one sentence each.
//!
//! Runs are laid over each other from their start. Each has one colour; its name is what tells it from the others.

mod chart;
mod figures;

use analysis::joint::JointPolicy;
use analysis::wording;

use crate::html::{HtmlPage, escape, figure, page, prose, sections, text_table};
use crate::sentences;
use crate::terminal::{TerminalStyle, columns, finished, wrapped};
use crate::view::{ReportInput, common_settings, labels};

use figures::{HEADERS, cells};

/// The comparison as an HTML page, complete in itself as a report is; `joint` is what the runs show together.
pub fn compare_html(runs: &[ReportInput], joint: &[JointPolicy]) -> String {
    let names = names(runs);
    let title = title(runs);
    let badge = badge(runs);
    let chart = chart::chart(runs, &names);
    let mut body = sections::header(&title, badge.as_deref(), &subtitle(runs));
    body.push_str("<section class=\"verdict\" aria-label=\"Verdict\">\n");
    for (name, sentence) in names.iter().zip(headlines(runs)) {
        body.push_str(&format!("<p><strong>{}</strong>: {}</p>\n", prose(name), prose(&sentence)));
    }
    body.push_str("</section>\n");
    body.push_str(&together(joint));
    body.push_str(&figure(&chart, &title, badge.as_deref()));
    let rows: Vec<Vec<String>> = runs.iter().zip(&names).map(|(run, name)| cells(run, name)).collect();
    body.push_str("<section>\n<h2>Key figures</h2>\n");
    body.push_str(&text_table("compare", &HEADERS, &rows));
    body.push_str("</section>\n");
    body.push_str(&common(runs));
    body.push_str(&caveats(runs, &names));
    body.push_str(&sections::footer(None));
    page(&HtmlPage { title: &title, is_simulated: badge.is_some(), body: &body, charts: &[chart] })
}

/// The comparison as text: the table of key figures, a sentence each, and what the runs show together.
pub fn compare_terminal(runs: &[ReportInput], joint: &[JointPolicy], style: &TerminalStyle) -> String {
    let names = names(runs);
    let badge = badge(runs).map(|badge| format!("  [{badge}]")).unwrap_or_default();
    let mut out = format!("{}{badge}\n\n", title(runs));
    let rows: Vec<Vec<String>> = runs.iter().zip(&names).map(|(run, name)| cells(run, name)).collect();
    // Figures in rows, runs in columns: a terminal is narrow, and figures are many.
    let turned: Vec<Vec<String>> = (1..HEADERS.len())
        .map(|column| {
            let figures = rows.iter().map(|row| row[column].clone());
            [HEADERS[column].to_owned()].into_iter().chain(figures).collect()
        })
        .collect();
    let headers: Vec<&str> = [""].into_iter().chain(names.iter().map(String::as_str)).collect();
    out.push_str(&columns(&headers, &turned, style));
    out.push('\n');
    for (name, sentence) in names.iter().zip(headlines(runs)) {
        out.push_str(&wrapped(&format!("{name}: {sentence}"), "- ", style.width.max(40)));
    }
    for joint in joint {
        out.push_str("\nTogether\n");
        for sentence in sentences::joint_policy(joint) {
            out.push_str(&wrapped(&sentence, "- ", style.width.max(40)));
        }
    }
    finished(&out, style)
}

fn names(runs: &[ReportInput]) -> Vec<String> {
    let settings: Vec<_> = runs.iter().map(|run| &run.settings).collect();
    labels(&settings)
}

/// What all runs share is the subject: "SSD1 · hctm-read: 3 runs".
fn title(runs: &[ReportInput]) -> String {
    let count = match runs.len() {
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    };
    match runs.first() {
        Some(first) if runs.iter().all(|run| run.title() == first.title()) => {
            format!("{}: {count} compared", first.title())
        }
        Some(first) if runs.iter().all(|run| run.drive == first.drive) => {
            format!("{}: {count} compared", first.drive)
        }
        _ => format!("{count} compared"),
    }
}

fn badge(runs: &[ReportInput]) -> Option<String> {
    let simulated = runs.iter().filter(|run| run.simulated_badge().is_some()).count();
    match simulated {
        0 => None,
        all if all == runs.len() => Some("SIMULATED (all runs)".to_owned()),
        some => Some(format!("SIMULATED ({some} of {} runs)", runs.len())),
    }
}

fn subtitle(runs: &[ReportInput]) -> String {
    match badge(runs) {
        Some(_) if runs.iter().all(|run| run.simulated_badge().is_some()) => {
            "Simulated drives: none of these numbers was measured".to_owned()
        }
        Some(_) => "Some of these runs are simulated: see their names".to_owned(),
        None => "Time counts from the start of each run".to_owned(),
    }
}

/// The most important sentence of each run.
fn headlines(runs: &[ReportInput]) -> Vec<String> {
    let headline = |run: &ReportInput| {
        let verdict = sentences::verdict(&run.findings, &run.levels);
        run.ending.iter().chain(verdict.first()).cloned().collect::<Vec<_>>().join(" ")
    };
    runs.iter().map(headline).collect()
}

fn common(runs: &[ReportInput]) -> String {
    let settings: Vec<_> = runs.iter().map(|run| &run.settings).collect();
    let common = common_settings(&settings);
    if common.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section>\n<h2>The same in all runs</h2>\n<dl>\n");
    for (name, value) in common {
        out.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(value)));
    }
    out.push_str("</dl>\n</section>\n");
    out
}

/// What the runs of each drive show together.
fn together(joint: &[JointPolicy]) -> String {
    let list = |joint: &JointPolicy| {
        let items = sentences::joint_policy(joint)
            .iter()
            .map(|s| format!("<li>{}</li>\n", prose(s)))
            .collect::<String>();
        format!("<ul>\n{items}</ul>\n")
    };
    if joint.is_empty() {
        return String::new();
    }
    let lists: String = joint.iter().map(list).collect();
    format!("<section id=\"together\">\n<h2>What the runs show together</h2>\n{lists}</section>\n")
}

fn caveats(runs: &[ReportInput], names: &[String]) -> String {
    let all_of = |run: &ReportInput| -> Vec<String> {
        let caveats = run.findings.caveats.iter().map(wording::caveat);
        caveats.chain(run.notes.iter().cloned()).collect()
    };
    let texts: Vec<Vec<String>> = runs.iter().map(all_of).collect();
    let is_common = |text: &String| runs.len() > 1 && texts.iter().all(|texts| texts.contains(text));
    let mut items = String::new();
    for text in texts.iter().take(1).flatten().filter(|text| is_common(text)) {
        items.push_str(&format!("<li><strong>All runs</strong>: {}</li>\n", prose(text)));
    }
    for (texts, name) in texts.iter().zip(names) {
        for text in texts.iter().filter(|text| !is_common(text)) {
            items.push_str(&format!("<li><strong>{}</strong>: {}</li>\n", prose(name), prose(text)));
        }
    }
    if items.is_empty() {
        return String::new();
    }
    format!("<section id=\"caveats\">\n<h2>Caveats and notes</h2>\n<ul>\n{items}</ul>\n</section>\n")
}
