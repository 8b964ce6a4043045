//! Drives with known truth: fitted from a run, asked about another one, and asked what the run cannot tell.
//!
//! The log is made here from `physics`: whole kelvins once a second, speeds of a second. Bounds are those of METHODS.

use fit::simulate::{LoadPhase, demand, drive, set_tmt};
use fit::{FitError, Fitted, RunData, Scenario, fit, load, predict};
use measure::record::ThermalSettings;
use measure::{Instant, Seed, Series};
use physics::Profile;
use plan::Plan;
use trace::{Interval, Phase, SegmentOp, SpeedSeries, Temperature, Trace, instant};

const TMT_K: [u16; 2] = [333, 358];

fn profile(name: &str) -> Profile {
    let mut profile = Profile::builtin(name).expect("built in");
    // The experiment stays within the write cache.
    profile.slc = None;
    profile
}

fn phase(name: &str, read_share: Option<f64>, limit_bytes_per_s: f64, seconds: usize) -> LoadPhase {
    LoadPhase {
        name: name.to_owned(),
        read_share,
        limit_bytes_per_s,
        seconds,
        bytes: None,
        depth: 64,
        io_bytes: 1 << 20,
        sequential: true,
        region_bytes: 64 << 30,
    }
}

fn thermal_id() -> Vec<LoadPhase> {
    load::phases(&Plan::builtin("thermal-id").expect("built in"), None)
}

/// The run of a drive as our own record would have it.
fn record(profile: &Profile, tmt_k: [u16; 2], phases: &[LoadPhase]) -> Trace {
    let mut trace = Trace::empty(&profile.name);
    trace.facts.simulated = Some(true);
    let mut drive = drive(profile);
    if let Some(hctm) = &profile.limits.hctm {
        set_tmt(&mut drive, Some(tmt_k)).expect("it may be set");
        (trace.facts.tmt_min_k, trace.facts.tmt_max_k) =
            (Some(hctm.mntmt_k.into()), Some(hctm.mxtmt_k.into()));
        let [tmt1_k, tmt2_k] = tmt_k.map(Some);
        trace.settings.push(Instant::ZERO, ThermalSettings { tmt1_k, tmt2_k, power_state: Some(0) });
    }
    let mut speeds = [Vec::new(), Vec::new()];
    let mut composite = Series::new();
    let mut second = 0_u64;
    for (number, phase) in phases.iter().enumerate() {
        let op = match phase.read_share {
            None => SegmentOp::Idle,
            Some(share) if share > 0.5 => SegmentOp::Read,
            Some(_) => SegmentOp::Write,
        };
        let start_s = second as f64;
        trace.phases.push(Phase {
            rate_limit_bytes_per_s: Some(phase.limit_bytes_per_s).filter(|limit| limit.is_finite()),
            ..Phase::bare(&phase.name, op, start_s, start_s + phase.seconds as f64)
        });
        for _ in 0..phase.seconds {
            composite.push(instant(second as f64), f64::from(drive.composite().as_kelvin()));
            let until = Instant::from_ns((second + 1) * 1_000_000_000);
            let moved = drive.advance_demand(until, &demand(phase));
            for (speeds, bytes) in speeds.iter_mut().zip([moved.read_bytes, moved.write_bytes]) {
                if bytes > 0.0 {
                    let start_s = second as f64;
                    speeds.push(Interval { start_s, span_s: 1.0, bytes, phase: number as u32 });
                }
            }
            second += 1;
        }
    }
    for (op, intervals) in [SegmentOp::Read, SegmentOp::Write].into_iter().zip(speeds) {
        trace.speeds.push(SpeedSeries { op, intervals });
    }
    trace.temperatures = vec![Temperature { name: "composite".to_owned(), kelvin: composite }];
    trace.trust_a_sensor();
    trace
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
        ("read speed while throttled", 2.0e8, 0.1e8),
    ] {
        let found = parameters.iter().find(|parameter| parameter.name == name);
        let found = found.unwrap_or_else(|| panic!("{name} in {parameters:?}"));
        assert!((found.value - truth).abs() < bound, "{found:?}, truth {truth}");
        assert!(found.low <= found.value && found.value <= found.high, "{found:?}");
    }
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

/// Thirty runs that cannot tell something: all of them say so, and none has a number for it.
#[test]
fn thirty_runs_leave_open_what_they_cannot_tell() {
    let unlimited = f64::INFINITY;
    let rest = phase("rest", None, 0.0, 30);
    let cool = phase("cool", Some(1.0), 2e7, 200);
    let read = |seconds| phase("read", Some(1.0), unlimited, seconds);
    let write = |seconds| phase("write", Some(0.0), unlimited, seconds);
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
        ];
        for (profile, load, air_k, what, part) in cases {
            let fitted = fitted(profile, &load, air_k);
            let open = fitted.left_open.iter().any(|open| open.what == what);
            let number = fitted.parameters().into_iter().find(|parameter| parameter.name.contains(part));
            assert!(open && number.is_none(), "{name}: {what} in {:?}, {number:?}", fitted.left_open);
            told += 1;
        }
    }
    assert_eq!(told, 30);
}

#[test]
fn runs_that_tell_nothing_are_refused() {
    assert_eq!(fit("test", &[], Seed::new(1)).err(), Some(FitError::NoRun));
    let idle = [phase("rest", None, 0.0, 120)];
    let still = [RunData::new(&record(&profile("ssd1"), TMT_K, &idle), None)];
    assert!(matches!(fit("test", &still, Seed::new(1)), Err(FitError::NoHeat { .. })));
    let mut blind = record(&profile("ssd1"), TMT_K, &thermal_id());
    blind.temperatures.clear();
    blind.trusted = None;
    let blind = [RunData::new(&blind, None)];
    assert!(matches!(fit("test", &blind, Seed::new(1)), Err(FitError::NoTemperature { .. })));
}
