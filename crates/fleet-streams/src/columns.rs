//! The columns of rows and states, and looking them up.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{BinaryArray, BooleanArray, Int64Array, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use fleet_state::HealthCounter;

use crate::FleetStreamError;

/// Labels of a row: the serial number first.
pub(crate) const LABELS: [&str; 5] = ["serial", "model", "firmware", "host", "slot"];

/// Rows: labels, `time_ms`, `temp_mc` and the counters by their names, each nullable.
#[must_use]
pub fn row_schema() -> SchemaRef {
    let mut fields: Vec<Field> =
        LABELS.into_iter().map(|name| Field::new(name, DataType::Utf8, true)).collect();
    let numbers = ["time_ms", "temp_mc"].into_iter().chain(HealthCounter::ALL.map(HealthCounter::name));
    fields.extend(numbers.map(|name| Field::new(name, DataType::Int64, true)));
    Arc::new(Schema::new(fields))
}

/// States: whose, of rows how far apart, whether they are simulated, and the bytes.
#[must_use]
pub fn state_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("serial", DataType::Utf8, true),
        Field::new("cadence_ms", DataType::Int64, true),
        Field::new("simulated", DataType::Boolean, true),
        Field::new("state", DataType::Binary, true),
    ]))
}

/// That a stream has these columns, in this order.
pub(crate) fn must_be(what: &'static str, wanted: &Schema, found: &Schema) -> Result<(), FleetStreamError> {
    let shape = |schema: &Schema| {
        let fields = schema.fields().iter();
        fields.map(|field| format!("{}: {}", field.name(), field.data_type())).collect::<Vec<_>>().join(", ")
    };
    let (wanted, found) = (shape(wanted), shape(found));
    if wanted == found { Ok(()) } else { Err(FleetStreamError::Columns { what, wanted, found }) }
}

/// Columns of a batch whose schema was looked at.
pub(crate) fn texts(batch: &RecordBatch, at: usize) -> &StringArray {
    batch.column(at).as_string()
}

pub(crate) fn numbers(batch: &RecordBatch, at: usize) -> &Int64Array {
    batch.column(at).as_primitive::<Int64Type>()
}

pub(crate) fn flags(batch: &RecordBatch, at: usize) -> &BooleanArray {
    batch.column(at).as_boolean()
}

pub(crate) fn bytes(batch: &RecordBatch, at: usize) -> &BinaryArray {
    batch.column(at).as_binary()
}
