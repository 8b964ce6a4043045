//! The guest's root file system: tools of this machine with their libraries, kernel modules, and our
//! few scripts, as one ext4 image; and the initrd that mounts it.
//!
//! An image rather than everything in the initrd: the guest reads what it uses, so a boot costs the same
//! however many tools there are, and memory stays free. Guests share it read-only, each with a RAM disk
//! laid over it. Nothing is installed, here or there: files are copied from where Debian put them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::kernels::Unpacked;
use super::needs::{self, PACKAGES};
use super::output_of;

/// First program of the initrd: finds the root.
pub(super) const INITRD_INIT: &str = include_str!("root/initrd-init");
/// First program of the root: prepares the guest, runs the job, powers off.
pub(super) const INIT: &str = include_str!("root/init");
/// What scripts find defined.
pub(super) const PRELUDE: &str = include_str!("root/prelude");
/// The key of each file above, for [`super`] to tell whether a root is of this recipe.
pub(super) const RECIPE: &[&str] = &[
    INITRD_INIT,
    INIT,
    PRELUDE,
    include_str!("root.rs"),
    include_str!("needs.rs"),
    include_str!("kernels.rs"),
];

/// Modules that find the root.
const FIRST_MODULES: &[&str] = &["virtio_pci", "virtio_blk", "ext4", "overlay"];

/// Modules of the root, by what they are for.
const MODULES: &[&str] = &[
    // Shares with the host, and its network.
    "9p",
    "9pnet_virtio",
    "virtio_net",
    "af_packet",
    // NVMe: a device, and both sides of fabrics.
    "nvme",
    "nvme-tcp",
    "nvmet",
    "nvmet-tcp",
    // SATA and USB drives, and a SCSI drive out of nothing.
    "ahci",
    "drivetemp",
    "xhci-pci",
    "uas",
    "usb-storage",
    "sd_mod",
    "sg",
    "scsi_debug",
    // Block devices out of nothing, and what is stacked on drives.
    "loop",
    "brd",
    "null_blk",
    "dm-mod",
    "dm-crypt",
    "dm-snapshot",
    "md-mod",
    "raid1",
    "bcache",
    // File systems, and what they ask for by an alias.
    "btrfs",
    "xfs",
    "vfat",
    "nls_cp437",
    "nls_ascii",
    "nls_iso8859-1",
    "crc32c_generic",
    // dm-crypt's default cipher, and cryptsetup's way to it.
    "aesni-intel",
    "xts",
    "algif_skcipher",
    "algif_hash",
];

/// Modules that only some kernels have.
const OPTIONAL_MODULES: &[&str] = &["nvme-loop"];

/// Loaded by the program itself, so `ldd` does not name them; and the C library's companions that our own
/// binary needs. Names as the linker's cache has them.
const LIBRARIES: &[&str] = &["libgcc_s.so.1", "libm.so.6", "libc.so.6", "libdl.so.2", "libpthread.so.0"];

/// Files that programs read; missing ones are left out (they differ from release to release).
const FILES: &[&str] = &[
    "/usr/lib/systemd/systemd-udevd",
    "/lib/udev/ata_id",
    "/lib/udev/scsi_id",
    "/lib/udev/rules.d",
    "/var/lib/smartmontools/drivedb",
    "/usr/share/smartmontools",
    "/etc/mke2fs.conf",
];

/// Other names of programs.
const LINKS: &[(&str, &str)] = &[
    ("/usr/sbin/modprobe", "/bin/kmod"),
    ("/usr/sbin/mkfs.ext4", "mke2fs"),
    ("/usr/sbin/mkfs.vfat", "mkfs.fat"),
    ("/usr/sbin/pvcreate", "lvm"),
    ("/usr/sbin/vgcreate", "lvm"),
    ("/usr/sbin/vgchange", "lvm"),
    ("/usr/sbin/lvcreate", "lvm"),
    ("/lib/systemd/systemd-udevd", "/bin/udevadm"),
];

/// Room for what the tree's own size does not tell: inodes, directories, the last blocks of files.
const IMAGE_SLACK_BYTES: u64 = 64 << 20;

/// Makes the root image `image` of the modules of `kernels`; `scratch` is an empty folder.
///
/// # Errors
/// When something cannot be copied, or `mke2fs` fails.
pub(super) fn make_image(kernels: &[Unpacked], scratch: &Path, image: &Path) -> Result<()> {
    for folder in [
        "proc", "sys", "dev", "tmp", "run", "mnt", "job", "share", "program", "etc/nvme", "var/lib",
        "var/log",
    ] {
        fs::create_dir_all(scratch.join(folder))?;
    }
    merged_folders(scratch)?;
    let mut files: Vec<PathBuf> = Vec::new();
    for program in PACKAGES.iter().flat_map(|package| package.inside) {
        files.push(needs::place(program).with_context(|| format!("{program} is not installed"))?);
    }
    let existing = FILES.iter().map(PathBuf::from).filter(|path| path.exists());
    files.extend(existing);
    for file in &files {
        copy_into(scratch, file)?;
    }
    for library in libraries(&files)? {
        copy_into(scratch, &library)?;
    }
    for (name, target) in LINKS {
        let link = scratch.join(&name[1..]);
        if link.symlink_metadata().is_err() {
            symlink(target, link)?;
        }
    }
    for kernel in kernels {
        copy_modules(kernel, &kernel.closure(MODULES, OPTIONAL_MODULES)?, scratch)?;
    }
    write_program(&scratch.join("init"), INIT)?;
    fs::write(scratch.join("etc/prelude"), PRELUDE)?;
    for name in ["passwd", "group"] {
        // udev's rules name groups.
        fs::copy(Path::new("/etc").join(name), scratch.join("etc").join(name))?;
    }
    let size = tree_bytes(scratch)? + IMAGE_SLACK_BYTES;
    let mut mke2fs = Command::new(needs::place("mke2fs").context("mke2fs is not installed")?);
    mke2fs.args(["-q", "-F", "-t", "ext4", "-m", "0", "-O", "^has_journal", "-d"]);
    output_of(mke2fs.arg(scratch).arg(image).arg(format!("{}k", size / 1024)))?;
    Ok(())
}

/// Makes the initrd of `kernel`; `scratch` is an empty folder.
///
/// # Errors
/// When something cannot be copied, or `cpio` fails.
pub(super) fn make_initrd(kernel: &Unpacked, scratch: &Path, initrd: &Path) -> Result<()> {
    for folder in ["bin", "proc", "sys", "dev", "lower", "upper", "new"] {
        fs::create_dir_all(scratch.join(folder))?;
    }
    fs::copy(needs::place("busybox").context("busybox is not installed")?, scratch.join("bin/busybox"))?;
    write_program(&scratch.join("init"), INITRD_INIT)?;
    let files = kernel.closure(FIRST_MODULES, &[])?;
    copy_modules(kernel, &files, scratch)?;
    // Without a database: the order of loading is all it needs.
    let inside = |file: &PathBuf| format!("/{}\n", plain_name(kernel, file).display());
    fs::write(scratch.join("modules"), files.iter().map(inside).collect::<String>())?;
    let line = r#"find . | cpio --quiet -o -H newc > "$1""#;
    output_of(Command::new("sh").args(["-c", line, "sh"]).arg(initrd).current_dir(scratch))?;
    Ok(())
}

/// `/bin`, `/sbin` and `/lib*` are links into `/usr`, as on the Debian that the files come from.
fn merged_folders(root: &Path) -> Result<()> {
    for name in ["bin", "sbin", "lib", "lib64"] {
        fs::create_dir_all(root.join("usr").join(name))?;
        symlink(format!("usr/{name}"), root.join(name))?;
    }
    Ok(())
}

/// Copies a file or folder to the same place under `root`, following links.
fn copy_into(root: &Path, file: &Path) -> Result<()> {
    let to = root.join(file.strip_prefix("/").unwrap_or(file));
    let folder = to.parent().context("a file without a folder")?;
    fs::create_dir_all(folder)?;
    output_of(Command::new("cp").args(["-rLT", "--preserve=mode"]).arg(file).arg(to))?;
    Ok(())
}

/// The shared libraries of `files`, those that nobody names included.
fn libraries(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    // ldd fails for static programs and for what is no program; the others are what counts.
    let output = Command::new("ldd").args(files.iter().filter(|file| file.is_file())).output();
    let named = output.context("starting `ldd`")?;
    let cache = output_of(Command::new("/sbin/ldconfig").arg("-p"))?;
    let cached = cache.lines().filter(|line| line.contains("x86-64"));
    let companions = cached.filter(|line| LIBRARIES.iter().any(|name| line.trim().starts_with(name)));
    let text = String::from_utf8_lossy(&named.stdout);
    let words = text.lines().filter(|line| line.starts_with(char::is_whitespace)).chain(companions);
    let mut paths: Vec<PathBuf> = words
        .flat_map(str::split_whitespace)
        .filter(|word| word.starts_with('/'))
        .map(PathBuf::from)
        .collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Copies modules, unpacked, and makes their database.
fn copy_modules(kernel: &Unpacked, files: &[PathBuf], root: &Path) -> Result<()> {
    for file in files {
        let to = root.join(plain_name(kernel, file));
        fs::create_dir_all(to.parent().context("a module lies in a folder")?)?;
        if file.extension().is_some_and(|ending| ending == "xz") {
            let unpacked = Command::new("xz").args(["-dc"]).arg(file).output().context("starting `xz`")?;
            fs::write(&to, unpacked.stdout)?;
        } else {
            fs::copy(file, &to)?;
        }
    }
    let modules = Path::new("lib/modules").join(&kernel.release);
    for name in ["modules.builtin", "modules.builtin.modinfo", "modules.order"] {
        fs::copy(kernel.folder.join(&modules).join(name), root.join(&modules).join(name))?;
    }
    output_of(Command::new("depmod").arg("-b").arg(root).arg(&kernel.release))?;
    Ok(())
}

/// The place of a module from the root, without the ending of its compression.
fn plain_name(kernel: &Unpacked, file: &Path) -> PathBuf {
    let inside = file.strip_prefix(&kernel.folder).unwrap_or(file);
    if inside.extension().is_some_and(|ending| ending == "xz") {
        inside.with_extension("")
    } else {
        inside.into()
    }
}

fn write_program(path: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// Bytes of everything under `folder`, in blocks of the image.
fn tree_bytes(folder: &Path) -> Result<u64> {
    const BLOCK_BYTES: u64 = 4096;
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_folder = entry.file_type()?.is_dir();
        bytes += if is_folder { tree_bytes(&entry.path())? } else { 0 };
        bytes += entry.path().symlink_metadata()?.len().next_multiple_of(BLOCK_BYTES);
    }
    Ok(bytes)
}
