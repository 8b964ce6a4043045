//! What is on a device, told by the magic numbers that formats put in known places.
//!
//! The table is ours, so that the guard needs nothing installed; `blkid` is asked as well where it is
//! (`blkid.rs`). Places and numbers are those of the formats' own definitions, named at each row: kernel
//! headers, specifications, and for a few the table in `magic(5)` and `wipefs(8)`. A magic number proves little, so a
//! false alarm is possible; it costs the user one word.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::drive::Device;
use super::{Kind, Opinion, Roots, Situation};
use crate::sysfs::SysfsNode;

/// How much is read at either end: ZFS keeps two labels of 256 KiB there (OpenZFS, `vdev_label.c`), the largest of all.
pub const END_BYTES: usize = 1 << 20;

/// What was recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What it speaks for: one of the soft kinds.
    pub kind: Kind,
    /// Its name, for people.
    pub name: String,
}

/// What is on the device and its partitions.
pub(super) fn of_device(
    device: &Device,
    file: &File,
    roots: &Roots,
    opinion: Opinion,
    notes: &mut Vec<String>,
) -> Vec<Situation> {
    let mut found: Vec<Situation> = Vec::new();
    for node in device.nodes() {
        let path = node.path(&roots.dev);
        let mut seen = match own_opinion(node, file) {
            Ok(seen) => seen,
            Err(error) => {
                let text = format!("what is on {path} could not be read ({error})");
                found.push(Situation::new(Kind::Unreadable, text));
                Vec::new()
            }
        };
        match opinion(Path::new(&path)) {
            Ok(other) => seen.extend(other),
            Err(why) if notes.contains(&why) => {}
            Err(why) => notes.push(why),
        }
        let mut kinds: Vec<Kind> = Vec::new();
        for one in seen {
            // Two opinions of the same thing are told once.
            if !kinds.contains(&one.kind) {
                kinds.push(one.kind);
                found.push(Situation::new(one.kind, format!("{path} holds {}", described(&one))));
            }
        }
    }
    if !device.partitions.is_empty() && !found.iter().any(|one| one.kind == Kind::PartitionTable) {
        let text = format!(
            "the kernel sees {} partitions on {}",
            device.partitions.len(),
            device.own.path(&roots.dev)
        );
        found.push(Situation::new(Kind::PartitionTable, text));
    }
    found
}

fn described(signature: &Signature) -> String {
    let name = &signature.name;
    match signature.kind {
        Kind::FileSystem => format!("a file system ({name})"),
        Kind::Volume => format!("a member of a pool or volume ({name})"),
        Kind::Encrypted => format!("an encrypted volume ({name})"),
        Kind::SwapArea => format!("a swap area ({name})"),
        _ => name.clone(),
    }
}

fn own_opinion(node: &SysfsNode, file: &File) -> io::Result<Vec<Signature>> {
    let len = (END_BYTES as u64).min(node.len) as usize;
    let mut head = vec![0; len];
    file.read_exact_at(&mut head, node.start)?;
    let mut tail = vec![0; len];
    file.read_exact_at(&mut tail, node.start + (node.len - len as u64))?;
    Ok(find(&head, &tail, node.len))
}

/// A format with a magic number at a fixed place from the start.
struct Magic {
    at: usize,
    bytes: &'static [u8],
    kind: Kind,
    name: &'static str,
}

const fn magic(at: usize, bytes: &'static [u8], kind: Kind, name: &'static str) -> Magic {
    Magic { at, bytes, kind, name }
}

/// Formats told by one number.
const MAGICS: &[Magic] = &[
    // File systems. Linux headers are include/uapi/linux/magic.h and fs/*/.
    magic(0x438, &[0x53, 0xef], Kind::FileSystem, "ext2, ext3 or ext4"), // EXT4_SUPER_MAGIC, superblock at 1024
    magic(0, b"XFSB", Kind::FileSystem, "XFS"),                          // XFS_SB_MAGIC
    magic(0x10040, b"_BHRfS_M", Kind::FileSystem, "btrfs"),              // BTRFS_MAGIC, superblock at 64 KiB
    magic(3, b"NTFS    ", Kind::FileSystem, "NTFS"),                     // OEM name of its boot sector
    magic(3, b"EXFAT   ", Kind::FileSystem, "exFAT"),                    // exFAT specification, 3.1.2
    magic(3, b"ReFS\0\0\0\0", Kind::FileSystem, "ReFS"),
    magic(0x52, b"FAT32   ", Kind::FileSystem, "FAT"), // FAT specification, BS_FilSysType
    magic(0x36, b"FAT1", Kind::FileSystem, "FAT"),
    magic(0x36, b"FAT     ", Kind::FileSystem, "FAT"),
    magic(0x400, &[0x10, 0x20, 0xf5, 0xf2], Kind::FileSystem, "F2FS"), // F2FS_SUPER_MAGIC at 1024
    magic(0x400, &[0xe2, 0xe1, 0xf5, 0xe0], Kind::FileSystem, "EROFS"), // EROFS_SUPER_MAGIC_V1 at 1024
    magic(0x400, b"H+\0\x04", Kind::FileSystem, "HFS+"),               // Apple TN1150
    magic(0x400, b"HX\0\x05", Kind::FileSystem, "HFSX"),
    magic(0x20, b"NXSB", Kind::FileSystem, "APFS"), // Apple File System Reference, nx_superblock_t
    magic(0x8001, b"CD001", Kind::FileSystem, "ISO 9660"), // ECMA-119, 8.1.2
    magic(0x8001, b"BEA01", Kind::FileSystem, "UDF"), // ECMA-167, 2/9.1
    magic(0x8001, b"NSR0", Kind::FileSystem, "UDF"),
    magic(0x8801, b"NSR0", Kind::FileSystem, "UDF"),
    magic(0x8000, b"JFS1", Kind::FileSystem, "JFS"),
    magic(0x10034, b"ReIsEr", Kind::FileSystem, "ReiserFS"),
    magic(0x406, &[0x34, 0x34], Kind::FileSystem, "NILFS2"), // NILFS_SUPER_MAGIC at 1030
    magic(0x10000, &[0x01, 0x16, 0x19, 0x70], Kind::FileSystem, "GFS2"), // GFS2_MAGIC, big-endian
    magic(0x2000, b"OCFSV2", Kind::FileSystem, "OCFS2"),
    magic(0, b"hsqs", Kind::FileSystem, "SquashFS"), // SQUASHFS_MAGIC
    // bcachefs and bcache: the identifier at byte 24 of the superblock in sector 8 (fs/bcachefs, drivers/md/bcache).
    magic(
        0x1018,
        &[0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef],
        Kind::FileSystem,
        "bcachefs",
    ),
    magic(
        0x1018,
        &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81],
        Kind::Volume,
        "bcache",
    ),
    // Members of something larger.
    magic(0, &[0xfc, 0x4e, 0x2b, 0xa9], Kind::Volume, "Linux RAID"), // MD_SB_MAGIC, version 1.1
    magic(0x1000, &[0xfc, 0x4e, 0x2b, 0xa9], Kind::Volume, "Linux RAID"), // version 1.2
    magic(0, b"bluestore block device", Kind::Volume, "Ceph BlueStore"),
    magic(32, b"ORCLDISK", Kind::Volume, "Oracle ASM"),
    magic(0x204, b"!Stra0tis\x86\xff\x02^\x41rh", Kind::Volume, "Stratis"),
    magic(0, b"dmvdo001", Kind::Volume, "VDO"),
    magic(0, b"verity\0\0", Kind::Volume, "dm-verity"),
    magic(0, b"integrt\0", Kind::Volume, "dm-integrity"),
    // Encrypted.
    magic(0, b"LUKS\xba\xbe", Kind::Encrypted, "LUKS"), // LUKS2 on-disk format, 2.1
    magic(0x4000, b"SKUL\xba\xbe", Kind::Encrypted, "LUKS2, second header"),
    magic(3, b"-FVE-FS-", Kind::Encrypted, "BitLocker"),
    // Partition tables of other systems.
    magic(0x200, b"PM\0\0", Kind::PartitionTable, "an Apple partition map"),
    magic(0x200, &[0x57, 0x45, 0x56, 0x82], Kind::PartitionTable, "a BSD disk label"),
    magic(0x1fc, &[0xda, 0xbe], Kind::PartitionTable, "a Sun disk label"),
    magic(0, &[0x0b, 0xe5, 0xa9, 0x41], Kind::PartitionTable, "an SGI disk label"),
    magic(0, b"\xc9\xc2\xd4\xc1", Kind::PartitionTable, "an AIX disk label"),
];

/// Everything recognised in the first and the last [`END_BYTES`] of a device of `len` bytes; both are shorter, and the
/// same, where it is smaller.
pub fn find(head: &[u8], tail: &[u8], len: u64) -> Vec<Signature> {
    let mut found: Vec<Signature> = Vec::new();
    let mut add = |kind, name: &str| {
        if !found.iter().any(|one| one.name == name) {
            found.push(Signature { kind, name: name.to_owned() });
        }
    };
    for row in MAGICS {
        if has(head, row.at, row.bytes) {
            add(row.kind, row.name);
        }
    }
    let ends = Ends { head, tail, len };
    if ends.gpt() {
        add(Kind::PartitionTable, "a partition table (GPT)");
    } else if let Some(name) = boot_sector(head) {
        add(Kind::PartitionTable, name);
    }
    // LVM2 looks for its label in the first four sectors (lib/label/label.h, LABEL_SCAN_SECTORS).
    if (0..4).any(|sector| has(head, sector * 512, b"LABELONE")) {
        add(Kind::Volume, "LVM2");
    }
    if ends.md_at_the_end() {
        add(Kind::Volume, "Linux RAID");
    }
    if let Some(name) = ends.firmware_raid() {
        add(Kind::Volume, name);
    }
    if ends.zfs() {
        add(Kind::Volume, "ZFS");
    }
    if let Some(name) = swap(head) {
        add(Kind::SwapArea, name);
    }
    found
}

/// Whether `bytes` stand at `at`.
fn has(data: &[u8], at: usize, bytes: &[u8]) -> bool {
    at.checked_add(bytes.len()).and_then(|end| data.get(at..end)) == Some(bytes)
}

/// The MBR's or another boot sector's mark, where no file system of which it is a part was recognised.
fn boot_sector(head: &[u8]) -> Option<&'static str> {
    // UEFI 2.10, 5.2.1: 55AAh at byte 510; four entries of 16 bytes from byte 446, first an indicator, at 4 the type.
    if !has(head, 510, &[0x55, 0xaa]) {
        return None;
    }
    let entries = head.get(446..510)?.chunks_exact(16);
    let plausible = entries.clone().all(|entry| matches!(entry[0], 0 | 0x80));
    let used = entries.clone().any(|entry| entry[4] != 0);
    let boot_of_file_system = MAGICS
        .iter()
        .any(|row| row.at < 512 && row.kind != Kind::PartitionTable && has(head, row.at, row.bytes));
    if plausible && used {
        Some("a partition table (MBR)")
    } else if boot_of_file_system {
        None
    } else {
        Some("a boot sector")
    }
}

/// Swap's mark ends the first page (include/linux/swap.h), whatever the page's size; a hibernated system changes it.
fn swap(head: &[u8]) -> Option<&'static str> {
    const MARKS: [(&[u8], &str); 5] = [
        (b"SWAPSPACE2", "swap"),
        (b"SWAP-SPACE", "swap"),
        (b"S1SUSPEND\0", "a hibernated system"),
        (b"LINHIB0001", "a hibernated system"),
        (b"ULSUSPEND\0", "a hibernated system"),
    ];
    let pages = [4096, 8192, 16384, 32768, 65536];
    let found = |mark: &&(&[u8], &str)| pages.iter().any(|page| has(head, page - 10, mark.0));
    MARKS.iter().find(found).map(|(_, name)| *name)
}

/// Both ends of a device.
struct Ends<'a> {
    head: &'a [u8],
    tail: &'a [u8],
    len: u64,
}

impl Ends<'_> {
    /// Whether `bytes` stand `at` bytes from the start, if that lies in the tail.
    fn tail_has(&self, at: u64, bytes: &[u8]) -> bool {
        let start = self.len.saturating_sub(self.tail.len() as u64);
        let place = at.checked_sub(start).and_then(|place| usize::try_from(place).ok());
        place.is_some_and(|place| has(self.tail, place, bytes))
    }

    /// UEFI 2.10, 5.3.2: a header in the second block, and one in the last.
    fn gpt(&self) -> bool {
        const MARK: &[u8] = b"EFI PART";
        [512, 4096].into_iter().any(|block| {
            has(self.head, block, MARK)
                || self.len.checked_sub(block as u64).is_some_and(|at| self.tail_has(at, MARK))
        })
    }

    /// md versions 1.0 and 0.90 (drivers/md/md.c, `super_1_load` and `calc_dev_sboffset`).
    fn md_at_the_end(&self) -> bool {
        const MARK: [u8; 4] = [0xfc, 0x4e, 0x2b, 0xa9];
        let sectors = self.len / 512;
        let version_1_0 = sectors.checked_sub(16).map(|sector| (sector & !7) * 512);
        let version_0_90 = (self.len & !0xffff).checked_sub(0x1_0000);
        let mut reversed = MARK;
        reversed.reverse();
        version_1_0.is_some_and(|at| self.tail_has(at, &MARK))
            || version_0_90.is_some_and(|at| self.tail_has(at, &MARK) || self.tail_has(at, &reversed))
    }

    /// RAID of firmware: Intel's mark in the last sector but one, SNIA DDF's anchor in the last (DDF 2.0, 4.1).
    fn firmware_raid(&self) -> Option<&'static str> {
        let from_end = |back: u64| self.len.checked_sub(back);
        if from_end(1024).is_some_and(|at| self.tail_has(at, b"Intel Raid ISM Cfg Sig. ")) {
            return Some("Intel RAID");
        }
        let ddf = |mark: &[u8]| from_end(512).is_some_and(|at| self.tail_has(at, mark));
        (ddf(&[0xde, 0x11, 0xde, 0x11]) || ddf(&[0x11, 0xde, 0x11, 0xde])).then_some("DDF RAID")
    }

    /// OpenZFS, `vdev_impl.h`: four labels of 256 KiB, two at either end, each with an array of uberblocks in its
    /// second half; an uberblock begins with 00bab10ch in 8 bytes of either order, at a multiple of 1 KiB.
    fn zfs(&self) -> bool {
        const LABEL: u64 = 256 << 10;
        const MARK: u64 = 0x00ba_b10c;
        let aligned = self.len & !(LABEL - 1);
        let labels = [Some(0), Some(LABEL), aligned.checked_sub(2 * LABEL), aligned.checked_sub(LABEL)];
        labels.into_iter().flatten().any(|label| {
            (LABEL / 2..LABEL).step_by(1024).map(|offset| label + offset).any(|at| {
                [MARK.to_le_bytes(), MARK.to_be_bytes()].iter().any(|mark| {
                    usize::try_from(at).is_ok_and(|at| has(self.head, at, mark)) || self.tail_has(at, mark)
                })
            })
        })
    }
}

#[cfg(test)]
mod test;
