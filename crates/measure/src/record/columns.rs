//! What every column of the record holds: its unit and its meaning, once for the files, the data reference and the tests.
//!
//! The words stand in the metadata of each field (`unit`, `description`), so that a table explains itself to whoever has
//! only the file. Types and nullability are the schema's own ([`super::table`]).

use std::collections::HashMap;

use arrow_schema::{Field, Schema};

use super::rows::{IoRow, OpRow, SmartRow, TelemetryRow};
use super::table::TableRow;

/// Column, unit (empty: a number or a word without one), meaning.
type Column = (&'static str, &'static str, &'static str);

const IO: &[Column] = &[
    ("t_ns", "ns", "Start of the interval since the run began, on the monotonic clock"),
    (
        "duration_ns",
        "ns",
        "Length of the interval; shorter than the manifest's interval_ns where a phase begins or ends",
    ),
    ("phase", "", "Phase of the plan, counted from 0: index into the manifest's phases"),
    ("op", "", "Operation: read, write, trim or idle"),
    ("bytes", "B", "Data of the I/Os that completed in the interval; 0 is a stop, not a gap"),
    ("ios", "", "I/Os that completed without error"),
    ("errors", "", "I/Os that completed with an error; they count neither as I/Os nor as bytes"),
];

/// Each is there twice: `latency` is completion latency (fio's clat), `slat` is submission latency.
const LATENCY: &[Column] = &[
    ("ns_min", "ns", "Smallest"),
    ("ns_mean", "ns", "Mean"),
    ("ns_p50", "ns", "Median, at most 1/128 too high"),
    ("ns_p90", "ns", "90th percentile, at most 1/128 too high"),
    ("ns_p99", "ns", "99th percentile, at most 1/128 too high"),
    ("ns_p999", "ns", "99.9th percentile, at most 1/128 too high"),
    ("ns_max", "ns", "Largest"),
    ("ns_sum", "ns", "Sum of all, so that means can be added up over intervals"),
    ("bucket", "", "Numbers of the histogram's buckets that hold I/Os; docs/DATA.md has their limits"),
    ("bucket_count", "", "How many I/Os each bucket of the column before holds"),
];

const TELEMETRY: &[Column] = &[
    ("t_ns", "ns", "When the reading was complete, since the run began, on the monotonic clock"),
    (
        "source",
        "",
        "Which source: smart, hwmon, blockstat, power; it fills the columns it knows, others are null",
    ),
    ("cost_ns", "ns", "How long the reading took"),
    (
        "composite_k",
        "K",
        "Composite temperature of an NVMe drive, or the one temperature of another; whole kelvins as the drive reports them, so 318 is 45 °C",
    ),
    ("critical_warning", "", "NVMe critical warning bits"),
    ("tmt1_transitions", "", "How often light throttling (TMT1) has begun since the drive was made"),
    ("tmt2_transitions", "", "How often heavy throttling (TMT2) has begun since the drive was made"),
    ("tmt1_seconds", "s", "Light throttling since the drive was made"),
    ("tmt2_seconds", "s", "Heavy throttling since the drive was made"),
    ("hwmon_millicelsius", "m°C", "Temperature of a hwmon sensor, as the kernel gives it"),
    ("power_w", "W", "Power drawn by the drive"),
    ("device_read_bytes", "B", "Data that the block layer has read from the device since boot"),
    ("device_written_bytes", "B", "Data that the block layer has written to the device since boot"),
    ("device_reads", "", "Reads that the block layer has completed since boot"),
    ("device_reads_merged", "", "Reads merged into others before they were sent, since boot"),
    ("device_read_ms", "ms", "Time of all reads together since boot; begins again at 0 after 2^32 ms"),
    ("device_writes", "", "Writes that the block layer has completed since boot"),
    ("device_writes_merged", "", "Writes merged into others before they were sent, since boot"),
    ("device_write_ms", "ms", "Time of all writes together since boot; begins again at 0 after 2^32 ms"),
    ("device_in_flight", "", "I/Os in flight at this moment"),
    ("device_io_ms", "ms", "Time with any I/O in flight since boot, as the kernel estimates it"),
    ("device_queue_ms", "ms", "Time of all I/Os together since boot, added when an I/O completes"),
    ("device_discards", "", "Discards completed since boot"),
    ("device_discarded_bytes", "B", "Data discarded since boot"),
    ("device_discard_ms", "ms", "Time of all discards together since boot"),
    ("device_flushes", "", "Flushes completed since boot"),
    ("device_flush_ms", "ms", "Time of all flushes together since boot"),
    ("pressure_some_us", "µs", "Time since boot in which some task of this machine waited for I/O (PSI)"),
    ("pressure_full_us", "µs", "Time since boot in which all tasks of this machine waited for I/O (PSI)"),
    ("gap", "", "Why there is no reading; every other column but time, source and cost is then null"),
];

const SMART: &[Column] = &[
    ("t_ns", "ns", "When the page had been read, since the run began, on the monotonic clock"),
    ("log_id", "", "NVMe log page identifier; 2 is SMART / health"),
    ("page", "", "The page's bytes as the drive sent them"),
];

const OPS: &[Column] = &[
    ("t_ns", "ns", "When the access was made, since the run began, on the monotonic clock"),
    ("phase", "", "Phase of the plan, counted from 0: index into the manifest's phases"),
    ("worker", "", "Thread of the load, counted from 0 over all loads of the phase"),
    ("op", "", "Operation: read, write or trim"),
    ("offset_bytes", "B", "Where on the target, from its start"),
    ("bytes", "B", "Length of the access: one I/O, or with `split` several one after the other"),
    ("slat_ns", "ns", "Submission latency: from its first I/O being made to the kernel having taken it"),
    (
        "latency_ns",
        "ns",
        "Completion latency: from the kernel having taken it to the completion of its last I/O being seen",
    ),
    ("errno", "", "The system's error number where the I/O failed; null where it did not"),
];

/// A table of the record, for the data reference.
#[derive(Clone, Debug)]
pub struct TableReference {
    /// Name of its file without the ending.
    pub name: &'static str,
    /// What a row is.
    pub row: &'static str,
    /// Its columns, in order.
    pub columns: Vec<ColumnReference>,
}

/// A column of a table, for the data reference.
#[derive(Clone, Debug)]
pub struct ColumnReference {
    /// Its name.
    pub name: String,
    /// Its Arrow type.
    pub data_type: String,
    /// Whether it may be null.
    pub nullable: bool,
    /// Unit; empty for a number or a word without one.
    pub unit: String,
    /// Meaning.
    pub description: String,
}

/// Every table of a run folder with its columns.
pub fn table_reference() -> Vec<TableReference> {
    fn of<R: TableRow>(row: &'static str) -> TableReference {
        let schema = R::schema();
        let columns = schema.fields().iter().map(|field| ColumnReference {
            name: field.name().clone(),
            data_type: field.data_type().to_string(),
            nullable: field.is_nullable(),
            unit: field.metadata().get(UNIT).cloned().unwrap_or_default(),
            description: field.metadata().get(DESCRIPTION).cloned().unwrap_or_default(),
        });
        TableReference { name: R::NAME, row, columns: columns.collect() }
    }
    vec![
        of::<IoRow>(
            "what one operation did in one interval, all threads together; there are rows without I/O",
        ),
        of::<TelemetryRow>("one reading of one source, or the gap where it should have been"),
        of::<SmartRow>("one log page, byte for byte"),
        of::<OpRow>("one I/O; the table is there only where the plan asks for it"),
    ]
}

/// Keys of a field's metadata.
const UNIT: &str = "unit";
const DESCRIPTION: &str = "description";

/// The schema of a table, each field with its unit and description. A column that the tables above do not have stays
/// without; a test finds it.
pub(super) fn described(table: &str, fields: Vec<Field>) -> Schema {
    let describe = |field: Field| match words(table, field.name()) {
        Some((unit, description)) => {
            let words = [(UNIT, unit.to_owned()), (DESCRIPTION, description)];
            let words = words.into_iter().filter(|(_, text)| !text.is_empty());
            field.with_metadata(words.map(|(key, text)| (key.to_owned(), text)).collect::<HashMap<_, _>>())
        }
        None => field,
    };
    Schema::new(fields.into_iter().map(describe).collect::<Vec<_>>())
}

/// Unit and description of a column.
fn words(table: &str, name: &str) -> Option<(&'static str, String)> {
    let find = |columns: &[Column], name: &str| {
        columns.iter().find(|column| column.0 == name).map(|(_, unit, text)| (*unit, (*text).to_owned()))
    };
    let latency = |prefix: &str, what: &str| {
        let (unit, text) = find(LATENCY, name.strip_prefix(prefix)?)?;
        Some((unit, format!("{what}: {}{}", text[..1].to_lowercase(), &text[1..])))
    };
    match table {
        IoRow::NAME => find(IO, name)
            .or_else(|| latency("latency_", "Completion latency"))
            .or_else(|| latency("slat_", "Submission latency")),
        TelemetryRow::NAME => find(TELEMETRY, name).or_else(|| {
            let number = name.strip_prefix("sensor")?.strip_suffix("_k")?;
            Some(("K", format!("Temperature sensor {number} of the NVMe SMART log, in whole kelvins")))
        }),
        SmartRow::NAME => find(SMART, name),
        OpRow::NAME => find(OPS, name),
        _ => None,
    }
}

/// The unit that a name of a field or column ends in, as every name of ours that carries one does; `None` without one.
///
/// A qualifier may stand behind it: `latency_ns_p99`.
pub fn unit_in_name(name: &str) -> Option<&'static str> {
    const QUALIFIERS: [&str; 9] = ["min", "mean", "p50", "p90", "p99", "p999", "max", "sum", "write"];
    /// The longest first.
    const UNITS: [(&str, &str); 27] = [
        ("kelvin_per_gb_per_s_write", "K/(GB/s)"),
        ("kelvin_per_gb_per_s_read", "K/(GB/s)"),
        ("mb_per_s_per_w", "MB/s/W"),
        ("iops_per_w", "1/s/W"),
        ("bytes_per_s", "B/s"),
        ("mb_per_s", "MB/s"),
        ("j_per_gb", "J/GB"),
        ("k_per_w", "K/W"),
        ("s_per_k", "s/K"),
        ("per_hour", "1/h"),
        ("per_tb_written", "1/TB"),
        ("millicelsius", "m°C"),
        ("percent", "%"),
        ("minutes", "min"),
        ("seconds", "s"),
        ("hours", "h"),
        ("bytes", "B"),
        ("rpm", "1/min"),
        ("wh", "Wh"),
        ("mb", "MB"),
        ("ns", "ns"),
        ("us", "µs"),
        ("ms", "ms"),
        ("k", "K"),
        ("s", "s"),
        ("w", "W"),
        ("j", "J"),
    ];
    let ends_in = |name: &str| {
        let is = |unit: &str| name == unit || name.strip_suffix(unit).is_some_and(|rest| rest.ends_with('_'));
        // A letter alone is a name, not a unit.
        UNITS.iter().find(|(ending, _)| is(ending) && (ending.len() > 1 || name.len() > 2)).map(|unit| unit.1)
    };
    ends_in(name).or_else(|| {
        let (rest, qualifier) = name.rsplit_once('_')?;
        if QUALIFIERS.contains(&qualifier) { ends_in(rest) } else { None }
    })
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: no column without its words, and no unit that the name contradicts.
    #[test]
    fn every_column_says_what_it_is() {
        for table in table_reference() {
            for column in table.columns {
                let name = format!("{}.{}", table.name, column.name);
                assert!(!column.description.is_empty(), "{name} is not in the tables of columns.rs");
                if let Some(unit) = unit_in_name(&column.name) {
                    assert_eq!(column.unit, unit, "{name}");
                }
            }
        }
    }

    #[test]
    fn units_are_read_off_names() {
        for (name, unit) in [
            ("latency_ns_p99", Some("ns")),
            ("mean_bytes_per_s", Some("B/s")),
            ("composite_k", Some("K")),
            ("start_s", Some("s")),
            ("bytes", Some("B")),
            ("ios", None),
            ("k", None),
            ("class", None),
            ("mechanism", None),
        ] {
            assert_eq!(unit_in_name(name), unit, "{name}");
        }
    }
}
