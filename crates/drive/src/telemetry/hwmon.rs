//! The temperature that the kernel's own drivers read from a drive: hwmon of `nvme` and `drivetemp`.
//!
//! The kernel converts with 273.15, so 318 K of the drive stand here as 44850 thousandths of a degree
//! (drivers/nvme/host/hwmon.c); the record keeps them as they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use measure::Instant;

use super::plausible::{implausible, is_plausible_in_celsius, is_plausible_in_kelvin};
use super::{Reading, Sampler, read_number};
use crate::sysfs::text;

/// Its name in the record.
const SOURCE: &str = "hwmon";
/// Drivers whose `temp1_input` is the temperature of a drive; for NVMe it is the composite temperature.
const DRIVERS: [&str; 2] = ["nvme", DRIVETEMP];
/// That of SATA drives, whose SMART has a byte of degrees Celsius (drivers/hwmon/drivetemp.c).
const DRIVETEMP: &str = "drivetemp";

/// What the kernel makes of 0 K, which NVMe drives and targets without a temperature report: Linux's own
/// target (drivers/nvme/target) does.
const NOT_REPORTED_MILLICELSIUS: i32 = -273_150;

/// Reads a temperature once a period.
#[derive(Clone, Debug)]
pub struct HwmonSampler {
    period: Duration,
    path: PathBuf,
    /// The kernel had it in whole kelvins; without that it is a byte of degrees Celsius.
    in_kelvin: bool,
}

impl HwmonSampler {
    /// A sampler of the hwmon file `path`, such as `/sys/class/hwmon/hwmon1/temp1_input`.
    pub fn new(path: PathBuf, period: Duration) -> Self {
        let in_kelvin = driver(path.parent().unwrap_or(&path)).as_deref() != Some(DRIVETEMP);
        Self { period, path, in_kelvin }
    }

    fn is_plausible(&self, millicelsius: i32) -> bool {
        let kelvin = (i64::from(millicelsius) + 273_150 + 500).div_euclid(1000);
        if self.in_kelvin {
            u16::try_from(kelvin).is_ok_and(is_plausible_in_kelvin)
        } else {
            is_plausible_in_celsius(kelvin - 273)
        }
    }
}

impl Sampler for HwmonSampler {
    fn source(&self) -> &str {
        SOURCE
    }

    fn period(&self) -> Duration {
        self.period
    }

    fn sample(&mut self, now: Instant) -> Reading {
        match read_number(&self.path) {
            Ok(NOT_REPORTED_MILLICELSIUS) => {
                Reading::failed(now, SOURCE, "the drive reports 0 K, which means no temperature")
            }
            Ok(millicelsius) if !self.is_plausible(millicelsius) => {
                Reading::failed(now, SOURCE, implausible(i64::from(millicelsius).div_euclid(1000)))
            }
            Ok(millicelsius) => {
                let mut reading = Reading::empty(now, SOURCE);
                reading.row.hwmon_millicelsius = Some(millicelsius);
                reading
            }
            Err(why) => Reading::failed(now, SOURCE, why),
        }
    }
}

/// The temperature file of the drive `block` (a name such as `nvme0n1`) below `sysfs`, if it has one.
pub fn find(sysfs: &Path, block: &str) -> Option<PathBuf> {
    let device = sysfs.join("class/block").join(block).join("device");
    // With native multipath the device is a subsystem, and the controllers lie below it. One of them will do:
    // they are doors to the same drive.
    let mut devices = vec![device.clone()];
    devices.extend(children(&device, |name| {
        name.strip_prefix("nvme")
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    }));
    let hwmons = devices.iter().flat_map(|device| {
        // Newer kernels: below the controller itself. SCSI: in a folder. Older kernels: in one below the PCI device.
        [device.clone(), device.join("hwmon"), device.join("device/hwmon")]
            .into_iter()
            .flat_map(|folder| children(&folder, |name| name.starts_with("hwmon") && name != "hwmon"))
    });
    hwmons
        .filter(|hwmon| driver(hwmon).is_some_and(|name| DRIVERS.contains(&name.as_str())))
        .map(|hwmon| hwmon.join("temp1_input"))
        .find(|path| path.exists())
}

/// The driver of the hwmon device in `folder`.
fn driver(folder: &Path) -> Option<String> {
    text(&folder.join("name"))
}

/// The entries of a folder whose names fit, in order.
fn children(folder: &Path, fits: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_str().is_some_and(&fits))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::telemetry::discover::test::tree;

    fn reading(sysfs: &Path, block: &str) -> Option<Reading> {
        let path = find(sysfs, block)?;
        Some(HwmonSampler::new(path, Duration::from_secs(1)).sample(Instant::ZERO))
    }

    #[test]
    fn what_no_drive_in_use_has_is_no_temperature() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = scratch.path().join("temp1_input");
        // An NVMe drive at 0 °C says 273 K, which is a statement; a byte of 0 is an empty answer.
        for (driver, text, expected) in [
            ("nvme", "-273150\n", None),
            ("nvme", "-272150\n", None),
            ("nvme", "-150\n", Some(-150)),
            ("nvme", "44850\n", Some(44_850)),
            ("nvme", "65261850\n", None),
            ("drivetemp", "0\n", None),
            ("drivetemp", "-1000\n", None),
            ("drivetemp", "127000\n", None),
            ("drivetemp", "255000\n", None),
            ("drivetemp", "-20000\n", Some(-20_000)),
            ("drivetemp", "31000\n", Some(31_000)),
        ] {
            fs::write(scratch.path().join("name"), driver).expect("a scratch file");
            fs::write(&path, text).expect("a scratch file");
            let row = HwmonSampler::new(path.clone(), Duration::from_secs(1)).sample(Instant::ZERO).row;
            assert_eq!(
                (row.hwmon_millicelsius, row.gap.is_some()),
                (expected, expected.is_none()),
                "{driver} {text}"
            );
        }
    }

    /// Goal: the file is found wherever kernels have put it. Method: one tree each.
    #[test]
    fn temperatures_are_found_on_all_layouts() {
        let cases = [
            ("desktop", "nvme0n1", Some(38_850)),
            ("desktop", "sda", Some(31_000)),
            ("desktop", "sdb", None),
            ("old-kernel", "nvme0n1", Some(44_850)),
            ("multipath", "nvme1n1", Some(52_850)),
            ("virtual-machine", "vda", None),
        ];
        for (name, block, expected) in cases {
            let found = reading(&tree(name), block).and_then(|reading| reading.row.hwmon_millicelsius);
            assert_eq!(found, expected, "{name} {block}");
        }
    }

    #[test]
    fn a_file_that_goes_away_or_holds_no_number_is_a_gap() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("temp1_input");
        let mut sampler = HwmonSampler::new(path.clone(), Duration::from_secs(1));
        let gap = |sampler: &mut HwmonSampler| sampler.sample(Instant::ZERO).row.gap.expect("a gap");
        assert!(gap(&mut sampler).contains("temp1_input: No such file"));
        fs::write(&path, "n/a\n").expect("written");
        assert!(gap(&mut sampler).contains("\"n/a\", which is no number"));
        fs::write(&path, "44850\n").expect("written");
        assert_eq!(sampler.sample(Instant::ZERO).row.hwmon_millicelsius, Some(44_850));
    }
}
