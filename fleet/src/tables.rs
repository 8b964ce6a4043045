//! The tables of a scan as Parquet: the same bytes for the same rows.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use datafusion::arrow::array::{
    Array as _, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, LargeBinaryArray, RecordBatch,
    StringArray, StringViewArray, UInt64Array,
};
use fleet_state::{DRIVE_COLUMNS, DriveFinding, DriveValues};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::cells::{CellRow, ThresholdRow};
use crate::scan::FleetStates;
use crate::source::RefusedFile;

/// Columns of a table, in their order.
type NamedColumns = Vec<(&'static str, ArrayRef)>;

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn maybe_texts<'a>(values: impl Iterator<Item = Option<&'a str>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

fn counts(values: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(values))
}

fn numbers(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

fn times(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<Int64Array>())
}

/// `drives.parquet`: a row a drive and place. Written in parts, so that a million drives need no second copy.
pub(crate) fn drives(folder: &Path, findings: &[DriveFinding], simulated: bool) -> Result<()> {
    write(&folder.join("drives.parquet"), simulated, findings.chunks(65_536).map(drive_columns), || {
        drive_columns(&[])
    })
}

fn drive_columns(rows: &[DriveFinding]) -> NamedColumns {
    let column = |values: &DriveValues| match *values {
        DriveValues::Text(pick) => maybe_texts(rows.iter().map(pick)),
        DriveValues::Count(pick) => counts(rows.iter().map(pick)),
        DriveValues::Number(pick) => numbers(rows.iter().map(pick)),
        DriveValues::Time(pick) => times(rows.iter().map(pick)),
    };
    DRIVE_COLUMNS.iter().map(|(name, values)| (*name, column(values))).collect()
}

/// States of a part of a fleet, for `fleet merge`: the columns of `heatsoak.fleet` in Python.
pub(crate) fn states(path: &Path, states: &FleetStates, cadence_ms: i64, simulated: bool) -> Result<()> {
    let columns = |(serials, states): &(StringViewArray, LargeBinaryArray)| -> NamedColumns {
        let cadences = Int64Array::from_value(cadence_ms, serials.len());
        vec![
            ("serial", texts(serials.iter().map(Option::unwrap_or_default))),
            ("cadence_ms", Arc::new(cadences)),
            ("simulated", Arc::new(BooleanArray::from(vec![simulated; serials.len()]))),
            ("state", Arc::new(BinaryArray::from_iter_values(states.iter().map(Option::unwrap_or_default)))),
        ]
    };
    write(path, simulated, states.batches.iter().map(columns), Vec::new)
}

/// `cells.parquet`.
pub(crate) fn cells(folder: &Path, rows: &[CellRow], simulated: bool) -> Result<()> {
    let low = |pair: Option<(f64, f64)>| pair.map(|(low, _)| low);
    let high = |pair: Option<(f64, f64)>| pair.map(|(_, high)| high);
    let number = |pick: &dyn Fn(&CellRow) -> Option<f64>| numbers(rows.iter().map(pick));
    let columns: NamedColumns = vec![
        ("model", texts(rows.iter().map(|row| row.model.as_str()))),
        ("firmware", texts(rows.iter().map(|row| row.firmware.as_str()))),
        ("slot", texts(rows.iter().map(|row| row.slot.as_str()))),
        ("verdict", texts(rows.iter().map(|row| row.verdict))),
        ("drives", counts(rows.iter().map(|row| row.drives))),
        ("hosts", counts(rows.iter().map(|row| row.hosts))),
        ("known_drives", counts(rows.iter().map(|row| row.known))),
        ("throttled_drives", counts(rows.iter().map(|row| row.throttled))),
        ("throttled_share_low90", number(&|row| low(row.share_90))),
        ("throttled_share_high90", number(&|row| high(row.share_90))),
        ("observed_h", number(&|row| Some(row.drive_h))),
        ("throttled_h", number(&|row| (row.known > 0).then_some(row.throttled_h))),
        ("throttled_h_per_1000h", number(&CellRow::per_1000h)),
        ("throttled_h_per_1000h_low90", number(&|row| low(row.per_1000h_90))),
        ("throttled_h_per_1000h_high90", number(&|row| high(row.per_1000h_90))),
        ("excess_throttled_h", number(&|row| row.excess_h)),
        ("temp_mean_c", number(&|row| row.temp_mean_c)),
        ("slot_effect_k", number(&|row| row.slot_effect_k)),
        ("slot_effect_k_low90", number(&|row| low(row.slot_effect_90))),
        ("slot_effect_k_high90", number(&|row| high(row.slot_effect_90))),
        ("slot_effect_q", number(&|row| row.slot_q)),
    ];
    write(&folder.join("cells.parquet"), simulated, std::iter::once(columns), Vec::new)
}

/// `thresholds.parquet`.
pub(crate) fn thresholds(folder: &Path, rows: &[ThresholdRow], simulated: bool) -> Result<()> {
    let degree = |pick: &dyn Fn(&ThresholdRow) -> Option<i64>| times(rows.iter().map(pick));
    let columns: NamedColumns = vec![
        ("model", texts(rows.iter().map(|row| row.model.as_str()))),
        ("firmware", texts(rows.iter().map(|row| row.firmware.as_str()))),
        ("verdict", texts(rows.iter().map(|row| row.verdict))),
        ("onsets", counts(rows.iter().map(|row| row.events))),
        ("drives", counts(rows.iter().map(|row| row.drives))),
        ("hosts", counts(rows.iter().map(|row| row.hosts))),
        ("onset_c_p05", degree(&|row| row.onset_c.map(|(low, ..)| low))),
        ("onset_c_p50", degree(&|row| row.onset_c.map(|(_, middle, _)| middle))),
        ("onset_c_p95", degree(&|row| row.onset_c.map(|(.., high)| high))),
        ("onset_c_p05_one_half", degree(&|row| row.halves_c.0)),
        ("onset_c_p05_other_half", degree(&|row| row.halves_c.1)),
        ("light_throttled_h", numbers(rows.iter().map(|row| Some(row.light_h)))),
        ("heavy_throttled_h", numbers(rows.iter().map(|row| Some(row.heavy_h)))),
    ];
    write(&folder.join("thresholds.parquet"), simulated, std::iter::once(columns), Vec::new)
}

/// `refused.parquet`.
pub(crate) fn refused(folder: &Path, rows: &[RefusedFile], simulated: bool) -> Result<()> {
    let columns: NamedColumns = vec![
        ("path", texts(rows.iter().map(|row| row.path.as_str()))),
        ("reason", texts(rows.iter().map(|row| row.reason.as_str()))),
    ];
    write(&folder.join("refused.parquet"), simulated, std::iter::once(columns), Vec::new)
}

/// Writes beside and renames: a table that is there is whole.
fn write(
    path: &Path,
    simulated: bool,
    parts: impl Iterator<Item = NamedColumns>,
    of_nothing: impl Fn() -> NamedColumns,
) -> Result<()> {
    let beside = path.with_extension("parquet.part");
    let attempt = || -> Result<()> {
        let mut parts = parts.peekable();
        let nothing = parts.peek().is_none().then(of_nothing);
        let mut writer: Option<ArrowWriter<File>> = None;
        for columns in nothing.into_iter().chain(parts) {
            let batch = RecordBatch::try_from_iter_with_nullable(
                columns.into_iter().map(|(name, column)| (name, column, true)),
            )?;
            let writer = match &mut writer {
                Some(writer) => writer,
                None => {
                    let fact = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
                    let properties = WriterProperties::builder()
                        .set_compression(Compression::SNAPPY)
                        .set_key_value_metadata(Some(vec![
                            fact(
                                "heatsoak.table",
                                format!("fleet_{}", path.file_stem().unwrap_or_default().to_string_lossy()),
                            ),
                            fact("heatsoak.simulated", simulated.to_string()),
                        ]))
                        .build();
                    writer.insert(ArrowWriter::try_new(
                        File::create(&beside)?,
                        batch.schema(),
                        Some(properties),
                    )?)
                }
            };
            writer.write(&batch)?;
        }
        if let Some(writer) = writer {
            writer.close()?;
        }
        Ok(fs::rename(&beside, path)?)
    };
    attempt().with_context(|| format!("cannot write {}", path.display()))
}
