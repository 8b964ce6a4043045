//! How I/O goes to a drive: one submission and completion interface, and those who implement it.

mod access;
mod buffers;
mod fabric;
mod length;
mod null;
mod page_cache;
mod path;
mod ring;
mod ring_trim;
mod simulated;

pub(crate) use access::NULL_BLOCK_BYTES;
pub use access::{Access, Path};
pub use buffers::{SECTOR_BYTES, Stamps};
pub use fabric::{FabricPath, Namespace};
pub use null::NullPath;
pub use page_cache::{PageCache, SimulatedHost};
pub use path::{EIO, Io, IoCompletion, IoPath, PathError};
pub use ring::{Ring, probe_ring};
pub(crate) use ring_trim::discard_range;
pub use simulated::{VirtualDrive, VirtualPath};
