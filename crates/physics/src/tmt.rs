//! Feature 10h: the two thermal management temperatures and what may be set.

use measure::Kelvin;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Host controlled thermal management (feature 10h).
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HctmRange {
    /// Lowest settable temperature.
    pub mntmt_k: u16,
    /// Highest settable temperature.
    pub mxtmt_k: u16,
    /// Default of TMT1; 0 is off.
    pub tmt1_k: u16,
    /// Default of TMT2; 0 is off.
    pub tmt2_k: u16,
    /// Whether a TMT1 equal to MNTMT throttles. The specification says it does; not every drive agrees.
    pub tmt1_at_mntmt: AtMntmt,
}

/// What a drive does with a TMT1 at its lowest settable value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AtMntmt {
    /// Nothing: the value stands for "off".
    Inert,
    /// It throttles whenever it is hotter.
    Active,
}

/// A pair of thermal management temperatures; either may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tmt {
    tmt1_k: u16,
    tmt2_k: u16,
}

/// Why a pair cannot be set; the drive answers Invalid Field in Command.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TmtError {
    /// The drive has no host controlled thermal management.
    #[error("the drive has no host controlled thermal management (HCTMA is 0)")]
    Unsupported,
    /// A temperature outside what Identify allows.
    #[error("TMT{which} = {kelvin} K lies outside {least} K to {most} K (MNTMT to MXTMT); 0 turns it off")]
    Range {
        /// 1 or 2.
        which: u8,
        /// What was asked for.
        kelvin: u16,
        /// MNTMT.
        least: u16,
        /// MXTMT.
        most: u16,
    },
    /// TMT1 is not below TMT2.
    #[error("TMT1 = {tmt1_k} K is not below TMT2 = {tmt2_k} K")]
    Order {
        /// TMT1.
        tmt1_k: u16,
        /// TMT2.
        tmt2_k: u16,
    },
}

impl Tmt {
    /// Both off.
    pub const OFF: Self = Self { tmt1_k: 0, tmt2_k: 0 };

    /// A pair as the wire has it: kelvins, 0 for off.
    pub const fn from_kelvin(tmt1_k: u16, tmt2_k: u16) -> Self {
        Self { tmt1_k, tmt2_k }
    }

    /// Where light throttling sets in; `None` when off.
    pub const fn tmt1(self) -> Option<Kelvin> {
        Kelvin::from_nvme(self.tmt1_k)
    }

    /// Where heavy throttling sets in; `None` when off.
    pub const fn tmt2(self) -> Option<Kelvin> {
        Kelvin::from_nvme(self.tmt2_k)
    }

    /// TMT1 as the wire has it.
    pub const fn tmt1_raw(self) -> u16 {
        self.tmt1_k
    }

    /// TMT2 as the wire has it.
    pub const fn tmt2_raw(self) -> u16 {
        self.tmt2_k
    }
}

/// What a controller accepts: NVMe Base 2.3, 5.2.26.1.9.
pub(crate) fn check_tmt(limits: &HctmRange, tmt1_k: u16, tmt2_k: u16) -> Result<(), TmtError> {
    let (least, most) = (limits.mntmt_k, limits.mxtmt_k);
    for (which, kelvin) in [(1, tmt1_k), (2, tmt2_k)] {
        if kelvin != 0 && !(least..=most).contains(&kelvin) {
            return Err(TmtError::Range { which, kelvin, least, most });
        }
    }
    if tmt2_k != 0 && tmt1_k >= tmt2_k {
        return Err(TmtError::Order { tmt1_k, tmt2_k });
    }
    Ok(())
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::tmt::AtMntmt;

    /// Goal: every clause of the specification, on the limits of a published drive.
    #[test]
    fn pairs_are_checked_as_the_specification_says() {
        let limits =
            HctmRange { mntmt_k: 303, mxtmt_k: 348, tmt1_k: 0, tmt2_k: 0, tmt1_at_mntmt: AtMntmt::Active };
        let check = |tmt1, tmt2| check_tmt(&limits, tmt1, tmt2);
        for (tmt1, tmt2) in [(0, 0), (303, 348), (303, 0), (0, 348), (344, 348)] {
            assert_eq!(check(tmt1, tmt2), Ok(()), "{tmt1} {tmt2}");
        }
        assert!(matches!(check(302, 348), Err(TmtError::Range { which: 1, .. })));
        assert!(matches!(check(0, 349), Err(TmtError::Range { which: 2, .. })));
        assert!(matches!(check(348, 348), Err(TmtError::Order { .. })));
        assert!(matches!(check(340, 330), Err(TmtError::Order { .. })));
    }
}
