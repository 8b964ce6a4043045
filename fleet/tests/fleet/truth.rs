//! Closed loop: what is found in synthetic fleets against what was put into them.

use std::collections::BTreeSet;

use crate::support::{Folder, text};

/// The harmonic mean of precision and recall.
fn f1<T: Ord + std::fmt::Debug>(found: &BTreeSet<T>, truth: &BTreeSet<T>) -> f64 {
    let both = found.intersection(truth).count() as f64;
    if found.is_empty() && truth.is_empty() { 1.0 } else { 2.0 * both / (found.len() + truth.len()) as f64 }
}

/// Serial numbers of throttled drives: found, and true of those whose counters tell.
fn throttled(folder: &Folder) -> (BTreeSet<String>, BTreeSet<String>) {
    let found = folder
        .table("scan/drives.parquet")
        .iter()
        .filter(|row| text(row, "verdict") == "throttled")
        .map(|row| text(row, "serial"))
        .collect();
    let truth = folder
        .truth("fleet/truth.csv")
        .into_iter()
        .filter(|(_, columns)| columns[4] == "true" && columns[5] != "0")
        .map(|(serial, _)| serial)
        .collect();
    (found, truth)
}

/// Actions of one kind, as host (or model) with their slots.
fn actions(folder: &Folder, kind: &str, name: &str) -> BTreeSet<String> {
    let findings = folder.json("scan/findings.json");
    let actions = findings["actions"].as_array().expect("a list");
    let named = |action: &&serde_json::Value| action["kind"] == kind;
    let key = |action: &serde_json::Value| action[name].as_str().unwrap_or_default().to_owned();
    actions.iter().filter(named).map(key).collect()
}

#[test]
fn throttled_drives_odd_slots_and_dead_fans_are_found() {
    let folder = Folder::new();
    folder.run("gen --out fleet --drives 9600 --every 10min --span 1d --seed 7").good();
    folder.run("scan fleet/rows --out scan").good();
    let (found, truth) = throttled(&folder);
    assert!(truth.len() > 100, "a fleet with something in it: {}", truth.len());
    assert!(
        f1(&found, &truth) >= 0.97,
        "{} found, {} true: {}",
        found.len(),
        truth.len(),
        f1(&found, &truth)
    );

    let places = folder.json("fleet/places.json");
    let of = |fault: &str| -> BTreeSet<String> {
        let hosts = places["hosts"].as_array().expect("a list").iter();
        hosts
            .filter(|host| host["fault"] == fault)
            .map(|host| host["host"].as_str().expect("a name").to_owned())
            .collect()
    };
    let fans = f1(&actions(&folder, "dead_fan", "host"), &of("dead_fan"));
    assert!(fans >= 0.9, "{:?} for {:?}", actions(&folder, "dead_fan", "host"), of("dead_fan"));
    let warm = f1(&actions(&folder, "warm_host", "host"), &of("filter"));
    assert!(warm >= 0.9, "{:?} for {:?}", actions(&folder, "warm_host", "host"), of("filter"));
    let odd: BTreeSet<(String, String)> = folder
        .table("scan/cells.parquet")
        .iter()
        .filter(|row| text(row, "verdict") == "odd_slot")
        .map(|row| (text(row, "model"), text(row, "slot")))
        .collect();
    let true_odd: BTreeSet<(String, String)> = places["odd_slots"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|odd| (odd["model"].as_str().expect("a name").into(), odd["slot"].to_string()))
        .collect();
    assert!(f1(&odd, &true_odd) >= 0.9, "{odd:?} for {true_odd:?}");

    // Whatever counters cannot tell is not known, and never "not throttled".
    for row in folder.table("scan/drives.parquet") {
        let silent = ["Dune 960", "Ember SATA 4T"].contains(&text(&row, "model").as_str());
        assert_eq!(text(&row, "verdict") == "not_known", silent, "{}", text(&row, "serial"));
    }
    let findings = folder.json("scan/findings.json");
    assert_eq!(findings["simulated"], true);
    assert_eq!(findings["cadence_ms"], 600_000);
    let report = std::fs::read_to_string(folder.path("scan/report.html")).expect("the report");
    let (at, simulated) = (report.find("What to do"), report.find("Simulated"));
    assert!(at.is_some() && at < report.find("<h2>Drives"), "it leads with what to do");
    assert!(simulated.is_some() && simulated < at, "and says that it is simulated before");
}

#[test]
fn nothing_throttles_in_a_cool_fleet() {
    let folder = Folder::new();
    folder.run("gen --out fleet --drives 12000 --every 1d --span 10d --cool --seed 3").good();
    folder.run("scan fleet/rows --out scan").good();
    let (found, truth) = throttled(&folder);
    assert!(truth.is_empty(), "the truth is cool");
    assert!(found.is_empty(), "{found:?}");
    let findings = folder.json("scan/findings.json");
    assert_eq!(findings["throttled_h"], 0.0);
    assert_eq!(findings["actions"].as_array().map(Vec::len), Some(0), "{}", findings["actions"]);
    assert_eq!(findings["cadence"], "day");
    assert_eq!(findings["full_speed_lost_drives"], 0, "one row a day shows no speed");
}

#[test]
fn throttled_hours_are_those_of_the_truth() {
    let folder = Folder::new();
    folder.run("gen --out fleet --drives 480 --every 60s --span 12h --hot 0.2 --seed 5").good();
    folder.run("scan fleet/rows --out scan").good();
    let truth = folder.truth("fleet/truth.csv");
    let mut found_s = std::collections::BTreeMap::<String, f64>::new();
    let mut disturbed = BTreeSet::new();
    for row in folder.table("scan/drives.parquet") {
        let serial = text(&row, "serial");
        let number = |name: &str| crate::support::number(&row, name);
        if text(&row, "verdict") != "not_known" {
            let hours = number("throttled_h") + number("throttled_in_gaps_h");
            *found_s.entry(serial.clone()).or_default() += hours * 3600.0;
        }
        // What moved over a reset, a swap or a move is lost, and told.
        if number("resets") + number("implausible") + number("moves") > 0.0 || serial.ends_with('B') {
            disturbed.insert(serial);
        }
    }
    let mut compared = 0;
    for (serial, found) in &found_s {
        let true_s: f64 = truth[serial][5].parse().expect("seconds");
        if !disturbed.contains(serial) {
            // Before the first row nobody knows, and counters are whole seconds: a minute.
            assert!((found - true_s).abs() <= 61.0, "{serial}: {found} s for {true_s} s");
            compared += usize::from(true_s > 0.0);
        }
    }
    assert!(compared > 20, "{compared} throttled drives compared");
}

#[test]
fn a_second_scan_says_what_changed() {
    let folder = Folder::new();
    folder.run("gen --out before --drives 480 --every 10min --span 12h --seed 5 --cool").good();
    folder.run("gen --out after --drives 480 --every 10min --span 12h --seed 5 --hot 0.2").good();
    folder.run("scan before/rows --out old").good();
    folder.run("scan after/rows --out new --since old").good();
    let trend = folder.json("new/findings.json")["trend"].clone();
    assert!(trend["newly_throttled"].as_u64() > Some(20), "{trend}");
    assert_eq!(trend["no_longer_throttled"], 0);
    let done = folder.run("scan after/rows --out new --since nowhere");
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("earlier scan nowhere/drives.parquet"), "{}", done.stderr);
}
