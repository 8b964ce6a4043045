//! One row of a fio log: its numbers, and which of them is which.
//!
//! `time_ms, value[, value1], direction, block size[, offset][, priority][, issue time]` (fio, HOWTO, "Log File
//! Formats"). Four columns up to fio 3.17, five since 3.18; each of `log_offset`, `log_window_value=both` and
//! `log_issue_time` adds one. Only `value1` moves what is read here, and widths do not tell it from the others,
//! so that the numbers have to: see [`Layout`].

/// Columns at most: all options together.
const MOST_COLUMNS: usize = 8;
/// `value1` makes at least six columns, since priorities come with every version that has it.
const LEAST_COLUMNS_WITH_BOTH: usize = 6;

/// A row as far as it is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LogRow {
    pub(super) time_ms: u64,
    pub(super) value: f64,
    /// 0 read, 1 write, 2 trim.
    pub(super) direction: usize,
    /// Bytes of the I/O; 0 in rows that are means over a window.
    pub(super) block: u64,
}

/// The numbers of a row, before it is known which is which.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Numbers {
    pub(super) count: usize,
    of: [u64; MOST_COLUMNS],
}

/// What is wrong with a row.
#[derive(Debug, PartialEq)]
pub(super) struct Wrong {
    /// Counted from 1.
    pub(super) column: Option<usize>,
    pub(super) why: String,
}

impl Numbers {
    /// The numbers of a line.
    pub(super) fn read(line: &str) -> Result<Self, Wrong> {
        let mut numbers = Self { count: 0, of: [0; MOST_COLUMNS] };
        for cell in line.split(',') {
            if numbers.count == MOST_COLUMNS {
                let why = "a row of a fio log has 8 values at most".to_owned();
                return Err(Wrong { column: Some(MOST_COLUMNS + 1), why });
            }
            let cell = cell.trim_ascii();
            numbers.of[numbers.count] = number(cell).ok_or_else(|| Wrong {
                column: Some(numbers.count + 1),
                why: format!("{:?} is not a whole number", shortened(cell)),
            })?;
            numbers.count += 1;
        }
        if numbers.count < 4 {
            let why = format!("a row of a fio log has 4 to 8 values, not {}", numbers.count);
            return Err(Wrong { column: None, why });
        }
        Ok(numbers)
    }

    /// Which layouts these numbers can have.
    pub(super) fn layouts(&self) -> Layouts {
        let [_, value, second, third, ..] = self.of;
        let both = self.count >= LEAST_COLUMNS_WITH_BOTH && third <= 2 && second >= value;
        Layouts { plain: second <= 2, both }
    }

    /// The row, with the layout that was decided on.
    pub(super) fn row(&self, layout: Layout) -> LogRow {
        let shift = usize::from(layout == Layout::Both);
        LogRow {
            time_ms: self.of[0],
            value: self.of[1] as f64,
            direction: self.of[2 + shift] as usize,
            block: self.of[3 + shift],
        }
    }
}

/// Where direction and block size stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Third and fourth.
    Plain,
    /// After the greatest value of the window (`log_window_value=both`): fourth and fifth.
    Both,
}

/// Layouts that are possible. The third number of a plain row is a direction, 0 to 2. With both values it is the
/// greatest value of the window, which is never below the mean before it, and the fourth is the direction.
/// A row can be both only where a mean is 2 KiB/s, 2 I/Os or 2 ns at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layouts {
    pub(super) plain: bool,
    pub(super) both: bool,
}

impl Layouts {
    /// The layout, where only one is possible.
    pub(super) fn only(self) -> Option<Layout> {
        match (self.plain, self.both) {
            (true, false) => Some(Layout::Plain),
            (false, true) => Some(Layout::Both),
            _ => None,
        }
    }
}

fn number(cell: &str) -> Option<u64> {
    if let Some(hex) = cell.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    if cell.bytes().all(|byte| byte.is_ascii_digit()) { cell.parse().ok() } else { None }
}

/// The beginning of what was found in place of a number.
fn shortened(cell: &str) -> String {
    cell.chars().take(40).collect()
}

#[cfg(test)]
mod test {
    use super::*;

    fn layouts(line: &str) -> (bool, bool) {
        let Layouts { plain, both } = Numbers::read(line).expect("a row").layouts();
        (plain, both)
    }

    #[test]
    fn widths_that_can_mean_two_things_are_told_by_their_numbers() {
        // Offset, priority: the third number is a direction.
        assert_eq!(layouts("1000, 30784, 1, 0, 0, 0x0000"), (true, false));
        // Mean, maximum, direction, block size, priority.
        assert_eq!(layouts("1000, 30784, 41000, 1, 0, 0"), (false, true));
        assert_eq!(layouts("1000, 30784, 1, 0, 0"), (true, false));
        assert_eq!(layouts("1000, 1, 1, 1, 0, 0"), (true, true));
        assert_eq!(layouts("1000, 30784, 7, 9, 0, 0"), (false, false));
        let row = Numbers::read("1000, 30784, 41000, 1, 0, 0").expect("a row").row(Layout::Both);
        assert_eq!(row, LogRow { time_ms: 1000, value: 30784.0, direction: 1, block: 0 });
    }

    #[test]
    fn what_is_no_number_is_named_by_its_column() {
        assert_eq!(Numbers::read("1, 2, 0").expect_err("too short").column, None);
        assert_eq!(Numbers::read("1, 2.5, 0, 0").expect_err("a fraction").column, Some(2));
        assert_eq!(Numbers::read("1, 2, 0, +5").expect_err("a sign").column, Some(4));
        assert_eq!(Numbers::read("1,2,3,4,5,6,7,8,9").expect_err("too long").column, Some(9));
    }
}
