//! A foreign drive in its room, step by step.

use physics::{Source, TruthEvent, TruthKind};
use trace::instant;

use super::super::draw::CorpusDraw;
use super::world::{Acts, Guardian, Set, World};

/// What limits the drive at a moment, as shares of what the load would have had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) heat: f64,
    pub(crate) other: f64,
}

/// One of them.
pub(crate) struct ForeignDrive {
    world: World,
    draw: CorpusDraw,
    now_s: f64,
    kelvin: Vec<f64>,
    shown_k: f64,
    /// What the sensor has shown, a value a step, for its delay.
    late: std::collections::VecDeque<f64>,
    fan_on: bool,
    guardians: Vec<GuardianState>,
    dip_until_s: f64,
    next_dip_s: f64,
    cache_free: f64,
    cache_full: bool,
    /// TMT1 and TMT2: transitions, seconds.
    counted: [(u64, f64); 2],
    pub(crate) events: Vec<TruthEvent>,
}

#[derive(Clone, Copy)]
struct GuardianState {
    active: bool,
    share: f64,
    next_s: f64,
    since_s: f64,
}

impl ForeignDrive {
    pub(crate) fn new(world: &World, mut draw: CorpusDraw) -> Self {
        let air = world.air.kelvin;
        // At rest: idle power through the ladder.
        let mut kelvin = vec![0.0; world.nodes.len()];
        let mut outer = air;
        for (at, (_, resistance)) in kelvin.iter_mut().zip(&world.nodes).rev() {
            outer += world.power.idle_w * resistance;
            *at = outer;
        }
        let idle = GuardianState { active: false, share: 1.0, next_s: 0.0, since_s: 0.0 };
        let next_dip_s = world.dips.map_or(f64::INFINITY, |dips| dips.every_s * draw.between(0.3, 1.0));
        Self {
            shown_k: kelvin[0],
            late: std::collections::VecDeque::new(),
            kelvin,
            fan_on: false,
            guardians: vec![idle; world.firmware.len()],
            dip_until_s: -1.0,
            next_dip_s,
            cache_free: world.cache.map_or(f64::INFINITY, |cache| cache.bytes),
            cache_full: false,
            counted: [(0, 0.0); 2],
            events: Vec::new(),
            now_s: 0.0,
            world: world.clone(),
            draw,
        }
    }

    /// What the composite sensor shows, in kelvins; `None` where the reading is lost.
    pub(crate) fn composite_k(&mut self) -> Option<f64> {
        let sensor = self.world.sensor;
        let shown = self.late.front().copied().unwrap_or(self.shown_k);
        (!self.draw.chance(sensor.lost)).then(|| (shown / sensor.step_k).floor() * sensor.step_k)
    }

    /// The composite before rounding, lag and delay: what the firmware goes by.
    pub(crate) fn exact_k(&self) -> f64 {
        let outer = self.world.sensor.outer;
        (1.0 - outer) * self.kelvin[0] + outer * self.kelvin[1]
    }

    /// Transitions and seconds of TMT1, then of TMT2.
    pub(crate) fn counters(&self) -> [(u64, u64); 2] {
        self.counted.map(|(transitions, seconds)| (transitions, seconds as u64))
    }

    /// Goes on by `step_s`; `op` is 0 to read, 1 to write, `None` at rest. The bytes moved, and what was left of the speed.
    pub(crate) fn step(&mut self, step_s: f64, op: Option<usize>, limit: f64) -> (f64, Left) {
        self.firmware();
        let left = self.left(op, limit);
        let full = op.map_or(0.0, |op| self.world.full[op]);
        let speed = full.min(limit).min(full * left.0).min(full.min(limit) * left.1.other);
        let asked = full.min(limit) * left.1.other;
        let heat = if asked > 0.0 { (full * left.0 / asked).min(1.0) } else { 1.0 };
        self.cache(step_s, op, speed);
        self.warm(step_s, op, speed);
        self.now_s += step_s;
        (speed * step_s, Left { heat, other: left.1.other })
    }

    /// The firmware's share of full speed, and what else is left.
    fn left(&mut self, op: Option<usize>, _limit: f64) -> (f64, Left) {
        let mut heat: f64 = 1.0;
        for (guardian, state) in self.world.firmware.iter().zip(&self.guardians) {
            heat = heat.min(match (&guardian.acts, state.active) {
                (_, false) => 1.0,
                (Acts::Bursts { period_s, .. }, true) => {
                    let within = (self.now_s / period_s).fract();
                    f64::from(u8::from(within < state.share))
                }
                _ => state.share,
            });
        }
        let mut other: f64 = 1.0;
        if let Some(dips) = self.world.dips {
            if self.now_s >= self.next_dip_s && op.is_some() {
                self.dip_until_s = self.now_s + dips.lasts_s * self.draw.between(0.8, 1.2);
                let even = if dips.regular {
                    self.draw.between(0.98, 1.02)
                } else {
                    -self.draw.unit().max(1e-9).ln()
                };
                self.next_dip_s = self.dip_until_s + dips.every_s * even;
            }
            if self.now_s < self.dip_until_s {
                other = other.min(dips.leaves);
            }
        }
        for (from_s, to_s, leaves) in &self.world.host_jobs {
            if (*from_s..*to_s).contains(&self.now_s) {
                other = other.min(*leaves);
            }
        }
        if let Some(cache) = self.world.cache.filter(|_| self.cache_full && op == Some(1)) {
            other = other.min(cache.leaves);
        }
        (heat, Left { heat, other })
    }

    fn cache(&mut self, step_s: f64, op: Option<usize>, speed: f64) {
        let Some(cache) = self.world.cache else { return };
        let written = if op == Some(1) { speed * step_s } else { 0.0 };
        self.cache_free =
            (self.cache_free - written + cache.emptied_bytes_per_s * step_s).clamp(0.0, cache.bytes);
        self.cache_full =
            if self.cache_full { self.cache_free < 0.1 * cache.bytes } else { self.cache_free <= 0.0 };
    }

    fn firmware(&mut self) {
        let (now_s, kelvin) = (self.now_s, self.exact_k());
        for (index, guardian) in self.world.firmware.iter().enumerate() {
            let state = &mut self.guardians[index];
            if now_s + 1e-9 < state.next_s {
                continue;
            }
            let was = *state;
            poll(guardian, state, kelvin);
            state.next_s = now_s + guardian.poll_s;
            let source = match guardian.set {
                Set::Tmt1 => Source::HctmTmt1,
                Set::Tmt2 => Source::HctmTmt2,
                Set::Own => Source::Vendor,
            };
            let host = match guardian.set {
                Set::Tmt1 => Some(0),
                Set::Tmt2 => Some(1),
                Set::Own => None,
            };
            // A further stair is an onset of its own.
            let deeper = matches!(guardian.acts, Acts::Stairs { .. }) && state.share < was.share - 0.02;
            if was.active != state.active || deeper {
                let kind = match state.active {
                    true => TruthKind::ThrottleOnset(source),
                    false => TruthKind::ThrottleRelease(source),
                };
                self.events.push(TruthEvent {
                    t: instant(now_s),
                    temp_k: kelvin,
                    kind,
                    name: "foreign".to_owned(),
                });
                if let Some(host) = host.filter(|_| state.active) {
                    self.counted[host].0 += 1;
                    state.since_s = now_s;
                }
            }
            if let Some(host) = host.filter(|_| was.active) {
                self.counted[host].1 += guardian.poll_s;
            }
        }
    }

    fn warm(&mut self, step_s: f64, op: Option<usize>, speed: f64) {
        let (power, air) = (self.world.power, &self.world.air);
        let dynamic =
            op.map_or(0.0, |op| power.full_w[op] * (speed / self.world.full[op]).powf(power.exponent));
        let leak = 1.0 + power.leak_per_k * (self.kelvin[0] - 313.0);
        let heat_w = (power.idle_w + dynamic) * leak.max(0.5);
        let neighbours = air.neighbours.iter().filter(|(from, to, _)| (*from..*to).contains(&self.now_s));
        let air_k =
            air.kelvin + air.drift_k_per_h * self.now_s / 3600.0 + neighbours.map(|(_, _, k)| k).sum::<f64>();
        if let Some((on_k, off_k)) = air.fan {
            self.fan_on = if self.fan_on { self.kelvin[0] > off_k } else { self.kelvin[0] > on_k };
        }
        let last = self.kelvin.len() - 1;
        let mut flow_in = heat_w;
        for node in 0..=last {
            let (capacity, resistance) = self.world.nodes[node];
            let resistance = if node == last && self.fan_on { 0.5 * resistance } else { resistance };
            let next_k = if node == last { air_k } else { self.kelvin[node + 1] };
            let flow_out = (self.kelvin[node] - next_k) / resistance;
            self.kelvin[node] += step_s * (flow_in - flow_out) / capacity;
            flow_in = flow_out;
        }
        let sensor = self.world.sensor;
        let lag = (-step_s / sensor.lag_s.max(1e-3)).exp();
        self.shown_k = self.exact_k() + (self.shown_k - self.exact_k()) * lag;
        self.late.push_back(self.shown_k);
        while self.late.len() as f64 * step_s > sensor.delay_s + step_s {
            self.late.pop_front();
        }
    }
}

/// A threshold looks at the temperature.
fn poll(guardian: &Guardian, state: &mut GuardianState, kelvin: f64) {
    match guardian.acts {
        Acts::Share(share) => {
            state.active = if state.active { kelvin > guardian.off_k } else { kelvin >= guardian.on_k };
            state.share = if state.active { share } else { 1.0 };
        }
        Acts::Stairs { step, each_k, floor } => {
            let above = ((kelvin - guardian.on_k) / each_k).floor() + 1.0;
            let wanted = (1.0 - step * above).clamp(floor, 1.0);
            // A stair is left again half of one below.
            let wanted_back = (1.0 - step * ((kelvin + 0.5 * each_k - guardian.on_k) / each_k + 1.0).floor())
                .clamp(floor, 1.0);
            state.share = if wanted < state.share { wanted } else { state.share.max(wanted_back) };
            state.active = state.share < 0.999;
        }
        Acts::Integral { per_k_s, floor } | Acts::Bursts { per_k_s, floor, .. } => {
            let change = per_k_s * (guardian.on_k - kelvin).clamp(-6.0, 3.0) * guardian.poll_s;
            state.share = (state.share + change).clamp(floor, 1.0);
            state.active = state.share < 0.99;
        }
    }
}
