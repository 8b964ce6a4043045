//! What happened to a watched drive, and the sentence for it.

use measure::{Celsius, Kelvin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WatchEventKind {
    /// Throttling by heat began.
    ThrottleOnset,
    /// It ended.
    ThrottleRelease,
    /// The drive became slower at equal concurrency, and heat is not known to be why.
    SlowOnset,
    /// It is as fast as before.
    SlowRelease,
    /// I/Os are in flight and none completes.
    Stall,
    /// They complete again.
    StallEnd,
    /// The drive is gone.
    Gone,
    /// It is back, known by its serial number.
    Back,
    /// The machine slept.
    Slept,
    /// Somebody set the wall clock.
    ClockStep,
}

/// Why a drive is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlowCause {
    /// Light throttling by the host's threshold: its counter moves.
    Tmt1,
    /// Heavy throttling by the host's threshold: its counter moves.
    Tmt2,
    /// A firmware threshold that no counter shows: slow at equal concurrency, and in the range of firmware thresholds.
    Hidden,
    /// Only writes are slow, at a temperature without a threshold: an SLC cache that is full, or garbage collection.
    Cache,
    /// None of these.
    Unknown,
}

impl SlowCause {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Tmt1, Self::Tmt2, Self::Hidden, Self::Cache, Self::Unknown];

    /// Its name in documents and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tmt1 => "tmt1",
            Self::Tmt2 => "tmt2",
            Self::Hidden => "hidden",
            Self::Cache => "cache",
            Self::Unknown => "unknown",
        }
    }

    /// Whether it is heat.
    pub const fn is_heat(self) -> bool {
        matches!(self, Self::Tmt1 | Self::Tmt2 | Self::Hidden)
    }

    /// As it stands in a sentence.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Tmt1 => "TMT1, light throttling",
            Self::Tmt2 => "TMT2, heavy throttling",
            Self::Hidden => "a firmware threshold",
            Self::Cache => "writes alone: a full SLC cache or garbage collection",
            Self::Unknown => "cause not determined",
        }
    }
}

/// Something that happened to a watched drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchEvent {
    /// When, in seconds since 1970-01-01 UTC; in simulated time since its beginning.
    pub at_s: f64,
    /// When it was said: later than `at_s` by the time that the verdict took.
    pub told_s: f64,
    /// What.
    pub kind: WatchEventKind,
    /// Why the drive is slow; `null` where the event is of another kind.
    pub cause: Option<SlowCause>,
    /// Composite temperature at that moment, in kelvins.
    pub temp_k: Option<u16>,
    /// Share of the capacity that is lost at equal concurrency; `null` where it cannot be known.
    pub capacity_lost: Option<f64>,
    /// The same in a sentence.
    pub text: String,
}

impl WatchEvent {
    /// A temperature as people read it.
    pub fn degrees(kelvin: f64) -> String {
        format!("{:.0} \u{b0}C", Celsius::from_kelvin_f64(kelvin.floor() + 0.15).as_degrees())
    }

    /// Of a whole number of kelvins.
    pub fn degrees_of(kelvin: Kelvin) -> String {
        kelvin.to_string()
    }
}

/// The sentence of an onset.
pub(crate) fn onset_text(
    cause: SlowCause,
    temp: Option<Kelvin>,
    slower_ln: Option<f64>,
    is_write: bool,
    counters: CountersSeen,
) -> String {
    let at = temp.map(|temp| format!(" at {temp}")).unwrap_or_default();
    let op = if is_write { "writes" } else { "reads" };
    let slower = match slower_ln {
        Some(ln) if ln > 0.05 => format!("; {op} take {:.1} times as long at equal queue", ln.exp()),
        _ => String::new(),
    };
    let seen = match (cause, counters) {
        (SlowCause::Hidden | SlowCause::Unknown, CountersSeen::Still) => "; TMT counters do not show it",
        (SlowCause::Hidden | SlowCause::Unknown, CountersSeen::Unreadable) => "; TMT counters cannot be read",
        _ => "",
    };
    let verb = if cause.is_heat() { "throttling by" } else { "slower:" };
    format!("{verb} {}{at}{slower}{seen}", cause.phrase())
}

/// What is known of the TMT counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountersSeen {
    /// They are read, and did not move.
    Still,
    /// They moved.
    Moved,
    /// Nobody can read them.
    Unreadable,
}
