//! Firmware's own fixed speed above its own threshold: told from a regulator, whenever loads begin.
//!
//! The log is made from `physics`. Loads of real drives begin within seconds and not between them; here the whole log is
//! moved by parts of a second.

use fit::sample::{ThresholdSource, ThrottleAct};
use fit::simulate::{LoadPhase, drive, phase_seconds};
use fit::{Fitted, RunData, Scenario, fit, load, predict};
use measure::{Instant, Seed, Series};
use physics::Profile;
use physics::profile::{Cap, Gains, Machine, Threshold};
use plan::Plan;
use trace::Trace;

mod known;

use known::{phase, profile, record};

const OFF: [u16; 2] = [0, 0];

/// The same log, all of it so much later.
fn later(mut trace: Trace, by_s: f64) -> Trace {
    for phase in &mut trace.phases {
        (phase.start_s, phase.end_s) = (phase.start_s + by_s, phase.end_s + by_s);
    }
    for interval in trace.speeds.iter_mut().flat_map(|series| &mut series.intervals) {
        interval.start_s += by_s;
    }
    for temperature in &mut trace.temperatures {
        let mut moved = Series::new();
        for point in temperature.kelvin.points() {
            moved.push(Instant::from_ns(point.t.as_ns() + (1e9 * by_s) as u64), point.value);
        }
        temperature.kelvin = moved;
    }
    trace.trust_a_sensor();
    trace
}

fn fitted(profile: &Profile, by_s: f64) -> Fitted {
    let phases = load::phases(&Plan::builtin("thermal-id").expect("built in"), None);
    let air_k = Some(profile.thermal.ambient_c + 273.15);
    let runs = [RunData::new(&later(record(profile, OFF, &phases), by_s), air_k)];
    Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"))
}

fn firmware(name: &str, air_c: f64, on_k: f64, machine: Machine) -> Profile {
    let mut profile = profile(name);
    profile.thermal.ambient_c = air_c;
    (profile.policy[0].on, profile.policy[0].machine) = (Threshold::Kelvin(on_k), machine);
    profile
}

fn step(share: f64) -> Machine {
    Machine::Relay(Cap { read_bytes_per_s: Some(share * 3e9), write_bytes_per_s: None })
}

/// Goal: a fixed speed is no held temperature, wherever in a second a load begins; a regulator stays one. Method: logs moved by
/// parts of a second, in cool and in warm air.
#[test]
fn a_fixed_speed_is_a_step_and_a_held_temperature_is_none() {
    for (air_c, on_k, share, by_s) in
        [(34.0, 353.0, 0.8, 0.4), (24.0, 346.0, 0.75, 0.8), (30.0, 348.0, 0.6, 0.1)]
    {
        let fitted = fitted(&firmware("vendor", air_c, on_k, step(share)), by_s);
        let found: Vec<_> = fitted.samples.iter().flat_map(|sample| &sample.throttles).collect();
        assert!(found.iter().all(|one| matches!(one.act, ThrottleAct::Relay(_))), "{on_k} K: {found:?}");
        let best = &fitted.best.throttles[0];
        assert!((best.on_k - on_k).abs() < 0.6 && best.follows == ThresholdSource::Own, "{best:?}");
        assert!(best.hysteresis_k < 8.0, "it is 5 K: {best:?}");
        let ThrottleAct::Relay([read, _]) = best.act else { panic!("{best:?}") };
        assert!((read / share - 1.0).abs() < 0.01, "{best:?}");
    }
    let gains = Gains { share_per_k: 0.05, share_per_k_s: 0.0008, floor_share: 0.1 };
    let held = fitted(&firmware("regulator", 30.0, 348.0, Machine::Regulator(gains)), 0.4);
    let found: Vec<_> = held.samples.iter().flat_map(|sample| &sample.throttles).collect();
    let regulates = |act| matches!(act, ThrottleAct::Regulator(_) | ThrottleAct::DutyCycled(_));
    assert!(found.iter().all(|one| regulates(one.act)), "{found:?}");
}

/// Goal: in warmer air the speed is that of the step, and where writes were never so hot the interval holds both what they
/// are with the step and without. Method: the drive itself, whose step leaves writes alone, and one whose step does not.
#[test]
fn forecasts_in_warmer_air_hold_the_step_and_what_is_open() {
    let fitted = fitted(&firmware("vendor", 24.0, 346.0, step(0.75)), 0.4);
    let load: Vec<LoadPhase> = [("write", 0.0), ("read", 1.0)]
        .map(|(name, read)| phase(name, Some(read), f64::INFINITY, 300))
        .into();
    let scenario = Scenario { ambient_k: Some(297.15 + 20.0), ..Scenario::default() };
    let forecast = predict(&fitted, &scenario, &load);
    let speed = |at: usize| forecast.phases[at].mean_bytes_per_s.expect("a speed");
    let both = Cap { read_bytes_per_s: Some(0.75 * 3e9), write_bytes_per_s: Some(0.75 * 1.6e9) };
    for machine in [step(0.75), Machine::Relay(both)] {
        let mut there = drive(&firmware("vendor", 44.0, 346.0, machine));
        for (at, phase) in load.iter().enumerate() {
            let seconds = phase_seconds(&mut there, phase);
            let truth = seconds.iter().map(|second| second.bytes).sum::<f64>() / seconds.len() as f64;
            assert!((speed(at).low..=speed(at).high).contains(&truth), "{at}: {:?}, {truth}", speed(at));
        }
    }
    assert!(speed(1).high < 2.6e9, "the step of reads was seen: {:?}", speed(1));
    assert!(forecast.caveats.iter().any(|caveat| caveat.kind == "floor_unseen"), "{:?}", forecast.caveats);
}
