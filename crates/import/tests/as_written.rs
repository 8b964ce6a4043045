//! Logs whose units, dates and pauses are not the usual ones. The files are composed here, in the form that HWiNFO, Grafana and
//! Iometer 1.1 write.

use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

fn read(name: &str, text: &str) -> Trace {
    import(vec![LogFile::from_bytes(name, text.as_bytes())], &ImportOptions::default()).expect("a log")
}

fn first_k(trace: &Trace) -> f64 {
    trace.temperatures[0].kelvin.points()[0].value
}

/// Rows of HWiNFO, one every 10 s from 23:58:20 on, over midnight.
fn hwinfo(unit: &str, first_day: &str, next_day: &str) -> String {
    let row = |(n, degrees): (u32, u32)| {
        let s = 86_300 + 10 * n;
        let (day, s) = if s < 86_400 { (first_day, s) } else { (next_day, s - 86_400) };
        format!("{day},{}:{}:{}.000,{degrees},100.0,0.0,\r\n", s / 3600, s / 60 % 60, s % 60)
    };
    let header =
        format!("Date,Time,\"Drive Temperature [{unit}]\",\"Read Rate [MB/s]\",\"Write Rate [MB/s]\",\r\n");
    header + &(0..20).map(|n| row((n, 104))).collect::<String>()
}

#[test]
fn fahrenheit_is_read_as_such() {
    assert!((first_k(&read("a.csv", &hwinfo("°F", "4.3.2026", "5.3.2026"))) - 313.15).abs() < 0.2);
}

#[test]
fn a_day_is_no_month_where_dates_are_day_first() {
    for (first, next) in
        [("04/03/2026", "05/03/2026"), ("03/04/2026", "03/05/2026"), ("12/11/2026", "13/11/2026")]
    {
        let trace = read("a.csv", &hwinfo("°C", first, next));
        assert!(trace.end_s() < 300.0, "{first}: {}", trace.end_s());
        assert!(trace.caveats.is_empty(), "{first}: {:?}", trace.caveats);
    }
}

#[test]
fn a_unit_in_a_title_counts() {
    for (unit, bytes_per_s) in [("MB/s", 250e6), ("GiB/s", 250.0 * 1_073_741_824.0), ("Mb/s", 31.25e6)] {
        let mut text = format!("\"Time\",\"Write ({unit})\",\"Temperature (°F)\"\n");
        (0..30).for_each(|s| text.push_str(&format!("2026-03-04 10:00:{s:02},250,122\n")));
        let trace = read("a.csv", &text);
        let write = trace.speeds.iter().find(|series| series.op == SegmentOp::Write).expect("writes");
        let read = write.intervals[5].bytes_per_s();
        assert!((read / bytes_per_s - 1.0).abs() < 1e-6, "{unit}: {read}");
        assert!((first_k(&trace) - 323.15).abs() < 0.2);
    }
}

#[test]
fn tests_of_an_iometer_file_are_loads_with_nothing_between() {
    let columns = "TimeStamp,'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,Read IOps,Write IOps,MBps (Binary),Read MBps (Binary),Write MBps (Binary),Transactions per Second,Connections per Second,Bytes Written,Bytes Read";
    let row = |day: u32, s: u32| {
        format!(
            "2026-11-{day} 10:{:02}:{:02}:000,WORKER,Worker 1,,,,1,100,0,100,95.37,0,95.37,0,0,100000000,0\n",
            s / 60,
            s % 60
        )
    };
    let mut text = String::new();
    for day in [21, 22, 23] {
        text.push_str("'Test Type,Test Description\n0,w\n'Results\n");
        text.push_str(columns);
        text.push('\n');
        (1..=60).for_each(|s| text.push_str(&row(day, s)));
    }
    let trace = read("inst.csv", &text);
    let spans_s: Vec<f64> = trace.phases.iter().map(|phase| (phase.end_s - phase.start_s).round()).collect();
    assert_eq!(spans_s, [60.0; 3]);
    let nothing = trace.speeds[0].intervals.iter().filter(|interval| interval.bytes <= 0.0).count();
    assert!(nothing <= 3, "{nothing}");
    assert!(trace.speeds[0].intervals.len() <= 190, "{}", trace.speeds[0].intervals.len());
}
