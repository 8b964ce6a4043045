//! Plain CSVs with columns beside those that are needed, and units, directions and counts as people write them.

use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

fn tried(text: &str) -> Result<Trace, String> {
    import(vec![LogFile::from_bytes("log.csv", text.as_bytes())], &ImportOptions::default())
        .map_err(|error| error.to_string())
}

fn table(titles: &str, cells: &str) -> String {
    let rows: String = (0..30).map(|t| format!("{t},{}\n", cells.replace('#', &t.to_string()))).collect();
    format!("t_s,{titles}\n{rows}")
}

fn read(titles: &str, cells: &str) -> Trace {
    tried(&table(titles, cells)).expect(titles)
}

fn rate(trace: &Trace, op: SegmentOp) -> f64 {
    let series = trace.speeds.iter().find(|series| series.op == op);
    series.map_or(f64::NAN, |series| series.intervals[3].bytes_per_s())
}

fn heat(trace: &Trace) -> Vec<(&str, f64)> {
    trace.temperatures.iter().map(|one| (one.name.as_str(), one.kelvin.points()[0].value - 273.0)).collect()
}

/// Goal: a column that is not needed loses no log. Method: columns of a drive's words beside a good one, each named in a note.
#[test]
fn columns_that_are_not_needed_are_passed_over_with_a_note() {
    for title in [
        "write_pct",
        "write%",
        "writes",
        "written",
        "write_amp",
        "write_protect",
        "read_only",
        "avg_temp_c",
        "Temp2",
        "ChassisTempC",
        "System Temp",
        "RX_kBps",
        "write_waf",
        "Mean write MB/s",
        "total_MBps",
        "write ratio",
        "inlet_c",
        "speed",
        "temp",
        "cpu_power_w",
        "write_mbps",
    ] {
        let trace = read(&format!("write_mb_per_s,temp_c,{title}"), "1000,45,7");
        assert_eq!(
            (rate(&trace, SegmentOp::Write), heat(&trace)),
            (1e9, vec![("composite", 45.0)]),
            "{title}"
        );
        assert!(trace.notes.iter().any(|note| note.ends_with(title)), "{title}: {:?}", trace.notes);
    }
    for titles in ["seconds,elapsed_ms", "elapsed_min,t_s", "seconds,uptime"] {
        let row = |t: u32| format!("{t},{t},1000\n");
        let trace = tried(&format!("{titles},write_mb_per_s\n{}", (0..30).map(row).collect::<String>()));
        assert_eq!(trace.expect(titles).end_s(), 30.0, "{titles}");
    }
    // The first cell of one may be empty.
    let late = format!("t_s,write_mb_per_s,temp_c,Temp2\n0,1000,45,\n{}", "1,1000,45,7\n2,1000,45,7\n");
    assert_eq!(heat(&tried(&late).expect("one temperature")).len(), 1);
    // What nothing else says is asked for, by the titles that the file has.
    for (titles, cells, told) in [
        ("write_mb_per_s,read_mbps", "1,1", "bytes or of bits"),
        ("temp_c,Write", "45,1000", "column \"Write\""),
        ("temp_c,written", "45,1000", "\"written (GB)\""),
        ("Data Disk Write Bytes/sec,OS Disk Write Bytes/Sec", "5,5", "keep those of one drive"),
        ("nvme write (MB/s),OS disk write", "5,5", "OS disk write"),
        ("write_MBps,write MB/s", "1,1", "it says the same as \"write_MBps\""),
        ("write_mb_per_s,Write_bytes_per_s", "1,1", "it says the same as \"write_mb_per_s\""),
    ] {
        let why = tried(&table(titles, cells)).expect_err(titles);
        assert!(why.contains(told), "{titles}: {why}");
    }
}

#[test]
fn temperatures_beside_the_first_are_sensors() {
    for (titles, sensor) in [
        ("temp1_c,temp2_c", "sensor2"),
        ("nvme_temp_c,nvme_temp3_c", "sensor3"),
        ("temp_c,Temperature (°C)", "sensor1"),
        ("Hotspot temp (°C),Composite (°C)", "sensor1"),
    ] {
        let trace = read(titles, if titles.starts_with("Hot") { "60,45" } else { "45,60" });
        let mut told = heat(&trace);
        told.sort_unstable_by(|a, b| a.0.cmp(b.0));
        assert_eq!(told, [("composite", 45.0), (sensor, 60.0)], "{titles}");
    }
    let kelvin = read("temp_c,drive temp (K)", "45,333.15");
    assert_eq!(heat(&kelvin).iter().map(|one| one.1.round()).collect::<Vec<_>>(), [45.0, 60.0]);
    assert_eq!(heat(&read("NVMeTempC,ChassisTempC,Status", "55,40,OK")), [("composite", 55.0)]);
}

/// Goal: advice that is followed makes a log that is right. Method: what the refusals say is done, and the numbers compared.
#[test]
fn advice_keeps_the_unit() {
    let advised = |titles: &str, cells: &str| -> String {
        let why = tried(&table(titles, cells)).expect_err(titles);
        let advice = why.split("rename it ").nth(1).or_else(|| why.split("such as ").nth(1)).expect(&why);
        advice.split('"').nth(1).expect(&why).to_owned()
    };
    for (title, cell, bytes) in
        [("MiB/s", "1000", 1_048_576_000.0), ("bw_kBps", "1000", 1e6), ("throughput (GB/s)", "2", 2e9)]
    {
        let read_title = advised(title, cell);
        assert_eq!(rate(&read(&read_title, cell), SegmentOp::Read), bytes, "{read_title}");
    }
    assert_eq!(rate(&read(&advised("write", "1000"), "1000"), SegmentOp::Write), 1e9);
    assert_eq!(heat(&read(&advised("temp1_input", "45000"), "45000")), [("composite", 45.0)]);
    let why = tried(&table("lbas_written", "#")).expect_err("blocks of which size");
    assert!(why.contains("512 or 4096 bytes"), "{why}");
}

#[test]
fn counts_whose_size_is_known_and_units_in_other_places_are_read() {
    for (titles, cells, bytes) in [
        ("data_units_written", "#", 512_000.0),
        ("nvme0n1 sectors written", "#", 512.0),
        ("KB_Written", "#", 1000.0),
        ("Written GB", "#", 1e9),
        ("write MiB/s [last]", "1", 1_048_576.0),
        ("write (MiB/s) [mean]", "1", 1_048_576.0),
        ("diskwrite (MB/s)", "1", 1e6),
        ("Écriture (Mo/s)", "1", 1e6),
        ("запись (МБ/с)", "1", 1e6),
        ("写入 (MB/s)", "1", 1e6),
    ] {
        assert_eq!(rate(&read(titles, cells), SegmentOp::Write), bytes, "{titles}");
    }
    for (title, cell) in [("nvme_temp_mC", "45850"), ("temp (m°C)", "45850"), ("temp_millidegrees", "45850")]
    {
        assert!((heat(&read(title, cell))[0].1 - 46.0).abs() < 1e-6, "{title}");
    }
}

/// Goal: units in the line below the titles are the columns'.
#[test]
fn units_may_stand_below_the_titles() {
    for (titles, units) in
        [("write,temp", "s,MB/s,°C"), ("write,temp,note", ",MB/s,C,"), ("write,temp", "(s),(MB/s),(°C)")]
    {
        let text = table(titles, if titles.ends_with("note") { "1500,45,x" } else { "1500,45" });
        let (header, rows) = text.split_once('\n').expect("rows");
        let trace = tried(&format!("{header}\n{units}\n{rows}")).expect(units);
        assert_eq!(
            (rate(&trace, SegmentOp::Write), heat(&trace)),
            (1.5e9, vec![("composite", 45.0)]),
            "{units}"
        );
    }
}

#[test]
fn a_speed_may_be_of_the_direction_of_its_row() {
    let row = |t: u32| format!("{t},{},{}\n", 1000 + t % 3, if t < 30 { "write" } else { "READ" });
    for titles in ["t_s,MiB/s,direction", "t_s,bw (MiB/s),rw", "t_s,MiB/s,Phase", "t_s,bw_MiBps,operation"] {
        let trace = tried(&format!("{titles}\n{}", (0..60).map(row).collect::<String>())).expect(titles);
        let counts: Vec<(SegmentOp, usize)> =
            trace.speeds.iter().map(|one| (one.op, one.intervals.len())).collect();
        assert_eq!(counts, [(SegmentOp::Read, 30), (SegmentOp::Write, 30)], "{titles}");
        assert_eq!(
            trace.phases.iter().map(|phase| phase.op).collect::<Vec<_>>(),
            [SegmentOp::Write, SegmentOp::Read]
        );
        assert_eq!(trace.speeds[0].intervals[0].bytes, 1000.0 * 1_048_576.0);
    }
    let live = "Label,Phase,RuntimeMS,Rank,Done%,DoneBytes,MiB/s,IOPS,CPU\n";
    let rows: String =
        (1..9).map(|t| format!(",WRITE,{t}000,Total,1,{},1000,1000,3\n", t * 1_048_576_000_u64)).collect();
    let trace = tried(&format!("{live}{rows}")).expect("elbencho");
    assert_eq!(rate(&trace, SegmentOp::Write), 1_048_576_000.0, "{trace:?}");
    let why = tried("t_s,MiB/s,phase\n0,5,write\n1,5,cleanup\n2,5,write\n").expect_err("which");
    assert!(why.contains("neither read nor write"), "{why}");
}
