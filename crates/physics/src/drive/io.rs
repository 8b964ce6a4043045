//! Single I/Os: a queue in front of one pipe, and latency after it.
//!
//! Speeds are constant within a tick, so everything that the pipe does until the tick's end is
//! known as soon as the tick begins; a command that the end cuts in two goes on at the next tick's
//! speed. Commands enter the pipe in the order they came.

use std::collections::VecDeque;

use measure::Instant;
use measure::record::Op;

use super::Drive;
use crate::media::MediaAccess;

/// Commands waiting, the one in the pipe, and those past it.
#[derive(Clone, Debug)]
pub(super) struct Pipe {
    queue: VecDeque<QueuedIo>,
    /// What is left of the command in front: 1 when the pipe has not touched it.
    front_left: f64,
    front_access: MediaAccess,
    /// When the pipe is free for the command in front, in nanoseconds.
    free_at_ns: f64,
    finishing: Finishing,
}

/// Commands past the pipe, in the order in which they complete.
///
/// They come in nearly that order: latency shuffles those that left the pipe within it. To look for a place from the
/// back passes these few and no others, and beats a heap by half.
#[derive(Clone, Debug)]
struct Finishing {
    /// Completion in nanoseconds, and token.
    commands: VecDeque<(u64, u64)>,
}

impl Finishing {
    /// When the first one completes.
    #[inline]
    fn first_ns(&self) -> Option<u64> {
        self.commands.front().map(|(at_ns, _)| *at_ns)
    }

    /// Adds a command; of two that complete at the same time the one that was served first comes first.
    #[inline]
    fn push(&mut self, at_ns: u64, token: u64) {
        let later = self.commands.iter().rev().take_while(|(other_ns, _)| *other_ns > at_ns).count();
        match later {
            0 => self.commands.push_back((at_ns, token)),
            _ => self.commands.insert(self.commands.len() - later, (at_ns, token)),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct QueuedIo {
    token: u64,
    arrival_ns: u64,
    offset_bytes: u64,
    len_bytes: u32,
    op: Op,
    sequential: bool,
}

impl Pipe {
    pub(super) const fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            front_left: 1.0,
            front_access: MediaAccess::Trim,
            free_at_ns: 0.0,
            finishing: Finishing { commands: VecDeque::new() },
        }
    }

    /// Whether nothing is waiting and nothing is in the pipe or past it.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.finishing.commands.is_empty()
    }
}

impl Drive {
    /// Hands the drive one command; it comes back from [`Drive::advance`] by its `token`.
    ///
    /// `now` must not lie before the drive's present, and everything due before it must have been
    /// taken with [`Drive::advance`]. [`Op::Idle`] completes at once and does nothing.
    pub fn submit(&mut self, now: Instant, token: u64, op: Op, offset_bytes: u64, len_bytes: u32) {
        debug_assert!(now.as_ns() >= self.now_ns, "a command from the past: {now} before {}", self.now());
        let arrival_ns = now.as_ns().max(self.now_ns);
        self.wake(arrival_ns);
        let sequential = self.streams.continues(offset_bytes, u64::from(len_bytes));
        self.pipe.queue.push_back(QueuedIo { token, arrival_ns, offset_bytes, len_bytes, op, sequential });
        self.serve();
    }

    /// Commands that were submitted and have not come back.
    pub fn outstanding(&self) -> usize {
        self.pipe.queue.len() + self.pipe.finishing.commands.len()
    }

    /// The instant up to which to advance for the next completion; `None` when nothing is under way.
    ///
    /// Exact when the completion falls into the running firmware tick. Otherwise it is the end of
    /// that tick, at which speeds may change and nothing may complete: advance, then ask again.
    pub fn next_completion(&self) -> Option<Instant> {
        let finishing = self.pipe.finishing.first_ns();
        let waiting = (!self.pipe.queue.is_empty()).then(|| self.tick_end_ns());
        [finishing, waiting].into_iter().flatten().min().map(Instant::from_ns)
    }

    /// Moves time to `until`, or to the first completion before or at it.
    ///
    /// What completes at that one instant is appended to `done` as (token, completion).
    pub fn advance(&mut self, until: Instant, done: &mut Vec<(u64, Instant)>) {
        let until_ns = until.as_ns();
        loop {
            self.serve();
            let tick_end_ns = self.tick_end_ns();
            if let Some(at_ns) = self.pipe.finishing.first_ns()
                && at_ns <= until_ns.min(tick_end_ns)
            {
                self.now_ns = self.now_ns.max(at_ns);
                self.complete(at_ns, done);
                return;
            }
            if until_ns < tick_end_ns {
                self.now_ns = self.now_ns.max(until_ns);
                return;
            }
            let whole = if self.pipe.is_empty() {
                let left = until_ns / self.grain.tick_ns() - self.tick;
                self.quiet_ticks().min(left).max(1)
            } else {
                1
            };
            self.end_span(whole);
        }
    }

    /// Takes what completes at `at_ns` out.
    #[inline]
    fn complete(&mut self, at_ns: u64, done: &mut Vec<(u64, Instant)>) {
        while let Some((next_ns, token)) = self.pipe.finishing.commands.pop_front_if(|next| next.0 <= at_ns) {
            done.push((token, Instant::from_ns(next_ns)));
        }
    }

    /// Lets the pipe work up to the end of the running tick.
    #[inline]
    fn serve(&mut self) {
        let tick_end_ns = self.tick_end_ns() as f64;
        while let Some(&command) = self.pipe.queue.front() {
            let start_ns = self.pipe.free_at_ns.max(command.arrival_ns as f64);
            if start_ns >= tick_end_ns {
                return;
            }
            if self.pipe.front_left == 1.0 {
                self.pipe.front_access = self.begin(&command);
            }
            let len = f64::from(command.len_bytes);
            let whole_ns = self.rates.service_ns(self.pipe.front_access, len);
            let service_ns = whole_ns * self.pipe.front_left;
            let end_ns = start_ns + service_ns;
            if end_ns > tick_end_ns {
                let share = (tick_end_ns - start_ns) / whole_ns;
                // A share of exactly nothing left would pass for an untouched command.
                let left = (self.pipe.front_left - share).clamp(0.0, 1.0 - f64::EPSILON);
                // A shut pipe moves nothing and is not busy.
                if whole_ns.is_finite() {
                    self.account(command.op, share * len, tick_end_ns - start_ns);
                    self.pipe.front_left = left;
                }
                self.pipe.free_at_ns = tick_end_ns;
                return;
            }
            self.account(command.op, self.pipe.front_left * len, service_ns);
            self.pipe.queue.pop_front();
            self.pipe.front_left = 1.0;
            self.pipe.free_at_ns = end_ns;
            self.counts.command(command.op, command.len_bytes);
            let at_ns = (end_ns + self.latencies.draw_ns(command.op)) as u64;
            self.pipe.finishing.push(at_ns.max(command.arrival_ns), command.token);
        }
    }

    /// What a command does to the cache as the pipe takes it up, and the kind of access it is.
    #[inline]
    fn begin(&mut self, command: &QueuedIo) -> MediaAccess {
        let access = MediaAccess::new(command.op, command.sequential);
        let (offset, len) = (command.offset_bytes, u64::from(command.len_bytes));
        let must_erase = self.must_erase();
        if command.op == Op::Trim {
            self.give_back(len);
        }
        if must_erase && command.op == Op::Write && command.sequential {
            return MediaAccess::DirectWrite;
        }
        match (command.op, &mut self.slc) {
            (Op::Write, Some(slc)) if slc.takes(offset) => {
                slc.write(offset, len, command.sequential);
            }
            (Op::Write, Some(_)) => return MediaAccess::DirectWrite,
            (Op::Trim, Some(slc)) => slc.trim(offset, len),
            _ => {}
        }
        if must_erase && command.op == Op::Write { MediaAccess::ErasingWrite } else { access }
    }

    #[inline]
    fn account(&mut self, op: Op, bytes: f64, busy_ns: f64) {
        self.work.busy_ns += busy_ns;
        match op {
            Op::Read => self.work.read_bytes += bytes,
            Op::Write => self.work.write_bytes += bytes,
            Op::Trim | Op::Idle => {}
        }
    }

    /// A command wakes a drive out of a power state that processes none.
    pub(super) fn wake(&mut self, at_ns: u64) {
        let states = &self.profile.power_state;
        let state = &states[usize::from(self.power_state)];
        if state.operational {
            return;
        }
        let exit_ns = f64::from(state.exit_us) * 1e3;
        self.power_state = states.iter().rposition(|state| state.operational).unwrap_or(0) as u8;
        self.pipe.free_at_ns = self.pipe.free_at_ns.max(at_ns as f64) + exit_ns;
        self.refresh();
    }
}
