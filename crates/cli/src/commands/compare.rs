//! `heatsoak compare`: runs against each other, as tables and as a page with their charts.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use measure::input;
use measure::record::write_whole;
use report::{Comparison, GateResult, PowerTable, PowerTableFormat, ReportInput, StatedPower, check_limits};

use crate::Exit;
use crate::args::CompareArgs;
use crate::commands::findings::{Analyzed, style};
use crate::commands::finish::{finish_sentences, finishes};
use crate::commands::joint;
use crate::damage;
use crate::inputs;
use crate::printer::Printer;

/// Compares; ends with "does not hold" where a limit of `--fail-if` is broken.
pub(crate) fn execute(args: &CompareArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let mut paths = inputs::runs_in(&args.runs, printer);
    let baseline = baseline(args.baseline.as_deref(), &mut paths);
    if paths.len() < 2 && args.power_table.is_none() {
        let alone = &paths[0];
        // What cannot be read is told as that.
        Analyzed::read(alone)?;
        bail!(
            "cannot compare {}: it is one run; name two or more runs, or the folder of a sweep",
            alone.display()
        );
    }
    let runs = paths.iter().map(|path| Analyzed::read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let (runs, joint) = joint::together(runs, args.one_drive)?;
    let inputs: Vec<ReportInput> = runs.into_iter().map(|run| run.input).collect();
    if let Some(format) = args.power_table {
        for (path, input) in paths.iter().zip(&inputs) {
            damage::warn(path, &input.findings.caveats, printer);
        }
        return power_table(args, format.into(), &inputs, printer);
    }
    let limits = check(args, &inputs, baseline)?;
    let remarks = remarks(&inputs);
    let comparison = Comparison { runs: &inputs, baseline, joint: &joint, remarks: &remarks };
    if let Some(out) = &args.out {
        write_whole(out, report::compare_html(&comparison).as_bytes())?;
    }
    let mut text = report::compare_terminal(&comparison, &style(printer, None));
    text.push_str(&limits.iter().map(verdict).collect::<String>());
    if let Some(out) = &args.out {
        text.push_str(&format!("\nReport: {}\n", out.display()));
    }
    printer.coloured_data(&text)?;
    Ok(if limits.iter().all(|limit| limit.broken_by.is_empty()) { Exit::Done } else { Exit::DoesNotHold })
}

/// Which run finished first, where it is a race, and what is missing of a run, with the runs called as the comparison calls
/// them.
pub(crate) fn remarks(inputs: &[ReportInput]) -> Vec<String> {
    let letters: Vec<String> = (0..inputs.len()).map(|run| format!("run {}", letter(run))).collect();
    let mut remarks = finish_sentences(&finishes(inputs, &letters));
    for (input, letter) in inputs.iter().zip(&letters) {
        let lost = damage::sentences(&input.findings.caveats);
        remarks.extend(lost.map(|sentence| format!("Caution, {letter}: {sentence}")));
    }
    remarks
}

/// What the comparison calls a run: A to Z, then AA and so on.
fn letter(run: usize) -> String {
    let last = char::from(b'A' + (run % 26) as u8);
    if run < 26 { last.to_string() } else { format!("{}{last}", letter(run / 26 - 1)) }
}

/// The table of power, to stdout or into the file of --out.
fn power_table(
    args: &CompareArgs,
    format: PowerTableFormat,
    inputs: &[ReportInput],
    printer: &mut Printer,
) -> anyhow::Result<Exit> {
    let stated = match &args.stated {
        Some(path) => {
            let text = input::read_to_string(path)
                .with_context(|| format!("cannot read the stated figures {}", path.display()))?;
            let stated: StatedPower =
                text.parse().with_context(|| format!("cannot use the stated figures {}", path.display()))?;
            Some(stated)
        }
        None => None,
    };
    let mut table = PowerTable::new(inputs, stated.as_ref());
    if table.is_empty() {
        bail!(
            "there is no power in these runs: neither a meter nor the drive measured it; run them with --power ADDRESS \
             (`heatsoak meter --help` lists the addresses)"
        );
    }
    args.sort.into_iter().for_each(|sort| table.sort(sort));
    let text = table.write(format, &style(printer, None));
    match &args.out {
        Some(out) => write_whole(out, text.as_bytes())?,
        None => printer.data(&text)?,
    }
    Ok(Exit::Done)
}

/// The baseline's place among the runs; one that is not among them is put first.
fn baseline(named: Option<&Path>, paths: &mut Vec<PathBuf>) -> usize {
    let Some(named) = named else { return 0 };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let wanted = real(named);
    paths.iter().position(|path| real(path) == wanted).unwrap_or_else(|| {
        paths.insert(0, named.to_owned());
        0
    })
}

/// What came of each limit; one that nothing could be held against is a mistake, or a check that passes for nothing.
fn check(args: &CompareArgs, inputs: &[ReportInput], baseline: usize) -> anyhow::Result<Vec<GateResult>> {
    let results = check_limits(inputs, baseline, &args.fail_if);
    if let Some(empty) = results.iter().find(|result| result.checked == 0) {
        bail!(
            "cannot check {:?}: no load of that name has this figure in the baseline and in another run; the table of \
             `heatsoak compare` without --fail-if names the loads",
            empty.limit
        );
    }
    Ok(results)
}

fn verdict(limit: &GateResult) -> String {
    match limit.broken_by.as_slice() {
        [] => format!("\nok: not {}\n", limit.limit),
        broken => format!("\nFAILED: {} holds for {}\n", limit.limit, broken.join("; ")),
    }
}
