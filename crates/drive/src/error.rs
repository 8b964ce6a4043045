//! Why a drive cannot be had.

use std::io;
use std::path::PathBuf;

use measure::Bytes;
use thiserror::Error;

/// Why a drive cannot be had, or not be used as a plan wants it.
#[derive(Debug, Error)]
pub enum DriveError {
    /// There is nothing to be read of it.
    #[error("cannot watch {address}: {why}; `heatsoak list` shows the drives that can be watched")]
    NothingToWatch {
        /// What was named.
        address: String,
        /// Why there is nothing.
        why: String,
    },
    /// The address names no file, and no size to make one.
    #[error("{path} does not exist; to have it made, say how large: file:{path}?size=4GiB")]
    NoSuchFile {
        /// The file.
        path: PathBuf,
    },
    /// Something that is not what the address says.
    #[error("cannot use {path}: it is {what}; {advice}")]
    WrongKind {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// What to write instead.
        advice: String,
    },
    /// A file with somebody's data in it.
    #[error(
        "will not {what} {path}: it holds data that heatsoak did not make{detail}; \
         name another file, or add &overwrite=yes behind its size if all of it may be destroyed"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What would be done to it, as a verb.
        what: &'static str,
        /// Why it is not taken for one of ours, where that needs saying.
        detail: String,
    },
    /// Somebody has it under load already.
    #[error(
        "cannot use {path}: another process has locked it, probably another heatsoak; wait for it, or name another file"
    )]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// Another file, or other data, has come to a path since it was looked at.
    #[error(
        "will not use {path}: it is not what it was when it was looked at, a moment ago; see who changes it, and start again"
    )]
    Moved {
        /// The path.
        path: PathBuf,
    },
    /// A file under a block device.
    #[error(
        "will not write to {path}: {name} reads and writes through it; detach that first (losetup -d /dev/{name}), \
         or name another file"
    )]
    Attached {
        /// The file.
        path: PathBuf,
        /// The loop device.
        name: String,
    },
    /// A file system without O_DIRECT.
    #[error(
        "cannot open {path} past the page cache: its file system has no O_DIRECT; \
         set direct = false in the plan to measure through the cache, or name a file on another file system"
    )]
    NoDirect {
        /// The file.
        path: PathBuf,
    },
    /// I/O sizes that O_DIRECT does not take here.
    #[error(
        "cannot run load {load:?} on {path}: direct I/O there comes in multiples of {block_bytes} B; \
         use such sizes and alignment, or set direct = false"
    )]
    Block {
        /// The file.
        path: PathBuf,
        /// The load.
        load: String,
        /// What sizes and offsets must be multiples of.
        block_bytes: u32,
    },
    /// No room for the file.
    #[error(
        "cannot make {path} {size} large: {free} are free on its file system; use a smaller size or make room"
    )]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// How large it should be.
        size: Bytes,
        /// What is free.
        free: Bytes,
    },
    /// A block device whose data was not given away.
    #[error("will not {what} {path}: {why}")]
    ReadOnly {
        /// The device.
        path: PathBuf,
        /// What the plan would do, as a verb.
        what: &'static str,
        /// The reason, and what to do instead.
        why: String,
    },
    /// The guard of block devices refuses.
    #[error(transparent)]
    Guard(#[from] crate::guard::GuardError),
    /// A word for a device, said of something else.
    #[error(
        "--destroy is for block devices, and {address} is none; a file is given away with &overwrite=yes behind its size"
    )]
    NoDevice {
        /// The drive.
        address: String,
    },
    /// A region that does not lie on the drive.
    #[error("cannot run load {load:?}: {why}")]
    Region {
        /// The load.
        load: String,
        /// What is wrong with its region.
        why: String,
    },
    /// Settings that cannot be made here.
    #[error(
        "cannot make the plan's settings on {address}: {why}; take [settings] out of the plan to run without"
    )]
    Settings {
        /// The drive.
        address: String,
        /// Why.
        why: String,
    },
    /// A path that leads to no drive with settings.
    #[error(transparent)]
    Lost(#[from] crate::settings::linux::ReachError),
    /// A drive that does not let us ask.
    #[error(transparent)]
    Asked(#[from] crate::settings::SettingsError),
    /// What has no settings of its own.
    #[error(
        "cannot read or change the settings of `{address}`: settings belong to a drive; name its device, such as \
         /dev/nvme0, a simulated one, such as twin:ssd1, or a virtual SSD, nvme-tcp://HOST:PORT/NQN"
    )]
    NoSettings {
        /// The drive.
        address: String,
    },
    /// A twin that cannot be made, or refuses what is asked of it.
    #[error("{why}")]
    Simulated {
        /// Why.
        why: String,
    },
    /// The drive's settings are not as they were found, or just being changed.
    #[error(transparent)]
    Journal(#[from] crate::settings::journal::JournalError),
    /// The user stopped it while it was prepared.
    #[error("stopped while {path} was being filled; what is there of it is kept and used the next time")]
    Interrupted {
        /// The file.
        path: PathBuf,
    },
    /// A file that holds no secret that can be used.
    #[error("cannot use the secret in {path}: {why}")]
    Secret {
        /// The file.
        path: PathBuf,
        /// What is wrong with it; nothing of what is in it.
        why: String,
    },
    /// A subsystem on a network that does not answer as it should.
    #[error(transparent)]
    Fabric(#[from] nvme::host::HostError),
    /// There is no way to do I/O here.
    #[error(transparent)]
    Path(#[from] crate::io::PathError),
    /// The system refused.
    #[error("cannot {what} {path}: {source}{}", advice(source))]
    Io {
        /// What was attempted, as a verb.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; use a path of your own, or for a device run as root",
        io::ErrorKind::NotFound => "; check the path, or run `heatsoak list`",
        io::ErrorKind::ReadOnlyFilesystem => "; name a file on a file system that can be written",
        _ => "",
    }
}
