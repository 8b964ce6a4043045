//! Throttling as it begins and ends, on a drive whose load nobody knows.
//!
//! Three witnesses, in this order: the drive's TMT counters, which say it themselves; latency at equal concurrency
//! ([`crate::reference`]), which says that the drive is slower, and not that less is asked of it; temperature, which says
//! whether that can be heat. How and where this fails is in `docs/METHODS.md`.
//!
//! Seconds are added up as a cumulative sum (Page 1954): little evidence for long weighs as much as much evidence at once.

use std::collections::VecDeque;

use measure::Kelvin;

use crate::event::{CountersSeen, SlowCause, WatchEvent, WatchEventKind, onset_text};
use crate::reference::{Compared, References, compared};
use crate::slice::LoadSlice;

/// Latency that is longer by less than this (its logarithm) is no evidence: 11 %.
const SLACK_LN: f64 = 0.10;
/// Nor is what is within so many mean distances of the seconds of that load among themselves.
const SPREADS: f64 = 2.5;
/// Evidence at which a drive is slow: two seconds at twice the latency, six at 1.35 times.
const ONSET_SUM: f64 = 1.2;
/// One second counts no more than this, whatever a stall made of it.
const SECOND_MAX: f64 = 0.6;
/// Seconds at the old latency that end it.
const RELEASE_SECONDS: u32 = 5;
/// A counter that did not move for so long, in seconds, has stopped: it counts whole seconds, and is read once a second.
const COUNTER_STILL_S: f64 = 10.0;
/// Cool: so far below the lowest threshold, in kelvins.
const COOL_BELOW_K: f64 = 10.0;
/// Near WCTEMP: within so many kelvins. Firmware thresholds lie a few kelvins below it.
const NEAR_READS_K: f64 = 10.0;
/// The same where only writes are slow, which a full cache makes as well.
const NEAR_WRITES_K: f64 = 4.0;
/// The same for a threshold that was learned from an earlier episode.
const NEAR_LEARNED_K: f64 = 2.0;
/// Without any threshold known, or without counters that would tell: hot is from here on (60 degrees Celsius); the lowest
/// thresholds that makers set are a little above.
const HOT_K: f64 = 333.0;
/// An episode teaches its temperature when it was so long, in seconds, and let go so much cooler, in kelvins.
const LEARN_S: f64 = 15.0;
const LEARN_COOLER_K: f64 = 2.0;
/// Nothing that could be compared for so long, in seconds, and slowness is no longer known.
const BLIND_S: f64 = 60.0;
/// So much cooler than at the onset, without I/O to compare, nothing is throttled any more.
const COOLED_K: f64 = 5.0;
/// I/Os in flight and none completed for so long, in seconds, is a stall.
const STALL_S: f64 = 2.0;
/// Readings over which the slope of temperature is taken, in seconds.
const SLOPE_S: f64 = 60.0;
/// Readings that are kept, in seconds: heat slows a drive at the highest temperature of this time.
const COURSE_S: f64 = 600.0;
/// And on its way up: so much, in kelvins, within the last half of it.
const RISE_K: f64 = 1.0;
/// The drive has cooled by then already: the temperature of an onset is the highest since so many seconds before the
/// evidence began.
const ONSET_S: f64 = 20.0;
/// More is asked when this share more is moved than over so many seconds before.
const MORE: f64 = 1.1;
const USUAL_S: f64 = 15.0;
/// Slow for so long without heat, in seconds, is how the drive is now.
const NEW_NORMAL_S: f64 = 600.0;

/// Temperatures at which a drive is known to throttle or to warn, in kelvins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownLimits {
    /// TMT1; `None` when unknown or off.
    pub tmt1: Option<Kelvin>,
    /// TMT2.
    pub tmt2: Option<Kelvin>,
    /// WCTEMP.
    pub warning: Option<Kelvin>,
    /// CCTEMP.
    pub critical: Option<Kelvin>,
}

impl KnownLimits {
    fn lowest(&self) -> Option<f64> {
        [self.tmt1, self.tmt2, self.warning]
            .into_iter()
            .flatten()
            .map(|k| f64::from(k.as_kelvin()))
            .min_by(f64::total_cmp)
    }
}

/// TMT counters of one reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TmtCounters {
    /// Light throttling: how often it began, for how many seconds.
    pub light: (u32, u32),
    /// Heavy throttling.
    pub heavy: (u32, u32),
}

/// The present state of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowState {
    /// Why it is slow.
    pub cause: SlowCause,
    /// Since when, in seconds of the caller's clock.
    pub since_s: f64,
    /// Temperature at the onset.
    pub onset_k: Option<f64>,
    is_write: bool,
}

/// Judges one drive, second by second. Its memory is bounded.
#[derive(Clone, Debug, Default)]
pub struct Detector {
    /// What is known of the drive.
    pub limits: KnownLimits,
    references: References,
    counters: Option<TmtCounters>,
    counter_moved_s: Option<(f64, SlowCause)>,
    kelvin: Option<(f64, f64)>,
    course: VecDeque<(f64, f64)>,
    learned_onset_k: Option<f64>,
    /// Onset of an episode that may have been heat, to be confirmed by another.
    suspected_onset_k: Option<f64>,
    compared_s: f64,
    /// Mean I/Os and bytes a second while there was no evidence, slowly and now.
    usual: Option<(f64, f64)>,
    more_is_asked: bool,
    sum: f64,
    evidence_since_s: Option<f64>,
    evidence_writes: bool,
    fast_seconds: u32,
    slow: Option<SlowState>,
    lost_ln: Option<f64>,
    waiting_since_s: Option<f64>,
    stalled: bool,
    seconds: u64,
    comparable: u64,
}

impl Detector {
    /// A drive with these limits.
    pub fn new(limits: KnownLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Whether it is slow, and why.
    pub const fn slow(&self) -> Option<SlowState> {
        self.slow
    }

    /// Share of the capacity that is lost at equal concurrency, over the last seconds that could be compared.
    pub fn capacity_lost(&self) -> Option<f64> {
        self.lost_ln.map(|ln| (1.0 - (-ln).exp()).max(0.0))
    }

    /// The temperature at which throttling without a counter began before, in kelvins.
    pub const fn learned_onset_k(&self) -> Option<f64> {
        self.learned_onset_k
    }

    /// Share of the seconds in which enough was asked of the drive to see a loss of capacity.
    pub fn comparable_share(&self) -> Option<f64> {
        (self.seconds > 0).then(|| self.comparable as f64 / self.seconds as f64)
    }

    /// A temperature, in kelvins, at `t_s`.
    pub fn temperature(&mut self, t_s: f64, kelvin: f64) {
        self.kelvin = Some((t_s, kelvin));
        self.course.push_back((t_s, kelvin));
        while self.course.front().is_some_and(|(first, _)| t_s - first > COURSE_S) {
            self.course.pop_front();
        }
    }

    /// Kelvins a second over the last minute, by least squares; `None` with less than ten readings over half of it.
    pub fn slope_k_per_s(&self) -> Option<f64> {
        let last = self.course.back()?.0;
        let recent = || self.course.iter().rev().take_while(|(t, _)| last - t <= SLOPE_S);
        let n = recent().count() as f64;
        let first = recent().last()?.0;
        if n < 10.0 || last - first < SLOPE_S / 2.0 {
            return None;
        }
        let (mean_t, mean_k) = recent().fold((0.0, 0.0), |sum, (t, k)| (sum.0 + t / n, sum.1 + k / n));
        let (above, below) = recent().fold((0.0, 0.0), |sum, (t, k)| {
            (sum.0 + (t - mean_t) * (k - mean_k), sum.1 + (t - mean_t) * (t - mean_t))
        });
        Some(above / below)
    }

    /// Seconds until a limit is reached at the present slope; `None` where it is not being approached.
    pub fn seconds_to(&self, limit: Kelvin) -> Option<f64> {
        /// Whole kelvins of one reading make a slope of this size out of nothing.
        const SLOPE_MIN: f64 = 0.01;
        let left = f64::from(limit.as_kelvin()) - self.kelvin?.1;
        let slope = self.slope_k_per_s().filter(|slope| *slope >= SLOPE_MIN)?;
        (left > 0.0).then(|| left / slope)
    }

    /// Counters as just read. The first reading moves nothing.
    pub fn counters(&mut self, t_s: f64, counters: TmtCounters) -> Option<WatchEvent> {
        let before = self.counters.replace(counters)?;
        // They saturate at 2^32 - 1; one that goes back is another drive's.
        let moved = |before: (u32, u32), now: (u32, u32)| now.0 > before.0 || now.1 > before.1;
        let cause = if moved(before.heavy, counters.heavy) {
            SlowCause::Tmt2
        } else if moved(before.light, counters.light) {
            SlowCause::Tmt1
        } else {
            return None;
        };
        self.counter_moved_s = Some((t_s, cause));
        match self.slow {
            // The drive's own word is better than ours; it is the same episode.
            Some(slow) if slow.cause.is_heat() => {
                self.slow = Some(SlowState { cause, ..slow });
                None
            }
            Some(slow) => Some(self.begin(t_s, slow.since_s, cause)),
            None => Some(self.begin(t_s, self.evidence_since_s.unwrap_or(t_s), cause)),
        }
    }

    /// A second of block statistics, which ends at `t_s`. Returns what begins or ends with it.
    pub fn second(&mut self, t_s: f64, slice: &LoadSlice) -> Vec<WatchEvent> {
        self.seconds += 1;
        let mut events = Vec::new();
        events.extend(self.stall(t_s, slice));
        self.compare_demand(slice);
        let compared = compared(slice);
        if let Some(second) = &compared {
            self.comparable += 1;
            events.extend(self.compare(t_s, second));
        }
        events.extend(self.release_without_io(t_s, compared.is_some()));
        events
    }

    /// The same where there are no block statistics: an episode that the counters began ends when they stand still.
    pub fn time(&mut self, t_s: f64) -> Option<WatchEvent> {
        self.release_without_io(t_s, false)
    }

    /// Whether more is moved than before the evidence began: a burst makes I/Os wait as well, and no drive is throttled into
    /// moving more.
    fn compare_demand(&mut self, slice: &LoadSlice) {
        let span = slice.span.as_secs_f64();
        let now = (
            (slice.read.ios + slice.write.ios) as f64 / span,
            slice.rate(&slice.read) + slice.rate(&slice.write),
        );
        let Some(usual) = self.usual else {
            self.usual = Some(now);
            return;
        };
        self.more_is_asked = now.0 > MORE * usual.0 || now.1 > MORE * usual.1;
        if self.sum < SECOND_MAX / 2.0 {
            let follow = |usual: f64, now: f64| usual + (now - usual) / USUAL_S;
            self.usual = Some((follow(usual.0, now.0), follow(usual.1, now.1)));
        }
    }

    fn stall(&mut self, t_s: f64, slice: &LoadSlice) -> Option<WatchEvent> {
        let completed = slice.read.ios + slice.write.ios + slice.discard.ios > 0;
        if completed || slice.in_flight == 0 {
            self.waiting_since_s = None;
            return std::mem::take(&mut self.stalled)
                .then(|| self.event(t_s, t_s, WatchEventKind::StallEnd, "I/Os complete again".to_owned()));
        }
        let since = *self.waiting_since_s.get_or_insert(t_s - slice.span.as_secs_f64());
        if self.stalled || t_s - since < STALL_S {
            return None;
        }
        self.stalled = true;
        let text = format!("{} I/Os in flight and none completes", slice.in_flight);
        Some(self.event(since, t_s, WatchEventKind::Stall, text))
    }

    fn compare(&mut self, t_s: f64, second: &Compared) -> Option<WatchEvent> {
        let slower = self.references.slower_ln(second);
        let spread = slower.map_or(0.0, |(_, spread)| spread);
        let slower = slower.map(|(ln, _)| ln);
        self.compared_s = t_s;
        self.lost_ln =
            slower.map(|ln| self.lost_ln.map_or(ln, |before| 0.7 * before + 0.3 * ln)).or(self.lost_ln);
        let ln = slower.unwrap_or(0.0);
        let step = (ln - SLACK_LN.max(SPREADS * spread)).clamp(-SECOND_MAX, SECOND_MAX);
        // What could be evidence is not learned from: the reference would follow the throttling.
        if self.slow.is_none() && step <= 0.0 && !self.counter_moves(t_s) {
            self.references.learn(second, self.is_cool());
        }
        slower?;
        if step > 0.0 {
            self.evidence_since_s.get_or_insert(t_s - 1.0);
            self.evidence_writes = second.key.is_write;
        }
        self.sum = (self.sum + step).clamp(0.0, 2.0 * ONSET_SUM);
        if self.sum == 0.0 {
            self.evidence_since_s = None;
        }
        self.fast_seconds = if step < 0.0 { self.fast_seconds + 1 } else { 0 };
        match self.slow {
            None if self.sum >= ONSET_SUM => {
                let cause = self.cause(second.key.is_write);
                Some(self.begin(t_s, self.evidence_since_s.unwrap_or(t_s), cause))
            }
            Some(slow) if !slow.cause.is_heat() && t_s - slow.since_s >= NEW_NORMAL_S => {
                self.references.forget();
                Some(self.end(t_s, slow, 0))
            }
            Some(slow) if self.fast_seconds >= RELEASE_SECONDS && !self.counter_moves(t_s) => {
                Some(self.end(t_s, slow, self.fast_seconds))
            }
            _ => None,
        }
    }

    /// Ends an episode without a load to see it by: the counters stand still, the drive has cooled, or nothing could be
    /// compared for long.
    fn release_without_io(&mut self, t_s: f64, has_io: bool) -> Option<WatchEvent> {
        if t_s - self.compared_s > BLIND_S / 6.0 && self.slow.is_none() {
            (self.sum, self.evidence_since_s) = (0.0, None);
        }
        let slow = self.slow?;
        if matches!(slow.cause, SlowCause::Tmt1 | SlowCause::Tmt2) {
            let still_s = self.counter_moved_s.map_or(f64::INFINITY, |(moved, _)| t_s - moved);
            return (still_s > COUNTER_STILL_S).then(|| self.end(t_s, slow, COUNTER_STILL_S as u32));
        }
        let cooled = slow.onset_k.zip(self.kelvin).is_some_and(|(onset, (_, now))| now <= onset - COOLED_K);
        let blind = t_s - self.compared_s.max(slow.since_s) > BLIND_S;
        (!has_io && (cooled || blind)).then(|| self.end(t_s, slow, 0))
    }

    fn counter_moves(&self, t_s: f64) -> bool {
        self.counter_moved_s.is_some_and(|(moved, _)| t_s - moved <= COUNTER_STILL_S)
    }

    fn is_cool(&self) -> bool {
        let Some((_, kelvin)) = self.kelvin else { return true };
        let limit = self.limits.lowest().unwrap_or(HOT_K);
        let limit = self.learned_onset_k.map_or(limit, |learned| limit.min(learned));
        kelvin < limit - COOL_BELOW_K
    }

    /// Whether slowness at this temperature can be heat. The drive's own word came before.
    fn cause(&self, is_write: bool) -> SlowCause {
        let otherwise = if is_write { SlowCause::Cache } else { SlowCause::Unknown };
        let Some((_, kelvin)) = self.kelvin else { return SlowCause::Unknown };
        // A threshold that is known needs no guess, and below it there is none.
        if let Some(onset) = self.learned_onset_k {
            let is_reached = kelvin >= onset - NEAR_LEARNED_K && self.came_from_below();
            return if is_reached { SlowCause::Hidden } else { otherwise };
        }
        let warning = self.limits.warning.map(|warning| f64::from(warning.as_kelvin()));
        let threshold = match (is_write, self.counters) {
            (true, _) => warning.map(|warning| warning - NEAR_WRITES_K),
            // Counters would tell of TMT1 and TMT2: what is left is the firmware's own.
            (false, Some(_)) => Some(warning.map_or(HOT_K, |warning| warning - NEAR_READS_K)),
            (false, None) => Some(warning.map_or(HOT_K, |warning| HOT_K.min(warning - NEAR_READS_K))),
        };
        let is_hot = threshold.is_some_and(|threshold| kelvin >= threshold);
        if is_hot && self.came_from_below() && !self.more_is_asked { SlowCause::Hidden } else { otherwise }
    }

    /// Whether the temperature has just risen to the highest of the last minutes: a threshold is crossed upwards. What
    /// slows a drive at a temperature that it had before is something else.
    fn came_from_below(&self) -> bool {
        let Some((now_s, _)) = self.kelvin else { return false };
        let most = |from_s: f64, to_s: f64| {
            let within = self.course.iter().filter(|(t, _)| now_s - t >= from_s && now_s - t < to_s);
            within.map(|(_, kelvin)| *kelvin).max_by(f64::total_cmp)
        };
        let least = self.course.iter().filter(|(t, _)| now_s - t < COURSE_S / 2.0).map(|(_, kelvin)| *kelvin);
        let onset_s =
            ONSET_S + self.evidence_since_s.map_or(0.0, |since| (now_s - since).clamp(0.0, COURSE_S / 4.0));
        let Some((top, least)) = most(0.0, onset_s).zip(least.min_by(f64::total_cmp)) else { return false };
        top - least >= RISE_K && most(onset_s, COURSE_S).is_none_or(|before| top >= before)
    }

    fn begin(&mut self, t_s: f64, since_s: f64, cause: SlowCause) -> WatchEvent {
        let kelvin = self.kelvin.map(|(_, kelvin)| kelvin);
        self.slow = Some(SlowState { cause, since_s, onset_k: kelvin, is_write: self.evidence_writes });
        self.fast_seconds = 0;
        let seen = match (self.counters, self.counter_moves(t_s)) {
            (None, _) => CountersSeen::Unreadable,
            (Some(_), true) => CountersSeen::Moved,
            (Some(_), false) => CountersSeen::Still,
        };
        let slower = self.lost_ln.filter(|_| self.sum > 0.0);
        let temp = kelvin.map(|k| Kelvin::from_kelvin(k as u16));
        let text = onset_text(cause, temp, slower, self.evidence_writes, seen);
        let kind = if cause.is_heat() { WatchEventKind::ThrottleOnset } else { WatchEventKind::SlowOnset };
        self.event(since_s, t_s, kind, text)
    }

    fn end(&mut self, t_s: f64, slow: SlowState, fast_seconds: u32) -> WatchEvent {
        let at_s = t_s - f64::from(fast_seconds);
        let (kind, what) = if slow.cause.is_heat() {
            (WatchEventKind::ThrottleRelease, "no longer throttled")
        } else {
            (WatchEventKind::SlowRelease, "as fast as before")
        };
        let kelvin = self.kelvin.map(|(_, kelvin)| kelvin);
        self.learn_onset(at_s, slow, kelvin);
        let temp = kelvin.map(|k| format!(" at {}", Kelvin::from_kelvin(k as u16))).unwrap_or_default();
        let text = format!("{what}{temp}, after {:.0} s", (at_s - slow.since_s).max(0.0));
        let event = WatchEvent { cause: Some(slow.cause), ..self.event(at_s, t_s, kind, text) };
        (self.slow, self.sum, self.evidence_since_s, self.lost_ln) = (None, 0.0, None, None);
        event
    }

    /// Heat lets go when it is cooler: twice at one temperature, and it is a threshold.
    fn learn_onset(&mut self, at_s: f64, slow: SlowState, now_k: Option<f64>) {
        let (Some(onset), Some(now)) = (slow.onset_k, now_k) else { return };
        let is_counted = matches!(slow.cause, SlowCause::Tmt1 | SlowCause::Tmt2);
        if is_counted
            || slow.is_write
            || at_s - slow.since_s < LEARN_S
            || now > onset - LEARN_COOLER_K
            || onset < HOT_K - 10.0
        {
            return;
        }
        if self.suspected_onset_k.is_some_and(|before| (before - onset).abs() <= NEAR_LEARNED_K) {
            self.learned_onset_k = Some(self.learned_onset_k.map_or(onset, |learned| learned.min(onset)));
        }
        self.suspected_onset_k = Some(onset);
    }

    fn event(&self, at_s: f64, told_s: f64, kind: WatchEventKind, text: String) -> WatchEvent {
        WatchEvent {
            at_s,
            told_s,
            kind,
            cause: self
                .slow
                .map(|slow| slow.cause)
                .filter(|_| !matches!(kind, WatchEventKind::Stall | WatchEventKind::StallEnd)),
            temp_k: self.kelvin.map(|(_, kelvin)| kelvin as u16),
            capacity_lost: self.capacity_lost().filter(|_| self.sum > 0.0),
            text,
        }
    }

    /// After a gap - sleep, another device behind the name - what was counted before says nothing.
    pub fn interrupted(&mut self) {
        self.course.clear();
        (self.sum, self.evidence_since_s, self.waiting_since_s, self.stalled) = (0.0, None, None, false);
        self.counters = None;
    }

    /// How many kinds of load have a reference.
    pub fn references_known(&self) -> usize {
        self.references.known()
    }
}
