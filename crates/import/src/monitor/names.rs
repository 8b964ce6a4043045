//! Names of block devices: which are drives, and which stand on others.

use crate::device::nvme;

/// Block devices that stand on others, or on memory, or hold other media (Linux, Documentation/admin-guide/devices.txt).
const LAYERS: [&str; 8] = ["dm-", "md", "loop", "zram", "ram", "sr", "fd", "nbd"];

pub(crate) fn is_layer(name: &str) -> bool {
    let layered = |layer: &str| {
        name.strip_prefix(layer).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    // Sums: of Windows, and of `iostat -g ALL`.
    ["_Total", "ALL"].contains(&name) || LAYERS.into_iter().any(layered)
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

/// `sda1` of `sda`, `nvme0n1p1` of `nvme0n1`, `mmcblk0p2` of `mmcblk0`, `ata-X-part1` of `ata-X`.
pub(super) fn is_partition_of(name: &str, whole: &str) -> bool {
    let Some(rest) = name.strip_prefix(whole).filter(|rest| !rest.is_empty()) else { return false };
    let number = match rest.strip_prefix("-part") {
        None if whole.ends_with(|c: char| c.is_ascii_digit()) => rest.strip_prefix('p'),
        None => Some(rest),
        named => named,
    };
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}
