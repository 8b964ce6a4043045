//! Sentences and terminal output, word for word.

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
    assert!(verdict.contains("fell from 3.00 GB/s to 2.40 GB/s at 512 s"), "{verdict}");
}

/// A verdict stays readable however much speaks for it; the event keeps everything.
#[test]
fn a_verdict_names_the_first_evidence_and_the_event_all_of_it() {
    let mut run = scene::vendor();
    run.findings.events[0].evidence = (1..=8).map(|n| format!("Reason {n}.")).collect();
    let verdict = sentences::verdict(&run.findings, &run.levels).join(" ");
    assert!(verdict.contains("because reason 1; reason 2; reason 3."), "{verdict}");
    let event = sentences::event(&run.findings.events[0], &run.levels);
    assert!(event.contains("reason 8."), "{event}");
}

/// A verdict never claims what it cannot know.
#[test]
fn what_the_data_do_not_say_is_not_said() {
    let mut run = scene::vendor();
    run.findings.segments.clear();
    run.findings.events.clear();
    let verdict = sentences::verdict(&run.findings, &run.levels);
    assert_eq!(verdict, ["Nothing can be said about speed: there is no stretch of load in the data."]);

    let mut run = scene::vendor();
    run.findings.events.clear();
    let verdict = sentences::verdict(&run.findings, &run.levels).join(" ");
    assert!(verdict.contains("Reading was throttled for 88 s at 2.40 GB/s"), "{verdict}");
    assert!(verdict.contains("when that began was not seen"), "{verdict}");
}
