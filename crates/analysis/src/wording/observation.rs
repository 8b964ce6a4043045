//! Observations as sentences.

use measure::{Bytes, BytesPerSec};

use super::degrees;
use crate::findings::{Event, SegmentOp, WeighedObservation};
use crate::observation::{ExplainedAs, Observation};

/// What lowers the log odds by less than this speaks neither for nor against: a hundredth of the odds.
const LEAST_AGAINST: f64 = 0.01;

/// A probability below this is told as none.
const LEAST_TOLD: f64 = 5e-4;

/// What speaks for the cause of an event and against it, a sentence for each of its observations.
pub fn evidence(event: &Event) -> Vec<String> {
    let against = "Against it: ";
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
    let amount = |bytes: &u64| Bytes::new(*bytes).decimal();
    let at = |kelvin: &f64| degrees(*kelvin);
    let end = |recovered: &bool| if *recovered { "" } else { ", to the end of the load" };
    match seen {
        Seen::SpeedFell {
            before_bytes_per_s: before,
            during_bytes_per_s: during,
            span_s,
            paused_s,
            recovered,
        } => {
            let pauses = match *paused_s {
                0.0 => String::new(),
                paused_s => format!(", not counting {paused_s:.0} s without load"),
            };
            format!(
                "Speed fell from {} to {} for {span_s:.0} s{}{pauses}.",
                rate(before),
                rate(during),
                end(recovered)
            )
        }
        // Nothing fell: the same load was faster elsewhere.
        Seen::BeganSlow {
            elsewhere_bytes_per_s: elsewhere,
            other_run,
            during_bytes_per_s: during,
            span_s,
            recovered,
        } => format!(
            "The load started at {} and stayed there for {span_s:.0} s{}; {} the same load reached {}.",
            rate(during),
            end(recovered),
            if *other_run { "in another run of this drive" } else { "elsewhere in the run" },
            rate(elsewhere)
        ),
        Seen::BeganThrottled { during_bytes_per_s: during, span_s, recovered } => format!(
            "The load started at {} with the drive already throttled, for {span_s:.0} s{}; its full speed was not observed.",
            rate(during),
            end(recovered)
        ),
        Seen::SpeedReturned { span_s, temp_k } => {
            let at = temp_k.map(|k| format!(", at {}", degrees(k))).unwrap_or_default();
            format!("Speed recovered after {span_s:.0} s{at}.")
        }
        Seen::SlowedInOtherRun { bytes_per_s, from_k } => format!(
            "In another run of this drive, heat slowed this load to {} from {} on.",
            rate(bytes_per_s),
            at(from_k)
        ),
        Seen::MostAreNotHeat => "Prior: most slowdowns are not thermal.".to_owned(),
        Seen::MostAreNoFullCache { written_share } => {
            let prior = "Prior: most drops of write speed are not a full SLC cache";
            if *written_share < 1.0 {
                format!("{prior}, and {:.0} % of this load was written.", 100.0 * written_share)
            } else {
                format!("{prior}.")
            }
        }
        Seen::ReadingFillsNoCache => "Reads do not fill the SLC cache.".to_owned(),
        Seen::AtCritical { temp_k, critical_k } => {
            format!(
                "It was {} at the onset; the critical temperature (CCTEMP) is {}.",
                at(temp_k),
                at(critical_k)
            )
        }
        Seen::Hot { temp_k } => {
            format!("It was {} at the onset, in the range of firmware thresholds.", at(temp_k))
        }
        Seen::Cool { temp_k } => {
            format!("It was {} at the onset, below the usual range of firmware thresholds.", at(temp_k))
        }
        Seen::StillTemperature => "The temperature reading never changed, so it is not usable.".to_owned(),
        Seen::NoTemperature => "No temperature was read near the onset.".to_owned(),
        Seen::ThresholdDisabled { threshold } => format!("{threshold} is disabled."),
        Seen::ThresholdNotRecorded { threshold } => {
            format!("{threshold} was not recorded and is taken as disabled.")
        }
        Seen::AtThreshold { threshold, temp_k, set_k } => {
            format!("It was {} at the onset; {threshold} is {}.", at(temp_k), at(set_k))
        }
        Seen::HeldBelowThreshold { threshold, temp_k, set_k } => format!(
            "It was {} at the onset, and the temperature then stayed below {threshold} ({}).",
            at(temp_k),
            at(set_k)
        ),
        Seen::ThresholdBelowRun { threshold, set_k } => {
            format!("{threshold} is {}, below every reading of this run: the drive ignores it.", at(set_k))
        }
        Seen::AwayFromThreshold { threshold, temp_k, set_k } => {
            let side = if temp_k > set_k { "above" } else { "below" };
            let far_k = (temp_k - set_k).abs();
            format!("It was {} at the onset, {far_k:.0} K {side} {threshold} ({}).", at(temp_k), at(set_k))
        }
        Seen::RanHotter { full_speed_s } => {
            format!("The drive ran at full speed for {full_speed_s:.0} s while at least 1.5 K hotter.")
        }
        Seen::RanHotterElsewhere { to_k } => {
            format!("In another run, the drive ran at full speed up to {}.", at(to_k))
        }
        Seen::FellElsewhere { from_k, fast_s, elsewhere_s } => format!(
            "In another run, speed fell after {elsewhere_s:.0} s at {}; here after {fast_s:.0} s.",
            at(from_k)
        ),
        Seen::WrittenElsewhere { written_bytes, elsewhere_bytes } => {
            let (here, elsewhere) = (amount(written_bytes), amount(elsewhere_bytes));
            match written_bytes {
                0 => format!("In another run, {elsewhere} were written at full speed."),
                _ => format!(
                    "In another run, {elsewhere} were written at full speed; here it fell after {here}."
                ),
            }
        }
        Seen::ThresholdMoved { moves: 1, first_s } => format!(
            "A threshold that was changed unrecorded explains that: the drops after {first_s:.0} s began at another temperature."
        ),
        Seen::ThresholdMoved { moves, first_s } => format!(
            "A threshold that was changed unrecorded {moves} times, first at about {first_s:.0} s, explains that: the drops began at one temperature, then at another."
        ),
        Seen::ThresholdsInTurn { low_k, high_k } => format!(
            "Two alternating thresholds explain that: the drops began at {} or at {}.",
            at(low_k),
            at(high_k)
        ),
        Seen::StayedAsHot { temp_k, late_k } if at(temp_k) == at(late_k) => {
            format!("The temperature levelled off at {} while it was slow.", at(late_k))
        }
        Seen::StayedAsHot { temp_k, late_k } => format!(
            "The temperature levelled off at {} while it was slow ({} at the onset).",
            at(late_k),
            at(temp_k)
        ),
        Seen::Held { temp_k, share } => {
            let lost = 100.0 * share;
            format!("The temperature was held at {} while speed went on falling by {lost:.0} %.", at(temp_k))
        }
        Seen::Stood { temp_k, span_s } => format!(
            "The temperature stood at {} for the {span_s:.0} s of the drop; at full speed it moves in as long.",
            at(temp_k)
        ),
        Seen::SankThoughCooled { cooled_k } => {
            format!("Speed went on sinking while the drive cooled by {cooled_k:.0} K.")
        }
        Seen::SankAlready { share, from_k } => format!(
            "Speed had been sinking before, from {} on and by {:.1} % while cooler; a threshold takes nothing below it.",
            at(from_k),
            100.0 * share
        ),
        Seen::FellSlowly { over_s } => {
            format!(
                "Speed fell little by little, over {over_s:.0} s; what is not thermal mostly falls at once."
            )
        }
        Seen::HeatedOn { temp_k, late_k } => format!(
            "It got hotter still, from {} to {}, at that speed; a throttle would have slowed it down further.",
            at(temp_k),
            at(late_k)
        ),
        Seen::SlowThoughCooled { temp_k, late_k } => {
            format!("It stayed slow while cooling from {} to {}.", at(temp_k), at(late_k))
        }
        Seen::HeldBelowReleases { late_k, release_k } => format!(
            "It stayed slow down to {}; other thermal drops had recovered by {}.",
            at(late_k),
            at(release_k)
        ),
        Seen::FellFromHeld { held_k, late_k } => format!(
            "The temperature had been held at {}; then speed fell further at once, and it cooled to {}.",
            at(held_k),
            at(late_k)
        ),
        Seen::CameBack { cooled_k, release_k } if *cooled_k >= 0.5 => {
            format!("Speed recovered after cooling by {cooled_k:.0} K, at {}.", at(release_k))
        }
        Seen::CameBack { release_k, .. } => {
            format!("Speed recovered without cooling, at {}.", at(release_k))
        }
        Seen::CounterMoved { threshold } => format!("The {threshold} counter moved."),
        Seen::CounterStill { threshold, has_counted: true } => {
            format!("The {threshold} counter did not move, although this drive counts.")
        }
        Seen::CounterStill { threshold, has_counted: false } => {
            format!("The {threshold} counter did not move from zero.")
        }
        Seen::NotCountedMeanwhile { threshold, span_s } => format!(
            "The drive counted no second at {threshold} in {span_s:.0} s of it, although it counts them."
        ),
        Seen::WrittenOfStated { written_bytes, stated_bytes, within_cache } => {
            let [written, stated] = [written_bytes, stated_bytes].map(amount);
            match within_cache {
                true => format!("{written} had been written, all to one range that fits the stated SLC cache ({stated})."),
                false => format!("{written} had been written; the stated SLC cache is {stated}."),
            }
        }
        Seen::LittleWritten { written_bytes } => format!("Only {} had been written.", amount(written_bytes)),
        Seen::SameAmount { written_bytes, apart_k } => {
            let amount = amount(written_bytes);
            format!("Writes fell after {amount} another time too, at a temperature {apart_k:.0} K away.")
        }
        Seen::OtherAmount { written_bytes, drops } => {
            let (amount, others) = (amount(written_bytes), others(*drops, 0));
            format!(
                "It fell after {amount}; {others} that began at the same temperature came after other amounts."
            )
        }
        Seen::WrittenAtOnce { written_bytes, at_once_bytes } => format!(
            "Another time {} were written at full speed in one go; here it fell after {}.",
            amount(at_once_bytes),
            amount(written_bytes)
        ),
        Seen::BeyondAnyCache { written_bytes, capacity_bytes: Some(capacity_bytes) } => format!(
            "{} had been written; an SLC cache holds at most a third to half of a drive's {}.",
            amount(written_bytes),
            amount(capacity_bytes)
        ),
        Seen::BeyondAnyCache { written_bytes, capacity_bytes: None } => {
            format!("{} had been written; few drives have so large an SLC cache.", amount(written_bytes))
        }
        Seen::CacheFilledBefore => {
            "The SLC cache had filled before; this is the speed after that.".to_owned()
        }
        Seen::Stopped { span_s } => format!("I/O stopped completely for {span_s:.0} s."),
        Seen::OneRose { op, from_bytes_per_s: from, to_bytes_per_s: to } => {
            let what = if *op == SegmentOp::Read { "Reads" } else { "Writes" };
            let [from, to] = [from, to].map(rate);
            format!("{what} rose from {from} to {to} while both together fell; a throttle slows both down.")
        }
        Seen::Paused { span_s } => {
            format!("Nothing moved for {span_s:.0} s; the log does not say whether anything was asked for.")
        }
        Seen::BackWhileWriting => {
            "Speed recovered while writes continued, which does not empty an SLC cache.".to_owned()
        }
        // How far they fell stands in the sentence of the event.
        Seen::WritingStayedSlow { written_bytes, .. } => {
            format!("Writes stayed slow from {} on, to the end of the load.", amount(written_bytes))
        }
        Seen::HeatOrCache => {
            "Writes fell once and stayed there: a full SLC cache and a throttle look the same.".to_owned()
        }
        Seen::FellOnce => {
            "Speed fell once, at the hottest full speed of the run, and stayed there: a throttle and another lasting change look the same.".to_owned()
        }
        Seen::ThroughPageCache => {
            "The phase uses buffered I/O: its speed is partly the page cache's.".to_owned()
        }
        Seen::Lasted { span_s } => {
            format!("It lasted {span_s:.0} s; background work rarely lasts that long.")
        }
        Seen::LittleLost => "The drop was small and in one step; thermal steps are larger.".to_owned(),
        Seen::WithinNoise { varies } => format!(
            "The load varies by {:.0} % from row to row; it falls by this much by chance.",
            100.0 * varies
        ),
        Seen::PowerStateChanged { before, after } => {
            format!("The host changed the power state from {before} to {after} at the onset.")
        }
        Seen::ByChance { stay_s_per_k, every_s } => format!(
            "The drive spent {stay_s_per_k:.0} s within 1 K of it at full speed; a drop unrelated to temperature is to be expected about every {every_s:.0} s."
        ),
        Seen::Crept { stay_s_per_k } => format!(
            "The drive spent {stay_s_per_k:.0} s within 1 K of that temperature at full speed, so a threshold there is less likely."
        ),
        Seen::BeganAlike { drops: 0, within: 0, .. } => {
            "No other thermal drop of this run began at that temperature.".to_owned()
        }
        Seen::BeganAlike { drops: 0, within, .. } => {
            format!("Speed fell at the same temperature {} within longer slowdowns.", times(*within))
        }
        Seen::BeganAlike { drops, within, .. } => {
            let more = if *drops == 1 { "once more".to_owned() } else { format!("{drops} more times") };
            let within = match within {
                0 => String::new(),
                _ => format!(", and {} within longer slowdowns", times(*within)),
            };
            format!("Speed fell at the same temperature {more}{within}.")
        }
        Seen::FellOtherwise { drops, thermal, .. } => {
            format!("{} began at that temperature; {}.", others(*drops, 0), of_them(*thermal, *drops))
        }
        Seen::HotterWhileThrottled { by_k } => {
            format!("The drive was slowed down already, and {by_k:.0} K hotter than when that began.")
        }
        Seen::FurtherWithin { by_k } => {
            format!("Another thermal drop began during this one, {by_k:.0} K hotter.")
        }
        Seen::AsSlowAsBefore { paused_s } => {
            format!("The load ended as slow as this at {paused_s:.0} s: both are one slowdown.")
        }
        Seen::LooksAlike { drops, within, thermal } => {
            let all = drops + within;
            let have = if all == 1 { "has" } else { "have" };
            let others = others(*drops, *within);
            format!("{others} {have} the same depth and length; {}.", of_them(*thermal, all))
        }
        Seen::SameSpeedLeft { drops: 0, within: 0, .. } => "No other drop fell to that speed.".to_owned(),
        Seen::SameSpeedLeft { drops, within, thermal } => {
            let others = others(*drops, *within);
            format!("Speed fell to the same value in {others}; {}.", of_them(*thermal, drops + within))
        }
        Seen::OtherwiseExplained { probability, .. } if *probability < LEAST_TOLD => {
            "All likely explanations of the drops of this run together agree on this one.".to_owned()
        }
        Seen::OtherwiseExplained { probability, than } => format!(
            "Explanations of all drops of this run together in which this one {} have a probability of {:.1} %.",
            match than {
                ExplainedAs::Heat => "is not heat",
                ExplainedAs::FullCache => "is not a full SLC cache",
                ExplainedAs::Neither => "is heat or a full SLC cache",
            },
            probability * 100.0
        ),
        Seen::LeftAnything { low_bytes_per_s, high_bytes_per_s, .. } => format!(
            "Speed fell to many levels, from {} to {}; a throttle has few.",
            rate(low_bytes_per_s),
            rate(high_bytes_per_s)
        ),
        Seen::FellFromAnything { drops, low_bytes_per_s, high_bytes_per_s } => format!(
            "The {drops} drops fell from speeds between {} and {} (middle half); a throttled drive falls from one speed.",
            rate(low_bytes_per_s),
            rate(high_bytes_per_s)
        ),
        Seen::BarelyWarm { above_k } => format!(
            "It was {above_k:.0} K above the coolest reading of the run; nothing had warmed the drive up."
        ),
        Seen::Scheduled { speeds, period_s } => format!(
            "The load ran at {speeds} speeds for {period_s:.0} s each, as a job with a schedule does."
        ),
        Seen::AsSoonFromCool { first_s, usual_s, cooler_k } => format!(
            "The first drop came after {first_s:.0} s at full speed, later ones after {usual_s:.0} s, although the drive was {cooler_k:.0} K cooler at the start; a threshold would be reached later."
        ),
        Seen::BurstsAfterRest { length_s, rest_s } => format!(
            "Each burst at full speed lasted {length_s:.0} s, the first too, and began {rest_s:.0} s after the drive had cooled to where it began; a threshold releases while the drive cools."
        ),
        Seen::Clockwork { times, period_s, between_k: [low, high] } => format!(
            "It recurred {times} times, every {period_s:.0} s, at temperatures from {} to {}.",
            at(low),
            at(high)
        ),
        Seen::KeptTime { times, period_s } => format!(
            "It came {times} times, every {period_s:.0} s to the row; a timer keeps such times, a threshold hardly ever."
        ),
        Seen::Irregular { gap_s, usual_s } => format!(
            "It began after {gap_s:.0} s at full speed, its neighbours after {usual_s:.0} s; a threshold is reached after about the same time each time."
        ),
        Seen::Recurs { times, period_s, between_k } => {
            let at = between_k.map(|[low, high]| format!(", at {} to {}", degrees(low), degrees(high)));
            let at = at.unwrap_or_default();
            match period_s {
                Some(period_s) => format!(
                    "It recurred {times} times, every {period_s:.0} s{at}, as periodic background work does."
                ),
                None => format!(
                    "It recurred {times} times at irregular intervals{at}, as garbage collection does."
                ),
            }
        }
    }
}

/// "1 other drop", "12 other drops and 1 within longer ones".
fn others(drops: usize, within: usize) -> String {
    let of = |count: usize, what: &str| {
        let s = if count == 1 { "" } else { "s" };
        format!("{count} {what}{s}")
    };
    match (drops, within) {
        (drops, 0) => of(drops, "other drop"),
        (0, within) => format!("{} within longer slowdowns", of(within, "fall")),
        (drops, within) => format!("{} and {within} within longer ones", of(drops, "other drop")),
    }
}

/// "once", "12 times".
fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// "it is likely not thermal", "3 of them are likely thermal".
fn of_them(thermal: usize, drops: usize) -> String {
    match (thermal, drops) {
        (0, 1) => "it is likely not thermal".to_owned(),
        (0, _) => "none of them is likely thermal".to_owned(),
        (_, 1) => "it is likely thermal".to_owned(),
        (some, all) if some >= all => "all of them are likely thermal".to_owned(),
        (1, _) => "1 of them is likely thermal".to_owned(),
        (some, _) => format!("{some} of them are likely thermal"),
    }
}
