//! What the authors of the published experiments advise by hand, from their own runs: settings to keep, to avoid, and a
//! load that is done sooner when it is held back.
//!
//! The runs are those of the simulated drives that reproduce them (VALIDATION).

use fit::recommend::{Advice, Bounds, Goal, GoalError, recommend};
use fit::simulate::{LoadPhase, LoadSecond, outcome};
use fit::{Fitted, RunData, Scenario, fit};
use measure::Seed;
use physics::Profile;

mod known;

use known::{phase, profile, record};

const AIR_K: Option<f64> = Some(303.15);

fn writes_then_reads() -> Vec<LoadPhase> {
    let write = phase("write", Some(0.0), f64::INFINITY, 300);
    vec![phase("rest", None, 0.0, 20), write, phase("read", Some(1.0), f64::INFINITY, 300)]
}

fn writes(seconds: usize) -> Vec<LoadPhase> {
    vec![phase("rest", None, 0.0, 20), phase("write", Some(0.0), f64::INFINITY, seconds)]
}

fn fitted(profile: &Profile, runs: &[([u16; 2], Vec<LoadPhase>)]) -> Fitted {
    let runs: Vec<RunData> =
        runs.iter().map(|(tmt_k, load)| RunData::new(&record(profile, *tmt_k, load), AIR_K)).collect();
    Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"))
}

/// A setting in whole degrees, as the authors name them.
fn tmt(tmt1_c: u16, tmt2_c: u16) -> [u16; 2] {
    [273 + tmt1_c, 273 + tmt2_c]
}

fn fastest(fitted: &Fitted, load: &[LoadPhase]) -> Advice {
    recommend(fitted, &Scenario::default(), load, Goal::Fastest, Bounds::default())
}

fn avoids(advice: &Advice, part: &str) {
    assert!(advice.avoid.iter().any(|avoid| avoid.why.contains(part)), "{part} in {:#?}", advice.avoid);
}

/// "SSD1 should be kept unthrottled": its relay at TMT1 leaves 200 MB/s, and a TMT1 below idle would throttle at rest.
#[test]
fn ssd1_is_to_be_kept_unthrottled() {
    let ssd1 = profile("ssd1");
    let runs = [(tmt(0, 85), writes(600)), (tmt(0, 85), writes_then_reads()), (tmt(60, 70), writes(600))];
    let advice = fastest(&fitted(&ssd1, &runs), &writes_then_reads());
    let best = advice.choices.first().expect("a choice");
    assert!(best.settings.tmt1_k.is_some_and(|tmt1_k| tmt1_k >= 273 + 79), "{:?}", best.settings);
    let [tmt1_k, tmt2_k] =
        [best.settings.tmt1_k, best.settings.tmt2_k].map(|kelvin| kelvin.unwrap_or(0) - 273);
    assert_eq!(best.command, format!("heatsoak hctm DRIVE --tmt1 {tmt1_k}C --tmt2 {tmt2_k}C"));
    assert_eq!(best.undo, "heatsoak hctm DRIVE --tmt1 60C --tmt2 70C");
    avoids(&advice, "% of the speed");
    // 200 of 1600 MB/s: nearly nine tenths are lost wherever TMT1 acts.
    avoids(&advice, "this drive switches to 13 % of full speed");
    avoids(&advice, "throttles an idle drive");
}

/// "TMT1 = 50 °C is simply a wrong setting", and reads that are held below a half-way TMT1 come in bursts.
#[test]
fn ssd2_is_not_to_be_set_half_way() {
    let ssd2 = profile("ssd2");
    let runs = [(tmt(71, 75), writes_then_reads()), (tmt(60, 70), writes_then_reads())];
    let advice = fastest(&fitted(&ssd2, &runs), &writes_then_reads());
    let best = advice.choices.first().expect("a choice");
    assert!(best.settings.tmt1_k.is_none_or(|tmt1_k| tmt1_k >= 273 + 65), "{:?}", best.settings);
    avoids(&advice, "% of the speed");
    // Of a setting that the load just reaches it is said with it.
    assert!(best.why.contains("bursts") || advice.avoid.iter().any(|avoid| avoid.why.contains("bursts")));
}

/// The stick is done sooner on the slower link: held back, it never throttles.
#[test]
fn the_stick_is_sooner_when_it_is_slower() {
    let stick = profile("usb-stick-usb10");
    let advice = fastest(&fitted(&stick, &[([0, 0], writes(1800))]), &writes(1800));
    let best = advice.choices.first().expect("a choice");
    let rate = best.settings.rate_bytes_per_s.expect("a rate");
    // 380 MB/s settles just below its threshold (the profile's own words).
    assert!((3.0e8..5.0e8).contains(&rate), "{rate}");
    assert!(advice.verdict.contains("Slower is sooner"), "{}", advice.verdict);
    let rate = format!("{:.0}", rate / 1e6);
    // fio's M is 2^20 bytes: it is given bytes.
    assert!(advice.verdict.contains(&format!("fio --rate={rate}000000")), "{}", advice.verdict);
    // What is printed as a command runs as it is.
    assert_eq!(best.command, format!("heatsoak run PLAN --drive DRIVE --sweep rate=default,{rate}MB/s"));
    assert_eq!(best.undo, "heatsoak run PLAN --drive DRIVE");
}

/// Goal: nothing is advised and warned of at once. Method: a relay that no setting lifts above what the load comes to: what it
/// still does is said with the choice, and what is warned of are settings below it.
#[test]
fn what_is_advised_is_not_warned_of() {
    let relay = profile("relay");
    let load = writes_then_reads();
    let fitted = fitted(&relay, &[(tmt(60, 75), load.clone())]);
    for goal in [Goal::Fastest, Goal::Steadiest, Goal::Coolest] {
        let advice = recommend(&fitted, &Scenario::default(), &load, goal, Bounds::default());
        let best = advice.choices.first().expect("a choice");
        let reached = best.why.contains("still reaches TMT1");
        let warned = advice.avoid.iter().any(|avoid| avoid.why.starts_with("Any TMT1"));
        let throttles = best.predicted.phases.iter().any(|phase| phase.time_to_throttle_s.is_some());
        assert!(best.command.is_empty() || reached == throttles, "{goal:?}: {best:#?}");
        assert!(!(throttles && warned), "{goal:?}: {:?} beside {:?}", best.why, advice.avoid);
        for avoid in &advice.avoid {
            let lower = avoid.settings.tmt1_k.zip(best.settings.tmt1_k).is_none_or(|(bad, good)| bad < good);
            assert!(lower, "{goal:?}: {avoid:?} beside {:?}", best.settings);
        }
    }
}

/// Goal: limits are out of reach only where no rate holds to them, and are told with the number that decides. Method: SSD2, whose
/// writes pass 60 °C at three tenths of its full speed of reads, and limits below its rest and above its full speed.
#[test]
fn limits_out_of_reach_are_told_with_what_decides() {
    let ssd2 = profile("ssd2");
    let load = writes_then_reads();
    let fitted = fitted(&ssd2, &[(tmt(65, 75), load.clone())]);
    let advice = |below_c: Option<f64>, at_least_bytes_per_s| {
        let bounds = Bounds { below_k: below_c.map(|below| below + 273.15), at_least_bytes_per_s };
        recommend(&fitted, &Scenario::default(), &load, Goal::Fastest, bounds)
    };
    let cool = advice(Some(58.0), None);
    let best = cool.choices.first().unwrap_or_else(|| panic!("{}", cool.verdict));
    assert!(best.predicted.phases.iter().all(|phase| phase.peak_k.is_none_or(|peak| peak.value < 331.15)));
    for (below_c, least, part) in [
        (Some(30.0), None, "(below 30 °C). Idle, the drive is at "),
        (None, Some(9e9), "(at least 9.00 GB/s). Unthrottled, write runs at 1.2"),
        (Some(55.0), Some(1.1e9), "(below 55 °C and at least 1.10 GB/s). The fastest below 55 °C: "),
    ] {
        let told = advice(below_c, least);
        assert!(told.choices.is_empty() && told.verdict.contains(part), "{part} in {}", told.verdict);
    }
}

/// Goal: a limit that is asked for holds: the drive itself, set or limited as advised, shows no reading as high. Method: drives
/// that hold a temperature and drives that switch, in cool and warm air, and limits that no TMT1 lies at.
#[test]
fn a_limit_holds_on_the_drive_itself() {
    for (name, air_c, below_c) in [
        ("ssd2", 30.0, 62),
        ("ssd2", 24.0, 59),
        ("regulator", 34.0, 66),
        ("relay", 28.0, 63),
        ("ssd1", 30.0, 67),
    ] {
        let mut profile = profile(name);
        profile.thermal.ambient_c = air_c;
        let load = writes_then_reads();
        let runs = [RunData::new(&record(&profile, tmt(58, 75), &load), Some(air_c + 273.15))];
        let fitted = Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"));
        let below_k = f64::from(273 + below_c);
        let bounds = Bounds { below_k: Some(below_k), at_least_bytes_per_s: None };
        let advice = recommend(&fitted, &Scenario::default(), &load, Goal::Fastest, bounds);
        let best = advice.choices.first().unwrap_or_else(|| panic!("{name}: {}", advice.verdict));
        let of_run = tmt(58, 75);
        let tmt_k = [best.settings.tmt1_k.unwrap_or(of_run[0]), best.settings.tmt2_k.unwrap_or(of_run[1])];
        let rate = best.settings.rate_bytes_per_s.unwrap_or(f64::INFINITY);
        let held: Vec<LoadPhase> = load
            .iter()
            .map(|one| LoadPhase { limit_bytes_per_s: one.limit_bytes_per_s.min(rate), ..one.clone() })
            .collect();
        let there = record(&profile, tmt_k, &held);
        let readings = there.temperatures[0].kelvin.points().iter().map(|point| point.value);
        let highest_k = readings.fold(0.0, f64::max);
        assert!(highest_k < below_k, "{name}, below {below_c} °C: {highest_k} K with {:?}", best.settings);
    }
}

/// Goal: what a drive is set to outside of the runs is what advice is compared with, and it is named. Method: a relay whose
/// TMT1 the run had set for itself, with what stood before it recorded, recorded as the same, and not recorded.
#[test]
fn advice_is_compared_with_what_stands_outside_of_the_run() {
    let load = writes_then_reads();
    let compared = |standing_tmt_k: [Option<u16>; 2]| {
        let run = RunData::new(&record(&profile("relay"), tmt(55, 75), &load), AIR_K);
        let runs = [RunData { standing_tmt_k, ..run }];
        let fitted = Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"));
        let advice = fastest(&fitted, &load);
        let gain =
            advice.choices.first().filter(|best| !best.command.is_empty()).map(|best| best.why.clone());
        (advice.compared_with, gain)
    };
    let (with, gain) = compared([Some(273 + 80), Some(273 + 85)]);
    assert_eq!(with, "the settings outside of the runs (TMT1 80 °C, TMT2 85 °C)");
    let gains = |why: &String| why.starts_with("speed +");
    assert!(!gain.as_ref().is_some_and(gains), "the run's own TMT1 is no loss: {gain:?}");
    let (with, gain) = compared([Some(273 + 55), Some(273 + 75)]);
    assert_eq!(with, "the settings now (TMT1 55 °C, TMT2 75 °C)");
    assert!(gain.is_some_and(|gain| gain.contains(&with)));
    let (with, gain) = compared([None; 2]);
    assert_eq!(with, "the settings of the runs (TMT1 55 °C, TMT2 75 °C)");
    assert!(gain.is_some_and(|gain| gain.contains(&with)));
}

/// Goal: a fit that is kept knows which of TMT1 and TMT2 nobody recorded, as what undoes an advice must not name it.
#[test]
fn what_nobody_recorded_stays_so_in_a_kept_fit() {
    for tmt_recorded in [[true, false], [false, false], [true, true]] {
        let run = RunData::new(&record(&profile("relay"), tmt(60, 75), &writes_then_reads()), AIR_K);
        let runs = [RunData { tmt_recorded, ..run }];
        let fitted = Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"));
        let text = fitted.profile().expect("a profile").to_toml().expect("text");
        let kept = Fitted::from_profile(&Profile::from_toml(&text).expect("a profile")).expect("a posterior");
        assert_eq!(kept.common.tmt_recorded, tmt_recorded);
    }
}

/// Goal: where no power was measured, nothing is said to take the least energy. Method: a log without power.
#[test]
fn the_least_energy_needs_power() {
    let fitted = fitted(&profile("relay"), &[(tmt(60, 85), writes_then_reads())]);
    assert_eq!(Goal::LeastEnergy.check(&fitted), Err(GoalError::NoPower));
    assert!(GoalError::NoPower.to_string().contains("[telemetry.power]"));
    assert_eq!(Goal::Fastest.check(&fitted), Ok(()));
}

/// Goal: a load that fell to a third is not even because its last minute is.
#[test]
fn a_load_that_fell_is_not_even() {
    let second = |at: u32| LoadSecond { bytes: if at < 100 { 3e9 } else { 1e9 }, kelvin: 330.0 };
    let fell: Vec<LoadSecond> = (0..300).map(second).collect();
    assert!((outcome(&fell, |_| 3e9).evenness - 1.0 / 3.0).abs() < 1e-9);
}
