//! Limits that are changed under a journal: from before the first of them until the last is put back.

use std::io;
use std::path::{Path, PathBuf};

use super::{CgroupError, CgroupTree, IO_MAX, IoMax, LimitEntry};
use crate::settings::journal::{Journal, JournalClaim, JournalIdentity, Journals};

/// The disk whose load is limited.
#[derive(Clone, Debug)]
pub struct LimitedDisk {
    /// How it is reached.
    pub device: String,
    /// Its number, such as `259:0`.
    pub number: String,
    /// Who it is, to the journal.
    pub identity: JournalIdentity,
}

/// Limits that were changed and are to be put back. Dropped without that, it is tried once more; where that fails the
/// journal stays and the next start tells.
#[derive(Debug)]
pub struct HeldLimits {
    tree: CgroupTree,
    disk: LimitedDisk,
    claim: JournalClaim,
    journal: Journal,
    boot: Option<String>,
    is_put_back: bool,
}

impl HeldLimits {
    /// Takes the lock of the disk's limits; nothing is changed and no journal is there yet. `why` says for whom,
    /// `wall_unix_ns` when, `boot` which boot of the machine it is.
    ///
    /// # Errors
    /// When an interrupted run has left a journal, or another process works with them.
    pub fn claim(
        tree: CgroupTree,
        disk: LimitedDisk,
        journals: &Journals,
        why: &str,
        wall_unix_ns: i64,
        boot: Option<String>,
    ) -> Result<Self, CgroupError> {
        let claim = journals.claim(&disk.identity)?;
        claim.refuse_interrupted(&disk.device)?;
        let journal = Journal::new(disk.identity.clone(), &disk.device, why, wall_unix_ns);
        Ok(Self { tree, disk, claim, journal, boot, is_put_back: true })
    }

    /// The groups.
    pub fn groups(&self) -> impl Iterator<Item = &Path> {
        self.journal.limits.iter().map(|entry| entry.group.as_path())
    }

    /// What was found of each group, in the same order.
    pub fn found(&self) -> impl Iterator<Item = IoMax> + '_ {
        self.journal.limits.iter().map(|entry| entry.found)
    }

    /// Writes down what is found of these groups, so that they may be limited. Those that are gone are left out.
    ///
    /// # Errors
    /// When a group cannot be read, or the journal not be written. Nothing was changed then.
    pub fn add(&mut self, groups: &[PathBuf], are_ours: bool) -> Result<(), CgroupError> {
        let before = self.journal.limits.len();
        for group in groups {
            if self.groups().any(|known| known == group) {
                continue;
            }
            let found = match self.read(group) {
                Ok(found) => found,
                Err(error) if error.is_gone() => continue,
                Err(error) => return Err(error),
            };
            // Who may not write what is there may not put it back either: found out before there is a journal.
            match self.set(group, found) {
                Err(error) if error.is_gone() => continue,
                set => set?,
            }
            self.journal.limits.push(LimitEntry {
                group: group.clone(),
                number: self.disk.number.clone(),
                found,
                is_ours: are_ours,
                boot: self.boot.clone(),
            });
        }
        if self.journal.limits.len() > before {
            self.claim.write(&self.journal)?;
            self.is_put_back = false;
        }
        Ok(())
    }

    /// Makes a group of ours at the top; it is in the journal before it is made, so that a kill leaves none behind.
    ///
    /// # Errors
    /// When it cannot be made, or the journal not be written.
    pub fn make(&mut self, name: &str) -> Result<PathBuf, CgroupError> {
        self.journal.limits.push(LimitEntry {
            group: self.tree.root.join(name),
            number: self.disk.number.clone(),
            found: IoMax::default(),
            is_ours: true,
            boot: self.boot.clone(),
        });
        self.claim.write(&self.journal)?;
        self.is_put_back = false;
        self.tree.make(name)
    }

    /// Limits a group that was added.
    ///
    /// # Errors
    /// What the system said; [`CgroupError::is_gone`] where the group is gone.
    pub fn set(&self, group: &Path, limits: IoMax) -> Result<(), CgroupError> {
        write(&self.tree, group, &self.disk.number, limits)
    }

    fn read(&self, group: &Path) -> Result<IoMax, CgroupError> {
        read(&self.tree, group, &self.disk.number)
    }

    /// Puts back what was found, reads it back, removes groups of ours, and the journal when all is as it was; what is not,
    /// and what to do. May be called again.
    pub fn put_back(&mut self) -> Vec<String> {
        let problems = put_back(&self.tree, &self.claim, &self.journal).1;
        self.is_put_back = problems.is_empty();
        problems
    }
}

impl Drop for HeldLimits {
    fn drop(&mut self) {
        if !self.is_put_back {
            // What is not put back now is told by the journal at the next start.
            let _ = self.put_back();
        }
    }
}

fn read(tree: &CgroupTree, group: &Path, number: &str) -> Result<IoMax, CgroupError> {
    let path = group.join(IO_MAX);
    let text = tree.files.read(&path).map_err(tree.failed("read", &path))?;
    Ok(IoMax::parse(&text, number))
}

fn write(tree: &CgroupTree, group: &Path, number: &str, limits: IoMax) -> Result<(), CgroupError> {
    let path = group.join(IO_MAX);
    tree.files.write(&path, &limits.line(number)).map_err(tree.failed("write", &path))
}

/// What was put back, for people, and what was not.
fn put_back(
    tree: &CgroupTree,
    claim: &JournalClaim,
    journal: &Journal,
) -> (Vec<(String, String)>, Vec<String>) {
    let (mut restored, mut problems) = (Vec::new(), Vec::new());
    for entry in journal.limits.iter().rev() {
        match put_back_one(tree, entry) {
            Ok(()) => restored.push((format!("io.max of {}", tree.name(&entry.group)), entry.found.to_string())),
            Err(error @ CgroupError::Busy { .. }) => problems.push(format!(
                "the control group {} was not removed: {error}. Type `heatsoak restore` when they have ended",
                tree.name(&entry.group)
            )),
            Err(error) => problems.push(format!(
                "io.max of {} was not put back to {}: {error}. Type `heatsoak restore` to try again; a reboot takes all limits \
                 away. What was found is kept in {}",
                tree.name(&entry.group),
                entry.found,
                claim.place()
            )),
        }
    }
    if problems.is_empty()
        && !journal.limits.is_empty()
        && let Err(error) = claim.remove()
    {
        problems
            .push(format!("all limits are as they were found, but their journal is still there: {error}"));
    }
    (restored, problems)
}

fn put_back_one(tree: &CgroupTree, entry: &LimitEntry) -> Result<(), CgroupError> {
    let gone_is_fine = |error: CgroupError| if error.is_gone() { Ok(()) } else { Err(error) };
    if let Err(error) = write(tree, &entry.group, &entry.number, entry.found) {
        return gone_is_fine(error);
    }
    let now = read(tree, &entry.group, &entry.number)?;
    if now != entry.found {
        let (wanted, got) = (entry.found.to_string(), now.to_string());
        return Err(CgroupError::NotApplied { path: entry.group.join(IO_MAX), wanted, got });
    }
    if entry.is_ours {
        let is_busy = |error: &io::Error| error.kind() == io::ErrorKind::ResourceBusy;
        tree.files
            .remove(&entry.group)
            .map_err(|error| match error {
                error if is_busy(&error) => CgroupError::Busy { group: entry.group.clone() },
                error => tree.failed("remove", &entry.group)(error),
            })
            .or_else(gone_is_fine)?;
    }
    Ok(())
}

/// What came of limits that a journal says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoredLimits {
    /// What was put back, as name and value.
    pub restored: Vec<(String, String)>,
    /// What was not, and what to do.
    pub problems: Vec<String>,
}

/// Puts back what the journal of a disk says and removes it. `None` when there is no journal of limits. Limits of another
/// boot are gone, and only their journal is removed.
///
/// # Errors
/// When another process works with them, or the journal cannot be read or removed.
pub fn restore_limits(
    tree: &CgroupTree,
    journals: &Journals,
    identity: &JournalIdentity,
    boot: Option<&str>,
) -> Result<Option<RestoredLimits>, CgroupError> {
    let claim = journals.claim(identity)?;
    let Some(journal) = claim.read()?.filter(|journal| !journal.limits.is_empty()) else { return Ok(None) };
    let is_of_now = |entry: &LimitEntry| entry.boot.as_deref() == boot;
    if !journal.limits.iter().any(is_of_now) {
        claim.remove()?;
        return Ok(Some(RestoredLimits::default()));
    }
    let (restored, problems) = put_back(tree, &claim, &journal);
    Ok(Some(RestoredLimits { restored, problems }))
}
