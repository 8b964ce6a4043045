//! Why a setting was not read, not changed or not put back.

use std::io;
use std::path::PathBuf;

use nvme::hctm::HctmError;
use nvme::host::HostError;
use thiserror::Error;

use super::journal::JournalError;

/// Why a setting was not read, not changed or not put back.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The drive, or the way to it.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The temperatures break the rule. Nothing was sent.
    #[error("will not set {wanted} on {device}: {source}")]
    Hctm {
        /// The device.
        device: String,
        /// What was wanted.
        wanted: String,
        /// Which part of the rule.
        source: HctmError,
    },
    /// Something that the drive does not have, or a value that it does not take. Nothing was sent.
    #[error("will not set {wanted} on {device}: {why}")]
    Refused {
        /// The device.
        device: String,
        /// What was wanted.
        wanted: String,
        /// Why, and what can be done instead.
        why: String,
    },
    /// The drive holds a value that it would not take back. Nothing was changed.
    #[error(
        "will not change the {setting} of {device}: it holds {found}, which it would not take back ({why}), so the \
         setting could not be restored after a run"
    )]
    NotRestorable {
        /// The device.
        device: String,
        /// The setting.
        setting: String,
        /// What it holds.
        found: String,
        /// Why it would not take it.
        why: String,
    },
    /// The drive reported success and holds another value.
    #[error(
        "{device} accepted {wanted} and then reads back {got}, {}; do not rely on this setting of this drive",
        if *.unchanged { "what it held before: it takes the command and changes nothing" }
        else { "neither what it held before nor what was set: it rounds the value or limits it" }
    )]
    NotApplied {
        /// The device.
        device: String,
        /// What was set.
        wanted: String,
        /// What was read back.
        got: String,
        /// Whether that is what it held before.
        unchanged: bool,
    },
    /// The kernel's knob of autonomous power state transitions.
    #[error(
        "cannot {what} {path}: {source}; autonomous power state transitions are changed through it, as root"
    )]
    Sysfs {
        /// What was attempted, as a verb.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A change failed, and what was changed before it could not be put back.
    #[error("{source}; and then not everything could be put back: {}", problems.join("; "))]
    LeftChanged {
        /// The change that failed.
        source: Box<SettingsError>,
        /// What could not be put back, and what to do.
        problems: Vec<String>,
    },
}

impl SettingsError {
    /// Whether the drive is gone.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Host(error) if error.is_gone())
    }

    /// Whether the drive says that it has no such setting.
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Host(error) if error.is_unsupported())
    }
}
