//! Drives of this system: a file, a block device, a subsystem on a network, and the null drive.
//!
//! # What it does not do
//! It opens no block device for writing unless its data was given away and the guard ([`crate::guard`]) lets it pass.
//! What may and may not be done to a file or a device stands in `docs/SAFETY.md`.

mod device;
mod disk;
mod fabric;
mod facts;
mod file;
mod fill;
mod kind;
mod needs;
mod null;
mod scratch;
mod settings;

pub use device::DeviceDrive;
pub use fabric::FabricDrive;
pub use file::FileDrive;
pub use kind::DriveKind;
pub use null::NullDrive;
pub use settings::FOREIGN_SETTINGS;

use measure::Bytes;
use measure::record::DriveFacts;
use plan::check::TargetFacts;

use crate::address::Address;

/// What a plan's check has to know about a drive that takes everything.
fn limits(address: &Address, facts: &DriveFacts) -> TargetFacts {
    TargetFacts {
        address: address.to_string(),
        size: Bytes::new(facts.size_bytes),
        block_bytes: facts.block_bytes,
        read_only: None,
        direct: true,
        trim: true,
        slc: facts.slc_bytes.map(Bytes::new),
    }
}

/// The size, and nothing else known.
pub fn unknown_drive(kind: &str, size: Bytes, block_bytes: u32) -> DriveFacts {
    DriveFacts {
        kind: kind.to_owned(),
        model: None,
        serial: None,
        firmware: None,
        wwn: None,
        size_bytes: size.as_u64(),
        block_bytes,
        warning_k: None,
        critical_k: None,
        tmt_min_k: None,
        tmt_max_k: None,
        hctm: None,
        slc_bytes: None,
        power_states: None,
    }
}
