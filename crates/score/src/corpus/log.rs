//! Runs a recipe: what a tool would have logged, and beside it what really happened, step by step.

use std::time::Duration;

use analysis::findings::SegmentOp;
use measure::Series;
use measure::record::{Op, ThermalSettings};
use physics::{Demand, Drive, Transfer, TruthEvent};
use trace::Trace;
use trace::{Counters, Facts, Interval, Phase, SpeedSeries, Temperature, infer_phases, instant};

use super::draw::CorpusDraw;
use super::foreign::{ForeignDrive, World, foreign_op};
use super::recipe::{Counting, Recipe, RecipeKind, RecipeLoad, RecipeSensors};

/// Truth is kept this finely; the shortest interval of a log.
pub(super) const STEP_S: f64 = 0.1;

/// What really happened.
pub(super) struct Steps {
    pub(super) steps: Vec<LogStep>,
    /// Policies, cache and dips, from inside the drive.
    pub(super) events: Vec<TruthEvent>,
}

/// A tenth of a second of truth.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogStep {
    /// Index into the phases.
    pub(super) phase: usize,
    /// Whether data is asked for.
    pub(super) loaded: bool,
    pub(super) op: Op,
    /// What heat leaves of the speed that the load would have had.
    pub(super) heat: f64,
    /// What dips, cache and power state leave of it.
    pub(super) other: f64,
    /// The composite temperature before rounding.
    pub(super) temp_k: f64,
}

/// The log of a run and its truth.
pub(super) fn record(recipe: &Recipe) -> (Trace, Steps) {
    match &recipe.world {
        Some(world) => record_foreign(recipe, world),
        None => record_physics(recipe),
    }
}

/// Of a drive that shares nothing with `physics`.
fn record_foreign(recipe: &Recipe, world: &World) -> (Trace, Steps) {
    let mut logger = Logger::new(recipe);
    let mut drive = ForeignDrive::new(world, CorpusDraw::new(recipe.seed.part(1)));
    let mut steps = Vec::new();
    let mut t_s = 0.0;
    for (phase, load) in recipe.loads.iter().enumerate() {
        logger.begin(phase, load, t_s);
        let op = foreign_op(load.op);
        for _ in 0..(load.seconds / STEP_S).round() as usize {
            logger.sample(t_s, || foreign_shown(&mut drive));
            let (bytes, left) = drive.step(STEP_S, op, load.limit);
            let temp_k = drive.exact_k();
            let (heat, other, loaded) = (left.heat, left.other, load.op != Op::Idle);
            steps.push(LogStep { phase, loaded, op: load.op, heat, other, temp_k });
            logger.moved(load.op, phase, t_s, bytes);
            t_s += STEP_S;
        }
        logger.end(t_s);
    }
    (logger.finish(), Steps { steps, events: drive.events })
}

/// Of a drive of `physics`.
fn record_physics(recipe: &Recipe) -> (Trace, Steps) {
    let mut logger = Logger::new(recipe);
    let mut drive = Drive::new(&recipe.profile, recipe.seed.part(1));
    let mut steps = Vec::new();
    let mut t_s = 0.0;
    for (index, load) in recipe.loads.iter().enumerate() {
        drive.set_power_state(load.power_state).expect("it is in the profile");
        // The host changes the power state in the middle of one phase.
        let phase = if recipe.kind == RecipeKind::PowerState { 0 } else { index };
        logger.begin(phase, load, t_s);
        for _ in 0..(load.seconds / STEP_S).round() as usize {
            logger.sample(t_s, || shown(&drive));
            steps.push(step(recipe, &drive, phase, load));
            let bytes = advance(&mut drive, load);
            logger.moved(load.op, phase, t_s, bytes);
            t_s += STEP_S;
        }
        logger.end(t_s);
    }
    logger.sample(t_s, || shown(&drive));
    (logger.finish(), Steps { steps, events: drive.truth().to_vec() })
}

fn advance(drive: &mut Drive, load: &RecipeLoad) -> f64 {
    let until = drive.now() + Duration::from_millis((STEP_S * 1e3) as u64);
    let demand = match load.op {
        Op::Idle => Demand::Idle,
        op => {
            let capacity = drive.profile().identity.capacity_bytes;
            Demand::Transfer(Transfer {
                limit_bytes_per_s: load.limit,
                // Deep enough that latency hides.
                queue_depth: 256,
                ..Transfer::sequential(op, capacity)
            })
        }
    };
    let moved = drive.advance_demand(until, &demand);
    moved.read_bytes + moved.write_bytes
}

/// The truth at this moment.
fn step(recipe: &Recipe, drive: &Drive, phase: usize, of: &RecipeLoad) -> LogStep {
    let media = &recipe.profile.media;
    let state = &recipe.profile.power_state[usize::from(of.power_state)];
    let (media_speed, state_cap) = match of.op {
        Op::Read => (media.sequential_read.bytes_per_s, state.read_cap_bytes_per_s),
        _ => (media.sequential_write.bytes_per_s, state.write_cap_bytes_per_s),
    };
    let full = media_speed.min(media.link_bytes_per_s).min(of.limit);
    let last_dip = drive.truth().iter().rev().find(|e| e.name == "dip");
    let in_dip = last_dip.is_some_and(|e| e.kind == physics::TruthKind::DipBegin);
    let dip = if in_dip { media_speed * recipe.profile.dip[0].speed_share } else { f64::INFINITY };
    let direct = recipe.profile.slc.filter(|_| of.op == Op::Write && drive.slc_free_bytes() == Some(0));
    let direct = direct.map_or(f64::INFINITY, |slc| slc.direct_write.bytes_per_s);
    let without_heat = full.min(dip).min(direct).min(state_cap.unwrap_or(f64::INFINITY));
    let cap = drive.active_cap(of.op).unwrap_or(f64::INFINITY);
    LogStep {
        phase,
        loaded: of.op != Op::Idle,
        op: of.op,
        heat: (cap / without_heat).min(1.0),
        other: without_heat / full,
        temp_k: drive.exact_composite().as_kelvin_f64(),
    }
}

/// What a health log shows.
struct Shown {
    /// Composite, sensor 1, sensor 2, in kelvins; `None` where it was not read.
    kelvin: [Option<f64>; 3],
    /// Transitions and seconds of TMT1 and TMT2.
    counted: [(u64, u64); 2],
}

fn shown(drive: &Drive) -> Shown {
    let sensor = |number| drive.sensor(number).map(|kelvin| f64::from(kelvin.as_kelvin()));
    let counted = drive.hctm_counters();
    Shown {
        kelvin: [Some(f64::from(drive.composite().as_kelvin())), sensor(1), sensor(2)],
        counted: [
            (counted.tmt1_transitions.into(), counted.tmt1_seconds.into()),
            (counted.tmt2_transitions.into(), counted.tmt2_seconds.into()),
        ],
    }
}

fn foreign_shown(drive: &mut ForeignDrive) -> Shown {
    let composite = drive.composite_k();
    let [first, second] = [drive.exact_k() + 3.0, drive.exact_k() - 4.0].map(|kelvin| Some(kelvin.floor()));
    Shown { kelvin: [composite, first, second], counted: drive.counters() }
}

struct Logger<'a> {
    recipe: &'a Recipe,
    draw: CorpusDraw,
    trace: Trace,
    /// Read and write.
    speeds: [Vec<Interval>; 2],
    /// Composite, sensor 1, sensor 2.
    kelvin: [Series<f64>; 3],
    next_sample: u64,
}

impl<'a> Logger<'a> {
    fn new(recipe: &'a Recipe) -> Self {
        let mut trace = Trace::empty(&format!("run {} of the corpus", recipe.number));
        trace.facts.simulated = Some(true);
        if recipe.logging.facts_known {
            trace.facts = Facts {
                link_bytes_per_s: Some(recipe.profile.media.link_bytes_per_s),
                warning_k: Some(recipe.profile.limits.wctemp_k.into()),
                critical_k: Some(recipe.profile.limits.cctemp_k.into()),
                ..trace.facts
            };
        }
        Self {
            recipe,
            draw: CorpusDraw::new(recipe.seed.part(2)),
            trace,
            speeds: [Vec::new(), Vec::new()],
            kelvin: [const { Series::new() }; 3],
            next_sample: 0,
        }
    }

    fn begin(&mut self, index: usize, load: &RecipeLoad, t_s: f64) {
        let limit = Some(load.limit).filter(|limit| limit.is_finite());
        if index == self.trace.phases.len() {
            self.trace.phases.push(Phase {
                what: format!("{:?} {limit:?}", load.op),
                rate_limit_bytes_per_s: limit,
                ..Phase::bare(&index.to_string(), load.op.into(), t_s, t_s)
            });
        }
        if self.recipe.logging.settings_known {
            let hctm = self.recipe.profile.limits.hctm.as_ref();
            let settings = ThermalSettings {
                tmt1_k: hctm.map(|hctm| hctm.tmt1_k),
                tmt2_k: hctm.map(|hctm| hctm.tmt2_k),
                power_state: Some(load.power_state),
            };
            if self.trace.settings.points().last().is_none_or(|last| last.value != settings) {
                self.trace.settings.push(instant(t_s), settings);
            }
        }
    }

    fn end(&mut self, t_s: f64) {
        if let Some(phase) = self.trace.phases.last_mut() {
            phase.end_s = t_s;
        }
    }

    /// Reads the health log when it is time to.
    fn sample(&mut self, t_s: f64, look: impl FnOnce() -> Shown) {
        let logging = &self.recipe.logging;
        if t_s + 1e-6 < self.next_sample as f64 * logging.temperature_s {
            return;
        }
        self.next_sample += 1;
        let at = instant((t_s + logging.late_s).max(0.0));
        let Shown { kelvin, counted } = look();
        for (series, kelvin) in self.kelvin.iter_mut().zip(kelvin) {
            if let Some(kelvin) = kelvin {
                series.push(at, kelvin);
            }
        }
        let honest = logging.counting == Counting::Honest;
        let shown = |count: u64| Some(if honest { count } else { 0 });
        let [(tmt1_transitions, tmt1_seconds), (tmt2_transitions, tmt2_seconds)] = counted;
        if logging.counting == Counting::Invented {
            let count = Some((t_s / 30.0) as u64);
            let counters = Counters { tmt1_transitions: count, tmt1_seconds: count, ..Counters::default() };
            self.trace.counters.push(at, counters);
        } else if logging.counting != Counting::Absent {
            let counters = Counters {
                tmt1_transitions: shown(tmt1_transitions),
                tmt2_transitions: shown(tmt2_transitions),
                tmt1_seconds: shown(tmt1_seconds),
                tmt2_seconds: shown(tmt2_seconds),
            };
            self.trace.counters.push(at, counters);
        }
    }

    /// Adds what a step moved to the running interval.
    fn moved(&mut self, op: Op, phase: usize, t_s: f64, bytes: f64) {
        let of_op = match op {
            Op::Read => 0,
            Op::Write => 1,
            // A log without phases shows nothing moving; one with phases has no rows here.
            _ if !self.recipe.logging.phases_known => 1,
            _ => return,
        };
        let interval_s = self.recipe.logging.interval_s;
        match self.speeds[of_op].last_mut() {
            Some(last) if last.phase as usize == phase && last.span_s < interval_s - 1e-6 => {
                last.span_s += STEP_S;
                last.bytes += bytes;
            }
            _ => {
                self.speeds[of_op].push(Interval { start_s: t_s, span_s: STEP_S, bytes, phase: phase as u32 })
            }
        }
    }

    fn finish(mut self) -> Trace {
        let logging = &self.recipe.logging;
        for interval in self.speeds.iter_mut().flatten() {
            let noise = 1.0 + logging.noise * self.draw.normal();
            // A stall lasts less than a second: longer intervals hardly show it.
            let chance = if logging.interval_s <= 1.0 { logging.stalls } else { 0.0 };
            let stall = if self.draw.chance(chance) { self.draw.between(0.2, 0.7) } else { 1.0 };
            interval.bytes *= noise.max(0.0) * stall;
        }
        let [read, write] = self.speeds;
        for (op, intervals) in [(SegmentOp::Read, read), (SegmentOp::Write, write)] {
            if !intervals.is_empty() {
                self.trace.speeds.push(SpeedSeries { op, intervals });
            }
        }
        let [composite, sensor1, sensor2] = self.kelvin;
        let named = |name: &str, kelvin| Temperature { name: name.to_owned(), kelvin };
        self.trace.temperatures = match logging.sensors {
            RecipeSensors::None => Vec::new(),
            RecipeSensors::Composite | RecipeSensors::FrozenAlone => vec![named("composite", composite)],
            RecipeSensors::Copied => vec![named("composite", sensor1.clone()), named("sensor1", sensor1)],
            RecipeSensors::Stopping => {
                let composite = stopping(&composite, self.trace.end_s() / 2.0);
                vec![named("composite", composite), named("sensor1", sensor1), named("sensor2", sensor2)]
            }
            RecipeSensors::Several | RecipeSensors::FrozenComposite => {
                vec![named("composite", composite), named("sensor1", sensor1), named("sensor2", sensor2)]
            }
        };
        self.trace.trust_a_sensor();
        if !logging.phases_known {
            infer_phases(&mut self.trace);
        }
        self.trace
    }
}

/// A sensor that goes on showing what it showed at `from_s`.
fn stopping(kelvin: &Series<f64>, from_s: f64) -> Series<f64> {
    let mut stopped = Series::new();
    for point in kelvin.points() {
        let before = stopped.points().last().map(|last: &measure::Point<f64>| last.value);
        let stands = point.t.as_secs_f64() >= from_s;
        stopped.push(point.t, before.filter(|_| stands).unwrap_or(point.value));
    }
    stopped
}
