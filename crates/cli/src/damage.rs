//! What is missing from a run folder or damaged in it, said alike by every command that takes one.
//!
//! What was lost is found where records are read ([`measure::record`]) and worded where caveats are
//! ([`analysis::wording`]); here it reaches those who show no caveats of findings.

use std::path::Path;

use analysis::findings::Caveat;
use analysis::wording;
use anyhow::bail;
use measure::record::LostPart;
use trace::caveat::Damage;

use crate::printer::Printer;

/// The table without which no speed is known.
const SPEEDS: &str = "io.parquet";

/// Says on stderr what of `caveats` is damage of the run in `source`.
pub(crate) fn warn(source: &Path, caveats: &[Caveat], printer: &mut Printer) {
    for sentence in sentences(caveats) {
        printer.warning(&format!("{}: {sentence}", source.display()));
    }
}

/// The same of a record that is not analyzed.
pub(crate) fn warn_of(source: &Path, lost: &[LostPart], printer: &mut Printer) {
    let caveats: Vec<Caveat> = lost.iter().map(Caveat::from).collect();
    warn(source, &caveats, printer);
}

/// What of `caveats` is damage, a sentence each.
pub(crate) fn sentences(caveats: &[Caveat]) -> impl Iterator<Item = String> {
    caveats.iter().filter(|caveat| matches!(caveat, Caveat::Damaged(_))).map(wording::caveat)
}

/// What is lost in a few words, for a list; empty where nothing is.
pub(crate) fn in_brief(lost: &[LostPart]) -> String {
    let part = |part: &LostPart| match part {
        LostPart::Table { file } => format!("{file} missing; "),
        LostPart::Rest { file, .. } => format!("{file} damaged; "),
        LostPart::Manifest => "manifest edited or damaged; ".to_owned(),
    };
    lost.iter().map(part).collect()
}

/// Refuses to fit a run whose speeds are gone: a drive that was not loaded and one that nobody knows the load of look alike.
///
/// # Errors
/// When they are.
pub(crate) fn refuse_without_speeds(source: &Path, caveats: &[Caveat]) -> anyhow::Result<()> {
    let is_lost =
        |caveat: &Caveat| matches!(caveat, Caveat::Damaged(Damage::Table { file }) if file == SPEEDS);
    if caveats.iter().any(is_lost) {
        bail!(
            "cannot fit {}: {SPEEDS} is missing from the run folder of a finished run, so its speeds are not known; restore \
             the file from a copy, or leave this run out",
            source.display()
        );
    }
    Ok(())
}
