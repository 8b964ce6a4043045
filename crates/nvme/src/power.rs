//! A power value with the scale NVMe puts beside it.
//!
//! The coding 0 = not reported, 1 = 0.0001 W, 2 = 0.01 W is shared by idle and active power
//! (NVMe Base 2.3, Power State Descriptor), interval power, power limit and power threshold.
//! Maximum power has a coding of its own (bit MXPS) and is handled where it occurs.

use measure::Watts;

/// How much one step of a power value is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerScale {
    /// Wire value 1: steps of 0.0001 W.
    TenthMilliwatt,
    /// Wire value 2: steps of 0.01 W.
    Centiwatt,
}

impl PowerScale {
    /// Decodes the two-bit scale; `None` for 0 ("not reported") and for the reserved 3.
    pub const fn from_wire(raw: u8) -> Option<Self> {
        match raw {
            1 => Some(Self::TenthMilliwatt),
            2 => Some(Self::Centiwatt),
            _ => None,
        }
    }

    /// The two-bit wire value.
    pub const fn as_wire(self) -> u8 {
        match self {
            Self::TenthMilliwatt => 1,
            Self::Centiwatt => 2,
        }
    }

    /// Steps in one watt.
    const fn steps_per_watt(self) -> f64 {
        match self {
            Self::TenthMilliwatt => 10_000.0,
            Self::Centiwatt => 100.0,
        }
    }
}

/// A power as a count of steps of a scale: exact, as the wire has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaledPower {
    /// Number of steps.
    pub value: u16,
    /// What one step is worth.
    pub scale: PowerScale,
}

impl ScaledPower {
    /// Decodes a value and its two-bit scale; `None` where the scale says "not reported".
    pub const fn from_wire(value: u16, scale: u8) -> Option<Self> {
        match PowerScale::from_wire(scale) {
            Some(scale) => Some(Self { value, scale }),
            None => None,
        }
    }

    /// The power in watts on the finest scale that holds it; saturates at 655.35 W.
    pub fn from_watts(power: Watts) -> Self {
        let fine = (power.as_f64() * PowerScale::TenthMilliwatt.steps_per_watt()).round();
        let scale =
            if fine <= f64::from(u16::MAX) { PowerScale::TenthMilliwatt } else { PowerScale::Centiwatt };
        // A float-to-integer cast saturates: negative and NaN become 0.
        let value = (power.as_f64() * scale.steps_per_watt()).round() as u16;
        Self { value, scale }
    }

    /// The power in watts.
    pub fn watts(self) -> Watts {
        Watts::new(f64::from(self.value) / self.scale.steps_per_watt())
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn watts_take_the_finest_scale_that_holds_them() {
        assert_eq!(
            ScaledPower::from_watts(Watts::new(5.2512)),
            ScaledPower { value: 52_512, scale: PowerScale::TenthMilliwatt }
        );
        assert_eq!(
            ScaledPower::from_watts(Watts::new(8.25)),
            ScaledPower { value: 825, scale: PowerScale::Centiwatt }
        );
        assert_eq!(ScaledPower::from_watts(Watts::new(1e6)).watts(), Watts::new(655.35));
    }

    #[test]
    fn scales_zero_and_three_report_nothing() {
        assert_eq!(ScaledPower::from_wire(100, 0), None);
        assert_eq!(ScaledPower::from_wire(100, 3), None);
        assert_eq!(ScaledPower::from_wire(100, 2).map(ScaledPower::watts), Some(Watts::new(1.0)));
    }
}
