//! Entries for the decoders of SCSI answers in the crate `drive`.
//!
//! The law: any bytes decode or are refused.

use crate::FuzzEntry;
use drive::guard::signatures;
use drive::scsi::{Capacity, Inquiry, command, vpd};
use drive::trim::{StoredCheck, identify_block};

/// Every entry by the name of its fuzz target.
pub const ENTRIES: &[FuzzEntry] = &[
    ("scsi_answers", answers),
    ("device_signatures", device_signatures),
    ("device_trim_check", device_trim_check),
    ("device_kept_bridges", device_kept_bridges),
];

/// INQUIRY, READ CAPACITY (16) and every page.
pub fn answers(data: &[u8]) {
    let _ = Inquiry::decode(data);
    if let Ok(capacity) = Capacity::decode(data) {
        assert!(capacity.bytes().is_none_or(|bytes| bytes >= u64::from(capacity.block_bytes)));
    }
    if let Some(serial) = vpd::serial_number(data) {
        assert!(!serial.is_empty() && serial.trim() == serial);
    }
    let _ = vpd::designators(data);
    let _ = vpd::block_limits(data);
    let _ = vpd::characteristics(data);
    let _ = vpd::provisioning(data);
}

/// What is recognised on a device: the first eight bytes are its size, the rest both its ends.
pub fn device_signatures(data: &[u8]) {
    let (len, ends) =
        data.split_first_chunk().map_or((0, data), |(len, rest)| (u64::from_le_bytes(*len), rest));
    for one in signatures::find(ends, ends, len) {
        assert!(one.kind.word().is_some(), "what lies on a drive is never final");
    }
}

/// What is kept about USB bridges: nothing but types that smartctl is asked with comes out of it.
pub fn device_kept_bridges(data: &[u8]) {
    assert!(drive::telemetry::smartctl::kept_bridges_come_back(data));
}

/// A stored check of TRIM, the parameter list of an UNMAP, and blocks of a drive: what is taken lies on the drive, and its
/// blocks come back as they were stored.
pub fn device_trim_check(data: &[u8]) {
    if let Ok(check) = StoredCheck::decode(data) {
        let blocks = check.drive.size_bytes / check.block_bytes;
        let state = check.state();
        assert!(state.map.runs().all(|(range, _)| range.end() <= blocks));
        let stored: u64 = check.runs.iter().map(|(range, _)| range.blocks).sum();
        assert_eq!(state.map.runs().map(|(range, _)| range.blocks).sum::<u64>(), stored);
    }
    let descriptors = command::unmap_descriptors(data);
    assert!(descriptors.len() <= data.len() / 16);
    let again = command::unmap_descriptors(&command::unmap_list(&descriptors));
    assert_eq!(again[..], descriptors[..descriptors.len().min(command::UNMAP_DESCRIPTORS_MAX)]);
    for block in data.as_chunks().0 {
        let _ = identify_block(block, 0);
    }
}
