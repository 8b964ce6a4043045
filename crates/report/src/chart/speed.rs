//! The unit of speed, one for a whole chart or table.

/// MB/s or GB/s, decimal as drives are sold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpeedUnit {
    Mega,
    Giga,
}

impl SpeedUnit {
    /// The unit in which the highest speed, in bytes per second, reads best.
    pub(crate) fn for_max(bytes_per_s: f64) -> Self {
        if bytes_per_s >= 1e9 { Self::Giga } else { Self::Mega }
    }

    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Mega => "MB/s",
            Self::Giga => "GB/s",
        }
    }

    /// A speed in bytes per second in this unit.
    pub(crate) fn convert(self, bytes_per_s: f64) -> f64 {
        match self {
            Self::Mega => bytes_per_s / 1e6,
            Self::Giga => bytes_per_s / 1e9,
        }
    }

    /// Decimals that show about a thousandth of what is usual in this unit.
    pub(crate) const fn decimals(self) -> usize {
        match self {
            Self::Mega => 1,
            Self::Giga => 3,
        }
    }
}
