//! What lies between a file system and the disk: partitions, LVM, LUKS, RAID, and whether each passes discards on.
//!
//! Each layer is a block device with limits of its own: `queue/discard_max_bytes` is 0 where it passes none
//! (dm-crypt without `allow_discards`, for one; Linux `drivers/md/dm-table.c`, `dm_table_supports_discards`). Folders of
//! the kernel are parameters.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::guard::Roots;
use crate::sysfs::{LAYERS_MAX, disk_folder, entries, text};

/// Names that a machine can have above one disk; more are not shown.
const LAYER_NODES_MAX: usize = 256;

/// One block device on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrimLayer {
    /// The kernel's name: `sda1`, `dm-0`.
    pub name: String,
    /// What it is: `partition`, `crypt`, `lvm`, `raid`, `mapping`.
    pub what: &'static str,
    /// The name that people gave it, where it has one.
    pub label: Option<String>,
    /// How many layers lie below it.
    pub depth: usize,
    /// Whether discards pass through it; `null` for a partition, which passes what its disk does.
    pub passes: Option<bool>,
    /// Where it is mounted, with its file system and whether it discards by itself: `/mnt ext4 discard`.
    pub mounts: Vec<TrimMount>,
}

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrimMount {
    /// Where.
    pub point: String,
    /// Its type.
    pub file_system: String,
    /// Whether it was mounted with `discard`: it trims what is deleted at once. Without it `fstrim` does.
    pub discards: bool,
}

/// Everything on the disk `name`, each layer after what it lies on.
pub fn above(roots: &Roots, name: &str) -> Vec<TrimLayer> {
    let Ok(folder) = fs::canonicalize(roots.sys.join("class/block").join(name)) else { return Vec::new() };
    let disk = disk_folder(&folder).to_owned();
    let mounts = fs::read_to_string(roots.proc.join("self/mountinfo")).unwrap_or_default();
    let mut found = Vec::new();
    let mut looker = Looker { roots, mounts: &mounts, found: &mut found };
    looker.add(&disk, 0);
    found
}

struct Looker<'a> {
    roots: &'a Roots,
    mounts: &'a str,
    found: &'a mut Vec<TrimLayer>,
}

impl Looker<'_> {
    /// The device in `folder`, its partitions, and what holds either.
    fn add(&mut self, folder: &Path, depth: usize) {
        if depth > LAYERS_MAX || self.found.len() >= LAYER_NODES_MAX {
            return;
        }
        let number = text(&folder.join("dev")).unwrap_or_default();
        let mounts = mounts_of(self.mounts, &number);
        // The disk itself is no layer, but may be mounted without a partition.
        if depth > 0 || !mounts.is_empty() {
            self.found.push(layer(folder, depth, mounts));
        }
        for name in entries(folder) {
            let part = folder.join(&name);
            if part.join("partition").is_file() {
                self.add(&part, depth + 1);
            }
        }
        for holder in entries(&folder.join("holders")) {
            if let Ok(above) = fs::canonicalize(self.roots.sys.join("class/block").join(holder)) {
                self.add(&above, depth + 1);
            }
        }
    }
}

fn layer(folder: &Path, depth: usize, mounts: Vec<TrimMount>) -> TrimLayer {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let uuid = text(&folder.join("dm/uuid")).unwrap_or_default();
    let is_partition = folder.join("partition").is_file();
    let what = match uuid.split('-').next() {
        _ if is_partition => "partition",
        Some("CRYPT") => "crypt",
        Some("LVM") => "lvm",
        _ if folder.join("md").is_dir() => "raid",
        _ if depth == 0 => "disk",
        _ => "mapping",
    };
    let most = text(&folder.join("queue/discard_max_bytes")).and_then(|most| most.parse::<u64>().ok());
    let passes = most.map(|most| most > 0).filter(|_| !is_partition);
    TrimLayer { name, what, label: text(&folder.join("dm/name")), depth, passes, mounts }
}

/// proc(5), mountinfo: field 3 is the device's number, 5 the mount point; after a lone `-` come type, source and the file
/// system's own options.
fn mounts_of(mountinfo: &str, number: &str) -> Vec<TrimMount> {
    let one = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ');
        let (device, point) = (fields.nth(2)?, fields.nth(1)?);
        let mut rest = after.split(' ');
        let (file_system, options) = (rest.next()?, rest.nth(1).unwrap_or_default());
        (device == number).then(|| TrimMount {
            point: point.to_owned(),
            file_system: file_system.to_owned(),
            discards: options.split(',').any(|one| one == "discard" || one.starts_with("discard=")),
        })
    };
    if number.is_empty() { Vec::new() } else { mountinfo.lines().filter_map(one).collect() }
}
