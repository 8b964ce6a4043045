//! Where a drop began, and all that the drops of a run are held against each other by.

use super::history::Depth;
use super::left::SpeedLeft;
use super::release::{HeldOn, Release};

/// Where and after how long a drop began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    /// Temperature, in kelvins.
    pub temp_k: f64,
    /// Standard deviation of it, in kelvins.
    pub spread_k: f64,
    /// Seconds at full speed in a kelvin around it.
    pub stay_s_per_k: f64,
    /// The same in the time in which a threshold stood, if it moved unseen.
    pub stay_if_moved: Option<f64>,
    /// Whether it ended when that moved.
    pub let_go: bool,
    /// Seconds at full speed altogether.
    pub full_speed_s: f64,
    /// ... and no slower than what shows that nothing slowed it down.
    pub exposed_s: f64,
    /// How many of the caches that are not full yet end in a second of writing, by what was written since the cache was last empty.
    pub cache_ends_per_s: f64,
    /// Whether a rest may have emptied a part of a cache that had been full.
    pub refilled: bool,
    /// Whether nothing was asked for within it for long enough to empty a part of a cache.
    pub rested: bool,
    /// How often a host changes its mind at least, per second, where nobody knows what was asked for; else 0.
    pub least_rate_per_s: f64,
    /// The stretch of the load that it lies in.
    pub stretch: usize,
    /// Seconds at full speed before any drop of that, while the drive was cooler than this: nothing happened.
    pub quiet_s: f64,
    /// ... and while it was hotter by a step of the sensor: how many times as long as a threshold may take to be met.
    pub quiet_hotter: f64,
    /// What weighs that the drive had been hotter at full speed.
    pub ran_hotter: RanHotter,
    /// The operation, and whether it lies in another drop.
    pub of: Depth,
    /// The load was slow from its beginning.
    pub at_start: bool,
    /// What speaks for a new threshold of the drive's own here, in a kelvin.
    pub own_per_k: f64,
    /// TMT1 and TMT2 are not known: either may be what a threshold of the drive's own may be.
    pub host_unknown: bool,
    /// Against TMT1 and TMT2, where they are set.
    pub host: [Option<HostBeginning>; 2],
    /// Temperature where its load began, or a rest ended, in kelvins; `None` where it was not at full speed since, and where it did not fall
    /// in one step.
    pub approach_k: Option<f64>,
    /// Where speed came back.
    pub release: Option<Release>,
    /// How cool it got while speed did not.
    pub held_on: Option<HeldOn>,
    /// How surely reading or writing rose as both fell.
    pub rose: f64,
    /// The speed that was left.
    pub left: Option<SpeedLeft>,
}

impl Beginning {
    /// Whether nothing moved.
    pub(super) fn stopped(&self) -> bool {
        self.left.is_some_and(|left| left.stopped())
    }

    /// Whether nothing moved, and nobody knows whether anything was asked for.
    pub(super) fn paused(&self) -> bool {
        self.stopped() && self.least_rate_per_s > 0.0
    }

    /// The same if the threshold moved unseen, before or after.
    pub(super) fn moved(self) -> Self {
        Self {
            stay_s_per_k: self.stay_if_moved.unwrap_or(self.stay_s_per_k),
            release: self.release.filter(|_| !self.let_go),
            ..self
        }
    }
}

/// Where a drop began against a threshold that the host has set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostBeginning {
    /// How far above it, in kelvins.
    pub above_k: f64,
    /// How likely that is by this threshold, in a kelvin.
    pub per_k: f64,
}

/// What weighs for heat that the drive had been hotter at full speed, if no other drop had begun there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RanHotter {
    /// By all of the run.
    pub weight: f64,
    /// By the time in which a threshold stood, if it moved unseen ([`super::eras`]).
    pub if_moved: f64,
    /// The share of it that each drop counts.
    pub shared: f64,
}
