//! What is wrong with a plan file, said with its line and column, its key, and what would be right.
//!
//! Serde finds the mistakes and knows their place; it does not know which of several tables a key belongs in, nor
//! which valid name is the nearest.

use std::ops::Range;

use measure::nearest::did_you_mean;
use serde::Deserialize;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use super::phase::{PHASE_ALONE, PhaseTable};
use super::settings::SettingsTable;
use crate::{Plan, PlanError, Rounds, Sweep, SweepSetting, TelemetryPlan};

/// An error about a part of the text, or about all of it.
pub(super) fn at(text: &str, file: &str, span: Option<Range<usize>>, why: impl Into<String>) -> PlanError {
    let start = span.map_or(0, |span| span.start);
    let before = text.get(..start).unwrap_or(text);
    let line = 1 + before.matches('\n').count();
    let column = 1 + before.chars().rev().take_while(|c| *c != '\n').count();
    PlanError::Line { file: file.to_owned(), line, column: Some(column), why: why.into() }
}

/// The error for people of one of the deserialiser.
pub(super) fn explain(text: &str, file: &str, error: &Error, document: &DeTable<'_>) -> PlanError {
    let path = path(error);
    let message = error.message().trim();
    let key = path.rsplit('.').next().unwrap_or(&path);
    let words = in_backticks(message);
    let why = match message.split(' ').next() {
        Some("unknown") if message.starts_with("unknown field") => unknown_key(&path, &words),
        Some("unknown") => {
            let [typed, valid @ ..] = words.as_slice() else { return at(text, file, error.span(), message) };
            let hint = did_you_mean(typed, valid.iter().copied());
            format!("`{key}`: {typed:?} is none of the valid words; {hint}valid are {}", valid.join(", "))
        }
        Some("missing") => missing_key(&path, words.first().copied().unwrap_or_default()),
        Some(word) if word.ends_with("`:") => {
            let span = error.span().map(|table| find_key(document, &table, words[0]).unwrap_or(table));
            return at(text, file, span, message);
        }
        _ if message.ends_with("expected a sequence") && is_list_of_tables(&path) => {
            format!("`{key}`: write it in double brackets: [[{path}]]")
        }
        _ if TABLES.iter().any(|(table, _)| *table == path) => message.to_owned(),
        _ => format!("`{key}`: {}", within_limits(message).unwrap_or_else(|| message.to_owned())),
    };
    at(text, file, error.span(), why)
}

/// The keys from the top of the file to the value, as in `phase.region.len`; of a list the elements have none.
fn path(error: &Error) -> String {
    let shown = error.to_string();
    shown.rsplit_once("\nin `").map_or("", |(_, path)| path.trim_end_matches("`\n")).to_owned()
}

/// The words in backticks: of an unknown name that one, then those that are known.
fn in_backticks(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

/// Lists the keys of a table.
type Keys = fn() -> Vec<String>;

/// The tables that a key can be in by mistake, with their keys.
const TABLES: [(&str, Keys); 10] = [
    ("", || keys(Plan::deserialize)),
    ("telemetry", || keys(TelemetryPlan::deserialize)),
    ("settings", || keys(SettingsTable::deserialize)),
    ("phase", || keys(PhaseTable::deserialize)),
    ("sweep", || keys(Sweep::deserialize)),
    ("sweep.setting", || keys(SweepSetting::deserialize)),
    ("rounds", || keys(Rounds::deserialize)),
    ("rounds.phase", || keys(PhaseTable::deserialize)),
    ("phase.load", Vec::new),
    ("rounds.phase.load", Vec::new),
];

/// The keys of a table: serde lists them where one is unknown.
fn keys<T>(read: impl FnOnce(Deserializer<'static>) -> Result<T, Error>) -> Vec<String> {
    let error = Deserializer::parse("\"?\" = 0").and_then(read).err();
    let message = error.map_or_else(String::new, |error| error.message().to_owned());
    in_backticks(&message).into_iter().skip(1).map(str::to_owned).collect()
}

fn unknown_key(path: &str, words: &[&str]) -> String {
    let [key, valid @ ..] = words else { return "a key is not known".to_owned() };
    let what = table_name(path);
    // A table's own sub-tables come first: a phase's key in [rounds] was meant for a phase of a round.
    let (below, other): (Vec<_>, Vec<_>) = TABLES
        .iter()
        .partition(|(table, _)| table.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')));
    let known = TABLES.iter().any(|(table, _)| *table == path);
    let home = below.into_iter().chain(other).find(|(_, keys)| keys().iter().any(|one| one == key));
    if let Some((home, _)) = home.filter(|_| known) {
        let place = match home {
            "" => "at the top of the file, before the first line in brackets".to_owned(),
            list if is_list_of_tables(list) => format!("in a [[{list}]]"),
            table => format!("in the table [{table}]"),
        };
        return format!("the key `{key}` does not belong in {what}; it belongs {place}");
    }
    let in_a_load = path.ends_with(".load");
    let valid: Vec<&str> =
        valid.iter().copied().filter(|name| !(in_a_load && PHASE_ALONE.contains(name))).collect();
    let hint = did_you_mean(key, valid.iter().copied());
    format!("{what} has no key `{key}`; {hint}valid are {}", valid.join(", "))
}

fn missing_key(path: &str, key: &str) -> String {
    let example = match key {
        "setting" => "[[sweep.setting]] and below it tmt1 = \"65C\", tmt2 = \"70C\"",
        "until_steady" => "until_steady = \"write 4KiB\", the name of one of its phases",
        "phase" => "[[rounds.phase]] and below it op = \"randwrite\"",
        "size" => "{ size = \"4KiB\", weight = 60 }",
        _ => "{ min = \"4KiB\", max = \"1MiB\" }",
    };
    format!("{} needs the key `{key}`; write for example {example}", table_name(path))
}

fn table_name(path: &str) -> String {
    match path.rsplit('.').next().unwrap_or(path) {
        "" => "the plan".to_owned(),
        "phase" => "a phase".to_owned(),
        "load" => "a load".to_owned(),
        "setting" => "a setting of a sweep".to_owned(),
        _ if TABLES.iter().any(|(table, _)| *table == path) => format!("the table [{path}]"),
        key => format!("`{key}`"),
    }
}

fn is_list_of_tables(path: &str) -> bool {
    matches!(path.rsplit('.').next(), Some("phase" | "load" | "setting"))
}

/// What serde says of a number that does not fit its type, with the limits in place of the type's name.
fn within_limits(message: &str) -> Option<String> {
    let (number, wanted) = message.strip_prefix("invalid value: integer `")?.split_once("`, expected ")?;
    let bits: u32 = wanted.rsplit('u').next()?.parse().ok()?;
    let (least, most) = (u8::from(wanted.contains("nonzero")), u64::MAX >> 64_u32.checked_sub(bits)?);
    let small = number.starts_with('-') || number == "0";
    Some(match small {
        true => format!("{number} is too small: at least {least}"),
        false => format!("{number} is too large: at most {most}"),
    })
}

/// The place of a key of the table that stands at `place`.
fn find_key(table: &DeTable<'_>, place: &Range<usize>, key: &str) -> Option<Range<usize>> {
    fn within(value: &toml::Spanned<DeValue<'_>>, place: &Range<usize>, key: &str) -> Option<Range<usize>> {
        match value.get_ref() {
            DeValue::Table(table) if value.span() == *place => {
                table.get_key_value(key).map(|(key, _)| key.span())
            }
            DeValue::Table(table) => find_key(table, place, key),
            DeValue::Array(list) => list.iter().find_map(|element| within(element, place, key)),
            _ => None,
        }
    }
    table.values().find_map(|value| within(value, place, key))
}
