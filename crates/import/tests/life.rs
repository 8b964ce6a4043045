//! What readings tell of a drive's life, and what they do not tell: a speed from two of them.
//!
//! Documents are composed by hand, with the keys of smartctl 7.4 (`--json -x`), nvme-cli 2 and CrystalDiskInfo 9; what a
//! field means is from ACS-4 (device statistics, SCT status) and NVMe Base 2.0.

use import::{ImportOptions, LogFile, import};
use trace::{LifeCounters, Trace};

const T_S: u64 = 1_795_246_000;

fn read(files: &[(&str, String)]) -> Trace {
    let sources = files.iter().map(|(name, text)| LogFile::from_bytes(name, text.as_bytes()));
    import(sources.collect(), &ImportOptions::default()).expect("readings")
}

fn last(trace: &Trace) -> LifeCounters {
    trace.life.last().cloned().unwrap_or_default()
}

/// An NVMe drive as smartctl shows it.
fn nvme(after_s: u64, hours: u64, units_written: u64) -> String {
    let time_s = T_S + after_s;
    format!(
        r#"{{"smartctl": {{"version": [7, 4]}}, "local_time": {{"time_t": {time_s}}}, "temperature": {{"current": 40}},
        "nvme_smart_health_information_log": {{"critical_warning": 9, "temperature": 40, "available_spare": 3,
        "available_spare_threshold": 10, "percentage_used": 16, "data_units_read": 10, "data_units_written": {units_written},
        "power_on_hours": {hours}, "warning_temp_time": 100, "critical_comp_time": 0}}}}"#
    )
}

fn statistic(offset: u64, value: u64, is_valid: bool) -> String {
    format!(r#"{{"offset": {offset}, "name": "-", "value": {value}, "flags": {{"valid": {is_valid}}}}}"#)
}

#[test]
fn two_readings_or_readings_far_apart_are_no_load() {
    let reading = |name, after_s, units| (name, nvme(after_s, 1000 + after_s / 3600, units));
    let two = read(&[reading("a.json", 0, 1000), reading("b.json", 60, 3000)]);
    assert_eq!((two.speeds.len(), two.life.len()), (0, 2));
    let day = 86_400;
    let daily: Vec<_> = (0..5).map(|day_n| reading("a.json", day_n * day, 1000 * day_n)).collect();
    assert_eq!(read(&daily).speeds.len(), 0);
    let dense: Vec<_> = (0..5).map(|n| reading("a.json", n * 10, 1000 * n)).collect();
    assert_eq!(read(&dense).speeds[0].intervals.len(), 4);
    // A reading from long before the load is of the life, not of the load.
    let mut with_old = vec![reading("old.json", 0, 0)];
    with_old.extend((0..5).map(|n| reading("a.json", day + n * 10, 1000 + 1000 * n)));
    assert_eq!(read(&with_old).speeds[0].intervals.len(), 4);
}

#[test]
fn readings_of_a_life_may_lie_years_apart() {
    let years = read(&[("a.json", nvme(0, 1000, 0)), ("b.json", nvme(3 * 365 * 86_400, 20_000, 9))]);
    assert_eq!(years.life.len(), 2);
}

#[test]
fn warnings_and_spare_of_nvme_are_read_from_every_tool() {
    let smartctl = last(&read(&[("a.json", nvme(0, 1000, 0))]));
    let object = r#"{"critical_warning": {"value": 9, "available_spare": 1}, "temperature": 313, "avail_spare": 3,
        "spare_thresh": 10, "percent_used": 16, "data_units_read": 10, "data_units_written": 0,
        "power_on_hours": 1000, "warning_temp_time": 100, "critical_comp_time": 0}"#;
    let text = "Smart Log for NVME device:nvme0n1 namespace-id:ffffffff\ncritical_warning\t: 0x9\n\
        temperature\t: 40 C (313 Kelvin)\navailable_spare\t: 3%\navailable_spare_threshold\t: 10%\n\
        endurance group critical warning summary: 0xf\npower_on_hours\t: 1000\n";
    for life in
        [smartctl, last(&read(&[("b.json", object.to_owned())])), last(&read(&[("c.txt", text.to_owned())]))]
    {
        assert_eq!(life.critical_warning, Some(9));
        assert_eq!((life.spare_percent, life.spare_threshold_percent), (Some(3.0), Some(10.0)));
    }
}

#[test]
fn device_statistics_of_sata_drives_are_read_where_they_are_valid() {
    let page =
        |number: u64, table: &[String]| format!(r#"{{"number": {number}, "table": [{}]}}"#, table.join(", "));
    let pages = [
        "null".to_owned(),
        page(1, &[statistic(16, 14_551, true), statistic(24, 2000, true), statistic(40, 1000, true)]),
        page(5, &[statistic(32, 61, true), statistic(80, 12, false)]),
        page(7, &[statistic(8, 5, true)]),
    ];
    let text = format!(
        r#"{{"smartctl": {{"version": [7, 4]}}, "local_time": {{"time_t": {T_S}}}, "logical_block_size": 4096,
        "temperature": {{"current": 36, "op_limit_max": 70}},
        "ata_sct_status": {{"temperature": {{"current": 36, "over_limit_count": 37}}}},
        "ata_device_statistics": {{"pages": [{}]}}}}"#,
        pages.join(", ")
    );
    let trace = read(&[("sda.json", text)]);
    let life = last(&trace);
    assert_eq!((life.written_bytes, life.read_bytes), (Some(2000.0 * 4096.0), Some(1000.0 * 4096.0)));
    assert_eq!((life.power_on_h, life.used_percent, life.warning_min), (Some(14_551.0), Some(5.0), None));
    assert_eq!((life.hottest_k, life.over_limit), (Some(334.0), Some(37)));
    assert_eq!(trace.facts.warning_k, Some(343.0));
}

#[test]
fn gigabytes_of_scsi_drives_are_read_and_a_counter_of_ones_is_not() {
    let text = format!(
        r#"{{"smartctl": {{"version": [7, 4]}}, "local_time": {{"time_t": {T_S}}}, "temperature": {{"current": 30}},
        "scsi_percentage_used_endurance_indicator": 7, "scsi_error_counter_log": {{
        "read": {{"gigabytes_processed": "18446744073.709"}}, "write": {{"gigabytes_processed": "1234.5"}}}}}}"#
    );
    let life = last(&read(&[("sdb.json", text)]));
    assert_eq!((life.read_bytes, life.written_bytes), (None, Some(1_234.5e9)));
    assert_eq!(life.used_percent, Some(7.0));
}

#[test]
fn crystaldiskinfo_tells_of_sata_drives_whatever_its_language() {
    let text = "\
----------------------------------------------------------------------------
CrystalDiskInfo 9.4.4 (C) 2008-2024 hiyohiyo
----------------------------------------------------------------------------

    Date : 2026/11/21 10:20:30

----------------------------------------------------------------------------
 (01) EXAMPLE SATA
----------------------------------------------------------------------------
           Model : EXAMPLE SATA
  Power On Hours : 219 Stunden
      Host Reads : 48 GB
     Host Writes : 512 GB
     Temperature : 38 C (100 F)
   Health Status : Gut (97 %)
";
    let life = last(&read(&[("DiskInfo.txt", text.to_owned())]));
    assert_eq!((life.power_on_h, life.used_percent), (Some(219.0), Some(3.0)));
    assert_eq!(life.written_bytes, Some(512.0 * 1_073_741_824.0));
}

/// Text of nvme-cli 2, of the keys that are read.
fn smart_log(device: &str, written: u64) -> String {
    format!(
        "Smart Log for NVME device:{device} namespace-id:ffffffff\ncritical_warning : 0\ntemperature : 40 °C (313 K)\n\
         Data Units Written : {written}\npower_on_hours : 12\n"
    )
}

#[test]
fn texts_of_two_drives_are_not_joined_and_namespaces_are_one_drive() {
    let read_two = |one: &str, other: &str| {
        let files = [("a-1795246000.txt", smart_log(one, 10)), ("b-1795332400.txt", smart_log(other, 20))];
        let sources = files.iter().map(|(name, text)| LogFile::from_bytes(name, text.as_bytes()));
        import(sources.collect(), &ImportOptions::default())
    };
    for (one, other) in [("nvme0n1", "nvme1n1"), ("nvme1", "nvme10"), ("nvme0c0n1", "nvme2n1")] {
        let why = read_two(one, other).expect_err("two drives").to_string();
        assert!(why.contains("analyze one drive at a time") && why.contains("a-1795246000.txt"), "{why}");
    }
    for (one, other) in [("nvme0", "nvme0n1"), ("nvme0c0n1", "nvme0n2")] {
        assert_eq!(read_two(one, other).expect("one drive").life.len(), 2, "{one} {other}");
    }
    let both = format!("{}{}", smart_log("nvme0n1", 10), smart_log("nvme1n1", 20));
    let options = ImportOptions { every_s: Some(60.0), ..ImportOptions::default() };
    let why =
        import(vec![LogFile::from_bytes("both.txt", both.as_bytes())], &options).expect_err("two drives");
    assert!(why.to_string().contains("nvme1, another of that at nvme0"), "{why}");
}

#[test]
fn documents_of_smartctl_may_follow_one_another_in_any_way() {
    let all: Vec<String> =
        (0..4).map(|day| nvme(day * 86_400, 1000 + 24 * day, 1000 * day).replace('\n', "")).collect();
    for text in [
        all.join("\n"),
        all.concat(),
        format!("[{}]", all.join(",")),
        format!("{}\n{}", all[..2].concat(), all[2..].concat()),
    ] {
        let trace = read(&[("log.json", text)]);
        let hours: Vec<f64> = trace.life.iter().filter_map(|life| life.power_on_h).collect();
        assert_eq!(hours, [1000.0, 1024.0, 1048.0, 1072.0]);
    }
}

/// What smartctl says of a drive that sleeps (`-n standby`), and behind a bridge that tells no temperature.
const ASLEEP: &str = r#"{"json_format_version": [1, 0], "smartctl": {"version": [7, 4], "messages":
    [{"string": "Device is in STANDBY mode, exit(2)", "severity": "information"}], "exit_status": 2},
    "device": {"name": "/dev/sda", "info_name": "/dev/sda [SAT]"}"#;

/// A SATA drive at `celsius`, and the same while it sleeps, `after_s` from the first.
fn sata(after_s: u64, celsius: Option<u64>) -> String {
    let local_time = format!(r#""local_time": {{"time_t": {}}}"#, T_S + after_s);
    celsius.map_or(format!("{ASLEEP}, {local_time}}}\n"), |celsius| {
        format!(
            r#"{{"smartctl": {{"version": [7, 4]}}, {local_time}, "temperature": {{"current": {celsius}}}}}"#
        ) + "\n"
    })
}

#[test]
fn a_drive_that_sleeps_is_a_gap_and_no_error() {
    let shape = |trace: &Trace| {
        let kelvin = &trace.temperatures[0].kelvin;
        let times: Vec<f64> = kelvin.points().iter().map(|point| point.t.as_secs_f64()).collect();
        (times, kelvin.gaps().len())
    };
    let all = [sata(0, Some(30)), sata(60, None), sata(120, Some(31)), sata(180, Some(32)), sata(240, None)];
    let in_one = read(&[("a.json", all.concat())]);
    assert_eq!(shape(&in_one), (vec![0.0, 120.0, 180.0], 2));
    let names = ["a.json", "b.json", "c.json", "d.json", "e.json"];
    let apart: Vec<_> = names.into_iter().zip(all.clone()).collect();
    assert_eq!(shape(&read(&apart)), shape(&in_one));
    // Where smartctl stops before its information section, it says no time either.
    let untimed = all.concat() + ASLEEP + "}\n";
    let trace = read(&[("a.json", untimed)]);
    assert_eq!(shape(&trace), shape(&in_one));
    assert!(trace.notes.iter().any(|note| note.contains("left out")), "{:?}", trace.notes);
}

#[test]
fn a_file_in_which_no_document_says_anything_is_refused() {
    let text = sata(0, None) + &sata(60, None);
    let error = import(vec![LogFile::from_bytes("a.json", text.as_bytes())], &ImportOptions::default())
        .expect_err("nothing in it")
        .to_string();
    assert_eq!(
        error,
        "cannot read a.json, line 1: smartctl did not get at the drive (Device is in STANDBY mode, exit(2)): wake the drive, then run smartctl --json -x"
    );
}

/// A bridge that passes on counters alone: they tell of the drive's life.
#[test]
fn counters_without_a_temperature_are_of_the_life() {
    let reading = |after_s: u64, hours: u64| {
        let time_s = T_S + after_s;
        format!(
            r#"{{"smartctl": {{}}, "local_time": {{"time_t": {time_s}}}, "power_on_time": {{"hours": {hours}}}}}"#
        )
    };
    let trace = read(&[("a.json", reading(0, 10)), ("b.json", reading(36_000, 20))]);
    assert_eq!((trace.temperatures.len(), trace.life.len()), (0, 2));
}

#[test]
fn the_trip_temperature_of_a_sas_drive_is_its_warning_temperature() {
    for (trip, warning_k) in [("65", Some(338.0)), ("0", None), ("255", None)] {
        let text = format!(
            r#"{{"smartctl": {{}}, "local_time": {{"time_t": {T_S}}}, "device": {{"protocol": "SCSI"}},
            "temperature": {{"current": 31, "drive_trip": {trip}}}}}"#
        );
        let facts = read(&[("a.json", text)]).facts;
        assert_eq!((facts.warning_k, facts.critical_k), (warning_k, None), "{trip}");
    }
}

#[test]
fn nothing_is_told_by_0_degrees_behind_a_bridge() {
    let reading = |after_s: u64, protocol: &str, celsius: i32| {
        let time_s = T_S + after_s;
        format!(
            r#"{{"smartctl": {{}}, "local_time": {{"time_t": {time_s}}}, "device": {{"protocol": "{protocol}"}},
            "temperature": {{"current": {celsius}}}}}"#
        )
    };
    for (protocol, points) in [("ATA", 1), ("SCSI", 1), ("NVMe", 3)] {
        let all = [(0, 0), (60, 40), (120, -1)].map(|(after_s, celsius)| reading(after_s, protocol, celsius));
        let trace = read(&[("a.json", all.concat())]);
        let kelvin = &trace.temperatures[0].kelvin;
        assert_eq!((kelvin.points().len(), kelvin.gaps().len()), (points, 3 - points), "{protocol}");
    }
}

/// Rows of the attributes of an NVMe drive, with those for heat or without.
fn crystal_rows(with_heat: bool) -> String {
    let heat = "10 0000000000B4 A\n11 00000000000C B\n12 00000000014E C\n13 000000000158 D\n\
                1A 0000000000C8 E\n1B 000000000005 F\n1C 000000005460 G\n1D 00000000012C H\n";
    format!(
        "CrystalDiskInfo 9.7.2 (C) 2008-2025 hiyohiyo\n    Date : 2026/11/21 10:20:30\n (01) EXAMPLE NVME\n\
         \x20          Model : EXAMPLE NVME\n     Temperature : 61 C (141 F)\n\n-- S.M.A.R.T. ----------\n\
         ID RawValues(6) Attributname\n01 000000000000 1\n02 00000000014E 2\n03 000000000064 3\n04 00000000000A 4\n\
         05 000000000003 5\n06 0000058A6F1E 6\n07 000004066D3C 7\n08 00002D2A1C0F 8\n09 00003A1B2C3D 9\n\
         0A 000000001234 A\n0B 0000000004D2 B\n0C 000000001A85 C\n0F 000000000000 F\n{}",
        if with_heat { heat } else { "" }
    )
}

/// Goal: a text without the dump of the log page tells what its rows hold, and no zero where a row is missing.
#[test]
fn crystaldiskinfo_counts_throttling_in_its_rows() {
    let trace = read(&[("d.txt", crystal_rows(true))]);
    let life = last(&trace);
    assert_eq!((life.warning_min, life.critical_min), (Some(180.0), Some(12.0)));
    let told = life.throttling;
    assert_eq!((told.tmt1_transitions, told.tmt2_transitions), (Some(200), Some(5)));
    assert_eq!((told.tmt1_seconds, told.tmt2_seconds), (Some(21_600), Some(300)));
    assert_eq!((life.power_on_h, life.used_percent), (Some(6789.0), Some(3.0)));
    assert_eq!(life.written_bytes, Some(f64::from(0x0406_6d3c) * 512_000.0));
    let names: Vec<&str> = trace.temperatures.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["composite", "sensor1", "sensor2"]);
    assert_eq!(trace.temperatures[2].kelvin.points()[0].value, 344.0);
    let before = read(&[("d.txt", crystal_rows(false))]);
    let life = last(&before);
    assert_eq!((life.warning_min, life.throttling.tmt1_transitions), (None, None));
    assert!(before.notes.iter().any(|note| note.contains("before 9.7")), "{:?}", before.notes);
}

/// Goal: what smartctl calls the trip temperature of a SCSI drive is no warning temperature.
#[test]
fn a_trip_temperature_is_marked_as_one() {
    let text = "smartctl 7.4\nVendor: EXAMPLE\nProduct: SAS\nSerial number: S1\nLocal Time is: Sat Nov 21 10:20:30 2026 UTC\n\
                Current Drive Temperature:     45 C\nPercentage used endurance indicator: 4%\nDrive Trip Temperature:        70 C\n";
    let trace = read(&[("sas.txt", text.to_owned())]);
    assert_eq!((trace.facts.warning_k, last(&trace).trip_k), (Some(343.0), Some(343.0)));
    assert_eq!(last(&read(&[("a.json", nvme(0, 1000, 0))])).trip_k, None);
}

/// Goal: a drive that says that it fails is known by every tool that shows it. Method: SATA and SCSI in JSON and text; of NVMe drives the
/// status says no more than their warnings.
#[test]
fn a_failed_smart_status_and_media_errors_are_read() {
    let sata = |passed: bool| {
        format!(
            r#"{{"smartctl": {{"version": [7, 4]}}, "local_time": {{"time_t": {T_S}}}, "device": {{"protocol": "ATA"}},
            "smart_status": {{"passed": {passed}}}, "temperature": {{"current": 40}}, "power_on_time": {{"hours": 9}}}}"#
        )
    };
    let told = |text: String| last(&read(&[("a.json", text)]));
    assert!(told(sata(false)).has_failed && !told(sata(true)).has_failed);
    let nvme_failed = nvme(0, 1000, 0)
        .replace(
            r#""temperature": {"current": 40}"#,
            r#""smart_status": {"passed": false}, "temperature": {"current": 40}"#,
        )
        .replace(r#""percentage_used""#, r#""media_errors": 17, "percentage_used""#);
    let nvme_failed = told(nvme_failed);
    assert_eq!((nvme_failed.has_failed, nvme_failed.media_errors), (false, Some(17.0)));
    let text = |status: &str| {
        let text = format!(
            "smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.1.0] (local build)\n\n\
             === START OF READ SMART DATA SECTION ===\nSMART Health Status: {status}\n\n\
             Current Drive Temperature:     31 C\nDrive Trip Temperature:        70 C\n\
             Accumulated power on time, hours:minutes 1234:56\n"
        );
        last(&read(&[("a.txt", text)]))
    };
    assert!(
        text("FAILURE PREDICTION THRESHOLD EXCEEDED [asc=5d, ascq=10]").has_failed && !text("OK").has_failed
    );
}
