//! Other power states: what is full speed there, what a byte costs, and whether throttling takes its shares of that.

use measure::Seed;

use crate::air::rises;
use crate::closed::class_loss;
use crate::data::{FitReading, LoadStep, RunData};
use crate::fitting::Fitting;
use crate::heat::at;
use crate::mixed::full_at;
use crate::onset::{OnsetGroup, groups, onset_k};
use crate::regulator::{self, Regulated};
use crate::sample::{DriveSample, StateShare, Throttle, ThrottleAct};
use crate::speed::{FittedSpeed, SlowStretch, full, ln_levels, slow};
use crate::stairs;
use analysis::posterior::Draws;
use physics::profile::Gains;

/// Energy of a byte over that in the first state: the published table has 0.8 to 1 (VALIDATION, PS5 to PS7).
const ENERGY_SD: f64 = 0.3;
const ENERGY: (f64, f64) = (0.3, 2.0);
/// Readings are worth one in 16 s, and miss by 0.35 K at least, as in the fit of heat.
const APART_S: f64 = 16.0;
const LEAST_SD_K: f64 = 0.35;
/// Looks at energies and levels in turn.
const ROUNDS: usize = 2;
/// How far the odds of the two ways to throttle are trusted: what they are worth on the tuned half of the scored drives,
/// where a loss less by 14 and more was right 24 of 24 times, and one less by 3 to 14 in 6 of 8.
const TEMPER: f64 = 0.25;

/// Takes runs in other power states.
pub(crate) fn take(fitting: &mut Fitting, others: &[RunData]) {
    let mut states: Vec<u8> = others.iter().filter_map(|run| run.power_state).collect();
    states.sort_unstable();
    states.dedup();
    let mut draws = Draws::new(Seed::new(3));
    for state in states {
        let runs: Vec<RunData> =
            others.iter().filter(|run| run.power_state == Some(state)).cloned().collect();
        take_state(fitting, state, &runs, &mut draws);
    }
}

fn take_state(fitting: &mut Fitting, state: u8, runs: &[RunData], draws: &mut Draws) {
    let own = full(runs);
    let mut slow: Vec<SlowStretch> = runs.iter().map(|run| slow(run, &own)).collect();
    let stepped = stairs::seen(runs, &slow);
    let groups = groups(runs, &mut slow, stepped);
    let first = [0, 1].map(|op| fitting.best.full[op]);
    let [beside, scaling] = [false, true].map(|scales| StateRuns {
        state,
        runs,
        full: own,
        scales,
        slow: if scales { slow.clone() } else { of_first(&slow, runs, own, first) },
        most: [0, 1].map(|op| if scales { f64::INFINITY } else { own[op].value / first[op] }),
        groups: &groups,
        air_k: fitting.common.ambient_k,
    });
    let best = [&beside, &scaling].map(|of| of.share(&fitting.best, 0.0, draws));
    let loss = |share: &StateShare| {
        let mut sample = fitting.best.clone();
        sample.states = vec![share.clone()];
        let there = sample.in_state(state).expect("it was just added");
        class_loss(&there, runs, &fitting.common)
    };
    let ahead = TEMPER * (loss(&best[0]) - loss(&best[1]));
    let odds = 1.0 / (1.0 + (-ahead).exp());
    let count = fitting.samples.len() as f64;
    for (number, sample) in fitting.samples.iter_mut().enumerate() {
        // Spread over the samples, whose order says nothing else.
        let unit = (number as f64 * GOLDEN + 0.5 / count).fract();
        let of = if unit < odds { &scaling } else { &beside };
        let share = of.share(sample, 1.0, draws);
        sample.states.push(share);
    }
    let [beside, scaling] = best;
    fitting.best.states.push(if odds > 0.5 { scaling } else { beside });
}

/// Shares of the first state's full speed; which seconds heat held back stays.
fn of_first(
    slow: &[SlowStretch],
    runs: &[RunData],
    own: [FittedSpeed; 2],
    first: [f64; 2],
) -> Vec<SlowStretch> {
    let own = own.map(|own| own.value);
    // What asks for less has no share.
    let times = |step: &LoadStep| full_at(step, own) / full_at(step, first);
    let scaled = |(slow, run): (&SlowStretch, &RunData)| SlowStretch {
        share: slow.share.iter().zip(&run.steps).map(|(share, step)| Some((*share)? * times(step))).collect(),
        slow: slow.slow.clone(),
        most: slow.most.clone(),
    };
    slow.iter().zip(runs).map(scaled).collect()
}

/// Runs in one other state, as throttling there is taken to be.
struct StateRuns<'a> {
    state: u8,
    runs: &'a [RunData],
    /// Full speed there: reading, writing.
    full: [FittedSpeed; 2],
    scales: bool,
    slow: Vec<SlowStretch>,
    /// What the state leaves of the speed that shares are taken of.
    most: [f64; 2],
    groups: &'a [OnsetGroup],
    air_k: Option<f64>,
}

impl StateRuns<'_> {
    /// What the state changes for a sample.
    fn share(&self, sample: &DriveSample, noise: f64, draws: &mut Draws) -> StateShare {
        let mut levels: Vec<Vec<f64>> =
            self.runs.iter().zip(&self.slow).map(|(run, slow)| ln_levels(run, slow)).collect();
        let mut throttles = sample.throttles.clone();
        // A regulator that is at work below what the state allows anyway shows in no speed, only in the heat.
        for _ in 0..if self.groups.is_empty() { 0 } else { ROUNDS } {
            let energy = energy(sample, self.runs, &levels, self.air_k, 0.0, draws);
            let courses = self.courses(sample, &levels, energy);
            for (throttle, known) in throttles.iter_mut().zip(&sample.throttles) {
                let Some(group) = self.groups.iter().find(|group| group.follows == known.follows) else {
                    continue;
                };
                *throttle = self.throttle(group, known, &courses, &mut levels);
            }
        }
        let energy = energy(sample, self.runs, &levels, self.air_k, noise, draws);
        let throttles = if self.groups.is_empty() { Vec::new() } else { throttles };
        let mut drawn = |full: FittedSpeed| (full.value + noise * full.sd * draws.normal()).max(1e-6);
        // 0 stands for one that was not seen.
        let full = self.full.map(|full| if full.seen { drawn(full) } else { 0.0 });
        StateShare { state: self.state, full, energy, scales_throttling: self.scales, throttles }
    }

    /// A throttle as these runs have it; the levels of a regulator go to `levels`.
    fn throttle(
        &self,
        group: &OnsetGroup,
        known: &Throttle,
        courses: &[Vec<f64>],
        levels: &mut Vec<Vec<f64>>,
    ) -> Throttle {
        let mut throttle = known.clone();
        if let ThrottleAct::Regulator(numbers) | ThrottleAct::DutyCycled(numbers) = &mut throttle.act {
            let [share_per_k, share_per_k_s, floor_share] = *numbers;
            let gains = Gains { share_per_k, share_per_k_s, floor_share };
            let known = Regulated { on_k: known.on_k, gains };
            let (found, shares) =
                regulator::in_state(group, self.runs, &self.slow, courses, self.most, &known);
            throttle.on_k = found.on_k;
            *numbers = [found.gains.share_per_k, found.gains.share_per_k_s, floor_share];
            *levels = shares.into_iter().map(|shares| shares.into_iter().map(f64::ln).collect()).collect();
        } else {
            // Where it set in by this state's course: what that is wrong by cancels.
            let found_k = match throttle.act {
                ThrottleAct::Stairs([step_share, each_k, _]) if self.scales => {
                    stairs::first_k(group, self.runs, &self.slow, courses, (step_share, each_k))
                }
                // The first steps lie above what the state allows, and show nothing.
                ThrottleAct::Stairs(_) => None,
                _ => onset_k(group, self.runs, courses),
            };
            throttle.on_k = found_k.unwrap_or(throttle.on_k);
        }
        throttle
    }

    /// Temperatures of the runs, as a sample has them with these energies.
    fn courses(&self, sample: &DriveSample, levels: &[Vec<f64>], energy: [f64; 2]) -> Vec<Vec<f64>> {
        let mut there = sample.clone();
        (0..2).for_each(|op| there.gain_k[op] *= energy[op]);
        let course = |(run, levels): (&RunData, &Vec<f64>)| {
            let mut course = rises(&there, run, levels);
            let missed = |r: &FitReading| r.kelvin + 0.5 * run.resolution_k - at(&course, r.t_s);
            // Where it rested is what the readings say, if nothing else does.
            let rest_k = rest_k(sample, run, self.air_k).unwrap_or_else(|| {
                run.readings.iter().map(missed).sum::<f64>() / run.readings.len().max(1) as f64
            });
            course.iter_mut().for_each(|kelvin| *kelvin += rest_k);
            course
        };
        self.runs.iter().zip(levels).map(course).collect()
    }
}

/// Where a sample rests in the air of a run; `None` where that or the air it was fitted in is not known.
fn rest_k(sample: &DriveSample, run: &RunData, air_k: Option<f64>) -> Option<f64> {
    air_k.zip(run.ambient_k).map(|(air_k, own_k)| own_k + sample.rest_k - air_k)
}

/// Steps by this part of a turn fill it evenly.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// What a byte costs there, over what it cost in the runs that `sample` was fitted to: reading, writing. Least squares
/// under the measured speeds, with a prior of 1; drawn from what the readings leave open, times `noise`.
fn energy(
    sample: &DriveSample,
    runs: &[RunData],
    levels: &[Vec<f64>],
    air_k: Option<f64>,
    noise: f64,
    draws: &mut Draws,
) -> [f64; 2] {
    let alone = |op: usize| {
        let mut one = sample.clone();
        one.gain_k[1 - op] = 0.0;
        one
    };
    let [reads, writes] = [alone(0), alone(1)];
    // Rows of the two rises and the reading over rest.
    let mut rows: Vec<[f64; 3]> = Vec::new();
    for (run, levels) in runs.iter().zip(levels) {
        let courses = [&reads, &writes].map(|sample| rises(sample, run, levels));
        let from = rows.len();
        let rest_k = rest_k(sample, run, air_k);
        rows.extend(run.readings.iter().map(|r| {
            let [read, write] = [0, 1].map(|op| at(&courses[op], r.t_s));
            [read, write, r.kelvin + 0.5 * run.resolution_k - rest_k.unwrap_or(0.0)]
        }));
        if rest_k.is_none() {
            // Where it rested is what the readings say.
            let count = (rows.len() - from).max(1) as f64;
            let mean = [0, 1, 2].map(|at| rows[from..].iter().map(|row| row[at]).sum::<f64>() / count);
            rows[from..].iter_mut().for_each(|row| (0..3).for_each(|at| row[at] -= mean[at]));
        }
    }
    let period_s = runs.iter().map(|run| run.period_s).fold(0.0, f64::max);
    solve(&rows, (APART_S / period_s.max(1.0)).max(1.0), noise, draws)
}

/// The two factors by least squares with their prior; drawn about them by their covariance times `noise`.
fn solve(rows: &[[f64; 3]], alike: f64, noise: f64, draws: &mut Draws) -> [f64; 2] {
    let sum = |a: usize, b: usize| rows.iter().map(|row| row[a] * row[b]).sum::<f64>();
    let squares =
        |of: [f64; 2]| rows.iter().map(|row| (row[2] - of[0] * row[0] - of[1] * row[1]).powi(2)).sum::<f64>();
    let solved = |prior: f64| {
        let (rr, rw, ww) = (sum(0, 0) + prior, sum(0, 1), sum(1, 1) + prior);
        let (r, w) = (sum(0, 2) + prior, sum(1, 2) + prior);
        let determinant = rr * ww - rw * rw;
        let at = [(ww * r - rw * w) / determinant, (rr * w - rw * r) / determinant];
        (at, [rr, rw, ww], determinant)
    };
    // What a reading misses by comes from a first look.
    let first = solved(LEAST_SD_K.powi(2) * alike / ENERGY_SD.powi(2)).0;
    let sd_k = (squares(first) / rows.len().max(1) as f64).sqrt().max(LEAST_SD_K);
    let ([read, write], [rr, rw, _], determinant) = solved(sd_k.powi(2) * alike / ENERGY_SD.powi(2));
    // Cholesky of the inverse of the normal matrix: the first by itself, the second after it.
    let scale = noise * sd_k * alike.sqrt();
    let (a, b) = (draws.normal(), draws.normal());
    let write_off = scale * (rr / determinant).sqrt() * a;
    let read_off = -rw / rr * write_off + scale / rr.sqrt() * b;
    [read + read_off, write + write_off].map(|energy| energy.clamp(ENERGY.0, ENERGY.1))
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: the two factors come back, and one that no reading shows stays at its prior.
    #[test]
    fn energies_are_solved_for() {
        let mut draws = Draws::new(Seed::new(1));
        let row = |t: f64| {
            let [read, write] = [20.0 * (t / 40.0).sin().abs(), 15.0 * (t / 70.0).cos().abs()];
            [read, write, 0.8 * read + 1.1 * write]
        };
        let rows: Vec<[f64; 3]> = (0..600).map(|t| row(f64::from(t))).collect();
        let [read, write] = solve(&rows, 16.0, 0.0, &mut draws);
        assert!((read - 0.8).abs() < 0.005 && (write - 1.1).abs() < 0.005, "{read} {write}");
        let only: Vec<[f64; 3]> = rows.iter().map(|row| [row[0], 0.0, 0.8 * row[0]]).collect();
        let [read, write] = solve(&only, 16.0, 0.0, &mut draws);
        assert!((read - 0.8).abs() < 0.005 && (write - 1.0).abs() < 1e-9, "{read} {write}");
    }
}
