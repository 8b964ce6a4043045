//! Which sources of readings there are for a drive.
//!
//! The drive is given as a block device, or as a file on one: its file system's device number leads to the block
//! device, that to the disk it is a part of, and a device mapper or RAID device to the disk below it, where there is
//! only one. The root of sysfs is a parameter, so that recorded trees serve as drives.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Sampler;
use super::blockstat::BlockstatSampler;
use super::hwmon::{self, HwmonSampler};
use super::power;
use plan::TelemetryPlan;

/// Where sysfs is mounted.
pub const SYSFS: &str = "/sys";
/// A device mapper device on a device mapper device and so on: more than this is a loop.
const LAYERS_MAX: usize = 8;

/// What a run is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// A block device by name or path: `nvme0n1`, `/dev/disk/by-id/...`.
    Device(&'a str),
    /// A file, which need not exist yet.
    File(&'a Path),
}

/// The sources found, and the disk they belong to.
pub struct FoundSources {
    /// Name of the disk, such as `nvme0n1`.
    pub disk: Option<String>,
    /// Its sources, and the plan's power source.
    pub samplers: Vec<Box<dyn Sampler>>,
    /// What there is not, and why, for the record.
    pub notes: Vec<String>,
}

/// The sources of readings below `sysfs` for what is at `place`; the SMART log is not among them.
pub fn discover(place: Place<'_>, sysfs: &Path, plan: &TelemetryPlan) -> FoundSources {
    let mut found = FoundSources { disk: None, samplers: Vec::new(), notes: Vec::new() };
    match disk(place, sysfs) {
        Ok(disk) => {
            match hwmon::find(sysfs, &disk) {
                Some(path) => found.samplers.push(Box::new(HwmonSampler::new(path, plan.hwmon_period))),
                None => found.notes.push(format!(
                    "the kernel reads no temperature of {disk}; for SATA drives, `modprobe drivetemp` makes it"
                )),
            }
            found.samplers.push(Box::new(BlockstatSampler::new(sysfs, &disk, plan.blockstat_period)));
            found.disk = Some(disk);
        }
        Err(why) => found.notes.push(format!("no temperature and no block statistics: {why}")),
    }
    found.samplers.extend(power::samplers(&plan.power));
    found
}

/// The disk that the file system of `folder` is on, where there is one.
pub fn disk_under(folder: &Path) -> Option<String> {
    disk(Place::File(folder), Path::new(SYSFS)).ok()
}

/// The name of the disk at or under `place`.
///
/// # Errors
/// A sentence: there is none to be found, and why.
pub fn disk(place: Place<'_>, sysfs: &Path) -> Result<String, String> {
    let block = match place {
        Place::Device(device) => sysfs.join("class/block").join(block_name(device)),
        Place::File(path) => {
            let (major, minor) = device_number(path)?;
            let link = sysfs.join("dev/block").join(format!("{major}:{minor}"));
            if major == 0 {
                return Err(format!(
                    "{} is on a file system without a block device of its own (such as tmpfs, overlay or btrfs)",
                    path.display()
                ));
            }
            link
        }
    };
    let folder = fs::canonicalize(&block)
        .map_err(|error| format!("cannot find the block device {}: {error}", block.display()))?;
    whole_disk(sysfs, folder)
}

/// The kernel's name of a device given by name or path; links such as `/dev/disk/by-id/...` are followed.
fn block_name(device: &str) -> String {
    let target = fs::canonicalize(device).unwrap_or_else(|_| PathBuf::from(device));
    target.file_name().map_or_else(|| device.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Major and minor number of the device that a file is on, or will be.
fn device_number(path: &Path) -> Result<(u32, u32), String> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let metadata = fs::metadata(path)
        .or_else(|_| fs::metadata(parent))
        .map_err(|error| format!("cannot find the file system of {}: {error}", path.display()))?;
    let device = metadata.dev();
    Ok((rustix::fs::major(device), rustix::fs::minor(device)))
}

/// From a partition to its disk, and from a device mapper or RAID device to the only disk below it.
fn whole_disk(sysfs: &Path, mut folder: PathBuf) -> Result<String, String> {
    for _ in 0..LAYERS_MAX {
        if folder.join("partition").exists() {
            folder.pop();
        }
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let below: Vec<String> = fs::read_dir(folder.join("slaves"))
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        match below.as_slice() {
            [] => return Ok(name),
            [only] => {
                let link = sysfs.join("class/block").join(only);
                folder = fs::canonicalize(&link)
                    .map_err(|error| format!("cannot find {only}, which is below {name}: {error}"))?;
            }
            several => {
                let mut several = several.to_vec();
                several.sort();
                return Err(format!("{name} is made of several disks: {}", several.join(", ")));
            }
        }
    }
    Err(format!("{} has more than {LAYERS_MAX} layers of block devices below it", folder.display()))
}

#[cfg(test)]
pub(in crate::telemetry) mod test {
    use std::time::Duration;

    use super::*;

    /// A recorded tree of `fixtures/sysfs`.
    pub(in crate::telemetry) fn tree(name: &str) -> PathBuf {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sysfs").join(name);
        assert!(path.join("class/block").is_dir(), "{} is no tree", path.display());
        path
    }

    fn plan() -> TelemetryPlan {
        TelemetryPlan::every(Duration::from_secs(1))
    }

    #[test]
    fn every_layer_leads_to_its_disk() {
        let cases = [
            ("desktop", "nvme0n1", "nvme0n1"),
            ("desktop", "nvme0n1p2", "nvme0n1"),
            ("desktop", "dm-0", "nvme0n1"),
            ("desktop", "dm-1", "nvme0n1"),
            ("desktop", "sda1", "sda"),
            ("multipath", "nvme1n1", "nvme1n1"),
            ("virtual-machine", "/dev/vda", "vda"),
        ];
        for (name, device, expected) in cases {
            assert_eq!(disk(Place::Device(device), &tree(name)).as_deref(), Ok(expected), "{name} {device}");
        }
        let several = disk(Place::Device("md0"), &tree("desktop")).expect_err("two disks");
        assert_eq!(several, "md0 is made of several disks: sda1, sdb1");
        assert!(disk(Place::Device("nvme9n1"), &tree("desktop")).expect_err("none").contains("nvme9n1"));
    }

    /// Goal: a file is followed to the disk under it. Method: a tree whose one device has the number that the
    /// system gives to the file's own file system.
    #[test]
    fn a_file_leads_to_the_disk_under_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("not-there-yet.bin");
        let (major, minor) = device_number(&file).expect("the folder has a device");
        let sysfs = folder.path().join("sys");
        let partition = sysfs.join("devices/pci0/block/sdx/sdx1");
        fs::create_dir_all(&partition).expect("made");
        fs::write(partition.join("partition"), "1\n").expect("written");
        fs::create_dir_all(sysfs.join("dev/block")).expect("made");
        let link = sysfs.join("dev/block").join(format!("{major}:{minor}"));
        std::os::unix::fs::symlink("../../devices/pci0/block/sdx/sdx1", link).expect("linked");
        match disk(Place::File(&file), &sysfs) {
            Ok(name) => assert_eq!(name, "sdx"),
            Err(why) => assert!(major == 0 && why.contains("without a block device"), "{why}"),
        }
        let nowhere = disk(Place::File(Path::new("/no/such/folder/x")), &sysfs).expect_err("no folder");
        assert!(nowhere.contains("/no/such/folder/x"), "{nowhere}");
    }

    #[test]
    fn sources_come_with_the_plans_periods_and_what_is_missing_is_said() {
        let mut plan = plan();
        plan.hwmon_period = Duration::from_millis(250);
        plan.power =
            vec!["hwmon:/x?period=10ms".parse().expect("an address"), "drive:".parse().expect("an address")];
        let found = discover(Place::Device("nvme0n1"), &tree("desktop"), &plan);
        let sources: Vec<(&str, u64)> = found
            .samplers
            .iter()
            .map(|sampler| (sampler.source(), sampler.period().as_millis() as u64))
            .collect();
        assert_eq!(sources, [("hwmon", 250), ("blockstat", 1000), ("power", 10)]);
        assert_eq!((found.disk.as_deref(), found.notes.len()), (Some("nvme0n1"), 0));

        let found =
            discover(Place::Device("sdb"), &tree("desktop"), &TelemetryPlan { power: Vec::new(), ..plan });
        assert_eq!(found.samplers.len(), 1);
        assert!(found.notes[0].contains("no temperature of sdb"), "{:?}", found.notes);
        let found = discover(Place::Device("nvme9n1"), &tree("desktop"), &self::plan());
        assert_eq!((found.disk, found.samplers.len(), found.notes.len()), (None, 0, 1));
    }
}
