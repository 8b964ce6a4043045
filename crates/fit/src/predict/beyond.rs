//! What lies beyond the runs: where a forecast rests on something that none of them showed.

use crate::commands::{THERMAL_ID, at_low_tmt1, floor_plan, in_states};
use crate::fitted::{Fitted, interval};
use crate::predict::ForecastCaveat;
use crate::predict::full_unknown::full_unknown;
use crate::predict::scenario::Scenario;
use crate::sample::{DriveSample, ThresholdSource, Throttle, ThrottleAct};
use crate::simulate::{LoadPhase, PhaseOutcome};

/// Hotter than what was seen without throttling by so much is beyond what the runs can tell.
const BEYOND_K: f64 = 1.0;
/// A setting that was not seen to act may do so from so far below it on.
const UNSEEN_K: f64 = 2.0;
/// One that is lower than any that was seen to act by so much is another matter: at 50 °C the published SSD2 leaves its
/// regulator off and latches at TMT2, at 60 °C it regulates (VALIDATION, B3 and B4); from 65 to 60 °C it does the same.
pub(crate) const LOWER_K: f64 = 5.0;
/// A way to throttle in another power state may be the right one from this share of the samples on, and is another answer
/// where the speed or the time until then differs by so much.
const LAW_SHARE: f64 = 0.25;
const LAW_SPEED: f64 = 0.05;
const LAW_TIME: f64 = 0.1;
const LAW_TIME_S: f64 = 3.0;

/// Whether a setting that was not seen to act lies where the drive gets to: what it does then, nobody knows. Where no run
/// says what was set, a threshold that was seen may be TMT1's or the firmware's own.
pub(crate) fn tmt_unseen(fitted: &Fitted, scenario: &Scenario, of: &[PhaseOutcome]) -> bool {
    let peak_k = interval(&of.iter().map(|outcome| outcome.peak_k).collect::<Vec<_>>())[1];
    let latched =
        fitted.best.throttles.iter().any(|throttle| matches!(throttle.act, ThrottleAct::TwoLevel { .. }));
    let unseen = |at: usize, follows: ThresholdSource| {
        let set_k = scenario.tmt_k[at].map_or(0.0, f64::from);
        let changed = set_k > 0.0 && set_k != fitted.common.tmt_k[at];
        let seen = latched || fitted.best.throttles.iter().any(|throttle| throttle.follows == follows);
        changed
            && !seen
            && (fitted.names_no_tmt() || !fitted.seen.tmt_ignored[at] && peak_k > set_k - UNSEEN_K)
    };
    unseen(0, ThresholdSource::Tmt1) || unseen(1, ThresholdSource::Tmt2)
}

/// Hotter than any load of this kind was seen, and no throttle of it was: whether there is one, nobody knows. Where a
/// throttle was seen, hotter than with it, over the setting it follows: whether a second one comes, nobody knows.
pub(crate) fn beyond(fitted: &Fitted, scenario: &Scenario, phase: &LoadPhase, of: &[PhaseOutcome]) -> bool {
    let Some(read) = phase.read_share else { return false };
    let seen = &fitted.seen;
    let ops = || (0..2).filter(|op| [read > 0.0, read < 1.0][*op]);
    // At most what was seen of an operation is no question of how fast it could be.
    let ran = ops().all(|op| seen.ran[op]) && !full_unknown(fitted, phase);
    if above_asked_k(fitted, scenario).is_some() {
        return true;
    }
    let middle = |get: &dyn Fn(&PhaseOutcome) -> f64| interval(&of.iter().map(get).collect::<Vec<_>>())[1];
    if !seen.throttled.iter().any(|throttled| *throttled) {
        let top = ops().map(|op| seen.hottest_k[op]).fold(0.0, f64::max);
        return !ran || middle(&|outcome| outcome.peak_k) > top + BEYOND_K;
    }
    let follows_tmt1 = fitted.best.throttles.iter().any(|throttle| throttle.follows == ThresholdSource::Tmt1);
    let raised = scenario.tmt_k[0].map_or(0.0, |tmt1_k| f64::from(tmt1_k) - fitted.common.tmt_k[0]);
    let top = seen.range_k[1] + if follows_tmt1 { raised.max(0.0) } else { 0.0 };
    let peak_k = middle(&|outcome| outcome.peak_k);
    !ran || peak_k > top + 2.0 * BEYOND_K && !is_below_tmt2(fitted, scenario, peak_k)
}

/// Whether a relay at TMT1 is all that acts so far up, and surely one: its lower speed was seen, and the next threshold that
/// the specification names is TMT2 (NVMe Base 2.3, 8.1.18.5). Of a regulator nobody saw how far down it goes; firmware's own
/// thresholds may lie anywhere, and often near the drive's warning temperature.
fn is_below_tmt2(fitted: &Fitted, scenario: &Scenario, peak_k: f64) -> bool {
    let relay = |throttle: &Throttle| {
        throttle.follows == ThresholdSource::Tmt1
            && matches!(throttle.act, ThrottleAct::Relay(_) | ThrottleAct::TwoLevel { .. })
    };
    let sure = |sample: &DriveSample| !sample.throttles.is_empty() && sample.throttles.iter().all(relay);
    let tmt2_k = scenario.tmt_k[1].map_or(fitted.common.tmt_k[1], f64::from);
    let next_k = tmt2_k.min(fitted.common.limits.warning_k.unwrap_or(f64::INFINITY));
    // A run that never cooled down tells a relay from a regulator too rarely.
    fitted.seen.cooled && fitted.samples.iter().all(sure) && peak_k + BEYOND_K < next_k
}

/// An operation of a phase that no run has: how fast it is, nobody knows.
pub(crate) fn never_ran(fitted: &Fitted, phase: &LoadPhase) -> Option<&'static str> {
    let read = phase.read_share?;
    let words = [("read", read > 0.0), ("write", read < 1.0)].into_iter().enumerate();
    words.filter(|(_, (_, runs))| *runs).find_map(|(op, (word, _))| {
        (!fitted.seen.ran[op] && fitted.best.full[op] <= NO_GB_PER_S).then_some(word)
    })
}

/// The same as a caveat: `open` are the phases with it and after it.
pub(crate) fn never_ran_caveat(word: Option<&str>, open: &[&str]) -> Option<ForecastCaveat> {
    let text = format!(
        "Not known: {}. No fitted run has {}s that warm the drive: `{THERMAL_ID}` does; fit that run too.",
        open.join(", "),
        word?
    );
    Some(ForecastCaveat { kind: "operation_unknown", text })
}

/// What stands for the full speed of an operation that never ran, in GB/s.
const NO_GB_PER_S: f64 = 1e-6;
/// More than this share of the samples throttled decides the end of an interval.
const ONE_IN: usize = 20;

/// Thresholds that would slow this phase down to a speed that no run shows, so that that of the other operation stands in: which operation, by
/// what.
pub(crate) fn floors_unseen(
    fitted: &Fitted,
    scenario: &Scenario,
    phase: &LoadPhase,
    of: &[PhaseOutcome],
) -> Vec<(usize, ThresholdSource)> {
    let Some(read) = phase.read_share else { return Vec::new() };
    let throttled = of.iter().filter(|outcome| outcome.time_to_throttle_s.is_some()).count();
    if ONE_IN * throttled <= of.len() {
        return Vec::new();
    }
    let peak_k = interval(&of.iter().map(|outcome| outcome.peak_k).collect::<Vec<_>>())[1];
    let on_k = |throttle: &Throttle| match throttle.follows {
        ThresholdSource::Tmt1 => scenario.tmt_k[0].map_or(fitted.common.tmt_k[0], f64::from) + throttle.on_k,
        ThresholdSource::Tmt2 => scenario.tmt_k[1].map_or(fitted.common.tmt_k[1], f64::from) + throttle.on_k,
        ThresholdSource::Own => throttle.on_k,
    };
    let relays = fitted.best.throttles.iter().filter(|one| matches!(one.act, ThrottleAct::Relay(_)));
    let reached = relays.filter(|throttle| peak_k >= on_k(throttle) - BEYOND_K);
    reached
        .flat_map(|throttle| {
            let ops = [read > 0.0, read < 1.0].into_iter().enumerate().filter(|(_, runs)| *runs);
            let mixed = read > 0.0 && read < 1.0;
            ops.filter(move |(op, _)| {
                fitted.seen.ran[*op] && !fitted.seen.shows_floor(throttle.follows, *op, mixed)
            })
            .map(|(op, _)| (op, throttle.follows))
        })
        .collect()
}

/// The same as a caveat, with the command that shows it: a threshold of the host's slows the whole drive down, so the share that the other
/// operation keeps stands in.
pub(crate) fn floor_caveat(fitted: &Fitted, unseen: &[(usize, ThresholdSource)]) -> Option<ForecastCaveat> {
    let (op, follows) = *unseen.first()?;
    let (word, other) = [("reads", "writes"), ("writes", "reads")][op];
    let plan = floor_plan(follows, fitted.seen.range_k, &fitted.common);
    let text = format!(
        "Not measured: how fast {word} are while {} throttles them; the share that {other} keep stands in. `{plan}` shows it.",
        follows.named()
    );
    Some(ForecastCaveat { kind: "floor_unseen", text })
}

/// The lowest TMT1 at which the runs show it act, where that is far above the one that is asked about.
pub(crate) fn above_asked_k(fitted: &Fitted, scenario: &Scenario) -> Option<f64> {
    let set_k = scenario.tmt_k[0].filter(|kelvin| *kelvin > 0).map(f64::from)?;
    fitted.seen.tmt1_acted_k.filter(|acted_k| set_k < acted_k - LOWER_K)
}

/// Whether an operation of a phase never ran at full speed in the power state that is asked about.
pub(crate) fn state_unseen(fitted: &Fitted, scenario: &Scenario, phase: &LoadPhase) -> bool {
    let Some(read) = phase.read_share else { return false };
    let other = fitted.best.states.iter().find(|other| Some(other.state) == scenario.power_state);
    let ops = [read > 0.0, read < 1.0];
    other.is_some_and(|other| (0..2).any(|op| ops[op] && other.full[op] <= 0.0))
}

/// The same as a caveat.
pub(crate) fn state_caveat(scenario: &Scenario, phases: &[&str]) -> Option<ForecastCaveat> {
    let state = scenario.power_state.filter(|_| !phases.is_empty())?;
    let text = format!(
        "Not known: {}. No fitted run shows the full speed in power state {state}: `{}` does; fit that run too.",
        phases.join(", "),
        in_states(&[state])
    );
    Some(ForecastCaveat { kind: "power_state_unknown", text })
}

/// Whether the answer hangs on whether throttling takes its shares of what a power state allows, or of what the drive could
/// do without it. A run in that state that heat did not slow down tells neither.
///
/// `of` is what every `stride`-th sample comes to.
pub(crate) fn state_law_unseen(
    fitted: &Fitted,
    scenario: &Scenario,
    stride: usize,
    of: &[PhaseOutcome],
) -> bool {
    let scales = |sample: &DriveSample| {
        let other = sample.states.iter().find(|other| Some(other.state) == scenario.power_state)?;
        Some(other.scales_throttling)
    };
    let law = |scaling: bool| {
        let samples = fitted.samples.iter().step_by(stride).zip(of);
        let of = samples.filter(move |(sample, _)| scales(sample) == Some(scaling));
        of.map(|(_, outcome)| *outcome).collect::<Vec<_>>()
    };
    let [beside, scaling] = [law(false), law(true)];
    if (beside.len().min(scaling.len()) as f64) < LAW_SHARE * of.len() as f64 {
        return false;
    }
    let differ = |get: fn(&PhaseOutcome) -> f64, share: f64, least: f64| {
        let [a, b] = [&beside, &scaling].map(|of| interval(&of.iter().map(get).collect::<Vec<_>>())[1]);
        (a - b).abs() > (share * a.max(b)).max(least)
    };
    let never = |outcome: &PhaseOutcome| outcome.time_to_throttle_s.unwrap_or(outcome.seconds);
    differ(|outcome| outcome.mean_bytes_per_s, LAW_SPEED, 0.0) || differ(never, LAW_TIME, LAW_TIME_S)
}

/// What to do about phases of which that hangs: a TMT1 so low that the drive reaches it in that state too.
pub(crate) fn state_law_caveat(
    fitted: &Fitted,
    scenario: &Scenario,
    phases: &[&str],
) -> Option<ForecastCaveat> {
    let state = scenario.power_state.filter(|_| !phases.is_empty())?;
    let tmt1 = at_low_tmt1(fitted.seen.range_k, &fitted.common);
    let text = format!(
        "Beyond what the runs showed: {}. None of them was hot enough in power state {state} to show whether throttling \
         leaves a share of what this state allows, or of full speed: `{}{tmt1}` shows it; fit that run too.",
        phases.join(", "),
        in_states(&[state])
    );
    Some(ForecastCaveat { kind: "state_throttling", text })
}
