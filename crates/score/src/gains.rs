//! Scores the heating that a run shows: `score gains [--drives N] [--half scored|tuned] [--nodes N] [--lag SECONDS]`.
//!
//! Ladders of heat capacities and resistances by code that shares nothing with `physics`, read in whole kelvins at a
//! hertz, written and read for five minutes each, through sensors that lag by up to `--lag` (0 without). The truth is the
//! ladder's; asked is whether the 90 % intervals hold it, and how often nothing is given.

use analysis::findings::SegmentOp;
use analysis::two_time_constants;
use measure::{Seed, Series};
use trace::{Interval, Phase, SpeedSeries, Temperature, Trace, instant};

use crate::corpus::draw::CorpusDraw;

const DRIVES: u64 = 400;
const STEP_S: f64 = 0.1;
const LOADS: [(SegmentOp, f64); 4] =
    [(SegmentOp::Write, 300.0), (SegmentOp::Idle, 120.0), (SegmentOp::Read, 300.0), (SegmentOp::Idle, 120.0)];

/// A chain from the flash to the air.
struct Ladder {
    /// Capacity in J/K and resistance outwards in K/W, node by node.
    nodes: Vec<(f64, f64)>,
    /// Joules for each GB written and read.
    j_per_gb: [f64; 2],
    gb_per_s: [f64; 2],
    air_k: f64,
    noise_k: f64,
    /// Of its sensor.
    lag_s: f64,
}

impl Ladder {
    fn draw(draw: &mut CorpusDraw, nodes: usize, most_lag_s: f64) -> Self {
        let total = draw.between(6.0, 16.0);
        let shares: Vec<f64> = (0..nodes).map(|_| draw.between(0.3, 1.0)).collect();
        let sum: f64 = shares.iter().sum();
        let resistances: Vec<f64> = shares.iter().map(|share| total * share / sum).collect();
        // From a few seconds at the flash to a quarter of an hour at the case.
        let (fast_s, slow_s) = (draw.between(3.0, 12.0), draw.between(200.0, 900.0));
        let tau_s = |i: usize| fast_s * (slow_s / fast_s).powf(i as f64 / (nodes - 1).max(1) as f64);
        let nodes = (0..nodes).map(|i| {
            let outward: f64 = resistances[i..].iter().sum();
            (tau_s(i) / outward, resistances[i])
        });
        Self {
            nodes: nodes.collect(),
            j_per_gb: [draw.between(0.8, 2.5), draw.between(0.5, 1.5)],
            gb_per_s: [draw.between(1.0, 4.0), draw.between(2.0, 6.0)],
            air_k: draw.between(293.0, 308.0),
            noise_k: draw.between(0.0, 0.2),
            lag_s: draw.between(0.0, most_lag_s),
        }
    }

    /// Kelvins in the end for each GB/s.
    fn gain_k(&self) -> [f64; 2] {
        let total: f64 = self.nodes.iter().map(|(_, outward)| outward).sum();
        self.j_per_gb.map(|j| j * total)
    }

    fn step(&self, rise_k: &mut [f64], watts: f64) {
        let mut inflow = watts;
        for i in 0..rise_k.len() {
            let outer_k = rise_k.get(i + 1).copied().unwrap_or(0.0);
            let outflow = (rise_k[i] - outer_k) / self.nodes[i].1;
            rise_k[i] += STEP_S * (inflow - outflow) / self.nodes[i].0;
            inflow = outflow;
        }
    }

    /// Two time constants that come nearest to it.
    fn tau_s(&self) -> [f64; 2] {
        let total: f64 = self.nodes.iter().map(|(_, outward)| outward).sum();
        let mut rise_k = vec![0.0; self.nodes.len()];
        let mut course = Vec::new();
        for _ in 0..(3700.0 / STEP_S) as usize {
            course.push(rise_k[0] / total);
            self.step(&mut rise_k, 1.0);
        }
        two_time_constants(|t_s| course[((t_s / STEP_S).round() as usize).min(course.len() - 1)])
    }

    fn record(&self, draw: &mut CorpusDraw) -> Trace {
        let mut trace = Trace::empty("ladder");
        trace.facts.simulated = Some(true);
        let mut kelvin = Series::new();
        let mut speeds = [Vec::new(), Vec::new()];
        let mut rise_k = vec![0.0; self.nodes.len()];
        let (mut t_s, mut late_k) = (0.0, 0.0);
        for (number, (op, seconds)) in LOADS.into_iter().enumerate() {
            let which = match op {
                SegmentOp::Write => Some(0),
                SegmentOp::Read => Some(1),
                _ => None,
            };
            trace.phases.push(Phase::bare(&format!("{number}"), op, t_s, t_s + seconds));
            let watts = which.map_or(0.0, |which: usize| self.j_per_gb[which] * self.gb_per_s[which]);
            for _ in 0..seconds as usize {
                let shown_k = self.air_k + late_k + self.noise_k * draw.normal();
                kelvin.push(instant(t_s), shown_k.floor());
                for _ in 0..(1.0 / STEP_S) as usize {
                    self.step(&mut rise_k, watts);
                    late_k += (rise_k[0] - late_k) * (1.0 - (-STEP_S / self.lag_s).exp());
                }
                if let Some(which) = which {
                    let bytes = 1e9 * self.gb_per_s[which] * (1.0 + 0.01 * draw.normal());
                    speeds[which].push(Interval { start_s: t_s, span_s: 1.0, bytes, phase: number as u32 });
                }
                t_s += 1.0;
            }
        }
        for (op, intervals) in [SegmentOp::Write, SegmentOp::Read].into_iter().zip(speeds) {
            trace.speeds.push(SpeedSeries { op, intervals });
        }
        trace.temperatures = vec![Temperature { name: "composite".to_owned(), kelvin }];
        trace.trust_a_sensor();
        trace
    }
}

/// How often a number was given, its interval held the truth, and by how much it was off.
#[derive(Default)]
struct GivenTally {
    asked: usize,
    given: usize,
    held: usize,
    off: Vec<f64>,
    width: Vec<f64>,
}

impl GivenTally {
    fn count(&mut self, truth: f64, value: Option<f64>, interval: Option<[f64; 2]>) {
        self.asked += 1;
        let Some((value, [low, high])) = value.zip(interval) else { return };
        self.given += 1;
        self.held += usize::from((low..=high).contains(&truth));
        self.off.push((value / truth - 1.0).abs());
        self.width.push(high / low - 1.0);
    }

    fn text(mut self, name: &str) -> String {
        let percent = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
        let median = |values: &mut Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).map_or(f64::NAN, |value| 100.0 * value)
        };
        format!(
            "{name:<22} given {:5.1} % of {}; 90 % interval holds the truth {:5.1} %; median error {:.1} %, width {:.0} %\n",
            percent(self.given, self.asked),
            self.asked,
            percent(self.held, self.given),
            median(&mut self.off),
            median(&mut self.width),
        )
    }
}

/// Scores and tells; what was typed stands behind `gains`.
pub(crate) fn run(mut typed: impl Iterator<Item = String>) -> Result<String, String> {
    let (mut drives, mut odd, mut nodes, mut lag_s) = (DRIVES, 1, 4, 0);
    while let Some(name) = typed.next() {
        let value = typed.next().ok_or(format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{value} is no whole number"));
        match (name.as_str(), value.as_str()) {
            ("--drives", _) => drives = number()?,
            ("--nodes", _) => nodes = number()?.clamp(1, 8),
            ("--lag", _) => lag_s = number()?.min(60),
            ("--half", "scored") => odd = 1,
            ("--half", "tuned") => odd = 0,
            (other, _) => {
                return Err(format!(
                    "{other}: known are --drives N, --nodes N, --lag SECONDS, --half scored|tuned"
                ));
            }
        }
    }
    let mut gains = GivenTally::default();
    let mut taus = [GivenTally::default(), GivenTally::default()];
    for n in 0..drives {
        // Seeds that no other corpus has.
        let mut draw = CorpusDraw::new(Seed::new((2 * n + odd) | 5 << 41));
        let ladder = Ladder::draw(&mut draw, nodes as usize, lag_s as f64);
        let thermal = analysis::analyze(&ladder.record(&mut draw)).thermal;
        let [write, read] = ladder.gain_k();
        gains.count(write, thermal.kelvin_per_gb_per_s_write, thermal.kelvin_per_gb_per_s_write_90);
        gains.count(read, thermal.kelvin_per_gb_per_s_read, thermal.kelvin_per_gb_per_s_read_90);
        for (i, (tally, truth)) in taus.iter_mut().zip(ladder.tau_s()).enumerate() {
            let value = thermal.tau_s.as_ref().map(|tau_s| tau_s[i]);
            tally.count(truth, value, thermal.tau_s_90.as_ref().map(|tau_s| tau_s[i]));
        }
    }
    let [fast, slow] = taus;
    Ok(format!("{drives} simulated ladders of {nodes} nodes, sensors late by up to {lag_s} s\n\n")
        + &gains.text("kelvins for each GB/s")
        + &fast.text("fast time constant")
        + &slow.text("slow time constant"))
}
