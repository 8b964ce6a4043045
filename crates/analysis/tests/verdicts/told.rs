//! What one place says of an event, and what another one says of it.

use analysis::findings::{EventKind, Label};
use analysis::observation::Observation;
use analysis::{Findings, analyze};

use crate::logs::{Logged, relay};

/// A relay in rows that its cycles beat with: some of them are a slowdown of many rows with falls within.
fn beats(seed: u64, row_s: usize) -> Findings {
    let mut log = Logged::new(seed);
    log.heats_k = 66.0;
    log.log(120, |_, _| 0.0);
    log.log(3600, relay(342.0, 340.0, 0.4));
    analyze(&log.trace_of(true, row_s))
}

/// Goal: whoever counts the events finds as many as their evidence counts. Method: relays whose cycles beat with the rows of a log, so that falls
/// lie within longer slowdowns.
#[test]
fn evidence_counts_no_more_events_than_there_are() {
    let mut within_any = 0;
    for (seed, row_s) in [(1, 4), (2, 5), (3, 7), (4, 10), (5, 12), (6, 3)] {
        let findings = beats(seed, row_s);
        let drops = findings.events.iter().filter(|event| event.kind != EventKind::ThrottleRelease);
        let all = drops.clone().count();
        assert!(all >= 1, "rows of {row_s} s");
        for seen in drops.flat_map(|event| &event.observations) {
            let (others, falls) = match seen.observation {
                Observation::BeganAlike { drops, within, .. }
                | Observation::LooksAlike { drops, within, .. }
                | Observation::SameSpeedLeft { drops, within, .. } => (drops, within),
                _ => continue,
            };
            assert!(others < all, "rows of {row_s} s: {:?} of {all} events", seen.observation);
            within_any += falls;
        }
    }
    assert!(within_any > 0, "no fall lies within a slowdown");
}

/// Goal: an event and the segments that meet in it have one temperature. Method: relays in rows in which a drive cools by many kelvins.
#[test]
fn segments_begin_and_end_at_the_temperatures_of_their_events() {
    for (seed, row_s) in [(1, 1), (2, 5), (3, 10), (4, 20)] {
        let mut log = Logged::new(seed);
        log.heats_k = 66.0;
        log.log(60, |_, _| 0.0);
        log.log(3000, relay(350.0, 328.0, 0.1));
        let findings = analyze(&log.trace_of(true, row_s));
        let mut met = 0;
        for event in &findings.events {
            let begins = findings.segments.iter().find(|segment| segment.start_s == event.t_s);
            let ends = findings.segments.iter().rfind(|segment| segment.end_s == event.t_s);
            if event.kind == EventKind::ThrottleOnset {
                let begins = begins.expect("a throttled segment");
                assert_eq!(begins.label, Label::Throttled, "rows of {row_s} s: {event:?}");
                assert_eq!(begins.temp_start_k, event.temp_k, "rows of {row_s} s: {event:?}");
            }
            if let Some(ends) = ends.filter(|_| event.kind == EventKind::ThrottleRelease) {
                assert_eq!(ends.temp_end_k, event.temp_k, "rows of {row_s} s: {event:?}");
            }
            met += usize::from(begins.is_some());
        }
        assert!(met >= 1, "rows of {row_s} s: {:?}", findings.events);
    }
}
