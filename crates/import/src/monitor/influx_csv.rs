//! InfluxDB's annotated CSV: what a query for telegraf's metrics gives, as `influx query --raw` and the download of the web
//! interface write it.
//!
//! Lines with `#` annotate, a line with `_time` names the columns until the next of its kind. With `_field` and `_value` a row is
//! one value, without them (after a pivot) a column each. All other columns are tags.

use std::collections::BTreeMap;

use measure::CellSplitter;

use super::telegraf::{Gathered, Metric};
use super::when::stamp;
use crate::ImportError;
use crate::lines::LineReader;
use crate::part::RunPart;

/// Whether a line is a header of such a table.
pub(crate) fn is_header(line: &str) -> bool {
    let has = |name: &str| line.split(',').any(|cell| cell.trim().trim_matches('"') == name);
    has("_time") && (has("_value") || has("_measurement"))
}

/// Reads the tables.
pub(crate) fn part(
    file: &str,
    mut lines: LineReader<'_>,
    device: Option<&str>,
) -> Result<RunPart, ImportError> {
    let (mut gathered, mut splitter) = (Gathered::default(), CellSplitter::new());
    let mut header: Vec<String> = Vec::new();
    while let Some((number, line)) = lines.next()? {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let is_header = is_header(line);
        let cells: Vec<String> = splitter.split(line).iter().map(str::to_owned).collect();
        if is_header {
            header = cells;
        } else if cells.len() < header.len() && !lines.ended {
            lines.line_is_cut(number);
        } else if cells.len() != header.len() {
            let why = format!("the row has {} cells, the header has {}", cells.len(), header.len());
            return Err(ImportError::at(file, number, None, why));
        } else {
            let metric = metric(&header, &cells);
            gathered.add(&metric.map_err(|why| ImportError::at(file, number, Some("_time"), why))?);
        }
    }
    gathered.part(file, device)
}

/// A row as telegraf's metric.
fn metric(header: &[String], cells: &[String]) -> Result<Metric, String> {
    let columns = || header.iter().map(String::as_str).zip(cells.iter().map(String::as_str));
    let cell = |name: &str| columns().find(|(known, _)| *known == name).map_or("", |(_, cell)| cell);
    let time = cell("_time");
    let t_s = stamp(time).ok_or_else(|| format!("{time:?} is no time"))?.seconds;
    let is_own = |name: &str| name.is_empty() || name.starts_with('_') || ["result", "table"].contains(&name);
    let tags: BTreeMap<String, String> = columns()
        .filter(|(name, _)| !is_own(name))
        .map(|(name, cell)| (name.to_owned(), cell.to_owned()))
        .collect();
    let field = cell("_field");
    let number = |(name, cell): (&str, &str)| Some((name.to_owned(), cell.parse::<f64>().ok()?));
    let fields = match field {
        "" => columns().filter(|(name, _)| !is_own(name)).filter_map(number).collect(),
        field => number((field, cell("_value"))).into_iter().collect(),
    };
    Ok(Metric { name: cell("_measurement").to_owned(), tags, fields, t_s })
}
