//! What is observed about one drop, and how much it weighs.
//!
//! The order is that of METHODS, "Causes". Numbers in comments are log odds.

use super::drops::Drop;
use super::evidence::Scale;
use super::evidence::Suspect::{Other, Slc, Tmt1, Tmt2, Vendor};
use super::heat::{Heat, degrees};
use super::history::History;
use crate::findings::SegmentOp;
use crate::segment::Piece;
use crate::trace::{Phase, Trace};

/// Consumer drives are specified up to 70 °C, and on those measured nothing slowed down below it unless it was set to.
const USUAL_LIMIT_K: f64 = 343.0;
/// Far below any limit of a drive's own that was found; between the two the weight is in proportion.
const COOL_K: f64 = 328.0;
/// A threshold counts as met when the reading is within this: half a kelvin of rounding at both
/// ends, and a reading late by up to a period while the temperature climbs.
const AT_THRESHOLD_K: f64 = 1.6;
/// A regulator begins this far below the temperature that it is to hold (SSD2 of the seed experiments stays "slightly
/// below" its TMT1).
const REGULATOR_MARGIN_K: f64 = 4.0;
/// How long a drop must last before its temperature says something.
const TELLING_S: f64 = 20.0;

/// How long a drop must last for its second half to show that it came to rest: one and a half fast time constants
/// of an M.2 drive (40 s).
const SETTLING_S: f64 = 60.0;
/// Speed that gave way bit by bit ends at least a tenth lower than it began.
const GAVE_WAY: f64 = 0.9;

/// Temperatures this far apart are not one threshold: rounding at both ends and a reading period of climbing.
pub(crate) const OTHER_THRESHOLD_K: f64 = 2.5;
/// The drive's counters are looked at this long before and after the beginning of a drop.
const COUNTED_WITHIN_S: f64 = 10.0;

/// Everything that one drop is judged by.
pub(crate) struct Case<'a> {
    pub trace: &'a Trace,
    pub heat: &'a Heat<'a>,
    pub history: &'a History,
    pub pieces: &'a [Piece],
    pub drop: &'a Drop,
    pub op: SegmentOp,
    pub phase: &'a Phase,
    /// Data written since the cache was last empty, as far as the run shows.
    pub written_bytes: f64,
}

impl Case<'_> {
    /// When the drop began, in seconds.
    pub(crate) fn start_s(&self) -> f64 {
        self.pieces[self.drop.first].start_s
    }

    /// When it ended, in seconds.
    pub(crate) fn end_s(&self) -> f64 {
        self.pieces[self.drop.last].end_s
    }

    /// The temperature at which it began, in kelvins.
    pub(crate) fn onset_k(&self) -> Option<f64> {
        self.heat.peak_k(self.start_s())
    }

    /// The temperature at which it ended, in kelvins; `None` where it did not.
    pub(crate) fn release_k(&self) -> Option<f64> {
        if self.drop.recovered { self.heat.low_k(self.end_s()) } else { None }
    }

    /// Speed during over speed before.
    pub(crate) fn strength(&self) -> Option<f64> {
        super::strength(self.drop)
    }

    fn span_s(&self) -> f64 {
        self.end_s() - self.start_s()
    }
}

/// Adds what was found about other drops that look the same: of one kind, one cause.
pub(crate) fn weigh_kin(scale: &mut Scale, not_heat: usize, heat: usize) {
    if not_heat >= 2 && heat == 0 {
        let text = format!("{not_heat} others as deep and as long were clearly not heat.");
        scale.weigh_heat(-3.0, &[(Other, 1.0)], text);
    } else if heat >= 2 && not_heat == 0 {
        scale.weigh_heat(1.0, &[], format!("{heat} others as deep and as long were clearly heat."));
    }
}

/// Adds that drops which look the same began at other temperatures: a threshold would have one.
pub(crate) fn weigh_cooler_kin(scale: &mut Scale, cooler: usize) {
    if cooler > 0 {
        let text =
            format!("{cooler} others as deep and as long began at least {OTHER_THRESHOLD_K} K cooler.");
        scale.weigh_heat(-(cooler as f64).min(3.0), &[], text);
    }
}

/// Weighs everything about one drop.
pub(crate) fn weigh(case: &Case) -> Scale {
    let mut scale = Scale::new();
    match case.onset_k() {
        Some(onset_k) => {
            absolute(case, onset_k, &mut scale);
            thresholds(case, onset_k, &mut scale);
            hotter_before(case, onset_k, &mut scale);
            meanwhile(case, onset_k, &mut scale);
            coming_back(case, onset_k, &mut scale);
            again_and_again(case, onset_k, &mut scale);
        }
        None => scale.weigh_heat(-1.0, &[], "There is no temperature near it."),
    }
    counters(case, &mut scale);
    cache(case, &mut scale);
    circumstances(case, &mut scale);
    scale
}

/// How hot it was, against what drives are built for.
fn absolute(case: &Case, onset_k: f64, scale: &mut Scale) {
    let at = degrees(onset_k);
    let mut weigh = |weight: f64, text: String| {
        let mut weights = vec![(Vendor, weight)];
        if hctm_unknown(case) {
            // Any threshold may have been set: what suits the drive's own suits the host's nearly as well.
            weights.extend([(Tmt1, weight - 0.2), (Tmt2, weight - 0.2)]);
        }
        scale.weigh(&weights, text);
    };
    let critical = case.trace.facts.critical_k.filter(|k| onset_k >= k - 3.0);
    if let Some(critical) = critical {
        weigh(3.0, format!("It was {at}, the critical temperature of the drive is {}.", degrees(critical)));
        return;
    }
    let near_warning = case.trace.facts.warning_k.is_some_and(|k| onset_k >= k - 5.0);
    let usual = (onset_k - COOL_K) / (USUAL_LIMIT_K - COOL_K);
    let weight = if near_warning { 1.2 } else { -3.0 + 4.2 * usual.clamp(0.0, 1.0) };
    let text = if weight > 0.0 {
        format!("It was {at}, where drives protect themselves.")
    } else {
        format!("It was {at}: drives do not protect themselves that early unless they are set to.")
    };
    weigh(weight, text);
}

/// Whether the settings of TMT1 and TMT2 are not known.
fn hctm_unknown(case: &Case) -> bool {
    case.trace.settings_at(case.start_s()).is_none_or(|s| s.tmt1_k.is_none() && s.tmt2_k.is_none())
}

/// The temperature against TMT1 and TMT2.
fn thresholds(case: &Case, onset_k: f64, scale: &mut Scale) {
    if hctm_unknown(case) {
        return;
    }
    // A reading is up to one period old when the drive acts on a newer one.
    let climb_k = (case.heat.slope_before(case.start_s()).abs() * case.heat.period_s).min(4.0);
    let near_k = AT_THRESHOLD_K + climb_k;
    // A load that begins on a hot drive is slowed down above the threshold, not at it.
    let soon = case.drop.at_start || case.start_s() - case.phase.start_s <= super::RAMP_S;
    let (tmt1, tmt2) = case.trace.tmt_at(case.start_s());
    let mut met = false;
    for (suspect, name, threshold, margin_k) in
        [(Tmt1, "TMT1", tmt1, REGULATOR_MARGIN_K), (Tmt2, "TMT2", tmt2, 0.0)]
    {
        let Some(threshold_k) = threshold else {
            scale.weigh(&[(suspect, -6.0)], format!("{name} is disabled."));
            continue;
        };
        let (at, set) = (degrees(onset_k), degrees(threshold_k));
        let above_k = onset_k - threshold_k;
        if above_k.abs() <= near_k || (above_k >= 0.0 && soon) {
            met = true;
            scale.weigh(&[(suspect, 2.5)], format!("It was {at}, and {name} is set to {set}."));
        } else if above_k < 0.0 && -above_k <= margin_k && held_below(case, threshold_k) {
            met = true;
            let text = format!("It was {at}, and from then on the temperature stayed below {name}, {set}.");
            scale.weigh(&[(suspect, 2.0)], text);
        } else if suspect == Tmt1 && above_k < 0.0 && settled_below(case, threshold_k) {
            met = true;
            let text = format!(
                "It was {at}; speed gave way bit by bit and the temperature settled just below {name}, {set}."
            );
            scale.weigh(&[(suspect, 2.5)], text);
        } else {
            scale.weigh(&[(suspect, -4.0)], elsewhere(case, name, onset_k, threshold_k));
        }
    }
    // Two thresholds at one temperature would be a coincidence.
    scale.prior(Vendor, if met { -1.5 } else { 0.0 });
}

/// Why a threshold that was not met explains nothing.
fn elsewhere(case: &Case, name: &str, onset_k: f64, threshold_k: f64) -> String {
    let (at, set) = (degrees(onset_k), degrees(threshold_k));
    if threshold_k < case.history.coolest_k {
        return format!(
            "{name} is set to {set}, below everything the drive was in this run: it does not act."
        );
    }
    let far_k = (onset_k - threshold_k).abs();
    let side = if onset_k > threshold_k { "above" } else { "below" };
    format!("It was {at}, {far_k:.0} K {side} {name} ({set}).")
}

/// Whether the temperature was held, and stayed under `threshold_k`, while the drive was slow.
fn held_below(case: &Case, threshold_k: f64) -> bool {
    let during = case.heat.within(case.start_s(), case.end_s());
    let hottest = during.iter().map(|p| p.value).fold(0.0, f64::max);
    case.span_s() >= TELLING_S && hottest <= threshold_k + 0.5 && hottest >= threshold_k - REGULATOR_MARGIN_K
}

/// Whether a drop that began early came to rest just below `threshold_k`, as a regulator that acts ahead of
/// its threshold makes it: speed gives way in steps, and for the second half the temperature stands.
fn settled_below(case: &Case, threshold_k: f64) -> bool {
    let (first, last) = (&case.pieces[case.drop.first], &case.pieces[case.drop.last]);
    let middle_s = case.start_s() + case.span_s() / 2.0;
    let mut late: Vec<f64> = case.heat.within(middle_s, case.end_s()).iter().map(|p| p.value).collect();
    if late.is_empty() || case.span_s() < SETTLING_S || last.level > GAVE_WAY * first.level {
        return false;
    }
    late.sort_by(f64::total_cmp);
    let (low_k, high_k) = (late[late.len() / 10], late[late.len() - 1 - late.len() / 10]);
    high_k - low_k <= OTHER_THRESHOLD_K
        && high_k <= threshold_k + 0.5
        && high_k >= threshold_k - REGULATOR_MARGIN_K
}

/// Whether the drive had been hotter at full speed: then this temperature is no threshold.
fn hotter_before(case: &Case, onset_k: f64, scale: &mut Scale) {
    let hotter_s = case.history.full_speed_s_above(case.op, onset_k + 1.5)
        / case.history.drop_count(case.op).max(1) as f64;
    // Detection lag and rounding leave a second or two of full speed above any threshold.
    if hotter_s >= (5.0f64).max(3.0 * case.heat.period_s) {
        let text = format!(
            "The drive ran {:.0} s at full speed while it was at least 1.5 K hotter than that.",
            case.history.full_speed_s_above(case.op, onset_k + 1.5)
        );
        scale.weigh_heat(-3.0, &[], text);
    } else if !case.drop.at_start {
        scale.weigh_heat(0.7, &[], "At full speed it was never hotter than that in this operation.");
    }
}

/// What the temperature did while the drive was slow.
fn meanwhile(case: &Case, onset_k: f64, scale: &mut Scale) {
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
    let (at, moved_k) = (degrees(late_k), late_k - onset_k);
    if moved_k.abs() <= 2.5 {
        let text = format!(
            "While it was slow the temperature stayed where it was: {at} after {}.",
            degrees(onset_k)
        );
        // Within a time constant (40 s is a usual fast one) no temperature gets far.
        let weight = if span_s >= 60.0 { 1.8 } else { 0.8 };
        scale.weigh_heat(weight, &[(Slc, -1.0)], text);
    } else if moved_k <= -4.0 && !case.drop.recovered {
        let text = format!("It stayed slow although it cooled from {} to {at}.", degrees(onset_k));
        scale.weigh_heat(-1.0, &[(Slc, 2.0), (Other, 0.5)], text);
    } else if moved_k >= 5.0 && case.trace.tmt_at(case.start_s()).0.is_none_or(|k| !settled_below(case, k)) {
        let text = format!("It went on heating while it was slow, from {} to {at}.", degrees(onset_k));
        scale.weigh_heat(-1.0, &[], text);
    }
}

/// At which temperature the speed came back.
fn coming_back(case: &Case, onset_k: f64, scale: &mut Scale) {
    let Some(release_k) = case.release_k() else { return };
    if case.span_s() < 3.0 * case.heat.period_s {
        return;
    }
    let (cooled_k, at) = (onset_k - release_k, degrees(release_k));
    if cooled_k >= 1.9 {
        let text = format!("Its speed came back when it had cooled by {cooled_k:.0} K, to {at}.");
        // Any drive cools while it does less: this tells little, and nothing after a few seconds.
        let weight = if case.span_s() >= 10.0 { 1.3 } else { 0.4 };
        scale.weigh_heat(weight, &[(Slc, -2.0)], text);
    } else if cooled_k <= 0.5 {
        let text = format!("Its speed came back although it had not cooled: {at}.");
        scale.weigh_heat(-2.0, &[(Other, 1.0), (Slc, -2.0)], text);
    }
}

/// Whether drops go with heat over the whole run.
fn again_and_again(case: &Case, onset_k: f64, scale: &mut Scale) {
    let Some(lock) = case.history.lock(case.op, onset_k - 1.5) else { return };
    if lock.cool_drops >= 2 && lock.ratio() < 3.0 {
        let text = format!(
            "It was slow {} times when it was cooler than {} as well, about as often for the time spent there.",
            lock.cool_drops,
            degrees(onset_k - 1.5)
        );
        scale.weigh_heat(-2.0, &[], text);
    } else if lock.hot_drops >= 2 {
        // A Poisson rate that differs between hot and cool time; half of it, as cycles are not independent.
        let weight = (0.5 * lock.log_likelihood_ratio()).min(2.5);
        let text = format!(
            "It became slow {} times at {} or hotter and {} times below, for {:.0} s and {:.0} s at full speed.",
            lock.hot_drops,
            degrees(onset_k - 1.5),
            lock.cool_drops,
            lock.hot_s,
            lock.cool_s
        );
        scale.weigh_heat(weight, &[], text);
    }
}

/// The drive's own counters.
fn counters(case: &Case, scale: &mut Scale) {
    // A regulator counts when it begins, which is before its speed has visibly given way; a slow log page
    // shows it a reading later.
    let around_s = COUNTED_WITHIN_S.max(3.0 * case.heat.counter_period_s());
    let from_s = if case.drop.at_start { case.start_s() } else { case.start_s() - around_s };
    let to_s = case.start_s() + around_s;
    let moved = case.heat.moved(from_s, to_s);
    for (suspect, name, count) in [(Tmt1, "TMT1", moved.tmt1), (Tmt2, "TMT2", moved.tmt2)] {
        match count {
            Some(0) if case.heat.has_counted() => {
                let text = format!("The drive's counters of {name} stood still, and this drive does count.");
                scale.weigh(&[(suspect, -4.0)], text);
            }
            Some(0) => {
                let text = format!("The drive's counters of {name} stood still at zero.");
                scale.weigh(&[(suspect, -1.2)], text);
            }
            Some(_) => scale.weigh(&[(suspect, 5.0)], format!("The drive's own counters of {name} moved.")),
            None => {}
        }
    }
}

/// The fast write cache.
fn cache(case: &Case, scale: &mut Scale) {
    if !matches!(case.op, SegmentOp::Write | SegmentOp::Mixed) {
        scale.prior(Slc, -8.0);
        return;
    }
    scale.prior(Slc, -0.5);
    let written = measure::Bytes::new(case.written_bytes as u64);
    if let Some(slc) = case.trace.facts.slc_bytes.filter(|_| !case.drop.at_start) {
        let ratio = case.written_bytes / slc as f64;
        let text = format!(
            "{written} had been written, and the fast cache is stated as {}.",
            measure::Bytes::new(slc)
        );
        let weight = if (0.85..1.2).contains(&ratio) {
            4.0
        } else if ratio < 0.7 {
            -3.0
        } else {
            0.0
        };
        scale.weigh(&[(Slc, weight)], text);
    } else if case.written_bytes < 1e9 && !case.drop.at_start {
        scale.weigh(&[(Slc, -2.0)], format!("Only {written} had been written."));
    }
    if case.drop.at_start && case.history.slow_after_cache(case.drop.level) {
        scale.weigh(&[(Slc, 4.0)], "The fast cache had been filled before, and this is the speed since.");
    }
    let Some(strength) = case.strength() else { return };
    if case.drop.recovered {
        scale.weigh(&[(Slc, -3.0)], "Its speed came back while writing went on, which empties no cache.");
    } else if strength <= 0.6 && case.span_s() >= TELLING_S {
        let text = format!("Writing fell to {:.0} % after {written} and stayed there.", strength * 100.0);
        scale.weigh(&[(Slc, if strength <= 0.2 { 2.0 } else { 1.0 })], text);
    }
}

/// Everything else that makes speed differ.
fn circumstances(case: &Case, scale: &mut Scale) {
    if case.phase.buffered {
        let text = "The phase goes through the page cache, whose speed is not the drive's.";
        scale.weigh(&[(Other, 2.5)], text);
    }
    let span_s = case.span_s();
    if case.drop.recovered && span_s <= 10.0 {
        scale.weigh(&[(Other, 1.0)], format!("It lasted only {span_s:.1} s."));
    }
    let zero = case.pieces[case.drop.first].stopped;
    if zero && case.phase.inferred {
        scale.weigh(
            &[(Other, 1.5)],
            "Nothing moved, which may be the load's own pause: the log does not say.",
        );
    }
}
