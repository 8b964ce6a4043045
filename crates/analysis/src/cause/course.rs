//! What the temperature did before, while and after the drive was slow, and over the whole run.
//!
//! A threshold is crossed by a temperature that rises; it has one value; full speed above it does not happen; and
//! what heat slowed down comes back when it has cooled. Each of these can be looked for.

use measure::Point;

use super::case::{Case, OTHER_THRESHOLD_K, SETTLING_S, TELLING_S};
use super::evidence::Evidence;
use super::evidence::Suspect::{Other, Slc, Tmt1, Tmt2, Vendor};
use super::history::DropLock;
use crate::observation::Observation;

/// A temperature that rises by less than this in so long is not about to cross a threshold: the slowest crossings
/// that were simulated went at 0.02 K/s.
const STANDS_S: f64 = 60.0;
const STANDING_K: f64 = 0.8;
/// A threshold is crossed in the time of one kelvin; rounding makes it two.
const LINGERING: f64 = 2.5;
/// No further back.
const LOOKED_BACK_S: f64 = 120.0;
/// Cooling of this much would be seen in whole kelvins.
const COOLING_SHOWS_K: f64 = 4.0;
/// Whole kelvins hide this much.
const ROUNDING_K: f64 = 1.0;
/// The fast time constant of an M.2 drive.
const FAST_TAU_S: f64 = 40.0;

/// Weighs the course of the temperature around a drop that began at `onset_k`.
pub(super) fn weigh(case: &Case, onset_k: f64, evidence: &mut Evidence) {
    hotter_before(case, onset_k, evidence);
    standing(case, onset_k, evidence);
    settling(case, onset_k, evidence);
    meanwhile(case, onset_k, evidence);
    coming_back(case, onset_k, evidence);
    again_and_again(case, onset_k, evidence);
}

/// Whether the drive had been hotter at full speed: then this temperature is no threshold.
fn hotter_before(case: &Case, onset_k: f64, evidence: &mut Evidence) {
    let all_s = case.history.full_speed_s_above((case.op, false), onset_k + 1.5);
    let drops = case.history.drop_count((case.op, false));
    let hotter_s = all_s / drops.max(1) as f64;
    // Detection lag and rounding leave a second or two of full speed above any threshold.
    let lag_s = (5.0f64).max(3.0 * case.heat.period_s);
    if hotter_s >= lag_s {
        let weight = -(3.0 + (hotter_s / lag_s).log10() * 2.0).min(6.0);
        evidence.weigh_heat(Observation::RanHotter { full_speed_s: all_s }, weight, &[]);
    } else if !case.drop.at_start {
        // While a drive only warms up, whatever happens to it does so at the hottest yet.
        let weight = if drops <= 1 && !case.pieces[case.drop.first].gradual { 0.4 } else { 1.0 };
        evidence.weigh_heat(Observation::NeverHotter, weight, &[]);
        lingering(case, onset_k, drops, evidence);
    }
}

/// Whether the drive spent longer at that temperature at full speed than it takes to rise through a whole kelvin.
fn lingering(case: &Case, onset_k: f64, drops: usize, evidence: &mut Evidence) {
    let there_s = case.history.full_speed_s_above((case.op, false), onset_k - 0.1) / drops.max(1) as f64;
    let rate = case.heat.slope_before(case.start_s());
    let through_s = if rate > 0.0 { 1.0 / rate } else { return };
    if drops >= 2 && there_s > LINGERING * through_s + 3.0 * case.heat.period_s {
        let lingered = Observation::Lingered { full_speed_s: there_s, through_kelvin_s: through_s };
        evidence.weigh_heat(lingered, -1.5, &[]);
    }
}

/// Whether the temperature had stood where it was for long: then nothing was crossed.
fn standing(case: &Case, onset_k: f64, evidence: &mut Evidence) {
    if case.drop.at_start {
        return;
    }
    let start_s = case.start_s();
    let since_s = case.pieces[case.drop.first - 1].start_s.max(start_s - LOOKED_BACK_S);
    let before = case.heat.within(since_s, start_s);
    let span_s = start_s - since_s;
    if span_s < STANDS_S || before.len() < 6 {
        return;
    }
    let third = |part: &[Point<f64>]| part.iter().map(|p| p.value).sum::<f64>() / part.len() as f64;
    // Two thirds of the span lie between the middles of its first and last thirds.
    let rise_k = 1.5 * (third(&before[before.len() * 2 / 3..]) - third(&before[..before.len() / 3]));
    if rise_k <= STANDING_K * span_s / STANDS_S {
        let stood = Observation::Stood { temp_k: onset_k, span_s };
        evidence.weigh_heat(stood, -0.5 - span_s / STANDS_S, &[]);
    }
}

/// Whether speed gave way bit by bit and the temperature came to rest: what a regulator does, whatever it is set to.
fn settling(case: &Case, onset_k: f64, evidence: &mut Evidence) {
    let middle_s = case.start_s() + case.span_s() / 2.0;
    let mut late: Vec<f64> = case.heat.within(middle_s, case.end_s()).iter().map(|p| p.value).collect();
    if !case.pieces[case.drop.first].gradual || late.is_empty() || case.span_s() < SETTLING_S {
        return;
    }
    late.sort_by(f64::total_cmp);
    let (low_k, high_k) = (late[late.len() / 10], late[late.len() - 1 - late.len() / 10]);
    if high_k - low_k <= OTHER_THRESHOLD_K && low_k >= onset_k - OTHER_THRESHOLD_K {
        let settled = Observation::Settled { rest_k: crate::segment::median(&late) };
        evidence.weigh_heat(settled, 2.0, &[(Slc, -1.0)]);
    }
}

/// How far the drive would have cooled by what it lost in speed, if nothing else had happened: all that it
/// was hotter than at its coolest is taken to come from its load.
fn would_cool_k(case: &Case, onset_k: f64) -> f64 {
    let loss = 1.0 - case.strength().unwrap_or(0.0);
    loss * (onset_k - case.history.coolest_k).max(0.0) * (1.0 - (-case.span_s() / FAST_TAU_S).exp())
}

/// What the temperature did while the drive was slow.
fn meanwhile(case: &Case, onset_k: f64, evidence: &mut Evidence) {
    let span_s = case.span_s();
    if span_s < TELLING_S.max(3.0 * case.heat.period_s) {
        return;
    }
    let late: Vec<f64> =
        case.heat.within(case.end_s() - span_s / 2.0, case.end_s()).iter().map(|p| p.value).collect();
    if late.is_empty() {
        return;
    }
    let late_k = crate::segment::median(&late);
    let (temp_k, moved_k) = (onset_k, late_k - onset_k);
    // Where a fixed lower speed takes a drive is up to some kelvins above the threshold.
    if (-2.5..=3.5).contains(&moved_k) {
        // Within a time constant (40 s is a usual fast one) no temperature gets far, nor does it for a small loss.
        let weight = if span_s >= 60.0 { 1.8 } else { 0.8 };
        let weight = weight * ((would_cool_k(case, onset_k) - ROUNDING_K) / COOLING_SHOWS_K).clamp(0.0, 1.0);
        evidence.weigh_heat(Observation::StayedAsHot { temp_k, late_k }, weight, &[(Slc, -weight / 2.0)]);
    } else if moved_k <= -4.0 && !case.drop.recovered {
        // Others that began there had to get cooler still: the end of the load came first.
        let released_k = case.history.release_k((case.op, case.drop.inside.is_some()), onset_k);
        if released_k.is_some_and(|k| late.iter().all(|late_k| *late_k >= k)) {
            return;
        }
        // Hysteresis is 2 to 7 K, but for TMT2, which holds until below TMT1.
        let weight = if moved_k <= -8.0 { -2.5 } else { -1.0 };
        let weights = [(Vendor, weight), (Tmt1, weight), (Tmt2, -1.0), (Slc, 2.0), (Other, 0.5)];
        evidence.weigh(Observation::SlowThoughCooled { temp_k, late_k }, &weights);
    } else if moved_k >= 5.0 && case.trace.tmt_at(case.start_s()).0.is_none_or(|k| !case.settled_below(k)) {
        // A drive that gives up little goes on heating whatever the reason.
        let loss = 1.0 - case.strength().unwrap_or(0.0);
        let weight = -(loss / 0.4).clamp(0.0, 1.0);
        evidence.weigh_heat(Observation::WentOnHeating { temp_k, late_k }, weight, &[]);
    }
}

/// At which temperature the speed came back.
fn coming_back(case: &Case, onset_k: f64, evidence: &mut Evidence) {
    let Some(release_k) = case.release_k() else { return };
    if case.span_s() < 3.0 * case.heat.period_s {
        return;
    }
    let (temp_k, cooled_k) = (onset_k, onset_k - release_k);
    if cooled_k >= 1.9 {
        // Any drive cools while it does less: this tells little, and nothing after a few seconds.
        let weight = if case.span_s() >= 10.0 { 0.6 } else { 0.2 };
        evidence.weigh_heat(Observation::BackWhenCooled { cooled_k, release_k }, weight, &[(Slc, -2.0)]);
    } else if cooled_k > 0.5 {
        // No hysteresis is that narrow, but a late sensor has not seen the end of a short one.
        let weight = if case.span_s() <= 5.0 { -1.2 } else { -0.7 };
        evidence.weigh_heat(Observation::BackHardlyCooled { temp_k, release_k }, weight, &[(Slc, -2.0)]);
    } else {
        let weights = [(Other, 1.0), (Slc, -2.0)];
        evidence.weigh_heat(Observation::BackUncooled { release_k }, -2.0, &weights);
    }
}

/// Whether drops go with heat over the whole run.
fn again_and_again(case: &Case, onset_k: f64, evidence: &mut Evidence) {
    let Some(lock) = case.history.lock((case.op, case.drop.inside.is_some()), onset_k - 1.5) else { return };
    let from_k = onset_k - 1.5;
    if lock.cool_drops >= 2 && lock.ratio() < 3.0 {
        let cool = Observation::SlowWhenCool { cool_drops: lock.cool_drops, below_k: from_k };
        evidence.weigh_heat(cool, -2.0, &[]);
    } else if lock.hot_drops >= 2 {
        // A Poisson rate that differs between hot and cool time; half of it, as cycles are not independent.
        let weight = (0.5 * lock.log_likelihood_ratio()).min(2.5);
        let DropLock { hot_drops, cool_drops, hot_s, cool_s } = lock;
        let hot = Observation::SlowWhenHot { hot_drops, cool_drops, from_k, hot_s, cool_s };
        evidence.weigh_heat(hot, weight, &[]);
    }
}
