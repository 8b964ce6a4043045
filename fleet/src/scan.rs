//! All rows to one result a drive: states first, and the drives whose rows came mixed up a second time, sorted.
//!
//! The result depends on the rows alone: not on the order of files, on how they are cut, or on threads.

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::array::{
    Array as _, ArrayRef, AsArray as _, LargeBinaryArray, RecordBatch, StringViewArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Int64Type, Schema};
use datafusion::error::DataFusionError;
use datafusion::prelude::SessionContext;
use fleet_state::row::ABSENT;
use fleet_state::{
    COUNTERS, DriveFinding, Finish, HealthRow, IntervalRules, ScannedDrive, SortedDrive, ThermalState,
};
use futures::StreamExt as _;
use std::sync::Arc;

use crate::engine::{self, FleetRows};
use crate::mapping::FleetMap;
use crate::projection::{ROW_COLUMNS, text_literal};
use crate::source::{Found, RefusedFile};
use crate::udaf::THERMAL_STATE;

/// What a scan found.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    /// By serial number.
    pub(crate) drives: Vec<ScannedDrive>,
    /// Drives whose rows had to be sorted.
    pub(crate) sorted: usize,
    /// Drives whose rows had to be sorted, and are not there.
    pub(crate) unsorted: Vec<DriveFinding>,
    /// Rows without a serial number.
    pub(crate) nameless_rows: u64,
    /// Rows without a time.
    pub(crate) untimed_rows: u64,
}

/// Registers the files and reads all rows into states, on the cluster where there is one. A file that turns out
/// unreadable is refused by name and the others read anew, without it.
pub(crate) async fn states(
    context: &SessionContext,
    cluster: Option<&SessionContext>,
    mut found: Found,
    map: Option<&FleetMap>,
    rules: impl AsyncFn(&FleetRows) -> Result<IntervalRules>,
) -> Result<(FleetRows, IntervalRules, FleetStates)> {
    loop {
        let rows = engine::register(context, &found, map)?;
        if rows.groups.is_empty() {
            return Ok((rows, IntervalRules { cadence_ms: 1 }, FleetStates::default()));
        }
        if let Some(cluster) = cluster {
            engine::register(cluster, &found, map)?;
        }
        let attempt = async {
            let rules = rules(&rows).await?;
            let columns = ROW_COLUMNS.strip_prefix("serial, ").unwrap_or(ROW_COLUMNS);
            let sql = format!(
                "SELECT serial, {THERMAL_STATE}({}, {columns}) AS state FROM ({}) GROUP BY serial",
                rules.cadence_ms, rows.select
            );
            anyhow::Ok((rules, states_of(cluster.unwrap_or(context), &sql).await?))
        };
        let error = match attempt.await {
            Ok((rules, states)) => return Ok((rows, rules, states)),
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

/// Ends all states; drives whose rows came mixed up are read again, sorted.
pub(crate) async fn finish(
    context: &SessionContext,
    rows: &FleetRows,
    rules: IntervalRules,
    states: FleetStates,
) -> Result<Scanned> {
    let (mut scanned, mixed) = states.finish(&rules)?;
    if !mixed.is_empty() {
        scanned.sorted = mixed.len();
        scanned.drives.extend(sorted_drives(context, rows, rules, &mixed).await?);
        scanned.drives.sort_by(|one, other| one.serial.cmp(&other.serial));
    }
    Ok(scanned)
}

/// A drive whose rows came mixed up.
struct MixedDrive {
    serial: String,
    /// How many there were.
    rows: u64,
    /// Its serial number as the rows have it, blanks and all.
    spellings: Vec<String>,
}

/// States as the engine gave them, in its own batches: a million drives need no second copy.
#[derive(Debug, Default)]
pub(crate) struct FleetStates {
    pub(crate) batches: Vec<(StringViewArray, LargeBinaryArray)>,
}

/// The states of a query that gives serial numbers and states.
pub(crate) async fn states_of(context: &SessionContext, sql: &str) -> Result<FleetStates> {
    let mut stream = context.sql(sql).await?.execute_stream().await?;
    let mut states = FleetStates::default();
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let serials = batch.column(0).as_string_view_opt().context("serial numbers are texts")?;
        let bytes = batch.column(1).as_binary_opt::<i64>().context("states are bytes")?;
        states.batches.push((serials.clone(), bytes.clone()));
    }
    Ok(states)
}

impl FleetStates {
    /// The serial number without blanks around it, and the state, at a row of a batch.
    fn at(&self, at: (usize, usize)) -> (&str, &[u8]) {
        (self.spelling(at).trim_matches(' '), self.batches[at.0].1.value(at.1))
    }

    /// The serial number as the rows have it.
    fn spelling(&self, (batch, row): (usize, usize)) -> &str {
        let (serials, _) = &self.batches[batch];
        if serials.is_null(row) { "" } else { serials.value(row) }
    }

    /// How many there are: drives, if each has one.
    pub(crate) fn len(&self) -> usize {
        self.batches.iter().map(|(serials, _)| serials.len()).sum()
    }

    /// Ends each drive's state, in the order of serial numbers. Those padded with blanks in some exports, which the
    /// engine has told apart, come together.
    fn finish(self, rules: &IntervalRules) -> Result<(Scanned, Vec<MixedDrive>)> {
        let (mut scanned, mut mixed) = (Scanned::default(), Vec::new());
        let rows_of = |(batch, (_, states)): (usize, &(_, LargeBinaryArray))| {
            (0..states.len()).map(move |row| (batch, row))
        };
        let mut order: Vec<(usize, usize)> = self.batches.iter().enumerate().flat_map(rows_of).collect();
        order.sort_unstable_by(|one, other| self.at(*one).cmp(&self.at(*other)));
        for same in order.chunk_by(|one, other| self.at(*one).0 == self.at(*other).0) {
            let serial = self.at(same[0]).0;
            let mut state = ThermalState::default();
            for at in same {
                state.merge(ThermalState::decode(self.at(*at).1)?);
            }
            scanned.untimed_rows += state.untimed();
            if serial.is_empty() {
                scanned.nameless_rows += state.rows();
                continue;
            }
            let rows = state.rows();
            match state.finish(rules) {
                Finish::Parts(parts) if parts.is_empty() => {}
                Finish::Parts(parts) => scanned.drives.push(ScannedDrive { serial: serial.into(), parts }),
                Finish::NeedsSort => {
                    let spellings = same.iter().map(|at| self.spelling(*at).to_owned()).collect();
                    mixed.push(MixedDrive { serial: serial.into(), rows, spellings });
                }
            }
        }
        Ok((scanned, mixed))
    }

    /// The same where rows are not at hand: nothing is known of drives whose rows came mixed up.
    pub(crate) fn finish_without_rows(self, rules: &IntervalRules) -> Result<Scanned> {
        let (mut scanned, mixed) = self.finish(rules)?;
        scanned.unsorted =
            mixed.into_iter().map(|drive| DriveFinding::of_mixed_rows(drive.serial, drive.rows)).collect();
        Ok(scanned)
    }
}

/// Serial numbers that stand in the query itself, so that files are asked for nothing but their rows.
const LISTED_SERIALS: usize = 1000;

/// The query of the second pass. Which rows are wanted is said of the column as it lies in the files: then other columns
/// are read where they are wanted, and not at all where a file's statistics say so.
fn sorted_rows(rows: &FleetRows, mixed: &[MixedDrive]) -> String {
    let spellings: Vec<&String> = mixed.iter().flat_map(|drive| &drive.spellings).collect();
    let wanted = if spellings.len() > LISTED_SERIALS {
        "SELECT serial FROM fleet_mixed".to_owned()
    } else {
        spellings.into_iter().map(|serial| text_literal(serial)).collect::<Vec<_>>().join(", ")
    };
    let counters = ROW_COLUMNS.split("temp_mc, ").nth(1).unwrap_or_default();
    let nulls_first: Vec<String> =
        counters.split(", ").map(|name| format!("{} NULLS FIRST", name.trim())).collect();
    format!(
        "SELECT * FROM (SELECT trim(serial) AS serial, {}, time_ms, temp_mc, {counters} FROM ({}) \
         WHERE serial IN ({wanted}) AND time_ms IS NOT NULL) \
         ORDER BY serial, model, time_ms, firmware, host, slot, temp_mc NULLS FIRST, {}",
        ["model", "firmware", "host", "slot"]
            .map(|name| format!("coalesce(trim({name}), '') AS {name}"))
            .join(", "),
        rows.select,
        nulls_first.join(", "),
    )
}

/// The second pass: all rows of some drives, sorted by the engine within its memory limit.
async fn sorted_drives(
    context: &SessionContext,
    rows: &FleetRows,
    rules: IntervalRules,
    mixed: &[MixedDrive],
) -> Result<Vec<ScannedDrive>> {
    let schema = Arc::new(Schema::new(vec![Field::new("serial", DataType::Utf8View, false)]));
    let spellings = mixed.iter().flat_map(|drive| &drive.spellings);
    let serials: ArrayRef = Arc::new(StringViewArray::from_iter_values(spellings));
    context.deregister_table("fleet_mixed")?;
    context.register_batch("fleet_mixed", RecordBatch::try_new(schema, vec![serials])?)?;
    let sql = sorted_rows(rows, mixed);
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
    for MixedDrive { serial, rows, .. } in mixed {
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
        let health = HealthRow::new(value(0))
            .with_temp_mc(value(1))
            .with_counters(std::array::from_fn(|at| value(2 + at)));
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

#[cfg(test)]
mod test {
    use clap::Parser as _;
    use datafusion::execution::SessionStateBuilder;
    use fleet_state::IntervalRules;

    use super::*;
    use crate::args::{FleetArgs, FleetCommand};
    use crate::engine::EngineLimits;
    use crate::{generate, source};

    /// The drives in a folder, read in batches of so many rows.
    async fn scanned(folder: &str, batch_size: usize) -> Result<Scanned> {
        let state = engine::state(EngineLimits { memory: 256 << 20, partitions: 3 })?;
        let config = state.config().clone().with_batch_size(batch_size);
        let state = SessionStateBuilder::new_from_existing(state).with_config(config).build();
        let context = SessionContext::new_with_state(state);
        let found = source::find(&[folder.to_owned()]).await?;
        let rules = async |_: &FleetRows| Ok(IntervalRules { cadence_ms: 60_000 });
        let (rows, rules, states) = states(&context, None, found, None, rules).await?;
        finish(&context, &rows, rules, states).await
    }

    #[test]
    fn batches_of_any_size_give_the_same_drives() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let out = folder.path().display().to_string();
        let line = "fleet gen --drives 1200 --every 60s --span 2h --hot 0.1 --seed 41 --out";
        let FleetCommand::Gen(arguments) =
            FleetArgs::try_parse_from(line.split(' ').chain([out.as_str()]))?.command
        else {
            bail!("another command")
        };
        generate::run(&arguments)?;
        let rows = format!("{out}/rows");
        let runtime = tokio::runtime::Runtime::new()?;
        let expected = runtime.block_on(scanned(&rows, 8192))?;
        assert!(expected.sorted > 0 && expected.drives.len() >= 1200, "{} sorted", expected.sorted);
        for batch_size in [7, 127, 1024, 65_536] {
            let other = runtime.block_on(scanned(&rows, batch_size))?;
            assert!(other.drives == expected.drives, "batches of {batch_size}");
        }
        Ok(())
    }
}
