//! A load that falls once to a level where it stays until it ends, as hot as it ever was at full speed: a threshold does so, and so does a
//! full cache, or whatever else changed for good. How hot it was, how long it stayed there and how much was left are chances of the load and
//! the drive; they turn the scales by little. What tells causes apart counts in full: a threshold that is known, a counter, another fall,
//! a rest.

use super::Judged;
use super::drops::NEARLY;
use super::evidence::{Evidence, HEAT, NOT_HEAT, Suspect, Weighing};
use super::likelihood::{log_sum, part_way};
use super::release::WIDE_FROM_K;
use crate::EARLY_LIMIT_K;
use crate::observation::Observation;
use crate::segment::Piece;

/// As much as such chances say together at most, as a logarithm: five to three. Of one fall each in pairs of drives that are alike but for the
/// cause, the likelier was right as often as not. What keeps most of its speed is a full cache on few drives: four to one, and heat that has
/// something against it is made up for by what it was likely anyhow.
const MOST: f64 = 0.5;
const MOST_OF_WEAK: f64 = 1.39;
const WEAK: [f64; 2] = [0.66, 0.76];
/// What is left of the speed by a cache, up to a slow link that hides what it could do, and by heat, from the weakest that was measured short
/// of a stop: 200 MB/s of 3 GB/s (SSD1 of the seed experiments). A drive that stops to cool leaves next to nothing, and no cache does: 3 % is
/// what one leaves of two lanes of PCIe 5.0 (QLC).
const LEAVES: [std::ops::RangeInclusive<f64>; 2] = [0.003..=0.02, 0.05..=0.9];

/// Of what speaks against a threshold where it was cool, so much counts beyond that.
const OF_COOL: f64 = 1.0 / 3.0;

/// Takes back what a single fall says too surely of heat, or against it.
pub(super) fn weigh(judged: &mut Judged, pieces: &[Piece]) {
    let Some((seen, [heat, not])) = too_sure(judged, pieces) else { return };
    let not = NOT_HEAT.map(|suspect| (suspect, not));
    judged.evidence.weigh_heat(seen, heat, &not);
    judged.verdict = judged.evidence.verdict();
}

/// What has to be added to heat and to all else, as logarithms, so that chances say no more than they can; `None` where it is no single fall.
fn too_sure(judged: &Judged, pieces: &[Piece]) -> Option<(Observation, [f64; 2])> {
    let fall = SingleFall::of(judged, pieces)?;
    let [heat, not] = log_odds(&judged.evidence, |_| true);
    let [other_heat, other_not] = log_odds(&judged.evidence, |seen| !fall.is_a_chance(seen));
    // Without what they are beforehand all causes are alike.
    let by_other = other_heat - other_not - (HEAT.len() as f64 / NOT_HEAT.len() as f64).ln();
    let by_chances = heat - not - by_other;
    let most = MOST + (MOST_OF_WEAK - MOST) * fall.weak();
    let counts = by_chances.clamp(fall.least(most, &judged.evidence), fall.most_for_heat(most, by_other));
    let ahead = by_other + counts;
    // That reading may have been slowed down by heat as well does not make it heat.
    let ahead = if matches!(fall, SingleFall::Reading) { ahead.min((heat - not).max(0.0)) } else { ahead };
    let sum = log_sum(&[heat, not]);
    let limited = [-(-ahead).exp().ln_1p() + sum - heat, -ahead.exp().ln_1p() + sum - not];
    (fall.tells_always() || counts > by_chances).then_some((fall.seen(), limited))
}

/// A load that fell to where it stayed.
enum SingleFall {
    /// Writing: what was left of the speed, as a share, and whether it fell in one step.
    Writing { left: f64, at_once: bool },
    /// Reading, which has no cache to fill.
    Reading,
}

impl SingleFall {
    fn of(judged: &Judged, pieces: &[Piece]) -> Option<Self> {
        let seen = || judged.evidence.weighings().iter().map(|weighing| &weighing.observation);
        let (drop, first) = (&judged.drop, &pieces[judged.drop.first]);
        let reads = seen().any(|seen| *seen == Observation::ReadingFillsNoCache);
        if reads {
            let stays = !drop.recovered && !drop.at_start && drop.inside.is_none();
            let alone = judged.began.is_some() && !seen().any(is_of_several);
            return (stays && alone).then_some(Self::Reading);
        }
        let one_step = |before: f64| first.level <= before - NEARLY * (before - drop.level);
        let left = seen().find_map(|seen| match seen {
            Observation::WritingStayedSlow { share, .. } => Some(*share),
            _ => None,
        })?;
        let at_once = drop.sharp && !first.gradual && drop.before.is_some_and(one_step);
        LEAVES.iter().any(|leaves| leaves.contains(&left)).then_some(Self::Writing { left, at_once })
    }

    /// How far it kept more than most full caches leave.
    fn weak(&self) -> f64 {
        match self {
            Self::Writing { left, .. } => part_way(*left, WEAK),
            Self::Reading => 0.0,
        }
    }

    /// What chances say for heat at most, where `by_other` is said by the rest.
    fn most_for_heat(&self, most: f64, by_other: f64) -> f64 {
        match self {
            Self::Writing { at_once: true, .. } => most + self.weak() * (-by_other).max(0.0),
            // Hardly a cache ends little by little.
            Self::Writing { at_once: false, .. } | Self::Reading => f64::INFINITY,
        }
    }

    /// Whether it was to be expected of either, more or less. Writing at temperatures below those of any threshold that drives have by
    /// themselves is slowed down by a cache that is full.
    fn is_a_chance(&self, seen: &Observation) -> bool {
        match seen {
            Observation::SlowThoughCooled { temp_k, late_k } => temp_k - late_k < WIDE_FROM_K,
            Observation::Cool { temp_k } => matches!(self, Self::Reading) || *temp_k >= EARLY_LIMIT_K,
            Observation::MostAreNotHeat
            | Observation::MostAreNoFullCache { .. }
            | Observation::ByChance { .. }
            | Observation::Hot { .. }
            | Observation::Crept { .. }
            | Observation::StayedAsHot { .. }
            | Observation::Lasted { .. }
            | Observation::WritingStayedSlow { .. } => true,
            _ => false,
        }
    }

    /// Of what chances say, the least: what is cool is a threshold less easily.
    fn least(&self, most: f64, evidence: &Evidence) -> f64 {
        match self {
            Self::Writing { .. } => -most,
            Self::Reading => -most - OF_COOL * against_cool(evidence),
        }
    }

    /// Whether it is told that the two look the same, whatever that weighs.
    const fn tells_always(&self) -> bool {
        matches!(self, Self::Writing { at_once: true, .. })
    }

    const fn seen(&self) -> Observation {
        match self {
            Self::Writing { .. } => Observation::HeatOrCache,
            Self::Reading => Observation::FellOnce,
        }
    }
}

/// Whether it shows by another time: at full speed hotter, or another fall like it.
const fn is_of_several(seen: &Observation) -> bool {
    matches!(
        seen,
        Observation::RanHotter { .. }
            | Observation::RanHotterElsewhere { .. }
            | Observation::LooksAlike { .. }
    )
}

/// What it weighs against a threshold, as a logarithm, that it was cool.
fn against_cool(evidence: &Evidence) -> f64 {
    let cool = |weighing: &Weighing| matches!(weighing.observation, Observation::Cool { .. });
    let weighing = evidence.weighings().iter().find(|weighing| cool(weighing));
    weighing.map_or(0.0, |weighing| -weighing.weights[Suspect::Vendor as usize])
}

/// Log odds of heat and of all else, by those observations.
fn log_odds(evidence: &Evidence, counts: impl Fn(&Observation) -> bool) -> [f64; 2] {
    let seen = || evidence.weighings().iter().filter(|weighing| counts(&weighing.observation));
    let total = |suspect: Suspect| seen().map(|weighing| weighing.weights[suspect as usize]).sum::<f64>();
    [log_sum(&HEAT.map(total)), log_sum(&NOT_HEAT.map(total))]
}
