//! A small simulated drive with known truth: two thermal nodes, a policy, a fast cache, a sensor in whole kelvins.
//!
//! Not the twin, on purpose: what judges the analysis must not share code with what it will be used with.
//! Parameters are those of the prototype in the project's model notes (5.6): two exponentials of 40 and 140 s, half
//! each, 303 K around, 15 K at rest, 12.5 K for each GB/s written and 15 K for each GB/s read.

use analysis::findings::SegmentOp;
use measure::Series;
use measure::record::ThermalSettings;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use trace::{Counters, Facts, Interval, Phase, SpeedSeries, Temperature, Trace, instant};

/// Step of the simulation in seconds.
const STEP_S: f64 = 0.1;

/// How the drive manages its heat. Temperatures in kelvins, speeds in GB/s.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Policy {
    None,
    /// Slow from `on` up to `off`.
    Relay {
        on: f64,
        off: f64,
        speed: f64,
    },
    /// Light from `light` on, heavy from `heavy` on until below `light`.
    TwoLevel {
        light: f64,
        heavy: f64,
        light_speed: f64,
        heavy_speed: f64,
    },
    /// Speed follows temperature: integral control towards `hold`, changing at most `slew` GB/s a second.
    Regulator {
        hold: f64,
        slew: f64,
        least: f64,
    },
    /// As the regulator, but made of bursts of `period_s`.
    DutyCycled {
        hold: f64,
        slew: f64,
        least: f64,
        period_s: f64,
    },
    /// Nothing at all from `on` to `off`.
    Stop {
        on: f64,
        off: f64,
    },
}

/// A phase of load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub op: SegmentOp,
    pub seconds: f64,
}

/// Everything that is to be simulated.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub seed: u64,
    pub write_gb_s: f64,
    pub read_gb_s: f64,
    pub policies: Vec<Policy>,
    pub loads: Vec<Load>,
    pub tmt_k: Option<(u16, u16)>,
    /// Whether transitions of the first policy are counted, and as which.
    pub counts: Option<u8>,
    pub slc_gb: Option<(f64, f64)>,
    /// Dips that have nothing to do with heat: every so many seconds, for so many, to this share.
    pub dips: Option<(f64, f64, f64)>,
    /// Other work of the host: from and to which second, to this share.
    pub jobs: Vec<(f64, f64, f64)>,
    /// Slow wobble of speed: period in seconds and relative amplitude.
    pub wobble: Option<(f64, f64)>,
    pub ambient_k: f64,
    pub start_above_rest_k: f64,
    pub interval_s: f64,
    pub noise: f64,
    pub write_gain: f64,
    pub read_gain: f64,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            seed: 1,
            write_gb_s: 1.6,
            read_gb_s: 3.0,
            policies: vec![Policy::None],
            loads: vec![Load { op: SegmentOp::Write, seconds: 600.0 }],
            tmt_k: None,
            counts: None,
            slc_gb: None,
            dips: None,
            jobs: Vec::new(),
            wobble: None,
            ambient_k: 303.0,
            start_above_rest_k: 0.0,
            interval_s: 1.0,
            noise: 0.01,
            write_gain: 12.5,
            read_gain: 15.0,
        }
    }
}

/// What really happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    /// Time and temperature of each beginning of throttling.
    pub onsets: Vec<(f64, f64)>,
    /// Time and temperature of each end.
    pub releases: Vec<(f64, f64)>,
    /// When the fast cache was full, and the bytes written until then.
    pub slc_full: Option<(f64, f64)>,
}

struct JointMachine {
    policy: Policy,
    slow: bool,
    heavy: bool,
    cap: f64,
    phase_s: f64,
}

impl JointMachine {
    /// The speed that this machine allows, with `full` wanted at `kelvin`.
    fn step(&mut self, kelvin: f64, full: f64) -> f64 {
        match self.policy {
            Policy::None => full,
            Policy::Relay { on, off, speed } => {
                self.slow = if self.slow { kelvin > off } else { kelvin >= on };
                if self.slow { speed } else { full }
            }
            Policy::Stop { on, off } => {
                self.slow = if self.slow { kelvin > off } else { kelvin >= on };
                if self.slow { 0.0 } else { full }
            }
            Policy::TwoLevel { light, heavy, light_speed, heavy_speed } => {
                self.heavy = if self.heavy { kelvin > light } else { kelvin >= heavy };
                self.slow = self.heavy || kelvin >= light && light_speed < full;
                match (self.heavy, kelvin >= light) {
                    (true, _) => heavy_speed,
                    (false, true) => light_speed,
                    _ => full,
                }
            }
            Policy::Regulator { hold, slew, least } => self.regulate(kelvin, full, hold, slew, least),
            Policy::DutyCycled { hold, slew, least, period_s } => {
                let mean = self.regulate(kelvin, full, hold, slew, least);
                self.phase_s = (self.phase_s + STEP_S) % period_s;
                if self.phase_s < period_s * mean / full { full } else { 0.0 }
            }
        }
    }

    fn regulate(&mut self, kelvin: f64, full: f64, hold: f64, slew: f64, least: f64) -> f64 {
        let wanted = (hold - kelvin).clamp(-1.0, 1.0) * slew * STEP_S;
        self.cap = (self.cap.min(full) + wanted).clamp(least, full);
        self.slow = self.cap < 0.96 * full;
        self.cap
    }
}

/// Simulates a run.
pub(crate) fn simulate(setup: &Setup) -> (Trace, Truth) {
    let mut sim = Sim::new(setup);
    for (index, load) in setup.loads.iter().enumerate() {
        let steps = (load.seconds / STEP_S).round() as usize;
        for _ in 0..steps {
            sim.step(load.op, index as u32);
        }
    }
    sim.finish()
}

struct Sim<'a> {
    setup: &'a Setup,
    rng: Pcg64Mcg,
    machines: Vec<JointMachine>,
    rise: [f64; 2],
    now: usize,
    written_gb: f64,
    was_slow: bool,
    truth: Truth,
    series: [Vec<Interval>; 2],
    composite: Series<f64>,
    counters: Series<Counters>,
    transitions: u64,
}

impl<'a> Sim<'a> {
    fn new(setup: &'a Setup) -> Self {
        let machine = |policy: &Policy| JointMachine {
            policy: *policy,
            slow: false,
            heavy: false,
            cap: f64::MAX,
            phase_s: 0.0,
        };
        Self {
            setup,
            rng: Pcg64Mcg::new(u128::from(setup.seed)),
            machines: setup.policies.iter().map(machine).collect(),
            rise: [setup.start_above_rest_k / 2.0; 2],
            now: 0,
            written_gb: 0.0,
            was_slow: false,
            truth: Truth::default(),
            series: [Vec::new(), Vec::new()],
            composite: Series::new(),
            counters: Series::new(),
            transitions: 0,
        }
    }

    fn noise(&mut self) -> f64 {
        // Six uniforms: variance 6/12, so sqrt(2) makes it 1.
        (0..6).map(|_| f64::from(self.rng.next_u32()) / f64::from(u32::MAX) - 0.5).sum::<f64>() * 2f64.sqrt()
    }

    fn kelvin(&self) -> f64 {
        self.setup.ambient_k + 15.0 + self.rise[0] + self.rise[1]
    }

    fn step(&mut self, op: SegmentOp, phase: u32) {
        let t_s = self.now as f64 * STEP_S;
        let kelvin = self.kelvin();
        self.sense(t_s, kelvin);
        let speed = match op {
            SegmentOp::Idle => 0.0,
            _ => self.speed(op, t_s, kelvin),
        };
        self.account(op, phase, t_s, speed);
        let gain = if op == SegmentOp::Read { self.setup.read_gain } else { self.setup.write_gain };
        for (rise, tau_s) in self.rise.iter_mut().zip([40.0f64, 140.0]) {
            *rise += (0.5 * gain * speed - *rise) * (1.0 - (-STEP_S / tau_s).exp());
        }
        self.now += 1;
    }

    fn speed(&mut self, op: SegmentOp, t_s: f64, kelvin: f64) -> f64 {
        let setup = self.setup;
        let mut full = if op == SegmentOp::Read { setup.read_gb_s } else { setup.write_gb_s };
        if let Some((slc_gb, after)) = setup.slc_gb.filter(|_| op == SegmentOp::Write)
            && self.written_gb >= slc_gb
        {
            self.truth.slc_full.get_or_insert((t_s, self.written_gb * 1e9));
            full = after;
        }
        let allowed = self.machines.iter_mut().map(|m| m.step(kelvin, full)).fold(full, f64::min);
        let slow = self.machines.iter().any(|m| m.slow);
        if slow != self.was_slow {
            let list = if slow { &mut self.truth.onsets } else { &mut self.truth.releases };
            list.push((t_s, kelvin));
            self.transitions += u64::from(slow);
            self.was_slow = slow;
        }
        let mut speed = allowed;
        if let Some((every_s, for_s, share)) = setup.dips
            && t_s > every_s
            && t_s % every_s < for_s
        {
            speed *= share;
        }
        if let Some((.., share)) = setup.jobs.iter().find(|(from_s, to_s, _)| (*from_s..*to_s).contains(&t_s))
        {
            speed *= share;
        }
        if let Some((period_s, amplitude)) = setup.wobble {
            speed *= 1.0 + amplitude * (t_s / period_s * std::f64::consts::TAU).sin();
        }
        speed
    }

    fn sense(&mut self, t_s: f64, kelvin: f64) {
        if self.now.is_multiple_of(10) {
            let reading = (kelvin + 0.3 * self.noise()).round();
            self.composite.push(instant(t_s), reading);
            if let Some(which) = self.setup.counts {
                let n = Some(self.transitions + 3);
                let counters = match which {
                    1 => Counters { tmt1_transitions: n, tmt2_transitions: Some(0), ..Counters::default() },
                    2 => Counters { tmt1_transitions: Some(3), tmt2_transitions: n, ..Counters::default() },
                    _ => Counters {
                        tmt1_transitions: Some(0),
                        tmt2_transitions: Some(0),
                        ..Counters::default()
                    },
                };
                self.counters.push(instant(t_s), counters);
            }
        }
    }

    fn account(&mut self, op: SegmentOp, phase: u32, t_s: f64, speed: f64) {
        let series = match op {
            SegmentOp::Read => 0,
            SegmentOp::Write => 1,
            _ => return,
        };
        if op == SegmentOp::Write {
            self.written_gb += speed * STEP_S;
        }
        let steps = (self.setup.interval_s / STEP_S).round() as usize;
        let bytes = speed * 1e9 * STEP_S * (1.0 + self.setup.noise * (steps as f64).sqrt() * self.noise());
        match self.series[series].last_mut() {
            Some(last) if last.phase == phase && last.span_s < self.setup.interval_s - 1e-6 => {
                last.span_s += STEP_S;
                last.bytes += bytes;
            }
            _ => self.series[series].push(Interval { start_s: t_s, span_s: STEP_S, bytes, phase }),
        }
    }

    fn finish(self) -> (Trace, Truth) {
        let setup = self.setup;
        let mut trace = Trace::empty("simulated");
        trace.facts = Facts { simulated: Some(true), ..Facts::default() };
        let [reads, writes] = self.series;
        for (op, intervals) in [(SegmentOp::Read, reads), (SegmentOp::Write, writes)] {
            if !intervals.is_empty() {
                trace.speeds.push(SpeedSeries { op, intervals });
            }
        }
        let mut start_s = 0.0;
        for load in &setup.loads {
            let end_s = start_s + load.seconds;
            trace.phases.push(Phase::bare(&format!("{:?}", load.op).to_lowercase(), load.op, start_s, end_s));
            start_s = end_s;
        }
        trace.temperatures = vec![Temperature { name: "composite".into(), kelvin: self.composite }];
        trace.counters = self.counters;
        if let Some((tmt1, tmt2)) = setup.tmt_k {
            let settings = ThermalSettings { tmt1_k: Some(tmt1), tmt2_k: Some(tmt2), power_state: None };
            trace.settings.push(instant(0.0), settings);
        }
        trace.trust_a_sensor();
        (trace, self.truth)
    }
}
