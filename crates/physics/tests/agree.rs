//! One state, two ways to drive it: single I/Os and a demand rate agree on every built-in drive.

mod logger;

use logger::{Second, demand, drive, ios, mean};
use measure::record::Op;
use physics::{Drive, Profile};

const TEMPERATURE_K: f64 = 0.2;
const SPEED: f64 = 0.01;

type Phase = fn(&mut Drive, Op, u64) -> Vec<Second>;

#[test]
fn ios_and_demand_agree_on_all_built_in_drives() {
    for name in Profile::builtin_names() {
        let mut by_ios = drive(name, None);
        let mut by_demand = drive(name, None);
        // On a drive that neither throttles nor caches, every second is like the next.
        let profile = by_ios.profile();
        let seconds = if profile.policy.is_empty() && profile.slc.is_none() { 5 } else { 300 };
        for op in [Op::Write, Op::Read] {
            let run = |phase: Phase, drive: &mut Drive| phase(drive, op, seconds);
            let (a, b) = (run(ios, &mut by_ios), run(demand, &mut by_demand));
            let worst = a.iter().zip(&b).map(|(a, b)| (a.exact_c - b.exact_c).abs()).fold(0.0, f64::max);
            assert!(worst < TEMPERATURE_K, "{name} {op:?}: {worst} K apart");
            let ratio = mean(&a) / mean(&b);
            assert!((ratio - 1.0).abs() < SPEED, "{name} {op:?}: {ratio} in speed");
        }
    }
}
