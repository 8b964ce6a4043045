//! The one loop of the load: make what is due, hand it over, wait, account.
//!
//! A real thread runs it for one worker over its own path. A simulated session runs it for all workers over one
//! simulated drive, and its tick is where samplers and the recorder have their turn. Time comes from the path.

use std::time::Duration;

use measure::Instant;

use super::worker::Worker;
use drive::io::{Io, IoCompletion, IoPath, PathError};

/// A drive that completes nothing for so long while a load runs does not answer.
///
/// Four times the kernel's limit for one NVMe command (nvme_core.io_timeout, 30 s): time to abort, to reset the
/// controller and to try again.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);

/// The same once the load is over and only I/Os in flight are waited for: the kernel's limit and a little.
const DRAIN_LIMIT: Duration = Duration::from_secs(35);

/// The same of a drive that is known to answer later: a thermal stop of a simulated drive is what is measured there. Where
/// the air is warmer than the drive has to be, it never goes on.
pub(crate) const STOP_LIMIT: Duration = Duration::from_secs(3600);

/// What a tick wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// When to be called again, at the latest; later than the time it was called at.
    pub next: Instant,
    /// Leave at once, without waiting for what is in flight.
    pub leave: bool,
}

/// Drives `workers` over `path` until all have ended and nothing is in flight, and not before `hold`.
///
/// `tick` is called at the beginning and then whenever its time has come, before any completion of that time or
/// later is accounted for: an interval that it closes at `now` holds exactly what completed before `now`.
///
/// # Errors
/// When the path cannot go on, or the drive does not answer.
pub fn drive<P: IoPath>(
    workers: &mut [Worker],
    path: &mut P,
    hold: Instant,
    mut tick: impl FnMut(Instant, &mut [Worker], &mut P) -> Tick,
) -> Result<(), PathError> {
    let mut done = Vec::with_capacity(workers.iter().map(Worker::depth).sum());
    let mut now = path.now();
    let mut answered = now;
    let mut due = tick(now, workers, path);
    while !due.leave {
        let Round { wake, in_flight, making } = make(now, workers, path)?;
        if in_flight == 0 {
            if !making && now >= hold {
                return Ok(());
            }
            answered = now;
        }
        let wake = if making { wake } else { wake.min(if in_flight == 0 { hold } else { Instant::NEVER }) };
        path.reap(wake.min(due.next), &mut done)?;
        if let Some(last) = done.last() {
            answered = last.t;
            due = account(&mut done, due, workers, path, &mut tick);
        }
        now = path.now();
        if now >= due.next && !due.leave {
            due = tick(now, workers, path);
        }
        let limit = if making { ANSWER_LIMIT } else { DRAIN_LIMIT };
        let silent = now.since(answered);
        if in_flight > 0 && silent >= limit && (silent >= STOP_LIMIT || !path.answers_later()) {
            return Err(PathError::NoAnswer { in_flight, seconds: limit.max(silent).as_secs() });
        }
    }
    Ok(())
}

/// What one round of making I/Os has come to.
struct Round {
    /// When a worker wants to make its next, completions aside.
    wake: Instant,
    in_flight: usize,
    /// Whether any worker may make more.
    making: bool,
}

/// Makes every I/O that is due and hands them over, as many at once as the path takes.
#[inline]
fn make<P: IoPath>(mut now: Instant, workers: &mut [Worker], path: &mut P) -> Result<Round, PathError> {
    loop {
        let mut round = Round { wake: Instant::NEVER, in_flight: 0, making: false };
        let mut queued = false;
        for (index, worker) in workers.iter_mut().enumerate() {
            round.wake = round.wake.min(worker.fill(now, index as u32, path));
            round.in_flight += worker.in_flight();
            round.making |= worker.is_making();
            queued |= worker.has_queued();
        }
        if !queued {
            return Ok(round);
        }
        let issued = path.commit()?;
        workers.iter_mut().for_each(|worker| worker.issued(issued));
        if round.wake > now {
            return Ok(round);
        }
        now = issued;
    }
}

/// Accounts for what has completed, closing intervals on the way.
#[inline]
fn account<P: IoPath>(
    done: &mut Vec<IoCompletion>,
    mut due: Tick,
    workers: &mut [Worker],
    path: &mut P,
    tick: &mut impl FnMut(Instant, &mut [Worker], &mut P) -> Tick,
) -> Tick {
    for completion in done.drain(..) {
        if completion.t >= due.next {
            let next = tick(completion.t, workers, path);
            due = Tick { leave: due.leave || next.leave, ..next };
        }
        workers[Io::worker(completion.token) as usize].complete(&completion);
    }
    due
}

#[cfg(test)]
mod test {
    use measure::record::Op;
    use measure::{Bytes, QueueDepth, Seed, VirtualClock};

    use super::super::{Control, Ended, Halt, WorkerSpec};
    use super::*;
    use drive::io::IoPath;
    use drive::io::NullPath;
    use plan::{Load, Mix, Order, Sizes};

    fn worker(load: &Load, control: Control) -> Worker {
        Worker::new(WorkerSpec {
            load,
            region: 0..1000 * 4096,
            thread: 0,
            worker: 0,
            phase: 0,
            seed: Seed::new(1),
            start: Instant::ZERO,
            end: Instant::NEVER,
            record_ops: false,
            control,
        })
        .expect("a load that fits")
    }

    fn load(laps: u32) -> Load {
        let depth = QueueDepth::new(32).expect("not zero");
        Load { depth, laps: Some(laps), ..Load::new("l", Order::Random, Mix::READ, Sizes::Fixed(4096)) }
    }

    fn tick<P>(now: Instant, _: &mut [Worker], _: &mut P) -> Tick {
        Tick { next: now + Duration::from_secs(1), leave: false }
    }

    #[test]
    fn a_lap_on_the_null_path_is_as_many_ios_as_there_are_blocks() {
        let load = load(3);
        let mut worker = worker(&load, Control::new(0));
        let mut path = NullPath::new(VirtualClock::new(), worker.depth());
        drive(std::slice::from_mut(&mut worker), &mut path, Instant::ZERO, tick).expect("it answers at once");
        let stats = worker.take_interval();
        assert_eq!((stats.ops.len(), stats.ops[0].op), (1, Op::Read));
        assert_eq!((stats.ops[0].ios, stats.ops[0].bytes), (3000, Bytes::new(3000 * 4096)));
        assert_eq!(stats.ops[0].clat.max(), Some(Duration::ZERO));
        assert_eq!(worker.ended(), Some(Ended::Laps));
        assert_eq!(worker.take_interval().ops[0].ios, 0, "taken is taken");
    }

    #[test]
    fn a_halted_load_makes_no_io() {
        let load = load(3);
        let control = Control::new(0);
        control.halt(Halt::AtOnce);
        control.halt(Halt::Drain);
        assert_eq!(control.halted(), Halt::AtOnce, "never taken back");
        assert_eq!(control.next_phase().halted(), Halt::No);
        let mut worker = worker(&load, control);
        let mut path = NullPath::new(VirtualClock::new(), worker.depth());
        drive(std::slice::from_mut(&mut worker), &mut path, Instant::ZERO, tick).expect("it answers at once");
        assert_eq!((worker.ended(), worker.take_interval().ops[0].ios), (Some(Ended::Halted), 0));
    }

    /// A path that takes three at once and answers at the end of time.
    struct Narrow {
        queued: usize,
        committed: Vec<usize>,
    }

    impl IoPath for Narrow {
        fn now(&self) -> Instant {
            Instant::ZERO
        }

        fn queue(&mut self, _: Io) {
            self.queued += 1;
        }

        fn batch_max(&self) -> usize {
            3
        }

        fn commit(&mut self) -> Result<Instant, PathError> {
            self.committed.push(std::mem::take(&mut self.queued));
            Ok(self.now())
        }

        fn reap(&mut self, _: Instant, _: &mut Vec<IoCompletion>) -> Result<(), PathError> {
            Ok(())
        }
    }

    #[test]
    fn a_path_is_handed_no_more_than_it_takes_at_once_and_the_depth_is_kept() {
        let mut workers = [worker(&load(3), Control::new(0))];
        let mut path = Narrow { queued: 0, committed: Vec::new() };
        let round = make(Instant::ZERO, &mut workers, &mut path).expect("it takes everything");
        assert_eq!(path.committed, [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2]);
        assert_eq!((round.in_flight, round.making), (32, true));
    }

    /// A path that loses every I/O and lets a second pass at each wait.
    struct Lossy(VirtualClock);

    impl IoPath for Lossy {
        fn now(&self) -> Instant {
            use measure::Clock as _;
            self.0.now()
        }

        fn queue(&mut self, _: Io) {}

        fn batch_max(&self) -> usize {
            usize::MAX
        }

        fn commit(&mut self) -> Result<Instant, PathError> {
            Ok(self.now())
        }

        fn reap(&mut self, until: Instant, _: &mut Vec<IoCompletion>) -> Result<(), PathError> {
            self.0.advance_to(until);
            Ok(())
        }
    }

    /// Goal: the limit counts from the last answer, and is shorter once the load is over.
    #[test]
    fn a_drive_that_loses_io_is_given_up_after_the_limit() {
        for (end, given_up) in [(Instant::NEVER, 120), (Instant::from_ns(10_000_000_000), 35)] {
            let load = load(3);
            let span = (end < Instant::NEVER).then(|| end.since(Instant::ZERO));
            let mut worker = worker(&Load { duration: span, ..load }, Control::new(0));
            let mut path = Lossy(VirtualClock::new());
            let error = drive(std::slice::from_mut(&mut worker), &mut path, Instant::ZERO, tick);
            let Err(PathError::NoAnswer { in_flight, seconds }) = error else { panic!("{error:?}") };
            assert_eq!((in_flight, seconds), (32, given_up));
            assert_eq!(path.now().as_ns() / 1_000_000_000, given_up);
        }
    }
}
