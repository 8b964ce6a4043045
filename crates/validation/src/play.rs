//! A plan on a simulated drive, by the load engine that `heatsoak run` has, without a record.
//!
//! What a person types does the same: `heatsoak run PLAN --drive twin:NAME` has the same I/Os at the same times. A test in
//! `crates/cli` holds the two against each other.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use ::drive::io::{Io, IoCompletion, IoPath as _, PageCache, SimulatedHost, VirtualDrive, VirtualPath};
use ::drive::telemetry::Reading;
use capture::load::{Control, Tick, Worker, drive};
use capture::session::phase_workers;
use measure::record::{OpRow, TelemetryRow};
use measure::{Bytes, Instant};
use physics::drive::Drive;
use physics::profile::HostProfile;
use plan::{Plan, TelemetryPlan};

/// A plan that has been run.
pub(super) struct Played {
    /// By the number of the phase.
    pub(super) phases: Vec<PlayedPhase>,
    /// The drive as the plan left it.
    pub(super) drive: Drive,
}

/// What a logger has of one phase.
pub(super) struct PlayedPhase {
    /// When it began.
    pub(super) start: Instant,
    /// Bytes of each whole second.
    pub(super) second_bytes: Vec<f64>,
    /// Single accesses in the order of their ends, where the plan keeps them.
    pub(super) accesses: Vec<OpRow>,
}

impl PlayedPhase {
    /// Speeds of whole seconds, in MB/s.
    pub(super) fn mb_per_s(&self) -> impl Iterator<Item = f64> + '_ {
        self.second_bytes.iter().map(|bytes| bytes / 1e6)
    }
}

/// `drive` as buffered I/O meets it in the computer of a profile; without one, the drive itself.
pub fn behind_page_cache(drive: Box<dyn VirtualDrive>, host: Option<HostProfile>) -> Box<dyn VirtualDrive> {
    let Some(host) = host else { return drive };
    let host = SimulatedHost {
        bytes: host.memory_bytes,
        copy_bytes_per_s: host.copy_bytes_per_s,
        io_bytes: host.io_bytes,
        read_ahead_bytes: host.read_ahead_bytes,
    };
    Box::new(PageCache::new(drive, host))
}

/// Runs `plan` on `drive`, with the page cache of the profile's host where a load is buffered.
pub(super) fn play(plan: &Plan, drive: Drive) -> Played {
    let identity = &drive.profile().identity;
    let target = (Bytes::new(identity.capacity_bytes), drive.profile().slc_bytes().map(Bytes::new));
    let host = drive.profile().host;
    let shared = Rc::new(RefCell::new(drive));
    let lens = HashMap::new();
    let behind: Box<dyn VirtualDrive> = Box::new(Behind { drive: Rc::clone(&shared), lens, next: 0 });
    let mut path = VirtualPath::new(behind_page_cache(behind, host));
    let control = Control::new(plan.max_errors);
    let phases =
        (0..plan.phases.len()).map(|index| phase(plan, index, target, &control, &mut path)).collect();
    drop(path);
    let drive = Rc::try_unwrap(shared).unwrap_or_else(|shared| RefCell::new(shared.borrow().clone()));
    Played { phases, drive: drive.into_inner() }
}

fn phase(
    plan: &Plan,
    index: usize,
    target: (Bytes, Option<Bytes>),
    control: &Control,
    path: &mut VirtualPath,
) -> PlayedPhase {
    let start = path.now();
    let mut workers = phase_workers(plan, index, target, start, control)
        .expect("the plans of experiments fit their drives (our own bug)");
    let idle = plan.phases[index].duration.filter(|_| workers.is_empty()).unwrap_or_default();
    let mut played = PlayedPhase { start, second_bytes: Vec::new(), accesses: Vec::new() };
    let mut edge = start;
    let tick = |now: Instant, workers: &mut [Worker], _: &mut VirtualPath| {
        while edge + Duration::from_secs(1) <= now {
            edge = edge + Duration::from_secs(1);
            played.second_bytes.push(take(workers, &mut played.accesses));
        }
        Tick { next: edge + Duration::from_secs(1), leave: false }
    };
    drive(&mut workers, path, start + idle, tick).expect("a simulated drive answers (our own bug)");
    take(&mut workers, &mut played.accesses);
    played
}

/// Takes what has completed since the last time; returns how many bytes.
fn take(workers: &mut [Worker], accesses: &mut Vec<OpRow>) -> f64 {
    let mut bytes = 0;
    for worker in workers {
        let mut interval = worker.take_interval();
        bytes += interval.ops.iter().map(|op| op.bytes.as_u64()).sum::<u64>();
        accesses.append(&mut interval.rows);
    }
    bytes as f64
}

/// A simulated drive without a controller: what is beside its media takes no time.
struct Behind {
    drive: Rc<RefCell<Drive>>,
    /// Token and length of what is under way, by the number under which the drive has it.
    lens: HashMap<u64, (u64, u32)>,
    next: u64,
}

impl VirtualDrive for Behind {
    fn submit(&mut self, now: Instant, io: Io) {
        self.lens.insert(self.next, (io.token, io.len));
        self.drive.borrow_mut().submit(now, self.next, io.op, io.offset, io.len);
        self.next += 1;
    }

    fn next_completion(&mut self) -> Option<Instant> {
        self.drive.borrow().next_completion()
    }

    fn advance(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Instant {
        let mut completed = Vec::new();
        let mut drive = self.drive.borrow_mut();
        drive.advance(until, &mut completed);
        for (number, t) in completed {
            let (token, len) = self.lens.remove(&number).unwrap_or_default();
            done.push(IoCompletion { token, t, result: Ok(len) });
        }
        drive.now()
    }

    fn sources(&self, _: &TelemetryPlan) -> Vec<(&'static str, Duration)> {
        Vec::new()
    }

    fn sample(&mut self, _: usize, now: Instant) -> Reading {
        Reading { row: TelemetryRow::failed(now, "none", Duration::ZERO, "no sensor"), page: None }
    }
}
