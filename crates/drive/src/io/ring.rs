//! I/O through io_uring: one ring a thread, on a file or a block device.
//!
//! The file and, where the limit on locked memory allows it, the buffers are registered once. Handing over
//! and waiting are two system calls, so that the end of submission has a time of its own (slat); waiting carries
//! its timeout with it (`IORING_ENTER_EXT_ARG`, Linux 5.11). Reading and writing need no further feature.
//!
//! Through the page cache, a read that is found there is served while it is handed over: its time is in slat, and
//! its clat is next to nothing.
//!
//! Trim on a file is a punched hole of unchanged size, and on a block device a discard (see `ring_trim`).
//!
//! # What it does not do
//! No polling of the device (IOPOLL) and no polling by a kernel thread (SQPOLL): both cost a processor, and the
//! heat of that is not the drive's.

// The kernel reads and writes our memory between two calls: only raw pointers can say that.
#![expect(unsafe_code, reason = "memory shared with the kernel")]

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::AsRawFd as _;
use std::sync::Arc;
use std::time::Duration;

use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use measure::record::Op;
use measure::{Bytes, Clock as _, Instant, MonotonicClock, Seed};
use rustix::io::Errno;

use plan::memory::{BufferLayout, BufferSpec, ring_layout};

use super::buffers::{BufferMemory, Payloads, SECTOR_BYTES, fill};
use super::length::LengthWatch;
use super::path::{Io, IoCompletion, IoPath, PathError};
use super::ring_trim::{self, TrimBy};
use plan::Load;

/// The kernel's limit on registered buffers (IORING_MAX_REG_BUFFERS, io_uring/rsrc.c).
const REGISTERED_MAX: usize = 1 << 14;

/// The one registered file.
const FILE: Fixed = Fixed(0);

/// A path over io_uring.
pub struct Ring {
    ring: IoUring,
    clock: MonotonicClock,
    /// Kept open as long as I/O may be in flight.
    file: Arc<File>,
    buffers: Buffers,
    lens: Vec<TrimLen>,
    in_flight: usize,
    /// Trims that the kernel takes only by a call of their own, not yet made.
    calls: VecDeque<Io>,
    note: Option<String>,
    watch: Option<LengthWatch>,
}

/// The length of a trim in flight, which the kernel does not tell again; 0 for other operations.
type TrimLen = u32;

struct Buffers {
    memory: BufferMemory,
    /// Where the memory starts. Once I/O has begun, everything goes through this pointer: a reference would say that
    /// nobody else writes, and the kernel does.
    base: *mut u8,
    layout: BufferLayout,
    registered: bool,
    payloads: Payloads,
    trim_by: TrimBy,
}

impl Ring {
    /// A ring for `load` on `file`, with buffers filled.
    ///
    /// It must be used by the thread that made it.
    ///
    /// # Errors
    /// When the kernel has no io_uring, does not allow it, or not of that depth.
    pub fn new(clock: MonotonicClock, file: Arc<File>, load: &Load, seed: Seed) -> Result<Self, PathError> {
        let depth = load.depth.as_usize();
        let spec = BufferSpec::new(load, seed);
        let layout = ring_layout(&spec).ok_or_else(|| too_deep(&spec))?;
        let mut ring = build(depth as u32)?;
        ring.submitter()
            .register_files(&[file.as_raw_fd()])
            .map_err(|source| setup("register the target with io_uring", source))?;
        let trim_by = match load.mix.trim {
            0 => TrimBy::Hole,
            _ => TrimBy::probe(&mut ring, &file, FILE).map_err(|source| setup("ask for discards", source))?,
        };
        let mut memory = fill(&layout, &spec);
        let buffers = Buffers {
            base: memory.bytes_mut().as_mut_ptr(),
            memory,
            layout,
            registered: false,
            payloads: Payloads::new(&spec, layout),
            trim_by,
        };
        let note = (trim_by == TrimBy::Call).then(|| ring_trim::NOTE.to_owned());
        let calls = VecDeque::with_capacity(depth);
        let mut made =
            Self { ring, clock, file, buffers, lens: vec![0; depth], in_flight: 0, calls, note, watch: None };
        made.register_buffers(depth);
        Ok(made)
    }

    /// The same over a file that must stay as long as what is `used` of it.
    #[must_use]
    pub fn watching(mut self, used: Option<Bytes>) -> Self {
        self.watch = used.map(|used| LengthWatch::new(Arc::clone(&self.file), used));
        self
    }

    /// Whether the file is as long as it was, looked at once more when the load is over.
    ///
    /// # Errors
    /// When it is not.
    pub fn check_length(&self) -> Result<(), PathError> {
        self.watch.as_ref().map_or(Ok(()), LengthWatch::look)
    }

    /// What was done another way than it should be, for the record.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Registers the buffers, or notes why it goes without: a fallback that costs speed is never silent.
    fn register_buffers(&mut self, depth: usize) {
        let stride = self.buffers.layout.stride;
        if stride == 0 {
            return;
        }
        let base = self.buffers.base;
        let vectors: Vec<libc::iovec> = (0..depth)
            .map(|slot| libc::iovec { iov_base: base.wrapping_add(slot * stride).cast(), iov_len: stride })
            .collect();
        let result = if depth <= REGISTERED_MAX {
            // SAFETY: the memory lives as long as the ring: it is in the same struct, is never grown, and `drop`
            // gives it up only when nothing is in flight.
            unsafe { self.ring.submitter().register_buffers(&vectors) }
        } else {
            Err(Errno::TOOBIG.into())
        };
        match result {
            Ok(()) => self.buffers.registered = true,
            Err(error) => {
                let note = format!(
                    "the I/O buffers could not be registered with the kernel ({error}), each I/O maps its own, \
                     which costs processor time; raise the limit on locked memory (ulimit -l)"
                );
                self.note = Some(self.note.take().map_or(note.clone(), |other| format!("{other}; {note}")));
            }
        }
    }

    /// Takes over everything that has completed, without waiting.
    fn collect(&mut self, done: &mut Vec<IoCompletion>) -> bool {
        let mut completions = self.ring.completion();
        completions.sync();
        if completions.is_empty() {
            return false;
        }
        // One time for all that are seen at once: they were there when it was read.
        let t = self.clock.now();
        for entry in completions {
            let token = entry.user_data();
            let trim_len = mem::take(&mut self.lens[usize::from(Io::slot(token))]);
            let result = match entry.result() {
                0 if trim_len > 0 => Ok(trim_len),
                len @ 0.. => Ok(len as u32),
                errno => Err(-errno),
            };
            self.in_flight -= 1;
            done.push(IoCompletion { token, t, result });
        }
        true
    }

    /// Waits for a completion until `until`, or for no longer than the kernel sees fit.
    fn wait(&mut self, until: Instant) -> io::Result<usize> {
        // A timeout of a day stands for none; the caller asks again.
        let span = until.since(self.clock.now()).min(Duration::from_secs(86_400));
        let timespec = Timespec::from(span);
        self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timespec))
    }
}

impl IoPath for Ring {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn queue(&mut self, io: Io) {
        if io.op == Op::Trim && self.buffers.trim_by == TrimBy::Call {
            self.calls.push_back(io);
            return;
        }
        let slot = Io::slot(io.token);
        if io.op == Op::Trim {
            self.lens[usize::from(slot)] = io.len;
        }
        let entry = self.buffers.entry(slot, &io).user_data(io.token);
        // SAFETY: the buffer that the entry points to belongs to its slot, which is not in flight (the contract of
        // IoPath), lies in memory that outlives the I/O (see `drop`), and is long enough (see `Buffers::place`).
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.expect("a ring has an entry for every slot of its worker");
        self.in_flight += 1;
    }

    /// One: the drive works on the first I/O while the second is being made. Handed over together they also come
    /// back together on drives that gather interrupts, and the drive is idle in between (a virtual disk lost a
    /// quarter of its speed at a depth of 32). It is what fio does (`iodepth_batch_submit=1`).
    fn batch_max(&self) -> usize {
        1
    }

    fn commit(&mut self) -> Result<Instant, PathError> {
        let mut tries = 0;
        while !self.ring.submission().is_empty() {
            match self.ring.submit() {
                Ok(_) => {}
                Err(error) if is_passing(&error) && tries < TRIES_MAX => {
                    tries += 1;
                    // Short of memory, or completions in the way: they are taken by the kernel meanwhile.
                    let _ = self.wait(self.clock.now() + TRY_AGAIN);
                }
                Err(source) => return Err(PathError::Ring { what: "start", source }),
            }
        }
        Ok(self.clock.now())
    }

    fn reap(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Result<(), PathError> {
        if let Some(watch) = &mut self.watch {
            watch.look_if_due(self.clock.now())?;
        }
        if self.collect(done) {
            return Ok(());
        }
        if let Some(io) = self.calls.pop_front() {
            let result = ring_trim::call(&self.file, io.offset, io.len);
            done.push(IoCompletion { token: io.token, t: self.clock.now(), result });
            return Ok(());
        }
        match self.wait(until) {
            Ok(_) => {}
            // The time was over, or a signal came: both are for the caller to see.
            Err(error) if error.raw_os_error() == Some(Errno::TIME.raw_os_error()) => {}
            Err(error) if is_passing(&error) => {}
            Err(source) => return Err(PathError::Ring { what: "wait for", source }),
        }
        self.collect(done);
        Ok(())
    }
}

/// How long to leave the kernel alone when it is short of memory, and how often before giving up: a second.
const TRY_AGAIN: Duration = Duration::from_millis(1);
const TRIES_MAX: u32 = 1000;

fn is_passing(error: &io::Error) -> bool {
    [Errno::INTR, Errno::AGAIN, Errno::BUSY]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.in_flight > 0 {
            // The drive may still write into it, hours later: memory that is lost is better than memory
            // that changes under somebody else.
            mem::forget(mem::replace(&mut self.buffers.memory, BufferMemory::none()));
        }
    }
}

impl Buffers {
    /// The kernel's description of an I/O.
    #[inline]
    fn entry(&mut self, slot: u16, io: &Io) -> squeue::Entry {
        match io.op {
            Op::Read => {
                let at = self.place(slot, 0, io.len);
                if self.registered {
                    opcode::ReadFixed::new(FILE, at, io.len, slot).offset(io.offset).build()
                } else {
                    opcode::Read::new(FILE, at, io.len).offset(io.offset).build()
                }
            }
            Op::Write => {
                let at = self.payload(slot, io.len);
                if self.registered {
                    opcode::WriteFixed::new(FILE, at, io.len, slot).offset(io.offset).build()
                } else {
                    opcode::Write::new(FILE, at, io.len).offset(io.offset).build()
                }
            }
            Op::Trim | Op::Idle => self.trim_by.entry(FILE, io.offset, io.len),
        }
    }

    /// `len` bytes at `start` within a slot's part of the memory.
    #[inline]
    fn place(&self, slot: u16, start: usize, len: u32) -> *mut u8 {
        let BufferLayout { stride, .. } = self.layout;
        assert!(start + len as usize <= stride, "an I/O of {len} B is larger than its load's largest");
        self.base.wrapping_add(usize::from(slot) * stride + start)
    }

    /// What the next write of a slot writes, unlike everything before.
    #[inline]
    fn payload(&mut self, slot: u16, len: u32) -> *const u8 {
        let start = self.payloads.start(slot, len);
        let at = self.place(slot, start, len);
        if let Some(stamps) = &mut self.payloads.stamps {
            for sector in 0..len as usize / SECTOR_BYTES {
                // SAFETY: `place` has checked that `len` bytes lie here, page-aligned; no I/O of this slot is in
                // flight, so neither the kernel nor a reference of ours looks at them.
                unsafe { at.add(sector * SECTOR_BYTES).cast::<u64>().write(stamps.advance()) };
            }
        }
        at
    }
}

/// Whether io_uring can be had here at all, asked before anything is made for a run.
///
/// # Errors
/// When it is switched off, or the kernel is too old.
pub fn probe_ring() -> Result<(), PathError> {
    build(1).map(|_| ())
}

/// Makes a ring in the mode that costs least, as far as the kernel has it.
fn build(entries: u32) -> Result<IoUring, PathError> {
    // Completions are handled when we ask for them (6.1), or at least not by interrupting us (5.19).
    let attempts: [fn(&mut io_uring::Builder); 3] = [
        |builder| {
            builder.setup_single_issuer().setup_defer_taskrun();
        },
        |builder| {
            builder.setup_coop_taskrun();
        },
        |_| {},
    ];
    let mut refused = io::Error::from(Errno::INVAL);
    for attempt in attempts {
        let mut builder = IoUring::builder();
        attempt(&mut builder);
        match builder.build(entries) {
            Ok(ring) if ring.params().is_feature_ext_arg() => return Ok(ring),
            Ok(_) => refused = Errno::NOSYS.into(),
            Err(error) => {
                let unknown_flag = error.raw_os_error() == Some(Errno::INVAL.raw_os_error());
                refused = error;
                if !unknown_flag {
                    break;
                }
            }
        }
    }
    Err(setup("make an io_uring", refused))
}

fn setup(what: &str, source: io::Error) -> PathError {
    let advice = match source.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::PERM | Errno::ACCESS) => {
            "it is switched off here: look at kernel.io_uring_disabled (sysctl) or the container's seccomp profile"
        }
        Some(Errno::NOSYS) => "io_uring with timeouts needs Linux 5.11 or later",
        Some(Errno::NOMEM) => "raise the limit on locked memory (ulimit -l), or use a smaller depth",
        _ => "try a smaller depth, or look into the kernel's log",
    };
    PathError::Setup { what: what.to_owned(), source, advice }
}

fn too_deep(spec: &BufferSpec) -> PathError {
    PathError::Setup {
        what: format!("keep {} I/Os of up to {} B in flight in one thread", spec.depth, spec.largest),
        source: Errno::TOOBIG.into(),
        advice: "use a depth of at most 32768 and at most 4 GiB of buffers: a smaller depth or smaller I/Os",
    }
}

#[cfg(test)]
mod test;
