//! `thermal_state`: the mergeable state of a drive as an aggregate function of the engine.
//!
//! An aggregate, because the engine then merges states across partitions and machines by itself: states cross, rows do
//! not. It never turns single rows into states (`convert_to_state` stays unsupported), so that the engine cannot switch
//! the first stage off where there are many drives.

use std::mem::size_of;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, LargeBinaryArray, LargeBinaryBuilder,
};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, exec_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use fleet_state::{COUNTERS, STRETCH_BYTES, ThermalState};

use crate::columns::RowColumns;

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
        let counts = |row: usize| filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        let mut row = 0;
        while row < groups.len() {
            if !counts(row) {
                row += 1;
                continue;
            }
            let end = columns.run_end(row, |next| groups[next] == groups[row] && counts(next));
            self.held += columns.give(row, end, self.drives[groups[row]].gathered()?) * STRETCH_BYTES;
            row = end;
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
        let mut row = 0;
        while row < columns.rows() {
            let end = columns.run_end(row, |_| true);
            columns.give(row, end, &mut self.0);
            row = end;
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
