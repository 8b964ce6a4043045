//! `fleet drive`: one drive's rows as a log, through the ordinary `analyze --explain`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::array::{Array as _, AsArray as _};
use datafusion::arrow::datatypes::Int64Type;
use fleet_state::RowCadence;
use futures::StreamExt as _;

use super::{OpenedRows, beside, exit, warn};
use crate::args::DriveArgs;
use crate::projection::text_literal;
use crate::report;

/// `fleet drive`.
pub(crate) async fn drive(arguments: &DriveArgs) -> Result<ExitCode> {
    let opened = OpenedRows::of(&arguments.rows).await?;
    let rows = opened.register()?;
    let query = format!(
        "SELECT DISTINCT time_ms, temp_mc, tmt1_s, tmt1_n, tmt2_s, tmt2_n, read_bytes, written_bytes FROM ({}) \
         WHERE trim(serial) = {} AND time_ms IS NOT NULL ORDER BY time_ms, temp_mc, tmt1_s, tmt2_s",
        rows.select,
        text_literal(arguments.serial.trim())
    );
    let mut stream = opened.context.sql(&query).await?.execute_stream().await?;
    let mut log = PlainLog::new(rows.simulated() > 0, arguments.serial.trim());
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let columns = (0..8)
            .map(|at| batch.column(at).as_primitive_opt::<Int64Type>().context("readings are whole numbers"))
            .collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            let value = |at: usize| (!columns[at].is_null(row)).then(|| columns[at].value(row));
            log.row([value(0), value(1), value(2), value(3), value(4), value(5), value(6), value(7)]);
        }
    }
    if log.rows == 0 {
        bail!(
            "no row of drive {} in {} files; `heatsoak fleet sql \"SELECT DISTINCT serial FROM rows LIMIT 20\" SRC` lists some",
            arguments.serial.trim(),
            rows.files()
        );
    }
    let path = match &arguments.out {
        Some(out) => out.clone(),
        None => PathBuf::from(format!("{}.csv", file_name(arguments.serial.trim()))),
    };
    fs::write(&path, &log.text).with_context(|| format!("cannot write {}", path.display()))?;
    warn(&format!("{} rows of {} in {}", log.rows, arguments.serial.trim(), path.display()));
    log.warn_where_counters_decide();
    let status =
        Command::new(beside("heatsoak")).arg("analyze").arg(&path).arg("--explain").status().with_context(
            || {
                format!(
                    "cannot start heatsoak; the rows are in {}: heatsoak analyze it --explain",
                    path.display()
                )
            },
        )?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2);
    let refused = exit(&rows);
    Ok(if code == 0 { refused } else { ExitCode::from(code) })
}

/// A serial number as a file's name.
fn file_name(serial: &str) -> String {
    serial.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// One drive's rows as the plain CSV that `analyze` reads. Speeds are bytes between two rows over the time between.
struct PlainLog {
    text: String,
    rows: usize,
    first_ms: i64,
    last_ms: i64,
    /// By how much the two counters of seconds rose.
    throttled_s: i64,
    last: Option<[Option<i64>; 8]>,
}

impl PlainLog {
    fn new(simulated: bool, serial: &str) -> Self {
        let origin = if simulated { "# simulated rows\n" } else { "" };
        let text = format!(
            "{origin}# drive {serial}, from heatsoak fleet\n\
             t_s,read_bytes_per_s,write_bytes_per_s,temp_c,tmt1_seconds,tmt1_transitions,tmt2_seconds,tmt2_transitions\n"
        );
        Self { text, rows: 0, first_ms: 0, last_ms: 0, throttled_s: 0, last: None }
    }

    /// What decides comes first: `analyze` is made for rows of seconds.
    fn warn_where_counters_decide(&self) {
        let intervals = i64::try_from(self.rows).unwrap_or(i64::MAX).saturating_sub(1).max(1);
        let between_ms = self.last_ms.saturating_sub(self.first_ms) / intervals;
        if RowCadence::of(between_ms) != RowCadence::Second {
            warn(&format!(
                "TMT counters moved by {} s. Rows come every {}, so these counters decide whether it throttled; \
                 causes of single drops below are weak evidence",
                self.throttled_s,
                report::span(between_ms)
            ));
        }
    }

    fn row(&mut self, values: [Option<i64>; 8]) {
        let Some(time_ms) = values[0] else { return };
        let rate = |at: usize| {
            let last = self.last?;
            let seconds = (time_ms - last[0]?) as f64 / 1000.0;
            let bytes = values[at]? - last[at]?;
            (seconds > 0.0 && bytes >= 0).then(|| bytes as f64 / seconds)
        };
        let (read, written) = (rate(6), rate(7));
        match self.last {
            // Two rows with one time: the first one stands, as in the scan.
            Some(last) if last[0] == Some(time_ms) => return,
            Some(_) => {}
            None => self.first_ms = time_ms,
        }
        let cell = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value}"));
        let whole = |at: usize| values[at].map_or_else(String::new, |value| value.to_string());
        self.text += &format!(
            "{},{},{},{},{},{},{},{}\n",
            (time_ms - self.first_ms) as f64 / 1000.0,
            cell(read),
            cell(written),
            cell(values[1].map(|temp| temp as f64 / 1000.0)),
            whole(2),
            whole(3),
            whole(4),
            whole(5)
        );
        let step = |at: usize| {
            let last = self.last?[at]?;
            values[at].map(|now| now.saturating_sub(last).max(0))
        };
        self.throttled_s += step(2).unwrap_or_default() + step(4).unwrap_or_default();
        self.rows += 1;
        self.last_ms = time_ms;
        self.last = Some(values);
    }
}
