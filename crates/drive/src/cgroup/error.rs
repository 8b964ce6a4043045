//! Why a load was not limited, and what to do.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::settings::journal::JournalError;

/// Why a load was not limited.
#[derive(Debug, Error)]
pub enum CgroupError {
    /// No cgroup v2, or one beside version 1 that has the controller.
    #[error(
        "cannot limit the load of others: {}; it takes cgroup v2 with its io controller. Boot with \
         systemd.unified_cgroup_hierarchy=1 on the kernel's command line, or name a PLAN to govern a load of ours",
        if *v1 { "block I/O of this machine is under cgroup v1" } else { "no cgroup v2 is mounted here" }
    )]
    NoV2 {
        /// Whether there are groups of version 1.
        v1: bool,
    },
    /// The controller is not there.
    #[error(
        "cannot limit the load of others: {} has no io controller; it takes a kernel with CONFIG_BLK_CGROUP and \
         CONFIG_BLK_DEV_THROTTLING, and no container around it that keeps it back",
        root.display()
    )]
    NoIo {
        /// The root group.
        root: PathBuf,
    },
    /// The controller is not switched on.
    #[error(
        "cannot limit the load of others: the io controller is off for the groups of {0}; switch it on with \
         `echo +io > {0}/cgroup.subtree_control`, or with `DefaultIOAccounting=yes` in /etc/systemd/system.conf to keep it",
        root.display()
    )]
    IoIsOff {
        /// The root group.
        root: PathBuf,
    },
    /// Nothing to limit.
    #[error("cannot limit the load of others: no group in {} has an io.max", root.display())]
    NoGroups {
        /// The root group.
        root: PathBuf,
    },
    /// The root group was named.
    #[error(
        "cannot govern the root group: the kernel has no io.max for it; name a group below it, or none for all at the top"
    )]
    Root,
    /// No such group.
    #[error("there is no control group {} in {}; `systemd-cgls` lists them", typed.display(), root.display())]
    NoGroup {
        /// As typed.
        typed: PathBuf,
        /// The root group.
        root: PathBuf,
    },
    /// A group without limits.
    #[error(
        "cannot govern {}: it has no io.max; switch the io controller on with `echo +io > {}/cgroup.subtree_control`",
        group.display(),
        parent.display()
    )]
    NoLimits {
        /// The group.
        group: PathBuf,
        /// The group that it is in.
        parent: PathBuf,
    },
    /// The system refused.
    #[error("cannot {what} {}: {source}; limits of control groups take root", path.display())]
    Io {
        /// What was attempted, as a verb.
        what: &'static str,
        /// The file or group.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A group of ours cannot be removed.
    #[error("its limits are gone, but processes that COMMAND has left behind still run in {}", group.display())]
    Busy {
        /// The group.
        group: PathBuf,
    },
    /// The kernel took it and has something else.
    #[error("wrote {wanted} to {} and read back {got}: somebody else changes it as well", path.display())]
    NotApplied {
        /// The file.
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

impl CgroupError {
    /// Whether the group is gone, as groups go when what ran in them has ended.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound || source.raw_os_error() == Some(libc::ENODEV))
    }
}
