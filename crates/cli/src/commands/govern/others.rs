//! The load of others on a block device: limited by the kernel, by control group, as the temperature allows.
//!
//! The loop reads by the threads that `heatsoak watch` reads by. What it limits is in the journal before it is limited,
//! and put back on every path out of here.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context as _, bail};
use capture::session::{Stop, StopFlag};
use drive::cgroup::{self, CgroupTree, HeldLimits, LimitedDisk};
use drive::settings::journal::{Journals, places};
use drive::telemetry::discover::SYSFS;
use drive::telemetry::{self, Reading, Sampler};
use drive::trim::mode::journal_identity;
use drive::{Address, Drive, DriveIdentity, WatchIo, WatchSources};
use govern::{Account, Bounds, Governor};
use measure::time::wall_unix_ns;
use measure::{BytesPerSec, Celsius, Clock as _, Instant, Kelvin, MonotonicClock};
use plan::TelemetryPlan;

use super::command::GovernedCommand;
use super::document::{About, GovernDocument, GovernedLoad, MeanSpeed};
use super::groups::GovernedGroups;
use super::shape;
use crate::Exit;
use crate::args::GovernArgs;
use crate::commands::watch::sources::{SourceThreads, Wake};
use crate::door;
use crate::opening::Opening;
use crate::printer::Printer;
use crate::signals;

/// Temperatures are read once a second: more often is known to warm drives.
const PERIOD: Duration = Duration::from_secs(1);
/// The loop looks at stops and the command at least this often.
const LOOK_SPAN: Duration = Duration::from_millis(100);
/// New groups are looked for so often.
const NEW_GROUPS: Duration = Duration::from_secs(5);
/// After so long without a reading governing ends, and limits are put back: at the floor for good, a machine that nobody
/// watches would be as good as stalled.
const GIVE_UP: Duration = Duration::from_secs(600);

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// The time was over, or the command ended.
    Done,
    /// Somebody stopped it.
    Stopped,
    /// There were no more readings.
    Silent,
    /// The named groups are gone.
    NoGroups,
}

/// Governs the load of others.
pub(super) fn execute(
    args: &GovernArgs,
    bounds: Bounds,
    address: &Address,
    printer: &mut Printer,
) -> anyhow::Result<Exit> {
    if let Some(option) = args.own.first_typed() {
        bail!(
            "{option} is for a load of ours, and without a PLAN {address} is governed under the load of others; name a PLAN, such \
             as quick, or leave {option} out"
        );
    }
    let stop = signals::stop_flag()?;
    let tree = CgroupTree::system()?;
    let mut drive = door::open(address, &Opening::plain())?;
    let disk = limited_disk(&*drive)?;
    let mut sources = temperatures(&mut *drive)?;
    first_reading(address, &mut sources.samplers)?;
    let journals = journals()?;
    let why = format!("govern {address} --below {}", bounds.below);
    let number = disk.number.clone();
    let held = HeldLimits::claim(tree.clone(), disk, &journals, &why, wall_unix_ns(), cgroup::boot())?;
    let mut governing = Governing {
        governor: Governor::new(bounds),
        account: Account::new(bounds.below),
        groups: GovernedGroups::new(tree, held, number, bounds.at_least),
        moved: (0.0, 0.0),
        loaded_s: 0.0,
        asked: None,
    };
    let mut command = governing.begin(args, printer)?;
    let ended = governing.run(args, sources.samplers, command.as_mut(), &stop, printer);
    let names = governing.groups.names();
    for problem in governing.groups.put_back() {
        printer.warning(&problem);
    }
    let ending = ended?;
    let about = About {
        address: &args.drive,
        simulated: sources.simulated,
        load: GovernedLoad::Others,
        mean: governing.mean(),
        ended_early: ending.early(),
        run_folder: None,
        cgroups: names,
        command_exit: command.as_ref().and_then(GovernedCommand::exit_code),
    };
    let document = GovernDocument::new(bounds, &governing.account, about);
    if args.json {
        printer.json(&document)?;
    } else {
        printer.data(&document.lines())?;
    }
    Ok(exit(args, ending, &document, &governing, command.as_ref()))
}

fn exit(
    args: &GovernArgs,
    ending: Ending,
    document: &GovernDocument,
    governing: &Governing,
    command: Option<&GovernedCommand>,
) -> Exit {
    let failed = command.is_some_and(|command| command.exit_code() != Some(0));
    match ending {
        _ if !governing.groups.are_put_back() => Exit::NotDone,
        Ending::Silent => Exit::NotDone,
        // As with `watch`: without --for, Ctrl-C is how it ends.
        Ending::Stopped if args.span.is_some() || command.is_some() => Exit::Stopped,
        _ if !document.stayed_below() || failed => Exit::DoesNotHold,
        _ => Exit::Done,
    }
}

impl Ending {
    fn early(self) -> Option<String> {
        match self {
            Self::Done => None,
            Self::Stopped => Some("stopped by the user".to_owned()),
            Self::Silent => {
                Some(format!("no temperature could be read for {} minutes", GIVE_UP.as_secs() / 60))
            }
            Self::NoGroups => Some("the governed control groups are gone".to_owned()),
        }
    }
}

/// The disk at or under an address, as the kernel limits it.
fn limited_disk(drive: &dyn Drive) -> anyhow::Result<LimitedDisk> {
    let address = drive.address();
    let name = drive.disk().with_context(|| {
        format!(
            "cannot govern {address}: it is no disk of this system; `heatsoak list` shows those there are"
        )
    })?;
    let number = cgroup::disk_number(Path::new(SYSFS), &name)
        .with_context(|| format!("cannot govern {address}: the kernel tells no number of {name}"))?;
    let identity = DriveIdentity::read(Path::new(SYSFS), &name)
        .with_context(|| format!("cannot govern {address}: {name} has just gone"))?;
    Ok(LimitedDisk { device: format!("/dev/{name}"), number, identity: journal_identity(&identity) })
}

/// Where a temperature comes from.
struct Temperatures {
    samplers: Vec<Box<dyn Sampler>>,
    simulated: bool,
}

fn temperatures(drive: &mut dyn Drive) -> anyhow::Result<Temperatures> {
    let periods = TelemetryPlan {
        smart_period: PERIOD,
        hwmon_period: PERIOD,
        blockstat_period: PERIOD,
        power: Vec::new(),
    };
    let WatchSources { origin, io, .. } = drive.watch(&periods)?;
    let WatchIo::RealTime(mut samplers) = io else {
        bail!("cannot govern {} under the load of others: it is simulated and has none", drive.address());
    };
    samplers.retain(|sampler| ["smart", "smartctl", "hwmon"].contains(&sampler.source()));
    Ok(Temperatures { samplers, simulated: origin.is_simulated() })
}

/// A drive without a temperature is refused before anything is changed.
fn first_reading(address: &Address, samplers: &mut [Box<dyn Sampler>]) -> anyhow::Result<()> {
    let clock = MonotonicClock::start();
    let readings: Vec<Reading> =
        samplers.iter_mut().map(|sampler| telemetry::read(&mut **sampler, &clock)).collect();
    if readings.iter().any(|reading| kelvin(reading).is_some()) {
        return Ok(());
    }
    let why = readings.into_iter().find_map(|reading| reading.row.gap);
    let why = why.unwrap_or_else(|| "there is no source of it".to_owned());
    bail!(
        "cannot govern {address}: its temperature cannot be read ({why}); `heatsoak inspect {address}` shows what can be, and root \
         may read the SMART log"
    )
}

fn kelvin(reading: &Reading) -> Option<f64> {
    let hwmon = || Some(Celsius::from_millidegrees(reading.row.hwmon_millicelsius?).as_kelvin_f64());
    reading.row.composite.map(|composite| f64::from(composite.as_kelvin())).or_else(hwmon)
}

fn journals() -> anyhow::Result<Journals> {
    places().into_iter().next().context("there is no folder for the journal of settings: HOME is not set")
}

/// All that changes while it governs.
struct Governing {
    governor: Governor,
    account: Account,
    groups: GovernedGroups,
    /// Bytes read and written, and the seconds in which there were any.
    moved: (f64, f64),
    loaded_s: f64,
    asked: Option<Instant>,
}

impl Governing {
    /// Takes the groups, and starts the command in one of its own.
    fn begin(&mut self, args: &GovernArgs, printer: &mut Printer) -> anyhow::Result<Option<GovernedCommand>> {
        let command = if args.command.is_empty() {
            self.groups.take(&args.cgroup)?;
            None
        } else {
            let group = self.groups.make()?;
            Some(GovernedCommand::start(&args.command, &group)?)
        };
        if !args.quiet {
            printer.message(&format!(
                "governed: io.max of {}; not governed: the root group, kernel threads, swap",
                self.groups.names().join(", ")
            ));
        }
        Ok(command)
    }

    fn run(
        &mut self,
        args: &GovernArgs,
        samplers: Vec<Box<dyn Sampler>>,
        mut command: Option<&mut GovernedCommand>,
        stop: &StopFlag,
        printer: &mut Printer,
    ) -> anyhow::Result<Ending> {
        let clock = MonotonicClock::start();
        let (to, from) = channel();
        let _threads =
            SourceThreads::start(samplers, 0, 0, clock, &to).context("cannot start a thread for readings")?;
        let end = args.span.map_or(Instant::NEVER, |span| clock.now() + span);
        let mut look_for_groups = clock.now() + NEW_GROUPS;
        loop {
            let now = clock.now();
            let asks = stop.asks();
            let is_over = now >= end;
            if let Some(command) = command.as_deref_mut() {
                if command.has_ended()? {
                    let by_itself = asks == Stop::No && !is_over;
                    return Ok(if by_itself { Ending::Done } else { Ending::Stopped });
                }
                command.heed(asks, is_over);
            } else if asks != Stop::No {
                return Ok(Ending::Stopped);
            } else if is_over {
                return Ok(Ending::Done);
            }
            self.wait(&from, &clock)?;
            let last_read = self.governor.last_read().unwrap_or(now);
            if now.since(last_read) >= GIVE_UP {
                return Ok(Ending::Silent);
            }
            if self.groups.are_gone() {
                return Ok(Ending::NoGroups);
            }
            if now >= look_for_groups {
                look_for_groups = now + NEW_GROUPS;
                self.groups.look_for_new()?;
            }
            if !args.quiet && printer.progress_is_live() {
                printer.progress(&self.line());
            }
        }
    }

    /// Waits for a reading a moment, and heeds it, or that there is none.
    fn wait(&mut self, from: &Receiver<Wake>, clock: &MonotonicClock) -> anyhow::Result<()> {
        match from.recv_timeout(LOOK_SPAN) {
            Ok(Wake::Reading { reading, .. }) => match kelvin(&reading) {
                Some(kelvin) => self.step(reading.row.t, Some(kelvin)),
                None => Ok(()),
            },
            Ok(_) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                let now = clock.now();
                let is_due = self.asked.is_none_or(|asked| now.since(asked) >= 3 * PERIOD);
                if is_due { self.step(now, None) } else { Ok(()) }
            }
        }
    }

    fn step(&mut self, t: Instant, kelvin: Option<f64>) -> anyhow::Result<()> {
        let span_s = self.asked.map_or(0.0, |asked| t.since(asked).as_secs_f64());
        // A reading may be older than the last look: what has moved counts for the next one then.
        let flowed = if span_s > 0.0 || self.asked.is_none() {
            self.asked = Some(t);
            self.groups.flowed(span_s)
        } else {
            (0.0, 0.0)
        };
        self.moved.0 += flowed.0 * span_s;
        self.moved.1 += flowed.1 * span_s;
        let all = BytesPerSec::new(flowed.0 + flowed.1);
        if all.as_f64() > 0.0 {
            self.loaded_s += span_s;
        }
        let limit = shape::step(&mut self.governor, &mut self.account, t, kelvin, all);
        self.account.step(t, all, limit);
        Ok(self.groups.limit(limit)?)
    }

    fn line(&self) -> String {
        let highest = self.account.highest().map_or(0.0, |(kelvin, _)| kelvin);
        let limit = self.governor.limit().map_or_else(|| "free".to_owned(), |limit| format!("limit {limit}"));
        format!("{limit}, highest {}", Kelvin::from_kelvin(highest.floor() as u16))
    }

    fn mean(&self) -> Vec<MeanSpeed> {
        let speed =
            |op: &str, bytes: f64| MeanSpeed { op: op.to_owned(), bytes_per_s: bytes / self.loaded_s };
        let all = [speed("read", self.moved.0), speed("write", self.moved.1)];
        all.into_iter().filter(|one| one.bytes_per_s.is_finite() && one.bytes_per_s > 0.0).collect()
    }
}
