//! Whether the reports of the whole corpus agree with themselves: `score agree`.
//!
//! Logs of the corpus are reported as `heatsoak report` would, and each number that stands in more than one place is held
//! against the others (`crates/agree`).

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use report::ReportInput;

use crate::{THREADS, labelled};

/// What was looked at.
#[derive(Debug, Default)]
pub(crate) struct ReportsSeen {
    /// Reports of a run each.
    pub(crate) reports: u64,
    /// Figures that stood in page and comparison.
    pub(crate) compared: usize,
    /// Each disagreement with the number of its run.
    pub(crate) wrong: Vec<(u64, String)>,
}

/// `score agree [--runs N]`: the first N runs of both corpora and both halves, as a table.
///
/// # Errors
/// Where an argument is none of these.
pub(crate) fn run(mut typed: impl Iterator<Item = String>) -> Result<String, String> {
    let mut runs = 1_200;
    while let Some(name) = typed.next() {
        runs = match (name.as_str(), typed.next().and_then(|n| n.parse().ok())) {
            ("--runs", Some(runs)) => runs,
            _ => return Err("known is --runs N".to_owned()),
        };
    }
    let mut text = String::new();
    for (name, foreign) in [("own", false), ("foreign", true)] {
        let seen = look(foreign, runs);
        text += &format!(
            "{name}: {} reports, {} figures compared, {} disagreements\n",
            seen.reports,
            seen.compared,
            seen.wrong.len()
        );
        for (number, wrong) in seen.wrong.iter().take(40) {
            text += &format!("  run {number}: {wrong}\n");
        }
    }
    Ok(text)
}

/// Reports of runs 0 to `runs` of a corpus.
pub(crate) fn look(foreign: bool, runs: u64) -> ReportsSeen {
    let (next, seen) = (AtomicU64::new(0), Mutex::new(ReportsSeen::default()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= runs {
                        return;
                    }
                    let run = labelled(foreign, number);
                    let findings = analysis::analyze(&run.trace);
                    let agreement = agree::check(&ReportInput::from_trace(run.trace, findings));
                    let mut seen = seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    seen.reports += 1;
                    seen.compared += agreement.compared;
                    seen.wrong.extend(agreement.wrong.into_iter().map(|wrong| (number, wrong)));
                }
            });
        }
    });
    let mut seen = seen.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    seen.wrong.sort();
    seen
}
