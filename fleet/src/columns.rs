//! The arguments of `thermal_state` in one batch: where rows of one drive stand together, and those as slices.

use datafusion::arrow::array::{Array as _, ArrayRef, AsArray as _, Int64Array, StringViewArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::{Result, exec_datafusion_err, exec_err};
use fleet_state::row::ABSENT;
use fleet_state::{COUNTERS, HealthRow, HealthRun, IntervalRules, RUN_ROWS, ThermalState};

/// How many arguments there are.
const ARGUMENTS: usize = 7 + COUNTERS;

/// Whole numbers of a column, and which are there.
struct NumberColumn<'a> {
    values: &'a [i64],
    nulls: Option<&'a NullBuffer>,
    /// Not a single value: a counter that this fleet does not have.
    absent: bool,
}

impl<'a> NumberColumn<'a> {
    fn of(array: &'a ArrayRef) -> Result<Self> {
        let array: &Int64Array = array
            .as_primitive_opt::<Int64Type>()
            .ok_or_else(|| exec_datafusion_err!("thermal_state: a column of {} came", array.data_type()))?;
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let absent = !array.is_empty() && array.null_count() == array.len();
        Ok(Self { values: array.values(), nulls, absent })
    }

    #[inline]
    fn at(&self, row: usize) -> Option<i64> {
        (!self.absent && self.nulls.is_none_or(|nulls| nulls.is_valid(row))).then(|| self.values[row])
    }

    /// Some rows: a value in each, or none in any. `None` where only some of them have one.
    fn run(&self, from: usize, to: usize) -> Option<Option<&'a [i64]>> {
        if self.absent {
            return Some(None);
        }
        let nulls = self.nulls.map_or(0, |nulls| nulls.slice(from, to - from).null_count());
        match nulls {
            0 => Some(Some(&self.values[from..to])),
            nulls if nulls == to - from => Some(None),
            _ => None,
        }
    }
}

/// A label of the rows: most have that of the row before.
struct LabelColumn<'a> {
    array: &'a StringViewArray,
    /// No row has one, or all have.
    even: bool,
}

impl<'a> LabelColumn<'a> {
    fn of(array: &'a ArrayRef) -> Result<Self> {
        let array = array
            .as_string_view_opt()
            .ok_or_else(|| exec_datafusion_err!("thermal_state: labels are texts"))?;
        let nulls = array.null_count();
        Ok(Self { array, even: nulls == 0 || nulls == array.len() })
    }

    fn at(&self, row: usize) -> &'a str {
        if self.array.is_null(row) { "" } else { self.array.value(row) }
    }

    /// Whether a row has the label of the one before it.
    #[inline]
    fn is_same(&self, row: usize) -> bool {
        let views = self.array.views();
        // Equal views are equal texts: one that is short stands in its view, one that is long where the view says.
        (self.even && views[row] == views[row - 1]) || self.at(row) == self.at(row - 1)
    }
}

/// The arguments of one batch.
pub(crate) struct RowColumns<'a> {
    rules: IntervalRules,
    labels: [LabelColumn<'a>; 4],
    time: NumberColumn<'a>,
    temp: NumberColumn<'a>,
    /// In the order of a row's counters.
    counters: Vec<NumberColumn<'a>>,
}

impl<'a> RowColumns<'a> {
    pub(crate) fn of(values: &'a [ArrayRef]) -> Result<Self> {
        if values.len() != ARGUMENTS {
            return exec_err!("thermal_state takes {ARGUMENTS} arguments, {} came", values.len());
        }
        let cadence = NumberColumn::of(&values[0])?;
        let Some(cadence_ms) = (if cadence.values.is_empty() { Some(1) } else { cadence.at(0) }) else {
            return exec_err!("thermal_state needs a cadence in milliseconds as its first argument");
        };
        let label = |at: usize| LabelColumn::of(&values[at]);
        Ok(Self {
            rules: IntervalRules { cadence_ms: cadence_ms.max(1) },
            labels: [label(1)?, label(2)?, label(3)?, label(4)?],
            time: NumberColumn::of(&values[5])?,
            temp: NumberColumn::of(&values[6])?,
            counters: values[7..].iter().map(NumberColumn::of).collect::<Result<_>>()?,
        })
    }

    pub(crate) fn rows(&self) -> usize {
        self.time.values.len()
    }

    /// Where the rows end that `belongs` with the one before, each, and have its labels.
    #[inline]
    pub(crate) fn run_end(&self, from: usize, belongs: impl Fn(usize) -> bool) -> usize {
        let limit = self.rows().min(from + RUN_ROWS);
        let follows = |row: &usize| belongs(*row) && self.labels.iter().all(|label| label.is_same(*row));
        (from + 1..limit).take_while(follows).last().map_or(from + 1, |last| last + 1)
    }

    /// Gives rows of one drive with one set of labels to its state. Returns how many stretches it has more now.
    pub(crate) fn give(&self, from: usize, to: usize, state: &mut ThermalState) -> usize {
        let labels = [0, 1, 2, 3].map(|at| self.labels[at].at(from));
        match self.run(from, to) {
            Some(run) => state.push_run(labels, &run, &self.rules),
            None => (from..to).map(|row| usize::from(self.give_row(row, labels, state))).sum(),
        }
    }

    /// Rows as slices, where each column has a value in all of them or in none, and each has a time.
    fn run(&self, from: usize, to: usize) -> Option<HealthRun<'a>> {
        if to - from < 2 {
            return None;
        }
        let mut counters = [None; COUNTERS];
        for (counter, column) in counters.iter_mut().zip(&self.counters) {
            *counter = column.run(from, to)?;
        }
        Some(HealthRun { time_ms: self.time.run(from, to)??, temp_mc: self.temp.run(from, to)?, counters })
    }

    #[inline]
    fn give_row(&self, row: usize, labels: [&str; 4], state: &mut ThermalState) -> bool {
        let Some(time_ms) = self.time.at(row) else {
            state.push_untimed();
            return false;
        };
        let value = |column: &NumberColumn| column.at(row).unwrap_or(ABSENT);
        let health = HealthRow::new(time_ms)
            .with_temp_mc(value(&self.temp))
            .with_counters(std::array::from_fn(|at| value(&self.counters[at])));
        state.push(labels, &health, &self.rules)
    }
}
