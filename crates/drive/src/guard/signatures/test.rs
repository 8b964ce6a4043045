//! The table of magic numbers: against itself, against the tools that make the formats, and against any bytes.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::*;

const LEN: usize = 64 << 20;

/// What is found on an image.
fn on(image: &[u8]) -> Vec<Signature> {
    let end = END_BYTES.min(image.len());
    find(&image[..end], &image[image.len() - end..], image.len() as u64)
}

fn kinds(image: &[u8]) -> Vec<Kind> {
    on(image).into_iter().map(|one| one.kind).collect()
}

#[test]
fn every_row_is_found_where_it_says_and_not_beside() {
    for row in MAGICS {
        let mut image = vec![0; 4 << 20];
        image[row.at..row.at + row.bytes.len()].copy_from_slice(row.bytes);
        assert!(on(&image).iter().any(|one| one.name == row.name), "{}", row.name);
        image.rotate_right(1);
        assert!(!on(&image).iter().any(|one| one.name == row.name), "{} beside its place", row.name);
    }
}

#[test]
fn nothing_is_found_where_nothing_is() {
    assert_eq!(on(&vec![0; LEN]), []);
    assert_eq!(on(&vec![0xff; LEN]), []);
    assert_eq!(on(&[]), []);
}

#[test]
fn a_boot_sector_of_a_file_system_is_no_partition_table() {
    let mut image = vec![0; 4 << 20];
    image[510..512].copy_from_slice(&[0x55, 0xaa]);
    assert_eq!(kinds(&image), [Kind::PartitionTable], "a bare mark");
    image[3..11].copy_from_slice(b"NTFS    ");
    assert_eq!(kinds(&image), [Kind::FileSystem]);
    image[446 + 4] = 7;
    assert_eq!(kinds(&image), [Kind::FileSystem, Kind::PartitionTable], "with an entry it may be both");
}

#[test]
fn ends_are_found_on_sizes_of_every_rest() {
    for len in [LEN, LEN + 512, LEN + 4096, LEN + 65536 + 512] {
        let put = |at: usize, bytes: &[u8]| {
            let mut image = vec![0; len];
            image[at..at + bytes.len()].copy_from_slice(bytes);
            kinds(&image)
        };
        let md = [0xfc, 0x4e, 0x2b, 0xa9];
        assert_eq!(put((len / 512 - 16) / 8 * 8 * 512, &md), [Kind::Volume], "RAID 1.0 on {len}");
        assert_eq!(put(len / 65536 * 65536 - 65536, &md), [Kind::Volume], "RAID 0.90 on {len}");
        assert_eq!(put(len - 1024, b"Intel Raid ISM Cfg Sig. "), [Kind::Volume]);
        assert_eq!(put(len - 512, &[0xde, 0x11, 0xde, 0x11]), [Kind::Volume]);
        assert_eq!(put(len - 512, b"EFI PART"), [Kind::PartitionTable]);
        let label = len / (256 << 10) * (256 << 10) - (512 << 10);
        let uberblock = label + (128 << 10) + 1024;
        assert_eq!(put(uberblock, &0x00ba_b10c_u64.to_be_bytes()), [Kind::Volume], "ZFS on {len}");
    }
}

/// How a format is made: a program, its arguments before the image, what it reads, and what it leaves.
type Made = (&'static str, &'static [&'static str], &'static str, Kind);

const MADE: &[Made] = &[
    ("mkfs.ext4", &["-q", "-F"], "", Kind::FileSystem),
    ("mkfs.ext2", &["-q", "-F"], "", Kind::FileSystem),
    ("mkfs.xfs", &["-q", "-f"], "", Kind::FileSystem),
    ("mkfs.btrfs", &["-q", "-f"], "", Kind::FileSystem),
    ("mkfs.vfat", &["-F", "32"], "", Kind::FileSystem),
    ("mkfs.vfat", &["-F", "16"], "", Kind::FileSystem),
    ("mkfs.ntfs", &["-q", "-F"], "", Kind::FileSystem),
    ("mkfs.exfat", &[], "", Kind::FileSystem),
    ("mkfs.f2fs", &["-q", "-f"], "", Kind::FileSystem),
    ("mkswap", &[], "", Kind::SwapArea),
    ("sfdisk", &["-q"], "label: gpt\n,\n", Kind::PartitionTable),
    ("sfdisk", &["-q"], "label: dos\n,\n", Kind::PartitionTable),
];

/// Goal: what real tools make is recognised. Method: each that is installed makes an image; its maker is the referee.
#[test]
fn what_the_tools_of_the_formats_make_is_recognised() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let (mut tried, mut missing) = (0, Vec::new());
    for (tool, arguments, input, expected) in MADE {
        let Some(program) = installed(tool) else {
            missing.push(*tool);
            continue;
        };
        let path = folder.path().join("image");
        // xfs refuses less than 300 MiB, and btrfs less than 109.
        File::create(&path).and_then(|file| file.set_len(320 << 20)).expect("a sparse file");
        let mut child = Command::new(program)
            .args(*arguments)
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it is installed");
        std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), input.as_bytes())
            .expect("it reads");
        assert!(child.wait().expect("it ends").success(), "{tool} made nothing");
        let file = File::open(&path).expect("an image");
        let mut ends = [vec![0; END_BYTES], vec![0; END_BYTES]];
        file.read_exact_at(&mut ends[0], 0).expect("long enough");
        file.read_exact_at(&mut ends[1], (320 << 20) - END_BYTES as u64).expect("long enough");
        let found: Vec<Kind> = find(&ends[0], &ends[1], 320 << 20).into_iter().map(|one| one.kind).collect();
        assert_eq!(found, [*expected], "{tool} {arguments:?}");
        if let Ok(other) = super::super::blkid::probe(&path) {
            let other: Vec<Kind> = other.into_iter().map(|one| one.kind).collect();
            assert_eq!(other, [*expected], "blkid sees {tool} {arguments:?} in another way");
        }
        tried += 1;
    }
    eprintln!("{tried} formats made by their own tools; not installed: {missing:?}");
}

fn installed(tool: &str) -> Option<PathBuf> {
    ["/usr/sbin", "/sbin", "/usr/bin"].iter().map(|dir| Path::new(dir).join(tool)).find(|path| path.is_file())
}

proptest! {
    /// Any bytes of any length are looked at without a panic, and what is found is of a soft kind.
    #[test]
    fn any_bytes_will_do(head in proptest::collection::vec(any::<u8>(), 0..9000), len in any::<u64>()) {
        for one in find(&head, &head, len) {
            prop_assert!(one.kind.word().is_some());
        }
    }
}
