//! Whatever the findings and series hold: no panic, and no number that is none.

use analysis::Findings;
use analysis::findings::{
    Candidate, Cause, Caveat, Event, EventKind, Label, Policy, PolicyClass, PolicyLevel, Segment, SegmentOp,
    SlcCache, Suspect, Thermal, WeighedObservation,
};
use analysis::observation::Observation;
use measure::record::Op;
use proptest::prelude::*;
use proptest::sample::select;
use report::view::{
    Counter, CounterKind, LatencyPoint, LatencySeries, LatencyTotals, LoadTotals, MeanInterval, OpSpeed,
    Readings, RunPhase,
};
use report::{
    Comparison, FailIf, ReportInput, TerminalStyle, check_limits, compare_html, compare_terminal, html, svg,
    terminal,
};

use crate::scene;

/// Any double: usual ones, absurd ones, and those that are no numbers.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![4 => 0.0..1e4, 1 => any::<f64>(), 1 => select(vec![
        f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE, 1e15, 3e9,
    ])]
}

fn maybe() -> impl Strategy<Value = Option<f64>> {
    prop::option::of(number())
}

fn segment() -> impl Strategy<Value = Segment> {
    use Label::{Dip, FullSpeed, Idle, Ramp, RateLimited, SlcExhausted, Throttled, Unknown};
    let label = select(vec![FullSpeed, Throttled, SlcExhausted, Dip, RateLimited, Ramp, Idle, Unknown]);
    let op =
        select(vec![SegmentOp::Read, SegmentOp::Write, SegmentOp::Mixed, SegmentOp::Trim, SegmentOp::Idle]);
    (number(), number(), op, label, maybe(), maybe(), maybe()).prop_map(
        |(start_s, end_s, op, label, mean_bytes_per_s, temp_start_k, temp_end_k)| Segment {
            start_s,
            end_s,
            op,
            mean_bytes_per_s,
            label,
            temp_start_k,
            temp_end_k,
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    use EventKind::{Dip, SlcExhausted, ThermalShutdown, ThrottleOnset, ThrottleRelease};
    let kind =
        select(vec![ThrottleOnset, ThrottleOnset, ThrottleRelease, SlcExhausted, Dip, ThermalShutdown]);
    let cause = select(vec![
        Cause::HctmTmt1,
        Cause::HctmTmt2,
        Cause::Vendor,
        Cause::Thermal,
        Cause::NotThermal,
        Cause::Unknown,
    ]);
    // Analysis makes observations of finite readings only.
    let seen = (0.0..1e12, prop::option::of(-9.0..9.0)).prop_flat_map(|(number, weight)| {
        let fell = Observation::SpeedFell {
            before_bytes_per_s: number,
            during_bytes_per_s: number,
            span_s: number,
            paused_s: number,
            recovered: true,
        };
        let seen = [fell, Observation::Hot { temp_k: number }, Observation::Lasted { span_s: number }];
        select(seen.map(|observation| WeighedObservation { observation, weight }).to_vec())
    });
    let observations = prop::collection::vec(seen, 0..3);
    (kind, number(), maybe(), cause, maybe(), number(), observations).prop_map(
        |(kind, t_s, temp_k, cause, strength, confidence, observations)| Event {
            kind,
            t_s,
            temp_k,
            cause,
            strength,
            confidence,
            candidates: vec![Candidate { cause: Suspect::Vendor, probability: confidence }],
            observations,
        },
    )
}

fn findings() -> impl Strategy<Value = Findings> {
    let policy =
        (maybe(), maybe(), maybe(), number()).prop_map(|(onset_k, release_k, floor, confidence)| Policy {
            class: PolicyClass::Relay,
            also: vec![PolicyClass::Vendor],
            onset_k,
            release_k,
            floor_bytes_per_s: floor,
            levels: [(Cause::HctmTmt1, floor), (Cause::HctmTmt2, onset_k)]
                .map(|(cause, floor_bytes_per_s)| PolicyLevel {
                    cause,
                    op: None,
                    onset_k,
                    release_k,
                    held_k: release_k,
                    floor_bytes_per_s,
                })
                .into(),
            confidence,
            from_runs: None,
        });
    let slc =
        (any::<u64>(), number(), number()).prop_map(|(bytes, before_bytes_per_s, after_bytes_per_s)| {
            SlcCache { bytes, before_bytes_per_s, after_bytes_per_s }
        });
    let tau = prop::option::of(prop::collection::vec(number(), 0..3));
    let thermal = (maybe(), maybe(), tau, maybe()).prop_map(|(write, read, tau_s, idle_floor_k)| Thermal {
        kelvin_per_gb_per_s_write: write,
        kelvin_per_gb_per_s_write_90: write.zip(read).map(|(low, high)| [low, high]),
        kelvin_per_gb_per_s_read: read,
        kelvin_per_gb_per_s_read_90: None,
        tau_s_90: tau_s.as_ref().map(|tau| tau.iter().map(|tau| [*tau, *tau]).collect()),
        tau_s,
        idle_floor_k,
    });
    let segments = prop::collection::vec(segment(), 0..8);
    let events = prop::collection::vec(event(), 0..8);
    (segments, events, policy, prop::option::of(slc), thermal).prop_map(
        |(segments, events, policy, slc_cache, thermal)| Findings {
            schema: analysis::SCHEMA,
            simulated: None,
            segments,
            events,
            policy,
            slc_cache,
            thermal,
            steady_state: None,
            life: None,
            power: None,
            accesses: None,
            fills: Vec::new(),
            wear: None,
            wobble: Vec::new(),
            caveats: vec![Caveat::AmbientUnknown],
        },
    )
}

fn readings() -> impl Strategy<Value = Vec<(f64, Option<f64>)>> {
    prop::collection::vec((number(), maybe()), 0..30)
}

fn input() -> impl Strategy<Value = ReportInput> {
    let interval = (number(), number(), number()).prop_map(|(start_s, span_s, value)| MeanInterval {
        start_s,
        span_s,
        value,
    });
    let speed = prop::collection::vec(prop::collection::vec(interval, 0..40), 0..3);
    let latency = prop::collection::vec((number(), number(), number()), 0..20);
    let phases = prop::collection::vec((number(), number()), 0..4);
    let series = (speed, latency, readings(), readings(), readings());
    (findings(), series, phases).prop_map(
        |(findings, (speed, latency, temperature, power, counter), phases)| {
            let mut run = scene::mixed();
            run.findings = findings;
            run.speed = speed
                .into_iter()
                .zip([Op::Read, Op::Write, Op::Trim])
                .map(|(intervals, op)| OpSpeed { op, intervals })
                .collect();
            let point = |(start_s, span_s, ns): (f64, f64, f64)| LatencyPoint {
                start_s,
                span_s,
                p50_ns: ns,
                p99_ns: ns * 2.0,
                p999_ns: ns * 1e3,
            };
            let points: Vec<LatencyPoint> = latency.into_iter().map(point).collect();
            let totals = |(index, point): (usize, &LatencyPoint)| LoadTotals {
                phase: index,
                op: Op::Read,
                ios: Some(point.span_s as u64),
                latency: Some(LatencyTotals {
                    p50_ns: point.p50_ns,
                    p99_ns: point.p99_ns,
                    p999_ns: point.p999_ns,
                    max_ns: point.p999_ns,
                }),
            };
            run.loads = points.iter().enumerate().map(totals).collect();
            run.latency = vec![LatencySeries { op: Op::Read, points }];
            run.temperature = vec![Readings { name: "composite".into(), points: temperature }];
            run.power = vec![Readings { name: "power".into(), points: power }];
            run.counters = vec![
                Counter { kind: CounterKind::Tmt1Transitions, points: counter.clone() },
                Counter { kind: CounterKind::Tmt1Seconds, points: counter },
            ];
            let template = run.phases[0].clone();
            run.phases = phases
                .into_iter()
                .map(|(start_s, end_s)| RunPhase { start_s, end_s, ..template.clone() })
                .collect();
            run
        },
    )
}

/// Words that a number which is none would leave in a text.
fn bad_words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| matches!(word.to_lowercase().as_str(), "nan" | "inf" | "infinity")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_no_number_is_none(a in input(), b in input(), width in 0usize..140, ascii: bool) {
        let style = TerminalStyle { width, ascii, colour: false, run_folder: None };
        let runs = [a, b];
        let comparison = Comparison { runs: &runs, baseline: 1, joint: &[], remarks: &[] };
        let limits = ["read.mean < -5%", "mixed.p99 > 1%"].map(|limit| limit.parse::<FailIf>().expect("a limit"));
        let broken = check_limits(&runs, 1, &limits).into_iter().flat_map(|one| one.broken_by);
        let mut texts = broken.collect::<Vec<_>>();
        texts.extend([terminal(&runs[0], &style), svg(&runs[0]), compare_terminal(&comparison, &style)]);
        for page in [html(&runs[0]), compare_html(&comparison)] {
            // What follows is uPlot, which knows those words.
            let end = page.find("<script>").expect("scripts at the end");
            texts.push(page[..end].to_owned());
        }
        for text in &texts {
            prop_assert!(bad_words(text).is_empty(), "{:?} in {text}", bad_words(text));
        }
    }
}
