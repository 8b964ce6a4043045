//! Scores forecasts: `score forecast [--drives N] [--half scored|tuned] [--plan NAME] [--fan] [--state] [--log]
//! [--two-poles] [--wrong]`.
//!
//! Each drive has one run, which is fitted; then it is asked what it would do at other settings, in other air, under
//! another load. The truth is the same drive, asked. Drive number N is made from seed N: even numbers are tuned on, odd
//! ones only scored. A third of them is foreign: no code of theirs is `physics`. `--fan` adds ten minutes with twice the
//! airflow and asks about that air; `--state` adds ten minutes in another power state, and ten more at the TMT1 that a forecast
//! names where it asks for them, and asks about that state; `--log` takes
//! the run as a bandwidth log beside SMART at a hertz, without phases and settings; `--two-poles` fits two free time
//! constants alone.

mod ask;
mod drives;
mod log;
mod opinion;
mod parameters;
mod regret;
mod state;
mod tally;

use std::sync::atomic::{AtomicU64, Ordering};

use fit::fitting::Shapes;
use measure::Seed;
use measure::time::{Clock as _, MonotonicClock};
use plan::Plan;

use ask::{Question, truth};
use drives::TestDrive;
use parameters::ParameterAnswer;
use tally::{ForecastAnswer, ForecastTally};

/// One for each core of a small machine.
const THREADS: usize = 2;
/// Advice that costs more of the speed is told among what is wrong.
const REGRET: f64 = 0.02;
/// So is advice that breaks its limit by more, in kelvins.
const OVER_K: f64 = 1.0;
/// How far a twin is off beside which forecasts of times are held, in kelvins: as much as intervals of temperatures are
/// wide at least, half of what a sensor of whole kelvins may be off.
const OFF_K: f64 = 0.25;
/// Enough for the table of the documentation.
const DRIVES: u64 = 60;

struct ForecastArguments {
    drives: u64,
    scored: bool,
    plan: String,
    wrong: bool,
    fan: bool,
    state: bool,
    log: bool,
    shapes: Shapes,
    only: Option<u64>,
}

/// Scores and tells; what was typed stands behind `forecast`.
pub(crate) fn run(typed: impl Iterator<Item = String>) -> Result<String, String> {
    let arguments = arguments(typed)?;
    let plan = Plan::builtin(&arguments.plan).map_err(|error| error.to_string())?;
    let next = AtomicU64::new(0);
    let work = || {
        let mut parts = Vec::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= arguments.drives {
                return parts;
            }
            let number = 2 * n + u64::from(arguments.scored);
            if arguments.only.is_none_or(|only| only == number) {
                parts.push((n, score(number, &plan, &arguments)));
            }
        }
    };
    let mut parts: Vec<(u64, ForecastTally)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|t| t.join().expect("scoring does not panic")).collect()
    });
    parts.sort_by_key(|(n, _)| *n);
    let mut sum = ForecastTally::default();
    parts.into_iter().for_each(|(_, part)| sum.add(part));
    let half = if arguments.scored { "scored" } else { "tuned" };
    Ok(sum.text(&format!(
        "{} drives of the {half} half, plan {}; all simulated",
        arguments.drives, arguments.plan
    )))
}

fn arguments(mut typed: impl Iterator<Item = String>) -> Result<ForecastArguments, String> {
    let mut arguments = ForecastArguments {
        drives: DRIVES,
        scored: true,
        plan: "thermal-id".to_owned(),
        wrong: false,
        fan: false,
        state: false,
        log: false,
        shapes: Shapes::Both,
        only: None,
    };
    while let Some(name) = typed.next() {
        let mut value = || typed.next().ok_or(format!("{name} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{text} is no whole number"));
        match name.as_str() {
            "--drives" => arguments.drives = number(value()?)?,
            "--show" => arguments.only = Some(number(value()?)?),
            "--plan" => arguments.plan = value()?,
            "--wrong" => arguments.wrong = true,
            "--fan" => arguments.fan = true,
            "--state" => arguments.state = true,
            "--log" => arguments.log = true,
            "--two-poles" => arguments.shapes = Shapes::TwoFree,
            "--half" => match value()?.as_str() {
                "scored" => arguments.scored = true,
                "tuned" => arguments.scored = false,
                other => return Err(format!("--half is scored or tuned, not {other}")),
            },
            other => {
                return Err(format!(
                    "{other}: known are --drives N, --half scored|tuned, --plan NAME, --fan, --state, --log, --two-poles, --wrong, --show N"
                ));
            }
        }
    }
    Ok(arguments)
}

fn score(number: u64, plan: &Plan, arguments: &ForecastArguments) -> ForecastTally {
    let drive = drives::draw(number);
    let wrong = arguments.wrong;
    let mut tally = ForecastTally::default();
    let mut runs = runs(&drive, plan, arguments);
    let fit = |runs: &[fit::RunData]| {
        let fitting = fit::fitting::fit_shapes(&drive.name, runs, Seed::new(1), arguments.shapes)?;
        Ok::<_, fit::FitError>(fit::Fitted::new(runs, fitting))
    };
    let clock = MonotonicClock::start();
    let mut fitted = match fit(&runs) {
        Ok(fitted) => fitted,
        Err(error) => {
            tally.note(format!("{number} {}: {error}", drive.name));
            return tally;
        }
    };
    if arguments.state && state::is_undecided(&drive, &fitted) {
        runs.insert(0, state::run(&drive, state::lower_tmt_k(&drive, &fitted)));
        fitted = fit(&runs).expect("one more run is no less");
    }
    tally.fit_ms.push(1e3 * clock.now().as_secs_f64());
    if wrong {
        tally.note(describe(number, &drive, &fitted));
        tally.note(drive.truth());
    }
    for question in Question::all(&drive, arguments.fan, arguments.state) {
        let load = question.load(&drive);
        let clock = MonotonicClock::start();
        let forecast = fit::predict(&fitted, &question.scenario(&drive), &load);
        tally.predict_ms.push(1e3 * clock.now().as_secs_f64());
        let [truths, cooler, warmer] =
            [0.0, -OFF_K, OFF_K].map(|off_k| truth(&drive, &question, &load, off_k));
        for (at, predicted) in forecast.phases.iter().enumerate() {
            let answer = ForecastAnswer {
                question: question.kind,
                foreign: drive.is_foreign(),
                predicted,
                truth: truths[at],
                off: [cooler[at], warmer[at]],
            };
            if wrong && (answer.predicted.beyond || !answer.right()) {
                let right = if answer.right() { "right" } else { "wrong" };
                tally.note(format!("  {right} {:?} {}", question, answer.text()));
            }
            tally.count(&answer);
        }
    }
    let first = runs.iter().find(|run| run.power_state != Some(state::STATE)).expect("it is the fit's");
    tally.gains.extend(gains(&drive, &fitted, &first.findings));
    tally.opinions.extend(opinion::of(&drive, &fitted, &first.findings));
    let answers = parameters::of(&drive, &fitted);
    if wrong {
        answers
            .iter()
            .filter_map(ParameterAnswer::wrong)
            .for_each(|text| tally.note(format!("  wrong {text}")));
    }
    tally.parameters.extend(answers);
    if let Some(regret) = regret::of(&drive, &fitted) {
        tally.recommend_ms.push(regret.took_ms);
        if wrong && (regret.lost > REGRET || regret.over_k > OVER_K) {
            tally.note(format!("  regret {}", regret.text));
        }
        tally.regrets.push(regret);
    }
    tally
}

/// What somebody would have recorded of the drive.
fn runs(drive: &TestDrive, plan: &Plan, arguments: &ForecastArguments) -> Vec<fit::RunData> {
    let room = log::Room { tmt_k: drive.tmt_k, ..log::Room::default() };
    let mut trace = log::record(drive, &fit::load::phases(plan, None), room);
    if arguments.log {
        trace::infer_phases(&mut trace);
        trace.settings = measure::Series::new();
    }
    let air_k = Some(drive.ambient_k());
    let quick = || fit::load::phases(&Plan::builtin("thermal-id-quick").expect("it is built in"), None);
    let mut run = fit::RunData::new(&trace, air_k);
    let mut runs = Vec::new();
    if arguments.state {
        run.power_state = Some(0);
        // The fit is of the state of the last run.
        runs.push(state::run(drive, drive.tmt_k));
    }
    runs.push(run);
    if arguments.fan {
        let room = log::Room { aired: true, ..room };
        let aired = log::record(drive, &quick(), room);
        runs.push(fit::RunData::new(&aired, air_k).at_airflow(log::AIRFLOW));
    }
    runs
}

/// How far gains are off, as shares: by the fit, and by the verdict's own heating model where it gives one. Only of drives
/// whose gain is a number: a foreign one's changes with its temperature.
fn gains(
    drive: &TestDrive,
    fitted: &fit::Fitted,
    findings: &analysis::Findings,
) -> Vec<(f64, Option<(f64, bool)>)> {
    let Some(truth) = drive.gains_k() else { return Vec::new() };
    let thermal = &findings.thermal;
    let reads = thermal.kelvin_per_gb_per_s_read.zip(thermal.kelvin_per_gb_per_s_read_90);
    let writes = thermal.kelvin_per_gb_per_s_write.zip(thermal.kelvin_per_gb_per_s_write_90);
    let off = |found: f64, truth: f64| (found / truth - 1.0).abs();
    let theirs = |op: usize| {
        let (gain, [low, high]) = [reads, writes][op]?;
        Some((off(gain, truth[op]), (low..=high).contains(&truth[op])))
    };
    let ran = (0..2).filter(|op| fitted.seen.ran[*op]);
    ran.map(|op| (off(fitted.best.gain_k[op], truth[op]), theirs(op))).collect()
}

fn describe(number: u64, drive: &TestDrive, fitted: &fit::Fitted) -> String {
    let best = &fitted.best;
    let acts: Vec<String> = fitted
        .samples
        .iter()
        .map(|sample| {
            let names = sample
                .throttles
                .iter()
                .map(|throttle| format!("{:?}", throttle.act).chars().take(3).collect::<String>());
            names.collect::<Vec<_>>().join("+")
        })
        .collect();
    let mut counted: Vec<(String, usize)> = Vec::new();
    for act in acts {
        match counted.iter_mut().find(|(name, _)| *name == act) {
            Some((_, count)) => *count += 1,
            None => counted.push((act, 1)),
        }
    }
    format!(
        "{number} {} rms {:.2} K, full {:.3?}, gain {:.2?}, exponent {:.2?}, lag {:.1}, classes {counted:?}\n    {:?}",
        drive.name, fitted.residual_rms_k, best.full, best.gain_k, best.exponent, best.lag_s, best.throttles
    )
}
