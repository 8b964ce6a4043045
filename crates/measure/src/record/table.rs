//! Rows to Arrow batches and back: the column names, types and nullability of every table.
//!
//! Column names carry their unit. The schemas are the contract with polars, pandas and DuckDB.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::builder::{
    BinaryBuilder, Int32Builder, ListBuilder, StringBuilder, UInt8Builder, UInt16Builder, UInt32Builder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int32Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, Float64Array, ListArray, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};

use super::block_table::{self, BlockTable};
use super::columns::described;
use super::rows::{IoRow, Op, OpRow, SmartRow, TelemetryRow};
use crate::histogram::Histogram;
use crate::time::Instant;
use crate::units::{Bytes, Kelvin, Watts};

/// A kind of row that has a table of its own.
pub(in crate::record) trait TableRow: Sized {
    /// The file's name without its ending.
    const NAME: &'static str;
    /// Names, types and nullability of the columns.
    fn schema() -> Schema;
    /// The columns of these rows, in the schema's order.
    fn columns(rows: &[Self]) -> Vec<ArrayRef>;
    /// When the row is.
    fn at(&self) -> Instant;
    /// The rows of a batch; `Err` names the column that is missing or of another type.
    fn rows(batch: &RecordBatch) -> Result<Vec<Self>, String>;
}

impl TableRow for IoRow {
    const NAME: &'static str = "io";

    fn at(&self) -> Instant {
        self.t
    }

    fn schema() -> Schema {
        let mut fields = vec![
            required("t_ns", DataType::UInt64),
            required("duration_ns", DataType::UInt64),
            required("phase", DataType::UInt32),
            required("op", DataType::Utf8),
            required("bytes", DataType::UInt64),
            required("ios", DataType::UInt64),
            required("errors", DataType::UInt64),
        ];
        for prefix in ["latency", "slat"] {
            for statistic in ["min", "mean", "p50", "p90", "p99", "p999", "max"] {
                fields.push(optional(&format!("{prefix}_ns_{statistic}"), DataType::UInt64));
            }
            fields.push(required(&format!("{prefix}_ns_sum"), DataType::UInt64));
            fields.push(list(&format!("{prefix}_bucket"), DataType::UInt16));
            fields.push(list(&format!("{prefix}_bucket_count"), DataType::UInt32));
        }
        described(Self::NAME, fields)
    }

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        let mut columns = vec![
            u64s(rows, |row| row.t.as_ns()),
            u64s(rows, |row| span_ns(row.span)),
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.phase))) as ArrayRef,
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.op.name()))),
            u64s(rows, |row| row.bytes.as_u64()),
            u64s(rows, |row| row.ios),
            u64s(rows, |row| row.errors),
        ];
        columns.extend(histogram_columns(rows, |row| &row.clat));
        columns.extend(histogram_columns(rows, |row| &row.slat));
        columns
    }

    fn rows(batch: &RecordBatch) -> Result<Vec<Self>, String> {
        let columns = Columns(batch);
        let (t, span) =
            (columns.numbers::<UInt64Type>("t_ns")?, columns.numbers::<UInt64Type>("duration_ns")?);
        let (phase, op) = (columns.numbers::<UInt32Type>("phase")?, columns.texts("op")?);
        let (bytes, ios) = (columns.numbers::<UInt64Type>("bytes")?, columns.numbers::<UInt64Type>("ios")?);
        let errors = columns.numbers::<UInt64Type>("errors")?;
        let mut clat = columns.histograms("latency")?.into_iter();
        let mut slat = columns.histograms("slat")?.into_iter();
        (0..batch.num_rows())
            .map(|row| {
                Ok(Self {
                    t: Instant::from_ns(t.value(row)),
                    span: Duration::from_nanos(span.value(row)),
                    phase: phase.value(row),
                    op: op_named(op.value(row))?,
                    bytes: Bytes::new(bytes.value(row)),
                    ios: ios.value(row),
                    errors: errors.value(row),
                    slat: slat.next().ok_or("column slat_bucket is too short")?,
                    clat: clat.next().ok_or("column latency_bucket is too short")?,
                })
            })
            .collect()
    }
}

impl TableRow for TelemetryRow {
    const NAME: &'static str = "telemetry";

    fn at(&self) -> Instant {
        self.t
    }

    fn schema() -> Schema {
        let mut fields = vec![
            required("t_ns", DataType::UInt64),
            required("source", DataType::Utf8),
            required("cost_ns", DataType::UInt64),
            optional("composite_k", DataType::UInt16),
        ];
        fields.extend((1..=8).map(|sensor| optional(&format!("sensor{sensor}_k"), DataType::UInt16)));
        fields.extend([
            optional("critical_warning", DataType::UInt8),
            optional("tmt1_transitions", DataType::UInt32),
            optional("tmt2_transitions", DataType::UInt32),
            optional("tmt1_seconds", DataType::UInt32),
            optional("tmt2_seconds", DataType::UInt32),
            optional("hwmon_millicelsius", DataType::Int32),
            optional("power_w", DataType::Float64),
            optional("device_read_bytes", DataType::UInt64),
            optional("device_written_bytes", DataType::UInt64),
        ]);
        fields.extend(block_table::fields());
        fields.push(optional("gap", DataType::Utf8));
        described(Self::NAME, fields)
    }

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        let mut columns = vec![
            u64s(rows, |row| row.t.as_ns()),
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.source.as_str()))) as ArrayRef,
            u64s(rows, |row| span_ns(row.cost)),
            kelvins(rows, |row| row.composite),
        ];
        columns.extend((0..8).map(|sensor| kelvins(rows, move |row| row.sensors[sensor])));
        let mut warnings = UInt8Builder::with_capacity(rows.len());
        let mut hwmon = Int32Builder::with_capacity(rows.len());
        let mut gaps = StringBuilder::new();
        for row in rows {
            warnings.append_option(row.critical_warning);
            hwmon.append_option(row.hwmon_millicelsius);
            gaps.append_option(row.gap.as_deref());
        }
        columns.push(Arc::new(warnings.finish()));
        for counter in [
            |row: &Self| row.tmt1_transitions,
            |row: &Self| row.tmt2_transitions,
            |row: &Self| row.tmt1_seconds,
            |row: &Self| row.tmt2_seconds,
        ] {
            columns.push(Arc::new(rows.iter().map(counter).collect::<UInt32Array>()));
        }
        columns.push(Arc::new(hwmon.finish()));
        columns.push(Arc::new(rows.iter().map(|row| row.power.map(Watts::as_f64)).collect::<Float64Array>()));
        for amount in [|row: &Self| row.device_read, |row: &Self| row.device_written] {
            columns.push(Arc::new(
                rows.iter().map(|row| amount(row).map(Bytes::as_u64)).collect::<UInt64Array>(),
            ));
        }
        columns.extend(block_table::columns(rows));
        columns.push(Arc::new(gaps.finish()));
        columns
    }

    fn rows(batch: &RecordBatch) -> Result<Vec<Self>, String> {
        let columns = Columns(batch);
        let (t, cost) = (columns.numbers::<UInt64Type>("t_ns")?, columns.numbers::<UInt64Type>("cost_ns")?);
        let (source, gap) = (columns.texts("source")?, columns.texts("gap")?);
        let composite = columns.numbers::<UInt16Type>("composite_k")?;
        let sensors = (1..=8)
            .map(|sensor| columns.numbers::<UInt16Type>(&format!("sensor{sensor}_k")))
            .collect::<Result<Vec<_>, _>>()?;
        let warning = columns.numbers::<UInt8Type>("critical_warning")?;
        let tmt1_transitions = columns.numbers::<UInt32Type>("tmt1_transitions")?;
        let tmt2_transitions = columns.numbers::<UInt32Type>("tmt2_transitions")?;
        let tmt1_seconds = columns.numbers::<UInt32Type>("tmt1_seconds")?;
        let tmt2_seconds = columns.numbers::<UInt32Type>("tmt2_seconds")?;
        let hwmon = columns.numbers::<Int32Type>("hwmon_millicelsius")?;
        let power = columns.numbers::<Float64Type>("power_w")?;
        let read = columns.numbers::<UInt64Type>("device_read_bytes")?;
        let written = columns.numbers::<UInt64Type>("device_written_bytes")?;
        let counters = BlockTable::new(&columns)?;
        let rows = (0..batch.num_rows()).map(|row| Self {
            t: Instant::from_ns(t.value(row)),
            source: source.value(row).to_owned(),
            cost: Duration::from_nanos(cost.value(row)),
            composite: present(composite, row).map(Kelvin::from_kelvin),
            sensors: std::array::from_fn(|sensor| present(sensors[sensor], row).map(Kelvin::from_kelvin)),
            critical_warning: present(warning, row),
            tmt1_transitions: present(tmt1_transitions, row),
            tmt2_transitions: present(tmt2_transitions, row),
            tmt1_seconds: present(tmt1_seconds, row),
            tmt2_seconds: present(tmt2_seconds, row),
            hwmon_millicelsius: present(hwmon, row),
            power: present(power, row).map(Watts::new),
            device_read: present(read, row).map(Bytes::new),
            device_written: present(written, row).map(Bytes::new),
            block: counters.block(row),
            pressure_some_us: counters.pressure_some_us(row),
            pressure_full_us: counters.pressure_full_us(row),
            gap: gap.is_valid(row).then(|| gap.value(row).to_owned()),
        });
        Ok(rows.collect())
    }
}

impl TableRow for SmartRow {
    const NAME: &'static str = "smart";

    fn at(&self) -> Instant {
        self.t
    }

    fn schema() -> Schema {
        described(
            Self::NAME,
            vec![
                required("t_ns", DataType::UInt64),
                required("log_id", DataType::UInt8),
                required("page", DataType::Binary),
            ],
        )
    }

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        let mut log_ids = UInt8Builder::with_capacity(rows.len());
        let mut pages = BinaryBuilder::new();
        for row in rows {
            log_ids.append_value(row.log_id);
            pages.append_value(&row.page);
        }
        vec![u64s(rows, |row| row.t.as_ns()), Arc::new(log_ids.finish()), Arc::new(pages.finish())]
    }

    fn rows(batch: &RecordBatch) -> Result<Vec<Self>, String> {
        let columns = Columns(batch);
        let (t, log_id) = (columns.numbers::<UInt64Type>("t_ns")?, columns.numbers::<UInt8Type>("log_id")?);
        let page: &BinaryArray =
            columns.column("page")?.as_binary_opt::<i32>().ok_or("column page is not binary")?;
        let rows = (0..batch.num_rows()).map(|row| Self {
            t: Instant::from_ns(t.value(row)),
            log_id: log_id.value(row),
            page: page.value(row).to_vec(),
        });
        Ok(rows.collect())
    }
}

impl TableRow for OpRow {
    const NAME: &'static str = "ops";

    fn at(&self) -> Instant {
        self.t
    }

    fn schema() -> Schema {
        described(
            Self::NAME,
            vec![
                required("t_ns", DataType::UInt64),
                required("phase", DataType::UInt32),
                required("worker", DataType::UInt32),
                required("op", DataType::Utf8),
                required("offset_bytes", DataType::UInt64),
                required("bytes", DataType::UInt32),
                required("slat_ns", DataType::UInt64),
                required("latency_ns", DataType::UInt64),
                optional("errno", DataType::Int32),
            ],
        )
    }

    fn columns(rows: &[Self]) -> Vec<ArrayRef> {
        let mut errnos = Int32Builder::with_capacity(rows.len());
        for row in rows {
            errnos.append_option(row.errno);
        }
        vec![
            u64s(rows, |row| row.t.as_ns()),
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.phase))),
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.worker))),
            Arc::new(StringArray::from_iter_values(rows.iter().map(|row| row.op.name()))),
            u64s(rows, |row| row.offset),
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(|row| row.len))),
            u64s(rows, |row| span_ns(row.slat)),
            u64s(rows, |row| span_ns(row.clat)),
            Arc::new(errnos.finish()),
        ]
    }

    fn rows(batch: &RecordBatch) -> Result<Vec<Self>, String> {
        let columns = Columns(batch);
        let t = columns.numbers::<UInt64Type>("t_ns")?;
        let (phase, worker) =
            (columns.numbers::<UInt32Type>("phase")?, columns.numbers::<UInt32Type>("worker")?);
        let (op, offset) = (columns.texts("op")?, columns.numbers::<UInt64Type>("offset_bytes")?);
        let (len, slat) =
            (columns.numbers::<UInt32Type>("bytes")?, columns.numbers::<UInt64Type>("slat_ns")?);
        let (clat, errno) =
            (columns.numbers::<UInt64Type>("latency_ns")?, columns.numbers::<Int32Type>("errno")?);
        (0..batch.num_rows())
            .map(|row| {
                Ok(Self {
                    t: Instant::from_ns(t.value(row)),
                    phase: phase.value(row),
                    worker: worker.value(row),
                    op: op_named(op.value(row))?,
                    offset: offset.value(row),
                    len: len.value(row),
                    slat: Duration::from_nanos(slat.value(row)),
                    clat: Duration::from_nanos(clat.value(row)),
                    errno: present(errno, row),
                })
            })
            .collect()
    }
}

fn required(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, false)
}

pub(super) fn optional(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

fn list(name: &str, item: DataType) -> Field {
    required(name, DataType::List(Arc::new(optional("item", item))))
}

fn span_ns(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn op_named(name: &str) -> Result<Op, String> {
    Op::from_name(name).ok_or_else(|| format!("column op holds the unknown operation {name:?}"))
}

fn u64s<R>(rows: &[R], value: impl Fn(&R) -> u64) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(rows.iter().map(value)))
}

fn kelvins<R>(rows: &[R], value: impl Fn(&R) -> Option<Kelvin>) -> ArrayRef {
    let mut builder = UInt16Builder::with_capacity(rows.len());
    for row in rows {
        builder.append_option(value(row).map(Kelvin::as_kelvin));
    }
    Arc::new(builder.finish())
}

/// Seven statistics for readers in a hurry, then sum and buckets, from which all else can be had.
fn histogram_columns<R>(rows: &[R], histogram: impl Fn(&R) -> &Histogram) -> Vec<ArrayRef> {
    let statistics: [fn(&Histogram) -> Option<Duration>; 7] = [
        Histogram::min,
        Histogram::mean,
        |h| h.quantile(0.5),
        |h| h.quantile(0.9),
        |h| h.quantile(0.99),
        |h| h.quantile(0.999),
        Histogram::max,
    ];
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(10);
    for statistic in statistics {
        let values = rows.iter().map(|row| statistic(histogram(row)).map(span_ns));
        columns.push(Arc::new(values.collect::<UInt64Array>()));
    }
    columns.push(u64s(rows, |row| histogram(row).sum_ns()));
    let mut buckets = ListBuilder::new(UInt16Builder::new());
    let mut counts = ListBuilder::new(UInt32Builder::new());
    for row in rows {
        for (bucket, count) in histogram(row).filled() {
            buckets.values().append_value(bucket);
            counts.values().append_value(count);
        }
        buckets.append(true);
        counts.append(true);
    }
    columns.push(Arc::new(buckets.finish()));
    columns.push(Arc::new(counts.finish()));
    columns
}

pub(super) fn present<T: ArrowPrimitiveType>(
    column: &arrow_array::PrimitiveArray<T>,
    row: usize,
) -> Option<T::Native> {
    column.is_valid(row).then(|| column.value(row))
}

/// A batch's columns by name, with errors that name the column.
pub(super) struct Columns<'a>(&'a RecordBatch);

impl<'a> Columns<'a> {
    fn column(&self, name: &str) -> Result<&'a ArrayRef, String> {
        self.0.column_by_name(name).ok_or_else(|| format!("column {name} is missing"))
    }

    /// A column that records from before it do not have.
    pub(super) fn numbers_since<T: ArrowPrimitiveType>(
        &self,
        name: &str,
    ) -> Result<Option<&'a arrow_array::PrimitiveArray<T>>, String> {
        if self.0.column_by_name(name).is_none() { Ok(None) } else { self.numbers(name).map(Some) }
    }

    fn numbers<T: ArrowPrimitiveType>(
        &self,
        name: &str,
    ) -> Result<&'a arrow_array::PrimitiveArray<T>, String> {
        let column = self.column(name)?;
        column
            .as_primitive_opt::<T>()
            .ok_or_else(|| format!("column {name} is {}, not {}", column.data_type(), T::DATA_TYPE))
    }

    fn texts(&self, name: &str) -> Result<&'a StringArray, String> {
        self.column(name)?.as_string_opt::<i32>().ok_or_else(|| format!("column {name} is not text"))
    }

    fn list(&self, name: &str) -> Result<&'a ListArray, String> {
        self.column(name)?.as_list_opt::<i32>().ok_or_else(|| format!("column {name} is not a list"))
    }

    fn histograms(&self, prefix: &str) -> Result<Vec<Histogram>, String> {
        let buckets = self.list(&format!("{prefix}_bucket"))?;
        let counts = self.list(&format!("{prefix}_bucket_count"))?;
        let sum = self.numbers::<UInt64Type>(&format!("{prefix}_ns_sum"))?;
        let min = self.numbers::<UInt64Type>(&format!("{prefix}_ns_min"))?;
        let max = self.numbers::<UInt64Type>(&format!("{prefix}_ns_max"))?;
        (0..self.0.num_rows())
            .map(|row| {
                let (buckets, counts) = (buckets.value(row), counts.value(row));
                let buckets = buckets.as_primitive_opt::<UInt16Type>();
                let counts = counts.as_primitive_opt::<UInt32Type>();
                let (Some(buckets), Some(counts)) = (buckets, counts) else {
                    return Err(format!("column {prefix}_bucket holds no bucket numbers"));
                };
                let filled = buckets.values().iter().copied().zip(counts.values().iter().copied());
                let (min, max) = (present(min, row).unwrap_or(u64::MAX), present(max, row).unwrap_or(0));
                Histogram::from_parts(filled, sum.value(row), min, max)
                    .ok_or_else(|| format!("column {prefix}_bucket names a bucket that does not exist"))
            })
            .collect()
    }
}
