//! Verdicts and caveats on parts of the corpus, in every test run; `cargo xtask score` has all of it.

mod clocks;
mod instruments;
mod reports;
mod verdicts;
