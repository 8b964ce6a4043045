//! `fleet scan` and `fleet merge`: rows or states to tables and a report.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use datafusion::arrow::array::AsArray as _;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use fleet_state::{IntervalRules, RowCadence, verdict};

use super::{OpenedRows, caveats, exit, limits, nothing, say};
use crate::args::{MergeArgs, ResultArgs, ScanArgs};
use crate::engine::{self, FleetRows};
use crate::outcome::{self, FleetOutcome, ScanFacts};
use crate::scan::{self, Scanned};
use crate::source::RefusedFile;
use crate::{cadence, cells, places, report, since, tables};

/// `fleet scan`. The states of drives come from the cluster where there is one; all else is done here.
pub(crate) async fn scan(arguments: &ScanArgs, cluster: Option<&SessionContext>) -> Result<ExitCode> {
    let OpenedRows { context, found, map, stated_cadence_ms, memory } =
        OpenedRows::of(&arguments.rows).await?;
    let left_out = found.left_out.len();
    let rules = async |rows: &FleetRows| {
        let cadence_ms = cadence::cadence_ms(rows, stated_cadence_ms, memory).await?;
        Ok(IntervalRules { cadence_ms })
    };
    let (rows, rules, states) = scan::states(&context, cluster, found, map.as_ref(), rules).await?;
    if rows.groups.is_empty() {
        return Err(nothing(&rows));
    }
    let simulated = rows.simulated() > 0;
    if let Some(path) = &arguments.states {
        tables::states(path, &states, rules.cadence_ms, simulated)?;
        say(&format!("States of {} drives: {}", states.len(), path.display()))?;
        return Ok(exit(&rows));
    }
    let scanned = scan::finish(&context, &rows, rules, states).await?;
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
    write(&arguments.result, facts, scanned, &rows.refused)?;
    Ok(exit(&rows))
}

/// `fleet merge`.
pub(crate) async fn merge(arguments: &MergeArgs) -> Result<ExitCode> {
    let context = engine::session(limits(arguments.memory, None)?)?;
    let paths: Vec<String> = arguments.states.iter().map(|path| path.display().to_string()).collect();
    let table = context
        .read_parquet(
            paths.clone(),
            ParquetReadOptions { file_extension: "", ..ParquetReadOptions::default() },
        )
        .await
        .with_context(|| format!("cannot read the states {}", paths.join(", ")))?;
    context.register_table("fleet_states", table.into_view())?;
    let (cadence_ms, simulated) = states_facts(&context)
        .await
        .with_context(|| format!("{} holds no states of heatsoak fleet", paths.join(", ")))?;
    let states = scan::states_of(
        &context,
        "SELECT arrow_cast(serial, 'Utf8View') AS serial, arrow_cast(state, 'LargeBinary') AS state FROM fleet_states WHERE state IS NOT NULL",
    )
    .await?;
    let rules = IntervalRules { cadence_ms };
    let scanned = states.finish_without_rows(&rules)?;
    let mut caveats = Vec::new();
    if simulated {
        caveats.push("the states are of simulated rows".into());
    }
    if !scanned.unsorted.is_empty() {
        caveats.push(format!(
            "{} drives are not known: their rows overlap in time, and merge cannot read them again; scan the files of all parts in one `heatsoak fleet scan`",
            scanned.unsorted.len()
        ));
    }
    let facts = ScanFacts {
        simulated,
        files: paths.len(),
        files_refused: 0,
        files_left_out: 0,
        schemas: vec!["states of heatsoak fleet".into()],
        caveats,
        cadence_ms,
        nameless_rows: scanned.nameless_rows,
        untimed_rows: scanned.untimed_rows,
        drives_sorted: 0,
    };
    write(&arguments.result, facts, scanned, &[])?;
    Ok(ExitCode::SUCCESS)
}

/// How often rows came, which must be one for all, and whether some are simulated.
async fn states_facts(context: &SessionContext) -> Result<(i64, bool)> {
    let sql =
        "SELECT cadence_ms, bool_or(simulated) FROM fleet_states GROUP BY cadence_ms ORDER BY cadence_ms";
    let mut facts = Vec::new();
    for batch in context.sql(sql).await?.collect().await? {
        let cadences = batch.column(0).as_primitive_opt::<Int64Type>().context("cadence_ms is a number")?;
        let simulated = batch.column(1).as_boolean_opt().context("simulated is true or false")?;
        facts.extend((0..batch.num_rows()).map(|row| (cadences.value(row), simulated.value(row))));
    }
    match facts[..] {
        [] => bail!("there is no row in it"),
        [(cadence_ms, simulated)] if cadence_ms > 0 => Ok((cadence_ms, simulated)),
        [(cadence_ms, _), ..] => {
            let other = facts.last().map_or(cadence_ms, |(other, _)| *other);
            bail!(
                "its states are of rows every {cadence_ms} ms and every {other} ms: what is a gap follows from it; scan all parts with one --cadence"
            )
        }
    }
}

/// Verdicts, tables and the report of all drives.
fn write(result: &ResultArgs, facts: ScanFacts, scanned: Scanned, refused: &[RefusedFile]) -> Result<()> {
    if scanned.drives.is_empty() && scanned.unsorted.is_empty() {
        bail!("there is no row with a serial number and a time");
    }
    let Some(out) = &result.out else { bail!("--out is needed") };
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let simulated = facts.simulated;
    let mut findings = verdict::judge(scanned.drives, RowCadence::of(facts.cadence_ms));
    if !scanned.unsorted.is_empty() {
        findings.extend(scanned.unsorted);
        findings.sort_by(|one, other| one.serial.cmp(&other.serial));
    }
    let (odd, effects) = places::judge(&findings);
    let cell_rows = cells::cells(&findings, &effects);
    let threshold_rows = cells::thresholds(&findings);
    let trend = result.since.as_deref().map(|before| since::compare(before, &findings)).transpose()?;
    let outcome = outcome::sum_up(facts, &findings, &odd, &cell_rows, &threshold_rows, trend);
    tables::drives(out, &findings, simulated)?;
    tables::cells(out, &cell_rows, simulated)?;
    tables::thresholds(out, &threshold_rows, simulated)?;
    tables::refused(out, refused, simulated)?;
    let json = serde_json::to_string_pretty(&outcome)? + "\n";
    whole(&out.join("findings.json"), &json)?;
    whole(&out.join("report.html"), &report::html(&outcome, &cell_rows, &threshold_rows, refused))?;
    if result.json { say(&json) } else { say(&summary(&outcome, out)) }
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

fn summary(outcome: &FleetOutcome, out: &Path) -> String {
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
