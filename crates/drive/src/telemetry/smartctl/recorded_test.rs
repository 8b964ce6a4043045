//! What people saw of smartctl behind their bridges, from public threads: lines as it printed them, or its JSON.
//!
//! Text is turned into the JSON that smartctl prints beside it (smartctl(8), `--json=o` shows both). Most excerpts end before
//! the health log; then the drive's name is all that is asked for. A way that nobody recorded is answered with an error.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::test::{celsius, fixture};
use super::*;

/// One recording of `fixtures/smartctl/recorded.json`.
#[derive(serde::Deserialize)]
struct Recording {
    source: String,
    what: String,
    vendor: String,
    product: String,
    version: Option<String>,
    /// Lines, `{"json": ..}`, or `{"hangs_s": .., "then": lines}`, by type.
    answers: BTreeMap<String, Value>,
    /// Types in the order in which they must be asked.
    asked: Vec<String>,
    kept: Option<String>,
    model: Option<String>,
    celsius: Option<i32>,
    tmt1_seconds: Option<u32>,
}

/// smartctl's JSON of what it printed.
fn json_of(lines: &[Value]) -> String {
    let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
    let field = |names: &[&str]| {
        let value = |line: &str| {
            let rest = names.iter().find_map(|name| line.strip_prefix(name));
            rest.map(|rest| rest.trim().to_owned())
        };
        lines.iter().find_map(|line| value(line))
    };
    let number = |name: &str| -> Option<i64> {
        let text = field(&[name])?;
        text.split_whitespace().next()?.replace(',', "").parse().ok()
    };
    let model = field(&["Model Number:", "Device Model:"])
        .or_else(|| Some(format!("{} {}", field(&["Vendor:"])?, field(&["Product:"])?)));
    let error = lines.iter().find(|line| line.contains(" failed: ") || line.contains("Unknown USB bridge"));
    // smartctl(8), "EXIT STATUS": 1 command line, 2 device open or identify, 4 a command that must work.
    let exit_status = match error {
        Some(line) if line.contains("Unknown USB bridge") => 1,
        Some(_) => 2,
        None if lines.iter().any(|line| line.contains("mandatory SMART command failed")) => 4,
        None => 0,
    };
    let messages: Vec<Value> =
        error.iter().map(|line| json!({"string": line, "severity": "error"})).collect();
    let current = number("Temperature:").or_else(|| number("Current Drive Temperature:"));
    json!({
        "smartctl": {"exit_status": exit_status, "messages": messages},
        "model_name": model,
        "serial_number": field(&["Serial Number:", "Serial number:"]),
        "firmware_version": field(&["Firmware Version:", "Revision:"]),
        "temperature": {"current": current},
        "nvme_smart_health_information_log": {
            "data_units_written": number("Data Units Written:"),
            "warning_temp_time": number("Warning  Comp. Temperature Time:"),
            "temperature_sensors": [number("Temperature Sensor 1:"), number("Temperature Sensor 2:")],
            "thermal_mgmt_temperature_1_total_time": number("Thermal Temp. 1 Total Time:"),
        },
    })
    .to_string()
}

/// The recorded bridge, and the types that it was asked with.
fn played(recording: &Recording) -> (Smartctl, Arc<Mutex<Vec<String>>>) {
    let mut usb = UsbBridge::unknown(&recording.vendor, &recording.product);
    usb.version.clone_from(&recording.version);
    usb.world = crate::usb::world_of(&recording.vendor, &recording.product);
    let (asked, answers) = (Arc::new(Mutex::new(Vec::new())), recording.answers.clone());
    let log = Arc::clone(&asked);
    let run: Run = Box::new(move |arguments| {
        let allowed = |one: &&str| {
            matches!(*one, "--json=c" | "-i" | "-A" | "-d" | "/dev/sdz") || memory::TYPES.contains(one)
        };
        assert!(arguments.iter().all(allowed), "nothing that changes a drive: {arguments:?}");
        let way = arguments[arguments.iter().position(|one| *one == "-d").expect("a type") + 1];
        log.lock().expect("one thread").push(way.to_owned());
        match answers.get(way) {
            Some(Value::Array(lines)) => Ok(json_of(lines)),
            Some(answer) if answer.get("hangs_s").is_some() => Err(NoAnswer::TooLate("too late".to_owned())),
            Some(answer) => Ok(answer["json"].to_string()),
            None => Ok(json_of(&[json!("this way failed: nobody recorded it")])),
        }
    });
    let memory = BridgeMemory::new(vec![format!("{} {}", recording.source, recording.what)], None);
    (Smartctl::with("/dev/sdz", memory::order(Some(&usb)), memory, run), asked)
}

/// Goal: what real bridges said, honest and broken, is read or refused at little cost. Method: 21 recordings of 17 USB ids.
#[test]
fn recordings_are_read_refused_and_remembered() {
    let recordings: Vec<Recording> = serde_json::from_str(&fixture("recorded.json")).expect("own format");
    let ids: std::collections::BTreeSet<_> =
        recordings.iter().map(|one| (one.vendor.as_str(), one.product.as_str())).collect();
    assert!(ids.len() >= 12, "{ids:?}");
    for one in &recordings {
        let name = format!("{}, {}", one.source, one.what);
        let (mut drive, log) = played(one);
        let first = drive.ask(&["-A"]);
        let asked = || log.lock().expect("one thread").clone();
        assert_eq!(asked(), one.asked, "{name}");
        assert_eq!(drive.device_type(), one.kept.as_deref(), "{name}: {first:?}");
        assert_eq!(first.is_ok(), one.kept.is_some(), "{name}: {first:?}");
        let report = first.unwrap_or_default();
        assert_eq!(celsius(report.temperature), one.celsius, "{name}");
        assert!(one.model.is_none() || report.model == one.model, "{name}: {report:?}");
        let counters = report.counters.unwrap_or_default();
        assert_eq!(counters.tmt1_seconds, one.tmt1_seconds, "{name}");
        // Asked again: the way that worked alone; without one, all but what hung.
        let _ = drive.ask(&["-A"]);
        let again = asked().split_off(one.asked.len());
        let hung = |way: &String| one.answers.get(way).is_some_and(|answer| answer.get("hangs_s").is_some());
        assert!(!again.iter().any(hung), "{name}: {again:?}");
        assert!(one.kept.as_ref().is_none_or(|kept| again == [kept.clone()]), "{name}: {again:?}");
        // What it answers after the hang names nobody either.
        for late in one.answers.values().filter_map(|answer| answer["then"].as_array()) {
            let late = Report::decode(&json_of(late)).expect("smartctl's JSON");
            assert!(!late.is_somebody() && late.temperature.is_none(), "{late:?}");
        }
    }
}
