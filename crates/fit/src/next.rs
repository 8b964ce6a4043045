//! What to do after runs of a drive, in numbers: the change that brings most, what cooling brings, what the fit is worth.
//!
//! It asks about the load of the last run, as that is what its reader knows. Sentences are made of it elsewhere.

use crate::commands::full_speed_plan;
use crate::data::{Asked, LoadStep};
use crate::fitted::Fitted;
use crate::load;
use crate::predict::full_unknown::{full_unknown, words};
use crate::predict::scenario::Scenario;
use crate::predict::{Forecast, PhaseForecast, Ranged, predict};
use crate::recommend::{Advice, Bounds, Choice, Goal, recommend_over_run};
use crate::speed::knowing_loads;
use crate::{RunData, simulate::LoadPhase};
use analysis::findings::Label;
use trace::Trace;

/// Air that is cooler by so much: a room in winter over one in summer, a side panel taken off.
pub const COOLER_K: f64 = 10.0;
/// Air flow that is twice as much: the least that a fan added to still air does.
pub const AIRFLOW: f64 = 2.0;
/// Longest run that is looked at in passing, in seconds: its fit takes a second.
pub const LONGEST_S: usize = 3600;
/// A forecast is hotter than what was seen from so many kelvins on: rounding of the readings, and as much again.
const HOTTER_K: f64 = 2.0;
/// A fitted drive that is faster or slower than the run it was fitted to by so much is not that drive.
const MISSED_SHARE: f64 = 0.15;
/// What a change must bring to be worth a line: a share of the speed.
const WORTH_SHARE: f64 = 0.02;

/// What to do.
#[derive(Clone, Debug)]
pub struct NextSteps {
    /// The load of the run, up to where its full speed is not known.
    pub load: Vec<LoadPhase>,
    /// What it comes to again, as things are.
    pub now: Forecast,
    /// Why it is not known what another setting brings.
    pub open: Option<NextOpen>,
    /// The setting or rate that brings most, where one brings enough.
    pub change: Option<Choice>,
    /// The same load in air cooler by [`COOLER_K`], where that brings enough.
    pub cooler: Option<Forecast>,
    /// The same load with [`AIRFLOW`] times the air flow, where that brings enough.
    pub aired: Option<Forecast>,
}

/// Why it is not known what another setting brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextOpen {
    /// Heat held these loads back all along: nothing shows how fast they are without.
    FullSpeed {
        /// Reads, writes or both.
        loads: &'static str,
        /// The run that shows it.
        plan: String,
    },
    /// The fit found no threshold, and the verdict did.
    Threshold,
    /// Nothing says what TMT1 and TMT2 were.
    Settings,
    /// Heat held back a load of which nothing says how much it asked for.
    Asked,
}

/// What to do after `run`, of which `fitted` was made.
pub fn next_steps(fitted: &Fitted, run: &RunData) -> NextSteps {
    let mut load = load::of_run(&knowing_loads(std::slice::from_ref(run))[0]);
    let open = open(fitted, run, &load);
    load.truncate(load.iter().position(|phase| full_unknown(fitted, phase)).unwrap_or(load.len()));
    if load.iter().all(|phase| phase.read_share.is_none()) {
        let now = predict(fitted, &Scenario::default(), &[]);
        return NextSteps { load: Vec::new(), now, open, change: None, cooler: None, aired: None };
    }
    let at = Scenario::default();
    // A threshold is not raised to where the drive itself warns (WCTEMP).
    let bounds = Bounds { below_k: fitted.common.limits.warning_k, at_least_bytes_per_s: None };
    let Advice { choices, .. } = recommend_over_run(fitted, &load, Goal::Fastest, bounds);
    let now = predict(fitted, &at, &load);
    let other = |at: Scenario| Some(predict(fitted, &at, &load)).filter(|then| worth(&load, &now, then));
    NextSteps {
        cooler: other(Scenario { warmer_k: -COOLER_K, ..at }),
        aired: other(Scenario { airflow: Some(AIRFLOW), ..at }),
        change: choices
            .into_iter()
            .find(|choice| !choice.command.is_empty())
            .filter(|choice| worth(&load, &now, &choice.predicted)),
        now,
        load,
        open,
    }
}

fn open(fitted: &Fitted, run: &RunData, load: &[LoadPhase]) -> Option<NextOpen> {
    if let Some(loads) = load.iter().find(|phase| full_unknown(fitted, phase)).and_then(words) {
        return Some(NextOpen::FullSpeed { loads, plan: full_speed_plan(&fitted.seen, &fitted.common) });
    }
    if fitted.best.throttles.is_empty() && !run.throttles.is_empty() {
        return Some(NextOpen::Threshold);
    }
    // Of a throttled load without a rate the speed it got is no demand.
    let unasked = |step: &LoadStep| {
        step.asked == Asked::Limited && step.limit.is_none() && step.label == Some(Label::Throttled)
    };
    if fitted.names_no_tmt() {
        return Some(NextOpen::Settings);
    }
    run.steps.iter().any(unasked).then_some(NextOpen::Asked)
}

impl NextSteps {
    /// What the load of `run` came to, and what the fitted drive comes to under it, in bytes per second, where these are too far apart for
    /// anything to be foretold: then it is throttled by something that was not fitted.
    pub fn misses(&self, run: &RunData) -> Option<[f64; 2]> {
        let run = &knowing_loads(std::slice::from_ref(run))[0];
        let free = |step: &&LoadStep| {
            matches!(step.asked, Asked::Read | Asked::Write | Asked::Mixed) && step.reaches.is_none()
        };
        let seconds: usize = self.load.iter().map(|phase| phase.seconds).sum();
        let free = run.steps[..seconds.min(run.steps.len())].iter().filter(free);
        let (seconds, moved) =
            free.fold((0.0, 0.0), |(seconds, moved), step| (seconds + 1.0, moved + step.read + step.write));
        let measured = (seconds > 0.0).then(|| 1e9 * moved / seconds)?;
        let foretold = mean_speed(&self.load, &self.now, None)?.value;
        ((foretold / measured - 1.0).abs() > MISSED_SHARE).then_some([measured, foretold])
    }
}

impl Fitted {
    /// Whether the readings lie further from the model than rounding explains; then nothing should be foretold by it.
    pub fn is_doubtful(&self) -> bool {
        analysis::misses_readings(self.residual_rms_k, self.resolution_k)
    }
}

/// Whether it is faster by what is worth a line, for the median and for the lower end.
fn worth(load: &[LoadPhase], now: &Forecast, then: &Forecast) -> bool {
    let of = |forecast: &Forecast| mean_speed(load, forecast, None);
    of(now)
        .zip(of(then))
        .is_some_and(|(now, then)| then.value > (1.0 + WORTH_SHARE) * now.value && then.low > now.low)
}

/// Mean speed over those phases of one operation, or of all, that `load` does not limit itself, or over all where it limits
/// every one; each end is that of all phases at once.
pub fn mean_speed(load: &[LoadPhase], forecast: &Forecast, op: Option<&str>) -> Option<Ranged> {
    let unlimited =
        load.iter().zip(&forecast.phases).filter(|(load, _)| load.limit_bytes_per_s.is_infinite());
    let asked = unlimited.filter(|(_, phase)| op.map_or(phase.op != "idle", |op| phase.op == op));
    mean_over_time(asked.map(|(_, phase)| phase), |phase| phase.mean_bytes_per_s)
}

/// Mean over the time of phases, each end that of all at once; `None` where one of them has no value.
fn mean_over_time<'a>(
    phases: impl Iterator<Item = &'a PhaseForecast>,
    of: impl Fn(&PhaseForecast) -> Option<Ranged>,
) -> Option<Ranged> {
    let mut seconds = 0.0;
    let mut sum = Ranged { value: 0.0, low: 0.0, high: 0.0 };
    for phase in phases {
        let (value, took_s) = (of(phase)?, phase.duration_s?.value);
        seconds += took_s;
        sum.value += took_s * value.value;
        sum.low += took_s * value.low;
        sum.high += took_s * value.high;
    }
    let mean = |sum: f64| sum / seconds;
    (seconds > 0.0).then(|| Ranged { value: mean(sum.value), low: mean(sum.low), high: mean(sum.high) })
}

/// Hottest of all phases.
pub fn peak_k(forecast: &Forecast) -> Option<Ranged> {
    let peaks = forecast.phases.iter().filter_map(|phase| phase.peak_k);
    peaks.max_by(|a, b| a.value.total_cmp(&b.value))
}

/// The hottest that the runs showed, where the forecast is hotter: what firmware does there was not seen.
pub fn hottest_seen_k(fitted: &Fitted, forecast: &Forecast) -> Option<f64> {
    let seen_k = fitted.seen.range_k[1];
    peak_k(forecast).is_some_and(|peak| peak.value > seen_k + HOTTER_K).then_some(seen_k)
}

/// Share of the time in which heat slows it down, over all phases that load the drive.
pub fn throttled_share(forecast: &Forecast) -> Option<Ranged> {
    let loaded = forecast.phases.iter().filter(|phase| phase.op != "idle");
    mean_over_time(loaded, |phase| phase.throttled_share)
}

/// Whether a run is one that a fit in passing is for.
pub fn is_short(run: &Trace) -> bool {
    run.end_s().ceil() <= LONGEST_S as f64
}
