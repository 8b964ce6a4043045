//! Limits of the kernel on the load of others: `io.max` of control groups (cgroup v2).
//!
//! # Architecture
//! - [`CgroupTree`]: the groups of this machine, and which of them have the `io` controller.
//! - [`IoMax`]: the limits of a group on a disk. [`HeldLimits`]: changed under a journal, to be put back;
//!   [`restore_limits`] does it for whoever was killed.
//!
//! # What it does not do
//! It switches no controller on: that changes every group of the machine. It knows no temperature.
//!
//! # What the kernel does not limit
//! The root group has no `io.max`. Kernel threads and swap are in it, and so is writeback of file systems without cgroup
//! writeback: Linux has it for btrfs, ext2, ext4, f2fs and xfs (Documentation/admin-guide/cgroup-v2.rst, Filesystem Support
//! for Writeback). A limit is of a whole disk, never of a partition. With native NVMe multipath it is of the head
//! (`nvme0n1`): its paths (`nvme0c0n1`) are hidden and have no number.

mod error;
mod files;
mod held;
mod limits;
#[cfg(test)]
mod test;

pub use error::CgroupError;
pub use files::{CgroupFiles, SystemCgroups};
pub use held::{HeldLimits, LimitedDisk, RestoredLimits, restore_limits};
pub use limits::{IoMax, LimitEntry, moved};

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::sysfs;

/// Groups at the top that are asked for at most; systemd makes three.
const GROUPS_MAX: usize = 256;

/// The control groups of a machine.
#[derive(Clone, Debug)]
pub struct CgroupTree {
    root: PathBuf,
    files: Arc<dyn CgroupFiles>,
}

impl CgroupTree {
    /// That of this machine.
    ///
    /// # Errors
    /// Where there is no cgroup v2, or its `io` controller is not in use.
    pub fn system() -> Result<Self, CgroupError> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let root = mounted(&mounts).ok_or_else(|| CgroupError::NoV2 { v1: has_v1(&mounts) })?;
        Self::at(root, Arc::new(SystemCgroups), has_v1(&mounts))
    }

    /// That of this machine, to put limits back in: where the controller is off by now, its limits are gone.
    ///
    /// # Errors
    /// Where there is no cgroup v2.
    pub fn to_restore() -> Result<Self, CgroupError> {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let root = mounted(&mounts).ok_or_else(|| CgroupError::NoV2 { v1: has_v1(&mounts) })?;
        Ok(Self { root, files: Arc::new(SystemCgroups) })
    }

    /// The one whose root group is at `root`; `v1` tells whether there are groups of version 1 beside.
    ///
    /// # Errors
    /// Where its `io` controller is not in use.
    pub fn at(root: PathBuf, files: Arc<dyn CgroupFiles>, v1: bool) -> Result<Self, CgroupError> {
        let has_io = |name: &str| {
            let text = files.read(&root.join(name)).unwrap_or_default();
            text.split_whitespace().any(|word| word == "io")
        };
        if !has_io("cgroup.controllers") {
            return Err(if v1 { CgroupError::NoV2 { v1 } } else { CgroupError::NoIo { root } });
        }
        if !has_io("cgroup.subtree_control") {
            return Err(CgroupError::IoIsOff { root });
        }
        Ok(Self { root, files })
    }

    /// The groups at the top that can be limited.
    ///
    /// # Errors
    /// When they cannot be listed, or there is none.
    pub fn top(&self) -> Result<Vec<PathBuf>, CgroupError> {
        let names = self.files.groups(&self.root).map_err(self.failed("list", &self.root))?;
        let can = |path: &PathBuf| self.files.read(&path.join(IO_MAX)).is_ok();
        let top: Vec<PathBuf> =
            names.into_iter().map(|name| self.root.join(name)).filter(can).take(GROUPS_MAX).collect();
        if top.is_empty() { Err(CgroupError::NoGroups { root: self.root.clone() }) } else { Ok(top) }
    }

    /// A group by its path, below the root or in full.
    ///
    /// # Errors
    /// When there is none, it is the root, or it has no `io.max`.
    pub fn group(&self, typed: &Path) -> Result<PathBuf, CgroupError> {
        let relative = typed.strip_prefix(&self.root).unwrap_or(typed);
        let relative = relative.strip_prefix("/").unwrap_or(relative);
        let is_plain = relative.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if relative.as_os_str().is_empty() {
            return Err(CgroupError::Root);
        }
        let path = self.root.join(relative);
        if !is_plain || self.files.groups(&path).is_err() {
            return Err(CgroupError::NoGroup { typed: typed.to_owned(), root: self.root.clone() });
        }
        match self.files.read(&path.join(IO_MAX)) {
            Ok(_) => Ok(path),
            Err(_) => Err(CgroupError::NoLimits {
                parent: path.parent().unwrap_or(&self.root).to_owned(),
                group: path,
            }),
        }
    }

    /// Makes a group of that name at the top.
    ///
    /// # Errors
    /// What the system said.
    pub fn make(&self, name: &str) -> Result<PathBuf, CgroupError> {
        let path = self.root.join(name);
        self.files.make(&path).map_err(self.failed("make", &path))?;
        Ok(path)
    }

    /// What people call a group: its path below the root.
    pub fn name<'a>(&self, group: &'a Path) -> std::borrow::Cow<'a, str> {
        group.strip_prefix(&self.root).unwrap_or(group).to_string_lossy()
    }

    /// Bytes that a group has read and written on a disk since it was made; nothing once it is gone.
    pub fn moved(&self, group: &Path, number: &str) -> (u64, u64) {
        let stat = self.files.read(&group.join("io.stat")).unwrap_or_default();
        limits::moved(&stat, number)
    }

    fn failed(&self, what: &'static str, path: &Path) -> impl Fn(io::Error) -> CgroupError + use<> {
        let path = path.to_owned();
        move |source| CgroupError::Io { what, path: path.clone(), source }
    }
}

/// The file with limits.
const IO_MAX: &str = "io.max";

/// Where cgroup v2 is mounted (proc_pid_mountinfo(5): the mount point is the fifth word, the type the first after ` - `).
fn mounted(mountinfo: &str) -> Option<PathBuf> {
    mountinfo.lines().find_map(|line| {
        let (mount, rest) = line.split_once(" - ")?;
        let point = mount.split(' ').nth(4)?;
        (rest.split(' ').next() == Some("cgroup2")).then(|| PathBuf::from(point))
    })
}

fn has_v1(mountinfo: &str) -> bool {
    mountinfo.lines().any(|line| line.split_once(" - ").is_some_and(|(_, rest)| rest.starts_with("cgroup ")))
}

/// The number of a disk, such as `259:0`, below `sys`.
pub fn disk_number(sys: &Path, disk: &str) -> Option<String> {
    sysfs::text(&sys.join("block").join(disk).join("dev"))
}

/// Which boot of the machine this is: limits of control groups end with it.
pub fn boot() -> Option<String> {
    sysfs::text(Path::new("/proc/sys/kernel/random/boot_id"))
}
