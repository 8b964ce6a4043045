//! Drives whose forecasts are scored: the built-in ones, drawn ones of `physics`, and foreign ones.
//!
//! Drawn as people have them: two or three nodes, 8 to 16 K/W, time constants of 8 to 700 s, all classes of throttles,
//! exponents of 1 to 3, air of 18 to 36 °C, hystereses of 1.5 to 8 K, sensors that lag. Foreign ones: three to five nodes,
//! leakage, lag, a composite that is part the second node's, relays, stairs, integrators and bursts.

use measure::Seed;
use measure::record::Op;
use physics::profile::{Cap, Ceiling, DutyCycle, Gains, HctmRange, Machine, Node, Threshold, TwoLevel};
use physics::{Demand, Drive, Profile, Transfer};

use crate::corpus::build;
use crate::corpus::draw::CorpusDraw;
use crate::corpus::foreign::ForeignDrive;
use crate::corpus::foreign::world::{Acts, Air, ForeignSensor, Guardian, Power, Set, World};

/// Built-in drives that are asked, in turn.
const BUILTIN: [&str; 8] =
    ["ssd1", "ssd2", "regulator", "relay", "exceria-g2-usb10", "two-level", "vendor", "duty-cycled"];

/// How TMT1 is set for a run: this share of the way from rest to where a read at full speed would settle.
const TMT1_SHARE: f64 = 0.45;

/// A drive to be fitted and asked.
pub(super) struct TestDrive {
    pub(super) name: String,
    pub(super) seed: Seed,
    pub(super) what: What,
    /// TMT1 and TMT2 of the run; 0 is off.
    pub(super) tmt_k: [u16; 2],
    /// Noise of a second's speed, as a share.
    pub(super) noise: f64,
}

/// What it is made of.
pub(super) enum What {
    Own(Box<Profile>),
    /// Thresholds of the host stand in it as they are set in the run.
    Foreign(Box<World>),
}

impl TestDrive {
    pub(super) const fn is_foreign(&self) -> bool {
        matches!(self.what, What::Foreign(_))
    }

    /// Whether TMT1 and TMT2 may be set.
    pub(super) const fn has_hctm(&self) -> bool {
        match &self.what {
            What::Own(profile) => profile.limits.hctm.is_some(),
            What::Foreign(_) => true,
        }
    }

    /// Highest settable TMT2.
    pub(super) fn most_tmt_k(&self) -> u16 {
        match &self.what {
            What::Own(profile) => profile.limits.hctm.as_ref().map_or(393, |hctm| hctm.mxtmt_k),
            What::Foreign(_) => 393,
        }
    }

    /// What it is made of, for whoever works on the fit.
    pub(super) fn truth(&self) -> String {
        match &self.what {
            What::Own(profile) => {
                let node: Vec<_> =
                    profile.thermal.node.iter().map(|n| (n.capacity_j_per_k, n.outward_k_per_w)).collect();
                let total: f64 = node.iter().map(|node| node.1).sum();
                let power = &profile.power;
                format!(
                    "    truth: TMT {:?}, gain {:.2} {:.2}, exponent {:.2} {:.2}, lag {:.1}, nodes {node:.1?}, {:?}",
                    self.tmt_k,
                    total * power.read_w_per_gb_per_s,
                    total * power.write_w_per_gb_per_s,
                    power.read_level_exponent,
                    power.write_level_exponent,
                    profile.sensor.composite_lag_s,
                    profile.policy
                )
            }
            What::Foreign(world) => format!("    truth: TMT {:?}, {world:?}", self.tmt_k),
        }
    }

    /// Kelvins in the end for each GB/s, reading and writing, where they are numbers.
    pub(super) fn gains_k(&self) -> Option<[f64; 2]> {
        let What::Own(profile) = &self.what else { return None };
        let total: f64 = profile.thermal.node.iter().map(|node| node.outward_k_per_w).sum();
        let power = &profile.power;
        Some([power.read_w_per_gb_per_s, power.write_w_per_gb_per_s].map(|watts| total * watts))
    }

    pub(super) fn ambient_k(&self) -> f64 {
        match &self.what {
            What::Own(profile) => profile.thermal.ambient_c + 273.15,
            What::Foreign(world) => world.air.kelvin,
        }
    }

    /// Full speed of reading and writing in bytes per second.
    pub(super) fn full(&self) -> [f64; 2] {
        match &self.what {
            What::Own(profile) => {
                let link = profile.media.link_bytes_per_s;
                [profile.media.sequential_read, profile.media.sequential_write]
                    .map(|ceiling| ceiling.bytes_per_s.min(link))
            }
            What::Foreign(world) => world.full,
        }
    }
}

/// Draws drive `number`.
pub(super) fn draw(number: u64) -> TestDrive {
    // Seeds that no other corpus has.
    let seed = Seed::new(number | 3 << 41);
    let mut draw = CorpusDraw::new(seed.part(0));
    let nth = number / 2;
    match nth % 3 {
        2 => foreign(number, seed, &mut draw),
        _ if nth < 12 => builtin(BUILTIN[(nth - nth / 3) as usize % BUILTIN.len()], seed, &mut draw),
        _ => own(number, seed, &mut draw),
    }
}

fn builtin(name: &str, seed: Seed, draw: &mut CorpusDraw) -> TestDrive {
    let mut profile = Profile::builtin(name).expect("it is built in");
    // The experiment stays within the write cache: its region is the cache's.
    profile.slc = None;
    let tmt_k = tmt(&profile);
    TestDrive {
        name: name.to_owned(),
        seed,
        what: What::Own(Box::new(profile)),
        tmt_k,
        noise: draw.between(0.002, 0.01),
    }
}

/// TMT1 between rest and the hottest, TMT2 a good way above.
fn tmt(profile: &Profile) -> [u16; 2] {
    let Some(hctm) = &profile.limits.hctm else { return [0, 0] };
    let mut unthrottled = profile.clone();
    unthrottled.policy.clear();
    let mut drive = Drive::new(&unthrottled, Seed::new(1));
    let rest_k = drive.exact_composite().as_kelvin_f64();
    let read = Demand::Transfer(Transfer::sequential(Op::Read, 64 << 30));
    drive.advance_demand(measure::Instant::from_ns(1_800_000_000_000), &read);
    let hot_k = drive.exact_composite().as_kelvin_f64();
    let tmt1_k = (rest_k + TMT1_SHARE * (hot_k - rest_k)).round();
    let gap_k = (0.25 * (hot_k - rest_k)).round().max(4.0);
    let [tmt1_k, tmt2_k] = [tmt1_k, tmt1_k + gap_k].map(|kelvin| kelvin as u16);
    let most = hctm.mxtmt_k;
    [tmt1_k.clamp(hctm.mntmt_k + 1, most - 1), tmt2_k.min(most).max(hctm.mntmt_k + 2)]
}

fn own(number: u64, seed: Seed, draw: &mut CorpusDraw) -> TestDrive {
    let mut profile = Profile::builtin("relay").expect("it is built in");
    profile.slc = None;
    profile.policy.clear();
    let read = draw.between(0.5e9, 7e9);
    let write = read * draw.between(0.45, 0.95);
    profile.media.link_bytes_per_s = read * draw.between(1.1, 2.0);
    let ceiling = |bytes_per_s| Ceiling { bytes_per_s, iops: 1e6 };
    (profile.media.sequential_read, profile.media.sequential_write) = (ceiling(read), ceiling(write));
    let k_per_w = draw.between(8.0, 16.0);
    nodes(draw, &mut profile, k_per_w);
    let hot = [draw.between(30.0, 58.0), draw.between(26.0, 50.0)];
    profile.power.read_w_per_gb_per_s = hot[0] / k_per_w / (read / 1e9);
    profile.power.write_w_per_gb_per_s = hot[1] / k_per_w / (write / 1e9);
    profile.power.idle_w = draw.between(0.5, 1.4);
    profile.thermal.ambient_c = draw.between(18.0, 36.0);
    profile.sensor.composite_lag_s = draw.between(0.0, 4.0);
    profile.sensor.update_period_s = draw.pick(&[(1.0, 80.0), (2.0, 20.0)]);
    profile.limits.hctm = Some(HctmRange {
        mntmt_k: 273,
        mxtmt_k: 393,
        tmt1_k: 391,
        tmt2_k: 392,
        tmt1_at_mntmt: physics::profile::AtMntmt::Active,
    });
    let tmt_k = tmt(&profile);
    let class = throttle(draw, &mut profile, hot[0], k_per_w);
    profile.check().expect("what is drawn lies in the model's ranges");
    let name = format!("drawn {number} {class}");
    TestDrive { name, seed, what: What::Own(Box::new(profile)), tmt_k, noise: draw.between(0.002, 0.02) }
}

/// Two or three nodes whose time constants lie between 8 and 700 s.
fn nodes(draw: &mut CorpusDraw, profile: &mut Profile, k_per_w: f64) {
    let count = if draw.chance(0.5) { 2 } else { 3 };
    let shares: Vec<f64> = (0..count).map(|_| draw.between(0.5, 1.5)).collect();
    let sum: f64 = shares.iter().sum();
    profile.thermal.node = (0..count)
        .map(|at| Node {
            name: format!("node {at}"),
            capacity_j_per_k: match at {
                0 => draw.between(2.0, 6.0),
                1 => draw.between(10.0, 45.0),
                _ => draw.between(40.0, 90.0),
            },
            outward_k_per_w: k_per_w * shares[at] / sum,
            heat_share: if at == 0 { 1.0 } else { 0.0 },
        })
        .collect();
    profile.sensor.composite_share = (0..count).map(|at| if at == 0 { 1.0 } else { 0.0 }).collect();
}

fn throttle(draw: &mut CorpusDraw, profile: &mut Profile, rise_k: f64, k_per_w: f64) -> &'static str {
    let full = [profile.media.sequential_read.bytes_per_s, profile.media.sequential_write.bytes_per_s];
    let cap = |shares: [f64; 2]| Cap {
        read_bytes_per_s: Some(shares[0] * full[0]),
        write_bytes_per_s: Some(shares[1] * full[1]),
    };
    let poll_s = draw.pick(&[(0.1, 0.5), (0.5, 0.3), (1.0, 0.2)]);
    let hysteresis_k = draw.between(1.5, 8.0);
    let policy =
        |name: &str, on, hysteresis_k, machine| build::policy(name, on, hysteresis_k, machine, poll_s);
    let gains = Gains {
        share_per_k: draw.between(0.03, 0.1),
        share_per_k_s: draw.between(0.0005, 0.003),
        floor_share: draw.between(0.05, 0.15),
    };
    let tmt1 = Threshold::Tmt1PlusK(-draw.between(0.0, 1.5));
    let floor = [draw.between(0.05, 0.6), draw.between(0.05, 0.6)];
    let rest_k = profile.thermal.ambient_c + 273.15 + k_per_w * profile.power.idle_w;
    let own = Threshold::Kelvin(rest_k + draw.between(0.55, 0.75) * rise_k);
    let (class, added) = match draw.unit() {
        u if u < 0.30 => ("relay", policy("relay", tmt1, hysteresis_k, Machine::Relay(cap(floor)))),
        u if u < 0.62 => {
            profile.power.read_level_exponent = draw.between(1.0, 3.0);
            profile.power.write_level_exponent = draw.between(1.0, 3.0);
            ("regulator", policy("regulator", tmt1, 8.0, Machine::Regulator(gains)))
        }
        u if u < 0.74 => {
            let light = cap([draw.between(0.5, 0.85), draw.between(0.5, 0.85)]);
            let heavy = cap(floor.map(|share| 0.3 * share));
            let two = TwoLevel { light, heavy_on: Threshold::Tmt2PlusK(0.0), heavy };
            ("two-level", policy("two-level", tmt1, hysteresis_k.min(4.0), Machine::TwoLevel(two)))
        }
        u if u < 0.90 => {
            ("own relay", policy("own", own, hysteresis_k, Machine::Relay(cap(floor.map(|s| 0.3 + s)))))
        }
        _ => {
            let duty = DutyCycle { burst_s: draw.between(0.4, 1.5), gains };
            ("duty-cycled", policy("duty", tmt1, 8.0, Machine::DutyCycled(duty)))
        }
    };
    profile.policy.push(added);
    class
}

fn foreign(number: u64, seed: Seed, draw: &mut CorpusDraw) -> TestDrive {
    let mut world = world(draw);
    let (rest_k, hot_k) = range_k(&world);
    let tmt1_k = (rest_k + TMT1_SHARE * (hot_k - rest_k)).round();
    let tmt2_k = tmt1_k + (0.3 * (hot_k - rest_k)).round().max(4.0);
    let poll_s = draw.pick(&[(0.1, 0.5), (0.5, 0.3), (1.0, 0.2)]);
    let on_k = tmt1_k - draw.between(0.0, 1.0);
    let off_k = on_k - draw.between(1.5, 7.0);
    let floor = draw.between(0.05, 0.25);
    let guardian = |set, on_k, off_k, acts| Guardian { set, on_k, off_k, poll_s, acts };
    let per_k_s = draw.between(0.001, 0.01);
    let (class, firmware) = match draw.unit() {
        u if u < 0.4 => {
            ("relay", vec![guardian(Set::Tmt1, on_k, off_k, Acts::Share(draw.between(0.1, 0.6)))])
        }
        u if u < 0.6 => ("integral", vec![guardian(Set::Tmt1, on_k, 0.0, Acts::Integral { per_k_s, floor })]),
        u if u < 0.7 => {
            let period_s = draw.between(0.4, 1.6);
            ("bursts", vec![guardian(Set::Tmt1, on_k, 0.0, Acts::Bursts { per_k_s, floor, period_s })])
        }
        u if u < 0.8 => {
            let (step, each_k) = (draw.between(0.08, 0.25), draw.between(1.5, 3.5));
            ("stairs", vec![guardian(Set::Tmt1, on_k, 0.0, Acts::Stairs { step, each_k, floor })])
        }
        _ => {
            let heavy = guardian(Set::Tmt2, tmt2_k, off_k, Acts::Share(draw.between(0.03, 0.2)));
            ("two-level", vec![guardian(Set::Tmt1, on_k, off_k, Acts::Share(draw.between(0.5, 0.85))), heavy])
        }
    };
    world.firmware = firmware;
    let name = format!("foreign {number} {class}");
    let tmt_k = [tmt1_k as u16, tmt2_k as u16];
    TestDrive { name, seed, what: What::Foreign(Box::new(world)), tmt_k, noise: draw.between(0.004, 0.03) }
}

fn world(draw: &mut CorpusDraw) -> World {
    let count = 3 + (draw.unit() * 3.0) as usize;
    let total = draw.between(8.0, 18.0);
    let nodes: Vec<(f64, f64)> = (0..count)
        .map(|at| {
            let outwards = (at as f64 + draw.between(0.2, 1.0)) / count as f64;
            (2.5 * 14f64.powf(outwards), draw.between(0.5, 1.5))
        })
        .collect();
    let sum: f64 = nodes.iter().map(|node| node.1).sum();
    let read = draw.between(0.5e9, 7e9);
    World {
        nodes: nodes.into_iter().map(|(capacity, share)| (capacity, total * share / sum)).collect(),
        power: Power {
            idle_w: draw.between(0.4, 1.4),
            full_w: [draw.between(30.0, 55.0), draw.between(25.0, 50.0)].map(|rise_k| rise_k / total),
            exponent: draw.between(0.9, 1.1),
            leak_per_k: draw.between(0.0, 0.004),
        },
        air: Air {
            kelvin: 273.15 + draw.between(18.0, 34.0),
            drift_k_per_h: 0.0,
            neighbours: Vec::new(),
            fan: None,
        },
        sensor: ForeignSensor {
            outer: draw.between(0.0, 0.5),
            lag_s: draw.between(0.0, 5.0),
            delay_s: 0.0,
            step_k: 1.0,
            lost: 0.0,
        },
        full: [read, read * draw.between(0.45, 0.95)],
        firmware: Vec::new(),
        dips: None,
        cache: None,
        host_jobs: Vec::new(),
    }
}

/// At rest, and after half an hour of reading without firmware.
fn range_k(world: &World) -> (f64, f64) {
    let mut drive = ForeignDrive::new(world, CorpusDraw::new(Seed::new(0)));
    let rest_k = drive.exact_k();
    (0..18_000).for_each(|_| {
        drive.step(0.1, Some(0), f64::INFINITY);
    });
    (rest_k, drive.exact_k())
}
