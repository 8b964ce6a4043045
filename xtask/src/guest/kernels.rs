//! Debian's stock kernels: which there are today, fetched without installing them.
//!
//! Kernel packages carry their version in the name and move with each update, so the name is asked of
//! the meta package. The `amd64` flavour, not `cloud-amd64`: the latter has neither hwmon for NVMe nor
//! USB.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::output_of;

/// A kernel that guests can be started with.
pub(super) struct Kernel {
    /// The name under which it is asked for, and of its folder.
    pub(super) name: &'static str,
    /// The package that always depends on the newest one.
    meta: &'static str,
}

/// Debian 12's own kernel and the newer one it ships beside it. They treat NVMe differently: 6.12
/// keeps feature 0Ch from passthrough, 6.1 has no nvme-loop.
pub(super) const KERNELS: &[Kernel] = &[
    Kernel { name: "6.1", meta: "linux-image-amd64" },
    Kernel { name: "6.12", meta: "linux-image-6.12-amd64" },
];

impl Kernel {
    /// The package that holds the kernel itself.
    ///
    /// # Errors
    /// When apt knows no such package.
    pub(super) fn package(&self) -> Result<String> {
        let text = output_of(Command::new("apt-cache").args(["depends", self.meta]))?;
        let mut names = text.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
        let name = names.find(|name| name.starts_with("linux-image-"));
        name.map(str::to_owned)
            .with_context(|| format!("apt knows no kernel behind `{}`; as root: apt-get update", self.meta))
    }
}

/// A kernel package, unpacked.
pub(super) struct Unpacked {
    /// `uname -r` of it.
    pub(super) release: String,
    /// The folder that holds `boot` and `lib`.
    pub(super) folder: PathBuf,
}

impl Unpacked {
    /// The kernel's image.
    fn image(&self) -> PathBuf {
        self.folder.join("boot").join(format!("vmlinuz-{}", self.release))
    }

    /// The kernel as it lies in memory, which QEMU starts as it is: an emulated processor takes seconds to unpack it.
    ///
    /// # Errors
    /// When the image is packed in a way that is not known here.
    pub(super) fn vmlinux(&self) -> Result<Vec<u8>> {
        let image = fs::read(self.image())?;
        let packed = payload(&image).with_context(|| format!("{} is no bzImage", self.image().display()))?;
        let program = match packed {
            [0xfd, b'7', b'z', b'X', b'Z', ..] => "xz",
            [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd",
            _ => bail!("{} is packed neither by xz nor by zstd", self.image().display()),
        };
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(packed)?;
        let unpacked = Command::new(program).args(["-q", "-d", "-c"]).stdin(file.reopen()?).output();
        let unpacked = unpacked.with_context(|| format!("starting `{program}`"))?;
        let errors = String::from_utf8_lossy(&unpacked.stderr);
        ensure!(unpacked.status.success(), "unpacking {}: {errors}", self.image().display());
        Ok(unpacked.stdout)
    }

    /// The files of `modules` and of everything they need, in the order of loading. Modules that are
    /// built in need none; those in `optional` may be unknown to this kernel.
    ///
    /// # Errors
    /// When a module that is not optional does not exist.
    pub(super) fn closure(&self, modules: &[&str], optional: &[&str]) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for module in modules.iter().chain(optional) {
            let mut modprobe = Command::new("modprobe");
            modprobe.arg("-d").arg(&self.folder).args(["-S", &self.release, "--show-depends", module]);
            let text = match output_of(&mut modprobe) {
                Err(_) if optional.contains(module) => continue,
                text => text?,
            };
            let loads = text.lines().filter_map(|line| line.strip_prefix("insmod "));
            for file in loads.filter_map(|load| load.split_whitespace().next()).map(PathBuf::from) {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        Ok(files)
    }
}

/// The packed kernel in a bzImage (the kernel's Documentation/arch/x86/boot.rst: `setup_sects`, `payload_offset`,
/// `payload_length`). Behind it lies its size, which the packers know nothing of.
fn payload(image: &[u8]) -> Option<&[u8]> {
    let u32_at = |at: usize| Some(u32::from_le_bytes(image.get(at..at + 4)?.try_into().ok()?) as usize);
    let start = (usize::from(*image.get(0x1f1)?) + 1) * 512 + u32_at(0x248)?;
    image.get(start..start + u32_at(0x24c)?.checked_sub(4)?)
}

/// Fetches `package` into `store`, unless it lies there, and unpacks it into `folder`.
///
/// # Errors
/// When apt cannot fetch it, or it is not the package of a kernel.
pub(super) fn unpack(package: &str, store: &Path, folder: &Path) -> Result<Unpacked> {
    let archive = match stored(package, store)? {
        Some(archive) => archive,
        None => {
            fs::create_dir_all(store)?;
            println!("guest: fetching {package}");
            output_of(Command::new("apt-get").args(["download", "-q", package]).current_dir(store))
                .with_context(|| format!("fetching {package}; is apt up to date? As root: apt-get update"))?;
            stored(package, store)?.with_context(|| format!("apt-get left no {package}"))?
        }
    };
    fs::create_dir_all(folder)?;
    output_of(Command::new("dpkg").arg("-x").arg(&archive).arg(folder))?;
    let modules = folder.join("lib/modules");
    let mut releases = fs::read_dir(&modules)
        .with_context(|| format!("{} holds no kernel modules", archive.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let release = releases.next().context("a kernel package without a release in lib/modules")?;
    output_of(Command::new("depmod").arg("-b").arg(folder).arg(&release))?;
    let unpacked = Unpacked { release, folder: fs::canonicalize(folder)? };
    ensure!(unpacked.image().is_file(), "{package} holds no {}", unpacked.image().display());
    Ok(unpacked)
}

/// The archive of `package` in `store`.
fn stored(package: &str, store: &Path) -> Result<Option<PathBuf>> {
    if !store.is_dir() {
        return Ok(None);
    }
    // `apt-get download` names archives NAME_VERSION_ARCHITECTURE.deb.
    let prefix = format!("{package}_");
    for entry in fs::read_dir(store)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            return Ok(Some(entry.path()));
        }
    }
    Ok(None)
}
