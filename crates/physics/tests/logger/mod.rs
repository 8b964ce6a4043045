//! Runs phases on a simulated drive and keeps what a 1 Hz logger would have seen.
#![allow(dead_code, reason = "each test file uses its part")]

use std::time::Duration;

use measure::record::Op;
use measure::{Instant, Kelvin, Seed};
use physics::profile::Start;
use physics::{Demand, Drive, Profile, Tmt, Transfer};

/// Region of the published runs: fits every SLC cache here.
pub(crate) const REGION_BYTES: u64 = 50 << 30;
const MIB: u32 = 1 << 20;
const DEPTH: u64 = 64;

/// One second of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Second {
    pub(crate) t_s: f64,
    pub(crate) mb_per_s: f64,
    /// The reported composite, as tools show it.
    pub(crate) temp_c: f64,
    /// The composite before rounding.
    pub(crate) exact_c: f64,
}

/// A drive with HCTM settings in whole degrees Celsius, as `nvme set-feature` users think of them.
pub(crate) fn drive(profile: &str, tmt: Option<(i32, i32)>) -> Drive {
    let mut profile = Profile::builtin(profile).expect("built in");
    // Nothing here is about start-up.
    if profile.thermal.start == Start::PowerCycle {
        profile.thermal.start = Start::Idle;
    }
    let mut drive = Drive::new(&profile, Seed::new(1));
    if let Some((tmt1, tmt2)) = tmt {
        let kelvin = |c| Kelvin::from_whole_celsius(c).expect("above absolute zero").as_kelvin();
        drive.set_tmt(Tmt::from_kelvin(kelvin(tmt1), kelvin(tmt2))).expect("legal");
    }
    drive
}

fn second(drive: &Drive, bytes: f64) -> Second {
    Second {
        t_s: drive.now().as_secs_f64(),
        mb_per_s: bytes / 1e6,
        temp_c: f64::from(drive.composite().as_whole_celsius()),
        exact_c: drive.exact_composite().as_degrees(),
    }
}

/// Sequential 1 MiB commands at depth 64 for `seconds`, one by one.
pub(crate) fn ios(drive: &mut Drive, op: Op, seconds: u64) -> Vec<Second> {
    let len = u64::from(MIB);
    let mut offset = 0;
    let mut next = |drive: &mut Drive, at| {
        drive.submit(at, 0, op, offset, MIB);
        offset = (offset + len) % REGION_BYTES;
    };
    for _ in 0..DEPTH {
        next(drive, drive.now());
    }
    let start = drive.now();
    let mut done = Vec::new();
    let mut log = Vec::new();
    for s in 1..=seconds {
        let end = start + Duration::from_secs(s);
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
    // Drain, so that the next phase begins with an empty queue.
    while drive.outstanding() > 0 {
        drive.advance(Instant::NEVER, &mut done);
    }
    log
}

/// The same load as a demand rate.
pub(crate) fn demand(drive: &mut Drive, op: Op, seconds: u64) -> Vec<Second> {
    by_demand(drive, &Demand::Transfer(Transfer::sequential(op, REGION_BYTES)), seconds)
}

/// Any demand for `seconds`.
pub(crate) fn by_demand(drive: &mut Drive, demand: &Demand, seconds: u64) -> Vec<Second> {
    let start = drive.now();
    (1..=seconds)
        .map(|s| {
            let moved = drive.advance_demand(start + Duration::from_secs(s), demand);
            second(drive, moved.read_bytes + moved.write_bytes)
        })
        .collect()
}

pub(crate) fn mean(log: &[Second]) -> f64 {
    log.iter().map(|s| s.mb_per_s).sum::<f64>() / log.len() as f64
}

/// Standard deviation of the speed in MB/s.
pub(crate) fn deviation(log: &[Second]) -> f64 {
    let mean = mean(log);
    (log.iter().map(|s| (s.mb_per_s - mean).powi(2)).sum::<f64>() / log.len() as f64).sqrt()
}

pub(crate) fn max_temp(log: &[Second]) -> f64 {
    log.iter().map(|s| s.temp_c).fold(f64::MIN, f64::max)
}

pub(crate) fn min_speed(log: &[Second]) -> f64 {
    log.iter().map(|s| s.mb_per_s).fold(f64::MAX, f64::min)
}

pub(crate) fn max_speed(log: &[Second]) -> f64 {
    log.iter().map(|s| s.mb_per_s).fold(0.0, f64::max)
}
