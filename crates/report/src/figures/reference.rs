//! By what a full speed is known: a load that ran at one speed from its first to its last second may be slow throughout.
//!
//! Its own speed is a reference where something within it was slower, where it is about what the link carries, or where the record says
//! what was asked for and it stayed while the drive warmed; else a phase of the same load is. Where the run has none of these, full speed is
//! not known: of a log, that a drive got no slower while it warmed says that heat did nothing, and not how much the host asked for.

use std::collections::BTreeMap;

use analysis::findings::Label;
use analysis::{AT_LINK, FASTER};

use super::phase::{FullSpeed, FullSpeedSeen, PhaseFigures};

/// More than the link carries, by more than framing explains, is no share of it.
pub(crate) const MOST_OF_LINK: f64 = 1.05;
/// A rise from which on a constant speed says that heat did nothing: more than rounding and sensor noise.
const WARMED_C: f64 = 5.0;

/// Where the same operation was faster in this run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FasterLoad {
    /// The phase's name, numbered; "–" in a log that names none.
    pub(crate) phase: String,
    /// Its load where the record tells the two apart.
    pub(crate) other_load: Option<String>,
    /// When it began, in seconds since the run began.
    pub(crate) start_s: f64,
    /// How fast it was, in bytes per second.
    pub(crate) bytes_per_s: f64,
}

/// First and highest temperature in °C of a load that the drive warmed under.
pub(crate) fn warmed(one: &PhaseFigures) -> Option<[f64; 2]> {
    let [first, highest, _] = one.temperature_c?;
    (highest - first >= WARMED_C).then_some([first, highest])
}

/// Settles which full speeds are known; `full` comes as the speed of the segments that are called full speed.
pub(super) fn settle(all: &mut [PhaseFigures], link_bytes_per_s: Option<f64>) {
    let fastest = FastestLoads::new(all, link_bytes_per_s);
    let settled: Vec<_> = all.iter().map(|one| fastest.reference(one, all)).collect();
    for (one, (full, faster)) in all.iter_mut().zip(settled) {
        (one.full, one.faster) = (full, faster);
    }
}

/// A speed in bytes per second, and whose it is.
#[derive(Clone, Copy)]
struct Speed {
    bytes_per_s: f64,
    index: usize,
}

/// Operation and load.
type Load = (&'static str, String);

/// The fastest of a run: found once, as a month of a log without phases has tens of thousands of loads.
#[derive(Default)]
struct FastestLoads {
    by_load: BTreeMap<Load, Speed>,
    /// Only those that show by themselves that they ran at full speed.
    shown: BTreeMap<Load, Speed>,
    by_op: BTreeMap<&'static str, Speed>,
    link_bytes_per_s: Option<f64>,
}

impl FastestLoads {
    fn new(all: &[PhaseFigures], link_bytes_per_s: Option<f64>) -> Self {
        let mut fastest = Self { link_bytes_per_s, ..Self::default() };
        for (index, one) in all.iter().enumerate() {
            let Some(bytes_per_s) = speed(one) else { continue };
            let speed = Speed { bytes_per_s, index };
            keep(&mut fastest.by_op, one.op, speed);
            if one.full.is_some() {
                keep(&mut fastest.by_load, load(one), speed);
                if fastest.shows_full_speed(one) {
                    keep(&mut fastest.shown, load(one), speed);
                }
            }
        }
        fastest
    }

    /// Full speed of a load, and where its operation was faster.
    fn reference(&self, one: &PhaseFigures, all: &[PhaseFigures]) -> (Option<FullSpeed>, Option<FasterLoad>) {
        let Some(own) = speed(one) else { return (None, None) };
        let is_faster = |other: &Speed| other.bytes_per_s > FASTER * own;
        let is_certain = has_slow_part(one)
            || self.shows_full_speed(one) && !self.alike(one).is_some_and(|other| is_faster(&other));
        if one.full.is_some() && is_certain {
            return (one.full, None);
        }
        let told = |other: Speed| faster_load(one, &all[other.index], other.bytes_per_s);
        if let Some(same) = self.same_load(one, is_faster) {
            let borrowed = FullSpeed { bytes_per_s: same.bytes_per_s, seen: FullSpeedSeen::SameLoad };
            // A little faster than the other phase: full speed as well.
            let full = one.full.filter(|own| own.bytes_per_s >= same.bytes_per_s).unwrap_or(borrowed);
            return (Some(full), Some(told(same)));
        }
        // Small I/Os are no measure for large ones, nor large ones for small ones; and neither is for both at once.
        let is_measure =
            |other: &Speed| !one.is_mixed && all[other.index].leads_with_iops() == one.leads_with_iops();
        let of_op = self.by_op.get(one.op).copied().filter(is_measure);
        let faster = self.alike(one).filter(is_measure).filter(is_faster).or(of_op).filter(is_faster);
        (None, faster.map(told))
    }

    /// What a load that does not show its full speed itself has it from: another phase of the same load.
    fn same_load(&self, one: &PhaseFigures, is_faster: impl Fn(&Speed) -> bool) -> Option<Speed> {
        if one.what.is_empty() {
            return None;
        }
        let fastest = self.by_load.get(&load(one)).copied();
        match one.full {
            Some(own) => {
                let as_fast = |other: &Speed| own.bytes_per_s <= FASTER * other.bytes_per_s;
                let shown = || self.shown.get(&load(one)).copied().filter(as_fast);
                fastest.filter(is_faster).or_else(|| shown().filter(|_| !self.shows_full_speed(one)))
            }
            // What is faster than all that shows its full speed is no share of it.
            None => fastest.filter(|other| speed(one).is_some_and(|own| own <= FASTER * other.bytes_per_s)),
        }
    }

    /// Whether it shows by itself that it ran at full speed.
    fn shows_full_speed(&self, one: &PhaseFigures) -> bool {
        let asked = !one.what.is_empty();
        is_slowed(one) || is_at_link(one, self.link_bytes_per_s) || asked && warmed(one).is_some()
    }

    /// The fastest of the loads that the record does not tell apart from this one.
    fn alike(&self, one: &PhaseFigures) -> Option<Speed> {
        if one.what.is_empty() {
            return self.by_op.get(one.op).copied();
        }
        let unnamed = self.by_load.get(&(one.op, String::new()));
        let both = [self.by_load.get(&load(one)), unnamed].into_iter().flatten().copied();
        both.reduce(|a, b| if b.bytes_per_s > a.bytes_per_s { b } else { a })
    }
}

fn keep<K: Ord>(of: &mut BTreeMap<K, Speed>, key: K, speed: Speed) {
    let fastest = of.entry(key).or_insert(speed);
    if speed.bytes_per_s > fastest.bytes_per_s {
        *fastest = speed;
    }
}

fn load(one: &PhaseFigures) -> Load {
    (one.op, one.what.clone())
}

/// Speed before anything slowed it down, in bytes per second.
fn speed(one: &PhaseFigures) -> Option<f64> {
    one.full
        .map(|full| full.bytes_per_s)
        .or(one.mean_bytes_per_s)
        .filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// Whether a load is about as fast as its link.
pub(crate) fn is_at_link(one: &PhaseFigures, link_bytes_per_s: Option<f64>) -> bool {
    let is_about = |(mean, link): (f64, f64)| (AT_LINK * link..=MOST_OF_LINK * link).contains(&mean);
    one.mean_bytes_per_s.zip(link_bytes_per_s).is_some_and(is_about)
}

/// Whether something within the load was slower than the rest, a ramp at its beginning aside.
fn is_slowed(one: &PhaseFigures) -> bool {
    let at = |wanted: Label| one.labels.iter().position(|label| *label == wanted);
    let faded = at(Label::FullSpeed).zip(at(Label::Ramp)).is_some_and(|(full, ramp)| full < ramp);
    has_slow_part(one) || faded || one.labels.contains(&Label::Dip)
}

/// Whether more than a dip was slower: a dip ends by itself, and what is around it may be slow as well.
pub(super) fn has_slow_part(one: &PhaseFigures) -> bool {
    one.labels.iter().any(|label| matches!(label, Label::Throttled | Label::SlcExhausted | Label::Unknown))
}

fn faster_load(one: &PhaseFigures, other: &PhaseFigures, bytes_per_s: f64) -> FasterLoad {
    let is_told_apart = !one.what.is_empty() && !other.what.is_empty() && one.what != other.what;
    FasterLoad {
        phase: other.name(),
        other_load: is_told_apart.then(|| other.what.clone()),
        start_s: other.start_s,
        bytes_per_s,
    }
}
