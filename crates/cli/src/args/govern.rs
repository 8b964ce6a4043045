//! `heatsoak govern`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;
use measure::{Bytes, BytesPerSec, Celsius, Kelvin, parse};

use super::{DEFAULT_PLAN, DeviceArgs, LinkLostArg, OnArgs, PowerArgs, RunArgs, threshold};

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
With a PLAN the load is ours: the plan runs as with `heatsoak run`, no faster than keeps the
composite temperature below --below, and leaves a run folder. Rate limits of the plan hold as well.
Without a PLAN a block device is governed under the load of others; any other address runs
hctm-read.

The load of others is limited by cgroup v2: reads and writes (rbps, wbps) of this disk in io.max.
That takes root. Limits that are there already are kept as upper bounds. What is found is written
down before it is changed and put back at the end; after `kill -9` `heatsoak restore` puts it back.
Not governed are kernel threads, swap and what runs in the root group.

After 10 s without a reading of the temperature the load falls to --at-least.

Exit codes: 0 stayed below; 1 did not, or COMMAND failed; 2 not done; 3 stopped early.

Examples:
  heatsoak govern twin:ssd1 --below 68C                    a simulated drive, in a second
  heatsoak govern twin:ssd2 --below 60C hctm-write --json
  heatsoak govern /dev/nvme0n1 --below 68C quick           a load of ours
  heatsoak govern /dev/nvme0n1 --below 68C                 the load of others, until Ctrl-C
  heatsoak govern /dev/nvme0n1 --below 68C --cgroup system.slice/backup.service --for 2h
  heatsoak govern /dev/nvme0n1 --below 68C -- rsync -a /data /backup";

/// `heatsoak govern`.
#[derive(Debug, Args)]
pub(crate) struct GovernArgs {
    /// The drive: /dev/nvme0n1, twin:NAME, file:PATH, nvme-tcp://HOST:PORT/NQN
    #[arg(value_name = "DRIVE", add = ArgValueCompleter::new(super::complete::drives))]
    pub(crate) drive: String,
    /// What to run on it: a built-in plan, a TOML file or a fio job file; without it a block device is governed under the
    /// load of others
    #[arg(value_name = "PLAN", add = ArgValueCompleter::new(super::complete::plans))]
    pub(crate) plan: Option<String>,
    /// No reading of the composite temperature as high as this, such as 68C
    #[arg(long, value_name = "TEMP", value_parser = parse::temperature)]
    pub(crate) below: Kelvin,
    /// Never limit the load to less than this, whatever the temperature
    #[arg(long, value_name = "RATE", value_parser = parse::rate, default_value = "4MB/s")]
    pub(crate) at_least: BytesPerSec,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress on stderr
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Govern this control group, such as system.slice/backup.service; repeatable. Without it all groups at the top
    #[arg(long, value_name = "PATH", help_heading = "The load of others", conflicts_with = "plan")]
    pub(crate) cgroup: Vec<PathBuf>,
    /// Stop after this time; without it at Ctrl-C, or when COMMAND ends
    #[arg(long = "for", value_name = "TIME", value_parser = parse::some_time, help_heading = "The load of others", conflicts_with = "plan")]
    pub(crate) span: Option<Duration>,
    /// Run this in a control group of its own, and govern that group alone until it ends
    #[arg(value_name = "COMMAND", last = true, help_heading = "The load of others", conflicts_with_all = ["plan", "cgroup"])]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) own: OwnLoadArgs,
}

/// What `heatsoak run` takes as well.
#[derive(Debug, Args)]
#[command(next_help_heading = "A load of ours")]
pub(crate) struct OwnLoadArgs {
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
    #[arg(long, value_name = "N", value_parser = super::whole::<u8>(0, 31))]
    pub(crate) power_state: Option<u8>,
    /// Temperature of the air around the drive, such as 24C: recorded; a simulated drive is put into it
    #[arg(long, value_name = "TEMP", value_parser = parse::celsius, allow_hyphen_values = true)]
    pub(crate) ambient: Option<Celsius>,
    /// Stop the load at this temperature of the drive [default: 5 K below the critical threshold, else 85C]
    #[arg(long, value_name = "TEMP", value_parser = parse::temperature, allow_hyphen_values = true)]
    pub(crate) stop_at: Option<Kelvin>,
    /// Stop before more than this is written, such as 50GB
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub(crate) max_write: Vec<Bytes>,
    /// Length of an accounting interval, such as 100ms
    #[arg(long, value_name = "TIME", value_parser = parse::duration)]
    pub(crate) interval: Option<Duration>,
    /// Stop after this many I/O errors
    #[arg(long, value_name = "N", value_parser = parse::count)]
    pub(crate) max_errors: Option<u64>,
    /// On a terminal: one line of progress instead of the screen
    #[arg(long)]
    pub(crate) plain: bool,
    /// Make no report.html
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Power meters
    #[command(flatten)]
    pub(crate) meters: PowerArgs,
    /// The drive's data and endurance
    #[command(flatten)]
    pub(crate) device: DeviceArgs,
}

impl OwnLoadArgs {
    /// What was typed that says something of a load of ours alone.
    pub(crate) fn first_typed(&self) -> Option<&'static str> {
        let Self { out, seed, tmt1, tmt2, power_state, ambient, stop_at, max_write, .. } = self;
        let Self { interval, max_errors, no_report, meters, device, .. } = self;
        let typed = [
            ("--out", out.is_some()),
            ("--seed", seed.is_some()),
            ("--tmt1", tmt1.is_some()),
            ("--tmt2", tmt2.is_some()),
            ("--power-state", power_state.is_some()),
            ("--ambient", ambient.is_some()),
            ("--stop-at", stop_at.is_some()),
            ("--max-write", !max_write.is_empty()),
            ("--interval", interval.is_some()),
            ("--max-errors", max_errors.is_some()),
            ("--no-report", *no_report),
            ("--power", !meters.power.is_empty()),
            ("--destroy", device.destroy.is_some()),
            ("--tbw", device.tbw.is_some()),
            ("--slc", device.slc.is_some()),
        ];
        typed.into_iter().find_map(|(name, is_typed)| is_typed.then_some(name))
    }
}

impl GovernArgs {
    /// The same run without a governor.
    pub(crate) fn run(self) -> RunArgs {
        let Self { drive, plan, json, quiet, own, .. } = self;
        RunArgs {
            plan: plan.unwrap_or_else(|| DEFAULT_PLAN.to_owned()),
            drive: Some(drive),
            out: own.out,
            seed: own.seed,
            tmt1: own.tmt1,
            tmt2: own.tmt2,
            power_state: own.power_state,
            sweep: None,
            ambient: own.ambient,
            stop_at: own.stop_at,
            max_write: own.max_write,
            interval: own.interval,
            max_errors: own.max_errors,
            json,
            quiet,
            plain: own.plain,
            no_report: own.no_report,
            fit: false,
            meters: own.meters,
            device: own.device,
            if_link_lost: LinkLostArg::default(),
            on: OnArgs::default(),
            plan_file: None,
            until_stdin_ends: false,
            news: false,
        }
    }
}
