//! Verdicts where rows, rare readings or other work hide how a throttle acts.

use analysis::findings::{Cause, EventKind, PolicyClass};
use analysis::{Findings, analyze};

use crate::logs::{Logged, heat, relay, sure_heat};

/// In rows of so many seconds each, the temperature read once in a row.
fn in_rows(log: &Logged, row_s: usize) -> Findings {
    analyze(&log.trace_of(true, row_s))
}

/// Goal: a relay stays one beside a dip that happens to keep its beat. Method: such a dip of the same depth whole periods before the
/// first cycle, on the way up.
#[test]
fn a_dip_in_step_makes_no_clock_of_a_relay() {
    for (seed, off_k, cycles_before) in
        [(1, 338.0, 2), (2, 340.0, 2), (3, 339.0, 3), (4, 341.0, 2), (5, 340.0, 3)]
    {
        let onsets_s = |dip_s: Option<usize>| -> (Vec<f64>, Findings) {
            let mut log = Logged::new(seed);
            let mut throttle = relay(346.0, off_k, 0.35);
            log.log(2400, |second, now_k| {
                let share = throttle(second, now_k);
                let dips = dip_s.is_some_and(|dip_s| (dip_s..dip_s + 25).contains(&second));
                if dips { 0.35 } else { share }
            });
            let findings = in_rows(&log, 1);
            (heat(&findings).iter().map(|onset| onset.0).collect(), findings)
        };
        let (plain_s, _) = onsets_s(None);
        let period_s = plain_s[4] - plain_s[3];
        let dip_s = plain_s[0] - f64::from(cycles_before) * period_s;
        let (found_s, findings) = onsets_s(Some(dip_s.max(20.0) as usize));
        assert!(found_s.len() + 3 >= plain_s.len(), "seed {seed}: {found_s:?}, {plain_s:?}");
        assert_eq!(findings.policy.class, PolicyClass::Relay, "seed {seed}: {:?}", findings.policy);
    }
}

/// Goal: temperatures that are read more rarely than a relay cycles clear it of nothing. Method: readings of every n-th second.
#[test]
fn readings_rarer_than_cycles_do_not_acquit() {
    for (seed, read_s) in [(1, 60), (2, 75), (3, 90), (4, 120), (5, 180)] {
        let mut log = Logged::new(seed);
        log.log(3600, relay(346.0, 341.0, 0.35));
        let mut trace = log.trace_of(true, 1);
        let points: Vec<_> = trace.temperatures[0].kelvin.points().iter().copied().step_by(read_s).collect();
        let mut rare = measure::Series::new();
        points.iter().for_each(|point| rare.push(point.t, point.value));
        trace.temperatures[0].kelvin = rare;
        trace.trust_a_sensor();
        let findings = analyze(&trace);
        let cleared = findings.events.iter().any(|e| e.cause == Cause::NotThermal && e.confidence >= 0.9);
        assert!(!cleared, "every {read_s} s: {:#?}", findings.events.first());
        assert_ne!(findings.policy.class, PolicyClass::None, "every {read_s} s");
    }
}

/// Goal: a throttle whose cycles are shorter than the rows is seen. Method: a relay of ten seconds or so in rows of ten and more.
#[test]
fn cycles_within_rows_are_no_constant_speed() {
    for (seed, row_s, share) in [(1, 10, 0.2), (2, 15, 0.3), (3, 20, 0.2), (4, 30, 0.25), (5, 30, 0.1)] {
        let mut log = Logged::new(seed);
        log.heats_k = 130.0;
        log.log(200 * row_s, relay(350.0, 346.0, share));
        let findings = in_rows(&log, row_s);
        assert!(!heat(&findings).is_empty(), "rows of {row_s} s: {:?}", findings.policy);
        assert_ne!(findings.policy.class, PolicyClass::None, "rows of {row_s} s");
    }
}

/// Goal: the row in which a host stops is no throttling. Method: a relay, and loads that end within a row while it is cooler.
#[test]
fn the_last_row_of_a_load_is_its_end() {
    for (seed, row_s) in [(1, 10), (2, 12), (3, 14), (4, 16), (5, 10)] {
        let mut log = Logged::new(seed);
        log.log(1200, relay(346.0, 340.0, 0.5));
        for rows in [2, 4, 3, 4] {
            log.log(300 - row_s / 2, |_, _| 0.0);
            log.log(rows * row_s + row_s / 2, relay(346.0, 340.0, 0.5));
        }
        log.log(600, |_, _| 0.0);
        let findings = in_rows(&log, row_s);
        let late: Vec<_> = sure_heat(&findings).into_iter().filter(|(t_s, _)| *t_s > 1300.0).collect();
        assert!(late.is_empty(), "rows of {row_s} s: {late:?}");
        assert!(!heat(&findings).is_empty(), "rows of {row_s} s: the relay itself");
    }
}

/// Goal: a regulator whose drive cools while it works in the background is no relay. Method: every few minutes half a minute of a
/// lower speed.
#[test]
fn a_regulator_that_work_interrupts_is_one() {
    for (seed, every_s, busy_s) in [(1, 600, 30), (2, 700, 25), (3, 650, 30), (4, 800, 28), (5, 900, 35)] {
        let mut log = Logged::new(seed);
        log.log(4500, |second, now_k| {
            let share = 1.0 - 0.1 * (now_k - 345.0).max(0.0);
            if second > 300 && second % every_s < busy_s { 0.45 } else { share }
        });
        let findings = in_rows(&log, 1);
        let relay = findings.policy.class == PolicyClass::Relay && findings.policy.confidence >= 0.9;
        assert!(!relay, "every {every_s} s: {:?}", findings.policy);
        assert!(findings.events.iter().any(|e| e.kind == EventKind::ThrottleOnset), "every {every_s} s");
    }
}

/// Goal: a load that begins within a row hides no throttle. Method: a row or a few at full speed after such a beginning, or none, then
/// cycles of a few rows and less.
#[test]
fn a_load_that_begins_within_a_row_may_be_throttled() {
    for (row_s, heats_k, on_k, off_k, share) in [
        (12, 90.0, 350.0, 343.0, 0.2),
        (15, 110.0, 350.0, 346.0, 0.0),
        (20, 90.0, 350.0, 343.0, 0.2),
        (30, 90.0, 350.0, 343.0, 0.0),
        (15, 90.0, 350.0, 346.0, 0.0),
    ] {
        let mut log = Logged::new(row_s as u64);
        log.heats_k = heats_k;
        log.log(5 * row_s + row_s / 2, |_, _| 0.0);
        log.log(200 * row_s, relay(on_k, off_k, share));
        let findings = in_rows(&log, row_s);
        assert_ne!(findings.policy.class, PolicyClass::None, "rows of {row_s} s: {:?}", findings.policy);
    }
}

/// Goal: a log that begins when its drive is throttled already clears it of nothing. Method: a relay that stays on, from its middle on;
/// then the host stops, and the reading at the end of the load is of the pause.
#[test]
fn a_log_that_begins_hot_clears_nothing() {
    for (seed, row_s, share) in [(1, 10, 0.8), (2, 20, 0.8), (3, 10, 0.75), (4, 5, 0.8), (5, 30, 0.78)] {
        let mut log = Logged::new(seed);
        log.heats_k = 60.0;
        let mut throttle = relay(350.0, 330.0, share);
        log.log(900, &mut throttle);
        log.begin_here();
        log.log(100 * row_s, &mut throttle);
        log.log(200, |_, _| 0.0);
        let mut trace = log.trace_of(true, row_s);
        let load_s = (100 * row_s) as f64;
        let read = trace.temperatures[0].kelvin.points().to_vec();
        let mut later = measure::Series::new();
        for point in read {
            let t_s = point.t.as_secs_f64() - 0.5;
            later.push(trace::instant(t_s), if t_s < load_s { point.value } else { 320.0 });
        }
        trace.temperatures[0].kelvin = later;
        let findings = analyze(&trace);
        assert_ne!(findings.policy.class, PolicyClass::None, "rows of {row_s} s: {:?}", findings.policy);
    }
}
