//! A row for each value of each series, telegraf's lines without timestamps, and titles that are labels.
//!
//! Tables are composed by hand, after Grafana's exports and telegraf's plugins; numbers are invented.

use import::{ImportError, ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

const MB: u32 = 1_000_000;

fn tried(text: &str, every_s: Option<f64>) -> Result<Trace, ImportError> {
    let source = vec![LogFile::from_bytes("log", text.as_bytes())];
    import(source, &ImportOptions { every_s, ..ImportOptions::default() })
}

fn speed(n: u32) -> u32 {
    (1500 + 10 * (n % 3)) * MB
}

/// What all tables here say, whatever they look like.
fn check(trace: &Trace, text: &str) {
    let write = trace.speeds.iter().find(|one| one.op == SegmentOp::Write).expect(text);
    let rates: Vec<f64> = write.intervals.iter().map(|one| one.bytes_per_s().round()).collect();
    let wanted: Vec<f64> = (0..9).map(|n| f64::from(speed(n))).collect();
    assert!(rates.ends_with(&wanted[1..]), "{text}: {rates:?}");
    let kelvin: Vec<f64> = trace.temperatures[0].kelvin.points().iter().map(|one| one.value).collect();
    assert_eq!(kelvin, (0..9).map(|n| f64::from(333 + n)).collect::<Vec<_>>(), "{text}");
}

#[test]
fn series_are_told_apart_in_any_order_of_rows() {
    let rows = |time_first: bool, header: &str, separator: &str| -> String {
        let time = |n: u32| format!("2026-11-22 09:40:{:02}", 5 * n);
        let write = |n: u32| ("nvme0n1 written", format!("{}", speed(n)));
        let heat = |n: u32| ("nvme0 temperature", format!("{}", 60 + n));
        let all: Vec<(u32, (&str, String))> = match time_first {
            true => (0..9).flat_map(|n| [(n, write(n)), (n, heat(n))]).collect(),
            false => (0..9).map(|n| (n, write(n))).chain((0..9).map(|n| (n, heat(n)))).collect(),
        };
        let row = |(n, (series, value)): &(u32, (&str, String))| {
            let cells = match header.starts_with("Time") {
                true => [time(*n), (*series).to_owned(), value.clone()],
                false => [(*series).to_owned(), time(*n), value.clone()],
            };
            cells.join(separator)
        };
        let rows: Vec<String> = all.iter().map(row).collect();
        format!("{header}\n{}\n", rows.join("\n"))
    };
    for time_first in [true, false] {
        for (header, separator) in
            [("\"Series\";\"Time\";\"Value\"", ";"), ("Series,Time,Value", ","), ("Time,Metric,Value", ",")]
        {
            let text = rows(time_first, header, separator);
            check(&tried(&text, None).expect(&text), &text);
        }
    }
}

#[test]
fn rows_without_a_time_are_refused_with_their_place() {
    let why =
        tried("Series;Time;Value\nnvme0n1 written;yesterday;5\n", None).expect_err("no time").to_string();
    assert!(why.contains("line 2") && why.contains("no date and time"), "{why}");
}

#[test]
fn titles_of_labels_are_of_their_words_or_their_sensor() {
    let mut text = "\"Time\",\"{device=\"\"nvme0n1\"\", instance=\"\"a:9100\"\"} - written\",\"{chip=\"\"nvme_nvme0\"\", sensor=\"\"temp1\"\"}\",\"{chip=\"\"nvme_nvme0\"\", sensor=\"\"temp2\"\"}\"\n".to_owned();
    for n in 0..9 {
        text += &format!("2026-11-22 09:40:{:02},{},{},75\n", 5 * n, speed(n), 60 + n);
    }
    let trace = tried(&text, None).expect("a table");
    check(&trace, &text);
    let names: Vec<&str> = trace.temperatures.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["composite", "sensor1"]);
}

/// Lines of telegraf; the counter grows by what is moved in 5 s.
fn lines(stamp: &dyn Fn(u32) -> String, heat: &dyn Fn(u32) -> String) -> String {
    let mut moved: u64 = 5_000_000_000;
    let mut text = String::new();
    for n in 0..9 {
        moved += 5 * u64::from(speed(n));
        text += &format!(
            "diskio,host=a,name=nvme0n1 read_bytes=0i,write_bytes={moved}i{}\n{}{}\n",
            stamp(n),
            heat(n),
            stamp(n)
        );
    }
    text
}

#[test]
fn lines_without_timestamps_are_as_far_apart_as_is_said() {
    let heat = |n: u32| format!("smart_device,device=nvme0,host=a temp_c={}i", 60 + n);
    let untimed = lines(&|_| String::new(), &heat);
    check(&tried(&untimed, Some(5.0)).expect("lines"), &untimed);
    let why = tried(&untimed, None).expect_err("no times").to_string();
    assert!(why.contains("--every"), "{why}");
    // Some with and some without tell no course of time.
    let timed = lines(&|n| format!(" {}000000000", 1_795_340_400 + 5 * n), &heat);
    assert!(tried(&format!("{timed}{untimed}"), Some(5.0)).is_err());
}

#[test]
fn temperatures_of_telegraf_are_the_composite_one() {
    let stamp = |n: u32| format!(" {}000000000", 1_795_340_400 + 5 * n);
    let heats: [&dyn Fn(u32) -> String; 3] = [
        &|n| {
            format!(
                "temp,host=a,sensor=nvme_composite_crit temp=84\ntemp,host=a,sensor=nvme_composite temp={}",
                60 + n
            )
        },
        &|n| format!("temp,host=a,sensor=nvme_composite_input temp={}", 60 + n),
        &|n| format!("nvme,device=nvme0,host=a temperature={}i", 333 + n),
    ];
    for heat in heats {
        let timed = |n: u32| heat(n).replace("temp=84\n", &format!("temp=84{}\n", stamp(n)));
        let text = lines(&stamp, &timed);
        check(&tried(&text, None).expect(&text), &text);
    }
}

/// Telegraf's JSON as its serializers and what stores them write it.
#[test]
fn metrics_in_json_are_read_however_they_are_wrapped() {
    let metrics = |time: &dyn Fn(u32) -> String, quote: &str| -> Vec<String> {
        let mut moved: u64 = 5_000_000_000;
        let pair = |n: u32| {
            moved += 5 * u64::from(speed(n));
            [
                format!(
                    r#"{{"name": "diskio", "tags": {{"name": "nvme0n1"}}, "fields": {{"write_bytes": {quote}{moved}{quote}}}, "timestamp": {}}}"#,
                    time(n)
                ),
                format!(
                    r#"{{"name": "smart_device", "tags": {{"device": "nvme0"}}, "fields": {{"temp_c": {quote}{}{quote}}}, "timestamp": {}}}"#,
                    60 + n,
                    time(n)
                ),
            ]
        };
        (0..9).flat_map(pair).collect()
    };
    let seconds = |n: u32| format!("{}", 1_795_340_400 + 5 * n);
    let written = |n: u32| format!("\"2026-11-22T09:40:{:02}Z\"", 5 * n);
    for text in [
        metrics(&seconds, "").join("\n"),
        format!("[{}]", metrics(&seconds, "").join(",")),
        format!("{{\"metrics\": [{}]}}", metrics(&written, "").join(",")),
        metrics(&written, "\"").join("\n"),
    ] {
        check(&tried(&text, None).expect(&text), &text);
    }
}

/// Old kernels' sysstat names drives by numbers.
#[test]
fn a_slower_drive_is_no_partition() {
    let report = |s: u32, rates: [u32; 2]| {
        let rows: Vec<String> = rates
            .iter()
            .enumerate()
            .map(|(minor, rate)| {
                format!("09:40:{s:02}  dev259-{minor} 10.00 0.00 {rate}.00 8.00 1.00 0.50 0.05 90.00\n")
            })
            .collect();
        rows.concat()
    };
    let header = "Linux 4.18.0 (host) \t11/22/2026 \t_x86_64_\t(8 CPU)\n\n09:39:59  DEV tps rkB/s wkB/s areq-sz aqu-sz await svctm %util\n";
    let log = |slow: u32| -> String {
        let rows: String =
            (0..40).map(|s| report(s, [3_000_000, if s % 10 < 3 { 3_000_000 } else { slow }])).collect();
        format!("{header}{rows}")
    };
    let beside_sata = log(300_000).replace("dev259-0", "dev8-0").replace("dev259-1", "dev259-0");
    let why = tried(&beside_sata, None).expect_err("two drives").to_string();
    assert!(why.contains("dev259-0") && why.contains("dev8-0"), "{why}");
    let why = tried(&log(1_200_000), None).expect_err("two drives").to_string();
    assert!(why.contains("dev259-0") && why.contains("dev259-1") && why.contains("--device"), "{why}");
    assert_eq!(tried(&log(3_000_000), None).expect("a drive and its partition").name, "dev259-0");
}
