//! The block devices of this machine, as sysfs shows them.
//!
//! Nothing is opened and no command is sent: what stands here is what the kernel tells anybody. Virtual
//! devices (loop, ram, device mapper, md) are left out; they can be named all the same. The folders are
//! parameters, so that recorded trees serve as fixtures.
//!
//! Layout: Linux `Documentation/ABI/stable/sysfs-block` and `Documentation/ABI/testing/sysfs-class-nvme`.

use std::fs;
use std::io;
use std::path::Path;

use drive::DriveIdentity;
pub(crate) use drive::guard::Roots;
use drive::sysfs::{entries, text};
use drive::telemetry::{hwmon, smartctl};
use drive::usb::UsbBridge;
use schemars::JsonSchema;
use serde::Serialize;

/// One drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct BlockDevice {
    /// The address to give to `--drive`.
    pub(crate) address: String,
    /// A name that stays the same over reboots; `None` where udev made none.
    pub(crate) by_id: Option<String>,
    /// Who it is.
    #[serde(flatten)]
    pub(crate) identity: DriveIdentity,
    /// USB bridge before it with protocol and negotiated speed; `null` for a drive behind none.
    pub(crate) bridge: Option<String>,
    /// Logical block size in bytes.
    pub(crate) block_bytes: Option<u64>,
    /// Where readings of temperature come from.
    pub(crate) temperature: Vec<String>,
    /// What uses it now: mounts, swap, and devices built on it.
    pub(crate) in_use: Vec<String>,
}

/// All drives, in order of their names.
///
/// # Errors
/// When `/sys/block` cannot be read. A device that goes away meanwhile is left out.
pub(crate) fn all(roots: &Roots) -> io::Result<Vec<BlockDevice>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(roots.sys.join("block"))? {
        names.extend(entry?.file_name().into_string());
    }
    names.sort();
    Ok(names.iter().filter_map(|name| one(roots, name)).collect())
}

/// One device; `None` for virtual, hidden, empty and vanished ones.
pub(crate) fn one(roots: &Roots, name: &str) -> Option<BlockDevice> {
    let place = fs::canonicalize(roots.sys.join("block").join(name)).ok()?;
    // With native multipath an NVMe namespace lies under devices/virtual/nvme-subsystem, and each path
    // to it is a hidden device beside it.
    let is_virtual = place.components().any(|part| part.as_os_str() == "virtual");
    if is_virtual && !name.starts_with("nvme") || text(&place.join("hidden")).as_deref() == Some("1") {
        return None;
    }
    let identity = DriveIdentity::read(&roots.sys, name).filter(|identity| identity.size_bytes > 0)?;
    Some(BlockDevice {
        address: format!("/dev/{name}"),
        by_id: by_id(&roots.dev, name),
        bridge: UsbBridge::of_disk(&roots.sys, name).map(|bridge| link_of_bridge(&bridge)),
        identity,
        block_bytes: number(&place.join("queue/logical_block_size")),
        temperature: temperature(&roots.sys, name),
        in_use: in_use(roots, name, &place),
    })
}

/// A bridge in a line, with how it is connected.
fn link_of_bridge(bridge: &UsbBridge) -> String {
    let protocol = bridge.protocol.map_or(String::new(), |protocol| format!(", {}", protocol.name()));
    let speed = bridge.speed_mbps.map_or(String::new(), |speed| format!(", {speed} Mb/s"));
    format!("{}{protocol}{speed}", bridge.text())
}

/// Where readings of temperature come from, as a run takes them; none is an empty list.
fn temperature(sys: &Path, name: &str) -> Vec<String> {
    let mut sources = Vec::new();
    if name.starts_with("nvme") {
        sources.push("SMART log".to_owned());
    }
    let hwmon = hwmon::find(sys, name);
    let folder = hwmon.as_deref().and_then(Path::parent).and_then(Path::file_name);
    sources.extend(folder.and_then(|folder| folder.to_str()).map(str::to_owned));
    // Whether the drive, or the bridge before it, answers smartctl shows only when it is asked.
    if sources.is_empty() && name.starts_with("sd") && smartctl::is_installed() {
        sources.push("smartctl".to_owned());
    }
    sources
}

/// The most telling name under `/dev/disk/by-id`: with model and serial rather than a number.
fn by_id(dev: &Path, name: &str) -> Option<String> {
    let dir = dev.join("disk/by-id");
    let points_here = |link: &String| {
        fs::read_link(dir.join(link)).is_ok_and(|target| target.file_name().is_some_and(|file| file == name))
    };
    let is_number = |link: &String| ["wwn-", "nvme-eui.", "nvme-nvme."].iter().any(|p| link.starts_with(p));
    let link =
        entries(&dir).into_iter().filter(points_here).min_by_key(|link| (is_number(link), link.clone()))?;
    Some(format!("/dev/disk/by-id/{link}"))
}

/// Mounts, swap and holders of the device and its partitions.
fn in_use(roots: &Roots, name: &str, place: &Path) -> Vec<String> {
    let mut nodes = vec![(name.to_owned(), place.to_owned())];
    let partitions = entries(place).into_iter().filter(|entry| place.join(entry).join("partition").is_file());
    nodes.extend(partitions.map(|entry| (entry.clone(), place.join(entry))));
    let mounts = fs::read_to_string(roots.proc.join("self/mountinfo")).unwrap_or_default();
    let swaps = fs::read_to_string(roots.proc.join("swaps")).unwrap_or_default();
    let mut uses = Vec::new();
    for (node, dir) in nodes {
        let number = text(&dir.join("dev")).unwrap_or_default();
        // proc(5), mountinfo: field 3 is major:minor, field 5 the mount point.
        let mounted = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let points = mounted.filter(|fields| fields.len() > 4 && fields[2] == number).map(|f| f[4]);
        uses.extend(points.map(|point| format!("{node} mounted at {point}")));
        let swap = format!("/dev/{node}");
        if swaps.lines().any(|line| line.split_whitespace().next() == Some(&swap)) {
            uses.push(format!("{node} is swap"));
        }
        uses.extend(entries(&dir.join("holders")).iter().map(|holder| format!("{node} held by {holder}")));
    }
    uses
}

fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

#[cfg(test)]
mod test {
    use std::os::unix::fs::symlink;

    use drive::system::DriveKind as Kind;

    use super::*;

    /// A sysfs in a scratch folder.
    struct Tree {
        root: tempfile::TempDir,
    }

    impl Tree {
        fn new() -> Self {
            let tree = Self { root: tempfile::tempdir().expect("a scratch folder") };
            fs::create_dir_all(tree.root.path().join("sys/block")).expect("a scratch folder");
            tree
        }

        fn file(&self, path: &str, content: &str) {
            let path = self.root.path().join(path);
            fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a scratch folder");
            fs::write(path, content).expect("a scratch file");
        }

        fn link(&self, path: &str, target: &str) {
            let path = self.root.path().join(path);
            fs::create_dir_all(path.parent().expect("a link lies in a folder")).expect("a scratch folder");
            symlink(target, path).expect("a scratch link");
        }

        /// A block device at its real place, linked from `block`.
        fn device(&self, place: &str, name: &str, sectors: u64) {
            self.file(&format!("sys/devices/{place}/{name}/size"), &format!("{sectors}\n"));
            self.file(&format!("sys/devices/{place}/{name}/queue/logical_block_size"), "512\n");
            self.link(&format!("sys/block/{name}"), &format!("../devices/{place}/{name}"));
            self.link(&format!("sys/class/block/{name}"), &format!("../../devices/{place}/{name}"));
            self.link(&format!("sys/devices/{place}/{name}/device"), "..");
        }

        fn all(&self) -> Vec<BlockDevice> {
            let at = |dir: &str| self.root.path().join(dir);
            all(&Roots { sys: at("sys"), proc: at("proc"), dev: at("dev") }).expect("a readable tree")
        }
    }

    #[test]
    fn an_nvme_drive_shows_its_temperature_and_use() {
        let tree = Tree::new();
        let controller = "pci0000:00/0000:01:00.0/nvme/nvme0";
        tree.device(controller, "nvme0n1", 2_000_409_264);
        tree.file(&format!("sys/devices/{controller}/model"), "Example 1TB              \n");
        tree.file(&format!("sys/devices/{controller}/hwmon2/temp1_input"), "44850\n");
        tree.file(&format!("sys/devices/{controller}/hwmon2/name"), "nvme\n");
        tree.file(&format!("sys/devices/{controller}/nvme0n1/nvme0n1p1/partition"), "1\n");
        tree.file(&format!("sys/devices/{controller}/nvme0n1/nvme0n1p1/dev"), "259:1\n");
        tree.file("proc/self/mountinfo", "22 1 259:1 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p1 rw\n");
        tree.link("dev/disk/by-id/nvme-eui.0025", "../../nvme0n1");
        tree.link("dev/disk/by-id/nvme-Example_1TB_S123", "../../nvme0n1");
        tree.link("dev/disk/by-id/nvme-Example_1TB_S123-part1", "../../nvme0n1p1");
        let [drive] = &tree.all()[..] else { panic!("one drive") };
        assert_eq!((drive.identity.kind, drive.identity.model.as_deref()), (Kind::Nvme, Some("Example 1TB")));
        assert_eq!(drive.identity.size_bytes, 1_024_209_543_168);
        assert_eq!(drive.temperature, ["SMART log", "hwmon2"]);
        assert_eq!(drive.in_use, ["nvme0n1p1 mounted at /"]);
        assert_eq!(drive.by_id.as_deref(), Some("/dev/disk/by-id/nvme-Example_1TB_S123"));
    }

    /// Goal: with native multipath the namespace is "virtual" and its paths are hidden devices.
    #[test]
    fn a_multipath_namespace_is_found_once() {
        let tree = Tree::new();
        tree.device("virtual/nvme-subsystem/nvme-subsys0", "nvme0n1", 8);
        tree.device("pci0/nvme0", "nvme0c0n1", 8);
        tree.file("sys/devices/pci0/nvme0/nvme0c0n1/hidden", "1\n");
        let [drive] = &tree.all()[..] else { panic!("one drive") };
        assert_eq!(drive.address, "/dev/nvme0n1");
    }

    #[test]
    fn other_drives_are_told_by_where_they_are_attached() {
        let tree = Tree::new();
        tree.device("pci0/ata1/host0/target0/0:0:0:0", "sda", 8);
        tree.file("sys/devices/pci0/ata1/host0/target0/0:0:0:0/vendor", "ATA     \n");
        tree.file("sys/devices/pci0/ata1/host0/target0/0:0:0:0/model", "Example SATA\n");
        tree.device("pci0/usb2/2-1/host1/target1/1:0:0:0", "sdb", 8);
        tree.file("sys/devices/pci0/usb2/2-1/host1/target1/1:0:0:0/vendor", "Realtek\n");
        tree.file("sys/devices/pci0/usb2/2-1/host1/target1/1:0:0:0/model", "RTL9210B-CG\n");
        tree.device("pci0/virtio1", "vda", 8);
        tree.file("sys/devices/pci0/virtio1/vendor", "0x1af4\n");
        tree.device("virtual/block", "loop0", 8);
        tree.device("pci0/usb2/2-2/host2/target2/2:0:0:0", "sdc", 0);
        let told: Vec<_> =
            tree.all().into_iter().map(|d| (d.address, d.identity.kind, d.identity.model)).collect();
        assert_eq!(
            told,
            [
                ("/dev/sda".into(), Kind::Sata, Some("Example SATA".into())),
                ("/dev/sdb".into(), Kind::Usb, Some("Realtek RTL9210B-CG".into())),
                ("/dev/vda".into(), Kind::Virtio, None)
            ]
        );
    }
}
