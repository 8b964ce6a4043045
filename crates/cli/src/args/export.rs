//! `heatsoak export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use clap_complete::engine::ArgValueCompleter;

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
Formats:
  fio-bw-log, fio-iops-log, fio-lat-log
              logs as fio writes them with log_avg_msec, in a folder for each phase, named so that
              fio-plot and fio2gnuplot find them; fio-lat-log is latency, clat and slat
  csv         one table over time: speeds, temperatures, counters, power, phase; `heatsoak analyze`
              reads it back
  prometheus  OpenMetrics text with timestamps, for `promtool tsdb create-blocks-from openmetrics`

The tables themselves are Parquet, which polars, pandas and DuckDB read as they are: docs/DATA.md.

Examples:
  heatsoak export runs/NAME --format csv --out - | head
  heatsoak export runs/NAME --format fio-bw-log,fio-lat-log --out plot
  fio-plot -i plot/2-read -T NAME -g -r read -t bw -d 64 -n 1";

/// `heatsoak export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A run folder, finished or cut short
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(super::complete::runs))]
    pub(crate) run: PathBuf,
    /// What to write; several with commas between them
    #[arg(long, value_name = "FORMAT", required = true, value_delimiter = ',')]
    pub(crate) format: Vec<ExportFormat>,
    /// Where to write it [default: RUN/export]; - is stdout, for csv or prometheus alone
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
}

/// A format of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// fio's log of bandwidth
    FioBwLog,
    /// fio's log of I/Os per second
    FioIopsLog,
    /// fio's logs of latencies
    FioLatLog,
    /// One table over time
    Csv,
    /// OpenMetrics text
    Prometheus,
}
