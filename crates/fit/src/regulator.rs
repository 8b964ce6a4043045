//! The numbers of a regulator, read off a sample's own course: threshold and gains with which it would have left the
//! shares of full speed that were measured.
//!
//! The law is that of `physics`, driven by the course and not by a simulated temperature: a second costs a few
//! operations, and what a sample has wrong about heat and about gains cancels. An error of the course of a tenth of a
//! kelvin adds up over minutes, so the share that is followed is drawn slowly towards the one that was measured
//! (Luenberger's observer, IEEE Trans. Mil. Electron. 8, 1964); what it misses by on the way is what is made least.

use analysis::posterior::{Draws, least};
use physics::profile::Gains;

use crate::data::{Asked, RunData, STEP_S};
use crate::onset::{OnsetGroup, setting_k};
use crate::simulate::THROTTLED_SHARE;
use crate::speed::SlowStretch;

/// From how far below its threshold a regulator looks on, as the built-in ones do.
pub(crate) const REGULATOR_K: f64 = 8.0;
/// Seconds in which the share that is followed comes to the measured one.
const OBSERVER_S: f64 = 30.0;
/// What a share misses by besides the scatter of the speed: firmware's steps, errors of the course.
const SHARE_SD: f64 = 0.02;
/// Neighbouring seconds are wrong together: one in so many counts.
const APART_S: f64 = 16.0;
/// Before any data: how far a threshold lies from where it was held, in kelvins; gains of the built-in drives and of
/// firmware that only integrates, and the deviation of their logarithms.
const ON_SD_K: f64 = 2.0;
const PER_K: f64 = 0.04;
const PER_K_S: f64 = 0.0015;
const GAIN_SD: f64 = 1.2;
/// Where looking begins besides the middle of the prior: a regulator that only integrates.
const INTEGRATES: [f64; 2] = [0.004, 0.004];
/// How far the numbers in another power state may lie from those in the first: it is the same firmware, and only what its
/// course of temperature is wrong by is another part of a kelvin.
const STATE_ON_SD_K: f64 = 0.25;
const STATE_GAIN_SD: f64 = 0.05;
/// Steps of least squares.
const STEPS: usize = 10;
/// Share of a step that ends them.
const ENDS: f64 = 1e-3;

/// What a regulator does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Regulated {
    /// Its threshold in kelvins, over the setting that it follows.
    pub(crate) on_k: f64,
    pub(crate) gains: Gains,
}

/// A run as its regulator has it.
struct Watched<'a> {
    /// Temperature over the setting at the beginning of each second, and at the end.
    course: &'a [f64],
    setting_k: f64,
    /// Share of full speed, where it is known and nothing else held the drive back.
    share: Vec<Option<f64>>,
    loaded: Vec<bool>,
    writes: Vec<bool>,
    /// Share of full speed above which nothing shows, because the power state or the load allows no more.
    most: Vec<f64>,
}

/// Reads one off the courses of a sample; it holds about `held_k` over the setting, and goes down to `floor_share`.
pub(crate) fn read_off(
    group: &OnsetGroup,
    runs: &[RunData],
    slow: &[SlowStretch],
    courses: &[Vec<f64>],
    (held_k, floor_share): (f64, f64),
    draws: &mut Draws,
) -> Regulated {
    let watched: Vec<Watched<'_>> =
        (0..runs.len()).map(|run| watched(group, run, &runs[run], &slow[run], &courses[run])).collect();
    let prior = [(held_k, ON_SD_K), (PER_K.ln(), GAIN_SD), (PER_K_S.ln(), GAIN_SD)];
    let starts = [[PER_K, PER_K_S], INTEGRATES].map(|gains| [held_k, gains[0].ln(), gains[1].ln()]);
    let (mut theta, covariance) = nearest(&watched, prior, &starts, floor_share);
    if let Some(lower) = least::cholesky(&covariance) {
        let noise: Vec<f64> = theta.iter().map(|_| draws.normal()).collect();
        for (value, row) in theta.iter_mut().zip(&lower) {
            *value += row.iter().zip(&noise).map(|(l, z)| l * z).sum::<f64>();
        }
    }
    words(&theta, floor_share)
}

/// Parameters in words: threshold, logarithms of the gains.
fn words(theta: &[f64], floor_share: f64) -> Regulated {
    Regulated {
        on_k: theta[0],
        gains: Gains { share_per_k: theta[1].exp(), share_per_k_s: theta[2].exp(), floor_share },
    }
}

/// The regulator that follows the shares best, and how well they tell it; `prior` has a mean and a deviation each.
fn nearest(
    watched: &[Watched<'_>],
    prior: [(f64, f64); 3],
    starts: &[[f64; 3]],
    floor_share: f64,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    // Reads and writes apart: what swings tells less than what stands.
    let sd = [false, true].map(|writes| scatter(watched, writes).hypot(SHARE_SD) * APART_S.sqrt());
    let residuals = |theta: &[f64]| -> Vec<f64> {
        let tried = words(theta, floor_share);
        let missed =
            |run: &Watched<'_>| follow(run, &tried, |missed, writes| missed / sd[usize::from(writes)]).0;
        let mut missed: Vec<f64> = watched.iter().flat_map(missed).collect();
        missed.extend(prior.iter().zip(theta).map(|((mean, sd), value)| (value - mean) / sd));
        missed
    };
    let squares = |theta: &[f64]| residuals(theta).iter().map(|missed| missed * missed).sum::<f64>();
    let found = starts.iter().map(|start| least::fit_until(start.to_vec(), ENDS, STEPS, &residuals));
    found.min_by(|a, b| squares(&a.0).total_cmp(&squares(&b.0))).expect("there is a start")
}

/// What a regulator did in runs in another power state: its numbers, near those of `known`, and its level second by second.
pub(crate) fn in_state(
    group: &OnsetGroup,
    runs: &[RunData],
    slow: &[SlowStretch],
    courses: &[Vec<f64>],
    most: [f64; 2],
    known: &Regulated,
) -> (Regulated, Vec<Vec<f64>>) {
    let watch = |run: usize| {
        let mut watched = watched(group, run, &runs[run], &slow[run], &courses[run]);
        for (allowed, writes) in watched.most.iter_mut().zip(&watched.writes) {
            *allowed *= most[usize::from(*writes)];
        }
        watched
    };
    let watched: Vec<Watched<'_>> = (0..runs.len()).map(watch).collect();
    let Gains { share_per_k, share_per_k_s, floor_share } = known.gains;
    let means = [known.on_k, share_per_k.ln(), share_per_k_s.ln()];
    let prior = [0, 1, 2].map(|at| (means[at], [STATE_ON_SD_K, STATE_GAIN_SD, STATE_GAIN_SD][at]));
    let found = words(&nearest(&watched, prior, &[means], floor_share).0, floor_share);
    let levels = watched.iter().map(|run| follow(run, &found, |missed, _| missed).1).collect();
    (found, levels)
}

fn watched<'a>(
    group: &OnsetGroup,
    number: usize,
    run: &RunData,
    slow: &SlowStretch,
    course: &'a [f64],
) -> Watched<'a> {
    let mut claimed = vec![false; run.steps.len()];
    for (_, from, to) in group.spans.iter().filter(|span| span.0 == number) {
        claimed[*from..*to].fill(true);
    }
    let share = |at: usize| slow.share[at].filter(|_| claimed[at] || !slow.slow[at]);
    Watched {
        course,
        setting_k: setting_k(run, group.follows),
        share: (0..run.steps.len()).map(share).collect(),
        loaded: run.steps.iter().map(|step| step.read + step.write > 0.0).collect(),
        writes: run.steps.iter().map(|step| step.asked == Asked::Write).collect(),
        most: slow.most.clone(),
    }
}

/// Scatter of a second's share of one operation while it is below full speed.
fn scatter(runs: &[Watched<'_>], writes: bool) -> f64 {
    let (mut count, mut squares) = (0.0, 0.0);
    for run in runs {
        for (pair, of) in run.share.windows(2).zip(run.writes.windows(2)) {
            if let [Some(before), Some(now)] = *pair
                && of == [writes; 2]
                && before.max(now) < THROTTLED_SHARE
            {
                count += 1.0;
                squares += (now - before).powi(2);
            }
        }
    }
    f64::sqrt(0.5 * squares / f64::max(count, 1.0))
}

/// What the shares of a run miss those of a regulator by, as `scaled` has it, and its share second by second.
fn follow(run: &Watched<'_>, tried: &Regulated, scaled: impl Fn(f64, bool) -> f64) -> (Vec<f64>, Vec<f64>) {
    let floor = tried.gains.floor_share;
    let (mut missed, mut shares) = (Vec::with_capacity(run.share.len()), Vec::with_capacity(run.share.len()));
    let mut share: f64 = 1.0;
    for (at, seen) in run.share.iter().enumerate() {
        let (before_k, after_k) = (run.course[at], run.course[at + 1]);
        let excess_k = 0.5 * (before_k + after_k) - run.setting_k - tried.on_k;
        let mut step = tried.gains.step(excess_k, after_k - before_k, STEP_S);
        if !run.loaded[at] || excess_k < -REGULATOR_K {
            step = step.max(0.0);
        }
        let next = (share + step).clamp(floor, 1.0);
        let mean = 0.5 * (share + next);
        if let Some(seen) = seen {
            let most = run.most[at];
            let (shown, seen) = (mean.min(most), seen.min(most));
            missed.push(scaled(shown - seen, run.writes[at]));
            share = (next + (seen - shown) * STEP_S / OBSERVER_S).clamp(floor, 1.0);
        } else {
            share = next;
        }
        shares.push(mean);
    }
    (missed, shares)
}

#[cfg(test)]
mod test {
    use physics::Profile;

    use super::*;
    use crate::load;
    use crate::simulate::{drive, phase_seconds};

    /// Worked example of METHODS: it sets in below its threshold.
    #[test]
    fn a_regulator_sets_in_early_where_it_warms_fast() {
        let gains = Gains { share_per_k: 0.05, share_per_k_s: 0.0008, floor_share: 0.1 };
        assert!((gains.step(-2.0, 0.5, 1.0) + 0.0234).abs() < 1e-9);
    }

    /// Goal: the numbers of a simulated regulator come back from its speeds and its own temperature.
    #[test]
    fn a_regulator_is_found_again() {
        // On at TMT1 (338 K) less 1 K, 0.05 a kelvin, 0.0008 a kelvin and second, down to 0.1.
        let profile = Profile::builtin("regulator").expect("it is built in");
        let plan = plan::Plan::builtin("thermal-id").expect("it is built in");
        let mut drive = drive(&profile);
        let mut course = vec![drive.exact_composite().as_kelvin_f64()];
        let (mut share, mut loaded, mut writes) = (Vec::new(), Vec::new(), Vec::new());
        for phase in load::phases(&plan, None) {
            let full = match phase.read_share {
                Some(1.0) => 3.0e9,
                _ => 1.6e9,
            };
            for second in phase_seconds(&mut drive, &phase) {
                let unlimited = phase.read_share.is_some() && phase.limit_bytes_per_s.is_infinite();
                share.push(unlimited.then_some(second.bytes / full));
                loaded.push(second.bytes > 0.0);
                writes.push(phase.read_share == Some(0.0));
                course.push(second.kelvin);
            }
        }
        let most = vec![f64::INFINITY; share.len()];
        let watched = [Watched { course: &course, setting_k: 338.0, share, loaded, writes, most }];
        let prior = [(0.0, ON_SD_K), (PER_K.ln(), GAIN_SD), (PER_K_S.ln(), GAIN_SD)];
        let found = words(&nearest(&watched, prior, &[[0.0, PER_K.ln(), PER_K_S.ln()]], 0.1).0, 0.1);
        let Regulated { on_k, gains } = found;
        assert!((on_k + 1.0).abs() < 0.05, "{found:?}");
        assert!((gains.share_per_k / 0.05 - 1.0).abs() < 0.05, "{found:?}");
        assert!((gains.share_per_k_s / 0.0008 - 1.0).abs() < 0.05, "{found:?}");
    }
}
