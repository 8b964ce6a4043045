//! Several runs against each other: what tells them apart, one table a load, why each was as fast as it was.
//!
//! Runs go by letters; the first, or the one that is named, is the baseline. Nothing is averaged over operations,
//! patterns or phases.

mod alias;
mod align;
mod chart;
mod gate;
mod loads;
mod power;
mod power_table;

use analysis::joint::JointPolicy;

use crate::chart::Chart;
use crate::html::{HtmlPage, escape, figure, page, prose, sections, text_table};
use crate::sentences;
use crate::terminal::{TerminalStyle, columns, finished, table_width, wrapped};
use crate::view::{ReportInput, common_settings};

use alias::{Alias, aliases};
use align::aligned;
pub use gate::{FailIf, GateResult, check_limits};
use loads::{ComparedLoad, ComparedRow, loads};
pub use power_table::{PowerSort, PowerTable, PowerTableFormat, StatedPower, StatedPowerError};

/// Loads shown: a plan in rounds has hundreds, and nobody reads them side by side.
const MOST_LOADS: usize = 24;

/// Runs whose panels are drawn one by one; more are only laid over each other.
const MOST_PANELS: usize = 8;

/// What is compared, and against which run.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a> {
    /// The runs, in the order of their letters.
    pub runs: &'a [ReportInput],
    /// Index of the baseline among them.
    pub baseline: usize,
    /// What runs of one drive show together.
    pub joint: &'a [JointPolicy],
    /// What else is to be said in its summary, such as which run finished first.
    pub remarks: &'a [String],
}

impl Comparison<'_> {
    /// The baseline, whatever was asked for.
    fn baseline(&self) -> usize {
        self.baseline.min(self.runs.len().saturating_sub(1))
    }
}

/// The comparison as an HTML page, complete in itself as a report is.
pub fn compare_html(comparison: &Comparison<'_>) -> String {
    let runs = comparison.runs;
    let loads = aligned(loads(runs));
    let aliases = aliases(runs, &loads);
    let title = title(runs);
    let badge = badge(runs);
    let mut body = sections::header(&title, badge.as_deref(), &subtitle(runs));
    body.push_str("<section class=\"verdict\" aria-label=\"Summary\">\n<h2>Runs</h2>\n");
    body.push_str(&text_table("aliases cards", &ALIAS_HEADERS, &alias_rows(&aliases)));
    if let Some(changes) = changes(comparison, &loads, &aliases) {
        body.push_str("<h2>What changed</h2>\n<ul>\n");
        body.push_str(&changes.iter().map(|one| format!("<li>{}</li>\n", prose(one))).collect::<String>());
        let note = prose(&changes_note(comparison, &aliases));
        body.push_str(&format!("</ul>\n<p class=\"note\">{note}</p>\n"));
    }
    body.push_str(
        &comparison.remarks.iter().map(|one| format!("<p>{}</p>\n", prose(one))).collect::<String>(),
    );
    body.push_str("</section>\n");
    body.push_str(&tables(comparison, &loads, &aliases));
    body.push_str(&power::section(runs));
    let mut charts = vec![chart::overlay(runs, &aliases)];
    if (2..=MOST_PANELS).contains(&runs.len()) {
        charts.extend(chart::panels(runs, &aliases));
    }
    body.push_str(&figures(&charts, &title, badge.as_deref()));
    body.push_str(&why(runs, &aliases));
    body.push_str(&together(comparison.joint));
    body.push_str(&common(runs));
    body.push_str(&caveats(runs, &aliases));
    body.push_str(&sections::footer(None));
    page(&HtmlPage { title: &title, is_simulated: badge.is_some(), body: &body, charts: &charts })
}

/// The overlay, then a panel a run.
fn figures(charts: &[Chart], title: &str, badge: Option<&str>) -> String {
    let Some((overlay, panels)) = charts.split_first() else { return String::new() };
    let mut out = figure(overlay, title, badge);
    if !panels.is_empty() {
        let panels: String = panels.iter().map(|panel| figure(panel, title, badge)).collect();
        out.push_str(&format!("<div class=\"panels\">\n{panels}</div>\n"));
    }
    out
}

const ALIAS_HEADERS: [&str; 5] = ["Run", "What differs", "Throttling", "Origin", "Read from"];

fn alias_rows(aliases: &[Alias]) -> Vec<Vec<String>> {
    let row = |alias: &Alias| {
        vec![
            alias.letter.clone(),
            alias.differs.clone(),
            alias.policy.to_owned(),
            alias.origin.to_owned(),
            alias.read_from.clone(),
        ]
    };
    aliases.iter().map(row).collect()
}

/// What each run changed against the baseline, load by load: "B: write 0.0 %, read −52 % (±0.2)".
fn changes(comparison: &Comparison<'_>, loads: &[ComparedLoad], aliases: &[Alias]) -> Option<Vec<String>> {
    let baseline = comparison.baseline();
    let of_run = |run: usize| {
        let parts: Vec<String> = loads
            .iter()
            .filter_map(|load| {
                let (phase, op) = (load.names.0.as_str(), load.names.1.as_str());
                let name =
                    if phase == op || phase == "–" { op.to_owned() } else { format!("{phase} ({op})") };
                Some(format!("{name} {}", load.difference(run, baseline)?.text()))
            })
            .take(MOST_LOADS)
            .collect();
        (!parts.is_empty())
            .then(|| format!("{} ({}): {}", aliases[run].letter, aliases[run].differs, parts.join(", ")))
    };
    let all: Vec<String> = (0..aliases.len()).filter(|run| *run != baseline).filter_map(of_run).collect();
    (!all.is_empty()).then_some(all)
}

/// What the differences are of, and what their interval leaves out.
fn changes_note(comparison: &Comparison<'_>, aliases: &[Alias]) -> String {
    let base = aliases.get(comparison.baseline()).map_or("the baseline", |alias| alias.letter.as_str());
    format!(
        "Mean speed against {base}; ± is the 95 % interval by the noise within the runs. Run-to-run variation is not in \
         it: repeat a run to see that."
    )
}

/// One table a load.
fn tables(comparison: &Comparison<'_>, loads: &[ComparedLoad], aliases: &[Alias]) -> String {
    let letters: Vec<String> = aliases.iter().map(|alias| alias.letter.clone()).collect();
    let mut out =
        String::from("<section>\n<h2>Load by load</h2>\n<div class=\"scroll\"><table class=\"compare\">\n");
    for load in loads.iter().take(MOST_LOADS) {
        out.push_str("<tbody>\n<tr><th scope=\"rowgroup\">");
        out.push_str(&escape(&load.title));
        out.push_str("</th>");
        for letter in &letters {
            out.push_str(&format!("<th scope=\"col\">{letter}</th>"));
        }
        out.push_str("</tr>\n");
        for row in load.rows(comparison.baseline(), &letters) {
            out.push_str(&format!("<tr><td>{}</td>", escape(&row.name)));
            for (cell, best) in row.cells.iter().zip(&row.best) {
                let (class, mark) = if *best { (" class=\"best\"", " *") } else { ("", "") };
                out.push_str(&format!("<td{class}>{}{mark}</td>", escape(cell)));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n");
    }
    if loads.is_empty() {
        out.push_str("<tbody><tr><td>No load in any run.</td></tr></tbody>\n");
    }
    out.push_str("</table></div>\n<p class=\"note\">* best of the runs. ");
    if loads.len() > MOST_LOADS {
        out.push_str(&format!("{} more loads are in the reports of the runs. ", loads.len() - MOST_LOADS));
    }
    out.push_str("</p>\n</section>\n");
    out
}

/// The comparison as text: what the letters stand for, what changed, a table a load, and why.
pub fn compare_terminal(comparison: &Comparison<'_>, style: &TerminalStyle) -> String {
    let runs = comparison.runs;
    let loads = aligned(loads(runs));
    let aliases = aliases(runs, &loads);
    let badge = badge(runs).map(|badge| format!("  [{badge}]")).unwrap_or_default();
    let width = style.width.max(40);
    let mut out = wrapped(&format!("{}{badge}", title(runs)), "", width) + "\n";
    for alias in &aliases {
        let from = if alias.read_from == crate::format::MISSING {
            String::new()
        } else {
            format!("  {}", alias.read_from)
        };
        out.push_str(&wrapped(
            &format!("{} ({}){from}", alias.differs, alias.origin),
            &format!("{}  ", alias.letter),
            width,
        ));
    }
    if let Some(changes) = changes(comparison, &loads, &aliases) {
        out.push_str("\nWhat changed\n");
        for change in &changes {
            out.push_str(&wrapped(change, "- ", width));
        }
        out.push_str(&wrapped(&changes_note(comparison, &aliases), "", width));
    }
    for load in loads.iter().take(MOST_LOADS) {
        out.push('\n');
        out.push_str(&wrapped(&load.title, "", width));
        out.push_str(&text_tables(load, comparison.baseline(), &aliases, style));
    }
    out.push_str("\n* best of the runs\n");
    for remark in comparison.remarks {
        out.push_str(&wrapped(remark, "- ", width));
    }
    for sentence in power::states(runs) {
        out.push_str(&wrapped(&sentence, "- ", width));
    }
    out.push_str("\nWhy\n");
    for (alias, run) in aliases.iter().zip(runs) {
        for (index, sentence) in reasons(run).iter().enumerate() {
            let lead = if index == 0 { format!("{}  ", alias.letter) } else { "   ".to_owned() };
            out.push_str(&wrapped(sentence, &lead, width));
        }
    }
    for joint in comparison.joint {
        out.push_str("\nTogether\n");
        for sentence in sentences::joint_policy(joint) {
            out.push_str(&wrapped(&sentence, "- ", width));
        }
    }
    finished(&out, style)
}

/// The rows of a load, as many runs beside each other as the terminal is wide.
fn text_tables(load: &ComparedLoad, baseline: usize, aliases: &[Alias], style: &TerminalStyle) -> String {
    let letters: Vec<String> = aliases.iter().map(|alias| alias.letter.clone()).collect();
    let rows = load.rows(baseline, &letters);
    let table = |from: usize, to: usize| -> (Vec<&str>, Vec<Vec<String>>) {
        let cells = |row: &ComparedRow| {
            let marked = |run: usize| format!("{}{}", row.cells[run], if row.best[run] { " *" } else { "" });
            [format!("  {}", row.name)].into_iter().chain((from..to).map(marked)).collect()
        };
        let headers = [""].into_iter().chain(letters[from..to].iter().map(String::as_str));
        (headers.collect(), rows.iter().map(cells).collect())
    };
    let mut out = String::new();
    let mut from = 0;
    while from < letters.len() {
        let fits = |to: &usize| {
            let (headers, rows) = table(from, *to);
            table_width(&headers, &rows, style) <= style.width
        };
        let to = (from + 1..=letters.len()).rev().find(fits).unwrap_or(from + 1);
        let (headers, rows) = table(from, to);
        out.push_str(&columns(&headers, &rows, style));
        from = to;
    }
    out
}

/// Why a run was as fast as it was: each thing that happened, with its cause.
fn reasons(run: &ReportInput) -> Vec<String> {
    let summary = sentences::summary(run);
    let told = summary
        .reasons
        .iter()
        .map(|reason| format!("{} {}", reason.what, reason.cause).trim_end().to_owned());
    run.ending.iter().chain(&summary.happened).cloned().chain(told).collect()
}

fn why(runs: &[ReportInput], aliases: &[Alias]) -> String {
    let mut out = String::from("<section>\n<h2>Why</h2>\n<dl class=\"why\">\n");
    for (alias, run) in aliases.iter().zip(runs) {
        let told: String =
            reasons(run).iter().map(|sentence| format!("<dd>{}</dd>", prose(sentence))).collect();
        out.push_str(&format!("<dt>{} ({})</dt>{told}\n", escape(&alias.letter), prose(&alias.differs)));
    }
    out.push_str("</dl>\n</section>\n");
    out
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
            "Simulated drives: no number on this page was measured".to_owned()
        }
        Some(_) => "Some of these runs are simulated: the table of runs says which".to_owned(),
        None => "Time counts from the start of each run".to_owned(),
    }
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

/// What costs the reader something, said once where all runs have it; the fine print of all runs behind a fold.
fn caveats(runs: &[ReportInput], aliases: &[Alias]) -> String {
    let summaries: Vec<_> = runs.iter().map(sentences::summary).collect();
    let of = |pick: fn(&sentences::Summary) -> &Vec<String>| -> String {
        let texts: Vec<&Vec<String>> = summaries.iter().map(pick).collect();
        let mut told: Vec<&String> = Vec::new();
        let mut items = String::new();
        for text in texts.iter().copied().flatten() {
            if told.contains(&text) {
                continue;
            }
            told.push(text);
            let having = texts.iter().zip(aliases).filter(|(texts, _)| texts.contains(text));
            let letters: Vec<&str> = having.map(|(_, alias)| alias.letter.as_str()).collect();
            let whose = if letters.len() == runs.len() { "All".to_owned() } else { letters.join(", ") };
            items.push_str(&format!("<li><strong>{whose}</strong>: {}</li>\n", prose(text)));
        }
        items
    };
    let (first, fine) = (of(|summary| &summary.caveats), of(|summary| &summary.fine_print));
    if first.is_empty() && fine.is_empty() {
        return String::new();
    }
    let first = if first.is_empty() {
        "<p>None that concern a verdict.</p>".to_owned()
    } else {
        format!("<ul>\n{first}</ul>")
    };
    let fine = match fine.as_str() {
        "" => String::new(),
        items => format!(
            "<details><summary>Precision and what was not observed</summary>\n<ul>\n{items}</ul></details>\n"
        ),
    };
    format!("<section id=\"caveats\">\n<h2>Caveats</h2>\n{first}\n{fine}</section>\n")
}
