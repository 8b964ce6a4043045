//! Who uses a device now: mounts, swap, what is built on it, who has it open.
//!
//! The kernel's own exclusive use (mounts of other namespaces, ZFS, RAID) shows for certain only when the device is
//! opened exclusively, which [`super::claim()`] does. What is found here says who it is, in words.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::drive::Device;
use super::{Kind, Roots, Situation};
use crate::sysfs::{entries, text};

/// Everything that uses `device`, its partitions, or the disk that it is a partition of.
pub(super) fn find(device: &Device, roots: &Roots, notes: &mut Vec<String>) -> Vec<Situation> {
    let mut found = mounts(device, roots, notes);
    found.extend(swaps(device, roots));
    found.extend(holders(device, roots));
    found.extend(loops(device, roots));
    found.extend(exports(device, roots));
    found.extend(scsi_targets(device, roots));
    found.extend(processes(device, roots, notes));
    found
}

/// Whether a path names the device, one of its partitions, or its disk: by number, and where it is not there by name.
fn names(device: &Device, roots: &Roots, path: &Path) -> Option<String> {
    let node = |matches: &dyn Fn(&str, &str) -> bool| {
        device
            .nodes_of_users()
            .find(|node| matches(&node.name, &node.number))
            .map(|node| node.path(&roots.dev))
    };
    if let Ok(metadata) = fs::metadata(path)
        && metadata.file_type().is_block_device()
    {
        let number = number(metadata.rdev());
        return node(&|_, own| own == number);
    }
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path.file_name()?.to_str()?.to_owned();
    let below_dev = path.starts_with("/dev") || path.starts_with(&roots.dev);
    below_dev.then(|| node(&|own, _| own == name)).flatten()
}

/// A path as the kernel prints it in a table, below another root where there is one.
fn place(roots: &Roots, typed: &str) -> PathBuf {
    let path = PathBuf::from(unescaped(typed));
    match path.strip_prefix("/dev") {
        Ok(rest) => roots.dev.join(rest),
        Err(_) => path,
    }
}

/// Mounts in this namespace (proc(5), mountinfo): by number, and by source for file systems of several devices, whose
/// number is nobody's (btrfs, which lists its devices in sysfs).
fn mounts(device: &Device, roots: &Roots, notes: &mut Vec<String>) -> Vec<Situation> {
    let table = match fs::read_to_string(roots.proc.join("self/mountinfo")) {
        Ok(table) => table,
        Err(error) => {
            notes.push(format!("the list of mounts could not be read ({error})"));
            String::new()
        }
    };
    let mut found = Vec::new();
    for line in table.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [_, _, number, _, point, ..] = fields[..] else { continue };
        let source = fields.iter().skip_while(|field| **field != "-").nth(2);
        let by_number =
            device.nodes_of_users().find(|node| node.number == number).map(|node| node.path(&roots.dev));
        let of_source =
            || names(device, roots, &place(roots, source.filter(|source| source.starts_with('/'))?));
        if let Some(node) = by_number.or_else(of_source) {
            found.push(mounted(&node, &format!("mounted at {}", unescaped(point))));
        }
    }
    let btrfs = roots.sys.join("fs/btrfs");
    for pool in entries(&btrfs) {
        for member in entries(&btrfs.join(&pool).join("devices")) {
            if let Some(node) = device.nodes_of_users().find(|node| node.name == member) {
                found.push(mounted(&node.path(&roots.dev), &format!("part of the mounted btrfs {pool}")));
            }
        }
    }
    found
}

fn mounted(node: &str, how: &str) -> Situation {
    Situation::new(Kind::Mounted, format!("{node} is {how}"))
}

fn swaps(device: &Device, roots: &Roots) -> Vec<Situation> {
    let table = fs::read_to_string(roots.proc.join("swaps")).unwrap_or_default();
    let paths = table.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let nodes = paths.filter_map(|path| names(device, roots, &place(roots, path)));
    nodes.map(|node| Situation::new(Kind::Swap, format!("the kernel swaps to {node}"))).collect()
}

/// What is built on it (sysfs-block, `holders`).
fn holders(device: &Device, roots: &Roots) -> Vec<Situation> {
    let mut found = Vec::new();
    for node in device.nodes_of_users() {
        for holder in entries(&node.folder.join("holders")) {
            let place = roots.sys.join("class/block").join(&holder);
            // Device mapper has names for people.
            let name = text(&place.join("dm/name")).map_or(String::new(), |name| format!(" ({name})"));
            let level = text(&place.join("md/level")).map_or(String::new(), |level| format!(" ({level})"));
            let text = format!("{holder}{name}{level} is built on {}", node.path(&roots.dev));
            found.push(Situation::new(Kind::Held, text));
        }
    }
    found
}

/// Loop devices that read and write through it (sysfs-block-loop).
fn loops(device: &Device, roots: &Roots) -> Vec<Situation> {
    let block = roots.sys.join("block");
    let mut found = Vec::new();
    // One that was named itself reads and writes through what it lies on.
    let own = device.disk.as_ref().unwrap_or(&device.own);
    for name in entries(&block).into_iter().filter(|name| name.starts_with("loop") && *name != own.name) {
        let Some(file) = text(&block.join(&name).join("loop/backing_file")) else { continue };
        if let Some(node) = names(device, roots, &place(roots, &file)) {
            found.push(Situation::new(Kind::BacksLoop, format!("{name} reads and writes through {node}")));
        }
    }
    found
}

/// Namespaces that this machine serves to others (Linux, `drivers/nvme/target/configfs.c`): the kernel does not open
/// their devices exclusively.
fn exports(device: &Device, roots: &Roots) -> Vec<Situation> {
    let subsystems = roots.sys.join("kernel/config/nvmet/subsystems");
    let mut found = Vec::new();
    for subsystem in entries(&subsystems) {
        let namespaces = subsystems.join(&subsystem).join("namespaces");
        for namespace in entries(&namespaces).into_iter().map(|name| namespaces.join(name)) {
            let enabled = text(&namespace.join("enable")).as_deref() == Some("1");
            let Some(path) = text(&namespace.join("device_path")).filter(|_| enabled) else { continue };
            if let Some(node) = names(device, roots, &place(roots, &path)) {
                let text = format!("{node} is served over NVMe-oF as {subsystem}");
                found.push(Situation::new(Kind::Exported, text));
            }
        }
    }
    found
}

/// Drives that this machine serves by SCSI (Linux, `drivers/target/target_core_configfs.c`): the backend for files opens
/// a block device like any file, without exclusion (`target_core_file.c`, `fd_configure_device`).
fn scsi_targets(device: &Device, roots: &Roots) -> Vec<Situation> {
    let core = roots.sys.join("kernel/config/target/core");
    let mut found = Vec::new();
    for backend in entries(&core) {
        for name in entries(&core.join(&backend)) {
            let place_of = core.join(&backend).join(&name);
            let enabled = text(&place_of.join("enable")).as_deref() == Some("1");
            let Some(path) = text(&place_of.join("udev_path")).filter(|_| enabled) else { continue };
            if let Some(node) = names(device, roots, &place(roots, &path)) {
                let text = format!("{node} is served by the SCSI target as {backend}/{name}");
                found.push(Situation::new(Kind::Exported, text));
            }
        }
    }
    found
}

/// Processes that have it open (proc(5), `fd` and `fdinfo`); this one does not count.
fn processes(device: &Device, roots: &Roots, notes: &mut Vec<String>) -> Vec<Situation> {
    let own = std::process::id().to_string();
    let mut found = Vec::new();
    let mut unseen = false;
    let pids = entries(&roots.proc).into_iter().filter(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()));
    for pid in pids.filter(|pid| *pid != own) {
        let process = roots.proc.join(&pid);
        unseen |=
            fs::read_dir(process.join("fd")).is_err_and(|e| e.kind() == std::io::ErrorKind::PermissionDenied);
        for fd in entries(&process.join("fd")) {
            let Some(node) = opened(device, roots, &process.join("fd").join(&fd)) else { continue };
            let name = text(&process.join("comm")).unwrap_or_else(|| "a process".to_owned());
            let writes = opened_for_writing(&process.join("fdinfo").join(&fd));
            let (kind, what) =
                if writes { (Kind::OpenForWriting, "writing") } else { (Kind::OpenForReading, "reading") };
            found.push(Situation::new(kind, format!("{name} (process {pid}) has {node} open for {what}")));
        }
    }
    if unseen {
        notes.push("files that other users' processes have open could not be looked at; root can".to_owned());
    }
    found
}

/// The node that a file descriptor leads to. Following it asks what was opened, whatever its name is now.
fn opened(device: &Device, roots: &Roots, fd: &Path) -> Option<String> {
    if let Ok(metadata) = fs::metadata(fd) {
        if metadata.file_type().is_char_device() {
            let number = number(metadata.rdev());
            return commands_to(device, roots, &|_, own| own == number);
        }
        return names(device, roots, fd);
    }
    let target = fs::read_link(fd).ok()?;
    let path = place(roots, target.to_str()?);
    names(device, roots, &path)
        .or_else(|| commands_to(device, roots, &|name, _| path == roots.dev.join(name)))
}

/// The character device through which commands go to the same blocks, past the block device: `ng0n1` of `nvme0n1`
/// (sysfs-class-nvme-generic), `sg0` of a SCSI disk.
fn commands_to(device: &Device, roots: &Roots, matches: &dyn Fn(&str, &str) -> bool) -> Option<String> {
    for node in device.nodes_of_users() {
        let nvme = node.name.strip_prefix("nvme").map(|rest| format!("ng{rest}"));
        let nvme = nvme.map(|name| (roots.sys.join("class/nvme-generic").join(&name), name));
        let scsi = node.folder.join("device/scsi_generic");
        let scsi = entries(&scsi).into_iter().map(|name| (scsi.join(&name), name));
        for (folder, name) in nvme.into_iter().chain(scsi) {
            let own = text(&folder.join("dev")).unwrap_or_default();
            if matches(&name, &own) {
                return Some(roots.dev.join(&name).display().to_string());
            }
        }
    }
    None
}

fn number(rdev: u64) -> String {
    format!("{}:{}", rustix::fs::major(rdev), rustix::fs::minor(rdev))
}

/// By the open flags, in octal (proc(5), fdinfo); what cannot be read is taken for writing.
fn opened_for_writing(info: &Path) -> bool {
    let info = fs::read_to_string(info).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // O_RDONLY is 0 of the two lowest bits (fcntl.h).
    flags.is_none_or(|flags| flags & 0o3 != 0)
}

/// Blanks and the like are written in octal: `\040` (proc(5), mountinfo).
fn unescaped(typed: &str) -> String {
    let mut bytes = Vec::with_capacity(typed.len());
    let mut rest = typed.as_bytes();
    while let [first, tail @ ..] = rest {
        let octal =
            tail.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(byte);
            rest = &tail[3..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn octal_is_undone_and_the_rest_left_alone() {
        for (typed, meant) in [
            ("/mnt/my\\040disk", "/mnt/my disk"),
            ("/a\\134b", "/a\\b"),
            ("/a\\", "/a\\"),
            ("/a\\9zz", "/a\\9zz"),
            ("/a\\777", "/a\\777"),
        ] {
            assert_eq!(unescaped(typed), meant);
        }
    }
}
