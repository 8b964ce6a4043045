//! A profile under a load, second by second: what fit, forecast and advice all rest on.
//!
//! The drive is that of `physics`. Nothing here knows how a drive works.

use std::time::Duration;

use measure::record::Op;
use measure::{Instant, Seed};
use physics::{Demand, Drive, Profile, Tmt, Transfer};

use crate::data::{Asked, LoadStep, RunData};

/// Simulated drives have nothing random in a forecast.
const SEED: Seed = Seed::new(1);
/// A second of load counts as throttled below this share of what it would have been.
pub const THROTTLED_SHARE: f64 = 0.97;
/// The last seconds of a phase, which are taken for where it comes to rest.
pub const STEADY_S: usize = 60;

/// A stretch of one load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadPhase {
    /// Its name.
    pub name: String,
    /// Share of the bytes that are read; `None` is rest.
    pub read_share: Option<f64>,
    /// Most that is asked for, in bytes per second; infinite for as much as goes.
    pub limit_bytes_per_s: f64,
    /// How long it lasts, in seconds.
    pub seconds: usize,
    /// It ends when so much has been moved.
    pub bytes: Option<f64>,
    /// Depth of the queue.
    pub depth: u16,
    /// Size of an I/O in bytes.
    pub io_bytes: u32,
    /// Whether I/Os follow one another.
    pub sequential: bool,
    /// Length of the region in bytes.
    pub region_bytes: u64,
    /// Whether some of its loads have a rate and others none: then what it reads for each byte it writes moves with its speed.
    pub ratio_moves: bool,
}

impl LoadPhase {
    /// As much as goes of sequential I/O of 1 MiB at depth 64, within 64 GiB: as the built-in plans load a drive.
    pub fn sequential(name: &str, read_share: Option<f64>, seconds: usize) -> Self {
        Self {
            name: name.to_owned(),
            read_share,
            limit_bytes_per_s: f64::INFINITY,
            seconds,
            bytes: None,
            depth: 64,
            io_bytes: 1 << 20,
            sequential: true,
            region_bytes: 64 << 30,
            ratio_moves: false,
        }
    }
}

/// What a phase came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseOutcome {
    /// Mean speed in bytes per second.
    pub mean_bytes_per_s: f64,
    /// Hottest in kelvins.
    pub peak_k: f64,
    /// Mean over the last minute in kelvins.
    pub steady_k: f64,
    /// Seconds until heat first slowed it down; `None` where it never did.
    pub time_to_throttle_s: Option<f64>,
    /// Share of the seconds in which heat slowed it down.
    pub throttled_share: f64,
    /// Energy in joules.
    pub energy_j: f64,
    /// How long it took.
    pub seconds: f64,
    /// Hottest while nothing slowed it down, in kelvins.
    pub peak_unthrottled_k: f64,
    /// Slowest second over the fastest: how even it is.
    pub evenness: f64,
}

/// What one second of a drive showed.
#[derive(Clone, Copy, Debug)]
pub struct LoadSecond {
    /// Bytes moved.
    pub bytes: f64,
    /// Composite temperature at its end, in kelvins.
    pub kelvin: f64,
}

/// Sets TMT1 and TMT2 where they are given; a pair that cannot be set says so.
pub fn set_tmt(drive: &mut Drive, tmt_k: Option<[u16; 2]>) -> Result<(), physics::TmtError> {
    match tmt_k {
        Some([tmt1_k, tmt2_k]) => drive.set_tmt(Tmt::from_kelvin(tmt1_k, tmt2_k)),
        None => Ok(()),
    }
}

/// A drive of `profile`.
pub fn drive(profile: &Profile) -> Drive {
    Drive::new(profile, SEED)
}

/// The demand of a phase.
pub fn demand(phase: &LoadPhase) -> Demand {
    match phase.read_share {
        None => Demand::Idle,
        Some(read_share) => Demand::Transfer(Transfer {
            read_share,
            sequential: phase.sequential,
            io_bytes: phase.io_bytes,
            queue_depth: phase.depth,
            limit_bytes_per_s: phase.limit_bytes_per_s,
            ..Transfer::sequential(Op::Read, phase.region_bytes)
        }),
    }
}

/// Runs phases on a drive. `full` is what each phase moves in a second when nothing slows it down.
pub fn phases(
    drive: &mut Drive,
    phases: &[LoadPhase],
    full: &dyn Fn(&LoadPhase) -> f64,
) -> Vec<PhaseOutcome> {
    phases.iter().map(|phase| one(drive, phase, full(phase))).collect()
}

fn one(drive: &mut Drive, phase: &LoadPhase, full: f64) -> PhaseOutcome {
    let energy_before = drive.energy().in_j;
    let seconds = phase_seconds(drive, phase);
    let energy_j = drive.energy().in_j - energy_before;
    PhaseOutcome { energy_j, ..outcome(&seconds, |_| full) }
}

/// Runs one phase on a drive, second by second.
pub fn phase_seconds(drive: &mut Drive, phase: &LoadPhase) -> Vec<LoadSecond> {
    let demand = demand(phase);
    let mut seconds = Vec::with_capacity(phase.seconds);
    let (start, mut moved) = (drive.now(), 0.0);
    while seconds.len() < phase.seconds && phase.bytes.is_none_or(|bytes| moved < bytes) {
        let until = start + Duration::from_secs(seconds.len() as u64 + 1);
        let part = drive.advance_demand(until, &demand);
        moved += part.read_bytes + part.write_bytes;
        let kelvin = drive.exact_composite().as_kelvin_f64();
        seconds.push(LoadSecond { bytes: part.read_bytes + part.write_bytes, kelvin });
    }
    seconds
}

/// What a phase's seconds come to; `full` is what each would have moved without heat.
pub fn outcome(seconds: &[LoadSecond], full: impl Fn(usize) -> f64) -> PhaseOutcome {
    let slow = |at: usize| full(at) > 0.0 && seconds[at].bytes < THROTTLED_SHARE * full(at);
    let count = seconds.len().max(1) as f64;
    let throttled = (0..seconds.len()).filter(|at| slow(*at)).count();
    // The second in which it begins is partly at full speed.
    let first = (0..seconds.len()).find(|at| slow(*at));
    let time_to_throttle_s = first
        .map(|at| at as f64 + (seconds[at].bytes / full(at)).clamp(0.0, 1.0) * f64::from(u8::from(at > 0)));
    let last = &seconds[seconds.len().saturating_sub(STEADY_S)..];
    let peak = |of: &mut dyn Iterator<Item = f64>| of.fold(f64::NEG_INFINITY, f64::max);
    let bytes = |second: &LoadSecond| second.bytes;
    PhaseOutcome {
        mean_bytes_per_s: seconds.iter().map(bytes).sum::<f64>() / count,
        peak_k: peak(&mut seconds.iter().map(|second| second.kelvin)),
        steady_k: last.iter().map(|second| second.kelvin).sum::<f64>() / last.len().max(1) as f64,
        time_to_throttle_s,
        throttled_share: throttled as f64 / count,
        energy_j: 0.0,
        seconds: seconds.len() as f64,
        peak_unthrottled_k: peak(
            &mut (0..seconds.len()).filter(|at| !slow(*at)).map(|at| seconds[at].kelvin),
        ),
        evenness: seconds.iter().map(bytes).fold(f64::INFINITY, f64::min)
            / seconds.iter().map(bytes).fold(1.0, f64::max),
    }
}

/// A run's load again: what was as fast as it went is that here, what was limited asks for what it got.
pub(crate) fn replay(profile: &Profile, run: &RunData) -> Vec<LoadSecond> {
    let mut drive = drive(profile);
    let tmt_k = run.tmt_k.map(|kelvin| kelvin.map_or(0, |kelvin| kelvin as u16));
    if profile.limits.hctm.is_some() {
        // A setting that the specification forbids was not set: the run's own drive would have refused it.
        let _ = set_tmt(&mut drive, Some(tmt_k));
    }
    let mut seconds = Vec::with_capacity(run.steps.len());
    for (at, step) in run.steps.iter().enumerate() {
        let until = Instant::from_ns((at as u64 + 1) * 1_000_000_000);
        let part = drive.advance_demand(until, &again(step));
        let kelvin = drive.exact_composite().as_kelvin_f64();
        seconds.push(LoadSecond { bytes: part.read_bytes + part.write_bytes, kelvin });
    }
    seconds
}

fn again(step: &LoadStep) -> Demand {
    let speed = step.speed();
    let reaches = 1e9 * step.reaches.unwrap_or(f64::INFINITY);
    let transfer = |read_share, limit_bytes_per_s| {
        Demand::Transfer(Transfer {
            read_share,
            limit_bytes_per_s,
            ..Transfer::sequential(Op::Read, 64 << 30)
        })
    };
    match step.asked {
        Asked::Read => transfer(1.0, reaches),
        Asked::Write => transfer(0.0, reaches),
        Asked::Mixed => transfer(step.read_share, reaches),
        Asked::Limited if speed > 0.0 => transfer(step.read / speed, 1e9 * speed),
        Asked::Nothing if speed > 0.0 => transfer(step.read / speed, 1e9 * speed),
        Asked::Limited | Asked::Nothing => Demand::Idle,
    }
}
