//! The drive in question among those of a log.
//!
//! The one that `--device` names; else the only one; else the one that moved nine tenths of all data. Layers above drives, partitions and
//! paths of a drive that is there too and sums are no drives.

use super::names::{controller, is_layer, is_partition_of, is_path_of};
use super::{Quantity, Samples};
use crate::ImportError;
use crate::device::nothing_of;
use crate::rates::usual_step;

/// A drive that moved this share of all data is the one in question.
const MAIN_SHARE: f64 = 0.9;

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
            let found = all.iter().find(|name| *name == wanted);
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
        match drives[..] {
            [] => Err(whole("nothing in it says how fast, how hot or how hungry a drive was".to_owned())),
            [only] => Ok(only.clone()),
            _ => self.main(&drives).map_err(whole),
        }
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
        let list: Vec<String> = if total > 0.0 {
            shares.iter().filter(|(_, bytes)| *bytes > 0.0).map(share).collect()
        } else {
            drives.iter().map(|name| (*name).clone()).collect()
        };
        Err(format!("it is of several drives ({}): name one with --device", list.join(", ")))
    }
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
