//! Other power states: what is full speed there, what a byte costs, and whether throttling takes its shares of that.

use measure::Seed;

use crate::air::rises;
use crate::closed::class_loss;
use crate::data::RunData;
use crate::fitting::Fitting;
use crate::heat::at;
use crate::sample::{DriveSample, StateShare};
use crate::speed::{SlowStretch, full, ln_levels, slow};
use analysis::posterior::Draws;

/// Energy of a byte over that in the first state: the published table has 0.8 to 1 (VALIDATION, PS5 to PS7).
const ENERGY_SD: f64 = 0.3;
const ENERGY: (f64, f64) = (0.3, 2.0);
/// Readings are worth one in 16 s, and miss by 0.35 K at least, as in the fit of heat.
const APART_S: f64 = 16.0;
const LEAST_SD_K: f64 = 0.35;
/// How far the odds of the two ways to throttle are trusted: as those of classes.
const TEMPER: f64 = 0.125;

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
    let full = full(runs);
    let slow: Vec<SlowStretch> = runs.iter().map(|run| slow(run, &full)).collect();
    let levels: Vec<Vec<f64>> = runs.iter().zip(&slow).map(|(run, slow)| ln_levels(run, slow)).collect();
    let full = full.map(|full| if full.seen { full.value } else { 0.0 });
    let common = fitting.common.clone();
    let mut share = |sample: &DriveSample, scales_throttling: bool, noise: f64| {
        let energy = energy(sample, runs, &levels, common.ambient_k, noise, draws);
        StateShare { state, full, energy, scales_throttling }
    };
    let loss = |scales_throttling: bool, share: StateShare| {
        let mut sample = fitting.best.clone();
        sample.states.push(StateShare { scales_throttling, ..share });
        let there = sample.in_state(state).expect("it was just added");
        class_loss(&there, runs, &common)
    };
    let best = share(&fitting.best, false, 0.0);
    let ahead = TEMPER * (loss(false, best) - loss(true, best));
    let scaling = 1.0 / (1.0 + (-ahead).exp());
    let count = fitting.samples.len() as f64;
    for (number, sample) in fitting.samples.iter_mut().enumerate() {
        // Spread over the samples, whose order says nothing else.
        let unit = (number as f64 * GOLDEN + 0.5 / count).fract();
        sample.states.push(share(sample, unit < scaling, 1.0));
    }
    fitting.best.states.push(StateShare { scales_throttling: scaling > 0.5, ..best });
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
        rows.extend(run.readings.iter().map(|r| {
            let [read, write] = [0, 1].map(|op| at(&courses[op], r.t_s));
            let rest_k = air_k.zip(run.ambient_k).map_or(0.0, |(air_k, own_k)| own_k + sample.rest_k - air_k);
            [read, write, r.kelvin + 0.5 * run.resolution_k - rest_k]
        }));
        if air_k.is_none() || run.ambient_k.is_none() {
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
