//! One row of a drive: when, how hot, its counters; and where the drive was then.
//!
//! Does not know where rows come from: units are these, and who reads a file converts into them.

use std::cmp::Ordering;

/// The counters of a drive that are kept, each a running total since the drive was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthCounter {
    /// Seconds in light throttling by host-controlled thermal management (NVMe SMART log, bytes 227:224).
    Tmt1Seconds,
    /// Times that light throttling began (bytes 219:216).
    Tmt1Transitions,
    /// Seconds in heavy throttling (bytes 231:228).
    Tmt2Seconds,
    /// Times that heavy throttling began (bytes 223:220).
    Tmt2Transitions,
    /// Minutes over the warning temperature, WCTEMP (bytes 195:192).
    WarningMinutes,
    /// Minutes over the critical temperature, CCTEMP (bytes 199:196).
    CriticalMinutes,
    /// Hours powered on (bytes 143:128).
    PowerOnHours,
    /// Bytes read by the host.
    ReadBytes,
    /// Bytes written by the host.
    WrittenBytes,
    /// Milliseconds in which at least one I/O was in flight (field 10 of Linux's /proc/diskstats).
    BusyMs,
}

/// How many counters a row has.
pub const COUNTERS: usize = 10;

impl HealthCounter {
    /// All of them, in the order in which they stand in a row.
    pub const ALL: [Self; COUNTERS] = [
        Self::Tmt1Seconds,
        Self::Tmt1Transitions,
        Self::Tmt2Seconds,
        Self::Tmt2Transitions,
        Self::WarningMinutes,
        Self::CriticalMinutes,
        Self::PowerOnHours,
        Self::ReadBytes,
        Self::WrittenBytes,
        Self::BusyMs,
    ];

    /// Those that move only when the host's thresholds throttle the drive.
    pub const THROTTLE: [Self; 4] =
        [Self::Tmt1Seconds, Self::Tmt1Transitions, Self::Tmt2Seconds, Self::Tmt2Transitions];

    /// Its name as a column, with its unit.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tmt1Seconds => "tmt1_s",
            Self::Tmt1Transitions => "tmt1_n",
            Self::Tmt2Seconds => "tmt2_s",
            Self::Tmt2Transitions => "tmt2_n",
            Self::WarningMinutes => "warn_min",
            Self::CriticalMinutes => "crit_min",
            Self::PowerOnHours => "poh_h",
            Self::ReadBytes => "read_bytes",
            Self::WrittenBytes => "written_bytes",
            Self::BusyMs => "busy_ms",
        }
    }
}

/// No reading, in any field of a [`HealthRow`] but its time.
pub const ABSENT: i64 = i64::MIN;

/// One row. `Ord` is by time first: the order in which rows of one drive are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HealthRow {
    /// Milliseconds since 1970, UTC.
    pub time_ms: i64,
    /// Composite temperature in millidegrees Celsius, or [`ABSENT`].
    pub temp_mc: i64,
    /// In the order of [`HealthCounter::ALL`]; never negative, or [`ABSENT`].
    pub counters: [i64; COUNTERS],
}

impl HealthRow {
    /// A row without any reading.
    #[must_use]
    pub const fn new(time_ms: i64) -> Self {
        Self { time_ms, temp_mc: ABSENT, counters: [ABSENT; COUNTERS] }
    }

    /// The same row with a temperature in millidegrees Celsius.
    #[must_use]
    pub const fn with_temp_mc(self, temp_mc: i64) -> Self {
        Self { temp_mc, ..self }
    }

    /// The same row with a counter. A negative value is none.
    #[must_use]
    pub const fn with(mut self, counter: HealthCounter, value: i64) -> Self {
        self.counters[counter as usize] = if value < 0 { ABSENT } else { value };
        self
    }

    /// The same row with all counters, in the order of [`HealthCounter::ALL`]. A negative value is none.
    #[must_use]
    pub fn with_counters(self, counters: [i64; COUNTERS]) -> Self {
        Self { counters: counters.map(|value| if value < 0 { ABSENT } else { value }), ..self }
    }

    /// A counter, if there is a reading.
    #[must_use]
    pub fn counter(&self, counter: HealthCounter) -> Option<i64> {
        let value = self.counters[counter as usize];
        (value != ABSENT).then_some(value)
    }
}

/// What the drive was and where, when a row was taken. Empty text: not known. One text with its cuts, because a fleet
/// holds one for each of its drives. `Ord` is by model, firmware, host and slot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DriveLabels {
    text: Box<str>,
    /// Where firmware, host and slot begin.
    cuts: [u32; 3],
}

impl DriveLabels {
    /// From four texts; blanks around them are no part of them.
    #[must_use]
    pub fn new(model: &str, firmware: &str, host: &str, slot: &str) -> Self {
        let mut text = String::new();
        let mut cuts = [0; 3];
        text += model.trim();
        for (cut, label) in cuts.iter_mut().zip([firmware, host, slot]) {
            *cut = u32::try_from(text.len()).unwrap_or(u32::MAX);
            text += label.trim();
        }
        Self { text: text.into(), cuts }
    }

    /// Model. Drives of two models are two drives, whatever their serial numbers.
    #[must_use]
    pub fn model(&self) -> &str {
        self.between(0, self.cuts[0] as usize)
    }

    /// Firmware revision.
    #[must_use]
    pub fn firmware(&self) -> &str {
        self.between(self.cuts[0] as usize, self.cuts[1] as usize)
    }

    /// The host or enclosure that the drive is in.
    #[must_use]
    pub fn host(&self) -> &str {
        self.between(self.cuts[1] as usize, self.cuts[2] as usize)
    }

    /// The slot in it.
    #[must_use]
    pub fn slot(&self) -> &str {
        self.between(self.cuts[2] as usize, self.text.len())
    }

    fn between(&self, from: usize, to: usize) -> &str {
        self.text.get(from..to).unwrap_or_default()
    }

    fn all(&self) -> [&str; 4] {
        [self.model(), self.firmware(), self.host(), self.slot()]
    }

    /// Whether these are the same texts, blanks around them aside.
    #[must_use]
    #[inline]
    pub fn are(&self, [model, firmware, host, slot]: [&str; 4]) -> bool {
        // The common case first: trimming costs more than comparing.
        let same = |ours: &str, theirs: &str| ours == theirs || ours == theirs.trim();
        same(self.slot(), slot)
            && same(self.host(), host)
            && same(self.firmware(), firmware)
            && same(self.model(), model)
    }
}

impl Ord for DriveLabels {
    fn cmp(&self, other: &Self) -> Ordering {
        self.all().cmp(&other.all())
    }
}

impl PartialOrd for DriveLabels {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
