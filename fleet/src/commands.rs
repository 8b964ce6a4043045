//! The commands: sources to tables, text and JSON.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::array::{Array as _, AsArray as _};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use fleet_state::IntervalRules;
use futures::StreamExt as _;

use crate::args::{CheckArgs, DriveArgs, RowArgs, ScanArgs, SqlArgs};
use crate::cadence;
use crate::engine::{self, EngineLimits, FleetRows};
use crate::mapping::{FleetMap, parse_span_ms};
use crate::outcome::{self, ScanFacts};
use crate::projection::text_literal;
use crate::report;
use crate::source::{self, Found};
use crate::verdict::RowCadence;
use crate::{cells, places, scan, since, tables, verdict};

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
    fn of(arguments: &RowArgs) -> Result<Self> {
        let map = arguments.map.as_deref().map(read_map).transpose()?;
        let stated_cadence_ms =
            arguments.cadence.as_deref().map(parse_span_ms).transpose().context("cannot use --cadence")?;
        let found = source::find(&arguments.sources)?;
        let partitions = match arguments.threads {
            Some(0) => bail!("--threads is at least 1"),
            Some(threads) => threads,
            None => std::thread::available_parallelism().map_or(2, usize::from),
        };
        let context = engine::session(EngineLimits { memory: arguments.memory, partitions })?;
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

/// `fleet scan`.
pub(crate) async fn scan(arguments: &ScanArgs) -> Result<ExitCode> {
    let OpenedRows { context, found, map, stated_cadence_ms, memory } = OpenedRows::of(&arguments.rows)?;
    let left_out = found.left_out.len();
    let rules = async |rows: &FleetRows| {
        let cadence_ms = cadence::cadence_ms(rows, stated_cadence_ms, memory).await?;
        Ok(IntervalRules { cadence_ms })
    };
    let (rows, rules, scanned) = scan::scan(&context, found, map.as_ref(), rules).await?;
    if rows.groups.is_empty() {
        return Err(nothing(&rows));
    }
    if scanned.drives.is_empty() {
        bail!("the files hold no row with a serial number and a time");
    }
    let out = &arguments.out;
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let simulated = rows.simulated() > 0;
    let facts = ScanFacts {
        simulated,
        files: rows.files(),
        files_refused: rows.refused.len(),
        files_left_out: left_out,
        schemas: schemas(&rows),
        caveats: caveats(&rows),
        cadence_ms: rules.cadence_ms,
        nameless_rows: scanned.nameless_rows,
        untimed_rows: scanned.untimed_rows,
        drives_sorted: scanned.sorted,
    };
    let findings = verdict::judge(scanned.drives, RowCadence::of(rules.cadence_ms));
    let (odd, effects) = places::judge(&findings);
    let cell_rows = cells::cells(&findings, &effects);
    let threshold_rows = cells::thresholds(&findings);
    let trend = arguments.since.as_deref().map(|before| since::compare(before, &findings)).transpose()?;
    let outcome = outcome::sum_up(facts, &findings, &odd, &cell_rows, &threshold_rows, trend);
    tables::drives(out, &findings, simulated)?;
    tables::cells(out, &cell_rows, simulated)?;
    tables::thresholds(out, &threshold_rows, simulated)?;
    tables::refused(out, &rows.refused, simulated)?;
    let json = serde_json::to_string_pretty(&outcome)? + "\n";
    whole(&out.join("findings.json"), &json)?;
    whole(&out.join("report.html"), &report::html(&outcome, &cell_rows, &threshold_rows, &rows.refused))?;
    if arguments.json {
        say(&json)?;
    } else {
        say(&summary(&outcome, out))?;
    }
    Ok(exit(&rows))
}

/// Writes beside and renames.
fn whole(path: &Path, text: &str) -> Result<()> {
    let beside = path.with_extension("part");
    fs::write(&beside, text)
        .and_then(|()| fs::rename(&beside, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

fn schemas(rows: &FleetRows) -> Vec<String> {
    let mut names: Vec<String> = rows.groups.iter().map(|group| group.schema_name.clone()).collect();
    names.dedup();
    names
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

fn summary(outcome: &outcome::FleetOutcome, out: &Path) -> String {
    let mut text = String::new();
    if outcome.simulated {
        text += "Simulated rows.\n";
    }
    text += &format!("{}\n", report::headline(outcome));
    for action in outcome.actions.iter().take(8) {
        text += &format!("- {}\n", action.text);
    }
    if outcome.actions.len() > 8 {
        text += &format!("- and {} more\n", outcome.actions.len() - 8);
    }
    for caveat in &outcome.caveats {
        text += &format!("Note: {caveat}\n");
    }
    text + &format!("Report: {}\n", out.join("report.html").display())
}

/// `fleet check`.
pub(crate) async fn check(arguments: &CheckArgs) -> Result<ExitCode> {
    let opened = OpenedRows::of(&arguments.rows)?;
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
    text += &format!(
        "Rows by the footers: {known_rows}; sample: {} rows of {} drives",
        sample.rows, sample.drives
    );
    text += &format!(", {} doubled, {} late\n", sample.doubled, sample.late);
    match cadence_ms {
        Some(cadence_ms) => {
            let class = RowCadence::of(cadence_ms);
            text += &format!(
                "Rows of a drive come every {}.\n  They tell: {}.\n  They do not tell: {}.\n",
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
    let opened = OpenedRows::of(&arguments.rows)?;
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

/// `fleet drive`.
pub(crate) async fn drive(arguments: &DriveArgs) -> Result<ExitCode> {
    let opened = OpenedRows::of(&arguments.rows)?;
    let rows = opened.register()?;
    let query = format!(
        "SELECT DISTINCT time_ms, temp_mc, tmt1_s, tmt1_n, tmt2_s, tmt2_n, read_bytes, written_bytes FROM ({}) \
         WHERE trim(serial) = {} AND time_ms IS NOT NULL ORDER BY time_ms, temp_mc, tmt1_s, tmt2_s",
        rows.select,
        text_literal(arguments.serial.trim())
    );
    let mut stream = opened.context.sql(&query).await?.execute_stream().await?;
    let mut log = PlainLog::new(rows.simulated() > 0, arguments.serial.trim());
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let columns = (0..8)
            .map(|at| batch.column(at).as_primitive_opt::<Int64Type>().context("readings are whole numbers"))
            .collect::<Result<Vec<_>>>()?;
        for row in 0..batch.num_rows() {
            let value = |at: usize| (!columns[at].is_null(row)).then(|| columns[at].value(row));
            log.row([value(0), value(1), value(2), value(3), value(4), value(5), value(6), value(7)]);
        }
    }
    if log.rows == 0 {
        bail!(
            "no row of drive {} in {} files; `heatsoak fleet sql \"SELECT DISTINCT serial FROM rows LIMIT 20\" SRC` lists some",
            arguments.serial.trim(),
            rows.files()
        );
    }
    let path = match &arguments.out {
        Some(out) => out.clone(),
        None => PathBuf::from(format!("{}.csv", file_name(arguments.serial.trim()))),
    };
    fs::write(&path, &log.text).with_context(|| format!("cannot write {}", path.display()))?;
    warn(&format!("{} rows of {} in {}", log.rows, arguments.serial.trim(), path.display()));
    log.warn_where_counters_decide();
    let status =
        Command::new(beside("heatsoak")).arg("analyze").arg(&path).arg("--explain").status().with_context(
            || {
                format!(
                    "cannot start heatsoak; the rows are in {}: heatsoak analyze it --explain",
                    path.display()
                )
            },
        )?;
    let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2);
    let refused = exit(&rows);
    Ok(if code == 0 { refused } else { ExitCode::from(code) })
}

/// A serial number as a file's name.
fn file_name(serial: &str) -> String {
    serial.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// A program of ours: beside this one, in the build folder of the main workspace, or in PATH.
fn beside(name: &str) -> PathBuf {
    let Ok(own) = std::env::current_exe() else { return name.into() };
    let Some(folder) = own.parent() else { return name.into() };
    let profile = folder.file_name().unwrap_or_default();
    let mut candidates = vec![folder.join(name)];
    if let Some(target) = folder.parent().and_then(Path::parent) {
        candidates.push(target.join(profile).join(name));
    }
    candidates.into_iter().find(|path| path.is_file()).unwrap_or_else(|| name.into())
}

/// One drive's rows as the plain CSV that `analyze` reads. Speeds are bytes between two rows over the time between.
struct PlainLog {
    text: String,
    rows: usize,
    first_ms: i64,
    last_ms: i64,
    /// By how much the two counters of seconds rose.
    throttled_s: i64,
    last: Option<[Option<i64>; 8]>,
}

impl PlainLog {
    fn new(simulated: bool, serial: &str) -> Self {
        let origin = if simulated { "# simulated rows\n" } else { "" };
        let text = format!(
            "{origin}# drive {serial}, from heatsoak fleet\n\
             t_s,read_bytes_per_s,write_bytes_per_s,temp_c,tmt1_seconds,tmt1_transitions,tmt2_seconds,tmt2_transitions\n"
        );
        Self { text, rows: 0, first_ms: 0, last_ms: 0, throttled_s: 0, last: None }
    }

    /// What decides comes first: `analyze` is made for rows of seconds.
    fn warn_where_counters_decide(&self) {
        let intervals = i64::try_from(self.rows).unwrap_or(i64::MAX).saturating_sub(1).max(1);
        let between_ms = self.last_ms.saturating_sub(self.first_ms) / intervals;
        if RowCadence::of(between_ms) != RowCadence::Second {
            warn(&format!(
                "TMT counters moved by {} s. Rows come every {}, so these counters decide whether it throttled; \
                 causes of single drops below are weak evidence",
                self.throttled_s,
                report::span(between_ms)
            ));
        }
    }

    fn row(&mut self, values: [Option<i64>; 8]) {
        let Some(time_ms) = values[0] else { return };
        let rate = |at: usize| {
            let last = self.last?;
            let seconds = (time_ms - last[0]?) as f64 / 1000.0;
            let bytes = values[at]? - last[at]?;
            (seconds > 0.0 && bytes >= 0).then(|| bytes as f64 / seconds)
        };
        let (read, written) = (rate(6), rate(7));
        match self.last {
            // Two rows with one time: the first one stands, as in the scan.
            Some(last) if last[0] == Some(time_ms) => return,
            Some(_) => {}
            None => self.first_ms = time_ms,
        }
        let cell = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value}"));
        let whole = |at: usize| values[at].map_or_else(String::new, |value| value.to_string());
        self.text += &format!(
            "{},{},{},{},{},{},{},{}\n",
            (time_ms - self.first_ms) as f64 / 1000.0,
            cell(read),
            cell(written),
            cell(values[1].map(|temp| temp as f64 / 1000.0)),
            whole(2),
            whole(3),
            whole(4),
            whole(5)
        );
        let step = |at: usize| {
            let last = self.last?[at]?;
            values[at].map(|now| now.saturating_sub(last).max(0))
        };
        self.throttled_s += step(2).unwrap_or_default() + step(4).unwrap_or_default();
        self.rows += 1;
        self.last_ms = time_ms;
        self.last = Some(values);
    }
}
