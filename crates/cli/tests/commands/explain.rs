//! `heatsoak analyze --explain`: what a person reads, what a script gets, and what is refused.

use crate::support::Scratch;

/// Goal: the whole text of one event as a person sees it. Method: a simulated run, the same each time.
#[test]
fn one_event_is_told_from_what_was_seen_to_why() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run(&["run", "--out", "r", "-q", "--no-report"]).code, Some(0));
    let done = scratch.run(&["analyze", "r", "--explain"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("explain-ssd1", done.stdout);
    assert_eq!(scratch.run(&["analyze", "r", "--explain", "1"]).stdout, done.stdout, "it is the only one");

    let told = scratch.run(&["analyze", "r", "--explain", "1", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&told.stdout).expect("one JSON document");
    let findings = scratch.run(&["analyze", "r", "--json"]);
    let findings: serde_json::Value = serde_json::from_str(&findings.stdout).expect("one JSON document");
    assert_eq!((&told["source"], &told["simulated"]), (&"r".into(), &true.into()));
    let explanation = &told["explanations"][0];
    assert_eq!(explanation["event"], findings["events"][0], "it is the event of the findings");
    assert_eq!(explanation["causes"][0]["probability"], findings["events"][0]["confidence"]);
    for observation in explanation["observations"].as_array().expect("observations") {
        assert!(done.stdout.contains(&format!("[{}]", observation["rule"].as_str().expect("a name"))));
    }
}

/// Goal: many events are listed, and one of them is told. Method: a log that dips like clockwork, made here.
#[test]
fn many_events_are_listed_and_each_can_be_asked_for() {
    let scratch = Scratch::new();
    let speed = |t: usize| if t >= 100 && t % 100 < 20 { 400 } else { 2000 };
    let rows: String = (0..600).map(|t| format!("{t},{},{}\n", speed(t), 40 + t / 100)).collect();
    std::fs::write(scratch.path("dips.csv"), format!("t_s,read_mb_per_s,temp_c\n{rows}"))
        .expect("a scratch file");
    let done = scratch.run(&["analyze", "dips.csv", "--explain"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let listed = done.stdout.lines().filter(|line| line.contains("dip")).count();
    assert!(listed >= 5 && done.stdout.contains("--explain N"), "{}", done.stdout);
    let one = scratch.run(&["analyze", "dips.csv", "--explain", "3"]);
    for part in ["Event 3:", "at 300.0 s", "400 MB/s (20 %)", "not heat", "TMT1 unknown", "sums"] {
        assert!(one.stdout.contains(part), "{part:?} is missing in {}", one.stdout);
    }
    assert!(one.stdout.lines().all(|line| line.chars().count() <= 80), "{}", one.stdout);
}

#[test]
fn what_cannot_be_explained_is_refused_with_what_can() {
    let scratch = Scratch::new();
    let rows: String = (0..60).map(|t| format!("{t},2000\n")).collect();
    std::fs::write(scratch.path("even.csv"), format!("t_s,read_mb_per_s\n{rows}")).expect("a scratch file");
    let done = scratch.run(&["analyze", "even.csv", "--explain"]);
    assert_eq!(done.code, Some(0));
    assert!(done.stdout.contains("No event to explain"), "{}", done.stdout);
    for (args, told) in [
        (&["even.csv", "--explain", "1"][..], "it has no events"),
        (&["even.csv", "--explain", "0"], "numbers from 1"),
        (&["--explain", "even.csv"], "inputs come before it"),
        (&["even.csv", "even.csv", "--explain", "1"], "--join"),
    ] {
        let done = scratch.run(&[&["analyze"], args].concat());
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(done.stderr.contains(told), "{args:?}: {}", done.stderr);
    }
}
