//! Full speeds, and the seconds in which heat held the drive below them.

use std::collections::BTreeMap;

use analysis::findings::Label;

use crate::data::{Asked, LoadStep, RunData, median};
use crate::mixed::{SeenMix, completed, full_at};
use crate::simulate::THROTTLED_SHARE;
use crate::to_and_fro;

/// Seconds at each end of a stretch that are left out: the load begins and ends within them.
const EDGE: usize = 1;
/// Seconds at full speed that are needed to say what it is.
const ENOUGH: usize = 4;
/// Seconds whose median is a speed.
const TOP: usize = 4;
/// Seconds whose median says whether heat held back what went before, and how long before at most: a relay goes to and fro.
const BEFORE: usize = 5;
const BEFORE_S: usize = 60;
/// A stretch is at full speed down to this share of the fastest.
const NEAR: f64 = 0.95;
/// A load goes on at one speed as long as the median of the next seconds, few and more, is no further off than this share,
/// nor so many deviations.
const LOOKS_S: [usize; 2] = [5, 15];
const EVEN: f64 = 0.004;
const SURE: f64 = 3.5;
/// Seconds at most that say what that speed is.
const LEVEL_S: usize = 60;
/// A switch, which leaves what came before it whole, takes more than this share at once.
const JUMP: f64 = 0.1;
/// Loads that begin slower than the fastest by more than this began slow; how many seconds say how fast that is.
const ALIKE: f64 = 0.015;
const LONG: usize = 10;
/// Least deviation of a second's speed, as a share.
const LEAST_NOISE: f64 = 0.001;

/// Full speed of an operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FittedSpeed {
    /// In GB/s.
    pub(crate) value: f64,
    /// How far it may be off.
    pub(crate) sd: f64,
    /// Whether it was seen.
    pub(crate) seen: bool,
}

/// What each second says about throttling.
#[derive(Clone)]
pub(crate) struct SlowStretch {
    /// Speed over full speed where the load was unlimited for the whole second; `None` elsewhere. 1 is what its own load reaches,
    /// below that it is the operation's full speed that counts: of that a drive takes its limits.
    pub(crate) share: Vec<Option<f64>>,
    /// What its load reaches over the operation's full speed, infinite for the fastest: above that no limit shows.
    pub(crate) most: Vec<f64>,
    /// Whether heat held it back.
    pub(crate) slow: Vec<bool>,
}

/// Full speeds of reading and writing over all runs.
pub(crate) fn full(runs: &[RunData]) -> [FittedSpeed; 2] {
    full_beside(runs, &fastest_loads(runs))
}

fn full_beside(runs: &[RunData], loads: &LoadSpeeds<'_>) -> [FittedSpeed; 2] {
    completed(OPS.map(|asked| full_of(&all(runs, (asked, None), loads))), &mixes_beside(runs, loads))
}

/// The mixes that ran as fast as they went, those at full speed first.
pub(crate) fn mixes(runs: &[RunData]) -> Vec<SeenMix> {
    mixes_beside(runs, &fastest_loads(runs))
}

fn mixes_beside(runs: &[RunData], loads: &LoadSpeeds<'_>) -> Vec<SeenMix> {
    let mix = |&(asked, load): &(Asked, &str)| {
        let mut steps = runs.iter().flat_map(|run| run.steps.iter().map(move |step| (run, step)));
        let (_, first) = steps.find(|(run, step)| name(run, step) == Some((asked, load)))?;
        let full = full_of(&all(runs, (asked, Some(load)), loads));
        Some(SeenMix { read_share: first.read_share, gb_per_s: full.value, full: full.seen })
    };
    let of_mixes = loads.keys().filter(|(asked, _)| *asked == Asked::Mixed);
    let mut mixes: Vec<SeenMix> = of_mixes.filter_map(mix).filter(|mix| mix.gb_per_s > 0.0).collect();
    mixes.sort_by_key(|mix| !mix.full);
    mixes
}

/// The runs with what each of their loads reaches, where that is less than another of the same operation does: reads at random
/// beside reads in order. Only a load that heat left alone for a while shows it.
pub(crate) fn knowing_loads(runs: &[RunData]) -> Vec<RunData> {
    let loads = fastest_loads(runs);
    let full = full_beside(runs, &loads);
    let values = full.map(|full| full.value);
    let reached = |&(asked, load): &(Asked, &str)| {
        let of = |run| stretches(run, (asked, Some(load)), &FREE, &loads);
        let own = full_of(&runs.iter().flat_map(of).collect::<Vec<_>>());
        let steps = || runs.iter().flat_map(|run| run.steps.iter().map(move |step| (run, step)));
        let (_, first) = steps().find(|(run, step)| name(run, step) == Some((asked, load)))?;
        (own.seen && own.value < THROTTLED_SHARE * full_at(first, values)).then_some(own.value)
    };
    let reached: LoadSpeeds<'_> = loads.keys().filter_map(|load| Some((*load, reached(load)?))).collect();
    let knowing = |run: &RunData| {
        let mut knowing = run.clone();
        for step in &mut knowing.steps {
            step.reaches = name(run, step).and_then(|load| reached.get(&load).copied());
        }
        knowing
    };
    runs.iter().map(knowing).collect()
}

/// Operations that run as fast as they go.
const OPS: [Asked; 2] = [Asked::Read, Asked::Write];

/// What else than heat makes seconds slow; what leaves no second of a load that nothing slowed down.
const OTHERS: [Label; 2] = [Label::SlcExhausted, Label::RateLimited];
const FREE: [Label; 3] = [Label::SlcExhausted, Label::RateLimited, Label::Throttled];

/// Seconds of one load at a time.
struct LoadStretch {
    /// Speeds in GB/s.
    speeds: Vec<f64>,
    /// Speed of another load in the last minute, where that went right before, over its fastest: of four fifths faster.
    before: Option<f64>,
    /// Whether the verdict has heat hold it back from its first seconds on.
    held: bool,
}

/// A speed of each load in GB/s: what it asks for, and what it does.
type LoadSpeeds<'a> = BTreeMap<(Asked, &'a str), f64>;

/// The fastest of medians of a few seconds of each load.
fn fastest_loads(runs: &[RunData]) -> LoadSpeeds<'_> {
    let mut fastest = LoadSpeeds::new();
    for run in runs {
        for steps in run.steps.windows(TOP).filter(|steps| steps.iter().all(|step| step.goes_on(&steps[0]))) {
            if let Some(name) = name(run, &steps[0]) {
                let most = fastest.entry(name).or_default();
                *most = most.max(median_speed(steps));
            }
        }
    }
    fastest
}

/// A load that runs as fast as it goes.
fn name<'a>(run: &'a RunData, step: &LoadStep) -> Option<(Asked, &'a str)> {
    let load = run.loads.get(usize::from(step.load)).map_or("", String::as_str);
    matches!(step.asked, Asked::Read | Asked::Write | Asked::Mixed).then_some((step.asked, load))
}

fn median_speed(steps: &[LoadStep]) -> f64 {
    median_of(&steps.iter().map(LoadStep::speed).collect::<Vec<_>>())
}

/// Stretches of an operation, or of one load of it; what the verdict takes for a full cache may be all there is of it.
fn all(runs: &[RunData], of: (Asked, Option<&str>), loads: &LoadSpeeds<'_>) -> Vec<LoadStretch> {
    let all = |but: &[Label]| runs.iter().flat_map(|run| stretches(run, of, but, loads)).collect::<Vec<_>>();
    Some(all(&OTHERS))
        .filter(|some| some.iter().any(|stretch| stretch.speeds.len() >= 4 * TOP))
        .unwrap_or_else(|| all(&[]))
}

/// The fastest of medians of a few seconds.
fn fastest(stretches: &[LoadStretch]) -> f64 {
    stretches.iter().flat_map(|stretch| stretch.speeds.windows(TOP)).map(median_of).fold(0.0, f64::max)
}

/// Full speed from its stretches.
fn full_of<'a>(stretches: &'a [LoadStretch]) -> FittedSpeed {
    let fastest = fastest(stretches);
    if fastest <= 0.0 {
        let any = stretches.iter().flat_map(|stretch| &stretch.speeds).copied().fold(0.0, f64::max);
        return FittedSpeed { value: any, sd: 0.1 * any, seen: false };
    }
    let noise = noise(stretches, fastest);
    // Where heat held back what went right before, a load may begin at less than full speed: what shows that it did not is a
    // fall later on.
    let part = |stretch: &'a LoadStretch| {
        let (part, fell) = even_part(&stretch.speeds, noise);
        let free = !stretch.held && (fell || stretch.before.is_none_or(|before| before >= NEAR));
        free.then_some(part)
    };
    let parts: Vec<&[f64]> = stretches.iter().filter_map(part).filter(|part| !part.is_empty()).collect();
    // The fastest of short parts is one of noise.
    let long = |part: &&&[f64]| part.len() >= LONG;
    let of_best =
        |parts: &mut dyn Iterator<Item = &&[f64]>| parts.map(|part| median_of(part)).fold(0.0, f64::max);
    let best = of_best(&mut parts.iter().filter(long));
    let best = if best > 0.0 { best } else { of_best(&mut parts.iter()) };
    // One that began slow stands below the others, however even.
    let alike =
        |part: &&&[f64]| median_of(part) > best * (1.0 - ALIKE) - SURE * noise / (part.len() as f64).sqrt();
    let all: Vec<f64> = parts.iter().filter(alike).flat_map(|part| part.iter().copied()).collect();
    let middle = median_of(&all);
    let near: Vec<f64> = all.into_iter().filter(|speed| (0.5..1.2).contains(&(speed / middle))).collect();
    let count = near.len() as f64;
    if near.len() < ENOUGH || middle < NEAR * fastest - SURE * noise {
        let speeds = stretches.iter().map(|stretch| stretch.speeds.as_slice());
        let off = (ALIKE * fastest).max(SURE * noise);
        if let Some(full) = to_and_fro::full(speeds, fastest, off) {
            return full;
        }
        return FittedSpeed { value: fastest, sd: 0.05 * fastest, seen: false };
    }
    let mean = near.iter().sum::<f64>() / count;
    let scatter = (near.iter().map(|speed| (speed - mean).powi(2)).sum::<f64>() / count).sqrt();
    FittedSpeed { value: mean, sd: scatter / count.sqrt() + 0.002 * mean, seen: true }
}

/// Deviation of a second's speed from the one before where both are about as fast as any, over what two alike have.
fn noise(stretches: &[LoadStretch], fastest: f64) -> f64 {
    let pairs = stretches.iter().flat_map(|stretch| stretch.speeds.windows(2));
    let fast = pairs.filter(|pair| pair.iter().all(|speed| *speed > NEAR * fastest));
    // Rows of several seconds repeat themselves.
    let moves: Vec<f64> = fast.map(|pair| (pair[1] - pair[0]).abs()).filter(|by| *by > 0.0).collect();
    // The median of such differences is 0.954 deviations of one.
    (median_of(&moves) / 0.954).max(LEAST_NOISE * fastest)
}

/// The first part of a load, as long as it goes at one speed: a load begins cold, and what heat does to it comes later. Its
/// short dips are in it; empty where it falls from the first seconds on. And whether it ends in a switch to a slower one.
fn even_part(speeds: &[f64], noise: f64) -> (&[f64], bool) {
    let (mut from, mut to) = (0, TOP);
    while to < speeds.len() {
        let level = median_of(&speeds[from..to.min(from + LEVEL_S)]);
        let moved = |window: &usize| {
            let next = &speeds[to..(to + window).min(speeds.len())];
            let least = SURE * noise * (1.0 / next.len() as f64 + 1.0 / (to - from) as f64).sqrt();
            let by = median_of(next) - level;
            (next.len() >= TOP - 1 && by.abs() > least.max(EVEN * level)).then_some(by)
        };
        match LOOKS_S.iter().find_map(moved) {
            None => to += 1,
            // Still speeding up.
            Some(by) if by > 0.0 => (from, to) = (to, to + TOP),
            Some(by) => {
                let fell = by < -JUMP * level;
                // A regulator begins gently: the first part of what came before it shows.
                let part = if fell { to - from } else { ((to - from) * 6 / 10).max(TOP) };
                let falls = to - from == TOP && falls(&speeds[from..to], noise.max(EVEN * level));
                return (&speeds[from..if falls { from } else { from + part }], fell);
            }
        }
    }
    (&speeds[from..to.min(speeds.len())], false)
}

/// Whether the second half of a few seconds is slower than the first.
fn falls(speeds: &[f64], noise: f64) -> bool {
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let (first, second) = speeds.split_at(speeds.len() / 2);
    mean(first) - mean(second) > 2.0 * noise
}

/// Speeds of an operation, or of a load of it, stretch by stretch, without seconds that the verdict blames something of `but`
/// for; probes of a few seconds are left out, as they may begin slow.
fn stretches(
    run: &RunData,
    (asked, load): (Asked, Option<&str>),
    but: &[Label],
    fastest: &LoadSpeeds<'_>,
) -> Vec<LoadStretch> {
    let mut stretches: Vec<LoadStretch> = Vec::new();
    let mut open: Option<(usize, Vec<f64>)> = None;
    let is_load = |step: &LoadStep| {
        step.asked == asked && load.is_none_or(|load| name(run, step).is_some_and(|(_, own)| own == load))
    };
    let end = LoadStep::default();
    let mut close = |open: Option<(usize, Vec<f64>)>| {
        if let Some((from, speeds)) = open.filter(|(_, speeds)| speeds.len() >= TOP + 2 * EDGE) {
            let speeds = speeds[EDGE..speeds.len() - EDGE].to_vec();
            let first = &run.steps[from..from + TOP + EDGE];
            let held = first.iter().all(|step| step.label == Some(Label::Throttled));
            stretches.push(LoadStretch { speeds, before: before(run, from, fastest), held });
        }
    };
    for (at, step) in run.steps.iter().chain([&end]).enumerate() {
        let other = step.label.is_some_and(|label| but.contains(&label));
        let changes = at > 0 && !run.steps[at - 1].goes_on(step);
        let counts = !other && is_load(step);
        if changes || !counts {
            close(open.take());
        }
        if counts {
            open.get_or_insert((at, Vec::new())).1.push(step.speed());
        }
    }
    stretches
}

/// Speed of another load in the last minute, where that went right before, over its fastest; four fifths of that were faster.
fn before(run: &RunData, from: usize, fastest: &LoadSpeeds<'_>) -> Option<f64> {
    let (last, first) = (run.steps[..from].last()?, run.steps.get(from)?);
    if last.goes_on(first) {
        return None;
    }
    let fastest = fastest.get(&name(run, last)?).copied().filter(|fastest| *fastest > 0.0)?;
    let count = run.steps[..from].iter().rev().take(BEFORE_S).take_while(|step| step.goes_on(last)).count();
    let mut speeds: Vec<f64> = run.steps[from - count..from].windows(BEFORE).map(median_speed).collect();
    speeds.sort_by(f64::total_cmp);
    // Dips are rarer than a relay is slow.
    Some(speeds.get(speeds.len() / 5)? / fastest)
}

fn median_of(values: &[f64]) -> f64 {
    median(values).unwrap_or(0.0)
}

/// Whether a second and both beside it were asked for the same: loads begin and end within seconds, not between them.
fn is_whole(run: &RunData, at: usize) -> bool {
    let near = &run.steps[at.saturating_sub(EDGE)..(at + EDGE + 1).min(run.steps.len())];
    near.iter().all(|step| step.goes_on(&run.steps[at]))
}

/// Which seconds of a run heat held back.
pub(crate) fn slow(run: &RunData, full: &[FittedSpeed; 2]) -> SlowStretch {
    let values = full.map(|full| full.value);
    let full_at = |step: &LoadStep| full_at(step, values);
    let own_at = |at: usize| {
        let step = &run.steps[at];
        let full = full_at(step);
        let other = step.label == Some(Label::RateLimited);
        (full > 0.0 && !other && is_whole(run, at)).then(|| step.speed() / step.reaches.unwrap_or(full))
    };
    let own: Vec<Option<f64>> = (0..run.steps.len()).map(own_at).collect();
    // A mean over five seconds: single stalls and bursts are no throttling.
    let smooth = |at: usize| {
        let near = &own[at.saturating_sub(2)..(at + 3).min(own.len())];
        let (sum, count) =
            near.iter().flatten().fold((0.0, 0.0), |(sum, count), share| (sum + share, count + 1.0));
        if count > 0.0 { sum / count } else { 1.0 }
    };
    let heat = |at: usize| own[at].is_some() && smooth(at) < THROTTLED_SHARE;
    let slow: Vec<bool> = (0..own.len()).map(heat).collect();
    let reached = |step: &LoadStep| step.reaches.map(|reaches| reaches / full_at(step));
    let share = |(at, step): (usize, &LoadStep)| {
        let below = reached(step).filter(|_| slow[at] && own[at].is_some_and(|own| own < THROTTLED_SHARE));
        Some(own[at]? * below.unwrap_or(1.0))
    };
    let share = run.steps.iter().enumerate().map(share).collect();
    let most = run.steps.iter().map(|step| reached(step).unwrap_or(f64::INFINITY)).collect();
    SlowStretch { share, slow, most }
}

/// The logarithm of the level at which a regulator held the drive, second by second; 0 where none did.
pub(crate) fn ln_levels(run: &RunData, slow: &SlowStretch) -> Vec<f64> {
    let level = |at: usize| {
        let near = &slow.share[at.saturating_sub(3)..(at + 4).min(slow.share.len())];
        let (sum, count) =
            near.iter().flatten().fold((0.0, 0.0), |(sum, count), share| (sum + share, count + 1.0));
        if slow.slow[at] && count > 0.0 { f64::ln((sum / count).clamp(0.02, 1.0)) } else { 0.0 }
    };
    (0..run.steps.len()).map(level).collect()
}

#[cfg(test)]
mod test {
    use super::*;

    const NOISE: f64 = 0.002;

    fn part(speed: impl Fn(f64) -> f64) -> Vec<f64> {
        let speeds: Vec<f64> =
            (0..120).map(|t| speed(f64::from(t)) + NOISE * (f64::from(t) * 2.4).sin()).collect();
        even_part(&speeds, NOISE).0.to_vec()
    }

    /// Goal: of a load that heat slows down only what came before counts, and of one that it slows down from the first second
    /// on nothing. Method: a switch, a glide, a load that comes up to speed, one with a short dip, one that begins falling.
    #[test]
    fn the_even_part_is_what_comes_before_heat() {
        let switched = part(|t| if t < 30.0 { 1.0 } else { 0.3 });
        assert!((20..=30).contains(&switched.len()), "{switched:?}");
        let glides = part(|t| 1.0 - 0.01 * (t - 20.0).max(0.0));
        assert!((8..=24).contains(&glides.len()) && glides.iter().all(|speed| *speed > 0.95), "{glides:?}");
        let comes_up = part(|t| (0.5 + 0.05 * t).min(1.0));
        assert!(comes_up.len() > 90 && (median_of(&comes_up) - 1.0).abs() < 0.003, "{comes_up:?}");
        let dips = part(|t| if (40.0..42.0).contains(&t) { 0.4 } else { 1.0 });
        assert_eq!(dips.len(), 120);
        assert!(part(|t| 1.0 - 0.01 * t).is_empty());
    }

    /// Goal: a load that goes on evenly after one that heat held back shows no full speed; one that falls later does.
    #[test]
    fn a_load_that_begins_slow_shows_no_full_speed() {
        let stretch =
            |speeds: Vec<f64>, before: f64| [LoadStretch { speeds, before: Some(before), held: false }];
        let even = |before: f64| full_of(&stretch(vec![0.6; 100], before));
        assert!(!even(0.5).seen);
        assert!(even(1.0).seen, "the other one was not slow");
        let falls = stretch([vec![1.0; 20], vec![0.6; 80]].concat(), 0.5);
        let full = full_of(&falls);
        assert!(full.seen && (full.value - 1.0).abs() < 1e-9, "{full:?}");
    }
}
