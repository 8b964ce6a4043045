//! Throttles of which the runs show one operation alone: what they do to the other is seen to be nothing, or not known.

use fit::simulate::{LoadPhase, drive, outcome, phase_seconds, set_tmt};
use fit::{Fitted, RunData, Scenario, fit, load, predict};
use measure::Seed;
use physics::Profile;
use physics::profile::Ops;
use plan::Plan;

mod known;

use known::{phase, profile, record};

const AIR_K: Option<f64> = Some(303.15);

fn fitted(profile: &Profile, tmt_k: [u16; 2], phases: &[LoadPhase]) -> Fitted {
    let runs = [RunData::new(&record(profile, tmt_k, phases), AIR_K)];
    Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"))
}

fn full_write(seconds: usize) -> LoadPhase {
    phase("write", Some(0.0), f64::INFINITY, seconds)
}

fn full_read(seconds: usize) -> LoadPhase {
    phase("read", Some(1.0), f64::INFINITY, seconds)
}

/// Mean speed of a load on the drive itself, in bytes per second.
fn on_drive(profile: &Profile, tmt_k: [u16; 2], load: &LoadPhase) -> f64 {
    let mut drive = drive(profile);
    set_tmt(&mut drive, Some(tmt_k)).expect("it may be set");
    outcome(&phase_seconds(&mut drive, load), |_| 0.0).mean_bytes_per_s
}

/// Goal: writes that go on at full speed far above the threshold of reads are not slowed down by it, in the fitted drive either.
/// Method: firmware that throttles reads alone, a relay and a regulator, at a TMT1 that writes pass.
#[test]
fn writes_that_pass_the_threshold_of_reads_are_spared() {
    for name in ["relay", "regulator"] {
        let mut profile = profile(name);
        profile.policy[0].ops = Ops::Read;
        let thermal_id = load::phases(&Plan::builtin("thermal-id").expect("built in"), None);
        let fitted = fitted(&profile, [328, 358], &thermal_id);
        let warmer = Scenario { warmer_k: 5.0, ..Scenario::default() };
        let forecast = predict(&fitted, &warmer, &[full_write(300)]);
        let speed = forecast.phases[0].mean_bytes_per_s.expect("a speed");
        assert!((speed.value / 1.6e9 - 1.0).abs() < 0.02, "{name}: {speed:?}, {:?}", fitted.best.throttles);
        assert!(forecast.phases[0].time_to_throttle_s.is_none(), "{name}: {forecast:?}");
        let open = fitted.left_open.iter().find(|open| open.what.contains("write"));
        assert_eq!(open, None, "{name}");
    }
}

/// Goal: an operation that no run has is not known, nor what follows it; it was 1 kB/s.
#[test]
fn an_operation_that_never_ran_is_not_known() {
    let phases = [phase("rest", None, 0.0, 30), full_read(300)];
    let fitted = fitted(&profile("relay"), [336, 358], &phases);
    let forecast = predict(&fitted, &Scenario::default(), &[full_read(60), full_write(60), full_read(60)]);
    let known: Vec<bool> = forecast.phases.iter().map(|phase| phase.mean_bytes_per_s.is_some()).collect();
    assert_eq!(known, [true, false, false]);
    let caveat = forecast.caveats.iter().find(|caveat| caveat.kind == "operation_unknown");
    assert!(caveat.is_some_and(|caveat| caveat.text.contains("write, read")), "{:?}", forecast.caveats);
}

/// Goal: how fast writes are while throttled, where no run throttled them, is told as what the other operation keeps, with the run that
/// would show it; where they are not throttled, nothing is said.
/// Method: a minute of writes below TMT1, then reads that reach it.
#[test]
fn writes_that_no_run_throttled_keep_what_reads_keep() {
    let cool = |seconds| phase("cool", Some(1.0), 2e7, seconds);
    let phases = [phase("rest", None, 0.0, 30), full_write(60), cool(300), full_read(300), cool(300)];
    let fitted = fitted(&profile("relay"), [336, 358], &phases);
    let asked = [full_write(300), phase("rest", None, 0.0, 30), full_read(60)];
    let ask = |warmer_k| predict(&fitted, &Scenario { warmer_k, ..Scenario::default() }, &asked);
    let cooler = ask(-10.0);
    let speed = cooler.phases[0].mean_bytes_per_s.expect("it stays below TMT1");
    assert!((speed.value / 1.6e9 - 1.0).abs() < 0.02, "{speed:?}");
    let warmer = ask(10.0);
    assert!(cooler.caveats.iter().all(|caveat| caveat.kind != "floor_unseen"), "{:?}", cooler.caveats);
    assert!(warmer.phases.iter().all(|phase| phase.peak_k.is_some()), "{warmer:?}");
    // The interval says that as well: this drive throttles both to 300 MB/s, and not to the same share.
    let speed = warmer.phases[0].mean_bytes_per_s.expect("a speed");
    assert!(speed.high > 1.5 * speed.value, "{speed:?}");
    let mut warm = profile("relay");
    warm.thermal.ambient_c += 10.0;
    let there = on_drive(&warm, [336, 358], &asked[0]);
    assert!((speed.low..=speed.high).contains(&there), "{speed:?}, truth {there}");
    let caveat = warmer.caveats.iter().find(|caveat| caveat.kind == "floor_unseen").expect("it says so");
    assert!(caveat.text.contains("how fast writes are while TMT1 throttles them"), "{}", caveat.text);
    assert!(caveat.text.contains("heatsoak run thermal-id --drive DRIVE --tmt1 "), "{}", caveat.text);
    let names: Vec<String> = fitted.parameters().into_iter().map(|parameter| parameter.name).collect();
    assert!(!names.contains(&"write speed while throttled at TMT1".to_owned()), "{names:?}");
}
