//! `fleet gen`: a fleet's rows with known truth, streamed to files of any size.
//!
//! By drive, each drive's rows stand together; by time, each file is a span of time with all drives in it. The rows
//! are the same.

mod world;

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::array::{
    Float32Builder, Int32Builder, Int64Builder, RecordBatch, StringBuilder, TimestampMillisecondBuilder,
};
use datafusion::arrow::csv::Writer as CsvWriter;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use world::{BEGIN_MS, CounterHonesty, FleetPlace, FleetRecipe, MODELS, SLOTS, TruthOfDrive};

use crate::args::{GenArgs, GenFormat, GenOrder};
use crate::mapping::parse_span_ms;

/// Rows that are gathered before they are written.
const BATCH_ROWS: usize = 65_536;

/// Makes the fleet. Returns what to say of it.
pub(crate) fn run(arguments: &GenArgs) -> Result<String> {
    let cadence_ms = parse_span_ms(&arguments.every).context("cannot use --every")?;
    let span_ms = parse_span_ms(&arguments.span).context("cannot use --span")?;
    if !(0.0..=1.0).contains(&arguments.hot) {
        bail!("--hot is a share of the drives, from 0 to 1");
    }
    let recipe = FleetRecipe {
        seed: arguments.seed,
        drives: arguments.drives,
        cadence_ms,
        rows_each: u64::try_from(span_ms / cadence_ms).unwrap_or(0).max(1),
        hot: arguments.hot,
        cool: arguments.cool,
    };
    let out = &arguments.out;
    if out.join("rows").exists() {
        bail!("{} has rows already; name another folder with --out", out.display());
    }
    fs::create_dir_all(out.join("rows")).with_context(|| format!("cannot make {}", out.display()))?;
    let mut truth = BufWriter::new(File::create(out.join("truth.csv")).context("cannot write the truth")?);
    writeln!(truth, "serial,model,host,slot,counts,throttled_s,fault")?;
    let mut sink = RowFiles::new(out.join("rows"), arguments.format);
    let files = arguments.files.clamp(1, recipe.drives.max(1).min(recipe.rows_each.max(recipe.drives)));
    let rows = match arguments.order {
        GenOrder::Drive => by_drive(&recipe, files, &mut sink, &mut truth)?,
        GenOrder::Time => by_time(&recipe, files, &mut sink, &mut truth)?,
    };
    truth.flush().context("cannot write the truth")?;
    fs::write(out.join("places.json"), places(&recipe)?).context("cannot write the truth of places")?;
    Ok(format!(
        "{rows} simulated rows of {} drives in {} files under {}\ntruth: {} and {}\nscan them: heatsoak fleet scan {} --out {}",
        recipe.drives,
        sink.files,
        out.join("rows").display(),
        out.join("truth.csv").display(),
        out.join("places.json").display(),
        out.join("rows").display(),
        out.join("scan").display(),
    ))
}

fn by_drive(
    recipe: &FleetRecipe,
    files: u64,
    sink: &mut RowFiles,
    truth: &mut impl std::io::Write,
) -> Result<u64> {
    let each = recipe.drives.div_ceil(files).max(1);
    for number in 0..recipe.drives {
        if number % each == 0 {
            sink.next()?;
        }
        let mut place = FleetPlace::new(recipe, number);
        let mut late = None;
        for row in 0..recipe.rows_each {
            emit(recipe, &mut place, row, sink, &mut late, truth)?;
        }
        if let Some((place, row)) = late {
            sink.row(recipe, &place, row)?;
        }
        tell(truth, &place.truth(recipe))?;
    }
    sink.close()?;
    Ok(sink.rows)
}

fn by_time(
    recipe: &FleetRecipe,
    files: u64,
    sink: &mut RowFiles,
    truth: &mut impl std::io::Write,
) -> Result<u64> {
    let each = recipe.rows_each.div_ceil(files).max(1);
    let mut places: Vec<FleetPlace> =
        (0..recipe.drives).map(|number| FleetPlace::new(recipe, number)).collect();
    let mut late: Vec<Option<(FleetPlace, u64)>> = vec![None; places.len()];
    for row in 0..recipe.rows_each {
        if row % each == 0 {
            sink.next()?;
        }
        for (place, late) in places.iter_mut().zip(&mut late) {
            emit(recipe, place, row, sink, late, truth)?;
        }
    }
    for (place, late) in places.iter().zip(late) {
        if let Some((place, row)) = late {
            sink.row(recipe, &place, row)?;
        }
        tell(truth, &place.truth(recipe))?;
    }
    sink.close()?;
    Ok(sink.rows)
}

/// Lives one row and writes it: once, not at all, twice, or after the one that follows.
fn emit(
    recipe: &FleetRecipe,
    place: &mut FleetPlace,
    row: u64,
    sink: &mut RowFiles,
    late: &mut Option<(FleetPlace, u64)>,
    truth: &mut impl std::io::Write,
) -> Result<()> {
    if let Some(gone) = place.happen(recipe, row) {
        tell(truth, &gone)?;
    }
    place.live(recipe, row);
    if place.is_silent(row) {
        return Ok(());
    }
    if place.events.late == Some(row) {
        *late = Some((place.clone(), row));
        return Ok(());
    }
    sink.row(recipe, place, row)?;
    if place.events.doubled == Some(row) {
        sink.row(recipe, place, row)?;
    }
    if let Some((place, row)) = late.take() {
        sink.row(recipe, &place, row)?;
    }
    Ok(())
}

fn tell(truth: &mut impl std::io::Write, drive: &TruthOfDrive) -> Result<()> {
    let TruthOfDrive { serial, model, host, slot, counts, throttled_s, fault } = drive;
    writeln!(truth, "{serial},{model},h{host:05},{slot},{counts},{throttled_s},{fault}")
        .context("cannot write the truth")
}

/// Odd slots and hosts with bad air, as JSON.
fn places(recipe: &FleetRecipe) -> Result<String> {
    let hosts = recipe.drives.div_ceil(SLOTS);
    let faults: Vec<serde_json::Value> = (0..hosts)
        .filter_map(|host| {
            let host_name = format!("h{host:05}");
            match recipe.air_fault(host)? {
                world::AirFault::DeadFan { zone, .. } => {
                    Some(serde_json::json!({ "host": host_name, "fault": "dead_fan", "slots": [zone * 6, zone * 6 + 5] }))
                }
                world::AirFault::Filter => Some(serde_json::json!({ "host": host_name, "fault": "filter" })),
            }
        })
        .collect();
    let odd: Vec<serde_json::Value> = MODELS
        .iter()
        .filter(|_| !recipe.cool)
        .filter_map(|model| Some(serde_json::json!({ "model": model.name, "slot": model.odd_slot? })))
        .collect();
    Ok(serde_json::to_string_pretty(
        &serde_json::json!({ "simulated": true, "hosts": faults, "odd_slots": odd }),
    )?)
}

/// The files that rows go into, one after the other.
struct RowFiles {
    folder: PathBuf,
    format: GenFormat,
    files: u64,
    rows: u64,
    open: Option<RowSink>,
    columns: RowBuilders,
}

enum RowSink {
    Parquet(Box<ArrowWriter<File>>),
    Csv(Box<CsvWriter<File>>),
}

#[derive(Default)]
struct RowBuilders {
    time: TimestampMillisecondBuilder,
    serial: StringBuilder,
    model: StringBuilder,
    firmware: StringBuilder,
    host: StringBuilder,
    slot: Int32Builder,
    temp: Float32Builder,
    counters: [Int64Builder; 9],
    rows: usize,
}

const COUNTER_COLUMNS: [&str; 9] =
    ["tmt1_s", "tmt1_n", "tmt2_s", "tmt2_n", "warn_min", "poh_h", "read_bytes", "written_bytes", "busy_ms"];

fn row_schema() -> SchemaRef {
    let mut fields = vec![
        Field::new("ts", DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())), false),
        Field::new("serial", DataType::Utf8, false),
        Field::new("model", DataType::Utf8, false),
        Field::new("firmware", DataType::Utf8, false),
        Field::new("host", DataType::Utf8, false),
        Field::new("slot", DataType::Int32, false),
        Field::new("temp_c", DataType::Float32, true),
    ];
    fields.extend(COUNTER_COLUMNS.map(|name| Field::new(name, DataType::Int64, true)));
    Arc::new(Schema::new(fields))
}

impl RowFiles {
    fn new(folder: PathBuf, format: GenFormat) -> Self {
        Self { folder, format, files: 0, rows: 0, open: None, columns: RowBuilders::default() }
    }

    /// Closes the file and opens the next one.
    fn next(&mut self) -> Result<()> {
        self.close()?;
        let extension = match self.format {
            GenFormat::Parquet => "parquet",
            GenFormat::Csv => "csv",
        };
        let path = self.folder.join(format!("rows-{:05}.{extension}", self.files));
        let file = create(&path)?;
        self.files += 1;
        self.open = Some(match self.format {
            GenFormat::Csv => RowSink::Csv(Box::new(CsvWriter::new(file))),
            GenFormat::Parquet => {
                let fact = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_key_value_metadata(Some(vec![
                        fact("heatsoak.table", "fleet"),
                        fact("heatsoak.simulated", "true"),
                    ]))
                    .build();
                RowSink::Parquet(Box::new(ArrowWriter::try_new(file, row_schema(), Some(properties))?))
            }
        });
        Ok(())
    }

    fn row(&mut self, recipe: &FleetRecipe, place: &FleetPlace, row: u64) -> Result<()> {
        self.columns.add(recipe, place, row);
        self.rows += 1;
        if self.columns.rows >= BATCH_ROWS {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let batch = self.columns.batch()?;
        match &mut self.open {
            Some(RowSink::Parquet(writer)) => writer.write(&batch)?,
            Some(RowSink::Csv(writer)) => writer.write(&batch)?,
            None => {}
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        if self.columns.rows > 0 {
            self.flush()?;
        }
        if let Some(RowSink::Parquet(writer)) = self.open.take() {
            writer.close()?;
        }
        Ok(())
    }
}

fn create(path: &Path) -> Result<File> {
    File::create(path).with_context(|| format!("cannot write {}", path.display()))
}

impl RowBuilders {
    fn add(&mut self, recipe: &FleetRecipe, place: &FleetPlace, row: u64) {
        self.rows += 1;
        self.time.append_value(BEGIN_MS + i64::try_from(row).unwrap_or(0) * recipe.cadence_ms);
        self.serial.append_value(place.serial());
        self.model.append_value(place.model.name);
        self.firmware.append_value(place.model.firmware[place.firmware]);
        self.host.append_value(format!("h{:05}", place.host));
        self.slot.append_value(i32::try_from(place.slot).unwrap_or(0));
        // Drives report whole degrees.
        self.temp.append_value(place.temp_c.round() as f32);
        let glitch = place.events.glitch == Some(row);
        let counted = &place.counted;
        let throttle = [
            counted.tmt_ms[0] / 1000 + if glitch { 0x7fff_0000 } else { 0 },
            counted.tmt_n[0],
            counted.tmt_ms[1] / 1000,
            counted.tmt_n[1],
        ];
        let others = [
            counted.warn_ms / 60_000,
            counted.on_ms / 3_600_000,
            counted.read_bytes,
            counted.written_bytes,
            counted.busy_ms,
        ];
        let (throttle_columns, other_columns) = self.counters.split_at_mut(4);
        for (column, value) in throttle_columns.iter_mut().zip(throttle) {
            match place.model.honesty {
                CounterHonesty::Counts => column.append_value(value.cast_signed()),
                CounterHonesty::Zero => column.append_value(0),
                CounterHonesty::Absent => column.append_null(),
            }
        }
        for (column, value) in other_columns.iter_mut().zip(others) {
            column.append_value(value.cast_signed());
        }
    }

    fn batch(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let mut columns: Vec<datafusion::arrow::array::ArrayRef> = vec![
            Arc::new(self.time.finish().with_timezone("UTC")),
            Arc::new(self.serial.finish()),
            Arc::new(self.model.finish()),
            Arc::new(self.firmware.finish()),
            Arc::new(self.host.finish()),
            Arc::new(self.slot.finish()),
            Arc::new(self.temp.finish()),
        ];
        for counter in &mut self.counters {
            columns.push(Arc::new(counter.finish()));
        }
        Ok(RecordBatch::try_new(row_schema(), columns)?)
    }
}
