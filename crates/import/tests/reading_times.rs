//! Times of readings in a loop, wherever a script puts them.

use import::{ImportOptions, LogFile, import};
use trace::Trace;

const READING: &str = "\"critical_warning\": 0, \"temperature\": 313, \"avail_spare\": 100";

fn tried(text: &str) -> Result<Trace, String> {
    import(vec![LogFile::from_bytes("log", text.as_bytes())], &ImportOptions::default())
        .map_err(|error| error.to_string())
}

fn text_with(times: [&str; 3]) -> String {
    let one = |time: &str| {
        format!(
            "{time}\nSmart Log for NVME device:nvme0 namespace-id:ffffffff\ncritical_warning : 0\ntemperature : 40 C\n\n"
        )
    };
    times.map(one).concat()
}

#[test]
fn a_time_before_the_text_of_a_reading_is_its_time() {
    for times in [
        ["Do  5. Nov 23:59:58 CET 2026", "Do  5. Nov 23:59:59 CET 2026", "Fr  6. Nov 00:00:08 CET 2026"],
        ["Thu  5 Nov 23:59:58 CET 2026", "Thu  5 Nov 23:59:59 CET 2026", "Fri  6 Nov 00:00:08 CET 2026"],
        [
            "jeu. 05 nov. 2026 23:59:58 CET",
            "jeu. 05 nov. 2026 23:59:59 CET",
            "ven. 06 nov. 2026 00:00:08 CET",
        ],
        [
            "timestamp: 2026-11-05 23:59:58",
            "timestamp: 2026-11-05 23:59:59",
            "timestamp: 2026-11-06 00:00:08",
        ],
        ["=== 2026-11-05 23:59:58 ===", "=== 2026-11-05 23:59:59 ===", "=== 2026-11-06 00:00:08 ==="],
        ["23:59:58", "23:59:59", "00:00:08"],
        [
            "Every 1.0s: nvme smart-log /dev/nvme0  srv: Thu Nov  5 23:59:58 2026\n",
            "Every 1.0s: nvme smart-log /dev/nvme0  srv: Thu Nov  5 23:59:59 2026\n",
            "Every 1.0s: nvme smart-log /dev/nvme0  srv: Fri Nov  6 00:00:08 2026\n",
        ],
    ] {
        let text = text_with(times);
        let trace = tried(&text).expect(&text);
        let times: Vec<f64> =
            trace.temperatures[0].kelvin.points().iter().map(|p| p.t.as_secs_f64()).collect();
        assert_eq!(times, [0.0, 1.0, 10.0], "{text}");
    }
}

#[test]
fn a_time_beside_or_around_an_object_is_its_time() {
    let forms: [fn(u64) -> String; 7] = [
        |t| format!("{t} {{{READING}}}\n"),
        |t| format!("[{t}] {{{READING}}}\n"),
        |t| format!("2026-11-05T23:52:{:02}+01:00 {{{READING}}}\n", t % 60),
        |t| format!("{{\"ts\": {t}, {READING}}}\n"),
        |t| format!("{{\"date\": \"Thu Nov  5 23:52:{:02} UTC 2026\", {READING}}}\n", t % 60),
        |t| format!("{{\"timestamp\": {t}, \"smart\": {{{READING}}}}}\n"),
        |t| {
            format!(
                "{{\"@timestamp\": \"2026-11-05T23:52:{:02}Z\", \"host\": {{\"name\": \"a\"}}, \"data\": {{{READING}}}}}\n",
                t % 60
            )
        },
    ];
    for form in forms {
        let text: String = [1_793_922_730, 1_793_922_731, 1_793_922_735].map(form).concat();
        let trace = tried(&text).expect(&text);
        let times: Vec<f64> =
            trace.temperatures[0].kelvin.points().iter().map(|p| p.t.as_secs_f64()).collect();
        assert_eq!(times, [0.0, 1.0, 5.0], "{text}");
    }
}

#[test]
fn a_time_that_is_not_understood_is_shown() {
    for time in ["heure: 5 brumaire 23:52:13", "at 23:52:13 o'clock", "11-5 23:52:13.5 x", "t=23h 10:00:00"] {
        let why = tried(&text_with([time; 3])).expect_err(time);
        assert!(why.contains(time) && why.contains("line 1") && why.contains("--every 1s"), "{why}");
    }
}

/// iostat through `ts` of moreutils.
#[test]
fn reports_have_the_times_that_stand_before_their_lines() {
    let report = |n: u32| {
        format!("Device r/s rkB/s wkB/s\nnvme0n1 0.00 0.00 {n}.00\n\n")
            .lines()
            .map(|line| format!("[2026-11-05 23:52:0{n}] {line}\n"))
            .collect::<String>()
    };
    let text = format!(
        "[2026-11-05 23:52:00] Linux 6.12.0 (host) \t11/05/26 \t_x86_64_\t(2 CPU)\n[2026-11-05 23:52:00] \n{}",
        (0..6).map(report).collect::<String>()
    );
    let trace = tried(&text).expect(&text);
    assert_eq!(trace.speeds.last().map(|series| series.intervals.len()), Some(5));
}
