//! A drive at work, second by second, and the log that somebody would have taken of it.

use std::time::Duration;

use fit::simulate::{LoadPhase, LoadSecond, demand};
use measure::Series;
use measure::record::ThermalSettings;
use physics::{Drive, Tmt};
use trace::{Counters, Interval, Phase, SegmentOp, SpeedSeries, Temperature, Trace, instant};

use super::drives::{TestDrive, What};
use super::state::{OtherState, STATE};
use crate::corpus::draw::CorpusDraw;
use crate::corpus::foreign::ForeignDrive;
use crate::corpus::foreign::world::{Set, World};

/// Steps of a foreign drive in a second.
const STEPS: usize = 10;

/// The other airflow: half the last resistance.
pub(super) const AIRFLOW: f64 = 2.0;

/// Where a drive works.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    /// TMT1 and TMT2; 0 is off.
    pub(super) tmt_k: [u16; 2],
    /// Warmer than in the run by this.
    pub(super) warmer_k: f64,
    /// Whether a fan halves the last resistance.
    pub(super) aired: bool,
    /// Whether it is in the other power state.
    pub(super) other_state: bool,
    /// Whether its firmware sleeps: what it would do without heat.
    pub(super) unguarded: bool,
}

/// A drive at work.
pub(super) enum Live {
    Own(Box<Drive>),
    /// And the steps it has done.
    Foreign(Box<ForeignDrive>, u64),
}

impl Live {
    pub(super) fn new(drive: &TestDrive, room: Room) -> Self {
        match &drive.what {
            What::Own(profile) => {
                let mut profile = (**profile).clone();
                profile.thermal.ambient_c += room.warmer_k;
                if room.aired {
                    profile.thermal.airflow *= AIRFLOW;
                }
                if room.unguarded {
                    profile.policy.clear();
                }
                if room.other_state {
                    OtherState::draw(drive).add_to(&mut profile);
                }
                let mut own = Drive::new(&profile, drive.seed.part(1));
                if room.other_state {
                    own.set_power_state(STATE).expect("it was added");
                }
                if profile.limits.hctm.is_some() {
                    let [tmt1_k, tmt2_k] = room.tmt_k;
                    own.set_tmt(Tmt::from_kelvin(tmt1_k, tmt2_k)).expect("questions keep to what may be set");
                }
                Self::Own(Box::new(own))
            }
            What::Foreign(world) => {
                let mut world = placed(world, drive.tmt_k, room);
                if room.other_state {
                    OtherState::draw(drive).put_into(&mut world);
                }
                let foreign = ForeignDrive::new(&world, CorpusDraw::new(drive.seed.part(1)));
                Self::Foreign(Box::new(foreign), 0)
            }
        }
    }

    /// One second of a load: bytes read, bytes written.
    pub(super) fn second(&mut self, phase: &LoadPhase, full: [f64; 2]) -> [f64; 2] {
        match self {
            Self::Own(drive) => {
                let until = drive.now() + Duration::from_secs(1);
                let moved = drive.advance_demand(until, &demand(phase));
                [moved.read_bytes, moved.write_bytes]
            }
            Self::Foreign(drive, done) => foreign_second(drive, done, phase, full),
        }
    }

    /// The temperature that firmware goes by.
    pub(super) fn exact_k(&self) -> f64 {
        match self {
            Self::Own(drive) => drive.exact_composite().as_kelvin_f64(),
            Self::Foreign(drive, _) => drive.exact_k(),
        }
    }

    fn reading_k(&mut self) -> Option<f64> {
        match self {
            Self::Own(drive) => Some(f64::from(drive.composite().as_kelvin())),
            Self::Foreign(drive, _) => drive.composite_k(),
        }
    }

    fn counters(&self) -> Counters {
        let [(tmt1_transitions, tmt1_seconds), (tmt2_transitions, tmt2_seconds)] = match self {
            Self::Own(drive) => {
                let counted = drive.hctm_counters();
                [
                    (counted.tmt1_transitions.into(), counted.tmt1_seconds.into()),
                    (counted.tmt2_transitions.into(), counted.tmt2_seconds.into()),
                ]
            }
            Self::Foreign(drive, _) => drive.counters(),
        };
        Counters {
            tmt1_transitions: Some(tmt1_transitions),
            tmt2_transitions: Some(tmt2_transitions),
            tmt1_seconds: Some(tmt1_seconds),
            tmt2_seconds: Some(tmt2_seconds),
        }
    }
}

/// Firmware goes by TMT1 and TMT2: their thresholds move with the settings.
fn placed(world: &World, run_tmt_k: [u16; 2], room: Room) -> World {
    let mut world = world.clone();
    world.air.kelvin += room.warmer_k;
    if let Some(last) = world.nodes.last_mut().filter(|_| room.aired) {
        last.1 /= AIRFLOW;
    }
    if room.unguarded {
        world.firmware.clear();
    }
    for guardian in &mut world.firmware {
        let at = match guardian.set {
            Set::Tmt1 => 0,
            Set::Tmt2 => 1,
            Set::Own => continue,
        };
        let moved_k = f64::from(room.tmt_k[at]) - f64::from(run_tmt_k[at]);
        guardian.on_k += moved_k;
        guardian.off_k += moved_k;
    }
    world
}

/// A mix takes turns: as many steps read as it takes.
fn foreign_second(drive: &mut ForeignDrive, done: &mut u64, phase: &LoadPhase, full: [f64; 2]) -> [f64; 2] {
    let step_s = 1.0 / STEPS as f64;
    let mut moved = [0.0; 2];
    let Some(read) = phase.read_share else {
        (0..STEPS).for_each(|_| {
            drive.step(step_s, None, 0.0);
        });
        return moved;
    };
    let seconds = [read / full[0], (1.0 - read) / full[1]];
    let most = 1.0 / (seconds[0] + seconds[1]);
    let share = (phase.limit_bytes_per_s / most).min(1.0);
    let reading = seconds[0] / (seconds[0] + seconds[1]);
    for _ in 0..STEPS {
        // As many of all steps so far as it takes.
        let reads = |steps: u64| (reading * steps as f64 + 1e-9).floor();
        let op = usize::from(reads(*done + 1) <= reads(*done));
        *done += 1;
        moved[op] += drive.step(step_s, Some(op), share * full[op]).0;
    }
    moved
}

/// Full speed of reading and writing in a room.
fn full(drive: &TestDrive, room: Room) -> [f64; 2] {
    if room.other_state { OtherState::draw(drive).full(drive) } else { drive.full() }
}

/// The log of a run in a room, at a hertz.
pub(super) fn record(drive: &TestDrive, phases: &[LoadPhase], room: Room) -> Trace {
    let part = 2 + 2 * u64::from(room.aired) + 4 * u64::from(room.other_state);
    let mut draw = CorpusDraw::new(drive.seed.part(part));
    let (mut live, full) = (Live::new(drive, room), full(drive, room));
    let mut trace = Trace::empty(&drive.name);
    trace.facts.simulated = Some(true);
    if drive.has_hctm() {
        (trace.facts.tmt_min_k, trace.facts.tmt_max_k) = (Some(273.0), Some(drive.most_tmt_k().into()));
        let [tmt1_k, tmt2_k] = room.tmt_k.map(Some);
        let power_state = Some(if room.other_state { STATE } else { 0 });
        trace.settings.push(instant(0.0), ThermalSettings { tmt1_k, tmt2_k, power_state });
    }
    let mut speeds = [Vec::new(), Vec::new()];
    let mut composite = Series::new();
    let mut t_s = 0.0;
    for (number, phase) in phases.iter().enumerate() {
        let op = match phase.read_share {
            None => SegmentOp::Idle,
            Some(share) if share >= 1.0 => SegmentOp::Read,
            Some(share) if share <= 0.0 => SegmentOp::Write,
            Some(_) => SegmentOp::Mixed,
        };
        let end_s = t_s + phase.seconds as f64;
        let limit = Some(phase.limit_bytes_per_s).filter(|limit| limit.is_finite());
        trace
            .phases
            .push(Phase { rate_limit_bytes_per_s: limit, ..Phase::bare(&phase.name, op, t_s, end_s) });
        for _ in 0..phase.seconds {
            if let Some(kelvin) = live.reading_k() {
                composite.push(instant(t_s), kelvin);
            }
            trace.counters.push(instant(t_s), live.counters());
            let moved = live.second(phase, full);
            for (speeds, bytes) in speeds.iter_mut().zip(moved) {
                let noise = (1.0 + drive.noise * draw.normal()).max(0.0);
                if bytes > 0.0 {
                    speeds.push(Interval {
                        start_s: t_s,
                        span_s: 1.0,
                        bytes: bytes * noise,
                        phase: number as u32,
                    });
                }
            }
            t_s += 1.0;
        }
    }
    for (op, intervals) in [SegmentOp::Read, SegmentOp::Write].into_iter().zip(speeds) {
        if !intervals.is_empty() {
            trace.speeds.push(SpeedSeries { op, intervals });
        }
    }
    trace.temperatures = vec![Temperature { name: "composite".to_owned(), kelvin: composite }];
    trace.trust_a_sensor();
    trace
}

/// What a load makes of a drive in a room: the seconds of each phase.
pub(super) fn seconds(drive: &TestDrive, room: Room, phases: &[LoadPhase]) -> Vec<Vec<LoadSecond>> {
    let (mut live, full) = (Live::new(drive, room), full(drive, room));
    let mut second = |phase: &LoadPhase| {
        let [read, write] = live.second(phase, full);
        LoadSecond { bytes: read + write, kelvin: live.exact_k() }
    };
    phases.iter().map(|phase| (0..phase.seconds).map(|_| second(phase)).collect()).collect()
}
