//! A throttled drive seen in parts: under another name in the same log, or in logs cut from one record.
//!
//! A drive of its own, of one time constant in air that changes, so that it can be hot before a load begins.

use analysis::findings::{Caveat, PolicyClass, SegmentOp};
use analysis::joint::{JointPolicy, JointRun, joint_policy};
use analysis::{Findings, analyze};
use measure::Series;
use trace::caveat::SlowdownSeen;
use trace::{Interval, Phase, SpeedSeries, Temperature, Trace};

/// Full speed, in bytes per second, by how much it heats the drive in the end, and how soon.
const FULL: f64 = 3.1e9;
const HEATS_K: f64 = 50.0;
const TAU_S: f64 = 130.0;

/// What is asked of the drive: a name, seconds, the share of full speed, the air in kelvins.
type Load = (&'static str, usize, f64, f64);

/// Slow at a share of full speed from the first temperature on, until it has cooled to the second.
#[derive(Clone, Copy)]
struct Relay {
    on_k: f64,
    off_k: f64,
    share: f64,
}

const NEVER: Relay = Relay { on_k: f64::INFINITY, off_k: 0.0, share: 1.0 };

struct Seen {
    trace: Trace,
    /// Whether it was throttled, second by second.
    slow: Vec<bool>,
}

fn log(relay: Relay, op: SegmentOp, loads: &[Load]) -> Seen {
    let (mut kelvin, mut slow, mut state) = (loads[0].3, false, 0x9E37_79B9_7F4A_7C15u64);
    let mut seen = Seen { trace: Trace::empty("log"), slow: Vec::new() };
    let (mut intervals, mut readings, mut second) = (Vec::new(), Series::new(), 0);
    for (phase, (name, seconds, share, air_k)) in loads.iter().copied().enumerate() {
        let (start_s, end_s) = (second as f64, (second + seconds) as f64);
        let op = if share > 0.0 { op } else { SegmentOp::Idle };
        seen.trace.phases.push(Phase::bare(name, op, start_s, end_s));
        for _ in 0..seconds {
            slow = kelvin >= if slow { relay.off_k } else { relay.on_k };
            let share = if slow { share.min(relay.share) } else { share };
            kelvin += (air_k + HEATS_K * share - kelvin) / TAU_S;
            // Xorshift (Marsaglia 2003).
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let noise = 1.0 + 0.02 * ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5);
            let start_s = second as f64;
            if share > 0.0 {
                let bytes = FULL * share * noise;
                intervals.push(Interval { start_s, span_s: 1.0, bytes, phase: phase as u32 });
            }
            readings.push(trace::instant(start_s + 0.5), kelvin.round());
            seen.slow.push(slow);
            second += 1;
        }
    }
    seen.trace.speeds = vec![SpeedSeries { op, intervals }];
    seen.trace.temperatures = vec![Temperature { name: "composite".into(), kelvin: readings }];
    seen.trace.trust_a_sensor();
    seen
}

fn is_open(findings: &Findings) -> bool {
    let cold_start = Caveat::PolicyUndetermined { seen: SlowdownSeen::NeverCool };
    findings.policy.class == PolicyClass::Undetermined && findings.caveats.contains(&cold_start)
}

/// Goal: a phase that was throttled throughout is cleared by no other phase. Method: a drive that trips in a pause in hot air, and is read
/// or written under another name; also where it cools meanwhile.
#[test]
fn a_phase_that_was_throttled_throughout_is_not_cleared() {
    let cases = [
        (SegmentOp::Read, 351.0, 318.0, 0.4, 330.0),
        (SegmentOp::Read, 347.0, 315.0, 0.55, 335.0),
        (SegmentOp::Write, 353.0, 321.0, 0.3, 320.0),
        (SegmentOp::Write, 356.0, 330.0, 0.6, 345.0),
        (SegmentOp::Read, 349.0, 320.0, 0.25, 310.0),
    ];
    for (op, on_k, off_k, share, air_k) in cases {
        let relay = Relay { on_k, off_k, share };
        let loads = [("one", 110, 1.0, 296.0), ("gap", 700, 0.0, on_k + 12.0), ("two", 600, 1.0, air_k)];
        let seen = log(relay, op, &loads);
        assert!(
            !seen.slow[..110].contains(&true) && !seen.slow[810..].contains(&false),
            "throttled in all of two"
        );
        let findings = analyze(&seen.trace);
        assert!(is_open(&findings), "{on_k} K to {share}: {:?} {:#?}", findings.policy, findings.events);
    }
}

/// Goal: and no drive is accused for it. Method: the same logs of a drive that never throttles: as fast when hot, somewhat slower, much
/// slower on a drive that is cool, and much slower with small I/Os.
#[test]
fn another_load_is_no_throttle() {
    let first = ("one", 110, 1.0, 296.0);
    for (second_share, air_k, gap_k) in [(1.0, 330.0, 363.0), (0.9, 330.0, 363.0), (0.3, 296.0, 296.0)] {
        let loads = [first, ("gap", 700, 0.0, gap_k), ("two", 600, second_share, air_k)];
        let findings = analyze(&log(NEVER, SegmentOp::Read, &loads).trace);
        assert_eq!(findings.policy.class, PolicyClass::None, "{second_share} of it: {:#?}", findings.caveats);
        assert!(findings.policy.confidence > 0.9, "{second_share} of it: {:?}", findings.policy);
    }
    let loads = [first, ("gap", 700, 0.0, 363.0), ("two", 600, 0.2, 330.0)];
    let mut trace = log(NEVER, SegmentOp::Read, &loads).trace;
    assert!(is_open(&analyze(&trace)), "nothing tells this load from the first");
    (trace.phases[0].ios, trace.phases[2].ios) = (Some(2_600_000), Some(90_000_000));
    let findings = analyze(&trace);
    assert_eq!(
        findings.policy.class,
        PolicyClass::None,
        "I/Os of 131 kB and of 4 kB: {:#?}",
        findings.caveats
    );
}

/// Several logs as one drive's.
fn joint(traces: &[Trace]) -> JointPolicy {
    let run = |trace: &Trace| JointRun::new("log", Some("drive"), trace, &analyze(trace));
    let runs: Vec<JointRun> = traces.iter().map(run).collect();
    joint_policy(&runs).expect("several runs")
}

/// The rows of a log from one second to another.
fn cut(trace: &Trace, from_s: usize, to_s: usize) -> Trace {
    let mut part = Trace::empty("part");
    let rows = from_s as f64..to_s as f64;
    let intervals = trace.speeds[0].intervals.iter().filter(|i| rows.contains(&i.start_s)).copied().collect();
    part.speeds = vec![SpeedSeries { op: trace.speeds[0].op, intervals }];
    let mut kelvin = Series::new();
    for point in trace.temperatures[0].kelvin.points().iter().filter(|p| rows.contains(&p.t.as_secs_f64())) {
        kelvin.push(point.t, point.value);
    }
    part.temperatures = vec![Temperature { name: "composite".into(), kelvin }];
    part.trust_a_sensor();
    trace::infer_phases(&mut part);
    part
}

/// Goal: parts of one record clear a drive no more than the part does that leaves most in doubt, and never for certain. Method: a drive that
/// trips once and stays slow, cut before it, at it and after it.
#[test]
fn parts_of_a_record_add_no_certainty() {
    for (on_k, share, air_k) in [
        (355.0, 0.5, 306.0),
        (350.0, 0.45, 303.0),
        (346.0, 0.6, 299.0),
        (352.0, 0.35, 304.0),
        (358.0, 0.55, 312.0),
    ] {
        let seen = log(Relay { on_k, off_k: 290.0, share }, SegmentOp::Read, &[("read", 1700, 1.0, air_k)]);
        let on_s = seen.slow.iter().position(|slow| *slow).expect("it gets so hot");
        let all: [&[usize]; 4] = [
            &[0, on_s, 1700],
            &[0, on_s - 40, on_s + 420, 1700],
            &[0, on_s - 5, on_s + 90, 1700],
            &[0, on_s + 30, 1700],
        ];
        for edges in all {
            let parts: Vec<Trace> = edges.windows(2).map(|edge| cut(&seen.trace, edge[0], edge[1])).collect();
            let (joint, alone) = (joint(&parts), parts.iter().map(|part| analyze(part).policy.confidence));
            let least = alone.fold(1.0, f64::min) + 1e-9;
            let is_cleared = joint.class == PolicyClass::None && joint.confidence > least.min(0.95);
            assert!(!is_cleared, "{on_k} K, cut at {edges:?}: {joint:#?}");
        }
        // What lies between the first and the last part was not logged.
        let joint = joint(&[cut(&seen.trace, 0, on_s - 30), cut(&seen.trace, on_s + 120, 1700)]);
        assert_eq!(joint.class, PolicyClass::Undetermined, "{on_k} K: {joint:#?}");
    }
}

/// Goal: runs that show nothing but full speed are as sure as ever. Method: three runs in other air, and one at a lower rate that began cool.
#[test]
fn runs_at_full_speed_clear_a_drive() {
    let run = |share: f64, air_k: f64| log(NEVER, SegmentOp::Read, &[("read", 900, share, air_k)]).trace;
    let free = joint(&[run(1.0, 296.0), run(1.0, 299.0), run(1.0, 303.0)]);
    assert!(free.class == PolicyClass::None && free.confidence >= 0.98, "{free:#?}");
    let slower = joint(&[run(1.0, 299.0), run(0.4, 299.0)]);
    assert!(slower.class == PolicyClass::None && slower.confidence >= 0.98, "{slower:#?}");
}
