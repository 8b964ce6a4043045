//! `heatsoak fleet`: what is handed on to `heatsoak-fleet`, word by word.

use std::ffi::OsString;

use clap::Args;

pub(super) const AFTER_HELP: &str = "\
Rows of SMART counters, temperatures and throughput, a row per drive and time, in Parquet, CSV or
Arrow files: heatsoak's own, Backblaze Drive Stats, Alibaba, telegraf, exporters of Prometheus, or
any other by a map.toml. docs/FLEET.md has the schemas, the map and what may be concluded.

  check SRC                        schema, how often rows come, files refused
  scan SRC... --out DIR            drives, cells, thresholds, refused files, and a report
  drive SERIAL SRC...              one drive's rows through `heatsoak analyze --explain`
  gen --out DIR                    a synthetic fleet with known truth
  sql QUERY SRC...                 the rows in SQL

This is a program of its own, heatsoak-fleet, because its engine (Apache DataFusion) is larger than
all of heatsoak. It is looked for beside heatsoak and in PATH.

Examples:
  heatsoak fleet gen --out fleet --drives 2400
  heatsoak fleet scan fleet/rows --out fleet/scan
  heatsoak fleet scan --help";

/// `heatsoak fleet`.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    /// check, scan, drive, gen or sql, and what they take
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}
