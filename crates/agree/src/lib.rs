//! No two places of a report disagree: a number of one name is the same in the page, the terminal, the picture and the
//! comparison, and no sentence claims that a drive was not slowed down without what that is held against.
//!
//! For tests: of the report over scenes, and of the whole corpus by `score agree`.

use std::collections::BTreeMap;

use report::{
    Comparison, ReportInput, TerminalStyle, compare_html, compare_terminal, html, picture_svg, terminal,
};
use scraper::{Html, Selector};

/// How the check reads the terminal: nothing is wrapped.
pub const UNWRAPPED: TerminalStyle =
    TerminalStyle { width: 400, ascii: false, colour: false, run_folder: None };

/// What a report says in more than one place.
#[derive(Debug, Default)]
pub struct Agreement {
    /// Each pair of places that disagrees, and each claim without a reference, as a sentence.
    pub wrong: Vec<String>,
    /// Figures of the page that were found again in the comparison.
    pub compared: usize,
}

/// Cells of the page's tables of phases by phase, operation and column; both tables together.
type Cells = BTreeMap<(String, String, String), Vec<String>>;

/// Columns of the page, and the row of a comparison that has the same figure.
const SAME: [(&str, &str); 7] = [
    ("Speed", "speed"),
    ("Of full speed", "of full speed"),
    ("Full speed", "full speed"),
    ("While throttled", "while throttled"),
    ("Time throttled", "time throttled"),
    ("IOPS", "IOPS"),
    ("p99", "latency p99"),
];
/// Columns that the terminal and the picture show as well.
const EVERYWHERE: [&str; 5] = ["Speed", "Of full speed", "IOPS", "p99", "Temperature"];
/// Claims that nothing can carry.
const CLAIMS: [&str; 3] = ["not slowed down", "was not throttled", "full speed throughout"];
/// What a constant speed is held against.
const REFERENCES: [&str; 5] =
    ["no slower", "no faster speed is known", "of full speed", "rate limit", "of the link rate"];

/// Holds all that is shown of a run against each other.
pub fn check(run: &ReportInput) -> Agreement {
    let page = html(run);
    let text = terminal(run, &UNWRAPPED);
    let picture = picture_svg(run);
    let both = [run.clone(), run.clone()];
    let comparison = Comparison { runs: &both, baseline: 0, joint: &[], remarks: &[] };
    let compare = compare_terminal(&comparison, &UNWRAPPED);
    let cells = page_cells(&Html::parse_document(&page));
    let mut agreement = Agreement::default();
    figures(&cells, &text, &picture, &compare, &mut agreement);
    sentences(&cells, &text, &mut agreement);
    for (place, shown) in [
        ("page", &page),
        ("terminal", &text),
        ("picture", &picture),
        ("comparison", &compare),
        ("page of the comparison", &compare_html(&comparison)),
    ] {
        let claimed = CLAIMS.iter().filter(|claim| shown.contains(**claim));
        agreement
            .wrong
            .extend(claimed.map(|claim| format!("the {place} says \"{claim}\" without a reference")));
    }
    agreement
}

/// Figures of one name.
fn figures(cells: &Cells, text: &str, picture: &str, compare: &str, agreement: &mut Agreement) {
    for ((phase, op, column), values) in cells {
        if values.windows(2).any(|pair| pair[0] != pair[1]) {
            agreement.wrong.push(format!("{phase} {op} {column}: {values:?} on one page"));
        }
        let value = &values[0];
        if EVERYWHERE.contains(&column.as_str()) {
            for (place, shown) in [("terminal", text), ("picture", picture)] {
                if !shown.contains(value.as_str()) {
                    agreement.wrong.push(format!("{phase} {op} {column}: {value} is not in the {place}"));
                }
            }
        }
        let row = SAME.iter().find(|(name, _)| name == column).map(|(_, row)| *row);
        let (phase, again) = phase.split_at(phase.find(" [").unwrap_or(phase.len()));
        let title = if phase == op || phase == "–" { op.clone() } else { format!("{phase} ({op})") };
        if let Some(other) = row.and_then(|row| compared(compare, &title, again, row)) {
            agreement.compared += 1;
            let value = value.split(" (").next().unwrap_or_default();
            if other.trim_end_matches(" *") != value {
                agreement.wrong.push(format!("{title} {column}: {value}, and {other} in the comparison"));
            }
        }
    }
}

/// Sentences with a figure, and sentences that need a reference.
fn sentences(cells: &Cells, text: &str, agreement: &mut Agreement) {
    let throttled: Vec<&String> =
        cells.iter().filter(|(key, _)| key.2 == "While throttled").flat_map(|(_, values)| values).collect();
    for sentence in text.lines().filter(|line| line.contains(" while throttled")) {
        if !throttled.iter().any(|value| sentence.contains(value.as_str())) {
            agreement.wrong.push(format!("\"{sentence}\", and {throttled:?} in the table"));
        }
    }
    for line in text.lines().filter(|line| line.contains(": constant ")) {
        if !REFERENCES.iter().any(|reference| line.contains(reference)) {
            agreement.wrong.push(format!("\"{line}\" has no reference"));
        }
    }
}

fn page_cells(page: &Html) -> Cells {
    let select = |what: &str| Selector::parse(what).expect("a selector");
    let mut cells = Cells::new();
    for row in page.select(&select("table.phases tbody tr, table.detail tbody tr")) {
        let of_row: Vec<(String, String)> = row
            .select(&select("td"))
            .map(|cell| (cell.attr("data-label").unwrap_or_default().to_owned(), cell.text().collect()))
            .collect();
        for (name, value) in of_row.iter().skip(2) {
            let key = (of_row[0].1.clone(), of_row[1].1.clone(), name.clone());
            cells.entry(key).or_default().push(value.clone());
        }
    }
    cells
}

/// The row `name` of the load that a title begins with, in a comparison of one run with itself; the load's repetitions
/// end in " [2]".
fn compared<'a>(text: &'a str, title: &str, again: &str, name: &str) -> Option<&'a str> {
    let is_wanted = |block: &&str| {
        let head = block.lines().next().unwrap_or_default();
        let rest = head.strip_prefix(title);
        rest.is_some_and(|rest| {
            rest == again
                || rest.starts_with(':')
                    && (head.ends_with(again) && (!again.is_empty() || !head.ends_with(']')))
        })
    };
    let block = text.split("\n\n").find(is_wanted)?;
    let row = block
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(name).filter(|rest| rest.starts_with("  ")))?;
    row.split("  ").map(str::trim).find(|cell| !cell.is_empty())
}
