//! What a verdict has to say about a run, and what it cannot be asked: fixed before the scored half was scored.
//!
//! # Episodes
//! Truth is known every 0.1 s: what heat leaves of the speed (a duty-cycled policy as a mean over two bursts), and
//! what anything else leaves. An *episode* begins where less than 95 % is left and ends where more than
//! 97 % is. Of a phase that ends first it has no end.
//!
//! # What is asked
//! - The *shortest* thing asked for lasts 3 s or two and a half intervals of the log, whichever is longer.
//!   Shorter episodes are not asked for, and episodes with a shorter pause between them are one. What is
//!   found there counts neither way.
//! - An episode that takes less than 8 %, or less than three times the noise of a second, is not asked for.
//! - An onset is right from when the policy set in until a tenth of the speed was gone, 3 s (or one interval) before and
//!   after included; a release likewise, from when three quarters of the loss were made good until the
//!   policy let go.
//! - A load that is slow from its beginning is asked for where the same load ran faster in the run, or
//!   where TMT1 is known and the temperature stood at it for the first minute.
//! - Where the log has no phases, a stop is not asked for if it lasts until the load ends, nor, unless counters or settings show it, before
//!   three episodes have begun: a host pauses as well.
//! - Heat can be told from other causes where [`heat_shows`]; other slow stretches in which heat acts are not asked for.
//! - *Undecided*: slow stretches in loads with a moving composite whose cause neither [`heat_shows`] nor [`other_cause`] says the
//!   log decides. To leave the cause open is right there, and so is the true one; any other is wrong.
//! - A second policy that sets in within an episode is asked for when it takes a quarter of what was left, and the first
//!   time that the speed is so low: going up and down the stairs of one policy counts neither
//!   way, nor does a step that takes less.
//! - *Cause*: see [`heat_cause`] and [`other_cause`].
//! - *Temperature*: where the composite is logged in steps of a kelvin and climbs less than 1 K between two readings,
//!   two intervals and two renewals of the sensor.
//! - *Strength*: where the episode holds five whole intervals.

use measure::record::Op;
use physics::{Source, TruthKind};

use super::foreign::World;
use super::log::{LogStep, STEP_S, Steps};
use super::recipe::{Counting, Logging, Recipe, RecipeKind, RecipeSensors};

const BEGUN: f64 = 0.95;
const OVER: f64 = 0.97;
const LEAST_LOSS: f64 = 0.08;
/// A further policy is asked for where it leaves less than this of what was left.
const FURTHER: f64 = 0.75;
/// A load that moves less than this share has stopped.
const STOPPED: f64 = 0.005;
const SHORTEST_S: f64 = 3.0;
const WITHIN_S: f64 = 3.0;
/// Below this no drive was seen to protect itself: 60 °C.
const COOL_K: f64 = 333.0;
/// Some thresholds hold on until a drive has cooled by so much.
const WIDE_K: f64 = 12.0;
/// Consumer drives are specified up to here: 70 °C.
const USUAL_LIMIT_K: f64 = 343.0;

/// What made a drive slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TrueCause {
    Tmt1,
    Tmt2,
    Vendor,
    /// Heat, and the log cannot say which threshold.
    Thermal,
    Slc,
    Other,
}

/// A slow stretch that a verdict is asked about.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    pub(crate) heat: bool,
    /// From when to when an onset is right.
    pub(crate) onset_s: (f64, f64),
    /// Likewise its release; `None` where the load ended first.
    pub(crate) release_s: Option<(f64, f64)>,
    /// `None` where the log does not decide it.
    pub(crate) cause: Option<TrueCause>,
    /// Range of the temperature while it set in; `None` where it is not asked for.
    pub(crate) temp_k: Option<(f64, f64)>,
    /// Speed during over speed before; `None` where it is not asked for.
    pub(crate) strength: Option<f64>,
}

/// The truth of a run.
#[derive(Clone, Debug)]
pub(crate) struct Truth {
    pub(crate) episodes: Vec<Episode>,
    /// Slow stretches whose cause the log does not decide, with the true one.
    pub(crate) undecided: Vec<Episode>,
    /// Where throttle events count neither way.
    pub(crate) grey_s: Vec<(f64, f64)>,
    /// How far off an event may be.
    pub(crate) within_s: f64,
    pub(crate) hours: f64,
    /// Whether heat took anything at all.
    pub(crate) throttled: bool,
}

/// The truth of a run that was logged as `recipe` says.
pub(super) fn label(recipe: &Recipe, truth: &Steps) -> Truth {
    let mut of = Of::new(recipe, truth);
    let phases = phases(&truth.steps);
    for phase in &phases {
        let slow = of.slow(*phase, &of.heat.clone());
        of.seen_to_begin += slow.iter().filter(|(from, _)| *from >= phase.0 + of.shortest).count();
    }
    of.grey_s.clear();
    for phase in phases {
        of.phase(phase);
    }
    let hours = truth.steps.len() as f64 * STEP_S / 3600.0;
    let throttled = of.heat.iter().any(|share| *share < 1.0);
    let Of { episodes, undecided, grey_s, within_s, .. } = of;
    Truth { episodes, undecided, grey_s, within_s, hours, throttled }
}

/// Loaded phases as ranges of steps.
fn phases(steps: &[LogStep]) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (i, step) in steps.iter().enumerate().filter(|(_, step)| step.loaded) {
        match ranges.last_mut() {
            Some(last) if last.1 == i && steps[last.0].phase == step.phase => last.1 = i + 1,
            _ => ranges.push((i, i + 1)),
        }
    }
    ranges
}

struct Of<'a> {
    recipe: &'a Recipe,
    truth: &'a Steps,
    /// What heat leaves, bursts averaged.
    heat: Vec<f64>,
    other: Vec<f64>,
    /// Shortest thing that is asked for.
    shortest: usize,
    within_s: f64,
    /// How many heat episodes are long enough to be asked for, and began within a load, so that the log shows at which temperature.
    seen_to_begin: usize,
    episodes: Vec<Episode>,
    undecided: Vec<Episode>,
    grey_s: Vec<(f64, f64)>,
}

impl<'a> Of<'a> {
    fn new(recipe: &'a Recipe, truth: &'a Steps) -> Self {
        let interval_s = recipe.logging.interval_s;
        let raw: Vec<f64> = truth.steps.iter().map(|step| step.heat).collect();
        let twins = recipe.profile.policy.iter().find_map(|policy| match policy.machine {
            physics::profile::Machine::DutyCycled(duty) => Some(duty.burst_s),
            _ => None,
        });
        let bursts = twins.or_else(|| recipe.world.as_ref().and_then(World::burst_s));
        Self {
            recipe,
            truth,
            heat: bursts.map_or_else(|| raw.clone(), |s| averaged(&raw, (s / STEP_S).ceil() as usize)),
            other: truth.steps.iter().map(|step| step.other).collect(),
            shortest: (SHORTEST_S.max(2.5 * interval_s) / STEP_S).round() as usize,
            within_s: WITHIN_S.max(interval_s),
            seen_to_begin: 0,
            episodes: Vec::new(),
            undecided: Vec::new(),
            grey_s: Vec::new(),
        }
    }

    fn phase(&mut self, phase: (usize, usize)) {
        let heat = self.slow(phase, &self.heat.clone());
        for episode in &heat {
            self.heat_episode(phase, *episode);
        }
        let other = self.slow(phase, &self.other.clone());
        let starts: Vec<f64> = other.iter().map(|o| self.truth.steps[o.0].temp_k).collect();
        for (from, to) in other.iter().copied() {
            let cause = other_cause(self, (from, to), &starts);
            let strength = None;
            let onset_s = (seconds(from), seconds(from));
            let began = from > phase.0 + self.shortest;
            if began && self.visible(median(&self.other[from..to])) {
                let episode =
                    Episode { heat: false, onset_s, release_s: None, cause, temp_k: None, strength };
                if cause.is_none() && composite_usable(&self.recipe.logging) {
                    self.undecided.push(Episode { cause: Some(what(self, from)), ..episode.clone() });
                }
                self.episodes.push(episode);
            }
        }
    }

    /// Slow stretches of a phase, those with short pauses joined; what is too short is grey.
    fn slow(&mut self, phase: (usize, usize), share: &[f64]) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        let mut open = None;
        for (i, share) in share.iter().enumerate().take(phase.1).skip(phase.0) {
            match open {
                None if *share < BEGUN => open = Some(i),
                Some(from) if *share > OVER => {
                    found.push((from, i));
                    open = None;
                }
                _ => {}
            }
        }
        found.extend(open.map(|from| (from, phase.1)));
        let mut joined: Vec<(usize, usize)> = Vec::new();
        for (from, to) in found {
            match joined.last_mut() {
                Some(last) if from - last.1 < self.shortest => {
                    let margin_s = self.within_s;
                    self.grey_s.push((seconds(last.1) - margin_s, seconds(from) + margin_s));
                    last.1 = to;
                }
                _ => joined.push((from, to)),
            }
        }
        let (long, short) = joined.into_iter().partition(|(from, to)| to - from >= self.shortest);
        for (from, to) in short {
            self.grey(from, to);
        }
        long
    }

    fn grey(&mut self, from: usize, to: usize) {
        let margin_s = self.within_s + self.recipe.logging.interval_s;
        self.grey_s.push((seconds(from) - margin_s, seconds(to) + margin_s));
    }

    /// Whether a loss stands out from the noise.
    fn visible(&self, left: f64) -> bool {
        let logging = &self.recipe.logging;
        let of_a_second = logging.noise * logging.interval_s.min(1.0).sqrt();
        1.0 - left >= LEAST_LOSS.max(3.0 * of_a_second)
    }

    fn heat_episode(&mut self, phase: (usize, usize), (from, to): (usize, usize)) {
        let inner = self.inner(from, to, (0.0, FURTHER));
        // A lesser step is there, and telling it is no mistake; it is not asked for.
        for (at, end) in self.inner(from, to, (FURTHER, 1.0 - LEAST_LOSS)) {
            self.grey(at, at);
            self.grey(end, end);
        }
        let own: Vec<f64> = (from..to)
            .filter(|i| !inner.iter().any(|inner| (inner.0..inner.1).contains(i)))
            .map(|i| self.heat[i])
            .collect();
        let left = median(&own);
        let at_start = from < phase.0 + self.shortest;
        let set_in = self.set_in(from, phase.0);
        let like_cache = self.like_full_cache(phase, from, to, left);
        // Without phases a stop looks like a pause of the host's, and up to the end of a load it goes over into one.
        let like_pause = !self.recipe.logging.phases_known && left < STOPPED;
        let like_other = like_cache || like_pause;
        let shows = set_in.1.is_some_and(|source| heat_shows(self, source, (from, to), like_other));
        let paused = like_pause && to + self.shortest > phase.1;
        let known = (!at_start || self.known_slow(phase, from, to)) && !paused;
        if like_cache && !shows && !at_start && self.visible(left) {
            let cause = heat_cause(self, set_in.1, from, to);
            let onset_s = (set_in.0.min(seconds(from)), seconds(from));
            let (release_s, temp_k, strength) = (None, None, None);
            self.undecided.push(Episode { heat: true, onset_s, release_s, cause, temp_k, strength });
        }
        if !self.visible(left) || own.is_empty() || !known || !shows {
            // It set in before it took a twentieth.
            let set_in = (set_in.0 / STEP_S).floor() as usize;
            self.grey(set_in.clamp(phase.0, from), to);
            return;
        }
        let gone = (from..to).find(|i| self.heat[*i] <= 0.9f64.max(left)).unwrap_or(from);
        // A heavier policy that follows at once leaves no time to see the first one.
        let hurried = inner.iter().any(|inner| inner.0 < from + self.shortest);
        let cause = if hurried { None } else { heat_cause(self, set_in.1, from, to) };
        let onset_s = if at_start {
            (seconds(phase.0), seconds(gone))
        } else {
            (set_in.0.min(seconds(from)), seconds(gone))
        };
        let temp_k = self.temperature(onset_s).filter(|_| !at_start);
        let strength = Some(left).filter(|_| !at_start && !hurried && self.measurable(own.len()));
        let release_s = self.release(phase, from, to, left);
        self.episodes.push(Episode { heat: true, onset_s, release_s, cause, temp_k, strength });
        if !hurried {
            for inner in inner {
                self.inner_episode(phase, from, inner);
            }
        }
    }

    /// Whether a full cache looks the same: writing that falls once, in one step, to a speed at which it stays until the load
    /// ends, as of a drive whose cache is full and that is as hot as it gets when that happens. A load that is slow from its beginning may
    /// go on with that.
    fn like_full_cache(&self, phase: (usize, usize), from: usize, to: usize, left: f64) -> bool {
        // From the least that heat was measured to leave to what a slow link leaves of caches.
        const LEAVES: std::ops::RangeInclusive<f64> = 0.05..=0.7;
        const STEADY: f64 = 0.03;
        let second = (1.0 / STEP_S) as usize;
        let within = &self.heat[(from + second).min(to)..to];
        let steady = within.iter().all(|heat| (heat / left - 1.0).abs() <= STEADY);
        self.truth.steps[from].op == Op::Write
            && LEAVES.contains(&left)
            && to + self.shortest > phase.1
            && self.seen_to_begin == 1
            && steady
    }

    /// When the policy behind an episode set in, and which: of those that still act the last, as one may have let go while nothing was asked
    /// for.
    fn set_in(&self, from: usize, earliest: usize) -> (f64, Option<Source>) {
        let (from_s, earliest_s) = (seconds(from) + 0.15, seconds(earliest));
        // The twin calls a regulator throttling when 1 % is gone, a little before 5 % are.
        let before = self.truth.events.iter().filter(|event| event.t.as_secs_f64() <= from_s);
        let mut acting: Vec<(f64, Source)> = Vec::new();
        for event in before {
            match event.kind {
                TruthKind::ThrottleOnset(source) => acting.push((event.t.as_secs_f64(), source)),
                // What let go as the episode began is what it began with.
                TruthKind::ThrottleRelease(source) if event.t.as_secs_f64() < from_s - WITHIN_S => {
                    let last = acting.iter().rposition(|(_, of)| *of == source);
                    last.map(|at| acting.remove(at));
                }
                _ => {}
            }
        }
        match acting.last() {
            Some((t_s, source)) => (t_s.max(earliest_s), Some(*source)),
            None => (seconds(from), None),
        }
    }

    /// Whether the log can show that a load was slow from its beginning.
    fn known_slow(&self, phase: (usize, usize), from: usize, to: usize) -> bool {
        let steps = &self.truth.steps;
        let alike = |i: &usize| {
            let step = steps[*i];
            step.op == steps[from].op
                && step.loaded
                && self.heat[*i] > OVER
                && !(phase.0..phase.1).contains(i)
        };
        let faster = (0..steps.len()).filter(alike).count() >= 2 * self.shortest;
        let tmt1_k = self.recipe.profile.limits.hctm.as_ref().map_or(0.0, |hctm| f64::from(hctm.tmt1_k));
        let minute = from..to.min(from + (60.0 / STEP_S) as usize);
        let stood = minute.len() >= (60.0 / STEP_S) as usize
            && minute.clone().all(|i| (steps[i].temp_k - tmt1_k).abs() <= 2.0);
        let logging = &self.recipe.logging;
        faster
            || (stood && logging.settings_known && composite_usable(logging) && logging.temperature_s <= 5.0)
    }

    fn release(&mut self, phase: (usize, usize), from: usize, to: usize, left: f64) -> Option<(f64, f64)> {
        if to + self.shortest > phase.1 {
            let margin_s = self.within_s + self.recipe.logging.interval_s;
            self.grey_s.push((seconds(to.min(phase.1)) - margin_s, seconds(phase.1) + margin_s));
            // What comes back little by little until the load ends may be told as a release or not.
            let back = (from..to).rev().find(|i| self.heat[*i] < left + 0.5 * (1.0 - left)).unwrap_or(to);
            self.grey_s.push((seconds(back) - margin_s, seconds(phase.1) + margin_s));
            return None;
        }
        let good = left + 0.75 * (1.0 - left);
        let last_slow = (from..to).rev().find(|i| self.heat[*i] < good).unwrap_or(to);
        let to_s = seconds(to);
        let let_go = self.truth.events.iter().find(|event| {
            matches!(event.kind, TruthKind::ThrottleRelease(_)) && event.t.as_secs_f64() >= to_s - 0.15
        });
        let let_go_s = let_go.map_or(to_s, |event| event.t.as_secs_f64().min(seconds(phase.1)));
        Some((seconds(last_slow), let_go_s.max(to_s)))
    }

    /// Stretches inside an episode in which a further policy leaves a share of what was left that lies between the two.
    fn inner(&self, from: usize, to: usize, (least, most): (f64, f64)) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for event in &self.truth.events {
            let at = (event.t.as_secs_f64() / STEP_S).round() as usize;
            if !matches!(event.kind, TruthKind::ThrottleOnset(_)) || at <= from + 2 || at + 2 >= to {
                continue;
            }
            let before = self.heat[at.saturating_sub(2)];
            let after = self.heat[(at + 2).min(to - 1)];
            if (least * before..most * before).contains(&after) {
                let end = (at + 2..to).find(|i| self.heat[*i] > 0.5 * (before + after)).unwrap_or(to);
                found.push((at, end));
            }
        }
        found
    }

    /// Whether an episode had been as slow as that before: then it goes up and down a stair, and only the first time
    /// was a further onset.
    fn been_as_low(&self, episode: usize, from: usize, left: f64) -> bool {
        let as_low = self.heat[episode..from - 2].iter().filter(|heat| **heat <= 1.02 * left).count();
        as_low >= self.shortest
    }

    /// A further policy that set in at `from` within the episode that began at `episode`.
    fn inner_episode(&mut self, phase: (usize, usize), episode: usize, (from, to): (usize, usize)) {
        if to - from < self.shortest {
            self.grey(from, to);
            return;
        }
        let before = self.heat[from - 2];
        let left = median(&self.heat[from + 2..to]) / before;
        let (set_in_s, source) = self.set_in(from, phase.0);
        if source == self.set_in(episode, phase.0).1 && self.been_as_low(episode, from, left * before) {
            self.grey(from, to);
            return;
        }
        let cause = heat_cause(self, source, from, to);
        let onset_s = (set_in_s.min(seconds(from)), seconds(from));
        let ends = to + self.shortest <= phase.1;
        let release_s = ends.then(|| (seconds(to), seconds(to)));
        let strength = Some(left).filter(|_| self.measurable(to - from));
        let temp_k = self.temperature(onset_s);
        self.episodes.push(Episode { heat: true, onset_s, release_s, cause, temp_k, strength });
    }

    /// The range of temperature while something set in, where it can be asked for.
    fn temperature(&self, (from_s, to_s): (f64, f64)) -> Option<(f64, f64)> {
        let logging = &self.recipe.logging;
        let at = |t_s: f64| {
            let i = ((t_s / STEP_S).round().max(0.0) as usize).min(self.truth.steps.len() - 1);
            self.truth.steps[i].temp_k
        };
        let (a, b) = (at(from_s), at(to_s));
        let slope = ((at(from_s) - at(from_s - 5.0)) / 5.0).abs();
        let apart_s = logging
            .temperature_s
            .max(2.0 * logging.interval_s)
            .max(2.0 * self.recipe.profile.sensor.update_period_s);
        let fine = self.recipe.world.as_ref().is_none_or(|world| world.sensor.step_k <= 1.0);
        (composite_usable(logging) && fine && slope * apart_s < 1.0).then(|| (a.min(b), a.max(b)))
    }

    /// Whether a stretch of so many steps holds five whole intervals.
    fn measurable(&self, steps: usize) -> bool {
        steps as f64 * STEP_S >= 6.0 * self.recipe.logging.interval_s.max(1.0)
    }
}

/// Whether the log shows a temperature that can be gone by.
pub(crate) fn composite_usable(logging: &Logging) -> bool {
    matches!(logging.sensors, RecipeSensors::Composite | RecipeSensors::Several)
}

/// Whether the log can show that a slow stretch is heat. It can where one of these holds:
///
/// - counters that are seen to move, and the policy moves them;
/// - settings and a moving composite, and the host's threshold or 70 °C and more;
/// - any moving temperature, and at least three episodes began within loads;
/// - any moving temperature, neither a full cache nor a pause of the host's looks the same, and it was 70 °C or hotter, or the temperature was held
///   within 2.5 K for a minute from the onset on (of foreign drives, whose cases are slow, only by what follows the temperature).
fn heat_shows(of: &Of<'_>, source: Source, (from, to): (usize, usize), like_other: bool) -> bool {
    let logging = &of.recipe.logging;
    if counts(of) && source != Source::Vendor {
        return true;
    }
    if matches!(logging.sensors, RecipeSensors::None | RecipeSensors::FrozenAlone) {
        return false;
    }
    let steps = &of.truth.steps;
    let temp_k = steps[from].temp_k;
    let set = logging.settings_known && composite_usable(logging) && source != Source::Vendor;
    let minute = from..from + (60.0 / STEP_S) as usize;
    let follows = of.recipe.world.as_ref().is_none_or(World::follows);
    let held = follows && minute.end <= to && minute.clone().all(|i| (steps[i].temp_k - temp_k).abs() <= 2.5);
    set || of.seen_to_begin >= 3 || (!like_other && (temp_k >= USUAL_LIMIT_K || held))
}

/// Whether the log shows counters that move.
fn counts(of: &Of<'_>) -> bool {
    let logging = &of.recipe.logging;
    let by_host =
        |kind: &TruthKind| matches!(kind, TruthKind::ThrottleOnset(Source::HctmTmt1 | Source::HctmTmt2));
    logging.counting == Counting::Honest && of.truth.events.iter().any(|event| by_host(&event.kind))
}

/// The cause of a heat episode, as far as the log can decide it.
///
/// - With counters that are seen to move, a host's threshold is asked for.
/// - Else only with a moving composite, and two readings of it in the episode.
/// - With the settings known, the source is asked for; but within 3 K of TMT1 or TMT2 an own threshold
///   cannot be told from it, unless counters are seen to move.
/// - With the settings unknown, "heat" is asked for.
fn heat_cause(of: &Of<'_>, source: Option<Source>, from: usize, to: usize) -> Option<TrueCause> {
    let logging = &of.recipe.logging;
    let cause = match source? {
        Source::HctmTmt1 => TrueCause::Tmt1,
        Source::HctmTmt2 => TrueCause::Tmt2,
        Source::Vendor => TrueCause::Vendor,
    };
    let counts = counts(of) && logging.settings_known;
    if counts && cause != TrueCause::Vendor {
        return Some(cause);
    }
    let seen = (to - from) as f64 * STEP_S >= 2.0 * logging.temperature_s;
    if !composite_usable(logging) || !seen {
        return None;
    }
    let temp_k = of.truth.steps[from].temp_k;
    let hctm = of.recipe.profile.limits.hctm.as_ref();
    let near = hctm
        .is_some_and(|hctm| [hctm.tmt1_k, hctm.tmt2_k].iter().any(|k| (temp_k - f64::from(*k)).abs() <= 3.0));
    match logging.settings_known {
        true => (cause != TrueCause::Vendor || !near || counts).then_some(cause),
        false => Some(TrueCause::Thermal),
    }
}

/// The cause of a slow stretch that is not heat, as far as the log can decide it. It can where a moving temperature is
/// logged and one of these holds:
///
/// - it was below 60 °C;
/// - the drive ran 10 s at full speed while it was 1.5 K hotter or more;
/// - the settings are known, the power state among them, which was what changed;
/// - the settings are known, TMT1 and TMT2 more than 3 K away, and it was below 70 °C;
/// - three and more such stretches began at temperatures 5 K and more apart;
/// - half the speed was gone for a minute and more, and it stayed gone while the drive cooled by 12 K.
fn other_cause(of: &Of<'_>, (from, to): (usize, usize), starts_k: &[f64]) -> Option<TrueCause> {
    let logging = &of.recipe.logging;
    if !composite_usable(logging) {
        return None;
    }
    let steps = &of.truth.steps;
    let temp_k = steps[from].temp_k;
    let hotter = steps
        .iter()
        .zip(&of.heat)
        .filter(|(s, heat)| {
            s.op == steps[from].op && s.loaded && s.other > OVER && **heat > OVER && s.temp_k > temp_k + 1.5
        })
        .count() as f64
        * STEP_S;
    let hctm = of.recipe.profile.limits.hctm.as_ref();
    let near = hctm
        .is_some_and(|hctm| [hctm.tmt1_k, hctm.tmt2_k].iter().any(|k| (temp_k - f64::from(*k)).abs() <= 3.0));
    let set_elsewhere = logging.settings_known && temp_k < USUAL_LIMIT_K && !near;
    let state_changed = logging.settings_known && of.recipe.kind == RecipeKind::PowerState;
    let (low, high) =
        starts_k.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), k| (l.min(*k), h.max(*k)));
    let cooled = to - from >= (60.0 / STEP_S) as usize
        && median(&of.other[from..to]) <= 0.5
        && steps[to - 1].temp_k <= temp_k - WIDE_K;
    let decided = temp_k < COOL_K
        || hotter >= 10.0
        || set_elsewhere
        || state_changed
        || (starts_k.len() >= 3 && high - low >= 5.0)
        || cooled;
    decided.then_some(what(of, from))
}

/// What it was that is no heat.
fn what(of: &Of<'_>, from: usize) -> TrueCause {
    let cache = matches!(of.recipe.kind, RecipeKind::SlcCliff | RecipeKind::CacheRecovers);
    let slc = cache && of.truth.steps[from].op == Op::Write;
    if slc { TrueCause::Slc } else { TrueCause::Other }
}

fn seconds(step: usize) -> f64 {
    step as f64 * STEP_S
}

/// Mean over `reach` values on each side.
fn averaged(values: &[f64], reach: usize) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        sums.push(sums[sums.len() - 1] + value);
    }
    (0..values.len())
        .map(|i| {
            let (from, to) = (i.saturating_sub(reach), (i + reach + 1).min(values.len()));
            (sums[to] - sums[from]) / (to - from) as f64
        })
        .collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(1.0)
}
