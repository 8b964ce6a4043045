//! Where journals lie: a folder, as far as a journal needs one.
//!
//! A trait, so that tests can pull the plug between any two of its calls.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use measure::patient::{self, Patient};
use rustix::fs::{FlockOperation, OFlags, flock};

/// Held as long as it lives; the system lets go of it when the process dies, however it dies.
pub struct JournalLock {
    _held: Box<dyn Any + Send>,
}

impl JournalLock {
    /// A lock that is let go of when `held` is dropped.
    pub fn new(held: impl Any + Send) -> Self {
        Self { _held: Box::new(held) }
    }
}

impl fmt::Debug for JournalLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lock")
    }
}

/// A folder of small files. Nothing is promised to survive a power cut before it is synced.
pub trait Disk: fmt::Debug + Send + Sync {
    /// What errors call the file `name`; the folder for an empty name.
    fn place(&self, name: &str) -> String;

    /// Takes the lock `name`; `None` when another has it.
    ///
    /// # Errors
    /// What the system says.
    fn lock(&self, name: &str) -> io::Result<Option<JournalLock>>;

    /// Whether another has the lock `name`. Leaves nothing behind.
    ///
    /// # Errors
    /// What the system says.
    fn locked(&self, name: &str) -> io::Result<bool>;

    /// A whole file; `None` when there is none.
    ///
    /// # Errors
    /// What the system says.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Writes a whole file, in place of what was there.
    ///
    /// # Errors
    /// What the system says.
    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Makes a file's content survive a power cut.
    ///
    /// # Errors
    /// What the system says.
    fn sync(&self, name: &str) -> io::Result<()>;

    /// Gives a file another name, in place of what had it.
    ///
    /// # Errors
    /// What the system says.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file; that there is none is no error.
    ///
    /// # Errors
    /// What the system says.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes names survive a power cut.
    ///
    /// # Errors
    /// What the system says.
    fn sync_folder(&self) -> io::Result<()>;

    /// All names, in order; none when there is no folder.
    ///
    /// # Errors
    /// What the system says.
    fn names(&self) -> io::Result<Vec<String>>;
}

/// Whoever only looks whether a lock is taken has it for a moment: it is tried again that often.
const LOCK_TRIES: u32 = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// A folder of a file system.
#[derive(Debug)]
pub struct FolderDisk {
    folder: PathBuf,
}

impl FolderDisk {
    /// That folder; it is made when something is written.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Makes the folder, and has its own name survive a power cut.
    fn make(&self) -> io::Result<()> {
        if self.folder.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(&self.folder)?;
        let parents = self.folder.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty());
        // Only what was just made needs it; the others are synced for nothing, once in a machine's life.
        for parent in parents {
            patient::open(parent).and_then(|parent| patient::sync(&parent)).or_else(unsyncable)?;
        }
        Ok(())
    }
}

/// Folders above ours may be on something that cannot be synced, or be closed to us: they were there before.
fn unsyncable(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidInput => Ok(()),
        _ => Err(error),
    }
}

impl Disk for FolderDisk {
    fn place(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn lock(&self, name: &str) -> io::Result<Option<JournalLock>> {
        self.make()?;
        let file = patient::open_with(&self.folder.join(name), OFlags::WRONLY | OFlags::CREATE)?;
        for _ in 0..LOCK_TRIES {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(JournalLock::new(file))),
                #[expect(
                    clippy::disallowed_methods,
                    reason = "flock(2) knows no timeout; others hold it for a moment"
                )]
                Err(rustix::io::Errno::WOULDBLOCK) => std::thread::sleep(LOCK_PAUSE),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    fn locked(&self, name: &str) -> io::Result<bool> {
        let file = match patient::open(&self.folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file?,
        };
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match patient::read(&self.folder.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.make()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        Patient::new(patient::open_with(&self.folder.join(name), flags)?).write_all(bytes)
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        patient::sync(&patient::open(&self.folder.join(name))?)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.folder.join(from), self.folder.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn sync_folder(&self) -> io::Result<()> {
        patient::sync(&patient::open(&self.folder)?)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            names.extend(entry?.file_name().into_string());
        }
        names.sort();
        Ok(names)
    }
}

/// Files of this process: for simulated drives, which are gone with it as well.
#[derive(Debug, Default)]
pub(super) struct ProcessDisk {
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    locked: Arc<Mutex<BTreeSet<String>>>,
}

/// Gives a lock back.
pub(super) struct Unlock {
    pub(super) locked: Arc<Mutex<BTreeSet<String>>>,
    pub(super) name: String,
}

impl Drop for Unlock {
    fn drop(&mut self) {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}

impl ProcessDisk {
    fn files(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for ProcessDisk {
    fn place(&self, name: &str) -> String {
        format!("{name} in memory")
    }

    fn lock(&self, name: &str) -> io::Result<Option<JournalLock>> {
        let free = self.locked.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        let unlock = || Unlock { locked: Arc::clone(&self.locked), name: name.to_owned() };
        Ok(free.then(|| JournalLock::new(unlock())))
    }

    fn locked(&self, name: &str) -> io::Result<bool> {
        Ok(self.locked.lock().unwrap_or_else(PoisonError::into_inner).contains(name))
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.files().get(name).cloned())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.files().insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }

    fn sync(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut files = self.files();
        let bytes = files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.insert(to.to_owned(), bytes);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.files().remove(name);
        Ok(())
    }

    fn sync_folder(&self) -> io::Result<()> {
        Ok(())
    }

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.files().keys().cloned().collect())
    }
}
