//! Holds the policy that was named against the one that acted.
//!
//! It is asked for where a log can show it: a relay by two releases, light and heavy throttling by an episode of each, a
//! regulator and bursts by a minute of them; whose threshold it was by settings that are known.

use analysis::findings::{Policy, PolicyClass, SegmentOp};
use measure::Series;
use trace::{Interval, Trace};

use crate::corpus::{Labelled, RecipeKind, TrueCause, composite_usable};

/// Bursts of 0.4 to 1.6 s are a regulator in a log of longer intervals than this.
const BURSTS_SHOW_S: f64 = 0.4;
/// A regulator and bursts need so long to be seen.
const HELD_S: f64 = 60.0;
/// Consumer drives are specified up to 70 °C; hotter, one may be slowed down by a threshold of its own.
const HOT_K: f64 = 343.0;
/// What is as fast as the link is not slowed down, but for the link's own overhead.
const NEARLY_THE_LINK: f64 = 0.9;

/// What was said of the policy of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PolicySaid {
    Right,
    Wrong,
    /// That the data do not decide it.
    Undetermined,
}

/// What was said of the policy, where it is asked for.
pub(crate) fn said(run: &Labelled, policy: &Policy) -> Option<PolicySaid> {
    let right = acted(run)?;
    Some(match policy.class {
        class if right.contains(&class) => PolicySaid::Right,
        // How it began and how it works: either may come first.
        _ if right == [PolicyClass::PreLimited] && policy.also.contains(&PolicyClass::PreLimited) => {
            PolicySaid::Right
        }
        PolicyClass::PreLimited if policy.also.iter().any(|also| right.contains(also)) => PolicySaid::Right,
        PolicyClass::Undetermined => PolicySaid::Undetermined,
        _ => PolicySaid::Wrong,
    })
}

/// The names that are right; `None` where a log cannot tell.
fn acted(run: &Labelled) -> Option<&'static [PolicyClass]> {
    use PolicyClass::{
        DutyCycled, None as Nothing, PreLimited, Regulator, Relay, Stop, TwoLevel, Undetermined, Vendor,
    };
    let logging = &run.recipe.logging;
    if !run.truth.throttled {
        // Without a temperature nobody knows whether it got hot; beside a slow stretch whose cause the log does not
        // decide, nobody knows whether that was heat; and a load that only ran hot may have been slow all the time.
        let open =
            run.truth.episodes.iter().any(|episode| episode.cause.is_none()) || only_ran_hot(&run.trace);
        return Some(if composite_usable(logging) && !open { &[Nothing] } else { &[Nothing, Undetermined] });
    }
    let heat: Vec<_> = run.truth.episodes.iter().filter(|episode| episode.heat).collect();
    let caused = |cause: TrueCause| heat.iter().any(|episode| episode.cause == Some(cause));
    let releases = heat.iter().filter(|episode| episode.release_s.is_some()).count();
    let end_s = 3600.0 * run.truth.hours;
    let longest_s = heat.iter().map(|e| e.release_s.map_or(end_s, |(from_s, _)| from_s) - e.onset_s.1);
    let held = longest_s.fold(0.0, f64::max) >= HELD_S;
    let known = logging.settings_known && caused(TrueCause::Vendor);
    match run.recipe.kind {
        RecipeKind::Relay if releases >= 2 => Some(&[Relay]),
        RecipeKind::TwoLevel if caused(TrueCause::Tmt1) && caused(TrueCause::Tmt2) => Some(&[TwoLevel]),
        RecipeKind::Regulator if held => Some(&[Regulator]),
        RecipeKind::DutyCycled if held && logging.interval_s > BURSTS_SHOW_S => {
            Some(&[DutyCycled, Regulator])
        }
        RecipeKind::DutyCycled if held => Some(&[DutyCycled]),
        RecipeKind::PreLimited if held => Some(&[PreLimited]),
        RecipeKind::Stop if !heat.is_empty() => Some(&[Stop]),
        RecipeKind::Vendor | RecipeKind::Stairs | RecipeKind::Several if known => Some(&[Vendor]),
        _ => None,
    }
}

/// Whether an operation ran for a minute and more, and only on a drive as hot as drives throttle at, slower than the link and
/// without a limit of the plan: what it does on a cool one the log does not have.
fn only_ran_hot(trace: &Trace) -> bool {
    [SegmentOp::Read, SegmentOp::Write].into_iter().any(|op| {
        let series = trace.speeds.iter().filter(|series| series.op == op);
        let moved: Vec<&Interval> =
            series.flat_map(|series| &series.intervals).filter(|i| i.bytes > 0.0).collect();
        let (Some(first), Some(last)) = (moved.first(), moved.last()) else { return false };
        let fastest = moved.iter().map(|i| i.bytes / i.span_s).fold(0.0, f64::max);
        let limited = moved.iter().any(|i| trace.phases[i.phase as usize].rate_limit_bytes_per_s.is_some());
        let by_link = trace.facts.link_bytes_per_s.is_some_and(|link| fastest >= NEARLY_THE_LINK * link);
        let readings = trace.temperature().map_or(&[][..], Series::points).iter();
        let mut meanwhile = readings.filter(|reading| {
            let after = moved.partition_point(|i| i.end_s() < reading.t.as_secs_f64());
            moved.get(after).is_some_and(|i| i.start_s <= reading.t.as_secs_f64())
        });
        let hot = meanwhile.all(|reading| reading.value >= HOT_K);
        hot && last.end_s() - first.start_s >= HELD_S && !limited && !by_link
    })
}
