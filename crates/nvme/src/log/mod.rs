//! Log pages (Get Log Page, opcode 02h): one file a page, each in both directions.
//!
//! A page is bytes in, values out; how much of it to ask for, and at which offset, is the caller's
//! matter. Layouts: NVMe Base 2.3, Get Log Page; OCP Datacenter NVMe SSD 2.0 for [`ocp`].

pub mod discovery;
pub mod effects;
pub mod errors;
pub mod firmware;
pub mod ocp;
pub mod persistent;
pub mod power_measurement;
pub mod self_test;
pub mod smart;
pub mod supported;

use std::fmt;

/// A log page identifier. An open set: unknown values survive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogId(pub u8);

impl LogId {
    /// Supported log pages (00h).
    pub const SUPPORTED: Self = Self(0x00);
    /// Error information (01h).
    pub const ERRORS: Self = Self(0x01);
    /// SMART / health information (02h).
    pub const SMART: Self = Self(0x02);
    /// Firmware slots (03h).
    pub const FIRMWARE: Self = Self(0x03);
    /// Namespaces that changed since the page was last read (04h): a list as that of the active ones.
    pub const CHANGED_NAMESPACES: Self = Self(0x04);
    /// Commands supported and effects (05h).
    pub const EFFECTS: Self = Self(0x05);
    /// Device self-test (06h).
    pub const SELF_TEST: Self = Self(0x06);
    /// Persistent events (0Dh).
    pub const PERSISTENT_EVENTS: Self = Self(0x0d);
    /// Power measurement (25h, NVMe 2.3).
    pub const POWER_MEASUREMENT: Self = Self(0x25);
    /// Discovery (70h, Fabrics).
    pub const DISCOVERY: Self = Self(0x70);
    /// OCP extended SMART (C0h, vendor range).
    pub const OCP_SMART: Self = Self(0xc0);

    /// The specification's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SUPPORTED => "Supported Log Pages",
            Self::ERRORS => "Error Information",
            Self::SMART => "SMART / Health Information",
            Self::FIRMWARE => "Firmware Slot Information",
            Self::CHANGED_NAMESPACES => "Changed Attached Namespace List",
            Self::SELF_TEST => "Device Self-test",
            Self::EFFECTS => "Commands Supported and Effects",
            Self::PERSISTENT_EVENTS => "Persistent Event",
            Self::POWER_MEASUREMENT => "Power Measurement",
            Self::DISCOVERY => "Discovery",
            Self::OCP_SMART => "OCP SMART / Health Information Extended",
            _ => "unnamed log page",
        }
    }
}

impl fmt::Display for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:02X}h)", self.name(), self.0)
    }
}

impl fmt::Debug for LogId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
