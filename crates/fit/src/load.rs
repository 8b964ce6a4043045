//! A plan as phases of one load each, as a forecast takes them.

use plan::{Extent, Load, Order, Plan};

use crate::data::{Asked, LoadStep, RunData};
use crate::simulate::LoadPhase;

/// Longest phase that is simulated where a plan sets no time, in seconds: a day.
const LONGEST_S: usize = 86_400;
/// Length of a region that fits the write cache, whatever its size is.
const IN_CACHE_BYTES: u64 = 1 << 30;
/// Length of a region that is a share of a drive of unknown size.
const ANY_BYTES: u64 = 1 << 50;
/// Depth beyond which no drive is any faster.
const MOST_DEPTH: usize = 4096;

/// The phases of a plan; `rate` limits every load, in bytes per second.
pub fn phases(plan: &Plan, rate: Option<f64>) -> Vec<LoadPhase> {
    phases_on(plan, rate, None)
}

/// The same on a drive of `capacity` bytes. Of one whose size is not known, laps over all of it have infinitely many bytes.
pub fn phases_on(plan: &Plan, rate: Option<f64>, capacity: Option<u64>) -> Vec<LoadPhase> {
    plan.phases.iter().map(|phase| one(phase, rate, capacity)).collect()
}

/// The load of a run again, stretch by stretch: what was as fast as it went is that here.
pub fn of_run(run: &RunData) -> Vec<LoadPhase> {
    let mut phases = Vec::new();
    for steps in run.steps.chunk_by(LoadStep::goes_on) {
        let mean = |get: fn(&LoadStep) -> f64| steps.iter().map(get).sum::<f64>() / steps.len() as f64;
        let (read, write) = (mean(|step| step.read), mean(|step| step.write));
        let reaches = steps[0].reaches.unwrap_or(f64::INFINITY);
        let (name, read_share, limit_gb_per_s) = match steps[0].asked {
            Asked::Read => ("read", Some(1.0), reaches),
            Asked::Write => ("write", Some(0.0), reaches),
            Asked::Mixed => ("mixed", Some(steps[0].read_share), reaches),
            Asked::Limited | Asked::Nothing if read + write > 0.0 => {
                // Heat may have left less than its rate.
                let limit = steps[0].limit.unwrap_or(0.0).max(read + write);
                ("limited", Some(read / (read + write)), limit)
            }
            Asked::Limited | Asked::Nothing => ("rest", None, f64::INFINITY),
        };
        phases.push(LoadPhase {
            name: name.to_owned(),
            read_share,
            limit_bytes_per_s: 1e9 * limit_gb_per_s,
            seconds: steps.len(),
            bytes: None,
            depth: 64,
            io_bytes: 1 << 20,
            sequential: true,
            region_bytes: 64 << 30,
            ratio_moves: false,
        });
    }
    phases
}

fn one(phase: &plan::Phase, rate: Option<f64>, capacity: Option<u64>) -> LoadPhase {
    let loads = &phase.loads;
    let load_time = loads.iter().filter_map(|load| load.duration).max();
    let bytes = loads.iter().filter_map(|load| asked_bytes(load, capacity)).sum::<f64>();
    let timed = phase.duration.or(load_time);
    let first = loads.first();
    let limits: Vec<f64> = loads.iter().map(limit).collect();
    let limit: f64 = limits.iter().sum();
    // Of several loads at once each moves what its rate says, or what it has in flight over what all have.
    let weight = |at: usize| if limit.is_finite() { limits[at] } else { in_flight(&loads[at]) };
    let (read, write) = loads.iter().enumerate().fold((0.0, 0.0), |(reads, writes), (at, load)| {
        let [read, write] = [load.mix.read, load.mix.write].map(f64::from);
        let each = weight(at) / (read + write).max(1.0);
        (reads + each * read, writes + each * write)
    });
    let has_rate = |limited: bool| limits.iter().any(|limit| limit.is_finite() == limited);
    LoadPhase {
        name: phase.name.clone(),
        read_share: (read + write > 0.0).then(|| read / (read + write)),
        limit_bytes_per_s: rate.unwrap_or(f64::INFINITY).min(if loads.is_empty() {
            f64::INFINITY
        } else {
            limit
        }),
        seconds: timed.map_or(LONGEST_S, |time| (time.as_secs_f64().round() as usize).clamp(1, LONGEST_S)),
        bytes: (bytes > 0.0).then_some(bytes),
        depth: depth(loads),
        io_bytes: first.map_or(1 << 20, |load| load.io_max().max(512)),
        sequential: first.is_none_or(|load| load.order == Order::Sequential),
        region_bytes: first.map_or(64 << 30, |load| region_bytes(load, capacity)),
        ratio_moves: has_rate(true) && has_rate(false),
    }
}

/// Bytes in flight: of loads that wait for one another in the drive those are what each gets.
fn in_flight(load: &Load) -> f64 {
    load.depth.as_usize() as f64 * f64::from(load.threads.max(1)) * f64::from(load.io_max())
}

fn limit(load: &Load) -> f64 {
    let by_iops = load.rate_iops.map(|iops| iops * f64::from(load.io_max()));
    [load.rate.map(|rate| rate.as_f64()), by_iops].into_iter().flatten().fold(f64::INFINITY, f64::min)
}

fn depth(loads: &[Load]) -> u16 {
    let depth: usize =
        loads.iter().map(|load| load.depth.as_usize() * usize::from(load.threads.max(1))).sum();
    depth.clamp(1, MOST_DEPTH) as u16
}

/// How much it moves before it ends by itself; laps over a region of unknown size are infinitely many bytes.
fn asked_bytes(load: &Load, capacity: Option<u64>) -> Option<f64> {
    let laps = load.laps.map(|laps| match region_bytes(load, capacity) {
        ANY_BYTES => f64::INFINITY,
        bytes => f64::from(laps) * bytes as f64,
    });
    let bytes = load.bytes.map(|bytes| bytes.as_f64());
    laps.into_iter().chain(bytes).reduce(f64::min)
}

/// Length of the region; what fits the write cache fits it here.
fn region_bytes(load: &Load, capacity: Option<u64>) -> u64 {
    let share = |share: f64| capacity.map_or(ANY_BYTES, |bytes| ((share * bytes as f64) as u64).max(1 << 20));
    match (load.region.start, load.region.len) {
        (_, Some(Extent::Slc)) => IN_CACHE_BYTES,
        (_, Some(Extent::Bytes(bytes))) => bytes.as_u64().clamp(1 << 20, 1 << 40),
        (_, Some(Extent::Fraction(len))) => share(len),
        (Extent::Fraction(start), None) => share(1.0 - start),
        (_, None) => share(1.0),
    }
}
