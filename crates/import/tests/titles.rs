//! Titles that people and dashboards give their columns: what is a speed, what is a counter, whose temperature it is, and of which
//! drive. The tables are composed here; the names of metrics are those of node_exporter, windows_exporter, telegraf and psutil.

use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

fn tried(text: &str, device: Option<&str>) -> Result<Trace, String> {
    let options = ImportOptions { device: device.map(str::to_owned), ..ImportOptions::default() };
    import(vec![LogFile::from_bytes("log.csv", text.as_bytes())], &options).map_err(|error| error.to_string())
}

fn read(text: &str) -> Trace {
    tried(text, None).expect(text)
}

fn moved(trace: &Trace, op: SegmentOp) -> f64 {
    let series = trace.speeds.iter().filter(|series| series.op == op);
    series.flat_map(|series| &series.intervals).map(|one| one.bytes).sum()
}

fn notes(trace: &Trace) -> String {
    trace.notes.join("\n")
}

/// A table of a minute, in which each column has the same cell in all rows, but `#`: that grows by 100 MB a row.
fn table(titles: &str, cells: &[&str]) -> String {
    let row = |s: usize| {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| match *cell {
                "#" => format!("{}", 5_000_000_000 + 100_000_000 * s),
                cell => cell.to_owned(),
            })
            .collect();
        format!("2026-11-22 09:40:{s:02},{}\n", cells.join(","))
    };
    format!("Time,{titles}\n{}", (0..60).map(row).collect::<String>())
}

#[test]
fn bytes_moved_so_far_are_no_speed() {
    for title in [
        "\"node_disk_written_bytes_total{device=\"\"nvme0n1\"\"}\"",
        "\"{__name__=\"\"node_disk_written_bytes_total\"\", device=\"\"nvme0n1\"\"}\"",
        "Written bytes",
        "write_bytes",
        "write_bytes_total",
        "diskio.write_bytes",
        "windows_physical_disk_write_bytes_total",
        "nvme0n1 written",
    ] {
        let trace = read(&table(title, &["#"]));
        assert_eq!(moved(&trace, SegmentOp::Write), 59.0 * 1e8, "{title}: {}", notes(&trace));
    }
    for (title, cell, bytes) in [("Written (kB)", "#", 59e11), ("nvme0n1 written", "4.5 TB", 0.0)] {
        let trace = read(&table(title, &[cell]));
        assert_eq!(moved(&trace, SegmentOp::Write), bytes, "{title}");
    }
    // A speed by the same name that goes up and down is one.
    let rates: String = (0..60).map(|s| format!("2026-11-22 09:40:{s:02},{}\n", 1_000_000 + s % 7)).collect();
    let trace = read(&format!("Time,diskio.write_bytes\n{rates}"));
    assert!((moved(&trace, SegmentOp::Write) - 60e6).abs() < 1e3);
    // psutil's counters in a table of one's own.
    let own: String = (0..60).map(|s| format!("{s},{},{},40\n", s * 1000, s * 500)).collect();
    for titles in ["t_s,read_bytes,write_bytes,temp_c", "time_s,bytes_read,bytes_written,temp_c"] {
        let trace = read(&format!("{titles}\n{own}"));
        assert_eq!(
            (moved(&trace, SegmentOp::Read), moved(&trace, SegmentOp::Write)),
            (59e3, 29_500.0),
            "{titles}"
        );
    }
    let falling: String = (0..60).map(|s| format!("{s},{}\n", 1000 * (s % 5))).collect();
    let why = tried(&format!("t_s,write_bytes\n{falling}"), None).expect_err("bytes of a row each");
    assert!(why.contains("call rates that, such as write_bytes_per_s"), "{why}");
}

#[test]
fn what_is_no_speed_of_a_drive_is_passed_over() {
    for title in [
        "Writes completed",
        "node_disk_writes_completed_total",
        "write requests",
        "diskio.write_time",
        "Write cache hit",
        "written sectors",
        "network write",
        "pagecache writeback",
        "Write limit",
        "Write p99",
        "read/s",
    ] {
        let trace = read(&table(&format!("{title},nvme0n1 write,temp"), &["123456", "2000000", "45"]));
        assert_eq!(moved(&trace, SegmentOp::Write), 60.0 * 2e6, "{title}: {}", notes(&trace));
        assert_eq!((moved(&trace, SegmentOp::Read), trace.temperatures.len()), (0.0, 1), "{title}");
    }
    let cells = read(&table("Write,Write share,temp", &["2 MB/s", "5 ms", "45"]));
    assert_eq!(moved(&cells, SegmentOp::Write), 60.0 * 2e6);
}

#[test]
fn a_temperature_of_something_else_is_not_the_drives() {
    for title in [
        "CPU temperature",
        "Package temperature",
        "GPU temp",
        "temp warning threshold",
        "ambient temp",
        "Motherboard temp",
    ] {
        let text = table(&format!("{title},ssd temp,Write"), &["82", "45", "2 MB/s"]);
        let (trace, alone) = (read(&text), read(&table(&format!("{title},Write"), &["82", "2 MB/s"])));
        assert_eq!(trace.temperatures[0].kelvin.points()[0].value, 318.0, "{title}");
        assert!(alone.temperatures.is_empty() && notes(&alone).contains(title), "{title}: {}", notes(&alone));
    }
}

#[test]
fn columns_of_several_drives_are_told_apart() {
    let two = table("node1 Written,node2 Written,node2 temp", &["100 MB/s", "1900 MB/s", "45"]);
    let trace = read(&two);
    assert_eq!((trace.name.as_str(), moved(&trace, SegmentOp::Write)), ("node2", 60.0 * 1.9e9));
    assert_eq!(trace.temperatures.len(), 1, "{}", notes(&trace));
    let even = table("node1 Written,node2 Written", &["100 MB/s", "120 MB/s"]);
    assert!(tried(&even, None).expect_err("two drives").contains("node1 45 %"));
    assert_eq!(moved(&tried(&even, Some("node1")).expect("one of two"), SegmentOp::Write), 60.0 * 1e8);
    // What names the drive, and what is no mean, says it better.
    for (titles, wanted) in [
        ("Average write,nvme0n1 write", 2e6),
        ("Average write,Write", 2e6),
        ("Max write,Mean write,Write", 3e6),
    ] {
        let trace = read(&table(titles, &["1 MB/s", "2 MB/s", "3 MB/s"][..titles.split(',').count()]));
        assert_eq!(moved(&trace, SegmentOp::Write), 60.0 * wanted, "{titles}: {}", notes(&trace));
    }
}

#[test]
fn rows_and_columns_of_one_drive_of_several_are_chosen() {
    let rows: String = (0..60).map(|s| format!("{s},nvme0n1,5,30\n{s},nvme1n1,1900,60\n")).collect();
    let long = format!("t_s,device,write_MBps,temp_c\n{rows}");
    let why = tried(&long, None).expect_err("two drives");
    assert!(
        why.contains("its rows are of several drives (nvme0n1, nvme1n1): name one with --device"),
        "{why}"
    );
    for (name, rate) in [("nvme0n1", 5e6), ("/dev/nvme1", 1.9e9)] {
        let trace = tried(&long, Some(name)).expect(name);
        assert_eq!((moved(&trace, SegmentOp::Write), trace.temperatures.len()), (60.0 * rate, 1), "{name}");
    }
    assert!(
        tried(&long, Some("sda"))
            .expect_err("none")
            .contains("it has nothing of sda; there are nvme0n1, nvme1n1")
    );
    // InfluxDB 1 tells the drive in its tags.
    let rows: String = (0..60)
        .map(|s| {
            let t = 1_795_340_400_u64 + s;
            format!(
                "diskio,\"host=a,name=nvme0n1\",{t}000000000,{}\ndiskio,\"host=a,name=sda\",{t}000000000,0\n",
                s * 5000
            )
        })
        .collect();
    let influx = format!("name,tags,time,write_bytes\n{rows}");
    assert_eq!(moved(&tried(&influx, Some("nvme0n1")).expect("one of two"), SegmentOp::Write), 59.0 * 5000.0);
    assert!(tried(&influx, None).expect_err("two drives").contains("name one with --device"));
    // One drive throughout, and a name that is no drive's.
    let names: String =
        (0..60).map(|s| format!("{s},{},5\n", if s < 30 { "fill" } else { "check" })).collect();
    assert_eq!(moved(&read(&format!("t_s,name,write_MBps\n{names}")), SegmentOp::Write), 60.0 * 5e6);
    let wide = table("nvme0_temp_c,nvme1_temp_c,nvme1_write_MBps", &["35", "60", "1900"]);
    assert!(tried(&wide, None).expect_err("two drives").contains("name one with --device"));
    let trace = tried(&wide, Some("nvme1")).expect("one of two");
    assert_eq!(trace.temperatures[0].kelvin.points()[0].value, 333.0);
}

#[test]
fn units_in_other_spellings_are_read_and_doubtful_ones_refused() {
    for (unit, factor) in
        [("Mo/s", 1e6), ("МБ/с", 1e6), ("КиБ/с", 1024.0), ("Mio/s", 1_048_576.0), ("octets/s", 1.0)]
    {
        let rates = [format!("Write ({unit})"), format!("write [{unit}]")];
        for title in rates {
            let trace = read(&table(&title, &["200000"]));
            assert_eq!(moved(&trace, SegmentOp::Write), 60.0 * 2e5 * factor, "{title}");
        }
    }
    for unit in ["mbps", "MBPS", "mb/s"] {
        let why = tried(&table(&format!("Write ({unit})"), &["200"]), None).expect_err(unit);
        assert!(why.contains("may be of bytes or of bits"), "{unit}: {why}");
    }
    for title in ["wkB/s", "nvme0n1 wkB/s"] {
        assert_eq!(moved(&read(&table(title, &["1000"])), SegmentOp::Write), 60.0 * 1_024_000.0, "{title}");
    }
    let gstat =
        "timestamp,name,q-depth,total_ops/s,read/s,read-KiB/s,ms/read,write/s,write-KiB/s,ms/write,busy%\n";
    let rows: String = (0..9)
        .map(|s| format!("2026-11-22 09:40:0{s}.123456789,nda0,0,9,0,0,0.0,9,1000,1.0,99.0\n"))
        .collect();
    let trace = read(&format!("{gstat}{rows}"));
    assert_eq!(moved(&trace, SegmentOp::Write).round(), 9.0 * 1_024_000.0);
}

/// Goal: a rest is one, whatever it is called. Method: phases between two loads, in whose first or last row some of these still lies.
#[test]
fn a_phase_in_which_nothing_moves_is_a_rest() {
    for name in ["rest", "pause", "soak", "cooldown", "fan on"] {
        for (first, last) in [("400", "0"), ("0", "700"), ("400", "700"), ("0", "0")] {
            let rest = (0..60).map(|s| {
                if s == 0 {
                    first
                } else if s == 59 {
                    last
                } else {
                    "0"
                }
            });
            let cells = (0..60).map(|_| ("fill", "1900")).chain(rest.map(|rate| (name, rate)));
            let cells = cells.chain((0..60).map(|_| ("verify", "1900")));
            let rows: String =
                cells.enumerate().map(|(t, (phase, rate))| format!("{t},{phase},{rate},45\n")).collect();
            let trace = read(&format!("t_s,phase,write_mb_per_s,temp_c\n{rows}"));
            let ops: Vec<SegmentOp> = trace.phases.iter().map(|phase| phase.op).collect();
            assert_eq!(ops, [SegmentOp::Write, SegmentOp::Idle, SegmentOp::Write], "{name}, {first}, {last}");
        }
    }
}

/// Goal: a table of one's own is one whatever its time is called: no dashboard leaves the day out. Method: titles with units in
/// brackets above times of day.
#[test]
fn a_time_without_a_day_is_of_a_table_of_ones_own() {
    for separator in [",", ";", "\t"] {
        let titles = ["Time", "Read (MB/s)", "Write (MB/s)", "Temperature (°C)"].join(separator);
        let row =
            |s: usize| [format!("15:20:{s:02}"), "1000".into(), "0".into(), "41".into()].join(separator);
        let rows: Vec<String> = (0..30).map(row).collect();
        let trace = read(&format!("{titles}\n{}\n", rows.join("\n")));
        let reads = trace.speeds.iter().find(|series| series.op == SegmentOp::Read).expect("reads");
        assert!((reads.intervals[3].bytes_per_s() - 1e9).abs() < 1.0, "{separator:?}");
        assert_eq!(trace.temperatures[0].kelvin.points().len(), 30, "{separator:?}");
    }
}

/// Goal: minutes and seconds are never taken for hours and minutes. Method: six minutes of rows under titles that say which they are,
/// and that do not.
#[test]
fn minutes_and_seconds_are_read_where_the_title_says_so_and_refused_where_it_may_be_either() {
    let rows = |form: fn(u32) -> String| -> String {
        (0..180).map(|row| format!("{},1000,45\n", form(2 * row))).collect()
    };
    let end_s = |trace: Trace| trace.speeds[0].intervals.last().map(trace::Interval::end_s);
    let minutes = |s: u32| format!("{:02}:{:02}", s / 60, s % 60);
    for title in ["Elapsed (mm:ss)", "Elapsed mm:ss", "Time [min:sec]", "mm:ss"] {
        let trace = read(&format!("{title},Write (MB/s),Temp (°C)\n{}", rows(minutes)));
        assert_eq!(end_s(trace), Some(360.0), "{title}");
    }
    let hours = |s: u32| format!("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
    for title in ["Elapsed", "Time"] {
        let trace = read(&format!("{title},Write (MB/s),Temp (°C)\n{}", rows(hours)));
        assert_eq!(end_s(trace), Some(360.0), "{title}");
        let why =
            tried(&format!("{title},Write (MB/s),Temp (°C)\n{}", rows(minutes)), None).expect_err(title);
        assert!(why.contains(&format!("call the column \"{title} (mm:ss)\"")), "{why}");
    }
    // A clock that is read each minute.
    let of_day = |s: u32| format!("{:02}:{:02}", 9 + s / 120, s / 2 % 60);
    let trace = read(&format!("Time,Write (MB/s),Temp (°C)\n{}", rows(of_day)));
    assert_eq!(end_s(trace), Some(180.0 * 60.0));
}

/// Goal: a unit in the name of a metric is seen, with labels behind it or without.
#[test]
fn units_of_names_with_labels_are_seen() {
    for title in [
        "\"temp_c{chip=\"\"nvme\"\"}\"",
        "\"node_hwmon_temp_celsius{chip=\"\"nvme_nvme0\"\"}\"",
        "temp_c{chip=\"nvme\"}",
    ] {
        let rows: String = (0..30).map(|s| format!("{},100,{}\n", 1_795_340_400 + s, 40 + s)).collect();
        let trace = read(&format!("timestamp,write_mb_per_s,{title}\n{rows}"));
        assert_eq!(trace.temperatures[0].kelvin.points()[29].value, 342.0, "{title}");
    }
}

/// Goal: °F in a column of °C are no drive's temperatures, and a spike of a sensor is no log in °F.
#[test]
fn a_log_that_is_hotter_than_any_drive_is_refused() {
    let of = |degrees: &dyn Fn(u32) -> u32| {
        let rows: String = (0..60).map(|s| format!("{s},100,{}\n", degrees(s))).collect();
        tried(&format!("t_s,write_mb_per_s,temp_c\n{rows}"), None)
    };
    let why = of(&|s| 104 + s).expect_err("°F");
    assert!(
        why.contains("above 130 °C in 33 of 60 readings, 163 °C at most") && why.contains("temp_f"),
        "{why}"
    );
    assert!(of(&|s| if s == 30 { 180 } else { 60 }).is_ok());
}

/// Goal: errors show what stands in the cell. Method: a date far away, and a number of hundreds of digits.
#[test]
fn odd_cells_are_shown_as_they_stand() {
    let rows = |odd: &str, value: &str| {
        format!("Date,Write MB/s,Temp C\n2026-11-22 09:40:00,100,40\n{odd},100,{value}\n")
    };
    let why = tried(&rows("9999-11-22 09:40:00", "40"), None).expect_err("a date");
    assert!(why.contains("9999-11-22 09:40:00 is more than 400 days after the first row"), "{why}");
    let why = tried(&rows("2026-11-22 09:40:01", "1e308"), None).expect_err("a temperature");
    assert!(why.contains("1e308 °C is no temperature"), "{why}");
    // A clock of twelve hours.
    let row = |s: u32| {
        format!(
            "{}:{:02}:{:02} {},100,40\n",
            if s < 60 { 11 } else { 12 },
            (s / 60 + 59) % 60,
            s % 60,
            if s < 60 { "AM" } else { "PM" }
        )
    };
    let trace = read(&format!("Time,Write MB/s,Temp C\n{}", (0..120).map(row).collect::<String>()));
    assert_eq!(trace.speeds[0].intervals.len(), 120);
}
