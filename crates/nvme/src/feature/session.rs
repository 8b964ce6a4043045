//! Features that a host sets up a session with: write cache (06h), queues (07h), events (0Bh),
//! timestamp (0Eh), keep-alive (0Fh).
//!
//! Layouts: NVMe Base 2.3, the features of these names.

use super::{DwordFeature, FeatureId};
use crate::DecodeError;

/// Whether the volatile write cache is on (feature 06h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolatileWriteCache {
    /// WCE.
    pub enabled: bool,
}

impl DwordFeature for VolatileWriteCache {
    const ID: FeatureId = FeatureId::VOLATILE_WRITE_CACHE;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        Ok(Self { enabled: dword & 1 != 0 })
    }

    fn encode(&self) -> u32 {
        u32::from(self.enabled)
    }
}

/// How many I/O queues are wanted, or given (feature 07h). Zero-based on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberOfQueues {
    /// Submission queues, 1 to 65,535.
    pub submission: u16,
    /// Completion queues, 1 to 65,535.
    pub completion: u16,
}

impl DwordFeature for NumberOfQueues {
    const ID: FeatureId = FeatureId::NUMBER_OF_QUEUES;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        let count = |raw_z: u16, field| {
            // FFFFh would be 65,536, which the specification forbids.
            raw_z.checked_add(1).ok_or(DecodeError::Value {
                what: "the number of queues (feature 07h)",
                field,
                value: raw_z.into(),
                why: "the most is FFFEh",
            })
        };
        Ok(Self {
            submission: count(dword as u16, "NSQR")?,
            completion: count((dword >> 16) as u16, "NCQR")?,
        })
    }

    fn encode(&self) -> u32 {
        let raw_z = |count: u16| u32::from(count.saturating_sub(1));
        raw_z(self.submission) | raw_z(self.completion) << 16
    }
}

/// Which asynchronous events the controller may send (feature 0Bh).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncEventConfig(pub u32);

impl AsyncEventConfig {
    /// Bit 1: the temperature critical warning.
    pub const TEMPERATURE: u32 = 1 << 1;
    /// Bit 8: a namespace changed.
    pub const NAMESPACE_ATTRIBUTE: u32 = 1 << 8;
    /// Bit 9: firmware is about to be activated.
    pub const FIRMWARE_ACTIVATION: u32 = 1 << 9;
    /// Bit 31: the discovery log changed.
    pub const DISCOVERY_CHANGE: u32 = 1 << 31;
}

impl DwordFeature for AsyncEventConfig {
    const ID: FeatureId = FeatureId::ASYNC_EVENTS;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        Ok(Self(dword))
    }

    fn encode(&self) -> u32 {
        self.0
    }
}

/// How long the controller waits for a sign of life (feature 0Fh); 0 for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAliveTimeout {
    /// Milliseconds (KATO).
    pub timeout_ms: u32,
}

impl DwordFeature for KeepAliveTimeout {
    const ID: FeatureId = FeatureId::KEEP_ALIVE;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        Ok(Self { timeout_ms: dword })
    }

    fn encode(&self) -> u32 {
        self.timeout_ms
    }
}

/// What an asynchronous event says: dword 0 of the completion of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AsyncEvent {
    /// Type (2:0): 0 error, 1 SMART, 2 notice, 3 immediate, 4 one-shot.
    pub kind: u8,
    /// Information (15:8); for SMART: 0 reliability, 1 temperature, 2 spare.
    pub info: u8,
    /// The log page to read (23:16).
    pub lid: u8,
}

impl AsyncEvent {
    /// A temperature crossed a threshold: read the SMART log.
    pub const TEMPERATURE: Self = Self { kind: 1, info: 1, lid: 2 };
    /// A namespace changed: read the list of those that did.
    pub const NAMESPACE_ATTRIBUTE: Self = Self { kind: 2, info: 0, lid: 4 };
    /// Power went over the threshold of feature 24h (NVMe Base 2.3, figure 157, as others read it); it points to no
    /// log page.
    pub const POWER_THRESHOLD: Self = Self { kind: Self::ONE_SHOT, info: 2, lid: 0 };
    /// The type of events that are told once for each time that they are asked for.
    pub const ONE_SHOT: u8 = 4;

    /// Decodes dword 0.
    pub const fn decode(dword: u32) -> Self {
        Self { kind: dword as u8 & 0b111, info: (dword >> 8) as u8, lid: (dword >> 16) as u8 }
    }

    /// Encodes dword 0.
    pub const fn encode(self) -> u32 {
        (self.kind & 0b111) as u32 | (self.info as u32) << 8 | (self.lid as u32) << 16
    }
}

/// Bytes of a timestamp.
pub const TIMESTAMP_LEN: usize = 8;

/// The drive's own clock (feature 0Eh, and in several log pages).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    /// Milliseconds, 48 bits: since 1970-01-01 if a host ever set it, else since the last reset.
    pub ms: u64,
    /// Whether a host set it (origin, bits 3:1 of byte 6, is 1).
    pub set_by_host: bool,
    /// Whether the clock may have stood still (bit 0 of byte 6), for example in a sleeping state.
    pub may_have_stopped: bool,
}

impl Timestamp {
    /// Decodes eight bytes.
    pub fn decode(bytes: [u8; TIMESTAMP_LEN]) -> Self {
        let raw = u64::from_le_bytes(bytes);
        Self {
            ms: raw & 0x0000_ffff_ffff_ffff,
            set_by_host: bytes[6] >> 1 & 0b111 == 1,
            may_have_stopped: bytes[6] & 1 != 0,
        }
    }

    /// Encodes eight bytes.
    pub fn encode(&self) -> [u8; TIMESTAMP_LEN] {
        let mut bytes = (self.ms & 0x0000_ffff_ffff_ffff).to_le_bytes();
        bytes[6] = u8::from(self.set_by_host) << 1 | u8::from(self.may_have_stopped);
        bytes
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn queues_are_zero_based() {
        let queues = NumberOfQueues { submission: 4, completion: 2 };
        assert_eq!(queues.encode(), 0x0001_0003);
        assert_eq!(NumberOfQueues::decode(0x0001_0003), Ok(queues));
        assert!(NumberOfQueues::decode(0xffff).is_err());
    }

    /// The event that Debian's kernels accept: type 1, info 1, log 2.
    #[test]
    fn a_temperature_event_has_its_bits() {
        assert_eq!(AsyncEvent::TEMPERATURE.encode(), 0x0002_0101);
        assert_eq!(AsyncEvent::POWER_THRESHOLD.encode(), 0x0000_0204);
    }

    proptest! {
        #[test]
        fn timestamps_round_trip(bytes in any::<[u8; 8]>()) {
            let timestamp = Timestamp::decode(bytes);
            prop_assert_eq!(Timestamp::decode(timestamp.encode()), timestamp);
            prop_assert_eq!(timestamp.ms.to_le_bytes()[..6].to_vec(), bytes[..6].to_vec());
        }

        #[test]
        fn values_round_trip(dword in any::<u32>()) {
            if let Ok(queues) = NumberOfQueues::decode(dword) {
                prop_assert_eq!(queues.encode(), dword);
            }
            prop_assert_eq!(AsyncEventConfig::decode(dword).map(|value| value.encode()), Ok(dword));
            prop_assert_eq!(KeepAliveTimeout::decode(dword).map(|value| value.encode()), Ok(dword));
            prop_assert_eq!(AsyncEvent::decode(dword).encode(), dword & 0x00ff_ff07);
        }
    }
}
