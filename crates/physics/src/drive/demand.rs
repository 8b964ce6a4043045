//! A demand rate in place of single I/Os: the same drive, hours in milliseconds.
//!
//! Between two things that are due, speed is constant, so a whole span moves at once. Speed is what
//! the pipe gives to commands of the stated size, what the queue depth can keep under way past the
//! latency, or what is asked for, whichever is least. Order and spread of single completions do
//! not exist here; the mean speed and every temperature agree with single I/Os (a test holds them).

use measure::Instant;
use measure::record::Op;
use rand_pcg::rand_core::Rng;

use super::Drive;
use crate::media::MediaAccess;
use crate::media::slc::CHUNK_BYTES;

/// What a host asks of the drive.
#[derive(Clone, Debug, PartialEq)]
pub enum Demand {
    /// Nothing.
    Idle,
    /// Data.
    Transfer(Transfer),
}

/// A steady stream of commands.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// Share of the bytes that are read, 0 to 1.
    pub read_share: f64,
    /// Whether commands follow one another.
    pub sequential: bool,
    /// Size of a command in bytes.
    pub io_bytes: u32,
    /// Commands kept under way.
    pub queue_depth: u16,
    /// Start of the region in bytes.
    pub offset_bytes: u64,
    /// Length of the region in bytes; a stream starts over at its end.
    pub len_bytes: u64,
    /// Most that is asked for, in bytes per second; infinite for as much as goes.
    pub limit_bytes_per_s: f64,
}

impl Transfer {
    /// As much as goes in sequential commands of 1 MiB at depth 64 over `len_bytes` from 0 on.
    pub const fn sequential(op: Op, len_bytes: u64) -> Self {
        Self {
            read_share: if matches!(op, Op::Read) { 1.0 } else { 0.0 },
            sequential: true,
            io_bytes: 1 << 20,
            queue_depth: 64,
            offset_bytes: 0,
            len_bytes,
            limit_bytes_per_s: f64::INFINITY,
        }
    }
}

/// What moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    /// Bytes read.
    pub read_bytes: f64,
    /// Bytes written.
    pub write_bytes: f64,
}

/// Writes of a random stream that go to one place before the next is drawn: small against a chunk.
const RANDOM_PIECE_BYTES: f64 = (CHUNK_BYTES / 16) as f64;

/// The next stretch of data that moves at one speed.
#[derive(Clone, Copy, Debug)]
struct DemandPlace {
    offset_bytes: u64,
    /// Bytes written in it.
    write_bytes: f64,
    access: MediaAccess,
}

/// Time of an average byte.
#[derive(Clone, Copy, Debug)]
struct DemandPace {
    ns_per_byte: f64,
    /// Of it, the time in the pipe.
    busy_ns_per_byte: f64,
}

impl Drive {
    /// Moves time to `until` under `demand`; returns what moved.
    ///
    /// # Panics
    /// When single commands are outstanding: a drive is driven one way at a time.
    pub fn advance_demand(&mut self, until: Instant, demand: &Demand) -> Moved {
        assert!(self.pipe.is_empty(), "single commands are outstanding");
        let (until_ns, tick_ns) = (until.as_ns(), self.grain.tick_ns());
        let mut moved = Moved::default();
        if matches!(demand, Demand::Transfer(_)) {
            self.wake(self.now_ns);
        }
        while self.now_ns < until_ns {
            let ticks = self.quiet_ticks().min(((until_ns - self.tick * tick_ns) / tick_ns).max(1));
            let end_ns = (self.tick + ticks) * tick_ns;
            let stop_ns = end_ns.min(until_ns);
            if let Demand::Transfer(transfer) = demand {
                let part = self.flow(transfer, (stop_ns - self.now_ns) as f64);
                moved.read_bytes += part.read_bytes;
                moved.write_bytes += part.write_bytes;
            }
            self.now_ns = stop_ns;
            if stop_ns == end_ns {
                self.end_span(ticks);
            }
        }
        moved
    }

    /// Moves data for `span_ns` at the speeds in force.
    fn flow(&mut self, transfer: &Transfer, span_ns: f64) -> Moved {
        let mut moved = Moved::default();
        let mut left_ns = span_ns;
        while left_ns > 0.0 {
            let place = self.place(transfer);
            let Some(pace) = self.pace(transfer, place.access) else { break };
            let most = place.write_bytes / (1.0 - transfer.read_share);
            let bytes = (left_ns / pace.ns_per_byte).min(most);
            let written = bytes * (1.0 - transfer.read_share);
            self.write_at(transfer, place, written);
            moved.read_bytes += bytes - written;
            moved.write_bytes += written;
            self.work.busy_ns += bytes * pace.busy_ns_per_byte;
            if bytes < most {
                break;
            }
            left_ns -= bytes * pace.ns_per_byte;
        }
        self.work.asked = true;
        self.work.read_bytes += moved.read_bytes;
        self.work.write_bytes += moved.write_bytes;
        self.counts.bytes(moved, f64::from(transfer.io_bytes));
        moved
    }

    /// How fast bytes move; `None` while none do.
    fn pace(&self, transfer: &Transfer, write_access: MediaAccess) -> Option<DemandPace> {
        let len = f64::from(transfer.io_bytes);
        let (read, write) = (transfer.read_share, 1.0 - transfer.read_share);
        // A shut pipe takes for ever, but not for what is not asked.
        let weighted = |share: f64, value: f64| if share > 0.0 { share * value } else { 0.0 };
        let read_access = MediaAccess::new(Op::Read, transfer.sequential);
        let service_ns = weighted(read, self.rates.service_ns(read_access, len))
            + weighted(write, self.rates.service_ns(write_access, len));
        let latency_ns = weighted(read, self.latencies.mean_ns(Op::Read))
            + weighted(write, self.latencies.mean_ns(Op::Write));
        // A closed loop: either the pipe never rests, or `depth` commands go round and round.
        let depth = f64::from(transfer.queue_depth.max(1));
        let command_ns = service_ns.max((service_ns + latency_ns) / depth);
        let ns_per_byte = (command_ns / len).max(1e9 / transfer.limit_bytes_per_s);
        ns_per_byte.is_finite().then_some(DemandPace { ns_per_byte, busy_ns_per_byte: service_ns / len })
    }

    /// Where the next bytes go and how far they go alike.
    fn place(&mut self, transfer: &Transfer) -> DemandPlace {
        let must_erase = self.must_erase();
        let access = if must_erase {
            MediaAccess::ErasingWrite
        } else {
            MediaAccess::new(Op::Write, transfer.sequential)
        };
        let Some(slc) = self.slc.as_ref().filter(|_| transfer.read_share < 1.0) else {
            return DemandPlace { offset_bytes: 0, write_bytes: f64::INFINITY, access };
        };
        let region_end = transfer.offset_bytes + transfer.len_bytes.max(1);
        let (offset_bytes, piece) = if transfer.sequential {
            if !(transfer.offset_bytes..region_end).contains(&self.cursor_bytes) {
                self.cursor_bytes = transfer.offset_bytes;
            }
            let chunk_end = (self.cursor_bytes / CHUNK_BYTES + 1) * CHUNK_BYTES;
            (self.cursor_bytes, (chunk_end.min(region_end) - self.cursor_bytes) as f64)
        } else {
            let draw = f64::from(self.places.next_u32()) / 4_294_967_296.0;
            (transfer.offset_bytes + (draw * transfer.len_bytes as f64) as u64, RANDOM_PIECE_BYTES)
        };
        if !slc.takes(offset_bytes) || (must_erase && transfer.sequential) {
            return DemandPlace { offset_bytes, write_bytes: piece, access: MediaAccess::DirectWrite };
        }
        // What would fill the cache ends where it is full.
        let room = if slc.is_open() { slc.free_bytes() as f64 } else { f64::INFINITY };
        DemandPlace { offset_bytes, write_bytes: piece.min(room.max(1.0)), access }
    }

    /// Notes that `written` bytes went to `place`.
    fn write_at(&mut self, transfer: &Transfer, place: DemandPlace, written: f64) {
        let Some(slc) = self.slc.as_mut().filter(|_| transfer.read_share < 1.0) else { return };
        let bytes = written.round() as u64;
        if place.access != MediaAccess::DirectWrite {
            slc.write(place.offset_bytes, bytes, transfer.sequential);
        }
        if transfer.sequential {
            self.cursor_bytes = place.offset_bytes + bytes;
        }
    }
}
