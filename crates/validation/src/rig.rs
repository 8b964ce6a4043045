//! The test bench: simulated drives, loads, and a logger that looks once a second.

use std::time::Duration;

use measure::record::Op;
use measure::{Instant, Kelvin, Seed};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

use physics::Tmt;
use physics::drive::{Demand, Drive, Transfer};
use physics::profile::Profile;
use physics::truth::{Source, TruthKind};

/// The region of the HCTM runs: any that fits the SLC cache; its size is not stated.
const REGION_BYTES: u64 = 50 << 30;
/// Commands of 1 MiB at depth 64: stated.
const COMMAND_BYTES: u32 = 1 << 20;
const DEPTH: u64 = 64;
/// Any; what comes out by chance (dips, wobble) comes out the same every time.
const SEED: Seed = Seed::new(1);

/// Where drives come from; a test may bend their profiles on the way.
pub(super) struct Rig<'a> {
    bend: &'a dyn Fn(&mut Profile),
    seed: Seed,
}

impl<'a> Rig<'a> {
    /// Drives as they are.
    pub(super) const fn builtin() -> Rig<'static> {
        Rig { bend: &|_| {}, seed: SEED }
    }

    /// Drives whose profiles are changed first.
    pub(super) const fn bent(bend: &'a dyn Fn(&mut Profile)) -> Self {
        Self { bend, seed: SEED }
    }

    /// The same, and what comes out by chance comes out another way.
    pub(super) const fn seeded(self, seed: Seed) -> Self {
        Self { seed, ..self }
    }

    pub(super) fn profile(&self, name: &str) -> Profile {
        let mut profile =
            Profile::builtin(name).expect("experiments name built-in profiles only (our own bug)");
        (self.bend)(&mut profile);
        profile
    }

    /// A drive with thermal management temperatures in whole degrees Celsius, or its defaults.
    pub(super) fn drive(&self, name: &str, tmt_c: Option<(i32, i32)>) -> Drive {
        let mut drive = Drive::new(&self.profile(name), self.seed);
        if let Some((tmt1, tmt2)) = tmt_c {
            let kelvin = |c| Kelvin::from_whole_celsius(c).map_or(0, Kelvin::as_kelvin);
            drive
                .set_tmt(Tmt::from_kelvin(kelvin(tmt1), kelvin(tmt2)))
                .expect("published settings are legal on the drives they were made on (our own bug)");
        }
        drive
    }
}

/// What the logger saw of one second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Second {
    pub(super) mb_per_s: f64,
    /// The reported composite, in whole degrees.
    pub(super) temp_c: f64,
}

pub(super) type Log = Vec<Second>;

fn second(drive: &Drive, bytes: f64) -> Second {
    Second { mb_per_s: bytes / 1e6, temp_c: f64::from(drive.composite().as_whole_celsius()) }
}

/// Sequential commands at depth 64 for `seconds`, one by one, then an empty queue.
pub(super) fn commands(drive: &mut Drive, op: Op, seconds: u64) -> Log {
    commands_seen(drive, op, seconds, 0.0)
}

/// The same through a logger each of whose seconds ends up to `error_s` early or late, and that takes it for
/// a second all the same. What the drive does is not touched by it.
pub(super) fn commands_seen(drive: &mut Drive, op: Op, seconds: u64, error_s: f64) -> Log {
    let mut clock = Pcg32::seed_from_u64(SEED.as_u64());
    let mut error = || (f64::from(clock.next_u32()) / 2_147_483_648.0 - 1.0) * error_s;
    let len = u64::from(COMMAND_BYTES);
    let mut offset = 0;
    let mut next = |drive: &mut Drive, at| {
        drive.submit(at, 0, op, offset, COMMAND_BYTES);
        offset = (offset + len) % REGION_BYTES;
    };
    for _ in 0..DEPTH {
        next(drive, drive.now());
    }
    let start = drive.now();
    let mut done = Vec::new();
    let mut log = Vec::new();
    for s in 1..=seconds {
        let end = start + Duration::from_secs_f64(s as f64 + error());
        let mut bytes = 0;
        loop {
            drive.advance(end, &mut done);
            if done.is_empty() {
                break;
            }
            for (_, at) in done.drain(..) {
                bytes += len;
                next(drive, at);
            }
        }
        log.push(second(drive, bytes as f64));
    }
    while drive.outstanding() > 0 {
        drive.advance(Instant::NEVER, &mut done);
    }
    log
}

/// Moves `bytes` in sequence from the start of the drive on as a demand; gives up after `most_s` seconds.
pub(super) fn span(drive: &mut Drive, op: Op, bytes: f64, most_s: usize) -> Log {
    let demand = Demand::Transfer(Transfer::sequential(op, drive.profile().identity.capacity_bytes));
    let (mut moved, mut log) = (0.0, Vec::new());
    while moved < bytes && log.len() < most_s {
        let part = drive.advance_demand(drive.now() + Duration::from_secs(1), &demand);
        let part = part.read_bytes + part.write_bytes;
        moved += part;
        log.push(second(drive, part));
    }
    log
}

/// How often something throttled.
pub(super) fn onsets(drive: &Drive) -> usize {
    drive.truth().iter().filter(|event| matches!(event.kind, TruthKind::ThrottleOnset(_))).count()
}

/// How often `source` throttled.
pub(super) fn onsets_of(drive: &Drive, source: Source) -> usize {
    drive.truth().iter().filter(|event| event.kind == TruthKind::ThrottleOnset(source)).count()
}

fn speeds(log: &[Second]) -> impl Iterator<Item = f64> + '_ {
    log.iter().map(|s| s.mb_per_s)
}

/// Mean speed in MB/s.
pub(super) fn mean(log: &[Second]) -> f64 {
    speeds(log).sum::<f64>() / log.len() as f64
}

/// Standard deviation of the speed in MB/s.
pub(super) fn deviation(log: &[Second]) -> f64 {
    let mean = mean(log);
    (speeds(log).map(|speed| (speed - mean).powi(2)).sum::<f64>() / log.len() as f64).sqrt()
}

/// Wobble of the speed in MB/s: how far a second lies from the one before, as a deviation. A speed that
/// drifts does not wobble.
pub(super) fn wobble(log: &[Second]) -> f64 {
    let steps = log.windows(2).map(|pair| (pair[1].mb_per_s - pair[0].mb_per_s).powi(2));
    // Two draws that have nothing to do with each other lie sqrt(2) deviations apart.
    (steps.sum::<f64>() / log.len().saturating_sub(1) as f64 / 2.0).sqrt()
}

/// Middle value; NaN of nothing.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Middle speed of the last minute: dips that come by chance are no part of a plateau.
pub(super) fn plateau(log: &[Second]) -> f64 {
    median(speeds(&log[log.len().saturating_sub(60)..]))
}

/// Share of the seconds of the last half that lie within 5 % of the plateau: what "stable" is measured as. Dips that
/// come by chance take some seconds, a drive that swings takes most.
pub(super) fn steady_share(log: &[Second]) -> f64 {
    let (plateau, last) = (plateau(log), &log[log.len() / 2..]);
    speeds(last).filter(|speed| (speed / plateau - 1.0).abs() <= 0.05).count() as f64 / last.len() as f64
}

pub(super) fn slowest(log: &[Second]) -> f64 {
    speeds(log).fold(f64::MAX, f64::min)
}

pub(super) fn fastest(log: &[Second]) -> f64 {
    speeds(log).fold(0.0, f64::max)
}

/// Highest reading in °C.
pub(super) fn hottest(log: &[Second]) -> f64 {
    log.iter().map(|s| s.temp_c).fold(f64::MIN, f64::max)
}

/// Reading at the end in °C; NaN of nothing.
pub(super) fn end_temp(log: &[Second]) -> f64 {
    log.last().map_or(f64::NAN, |s| s.temp_c)
}

/// Index of the first second slower than `mb_per_s`; the length when there is none.
pub(super) fn first_below(log: &[Second], mb_per_s: f64) -> usize {
    log.iter().position(|s| s.mb_per_s < mb_per_s).unwrap_or(log.len())
}

/// Reading at a second in °C; NaN past the end.
pub(super) fn temp_at(log: &[Second], index: usize) -> f64 {
    log.get(index).map_or(f64::NAN, |s| s.temp_c)
}
