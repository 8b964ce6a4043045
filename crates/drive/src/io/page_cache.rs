//! The page cache of a simulated host, in front of a simulated drive: what buffered I/O meets before the drive.
//!
//! As Linux does it by default (mm/page-writeback.c, Documentation/admin-guide/sysctl/vm.rst):
//! - a write is copied and is done; its pages are dirty until the drive has them;
//! - above a tenth of the memory, or when they have been dirty for 30 s, they are written back in the order in which they
//!   became dirty;
//! - up to half-way between a tenth and a fifth of the memory nobody waits; there writers wait for what the drive takes,
//!   one after the other;
//! - a read is made of read-aheads, one after the other, each behind whatever the drive has in its queue.
//!
//! Not modelled: reads that find their data in memory, the order of an elevator, throttled write-back (wbt), and the
//! kernel's estimate of bandwidth, which lets writers wait gradually. Direct I/O passes as if nothing were here.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use measure::Instant;
use measure::record::Op;
use plan::TelemetryPlan;

use super::path::{Io, IoCompletion};
use super::simulated::VirtualDrive;
use crate::telemetry::Reading;

/// vm.dirty_background_ratio, by default 10 %.
const BACKGROUND_SHARE: f64 = 0.10;
/// Half-way between it and vm.dirty_ratio, by default 20 % (`dirty_freerun_ceiling`).
const FREE_SHARE: f64 = 0.15;
/// vm.dirty_expire_centisecs, by default 3000.
const EXPIRE: Duration = Duration::from_secs(30);
/// Writes under way while pages are written back. Chosen: a queue that keeps any drive busy.
const WRITE_BACK_DEPTH: usize = 64;

/// Tokens of our own I/Os, beyond those of any worker ([`Io::token`]).
const WRITE_BACK: u64 = 1 << 63;
const READ_AHEAD: u64 = 1 << 62;

/// What a host has between a program and a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedHost {
    /// Memory that can hold pages of files, in bytes.
    pub bytes: u64,
    /// How fast it copies between a program and the page cache, in bytes per second.
    pub copy_bytes_per_s: f64,
    /// The largest I/O that it sends to the drive, in bytes.
    pub io_bytes: u32,
    /// How much it reads ahead at a time, in bytes.
    pub read_ahead_bytes: u32,
}

/// A simulated drive behind the page cache of a simulated host.
pub struct PageCache {
    drive: Box<dyn VirtualDrive>,
    host: SimulatedHost,
    now: Instant,
    /// Buffered I/Os that are not done, by their tokens.
    open: BTreeMap<u64, BufferedIo>,
    /// Direct I/Os that are with the drive.
    passed: usize,
    /// Pieces being copied: when that is over, in which order they began, whose they are.
    copying: BTreeMap<(Instant, u64), u64>,
    copied: u64,
    /// When the processor is free for the next piece.
    copy_free: Instant,
    /// Writers that wait for room, in the order of their turns.
    waiting: VecDeque<u64>,
    /// Pages to be written back.
    dirty: VecDeque<DirtyPages>,
    /// All that the drive has not taken, what is being written back included.
    dirty_bytes: u64,
    writing_back: usize,
    /// Completions of one call to the drive, kept for its memory.
    completed: Vec<IoCompletion>,
}

/// A buffered I/O with how far it has come.
#[derive(Clone, Copy, Debug)]
struct BufferedIo {
    io: Io,
    /// Bytes that are done.
    done: u32,
    /// Bytes of the piece under way.
    piece: u32,
}

#[derive(Clone, Copy, Debug)]
struct DirtyPages {
    offset: u64,
    len: u32,
    since: Instant,
}

impl PageCache {
    /// The page cache of `host`, empty, in front of `drive`.
    pub fn new(drive: Box<dyn VirtualDrive>, host: SimulatedHost) -> Self {
        Self {
            drive,
            host,
            now: Instant::ZERO,
            open: BTreeMap::new(),
            passed: 0,
            copying: BTreeMap::new(),
            copied: 0,
            copy_free: Instant::ZERO,
            waiting: VecDeque::new(),
            dirty: VecDeque::new(),
            dirty_bytes: 0,
            writing_back: 0,
            completed: Vec::new(),
        }
    }

    fn share(&self, share: f64) -> u64 {
        (self.host.bytes as f64 * share) as u64
    }

    /// Starts the next piece of a buffered I/O.
    fn begin_piece(&mut self, token: u64) {
        let free = self.share(FREE_SHARE);
        let Some(open) = self.open.get_mut(&token) else { return };
        let io = open.io;
        let most = if io.op == Op::Read { self.host.read_ahead_bytes } else { self.host.io_bytes };
        open.piece = (io.len - open.done).min(most.max(1));
        let (offset, len) = (io.offset + u64::from(open.done), open.piece);
        if io.op == Op::Read {
            self.drive
                .submit(self.now, Io { token: READ_AHEAD | token, op: Op::Read, offset, len, direct: true });
        } else if has_room(self.dirty_bytes, len, free) {
            self.dirty_bytes += u64::from(len);
            self.copy(token, len);
        } else {
            self.waiting.push_back(token);
        }
    }

    fn copy(&mut self, token: u64, len: u32) {
        let span = Duration::from_secs_f64(f64::from(len) / self.host.copy_bytes_per_s);
        self.copy_free = self.copy_free.max(self.now) + span;
        self.copied += 1;
        self.copying.insert((self.copy_free, self.copied), token);
    }

    /// The piece of a buffered I/O is done.
    fn end_piece(&mut self, token: u64, done: &mut Vec<IoCompletion>) {
        let Some(open) = self.open.get_mut(&token) else { return };
        let offset = open.io.offset + u64::from(open.done);
        let (op, len) = (open.io.op, open.piece);
        open.done += len;
        let whole = (open.done >= open.io.len).then_some(open.io.len);
        if op == Op::Write {
            self.dirty.push_back(DirtyPages { offset, len, since: self.now });
        }
        match whole {
            Some(len) => {
                self.open.remove(&token);
                done.push(IoCompletion { token, t: self.now, result: Ok(len) });
            }
            None => self.begin_piece(token),
        }
        self.write_back();
    }

    /// When the oldest pages have been dirty for long enough; `None` while write-back goes on anyway.
    fn expires(&self) -> Option<Instant> {
        let oldest = self.dirty.front()?;
        (self.writing_back < WRITE_BACK_DEPTH).then_some(oldest.since + EXPIRE)
    }

    /// Keeps the drive busy while there is too much to be written back, or something has waited for too long.
    fn write_back(&mut self) {
        let background = self.share(BACKGROUND_SHARE);
        while self.writing_back < WRITE_BACK_DEPTH
            && let Some(pages) = self.dirty.front().copied()
            && (self.dirty_bytes > background || pages.since + EXPIRE <= self.now)
        {
            self.dirty.pop_front();
            self.writing_back += 1;
            let (offset, len) = (pages.offset, pages.len);
            self.drive.submit(self.now, Io { token: WRITE_BACK, op: Op::Write, offset, len, direct: true });
        }
    }

    /// What the drive has done; it may be more than what a program waits for.
    fn take(&mut self, completion: IoCompletion, done: &mut Vec<IoCompletion>) {
        if completion.token & WRITE_BACK != 0 {
            let free = self.share(FREE_SHARE);
            self.writing_back -= 1;
            self.dirty_bytes -= u64::from(completion.result.unwrap_or(0)).min(self.dirty_bytes);
            // Whoever has had a turn goes to the end: all wait alike.
            while let Some(token) = self.waiting.pop_front_if(|token| {
                self.open.get(token).is_none_or(|open| has_room(self.dirty_bytes, open.piece, free))
            }) {
                self.begin_piece(token);
            }
            self.write_back();
        } else if completion.token & READ_AHEAD != 0 {
            let token = completion.token & !READ_AHEAD;
            match completion.result {
                Ok(len) => self.copy(token, len),
                Err(_) => {
                    self.open.remove(&token);
                    done.push(IoCompletion { token, ..completion });
                }
            }
        } else {
            self.passed -= 1;
            done.push(completion);
        }
    }

    /// The next moment at which something happens here and not in the drive.
    fn own_next(&self) -> Instant {
        let copied = self.copying.first_key_value().map(|((t, _), _)| *t);
        copied.into_iter().chain(self.expires()).min().unwrap_or(Instant::NEVER)
    }
}

/// Whether a writer may go on with a piece of `len`. On a host whose memory is less than that, once nothing is dirty.
fn has_room(dirty_bytes: u64, len: u32, free: u64) -> bool {
    dirty_bytes == 0 || dirty_bytes + u64::from(len) <= free
}

impl VirtualDrive for PageCache {
    fn submit(&mut self, now: Instant, io: Io) {
        self.now = self.now.max(now);
        if io.direct || !matches!(io.op, Op::Read | Op::Write) {
            self.passed += 1;
            return self.drive.submit(now, io);
        }
        self.open.insert(io.token, BufferedIo { io, done: 0, piece: 0 });
        self.begin_piece(io.token);
    }

    fn next_completion(&mut self) -> Option<Instant> {
        if self.open.is_empty() && self.passed == 0 {
            return None;
        }
        let own = Some(self.own_next()).filter(|t| *t < Instant::NEVER);
        [own, self.drive.next_completion()].into_iter().flatten().min()
    }

    fn advance(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Instant {
        let before = done.len();
        while done.len() == before {
            let own = self.own_next().max(self.now);
            let mut completed = std::mem::take(&mut self.completed);
            self.now = self.drive.advance(own.min(until), &mut completed).max(self.now);
            let idle = completed.is_empty();
            completed.drain(..).for_each(|completion| self.take(completion, done));
            self.completed = completed;
            while let Some(entry) = self.copying.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let token = entry.remove();
                self.end_piece(token, done);
            }
            self.write_back();
            if idle && self.now >= until {
                break;
            }
        }
        self.now
    }

    fn sources(&self, plan: &TelemetryPlan) -> Vec<(&'static str, Duration)> {
        self.drive.sources(plan)
    }

    fn sample(&mut self, source: usize, now: Instant) -> Reading {
        self.drive.sample(source, now)
    }
}

#[cfg(test)]
mod test;
