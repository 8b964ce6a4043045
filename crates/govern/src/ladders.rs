//! The law on ladders of two to four thermal nodes that nothing was tuned on: drawn by chance, with lag, delay, noise and
//! coarse or rare sensors. They share no code with `physics`. `docs/ACCURACY.md` has the figures of the long form:
//! `HEATSOAK_CASES=300 cargo test -p heatsoak-govern ladders -- --nocapture`.

use std::collections::VecDeque;

use measure::{BytesPerSec, Instant, Kelvin};

use super::{Bounds, Governor};

/// Seconds of a run, and steps in a second.
const RUN_S: u32 = 1800;
const STEPS: u32 = 20;
/// Halvings of the best constant rate.
const HALVINGS: u32 = 9;
/// A drive that rises by less has nothing to govern, in kelvins.
const RISE_MIN_K: f64 = 12.0;
const LEAST: f64 = 4e6;

/// Numbers by chance (Marsaglia, Xorshift RNGs, 2003).
struct Draw(u64);

impl Draw {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn pick(&mut self, all: [f64; 5]) -> f64 {
        all[(self.unit() * 5.0) as usize]
    }
}

/// A drive, its air and its sensor.
#[derive(Clone)]
struct Ladder {
    /// From the inside out: J/K, and K/W to the next one or the air.
    nodes: Vec<(f64, f64)>,
    idle_w: f64,
    full_w: f64,
    /// Watts go with this power of the speed.
    exponent: f64,
    air_k: f64,
    lag_s: f64,
    delay_s: f64,
    step_k: f64,
    to_nearest: bool,
    noise_k: f64,
    /// Seconds between two readings.
    every_s: u32,
    full: f64,
}

impl Ladder {
    fn drawn(draw: &mut Draw) -> Self {
        let count = 2 + (draw.unit() * 3.0) as usize;
        let total = draw.between(6.0, 20.0);
        let mut resistances: Vec<f64> = (0..count).map(|_| 0.3 + draw.unit()).collect();
        let sum: f64 = resistances.iter().sum();
        resistances.iter_mut().for_each(|resistance| *resistance *= total / sum);
        let node = |(at, resistance): (usize, f64)| {
            let outwards = (at as f64 + draw.between(0.2, 1.0)) / count as f64;
            (3.0 * 12f64.powf(outwards) * draw.between(0.7, 1.6), resistance)
        };
        let nodes = resistances.into_iter().enumerate().map(node).collect();
        Self {
            nodes,
            idle_w: draw.between(0.3, 1.5),
            full_w: draw.between(24.0, 64.0) / total,
            exponent: draw.between(0.6, 1.1),
            air_k: draw.between(288.0, 318.0),
            lag_s: draw.between(0.0, 5.0),
            delay_s: if draw.unit() < 0.3 { draw.between(0.0, 3.0) } else { 0.0 },
            step_k: draw.pick([1.0, 1.0, 1.0, 2.0, 5.0]),
            to_nearest: draw.unit() < 0.5,
            noise_k: if draw.unit() < 0.3 { draw.between(0.0, 0.5) } else { 0.0 },
            every_s: draw.pick([1.0, 1.0, 1.0, 2.0, 5.0]) as u32,
            full: draw.between(0.5e9, 12e9),
        }
    }

    /// Runs at what `next` allows; first and highest reading, and the mean rate.
    fn run(&self, mut next: impl FnMut(u32, f64, f64) -> f64) -> (f64, f64, f64) {
        let mut heat = LadderHeat::at_rest(self);
        let (mut first_k, mut highest_k, mut moved, mut since, mut rate) = (0.0, 0.0, 0.0, 0.0, self.full);
        for second in 0..RUN_S {
            if second % self.every_s == 0 {
                let shown_k = heat.reading();
                first_k = if second == 0 { shown_k } else { first_k };
                highest_k = f64::max(highest_k, shown_k);
                let flowed = if second == 0 { 0.0 } else { since / f64::from(self.every_s) };
                rate = next(second, shown_k, flowed).min(self.full);
                since = 0.0;
            }
            (0..STEPS).for_each(|_| heat.step(rate));
            since += rate;
            moved += rate;
        }
        (first_k, highest_k, moved / f64::from(RUN_S))
    }
}

struct LadderHeat<'a> {
    ladder: &'a Ladder,
    kelvin: Vec<f64>,
    shown_k: f64,
    late: VecDeque<f64>,
    noise: Draw,
}

impl<'a> LadderHeat<'a> {
    fn at_rest(ladder: &'a Ladder) -> Self {
        let mut outer_k = ladder.air_k;
        let mut kelvin: Vec<f64> = ladder
            .nodes
            .iter()
            .rev()
            .map(|(_, resistance)| {
                outer_k += ladder.idle_w * resistance;
                outer_k
            })
            .collect();
        kelvin.reverse();
        Self { ladder, shown_k: kelvin[0], kelvin, late: VecDeque::new(), noise: Draw(12_345) }
    }

    fn step(&mut self, rate: f64) {
        let Ladder { nodes, idle_w, full_w, exponent, air_k, lag_s, delay_s, full, .. } = self.ladder;
        let step_s = 1.0 / f64::from(STEPS);
        let mut flow_in = idle_w + full_w * (rate / full).powf(*exponent);
        for (at, (capacity, resistance)) in nodes.iter().enumerate() {
            let next_k = self.kelvin.get(at + 1).copied().unwrap_or(*air_k);
            let flow_out = (self.kelvin[at] - next_k) / resistance;
            self.kelvin[at] += step_s * (flow_in - flow_out) / capacity;
            flow_in = flow_out;
        }
        self.shown_k = self.kelvin[0] + (self.shown_k - self.kelvin[0]) * (-step_s / lag_s.max(1e-3)).exp();
        self.late.push_back(self.shown_k);
        while self.late.len() as f64 * step_s > delay_s + step_s {
            self.late.pop_front();
        }
    }

    fn reading(&mut self) -> f64 {
        let Ladder { step_k, to_nearest, noise_k, .. } = self.ladder;
        let exact_k = self.late.front().copied().unwrap_or(self.shown_k);
        let steps = (exact_k + self.noise.between(-noise_k, *noise_k)) / step_k;
        step_k * if *to_nearest { steps.round() } else { steps.floor() }
    }
}

/// What the law came to on a ladder.
struct Held {
    step_k: f64,
    excess_k: f64,
    ratio: f64,
}

fn govern(ladder: &Ladder, share: f64) -> Option<Held> {
    let (first_k, free_k, _) = ladder.run(|_, _, _| f64::INFINITY);
    let rise_k = free_k - first_k;
    let below_k = (first_k + share * rise_k).round();
    let bounds = Bounds { below: Kelvin::from_kelvin(below_k as u16), at_least: BytesPerSec::new(LEAST) };
    let mut governor = Governor::new(bounds);
    let (_, highest_k, mean) = ladder.run(|second, kelvin, flowed| {
        let t = Instant::from_ns(u64::from(second) * 1_000_000_000);
        let limit = governor.reading(t, kelvin, BytesPerSec::new(flowed));
        limit.map_or(f64::INFINITY, BytesPerSec::as_f64)
    });
    let (mut low, mut high) = (0.0, ladder.full);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if ladder.run(|_, _, _| middle).1 < below_k { low = middle } else { high = middle }
    }
    (rise_k >= RISE_MIN_K).then(|| Held {
        step_k: ladder.step_k,
        excess_k: highest_k - below_k,
        ratio: mean / low.max(LEAST),
    })
}

/// Shares and quantiles of those whose sensor has that step.
fn line(name: &str, all: &[&Held]) -> String {
    let below = all.iter().filter(|held| held.excess_k < 0.0).count();
    let highest_k = all.iter().map(|held| held.excess_k).fold(f64::NEG_INFINITY, f64::max);
    let mut ratios: Vec<f64> = all.iter().map(|held| held.ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios.get((share * ratios.len() as f64) as usize).copied().unwrap_or(f64::NAN);
    let (low, median, high) = (at(0.05), at(0.5), at(0.95));
    format!(
        "{name}: {} of {} below; highest reading {highest_k:+.0} K from the limit; speed {low:.2} .. {median:.2} .. {high:.2}",
        below,
        all.len()
    )
}

/// Goal: it stays below on drives that nothing was tuned on, and costs little speed.
#[test]
fn ladders_stay_below() {
    let cases = std::env::var("HEATSOAK_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    let mut draw = Draw(2_463_534_242_993);
    let mut all = Vec::new();
    while all.len() < cases {
        let ladder = Ladder::drawn(&mut draw);
        let share = draw.between(0.35, 0.85);
        all.extend(govern(&ladder, share));
    }
    let of = |step_k: f64| all.iter().filter(|held| held.step_k == step_k).collect::<Vec<_>>();
    let told = [
        line("all", &all.iter().collect::<Vec<_>>()),
        line("steps of 1 K", &of(1.0)),
        line("steps of 2 K", &of(2.0)),
        line("steps of 5 K", &of(5.0)),
    ];
    println!("{}", told.join("\n"));
    let over = all.iter().filter(|held| held.excess_k >= 0.0).count();
    assert!(over as f64 <= 0.03 * cases as f64, "{told:#?}");
    assert!(all.iter().all(|held| held.excess_k <= 1.0), "{told:#?}");
    let fast = all.iter().filter(|held| held.step_k < 5.0 && held.ratio < 0.8).count();
    assert!(fast as f64 <= 0.05 * cases as f64, "{told:#?}");
}

/// Seconds at full speed and of rest before a warm start; of a short load and the pause behind it, and how many there are.
const WARMING_S: u32 = 120;
const RESTING_S: u32 = 10;
const SHORT_S: [u32; 2] = [6, 20];
const SHORT_LOADS: u32 = 3;

/// Short loads on a drive that is warm already, so many kelvins below its limit: the highest reading from that, and the share
/// that was let through; governed, or free.
fn short_loads(ladder: &Ladder, headroom_k: f64, governed: bool) -> (f64, f64) {
    let mut heat = LadderHeat::at_rest(ladder);
    (0..WARMING_S * STEPS).for_each(|_| heat.step(ladder.full));
    (0..RESTING_S * STEPS).for_each(|_| heat.step(0.0));
    let below_k = (heat.reading() + headroom_k).round();
    let bounds = Bounds { below: Kelvin::from_kelvin(below_k as u16), at_least: BytesPerSec::new(LEAST) };
    let mut governor = Governor::new(bounds);
    let (mut highest_k, mut moved, mut since, mut limit) = (0.0, 0.0, 0.0, f64::INFINITY);
    let [load_s, pause_s] = SHORT_S;
    for second in 0..SHORT_LOADS * (load_s + pause_s) {
        if second % ladder.every_s == 0 {
            let shown_k = heat.reading();
            highest_k = f64::max(highest_k, shown_k);
            let flowed = BytesPerSec::new(since / f64::from(ladder.every_s));
            let t = Instant::from_ns(u64::from(second) * 1_000_000_000);
            let next = governor.reading(t, shown_k, flowed);
            limit = next.filter(|_| governed).map_or(f64::INFINITY, BytesPerSec::as_f64);
            since = 0.0;
        }
        let rate = if second % (load_s + pause_s) < load_s { limit.min(ladder.full) } else { 0.0 };
        (0..STEPS).for_each(|_| heat.step(rate));
        since += rate;
        moved += rate;
    }
    (highest_k - below_k, moved / f64::from(SHORT_LOADS * load_s) / ladder.full)
}

/// Goal: a drive that is warm already is not held back for nothing. Method: three loads of 6 s from 6 to 12 K below the limit,
/// of drives that stay below it without a governor as well.
#[test]
fn short_loads_on_warm_drives_go_through() {
    let cases = std::env::var("HEATSOAK_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let mut draw = Draw(88_172_645_463_325);
    let mut shares = Vec::new();
    while shares.len() < cases {
        let ladder = Ladder::drawn(&mut draw);
        let headroom_k = draw.between(6.0, 12.0);
        if short_loads(&ladder, headroom_k, false).0 < 0.0 {
            let (excess_k, share) = short_loads(&ladder, headroom_k, true);
            assert!(excess_k < 0.0, "{excess_k:+} K from the limit");
            shares.push(share);
        }
    }
    shares.sort_by(f64::total_cmp);
    let at = |share: f64| shares[(share * shares.len() as f64) as usize];
    println!("let through of {cases}: 5 % {:.2}, median {:.2}, 95 % {:.2}", at(0.05), at(0.5), at(0.95));
    assert!(at(0.5) > 0.7, "{shares:?}");
}
