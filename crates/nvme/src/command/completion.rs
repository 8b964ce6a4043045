//! Completion queue entries.
//!
//! Layout: NVMe Base 2.3, Common Completion Queue Entry; on Fabrics the first eight bytes are one
//! result value and there is no phase tag.

use zerocopy::little_endian::{U16, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::wire::{self, assert_layout};
use crate::{DecodeError, Status};

/// Bytes of a completion queue entry.
pub const COMPLETION_LEN: usize = 16;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Command-specific result: dword 0 in the low half; only Fabrics use the high half.
    pub result: u64,
    /// Submission queue head pointer.
    pub sq_head: u16,
    /// Submission queue identifier.
    pub sq_id: u16,
    /// Identifier of the command that ended.
    pub cid: u16,
    /// Success or why not.
    pub status: Status,
}

impl Completion {
    /// The command `cid` succeeded with `result`. Queue fields are zero until the transport sets them.
    pub const fn success(cid: u16, result: u64) -> Self {
        Self { result, sq_head: 0, sq_id: 0, cid, status: Status::SUCCESS }
    }

    /// The command `cid` failed.
    pub const fn failure(cid: u16, status: Status) -> Self {
        Self { result: 0, sq_head: 0, sq_id: 0, cid, status }
    }

    /// Dword 0 of the result.
    pub const fn dword0(&self) -> u32 {
        self.result as u32
    }

    /// Decodes an entry; the phase tag is dropped.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 16 bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let wire: &CompletionWire = wire::layout("a completion queue entry", bytes)?;
        Ok(Self {
            result: wire.result.get(),
            sq_head: wire.sq_head.get(),
            sq_id: wire.sq_id.get(),
            cid: wire.cid.get(),
            status: Status::from_completion(wire.status.get()),
        })
    }

    /// Encodes the entry with phase tag 0.
    pub fn encode(&self) -> [u8; COMPLETION_LEN] {
        zerocopy::transmute!(CompletionWire {
            result: self.result.into(),
            sq_head: self.sq_head.into(),
            sq_id: self.sq_id.into(),
            cid: self.cid.into(),
            status: self.status.as_completion().into(),
        })
    }
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct CompletionWire {
    result: U64,
    sq_head: U16,
    sq_id: U16,
    cid: U16,
    status: U16,
}
assert_layout!(CompletionWire, 16, { sq_head: 8, sq_id: 10, cid: 12, status: 14 });

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_status_stands_in_the_last_two_bytes_shifted_by_the_phase_tag() {
        let bytes = Completion::failure(0x1234, Status::INVALID_FIELD.do_not_retry()).encode();
        assert_eq!(bytes[12..], [0x34, 0x12, 0x04, 0x80]);
    }

    proptest! {
        #[test]
        fn any_entry_round_trips_without_its_phase(bytes in any::<[u8; COMPLETION_LEN]>()) {
            let mut expected = bytes;
            expected[14] &= 0xfe;
            prop_assert_eq!(Completion::decode(&bytes).expect("16 bytes").encode(), expected);
        }
    }
}
