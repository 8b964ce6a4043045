//! Netdata's JSON: what `api/v1/data` answers without `format=csv`, and with `options=jsonwrap`.
//!
//! Rules
//! - `labels` names the columns, of which the first is `time`; `data` has a list or an object a row. With `jsonwrap` both are in
//!   `result`, beside the chart's `id`; versions 2 and 3 of the interface put three numbers into a cell, the value first.
//! - `reads` and `writes` are KiB/s, as in Netdata's charts of disks, and drawn downwards; what has a word for temperature is °C.
//! - Rows stand in any order, the newest first as a rule.

use serde_json::Value;

use super::when::{Stamp, since_1970, stamp};
use super::{Quantity, Samples};
use crate::ImportError;
use crate::json::JsonDocuments;
use crate::lines::LineReader;
use crate::part::{RunPart, TimeBase};
use trace::SegmentOp::{Read, Write};

const KIB: f64 = 1024.0;

/// Reads the answers in a file.
pub(crate) fn part(file: &str, lines: LineReader<'_>, device: Option<&str>) -> Result<RunPart, ImportError> {
    let mut documents = JsonDocuments::new(file, lines).with_cut_lists();
    let mut samples = Samples { is_unordered: true, ..Samples::default() };
    let mut first = None;
    while let Some(document) = documents.next()? {
        let (line, root) = (document.line, document.parse::<Value>()?);
        answer(&root, &mut samples, &mut first).map_err(|why| ImportError::at(file, line, None, why))?;
    }
    let first: Option<Stamp> = first;
    samples.part(file, device, move |zero_s| first.map_or(TimeBase::Own, |first| first.base(zero_s)))
}

/// Takes the rows of an answer.
fn answer(root: &Value, samples: &mut Samples, first: &mut Option<Stamp>) -> Result<(), String> {
    let table = if root["result"]["labels"].is_array() { &root["result"] } else { root };
    let (Some(labels), Some(rows)) = (table["labels"].as_array(), table["data"].as_array()) else {
        return Err("it looks like Netdata's JSON, but has no labels and data: ask for api/v1/data?chart=disk.nvme0n1".into());
    };
    let labels: Vec<&str> = labels.iter().map(|label| label.as_str().unwrap_or_default()).collect();
    let columns: Vec<(usize, Quantity, f64)> = labels
        .iter()
        .enumerate()
        .filter_map(|(at, label)| column(label).map(|(q, unit)| (at, q, unit)))
        .collect();
    if columns.is_empty() {
        return Err(format!(
            "it looks like Netdata's JSON, but has only {}: it needs a chart of a disk (reads, writes) or of its temperature",
            labels.join(", ")
        ));
    }
    if columns.iter().any(|(_, quantity, _)| matches!(quantity, Quantity::Rate(_))) {
        let note = "reads and writes are taken as KiB/s, as Netdata's charts of disks are";
        if !samples.notes.iter().any(|known| known == note) {
            samples.notes.push(note.into());
        }
    }
    let drive = drive(root);
    for row in rows {
        let cell = |at: usize| row.get(at).or_else(|| row.get(labels[at])).unwrap_or(&Value::Null);
        let Some(now) = time(cell(0)) else { continue };
        *first = first.or(Some(now));
        let row = samples.row(now.seconds);
        for (at, quantity, unit) in &columns {
            let value = number(cell(*at)).map_or(f64::NAN, |value| value * unit);
            samples.push_at(&drive, *quantity, row, value);
        }
    }
    Ok(())
}

/// What a column of that name holds, and what one of it counts.
fn column(label: &str) -> Option<(Quantity, f64)> {
    let lower = label.to_lowercase();
    match lower.as_str() {
        "reads" | "read" => Some((Quantity::Rate(Read), KIB)),
        "writes" | "write" => Some((Quantity::Rate(Write), KIB)),
        _ if lower.contains("temp") => Some((Quantity::Celsius(0), 1.0)),
        _ => None,
    }
}

/// `nvme0n1` of the chart `disk.nvme0n1`, where the answer tells it.
fn drive(root: &Value) -> String {
    let id = root["id"].as_str().or(root["name"].as_str()).unwrap_or_default();
    let name = id.rsplit_once('.').map_or(id, |(_, name)| name);
    if name.is_empty() { "drive".to_owned() } else { name.to_owned() }
}

fn time(cell: &Value) -> Option<Stamp> {
    match cell {
        Value::Number(number) => {
            number.as_f64().and_then(since_1970).map(|seconds| Stamp { seconds, is_utc: true })
        }
        Value::String(text) => stamp(text),
        _ => None,
    }
}

/// The number in a cell, which may be the first of several.
fn number(cell: &Value) -> Option<f64> {
    cell.as_f64().or_else(|| cell.get(0)?.as_f64())
}
