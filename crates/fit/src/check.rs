//! The check of a fit by itself: the fitted twin runs each run's load again, and what it does stands beside what was
//! measured.
//!
//! Two things may be wrong, and they are told apart: the heat, which is checked under the measured speeds, and the
//! throttle, which is checked in the closed loop. Why is looked for in the residuals; what is not seen there stays open.

use serde::{Deserialize, Serialize};

use crate::commands::THERMAL_ID;
use crate::data::{Asked, LoadStep, RunData, fitted_to};
use crate::fitted::Fitted;
use crate::heat::at;
use crate::simulate::{LoadSecond, replay};

/// A stretch whose mean speed is off by so much of it is one that the throttle's model misses.
const SPEED_OFF_SHARE: f64 = 0.05;
/// Stretches shorter than this are left out, in seconds: a relay's cycles fall differently into them.
const LEAST_STRETCH_S: usize = 60;
/// Rests that are warmer than the model by so much, in kelvins, have heat without a byte of the host's.
const WARM_REST_K: f64 = 0.5;
/// Residuals that move by so much over a run, in kelvins, are of air that moved.
const DRIFT_K: f64 = 1.0;
/// What is off by more is told as how many times, as a share.
const MANY: f64 = 3.0;

/// All runs of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct SelfCheck {
    /// One a run.
    pub runs: Vec<RunCheck>,
}

/// One run, measured and simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCheck {
    /// Which run.
    pub name: String,
    /// Second by second: measured and simulated speed in bytes per second.
    pub speeds: Vec<[f64; 2]>,
    /// Readings: time in seconds, measured and simulated temperature in kelvins.
    pub readings: Vec<[f64; 3]>,
    /// Root mean square of measured less simulated, in kelvins.
    pub rms_k: f64,
    /// Unlimited loads: where they were, and their mean speeds.
    pub loads: Vec<LoadCheck>,
}

/// A stretch of one unlimited load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadCheck {
    /// From, in seconds.
    pub from_s: f64,
    /// To, in seconds.
    pub to_s: f64,
    /// `read`, `write` or `mixed`.
    pub op: &'static str,
    /// Mean speed measured and simulated, in bytes per second.
    pub mean_bytes_per_s: [f64; 2],
}

/// Why a model may not fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Misfit {
    /// The readings lie further from the heat model than rounding explains; by so much, rms.
    Heat {
        /// In kelvins.
        rms_k: f64,
    },
    /// Rests after writing are warmer than the model: folding of the write cache, in kelvins.
    WarmRest {
        /// In kelvins.
        warmer_k: f64,
    },
    /// Residuals move over the run, as with air that changes; by so much.
    Drift {
        /// In kelvins.
        moved_k: f64,
    },
    /// An unlimited load has another mean speed in the closed loop; the worst of an operation, as a share.
    Throttle {
        /// Simulated over measured, less 1.
        off: f64,
        /// Whether it wrote.
        #[serde(default)]
        writes: bool,
        /// Whether it read and wrote at once.
        #[serde(default)]
        mixed: bool,
    },
}

impl Misfit {
    /// It as a sentence, with the command that shows more.
    pub fn sentence(&self) -> String {
        match self {
            Self::Heat { rms_k } => {
                format!("The heat model does not fit: {rms_k:.1} K rms is more than rounding explains.")
            }
            Self::WarmRest { warmer_k } => format!(
                "Rests after writes are {warmer_k:.1} K warmer than the model: folding of the SLC cache is heat without \
                 host I/O. `{THERMAL_ID}` keeps it back with slow reads."
            ),
            Self::Drift { moved_k } => format!(
                "The residuals move by {moved_k:+.1} K over the run: ambient or airflow changed while it ran."
            ),
            Self::Throttle { off, writes, mixed } => {
                let op = match (mixed, writes) {
                    (true, _) => "reads and writes at once",
                    (false, true) => "writes",
                    (false, false) => "reads",
                };
                let off = match off {
                    off if *off > MANY => format!("{:.0} times what it was", 1.0 + off),
                    off => format!("{:+.0} % off", 100.0 * off),
                };
                format!(
                    "The throttling model does not fit every load: the worst mean speed of {op} is {off}. A second \
                     threshold, a write cache, or another mechanism than was fitted; `heatsoak analyze` names what it saw."
                )
            }
        }
    }
}

/// Runs the loads of `runs` again on the likeliest drive; what the model does not have, as far as that and the residuals show.
/// `courses` are the temperatures of the heat model under the measured speeds.
pub(crate) fn check(fitted: &Fitted, runs: &[RunData], courses: &[Vec<f64>]) -> (SelfCheck, Vec<Misfit>) {
    let still = fitted_to(runs, fitted.seen.power_state);
    let checked: Vec<RunCheck> = still.iter().map(|run| run_check(fitted, run)).collect();
    let mut misfits = Vec::new();
    if fitted.is_doubtful() {
        misfits.push(Misfit::Heat { rms_k: fitted.residual_rms_k });
        misfits.extend(still.iter().zip(courses).flat_map(|(run, course)| why(run, course)));
    }
    let off = |load: &LoadCheck| load.mean_bytes_per_s[1] / load.mean_bytes_per_s[0] - 1.0;
    for op in ["read", "write", "mixed"] {
        let loads = checked.iter().flat_map(|run| &run.loads);
        let loads = loads.filter(|load| load.op == op && load.mean_bytes_per_s[0] > 0.0);
        // By how many times, so that half and twice are as far off.
        let worst = loads.map(off).max_by(|a, b| a.ln_1p().abs().total_cmp(&b.ln_1p().abs()));
        let worst = worst.filter(|off| off.abs() > SPEED_OFF_SHARE);
        misfits.extend(worst.map(|off| Misfit::Throttle {
            off,
            writes: op == "write",
            mixed: op == "mixed",
        }));
    }
    (SelfCheck { runs: checked }, misfits)
}

fn run_check(fitted: &Fitted, run: &RunData) -> RunCheck {
    let mut sample = fitted.best.clone();
    if let (Some(own), Some(mean)) = (run.ambient_k, fitted.common.ambient_k) {
        sample.rest_k += own - mean;
    }
    let shown: Vec<LoadSecond> = replay(&sample.profile(&fitted.common), run);
    let readings: Vec<[f64; 3]> = run
        .readings
        .iter()
        .filter_map(|reading| {
            let second = shown.get((reading.t_s - 0.5).max(0.0) as usize)?;
            Some([reading.t_s, reading.kelvin + 0.5 * run.resolution_k, second.kelvin])
        })
        .collect();
    let squares: f64 = readings.iter().map(|[_, seen, found]| (seen - found).powi(2)).sum();
    let speeds: Vec<[f64; 2]> = run
        .steps
        .iter()
        .zip(&shown)
        .map(|(step, second)| [1e9 * (step.read + step.write), second.bytes])
        .collect();
    RunCheck {
        name: run.name.clone(),
        rms_k: (squares / readings.len().max(1) as f64).sqrt(),
        loads: loads(run, &speeds),
        speeds,
        readings,
    }
}

fn loads(run: &RunData, speeds: &[[f64; 2]]) -> Vec<LoadCheck> {
    let mut loads = Vec::new();
    let mut from = 0;
    for steps in run.steps.chunk_by(LoadStep::goes_on) {
        let to = from + steps.len();
        let op = match steps[0].asked {
            Asked::Read => Some("read"),
            Asked::Write => Some("write"),
            Asked::Mixed => Some("mixed"),
            Asked::Nothing | Asked::Limited => None,
        };
        if let Some(op) = op.filter(|_| steps.len() >= LEAST_STRETCH_S) {
            let part = &speeds[from.min(speeds.len())..to.min(speeds.len())];
            let mean = |of: usize| part.iter().map(|speed| speed[of]).sum::<f64>() / part.len().max(1) as f64;
            loads.push(LoadCheck {
                from_s: from as f64,
                to_s: to as f64,
                op,
                mean_bytes_per_s: [mean(0), mean(1)],
            });
        }
        from = to;
    }
    loads
}

/// What the residuals of the heat model show.
fn why(run: &RunData, course: &[f64]) -> Vec<Misfit> {
    let missed =
        |reading: &crate::data::FitReading| reading.kelvin + 0.5 * run.resolution_k - at(course, reading.t_s);
    let mean = |of: &mut dyn Iterator<Item = f64>| {
        let (sum, count) = of.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        if count > 0.0 { sum / count } else { 0.0 }
    };
    let mut found = Vec::new();
    let mut written = false;
    let resting: Vec<bool> = run
        .steps
        .iter()
        .map(|step| {
            written |= step.write > 0.0;
            written && step.read + step.write == 0.0
        })
        .collect();
    let is_resting = |t_s: f64| resting.get(t_s as usize).copied().unwrap_or(false);
    let warmer_k = mean(&mut run.readings.iter().filter(|reading| is_resting(reading.t_s)).map(missed));
    if warmer_k > WARM_REST_K {
        found.push(Misfit::WarmRest { warmer_k });
    }
    let third = run.readings.len() / 3;
    if third > 0 {
        let moved_k = mean(&mut run.readings[2 * third..].iter().map(missed))
            - mean(&mut run.readings[..third].iter().map(missed));
        if moved_k.abs() > DRIFT_K {
            found.push(Misfit::Drift { moved_k });
        }
    }
    found
}
