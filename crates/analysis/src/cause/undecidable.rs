//! Writing that falls once to a level where it stays until its load ends: a full cache does so, and so does a threshold. How hot it was,
//! how long it stayed there and how much was left are chances of the load and the drive; they turn the scales between the two by little.
//! What tells them apart counts in full: a threshold that is known, a counter, another fall, a rest.

use super::Judged;
use super::case::NEARLY;
use super::evidence::Suspect::{self, Other, Slc};
use super::evidence::{Evidence, HEAT};
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
/// of a stop: 200 MB/s of 3 GB/s (SSD1 of the seed experiments).
const LEAVES: std::ops::RangeInclusive<f64> = 0.05..=0.9;

/// What is no heat.
const NOT_HEAT: [Suspect; 2] = [Slc, Other];

/// Takes back what single falls say too surely of heat, or against it.
pub(super) fn weigh(judged: &mut [Judged], pieces: &[Piece]) {
    for judged in judged.iter_mut() {
        let Some([heat, not]) = too_sure(judged, pieces) else { continue };
        let not = NOT_HEAT.map(|suspect| (suspect, not));
        judged.evidence.weigh_heat(Observation::HeatOrCache, heat, &not);
        judged.verdict = judged.evidence.verdict();
    }
}

/// What has to be added to heat and to all else, as logarithms, so that chances say no more than they can; `None` where it is no single fall.
fn too_sure(judged: &Judged, pieces: &[Piece]) -> Option<[f64; 2]> {
    let fall = SingleFall::of(judged, pieces)?;
    let [heat, not] = log_odds(&judged.evidence, |_| true);
    let [other_heat, other_not] = log_odds(&judged.evidence, |seen| !is_a_chance(seen));
    // Without what they are beforehand all causes are alike.
    let by_other = other_heat - other_not - (HEAT.len() as f64 / NOT_HEAT.len() as f64).ln();
    let by_chances = heat - not - by_other;
    let weak = part_way(fall.left, WEAK);
    let most = MOST + (MOST_OF_WEAK - MOST) * weak;
    // Hardly a cache ends little by little.
    let for_heat = if fall.at_once { most + weak * (-by_other).max(0.0) } else { f64::INFINITY };
    let counts = by_chances.clamp(-most, for_heat);
    let ahead = by_other + counts;
    let sum = log_sum(&[heat, not]);
    let limited = [-(-ahead).exp().ln_1p() + sum - heat, -ahead.exp().ln_1p() + sum - not];
    (fall.at_once || counts > by_chances).then_some(limited)
}

/// Writing that fell to where it stayed.
struct SingleFall {
    /// What was left of the speed, as a share.
    left: f64,
    /// Whether it fell in one step.
    at_once: bool,
}

impl SingleFall {
    fn of(judged: &Judged, pieces: &[Piece]) -> Option<Self> {
        let (drop, first) = (&judged.drop, &pieces[judged.drop.first]);
        let one_step = |before: f64| first.level <= before - NEARLY * (before - drop.level);
        let left = judged.evidence.weighings().iter().find_map(|seen| match seen.observation {
            Observation::WritingStayedSlow { share, .. } => Some(share),
            _ => None,
        })?;
        let at_once = drop.sharp && !first.gradual && drop.before.is_some_and(one_step);
        LEAVES.contains(&left).then_some(Self { left, at_once })
    }
}

/// Whether it was to be expected of either, more or less.
fn is_a_chance(seen: &Observation) -> bool {
    match seen {
        Observation::SlowThoughCooled { temp_k, late_k } => temp_k - late_k < WIDE_FROM_K,
        Observation::Cool { temp_k } => *temp_k >= EARLY_LIMIT_K,
        Observation::MostAreNotHeat
        | Observation::MostAreNoFullCache
        | Observation::ByChance { .. }
        | Observation::Hot { .. }
        | Observation::Crept { .. }
        | Observation::StayedAsHot { .. }
        | Observation::Lasted { .. }
        | Observation::WritingStayedSlow { .. } => true,
        _ => false,
    }
}

/// Log odds of heat and of all else, by those observations.
fn log_odds(evidence: &Evidence, counts: impl Fn(&Observation) -> bool) -> [f64; 2] {
    let seen = || evidence.weighings().iter().filter(|weighing| counts(&weighing.observation));
    let total = |suspect: Suspect| seen().map(|weighing| weighing.weights[suspect as usize]).sum::<f64>();
    [log_sum(&HEAT.map(total)), log_sum(&NOT_HEAT.map(total))]
}
