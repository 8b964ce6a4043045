//! A unit as the check uses it: patterns written and read in pieces that its transport takes, and UNMAP.

use std::sync::Mutex;
use std::time::Duration;

use thiserror::Error;

use super::super::BlockRange;
use super::super::pattern::{PATTERN_BYTES, fill_block};
use super::cases::UnmapLimits;
use crate::scsi::{
    BlockLimits, Capacity, ScsiData, ScsiDone, ScsiTransport, SgError, UnmapDescriptor, command,
};

/// Longer than the kernel's own limit of 30 s, so that it is the device that gives up, or nobody.
const TIMEOUT: Duration = Duration::from_secs(35);
/// What one read or write moves at most: any bridge takes it (usb-storage's default is 120 KiB).
const PIECE_BYTES: usize = 64 << 10;
/// A device with larger blocks than that is none for this check.
const BLOCK_BYTES_MAX: u32 = 4096;
/// How many commands are in flight at once (UAS bridges take 30 to 32).
pub(super) const IN_FLIGHT: usize = 32;

/// Why a command has not done what was asked.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum UnitError {
    /// The drive said no.
    #[error("{0}")]
    Refused(String),
    /// No answer came.
    #[error("{0}")]
    TimedOut(String),
    /// The user wants no more.
    #[error("stopped")]
    Stopped,
    /// It got lost, or the drive is broken or gone.
    #[error("{0}")]
    Failed(String),
}

impl From<SgError> for UnitError {
    fn from(error: SgError) -> Self {
        let text = error.to_string();
        match error {
            error if error.is_timeout() => Self::TimedOut(text),
            error if error.is_refusal() => Self::Refused(text),
            _ => Self::Failed(text),
        }
    }
}

/// A unit whose data was given away.
pub struct ProofUnit<'u> {
    transport: &'u mut dyn ScsiTransport,
    block_bytes: usize,
    blocks: u64,
    limits: UnmapLimits,
    stopped: Option<&'u dyn Fn() -> bool>,
}

impl<'u> ProofUnit<'u> {
    /// The unit behind `transport`, of this size and with these limits.
    ///
    /// # Errors
    /// When it is none that can be checked: no size, or blocks that no pattern fits into.
    pub fn new(
        transport: &'u mut dyn ScsiTransport,
        capacity: &Capacity,
        limits: Option<&BlockLimits>,
    ) -> Result<Self, UnitError> {
        let block_bytes = capacity.block_bytes;
        if !(512..=BLOCK_BYTES_MAX).contains(&block_bytes) || !block_bytes.is_power_of_two() {
            return Err(UnitError::Failed(format!(
                "the drive says that its blocks have {block_bytes} B; 512 to {BLOCK_BYTES_MAX} B can be checked"
            )));
        }
        if capacity.bytes().is_none() {
            return Err(UnitError::Failed("the drive says a size that no drive has".to_owned()));
        }
        let blocks = capacity.last_block + 1;
        let limits = UnmapLimits::new(limits);
        Ok(Self { transport, block_bytes: block_bytes as usize, blocks, limits, stopped: None })
    }

    /// Ends with [`UnitError::Stopped`] when `stopped` says so, between two commands.
    #[must_use]
    pub fn stopping(mut self, stopped: &'u dyn Fn() -> bool) -> Self {
        self.stopped = Some(stopped);
        self
    }

    fn go_on(&self) -> Result<(), UnitError> {
        if self.stopped.is_some_and(|stopped| stopped()) { Err(UnitError::Stopped) } else { Ok(()) }
    }

    /// Its size.
    pub const fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Logical block size.
    pub const fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// What it takes in one UNMAP.
    pub const fn unmap_limits(&self) -> UnmapLimits {
        self.limits
    }

    /// Patterns in one block.
    pub(super) const fn sectors_a_block(&self) -> u64 {
        (self.block_bytes / PATTERN_BYTES) as u64
    }

    /// Blocks that one command moves.
    pub(super) const fn piece_blocks(&self) -> u64 {
        (PIECE_BYTES / self.block_bytes) as u64
    }

    /// Writes the patterns of `range`.
    pub(super) fn write_pattern(
        &mut self,
        range: BlockRange,
        seed: u64,
        generation: u32,
    ) -> Result<(), UnitError> {
        for piece in pieces(range, self.piece_blocks()) {
            self.go_on()?;
            write(self.transport, piece, self.block_bytes, seed, generation)?;
        }
        Ok(())
    }

    /// Reads `range`, which is at most a piece.
    pub(super) fn read(&mut self, range: BlockRange, buffer: &mut [u8]) -> Result<(), UnitError> {
        self.go_on()?;
        let cdb = command::read_16(range.first, range.blocks as u32);
        let want = buffer.len();
        let done = self.transport.execute("READ (16)", &cdb, ScsiData::In(buffer), TIMEOUT)?;
        if done.bytes == want {
            return Ok(());
        }
        Err(UnitError::Failed(format!("READ (16) at block {} gave {} B of {want}", range.first, done.bytes)))
    }

    /// Has what was written reach the medium. A drive without the command has no cache to flush.
    pub(super) fn flush(&mut self) -> Result<(), UnitError> {
        let cdb = command::synchronize_cache_10();
        match self.transport.execute("SYNCHRONIZE CACHE", &cdb, ScsiData::None, TIMEOUT).map_err(Into::into) {
            Ok(_) | Err(UnitError::Refused(_)) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Unmaps, in one command; how long that took.
    pub(super) fn unmap(&mut self, ranges: &[UnmapDescriptor]) -> Result<Duration, UnitError> {
        unmap(self.transport, ranges)
    }

    /// Discards by the kernel.
    pub(super) fn discard(&mut self, range: BlockRange) -> Option<std::io::Result<()>> {
        let bytes = self.block_bytes as u64;
        self.transport.discard(range.first * bytes, range.blocks * bytes)
    }

    /// Unmaps and writes in turns, as many at once as the transport allows.
    pub(super) fn in_flight(
        &mut self,
        unmaps: &[BlockRange],
        writes: &[BlockRange],
        seed: u64,
        generation: u32,
    ) -> Vec<Result<Duration, UnitError>> {
        let block_bytes = self.block_bytes;
        let work: Vec<(BlockRange, bool)> =
            unmaps.iter().zip(writes).flat_map(|(unmap, write)| [(*unmap, true), (*write, false)]).collect();
        let one = |transport: &mut dyn ScsiTransport, (range, is_unmap): (BlockRange, bool)| {
            if is_unmap {
                unmap(transport, &[UnmapDescriptor { first: range.first, blocks: range.blocks as u32 }])
            } else {
                write(transport, range, block_bytes, seed, generation).map(|done| done.took)
            }
        };
        let others: Vec<_> = (0..IN_FLIGHT).map_while(|_| self.transport.beside()).collect();
        if others.len() < IN_FLIGHT {
            return work.into_iter().map(|step| one(self.transport, step)).collect();
        }
        let (queue, answers) = (Mutex::new(work), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for mut transport in others {
                let (queue, answers) = (&queue, &answers);
                scope.spawn(move || {
                    while let Some(step) = queue.lock().ok().and_then(|mut queue| queue.pop()) {
                        let answer = one(&mut *transport, step);
                        if let Ok(mut answers) = answers.lock() {
                            answers.push(answer);
                        }
                    }
                });
            }
        });
        answers.into_inner().unwrap_or_default()
    }
}

/// `range` in pieces of at most `most` blocks.
pub(super) fn pieces(range: BlockRange, most: u64) -> impl Iterator<Item = BlockRange> {
    let mut at = range.first;
    std::iter::from_fn(move || {
        let blocks = most.min(range.end() - at);
        let piece = BlockRange { first: at, blocks };
        at += blocks;
        (blocks > 0).then_some(piece)
    })
}

fn unmap(transport: &mut dyn ScsiTransport, ranges: &[UnmapDescriptor]) -> Result<Duration, UnitError> {
    let list = command::unmap_list(ranges);
    let cdb = command::unmap(list.len() as u16);
    Ok(transport.execute("UNMAP", &cdb, ScsiData::Out(&list), TIMEOUT)?.took)
}

/// Writes the patterns of `piece` in one command.
fn write(
    transport: &mut dyn ScsiTransport,
    piece: BlockRange,
    block_bytes: usize,
    seed: u64,
    generation: u32,
) -> Result<ScsiDone, UnitError> {
    let mut data = vec![0; piece.blocks as usize * block_bytes];
    let first = piece.first * (block_bytes / PATTERN_BYTES) as u64;
    for (sector, block) in (first..).zip(data.as_chunks_mut::<PATTERN_BYTES>().0) {
        fill_block(block, seed, sector, generation);
    }
    let cdb = command::write_16(piece.first, piece.blocks as u32);
    let done = transport.execute("WRITE (16)", &cdb, ScsiData::Out(&data), TIMEOUT)?;
    if done.bytes == data.len() {
        return Ok(done);
    }
    Err(UnitError::Failed(format!(
        "WRITE (16) at block {} took {} B of {}",
        piece.first,
        done.bytes,
        data.len()
    )))
}
