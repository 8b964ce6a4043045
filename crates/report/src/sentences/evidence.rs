//! Why a cause was named, the facts that decide first.
//!
//! The findings order evidence by what it weighs, all else given; a statistical argument can lead there. A reader
//! believes what can be checked: thresholds, counters and bytes come first here, then what the temperature did, then
//! statistics. Facts that say one thing together are said together.

use analysis::findings::{Cause, Event, EventKind, WeighedObservation};
use analysis::observation::Observation;
use analysis::wording;

use super::{capitalised, lowercase_first};
use crate::format;

/// What lowers the log odds by less than this speaks neither for nor against: a hundredth of the odds.
const LEAST_AGAINST: f64 = 0.01;

/// Sentences without a full stop, the deciding one first, then what speaks against the cause.
pub(super) fn deciding(event: &Event) -> Vec<String> {
    let weighed: Vec<(&Observation, f64)> =
        event.observations.iter().filter_map(|seen| Some((&seen.observation, seen.weight?))).collect();
    if event.cause == Cause::Unknown {
        return known(weighed);
    }
    let (against, mut speaks_for): (Vec<_>, Vec<_>) =
        weighed.into_iter().partition(|(_, weight)| *weight < -LEAST_AGAINST);
    let thresholds = thresholds(event.cause, &speaks_for).map(|text| capitalised(&text));
    speaks_for.retain(|(seen, _)| thresholds.is_none() || !is_in_thresholds(event.cause, seen));
    // What speaks neither for nor against is no reason, beside one.
    if speaks_for.iter().any(|(_, weight)| *weight > LEAST_AGAINST) {
        speaks_for.retain(|(_, weight)| *weight > LEAST_AGAINST);
    }
    // Why it was no heat is said by what moved that most: thresholds, cooling and bytes speak for one kind of heat or against a cache.
    let no_heat = event.cause == Cause::NotThermal && event.kind != EventKind::SlcExhausted;
    let tier_of = |seen: &Observation| if no_heat { 0 } else { tier(seen) };
    speaks_for.sort_by(|a, b| tier_of(a.0).cmp(&tier_of(b.0)).then(b.1.total_cmp(&a.1)));
    // Which threshold acted is the question where it was heat; where it was not, bytes and times answer.
    let (first, last) = if event.cause.is_heat() { (thresholds, None) } else { (None, thresholds) };
    let mut told: Vec<String> = first.into_iter().collect();
    told.extend(speaks_for.iter().map(|(seen, _)| clause(seen)));
    told.extend(last);
    told.extend(against.iter().map(|(seen, _)| format!("Against it: {}", lowercase_first(&clause(seen)))));
    told
}

/// What is known of a drop whose cause is not determined, what counts most first: nothing in it decides, for or against.
fn known(mut weighed: Vec<(&Observation, f64)>) -> Vec<String> {
    // How likely it is that the run as a whole was something else is no fact of the run.
    weighed.retain(|(seen, _)| !matches!(seen, Observation::OtherwiseExplained { .. }));
    let thresholds = thresholds(Cause::Unknown, &weighed).map(|text| capitalised(&text));
    weighed.retain(|(seen, _)| thresholds.is_none() || !is_in_thresholds(Cause::Unknown, seen));
    weighed.sort_by(|a, b| tier(a.0).cmp(&tier(b.0)).then(b.1.abs().total_cmp(&a.1.abs())));
    thresholds.into_iter().chain(weighed.iter().map(|(seen, _)| clause(seen))).collect()
}

/// What can be checked on the drive, what the temperature did, statistics.
fn tier(seen: &Observation) -> u8 {
    use analysis::explain::Rule;
    match seen.rule() {
        Some(Rule::Thresholds | Rule::Counters | Rule::WriteCache | Rule::Host) => 0,
        Some(Rule::Course | Rule::HotterBefore | Rule::OwnThreshold) => 1,
        _ => 2,
    }
}

/// An observation without its full stop, to stand in a list.
fn clause(seen: &Observation) -> String {
    wording::observation(seen).trim_end_matches('.').to_owned()
}

/// Whether [`thresholds`] tells it.
fn is_in_thresholds(cause: Cause, seen: &Observation) -> bool {
    match seen {
        Observation::CounterStill { .. } | Observation::CounterMoved { .. } => true,
        Observation::AwayFromThreshold { temp_k, set_k, .. } => temp_k < set_k,
        Observation::AtThreshold { .. } => matches!(cause, Cause::HctmTmt1 | Cause::HctmTmt2),
        _ => false,
    }
}

/// What thresholds of the host and their counters say together: "TMT2 (85 °C) was not reached and neither TMT counter
/// moved".
fn thresholds(cause: Cause, seen: &[(&Observation, f64)]) -> Option<String> {
    let mut reached: Vec<(String, String)> = Vec::new();
    let mut not_reached: Vec<String> = Vec::new();
    let (mut moved, mut still) = (Vec::new(), Vec::new());
    for (observation, _) in seen.iter().filter(|(observation, _)| is_in_thresholds(cause, observation)) {
        match observation {
            Observation::AtThreshold { threshold, temp_k, set_k } => {
                // Readings are whole kelvins, and a log has one now and then: just below is at it.
                let short_k = (set_k - temp_k).ceil();
                let short = if short_k >= 1.0 { format!(" to within {short_k:.0} K") } else { String::new() };
                reached.push((format!("{threshold} ({})", format::temperature(Some(*set_k))), short));
            }
            Observation::AwayFromThreshold { threshold, set_k, .. } => {
                not_reached.push(format!("{threshold} ({})", format::temperature(Some(*set_k))));
            }
            Observation::CounterMoved { threshold } => moved.push(threshold.to_string()),
            Observation::CounterStill { threshold, .. } => still.push(threshold.to_string()),
            _ => {}
        }
    }
    let were = |names: &[String]| if names.len() == 1 { "was" } else { "were" };
    let mut parts: Vec<String> = Vec::new();
    parts.extend(reached.iter().map(|(name, short)| format!("{name} was reached{short}")));
    parts.extend((!moved.is_empty()).then(|| format!("the {} counter moved", moved.join(" and "))));
    if !not_reached.is_empty() {
        parts.push(format!("{} {} not reached", not_reached.join(" and "), were(&not_reached)));
    }
    parts.extend(match still.as_slice() {
        [] => None,
        [one] => Some(format!("the {one} counter did not move")),
        _ => Some("neither TMT counter moved".to_owned()),
    });
    let last = parts.pop()?;
    Some(if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) })
}

/// What an event says of a full write cache: bytes that fit, or speed that came back.
pub(super) fn write_cache(event: &Event) -> Option<String> {
    let of_cache = |seen: &&WeighedObservation| {
        matches!(
            seen.observation,
            Observation::BackWhileWriting
                | Observation::LittleWritten { .. }
                | Observation::BeyondAnyCache { .. }
        )
    };
    event.observations.iter().find(of_cache).map(|seen| clause(&seen.observation))
}

#[cfg(test)]
mod test {
    use super::*;
    use analysis::observation::ExplainedAs;
    use trace::HostThreshold::{Tmt1, Tmt2};

    fn event(cause: Cause, observations: &[(Observation, f64)]) -> Event {
        let weighed = observations.iter().map(|(observation, weight)| WeighedObservation {
            observation: observation.clone(),
            weight: Some(*weight),
        });
        Event {
            kind: EventKind::ThrottleOnset,
            t_s: 1.0,
            temp_k: Some(353.0),
            cause,
            strength: Some(0.8),
            confidence: 0.9,
            candidates: Vec::new(),
            observations: weighed.collect(),
        }
    }

    /// Goal: the threshold that was not reached leads, although statistics weigh more.
    #[test]
    fn what_can_be_checked_comes_first_and_is_told_together() {
        let seen = [
            (Observation::Lasted { span_s: 226.0 }, 3.0),
            (Observation::StayedAsHot { temp_k: 353.0, late_k: 353.0 }, 1.6),
            (Observation::AwayFromThreshold { threshold: Tmt2, temp_k: 353.0, set_k: 358.0 }, 1.8),
            (Observation::CounterStill { threshold: Tmt1, has_counted: false }, 0.2),
            (Observation::CounterStill { threshold: Tmt2, has_counted: false }, 0.1),
            (Observation::LittleLost, -0.5),
        ];
        let told = deciding(&event(Cause::Vendor, &seen));
        assert_eq!(told[0], "TMT2 (85 °C) was not reached and neither TMT counter moved");
        assert!(told[1].contains("80 °C"), "{told:?}");
        assert!(told.last().is_some_and(|last| last.starts_with("Against it: ")), "{told:?}");
        assert_eq!(told.len(), 4);
    }

    /// Goal: where nothing decides, nothing is said to be against what was not said.
    #[test]
    fn what_is_known_of_an_undetermined_drop_is_told_as_it_is() {
        let seen = [
            (Observation::OtherwiseExplained { probability: 0.005, than: ExplainedAs::Heat }, 0.03),
            (Observation::StayedAsHot { temp_k: 353.0, late_k: 353.0 }, -0.6),
            (Observation::CounterStill { threshold: Tmt1, has_counted: false }, 0.2),
        ];
        let told = deciding(&event(Cause::Unknown, &seen));
        assert_eq!(
            told,
            ["The TMT1 counter did not move", "The temperature levelled off at 80 °C while it was slow"]
        );
    }

    /// Goal: what was not heat is explained by what moved that most, not by what clears a cache.
    #[test]
    fn what_is_no_heat_is_told_by_what_weighs_most() {
        let seen = [
            (Observation::BackWhileWriting, 0.1),
            (Observation::CameBack { cooled_k: 6.0, release_k: 316.0 }, 0.1),
            (Observation::AsSoonFromCool { first_s: 47.0, usual_s: 47.0, cooler_k: 2.0 }, 3.4),
        ];
        let told = deciding(&event(Cause::NotThermal, &seen));
        assert!(told[0].starts_with("The first drop came after 47 s"), "{told:?}");
    }

    #[test]
    fn a_threshold_just_above_is_not_said_to_have_been_passed() {
        let seen = [(Observation::AtThreshold { threshold: Tmt1, temp_k: 337.0, set_k: 338.0 }, 3.0)];
        assert_eq!(deciding(&event(Cause::HctmTmt1, &seen)), ["TMT1 (65 °C) was reached to within 1 K"]);
    }

    #[test]
    fn what_weighs_nothing_is_no_reason_beside_one_that_does() {
        let levelled = Observation::StayedAsHot { temp_k: 346.0, late_k: 346.0 };
        let seen = [(Observation::CameBack { cooled_k: 0.0, release_k: 346.0 }, 0.6), (levelled, 0.004)];
        assert_eq!(deciding(&event(Cause::NotThermal, &seen)), ["Speed recovered without cooling, at 73 °C"]);
        assert_eq!(deciding(&event(Cause::NotThermal, &seen[1..])).len(), 1);
    }

    #[test]
    fn a_threshold_that_was_reached_leads_with_its_counter() {
        let seen = [
            (Observation::AtThreshold { threshold: Tmt1, temp_k: 338.0, set_k: 338.0 }, 3.0),
            (Observation::CounterMoved { threshold: Tmt1 }, 5.0),
            (Observation::AwayFromThreshold { threshold: Tmt2, temp_k: 338.0, set_k: 343.0 }, 0.02),
        ];
        let told = deciding(&event(Cause::HctmTmt1, &seen));
        assert_eq!(
            told,
            ["TMT1 (65 °C) was reached, the TMT1 counter moved and TMT2 (70 °C) was not reached"]
        );
    }
}
