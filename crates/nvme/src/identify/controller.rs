//! What a controller says about itself (Identify, CNS 01h), as values.
//!
//! The layout and both directions are in `controller_wire`. Words of flags keep their bits and
//! have accessors for those we use. NVMe Base 2.3, Identify Controller Data Structure.

use std::fmt;
use std::time::Duration;

use measure::{Bytes, Kelvin};

use super::{PowerState, Simulation};
use crate::feature::hctm::HctmLimits;

/// What a controller says about itself. Fields are named in words; the mnemonic is in the comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentifyController {
    /// PCI vendor (VID).
    pub vendor_id: u16,
    /// PCI subsystem vendor (SSVID).
    pub subsystem_vendor_id: u16,
    /// Serial number (SN).
    pub serial: String,
    /// Model number (MN).
    pub model: String,
    /// Firmware revision (FR).
    pub firmware: String,
    /// Recommended arbitration burst as a power of two (RAB).
    pub arbitration_burst: u8,
    /// IEEE organisation identifier, 24 bits (IEEE).
    pub ieee_oui: u32,
    /// Multi-path and sharing bits (CMIC).
    pub multi_path: u8,
    /// Most data of one command as a power of two of the smallest memory page (MDTS); `None`: no limit.
    pub max_transfer_shift: Option<u8>,
    /// Controller identifier (CNTLID).
    pub controller_id: u16,
    /// Version of the specification it follows (VER).
    pub version: Version,
    /// Time to resume from runtime D3 (RTD3R).
    pub d3_resume: Option<Duration>,
    /// Time to enter runtime D3 (RTD3E).
    pub d3_entry: Option<Duration>,
    /// Optional asynchronous events (OAES).
    pub optional_events: u32,
    /// Controller attributes (CTRATT).
    pub attributes: u32,
    /// 1 is an I/O, 2 a discovery, 3 an administrative controller (CNTRLTYPE); 0 not reported.
    pub controller_type: u8,
    /// Retry delays in units of 100 ms (CRDT1 to CRDT3).
    pub retry_delays_100ms: [u16; 3],
    /// Optional admin commands (OACS).
    pub optional_admin: u16,
    /// Most Abort commands at once; zero-based on the wire (ACL).
    pub abort_limit: u16,
    /// Most asynchronous event requests at once; zero-based on the wire (AERL).
    pub event_limit: u16,
    /// Firmware update bits (FRMW).
    pub firmware_updates: u8,
    /// Log page attributes (LPA).
    pub log_attributes: u8,
    /// Entries of the error log, 1 to 256; zero-based on the wire (ELPE).
    pub error_log_entries: u16,
    /// Vendor commands use the standard format (AVSCC).
    pub vendor_command_format: u8,
    /// Autonomous power state transition is supported (APSTA bit 0).
    pub apst_supported: bool,
    /// Composite temperature at which the drive warns (WCTEMP).
    pub warning_temperature: Option<Kelvin>,
    /// Composite temperature that is critical (CCTEMP).
    pub critical_temperature: Option<Kelvin>,
    /// Longest pause for firmware activation in units of 100 ms (MTFA).
    pub firmware_pause_100ms: Option<u16>,
    /// The host's memory that the drive would use.
    pub host_memory: HostMemoryNeeds,
    /// Capacity of the drive in bytes (TNVMCAP).
    pub total_capacity_bytes: Option<u128>,
    /// Capacity that belongs to no namespace, in bytes (UNVMCAP).
    pub unallocated_capacity_bytes: u128,
    /// Minutes of an extended self-test (EDSTT).
    pub self_test_minutes: Option<u16>,
    /// Device self-test options (DSTO): bit 0, one test at a time in the whole subsystem.
    pub self_test_options: u8,
    /// Granularity of the keep-alive timer in units of 100 ms (KAS); `None`: no keep-alive.
    pub keep_alive_100ms: Option<u16>,
    /// Host controlled thermal management (HCTMA, MNTMT, MXTMT).
    pub hctm: HctmLimits,
    /// Sanitize capabilities (SANICAP).
    pub sanitize: u32,
    /// Highest endurance group (ENDGIDMAX).
    pub endurance_group_max: u16,
    /// Size of the persistent event log in units of 64 KiB (PELS).
    pub persistent_events_64kib: Option<u32>,
    /// Largest hysteresis of a temperature threshold in kelvins (TMPTHHA bits 2:0).
    pub threshold_hysteresis_max_k: u8,
    /// Maximum power of state 0 without a power limit (MUP), raw; its scale is not settled.
    pub max_unlimited_power_raw: u16,
    /// Longest interval between the samples of a power measurement (IPMSR).
    pub power_sample_interval: Option<Duration>,
    /// Longest time after which a measurement can stop by itself, in minutes (MSMT).
    pub power_stop_minutes_max: u16,
    /// Submission queue entry sizes as powers of two: required 3:0, maximum 7:4 (SQES).
    pub submission_entry_size: u8,
    /// Completion queue entry sizes as powers of two (CQES).
    pub completion_entry_size: u8,
    /// Most commands the controller handles at once (MAXCMD).
    pub max_commands: Option<u16>,
    /// Highest namespace identifier (NN).
    pub namespaces: u32,
    /// Optional NVM commands (ONCS).
    pub optional_nvm: u16,
    /// Fused operations (FUSES).
    pub fused_operations: u16,
    /// Format attributes (FNA).
    pub format_attributes: u8,
    /// Volatile write cache bits (VWC).
    pub write_cache: u8,
    /// Blocks written atomically; zero-based on the wire (AWUN).
    pub atomic_write_blocks: u32,
    /// Blocks written atomically over a power cut; zero-based on the wire (AWUPF).
    pub atomic_power_fail_blocks: u32,
    /// Scatter-gather support (SGLS).
    pub sgl_support: u32,
    /// NVMe qualified name of the subsystem (SUBNQN).
    pub subsystem_nqn: Option<String>,
    /// What concerns Fabrics only.
    pub fabrics: FabricsAttributes,
    /// How its time and data relate to ours, where it is a virtual SSD of heatsoak (vendor specific, from byte 3072).
    /// It is known by its subsystem's name, which nobody else can own; `None` for every other drive.
    pub simulation: Option<Simulation>,
    /// The power states, 1 to 32 of them, by number (NPSS, PSD).
    pub power_states: Vec<PowerState>,
}

/// The host's memory that a drive would use, often in place of DRAM of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostMemoryNeeds {
    /// How much it would like (HMPRE); `None`: it uses none.
    pub preferred: Option<Bytes>,
    /// How much it needs at least (HMMIN).
    pub min: Option<Bytes>,
    /// Smallest useful piece (HMMINDS).
    pub piece_min: Option<Bytes>,
    /// Most pieces (HMMAXD).
    pub pieces_max: Option<u16>,
}

/// What a controller on a network says; all zero on PCIe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FabricsAttributes {
    /// Largest command capsule in units of 16 bytes (IOCCSZ); 4 is a command without data.
    pub command_capsule_16b: u32,
    /// Largest response capsule in units of 16 bytes (IORCSZ).
    pub response_capsule_16b: u32,
    /// Offset of in-capsule data in units of 16 bytes (ICDOFF).
    pub data_offset_16b: u16,
    /// Controller attributes (FCATT).
    pub attributes: u8,
    /// Most SGL data blocks of a command (MSDBD).
    pub sgl_blocks_max: u8,
}

impl IdentifyController {
    /// Whether Get and Set Features know select and save (ONCS bit 4).
    pub const fn has_select_and_save(&self) -> bool {
        self.optional_nvm & 1 << 4 != 0
    }

    /// Whether Dataset Management, hence deallocation, is supported (ONCS bit 2).
    pub const fn has_dataset_management(&self) -> bool {
        self.optional_nvm & 1 << 2 != 0
    }

    /// Whether the timestamp feature is supported (ONCS bit 6).
    pub const fn has_timestamp(&self) -> bool {
        self.optional_nvm & 1 << 6 != 0
    }

    /// Whether there is a volatile write cache (VWC bit 0).
    pub const fn has_write_cache(&self) -> bool {
        self.write_cache & 1 != 0
    }

    /// Whether the commands supported and effects log (05h) exists (LPA bit 1).
    pub const fn has_effects_log(&self) -> bool {
        self.log_attributes & 1 << 1 != 0
    }

    /// Whether the persistent event log (0Dh) exists (LPA bit 4).
    pub const fn has_persistent_events(&self) -> bool {
        self.log_attributes & 1 << 4 != 0
    }

    /// Whether the power can be limited (feature 23h; CTRATT bit 20, NVMe 2.3).
    pub const fn has_power_limit(&self) -> bool {
        self.attributes & 1 << 20 != 0
    }

    /// Whether power is measured (feature 25h, log 25h; CTRATT bit 21, NVMe 2.3).
    pub const fn has_power_measurement(&self) -> bool {
        self.attributes & 1 << 21 != 0
    }

    /// Most data one command can move, for a smallest memory page of `page` (CAP.MPSMIN; 4 KiB everywhere we know).
    pub fn max_transfer(&self, page: Bytes) -> Option<Bytes> {
        let shift = self.max_transfer_shift?;
        page.as_u64()
            .checked_shl(shift.into())
            .filter(|bytes| bytes >> shift == page.as_u64())
            .map(Bytes::new)
    }
}

/// A version of the NVMe specification, as VER and the property VS hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// 2 of 2.1.3.
    pub major: u16,
    /// 1 of 2.1.3.
    pub minor: u8,
    /// 3 of 2.1.3.
    pub tertiary: u8,
}

impl Version {
    /// Decodes 31:16 major, 15:8 minor, 7:0 tertiary. Before 1.2 drives report 0.0.
    pub const fn decode(raw: u32) -> Self {
        Self { major: (raw >> 16) as u16, minor: (raw >> 8) as u8, tertiary: raw as u8 }
    }

    /// Encodes the value.
    pub const fn encode(self) -> u32 {
        (self.major as u32) << 16 | (self.minor as u32) << 8 | self.tertiary as u32
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        if self.tertiary != 0 { write!(f, ".{}", self.tertiary) } else { Ok(()) }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn versions_read_as_people_write_them() {
        assert_eq!(Version::decode(0x0001_0400).to_string(), "1.4");
        assert_eq!(Version::decode(0x0002_0103).to_string(), "2.1.3");
        assert_eq!(Version::decode(0x0001_0400).encode(), 0x0001_0400);
    }

    #[test]
    fn the_transfer_limit_is_a_power_of_two_of_pages_and_zero_is_none() {
        let mut identify = IdentifyController::unreported();
        assert_eq!(identify.max_transfer(Bytes::new(4096)), None);
        identify.max_transfer_shift = Some(8);
        assert_eq!(identify.max_transfer(Bytes::new(4096)), Some(Bytes::new(1 << 20)));
        identify.max_transfer_shift = Some(255);
        assert_eq!(identify.max_transfer(Bytes::new(4096)), None);
    }
}
