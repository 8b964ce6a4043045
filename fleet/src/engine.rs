//! The engine: a session within a memory limit, and files as tables in it.
//!
//! Files with the same columns are one table; each table has its own SQL to the one form of rows, and all of them
//! together are a UNION. So columns that come and go between files, or change their type, need no common schema.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::datatypes::DataType;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::arrow::ArrowFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{FunctionRegistry as _, SessionState, SessionStateBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use url::Url;

use crate::bucket::{self, BucketRegistry};
use crate::mapping::{self, FleetMap};
use crate::projection::{self, quoted};
use crate::source::{FleetFile, Found, RefusedFile, RowFormat};
use crate::udaf;

/// What a session may use.
#[derive(Clone, Copy, Debug)]
pub struct EngineLimits {
    /// Bytes for what grows with drives, and for sorting.
    pub memory: usize,
    /// Threads, and parts in which files are read.
    pub partitions: usize,
}

/// A session with our functions.
pub(crate) fn session(limits: EngineLimits) -> Result<SessionContext> {
    Ok(SessionContext::new_with_state(state(limits)?))
}

/// The state of a session with our functions: what a cluster's programs start from as well.
///
/// # Errors
/// If the engine cannot be set up.
pub fn state(limits: EngineLimits) -> Result<SessionState> {
    let mut config = SessionConfig::new().with_target_partitions(limits.partitions.max(1));
    tune(&mut config);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(FairSpillPool::new(limits.memory)))
        .with_object_store_registry(Arc::new(BucketRegistry::default()))
        .build_arc()
        .context("cannot set up the engine")?;
    let mut state = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_default_features()
        .build();
    state.register_udaf(Arc::new(udaf::thermal_state()))?;
    Ok(state)
}

/// Sets what the engine's defaults are not made for.
pub fn tune(config: &mut SessionConfig) {
    let options = config.options_mut();
    // A file stays where its neighbours are: rows of one drive then mostly come in order, in one stretch.
    options.execution.enable_file_stream_work_stealing = false;
    // A fleet has few files and each row is read: reading footers ahead of time brings nothing.
    options.execution.collect_statistics = false;
    // Where few drives are asked for, their serial numbers decide which rows of the other columns are read.
    options.execution.parquet.pushdown_filters = true;
    // The first stage merges rows into states; never switch it off where there are many drives.
    options.execution.skip_partial_aggregation_probe_ratio_threshold = 1.1;
}

/// The rows of a fleet in a session.
pub(crate) struct FleetRows {
    /// SQL for all rows in one form ([`projection::ROW_COLUMNS`]).
    pub(crate) select: String,
    /// Files by table, in the order of the SQL.
    pub(crate) groups: Vec<AlikeFiles>,
    pub(crate) refused: Vec<RefusedFile>,
    /// Mapped columns that no file has.
    pub(crate) missing: Vec<String>,
}

/// Files that are read alike.
#[derive(Clone)]
pub(crate) struct AlikeFiles {
    pub(crate) map: FleetMap,
    /// The known schema's name, or that of the user's map.
    pub(crate) schema_name: String,
    pub(crate) caveat: Option<&'static str>,
    pub(crate) files: Vec<FleetFile>,
    pub(crate) select: String,
}

impl FleetRows {
    pub(crate) fn files(&self) -> usize {
        self.groups.iter().map(|group| group.files.len()).sum()
    }

    /// How many files say that their rows are simulated.
    pub(crate) fn simulated(&self) -> usize {
        self.groups.iter().flat_map(|group| &group.files).filter(|file| file.simulated).count()
    }
}

/// Registers files as tables, by their own schema or by the user's map.
pub(crate) fn register(context: &SessionContext, found: &Found, map: Option<&FleetMap>) -> Result<FleetRows> {
    let mut refused = found.refused.clone();
    let mut groups: BTreeMap<String, AlikeFiles> = BTreeMap::new();
    for file in &found.files {
        let columns: Vec<&str> = file
            .schema
            .fields()
            .iter()
            .map(|field| field.name().as_str())
            .chain(file.given.keys().map(String::as_str))
            .collect();
        let mapped = match map {
            Some(map) => Some((map.clone(), "map.toml".to_owned(), None)),
            None => mapping::known(&columns).map(|(known, map)| (map, known.name.to_owned(), known.caveat)),
        };
        let reason = match &mapped {
            None => Some(format!(
                "no known schema: its columns are {}; write a map.toml and give it with --map",
                few(&columns)
            )),
            Some((map, ..)) => map
                .needed()
                .into_iter()
                .find(|needed| !columns.contains(needed))
                .map(|needed| format!("there is no column {needed:?}; its columns are {}", few(&columns))),
        };
        match (mapped, reason) {
            (Some((map, schema_name, caveat)), None) => {
                let group = groups.entry(group_key(&map, &schema_name, file)).or_insert_with(|| AlikeFiles {
                    map,
                    schema_name,
                    caveat,
                    files: Vec::new(),
                    select: String::new(),
                });
                group.files.push(file.clone());
            }
            (_, reason) => refused.push(refuse(file, reason.unwrap_or_default())),
        }
    }
    let mut rows = FleetRows { select: String::new(), groups: Vec::new(), refused, missing: Vec::new() };
    for (number, mut group) in groups.into_values().enumerate() {
        let table = format!("fleet_files_{number}");
        match projection::select(&group.map, &group.files[0], &table) {
            Ok(select) => {
                table_of(context, &table, &group.files)?;
                group.select = select;
                rows.groups.push(group);
            }
            Err(error) => {
                rows.refused.extend(group.files.iter().map(|file| refuse(file, format!("{error:#}"))));
            }
        }
    }
    rows.refused.sort();
    if let Some(map) = map {
        rows.missing = missing(map, &rows.groups);
    }
    let selects: Vec<&str> = rows.groups.iter().map(|group| group.select.as_str()).collect();
    rows.select = selects.join(" UNION ALL ");
    Ok(rows)
}

fn refuse(file: &FleetFile, reason: String) -> RefusedFile {
    RefusedFile { path: file.path.display().to_string(), reason }
}

/// A few names, for a sentence.
fn few(names: &[&str]) -> String {
    let mut text = names.iter().take(12).copied().collect::<Vec<_>>().join(", ");
    if names.len() > 12 {
        text += &format!(" and {} more", names.len() - 12);
    }
    text
}

/// Optional columns of a user's map that are in no file: most likely a slip.
fn missing(map: &FleetMap, groups: &[AlikeFiles]) -> Vec<String> {
    let has = |column: &str| {
        groups
            .iter()
            .flat_map(|group| &group.files)
            .any(|file| file.schema.field_with_name(column).is_ok() || file.given.contains_key(column))
    };
    map.optional().into_iter().filter(|column| !has(column)).map(str::to_owned).collect()
}

/// Files of one key are read alike: the same map, format, types of mapped columns and given values. The columns of CSV
/// stand in an order, so all of them count.
fn group_key(map: &FleetMap, name: &str, file: &FleetFile) -> String {
    let mut key = format!("{name} {:?} {:?}", file.format, file.filter);
    if file.format == RowFormat::Csv {
        for field in file.schema.fields() {
            key += &format!(" {:?}", field.name());
        }
    }
    for column in map.needed().into_iter().chain(map.optional()) {
        let kind: Option<&DataType> = file.schema.field_with_name(column).ok().map(|field| field.data_type());
        key += &format!(" {column:?}:{kind:?}:{:?}", file.given.get(column));
    }
    key
}

/// Registers files of one kind as a table.
pub(crate) fn table_of(context: &SessionContext, name: &str, files: &[FleetFile]) -> Result<()> {
    let format: Arc<dyn FileFormat> = match files[0].format {
        RowFormat::Parquet => Arc::new(ParquetFormat::default()),
        RowFormat::Csv => Arc::new(CsvFormat::default().with_has_header(true)),
        RowFormat::Arrow => Arc::new(ArrowFormat),
    };
    let addresses = files
        .iter()
        .map(|file| Ok(ListingTableUrl::try_new(address(&file.path)?, None)?))
        .collect::<Result<Vec<_>>>()?;
    // Extensions are not asked for: a file that was found is read, whatever the case of its name.
    let options = ListingOptions::new(format).with_file_extension("");
    let config = ListingTableConfig::new_with_multi_paths(addresses)
        .with_listing_options(options)
        .with_schema(Arc::clone(&files[0].schema));
    let table =
        ListingTable::try_new(config).with_context(|| format!("cannot read {}", files[0].path.display()))?;
    context.deregister_table(name)?;
    context.register_table(name, Arc::new(table))?;
    Ok(())
}

/// The address of a file or object, whatever characters are in its name.
fn address(path: &Path) -> Result<Url> {
    if let Some((bucket, key)) =
        path.to_str().and_then(|text| text.strip_prefix(bucket::SCHEME)?.split_once('/'))
    {
        let mut address =
            Url::parse(&format!("{}{bucket}", bucket::SCHEME)).context("cannot read the bucket's name")?;
        address.set_path(key);
        return Ok(address);
    }
    let path = std::path::absolute(path).context("cannot make the path absolute")?;
    let Ok(address) = Url::from_file_path(&path) else {
        bail!("cannot make an address of the path {}", path.display());
    };
    Ok(address)
}

/// Reads each file by itself, after the engine failed on all of them: which ones it was, and why.
pub(crate) async fn refused_alone(context: &SessionContext, rows: &FleetRows) -> Result<Vec<RefusedFile>> {
    let mut refused = Vec::new();
    for group in &rows.groups {
        for file in &group.files {
            table_of(context, "fleet_file_alone", std::slice::from_ref(file))?;
            let select = projection::select(&group.map, file, "fleet_file_alone")?;
            let columns: Vec<String> = projection::ROW_COLUMNS
                .split(", ")
                .map(|name| format!("max({})", quoted(name.trim())))
                .collect();
            let sql = format!("SELECT {} FROM ({select})", columns.join(", "));
            let read = match context.sql(&sql).await {
                Ok(frame) => frame.collect().await.map(|_| ()),
                Err(error) => Err(error),
            };
            if let Err(error) = read {
                refused
                    .push(refuse(file, format!("cannot be read: {}", first_line(&error.strip_backtrace()))));
            }
        }
    }
    context.deregister_table("fleet_file_alone")?;
    Ok(refused)
}

/// The first line of an engine's error.
pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_owned()
}
