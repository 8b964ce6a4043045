//! What slows a drive down without heat: dips, at random or like clockwork, and wobble.

use measure::Seed;
use measure::record::Op;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::grain::Grain;
use crate::profile::{Dip, DipTiming, Profile, Wobble};

/// A dip that began or ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DipChange {
    pub(crate) dip: usize,
    pub(crate) began: bool,
}

/// All disturbances of a drive. Each draws from its own stream, so that one more changes no other.
#[derive(Clone, Debug)]
pub(crate) struct Disturbances {
    grain: Grain,
    dips: Vec<RunningDisturbance>,
    wobble: Option<Wobbling>,
}

#[derive(Clone, Debug)]
struct RunningDisturbance {
    dip: Dip,
    grain: Grain,
    generator: Pcg32,
    active: bool,
    next: u64,
}

#[derive(Clone, Debug)]
struct Wobbling {
    wobble: Wobble,
    generator: Pcg32,
    share: f64,
    next: u64,
}

impl Disturbances {
    pub(crate) fn new(profile: &Profile, grain: Grain, seed: Seed) -> Self {
        let stream = |index: u64| Pcg32::seed_from_u64(seed.part(index).as_u64());
        let dips = (1..).zip(&profile.dip).map(|(index, dip)| {
            let mut running = RunningDisturbance {
                dip: dip.clone(),
                grain,
                generator: stream(index),
                active: false,
                next: 0,
            };
            running.next = running.pause();
            running
        });
        Self {
            grain,
            dips: dips.collect(),
            wobble: profile.media.wobble.map(|wobble| Wobbling {
                wobble,
                generator: stream(0),
                share: 1.0,
                next: 0,
            }),
        }
    }

    /// The tick at which something next begins or ends.
    pub(crate) fn next_tick(&self) -> u64 {
        let dips = self.dips.iter().map(|dip| dip.next).min().unwrap_or(u64::MAX);
        dips.min(self.wobble.as_ref().map_or(u64::MAX, |wobble| wobble.next))
    }

    /// Begins and ends what is due; says which dips did.
    pub(crate) fn run(&mut self, tick: u64, changes: &mut Vec<DipChange>) {
        for (dip, running) in self.dips.iter_mut().enumerate() {
            if tick >= running.next {
                running.active = !running.active;
                let span =
                    if running.active { self.grain.ticks(running.dip.duration_s) } else { running.pause() };
                running.next = tick + span;
                changes.push(DipChange { dip, began: running.active });
            }
        }
        if let Some(wobbling) = self.wobble.as_mut().filter(|wobbling| tick >= wobbling.next) {
            wobbling.share = 1.0 - wobbling.wobble.depth * unit(&mut wobbling.generator);
            wobbling.next = tick + self.grain.ticks(wobbling.wobble.period_s);
        }
    }

    /// What is left of the media's speed for `op`.
    pub(crate) fn share(&self, op: Op) -> f64 {
        let dips = self.dips.iter().filter(|running| running.active && running.dip.ops.has(op));
        let wobble = self.wobble.iter().filter(|wobbling| wobbling.wobble.ops.has(op));
        wobble.map(|w| w.share).product::<f64>() * dips.map(|d| d.dip.speed_share).product::<f64>()
    }
}

impl RunningDisturbance {
    /// Ticks until the next dip.
    fn pause(&mut self) -> u64 {
        match self.dip.timing {
            DipTiming::Periodic => self.grain.ticks(self.dip.every_s),
            // Exponential gaps make a Poisson process; 1 - u is never 0.
            DipTiming::Poisson => {
                self.grain.ticks(-self.dip.every_s * (1.0 - unit(&mut self.generator)).ln())
            }
        }
    }
}

/// Even in [0, 1).
pub(super) fn unit(generator: &mut Pcg32) -> f64 {
    f64::from(generator.next_u32()) / 4_294_967_296.0
}
