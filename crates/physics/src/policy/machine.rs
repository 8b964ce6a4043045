//! One throttle machine: thresholds with hysteresis, dwell and slew, stairs, and the PI controller.

use measure::record::Op;

use super::Effect;
use crate::grain::Grain;
use crate::profile::{Cap, Gains, Machine, Ops, Policy, Stairs, Threshold};

/// A regulator counts as throttling from this share of full speed down: above it nobody could tell.
const REGULATING_SHARE: f64 = 0.99;

/// How hard a machine throttles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MachineStage {
    Off,
    Light,
    Heavy,
}

/// When each operation last moved or was held back, in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PolicyInput {
    pub(crate) read_tick: u64,
    pub(crate) write_tick: u64,
}

impl PolicyInput {
    /// Whether one of `ops` was asked for since `tick`.
    const fn has(self, ops: Ops, tick: u64) -> bool {
        (ops.has(Op::Read) && self.read_tick > tick) || (ops.has(Op::Write) && self.write_tick > tick)
    }
}

/// A policy at work.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    policy: Policy,
    grain: Grain,
    poll_ticks: u64,
    next_poll: u64,
    stage: MachineStage,
    changed_at: u64,
    /// How far the limit of the stage is applied: 0 none, 1 wholly. Moves with the slew limit.
    depth: f64,
    /// The limit that `depth` applies; kept while it fades after release.
    applied: Cap,
    /// What a regulator or stairs leave of full speed.
    share: f64,
    /// Stairs that it is down.
    steps: u32,
    last_excess_k: f64,
    /// Of a duty-cycled machine: whether it is at work, and the tick at which that ends.
    at_work: bool,
    next_toggle: u64,
    burst_began: u64,
}

/// A limit on nothing.
const NO_CAP: Cap = Cap { read_bytes_per_s: None, write_bytes_per_s: None };
/// A limit that lets nothing through.
const CLOSED: Cap = Cap { read_bytes_per_s: Some(0.0), write_bytes_per_s: Some(0.0) };

impl Running {
    pub(super) fn new(policy: &Policy, grain: Grain) -> Self {
        let poll_ticks = grain.ticks(policy.poll_s);
        Self {
            policy: policy.clone(),
            grain,
            poll_ticks,
            next_poll: poll_ticks,
            stage: MachineStage::Off,
            changed_at: 0,
            depth: 0.0,
            applied: NO_CAP,
            share: 1.0,
            steps: 0,
            last_excess_k: f64::NAN,
            at_work: true,
            next_toggle: u64::MAX,
            burst_began: 0,
        }
    }

    /// How hard it throttles. A light stage that limits nothing is no throttling.
    pub(super) fn stage(&self) -> MachineStage {
        match self.policy.machine {
            Machine::TwoLevel(two) if self.stage == MachineStage::Light && two.light == NO_CAP => {
                MachineStage::Off
            }
            _ => self.stage,
        }
    }

    pub(super) fn next_tick(&self) -> u64 {
        self.next_poll.min(self.next_toggle)
    }

    /// The stage as host controlled thermal management counts it; `None` when it does not.
    pub(super) fn hctm_stage(&self) -> Option<MachineStage> {
        match (self.policy.machine, self.policy.on) {
            (_, Threshold::Kelvin(_)) => None,
            (Machine::TwoLevel(_), _) | (_, Threshold::Tmt1PlusK(_)) => Some(self.stage()),
            (_, Threshold::Tmt2PlusK(_)) => (self.stage != MachineStage::Off).then_some(MachineStage::Heavy),
        }
    }

    /// Looks at the temperature if it is time to, and turns bursts on and off.
    pub(super) fn run(
        &mut self,
        tick: u64,
        temp_k: f64,
        load: PolicyInput,
        resolve: impl Fn(Threshold) -> Option<f64>,
    ) {
        if tick >= self.next_poll {
            let loaded = load.has(self.policy.ops, tick - self.poll_ticks);
            self.next_poll = tick + self.poll_ticks;
            let on_k = resolve(self.policy.on).filter(|on| *on >= self.policy.only_from_k.unwrap_or(0.0));
            match self.policy.machine {
                Machine::Relay(cap) => self.switch(tick, temp_k, on_k, None, cap, NO_CAP),
                Machine::TwoLevel(two) => {
                    self.switch(tick, temp_k, on_k, resolve(two.heavy_on), two.light, two.heavy);
                }
                Machine::Stop {} => self.switch(tick, temp_k, on_k, None, CLOSED, NO_CAP),
                Machine::Regulator(gains) => self.regulate(temp_k, on_k, loaded, gains),
                Machine::DutyCycled(duty) => self.regulate(temp_k, on_k, loaded, duty.gains),
                Machine::Stairs(stairs) => self.step_down(temp_k, on_k, stairs),
            }
        }
        if let Machine::DutyCycled(duty) = self.policy.machine {
            self.toggle(tick, self.grain.ticks(duty.burst_s));
        }
    }

    /// What this machine does to `op`, whose full speed is `full_bytes_per_s`.
    pub(super) fn effect(&self, op: Op, full_bytes_per_s: f64) -> Effect {
        if !self.policy.ops.has(op) {
            return Effect::NONE;
        }
        match self.policy.machine {
            Machine::Regulator(_) | Machine::Stairs(_) if self.share < 1.0 => {
                Effect { cap_bytes_per_s: self.share * full_bytes_per_s, level: self.share }
            }
            Machine::DutyCycled(_) if !self.at_work => Effect { cap_bytes_per_s: 0.0, level: 1.0 },
            Machine::Regulator(_) | Machine::Stairs(_) | Machine::DutyCycled(_) => Effect::NONE,
            Machine::Relay(_) | Machine::TwoLevel(_) | Machine::Stop {} => {
                let cap = match op {
                    Op::Read => self.applied.read_bytes_per_s,
                    _ => self.applied.write_bytes_per_s,
                };
                match cap.filter(|_| self.depth > 0.0) {
                    Some(cap) if cap < full_bytes_per_s => Effect {
                        cap_bytes_per_s: full_bytes_per_s - self.depth * (full_bytes_per_s - cap),
                        level: 1.0,
                    },
                    _ => Effect::NONE,
                }
            }
        }
    }

    /// Relay and two-level latch. Heavy lets go where light does, not where it set in
    /// (NVMe Base 2.3, 8.1.18.5); the release temperature below that is the vendor's.
    fn switch(
        &mut self,
        tick: u64,
        temp_k: f64,
        on_k: Option<f64>,
        heavy_k: Option<f64>,
        light: Cap,
        heavy: Cap,
    ) {
        let hot = |threshold: Option<f64>| threshold.is_some_and(|on| temp_k >= on);
        // With TMT1 off, heavy throttling has only its own threshold to fall below.
        let release_k = on_k.or(heavy_k).map(|on| on - self.policy.hysteresis_k);
        let cool = release_k.is_none_or(|release| temp_k < release);
        let wanted = match self.stage {
            _ if hot(heavy_k) => MachineStage::Heavy,
            MachineStage::Heavy if !cool => MachineStage::Heavy,
            MachineStage::Heavy => MachineStage::Off,
            MachineStage::Light if !cool => MachineStage::Light,
            MachineStage::Light | MachineStage::Off if hot(on_k) => MachineStage::Light,
            MachineStage::Light | MachineStage::Off => MachineStage::Off,
        };
        let may_move = tick - self.changed_at >= self.grain.ticks(self.policy.dwell_s) || wanted > self.stage;
        if wanted != self.stage && may_move {
            self.stage = wanted;
            self.changed_at = tick;
            match wanted {
                MachineStage::Light => self.applied = light,
                MachineStage::Heavy => self.applied = heavy,
                MachineStage::Off => {}
            }
        }
        let target = if self.stage == MachineStage::Off { 0.0 } else { 1.0 };
        self.depth = self.slewed(self.depth, target);
    }

    /// The share of full speed moves as [`Gains::step`] says, and stays between floor and 1.
    fn regulate(&mut self, temp_k: f64, on_k: Option<f64>, loaded: bool, gains: Gains) {
        let Some(on_k) = on_k else {
            (self.share, self.stage, self.last_excess_k) = (1.0, MachineStage::Off, f64::NAN);
            return;
        };
        let excess_k = temp_k - on_k;
        let change_k = if self.last_excess_k.is_finite() { excess_k - self.last_excess_k } else { 0.0 };
        self.last_excess_k = excess_k;
        let poll_s = self.grain.seconds(self.poll_ticks);
        let mut step = gains.step(excess_k, change_k, poll_s);
        // Far below the threshold it only ever lets go, and so it does when heat is not its doing.
        if !loaded || excess_k < -self.policy.hysteresis_k {
            step = step.max(0.0);
        }
        let target = (self.share + step).clamp(gains.floor_share, 1.0);
        self.share = self.slewed(self.share, target);
        if self.share < REGULATING_SHARE {
            self.stage = MachineStage::Light;
        } else if self.share >= 1.0 {
            self.stage = MachineStage::Off;
        }
    }

    /// As many stairs down as the temperature has passed, and up again each by the hysteresis later.
    fn step_down(&mut self, temp_k: f64, on_k: Option<f64>, stairs: Stairs) {
        self.steps = on_k.map_or(0, |on_k| {
            let excess_k = temp_k - on_k;
            self.steps.clamp(stairs.passed(excess_k), stairs.passed(excess_k + self.policy.hysteresis_k))
        });
        self.share = self.slewed(self.share, stairs.share(self.steps));
        self.stage = if self.steps > 0 { MachineStage::Light } else { MachineStage::Off };
    }

    fn slewed(&self, from: f64, to: f64) -> f64 {
        match self.policy.slew_per_s {
            None => to,
            Some(slew) => {
                let most = slew * self.grain.seconds(self.poll_ticks);
                from + (to - from).clamp(-most, most)
            }
        }
    }

    /// Work for `share` of each burst period, then rest.
    fn toggle(&mut self, tick: u64, burst_ticks: u64) {
        let throttling = self.stage != MachineStage::Off;
        if !throttling {
            (self.at_work, self.next_toggle) = (true, u64::MAX);
            return;
        }
        if self.next_toggle != u64::MAX && tick < self.next_toggle {
            return;
        }
        let starting = self.next_toggle == u64::MAX || tick >= self.burst_began + burst_ticks;
        if starting {
            self.burst_began = tick;
        }
        let work = (self.share * burst_ticks as f64).round() as u64;
        self.at_work = starting && work > 0;
        self.next_toggle =
            self.burst_began + if self.at_work && work < burst_ticks { work } else { burst_ticks };
    }
}
