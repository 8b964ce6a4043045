//! The one loop of the load: make what is due, hand it over, wait, account.
//!
//! A real thread runs it for one worker over its own path. A simulated session runs it for all workers over one
//! simulated drive, and its tick is where samplers and the recorder have their turn. Time comes from the path.

use std::time::Duration;

use measure::Instant;

use super::path::{Completion, Io, IoPath, PathError};
use super::worker::Worker;

/// A drive that completes nothing for so long while a load runs does not answer.
///
/// Four times the kernel's limit for one NVMe command (nvme_core.io_timeout, 30 s): time to abort, to reset the
/// controller and to try again.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);

/// The same once the load is over and only I/Os in flight are waited for: the kernel's limit and a little.
const DRAIN_LIMIT: Duration = Duration::from_secs(35);

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
        if in_flight > 0 && now.since(answered) >= limit {
            return Err(PathError::NoAnswer { in_flight, seconds: limit.as_secs() });
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

/// Makes every I/O that is due and hands them over.
#[inline]
fn make<P: IoPath>(now: Instant, workers: &mut [Worker], path: &mut P) -> Result<Round, PathError> {
    let mut round = Round { wake: Instant::NEVER, in_flight: 0, making: false };
    let mut queued = false;
    for (index, worker) in workers.iter_mut().enumerate() {
        round.wake = round.wake.min(worker.fill(now, index as u32, path));
        round.in_flight += worker.in_flight();
        round.making |= worker.ended().is_none();
        queued |= worker.has_queued();
    }
    if queued {
        let issued = path.commit()?;
        workers.iter_mut().for_each(|worker| worker.issued(issued));
    }
    Ok(round)
}

/// Accounts for what has completed, closing intervals on the way.
#[inline]
fn account<P: IoPath>(
    done: &mut Vec<Completion>,
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
