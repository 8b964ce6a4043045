//! `heatsoak analyze --explain`: the reasoning behind one event, in sentences a person can follow.
//!
//! It lays out what [`analysis::explain()`] read off the verdict, and computes nothing.

use std::path::Path;

use analysis::Explanation;
use analysis::explain::{Observed, Suspect};
use analysis::findings::{Cause, Event, EventKind};
use analysis::wording::degrees;
use anyhow::bail;
use report::sentences;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::documents::JsonDocument as _;
use crate::table;

/// So many events are told whole when none is named; of more there is a list.
const FEW: usize = 2;
/// Columns of one weight.
const WEIGHT_WIDTH: usize = 6;
/// The causes in the order of the columns, and how they are headed.
const COLUMNS: [(Suspect, &str); 5] = [
    (Suspect::Tmt1, "TMT1"),
    (Suspect::Tmt2, "TMT2"),
    (Suspect::Vendor, "own"),
    (Suspect::Slc, "cache"),
    (Suspect::Other, "other"),
];

/// The events of one input that were asked for.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Explained {
    /// Version of this format.
    schema: u32,
    /// The input: a run folder or a log.
    source: String,
    /// Whether it is of a simulated drive; `null` where the source does not say.
    simulated: Option<bool>,
    /// The events that were asked for.
    explanations: Vec<Explanation>,
    /// Whether one was named.
    #[serde(skip)]
    named: bool,
}

impl Explained {
    /// Picks event `number` of all, or all of them.
    ///
    /// # Errors
    /// When there is no such event.
    pub(crate) fn new(
        source: &Path,
        simulated: Option<bool>,
        mut explanations: Vec<Explanation>,
        number: Option<usize>,
    ) -> anyhow::Result<Self> {
        let source = source.display().to_string();
        if let Some(number) = number {
            let count = explanations.len();
            explanations.retain(|explanation| explanation.number == number);
            if explanations.is_empty() {
                let has = match count {
                    0 => "no events".to_owned(),
                    1 => "one event".to_owned(),
                    count => format!("{count} events"),
                };
                bail!(
                    "cannot explain event {number} of {source}: it has {has} (`heatsoak analyze {source} --explain` lists them)"
                );
            }
        }
        Ok(Self { schema: Self::SCHEMA, source, simulated, explanations, named: number.is_some() })
    }

    /// For people, in lines of at most `width` columns where words allow it.
    pub(crate) fn text(&self, width: usize) -> String {
        let badge = if self.simulated == Some(true) { "  [SIMULATED]" } else { "" };
        let mut text = format!("{}{badge}\n", self.source);
        match self.explanations.len() {
            0 => text.push_str("  No event to explain: the speed did not drop.\n"),
            count if count > FEW && !self.named => text.push_str(&self.list(width)),
            _ => self.explanations.iter().for_each(|one| text.push_str(&explanation(one, width))),
        }
        text
    }

    fn list(&self, width: usize) -> String {
        let heading = ["  EVENT", "AT", "WHAT", "TEMPERATURE", "CAUSE", "CONFIDENCE"].map(str::to_owned);
        let rows = self.explanations.iter().map(|one| row(one.number, &one.event));
        let rows: Vec<_> = std::iter::once(heading).chain(rows).collect();
        let hint =
            format!("\n  `heatsoak analyze {} --explain N` tells the reasoning behind one.\n", self.source);
        table::fitted(&rows, width) + &hint
    }
}

fn row(number: usize, event: &Event) -> [String; 6] {
    [
        format!("  {number}"),
        format!("{:.1} s", event.t_s),
        sentences::event_kind(event.kind).to_owned(),
        event.temp_k.map_or_else(|| "-".to_owned(), degrees),
        sentences::cause(event.cause, &[]),
        match event.cause {
            Cause::Unknown => "-".to_owned(),
            _ => format!("{:.0} %", 100.0 * event.confidence),
        },
    ]
}

fn explanation(one: &Explanation, width: usize) -> String {
    let event = &one.event;
    let at = event.temp_k.map_or_else(String::new, |kelvin| format!(", at {}", degrees(kelvin)));
    let mut text = paragraph(
        &format!(
            "Event {}: {} at {:.1} s{at}. {}",
            one.number,
            sentences::event_kind(event.kind),
            event.t_s,
            sentences::cause_sentence(event, &[])
        ),
        "  ",
        width,
    );
    text.insert(0, '\n');
    if event.kind == EventKind::ThrottleRelease {
        let whole = "A release has the cause of its onset; what follows is about the whole stretch.";
        text.push_str(&paragraph(whole, "  ", width));
    }
    text.push_str("\n  Observed\n");
    for sentence in &one.seen.sentences {
        text.push_str(&paragraph(sentence, "  - ", width));
    }
    text.push_str("\n  Weighed\n");
    text.push_str(&paragraph(LEGEND, "  ", width));
    text.push_str(&weights(one, width));
    text.push_str("\n  Why\n");
    for sentence in &one.why {
        text.push_str(&paragraph(sentence, "  - ", width));
    }
    if !one.would_decide.is_empty() {
        text.push_str("\n  To settle it\n");
    }
    for way in &one.would_decide {
        text.push_str(&paragraph(way, "  - ", width));
    }
    text + "\n  Each rule has a section in docs/METHODS.md under its name in brackets.\n"
}

/// What stands above the weights.
const LEGEND: &str = "Log odds: above 0 speaks for a cause, below 0 against it; 1 is a hint, 2.5 is strong, 5 decides alone. Causes: TMT1, TMT2, own = firmware threshold, cache = SLC cache full, other.";

/// A line for each observation, the sums, and what they make.
fn weights(one: &Explanation, width: usize) -> String {
    let cells = |cell: &dyn Fn(usize) -> String| -> String {
        (0..COLUMNS.len()).map(|column| format!("{:>WEIGHT_WIDTH$}", cell(column))).collect()
    };
    let of = |suspect: Suspect| one.causes.iter().find(|weighed| weighed.cause == suspect);
    let mut text = format!("{}\n", cells(&|column| COLUMNS[column].1.to_owned()));
    for observed in &one.observations {
        let row = observed.log_odds.array();
        let lead = cells(&|column| weight(row[COLUMNS[column].0 as usize])) + "  ";
        text.push_str(&paragraph(&sentence(observed), &lead, width));
    }
    let sum =
        |column: usize| of(COLUMNS[column].0).map_or_else(String::new, |c| format!("{:+.1}", c.log_odds));
    let share = |column: usize| {
        of(COLUMNS[column].0).map_or_else(String::new, |c| format!("{:.0} %", 100.0 * c.probability))
    };
    text.push_str(&format!("{}  sums\n{}  probabilities\n", cells(&sum), cells(&share)));
    text
}

fn sentence(observed: &Observed) -> String {
    format!("{} [{}]", observed.text, observed.rule.name())
}

/// A weight in tenths; what makes none is left out.
fn weight(log_odds: f64) -> String {
    if log_odds.abs() < 0.05 { "·".to_owned() } else { format!("{log_odds:+.1}") }
}

/// Lines of at most `width` columns; `lead` stands before the first, the others are indented alike.
fn paragraph(text: &str, lead: &str, width: usize) -> String {
    // The columns of weights need room beside them, however narrow the terminal.
    let columns = lead.chars().count();
    let indent = " ".repeat(columns);
    let options =
        textwrap::Options::new(width.max(columns + 30)).initial_indent(lead).subsequent_indent(&indent);
    textwrap::fill(text, options) + "\n"
}
