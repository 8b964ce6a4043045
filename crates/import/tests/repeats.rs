//! The same said twice: rows that a logger writes more often than it measures, and lines that say what the line before said.

use std::fmt::Write;

use import::{ImportOptions, LogFile, import};
use trace::Trace;

fn read(text: &str) -> Trace {
    let file = LogFile::from_bytes("run.csv", text.as_bytes());
    import(vec![file], &ImportOptions::default()).expect("a plain CSV")
}

/// A relay's speed, with noise, as measured over the n-th slice, in MB/s.
fn measured(n: usize) -> f64 {
    let noise = (n * 7919 % 101) as f64 / 10.0;
    if n % 12 < 8 { 2400.0 + noise } else { 900.0 + noise }
}

/// A table whose rows of `row_s` repeat each measured speed so often.
fn table(times: usize, row_s: f64) -> String {
    let mut text = String::from("t_s,read_mb_per_s,temp_c\n");
    for row in 0..300 * times {
        let _ = writeln!(text, "{},{},{}", row as f64 * row_s, measured(row / times), 60 + row / times % 12);
    }
    text
}

/// Goal: rows that repeat a measured speed tell no more than those that it was measured in. Method: the same measured speeds, each
/// written once, twice, four, five and ten times.
#[test]
fn rows_that_repeat_what_was_measured_are_the_rows_that_it_was_measured_in() {
    let once = read(&table(1, 20.0));
    for times in [2, 4, 5, 10] {
        let trace = read(&table(times, 20.0 / times as f64));
        let (found, wanted) = (&trace.speeds[0].intervals, &once.speeds[0].intervals);
        assert_eq!(found.len(), wanted.len(), "{times} times");
        let differ = |(found, wanted): (&trace::Interval, &trace::Interval)| {
            (found.bytes - wanted.bytes).abs() > 1.0 || (found.span_s - wanted.span_s).abs() > 1e-6
        };
        assert!(!found.iter().zip(wanted).any(differ), "{times} times");
        let [found, wanted] = [&trace, &once].map(|trace| trace.temperatures[0].kelvin.points());
        assert_eq!(found, wanted, "{times} times");
    }
}

/// Goal: a row that is lost shifts no slice after it. Method: each row twice, and one in seventy lost.
#[test]
fn rows_that_are_lost_leave_the_slices_of_the_others() {
    let text = table(2, 10.0);
    let kept = text.lines().enumerate().filter(|(number, _)| number % 70 != 69).map(|(_, line)| line);
    let trace = read(&kept.collect::<Vec<_>>().join("\n"));
    let measured = trace.speeds[0].intervals.len();
    assert!((300..=308).contains(&measured), "{measured} slices of 300");
}

/// Goal: temperatures that were read more often than the speed stay as they are. Method: a drive that warms up by a kelvin in seven rows, and
/// speeds that stand four rows each.
#[test]
fn temperatures_that_change_between_speeds_are_read_on_their_own() {
    let mut text = String::from("t_s,read_mb_per_s,temp_c\n");
    for row in 0..400 {
        let _ = writeln!(text, "{row},{},{}", measured(row / 4), 30 + row / 7);
    }
    let trace = read(&text);
    assert_eq!((trace.speeds[0].intervals.len(), trace.temperatures[0].kelvin.points().len()), (100, 400));
}

/// Goal: a line that is written twice counts once, and the page says so. Method: every line of a table, and one of twelve, twice.
#[test]
fn lines_that_repeat_the_line_before_count_once() {
    let text = table(1, 5.0);
    let once = read(&text);
    for every in [1, 12] {
        let mut doubled = String::new();
        for (number, line) in text.lines().enumerate() {
            let times = if number > 0 && number % every == 0 { 2 } else { 1 };
            (0..times).for_each(|_| doubled.extend([line, "\n"]));
        }
        let trace = read(&doubled);
        assert_eq!(trace.speeds, once.speeds, "every {every}");
        assert!(trace.notes.iter().any(|note| note.contains("repeat the line before")), "{:?}", trace.notes);
    }
}

/// Goal: the air around a drive is the run's and no sensor of the drive. Method: a column of it, under two titles, and a fact that goes before.
#[test]
fn a_column_of_the_air_is_the_runs_ambient() {
    for (fact, title, wanted_k) in [
        ("", "ambient_c", 297.15),
        ("", "Ambient temperature [°C]", 297.15),
        ("", "ambient_k", 297.15),
        ("# ambient_c: 30\n", "ambient_c", 303.0),
    ] {
        let air = if title == "ambient_k" { "297.15" } else { "24" };
        let row = |t: usize| format!("{t},1500,40,{air}\n");
        let text =
            format!("{fact}t_s,write_mb_per_s,temp_c,{title}\n{}", (0..60).map(row).collect::<String>());
        let trace = read(&text);
        assert!(
            trace.facts.ambient_k.is_some_and(|k| (k - wanted_k).abs() < 1e-9),
            "{title}: {:?}",
            trace.facts.ambient_k
        );
        assert_eq!(trace.temperatures.len(), 1, "{title}: {:?}", trace.notes);
    }
}
