//! How I/O goes to a drive: one submission and completion interface, and those who implement it.

mod buffers;
mod fabric;
mod null;
mod path;
mod ring;
mod ring_trim;

pub use buffers::{SECTOR_BYTES, Stamps};
pub use fabric::{FabricPath, Namespace};
pub use null::NullPath;
pub use path::{Completion, EIO, Io, IoPath, PathError};
pub use ring::{Ring, probe_ring};
