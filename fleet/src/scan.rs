//! All rows to one result a drive: states first, and the drives whose rows came mixed up a second time, sorted.
//!
//! The result depends on the rows alone: not on the order of files, on how they are cut, or on threads.

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema};
use datafusion::error::DataFusionError;
use datafusion::prelude::SessionContext;
use fleet_state::row::ABSENT;
use fleet_state::{COUNTERS, DrivePart, Finish, HealthRow, IntervalRules, SortedDrive, ThermalState};
use futures::StreamExt as _;
use std::sync::Arc;

use crate::engine::{self, FleetRows};
use crate::mapping::FleetMap;
use crate::projection::ROW_COLUMNS;
use crate::source::{Found, RefusedFile};
use crate::udaf::THERMAL_STATE;

/// The sums of one drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScannedDrive {
    pub(crate) serial: String,
    pub(crate) parts: Vec<DrivePart>,
}

/// What a scan found.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    /// By serial number.
    pub(crate) drives: Vec<ScannedDrive>,
    /// Drives whose rows had to be sorted.
    pub(crate) sorted: usize,
    /// Rows without a serial number.
    pub(crate) nameless_rows: u64,
    /// Rows without a time.
    pub(crate) untimed_rows: u64,
}

/// Registers the files and scans them. A file that turns out unreadable is refused by name and the others scanned
/// anew, without it.
pub(crate) async fn scan(
    context: &SessionContext,
    mut found: Found,
    map: Option<&FleetMap>,
    rules: impl AsyncFn(&FleetRows) -> Result<IntervalRules>,
) -> Result<(FleetRows, IntervalRules, Scanned)> {
    loop {
        let rows = engine::register(context, &found, map)?;
        if rows.groups.is_empty() {
            return Ok((rows, IntervalRules { cadence_ms: 1 }, Scanned::default()));
        }
        let attempt = async {
            let rules = rules(&rows).await?;
            anyhow::Ok((rules, drives(context, &rows, rules).await?))
        };
        let error = match attempt.await {
            Ok((rules, scanned)) => return Ok((rows, rules, scanned)),
            Err(error) => error,
        };
        if let Some(DataFusionError::ResourcesExhausted(_)) =
            error.downcast_ref::<DataFusionError>().map(DataFusionError::find_root)
        {
            return Err(error.context("the memory limit does not do; give more with --memory"));
        }
        let refused = engine::refused_alone(context, &rows).await?;
        if refused.is_empty() {
            return Err(error.context("the scan failed, and each file by itself can be read"));
        }
        let bad = |path: &std::path::Path| {
            refused.iter().any(|file: &RefusedFile| file.path == path.display().to_string())
        };
        found.files.retain(|file| !bad(&file.path));
        found.refused.extend(refused);
    }
}

/// All drives of the registered rows.
pub(crate) async fn drives(
    context: &SessionContext,
    rows: &FleetRows,
    rules: IntervalRules,
) -> Result<Scanned> {
    let columns = ROW_COLUMNS.strip_prefix("serial, ").unwrap_or(ROW_COLUMNS);
    let sql = format!(
        "SELECT serial, {THERMAL_STATE}({}, {columns}) AS state FROM ({}) GROUP BY serial",
        rules.cadence_ms, rows.select
    );
    let mut states = states(context, &sql).await?;
    // Serial numbers are padded with blanks in some exports; the engine has told those apart.
    states.sort();
    let mut scanned = Scanned::default();
    let mut mixed: Vec<(String, u64)> = Vec::new();
    let mut states = states.into_iter().peekable();
    while let Some((serial, bytes)) = states.next() {
        let mut state = ThermalState::decode(&bytes)?;
        while let Some((_, more)) = states.next_if(|(next, _)| *next == serial) {
            state.merge(ThermalState::decode(&more)?);
        }
        scanned.untimed_rows += state.untimed();
        if serial.is_empty() {
            scanned.nameless_rows += state.rows();
            continue;
        }
        let rows = state.rows();
        match state.finish(&rules) {
            Finish::Parts(parts) if parts.is_empty() => {}
            Finish::Parts(parts) => scanned.drives.push(ScannedDrive { serial, parts }),
            Finish::NeedsSort => mixed.push((serial, rows)),
        }
    }
    if !mixed.is_empty() {
        scanned.sorted = mixed.len();
        scanned.drives.extend(sorted_drives(context, rows, rules, &mixed).await?);
        scanned.drives.sort_by(|one, other| one.serial.cmp(&other.serial));
    }
    Ok(scanned)
}

/// Serial numbers without blanks around them, and their states.
async fn states(context: &SessionContext, sql: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let mut stream = context.sql(sql).await?.execute_stream().await?;
    let mut states = Vec::new();
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let serials = batch.column(0).as_string_view_opt().context("serial numbers are texts")?;
        let bytes = batch.column(1).as_binary_opt::<i32>().context("states are bytes")?;
        for row in 0..batch.num_rows() {
            let serial = if serials.is_null(row) { "" } else { serials.value(row).trim_matches(' ') };
            states.push((serial.to_owned(), bytes.value(row).to_vec()));
        }
    }
    Ok(states)
}

/// The second pass: all rows of some drives, sorted by the engine within its memory limit.
async fn sorted_drives(
    context: &SessionContext,
    rows: &FleetRows,
    rules: IntervalRules,
    mixed: &[(String, u64)],
) -> Result<Vec<ScannedDrive>> {
    let schema = Arc::new(Schema::new(vec![Field::new("serial", DataType::Utf8, false)]));
    let serials: ArrayRef = Arc::new(StringArray::from_iter_values(mixed.iter().map(|(serial, _)| serial)));
    context.deregister_table("fleet_mixed")?;
    context.register_batch("fleet_mixed", RecordBatch::try_new(schema, vec![serials])?)?;
    let counters = ROW_COLUMNS.split("temp_mc, ").nth(1).unwrap_or_default();
    let sql = format!(
        "SELECT * FROM (SELECT trim(serial) AS serial, {}, time_ms, temp_mc, {counters} FROM ({}) WHERE time_ms IS NOT NULL) \
         WHERE serial IN (SELECT serial FROM fleet_mixed) \
         ORDER BY serial, model, time_ms, firmware, host, slot, temp_mc NULLS FIRST, {}",
        ["model", "firmware", "host", "slot"]
            .map(|name| format!("coalesce(trim({name}), '') AS {name}"))
            .join(", "),
        rows.select,
        counters
            .split(", ")
            .map(|name| format!("{} NULLS FIRST", name.trim()))
            .collect::<Vec<_>>()
            .join(", "),
    );
    let mut stream = context.sql(&sql).await?.execute_stream().await?;
    let mut drives: Vec<ScannedDrive> = Vec::new();
    let mut current: Option<(String, String, SortedDrive)> = None;
    while let Some(batch) = stream.next().await {
        give_sorted(&batch?, &rules, &mut current, &mut drives)?;
    }
    if let Some((serial, _, drive)) = current {
        close(&mut drives, serial, drive);
    }
    context.deregister_table("fleet_mixed")?;
    for (serial, rows) in mixed {
        let drive = drives.binary_search_by(|drive| drive.serial.cmp(serial)).ok().map(|at| &drives[at]);
        let again: u64 = drive
            .into_iter()
            .flat_map(|drive| &drive.parts)
            .map(|part| part.sums.rows + part.sums.duplicates + part.sums.conflicts)
            .sum();
        if again != *rows {
            bail!(
                "{rows} rows of drive {serial} were read first and {again} then: the files change while they are read"
            );
        }
    }
    Ok(drives)
}

fn give_sorted(
    batch: &RecordBatch,
    rules: &IntervalRules,
    current: &mut Option<(String, String, SortedDrive)>,
    drives: &mut Vec<ScannedDrive>,
) -> Result<()> {
    let texts = (0..5)
        .map(|at| {
            let column = datafusion::arrow::compute::cast(batch.column(at), &DataType::Utf8)?;
            Ok(column.as_string::<i32>().clone())
        })
        .collect::<Result<Vec<_>>>()?;
    let numbers = (5..7 + COUNTERS)
        .map(|at| batch.column(at).as_primitive_opt::<Int64Type>().context("readings are whole numbers"))
        .collect::<Result<Vec<_>>>()?;
    for row in 0..batch.num_rows() {
        let value = |at: usize| if numbers[at].is_null(row) { ABSENT } else { numbers[at].value(row) };
        let mut health = HealthRow::new(value(0));
        health.temp_mc = value(1);
        for (at, counter) in health.counters.iter_mut().enumerate() {
            *counter = value(2 + at);
            if *counter < 0 {
                *counter = ABSENT;
            }
        }
        let (serial, model) = (texts[0].value(row), texts[1].value(row));
        let same = current.as_ref().is_some_and(|(old, old_model, _)| old == serial && old_model == model);
        if !same {
            if let Some((serial, _, drive)) = current.take() {
                close(drives, serial, drive);
            }
            *current = Some((serial.to_owned(), model.to_owned(), SortedDrive::default()));
        }
        if let Some((.., drive)) = current {
            drive.push(
                [model, texts[2].value(row), texts[3].value(row), texts[4].value(row)],
                &health,
                rules,
            );
        }
    }
    Ok(())
}

/// Adds the parts of a drive; those of another model under the same serial number stand beside them.
fn close(drives: &mut Vec<ScannedDrive>, serial: String, drive: SortedDrive) {
    let parts = drive.finish();
    match drives.last_mut() {
        Some(last) if last.serial == serial => last.parts.extend(parts),
        _ => drives.push(ScannedDrive { serial, parts }),
    }
}
