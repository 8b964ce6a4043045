//! How fast a drive was while heat slowed it down.
//!
//! A mean is told where it is the speed that its drops fell to. Long rows at both ends of a drop hold some of full speed, and the mean of
//! unlike drops is a speed that the drive never ran at: then the speed of most is told, or the range of most of them.

use analysis::findings::Event;
use analysis::observation::Observation;

use super::course;
use crate::format;

/// So many drops show what most of them fell to; a tenth of them at either end are not most.
const LEAST_DROPS: usize = 3;
const MOST: [f64; 2] = [0.1, 0.9];
/// Speeds further apart than by this factor are unlike: bursts within a drop change its mean by less.
const UNLIKE: f64 = 1.25;
/// A mean further than by this factor from what most drops fell to is not that: noise changes it by less.
const SAME: f64 = 1.03;

/// The speed while throttled, in bytes per second: one twice, or the ends of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ThrottledSpeed([f64; 2]);

impl ThrottledSpeed {
    /// What these drops fell to, of which `mean` is the mean over time.
    pub(crate) fn new(mean: f64, drops: &[&Event]) -> Self {
        let mut fell_to: Vec<f64> = drops.iter().filter_map(|drop| fell_to(drop)).collect();
        if fell_to.len() < LEAST_DROPS || fell_to.len() < drops.len() {
            return Self([mean; 2]);
        }
        fell_to.sort_by(f64::total_cmp);
        let at = |share: f64| fell_to[((fell_to.len() - 1) as f64 * share).round() as usize];
        let [low, high] = MOST.map(at);
        match () {
            () if high > UNLIKE * low => Self([low, high]),
            () if mean * SAME < low || mean > SAME * high => Self([at(0.5); 2]),
            () => Self([mean; 2]),
        }
    }

    /// "480 MB/s", "480 MB/s to 1.02 GB/s".
    pub(super) fn text(self) -> String {
        self.told("", " to ", |bytes_per_s| format::speed(Some(bytes_per_s)))
    }

    /// The same after a "to": "480 MB/s", "between 480 MB/s and 1.02 GB/s".
    pub(super) fn fallen_to(self) -> String {
        self.told("between ", " and ", |bytes_per_s| format::speed(Some(bytes_per_s)))
    }

    /// The same as a share of a speed: "20 %", "20 % to 50 %".
    pub(super) fn share_of(self, bytes_per_s: f64) -> String {
        self.told("", " to ", |slow| format::percent(slow / bytes_per_s))
    }

    /// The one speed, in bytes per second; `None` of a range.
    pub(crate) fn one(self) -> Option<f64> {
        let [low, high] = self.0;
        (low >= high).then_some(low)
    }

    fn told(self, before: &str, between: &str, one: impl Fn(f64) -> String) -> String {
        let [low, high] = self.0.map(one);
        if low == high { low } else { format!("{before}{low}{between}{high}") }
    }
}

/// The speed that it fell to, in bytes per second: its mean where its strength is not known.
fn fell_to(drop: &Event) -> Option<f64> {
    match course(drop)? {
        Observation::SpeedFell { before_bytes_per_s, during_bytes_per_s, .. } => {
            Some(drop.strength.map_or(*during_bytes_per_s, |strength| strength * before_bytes_per_s))
        }
        _ => None,
    }
}
