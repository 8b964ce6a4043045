//! Power measurement (log page 25h, NVMe 2.3): how often which power was seen.
//!
//! Survives power cycles; collecting is started by feature 25h. Layout: NVMe Base 2.3, Power
//! Measurement Log Page: a header of 64 bytes, then the histogram.

use zerocopy::little_endian::{U16, U32};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DecodeError;
use crate::feature::session::Timestamp;
use crate::power::ScaledPower;
use crate::wire::{self, assert_layout};

/// Bytes of the header.
pub const POWER_MEASUREMENT_HEADER_LEN: usize = 64;
/// Bytes of a histogram entry.
const BIN_LEN: usize = 8;
/// The specification's bin size (PHBS shall be 250 mW).
pub const BIN_SIZE_MW: u16 = 250;

/// What was measured since collecting started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PowerMeasurementLog {
    /// Counts the starts of collecting, modulo 256 (PMGN).
    pub generation: u8,
    /// Collecting now (PMA bit 0).
    pub enabled: bool,
    /// The measurements are not gapless (PMA bit 1).
    pub non_contiguous: bool,
    /// The power is estimated by the drive, not measured (PMA bit 2).
    pub estimated: bool,
    /// Some measurements lay above the last bin (PMA bit 4).
    pub overflowed: bool,
    /// Which supply, Power Measurement Type (PMA 15:12); 0 is the whole subsystem.
    pub measurement_type: u8,
    /// Measurements so far, one a second (PMC).
    pub count: u32,
    /// Minutes until collecting stops by itself; `None` for never (SMTR).
    pub stop_minutes_left: Option<u16>,
    /// When collecting stopped (SMTS).
    pub stopped_at: Timestamp,
    /// Measurements above the last bin (PHDOC).
    pub overflow_count: u32,
    /// Mean of all measurements (AIPWR).
    pub average: Option<ScaledPower>,
    /// Largest measurement (MIPWR).
    pub maximum: Option<ScaledPower>,
    /// When the largest was seen (MIPWRT).
    pub maximum_at: Timestamp,
    /// Largest error of a measurement in percent; `None` when not reported (IPWRPE).
    pub error_percent: Option<u8>,
    /// Most bins the drive can report (NPHDS).
    pub bins_max: u16,
    /// Width of a bin in milliwatts (PHBS).
    pub bin_size_mw: u16,
    /// The histogram.
    pub bins: Vec<PowerBin>,
}

/// One bin of the histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerBin {
    /// Measurements in it.
    pub count: u32,
    /// Its lower bound as the wire has it (PHBLT).
    pub lower: u32,
}

const ENABLED: u16 = 1 << 0;
const NON_CONTIGUOUS: u16 = 1 << 1;
const ESTIMATED: u16 = 1 << 2;
const OVERFLOWED: u16 = 1 << 4;
/// IPWRPE: not reported.
const ERROR_NOT_REPORTED: u8 = 255;

const WHAT: &str = "the power measurement log (25h)";

impl PowerMeasurementLog {
    /// Bytes of the whole page, from its first bytes (SZE): what to ask for next.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 64 bytes.
    pub fn len_bytes(header: &[u8]) -> Result<u32, DecodeError> {
        let wire: &PowerHeaderWire = wire::layout(WHAT, header)?;
        Ok(wire.size.get())
    }

    /// Decodes the page.
    ///
    /// # Errors
    /// [`DecodeError::Short`] when bins are missing, [`DecodeError::Value`] for a descriptor size
    /// too small to hold one.
    pub fn decode(page: &[u8]) -> Result<Self, DecodeError> {
        let wire: &PowerHeaderWire = wire::layout(WHAT, page)?;
        let attributes = wire.attributes.get();
        let power = |raw: U32| ScaledPower::from_wire(raw.get() as u16, (raw.get() >> 16) as u8 & 0b11);
        Ok(Self {
            generation: wire.generation,
            enabled: attributes & ENABLED != 0,
            non_contiguous: attributes & NON_CONTIGUOUS != 0,
            estimated: attributes & ESTIMATED != 0,
            overflowed: attributes & OVERFLOWED != 0,
            measurement_type: (attributes >> 12) as u8,
            count: wire.count.get(),
            stop_minutes_left: Some(wire.stop_minutes_left.get()).filter(|minutes| *minutes != 0),
            stopped_at: Timestamp::decode(wire.stopped_at),
            overflow_count: wire.overflow_count.get(),
            average: power(wire.average),
            maximum: power(wire.maximum),
            maximum_at: Timestamp::decode(wire.maximum_at),
            error_percent: Some(wire.error_percent).filter(|percent| *percent != ERROR_NOT_REPORTED),
            bins_max: wire.bins_max.get(),
            bin_size_mw: wire.bin_size.get(),
            bins: decode_bins(wire, page)?,
        })
    }

    /// Encodes the page; it is as long as its histogram makes it, at most 65,535 bins.
    pub fn encode(&self) -> Vec<u8> {
        let bins = &self.bins[..self.bins.len().min(u16::MAX.into())];
        let flag = |set: bool, bit: u16| if set { bit } else { 0 };
        let power = |power: Option<ScaledPower>| {
            U32::new(power.map_or(0, |power| u32::from(power.value) | u32::from(power.scale.as_wire()) << 16))
        };
        let mut wire = PowerHeaderWire::new_zeroed();
        wire.generation = self.generation;
        wire.attributes = (flag(self.enabled, ENABLED)
            | flag(self.non_contiguous, NON_CONTIGUOUS)
            | flag(self.estimated, ESTIMATED)
            | flag(self.overflowed, OVERFLOWED)
            | u16::from(self.measurement_type & 0xf) << 12)
            .into();
        wire.size = ((POWER_MEASUREMENT_HEADER_LEN + bins.len() * BIN_LEN) as u32).into();
        wire.count = self.count.into();
        wire.bins = (bins.len() as u16).into();
        wire.stop_minutes_left = self.stop_minutes_left.unwrap_or(0).into();
        wire.stopped_at = self.stopped_at.encode();
        wire.bin_len = (BIN_LEN as u16).into();
        wire.bin_size = self.bin_size_mw.into();
        wire.bins_max = self.bins_max.into();
        wire.overflow_count = self.overflow_count.into();
        wire.average = power(self.average);
        wire.maximum = power(self.maximum);
        wire.maximum_at = self.maximum_at.encode();
        wire.error_percent = self.error_percent.unwrap_or(ERROR_NOT_REPORTED);
        let mut page = wire.as_bytes().to_vec();
        for bin in bins {
            page.extend(bin.count.to_le_bytes());
            page.extend(bin.lower.to_le_bytes());
        }
        page
    }
}

fn decode_bins(wire: &PowerHeaderWire, page: &[u8]) -> Result<Vec<PowerBin>, DecodeError> {
    let (bins, bin_len) = (usize::from(wire.bins.get()), usize::from(wire.bin_len.get()));
    if bins == 0 {
        return Ok(Vec::new());
    }
    if bin_len < BIN_LEN {
        let why = "a histogram descriptor has at least 8 bytes";
        return Err(DecodeError::Value { what: WHAT, field: "PHDS", value: bin_len as u64, why });
    }
    let needed = POWER_MEASUREMENT_HEADER_LEN + bins * bin_len;
    let short = DecodeError::Short { what: WHAT, needed, got: page.len() };
    let data = page.get(POWER_MEASUREMENT_HEADER_LEN..needed).ok_or(short)?;
    data.chunks_exact(bin_len)
        .map(|chunk| {
            let [count, lower]: &[U32; 2] = wire::layout(WHAT, chunk)?;
            Ok(PowerBin { count: count.get(), lower: lower.get() })
        })
        .collect()
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct PowerHeaderWire {
    version: u8,
    generation: u8,
    attributes: U16,
    size: U32,
    count: U32,
    bins: U16,
    stop_minutes_left: U16,
    stopped_at: [u8; 8],
    bin_len: U16,
    bin_size: U16,
    bins_max: U16,
    vendor_size: U16,
    overflow_count: U32,
    reserved36: [u8; 4],
    average: U32,
    maximum: U32,
    maximum_at: [u8; 8],
    error_percent: u8,
    reserved57: [u8; 7],
}
assert_layout!(PowerHeaderWire, 64, {
    generation: 1,
    attributes: 2,
    size: 4,
    count: 8,
    bins: 12,
    stop_minutes_left: 14,
    stopped_at: 16,
    bin_len: 24,
    bin_size: 26,
    bins_max: 28,
    vendor_size: 30,
    overflow_count: 32,
    average: 40,
    maximum: 44,
    maximum_at: 48,
    error_percent: 56,
});

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn missing_bins_and_impossible_bins_are_errors() {
        let mut page = vec![0; POWER_MEASUREMENT_HEADER_LEN + 15];
        page[12] = 2;
        page[24] = 8;
        assert!(matches!(PowerMeasurementLog::decode(&page), Err(DecodeError::Short { needed: 80, .. })));
        page[24] = 7;
        assert!(matches!(PowerMeasurementLog::decode(&page), Err(DecodeError::Value { field: "PHDS", .. })));
        page[12] = 0;
        assert_eq!(PowerMeasurementLog::decode(&page).map(|log| log.bins), Ok(vec![]));
    }

    proptest! {
        #[test]
        fn pages_round_trip(
            header in prop::collection::vec(any::<u8>(), POWER_MEASUREMENT_HEADER_LEN),
            bins in prop::collection::vec(any::<u8>(), 24),
        ) {
            let mut page = [header, bins].concat();
            page[12..14].copy_from_slice(&[3, 0]);
            page[24..26].copy_from_slice(&[8, 0]);
            let log = PowerMeasurementLog::decode(&page).expect("three bins");
            let encoded = log.encode();
            prop_assert_eq!(PowerMeasurementLog::len_bytes(&encoded), Ok(encoded.len() as u32));
            prop_assert_eq!(PowerMeasurementLog::decode(&encoded), Ok(log));
        }
    }
}
