//! What runs cannot tell, by name, and the command that would.

use crate::commands::{
    THERMAL_ID, THERMAL_ID_QUICK, at_low_tmt1, at_low_tmt2, floor_plan, full_speed_plan, in_states,
    lower_tmt1, unset,
};
use crate::data::RunData;
use crate::fitted::{LeftOpen, SeenRange};
use crate::fitting::Fitting;
use crate::sample::{ThresholdSource, ThrottleAct};
use crate::speed::FittedSpeed;

/// Names that others look for.
pub(crate) const RELEASE: &str = "release temperature";

/// What shows more where no setting does.
const WARMER: &str = "warmer air shows more";
/// Loads shorter than this leave the slow modes open, in seconds: twice the slow time constant of an M.2 drive in a case.
const LONG_LOAD_S: f64 = 280.0;

/// All of it.
pub(crate) fn left_open(runs: &[RunData], seen: &SeenRange, fitting: &Fitting) -> Vec<LeftOpen> {
    let mut open = Vec::new();
    let mut add = |what: &str, why: &str, plan: &str| {
        open.push(LeftOpen { what: what.to_owned(), why: why.to_owned(), plan: plan.to_owned() });
    };
    loads(seen, &fitting.full, &mut add);
    throttling(runs, seen, fitting, &mut add);
    surroundings(runs, seen, fitting, &mut add);
    open
}

type Add<'a> = dyn FnMut(&str, &str, &str) + 'a;

fn loads(seen: &SeenRange, full: &[FittedSpeed; 2], add: &mut Add<'_>) {
    for (op, word) in ["read", "write"].into_iter().enumerate() {
        if !seen.ran[op] {
            add(
                &format!("heat and speed of {word}s"),
                &format!("no run has {word}s that warm the drive"),
                THERMAL_ID,
            );
        } else if !seen.full[op] {
            let least = match full[op].value {
                // Beside the other operation it shows no speed of its own.
                fastest if fastest > 0.0 && seen.mixes.is_empty() => {
                    format!("; it is at least {fastest:.2} GB/s")
                }
                _ => String::new(),
            };
            let why = format!("{word}s never ran without a rate limit and unthrottled for 5 s{least}");
            add(&format!("full {word} speed"), &why, THERMAL_ID);
        }
    }
    if seen.longest_s < LONG_LOAD_S {
        let why = format!("the longest load took {:.0} s", seen.longest_s);
        add("rise after an hour", &why, THERMAL_ID);
    }
    if !seen.cooled {
        add("cool-down", "no rest or slow load follows a fast one", THERMAL_ID_QUICK);
    }
}

fn throttling(runs: &[RunData], seen: &SeenRange, fitting: &Fitting, add: &mut Add<'_>) {
    let hottest = seen.range_k[1];
    let hottest_c = measure::Celsius::from_kelvin_f64(hottest).as_degrees();
    let lower = format!("{THERMAL_ID}{}", at_low_tmt1(seen.range_k, &fitting.common));
    let groups = &fitting.groups;
    let acted = |follows| groups.iter().any(|group| group.follows == follows);
    if groups.is_empty() {
        let held = runs.iter().any(|run| !run.throttles.is_empty());
        let why = match held {
            // The verdict has it; there is no speed beside it to measure it by.
            true => "heat held loads back whose full speed was not seen".to_owned(),
            false => format!("heat never slowed the drive down; the hottest was {hottest_c:.0} °C"),
        };
        let plan = match seen.tmt_ignored {
            _ if held => full_speed_plan(seen, &fitting.common),
            [false, _] => lower,
            [true, false] => at_low_tmt2(seen.range_k, &fitting.common),
            [true, true] => unset(&fitting.common),
        };
        add("throttling", &why, &plan);
        return;
    }
    // A setting that was passed without a throttle does nothing: that is an answer.
    let is_open = |at: usize, follows| fitting.common.hctm && !acted(follows) && !seen.tmt_ignored[at];
    for (op, word) in ["read", "write"].into_iter().enumerate() {
        // That a threshold leaves it alone is an answer.
        if seen.ran[op] && !seen.throttled[op] && !groups.iter().any(|group| group.spared[op]) {
            let hottest_c = seen.hottest_k[op] - 273.15;
            let why = format!("heat never slowed {word}s down; the hottest was {hottest_c:.0} °C");
            let what = format!("{word} speed while throttled");
            if acted(ThresholdSource::Tmt1) || is_open(0, ThresholdSource::Tmt1) {
                add(&what, &why, &lower);
            } else {
                add(&what, &format!("{why}; {WARMER}"), THERMAL_ID);
            }
        }
    }
    floors(seen, fitting, add);
    if is_open(0, ThresholdSource::Tmt1) {
        add("what TMT1 does", "throttling at TMT1 was not seen", &lower);
    }
    if is_open(1, ThresholdSource::Tmt2) {
        let why = match runs.iter().find_map(|run| run.tmt_k[1]) {
            Some(tmt2_k) => format!("TMT2 ({:.0} °C) was not reached, or did not act", tmt2_k - 273.15),
            None => "TMT2 was off or is not known".to_owned(),
        };
        add("heavy throttling", &why, &at_low_tmt2(seen.range_k, &fitting.common));
    }
    // A run stops its load there, so that none gets hotter.
    let stop = plan::stop_below(fitting.common.limits.critical_k.map(|critical_k| critical_k as u16));
    if !acted(ThresholdSource::Own) && hottest < f64::from(stop.as_kelvin()) {
        let why = format!("it was not reached up to {hottest_c:.0} °C");
        add("firmware threshold", &why, &unset(&fitting.common));
    }
    for throttle in &fitting.best.throttles {
        // A threshold that was weighed and left out has a group and no throttle.
        let Some(group) = groups.iter().find(|group| group.follows == throttle.follows) else { continue };
        if throttle.act.switches() && group.releases.is_empty() && !group.let_go {
            add(RELEASE, "no release was seen", THERMAL_ID);
        }
        let regulates = matches!(
            throttle.act,
            ThrottleAct::Regulator(_) | ThrottleAct::DutyCycled(_) | ThrottleAct::Stairs(_)
        );
        if regulates && group.least > 0.15 {
            let why = format!("speed went no lower than {:.0} % of full speed", 100.0 * group.least);
            let what = "least speed of the regulator";
            match (throttle.follows, lower_tmt1(seen, &fitting.common)) {
                (ThresholdSource::Tmt1, Some(plan)) => add(what, &why, &plan),
                // At rest already.
                (ThresholdSource::Tmt1, None) => {}
                _ => add(what, &format!("{why}; {WARMER}"), THERMAL_ID),
            }
        }
    }
}

/// Speeds at a threshold that slowed the other operation down alone.
fn floors(seen: &SeenRange, fitting: &Fitting, add: &mut Add<'_>) {
    for throttle in &fitting.best.throttles {
        for (op, word) in ["read", "write"].into_iter().enumerate() {
            let relay = matches!(throttle.act, ThrottleAct::Relay(_));
            // Where nothing slowed it down, that is said already.
            if !relay || !seen.throttled[op] || seen.shows_floor(throttle.follows, op, false) {
                continue;
            }
            let why = format!("no {word} was throttled by it");
            let what = throttle.follows.speed_while_throttled(word);
            let plan = floor_plan(throttle.follows, seen.range_k, &fitting.common);
            match throttle.follows {
                ThresholdSource::Own => add(&what, &format!("{why}; {WARMER}"), &plan),
                ThresholdSource::Tmt1 | ThresholdSource::Tmt2 => add(&what, &why, &plan),
            }
        }
    }
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
        let measured = runs.iter().flat_map(|run| &run.steps).filter(|step| step.power_w.is_some()).count();
        let why = match measured {
            0 => "no power was measured, so only kelvins for each GB/s are known; ADDRESS is a meter's, as `heatsoak \
                  meter --help` lists them (in a plan: `power` under `[telemetry]`)"
                .to_owned(),
            seconds => format!(
                "power was measured in {seconds} s of the runs, which does not tell the watts of the load from those of the \
                 idle drive"
            ),
        };
        let plan =
            if measured == 0 { format!("{THERMAL_ID} --power ADDRESS") } else { THERMAL_ID.to_owned() };
        add("watts, K/W and J/K", &why, &plan);
    }
    if fitting.common.airflow.is_none() {
        add(
            "share of the resistance that is air",
            "all runs had one airflow, so the effect of a heatsink or fan is known only as a range; repeat this with a fan, then fit both with \
             `--airflow 1,2`",
            THERMAL_ID_QUICK,
        );
    }
    if let Some(state) = seen.power_state.filter(|_| fitting.best.states.is_empty()) {
        let why = format!("all runs were in power state {state}");
        let what = "other power states";
        match seen.power_states.as_deref().map(|all| others(all, state)) {
            Some(others) if others.is_empty() => {}
            Some(others) => add(what, &why, &in_states(&others)),
            None => add(what, &format!("{why}; which others serve I/O was not recorded"), POWER_STATES),
        }
    }
}

/// Lists them.
const POWER_STATES: &str = "heatsoak power-state DRIVE";

fn others(all: &[u8], state: u8) -> Vec<u8> {
    all.iter().copied().filter(|other| *other != state).collect()
}
