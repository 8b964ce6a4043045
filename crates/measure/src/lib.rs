//! What every other crate measures with: quantities, time, series, histograms and the run record.
//!
//! # Architecture
//! - [`units`]: one small type a quantity, built and read by a name that carries the unit.
//! - [`cells`]: comma-separated text, line by line.
//! - [`parse`]: quantities as people type them (`65C`, `4GiB`, `5m`, `1.2GB/s`).
//! - [`nearest`]: "did you mean", the valid names most like one that is not.
//! - [`time`]: instants on the run's own clock, and the two clocks (monotonic, virtual).
//! - [`histogram`]: latencies with a stated error bound.
//! - [`series`]: readings over time in which a missing reading is a gap with a reason.
//! - [`mod@visible`]: text from elsewhere without characters that steer a terminal.
//! - [`input`]: files that somebody names, and what is none.
//! - [`patient`]: files whose interrupted system calls have an end.
//! - [`record`]: the run folder, written append-only while running and read back whole or cut short.
//!
//! # What it does not do
//! It touches no drive, draws no conclusion and knows no protocol.
//! This is the leaf: it depends on none of our crates.

pub mod cells;
pub mod histogram;
pub mod input;
pub mod nearest;
pub mod parse;
pub mod patient;
pub mod record;
pub mod series;
pub mod time;
pub mod units;
pub mod visible;

pub use cells::{CellSplitter, Cells};
pub use histogram::Histogram;
pub use series::{Gap, Point, Series};
pub use time::{Clock, Instant, MonotonicClock, VirtualClock};
pub use units::{Bytes, BytesPerSec, Celsius, Kelvin, Lba, QueueDepth, Seed, Watts};
pub use visible::{is_hidden, visible};
