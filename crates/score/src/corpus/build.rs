//! Drives and loads of the corpus.
//!
//! Thermal parameters scatter around those of an M.2 drive without heat sink (facts: 40 and 140 s, 12.5 K/W);
//! thresholds are placed where the load passes them, so that a run shows what it is meant to show.

use measure::Seed;
use measure::record::Op;
use physics::Profile;
use physics::profile::{
    Cap, Ceiling, Dip, DipTiming, DutyCycle, Gains, HctmRange, Machine, Ops, Policy, PowerStateProfile,
    Rounding, SlcProfile, Threshold, TwoLevel, Wobble,
};

use super::draw::CorpusDraw;
use super::recipe::{KINDS, Logging, Recipe, RecipeKind, RecipeLoad, RecipeSensors, logging};

/// Firmware of consumer drives protects itself here (the published ones: 353 to 355 K).
const OWN_K: (f64, f64) = (346.0, 361.0);

/// The usual 4 TB (IDEMA LBA1-03), so that a cache may be large.
const SLC_DRIVE_BYTES: u64 = 4_000_787_030_016;

/// What a drive without protection of its own may get to: the lowest warning threshold drawn here.
const HOTTEST_K: f64 = 358.0;

/// Warmth of a drive under the load that is meant to heat it.
struct Warmth {
    /// At rest, in kelvins.
    rest_k: f64,
    /// What full speed adds in the end.
    rise_k: f64,
    /// Where a threshold of the drive's own lies.
    own_k: f64,
}

/// Draws run `number`.
pub(super) fn recipe(number: u64) -> Recipe {
    let seed = Seed::new(number);
    let mut draw = CorpusDraw::new(seed.part(0));
    let kind = draw.pick(&KINDS);
    let logging = logging(&mut draw, kind);
    let (profile, loads) = drive(&mut draw, kind, &logging);
    Recipe { number, seed, kind, profile, loads, logging, world: None }
}

/// A drive and its load.
fn drive(draw: &mut CorpusDraw, kind: RecipeKind, logging: &Logging) -> (Profile, Vec<RecipeLoad>) {
    let mut profile = Profile::builtin("relay").expect("it is built in");
    profile.name = format!("{kind:?}").to_lowercase();
    profile.slc = None;
    profile.policy.clear();
    speeds(draw, &mut profile);
    let hot = if draw.chance(0.6) { Op::Read } else { Op::Write };
    let warmth = warmth(draw, kind, hot, &mut profile);
    limits(draw, &mut profile);
    sensors(draw, logging, &mut profile);
    if kind.is_heat() {
        policies(draw, kind, &warmth, &mut profile);
    } else {
        disturb(draw, kind, &warmth, &mut profile);
    }
    let mut loads = loads(draw, kind, hot, logging, &profile);
    if kind == RecipeKind::SlcCliff {
        cache(draw, &loads, &mut profile);
    }
    if kind == RecipeKind::PowerState {
        power_states(draw, &mut profile, &mut loads);
    }
    profile.check().expect("what is drawn lies in the model's ranges");
    (profile, loads)
}

fn ceiling(bytes_per_s: f64) -> Ceiling {
    Ceiling { bytes_per_s, iops: 1e6 }
}

fn speeds(draw: &mut CorpusDraw, profile: &mut Profile) {
    let read = draw.between(0.5e9, 7e9);
    let write = read * draw.between(0.45, 0.95);
    profile.media.link_bytes_per_s = read * draw.between(1.1, 2.0);
    profile.media.sequential_read = ceiling(read);
    profile.media.sequential_write = ceiling(write);
}

fn full_speed(profile: &Profile, op: Op) -> f64 {
    let media = &profile.media;
    let ceiling = if op == Op::Read { media.sequential_read } else { media.sequential_write };
    ceiling.bytes_per_s.min(media.link_bytes_per_s)
}

/// Sets resistances, capacities, energies and the air so that the hot load rises far enough.
fn warmth(draw: &mut CorpusDraw, kind: RecipeKind, hot: Op, profile: &mut Profile) -> Warmth {
    let (resistance, capacity) = (draw.between(0.6, 1.5), draw.between(0.6, 2.2));
    for node in &mut profile.thermal.node {
        node.outward_k_per_w *= resistance;
        node.capacity_j_per_k *= capacity;
    }
    let k_per_w: f64 = profile.thermal.node.iter().map(|node| node.outward_k_per_w).sum();
    let rise_k = draw.between(26.0, 58.0);
    let w_per_gb = |speed: f64, rise_k: f64| rise_k / k_per_w / (speed / 1e9);
    let (read, write) = (full_speed(profile, Op::Read), full_speed(profile, Op::Write));
    let other = rise_k * draw.between(0.5, 1.0);
    let (read_k, write_k) = if hot == Op::Read { (rise_k, other) } else { (other, rise_k) };
    profile.power.read_w_per_gb_per_s = w_per_gb(read, read_k);
    profile.power.write_w_per_gb_per_s = w_per_gb(write, write_k);
    profile.power.idle_w = draw.between(0.5, 1.4);
    let idle_k = k_per_w * profile.power.idle_w;
    let own = matches!(kind, RecipeKind::Vendor | RecipeKind::Stop | RecipeKind::HctmAndVendor);
    let own_share = draw.between(0.6, 0.85);
    let ambient_k = if own {
        // The drive's own threshold lies at a share of the rise: the air follows from it.
        draw.between(OWN_K.0, OWN_K.1) - idle_k - rise_k * own_share
    } else {
        // No drive runs at full speed above its critical temperature, whatever the air.
        (273.15 + draw.between(15.0, 40.0)).min(HOTTEST_K - idle_k - rise_k)
    };
    profile.thermal.ambient_c = ambient_k - 273.15;
    let rest_k = ambient_k + idle_k;
    Warmth { rest_k, rise_k, own_k: rest_k + own_share * rise_k }
}

fn limits(draw: &mut CorpusDraw, profile: &mut Profile) {
    profile.limits.wctemp_k = 358 + draw.between(0.0, 6.0) as u16;
    profile.limits.cctemp_k = profile.limits.wctemp_k + 5;
    let high = profile.limits.cctemp_k;
    // Nothing is passed unless a policy below sets it lower.
    profile.limits.hctm = Some(HctmRange {
        mntmt_k: 273,
        mxtmt_k: high,
        tmt1_k: high - 1,
        tmt2_k: high,
        tmt1_at_mntmt: physics::profile::AtMntmt::Active,
    });
}

fn sensors(draw: &mut CorpusDraw, logging: &Logging, profile: &mut Profile) {
    let sensor = &mut profile.sensor;
    sensor.composite_lag_s = draw.between(0.0, 4.0);
    sensor.update_period_s = draw.pick(&[(1.0, 70.0), (2.0, 20.0), (5.0, 10.0)]);
    sensor.rounding = if draw.chance(0.5) { Rounding::Floor } else { Rounding::Nearest };
    let extra = |share: [f64; 2], offset_k| physics::profile::ExtraSensor { share: share.to_vec(), offset_k };
    sensor.sensor = vec![extra([1.0, 0.0], draw.between(-2.0, 9.0)), extra([0.4, 0.6], 0.0)];
    let frozen = matches!(logging.sensors, RecipeSensors::FrozenComposite | RecipeSensors::FrozenAlone);
    sensor.frozen_composite_k = frozen.then_some(313);
}

/// A policy of both operations that looks every `poll_s`.
pub(crate) fn policy(name: &str, on: Threshold, hysteresis_k: f64, machine: Machine, poll_s: f64) -> Policy {
    Policy {
        name: name.to_owned(),
        ops: Ops::Both,
        on,
        hysteresis_k,
        poll_s,
        dwell_s: 0.0,
        slew_per_s: None,
        only_from_k: None,
        machine,
    }
}

/// The same share of full speed for both operations.
fn cap(profile: &Profile, share: f64) -> Cap {
    Cap {
        read_bytes_per_s: Some(share * full_speed(profile, Op::Read)),
        write_bytes_per_s: Some(share * full_speed(profile, Op::Write)),
    }
}

fn gains(draw: &mut CorpusDraw) -> Gains {
    Gains {
        share_per_k: draw.between(0.03, 0.1),
        share_per_k_s: draw.between(0.0005, 0.002),
        floor_share: draw.between(0.05, 0.2),
    }
}

fn policies(draw: &mut CorpusDraw, kind: RecipeKind, warmth: &Warmth, profile: &mut Profile) {
    let share = if kind == RecipeKind::PreLimited { draw.between(0.2, 0.4) } else { draw.between(0.4, 0.8) };
    let tmt1_k = (warmth.rest_k + share * warmth.rise_k).round();
    let top_k = warmth.rest_k + warmth.rise_k;
    let (tmt1, tmt2) = (Threshold::Tmt1PlusK(0.0), Threshold::Tmt2PlusK(0.0));
    let early = Threshold::Tmt1PlusK(-draw.between(0.0, 1.5));
    let poll_s = draw.pick(&[(0.1, 0.5), (0.5, 0.3), (1.0, 0.2)]);
    let hysteresis_k = draw.between(2.0, 6.0);
    let mut tmt_k = Some((tmt1_k, tmt1_k + draw.between(5.0, 11.0).round()));
    match kind {
        RecipeKind::Relay => {
            let machine = Machine::Relay(cap(profile, draw.between(0.05, 0.7)));
            profile.policy.push(policy("relay", tmt1, hysteresis_k, machine, poll_s));
        }
        RecipeKind::TwoLevel => {
            let (light, heavy) = two_levels(draw, profile);
            let close = if draw.chance(0.7) { (top_k - tmt1_k) * draw.between(0.15, 0.5) } else { 9.0 };
            tmt_k = Some((tmt1_k, tmt1_k + close.round().max(4.0)));
            let machine = Machine::TwoLevel(TwoLevel { light, heavy_on: tmt2, heavy });
            profile.policy.push(policy("two-level", tmt1, hysteresis_k.min(3.0), machine, poll_s));
        }
        RecipeKind::Regulator | RecipeKind::PreLimited => {
            let mut regulator = policy("regulator", early, 8.0, Machine::Regulator(gains(draw)), poll_s);
            regulator.slew_per_s = draw.chance(0.3).then(|| draw.between(0.01, 0.05));
            profile.policy.push(regulator);
        }
        RecipeKind::DutyCycled => {
            let burst_s = draw.between(0.3, 1.5);
            let machine = Machine::DutyCycled(DutyCycle { burst_s, gains: gains(draw) });
            profile.policy.push(policy("duty", early, 8.0, machine, burst_s.max(0.5)));
        }
        RecipeKind::Vendor | RecipeKind::Stop | RecipeKind::HctmAndVendor => {
            tmt_k = own(draw, kind, warmth.own_k, poll_s, profile)
        }
        _ => {}
    }
    if let (Some((tmt1_k, tmt2_k)), Some(hctm)) = (tmt_k, &mut profile.limits.hctm) {
        let high = hctm.mxtmt_k.max(tmt2_k as u16);
        (hctm.mxtmt_k, hctm.tmt1_k, hctm.tmt2_k) = (high, tmt1_k as u16, tmt2_k as u16);
    }
}

/// Light may be no limit at all, as on one of the published drives.
fn two_levels(draw: &mut CorpusDraw, profile: &Profile) -> (Cap, Cap) {
    let light = if draw.chance(0.25) {
        Cap { read_bytes_per_s: None, write_bytes_per_s: None }
    } else {
        cap(profile, draw.between(0.5, 0.85))
    };
    (light, cap(profile, draw.between(0.02, 0.15)))
}

/// Thresholds of the drive's own, TMT1 and TMT2 out of their way; returns the settings.
fn own(
    draw: &mut CorpusDraw,
    kind: RecipeKind,
    own_k: f64,
    poll_s: f64,
    profile: &mut Profile,
) -> Option<(f64, f64)> {
    let at = Threshold::Kelvin(own_k);
    let near = profile.limits.hctm.as_ref().map_or(0, |hctm| hctm.mxtmt_k);
    // Above the threshold by at least 4 K, or inert as some drives come.
    let settings = (own_k + 4.0 < f64::from(near) - 3.0).then(|| (own_k.ceil() + 4.0, f64::from(near)));
    match kind {
        RecipeKind::Vendor => {
            let machine = if draw.chance(0.65) {
                Machine::Relay(cap(profile, draw.between(0.3, 0.85)))
            } else {
                Machine::Regulator(gains(draw))
            };
            profile.policy.push(policy("vendor", at, draw.between(3.0, 7.0), machine, poll_s));
        }
        RecipeKind::Stop => {
            profile.policy.push(policy("stop", at, draw.between(7.0, 14.0), Machine::Stop {}, poll_s));
        }
        _ => {
            let below_k = draw.between(9.0, 14.0);
            let light = Machine::Relay(cap(profile, draw.between(0.65, 0.9)));
            profile.policy.push(policy("relay", Threshold::Tmt1PlusK(0.0), 3.0, light, poll_s));
            let machine = Machine::Relay(cap(profile, draw.between(0.2, 0.5)));
            profile.policy.push(policy("vendor", at, draw.between(3.0, 6.0), machine, poll_s));
            return Some(((own_k - below_k).round(), own_k.ceil() + 5.0));
        }
    }
    settings
}

/// What is not heat. In most of these runs TMT1 lies a little above all that the drive gets to.
fn disturb(draw: &mut CorpusDraw, kind: RecipeKind, warmth: &Warmth, profile: &mut Profile) {
    let top_k = (warmth.rest_k + warmth.rise_k).ceil() + draw.between(3.0, 9.0).round();
    if draw.chance(0.7)
        && let Some(hctm) = &mut profile.limits.hctm
    {
        (hctm.tmt1_k, hctm.tmt2_k) = (top_k as u16, top_k as u16 + 6);
        hctm.mxtmt_k = hctm.mxtmt_k.max(hctm.tmt2_k);
        profile.policy.push(policy(
            "idle relay",
            Threshold::Tmt1PlusK(0.0),
            3.0,
            Machine::Relay(cap(profile, 0.3)),
            0.5,
        ));
    }
    let dip = |draw: &mut CorpusDraw, timing, every_s, duration_s| Dip {
        name: "dip".to_owned(),
        ops: Ops::Both,
        every_s,
        timing,
        duration_s,
        speed_share: draw.between(0.1, 0.8),
    };
    match kind {
        RecipeKind::Dips => {
            let (every_s, duration_s) = (draw.between(40.0, 300.0), draw.between(2.0, 25.0));
            profile.dip = vec![dip(draw, DipTiming::Poisson, every_s, duration_s)];
        }
        RecipeKind::PeriodicDips => {
            let (every_s, duration_s) = (draw.between(15.0, 120.0), draw.between(2.0, 12.0));
            profile.dip = vec![dip(draw, DipTiming::Periodic, every_s, duration_s)];
        }
        RecipeKind::Wobble => {
            let (period_s, depth) = (draw.between(0.5, 20.0), draw.between(0.03, 0.2));
            profile.media.wobble = Some(Wobble { period_s, depth, ops: Ops::Both });
        }
        RecipeKind::LinkCeiling => {
            profile.media.link_bytes_per_s = full_speed(profile, Op::Read) * draw.between(0.3, 0.9);
        }
        _ => {}
    }
}

fn loads(
    draw: &mut CorpusDraw,
    kind: RecipeKind,
    hot: Op,
    logging: &Logging,
    profile: &Profile,
) -> Vec<RecipeLoad> {
    // As long as it takes for a dozen intervals and a dozen slow time constants.
    let scale = if logging.interval_s >= 60.0 {
        6.0
    } else if logging.interval_s >= 5.0 {
        2.0
    } else {
        1.0
    };
    let load = |op, seconds: f64| RecipeLoad {
        op,
        seconds: (scale * seconds).round(),
        limit: f64::INFINITY,
        power_state: 0,
    };
    let other = if hot == Op::Read { Op::Write } else { Op::Read };
    let main_s = draw.between(420.0, 900.0);
    match kind {
        RecipeKind::PreLimited => vec![load(other, draw.between(200.0, 400.0)), load(hot, main_s)],
        // Never once round the drive: what is written over gives cache back.
        RecipeKind::SlcCliff => {
            let most_s = 0.8 * SLC_DRIVE_BYTES as f64 / full_speed(profile, Op::Write) / scale;
            vec![load(Op::Idle, 20.0), load(Op::Write, main_s.min(most_s))]
        }
        RecipeKind::RateLimits => {
            let steps = 4;
            let stair = |draw: &mut CorpusDraw| RecipeLoad {
                limit: full_speed(profile, hot) * draw.between(0.15, 0.9),
                ..load(hot, draw.between(60.0, 200.0))
            };
            (0..steps).map(|_| stair(draw)).collect()
        }
        RecipeKind::PowerState => {
            vec![load(hot, draw.between(150.0, 300.0)), load(hot, draw.between(150.0, 300.0))]
        }
        _ => match draw.unit() {
            u if u < 0.4 => vec![load(hot, main_s)],
            u if u < 0.6 => vec![load(Op::Idle, 60.0), load(hot, main_s)],
            u if u < 0.85 => vec![load(other, draw.between(100.0, 300.0)), load(hot, main_s)],
            _ => vec![
                load(hot, main_s * 0.6),
                load(Op::Idle, draw.between(60.0, 200.0)),
                load(hot, main_s * 0.6),
            ],
        },
    }
}

/// A cache that is full at some share of the writing, and no sooner than 10 s into it.
fn cache(draw: &mut CorpusDraw, loads: &[RecipeLoad], profile: &mut Profile) {
    let write = full_speed(profile, Op::Write);
    let seconds: f64 = loads.iter().filter(|load| load.op == Op::Write).map(|load| load.seconds).sum();
    let bytes = write * (seconds * draw.between(0.1, 0.7)).max(10.0);
    profile.identity.capacity_bytes = SLC_DRIVE_BYTES;
    let most = SLC_DRIVE_BYTES as f64 * 0.9;
    profile.slc = Some(SlcProfile {
        capacity_bytes: bytes.min(most) as u64,
        direct_write: ceiling(write * draw.between(0.03, 0.7)),
        idle_fold_bytes_per_s: 3e8,
        idle_fold_after_s: 30.0,
        pressure_fold_bytes_per_s: 0.0,
        reopen_share: 0.05,
    });
}

/// The host takes the drive down to a state with a cap, in the middle of one load.
fn power_states(draw: &mut CorpusDraw, profile: &mut Profile, loads: &mut [RecipeLoad]) {
    let share = draw.between(0.3, 0.85);
    let caps = [Op::Read, Op::Write].map(|op| Some(share * full_speed(profile, op)));
    profile.power_state.push(PowerStateProfile::limited(3.0, caps));
    loads[1].power_state = 1;
}
