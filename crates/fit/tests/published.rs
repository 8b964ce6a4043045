//! The published experiments as questions: a drive is fitted to some of an author's runs and asked about the others.
//!
//! The runs are those of the simulated drives that reproduce them (VALIDATION), so what holds here says that a fit finds
//! such a drive, not that it is one. What a fit says it cannot know is no miss; docs/VALIDATION.md has the table.

use fit::next::peak_k;
use fit::predict::{Forecast, Ranged};
use fit::recommend::{Bounds, Goal, recommend};
use fit::simulate::LoadPhase;
use fit::{Fitted, RunData, Scenario, fit, predict};
use measure::Seed;
use physics::Profile;

mod known;

use known::{phase, profile, record};

const AIR_K: Option<f64> = Some(303.15);

fn writes() -> Vec<LoadPhase> {
    vec![phase("rest", None, 0.0, 20), phase("write", Some(0.0), f64::INFINITY, 600)]
}

fn writes_then_reads() -> Vec<LoadPhase> {
    let write = phase("write", Some(0.0), f64::INFINITY, 300);
    vec![phase("rest", None, 0.0, 20), write, phase("read", Some(1.0), f64::INFINITY, 300)]
}

/// A setting in whole degrees, as the authors name them.
fn tmt(tmt1_c: u16, tmt2_c: u16) -> [u16; 2] {
    [273 + tmt1_c, 273 + tmt2_c]
}

fn fitted(profile: &Profile, runs: &[([u16; 2], Vec<LoadPhase>)]) -> Fitted {
    let runs: Vec<RunData> =
        runs.iter().map(|(tmt_k, load)| RunData::new(&record(profile, *tmt_k, load), AIR_K)).collect();
    Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"))
}

fn asked(fitted: &Fitted, tmt_k: [u16; 2], load: &[LoadPhase]) -> Forecast {
    predict(fitted, &Scenario { tmt_k: tmt_k.map(Some), ..Scenario::default() }, load)
}

fn speed(forecast: &Forecast, at: usize) -> Ranged {
    forecast.phases[at].mean_bytes_per_s.unwrap_or_else(|| panic!("a speed in {forecast:?}"))
}

/// Mean speed of a phase as the drive itself has it.
fn truth(profile: &Profile, tmt_k: [u16; 2], load: &[LoadPhase], at: usize) -> f64 {
    let trace = record(profile, tmt_k, load);
    let intervals = trace.speeds.iter().flat_map(|series| &series.intervals);
    let bytes: f64 = intervals.filter(|interval| interval.phase as usize == at).map(|i| i.bytes).sum();
    bytes / load[at].seconds as f64
}

fn near(found: Ranged, truth: f64, share: f64, what: &str) {
    assert!((found.value / truth - 1.0).abs() < share, "{what}: {found:?}, was {truth}");
}

/// Goal: SSD1 from A1 and A5 tells A2 and A4, and says that it knows nothing of what TMT1 does (A3, A6); with A3 it tells A6.
#[test]
fn ssd1_from_some_runs_tells_the_others() {
    let ssd1 = profile("ssd1");
    let default = (tmt(0, 85), writes());
    let reads = (tmt(0, 85), writes_then_reads());
    let two = fitted(&ssd1, &[default.clone(), reads.clone()]);
    let a2 = asked(&two, tmt(70, 80), &writes());
    near(speed(&a2, 1), 1.6e9, 0.01, "A2 from A1, A5");
    let hottest = peak_k(&a2).expect("a peak");
    assert!(hottest.high < 273.15 + 70.0, "below 70 °C");
    near(speed(&asked(&two, tmt(0, 85), &writes_then_reads()), 1), 1.6e9, 0.01, "A4 from A1, A5");
    for (row, load) in [("A3", writes()), ("A6", writes_then_reads())] {
        let tmt_k = if row == "A3" { tmt(60, 70) } else { tmt(70, 80) };
        let open = asked(&two, tmt_k, &load);
        assert!(open.phases.iter().any(|phase| phase.mean_bytes_per_s.is_none()), "{row}: {open:?}");
        assert!(open.caveats.iter().any(|caveat| caveat.kind == "tmt_unknown"), "{row}: {:?}", open.caveats);
    }
    let three = fitted(&ssd1, &[default, reads, (tmt(60, 70), writes())]);
    let a6 = asked(&three, tmt(70, 80), &writes_then_reads());
    near(speed(&a6, 2), truth(&ssd1, tmt(70, 80), &writes_then_reads(), 2), 0.05, "A6 from A1, A3, A5");
    // "SSD1 should be kept unthrottled": half-way settings cost most of the speed.
    let advice =
        recommend(&three, &Scenario::default(), &writes_then_reads(), Goal::Fastest, Bounds::default());
    let best = advice.choices.first().expect("a choice");
    assert!(best.settings.tmt1_k.is_none_or(|tmt1_k| tmt1_k >= 273 + 79), "{:?}", best.settings);
    assert!(advice.avoid.iter().any(|avoid| avoid.why.contains("% of the speed")), "{:?}", advice.avoid);
}

/// Goal: SSD2 from two settings tells the one between them, and advises against the half-way 50 °C.
#[test]
fn ssd2_from_two_settings_tells_the_others() {
    let ssd2 = profile("ssd2");
    let both = fitted(&ssd2, &[(tmt(71, 75), writes_then_reads()), (tmt(60, 70), writes_then_reads())]);
    let between = asked(&both, tmt(65, 70), &writes_then_reads());
    let is = |at| truth(&ssd2, tmt(65, 70), &writes_then_reads(), at);
    near(speed(&between, 1), is(1), 0.05, "B2 from 71/75 and 60/70 °C");
    near(speed(&between, 2), is(2), 0.05, "B7 from 71/75 and 60/70 °C");
    let hottest = peak_k(&between).expect("a peak");
    assert!(hottest.value < 273.15 + 66.0, "about 65 °C is held: {hottest:?}");
    let advice =
        recommend(&both, &Scenario::default(), &writes_then_reads(), Goal::Fastest, Bounds::default());
    let best = advice.choices.first().expect("a choice");
    assert!(best.settings.tmt1_k.is_none_or(|tmt1_k| tmt1_k >= 273 + 65), "{:?}", best.settings);
}

/// Goal: what a fan does lies in the range that the run without one leaves, and the other way round.
#[test]
fn a_fan_from_the_run_without_and_the_other_way_round() {
    let still = profile("exceria-g2-usb10");
    let fan = profile("exceria-g2-usb10-fan");
    let load = vec![phase("rest", None, 0.0, 60), phase("write", Some(0.0), f64::INFINITY, 1200)];
    let times = fan.thermal.airflow / still.thermal.airflow;
    let from_still = fitted(&still, &[([0, 0], load.clone())]);
    let aired = predict(&from_still, &Scenario { airflow: Some(times), ..Scenario::default() }, &load);
    let is = truth(&fan, [0, 0], &load, 1);
    let found = speed(&aired, 1);
    assert!((found.low..=found.high).contains(&is), "C2: {found:?}, was {is}");
    let from_fan = fitted(&fan, &[([0, 0], load.clone())]);
    let stilled = predict(&from_fan, &Scenario { airflow: Some(1.0 / times), ..Scenario::default() }, &load);
    // No throttle was seen with the fan: hotter than that, none is known.
    assert!(stilled.phases[1].beyond, "{:?}", stilled.phases[1]);
}
