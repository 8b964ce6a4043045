//! Reads and writes at once, and loads that heat held back all along: what a fit knows of them, and where it says that it does not.

use std::time::Duration;

use fit::next::{NextOpen, next_steps};
use fit::recommend::{Bounds, Goal, recommend};
use fit::simulate::{LoadPhase, demand, drive, outcome, phase_seconds, set_tmt};
use fit::{Fitted, Forecast, RunData, Scenario, fit, load, predict};
use measure::{Seed, Series};
use physics::Profile;
use plan::Plan;
use trace::{Counters, Trace, instant};

mod known;

use known::{phase, profile, record};

const TMT_K: [u16; 2] = [338, 348];
const HIGH_K: [u16; 2] = [355, 358];

fn at(name: &str, air_c: f64) -> Profile {
    let mut profile = profile(name);
    profile.thermal.ambient_c = air_c;
    profile
}

fn mix(read_share: f64, seconds: usize) -> LoadPhase {
    phase("mix", Some(read_share), f64::INFINITY, seconds)
}

fn data(run: &Trace, air_c: f64) -> RunData {
    RunData::new(run, Some(air_c + 273.15))
}

fn fitted(runs: &[RunData]) -> Fitted {
    Fitted::checked(runs, fit("test", runs, Seed::new(1)).expect("it warms")).0
}

fn asked(fitted: &Fitted, tmt_k: [u16; 2], load: &[LoadPhase]) -> Forecast {
    predict(fitted, &Scenario { tmt_k: tmt_k.map(Some), ..Scenario::default() }, load)
}

/// The log of a drive with its counters once a second.
fn counted(profile: &Profile, load: &[LoadPhase]) -> Trace {
    let mut log = record(profile, TMT_K, load);
    let mut drive = drive(profile);
    set_tmt(&mut drive, Some(TMT_K)).expect("it may be set");
    let start = drive.now();
    let seconds = load.iter().flat_map(|phase| std::iter::repeat_n(phase, phase.seconds));
    for (phase, second) in seconds.zip(0_u32..) {
        let counted = drive.hctm_counters();
        let counters = Counters {
            tmt1_transitions: Some(counted.tmt1_transitions.into()),
            tmt2_transitions: Some(counted.tmt2_transitions.into()),
            tmt1_seconds: Some(counted.tmt1_seconds.into()),
            tmt2_seconds: Some(counted.tmt2_seconds.into()),
        };
        log.counters.push(instant(f64::from(second)), counters);
        drive.advance_demand(start + Duration::from_secs(u64::from(second) + 1), &demand(phase));
    }
    log
}

/// Mean speed of a load on the drive itself, in bytes per second.
fn on_drive(profile: &Profile, tmt_k: [u16; 2], load: &LoadPhase) -> f64 {
    let mut drive = drive(profile);
    set_tmt(&mut drive, Some(tmt_k)).expect("it may be set");
    outcome(&phase_seconds(&mut drive, load), |_| 0.0).mean_bytes_per_s
}

/// Goal: a run of reads and writes at once alone tells what they come to at another TMT1, and that this is worth setting.
/// Method: the same load on the drive itself; three mixes, three ways to throttle, other rooms.
#[test]
fn a_mix_is_known_by_itself() {
    for (name, air_c, read_share) in
        [("relay", 36.0, 0.5), ("relay", 30.0, 0.3), ("regulator", 30.0, 0.7), ("duty-cycled", 25.0, 0.5)]
    {
        let drive = at(name, air_c);
        let load = [mix(read_share, 480)];
        let run = data(&counted(&drive, &load), air_c);
        let fitted = fitted(std::slice::from_ref(&run));
        assert!(fitted.misfits.is_empty(), "{name}: {:?}", fitted.misfits);
        let speed = asked(&fitted, HIGH_K, &load).phases[0].mean_bytes_per_s.expect("a speed");
        let truth = on_drive(&drive, HIGH_K, &load[0]);
        let why = format!("{name} at {air_c} °C, {read_share} reads: {speed:?}, truth {truth}");
        assert!((speed.value / truth - 1.0).abs() < 0.08, "{why}");
        assert!((speed.low..=speed.high).contains(&truth), "{why}");
        let next = next_steps(&fitted, &run);
        assert_eq!(next.open, None, "{why}");
        let change = next.change.expect("a higher TMT1 is worth it");
        assert!(change.settings.tmt1_k.is_some_and(|tmt1_k| tmt1_k > TMT_K[0]), "{:?}", change.settings);
        assert_eq!(next_steps(&fitted, &run).misses(&run), None, "{why}");
    }
}

/// Goal: one mix tells nothing of another, nor of reads alone; two that differ tell both operations apart, still without having
/// seen them alone.
#[test]
fn a_mix_tells_nothing_of_another_load() {
    let drive = at("relay", 30.0);
    let run = data(&counted(&drive, &[mix(0.5, 480)]), 30.0);
    let fitted = fitted(&[run]);
    for read_share in [1.0, 0.0, 0.8] {
        let forecast = asked(&fitted, HIGH_K, &[mix(read_share, 300)]);
        assert_eq!(forecast.phases[0].mean_bytes_per_s, None, "{read_share}");
        assert!(forecast.caveats.iter().any(|caveat| caveat.kind == "full_speed_unknown"), "{forecast:?}");
    }
    // As much of each as ran beside the other is no question of how fast it could be.
    let limited = phase("reads", Some(1.0), 1.0e9, 100);
    assert!(asked(&fitted, HIGH_K, &[limited]).phases[0].mean_bytes_per_s.is_some());
}

/// Goal: loads at once have the ratio of their rates, or of what they have in flight; where some have none, it is not known.
#[test]
fn loads_at_once_have_their_own_ratio() {
    let plan = |loads: &str| {
        let text = format!("name = \"mix\"\n[[phase]]\nname = \"mix\"\nduration = \"60s\"\n{loads}");
        load::phases(&Plan::from_toml(&text, "mix.toml").expect("a plan"), None)
    };
    let one = |op: &str, more: &str| {
        format!("[[phase.load]]\nop = \"{op}\"\nblock_size = \"1MiB\"\nregion = \"slc\"\n{more}\n")
    };
    let by_rate = plan(&[one("read", "rate = \"300MB/s\""), one("write", "rate = \"700MB/s\"")].concat());
    assert!((by_rate[0].read_share.expect("a mix") - 0.3).abs() < 1e-9, "{by_rate:?}");
    assert!((by_rate[0].limit_bytes_per_s - 1e9).abs() < 1.0, "{by_rate:?}");
    let by_depth = plan(&[one("read", "depth = 48"), one("write", "depth = 16")].concat());
    assert!((by_depth[0].read_share.expect("a mix") - 0.75).abs() < 1e-9, "{by_depth:?}");
    let half = plan(&[one("read", "depth = 32"), one("write", "depth = 32\nrate = \"200MB/s\"")].concat());
    let drive = at("relay", 30.0);
    let fitted = fitted(&[data(&counted(&drive, &[mix(0.5, 480)]), 30.0)]);
    let forecast = predict(&fitted, &Scenario::default(), &half);
    assert_eq!(forecast.phases[0].mean_bytes_per_s, None);
    assert!(forecast.caveats.iter().any(|caveat| caveat.kind == "ratio_unknown"), "{:?}", forecast.caveats);
}

/// Goal: of a load that heat held back from its first second on it is not known what another setting brings, and that is not told
/// as "none". Method: relays, stairs of two and a regulator that rest above their TMT1, alone and mixed; a paced load before.
#[test]
fn a_load_that_began_throttled_is_not_known() {
    let write = |limit| phase("write", Some(0.0), limit, 300);
    let read = || phase("read", Some(1.0), f64::INFINITY, 300);
    let rest = || phase("rest", None, 0.0, 60);
    for (name, loads) in [
        ("relay", vec![rest(), write(f64::INFINITY), read()]),
        ("two-level", vec![rest(), mix(0.5, 480)]),
        ("regulator", vec![write(f64::INFINITY), write(5e8), read()]),
    ] {
        let log = counted(&at(name, 53.0), &loads);
        let run = data(&log, 53.0);
        let fitted = fitted(std::slice::from_ref(&run));
        let forecast = asked(&fitted, [345, TMT_K[1]], &loads);
        let last = forecast.phases.last().expect("a phase");
        assert_eq!(last.mean_bytes_per_s, None, "{name}: {last:?}");
        let caveat = forecast.caveats.iter().find(|caveat| caveat.kind == "full_speed_unknown");
        let caveat = caveat.unwrap_or_else(|| panic!("{name}: {:?}", forecast.caveats));
        assert!(caveat.text.contains("heatsoak run thermal-id-quick --drive DRIVE"), "{}", caveat.text);
        let next = next_steps(&fitted, &run);
        assert!(matches!(next.open, Some(NextOpen::FullSpeed { .. })), "{name}: {:?}", next.open);
        let advice = recommend(&fitted, &Scenario::default(), &loads, Goal::Fastest, Bounds::default());
        assert!(advice.verdict.contains("Not known"), "{name}: {}", advice.verdict);
        assert!(!advice.verdict.contains("Leave the settings"), "{name}: {}", advice.verdict);
    }
}

/// Goal: where no log says what TMT1 and TMT2 are set to, nothing is said of others. Method: a throttled run without its settings.
#[test]
fn settings_that_nobody_recorded_are_not_compared() {
    let load = [phase("rest", None, 0.0, 30), phase("write", Some(0.0), f64::INFINITY, 600)];
    let mut log = record(&at("relay", 40.0), TMT_K, &load);
    log.settings = Series::new();
    let run = data(&log, 40.0);
    let fitted = fitted(std::slice::from_ref(&run));
    assert_eq!(next_steps(&fitted, &run).open, Some(NextOpen::Settings));
}

/// Goal: a verdict that has a gradual fall begin half a minute before the first slow second tells its threshold all the same; and
/// where the fit has none that the verdict has, nothing is said of other settings. Method: a regulator's mix, its onset moved,
/// then left out of the fit alone.
#[test]
fn a_fall_that_began_before_it_shows_has_its_threshold() {
    let run = data(&counted(&at("regulator", 30.0), &[mix(0.5, 480)]), 30.0);
    let mut early = run.clone();
    early.throttles.iter_mut().filter(|event| event.2).for_each(|event| event.0 -= 30.0);
    assert!(!early.throttles.is_empty());
    assert_eq!(fitted(&[early]).best.throttles.len(), 1);
    let without = RunData { throttles: Vec::new(), ..run.clone() };
    assert_eq!(next_steps(&fitted(&[without]), &run).open, Some(NextOpen::Threshold));
}
