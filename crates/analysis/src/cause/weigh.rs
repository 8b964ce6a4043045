//! What is observed about one drop, and how much it weighs.
//!
//! The order is that of METHODS, "Causes". Numbers in comments are log odds.

use super::course;
use super::drops::Drop;
use super::evidence::Suspect::{Other, Slc, Tmt1, Tmt2, Vendor};
use super::evidence::{Scale, Suspect};
use super::heat::{Heat, Moved};
use super::history::History;
use super::rule::Rule;
use crate::findings::SegmentOp;
use crate::segment::Piece;
use crate::wording::degrees;
use trace::{Phase, Trace};

/// Consumer drives are specified up to 70 °C, and on those measured nothing slowed down below it unless it was set to.
const USUAL_LIMIT_K: f64 = 343.0;
/// Far below any limit of a drive's own that was found; between the two the weight is in proportion.
const COOL_K: f64 = 328.0;
/// A threshold counts as met when the reading is within this: half a kelvin of rounding at both
/// ends, and a reading late by up to a period while the temperature climbs.
const AT_THRESHOLD_K: f64 = 1.6;
/// A regulator holds its temperature at most this far below TMT1 (SSD2 of the seed experiments stays "slightly
/// below" it): a kelvin and a half, and one of rounding.
const REGULATOR_MARGIN_K: f64 = 2.6;
/// How long a drop must last before its temperature says something.
pub(super) const TELLING_S: f64 = 20.0;

/// Writing that is slow for less than this up to the end of the load may be a dip.
const STAYED_S: f64 = 30.0;
/// How long a drop must last for its second half to show that it came to rest: one and a half fast time constants
/// of an M.2 drive (40 s).
pub(super) const SETTLING_S: f64 = 60.0;

/// Temperatures this far apart are not one threshold: rounding at both ends and a reading period of climbing.
pub(crate) const OTHER_THRESHOLD_K: f64 = 2.5;
/// The drive's counters are looked at this long before and after the beginning of a drop.
const COUNTED_WITHIN_S: f64 = 10.0;

/// The weakest step of heat that was measured takes a fifth (SSD1 of the seed experiments).
const LITTLE_LOST: f64 = 0.9;
/// A setting acts within this: the drive's entry latency is milliseconds, the log's times are a reading off.
const SETTING_SEEN_S: f64 = 3.0;

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

    /// How much a reading may lag behind the temperature when it began: it is up to one period old when
    /// the drive acts on a newer one.
    pub(crate) fn climb_k(&self) -> f64 {
        (self.heat.slope_before(self.start_s()).abs() * self.heat.period_s).min(4.0)
    }

    /// The temperature at which it ended, in kelvins; `None` where it did not.
    pub(crate) fn release_k(&self) -> Option<f64> {
        if self.drop.recovered { self.heat.low_k(self.end_s()) } else { None }
    }

    /// Speed during over speed before.
    pub(crate) fn strength(&self) -> Option<f64> {
        super::strength(self.drop)
    }

    pub(crate) fn span_s(&self) -> f64 {
        self.end_s() - self.start_s()
    }
}

/// Weighs everything about one drop.
pub(crate) fn weigh(case: &Case) -> Scale {
    let mut scale = Scale::new();
    match case.onset_k() {
        Some(onset_k) => {
            absolute(case, onset_k, &mut scale);
            thresholds(case, onset_k, &mut scale);
            course::weigh(case, onset_k, &mut scale);
        }
        // It neither blames nor clears: what it weighs is nothing, and it is told as the reason.
        None if case.heat.frozen => {
            scale.weigh_heat(
                Rule::NoTemperature,
                0.0,
                &[],
                "The temperature never moves, so it says nothing.",
            );
        }
        None => scale.weigh_heat(Rule::NoTemperature, 0.0, &[], "There is no temperature near it."),
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
        scale.weigh(Rule::Hot, &weights, text);
    };
    let ran_hotter = case.history.full_speed_s_above((case.op, false), onset_k + 1.5) > 30.0;
    let critical = case.trace.facts.critical_k.filter(|k| onset_k >= k - 3.0 && !ran_hotter);
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

/// How far above a threshold a load may begin that is slowed down by it at once: as far as a drive heats up under full
/// load before a pause in which it cools again. Drives come with a TMT1 of 0 °C that does nothing.
const PAST_THRESHOLD_K: f64 = 30.0;

/// The temperature against TMT1 and TMT2.
fn thresholds(case: &Case, onset_k: f64, scale: &mut Scale) {
    if hctm_unknown(case) {
        return;
    }
    let near_k = AT_THRESHOLD_K + case.climb_k();
    // A load that begins on a hot drive is slowed down above the threshold, not at it.
    // Not far above it, though: a threshold that the drive has long left behind is none that it heeds.
    let soon = case.drop.at_start || case.start_s() - case.phase.start_s <= super::RAMP_S;
    let begins_past = |above_k: f64| soon && (0.0..=PAST_THRESHOLD_K).contains(&above_k);
    let (tmt1, tmt2) = case.trace.tmt_at(case.start_s());
    let mut met = false;
    for (suspect, name, threshold, margin_k) in
        [(Tmt1, "TMT1", tmt1, REGULATOR_MARGIN_K), (Tmt2, "TMT2", tmt2, 0.0)]
    {
        let Some(threshold_k) = threshold else {
            scale.weigh(Rule::Thresholds, &[(suspect, -6.0)], format!("{name} is disabled."));
            continue;
        };
        let (at, set) = (degrees(onset_k), degrees(threshold_k));
        let above_k = onset_k - threshold_k;
        if above_k.abs() <= near_k || begins_past(above_k) {
            met = true;
            scale.weigh(
                Rule::Thresholds,
                &[(suspect, 2.5)],
                format!("It was {at}, and {name} is set to {set}."),
            );
        } else if above_k < 0.0 && -above_k <= margin_k && held_below(case, threshold_k) {
            met = true;
            let text = format!("It was {at}, and from then on the temperature stayed below {name}, {set}.");
            scale.weigh(Rule::Thresholds, &[(suspect, 2.0)], text);
        } else if suspect == Tmt1 && above_k < 0.0 && settled_below(case, threshold_k) {
            met = true;
            let text = format!(
                "It was {at}; speed gave way bit by bit and the temperature settled just below {name}, {set}."
            );
            scale.weigh(Rule::Thresholds, &[(suspect, 2.5)], text);
        } else {
            // A drive that counts knows better than a reading.
            let weight = if counted(case, suspect) { -1.5 } else { -4.0 };
            scale.weigh(Rule::Thresholds, &[(suspect, weight)], elsewhere(case, name, onset_k, threshold_k));
        }
    }
    if met {
        let text = "Two thresholds at one temperature would be a coincidence.";
        scale.prior(Rule::Thresholds, Vendor, -1.5, text);
    }
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

/// Whether the temperature was held just under `threshold_k` while the drive was slow, to the end of the load.
fn held_below(case: &Case, threshold_k: f64) -> bool {
    let mut during: Vec<f64> =
        case.heat.within(case.start_s(), case.end_s()).iter().map(|p| p.value).collect();
    if during.is_empty() || case.drop.recovered || case.span_s() < TELLING_S {
        return false;
    }
    during.sort_by(f64::total_cmp);
    let (low_k, high_k) = (during[during.len() / 10], during[during.len() - 1 - during.len() / 10]);
    high_k <= threshold_k + 0.5 && low_k >= threshold_k - REGULATOR_MARGIN_K
}

/// Whether a drop that began early came to rest just below `threshold_k`, as a regulator that acts ahead of
/// its threshold makes it: speed gives way in steps, and for the second half the temperature stands.
pub(super) fn settled_below(case: &Case, threshold_k: f64) -> bool {
    let middle_s = case.start_s() + case.span_s() / 2.0;
    let mut late: Vec<f64> = case.heat.within(middle_s, case.end_s()).iter().map(|p| p.value).collect();
    if late.is_empty() || case.span_s() < SETTLING_S || case.drop.recovered {
        return false;
    }
    late.sort_by(f64::total_cmp);
    let (low_k, high_k) = (late[late.len() / 10], late[late.len() - 1 - late.len() / 10]);
    high_k - low_k <= OTHER_THRESHOLD_K
        && high_k <= threshold_k + 0.5
        && high_k >= threshold_k - REGULATOR_MARGIN_K
}

/// The drive's own counters.
fn counters(case: &Case, scale: &mut Scale) {
    let moved = counted_around(case);
    for (suspect, name, count) in [(Tmt1, "TMT1", moved.tmt1), (Tmt2, "TMT2", moved.tmt2)] {
        match count {
            Some(0) if case.heat.has_counted() => {
                let text = format!("The drive's counters of {name} stood still, and this drive does count.");
                scale.weigh(Rule::Counters, &[(suspect, -4.0)], text);
            }
            Some(0) => {
                let text = format!("The drive's counters of {name} stood still at zero.");
                scale.weigh(Rule::Counters, &[(suspect, -1.2)], text);
            }
            Some(_) => scale.weigh(
                Rule::Counters,
                &[(suspect, 5.0)],
                format!("The drive's own counters of {name} moved."),
            ),
            None => {}
        }
    }
}

/// By how much the counters moved around the beginning: a regulator counts when it begins, which is before its
/// speed has visibly given way; a slow log page shows it a reading later.
pub(super) fn counted_around(case: &Case) -> Moved {
    let around_s = COUNTED_WITHIN_S.max(3.0 * case.heat.counter_period_s());
    let from_s = if case.drop.at_start { case.start_s() } else { case.start_s() - around_s };
    let to_s = case.start_s() + around_s;
    // Inside another drop the outer one's seconds go on.
    if case.drop.inside.is_some() { case.heat.began(from_s, to_s) } else { case.heat.moved(from_s, to_s) }
}

/// Whether the drive's own counter of a threshold moved around the beginning.
fn counted(case: &Case, suspect: Suspect) -> bool {
    let moved = counted_around(case);
    let count = if suspect == Tmt1 { moved.tmt1 } else { moved.tmt2 };
    count.is_some_and(|count| count > 0)
}

/// The fast write cache.
fn cache(case: &Case, scale: &mut Scale) {
    if !matches!(case.op, SegmentOp::Write | SegmentOp::Mixed) {
        scale.prior(Rule::WriteCache, Slc, -8.0, "Reading fills no write cache.");
        return;
    }
    scale.prior(Rule::WriteCache, Slc, -0.5, "Most drops of write speed are no full cache.");
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
        scale.weigh(Rule::WriteCache, &[(Slc, weight)], text);
    } else if case.written_bytes < 1e9 && !case.drop.at_start {
        scale.weigh(Rule::WriteCache, &[(Slc, -2.0)], format!("Only {written} had been written."));
    }
    if case.drop.at_start && case.history.slow_after_cache(case.drop.level) {
        scale.weigh(
            Rule::WriteCache,
            &[(Slc, 4.0)],
            "The fast cache had been filled before, and this is the speed since.",
        );
    }
    let Some(strength) = case.strength() else { return };
    if case.drop.recovered {
        scale.weigh(
            Rule::WriteCache,
            &[(Slc, -3.0)],
            "Its speed came back while writing went on, which empties no cache.",
        );
    } else if strength <= 0.6 && case.span_s() >= STAYED_S {
        let text = format!("Writing fell to {:.0} % after {written} and stayed there.", strength * 100.0);
        // The weakest that heat left of a speed, short of a stop, was 200 MB/s of 3 GB/s (SSD1 of the seed experiments);
        // a full cache left 78 MB/s of 2.6 GB/s (row D1).
        let weight = match strength {
            ..=0.05 => 3.0,
            ..=0.2 => 2.0,
            _ => 1.0,
        };
        scale.weigh(Rule::WriteCache, &[(Slc, weight)], text);
    }
}

/// Everything else that makes speed differ.
fn circumstances(case: &Case, scale: &mut Scale) {
    if case.phase.buffered {
        let text = "The phase goes through the page cache, whose speed is not the drive's.";
        scale.weigh(Rule::PageCache, &[(Other, 2.5)], text);
    }
    let span_s = case.span_s();
    if case.drop.recovered && span_s <= 10.0 {
        // A hysteresis of 2 K takes longer than a few seconds to cool through.
        let weight = if span_s <= 5.0 { 2.0 } else { 1.0 };
        scale.weigh(Rule::Short, &[(Other, weight)], format!("It lasted only {span_s:.1} s."));
    }
    let little = case.strength().is_some_and(|strength| strength > LITTLE_LOST);
    if little && !case.pieces[case.drop.first].gradual {
        let text = "It lost little and at once: drives that protect themselves in steps give up more.";
        scale.weigh_heat(Rule::LittleLost, -1.2, &[], text);
    }
    if let Some((before, after)) = power_states(case) {
        let text = format!("The host took the drive from power state {before} to {after} at that moment.");
        scale.weigh(Rule::PowerState, &[(Other, 6.0)], text);
    }
    let zero = case.pieces[case.drop.first].stopped;
    if zero && case.phase.inferred {
        scale.weigh(
            Rule::Pause,
            &[(Other, 1.5)],
            "Nothing moved, which may be the load's own pause: the log does not say.",
        );
    }
}

/// The power states before and after the beginning, where the host changed them then.
fn power_states(case: &Case) -> Option<(u8, u8)> {
    let state = |t_s: f64| case.trace.settings_at(t_s).and_then(|settings| settings.power_state);
    let (before, after) = (state(case.start_s() - SETTING_SEEN_S)?, state(case.start_s() + SETTING_SEEN_S)?);
    (before != after).then_some((before, after))
}
