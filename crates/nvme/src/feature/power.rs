//! Power features: power state (02h), autonomous transitions (0Ch), and the limit, threshold and
//! measurement of NVMe 2.3 (23h, 24h, 25h).
//!
//! Layouts: NVMe Base 2.3, the features of these names. Which power states exist is told by
//! Identify Controller.

use zerocopy::little_endian::U64;

use super::{DwordFeature, FeatureId};
use crate::DecodeError;
use crate::power::ScaledPower;
use crate::wire;

/// The power state the host asks for (feature 02h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerManagement {
    /// Power state, 0 to 31.
    pub state: u8,
    /// Workload hint, 0 (none) to 7.
    pub workload_hint: u8,
}

impl DwordFeature for PowerManagement {
    const ID: FeatureId = FeatureId::POWER_MANAGEMENT;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        Ok(Self { state: dword as u8 & 0x1f, workload_hint: (dword >> 5) as u8 & 0b111 })
    }

    fn encode(&self) -> u32 {
        u32::from(self.state & 0x1f) | u32::from(self.workload_hint & 0b111) << 5
    }
}

/// The most power the drive may use (feature 23h); `None` removes the limit.
///
/// A limit removes the power states above it and renumbers the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerLimit(pub Option<ScaledPower>);

impl DwordFeature for PowerLimit {
    const ID: FeatureId = FeatureId::POWER_LIMIT;
    /// Unlike all other features here, the value is in dword 13.
    const SET_DWORD_IDX: usize = 2;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        scaled_power("the power limit (feature 23h)", "PLS", dword).map(Self)
    }

    fn encode(&self) -> u32 {
        self.0.map_or(0, scaled_power_bits)
    }
}

/// The power at which the drive raises one event (feature 24h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerThreshold {
    /// The threshold; `None` for a value of zero.
    pub threshold: Option<ScaledPower>,
    /// Which supply is watched, Power Measurement Type; 0 is the whole subsystem. Four bits.
    pub measurement_type: u8,
    /// Whether the event is armed (EPT).
    pub enabled: bool,
}

impl DwordFeature for PowerThreshold {
    const ID: FeatureId = FeatureId::POWER_THRESHOLD;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        Ok(Self {
            threshold: scaled_power("the power threshold (feature 24h)", "PTS", dword)?,
            measurement_type: (dword >> 20) as u8 & 0xf,
            enabled: dword & 1 << 31 != 0,
        })
    }

    fn encode(&self) -> u32 {
        self.threshold.map_or(0, scaled_power_bits)
            | u32::from(self.measurement_type & 0xf) << 20
            | u32::from(self.enabled) << 31
    }
}

/// Whether the drive collects power measurements (feature 25h). Outlives power cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerMeasurement {
    /// Start collecting, or stop.
    pub start: bool,
    /// Which supply is measured, Power Measurement Type; 0 is the whole subsystem. Four bits.
    pub measurement_type: u8,
    /// Minutes after which collecting stops by itself; 0 never.
    pub stop_minutes: u16,
}

impl DwordFeature for PowerMeasurement {
    const ID: FeatureId = FeatureId::POWER_MEASUREMENT;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        let start = match dword & 0xf {
            0 => false,
            1 => true,
            value => {
                let what = "the power measurement (feature 25h)";
                let why = "0 stops, 1 starts";
                return Err(DecodeError::Value { what, field: "ACT", value: value.into(), why });
            }
        };
        let measurement_type = (dword >> 4) as u8 & 0xf;
        Ok(Self { start, measurement_type, stop_minutes: (dword >> 16) as u16 })
    }

    fn encode(&self) -> u32 {
        u32::from(self.start)
            | u32::from(self.measurement_type & 0xf) << 4
            | u32::from(self.stop_minutes) << 16
    }
}

/// Bits 15:0 value, 17:16 scale. A value of 0 is "none", whatever the scale.
fn scaled_power(
    what: &'static str,
    field: &'static str,
    dword: u32,
) -> Result<Option<ScaledPower>, DecodeError> {
    let (value, scale) = (dword as u16, (dword >> 16) as u8 & 0b11);
    match ScaledPower::from_wire(value, scale) {
        _ if value == 0 => Ok(None),
        Some(power) => Ok(Some(power)),
        None => {
            let why = "1 is steps of 0.0001 W, 2 is steps of 0.01 W";
            Err(DecodeError::Value { what, field, value: scale.into(), why })
        }
    }
}

fn scaled_power_bits(power: ScaledPower) -> u32 {
    u32::from(power.value) | u32::from(power.scale.as_wire()) << 16
}

/// Power states in an APST table, as in Identify Controller.
pub const APST_ENTRIES: usize = 32;
/// Bytes of an APST table.
pub const APST_LEN: usize = APST_ENTRIES * 8;

/// The table of autonomous power state transition (feature 0Ch).
///
/// Whether it is used is dword 11 bit 0 (APSTE), see [`Apst`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApstTable {
    /// One transition a power state, by the state the drive leaves; `None` where it stays.
    pub transitions: [Option<ApstTransition>; APST_ENTRIES],
}

/// One autonomous transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApstTransition {
    /// Milliseconds of idleness before it, 1 to 2^24 - 1.
    pub idle_ms: u32,
    /// The power state it leads to; must be a non-operational one.
    pub target_state: u8,
}

/// Whether autonomous power state transition is on (dword 11 of feature 0Ch).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apst {
    /// APSTE.
    pub enabled: bool,
}

impl DwordFeature for Apst {
    const ID: FeatureId = FeatureId::APST;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        Ok(Self { enabled: dword & 1 != 0 })
    }

    fn encode(&self) -> u32 {
        u32::from(self.enabled)
    }
}

impl ApstTable {
    /// Decodes the 256-byte table.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer bytes.
    pub fn decode(data: &[u8]) -> Result<Self, DecodeError> {
        let wire: &[U64; APST_ENTRIES] = wire::layout("the APST table (feature 0Ch)", data)?;
        // Bits 7:3 target (ITPS), 31:8 time (ITPT); a time of 0 switches the transition off.
        let transitions = wire.map(|entry| {
            let idle_ms = (entry.get() >> 8) as u32 & 0x00ff_ffff;
            let target_state = (entry.get() >> 3) as u8 & 0x1f;
            (idle_ms != 0).then_some(ApstTransition { idle_ms, target_state })
        });
        Ok(Self { transitions })
    }

    /// Encodes the table.
    pub fn encode(&self) -> [u8; APST_LEN] {
        let wire = self.transitions.map(|transition| {
            let bits = transition.map_or(0, |transition| {
                u64::from(transition.idle_ms & 0x00ff_ffff) << 8
                    | u64::from(transition.target_state & 0x1f) << 3
            });
            U64::new(bits)
        });
        zerocopy::transmute!(wire)
    }
}

#[cfg(test)]
mod test {
    use measure::Watts;
    use proptest::prelude::*;

    use super::*;
    use crate::command::AdminCommand;
    use crate::power::PowerScale;

    /// Goal: the trap of feature 23h, whose value is in dword 13, not 11.
    #[test]
    fn the_power_limit_is_in_dword_13() {
        let limit = ScaledPower { value: 600, scale: PowerScale::Centiwatt };
        let sqe = AdminCommand::SetFeatures(PowerLimit(Some(limit)).set(false)).encode();
        assert_eq!((sqe.dword(11), sqe.dword(13)), (0, 600 | 2 << 16));
        assert_eq!(limit.watts(), Watts::new(6.0));
    }

    #[test]
    fn a_power_of_zero_is_none_and_an_unknown_scale_is_refused() {
        assert_eq!(PowerLimit::decode(0), Ok(PowerLimit(None)));
        assert_eq!(PowerLimit::decode(2 << 16), Ok(PowerLimit(None)));
        let error = PowerLimit::decode(5 | 3 << 16).expect_err("scale 3");
        assert!(error.to_string().contains("PLS is 0x3"), "{error}");
        assert!(PowerMeasurement::decode(2).is_err());
    }

    #[test]
    fn apst_entries_have_their_bits() {
        let mut table = ApstTable { transitions: [None; APST_ENTRIES] };
        table.transitions[0] = Some(ApstTransition { idle_ms: 100, target_state: 3 });
        let bytes = table.encode();
        assert_eq!(bytes[..4], [3 << 3, 100, 0, 0]);
        assert_eq!(ApstTable::decode(&bytes), Ok(table));
        assert!(ApstTable::decode(&bytes[..255]).is_err());
    }

    fn round_trips<F: DwordFeature + PartialEq + std::fmt::Debug>(dword: u32) {
        if let Ok(value) = F::decode(dword) {
            assert_eq!(F::decode(value.encode()), Ok(value));
        }
    }

    proptest! {
        #[test]
        fn values_round_trip(dword in any::<u32>()) {
            round_trips::<PowerManagement>(dword);
            round_trips::<PowerLimit>(dword);
            round_trips::<PowerThreshold>(dword);
            round_trips::<PowerMeasurement>(dword);
            round_trips::<Apst>(dword);
        }

        #[test]
        fn apst_tables_round_trip(bytes in prop::collection::vec(any::<u8>(), APST_LEN)) {
            let table = ApstTable::decode(&bytes).expect("256 bytes");
            prop_assert_eq!(ApstTable::decode(&table.encode()), Ok(table));
        }
    }
}
