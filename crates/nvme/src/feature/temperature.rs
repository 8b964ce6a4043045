//! Temperature Threshold (feature 04h): where the drive warns. It does not throttle.
//!
//! NVMe Base 2.3, Temperature Threshold. Crossing one raises Critical Warning bit 1 and, if asked
//! for, an asynchronous event.

use measure::Kelvin;

use super::{FeatureId, Select};
use crate::DecodeError;
use crate::command::{GetFeatures, SetFeatures};

/// One threshold: which sensor, which side, at which temperature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemperatureThreshold {
    /// What is watched.
    pub which: ThresholdSelector,
    /// The temperature. 0 K never warns below, FFFFh K never above.
    pub temperature: Kelvin,
    /// Kelvins by which the temperature must fall back before the warning clears (2.1 and later), 0 to 7.
    pub hysteresis_k: u8,
}

/// Which of the thresholds of a drive is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThresholdSelector {
    /// The sensor.
    pub sensor: ThresholdSensor,
    /// The side.
    pub side: ThresholdSide,
}

/// Which temperature a threshold watches (TMPSEL).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThresholdSensor {
    /// The composite temperature.
    Composite,
    /// Temperature sensor 1 to 8.
    Sensor(u8),
    /// All of them at once; only in Set Features.
    All,
}

/// Whether a threshold warns of heat or of cold (THSEL).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThresholdSide {
    /// Warns at or above.
    Over,
    /// Warns at or below.
    Under,
}

const WHAT: &str = "the temperature threshold (feature 04h)";

impl ThresholdSelector {
    /// The over-temperature threshold of the composite temperature; its default is WCTEMP.
    pub const COMPOSITE_OVER: Self = Self { sensor: ThresholdSensor::Composite, side: ThresholdSide::Over };

    /// The command that reads this threshold.
    pub fn get(self, select: Select) -> GetFeatures {
        let command = GetFeatures::controller(FeatureId::TEMPERATURE_THRESHOLD, select);
        GetFeatures { dword11: self.encode(), ..command }
    }

    /// Decodes TMPSEL (19:16) and THSEL (21:20) of dword 11.
    ///
    /// # Errors
    /// [`DecodeError::Value`] for reserved selections.
    pub fn decode(dword11: u32) -> Result<Self, DecodeError> {
        let value_error = |field, value, why| DecodeError::Value { what: WHAT, field, value, why };
        let sensor = match dword11 >> 16 & 0xf {
            0 => ThresholdSensor::Composite,
            number @ 1..=8 => ThresholdSensor::Sensor(number as u8),
            0xf => ThresholdSensor::All,
            reserved => {
                let why = "0 is the composite temperature, 1 to 8 are sensors, Fh is all";
                return Err(value_error("TMPSEL", reserved.into(), why));
            }
        };
        let side = match dword11 >> 20 & 0b11 {
            0 => ThresholdSide::Over,
            1 => ThresholdSide::Under,
            reserved => return Err(value_error("THSEL", reserved.into(), "0 is over, 1 is under")),
        };
        Ok(Self { sensor, side })
    }

    /// Encodes TMPSEL and THSEL of dword 11; the rest is zero.
    pub fn encode(self) -> u32 {
        let sensor = match self.sensor {
            ThresholdSensor::Composite => 0,
            ThresholdSensor::Sensor(number) => u32::from(number) & 0xf,
            ThresholdSensor::All => 0xf,
        };
        let side = match self.side {
            ThresholdSide::Over => 0,
            ThresholdSide::Under => 1,
        };
        sensor << 16 | side << 20
    }
}

impl TemperatureThreshold {
    /// Decodes dword 11 of Set Features.
    ///
    /// # Errors
    /// [`DecodeError::Value`] for reserved selections.
    pub fn decode(dword11: u32) -> Result<Self, DecodeError> {
        Ok(Self::from_dword(ThresholdSelector::decode(dword11)?, dword11))
    }

    /// Decodes the completion of Get Features, which need not repeat what was asked for.
    pub fn from_dword(which: ThresholdSelector, dword0: u32) -> Self {
        Self {
            which,
            temperature: Kelvin::from_kelvin(dword0 as u16),
            hysteresis_k: (dword0 >> 22) as u8 & 0b111,
        }
    }

    /// Encodes dword 11 of Set Features, or the completion of Get Features.
    pub fn encode(&self) -> u32 {
        let hysteresis = u32::from(self.hysteresis_k & 0b111) << 22;
        u32::from(self.temperature.as_kelvin()) | self.which.encode() | hysteresis
    }

    /// The command that sets this threshold.
    pub fn set(&self, save: bool) -> SetFeatures {
        SetFeatures::controller(FeatureId::TEMPERATURE_THRESHOLD, self.encode(), save)
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    /// hwmon reads temp1_min with dword 11 = THSEL << 20 (drivers/nvme/host/hwmon.c).
    #[test]
    fn selectors_have_the_bits_the_kernel_sends() {
        let under = ThresholdSelector { side: ThresholdSide::Under, ..ThresholdSelector::COMPOSITE_OVER };
        assert_eq!(under.get(Select::Current).dword11, 0x0010_0000);
        let sensor2 = ThresholdSelector { sensor: ThresholdSensor::Sensor(2), side: ThresholdSide::Over };
        assert_eq!(sensor2.encode(), 0x0002_0000);
    }

    #[test]
    fn reserved_selections_are_refused_by_name() {
        let error = TemperatureThreshold::decode(9 << 16).expect_err("sensor 9");
        assert!(error.to_string().contains("TMPSEL is 0x9"), "{error}");
        assert!(TemperatureThreshold::decode(2 << 20).is_err());
    }

    proptest! {
        #[test]
        fn values_round_trip(dword in any::<u32>()) {
            if let Ok(threshold) = TemperatureThreshold::decode(dword) {
                // Bits 31:25 are reserved.
                prop_assert_eq!(threshold.encode(), dword & 0x01ff_ffff);
            }
        }
    }
}
