//! One thread's share of one load, as a state machine: what to make next, and what came of it.
//!
//! A worker reads no clock and waits for nothing; [`super::drive`] does both. Nothing is allocated per I/O, except
//! for a growing list where single I/Os are recorded.
//!
//! An I/O belongs to the interval in which it completed. A transfer shorter than asked counts as an error (`EIO`):
//! on a file it means that the end was reached or that the file system is full, and continuing it would turn one
//! I/O into two that nobody asked for.
//!
//! An access that a load splits is several I/Os one after the other in one slot. Intervals count I/Os, rows of single
//! accesses the whole. One that has begun is finished when the time is over, so that the longest are not left out; a halt
//! ends it without a row.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use measure::record::{Op, OpRow};
use measure::{Bytes, Instant, Seed};

use super::LoadError;
use super::control::{Control, Halt};
use super::draw::{Draw, OpDraw, SizeDraw};
use super::interval::IntervalStats;
use super::offsets::Offsets;
use super::pace::Pace;
use drive::io::{EIO, Io, IoCompletion, IoPath};
use plan::Load;

/// What a worker is made from.
#[derive(Clone, Debug)]
pub struct WorkerSpec<'a> {
    /// The load it has a share of.
    pub load: &'a Load,
    /// The load's region, in bytes of the target.
    pub region: Range<u64>,
    /// Which of the load's threads it is, counted from 0.
    pub thread: u16,
    /// Its number over all loads of the phase, counted from 0.
    pub worker: u32,
    /// The phase's number in the plan.
    pub phase: u32,
    /// The seed of the load; each thread draws its own from it.
    pub seed: Seed,
    /// When it starts.
    pub start: Instant,
    /// When it ends, by the phase's duration; [`Instant::NEVER`] without one. The load's own counts from `start`.
    pub end: Instant,
    /// Whether to keep single I/Os.
    pub record_ops: bool,
    /// Stops it from outside.
    pub control: Control,
}

/// Why a worker made no more I/Os.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its time was over.
    Duration,
    /// It had moved as much as it should.
    Bytes,
    /// It had passed over its region as often as it should.
    Laps,
    /// It was stopped from outside.
    Halted,
    /// Too many I/Os had failed.
    Errors,
    /// Its next write would have exceeded what may be written.
    WriteLimit,
}

/// One thread's share of one load.
#[derive(Debug)]
pub struct Worker {
    spec: Fixed,
    draw: Draw,
    op_draw: OpDraw,
    sizes: SizeDraw,
    offsets: Offsets,
    pace: Pace,
    budget_bytes: u64,
    slots: Box<[IoSlot]>,
    /// Slots without an I/O and when each may have its next: with a constant think time, in order of time.
    free: VecDeque<(Instant, u16)>,
    /// Slots with an access that has more I/Os to make.
    open: VecDeque<u16>,
    /// Slots whose I/O was queued and not yet committed.
    queued: Vec<u16>,
    /// Where in `stats` each operation is.
    stats_index: [usize; 3],
    stats: IntervalStats,
    control: Control,
    ended: Option<Ended>,
}

/// What does not change while a worker runs.
#[derive(Debug)]
struct Fixed {
    worker: u32,
    phase: u32,
    start: Instant,
    deadline: Instant,
    budget_ends_by: Ended,
    think_time: Duration,
    record_ops: bool,
    /// The largest I/O in bytes.
    split: u32,
    direct: bool,
}

/// An I/O in flight.
#[derive(Clone, Copy, Debug)]
struct IoSlot {
    op: Op,
    offset: u64,
    len: u32,
    made: Instant,
    issued: Instant,
    access: AccessProgress,
}

/// What an I/O is a part of.
#[derive(Clone, Copy, Debug)]
struct AccessProgress {
    /// Where it begins.
    offset: u64,
    /// How much of it comes after the I/O, in bytes.
    left: u32,
    /// When its first I/O was made.
    made: Instant,
    /// Submission latency of its first I/O.
    slat_ns: u64,
}

impl Worker {
    /// A worker that has made no I/O yet.
    ///
    /// # Errors
    /// When the load's sizes, alignment or region leave no I/O that could be made. The plan's check says so
    /// before a run starts, and with the place in the plan.
    pub fn new(spec: WorkerSpec<'_>) -> Result<Self, LoadError> {
        let load = spec.load;
        let seed = spec.seed.part(u64::from(spec.thread));
        let sizes = SizeDraw::new(&load.sizes)?;
        let offsets = Offsets::new(load, &sizes, spec.region.clone(), spec.thread, seed.part(0))?;
        let (budget_bytes, budget_ends_by) = budget(load, &offsets, &sizes);
        // Each thread has the same share of a rate that is meant for all of them.
        let share = |rate: f64| rate / f64::from(load.threads.max(1));
        let depth = load.depth.as_usize();
        let mut stats_index = [0; 3];
        load.mix.ops().enumerate().for_each(|(index, op)| stats_index[op as usize] = index);
        let access = AccessProgress { offset: 0, left: 0, made: Instant::ZERO, slat_ns: 0 };
        let unused =
            IoSlot { op: Op::Idle, offset: 0, len: 0, made: Instant::ZERO, issued: Instant::ZERO, access };
        Ok(Self {
            draw: Draw::new(seed.part(1)),
            op_draw: OpDraw::new(load.mix),
            sizes,
            offsets,
            pace: Pace::new(load.rate.map(|rate| share(rate.as_f64())), load.rate_iops.map(share)),
            budget_bytes,
            slots: vec![unused; depth].into_boxed_slice(),
            free: (0..depth).map(|slot| (spec.start, slot as u16)).collect(),
            open: VecDeque::with_capacity(depth),
            queued: Vec::with_capacity(depth),
            stats_index,
            stats: IntervalStats::new(load.mix.ops()),
            control: spec.control,
            ended: None,
            spec: Fixed {
                worker: spec.worker,
                phase: spec.phase,
                start: spec.start,
                deadline: load.duration.map_or(spec.end, |span| spec.end.min(spec.start + span)),
                budget_ends_by,
                think_time: load.think_time,
                record_ops: spec.record_ops,
                split: load.io_max(),
                direct: load.direct,
            },
        })
    }

    /// Queues the I/Os that are due at `now`, as many as the path takes at once, with `index` as the worker in
    /// their tokens.
    ///
    /// Returns when it wants to be asked again at the latest: `now` when more are due; completions may let it go
    /// on earlier.
    #[inline]
    pub(super) fn fill(&mut self, now: Instant, index: u32, path: &mut impl IoPath) -> Instant {
        if let Some(due) = self.go_on(now, index, path) {
            return due;
        }
        if self.ended.is_some() {
            return Instant::NEVER;
        }
        if let Some(ended) = self.stopped(now) {
            self.ended = Some(ended);
            return Instant::NEVER;
        }
        while let Some((ready, slot)) = self.free.front().copied() {
            let due = ready.max(self.opens());
            if due > now {
                return due.min(self.spec.deadline);
            }
            if self.budget_bytes == 0 {
                self.ended = Some(self.spec.budget_ends_by);
                return Instant::NEVER;
            }
            if self.queued.len() >= path.batch_max() {
                return now;
            }
            let Some(io) = self.make(now, index, slot) else {
                self.control.halt(Halt::Drain);
                self.ended = Some(Ended::WriteLimit);
                return Instant::NEVER;
            };
            self.free.pop_front();
            path.queue(io);
        }
        self.spec.deadline
    }

    /// Queues the next I/Os of accesses that have begun; when it wants to be asked again if some are left.
    #[inline]
    fn go_on(&mut self, now: Instant, index: u32, path: &mut impl IoPath) -> Option<Instant> {
        while let Some(slot) = self.open.front().copied() {
            if self.control.halted() > Halt::No || self.control.too_many_errors() {
                self.free.extend(self.open.drain(..).map(|slot| (now, slot)));
                return None;
            }
            if self.opens() > now {
                return Some(self.opens());
            }
            if self.queued.len() >= path.batch_max() {
                return Some(now);
            }
            self.open.pop_front();
            let io = &mut self.slots[usize::from(slot)];
            io.offset += u64::from(io.len);
            io.len = io.access.left.min(self.spec.split);
            io.access.left -= io.len;
            (io.made, io.issued) = (now, Instant::NEVER);
            path.queue(self.send(now, index, slot));
        }
        None
    }

    /// The earliest time for the next I/O: by the load's own rate, and by what all of them may move together.
    #[inline]
    fn opens(&self) -> Instant {
        self.pace.opens().max(self.control.opens())
    }

    fn stopped(&self, now: Instant) -> Option<Ended> {
        if self.control.halted() > Halt::No {
            return Some(Ended::Halted);
        }
        if self.control.too_many_errors() {
            return Some(Ended::Errors);
        }
        (now >= self.spec.deadline).then_some(Ended::Duration)
    }

    /// The next I/O; `None` for a write that may not be made.
    #[inline]
    fn make(&mut self, now: Instant, index: u32, slot: u16) -> Option<Io> {
        let op = self.op_draw.next(&mut self.draw);
        let len = self.sizes.next(&mut self.draw);
        if op == Op::Write && !self.control.may_write(Bytes::new(u64::from(len))) {
            return None;
        }
        let offset = self.offsets.next(op, len);
        self.budget_bytes = self.budget_bytes.saturating_sub(u64::from(len));
        let first = len.min(self.spec.split);
        let access = AccessProgress { offset, left: len - first, made: now, slat_ns: 0 };
        self.slots[usize::from(slot)] =
            IoSlot { op, offset, len: first, made: now, issued: Instant::NEVER, access };
        Some(self.send(now, index, slot))
    }

    #[inline]
    fn send(&mut self, now: Instant, index: u32, slot: u16) -> Io {
        let IoSlot { op, offset, len, .. } = self.slots[usize::from(slot)];
        self.pace.count(now, len);
        // What is deallocated moves no data and warms nothing.
        if op != Op::Trim {
            self.control.ceiling().count(now, len);
        }
        self.queued.push(slot);
        Io { token: Io::token(index, slot), op, offset, len, direct: self.spec.direct }
    }

    /// Whether I/Os are queued that the path has not been told to start.
    pub(super) fn has_queued(&self) -> bool {
        !self.queued.is_empty()
    }

    /// Notes that the queued I/Os were started, the device having taken them at `t`.
    #[inline]
    pub(super) fn issued(&mut self, t: Instant) {
        for slot in self.queued.drain(..) {
            self.slots[usize::from(slot)].issued = t;
        }
    }

    /// Accounts for an I/O that has completed.
    #[inline]
    pub(super) fn complete(&mut self, completion: &IoCompletion) {
        let slot = Io::slot(completion.token);
        let mut io = self.slots[usize::from(slot)];
        debug_assert!(io.issued < Instant::NEVER, "slot {slot} completed without having been started");
        // Nanoseconds: a `Duration` would be divided into seconds and put together again, for each I/O.
        let slat_ns = io.issued.as_ns().saturating_sub(io.made.as_ns());
        let clat_ns = completion.t.as_ns().saturating_sub(io.issued.as_ns());
        let errno = match completion.result {
            Ok(len) if len == io.len => None,
            Ok(_) => Some(EIO),
            Err(errno) => Some(errno),
        };
        let stats = &mut self.stats.ops[self.stats_index[io.op as usize]];
        if errno.is_none() {
            stats.ios += 1;
            stats.bytes += Bytes::new(u64::from(io.len));
            stats.slat.record_ns(slat_ns);
            stats.clat.record_ns(clat_ns);
        } else {
            stats.errors += 1;
            self.control.count_error();
        }
        if io.offset == io.access.offset {
            io.access.slat_ns = slat_ns;
        }
        if io.access.left > 0 && errno.is_none() {
            self.slots[usize::from(slot)] = io;
            self.open.push_back(slot);
            return;
        }
        if self.spec.record_ops {
            let Fixed { phase, worker, .. } = self.spec;
            let IoSlot { op, access, .. } = io;
            let (t, offset) = (access.made, access.offset);
            let len = (io.offset - offset) as u32 + io.len + access.left;
            let slat = Duration::from_nanos(access.slat_ns);
            let clat = completion.t.since(t + slat);
            self.stats.rows.push(OpRow { t, phase, worker, op, offset, len, slat, clat, errno });
        }
        self.free.push_back((completion.t + self.spec.think_time, slot));
    }

    /// How many I/Os were started and have not completed.
    pub(super) fn in_flight(&self) -> usize {
        self.slots.len() - self.free.len() - self.open.len()
    }

    /// Whether it may make more I/Os: its time is not over, or an access is not.
    pub(super) fn is_making(&self) -> bool {
        self.ended.is_none() || !self.open.is_empty()
    }

    /// Why it makes no more I/Os; `None` while it does.
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// When it starts.
    pub fn start(&self) -> Instant {
        self.spec.start
    }

    /// How many I/Os it keeps in flight.
    pub fn depth(&self) -> usize {
        self.slots.len()
    }

    /// What has completed since it was last moved out of here.
    pub fn interval(&mut self) -> &mut IntervalStats {
        &mut self.stats
    }

    /// Moves out what has completed since the last time.
    pub fn take_interval(&mut self) -> IntervalStats {
        let empty = IntervalStats::new(self.stats.ops.iter().map(|stats| stats.op));
        std::mem::replace(&mut self.stats, empty)
    }
}

/// How much a worker may move, and what it has then reached.
fn budget(load: &Load, offsets: &Offsets, sizes: &SizeDraw) -> (u64, Ended) {
    let bytes = load.bytes.map_or(u64::MAX, Bytes::as_u64);
    let laps = load.laps.map_or(u64::MAX, |laps| offsets.lap_bytes(sizes).saturating_mul(u64::from(laps)));
    if laps < bytes { (laps, Ended::Laps) } else { (bytes, Ended::Bytes) }
}
