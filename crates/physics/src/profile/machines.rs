//! What a policy does to the speed: switches, regulators, stairs, a stop.

use serde::{Deserialize, Serialize};

use super::Threshold;

/// What a policy does between its thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Machine {
    /// On at the threshold, off below the hysteresis.
    Relay(Cap),
    /// Light from the threshold on, heavy from a second one on and latched until light lets go.
    TwoLevel(TwoLevel),
    /// Holds the temperature at the threshold by slowing the drive down evenly.
    Regulator(Gains),
    /// Holds the temperature at the threshold by working in bursts.
    DutyCycled(DutyCycle),
    /// The hotter, the slower, in steps.
    Stairs(Stairs),
    /// No I/O at all until it lets go.
    Stop {},
}

/// Speed limits of a throttle; what is not named is not limited.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cap {
    /// Limit of reads.
    pub read_bytes_per_s: Option<f64>,
    /// Limit of writes.
    pub write_bytes_per_s: Option<f64>,
}

/// Light and heavy throttling.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TwoLevel {
    /// Limits while light.
    pub light: Cap,
    /// Where heavy sets in.
    pub heavy_on: Threshold,
    /// Limits while heavy.
    pub heavy: Cap,
}

/// A PI controller on the temperature, in shares of full speed.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Gains {
    /// Share of full speed given up for a kelvin too much.
    pub share_per_k: f64,
    /// Share of full speed given up for a kelvin too much over a second.
    pub share_per_k_s: f64,
    /// Smallest share of full speed.
    pub floor_share: f64,
}

impl Gains {
    /// By how much a regulator moves its share of full speed in so many seconds, `excess_k` over its threshold and
    /// `change_k` hotter than before: the velocity form of a PI controller, which cannot wind up.
    pub fn step(&self, excess_k: f64, change_k: f64, seconds: f64) -> f64 {
        -(self.share_per_k * change_k + self.share_per_k_s * excess_k * seconds)
    }
}

/// A regulator that works in bursts.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DutyCycle {
    /// One burst and the rest after it.
    pub burst_s: f64,
    /// The controller behind it; its output is the share of the time at work.
    pub gains: Gains,
}

/// Steps down from full speed. Each lets go the policy's hysteresis below where it set in.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Stairs {
    /// Share of full speed that each takes.
    pub step_share: f64,
    /// Kelvins from one to the next; the first lies at the threshold.
    pub each_k: f64,
    /// Smallest share of full speed.
    pub floor_share: f64,
}

impl Stairs {
    /// Steps that have been passed at `excess_k` over the threshold.
    pub fn passed(&self, excess_k: f64) -> u32 {
        // A cast of what is below zero is zero.
        (excess_k / self.each_k + 1.0).floor() as u32
    }

    /// Share of full speed that is left after so many.
    pub fn share(&self, steps: u32) -> f64 {
        (1.0 - f64::from(steps) * self.step_share).max(self.floor_share)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Worked example of METHODS: a seventh of the speed every 2.5 K.
    #[test]
    fn stairs_go_down_at_the_threshold_and_every_few_kelvins() {
        let stairs = Stairs { step_share: 0.14, each_k: 2.5, floor_share: 0.3 };
        for (excess_k, steps, share) in
            [(-0.1, 0, 1.0), (0.0, 1, 0.86), (2.4, 1, 0.86), (2.5, 2, 0.72), (40.0, 17, 0.3)]
        {
            assert_eq!(stairs.passed(excess_k), steps, "{excess_k} K");
            assert!((stairs.share(steps) - share).abs() < 1e-12, "{steps}");
        }
    }
}
