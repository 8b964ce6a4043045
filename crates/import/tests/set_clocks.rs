//! Logs whose clock was set while they were written: the end of summer time and the like, in the formats that tell times by
//! the clock of their place.

use import::{ImportOptions, LogFile, import};
use trace::Trace;
use trace::caveat::{Caveat, ClockDoubt};

const ROWS: u32 = 40;
/// Seconds of a row behind two o'clock, where the hour from two to three comes twice.
const FIRST: u32 = 3580;

fn read(name: &str, text: &str) -> Trace {
    import(vec![LogFile::from_bytes(name, text.as_bytes())], &ImportOptions::default()).expect(text)
}

/// Hour, minute and second of a row by a clock that goes from three back to two.
fn clock(row: u32) -> String {
    let second = FIRST + row;
    format!("02:{:02}:{:02}", second % 3600 / 60, second % 60)
}

/// MB/s of a row: so that each is told from all others.
fn speed(row: u32) -> u32 {
    1000 + row
}

fn grafana() -> String {
    let row = |n| format!("\"2026-10-25 {}\",\"{} MB/s\",\"45 °C\"\n", clock(n), speed(n));
    format!("\"Time\",\"nvme0n1 write\",\"nvme0n1 temp\"\n{}", (0..ROWS).map(row).collect::<String>())
}

fn hwinfo() -> String {
    let row = |n| format!("25.10.2026,{}.000,45,{},\n", clock(n), speed(n));
    format!(
        "Date,Time,\"Drive Temperature [°C]\",\"Write Rate [MB/s]\",\n{}",
        (0..ROWS).map(row).collect::<String>()
    )
}

fn perfmon() -> String {
    let row = |n| format!("\"10/25/2026 {}.117\",\"{}000000\"\n", clock(n), speed(n));
    format!(
        "\"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)\",\"\\\\PC\\PhysicalDisk(0 C:)\\Disk Write Bytes/sec\"\n{}",
        (0..ROWS).map(row).collect::<String>()
    )
}

fn iostat() -> String {
    // The first report is left out.
    let report = |n: u32| {
        format!("10/25/26 {}\nDevice r/s rkB/s wkB/s\nnvme0n1 0.00 0.00 {}.00\n\n", clock(n), speed(n))
    };
    format!(
        "Linux 6.12.0 (host) \t10/25/26 \t_x86_64_\t(2 CPU)\n\n{}",
        (0..ROWS).map(report).collect::<String>()
    )
}

fn smart_log(date: impl Fn(u32) -> String) -> String {
    let reading = |n: u32| {
        format!(
            "{}\nSmart Log for NVME device:nvme0 namespace-id:ffffffff\ncritical_warning : 0\ntemperature : {} C\nData Units Written : {}\n",
            date(n),
            30 + n,
            1000 * n
        )
    };
    (0..ROWS).map(reading).collect()
}

/// Goal: no row is lost, moved before its cause, or far from its neighbours. Method: speeds that rise from row to row, in one
/// second each, over the hour that comes twice.
#[test]
fn rows_over_the_end_of_summer_time_stay_in_their_order() {
    for (name, text) in [("g.csv", grafana()), ("h.csv", hwinfo()), ("p.csv", perfmon()), ("i.txt", iostat())]
    {
        let trace = read(name, &text);
        let intervals = &trace.speeds.last().expect("speeds").intervals;
        assert!(intervals.len() >= ROWS as usize - 1, "{name}");
        assert!(intervals.windows(2).all(|pair| {
            pair[1].bytes_per_s() > pair[0].bytes_per_s()
                && (pair[1].start_s - pair[0].start_s - 1.0).abs() < 1e-6
        }));
        assert!(trace.end_s() < f64::from(ROWS) + 1.0, "{name}: {}", trace.end_s());
        assert!(
            matches!(&trace.caveats[..], [Caveat::Clock(ClockDoubt::DaylightSaving { file, is_back: true, .. })] if file == name),
            "{name}: {:?}",
            trace.caveats
        );
    }
}

#[test]
fn readings_over_the_end_of_summer_time_stay_in_their_order() {
    let unnamed = smart_log(|n| format!("2026-10-25 {}", clock(n)));
    let named = smart_log(|n| {
        format!("Sun Oct 25 {} {} 2026", clock(n), if FIRST + n < 3600 { "CEST" } else { "CET" })
    });
    for (text, doubts) in [(unnamed, 1), (named, 0)] {
        let trace = read("s.txt", &text);
        let points = trace.temperatures[0].kelvin.points();
        assert_eq!(points.len(), ROWS as usize);
        assert!(points.windows(2).all(|pair| pair[1].value > pair[0].value));
        assert!(
            (trace.end_s() - f64::from(ROWS - 1)).abs() < 1e-6 && trace.caveats.len() == doubts,
            "{:?}",
            trace.caveats
        );
    }
}

/// Goal: a clock that NTP sets back costs no row. Method: rows of a second each, of which the last ones begin earlier.
#[test]
fn a_clock_that_was_set_back_costs_no_row() {
    for back_s in [5_u32, 20, 37, 300, 7000] {
        let row = |n: u32| {
            let second = 36_000 + n - if n >= 50 { back_s } else { 0 };
            let (h, m, s) = (second / 3600, second % 3600 / 60, second % 60);
            format!("\"2026-11-05 {h:02}:{m:02}:{s:02}\",\"{} MB/s\",\"45 °C\"\n", speed(n))
        };
        let rows: String = (0..100).map(row).collect();
        let trace = read("g.csv", &format!("\"Time\",\"nvme0n1 write\",\"nvme0n1 temp\"\n{rows}"));
        let intervals = &trace.speeds[0].intervals;
        assert!(intervals.len() == 100 && intervals.windows(2).all(|pair| pair[1].bytes > pair[0].bytes));
        // By as much as the row before it is off, and one step.
        let is_told = |caveat: &Caveat| matches!(caveat, Caveat::Clock(ClockDoubt::SetBack { by_s, more: 0, .. }) if *by_s == f64::from(back_s));
        assert!(trace.caveats.iter().any(is_told), "{:?}", trace.caveats);
    }
}
