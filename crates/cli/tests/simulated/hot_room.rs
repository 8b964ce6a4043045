//! A drive in a hot room: it is throttled for most of the run, and not all that happens then is heat.

use analysis::Findings;
use analysis::findings::{Cause, EventKind, PolicyClass};

use crate::support::Scratch;

/// SSD2 dips for 2 s of its own accord, at any temperature; the shortest event is as long as three rows.
const DIP_S: f64 = 3.5;

fn found(profile: &str, ambient: &str, seed: &str) -> Findings {
    let scratch = Scratch::new();
    let drive = format!("twin:{profile}");
    let room = ["--ambient", ambient, "--stop-at", "95C", "--seed", seed];
    let run = ["run", "hctm-read", "--drive", &drive, "--json", "--quiet", "--no-report"];
    let done = scratch.run(&[&run[..], &room[..]].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    serde_json::from_str(&done.stdout).expect("findings")
}

#[test]
fn dips_beside_and_within_throttling_are_not_blamed_on_heat() {
    for (ambient, seed) in [("42C", "1"), ("42C", "2"), ("43C", "1"), ("47C", "1"), ("48C", "2")] {
        let findings = found("ssd2", ambient, seed);
        let at = |kind: EventKind| findings.events.iter().filter(move |event| event.kind == kind);
        for onset in at(EventKind::ThrottleOnset) {
            let short = |release_s: f64| (0.0..=DIP_S).contains(&(release_s - onset.t_s));
            let dip = at(EventKind::ThrottleRelease).any(|release| short(release.t_s));
            assert!(!dip, "{ambient}, seed {seed}: {onset:#?}");
        }
        // Its writes are regulated and its reads come in bursts: what takes more of the slow time names it.
        let class = findings.policy.class;
        assert!(
            matches!(class, PolicyClass::DutyCycled | PolicyClass::Regulator),
            "{ambient}, seed {seed}: {class:?}"
        );
    }
}

/// What a regulated drive saves in a byte is not taken for a smaller gain: 21.9 and 8.9 K for each GB/s at full speed.
#[test]
fn gains_hold_the_truth_where_power_bends_with_speed() {
    let mut given = Vec::new();
    for (ambient, seed) in [("303K", "1"), ("303K", "2"), ("309K", "2"), ("309K", "3"), ("315K", "1")] {
        let thermal = found("ssd2", ambient, seed).thermal;
        let gains =
            [(thermal.kelvin_per_gb_per_s_write_90, 21.9), (thermal.kelvin_per_gb_per_s_read_90, 8.88)];
        for (interval, truth) in gains {
            let Some([low, high]) = interval else { continue };
            given.push((ambient, seed, low, high));
            assert!((low..=high).contains(&truth), "{truth}: {given:?}");
        }
    }
    assert!(given.len() >= 5, "{given:?}");
}

/// Goal: a stop that is waited for when the load is over is a result, and so is one that never ends. Method: air in which
/// the drive takes a minute to cool below its release, and air above the release.
#[test]
fn a_stop_longer_than_a_kernel_waits_is_a_result() {
    let scratch = Scratch::new();
    let run = |ambient: &str| {
        let arguments =
            ["--drive", "twin:stop", "--ambient", ambient, "--out", ambient, "--json", "-q", "--no-report"];
        scratch.run(&[&["run"], &arguments[..]].concat())
    };
    let done = run("40C");
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let findings: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    let policy = &findings["policy"];
    assert!(policy["class"] == "stop" || policy["also"].to_string().contains("stop"), "{policy}");
    let never = run("60C");
    assert_eq!(never.code, Some(3), "{}", never.stderr);
    assert!(never.stderr.contains("in this air it does not cool enough to go on"), "{}", never.stderr);
    assert!(!never.stderr.contains("kernel"), "{}", never.stderr);
}

#[test]
fn a_stop_at_the_hottest_moment_is_not_cleared_of_heat() {
    let findings = found("stop", "20C", "1");
    assert_ne!(findings.policy.class, PolicyClass::None, "{:#?}", findings.events);
    let cleared = findings.events.iter().any(|event| event.cause == Cause::NotThermal);
    assert!(!cleared, "{:#?}", findings.events);
}
