//! A fitted profile that was edited, cut or spoilt: refused, or a drive that answers. Never a panic, never work that grows
//! with a number in it.

use std::sync::LazyLock;

use fit::narrow::next_run;
use fit::recommend::{Bounds, Goal, recommend};
use fit::{Fitted, RunData, Scenario, fit, predict};
use measure::Seed;
use physics::Profile;
use proptest::prelude::*;

mod known;

use known::{phase, profile, record};

/// A profile as `heatsoak fit -o` writes it; three samples are as good as all here.
static WRITTEN: LazyLock<String> = LazyLock::new(|| {
    let load = [
        phase("rest", None, 0.0, 20),
        phase("write", Some(0.0), f64::INFINITY, 120),
        phase("cool", Some(1.0), 2e7, 60),
        phase("read", Some(1.0), f64::INFINITY, 150),
    ];
    let runs = [RunData::new(&record(&profile("ssd1"), [328, 358], &load), Some(303.15))];
    let mut fitted = Fitted::new(&runs, fit("test", &runs, Seed::new(1)).expect("it warms"));
    fitted.samples.truncate(3);
    fitted.profile().expect("a profile").to_toml().expect("text")
});

/// All that is asked of a profile that was read.
fn ask(text: &str) {
    let Ok(profile) = Profile::from_toml(text) else { return };
    let Ok(fitted) = Fitted::from_profile(&profile) else { return };
    let load = [phase("write", Some(0.0), f64::INFINITY, 20), phase("read", Some(1.0), f64::INFINITY, 20)];
    let asked =
        Scenario { airflow: Some(2.0), warmer_k: 5.0, tmt_k: [Some(330), None], ..Scenario::default() };
    for scenario in [Scenario::default(), asked] {
        for phase in predict(&fitted, &scenario, &load).phases {
            let ranges = [phase.mean_bytes_per_s, phase.peak_k, phase.throttled_share];
            assert!(ranges.into_iter().flatten().all(|range| range.value.is_finite()), "{phase:?}");
        }
    }
    let _ = fitted.parameters();
    let _ = next_run(&fitted);
    let _ = recommend(&fitted, &Scenario::default(), &load, Goal::Fastest, Bounds::default());
}

/// Numbers that files hold when somebody, or something, has been at them.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("0".to_owned()),
        Just("-1".to_owned()),
        Just("nan".to_owned()),
        Just("inf".to_owned()),
        Just("1e308".to_owned()),
        Just("-1e308".to_owned()),
        Just("1e-308".to_owned()),
        Just("9223372036854775807".to_owned()),
        any::<f64>().prop_map(|value| format!("{value:?}")),
        (-1e4..1e4).prop_map(|value: f64| format!("{value:.3}")),
    ]
}

/// Goal: a share of the resistance lies between none and all, whatever stands in the file.
#[test]
fn a_share_is_no_more_than_all() {
    let line = WRITTEN.lines().find(|line| line.starts_with("outer_share = ")).expect("a sample has one");
    let read = |text: &str| Fitted::from_profile(&Profile::from_toml(text).expect("a profile"));
    assert!(read(&WRITTEN).is_ok());
    for number in ["1.1", "-0.1", "1e308", "nan"] {
        let spoilt = WRITTEN.replacen(line, &format!("outer_share = {number}"), 1);
        assert!(read(&spoilt).is_err(), "{number}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_number_may_be_any(line in 0..4000_usize, number in number()) {
        let mut lines: Vec<String> = WRITTEN.lines().map(str::to_owned).collect();
        let from = lines.iter().position(|line| line.starts_with("[fit")).expect("it has a fit");
        let at = from + line % (lines.len() - from);
        if let Some((name, _)) = lines[at].split_once(" = ") {
            lines[at] = format!("{name} = {number}");
        }
        ask(&lines.join("\n"));
    }

    #[test]
    fn a_line_may_be_gone_or_twice(line in 0..4000_usize, twice in any::<bool>()) {
        let mut lines: Vec<&str> = WRITTEN.lines().collect();
        let at = line % lines.len();
        if twice { lines.insert(at, lines[at]) } else { lines.remove(at); }
        ask(&lines.join("\n"));
    }

    #[test]
    fn it_may_be_cut(at in 0..200_000_usize) {
        let at = at % WRITTEN.len();
        if let Some(text) = WRITTEN.get(..at) {
            ask(text);
        }
    }
}

#[test]
fn as_it_was_written_it_answers() {
    let profile = Profile::from_toml(&WRITTEN).expect("a profile");
    assert!(Fitted::from_profile(&profile).is_ok());
    ask(&WRITTEN);
}

/// Goal: temperatures without a load, as of a snapshot with its history, are refused at once.
#[test]
fn temperatures_without_a_load_are_refused() {
    let load = [phase("rest", None, 0.0, 20), phase("write", Some(0.0), f64::INFINITY, 120)];
    let mut run = RunData::new(&record(&profile("ssd1"), [328, 358], &load), Some(303.15));
    run.steps.iter_mut().for_each(|step| (step.read, step.write) = (0.0, 0.0));
    let why = fit("test", &[run], Seed::new(1)).expect_err("no load").to_string();
    assert!(why.contains("no data moved in"), "{why}");
}
