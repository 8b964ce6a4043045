//! The guard on real kernels: a table of situations, each made for real, each tried with the real binary.
//!
//! Before and after every try the whole drive is copied out and compared here: what must not be written has the same
//! bytes after as before, what is given away has others. (Copies and no hashes: an emulated processor hashes slowly.)
//! The same table runs on made-up machines in `capture`'s unit tests. A row costs two and a half seconds of a processor,
//! so the whole table runs on one kernel, and on the other what that kernel itself holds.

use std::fs::File;
use std::ops::Range;
use std::path::Path;

use crate::kernel::guest::{Guest, Kernel, on_each_kernel, scratch};
use crate::kernel::output::Output;

on_each_kernel!(no_byte_is_written_where_it_must_not_be);

/// Small, so that copies are quick; every format of the table fits.
const DRIVE_BYTES: u64 = 6 << 20;

/// The table's second partition: sectors 8192 to 11264.
const PARTITION: Range<usize> = 4 << 20..(4 << 20) + 3072 * 512;

/// What must come of a try.
enum Outcome {
    /// Exit 2, this on standard error, and not a byte other than before.
    Refused(&'static str),
    /// Exit 0, and other bytes than before.
    Written,
    /// Exit 0, other bytes within the second partition and the same everywhere else.
    WrittenInPartition,
}

use Outcome::{Refused, Written, WrittenInPartition};

/// One situation.
struct Row {
    name: &'static str,
    /// Makes it, on the drives NV1 (`$a`) and NV2 (`$b`), which are empty before.
    make: &'static str,
    /// What is typed behind the plan.
    typed: &'static str,
    outcome: Outcome,
    /// Takes it apart, as far as writing zeroes does not.
    undo: &'static str,
}

const fn row(
    name: &'static str,
    make: &'static str,
    typed: &'static str,
    outcome: Outcome,
    undo: &'static str,
) -> Row {
    Row { name, make, typed, outcome, undo }
}

const ALL: &str = "--drive $a --destroy NV1 $every";
const BARE: &str = "--drive $a --destroy NV1";
const EXT4: &str = "mkfs.ext4 -q -F $a";
const GPT: &str =
    "printf 'label: gpt\\nstart=2048,size=4096\\nstart=8192,size=3072\\n' | sfdisk -q $a; parts";

/// Everything that is tried on NVMe drives.
const ROWS: &[Row] = &[
    row("nothing typed", "", "--drive $a", Refused("--destroy NV1"), ""),
    row("the serial number of another drive", "", "--drive $a --destroy NV2 $every", Refused("\"NV1\""), ""),
    row(
        "no serial number, of a drive that has one",
        "",
        "--drive $a --destroy no-serial",
        Refused("\"NV1\""),
        "",
    ),
    row("no such device", "", "--drive /dev/nvme9n1 --destroy NV1", Refused("No such file"), ""),
    row("a controller", "", "--drive /dev/nvme0 --destroy NV1", Refused("through a namespace"), ""),
    row("a file", "", "--drive file:/tmp/w.toml --destroy NV1", Refused("is for block devices"), ""),
    row("an empty drive", "", BARE, Written, ""),
    row("by a lasting link", "ln -sf $a /tmp/link", "--drive /dev/../tmp/link --destroy NV1", Written, ""),
    row(
        "a link to another drive",
        "ln -sf $b /tmp/link",
        "--drive /dev/../tmp/link --destroy NV1",
        Refused("\"NV2\""),
        "",
    ),
    row("ext4", EXT4, BARE, Refused("--even-if file-system"), ""),
    row(
        "ext4 and a wrong word",
        EXT4,
        "--drive $a --destroy NV1 --even-if volume",
        Refused("--even-if file-system"),
        "",
    ),
    row("ext4 and its word", EXT4, "--drive $a --destroy NV1 --even-if file-system", Written, ""),
    row("FAT", "mkfs.fat $a", BARE, Refused("--even-if file-system"), ""),
    row(
        "mounted",
        "mkfs.ext4 -q -F $a; mount -o ro $a /mnt",
        ALL,
        Refused("is mounted at /mnt"),
        "umount /mnt",
    ),
    row(
        "a folder of it mounted elsewhere",
        "mkfs.ext4 -q -F $a; mount -o ro $a /mnt; mkdir -p /tmp/bound; mount --bind /mnt/lost+found /tmp/bound; umount -l /mnt",
        ALL,
        Refused("is mounted at /tmp/bound"),
        "umount /tmp/bound",
    ),
    row(
        "mounted in another namespace",
        "mkfs.ext4 -q -F $a; apart mount -o ro $a /mnt",
        ALL,
        Refused("exclusive use"),
        "together",
    ),
    row(
        "a partition mounted",
        "parted_; mkfs.ext4 -q -F ${a}p2; mount -o ro ${a}p2 /mnt",
        ALL,
        Refused("p2 is mounted"),
        "umount /mnt",
    ),
    row("swap on it", "mkswap $a; swapon $a", ALL, Refused("swaps to"), "swapoff $a"),
    row("swap on a partition", "parted_; mkswap ${a}p1; swapon ${a}p1", ALL, Refused("p1"), "swapoff ${a}p1"),
    row("swap not in use", "mkswap $a", BARE, Refused("--even-if swap-area"), ""),
    row("GPT", GPT, BARE, Refused("--even-if partition-table"), ""),
    row("GPT without its MBR", "parted_; zero 0 1", BARE, Refused("(GPT)"), ""),
    row("only the backup of a GPT", "parted_; zero 0 34; blockdev --rereadpt $a", BARE, Refused("(GPT)"), ""),
    row("MBR", "printf 'label: dos\\n,\\n' | sfdisk -q $a; parts", BARE, Refused("(MBR)"), ""),
    row(
        "a table and a file system, one word",
        "parted_; mkfs.ext4 -q -F ${a}p2",
        "--drive $a --destroy NV1 --even-if partition-table",
        Refused("p2 holds a file system"),
        "",
    ),
    row("a partition", "parted_", "--drive ${a}p2 --destroy NV1", Refused("--even-if partition"), ""),
    row(
        "a partition and its word",
        "parted_",
        "--drive ${a}p2 --destroy NV1 --even-if partition",
        WrittenInPartition,
        "",
    ),
    row(
        "a free partition of a drive in use",
        "parted_; mkfs.ext4 -q -F ${a}p1; mount -o ro ${a}p1 /mnt",
        "--drive ${a}p2 --destroy NV1 --even-if partition",
        WrittenInPartition,
        "umount /mnt",
    ),
    row("LVM, active", "lvm_up", ALL, Refused("is built on"), "lvm_down"),
    row("LVM, not active", "lvm_up; lvm_down", BARE, Refused("--even-if volume"), ""),
    row("RAID, running", "raid_up", ALL, Refused("md9 (raid1) is built on"), "raid_down"),
    row("RAID, stopped", "raid_up; raid_down", BARE, Refused("--even-if volume"), ""),
    row(
        "RAID with its mark at the end",
        "raid_up --metadata=1.0; raid_down",
        BARE,
        Refused("--even-if volume"),
        "",
    ),
    row(
        "dm-crypt, open",
        "crypt_up; crypt_open",
        ALL,
        Refused("(secret) is built on"),
        "cryptsetup close secret",
    ),
    row("LUKS, closed", "crypt_up", BARE, Refused("--even-if encrypted"), ""),
    row(
        "device mapper on a partition",
        "parted_; echo 0 2048 linear ${a}p2 0 | dmsetup create line",
        ALL,
        Refused("(line) is built on"),
        "dmsetup remove line",
    ),
    row("ZFS", "printf '\\014\\261\\272\\000\\000\\000\\000\\000' | put 136", BARE, Refused("(ZFS)"), ""),
    row(
        "bcache",
        "printf '\\306\\205\\163\\366\\116\\032\\105\\312\\202\\145\\365\\177\\110\\272\\155\\201' | put 4 24",
        BARE,
        Refused("(bcache)"),
        "",
    ),
    row(
        "a loop device on it",
        "losetup /dev/loop3 $a",
        ALL,
        Refused("loop3 reads and writes"),
        "losetup -d /dev/loop3",
    ),
    row(
        "a loop device on it, itself named, while it is mounted",
        "mkfs.ext4 -q -F $a; mount -o ro $a /mnt; losetup /dev/loop3 $a",
        "--drive /dev/loop3 --destroy NV1 $every",
        Refused("is mounted at /mnt"),
        "losetup -d /dev/loop3; umount /mnt",
    ),
    row(
        "a loop device on it, itself named, while it is mounted in another namespace",
        "mkfs.ext4 -q -F $a; losetup /dev/loop3 $a; apart mount -o ro $a /mnt",
        "--drive /dev/loop3 --destroy NV1 $every",
        Refused("exclusive use"),
        "losetup -d /dev/loop3; together",
    ),
    row(
        "a loop device on it, itself named, and its word",
        "losetup /dev/loop3 $a",
        "--drive /dev/loop3 --destroy NV1 --even-if loop",
        Written,
        "losetup -d /dev/loop3",
    ),
    row(
        "commands sent past the block device",
        "open_elsewhere '<>' $(echo $a | sed s/nvme/ng/)",
        ALL,
        Refused("/dev/ng"),
        "close_elsewhere",
    ),
    row("served to others", "nvmet_subsystem nqn.x $a", ALL, Refused("served over NVMe-oF"), "unserve nqn.x"),
    row(
        "open for writing elsewhere",
        "open_elsewhere '<>'",
        ALL,
        Refused("open for writing"),
        "close_elsewhere",
    ),
    row(
        "open for reading elsewhere",
        "open_elsewhere '<'",
        BARE,
        Refused("--even-if open-for-reading"),
        "close_elsewhere",
    ),
    row(
        "open for reading elsewhere and its word",
        "open_elsewhere '<'",
        "--drive $a --destroy NV1 --even-if open-for-reading",
        Written,
        "close_elsewhere",
    ),
    row("read-only", "blockdev --setro $a", ALL, Refused("is read-only"), "blockdev --setrw $a"),
    row(
        "a trim, nothing typed",
        "plan=/tmp/trim.toml",
        "--drive $a",
        Refused("it deallocates"),
        "plan=/tmp/w.toml",
    ),
    row(
        "a trim of a mounted drive",
        "mkfs.ext4 -q -F $a; mount -o ro $a /mnt; plan=/tmp/trim.toml",
        ALL,
        Refused("is mounted"),
        "umount /mnt; plan=/tmp/w.toml",
    ),
    row(
        "a trim that was given away",
        "dd if=/bin/busybox of=$a bs=64k count=8 conv=notrunc,fsync 2>/dev/null; plan=/tmp/trim.toml",
        BARE,
        Written,
        "plan=/tmp/w.toml",
    ),
    row(
        "reading a mounted drive",
        "mkfs.ext4 -q -F $a; mount -o ro $a /mnt; plan=/tmp/r.toml",
        "--drive $a",
        Refused(""),
        "umount /mnt; plan=/tmp/w.toml",
    ),
];

/// Plans, and what the table's rows are made with.
const TOOLS: &str = r#"
cat >/tmp/w.toml <<'PLAN'
[[phase]]
op = "randwrite"
block_size = "64KiB"
bytes = "2MiB"
PLAN
sed s/randwrite/randread/ /tmp/w.toml >/tmp/r.toml
cat >/tmp/trim.toml <<'PLAN'
[[phase]]
op = "trim"
block_size = "1MiB"
laps = 1
PLAN
# Drives are probed side by side, and either may come first.
wait_for test -b /dev/nvme0n1; wait_for test -b /dev/nvme1n1
a=/dev/nvme0n1 b=/dev/nvme1n1 plan=/tmp/w.toml
grep -q NV1 /sys/block/nvme0n1/device/serial || a=/dev/nvme1n1 b=/dev/nvme0n1
every=""
for word in open-for-reading partition loop layered shared unreadable partition-table file-system volume encrypted swap-area; do
    every="$every --even-if $word"
done
parts() { wait_for blockdev --rereadpt $a; wait_for test -b ${a}p1; }
parted_() { printf 'label: gpt\nstart=2048,size=4096\nstart=8192,size=3072\n' | sfdisk -q $a; parts; wait_for test -b ${a}p2; }
zero() { dd if=/dev/zero of=$a bs=512 seek=$1 count=$2 conv=notrunc,fsync 2>/dev/null; }
put() { cat >/tmp/mark; dd if=/tmp/mark of=$a bs=1 seek=$(($1 * 1024 + ${2:-0})) conv=notrunc,fsync 2>/dev/null; }
clean() {
    sync
    dd if=/dev/zero of=$a bs=1M conv=fsync 2>/dev/null || true
    dd if=/dev/zero of=$b bs=1M count=8 conv=fsync 2>/dev/null || true
    blockdev --rereadpt $a || true
}
lvm_up() {
    mkdir -p /tmp/lvm; export LVM_SYSTEM_DIR=/tmp/lvm LVM_SUPPRESS_FD_WARNINGS=1
    lvm pvcreate -q -y $a >/dev/null; lvm vgcreate -q -s 1m group $a >/dev/null
    lvm lvcreate -q -y -an -l 4 -n volume group >/dev/null
    lvm vgchange -q -ay --noudevsync group >/dev/null
}
lvm_down() { lvm vgchange -q -an --noudevsync group >/dev/null; }
raid_up() {
    mdadm --create /dev/md9 --run --quiet --level=1 --raid-devices=2 --assume-clean ${1:---metadata=1.2} $a missing
}
raid_down() { wait_for mdadm --stop --quiet /dev/md9; }
crypt_up() { echo x | cryptsetup luksFormat -q --type luks1 --pbkdf-force-iterations 1000 --cipher aes-xts-plain64 $a -; }
crypt_open() { echo x | cryptsetup open --key-file=- $a secret; }
apart() { unshare -m sh -c "$*; touch /tmp/apart; exec sleep 1000" & apart=$!; wait_for test -e /tmp/apart; }
together() { kill $apart; wait $apart || true; rm /tmp/apart; }
open_elsewhere() { sh -c "exec 7$1${2:-$a}; touch /tmp/open; exec sleep 1000" & open=$!; wait_for test -e /tmp/open; }
close_elsewhere() { kill $open; wait $open || true; rm /tmp/open; }
unserve() {
    local sub=/sys/kernel/config/nvmet/subsystems/$1
    echo 0 >$sub/namespaces/1/enable; rmdir $sub/namespaces/1 $sub
}
hash() { dd if=$1 bs=1M iflag=direct 2>/dev/null | md5sum; }
try() {
    sync
    dd if=$a of=/share/$1.before bs=1M iflag=direct 2>/dev/null
    code=0
    eval "heatsoak run $plan --quiet --no-report --json --out /tmp/run $2" >/tmp/out || code=$?
    rm -rf /tmp/run
    dd if=$a of=/share/$1.after bs=1M iflag=direct 2>/dev/null
    echo "code $code"
}
"#;

fn two_drives(kernel: Kernel) -> Guest {
    let guest = Guest::on(kernel).nvme("NV1").nvme("NV2");
    for serial in ["NV1", "NV2"] {
        let image = File::options().write(true).open(guest.image(serial)).expect("the drive's file");
        image.set_len(DRIVE_BYTES).expect("a sparse file");
    }
    guest
}

/// Goal: what must not be written is not, and what is given away is. Method: every row, one after the other.
fn no_byte_is_written_where_it_must_not_be(kernel: Kernel) {
    let mut script = TOOLS.to_owned();
    // What has to be taken apart again is what the kernel holds; the rest is bytes on a drive, and ours to recognise.
    let tried_here = |row: &Row| kernel == Kernel::V6_12 || !row.undo.is_empty();
    for (number, row) in ROWS.iter().enumerate().filter(|(_, row)| tried_here(row)) {
        let Row { make, typed, undo, .. } = row;
        let undo = if undo.is_empty() { ":" } else { undo };
        let make = if make.is_empty() { ":" } else { make };
        script += &format!(
            "section make-{number}\nclean\n{make}\nsection {number}\ntry {number} '{typed}'\nsection undo-{number}\n{undo}\n"
        );
    }
    let modules = [
        "loop",
        "dm-mod",
        "dm-crypt",
        "md-mod",
        "raid1",
        "btrfs",
        "vfat",
        "crc32c_generic",
        "xts",
        "algif_skcipher",
    ];
    let folder = scratch();
    let output = two_drives(kernel).modules(&modules).share(folder.path()).script(&script).run();
    for (number, row) in ROWS.iter().enumerate().filter(|(_, row)| tried_here(row)) {
        let tried = Tried::read(&output, folder.path(), &number.to_string());
        let expected = match row.outcome {
            // Reading is no matter of the guard, and changes nothing.
            Refused("") => (0, Changed::Nothing),
            Refused(_) => (2, Changed::Nothing),
            Written => (0, Changed::Outside),
            WrittenInPartition => (0, Changed::Inside),
        };
        assert_eq!((tried.code, tried.changed), expected, "{}: {}", row.name, tried.errors);
        if let Refused(why) = row.outcome {
            assert!(tried.errors.contains(why), "{}: {why:?} is not in {}", row.name, tried.errors);
        }
    }
}

/// What came of a try.
struct Tried {
    code: i32,
    changed: Changed,
    errors: String,
}

/// Where a drive has other bytes after than before, seen from the table's second partition.
#[derive(Debug, PartialEq)]
enum Changed {
    Nothing,
    Inside,
    Outside,
}

impl Tried {
    fn read(output: &Output, folder: &Path, name: &str) -> Self {
        let told = output.section(name);
        let errors = output.errors(name);
        let code = told
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("code "))
            .and_then(|code| code.parse().ok());
        let code = code.unwrap_or_else(|| panic!("{name}: {told}{errors}"));
        let copy =
            |when: &str| std::fs::read(folder.join(format!("{name}.{when}"))).expect("a copy of the drive");
        let (before, after) = (copy("before"), copy("after"));
        assert!(!before.is_empty() && before.len() == after.len(), "{name} was copied whole");
        // Most rows try tens of megabytes in all: compared as slices, not byte by byte.
        let same = |range: Range<usize>| before[range.clone()] == after[range];
        let inside = PARTITION.start.min(before.len())..PARTITION.end.min(before.len());
        let changed = if before == after {
            Changed::Nothing
        } else if same(0..inside.start) && same(inside.end..before.len()) {
            Changed::Inside
        } else {
            Changed::Outside
        };
        Self { code, changed, errors }
    }
}

/// Goal: SATA, USB and SCSI drives are known by their own serial numbers. Method: right and wrong ones, on each.
#[test]
fn other_kinds_of_drives_are_guarded_by_their_serial_numbers() {
    let guest = Guest::on(Kernel::V6_12).nvme("NV1").nvme("NV2").ata("ATA1").uas("USB1");
    for serial in ["NV1", "NV2", "ATA1", "USB1"] {
        let image = File::options().write(true).open(guest.image(serial)).expect("the drive's file");
        image.set_len(DRIVE_BYTES).expect("a sparse file");
    }
    let folder = scratch();
    let output = guest
        .script(TOOLS)
        .script(
            r#"wait_for test -b /dev/sdb
            modprobe scsi_debug dev_size_mb=8 lbpu=1
            wait_for test -b /dev/sdc
            serial_of() { sg_vpd --page=sn --quiet $1 | sed 's/.*: *//' | tr -d ' \n'; }
            for drive in sda sdb sdc; do
                a=/dev/$drive
                section listed-$drive; serial_of $a
                section wrong-$drive; try wrong-$drive "--drive $a --destroy NV1"
                section right-$drive; try right-$drive "--drive $a --destroy $(serial_of $a)"
                section trim-$drive; plan=/tmp/trim.toml; try trim-$drive "--drive $a --destroy $(serial_of $a)"; plan=/tmp/w.toml
            done
            section wp; blockdev --setro /dev/sdc; try wp "--drive $a --destroy $(serial_of $a)"
            dd if=/dev/zero of=/tmp/image bs=1M count=8 2>/dev/null; losetup /dev/loop5 /tmp/image; a=/dev/loop5
            section loop; try loop "--drive $a --destroy no-serial"
            section loop-word; try loop-word "--drive $a --destroy no-serial --even-if loop"
            for drive in 2 3; do truncate -s 32M /tmp/image$drive; losetup /dev/loop$drive /tmp/image$drive; done
            mkfs.btrfs -q -f --mixed /dev/loop2 /dev/loop3; btrfs device scan >/dev/null; mount -o ro /dev/loop2 /mnt
            plan=/tmp/w.toml a=/dev/loop3
            section btrfs; try btrfs "--drive $a --destroy no-serial $every"; umount /mnt
            section btrfs-word; try btrfs-word "--drive $a --destroy no-serial --even-if loop"
            section list; heatsoak list --json"#,
        )
        .modules(&["loop", "btrfs"])
        .share(folder.path())
        .run();
    let list = output.json("list");
    let tried = |name: &str| Tried::read(&output, folder.path(), name);
    for drive in ["sda", "sdb", "sdc"] {
        let serial = output.section(&format!("listed-{drive}"));
        let address = format!("/dev/{drive}");
        let ours =
            list["drives"].as_array().expect("drives").iter().find(|one| one["address"] == address.as_str());
        assert_eq!(ours.expect("it is listed")["serial"], serial.as_str(), "{drive}");
        refused(&tried(&format!("wrong-{drive}")), &format!("{serial:?}"));
        for what in ["right", "trim"] {
            let tried = tried(&format!("{what}-{drive}"));
            assert_eq!(
                (tried.code, tried.changed),
                (0, Changed::Outside),
                "{what} {drive}: {}",
                tried.errors
            );
        }
    }
    refused(&tried("wp"), "is read-only");
    refused(&tried("loop"), "--even-if loop");
    assert_eq!(tried("loop-word").code, 0, "{}", output.errors("loop-word"));
    refused(&tried("btrfs"), "loop3 is part of the mounted btrfs");
    refused(&tried("btrfs-word"), "--even-if file-system");
}

/// Goal: who mounted a drive by one of its paths is not written over by the other. Method: scsi_debug with two hosts
/// that name one drive; the mount is seen from here, hidden in another namespace, or not there.
#[test]
fn a_drive_of_two_paths_is_one_drive() {
    let folder = scratch();
    let output = two_drives(Kernel::V6_12)
        .script(TOOLS)
        .script(
            r#"modprobe scsi_debug dev_size_mb=8 add_host=2 vpd_use_hostno=0
            wait_for test -b /dev/sda; wait_for test -b /dev/sdb
            serial=$(sg_vpd --page=sn --quiet /dev/sda | sed 's/.*: *//' | tr -d ' \n')
            a=/dev/sda
            section free; try free "--drive /dev/sdb --destroy $serial"
            mkfs.ext4 -q -F /dev/sda; sync; echo 3 >/proc/sys/vm/drop_caches
            section mounted; mount -o ro /dev/sda /mnt; try mounted "--drive /dev/sdb --destroy $serial $every"; umount /mnt
            section apart; apart mount -o ro /dev/sda /mnt; try apart "--drive /dev/sdb --destroy $serial $every"; together
            section word; try word "--drive /dev/sdb --destroy $serial $every""#,
        )
        .modules(&["sd_mod", "sg"])
        .share(folder.path())
        .run();
    let tried = |name: &str| Tried::read(&output, folder.path(), name);
    refused(&tried("free"), "--even-if shared");
    refused(&tried("mounted"), "/dev/sda is mounted at /mnt");
    refused(&tried("apart"), "/dev/sda or a partition of it is in somebody's exclusive use");
    let word = tried("word");
    assert_eq!((word.code, word.changed), (0, Changed::Outside), "{}", word.errors);
}

fn refused(tried: &Tried, why: &str) {
    assert_eq!((tried.code, &tried.changed), (2, &Changed::Nothing), "{}", tried.errors);
    assert!(tried.errors.contains(why), "{why:?} is not in {}", tried.errors);
}

/// Goal: between check and use a path may come to mean another drive. Method: a link that is turned over all the
/// time; the drive whose serial number was not typed keeps every byte.
#[test]
fn a_link_that_moves_all_the_time_never_leads_to_the_other_drive() {
    let output = two_drives(Kernel::V6_12)
        .script(TOOLS)
        .script(
            r#"dd if=/bin/busybox of=$b bs=64k count=16 conv=notrunc,fsync 2>/dev/null
            other=$(hash $b)
            sh -c "while :; do ln -sfn $a /tmp/link; ln -sfn $b /tmp/link; done" & turn=$!
            wait_for test -L /tmp/link
            section tries
            for try in 1 2 3 4 5 6 7 8; do
                code=0
                heatsoak run /tmp/w.toml --drive /dev/../tmp/link --destroy NV1 --quiet --no-report --out /tmp/run >/tmp/out || code=$?
                rm -rf /tmp/run; echo "code $code"
            done
            kill $turn
            section other; [ "$other" = "$(hash $b)" ] && echo same"#,
        )
        .run();
    assert_eq!(output.section("other"), "same\n", "{}", output.errors("tries"));
    let tries = output.section("tries");
    assert_eq!(tries.lines().count(), 8);
    assert!(
        tries.lines().all(|line| line == "code 0" || line == "code 2"),
        "{tries}\n{}",
        output.errors("tries")
    );
}
