//! Sentences and terminal output, word for word.

use analysis::findings::{Label, Segment, SegmentOp, WeighedObservation};
use analysis::observation::Observation;
use measure::record::Op;
use report::{TerminalStyle, compare_terminal, sentences, terminal};

use crate::scene;

const STYLE: TerminalStyle = TerminalStyle { width: 90, ascii: false, colour: false, run_folder: None };

fn all_sentences(run: &report::ReportInput) -> String {
    let findings = &run.findings;
    let mut all = sentences::verdict(findings, &run.levels);
    all.push(sentences::policy(&findings.policy));
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
    insta::assert_snapshot!(compare_terminal(&scene::sweep(), &[], &STYLE));
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
    let verdict = sentences::verdict(&run.findings, &run.levels).join(" ");
    assert!(verdict.contains("Reading slowed down to 2.40 GB/s at 512 s"), "another load: {verdict}");
    run.findings.events[0].strength = Some(0.75);
    let verdict = sentences::verdict(&run.findings, &run.levels).join(" ");
    assert!(verdict.contains("fell from 3.00 GB/s to 2.40 GB/s at 512 s"), "{verdict}");
}

/// Goal: that speed fell is no reason why it fell. Method: evidence as the analysis gives it.
#[test]
fn what_happened_is_told_and_is_no_reason() {
    let mut run = scene::vendor();
    let (during_bytes_per_s, span_s, recovered) = (2.4e9, 88.0, true);
    let fell = Observation::SpeedFell { before_bytes_per_s: 3e9, during_bytes_per_s, span_s, recovered };
    run.findings.events[0].observations.insert(0, WeighedObservation { observation: fell, weight: None });
    let verdict = sentences::verdict(&run.findings, &run.levels).join(" ");
    assert!(!verdict.contains("because speed fell") && verdict.contains("because it was 80 °C"), "{verdict}");
    let event = sentences::event(&run.findings.events[0], &run.levels);
    assert!(event.contains("before. Speed fell from 3.00 GB/s to 2.40 GB/s for 88 s. Cause:"), "{event}");
    let onset = &mut run.findings.events[0];
    onset.strength = None;
    onset.observations[0].observation = Observation::BeganThrottled { during_bytes_per_s, span_s, recovered };
    let verdict = sentences::verdict(&run.findings, &run.levels).join(" ");
    assert!(verdict.contains("Reading was slow from the beginning of a load at 512 s"), "{verdict}");
}

/// Goal: a mean over several loads is not told as the speed of one. Method: the stairs of a plan and a soak behind them.
#[test]
fn several_speeds_are_told_as_several() {
    let mut run = scene::vendor();
    let read = run.findings.segments.iter().position(|s| s.op == SegmentOp::Read).expect("a read");
    let first = run.findings.segments[read].clone();
    run.findings.segments.truncate(read);
    run.findings.events.clear();
    for (index, (rate, label)) in
        [(2.5e8, Label::RateLimited), (1e9, Label::RateLimited), (3e9, Label::FullSpeed)]
            .into_iter()
            .enumerate()
    {
        let start_s = first.start_s + 100.0 * index as f64;
        let (end_s, mean_bytes_per_s) = (start_s + 100.0, Some(rate));
        run.findings.segments.push(Segment { start_s, end_s, mean_bytes_per_s, label, ..first.clone() });
    }
    let verdict = sentences::verdict(&run.findings, &run.levels).join(" ");
    let told = "Reading ran at 250 MB/s to 3.00 GB/s (1.42 GB/s on average) for 300 s, 200 s of it as fast as the plan allows";
    assert!(verdict.contains(told), "{verdict}");
}

/// A verdict stays readable however much speaks for it; the event keeps everything.
#[test]
fn a_verdict_names_the_first_evidence_and_the_event_all_of_it() {
    let mut run = scene::vendor();
    let short = |n| Observation::Short { span_s: f64::from(n) };
    let weighed = (1..=8).map(|n| WeighedObservation { observation: short(n), weight: Some(1.0) });
    run.findings.events[0].observations = weighed.collect();
    let verdict = sentences::verdict(&run.findings, &run.levels).join(" ");
    assert!(
        verdict.contains("because it lasted only 1.0 s; it lasted only 2.0 s; it lasted only 3.0 s."),
        "{verdict}"
    );
    let event = sentences::event(&run.findings.events[0], &run.levels);
    assert!(event.contains("it lasted only 8.0 s."), "{event}");
}

/// A verdict never claims what it cannot know.
#[test]
fn what_the_data_do_not_say_is_not_said() {
    let mut run = scene::vendor();
    run.findings.segments.clear();
    run.findings.events.clear();
    let verdict = sentences::verdict(&run.findings, &run.levels);
    assert_eq!(verdict, ["Speed is not known: there is no stretch of load in the data."]);

    let mut run = scene::vendor();
    run.findings.events.clear();
    let verdict = sentences::verdict(&run.findings, &run.levels).join(" ");
    assert!(verdict.contains("Reading was throttled for 88 s at 2.40 GB/s"), "{verdict}");
    assert!(verdict.contains("when that began was not seen"), "{verdict}");
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
