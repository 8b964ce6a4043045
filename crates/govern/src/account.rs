//! What a governed load came to: the highest temperature, how long it was held back, and to what rate.

use std::time::Duration;

use measure::{BytesPerSec, Instant, Kelvin};

/// A limit of which this share flows holds the load back: block sizes and the drive's own pauses take the rest.
const BINDING: f64 = 0.85;
/// Held stretches with less than this between them are one.
const ONE_STRETCH: Duration = Duration::from_secs(3);
/// So many stretches are kept apart; further ones lengthen the last.
const MOST_STRETCHES: usize = 10_000;

/// A stretch in which the limit held the load back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldSpan {
    /// Its start.
    pub start: Instant,
    /// Its end.
    pub end: Instant,
    /// The mean of the limit in it.
    pub limit: BytesPerSec,
}

/// Adds up what happens.
#[derive(Clone, Debug)]
pub struct Account {
    below_k: f64,
    highest: Option<(f64, Instant)>,
    over: Option<Instant>,
    readings: u64,
    loaded: Duration,
    held: Duration,
    lowest: Option<f64>,
    spans: Vec<HeldSpan>,
    last: Option<(Instant, Option<f64>)>,
}

impl Account {
    /// Of a load that has to stay below that temperature.
    pub fn new(below: Kelvin) -> Self {
        Self {
            below_k: f64::from(below.as_kelvin()),
            highest: None,
            over: None,
            readings: 0,
            loaded: Duration::ZERO,
            held: Duration::ZERO,
            lowest: None,
            spans: Vec::new(),
            last: None,
        }
    }

    /// Up to `t` this rate has flowed since the last call; from now on `limit` is in force.
    pub fn step(&mut self, t: Instant, flowed: BytesPerSec, limit: Option<BytesPerSec>) {
        if let Some((since, in_force)) = self.last {
            let span = t.since(since);
            if flowed.as_f64() > 0.0 {
                self.loaded += span;
            }
            if let Some(in_force) = in_force.filter(|limit| flowed.as_f64() >= BINDING * limit) {
                self.hold(since, t, in_force);
            }
        }
        self.last = Some((t, limit.map(BytesPerSec::as_f64)));
    }

    fn hold(&mut self, start: Instant, end: Instant, limit: f64) {
        let span = end.since(start);
        self.held += span;
        self.lowest = Some(self.lowest.map_or(limit, |lowest| lowest.min(limit)));
        let is_full = self.spans.len() >= MOST_STRETCHES;
        match self.spans.last_mut().filter(|last| is_full || start.since(last.end) <= ONE_STRETCH) {
            Some(last) => {
                let (before_s, span_s) = (last.end.since(last.start).as_secs_f64(), span.as_secs_f64());
                let sum = last.limit.as_f64() * before_s + limit * span_s;
                last.limit = BytesPerSec::new(sum / (before_s + span_s).max(f64::MIN_POSITIVE));
                last.end = end;
            }
            None => self.spans.push(HeldSpan { start, end, limit: BytesPerSec::new(limit) }),
        }
    }

    /// A temperature was read, in kelvins.
    pub fn temperature(&mut self, t: Instant, kelvin: f64) {
        self.readings += 1;
        if self.highest.is_none_or(|(highest, _)| kelvin > highest) {
            self.highest = Some((kelvin, t));
        }
        if kelvin >= self.below_k {
            self.over.get_or_insert(t);
        }
    }

    /// The highest temperature in kelvins, and when it was first read.
    pub const fn highest(&self) -> Option<(f64, Instant)> {
        self.highest
    }

    /// How often the temperature was read.
    pub const fn readings(&self) -> u64 {
        self.readings
    }

    /// When the limit was first reached; `None` where every reading was below.
    pub const fn reached(&self) -> Option<Instant> {
        self.over
    }

    /// Share of the time under load in which the load was held back; `None` without a load.
    pub fn held_share(&self) -> Option<f64> {
        let loaded_s = self.loaded.as_secs_f64();
        (loaded_s > 0.0).then(|| (self.held.as_secs_f64() / loaded_s).min(1.0))
    }

    /// The mean of the limit while it held the load back.
    pub fn held_to(&self) -> Option<BytesPerSec> {
        let all_s: f64 = self.spans.iter().map(|span| span.end.since(span.start).as_secs_f64()).sum();
        let bytes = |span: &HeldSpan| span.limit.as_f64() * span.end.since(span.start).as_secs_f64();
        (all_s > 0.0).then(|| BytesPerSec::new(self.spans.iter().map(bytes).sum::<f64>() / all_s))
    }

    /// The lowest limit that held the load back.
    pub fn lowest(&self) -> Option<BytesPerSec> {
        self.lowest.map(BytesPerSec::new)
    }

    /// The stretches in which the load was held back.
    pub fn spans(&self) -> &[HeldSpan] {
        &self.spans
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn at(second: u64) -> Instant {
        Instant::from_ns(second * 1_000_000_000)
    }

    #[test]
    fn a_load_is_held_where_the_limit_flows() {
        let mut account = Account::new(Kelvin::from_kelvin(341));
        let rate = BytesPerSec::new;
        account.step(at(0), rate(0.0), None);
        account.step(at(10), rate(1e9), Some(rate(5e8)));
        account.step(at(20), rate(5e8), Some(rate(4e8)));
        account.step(at(30), rate(4e8), Some(rate(4e8)));
        account.step(at(40), rate(1e8), None);
        account.step(at(50), rate(0.0), None);
        assert_eq!(account.held_share(), Some(0.5));
        assert_eq!(account.held_to().map(BytesPerSec::as_f64), Some(4.5e8));
        assert_eq!(account.lowest(), Some(rate(4e8)));
        assert_eq!(account.spans().len(), 1);
        assert_eq!((account.spans()[0].start, account.spans()[0].end), (at(10), at(30)));
    }

    #[test]
    fn the_limit_itself_is_not_below_it() {
        let mut account = Account::new(Kelvin::from_kelvin(341));
        account.temperature(at(1), 340.9);
        assert_eq!((account.reached(), account.held_share()), (None, None));
        account.temperature(at(2), 341.0);
        account.temperature(at(3), 340.0);
        assert_eq!(account.reached(), Some(at(2)));
        assert_eq!(account.highest(), Some((341.0, at(2))));
    }
}
