//! Host Controlled Thermal Management (feature 10h): the two temperatures, and the rule they obey.
//!
//! Light throttling may begin at TMT1, heavy throttling begins at TMT2; how a drive throttles and
//! when it stops is its maker's decision and not described here.
//! NVMe Base 2.3, 5.2.26.1.9 (value and rule) and 8.1.18.5 (meaning).

use std::fmt;

use measure::Kelvin;
use thiserror::Error;

use super::{DwordFeature, FeatureId};
use crate::DecodeError;

/// The two thermal management temperatures; `None` disables one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hctm {
    /// At or above this the drive may throttle lightly. 0 on the wire disables it.
    pub tmt1: Option<Kelvin>,
    /// At or above this the drive throttles whatever it costs. 0 on the wire disables it.
    pub tmt2: Option<Kelvin>,
}

impl DwordFeature for Hctm {
    const ID: FeatureId = FeatureId::HCTM;

    /// TMT1 in bits 31:16, TMT2 in 15:0. Every dword is a value; [`HctmLimits::check`] judges it.
    fn decode(dword: u32) -> Result<Self, DecodeError> {
        Ok(Self { tmt1: Kelvin::from_nvme((dword >> 16) as u16), tmt2: Kelvin::from_nvme(dword as u16) })
    }

    fn encode(&self) -> u32 {
        let raw = |temperature: Option<Kelvin>| u32::from(temperature.map_or(0, Kelvin::as_kelvin));
        raw(self.tmt1) << 16 | raw(self.tmt2)
    }
}

impl fmt::Display for Hctm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |temperature: Option<Kelvin>| {
            temperature.map_or_else(|| "off".to_owned(), |temperature| temperature.to_string())
        };
        write!(f, "TMT1 {}, TMT2 {}", text(self.tmt1), text(self.tmt2))
    }
}

/// What a drive says about its thermal management (Identify Controller: HCTMA, MNTMT, MXTMT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HctmLimits {
    /// Whether the drive supports it at all.
    pub supported: bool,
    /// Lowest temperature it takes, MNTMT; `None` when not reported.
    pub min: Option<Kelvin>,
    /// Highest temperature it takes, MXTMT; `None` when not reported.
    pub max: Option<Kelvin>,
}

/// The rule in one line, for errors and help.
pub const RULE: &str = "MNTMT <= TMT1 < TMT2 <= MXTMT, and off (raw 0) disables one";

/// Why a drive will not take a pair of temperatures.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum HctmError {
    /// The drive has no such feature.
    #[error(
        "the drive does not support host controlled thermal management (HCTMA is 0); \
         only its own thresholds act"
    )]
    Unsupported,
    /// A temperature outside the range of the drive.
    #[error(
        "{name} of {} K ({value}) lies outside what the drive takes, {}; the rule is {RULE}",
        value.as_kelvin(), Range(*limits)
    )]
    OutOfRange {
        /// `TMT1` or `TMT2`.
        name: &'static str,
        /// What was wanted.
        value: Kelvin,
        /// What the drive takes.
        limits: HctmLimits,
    },
    /// TMT1 is not below TMT2.
    #[error(
        "TMT1 of {} K ({tmt1}) is not below TMT2 of {} K ({tmt2}); the rule is {RULE}",
        tmt1.as_kelvin(), tmt2.as_kelvin()
    )]
    Order {
        /// The TMT1 that was wanted.
        tmt1: Kelvin,
        /// The TMT2 that was wanted.
        tmt2: Kelvin,
    },
}

impl HctmLimits {
    /// Whether the drive will take `wanted`. A limit that is not reported does not bind.
    ///
    /// # Errors
    /// [`HctmError`] says which part of the rule is broken. A controller answers the same cases
    /// with Invalid Field in Command.
    pub fn check(&self, wanted: Hctm) -> Result<(), HctmError> {
        if !self.supported {
            return Err(HctmError::Unsupported);
        }
        for (name, temperature) in [("TMT1", wanted.tmt1), ("TMT2", wanted.tmt2)] {
            let Some(value) = temperature else { continue };
            let too_low = self.min.is_some_and(|min| value < min);
            let too_high = self.max.is_some_and(|max| value > max);
            if too_low || too_high {
                return Err(HctmError::OutOfRange { name, value, limits: *self });
            }
        }
        match (wanted.tmt1, wanted.tmt2) {
            (Some(tmt1), Some(tmt2)) if tmt1 >= tmt2 => Err(HctmError::Order { tmt1, tmt2 }),
            _ => Ok(()),
        }
    }
}

/// A range of temperatures as an error tells it.
struct Range(HctmLimits);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let one = |temperature: Kelvin| format!("{} K ({temperature})", temperature.as_kelvin());
        match (self.0.min, self.0.max) {
            (Some(min), Some(max)) => write!(f, "{} to {}", one(min), one(max)),
            (Some(min), None) => write!(f, "{} and above", one(min)),
            (None, Some(max)) => write!(f, "up to {}", one(max)),
            (None, None) => write!(f, "a range it does not report"),
        }
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    const SSD1: HctmLimits = HctmLimits {
        supported: true,
        min: Some(Kelvin::from_kelvin(273)),
        max: Some(Kelvin::from_kelvin(358)),
    };

    fn hctm(tmt1: u16, tmt2: u16) -> Hctm {
        Hctm { tmt1: Kelvin::from_nvme(tmt1), tmt2: Kelvin::from_nvme(tmt2) }
    }

    /// Goal: TMT1 is the high half. Swapped halves would set a drive to throttle at once.
    #[test]
    fn tmt1_is_the_high_half() {
        assert_eq!(hctm(0x0153, 0x0158).encode(), 0x0153_0158);
        assert_eq!(Hctm::decode(0x0000_0158).expect("any dword"), hctm(0, 0x0158));
    }

    #[test]
    fn zero_disables_a_half_and_is_legal_alone() {
        for (tmt1, tmt2) in [(0, 0), (273, 0), (0, 358), (273, 358), (357, 358)] {
            assert_eq!(SSD1.check(hctm(tmt1, tmt2)), Ok(()), "{tmt1} {tmt2}");
        }
    }

    #[test]
    fn what_breaks_the_rule_is_refused_with_range_and_rule() {
        let error = SSD1.check(hctm(338, 360)).expect_err("above MXTMT");
        assert_eq!(
            error.to_string(),
            "TMT2 of 360 K (87 °C) lies outside what the drive takes, 273 K (0 °C) to 358 K (85 °C); \
             the rule is MNTMT <= TMT1 < TMT2 <= MXTMT, and off (raw 0) disables one"
        );
        let error = SSD1.check(hctm(343, 343)).expect_err("equal");
        assert!(error.to_string().starts_with("TMT1 of 343 K (70 °C) is not below TMT2"), "{error}");
        assert!(matches!(SSD1.check(hctm(272, 300)), Err(HctmError::OutOfRange { name: "TMT1", .. })));
        assert!(matches!(SSD1.check(hctm(350, 300)), Err(HctmError::Order { .. })));
        let without = HctmLimits { supported: false, min: None, max: None };
        assert_eq!(without.check(hctm(0, 0)), Err(HctmError::Unsupported));
    }

    #[test]
    fn unreported_limits_do_not_bind() {
        let limits = HctmLimits { supported: true, min: None, max: None };
        assert_eq!(limits.check(hctm(1, 65_535)), Ok(()));
    }

    proptest! {
        #[test]
        fn values_round_trip(dword in any::<u32>()) {
            prop_assert_eq!(Hctm::decode(dword).expect("any dword").encode(), dword);
        }

        /// The rule as the specification words it, computed on the raw halves.
        #[test]
        fn the_check_is_the_rule(tmt1 in 0_u16..500, tmt2 in 0_u16..500) {
            let in_range = |raw: u16| raw == 0 || (273..=358).contains(&raw);
            let ordered = tmt1 == 0 || tmt2 == 0 || tmt1 < tmt2;
            let legal = in_range(tmt1) && in_range(tmt2) && ordered;
            prop_assert_eq!(SSD1.check(hctm(tmt1, tmt2)).is_ok(), legal);
        }
    }
}
