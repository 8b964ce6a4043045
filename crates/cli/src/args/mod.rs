//! The command line: exactly what may be typed, one definition a flag.
//!
//! Help, man page, completions and the reference in `docs/cli` are made from it. Nothing here looks at the
//! system; names are resolved where they are used. Only commands that exist are listed.

mod analyze;
mod complete;
mod device;
mod export;
mod fleet;
mod forecast;
mod govern;
mod inspect;
mod power;
mod remote;
mod serve;
mod settings;
mod trim;
mod validate;
mod vssd;
mod watch;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::ArgValueCompleter;
use measure::{Bytes, Celsius, Kelvin, parse};
use plan::Sweep;

pub(crate) use analyze::AnalyzeArgs;
pub(crate) use device::DeviceArgs;
pub(crate) use export::{ExportArgs, ExportFormat};
pub(crate) use fleet::{FleetArgs, FleetStream};
pub(crate) use forecast::{FitArgs, GoalArg, PlaceArgs, PredictArgs, RecommendArgs};
pub(crate) use govern::GovernArgs;
pub(crate) use inspect::InspectArgs;
pub(crate) use power::{MeterArgs, PowerArgs};
pub(crate) use remote::{FetchArgs, LinkLostArg, OnArgs, RemoteArgs};
pub(crate) use serve::ServeArgs;
pub(crate) use settings::{HctmArgs, PowerStateArgs, RestoreArgs, TempThresholdArgs};
pub(crate) use trim::TrimArgs;
pub(crate) use validate::ValidateArgs;
pub(crate) use vssd::VssdArgs;
pub(crate) use watch::{ExporterArgs, MetricsArgs, ReadingArgs, WatchArgs};

/// The plan of `heatsoak run` without a PLAN.
pub(crate) const DEFAULT_PLAN: &str = "hctm-read";

/// The drive of `heatsoak run` where neither the command line nor the plan names one.
pub(crate) const DEFAULT_DRIVE: &str = "twin:ssd1";

/// The hidden command's name.
const GENERATE: &str = "generate";

const AFTER_HELP: &str = "\
Drives:
  twin:ssd1, twin:PROFILE.toml   a simulated drive, in virtual time (see `heatsoak profiles`)
  /dev/nvme0n1, /dev/sda         a real drive; reads, and writes with --destroy SERIAL
  file:PATH?size=4GiB            a file on a file system, made if it is not there
  nvme-tcp://HOST:PORT/NQN       a subsystem over NVMe/TCP, such as a virtual SSD (`heatsoak vssd`);
                                 ?dhchap-secret-file=FILE behind it and the like: docs/VSSD.md
  null:                          completes at once: the tool's own floor
  `heatsoak list` shows the drives of this machine. With --on HOST any of these is HOST's.

Exit codes:
  0  done
  1  done, and something you asked to be checked did not hold
  2  not done: usage, refused, or the device failed
  3  stopped early by the thermal limit or by Ctrl-C; what was measured is kept

Examples:
  heatsoak run                                   ten minutes of a simulated drive, in a second
  heatsoak run quick --drive /dev/nvme0n1        reads only, 60 s, safe on a drive in use
  heatsoak run job.fio --drive 'file:/var/tmp/t.bin?size=4GiB'
  heatsoak analyze runs/* log.csv                throttling, cause and evidence of each";

const AFTER_RUN_HELP: &str = "\
PLAN is the name of a built-in plan (`heatsoak plans`), a TOML file, or a fio job file.

The run folder holds manifest.json, io.parquet, telemetry.parquet, smart.parquet, findings.json
and report.html. While the run is under way the series are Arrow streams: a run that was killed is
readable up to its last second.

A sweep (a plan with a [sweep] table, or --sweep) makes one run folder a setting inside DIR, brings
the drive back in between, and ends with compare.html: all settings in one chart and one table.

Ctrl-C ends the phase and with it the run cleanly; a second one ends it at once. Both keep what
was measured, and exit with 3.

Examples:
  heatsoak run                                     plan hctm-read on twin:ssd1
  heatsoak run hctm-read --tmt1 70C --tmt2 80C     the same with host controlled thermal management
  heatsoak run hctm-sweep --drive twin:ssd2        four settings, then all in one chart
  heatsoak run quick --drive /dev/nvme0n1 --json   the findings as JSON
  heatsoak run my-plan.toml --drive 'file:/var/tmp/t.bin?size=4GiB' --out runs/first
  heatsoak run full-span --drive /dev/nvme0n1 --destroy S4EWNX0R --tbw 600TB
                                                   erases the drive of that serial number";

const AFTER_COMPARE_HELP: &str = "\
The folder of a sweep stands for its runs. Runs go by letters; figures are per phase and operation,
and never averaged over several. Differences are of the mean speed, with the 95 % interval by the
noise within the runs.

--fail-if takes the name of a phase or an operation, a metric, and a limit in percent of the
baseline: mean, full_speed, throttled, time_throttled, iops, p50, p99, p999, max (latencies), power.

Examples:
  heatsoak compare runs/sweep --out compare.html
  heatsoak compare runs/fw1 runs/fw2 --baseline runs/fw1 --fail-if \"write.mean < -5%\"";

/// Measures how an SSD throttles when it gets hot.
///
/// heatsoak loads a drive and records speed, latency, temperature, power and the drive's throttle counters on
/// one clock. It reports when the drive throttled, the cause, the evidence for it and its confidence. Without
/// hardware it runs on a simulated drive.
#[derive(Debug, Parser)]
#[command(name = "heatsoak", version, arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_long_help = AFTER_HELP, max_term_width = 110)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Run an experiment; leaves a run folder with a report in it
    #[command(after_long_help = AFTER_RUN_HELP)]
    Run(RunArgs),
    /// Analyze run folders or logs of other tools: throttling, its cause and evidence
    #[command(after_long_help = analyze::AFTER_HELP)]
    Analyze(AnalyzeArgs),
    /// Write the report of a run or a log again: page, picture or chart
    Report(ReportArgs),
    /// Compare runs load by load
    #[command(after_long_help = AFTER_COMPARE_HELP)]
    Compare(CompareArgs),
    /// Write a run in other tools' formats: fio's logs, CSV, Prometheus
    #[command(after_long_help = export::AFTER_HELP)]
    Export(ExportArgs),
    /// Fit a twin to runs of a drive: a profile with intervals, and what the runs leave open
    #[command(after_long_help = forecast::AFTER_FIT_HELP)]
    Fit(FitArgs),
    /// Predict what a fitted drive would do at other settings, in other air, under another load
    #[command(after_long_help = forecast::AFTER_PREDICT_HELP)]
    Predict(PredictArgs),
    /// Say what to set on a fitted drive, and what it brings
    #[command(after_long_help = forecast::AFTER_RECOMMEND_HELP)]
    Recommend(RecommendArgs),
    /// List the runs in a folder and write its index.html
    Runs(RunsArgs),
    /// Find the drives of a fleet that throttle, from rows of many drives' counters
    #[command(after_long_help = fleet::AFTER_HELP)]
    Fleet(FleetArgs),
    /// Serve the runs in a folder to a browser: reports, comparisons, live pages
    #[command(after_long_help = serve::AFTER_HELP)]
    Serve(ServeArgs),
    /// Reproduce the published experiments on simulated drives, row by row
    #[command(after_long_help = validate::AFTER_HELP)]
    Validate(ValidateArgs),
    /// Serve a simulated SSD over NVMe/TCP, for an unmodified Linux host
    #[command(after_long_help = vssd::AFTER_HELP)]
    Vssd(VssdArgs),
    /// Watch drives under the load of others: speed, temperature, throttling, as a screen or lines
    #[command(after_long_help = watch::AFTER_WATCH_HELP)]
    Watch(WatchArgs),
    /// Keep a drive below a temperature by shaping the load on it
    #[command(after_long_help = govern::AFTER_HELP)]
    Govern(GovernArgs),
    /// Serve metrics of drives for Prometheus
    #[command(after_long_help = watch::AFTER_EXPORTER_HELP)]
    Exporter(ExporterArgs),
    /// Bring the record of a run that was made on another machine
    #[command(after_long_help = remote::AFTER_FETCH_HELP)]
    Fetch(FetchArgs),
    /// Serve --on of another machine; ssh starts it
    #[command(after_long_help = remote::AFTER_REMOTE_HELP)]
    Remote(RemoteArgs),
    /// List the drives of this machine and their addresses
    List(ListArgs),
    /// Show what a drive reports about temperature, power and speed
    #[command(after_long_help = inspect::AFTER_HELP)]
    Inspect(InspectArgs),
    /// Try a power meter: what it shows, how often, how exactly, and what that is good for
    #[command(after_long_help = power::AFTER_METER_HELP)]
    Meter(MeterArgs),
    /// Show or change the host thresholds for throttling (TMT1, TMT2)
    #[command(after_long_help = settings::AFTER_HCTM_HELP)]
    Hctm(HctmArgs),
    /// Show the power states of a drive, or change the current one
    PowerState(PowerStateArgs),
    /// Show or change the temperature thresholds for warnings
    #[command(after_long_help = settings::AFTER_THRESHOLD_HELP)]
    TempThreshold(TempThresholdArgs),
    /// Tell whether TRIM reaches the flash, check that it is harmless, switch it on
    #[command(after_long_help = trim::AFTER_HELP)]
    Trim(TrimArgs),
    /// Restore settings that an interrupted run left changed
    #[command(after_long_help = settings::AFTER_RESTORE_HELP)]
    Restore(RestoreArgs),
    /// List the built-in plans, or print one as TOML
    Plans(NameArgs),
    /// List the built-in simulated drives, or print one as TOML
    Profiles(NameArgs),
    /// Print the completions for a shell
    Completions(CompletionsArgs),
}

impl CliCommand {
    /// The options that choose another machine; `None` for commands that work here alone.
    pub(crate) const fn on(&self) -> Option<&OnArgs> {
        match self {
            Self::Run(args) => Some(&args.on),
            Self::Watch(args) => Some(&args.on),
            Self::List(args) => Some(&args.on),
            Self::Inspect(args) => Some(&args.on),
            Self::Hctm(args) => Some(&args.on),
            Self::PowerState(args) => Some(&args.on),
            Self::TempThreshold(args) => Some(&args.on),
            Self::Restore(args) => Some(&args.on),
            _ => None,
        }
    }
}

/// `heatsoak run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// What to run: a built-in plan, a TOML file or a fio job file
    #[arg(value_name = "PLAN", default_value = DEFAULT_PLAN, add = ArgValueCompleter::new(complete::plans))]
    pub(crate) plan: String,
    /// What to run it on; without it the drive that the plan names, else twin:ssd1
    #[arg(short, long, value_name = "ADDRESS", add = ArgValueCompleter::new(complete::drives))]
    pub(crate) drive: Option<String>,
    /// The run folder to make; without it a new one under ./runs/
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// Seed of everything random; the same seed repeats a simulated run byte for byte
    #[arg(long, value_name = "N", value_parser = parse::count)]
    pub(crate) seed: Option<u64>,
    /// Light throttling from this temperature on (TMT1), such as 65C, or off
    #[arg(long, value_name = "TEMP", value_parser = threshold, allow_hyphen_values = true)]
    pub(crate) tmt1: Option<Kelvin>,
    /// Heavy throttling from this temperature on (TMT2), such as 70C, or off
    #[arg(long, value_name = "TEMP", value_parser = threshold, allow_hyphen_values = true)]
    pub(crate) tmt2: Option<Kelvin>,
    /// Power state for the run; `heatsoak power-state DRIVE` lists them
    #[arg(long, value_name = "N", value_parser = whole::<u8>(0, 31))]
    pub(crate) power_state: Option<u8>,
    /// Run the plan once a setting, such as tmt=default,65C/70C, power-state=0,5, rate=default,400MB/s, link=1GB/s,2GB/s, ambient=20C,35C
    #[arg(long, value_name = "WHAT=A,B,...", value_parser = Sweep::parse)]
    pub(crate) sweep: Option<Sweep>,
    /// Temperature of the air around the drive, such as 24C: recorded; a simulated drive is put into it
    #[arg(long, value_name = "TEMP", value_parser = parse::celsius, allow_hyphen_values = true)]
    pub(crate) ambient: Option<Celsius>,
    /// Stop the load at this temperature of the drive [default: 5 K below the critical threshold, else 85C]
    #[arg(long, value_name = "TEMP", value_parser = parse::temperature, allow_hyphen_values = true)]
    pub(crate) stop_at: Option<Kelvin>,
    /// Stop before more than this is written, such as 50GB: by the plan, by all runs of a sweep together, and by filling a
    /// file beforehand. Of several the least counts
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub(crate) max_write: Vec<Bytes>,
    /// Length of an accounting interval, such as 100ms
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) interval: Option<Duration>,
    /// Stop after this many I/O errors
    #[arg(long, value_name = "N", value_parser = parse::count)]
    pub(crate) max_errors: Option<u64>,
    /// Print the findings as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on stderr
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// On a terminal: one line of progress instead of the screen
    #[arg(long)]
    pub(crate) plain: bool,
    /// Make no report.html
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Fit the run: leaves twin.toml in the run folder, and says what the run leaves open
    #[arg(long, conflicts_with = "sweep")]
    pub(crate) fit: bool,
    /// Power meters
    #[command(flatten)]
    pub(crate) meters: PowerArgs,
    /// The drive's data and endurance
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
    /// What becomes of a run on another machine when the connection breaks
    #[arg(
        long,
        value_name = "WHAT",
        requires = "on",
        default_value = "stop",
        help_heading = "Another machine"
    )]
    pub(crate) if_link_lost: LinkLostArg,
    /// The other machine
    #[command(flatten)]
    pub(crate) on: OnArgs,
    /// The plan in this file, whatever PLAN names: for runs that another machine has asked for
    #[arg(long, hide = true)]
    pub(crate) plan_file: Option<PathBuf>,
    /// Stop the run when standard input ends, and once for each byte that comes: for runs that another machine has asked for
    #[arg(long, hide = true)]
    pub(crate) until_stdin_ends: bool,
    /// Print what is new once a second, for the face there
    #[arg(long, hide = true)]
    pub(crate) news: bool,
}

/// A whole number from `least` to `most`, with an error that says so.
fn whole<T: TryFrom<u64>>(least: u32, most: u32) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    let (least, most) = (u64::from(least), u64::from(most));
    move |typed| {
        let number = parse::count(typed).ok().filter(|number| (least..=most).contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| format!("write a whole number from {least} to {most}"))
    }
}

/// A thermal management temperature: 0 K turns it off (NVMe Base 2.3, 5.2.26.1.9).
fn threshold(typed: &str) -> Result<Kelvin, parse::ParseError> {
    if typed == "off" { Ok(Kelvin::from_kelvin(0)) } else { parse::temperature(typed) }
}

/// `heatsoak report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Run folders, or logs of other tools
    #[arg(value_name = "RUN_OR_LOG", required = true, add = ArgValueCompleter::new(complete::runs))]
    pub(crate) runs: Vec<PathBuf>,
    /// Where to write it; without it into the run folder. For one input only; - is stdout
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Make the first screen as a PNG to send: phases, cause, evidence and the main chart
    #[arg(long, conflicts_with_all = ["svg", "chart"])]
    pub(crate) png: bool,
    /// Make the first screen as an SVG
    #[arg(long, conflicts_with = "chart")]
    pub(crate) svg: bool,
    /// Make the main chart alone as an SVG, for papers
    #[arg(long)]
    pub(crate) chart: bool,
}

/// `heatsoak compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Run folders, folders of sweeps, or logs of other tools: two runs or more in all
    #[arg(value_name = "RUN_OR_LOG", required = true, add = ArgValueCompleter::new(complete::runs))]
    pub(crate) runs: Vec<PathBuf>,
    /// The run that the others are compared with [default: the first]
    #[arg(short, long, value_name = "RUN_OR_LOG", add = ArgValueCompleter::new(complete::runs))]
    pub(crate) baseline: Option<PathBuf>,
    /// Exit with 1 if a run differs from the baseline by more, such as "write.mean < -5%" or "random read.p99 > 10%"
    #[arg(long, value_name = "LOAD.METRIC<PERCENT")]
    pub(crate) fail_if: Vec<report::FailIf>,
    /// Take all runs for runs of one drive, which logs do not name
    #[arg(long)]
    pub(crate) one_drive: bool,
    /// Print the table of an article about power instead, a row a run: idle, start-up, reads, writes, what a byte costs
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, default_missing_value = "text")]
    pub(crate) power_table: Option<power::TableFormatArg>,
    /// Sort that table by a column, such as read_mb_per_s_per_w:desc
    #[arg(long, value_name = "COLUMN[:desc]", requires = "power_table")]
    pub(crate) sort: Option<report::PowerSort>,
    /// Figures that somebody states of these drives, to stand beside: a CSV with the column drive and any of
    /// power_state, idle_w, start_w, read_w, write_w, read_mb_per_s, write_mb_per_s
    #[arg(long, value_name = "FILE", requires = "power_table", value_hint = ValueHint::FilePath)]
    pub(crate) stated: Option<PathBuf>,
    /// Also write a page with all runs in one chart
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
}

/// `heatsoak runs`.
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// The folder that holds the runs
    #[arg(value_name = "DIR", default_value = "runs", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Ask for each run whether to delete it
    #[arg(long, conflicts_with = "json")]
    pub(crate) prune: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `heatsoak list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// The other machine
    #[command(flatten)]
    pub(crate) on: OnArgs,
}

/// `heatsoak plans` and `heatsoak profiles`.
#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Print this one as TOML
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::names))]
    pub(crate) name: Option<String>,
}

/// `heatsoak completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// The hidden command `heatsoak generate`, for developers: no part of [`CliCommand`], so that help, man page
/// and completions do not have it.
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// The folder for man pages, completions and the reference
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

/// What was typed.
#[derive(Debug)]
pub(crate) enum Typed {
    /// A command.
    Command(Box<CliCommand>),
    /// The hidden one.
    Generate(GenerateArgs),
}

/// Reads the command line of this process.
///
/// # Errors
/// What clap says of wrong usage, and of `--help`.
pub(crate) fn typed() -> Result<Typed, clap::Error> {
    let hidden = GenerateArgs::augment_args(clap::Command::new(GENERATE).hide(true));
    let definition = Cli::command().subcommand(hidden);
    let matches = definition.clone().try_get_matches_from(help_as_flag(std::env::args_os()))?;
    let typed = match matches.subcommand() {
        Some((GENERATE, matches)) => GenerateArgs::from_arg_matches(matches).map(Typed::Generate),
        _ => Cli::from_arg_matches(&matches).map(|cli| Typed::Command(Box::new(cli.command))),
    };
    typed.map_err(|error| error.format(&mut definition.clone()))
}

/// `heatsoak help run` is `heatsoak run --help`, as with git and cargo.
///
/// Not clap's own subcommand, which would be one more in every list, man page and completion.
fn help_as_flag(typed: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut typed: Vec<OsString> = typed.collect();
    if typed.get(1).is_some_and(|first| first == "help") && typed.len() <= 3 {
        typed.remove(1);
        typed.push("--help".into());
    }
    typed
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn help_is_had_as_with_other_tools() {
        let as_flag = |words: &[&str]| help_as_flag(words.iter().map(OsString::from));
        assert_eq!(as_flag(&["heatsoak", "help", "run"]), ["heatsoak", "run", "--help"]);
        assert_eq!(as_flag(&["heatsoak", "help"]), ["heatsoak", "--help"]);
        assert_eq!(as_flag(&["heatsoak", "run", "help"]), ["heatsoak", "run", "help"]);
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn quantities_are_read_with_their_units() {
        let cli =
            Cli::try_parse_from(["heatsoak", "run", "--tmt1", "65C", "--tmt2", "off", "--interval", "100ms"]);
        let Ok(Cli { command: CliCommand::Run(args) }) = cli else { panic!("{cli:?}") };
        assert_eq!(args.tmt1, Some(Kelvin::from_kelvin(338)));
        assert_eq!(args.tmt2, Some(Kelvin::from_kelvin(0)));
        assert_eq!(args.interval, Some(Duration::from_millis(100)));
        assert_eq!(args.plan, DEFAULT_PLAN);
        assert_eq!(args.drive, None);
    }

    /// Goal: help is not broken in the middle of a sentence. Method: 100 columns are what help has where no terminal
    /// says how wide it is, and what is written by hand is not wrapped again.
    #[test]
    fn what_stands_below_a_help_fits_100_columns() {
        let commands = Cli::command();
        let all = commands.get_subcommands().chain([&commands]);
        for text in all.filter_map(|command| command.get_after_long_help()).map(ToString::to_string) {
            assert_eq!(text.lines().find(|line| line.chars().count() > 100), None);
        }
    }

    /// Goal: a temperature below zero is a value, not an unknown flag.
    #[test]
    fn temperatures_below_zero_are_typed_as_they_are() {
        let cli = Cli::try_parse_from(["heatsoak", "temp-threshold", "twin:ssd1", "--under", "-5C"]);
        let Ok(Cli { command: CliCommand::TempThreshold(args) }) = cli else { panic!("{cli:?}") };
        assert_eq!(args.under, Some(Kelvin::from_kelvin(268)));
        let wrong = Cli::try_parse_from(["heatsoak", "run", "--stop-at", "--json"]);
        assert!(
            wrong.is_err_and(|error| error.to_string().contains("\"--json\" is not a whole temperature"))
        );
    }
}
