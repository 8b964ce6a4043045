//! Recorded answers, made-up bridges, and any bytes.

use std::path::PathBuf;
use std::sync::Arc;

use measure::Kelvin;
use proptest::prelude::*;

use super::*;

fn fixture(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/smartctl").join(name);
    std::fs::read_to_string(path).expect("a fixture")
}

fn decoded(name: &str) -> Report {
    Report::decode(&fixture(name)).expect("smartctl's JSON")
}

fn celsius(kelvin: Option<Kelvin>) -> Option<i32> {
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
        assert_eq!(
            (arguments[0], arguments[2], arguments.last().copied()),
            ("--json=c", "-d", Some("/dev/sdz"))
        );
        log.lock().expect("one thread").push(arguments[3].to_owned());
        Ok(if arguments[3] == right {
            format!(
                "{{\"smartctl\":{{\"exit_status\":0}},\"model_name\":\"M\",\"temperature\":{{{temperature}}}}}"
            )
        } else {
            fixture("unknown-bridge.json")
        })
    };
    (Smartctl::with("/dev/sdz", vec![format!("bridge of {right} {temperature}")], Box::new(run)), asked)
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
    assert_eq!((report.temperature, asked(&log).len()), (None, TYPES.len()));
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
    let run: Run = Box::new(|_| Err("smartctl is not installed".to_owned()));
    let mut missing = SmartctlSampler::new(Smartctl::with("/dev/sdz", Vec::new(), run), PERIOD_MIN);
    assert_eq!(missing.sample(Instant::ZERO).row.gap.as_deref(), Some("smartctl is not installed"));
}

#[test]
fn a_bridge_is_known_by_its_numbers() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let usb = folder.path().join("devices/usb2/2-1");
    let disk = usb.join("host3/block/sdq");
    std::fs::create_dir_all(&disk).expect("a scratch folder");
    std::fs::create_dir_all(folder.path().join("class/block")).expect("a scratch folder");
    for (name, text) in [("idVendor", "0bda\n"), ("idProduct", "9210\n"), ("bcdDevice", "2001\n")] {
        std::fs::write(usb.join(name), text).expect("a scratch file");
    }
    std::os::unix::fs::symlink(&disk, folder.path().join("class/block/sdq")).expect("a link");
    assert_eq!(usb_bridge(folder.path(), "sdq").as_deref(), Some("bridge 0bda:9210 2001"));
    assert_eq!(usb_bridge(folder.path(), "sdx"), None);
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
