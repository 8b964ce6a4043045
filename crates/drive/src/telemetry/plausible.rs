//! Which temperatures are taken for measured. What is not is a gap with the reason, and no reading.
//!
//! A gap does no harm: a drive that has told its temperature and then tells none is not loaded on (docs/SAFETY.md).

use std::ops::RangeInclusive;

/// Degrees Celsius that a drive in use can have: -40 is the least of industrial drives, and no flash works above 125.
const CELSIUS: RangeInclusive<i64> = -40..=125;

/// Whether a reading in whole kelvins is one. NVMe has a value for "not reported", which is 0 K.
pub(super) fn is_plausible_in_kelvin(kelvin: u16) -> bool {
    CELSIUS.contains(&(i64::from(kelvin) - 273))
}

/// Whether a reading of a protocol that knows only a byte of degrees Celsius is one: there 0 is an empty answer, and
/// -1 (FFh) is none. USB bridges answer both, and 127, 128 and 255, for a drive that they cannot ask.
pub(super) fn is_plausible_in_celsius(celsius: i64) -> bool {
    CELSIUS.contains(&celsius) && !matches!(celsius, 0 | -1)
}

/// Why a reading is not used.
pub(super) fn implausible(celsius: i64) -> String {
    format!("the drive reports {celsius} \u{b0}C, which is not plausible, so it is not used")
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn what_bridges_make_up_is_not_plausible() {
        for made_up in [0, -1, 127, 128, 255, -128, -41, 126, i64::MIN, i64::MAX] {
            assert!(!is_plausible_in_celsius(made_up), "{made_up}");
        }
        for real in [-40, -20, -2, 1, 25, 70, 100, 125] {
            assert!(is_plausible_in_celsius(real), "{real}");
        }
    }

    #[test]
    fn a_cold_nvme_drive_may_be_at_the_freezing_point() {
        for (kelvin, plausible) in [
            (1, false),
            (232, false),
            (233, true),
            (272, true),
            (273, true),
            (398, true),
            (399, false),
            (u16::MAX, false),
        ] {
            assert_eq!(is_plausible_in_kelvin(kelvin), plausible, "{kelvin}");
        }
    }
}
