//! The commands: sources to tables, text and JSON.

mod drive;
mod scan;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use fleet_state::RowCadence;

use crate::args::{CheckArgs, RowArgs, SqlArgs};
use crate::cadence;
use crate::engine::{self, EngineLimits, FleetRows};
use crate::mapping::{FleetMap, parse_span_ms};
use crate::report;
use crate::source::{self, Found};

pub(crate) use drive::drive;
pub(crate) use scan::{merge, scan};

/// 1: done, and files were refused.
const REFUSED: u8 = 1;

/// What was typed about rows, read.
struct OpenedRows {
    context: SessionContext,
    found: Found,
    map: Option<FleetMap>,
    stated_cadence_ms: Option<i64>,
    memory: usize,
}

impl OpenedRows {
    async fn of(arguments: &RowArgs) -> Result<Self> {
        let map = arguments.map.as_deref().map(read_map).transpose()?;
        let stated_cadence_ms =
            arguments.cadence.as_deref().map(parse_span_ms).transpose().context("cannot use --cadence")?;
        let found = source::find(&arguments.sources).await?;
        let context = engine::session(limits(arguments.memory, arguments.threads)?)?;
        Ok(Self { context, found, map, stated_cadence_ms, memory: arguments.memory })
    }

    fn register(&self) -> Result<FleetRows> {
        let rows = engine::register(&self.context, &self.found, self.map.as_ref())?;
        if rows.groups.is_empty() {
            return Err(nothing(&rows));
        }
        Ok(rows)
    }
}

fn limits(memory: usize, threads: Option<usize>) -> Result<EngineLimits> {
    let partitions = match threads {
        Some(0) => bail!("--threads is at least 1"),
        Some(threads) => threads,
        None => std::thread::available_parallelism().map_or(2, usize::from),
    };
    Ok(EngineLimits { memory, partitions })
}

fn read_map(path: &Path) -> Result<FleetMap> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read the map {}", path.display()))?;
    FleetMap::parse(&text).with_context(|| format!("cannot use the map {}", path.display()))
}

/// No file can be read: all of them by name, up to ten.
fn nothing(rows: &FleetRows) -> anyhow::Error {
    let mut text = String::from("no file can be read as rows of drives");
    for file in rows.refused.iter().take(10) {
        text += &format!("\n  {}: {}", file.path, file.reason);
    }
    anyhow::anyhow!(text)
}

fn say(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        stdout.write_all(b"\n")?;
    }
    Ok(())
}

fn warn(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

fn exit(rows: &FleetRows) -> ExitCode {
    for file in rows.refused.iter().take(20) {
        warn(&format!("refused {}: {}", file.path, file.reason));
    }
    if rows.refused.len() > 20 {
        warn(&format!("and {} files more", rows.refused.len() - 20));
    }
    if rows.refused.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(REFUSED) }
}

fn caveats(rows: &FleetRows) -> Vec<String> {
    let mut caveats: Vec<String> =
        rows.groups.iter().filter_map(|group| group.caveat.map(str::to_owned)).collect();
    caveats.dedup();
    let simulated = rows.simulated();
    if simulated > 0 {
        caveats.push(format!("{simulated} of {} files hold simulated rows", rows.files()));
    }
    if !rows.missing.is_empty() {
        caveats.push(format!("columns of the map that no file has: {}", rows.missing.join(", ")));
    }
    caveats
}

/// A program of ours: beside this one, in the build folder of the main workspace, or in PATH.
pub(crate) fn beside(name: &str) -> PathBuf {
    let Ok(own) = std::env::current_exe() else { return name.into() };
    let Some(folder) = own.parent() else { return name.into() };
    let profile = folder.file_name().unwrap_or_default();
    let mut candidates = vec![folder.join(name)];
    if let Some(target) = folder.parent().and_then(Path::parent) {
        candidates.push(target.join(profile).join(name));
    }
    candidates.into_iter().find(|path| path.is_file()).unwrap_or_else(|| name.into())
}

/// `fleet check`.
pub(crate) async fn check(arguments: &CheckArgs) -> Result<ExitCode> {
    let opened = OpenedRows::of(&arguments.rows).await?;
    let rows = opened.register()?;
    let sample = cadence::sample(&rows, opened.memory).await?;
    let cadence_ms = opened.stated_cadence_ms.or(sample.cadence_ms);
    let known_rows: u64 =
        rows.groups.iter().flat_map(|group| &group.files).filter_map(|file| file.rows).sum();
    if arguments.json {
        let groups: Vec<serde_json::Value> = rows
            .groups
            .iter()
            .map(|group| {
                serde_json::json!({ "schema": group.schema_name, "files": group.files.len(), "caveat": group.caveat,
                    "drive": group.map.drive, "time": group.map.time.column, "temp": group.map.temp.as_ref().map(|temp| &temp.column),
                    "counters": group.map.counters.iter().map(|(name, column)| (name.clone(), column.column().to_owned())).collect::<std::collections::BTreeMap<_, _>>() })
            })
            .collect();
        let refused: Vec<serde_json::Value> = rows
            .refused
            .iter()
            .map(|file| serde_json::json!({ "path": file.path, "reason": file.reason }))
            .collect();
        let document = serde_json::json!({
            "schema": 1, "simulated": rows.simulated() > 0, "groups": groups, "rows_in_footers": known_rows,
            "sample": { "rows": sample.rows, "drives": sample.drives, "doubled": sample.doubled, "late": sample.late,
                "first_ms": sample.first_ms, "last_ms": sample.last_ms },
            "cadence_ms": cadence_ms, "missing_columns": rows.missing, "refused": refused,
            "left_out": opened.found.left_out.iter().map(|path| path.display().to_string()).collect::<Vec<_>>(),
        });
        say(&serde_json::to_string_pretty(&document)?)?;
        return Ok(exit(&rows));
    }
    let mut text = String::new();
    for group in &rows.groups {
        text += &format!("{}: {} files\n", group.schema_name, group.files.len());
        text += &mapping_text(&group.map, &group.files[0]);
    }
    for caveat in caveats(&rows) {
        text += &format!("Note: {caveat}\n");
    }
    // CSV files have no footers.
    if known_rows > 0 {
        text += &format!("Rows by the footers: {known_rows}\n");
    }
    text += &format!(
        "Sample: {} rows of {} drives, {} doubled, {} late\n",
        sample.rows, sample.drives, sample.doubled, sample.late
    );
    match cadence_ms {
        Some(cadence_ms) => {
            let class = RowCadence::of(cadence_ms);
            text += &format!(
                "Rows of a drive come every {}.\n  Their counters tell: {}.\n  They do not tell: {}.\n",
                report::span(cadence_ms),
                class.may_say(),
                class.may_not_say()
            );
        }
        None => {
            text +=
                "No drive has two rows in the sample: counters need two. Give --cadence if there are more.\n"
        }
    }
    if !opened.found.left_out.is_empty() {
        text += &format!("Left out, no rows of drives: {} files\n", opened.found.left_out.len());
    }
    say(&text)?;
    Ok(exit(&rows))
}

/// Which column is taken for what, and what is not there.
fn mapping_text(map: &FleetMap, file: &source::FleetFile) -> String {
    let long = map.long.is_some();
    let there =
        |column: &str| file.schema.field_with_name(column).is_ok() || file.given.contains_key(column) || long;
    let mut text = String::new();
    let mut line = |name: &str, column: &str| {
        let missing = if there(column) { "" } else { " (not in these files)" };
        text += &format!("  {name:<14} {column}{missing}\n");
    };
    line("serial", map.serial());
    if let Some(model) = map.model() {
        line("model", model);
    }
    line("time", &map.time.column);
    if let Some(temp) = &map.temp {
        line("temp", &temp.column);
    }
    for (name, column) in &map.counters {
        line(name, column.column());
    }
    for (name, column) in
        [("firmware", &map.cell.firmware), ("host", &map.cell.host), ("slot", &map.cell.slot)]
    {
        if let Some(column) = column {
            line(name, column);
        }
    }
    text
}

/// `fleet sql`.
pub(crate) async fn sql(arguments: &SqlArgs) -> Result<ExitCode> {
    let opened = OpenedRows::of(&arguments.rows).await?;
    let rows = opened.register()?;
    let view = opened.context.sql(&rows.select).await.context("cannot read the rows")?.into_view();
    opened.context.register_table("rows", view)?;
    let options = datafusion::prelude::SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false);
    let frame = opened
        .context
        .sql_with_options(&arguments.query, options)
        .await
        .map_err(|error| anyhow::anyhow!(error.strip_backtrace()))
        .context("cannot run the query")?;
    let batches = frame
        .collect()
        .await
        .map_err(|error| anyhow::anyhow!(error.strip_backtrace()))
        .context("the query failed")?;
    if rows.simulated() > 0 {
        warn("Simulated rows.");
    }
    say(&pretty_format_batches(&batches)?.to_string())?;
    Ok(exit(&rows))
}
