//! What threads of the load make their paths from.

use std::fs::File;
use std::sync::Arc;

use measure::{Bytes, Instant, MonotonicClock, Seed};

use nvme::host::tcp::TcpController;

use super::{FabricPath, Io, IoCompletion, IoPath, Namespace, NullPath, PathError, Ring};
use plan::Load;

/// The block of the null drive: the smallest of any drive.
pub(crate) const NULL_BLOCK_BYTES: u32 = 512;

/// Makes paths to one drive. Clones share its files.
#[derive(Clone, Debug)]
pub struct Access {
    to: Destination,
    /// Open for nothing but to keep others away.
    held: Arc<Vec<File>>,
}

#[derive(Clone, Debug)]
enum Destination {
    Null,
    Fabric { controller: TcpController, namespace: Namespace },
    Files { direct: Option<Arc<File>>, buffered: Option<Arc<File>>, used: Option<Bytes> },
}

impl Access {
    pub(crate) fn null() -> Self {
        Self::to(Destination::Null)
    }

    pub(crate) fn fabric(controller: TcpController, namespace: Namespace) -> Self {
        Self::to(Destination::Fabric { controller, namespace })
    }

    /// Paths over open files, for direct and for buffered I/O.
    pub fn files(direct: Option<Arc<File>>, buffered: Option<Arc<File>>) -> Self {
        Self::to(Destination::Files { direct, buffered, used: None })
    }

    /// The same over one regular file, which must stay as long as what is `used` of it.
    pub(crate) fn regular_file(direct: Option<Arc<File>>, buffered: Arc<File>, used: Bytes) -> Self {
        Self::to(Destination::Files { direct, buffered: Some(buffered), used: Some(used) })
    }

    /// The same, with files that stay open as long as it is there.
    pub(crate) fn holding(mut self, files: Vec<File>) -> Self {
        self.held = Arc::new(files);
        self
    }

    fn to(to: Destination) -> Self {
        Self { to, held: Arc::default() }
    }

    /// A path for one thread of `load`, to be used by the thread that calls this.
    ///
    /// # Errors
    /// When the kernel refuses a ring of that depth.
    ///
    /// # Panics
    /// When the drive was not prepared for such a load.
    pub fn path(&self, clock: MonotonicClock, load: &Load, seed: Seed) -> Result<Path, PathError> {
        match &self.to {
            Destination::Null => Ok(Path::Null(NullPath::new(clock, load.depth.as_usize()))),
            Destination::Fabric { controller, namespace } => {
                FabricPath::new(clock, controller, *namespace, load, seed).map(Box::new).map(Path::Fabric)
            }
            Destination::Files { direct, buffered, used } => {
                let file = if load.direct { direct } else { buffered };
                let file = file.as_ref().expect("the drive was prepared for the plan that the load is from");
                let ring = Ring::new(clock, Arc::clone(file), load, seed)?.watching(*used);
                Ok(Path::Ring(Box::new(ring)))
            }
        }
    }
}

/// A path to a drive in real time.
pub enum Path {
    /// A file or a device.
    Ring(Box<Ring>),
    /// A subsystem on a network.
    Fabric(Box<FabricPath>),
    /// Nowhere.
    Null(NullPath<MonotonicClock>),
}

impl Path {
    /// Whether what was loaded is still there, looked at when the load is over.
    ///
    /// # Errors
    /// When it is a file that somebody has made shorter.
    pub fn check_target(&self) -> Result<(), PathError> {
        match self {
            Self::Ring(ring) => ring.check_length(),
            Self::Fabric(_) | Self::Null(_) => Ok(()),
        }
    }

    /// What was done another way than it should be, for the record.
    pub fn note(&self) -> Option<&str> {
        match self {
            Self::Ring(ring) => ring.note(),
            Self::Fabric(_) | Self::Null(_) => None,
        }
    }
}

impl IoPath for Path {
    #[inline]
    fn now(&self) -> Instant {
        match self {
            Self::Ring(path) => path.now(),
            Self::Fabric(path) => path.now(),
            Self::Null(path) => path.now(),
        }
    }

    #[inline]
    fn queue(&mut self, io: Io) {
        match self {
            Self::Ring(path) => path.queue(io),
            Self::Fabric(path) => path.queue(io),
            Self::Null(path) => path.queue(io),
        }
    }

    #[inline]
    fn batch_max(&self) -> usize {
        match self {
            Self::Ring(path) => path.batch_max(),
            Self::Fabric(path) => path.batch_max(),
            Self::Null(path) => path.batch_max(),
        }
    }

    #[inline]
    fn commit(&mut self) -> Result<Instant, PathError> {
        match self {
            Self::Ring(path) => path.commit(),
            Self::Fabric(path) => path.commit(),
            Self::Null(path) => path.commit(),
        }
    }

    #[inline]
    fn reap(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Result<(), PathError> {
        match self {
            Self::Ring(path) => path.reap(until, done),
            Self::Fabric(path) => path.reap(until, done),
            Self::Null(path) => path.reap(until, done),
        }
    }
}
