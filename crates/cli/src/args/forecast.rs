//! `heatsoak fit`, `predict` and `recommend`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use measure::{BytesPerSec, Celsius, Kelvin, parse};

/// What stands below the help of `fit`.
pub(crate) const AFTER_FIT_HELP: &str = "\
An input is a run folder, or a log of another tool with speeds and temperatures (`heatsoak analyze
--help` lists them). All inputs are runs of one drive: other settings, air or loads show more.
The folder of a sweep stands for its runs.
The profile written with --out is a twin: `twin:drive.toml`, `heatsoak vssd --profile drive.toml`,
`heatsoak predict drive.toml`. What the runs cannot tell is left open, with the command that would
tell it. Intervals hold 90 %.

The runs that tell most: `heatsoak run thermal-id --drive DRIVE --tmt1 60C`, 30 minutes, or
thermal-id-quick, 10. A drive that is not simulated also needs `--slc 64GiB`, the size of its
SLC cache.

Examples:
  heatsoak fit runs/first -o drive.toml --ambient 24C
  heatsoak fit runs/default runs/tmt65 -o drive.toml
  heatsoak fit runs/still runs/fan --airflow 1,2 -o drive.toml
  heatsoak fit --join fio_bw.1.log smart.csv --json";

/// What stands below the help of `predict`.
pub(crate) const AFTER_PREDICT_HELP: &str = "\
DRIVE is a profile written by `heatsoak fit`; run folders and logs are fitted first. PLAN is a
built-in plan, a TOML file or a fio job file; without one hctm-read. Everything not said stays as it
was in the fitted runs: TMT1 and TMT2 as in the last, the lowest power state of all. Values are
followed by their 90 % intervals; `beyond` marks what lies outside of what the runs showed.

Several values with commas between them, for one option or two, are a sweep: a table of all cells.
--out draws it: the course with its 90 % band, or the maps of a sweep.

Examples:
  heatsoak predict drive.toml --tmt1 65C --tmt2 70C
  heatsoak predict drive.toml job.fio --ambient 40C
  heatsoak predict runs/first hctm-write --rate 1.2GB/s --json
  heatsoak predict drive.toml -o summer.html --ambient 35C
  heatsoak predict drive.toml --ambient 20C,30C,40C --airflow 1,2,4 -o map.svg";

/// What stands below the help of `recommend`.
pub(crate) const AFTER_RECOMMEND_HELP: &str = "\
Tries settings of TMT1 and TMT2, and rates, on every drive that the fitted runs allow. All of the
90 % interval of a temperature must lie below its limit, and a speed holds for nine of ten drives.
Choices are compared with the settings that the drive has outside of the runs, which are named. Each
comes with the command that makes it and the one that undoes it; nothing is changed here.

Examples:
  heatsoak recommend drive.toml --goal fastest --below 70C
  heatsoak recommend runs/first hctm-write --goal steadiest --at-least 1GB/s";

/// `heatsoak fit`.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Run folders, or logs of other tools, of one drive
    #[arg(value_name = "RUN_OR_LOG", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Take all inputs for logs of one run
    #[arg(long)]
    pub(crate) join: bool,
    /// Write the profile here; - is stdout
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Temperature of the air around the drive during the runs, such as 24C
    #[arg(long, value_name = "TEMP", value_parser = parse::celsius, allow_hyphen_values = true)]
    pub(crate) ambient: Option<Celsius>,
    /// Airflow of each input over that of the first, such as 1,2: how much of the resistance is air
    #[arg(long, value_name = "FACTORS", value_parser = positive, value_delimiter = ',')]
    pub(crate) airflow: Vec<f64>,
    /// Write the check of the fit here, measured beside simulated, as a page
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a forecast is for.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// A fitted profile, or run folders and logs of one drive; a PLAN may stand last
    #[arg(value_name = "DRIVE.toml|RUN [PLAN]", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Temperature of the air, such as 40C
    #[arg(long, value_name = "TEMP", value_parser = parse::celsius, allow_hyphen_values = true, value_delimiter = ',')]
    pub(crate) ambient: Vec<Celsius>,
    /// A heatsink of this resistance to the air, in K/W; needs a fit with power
    #[arg(long, value_name = "K/W", value_parser = positive, value_delimiter = ',')]
    pub(crate) heatsink: Vec<f64>,
    /// Airflow over that of the fitted runs, such as 2
    #[arg(long, value_name = "FACTOR", value_parser = positive, value_delimiter = ',')]
    pub(crate) airflow: Vec<f64>,
    /// Power state
    #[arg(long, value_name = "N", value_parser = super::whole::<u8>(0, 31), value_delimiter = ',')]
    pub(crate) power_state: Vec<u8>,
    /// How full the drive is, such as 80 (percent)
    #[arg(long, value_name = "PERCENT", value_parser = super::whole::<u8>(0, 100))]
    pub(crate) fill: Option<u8>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `heatsoak predict`.
#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Light throttling from this temperature on (TMT1), such as 65C, or off
    #[arg(long, value_name = "TEMP", value_parser = super::threshold, allow_hyphen_values = true, value_delimiter = ',')]
    pub(crate) tmt1: Vec<Kelvin>,
    /// Heavy throttling from this temperature on (TMT2), such as 70C, or off
    #[arg(long, value_name = "TEMP", value_parser = super::threshold, allow_hyphen_values = true, value_delimiter = ',')]
    pub(crate) tmt2: Vec<Kelvin>,
    /// Limit every load to this rate, such as 1.2GB/s
    #[arg(long, value_name = "RATE", value_parser = parse::rate, value_delimiter = ',')]
    pub(crate) rate: Vec<BytesPerSec>,
    /// Write the chart here, or the map of a sweep: .html, .svg or .png
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
}

/// `heatsoak recommend`.
#[derive(Debug, Args)]
pub(crate) struct RecommendArgs {
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// What is wanted
    #[arg(long, value_name = "GOAL")]
    pub(crate) goal: GoalArg,
    /// No reading of the temperature as high as this, such as 70C; as with `govern`
    #[arg(long, value_name = "TEMP", value_parser = parse::drive_celsius, allow_hyphen_values = true)]
    pub(crate) below: Option<Celsius>,
    /// Never slower than this on average, such as 1GB/s
    #[arg(long, value_name = "RATE", value_parser = parse::rate)]
    pub(crate) at_least: Option<BytesPerSec>,
}

/// What is wanted.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GoalArg {
    /// Most data in the time
    Fastest,
    /// Least swing of the speed
    Steadiest,
    /// Lowest peak temperature
    Coolest,
    /// Least energy for each byte; needs a fit with power
    LeastEnergy,
}

/// A number over zero.
fn positive(typed: &str) -> Result<f64, String> {
    match typed.parse::<f64>() {
        Ok(value) if (0.01..=1000.0).contains(&value) => Ok(value),
        _ => Err(format!("{typed:?} is not a number from 0.01 to 1000")),
    }
}
