//! What holds a temperature while a room moves it, and whose pauses end anywhere.

use analysis::analyze;
use analysis::findings::{Findings, PolicyClass};
use trace::Trace;

use crate::likeness::rows;
use crate::logs::{Logged, heat, relay};

const FULL: f64 = 2.6;

/// Hours of writing in a room that swings by `swing_k` to either side, in rows: `speed` says how many GB/s are moved, by the second, what the
/// room is off its mean by as a share, and the temperature in kelvins.
fn in_a_room(row_s: usize, swing_k: f64, period_s: f64, mut speed: impl FnMut(f64, f64) -> f64) -> Trace {
    let (mut fast_k, mut slow_k, mut t_s) = (0.0, 0.0, 0.0);
    let mut second = |_| {
        let room = -(std::f64::consts::TAU * t_s / period_s).cos();
        t_s += 1.0;
        let kelvin = 300.0 + swing_k * room + fast_k + slow_k;
        let moved = speed(room, kelvin);
        fast_k += (0.6 * 15.0 * moved - fast_k) / 30.0;
        slow_k += (0.4 * 15.0 * moved - slow_k) / 250.0;
        (moved, kelvin)
    };
    let row = |_| {
        let seconds: Vec<(f64, f64)> = (0..row_s).map(&mut second).collect();
        let moved = seconds.iter().map(|(moved, _)| moved).sum::<f64>() / row_s as f64;
        (0.0, 1e9 * moved, seconds[row_s - 1].1.round())
    };
    let rows_of: Vec<(f64, f64, f64)> = (0..(2.5 * period_s) as usize / row_s).map(row).collect();
    rows(row_s as f64, &rows_of)
}

fn says_heat(findings: &Findings) -> bool {
    !heat(findings).is_empty() && !matches!(findings.policy.class, PolicyClass::None)
}

/// Goal: a regulator that gives way by a tenth and less as the room warms up is seen, and a host that asks for less then is none.
/// Method: the same rooms; the drive is held at the temperature, or is left to the room while the load gives way as smoothly.
#[test]
fn what_holds_a_temperature_while_the_room_moves_it_is_heat() {
    for (row_s, swing_k, period_s, hold_k, lull) in [
        (60, 6.0, 14_400.0, 342.0, 0.3),
        (60, 5.0, 10_800.0, 341.5, 0.35),
        (30, 7.0, 18_000.0, 342.5, 0.3),
        (120, 8.0, 28_800.0, 343.0, 0.4),
        (20, 5.0, 9_000.0, 341.0, 0.35),
    ] {
        let mut held = FULL;
        let regulated = in_a_room(row_s, swing_k, period_s, |_, kelvin| {
            held = f64::clamp(held + 0.002 * (hold_k - kelvin), 0.5, FULL);
            held
        });
        let findings = analyze(&regulated);
        assert!(says_heat(&findings), "rows of {row_s} s: {:?} {:#?}", findings.policy, findings.events);
        let asked =
            in_a_room(row_s, swing_k, period_s, |room, _| FULL * (1.0 - lull * room.max(0.0).powi(2)));
        let findings = analyze(&asked);
        assert!(heat(&findings).is_empty(), "rows of {row_s} s: {:#?}", findings.events);
    }
}

/// Goal: files that are copied one after the other, with pauses of any length, are no stops of the drive.
/// Method: loads and pauses of random length, of a drive that nothing throttles and of one with a relay.
#[test]
fn pauses_that_end_at_any_temperature_are_the_hosts() {
    for (seed, row_s, heats_k) in [(1, 1, 60.0), (2, 2, 50.0), (3, 1, 70.0), (4, 2, 64.0), (5, 5, 55.0)] {
        for throttled in [false, true] {
            let mut log = Logged::new(seed);
            log.heats_k = heats_k;
            let mut throttle = relay(312.0 + 0.8 * heats_k, 307.0 + 0.8 * heats_k, 0.4);
            for _ in 0..24 {
                let load_s = 60 + (150.0 * log.random()) as usize;
                let pause_s = 12 + (70.0 * log.random()) as usize;
                log.log(load_s, |second, kelvin| if throttled { throttle(second, kelvin) } else { 1.0 });
                log.log(pause_s, |_, _| 0.0);
            }
            let findings = analyze(&log.trace_of(true, row_s));
            let policy = &findings.policy;
            assert_ne!(policy.class, PolicyClass::Stop, "{seed}, throttled {throttled}: {policy:?}");
            let alarmed = !throttled && !heat(&findings).is_empty();
            assert!(!alarmed, "{seed}: {:#?}", findings.events);
        }
    }
}
