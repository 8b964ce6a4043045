//! Rows to one state a drive.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use fleet_state::row::ABSENT;
use fleet_state::{COUNTERS, HealthRow, IntervalRules, ThermalState};

use crate::FleetStreamError;
use crate::columns::{LABELS, must_be, numbers, row_schema, state_schema, texts};

/// Drives in a batch of states: some hundred bytes each.
const BATCH_DRIVES: usize = 8192;

/// What rows do not say themselves.
#[derive(Clone, Copy, Debug)]
pub struct PartialOptions {
    /// How often rows of one drive come.
    pub rules: IntervalRules,
    /// The rows are simulated: what is made of them says so.
    pub simulated: bool,
}

/// Reads a stream of rows and writes one of states, by serial number. Rows without one come together under none.
///
/// # Errors
/// If the stream is no Arrow, has other columns, or nobody takes the states.
pub fn partial(
    rows: impl Read,
    states: impl Write,
    options: &PartialOptions,
) -> Result<(), FleetStreamError> {
    let read = |source| FleetStreamError::Read { what: "rows", source };
    let reader = StreamReader::try_new(rows, None).map_err(read)?;
    must_be("rows", &row_schema(), &reader.schema())?;
    let mut drives: BTreeMap<Box<str>, ThermalState> = BTreeMap::new();
    for batch in reader {
        give(&batch.map_err(read)?, &mut drives, &options.rules);
    }
    write(&drives, states, options).map_err(FleetStreamError::Write)
}

fn give(batch: &RecordBatch, drives: &mut BTreeMap<Box<str>, ThermalState>, rules: &IntervalRules) {
    let labels: [&StringArray; LABELS.len()] = std::array::from_fn(|at| texts(batch, at));
    let columns: [&Int64Array; 2 + COUNTERS] = std::array::from_fn(|at| numbers(batch, LABELS.len() + at));
    let label = |at: usize, row: usize| if labels[at].is_null(row) { "" } else { labels[at].value(row) };
    let number =
        |at: usize, row: usize| if columns[at].is_null(row) { ABSENT } else { columns[at].value(row) };
    let mut row = 0;
    while row < batch.num_rows() {
        // Rows of one drive mostly stand together: it is looked for once.
        let serial = label(0, row);
        if !drives.contains_key(serial.trim_matches(' ')) {
            drives.insert(serial.trim_matches(' ').into(), ThermalState::default());
        }
        let Some(state) = drives.get_mut(serial.trim_matches(' ')) else { return };
        while row < batch.num_rows() && label(0, row) == serial {
            let time_ms = number(0, row);
            if time_ms == ABSENT {
                state.push_untimed();
            } else {
                let health = HealthRow::new(time_ms)
                    .with_temp_mc(number(1, row))
                    .with_counters(std::array::from_fn(|at| number(2 + at, row)));
                state.push([label(1, row), label(2, row), label(3, row), label(4, row)], &health, rules);
            }
            row += 1;
        }
    }
}

fn write(
    drives: &BTreeMap<Box<str>, ThermalState>,
    states: impl Write,
    options: &PartialOptions,
) -> Result<(), ArrowError> {
    let schema = state_schema();
    let mut writer = StreamWriter::try_new(states, &schema)?;
    let drives: Vec<(&Box<str>, &ThermalState)> = drives.iter().collect();
    for some in drives.chunks(BATCH_DRIVES) {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from_iter_values(some.iter().map(|(serial, _)| serial))),
            Arc::new(Int64Array::from_value(options.rules.cadence_ms, some.len())),
            Arc::new(BooleanArray::from(vec![options.simulated; some.len()])),
            Arc::new(BinaryArray::from_iter_values(some.iter().map(|(_, state)| state.encode()))),
        ];
        writer.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
    }
    writer.finish()
}
