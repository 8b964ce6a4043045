//! What runs cannot tell, by name, and the command that would.

use crate::data::RunData;
use crate::fitted::{LeftOpen, SeenRange};
use crate::fitting::Fitting;
use crate::recommend::typed;
use crate::sample::{ThresholdSource, ThrottleAct};

/// Names that others look for.
pub(crate) const RELEASE: &str = "release temperature";

/// Loads shorter than this leave the slow modes open, in seconds: twice the slow time constant of an M.2 drive in a case.
const LONG_LOAD_S: f64 = 280.0;

/// Both operations reach it within minutes on the drives that were tried.
const LOW_SHARE: f64 = 0.45;

/// All of it.
pub(crate) fn left_open(runs: &[RunData], seen: &SeenRange, fitting: &Fitting) -> Vec<LeftOpen> {
    let mut open = Vec::new();
    let mut add = |what: &str, why: &str, plan: &str| {
        open.push(LeftOpen { what: what.to_owned(), why: why.to_owned(), plan: plan.to_owned() });
    };
    loads(seen, &mut add);
    throttling(runs, seen, fitting, &mut add);
    surroundings(runs, seen, fitting, &mut add);
    open
}

type Add<'a> = dyn FnMut(&str, &str, &str) + 'a;

fn loads(seen: &SeenRange, add: &mut Add<'_>) {
    let whole = "heatsoak run thermal-id";
    for (op, word) in ["read", "write"].into_iter().enumerate() {
        if !seen.ran[op] {
            add(
                &format!("heat and speed of {word}s"),
                &format!("no run has {word}s that warm the drive"),
                whole,
            );
        } else if !seen.full[op] {
            let why = format!("{word}s never ran without a rate limit and unthrottled for 5 s");
            add(&format!("full {word} speed"), &why, whole);
        }
    }
    if seen.longest_s < LONG_LOAD_S {
        let why = format!("the longest load took {:.0} s", seen.longest_s);
        add("rise after an hour", &why, whole);
    }
    if !seen.cooled {
        add("cool-down", "no rest or slow load follows a fast one", "heatsoak run thermal-id-quick");
    }
}

fn throttling(runs: &[RunData], seen: &SeenRange, fitting: &Fitting, add: &mut Add<'_>) {
    let hottest = seen.range_k[1];
    let hottest_c = measure::Celsius::from_kelvin_f64(hottest).as_degrees();
    let lower = match runs.iter().any(|run| run.settings_known) {
        true => format!("heatsoak run thermal-id --tmt1 {}", typed(low_tmt1_k(seen.range_k))),
        false => "heatsoak run thermal-id".to_owned(),
    };
    let groups = &fitting.groups;
    let acted = |follows| groups.iter().any(|group| group.follows == follows);
    if groups.is_empty() {
        let why = format!("heat never slowed the drive down; the hottest was {hottest_c:.0} °C");
        add("throttling", &why, &lower);
        return;
    }
    for (op, word) in ["read", "write"].into_iter().enumerate() {
        if seen.ran[op] && !seen.throttled[op] {
            let why = format!(
                "heat never slowed {word}s down; the hottest was {:.0} °C",
                seen.hottest_k[op] - 273.15
            );
            add(&format!("{word} speed while throttled"), &why, &lower);
        }
    }
    if !acted(ThresholdSource::Tmt1) && fitting.common.hctm {
        add("what TMT1 does", "throttling at TMT1 was not seen", &lower);
    }
    if !acted(ThresholdSource::Tmt2) && fitting.common.hctm {
        let why = match runs.iter().find_map(|run| run.tmt_k[1]) {
            Some(tmt2_k) => format!("TMT2 ({:.0} °C) was not reached, or did not act", tmt2_k - 273.15),
            None => "TMT2 was off or is not known".to_owned(),
        };
        add("heavy throttling", &why, "heatsoak run thermal-id --tmt1 45C --tmt2 50C");
    }
    if !acted(ThresholdSource::Own) {
        let why = format!("it was not reached up to {hottest_c:.0} °C");
        add("firmware threshold", &why, "heatsoak run hctm-read --tmt1 off --tmt2 off");
    }
    for (group, throttle) in groups.iter().zip(&fitting.best.throttles) {
        let switches =
            matches!(throttle.act, ThrottleAct::Relay(_) | ThrottleAct::TwoLevel { .. } | ThrottleAct::Stop);
        if switches && group.releases.is_empty() {
            add(RELEASE, "no release was seen", "heatsoak run thermal-id");
        }
        let regulates = matches!(
            throttle.act,
            ThrottleAct::Regulator(_) | ThrottleAct::DutyCycled(_) | ThrottleAct::Stairs(_)
        );
        if regulates && group.least > 0.15 {
            let why = format!("speed went no lower than {:.0} % of full speed", 100.0 * group.least);
            add("least speed of the regulator", &why, &lower);
        }
    }
}

/// A TMT1 that both operations reach within minutes, also in another power state: so much of the way from the coolest to
/// the hottest of the runs, in whole kelvins as it is set.
pub fn low_tmt1_k([coolest_k, hottest_k]: [f64; 2]) -> u16 {
    (coolest_k + LOW_SHARE * (hottest_k - coolest_k)).round() as u16
}

fn surroundings(runs: &[RunData], seen: &SeenRange, fitting: &Fitting, add: &mut Add<'_>) {
    if fitting.common.ambient_k.is_none() {
        let why = if runs.iter().any(|run| run.ambient_k.is_some()) {
            "the air of some runs was not recorded"
        } else {
            "the air around the drive was not recorded"
        };
        add("ambient", why, "heatsoak fit RUN --ambient 24C");
    }
    if fitting.common.k_per_w.is_none() {
        add(
            "watts, K/W and J/K",
            "no power was measured, so only kelvins for each GB/s are known; add `[telemetry.power]` to this plan",
            "heatsoak plans thermal-id",
        );
    }
    if fitting.common.airflow.is_none() {
        add(
            "share of the resistance that is air",
            "all runs had one airflow, so a heatsink or fan gets a range; repeat this with a fan, then fit both with \
             `--airflow 1,2`",
            "heatsoak run thermal-id-quick",
        );
    }
    if let Some(state) = seen.power_state.filter(|_| fitting.best.states.is_empty()) {
        let why = format!("all runs were in power state {state}");
        add("other power states", &why, "heatsoak run thermal-id-quick --sweep power-state=0,1");
    }
}
