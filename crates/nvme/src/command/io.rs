//! I/O commands of the NVM command set by their meaning, in both directions.
//!
//! Layouts: NVM Command Set Specification 1.1. Metadata and protection fields are not covered:
//! neither our host nor our twin uses them, and a controller sees them in [`Sqe`].

use measure::Lba;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{Sqe, opcode};
use crate::DecodeError;
use crate::wire::{self, assert_layout};

/// An I/O command, without its namespace (that is in [`Sqe::nsid`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoCommand {
    /// Flush (00h): what was written is made durable.
    Flush,
    /// Write (01h).
    Write(Transfer),
    /// Read (02h).
    Read(Transfer),
    /// Compare (05h).
    Compare(Transfer),
    /// Write Zeroes (08h); with `deallocate`, the blocks may be given up.
    WriteZeroes {
        /// The blocks.
        range: Transfer,
        /// Whether deallocating them is welcome (DEAC).
        deallocate: bool,
    },
    /// Dataset Management (09h) over the ranges in its data.
    DatasetManagement {
        /// Ranges in the data, 1 to [`MAX_RANGES`].
        ranges: u16,
        /// Whether the ranges shall be deallocated (AD).
        deallocate: bool,
    },
    /// Verify (0Ch): read without moving data.
    Verify(Transfer),
    /// Any other opcode, as it came.
    Other(Sqe),
}

/// A run of logical blocks, as reads and writes name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The first block.
    pub start: Lba,
    /// How many, 1 to 65,536 (zero-based on the wire).
    pub blocks: u32,
    /// Force unit access: durable (write) or from the media (read) before it completes.
    pub fua: bool,
}

/// Most ranges of one Dataset Management command (8-bit zero-based field).
pub const MAX_RANGES: usize = 256;
/// Most blocks of one range (32-bit field): 2 TiB minus one block at 512 bytes.
pub const RANGE_BLOCKS_MAX: u32 = u32::MAX;
/// Bytes of one range.
pub const RANGE_LEN: usize = 16;

/// One range of Dataset Management.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeallocateRange {
    /// The first block.
    pub start: Lba,
    /// How many blocks.
    pub blocks: u32,
    /// Context attributes: hints about access; we send 0.
    pub attributes: u32,
}

const FUA: u32 = 1 << 30;
const DEALLOCATE_ZEROED: u32 = 1 << 25;
const DEALLOCATE_RANGES: u32 = 1 << 2;

impl IoCommand {
    /// Reads the meaning of an entry that came on an I/O queue. Reserved bits are ignored.
    pub fn decode(sqe: &Sqe) -> Self {
        match sqe.opcode {
            opcode::FLUSH => Self::Flush,
            opcode::WRITE => Self::Write(Transfer::decode(sqe)),
            opcode::READ => Self::Read(Transfer::decode(sqe)),
            opcode::COMPARE => Self::Compare(Transfer::decode(sqe)),
            opcode::WRITE_ZEROES => Self::WriteZeroes {
                range: Transfer::decode(sqe),
                deallocate: sqe.dword(12) & DEALLOCATE_ZEROED != 0,
            },
            opcode::DATASET_MANAGEMENT => Self::DatasetManagement {
                ranges: (sqe.dword(10) & 0xff) as u16 + 1,
                deallocate: sqe.dword(11) & DEALLOCATE_RANGES != 0,
            },
            opcode::VERIFY => Self::Verify(Transfer::decode(sqe)),
            _ => Self::Other(*sqe),
        }
    }

    /// The entry to send; command identifier and data pointer are the transport's to fill in.
    pub fn encode(&self, nsid: u32) -> Sqe {
        match self {
            Self::Flush => Sqe::new(opcode::FLUSH, nsid),
            Self::Write(transfer) => transfer.encode(opcode::WRITE, nsid),
            Self::Read(transfer) => transfer.encode(opcode::READ, nsid),
            Self::Compare(transfer) => transfer.encode(opcode::COMPARE, nsid),
            Self::WriteZeroes { range, deallocate } => {
                let sqe = range.encode(opcode::WRITE_ZEROES, nsid);
                let flag = if *deallocate { DEALLOCATE_ZEROED } else { 0 };
                sqe.with_dword(12, sqe.dword(12) | flag)
            }
            Self::DatasetManagement { ranges, deallocate } => Sqe::new(opcode::DATASET_MANAGEMENT, nsid)
                .with_dword(10, u32::from(ranges.saturating_sub(1)) & 0xff)
                .with_dword(11, if *deallocate { DEALLOCATE_RANGES } else { 0 }),
            Self::Verify(transfer) => transfer.encode(opcode::VERIFY, nsid),
            Self::Other(sqe) => *sqe,
        }
    }
}

impl Transfer {
    fn decode(sqe: &Sqe) -> Self {
        Self {
            start: Lba::new(u64::from(sqe.dword(10)) | u64::from(sqe.dword(11)) << 32),
            blocks: (sqe.dword(12) & 0xffff) + 1,
            fua: sqe.dword(12) & FUA != 0,
        }
    }

    fn encode(&self, opcode: u8, nsid: u32) -> Sqe {
        let start = self.start.as_u64();
        let blocks_z = self.blocks.saturating_sub(1) & 0xffff;
        Sqe::new(opcode, nsid)
            .with_dword(10, start as u32)
            .with_dword(11, (start >> 32) as u32)
            .with_dword(12, blocks_z | if self.fua { FUA } else { 0 })
    }
}

impl DeallocateRange {
    /// Encodes ranges as the data of one command.
    pub fn encode_all(ranges: &[Self]) -> Vec<u8> {
        let encode = |range: &Self| -> [u8; RANGE_LEN] {
            zerocopy::transmute!(RangeWire {
                attributes: range.attributes.into(),
                blocks: range.blocks.into(),
                start: range.start.as_u64().into(),
            })
        };
        ranges.iter().flat_map(encode).collect()
    }

    /// Decodes the first `count` ranges of the data of a command.
    ///
    /// # Errors
    /// [`DecodeError::Short`] when the data holds fewer.
    pub fn decode_all(data: &[u8], count: usize) -> Result<Vec<Self>, DecodeError> {
        const WHAT: &str = "the ranges of Dataset Management";
        let needed = count.saturating_mul(RANGE_LEN);
        let short = DecodeError::Short { what: WHAT, needed, got: data.len() };
        let data = data.get(..needed).ok_or(short)?;
        data.chunks_exact(RANGE_LEN)
            .map(|chunk| {
                let wire: &RangeWire = wire::layout(WHAT, chunk)?;
                Ok(Self {
                    start: Lba::new(wire.start.get()),
                    blocks: wire.blocks.get(),
                    attributes: wire.attributes.get(),
                })
            })
            .collect()
    }
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct RangeWire {
    attributes: U32,
    blocks: U32,
    start: U64,
}
assert_layout!(RangeWire, 16, { blocks: 4, start: 8 });

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    /// Goal: zero-based counts are converted exactly once.
    #[test]
    fn one_block_is_zero_on_the_wire() {
        let read = IoCommand::Read(Transfer { start: Lba::new(1 << 32 | 8), blocks: 1, fua: true });
        let sqe = read.encode(1);
        assert_eq!((sqe.dword(10), sqe.dword(11), sqe.dword(12)), (8, 1, 0x4000_0000));
        let trim = IoCommand::DatasetManagement { ranges: 1, deallocate: true }.encode(1);
        assert_eq!((trim.dword(10), trim.dword(11)), (0, 4));
        let most = IoCommand::DatasetManagement { ranges: 256, deallocate: true };
        assert_eq!(IoCommand::decode(&most.encode(1)), most);
    }

    #[test]
    fn missing_ranges_are_an_error() {
        let error = DeallocateRange::decode_all(&[0; 31], 2).expect_err("one byte is missing");
        assert_eq!(
            error.to_string(),
            "the ranges of Dataset Management: cut short, 32 bytes are needed and 31 were given"
        );
    }

    proptest! {
        #[test]
        fn commands_round_trip(opcode in 0_u8..0x10, cdw in any::<[u32; 6]>()) {
            let sqe = Sqe { cdw, ..Sqe::new(opcode, 1) };
            let command = IoCommand::decode(&sqe);
            prop_assert_eq!(IoCommand::decode(&command.encode(1)), command);
        }

        #[test]
        fn ranges_round_trip(raw in prop::collection::vec(any::<(u64, u32, u32)>(), 0..20)) {
            let ranges: Vec<_> = raw
                .into_iter()
                .map(|(start, blocks, attributes)| DeallocateRange { start: Lba::new(start), blocks, attributes })
                .collect();
            let data = DeallocateRange::encode_all(&ranges);
            prop_assert_eq!(DeallocateRange::decode_all(&data, ranges.len()), Ok(ranges));
        }
    }
}
