//! Names of block devices: which are drives, and which stand on others.

use std::cmp::Ordering;

use crate::device::nvme;

/// Block devices that stand on others, or on memory, or hold other media (Linux, Documentation/admin-guide/devices.txt).
const LAYERS: [&str; 8] = ["dm-", "md", "loop", "zram", "ram", "sr", "fd", "nbd"];

pub(crate) fn is_layer(name: &str) -> bool {
    let layered = |layer: &str| {
        name.strip_prefix(layer).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    // Sums: of Windows, and of groups of iostat (`-g`).
    ["_Total", "ALL", "all", "total"].contains(&name)
        || LAYERS.into_iter().any(layered)
        || numbers(name).is_some_and(|(major, _)| LAYER_MAJORS.contains(&major))
}

/// Major numbers of the same: memory, floppy disks, loop devices, md, optical drives, nbd, DRBD, ZFS volumes.
const LAYER_MAJORS: [u32; 8] = [1, 2, 7, 9, 11, 43, 147, 230];

/// Major and minor number, as sar names devices whose names it does not know (`dev8-2`).
fn numbers(name: &str) -> Option<(u32, u32)> {
    let (major, minor) = name.strip_prefix("dev")?.split_once('-')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Whether two names are numbers of one major.
pub(super) fn have_same_major(name: &str, other: &str) -> bool {
    numbers(name).zip(numbers(other)).is_some_and(|((major, _), (of_other, _))| major == of_other)
}

/// Whether a number is an NVMe drive's or of a partition of one: of other drives only partitions behind the fifteenth have that major.
pub(super) fn is_of_nvme(name: &str) -> bool {
    numbers(name).is_some_and(|(major, _)| major == NVME_MAJOR)
}

/// Block extended major (devices.txt), which NVMe drives have.
const NVME_MAJOR: u32 = 259;

/// Whether a number may be the device mapper's, whose major is one of the last that are given out as they come (and virtio's).
pub(super) fn is_of_mapper(name: &str) -> bool {
    numbers(name).is_some_and(|(major, _)| (252..=254).contains(&major))
}

/// How many minor numbers a whole drive of that major has, where that is fixed: SCSI and virtual drives of Xen 16, IDE 64
/// (devices.txt). Majors of NVMe (259), virtio and the device mapper are given out as they come.
const fn minors_a_drive(major: u32) -> Option<u32> {
    match major {
        8 | 65..=71 | 128..=135 | 202 => Some(16),
        3 | 22 => Some(64),
        _ => None,
    }
}

/// Whether a name is sure to be a block device's that is a drive, or a part of one: others may be any layer's.
pub(super) fn is_surely_drive(name: &str) -> bool {
    let lettered = |prefix: &str| {
        let rest = name.strip_prefix(prefix).unwrap_or_default();
        rest.starts_with(|c: char| c.is_ascii_lowercase()) && rest.len() <= 5
    };
    is_drive(name)
        || ["sd", "vd", "hd", "xvd"].into_iter().any(lettered)
        || numbers(name).is_some_and(|(major, _)| minors_a_drive(major).is_some())
}

/// Which of two names of one load is rather the drive's, that first: numbers of drives are given out before those of what lies on them, and
/// 259 is of NVMe.
pub(super) fn order(name: &str, other: &str) -> Ordering {
    let rank = |name: &str| numbers(name).map(|(major, minor)| (major != NVME_MAJOR, major, minor));
    match (rank(name), rank(other)) {
        (Some(name), Some(other)) => name.cmp(&other),
        _ => name.cmp(other),
    }
}

/// Whether a name is rather the drive's than another one.
pub(super) fn comes_before(name: &str, other: &str) -> bool {
    order(name, other).is_lt()
}

/// `nvme0` of `nvme0n1`.
pub(super) fn controller(drive: &str) -> Option<&str> {
    nvme(drive).filter(|(_, rest)| rest.starts_with('n')).map(|(controller, _)| controller)
}

/// `nvme0n1`, `sda`, `mmcblk0` as a word.
pub(crate) fn is_drive(word: &str) -> bool {
    let after = |prefix: &str| word.strip_prefix(prefix).unwrap_or("");
    after("nvme").starts_with(|c: char| c.is_ascii_digit())
        || after("mmcblk").starts_with(|c: char| c.is_ascii_digit())
        || (word.len() == 3 && (word.starts_with("sd") || word.starts_with("vd")))
}

/// `nvme0c0n1`, one way to `nvme0n1`: the kernel counts what goes over it beside the drive (nvme-multipath).
pub(super) fn is_path_of(name: &str, whole: &str) -> bool {
    let path = || {
        let (controller, rest) = nvme(name)?;
        let namespace = rest.strip_prefix('c')?.trim_start_matches(|c: char| c.is_ascii_digit());
        Some(format!("{controller}{namespace}"))
    };
    path().is_some_and(|drive| drive == whole && name != whole)
}

/// `sda1` of `sda`, `nvme0n1p1` of `nvme0n1`, `mmcblk0p2` of `mmcblk0`, `ata-X-part1` of `ata-X`, `dev8-2` of `dev8-0`.
pub(super) fn is_partition_of(name: &str, whole: &str) -> bool {
    if let (Some((major, minor)), Some((of_major, of_minor))) = (numbers(name), numbers(whole)) {
        let first = minors_a_drive(major).map(|count| minor - minor % count);
        return major == of_major && first == Some(of_minor) && minor != of_minor;
    }
    let Some(rest) = name.strip_prefix(whole).filter(|rest| !rest.is_empty()) else { return false };
    let number = match rest.strip_prefix("-part") {
        None if whole.ends_with(|c: char| c.is_ascii_digit()) => rest.strip_prefix('p'),
        None => Some(rest),
        named => named,
    };
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}
