//! Commands and completions: submission queue entries in both directions.
//!
//! A command exists in three forms, each in its own type: 64 bytes, [`Sqe`] (fields by their
//! place), and [`AdminCommand`] or [`IoCommand`] (fields by their meaning). Zero-based counts on
//! the wire are counts in the last form. Which commands a controller accepts is not decided here.
//!
//! Layout: NVMe Base 2.3, Common Command Format.

mod admin;
mod completion;
mod io;
mod sgl;

pub use admin::{
    AdminCommand, Cns, FormatNvm, GetFeatures, GetLogPage, Identify, SecureErase, SetFeatures, log_action,
};
pub use completion::{COMPLETION_LEN, Completion};
pub use io::{DeallocateRange, IoCommand, MAX_RANGES, RANGE_BLOCKS_MAX, RANGE_LEN, Transfer};
pub use sgl::Sgl;

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DecodeError;
use crate::wire::{self, assert_layout};

/// Bytes of a submission queue entry.
pub const SQE_LEN: usize = 64;

/// The namespace identifier that means "all namespaces".
pub const NSID_ALL: u32 = 0xffff_ffff;

/// Opcodes, admin and I/O. NVMe Base 2.3, Admin commands; NVM Command Set 1.1, I/O commands.
pub mod opcode {
    #![expect(missing_docs, reason = "the names are the specification's")]
    pub const GET_LOG_PAGE: u8 = 0x02;
    pub const IDENTIFY: u8 = 0x06;
    pub const ABORT: u8 = 0x08;
    pub const SET_FEATURES: u8 = 0x09;
    pub const GET_FEATURES: u8 = 0x0a;
    pub const ASYNC_EVENT_REQUEST: u8 = 0x0c;
    pub const SELF_TEST: u8 = 0x14;
    pub const KEEP_ALIVE: u8 = 0x18;
    pub const FORMAT: u8 = 0x80;
    /// Fabrics commands, admin and I/O queue alike; the kind is in byte 4.
    pub const FABRICS: u8 = 0x7f;

    pub const FLUSH: u8 = 0x00;
    pub const WRITE: u8 = 0x01;
    pub const READ: u8 = 0x02;
    pub const COMPARE: u8 = 0x05;
    pub const WRITE_ZEROES: u8 = 0x08;
    pub const DATASET_MANAGEMENT: u8 = 0x09;
    pub const VERIFY: u8 = 0x0c;
}

/// A submission queue entry, fields by their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sqe {
    /// Opcode (byte 0).
    pub opcode: u8,
    /// Fused operation (1:0) and data transfer kind (7:6: 0 PRP, 1 SGL), byte 1.
    pub flags: u8,
    /// Command identifier; opaque, repeated in the completion.
    pub cid: u16,
    /// Namespace identifier; 0 where none is meant.
    pub nsid: u32,
    /// Command dwords 2 and 3.
    pub cdw2_3: [u32; 2],
    /// Metadata pointer.
    pub metadata: u64,
    /// Data pointer, bytes 24 to 39: two PRPs or one SGL descriptor.
    pub data: [u8; 16],
    /// Command dwords 10 to 15.
    pub cdw: [u32; 6],
}

impl Sqe {
    /// An entry with `opcode` for `nsid`, everything else zero.
    pub const fn new(opcode: u8, nsid: u32) -> Self {
        Self { opcode, flags: 0, cid: 0, nsid, cdw2_3: [0; 2], metadata: 0, data: [0; 16], cdw: [0; 6] }
    }

    /// Command dword `number`, 10 to 15.
    ///
    /// # Panics
    /// For any other number: there are no such dwords, so that is a mistake of ours.
    pub const fn dword(&self, number: usize) -> u32 {
        self.cdw[number - 10]
    }

    /// The same entry with command dword `number` (10 to 15) set.
    ///
    /// # Panics
    /// For any other number: there are no such dwords, so that is a mistake of ours.
    pub const fn with_dword(mut self, number: usize, value: u32) -> Self {
        self.cdw[number - 10] = value;
        self
    }

    /// Decodes an entry; every content of 64 bytes is one.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 64 bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let wire: &SqeWire = wire::layout("a submission queue entry", bytes)?;
        Ok(Self {
            opcode: wire.opcode,
            flags: wire.flags,
            cid: wire.cid.get(),
            nsid: wire.nsid.get(),
            cdw2_3: wire.cdw2_3.map(U32::get),
            metadata: wire.metadata.get(),
            data: wire.data,
            cdw: wire.cdw.map(U32::get),
        })
    }

    /// Encodes the entry.
    pub fn encode(&self) -> [u8; SQE_LEN] {
        zerocopy::transmute!(SqeWire {
            opcode: self.opcode,
            flags: self.flags,
            cid: self.cid.into(),
            nsid: self.nsid.into(),
            cdw2_3: self.cdw2_3.map(U32::new),
            metadata: self.metadata.into(),
            data: self.data,
            cdw: self.cdw.map(U32::new),
        })
    }

    /// The data pointer as an SGL descriptor.
    pub fn sgl(&self) -> Sgl {
        Sgl::decode(self.data)
    }

    /// The same entry with an SGL descriptor as its data pointer.
    pub fn with_sgl(mut self, sgl: Sgl) -> Self {
        // PSDT 01b: SGL for data, no SGL for metadata. NVMe/TCP knows nothing else.
        self.flags = self.flags & 0x3f | 0x40;
        self.data = sgl.encode();
        self
    }
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct SqeWire {
    opcode: u8,
    flags: u8,
    cid: U16,
    nsid: U32,
    cdw2_3: [U32; 2],
    metadata: U64,
    data: [u8; 16],
    cdw: [U32; 6],
}
assert_layout!(SqeWire, 64, { cid: 2, nsid: 4, cdw2_3: 8, metadata: 16, data: 24, cdw: 40 });

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dwords_lie_where_the_specification_puts_them() {
        let bytes = Sqe::new(0x09, 1).with_dword(10, 0x10).with_dword(15, 7).encode();
        assert_eq!((bytes[0], bytes[4], bytes[40], bytes[60]), (0x09, 1, 0x10, 7));
        assert!(Sqe::decode(&bytes[..63]).is_err());
    }

    proptest! {
        #[test]
        fn any_entry_round_trips(bytes in any::<[u8; 32]>(), rest in any::<[u8; 32]>()) {
            let entry = [bytes, rest].concat();
            let sqe = Sqe::decode(&entry).expect("64 bytes");
            prop_assert_eq!(&sqe.encode()[..], &entry[..]);
        }
    }
}
