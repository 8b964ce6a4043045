//! `heatsoak analyze`: what slowed a drive down, from run folders and from logs of other tools.

use std::path::PathBuf;

use analysis::findings::{Findings, Label, Segment, SegmentOp};
use analysis::joint::JointPolicy;
use analysis::life::{LifeDoubt, LifeDoubtKind};
use anyhow::bail;
use import::ImportOptions;
use measure::BytesPerSec;
use report::{TerminalStyle, sentences};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Exit;
use crate::args::AnalyzeArgs;
use crate::commands::documents::JsonDocument as _;
use crate::commands::explain::Explained;
use crate::commands::findings::{Analyzed, style};
use crate::commands::joint;
use crate::damage;
use crate::inputs;
use crate::printer::Printer;
use crate::table;

/// Segments that a person is shown: some screens of them.
const MOST_ROWS: usize = 40;

/// Inputs that a hint repeats.
const MOST_NAMED: usize = 8;

/// The JSON for several inputs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Results<'a> {
    /// Version of this format.
    schema: u32,
    /// One an input, in the order they were named.
    results: Vec<OneResult<'a>>,
    /// One a drive of which there are several runs.
    #[serde(skip_serializing_if = "<[JointPolicy]>::is_empty")]
    joint_policies: &'a [JointPolicy],
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct OneResult<'a> {
    /// The input: a run folder or a log.
    source: String,
    /// What was found.
    findings: &'a Findings,
}

impl<'a> OneResult<'a> {
    fn new(analyzed: &'a Analyzed) -> Self {
        Self { source: analyzed.source.display().to_string(), findings: analyzed.findings() }
    }
}

/// The JSON of `--explain` for several inputs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ExplainedResults<'a> {
    /// Version of this format.
    schema: u32,
    /// One an input, in the order they were named.
    results: &'a [Explained],
}

/// Analyzes. An input that cannot be read does not keep the others from being told.
pub(crate) fn execute(args: &AnalyzeArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    // Joined files are one run; each other input may be a folder of several.
    let args = &AnalyzeArgs {
        inputs: if args.join { args.inputs.clone() } else { inputs::runs_in(&args.inputs, printer) },
        ..args.clone()
    };
    if let Some(number) = args.explain {
        return explain(args, number, printer);
    }
    let options = options(args);
    let (analyzed, failed) = each(args, printer, |run, _| {
        if args.join { Analyzed::read_logs(run, &options) } else { Analyzed::read_as(&run[0], &options) }
    });
    let (analyzed, joint) = joint::together(analyzed, args.one_drive)?;
    if args.json {
        match analyzed.as_slice() {
            [one] if runs(args).len() == 1 => printer.json(one.findings())?,
            [] => {}
            several => {
                let results = several.iter().map(OneResult::new);
                printer.json(&Results {
                    schema: Results::SCHEMA,
                    results: results.collect(),
                    joint_policies: &joint,
                })?;
            }
        }
    } else if !analyzed.is_empty() {
        let (width, style) = (printer.data_width(), style(printer, None));
        let hint = join_hint(&analyzed, &options);
        let advised = analyzed.into_iter().map(Analyzed::advised);
        let mut texts: Vec<String> = advised.map(|one| for_people(&one, &style)).collect();
        texts.extend(joint.iter().map(|joint| together(joint, width)));
        texts.extend(hint.map(|hint| report::wrapped(&hint, "", width)));
        printer.coloured_data(&texts.join("\n"))?;
    }
    Ok(if failed { Exit::NotDone } else { Exit::Done })
}

/// How to see what happened between single readings of one drive that were named as runs of their own; `None` where there are
/// no two of them, or they are of several drives.
fn join_hint(analyzed: &[Analyzed], options: &ImportOptions) -> Option<String> {
    let is_single = |one: &&Analyzed| {
        let findings = one.findings();
        !one.is_run
            && findings.segments.is_empty()
            && findings.life.as_ref().is_some_and(|life| life.between.is_none())
    };
    let single: Vec<PathBuf> = analyzed.iter().filter(is_single).map(|one| one.source.clone()).collect();
    if single.len() < 2 {
        return None;
    }
    // What tells drives apart is known to the import; where nothing does, counters that fall may.
    let joined = Analyzed::trace(&single, options).ok()?;
    let between = analysis::analyze(&joined).life.and_then(|life| life.between);
    let fell = |doubt: &LifeDoubt| doubt.kind == LifeDoubtKind::Fell;
    if between.is_some_and(|between| between.doubts.iter().any(fell)) {
        return None;
    }
    let names: Vec<String> = single.iter().map(|name| name.display().to_string()).collect();
    let names = if names.len() > MOST_NAMED { "..".to_owned() } else { names.join(" ") };
    (joined.life.len() == single.len()).then(|| {
        format!(
            "Readings of one drive, as far as they tell: `heatsoak analyze --join {names}` shows what it counted between them."
        )
    })
}

/// What runs of one drive show together.
fn together(joint: &JointPolicy, width: usize) -> String {
    let lines = sentences::joint_policy(joint);
    lines.iter().fold(format!("{} together\n", joint.runs.join(", ")), |text, line| {
        text + &report::wrapped(line, "  ", width)
    })
}

/// Tells the reasoning behind event `number`, or behind what there is.
fn explain(args: &AnalyzeArgs, number: Option<usize>, printer: &mut Printer) -> anyhow::Result<Exit> {
    if let Some(number) = number.filter(|_| runs(args).len() > 1) {
        bail!(
            "cannot explain event {number} of several inputs at once: name one of them, or take them for one run with --join"
        );
    }
    let options = options(args);
    let (explained, failed) = each(args, printer, |run, printer| {
        let trace = Analyzed::trace(run, &options)?;
        damage::warn(&run[0], &trace.caveats, printer);
        let (findings, explanations) = analysis::explain(&trace);
        Explained::new(&run[0], findings.simulated, explanations, number)
    });
    if args.json {
        match explained.as_slice() {
            [one] if runs(args).len() == 1 => printer.json(one)?,
            [] => {}
            results => printer.json(&ExplainedResults { schema: ExplainedResults::SCHEMA, results })?,
        }
    } else if !explained.is_empty() {
        let texts: Vec<String> = explained.iter().map(|one| one.text(printer.data_width())).collect();
        printer.data(&texts.join("\n"))?;
    }
    Ok(if failed { Exit::NotDone } else { Exit::Done })
}

fn options(args: &AnalyzeArgs) -> ImportOptions {
    ImportOptions {
        format: args.format,
        offsets: args.offset.clone(),
        every_s: args.every.map(|every| every.as_secs_f64()),
        device: args.device.clone(),
    }
}

/// The inputs, run by run: each is a run of its own, or all of them are one.
fn runs(args: &AnalyzeArgs) -> Vec<&[PathBuf]> {
    if args.join { vec![&args.inputs] } else { args.inputs.chunks(1).collect() }
}

/// What `read` makes of each run, and whether one failed: that one is told, and keeps no other from being read.
fn each<T>(
    args: &AnalyzeArgs,
    printer: &mut Printer,
    read: impl Fn(&[PathBuf], &mut Printer) -> anyhow::Result<T>,
) -> (Vec<T>, bool) {
    let mut done = Vec::new();
    let mut failed = false;
    for run in runs(args) {
        match read(run, printer) {
            Ok(one) => done.push(one),
            Err(error) => {
                failed = true;
                printer.error(&error);
            }
        }
    }
    (done, failed)
}

fn for_people(analyzed: &Analyzed, style: &TerminalStyle) -> String {
    let Analyzed { source, input, .. } = analyzed;
    let findings = analyzed.findings();
    let mut text = source.display().to_string();
    if let Some(badge) = input.simulated_badge() {
        text.push_str(&format!("  [{badge}]"));
    }
    text.push('\n');
    let summary = sentences::summary(input);
    text.push_str(&report::terminal_answer(input, &summary, style));
    let more =
        findings.slc_cache.iter().map(sentences::slc_cache).chain(sentences::thermal(&findings.thermal));
    let more: Vec<String> = more.collect();
    if !more.is_empty() {
        text.push('\n');
    }
    for line in more {
        text.push_str(&report::wrapped(&line, "", style.width));
    }
    if !findings.segments.is_empty() {
        let heading = ["FROM", "TO", "LOAD", "SPEED", "TEMPERATURE", "STATE"].map(str::to_owned);
        let (first, left_out) = first_rows(&findings.segments);
        let states = summary.states(first);
        let rows: Vec<_> = std::iter::once(heading).chain(first.iter().zip(states).map(row)).collect();
        text.push_str(&format!("\n{}", table::fitted(&rows, style.width)));
        if left_out > 0 {
            text.push_str(&format!(
                "... and {left_out} more: --json has all, `heatsoak report` draws them\n"
            ));
        }
    }
    text
}

/// The rows that a person is shown, and how many there are besides: a month of cycles has 100 000.
fn first_rows(segments: &[Segment]) -> (&[Segment], usize) {
    let shown = segments.len().min(MOST_ROWS);
    (&segments[..shown], segments.len() - shown)
}

fn row((segment, state): (&Segment, &str)) -> [String; 6] {
    let kelvin = |k: Option<f64>| k.map_or_else(|| "-".to_owned(), analysis::wording::degrees);
    let (start, end) = (kelvin(segment.temp_start_k), kelvin(segment.temp_end_k));
    [
        format!("{:.1} s", segment.start_s),
        format!("{:.1} s", segment.end_s),
        // A pause within a load: the state says all that is known.
        if segment.op == SegmentOp::Idle && state != sentences::label(Label::Idle) {
            "-".to_owned()
        } else {
            sentences::doing(segment.op).to_owned()
        },
        segment.mean_bytes_per_s.map_or_else(|| "-".to_owned(), |rate| BytesPerSec::new(rate).to_string()),
        if start == end { start } else { format!("{start} to {end}") },
        state.to_owned(),
    ]
}
