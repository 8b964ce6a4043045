//! Entries for the decoders of SCSI answers in the crate `drive`.
//!
//! The law: any bytes decode or are refused.

use crate::FuzzEntry;
use drive::guard::signatures;
use drive::scsi::{Capacity, Inquiry, vpd};

/// Every entry by the name of its fuzz target.
pub const ENTRIES: &[FuzzEntry] = &[("scsi_answers", answers), ("device_signatures", device_signatures)];

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
