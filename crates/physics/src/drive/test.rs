//! The drive as a whole beside closed forms, and the behaviour of single commands. Its laws are in `laws`.

use std::time::Duration;

use measure::record::Op;
use measure::{Instant, Seed};

use super::{Demand, Drive, Transfer};
use crate::grain::Grain;
use crate::profile::Profile;

const REGION_BYTES: u64 = 50 << 30;

fn builtin(name: &str) -> Profile {
    Profile::builtin(name).expect("built in")
}

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

fn transfer(op: Op) -> Demand {
    Demand::Transfer(Transfer::sequential(op, REGION_BYTES))
}

/// A relay on a drive with a single time constant: rise, cycle and mean speed are elementary.
///
/// Onset t = tau ln((Tss - T0)/(Tss - Th)); cycle t_free = tau ln((Tss - Tl)/(Tss - Th)) and
/// t_held = tau ln((Th - Tc)/(Tl - Tc)); mean speed their weighted mean.
#[test]
fn a_relay_cycle_is_the_closed_form() {
    let mut profile = builtin("relay");
    // The second node is part of the air: it swallows all heat and stays cold.
    let (c, r) = (8.0, 12.5);
    (profile.thermal.node[0].capacity_j_per_k, profile.thermal.node[0].outward_k_per_w) = (c, r);
    (profile.thermal.node[1].capacity_j_per_k, profile.thermal.node[1].outward_k_per_w) = (1e6, 0.001);
    profile.sensor.composite_lag_s = 0.0;
    profile.policy[0].poll_s = 0.01;
    let mut drive = Drive::new(&profile, Seed::new(1));
    let moved = drive.advance_demand(at(3600.0), &transfer(Op::Read));

    let settled = |gb_per_s: f64| 303.15 + r * (1.2 + 1.2 * gb_per_s);
    let (free, held, high, low) = (settled(3.0), settled(0.3), 338.0, 334.0);
    let tau = c * r;
    let onset_s = tau * ((free - settled(0.0)) / (free - high)).ln();
    let free_s = tau * ((free - low) / (free - high)).ln();
    let held_s = tau * ((high - held) / (low - held)).ln();
    let times: Vec<f64> = drive.truth().iter().map(|event| event.t.as_secs_f64()).collect();
    assert!((times[0] - onset_s).abs() < 0.03, "onset {} {onset_s}", times[0]);
    for cycle in times.windows(3).step_by(2) {
        assert!((cycle[1] - cycle[0] - held_s).abs() < 0.05, "held {cycle:?} {held_s}");
        assert!((cycle[2] - cycle[1] - free_s).abs() < 0.05, "free {cycle:?} {free_s}");
    }
    let mean = (3.0 * free_s + 0.3 * held_s) / (free_s + held_s);
    let expected = 3.0 * onset_s + mean * (3600.0 - onset_s);
    assert!((moved.read_bytes / 1e9 / expected - 1.0).abs() < 0.01, "{} {expected}", moved.read_bytes);
}

/// Latency of one command at a time, in microseconds.
fn depth_one_us(drive: &mut Drive, op: Op, len_bytes: u32) -> Vec<f64> {
    let mut done = Vec::new();
    (0..2000_u64)
        .map(|n| {
            let start = drive.now();
            drive.submit(start, n, op, n * 7 * u64::from(len_bytes), len_bytes);
            while done.is_empty() {
                drive.advance(Instant::NEVER, &mut done);
            }
            let (token, end) = done.remove(0);
            assert_eq!((token, end), (n, drive.now()));
            (end - start).as_secs_f64() * 1e6
        })
        .collect()
}

/// At depth 1 a command takes its latency and its time in the pipe, no more.
#[test]
fn a_single_command_takes_latency_and_pipe() {
    let mut drive = Drive::new(&builtin("ssd1"), Seed::new(1));
    let us = depth_one_us(&mut drive, Op::Read, 4096);
    let mean = us.iter().sum::<f64>() / us.len() as f64;
    // 1 / 400,000 IOPS + 55 us + 12 us.
    assert!((mean - 69.5).abs() < 1.0, "{mean} us");
    assert!(us.iter().all(|us| *us >= 57.4), "never faster than base and pipe");
    assert!(us.iter().any(|us| *us > 100.0), "a tail");
}

/// Small commands in numbers are held by the IOPS ceiling.
#[test]
fn small_commands_meet_the_iops_ceiling() {
    let mut drive = Drive::new(&builtin("ssd1"), Seed::new(1));
    let mut done = Vec::new();
    let mut count = 0;
    for n in 0..256 {
        drive.submit(Instant::ZERO, n, Op::Read, n * 123 * 4096, 4096);
    }
    loop {
        drive.advance(at(1.0), &mut done);
        if done.is_empty() {
            break;
        }
        for (token, when) in done.drain(..) {
            count += 1;
            drive.submit(when, token, Op::Read, (token * 7919 + count * 104_729) % 10_000_000 * 4096, 4096);
        }
    }
    assert!((f64::from(count as u32) / 400_000.0 - 1.0).abs() < 0.002, "{count}");
}

/// Whoever asks when to come back next never misses a completion and is never early for ever.
#[test]
fn next_completion_leads_to_every_completion() {
    let mut by_asking = Drive::new(&builtin("relay"), Seed::new(3));
    let mut by_running = by_asking.clone();
    for drive in [&mut by_asking, &mut by_running] {
        for n in 0..200 {
            drive.submit(Instant::ZERO, n, Op::Write, n << 20, 1 << 20);
        }
    }
    let (mut asked, mut ran) = (Vec::new(), Vec::new());
    while let Some(next) = by_asking.next_completion() {
        by_asking.advance(next, &mut asked);
        assert_eq!(by_asking.now(), next.min(by_asking.now()));
    }
    while by_running.outstanding() > 0 {
        by_running.advance(Instant::NEVER, &mut ran);
    }
    assert_eq!(asked, ran);
    assert_eq!(asked.len(), 200);
}

/// The figures are those that `Grain` states.
#[test]
fn halving_the_tick_changes_nothing_material() {
    for name in Profile::builtin_names() {
        let profile = builtin(name);
        let run = |grain| {
            let mut drive = Drive::with_grain(&profile, Seed::new(1), grain);
            let mut temps = Vec::new();
            let mut bytes = 0.0;
            for s in 1..=600 {
                let demand = transfer(if s <= 300 { Op::Write } else { Op::Read });
                let moved = drive.advance_demand(at(f64::from(s)), &demand);
                bytes += moved.read_bytes + moved.write_bytes;
                temps.push(drive.exact_composite().as_degrees());
            }
            (temps, bytes)
        };
        let ((temps, bytes), (half_temps, half_bytes)) = (run(Grain::FIRMWARE), run(Grain::HALF));
        let worst = temps.iter().zip(&half_temps).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 0.1, "{name}: {worst} K");
        assert!((bytes / half_bytes - 1.0).abs() < 0.005, "{name}: {}", bytes / half_bytes);
    }
}

/// One seed, one result: page by page, byte by byte, also for commands.
#[test]
fn the_same_seed_gives_the_same_bytes() {
    let run = |seed| {
        let mut drive = Drive::new(&builtin("ssd2"), Seed::new(seed));
        let us = depth_one_us(&mut drive, Op::Read, 65_536);
        let mut pages = Vec::new();
        for s in 1..=200 {
            drive.advance_demand(at(10.0 + f64::from(s)), &transfer(Op::Write));
            pages.push(drive.health());
        }
        (us, pages, drive.truth().to_vec())
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7).0, run(8).0);
}

/// Interval power is the mean of a second: idle, then idle plus 1.6 W for 1.6 GB/s at 1 W each.
#[test]
fn interval_power_is_what_the_load_costs() {
    let mut drive = Drive::new(&builtin("ssd1"), Seed::new(1));
    drive.advance_demand(at(5.0), &Demand::Idle);
    assert!((drive.power_w().as_f64() - 1.2).abs() < 1e-9);
    drive.advance_demand(at(10.0), &transfer(Op::Write));
    assert!((drive.power_w().as_f64() - 2.8).abs() < 1e-3, "{}", drive.power_w());
}

/// Deallocation through the queue gives cache room back.
#[test]
fn trim_commands_free_the_cache() {
    let mut drive = Drive::new(&builtin("slc"), Seed::new(1));
    drive.advance_demand(at(20.0), &transfer(Op::Write));
    assert!(drive.slc_free_bytes() < Some(60_000_000_000));
    let mut done = Vec::new();
    for n in 0..50 {
        drive.submit(drive.now(), n, Op::Trim, n << 30, 1 << 30);
    }
    while drive.outstanding() > 0 {
        drive.advance(Instant::NEVER, &mut done);
    }
    assert_eq!(drive.slc_free_bytes(), Some(80_000_000_000));
}
