//! `thermal_state`: the mergeable state of a drive as an aggregate function of the engine.
//!
//! An aggregate, because the engine then merges states across partitions and machines by itself: states cross, rows do
//! not. It never turns single rows into states (`convert_to_state` stays unsupported), so that the engine cannot switch
//! the first stage off where there are many drives.

use std::mem::size_of;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int64Array, LargeBinaryArray, LargeBinaryBuilder, StringViewArray,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, exec_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use fleet_state::row::ABSENT;
use fleet_state::{COUNTERS, HealthRow, IntervalRules, STRETCH_BYTES, ThermalState};

/// Name of the function in SQL.
pub(crate) const THERMAL_STATE: &str = "thermal_state";

/// States of a column may be more than 2 GiB together, which `Binary` cannot hold.
const STATE_TYPE: DataType = DataType::LargeBinary;

/// `thermal_state(cadence_ms, model, firmware, host, slot, time_ms, temp_mc, COUNTERS..) -> binary`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ThermalStateFunction {
    signature: Signature,
}

/// The function, to be registered.
#[must_use]
pub fn thermal_state() -> AggregateUDF {
    let mut types = vec![DataType::Int64];
    types.extend([DataType::Utf8View, DataType::Utf8View, DataType::Utf8View, DataType::Utf8View]);
    types.extend(std::iter::repeat_n(DataType::Int64, 2 + COUNTERS));
    AggregateUDF::from(ThermalStateFunction { signature: Signature::exact(types, Volatility::Immutable) })
}

impl AggregateUDFImpl for ThermalStateFunction {
    fn name(&self) -> &str {
        THERMAL_STATE
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(STATE_TYPE)
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[state]", arguments.name), STATE_TYPE, true))])
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(OneDrive::default()))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs) -> bool {
        true
    }

    fn create_groups_accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(ManyDrives::default()))
    }
}

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
}

/// The arguments of one batch.
struct RowColumns<'a> {
    rules: IntervalRules,
    labels: [&'a StringViewArray; 4],
    time: NumberColumn<'a>,
    temp: NumberColumn<'a>,
    /// Only those counters that are there, with where they stand in a row.
    counters: Vec<(usize, NumberColumn<'a>)>,
}

impl<'a> RowColumns<'a> {
    fn of(values: &'a [ArrayRef]) -> Result<Self> {
        if values.len() != 7 + COUNTERS {
            return exec_err!("thermal_state takes {} arguments, {} came", 7 + COUNTERS, values.len());
        }
        let cadence = NumberColumn::of(&values[0])?;
        let Some(cadence_ms) = (if cadence.values.is_empty() { Some(1) } else { cadence.at(0) }) else {
            return exec_err!("thermal_state needs a cadence in milliseconds as its first argument");
        };
        let mut counters = Vec::with_capacity(COUNTERS);
        for (at, array) in values[7..].iter().enumerate() {
            let column = NumberColumn::of(array)?;
            if !column.absent {
                counters.push((at, column));
            }
        }
        let label = |at: usize| {
            values[at]
                .as_string_view_opt()
                .ok_or_else(|| exec_datafusion_err!("thermal_state: labels are texts"))
        };
        Ok(Self {
            rules: IntervalRules { cadence_ms: cadence_ms.max(1) },
            labels: [label(1)?, label(2)?, label(3)?, label(4)?],
            time: NumberColumn::of(&values[5])?,
            temp: NumberColumn::of(&values[6])?,
            counters,
        })
    }

    /// Gives a row to a state. Returns whether it takes more memory now.
    #[inline]
    fn give(&self, row: usize, state: &mut ThermalState) -> bool {
        let Some(time_ms) = self.time.at(row) else {
            state.push_untimed();
            return false;
        };
        let mut health = HealthRow::new(time_ms);
        health.temp_mc = self.temp.at(row).unwrap_or(ABSENT);
        for (at, column) in &self.counters {
            // A negative counter is none, as in `HealthRow::with`.
            health.counters[*at] = column.at(row).filter(|value| *value >= 0).unwrap_or(ABSENT);
        }
        let label = |array: &'a StringViewArray| if array.is_null(row) { "" } else { array.value(row) };
        state.push(self.labels.map(label), &health, &self.rules)
    }
}

fn decoded(bytes: &[u8]) -> Result<ThermalState> {
    ThermalState::decode(bytes).map_err(|error| exec_datafusion_err!("{error}"))
}

/// A drive among many: its rows are gathered in the first stage, and the states of that in the last one, where nothing
/// but their bytes is needed.
enum DriveSlot {
    Gathered(ThermalState),
    Passed(Vec<u8>),
}

impl Default for DriveSlot {
    fn default() -> Self {
        Self::Gathered(ThermalState::default())
    }
}

/// Passed states of one drive are read and written anew beyond this, so that a drive in very many pieces stays small.
const PASSED_BYTES: usize = 64 << 10;

impl DriveSlot {
    fn gathered(&mut self) -> Result<&mut ThermalState> {
        if let Self::Passed(bytes) = self {
            *self = Self::Gathered(decoded(bytes)?);
        }
        match self {
            Self::Gathered(state) => Ok(state),
            Self::Passed(_) => exec_err!("thermal_state: a state is gathered and passed on at once"),
        }
    }

    /// Takes the bytes of a state. Bytes one after the other are the merged state.
    fn pass(&mut self, more: &[u8]) -> Result<()> {
        let mut bytes = match std::mem::take(self) {
            Self::Gathered(state) if state.rows() == 0 && state.untimed() == 0 => Vec::new(),
            drive => drive.into_bytes(),
        };
        bytes.reserve_exact(more.len());
        bytes.extend_from_slice(more);
        if bytes.len() > PASSED_BYTES {
            bytes = decoded(&bytes)?.encode();
        }
        *self = Self::Passed(bytes);
        Ok(())
    }

    fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Gathered(state) => state.encode(),
            Self::Passed(bytes) => bytes,
        }
    }

    /// Memory beside the slot itself, in bytes.
    fn held(&self) -> usize {
        match self {
            Self::Gathered(state) => state.held(),
            Self::Passed(bytes) => bytes.capacity(),
        }
    }
}

/// States of many drives, by the engine's number for each.
#[derive(Default)]
struct ManyDrives {
    drives: Vec<DriveSlot>,
    /// What the drives hold beside their slots, in bytes.
    held: usize,
}

impl ManyDrives {
    fn emit(&mut self, emit_to: EmitTo) -> ArrayRef {
        let drives = emit_to.take_needed(&mut self.drives);
        self.held = self.drives.iter().map(DriveSlot::held).sum();
        let mut builder = LargeBinaryBuilder::with_capacity(drives.len(), 0);
        for drive in drives {
            builder.append_value(drive.into_bytes());
        }
        Arc::new(builder.finish())
    }
}

impl GroupsAccumulator for ManyDrives {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.drives.resize_with(total, DriveSlot::default);
        let columns = RowColumns::of(values)?;
        for (row, group) in groups.iter().enumerate() {
            if filter.is_some_and(|filter| !filter.is_valid(row) || !filter.value(row)) {
                continue;
            }
            if columns.give(row, self.drives[*group].gathered()?) {
                self.held += STRETCH_BYTES;
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, values: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.drives.resize_with(total, DriveSlot::default);
        let states: &LargeBinaryArray = values[0].as_binary();
        for (row, group) in groups.iter().enumerate() {
            if states.is_null(row) {
                continue;
            }
            let drive = &mut self.drives[*group];
            let before = drive.held();
            drive.pass(states.value(row))?;
            self.held = (self.held + drive.held()).saturating_sub(before);
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        Ok(self.emit(emit_to))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.emit(emit_to)])
    }

    fn convert_to_state(&self, _: &[ArrayRef], _: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        exec_err!("thermal_state does not make states of single rows")
    }

    fn size(&self) -> usize {
        self.held + self.drives.capacity() * size_of::<DriveSlot>()
    }
}

/// The state of one drive, where there is no grouping.
#[derive(Debug, Default)]
struct OneDrive(ThermalState);

impl Accumulator for OneDrive {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let columns = RowColumns::of(values)?;
        for row in 0..columns.time.values.len() {
            columns.give(row, &mut self.0);
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for bytes in states[0].as_binary::<i64>().iter().flatten() {
            self.0.merge(decoded(bytes)?);
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::LargeBinary(Some(self.0.encode())))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::LargeBinary(Some(self.0.encode()))])
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.0.held()
    }
}
