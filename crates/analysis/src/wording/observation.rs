//! Observations as sentences.

use measure::{Bytes, BytesPerSec};

use super::degrees;
use crate::findings::{Event, WeighedObservation};
use crate::observation::Observation;

/// What lowers the log odds by less than this speaks neither for nor against: a hundredth of the odds.
const LEAST_AGAINST: f64 = 0.01;

/// What speaks for the cause of an event and against it, a sentence for each of its observations.
pub fn evidence(event: &Event) -> Vec<String> {
    let against = if event.cause.is_heat() { "Against heat or this threshold: " } else { "Against it: " };
    let sentence = |seen: &WeighedObservation| match seen.weight {
        Some(weight) if weight < -LEAST_AGAINST => against.to_owned() + &observation(&seen.observation),
        _ => observation(&seen.observation),
    };
    event.observations.iter().map(sentence).collect()
}

/// An observation as a sentence, with the rule that weighs it.
pub fn with_rule(seen: &Observation) -> String {
    let rule = seen.rule().map(|rule| format!(" [{}]", rule.name())).unwrap_or_default();
    observation(seen) + &rule
}

/// An observation as a sentence.
#[expect(clippy::too_many_lines, reason = "a table: one sentence a variant")]
pub fn observation(seen: &Observation) -> String {
    use Observation as Seen;
    let rate = |bytes_per_s: &f64| BytesPerSec::new(*bytes_per_s);
    let amount = |bytes: &u64| Bytes::new(*bytes);
    let at = |kelvin: &f64| degrees(*kelvin);
    let end = |recovered: &bool| if *recovered { "" } else { ", up to the end of the load" };
    match seen {
        Seen::SpeedFell { before_bytes_per_s: before, during_bytes_per_s: during, span_s, recovered } => {
            format!(
                "Speed fell from {} to {} for {span_s:.0} s{}.",
                rate(before),
                rate(during),
                end(recovered)
            )
        }
        // Nothing fell: the same load was faster elsewhere.
        Seen::BeganSlow {
            elsewhere_bytes_per_s: elsewhere,
            during_bytes_per_s: during,
            span_s,
            recovered,
        } => format!(
            "The load began at {} and stayed slow for {span_s:.0} s{}; elsewhere in the run the same load went at {}.",
            rate(during),
            end(recovered),
            rate(elsewhere)
        ),
        Seen::BeganThrottled { during_bytes_per_s: during, span_s, recovered } => format!(
            "The load began at {} while the drive was throttling already, for {span_s:.0} s{}; how fast it would have been else was not seen.",
            rate(during),
            end(recovered)
        ),
        Seen::SpeedReturned { span_s, temp_k } => {
            let at = temp_k.map(|k| format!(", at {}", degrees(k))).unwrap_or_default();
            format!("Speed came back after {span_s:.0} s{at}.")
        }
        Seen::MostAreNotHeat => "Most slow stretches are something other than heat.".to_owned(),
        Seen::MostAreNoFullCache => "Most drops of write speed are no full cache.".to_owned(),
        Seen::ReadingFillsNoCache => "Reading fills no write cache.".to_owned(),
        Seen::AtCritical { temp_k, critical_k } => {
            format!("It was {}, the critical temperature of the drive is {}.", at(temp_k), at(critical_k))
        }
        Seen::Hot { temp_k } => format!("It was {}, where drives protect themselves.", at(temp_k)),
        Seen::Cool { temp_k } => format!(
            "It was {}: drives do not protect themselves that early unless they are set to.",
            at(temp_k)
        ),
        Seen::StillTemperature => "The temperature never moves, so it says nothing.".to_owned(),
        Seen::NoTemperature => "There is no temperature near it.".to_owned(),
        Seen::ThresholdDisabled { threshold } => format!("{threshold} is disabled."),
        Seen::AtThreshold { threshold, temp_k, set_k } => {
            format!("It was {}, and {threshold} is set to {}.", at(temp_k), at(set_k))
        }
        Seen::HeldBelowThreshold { threshold, temp_k, set_k } => format!(
            "It was {}, and from then on the temperature stayed below {threshold}, {}.",
            at(temp_k),
            at(set_k)
        ),
        Seen::SettledBelowThreshold { threshold, temp_k, set_k } => format!(
            "It was {}; speed gave way bit by bit and the temperature settled just below {threshold}, {}.",
            at(temp_k),
            at(set_k)
        ),
        Seen::ThresholdBelowRun { threshold, set_k } => format!(
            "{threshold} is set to {}, below everything the drive was in this run: it does not act.",
            at(set_k)
        ),
        Seen::AwayFromThreshold { threshold, temp_k, set_k } => {
            let side = if temp_k > set_k { "above" } else { "below" };
            let far_k = (temp_k - set_k).abs();
            format!("It was {}, {far_k:.0} K {side} {threshold} ({}).", at(temp_k), at(set_k))
        }
        Seen::RanHotter { full_speed_s } => format!(
            "The drive ran {full_speed_s:.0} s at full speed while it was at least 1.5 K hotter than that."
        ),
        Seen::StayedAsHot { temp_k, late_k } => format!(
            "While it was slow the temperature stayed where it was: {} after {}.",
            at(late_k),
            at(temp_k)
        ),
        Seen::SlowThoughCooled { temp_k, late_k } => {
            format!("It stayed slow although it cooled from {} to {}.", at(temp_k), at(late_k))
        }
        Seen::WentOnHeating { temp_k, late_k } => {
            format!("It went on heating while it was slow, from {} to {}.", at(temp_k), at(late_k))
        }
        Seen::BackWhenCooled { cooled_k, release_k } => {
            format!("Its speed came back when it had cooled by {cooled_k:.0} K, to {}.", at(release_k))
        }
        Seen::BackHardlyCooled { temp_k, release_k } => {
            format!("Its speed came back when it had hardly cooled: {} after {}.", at(release_k), at(temp_k))
        }
        Seen::BackUncooled { release_k } => {
            format!("Its speed came back although it had not cooled: {}.", at(release_k))
        }
        Seen::CounterMoved { threshold } => format!("The drive's own counters of {threshold} moved."),
        Seen::CounterStill { threshold, has_counted: true } => {
            format!("The drive's counters of {threshold} stood still, and this drive does count.")
        }
        Seen::CounterStill { threshold, has_counted: false } => {
            format!("The drive's counters of {threshold} stood still at zero.")
        }
        Seen::WrittenOfStated { written_bytes, stated_bytes } => format!(
            "{} had been written, and the fast cache is stated as {}.",
            amount(written_bytes),
            amount(stated_bytes)
        ),
        Seen::LittleWritten { written_bytes } => format!("Only {} had been written.", amount(written_bytes)),
        Seen::CacheFilledBefore => {
            "The fast cache had been filled before, and this is the speed since.".to_owned()
        }
        Seen::Stopped => {
            "Writing stopped altogether; behind a full cache it goes on at the speed of the flash.".to_owned()
        }
        Seen::BackWhileWriting => {
            "Its speed came back while writing went on, which empties no cache.".to_owned()
        }
        Seen::WritingStayedSlow { share, written_bytes } => format!(
            "Writing fell to {:.0} % after {} and stayed there.",
            share * 100.0,
            amount(written_bytes)
        ),
        Seen::ThroughPageCache => {
            "The phase goes through the page cache, whose speed is not the drive's.".to_owned()
        }
        Seen::Short { span_s } => format!("It lasted only {span_s:.1} s."),
        Seen::Lasted { span_s } => {
            format!("It lasted {span_s:.0} s, and what is not heat seldom lasts so long.")
        }
        Seen::LittleLost => {
            "It lost little and at once: drives that protect themselves in steps give up more.".to_owned()
        }
        Seen::PowerStateChanged { before, after } => {
            format!("The host took the drive from power state {before} to {after} at that moment.")
        }
        Seen::MaybePause => {
            "Nothing moved, which may be the load's own pause: the log does not say.".to_owned()
        }
        Seen::ByChance { stay_s_per_k, every_s } => format!(
            "At full speed the drive stayed {stay_s_per_k:.0} s in that kelvin; what comes by chance comes once in {every_s:.0} s here."
        ),
        Seen::Crept { stay_s_per_k } => format!(
            "The temperature had nearly come to rest ({stay_s_per_k:.0} s in that kelvin), which it rarely does just at a threshold."
        ),
        Seen::BeganAlike { drops: 0, temp_k } => {
            format!("Others that heat may have caused began elsewhere than at {}.", at(temp_k))
        }
        Seen::BeganAlike { drops, temp_k } => {
            format!("{drops} others that heat may have caused began at {} too.", at(temp_k))
        }
        Seen::LooksAlike { drops } => {
            format!(
                "{drops} slow stretches are about as deep and as long, and what most of them are this one is too."
            )
        }
        Seen::Clockwork { times, period_s, between_k: [low, high] } => format!(
            "It came {times} times, every {period_s:.0} s, at {} as well as at {}: a threshold has one temperature.",
            at(low),
            at(high)
        ),
        Seen::Recurs { times, period_s, between_k } => {
            let at = between_k.map(|[low, high]| format!(", at {} to {}", degrees(low), degrees(high)));
            let at = at.unwrap_or_default();
            match period_s {
                Some(period_s) => format!(
                    "It came {times} times, every {period_s:.0} s{at}: periodic housekeeping of the drive is like that."
                ),
                None => format!(
                    "It came {times} times at no fixed interval{at}: garbage collection or other work in the background is like that."
                ),
            }
        }
    }
}
