//! Quantities as types: a private value, a constructor and an accessor that name the unit.
//!
//! Only operators that mean something physically exist, and nothing converts by itself:
//! there is no `From<f64>`, no `Deref` and no `Default`.

use std::fmt;
use std::num::NonZeroU16;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Degrees between the kelvin and the Celsius scale (BIPM SI brochure, 9th ed., 2.3.1).
///
/// The only place where this number stands.
const CELSIUS_ZERO_K: f64 = 273.15;

/// Whole kelvins between the two scales, for readings that come as whole kelvins.
///
/// nvme-cli and smartctl subtract 273, so 318 K is 45 °C everywhere a person looks.
const CELSIUS_ZERO_WHOLE_K: i32 = 273;

/// A temperature in whole kelvins, as NVMe puts it on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kelvin(u16);

impl Kelvin {
    /// A temperature of `kelvin` K.
    pub const fn from_kelvin(kelvin: u16) -> Self {
        Self(kelvin)
    }

    /// An NVMe field in kelvins, in which 0 means "not reported".
    pub const fn from_nvme(raw: u16) -> Option<Self> {
        if raw == 0 { None } else { Some(Self(raw)) }
    }

    /// The nearest whole kelvin to a temperature typed in whole degrees Celsius: `65C` is 338 K; `None` below
    /// 0 K and above 65535 K.
    pub fn from_whole_celsius(degrees: i32) -> Option<Self> {
        degrees.checked_add(CELSIUS_ZERO_WHOLE_K).and_then(|kelvin| u16::try_from(kelvin).ok()).map(Self)
    }

    /// The value in kelvins.
    pub const fn as_kelvin(self) -> u16 {
        self.0
    }

    /// The value in whole degrees Celsius, as every other tool shows it: 318 K is 45 °C.
    pub const fn as_whole_celsius(self) -> i32 {
        self.0 as i32 - CELSIUS_ZERO_WHOLE_K
    }
}

impl fmt::Display for Kelvin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} °C", self.as_whole_celsius())
    }
}

/// A temperature that is not bound to whole kelvins: a physical state, or a hwmon reading.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Celsius(f64);

impl Celsius {
    /// A temperature of `degrees` °C.
    pub const fn from_degrees(degrees: f64) -> Self {
        Self(degrees)
    }

    /// A temperature of `kelvin` K, with 273.15 between the scales.
    pub const fn from_kelvin_f64(kelvin: f64) -> Self {
        Self(kelvin - CELSIUS_ZERO_K)
    }

    /// A hwmon reading in thousandths of a degree Celsius.
    pub const fn from_millidegrees(millidegrees: i32) -> Self {
        Self(millidegrees as f64 / 1000.0)
    }

    /// The value in °C.
    pub const fn as_degrees(self) -> f64 {
        self.0
    }

    /// As few digits as say it to a hundredth: "30 °C", "23.5 °C".
    pub fn brief(self) -> String {
        format!("{} °C", (100.0 * self.0).round() / 100.0)
    }

    /// The value in kelvins, with 273.15 between the scales.
    pub const fn as_kelvin_f64(self) -> f64 {
        self.0 + CELSIUS_ZERO_K
    }
}

impl fmt::Display for Celsius {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} °C", self.0)
    }
}

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// No data.
    pub const ZERO: Self = Self(0);

    /// An amount of `bytes` B.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// The value in bytes.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The value in bytes, for arithmetic with rates.
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// In decimal units and three digits, as drives are sold and logs sum up: "107 GB". [`fmt::Display`] is for sizes that were asked for.
    pub fn decimal(self) -> String {
        const UNITS: [(&str, f64); 5] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];
        let bytes = self.as_f64();
        let (name, size) = UNITS.into_iter().find(|(_, size)| bytes >= *size).unwrap_or(("B", 1.0));
        let value = bytes / size;
        let decimals = match value {
            _ if name == "B" => 0,
            100.0.. => 0,
            10.0.. => 1,
            _ => 2,
        };
        format!("{value:.decimals$} {name}")
    }

    /// As it was most likely typed: "50 GB" where that is whole in decimal units, else as [`fmt::Display`] has it.
    pub fn typed(self) -> String {
        let binary = self.to_string();
        let whole = !binary.contains('.');
        let units = [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)];
        let decimal = units.into_iter().find(|(_, size)| self.0 > 0 && self.0.is_multiple_of(*size));
        decimal.filter(|_| !whole).map_or(binary, |(name, size)| format!("{} {name}", self.0 / size))
    }

    /// The mean rate at which this amount moved in `span`; `None` for an empty span.
    pub fn per(self, span: Duration) -> Option<BytesPerSec> {
        (span > Duration::ZERO).then(|| BytesPerSec(self.as_f64() / span.as_secs_f64()))
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Bytes {
    /// The largest binary unit in which the amount is at least 1, exact where it divides evenly.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 5] =
            [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];
        let (name, size) = UNITS.into_iter().find(|(_, size)| self.0 >= *size).unwrap_or(("B", 1));
        if self.0.is_multiple_of(size) {
            write!(f, "{} {name}", self.0 / size)
        } else {
            write!(f, "{:.2} {name}", self.0 as f64 / size as f64)
        }
    }
}

/// A logical block address; counts blocks, not bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lba(u64);

impl Lba {
    /// The block with number `block`.
    pub const fn new(block: u64) -> Self {
        Self(block)
    }

    /// The block number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// A transfer rate in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct BytesPerSec(f64);

impl BytesPerSec {
    /// A rate of `rate` B/s.
    pub const fn new(rate: f64) -> Self {
        Self(rate)
    }

    /// The value in bytes per second.
    pub const fn as_f64(self) -> f64 {
        self.0
    }
}

impl fmt::Display for BytesPerSec {
    /// Decimal units, as drive makers and fio's summary use: 1 MB/s is 10^6 B/s.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What would round to 1000 of a unit is 1 of the next.
        match self.0 {
            rate if rate >= 9.995e8 => write!(f, "{:.2} GB/s", rate / 1e9),
            rate if rate >= 9.95e6 => write!(f, "{:.0} MB/s", rate / 1e6),
            rate if rate >= 9.995e5 => write!(f, "{:.1} MB/s", rate / 1e6),
            rate if rate >= 999.5 => write!(f, "{:.0} kB/s", rate / 1e3),
            rate => write!(f, "{rate:.0} B/s"),
        }
    }
}

/// Power in watts.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Watts(f64);

impl Watts {
    /// A power of `watts` W.
    pub const fn new(watts: f64) -> Self {
        Self(watts)
    }

    /// The value in watts.
    pub const fn as_f64(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Watts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} W", self.0)
    }
}

/// How many I/Os one load keeps in flight; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub struct QueueDepth(NonZeroU16);

impl QueueDepth {
    /// A depth of `depth` I/Os; `None` for zero.
    pub const fn new(depth: u16) -> Option<Self> {
        match NonZeroU16::new(depth) {
            Some(depth) => Some(Self(depth)),
            None => None,
        }
    }

    /// The number of I/Os.
    pub const fn as_usize(self) -> usize {
        self.0.get() as usize
    }
}

/// The seed of everything random in a run; printed with every simulated result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed(u64);

impl Seed {
    /// The seed `value`.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The value.
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// A seed for one part of a run, so that parts draw from independent streams.
    ///
    /// `SplitMix64` finaliser (Steele, Lea, Flood, OOPSLA 2014).
    pub const fn part(self, index: u64) -> Self {
        let mut z = self.0.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(z ^ (z >> 31))
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: the off-by-one between 273 and 273.15 is decided once.
    #[test]
    fn whole_kelvins_show_as_whole_degrees_and_states_use_the_exact_offset() {
        let reading = Kelvin::from_nvme(318).expect("318 K is a reading");
        assert_eq!(reading.to_string(), "45 °C");
        assert_eq!(Kelvin::from_whole_celsius(65), Some(Kelvin::from_kelvin(338)));
        assert_eq!(Kelvin::from_nvme(0), None);
        // hwmon shows the same 318 K as 44.850 (drivers/nvme/host/hwmon.c).
        assert_eq!(Celsius::from_kelvin_f64(318.0).to_string(), "44.9 °C");
        assert_eq!(Celsius::from_millidegrees(44_850).as_degrees(), 44.85);
    }

    #[test]
    fn quantities_print_with_their_unit() {
        assert_eq!(Bytes::new(4 << 30).to_string(), "4 GiB");
        assert_eq!(Bytes::new(1_500_000).to_string(), "1.43 MiB");
        assert_eq!(Bytes::new(50_000_000_000).typed(), "50 GB");
        assert_eq!(Bytes::new(64 << 30).typed(), "64 GiB");
        assert_eq!(Bytes::new(1_500_000_001).typed(), "1.40 GiB");
        assert_eq!(Celsius::from_degrees(30.0).brief(), "30 °C");
        assert_eq!(Celsius::from_degrees(23.5).brief(), "23.5 °C");
        assert_eq!(BytesPerSec::new(2.4e9).to_string(), "2.40 GB/s");
        assert_eq!(BytesPerSec::new(78e6).to_string(), "78 MB/s");
        assert_eq!(BytesPerSec::new(999.6e6).to_string(), "1.00 GB/s");
        assert_eq!(BytesPerSec::new(9.96e6).to_string(), "10 MB/s");
        assert_eq!(BytesPerSec::new(999_700.0).to_string(), "1.0 MB/s");
        assert_eq!(Bytes::new(100).per(Duration::ZERO), None);
    }

    #[test]
    fn parts_of_a_seed_differ() {
        let seed = Seed::new(1);
        assert_ne!(seed.part(0), seed.part(1));
        assert_eq!(seed.part(3), Seed::new(1).part(3));
    }
}
