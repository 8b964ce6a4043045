//! Snapshots of drives as people keep them: numbers in the writing of their language, counters that are none, files whose names
//! and times say whose they are and when.
//!
//! Documents are composed by hand, with the keys and labels of nvme-cli 2, smartctl 7.4 and CrystalDiskInfo 9. Separators of
//! thousands are those of glibc's locales (fr_FR, de_CH, de_DE, en_IN and others).

use import::{ImportOptions, LogFile, import};
use trace::caveat::{Caveat, ClockDoubt};
use trace::{LifeCounters, Trace};

const T_S: f64 = 1_795_246_000.0;
const DAY_S: f64 = 86_400.0;

/// Files with when they were written.
fn tried(files: &[(&str, f64, String)]) -> Result<Trace, String> {
    let sources = files.iter().map(|(name, modified_s, text)| LogFile {
        modified_unix_s: Some(*modified_s),
        ..LogFile::from_bytes(name, text.as_bytes())
    });
    import(sources.collect(), &ImportOptions::default()).map_err(|error| error.to_string())
}

fn one(name: &str, text: String) -> Trace {
    tried(&[(name, T_S, text)]).expect(name)
}

fn last(trace: &Trace) -> LifeCounters {
    trace.life.last().cloned().unwrap_or_default()
}

/// Digits with a mark between groups of three, or as in India of two before the last three.
fn grouped(number: u64, mark: &str, is_indian: bool) -> String {
    let digits = number.to_string();
    let mut groups = Vec::new();
    let mut rest = digits.as_str();
    while rest.len() > 3 || (is_indian && !groups.is_empty() && rest.len() > 2) {
        let size = if is_indian && !groups.is_empty() { 2 } else { 3 };
        let (before, group) = rest.split_at(rest.len() - size);
        groups.push(group);
        rest = before;
    }
    groups.push(rest);
    groups.reverse();
    groups.retain(|group| !group.is_empty());
    groups.join(mark)
}

fn text(hours: &str, read: &str, written: &str) -> String {
    format!(
        "Smart Log for NVME device:nvme0n1 namespace-id:ffffffff\ncritical_warning : 0\ntemperature : 45 °C (318 K)\n\
         available_spare : 100%\npercentage_used : 7%\nData Units Read : {read} (6.32 TB)\nData Units Written : {written}\n\
         power_on_hours : {hours}\nThermal Management T1 Trans Count : 12\nThermal Management T2 Total Time : 60\n"
    )
}

/// Goal: what goes in comes out, whatever the language. Method: counters from one digit to thirteen in each grouping.
#[test]
fn counters_in_text_are_read_in_any_language() {
    let marks = ["", ",", ".", " ", "\u{a0}", "\u{202f}", "\u{2009}", "'", "\u{2019}", "_", "\u{66c}"];
    let mut seed = 34_u64;
    for mark in marks {
        for is_indian in [false, true] {
            for digits in 1..=12 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let number = 10_u64.pow(digits) + (seed >> 11) % (9 * 10_u64.pow(digits));
                let hours = number % 100_000;
                let write = |number| grouped(number, mark, is_indian);
                let trace = one("a.txt", text(&write(hours), &write(number / 2), &write(number)));
                let life = last(&trace);
                assert_eq!(life.power_on_h, Some(hours as f64), "{mark:?}");
                assert_eq!(life.written_bytes, Some(number as f64 * 512_000.0), "{mark:?} {number}");
                assert_eq!(life.read_bytes, Some((number / 2) as f64 * 512_000.0), "{mark:?} {number}");
                assert_eq!((life.used_percent, trace.notes.len()), (Some(7.0), 0), "{:?}", trace.notes);
            }
        }
    }
}

#[test]
fn a_number_that_cannot_be_told_is_left_out_with_a_note() {
    let trace = one("a.txt", text("12 345 6", "n/a", "1.234,567"));
    let life = last(&trace);
    assert_eq!((life.power_on_h, life.read_bytes, life.written_bytes), (None, None, None));
    let note = &trace.notes[0];
    assert!(note.starts_with("a.txt: values that cannot be, left out: "), "{note}");
    for lost in ["power_on_hours : 12 345 6", "Data Units Read : n/a", "Data Units Written : 1.234,567"] {
        assert!(note.contains(lost), "{note}");
    }
}

/// A reading of nvme-cli's JSON, with some keys more.
fn json(more: &str) -> String {
    format!("{{\"critical_warning\": 0, \"temperature\": 318, \"avail_spare\": 100{more}}}")
}

#[test]
fn counters_below_zero_count_nothing_and_are_named() {
    let nvme = one(
        "a.json",
        json(r#", "warning_temp_time": -1, "thm_temp1_total_time": -5, "power_on_hours": "x""#),
    );
    let smartctl = one(
        "b.json",
        r#"{"smartctl": {}, "local_time": {"time_t": 1795246000}, "temperature": {"current": 45}, "power_on_time": {"hours": -3},
        "nvme_smart_health_information_log": {"warning_temp_time": -1, "percentage_used": 5}}"#.to_owned(),
    );
    for trace in [&nvme, &smartctl] {
        let life = last(trace);
        assert_eq!((life.warning_min, life.throttling.tmt1_seconds, life.power_on_h), (None, None, None));
        assert!(trace.notes.iter().any(|note| note.contains("warning_temp_time: -1")), "{:?}", trace.notes);
    }
    assert!(nvme.notes[0].contains("thm_temp1_total_time: -5, power_on_hours: \"x\""), "{:?}", nvme.notes);
    assert!(smartctl.notes[0].contains("power_on_time/hours: -3"), "{:?}", smartctl.notes);
}

#[test]
fn a_file_name_tells_whose_a_reading_is() {
    let of = |one: &str, other: &str| tried(&[(one, T_S, json("")), (other, T_S + 7.0 * DAY_S, json(""))]);
    let why = of("nvme0n1-2026-11-21.json", "nvme1n1-2026-11-28.json").expect_err("two drives");
    assert!(why.contains("the drive at nvme1, nvme0n1-2026-11-21.json of that at nvme0"), "{why}");
    for (one, other) in
        [("nvme0n1-a.json", "nvme0n2-b.json"), ("nvme0-a.json", "b.json"), ("a.json", "b.json")]
    {
        assert_eq!(of(one, other).map(|trace| trace.life.len()), Ok(2), "{one}");
    }
}

/// A reading of smartctl without a serial number, or with one.
fn smartctl(day: u32, model: &str, serial: &str) -> String {
    let time_s = T_S + f64::from(day) * DAY_S;
    let serial = if serial.is_empty() { String::new() } else { format!("\"serial_number\": {serial:?}, ") };
    format!(
        "{{\"smartctl\": {{}}, \"model_name\": {model:?}, {serial}\"local_time\": {{\"time_t\": {time_s}}}, \
         \"temperature\": {{\"current\": 40}}, \"power_on_time\": {{\"hours\": 100}}}}"
    )
}

#[test]
fn readings_of_two_models_are_of_two_drives_unless_serial_numbers_say_else() {
    let of = |one: (&str, &str), other: (&str, &str)| {
        tried(&[("a.json", T_S, smartctl(0, one.0, one.1)), ("b.json", T_S, smartctl(1, other.0, other.1))])
    };
    for (one, other) in [(("A", ""), ("B", "")), (("A", "S1"), ("B", "")), (("A 1TB", ""), ("A 2TB", ""))] {
        let why = of(one, other).expect_err("two drives");
        assert!(why.contains("analyze one drive at a time, with --device"), "{why}");
    }
    for (one, other) in [
        (("A", "S1"), ("Bridge", "S1")),
        (("Samsung SSD 980", ""), ("SSD 980", "")),
        (("ssd  980 ", ""), ("SSD 980", "")),
        (("A", ""), ("", "")),
    ] {
        assert_eq!(of(one, other).map(|trace| trace.life.len()), Ok(2), "{one:?} {other:?}");
    }
    let device = ImportOptions { device: Some("B".into()), ..ImportOptions::default() };
    let files = [smartctl(0, "A", ""), smartctl(1, "B", "")];
    let sources = files.iter().map(|text| LogFile::from_bytes("a.json", text.as_bytes())).collect();
    assert_eq!(import(sources, &device).map(|trace| trace.life.len()).ok(), Some(1));
}

/// Weekly snapshots whose names have dates, as they were written and after they were copied.
#[test]
fn dates_in_names_are_taken_where_files_were_copied() {
    let hours = |week: u32| json(&format!(", \"power_on_hours\": {}", 1000 + 168 * week));
    let names = ["nvme0n1-2026-11-21.json", "nvme0n1-2026-11-28.json", "nvme0n1-2026-12-05.json"];
    let at = |modified_s: fn(f64) -> f64| {
        let files: Vec<_> = (0..3)
            .map(|week| (names[week as usize], T_S + modified_s(f64::from(week)), hours(week)))
            .collect();
        tried(&files).expect("weekly")
    };
    let span_s = |trace: &Trace| last(trace).t_s - trace.life[0].t_s;
    let has = |trace: &Trace, doubt| trace.caveats.contains(&Caveat::Clock(doubt));
    let written = at(|week| week * 7.0 * DAY_S + 3600.0);
    assert!(has(&written, ClockDoubt::FileTimes) && !has(&written, ClockDoubt::DatesInNames));
    for copied in
        [at(|week| 0.004 * week), at(|_| 0.0), at(|week| -week), at(|week| 30.0 * DAY_S + 60.0 * week)]
    {
        assert!(has(&copied, ClockDoubt::DatesInNames) && !has(&copied, ClockDoubt::FileTimes));
        assert_eq!((span_s(&copied), copied.life.len()), (14.0 * DAY_S, 3));
        let hours: Vec<_> = copied.life.iter().filter_map(|life| life.power_on_h).collect();
        assert_eq!(hours, [1000.0, 1168.0, 1336.0]);
    }
    // Readings of one day go by when they were written.
    let of_a_day: Vec<_> = (0..3)
        .map(|n| {
            (
                ["a-2026-11-21-1.json", "a-2026-11-21-2.json", "a-2026-11-21-3.json"][n as usize],
                T_S + f64::from(n) * 10.0,
                hours(0),
            )
        })
        .collect();
    assert_eq!(span_s(&tried(&of_a_day).expect("a minute")), 20.0);
}

/// Copies are written in the order of their names.
#[test]
fn copies_are_in_the_order_of_their_hours_powered_on() {
    let reading = |hours: u32| json(&format!(", \"power_on_hours\": {hours}"));
    let hours = |files: &[(&str, f64, String)]| -> Vec<f64> {
        tried(files).expect("one drive").life.iter().filter_map(|life| life.power_on_h).collect()
    };
    let copied = [("after.json", T_S, reading(1168)), ("before.json", T_S + 0.004, reading(1000))];
    assert_eq!(hours(&copied), [1000.0, 1168.0]);
    // Files that were written when they were read are in that order: the hours fell.
    let reset = [("a.json", T_S, reading(1168)), ("b.json", T_S + 30.0 * DAY_S, reading(1000))];
    assert_eq!(hours(&reset), [1168.0, 1000.0]);
}

fn crystal(reads: &str, writes: &str, temperature: &str) -> String {
    format!(
        "CrystalDiskInfo 9.4.4 (C) 2008-2024 hiyohiyo\n    Date : 2026/11/21 10:20:30\n (01) EXAMPLE SATA\n\
         -----\n           Model : EXAMPLE SATA\n  Power On Hours : 5,000 hours\n      Host Reads : {reads}\n     Host Writes : {writes}\n\
         \x20    Temperature : {temperature}\n   Health Status : Good (97 %)\n"
    )
}

#[test]
fn crystaldiskinfo_counts_in_the_units_that_it_writes() {
    const GIB: f64 = 1_073_741_824.0;
    for (writes, bytes) in
        [("19073 GB", 19_073.0 * GIB), ("19,073 GB", 19_073.0 * GIB), ("18.6 TB", 18.6 * 1024.0 * GIB)]
    {
        let trace = one("d.txt", crystal("48 GB", writes, "113 F"));
        let life = last(&trace);
        assert_eq!((life.written_bytes, life.read_bytes), (Some(bytes), Some(48.0 * GIB)), "{writes}");
        assert_eq!((life.power_on_h, trace.notes.len()), (Some(5000.0), 0), "{:?}", trace.notes);
        assert_eq!(trace.temperatures[0].kelvin.points()[0].value, 318.0);
    }
    let trace = one("d.txt", crystal("48 sectors", "----", "45 C (113 F)"));
    assert_eq!((last(&trace).read_bytes, last(&trace).written_bytes), (None, None));
    assert!(trace.notes[0].contains("Host Reads : 48 sectors"), "{:?}", trace.notes);
}

/// Goal: no temperature that a drive kept is lost. Method: two histories of a SATA drive, a week apart and half an hour apart, the older with
/// a hot hour, and a newest slot that is not the reading beside it.
#[test]
fn histories_of_several_readings_are_put_together() {
    let reading = |t: u64, table: [i32; 6], now: i32| {
        let table: Vec<String> = table.iter().map(i32::to_string).collect();
        format!(
            "{{\"smartctl\": {{}}, \"json_format_version\": [1, 0], \"local_time\": {{\"time_t\": {t}}}, \"serial_number\": \"S1\", \"temperature\": {{\"current\": {now}}}, \"ata_sct_temperature_history\": {{\"logging_interval_minutes\": 10, \"table\": [{}]}}}}",
            table.join(",")
        )
    };
    let first = reading(1_795_246_000, [40, 41, 75, 76, 44, 43], 43);
    for (apart_s, readings) in [(604_800, 12), (1_800, 9)] {
        let second = reading(1_795_246_000 + apart_s, [76, 44, 43, 41, 40, 80], 36);
        let files = [("a.json", first.as_str()), ("b.json", second.as_str())];
        let sources = files.iter().map(|(name, text)| LogFile::from_bytes(name, text.as_bytes()));
        let trace = import(sources.collect(), &ImportOptions::default()).expect("two readings");
        let degrees: Vec<f64> =
            trace.temperatures[0].kelvin.points().iter().map(|p| p.value - 273.0).collect();
        assert_eq!(degrees[..4], [40.0, 41.0, 75.0, 76.0], "{apart_s} s: {degrees:?}");
        assert_eq!(degrees[degrees.len() - 2..], [80.0, 36.0], "{apart_s} s: {degrees:?}");
        assert!(degrees.len() >= readings && degrees.len() <= readings + 2, "{apart_s} s: {degrees:?}");
    }
}

/// Goal: a drive that keeps no limit has none. Method: what disks that leave SCT's limits and their highest temperature out answer there.
#[test]
fn a_limit_of_zero_or_of_all_ones_is_none() {
    for none in [0, 255] {
        let text = format!(
            "{{\"smartctl\": {{}}, \"temperature\": {{\"current\": 30, \"op_limit_max\": {none}, \"limit_max\": {none}, \"lifetime_max\": {none}}}, \"power_on_time\": {{\"hours\": 9}}}}"
        );
        let trace = one("a.json", text);
        assert_eq!(
            (trace.facts.warning_k, trace.facts.critical_k, last(&trace).hottest_k),
            (None, None, None)
        );
    }
    let text = "{\"smartctl\": {}, \"temperature\": {\"current\": 30, \"op_limit_max\": 70, \"lifetime_max\": 49}, \"power_on_time\": {\"hours\": 9}}";
    let trace = one("a.json", text.to_owned());
    assert_eq!((trace.facts.warning_k, last(&trace).hottest_k), (Some(343.0), Some(322.0)));
}

/// Goal: one value that cannot be does not cost a snapshot, and is shown as it stands. Method: a drive of 12,000 °C with counters, and one
/// that says nothing else.
#[test]
fn a_temperature_that_cannot_be_is_left_out_beside_counters() {
    let text = |more: &str| {
        format!(
            "smartctl 7.4\nModel Number: EXAMPLE\nLocal Time is: Sat Nov 21 10:20:30 2026 UTC\nTemperature: 12000 Celsius\n{more}"
        )
    };
    let trace = one(
        "a.txt",
        text("Temperature Sensor 1: 12000 Celsius\nTemperature Sensor 2: 63 Celsius\nPower On Hours: 28\n"),
    );
    assert_eq!((last(&trace).power_on_h, trace.temperatures.len()), (Some(28.0), 1));
    assert!(trace.notes.iter().any(|note| note.contains("temperature: 12000 °C")), "{:?}", trace.notes);
    let why = tried(&[("a.txt", T_S, text(""))]).expect_err("nothing else");
    assert!(why.contains("12000 °C is no temperature of a drive"), "{why}");
}

/// Goal: who could not read a drive is told what to do, and not to do the same again.
#[test]
fn what_smartctl_could_not_do_has_a_next_step() {
    let of = |said: &str| tried(&[("a.txt", T_S, format!("smartctl 7.4\n\n{said}\n"))]).expect_err(said);
    let denied = of("Smartctl open device: /dev/nvme0 failed: Permission denied");
    assert!(denied.ends_with("run it as root: `sudo smartctl --json -x DEVICE`"), "{denied}");
    let bridge = of("/dev/sdb: Unknown USB bridge [0x152d:0x0583 (0x214)]");
    assert!(bridge.contains("-d sntasmedia") && bridge.contains("-d sntjmicron"), "{bridge}");
    let two = of(&format!("Temperature: 40 Celsius\n{}", text("1", "2", "3")));
    assert!(two.contains("text of smartctl and of `nvme smart-log`: cut it"), "{two}");
}

/// Goal: identify data alone are no reading, and what they say of heat is shown.
#[test]
fn identify_data_alone_show_their_thresholds() {
    let text = r#"{"sn": "S1", "mn": "EXAMPLE", "wctemp": 355, "cctemp": 358, "mntmt": 318, "mxtmt": 356}"#;
    let trace = one("id.json", text.to_owned());
    let note = "identify data alone (WCTEMP 82 °C, CCTEMP 85 °C, TMT1 and TMT2 from 45 °C to 83 °C)";
    assert!(trace.notes.iter().any(|told| told.starts_with(note)), "{:?}", trace.notes);
}
