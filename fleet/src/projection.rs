//! From a map and a file's columns to SQL that gives the rows in one form: serial, labels, time, temperature, counters.
//!
//! What is not there is NULL; what is there and cannot be a number is an error that names the column.

use anyhow::{Result, bail};
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use fleet_state::HealthCounter;

use crate::mapping::{FleetMap, LongColumns, RowLayout, TempUnitName, TimeUnitName};
use crate::source::FleetFile;

/// A name in SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in SQL.
pub(crate) fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The columns of rows in one form, in their order.
pub(crate) const ROW_COLUMNS: &str = "serial, model, firmware, host, slot, time_ms, temp_mc, tmt1_s, tmt1_n, tmt2_s, \
     tmt2_n, warn_min, crit_min, poh_h, read_bytes, written_bytes, busy_ms";

/// SQL for the rows of a group of files like `file`, registered as `table`.
pub(crate) fn select(map: &FleetMap, file: &FleetFile, table: &str) -> Result<String> {
    match (map.layout, &map.long) {
        (RowLayout::Long, Some(long)) => select_long(map, long, file, table),
        _ => select_wide(map, file, table),
    }
}

fn select_wide(map: &FleetMap, file: &FleetFile, table: &str) -> Result<String> {
    let mut columns = labels(map, file)?;
    columns.push(format!("{} AS time_ms", time_ms(map, file)?));
    let temp = match &map.temp {
        Some(temp) => temp_mc(&number(file, &temp.column, true)?, temp.unit),
        None => NO_NUMBER.into(),
    };
    columns.push(format!("{temp} AS temp_mc"));
    for counter in HealthCounter::ALL {
        let sql = match map.counter(counter) {
            Some(column) => scaled(&number(file, column.column(), false)?, column.times()),
            None => NO_NUMBER.into(),
        };
        columns.push(format!("{sql} AS {}", counter.name()));
    }
    let filter = file.filter.map_or_else(String::new, |filter| format!(" WHERE {filter}"));
    Ok(format!("SELECT {} FROM {table}{filter}", columns.join(", ")))
}

/// Values of one scrape become one row: the labels of the metric that names the drive are scraped with the others, so
/// a drive that was swapped under its device name is told by them.
fn select_long(map: &FleetMap, long: &LongColumns, file: &FleetFile, table: &str) -> Result<String> {
    let metric = text(file, &long.metric)?;
    let value = number(file, &long.value, true)?;
    let time = time_ms(map, file)?;
    let mut inner = vec![format!("{time} AS t"), format!("{metric} AS m"), format!("{value} AS v")];
    for (at, series) in long.series.iter().enumerate() {
        inner.push(format!("{} AS s{at}", text(file, series)?));
    }
    let names = ["serial", "model", "firmware", "host", "slot"];
    inner.extend(labels(map, file)?);
    let mut selectors = Vec::new();
    let mut pick = |metric: &str| -> Result<String> {
        let (name, labels) = metric_selector(metric)?;
        let mut condition = format!("m = {}", text_literal(&name));
        for (label, wanted) in labels {
            let at = selectors.len();
            selectors.push(format!("{} AS l{at}", text(file, &label)?));
            condition += &format!(" AND l{at} = {}", text_literal(&wanted));
        }
        Ok(condition)
    };
    let mut outer: Vec<String> = Vec::new();
    for name in names {
        outer.push(match &long.info {
            Some(info) => format!("max(CASE WHEN {} THEN {name} END) AS {name}", pick(info)?),
            None => format!("max({name}) AS {name}"),
        });
    }
    outer.push("min(t) AS time_ms".into());
    let temp = match &map.temp {
        Some(temp) => temp_mc(&format!("max(CASE WHEN {} THEN v END)", pick(&temp.column)?), temp.unit),
        None => NO_NUMBER.into(),
    };
    outer.push(format!("{temp} AS temp_mc"));
    for counter in HealthCounter::ALL {
        let sql = match map.counter(counter) {
            Some(column) => scaled(
                &format!("TRY_CAST(max(CASE WHEN {} THEN v END) AS BIGINT)", pick(column.column())?),
                column.times(),
            ),
            None => NO_NUMBER.into(),
        };
        outer.push(format!("{sql} AS {}", counter.name()));
    }
    inner.extend(selectors);
    let series: Vec<String> = (0..long.series.len()).map(|at| format!("s{at}")).collect();
    Ok(format!(
        "SELECT {} FROM (SELECT {} FROM {table}) GROUP BY t / {}, {}",
        outer.join(", "),
        inner.join(", "),
        long.scrape_ms,
        series.join(", ")
    ))
}

/// A metric and the labels it must have, as in `name{label="value"}`.
fn metric_selector(text: &str) -> Result<(String, Vec<(String, String)>)> {
    let Some((name, rest)) = text.split_once('{') else { return Ok((text.trim().into(), Vec::new())) };
    let mut labels = Vec::new();
    for label in rest.trim_end().trim_end_matches('}').split(',') {
        let Some((name, value)) = label.split_once('=') else {
            bail!("{text:?} is no metric; write name{{label=\"value\"}}");
        };
        labels.push((name.trim().into(), value.trim().trim_matches('"').into()));
    }
    Ok((name.trim().into(), labels))
}

const NO_NUMBER: &str = "CAST(NULL AS BIGINT)";
const NO_TEXT: &str = "arrow_cast(NULL, 'Utf8View')";

fn labels(map: &FleetMap, file: &FleetFile) -> Result<Vec<String>> {
    let places = [
        (Some(map.serial()), "serial"),
        (map.model(), "model"),
        (map.cell.firmware.as_deref(), "firmware"),
        (map.cell.host.as_deref(), "host"),
        (map.cell.slot.as_deref(), "slot"),
    ];
    let one = |(column, name): (Option<&str>, &str)| match column {
        Some(column) => Ok(format!("{} AS {name}", text(file, column)?)),
        None => Ok(format!("{NO_TEXT} AS {name}")),
    };
    places.into_iter().map(one).collect()
}

/// A column as text; NULL where the file has none.
fn text(file: &FleetFile, column: &str) -> Result<String> {
    if let Some(given) = file.given.get(column) {
        return Ok(format!("arrow_cast({given}, 'Utf8View')"));
    }
    let Ok(field) = file.schema.field_with_name(column) else { return Ok(NO_TEXT.into()) };
    match field.data_type() {
        DataType::Utf8View => Ok(quoted(column)),
        DataType::Utf8 | DataType::LargeUtf8 => Ok(format!("arrow_cast({}, 'Utf8View')", quoted(column))),
        DataType::Dictionary(_, value)
            if matches!(**value, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) =>
        {
            Ok(format!("arrow_cast({}, 'Utf8View')", quoted(column)))
        }
        other if other.is_integer() => {
            Ok(format!("arrow_cast(CAST({} AS VARCHAR), 'Utf8View')", quoted(column)))
        }
        other => bail!("the column {column:?} is {other}, where text or whole numbers are needed"),
    }
}

/// A column as a number: a fraction if `fraction`, else whole. NULL where the file has none.
fn number(file: &FleetFile, column: &str, fraction: bool) -> Result<String> {
    let Ok(field) = file.schema.field_with_name(column) else { return Ok(NO_NUMBER.into()) };
    let name = quoted(column);
    let to = if fraction { "DOUBLE" } else { "BIGINT" };
    match field.data_type() {
        DataType::Int64 if !fraction => Ok(name),
        // What does not fit or is no number (staleness markers of Prometheus) is no reading.
        other if other.is_numeric() => Ok(format!("TRY_CAST({name} AS {to})")),
        // Text must be a number: that it is not ends the scan of this file with the value.
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let double = format!("CAST(nullif(trim({name}), '') AS DOUBLE)");
            Ok(if fraction { double } else { format!("TRY_CAST({double} AS BIGINT)") })
        }
        DataType::Null => Ok(NO_NUMBER.into()),
        other => bail!("the column {column:?} is {other}, where numbers are needed"),
    }
}

fn scaled(number: &str, times: i64) -> String {
    if times == 1 { number.into() } else { format!("({number}) * {times}") }
}

fn temp_mc(number: &str, unit: TempUnitName) -> String {
    match unit {
        TempUnitName::C => format!("TRY_CAST(round(({number}) * 1000) AS BIGINT)"),
        TempUnitName::K => format!("TRY_CAST(round((({number}) - 273) * 1000) AS BIGINT)"),
        TempUnitName::MilliC => format!("TRY_CAST(({number}) AS BIGINT)"),
    }
}

/// The time of a row in milliseconds since 1970.
fn time_ms(map: &FleetMap, file: &FleetFile) -> Result<String> {
    let column = map.time.column.as_str();
    let unit = map.time.unit;
    if let Some(given) = file.given.get(column) {
        return Ok(match unit {
            TimeUnitName::Ms => given.clone(),
            _ => text_time(given, unit),
        });
    }
    let Ok(field) = file.schema.field_with_name(column) else {
        bail!("there is no column {column:?}, the time")
    };
    let name = quoted(column);
    let whole = format!("CAST({name} AS BIGINT)");
    Ok(match field.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => format!("{whole} * 1000"),
        DataType::Timestamp(TimeUnit::Millisecond, _) | DataType::Date64 => whole,
        DataType::Timestamp(TimeUnit::Microsecond, _) => format!("{whole} / 1000"),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => format!("{whole} / 1000000"),
        DataType::Date32 => format!("CAST(CAST({name} AS INT) AS BIGINT) * 86400000"),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => text_time(&name, unit),
        other if other.is_numeric() => match unit {
            TimeUnitName::S => format!("TRY_CAST({name} * 1000 AS BIGINT)"),
            TimeUnitName::Ms => format!("TRY_CAST({name} AS BIGINT)"),
            TimeUnitName::Us => format!("TRY_CAST({name} AS BIGINT) / 1000"),
            TimeUnitName::Ns => format!("TRY_CAST({name} AS BIGINT) / 1000000"),
            TimeUnitName::Yyyymmdd => text_time(&format!("CAST({whole} AS VARCHAR)"), unit),
            TimeUnitName::Timestamp | TimeUnitName::Day => {
                bail!("the column {column:?} is {other}; say in the map whether it counts s, ms, us or ns")
            }
        },
        other => bail!("the column {column:?} is {other}, which is no time"),
    })
}

fn text_time(text: &str, unit: TimeUnitName) -> String {
    let text = format!("nullif(trim({text}), '')");
    match unit {
        TimeUnitName::S => format!("CAST(CAST({text} AS DOUBLE) * 1000 AS BIGINT)"),
        TimeUnitName::Ms => format!("CAST(CAST({text} AS DOUBLE) AS BIGINT)"),
        TimeUnitName::Us => format!("CAST(CAST({text} AS DOUBLE) / 1000 AS BIGINT)"),
        TimeUnitName::Ns => format!("CAST(CAST({text} AS DOUBLE) / 1000000 AS BIGINT)"),
        TimeUnitName::Timestamp => {
            format!("CAST(arrow_cast({text}, 'Timestamp(Millisecond, Some(\"+00:00\"))') AS BIGINT)")
        }
        TimeUnitName::Day => format!("CAST(CAST(CAST({text} AS DATE) AS INT) AS BIGINT) * 86400000"),
        TimeUnitName::Yyyymmdd => {
            // The same tables have it with hyphens elsewhere.
            format!("CAST(CAST(to_date(replace({text}, '-', ''), '%Y%m%d') AS INT) AS BIGINT) * 86400000")
        }
    }
}
