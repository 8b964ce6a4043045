//! Where speed came back: heat against chance, on the way down.
//!
//! What heat slowed down comes back at a temperature, some kelvins below where it began and each time the same. What is
//! no heat comes back after a time, of any length or each time the same, wherever the temperature has got to by then:
//! mostly where it has come to rest.

use std::collections::BTreeMap;

use super::case::{Case, TELLING_S};
use super::course::{self, LATE};
use super::crossing::NEW_THRESHOLD;
use super::likelihood::{cell, kelvin, known_share, normal, part_way};
use crate::observation::Observation;

/// A sensor of wider steps shows no hysteresis of 2 K.
const COARSE_K: f64 = 1.5;
/// Fewer readings within a drop do not show whether it cooled.
const LEAST_READINGS: usize = 2;
/// How far below its beginning heat lets go, in a kelvin: hystereses of 2 to 7 K were seen, more where the threshold
/// below is the one that lets go; less than a kelvin and a half is the rounding of a narrow one.
/// Whole kelvins hide where the usual ones end.
const HYSTERESIS: [(f64, f64); 2] = [(0.6, 0.004), (LEAST_K, 0.03)];
const LEAST_K: f64 = 1.9;
const WIDE_PER_K: f64 = 0.03;
pub(super) const WIDE_FROM_K: f64 = 14.0;
const USUAL_PER_K: f64 = 0.13;
/// Beyond these the wider hystereses get fewer by a factor of e in so many kelvins: 28 K was measured of a stick that cools for minutes.
const WIDER_K: f64 = 8.0;
const WIDER: f64 = 0.17;
const TAIL_K: f64 = 6.0;
const WIDEST: f64 = 0.02;
/// About the same as a logarithm.
const MOST_UNLIKELY: f64 = 4.0;
/// However often heat let go at a temperature, it may let go elsewhere.
const MOST_KNOWN: f64 = 0.99;
/// Fewer of another load do not show how far a threshold lets a drive cool.
const LEAST_RELEASES: f64 = 3.0;
/// What is no heat lasts anything from a second to minutes, each factor of e alike: a factor of 100 has so many.
const LENGTHS: f64 = 4.6;
/// Logarithms of lengths are added up in cells of this width.
const LENGTH_CELL: f64 = 0.025;
/// Two of one kind of upkeep last alike within a tenth, and within a slice of speed.
const ALIKE: f64 = 0.1;
const SLICE_S: f64 = 1.0;
/// Whole kelvins hide that a temperature still falls by less than this.
const LEAST_FALL_K: f64 = 0.5;
/// Standard deviation of where two let go by one threshold: rounding and poll, twice.
const SCATTER_K: f64 = 1.0;
const REACH_K: f64 = 4.0;

/// How likely heat still holds a drive that has cooled by so much.
pub(super) fn holds_on(cooled_k: f64) -> f64 {
    let let_go = USUAL_PER_K * (cooled_k - LEAST_K).max(0.0);
    match cooled_k < WIDER_K {
        true => (1.0 - let_go).max(WIDER),
        false => (WIDER * (-(cooled_k - WIDER_K) / TAIL_K).exp()).max(WIDEST),
    }
}

/// How unlikely it is, as a logarithm, that a threshold lets go so far below where it sets in, against a usual hysteresis.
pub(super) fn width(cooled_k: f64) -> f64 {
    ((cooled_k - WIDER_K) / TAIL_K).clamp(0.0, MOST_UNLIKELY)
}

/// How a drop ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release {
    /// The coolest soon after, in kelvins.
    pub temp_k: f64,
    /// How much cooler than the hottest around its beginning, in kelvins.
    pub cooled_k: f64,
    /// Logarithm of its length in seconds, ...
    pub length: f64,
    /// ... and the standard deviation of that.
    length_spread: f64,
    /// By how much that logarithm grew in a kelvin, at the end.
    length_per_k: f64,
}

impl Release {
    /// Where a drop let go; `None` where it did not, or readings are too rare or too coarse to show it.
    pub(super) fn new(case: &Case, onset_k: f64) -> Option<Self> {
        let release_k = case.release_k()?;
        let (start_s, end_s, span_s) = (case.start_s(), case.end_s(), case.span_s());
        if case.heat.within(start_s, end_s).len() < LEAST_READINGS || case.heat.step_k > COARSE_K {
            return None;
        }
        // What held the temperature lets go where it held it, as less is asked for or the air cools.
        if course::was_held(case, onset_k) {
            return None;
        }
        // A late sensor shows the hottest and the coolest some time after the drive was so.
        let (hottest_k, _) = case.heat.soon_k(start_s)?;
        let (_, coolest_k) = case.heat.soon_k(end_s)?;
        let temp_k = coolest_k.min(release_k);
        let before_k = case.heat.nearest_k(end_s - span_s / 3.0).unwrap_or(temp_k);
        let fell_k = (before_k - temp_k).max(LEAST_FALL_K.max(case.heat.step_k / 2.0));
        Some(Self {
            temp_k,
            cooled_k: hottest_k.max(onset_k) - temp_k,
            length: span_s.ln(),
            length_spread: ALIKE.hypot(SLICE_S.max(case.heat.slice_s) / span_s),
            length_per_k: 1.0 / (3.0 * fell_k),
        })
    }

    /// How likely heat lets go here, in a kelvin, if nothing else is known of the threshold.
    fn anew_per_k(&self) -> f64 {
        if let Some((_, per_k)) = HYSTERESIS.iter().find(|(up_to_k, _)| self.cooled_k < *up_to_k) {
            return *per_k;
        }
        let wide = part_way(self.cooled_k, [WIDER_K, WIDE_FROM_K]);
        let wider = ((self.cooled_k - WIDE_FROM_K) / TAIL_K).clamp(0.0, MOST_UNLIKELY);
        USUAL_PER_K * (WIDE_PER_K / USUAL_PER_K).powf(wide) * (-wider).exp()
    }
}

/// How cool it got while a drive stayed slow to the end of its load: heat had not let go by then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldOn {
    /// The hottest late in the drop, in kelvins.
    late_k: f64,
}

impl HeldOn {
    /// How cool it got in a drop that speed never came back from; `None` where it did, or readings do not show it. Within another one the
    /// outer threshold holds too.
    pub(super) fn new(case: &Case) -> Option<Self> {
        let drop = case.drop;
        let (start_s, end_s) = (case.start_s(), case.own_end_s());
        let span_s = end_s - start_s;
        let late = case.heat.within(start_s + LATE * span_s, end_s);
        let shows = span_s >= TELLING_S && late.len() >= LEAST_READINGS && case.heat.step_k <= COARSE_K;
        let open = !drop.recovered && drop.inside.is_none() && !drop.stops(case.pieces);
        let late_k = late.iter().map(|reading| reading.value).reduce(f64::max)?;
        (shows && open).then_some(Self { late_k })
    }
}

/// Where the drops of a run let go, by how much of each is heat.
#[derive(Debug, Default)]
pub(super) struct Releases {
    /// Temperatures of what is heat.
    by_cell: BTreeMap<i64, f64>,
    drops: f64,
    /// Lengths of what is not.
    lengths: BTreeMap<i64, f64>,
    others: f64,
}

impl Releases {
    /// What it weighs for heat that it still held the drive as cool as this, by where it let go of others.
    pub(super) fn held_on(&self, held: &HeldOn) -> Option<(Observation, f64)> {
        let cooler: f64 = self.by_cell.range(..=cell(held.late_k + SCATTER_K)).map(|(_, share)| share).sum();
        if self.drops < LEAST_RELEASES {
            return None;
        }
        let known = known_share(self.drops, NEW_THRESHOLD, MOST_KNOWN);
        let weight = (1.0 - known + known * cooler / self.drops.max(1e-9)).ln();
        let (release_k, _) = self.by_cell.iter().find(|(_, share)| **share > 0.5)?;
        let seen = Observation::HeldBelowReleases { late_k: held.late_k, release_k: kelvin(*release_k) };
        (weight < 0.0).then_some((seen, weight))
    }

    /// Counts one in, by the share of it that is heat.
    pub(super) fn add(&mut self, release: &Release, heat: f64) {
        *self.by_cell.entry(cell(release.temp_k)).or_default() += heat;
        self.drops += heat;
        *self.lengths.entry(length_cell(release.length)).or_default() += 1.0 - heat;
        self.others += 1.0 - heat;
    }

    /// How likely it ends here by chance, in a kelvin: after any time, or after as long as others did.
    fn chance_per_k(&self, release: &Release, heat: f64) -> f64 {
        let Release { length, length_spread, .. } = *release;
        let reach = 4.0 * length_spread;
        let near = self.lengths.range(length_cell(length - reach)..=length_cell(length + reach));
        let at = |cell: i64| normal(cell as f64 * LENGTH_CELL - length, length_spread);
        let density: f64 = near.map(|(cell, share)| share * at(*cell)).sum();
        let itself = (1.0 - heat) * at(length_cell(length));
        let others = (self.others - (1.0 - heat)).max(0.0);
        let known = known_share(others, NEW_THRESHOLD, MOST_KNOWN);
        let by_others = known * (density - itself).max(0.0) / others.max(1e-9);
        ((1.0 - known) / LENGTHS + by_others) * release.length_per_k
    }

    /// What it weighs for heat against anything else, by the others; `heat` is the share of this one that is heat.
    pub(super) fn weigh(&self, release: &Release, heat: f64) -> (Observation, f64) {
        let near = self.by_cell.range(cell(release.temp_k - REACH_K)..=cell(release.temp_k + REACH_K));
        let itself = heat * normal(kelvin(cell(release.temp_k)) - release.temp_k, SCATTER_K);
        let density: f64 =
            near.map(|(at, share)| share * normal(kelvin(*at) - release.temp_k, SCATTER_K)).sum();
        let others = (self.drops - heat).max(0.0);
        let known = known_share(others, NEW_THRESHOLD, MOST_KNOWN);
        // Wherever others let go: without cooling hardly any threshold does. That it is such a one is seen once, not each time.
        let narrow = if release.cooled_k < LEAST_K { release.anew_per_k() / USUAL_PER_K } else { 1.0 };
        let plausible = narrow.powf(1.0 / (1.0 + others));
        let by_others = plausible * known * (density - itself).max(0.0) / others.max(1e-9);
        let per_k = (1.0 - known) * release.anew_per_k() + by_others;
        let Release { temp_k, cooled_k, .. } = *release;
        // What speaks for heat here, the length and the look of a drop say as well.
        let weight = (per_k / self.chance_per_k(release, heat)).ln().min(0.0);
        (Observation::CameBack { cooled_k, release_k: temp_k }, weight)
    }
}

fn length_cell(length: f64) -> i64 {
    (length / LENGTH_CELL).round() as i64
}
