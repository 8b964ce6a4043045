//! Features (Get and Set Features): settings of a drive as typed values.
//!
//! Most features are one dword; they implement [`DwordFeature`]. The temperature threshold needs a
//! selector and autonomous power state transition a table, so they have functions of their own.
//! Whether a value is acceptable to a certain drive is checked only for [`hctm`].
//!
//! Layouts: NVMe Base 2.3, Features.

pub mod hctm;
pub mod host_memory;
pub mod power;
pub mod service;
pub mod session;
pub mod temperature;

use std::fmt;

use crate::DecodeError;
use crate::command::{GetFeatures, SetFeatures};

/// A feature identifier. An open set: unknown values survive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeatureId(pub u8);

impl FeatureId {
    /// Arbitration (01h).
    pub const ARBITRATION: Self = Self(0x01);
    /// Power state (02h).
    pub const POWER_MANAGEMENT: Self = Self(0x02);
    /// Temperature threshold (04h).
    pub const TEMPERATURE_THRESHOLD: Self = Self(0x04);
    /// Error recovery (05h).
    pub const ERROR_RECOVERY: Self = Self(0x05);
    /// Volatile write cache (06h).
    pub const VOLATILE_WRITE_CACHE: Self = Self(0x06);
    /// Number of queues (07h).
    pub const NUMBER_OF_QUEUES: Self = Self(0x07);
    /// Write atomicity normal (0Ah).
    pub const WRITE_ATOMICITY: Self = Self(0x0a);
    /// Asynchronous event configuration (0Bh).
    pub const ASYNC_EVENTS: Self = Self(0x0b);
    /// Autonomous power state transition (0Ch).
    pub const APST: Self = Self(0x0c);
    /// Host memory buffer (0Dh).
    pub const HOST_MEMORY_BUFFER: Self = Self(0x0d);
    /// Timestamp (0Eh).
    pub const TIMESTAMP: Self = Self(0x0e);
    /// Keep-alive timer (0Fh).
    pub const KEEP_ALIVE: Self = Self(0x0f);
    /// Host controlled thermal management (10h).
    pub const HCTM: Self = Self(0x10);
    /// Power limit (23h, NVMe 2.3).
    pub const POWER_LIMIT: Self = Self(0x23);
    /// Power threshold (24h, NVMe 2.3).
    pub const POWER_THRESHOLD: Self = Self(0x24);
    /// Power measurement (25h, NVMe 2.3).
    pub const POWER_MEASUREMENT: Self = Self(0x25);

    /// Bytes of data that getting or setting a value moves; `None` for features we do not know.
    ///
    /// The host memory buffer is counted as in Get Features; setting it is not ours to do.
    pub const fn data_len(self) -> Option<u64> {
        match self {
            Self::APST => Some(power::APST_LEN as u64),
            Self::HOST_MEMORY_BUFFER => Some(host_memory::HOST_MEMORY_ATTRIBUTES_LEN as u64),
            Self::TIMESTAMP => Some(session::TIMESTAMP_LEN as u64),
            Self::ARBITRATION
            | Self::POWER_MANAGEMENT
            | Self::TEMPERATURE_THRESHOLD
            | Self::ERROR_RECOVERY
            | Self::VOLATILE_WRITE_CACHE
            | Self::NUMBER_OF_QUEUES
            | Self::WRITE_ATOMICITY
            | Self::ASYNC_EVENTS
            | Self::KEEP_ALIVE
            | Self::HCTM
            | Self::POWER_LIMIT
            | Self::POWER_THRESHOLD
            | Self::POWER_MEASUREMENT => Some(0),
            _ => None,
        }
    }

    /// The specification's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ARBITRATION => "Arbitration",
            Self::POWER_MANAGEMENT => "Power Management",
            Self::TEMPERATURE_THRESHOLD => "Temperature Threshold",
            Self::ERROR_RECOVERY => "Error Recovery",
            Self::VOLATILE_WRITE_CACHE => "Volatile Write Cache",
            Self::NUMBER_OF_QUEUES => "Number of Queues",
            Self::WRITE_ATOMICITY => "Write Atomicity Normal",
            Self::ASYNC_EVENTS => "Asynchronous Event Configuration",
            Self::APST => "Autonomous Power State Transition",
            Self::HOST_MEMORY_BUFFER => "Host Memory Buffer",
            Self::TIMESTAMP => "Timestamp",
            Self::KEEP_ALIVE => "Keep Alive Timer",
            Self::HCTM => "Host Controlled Thermal Management",
            Self::POWER_LIMIT => "Power Limit",
            Self::POWER_THRESHOLD => "Power Threshold",
            Self::POWER_MEASUREMENT => "Power Measurement",
            _ => "unnamed feature",
        }
    }
}

impl fmt::Display for FeatureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:02X}h)", self.name(), self.0)
    }
}

impl fmt::Debug for FeatureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Which value of a feature Get Features returns (SEL, dword 10 bits 10:8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Select {
    /// The value in force.
    Current,
    /// The value the drive was made with.
    Default,
    /// The value that will be in force after the next reset.
    Saved,
    /// What can be done with the feature: see [`Capabilities`].
    Supported,
    /// A reserved selection (4 to 7), as it came.
    Reserved(u8),
}

impl Select {
    /// The three selections that return a value.
    pub const VALUES: [Self; 3] = [Self::Current, Self::Default, Self::Saved];

    /// Decodes the three-bit field; higher bits are ignored.
    pub const fn from_wire(raw: u8) -> Self {
        match raw & 0b111 {
            0 => Self::Current,
            1 => Self::Default,
            2 => Self::Saved,
            3 => Self::Supported,
            reserved => Self::Reserved(reserved),
        }
    }

    /// The three-bit field.
    pub const fn as_wire(self) -> u8 {
        match self {
            Self::Current => 0,
            Self::Default => 1,
            Self::Saved => 2,
            Self::Supported => 3,
            Self::Reserved(raw) => raw & 0b111,
        }
    }
}

/// What can be done with a feature: the answer to [`Select::Supported`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The value can be saved over power cycles (bit 0).
    pub saveable: bool,
    /// Each namespace has its own value (bit 1).
    pub per_namespace: bool,
    /// The value can be changed (bit 2).
    pub changeable: bool,
}

impl Capabilities {
    /// Decodes dword 0 of the completion.
    pub const fn decode(dword: u32) -> Self {
        Self { saveable: dword & 1 != 0, per_namespace: dword & 2 != 0, changeable: dword & 4 != 0 }
    }

    /// Encodes dword 0 of the completion.
    pub const fn encode(self) -> u32 {
        self.saveable as u32 | (self.per_namespace as u32) << 1 | (self.changeable as u32) << 2
    }
}

/// A feature whose whole value is one dword: in Set Features as it is in Get Features' completion.
pub trait DwordFeature: Sized {
    /// Its identifier.
    const ID: FeatureId;
    /// Index in [`SetFeatures::dwords`] of the dword that carries the value: 0 is dword 11.
    const SET_DWORD_IDX: usize = 0;

    /// Decodes the value. Reserved bits are ignored.
    ///
    /// # Errors
    /// [`DecodeError::Value`] for a value the specification forbids.
    fn decode(dword: u32) -> Result<Self, DecodeError>;

    /// Encodes the value.
    fn encode(&self) -> u32;

    /// The command that reads a value of the whole controller.
    fn get(select: Select) -> GetFeatures {
        GetFeatures::controller(Self::ID, select)
    }

    /// The command that sets this value for the whole controller.
    fn set(&self, save: bool) -> SetFeatures {
        let mut command = SetFeatures::controller(Self::ID, 0, save);
        command.dwords[Self::SET_DWORD_IDX] = self.encode();
        command
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn selections_and_capabilities_have_their_bits() {
        for raw in 0..8 {
            assert_eq!(Select::from_wire(raw).as_wire(), raw);
        }
        assert_eq!(Select::from_wire(3), Select::Supported);
        let capabilities = Capabilities { saveable: true, per_namespace: false, changeable: true };
        assert_eq!(capabilities.encode(), 5);
        assert_eq!(Capabilities::decode(5), capabilities);
        assert_eq!(FeatureId::HCTM.to_string(), "Host Controlled Thermal Management (10h)");
    }
}
