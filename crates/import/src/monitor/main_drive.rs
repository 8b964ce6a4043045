//! The drive in question among those of a log.
//!
//! The one that `--device` names; else the only one; else the one that moved nine tenths of all data. Layers above drives, partitions and
//! paths of a drive that is there too and sums are no drives.

use std::collections::BTreeMap;

use super::names::{
    comes_before, controller, have_same_major, is_layer, is_of_mapper, is_of_nvme, is_partition_of,
    is_path_of, is_surely_drive, order,
};
use super::{Quantity, Samples};
use crate::ImportError;
use crate::device::nothing_of;
use crate::rates::usual_step;

/// Drives that moved less than this share are not named in a refusal.
const LEAST_SHARE: f64 = 0.005;
/// More names are no help.
const MOST_NAMES: usize = 8;
/// Numbers of one report are rounded by themselves, and some tools read devices one after the other: a device moved no more than another
/// where it is so close, but for one report in so many.
const ROUNDED: f64 = 1.02;
const LEAST_BYTES_PER_S: f64 = 2048.0;
const MOST_ROWS_BEYOND: usize = 50;

/// A shorter part of a name is in too many.
const LEAST_OF_A_NAME: usize = 3;

/// More partitions of one drive are not looked for.
const MOST_PARTITIONS: usize = 16;

/// A drive that moved this share of all data is the one in question.
const MAIN_SHARE: f64 = 0.9;

/// The only one of these drives that is of a model, or else whose model or serial number has `wanted` in it: HWiNFO writes
/// `MODEL (SERIAL)`.
fn only_model<'a>(drives: &'a [String], wanted: &str) -> Option<&'a String> {
    let wanted = wanted.trim().to_lowercase();
    let only = |is_of: &dyn Fn(&str, &str) -> bool| {
        let mut found = drives.iter().filter(|drive| {
            drive.to_lowercase().split_once(" (").is_some_and(|(model, serial)| is_of(model.trim(), serial))
        });
        found.next().filter(|_| found.next().is_none())
    };
    let has = |model: &str, serial: &str| model.contains(&wanted) || serial.contains(&wanted);
    only(&|model, _| model == wanted)
        .or_else(|| only(&|model, serial| wanted.len() >= LEAST_OF_A_NAME && has(model, serial)))
}

impl Samples {
    /// The drive in question, with what goes by its controller's name.
    pub(super) fn choose(&mut self, file: &str, wanted: Option<&str>) -> Result<String, ImportError> {
        let name = self.chosen(file, wanted)?;
        if let Some(controller) = controller(&name) {
            self.merge(controller, &name);
        }
        Ok(name)
    }

    fn chosen(&mut self, file: &str, wanted: Option<&str>) -> Result<String, ImportError> {
        let whole = |why: String| ImportError::whole(file, why);
        let all: Vec<String> = self.drives.keys().cloned().collect();
        if let Some(wanted) = wanted {
            let wanted = wanted.trim_start_matches("/dev/");
            let found = all.iter().find(|name| *name == wanted).or_else(|| only_model(&all, wanted));
            return found.cloned().ok_or_else(|| whole(nothing_of(wanted, &all.join(", "))));
        }
        let is_part = |name: &str| {
            let is_whole = |other: &String| {
                is_partition_of(name, other) || is_path_of(name, other) || controller(other) == Some(name)
            };
            all.iter().any(is_whole)
        };
        let drives: Vec<&String> = all.iter().filter(|name| !is_layer(name) && !is_part(name)).collect();
        let drives = if drives.is_empty() { all.iter().collect() } else { drives };
        let drives = if self.counts_block_devices { self.without_layers(drives) } else { drives };
        match drives[..] {
            [] => Err(whole("nothing in it says how fast, how hot or how hungry a drive was".to_owned())),
            [only] => Ok(only.clone()),
            _ => self.main(&drives).map_err(whole),
        }
    }

    /// The block devices without those of other names whose data were moved by a drive as well, in each report: volumes and
    /// encrypted ones by their names (`iostat -N`), groups, and partitions that sar names by numbers.
    fn without_layers<'a>(&mut self, drives: Vec<&'a String>) -> Vec<&'a String> {
        let (sure, others): (Vec<&String>, Vec<&String>) =
            drives.iter().copied().partition(|name| is_surely_drive(name));
        let below = |name: &String| -> Vec<&String> {
            if !sure.is_empty() && !is_of_nvme(name) {
                return sure.clone();
            }
            let before = |other: &&&String| comes_before(other, name);
            others
                .iter()
                .filter(before)
                .find(|other| self.holds(&[other], name))
                .into_iter()
                .copied()
                .collect()
        };
        let mut partitions: BTreeMap<&String, Vec<&String>> = BTreeMap::new();
        let mut is_layer = |name: &String| {
            let below = below(name);
            self.holds(&below, name)
                && match below[..] {
                    [whole] if have_same_major(name, whole) && !is_of_mapper(name) => partitions
                        .entry(whole)
                        .or_insert_with(|| self.partitions(whole, &others))
                        .contains(&name),
                    _ => true,
                }
        };
        let layers: Vec<&String> = others.iter().copied().filter(|name| is_layer(name)).collect();
        if !layers.is_empty() {
            let names = shortened(layers.iter().map(|name| (*name).clone()).collect());
            self.notes.push(format!(
                "taken for volumes or partitions, since drives moved all of their data: {names}"
            ));
        }
        drives.into_iter().filter(|name| !layers.contains(name)).collect()
    }

    /// The partitions of a drive where numbers alone name them: the first of those behind it that together move what it does. A second
    /// drive, which may be slower in each report, does not.
    fn partitions<'a>(&self, whole: &String, others: &[&'a String]) -> Vec<&'a String> {
        let is_behind = |other: &&String| have_same_major(other, whole) && comes_before(whole, other);
        let mut behind: Vec<&String> = others.iter().copied().filter(is_behind).collect();
        behind.sort_by(|a, b| order(a, b));
        let count =
            (1..=behind.len().min(MOST_PARTITIONS)).find(|count| self.holds(&behind[..*count], whole));
        behind.truncate(count.unwrap_or(0));
        behind
    }

    /// Whether what a device moved in each report was moved by these together, too.
    fn holds(&self, drives: &[&String], name: &String) -> bool {
        let rows = |name: &String, wanted: Quantity| -> BTreeMap<usize, f64> {
            let columns = self.drives.get(name).into_iter().flatten();
            columns.filter(|(one, _)| *one == wanted).flat_map(|(_, values)| values.iter().copied()).collect()
        };
        let rates = self.drives[name].iter().map(|(quantity, _)| *quantity);
        let is_held = |quantity: Quantity| {
            let own = rows(name, quantity);
            let of_drives: Vec<BTreeMap<usize, f64>> =
                drives.iter().map(|drive| rows(drive, quantity)).collect();
            let beyond = own.iter().filter(|(row, rate)| {
                let moved: f64 = of_drives.iter().filter_map(|rates| rates.get(row)).sum();
                **rate > ROUNDED * moved + LEAST_BYTES_PER_S
            });
            let total = |rates: &BTreeMap<usize, f64>| rates.values().sum::<f64>();
            // The device mapper counts what it takes, a drive what it has done: rows need not fit, only the whole.
            let is_whole_held = || total(&own) <= ROUNDED * of_drives.iter().map(total).sum::<f64>();
            beyond.count() * MOST_ROWS_BEYOND <= own.len() || is_of_mapper(name) && is_whole_held()
        };
        !drives.is_empty() && rates.filter(|quantity| matches!(quantity, Quantity::Rate(_))).all(is_held)
    }

    /// The drive that moved nearly all data.
    fn main(&mut self, drives: &[&String]) -> Result<String, String> {
        let column = |(quantity, values): &(Quantity, Vec<(usize, f64)>)| {
            moved_bytes(*quantity, &self.over_time(values))
        };
        let moved = |name: &String| self.drives[name].iter().map(column).sum::<f64>();
        let mut shares: Vec<(&String, f64)> = drives.iter().map(|name| (*name, moved(name))).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        let total: f64 = shares.iter().map(|(_, bytes)| bytes).sum();
        let (name, most) = (shares[0].0.clone(), shares[0].1);
        if total > 0.0 && most >= MAIN_SHARE * total {
            if most == total {
                return Ok(name);
            }
            let percent = 100.0 * most / total;
            self.notes
                .push(format!("of the drives in it, {name} is taken: it moved {percent:.0} % of all data"));
            return Ok(name);
        }
        let share = |(name, bytes): &(&String, f64)| format!("{name} {:.0} %", 100.0 * bytes / total);
        let list = shortened(if total > 0.0 {
            shares.iter().filter(|(_, bytes)| *bytes >= LEAST_SHARE * total).map(share).collect()
        } else {
            drives.iter().map(|name| (*name).clone()).collect()
        });
        Err(format!("it is of several drives ({list}): name one with --device"))
    }
}

/// A list of names that can be read.
fn shortened(mut names: Vec<String>) -> String {
    let count = names.len();
    names.truncate(MOST_NAMES);
    if count > MOST_NAMES {
        names.push(format!("and {} more", count - MOST_NAMES));
    }
    names.join(", ")
}

/// Bytes that a column says were moved.
fn moved_bytes(quantity: Quantity, values: &[(f64, f64)]) -> f64 {
    let known = values.iter().map(|(_, value)| *value).filter(|value| value.is_finite());
    match quantity {
        // Of one step each: what shares are compared by needs no more.
        Quantity::Rate(_) => known.sum::<f64>().abs() * usual_step(values).unwrap_or(1.0),
        Quantity::Total(_) => {
            let (low, high) =
                known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (v.min(low), v.max(high)));
            (high - low).max(0.0)
        }
        Quantity::Celsius(_) | Quantity::Power | Quantity::Busy | Quantity::BusyTotal => 0.0,
    }
}
