//! Logs of other tools to traces: good ones to what is written down, bad ones to errors that name their place.
//!
//! Goal: what becomes of every field stays as it is, and sums agree with what the tools themselves report.

use std::path::{Path, PathBuf};

use analysis::findings::{Label, Segment, SegmentOp};
use analysis::wording;
use import::{Format, ImportError, ImportOptions, LogFile, import};
use trace::Trace;
use trace::caveat::Caveat;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/import").join(name)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> =
        std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    all.sort();
    all
}

/// The files of a folder as one run, named without the folder.
fn imported(files: &[PathBuf], options: &ImportOptions) -> Result<Trace, ImportError> {
    let contents: Vec<(String, Vec<u8>)> = files
        .iter()
        .map(|file| {
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read(file).expect("a readable file"))
        })
        .collect();
    let sources = contents.iter().map(|(name, bytes)| LogFile::from_bytes(name, bytes));
    import(sources.collect(), options)
}

fn good(name: &str) -> Trace {
    imported(&entries(&folder("good").join(name)), &ImportOptions::default()).expect("a good run")
}

/// What a trace holds, in few lines.
fn described(trace: &Trace) -> String {
    let mut text = format!("{}\n", trace.name);
    for series in &trace.speeds {
        let bytes: f64 = series.intervals.iter().map(|i| i.bytes).sum();
        let (first, last) = (&series.intervals[0], &series.intervals[series.intervals.len() - 1]);
        text += &format!(
            "{:?}: {bytes:.0} B in {} intervals from {:.3} s to {:.3} s, the first with {:.1} MB/s\n",
            series.op,
            series.intervals.len(),
            first.start_s,
            last.end_s(),
            first.bytes_per_s() / 1e6
        );
    }
    for phase in &trace.phases {
        let limit =
            phase.rate_limit_bytes_per_s.map_or(String::new(), |rate| format!(", at most {rate} B/s"));
        let how = if phase.inferred { ", inferred" } else { "" };
        text += &format!(
            "phase {}: {:?} {:.2} s to {:.2} s{limit}{how}\n",
            phase.name, phase.op, phase.start_s, phase.end_s
        );
    }
    for sensor in &trace.temperatures {
        let points = sensor.kelvin.points();
        let ends = points
            .first()
            .zip(points.last())
            .map(|(a, b)| format!("{} K at {} to {} K at {}", a.value, a.t, b.value, b.t));
        text += &format!(
            "{}: {} readings, {} gaps, {}\n",
            sensor.name,
            points.len(),
            sensor.kelvin.gaps().len(),
            ends.unwrap_or_default()
        );
    }
    for point in trace.counters.points().last().iter().chain(&trace.counters.points().first()) {
        text += &format!("counters at {}: {:?}\n", point.t, point.value);
    }
    if let Some(power) = trace.power_w.points().last() {
        text += &format!("power at {}: {} W\n", power.t, power.value);
    }
    let facts = format!("{:?}", trace.facts);
    text += &format!("{facts}\nI/O errors {}\n", trace.io_errors);
    trace.notes.iter().for_each(|note| text += &format!("note: {note}\n"));
    let caveats = trace.caveats.iter().map(|one| (wording::kind(one), wording::caveat(one)));
    caveats.for_each(|(kind, sentence)| text += &format!("caveat {kind}: {sentence}\n"));
    text
}

#[test]
fn good_runs_become_what_is_written_down() {
    for case in entries(&folder("good")) {
        let name = case.file_name().expect("a name").to_string_lossy().into_owned();
        insta::assert_snapshot!(name.clone(), described(&good(&name)));
    }
}

#[test]
fn bad_files_are_refused_with_their_place() {
    let mut text = String::new();
    for file in entries(&folder("bad")) {
        let error = imported(&[file], &ImportOptions::default()).expect_err("a bad file");
        text += &format!("{error}\n");
    }
    insta::assert_snapshot!("bad", text);
}

/// Goal: one of several drives is named by its number, model or nothing else; what one page says is of that drive.
#[test]
fn a_drive_of_crystaldiskinfo_is_named() {
    let file = folder("bad").join("crystaldiskinfo-three-drives.txt");
    let of = |device: &str| {
        let device = Some(device.to_owned());
        imported(std::slice::from_ref(&file), &ImportOptions { device, ..ImportOptions::default() })
    };
    for (device, model, composite_k) in [
        ("1", "SAMSUNG MZVLB256HBHQ-000L7", 304.0),
        ("02", "Lexar SSD NM790 4TB", 306.0),
        ("Samsung SSD 870 QVO 4TB", "Samsung SSD 870 QVO 4TB", 302.0),
    ] {
        let trace = of(device).expect(device);
        let first = trace.temperatures[0].kelvin.points()[0].value;
        assert_eq!((trace.name.as_str(), first), (model, composite_k), "{device}");
    }
    let why = of("4").expect_err("there is none").to_string();
    assert!(why.contains("it has nothing of 4; there are 1 SAMSUNG MZVLB256HBHQ-000L7, 2 Lexar"), "{why}");
}

/// Sums of all runs of fio against fio's own totals, read here without the importer.
#[test]
fn what_fio_logged_adds_up_to_what_fio_reports() {
    for (case, json, windows) in [
        ("fio-mix", "mix.json", 24.0),
        ("fio-epoch-three-jobs", "j.json", 8.0),
        ("fio-one-file-for-all-jobs", "q.json", 6.0),
        ("fio-one-after-the-other", "w.json", 20.0),
        ("fio-group-reporting", "m.json", 6.0),
        ("fio-pauses", "t.json", 30.0),
        ("fio-status-interval", "s.json", 1e9),
    ] {
        let text = std::fs::read_to_string(folder("good").join(case).join(json)).expect("fio's JSON");
        // With a status interval the last document is the final one.
        let last = text.rfind("\n{").map_or(0, |at| at + 1);
        let report: serde_json::Value = serde_json::from_str(&text[last..]).expect("JSON");
        let trace = good(case);
        for (op, key) in [(SegmentOp::Read, "read"), (SegmentOp::Write, "write")] {
            let jobs = report["jobs"].as_array().expect("jobs").iter();
            let reported: f64 = jobs.map(|job| job[key]["io_bytes"].as_f64().expect("a number")).sum();
            let series = trace.speeds.iter().find(|series| series.op == op);
            let found: f64 = series.map_or(0.0, |s| s.intervals.iter().map(|i| i.bytes).sum());
            // fio does not write the last window of a log; the values are whole KiB/s.
            assert!(found <= 1.005 * reported, "{case} {key}: {found} of {reported}");
            assert!(found >= reported * (1.0 - 1.0 / windows) * 0.995, "{case} {key}: {found} of {reported}");
        }
    }
}

/// Sums of real answers against what Prometheus said of the whole range, less what moved while nothing was scraped: no
/// speed is known there.
#[test]
fn what_prometheus_answers_adds_up_to_what_it_counts_itself() {
    // Which answer and metric, by how much it moved as Prometheus has it, and bytes for each unit.
    for (case, metric, op, counted, unit) in [
        ("prometheus-real-disk", "node_disk_read_bytes_total", SegmentOp::Read, 608_833_536.0, 1.0),
        ("prometheus-real-disk", "node_disk_written_bytes_total", SegmentOp::Write, 1_211_736_064.0, 1.0),
        ("prometheus-real-textfile", "nvme_data_units_written_total", SegmentOp::Write, 76_000.0, 512_000.0),
    ] {
        let (points, found) = (prometheus_points(case, metric), moved(case, op));
        let unseen: f64 = points
            .windows(2)
            .filter(|pair| pair[1].0 - pair[0].0 > 3.0)
            .map(|pair| pair[1].1 - pair[0].1)
            .sum();
        let expected = (counted - unseen) * unit;
        assert!(points.windows(2).any(|pair| pair[1].0 - pair[0].0 > 3.0), "the outage is in it");
        assert!((found - expected).abs() < 1.0, "{case} {metric}: {found} of {expected}");
    }
    // Steps of 5 s bridge the outage; the first point lies 3 s later, when next to nothing was being read.
    let found = moved("prometheus-real-disk-5s", SegmentOp::Read);
    assert!((0.99 * 608_833_536.0..=608_833_536.0).contains(&found), "{found}");
}

/// Times and values of a metric, read here without the importer.
fn prometheus_points(case: &str, metric: &str) -> Vec<(f64, f64)> {
    let text = std::fs::read_to_string(folder("good").join(case).join("answer.json")).expect("an answer");
    let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let all = answer["data"]["result"].as_array().expect("series");
    let one = all.iter().find(|one| one["metric"]["__name__"] == metric).expect("the metric");
    let number = |value: &serde_json::Value| value.as_str().expect("text").parse().expect("a number");
    let points = one["values"].as_array().expect("values").iter();
    points.map(|point| (point[0].as_f64().expect("a time"), number(&point[1]))).collect()
}

fn moved(case: &str, op: SegmentOp) -> f64 {
    let trace = good(case);
    let series = trace.speeds.iter().find(|series| series.op == op).expect("the direction");
    series.intervals.iter().map(|i| i.bytes).sum()
}

#[test]
fn two_clocks_are_joined_by_what_is_said_or_by_what_the_data_show() {
    // Load for five minutes on a wall clock; temperatures on a clock of their own that began 30 s before it.
    let rate = |t: usize| if (60..300).contains(&t) { 2_000_000 } else { 100_000 };
    let log: String = (1..=400)
        .map(|t| format!("{}, {}, 1, 0, 0\n", 1_795_246_000_000u64 + 1000 * t as u64, rate(t)))
        .collect();
    let (mut k, mut csv) = (0.0, "t_s,temp_c\n".to_owned());
    for t in 0..430 {
        let load = if t >= 30 { rate(t - 30) as f64 / 1e6 } else { 0.0 };
        k += (load - k) * (1.0 - (-1.0f64 / 40.0).exp());
        csv += &format!("{t},{}\n", (40.0 + 15.0 * k).round());
    }
    let files = || {
        vec![LogFile::from_bytes("x_bw.1.log", log.as_bytes()), LogFile::from_bytes("t.csv", csv.as_bytes())]
    };
    let found = import(files(), &ImportOptions::default()).expect("an estimate");
    let estimated = |c: &&Caveat| matches!(c, Caveat::ClockOffsetEstimated { .. });
    let caveat = found.caveats.iter().find(estimated).expect("it is told");
    // The temperatures' clock begins 30 s before the load, so that the load begins at 30 s.
    let begins_s = found.speeds[0].intervals[0].start_s;
    assert!((begins_s - 30.0).abs() < 2.0, "{begins_s}: {caveat:?}");
    let said = ImportOptions { offsets: vec![("t.csv".into(), -30.0)], ..ImportOptions::default() };
    let found = import(files(), &said).expect("an offset");
    assert_eq!(found.speeds[0].intervals[0].start_s, 30.0);
    assert!(!found.caveats.iter().any(|c| estimated(&c)));
    // Told of the speeds alone, the temperatures follow by the estimate.
    let lead = ImportOptions { offsets: vec![("x_bw.1.log".into(), 30.0)], ..ImportOptions::default() };
    let found = import(files(), &lead).expect("an estimate");
    let begins_s = found.speeds[0].intervals[0].start_s;
    assert!((begins_s - 30.0).abs() < 2.0, "{begins_s}");
    let flat = LogFile::from_bytes("flat.csv", b"t_s,temp_c\n0,40\n1,40\n");
    let error =
        import(vec![LogFile::from_bytes("x_bw.1.log", log.as_bytes()), flat], &ImportOptions::default());
    let error = error.expect_err("nothing to go by").to_string();
    assert!(error.contains("--offset flat.csv=+0s"), "{error}");
    let misnamed = ImportOptions { offsets: vec![("u.csv".into(), 1.0)], ..ImportOptions::default() };
    assert!(import(files(), &misnamed).expect_err("no such file").to_string().contains("t.csv, x_bw.1.log"));
}

#[test]
fn wall_clocks_are_joined_as_they_are_and_better_speeds_win() {
    let log: String =
        (1..=60).map(|t| format!("{}, 1000, 0, 0, 0\n", 1_795_246_000_000u64 + 1000 * t)).collect();
    let smart: String = (0..7)
        .map(|i| {
            format!(
                "{{\"timestamp\": {}, \"temperature\": {}, \"avail_spare\": 100, \"data_units_read\": {}}}\n",
                1_795_246_010 + 10 * i,
                310 + i,
                10 * i
            )
        })
        .collect();
    let files = vec![
        LogFile::from_bytes("x_bw.1.log", log.as_bytes()),
        LogFile::from_bytes("s.json", smart.as_bytes()),
    ];
    let trace = import(files, &ImportOptions::default()).expect("one clock");
    assert_eq!(trace.temperatures[0].kelvin.points()[0].t.as_secs_f64(), 10.0);
    assert_eq!(trace.speeds[0].intervals.len(), 60);
    assert!(
        trace.notes.iter().any(|note| note.contains("speeds of s.json are not used")),
        "{:?}",
        trace.notes
    );
    let twice = vec![
        LogFile::from_bytes("x_bw.1.log", log.as_bytes()),
        LogFile::from_bytes("a.csv", b"t_s,read_mb_per_s\n1795246000,1\n1795246030,1\n"),
    ];
    assert!(
        import(twice, &ImportOptions::default())
            .expect_err("two loads")
            .to_string()
            .contains("two loads at once")
    );
}

#[test]
fn a_format_can_be_said_and_readings_be_spaced() {
    let forced = ImportOptions { format: Some(Format::FioIopsLog), ..ImportOptions::default() };
    let each_io = b"0, 1, 1, 4096, 0\n1, 1, 1, 4096, 0\n3000, 1, 1, 4096, 0\n";
    let trace = import(vec![LogFile::from_bytes("any.log", each_io)], &forced).expect("rows of single I/Os");
    assert_eq!(trace.speeds[0].intervals.iter().map(|i| i.bytes).sum::<f64>(), 3.0 * 4096.0);
    let untimed =
        b"{\"temperature\": 318, \"avail_spare\": 100}\n{\"temperature\": 319, \"avail_spare\": 100}\n";
    let spaced = ImportOptions { every_s: Some(2.0), ..ImportOptions::default() };
    let trace = import(vec![LogFile::from_bytes("s.json", untimed)], &spaced).expect("spaced readings");
    assert_eq!(trace.temperatures[0].kelvin.points()[1].t.as_secs_f64(), 2.0);
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
    }
}

#[test]
fn a_last_line_that_is_cut_short_is_left_out_with_a_caveat() {
    let whole = b"1000, 50, 0, 0\n2000, 50, 0, 0\n3000, 5";
    let trace =
        import(vec![LogFile::from_bytes("x_bw.1.log", whole)], &ImportOptions::default()).expect("two rows");
    assert_eq!(trace.speeds[0].intervals.len(), 2);
    assert!(matches!(trace.caveats[0], Caveat::Truncated { line: 3, .. }), "{:?}", trace.caveats);
    let twice = b"1000, 50, 0, 0\n2000, 50, 0, 0\n2000, 50, 0, 0\n3000, 50, 0, 0\n";
    let trace = import(vec![LogFile::from_bytes("x_bw.1.log", twice)], &ImportOptions::default())
        .expect("three rows");
    assert_eq!(trace.speeds[0].intervals.iter().map(|i| i.bytes).sum::<f64>(), 150.0 * 1024.0);
    assert!(matches!(trace.caveats[0], Caveat::Duplicated { rows: 1, .. }), "{:?}", trace.caveats);
}

/// Numbers in another unit than their format has are refused, and no time makes an import or an analysis run on and on.
#[test]
fn what_cannot_be_in_its_unit_is_refused() {
    let refused = |name: &str, text: &str| {
        let error = import(vec![LogFile::from_bytes(name, text.as_bytes())], &ImportOptions::default());
        error.map(|trace| format!("{trace:?}")).expect_err(text).to_string()
    };
    let smartctl =
        r#"{"json_format_version":[1,0],"local_time":{"time_t":1763730000},"temperature":{"current":318}}"#;
    assert!(refused("s.json", smartctl).contains("318 °C is no temperature of a drive"));
    let prometheus = |values: &str| {
        format!(
            r#"{{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"__name__":"node_hwmon_temp_celsius","chip":"nvme_nvme0","sensor":"temp1"}},"values":[{values}]}}]}}}}"#
        )
    };
    assert!(refused("p.json", &prometheus(r#"[1763730000,"318"]"#)).contains("318 °C is no temperature"));
    assert!(refused("p.json", &prometheus(r#"[1,"45"],[1e300,"46"]"#)).contains("a run has at most 400"));
    let log = "1000, 18446744073709551615, 0, 0\n2000, 5, 0, 0\n";
    assert!(refused("x_bw.1.log", log).contains("line 1, column 2: 18446744073709552000 KiB/s is faster"));
}

/// Goal: another block size is another load. Method: fio's own logs of 1 MiB reads, then of 4 KiB reads, which are
/// slower by a factor of twenty without any event; the same two jobs called one load are one drop.
#[test]
fn a_change_of_block_size_is_no_drop() {
    let mut trace = good("fio-block-sizes");
    let border_s = trace.phases[1].start_s;
    // The disk was busy with other work: within a phase speeds differ as well, by little.
    let first_label = |trace: &Trace| {
        let findings = analysis::analyze(trace);
        assert!(findings.events.iter().all(|event| (event.t_s - border_s).abs() > 1.0), "{findings:#?}");
        let (big, small): (Vec<_>, Vec<_>) =
            findings.segments.iter().partition(|s| s.start_s < border_s - 1.0);
        let mean = |segment: &Segment| segment.mean_bytes_per_s.expect("a speed");
        assert!(small.iter().all(|small| mean(small) < 0.1 * mean(big[0])), "{findings:#?}");
        small[0].label
    };
    assert_eq!(first_label(&trace), Label::FullSpeed);
    let what = trace.phases[0].what.clone();
    assert!(what.contains("bs=1m") && trace.phases[1].what.contains("bs=4k"), "{what}");
    trace.phases[1].what = what;
    assert_ne!(first_label(&trace), Label::FullSpeed, "it is the block size that makes the difference");
}
