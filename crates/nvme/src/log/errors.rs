//! Error information (log page 01h): the controller's latest failures, newest first.
//!
//! Layout: NVMe Base 2.3, Error Information Log Entry.

use measure::Lba;
use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::wire::{self, assert_layout};
use crate::{DecodeError, Status};

/// Bytes of an entry.
pub const ERROR_ENTRY_LEN: usize = 64;

/// Not bound to a queue or a command.
const NOT_SPECIFIC: u16 = 0xffff;

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorEntry {
    /// Counts all errors in the drive's life, from 1; the number of this one.
    pub number: u64,
    /// Submission queue of the command that failed; `None` when no command did.
    pub sq_id: Option<u16>,
    /// Identifier of the command that failed.
    pub cid: Option<u16>,
    /// How it failed.
    pub status: Status,
    /// Byte (7:0) and bit (10:8) of the command that was wrong; FFFFh where none is meant.
    pub parameter_location: u16,
    /// First block that failed; 0 where none is meant.
    pub lba: Lba,
    /// Namespace; 0 where none is meant.
    pub nsid: u32,
    /// Opcode of the command, where the drive says so (page version 1).
    pub opcode: Option<u8>,
    /// What the command's definition says about it.
    pub command_specific: u64,
}

impl ErrorEntry {
    /// Decodes as many whole entries as there are bytes for. Empty slots are left out.
    ///
    /// # Errors
    /// [`DecodeError::Short`] when there are bytes, but not enough for one entry.
    pub fn decode_all(page: &[u8]) -> Result<Vec<Self>, DecodeError> {
        let whole = page.len() - page.len() % ERROR_ENTRY_LEN;
        // With less than one whole entry, the first chunk is the short page itself: the error.
        let entries = if whole == 0 { page } else { &page[..whole] };
        let mut found = Vec::new();
        for chunk in entries.chunks(ERROR_ENTRY_LEN) {
            let wire: &EntryWire = wire::layout("the error log (01h)", chunk)?;
            if wire.count.get() != 0 {
                found.push(Self::from_wire(wire));
            }
        }
        Ok(found)
    }

    fn from_wire(wire: &EntryWire) -> Self {
        let specific = |raw: U16| Some(raw.get()).filter(|value| *value != NOT_SPECIFIC);
        Self {
            number: wire.count.get(),
            sq_id: specific(wire.sq_id),
            cid: specific(wire.cid),
            status: Status::from_completion(wire.status.get()),
            parameter_location: wire.parameter_location.get(),
            lba: Lba::new(wire.lba.get()),
            nsid: wire.nsid.get(),
            opcode: (wire.version >= 1).then_some(wire.opcode),
            command_specific: wire.command_specific.get(),
        }
    }

    /// Encodes the entry.
    pub fn encode(&self) -> [u8; ERROR_ENTRY_LEN] {
        let mut wire = EntryWire::new_zeroed();
        wire.count = self.number.into();
        wire.sq_id = self.sq_id.unwrap_or(NOT_SPECIFIC).into();
        wire.cid = self.cid.unwrap_or(NOT_SPECIFIC).into();
        wire.status = self.status.as_completion().into();
        wire.parameter_location = self.parameter_location.into();
        wire.lba = self.lba.as_u64().into();
        wire.nsid = self.nsid.into();
        wire.opcode = self.opcode.unwrap_or(0);
        wire.version = self.opcode.is_some().into();
        wire.command_specific = self.command_specific.into();
        zerocopy::transmute!(wire)
    }
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct EntryWire {
    count: U64,
    sq_id: U16,
    cid: U16,
    status: U16,
    parameter_location: U16,
    lba: U64,
    nsid: U32,
    vendor_log: u8,
    transport: u8,
    csi: u8,
    opcode: u8,
    command_specific: U64,
    transport_specific: U16,
    reserved42: [u8; 21],
    version: u8,
}
assert_layout!(EntryWire, 64, {
    sq_id: 8,
    status: 12,
    parameter_location: 14,
    lba: 16,
    nsid: 24,
    opcode: 31,
    command_specific: 32,
    version: 63,
});

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn empty_slots_are_left_out_and_broken_lengths_named() {
        let mut page = vec![0; 4 * ERROR_ENTRY_LEN + 17];
        page[64] = 5;
        page[64 + 8..64 + 12].copy_from_slice(&[0xff; 4]);
        page[64 + 12] = 0x04;
        let entries = ErrorEntry::decode_all(&page).expect("four slots");
        assert_eq!(entries.len(), 1);
        assert_eq!((entries[0].number, entries[0].sq_id, entries[0].cid), (5, None, None));
        assert!(entries[0].status.is(Status::INVALID_FIELD));
        assert!(ErrorEntry::decode_all(&page[..63]).is_err());
    }

    proptest! {
        #[test]
        fn entries_round_trip(page in prop::collection::vec(any::<u8>(), ERROR_ENTRY_LEN)) {
            for entry in ErrorEntry::decode_all(&page).expect("one slot") {
                prop_assert_eq!(ErrorEntry::decode_all(&entry.encode()), Ok(vec![entry]));
            }
        }
    }
}
