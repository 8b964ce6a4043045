//! Draws foreign drives, their rooms and their loads.

use measure::Seed;
use measure::record::Op;
use physics::Profile;
use physics::profile::{AtMntmt, HctmRange};

use super::super::draw::CorpusDraw;
use super::super::recipe::{Logging, Recipe, RecipeKind, RecipeLoad, logging};
use super::world::{Acts, Air, Cache, Dips, ForeignSensor, Guardian, Power, Set, World};

/// A third of the largest drives that have a cache, of 8 TB.
const LARGEST_CACHE_BYTES: f64 = 2.7e12;
/// How often each kind is drawn: as many runs without heat as with it.
const KINDS: [(RecipeKind, f64); 14] = [
    (RecipeKind::Relay, 9.0),
    (RecipeKind::TwoLevel, 6.0),
    (RecipeKind::Regulator, 8.0),
    (RecipeKind::DutyCycled, 4.0),
    (RecipeKind::Vendor, 10.0),
    (RecipeKind::Stop, 4.0),
    (RecipeKind::Stairs, 6.0),
    (RecipeKind::Several, 6.0),
    (RecipeKind::Plain, 10.0),
    (RecipeKind::Dips, 11.0),
    (RecipeKind::PeriodicDips, 10.0),
    (RecipeKind::SlcCliff, 9.0),
    (RecipeKind::CacheRecovers, 6.0),
    (RecipeKind::HostJobs, 7.0),
];

/// Draws foreign run `number`.
pub(crate) fn recipe(number: u64) -> Recipe {
    // Seeds of the other half are small numbers.
    let seed = Seed::new(number | 1 << 40);
    let mut draw = CorpusDraw::new(seed.part(0));
    let kind = draw.pick(&KINDS);
    let mut logging = logging(&mut draw, kind);
    logging.phases_known = draw.chance(0.7);
    let loads = loads(&mut draw, &logging);
    let mut world = world(&mut draw, kind);
    let tmt_k = firmware(&mut draw, kind, &mut world, &loads);
    if !kind.is_heat() {
        disturb(&mut draw, kind, &mut world, &loads);
    }
    let profile = settings(&mut draw, kind, &world, tmt_k);
    Recipe { number, seed, kind, profile, loads, logging, world: Some(world) }
}

fn world(draw: &mut CorpusDraw, kind: RecipeKind) -> World {
    let count = 2 + (draw.unit() * 4.0) as usize;
    // Time constants from seconds at the die to many minutes at the case.
    let node = |draw: &mut CorpusDraw, at: usize| {
        let outwards = (at as f64 + draw.between(0.2, 1.0)) / count as f64;
        (3.0 * 12f64.powf(outwards) * draw.between(0.7, 1.6), draw.between(0.5, 1.5))
    };
    let mut nodes: Vec<(f64, f64)> = (0..count).map(|at| node(draw, at)).collect();
    let total = draw.between(7.0, 20.0);
    let last = draw.between(0.4, 0.75);
    let inner: f64 = nodes[..count - 1].iter().map(|node| node.1).sum();
    nodes[..count - 1].iter_mut().for_each(|node| node.1 *= total * (1.0 - last) / inner);
    nodes[count - 1].1 = total * last;
    let read = draw.between(0.5e9, 12e9);
    let rise_k = draw.between(24.0, 60.0);
    let hot = [draw.between(0.55, 1.0), draw.between(0.55, 1.0)].map(|share| share * rise_k / total);
    let long = kind == RecipeKind::Plain && draw.chance(0.5);
    World {
        nodes,
        power: Power {
            idle_w: draw.between(0.3, 1.5),
            full_w: hot,
            exponent: draw.between(0.6, 1.1),
            leak_per_k: draw.between(0.0, 0.006),
        },
        air: Air {
            kelvin: 273.15 + draw.between(15.0, 45.0),
            drift_k_per_h: if draw.chance(0.4) { draw.between(-6.0, 8.0) } else { 0.0 },
            neighbours: match draw.chance(0.25) || long {
                true => vec![(draw.between(60.0, 300.0), draw.between(300.0, 900.0), draw.between(2.0, 8.0))],
                false => Vec::new(),
            },
            fan: draw.chance(0.15).then(|| {
                let on_k = draw.between(325.0, 345.0);
                (on_k, on_k - draw.between(4.0, 9.0))
            }),
        },
        sensor: ForeignSensor {
            outer: draw.between(0.0, 0.6),
            lag_s: draw.between(0.0, 8.0),
            delay_s: if draw.chance(0.3) { draw.between(0.5, 5.0) } else { 0.0 },
            step_k: draw.pick(&[(1.0, 80.0), (2.0, 10.0), (5.0, 10.0)]),
            lost: if draw.chance(0.2) { draw.between(0.01, 0.15) } else { 0.0 },
        },
        full: [read, read * draw.between(0.4, 1.0)],
        firmware: Vec::new(),
        dips: None,
        cache: None,
        host_jobs: Vec::new(),
    }
}

fn loads(draw: &mut CorpusDraw, logging: &Logging) -> Vec<RecipeLoad> {
    let scale = match logging.interval_s {
        s if s >= 60.0 => 10.0,
        s if s >= 5.0 => 2.5,
        _ => 1.0,
    };
    let load = |op, seconds: f64| RecipeLoad {
        op,
        seconds: (scale * seconds).round(),
        limit: f64::INFINITY,
        power_state: 0,
    };
    let op = if draw.chance(0.6) { Op::Read } else { Op::Write };
    let other = if op == Op::Read { Op::Write } else { Op::Read };
    let main_s = draw.between(500.0, 1500.0);
    match draw.unit() {
        u if u < 0.35 => vec![load(op, main_s)],
        u if u < 0.55 => vec![load(Op::Idle, 45.0), load(op, main_s)],
        u if u < 0.75 => vec![load(other, draw.between(100.0, 400.0)), load(op, main_s)],
        u if u < 0.9 => {
            vec![load(op, main_s * 0.5), load(Op::Idle, draw.between(60.0, 300.0)), load(op, main_s * 0.5)]
        }
        _ => vec![load(op, main_s * 0.4), load(other, main_s * 0.3), load(op, main_s * 0.4)],
    }
}

/// Temperatures that the drive would get to under its loads without any firmware: at rest, and the hottest.
fn range_k(world: &World, loads: &[RecipeLoad]) -> (f64, f64) {
    let unguarded = World { firmware: Vec::new(), ..world.clone() };
    let mut drive = super::ForeignDrive::new(&unguarded, CorpusDraw::new(Seed::new(0)));
    let rest_k = drive.exact_k();
    let mut hottest_k = rest_k;
    for load in loads {
        for _ in 0..(load.seconds / 0.5) as usize {
            drive.step(0.5, op(load.op), load.limit);
            hottest_k = hottest_k.max(drive.exact_k());
        }
    }
    (rest_k, hottest_k)
}

pub(crate) fn op(op: Op) -> Option<usize> {
    match op {
        Op::Read => Some(0),
        Op::Write => Some(1),
        _ => None,
    }
}

/// Thresholds where the load passes them; TMT1 and TMT2 as set.
fn firmware(draw: &mut CorpusDraw, kind: RecipeKind, world: &mut World, loads: &[RecipeLoad]) -> (f64, f64) {
    let own =
        matches!(kind, RecipeKind::Vendor | RecipeKind::Stop | RecipeKind::Stairs | RecipeKind::Several);
    let (rest_k, hottest_k) = range_k(world, loads);
    let share = draw.between(0.4, 0.8);
    let mut on_k = rest_k + share * (hottest_k - rest_k);
    if own {
        // A drive's own thresholds are where drives have them: the air follows.
        let wanted_k = draw.between(343.0, 362.0);
        world.air.kelvin += wanted_k - on_k;
        on_k = wanted_k;
    } else if !kind.is_heat() {
        // No drive gets hotter than its critical temperature without slowing down.
        world.air.kelvin -= (hottest_k - 362.0).max(0.0);
        let high_k = (hottest_k.min(362.0) + draw.between(3.0, 9.0)).round();
        return (high_k, high_k + 6.0);
    }
    let poll_s = draw.pick(&[(0.1, 0.5), (0.5, 0.3), (1.0, 0.15), (2.0, 0.05)]);
    let set = if own { Set::Own } else { Set::Tmt1 };
    let on_k = if own { on_k } else { on_k.round() };
    let off_k = on_k - draw.between(1.5, 7.0);
    let guardian = |set, on_k: f64, off_k: f64, acts| Guardian { set, on_k, off_k, poll_s, acts };
    let floor = draw.between(0.05, 0.3);
    let per_k_s = draw.between(0.002, 0.02);
    world.firmware = match kind {
        RecipeKind::Stop => vec![guardian(set, on_k, on_k - draw.between(6.0, 14.0), Acts::Share(0.0))],
        RecipeKind::Regulator => {
            vec![guardian(set, on_k - draw.between(0.0, 1.5), 0.0, Acts::Integral { per_k_s, floor })]
        }
        RecipeKind::DutyCycled => {
            let period_s = draw.between(0.4, 1.6);
            vec![guardian(set, on_k - draw.between(0.0, 1.0), 0.0, Acts::Bursts { per_k_s, floor, period_s })]
        }
        RecipeKind::Stairs => {
            let (step, each_k) = (draw.between(0.08, 0.25), draw.between(1.5, 3.5));
            vec![guardian(set, on_k, 0.0, Acts::Stairs { step, each_k, floor })]
        }
        RecipeKind::Several => {
            let heavy_k = on_k + draw.between(3.0, 7.0);
            vec![
                guardian(set, on_k, off_k, Acts::Share(draw.between(0.55, 0.85))),
                guardian(set, heavy_k, heavy_k - draw.between(2.0, 5.0), Acts::Share(draw.between(0.1, 0.4))),
            ]
        }
        RecipeKind::TwoLevel => {
            let heavy_k = (on_k + draw.between(3.0, 7.0)).round();
            let heavy = guardian(Set::Tmt2, heavy_k, on_k - 1.0, Acts::Share(draw.between(0.03, 0.2)));
            vec![guardian(set, on_k, off_k, Acts::Share(draw.between(0.5, 0.85))), heavy]
        }
        _ => vec![guardian(set, on_k, off_k, Acts::Share(draw.between(0.1, 0.85)))],
    };
    match (own, world.firmware.get(1)) {
        (true, _) => {
            let far_k = (on_k + draw.between(6.0, 14.0)).round();
            (far_k, far_k + 5.0)
        }
        (false, Some(heavy)) => (on_k, heavy.on_k),
        (false, None) => (on_k, on_k + draw.between(8.0, 16.0).round()),
    }
}

/// What is no heat.
fn disturb(draw: &mut CorpusDraw, kind: RecipeKind, world: &mut World, loads: &[RecipeLoad]) {
    let seconds: f64 = loads.iter().map(|load| load.seconds).sum();
    let leaves = draw.between(0.1, 0.85);
    match kind {
        RecipeKind::Dips | RecipeKind::PeriodicDips => {
            let regular = kind == RecipeKind::PeriodicDips;
            let (every_s, lasts_s) = (draw.between(25.0, 300.0), draw.between(2.0, 30.0));
            world.dips = Some(Dips { every_s, regular, lasts_s, leaves });
        }
        RecipeKind::SlcCliff | RecipeKind::CacheRecovers => {
            let written_s: f64 =
                loads.iter().filter(|load| load.op == Op::Write).map(|load| load.seconds).sum();
            let bytes = world.full[1] * (written_s.max(30.0) * draw.between(0.1, 0.7)).max(10.0);
            let bytes = bytes.min(LARGEST_CACHE_BYTES);
            let back = if kind == RecipeKind::SlcCliff { 0.0 } else { draw.between(0.3, 0.8) };
            let leaves = draw.between(0.04, 0.6);
            // Emptied more slowly than it is filled when full: writes come and go.
            let emptied_bytes_per_s = back * leaves * world.full[1];
            world.cache = Some(Cache { bytes: bytes * (1.0 - 0.5 * back), leaves, emptied_bytes_per_s });
        }
        RecipeKind::HostJobs => {
            let jobs = 1 + (draw.unit() * 4.0) as usize;
            for _ in 0..jobs {
                let from_s = draw.between(0.1, 0.9) * seconds;
                world.host_jobs.push((from_s, from_s + draw.between(5.0, 200.0), leaves));
            }
        }
        _ => {}
    }
}

/// The settings and limits, in the form in which labels ask for them.
fn settings(draw: &mut CorpusDraw, kind: RecipeKind, world: &World, (tmt1_k, tmt2_k): (f64, f64)) -> Profile {
    let mut profile = Profile::builtin("relay").expect("it is built in");
    profile.name = format!("foreign {kind:?}").to_lowercase();
    profile.slc = None;
    profile.policy.clear();
    profile.sensor.update_period_s = 0.5;
    profile.limits.wctemp_k = 358 + draw.between(0.0, 8.0) as u16;
    profile.limits.cctemp_k = profile.limits.wctemp_k + 5;
    profile.limits.hctm = Some(HctmRange {
        mntmt_k: 273,
        mxtmt_k: tmt2_k.max(380.0) as u16,
        tmt1_k: tmt1_k as u16,
        tmt2_k: tmt2_k as u16,
        tmt1_at_mntmt: AtMntmt::Active,
    });
    profile.media.link_bytes_per_s = world.full[0] * draw.between(1.05, 2.0);
    profile
}
