//! Reads a run folder: closed (Parquet), under way or cut short (Arrow streams).

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::manifest::{Manifest, Origin};
use super::rows::{IoRow, OpRow, SmartRow, TelemetryRow};
use super::table::TableRow;
use super::{RecordError, SCHEMA};

/// A run as it was recorded, on the drive's own clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What was run on what.
    pub manifest: Manifest,
    /// Intervals of load, in order of time.
    pub io: Vec<IoRow>,
    /// Readings, in order of time within a source.
    pub telemetry: Vec<TelemetryRow>,
    /// Raw log pages, in order of time.
    pub smart: Vec<SmartRow>,
    /// Whether the run is under way or was cut short: the end is missing.
    pub unfinished: bool,
    /// Names of the files that a finished run has and this one has not: what they held is not known, which is not the
    /// same as nothing.
    pub lost: Vec<String>,
}

/// Whether `dir` looks like a run folder.
pub fn is_run_folder(dir: &Path) -> bool {
    dir.join("manifest.json").is_file()
}

/// Reads a run folder, finished or not, in the drive's time. Single I/Os stay on disk; see [`read_ops`].
pub fn read(dir: &Path) -> Result<Record, RecordError> {
    let manifest = read_manifest(dir)?;
    let unfinished = manifest.end.is_none();
    let record = Record {
        lost: if unfinished { Vec::new() } else { lost(dir) },
        io: rows::<IoRow>(dir)?.unwrap_or_default(),
        telemetry: rows::<TelemetryRow>(dir)?.unwrap_or_default(),
        smart: rows::<SmartRow>(dir)?.unwrap_or_default(),
        manifest,
        unfinished,
    };
    Ok(record.in_drive_time())
}

/// Reads the manifest alone, as it was written: in the host's time.
pub fn read_manifest(dir: &Path) -> Result<Manifest, RecordError> {
    let path = dir.join("manifest.json");
    let text = match crate::patient::read_to_string(&path) {
        Ok(text) => text,
        Err(error)
            if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) =>
        {
            return Err(RecordError::NotARun { path: dir.to_owned() });
        }
        Err(source) => return Err(RecordError::Io { what: "read", path, source }),
    };
    let damaged =
        |error: serde_json::Error| RecordError::Damaged { path: path.clone(), why: error.to_string() };
    // The schema first: a newer manifest may have a shape that this code cannot know.
    let value: serde_json::Value = serde_json::from_str(&text).map_err(damaged)?;
    match value.get("schema").and_then(serde_json::Value::as_u64) {
        Some(found) if found > u64::from(SCHEMA) => Err(RecordError::NewerSchema { path, found }),
        Some(_) => {
            let manifest: Manifest = serde_json::from_value(value).map_err(damaged)?;
            match manifest.origin {
                Origin::VirtualSsd { time_scale: 0, .. } | Origin::VirtualSsd { bandwidth_scale: 0, .. } => {
                    Err(RecordError::Damaged { path, why: "a scale of the virtual SSD is 0".to_owned() })
                }
                _ => Ok(manifest),
            }
        }
        None => Err(RecordError::Damaged { path, why: "it names no schema".to_owned() }),
    }
}

/// Reads the single I/Os of a run as they were written, in the host's time; `None` where the plan did not ask for them.
pub fn read_ops(dir: &Path) -> Result<Option<Vec<OpRow>>, RecordError> {
    rows::<OpRow>(dir)
}

/// The tables that a finished run has lost. One that was killed at its very start may never have had them.
fn lost(dir: &Path) -> Vec<String> {
    let is_there = |name: &str| {
        ["parquet", "arrow"].into_iter().any(|ending| dir.join(format!("{name}.{ending}")).is_file())
    };
    let tables = [IoRow::NAME, TelemetryRow::NAME, SmartRow::NAME].into_iter();
    tables.filter(|name| !is_there(name)).map(|name| format!("{name}.parquet")).collect()
}

/// All rows of one table: from Parquet where the run was closed, else from the stream.
fn rows<R: TableRow>(dir: &Path) -> Result<Option<Vec<R>>, RecordError> {
    let (parquet, stream) =
        (dir.join(format!("{}.parquet", R::NAME)), dir.join(format!("{}.arrow", R::NAME)));
    let (path, batches) = if parquet.is_file() {
        (parquet.clone(), parquet_batches(&parquet)?)
    } else if stream.is_file() {
        // A batch that does not decode is where the process died: the record ends before it.
        let whole = stream_batches(&stream)?.map_while(Result::ok).collect();
        (stream, whole)
    } else {
        return Ok(None);
    };
    let mut rows = Vec::new();
    for batch in batches {
        rows.extend(R::rows(&batch).map_err(|why| RecordError::Damaged { path: path.clone(), why })?);
    }
    Ok(Some(rows))
}

fn parquet_batches(path: &Path) -> Result<Vec<RecordBatch>, RecordError> {
    let damaged = |why: String| RecordError::Damaged { path: path.to_owned(), why };
    let reader = ParquetRecordBatchReaderBuilder::try_new(open(path)?)
        .and_then(ParquetRecordBatchReaderBuilder::build)
        .map_err(|error| damaged(error.to_string()))?;
    reader.collect::<Result<_, _>>().map_err(|error| damaged(error.to_string()))
}

/// The batches of a stream, up to where it ends or breaks off. A stream without even a header has none.
pub(super) fn stream_batches(path: &Path) -> Result<StreamBatches, RecordError> {
    let file = BufReader::new(open(path)?);
    Ok(StreamBatches { reader: StreamReader::try_new(file, None).ok() })
}

/// See [`stream_batches`].
pub(super) struct StreamBatches {
    reader: Option<StreamReader<BufReader<File>>>,
}

impl Iterator for StreamBatches {
    type Item = Result<RecordBatch, arrow_schema::ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.reader.as_mut()?.next()
    }
}

fn open(path: &Path) -> Result<File, RecordError> {
    crate::patient::open(path).map_err(|source| RecordError::Io {
        what: "open",
        path: PathBuf::from(path),
        source,
    })
}
