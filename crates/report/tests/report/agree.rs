//! No two places of a report disagree: a number of one name is the same in the page, the terminal, the picture and the
//! comparison, and no sentence claims "not slowed down" without what that is held against.

use std::collections::BTreeMap;

use analysis::findings::{Label, PolicyClass};
use measure::record::Op;
use proptest::prelude::*;
use proptest::sample::select;
use report::{
    Comparison, ReportInput, TerminalStyle, compare_html, compare_terminal, html, picture_svg, terminal,
};
use scraper::{Html, Selector};

use crate::scene;

const STYLE: TerminalStyle = TerminalStyle { width: 400, ascii: false, colour: false, run_folder: None };

/// Scenes in variations: other speeds, other levels, with and without temperature, events, labels and rates.
fn corpus() -> impl Strategy<Value = ReportInput> {
    let scenes = select(vec![scene::vendor(), scene::relay(), scene::mixed(), scene::sweep().remove(1)]);
    let labels =
        select(vec![Label::FullSpeed, Label::Throttled, Label::RateLimited, Label::Dip, Label::Unknown]);
    (scenes, 0.05f64..4.0, any::<[bool; 4]>(), labels, 0usize..3).prop_map(
        |(mut run, factor, [temperature, events, link, loads], label, which)| {
            for series in &mut run.speed {
                series.intervals.iter_mut().for_each(|interval| interval.value *= factor);
            }
            for segment in &mut run.findings.segments {
                segment.mean_bytes_per_s = segment.mean_bytes_per_s.map(|rate| rate * factor);
            }
            if let Some(segment) = run.findings.segments.get_mut(which) {
                segment.label = label;
            }
            if !temperature {
                run.temperature.clear();
            }
            if !events {
                run.findings.events.clear();
                run.findings.policy.class = PolicyClass::Undetermined;
            }
            if !link {
                run.link_bytes_per_s = None;
            }
            if !loads {
                run.loads.clear();
            }
            run
        },
    )
}

/// The cells of the page's tables of phases by phase, operation and column; both tables together.
fn page_cells(page: &Html) -> BTreeMap<(String, String, String), Vec<String>> {
    let select = |what: &str| Selector::parse(what).expect("a selector");
    let mut cells: BTreeMap<(String, String, String), Vec<String>> = BTreeMap::new();
    for row in page.select(&select("table.phases tbody tr, table.detail tbody tr")) {
        let of_row: Vec<(String, String)> = row
            .select(&select("td"))
            .map(|cell| (cell.attr("data-label").unwrap_or_default().to_owned(), cell.text().collect()))
            .collect();
        for (name, value) in &of_row[2..] {
            let key = (of_row[0].1.clone(), of_row[1].1.clone(), name.clone());
            cells.entry(key).or_default().push(value.clone());
        }
    }
    cells
}

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

/// The row `name` of the load that a title begins with, in a comparison of one run with itself.
fn compared<'a>(text: &'a str, title: &str, name: &str) -> Option<&'a str> {
    let block = text.split("\n\n").find(|block| block.starts_with(title))?;
    let row = block
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(name).filter(|rest| rest.starts_with("  ")))?;
    row.split("  ").map(str::trim).find(|cell| !cell.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_number_of_one_name_is_one_number(run in corpus()) {
        let page = html(&run);
        let cells = page_cells(&Html::parse_document(&page));
        let text = terminal(&run, &STYLE);
        let picture = picture_svg(&run);
        let both = [run.clone(), run.clone()];
        let comparison = Comparison { runs: &both, baseline: 0, joint: &[] };
        let compare = compare_terminal(&comparison, &STYLE);
        let mut checked = 0;
        for ((phase, op, column), values) in &cells {
            prop_assert!(values.windows(2).all(|pair| pair[0] == pair[1]), "{phase} {op} {column}: {values:?}");
            let value = &values[0];
            if ["Speed", "Of full speed", "IOPS", "p99", "Temperature"].contains(&column.as_str()) {
                prop_assert!(text.contains(value.as_str()), "{column} {value} is not in the terminal:\n{text}");
                prop_assert!(picture.contains(value.as_str()), "{column} {value} is not in the picture");
            }
            let row = SAME.iter().find(|(name, _)| name == column).map(|(_, row)| *row);
            let title = if phase == op { format!("{op}:") } else { format!("{phase} ({op})") };
            if let Some(other) = row.and_then(|row| compared(&compare, &title, row)) {
                checked += 1;
                let value = value.split(" (").next().unwrap_or_default();
                prop_assert!(other.trim_end_matches(" *") == value, "{title} {column}: {value} and {other}\n{compare}");
            }
        }
        prop_assert!(checked >= 2, "{checked} figures were found in the comparison:\n{compare}");
        // What is said to be the speed while throttled is that of the table.
        let throttled: Vec<&String> =
            cells.iter().filter(|(key, _)| key.2 == "While throttled").flat_map(|(_, values)| values).collect();
        for sentence in text.lines().filter(|line| line.contains(" while throttled")) {
            prop_assert!(throttled.iter().any(|value| sentence.contains(value.as_str())), "{sentence}: {throttled:?}");
        }
        for shown in [&page, &text, &picture, &compare, &compare_html(&comparison)] {
            let claims = ["not slowed down", "was not throttled", "full speed throughout"];
            prop_assert!(claims.iter().all(|claim| !shown.contains(claim)), "{shown}");
        }
        for line in text.lines().filter(|line| line.contains(": constant ")) {
            let has_reference = ["no slower at", "no faster speed is known", "rate limit"].iter().any(|r| line.contains(r));
            prop_assert!(has_reference, "{line}");
        }
    }
}

/// Goal: a mean is never of several operations. Method: reads and writes at once, at speeds far apart.
#[test]
fn reads_and_writes_are_never_averaged_together() {
    let mut run = scene::mixed();
    for series in &mut run.speed {
        let rate = if series.op == Op::Read { 3e9 } else { 1e9 };
        series.intervals.iter_mut().for_each(|interval| interval.value = rate);
    }
    let both = [run.clone(), run];
    let text = compare_terminal(&Comparison { runs: &both, baseline: 0, joint: &[] }, &STYLE);
    let speeds: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with("speed  ")).collect();
    assert!(
        speeds.len() == 2 && speeds[0].contains("3.00 GB/s") && speeds[1].contains("1.00 GB/s"),
        "{text}"
    );
    assert!(!text.contains("2.00 GB/s") && !text.contains("4.00 GB/s"), "{text}");
}
