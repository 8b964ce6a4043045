//! What the kernel tells about a disk and the way to it: queue, power management of the link, NUMA.
//!
//! From sysfs alone, whose folder is a parameter. What is not there is `null`.
//! Layout: Linux Documentation/ABI/stable/sysfs-block and Documentation/ABI/testing/sysfs-bus-pci.

use std::fs;
use std::path::{Path, PathBuf};

use drive::sysfs::text;
use schemars::JsonSchema;
use serde::Serialize;

/// What the kernel reports of a disk and its path.
#[derive(Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Platform {
    /// Whether the kernel takes it for a rotating disk.
    pub(super) rotational: Option<bool>,
    /// I/O scheduler.
    pub(super) scheduler: Option<String>,
    /// Logical block size.
    logical_block_bytes: Option<u64>,
    /// Physical block size.
    physical_block_bytes: Option<u64>,
    /// Optimal I/O size; `null` where none is stated.
    optimal_io_bytes: Option<u64>,
    /// Larger I/Os are cut into pieces of it.
    pub(super) max_io_bytes: Option<u64>,
    /// What the drive could take in one piece.
    max_hardware_io_bytes: Option<u64>,
    /// Requests that the queue holds (nr_requests).
    requests: Option<u64>,
    /// 0 where nothing can be deallocated.
    discard_max_bytes: Option<u64>,
    /// Write cache as the kernel takes it: write back or write through.
    write_cache: Option<String>,
    /// NUMA node; -1 is none.
    pub(super) numa_node: Option<i64>,
    /// The kernel's policy of PCIe link power, such as `default` or `powersave`.
    pub(super) aspm_policy: Option<String>,
    /// Whether the link of this drive may sleep (L1); `null` where it is no PCIe drive.
    pub(super) aspm_l1: Option<bool>,
}

impl Platform {
    /// Of `disk`, a name such as `nvme0n1`.
    pub(super) fn read(sysfs: &Path, disk: &str) -> Self {
        let place = fs::canonicalize(sysfs.join("class/block").join(disk)).unwrap_or_default();
        let queue = |name: &str| text(&place.join("queue").join(name));
        let number = |name: &str| queue(name)?.parse::<u64>().ok();
        let kib = |name: &str| number(name).map(|kib| kib * 1024);
        let aspm = text(&sysfs.join("module/pcie_aspm/parameters/policy"));
        Self {
            rotational: number("rotational").map(|rotational| rotational != 0),
            scheduler: queue("scheduler").map(|list| chosen(&list)),
            logical_block_bytes: number("logical_block_size"),
            physical_block_bytes: number("physical_block_size"),
            optimal_io_bytes: number("optimal_io_size").filter(|bytes| *bytes > 0),
            max_io_bytes: kib("max_sectors_kb"),
            max_hardware_io_bytes: kib("max_hw_sectors_kb"),
            requests: number("nr_requests"),
            discard_max_bytes: number("discard_max_bytes"),
            write_cache: queue("write_cache"),
            // -1 where there is only one node.
            numa_node: above(sysfs, &place, "numa_node")
                .and_then(|node| node.parse().ok())
                .filter(|node| *node >= 0),
            aspm_policy: aspm.map(|list| chosen(&list)),
            aspm_l1: above(sysfs, &place, "link/l1_aspm").map(|on| on == "1"),
        }
    }
}

/// The one in brackets: `[none] mq-deadline`, `default performance [powersave]`.
fn chosen(list: &str) -> String {
    let bracketed = list.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(one, _)| one);
    bracketed.unwrap_or(list).to_owned()
}

/// An attribute of the nearest device above that has it.
fn above(sysfs: &Path, place: &Path, name: &str) -> Option<String> {
    let folders: Vec<PathBuf> = place.ancestors().map(Path::to_owned).collect();
    folders
        .into_iter()
        .take_while(|folder| folder.starts_with(sysfs))
        .find_map(|folder| text(&folder.join(name)).or_else(|| text(&folder.join("device").join(name))))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_one_in_brackets_is_chosen() {
        assert_eq!(chosen("[none] mq-deadline kyber"), "none");
        assert_eq!(chosen("default performance [powersave] powersupersave"), "powersave");
        assert_eq!(chosen("none"), "none");
    }

    /// Goal: what is not told is absent, and what is told comes from the disk or the device above it.
    #[test]
    fn attributes_come_from_the_disk_and_the_device_above_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let sysfs = folder.path();
        let disk = sysfs.join("devices/pci0/0000:01:00.0/nvme/nvme0/nvme0n1");
        let write = |path: PathBuf, value: &str| {
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, value).expect("written");
        };
        write(disk.join("queue/rotational"), "0\n");
        write(disk.join("queue/max_sectors_kb"), "128\n");
        write(disk.join("queue/scheduler"), "[none] mq-deadline\n");
        write(sysfs.join("devices/pci0/0000:01:00.0/numa_node"), "1\n");
        write(sysfs.join("devices/pci0/0000:01:00.0/link/l1_aspm"), "1\n");
        fs::create_dir_all(sysfs.join("class/block")).expect("made");
        std::os::unix::fs::symlink(&disk, sysfs.join("class/block/nvme0n1")).expect("linked");
        let platform = Platform::read(sysfs, "nvme0n1");
        assert_eq!((platform.rotational, platform.max_io_bytes), (Some(false), Some(131_072)));
        assert_eq!((platform.numa_node, platform.aspm_l1), (Some(1), Some(true)));
        assert_eq!((platform.scheduler.as_deref(), platform.requests), (Some("none"), None));
        assert_eq!(Platform::read(sysfs, "sda"), Platform::default());
    }
}
