//! A power meter that the kernel's hwmon knows: INA219, INA226, INA3221, POWER-Z, PMBus, ACPI meters.
//!
//! Some chips have no power file: then it is volts times amperes (INA3221: each rail, added up; POWER-Z: VBUS and IBUS,
//! their averages where there are any, as voltage and current come from two transfers). Chips are found by name, because
//! the number of a hwmon folder changes between boots. Units are those of Documentation/hwmon/sysfs-interface.rst:
//! microwatts, millivolts, milliamperes.

use std::fs;
use std::path::{Path, PathBuf};

use measure::Instant;

use super::MeterReader;
use super::value::MeterAmount;
use crate::telemetry::{read_number, read_text};

/// More channels than any chip has.
const CHANNELS_MAX: u32 = 32;

/// A chip, or one of its channels.
pub(super) struct HwmonMeter {
    place: HwmonPlace,
    /// The files, found at the first reading and again when one of them is gone.
    found: Option<Files>,
}

enum HwmonPlace {
    Named { class: PathBuf, chip: String, label: Option<String> },
    At(PathBuf),
}

/// What is read of a chip.
#[derive(Debug, PartialEq)]
enum Files {
    /// Microwatts.
    Power(PathBuf),
    /// Pairs of millivolts and milliamperes.
    Products(Vec<(PathBuf, PathBuf)>),
}

impl HwmonMeter {
    pub(super) fn named(sysfs: &Path, chip: &str, label: Option<&str>) -> Self {
        let class = sysfs.join("class/hwmon");
        let place = HwmonPlace::Named { class, chip: chip.to_owned(), label: label.map(str::to_owned) };
        Self { place, found: None }
    }

    pub(super) fn at(path: &Path) -> Self {
        Self { place: HwmonPlace::At(path.to_owned()), found: None }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.place.find().map(|_| ())
    }
}

impl MeterReader for HwmonMeter {
    fn read(&mut self, _: Instant) -> Result<Option<MeterAmount>, String> {
        let files = match self.found.take() {
            Some(files) => files,
            None => self.place.find()?,
        };
        let watts = files.watts()?;
        self.found = Some(files);
        Ok(Some(MeterAmount::of_watts(watts)))
    }

    fn about(&mut self) -> Option<String> {
        let files = self.place.find().ok()?;
        let folder = files.folder()?;
        let name = read_text(&folder.join("name")).ok()?.trim().to_owned();
        // The kernel takes 10 mOhm where nobody says else; breakouts often carry 100 (drivers/hwmon/ina2xx.c).
        let shunt = read_number::<f64>(&folder.join("shunt_resistor")).ok();
        let shunt = shunt.map(|micro| format!(", shunt of {} mOhm as the kernel is told", micro / 1e3));
        let product = match files {
            Files::Power(_) => "",
            Files::Products(_) => ", volts times amperes",
        };
        Some(format!("{name}{}{product}", shunt.unwrap_or_default()))
    }
}

impl HwmonPlace {
    fn find(&self) -> Result<Files, String> {
        match self {
            Self::At(path) if path.is_dir() => files(path, None),
            Self::At(path) => Ok(Files::Power(path.clone())),
            Self::Named { class, chip, label } => files(&chip_folder(class, chip)?, label.as_deref()),
        }
    }
}

fn chip_folder(class: &Path, chip: &str) -> Result<PathBuf, String> {
    let entries = fs::read_dir(class).map_err(|error| {
        format!("cannot look for the hwmon chip {chip:?} in {}: {error}", class.display())
    })?;
    let mut chips: Vec<(String, PathBuf)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            Some((read_text(&entry.path().join("name")).ok()?.trim().to_owned(), entry.path()))
        })
        .collect();
    chips.sort();
    let named: Vec<&PathBuf> = chips.iter().filter(|(name, _)| name == chip).map(|(_, path)| path).collect();
    match named.as_slice() {
        [only] => Ok((*only).clone()),
        [] => {
            let names: Vec<&str> = chips.iter().map(|(name, _)| name.as_str()).collect();
            let there = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            Err(format!("there is no hwmon chip {chip:?} in {}; there are: {there}", class.display()))
        }
        several => {
            let device = |path: &&PathBuf| {
                let device = fs::canonicalize(path.join("device")).unwrap_or_else(|_| (*path).clone());
                format!("hwmon:{}", device.join("hwmon/hwmonN").display())
            };
            let places: Vec<String> = several.iter().map(device).collect();
            Err(format!(
                "there are {} hwmon chips {chip:?}; name one by its device: {}",
                several.len(),
                places.join(" or ")
            ))
        }
    }
}

/// What to read of the chip in `folder`, of the channel that has this label or number, else of all.
fn files(folder: &Path, label: Option<&str>) -> Result<Files, String> {
    let exists = |name: String| Some(folder.join(name)).filter(|path| path.exists());
    let label_of = |kind: &str, channel: u32| {
        read_text(&folder.join(format!("{kind}{channel}_label"))).ok().map(|text| text.trim().to_owned())
    };
    let wanted = |kind: &str, channel: u32| {
        label.is_none_or(|label| {
            label == channel.to_string() || label_of(kind, channel).as_deref() == Some(label)
        })
    };
    for channel in (0..CHANNELS_MAX).filter(|channel| wanted("power", *channel)) {
        let file =
            exists(format!("power{channel}_input")).or_else(|| exists(format!("power{channel}_average")));
        if let Some(file) = file {
            return Ok(Files::Power(file));
        }
    }
    let value = |kind: &str, channel: u32| {
        exists(format!("{kind}{channel}_average")).or_else(|| exists(format!("{kind}{channel}_input")))
    };
    let channels = |kind: &'static str| (0..CHANNELS_MAX).filter_map(move |n| Some((n, value(kind, n)?)));
    // VBUS goes with IBUS, wherever they stand.
    let rail = |kind: &str, channel: u32| label_of(kind, channel)?.get(1..).map(str::to_owned);
    let bus = channels("in").find_map(|(v, volts)| {
        let same = |c: u32| {
            rail("in", v).is_some_and(|name| name == "BUS" && rail("curr", c).as_deref() == Some("BUS"))
        };
        let (_, amperes) = channels("curr").find(|(c, _)| same(*c))?;
        Some((volts, amperes))
    });
    if let (Some(pair), None) = (bus, label) {
        return Ok(Files::Products(vec![pair]));
    }
    // The fourth of an INA3221 is the sum of the shunt voltages, no rail (drivers/hwmon/ina3221.c).
    let is_sum = |channel: u32| label_of("in", channel).is_some_and(|label| label.starts_with("sum of"));
    let pairs: Vec<(PathBuf, PathBuf)> = channels("in")
        .filter(|(channel, _)| !is_sum(*channel) && (wanted("in", *channel) || wanted("curr", *channel)))
        .filter_map(|(channel, volts)| Some((volts, value("curr", channel)?)))
        .collect();
    match (pairs.is_empty(), label) {
        (false, _) => Ok(Files::Products(pairs)),
        (true, None) => {
            Err(format!("{} has neither a power file nor volts with their amperes", folder.display()))
        }
        (true, Some(label)) => Err(format!(
            "{} has no channel {label:?} with power, or with volts and amperes",
            folder.display()
        )),
    }
}

impl Files {
    fn watts(&self) -> Result<f64, String> {
        match self {
            Self::Power(path) => Ok(read_number::<i64>(path)? as f64 / 1e6),
            Self::Products(pairs) => pairs.iter().try_fold(0.0, |sum, (volts, amperes)| {
                let (millivolts, milliamperes) = (read_number::<i64>(volts)?, read_number::<i64>(amperes)?);
                Ok(sum + millivolts as f64 * milliamperes as f64 / 1e6)
            }),
        }
    }

    fn folder(&self) -> Option<&Path> {
        match self {
            Self::Power(path) => path.parent(),
            Self::Products(pairs) => pairs.first()?.0.parent(),
        }
    }
}
