//! SMART / Health Information (log page 02h), in both directions.
//!
//! Decodes and encodes bytes only: it sends no command and knows no clock.
//! Layout: NVMe Base 2.3, Get Log Page, SMART / Health Information Log Page.

use std::fmt;

use measure::Kelvin;
use zerocopy::little_endian::{U16, U32, U64, U128};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DecodeError;
use crate::power::ScaledPower;
use crate::wire::{self, assert_layout};

/// Bytes of the page.
pub const SMART_LOG_LEN: usize = 512;

/// What the controller says about its health at one instant.
///
/// Counters are as the wire has them: they do not wrap, and a 0 is either "never" or "not kept",
/// which one page alone cannot tell apart. Only values that are no counters become `None` at 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmartLog {
    /// What the drive warns of right now.
    pub critical_warning: CriticalWarning,
    /// Composite temperature; how it is computed is the drive maker's secret and it may equal no physical point.
    pub composite: Option<Kelvin>,
    /// Remaining spare capacity, percent of the original.
    pub available_spare_percent: u8,
    /// The spare percentage below which the drive warns.
    pub spare_threshold_percent: u8,
    /// Estimated share of rated endurance used, in percent. May exceed 100; saturates at 255.
    pub percentage_used: u8,
    /// Critical warnings of endurance groups, raw bits.
    pub endurance_group_warning: u8,
    /// Data read by hosts.
    pub data_units_read: DataUnits,
    /// Data written by hosts.
    pub data_units_written: DataUnits,
    /// Read commands completed.
    pub host_reads: u128,
    /// Write commands completed.
    pub host_writes: u128,
    /// Minutes during which at least one I/O command was outstanding.
    pub busy_minutes: u128,
    /// Power cycles.
    pub power_cycles: u128,
    /// Hours powered on; may leave out time in non-operational power states.
    pub power_on_hours: u128,
    /// Power losses without a shutdown notice.
    pub unsafe_shutdowns: u128,
    /// Unrecovered data integrity errors.
    pub media_errors: u128,
    /// Entries ever made in the error log.
    pub error_log_entries: u128,
    /// Minutes with the composite temperature at or above WCTEMP and below CCTEMP.
    pub warning_minutes: u32,
    /// Minutes with the composite temperature at or above CCTEMP.
    pub critical_minutes: u32,
    /// Temperature sensors 1 to 8, at index 0 to 7; `None` where the drive has none.
    pub sensors: [Option<Kelvin>; 8],
    /// How often the composite temperature rose to TMT1: throttling started or was raised to "light".
    pub tmt1_transitions: u32,
    /// How often the composite temperature rose to TMT2: throttling became "heavy".
    pub tmt2_transitions: u32,
    /// Seconds spent throttled by TMT1.
    pub tmt1_seconds: u32,
    /// Seconds spent throttled by TMT2.
    pub tmt2_seconds: u32,
    /// Energy used in the drive's life in watt hours, rounded up (NVMe 2.3).
    pub lifetime_energy_wh: Option<u64>,
    /// Average power of the latest second (NVMe 2.3).
    pub interval_power: Option<IntervalPower>,
}

/// The average power of the latest one-second interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalPower {
    /// The average.
    pub power: ScaledPower,
    /// Which supply was measured, Power Measurement Type; 0 is the whole NVM subsystem. Four bits.
    pub measurement_type: u8,
}

/// Host data as SMART counts it: one unit stands for up to 1000 blocks of 512 bytes, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataUnits(u128);

impl DataUnits {
    /// Bytes one unit stands for at most.
    pub const UNIT_BYTES: u64 = 512_000;

    /// `units` units.
    pub const fn new(units: u128) -> Self {
        Self(units)
    }

    /// The units that a drive reports after moving `bytes` bytes.
    pub const fn from_bytes(bytes: u128) -> Self {
        Self(bytes.div_ceil(Self::UNIT_BYTES as u128))
    }

    /// The number of units.
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// The most bytes these units can stand for; at most one unit more than were moved.
    pub const fn bytes_at_most(self) -> u128 {
        self.0.saturating_mul(Self::UNIT_BYTES as u128)
    }
}

/// The Critical Warning byte: one bit a warning.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CriticalWarning(u8);

impl CriticalWarning {
    /// No warning.
    pub const NONE: Self = Self(0);
    /// Bit 0: spare capacity fell below its threshold.
    pub const SPARE: Self = Self(1 << 0);
    /// Bit 1: a temperature crossed an over- or under-temperature threshold (feature 04h).
    pub const TEMPERATURE: Self = Self(1 << 1);
    /// Bit 2: reliability is degraded by media or internal errors.
    pub const RELIABILITY: Self = Self(1 << 2);
    /// Bit 3: the media went read-only.
    pub const READ_ONLY: Self = Self(1 << 3);
    /// Bit 4: the backup of volatile memory failed.
    pub const VOLATILE_BACKUP: Self = Self(1 << 4);
    /// Bit 5: the persistent memory region became unreliable.
    pub const PERSISTENT_MEMORY: Self = Self(1 << 5);

    const NAMES: [(Self, &'static str); 6] = [
        (Self::SPARE, "spare below threshold"),
        (Self::TEMPERATURE, "temperature outside thresholds"),
        (Self::RELIABILITY, "reliability degraded"),
        (Self::READ_ONLY, "read-only"),
        (Self::VOLATILE_BACKUP, "volatile memory backup failed"),
        (Self::PERSISTENT_MEMORY, "persistent memory unreliable"),
    ];

    /// The byte as the wire has it, reserved bits included.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// The byte for the wire.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Both warnings.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every warning of `other` is raised.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The raised warnings in words, in bit order; reserved bits have no words.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |(bit, _)| self.contains(*bit)).map(|(_, name)| name)
    }
}

impl fmt::Debug for CriticalWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CriticalWarning({:#04x})", self.0)
    }
}

impl SmartLog {
    /// Decodes a page. Bytes after the 512th are left alone.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 512 bytes; every content of 512 bytes is a page.
    pub fn decode(page: &[u8]) -> Result<Self, DecodeError> {
        let wire: &SmartLogWire = wire::layout("the SMART log (02h)", page)?;
        Ok(Self {
            critical_warning: CriticalWarning(wire.critical_warning),
            composite: Kelvin::from_nvme(wire.composite.get()),
            available_spare_percent: wire.available_spare,
            spare_threshold_percent: wire.spare_threshold,
            percentage_used: wire.percentage_used,
            endurance_group_warning: wire.endurance_group_warning,
            data_units_read: DataUnits(wire.data_units_read.get()),
            data_units_written: DataUnits(wire.data_units_written.get()),
            host_reads: wire.host_reads.get(),
            host_writes: wire.host_writes.get(),
            busy_minutes: wire.busy_minutes.get(),
            power_cycles: wire.power_cycles.get(),
            power_on_hours: wire.power_on_hours.get(),
            unsafe_shutdowns: wire.unsafe_shutdowns.get(),
            media_errors: wire.media_errors.get(),
            error_log_entries: wire.error_log_entries.get(),
            warning_minutes: wire.warning_minutes.get(),
            critical_minutes: wire.critical_minutes.get(),
            sensors: wire.sensors.map(|raw| Kelvin::from_nvme(raw.get())),
            tmt1_transitions: wire.tmt1_transitions.get(),
            tmt2_transitions: wire.tmt2_transitions.get(),
            tmt1_seconds: wire.tmt1_seconds.get(),
            tmt2_seconds: wire.tmt2_seconds.get(),
            lifetime_energy_wh: Some(wire.lifetime_energy.get()).filter(|wh| *wh != 0),
            interval_power: IntervalPower::from_wire(wire.interval_power.get()),
        })
    }

    /// Encodes the page; reserved bytes are zero.
    pub fn encode(&self) -> [u8; SMART_LOG_LEN] {
        let mut wire = SmartLogWire::new_zeroed();
        wire.critical_warning = self.critical_warning.0;
        wire.composite = kelvin_to_wire(self.composite);
        wire.available_spare = self.available_spare_percent;
        wire.spare_threshold = self.spare_threshold_percent;
        wire.percentage_used = self.percentage_used;
        wire.endurance_group_warning = self.endurance_group_warning;
        wire.data_units_read = self.data_units_read.0.into();
        wire.data_units_written = self.data_units_written.0.into();
        wire.host_reads = self.host_reads.into();
        wire.host_writes = self.host_writes.into();
        wire.busy_minutes = self.busy_minutes.into();
        wire.power_cycles = self.power_cycles.into();
        wire.power_on_hours = self.power_on_hours.into();
        wire.unsafe_shutdowns = self.unsafe_shutdowns.into();
        wire.media_errors = self.media_errors.into();
        wire.error_log_entries = self.error_log_entries.into();
        wire.warning_minutes = self.warning_minutes.into();
        wire.critical_minutes = self.critical_minutes.into();
        wire.sensors = self.sensors.map(kelvin_to_wire);
        wire.tmt1_transitions = self.tmt1_transitions.into();
        wire.tmt2_transitions = self.tmt2_transitions.into();
        wire.tmt1_seconds = self.tmt1_seconds.into();
        wire.tmt2_seconds = self.tmt2_seconds.into();
        wire.lifetime_energy = self.lifetime_energy_wh.unwrap_or(0).into();
        wire.interval_power = self.interval_power.map_or(0, IntervalPower::as_wire).into();
        zerocopy::transmute!(wire)
    }
}

impl IntervalPower {
    /// Interval Power Measurement: 15:0 value, 17:16 scale, 23:20 type.
    fn from_wire(raw: u32) -> Option<Self> {
        let power = ScaledPower::from_wire(raw as u16, (raw >> 16) as u8 & 0b11)?;
        Some(Self { power, measurement_type: (raw >> 20) as u8 & 0xf })
    }

    fn as_wire(self) -> u32 {
        u32::from(self.power.value)
            | u32::from(self.power.scale.as_wire()) << 16
            | u32::from(self.measurement_type & 0xf) << 20
    }
}

fn kelvin_to_wire(temperature: Option<Kelvin>) -> U16 {
    temperature.map_or(0, Kelvin::as_kelvin).into()
}

/// The page as it lies on the wire. Note the composite temperature at an odd offset.
#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct SmartLogWire {
    critical_warning: u8,
    composite: U16,
    available_spare: u8,
    spare_threshold: u8,
    percentage_used: u8,
    endurance_group_warning: u8,
    reserved7: [u8; 25],
    data_units_read: U128,
    data_units_written: U128,
    host_reads: U128,
    host_writes: U128,
    busy_minutes: U128,
    power_cycles: U128,
    power_on_hours: U128,
    unsafe_shutdowns: U128,
    media_errors: U128,
    error_log_entries: U128,
    warning_minutes: U32,
    critical_minutes: U32,
    sensors: [U16; 8],
    tmt1_transitions: U32,
    tmt2_transitions: U32,
    tmt1_seconds: U32,
    tmt2_seconds: U32,
    lifetime_energy: U64,
    interval_power: U32,
    reserved244: [u8; 268],
}
assert_layout!(SmartLogWire, 512, {
    composite: 1,
    percentage_used: 5,
    data_units_read: 32,
    data_units_written: 48,
    busy_minutes: 96,
    power_on_hours: 128,
    error_log_entries: 176,
    warning_minutes: 192,
    critical_minutes: 196,
    sensors: 200,
    tmt1_transitions: 216,
    tmt2_transitions: 220,
    tmt1_seconds: 224,
    tmt2_seconds: 228,
    lifetime_energy: 232,
    interval_power: 240,
});

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;
    use crate::power::PowerScale;

    /// Goal: the traps of this page. Method: a zero page with only the bytes that matter set.
    #[test]
    fn composite_is_unaligned_kelvins_and_zero_means_absent() {
        let mut page = [0; SMART_LOG_LEN];
        assert_eq!(SmartLog::decode(&page).expect("a zero page").composite, None);
        page[1..3].copy_from_slice(&310_u16.to_le_bytes());
        let log = SmartLog::decode(&page).expect("whole page");
        assert_eq!(log.composite, Some(Kelvin::from_kelvin(310)));
        assert_eq!(log.sensors, [None; 8]);
        assert_eq!(log.lifetime_energy_wh, None);
        assert_eq!(log.interval_power, None);
    }

    #[test]
    fn a_short_page_is_refused_and_a_long_one_is_read() {
        let error = SmartLog::decode(&[0; 511]).expect_err("one byte is missing");
        assert_eq!(
            error.to_string(),
            "the SMART log (02h): cut short, 512 bytes are needed and 511 were given"
        );
        assert!(SmartLog::decode(&[0; 4096]).is_ok());
    }

    /// Goal: each field at the specification's offset, independently of the layout struct.
    #[test]
    fn fields_lie_where_the_specification_puts_them() {
        let mut page = [0; SMART_LOG_LEN];
        page[0] = 0x02;
        page[200..202].copy_from_slice(&318_u16.to_le_bytes());
        page[214..216].copy_from_slice(&320_u16.to_le_bytes());
        page[48..64].copy_from_slice(&7_u128.to_le_bytes());
        page[196..200].copy_from_slice(&3_u32.to_le_bytes());
        page[216..220].copy_from_slice(&11_u32.to_le_bytes());
        page[220..224].copy_from_slice(&12_u32.to_le_bytes());
        page[224..228].copy_from_slice(&13_u32.to_le_bytes());
        page[228..232].copy_from_slice(&14_u32.to_le_bytes());
        page[232..240].copy_from_slice(&99_u64.to_le_bytes());
        // 8.25 W in steps of 10 mW, type 0.
        page[240..244].copy_from_slice(&(825_u32 | 2 << 16).to_le_bytes());
        let log = SmartLog::decode(&page).expect("whole page");
        assert!(log.critical_warning.contains(CriticalWarning::TEMPERATURE));
        assert_eq!(log.critical_warning.names().collect::<Vec<_>>(), ["temperature outside thresholds"]);
        assert_eq!(log.sensors[0], Some(Kelvin::from_kelvin(318)));
        assert_eq!(log.sensors[7], Some(Kelvin::from_kelvin(320)));
        assert_eq!(log.data_units_written.bytes_at_most(), 3_584_000);
        assert_eq!(log.critical_minutes, 3);
        assert_eq!((log.tmt1_transitions, log.tmt2_transitions), (11, 12));
        assert_eq!((log.tmt1_seconds, log.tmt2_seconds), (13, 14));
        assert_eq!(log.lifetime_energy_wh, Some(99));
        let power = log.interval_power.expect("scale 2 reports").power;
        assert_eq!((power.value, power.scale), (825, PowerScale::Centiwatt));
        assert_eq!(log.encode(), page);
    }

    #[test]
    fn data_units_round_up() {
        assert_eq!(DataUnits::from_bytes(0), DataUnits::new(0));
        assert_eq!(DataUnits::from_bytes(1), DataUnits::new(1));
        assert_eq!(DataUnits::from_bytes(512_001), DataUnits::new(2));
    }

    proptest! {
        /// Any page decodes, and what was decoded survives encoding.
        #[test]
        fn decoded_pages_round_trip(page in proptest::collection::vec(any::<u8>(), SMART_LOG_LEN)) {
            let log = SmartLog::decode(&page).expect("any 512 bytes are a page");
            prop_assert_eq!(SmartLog::decode(&log.encode()), Ok(log));
        }
    }
}
