//! I/O over a queue of NVMe/TCP: our own initiator as a path.
//!
//! The thread that uses it does everything: it encodes, sends, waits at the socket and decodes. Data that is
//! written comes from memory of its slot, filled and stamped as the ring's is (see [`super::buffers`]); data that is
//! read goes to memory of its own and is not looked at.

use measure::record::Op;
use measure::{Clock as _, Instant, Lba, MonotonicClock, Seed};
use nvme::command::{Completion as Ended, DeallocateRange, IoCommand, RANGE_LEN, Transfer};
use nvme::host::tcp::{Direction, TcpController, TcpQueue};
use nvme::status::Status;

use plan::memory::{BufferLayout, BufferSpec};

use super::buffers::{Payloads, SECTOR_BYTES, fill};
use super::path::{EIO, Io, IoCompletion, IoPath, PathError};
use plan::Load;

/// `ENOSPC` (errno(3)): what the kernel makes of Capacity Exceeded (drivers/nvme/host/core.c).
const ENOSPC: i32 = 28;

/// A path over one I/O queue.
pub struct FabricPath {
    queue: TcpQueue,
    clock: MonotonicClock,
    nsid: u32,
    block_bytes: u32,
    layout: BufferLayout,
    payloads: Payloads,
    /// The I/O in each slot.
    ios: Box<[Io]>,
    ended: Vec<(u16, Ended)>,
}

impl FabricPath {
    /// A path for `load` over a new queue of `controller`, with buffers filled.
    ///
    /// # Errors
    /// When the load's I/Os are larger than the controller takes, or it gives no queue of that depth.
    pub fn new(
        clock: MonotonicClock,
        controller: &TcpController,
        namespace: Namespace,
        load: &Load,
        seed: Seed,
    ) -> Result<Self, PathError> {
        let depth = load.depth.as_usize();
        let spec = BufferSpec::new(load, seed);
        let too_large = |why: &str| PathError::Setup {
            what: format!("keep {depth} I/Os of up to {} B in flight", spec.largest),
            source: std::io::Error::new(std::io::ErrorKind::InvalidInput, why.to_owned()),
            advice: "use smaller I/Os or a smaller depth",
        };
        if let Some(most) = controller.transfer_max()
            && u64::from(spec.largest) > most.as_u64()
        {
            return Err(too_large(&format!("the controller takes {most} at once")));
        }
        let layout = BufferLayout::new(&spec).ok_or_else(|| too_large("that is too much memory"))?;
        // Behind the data a slot has room for the one range of a deallocation.
        let stride = layout.stride + RANGE_LEN;
        let mut queue = controller.io_queue(depth, stride)?;
        let mut filled = fill(&layout, &spec);
        for (slot, part) in filled.bytes_mut().chunks_exact_mut(layout.stride.max(1)).enumerate() {
            queue.memory(slot as u16)[..part.len()].copy_from_slice(part);
        }
        let unused = Io { token: 0, op: Op::Idle, offset: 0, len: 0, direct: true };
        Ok(Self {
            queue,
            clock,
            nsid: namespace.nsid,
            block_bytes: namespace.block_bytes,
            layout,
            payloads: Payloads::new(&spec, layout),
            ios: vec![unused; depth].into_boxed_slice(),
            ended: Vec::with_capacity(depth),
        })
    }

    /// Makes the next write of a slot unlike everything before; says where it lies.
    fn payload(&mut self, slot: u16, len: u32) -> usize {
        let start = self.payloads.start(slot, len);
        if let Some(stamps) = &mut self.payloads.stamps {
            let payload = &mut self.queue.memory(slot)[start..start + len as usize];
            for sector in payload.chunks_exact_mut(SECTOR_BYTES) {
                sector[..8].copy_from_slice(&stamps.advance().to_ne_bytes());
            }
        }
        start
    }

    /// The command of an I/O, and which way its data goes.
    fn command(&mut self, slot: u16, io: &Io) -> (IoCommand, Direction) {
        let start = Lba::new(io.offset / u64::from(self.block_bytes));
        let blocks = io.len / self.block_bytes;
        let transfer = Transfer { start, blocks, fua: false };
        match io.op {
            Op::Read => (IoCommand::Read(transfer), Direction::Read(io.len as usize)),
            Op::Write => {
                let at = self.payload(slot, io.len);
                (IoCommand::Write(transfer), Direction::Write { at, len: io.len as usize })
            }
            Op::Trim | Op::Idle => {
                let range = DeallocateRange { start, blocks, attributes: 0 };
                let data = DeallocateRange::encode_all(&[range]);
                let at = self.layout.stride;
                self.queue.memory(slot)[at..at + RANGE_LEN].copy_from_slice(&data);
                let command = IoCommand::DatasetManagement { ranges: 1, deallocate: true };
                (command, Direction::Write { at, len: RANGE_LEN })
            }
        }
    }
}

/// What a path has to know about its namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Its identifier.
    pub nsid: u32,
    /// Bytes of a block; offsets and lengths are multiples of it.
    pub block_bytes: u32,
}

impl IoPath for FabricPath {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn queue(&mut self, io: Io) {
        let slot = Io::slot(io.token);
        self.ios[usize::from(slot)] = io;
        let (command, direction) = self.command(slot, &io);
        self.queue.submit(slot, &command.encode(self.nsid), direction);
    }

    /// All: each handing over is a system call and wakes the other side, which then finds them together.
    fn batch_max(&self) -> usize {
        usize::MAX
    }

    fn commit(&mut self) -> Result<Instant, PathError> {
        self.queue.flush()?;
        Ok(self.clock.now())
    }

    fn reap(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Result<(), PathError> {
        self.ended.clear();
        self.queue.wait(until.since(self.clock.now()), &mut self.ended)?;
        let t = self.clock.now();
        done.extend(self.ended.iter().map(|(slot, ended)| {
            let io = self.ios[usize::from(*slot)];
            let result = if ended.status.is_success() { Ok(io.len) } else { Err(errno(ended.status)) };
            IoCompletion { token: io.token, t, result }
        }));
        Ok(())
    }
}

fn errno(status: Status) -> i32 {
    if status.is(Status::CAPACITY_EXCEEDED) { ENOSPC } else { EIO }
}
