//! What readings of a drive's life become, as a user reads it.

use analysis::life::{LifeCounter, LifeDoubt, LifeDoubtKind};

use super::*;

#[test]
fn figures_are_grouped_and_absurd_ones_are_short() {
    assert_eq!((thousands(7.0), thousands(1789.0)), ("7".to_owned(), "1,789".to_owned()));
    assert_eq!((thousands(123_456.0), thousands(f64::NAN)), ("123,456".to_owned(), "unknown".to_owned()));
    assert!(thousands(1e300).len() < 10, "{}", thousands(1e300));
    assert_eq!((hours(0.01), hours(1.5), hours(12.0)), ("36 s".into(), "90 min".into(), "12.0 h".into()));
    assert_eq!((small_percent(0.031), small_percent(1e-6)), ("3.1 %".into(), "less than 0.01 %".into()));
}

fn empty() -> LifeSpan {
    LifeSpan {
        clock_hours: None,
        hours: None,
        throttled: Vec::new(),
        above_warning: None,
        above_critical: None,
        over_limit: None,
        read_bytes: None,
        written_bytes: None,
        written_per_day_bytes: None,
        used_percent: None,
        used_per_day_percent: None,
        doubts: Vec::new(),
    }
}

fn of(whole: LifeSpan, between: Option<LifeSpan>) -> Life {
    Life {
        whole,
        between,
        used_percent: Some(18.0),
        warnings: Vec::new(),
        spare_percent: None,
        spare_threshold_percent: None,
        now_k: None,
        limit_k: None,
        hottest_k: None,
        history: None,
    }
}

fn week() -> LifeSpan {
    LifeSpan {
        clock_hours: Some(168.0),
        hours: Some(100.0),
        above_warning: Some(LifeShare { hours: 5.0, share: Some(0.05) }),
        written_bytes: Some(7e12),
        written_per_day_bytes: Some(1e12),
        used_percent: Some(2.0),
        used_per_day_percent: Some(2.0 / 7.0),
        ..empty()
    }
}

#[test]
fn two_readings_far_apart_tell_rates() {
    assert_eq!(
        life(&of(empty(), Some(week()))),
        [
            "Between the first and the last reading, 168 h apart: 100 h powered on, 7.00 TB written (1.00 TB a day), 16 % to 18 % of its endurance used (0.29 % a day).",
            "In that time above its warning temperature for 5.0 h, 5.0 % of the time powered on.",
            "Life so far: 18 % of its endurance used.",
        ]
    );
    let still = LifeSpan { above_warning: Some(LifeShare { hours: 0.0, share: Some(0.0) }), ..week() };
    let told = life(&of(empty(), Some(still)));
    assert_eq!(told[1], "In that time none of its counters of heat moved.");
}

#[test]
fn counters_that_fell_or_contradict_the_clock_are_told_beside_a_load_too() {
    let doubt = |counter, kind, from, to| LifeDoubt { counter, kind, from, to };
    let doubts = vec![
        doubt(LifeCounter::PoweredOn, LifeDoubtKind::Fell, 10_423.0, 5.0),
        doubt(LifeCounter::AboveWarning, LifeDoubtKind::Fell, 100.0, 3.0),
        doubt(LifeCounter::Written, LifeDoubtKind::FasterThanClock, 1e12, 2e12),
    ];
    let span = LifeSpan { clock_hours: Some(1.0 / 60.0), doubts, ..empty() };
    assert_eq!(
        meanwhile(&of(empty(), Some(span))),
        [
            "Fell between the readings: hours powered on (10,423 h to 5 h), time above the warning temperature (100 min to 3 min). That is a reset, or another drive; no rate is given of them.",
            "Contradicts the clock: within 60 s, data written (1.00 TB to 2.00 TB) cannot grow so much. No rate is given; check the times of the readings.",
        ]
    );
}

#[test]
fn critical_warnings_come_first_and_temperatures_stand_beside_the_limit() {
    let life_of = Life {
        warnings: vec![LifeWarning::Spare, LifeWarning::ReadOnly],
        spare_percent: Some(0.0),
        spare_threshold_percent: Some(5.0),
        now_k: Some(309.0),
        limit_k: Some(343.0),
        hottest_k: Some(348.0),
        history: Some(LifeHistory {
            hours: 21.2,
            coolest_k: 309.0,
            hottest_k: 348.0,
            readings: 128,
            readings_over_limit: Some(2),
        }),
        ..of(LifeSpan { over_limit: Some(37), ..empty() }, None)
    };
    assert_eq!(
        life(&life_of),
        [
            "The drive reports a critical warning: available spare is below its threshold (0 % left, threshold 5 %); the media are read-only.",
            "Life so far: 18 % of its endurance used.",
            "Temperature: 36 °C at the last reading, at most 75 °C, 36 °C to 75 °C over the last 21.2 h of its history (2 of 128 readings above the warning temperature), warning temperature 70 °C, 37 readings above it by its own count.",
        ]
    );
    let silent = Life { warnings: Vec::new(), ..life_of };
    assert!(life(&silent)[0].starts_with("Available spare is below its threshold (0 % left, threshold 5 %)"));
}
