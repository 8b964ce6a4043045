//! Days of a host's work: rates that change as they like, jobs that begin in a page cache, logs that begin in the middle.

use analysis::analyze;
use analysis::findings::{Caveat, PolicyClass, SegmentOp};
use trace::caveat::SlowdownSeen;

use crate::logs::{Logged, heat, regulator, relay, sure_heat};
use crate::scheduled::named;

/// A load that keeps each rate for a while and then takes another one.
fn rates(log: &mut Logged, hours: usize, kept_s: (usize, usize), least: f64) {
    let mut logged_s = 0;
    while logged_s < hours * 3600 {
        let kept = kept_s.0 + (log.random() * (kept_s.1 - kept_s.0) as f64) as usize;
        let rate = least + (1.0 - least) * log.random();
        log.log(kept, |_, _| rate);
        logged_s += kept;
    }
}

/// Goal: a host that asks now for more and now for less is no throttle, though each of its lulls begins where the drive is warmest. Method:
/// rates drawn for 20 s to a quarter of an hour, on drives that never throttle.
#[test]
fn a_host_that_asks_for_other_rates_throttles_no_drive() {
    let mut none = 0;
    for (seed, row_s, kept_s, least, heats_k) in [
        (1, 1, (20, 120), 0.2, 30.0),
        (2, 10, (60, 300), 0.1, 40.0),
        (3, 30, (120, 900), 0.3, 50.0),
        (4, 5, (40, 400), 0.05, 60.0),
        (5, 60, (300, 900), 0.2, 55.0),
        (6, 10, (60, 600), 0.25, 66.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        rates(&mut log, 24, kept_s, least);
        let findings = analyze(&log.trace_of(true, row_s));
        let of = format!("rates for {kept_s:?} s, {heats_k} K, rows of {row_s} s: {:?}", findings.policy);
        assert!(sure_heat(&findings).is_empty(), "{of}, {:?}", sure_heat(&findings));
        assert!(heat(&findings).len() <= 1, "{of}, {:?}", heat(&findings));
        none += usize::from(named(&findings, PolicyClass::None));
    }
    assert!(none >= 5, "none in {none} of 6");
}

/// Goal: a relay is one though the host takes other rates before. Method: the same rates on a drive below its threshold, and then all it can do.
#[test]
fn a_throttle_after_other_rates_is_one() {
    for (seed, row_s) in [(1, 1), (2, 2), (3, 5), (4, 1), (5, 2)] {
        let mut log = Logged::new(seed);
        log.heats_k = 56.0;
        rates(&mut log, 1, (60, 300), 0.3);
        log.log(2400, relay(350.0, 344.0, 0.35));
        let findings = analyze(&log.trace_of(true, row_s));
        assert!(sure_heat(&findings).len() >= 5, "rows of {row_s} s: {:#?}", findings.events);
        assert_eq!(findings.policy.class, PolicyClass::Relay, "rows of {row_s} s: {:?}", findings.policy);
    }
}

/// Goal: what a page cache answers is no speed that the drive falls from. Method: jobs whose first seconds are faster than the drive by any
/// factor, with rests between them, never throttled.
#[test]
fn jobs_that_begin_in_a_page_cache_are_not_throttled() {
    for (seed, row_s, load_s, pause_s, heats_k) in [
        (1, 1, 400, 130, 40.0),
        (2, 2, 350, 110, 44.0),
        (3, 1, 520, 160, 50.0),
        (4, 2, 300, 95, 36.0),
        (5, 1, 610, 180, 48.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        for _ in 0..8 {
            let (burst_s, height) = (1 + (log.random() * 6.0) as usize, 1.2 + 3.0 * log.random());
            let load_s = load_s + (log.random() * 200.0) as usize;
            log.log(burst_s, |_, _| height);
            log.log(load_s, |_, _| 0.5);
            log.log(pause_s, |_, _| 0.0);
        }
        let findings = analyze(&log.trace_of(true, row_s));
        let of = format!("loads of {load_s} s: {:?}, {:?}", findings.policy, heat(&findings));
        assert!(sure_heat(&findings).is_empty(), "{of}");
        assert!(!named(&findings, PolicyClass::Relay) && !named(&findings, PolicyClass::TwoLevel), "{of}");
    }
}

/// Goal: a log that begins in a load does not surely clear the drive. Method: one speed at one temperature of 61 to 69 °C from the first row to
/// the last, as a throttle holds it, or a host.
#[test]
fn a_log_that_begins_where_the_drive_is_at_rest_does_not_surely_clear_it() {
    for (seed, row_s, share) in [(1, 1, 0.46), (2, 5, 0.5), (3, 10, 0.54), (4, 30, 0.57), (5, 2, 0.48)] {
        let mut log = Logged::new(seed);
        log.log(3000, |_, _| share);
        log.begin_here();
        log.log(1500, |_, _| share);
        log.log(300, |_, _| 0.0);
        let findings = analyze(&log.trace_of(true, row_s));
        assert!(!named(&findings, PolicyClass::None), "{share}: {:?}", findings.policy);
    }
}

/// Goal: stairs of a few percent are not cleared. Method: two and three steps of 3 % at temperatures that a warm drive creeps through, whose
/// lower speeds stay.
#[test]
fn stairs_of_a_few_percent_are_not_cleared() {
    for (seed, row_s, first_k, by_k, steps) in [
        (1, 1, 350.0, 0.6, 2),
        (2, 1, 346.0, 0.8, 3),
        (3, 5, 348.0, 0.6, 2),
        (4, 2, 352.0, 0.7, 3),
        (5, 5, 345.0, 0.7, 3),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = first_k + 3.5 - 312.0;
        let mut taken = 0;
        log.log(3600, |_, kelvin| {
            while taken < steps && kelvin >= first_k + by_k * taken as f64 {
                taken += 1;
            }
            1.0 - 0.03 * taken as f64
        });
        let findings = analyze(&log.trace_of(true, row_s));
        let policy = &findings.policy;
        assert!(!named(&findings, PolicyClass::None), "{steps} steps from {first_k} K: {policy:?}");
    }
}

/// Goal: a drive that stops is no relay where no row shows it stopped. Method: stops shorter than a row and up to two.
#[test]
fn stops_no_longer_than_a_row_are_no_surely_lower_speed() {
    let between_rows = Caveat::PolicyUndetermined { seen: SlowdownSeen::BetweenRows };
    let mut asked = 0;
    for (seed, row_s, on_k, off_k) in [
        (1, 10, 348.0, 343.5),
        (2, 10, 347.5, 343.0),
        (3, 8, 349.0, 345.0),
        (4, 12, 348.0, 342.5),
        (5, 30, 347.0, 342.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 40.0;
        // A sensor of the drive's own that reads now a little more and now less, so that no stop is as long as the last.
        let (mut stopped, mut off_by_k) = (false, 0.0);
        log.log(3600, |second, kelvin| {
            let before = stopped;
            stopped = kelvin + off_by_k >= if stopped { off_k } else { on_k };
            if stopped != before {
                off_by_k = (second * 7919 % 101) as f64 / 101.0;
            }
            if stopped { 0.0 } else { 1.0 }
        });
        let findings = analyze(&log.trace_of(true, row_s));
        let of = format!("rows of {row_s} s: {:?}", findings.policy);
        assert!(!named(&findings, PolicyClass::Relay), "{of}");
        assert_ne!(findings.policy.class, PolicyClass::None, "{of}");
        // More of such rows would show no more.
        asked += usize::from(findings.caveats.contains(&between_rows));
        let irregular = Caveat::PolicyUndetermined { seen: SlowdownSeen::Irregular };
        assert!(!findings.caveats.contains(&irregular), "{of}");
    }
    assert!(asked >= 2, "{asked}");
}

/// Goal: reads and writes that keep one ratio do not tell what each heats. Method: such loads, which come and go; of the same with reads alone
/// the gain is known.
#[test]
fn loads_of_one_ratio_leave_open_which_part_heats() {
    for (seed, reads) in [(1, 0.7), (2, 0.5), (3, 0.3), (4, 0.9), (5, 0.6)] {
        let mut log = Logged::new(seed);
        for _ in 0..4 {
            log.log(400, |_, _| 1.0);
            log.log(300, |_, _| 0.1);
        }
        let mut trace = log.trace_of(true, 2);
        assert!(analyze(&trace).thermal.kelvin_per_gb_per_s_read.is_some(), "reads alone");
        let mut writes = trace.speeds[0].clone();
        writes.op = SegmentOp::Write;
        writes.intervals.iter_mut().for_each(|row| row.bytes *= 1.0 - reads);
        trace.speeds[0].intervals.iter_mut().for_each(|row| row.bytes *= reads);
        trace.speeds.push(writes);
        trace::infer_phases(&mut trace);
        let thermal = analyze(&trace).thermal;
        let told = (thermal.kelvin_per_gb_per_s_read, thermal.kelvin_per_gb_per_s_write);
        assert!(told.0.is_none() || told.1.is_none(), "{reads} of it reads: {told:?}");
    }
}

/// Goal: what an operating system moves between loads is no load that heat could slow down. Method: a trickle of 1 to 8 MB/s that swells and
/// ebbs between loads of any length, on hot drives that never throttle.
#[test]
fn what_trickles_between_loads_is_not_throttled() {
    for (seed, row_s, heats_k) in [(1, 2, 38.0), (2, 1, 42.0), (3, 5, 36.0), (4, 1, 34.0), (5, 2, 40.0)] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        let mut logged_s = 0;
        for _ in 0..12 {
            let (load_s, pause_s) = (250.0 + 250.0 * log.random(), 20.0 + 380.0 * log.random().powi(2));
            log.log(load_s as usize, |_, _| 1.0);
            logged_s += load_s as usize;
            let trickle = |second: usize, _| 0.0018 + 0.0014 * ((logged_s + second) as f64 / 47.0).sin();
            log.log(pause_s as usize, trickle);
            logged_s += pause_s as usize;
        }
        let findings = analyze(&log.trace_of(true, row_s));
        let of = format!("{heats_k} K, rows of {row_s} s: {:?}, {:?}", findings.policy, heat(&findings));
        assert!(heat(&findings).is_empty(), "{of}");
    }
}

/// Goal: a load that goes on slower after a pause is another one. Method: jobs of a host at rates of its own between such at full speed, rests
/// of half a minute between them, and a relay that is right about all that it did itself.
#[test]
fn a_job_at_another_rate_after_a_pause_is_no_throttling() {
    for (seed, row_s, heats_k) in [(1, 1, 46.0), (2, 2, 47.0), (3, 1, 48.0), (4, 2, 46.0), (5, 1, 47.0)] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        let (mut throttle, mut onsets_s, mut logged_s) = (relay(351.0, 344.0, 0.4), Vec::new(), 0);
        for job in 0..16 {
            let rate = if job % 2 == 0 { 1.0 } else { 0.55 + 0.35 * log.random() };
            let (load_s, pause_s) = (200.0 + 300.0 * log.random(), 20.0 + 40.0 * log.random());
            let mut was_slow = false;
            log.log(load_s as usize, |second, kelvin| {
                let most = throttle(second, kelvin);
                if most < 1.0 && !was_slow {
                    onsets_s.push((logged_s + second) as f64);
                }
                was_slow = most < 1.0;
                rate.min(most)
            });
            logged_s += load_s as usize;
            log.log(pause_s as usize, |second, kelvin| 0.0 * throttle(second, kelvin));
            logged_s += pause_s as usize;
        }
        let findings = analyze(&log.trace_of(true, row_s));
        let near = |t_s: f64| onsets_s.iter().any(|onset_s| (onset_s - t_s).abs() <= 10.0 + row_s as f64);
        let wrong: Vec<_> = sure_heat(&findings).into_iter().filter(|(t_s, _)| !near(*t_s)).collect();
        assert!(wrong.is_empty(), "seed {seed}: {wrong:?} beside {onsets_s:?}");
        let right = sure_heat(&findings).len();
        assert!(2 * right >= onsets_s.len(), "seed {seed}: {right} of {}", onsets_s.len());
    }
}

/// Goal: a drive that only cools under the load that a log begins in may be throttled all along. Method: a hot drive, then a lower speed.
#[test]
fn a_load_that_a_log_begins_in_and_that_cools_the_drive_clears_nothing() {
    for (seed, row_s, share) in [(1, 1, 0.4), (2, 1, 0.55), (3, 2, 0.5), (4, 5, 0.3), (5, 10, 0.45)] {
        let mut log = Logged::new(seed);
        log.log(1500, |_, _| 0.9);
        log.begin_here();
        log.log(1200, |_, _| share);
        let findings = analyze(&log.trace_of(true, row_s));
        assert_eq!(findings.policy.class, PolicyClass::Undetermined, "{share}: {:?}", findings.policy);
    }
}

/// Goal: one drop in days of a host's work is no threshold. Method: two lulls on a drive that is warmest as they begin.
#[test]
fn two_lulls_in_two_days_are_not_surely_heat() {
    for (seed, row_s, heats_k) in [(1, 10, 36.0), (2, 30, 38.0), (3, 60, 34.0), (4, 30, 40.0), (5, 10, 37.0)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        for hours in [20, 14] {
            log.log(3600 * hours, |_, _| 0.4);
            log.log(1800, |_, _| 1.0);
            log.log(400, |_, _| 0.45);
        }
        log.log(3600 * 8, |_, _| 0.4);
        let findings = analyze(&log.trace_of(true, row_s));
        assert!(sure_heat(&findings).is_empty(), "{heats_k} K: {:?}", sure_heat(&findings));
    }
}

/// Goal: a load that is raised step by step on a cool drive did not begin slowed down, and its last step is judged by what came before.
/// Method: five steps up to full speed, and a relay that the last one meets.
#[test]
fn a_load_that_is_raised_in_steps_began_at_full_speed() {
    for (seed, row_s, step_s, on_k, share) in [
        (1, 1, 300, 346.0, 0.55),
        (2, 2, 300, 348.0, 0.5),
        (3, 5, 240, 345.0, 0.6),
        (4, 2, 360, 347.0, 0.45),
        (5, 1, 200, 344.0, 0.5),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 40.0;
        let mut throttle = relay(on_k, on_k - 8.0, share);
        for step in 1..=5 {
            let asked = 0.2 * f64::from(step);
            let seconds = if step == 5 { 900 } else { step_s };
            log.log(seconds, |second, kelvin| asked.min(throttle(second, kelvin)));
        }
        let findings = analyze(&log.trace_of(true, row_s));
        assert!(!heat(&findings).is_empty(), "{step_s} s: {:?}", findings.events);
        assert_ne!(findings.policy.class, PolicyClass::None, "{step_s} s: {:?}", findings.policy);
    }
}

/// Goal: a regulator is none the less one where its host pauses. Method: a load that a regulator holds, with lulls at odd times that cool
/// the drive and let speed come back.
#[test]
fn a_regulator_that_its_host_lets_cool_is_no_relay() {
    for (seed, row_s, hold_k, lull) in [
        (1, 1, 345.0, 0.08),
        (2, 2, 343.0, 0.1),
        (3, 5, 346.0, 0.08),
        (4, 1, 342.0, 0.05),
        (5, 2, 344.0, 0.12),
    ] {
        let mut log = Logged::new(seed);
        let mut held = regulator(hold_k, 0.003);
        for _ in 0..9 {
            let loaded_s = 150 + (160.0 * log.random()) as usize;
            log.log(loaded_s, &mut held);
            log.log(25, |second, kelvin| held(second, kelvin).min(lull));
        }
        let findings = analyze(&log.trace_of(true, row_s));
        assert!(!heat(&findings).is_empty(), "{hold_k} K: {:?}", findings.events);
        let policy = &findings.policy;
        let relay = policy.class == PolicyClass::Relay || policy.also.contains(&PolicyClass::Relay);
        assert!(!relay, "{hold_k} K: {policy:?}");
    }
}
