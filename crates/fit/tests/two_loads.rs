//! Two loads of one operation: each has its own full speed, and the slower one is not held back by heat.

use fit::sample::ThrottleAct;
use fit::simulate::LoadPhase;
use fit::{Fitted, RunData, fit};
use measure::Seed;
use physics::Profile;
use physics::profile::{Cap, Machine};
use trace::Trace;

mod known;

use known::{phase, profile, record};

const TMT_K: [u16; 2] = [333, 358];

/// Reads at random reach 2.2 GB/s, reads in order 3.0; down to 300 MB/s from TMT1 on, 4 K of hysteresis.
fn drive() -> Profile {
    let mut profile = profile("relay");
    profile.media.random_read.bytes_per_s = 2.2e9;
    profile
}

fn load(name: &str) -> LoadPhase {
    let reads = phase(name, Some(1.0), f64::INFINITY, 400);
    LoadPhase { sequential: name == "in order", ..reads }
}

fn run(loads: &[&str]) -> Trace {
    let mut phases = vec![phase("rest", None, 0.0, 30)];
    phases.extend(loads.iter().map(|name| load(name)));
    let mut run = record(&drive(), TMT_K, &phases);
    run.phases.iter_mut().for_each(|phase| phase.what.clone_from(&phase.name));
    run
}

/// Goal: the threshold, its hysteresis and its speed come back whichever load comes first, and from a run of each. Method:
/// what the drive was set to.
#[test]
fn a_slower_load_is_not_one_that_heat_holds_back() {
    for runs in [
        vec![run(&["at random", "in order"])],
        vec![run(&["in order", "at random"])],
        vec![run(&["at random"]), run(&["in order"])],
    ] {
        let data: Vec<RunData> = runs.iter().map(|run| RunData::new(run, Some(303.15))).collect();
        let fitting = fit("test", &data, Seed::new(1)).expect("it warms");
        let (fitted, check) = Fitted::checked(&data, fitting);
        let [throttle] = &fitted.best.throttles[..] else { panic!("{:?}", fitted.best.throttles) };
        let ThrottleAct::Relay([read, _]) = throttle.act else { panic!("{throttle:?}") };
        assert!((throttle.on_k).abs() < 0.5, "{throttle:?}");
        assert!((throttle.hysteresis_k - 4.0).abs() < 0.5, "{throttle:?}");
        assert!((read - 0.1).abs() < 0.02, "{throttle:?}");
        assert!((fitted.best.full[0] - 3.0).abs() < 0.03, "{:?}", fitted.best.full);
        // The loads run again as fast as they ran: a slower one asks for what it reaches.
        for load in check.runs.iter().flat_map(|run| &run.loads) {
            let [seen, again] = load.mean_bytes_per_s;
            assert!((again / seen - 1.0).abs() < 0.06, "{load:?}");
        }
    }
}

/// Goal: a speed that a host holds on a cool drive is no throttle's, in a log that names its phases and says nothing of what they do. Method:
/// two fifths of full speed before a load that is throttled to half.
#[test]
fn a_speed_that_a_host_holds_is_not_throttled() {
    let phases = [
        phase("rest", None, 0.0, 30),
        phase("first", Some(1.0), f64::INFINITY, 300),
        phase("rest", None, 0.0, 300),
        phase("held", Some(1.0), 1.2e9, 200),
        phase("second", Some(1.0), f64::INFINITY, 400),
    ];
    let mut drive = drive();
    let half = Cap { read_bytes_per_s: Some(1.5e9), write_bytes_per_s: Some(0.8e9) };
    drive.policy[0].machine = Machine::Relay(half);
    let mut log = record(&drive, [338, 358], &phases);
    log.phases.iter_mut().for_each(|phase| phase.rate_limit_bytes_per_s = None);
    let data = [RunData::new(&log, Some(303.15))];
    let (fitted, check) = Fitted::checked(&data, fit("test", &data, Seed::new(1)).expect("it warms"));
    let [throttle] = &fitted.best.throttles[..] else { panic!("{:?}", fitted.best.throttles) };
    let ThrottleAct::Relay([read, _]) = throttle.act else { panic!("{throttle:?}") };
    assert!((read - 0.5).abs() < 0.02 && throttle.on_k.abs() < 0.5, "{throttle:?}");
    assert!(fitted.misfits.is_empty(), "{:?}", fitted.misfits);
    assert_eq!(check.runs[0].loads.len(), 2, "{:?}", check.runs[0].loads);
}
