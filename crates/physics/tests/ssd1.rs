//! The published rows A1 to A6 on the `ssd1` profile, driven by single I/Os in virtual time.
//!
//! Tolerances: 4.9 % on absolute speeds (the source does not say MB or MiB), 2 K on temperatures.

mod logger;

use logger::{deviation, drive, ios, max_speed, max_temp, mean, min_speed};
use measure::record::Op;
use physics::{Source, TruthKind};

const SPEED: f64 = 0.049;

fn about(value: f64, stated: f64, tolerance: f64) -> bool {
    (value / stated - 1.0).abs() <= tolerance
}

/// A1 and A4: no throttling while writing at default settings although T is far above TMT1.
#[test]
fn a1_a4_writes_run_free_at_default_settings() {
    let mut drive = drive("ssd1", None);
    let log = ios(&mut drive, Op::Write, 300);
    assert!(
        log.iter().all(|s| about(s.mb_per_s, 1600.0, SPEED)),
        "{} to {}",
        min_speed(&log),
        max_speed(&log)
    );
    let end = log.last().expect("seconds").temp_c;
    assert!((61.0..=65.0).contains(&end), "low 60s, at most about 65: {end}");
    assert!(drive.truth().is_empty(), "{:?}", drive.truth());
}

/// A2: at 70/80 the same write stays below TMT1.
#[test]
fn a2_writes_run_free_below_tmt1() {
    let mut drive = drive("ssd1", Some((70, 80)));
    let log = ios(&mut drive, Op::Write, 600);
    assert!(about(mean(&log), 1600.0, SPEED) && max_temp(&log) < 70.0);
    assert!(drive.truth().is_empty());
}

/// A3: at 60/70 writing drops to about 200 MB/s at 60 °C, on and off.
#[test]
fn a3_writes_are_cut_hard_at_tmt1() {
    let mut drive = drive("ssd1", Some((60, 70)));
    let log = ios(&mut drive, Op::Write, 600);
    assert!(about(min_speed(&log), 200.0, 0.05), "{}", min_speed(&log));
    assert!((59.0..=61.0).contains(&max_temp(&log)), "{}", max_temp(&log));
    assert!(deviation(&log[200..]) > 400.0, "large fluctuation: {}", deviation(&log[200..]));
    let counters = drive.hctm_counters();
    assert!(counters.tmt1_transitions >= 5 && counters.tmt2_transitions == 0, "{counters:?}");
}

/// A5: reading right after writing at default settings is held by the vendor near 80 °C, stable.
#[test]
fn a5_reads_are_throttled_by_the_vendor() {
    let mut drive = drive("ssd1", None);
    ios(&mut drive, Op::Write, 300);
    let log = ios(&mut drive, Op::Read, 300);
    let onset = log.iter().position(|s| s.mb_per_s < 2700.0).expect("it is throttled");
    assert!(about(mean(&log[1..onset]), 3000.0, SPEED));
    assert!((20..150).contains(&onset), "much shorter than half of the write time: {onset} s");
    let (at_onset, after) = (log[onset].temp_c, &log[onset + 1..]);
    assert!((79.0..=81.0).contains(&at_onset), "onset at {at_onset}");
    let strength = mean(after) / mean(&log[1..onset]);
    assert!((strength - 0.80).abs() <= 0.05, "{strength}");
    assert!(deviation(after) < 10.0, "stable: {}", deviation(after));
    let end = log.last().expect("seconds").temp_c;
    assert!((79.0..=82.0).contains(&end), "stable near 81: {end}");
    assert!(max_temp(&log) <= 84.0);
    // No HCTM transition: the vendor's threshold acts.
    assert_eq!(drive.hctm_counters(), physics::HctmCounters::default());
    let kinds: Vec<_> = drive.truth().iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [TruthKind::ThrottleOnset(Source::Vendor)]);
}

/// A6: at 70/80 reading is cut hard at 70 °C; the vendor's threshold is never reached.
#[test]
fn a6_reads_are_cut_hard_at_tmt1() {
    let mut drive = drive("ssd1", Some((70, 80)));
    ios(&mut drive, Op::Write, 300);
    let log = ios(&mut drive, Op::Read, 300);
    assert!(about(min_speed(&log), 200.0, 0.05), "{}", min_speed(&log));
    assert!((69.0..=71.0).contains(&max_temp(&log)), "{}", max_temp(&log));
    assert!(deviation(&log) > 800.0, "very large variation: {}", deviation(&log));
    let vendor = TruthKind::ThrottleOnset(Source::Vendor);
    assert!(drive.truth().iter().all(|event| event.kind != vendor));
}
