//! The published rows B1 to B9 on the `ssd2` profile, driven by single I/Os in virtual time.
//!
//! The source gives temperatures and orderings, few speeds. Plateau speeds are medians of the last
//! minute: row B5's dips fall at random and are no part of a plateau.

mod logger;

use logger::{Second, deviation, drive, ios, max_speed, max_temp, min_speed};
use measure::Seed;
use measure::record::Op;
use physics::{Drive, HctmCounters, Profile, Source, TruthKind};

fn median(log: &[Second]) -> f64 {
    let mut speeds: Vec<f64> = log.iter().map(|s| s.mb_per_s).collect();
    speeds.sort_by(f64::total_cmp);
    speeds[speeds.len() / 2]
}

fn last_minute(log: &[Second]) -> &[Second] {
    &log[log.len() - 60..]
}

/// B1, B2, B3: a lower TMT1 costs little speed, and the temperature stays below it.
#[test]
fn b1_b2_b3_writes_are_regulated_just_below_tmt1() {
    let run = |tmt| {
        let log = ios(&mut drive("ssd2", tmt), Op::Write, 600);
        (median(last_minute(&log)), max_temp(&log))
    };
    let (b1, t1) = run(None);
    let (b2, t2) = run(Some((65, 70)));
    let (b3, t3) = run(Some((60, 70)));
    assert!(b1 < 1500.0, "lower than SSD1: {b1}");
    assert!((67.0..=70.0).contains(&t1), "at most 70 held: {t1}");
    assert!(b1 > b2 && b2 > b3 && b1 - b2 < 100.0, "{b1} {b2} {b3}");
    assert!((b3 / 1100.0 - 1.0).abs() < 0.049, "about 1.1 GB/s: {b3}");
    assert!((63.0..65.0).contains(&t2), "slightly below 65: {t2}");
    assert!((57.0..60.0).contains(&t3), "below 60: {t3}");
}

/// B4: no light throttling at 50 °C; at 60 °C below 100 MB/s until below 50 °C, then again.
#[test]
fn b4_writes_latch_heavily_at_tmt2() {
    let mut drive = drive("ssd2", Some((50, 60)));
    let log = ios(&mut drive, Op::Write, 300);
    let cut = log.iter().position(|s| s.mb_per_s < 100.0).expect("throttled");
    assert!((59.0..=60.0).contains(&log[cut].temp_c), "onset at {}", log[cut].temp_c);
    let first = drive.truth().iter().find(|event| matches!(event.kind, TruthKind::ThrottleOnset(_)));
    assert_eq!(first.map(|event| event.kind), Some(TruthKind::ThrottleOnset(Source::HctmTmt2)));
    let free = cut + log[cut..].iter().position(|s| s.mb_per_s > 1200.0).expect("released");
    assert!((49.0..=51.0).contains(&log[free - 1].temp_c), "release at {}", log[free - 1].temp_c);
    assert!(log[free + 5].temp_c >= 50.0, "at once exceeds 50 again");
    assert!(log[cut..free - 1].iter().skip(1).all(|s| s.mb_per_s < 100.0), "latched");
    let counters = drive.hctm_counters();
    assert_eq!((counters.tmt1_transitions, counters.tmt1_seconds), (0, 0), "heavy alone");
    assert!(counters.tmt2_transitions >= 2 && counters.tmt2_seconds > 60, "{counters:?}");
}

/// B5: dips to about 300 MB/s that are no throttling. B6: fast, wobbling reads below 71 °C.
#[test]
fn b5_b6_default_settings_dip_and_wobble_without_throttling() {
    let mut drive = drive("ssd2", None);
    let write = ios(&mut drive, Op::Write, 300);
    assert!((250.0..=350.0).contains(&min_speed(&write)), "{}", min_speed(&write));
    let read = ios(&mut drive, Op::Read, 300);
    assert!(logger::mean(&read) > 3000.0);
    let wobble = max_speed(&read) - min_speed(&read);
    assert!((400.0..=600.0).contains(&wobble), "about 500 MB/s: {wobble}");
    assert!(max_temp(&read) < 71.0 && read[299].exact_c > read[0].exact_c + 1.0, "rises, never 71");
    assert_eq!(drive.hctm_counters(), HctmCounters::default());
    let throttled = |kind| matches!(kind, TruthKind::ThrottleOnset(_));
    assert!(!drive.truth().iter().any(|event| throttled(event.kind)), "{:?}", drive.truth());
}

/// B7, B8: reads wobble the more, the harder they are throttled; the temperature is held.
#[test]
fn b7_b8_reads_are_throttled_in_bursts() {
    let read = |tmt| {
        let mut drive = drive("ssd2", tmt);
        ios(&mut drive, Op::Write, 300);
        ios(&mut drive, Op::Read, 300)
    };
    let (b6, b7, b8) = (read(None), read(Some((65, 70))), read(Some((60, 70))));
    let wobble = |log: &[Second]| deviation(&log[60..]);
    assert!(wobble(&b8) > 1.2 * wobble(&b7) && wobble(&b7) > 1.2 * wobble(&b6));
    assert!(max_temp(&b7) <= 65.0 && max_temp(&b8) <= 60.0, "{} {}", max_temp(&b7), max_temp(&b8));
}

/// B9: at 50/60 reads after writes are capped hard from the first second on, and stable: the latch
/// that swings under writes (B4) never lets go under reads.
#[test]
fn b9_reads_start_throttled_and_stay_so() {
    let profile = Profile::builtin("ssd2").expect("built in");
    for seed in 1..=20 {
        let mut drive = Drive::new(&profile, Seed::new(seed));
        drive.set_tmt(physics::Tmt::from_kelvin(323, 333)).expect("legal");
        ios(&mut drive, Op::Write, 300);
        let log = ios(&mut drive, Op::Read, 300);
        assert!((49.0..=54.0).contains(&log[0].temp_c), "already about 50: {}", log[0].temp_c);
        assert!(max_speed(&log) < 0.4 * 3400.0, "seed {seed}: {}", max_speed(&log));
        assert!(deviation(&log) < 20.0, "stable");
    }
}

/// SSD2 heats more slowly than SSD1 when read.
#[test]
fn ssd2_heats_more_slowly_than_ssd1_when_read() {
    let rise = |name| {
        let mut drive = drive(name, None);
        let log = ios(&mut drive, Op::Read, 60);
        log[59].exact_c - log[0].exact_c
    };
    assert!(rise("ssd2") < 0.8 * rise("ssd1"), "{} {}", rise("ssd2"), rise("ssd1"));
}
