//! How a trim is asked of the kernel: a hole punched into a file, or a discard of a block device.
//!
//! A punched hole on a block device is no discard: the kernel sends Write Zeroes there, which many drives do not take
//! (Linux `block/fops.c`, `blkdev_fallocate`). The discard through io_uring came with Linux 6.12
//! (`include/uapi/linux/blkdev.h`, `BLOCK_URING_CMD_DISCARD`); before that there is only a call that returns when the
//! discard is done, so that one is in flight at a time, and the record says so.

#![expect(
    unsafe_code,
    reason = "entries and a discard are handed to the kernel; they have no memory of ours in them"
)]

use std::fs::File;
use std::os::unix::fs::FileTypeExt as _;

use io_uring::types::Fixed;
use io_uring::{IoUring, opcode, squeue};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Setter};

/// `_IO(0x12, 0)`, a number space of its own. `addr` is the start and `addr3` the length, in bytes
/// (Linux `block/ioctl.c`, `blkdev_uring_cmd`).
const BLOCK_URING_CMD_DISCARD: u32 = 0x1200;

/// `BLKDISCARD`, `_IO(0x12, 119)`: an array of start and length, in bytes (Linux `include/uapi/linux/fs.h`).
const BLKDISCARD: Opcode = 0x1277;

/// What is told where trims do not go through io_uring.
pub(super) const NOTE: &str = "this kernel cannot discard through io_uring (that needs Linux 6.12): each thread had one \
    trim in flight at a time, whatever its depth";

/// How a trim is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrimBy {
    /// A hole punched into a file.
    Hole,
    /// A discard of a device.
    Discard,
    /// A discard of a device by a call of its own, which returns when it is done.
    Call,
}

impl TrimBy {
    /// The entry for `len` bytes from `offset` of the registered `file`.
    pub(super) fn entry(self, file: Fixed, offset: u64, len: u32) -> squeue::Entry {
        match self {
            Self::Hole | Self::Call => {
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

    /// What `file`, registered with `ring` as `fixed`, takes.
    ///
    /// A device is asked for a discard of no bytes: the kernel calls that invalid where it knows the command, and
    /// unsupported where it does not. Nothing may be in flight.
    pub(super) fn probe(ring: &mut IoUring, file: &File, fixed: Fixed) -> std::io::Result<Self> {
        if !file.metadata()?.file_type().is_block_device() {
            return Ok(Self::Hole);
        }
        let entry = Self::Discard.entry(fixed, 0, 0);
        // SAFETY: the entry has no memory behind it.
        unsafe { ring.submission().push(&entry) }.map_err(std::io::Error::other)?;
        ring.submit_and_wait(1)?;
        let answer = ring.completion().next().map(|completion| completion.result());
        match answer {
            Some(result) if result == -Errno::INVAL.raw_os_error() => Ok(Self::Discard),
            _ => Ok(Self::Call),
        }
    }
}

/// Discards `len` bytes from `offset` of the device `file`, and returns when that is done; the error number if not.
pub(super) fn call(file: &File, offset: u64, len: u32) -> Result<u32, i32> {
    let range = [offset, u64::from(len)];
    // SAFETY: BLKDISCARD reads an array of two u64, which `Setter` points to for the length of the call.
    let done = unsafe { rustix::ioctl::ioctl(file, Setter::<BLKDISCARD, [u64; 2]>::new(range)) };
    done.map(|()| len).map_err(Errno::raw_os_error)
}

/// Discards bytes of the device `file`, and returns when that is done.
///
/// # Errors
/// What the system said.
pub(crate) fn discard_range(file: &File, start_bytes: u64, len_bytes: u64) -> std::io::Result<()> {
    // SAFETY: as in `call`.
    unsafe { rustix::ioctl::ioctl(file, Setter::<BLKDISCARD, [u64; 2]>::new([start_bytes, len_bytes])) }
        .map_err(Into::into)
}
