//! A block device as a target: opened for reading only, unless its data was given away and the guard lets it pass.
//!
//! What speaks against writing is found and decided in [`crate::guard`].

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use measure::Bytes;
use rustix::fs::{OFlags, SeekFrom};

use super::needs::Needs;
use super::{DriveKind, TargetError};
use crate::guard::{self, Claim, Examined, NO_SERIAL, Permission, Roots};
use crate::telemetry::discover::SYSFS;

/// What the device is attached by.
pub(super) fn kind(path: &Path) -> &'static str {
    let name = name(path);
    let place = std::fs::canonicalize(Path::new(SYSFS).join("class/block").join(&name)).unwrap_or_default();
    DriveKind::of(&name, &place).name()
}

/// The kernel's name of the device at `path`, links followed.
fn name(path: &Path) -> String {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A block device.
#[derive(Debug)]
pub(crate) struct DeviceTarget {
    pub(crate) path: PathBuf,
    pub(crate) size: Bytes,
    pub(crate) block_bytes: u32,
    /// Whether it takes trims.
    pub(crate) trim: bool,
    /// Its serial number, as the guard will compare it.
    serial: Option<String>,
    given: Option<Box<Given>>,
}

/// A device whose data was given away.
#[derive(Debug)]
struct Given {
    permission: Permission,
    examined: Examined,
}

/// The files of a device that is ready for load.
#[derive(Debug)]
pub(crate) struct OpenDevice {
    /// Past the page cache.
    pub(crate) direct: Option<File>,
    /// Through it; for a plan that writes, this is what keeps others away.
    pub(crate) buffered: Option<File>,
    /// What else must stay open so that others are kept away.
    pub(crate) held: Vec<File>,
    pub(crate) notes: Vec<String>,
}

impl DeviceTarget {
    /// Looks at the device.
    pub(crate) fn look(path: &Path) -> Result<Self, TargetError> {
        let io = |what| move |source| TargetError::Io { what, path: path.to_owned(), source };
        let kind = std::fs::metadata(path).map_err(io("look at"))?.file_type();
        if !kind.is_block_device() {
            return Err(wrong_kind(path, kind.is_char_device()));
        }
        let file = open(path, OFlags::empty())?;
        let size = rustix::fs::seek(&file, SeekFrom::End(0)).map_err(|errno| io("measure")(errno.into()))?;
        let block_bytes = rustix::fs::ioctl_blksszget(&file)
            .map_err(|errno| io("ask for the block size of")(errno.into()))?;
        let (name, roots) = (name(path), Roots::system());
        Ok(Self {
            path: path.to_owned(),
            size: Bytes::new(size),
            block_bytes,
            trim: guard::takes_trims(&name, &roots),
            serial: guard::serial(&name, &roots),
            given: None,
        })
    }

    /// Which namespace of its controller it is, for an NVMe drive.
    pub(crate) fn namespace_id(&self) -> Option<u32> {
        guard::namespace_id(&name(&self.path), &Roots::system())
    }

    /// Takes the user's word that what is on it may be destroyed, if nothing else speaks against that.
    pub(crate) fn give(&mut self, permission: Permission, shared: Option<bool>) -> Result<(), TargetError> {
        let examined = guard::examine(&self.path, &Roots::system(), shared)?;
        examined.decide(&permission)?;
        self.given = Some(Box::new(Given { permission, examined }));
        Ok(())
    }

    /// Why it must not be written to; `None` once its data was given away.
    pub(crate) fn read_only(&self) -> Option<String> {
        if self.given.is_some() {
            return None;
        }
        let (serial, known) = match &self.serial {
            Some(serial) => (serial.as_str(), "its serial number"),
            None => (NO_SERIAL, "it tells no serial number"),
        };
        let serial =
            if serial.contains(char::is_whitespace) { format!("'{serial}'") } else { serial.to_owned() };
        Some(format!(
            "nobody has said that its data may be destroyed. If all that is on it may be: --destroy {serial} ({known}). \
             To keep it, use a plan that reads, or a file on it: file:PATH?size=4GiB"
        ))
    }

    /// Opens it for a plan: for reading only if that is all it does, else claimed by the guard.
    pub(crate) fn open(&self, needs: &Needs) -> Result<OpenDevice, TargetError> {
        if !needs.changes() {
            let direct = needs.direct.then(|| open(&self.path, OFlags::DIRECT)).transpose()?;
            let buffered = needs.buffered.then(|| open(&self.path, OFlags::empty())).transpose()?;
            return Ok(OpenDevice { direct, buffered, held: Vec::new(), notes: Vec::new() });
        }
        let Some(Given { permission, examined }) = self.given.as_deref() else {
            let what = if needs.writes { "write to" } else { "trim" };
            let why = self.read_only().unwrap_or_default();
            return Err(TargetError::ReadOnly { path: self.path.clone(), what, why });
        };
        let roots = Roots::system();
        let claim = guard::claim(examined, permission, &roots)?;
        let direct = needs.direct.then(|| claim.open_direct(&roots)).transpose()?;
        let Claim { file, others, examined } = claim;
        let mut notes = examined.notes.clone();
        notes.push(format!(
            "what was on {} ({}) was given away with --destroy {}",
            self.path.display(),
            examined.identity,
            permission.destroy
        ));
        notes.extend(examined.passed_over().map(|text| format!("written to all the same: {text}")));
        Ok(OpenDevice { direct, buffered: Some(file), held: others, notes })
    }
}

fn open(path: &Path, flags: OFlags) -> Result<File, TargetError> {
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)
        .map_err(|source| TargetError::Io { what: "open", path: path.to_owned(), source })
}

fn wrong_kind(path: &Path, character: bool) -> TargetError {
    let (what, advice) = if character {
        (
            "a character device",
            "an NVMe controller is loaded through a namespace: /dev/nvme0n1 for /dev/nvme0".to_owned(),
        )
    } else {
        ("not a block device", format!("a file is written file:{}", path.display()))
    };
    TargetError::WrongKind { path: path.to_owned(), what, advice }
}
