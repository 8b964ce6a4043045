//! What is observed about a slow stretch, with its numbers; what it weighs is `cause`'s, its sentence is `wording`'s.
//!
//! `kind` in JSON is a fixed name for scripts.

use serde::{Deserialize, Serialize};
use trace::HostThreshold;

use crate::cause::rule::Rule;

/// Something that was observed. Where a temperature has no other name, it is the one at the beginning of the stretch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is, and its unit")]
pub enum Observation {
    /// Speed gave way.
    SpeedFell { before_bytes_per_s: f64, during_bytes_per_s: f64, span_s: f64, recovered: bool },
    /// A load began slow that was faster elsewhere in the run.
    BeganSlow { elsewhere_bytes_per_s: f64, during_bytes_per_s: f64, span_s: f64, recovered: bool },
    /// A load began while the drive was throttling.
    BeganThrottled { during_bytes_per_s: f64, span_s: f64, recovered: bool },
    /// Speed came back.
    SpeedReturned { span_s: f64, temp_k: Option<f64> },
    /// Most slow stretches are no heat.
    MostAreNotHeat,
    /// Most drops of write speed are no full cache.
    MostAreNoFullCache,
    /// Reading fills no write cache.
    ReadingFillsNoCache,
    /// A host's threshold was met, and another one at the same temperature would be a coincidence.
    Coincidence,
    /// It was at the critical temperature.
    AtCritical { temp_k: f64, critical_k: f64 },
    /// It was where drives protect themselves.
    Hot { temp_k: f64 },
    /// It was cooler than that.
    Cool { temp_k: f64 },
    /// The temperature never moves.
    StillTemperature,
    /// No temperature was read near it.
    NoTemperature,
    /// The threshold is off.
    ThresholdDisabled { threshold: HostThreshold },
    /// It was at the threshold.
    AtThreshold { threshold: HostThreshold, temp_k: f64, set_k: f64 },
    /// The temperature was kept below the threshold from then on.
    HeldBelowThreshold { threshold: HostThreshold, temp_k: f64, set_k: f64 },
    /// Speed gave way bit by bit and the temperature settled just below the threshold.
    SettledBelowThreshold { threshold: HostThreshold, temp_k: f64, set_k: f64 },
    /// The threshold lies below everything that the drive was in.
    ThresholdBelowRun { threshold: HostThreshold, set_k: f64 },
    /// The threshold lies elsewhere.
    AwayFromThreshold { threshold: HostThreshold, temp_k: f64, set_k: f64 },
    /// The drive ran at full speed while it was hotter.
    RanHotter { full_speed_s: f64 },
    /// It never did.
    NeverHotter,
    /// Full speed at that temperature lasted for longer than rising through a kelvin takes.
    Lingered { full_speed_s: f64, through_kelvin_s: f64 },
    /// The temperature had not risen before.
    Stood { temp_k: f64, span_s: f64 },
    /// Speed gave way bit by bit, and the temperature came to rest.
    Settled { rest_k: f64 },
    /// The temperature stayed while the drive was slow.
    StayedAsHot { temp_k: f64, late_k: f64 },
    /// The drive stayed slow although it cooled.
    SlowThoughCooled { temp_k: f64, late_k: f64 },
    /// It went on heating.
    WentOnHeating { temp_k: f64, late_k: f64 },
    /// Speed came back when it had cooled.
    BackWhenCooled { cooled_k: f64, release_k: f64 },
    /// Speed came back when it had hardly cooled.
    BackHardlyCooled { temp_k: f64, release_k: f64 },
    /// Speed came back although it had not cooled.
    BackUncooled { release_k: f64 },
    /// It is slow when cool as well.
    SlowWhenCool { cool_drops: usize, below_k: f64 },
    /// It is slow when hot.
    SlowWhenHot { hot_drops: usize, cool_drops: usize, from_k: f64, hot_s: f64, cool_s: f64 },
    /// The drive's counter of the threshold moved.
    CounterMoved { threshold: HostThreshold },
    /// It stood still; `has_counted` where this drive is known to count.
    CounterStill { threshold: HostThreshold, has_counted: bool },
    /// What had been written beside the stated size of the cache.
    WrittenOfStated { written_bytes: u64, stated_bytes: u64 },
    /// Little had been written.
    LittleWritten { written_bytes: u64 },
    /// The cache had been filled before, and this is the speed since.
    CacheFilledBefore,
    /// Speed came back while writing went on.
    BackWhileWriting,
    /// Writing fell and stayed slow.
    WritingStayedSlow { share: f64, written_bytes: u64 },
    /// The page cache lies between.
    ThroughPageCache,
    /// It was over soon.
    Short { span_s: f64 },
    /// It lost little, and at once.
    LittleLost,
    /// The host changed the power state.
    PowerStateChanged { before: u8, after: u8 },
    /// Nothing moved, which may be the load's own pause.
    MaybePause,
    /// Others that look the same began cooler.
    AlikeCooler { others: usize, cooler_k: f64 },
    /// All that look the same began at one temperature.
    AlikeOneTemperature { drops: usize, within_k: f64 },
    /// Others that look the same began elsewhere.
    AlikeManyTemperatures { drops: usize, elsewhere: usize, beyond_k: f64 },
    /// How those that look the same weigh.
    AlikeAverage { drops: usize },
    /// Others that were clearly heat began at that temperature.
    AlikeClear { others: usize, within_k: f64 },
    /// It comes again and again, at a fixed interval where there is a period.
    Recurs { times: usize, period_s: Option<f64>, between_k: Option<[f64; 2]> },
}

impl Observation {
    /// The rule that weighs it; `None` for what only says what happened.
    pub const fn rule(&self) -> Option<Rule> {
        Some(match self {
            Self::SpeedFell { .. } | Self::BeganSlow { .. } => return None,
            Self::BeganThrottled { .. } | Self::SpeedReturned { .. } => return None,
            Self::MostAreNotHeat => Rule::Beforehand,
            Self::AtCritical { .. } | Self::Hot { .. } | Self::Cool { .. } => Rule::Hot,
            Self::StillTemperature | Self::NoTemperature => Rule::NoTemperature,
            Self::ThresholdDisabled { .. }
            | Self::AtThreshold { .. }
            | Self::HeldBelowThreshold { .. }
            | Self::SettledBelowThreshold { .. }
            | Self::ThresholdBelowRun { .. }
            | Self::AwayFromThreshold { .. }
            | Self::Coincidence => Rule::Thresholds,
            Self::RanHotter { .. } | Self::NeverHotter => Rule::HotterBefore,
            Self::Lingered { .. } => Rule::Lingering,
            Self::Stood { .. } => Rule::Standing,
            Self::Settled { .. } => Rule::Settling,
            Self::StayedAsHot { .. } | Self::SlowThoughCooled { .. } | Self::WentOnHeating { .. } => {
                Rule::Meanwhile
            }
            Self::BackWhenCooled { .. } | Self::BackHardlyCooled { .. } | Self::BackUncooled { .. } => {
                Rule::ComingBack
            }
            Self::SlowWhenCool { .. } | Self::SlowWhenHot { .. } => Rule::AgainAndAgain,
            Self::CounterMoved { .. } | Self::CounterStill { .. } => Rule::Counters,
            Self::MostAreNoFullCache
            | Self::ReadingFillsNoCache
            | Self::WrittenOfStated { .. }
            | Self::LittleWritten { .. }
            | Self::CacheFilledBefore
            | Self::BackWhileWriting
            | Self::WritingStayedSlow { .. } => Rule::WriteCache,
            Self::ThroughPageCache => Rule::PageCache,
            Self::Short { .. } => Rule::Short,
            Self::LittleLost => Rule::LittleLost,
            Self::PowerStateChanged { .. } => Rule::PowerState,
            Self::MaybePause => Rule::Pause,
            Self::AlikeCooler { .. } => Rule::AlikeCooler,
            Self::AlikeOneTemperature { .. } => Rule::AlikeOneTemperature,
            Self::AlikeManyTemperatures { .. } => Rule::AlikeManyTemperatures,
            Self::AlikeAverage { .. } => Rule::AlikeAverage,
            Self::AlikeClear { .. } => Rule::AlikeClear,
            Self::Recurs { .. } => Rule::Recurring,
        })
    }

    /// Whether it was likely beforehand and not seen in the run: it counts, and is no evidence.
    pub(crate) const fn is_prior(&self) -> bool {
        matches!(
            self,
            Self::MostAreNotHeat | Self::MostAreNoFullCache | Self::ReadingFillsNoCache | Self::Coincidence
        )
    }
}
