//! Which next ten minutes would tell most.
//!
//! Where a run has left out something that no sample has - an operation, throttling at all - the run that shows it comes
//! first. Else each experiment that takes ten minutes is simulated on every sample: samples that would show the same in it
//! stay together, and what they still disagree about afterwards is what the experiment leaves (preposterior analysis:
//! Raiffa and Schlaifer, Applied Statistical Decision Theory, 1961, 5). The one that leaves least is named.

use plan::Plan;
use serde::Serialize;

use crate::commands::{THERMAL_ID_QUICK, at_low_tmt1, low_tmt1_k, unset, with_cache_size};
use crate::fitted::Fitted;
use crate::load;
use crate::predict::scenario::{Scenario, set_up};
use crate::predict::{each, full_speed};
use crate::sample::{DriveSample, ThresholdSource};
use crate::simulate::{LoadPhase, phase_seconds};

/// Seconds that are one look at an experiment.
const LOOK_S: usize = 20;
/// What two looks differ by before they are two, as a share of full speed and in kelvins: more than noise and rounding, as
/// neighbouring looks are wrong together.
const SPEED_SD: f64 = 0.05;
const TEMPERATURE_SD_K: f64 = 1.0;
const TEMPER: f64 = 0.25;
const COMPANY: f64 = 5.0;
/// The questions: air so much warmer, a fan that doubles the air, TMT1 so much higher.
const WARMER_K: f64 = 10.0;
const AIRFLOW: f64 = 2.0;
const HIGHER_K: u16 = 5;
/// Things left open that no sample has, in the order of what they cost a forecast, and the ten minutes that show them.
const UNSEEN: [(&str, &str); 5] = [
    ("heat and speed of reads", THERMAL_ID_QUICK),
    ("heat and speed of writes", THERMAL_ID_QUICK),
    ("full read speed", THERMAL_ID_QUICK),
    ("full write speed", THERMAL_ID_QUICK),
    ("cool-down", THERMAL_ID_QUICK),
];

/// The ten minutes that would tell most.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct NextRun {
    /// What to type.
    pub plan: String,
    /// Whether a fan has to blow at the drive meanwhile, which is then fitted with `--airflow 1,2`.
    pub with_fan: bool,
    /// What it would show that no run did; `None` where it narrows what is known.
    pub shows: Option<String>,
    /// Standard deviation of forecasts in warmer air, with a fan and at a higher TMT1, as a share of the speed: now, and
    /// after that run on average.
    pub spread: Option<[f64; 2]>,
}

/// An experiment.
struct Experiment {
    plan: String,
    scenario: Scenario,
    load: Vec<LoadPhase>,
    with_fan: bool,
}

/// Looks for it; `None` where nothing is open that ten minutes would narrow.
pub fn next_run(fitted: &Fitted) -> Option<NextRun> {
    let next = best_run(fitted)?;
    Some(NextRun { plan: with_cache_size(&next.plan, fitted.simulated), ..next })
}

fn best_run(fitted: &Fitted) -> Option<NextRun> {
    let is_open = |what: &str| fitted.left_open.iter().any(|open| open.what == what);
    if let Some((what, plan)) = UNSEEN.iter().find(|(what, _)| is_open(what)) {
        let shows = Some((*what).to_owned());
        return Some(NextRun { plan: (*plan).to_owned(), with_fan: false, shows, spread: None });
    }
    if let Some(open) = fitted.left_open.iter().find(|open| open.what == "throttling") {
        let plan = open.plan.replace("thermal-id", "thermal-id-quick").replace(" --slc SIZE", "");
        return Some(NextRun { plan, with_fan: false, shows: Some(open.what.clone()), spread: None });
    }
    let samples: Vec<&DriveSample> = fitted.samples.iter().collect();
    let answers = answers(fitted, &samples);
    let before = spread(&answers, &vec![vec![0.0; samples.len()]; samples.len()], 1.0);
    let tried: Vec<(Apart, Experiment)> = experiments(fitted)
        .into_iter()
        .map(|experiment| (apart(fitted, &samples, &experiment), experiment))
        .collect();
    let temper = temper(tried.iter().map(|(apart, _)| apart));
    let after = tried.into_iter().map(|(apart, experiment)| (spread(&answers, &apart, temper), experiment));
    let (left, best) = after.min_by(|a, b| a.0.total_cmp(&b.0))?;
    (left < before).then_some(NextRun {
        plan: best.plan,
        with_fan: best.with_fan,
        shows: None,
        spread: Some([before, left]),
    })
}

fn experiments(fitted: &Fitted) -> Vec<Experiment> {
    let builtin = |name: &str| load::phases(&Plan::builtin(name).expect("it is built in"), None);
    let now = Scenario::default();
    let quick = |plan: &str, scenario, with_fan| Experiment {
        plan: plan.to_owned(),
        scenario,
        load: builtin("thermal-id-quick"),
        with_fan,
    };
    let mut all = vec![quick(THERMAL_ID_QUICK, now, false)];
    let follows = fitted.best.throttles.iter().any(|throttle| throttle.follows == ThresholdSource::Tmt1);
    if fitted.common.ambient_k.is_some() && fitted.common.airflow.is_none() {
        all.push(quick(THERMAL_ID_QUICK, Scenario { airflow: Some(AIRFLOW), ..now }, true));
    }
    if follows && fitted.common.hctm {
        let low_k = low_tmt1_k(fitted.seen.range_k, &fitted.common);
        let plan = format!("{THERMAL_ID_QUICK}{}", at_low_tmt1(fitted.seen.range_k, &fitted.common));
        all.push(quick(&plan, Scenario { tmt_k: [Some(low_k), None], ..now }, false));
        let off = Scenario { tmt_k: [Some(0), Some(0)], ..now };
        let load = builtin("hctm-read");
        all.push(Experiment { plan: unset(&fitted.common), scenario: off, load, with_fan: false });
    }
    all
}

/// What each sample answers, as shares of its full speed: mean speeds in warmer air, with a fan, at a higher TMT1.
fn answers(fitted: &Fitted, samples: &[&DriveSample]) -> Vec<Vec<f64>> {
    let load = load::phases(&Plan::builtin("hctm-read").expect("it is built in"), None);
    let now = Scenario::default();
    let mut questions = vec![Scenario { warmer_k: WARMER_K, ..now }];
    if fitted.common.ambient_k.is_some() {
        questions.push(Scenario { airflow: Some(AIRFLOW), ..now });
    }
    let tmt1_k = fitted.common.tmt_k[0] as u16;
    if fitted.best.throttles.iter().any(|throttle| throttle.follows == ThresholdSource::Tmt1) && tmt1_k > 0 {
        questions.push(Scenario { tmt_k: [Some(tmt1_k + HIGHER_K), Some(tmt1_k + 2 * HIGHER_K)], ..now });
    }
    each(samples, |sample| {
        let of = questions.iter().flat_map(|question| {
            let mut drive = set_up(fitted, question, sample);
            let phases = load.iter().map(move |phase| {
                let seconds = phase_seconds(&mut drive, phase);
                let moved: f64 = seconds.iter().map(|second| second.bytes).sum();
                moved / seconds.len().max(1) as f64 / full_speed(sample, fitted, phase).max(1.0)
            });
            phases.collect::<Vec<_>>()
        });
        of.collect()
    })
}

/// How far samples are apart in an experiment: squares for each pair.
type Apart = Vec<Vec<f64>>;

/// A temper at which even the experiment that tells most leaves [`COMPANY`] samples together: what so few of them disagree
/// about is all that can be said.
fn temper<'a>(all: impl Iterator<Item = &'a Apart> + Clone) -> f64 {
    let company = |apart: &Apart, temper: f64| {
        let of = apart.iter().map(|row| row.iter().map(|squares| weight(*squares, temper)).sum::<f64>());
        of.sum::<f64>() / apart.len().max(1) as f64
    };
    let mut temper = TEMPER;
    while temper > 1e-6 && all.clone().any(|apart| company(apart, temper) < COMPANY) {
        temper *= 0.5;
    }
    temper
}

fn weight(squares: f64, temper: f64) -> f64 {
    (-0.5 * temper * squares).exp()
}

fn apart(fitted: &Fitted, samples: &[&DriveSample], experiment: &Experiment) -> Apart {
    let looks = each(samples, |sample| {
        let mut drive = set_up(fitted, &experiment.scenario, sample);
        let of = experiment.load.iter().flat_map(|phase| {
            let full = full_speed(sample, fitted, phase).max(1.0);
            let seconds = phase_seconds(&mut drive, phase);
            let parts = seconds.chunks(LOOK_S).map(|part| {
                let count = part.len() as f64;
                let speed = part.iter().map(|second| second.bytes).sum::<f64>() / count / full;
                let kelvin = part.iter().map(|second| second.kelvin).sum::<f64>() / count;
                [speed / SPEED_SD, kelvin / TEMPERATURE_SD_K]
            });
            parts.collect::<Vec<_>>()
        });
        of.flatten().collect::<Vec<f64>>()
    });
    let squares = |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
    looks.iter().map(|a| looks.iter().map(|b| squares(a, b)).collect()).collect()
}

/// Root mean square over samples and questions of what is left of the disagreement.
fn spread(answers: &[Vec<f64>], apart: &[Vec<f64>], temper: f64) -> f64 {
    let mut sum = 0.0;
    let questions = answers.first().map_or(0, Vec::len);
    for apart in apart {
        let weights: Vec<f64> = apart.iter().map(|squares| weight(*squares, temper)).collect();
        let total: f64 = weights.iter().sum();
        for question in 0..questions {
            let of = || weights.iter().zip(answers).map(|(weight, answers)| (*weight, answers[question]));
            let mean = of().map(|(weight, answer)| weight * answer).sum::<f64>() / total;
            sum += of().map(|(weight, answer)| weight * (answer - mean).powi(2)).sum::<f64>() / total;
        }
    }
    (sum / (apart.len() * questions).max(1) as f64).sqrt()
}
