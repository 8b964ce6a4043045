//! The published experiments that the default run repeats: rows A4 and A5 of the HCTM articles.
//!
//! A4: writing at about 1600 MB/s for five minutes, low 60s °C at the end, no throttling.
//! A5: reading jumps to nearly 3000 MB/s, then falls to about 2400 MB/s near 80 °C and is stable there, although
//! TMT2 is 85 °C: a threshold of the vendor's own.

use analysis::findings::{Cause, EventKind, Findings, Label, SegmentOp};
use measure::record;

use crate::support::Scratch;

/// The default run, as `heatsoak run --json` tells it.
fn default_run(scratch: &Scratch) -> Findings {
    let done = scratch.run(&["run", "--out", "run", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    serde_json::from_str(&done.stdout).expect("findings")
}

#[test]
fn a4_writing_is_not_throttled() {
    let findings = default_run(&Scratch::new());
    let writes: Vec<_> = findings.segments.iter().filter(|s| s.op == SegmentOp::Write).collect();
    assert!(!writes.is_empty(), "{:?}", findings.segments);
    for segment in &writes {
        let speed = segment.mean_bytes_per_s.expect("a speed");
        assert!((speed / 1.6e9 - 1.0).abs() < 0.05, "{segment:?}");
        assert_eq!(segment.label, Label::FullSpeed, "{segment:?}");
    }
    let end_k = writes[writes.len() - 1].temp_end_k.expect("a temperature");
    // "Low 60s °C".
    assert!((333.0..=338.0).contains(&end_k), "{end_k} K");
    assert!(findings.events.iter().all(|event| event.t_s > 299.0), "{:?}", findings.events);
}

#[test]
fn a5_reading_is_throttled_by_the_drive_itself_near_80_degrees() {
    let scratch = Scratch::new();
    let findings = default_run(&scratch);
    let onsets: Vec<_> = findings.events.iter().filter(|e| e.kind == EventKind::ThrottleOnset).collect();
    let [onset] = onsets[..] else { panic!("one onset, not {onsets:?}") };
    assert_eq!(onset.cause, Cause::Vendor);
    let onset_k = onset.temp_k.expect("a temperature");
    assert!((onset_k - 353.0).abs() <= 1.0, "{onset_k} K");
    let strength = onset.strength.expect("a strength");
    assert!((strength - 0.80).abs() <= 0.05, "{strength}");
    let record = record::read(&scratch.path("run")).expect("a run");
    let transitions = |row: &record::TelemetryRow| row.tmt1_transitions.zip(row.tmt2_transitions);
    assert!(record.telemetry.iter().filter_map(transitions).all(|both| both == (0, 0)), "HCTM acted");
    // Stable: what follows the onset is one throttled segment at 2.4 GB/s, and no release.
    assert!(findings.events.iter().all(|e| e.kind != EventKind::ThrottleRelease), "{:?}", findings.events);
    let last = findings.segments.last().expect("a segment");
    assert_eq!((last.op, last.label), (SegmentOp::Read, Label::Throttled));
    assert!((last.mean_bytes_per_s.expect("a speed") / 2.4e9 - 1.0).abs() < 0.05, "{last:?}");
}
