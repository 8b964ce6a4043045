//! The table of situations, each on a made-up machine: what is found, what permits it, and what is left alone.
//!
//! The same table is tried on real kernels in the `kernel` tier; here every row runs in plain `cargo test`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileExt as _, symlink};

use super::*;

const MIB: u64 = 1 << 20;

/// A machine in a scratch folder with one SATA disk, `sda`, of 8 MiB: two partitions of 2 MiB, from 1 MiB and 4 MiB.
struct Machine {
    folder: tempfile::TempDir,
}

const DISK: &str = "pci0/ata1/host0/target0/0:0:0:0";

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().expect("a scratch folder") };
        machine.device(&format!("{DISK}/block/sda"), "8:0", 8 * MIB);
        machine.file(&format!("sys/devices/{DISK}/model"), "Example SATA 1TB\n");
        machine.bytes(&format!("sys/devices/{DISK}/vpd_pg80"), b"\0\x80\0\x08  S123  ");
        machine.file(&format!("sys/devices/{DISK}/block/sda/diskseq"), "7\n");
        machine.link(&format!("sys/devices/{DISK}/block/sda/device"), "../../../0:0:0:0");
        machine.file("proc/self/mountinfo", "22 1 254:0 / / rw - ext4 /dev/vda rw\n");
        machine.file("proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
        fs::write(machine.disk(), vec![0; 8 * MIB as usize]).expect("room");
        machine
    }

    fn partitioned() -> Self {
        let machine = Self::new();
        for (name, number, start) in [("sda1", "8:1", MIB), ("sda2", "8:2", 4 * MIB)] {
            let folder = format!("{DISK}/block/sda/{name}");
            machine.device(&folder, number, 2 * MIB);
            machine.file(&format!("sys/devices/{folder}/partition"), "1\n");
            machine.file(&format!("sys/devices/{folder}/start"), &format!("{}\n", start / 512));
        }
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn roots(&self) -> Roots {
        Roots { sys: self.at("sys"), proc: self.at("proc"), dev: self.at("dev") }
    }

    fn bytes(&self, path: &str, content: &[u8]) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a scratch folder");
        fs::write(path, content).expect("a scratch file");
    }

    fn file(&self, path: &str, content: &str) {
        self.bytes(path, content.as_bytes());
    }

    fn add(&self, path: &str, line: &str) {
        let before = fs::read_to_string(self.at(path)).unwrap_or_default();
        self.file(path, &(before + line));
    }

    fn link(&self, path: &str, target: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a link lies in a folder")).expect("a scratch folder");
        symlink(target, path).expect("a scratch link");
    }

    /// A block device in sysfs, by class, by number, and for `block` by name.
    fn device(&self, place: &str, number: &str, len: u64) {
        let name = place.rsplit('/').next().expect("a name");
        self.file(&format!("sys/devices/{place}/dev"), &format!("{number}\n"));
        self.file(&format!("sys/devices/{place}/size"), &format!("{}\n", len / 512));
        self.file(&format!("sys/devices/{place}/ro"), "0\n");
        self.link(&format!("sys/class/block/{name}"), &format!("../../devices/{place}"));
        self.link(&format!("sys/block/{name}"), &format!("../devices/{place}"));
        self.link(&format!("sys/dev/block/{number}"), &format!("../../devices/{place}"));
    }

    /// A second path to the drive: `sdb`, with the same names and the same size.
    fn second_path(self) -> Self {
        let other = DISK.replace("host0", "host1");
        self.device(&format!("{other}/block/sdb"), "8:16", 8 * MIB);
        self.link(&format!("sys/devices/{other}/block/sdb/device"), "../../../0:0:0:0");
        self.bytes(&format!("sys/devices/{other}/vpd_pg80"), b"\0\x80\0\x08  S123  ");
        for place in [DISK, &other] {
            self.file(&format!("sys/devices/{place}/wwid"), "naa.5000c500a1b2c3d4\n");
        }
        self
    }

    /// The same where the kernel has no world wide name of either.
    fn nameless_second_path(self) -> Self {
        let machine = self.second_path();
        let other = DISK.replace("host0", "host1");
        machine.file(&format!("sys/devices/{other}/model"), "Example SATA 1TB\n");
        for place in [DISK, &other] {
            fs::remove_file(machine.at(&format!("sys/devices/{place}/wwid"))).expect("it was there");
        }
        machine
    }

    /// A loop device on `file`.
    fn loop_on(self, name: &str, number: &str, file: &str) -> Self {
        self.device(&format!("virtual/block/{name}"), number, 8 * MIB);
        self.file(&format!("sys/devices/virtual/block/{name}/loop/backing_file"), &format!("{file}\n"));
        self
    }

    /// What is on the disk.
    fn disk(&self) -> PathBuf {
        self.at("content")
    }

    fn write(&self, at: u64, bytes: &[u8]) {
        let file = fs::File::options().write(true).open(self.disk()).expect("the disk");
        file.write_all_at(bytes, at).expect("room");
    }

    fn process(&self, pid: &str, comm: &str, opened: &str, flags: &str) {
        self.file(&format!("proc/{pid}/comm"), &format!("{comm}\n"));
        self.link(&format!("proc/{pid}/fd/5"), opened);
        self.file(&format!("proc/{pid}/fdinfo/5"), &format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t22\n"));
    }

    /// Looks at `name`; `shared` is what the drive says.
    fn examine(&self, name: &str, shared: Option<bool>) -> Examined {
        let folder = fs::canonicalize(self.at("sys/class/block").join(name)).expect("it is there");
        let roots = self.roots();
        let device = Device::at(&folder, (8, 0), &roots);
        let mut content = fs::File::open(self.disk()).expect("the disk");
        if device.disk.is_some() {
            let (start, len) = (device.identity.start_bytes as usize, device.identity.size_bytes as usize);
            let part = fs::read(self.disk()).expect("the disk")[start..start + len].to_vec();
            self.bytes("part", &part);
            content = fs::File::open(self.at("part")).expect("the partition");
        }
        let path = PathBuf::from("/dev").join(name);
        let before = fs::read(self.disk()).expect("the disk");
        let examined = examine_device(&path, &device, &content, &roots, shared, |_| Ok(Vec::new()));
        assert!(before == fs::read(self.disk()).expect("the disk"), "looking changes nothing");
        examined
    }
}

/// A row of the table: what is done to the machine, which device is named, and what is found.
type Row = (&'static str, fn() -> Machine, &'static str, &'static [Kind]);

fn with(machine: Machine, change: impl FnOnce(&Machine)) -> Machine {
    change(&machine);
    machine
}

/// Rows in which nothing permits writing.
const HARD: &[Row] = &[
    (
        "whole disk mounted",
        || {
            with(Machine::new(), |m| {
                m.add("proc/self/mountinfo", "23 22 8:0 / /mnt rw - xfs /dev/sda rw\n");
            })
        },
        "sda",
        &[Kind::Mounted],
    ),
    (
        "partition of it mounted",
        || {
            with(Machine::partitioned(), |m| {
                m.add("proc/self/mountinfo", "23 22 8:2 / /home rw shared:1 - ext4 /dev/sda2 rw\n");
            })
        },
        "sda",
        &[Kind::Mounted, Kind::PartitionTable],
    ),
    (
        "the partition itself mounted",
        || {
            with(Machine::partitioned(), |m| {
                m.add("proc/self/mountinfo", "23 22 8:2 / /home rw - ext4 /dev/sda2 rw\n");
            })
        },
        "sda2",
        &[Kind::Mounted, Kind::Partition],
    ),
    (
        "bind mount of a folder on it",
        || {
            with(Machine::partitioned(), |m| {
                m.add("proc/self/mountinfo", "23 22 8:1 /data/x /srv/my\\040x rw - ext4 /dev/sda1 rw\n");
            })
        },
        "sda",
        &[Kind::Mounted, Kind::PartitionTable],
    ),
    (
        "btrfs by its source, under a number of its own",
        || {
            with(Machine::new(), |m| {
                m.add("proc/self/mountinfo", "23 22 0:45 / /pool rw - btrfs /dev/sda rw,space_cache=v2\n");
            })
        },
        "sda",
        &[Kind::Mounted],
    ),
    (
        "second member of a mounted btrfs",
        || {
            with(Machine::partitioned(), |m| {
                m.add("proc/self/mountinfo", "23 22 0:45 / /pool rw - btrfs /dev/sdb rw\n");
                m.file("sys/fs/btrfs/1f2e/devices/sda2/dev", "8:2\n");
            })
        },
        "sda",
        &[Kind::Mounted, Kind::PartitionTable],
    ),
    (
        "swap on the disk",
        || {
            with(Machine::new(), |m| {
                m.add("proc/swaps", "/dev/sda partition 100 0 -2\n");
            })
        },
        "sda",
        &[Kind::Swap],
    ),
    (
        "swap on a partition",
        || {
            with(Machine::partitioned(), |m| {
                m.add("proc/swaps", "/dev/sda1 partition 100 0 -2\n");
            })
        },
        "sda",
        &[Kind::Swap, Kind::PartitionTable],
    ),
    (
        "LVM on a partition, active",
        || {
            with(Machine::partitioned(), |m| {
                m.device("virtual/block/dm-0", "252:0", MIB);
                m.file("sys/devices/virtual/block/dm-0/dm/name", "vg-root\n");
                m.link(&format!("sys/devices/{DISK}/block/sda/sda2/holders/dm-0"), "x");
            })
        },
        "sda",
        &[Kind::Held, Kind::PartitionTable],
    ),
    (
        "dm-crypt on the disk, open",
        || {
            with(Machine::new(), |m| {
                m.link(&format!("sys/devices/{DISK}/block/sda/holders/dm-3"), "x");
                m.write(0, b"LUKS\xba\xbe\0\x02");
            })
        },
        "sda",
        &[Kind::Held, Kind::Encrypted],
    ),
    (
        "dm-crypt on the disk of a partition",
        || {
            with(Machine::partitioned(), |m| {
                m.link(&format!("sys/devices/{DISK}/block/sda/holders/dm-3"), "x");
            })
        },
        "sda1",
        &[Kind::Held, Kind::Partition],
    ),
    (
        "member of a running RAID",
        || {
            with(Machine::new(), |m| {
                m.link(&format!("sys/devices/{DISK}/block/sda/holders/md0"), "x");
                m.write(0x1000, &[0xfc, 0x4e, 0x2b, 0xa9]);
            })
        },
        "sda",
        &[Kind::Held, Kind::Volume],
    ),
    (
        "backing device of a bcache, attached",
        || {
            with(Machine::new(), |m| {
                m.link(&format!("sys/devices/{DISK}/block/sda/holders/bcache0"), "x");
            })
        },
        "sda",
        &[Kind::Held],
    ),
    (
        "loop device on it",
        || {
            with(Machine::new(), |m| {
                m.device("virtual/block/loop4", "7:4", MIB);
                m.file("sys/devices/virtual/block/loop4/loop/backing_file", "/dev/sda\n");
            })
        },
        "sda",
        &[Kind::BacksLoop],
    ),
    (
        "served over NVMe-oF",
        || {
            with(Machine::new(), |m| {
                let namespace = "sys/kernel/config/nvmet/subsystems/nqn.x/namespaces/1";
                m.file(&format!("{namespace}/device_path"), "/dev/sda\n");
                m.file(&format!("{namespace}/enable"), "1\n");
            })
        },
        "sda",
        &[Kind::Exported],
    ),
    (
        "served by the SCSI target, as a file",
        || {
            with(Machine::new(), |m| {
                m.file("sys/kernel/config/target/core/fileio_0/disk/udev_path", "/dev/sda\n");
                m.file("sys/kernel/config/target/core/fileio_0/disk/enable", "1\n");
            })
        },
        "sda",
        &[Kind::Exported],
    ),
    (
        "mounted by another path to it",
        || {
            with(Machine::new().second_path(), |m| {
                m.add("proc/self/mountinfo", "23 22 8:16 / /mnt rw - xfs /dev/sdb rw\n");
            })
        },
        "sda",
        &[Kind::Mounted, Kind::Shared],
    ),
    (
        "mounted by another path to it, neither of which has a world wide name",
        || {
            with(Machine::new().nameless_second_path(), |m| {
                m.add("proc/self/mountinfo", "23 22 8:16 / /mnt rw - xfs /dev/sdb rw\n");
            })
        },
        "sda",
        &[Kind::Mounted, Kind::Shared],
    ),
    (
        "mounted by another path to it, of which only one has a world wide name",
        || {
            with(Machine::new().nameless_second_path(), |m| {
                m.file(&format!("sys/devices/{DISK}/wwid"), "naa.5000c500a1b2c3d4\n");
                m.add("proc/self/mountinfo", "23 22 8:16 / /mnt rw - xfs /dev/sdb rw\n");
            })
        },
        "sda",
        &[Kind::Mounted, Kind::Shared],
    ),
    (
        "a partition mounted by another path to its disk",
        || {
            with(Machine::partitioned().second_path(), |m| {
                let part = format!("{}/block/sdb/sdb2", DISK.replace("host0", "host1"));
                m.device(&part, "8:18", 2 * MIB);
                m.file(&format!("sys/devices/{part}/partition"), "2\n");
                m.file(&format!("sys/devices/{part}/start"), &format!("{}\n", 4 * MIB / 512));
                m.add("proc/self/mountinfo", "23 22 8:18 / /mnt rw - xfs /dev/sdb2 rw\n");
            })
        },
        "sda2",
        &[Kind::Mounted, Kind::Partition, Kind::Shared],
    ),
    (
        "a loop device on a mounted disk",
        || {
            with(Machine::new().loop_on("loop4", "7:4", "/dev/sda"), |m| {
                m.add("proc/self/mountinfo", "23 22 8:0 / /mnt rw - xfs /dev/sda rw\n");
            })
        },
        "loop4",
        &[Kind::Mounted, Kind::Loop],
    ),
    (
        "a volume on a loop device on a disk with a mounted partition",
        || {
            with(Machine::partitioned().loop_on("loop4", "7:4", "/dev/sda"), |m| {
                m.device("virtual/block/dm-1", "252:1", 8 * MIB);
                m.link("sys/devices/virtual/block/dm-1/slaves/loop4", "x");
                m.file("sys/devices/virtual/block/dm-1/dm/name", "on-sda\n");
                m.add("proc/self/mountinfo", "23 22 8:2 / /mnt rw - xfs /dev/sda2 rw\n");
            })
        },
        "dm-1",
        &[Kind::Mounted, Kind::BacksLoop, Kind::Layered],
    ),
    (
        "another loop device on the same file mounted",
        || {
            let twins = Machine::new().loop_on("loop4", "7:4", "/var/sda.img");
            with(twins.loop_on("loop5", "7:5", "/var/sda.img"), |m| {
                m.add("proc/self/mountinfo", "23 22 7:5 / /mnt/sda rw - xfs /dev/loop5 rw\n");
            })
        },
        "loop4",
        &[Kind::Mounted, Kind::Loop, Kind::Shared],
    ),
    (
        "commands sent to it past the block device",
        || {
            with(Machine::new(), |m| {
                m.file(&format!("sys/devices/{DISK}/scsi_generic/sg3/dev"), "21:3\n");
                m.process("312", "fio", "/dev/sg3", "0100002");
            })
        },
        "sda",
        &[Kind::OpenForWriting],
    ),
    (
        "open for writing elsewhere",
        || {
            with(Machine::new(), |m| {
                m.process("312", "qemu-system-x86", "/dev/sda", "0100002");
            })
        },
        "sda",
        &[Kind::OpenForWriting],
    ),
    (
        "a partition open for writing elsewhere",
        || {
            with(Machine::partitioned(), |m| {
                m.process("312", "dd", "/dev/sda2", "0100001");
            })
        },
        "sda",
        &[Kind::OpenForWriting, Kind::PartitionTable],
    ),
    (
        "read-only disk",
        || {
            with(Machine::new(), |m| {
                m.file(&format!("sys/devices/{DISK}/block/sda/ro"), "1\n");
            })
        },
        "sda",
        &[Kind::ReadOnly],
    ),
    (
        "read-only partition",
        || {
            with(Machine::partitioned(), |m| {
                m.file(&format!("sys/devices/{DISK}/block/sda/sda2/ro"), "1\n");
            })
        },
        "sda",
        &[Kind::ReadOnly, Kind::PartitionTable],
    ),
];

/// Rows that a word permits.
const SOFT: &[Row] = &[
    ("nothing on it", Machine::new, "sda", &[]),
    (
        "file system without a mount",
        || with(Machine::new(), |m| m.write(0x438, &[0x53, 0xef])),
        "sda",
        &[Kind::FileSystem],
    ),
    (
        "GPT and its protective MBR",
        || {
            with(Machine::new(), |m| {
                m.write(446 + 4, &[0xee]);
                m.write(510, &[0x55, 0xaa]);
                m.write(512, b"EFI PART");
            })
        },
        "sda",
        &[Kind::PartitionTable],
    ),
    ("GPT alone", || with(Machine::new(), |m| m.write(512, b"EFI PART")), "sda", &[Kind::PartitionTable]),
    (
        "only the backup of a GPT",
        || with(Machine::new(), |m| m.write(8 * MIB - 512, b"EFI PART")),
        "sda",
        &[Kind::PartitionTable],
    ),
    (
        "MBR",
        || {
            with(Machine::new(), |m| {
                m.write(446 + 4, &[0x83]);
                m.write(510, &[0x55, 0xaa]);
            })
        },
        "sda",
        &[Kind::PartitionTable],
    ),
    ("partitions that only the kernel still knows", Machine::partitioned, "sda", &[Kind::PartitionTable]),
    (
        "file system on a partition",
        || {
            with(Machine::partitioned(), |m| {
                m.write(512, b"EFI PART");
                m.write(4 * MIB, b"XFSB");
            })
        },
        "sda",
        &[Kind::PartitionTable, Kind::FileSystem],
    ),
    (
        "a free partition",
        || with(Machine::partitioned(), |m| m.write(512, b"EFI PART")),
        "sda1",
        &[Kind::Partition],
    ),
    (
        "member of an LVM that is not active",
        || with(Machine::new(), |m| m.write(512, b"LABELONE")),
        "sda",
        &[Kind::Volume],
    ),
    (
        "member of a RAID that is not running, old format",
        || {
            with(Machine::new(), |m| {
                m.write(8 * MIB - 0x1_0000, &[0xfc, 0x4e, 0x2b, 0xa9]);
            })
        },
        "sda",
        &[Kind::Volume],
    ),
    (
        "ZFS label at the end",
        || {
            with(Machine::new(), |m| {
                m.write(8 * MIB - (256 << 10) + (128 << 10) + 4096, &0x00ba_b10c_u64.to_le_bytes());
            })
        },
        "sda",
        &[Kind::Volume],
    ),
    (
        "LUKS that is not open",
        || with(Machine::new(), |m| m.write(0, b"LUKS\xba\xbe\0\x01")),
        "sda",
        &[Kind::Encrypted],
    ),
    (
        "swap area that is not in use",
        || with(Machine::new(), |m| m.write(4086, b"SWAPSPACE2")),
        "sda",
        &[Kind::SwapArea],
    ),
    (
        "a hibernated system",
        || with(Machine::new(), |m| m.write(4086, b"S1SUSPEND\0")),
        "sda",
        &[Kind::SwapArea],
    ),
    (
        "open for reading elsewhere",
        || {
            with(Machine::new(), |m| {
                m.process("99", "smartd", "/dev/sda", "0100000");
            })
        },
        "sda",
        &[Kind::OpenForReading],
    ),
    ("another path to it, which nobody uses", || Machine::new().second_path(), "sda", &[Kind::Shared]),
    (
        "a drive of the same name and another serial number: a bridge that names them all alike",
        || {
            with(Machine::new().second_path(), |m| {
                let other = DISK.replace("host0", "host1");
                m.bytes(&format!("sys/devices/{other}/vpd_pg80"), b"\0\x80\0\x08  S124  ");
                m.add("proc/self/mountinfo", "23 22 8:16 / /mnt rw - xfs /dev/sdb rw\n");
            })
        },
        "sda",
        &[],
    ),
    (
        "a drive of the same model, serial number and size, without world wide names",
        || Machine::new().nameless_second_path(),
        "sda",
        &[Kind::Shared],
    ),
    (
        "the same, of another model, mounted",
        || {
            with(Machine::new().nameless_second_path(), |m| {
                m.file(&format!("sys/devices/{}/model", DISK.replace("host0", "host1")), "Another\n");
                m.add("proc/self/mountinfo", "23 22 8:16 / /mnt rw - xfs /dev/sdb rw\n");
            })
        },
        "sda",
        &[],
    ),
    (
        "the same, of another size, mounted",
        || {
            with(Machine::new().nameless_second_path(), |m| {
                let other = DISK.replace("host0", "host1");
                m.file(&format!("sys/devices/{other}/block/sdb/size"), "2048\n");
                m.add("proc/self/mountinfo", "23 22 8:16 / /mnt rw - xfs /dev/sdb rw\n");
            })
        },
        "sda",
        &[],
    ),
    (
        "the same, of another world wide name, mounted: a maker that gives serial numbers twice",
        || {
            with(Machine::new().second_path(), |m| {
                m.file(&format!("sys/devices/{}/wwid", DISK.replace("host0", "host1")), "naa.6000\n");
                m.add("proc/self/mountinfo", "23 22 8:16 / /mnt rw - xfs /dev/sdb rw\n");
            })
        },
        "sda",
        &[],
    ),
    (
        "the other bay of a dock that tells one serial number for both, mounted",
        || {
            with(Machine::new(), |m| {
                let other = DISK.replace("0:0:0:0", "0:0:0:1");
                m.device(&format!("{other}/block/sdb"), "8:16", 8 * MIB);
                m.link(&format!("sys/devices/{other}/block/sdb/device"), "../../../0:0:0:1");
                m.bytes(&format!("sys/devices/{other}/vpd_pg80"), b"\0\x80\0\x08  S123  ");
                m.file(&format!("sys/devices/{other}/model"), "Example SATA 1TB\n");
                m.add("proc/self/mountinfo", "23 22 8:16 / /mnt rw - xfs /dev/sdb rw\n");
            })
        },
        "sda",
        &[],
    ),
    ("a namespace that others may have", || Machine::new(), "sda", &[Kind::Shared]),
    (
        "a namespace of two controllers",
        || {
            with(Machine::new(), |m| {
                m.file(&format!("sys/devices/{DISK}/nvme0/x"), "");
                m.file(&format!("sys/devices/{DISK}/nvme1/x"), "");
            })
        },
        "sda",
        &[Kind::Shared],
    ),
    (
        "a loop device",
        || {
            with(Machine::new(), |m| {
                m.file(&format!("sys/devices/{DISK}/block/sda/loop/backing_file"), "/var/tmp/x.img\n");
            })
        },
        "sda",
        &[Kind::Loop],
    ),
    (
        "a volume on other devices",
        || {
            with(Machine::new(), |m| {
                m.link(&format!("sys/devices/{DISK}/block/sda/slaves/sdb2"), "x");
            })
        },
        "sda",
        &[Kind::Layered],
    ),
    (
        "it cannot be read",
        || {
            with(Machine::new(), |m| {
                fs::File::options()
                    .write(true)
                    .open(m.disk())
                    .expect("the disk")
                    .set_len(MIB)
                    .expect("shorter");
            })
        },
        "sda",
        &[Kind::Unreadable],
    ),
];

fn permission(even_if: &[Kind]) -> Permission {
    Permission { destroy: "S123".into(), even_if: even_if.to_vec() }
}

fn found(examined: &Examined) -> Vec<Kind> {
    examined.situations.iter().map(|situation| situation.kind).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Goal: each row is seen for what it is, and nothing else is seen. Method: one made-up machine a row.
#[test]
fn every_situation_is_found() {
    assert!(HARD.len() + SOFT.len() >= 25);
    for (name, machine, device, expected) in HARD.iter().chain(SOFT) {
        let shared = (*name == "a namespace that others may have").then_some(true);
        let examined = machine().examine(device, shared);
        assert_eq!(found(&examined), *expected, "{name}: {:#?}", examined.situations);
        for situation in &examined.situations {
            let named = [*device, "sda", "sdb", "sg3"].iter().any(|device| situation.text.contains(device));
            assert!(named, "{name} says which device: {}", situation.text);
        }
    }
}

#[test]
fn what_is_hard_is_refused_whatever_is_said() {
    let all: Vec<Kind> = Kind::ALL.to_vec();
    for (name, machine, device, _) in HARD {
        let error = machine().examine(device, None).decide(&permission(&all)).expect_err(name).to_string();
        assert!(
            error.contains("nothing permits that") && error.contains("Nothing was written"),
            "{name}: {error}"
        );
    }
}

/// Goal: a soft situation is refused without its word, with every other word, and passes with it.
#[test]
fn what_is_soft_needs_its_own_words() {
    for (name, machine, device, kinds) in SOFT {
        let shared = (*name == "a namespace that others may have").then_some(true);
        let examined = machine().examine(device, shared);
        examined.decide(&permission(kinds)).unwrap_or_else(|error| panic!("{name}: {error}"));
        for missing in *kinds {
            let others: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| kind != missing).collect();
            let error = examined.decide(&permission(&others)).expect_err(name).to_string();
            let word = missing.word().expect("a soft one");
            assert!(error.contains(&format!("--even-if {word}")), "{name}: {error}");
        }
    }
}

#[test]
fn the_serial_number_is_the_drives_or_nothing_is_done() {
    let examined = Machine::new().examine("sda", None);
    assert_eq!(examined.identity.drive.serial.as_deref(), Some("S123"));
    let typed = |serial: &str| examined.decide(&Permission { destroy: serial.into(), even_if: Vec::new() });
    typed("S123").expect("the drive's");
    for wrong in ["S124", "s123", "S12", "S1234", "", NO_SERIAL, "sda"] {
        let error = typed(wrong).expect_err(wrong).to_string();
        assert!(error.contains("\"S123\"") && error.contains(&format!("{wrong:?}")), "{error}");
    }
}

#[test]
fn a_drive_without_a_serial_number_takes_a_word_for_that() {
    let machine = Machine::new();
    fs::remove_file(machine.at(&format!("sys/devices/{DISK}/vpd_pg80"))).expect("it was there");
    let examined = machine.examine("sda", None);
    let typed = |serial: &str| examined.decide(&Permission { destroy: serial.into(), even_if: Vec::new() });
    typed(NO_SERIAL).expect("the word");
    assert!(typed("S123").expect_err("no such").to_string().contains("tells no serial number"));
}

#[test]
fn identity_changes_with_the_medium_the_place_and_the_size() {
    let machine = Machine::partitioned();
    let first = machine.examine("sda2", None).identity;
    assert_eq!(first, machine.examine("sda2", None).identity);
    assert_eq!((first.diskseq, first.start_bytes, first.size_bytes), (Some(7), 4 * MIB, 2 * MIB));
    let after = |path: &str, content: &str| {
        machine.file(&format!("sys/devices/{DISK}/{path}"), content);
        machine.examine("sda2", None).identity
    };
    let medium = after("block/sda/diskseq", "8\n");
    let place = after("block/sda/sda2/start", "9000\n");
    let size = after("block/sda/sda2/size", "2048\n");
    let model = after("model", "Another\n");
    let all = [first, medium, place, size, model];
    for pair in all.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}

/// Goal: the caller of this is not its own stranger. Method: our own process has the device open.
#[test]
fn this_process_does_not_count() {
    let machine = Machine::new();
    machine.process(&std::process::id().to_string(), "heatsoak", "/dev/sda", "0100002");
    assert_eq!(found(&machine.examine("sda", None)), []);
}

#[test]
fn a_file_and_a_missing_path_are_no_devices() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("x");
    fs::write(&file, "x").expect("a scratch file");
    let error = examine(&file, &Roots::system(), None).expect_err("a file").to_string();
    assert!(error.contains("no block device"), "{error}");
    let missing = examine(&folder.path().join("y"), &Roots::system(), None).expect_err("nothing").to_string();
    assert!(missing.starts_with("cannot open"), "{missing}");
}
