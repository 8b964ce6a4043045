//! The table of a chart: columns joined into rows by their bucket of time.

use std::collections::BTreeMap;

use super::ChartTable;
use crate::format;

/// Columns joined into rows by their bucket.
pub(crate) struct Rows {
    pub(crate) bucket_s: f64,
    columns: Vec<(String, usize)>,
    /// By bucket number. A sorted map: rows come out in order of time.
    rows: BTreeMap<i64, Vec<Option<f64>>>,
}

impl Rows {
    pub(crate) fn new(bucket_s: f64) -> Self {
        Self { bucket_s, columns: vec![("time (s)".to_owned(), 0)], rows: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, name: String, decimals: usize, cells: impl Iterator<Item = (f64, f64)>) {
        let column = self.columns.len();
        self.columns.push((name, decimals));
        for (start_s, value) in cells {
            let row = self.rows.entry((start_s / self.bucket_s).round() as i64).or_default();
            row.resize(column + 1, None);
            row[column] = Some(value);
        }
    }

    pub(crate) fn table(self) -> ChartTable {
        let width = self.columns.len();
        let row = |(bucket, mut cells): (i64, Vec<Option<f64>>)| {
            cells.resize(width, None);
            cells[0] = Some(bucket as f64 * self.bucket_s);
            cells
        };
        ChartTable {
            caption: format!("One row each {}; the time is its start", format::seconds(self.bucket_s)),
            columns: self.columns,
            rows: self.rows.into_iter().map(row).collect(),
        }
    }
}
