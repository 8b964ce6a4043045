//! Writes a run folder: append-only Arrow streams while the run is under way, Parquet when it is closed.
//!
//! A batch is handed to the kernel when its oldest row is [`FLUSH_SPAN`] old, so a killed process loses no more than that
//! and what had not become a row. Files appear whole or not at all: manifest and Parquet are written beside and renamed.
//!
//! # Memory
//! Whatever the length of the run: [`FLUSH_ROWS`] rows of each table while it is under way, [`GROUP_ROWS`] encoded rows of
//! one when it is closed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use rustix::fs::OFlags;
use schemars::JsonSchema;
use serde::Serialize;

use super::RecordError;
use super::frame::FrameSeal;
use super::manifest::{End, Manifest, Origin};
use super::place::OutputPlace;
use super::read::stream_batches;
use super::rows::{IoRow, OpRow, SmartRow, TelemetryRow};
use super::seal::{Seal, SealedTable, Summing, with_checksum};
use super::table::TableRow;
use crate::time::Instant;

/// Rows wait at most this long in memory.
const FLUSH_SPAN: Duration = Duration::from_millis(250);

/// And never more than this many, so that memory is bounded whatever the rate.
const FLUSH_ROWS: usize = 16_384;

/// Rows of a row group of a closed table, which the encoder keeps until it is whole.
const GROUP_ROWS: usize = 65_536;

/// A run folder that is being written.
pub struct RunWriter {
    dir: PathBuf,
    manifest: Manifest,
    seal: Seal,
    io: Stream<IoRow>,
    telemetry: Stream<TelemetryRow>,
    smart: Stream<SmartRow>,
    ops: Option<Stream<OpRow>>,
    flushed_at: Instant,
}

impl RunWriter {
    /// Makes the folder `dir` (which must not exist, or be empty) with its manifest and empty tables.
    ///
    /// With `with_ops` it also takes one row an I/O.
    pub fn create(dir: &Path, manifest: Manifest, with_ops: bool) -> Result<Self, RecordError> {
        make_empty_dir(dir)?;
        // Drive, plan, and the wall clock or the seed: what makes this run another than any that lay here before.
        let record_id = crc32c::crc32c(format!("{manifest:?}").as_bytes());
        let writer = Self {
            io: Stream::create(dir, record_id)?,
            telemetry: Stream::create(dir, record_id)?,
            smart: Stream::create(dir, record_id)?,
            ops: with_ops.then(|| Stream::create(dir, record_id)).transpose()?,
            dir: dir.to_owned(),
            seal: Seal { record_id, tables: Vec::new() },
            manifest,
            flushed_at: Instant::ZERO,
        };
        writer.write_manifest()?;
        Ok(writer)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The manifest as it stands.
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Changes the manifest and writes it at once.
    pub fn update_manifest(&mut self, change: impl FnOnce(&mut Manifest)) -> Result<(), RecordError> {
        change(&mut self.manifest);
        self.write_manifest()
    }

    fn write_manifest(&self) -> Result<(), RecordError> {
        let path = self.dir.join("manifest.json");
        let text =
            serde_json::to_string_pretty(&SealedManifest { manifest: &self.manifest, seal: &self.seal })
                .map_err(|error| RecordError::Damaged { path: path.clone(), why: error.to_string() })?;
        write_whole(&path, with_checksum(&text).as_bytes())
    }

    /// Adds an interval.
    pub fn push_io(&mut self, row: IoRow) -> Result<(), RecordError> {
        self.io.push(row)
    }

    /// Adds a reading.
    pub fn push_telemetry(&mut self, row: TelemetryRow) -> Result<(), RecordError> {
        self.telemetry.push(row)
    }

    /// Adds a raw log page.
    pub fn push_smart(&mut self, row: SmartRow) -> Result<(), RecordError> {
        self.smart.push(row)
    }

    /// Adds an I/O; ignored where the folder was made without that table.
    pub fn push_op(&mut self, row: OpRow) -> Result<(), RecordError> {
        self.ops.as_mut().map_or(Ok(()), |ops| ops.push(row))
    }

    /// Hands waiting rows to the kernel when the last time is a quarter of a second of run time ago.
    pub fn flush_if_due(&mut self, now: Instant) -> Result<(), RecordError> {
        if now.since(self.flushed_at) < FLUSH_SPAN {
            return Ok(());
        }
        self.flushed_at = now;
        self.flush()
    }

    /// Hands waiting rows to the kernel.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        self.io.flush()?;
        self.telemetry.flush()?;
        self.smart.flush()?;
        self.ops.as_mut().map_or(Ok(()), Stream::flush)
    }

    /// Ends the run: streams become Parquet, the manifest says how the run ended and what the tables are, and only then
    /// the streams go: whenever the process dies, one of the two is whole.
    ///
    /// On an error the streams stay, and the folder reads as an unfinished run.
    pub fn close(mut self, end: End) -> Result<PathBuf, RecordError> {
        self.flush()?;
        let about = &self.manifest;
        self.seal.tables = vec![
            self.io.make_table(about)?,
            self.telemetry.make_table(about)?,
            self.smart.make_table(about)?,
        ];
        if let Some(ops) = &self.ops {
            self.seal.tables.push(ops.make_table(about)?);
        }
        self.manifest.end = Some(end);
        self.write_manifest()?;
        self.io.remove()?;
        self.telemetry.remove()?;
        self.smart.remove()?;
        self.ops.map_or(Ok(()), Stream::remove)?;
        Ok(self.dir)
    }
}

/// The manifest as it is written.
#[derive(Serialize)]
struct SealedManifest<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    seal: &'a Seal,
}

/// `manifest.json` as it lies in a run folder; only its JSON Schema is made of this type.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "nothing is ever put into it")]
pub struct ManifestDocument {
    #[serde(flatten)]
    manifest: Manifest,
    /// What the closed tables are, so that damage is found.
    seal: Seal,
    /// CRC32C of the text before this member, in hexadecimal.
    crc32c: String,
}

/// What a closed table says about itself and its run, for whoever has only the file.
fn file_metadata(table: &str, schema: &Schema, manifest: &Manifest) -> Vec<KeyValue> {
    let simulated = if manifest.origin.is_simulated() { "true" } else { "false" };
    let mut keys = vec![
        ("table", Some(table.to_owned())),
        ("schema", Some(manifest.schema.to_string())),
        ("version", Some(manifest.heatsoak_version.clone())),
        ("simulated", Some(simulated.to_owned())),
        ("drive_model", manifest.drive.model.clone()),
        ("drive_serial", manifest.drive.serial.clone()),
        ("drive_firmware", manifest.drive.firmware.clone()),
        ("plan", Some(manifest.plan_name.clone())),
        ("began_unix_ns", Some(manifest.clock_anchor.wall_unix_ns.to_string())),
    ];
    if let Origin::VirtualSsd { time_scale, bandwidth_scale, .. } = &manifest.origin {
        // The rows are in the host's time and bytes; the drive's are so many times as much.
        keys.push(("time_scale", Some(time_scale.to_string())));
        keys.push(("bandwidth_scale", Some(bandwidth_scale.to_string())));
    }
    keys.push(("columns", Some(columns_as_json(schema))));
    keys.into_iter()
        .filter_map(|(key, value)| value.map(|value| KeyValue::new(format!("heatsoak.{key}"), value)))
        .collect()
}

/// Units and descriptions once more, where readers without Arrow's schema find them too (DuckDB).
fn columns_as_json(schema: &Schema) -> String {
    let words = |field: &Field| field.metadata().clone().into_iter().collect::<BTreeMap<_, _>>();
    let columns: BTreeMap<&str, _> =
        schema.fields().iter().map(|field| (field.name().as_str(), words(field))).collect();
    serde_json::json!(columns).to_string()
}

/// One table's stream.
struct Stream<R: TableRow> {
    path: PathBuf,
    schema: SchemaRef,
    seal: FrameSeal,
    encoder: StreamWriter<Vec<u8>>,
    file: File,
    /// Where the next frame begins.
    offset: u64,
    waiting: Vec<R>,
}

impl<R: TableRow> Stream<R> {
    fn create(dir: &Path, record_id: u32) -> Result<Self, RecordError> {
        let path = dir.join(format!("{}.arrow", R::NAME));
        let schema: SchemaRef = Arc::new(R::schema());
        let file = File::create_new(&path).map_err(|source| match source.kind() {
            // Another run took the folder a moment ago.
            std::io::ErrorKind::AlreadyExists => RecordError::Exists { path: dir.to_owned() },
            _ => io_error("create", &path, source),
        })?;
        let encoder =
            StreamWriter::try_new(Vec::new(), &schema).map_err(|error| arrow_error(&path, error))?;
        let seal = FrameSeal::new(record_id, R::NAME);
        let mut stream = Self { path, schema, seal, encoder, file, offset: 0, waiting: Vec::new() };
        stream.append()?;
        Ok(stream)
    }

    fn push(&mut self, row: R) -> Result<(), RecordError> {
        self.waiting.push(row);
        if self.waiting.len() >= FLUSH_ROWS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), RecordError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        RecordBatch::try_new(Arc::clone(&self.schema), R::columns(&self.waiting))
            .and_then(|batch| self.encoder.write(&batch))
            .map_err(|error| arrow_error(&self.path, error))?;
        self.append()?;
        self.waiting.clear();
        Ok(())
    }

    /// Writes what the encoder has made as one frame. A frame that did not fit is taken away again.
    fn append(&mut self) -> Result<(), RecordError> {
        let message = std::mem::take(self.encoder.get_mut());
        let frame = self.seal.frame(&message, self.offset);
        let written = frame.and_then(|frame| {
            crate::patient::write_all_at(&self.file, &frame, self.offset)?;
            Ok(frame.len() as u64)
        });
        match written {
            Ok(bytes) => {
                self.offset += bytes;
                Ok(())
            }
            Err(source) => {
                // The reader would leave it out as well; the error that matters is the first one.
                let _ = self.file.set_len(self.offset);
                Err(io_error("write", &self.path, source))
            }
        }
    }

    /// Copies the stream, batch by batch, into a Parquet file.
    fn make_table(&self, manifest: &Manifest) -> Result<SealedTable, RecordError> {
        let name = format!("{}.parquet", R::NAME);
        let path = self.path.with_file_name(&name);
        let mut batches = stream_batches(&self.path, Some(self.seal))?;
        replace(&path, |file| {
            let properties = WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .set_max_row_group_row_count(Some(GROUP_ROWS))
                .set_key_value_metadata(Some(file_metadata(R::NAME, &self.schema, manifest)))
                .build();
            let schema = Arc::clone(&self.schema);
            let mut parquet =
                ArrowWriter::try_new(Summing::new(file), schema, Some(properties)).map_err(parquet_io)?;
            for batch in &mut batches {
                parquet.write(&batch.map_err(std::io::Error::other)?).map_err(parquet_io)?;
            }
            if let Some(broken) = batches.broken() {
                let why = format!("what was written reads back as {} at byte {}", broken.why, broken.at);
                return Err(std::io::Error::other(why));
            }
            parquet.finish().map_err(parquet_io)?;
            Ok(parquet.inner().sealed(name))
        })
    }

    /// Removes the stream, whose table is there.
    fn remove(self) -> Result<(), RecordError> {
        fs::remove_file(&self.path).map_err(|source| io_error("remove", &self.path, source))
    }
}

fn make_empty_dir(dir: &Path) -> Result<(), RecordError> {
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            Some(_) => Err(RecordError::Exists { path: dir.to_owned() }),
            None => Ok(()),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            fs::create_dir_all(dir).map_err(|source| io_error("make the run folder", dir, source))
        }
        Err(source) => Err(io_error("make the run folder", dir, source)),
    }
}

/// Writes a file of a run folder, or of several: whole or not at all. A pipe, a terminal or `/dev/null` is written to.
///
/// # Errors
/// When the system refuses; where a device is there.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), RecordError> {
    let into = |stream: File| crate::patient::write_stream(stream, content);
    match OutputPlace::of(path).map_err(|source| io_error("write", path, source))? {
        OutputPlace::File(path) => replace(&path, |file| crate::patient::write_all_at(file, content, 0)),
        OutputPlace::Stream => crate::patient::open_with(path, OFlags::WRONLY)
            .and_then(into)
            .map_err(|source| io_error("write", path, source)),
    }
}

/// Writes a file beside `path`, syncs it and renames it over: whole or not at all, power cut included.
fn replace<T>(path: &Path, write: impl FnOnce(&mut File) -> std::io::Result<T>) -> Result<T, RecordError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let attempt = || -> std::io::Result<T> {
        let mut file = File::create(&beside)?;
        let written = write(&mut file)?;
        crate::patient::sync(&file)?;
        fs::rename(&beside, path)?;
        Ok(written)
    };
    attempt().map_err(|source| {
        // The half-written file is of no use to anybody; the error that matters is the first one.
        let _ = fs::remove_file(&beside);
        io_error("write", path, source)
    })
}

fn io_error(what: &'static str, path: &Path, source: std::io::Error) -> RecordError {
    RecordError::Io { what, path: path.to_owned(), source }
}

fn arrow_error(path: &Path, error: ArrowError) -> RecordError {
    match error {
        ArrowError::IoError(_, source) => io_error("write", path, source),
        other => RecordError::Damaged { path: path.to_owned(), why: other.to_string() },
    }
}

/// Keeps the system's error, so that a full disk stays recognisable.
fn parquet_io(error: ParquetError) -> std::io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(io) => *io,
            Err(other) => std::io::Error::other(other),
        },
        other => std::io::Error::other(other),
    }
}

#[cfg(test)]
mod test {
    use std::io::Write as _;

    use super::super::{
        self as record, ClockAnchor, DriveFacts, EndReason, LostPart, Op, Origin, SettingsFacts,
    };
    use super::*;
    use crate::histogram::Histogram;
    use crate::units::{Bytes, Kelvin, Watts};

    fn manifest() -> Manifest {
        Manifest {
            schema: record::SCHEMA,
            heatsoak_version: "0.1.0".into(),
            origin: Origin::Twin { profile: "ssd1".into(), profile_toml: String::new(), seed: 1 },
            address: "twin:ssd1".into(),
            drive: DriveFacts {
                kind: "twin".into(),
                model: Some("SSD1".into()),
                serial: None,
                firmware: None,
                wwn: None,
                size_bytes: 1 << 40,
                block_bytes: 512,
                warning_k: Some(358),
                critical_k: Some(363),
                tmt_min_k: Some(273),
                tmt_max_k: Some(358),
                hctm: Some(true),
                slc_bytes: None,
                power_states: None,
            },
            plan_name: "hctm-read".into(),
            plan_toml: String::new(),
            interval_ns: 100_000_000,
            phases: Vec::new(),
            settings: SettingsFacts::default(),
            stop_at_k: Some(358),
            host: None,
            link: None,
            link_end: None,
            ambient_k: None,
            meters: Vec::new(),
            power_baseline: None,
            rated_write_bytes: None,
            switched_on: false,
            answers: Vec::new(),
            clock_anchor: ClockAnchor { wall_unix_ns: 0, monotonic_ns: None },
            transport_events: Vec::new(),
            governor: None,
            notes: Vec::new(),
            end: None,
        }
    }

    fn io_row(index: u64) -> IoRow {
        let mut clat = Histogram::new();
        (0..index % 7).for_each(|n| clat.record_ns(1000 * (n + index)));
        IoRow {
            t: Instant::from_ns(index * 100_000_000),
            span: Duration::from_millis(100),
            phase: 0,
            op: Op::ALL[index as usize % 4],
            bytes: Bytes::new(index << 20),
            ios: index,
            errors: 0,
            slat: Histogram::new(),
            clat,
        }
    }

    fn telemetry_row(index: u64) -> TelemetryRow {
        let t = Instant::from_ns(index * 1_000_000_000);
        if index == 3 {
            return TelemetryRow::failed(t, "smart", Duration::from_micros(20), "ioctl: I/O error");
        }
        TelemetryRow {
            composite: Some(Kelvin::from_kelvin(318)),
            tmt1_seconds: Some(7),
            power: Some(Watts::new(5.25)),
            ..TelemetryRow::empty(t, "smart", Duration::from_micros(20))
        }
    }

    fn fill(writer: &mut RunWriter, rows: std::ops::Range<u64>) {
        for index in rows {
            writer.push_io(io_row(index)).expect("space on disk");
            writer.push_telemetry(telemetry_row(index)).expect("space on disk");
            writer
                .push_smart(SmartRow { t: Instant::from_ns(index), log_id: 2, page: vec![7; 512] })
                .expect("space on disk");
        }
    }

    const COMPLETED: End = End { reason: EndReason::Completed, t_ns: 1, detail: None };

    /// Goal: a virtual SSD that lives 20 times as fast is read on its own clock, and stays written on the host's.
    #[test]
    fn a_run_is_read_in_the_drives_time() {
        let parent = tempfile::tempdir().expect("a scratch folder");
        let dir = parent.path().join("run");
        let of = |time_scale, bandwidth_scale| Manifest {
            origin: Origin::VirtualSsd { nqn: "nqn.x".into(), time_scale, bandwidth_scale },
            ..manifest()
        };
        let mut writer = RunWriter::create(&dir, of(20, 1200), false).expect("a new folder");
        fill(&mut writer, 0..10);
        writer.close(COMPLETED).expect("space on disk");
        let record = record::read(&dir).expect("a readable run");
        let (row, written) = (&record.io[5], io_row(5));
        assert_eq!(row.t.as_ns(), written.t.as_ns() * 20);
        assert_eq!((row.span, row.ios), (Duration::from_secs(2), written.ios));
        assert_eq!(row.bytes.as_u64(), written.bytes.as_u64() * 1200);
        assert_eq!(row.clat.mean(), written.clat.mean().map(|mean| mean * 20));
        assert_eq!(record.telemetry[2].t, Instant::from_ns(40_000_000_000));
        assert_eq!(record.telemetry[2].tmt1_seconds, Some(7), "the drive counts its own seconds");
        assert_eq!(
            (record.manifest.interval_ns, record.manifest.drive.size_bytes),
            (2_000_000_000, 1200 << 40)
        );
        assert_eq!(record.manifest.end.as_ref().map(|end| end.t_ns), Some(20));
        let raw = record::read_manifest(&dir).expect("a manifest");
        assert_eq!((raw.interval_ns, raw.origin), (100_000_000, of(20, 1200).origin));
        let path = dir.join("manifest.json");
        let text = std::fs::read_to_string(&path).expect("a manifest");
        std::fs::write(&path, text.replace("\"time_scale\": 20", "\"time_scale\": 0"))
            .expect("space on disk");
        let error = record::read(&dir).expect_err("time does not stand still").to_string();
        assert!(error.contains("scale of the virtual SSD is 0"), "{error}");
        // Written before there were scales: as the host's.
        let old: Origin = serde_json::from_str(r#"{"kind":"virtual_ssd","nqn":"nqn.x"}"#).expect("an origin");
        assert_eq!(old, of(1, 1).origin);
    }

    /// Goal: what is written is what is read, closed or not, and both say which they are.
    #[test]
    fn a_run_reads_the_same_under_way_and_closed() {
        let parent = tempfile::tempdir().expect("a scratch folder");
        let dir = parent.path().join("run");
        let mut writer = RunWriter::create(&dir, manifest(), false).expect("a new folder");
        fill(&mut writer, 0..10);
        writer.flush().expect("space on disk");
        fill(&mut writer, 10..20);
        writer.flush().expect("space on disk");
        let under_way = record::read(&dir).expect("a readable run");
        assert!(under_way.unfinished);
        assert_eq!(under_way.io, (0..20).map(io_row).collect::<Vec<_>>());
        assert_eq!(under_way.telemetry, (0..20).map(telemetry_row).collect::<Vec<_>>());

        writer.close(COMPLETED).expect("space on disk");
        let closed = record::read(&dir).expect("a readable run");
        assert!(!closed.unfinished);
        assert_eq!(
            (closed.io, closed.telemetry, closed.smart),
            (under_way.io, under_way.telemetry, under_way.smart)
        );
        assert_eq!(record::read_ops(&dir).expect("readable"), None);
        let mut names: Vec<_> =
            fs::read_dir(&dir).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
        names.sort();
        assert_eq!(names, ["io.parquet", "manifest.json", "smart.parquet", "telemetry.parquet"]);
    }

    /// Goal: wherever the process dies, what was flushed before is there. Method: cut the stream at every byte.
    #[test]
    fn a_stream_cut_anywhere_reads_up_to_its_last_whole_batch() {
        let parent = tempfile::tempdir().expect("a scratch folder");
        let dir = parent.path().join("run");
        let mut writer = RunWriter::create(&dir, manifest(), false).expect("a new folder");
        let path = dir.join("telemetry.arrow");
        let mut whole_batches = vec![];
        for batch in 0..3 {
            fill(&mut writer, batch * 4..batch * 4 + 4);
            writer.flush().expect("space on disk");
            whole_batches.push(fs::metadata(&path).expect("a file").len());
        }
        let bytes = fs::read(&path).expect("a file");
        drop(writer);
        for cut in (0..bytes.len()).step_by(13) {
            fs::write(&path, &bytes[..cut]).expect("space on disk");
            let rows = record::read(&dir).expect("a readable run").telemetry.len();
            let whole = whole_batches.iter().filter(|end| **end <= cut as u64).count();
            assert!(rows >= whole * 4, "cut at {cut}: {rows} rows of {whole} whole batches");
        }
    }

    /// Goal: garbage at the end of a stream costs the garbage, not the run.
    #[test]
    fn garbage_after_a_stream_is_left_out() {
        let parent = tempfile::tempdir().expect("a scratch folder");
        let dir = parent.path().join("run");
        let mut writer = RunWriter::create(&dir, manifest(), false).expect("a new folder");
        fill(&mut writer, 0..4);
        writer.flush().expect("space on disk");
        let mut file = fs::OpenOptions::new().append(true).open(dir.join("io.arrow")).expect("a file");
        file.write_all(&[0x5a; 1000]).expect("space on disk");
        assert_eq!(record::read(&dir).expect("a readable run").io.len(), 4);
    }

    /// Goal: a lost file is not taken for "nothing was read". Method: a table of a finished run goes.
    #[test]
    fn a_finished_run_names_the_tables_it_has_lost() {
        let parent = tempfile::tempdir().expect("a scratch folder");
        let dir = parent.path().join("run");
        let mut writer = RunWriter::create(&dir, manifest(), false).expect("a new folder");
        fill(&mut writer, 0..4);
        writer.close(COMPLETED).expect("space on disk");
        assert!(record::read(&dir).expect("a whole run").lost.is_empty());
        fs::remove_file(dir.join("telemetry.parquet")).expect("a file");
        let run = record::read(&dir).expect("the other tables are there");
        assert_eq!(
            (run.lost, run.telemetry, run.io.len()),
            (vec![LostPart::Table { file: "telemetry.parquet".to_owned() }], vec![], 4)
        );
    }

    #[test]
    fn folders_that_are_no_runs_or_too_new_are_refused_with_advice() {
        let parent = tempfile::tempdir().expect("a scratch folder");
        let error = record::read(parent.path()).expect_err("no run").to_string();
        assert!(error.contains("it has no manifest.json"), "{error}");

        let dir = parent.path().join("run");
        drop(RunWriter::create(&dir, manifest(), false).expect("a new folder"));
        let error = RunWriter::create(&dir, manifest(), false).map(|_| ()).expect_err("exists").to_string();
        assert!(error.contains("name another with --out"), "{error}");

        fs::write(dir.join("manifest.json"), r#"{"schema": 3, "shape": "unknown"}"#).expect("space on disk");
        let error = record::read(&dir).expect_err("newer").to_string();
        assert!(error.contains("has schema 3, this heatsoak reads up to 2"), "{error}");
    }
}
