//! Verdicts and caveats on parts of the corpus, in every test run; `cargo xtask score` has all of it.

mod clocks;
mod instruments;
mod reports;
mod verdicts;

use std::sync::LazyLock;

use analysis::Findings;

use crate::corpus::{self, Labelled};
use crate::on_all_cores;

/// The first runs of the half that may be tuned on and what is found in them: made once, for all tests.
static FIRST: LazyLock<Vec<(Labelled, Findings)>> = LazyLock::new(|| {
    on_all_cores(200, |n| {
        let run = corpus::labelled(2 * n as u64);
        let findings = analysis::analyze(&run.trace);
        (run, findings)
    })
});
