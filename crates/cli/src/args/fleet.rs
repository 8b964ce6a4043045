//! `heatsoak fleet`: what is handed on to `heatsoak-fleet`, word by word.

use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use measure::parse;

pub(super) const AFTER_HELP: &str = "\
Rows of SMART counters, temperatures and throughput, a row per drive and time, in Parquet, CSV or
Arrow files: heatsoak's own, Backblaze Drive Stats, Alibaba, telegraf, exporters of Prometheus, or
any other by a map.toml. docs/FLEET.md has the schemas, the map and what may be concluded.

  check SRC                        schema, how often rows come, files refused
  scan SRC... --out DIR            drives, cells, thresholds, refused files, and a report
  drive SERIAL SRC...              one drive's rows through `heatsoak analyze --explain`
  gen --out DIR                    a synthetic fleet with known truth
  sql QUERY SRC...                 the rows in SQL
  merge STATES... --out DIR        states of other machines or engines to the tables of a scan

  partial --every TIME             rows on stdin to states on stdout, as Arrow streams
  finish                           states to the table of drives; Python's heatsoak.fleet calls both

This is a program of its own, heatsoak-fleet, because its engine (Apache DataFusion) is larger than
all of heatsoak. It is looked for beside heatsoak and in PATH.

Examples:
  heatsoak fleet gen --out fleet --drives 2400
  heatsoak fleet scan fleet/rows --out fleet/scan
  heatsoak fleet scan --help";

/// `heatsoak fleet`.
#[derive(Debug, Args)]
pub(crate) struct FleetArgs {
    /// check, scan, drive, gen, sql or merge, and what they take
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Arrow streams on stdin and stdout: `heatsoak`'s own, without the engine.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetStream {
    /// Rows to one state a drive
    Partial {
        /// How often rows of one drive come
        #[arg(long, value_name = "TIME", value_parser = parse::duration)]
        every: Duration,
        /// The rows are simulated, and what is made of them says so
        #[arg(long)]
        simulated: bool,
    },
    /// States to the table of drives
    Finish,
}

impl fmt::Display for FleetStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Partial { .. } => "partial",
            Self::Finish => "finish",
        })
    }
}

#[derive(Debug, Parser)]
#[command(name = "heatsoak fleet", bin_name = "heatsoak fleet", disable_help_subcommand = true)]
struct FleetStreamLine {
    #[command(subcommand)]
    stream: FleetStream,
}

impl FleetArgs {
    /// A command that is `heatsoak`'s own; none where `heatsoak-fleet` is to have it.
    pub(crate) fn stream(&self) -> Option<Result<FleetStream, clap::Error>> {
        let own = self.command.first().is_some_and(|first| first == "partial" || first == "finish");
        let line = std::iter::once(&OsString::from("heatsoak fleet"))
            .chain(&self.command)
            .cloned()
            .collect::<Vec<_>>();
        own.then(|| FleetStreamLine::try_parse_from(line).map(|line| line.stream))
    }
}
