//! `heatsoak runs`: the run folders in a folder as a list and as `index.html`, and deleting some of them.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use analysis::findings::{Policy, PolicyClass};
use anyhow::{Context as _, bail};
use measure::Kelvin;
use measure::record::{self, EndReason, Manifest, Origin, RecordError, write_whole};
use report::{IndexedRun, sentences};
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::Exit;
use crate::args::RunsArgs;
use crate::commands::documents::JsonDocument as _;
use crate::commands::findings::{FINDINGS, REPORT};
use crate::damage;
use crate::inputs::{BETWEEN, by_number};
use crate::printer::{Printer, sentence};
use crate::table;

/// Folders within folders that are looked into: a library, its sweeps, their runs.
const DEPTH: usize = 3;

/// The library's page.
const INDEX: &str = "index.html";

/// What a run folder holds that heatsoak made; nothing else is ever deleted.
const OURS: [&str; 13] = [
    "manifest.json",
    FINDINGS,
    REPORT,
    "report.png",
    "report.svg",
    "chart.svg",
    "io.parquet",
    "telemetry.parquet",
    "smart.parquet",
    "ops.parquet",
    "io.arrow",
    "telemetry.arrow",
    "smart.arrow",
];

/// The JSON of `heatsoak runs --json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Library {
    /// Version of this format.
    schema: u32,
    /// The runs, in the order of their names.
    runs: Vec<LibraryRun>,
}

/// A run of the library.
#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct LibraryRun {
    /// The run folder.
    folder: String,
    /// Model, or address where it is not known.
    pub(super) drive: String,
    /// Name of the plan.
    pub(super) plan: String,
    /// When it began, in seconds since 1970; `None` for simulated time.
    pub(super) began_unix_s: Option<i64>,
    /// Whether it is simulated.
    pub(super) simulated: bool,
    /// In a few words.
    pub(super) verdict: String,
    /// Whether the manifest says how it ended, or cannot be read.
    #[serde(skip)]
    pub(super) has_ended: bool,
}

/// Lists, writes the page, or deletes what is agreed to.
pub(crate) fn execute(args: &RunsArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let mut folders = Vec::new();
    find(&args.dir, DEPTH, &mut folders).with_context(|| {
        format!("cannot list the runs in {}; name the folder that holds them", args.dir.display())
    })?;
    folders.sort_by(|a, b| by_number(&a.to_string_lossy(), &b.to_string_lossy()));
    if args.prune {
        return prune(&folders, printer);
    }
    let runs: Vec<LibraryRun> = folders.iter().map(|folder| library_run(folder)).collect();
    if args.json {
        printer.json(&Library { schema: Library::SCHEMA, runs })?;
        return Ok(Exit::Done);
    }
    if runs.is_empty() {
        printer.data(&format!("No runs in {}; `heatsoak run` makes one.\n", args.dir.display()))?;
        return Ok(Exit::Done);
    }
    let heading = ["RUN", "DRIVE", "PLAN", "DATE", "VERDICT"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(runs.iter().map(row)).collect();
    let index = args.dir.join(INDEX);
    let indexed: Vec<IndexedRun> =
        folders.iter().zip(&runs).map(|(folder, run)| indexed(&args.dir, folder, run)).collect();
    let page = write_whole(&index, report::index_html(&indexed).as_bytes());
    // Names of folders are whole where another program reads them.
    let is_read_by_people = std::io::stdout().is_terminal();
    let mut text =
        if is_read_by_people { table::fitted(&rows, printer.data_width()) } else { table::lines(&rows) };
    if page.is_ok() {
        text.push_str(&format!("\nPage: {}\n", index.display()));
    }
    printer.data(&text)?;
    // The list is what was asked for: a library that is only to be read has one too.
    if let Err(error) = page {
        let why = match error {
            RecordError::Io { source, .. } => source.to_string(),
            other => sentence(&other.into()),
        };
        printer.warning(&format!("the list was not written as a page to {}: {why}", index.display()));
    }
    Ok(Exit::Done)
}

/// Run folders under `dir`, at most `depth` folders down; links are not followed.
fn find(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if record::is_run_folder(dir) {
        found.push(dir.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let is_between = entry.file_name().to_string_lossy().starts_with(BETWEEN);
        if entry.file_type()?.is_dir() && depth > 0 && !is_between {
            // A folder that may not be read holds no runs of ours to list.
            let _ = find(&entry.path(), depth - 1, found);
        }
    }
    Ok(())
}

/// A run in a few words.
pub(super) fn library_run(folder: &Path) -> LibraryRun {
    let name = folder.display().to_string();
    match record::read_manifest_and_lost(folder) {
        Ok((manifest, lost)) => LibraryRun {
            folder: name,
            drive: manifest.drive.model.clone().unwrap_or_else(|| manifest.address.clone()),
            plan: manifest.plan_name.clone(),
            began_unix_s: manifest
                .clock_anchor
                .monotonic_ns
                .map(|_| manifest.clock_anchor.wall_unix_ns.div_euclid(1_000_000_000)),
            simulated: manifest.origin != Origin::Device,
            verdict: format!("{}{}", damage::in_brief(&lost), verdict(folder, &manifest)),
            has_ended: manifest.end.is_some(),
        },
        Err(_) => LibraryRun {
            folder: name,
            drive: "-".to_owned(),
            plan: "-".to_owned(),
            began_unix_s: None,
            simulated: false,
            verdict: "unreadable manifest".to_owned(),
            has_ended: true,
        },
    }
}

/// What a list says of findings: the rest of them is passed over unread, for a library has thousands.
#[derive(Deserialize)]
struct FindingsHead {
    policy: Policy,
    slc_cache: Option<IgnoredAny>,
}

/// What came of it in a few words, from the findings that lie beside the record.
fn verdict(folder: &Path, manifest: &Manifest) -> String {
    let ended = match manifest.end.as_ref().map(|end| end.reason) {
        None => "unfinished; ",
        Some(EndReason::Completed) => "",
        Some(EndReason::SafetyLimit) => "thermal limit; ",
        Some(EndReason::WriteLimit) => "write limit; ",
        Some(_) => "stopped early; ",
    };
    let findings = std::fs::read_to_string(folder.join(FINDINGS));
    let findings = findings.ok().and_then(|text| serde_json::from_str::<FindingsHead>(&text).ok());
    let Some(findings) = findings else { return format!("{ended}not analyzed") };
    let policy = &findings.policy;
    let told = match (policy.class, &findings.slc_cache) {
        (PolicyClass::None, Some(_)) => "SLC cache full".to_owned(),
        (PolicyClass::None, None) => "no throttling".to_owned(),
        (class, _) => {
            let onset =
                policy.onset_k.filter(|k| k.is_finite()).map(|k| Kelvin::from_kelvin(k.round() as u16));
            format!(
                "{}{}",
                sentences::policy_word(class),
                onset.map(|k| format!(", {k}")).unwrap_or_default()
            )
        }
    };
    format!("{ended}{told}")
}

fn date(run: &LibraryRun) -> String {
    let unix_s = run.began_unix_s.and_then(|seconds| u64::try_from(seconds).ok());
    match unix_s {
        Some(seconds) => {
            let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            humantime::format_rfc3339_seconds(time)
                .to_string()
                .chars()
                .take(16)
                .collect::<String>()
                .replace('T', " ")
        }
        None if run.simulated => "simulated".to_owned(),
        None => "-".to_owned(),
    }
}

fn row(run: &LibraryRun) -> [String; 5] {
    [run.folder.clone(), run.drive.clone(), run.plan.clone(), date(run), run.verdict.clone()]
}

/// A run as the page shows it, its report by a path from the page.
fn indexed(dir: &Path, folder: &Path, run: &LibraryRun) -> IndexedRun {
    let inside = folder.strip_prefix(dir).unwrap_or(folder);
    let report = folder.join(REPORT).is_file().then(|| inside.join(REPORT).to_string_lossy().into_owned());
    IndexedRun {
        name: if inside.as_os_str().is_empty() { ".".to_owned() } else { inside.display().to_string() },
        report,
        drive: run.drive.clone(),
        plan: run.plan.clone(),
        date: date(run),
        verdict: run.verdict.clone(),
        simulated: run.simulated,
    }
}

/// Asks for each run whether it may go. Only files that heatsoak made are deleted, and the folder if nothing is left.
fn prune(folders: &[PathBuf], printer: &mut Printer) -> anyhow::Result<Exit> {
    if !std::io::stdin().is_terminal() {
        bail!(
            "cannot ask which runs to delete: standard input is no terminal; delete folders with rm -r instead"
        );
    }
    for folder in folders {
        let run = library_run(folder);
        printer.message(&format!(
            "{}: {}, {}, {}. Delete it? [y/N]",
            run.folder, run.drive, run.plan, run.verdict
        ));
        let mut answer = String::new();
        if std::io::stdin().lock().read_line(&mut answer).context("cannot read the answer")? == 0 {
            break;
        }
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            continue;
        }
        for name in OURS {
            let file = folder.join(name);
            if file.is_file() {
                std::fs::remove_file(&file).with_context(|| format!("cannot delete {}", file.display()))?;
            }
        }
        match std::fs::remove_dir(folder) {
            Ok(()) => printer.message(&format!("deleted {}", folder.display())),
            Err(_) => {
                printer.message(&format!("deleted the run in {}; other files stay there", folder.display()))
            }
        }
    }
    Ok(Exit::Done)
}
