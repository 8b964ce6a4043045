//! Logs that name no phases, of drives that stop by themselves and of hosts that pause: which of the two the temperatures say.

use std::fmt::Write;

use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

/// A plain CSV in rows of 5 s of a drive that is loaded or not, and so many °C warm, at each second.
fn table(at: impl Fn(u32) -> (bool, f64), seconds: u32) -> String {
    let mut text = String::from("t_s,read_mb_per_s,temp_c\n");
    for row in 1..=seconds / 5 {
        let (loaded, celsius) = at(row * 5 - 1);
        let _ = writeln!(text, "{},{},{}", row * 5, if loaded { 2400 } else { 0 }, celsius.floor());
    }
    text
}

fn read(text: &str) -> Trace {
    let file = LogFile::from_bytes("run.csv", text.as_bytes());
    import(vec![file], &ImportOptions::default()).expect("a plain CSV")
}

fn loads(trace: &Trace) -> usize {
    trace.phases.iter().filter(|phase| phase.op == SegmentOp::Read).count()
}

/// Whether a drive is loaded and how many °C it is warm, at each second: from 40 °C to 74 °C the first time, then 59 °C and back. `way` is the
/// share of each that is gone by the share of its time.
fn thermostat([up_s, down_s, first_s]: [u32; 3], way: impl Fn(f64) -> f64) -> impl Fn(u32) -> (bool, f64) {
    move |second| {
        let gone = |since: u32, of_s: u32| way(f64::from(since) / f64::from(of_s));
        match second.checked_sub(first_s) {
            None => (true, 40.0 + 34.0 * gone(second, first_s)),
            Some(since) => match since % (up_s + down_s) {
                down if down < down_s => (false, 74.0 - 15.0 * gone(down, down_s)),
                up => (true, 59.0 + 15.0 * gone(up - down_s, up_s)),
            },
        }
    }
}

/// Goal: stops of minutes are the drive's where all begin at one temperature and end at another, in a file as well. Method: 40 °C to 74 °C,
/// then 74 °C to 59 °C and back, in five instances of other speeds.
#[test]
fn a_thermostat_in_a_table_is_one_load() {
    for (up_s, down_s, first_s) in
        [(300, 400, 900), (110, 260, 500), (500, 1000, 1600), (250, 250, 700), (120, 150, 300)]
    {
        let celsius = thermostat([up_s, down_s, first_s], |share| share);
        let trace = read(&table(celsius, first_s + 6 * (up_s + down_s)));
        assert_eq!(loads(&trace), 1, "{up_s} s up and {down_s} s down: {:?}", trace.phases);
    }
}

/// Goal: a coarse sensor and long rows hide no thermostat. Method: the same drives in rows of a minute and in steps of 5 K, which show neither
/// that a drive still warms up nor that it still cools.
#[test]
fn a_thermostat_shows_in_steps_of_5_k_and_rows_of_a_minute() {
    for (up_s, down_s, first_s) in
        [(300, 400, 900), (420, 660, 1800), (500, 1000, 1600), (360, 540, 1100), (600, 900, 2000)]
    {
        // Most of the way at first, as a drive that comes to rest.
        let way = |share: f64| (1.0 - (-3.0 * share).exp()) / (1.0 - f64::exp(-3.0));
        let celsius = thermostat([up_s, down_s, first_s], way);
        let mut text = String::from("t_s,read_mb_per_s,temp_c\n");
        for row in 1..=(first_s + 6 * (up_s + down_s)) / 60 {
            let loaded = (row * 60 - 60..row * 60).filter(|second| celsius(*second).0).count();
            let steps = (celsius(row * 60 - 1).1 / 5.0).floor() * 5.0;
            let _ = writeln!(text, "{},{},{steps}", row * 60, 40 * loaded);
        }
        let trace = read(&text);
        assert_eq!(loads(&trace), 1, "{up_s} s up and {down_s} s down: {:?}", trace.phases);
    }
}

/// Goal: loads of one length are a host's, as a thermostat lets a cold drive run longer. Method: the same drive by a timer.
#[test]
fn loads_of_one_length_in_a_table_are_many() {
    for (load_s, pause_s) in [(300, 85), (150, 60), (600, 80), (200, 200), (120, 120)] {
        let period_s = load_s + pause_s;
        let celsius = |second: u32| {
            let (cycle, within) = (f64::from(second / period_s), second % period_s);
            let base = 55.0 - 20.0 * (-cycle / 1.5).exp();
            match within {
                up if up < load_s => (true, base + 15.0 * f64::from(up) / f64::from(load_s)),
                down => (false, base + 15.0 - 15.0 * f64::from(down - load_s) / f64::from(pause_s)),
            }
        };
        let trace = read(&table(celsius, 8 * period_s));
        assert_eq!(loads(&trace), 8, "{load_s} s of load, {pause_s} s of pause: {:?}", trace.phases);
    }
}
