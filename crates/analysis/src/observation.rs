//! What is observed about a slow stretch, with its numbers; what it weighs is `cause`'s, its sentence is `wording`'s.
//!
//! `kind` in JSON is a fixed name for scripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trace::HostThreshold;

use crate::cause::rule::Rule;
use crate::findings::SegmentOp;

/// What the likeliest explanation of all drops together takes one for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExplainedAs {
    /// Heat, whatever threshold.
    Heat,
    /// A full write cache.
    FullCache,
    /// Neither of them.
    Neither,
}

/// Something that was observed. Where a temperature has no other name, it is the one at the beginning of the stretch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is, and its unit")]
pub enum Observation {
    /// Speed fell, for `span_s` under load; `paused_s` without load within that time are left out of it.
    SpeedFell {
        before_bytes_per_s: f64,
        during_bytes_per_s: f64,
        span_s: f64,
        #[serde(default, skip_serializing_if = "is_zero")]
        paused_s: f64,
        recovered: bool,
    },
    /// A load began slow that was faster elsewhere in the run, or in another run of the drive.
    BeganSlow {
        elsewhere_bytes_per_s: f64,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        other_run: bool,
        during_bytes_per_s: f64,
        span_s: f64,
        recovered: bool,
    },
    /// A load began while the drive was throttling.
    BeganThrottled { during_bytes_per_s: f64, span_s: f64, recovered: bool },
    /// Speed came back.
    SpeedReturned { span_s: f64, temp_k: Option<f64> },
    /// Prior: most slow stretches are not thermal.
    MostAreNotHeat,
    /// Prior: most drops of write speed are not a full cache.
    MostAreNoFullCache {
        /// Share of the load that was written.
        written_share: f64,
    },
    /// Reading fills no write cache.
    ReadingFillsNoCache,
    /// It was at the critical temperature.
    AtCritical { temp_k: f64, critical_k: f64 },
    /// The temperature was in the range of firmware thresholds.
    Hot { temp_k: f64 },
    /// The temperature was below the range of firmware thresholds.
    Cool { temp_k: f64 },
    /// The temperature never moves.
    StillTemperature,
    /// No temperature was read near it.
    NoTemperature,
    /// The threshold is off.
    ThresholdDisabled { threshold: HostThreshold },
    /// The source does not say what the threshold was: it was weighed as if it were off.
    ThresholdNotRecorded { threshold: HostThreshold },
    /// It was at the threshold.
    AtThreshold { threshold: HostThreshold, temp_k: f64, set_k: f64 },
    /// The temperature was kept below the threshold from then on.
    HeldBelowThreshold { threshold: HostThreshold, temp_k: f64, set_k: f64 },
    /// The threshold lies below everything that the drive was in.
    ThresholdBelowRun { threshold: HostThreshold, set_k: f64 },
    /// The threshold lies elsewhere.
    AwayFromThreshold { threshold: HostThreshold, temp_k: f64, set_k: f64 },
    /// Another run was at full speed up to this temperature.
    RanHotterElsewhere { to_k: f64 },
    /// Another run fell from the same speed, after another time at the same temperature, or after the same time at another one.
    FellElsewhere { from_k: f64, fast_s: f64, elsewhere_s: f64 },
    /// More was written at full speed in another run.
    WrittenElsewhere { written_bytes: u64, elsewhere_bytes: u64 },
    /// Another time in this run much more was written in one go, as fast.
    WrittenAtOnce { written_bytes: u64, at_once_bytes: u64 },
    /// The drive ran at full speed while it was hotter.
    RanHotter { full_speed_s: f64 },
    /// ... but not while the threshold stood that it began at: thresholds seem to have moved so often, first then.
    ThresholdMoved { moves: usize, first_s: f64 },
    /// The drops began at one of two temperatures, in turn.
    ThresholdsInTurn { low_k: f64, high_k: f64 },
    /// The temperature stayed while the drive was slow.
    StayedAsHot { temp_k: f64, late_k: f64 },
    /// The temperature was held while speed went on falling, by this share of full speed.
    Held { temp_k: f64, share: f64 },
    /// The temperature stood for as long as the drive was slow, though it moves at full speed.
    Stood { temp_k: f64, span_s: f64 },
    /// Reading or writing rose while both together fell.
    OneRose { op: SegmentOp, from_bytes_per_s: f64, to_bytes_per_s: f64 },
    /// The drive got hotter still at the speed that was left.
    HeatedOn { temp_k: f64, late_k: f64 },
    /// The drive stayed slow although it cooled.
    SlowThoughCooled { temp_k: f64, late_k: f64 },
    /// The drive stayed slow though it cooled to `late_k`; others had come back by `release_k`.
    HeldBelowReleases { late_k: f64, release_k: f64 },
    /// The temperature was held while the drive was slow already; speed fell further, and it cooled to `late_k`.
    FellFromHeld { held_k: f64, late_k: f64 },
    /// Another run of the drive shows heat slow this load down to this speed, from that temperature on.
    SlowedInOtherRun { bytes_per_s: f64, from_k: f64 },
    /// Speed came back at this temperature, after it had cooled so far.
    CameBack { cooled_k: f64, release_k: f64 },
    /// Speed fell level by level, and took so long for it.
    FellSlowly { over_s: f64 },
    /// Speed fell level by level, and went on while the drive cooled from its hottest by so much.
    SankThoughCooled { cooled_k: f64 },
    /// It had been sinking before, from the load's first second on, while the drive was as cool as this.
    SankAlready { share: f64, from_k: f64 },
    /// The drive's counter of the threshold moved.
    CounterMoved { threshold: HostThreshold },
    /// It stood still; `has_counted` where this drive is known to count.
    CounterStill { threshold: HostThreshold, has_counted: bool },
    /// It moved around the beginning, and for so long in the drop the drive counted no second, although it counts them.
    NotCountedMeanwhile { threshold: HostThreshold, span_s: f64 },
    /// What had been written beside the stated size of the cache; `within_cache` where all of it went to a range of that size, written over again.
    WrittenOfStated { written_bytes: u64, stated_bytes: u64, within_cache: bool },
    /// Little had been written.
    LittleWritten { written_bytes: u64 },
    /// Writing fell after the same amount of data another time, at a temperature that far away.
    SameAmount { written_bytes: u64, apart_k: f64 },
    /// Writing fell after other amounts in the other drops that began at its temperature.
    OtherAmount { written_bytes: u64, drops: usize },
    /// More had been written than a cache of a drive of that size can hold.
    BeyondAnyCache { written_bytes: u64, capacity_bytes: Option<u64> },
    /// The cache had been filled before, and this is the speed since.
    CacheFilledBefore,
    /// Speed came back while writing went on.
    BackWhileWriting,
    /// Nothing moved at all, for so long.
    Stopped { span_s: f64 },
    /// Nothing moved, for so long, and nobody knows whether anything was asked for.
    Paused { span_s: f64 },
    /// Writing fell and stayed slow.
    WritingStayedSlow { share: f64, written_bytes: u64 },
    /// It fell once, to a level at which it stayed: a full cache and a threshold look the same.
    HeatOrCache,
    /// It fell once, as hot as it ever was at full speed, to a level at which it stayed: a threshold and another change look the same.
    FellOnce,
    /// The page cache lies between.
    ThroughPageCache,
    /// It lasted.
    Lasted { span_s: f64 },
    /// It lost little, and at once.
    LittleLost,
    /// It lost no more than the load varies by from row to row, as a share of its speed, brings about by chance.
    WithinNoise { varies: f64 },
    /// The host changed the power state.
    PowerStateChanged { before: u8, after: u8 },
    /// Drops of this operation fall from speeds that have nothing in common: the middle half of them lies between these.
    FellFromAnything { drops: usize, low_bytes_per_s: f64, high_bytes_per_s: f64 },
    /// So many drops left speeds that have nothing in common: the middle half of them, from and to.
    LeftAnything { drops: usize, low_bytes_per_s: f64, high_bytes_per_s: f64 },
    /// It was only so much hotter than ever in the run, and cool.
    BarelyWarm { above_k: f64 },
    /// How long the drive stayed at that temperature at full speed, and how often such a stretch comes by chance.
    ByChance { stay_s_per_k: f64, every_s: f64 },
    /// The drive ran at full speed at that temperature for so long, before the drop or at any other time.
    Crept { stay_s_per_k: f64 },
    /// So many others of heat began at that temperature, and so many falls within longer slowdowns, that are no events.
    BeganAlike {
        drops: usize,
        #[serde(default)]
        within: usize,
        temp_k: f64,
    },
    /// So many others began at that temperature, and so many of them are thermal.
    FellOtherwise { drops: usize, thermal: usize, temp_k: f64 },
    /// So many others are as deep and as long, and so many falls within longer slowdowns; and so many of all are thermal.
    LooksAlike {
        drops: usize,
        #[serde(default)]
        within: usize,
        thermal: usize,
    },
    /// So many others left the same speed, and so many falls within longer slowdowns; and so many of all are thermal.
    SameSpeedLeft {
        drops: usize,
        #[serde(default)]
        within: usize,
        thermal: usize,
    },
    /// Explanations of all drops of the run together in which this one is not what it is by the likeliest of them have this probability; 0
    /// where all that is likely agrees on it.
    OtherwiseExplained { probability: f64, than: ExplainedAs },
    /// The drive was throttled already, and by so much hotter than where that began.
    HotterWhileThrottled { by_k: f64 },
    /// Within it another of heat began, so much hotter.
    FurtherWithin { by_k: f64 },
    /// The load began as slow as it was when it last ended, at `paused_s`.
    AsSlowAsBefore { paused_s: f64 },
    /// The load had so many speeds, each for as long as the others.
    Scheduled { speeds: usize, period_s: f64 },
    /// The first drop of a load came as soon as later ones, though the drive was so much cooler.
    AsSoonFromCool { first_s: f64, usual_s: f64, cooler_k: f64 },
    /// Bursts of one length, after the drive had been at its coolest for so long.
    BurstsAfterRest { length_s: f64, rest_s: f64 },
    /// It recurs at a fixed interval, hot or cool.
    Clockwork { times: usize, period_s: f64, between_k: [f64; 2] },
    /// It came so often at a period that people choose, to the row.
    KeptTime { times: usize, period_s: f64 },
    /// It came after a time at full speed that differs from that before its neighbours.
    Irregular { gap_s: f64, usual_s: f64 },
    /// It recurs, at a fixed interval where there is a period.
    Recurs { times: usize, period_s: Option<f64>, between_k: Option<[f64; 2]> },
}

/// What serde asks: a number of which there is none is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl Observation {
    /// The rule that weighs it; `None` for what only says what happened.
    #[expect(clippy::too_many_lines, reason = "a table: one rule a variant")]
    pub const fn rule(&self) -> Option<Rule> {
        Some(match self {
            Self::SpeedFell { .. } | Self::BeganSlow { .. } => return None,
            Self::BeganThrottled { .. } | Self::SpeedReturned { .. } => return None,
            Self::MostAreNotHeat => Rule::Beforehand,
            Self::AtCritical { .. }
            | Self::Hot { .. }
            | Self::Cool { .. }
            | Self::BeganAlike { .. }
            | Self::FellOtherwise { .. }
            | Self::HotterWhileThrottled { .. }
            | Self::SlowedInOtherRun { .. }
            | Self::FellElsewhere { .. }
            | Self::BarelyWarm { .. }
            | Self::FurtherWithin { .. } => Rule::OwnThreshold,
            Self::ByChance { .. } | Self::Crept { .. } => Rule::Chance,
            Self::StillTemperature | Self::NoTemperature => Rule::NoTemperature,
            Self::ThresholdDisabled { .. }
            | Self::ThresholdNotRecorded { .. }
            | Self::AtThreshold { .. }
            | Self::HeldBelowThreshold { .. }
            | Self::ThresholdBelowRun { .. }
            | Self::AwayFromThreshold { .. } => Rule::Thresholds,
            Self::RanHotter { .. }
            | Self::RanHotterElsewhere { .. }
            | Self::ThresholdMoved { .. }
            | Self::ThresholdsInTurn { .. } => Rule::HotterBefore,
            Self::StayedAsHot { .. }
            | Self::Held { .. }
            | Self::Stood { .. }
            | Self::FellSlowly { .. }
            | Self::SankThoughCooled { .. }
            | Self::SankAlready { .. }
            | Self::HeatedOn { .. }
            | Self::SlowThoughCooled { .. }
            | Self::HeldBelowReleases { .. }
            | Self::FellFromHeld { .. }
            | Self::CameBack { .. } => Rule::Course,
            Self::CounterMoved { .. } | Self::CounterStill { .. } | Self::NotCountedMeanwhile { .. } => {
                Rule::Counters
            }
            Self::WrittenElsewhere { .. }
            | Self::MostAreNoFullCache { .. }
            | Self::ReadingFillsNoCache
            | Self::WrittenOfStated { .. }
            | Self::LittleWritten { .. }
            | Self::SameAmount { .. }
            | Self::OtherAmount { .. }
            | Self::BeyondAnyCache { .. }
            | Self::WrittenAtOnce { .. }
            | Self::CacheFilledBefore
            | Self::BackWhileWriting
            | Self::WritingStayedSlow { .. }
            | Self::HeatOrCache => Rule::WriteCache,
            Self::Lasted { .. } | Self::LittleLost | Self::WithinNoise { .. } | Self::Stopped { .. } => {
                Rule::Shape
            }
            Self::ThroughPageCache
            | Self::PowerStateChanged { .. }
            | Self::Paused { .. }
            | Self::OneRose { .. }
            | Self::FellFromAnything { .. }
            | Self::LeftAnything { .. } => Rule::Host,
            Self::OtherwiseExplained { .. }
            | Self::LooksAlike { .. }
            | Self::SameSpeedLeft { .. }
            | Self::FellOnce
            | Self::AsSlowAsBefore { .. } => Rule::Alike,
            Self::Scheduled { .. }
            | Self::AsSoonFromCool { .. }
            | Self::BurstsAfterRest { .. }
            | Self::Clockwork { .. }
            | Self::KeptTime { .. }
            | Self::Irregular { .. }
            | Self::Recurs { .. } => Rule::Recurring,
        })
    }

    /// Takes the event's temperature for its own where it is told as "at the onset": readings are in whole kelvins, and a threshold that was
    /// crossed between two of them is told by one number.
    pub const fn name_onset(&mut self, onset_k: f64) {
        match self {
            Self::Hot { temp_k }
            | Self::Cool { temp_k }
            | Self::StayedAsHot { temp_k, .. }
            | Self::HeatedOn { temp_k, .. }
            | Self::SlowThoughCooled { temp_k, .. } => *temp_k = onset_k,
            // Half a kelvin more may be above what it stayed below.
            Self::HeldBelowThreshold { temp_k, set_k, .. } if onset_k < *set_k => *temp_k = onset_k,
            _ => {}
        }
    }

    /// Whether it was likely beforehand and not seen in the run: it counts, and is no evidence.
    pub(crate) const fn is_prior(&self) -> bool {
        matches!(self, Self::MostAreNotHeat | Self::MostAreNoFullCache { .. } | Self::ReadingFillsNoCache)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: one onset has one temperature. Method: a reading of 79 C under a threshold that was crossed half a kelvin further.
    #[test]
    fn what_is_told_at_the_onset_has_the_temperature_of_the_event() {
        let mut seen = [
            Observation::Hot { temp_k: 352.0 },
            Observation::StayedAsHot { temp_k: 352.0, late_k: 352.0 },
            Observation::CameBack { cooled_k: 3.0, release_k: 349.0 },
        ];
        seen.iter_mut().for_each(|one| one.name_onset(352.5));
        assert_eq!(seen[0], Observation::Hot { temp_k: 352.5 });
        assert_eq!(seen[1], Observation::StayedAsHot { temp_k: 352.5, late_k: 352.0 });
        assert_eq!(seen[2], Observation::CameBack { cooled_k: 3.0, release_k: 349.0 });
    }
}
