//! Columns of the telemetry table that block statistics and pressure fill; records from before them have none, and are
//! read as if nothing had been known.

use std::sync::Arc;

use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, PrimitiveArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field};

use super::rows::{BlockCounters, TelemetryRow};
use super::table::{Columns, optional, present};
use crate::units::Bytes;

type WideColumn = fn(&TelemetryRow) -> Option<u64>;
type NarrowColumn = fn(&TelemetryRow) -> Option<u32>;

/// Counts.
const WIDE: [(&str, WideColumn); 9] = [
    ("device_reads", |row| row.block.map(|block| block.reads)),
    ("device_reads_merged", |row| row.block.map(|block| block.reads_merged)),
    ("device_writes", |row| row.block.map(|block| block.writes)),
    ("device_writes_merged", |row| row.block.map(|block| block.writes_merged)),
    ("device_discards", |row| row.block?.discards),
    ("device_discarded_bytes", |row| row.block?.discarded.map(Bytes::as_u64)),
    ("device_flushes", |row| row.block?.flushes),
    ("pressure_some_us", |row| row.pressure_some_us),
    ("pressure_full_us", |row| row.pressure_full_us),
];

/// Milliseconds, 32 bits wide in the kernel too, and I/Os in flight.
const NARROW: [(&str, NarrowColumn); 7] = [
    ("device_read_ms", |row| row.block.map(|block| block.read_ms)),
    ("device_write_ms", |row| row.block.map(|block| block.write_ms)),
    ("device_in_flight", |row| row.block.map(|block| block.in_flight)),
    ("device_io_ms", |row| row.block.map(|block| block.io_ms)),
    ("device_queue_ms", |row| row.block.map(|block| block.queue_ms)),
    ("device_discard_ms", |row| row.block?.discard_ms),
    ("device_flush_ms", |row| row.block?.flush_ms),
];

/// The columns, all nullable.
pub(super) fn fields() -> Vec<Field> {
    let wide = WIDE.iter().map(|(name, _)| optional(name, DataType::UInt64));
    wide.chain(NARROW.iter().map(|(name, _)| optional(name, DataType::UInt32))).collect()
}

/// The same, filled.
pub(super) fn columns(rows: &[TelemetryRow]) -> Vec<ArrayRef> {
    let wide =
        WIDE.iter().map(|(_, value)| Arc::new(rows.iter().map(value).collect::<UInt64Array>()) as ArrayRef);
    let narrow =
        NARROW.iter().map(|(_, value)| Arc::new(rows.iter().map(value).collect::<UInt32Array>()) as ArrayRef);
    wide.chain(narrow).collect()
}

/// Reads them.
pub(super) struct BlockTable<'a> {
    wide: Vec<Option<&'a PrimitiveArray<UInt64Type>>>,
    narrow: Vec<Option<&'a PrimitiveArray<UInt32Type>>>,
}

impl<'a> BlockTable<'a> {
    /// Of a batch; `Err` names a column of another type.
    pub(super) fn new(columns: &Columns<'a>) -> Result<Self, String> {
        Ok(Self {
            wide: WIDE.iter().map(|(name, _)| columns.numbers_since(name)).collect::<Result<_, _>>()?,
            narrow: NARROW.iter().map(|(name, _)| columns.numbers_since(name)).collect::<Result<_, _>>()?,
        })
    }

    fn wide(&self, name: &str, row: usize) -> Option<u64> {
        let index = WIDE.iter().position(|(known, _)| *known == name)?;
        present(self.wide[index]?, row)
    }

    fn narrow(&self, name: &str, row: usize) -> Option<u32> {
        let index = NARROW.iter().position(|(known, _)| *known == name)?;
        present(self.narrow[index]?, row)
    }

    /// The block layer's counters of a row.
    pub(super) fn block(&self, row: usize) -> Option<BlockCounters> {
        let wide = |name| self.wide(name, row);
        let narrow = |name| self.narrow(name, row);
        Some(BlockCounters {
            reads: wide("device_reads")?,
            reads_merged: wide("device_reads_merged")?,
            read_ms: narrow("device_read_ms")?,
            writes: wide("device_writes")?,
            writes_merged: wide("device_writes_merged")?,
            write_ms: narrow("device_write_ms")?,
            in_flight: narrow("device_in_flight")?,
            io_ms: narrow("device_io_ms")?,
            queue_ms: narrow("device_queue_ms")?,
            discards: wide("device_discards"),
            discarded: wide("device_discarded_bytes").map(Bytes::new),
            discard_ms: narrow("device_discard_ms"),
            flushes: wide("device_flushes"),
            flush_ms: narrow("device_flush_ms"),
        })
    }

    /// PSI `some` of a row.
    pub(super) fn pressure_some_us(&self, row: usize) -> Option<u64> {
        self.wide("pressure_some_us", row)
    }

    /// PSI `full` of a row.
    pub(super) fn pressure_full_us(&self, row: usize) -> Option<u64> {
        self.wide("pressure_full_us", row)
    }
}

#[cfg(test)]
mod test {
    use std::time::Duration;

    use arrow_array::RecordBatch;

    use super::*;
    use crate::record::table::TableRow;
    use crate::time::Instant;

    fn row() -> TelemetryRow {
        let mut row = TelemetryRow::empty(Instant::from_ns(7), "blockstat", Duration::ZERO);
        row.device_read = Some(Bytes::new(512));
        row.block =
            Some(BlockCounters { reads: 1, in_flight: 3, flushes: Some(9), ..BlockCounters::default() });
        row.pressure_some_us = Some(11);
        row
    }

    /// Goal: what is written is read, and a record from before these columns reads as one in which they were not known.
    #[test]
    fn records_from_before_read_as_ever() {
        let rows = [row(), TelemetryRow::empty(Instant::from_ns(8), "smart", Duration::ZERO)];
        let schema = Arc::new(TelemetryRow::schema());
        let batch =
            RecordBatch::try_new(Arc::clone(&schema), TelemetryRow::columns(&rows)).expect("columns fit");
        assert_eq!(TelemetryRow::rows(&batch).as_deref(), Ok(&rows[..]));
        let is_new =
            |name: &String| WIDE.iter().map(|c| c.0).chain(NARROW.iter().map(|c| c.0)).any(|new| new == name);
        let kept: Vec<usize> =
            (0..schema.fields().len()).filter(|index| !is_new(schema.field(*index).name())).collect();
        let old = TelemetryRow::rows(&batch.project(&kept).expect("columns")).expect("an old record reads");
        assert_eq!(old[0], TelemetryRow { block: None, pressure_some_us: None, ..row() });
    }
}
