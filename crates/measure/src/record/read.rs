//! Reads a run folder: closed (Parquet), under way or cut short (Arrow streams).
//!
//! Nothing is decoded before its checksum has held: of each frame of a stream, of a closed table as a whole. A stream is
//! read up to where it breaks off; a closed table that is another than was written is refused. Records of schema 1 have
//! no checksums: there the decoders see what the disk gives, and their panics become errors.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::contained::contained;
use super::frame::{Break, FrameSeal, WholeFrames};
use super::manifest::{Manifest, Origin};
use super::reduced::{ReducedIntervals, ReducedReadings};
use super::rows::{IoRow, OpRow, SmartRow, TelemetryRow};
use super::seal::{Seal, SealedTable, checksum_holds};
use super::table::TableRow;
use super::{RecordError, SCHEMA};
use crate::time::Instant;

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
    /// What was written and is not there: what it held is not known, which is not the same as nothing.
    pub lost: Vec<LostPart>,
}

/// A part of a record that is not there, or not as it was written.
#[derive(Clone, Debug, PartialEq)]
pub enum LostPart {
    /// The file of a table that a finished run has.
    Table {
        /// Its name.
        file: String,
    },
    /// A stream from where it is no longer what was written.
    Rest {
        /// Its name.
        file: String,
        /// Bytes that were left out.
        bytes: u64,
        /// When its last good row was, if there is one.
        after: Option<Instant>,
        /// What stands there.
        why: String,
    },
    /// The manifest was changed after it was written.
    Manifest,
}

/// Whether `dir` looks like a run folder.
pub fn is_run_folder(dir: &Path) -> bool {
    dir.join("manifest.json").is_file()
}

/// Reads a run folder, finished or not, in the drive's time. Single I/Os stay on disk; see [`read_ops`].
pub fn read(dir: &Path) -> Result<Record, RecordError> {
    let (mut io, mut telemetry, mut smart) = (Vec::new(), Vec::new(), Vec::new());
    let folder = RunFolder::open(dir)?;
    let mut lost = folder.lost_tables();
    lost.extend(folder.each_row::<IoRow>(|row| io.push(row))?);
    lost.extend(folder.each_row::<TelemetryRow>(|row| telemetry.push(row))?);
    lost.extend(folder.each_row::<SmartRow>(|row| smart.push(row))?);
    let unfinished = folder.manifest.end.is_none();
    Ok(Record { manifest: folder.manifest, io, telemetry, smart, unfinished, lost }.in_drive_time())
}

/// Reads a run folder as an analysis and a report need it, in bounded memory whatever the run's length: at most
/// 524,288 intervals and as many readings, of longer runs the intervals longer and the readings fewer, which a note
/// says. Of raw log pages the first and the last are kept: what the run changed in them. Up to that it is what [`read`] gives without them.
pub fn read_reduced(dir: &Path) -> Result<Record, RecordError> {
    let folder = RunFolder::open(dir)?;
    let (mut io, mut telemetry) = (ReducedIntervals::new(), ReducedReadings::new());
    let mut lost = folder.lost_tables();
    lost.extend(folder.each_row::<IoRow>(|row| io.push(row))?);
    lost.extend(folder.each_row::<TelemetryRow>(|row| telemetry.push(row))?);
    folder.check_table::<SmartRow>()?;
    let smart = first_and_last(&folder)?;
    let ((io, width), (telemetry, stride)) = (io.finish(), telemetry.finish());
    let mut manifest = folder.manifest;
    manifest.notes.extend(width.map(|width| {
        format!(
            "the run has too many intervals to be looked at one by one: they were put together to {} s",
            width.as_secs_f64()
        )
    }));
    manifest
        .notes
        .extend(stride.map(|stride| format!("the run has too many readings: one of {stride} was looked at")));
    let unfinished = manifest.end.is_none();
    Ok(Record { manifest, io, telemetry, smart, unfinished, lost }.in_drive_time())
}

/// The first and the last log page.
fn first_and_last(folder: &RunFolder) -> Result<Vec<SmartRow>, RecordError> {
    let mut ends: Vec<SmartRow> = Vec::new();
    // What is lost of them is told where all pages are read; no verdict goes by them.
    let _lost = folder.each_row::<SmartRow>(|row| {
        ends.truncate(1);
        ends.push(row);
    })?;
    Ok(ends)
}

/// Reads the manifest alone, as it was written: in the host's time.
pub fn read_manifest(dir: &Path) -> Result<Manifest, RecordError> {
    RunFolder::open(dir).map(|folder| folder.manifest)
}

/// The same with what is missing from the folder at a glance: an edited manifest and absent tables. No table is opened, so
/// one that is there and damaged is not found.
pub fn read_manifest_and_lost(dir: &Path) -> Result<(Manifest, Vec<LostPart>), RecordError> {
    let folder = RunFolder::open(dir)?;
    let lost = folder.lost_tables();
    Ok((folder.manifest, lost))
}

/// Reads the single I/Os of a run as they were written, in the host's time; `None` where the plan did not ask for them.
pub fn read_ops(dir: &Path) -> Result<Option<Vec<OpRow>>, RecordError> {
    let folder = RunFolder::open(dir)?;
    let mut rows = Vec::new();
    folder.each_row::<OpRow>(|row| rows.push(row))?;
    Ok(folder.has::<OpRow>().then_some(rows))
}

/// A run folder that is being read.
struct RunFolder {
    dir: PathBuf,
    manifest: Manifest,
    /// `None` in records of schema 1.
    seal: Option<Seal>,
    manifest_holds: bool,
}

impl RunFolder {
    fn open(dir: &Path) -> Result<Self, RecordError> {
        let path = dir.join("manifest.json");
        // A FIFO would be waited for.
        if std::fs::metadata(&path).is_ok_and(|about| !about.is_file()) {
            return Err(RecordError::Damaged { path, why: "it is no file".to_owned() });
        }
        let text = match crate::patient::read_to_string(&path) {
            Ok(text) => text,
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                return Err(RecordError::NotARun { path: dir.to_owned() });
            }
            // Zeros are text, other noise is none: damage all the same.
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                return Err(RecordError::Damaged { path, why: error.to_string() });
            }
            Err(source) => return Err(RecordError::Io { what: "read", path, source }),
        };
        let damaged =
            |error: serde_json::Error| RecordError::Damaged { path: path.clone(), why: error.to_string() };
        // The schema first: a newer manifest may have a shape that this code cannot know.
        let mut value: serde_json::Value = serde_json::from_str(&text).map_err(damaged)?;
        let schema = match value.get("schema").and_then(serde_json::Value::as_u64) {
            Some(found) if found > u64::from(SCHEMA) => return Err(RecordError::NewerSchema { path, found }),
            Some(found) => found,
            None => return Err(RecordError::Damaged { path, why: "it names no schema".to_owned() }),
        };
        let seal = value.get_mut("seal").map(serde_json::Value::take).filter(|_| schema > 1);
        let seal = seal.map(serde_json::from_value::<Seal>).transpose().map_err(damaged)?;
        if schema > 1 && seal.is_none() {
            return Err(RecordError::Damaged { path, why: "it has no checksums of the tables".to_owned() });
        }
        let manifest: Manifest = serde_json::from_value(value).map_err(damaged)?;
        if let Origin::VirtualSsd { time_scale: 0, .. } | Origin::VirtualSsd { bandwidth_scale: 0, .. } =
            manifest.origin
        {
            let why = "a scale of the virtual SSD is 0".to_owned();
            return Err(RecordError::Damaged { path, why });
        }
        let manifest_holds = schema == 1 || checksum_holds(&text);
        Ok(Self { dir: dir.to_owned(), manifest, seal, manifest_holds })
    }

    fn has<R: TableRow>(&self) -> bool {
        self.table::<R>().is_file() || self.stream::<R>().is_file()
    }

    fn table<R: TableRow>(&self) -> PathBuf {
        self.dir.join(format!("{}.parquet", R::NAME))
    }

    fn stream<R: TableRow>(&self) -> PathBuf {
        self.dir.join(format!("{}.arrow", R::NAME))
    }

    /// The tables that a finished run has lost. One that was killed at its very start may never have had them, and single
    /// I/Os are there only where the manifest has a checksum of them.
    fn lost_tables(&self) -> Vec<LostPart> {
        let ops = format!("{}.parquet", OpRow::NAME);
        let had_ops = self.seal.as_ref().is_some_and(|seal| seal.table(&ops).is_some());
        let there = [
            (IoRow::NAME, self.has::<IoRow>()),
            (TelemetryRow::NAME, self.has::<TelemetryRow>()),
            (SmartRow::NAME, self.has::<SmartRow>()),
            (OpRow::NAME, self.has::<OpRow>() || !had_ops),
        ];
        let missing = there.into_iter().filter(|(_, there)| !there && self.manifest.end.is_some());
        let tables = missing.map(|(name, _)| LostPart::Table { file: format!("{name}.parquet") });
        (!self.manifest_holds).then_some(LostPart::Manifest).into_iter().chain(tables).collect()
    }

    /// Refuses a closed table that is not the one that was written.
    fn check_table<R: TableRow>(&self) -> Result<(), RecordError> {
        let path = self.table::<R>();
        let sealed = self.seal.as_ref().and_then(|seal| seal.table(&format!("{}.parquet", R::NAME)));
        match sealed.filter(|_| path.is_file()) {
            Some(sealed) => sealed.check(&path, &mut open(&path)?),
            None => Ok(()),
        }
    }

    /// Hands on the rows of one table, from Parquet where the run was closed, else from the stream; says what of a stream
    /// is missing.
    fn each_row<R: TableRow>(&self, mut take: impl FnMut(R)) -> Result<Option<LostPart>, RecordError> {
        let (table, stream) = (self.table::<R>(), self.stream::<R>());
        let sealed = self.seal.as_ref().and_then(|seal| seal.table(&format!("{}.parquet", R::NAME)));
        // A table of which the manifest does not know was being made when the process died; the stream is whole.
        let use_table = table.is_file() && (sealed.is_some() || !stream.is_file());
        let path = if use_table { &table } else { &stream };
        if !path.is_file() {
            return Ok(None);
        }
        let damaged = |why: String| RecordError::Damaged { path: path.clone(), why };
        let mut hand_on = |batch: &RecordBatch| -> Result<Option<Instant>, RecordError> {
            let rows = R::rows(batch).map_err(damaged)?;
            let last = rows.last().map(R::at);
            rows.into_iter().for_each(&mut take);
            Ok(last)
        };
        if use_table {
            each_batch_of_table(path, sealed, |batch| hand_on(batch).map(|_| ()))?;
            return Ok(None);
        }
        let seal = self.seal.as_ref().map(|seal| FrameSeal::new(seal.record_id, R::NAME));
        let mut batches = stream_batches(path, seal)?;
        let mut after = None;
        for batch in &mut batches {
            match batch {
                Ok(batch) => after = hand_on(&batch)?.or(after),
                // Without checksums what does not decode is where the process died.
                Err(_) if seal.is_none() => break,
                Err(why) => return Err(damaged(why)),
            }
        }
        Ok(batches.broken().map(|broken| LostPart::Rest {
            file: format!("{}.arrow", R::NAME),
            bytes: batches.bytes.saturating_sub(broken.at),
            after,
            why: broken.why.clone(),
        }))
    }
}

/// Hands on the batches of a closed table whose checksum holds, where it has one.
fn each_batch_of_table(
    path: &Path,
    sealed: Option<&SealedTable>,
    mut hand_on: impl FnMut(&RecordBatch) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    let damaged = |why: String| RecordError::Damaged { path: path.to_owned(), why };
    let mut file = open(path)?;
    if let Some(sealed) = sealed {
        sealed.check(path, &mut file)?;
    }
    let reader = || {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| error.to_string())?;
        builder.with_batch_size(BATCH_ROWS).build().map_err(|error| error.to_string())
    };
    let mut batches = contained(reader).map_err(damaged)?;
    loop {
        let next = contained(|| batches.next().transpose().map_err(|error| error.to_string()));
        match next.map_err(damaged)? {
            Some(batch) => hand_on(&batch)?,
            None => return Ok(()),
        }
    }
}

/// Rows of a closed table that are decoded at once.
const BATCH_ROWS: usize = 4096;

/// The batches of a stream, up to where it ends or breaks off. A stream without even a header has none.
pub(super) fn stream_batches(path: &Path, seal: Option<FrameSeal>) -> Result<StreamBatches, RecordError> {
    let file = open(path)?;
    let failed = |source| RecordError::Io { what: "read", path: path.to_owned(), source };
    let bytes = file.metadata().map_err(failed)?.len();
    let file = BufReader::new(file);
    let Some(seal) = seal else {
        let reader = contained(|| StreamReader::try_new(file, None).map_err(|error| error.to_string()));
        return Ok(StreamBatches { source: StreamSource::Unchecked(reader.ok().map(Box::new)), bytes });
    };
    let mut frames = WholeFrames::new(file, bytes, seal);
    let source = if frames.begin() {
        let reader = StreamReader::try_new(frames, None)
            .map_err(|error| RecordError::Damaged { path: path.to_owned(), why: error.to_string() })?;
        StreamSource::Checked(Box::new(reader))
    } else {
        StreamSource::Nothing(frames.broken().cloned())
    };
    Ok(StreamBatches { source, bytes })
}

/// See [`stream_batches`].
pub(super) struct StreamBatches {
    source: StreamSource,
    /// Length of the file.
    bytes: u64,
}

enum StreamSource {
    Checked(Box<StreamReader<WholeFrames<BufReader<File>>>>),
    /// A stream of schema 1.
    Unchecked(Option<Box<StreamReader<BufReader<File>>>>),
    Nothing(Option<Break>),
}

impl StreamBatches {
    /// Where the stream breaks off, if it has by now.
    pub(super) fn broken(&self) -> Option<&Break> {
        match &self.source {
            StreamSource::Checked(reader) => reader.get_ref().broken(),
            StreamSource::Unchecked(_) => None,
            StreamSource::Nothing(broken) => broken.as_ref(),
        }
    }
}

impl Iterator for StreamBatches {
    type Item = Result<RecordBatch, String>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.source {
            StreamSource::Checked(reader) => Some(reader.next()?.map_err(|error| error.to_string())),
            StreamSource::Unchecked(reader) => {
                let stream = reader.as_mut()?;
                let batch = contained(|| stream.next().transpose().map_err(|error| error.to_string()));
                if batch.is_err() {
                    *reader = None;
                }
                batch.transpose()
            }
            StreamSource::Nothing(_) => None,
        }
    }
}

fn open(path: &Path) -> Result<File, RecordError> {
    crate::patient::open(path).map_err(|source| RecordError::Io {
        what: "open",
        path: PathBuf::from(path),
        source,
    })
}
