//! Drives with known truth: fitted from a run, asked about another one, and asked what the run cannot tell.
//!
//! The log is made here from `physics`: whole kelvins once a second, speeds of a second. Bounds are those of ACCURACY.

use fit::check::Misfit;
use fit::sample::{ThresholdSource, ThrottleAct};
use fit::simulate::{LoadPhase, drive};
use fit::{FitError, Fitted, RunData, Scenario, fit, load, predict};
use measure::record::ThermalSettings;
use measure::{Seed, Series};
use physics::Profile;
use physics::profile::{Machine, Stairs};
use plan::Plan;
use trace::Trace;

mod known;

use known::{phase, profile, record, record_from};

const TMT_K: [u16; 2] = [333, 358];

fn thermal_id() -> Vec<LoadPhase> {
    load::phases(&Plan::builtin("thermal-id").expect("built in"), None)
}

fn fitted(profile: &Profile, phases: &[LoadPhase], ambient_k: Option<f64>) -> Fitted {
    let runs = [RunData::new(&record(profile, TMT_K, phases), ambient_k)];
    let fitting = fit("test", &runs, Seed::new(1)).expect("it warms");
    Fitted::new(&runs, fitting)
}

const AIR_K: Option<f64> = Some(303.15);

#[test]
fn the_published_drive_is_found_again() {
    let fitted = fitted(&profile("ssd1"), &thermal_id(), AIR_K);
    assert!(fitted.residual_rms_k < 0.4, "{} K", fitted.residual_rms_k);
    let parameters = fitted.parameters();
    // What is set: 45 °C at rest, TMT1 itself, 3 K of hysteresis, 200 MB/s; 15 K for each GB/s of reads.
    for (name, truth, bound) in [
        ("temperature at rest", 318.15, 0.7),
        ("read full speed", 3.0e9, 0.02e9),
        ("write full speed", 1.6e9, 0.02e9),
        ("read rise after 1 h", 15.0, 1.0),
        ("throttling sets in above TMT1 by", 0.0, 0.5),
        ("throttling sets in above TMT1 by: hysteresis", 3.0, 0.5),
        ("read speed while throttled at TMT1", 2.0e8, 0.1e8),
    ] {
        let found = parameters.iter().find(|parameter| parameter.name == name);
        let found = found.unwrap_or_else(|| panic!("{name} in {parameters:?}"));
        assert!((found.value - truth).abs() < bound, "{found:?}, truth {truth}");
        assert!(found.low <= found.value && found.value <= found.high, "{found:?}");
    }
}

/// Goal: stairs are told from a regulator, and their numbers come back. Method: a drive that gives up an eighth of its speed
/// every 2.5 K over TMT1.
#[test]
fn stairs_are_found_again() {
    let mut profile = profile("relay");
    let stairs = Stairs { step_share: 0.125, each_k: 2.5, floor_share: 0.1 };
    (profile.policy[0].machine, profile.policy[0].hysteresis_k) = (Machine::Stairs(stairs), 1.2);
    let fitted = fitted(&profile, &thermal_id(), AIR_K);
    let [throttle] = &fitted.best.throttles[..] else { panic!("{:?}", fitted.best.throttles) };
    let ThrottleAct::Stairs([step_share, each_k, _]) = throttle.act else { panic!("{throttle:?}") };
    assert!((step_share - 0.125).abs() < 0.01 && (each_k - 2.5).abs() < 0.3, "{throttle:?}");
    // A log without counters may tell where the threshold lies and not what it hangs on.
    let on_k = throttle.on_k + if throttle.follows == ThresholdSource::Own { 0.0 } else { 333.0 };
    assert!((on_k - 333.0).abs() < 0.5 && (throttle.hysteresis_k - 1.2).abs() < 0.5, "{throttle:?}");
    // One step is a relay, and stays one.
    let relay = self::fitted(&self::profile("relay"), &thermal_id(), AIR_K);
    assert!(matches!(relay.best.throttles[0].act, ThrottleAct::Relay(_)), "{:?}", relay.best.throttles);
}

/// Goal: a fall within a second is a relay's however long it stays there; its threshold is where it fell, not where the slower
/// load settled 7 K above. Method: light throttling of two levels, whose TMT2 is not reached.
#[test]
fn a_fall_within_a_second_is_no_regulators() {
    let mut profile = profile("two-level");
    profile.thermal.ambient_c = 38.0;
    let write = [phase("write", Some(0.0), f64::INFINITY, 300)];
    let runs = [RunData::new(&record(&profile, [333, 341], &write), AIR_K)];
    let fitted = Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"));
    let [throttle] = &fitted.best.throttles[..] else { panic!("{:?}", fitted.best.throttles) };
    assert_eq!(throttle.follows, ThresholdSource::Tmt1);
    assert!(matches!(throttle.act, ThrottleAct::Relay(_)) && throttle.on_k.abs() < 0.6, "{throttle:?}");
    let relays = fitted.samples.iter().filter(|one| matches!(one.throttles[0].act, ThrottleAct::Relay(_)));
    assert!(relays.count() > 40);
}

/// Another TMT1, other air: the drive itself is asked. Of twelve 90 % intervals at least ten hold what it answers.
#[test]
fn forecasts_hold_at_other_settings_and_in_other_air() {
    let mut held = 0;
    for name in ["ssd1", "regulator"] {
        let profile = profile(name);
        let fitted = fitted(&profile, &thermal_id(), AIR_K);
        let asked =
            [phase("write", Some(0.0), f64::INFINITY, 300), phase("read", Some(1.0), f64::INFINITY, 300)];
        for (tmt1_k, warmer_k) in [(338, 0.0), (333, 10.0), (340, -5.0)] {
            let scenario = Scenario {
                tmt_k: [Some(tmt1_k), Some(358)],
                ambient_k: AIR_K.map(|air_k| air_k + warmer_k),
                ..Scenario::default()
            };
            let forecast = predict(&fitted, &scenario, &asked);
            let mut there = profile.clone();
            there.thermal.ambient_c += warmer_k;
            let truth = record(&there, [tmt1_k, 358], &asked);
            for (at, phase) in forecast.phases.iter().enumerate() {
                let bytes: f64 = truth
                    .speeds
                    .iter()
                    .flat_map(|s| &s.intervals)
                    .filter(|i| i.phase as usize == at)
                    .map(|i| i.bytes)
                    .sum();
                let (speed, found) = (bytes / 300.0, phase.mean_bytes_per_s.expect("a speed"));
                let off = (found.value / speed - 1.0).abs();
                let why = format!("{name} {tmt1_k} {warmer_k}: {found:?}, truth {speed}");
                held += usize::from((found.low..=found.high).contains(&speed));
                // In warmer air speed goes below all that was seen: how low, only the interval may say.
                assert!(warmer_k > 0.0 || off < 0.05, "{why}");
            }
        }
    }
    assert!(held >= 10, "{held} of 12");
}

/// Goal: a fit says whether it fits, and its forecasts are as sure as it does. Method: a run as it comes, and the same in air
/// that warms by 12 K, of which the model knows nothing; two fits that differ in what they miss alone.
#[test]
fn a_fit_says_whether_it_fits() {
    let profile = profile("relay");
    let checked = |trace: &Trace| {
        let runs = [RunData::new(trace, AIR_K)];
        let fitting = fit("test", &runs, Seed::new(1)).expect("it warms");
        Fitted::checked(&runs, fitting)
    };
    let mut trace = record(&profile, TMT_K, &thermal_id());
    let (fitted, check) = checked(&trace);
    assert!(!fitted.is_doubtful() && fitted.misfits.is_empty(), "{:?}", fitted.misfits);
    assert_eq!(check.runs[0].speeds.len(), trace.end_s() as usize);
    assert!(check.runs[0].rms_k < 0.8, "{} K", check.runs[0].rms_k);
    let width_k = |residual_rms_k| {
        let fitted = Fitted { residual_rms_k, ..fitted.clone() };
        let read = [phase("read", Some(1.0), f64::INFINITY, 300)];
        let steady_k = predict(&fitted, &Scenario::default(), &read).phases[0].steady_k.expect("a plateau");
        steady_k.high - steady_k.low
    };
    // Whole kelvins miss by 0.29 K rms; 0.3 K of misfit in 0.42 K.
    let [right, off] = [0.289, 0.42].map(width_k);
    assert!((1.0..1.5).contains(&(off - right)), "{right} K, {off} K");
    let mut warming = Series::new();
    for point in trace.temperatures[0].kelvin.points() {
        let t_s = point.t.as_secs_f64();
        // Up in the middle of the run and down again, as a room with the sun on it.
        let sun_k = 12.0 * (1.0 - (2.0 * t_s / trace.end_s() - 1.0).abs());
        warming.push(point.t, (point.value + sun_k).floor());
    }
    trace.temperatures[0].kelvin = warming;
    trace.trust_a_sensor();
    let (fitted, _) = checked(&trace);
    assert!(fitted.is_doubtful(), "{} K", fitted.residual_rms_k);
    assert!(
        fitted.misfits.iter().any(|misfit| matches!(misfit, Misfit::Heat { .. })),
        "{:?}",
        fitted.misfits
    );
    // What the fit says of itself its forecasts say too, however it was kept.
    let text = fitted.profile().expect("a profile").to_toml().expect("text");
    let kept = Fitted::from_profile(&Profile::from_toml(&text).expect("a profile")).expect("a posterior");
    let read = [phase("read", Some(1.0), f64::INFINITY, 300)];
    let forecast = predict(&kept, &Scenario::default(), &read);
    assert!(forecast.caveats.iter().any(|caveat| caveat.kind == "misfit"), "{:?}", forecast.caveats);
    let peak_k = forecast.phases[0].peak_k.expect("a peak");
    assert!(peak_k.high - peak_k.low > 2.0 * fitted.residual_rms_k, "{peak_k:?}");
}

/// Goal: with a second airflow, how much of the resistance is air is read off and no longer left open.
/// Method: SSD1, still and with half its last resistance; asked about reading with the fan on.
#[test]
fn a_second_airflow_tells_what_a_fan_does() {
    let mut profile = profile("ssd1");
    let mut runs = vec![RunData::new(&record(&profile, TMT_K, &thermal_id()), AIR_K)];
    profile.thermal.airflow = 2.0;
    let quick = load::phases(&Plan::builtin("thermal-id-quick").expect("built in"), None);
    runs.push(RunData::new(&record(&profile, TMT_K, &quick), AIR_K).at_airflow(2.0));
    let fitted = Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"));
    assert!(!fitted.left_open.iter().any(|open| open.what.contains("resistance that is air")));
    let asked = [phase("read", Some(1.0), 1e9, 900)];
    let aired = Scenario { airflow: Some(2.0), ..Scenario::default() };
    let peak_k = predict(&fitted, &aired, &asked).phases[0].peak_k.expect("an answer");
    let truth = record(&profile, TMT_K, &asked);
    let truth_k = truth.temperatures[0].kelvin.points().last().expect("a reading").value + 0.5;
    assert!((peak_k.low..=peak_k.high).contains(&truth_k), "{peak_k:?}, truth {truth_k} K");
    assert!(peak_k.high - peak_k.low < 4.0, "no range but a number: {peak_k:?}");
}

/// Goal: a run in another power state tells what that state does. Method: SSD1 with a state of 60 % of the speed and 80 % of
/// the energy for each byte; asked about it in warmer air, and about one that was not run.
#[test]
fn another_power_state_is_known_once_it_was_run() {
    let first = profile("ssd1");
    let mut other = first.clone();
    for ceiling in [&mut other.media.sequential_read, &mut other.media.sequential_write] {
        ceiling.bytes_per_s *= 0.6;
    }
    other.power.read_w_per_gb_per_s *= 0.8;
    other.power.write_w_per_gb_per_s *= 0.8;
    let quick = load::phases(&Plan::builtin("thermal-id-quick").expect("built in"), None);
    let mut slower = RunData::new(&record(&other, TMT_K, &quick), AIR_K);
    slower.power_state = Some(3);
    let runs = [RunData::new(&record(&first, TMT_K, &thermal_id()), AIR_K), slower];
    let fitted = Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"));
    // The lowest, wherever it stands.
    assert_eq!(fitted.seen.power_state, Some(0));
    let asked = [phase("write", Some(0.0), f64::INFINITY, 300), phase("read", Some(1.0), 1.2e9, 300)];
    let at = |state| Scenario { power_state: Some(state), warmer_k: 3.0, ..Scenario::default() };
    let forecast = predict(&fitted, &at(3), &asked);
    other.thermal.ambient_c += 3.0;
    let truth = record(&other, TMT_K, &asked);
    let bytes: f64 =
        truth.speeds.iter().flat_map(|s| &s.intervals).filter(|i| i.phase == 0).map(|i| i.bytes).sum();
    let (speed, found) = (bytes / 300.0, forecast.phases[0].mean_bytes_per_s.expect("a speed"));
    assert!((found.value / speed - 1.0).abs() < 0.05, "{found:?}, truth {speed}");
    let end_k = truth.temperatures[0].kelvin.points().last().expect("a reading").value + 0.5;
    let steady_k = forecast.phases[1].steady_k.expect("a temperature");
    assert!((steady_k.value - end_k).abs() < 1.5, "{steady_k:?}, truth {end_k}");
    assert!(predict(&fitted, &at(2), &asked).phases[0].mean_bytes_per_s.is_none());
}

/// Goal: where ten minutes in another power state never reached TMT1, a forecast that hangs on how it throttles there names a
/// TMT1 that it reaches, and that run answers it. Method: the relay with a state of 60 % of the speed.
#[test]
fn a_state_that_never_throttled_names_the_run_that_does() {
    let mut first = profile("relay");
    first.media.sequential_read.bytes_per_s = 1.5e9;
    first.media.sequential_write.bytes_per_s = 0.8e9;
    let mut other = first.clone();
    for ceiling in [&mut other.media.sequential_read, &mut other.media.sequential_write] {
        ceiling.bytes_per_s *= 0.6;
    }
    let Machine::Relay(cap) = &mut other.policy[0].machine else { panic!("a relay") };
    // Firmware's shares are of what the state allows.
    for limit in [&mut cap.read_bytes_per_s, &mut cap.write_bytes_per_s] {
        *limit = limit.map(|bytes_per_s| 0.6 * bytes_per_s);
    }
    let quick = load::phases(&Plan::builtin("thermal-id-quick").expect("built in"), None);
    let in_state = |tmt_k| {
        let mut run = RunData::new(&record(&other, tmt_k, &quick), AIR_K);
        run.power_state = Some(3);
        run
    };
    let mut runs = vec![in_state(TMT_K), RunData::new(&record(&first, TMT_K, &thermal_id()), AIR_K)];
    let asked = [phase("read", Some(1.0), f64::INFINITY, 300)];
    let scenario = Scenario { power_state: Some(3), warmer_k: 10.0, ..Scenario::default() };
    let caveat = |runs: &[RunData]| {
        let fitted = Fitted::new(runs, fit("test", runs, Seed::new(1)).expect("it warms"));
        let caveats = predict(&fitted, &scenario, &asked).caveats;
        let low_k = fit::low_tmt1_k(fitted.seen.range_k, &fitted.common);
        (
            caveats.into_iter().find(|caveat| caveat.kind == "state_throttling"),
            low_k,
            fitted.seen.tmt1_acted_k,
        )
    };
    let (open, low_k, acted_k) = caveat(&runs);
    let text = open.expect("nothing throttled in the state").text;
    assert!(text.contains(&format!("--tmt1 {}C", low_k - 273)), "{text}");
    assert_eq!(acted_k, Some(333.0));
    runs.insert(0, in_state([low_k, 358]));
    let (open, _, acted_k) = caveat(&runs);
    assert_eq!(open, None);
    // Of the runs in the state of the fit alone.
    assert_eq!(acted_k, Some(333.0));
}

/// Goal: a log in which TMT1 was changed is not fitted as one, and what the refusal names is: a log of each setting, of which
/// the second begins warm. Method: the relay at 60 °C and then at 66.
#[test]
fn a_log_of_two_settings_is_fitted_as_two() {
    let profile = profile("relay");
    let mut drive = drive(&profile);
    let logs = [TMT_K, [339, 358]].map(|tmt_k| {
        let mut log = record_from(&mut drive, &profile, tmt_k, &thermal_id());
        trace::infer_phases(&mut log);
        RunData::new(&log, AIR_K)
    });
    let mut whole = record(&profile, TMT_K, &thermal_id());
    let later = ThermalSettings { tmt1_k: Some(339), tmt2_k: Some(358), power_state: Some(0) };
    whole.settings.push(trace::instant(900.0), later);
    let error = fit("test", &[RunData::new(&whole, AIR_K)], Seed::new(1)).expect_err("two settings");
    assert!(matches!(error, FitError::SettingsChanged { at_s, .. } if at_s == 900.0), "{error}");
    let fitted = Fitted::new(&logs, fit("test", &logs, Seed::new(1)).expect("it warms"));
    let [throttle] = &fitted.best.throttles[..] else { panic!("one threshold: {:?}", fitted.best.throttles) };
    assert_eq!(throttle.follows, ThresholdSource::Tmt1);
    assert!(throttle.on_k.abs() < 0.6 && matches!(throttle.act, ThrottleAct::Relay(_)), "{throttle:?}");
}

/// Goal: a log that names no phases and no settings - a bandwidth log beside SMART - has thresholds where they lay, and its
/// forecasts throttle there.
#[test]
fn a_log_without_phases_and_settings_is_fitted() {
    let profile = profile("relay");
    let mut log = record(&profile, TMT_K, &thermal_id());
    trace::infer_phases(&mut log);
    log.settings = Series::new();
    let count = |transitions: u64| trace::Counters {
        tmt1_transitions: Some(transitions),
        tmt2_transitions: Some(0),
        ..trace::Counters::default()
    };
    log.counters.push(trace::instant(0.0), count(0));
    log.counters.push(trace::instant(1800.0), count(9));
    let runs = [RunData::new(&log, AIR_K)];
    let fitted = Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"));
    let asked = [phase("read", Some(1.0), f64::INFINITY, 300)];
    let forecast = predict(&fitted, &Scenario::default(), &asked);
    let time_s = forecast.phases[0].time_to_throttle_s.expect("it throttles");
    let truth = record(&profile, TMT_K, &asked);
    let bytes: f64 = truth.speeds.iter().flat_map(|s| &s.intervals).map(|i| i.bytes).sum();
    let found = forecast.phases[0].mean_bytes_per_s.expect("a speed");
    assert!((found.value / (bytes / 300.0) - 1.0).abs() < 0.08, "{found:?}, truth {}", bytes / 300.0);
    assert!(time_s.value > 1.0, "{time_s:?}");
}

/// Goal: in a log that names no phases, the trickle of the host's while the drive cools is neither the slow speed of a relay
/// nor the bottom of a regulator. Method: the log of `thermal-id`, asked about warmer air.
#[test]
fn a_trickle_in_a_log_is_the_hosts() {
    for (name, act) in [("relay", "Relay"), ("regulator", "Regulator")] {
        let profile = profile(name);
        let mut log = record(&profile, TMT_K, &thermal_id());
        trace::infer_phases(&mut log);
        log.settings = Series::new();
        let runs = [RunData::new(&log, AIR_K)];
        let fitted = Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"));
        let [throttle] = &fitted.best.throttles[..] else { panic!("{:?}", fitted.best.throttles) };
        assert!(format!("{:?}", throttle.act).starts_with(act), "{name}: {throttle:?}");
        let asked = [phase("read", Some(1.0), f64::INFINITY, 300)];
        let forecast = predict(&fitted, &Scenario { warmer_k: 10.0, ..Scenario::default() }, &asked);
        let mut warmer = profile.clone();
        warmer.thermal.ambient_c += 10.0;
        let truth = record(&warmer, TMT_K, &asked);
        let bytes: f64 = truth.speeds.iter().flat_map(|s| &s.intervals).map(|i| i.bytes).sum();
        let found = forecast.phases[0].mean_bytes_per_s.expect("a speed");
        assert!((found.value / (bytes / 300.0) - 1.0).abs() < 0.08, "{name}: {found:?}, {}", bytes / 300.0);
    }
}

#[test]
fn the_same_seed_gives_the_same_fit_and_a_profile_keeps_it() {
    let profile = profile("regulator");
    let once = fitted(&profile, &thermal_id(), AIR_K);
    let again = fitted(&profile, &thermal_id(), AIR_K);
    assert_eq!(once, again);
    let text = once.profile().expect("a profile").to_toml().expect("text");
    assert!(text.contains("[[thermal.mode]]"), "{text}");
    let read = Profile::from_toml(&text).expect("a profile");
    assert_eq!(Fitted::from_profile(&read).expect("a fit"), once);
    // By hand, or spoilt: no posterior.
    assert!(Fitted::from_profile(&profile).is_err());
    let mut spoilt = read;
    let table = spoilt.fit.as_mut().expect("a table");
    table.insert("schema".to_owned(), toml::Value::Integer(99));
    assert!(Fitted::from_profile(&spoilt).is_err());
}

/// What a run cannot tell has a name, a reason and a command, and no number.
#[test]
fn what_the_run_cannot_tell_is_left_open() {
    let open = |fitted: &Fitted, what: &str| {
        let found = fitted.left_open.iter().find(|open| open.what == what);
        let found = found.unwrap_or_else(|| panic!("{what} in {:?}", fitted.left_open));
        assert!(!found.why.is_empty() && found.plan.starts_with("heatsoak "), "{found:?}");
    };
    let none = |fitted: &Fitted, part: &str| {
        let named = fitted.parameters().into_iter().find(|parameter| parameter.name.contains(part));
        assert_eq!(named, None, "no number for {part}");
    };
    let mut cool = profile("ssd1");
    cool.policy.clear();
    let never = fitted(&cool, &thermal_id(), None);
    open(&never, "throttling");
    none(&never, "throttl");
    open(&never, "ambient");
    let reads = [phase("rest", None, 0.0, 30), phase("read", Some(1.0), f64::INFINITY, 400)];
    let only_reads = fitted(&profile("ssd1"), &reads, AIR_K);
    open(&only_reads, "heat and speed of writes");
    none(&only_reads, "write");
    open(&only_reads, "cool-down");
    let short = [phase("rest", None, 0.0, 30), phase("read", Some(1.0), f64::INFINITY, 100)];
    open(&fitted(&profile("ssd1"), &short, AIR_K), "rise after an hour");
    // This one passed its TMT1 and did not care: another TMT1 changes nothing. One that was off is another matter.
    let at = Scenario { tmt_k: [Some(325), Some(358)], ..Scenario::default() };
    assert!(predict(&never, &at, &reads).phases[1].mean_bytes_per_s.is_some());
    let off = [RunData::new(&record(&cool, [0, 0], &thermal_id()), None)];
    let off = Fitted::new(&off, fit("test", &off, Seed::new(1)).expect("it warms"));
    let asked = predict(&off, &at, &reads);
    assert!(asked.phases[1].mean_bytes_per_s.is_none() && asked.phases[1].beyond, "{asked:?}");
    assert!(asked.caveats.iter().any(|caveat| caveat.kind == "tmt_unknown"), "{:?}", asked.caveats);
    // Other air is no question to a fit without air.
    let other = Scenario { ambient_k: Some(313.15), ..Scenario::default() };
    let forecast = predict(&never, &other, &reads);
    assert!(forecast.phases.iter().all(|phase| phase.mean_bytes_per_s.is_none() && phase.peak_k.is_none()));
    assert!(forecast.caveats.iter().any(|caveat| caveat.kind == "ambient_unknown"), "{:?}", forecast.caveats);
}

/// Goal: what a run cannot tell is left open, and has no number. Method: 37 runs without throttling, air, an operation, a
/// cool-down, full speed, or a release.
#[test]
fn runs_leave_open_what_they_cannot_tell() {
    let unlimited = f64::INFINITY;
    let rest = phase("rest", None, 0.0, 30);
    let cool = phase("cool", Some(1.0), 2e7, 200);
    let read = |seconds| phase("read", Some(1.0), unlimited, seconds);
    let write = |seconds| phase("write", Some(0.0), unlimited, seconds);
    let slow = phase("slow", Some(1.0), 4e8, 300);
    let mut told = 0;
    for name in ["ssd1", "relay", "regulator", "two-level", "vendor", "exceria-g2-usb10"] {
        let profile = profile(name);
        let mut unguarded = profile.clone();
        unguarded.policy.clear();
        let cases = [
            // What it is, the drive, its load, its air, what has to be left open, of what there may be no number.
            (
                &unguarded,
                vec![rest.clone(), write(200), cool.clone(), read(200), cool.clone()],
                AIR_K,
                "throttling",
                "throttl",
            ),
            (
                &profile,
                vec![rest.clone(), write(200), cool.clone(), read(200), cool.clone()],
                None,
                "ambient",
                "ambient",
            ),
            (
                &profile,
                vec![rest.clone(), read(200), cool.clone()],
                AIR_K,
                "heat and speed of writes",
                "write",
            ),
            (
                &profile,
                vec![rest.clone(), write(200), cool.clone()],
                AIR_K,
                "heat and speed of reads",
                "read",
            ),
            (&unguarded, vec![rest.clone(), write(150), read(150)], AIR_K, "cool-down", "cool"),
            // One load level: how fast it reads without the limit stays open.
            (
                &unguarded,
                vec![rest.clone(), slow.clone(), cool.clone()],
                AIR_K,
                "full read speed",
                "read full",
            ),
        ];
        // It stayed slow until the end.
        let mut sticky = profile.clone();
        sticky.policy.iter_mut().for_each(|policy| policy.hysteresis_k = 40.0);
        let unreleased = (&sticky, vec![rest.clone(), read(300)], AIR_K, "release temperature", "hysteresis");
        let cases = cases.into_iter().chain((name == "relay").then_some(unreleased));
        for (profile, load, air_k, what, part) in cases {
            let fitted = fitted(profile, &load, air_k);
            let open = fitted.left_open.iter().any(|open| open.what == what);
            let number = fitted.parameters().into_iter().find(|parameter| parameter.name.contains(part));
            assert!(open && number.is_none(), "{name}: {what} in {:?}, {number:?}", fitted.left_open);
            told += 1;
        }
    }
    assert_eq!(told, 37);
}

#[test]
fn runs_that_tell_nothing_are_refused() {
    assert_eq!(fit("test", &[], Seed::new(1)).err(), Some(FitError::NoRun));
    let idle = [phase("rest", None, 0.0, 120)];
    let still = [RunData::new(&record(&profile("ssd1"), TMT_K, &idle), None)];
    assert!(matches!(fit("test", &still, Seed::new(1)), Err(FitError::NoLoad { .. })));
    let trickle = [phase("read", Some(1.0), 1e6, 120)];
    let cool = [RunData::new(&record(&profile("ssd1"), TMT_K, &trickle), None)];
    assert!(matches!(fit("test", &cool, Seed::new(1)), Err(FitError::NoHeat { .. })));
    let mut blind = record(&profile("ssd1"), TMT_K, &thermal_id());
    blind.temperatures.clear();
    blind.trusted = None;
    let blind = [RunData::new(&blind, None)];
    assert!(matches!(fit("test", &blind, Seed::new(1)), Err(FitError::NoTemperature { .. })));
}
