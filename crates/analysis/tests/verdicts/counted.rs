//! Counters of TMT1 and TMT2 beside speeds: what they say where the load was not slowed down, and where there is none.

use analysis::findings::Caveat;
use analysis::{analyze, wording};
use trace::caveat::HostThreshold;
use trace::{Counters, Trace, instant};

use crate::drive::{Setup, simulate};

fn counts(transitions: u64, seconds: u64) -> Counters {
    Counters { tmt1_transitions: Some(transitions), tmt1_seconds: Some(seconds), ..Counters::default() }
}

/// What is said of counters that moved without a slowdown: transitions and seconds of TMT1.
fn without_slowdown(trace: &Trace) -> Vec<(Option<u64>, Option<u64>)> {
    let counted = |caveat: Caveat| match caveat {
        Caveat::CountersWithoutSlowdown { threshold: HostThreshold::Tmt1, transitions, seconds } => {
            Some((transitions, seconds))
        }
        Caveat::CountersWithoutSlowdown { .. } => Some((None, None)),
        _ => None,
    };
    analyze(trace).caveats.into_iter().filter_map(counted).collect()
}

/// Goal: of two snapshots that count, nothing is said of a speed. Method: readings a week apart, without any load.
#[test]
fn counters_without_a_load_contradict_no_speed() {
    let mut trace = Trace::empty("drive");
    trace.counters.push(instant(0.0), counts(400, 72_000));
    trace.counters.push(instant(604_800.0), counts(500, 88_800));
    assert_eq!(without_slowdown(&trace), []);
}

/// Goal: what moved during a load is told as transitions and seconds, and what moved long after it is not. Method: a drive that
/// never slows down, with counters every 10 s, and one reading a week later.
#[test]
fn transitions_and_seconds_of_a_load_are_told_apart() {
    let (mut trace, _) = simulate(&Setup::default());
    let end_s = trace.end_s();
    let mut counters = measure::Series::new();
    let mut t_s = 0.0;
    while t_s < end_s {
        counters
            .push(instant(t_s), if t_s < end_s / 2.0 { counts(400, 72_000) } else { counts(403, 72_040) });
        t_s += 10.0;
    }
    counters.push(instant(end_s + 604_800.0), counts(900, 90_000));
    trace.counters = counters;
    assert_eq!(without_slowdown(&trace), [(Some(3), Some(40))]);
    let caveat = Caveat::CountersWithoutSlowdown {
        threshold: HostThreshold::Tmt1,
        transitions: Some(3),
        seconds: Some(40),
    };
    assert_eq!(
        wording::caveat(&caveat),
        "The TMT1 counters moved (3 transitions, 40 s), but the speed shows no slowdown by heat."
    );
}
