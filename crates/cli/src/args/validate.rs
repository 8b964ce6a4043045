//! `heatsoak validate`.

use clap::Args;

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
Every row is a statement of a publication about one run on a real drive. Its bounds were fixed
before the run and stand in the table with their reason. \"set\" rows were used to set a parameter of
the simulated drive; \"predicted\" rows were not, and only those are evidence. docs/VALIDATION.md
explains each row that does not hold.

Exit codes: 0 when all rows hold, 1 when one does not.

Examples:
  heatsoak validate
  heatsoak validate --json | jq '.rows[] | select(.holds | not) | .id'";

/// `heatsoak validate`.
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Print one JSON document: {"rows": [{"id", "stated", "reproduced", "tolerance", "holds", ...}]}
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on stderr
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
