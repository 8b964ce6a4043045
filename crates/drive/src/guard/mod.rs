//! The guard: what must be true before a block device is written to or trimmed.
//!
//! # Architecture
//! - [`Permission`]: what the user typed - the drive's serial number, and what else may be destroyed or passed over.
//! - [`examine`]: looks at a device and finds every [`Situation`] that speaks against writing. [`Kind`] is the list
//!   of them: hard ones are never passed over, soft ones have a word that permits them.
//! - [`claim`]: opens the device for writing, exclusively, and makes sure that it still is what was examined.
//! - `drive` (which disk, which partitions, whose serial), `ways` (which other devices lead to it), `uses` (who has
//!   it), `signatures` and `blkid` (what is on it) find things out; they decide nothing.
//!
//! # What it does not do
//! It writes nothing. Reading a drive does not pass through it: a device that is only read is opened read-only.
//! It cannot see data that looks like none: a database or a plain dm-crypt volume without a header.
//!
//! The table of situations that people are told stands in `docs/SAFETY.md`. The folders of the kernel are parameters
//! ([`Roots`]), so that made-up trees serve as machines in tests.

mod blkid;
mod claim;
mod drive;
mod kind;
pub mod signatures;
mod uses;
mod ways;

pub use claim::{Claim, claim};
pub use drive::{DeviceIdentity, NO_SERIAL, namespace_id, takes_trims};
pub use kind::{Kind, UnknownWord};

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use measure::Bytes;
use thiserror::Error;

use drive::Device;

/// Where the kernel shows itself.
#[derive(Clone, Debug)]
pub struct Roots {
    /// `/sys`.
    pub sys: PathBuf,
    /// `/proc`.
    pub proc: PathBuf,
    /// `/dev`.
    pub dev: PathBuf,
}

impl Roots {
    /// Those of this machine.
    pub fn system() -> Self {
        Self { sys: "/sys".into(), proc: "/proc".into(), dev: "/dev".into() }
    }
}

/// What the user has given away, in so many words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// The serial number of the drive whose data may be destroyed, or [`NO_SERIAL`].
    pub destroy: String,
    /// Soft situations that are passed over.
    pub even_if: Vec<Kind>,
}

/// One thing that speaks against writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Situation {
    /// What kind of thing.
    pub kind: Kind,
    /// What was found, as a sentence without its full stop.
    pub text: String,
}

impl Situation {
    pub(crate) fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

impl fmt::Display for Situation {
    /// What was found, and what to do about it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.text)?;
        match self.kind.word() {
            Some(word) => write!(f, "if it may be destroyed or passed over, add --even-if {word}"),
            None => f.write_str(self.kind.advice()),
        }
    }
}

/// A device that was looked at, and everything that speaks against writing to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The path that was examined.
    pub path: PathBuf,
    /// Which device it is.
    pub identity: DeviceIdentity,
    /// What speaks against writing, the hard things first.
    pub situations: Vec<Situation>,
    /// What could not be looked at, for the record.
    pub notes: Vec<String>,
}

/// Why a device is not written to.
#[derive(Debug, Error)]
pub enum GuardError {
    /// There are reasons.
    #[error("will not write to {path}, which is {drive}:{}\nNothing was written.", listed(reasons))]
    Refused {
        /// The device.
        path: PathBuf,
        /// Which drive that is.
        drive: String,
        /// Every reason, and what to do about it.
        reasons: Vec<Situation>,
    },
    /// It is no block device.
    #[error("cannot write to {path}: it is no block device")]
    NotBlock {
        /// The path.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {what} {path}: {source}; check the path, or run as root")]
    Io {
        /// What was attempted, as a verb.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn listed(reasons: &[Situation]) -> String {
    reasons.iter().map(|reason| format!("\n  - {reason}")).collect()
}

/// Looks at the device at `path`, opened for reading only, and finds all that speaks against writing to it.
///
/// `shared` is what the drive itself says about other controllers having this namespace, where it was asked.
///
/// # Errors
/// When it cannot be opened, or is no block device.
pub fn examine(path: &Path, roots: &Roots, shared: Option<bool>) -> Result<Examined, GuardError> {
    let file = OpenOptions::new().read(true).open(path).map_err(io_error("open", path))?;
    let device = Device::of_file(&file, path, roots)?;
    Ok(examine_device(path, &device, &file, roots, shared, blkid::probe))
}

/// Another tool's opinion of what is on a device.
type Opinion = fn(&Path) -> Result<Vec<signatures::Signature>, String>;

/// The same for a device that is known and open.
fn examine_device(
    path: &Path,
    device: &Device,
    file: &File,
    roots: &Roots,
    shared: Option<bool>,
    opinion: Opinion,
) -> Examined {
    let mut notes = Vec::new();
    let mut situations = device.situations(roots, shared);
    situations.extend(uses::find(device, roots, &mut notes));
    situations.extend(signatures::of_device(device, file, roots, opinion, &mut notes));
    // The hard ones first: what cannot be permitted is what to deal with.
    situations.sort_by_key(|situation| situation.kind);
    situations.dedup();
    Examined { path: path.to_owned(), identity: device.identity.clone(), situations, notes }
}

impl Examined {
    /// Whether `permission` suffices for what was found.
    ///
    /// # Errors
    /// [`GuardError::Refused`] with every reason.
    pub fn decide(&self, permission: &Permission) -> Result<(), GuardError> {
        let mut reasons: Vec<Situation> = self.wrong_serial(&permission.destroy).into_iter().collect();
        let stands = |situation: &&Situation| {
            situation.kind.word().is_none() || !permission.even_if.contains(&situation.kind)
        };
        reasons.extend(self.situations.iter().filter(stands).cloned());
        if reasons.is_empty() {
            return Ok(());
        }
        Err(GuardError::Refused { path: self.path.clone(), drive: self.identity.to_string(), reasons })
    }

    /// What `permission` passes over, for the record.
    pub fn passed_over(&self) -> impl Iterator<Item = &str> {
        self.situations.iter().map(|situation| situation.text.as_str())
    }

    fn wrong_serial(&self, typed: &str) -> Option<Situation> {
        let path = self.path.display();
        let text = match &self.identity.drive.serial {
            Some(serial) if serial == typed.trim() => return None,
            Some(serial) => {
                format!("the serial number of the drive is {serial:?}, and --destroy names {typed:?}")
            }
            None if typed == NO_SERIAL => return None,
            None => format!("{path} tells no serial number, so {typed:?} cannot be compared with one"),
        };
        Some(Situation::new(Kind::WrongSerial, text))
    }
}

/// Makes a [`GuardError::Io`] of what the system said.
fn io_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GuardError {
    let path = path.to_owned();
    move |source| GuardError::Io { what, path, source }
}

/// Major and minor number of the block device that `file` is.
fn device_number(file: &File, path: &Path) -> Result<(u32, u32), GuardError> {
    let metadata = file.metadata().map_err(io_error("look at", path))?;
    if !metadata.file_type().is_block_device() {
        return Err(GuardError::NotBlock { path: path.to_owned() });
    }
    Ok((rustix::fs::major(metadata.rdev()), rustix::fs::minor(metadata.rdev())))
}

/// A size for people.
fn size(bytes: u64) -> Bytes {
    Bytes::new(bytes)
}

#[cfg(test)]
mod test;
