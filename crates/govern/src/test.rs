//! Laws of the law, and the loop closed over simulated drives.

use measure::record::Op;
use measure::{BytesPerSec, Celsius, Instant, Kelvin, Seed};
use physics::{Demand, Drive, Profile, Transfer};
use proptest::prelude::*;

use super::{Account, Bounds, Governor};

const LEAST: f64 = 4e6;

fn bounds(below_k: u16) -> Bounds {
    Bounds { below: Kelvin::from_kelvin(below_k), at_least: BytesPerSec::new(LEAST) }
}

fn at(seconds: f64) -> Instant {
    Instant::from_ns((seconds * 1e9) as u64)
}

/// Readings as they never should be: holes, time that goes back, nothing that is a number.
fn readings() -> impl Strategy<Value = Vec<(f64, f64, f64)>> {
    let time = prop_oneof![8 => 0.5..2.0, 1 => -100.0..0.0, 1 => 0.0..1e5];
    let kelvin = prop_oneof![
        8 => (300u16..360).prop_map(f64::from),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(0.0), Just(-1e300)],
    ];
    let flow = prop_oneof![8 => 0.0..5e9, 1 => Just(f64::NAN), 1 => Just(f64::INFINITY), 1 => Just(-1.0)];
    prop::collection::vec((time, kelvin, flow), 1..60)
}

fn fed(readings: &[(f64, f64, f64)]) -> (Governor, f64) {
    let mut governor = Governor::new(bounds(341));
    let mut now_s = 1000.0;
    for (after_s, kelvin, flow) in readings {
        now_s = f64::max(now_s + after_s, 0.0);
        governor.reading(at(now_s), *kelvin, BytesPerSec::new(*flow));
    }
    (governor, now_s)
}

fn or_free(limit: Option<BytesPerSec>) -> f64 {
    limit.map_or(f64::INFINITY, BytesPerSec::as_f64)
}

proptest! {
    /// Goal: whatever comes, a limit is a number, never below the floor, never far above what ever flowed.
    #[test]
    fn limits_keep_their_bounds(readings in readings()) {
        let mut governor = Governor::new(bounds(341));
        let (mut now_s, mut fastest) = (1000.0, 0.0);
        for (after_s, kelvin, flow) in readings {
            now_s = f64::max(now_s + after_s, 0.0);
            fastest = f64::max(fastest, if flow.is_finite() { flow } else { 0.0 });
            if let Some(limit) = governor.reading(at(now_s), kelvin, BytesPerSec::new(flow)) {
                prop_assert!(limit.as_f64().is_finite() && limit.as_f64() >= LEAST);
                prop_assert!(limit.as_f64() <= (1.22 * fastest).max(100e6));
            }
        }
    }

    /// Goal: after the same past a hotter reading never leaves more.
    #[test]
    fn hotter_is_never_looser(
        past in readings(),
        cool_k in 300u16..360,
        more_k in 1u16..20,
        flow in 0.0..5e9,
        after_s in 0.5..2.0,
    ) {
        let (governor, now_s) = fed(&past);
        let next = |kelvin: u16| {
            let mut governor = governor.clone();
            or_free(governor.reading(at(now_s + after_s), f64::from(kelvin), BytesPerSec::new(flow)))
        };
        prop_assert!(next(cool_k + more_k) <= next(cool_k) * (1.0 + 1e-9));
    }

    /// Goal: what is no temperature changes nothing, and blindness is the floor.
    #[test]
    fn no_reading_is_no_change(past in readings(), flow in 0.0..5e9) {
        let (mut governor, now_s) = fed(&past);
        let before = governor.limit();
        for nothing in [f64::NAN, f64::NEG_INFINITY, 0.0, 1000.0] {
            prop_assert_eq!(governor.reading(at(now_s + 1.0), nothing, BytesPerSec::new(flow)), before);
        }
        prop_assert_eq!(governor.blind(), Some(BytesPerSec::new(LEAST)));
    }
}

/// A load on a twin, governed or at a constant rate.
struct Loop {
    profile: &'static str,
    room_c: f64,
    below_k: u16,
    op: Op,
}

impl Loop {
    fn drive(&self) -> Drive {
        let mut profile = Profile::builtin(self.profile).expect("a built-in profile");
        profile.thermal.ambient_c = self.room_c;
        Drive::new(&profile, Seed::new(1))
    }

    /// Runs for half an hour; what came of it, and the mean rate.
    fn run(&self, next: impl FnMut(Instant, f64, f64) -> Option<BytesPerSec>) -> (Account, f64) {
        self.run_ops(|_| self.op, next)
    }

    /// The same with the operation of each second.
    fn run_ops(
        &self,
        op: impl Fn(u32) -> Op,
        mut next: impl FnMut(Instant, f64, f64) -> Option<BytesPerSec>,
    ) -> (Account, f64) {
        let mut drive = self.drive();
        let mut account = Account::new(Kelvin::from_kelvin(self.below_k));
        let (mut limit, mut moved) = (next(Instant::ZERO, kelvin(&drive), 0.0), 0.0);
        for second in 1..=1800_u32 {
            let until = at(f64::from(second));
            let rate = or_free(limit);
            let transfer = Transfer { limit_bytes_per_s: rate, ..Transfer::sequential(op(second), 1 << 36) };
            let part = drive.advance_demand(until, &Demand::Transfer(transfer));
            let flow = part.read_bytes + part.write_bytes;
            moved += flow;
            limit = next(until, kelvin(&drive), flow);
            account.temperature(until, kelvin(&drive));
            account.step(until, BytesPerSec::new(flow), limit);
        }
        (account, moved / 1800.0)
    }

    /// Whether it stays below at that constant rate.
    fn keeps(&self, rate: f64) -> bool {
        self.run(|_, _, _| Some(BytesPerSec::new(rate))).0.reached().is_none()
    }

    fn governed(&self) -> (Account, f64) {
        let mut governor = Governor::new(bounds(self.below_k));
        self.run(|t, kelvin, flow| governor.reading(t, kelvin, BytesPerSec::new(flow)))
    }
}

fn kelvin(drive: &Drive) -> f64 {
    f64::from(drive.composite().as_kelvin())
}

const LOOPS: [Loop; 6] = [
    Loop { profile: "ssd1", room_c: 30.0, below_k: 341, op: Op::Read },
    Loop { profile: "ssd1", room_c: 20.0, below_k: 328, op: Op::Write },
    Loop { profile: "ssd2", room_c: 35.0, below_k: 343, op: Op::Read },
    Loop { profile: "exceria-g2-usb10", room_c: 25.0, below_k: 333, op: Op::Read },
    Loop { profile: "usb-stick-usb10", room_c: 17.5, below_k: 323, op: Op::Write },
    Loop { profile: "ssd1", room_c: 40.0, below_k: 345, op: Op::Read },
];

/// Goal: it stays below on drives and in rooms that differ, and costs little speed. Method: half an hour each, the rate
/// held against a constant one that stays a kelvin lower.
#[test]
fn twins_stay_below() {
    for one in LOOPS {
        let name = one.profile;
        let (account, mean) = one.governed();
        let (highest_k, _) = account.highest().expect("readings");
        assert_eq!(account.reached(), None, "{name}: {highest_k}");
        assert!(account.held_share().is_some_and(|share| share > 0.2), "{name} needs no governor");
        assert!(!one.keeps(1.15 * mean), "{name}: {mean} is much slower than need be");
    }
}

/// Goal: a drive that is warm already is not surprised by a load that heats faster. Method: five minutes of writes, then
/// reads at twice the speed, as the default plan has them.
#[test]
fn a_faster_load_on_a_warm_drive_stays_below() {
    for below_k in [338, 341, 343] {
        let writes = Loop { profile: "ssd1", room_c: 30.0, below_k, op: Op::Write };
        let mut governor = Governor::new(bounds(below_k));
        let (account, _) = writes.run_ops(
            |second| if second <= 300 { Op::Write } else { Op::Read },
            |t, kelvin, flow| governor.reading(t, kelvin, BytesPerSec::new(flow)),
        );
        assert_eq!(account.reached(), None, "{below_k}: {:?}", account.highest());
    }
}

/// Goal: the test above can fail. Method: no law at all, and the law with its sign turned round, which holds a cool drive at
/// the floor.
#[test]
fn no_law_and_the_wrong_sign_are_caught() {
    for one in LOOPS {
        let (free, _) = one.run(|_, _, _| None);
        assert!(free.reached().is_some(), "{} needs no governor", one.profile);
        let mut governor = Governor::new(bounds(one.below_k));
        let mirrored = |kelvin: f64| 2.0 * f64::from(one.below_k - 2) - kelvin;
        let (wrong, mean) =
            one.run(|t, kelvin, flow| governor.reading(t, mirrored(kelvin), BytesPerSec::new(flow)));
        assert!(wrong.reached().is_some() || one.keeps(1.15 * mean), "{}", one.profile);
    }
}

/// Goal: a drive that is too warm at rest is held at the floor, and never stalled.
#[test]
fn a_drive_that_is_too_warm_at_rest_is_held_at_the_floor() {
    let warm = Loop { profile: "ssd1", room_c: 40.0, below_k: 320, op: Op::Read };
    let (account, mean) = warm.governed();
    assert!(account.reached().is_some());
    assert!((LEAST..20e6).contains(&mean), "{mean}");
    assert!(Celsius::from_kelvin_f64(account.highest().expect("readings").0).as_degrees() < 57.0);
}
