//! Media: how fast data moves when heat has no say, and what slows it down without heat.
//!
//! One pipe serves all commands in order; a command occupies it for the larger of its size over
//! the speed of its kind of access and the time of a command at that kind's IOPS ceiling. Latency
//! comes on top and overlaps. Not modelled: dies, planes, mapping tables and garbage collection;
//! their sums are the ceilings.

pub(crate) mod disturb;
pub(crate) mod erase;
pub(crate) mod latency;
pub(crate) mod slc;

use measure::record::Op;

use crate::profile::{Ceiling, Profile};

/// Kinds of access that differ in speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaAccess {
    SequentialRead,
    RandomRead,
    SequentialWrite,
    RandomWrite,
    /// Past the SLC cache, in order or not.
    DirectWrite,
    /// Into the SLC cache of a drive that must erase first.
    ErasingWrite,
    Trim,
}

const ACCESSES: usize = 7;

impl MediaAccess {
    pub(crate) const fn new(op: Op, sequential: bool) -> Self {
        match (op, sequential) {
            (Op::Read, true) => Self::SequentialRead,
            (Op::Read, false) => Self::RandomRead,
            (Op::Write, true) => Self::SequentialWrite,
            (Op::Write, false) => Self::RandomWrite,
            (Op::Trim | Op::Idle, _) => Self::Trim,
        }
    }
}

/// What one operation may do at this moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpLimit {
    /// Most bytes per second: link, throttles and power state together.
    pub(crate) cap_bytes_per_s: f64,
    /// What dips and wobble leave of the media's speed.
    pub(crate) media_share: f64,
}

/// Time that commands take in the pipe, ready for use a million times until something changes.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    ns_per_byte: [f64; ACCESSES],
    command_ns: [f64; ACCESSES],
}

impl Rates {
    pub(crate) fn new(profile: &Profile, read: OpLimit, write: OpLimit) -> Self {
        let media = &profile.media;
        let direct = profile.slc.map_or(media.sequential_write, |slc| slc.direct_write);
        let mut rates = Self { ns_per_byte: [0.0; ACCESSES], command_ns: [0.0; ACCESSES] };
        rates.set(MediaAccess::SequentialRead, media.sequential_read, read);
        rates.set(MediaAccess::RandomRead, media.random_read, read);
        rates.set(MediaAccess::SequentialWrite, media.sequential_write, write);
        rates.set(MediaAccess::RandomWrite, media.random_write, write);
        rates.set(MediaAccess::DirectWrite, direct, write);
        let erasing = profile.housekeeping.map_or(media.sequential_write, |keeping| keeping.cached_write);
        rates.set(MediaAccess::ErasingWrite, erasing, write);
        // Deallocation moves no data and is not throttled.
        rates.command_ns[MediaAccess::Trim as usize] = 1e9 / media.trim_iops;
        rates
    }

    /// Time that a command of `len_bytes` occupies the pipe; infinite while it is shut.
    #[inline]
    pub(crate) fn service_ns(&self, access: MediaAccess, len_bytes: f64) -> f64 {
        let i = access as usize;
        (self.ns_per_byte[i] * len_bytes).max(self.command_ns[i])
    }

    fn set(&mut self, access: MediaAccess, ceiling: Ceiling, limit: OpLimit) {
        let bytes_per_s = (ceiling.bytes_per_s * limit.media_share).min(limit.cap_bytes_per_s);
        let iops = if limit.cap_bytes_per_s == 0.0 { 0.0 } else { ceiling.iops * limit.media_share };
        // Division by zero gives the infinity that "shut" means.
        self.ns_per_byte[access as usize] = 1e9 / bytes_per_s;
        self.command_ns[access as usize] = 1e9 / iops;
    }
}

/// Speed of `op` when nothing throttles or disturbs, in bytes per second.
pub(crate) fn full_speed(profile: &Profile, op: Op) -> f64 {
    let media = match op {
        Op::Read => profile.media.sequential_read,
        _ => profile.media.sequential_write,
    };
    media.bytes_per_s.min(profile.media.link_bytes_per_s)
}

/// Where recent streams of commands ended: tells sequential from random.
#[derive(Clone, Debug)]
pub(crate) struct Streams {
    ends: [u64; STREAMS],
    oldest: usize,
}

/// As many streams as the load may have threads before a drive would take them for random.
const STREAMS: usize = 8;

impl Streams {
    pub(crate) const fn new() -> Self {
        Self { ends: [u64::MAX; STREAMS], oldest: 0 }
    }

    /// Whether the command continues a stream.
    #[inline]
    pub(crate) fn continues(&mut self, offset_bytes: u64, len_bytes: u64) -> bool {
        let end = offset_bytes + len_bytes;
        for known in &mut self.ends {
            if *known == offset_bytes {
                *known = end;
                return true;
            }
        }
        self.ends[self.oldest] = end;
        self.oldest = (self.oldest + 1) % STREAMS;
        false
    }
}
