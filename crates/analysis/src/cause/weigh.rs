//! What is observed about one drop, and how much it weighs.
//!
//! The order is that of METHODS, "Causes". Numbers in comments are log odds.

use super::beginning::{Beginning, HostBeginning, RanHotter};
use super::cache;
use super::case::{Case, REGULATOR_MARGIN_K, TELLING_S};
use super::counters;
use super::course;
use super::crossing::{ANYWHERE_PER_K, BEFOREHAND, HYSTERESIS_K, PAST_K};
use super::elsewhere;
use super::evidence::Suspect::{Other, Slc, Tmt1, Tmt2, Vendor};
use super::evidence::{Evidence, Suspect};
use super::left::SpeedLeft;
use super::likelihood::{ONE_THRESHOLD_K, part_way, seen_once};
use super::mix::{self, ONE_ROSE, Rose};
use super::noise;
use super::release::{HeldOn, Release};
use super::stood;
use crate::COOL_K;
use crate::findings::{Cause, SegmentOp};
use crate::observation::Observation;
use trace::HostThreshold;

/// Consumer drives are specified up to 70 °C, and on those measured nothing slowed down below it unless it was set to.
/// Between that and [`COOL_K`], far below any limit of a drive's own that was found, the weight is in proportion.
const USUAL_LIMIT_K: f64 = 343.0;
/// A drive at rest wanders by up to so much with its room, and is warmed up from there by so much: between the two in proportion.
const REST_K: f64 = 3.0;
const WARM_K: f64 = 8.0;
const BARELY_WARM: f64 = -2.5;
/// A threshold of the drive's own, in a kelvin: one in 40 K above the usual limit, fewer where it is cool, and
/// at the critical temperature every drive has one.
const OWN_PER_K: f64 = 0.03;
/// Of the drives that are still at full speed, one in so many more with every ...
const RARER_K: f64 = 16.0;
const COOL: f64 = -6.0;
/// ... but not less than this, one in 33: that none of the drives measured has a threshold so low is no proof that no drive has. A load that
/// begins slow shows none, and more than one is behind that.
const COOLEST: f64 = -2.5;
const COOLEST_AT_START: f64 = -3.0;
const CRITICAL_PER_K: f64 = 0.2;
/// One drive in three has its threshold at the temperature that it warns of (WCTEMP).
const AT_WARNING: f64 = 1.0 / 3.0;
/// Where it is not known, a host may have set any temperature: one drive in six, anywhere within 50 K.
const SET_PER_K: f64 = 0.003;
/// ... of those that drives work at: none throttles one that has hardly anything to do. Fewer by a factor of e in so many kelvins below.
const SET_AT_WORK_K: f64 = 318.0;
const SET_TAIL_K: f64 = 3.0;
/// A regulator that acts ahead of TMT1 begins anywhere within its margin.
const HELD_PER_K: f64 = 0.03;
/// A threshold that is elsewhere: its reading went astray. More where the drive says that it counted.
const ASTRAY_PER_K: f64 = 2e-4;
const COUNTED_PER_K: f64 = 5e-3;
const DISABLED: f64 = -6.0;
/// Where a threshold of the host's is ruled out, so much of what it was likely beforehand goes to one of the drive's own.
const INSTEAD: f64 = 0.5;
/// Slower than a kelvin in so long, a drive is about to come to rest; of the temperatures at which it may do so a fifth
/// (e^-1.5) or fewer lie just above a threshold.
const CREEPS_S_PER_K: f64 = 30.0;
const CREPT: f64 = 1.5;
/// ... unless it creeps all the way, as with its room: as slowly in so many kelvins, so far below.
const BELOW_K: f64 = 3.0;
/// So many steps of the sensor hotter than a drop began is no rounding.
const HOTTER_K: f64 = 0.9;
/// Seconds in a kelvin are counted over at least this much on both sides: whole kelvins.
const LEAST_BAND_K: f64 = 1.0;

/// What lasts so long may be heat or not; longer is more likely heat, by 0.7 for each double of it.
const NEITHER_S: f64 = 20.0;
/// ... up to this where nothing that the host does is behind it, and this where that is not known.
const LASTING: f64 = 3.0;
const LASTING_UNKNOWN: f64 = 1.0;

/// The weakest step of heat that was measured takes a fifth (SSD1 of the seed experiments).
const LITTLE_LOST: f64 = 0.9;
pub(super) const SMALL_STEP: f64 = -1.6;
const WHOLE_ROWS: f64 = 3.0;
/// A load that is known to go on and moves nothing for longer than a host waits for a command (30 s, Linux's
/// `nvme_core.io_timeout`): few things but heat stop a drive for so long and let it live. Reading has no cache to empty and
/// nothing to erase: it stops for less.
const STOPPED_S: f64 = 30.0;
const READING_STOPPED_S: f64 = 10.0;
const STOPPED: f64 = 1.0;
/// A full cache leaves what cells of three bits and more take.
const NO_CACHE_STOPS: f64 = -4.0;
/// Where nobody knows what was asked for, nothing moves for the host's reasons rather than the drive's: a drive that stops to cool is rare.
/// Once for all that look alike.
const PAUSED: f64 = -1.5;
/// ... and whoever it is asks for less every few hours.
const HOST_PER_S: f64 = 1.0 / 21_600.0;
/// The same speed as heat left of the load in another run: by chance one in twenty.
const IN_OTHER_RUN: f64 = 3.0;
/// A setting acts within this: the drive's entry latency is milliseconds, the log's times are a reading off.
const SETTING_SEEN_S: f64 = 3.0;

/// Weighs everything about one drop; also where it began, for what all drops together say, unless there is no temperature.
pub(crate) fn weigh(case: &Case) -> (Evidence, Option<Beginning>) {
    let mut evidence = Evidence::new();
    let rose = mix::rose(case);
    let began = case.onset_k().map(|onset_k| {
        let mut began = own_threshold(case, onset_k, &mut evidence);
        crept(case, &began, &mut evidence);
        began.host = thresholds(case, onset_k, &mut evidence);
        began.rose = rose.map_or(0.0, |rose| rose.surely);
        began.ran_hotter = course::weigh(case, onset_k, &mut evidence);
        slowed_in_other_run(case, onset_k, &mut evidence);
        elsewhere::weigh(case, onset_k, &mut evidence);
        began
    });
    match began {
        Some(_) => {}
        // It neither blames nor clears: what it weighs is nothing, and it is told as the reason.
        None if case.heat.frozen => evidence.weigh_heat(Observation::StillTemperature, 0.0, &[]),
        None => evidence.weigh_heat(Observation::NoTemperature, 0.0, &[]),
    }
    counters::weigh(case, &mut evidence);
    cache::weigh(case, &mut evidence);
    circumstances(case, rose, &mut evidence);
    (evidence, began)
}

/// Whether another run of the drive shows what heat makes of this load, and this one began as hot: the same speed that far above the
/// same threshold is no coincidence.
fn slowed_in_other_run(case: &Case, onset_k: f64, evidence: &mut Evidence) {
    let shown = case.others.slowed(case.phase, case.drop.level).filter(|_| case.is_known_from_others());
    let Some(slow) = shown.filter(|slow| onset_k >= slow.from_k - ONE_THRESHOLD_K) else { return };
    let suspects: &[Suspect] = match slow.cause {
        Cause::HctmTmt1 => &[Tmt1],
        Cause::HctmTmt2 => &[Tmt2],
        Cause::Vendor => &[Vendor],
        _ => &[Tmt1, Tmt2, Vendor],
    };
    let weights: Vec<_> = suspects.iter().map(|suspect| (*suspect, IN_OTHER_RUN)).collect();
    let seen = Observation::SlowedInOtherRun { bytes_per_s: slow.bytes_per_s, from_k: slow.from_k };
    evidence.weigh(seen, &weights);
}

/// How likely a threshold of the drive's own is here, in a kelvin, and what says so.
fn own(case: &Case, onset_k: f64) -> (f64, Observation) {
    let facts = &case.trace.facts;
    let ran_hotter = case.history.full_speed_s_above((case.op, false), onset_k + 1.5) > 30.0;
    let critical = facts.critical_k.filter(|k| onset_k >= k - 3.0 && !ran_hotter);
    if let Some(critical_k) = critical {
        return (CRITICAL_PER_K, Observation::AtCritical { temp_k: onset_k, critical_k });
    }
    let unknown = hctm_unknown(case);
    let coolest = if case.drop.at_start { COOLEST_AT_START } else { COOLEST };
    let per_k = |temp_k: f64| {
        let usual = part_way(temp_k, [COOL_K, USUAL_LIMIT_K]);
        let near_warning = facts.warning_k.is_some_and(|k| temp_k >= k - 5.0);
        let hotter = ((temp_k - USUAL_LIMIT_K) / RARER_K).max(0.0).exp();
        let own =
            OWN_PER_K * hotter * if near_warning { 1.0 } else { (COOL * (1.0 - usual)).max(coolest).exp() };
        let at_warning = facts.warning_k.map_or(0.0, |k| AT_WARNING * case.onset_per_k(k, temp_k));
        let own = own + at_warning;
        let set = SET_PER_K * (-((SET_AT_WORK_K - temp_k) / SET_TAIL_K).max(0.0)).exp();
        if unknown { own + set } else { own }
    };
    // A load that begins on a hot drive is slowed down anywhere above the threshold, and a hysteresis below it.
    let density = if case.drop.at_start {
        let steps = 20;
        let at = |step: i32| onset_k - PAST_K + (PAST_K + HYSTERESIS_K) * f64::from(step) / f64::from(steps);
        (0..=steps).map(|step| per_k(at(step))).sum::<f64>() / f64::from(steps + 1)
    } else {
        per_k(onset_k)
    };
    let seen = if density >= ANYWHERE_PER_K {
        Observation::Hot { temp_k: onset_k }
    } else {
        Observation::Cool { temp_k: onset_k }
    };
    (density, seen)
}

/// Whether the settings of TMT1 and TMT2 are not known.
pub(super) fn hctm_unknown(case: &Case) -> bool {
    case.trace.settings_at(case.start_s()).is_none_or(|s| s.tmt1_k.is_none() && s.tmt2_k.is_none())
}

/// Where the drop began.
fn beginning(case: &Case, temp_k: f64, own_per_k: f64) -> Beginning {
    let of = (case.op, case.drop.inside.is_some());
    let spread_k = case.spread_k();
    let half_k = spread_k.max(LEAST_BAND_K);
    // What is read once in a while stayed at least half of that time.
    let least_s = 0.5 * case.heat.period_s;
    // What holds a temperature does so before enough is lost to be seen, and after.
    let held = stood::held(case, temp_k);
    let least = case.shows_from();
    let stay_s =
        |set| if held { least_s } else { case.history.stay_s(of, set, temp_k, half_k, least).max(least_s) };
    let stay_s_per_k = |set| stay_s(set) / (2.0 * half_k);
    let moved = case.history.eras.moves() > 0;
    let stretch = case.pieces[case.drop.first].stretch;
    let [quiet_s, _] = case.history.quiet_s(of, stretch, temp_k - 2.0 * spread_k);
    let [_, hotter_s] = case.history.quiet_s(of, stretch, temp_k + HOTTER_K * case.heat.step_k.max(1.0));
    let full_speed_s = case.history.full_speed_s(of);
    // A regulator gives way bit by bit, anywhere.
    let approach = case.approach.filter(|_| case.fell_at_once());
    Beginning {
        temp_k,
        spread_k,
        stay_s_per_k: stay_s_per_k(None),
        stay_if_moved: moved.then(|| stay_s_per_k(Some(case.history.setting(case.trace, case.start_s())))),
        let_go: case.history.eras.let_go(case.end_s()),
        full_speed_s,
        // Drops like it come of other loads too: their rate lies between that of the time at speeds that show it, and that of all time.
        exposed_s: (case.history.above(of, None, 0.0, least).0 * full_speed_s).sqrt(),
        cache_ends_per_s: cache::ends_per_s(case.written.bytes, case.drop.before.unwrap_or(f64::INFINITY)),
        refilled: case.refilled,
        rested: case.rested(),
        least_rate_per_s: if case.phase.inferred { HOST_PER_S } else { 0.0 },
        stretch,
        quiet_s,
        quiet_hotter: hotter_s / CREEPS_S_PER_K.max(case.heat.long_past_s()),
        of,
        ran_hotter: RanHotter::default(),
        at_start: case.drop.at_start,
        own_per_k,
        host_unknown: hctm_unknown(case),
        host: [None, None],
        approach_k: approach.and_then(|approach| case.heat.nearest_k(approach.since_s)),
        release: Release::new(case, temp_k),
        held_on: HeldOn::new(case),
        rose: 0.0,
        left: SpeedLeft::new(case),
    }
}

/// Whether the temperature hardly rose any more: of all temperatures that a drive may come to rest at, few lie just above a
/// threshold. Seen once for all that look alike. A regulator brings a drive to rest at one while speed falls, and a drive that is
/// slow already always creeps.
fn crept(case: &Case, began: &Beginning, evidence: &mut Evidence) {
    let Beginning { stay_s_per_k, at_start: false, .. } = *began else { return };
    let lasts = !case.drop.recovered && !case.drop.stops(case.pieces);
    if case.shape.sank() || case.drop.inside.is_some() || lasts {
        return;
    }
    let usual_s_per_k =
        case.history.stay_s_per_k_below(began.of, began.temp_k - BELOW_K, BELOW_K, case.shows_from());
    let weight =
        -(stay_s_per_k / usual_s_per_k.max(CREEPS_S_PER_K)).ln().clamp(0.0, CREPT) * seen_once(case.alike);
    if weight < 0.0 {
        evidence.weigh_heat(Observation::Crept { stay_s_per_k }, weight, &[]);
    }
}

/// The temperature against where drives have thresholds of their own.
fn own_threshold(case: &Case, onset_k: f64, evidence: &mut Evidence) -> Beginning {
    let (per_k, seen) = own(case, onset_k);
    let began = beginning(case, onset_k, per_k);
    let weight = (per_k / ANYWHERE_PER_K).ln();
    let mut weights = vec![(Vendor, weight)];
    if began.host_unknown {
        // Any threshold may have been set: what suits the drive's own suits the host's.
        weights.extend([(Tmt1, weight), (Tmt2, weight)]);
    }
    evidence.weigh(seen, &weights);
    barely_warm(case, onset_k, evidence);
    began
}

/// Whether nothing had warmed the drive up, and it was cool: what is a threshold then has the drive throttled at rest, and slowing
/// down would not get it below. A host that sets one so low is known by its settings.
fn barely_warm(case: &Case, onset_k: f64, evidence: &mut Evidence) {
    let above_k = onset_k - case.history.coolest_k;
    let share = 1.0 - part_way(above_k, [REST_K, WARM_K]);
    if hctm_unknown(case) && onset_k < COOL_K && share > 0.0 {
        evidence.weigh_heat(Observation::BarelyWarm { above_k }, BARELY_WARM * share, &[]);
    }
}

/// The temperature against TMT1 and TMT2: how likely the beginning is by each, in a kelvin.
fn thresholds(case: &Case, onset_k: f64, evidence: &mut Evidence) -> [Option<HostBeginning>; 2] {
    if hctm_unknown(case) {
        return [None, None];
    }
    // A load that begins on a hot drive is slowed down above the threshold, not at it.
    // Not far above it, though: a threshold that the drive has long left behind is none that it heeds.
    let soon = case.drop.at_start || case.start_s() - case.phase.start_s <= super::RAMP_S;
    // Within a drop the drive is throttled already: a regulator goes further anywhere above.
    let begins_past =
        |above_k: f64| (soon || case.drop.inside.is_some()) && (0.0..=PAST_K).contains(&above_k);
    let (tmt1, tmt2) = case.trace.tmt_at(case.start_s());
    // What a threshold of the host's cannot be may be one of the drive's own. A drive has one or not: once for all that look alike, and
    // one drop alone shows none.
    let recurs = seen_once(case.alike) * (1.0 - 1.0 / case.alike.max(1) as f64);
    let mut instead = BEFOREHAND[Vendor as usize];
    let mut own = |suspect: Suspect, weight: f64| {
        let before = instead;
        instead += INSTEAD * BEFOREHAND[suspect as usize] * (1.0 - weight.min(0.0).exp());
        (Vendor, (instead / before).ln() * recurs)
    };
    // A regulator of light throttling may begin at any temperature below.
    [(HostThreshold::Tmt1, tmt1, f64::INFINITY), (HostThreshold::Tmt2, tmt2, 0.0)].map(
        |(threshold, set_k, early_k)| {
            let suspect = Suspect::from(threshold);
            let Some(set_k) = set_k else {
                // What no source says is hardly set where the other one is known to be.
                let seen = match recorded(case, threshold) {
                    true => Observation::ThresholdDisabled { threshold },
                    false => Observation::ThresholdNotRecorded { threshold },
                };
                evidence.weigh(seen, &[(suspect, DISABLED), own(suspect, DISABLED)]);
                return None;
            };
            let (temp_k, above_k) = (onset_k, onset_k - set_k);
            let near = case.onset_per_k(set_k, onset_k);
            let past = if begins_past(above_k) { 1.0 / PAST_K } else { 0.0 };
            let (seen, per_k) = if above_k < 0.0 && early_k >= -above_k && held_below(case, set_k) {
                (Observation::HeldBelowThreshold { threshold, temp_k, set_k }, near.max(HELD_PER_K))
            } else if near.max(past) >= ANYWHERE_PER_K {
                (Observation::AtThreshold { threshold, temp_k, set_k }, near.max(past))
            } else if set_k < case.history.coolest_k {
                // Below everything the drive was in it does not act.
                (Observation::ThresholdBelowRun { threshold, set_k }, near)
            } else {
                (Observation::AwayFromThreshold { threshold, temp_k, set_k }, near)
            };
            // A drive that counts knows better than a reading.
            let least = match counters::counted(case, threshold) {
                // A load that begins throttled may do so anywhere above where the threshold lets go.
                true if counters::began_counted(case, threshold) => ANYWHERE_PER_K,
                true => COUNTED_PER_K,
                false => ASTRAY_PER_K,
            };
            let per_k = per_k.max(least);
            let weight = (per_k / ANYWHERE_PER_K).ln();
            evidence.weigh(seen, &[(suspect, weight), own(suspect, weight)]);
            Some(HostBeginning { above_k, per_k })
        },
    )
}

/// Whether the source says what a threshold was set to, be it off.
fn recorded(case: &Case, threshold: HostThreshold) -> bool {
    let settings = case.trace.settings_at(case.start_s());
    let set_k = settings.and_then(|settings| match threshold {
        HostThreshold::Tmt1 => settings.tmt1_k,
        HostThreshold::Tmt2 => settings.tmt2_k,
    });
    set_k.is_some()
}

/// Whether the temperature came to rest just under `threshold_k`, and stayed there to the end of the load: a regulator that
/// acts ahead of its threshold may still heat while it begins.
fn held_below(case: &Case, threshold_k: f64) -> bool {
    let middle_s = case.start_s() + case.span_s() / 2.0;
    let mut late: Vec<f64> = case.heat.within(middle_s, case.end_s()).iter().map(|p| p.value).collect();
    if late.is_empty() || case.drop.recovered || case.span_s() < TELLING_S {
        return false;
    }
    late.sort_by(f64::total_cmp);
    let (low_k, high_k) = (late[late.len() / 10], late[late.len() - 1 - late.len() / 10]);
    let held = high_k - low_k <= REGULATOR_MARGIN_K;
    held && high_k <= threshold_k + 0.5 && high_k >= threshold_k - REGULATOR_MARGIN_K
}

/// Everything else that makes speed differ.
fn circumstances(case: &Case, rose: Option<Rose>, evidence: &mut Evidence) {
    if case.phase.buffered {
        evidence.weigh(Observation::ThroughPageCache, &[(Other, 2.5)]);
    }
    lasted(case, evidence);
    if let Some(rose) = rose {
        let Rose { op, from_bytes_per_s, to_bytes_per_s, surely } = rose;
        let weight = ONE_ROSE * surely * seen_once(case.alike);
        evidence.weigh_heat(Observation::OneRose { op, from_bytes_per_s, to_bytes_per_s }, weight, &[]);
    }
    // Without a temperature heat is neither blamed nor cleared.
    // A row or two are in part at full speed: how much was lost they do not show.
    let shows_it = case.span_s() >= WHOLE_ROWS * case.heat.slice_s;
    let little = shows_it
        && case.onset_k().is_some()
        && case.strength().is_some_and(|strength| strength > LITTLE_LOST);
    // What a room makes a regulator give away over an hour is a step only in the pieces that speed is cut into.
    if little && case.fell_at_once() && !case.onset_k().is_some_and(|onset_k| course::was_held(case, onset_k))
    {
        evidence.weigh_heat(Observation::LittleLost, SMALL_STEP, &[]);
    }
    noise::weigh(case, evidence);
    if let Some((before, after)) = power_states(case) {
        evidence.weigh(Observation::PowerStateChanged { before, after }, &[(Other, 6.0)]);
    }
    let (span_s, reads) = (case.span_s(), case.op == SegmentOp::Read);
    let long = span_s >= if reads { READING_STOPPED_S } else { STOPPED_S };
    if !case.drop.stops(case.pieces) {
        return;
    }
    if case.phase.inferred {
        evidence.weigh_heat(Observation::Paused { span_s }, PAUSED * seen_once(case.alike), &[]);
    } else if long {
        evidence.weigh_heat(Observation::Stopped { span_s }, STOPPED, &[(Slc, NO_CACHE_STOPS)]);
    }
}

/// How long it lasted: what is no heat seldom lasts for minutes, unless the host is behind it. The rows at its ends hold other speeds too,
/// so that it was a row shorter than those are, and what is all in one may have been anything.
fn lasted(case: &Case, evidence: &mut Evidence) {
    let (span_s, slice_s) = (case.lasted_s, case.heat.slice_s);
    let weight = (NEITHER_S / (span_s - slice_s).max(slice_s / 2.0)).log2();
    if weight < 0.0 && case.onset_k().is_some() && !case.drop.at_start {
        let most = if power_states_known(case) { LASTING } else { LASTING_UNKNOWN };
        evidence.weigh(Observation::Lasted { span_s }, &[(Other, weight.max(-most) * seen_once(case.alike))]);
    }
}

/// Whether the host's power state is known, which would make a drop that lasts.
fn power_states_known(case: &Case) -> bool {
    case.trace.settings_at(case.start_s()).is_some_and(|settings| settings.power_state.is_some())
}

/// The power states before and after the beginning, where the host changed them then.
fn power_states(case: &Case) -> Option<(u8, u8)> {
    let state = |t_s: f64| case.trace.settings_at(t_s).and_then(|settings| settings.power_state);
    let (before, after) = (state(case.start_s() - SETTING_SEEN_S)?, state(case.start_s() + SETTING_SEEN_S)?);
    (before != after).then_some((before, after))
}
