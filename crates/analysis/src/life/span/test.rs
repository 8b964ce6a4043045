//! Stretches of lives, and counters that cannot be.

use trace::Counters;

use super::*;

fn counters(t_s: f64, transitions: u64, seconds: u64) -> LifeCounters {
    LifeCounters {
        t_s,
        serial: Some("S1".to_owned()),
        power_on_h: Some(1000.0),
        warning_min: Some(60.0),
        written_bytes: Some(5e13),
        throttling: Counters {
            tmt1_transitions: Some(transitions),
            tmt1_seconds: Some(seconds),
            ..Counters::default()
        },
        ..LifeCounters::default()
    }
}

#[test]
fn one_reading_tells_shares_of_a_life() {
    let whole = whole(&[counters(0.0, 500, 111_600)]).expect("a reading");
    let tmt1 = &whole.throttled[0];
    assert_eq!((whole.throttled.len(), tmt1.transitions), (1, Some(500)));
    assert_eq!((tmt1.per_hour, tmt1.per_tb_written), (Some(0.5), Some(10.0)));
    assert_eq!(tmt1.time, Some(LifeShare { hours: 31.0, share: Some(0.031) }));
    assert_eq!(whole.above_warning, Some(LifeShare { hours: 1.0, share: Some(0.001) }));
    assert_eq!((whole.above_critical, between(&[counters(0.0, 0, 0)], LifeClock::Read)), (None, None));
}

#[test]
fn two_readings_tell_what_happened_between_them() {
    let between =
        between(&[counters(0.0, 500, 100), counters(7200.0, 510, 3700)], LifeClock::Read).expect("two hours");
    assert_eq!((between.throttled[0].transitions, between.throttled[0].per_hour), (Some(10), Some(5.0)));
    assert_eq!(between.throttled[0].time, Some(LifeShare { hours: 1.0, share: Some(0.5) }));
    assert_eq!(between.above_warning, Some(LifeShare { hours: 0.0, share: Some(0.0) }));
    assert_eq!((between.written_per_day_bytes, between.doubts.len()), (None, 0));
}

/// A week in which the drive was on for 100 hours.
#[test]
fn rates_are_of_the_hours_powered_on_and_of_days_by_the_clock() {
    let week = LifeCounters {
        t_s: 7.0 * 86_400.0,
        power_on_h: Some(1100.0),
        warning_min: Some(360.0),
        written_bytes: Some(5.7e13),
        ..counters(0.0, 550, 100)
    };
    let between = between(&[counters(0.0, 500, 100), week], LifeClock::Read).expect("a week");
    assert_eq!((between.clock_hours, between.hours), (Some(168.0), Some(100.0)));
    assert_eq!(between.above_warning, Some(LifeShare { hours: 5.0, share: Some(0.05) }));
    assert_eq!(between.written_per_day_bytes, Some(1e12));
    assert_eq!(between.throttled[0].per_hour, Some(0.5));
    assert!(between.throttled[0].per_tb_written.is_some_and(|rate| (rate - 50.0 / 7.0).abs() < 1e-9));
}

#[test]
fn counters_that_fall_are_told_and_have_no_rate() {
    let reset = LifeCounters { warning_min: Some(3.0), ..counters(604_800.0, 510, 3700) };
    let found = between(&[counters(0.0, 500, 100), reset], LifeClock::Read).expect("a week");
    let fell =
        LifeDoubt { counter: LifeCounter::AboveWarning, kind: LifeDoubtKind::Fell, from: 60.0, to: 3.0 };
    assert_eq!((found.doubts.as_slice(), found.above_warning), ([fell].as_slice(), None));
    assert_eq!(found.throttled[0].transitions, Some(10));
    // One whose hours fell tells nothing of the time between.
    let young = LifeCounters { power_on_h: Some(5.0), ..counters(604_800.0, 510, 3700) };
    let found = between(&[counters(0.0, 500, 100), young], LifeClock::Read).expect("a week");
    assert_eq!((found.hours, found.throttled.len(), found.written_bytes), (None, 0, None));
    assert_eq!(found.doubts.len(), 1);
    // Where nothing shows that both are of one drive, a counter that fell may be another drive's.
    let unnamed = |reading: LifeCounters| LifeCounters { serial: None, ..reading };
    let two = [counters(0.0, 500, 100), counters(604_800.0, 3, 3700)].map(unnamed);
    let found = between(&two, LifeClock::Read).expect("a week");
    assert_eq!((found.hours, found.throttled.len(), found.written_bytes), (None, 0, None));
}

#[test]
fn growth_that_the_clock_does_not_allow_is_told_and_has_no_rate() {
    let hot = LifeCounters { warning_min: Some(560.0), ..counters(3600.0, 500, 100) };
    let found = between(&[counters(0.0, 500, 100), hot], LifeClock::Read).expect("an hour");
    assert_eq!(found.doubts[0].counter, LifeCounter::AboveWarning);
    assert_eq!((found.doubts[0].kind, found.above_warning), (LifeDoubtKind::FasterThanClock, None));
    let fast = LifeCounters { written_bytes: Some(5.1e13), ..counters(60.0, 500, 100) };
    let found = between(&[counters(0.0, 500, 100), fast], LifeClock::Read).expect("a minute");
    assert_eq!((found.doubts[0].counter, found.written_bytes), (LifeCounter::Written, None));
    assert_eq!(found.above_warning, Some(LifeShare { hours: 0.0, share: None }));
    let found = between(&[counters(0.0, 500, 100), counters(3600.0, 90_000, 200)], LifeClock::Read);
    let found = found.expect("an hour");
    assert_eq!(found.doubts[0].counter, LifeCounter::Tmt1Transitions);
    assert_eq!((found.throttled[0].transitions, found.throttled[0].per_hour), (None, None));
    let old =
        LifeCounters { power_on_h: Some(9000.0), warning_min: Some(70.0), ..counters(3600.0, 500, 100) };
    let found = between(&[counters(0.0, 500, 100), old], LifeClock::Read).expect("an hour");
    assert_eq!(found.above_warning.map(|time| time.share), Some(None));
}

/// Seconds beyond the hours powered on, as drives have them that leave out hours in low power.
#[test]
fn more_time_than_there_was_has_no_share() {
    let whole = whole(&[counters(0.0, 1, 36_000_000)]).expect("a reading");
    assert_eq!(whole.throttled[0].time, Some(LifeShare { hours: 10_000.0, share: None }));
}

/// What a reading says that cannot be is named, and has neither a share nor a rate.
#[test]
fn counters_that_cannot_be_are_named() {
    let end = u64::from(u32::MAX);
    let one = |reading: LifeCounters| whole(&[reading]).expect("a reading");
    let kinds =
        |span: &LifeSpan| span.doubts.iter().map(|doubt| (doubt.counter, doubt.kind)).collect::<Vec<_>>();
    let longer = one(counters(0.0, 1, 36_000_000));
    assert_eq!(kinds(&longer), [(LifeCounter::Tmt1Seconds, LifeDoubtKind::LongerThanPoweredOn)]);
    // Hours powered on are whole ones: 1000 may be 1001 less a second.
    assert_eq!(one(counters(0.0, 1, 3_603_000)).doubts, []);
    let full = one(counters(0.0, end, end));
    assert_eq!(full.throttled, []);
    assert!(kinds(&full).iter().all(|(_, kind)| *kind == LifeDoubtKind::AtItsEnd), "{:?}", full.doubts);
    for units in [u128::MAX as f64, u64::MAX as f64, 2f64.powi(48)] {
        let span = one(LifeCounters { written_bytes: Some(units * 512_000.0), ..counters(0.0, 5, 60) });
        assert_eq!(kinds(&span), [(LifeCounter::Written, LifeDoubtKind::MoreThanPossible)]);
        assert_eq!((span.written_bytes, span.throttled[0].per_tb_written), (None, None));
    }
    // Once a second in 1000 hours and two more.
    assert_eq!(one(counters(0.0, 3_607_200, 3_600_000)).doubts, []);
    let often = one(counters(0.0, 3_607_201, 3_600_000));
    assert_eq!(kinds(&often), [(LifeCounter::Tmt1Transitions, LifeDoubtKind::MoreThanPossible)]);
    assert_eq!((often.throttled[0].transitions, often.throttled[0].per_hour), (None, None));
    // Nothing is possible or not by hours that are not.
    let old = one(LifeCounters { power_on_h: Some(1e7), ..counters(0.0, 5, 60) });
    assert_eq!(kinds(&old), [(LifeCounter::PoweredOn, LifeDoubtKind::MoreThanPossible)]);
    assert_eq!((old.hours, old.throttled[0].per_hour, old.written_bytes), (None, None, Some(5e13)));
}

#[test]
fn counters_that_were_reset_have_no_share_of_a_life() {
    let span = whole(&[counters(0.0, 500, 72_000), counters(604_800.0, 3, 60)]).expect("readings");
    assert_eq!(span.throttled[0].transitions, Some(3));
    assert_eq!((span.throttled[0].per_hour, span.throttled[0].per_tb_written), (None, None));
    assert_eq!(span.throttled[0].time.map(|time| time.share), Some(None));
    assert!(span.above_warning.is_some_and(|time| time.share.is_some()), "it did not fall");
    // It grew since: the reset is still in between.
    let readings = [counters(0.0, 500, 72_000), counters(3600.0, 3, 60), counters(604_800.0, 600, 80_000)];
    assert_eq!(whole(&readings).map(|span| span.throttled[0].per_hour), Some(None));
    // Hours that fell are no measure of anything.
    let young = LifeCounters { power_on_h: Some(700.0), ..counters(604_800.0, 500, 100) };
    let span = whole(&[counters(0.0, 500, 100), young]).expect("readings");
    assert_eq!(span.doubt(LifeCounter::PoweredOn), Some(LifeDoubtKind::Fell));
    assert_eq!((span.above_warning.and_then(|time| time.share), span.throttled[0].per_hour), (None, None));
}

/// A week between two readings, as the hours powered on tell, whatever the times say.
fn week_later(t_s: f64) -> LifeCounters {
    LifeCounters {
        power_on_h: Some(1168.0),
        warning_min: Some(564.0),
        written_bytes: Some(5.7e13),
        ..counters(t_s, 668, 60_580)
    }
}

#[test]
fn where_the_clock_tells_nothing_the_hours_powered_on_do() {
    let first = counters(0.0, 500, 100);
    for (t_s, clock) in [
        (0.0, LifeClock::Read),
        (0.0, LifeClock::FilesWritten),
        (0.004, LifeClock::FilesWritten),
        (3600.0, LifeClock::FilesWritten),
    ] {
        let span = between(&[first.clone(), week_later(t_s)], clock).expect("a week");
        assert_eq!(
            (span.clock_hours, span.hours, span.doubts.as_slice()),
            (None, Some(168.0), [].as_slice())
        );
        assert_eq!(span.throttled[0].per_hour, Some(1.0));
        assert_eq!(
            (span.above_warning.map(|time| time.hours), span.written_per_day_bytes),
            (Some(8.4), None)
        );
    }
    // A clock that the readings tell, or files that fit, stay the measure.
    let told = between(&[first.clone(), week_later(3600.0)], LifeClock::Read).expect("an hour");
    assert_eq!((told.clock_hours, told.hours), (Some(1.0), None));
    let fits = between(&[first.clone(), week_later(610_000.0)], LifeClock::FilesWritten).expect("a week");
    assert_eq!((fits.clock_hours.is_some(), fits.written_per_day_bytes.is_some()), (true, true));
    // Of one moment, by all that is known.
    assert_eq!(between(&[first.clone(), first.clone()], LifeClock::FilesWritten), None);
    // Dates are off by up to a day each way: 168 h fit six days.
    let dated = between(&[first, week_later(6.0 * 86_400.0)], LifeClock::Dates).expect("six days");
    assert_eq!((dated.doubts.as_slice(), dated.hours), ([].as_slice(), Some(168.0)));
}

#[test]
fn what_cannot_be_in_one_of_two_readings_did_not_grow() {
    let full = |t_s: f64| LifeCounters { written_bytes: Some(1.7e44), ..counters(t_s, 500, 100) };
    let span = between(&[full(0.0), full(86_400.0)], LifeClock::Read).expect("a day");
    assert_eq!((span.written_bytes, span.doubts.len()), (None, 1));
}

/// Goal: what an earlier reading counted is not forgotten, and not said to have stood still. Method: the later one of another tool, which
/// does not know the counters of TMT1.
#[test]
fn counters_that_one_reading_lacks_are_those_of_the_other() {
    let lacks = LifeCounters { throttling: Counters::default(), ..counters(86_400.0, 0, 0) };
    let readings = [counters(0.0, 100, 3600), lacks];
    let whole = whole(&readings).expect("two readings");
    assert_eq!((whole.throttled[0].transitions, whole.throttled[0].per_hour), (Some(100), None));
    assert_eq!(whole.throttled[0].time, Some(LifeShare { hours: 1.0, share: None }));
    assert_eq!(whole.doubt(LifeCounter::Tmt1Transitions), Some(LifeDoubtKind::Missing));
    for readings in
        [readings.clone(), [readings[1].clone(), LifeCounters { t_s: 2e5, ..readings[0].clone() }]]
    {
        let between = between(&readings, LifeClock::Read).expect("a day");
        assert!(between.throttled.is_empty());
        assert_eq!(between.doubt(LifeCounter::Tmt1Seconds), Some(LifeDoubtKind::Missing));
        assert_eq!(between.doubt(LifeCounter::AboveWarning), None);
    }
}
