//! The settings of a drive of this machine, by whatever path it was named.
//!
//! Settings belong to a controller: a namespace or a partition leads to it, through sysfs. The roots are
//! parameters, so that recorded trees serve as fixtures.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use nvme::host::linux::LinuxController;
use thiserror::Error;

use super::{DriveSettings, SettingsError};
use crate::sysfs::{entries, is_controller};
use crate::telemetry::discover::{self, Place};

/// The controller that a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysfsController {
    /// The kernel's name of it: `nvme0`.
    pub name: String,
    /// Its device: `/dev/nvme0`.
    pub device: PathBuf,
    /// The names of its namespaces' devices, in order; with native multipath those of its subsystem.
    pub namespaces: Vec<String>,
    /// Its folder in sysfs.
    pub sysfs: PathBuf,
}

/// Why a path leads to no controller.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ReachError {
    /// There is no such device.
    #[error("there is no device {path}; check the path; `heatsoak list` shows the drives")]
    Missing {
        /// What was named.
        path: String,
    },
    /// Something that is no drive.
    #[error("{path} is {what}; a drive is named by its device, such as /dev/nvme0n1: see `heatsoak list`")]
    NoDrive {
        /// What was named.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// A drive that is no NVMe drive.
    #[error(
        "{path} is on {disk}, which is no NVMe drive: thermal management temperatures, power states and temperature \
         thresholds of the host exist on NVMe drives only"
    )]
    NotNvme {
        /// What was named.
        path: String,
        /// The disk.
        disk: String,
    },
    /// Sysfs does not lead from it to a controller.
    #[error("cannot find the NVMe controller of {path}: {why}")]
    Lost {
        /// What was named.
        path: String,
        /// Where the way ended.
        why: String,
    },
}

impl SysfsController {
    /// The controller of a namespace, of a partition of it, of what is built on it alone, or the one named.
    ///
    /// # Errors
    /// When the path leads to none.
    pub fn find(path: &Path, sysfs: &Path) -> Result<Self, ReachError> {
        let shown = path.display().to_string();
        let Ok(metadata) = fs::metadata(path) else { return Err(ReachError::Missing { path: shown }) };
        let kind = metadata.file_type();
        if kind.is_char_device() {
            let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            return Self::of_character_device(name, sysfs).ok_or(ReachError::NoDrive {
                path: shown,
                what: "a character device, but not of an NVMe drive",
            });
        }
        if !kind.is_block_device() {
            let what = if kind.is_dir() { "a folder" } else { "no device" };
            return Err(ReachError::NoDrive { path: shown, what });
        }
        Self::of_disk_at(Place::Device(&shown), &shown, sysfs)
    }

    /// The controller of the drive under a place: a file's, for one.
    ///
    /// # Errors
    /// When there is none.
    pub fn under(place: Place<'_>, sysfs: &Path) -> Result<Self, ReachError> {
        let shown = match place {
            Place::Device(device) => device.to_owned(),
            Place::File(path) => path.display().to_string(),
        };
        Self::of_disk_at(place, &shown, sysfs)
    }

    fn of_disk_at(place: Place<'_>, shown: &str, sysfs: &Path) -> Result<Self, ReachError> {
        let lost = |why: String| ReachError::Lost { path: shown.to_owned(), why };
        let disk = discover::disk(place, sysfs).map_err(lost)?;
        if !disk.starts_with("nvme") {
            return Err(ReachError::NotNvme { path: shown.to_owned(), disk });
        }
        let device = sysfs.join("class/block").join(&disk).join("device");
        let device =
            fs::canonicalize(&device).map_err(|error| lost(format!("{}: {error}", device.display())))?;
        Self::at(&device, sysfs).or_else(|| Self::of_subsystem(&device, sysfs)).ok_or_else(|| {
            lost(format!("{} is neither a controller nor a subsystem with one", device.display()))
        })
    }

    /// `nvme0` is a controller, `ng0n1` a namespace as a character device.
    fn of_character_device(name: &str, sysfs: &Path) -> Option<Self> {
        let class = if name.starts_with("ng") { "class/nvme-generic" } else { "class/nvme" };
        let folder = fs::canonicalize(sysfs.join(class).join(name)).ok()?;
        if !name.starts_with("ng") {
            return Self::at(&folder, sysfs);
        }
        let device = fs::canonicalize(folder.join("device")).ok()?;
        Self::at(&device, sysfs).or_else(|| Self::of_subsystem(&device, sysfs))
    }

    /// The controller whose folder this is.
    fn at(folder: &Path, sysfs: &Path) -> Option<Self> {
        let name = folder.file_name()?.to_str().filter(|name| is_controller(name))?.to_owned();
        let mut namespaces = namespaces_in(folder);
        if namespaces.is_empty() {
            // With native multipath the namespaces hang on the subsystem, and hidden paths on the controller.
            let subsystems = sysfs.join("class/nvme-subsystem");
            let ours = |subsystem: &String| subsystems.join(subsystem).join(&name).exists();
            let subsystem = entries(&subsystems).into_iter().find(ours);
            namespaces =
                subsystem.map(|subsystem| namespaces_in(&subsystems.join(subsystem))).unwrap_or_default();
        }
        Some(Self { device: Path::new("/dev").join(&name), namespaces, sysfs: folder.to_owned(), name })
    }

    /// With native multipath a namespace hangs on a subsystem; the first of its controllers is taken.
    fn of_subsystem(folder: &Path, sysfs: &Path) -> Option<Self> {
        let name = entries(folder).into_iter().find(|name| is_controller(name))?;
        let namespaces = namespaces_in(folder);
        let controller = Self::at(&fs::canonicalize(folder.join(name)).ok()?, sysfs)?;
        Some(Self { namespaces, ..controller })
    }

    /// The kernel's knob of autonomous power state transitions, where it has one for this drive.
    pub fn apst_knob(&self) -> Option<PathBuf> {
        let knob = self.sysfs.join("power/pm_qos_latency_tolerance_us");
        knob.exists().then_some(knob)
    }

    /// Its settings.
    ///
    /// # Errors
    /// When it cannot be opened, or does not tell who it is.
    pub fn settings(&self) -> Result<DriveSettings<'static>, SettingsError> {
        let settings = DriveSettings::open(LinuxController::open(&self.device.display().to_string())?)?;
        Ok(match self.apst_knob() {
            Some(knob) => settings.with_apst(knob),
            None => settings,
        })
    }

    /// All controllers that sysfs shows, in the order of their numbers.
    pub fn all(sysfs: &Path) -> Vec<Self> {
        let class = sysfs.join("class/nvme");
        let mut controllers: Vec<Self> = entries(&class)
            .iter()
            .filter_map(|name| Self::at(&fs::canonicalize(class.join(name)).ok()?, sysfs))
            .collect();
        controllers.sort_by_key(|controller| (controller.name.len(), controller.name.clone()));
        controllers
    }
}

/// `nvme0n1`, and not a hidden path such as `nvme0c0n1` nor a partition.
fn is_namespace(name: &str) -> bool {
    let number = |text: &str| text.parse::<u32>().is_ok();
    let parts = name.strip_prefix("nvme").and_then(|rest| rest.split_once('n'));
    parts.is_some_and(|(controller, namespace)| number(controller) && number(namespace))
}

fn namespaces_in(folder: &Path) -> Vec<String> {
    entries(folder).into_iter().filter(|name| is_namespace(name)).collect()
}

#[cfg(test)]
mod test {
    use super::*;

    fn tree(name: &str) -> PathBuf {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sysfs").join(name);
        assert!(path.join("class/block").is_dir(), "{} is no tree", path.display());
        path
    }

    fn under(name: &str, device: &str) -> Result<SysfsController, ReachError> {
        SysfsController::under(Place::Device(device), &tree(name))
    }

    #[test]
    fn every_layer_leads_to_the_controller() {
        for device in ["nvme0n1", "nvme0n1p2", "dm-0", "dm-1"] {
            let controller = under("desktop", device).expect("NVMe is below it");
            assert_eq!(
                (controller.name.as_str(), controller.device.as_path()),
                ("nvme0", Path::new("/dev/nvme0"))
            );
        }
        let multipath = under("multipath", "nvme1n1").expect("a path leads there");
        assert_eq!(
            (multipath.name.as_str(), &multipath.namespaces[..]),
            ("nvme1", &["nvme1n1".to_owned()][..])
        );
    }

    #[test]
    fn what_is_no_nvme_drive_is_told() {
        let error = under("desktop", "sda1").expect_err("SATA").to_string();
        assert!(error.contains("is on sda, which is no NVMe drive"), "{error}");
        let error =
            SysfsController::find(Path::new("/dev/no-such-drive"), &tree("desktop")).expect_err("missing");
        assert!(error.to_string().contains("heatsoak list"), "{error}");
        let error = SysfsController::find(Path::new("/dev/null"), &tree("desktop")).expect_err("no drive");
        assert!(matches!(error, ReachError::NoDrive { .. }), "{error}");
        let error =
            SysfsController::find(Path::new("/"), &tree("desktop")).expect_err("a folder").to_string();
        assert!(error.contains("is a folder"), "{error}");
        let error = under("desktop", "md0").expect_err("two disks").to_string();
        assert!(error.contains("several disks"), "{error}");
    }

    /// With native multipath a controller's folder shows hidden paths only; its subsystem has the namespaces.
    #[test]
    fn a_controller_finds_the_namespaces_of_its_subsystem() {
        let folder = tempfile::tempdir().expect("a folder");
        let sysfs = folder.path();
        let controller = sysfs.join("devices/virtual/nvme-fabrics/ctl/nvme1");
        let subsystem = sysfs.join("class/nvme-subsystem/nvme-subsys1");
        fs::create_dir_all(controller.join("nvme1c1n1")).expect("made");
        fs::create_dir_all(subsystem.join("nvme1n1")).expect("made");
        fs::create_dir_all(sysfs.join("class/nvme-subsystem/nvme-subsys0/nvme0n1")).expect("made");
        fs::create_dir_all(sysfs.join("class/nvme")).expect("made");
        std::os::unix::fs::symlink(&controller, subsystem.join("nvme1")).expect("linked");
        std::os::unix::fs::symlink(&controller, sysfs.join("class/nvme/nvme1")).expect("linked");
        let all = SysfsController::all(sysfs);
        assert_eq!((all.len(), &all[0].namespaces[..]), (1, &["nvme1n1".to_owned()][..]));
    }

    #[test]
    fn names_of_paths_and_partitions_are_no_namespaces() {
        for (name, namespace) in [
            ("nvme0n1", true),
            ("nvme10n12", true),
            ("nvme0c0n1", false),
            ("nvme0n1p1", false),
            ("nvme0", false),
        ] {
            assert_eq!(is_namespace(name), namespace, "{name}");
        }
        assert!(is_controller("nvme10") && !is_controller("nvme-subsys1") && !is_controller("nvme0n1"));
    }
}
