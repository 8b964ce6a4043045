//! collectd's CSV: a file a value, in folders of hosts and plugins (`HOST/disk-nvme0n1/disk_octets-2026-11-22`).
//!
//! Rules
//! - What a file holds is not in it: `disk_octets` are bytes of the drive that its folder names (`disk-nvme0n1`), and `temperature` is
//!   °C of the chip that its folder names (`sensors-nvme-pci-0100`), `temp1` being the composite. Others, as of operations or
//!   processors, are not read.
//! - `smart_temperature` is °C of the drive that its folder names (`smart-nvme0n1`), from collectd's plugin smart.
//! - Bytes that are whole numbers throughout are counters (`StoreRates false`), others are bytes per second.
//! - All files are one log. A chip names no drive: its temperature is taken where there is one chip.

use std::collections::BTreeSet;

use super::when::since_1970;
use super::{Quantity, Samples};
use crate::ImportError;
use crate::lines::LineReader;
use crate::part::{RunPart, TimeBase};
use trace::SegmentOp::{Read, Write};

/// Chips of drives: the kernel's hwmon of NVMe and of SATA drives.
const CHIPS: [&str; 2] = ["nvme", "drivetemp"];

/// Whether a line is the header of such a file.
pub(crate) fn is_header(line: &str) -> bool {
    ["epoch,read,write", "epoch,value"].contains(&line.trim())
}

/// What a file holds, by its name.
enum Held<'a> {
    Bytes(&'a str),
    /// Of a drive.
    DriveCelsius(&'a str),
    /// Of a chip, and which sensor.
    Celsius(&'a str, u8),
}

/// What the files of an import hold.
#[derive(Default)]
pub(crate) struct Gathered {
    bytes: Samples,
    heat: Samples,
    chips: BTreeSet<String>,
    /// The first file.
    file: String,
}

impl Gathered {
    /// Reads a file; what else it holds where it is not read.
    pub(crate) fn add(
        &mut self,
        file: &str,
        mut lines: LineReader<'_>,
    ) -> Result<Option<&'static str>, ImportError> {
        let Some(held) = held(file) else {
            return Ok(Some(
                "it is of collectd, and by its name neither disk_octets, smart_temperature nor a temperature of a drive",
            ));
        };
        if self.file.is_empty() {
            file.clone_into(&mut self.file);
        }
        let wanted = if matches!(held, Held::Bytes(_)) { 3 } else { 2 };
        let mut rows = Vec::new();
        while let Some((number, line)) = lines.next()? {
            if line.trim().is_empty() || is_header(line) {
                continue;
            }
            let Some(row) = row(line, wanted) else {
                let why = format!(
                    "{line:?} is no row of collectd's: seconds since 1970, and {} after them",
                    if wanted == 3 { "two numbers" } else { "one number" }
                );
                if lines.ended {
                    return Err(ImportError::at(file, number, None, why));
                }
                lines.line_is_cut(number);
                break;
            };
            rows.push(row);
        }
        self.take(&held, &rows);
        Ok(None)
    }

    fn take(&mut self, held: &Held<'_>, rows: &[(f64, [f64; 2])]) {
        let mut values = rows.iter().flat_map(|(_, values)| values);
        let are_counters = values.all(|value| value.is_nan() || value.fract() == 0.0);
        let of = |op| if are_counters { Quantity::Total(op) } else { Quantity::Rate(op) };
        for (t_s, [first, last]) in rows {
            match held {
                Held::Bytes(drive) => {
                    self.bytes.push(drive, of(Read), *t_s, *first);
                    self.bytes.push(drive, of(Write), *t_s, *last);
                }
                Held::DriveCelsius(drive) => {
                    self.bytes.push(drive, Quantity::Celsius(0), *t_s, *first);
                }
                Held::Celsius(chip, sensor) => {
                    self.heat.push(chip, Quantity::Celsius(*sensor), *t_s, *first);
                }
            }
        }
        if let Held::Celsius(chip, _) = held {
            self.chips.insert((*chip).to_owned());
        }
    }

    /// The parts that the drive in question makes: its bytes and its temperature.
    pub(crate) fn parts(mut self, device: Option<&str>) -> Result<Vec<RunPart>, ImportError> {
        let clock = |zero_s| TimeBase::Unix { zero_s };
        let mut parts = Vec::new();
        // Files come in the order of their names.
        (self.bytes.is_unordered, self.heat.is_unordered) = (true, true);
        if !self.bytes.is_empty() {
            parts.push(self.bytes.part(&self.file, device, clock)?);
        }
        match (&mut parts[..], self.chips.len()) {
            (_, 0) => {}
            ([bytes], 2..) => bytes.trace.notes.push(format!(
                "no temperature is known to be of {}; those of {} are in the files and not used",
                bytes.trace.name,
                self.chips.into_iter().collect::<Vec<_>>().join(", ")
            )),
            ([], 2..) => parts.push(self.heat.part(&self.file, device, clock)?),
            _ => parts.push(self.heat.part(&self.file, None, clock)?),
        }
        Ok(parts)
    }
}

/// What a file of that name holds.
fn held(file: &str) -> Option<Held<'_>> {
    let (folder, base) = file.rsplit_once(['/', '\\']).unwrap_or(("", file));
    let plugin = folder.rsplit(['/', '\\']).next().unwrap_or_default();
    let instance = plugin.split_once('-').map(|(_, instance)| instance);
    if base.starts_with("disk_octets") {
        return Some(Held::Bytes(instance.unwrap_or("drive")));
    }
    if base.starts_with("smart_temperature") {
        return Some(Held::DriveCelsius(instance.unwrap_or("drive")));
    }
    let sensor = base.strip_prefix("temperature")?.trim_start_matches('-');
    let chip = instance.unwrap_or("drive");
    if instance.is_some() && !CHIPS.iter().any(|known| chip.starts_with(known)) {
        return None;
    }
    // The kernel counts from 1, and its first is the composite.
    let number = sensor.strip_prefix("temp").and_then(|rest| rest.split('-').next()?.parse::<u8>().ok());
    Some(Held::Celsius(chip, number.map_or(0, |number| number.saturating_sub(1)).min(8)))
}

/// The time of a row and its first and last number.
fn row(line: &str, wanted: usize) -> Option<(f64, [f64; 2])> {
    let cells: Option<Vec<f64>> = line.split(',').map(|cell| cell.trim().parse().ok()).collect();
    let cells = cells.filter(|cells| cells.len() == wanted)?;
    Some((since_1970(cells[0])?, [cells[1], cells[wanted - 1]]))
}
