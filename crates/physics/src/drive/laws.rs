//! Laws that hold whatever the parameters and whatever the load: tests over drawn drives and drawn plans.
//!
//! A drawn drive is a built-in one - each brings a kind of throttle, cache or housekeeping - every other parameter of
//! which is drawn anew. Each law was seen to fail when the physics was made wrong on purpose: heat that flows the other
//! way or twice, energy that is lost or counted twice, caps that do not hold, time that depends on how it is cut.

use std::time::Duration;

use measure::record::Op;
use measure::{Celsius, Instant, Seed};
use proptest::prelude::*;

use super::{Demand, Drive, Moved, Transfer};
use crate::grain::Grain;
use crate::power::PowerLevel;
use crate::profile::{Cap, Machine, Ops, Policy, Profile, Start, Threshold};

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

/// Any drive. How often a policy looks stays as it is: the tick's half is compared with the tick.
fn any_profile() -> impl Strategy<Value = Profile> {
    let names: Vec<_> = Profile::builtin_names().collect();
    let factors = prop::collection::vec(0.5..2.0_f64, FACTORS);
    (prop::sample::select(names), factors, -10.0..45.0_f64, -15.0..10.0_f64, 0.0..1.0_f64, any::<bool>())
        .prop_map(|(name, factors, ambient_c, shift_k, inner_share, cold)| {
            let mut profile = drawn(builtin(name), &factors);
            profile.thermal.ambient_c = ambient_c;
            profile.thermal.node[0].heat_share = inner_share;
            profile.thermal.node[1].heat_share = 1.0 - inner_share;
            profile.thermal.node[2..].iter_mut().for_each(|node| node.heat_share = 0.0);
            for policy in &mut profile.policy {
                if let Threshold::Kelvin(kelvin) = &mut policy.on {
                    *kelvin += shift_k;
                }
            }
            if cold {
                profile.thermal.start = Start::Ambient;
            }
            profile
        })
        .prop_filter("a profile may say it", |profile| profile.check().is_ok())
}

const FACTORS: usize = 20;

/// `profile` with each of its parameters multiplied by one of `factors`.
fn drawn(mut profile: Profile, factors: &[f64]) -> Profile {
    let mut factors = factors.iter();
    let mut next = || factors.next().copied().unwrap_or(1.0);
    for node in &mut profile.thermal.node {
        node.capacity_j_per_k *= next();
        node.outward_k_per_w *= next();
    }
    let power = &mut profile.power;
    for watts in [
        &mut power.idle_w,
        &mut power.active_w,
        &mut power.read_w_per_gb_per_s,
        &mut power.read_wait_w,
        &mut power.write_w_per_gb_per_s,
        &mut power.fold_w_per_gb_per_s,
    ] {
        *watts *= next();
    }
    // From 1 on: a throttle that makes a byte dearer is no throttle.
    power.read_level_exponent = 2.0 * next();
    power.write_level_exponent = 2.0 * next();
    let media = &mut profile.media;
    media.link_bytes_per_s *= next();
    for ceiling in [
        &mut media.sequential_read,
        &mut media.random_read,
        &mut media.sequential_write,
        &mut media.random_write,
    ] {
        ceiling.bytes_per_s *= next();
    }
    if let Some(slc) = &mut profile.slc {
        slc.capacity_bytes = (slc.capacity_bytes as f64 * next() / 2.0) as u64;
    }
    for policy in &mut profile.policy {
        policy.hysteresis_k *= next();
    }
    profile
}

/// The fastest that anything on the drive goes.
fn fastest(profile: &Profile) -> f64 {
    let media = &profile.media;
    let all = [media.sequential_read, media.random_read, media.sequential_write, media.random_write];
    let media_bytes_per_s = all.iter().map(|ceiling| ceiling.bytes_per_s).fold(0.0, f64::max);
    let slc = profile.slc.map_or(0.0, |slc| slc.direct_write.bytes_per_s);
    let cached = profile.housekeeping.map_or(0.0, |keeping| keeping.cached_write.bytes_per_s);
    media_bytes_per_s.max(slc).max(cached).min(media.link_bytes_per_s)
}

fn any_demand() -> impl Strategy<Value = Demand> {
    let load = (0.0..=1.0_f64, any::<bool>(), 12_u32..=22, 1_u16..=128, 1e8..5e9_f64);
    prop_oneof![
        1 => Just(Demand::Idle),
        5 => load.prop_map(|(read_share, sequential, log_len, queue_depth, limit_bytes_per_s)| {
            Demand::Transfer(Transfer {
                read_share,
                sequential,
                io_bytes: 1 << log_len,
                queue_depth,
                offset_bytes: 0,
                len_bytes: REGION_BYTES,
                limit_bytes_per_s,
            })
        }),
    ]
}

type Phases = Vec<(Demand, f64)>;

fn any_phases() -> impl Strategy<Value = Phases> {
    prop::collection::vec((any_demand(), 0.5..200.0_f64), 1..8)
}

/// Runs phases second by second; what each second moved and the composite after it.
fn run(drive: &mut Drive, phases: &Phases) -> Vec<(f64, f64)> {
    let mut log = Vec::new();
    for (demand, seconds) in phases {
        let end = drive.now() + Duration::from_secs_f64(*seconds);
        while drive.now() < end {
            let start = drive.now();
            let moved = drive.advance_demand(end.min(start + Duration::from_secs(1)), demand);
            let span_s = (drive.now() - start).as_secs_f64();
            let rate = (moved.read_bytes + moved.write_bytes) / span_s;
            log.push((rate, drive.exact_composite().as_degrees()));
        }
    }
    log
}

/// The drive with a cap that is always on.
fn always(free: &Profile, cap: f64) -> Profile {
    let mut capped = free.clone();
    capped.policy.push(Policy {
        name: "cap".into(),
        ops: Ops::Both,
        on: Threshold::Kelvin(200.0),
        hysteresis_k: 0.0,
        poll_s: 0.1,
        dwell_s: 0.0,
        slew_per_s: None,
        only_from_k: None,
        machine: Machine::Relay(Cap { read_bytes_per_s: Some(cap), write_bytes_per_s: Some(cap) }),
    });
    capped
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Electrical energy in = heat stored + heat out, to 1e-9, over any load on any drive.
    #[test]
    fn energy_is_conserved(profile in any_profile(), phases in any_phases(), ambient in -10.0..60.0_f64) {
        let mut drive = Drive::new(&profile, Seed::new(1));
        drive.set_ambient(Celsius::from_degrees(ambient));
        run(&mut drive, &phases);
        let energy = drive.energy();
        let missing = (energy.in_j - energy.out_j - energy.stored_j).abs();
        let turnover = energy.in_j + energy.out_j.abs() + energy.stored_j.abs();
        prop_assert!(missing <= 1e-9 * turnover, "{missing} of {energy:?}");
        // What the meter has counted is what became heat.
        prop_assert!((drive.power.total_j - energy.in_j).abs() <= 1e-9 * turnover, "{} {energy:?}", drive.power.total_j);
    }

    /// What goes in is what the profile says that time and bytes cost: nothing is lost on the way to the meter.
    #[test]
    fn energy_is_what_the_load_costs(profile in any_profile(), phases in any_phases()) {
        let mut plain = profile;
        plain.policy.clear();
        (plain.power.active_w, plain.power.read_wait_w, plain.power.start_up) = (0.0, 0.0, None);
        plain.slc = None;
        let mut drive = Drive::new(&plain, Seed::new(1));
        let (mut expected, mut end_s) = (0.0, 0.0);
        for (demand, seconds) in &phases {
            // Whole ticks: the meter stands at the last one.
            end_s += (seconds * 100.0).round() / 100.0;
            let moved = drive.advance_demand(at(end_s), demand);
            expected += moved.read_bytes / 1e9 * plain.power.read_w_per_gb_per_s
                + moved.write_bytes / 1e9 * plain.power.write_w_per_gb_per_s;
        }
        expected += end_s * plain.power_state[0].idle_w.unwrap_or(plain.power.idle_w);
        let metered = drive.energy().in_j;
        prop_assert!((metered / expected - 1.0).abs() < 1e-6, "{metered} {expected}");
    }

    /// Left alone for long, every node stands above the surroundings by what the power of each node inside of it and
    /// of itself makes of the resistances on the way out.
    #[test]
    fn an_idle_drive_settles_where_resistances_say(profile in any_profile()) {
        let mut profile = profile;
        (profile.thermal.start, profile.power.start_up) = (Start::Ambient, None);
        let node = &profile.thermal.node;
        let sum = |of: &dyn Fn(usize) -> f64| (0..node.len()).map(of).sum::<f64>();
        let slowest_s = sum(&|i| node[i].capacity_j_per_k) * sum(&|i| node[i].outward_k_per_w);
        let mut drive = Drive::new(&profile, Seed::new(1));
        drive.advance_demand(at(20.0 * slowest_s), &Demand::Idle);
        let idle_w = profile.power_state[0].idle_w.unwrap_or(profile.power.idle_w);
        let out = |k: usize| {
            let scale = if k + 1 == node.len() { profile.thermal.airflow } else { 1.0 };
            node[k].outward_k_per_w / scale
        };
        for (i, temp) in drive.node_temps().enumerate() {
            let rise = sum(&|j| idle_w * node[j].heat_share * (i.max(j)..node.len()).map(out).sum::<f64>());
            let got = temp.as_degrees() - profile.thermal.ambient_c;
            prop_assert!((got - rise).abs() < 1e-3 * rise.max(1.0), "node {i}: {got} K for {rise} K");
        }
    }

    /// One seed, one result, whatever the drive and the load: pages, temperatures and truth.
    #[test]
    fn one_seed_one_result(profile in any_profile(), phases in any_phases(), seed in any::<u64>()) {
        let all = || {
            let mut drive = Drive::new(&profile, Seed::new(seed));
            let log = run(&mut drive, &phases);
            (log, drive.health(), drive.truth().to_vec())
        };
        prop_assert_eq!(all(), all());
    }

    /// No second is faster than the link, the media or the demand.
    #[test]
    fn no_speed_above_link_media_or_demand(profile in any_profile(), phases in any_phases()) {
        for phase in &phases {
            let mut drive = Drive::new(&profile, Seed::new(1));
            let Demand::Transfer(transfer) = &phase.0 else { continue };
            let most = fastest(&profile).min(transfer.limit_bytes_per_s);
            for (rate, _) in run(&mut drive, &vec![phase.clone()]) {
                prop_assert!(rate <= most * (1.0 + 1e-9), "{rate} over {most}");
            }
        }
    }

    /// No tick is faster than the throttle allows.
    #[test]
    fn no_speed_above_the_cap(profile in any_profile(), seconds in 100_u32..500) {
        let mut drive = Drive::new(&profile, Seed::new(1));
        for op in [Op::Write, Op::Read] {
            let demand = transfer(op);
            drive.advance_demand(drive.now() + Duration::from_secs(u64::from(seconds)), &demand);
            for _ in 0..500 {
                let cap = drive.active_cap(op).unwrap_or(f64::INFINITY);
                let moved = drive.advance_demand(drive.now() + Duration::from_millis(10), &demand);
                let rate = (moved.read_bytes + moved.write_bytes) / 0.01;
                prop_assert!(rate <= cap * (1.0 + 1e-9), "{rate} over {cap}");
            }
        }
    }

    /// Warmer surroundings warm every reading by just as much: heat is linear. Throttles are off:
    /// a drive that is throttled because it is warmer may well be cooler a minute later.
    #[test]
    fn more_ambient_never_cools(profile in any_profile(), phases in any_phases(), more in 0.0..30.0_f64) {
        let mut profile = profile;
        profile.policy.clear();
        let temps = |ambient_c: f64| {
            let mut profile = profile.clone();
            profile.thermal.ambient_c = ambient_c;
            run(&mut Drive::new(&profile, Seed::new(1)), &phases)
        };
        for ((_, cool), (_, warm)) in temps(20.0).into_iter().zip(temps(20.0 + more)) {
            prop_assert!((warm - cool - more).abs() < 1e-6, "{warm} {cool} {more}");
        }
    }

    /// Of two caps that are always on the lower holds, beside the other too, and never makes any reading warmer, whatever
    /// the load; nor does one beside none.
    #[test]
    fn a_lower_cap_never_warms(
        profile in any_profile(), op in prop::sample::select(vec![Op::Read, Op::Write]), cap in 1e7..4e9_f64,
        lower in 0.05..1.0_f64, limit in 1e8..5e9_f64,
    ) {
        let mut free = profile;
        free.policy.clear();
        // A cap puts off the moment from which a drive has to pause or is past its cache, and so may well warm it later.
        (free.housekeeping, free.slc) = (None, None);
        // And it keeps the pipe busy for longer, as the power states of ent-u3 do.
        free.power.active_w = 0.0;
        let mut load = Transfer::sequential(op, REGION_BYTES);
        load.limit_bytes_per_s = limit;
        let phases = vec![(Demand::Transfer(load), 300.0)];
        let temps = |profile: &Profile| run(&mut Drive::new(profile, Seed::new(1)), &phases);
        let capped = always(&free, cap);
        let logs = [temps(&always(&capped, cap * lower)), temps(&capped), temps(&free)];
        for (log, most) in logs.iter().zip([cap * lower, cap]) {
            // The first look comes within the first second.
            let over = log.iter().skip(1).find(|(rate, _)| *rate > most * (1.0 + 1e-9));
            prop_assert!(over.is_none(), "{over:?} over {most}");
        }
        for pair in logs.windows(2) {
            for ((_, with), (_, without)) in pair[0].iter().zip(&pair[1]) {
                prop_assert!(*with <= without + 1e-6, "{with} {without}");
            }
        }
    }

    /// A slower link never makes a reading warmer, though flash that waits for it draws power.
    #[test]
    fn a_slower_link_never_warms(
        name in prop::sample::select(vec!["ssd1", "ent-u3-gen4"]), state in 0_u8..8, wait_w in 0.0..2.0_f64, slower in 0.1..1.0_f64,
    ) {
        let mut fast = builtin(name);
        fast.policy.clear();
        fast.power.active_w = 0.0;
        fast.power.read_wait_w = wait_w;
        let mut slow = fast.clone();
        slow.media.link_bytes_per_s *= slower;
        let temps = |profile: &Profile| {
            let mut drive = Drive::new(profile, Seed::new(1));
            // A drive without the state stays in state 0, on both links.
            let _ = drive.set_power_state(state);
            run(&mut drive, &vec![(transfer(Op::Read), 200.0)])
        };
        for ((_, slow), (_, fast)) in temps(&slow).into_iter().zip(temps(&fast)) {
            prop_assert!(slow <= fast + 1e-6, "{slow} {fast}");
        }
    }

    /// What is folded costs what the profile says, and all that leaves the cache is folded.
    #[test]
    fn folding_costs_its_bytes(profile in any_profile(), written_s in 1.0..60.0_f64, idle_s in 1_u32..300) {
        let mut profile = profile;
        profile.policy.clear();
        (profile.housekeeping, profile.power.start_up) = (None, None);
        let mut drive = Drive::new(&profile, Seed::new(1));
        drive.advance_demand(at(written_s.ceil()), &transfer(Op::Write));
        let before = (drive.energy().in_j, drive.slc_free_bytes());
        drive.advance_demand(drive.now() + Duration::from_secs(idle_s.into()), &Demand::Idle);
        let folded = drive.slc_free_bytes().zip(before.1).map_or(0, |(after, before)| after - before);
        let idle_w = profile.power_state[0].idle_w.unwrap_or(profile.power.idle_w);
        let expected = idle_w * f64::from(idle_s) + profile.power.fold_w_per_gb_per_s * folded as f64 / 1e9;
        let spent = drive.energy().in_j - before.0;
        prop_assert!((spent - expected).abs() < 1e-6 * expected + 1e-6, "{spent} {expected}, {folded} folded");
    }

    /// A drive whose throttle slows all of it down spends no more on a byte, and no more power, at a lower level.
    #[test]
    fn a_lower_level_costs_no_more(profile in any_profile(), level in 0.05..1.0_f64, lower in 0.05..1.0_f64) {
        let mut profile = profile;
        profile.power.read_wait_w = 0.0;
        let state = &profile.power_state[0];
        let [high, low] =
            [level, level * lower].map(|level| PowerLevel::new(&profile, state, level, level));
        prop_assert!(low.read_j_per_byte <= high.read_j_per_byte * (1.0 + 1e-12), "{low:?} {high:?}");
        prop_assert!(low.write_j_per_byte <= high.write_j_per_byte * (1.0 + 1e-12), "{low:?} {high:?}");
        prop_assert!(low.idle_w == high.idle_w);
    }

    /// How a caller cuts time makes no difference: to what is read nothing, to what goes through the cache, whose map
    /// has whole bytes, next to nothing. Ticks in which nothing is decided are one span with one mean power: where the
    /// cache fills or empties within it, the same energy comes a part of that span earlier, which a sensor that lags by a
    /// second shows until it has settled. A tenth of the kelvin that drives tell, by which a throttle acts otherwise meanwhile:
    /// beside a cache there is none.
    #[test]
    fn slices_of_a_call_do_not_matter(profile in any_profile(), read_share in 0.0..1.3_f64, slice_log_ms in 0.0..3.5_f64) {
        let (mut profile, read_share) = (profile, read_share.min(1.0));
        if read_share < 1.0 {
            profile.policy.clear();
        }
        let mut whole = Drive::new(&profile, Seed::new(1));
        let mut sliced = whole.clone();
        let end = at(120.0);
        let demand = Demand::Transfer(Transfer { read_share, ..Transfer::sequential(Op::Read, REGION_BYTES) });
        let sum = |moved: Moved| moved.read_bytes + moved.write_bytes;
        let moved = sum(whole.advance_demand(end, &demand));
        let mut parts = 0.0;
        while sliced.now() < end {
            let next = end.min(sliced.now() + Duration::from_secs_f64(10.0_f64.powf(slice_log_ms) / 1e3));
            parts += sum(sliced.advance_demand(next, &demand));
        }
        let (bytes, kelvins) = if read_share < 1.0 { (1e-4, 0.1) } else { (1e-9, 1e-7) };
        prop_assert!((moved / parts - 1.0).abs() < bytes, "{moved} {parts}");
        let (whole_j, sliced_j) = (whole.energy().in_j, sliced.energy().in_j);
        prop_assert!((whole_j / sliced_j - 1.0).abs() < bytes, "{whole_j} {sliced_j} J");
        let apart = whole.exact_composite().as_degrees() - sliced.exact_composite().as_degrees();
        prop_assert!(apart.abs() < kelvins, "{apart} K");
    }

    /// Half the time step, the same run: temperatures within 0.1 K of those of any drive that does not throttle.
    /// When a throttle acts on a drawn drive depends on chance to the tick; `test` compares the built-in ones.
    #[test]
    fn half_a_tick_is_the_same_run(profile in any_profile(), phases in any_phases()) {
        let mut profile = profile;
        profile.policy.clear();
        // Pauses are whole ticks long.
        profile.housekeeping = None;
        let temps = |grain| run(&mut Drive::with_grain(&profile, Seed::new(1), grain), &phases);
        for ((_, whole), (_, half)) in temps(Grain::FIRMWARE).into_iter().zip(temps(Grain::HALF)) {
            prop_assert!((whole - half).abs() < 0.1, "{whole} {half}");
        }
    }
}
