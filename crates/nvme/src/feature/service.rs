//! Features of how commands are served, which every controller of the NVM command set has: arbitration (01h), error
//! recovery (05h), write atomicity (0Ah).
//!
//! Layouts: NVMe Base 2.3, Arbitration; NVM Command Set 1.1, Error Recovery and Write Atomicity Normal.

use super::{DwordFeature, FeatureId};
use crate::DecodeError;

/// How queues take turns (feature 01h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arbitration {
    /// Commands taken from a queue at once, as a power of two; 7 is as many as there are (AB). Three bits.
    pub burst: u8,
    /// Weights of the low, medium and high priority class, zero-based; without weighted round robin they mean nothing.
    pub weights_z: [u8; 3],
}

impl DwordFeature for Arbitration {
    const ID: FeatureId = FeatureId::ARBITRATION;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        let [burst, low, medium, high] = dword.to_le_bytes();
        Ok(Self { burst: burst & 0b111, weights_z: [low, medium, high] })
    }

    fn encode(&self) -> u32 {
        let [low, medium, high] = self.weights_z;
        u32::from_le_bytes([self.burst & 0b111, low, medium, high])
    }
}

/// How long a command is tried (feature 05h). Each namespace has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorRecovery {
    /// Time limited error recovery in units of 100 ms; 0 is no limit (TLER).
    pub limit_100ms: u16,
    /// Whether reading a block that was never written is an error (DULBE).
    pub deallocated_error: bool,
}

impl DwordFeature for ErrorRecovery {
    const ID: FeatureId = FeatureId::ERROR_RECOVERY;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        Ok(Self { limit_100ms: dword as u16, deallocated_error: dword & 1 << 16 != 0 })
    }

    fn encode(&self) -> u32 {
        u32::from(self.limit_100ms) | u32::from(self.deallocated_error) << 16
    }
}

/// Whether the host does without the atomicity of AWUN, so that only that over a power cut holds (feature 0Ah).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteAtomicity {
    /// DN.
    pub disabled: bool,
}

impl DwordFeature for WriteAtomicity {
    const ID: FeatureId = FeatureId::WRITE_ATOMICITY;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        Ok(Self { disabled: dword & 1 != 0 })
    }

    fn encode(&self) -> u32 {
        u32::from(self.disabled)
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_have_their_bits() {
        assert_eq!(Arbitration { burst: 7, weights_z: [1, 2, 3] }.encode(), 0x0302_0107);
        assert_eq!(ErrorRecovery { limit_100ms: 50, deallocated_error: true }.encode(), 0x0001_0032);
        assert_eq!(WriteAtomicity { disabled: true }.encode(), 1);
    }

    proptest! {
        #[test]
        fn values_round_trip_without_reserved_bits(dword in any::<u32>()) {
            prop_assert_eq!(Arbitration::decode(dword).map(|value| value.encode()), Ok(dword & 0xffff_ff07));
            prop_assert_eq!(ErrorRecovery::decode(dword).map(|value| value.encode()), Ok(dword & 0x0001_ffff));
            prop_assert_eq!(WriteAtomicity::decode(dword).map(|value| value.encode()), Ok(dword & 1));
        }
    }
}
