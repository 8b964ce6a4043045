//! The value of everything a plan does not name, and the few values that have names.

use std::time::Duration;

use measure::record::{Op, ThermalSettings};
use measure::{QueueDepth, Seed};

use super::{Extent, Load, Mix, Order, Phase, Plan, Region, Sharing, Sizes, TelemetryPlan, WriteData};

/// Short enough to show the on and off of a throttling drive (published figures have 1 s and alias),
/// long enough that thousands of I/Os fall into one.
const INTERVAL: Duration = Duration::from_millis(100);
/// What the published experiments used; faster polling is known to warm idle drives.
const TELEMETRY_PERIOD: Duration = Duration::from_secs(1);
/// Enough to see that errors are many, few enough not to wear on a dying drive.
const MAX_ERRORS: u64 = 100;

/// Below the fastest time constant of a published drive under load (41 s), and longer than a busy controller lets an
/// admin command wait.
const STOP_UNWATCHED: Duration = Duration::from_secs(30);

impl Plan {
    /// A plan without phases, with every default in place.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            description: String::new(),
            interval: INTERVAL,
            seed: Seed::new(1),
            stop_at: None,
            stop_unwatched: STOP_UNWATCHED,
            max_errors: MAX_ERRORS,
            record_ops: false,
            drive: None,
            notes: Vec::new(),
            telemetry: TelemetryPlan::default(),
            settings: ThermalSettings::default(),
            sweep: None,
            phases: Vec::new(),
            rounds: None,
        }
    }
}

impl Default for Plan {
    fn default() -> Self {
        Self::new("")
    }
}

impl Default for TelemetryPlan {
    fn default() -> Self {
        Self::every(TELEMETRY_PERIOD)
    }
}

impl TelemetryPlan {
    /// All sources read once a `period`, and no power source.
    pub const fn every(period: Duration) -> Self {
        Self { smart_period: period, hwmon_period: period, blockstat_period: period, power: Vec::new() }
    }
}

impl Phase {
    /// Idle time.
    pub fn idle(name: &str, duration: Duration) -> Self {
        Self {
            name: name.to_owned(),
            loads: Vec::new(),
            duration: Some(duration),
            start_delay: Duration::ZERO,
            until_below: None,
        }
    }
}

impl Load {
    /// One thread with one I/O in flight over the whole target, direct and unlimited.
    pub fn new(name: &str, order: Order, mix: Mix, sizes: Sizes) -> Self {
        Self {
            name: name.to_owned(),
            order,
            mix,
            sizes,
            split: None,
            depth: QueueDepth::new(1).expect("one is not zero"),
            threads: 1,
            sharing: Sharing::Split,
            region: Region::ALL,
            align: None,
            rate: None,
            rate_iops: None,
            bytes: None,
            laps: None,
            duration: None,
            think_time: Duration::ZERO,
            visit_once: true,
            data: WriteData::Incompressible,
            direct: true,
            seed: None,
        }
    }

    /// The largest I/O that can occur, in bytes.
    pub fn io_max(&self) -> u32 {
        let split = self.split.and_then(|split| u32::try_from(split.as_u64()).ok());
        split.unwrap_or(u32::MAX).min(self.sizes.max())
    }
}

impl Mix {
    /// Reads alone.
    pub const READ: Self = Self { read: 100, write: 0, trim: 0 };
    /// Writes alone.
    pub const WRITE: Self = Self { read: 0, write: 100, trim: 0 };
    /// Deallocations alone.
    pub const TRIM: Self = Self { read: 0, write: 0, trim: 100 };

    /// The operations that occur, in the record's order.
    pub fn ops(self) -> impl Iterator<Item = Op> {
        [(self.read, Op::Read), (self.write, Op::Write), (self.trim, Op::Trim)]
            .into_iter()
            .filter(|(share, _)| *share > 0)
            .map(|(_, op)| op)
    }
}

impl Region {
    /// The whole target.
    pub const ALL: Self = Self { start: Extent::Bytes(measure::Bytes::ZERO), len: None };
}

impl Default for Region {
    fn default() -> Self {
        Self::ALL
    }
}

impl Sizes {
    /// The smallest I/O that can occur, in bytes; 0 for an empty list.
    pub fn min(&self) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Weighted(list) => list.iter().map(|(size, _)| *size).min().unwrap_or(0),
            Self::LogUniform { min, .. } | Self::Uniform { min, .. } => *min,
        }
    }

    /// The largest I/O that can occur, in bytes; 0 for an empty list.
    pub fn max(&self) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Weighted(list) => list.iter().map(|(size, _)| *size).max().unwrap_or(0),
            Self::LogUniform { max, .. } | Self::Uniform { max, .. } => *max,
        }
    }
}
