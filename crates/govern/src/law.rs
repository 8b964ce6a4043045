//! The control law: from readings of a temperature and the rate that flowed to a rate limit.
//!
//! It works on the logarithm of the limit. Above its surroundings a drive rises in proportion to what it moves, so that a
//! change of the logarithm by 0.01 moves the temperature by 1 % of that rise, whatever the drive: how much a change does
//! is known without knowing the drive. What is not known is how fast the drive follows, from seconds to many minutes;
//! therefore the law asks for a slope, and holds that against the slope of the readings. In the words of control
//! engineers: a PI controller in velocity form on the logarithm, its proportional part on the measurement, with the gain
//! scheduled by the rise. `docs/METHODS.md` has the reasoning, `docs/ACCURACY.md` how often it held.

use measure::{BytesPerSec, Instant, Kelvin};

use crate::trend::Trend;

/// What a governed load has to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The temperature has to stay below this one.
    pub below: Kelvin,
    /// The limit never falls below this rate: nothing may be stalled.
    pub at_least: BytesPerSec,
}

// Tuned by hand on ladders of two to four nodes, and judged on others (docs/ACCURACY.md, Govern).

/// Seconds of readings from which the slope is taken: ten readings of whole kelvins give it to 0.1 K/s.
const WINDOW_S: f64 = 10.0;
/// After a hole of this length between readings, or when time goes back, older readings say nothing of the slope.
const GAP_S: f64 = 20.0;
/// No change is computed for a longer time than this between two readings.
const STEP_S: f64 = 5.0;
/// A free load is limited from the moment on at which the slope would reach the target within this time.
const AHEAD_S: f64 = 18.0;
/// The temperature is to approach its target with this time constant.
const APPROACH_S: f64 = 25.0;
/// Change of the logarithm for a change of the temperature by the whole rise, where it is too cool and too hot.
const GAIN_UP: f64 = 4.0;
const GAIN_DOWN: f64 = 5.0;
/// Taken for the surroundings of a drive that has shown nothing cooler.
const SURROUNDINGS_K: f64 = 300.0;
/// The least rise above the surroundings that is reckoned with, in kelvins.
const RISE_MIN_K: f64 = 15.0;
/// Kelvins between target and limit beside half a step of the sensor.
const MARGIN_K: f64 = 1.5;
/// One step of the sensor below the limit counts as so many kelvins above the target at least.
const EDGE_K: f64 = 4.0;
/// Faster cooling is a load that has paused, and counts as this much, in kelvins a second.
const COOLING_K_PER_S: f64 = -0.5;
/// At or above the limit the logarithm falls by this a second, and by as much again for each kelvin.
const OVER_PER_S: f64 = 0.10;
/// A limit of which less than this share flows does not hold the load.
const BINDING: f64 = 0.85;
/// A limit that nothing uses rises only so far below the target, in kelvins.
const UNUSED_K: f64 = 2.0;
/// A limit above the fastest rate that was seen, by this factor, holds nothing.
const FREE: f64 = 1.1;
/// A load that begins this close to the target begins slowly, in kelvins.
const NEAR_K: f64 = 9.0;
/// So does one that gets faster than all that was seen by this factor: nobody knows what it will heat.
const SURGE: f64 = 1.25;
/// The rate at which a load begins there, where no rate was seen yet.
const FIRST_BYTES_PER_S: f64 = 100e6;
/// A limit that holds the load back rises by this a second for each kelvin that the look ahead stays below the target by more
/// than a step of the sensor and this many kelvins: nothing that was seen speaks for it, such as after a slow beginning.
const ROOM_PER_K_S: f64 = 0.07;
const ROOM_K: f64 = 3.5;
/// The logarithm changes by no more than this from one reading to the next, down and up.
const MOST_DOWN: f64 = 0.7;
const MOST_UP: f64 = 0.4;
/// Readings outside are no temperatures of a drive (the thermal guard of a run has the same limits).
const POSSIBLE_K: std::ops::RangeInclusive<f64> = 233.15..=398.15;
/// Differences between readings beyond this are changes of temperature, and not steps of the sensor, in kelvins.
const COARSEST_STEP_K: f64 = 5.5;
/// Differences below this are no steps either.
const FINEST_STEP_K: f64 = 0.05;

/// Governs one load on one drive. It has no clock: times come with the readings.
#[derive(Clone, Debug)]
pub struct Governor {
    bounds: Bounds,
    limit: Option<f64>,
    trend: Trend,
    last: Option<(Instant, f64)>,
    /// The finest step of the sensor that was seen, in kelvins.
    step_k: f64,
    coolest_k: f64,
    /// The fastest rate that was seen, in bytes a second, and the last ones.
    fastest: f64,
    lately: [f64; 3],
}

/// What a reading says.
#[derive(Clone, Copy)]
struct Seen {
    kelvin: f64,
    /// Time since the one before, in seconds.
    span_s: f64,
    flow: f64,
}

impl Governor {
    /// One that limits nothing yet.
    pub const fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            limit: None,
            trend: Trend::new(WINDOW_S),
            last: None,
            step_k: 0.0,
            coolest_k: SURROUNDINGS_K,
            fastest: 0.0,
            lately: [0.0; 3],
        }
    }

    /// What has to be kept.
    pub const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The limit in force; `None` where the load is free.
    pub fn limit(&self) -> Option<BytesPerSec> {
        self.limit.map(BytesPerSec::new)
    }

    /// When the temperature was last read.
    pub fn last_read(&self) -> Option<Instant> {
        self.last.map(|(t, _)| t)
    }

    /// Takes a reading of the temperature in kelvins at `t`, and the rate that has flowed since the one before; the limit
    /// from now on. What is no temperature is no reading and changes nothing.
    pub fn reading(&mut self, t: Instant, kelvin: f64, flowed: BytesPerSec) -> Option<BytesPerSec> {
        if !POSSIBLE_K.contains(&kelvin) {
            return self.limit();
        }
        let since_s = self.last.map_or(0.0, |(last, _)| t.as_secs_f64() - last.as_secs_f64());
        if !(0.0..=GAP_S).contains(&since_s) {
            self.trend.clear();
        }
        self.trend.push(t.as_secs_f64(), kelvin);
        let flow = if flowed.as_f64().is_finite() { flowed.as_f64().max(0.0) } else { 0.0 };
        let fastest_before = self.fastest;
        self.fastest = self.fastest.max(flow);
        self.lately = [self.lately[1], self.lately[2], flow];
        let seen = Seen { kelvin, span_s: since_s.clamp(0.0, STEP_S), flow };
        self.limit = match self.limit {
            None => self.first_limit(seen, fastest_before),
            Some(limit) => self.next_limit(limit, seen),
        };
        // After the limit: a hotter reading must never loosen it, by way of a finer step either.
        self.learn(kelvin);
        self.last = Some((t, kelvin));
        self.limit()
    }

    /// Falls to the least rate: nobody knows the temperature any more. The next reading goes on from there.
    pub fn blind(&mut self) -> Option<BytesPerSec> {
        self.limit = Some(self.bounds.at_least.as_f64());
        self.trend.clear();
        self.limit()
    }

    fn below_k(&self) -> f64 {
        f64::from(self.bounds.below.as_kelvin())
    }

    /// The temperature that is aimed at: the limit less a margin, and half of what the sensor hides.
    fn target_k(&self) -> f64 {
        self.below_k() - MARGIN_K - 0.5 * self.step_k.max(1.0)
    }

    /// Where the slope of the last readings leads.
    fn ahead_k(&self, kelvin: f64) -> f64 {
        let line = self.trend.line();
        kelvin.max(line.value) + line.slope.max(0.0) * AHEAD_S
    }

    /// A free load: whether it has to be limited, and to what first.
    fn first_limit(&self, seen: Seen, fastest_before: f64) -> Option<f64> {
        let least = self.bounds.at_least.as_f64();
        if seen.kelvin >= self.below_k() {
            return Some((0.5 * seen.flow).max(least));
        }
        let is_near = seen.kelvin >= self.target_k() - NEAR_K;
        if is_near && self.fastest <= least {
            return Some(FIRST_BYTES_PER_S.max(least));
        }
        if is_near && fastest_before > least && seen.flow > SURGE * fastest_before {
            return Some(fastest_before.max(0.5 * seen.flow));
        }
        let leads_there = self.ahead_k(seen.kelvin) >= self.target_k() && seen.flow > least;
        leads_there.then(|| self.lately.into_iter().fold(least, f64::max))
    }

    /// A limited load: the next limit, or none any more.
    fn next_limit(&self, limit: f64, seen: Seen) -> Option<f64> {
        let least = self.bounds.at_least.as_f64();
        let next = limit * self.change(limit, seen).clamp(-MOST_DOWN, MOST_UP).exp();
        let most = (FREE * FREE * self.fastest).max(FIRST_BYTES_PER_S).max(least);
        let next = next.clamp(least, most);
        let is_free = self.fastest > least
            && next >= FREE * self.fastest
            && self.ahead_k(seen.kelvin) < self.target_k() - 1.0;
        (!is_free).then_some(next)
    }

    /// By how much the logarithm of the limit changes.
    fn change(&self, limit: f64, seen: Seen) -> f64 {
        let line = self.trend.line();
        let cooler_k = self.cooler_k(seen.kelvin.max(line.value), seen.kelvin);
        let rise_k = (self.target_k() - self.coolest_k).max(RISE_MIN_K);
        let off = cooler_k / APPROACH_S - line.slope.max(COOLING_K_PER_S);
        let gain = if off < 0.0 { GAIN_DOWN } else { GAIN_UP };
        let mut change = gain / rise_k * off * seen.span_s;
        if seen.flow < BINDING * limit {
            // Anti-windup: less was asked than the limit, so that cooling says nothing about it.
            let unused = GAIN_UP / rise_k * ((cooler_k - UNUSED_K) / APPROACH_S).max(0.0) * seen.span_s;
            change = change.min(unused);
        } else {
            let room_k = self.target_k() - self.step_k.max(1.0) - ROOM_K - self.ahead_k(seen.kelvin);
            if room_k > 0.0 {
                change = change.max(ROOM_PER_K_S * room_k * seen.span_s);
            }
        }
        let over_k = seen.kelvin - self.below_k();
        if over_k >= 0.0 { change.min(0.0) - OVER_PER_S * seen.span_s * (1.0 + over_k) } else { change }
    }

    /// Kelvins below the target; less at the edge, where the next step of the sensor is the limit.
    fn cooler_k(&self, temp_k: f64, kelvin: f64) -> f64 {
        let cooler_k = self.target_k() - temp_k;
        let at_edge = kelvin + self.step_k.max(1.0) >= self.below_k();
        if at_edge { cooler_k.min(-EDGE_K) } else { cooler_k }
    }

    fn learn(&mut self, kelvin: f64) {
        self.coolest_k = self.coolest_k.min(kelvin);
        let Some((_, last_k)) = self.last else { return };
        let step_k = (kelvin - last_k).abs();
        if (FINEST_STEP_K..=COARSEST_STEP_K).contains(&step_k) {
            self.step_k = if self.step_k == 0.0 { step_k } else { self.step_k.min(step_k) };
        }
    }
}
