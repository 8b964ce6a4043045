//! Watching a drive under a load that is not ours: the parts that know no clock, no file and no drive.
//!
//! - `slice`: two readings of block statistics -> throughput, latency, queue.
//! - `reference`: latency at equal concurrency, learned while the drive is cool.
//! - `detector`: when throttling begins and ends, and what caused it; `event`: the same in a sentence.
//! - `drive`: all that is known of one watched drive; `live`: the same for faces, as JSON.
//! - `metrics`: the same for Prometheus: one table makes exposition and documents.
//! - `clocks`: sleep and set clocks. `keep`: which parts of a long record are deleted.
//!
//! It reads nothing and writes nothing: rows come in, in order of time, and everything else follows from them. Memory is
//! bounded whatever the length of the watch.

pub mod clocks;
pub mod detector;
pub mod drive;
pub mod event;
pub mod keep;
pub mod live;
pub mod metrics;
pub mod reference;
pub mod slice;

pub use clocks::{ClockEvent, ClockReading, clock_events};
pub use detector::{Detector, KnownLimits, TmtCounters};
pub use drive::{AboutDrive, DriveWatch, Update};
pub use event::{SlowCause, WatchEvent, WatchEventKind};
pub use keep::{ClosedPart, KeepRule};
pub use live::{LIVE_SCHEMA, LiveDocument, LiveDrive, LiveLimits, LivePoint};
pub use metrics::{OwnFigures, expose};
pub use slice::{LoadSlice, OpSlice};
