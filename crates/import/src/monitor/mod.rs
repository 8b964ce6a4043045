//! Logs of programs that watch a whole machine: many drives, many values, and somewhere among them the drive in
//! question.
//!
//! Rules
//! - One drive: the one that `--device` names; else the only one; else the one that moved nine tenths of all data.
//!   Several that moved data are refused with their shares. Layers above drives (`dm-`, `md`, `loop`, `zram`, ..),
//!   partitions of a drive that is there too and sums over all (`_Total`) are no drives.
//! - A rate is that of the time before its row: back to the row before it, or one usual step where that is more than
//!   three usual steps away. The rest is a gap.
//! - Temperatures in whole °C are whole kelvins less 273.
//! - Columns and values that say nothing about a drive's speed, temperature or power are passed over.

mod bare_units;
pub(super) mod collectd;
pub(super) mod columns;
mod counters;
pub(super) mod date_words;
pub(super) mod dstat;
mod grafana;
mod hwinfo;
pub(super) mod influx_csv;
pub(super) mod line_time;
mod long_table;
mod main_drive;
mod names;
pub(super) mod netdata;
mod series;
pub(super) mod sysstat;
pub(super) mod telegraf;
mod titles;
pub(super) mod units;
pub(super) mod when;

use std::collections::BTreeMap;

use self::names::controller;
pub(super) use self::names::{is_drive, is_layer};
use self::series::{add, is_drawn_down, of_own_rows};
use self::when::Stamp;
use super::part::{CountedBy, RunPart, TimeBase};
use super::rates::{is_told_as_counter, usual_step};
use super::{ImportError, set_back};
use trace::{SegmentOp, Trace};

/// How many of the words that tell columns are in a text of lower case: fewer where it was read in a wrong code page.
pub(super) fn title_words_in(lower: &str) -> usize {
    counters::counter_words_in(lower) + hwinfo::words_in(lower)
}

/// What one value says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Quantity {
    /// Bytes per second over the time before.
    Rate(SegmentOp),
    /// Bytes ever moved.
    Total(SegmentOp),
    /// °C of the composite (0) or of a sensor by number.
    Celsius(u8),
    /// Watts.
    Power,
    /// Share of the time before in which the drive had something to do.
    Busy,
    /// Seconds ever in which it had.
    BusyTotal,
}

impl Quantity {
    /// Where it stands among a drive's.
    const fn rank(self) -> u8 {
        match self {
            Self::Rate(SegmentOp::Read) => 0,
            Self::Rate(SegmentOp::Write) => 1,
            Self::Rate(_) => 2,
            Self::Total(_) => 3,
            Self::Power => 4,
            Self::Busy => 5,
            Self::BusyTotal => 6,
            Self::Celsius(number) => 7 + number,
        }
    }
}

/// Values of one drive: the row that each is of, and what it is.
type Columns = Vec<(Quantity, Vec<(usize, f64)>)>;

/// What a log holds of each drive.
#[derive(Default)]
pub(super) struct Samples {
    drives: BTreeMap<String, Columns>,
    /// When each row was taken, in the order of the file.
    times: Vec<f64>,
    /// Whether each row is a report that leaves out drives which moved nothing.
    pub(super) leaves_out_idle: bool,
    /// Whether rows stand in any order, so that only their times tell which was first.
    pub(super) is_unordered: bool,
    /// Whether it has all block devices of a machine, so that those which lie on others are there, too.
    pub(super) counts_block_devices: bool,
    /// Whether people chose the titles, so that bytes may be of a row each though they are called like those of all time.
    pub(super) has_free_titles: bool,
    /// What was decided on the way.
    pub(super) notes: Vec<String>,
}

impl Samples {
    /// Takes a value; what is no number is a missing reading.
    pub(super) fn push(&mut self, drive: &str, quantity: Quantity, t_s: f64, value: f64) {
        let row = self.row(t_s);
        self.push_at(drive, quantity, row, value);
    }

    /// The row of that time: the last one, or a new one.
    pub(super) fn row(&mut self, t_s: f64) -> usize {
        if self.times.last() != Some(&t_s) {
            self.times.push(t_s);
        }
        self.times.len() - 1
    }

    /// Whether the last row is of that time.
    fn is_last(&self, t_s: f64) -> bool {
        self.times.last() == Some(&t_s)
    }

    /// Takes a value of a row that is known.
    pub(super) fn push_at(&mut self, drive: &str, quantity: Quantity, row: usize, value: f64) {
        let columns = match self.drives.get_mut(drive) {
            Some(columns) => columns,
            None => self.drives.entry(drive.to_owned()).or_default(),
        };
        match columns.iter_mut().find(|(known, _)| *known == quantity) {
            Some((_, values)) => values.push((row, value)),
            None => columns.push((quantity, vec![(row, value)])),
        }
    }

    /// Whether there is a drive beside the one of that name.
    fn drives_but(&self, name: &str) -> bool {
        self.drives.keys().any(|known| known != name)
    }

    /// Whether nothing was taken.
    fn is_empty(&self) -> bool {
        self.drives.is_empty()
    }

    /// Moves all times and the first one by so much, when the file turns out to have its days before its months.
    fn move_all(&mut self, first: &mut Option<Stamp>, by_s: f64) {
        if by_s != 0.0 {
            self.times.iter_mut().for_each(|t_s| *t_s += by_s);
            *first = first.map(|first| Stamp { seconds: first.seconds + by_s, ..first });
        }
    }

    /// Whether there is a value of that kind.
    fn has(&self, drive: &str, quantity: Quantity) -> bool {
        self.drives.get(drive).is_some_and(|columns| columns.iter().any(|(known, _)| *known == quantity))
    }

    /// A drive's values of one kind, in the order of the file.
    fn values(&self, drive: &str, quantity: Quantity) -> Vec<f64> {
        let columns = self.drives.get(drive).into_iter().flatten();
        let of_kind = columns.filter(|(known, _)| *known == quantity).flat_map(|(_, values)| values);
        of_kind.map(|(_, value)| *value).collect()
    }

    /// Takes values for those of another kind.
    fn rename(&mut self, drive: &str, from: Quantity, to: Quantity) {
        let columns = self.drives.get_mut(drive).into_iter().flatten();
        columns.filter(|(known, _)| *known == from).for_each(|(known, _)| *known = to);
    }

    /// Takes what goes by the name `from` for `into`'s, where that has nothing of the kind itself.
    fn merge(&mut self, from: &str, into: &str) {
        for (quantity, values) in self.drives.remove(from).unwrap_or_default() {
            if !self.has(into, quantity) {
                self.drives.entry(into.to_owned()).or_default().push((quantity, values));
            }
        }
    }

    /// The part that the drive in question makes; `wanted` is what the user calls it.
    pub(super) fn part(
        mut self,
        file: &str,
        wanted: Option<&str>,
        clock: impl Fn(f64) -> TimeBase,
    ) -> Result<RunPart, ImportError> {
        let name = self.choose(file, wanted)?;
        let mut set_clocks = Vec::new();
        if !self.is_unordered {
            let is_utc = matches!(clock(0.0), TimeBase::Unix { .. });
            set_clocks = set_back::undo(file, &mut self.times, is_utc);
        }
        let columns = self.drives.remove(&name).unwrap_or_default();
        self.tell_other_heat(&name, &columns);
        let columns = if self.leaves_out_idle { self.with_idle(&name, columns) } else { columns };
        let mut columns: Vec<(Quantity, Vec<(f64, f64)>)> =
            columns.into_iter().map(|(quantity, values)| (quantity, self.over_time(&values))).collect();
        // A monitor counts what never happens, too; and JSON has its keys in any order.
        columns.retain(|(quantity, values)| {
            *quantity != Quantity::Rate(SegmentOp::Trim) || values.iter().any(|(_, value)| *value > 0.0)
        });
        columns.sort_by_key(|(quantity, _)| quantity.rank());
        let first_s = |(quantity, values): &(Quantity, Vec<(f64, f64)>)| {
            let values = of_own_rows(values);
            let before = if matches!(quantity, Quantity::Rate(_)) { usual_step(&values)? } else { 0.0 };
            Some(values.first()?.0 - before)
        };
        let zero_s = columns.iter().filter_map(first_s).fold(f64::INFINITY, f64::min);
        if !zero_s.is_finite() {
            return Err(ImportError::whole(
                file,
                format!("there is one row of {name} at most, which is no course of time"),
            ));
        }
        if self.has_free_titles {
            let totals = columns.iter().filter(|(quantity, _)| matches!(quantity, Quantity::Total(_)));
            let totals: Vec<&[(f64, f64)]> = totals.map(|(_, values)| &values[..]).collect();
            is_told_as_counter(
                &totals,
                "Export rate() of them, or give the titles of counters the word total",
            )
            .map_err(|why| ImportError::whole(file, why))?;
        }
        let mut trace = Trace::empty(&name);
        trace.caveats = set_clocks;
        for (quantity, mut values) in columns {
            if is_drawn_down(quantity, &values) {
                values.iter_mut().for_each(|(_, value)| *value = -*value);
                self.notes.push(
                    "speeds below zero throughout, as they are drawn downwards: taken without the sign"
                        .into(),
                );
            }
            add(&mut trace, quantity, &values, zero_s).map_err(|why| ImportError::whole(file, why))?;
        }
        trace.notes.append(&mut self.notes);
        Ok(RunPart { files: vec![file.to_owned()], source: CountedBy::System, clock: clock(zero_s), trace })
    }

    /// Says that temperatures are in the log, and none is known to be of the drive in question.
    fn tell_other_heat(&mut self, name: &str, columns: &Columns) {
        let is_hot = |columns: &Columns| columns.iter().any(|(one, _)| matches!(one, Quantity::Celsius(_)));
        let others: Vec<&str> = self
            .drives
            .iter()
            .filter(|(_, columns)| is_hot(columns))
            .map(|(name, _)| name.as_str())
            .collect();
        if !is_hot(columns) && !others.is_empty() {
            self.notes.push(format!(
                "no temperature is known to be of {name}; those of {} are in the log and not used",
                others.join(", ")
            ));
        }
    }

    /// The speeds with 0 in each report that leaves the drive out, as `iostat -z` and `sar -z` do while it is idle.
    fn with_idle(&mut self, name: &str, mut columns: Columns) -> Columns {
        let mut most = 0;
        for (quantity, values) in &mut columns {
            if !matches!(quantity, Quantity::Rate(_)) {
                continue;
            }
            // A file may end within its last report.
            let mut is_there = vec![false; self.times.len()];
            is_there.last_mut().into_iter().for_each(|last| *last = true);
            values.iter().for_each(|(row, _)| is_there[*row] = true);
            let idle = (0..is_there.len()).filter(|row| !is_there[*row]).map(|row| (row, 0.0));
            let count = values.len();
            values.extend(idle);
            values.sort_by_key(|(row, _)| *row);
            most = most.max(values.len() - count);
        }
        if most > 0 {
            self.notes.push(format!(
                "{most} of {} reports leave {name} out, as iostat and sar with -z do while a drive is idle: taken as 0 B/s",
                self.times.len()
            ));
        }
        columns
    }

    /// The values of a column by their times, one for each.
    fn over_time(&self, values: &[(usize, f64)]) -> Vec<(f64, f64)> {
        let mut values: Vec<(f64, f64)> =
            values.iter().map(|(row, value)| (self.times[*row], *value)).collect();
        values.retain(|(t, _)| t.is_finite());
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|next, kept| next.0 <= kept.0);
        values
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn with(drives: &[(&str, f64)]) -> Samples {
        let mut samples = Samples::default();
        for t in 0..10 {
            for (name, rate) in drives {
                samples.push(name, Quantity::Rate(SegmentOp::Write), f64::from(t), *rate);
            }
        }
        samples
    }

    fn chosen(drives: &[(&str, f64)], wanted: Option<&str>) -> Result<String, String> {
        with(drives).choose("log", wanted).map_err(|error| error.to_string())
    }

    #[test]
    fn the_drive_in_question_is_the_one_that_moves_data() {
        let name = |drives: &[(&str, f64)]| chosen(drives, None);
        assert_eq!(name(&[("nvme0n1", 1e9), ("nvme0n1p1", 1e9), ("dm-0", 1e9)]), Ok("nvme0n1".into()));
        assert_eq!(name(&[("sda", 1e6), ("nvme0n1", 1e9)]), Ok("nvme0n1".into()));
        assert_eq!(name(&[("dm-0", 1.0)]), Ok("dm-0".into()));
        let both = name(&[("sda", 4e8), ("sdb", 6e8)]).expect_err("two drives");
        assert!(both.contains("sdb 60 %, sda 40 %") && both.contains("--device"), "{both}");
        assert_eq!(chosen(&[("sda", 4e8), ("sdb", 6e8)], Some("/dev/sda")), Ok("sda".into()));
        assert!(chosen(&[("sda", 4e8)], Some("sdc")).expect_err("not there").contains("there are sda"));
    }
}
