//! How fast a drive was while heat slowed it down.
//!
//! A mean is told where its drops fell to about one speed. Of unlike ones it is a speed that the drive never ran at: then the range of most of
//! them is told, or the speed of most.

use analysis::findings::Event;
use analysis::observation::Observation;

use super::course;
use crate::format;

/// So many drops show what most of them fell to; a tenth of them at either end are not most.
const LEAST_DROPS: usize = 3;
const MOST: [f64; 2] = [0.1, 0.9];
/// Speeds further apart than by this factor are unlike: bursts and rows at both ends of a drop change its mean by less.
const UNLIKE: f64 = 1.25;

/// The speed while throttled, in bytes per second: one twice, or the ends of a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ThrottledSpeed([f64; 2]);

impl ThrottledSpeed {
    /// What these drops fell to, of which `mean` is the mean over time.
    pub(super) fn new(mean: f64, drops: &[&Event]) -> Self {
        let mut fell_to: Vec<f64> = drops.iter().filter_map(|drop| fell_to(drop)).collect();
        if fell_to.len() < LEAST_DROPS || fell_to.len() < drops.len() {
            return Self([mean; 2]);
        }
        fell_to.sort_by(f64::total_cmp);
        let at = |share: f64| fell_to[((fell_to.len() - 1) as f64 * share).round() as usize];
        let [low, high] = MOST.map(at);
        match () {
            () if high > UNLIKE * low => Self([low, high]),
            () if mean * UNLIKE < low || mean > UNLIKE * high => Self([at(0.5); 2]),
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

    fn told(self, before: &str, between: &str, one: impl Fn(f64) -> String) -> String {
        let [low, high] = self.0.map(one);
        if low == high { low } else { format!("{before}{low}{between}{high}") }
    }
}

fn fell_to(drop: &Event) -> Option<f64> {
    match course(drop)? {
        Observation::SpeedFell { during_bytes_per_s, .. } => Some(*during_bytes_per_s),
        _ => None,
    }
}
