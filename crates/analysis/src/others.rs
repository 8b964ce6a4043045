//! What other runs of a drive show that one run cannot know: how fast its loads can be, and where they were slowed down.
//!
//! A load that is slow from its first second to its last has nothing to be compared with in its own run. Another run of the
//! drive may show the same load at full speed, and at which temperature it fell from there to this speed.

use crate::findings::{Cause, Caveat, SegmentOp};
use trace::Phase;

/// Speeds within this share are one.
const SAME_SPEED: f64 = 0.04;

/// What the other runs of a drive show of the loads of one.
#[derive(Clone, Debug, Default)]
pub struct Others {
    loads: Vec<ShownLoad>,
    faster: Vec<FasterElsewhere>,
    first: Vec<FirstFall>,
    at_full: Vec<AtFull>,
}

/// The first fall of a load in another run, with the power state as in this one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FirstFall {
    pub(crate) op: SegmentOp,
    /// What the load does, as the plan says; empty where the source does not say.
    pub(crate) what: String,
    /// Speed before it, in bytes per second.
    pub(crate) before_bytes_per_s: f64,
    /// The temperature at which it fell, in kelvins.
    pub(crate) from_k: f64,
    /// For how long it had run at the speed before, in seconds.
    pub(crate) fast_s: f64,
    /// Whether TMT1 and TMT2 were set as in this run. Else only a threshold of the drive's own is at the same temperature.
    pub(crate) same_settings: bool,
}

/// A time at full speed in another run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AtFull {
    pub(crate) op: SegmentOp,
    pub(crate) what: String,
    pub(crate) bytes_per_s: f64,
    /// Bytes that were moved meanwhile.
    pub(crate) bytes: f64,
    /// Kelvins at its end, where thresholds and power state were as in this run.
    pub(crate) kelvin: Option<f64>,
}

/// How fast another run was at what may be the same load, where this run is much slower: its source, or that of the other, does not say
/// what it does, or the other was in another power state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FasterElsewhere {
    pub op: SegmentOp,
    /// What it does in this run; empty where its source does not say.
    pub what: String,
    /// In bytes per second.
    pub bytes_per_s: f64,
    /// How fast this run was at most, in bytes per second.
    pub own_bytes_per_s: f64,
    /// The power states of this run and of the other, where they differ.
    pub power_states: Option<[u8; 2]>,
}

impl FasterElsewhere {
    /// What that says of the speed of this run.
    pub(crate) const fn caveat(&self) -> Caveat {
        let (op, bytes_per_s) = (self.op, self.bytes_per_s);
        match self.power_states {
            Some([power_state, faster_power_state]) => Caveat::SlowerPowerState {
                op,
                power_state,
                bytes_per_s: self.own_bytes_per_s,
                faster_power_state,
                faster_bytes_per_s: bytes_per_s,
            },
            None => Caveat::FasterInOtherRun { op, bytes_per_s },
        }
    }
}

/// A load as other runs show it.
#[derive(Clone, Debug)]
pub(crate) struct ShownLoad {
    pub op: SegmentOp,
    /// What it does, as the plan says.
    pub what: String,
    /// Full speed, in bytes per second.
    pub full_bytes_per_s: f64,
    /// Slower ones, and what they came from.
    pub slowed: Vec<ShownSlow>,
}

/// A speed that heat left of a load in another run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShownSlow {
    pub bytes_per_s: f64,
    /// The temperature at which it fell to that, with the thresholds set as in this run, in kelvins.
    pub from_k: f64,
    pub cause: Cause,
}

impl Others {
    pub(crate) const fn new(loads: Vec<ShownLoad>, faster: Vec<FasterElsewhere>) -> Self {
        Self { loads, faster, first: Vec::new(), at_full: Vec::new() }
    }

    /// The same with what slowed other runs down first, and their times at full speed.
    pub(crate) fn with_heat(self, first: Vec<FirstFall>, at_full: Vec<AtFull>) -> Self {
        Self { first, at_full, ..self }
    }

    /// Whether there is nothing that would tell a run anything.
    pub const fn is_empty(&self) -> bool {
        self.loads.is_empty() && self.faster.is_empty() && self.first.is_empty() && self.at_full.is_empty()
    }

    /// Full speed of the load of a phase, in bytes per second; `None` where no other run shows it. What is limited, or goes
    /// through the page cache, is compared with nothing.
    pub(crate) fn full_bytes_per_s(&self, phase: &Phase) -> Option<f64> {
        self.load(phase).map(|load| load.full_bytes_per_s)
    }

    /// What may be the same load as one of this run, and was much faster.
    pub(crate) fn faster(&self) -> &[FasterElsewhere] {
        &self.faster
    }

    /// The first falls of what may be the same load, from the same speed, in bytes per second.
    pub(crate) fn first_falls(
        &self,
        op: SegmentOp,
        what: &str,
        before: f64,
    ) -> impl Iterator<Item = &FirstFall> {
        self.first.iter().filter(move |fall| {
            fall.op == op
                && may_be(&fall.what, what)
                && (fall.before_bytes_per_s / before - 1.0).abs() <= SAME_SPEED
        })
    }

    /// How hot others came to be with what may be the same load, as fast, in kelvins.
    pub(crate) fn hottest_k(&self, op: SegmentOp, what: &str, before: f64) -> Option<f64> {
        self.as_fast(op, what, before).filter_map(|ran| ran.kelvin).reduce(f64::max)
    }

    /// The most that another moved in one go with what may be the same load, as fast, in bytes; `None` where none did.
    pub(crate) fn most_bytes(&self, op: SegmentOp, what: &str, before: f64) -> Option<f64> {
        self.as_fast(op, what, before).map(|ran| ran.bytes).reduce(f64::max)
    }

    fn as_fast(&self, op: SegmentOp, what: &str, before: f64) -> impl Iterator<Item = &AtFull> {
        self.at_full.iter().filter(move |ran| {
            ran.op == op && may_be(&ran.what, what) && ran.bytes_per_s >= (1.0 - SAME_SPEED) * before
        })
    }

    /// What slowed the load of a phase down to this speed in another run.
    pub(crate) fn slowed(&self, phase: &Phase, bytes_per_s: f64) -> Option<ShownSlow> {
        let same = |slow: &&ShownSlow| (slow.bytes_per_s / bytes_per_s - 1.0).abs() <= SAME_SPEED;
        self.load(phase)?.slowed.iter().find(same).copied()
    }

    fn load(&self, phase: &Phase) -> Option<&ShownLoad> {
        let free = !phase.is_limited() && !phase.buffered;
        self.loads.iter().find(|load| free && load.op == phase.op && load.what == phase.what)
    }
}

/// Whether two loads may be one, by what their sources say of them.
fn may_be(one: &str, other: &str) -> bool {
    one.is_empty() || other.is_empty() || one == other
}
