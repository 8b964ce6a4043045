//! Several runs of one simulated drive at different settings: together they have to tell whose its thresholds are.
//!
//! Truth is the profile: which machine follows what, by how much.

use analysis::findings::PolicyClass;
use analysis::joint::{Follows, JointMachine, JointPolicy};

use crate::support::Scratch;

const READ: &str = r#"
[[phase]]
op = "read"
block_size = "1MiB"
depth = 64
region = { start = "0B", len = "50GiB" }
duration = "10m"
"#;

/// What the runs of a sweep show together.
fn swept(profile: &str, plan: &str, sweep: &str) -> JointPolicy {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("plan.toml"), plan).expect("a scratch file");
    let drive = format!("twin:{profile}");
    let args = ["run", "plan.toml", "--drive", &drive, "--sweep", sweep, "--out", "all", "--json", "--quiet"];
    let done = scratch.run(&[&args[..], &["--no-report"]].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let mut all: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    let [joint] = all["joint_policies"].as_array_mut().expect("a list").as_mut_slice() else {
        panic!("one drive: {all}")
    };
    serde_json::from_value(joint.take()).expect("a joint policy")
}

fn one(joint: &JointPolicy, follows: Follows) -> &JointMachine {
    let of: Vec<&JointMachine> = joint.machines.iter().filter(|machine| machine.follows == follows).collect();
    let [machine] = of[..] else { panic!("one threshold that follows {follows:?}: {joint:#?}") };
    machine
}

fn near(found: Option<f64>, truth: f64, within: f64, what: &str) {
    assert!(
        found.is_some_and(|found| (found - truth).abs() <= within),
        "{what}: {found:?}, in truth {truth}"
    );
}

#[test]
fn a_relay_follows_tmt1() {
    let joint = swept("relay", READ, "tmt=default,65C/75C,70C/80C");
    assert_eq!(joint.class, PolicyClass::Relay, "{joint:#?}");
    let machine = one(&joint, Follows::Tmt1);
    near(machine.slope, 1.0, 0.1, "slope");
    near(machine.offset_k, 0.0, 1.0, "offset");
    near(machine.hysteresis_k, 4.0, 1.0, "hysteresis");
    near(machine.floor_bytes_per_s, 3e8, 1e7, "floor");
}

#[test]
fn two_levels_follow_tmt1_and_tmt2() {
    let joint = swept("two-level", READ, "tmt=default,57C/70C,63C/69C");
    assert_eq!(joint.class, PolicyClass::TwoLevel, "{joint:#?}");
    for (follows, floor) in [(Follows::Tmt1, 2.2e9), (Follows::Tmt2, 1e8)] {
        let machine = one(&joint, follows);
        near(machine.offset_k, 0.0, 1.0, "offset");
        near(machine.floor_bytes_per_s, floor, 0.05 * floor, "floor");
    }
    near(one(&joint, Follows::Tmt2).release_offset_from_tmt1_k, -2.0, 1.0, "release against TMT1");
}

#[test]
fn regulators_follow_tmt1_from_below() {
    // Both hold what their profiles say, a kelvin below TMT1, though they begin to give way up to 8 K below that.
    for (profile, class) in [("regulator", PolicyClass::Regulator), ("duty-cycled", PolicyClass::DutyCycled)]
    {
        let joint = swept(profile, READ, "tmt=default,65C/75C,70C/80C");
        assert_eq!(joint.class, class, "{profile}: {joint:#?}");
        let machine = one(&joint, Follows::Tmt1);
        near(machine.slope, 1.0, 0.1, "slope");
        near(machine.offset_k, -1.0, 1.0, "offset");
    }
}

#[test]
fn a_vendors_own_threshold_stays_where_it_is() {
    let joint = swept("vendor", READ, "tmt=default,60C/70C");
    assert_eq!(joint.class, PolicyClass::Vendor, "{joint:#?}");
    let machine = one(&joint, Follows::Nothing);
    near(machine.threshold_k, 348.0, 1.0, "threshold");
    near(machine.floor_bytes_per_s, 2.2e9, 5e7, "floor");
}

#[test]
fn a_stop_stays_where_it_is_in_every_room() {
    let joint = swept("stop", READ, "ambient=25C,30C,36C");
    assert_eq!((joint.class, &joint.also[..]), (PolicyClass::Vendor, &[PolicyClass::Stop][..]), "{joint:#?}");
    let machine = one(&joint, Follows::Nothing);
    assert_eq!(machine.points.len(), 3, "{machine:#?}");
    near(machine.threshold_k, 351.0, 1.0, "threshold");
    near(machine.hysteresis_k, 10.0, 1.0, "hysteresis");
}

/// SSD1 of the seed experiments: a relay at TMT1, and the drive's own threshold at 80 °C beside it.
#[test]
fn two_machines_of_one_drive_are_told_apart() {
    let plan = READ.replace("10m", "5m");
    let plan = format!("{}{plan}", plan.replace("\"read\"", "\"write\""));
    let joint = swept("ssd1", &plan, "tmt=default,70C/80C,60C/70C");
    assert_eq!(
        (joint.class, &joint.also[..]),
        (PolicyClass::Relay, &[PolicyClass::Vendor][..]),
        "{joint:#?}"
    );
    near(one(&joint, Follows::Tmt1).slope, 1.0, 0.1, "slope");
    near(one(&joint, Follows::Nothing).threshold_k, 353.0, 1.0, "threshold");
}
