//! Sentences and terminal output, word for word.

use analysis::findings::{
    Cause, Caveat, Event, EventKind, Label, PolicyClass, PolicyLevel, Segment, SegmentOp, WeighedObservation,
};
use analysis::observation::Observation;
use measure::record::Op;
use report::{Comparison, ReportInput, TerminalStyle, compare_terminal, sentences, terminal};

use crate::scene;
use trace::caveat::{HeatingUnknown, SlowdownSeen, Unseen};

const STYLE: TerminalStyle = TerminalStyle { width: 90, ascii: false, colour: false, run_folder: None };

fn told(run: &ReportInput) -> String {
    sentences::summary(run).sentences().join(" ")
}

fn all_sentences(run: &report::ReportInput) -> String {
    let findings = &run.findings;
    let summary = sentences::summary(run);
    let mut all = summary.sentences();
    all.extend(summary.ruled_out.iter().map(|clause| format!("Ruled out: {clause}")));
    all.extend(summary.next.iter().chain(&summary.caveats).chain(&summary.fine_print).cloned());
    all.extend(findings.slc_cache.iter().map(sentences::slc_cache));
    all.extend(sentences::thermal(&findings.thermal));
    all.extend(findings.events.iter().take(2).map(|event| sentences::event(event, &run.levels)));
    all.join("\n")
}

#[test]
fn sentences_of_a_vendor_threshold() {
    insta::assert_snapshot!(all_sentences(&scene::vendor()));
}

#[test]
fn sentences_of_a_limit_cycle() {
    insta::assert_snapshot!(all_sentences(&scene::relay()));
}

#[test]
fn sentences_of_a_full_write_cache() {
    insta::assert_snapshot!(all_sentences(&scene::mixed()));
}

/// Goal: many loads that something happens in are told in a sentence for each cause. Method: the throttled load of a scene and its event, and the end of a
/// cache in another one, twenty times with pauses.
#[test]
fn many_bursts_are_told_together() {
    for (scene, told_as) in
        [(scene::vendor(), "throttled 20 times"), (scene::mixed(), "SLC cache full 20 times")]
    {
        let mut run = scene;
        let kind =
            if told_as.starts_with("SLC") { EventKind::SlcExhausted } else { EventKind::ThrottleOnset };
        let event = run.findings.events.iter().find(|event| event.kind == kind).expect("one").clone();
        let begun = run
            .findings
            .segments
            .iter()
            .rposition(|segment| segment.start_s <= event.t_s)
            .expect("its segment");
        let segment = run.findings.segments[begun].clone();
        let at = |turn: usize| 100.0 * turn as f64;
        let segments = (0..20).flat_map(|turn| {
            let part = |start_s: f64, end_s: f64| (at(turn) + start_s, at(turn) + end_s);
            let of = |(start_s, end_s): (f64, f64), op: SegmentOp, label: Label| Segment {
                start_s,
                end_s,
                op,
                label,
                ..segment.clone()
            };
            [
                of(part(0.0, 40.0), segment.op, Label::FullSpeed),
                of(part(40.0, 80.0), segment.op, segment.label),
                of(part(80.0, 100.0), SegmentOp::Idle, Label::Idle),
            ]
        });
        run.findings.segments = segments.collect();
        run.findings.events = (0..20).map(|turn| Event { t_s: at(turn) + 40.0, ..event.clone() }).collect();
        let sentences = sentences::summary(&run).sentences();
        let told: Vec<&String> = sentences
            .iter()
            .filter(|one| one.contains("throttled") && one.contains(" at ") || one.contains("cache full"))
            .collect();
        assert!(told.iter().any(|one| one.contains(told_as)), "{told:#?}");
        assert!(told.len() <= 3, "{told:#?}");
    }
}

#[test]
fn terminal_of_a_vendor_threshold() {
    let style = TerminalStyle { run_folder: Some("runs/1".into()), ..STYLE };
    insta::assert_snapshot!(terminal(&scene::vendor(), &style));
}

#[test]
fn terminal_of_mixed_load_in_ascii() {
    let text = terminal(&scene::mixed(), &TerminalStyle { ascii: true, ..STYLE });
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn terminal_of_a_comparison() {
    insta::assert_snapshot!(compare_terminal(
        &Comparison { runs: &scene::sweep(), baseline: 0, joint: &[], remarks: &[] },
        &STYLE
    ));
}

#[test]
fn lines_keep_to_the_width_they_were_given() {
    for width in [60, 80, 120, 200] {
        for run in [scene::vendor(), scene::relay(), scene::mixed()] {
            let text = terminal(&run, &TerminalStyle { width, ..STYLE });
            let chart: Vec<&str> = text.lines().take_while(|line| !line.starts_with("Caveats")).collect();
            let widest = chart.iter().filter(|line| !line.contains("Phase")).map(|line| line.chars().count());
            assert!(widest.max().unwrap_or(0) <= width.max(92), "width {width}:\n{text}");
        }
    }
}

#[test]
fn colours_come_only_when_asked_for() {
    let run = scene::vendor();
    assert!(!terminal(&run, &STYLE).contains('\u{1b}'));
    assert!(terminal(&run, &TerminalStyle { colour: true, ..STYLE }).contains("\u{1b}[34m"));
}

/// Goal: no sentence contradicts itself. Method: an event whose strength is not that of its segments.
#[test]
fn a_strength_that_disagrees_with_the_speeds_is_left_to_the_event() {
    let mut run = scene::vendor();
    run.findings.events[0].strength = Some(0.35);
    let verdict = told(&run);
    assert!(
        verdict.contains("Reads: throttled at 512 s and 80 °C, to 2.40 GB/s."),
        "another load: {verdict}"
    );
    run.findings.events[0].strength = Some(0.75);
    let verdict = told(&run);
    assert!(
        verdict.contains("Reads: throttled at 512 s and 80 °C, from 3.00 GB/s to 2.40 GB/s (80 %)."),
        "{verdict}"
    );
}

/// Goal: that speed fell is no reason why it fell. Method: evidence as the analysis gives it.
#[test]
fn what_happened_is_told_and_is_no_reason() {
    let mut run = scene::vendor();
    let (during_bytes_per_s, span_s, recovered) = (2.4e9, 88.0, true);
    let fell = Observation::SpeedFell {
        before_bytes_per_s: 3e9,
        during_bytes_per_s,
        span_s,
        paused_s: 0.0,
        recovered,
    };
    run.findings.events[0].observations.insert(0, WeighedObservation { observation: fell, weight: None });
    let verdict = told(&run);
    assert!(!verdict.contains("Evidence: speed fell") && verdict.contains("Evidence: "), "{verdict}");
    let event = sentences::event(&run.findings.events[0], &run.levels);
    assert!(event.contains("before. Speed fell from 3.00 GB/s to 2.40 GB/s for 88 s. Cause:"), "{event}");
    let onset = &mut run.findings.events[0];
    onset.strength = None;
    onset.observations[0].observation = Observation::BeganThrottled { during_bytes_per_s, span_s, recovered };
    let verdict = told(&run);
    assert!(verdict.contains("Reads: throttled when the load began at 512 s"), "{verdict}");
}

/// The relay as if its drops were not heat, beginning at so many kelvins.
fn dips(temp_k: f64) -> ReportInput {
    let mut run = scene::relay();
    run.findings.events.retain(|event| event.kind == EventKind::ThrottleOnset);
    for event in &mut run.findings.events {
        (event.kind, event.cause, event.temp_k) = (EventKind::Dip, Cause::NotThermal, Some(temp_k));
        let (before_bytes_per_s, during_bytes_per_s, span_s, recovered) = (2.6e9, 2e8, 14.0, true);
        let fell = Observation::SpeedFell {
            before_bytes_per_s,
            during_bytes_per_s,
            span_s,
            paused_s: 0.0,
            recovered,
        };
        event.observations.insert(0, WeighedObservation { observation: fell, weight: None });
    }
    let throttled = run.findings.segments.iter_mut().filter(|segment| segment.label == Label::Throttled);
    throttled.for_each(|segment| segment.label = Label::Dip);
    (run.findings.policy.class, run.findings.policy.confidence) = (PolicyClass::None, 0.98);
    run.findings.caveats.clear();
    run
}

/// Goal: what is ruled out is ruled out. Method: drops that began as hot as the drive got and cooler, a cause that is not sure, a
/// temperature that was read seldom, and a drive that stayed cool.
#[test]
fn heat_is_ruled_out_only_where_it_is() {
    let ruled_out = |run: &ReportInput| sentences::summary(run).ruled_out.join("; ");
    assert_eq!(ruled_out(&dips(343.0)), "", "a threshold may lie there");
    let cooler = dips(330.0);
    let text = ruled_out(&cooler);
    assert_eq!(text, "thermal throttling: the drops began at 57 °C and below, and the drive reached 69 °C");
    let mut doubted = cooler.clone();
    doubted.findings.policy.confidence = 0.86;
    assert_eq!(ruled_out(&doubted), "");
    let mut seldom = cooler.clone();
    seldom.findings.caveats.push(Caveat::SlowTemperature { period_s: 60.0 });
    assert_eq!(ruled_out(&seldom), "");
    let mut cool = dips(313.0);
    cool.temperature[0].points.iter_mut().for_each(|point| point.1 = point.1.map(|c| c - 30.0));
    assert_eq!(ruled_out(&cool), "thermal throttling: never hotter than 39 °C");
}

/// Goal: dips are as long as they are said to be. Method: their lengths and share of the time.
#[test]
fn dips_are_told_with_their_length() {
    let run = dips(330.0);
    let count = run.findings.events.len();
    let share = (14.0 * count as f64 / 6.0).round();
    let text = told(&run);
    let wanted = format!("Writes: {count} dips, 14 s long, {share:.0} % of the time. Cause: not heat.");
    assert!(text.contains(&wanted), "{wanted}: {text}");
}

/// Goal: onset and release are of one threshold. Method: two of one cause, of which the lighter was not seen to be released.
#[test]
fn a_cycle_of_two_thresholds_names_no_release_for_both() {
    let mut run = scene::relay();
    let level = |onset_k: f64, release_k: Option<f64>| PolicyLevel {
        cause: Cause::HctmTmt1,
        op: None,
        onset_k: Some(onset_k),
        release_k,
        held_k: None,
        floor_bytes_per_s: Some(2e8),
    };
    run.findings.policy.levels = vec![level(345.5, None), level(353.5, Some(346.0))];
    let reasons = &sentences::summary(&run).reasons;
    assert!(reasons[0].what.ends_with("; onset 72.5 °C and 80.5 °C."), "{reasons:?}");
    run.findings.policy.levels.remove(0);
    let at = |kind| if kind == EventKind::ThrottleOnset { 353.5 } else { 346.0 };
    run.findings.events.iter_mut().for_each(|event| event.temp_k = Some(at(event.kind)));
    let reasons = &sentences::summary(&run).reasons;
    assert!(reasons[0].what.ends_with("; onset 80.5 °C, release 73 °C."), "{reasons:?}");
}

/// Goal: each of two levels is told with its own speed, and no mean of both. Method: a policy of two.
#[test]
fn each_of_two_levels_is_told_with_its_speed() {
    let mut run = scene::relay();
    let level = |onset_k: f64, floor_bytes_per_s: f64| PolicyLevel {
        cause: Cause::Thermal,
        op: None,
        onset_k: Some(onset_k),
        release_k: Some(335.0),
        held_k: None,
        floor_bytes_per_s: Some(floor_bytes_per_s),
    };
    run.findings.policy.class = PolicyClass::TwoLevel;
    run.findings.policy.levels = vec![level(340.0, 2.3e9), level(345.5, 7.9e8)];
    let policy = sentences::summary(&run).policy;
    let wanted = "; one threshold, onset 67 °C, release 62 °C, 2.30 GB/s; a further threshold, onset 72.5 °C, release 62 °C, 790 MB/s (";
    assert!(policy.contains(wanted), "{policy}");
}

/// Goal: a usual temperature is not told as if all had it. Method: a relay with one onset 8 K below the others, in its sentence and in the policy's.
#[test]
fn events_that_differ_are_told_with_their_range() {
    let mut run = scene::relay();
    run.findings.policy.levels = vec![PolicyLevel {
        cause: Cause::HctmTmt1,
        op: None,
        onset_k: run.findings.policy.onset_k,
        release_k: run.findings.policy.release_k,
        held_k: None,
        floor_bytes_per_s: Some(2e8),
    }];
    let texts = |run: &ReportInput| {
        let summary = sentences::summary(run);
        [summary.reasons[0].what.clone(), summary.policy]
    };
    let onset = format!("onset {}", report_degrees(run.findings.policy.onset_k));
    for text in texts(&run) {
        assert!(text.contains(&format!("{onset},")), "{text}");
    }
    let first = run.findings.events.iter_mut().find(|event| event.kind == EventKind::ThrottleOnset);
    let first = first.expect("it is throttled");
    first.temp_k = first.temp_k.map(|k| k - 8.0);
    let low = report_degrees(first.temp_k);
    for text in texts(&run) {
        assert!(text.contains(&format!("{onset} ({low} to ")), "{text}");
    }
}

fn report_degrees(kelvin: Option<f64>) -> String {
    analysis::wording::degrees(kelvin.unwrap_or(f64::NAN))
}

/// Goal: what is written while writing is slow may lie beyond the end of a cache, so it rules none out. Method: writes that heat slowed to
/// the end, and the same at full speed again.
#[test]
fn bytes_written_while_slow_rule_out_no_cache() {
    let mut run = scene::vendor();
    for segment in &mut run.findings.segments {
        segment.op = SegmentOp::Write;
    }
    run.findings.caveats = vec![Caveat::NotSeen {
        values: vec![Unseen::SlcBytes { written_bytes: 9e11, over_stated: false, in_all_bytes: None }],
    }];
    let ruled_out = |run: &ReportInput| sentences::summary(run).ruled_out.join("; ");
    assert!(!ruled_out(&run).contains("SLC cache"), "{}", ruled_out(&run));
    let mut fast = run.findings.segments[0].clone();
    (fast.start_s, fast.end_s) = (600.0, 700.0);
    run.findings.segments.push(fast);
    let again = "SLC cache: writes were at full speed again after 900 GB";
    assert!(ruled_out(&run).contains(again), "{}", ruled_out(&run));
}

/// Goal: a cycle has one onset. Method: a relay whose surest event was half a kelvin hotter than usual.
#[test]
fn the_evidence_of_a_cycle_is_at_its_onset() {
    let mut run = scene::relay();
    let usual_k = run.findings.policy.onset_k.expect("an onset");
    run.findings.policy.levels = vec![PolicyLevel {
        cause: Cause::HctmTmt1,
        op: None,
        onset_k: Some(usual_k),
        release_k: run.findings.policy.release_k,
        held_k: None,
        floor_bytes_per_s: Some(2e8),
    }];
    let surest = run.findings.events.iter_mut().find(|event| event.kind == EventKind::ThrottleOnset);
    let surest = surest.expect("it is throttled");
    (surest.temp_k, surest.confidence) = (Some(usual_k + 0.5), 0.999);
    let hot = Observation::Hot { temp_k: usual_k + 0.5 };
    surest.observations.push(WeighedObservation { observation: hot, weight: Some(9.0) });
    let evidence = sentences::summary(&run).reasons[0].evidence.join("; ");
    let wanted = format!("It was {} at the onset", report_degrees(Some(usual_k)));
    assert!(evidence.contains(&wanted), "{wanted}: {evidence}");
}

/// Goal: what moved nothing is no slowdown to 0 %.
#[test]
fn a_stop_that_is_no_heat_is_told_as_one() {
    let mut run = dips(330.0);
    run.findings.events.truncate(1);
    run.findings.events[0].strength = Some(0.0);
    let at_s = run.findings.events[0].t_s;
    let segment = run.findings.segments.iter_mut().find(|s| s.start_s <= at_s && at_s < s.end_s);
    let segment = segment.expect("a segment");
    (segment.label, segment.end_s) = (Label::Unknown, segment.start_s + 5.0);
    assert!(
        told(&run).contains("Writes: no I/O from ") && told(&run).contains(" on, lasting 14 s"),
        "{}",
        told(&run)
    );
    assert!(!told(&run).contains("0 % of the speed"), "{}", told(&run));
}

/// Goal: a load that nothing slowed is held against something. Method: with a temperature that rose, without one, and
/// at the plan's rate limit.
#[test]
fn a_constant_speed_is_told_with_its_reference() {
    let mut run = scene::vendor();
    let write = "Writes: constant 1.60 GB/s for 300 s; no slower at";
    assert!(told(&run).contains(write), "{}", told(&run));
    run.temperature.clear();
    assert!(told(&run).contains("no faster speed is known for this load"), "{}", told(&run));
    run.findings.segments[0].label = Label::RateLimited;
    assert!(told(&run).contains("for 300 s, the plan's rate limit."), "{}", told(&run));
    assert!(!told(&run).contains("not slowed down"));
}

/// Goal: what is missing is said once. Method: all caveats that a run without a sensor has.
#[test]
fn a_run_without_a_sensor_says_so_once() {
    let mut run = scene::vendor();
    run.temperature.clear();
    run.findings.caveats = vec![
        Caveat::PolicyUndetermined { seen: SlowdownSeen::NoTemperature },
        Caveat::ThermalNotIdentified(HeatingUnknown::FewTemperatures),
        Caveat::NotSeen { values: vec![Unseen::Onset, Unseen::Release] },
        Caveat::AmbientUnknown,
        Caveat::WholeKelvin { step_k: 1.0 },
        Caveat::Averaged { interval_s: 5.0, longest_interval_s: None },
        Caveat::NoTemperature { outside_load: false, counted: false },
    ];
    let summary = sentences::summary(&run);
    assert!(summary.caveats[0].starts_with("No temperature was recorded"), "what costs most comes first");
    assert_eq!(summary.caveats.len(), 2, "{summary:?}");
    assert!(summary.next.is_empty() && summary.fine_print.iter().all(|text| !text.contains("temperature")));
}

/// A verdict stays readable however much speaks for it; the event keeps everything.
#[test]
fn a_verdict_names_the_first_evidence_and_the_event_all_of_it() {
    let mut run = scene::vendor();
    let lasted = |n| Observation::Lasted { span_s: f64::from(n) };
    let weighed = (1..=8).map(|n| WeighedObservation { observation: lasted(n), weight: Some(1.0) });
    run.findings.events[0].observations = weighed.collect();
    let verdict = told(&run);
    assert!(
        verdict.contains(
            "Evidence: It lasted 1 s; background work rarely lasts that long. It lasted 2 s; background work rarely lasts that long. \
             It lasted 3 s; background work rarely lasts that long."
        ),
        "{verdict}"
    );
    let event = sentences::event(&run.findings.events[0], &run.levels);
    assert!(event.contains("It lasted 8 s;"), "{event}");
}

/// A verdict never claims what it cannot know.
#[test]
fn what_the_data_do_not_say_is_not_said() {
    let mut run = scene::vendor();
    run.findings.segments.clear();
    run.findings.events.clear();
    let reasons = sentences::summary(&run).reasons;
    assert_eq!(reasons[0].what, "Speed is not known: the data hold no load that can be judged.");

    let mut run = scene::vendor();
    run.findings.events.clear();
    let verdict = told(&run);
    assert!(verdict.contains("Reads: throttled for 88 s"), "{verdict}");
    assert!(verdict.contains("the onset lies before the data"), "{verdict}");
}

/// Goal: a log of temperatures and power alone shows these, and does not say that there was no load. Method: a run whose speeds are
/// taken away, with one threshold that it crossed.
#[test]
fn a_log_without_speeds_shows_its_readings() {
    let mut run = scene::vendor();
    run.findings = analysis::Findings { segments: Vec::new(), events: Vec::new(), ..run.findings };
    (run.speed, run.phases, run.loads) = (Vec::new(), Vec::new(), Vec::new());
    let points = [(0.0, 40.0), (60.0, 70.0), (120.0, 82.0), (180.0, 82.0), (240.0, 61.0)];
    run.temperature = vec![readings("composite", &points)];
    run.power = vec![readings("power", &points.map(|(t_s, celsius)| (t_s, celsius / 10.0)))];
    run.levels.retain(|level| level.kind == report::view::LevelKind::Tmt1);
    run.levels[0].temp_k = 343;
    let happened = sentences::summary(&run).happened;
    assert_eq!(
        happened,
        [
            "No speed was recorded.",
            "Composite temperature: 40 °C to 82 °C, hottest at 120 s, 61 °C at the end; 180 s at 70 °C (TMT1) and above.",
            "Power: 4.00 to 8.20 W, mean 6.85 W."
        ]
    );
    assert!(terminal(&run, &STYLE).contains("What happened\nNo speed was recorded.\nComposite temperature"));
    assert!(report::html(&run).contains("No speed was recorded."));

    run.temperature = vec![readings("composite", &points[..1])];
    assert_eq!(sentences::summary(&run).happened[1], "Composite temperature: 40 °C.");
}

fn readings(name: &str, points: &[(f64, f64)]) -> report::view::Readings {
    report::view::Readings { name: name.into(), points: points.iter().map(|(t, v)| (*t, Some(*v))).collect() }
}

/// Goal: trims, a hundred times as fast as data, neither flatten the chart nor count as data. Method: the same run
/// with and without a terabyte a second of them.
#[test]
fn trims_change_neither_the_scale_nor_the_speeds() {
    let plain = scene::vendor();
    let mut trimmed = scene::vendor();
    let mut trims = trimmed.speed[0].clone();
    trims.op = Op::Trim;
    trims.intervals.iter_mut().for_each(|interval| interval.value = 1e12);
    trimmed.speed.push(trims);
    assert_eq!(terminal(&trimmed, &STYLE), terminal(&plain, &STYLE));
    let page = report::html(&trimmed);
    assert!(page.contains("Trims are off the scale where they deallocate faster (up to 1000.00 GB/s)"));
    assert!(!report::html(&plain).contains("off the scale"));
}

/// Goal: a sweep is read row by row. Method: one plan at three rates, which share one table with a row of what each asked for;
/// none of them is best, and each is called by its rate.
#[test]
fn rates_of_a_sweep_share_a_table() {
    let rates = scene::rates();
    let text = compare_terminal(&Comparison { runs: &rates, baseline: 0, joint: &[], remarks: &[] }, &STYLE);
    assert_eq!(text.matches("write: sequential write").count(), 1, "{text}");
    let row = |name: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(name));
        let cells = line.unwrap_or_else(|| panic!("{name} in {text}")).trim_start().trim_start_matches(name);
        cells
            .split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(row("rate limit"), ["no limit", "400 MB/s", "1.00 GB/s"]);
    assert_eq!(row("speed"), ["1.60 GB/s", "400 MB/s", "1.00 GB/s"]);
    assert!(text.contains("B  rate limit 400 MB/s"), "{text}");
    // Limits do not go by that: what was asked for has changed, not what the drive does.
    let limits: report::FailIf = "write.mean < -5%".parse().expect("a limit");
    assert_eq!(report::check_limits(&rates, 0, &[limits])[0].checked, 0, "limits are for the same load");
}
