//! The journal of settings: what was found before the first change, where it survives the process and the power.
//!
//! One file a drive, named by who the drive is and not by where it is plugged in. It is written beside, synced,
//! renamed and its folder synced before the first command that changes anything; it is removed when everything
//! has been put back. A journal that is there while nobody holds its lock is what a killed run has left.
//!
//! The order is that of every write-ahead log; what a file system promises about it is told in Pillai and others,
//! "All File Systems Are Not Created Equal" (OSDI 2014): without the sync before the rename a crash may leave an
//! empty file, without the sync of the folder none.

mod disk;
#[cfg(any(test, feature = "fakes"))]
pub mod memory;
mod place;

pub use disk::{Disk, FolderDisk, JournalLock};
pub use place::{STATE_DIR_ENV, places, state_folder};

use std::fmt;
use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Setting, Value};
use crate::cgroup::LimitEntry;

/// Version of the journal's format.
const SCHEMA: u32 = 1;

/// Who a drive is, wherever it is plugged in. Serial numbers alone are not unique: some makers give them twice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JournalIdentity {
    /// Model number (MN).
    pub model: String,
    /// Serial number (SN).
    pub serial: String,
    /// NVMe qualified name of the subsystem (SUBNQN), where it has one.
    pub subsystem_nqn: Option<String>,
}

/// What was found on a drive before it was changed. This is a file format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Journal {
    /// Version of the format.
    pub schema: u32,
    /// Version of heatsoak that wrote it.
    pub heatsoak_version: String,
    /// The drive.
    pub drive: JournalIdentity,
    /// Where it was, when the journal was written.
    pub device: String,
    /// What changes the settings: "run hctm-read".
    pub why: String,
    /// The process that does.
    pub pid: u32,
    /// When it was written, in nanoseconds since 1970-01-01 UTC; 0 in simulated time.
    pub wall_unix_ns: i64,
    /// The settings, in the order in which they are changed.
    pub settings: Vec<JournalEntry>,
    /// Limits of control groups on the drive's load: the kernel's, not the drive's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitEntry>,
}

/// One setting that is changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Which.
    pub setting: Setting,
    /// As it was found: what is put back.
    pub found: Value,
    /// The same for people.
    pub found_text: String,
    /// What it was set to.
    pub set: Value,
    /// The drive's default, where it tells.
    pub default: Option<Value>,
    /// The drive's saved value, where it tells.
    pub saved: Option<Value>,
    /// A value to set before the one that was found.
    pub by_way_of: Option<Value>,
}

/// Why a journal was not written, read or removed.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The system refused.
    #[error(
        "cannot {what} the journal of settings {place}: {source}; no setting is changed without one. Name a folder \
         that can be written with {STATE_DIR_ENV}"
    )]
    Io {
        /// What was attempted, as a verb.
        what: &'static str,
        /// Where.
        place: String,
        /// What the system said.
        source: io::Error,
    },
    /// Another process is at it.
    #[error(
        "another heatsoak works with the settings of {drive} just now; wait until it has ended: it puts back what it \
         has changed"
    )]
    InUse {
        /// The drive.
        drive: String,
    },
    /// An interrupted run has left it.
    #[error(
        "the settings of {drive} are not as they were found: \"{why}\" was interrupted before it could put back {what}. \
         Type `heatsoak restore {device}` first"
    )]
    Interrupted {
        /// The drive.
        drive: String,
        /// What was interrupted.
        why: String,
        /// What it has left changed.
        what: String,
        /// How the drive is reached now.
        device: String,
    },
    /// It is no journal, or not of a version that is known.
    #[error(
        "cannot read the journal of settings {place}: {why}. It says what a drive's settings were before an \
         interrupted run; a power cycle of the drive brings back its saved ones, and after it the file may be removed"
    )]
    Unreadable {
        /// Where.
        place: String,
        /// What is wrong with it.
        why: String,
    },
}

/// A journal that is there, or what is there in its place.
#[derive(Debug)]
pub struct FoundJournal {
    /// The file, as errors call it.
    pub place: String,
    /// Whether a process holds its lock: it is at work and will put back by itself.
    pub held: bool,
    /// What it says.
    pub journal: Result<Journal, JournalError>,
}

/// The journals of one folder.
#[derive(Clone, Debug)]
pub struct Journals {
    disk: Arc<dyn Disk>,
}

/// One drive's journal, locked: nobody else changes that drive's settings, as long as they ask.
#[derive(Debug)]
pub struct JournalClaim {
    disk: Arc<dyn Disk>,
    identity: JournalIdentity,
    _lock: JournalLock,
}

impl Journals {
    /// Those in a folder, which is made when it is first needed.
    pub fn in_folder(folder: impl Into<std::path::PathBuf>) -> Self {
        Self::on(FolderDisk::new(folder))
    }

    /// Those on any disk.
    pub fn on(disk: impl Disk + 'static) -> Self {
        Self { disk: Arc::new(disk) }
    }

    /// Those of a process that has no drive but a simulated one: gone with it.
    pub fn in_memory() -> Self {
        Self::on(disk::ProcessDisk::default())
    }

    /// All journals, in the order of their names.
    ///
    /// # Errors
    /// When the folder is there and cannot be read.
    pub fn all(&self) -> Result<Vec<FoundJournal>, JournalError> {
        let names = self.disk.names().map_err(failed("look for", &*self.disk, ""))?;
        let journals = names.iter().filter_map(|name| name.strip_suffix(JOURNAL));
        Ok(journals.filter_map(|stem| self.found(stem)).collect())
    }

    /// The journal of one drive, if there is one.
    pub fn find(&self, identity: &JournalIdentity) -> Option<FoundJournal> {
        self.found(&identity.file_stem())
    }

    fn found(&self, stem: &str) -> Option<FoundJournal> {
        let name = format!("{stem}{JOURNAL}");
        let place = self.disk.place(&name);
        let journal = match self.disk.read(&name) {
            Ok(None) => return None,
            Ok(Some(bytes)) => decode(&bytes, &place),
            Err(source) => Err(JournalError::Io { what: "read", place: place.clone(), source }),
        };
        // One that cannot be looked at is taken for an interrupted run's: who refuses too often does no harm.
        let held = self.disk.locked(&format!("{stem}{LOCK}")).unwrap_or(false);
        Some(FoundJournal { place, held, journal })
    }

    /// Takes the drive's lock.
    ///
    /// # Errors
    /// [`JournalError::InUse`] when another process has it.
    pub fn claim(&self, identity: &JournalIdentity) -> Result<JournalClaim, JournalError> {
        let name = format!("{}{LOCK}", identity.file_stem());
        match self.disk.lock(&name) {
            Ok(Some(lock)) => {
                let claim =
                    JournalClaim { disk: Arc::clone(&self.disk), identity: identity.clone(), _lock: lock };
                // A process that was killed while it wrote leaves what never became a journal. Not to be rid of it
                // harms nothing: the next one is written over it.
                let _ = claim.disk.remove(&claim.unfinished());
                Ok(claim)
            }
            Ok(None) => Err(JournalError::InUse { drive: identity.to_string() }),
            Err(source) => Err(failed("lock", &*self.disk, &name)(source)),
        }
    }
}

impl JournalClaim {
    /// The drive.
    pub const fn identity(&self) -> &JournalIdentity {
        &self.identity
    }

    /// The file, as errors call it.
    pub fn place(&self) -> String {
        self.disk.place(&self.name())
    }

    /// What is there from before.
    ///
    /// # Errors
    /// When something is there that cannot be read.
    pub fn read(&self) -> Result<Option<Journal>, JournalError> {
        let bytes = self.disk.read(&self.name()).map_err(failed("read", &*self.disk, &self.name()))?;
        bytes.map(|bytes| decode(&bytes, &self.place())).transpose()
    }

    /// Refuses when an interrupted run has left a journal. `device` is how the drive is reached.
    ///
    /// # Errors
    /// [`JournalError::Interrupted`], with what to type.
    pub fn refuse_interrupted(&self, device: &str) -> Result<(), JournalError> {
        match self.read()? {
            None => Ok(()),
            Some(journal) => Err(journal.interrupted(device)),
        }
    }

    /// Writes the journal; when this returns, it survives a power cut.
    ///
    /// # Errors
    /// What the system said. Then there is none, or the one from before, or this one.
    pub fn write(&self, journal: &Journal) -> Result<(), JournalError> {
        let (name, beside) = (self.name(), self.unfinished());
        let io = |what: &'static str| failed(what, &*self.disk, &name);
        let mut text = serde_json::to_vec_pretty(journal).map_err(io::Error::other).map_err(io("write"))?;
        text.push(b'\n');
        self.disk.write(&beside, &text).map_err(io("write"))?;
        self.disk.sync(&beside).map_err(io("sync"))?;
        self.disk.rename(&beside, &name).map_err(io("put in place"))?;
        self.disk.sync_folder().map_err(io("sync the folder of"))
    }

    /// Removes the journal: everything has been put back.
    ///
    /// # Errors
    /// What the system said. Then it may be there again after a power cut, and putting back again does no harm.
    pub fn remove(&self) -> Result<(), JournalError> {
        let io = |what: &'static str| failed(what, &*self.disk, &self.name());
        self.disk.remove(&self.name()).map_err(io("remove"))?;
        self.disk.sync_folder().map_err(io("sync the folder of"))
    }

    fn name(&self) -> String {
        format!("{}{JOURNAL}", self.identity.file_stem())
    }

    /// What a journal is called until all of it is written.
    fn unfinished(&self) -> String {
        format!("{}.new", self.name())
    }
}

impl Journal {
    /// A journal of nothing yet.
    pub fn new(drive: JournalIdentity, device: &str, why: &str, wall_unix_ns: i64) -> Self {
        Self {
            schema: SCHEMA,
            heatsoak_version: env!("CARGO_PKG_VERSION").to_owned(),
            drive,
            device: device.to_owned(),
            why: why.to_owned(),
            pid: std::process::id(),
            wall_unix_ns,
            settings: Vec::new(),
            limits: Vec::new(),
        }
    }

    /// What it would put back, for people.
    pub fn text(&self) -> String {
        let entries =
            self.settings.iter().map(|entry| format!("{} ({})", entry.setting.name(), entry.found_text));
        let limits = self.limits.iter().map(|entry| {
            let group = entry.group.file_name().unwrap_or_default().to_string_lossy();
            format!("io.max of {group} ({})", entry.found)
        });
        entries.chain(limits).collect::<Vec<_>>().join(", ")
    }

    /// That it was left by an interrupted run, and what to type.
    pub fn interrupted(&self, device: &str) -> JournalError {
        JournalError::Interrupted {
            drive: self.drive.to_string(),
            why: self.why.clone(),
            what: self.text(),
            device: device.to_owned(),
        }
    }
}

/// The journal's file, beside the drive's lock.
const JOURNAL: &str = ".settings.json";
const LOCK: &str = ".lock";

fn decode(bytes: &[u8], place: &str) -> Result<Journal, JournalError> {
    let unreadable = |why: String| JournalError::Unreadable { place: place.to_owned(), why };
    let journal: Journal = serde_json::from_slice(bytes).map_err(|error| unreadable(error.to_string()))?;
    if journal.schema != SCHEMA {
        return Err(unreadable(format!(
            "it is of version {}, and this heatsoak knows {SCHEMA}",
            journal.schema
        )));
    }
    Ok(journal)
}

fn failed(what: &'static str, disk: &dyn Disk, name: &str) -> impl Fn(io::Error) -> JournalError + use<> {
    let place = disk.place(name);
    move |source| JournalError::Io { what, place: place.clone(), source }
}

impl JournalIdentity {
    /// A file name of its own for every drive: readable, and with a number over all that it is.
    pub(crate) fn file_stem(&self) -> String {
        let plain = |text: &str| -> String {
            text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect()
        };
        let nqn = self.subsystem_nqn.as_deref().unwrap_or_default();
        let all = [self.model.as_str(), self.serial.as_str(), nqn].join("\0");
        format!("{}-{}-{:016x}", plain(&self.model), plain(&self.serial), fnv1a(all.as_bytes()))
    }
}

impl fmt::Display for JournalIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (serial {})", self.model, self.serial)
    }
}

/// FNV-1a, 64 bits (RFC 9923): the same on every machine and in every version.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod test;
