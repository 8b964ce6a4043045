//! The load engine: keeps I/Os in flight as a plan says, and accounts for them by interval.
//!
//! # Architecture
//! - [`drive::io`]: where I/O goes and which clock tells its time.
//! - [`Worker`]: one thread's share of one load, a state machine without a clock.
//! - [`drive()`]: the one loop, for real threads and for simulated sessions.
//! - [`Control`]: stops a load from outside.
//!
//! # What it does not do
//! It opens nothing, writes no record and knows no plan as a whole: `session` does that.

mod ceiling;
mod control;
mod draw;
mod engine;
#[cfg(test)]
pub(crate) mod fake;
mod interval;
mod offsets;
mod pace;
mod permutation;
#[cfg(test)]
mod ring_test;
#[cfg(test)]
mod split_test;
mod worker;

pub use ceiling::Ceiling;
pub use control::{Control, Halt, WriteBudget};
pub(crate) use engine::STOP_LIMIT;
pub use engine::{Tick, drive};
pub use interval::{IntervalStats, OpStats};
pub use worker::{Ended, Worker, WorkerSpec};

use thiserror::Error;

/// Why a load cannot be run as it is.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LoadError {
    /// Nothing to draw sizes from.
    #[error("the sizes of the I/Os cannot be drawn: {why}")]
    Sizes {
        /// What is wrong with them.
        why: &'static str,
    },
    /// An alignment of zero.
    #[error("offsets cannot be multiples of zero bytes; leave the alignment out, or give the block size")]
    Align,
    /// An I/O does not fit.
    #[error(
        "{}has {part_bytes} bytes of the region and an I/O has {io_bytes}; \
         use a larger region, fewer threads or smaller I/Os",
        if *threads > 1 { format!("each of {threads} threads ") } else { "a thread ".to_owned() }
    )]
    Region {
        /// Bytes of the region for one thread.
        part_bytes: u64,
        /// The largest I/O.
        io_bytes: u32,
        /// How many threads share the region.
        threads: u16,
    },
}

#[cfg(test)]
mod test {
    use plan::{Load, Mix, Order, Sizes};

    /// A load that tests change as they need: random reads of 4 KiB, one in flight.
    pub(crate) fn load() -> Load {
        Load::new("test", Order::Random, Mix::READ, Sizes::Fixed(4096))
    }
}
