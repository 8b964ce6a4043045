//! Advice against an exhaustive search: how much speed a recommended setting costs over the best one there is, and
//! whether it keeps to its limit.

use fit::Fitted;
use fit::recommend::{Bounds, Goal, recommend};
use fit::simulate::outcome;
use measure::time::{Clock as _, MonotonicClock};

use super::ask::Question;
use super::drives::TestDrive;
use super::log::{Room, seconds};

/// What came of an advice.
pub(super) struct Regret {
    /// Share of the best speed that it costs.
    pub(super) lost: f64,
    /// By how much it is hotter than the limit, in kelvins; below 0 it is cooler.
    pub(super) over_k: f64,
    /// Setting by setting, for whoever works on it.
    pub(super) text: String,
    /// How long the advice took, in milliseconds.
    pub(super) took_ms: f64,
}

/// Asks for the fastest setting below a limit, and tries all on the drive itself; `None` where TMT is not settable or
/// nothing may be set that keeps to the limit.
pub(super) fn of(drive: &TestDrive, fitted: &Fitted) -> Option<Regret> {
    if !drive.has_hctm() {
        return None;
    }
    let load = Question::tmt().load(drive);
    // What any setting makes of the drive: its speed, its peak.
    let truth = |tmt_k: [u16; 2]| {
        let room = Room { tmt_k, ..Room::default() };
        let of: Vec<_> =
            seconds(drive, room, &load).iter().map(|seconds| outcome(seconds, |_| 0.0)).collect();
        let speed = of.iter().map(|phase| phase.mean_bytes_per_s).sum::<f64>();
        (speed, of.iter().map(|phase| phase.peak_k).fold(0.0, f64::max))
    };
    let below_k = f64::from(drive.tmt_k[0]) + LIMIT_OVER_TMT1_K;
    let bounds = Bounds { below_k: Some(below_k), at_least_bytes_per_s: None };
    let clock = MonotonicClock::start();
    let advice = recommend(fitted, &fit::Scenario::default(), &load, Goal::Fastest, bounds);
    let took_ms = 1e3 * clock.now().as_secs_f64();
    let settings = advice.choices.first()?.settings;
    // A rate is judged by its forecast: this compares settings.
    if settings.rate_bytes_per_s.is_some() {
        return None;
    }
    let chosen_tmt = [settings.tmt1_k.unwrap_or(drive.tmt_k[0]), settings.tmt2_k.unwrap_or(drive.tmt_k[1])];
    let chosen = truth(chosen_tmt);
    let least = drive.tmt_k[0] - 8;
    let most = (below_k as u16 + 4).min(drive.most_tmt_k() - 1);
    let all = (least..=most)
        .flat_map(|tmt1_k| [3, 8, 60].map(|gap_k| [tmt1_k, (tmt1_k + gap_k).min(drive.most_tmt_k())]));
    let best = all.map(|tmt_k| (truth(tmt_k), tmt_k)).filter(|((_, peak_k), _)| *peak_k < below_k);
    let (best, best_tmt) =
        best.map(|((speed, _), tmt_k)| (speed, tmt_k)).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let text = format!(
        "chose {chosen_tmt:?}: {:.3} GB/s, {:.1} K; best {best_tmt:?}: {:.3} GB/s; below {below_k} K, run at {:?}, \
         predicted {:?}",
        chosen.0 / 1e9,
        chosen.1,
        best / 1e9,
        drive.tmt_k,
        advice.choices[0].predicted.phases.iter().map(|p| (p.mean_bytes_per_s, p.peak_k)).collect::<Vec<_>>()
    );
    Some(Regret { lost: 1.0 - chosen.0 / best, over_k: chosen.1 - below_k, text, took_ms })
}

/// How far the limit lies above the TMT1 of the run, in kelvins.
const LIMIT_OVER_TMT1_K: f64 = 8.0;
