//! The kernel's two knobs of a SCSI disk - by which command it discards, and how much in one - as settings: written down
//! before they are changed, read back, put back.
//!
//! They are the kernel's and not the drive's: they are gone when the drive is. Linux 6.12 also takes the mode back
//! whenever it looks at the disk anew (`sd_revalidate_disk`: partition table read again, `rescan`, a write to
//! `cache_type`), if the drive says LBPME=0. The order is fixed: in modes that discard nothing the kernel takes no limit.

use std::fs;
use std::path::PathBuf;

use thiserror::Error;

use super::kernel::DiscardKnobs;
use super::{KernelDiscard, ProvisioningMode};
use crate::DriveIdentity;
use crate::guard::Roots;
use crate::settings::journal::{
    Journal, JournalClaim, JournalEntry, JournalError, JournalIdentity, Journals,
};
use crate::settings::{Restored, Setting, Value};
use crate::sysfs::text;

/// Why the kernel's knobs were not changed.
#[derive(Debug, Error)]
pub enum TrimModeError {
    /// The disk has none.
    #[error(
        "{disk} has no provisioning_mode: it is no SCSI disk to the kernel, whose driver decides by itself"
    )]
    NoKnob {
        /// The kernel's name of it.
        disk: String,
    },
    /// The kernel does not show what they are.
    #[error("cannot tell how {disk} discards now, so it could not be put back: {what} cannot be read")]
    Unknown {
        /// The kernel's name of it.
        disk: String,
        /// Which.
        what: &'static str,
    },
    /// The system refused.
    #[error("cannot write {value} to {path}: {source}; run as root")]
    Write {
        /// What.
        value: String,
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The kernel took it and has something else.
    #[error(
        "wrote {wanted} to {path} and read back {got}: the kernel has looked at the disk anew meanwhile, or clamps the value"
    )]
    NotApplied {
        /// Where.
        path: PathBuf,
        /// What was written.
        wanted: String,
        /// What was read.
        got: String,
    },
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// What the two knobs hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiscardSetting {
    /// By which command.
    pub mode: ProvisioningMode,
    /// How much in one, in bytes.
    pub max_bytes: u64,
}

/// A disk whose knobs nobody else changes, as long as they ask.
#[derive(Debug)]
pub struct DiscardMode {
    disk: String,
    device: String,
    knobs: DiscardKnobs,
    mode: PathBuf,
    claim: JournalClaim,
    identity: JournalIdentity,
}

/// Who a disk is to the journal.
pub fn journal_identity(identity: &DriveIdentity) -> JournalIdentity {
    JournalIdentity {
        model: identity.model.clone().unwrap_or_else(|| "unknown model".to_owned()),
        serial: identity.serial.clone().unwrap_or_default(),
        subsystem_nqn: None,
    }
}

impl DiscardMode {
    /// The knobs of the disk `name`, such as `sda`, with the lock of its settings.
    ///
    /// # Errors
    /// When it has none, when another process works with its settings, or when an interrupted run has left them changed.
    pub fn claim(
        roots: &Roots,
        name: &str,
        identity: &DriveIdentity,
        journals: &Journals,
    ) -> Result<Self, TrimModeError> {
        let mode = Self::unclaimed(roots, name, identity, journals)?;
        mode.claim.refuse_interrupted(&mode.device)?;
        Ok(mode)
    }

    fn unclaimed(
        roots: &Roots,
        name: &str,
        identity: &DriveIdentity,
        journals: &Journals,
    ) -> Result<Self, TrimModeError> {
        let knobs = KernelDiscard::read(&roots.sys, name).knobs;
        let no_knob = || TrimModeError::NoKnob { disk: name.to_owned() };
        let mode = knobs.mode.clone().filter(|path| path.is_file()).ok_or_else(no_knob)?;
        let identity = journal_identity(identity);
        let claim = journals.claim(&identity)?;
        let device = roots.dev.join(name).display().to_string();
        Ok(Self { disk: name.to_owned(), device, knobs, mode, claim, identity })
    }

    /// What they hold now.
    ///
    /// # Errors
    /// When the kernel does not show one of them.
    pub fn now(&self) -> Result<DiscardSetting, TrimModeError> {
        let unknown = |what| TrimModeError::Unknown { disk: self.disk.clone(), what };
        let mode = text(&self.mode).and_then(|text| text.parse().ok());
        let most = text(&self.knobs.max_bytes).and_then(|text| text.parse().ok());
        Ok(DiscardSetting {
            mode: mode.ok_or_else(|| unknown("provisioning_mode"))?,
            max_bytes: most.ok_or_else(|| unknown("discard_max_bytes"))?,
        })
    }

    /// Sets both and reads both back; what they held before is handed back.
    ///
    /// A mode that discards nothing has no limit: then only the mode is set.
    ///
    /// # Errors
    /// What was not written, or not as it was read back.
    pub fn set(&self, wanted: DiscardSetting) -> Result<DiscardSetting, TrimModeError> {
        let before = self.now()?;
        if !wanted.mode.discards() {
            self.free_limit();
            write(&self.mode, wanted.mode.word())?;
            self.read_back(&self.mode, wanted.mode.word())?;
            return Ok(before);
        }
        write(&self.mode, wanted.mode.word())?;
        let most = wanted.max_bytes.to_string();
        write(&self.knobs.max_bytes, &most)?;
        self.read_back(&self.mode, wanted.mode.word())?;
        self.read_back(&self.knobs.max_bytes, &most)?;
        Ok(before)
    }

    /// The same under a journal: what is found is on disk before anything is changed.
    ///
    /// # Errors
    /// As before. What was changed is put back then.
    pub fn hold(
        self,
        wanted: DiscardSetting,
        why: &str,
        wall_unix_ns: i64,
    ) -> Result<HeldDiscardMode, TrimModeError> {
        let found = self.now()?;
        let mut journal = Journal::new(self.identity.clone(), &self.device, why, wall_unix_ns);
        let entry = |setting: Setting, found: Value, set: Value| JournalEntry {
            setting,
            found,
            found_text: found.to_string(),
            set,
            default: None,
            saved: None,
            by_way_of: None,
        };
        journal.settings = vec![
            entry(
                Setting::ProvisioningMode,
                Value::Provisioning(found.mode),
                Value::Provisioning(wanted.mode),
            ),
            entry(Setting::DiscardMax, Value::Size(found.max_bytes), Value::Size(wanted.max_bytes)),
        ];
        self.claim.write(&journal)?;
        let set = self.set(wanted);
        let mut held = HeldDiscardMode { mode: self, found };
        match set {
            Ok(_) => Ok(held),
            Err(error) => {
                held.put_back();
                Err(error)
            }
        }
    }

    /// While something is discarded the kernel takes a limit, and keeps it for later: give it its own again.
    fn free_limit(&self) {
        let own = self.knobs.max_bytes.with_file_name("discard_max_hw_bytes");
        if let Some(own) = text(&own).filter(|own| own != "0") {
            // Without it the limit stays as low as it is, which is harmless.
            let _ = fs::write(&self.knobs.max_bytes, own);
        }
    }

    fn read_back(&self, path: &std::path::Path, wanted: &str) -> Result<(), TrimModeError> {
        let got = text(path).unwrap_or_default();
        if got == wanted {
            return Ok(());
        }
        Err(TrimModeError::NotApplied { path: path.to_owned(), wanted: wanted.to_owned(), got })
    }
}

/// Knobs that were changed and are to be put back. Dropped without that, the journal stays and the next start tells.
#[derive(Debug)]
pub struct HeldDiscardMode {
    mode: DiscardMode,
    found: DiscardSetting,
}

impl HeldDiscardMode {
    /// What they hold now; a kernel that looked at the disk anew has changed them.
    ///
    /// # Errors
    /// When the kernel does not show one of them.
    pub fn now(&self) -> Result<DiscardSetting, TrimModeError> {
        self.mode.now()
    }

    /// Puts back what was found, reads it back, and removes the journal when all is as it was. May be called again.
    pub fn put_back(&mut self) -> Restored {
        put_back(&self.mode, self.found)
    }
}

fn put_back(mode: &DiscardMode, found: DiscardSetting) -> Restored {
    let mut restored = Restored::default();
    match mode.set(found) {
        Ok(_) => {
            restored.settings.push((Setting::ProvisioningMode, Value::Provisioning(found.mode)));
            restored.settings.push((Setting::DiscardMax, Value::Size(found.max_bytes)));
        }
        Err(error) => restored.problems.push(format!(
            "{} was not put back to provisioning_mode {}: {error}. Type `heatsoak restore` to try again; unplugging the \
             drive brings back what the kernel chooses by itself. What was found is kept in {}",
            mode.device,
            found.mode,
            mode.claim.place()
        )),
    }
    if restored.is_whole()
        && let Err(error) = mode.claim.remove()
    {
        restored.problems.push(format!(
            "how {} discards is as it was found, but its journal is still there: {error}",
            mode.device
        ));
    }
    restored
}

/// Puts back what a journal says of the disk `name`, and removes it; `None` when there is none.
///
/// # Errors
/// When another process works with them, or the journal cannot be read.
pub fn restore_discards(
    roots: &Roots,
    name: &str,
    identity: &DriveIdentity,
    journals: &Journals,
) -> Result<Option<(Journal, Restored)>, TrimModeError> {
    let mode = DiscardMode::unclaimed(roots, name, identity, journals)?;
    let Some(journal) = mode.claim.read()? else { return Ok(None) };
    let found = journal.settings.iter().fold((None, 0), |(mode, most), entry| match entry.found {
        Value::Provisioning(found) => (Some(found), most),
        Value::Size(bytes) => (mode, bytes),
        _ => (mode, most),
    });
    let (Some(found), max_bytes) = found else {
        let problems = vec![format!("the journal {} names no provisioning_mode", mode.claim.place())];
        return Ok(Some((journal, Restored { settings: Vec::new(), problems })));
    };
    let restored = put_back(&mode, DiscardSetting { mode: found, max_bytes });
    Ok(Some((journal, restored)))
}

fn write(path: &std::path::Path, value: &str) -> Result<(), TrimModeError> {
    fs::write(path, value).map_err(|source| TrimModeError::Write {
        value: value.to_owned(),
        path: path.to_owned(),
        source,
    })
}
