//! States to the table of drives.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use fleet_state::{
    DRIVE_COLUMNS, DriveFinding, DriveValues, Finish, IntervalRules, RowCadence, ScannedDrive, ThermalState,
    verdict,
};

use crate::FleetStreamError;
use crate::columns::{bytes, flags, must_be, numbers, state_schema, texts};

/// Rows of a batch of the table.
const BATCH_ROWS: usize = 65_536;

/// Reads a stream of states, several a drive or one, and writes the table of drives: the columns of `drives.parquet`.
/// Returns how many rows had no serial number: they are in no drive.
///
/// # Errors
/// If the stream is no Arrow, has other columns or states of another version or cadence, or nobody takes the table.
pub fn finish(states: impl Read, drives: impl Write) -> Result<u64, FleetStreamError> {
    let read = |source| FleetStreamError::Read { what: "states", source };
    let reader = StreamReader::try_new(states, None).map_err(read)?;
    must_be("states", &state_schema(), &reader.schema())?;
    let mut gathered = Gathered::default();
    for batch in reader {
        gathered.take(&batch.map_err(read)?)?;
    }
    let simulated = gathered.simulated;
    let (findings, nameless) = gathered.judged()?;
    write(&findings, simulated, drives).map_err(FleetStreamError::Write)?;
    Ok(nameless)
}

/// States by drive: their bytes one after the other are the merged state.
#[derive(Default)]
struct Gathered {
    drives: BTreeMap<Box<str>, Vec<u8>>,
    cadence_ms: Option<i64>,
    simulated: bool,
}

impl Gathered {
    fn take(&mut self, batch: &RecordBatch) -> Result<(), FleetStreamError> {
        let (serials, cadences) = (texts(batch, 0), numbers(batch, 1));
        let (simulated, states) = (flags(batch, 2), bytes(batch, 3));
        for row in 0..batch.num_rows() {
            if states.is_null(row) {
                continue;
            }
            let other = cadences.value(row);
            let one = *self.cadence_ms.get_or_insert(other);
            if one != other {
                return Err(FleetStreamError::Cadences { one, other });
            }
            self.simulated |= simulated.is_valid(row) && simulated.value(row);
            let serial = if serials.is_null(row) { "" } else { serials.value(row) };
            match self.drives.get_mut(serial) {
                Some(gathered) => gathered.extend_from_slice(states.value(row)),
                None => {
                    self.drives.insert(serial.into(), states.value(row).to_vec());
                }
            }
        }
        Ok(())
    }

    /// Verdicts by serial number, and how many rows had none.
    fn judged(self) -> Result<(Vec<DriveFinding>, u64), FleetStreamError> {
        let rules = IntervalRules { cadence_ms: self.cadence_ms.unwrap_or(1).max(1) };
        let (mut drives, mut mixed, mut nameless) = (Vec::new(), Vec::new(), 0);
        for (serial, bytes) in self.drives {
            let state = ThermalState::decode(&bytes)
                .map_err(|source| FleetStreamError::State { serial: serial.to_string(), source })?;
            if serial.is_empty() {
                nameless = state.rows();
                continue;
            }
            let rows = state.rows();
            match state.finish(&rules) {
                Finish::Parts(parts) => drives.push(ScannedDrive { serial: serial.into(), parts }),
                Finish::NeedsSort => mixed.push(DriveFinding::of_mixed_rows(serial.into(), rows)),
            }
        }
        let mut findings = verdict::judge(drives, RowCadence::of(rules.cadence_ms));
        findings.extend(mixed);
        findings.sort_by(|one, other| one.serial.cmp(&other.serial));
        Ok((findings, nameless))
    }
}

fn write(findings: &[DriveFinding], simulated: bool, drives: impl Write) -> Result<(), ArrowError> {
    let fields: Vec<Field> = DRIVE_COLUMNS
        .iter()
        .map(|(name, values)| {
            let kind = match values {
                DriveValues::Text(_) => DataType::Utf8,
                DriveValues::Count(_) => DataType::UInt64,
                DriveValues::Number(_) => DataType::Float64,
                DriveValues::Time(_) => DataType::Int64,
            };
            Field::new(*name, kind, true)
        })
        .collect();
    let facts =
        [("heatsoak.table", "fleet_drives".to_owned()), ("heatsoak.simulated", simulated.to_string())];
    let facts: HashMap<String, String> =
        facts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let schema = Arc::new(Schema::new(fields).with_metadata(facts));
    let mut writer = StreamWriter::try_new(drives, &schema)?;
    for rows in findings.chunks(BATCH_ROWS) {
        let columns = DRIVE_COLUMNS.iter().map(|(_, values)| column(values, rows)).collect();
        writer.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
    }
    writer.finish()
}

fn column(values: &DriveValues, rows: &[DriveFinding]) -> ArrayRef {
    let rows = rows.iter();
    match *values {
        DriveValues::Text(pick) => Arc::new(rows.map(pick).collect::<StringArray>()),
        DriveValues::Count(pick) => Arc::new(UInt64Array::from_iter_values(rows.map(pick))),
        DriveValues::Number(pick) => Arc::new(rows.map(pick).collect::<Float64Array>()),
        DriveValues::Time(pick) => Arc::new(rows.map(pick).collect::<Int64Array>()),
    }
}
