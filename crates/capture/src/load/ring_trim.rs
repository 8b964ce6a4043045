//! How a trim is asked of the kernel: a hole punched into a file, or a discard of a block device.
//!
//! A punched hole on a block device is no discard: the kernel sends Write Zeroes there, which a drive may carry out
//! by deallocating (NVMe Deallocate bit) or by writing, and refuses where the drive has no such command
//! (Linux `block/fops.c`, `blkdev_fallocate`). The discard through io_uring came with Linux 6.12
//! (`include/uapi/linux/blkdev.h`, `BLOCK_URING_CMD_DISCARD`); before that, punching is the only way that does not
//! block a thread for each trim, and the record says so.

// Handing an entry to the kernel is unsafe for any entry; these have no memory behind them.
#![expect(unsafe_code, reason = "an entry is handed to the kernel")]

use std::fs::File;
use std::os::unix::fs::FileTypeExt as _;

use io_uring::types::Fixed;
use io_uring::{IoUring, opcode, squeue};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;

/// `_IO(0x12, 0)`, a number space of its own. `addr` is the start and `addr3` the length, in bytes
/// (Linux `block/ioctl.c`, `blkdev_uring_cmd`).
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;

/// What is told where a device is trimmed by writing zeroes.
pub(super) const NOTE: &str = "this kernel cannot discard through io_uring (that needs Linux 6.12): trims were sent as \
    Write Zeroes, which the drive may carry out in another way and at another speed";

/// How a trim is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrimBy {
    /// A hole punched into a file, or zeroes written to a device.
    Hole,
    /// A discard of a device.
    Discard,
}

impl TrimBy {
    /// The entry for `len` bytes from `offset` of the registered `file`.
    pub(super) fn entry(self, file: Fixed, offset: u64, len: u32) -> squeue::Entry {
        match self {
            Self::Hole => {
                let mode = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
                opcode::Fallocate::new(file, u64::from(len)).offset(offset).mode(mode.bits() as i32).build()
            }
            Self::Discard => {
                let mut rest = [0; 16];
                rest[..8].copy_from_slice(&u64::from(len).to_ne_bytes());
                opcode::UringCmd16::new(file, BLOCK_URING_CMD_DISCARD).addr(Some(offset)).cmd(rest).build()
            }
        }
    }

    /// What `file`, registered with `ring` as `fixed`, takes; and whether it is a device that takes no discard.
    ///
    /// A device is asked for a discard of no bytes: the kernel calls that invalid where it knows the command, and
    /// unsupported where it does not. Nothing may be in flight.
    pub(super) fn of(ring: &mut IoUring, file: &File, fixed: Fixed) -> std::io::Result<(Self, bool)> {
        if !file.metadata()?.file_type().is_block_device() {
            return Ok((Self::Hole, false));
        }
        let entry = Self::Discard.entry(fixed, 0, 0);
        // SAFETY: the entry has no memory behind it.
        unsafe { ring.submission().push(&entry) }.map_err(std::io::Error::other)?;
        ring.submit_and_wait(1)?;
        let answer = ring.completion().next().map(|completion| completion.result());
        match answer {
            Some(result) if result == -Errno::INVAL.raw_os_error() => Ok((Self::Discard, false)),
            _ => Ok((Self::Hole, true)),
        }
    }
}
