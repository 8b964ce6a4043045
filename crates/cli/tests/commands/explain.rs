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

/// Goal: the worked example of METHODS is what is computed. Method: its table against the same run, weight by weight.
#[test]
fn the_example_of_methods_is_what_is_computed() {
    let methods = include_str!("../../../../docs/METHODS.md");
    let table = methods.split("| SSD1 reads, 3.00 to 2.40 GB/s").nth(1).expect("the example of METHODS");
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let rows: Vec<Vec<String>> =
        table.lines().skip(2).take_while(|line| line.starts_with('|')).map(cells).collect();
    let scratch = Scratch::new();
    assert_eq!(scratch.run(&["run", "--out", "r", "-q", "--no-report"]).code, Some(0));
    let told = scratch.run(&["analyze", "r", "--explain", "1"]).stdout;
    // A weighed line begins with five cells, "·" for none; two thresholds whose counters stood still have a line each.
    let mut weighed: Vec<[f64; 5]> = Vec::new();
    for line in told.lines() {
        let words: Vec<&str> = line.split_whitespace().take(5).collect();
        let weights: Option<Vec<f64>> =
            words.iter().map(|word| if *word == "·" { Some(0.0) } else { word.parse().ok() }).collect();
        weighed.extend(weights.and_then(|weights| <[f64; 5]>::try_from(weights).ok()));
    }
    let number = |cell: &str| if cell.is_empty() { 0.0 } else { cell.parse::<f64>().expect("a weight") };
    let sums = rows.iter().find(|row| row[0] == "**sum**").expect("a row of sums");
    let sums: Vec<f64> = sums[1..6].iter().map(|cell| number(cell)).collect();
    assert_eq!(weighed.last().map(|row| row.to_vec()), Some(sums), "{told}");
    let of_rows = rows.iter().filter(|row| !row[0].starts_with("**"));
    let documented: Vec<f64> =
        (1..6).map(|cause| of_rows.clone().map(|row| number(&row[cause])).sum::<f64>()).collect();
    let computed: Vec<f64> =
        (0..5).map(|cause| weighed[..weighed.len() - 1].iter().map(|row| row[cause]).sum::<f64>()).collect();
    let tenths =
        |weights: &[f64]| -> Vec<i64> { weights.iter().map(|w| (w * 10.0).round() as i64).collect() };
    assert_eq!(tenths(&documented), tenths(&computed), "{told}");
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
