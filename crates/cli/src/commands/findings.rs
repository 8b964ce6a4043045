//! From a record to findings, and where both are shown: what `run`, `analyze` and `report` share.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use analysis::findings::{Caveat, Policy, PolicyClass};
use analysis::joint::JointRun;
use analysis::{Findings, Others, accesses};
use import::ImportOptions;
use measure::record::{self, Manifest, Origin, RecordError, write_whole};
use report::{ReportInput, TerminalStyle};
use schemars::JsonSchema;
use serde::Serialize;
use trace::Trace;

use crate::args::RunArgs;
use crate::commands::forecast::next::{self, Advisable};
use crate::logs;
use crate::printer::Printer;

/// Names of what follows the record in a run folder.
pub(crate) const FINDINGS: &str = "findings.json";
pub(crate) const REPORT: &str = "report.html";

/// A run folder or a log of another tool, with what was found in it.
pub(crate) struct Analyzed {
    /// As it was typed.
    pub(crate) source: PathBuf,
    /// Whether it is a run folder.
    pub(crate) is_run: bool,
    /// What was found, and what a report of it shows besides.
    pub(crate) input: ReportInput,
    /// What it adds to the policy of its drive.
    pub(crate) joint: JointRun,
    /// What advice is made from; `None` where heat did not slow it down.
    advisable: Option<Advisable>,
    /// Where the drive is whose settings may be changed: not that of a twin, which ends with its run.
    address: Option<String>,
    /// Where it was read from.
    origin: Input,
}

/// Where something was read from, to read it again: a trace is not kept, as many of them may be too large.
enum Input {
    Run(PathBuf),
    Logs(Vec<PathBuf>, ImportOptions),
}

impl Analyzed {
    /// Reads and analyzes: a folder is a run, finished or not, or one of logs; anything else is a log, told by its
    /// content.
    ///
    /// # Errors
    /// When it cannot be read, or is neither.
    pub(crate) fn read(source: &Path) -> anyhow::Result<Self> {
        Self::read_as(source, &ImportOptions::default())
    }

    /// The same, with what the user says of logs.
    pub(crate) fn read_as(source: &Path, options: &ImportOptions) -> anyhow::Result<Self> {
        if source.is_dir() && !logs::is_folder_of_logs(source) {
            logs::has_no_logs_below(source)?;
            Self::read_run(source)
        } else {
            Self::read_logs(std::slice::from_ref(&source.to_owned()), options)
        }
    }

    /// What an analysis works on, without one: of a run folder, or of logs of one run.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn trace(sources: &[PathBuf], options: &ImportOptions) -> anyhow::Result<Trace> {
        match sources {
            [folder] if folder.is_dir() && !logs::is_folder_of_logs(folder) => {
                Ok(Trace::from_record(&record::read_reduced(folder)?))
            }
            logs => logs::read(logs, options),
        }
    }

    /// Adds what to do. A fit of its own: for those who show it.
    pub(crate) fn advised(mut self) -> Self {
        if let Some(run) = self.advisable.take() {
            let from = self.source.display().to_string();
            let advice = next::advice(&run, &from, self.address.as_deref());
            (self.input.advice, self.input.second_opinion) = (advice.sentences, advice.second_opinion);
        }
        self
    }

    /// What was found.
    pub(crate) const fn findings(&self) -> &Findings {
        &self.input.findings
    }

    fn read_run(folder: &Path) -> anyhow::Result<Self> {
        Self::read_run_as(folder, folder)
    }

    /// Reads a run in `folder` under another name: for whoever reads it by a path that nobody typed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn read_run_as(folder: &Path, name: &Path) -> anyhow::Result<Self> {
        Self::read_run_among(folder, name, &Others::default())
    }

    /// The same run, judged with what other runs of the drive show of its loads.
    ///
    /// # Errors
    /// When it cannot be read any more.
    pub(crate) fn among(self, others: &Others) -> anyhow::Result<Self> {
        if others.is_empty() {
            return Ok(self);
        }
        match &self.origin {
            Input::Run(folder) => Self::read_run_among(folder, &self.source, others),
            Input::Logs(logs, options) => Self::read_logs_among(logs, options, others),
        }
    }

    /// The same with a policy that it shows together with others: what that settles is open no more.
    pub(crate) fn with_policy(mut self, policy: Policy) -> Self {
        let open = |caveat: &Caveat| {
            matches!(caveat, Caveat::PolicyUndetermined { .. } | Caveat::MechanismUndetermined { .. })
        };
        if policy.class != PolicyClass::Undetermined {
            self.input.findings.caveats.retain(|caveat| !open(caveat));
        }
        self.input.findings.policy = policy;
        self
    }

    fn read_run_among(folder: &Path, name: &Path, others: &Others) -> anyhow::Result<Self> {
        let record = record::read_reduced(folder)?;
        let trace = Trace::from_record(&record);
        let mut findings = analysis::analyze_among(&trace, others);
        let ops = record::read_ops(folder)?.unwrap_or_default();
        let (accesses, clouds) = accesses::accesses(&trace, &ops).unzip();
        findings.accesses = accesses;
        let drive = drive(&record.manifest);
        let joint = JointRun::new(&name.display().to_string(), Some(&drive), &trace, &findings);
        let advisable = next::advisable(&trace, &findings);
        let is_twin = matches!(record.manifest.origin, Origin::Twin { .. });
        let address = (!is_twin).then(|| record.manifest.address.clone());
        let mut input = ReportInput::new(&record, findings);
        input.read_from = Some(name.display().to_string());
        input.clouds = clouds.unwrap_or_default();
        let source = name.to_owned();
        let origin = Input::Run(folder.to_owned());
        Ok(Self { source, is_run: true, input, joint, advisable, address, origin })
    }

    /// Reads logs of one run, joined on one clock, and analyzes them. The first one stands for all.
    pub(crate) fn read_logs(inputs: &[PathBuf], options: &ImportOptions) -> anyhow::Result<Self> {
        Self::read_logs_among(inputs, options, &Others::default())
    }

    fn read_logs_among(inputs: &[PathBuf], options: &ImportOptions, others: &Others) -> anyhow::Result<Self> {
        let trace = logs::read(inputs, options)?;
        let findings = analysis::analyze_among(&trace, others);
        let joint = JointRun::new(&inputs[0].display().to_string(), None, &trace, &findings);
        let advisable = next::advisable(&trace, &findings);
        let mut input = ReportInput::from_trace(trace, findings);
        input.read_from = Some(inputs[0].display().to_string());
        let source = inputs[0].clone();
        let origin = Input::Logs(inputs.to_owned(), options.clone());
        Ok(Self { source, is_run: false, input, joint, advisable, address: None, origin })
    }
}

/// What tells drives apart: model and serial number, or where one was reached.
fn drive(manifest: &Manifest) -> String {
    let model = manifest.drive.model.as_deref().unwrap_or(&manifest.address);
    match &manifest.drive.serial {
        Some(serial) => format!("{model}, {serial}"),
        None => model.to_owned(),
    }
}

/// The JSON of `heatsoak run --json`: the findings and where the run lies.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RunResult<'a> {
    /// The run folder.
    run_folder: String,
    #[serde(flatten)]
    findings: &'a Findings,
}

/// Analyzes a run that has just ended, writes findings and report into its folder, and shows them.
pub(crate) fn tell_run(folder: &Path, args: &RunArgs, printer: &mut Printer) -> anyhow::Result<()> {
    let (run, report) = finish_run(folder, !args.no_report)?;
    let run_folder = folder.display().to_string();
    if args.json {
        return printer.json(&RunResult { run_folder, findings: run.findings() });
    }
    let mut text = report::terminal(&run.input, &style(printer, Some(run_folder)));
    if let Some(report) = report {
        text.push_str(&format!("Report:     {}\n", report.display()));
    }
    Ok(printer.coloured_data(&text)?)
}

/// Analyzes a run that has just ended, and writes findings and report into its folder; says where the report is.
pub(crate) fn finish_run(folder: &Path, with_report: bool) -> anyhow::Result<(Analyzed, Option<PathBuf>)> {
    let run = Analyzed::read_run(folder)?.advised();
    let json = serde_json::to_string_pretty(run.findings())?;
    write_whole(&folder.join(FINDINGS), format!("{json}\n").as_bytes())?;
    let report = if with_report { Some(write_report(folder, &run.input)?) } else { None };
    Ok((run, report))
}

/// Writes the report of a run into its folder; says where.
pub(crate) fn write_report(folder: &Path, input: &ReportInput) -> anyhow::Result<PathBuf> {
    let path = folder.join(REPORT);
    write_form(&path, report::html(input).as_bytes(), folder, "report.html")?;
    Ok(path)
}

/// Writes a form of the report of `folder` to `path`.
///
/// # Errors
/// That of the system, with what to do about it: wait for room, or write elsewhere.
pub(crate) fn write_form(path: &Path, content: &[u8], folder: &Path, name: &str) -> anyhow::Result<()> {
    write_whole(path, content).map_err(|error| {
        let is_full = matches!(&error, RecordError::Io { source, .. }
            if matches!(source.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded));
        let hint = if is_full {
            format!("`heatsoak report {}` makes the report once there is room", folder.display())
        } else {
            format!("--out FILE writes it elsewhere: `heatsoak report {} --out {name}`", folder.display())
        };
        anyhow::Error::new(error).context(hint)
    })
}

/// What the terminal on stdout can show.
pub(crate) fn style(printer: &Printer, run_folder: Option<String>) -> TerminalStyle {
    TerminalStyle {
        width: printer.data_width(),
        ascii: is_ascii_locale(),
        colour: printer.data_has_colour(),
        run_folder,
    }
}

/// Whether the locale says in so many words that it has no Unicode: `C`, or a code set that is not UTF-8.
///
/// Without any, as in most containers, terminals have it all the same. Order: POSIX 8.2.
fn is_ascii_locale() -> bool {
    let set = |name: &&str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default().to_lowercase();
    !locale.is_empty() && !locale.contains("utf-8") && !locale.contains("utf8")
}
