//! The reasoning behind events adds up to their verdicts, and says the same as their evidence.

use analysis::explain::{Explanation, Observed, Suspect};
use analysis::findings::{Cause, EventKind, SegmentOp};
use analysis::{analyze, explain};
use trace::Trace;

use crate::WRITE_THEN_READ;
use crate::drive::{Load, Policy, Setup, simulate};

/// Runs of every kind of verdict: TMT1, the drive's own, any heat, the write cache, dips, nothing known.
fn runs() -> Vec<Trace> {
    let relay = Policy::Relay { on: 333.0, off: 330.0, speed: 0.2 };
    let own = Policy::Relay { on: 353.5, off: 349.0, speed: 2.4 };
    let writing = |seconds| vec![Load { op: SegmentOp::Write, seconds }];
    let setups = [
        Setup { policies: vec![relay], tmt_k: Some((333, 343)), counts: Some(1), ..Setup::default() },
        Setup {
            policies: vec![own],
            loads: WRITE_THEN_READ.to_vec(),
            tmt_k: Some((273, 358)),
            counts: Some(0),
            ..Setup::default()
        },
        Setup { policies: vec![own], loads: WRITE_THEN_READ.to_vec(), ..Setup::default() },
        Setup { slc_gb: Some((200.0, 0.5)), loads: writing(400.0), ..Setup::default() },
        Setup { dips: Some((60.0, 5.0, 0.3)), ..Setup::default() },
        Setup { slc_gb: Some((400.0, 1.0)), loads: writing(270.0), ..Setup::default() },
    ];
    let mut runs: Vec<Trace> = setups.iter().map(|setup| simulate(setup).0).collect();
    // The same relay without any temperature, settings or counters: nobody can know.
    let mut blind = runs[0].clone();
    (blind.temperatures, blind.trusted) = (Vec::new(), None);
    (blind.counters, blind.settings) = (measure::Series::new(), measure::Series::new());
    runs.push(blind);
    runs
}

fn explained(trace: &Trace) -> Vec<Explanation> {
    let (findings, explained) = explain(trace);
    assert_eq!(findings, analyze(trace), "explaining changes nothing");
    let events: Vec<_> = explained.iter().map(|explanation| explanation.event.clone()).collect();
    assert_eq!(events, findings.events, "one for each event, in their order");
    explained
}

/// Goal: no second copy of the rules. Method: the weights add up to the sums, the sums make the probabilities, the
/// probabilities the confidence, and the observations are those of the event.
#[test]
fn weights_add_up_to_the_verdict() {
    let mut causes = Vec::new();
    for explanation in runs().iter().flat_map(explained) {
        let odds: f64 = explanation.causes.iter().map(|cause| cause.log_odds.exp()).sum();
        for cause in &explanation.causes {
            let at = cause.cause as usize;
            let sum: f64 = explanation.observations.iter().map(|seen| seen.log_odds.array()[at]).sum();
            assert!((sum - cause.log_odds).abs() < 1e-9, "{explanation:#?}");
            // With 2 % nothing that was seen counts, and what was likely beforehand does.
            let beforehand = [0.2, 0.1, 0.1, 0.1, 0.5][at];
            let probability = 0.98 * cause.log_odds.exp() / odds + 0.02 * beforehand;
            assert!((probability - cause.probability).abs() < 1e-9, "{explanation:#?}");
        }
        let p = |wanted: &[Suspect]| -> f64 {
            let of = explanation.causes.iter().filter(|cause| wanted.contains(&cause.cause));
            of.map(|cause| cause.probability).sum()
        };
        let event = &explanation.event;
        let confidence = match event.cause {
            Cause::HctmTmt1 => p(&[Suspect::Tmt1]),
            Cause::HctmTmt2 => p(&[Suspect::Tmt2]),
            Cause::Vendor => p(&[Suspect::Vendor]),
            Cause::Thermal => p(&[Suspect::Tmt1, Suspect::Tmt2, Suspect::Vendor]),
            Cause::NotThermal if event.kind == EventKind::SlcExhausted => p(&[Suspect::Slc]),
            Cause::NotThermal => p(&[Suspect::Slc, Suspect::Other]),
            Cause::Unknown => explanation.causes[0].probability,
        };
        assert!((confidence - event.confidence).abs() < 1e-9, "{explanation:#?}");
        if event.kind != EventKind::ThrottleRelease {
            assert_eq!(event.observations[0].weight, None, "what happened is no reason");
            for weighed in &event.observations[1..] {
                let same = |seen: &Observed| seen.observation == weighed.observation;
                assert!(explanation.observations.iter().any(same), "{weighed:?}");
            }
        }
        causes.push(event.cause);
    }
    for cause in [Cause::HctmTmt1, Cause::Vendor, Cause::Thermal, Cause::NotThermal, Cause::Unknown] {
        assert!(causes.contains(&cause), "{causes:?}");
    }
}

/// Goal: who is unsure is told what is missing, and who is sure is not.
#[test]
fn what_would_decide_it_is_what_the_record_lacks() {
    let runs = runs();
    let sure = &explained(&runs[0])[0];
    assert!(sure.event.confidence > 0.9 && sure.would_decide.is_empty(), "{sure:#?}");
    let blind = &explained(runs.last().expect("runs"))[0];
    assert!(blind.event.confidence < 0.9, "{blind:#?}");
    for missing in ["Record a temperature", "Record TMT1 and TMT2", "TMT1 and TMT2 counters"] {
        assert!(blind.would_decide.iter().any(|way| way.contains(missing)), "{:#?}", blind.would_decide);
    }
}
