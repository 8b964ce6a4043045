//! A load of ours under a governor: what a session asks, and what came of it.

use std::cell::RefCell;
use std::time::Duration;

use capture::session::RateReading;
use govern::{Account, Bounds, Governor};
use measure::record::{GovernorFacts, HeldFacts};
use measure::{BytesPerSec, Instant, Kelvin};

/// After so long without a reading the load falls to the least rate; a run notes the silence after the same time, and
/// ends after 30 s of it (docs/SAFETY.md, Heat).
pub(super) const SILENT: Duration = Duration::from_secs(10);

/// A governed run. Shared by the session, which asks it, and by whoever tells the end.
pub(crate) struct GovernedRun {
    bounds: Bounds,
    state: RefCell<(Governor, Account)>,
}

impl GovernedRun {
    pub(super) fn new(bounds: Bounds) -> Self {
        let state = RefCell::new((Governor::new(bounds), Account::new(bounds.below)));
        Self { bounds, state }
    }

    /// What has to be kept.
    pub(crate) const fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// What the load may move from now on.
    pub(crate) fn rule(&self, reading: &RateReading) -> Option<BytesPerSec> {
        let (governor, account) = &mut *self.state.borrow_mut();
        let limit = step(governor, account, reading.t, reading.kelvin, reading.flowed);
        account.step(reading.t, reading.flowed, limit);
        limit
    }

    /// What came of it.
    pub(crate) fn account(&self) -> Account {
        self.state.borrow().1.clone()
    }

    /// The same for the manifest.
    pub(crate) fn facts(&self) -> GovernorFacts {
        let account = self.account();
        let held = account.spans().iter().map(|span| HeldFacts {
            start_ns: span.start.as_ns(),
            end_ns: span.end.as_ns(),
            bytes_per_s: span.limit.as_f64(),
        });
        GovernorFacts {
            below_k: self.bounds.below.as_kelvin(),
            at_least_bytes_per_s: self.bounds.at_least.as_f64(),
            highest_k: account.highest().map(|(highest_k, _)| highest_k),
            held: held.collect(),
        }
    }

    /// For whoever reads the record: that the load was governed, and how far.
    pub(crate) fn note(&self) -> String {
        let account = self.account();
        let below = self.bounds.below;
        let held = match account.held_share() {
            Some(share) if share > 0.0 => format!("held back in {} of the time under load", percent(share)),
            _ => "never held back".to_owned(),
        };
        let highest = account.highest().map_or_else(String::new, |(highest_k, _)| {
            format!("; the highest reading was {}", Kelvin::from_kelvin(highest_k.floor() as u16))
        });
        format!("the load was governed to stay below {below}: {held}{highest}")
    }
}

/// A reading, or none: the limit from now on.
pub(super) fn step(
    governor: &mut Governor,
    account: &mut Account,
    t: Instant,
    kelvin: Option<f64>,
    flowed: BytesPerSec,
) -> Option<BytesPerSec> {
    if let Some(kelvin) = kelvin {
        account.temperature(t, kelvin);
        return governor.reading(t, kelvin, flowed);
    }
    let silent = governor.last_read().is_some_and(|last| t.since(last) >= SILENT);
    if silent { governor.blind() } else { governor.limit() }
}

/// A share in whole percent; what is not nothing is not 0 %.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent > 0.0 && percent < 1.0 => "less than 1 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn at(second: u64) -> Instant {
        Instant::from_ns(second * 1_000_000_000)
    }

    /// Goal: a sensor that falls silent is a load at the floor, and the next reading goes on from there.
    #[test]
    fn ten_seconds_without_a_reading_are_the_least_rate() {
        let bounds = Bounds { below: Kelvin::from_kelvin(341), at_least: BytesPerSec::new(4e6) };
        let (mut governor, mut account) = (Governor::new(bounds), Account::new(bounds.below));
        let flowed = BytesPerSec::new(1e9);
        let mut limit_at = |second, kelvin| step(&mut governor, &mut account, at(second), kelvin, flowed);
        assert_eq!(limit_at(0, None), None, "nothing is known yet");
        assert_eq!(limit_at(1, Some(310.0)), None);
        assert_eq!(limit_at(10, None), None);
        assert_eq!(limit_at(11, None), Some(bounds.at_least));
        assert!(limit_at(12, Some(310.0)).is_some_and(|limit| limit >= bounds.at_least));
    }

    #[test]
    fn a_little_is_not_nothing() {
        let texts = [0.0, 0.001, 0.496].map(percent);
        assert_eq!(texts, ["0 %", "less than 1 %", "50 %"]);
    }
}
