//! Recorded answers, made-up bridges, and any bytes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use measure::Kelvin;
use proptest::prelude::*;

use super::*;

pub(super) fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/smartctl").join(name);
    std::fs::read_to_string(path).expect("a fixture")
}

fn decoded(name: &str) -> Report {
    Report::decode(&fixture(name)).expect("smartctl's JSON")
}

pub(super) fn celsius(kelvin: Option<Kelvin>) -> Option<i32> {
    kelvin.map(|kelvin| i32::from(kelvin.as_kelvin()) - 273)
}

#[test]
fn a_sata_drive_tells_identity_temperature_and_its_history() {
    let report = decoded("sat-history.json");
    assert_eq!((report.device_type.as_deref(), report.protocol.as_deref()), (Some("sat"), Some("ATA")));
    assert_eq!(
        (report.model.as_deref(), report.firmware.as_deref()),
        (Some("Samsung SSD 860 EVO 500GB"), Some("RVT02B6Q"))
    );
    assert_eq!((celsius(report.temperature), celsius(report.limit)), (Some(36), Some(70)));
    assert!(report.is_somebody() && report.sensors.is_empty());
    let history = report.history.expect("it keeps one");
    assert_eq!((history.sampling_minutes, history.logging_minutes), (1, 10));
    let entries: Vec<_> = history.entries.into_iter().map(celsius).collect();
    assert_eq!(entries, [None, Some(33), Some(57), None, Some(36)]);
}

/// Goal: exit bits above the two lowest are no failure. Method: a disk without SMART ends with 4.
#[test]
fn what_smartctl_calls_a_failure_is_told_from_a_remark() {
    let qemu = decoded("sat-qemu.json");
    assert!(qemu.is_somebody());
    assert_eq!((celsius(qemu.temperature), qemu.serial.as_deref()), (Some(31), Some("ATA1")));
    let unknown = decoded("unknown-bridge.json");
    assert!(unknown.failed && !unknown.is_somebody());
    assert!(unknown.messages[0].contains("Unknown USB bridge [0x46f4:0x0003"), "{:?}", unknown.messages);
    assert!(Report::decode("{}").is_err() && Report::decode("nothing").is_err());
}

#[test]
fn implausible_temperatures_are_none() {
    for (current, expected) in [
        ("0", None),
        ("-1", None),
        ("127", None),
        ("255", None),
        ("-128", None),
        ("-20", Some(-20)),
        ("\"36\"", None),
        ("36.5", None),
    ] {
        let text =
            format!("{{\"smartctl\":{{\"exit_status\":0}},\"temperature\":{{\"current\":{current}}}}}");
        assert_eq!(celsius(Report::decode(&text).expect("JSON").temperature), expected, "{current}");
    }
}

/// A drive that answers only if asked as `right`, with what it was asked as.
fn bridge(right: &'static str, temperature: &'static str) -> (Smartctl, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let run = move |arguments: &[&str]| {
        let at = arguments.iter().position(|one| *one == "-d").expect("a type") + 1;
        assert_eq!((arguments[0], arguments.last().copied()), ("--json=c", Some("/dev/sdz")));
        log.lock().expect("one thread").push(arguments[at].to_owned());
        Ok(if arguments[at] == right {
            format!(
                "{{\"smartctl\":{{\"exit_status\":0}},\"model_name\":\"M\",\"temperature\":{{{temperature}}}}}"
            )
        } else {
            fixture("unknown-bridge.json")
        })
    };
    let memory = BridgeMemory::new(vec![format!("bridge of {right} {temperature}")], None);
    (Smartctl::with("/dev/sdz", memory::TYPES.to_vec(), memory, Box::new(run)), asked)
}

fn asked(log: &Mutex<Vec<String>>) -> Vec<String> {
    log.lock().expect("one thread").clone()
}

#[test]
fn ways_are_tried_in_turn_and_the_one_that_works_is_remembered_by_drive_and_bridge() {
    let (mut first, log) = bridge("sntrealtek", "\"current\":41");
    assert_eq!(celsius(first.ask(&["-A"]).expect("found").temperature), Some(41));
    assert_eq!(asked(&log), ["auto", "sat", "sntasmedia", "sntrealtek"]);
    assert_eq!(first.device_type(), Some("sntrealtek"));
    first.ask(&["-A"]).expect("again");
    assert_eq!(asked(&log).len(), 5, "not tried again");
    let (mut second, log) = bridge("sntrealtek", "\"current\":41");
    second.ask(&["-A"]).expect("found");
    assert_eq!(asked(&log), ["sntrealtek"], "another drive behind the same bridge");
}

#[test]
fn a_way_without_a_temperature_is_the_last_resort() {
    let (mut drive, log) = bridge("scsi", "");
    let report = drive.ask(&["-A"]).expect("it names itself");
    assert_eq!((report.temperature, asked(&log).len()), (None, memory::TYPES.len()));
    let mut sampler = SmartctlSampler::new(drive, Duration::from_millis(100));
    assert_eq!(sampler.period(), PERIOD_MIN);
    let gap = sampler.sample(Instant::ZERO).row.gap.expect("no temperature");
    assert_eq!(gap, "the drive tells smartctl no temperature");
}

#[test]
fn a_drive_that_never_answers_and_a_missing_program_are_sentences() {
    let (drive, _) = bridge("none of them", "");
    let mut sampler = SmartctlSampler::new(drive, Duration::from_secs(5));
    let gap = sampler.sample(Instant::ZERO).row.gap.expect("nobody");
    assert!(gap.contains("no answer from /dev/sdz: /dev/sdb: Unknown USB bridge"), "{gap}");
    let run: Run = Box::new(|_| Err(NoAnswer::Failed("smartctl is not installed".to_owned())));
    let nothing = BridgeMemory::new(Vec::new(), None);
    let missing = Smartctl::with("/dev/sdz", memory::TYPES.to_vec(), nothing, run);
    let mut missing = SmartctlSampler::new(missing, PERIOD_MIN);
    assert_eq!(missing.sample(Instant::ZERO).row.gap.as_deref(), Some("smartctl is not installed"));
}

/// One recorded bridge of `fixtures/smartctl/bridges.json`.
#[derive(serde::Deserialize)]
struct RecordedBridge {
    name: String,
    vendor: String,
    product: String,
    version: Option<String>,
    /// What it is known to answer, by type: an answer of smartctl, or how long it hangs.
    answers: std::collections::BTreeMap<String, serde_json::Value>,
    /// Types in the order in which they must be asked, until one is kept.
    asked: Vec<String>,
    /// The type that is kept.
    kept: Option<String>,
    /// Temperature in \u{b0}C.
    celsius: Option<i32>,
    /// Throttle transitions that must be passed on.
    tmt1_transitions: Option<u32>,
}

/// What the recorded bridge says, and every command line that it was sent.
fn recorded(bridge: &RecordedBridge, key: &str) -> (Smartctl, Arc<Mutex<Vec<Vec<String>>>>) {
    let mut usb = UsbBridge::unknown(&bridge.vendor, &bridge.product);
    usb.version.clone_from(&bridge.version);
    usb.world = crate::usb::world_of(&bridge.vendor, &bridge.product);
    let (sent, answers) = (Arc::new(Mutex::new(Vec::new())), bridge.answers.clone());
    let log = Arc::clone(&sent);
    let run: Run = Box::new(move |arguments| {
        let at = arguments.iter().position(|one| *one == "-d").expect("a type") + 1;
        log.lock().expect("one thread").push(arguments.iter().map(|one| (*one).to_owned()).collect());
        match answers.get(arguments[at]) {
            Some(answer) if answer.get("hangs_s").is_some() => Err(NoAnswer::TooLate("too late".to_owned())),
            Some(answer) => Ok(answer.to_string()),
            None => Ok(fixture("unknown-bridge.json")),
        }
    });
    let memory = BridgeMemory::new(vec![format!("{key} {}", usb.key())], None);
    (Smartctl::with("/dev/sdz", memory::order(Some(&usb)), memory, run), sent)
}

/// Goal: every known bridge is asked in an order that is safe for it, at little cost, and never for a change. Method:
/// what fifteen bridges answer, honest and broken, each asked three times: first, again, and by another reader.
#[test]
fn recorded_bridges_are_asked_in_a_safe_order_and_remembered() {
    let bridges: Vec<RecordedBridge> =
        serde_json::from_str(&fixture("bridges.json")).expect("the fixture's own format");
    assert!(bridges.len() >= 12, "{}", bridges.len());
    for bridge in &bridges {
        let (mut drive, sent) = recorded(bridge, "recorded");
        let first = drive.ask(&["-A"]);
        let types = |sent: &Mutex<Vec<Vec<String>>>| -> Vec<String> {
            let of = |line: &Vec<String>| {
                let at = line.iter().position(|one| one == "-d").expect("a type");
                line[at + 1].clone()
            };
            sent.lock().expect("one thread").iter().map(of).collect()
        };
        assert_eq!(types(&sent), bridge.asked, "{}", bridge.name);
        let report = first.as_ref().ok();
        assert_eq!(drive.device_type(), bridge.kept.as_deref(), "{}: {first:?}", bridge.name);
        assert_eq!(report.and_then(|one| celsius(one.temperature)), bridge.celsius, "{}", bridge.name);
        let counters = report.and_then(|one| one.counters).unwrap_or_default();
        assert_eq!(counters.tmt1_transitions, bridge.tmt1_transitions, "{}", bridge.name);
        // Again: one command line, without Identify, and nothing that has hung.
        let before = sent.lock().expect("one thread").len();
        let _ = drive.ask(&["-A"]);
        let again = sent.lock().expect("one thread")[before..].to_vec();
        if bridge.kept.is_some() {
            assert_eq!(again.len(), 1, "{}: {again:?}", bridge.name);
            assert!(!again[0].contains(&"-i".to_owned()), "{}: {again:?}", bridge.name);
        }
        let hung = |kind: &String| bridge.answers.get(kind).is_some_and(|one| one.get("hangs_s").is_some());
        let (mut other, sent_by_other) = recorded(bridge, "recorded");
        let _ = other.ask(&["-A"]);
        assert!(!types(&sent_by_other).iter().any(hung), "{}: asked again", bridge.name);
        let first_of_other = types(&sent_by_other).first().cloned();
        assert!(bridge.kept.is_none() || first_of_other == bridge.kept, "{}", bridge.name);
        // Nothing that changes a drive, and nothing that takes garbage for data.
        for line in sent.lock().expect("one thread").iter() {
            let allowed = |one: &String| {
                matches!(one.as_str(), "--json=c" | "-i" | "-A" | "-d" | "/dev/sdz")
                    || memory::TYPES.contains(&one.as_str())
            };
            assert!(line.iter().all(allowed), "{}: {line:?}", bridge.name);
        }
    }
}

proptest! {
    /// Any text is read or refused.
    #[test]
    fn any_text_will_do(text in ".{0,200}", number in any::<i64>()) {
        let _ = Report::decode(&text);
        let odd = format!(
            "{{\"smartctl\":{{\"exit_status\":{number}}},\"temperature\":{{\"current\":{number}}},\
              \"ata_sct_temperature_history\":{{\"sampling_period_minutes\":{number},\
              \"logging_interval_minutes\":{number},\"table\":[{number}]}}}}"
        );
        let report = Report::decode(&odd).expect("JSON");
        prop_assert!(report.temperature.is_none_or(|kelvin| (233..=398).contains(&kelvin.as_kelvin())));
    }
}
