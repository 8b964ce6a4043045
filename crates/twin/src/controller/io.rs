//! I/O commands: what they check, what they do to the data, and what the drive has to do for them.
//!
//! NVM Command Set 1.1. The drive is told of reads and writes by their place and length, and of
//! deallocations; data never pass through it.

use std::io;

use measure::record::Op;
use nvme::Status;
use nvme::command::{DeallocateRange, IoCommand, NSID_ALL, RANGE_LEN, Sgl, Sqe, Transfer, opcode};
use nvme::feature::FeatureId;

use super::admin::features::data_to_set;
use super::command::{Failure, Success};
use super::subsystem::Flow;
use super::{Blocks, NSID, Payload, Subsystem};

/// Smallest memory page (CAP.MPSMIN 0), the unit of MDTS.
const PAGE_BYTES: u64 = 4096;

/// Data of a command that come from the host.
pub(super) enum Incoming<'a> {
    /// Inside its capsule.
    Here(&'a [u8]),
    /// To be fetched, so many bytes.
    Fetch(u32),
}

impl Subsystem {
    /// Carries out an I/O command as far as it goes without its data.
    pub(super) fn io(&mut self, sqe: &Sqe, capsule_data: &[u8]) -> Flow {
        let command = IoCommand::decode(sqe);
        let broadcast = matches!(command, IoCommand::Flush) && sqe.nsid == NSID_ALL;
        match command {
            IoCommand::Other(_) => {
                return Failure { location: 0, ..Failure::new(Status::INVALID_OPCODE) }.into();
            }
            _ if sqe.nsid != NSID && !broadcast => {
                return Failure::in_nsid(Status::INVALID_NAMESPACE).into();
            }
            _ => {}
        }
        // Fused operations are not offered (FUSES 0).
        if sqe.flags & 0b11 != 0 {
            return Failure { location: 1, ..Failure::new(Status::INVALID_FIELD) }.into();
        }
        let done = match command {
            IoCommand::Read(transfer) => self.read(sqe, transfer),
            IoCommand::Write(transfer) => self.write(sqe, transfer, capsule_data),
            IoCommand::Compare(transfer) => self.with_blocks(sqe, transfer, capsule_data),
            IoCommand::DatasetManagement { ranges, .. } => {
                self.with_data(sqe, usize::from(ranges) * RANGE_LEN, capsule_data)
            }
            IoCommand::WriteZeroes { range, .. } => self.write_zeroes(range),
            IoCommand::Verify(transfer) => {
                self.range(transfer).map(|at| Flow::Drive { op: Op::Read, at, payload: Payload::None })
            }
            // It waits for the commands before it. The file system under a file is not waited for:
            // what a server has written survives its end, if not the machine's.
            IoCommand::Flush => Ok(self.metadata_work(Op::Idle)),
            IoCommand::Other(_) => Err(Failure::new(Status::INVALID_OPCODE)),
        };
        done.unwrap_or_else(Flow::from)
    }

    /// Goes on with an I/O command whose data are here.
    pub(super) fn io_data(&mut self, sqe: &Sqe, data: &[u8]) -> Flow {
        let done = match IoCommand::decode(sqe) {
            IoCommand::Compare(transfer) => self.compare(transfer, data),
            IoCommand::DatasetManagement { ranges, deallocate } => {
                self.dataset_management(ranges.into(), deallocate, data)
            }
            _ => Err(Failure::new(Status::INTERNAL_ERROR)),
        };
        done.unwrap_or_else(Flow::from)
    }

    fn read(&self, sqe: &Sqe, transfer: Transfer) -> Result<Flow, Failure> {
        let at = self.transfer_range(transfer)?;
        outgoing(sqe, at.len_bytes as usize)?;
        Ok(Flow::Drive { op: Op::Read, at, payload: Payload::Blocks(at) })
    }

    fn write(&self, sqe: &Sqe, transfer: Transfer, capsule_data: &[u8]) -> Result<Flow, Failure> {
        let at = self.transfer_range(transfer)?;
        match self.incoming(sqe, at.len_bytes as usize, capsule_data)? {
            // Only what is written is asked for, however much there is.
            Incoming::Fetch(_) => Ok(Flow::Blocks(at)),
            Incoming::Here(data) => {
                let data = &data[..at.len_bytes as usize];
                self.backing.write_at(at.offset_bytes, data).map_err(|why| storage_failure(&why))?;
                Ok(Flow::Drive { op: Op::Write, at, payload: Payload::None })
            }
        }
    }

    fn with_blocks(&mut self, sqe: &Sqe, transfer: Transfer, capsule_data: &[u8]) -> Result<Flow, Failure> {
        let at = self.transfer_range(transfer)?;
        self.with_data(sqe, at.len_bytes as usize, capsule_data)
    }

    fn with_data(&mut self, sqe: &Sqe, needed: usize, capsule_data: &[u8]) -> Result<Flow, Failure> {
        match self.incoming(sqe, needed, capsule_data)? {
            Incoming::Fetch(len) => Ok(Flow::Data(len)),
            Incoming::Here(data) => Ok(self.io_data(sqe, data)),
        }
    }

    fn compare(&self, transfer: Transfer, data: &[u8]) -> Result<Flow, Failure> {
        let at = self.transfer_range(transfer)?;
        let given = data.get(..at.len_bytes as usize).ok_or(Status::SGL_DATA_LENGTH)?;
        let mut stored = vec![0; given.len()];
        self.backing.read_at(at.offset_bytes, &mut stored).map_err(|why| storage_failure(&why))?;
        if let Some(byte) = stored.iter().zip(given).position(|(stored, given)| stored != given) {
            let lba = transfer.start.as_u64() + byte as u64 / self.block_bytes();
            return Err(Failure { lba, ..Failure::new(Status::COMPARE_FAILURE) });
        }
        Ok(Flow::Drive { op: Op::Read, at, payload: Payload::None })
    }

    fn dataset_management(&mut self, count: usize, deallocate: bool, data: &[u8]) -> Result<Flow, Failure> {
        let ranges = DeallocateRange::decode_all(data, count).map_err(|_| Status::SGL_DATA_LENGTH)?;
        // All are looked at before one is touched: a command that fails has done nothing.
        let spans: Vec<(u64, u64)> = ranges
            .iter()
            .map(|range| self.span(range.start.as_u64(), range.blocks.into()))
            .collect::<Result<_, _>>()?;
        if !deallocate {
            // Hints about use are taken note of and change nothing.
            return Ok(Flow::Done(Ok(Success::NOTHING)));
        }
        for (offset, len) in spans {
            self.deallocate(offset, len)?;
        }
        Ok(self.metadata_work(Op::Trim))
    }

    fn write_zeroes(&mut self, range: Transfer) -> Result<Flow, Failure> {
        // Zeros are not stored: whether the host lets blocks go (DEAC) or not, they read as zeros.
        let (offset, len) = self.span(range.start.as_u64(), range.blocks.into())?;
        self.deallocate(offset, len)?;
        Ok(self.metadata_work(Op::Trim))
    }

    fn deallocate(&mut self, offset_bytes: u64, len_bytes: u64) -> Result<(), Failure> {
        self.backing.zero(offset_bytes, len_bytes).map_err(|why| storage_failure(&why))?;
        let scale = self.options.scale;
        self.drive.trim(scale.bytes(offset_bytes), scale.bytes(len_bytes));
        Ok(())
    }

    /// A command that moves no data takes its turn in the drive.
    pub(super) const fn metadata_work(&self, op: Op) -> Flow {
        Flow::Drive { op, at: Blocks { offset_bytes: 0, len_bytes: 0 }, payload: Payload::None }
    }

    /// The bytes of a transfer, within the namespace and within MDTS.
    fn transfer_range(&self, transfer: Transfer) -> Result<Blocks, Failure> {
        let at = self.range(transfer)?;
        if u64::from(at.len_bytes) > self.max_transfer_bytes() {
            return Err(Failure::in_dword(Status::INVALID_FIELD, 12));
        }
        Ok(at)
    }

    /// The bytes of a run of blocks, within the namespace.
    fn range(&self, transfer: Transfer) -> Result<Blocks, Failure> {
        let (offset_bytes, len) = self.span(transfer.start.as_u64(), transfer.blocks.into())?;
        // 65,536 blocks of 4 KiB are 256 MiB.
        let len_bytes = u32::try_from(len).map_err(|_| Status::INTERNAL_ERROR)?;
        Ok(Blocks { offset_bytes, len_bytes })
    }

    /// Offset and length in bytes of blocks, if the namespace has them.
    fn span(&self, start: u64, blocks: u64) -> Result<(u64, u64), Failure> {
        if start.checked_add(blocks).is_none_or(|end| end > self.blocks) {
            let lba = start;
            return Err(Failure { lba, ..Failure::in_dword(Status::LBA_OUT_OF_RANGE, 10) });
        }
        Ok((start * self.block_bytes(), blocks * self.block_bytes()))
    }

    fn block_bytes(&self) -> u64 {
        self.block_bytes.into()
    }

    /// Most data of one command (MDTS).
    pub(super) const fn max_transfer_bytes(&self) -> u64 {
        PAGE_BYTES << self.options.limits.max_transfer_shift
    }

    /// A command that succeeds and does nothing; data that it has are fetched all the same.
    pub(super) fn ignored(&self, is_admin: bool, sqe: &Sqe) -> Flow {
        let has_data = match is_admin {
            true => data_to_set(FeatureId(sqe.dword(10) as u8)).is_some(),
            false => sqe.opcode != opcode::WRITE_ZEROES,
        };
        match sqe.sgl() {
            Sgl::Transport { length } if has_data && length > 0 => {
                match u64::from(length) <= self.max_transfer_bytes() {
                    true => Flow::Discard(length),
                    false => Failure::in_data_pointer(Status::INVALID_FIELD).into(),
                }
            }
            _ => Flow::Done(Ok(Success::NOTHING)),
        }
    }

    /// Where data that come from the host are; at least `needed` bytes of them.
    pub(super) fn incoming<'a>(
        &self,
        sqe: &Sqe,
        needed: usize,
        capsule_data: &'a [u8],
    ) -> Result<Incoming<'a>, Failure> {
        check_sgl_use(sqe)?;
        match sqe.sgl() {
            Sgl::InCapsule { offset, length } => {
                let offset = usize::try_from(offset).map_err(|_| Status::SGL_OFFSET)?;
                let data = capsule_data.get(offset..).and_then(|data| data.get(..length as usize));
                let data = data.ok_or(Failure::in_data_pointer(Status::SGL_OFFSET))?;
                if data.len() < needed {
                    return Err(Failure::in_data_pointer(Status::SGL_DATA_LENGTH));
                }
                Ok(Incoming::Here(data))
            }
            Sgl::Transport { length } if (length as usize) < needed || length == 0 => {
                Err(Failure::in_data_pointer(Status::SGL_DATA_LENGTH))
            }
            Sgl::Transport { length } if u64::from(length) > self.max_transfer_bytes() => {
                Err(Failure::in_data_pointer(Status::INVALID_FIELD))
            }
            Sgl::Transport { length } => Ok(Incoming::Fetch(length)),
            Sgl::Other(_) => Err(Failure::in_data_pointer(Status::SGL_TYPE)),
        }
    }
}

/// Checks that `needed` bytes for the host have a place to go.
pub(super) fn outgoing(sqe: &Sqe, needed: usize) -> Result<(), Failure> {
    check_sgl_use(sqe)?;
    match sqe.sgl() {
        Sgl::Transport { length } if length as usize >= needed => Ok(()),
        Sgl::Transport { .. } => Err(Failure::in_data_pointer(Status::SGL_DATA_LENGTH)),
        // Inside the capsule there is no way back.
        Sgl::InCapsule { .. } => Err(Failure::in_data_pointer(Status::INVALID_FIELD)),
        Sgl::Other(_) => Err(Failure::in_data_pointer(Status::SGL_TYPE)),
    }
}

/// The same for a command that may have no data.
pub(super) fn outgoing_if_any(sqe: &Sqe, needed: usize) -> Result<(), Failure> {
    if needed == 0 { Ok(()) } else { outgoing(sqe, needed) }
}

/// PSDT must say "SGL" (01b): networks know no physical pages.
fn check_sgl_use(sqe: &Sqe) -> Result<(), Failure> {
    match sqe.flags >> 6 {
        0b01 => Ok(()),
        _ => Err(Failure { location: 1, ..Failure::new(Status::INVALID_FIELD) }),
    }
}

/// What a host is told when the store fails.
pub(super) fn storage_failure(why: &io::Error) -> Failure {
    match why.kind() {
        io::ErrorKind::StorageFull => Failure::new(Status::CAPACITY_EXCEEDED),
        _ => Failure::new(Status::INTERNAL_ERROR),
    }
}
