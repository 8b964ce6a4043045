//! The files of a fleet: found by path, folder or glob, opened one by one, and those that cannot be read, by name.
//!
//! Only footers and headers are read here. A file that is no file of rows is told as left out; one that should be and
//! cannot be read is refused, and never lost in silence.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::csv::reader::Format;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::ipc::reader::FileReader;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};

use crate::bucket;
use crate::projection::text_literal;

/// A file of rows.
#[derive(Clone, Debug)]
pub(crate) struct FleetFile {
    pub(crate) path: PathBuf,
    pub(crate) format: RowFormat,
    /// Columns of the file. Those of CSV are all text.
    pub(crate) schema: SchemaRef,
    /// Rows, where the footer says so.
    pub(crate) rows: Option<u64>,
    /// Columns that are one value for the whole file (parts of its path, facts of a run), as SQL.
    pub(crate) given: BTreeMap<String, String>,
    /// Rows of it that count, as SQL.
    pub(crate) filter: Option<&'static str>,
    /// The file says that its rows are simulated.
    pub(crate) simulated: bool,
}

/// What a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowFormat {
    Parquet,
    Csv,
    Arrow,
}

/// A file that cannot be read, or rows of it, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RefusedFile {
    pub(crate) path: String,
    pub(crate) reason: String,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) files: Vec<FleetFile>,
    pub(crate) refused: Vec<RefusedFile>,
    /// Files in folders that are no rows of drives.
    pub(crate) left_out: Vec<PathBuf>,
}

/// All files of these sources.
pub(crate) async fn find(sources: &[String]) -> Result<Found> {
    let mut found = Found::default();
    for source in sources {
        if source.starts_with(bucket::SCHEME) {
            bucket::find(source, &mut found).await?;
            continue;
        }
        if source.contains("://") {
            bail!(
                "cannot read {source}: of addresses s3://BUCKET/PREFIX is known; mount other stores or copy what is needed, and give the path"
            );
        }
        let mut paths = Vec::new();
        if source.contains(['*', '?', '[']) {
            let names = glob::glob(source).with_context(|| format!("cannot read the pattern {source}"))?;
            for name in names {
                walk(
                    &name.with_context(|| format!("cannot look at what {source} names"))?,
                    true,
                    &mut paths,
                )?;
            }
        } else {
            walk(Path::new(source), true, &mut paths)?;
        }
        if paths.is_empty() {
            bail!("no file at {source}; check the path");
        }
        paths.sort();
        for (path, named) in paths {
            let shown = path.display().to_string();
            match open(&path, Path::new(source)) {
                Ok(Some(file)) => found.files.push(file),
                Ok(None) if named => found.refused.push(RefusedFile {
                    path: shown,
                    reason: "no format that is read: .parquet, .csv, .arrow or .feather (unpack .gz and .zip first)".into(),
                }),
                Ok(None) => found.left_out.push(path),
                Err(error) => found.refused.push(RefusedFile { path: shown, reason: format!("{error:#}") }),
            }
        }
    }
    found.files.sort_by(|one, other| one.path.cmp(&other.path));
    found.files.dedup_by(|one, other| one.path == other.path);
    found.refused.sort();
    found.refused.dedup();
    Ok(found)
}

/// Files below a path, with whether they were named themselves. A link to a folder is followed where it was named, and not
/// below: it may lead in a circle. A link to nothing is a file that cannot be opened.
fn walk(path: &Path, named: bool, paths: &mut Vec<(PathBuf, bool)>) -> Result<()> {
    let metadata = if named { path.metadata() } else { path.symlink_metadata() };
    let metadata = metadata.with_context(|| format!("cannot look at {}", path.display()))?;
    if !metadata.is_dir() {
        paths.push((path.to_path_buf(), named));
        return Ok(());
    }
    let entries = path.read_dir().with_context(|| format!("cannot list {}", path.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list {}", path.display()))?;
        let hidden = entry.file_name().to_string_lossy().starts_with(['.', '_']);
        if !hidden {
            walk(&entry.path(), false, paths)?;
        }
    }
    Ok(())
}

/// A file, or none if it is of another kind.
fn open(path: &Path, source: &Path) -> Result<Option<FleetFile>> {
    let extension = path.extension().map(|text| text.to_string_lossy().to_lowercase());
    let ours = matches!(extension.as_deref(), Some("parquet" | "csv" | "arrow" | "feather" | "ipc"));
    // Opening a FIFO would wait for a writer.
    if ours && !path.metadata().context("cannot be looked at")?.is_file() {
        bail!("it is no regular file");
    }
    let mut file = match extension.as_deref() {
        Some("parquet") => parquet_file(path, &open_parquet(path)?)?,
        Some("csv") => Some(csv_file(path, header_line(path)?)?),
        Some("arrow" | "feather" | "ipc") => Some(arrow_file(path)?),
        _ => None,
    };
    if let Some(file) = &mut file {
        take_partitions(file, path.strip_prefix(source).unwrap_or(path));
    }
    Ok(file)
}

/// Columns that folders on the way to the file name: `name=value`.
pub(crate) fn take_partitions(file: &mut FleetFile, below: &Path) {
    for part in below.parent().into_iter().flat_map(Path::iter) {
        if let Some((name, value)) = part.to_str().and_then(|part| part.split_once('=')) {
            file.given.insert(name.into(), text_literal(value));
        }
    }
}

fn open_parquet(path: &Path) -> Result<ArrowReaderMetadata> {
    let file = File::open(path).context("cannot be opened")?;
    if file.metadata().context("cannot be looked at")?.len() == 0 {
        bail!("the file is empty (0 bytes), it is no Parquet");
    }
    ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).context("not readable as Parquet")
}

/// Texts as views: the engine then reads a page's dictionary once, where it would copy the text of each row otherwise.
fn with_views(schema: &Schema) -> SchemaRef {
    let viewed = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => {
            Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View))
        }
        _ => Arc::clone(field),
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().map(viewed).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// A Parquet file by its footer; none if it is a table of ours that holds no rows.
pub(crate) fn parquet_file(path: &Path, metadata: &ArrowReaderMetadata) -> Result<Option<FleetFile>> {
    let schema = with_views(metadata.schema());
    let facts: BTreeMap<String, String> = metadata
        .metadata()
        .file_metadata()
        .key_value_metadata()
        .into_iter()
        .flatten()
        .filter_map(|fact| Some((fact.key.clone(), fact.value.clone()?)))
        .collect();
    let rows = u64::try_from(metadata.metadata().file_metadata().num_rows()).ok();
    if schema.fields().iter().any(|field| field.name().starts_with("s_data_"))
        && schema.index_of("s_series_hash").is_ok()
        || facts.contains_key("data_col_duration_ms")
    {
        bail!(
            "this is Parquet of Cortex or Thanos: encoded chunks, a row a series. Export rows of time and value (query_range, or VictoriaMetrics /api/v1/export)"
        );
    }
    let simulated = facts.get("heatsoak.simulated").is_some_and(|text| text == "true");
    let mut file = FleetFile {
        path: path.into(),
        format: RowFormat::Parquet,
        schema,
        rows,
        given: BTreeMap::new(),
        filter: None,
        simulated,
    };
    match facts.get("heatsoak.table").map(String::as_str) {
        // A run folder: only its readings are rows of a drive.
        Some("telemetry") => {
            let began_ns: i64 =
                facts.get("heatsoak.began_unix_ns").and_then(|text| text.parse().ok()).context(
                    "the run does not say when it began; analyze it by itself with `heatsoak analyze`",
                )?;
            for name in ["heatsoak.drive_serial", "heatsoak.drive_model", "heatsoak.drive_firmware"] {
                file.given.insert(name.into(), text_literal(facts.get(name).map_or("", String::as_str)));
            }
            let time = format!("CAST(t_ns AS BIGINT) / 1000000 + {}", began_ns / 1_000_000);
            file.given.insert("heatsoak.time".into(), time);
            // Other sources have rows of their own, without the counters.
            file.filter = Some("source = 'smart'");
            Ok(Some(file))
        }
        Some("fleet") | None => Ok(Some(file)),
        Some(_) => Ok(None),
    }
}

/// How much of a header line is read, in bytes: Alibaba's 105 columns have 600.
pub(crate) const HEADER_BYTES: u64 = 1 << 20;

fn header_line(path: &Path) -> Result<Vec<u8>> {
    let file = File::open(path).context("cannot be opened")?;
    let mut header = Vec::new();
    BufReader::new(file).take(HEADER_BYTES).read_until(b'\n', &mut header).context("cannot be read")?;
    Ok(header)
}

/// A CSV file by its first line.
pub(crate) fn csv_file(path: &Path, header: Vec<u8>) -> Result<FleetFile> {
    if header.is_empty() {
        bail!("the file is empty (0 bytes), it has no header line");
    }
    let text = String::from_utf8(header).ok().context("the header line is not UTF-8 text")?;
    let text = text.trim_start_matches('\u{feff}');
    let (inferred, _) = Format::default()
        .with_header(true)
        .infer_schema(text.as_bytes(), Some(0))
        .context("the header line is no CSV")?;
    let fields: Vec<Field> =
        inferred.fields().iter().map(|field| Field::new(field.name().trim(), DataType::Utf8, true)).collect();
    let mut names: Vec<&String> = fields.iter().map(Field::name).collect();
    names.sort();
    if let Some(two) = names.windows(2).find(|two| two[0] == two[1]) {
        bail!("two columns are called {:?}", two[0]);
    }
    Ok(FleetFile {
        path: path.into(),
        format: RowFormat::Csv,
        schema: Arc::new(Schema::new(fields)),
        rows: None,
        given: BTreeMap::new(),
        filter: None,
        simulated: false,
    })
}

fn arrow_file(path: &Path) -> Result<FleetFile> {
    let file = File::open(path).context("cannot be opened")?;
    let reader = FileReader::try_new(BufReader::new(file), None).context(
        "not readable as an Arrow file (a stream of an unfinished run is analyzed with `heatsoak analyze`)",
    )?;
    Ok(FleetFile {
        path: path.into(),
        format: RowFormat::Arrow,
        schema: reader.schema(),
        rows: None,
        given: BTreeMap::new(),
        filter: None,
        simulated: false,
    })
}
