//! The control socket without its socket: verbs on drives in simulated time.

use measure::Seed;
use serde_json::Value;

use super::*;
use crate::controller::Options;
use physics::Profile;

fn shelf(names: &[&str]) -> Shelf {
    let unit = |name: &&str| {
        let profile = Profile::builtin(name).expect("it is built in");
        let options = Options::new(profile, Seed::new(1));
        Unit::drive(Subsystem::new(options).expect("a drive"), None)
    };
    Shelf::new(names.iter().map(unit).collect())
}

fn ask(shelf: &Shelf, at_s: u64, line: &str) -> Value {
    let answer = answer(shelf, Instant::from_ns(at_s * 1_000_000_000), line);
    let value: Value = serde_json::from_str(&answer).expect("an answer is JSON");
    assert_eq!(value["simulated"], true, "every answer says so: {answer}");
    value
}

#[test]
fn the_surroundings_change_and_the_drive_follows() {
    let shelf = shelf(&["ssd1"]);
    let cool = ask(&shelf, 1, r#"{"do":"status"}"#)["drives"][0]["composite_k"].as_u64().expect("a reading");
    assert_eq!(ask(&shelf, 2, r#"{"do":"ambient","celsius":60}"#)["ok"], true);
    let status = ask(&shelf, 3600, r#"{"do":"status","drive":"ssd1"}"#);
    let drive = &status["drives"][0];
    assert!(drive["composite_k"].as_u64().expect("a reading") > cool + 10, "{status}");
    assert_eq!(drive["drive_time_s"], 3600.0);
    assert_eq!(ask(&shelf, 3600, r#"{"do":"fan","on":true}"#)["ok"], true);
    let fanned = ask(&shelf, 7200, r#"{"do":"status"}"#);
    let (with, without) = (&fanned["drives"][0]["composite_k"], &drive["composite_k"]);
    assert!(with.as_u64() < without.as_u64(), "a fan cools: {fanned}");
}

#[test]
fn nonsense_is_answered_with_a_sentence() {
    let one = shelf(&["ssd1"]);
    for line in [
        "",
        "{",
        "[]",
        r#"{"do":"explode"}"#,
        r#"{"do":"ambient"}"#,
        r#"{"do":"ambient","celsius":1e9}"#,
        r#"{"do":"airflow","scale":0}"#,
        r#"{"do":"status","drive":"nvme0"}"#,
        r#"{"do":"inject","fault":{"fault":"command","act":"melt"}}"#,
        r#"{"do":"inject","fault":{"fault":"command","act":{"fail":{"status":0}}}}"#,
        r#"{"do":"inject","fault":{"fault":"command","act":{"fail":{"status":2048}}}}"#,
        r#"{"do":"inject","fault":{"fault":"freeze-sensor","sensor":{"sensor":0}}}"#,
        r#"{"do":"inject","fault":{"fault":"offset-sensor","sensor":{"sensor":9},"kelvin":5}}"#,
    ] {
        let value = ask(&one, 1, line);
        assert_eq!(value["ok"], false, "{line}");
        assert!(value["error"].as_str().is_some_and(|text| text.len() > 10), "{value}");
    }
    assert_eq!(ask(&one, 1, r#"{"do":"faults"}"#)["faults"].as_array().map(Vec::len), Some(0));
    let sensor = r#"{"do":"inject","fault":{"fault":"freeze-sensor","sensor":{"sensor":8}}}"#;
    assert_eq!(ask(&one, 1, sensor)["ok"], true);
    let two = shelf(&["ssd1", "relay"]);
    let value = ask(&two, 1, r#"{"do":"fan","on":true}"#);
    assert!(value["error"].as_str().is_some_and(|text| text.contains("ssd1, relay")), "{value}");
    assert_eq!(ask(&two, 1, r#"{"do":"fan","on":true,"drive":"relay"}"#)["ok"], true);
    assert_eq!(ask(&two, 1, r#"{"do":"status"}"#)["drives"].as_array().map(Vec::len), Some(2));
}
