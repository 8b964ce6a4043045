//! What may be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Which drives of a fleet lose speed to heat, since when, and what to change.
///
/// Reads rows of SMART counters, temperatures and throughput of many drives: Parquet, CSV and Arrow files, in known
/// schemas or by a map.toml. Exit 0: done; 1: done, and files were refused; 2: not done.
#[derive(Debug, Parser)]
#[command(name = "heatsoak fleet", version, max_term_width = 100, bin_name = "heatsoak fleet")]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) command: FleetCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Say what is in the files: schema, how often rows come, what is refused. Reads footers and a sample
    Check(CheckArgs),
    /// Judge every drive, every slot and every host; write tables and a report
    Scan(ScanArgs),
    /// Take one drive's rows out and analyze them as a run's log
    Drive(DriveArgs),
    /// Make a synthetic fleet with known truth
    Gen(GenArgs),
    /// Put states of parts of a fleet together: those of `scan --states`, or of heatsoak.fleet in Python
    Merge(MergeArgs),
    /// Ask the rows in SQL: they are the table `rows`, with the function thermal_state
    Sql(SqlArgs),
}

/// Where rows are, and how they are read.
#[derive(Args, Debug)]
pub(crate) struct RowArgs {
    /// Files, folders or patterns (`rows/**/*.parquet`)
    #[arg(required = true, value_name = "SRC")]
    pub(crate) sources: Vec<String>,

    /// Which column is what, with units, where the schema is not known by itself
    #[arg(long, value_name = "FILE")]
    pub(crate) map: Option<PathBuf>,

    /// How often rows of one drive come, as in 60s; found from a sample otherwise
    #[arg(long, value_name = "TIME")]
    pub(crate) cadence: Option<String>,

    /// Memory for what grows with drives, and for sorting; beyond it the engine spills to disk
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size)]
    pub(crate) memory: usize,

    /// Threads; as many as processors otherwise
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
}

/// `fleet check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) rows: RowArgs,

    /// One JSON document on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fleet scan`.
#[derive(Args, Debug)]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    pub(crate) rows: RowArgs,

    #[command(flatten)]
    pub(crate) result: ResultArgs,

    /// Write the states of the drives there, for `merge`, and no verdicts: this is a part of a fleet
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "since", "json"])]
    pub(crate) states: Option<PathBuf>,

    /// A Ballista cluster that does the scan, as df://HOST:PORT; it must see the files under the same paths
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) cluster: Option<String>,
}

/// What comes out.
#[derive(Args, Debug)]
pub(crate) struct ResultArgs {
    /// Folder for drives.parquet, cells.parquet, thresholds.parquet, refused.parquet, findings.json and report.html
    #[arg(long, value_name = "DIR", required_unless_present = "states")]
    pub(crate) out: Option<PathBuf>,

    /// The folder of an earlier scan: the report then says what changed
    #[arg(long, value_name = "DIR")]
    pub(crate) since: Option<PathBuf>,

    /// findings.json on stdout instead of a summary
    #[arg(long)]
    pub(crate) json: bool,
}

/// `fleet merge`.
#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// Parquet files or folders with states
    #[arg(required = true, value_name = "STATES")]
    pub(crate) states: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) result: ResultArgs,

    /// Memory for what grows with drives; beyond it the engine spills to disk
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size)]
    pub(crate) memory: usize,
}

/// `fleet drive`.
#[derive(Args, Debug)]
pub(crate) struct DriveArgs {
    /// Serial number
    pub(crate) serial: String,

    #[command(flatten)]
    pub(crate) rows: RowArgs,

    /// Write the drive's rows there, as the plain CSV that `heatsoak analyze` reads
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// `fleet sql`.
#[derive(Args, Debug)]
pub(crate) struct SqlArgs {
    /// The query, as in "SELECT serial, max(temp_mc) FROM rows GROUP BY serial"
    pub(crate) query: String,

    #[command(flatten)]
    pub(crate) rows: RowArgs,
}

/// `fleet gen`.
#[derive(Args, Debug)]
pub(crate) struct GenArgs {
    /// Folder for rows/, truth.csv and places.json
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Places for drives; 24 are a host
    #[arg(long, value_name = "N", default_value_t = 2400)]
    pub(crate) drives: u64,

    /// From row to row of a drive
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) every: String,

    /// How long rows are taken
    #[arg(long, value_name = "TIME", default_value = "1d")]
    pub(crate) span: String,

    /// How rows are spread over files: by drive, or a span of time a file
    #[arg(long, default_value = "drive")]
    pub(crate) order: GenOrder,

    /// How many files
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) files: u64,

    /// Of which format
    #[arg(long, default_value = "parquet")]
    pub(crate) format: GenFormat,

    /// Share of drives with a bad thermal pad
    #[arg(long, value_name = "SHARE", default_value_t = 0.02)]
    pub(crate) hot: f64,

    /// A fleet in which nothing gets hot
    #[arg(long)]
    pub(crate) cool: bool,

    /// The same seed makes the same rows
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// How rows are spread over files.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GenOrder {
    Drive,
    Time,
}

/// Format of made rows.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GenFormat {
    Parquet,
    Csv,
}

/// "2GiB", "512MB" in bytes.
fn size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor: usize = match &text[digits.len()..] {
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return Err("write a size as 2GiB or 512MB".into()),
    };
    let number: usize = digits.trim().parse().map_err(|_| "write a size as 2GiB or 512MB".to_owned())?;
    number
        .checked_mul(factor)
        .filter(|size| *size >= 16 << 20)
        .ok_or_else(|| "at least 16MiB is needed".into())
}
