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

pub(super) fn empty() -> LifeSpan {
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

pub(super) fn of(whole: LifeSpan, between: Option<LifeSpan>) -> Life {
    Life {
        whole,
        between,
        used_percent: Some(18.0),
        warnings: Vec::new(),
        spare_percent: None,
        spare_threshold_percent: None,
        media_errors: None,
        has_failed: false,
        now_k: None,
        sensor: None,
        limit_k: None,
        limit_is_trip: false,
        critical_k: None,
        is_made_up: false,
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
            "Fell between the readings: hours powered on (10,423 h to 5 h), time above the warning temperature (100 min to 3 min). That is another drive, a reset, or readings out of order; no rate is given of them.",
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
        sensor: None,
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
            "Temperature: 36 °C at the last reading, at most 75 °C, 36 °C to 75 °C in the 21.2 h of its history (2 of 128 readings above the warning temperature), warning temperature 70 °C, 37 readings above it by its own count.",
        ]
    );
    let silent = Life { warnings: Vec::new(), ..life_of.clone() };
    assert!(life(&silent)[0].starts_with("Available spare is below its threshold (0 % left, threshold 5 %)"));
    let of_else = Life { warnings: vec![LifeWarning::ReadOnly], ..life_of };
    assert_eq!(
        life(&of_else)[0],
        "The drive reports a critical warning: the media are read-only. Available spare is below its threshold (0 % left, threshold 5 %), and the drive does not warn of it."
    );
}

/// Goal: no "never" beside a reading that was. Method: a counter at 0 with each of what may show otherwise.
#[test]
fn a_counter_at_zero_is_no_never_where_anything_shows_more() {
    let zero = |hours| Some(LifeShare { hours, share: Some(0.0) });
    let cold = of(LifeSpan { above_warning: zero(0.0), above_critical: zero(0.0), ..empty() }, None);
    let cold = Life { limit_k: Some(343.0), critical_k: Some(348.0), ..cold };
    let told = |life_of: &Life| life(life_of)[0].clone();
    assert_eq!(told(&cold), "Never above its warning or critical temperature, by its own counters.");
    for hot in [
        Life { now_k: Some(345.0), ..cold.clone() },
        Life { hottest_k: Some(345.0), ..cold.clone() },
        Life { whole: LifeSpan { over_limit: Some(9), ..cold.whole.clone() }, ..cold.clone() },
    ] {
        assert_eq!(
            told(&hot),
            "The counter of time above its warning temperature is at 0, though readings were above it."
        );
    }
    let both = told(&Life { now_k: Some(349.0), ..cold.clone() });
    assert_eq!(
        both,
        "The counters of time above its warning and critical temperature are at 0, though readings were above them."
    );
    // A flag, thresholds that are not known, and values that a bridge made up.
    let warned = life(&Life { warnings: vec![LifeWarning::Temperature], ..cold.clone() });
    assert_eq!(
        warned[1..3],
        [WARNS_UNCOUNTED, "Never above its critical temperature, by its own counters."].map(str::to_owned)
    );
    let unknown = told(&Life { limit_k: None, critical_k: None, ..cold.clone() });
    assert!(
        unknown.starts_with(
            "The counters of time above its warning and critical temperature are zero: never above, or not implemented."
        ),
        "{unknown}"
    );
    let made_up = life(&Life { is_made_up: true, ..cold.clone() });
    assert!(made_up[0].contains("a USB bridge makes up some of these values"), "{made_up:?}");
    assert!(made_up.iter().all(|sentence| !sentence.contains("ever above")), "{made_up:?}");
    // Time above the critical temperature is not in that above the warning one.
    let some = Some(LifeShare { hours: 0.1, share: None });
    let critical = Life { whole: LifeSpan { above_critical: some, ..cold.whole.clone() }, ..cold };
    assert_eq!(told(&critical), "Above its critical temperature for 6 min.");
    assert!(life(&critical).iter().all(|sentence| !sentence.contains("ever above")));
}

/// Goal: counters that one of two readings lacks are told with the reading that has them. Method: TMT1 of the first, as nvme-cli and then
/// an older smartctl leave it; and a threshold whose counter is at its end beside one at zero.
#[test]
fn what_a_reading_lacks_is_not_said_to_be_zero() {
    let missing = doubts(&[
        (LifeCounter::Tmt1Transitions, LifeDoubtKind::Missing),
        (LifeCounter::Tmt1Seconds, LifeDoubtKind::Missing),
    ]);
    let all = vec![throttled(HostThreshold::Tmt1, 100, 1.0, None)];
    let whole = LifeSpan { throttled: all, doubts: missing.clone(), ..empty() };
    let still = Some(LifeShare { hours: 0.0, share: Some(0.0) });
    let span = LifeSpan { clock_hours: Some(168.0), above_critical: still, doubts: missing, ..empty() };
    assert_eq!(
        life(&of(whole, Some(span)))[..4],
        [
            "TMT1: 100 times, 60 min in all at an earlier reading; the last one does not have them.",
            "Between the first and the last reading, 168 h apart.",
            "In that time none of the counters of heat that both readings have moved.",
            "In one of the two readings only: TMT1 transitions, time at TMT1; how they changed is not known.",
        ]
    );
    let ended = doubts(&[(LifeCounter::Tmt1Transitions, LifeDoubtKind::AtItsEnd)]);
    let all = vec![throttled(HostThreshold::Tmt2, 0, 0.0, Some(0.0))];
    let told = life(&of(LifeSpan { throttled: all, doubts: ended, ..empty() }, None));
    assert!(told[0].starts_with("The TMT2 counters are zero: "), "{told:?}");
}

/// A threshold of a whole life, with a share where it has one.
fn throttled(
    threshold: HostThreshold,
    transitions: u64,
    in_all_h: f64,
    share: Option<f64>,
) -> LifeThrottling {
    LifeThrottling {
        threshold,
        transitions: Some(transitions),
        time: Some(LifeShare { hours: in_all_h, share }),
        per_hour: None,
        per_tb_written: None,
    }
}

fn doubts(all: &[(LifeCounter, LifeDoubtKind)]) -> Vec<LifeDoubt> {
    all.iter()
        .map(|(counter, kind)| LifeDoubt { counter: *counter, kind: *kind, from: 400.0, to: 3.0 })
        .collect()
}

#[test]
fn the_headline_is_of_the_thresholds_whose_time_is_a_share() {
    use HostThreshold::{Tmt1, Tmt2};
    let of_both = |one, other| LifeSpan { throttled: vec![one, other], ..empty() };
    let headline = |span: &LifeSpan| headline(span).unwrap_or_default();
    let both = of_both(throttled(Tmt1, 5, 20.0, Some(0.3)), throttled(Tmt2, 1, 1.0, Some(0.1)));
    assert_eq!(headline(&both), "Throttled at TMT1 or TMT2 for 40 % of the time powered on.");
    let one = of_both(throttled(Tmt1, 5, 20.0, Some(0.3)), throttled(Tmt2, 1, 9e4, None));
    assert_eq!(headline(&one), "Throttled at TMT1 for 30 % of the time powered on.");
    let much = of_both(throttled(Tmt1, 5, 20.0, Some(0.8)), throttled(Tmt2, 1, 9.0, Some(0.6)));
    assert_eq!(headline(&much), "Throttled at TMT1 or TMT2 for at least 80 % of the time powered on.");
    let none = of_both(throttled(Tmt1, 5, 20.0, None), throttled(Tmt2, 1, 9.0, None));
    assert_eq!(headline(&none), "");
    let fell = doubts(&[(LifeCounter::Tmt1Seconds, LifeDoubtKind::Fell)]);
    let reset = of_both(throttled(Tmt1, 0, 0.0, None), throttled(Tmt2, 0, 0.0, Some(0.0)));
    assert_eq!(
        headline(&LifeSpan { doubts: fell, ..reset }),
        "The TMT1 and TMT2 counters are zero since a reset between the readings."
    );
}

#[test]
fn counters_in_doubt_say_why_and_claim_no_never() {
    let span = LifeSpan {
        throttled: vec![
            throttled(HostThreshold::Tmt1, 3, 60.0 / 3600.0, None),
            throttled(HostThreshold::Tmt2, 10, 11_111.0, None),
        ],
        above_warning: Some(LifeShare { hours: 0.0, share: None }),
        above_critical: Some(LifeShare { hours: 0.0, share: Some(0.0) }),
        doubts: doubts(&[
            (LifeCounter::Tmt1Transitions, LifeDoubtKind::Fell),
            (LifeCounter::Tmt1Seconds, LifeDoubtKind::Fell),
            (LifeCounter::AboveWarning, LifeDoubtKind::Fell),
            (LifeCounter::Tmt2Seconds, LifeDoubtKind::LongerThanPoweredOn),
            (LifeCounter::Written, LifeDoubtKind::MoreThanPossible),
            (LifeCounter::OverLimit, LifeDoubtKind::AtItsEnd),
        ]),
        ..empty()
    };
    assert_eq!(
        life(&of(span, None)),
        [
            "TMT1: 3 times, 60 s in all, since a reset between the readings, if they are of one drive.",
            "TMT2: 10 times, 11,111 h in all. That time is longer than its power-on hours, so one of the two counters is wrong.",
            "The counter of time above its critical temperature is zero: never above, or not implemented. Its thresholds are not known here; `nvme id-ctrl` shows them (wctemp, cctemp).",
            "Life so far: 18 % of its endurance used.",
            "Impossible values, left out: data written (more than the fastest drive moves in its power-on hours), readings above the warning temperature (the counter is at its end).",
        ]
    );
    let untold =
        LifeSpan { throttled: vec![throttled(HostThreshold::Tmt1, 0, 20.0, Some(0.004))], ..empty() };
    assert_eq!(
        life(&of(untold, None))[1],
        "TMT1: 0 times, 20.0 h in all (0.40 % of the time powered on): a time without a transition, so one of the two counters is wrong."
    );
}

/// Many transitions last a second together: their time is not counted.
#[test]
fn a_time_that_stays_at_zero_is_no_share() {
    for (transitions, told) in [
        (3, "TMT1: 3 times, each shorter than one count."),
        (120, "TMT1: 120 times while its time counter stayed at 0, which the drive may not keep."),
    ] {
        let span = LifeSpan {
            throttled: vec![throttled(HostThreshold::Tmt1, transitions, 0.0, Some(0.0))],
            ..empty()
        };
        assert_eq!(life(&of(span, None))[0], told);
    }
}

/// The minutes above WCTEMP of an NVMe drive are those below CCTEMP.
#[test]
fn time_above_the_critical_temperature_is_not_in_that_above_the_warning_one() {
    let hot = LifeSpan {
        above_warning: Some(LifeShare { hours: 5.0 / 60.0, share: Some(0.0002) }),
        above_critical: Some(LifeShare { hours: 10.0, share: Some(0.02) }),
        ..empty()
    };
    assert_eq!(
        life(&of(hot.clone(), Some(LifeSpan { clock_hours: Some(100.0), hours: Some(90.0), ..hot }))),
        [
            "From its warning up to its critical temperature for 5 min, 0.02 % of the time powered on.",
            "Above its critical temperature for 10.0 h, 2.0 % of the time powered on.",
            "Between the first and the last reading, 100 h apart: 90 h powered on.",
            "In that time from its warning up to its critical temperature for 5 min, 0.02 % of the time powered on.",
            "In that time above its critical temperature for 10.0 h, 2.0 % of the time powered on.",
            "Life so far: 18 % of its endurance used.",
        ]
    );
}

#[test]
fn readings_whose_times_tell_nothing_and_endurance_at_its_end() {
    let span =
        LifeSpan { clock_hours: None, written_per_day_bytes: None, used_per_day_percent: None, ..week() };
    let told = life(&Life { used_percent: Some(255.0), ..of(empty(), Some(span)) });
    assert_eq!(
        told[0],
        "Between the first and the last reading, 100 power-on hours apart (the times of the readings do not tell it): 7.00 TB written, 253 % to 255 % or more of its endurance used."
    );
    assert_eq!(told.last().map(String::as_str), Some("Life so far: 255 % or more of its endurance used."));
    // Two readings within seconds have no mean speed.
    let short = LifeSpan { clock_hours: Some(1e-6), written_bytes: Some(1e12), ..empty() };
    assert!(life(&of(empty(), Some(short)))[0].ends_with("0 s apart: 1.00 TB written."));
}

/// Goal: a page does not leave open what its counters say. Method: a drive that counted, one that did not, and one whose only time is in doubt.
#[test]
fn what_the_drive_counted_is_the_answer_where_nothing_was_loaded() {
    use HostThreshold::{Tmt1, Tmt2};
    let life_of = |transitions, hours, doubt: &[(LifeCounter, LifeDoubtKind)]| {
        let all = vec![throttled(Tmt1, transitions, hours, None), throttled(Tmt2, 0, 0.0, None)];
        of(LifeSpan { throttled: all, doubts: doubts(doubt), ..empty() }, None)
    };
    assert_eq!(
        counted(&life_of(150_000, 0.0, &[])).as_deref(),
        Some("Throttling: counted by the drive at TMT1; how it throttles is not determined.")
    );
    assert_eq!(counted(&life_of(0, 0.0, &[])), None);
    let longer = [(LifeCounter::Tmt1Seconds, LifeDoubtKind::LongerThanPoweredOn)];
    assert_eq!(counted(&life_of(0, 90.0, &longer)), None);
    assert!(life(&life_of(150_000, 0.0, &[]))[0].starts_with("TMT1: 150,000 times"));
}

/// Goal: nobody is sent to load a drive that is too hot. Method: one at its warning temperature, one that warns without telling it, one that
/// is cool or warns of being cold.
#[test]
fn a_drive_that_is_too_hot_is_cooled_first() {
    let life_of = |now_c: f64, limit_c: Option<f64>, warnings: &[LifeWarning]| Life {
        now_k: Some(now_c + 273.0),
        limit_k: limit_c.map(|c| c + 273.0),
        warnings: warnings.to_vec(),
        ..of(empty(), None)
    };
    assert_eq!(
        cool_first(&life_of(86.0, Some(84.0), &[])).as_deref(),
        Some(
            "Cool the drive before any further load: it was 86 °C at the last reading and its warning temperature is 84 °C. More airflow or a heatsink; `heatsoak watch DRIVE` shows what that brings."
        )
    );
    let critical = Life { critical_k: Some(360.0), ..life_of(88.0, Some(84.0), &[]) };
    let critical = cool_first(&critical).unwrap_or_default();
    assert!(
        critical.contains("88 °C at the last reading and its critical temperature is 87 °C"),
        "{critical}"
    );
    let warned = cool_first(&life_of(91.0, None, &[LifeWarning::Temperature])).unwrap_or_default();
    assert!(warned.contains("it was 91 °C at the last reading and warns of its temperature."), "{warned}");
    assert_eq!(cool_first(&life_of(83.0, Some(84.0), &[])), None);
    assert_eq!(cool_first(&life_of(4.0, None, &[LifeWarning::Temperature])), None);
}

/// Goal: a temperature that is not the composite one is not told as if it were.
#[test]
fn another_sensor_is_named() {
    let of_sensor = |sensor: &str| {
        let life_of = Life { now_k: Some(334.0), sensor: Some(sensor.into()), ..of(empty(), None) };
        life(&life_of).pop().unwrap_or_default()
    };
    assert_eq!(of_sensor("composite"), "Temperature: 61 °C at the last reading.");
    let trip =
        Life { limit_k: Some(343.0), limit_is_trip: true, critical_k: Some(358.0), ..of(empty(), None) };
    assert_eq!(
        life(&trip).pop().unwrap_or_default(),
        "Temperature: trip temperature 70 °C, critical temperature 85 °C."
    );
    assert_eq!(of_sensor("sensor1"), "Temperature: 61 °C (sensor 1) at the last reading.");
}
