//! Which thresholds explain what all runs show.
//!
//! Up to three: one that follows TMT1, one that follows TMT2, one that stays. Each has one number: how far from its
//! setting it is, or at which temperature. All combinations of numbers that some run suggests are tried, every
//! observation goes to the threshold that explains it best, and the cheapest combination is the explanation. Costs are
//! negative log-likelihoods.

use super::starts::Start;
use super::{Follows, JointMachine, JointPoint, JointRun, mechanism};
use crate::cause::ONE_THRESHOLD_K;
use crate::findings::Cause;
use crate::segment::median;

/// Scale of the error of a temperature: whole kelvins, a reading late. In an absolute cost, so that one run that was
/// misread does not move the threshold.
const ERROR_K: f64 = 0.8;
/// An observation that nothing explains costs no more than this.
const UNEXPLAINED: f64 = 8.0;
/// A further threshold has to explain at least this much: odds 20.
const ANOTHER: f64 = 3.0;
/// A threshold of the drive's own could have been anywhere in 20 K, one that follows lies in 4 K: ln 5.
const ANYWHERE: f64 = 1.6;
/// Where what follows a setting lies: regulators stay up to 3 K below, a late reading is up to 1.5 K above.
const OFFSETS_K: (f64, f64) = (-3.0, 1.5);
/// What one run says of the cause, against its thermometer alone, and against its counters.
const SAID: f64 = 1.0;
const COUNTED: f64 = 4.0;
/// Of a run that began above the threshold, a kelvin is this much of one: it tells little.
const PASSED_BEFORE: f64 = 0.1;
/// A threshold that a run passed by this much at full speed did not act in it.
const PASSED_K: f64 = 2.5;
const PASSED: f64 = 1.5;
const MOST_PASSED: f64 = 6.0;
/// Numbers that are tried for each threshold.
const MOST_TRIED: usize = 24;
/// What moves a threshold is named from this probability on, as heat is in one run.
const NAMED: f64 = 0.7;

const ALL: [Follows; 3] = [Follows::Tmt1, Follows::Tmt2, Follows::Nothing];

/// A threshold with its number in kelvins.
type Rule = (Follows, f64);

/// A threshold, and how sure its mechanism is.
pub(super) struct Explained {
    pub(super) machine: JointMachine,
    pub(super) sure: f64,
}

/// The thresholds, those of the host first.
pub(super) fn machines(runs: &[JointRun], starts: &[Start]) -> Vec<Explained> {
    let points = points(runs);
    let tried = ALL.map(|follows| tried(follows, &points));
    let mut best: (f64, Vec<Rule>) = (f64::INFINITY, Vec::new());
    for tmt1 in &tried[0] {
        for tmt2 in &tried[1] {
            for own in &tried[2] {
                let rules: Vec<Rule> = ALL
                    .into_iter()
                    .zip([tmt1, tmt2, own])
                    .filter_map(|(follows, number)| Some((follows, (*number)?)))
                    .collect();
                let cost = total(runs, &points, &rules);
                if cost < best.0 {
                    best = (cost, rules);
                }
            }
        }
    }
    let rules = best.1;
    let explained_by = |rule: &Rule| -> Vec<JointPoint> {
        let by = |point: &&JointPoint| cheapest(runs, point, &rules).is_some_and(|of| of == *rule);
        points.iter().filter(by).cloned().collect()
    };
    let mut sets: Vec<Vec<JointPoint>> = rules.iter().map(explained_by).collect();
    sets.retain(|points| !points.is_empty());
    let mut found: Vec<Explained> = sets.into_iter().map(|points| machine(runs, points, starts)).collect();
    // Asked of their own observations alone, two thresholds may follow one setting: then they are one.
    while let Some((at, again)) = same_setting(&found) {
        let again = found.remove(again).machine.points;
        let both = found[at].machine.points.drain(..).chain(again).filter(is_placed).collect();
        found[at] = machine(runs, both, starts);
    }
    found
}

/// The first two thresholds that follow the same setting.
fn same_setting(found: &[Explained]) -> Option<(usize, usize)> {
    let follows = |at: usize| found[at].machine.follows;
    let host = |at: &usize| matches!(follows(*at), Follows::Tmt1 | Follows::Tmt2);
    let again =
        (0..found.len()).filter(host).find(|at| (0..*at).any(|other| follows(other) == follows(*at)))?;
    Some(((0..again).find(|at| follows(*at) == follows(again))?, again))
}

/// Whether a point says where its threshold is.
fn is_placed(point: &JointPoint) -> bool {
    temperatures(point).next().is_some()
}

fn points(runs: &[JointRun]) -> Vec<JointPoint> {
    let of_run = |(index, run): (usize, &JointRun)| {
        let (tmt1_k, tmt2_k) = (run.tmt1_k, run.tmt2_k);
        let point = |level: &crate::findings::PolicyLevel| JointPoint {
            run: index,
            tmt1_k,
            tmt2_k,
            onset_k: level.onset_k,
            release_k: level.release_k,
            held_k: level.held_k,
            floor_bytes_per_s: level.floor_bytes_per_s,
            cause: level.cause,
        };
        run.policy.levels.iter().map(point).filter(is_placed).collect::<Vec<_>>()
    };
    runs.iter().enumerate().flat_map(of_run).collect()
}

/// The temperatures that may be the threshold: a load slows down at it, or is held there.
pub(super) fn temperatures(point: &JointPoint) -> impl Iterator<Item = f64> {
    [point.held_k, point.onset_k].into_iter().flatten()
}

/// The numbers to try for a threshold, and going without it.
fn tried(follows: Follows, points: &[JointPoint]) -> Vec<Option<f64>> {
    let mut numbers: Vec<f64> = points
        .iter()
        .filter_map(|p| Some((p, follows.setting_k(p.tmt1_k, p.tmt2_k)?)))
        .flat_map(|(p, setting)| temperatures(p).map(move |k| k - setting))
        .filter(|number| follows == Follows::Nothing || number.abs() <= UNEXPLAINED)
        .collect();
    numbers.sort_by(f64::total_cmp);
    numbers.dedup_by(|a, b| (*a - *b).abs() < 0.25);
    let step = numbers.len().div_ceil(MOST_TRIED).max(1);
    std::iter::once(None).chain(numbers.into_iter().step_by(step).map(Some)).collect()
}

fn total(runs: &[JointRun], points: &[JointPoint], rules: &[Rule]) -> f64 {
    let best = |point: &JointPoint| {
        let each = rules.iter().map(|rule| point_cost(runs, point, *rule));
        each.fold(UNEXPLAINED, f64::min)
    };
    let of_rules = |rule: &Rule| ANOTHER + rule_cost(runs, points, *rule);
    points.iter().map(best).sum::<f64>() + rules.iter().map(of_rules).sum::<f64>()
}

/// What explains a point, if anything does.
fn cheapest(runs: &[JointRun], point: &JointPoint, rules: &[Rule]) -> Option<Rule> {
    let costs = rules.iter().map(|rule| (point_cost(runs, point, *rule), *rule));
    let cheapest = costs.min_by(|a, b| a.0.total_cmp(&b.0))?;
    (cheapest.0 < UNEXPLAINED).then_some(cheapest.1)
}

fn point_cost(runs: &[JointRun], point: &JointPoint, (follows, number): Rule) -> f64 {
    let Some(setting) = follows.setting_k(point.tmt1_k, point.tmt2_k) else { return UNEXPLAINED };
    let run = &runs[point.run];
    // In air so warm that the drive was above it before the load, it is slowed down, and kept, anywhere above.
    let is_passed = run.coolest_loaded_k().is_some_and(|k| k >= setting + number);
    let off = |k: f64| match k - setting - number {
        above if is_passed && above > 0.0 => above * PASSED_BEFORE,
        off => off.abs(),
    };
    let off_k = temperatures(point).map(off).fold(f64::INFINITY, f64::min);
    let counted = run.counted;
    let said = match (point.cause, follows) {
        (Cause::HctmTmt1, Follows::Tmt1) | (Cause::HctmTmt2, Follows::Tmt2) => 0.0,
        (Cause::Vendor, Follows::Nothing) | (Cause::Thermal, _) => 0.0,
        (Cause::HctmTmt1, _) if counted[0] => COUNTED,
        (Cause::HctmTmt2, _) if counted[1] => COUNTED,
        _ => SAID,
    };
    off_k / ERROR_K + said
}

/// What a threshold costs by itself: where it lies, and runs that passed it at full speed.
fn rule_cost(runs: &[JointRun], points: &[JointPoint], (follows, number): Rule) -> f64 {
    let lies = match follows {
        Follows::Nothing => ANYWHERE,
        _ => (OFFSETS_K.0 - number).max(number - OFFSETS_K.1).max(0.0) / ERROR_K,
    };
    let passed = |(index, run): &(usize, &JointRun)| {
        let threshold = follows.setting_k(run.tmt1_k, run.tmt2_k).map(|setting| setting + number);
        let acted =
            points.iter().any(|p| p.run == *index && point_cost(runs, p, (follows, number)) < UNEXPLAINED);
        !acted && threshold.zip(run.hottest_free_k()).is_some_and(|(at, free)| free >= at + PASSED_K)
    };
    let times = runs.iter().enumerate().filter(passed).count() as f64;
    lies + (times * PASSED).min(MOST_PASSED)
}

/// The threshold that these points show: what moves it is asked anew, of them alone.
fn machine(runs: &[JointRun], mut points: Vec<JointPoint>, starts: &[Start]) -> Explained {
    let cost = |follows: Follows| {
        let numbers = tried(follows, &points).into_iter().flatten();
        let costs = numbers.map(|number| (total(runs, &points, &[(follows, number)]), number));
        costs.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(cost, number)| (cost, (follows, number)))
    };
    let costs: Vec<(f64, Rule)> = ALL.into_iter().filter_map(cost).collect();
    let least = costs.iter().map(|(cost, _)| *cost).fold(f64::INFINITY, f64::min);
    let sum: f64 = costs.iter().map(|(cost, _)| (least - cost).exp()).sum();
    let best =
        costs.iter().min_by(|a, b| a.0.total_cmp(&b.0)).map_or((Follows::Nothing, 0.0), |(_, rule)| *rule);
    // Where no setting is known and no run could name a threshold, nothing speaks for the drive's own either.
    let untold = points.iter().all(|p| p.tmt1_k.is_none() && p.tmt2_k.is_none() && p.cause == Cause::Thermal);
    let confidence = if untold { 0.5 } else { (1.0 / sum).min(super::MOST_CERTAIN) };
    let follows = if confidence >= NAMED { best.0 } else { Follows::Undetermined };
    let thresholds: Vec<f64> = points.iter().map(|p| nearest(p, best)).collect();
    let told_k = median(&told(&points, best));
    let settings = |of: Follows| -> Vec<Option<f64>> {
        points.iter().map(|p| of.setting_k(p.tmt1_k, p.tmt2_k)).collect()
    };
    let against = match follows {
        Follows::Tmt2 => slope(&settings(Follows::Tmt2), &thresholds),
        Follows::Tmt1 => slope(&settings(Follows::Tmt1), &thresholds),
        _ => slope(&settings(Follows::Tmt1), &thresholds)
            .or_else(|| slope(&settings(Follows::Tmt2), &thresholds)),
    };
    let (hysteresis_k, release_offset_from_tmt1_k) = mechanism::release(&points, follows, &thresholds);
    for start in starts {
        points.extend(start.at(&points));
    }
    let (mechanism, sure, floor_bytes_per_s) = mechanism::classify(runs, &points, best);
    let one_k = thresholds.iter().all(|k| (k - thresholds[0]).abs() <= OFFSETS_K.1);
    let machine = JointMachine {
        follows,
        confidence,
        mechanism,
        slope: against,
        offset_k: matches!(follows, Follows::Tmt1 | Follows::Tmt2).then_some(best.1),
        threshold_k: (one_k && !matches!(follows, Follows::Tmt1 | Follows::Tmt2)).then_some(told_k),
        hysteresis_k,
        release_offset_from_tmt1_k,
        floor_bytes_per_s,
        points,
    };
    Explained { machine, sure }
}

/// Where a point shows the threshold: of the two temperatures the one nearer to the rule.
fn nearest(point: &JointPoint, (follows, number): Rule) -> f64 {
    let at = follows.setting_k(point.tmt1_k, point.tmt2_k).unwrap_or(0.0) + number;
    temperatures(point).min_by(|a, b| (a - at).abs().total_cmp(&(b - at).abs())).unwrap_or(at)
}

/// The same as each run is told with: its onset, unless the threshold is elsewhere.
fn told(points: &[JointPoint], rule: Rule) -> Vec<f64> {
    let of = |point: &JointPoint| {
        let at = nearest(point, rule);
        point.onset_k.filter(|onset_k| (onset_k - at).abs() <= ONE_THRESHOLD_K).unwrap_or(at)
    };
    points.iter().map(of).collect()
}

/// The slope of least squares; `None` unless the settings differ by more than rounding may make of them.
fn slope(settings: &[Option<f64>], thresholds: &[f64]) -> Option<f64> {
    let pairs: Vec<(f64, f64)> =
        settings.iter().zip(thresholds).filter_map(|(s, t)| Some(((*s)?, *t))).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let spread: f64 = pairs.iter().map(|p| (p.0 - x).powi(2)).sum();
    (pairs.len() >= 2 && spread >= 2.0)
        .then(|| pairs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread)
}
