//! What the guest needs of this machine: each program, the Debian package it comes in, and why.
//!
//! One table for three uses: what goes into the guest's root, what is missing here, and the `apt-get`
//! line that mends it. `.ci/run` installs the same packages; a test compares the two.

use std::path::{Path, PathBuf};

/// Where Debian keeps programs.
const FOLDERS: &[&str] = &["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// The emulator.
pub(super) const QEMU: &str = "qemu-system-x86_64";

/// One Debian package and what is wanted of it.
pub(super) struct Package {
    /// Its name.
    pub(super) name: &'static str,
    /// Programs that must be on this machine, and that are not copied into the guest.
    pub(super) here: &'static [&'static str],
    /// Programs that are copied into the guest, with their libraries.
    pub(super) inside: &'static [&'static str],
}

const fn here(name: &'static str, here: &'static [&'static str]) -> Package {
    Package { name, here, inside: &[] }
}

const fn inside(name: &'static str, inside: &'static [&'static str]) -> Package {
    Package { name, here: &[], inside }
}

/// Everything. The C library and what every program needs come along as libraries.
pub(super) const PACKAGES: &[Package] = &[
    // To make and start a guest.
    here("qemu-system-x86", &[QEMU]),
    here("cpio", &["cpio"]),
    here("xz-utils", &["xz"]),
    here("zstd", &["zstd"]),
    Package { name: "kmod", here: &["depmod", "modprobe"], inside: &["kmod"] },
    Package { name: "e2fsprogs", here: &["mke2fs"], inside: &["mke2fs"] },
    // To live in it.
    inside("busybox-static", &["busybox"]),
    inside("udev", &["udevadm"]),
    // The referees.
    inside("nvme-cli", &["nvme"]),
    inside("smartmontools", &["smartctl"]),
    inside("fio", &["fio"]),
    inside("sg3-utils", &["sg_inq", "sg_logs", "sg_readcap", "sg_unmap", "sg_vpd"]),
    inside("strace", &["strace"]),
    here("tshark", &["tshark"]),
    // What can lie on a drive and must be recognised there.
    Package {
        name: "util-linux",
        here: &["setpriv"],
        inside: &["blkdiscard", "blkid", "findmnt", "lsblk", "mkswap", "wipefs"],
    },
    inside("mount", &["losetup", "mount", "swapoff", "swapon", "umount"]),
    inside("fdisk", &["sfdisk"]),
    inside("xfsprogs", &["mkfs.xfs"]),
    inside("dosfstools", &["mkfs.fat"]),
    inside("btrfs-progs", &["btrfs", "mkfs.btrfs"]),
    inside("mdadm", &["mdadm"]),
    inside("lvm2", &["lvm"]),
    inside("dmsetup", &["dmsetup"]),
    inside("cryptsetup-bin", &["cryptsetup"]),
];

/// The place of `program` on this machine.
pub(super) fn place(program: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.exists())
}

/// What this machine lacks, with the line that mends it; `None` when nothing is missing.
pub(super) fn missing() -> Option<String> {
    let lacks = |package: &&Package| package.here.iter().chain(package.inside).any(|p| place(p).is_none());
    let names: Vec<&str> = PACKAGES.iter().filter(lacks).map(|package| package.name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "the guest needs programs that are not installed; as root: apt-get update && apt-get install \
             --no-install-recommends {}",
            names.join(" ")
        )
    })
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::cargo;

    #[test]
    fn ci_installs_every_package_with_a_reason() {
        let script = std::fs::read_to_string(cargo::root().join(".ci/run")).expect("CI has a script");
        let listed = |name: &str| {
            let mut lines = script.lines().filter_map(|line| line.trim().split_once('#'));
            lines.any(|(package, reason)| package.trim() == name && !reason.trim().is_empty())
        };
        let forgotten: Vec<_> = PACKAGES.iter().map(|package| package.name).filter(|n| !listed(n)).collect();
        assert!(forgotten.is_empty(), ".ci/run does not install {forgotten:?}");
    }

    #[test]
    fn a_program_is_found_where_debian_keeps_it() {
        assert!(place("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(place("no-such-program"), None);
    }
}
