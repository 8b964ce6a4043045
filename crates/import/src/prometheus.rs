//! Answers of Prometheus to range queries (`api/v1/query_range`): metrics of node_exporter, smartctl_exporter and the
//! exporters around nvme-cli.
//!
//! Rules
//! - Metrics are told by name ([`meaning`]); an answer to an expression such as `rate(...)` has no name and is refused:
//!   query the bare metric.
//! - One drive: `nvme0n1`, `/dev/nvme0` and the chip `nvme_nvme0` are the same one. Of several the one that `--device` names is
//!   taken, else they are refused.
//! - Speeds are differences of counters over the time between two points. A counter that falls was reset: a gap.
//! - `NaN` is a missing reading. Data counted by the operating system (`node_disk_*`) comes before the drive's own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use measure::{Celsius, Series};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use super::device::controller;
use super::json::JsonDocuments;
use super::lines::LineReader;
use super::monitor::is_layer;
use super::part::{CountedBy, RunPart, TimeBase};
use super::rates::differences;
use super::which_drive::SerialNumbers;
use super::{COLDEST_K, HOTTEST_K, ImportError};
use trace::SegmentOp;
use trace::{Counters, SpeedSeries, Temperature, Trace, instant};

#[derive(Deserialize)]
struct QueryAnswer {
    status: String,
    error: Option<String>,
    data: Option<QueryData>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QueryData {
    result_type: String,
    #[serde(default)]
    result: Vec<MetricSeries>,
}

#[derive(Deserialize)]
struct MetricSeries {
    #[serde(default)]
    metric: BTreeMap<String, String>,
    #[serde(default)]
    values: Vec<(f64, SampleValue)>,
}

/// A number that is written as a string.
struct SampleValue(f64);

impl<'de> Deserialize<'de> for SampleValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = SampleValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number as a string")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<SampleValue, E> {
                text.parse().map(SampleValue).map_err(|_| E::custom(format!("{text:?} is not a number")))
            }
            fn visit_f64<E>(self, number: f64) -> Result<SampleValue, E> {
                Ok(SampleValue(number))
            }
            fn visit_u64<E>(self, number: u64) -> Result<SampleValue, E> {
                Ok(SampleValue(number as f64))
            }
        }
        deserializer.deserialize_any(Text)
    }
}

/// What a metric says.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    /// A temperature by the sensor's name; whether it is in kelvins.
    Temperature(&'static str, bool),
    /// Bytes for each unit of a counter: of reads, writes, trims; who counts.
    Moved(usize, f64, CountedBy),
    /// Transitions and seconds of TMT1 and TMT2.
    Counter(usize),
    /// Known, and of no use here.
    Nothing,
}

/// Names of hwmon's inputs for NVMe: the composite first, then the sensors (drivers/nvme/host/hwmon.c).
const HWMON: [(&str, &str); 9] = [
    ("temp1", "composite"),
    ("temp2", "sensor1"),
    ("temp3", "sensor2"),
    ("temp4", "sensor3"),
    ("temp5", "sensor4"),
    ("temp6", "sensor5"),
    ("temp7", "sensor6"),
    ("temp8", "sensor7"),
    ("temp9", "sensor8"),
];

/// Chips by what they are on, as node_exporter names them: those of processors, boards, graphics, memory and batteries. A drive's is
/// on NVMe or SCSI (`nvme_nvme0`, `target0:0:0_0:0:0:0`).
const OTHER_CHIPS: [&str; 7] = ["platform_", "thermal_", "pci", "i2c", "virtual_", "power_supply", "acpi"];

/// What a metric is; `None` for an unknown one.
fn meaning(metric: &BTreeMap<String, String>) -> Option<Meaning> {
    let label = |name: &str| metric.get(name).map_or("", String::as_str);
    let moved = |direction, unit, source| Some(Meaning::Moved(direction, unit, source));
    let name = label("__name__");
    let name =
        name.strip_prefix("nvme_smart_").map_or_else(|| name.to_owned(), |rest| format!("nvme_{rest}"));
    match name.as_str() {
        "node_hwmon_temp_celsius" => {
            let input = HWMON.iter().find(|(input, _)| *input == label("sensor"));
            match input {
                Some((_, name)) if label("chip").contains("nvme") => Some(Meaning::Temperature(name, false)),
                Some((_, "composite"))
                    if !OTHER_CHIPS.iter().any(|begin| label("chip").starts_with(begin)) =>
                {
                    Some(Meaning::Temperature("hwmon", false))
                }
                _ => Some(Meaning::Nothing),
            }
        }
        "smartctl_device_temperature" => match label("temperature_type") {
            "current" | "" => Some(Meaning::Temperature("composite", false)),
            _ => Some(Meaning::Nothing),
        },
        "nvme_temperature_celsius"
        | "nvme_temperature_celcius"
        | "smartmon_temperature_celsius_raw_value" => Some(Meaning::Temperature("composite", false)),
        "nvme_temperature" => Some(Meaning::Temperature("composite", true)),
        "node_disk_read_bytes_total" => moved(0, 1.0, CountedBy::System),
        "node_disk_written_bytes_total" => moved(1, 1.0, CountedBy::System),
        "node_disk_discarded_sectors_total" => moved(2, 512.0, CountedBy::System),
        "windows_physical_disk_read_bytes_total" | "windows_logical_disk_read_bytes_total" => {
            moved(0, 1.0, CountedBy::System)
        }
        "windows_physical_disk_write_bytes_total" | "windows_logical_disk_write_bytes_total" => {
            moved(1, 1.0, CountedBy::System)
        }
        "smartmon_attr_raw_value" if label("name").eq_ignore_ascii_case("temperature_celsius") => {
            Some(Meaning::Temperature("composite", false))
        }
        "smartctl_device_bytes_read" => moved(0, 1.0, CountedBy::Drive),
        "smartctl_device_bytes_written" => moved(1, 1.0, CountedBy::Drive),
        "nvme_data_units_read" | "nvme_data_units_read_total" => moved(0, 512_000.0, CountedBy::Drive),
        "nvme_data_units_written" | "nvme_data_units_written_total" => moved(1, 512_000.0, CountedBy::Drive),
        "nvme_thm_temp1_trans_count" => Some(Meaning::Counter(0)),
        "nvme_thm_temp2_trans_count" => Some(Meaning::Counter(1)),
        "nvme_thm_temp1_total_time" | "nvme_thm_temp1_trans_time" => Some(Meaning::Counter(2)),
        "nvme_thm_temp2_total_time" | "nvme_thm_temp2_trans_time" => Some(Meaning::Counter(3)),
        name if name.starts_with("node_hwmon_") || name.starts_with("node_disk_") => Some(Meaning::Nothing),
        name if name.starts_with("windows_") || name.starts_with("smartmon_") => Some(Meaning::Nothing),
        name if name.starts_with("smartctl_") || name.starts_with("nvme_") => Some(Meaning::Nothing),
        _ => None,
    }
}

/// The serial number of the drive that a metric is of.
fn serial(metric: &BTreeMap<String, String>) -> Option<&str> {
    let labels = ["serial_number", "serial", "serial_no"];
    labels
        .iter()
        .find_map(|label| metric.get(*label))
        .map(|serial| serial.trim())
        .filter(|serial| !serial.is_empty())
}

/// Reads answers to range queries.
pub(super) fn part(file: &str, lines: LineReader<'_>, wanted: Option<&str>) -> Result<RunPart, ImportError> {
    let wanted = wanted.map(drive_of);
    let mut documents = JsonDocuments::new(file, lines).with_cut_lists();
    let mut all: Vec<FoundSeries> = Vec::new();
    // Programs spell a serial number in several ways, so each metric is asked alone.
    let mut serials: BTreeMap<String, SerialNumbers> = BTreeMap::new();
    while let Some(document) = documents.next()? {
        let wrong = |why: String| ImportError::at(file, document.line, None, why);
        for one in results(document.parse()?).map_err(wrong)? {
            let name = one.metric.get("__name__").map_or("", String::as_str);
            let Some(meaning) = meaning(&one.metric) else {
                let what = if name.is_empty() {
                    "a series has no metric's name".to_owned()
                } else {
                    format!("{name} is not known here")
                };
                return Err(wrong(format!(
                    "{what}: query bare metrics such as node_hwmon_temp_celsius, node_disk_written_bytes_total or smartctl_device_temperature"
                )));
            };
            let source = Source::of(&one.metric);
            if let (Some(drive), Some(serial)) = (&source.drive, serial(&one.metric)) {
                let by_metric = serials.entry(name.to_owned()).or_default();
                one.values.iter().for_each(|(t, _)| by_metric.add(drive, serial, *t));
            }
            if meaning == Meaning::Nothing {
                continue;
            }
            let values = one.values.into_iter().map(|(t, value)| (t, value.0)).collect();
            all.push(FoundSeries { meaning, values, source });
        }
    }
    let is_wanted = |one: &FoundSeries| one.source.drive.is_some() && one.source.drive == wanted;
    if all.iter().any(is_wanted) {
        all.retain(|one| is_wanted(one) || one.source.drive.is_none());
    }
    // What stands on a drive counts the same data again.
    let is_layer = |one: &FoundSeries| one.source.drive.as_deref().is_some_and(is_layer);
    if all.iter().any(|one| one.source.drive.is_some() && !is_layer(one)) {
        all.retain(|one| !is_layer(one));
    }
    let drive = one_source(&all, wanted.as_deref()).map_err(|why| ImportError::whole(file, why))?;
    if let Some(drive) = &drive {
        let swapped = serials.values().find_map(|serials| serials.one_at(drive).err());
        swapped.map_or(Ok(()), |why| Err(ImportError::whole(file, why)))?;
    }
    build(file, all.into_iter().map(|one| (one.meaning, one.values)).collect(), drive)
}

/// A series with what it says, and of what.
struct FoundSeries {
    meaning: Meaning,
    values: Vec<(f64, f64)>,
    source: Source,
}

/// What a series is of.
#[derive(Default)]
struct Source {
    drive: Option<String>,
    chip: Option<String>,
    host: Option<String>,
    /// The label that names the drive or chip, and its value.
    label: (&'static str, String),
    instance: String,
}

impl Source {
    fn of(metric: &BTreeMap<String, String>) -> Self {
        let mut source = Self::default();
        if let Some(instance) = metric.get("instance") {
            let host = instance.rsplit_once(':').map_or(instance.as_str(), |(host, _)| host);
            (source.host, source.instance) = (Some(host.to_owned()), instance.clone());
        }
        let labels = ["device", "disk", "volume", "chip"];
        let Some((label, value)) = labels.iter().find_map(|label| Some((*label, metric.get(*label)?))) else {
            return source;
        };
        source.label = (label, value.clone());
        let name = drive_of(value);
        let is_drive = super::device::nvme(&name).is_some() || !metric.contains_key("chip");
        if is_drive {
            source.drive = Some(name);
        } else {
            source.chip = Some(name);
        }
        source
    }
}

/// The name of a drive in a label, as `--device` has it as well: `nvme0` of `nvme0n1`, `/dev/nvme0` and the chip `nvme_nvme0`.
fn drive_of(label: &str) -> String {
    controller(label.trim_start_matches("/dev/").trim_start_matches("nvme_"))
}

/// The drive or chip that all series are of.
///
/// # Errors
/// Where they are of several; the text says how to name one.
fn one_source(all: &[FoundSeries], wanted: Option<&str>) -> Result<Option<String>, String> {
    type Name = fn(&Source) -> Option<&String>;
    let of: [(&str, Name); 3] = [
        ("drives", |source| source.drive.as_ref()),
        ("chips", |source| source.chip.as_ref()),
        ("hosts", |source| source.host.as_ref()),
    ];
    for (what, name) in of {
        let names: BTreeSet<&str> =
            all.iter().filter_map(|one| name(&one.source)).map(String::as_str).collect();
        if names.len() < 2 {
            continue;
        }
        let Some(source) = all.iter().map(|one| &one.source).find(|source| name(source).is_some()) else {
            continue;
        };
        let names: Vec<&str> = names.into_iter().collect();
        let ((label, value), option) = match what {
            "hosts" => (("instance", &source.instance), ""),
            "chips" => ((source.label.0, &source.label.1), ""),
            _ => ((source.label.0, &source.label.1), ", or name one with --device"),
        };
        let missing = wanted.map_or_else(String::new, |wanted| match what {
            "drives" => format!("it has nothing of {wanted}; "),
            _ => String::new(),
        });
        return Err(format!(
            "{missing}it is of several {what} ({}): query one, such as {{{label}=\"{value}\"}}{option}",
            names.join(", ")
        ));
    }
    let first = |name: Name| all.iter().find_map(|one| name(&one.source)).cloned();
    Ok(first(of[0].1).or_else(|| first(of[1].1)))
}

fn results(answer: QueryAnswer) -> Result<Vec<MetricSeries>, String> {
    if answer.status != "success" {
        let why = answer.error.unwrap_or_else(|| answer.status.clone());
        return Err(format!("Prometheus did not answer the query: {why}"));
    }
    let Some(data) = answer.data else { return Err("there is no data in it".into()) };
    match data.result_type.as_str() {
        "matrix" => Ok(data.result),
        "vector" => {
            Err("it is the answer to an instant query, which has no course of time; use api/v1/query_range"
                .into())
        }
        other => Err(format!("it holds {other}, not a range of a metric")),
    }
}

fn build(
    file: &str,
    mut all: Vec<(Meaning, Vec<(f64, f64)>)>,
    drive: Option<String>,
) -> Result<RunPart, ImportError> {
    let whole = |why: String| ImportError::whole(file, why);
    let mut trace = Trace::empty(drive.as_deref().unwrap_or(file));
    for (_, values) in &mut all {
        values.retain(|(t, _)| t.is_finite());
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|next, kept| next.0 <= kept.0);
    }
    let zero_s =
        all.iter().filter_map(|(_, values)| values.first()).map(|(t, _)| *t).fold(f64::INFINITY, f64::min);
    if !zero_s.is_finite() {
        return Err(whole(
            "no metric in it is of use here: temperatures, bytes read and written, throttle counters".into(),
        ));
    }
    let mut counted: [Vec<(f64, f64)>; 4] = Default::default();
    let mut speeds: Vec<(CountedBy, SpeedSeries)> = Vec::new();
    for (meaning, values) in all {
        match meaning {
            Meaning::Temperature(name, kelvin) => {
                // Some exporters write °C by that name; a running drive is over 200 K.
                let in_kelvin = values.iter().all(|(_, v)| v.is_nan() || *v == 0.0 || *v >= COLDEST_K);
                if kelvin && !in_kelvin {
                    return Err(whole("nvme_temperature is in kelvins with most exporters, and these are not: relabel it as nvme_temperature_celsius if it is °C".into()));
                }
                // What is no number is a gap; whole kelvins in place of °C are not.
                let hottest = HOTTEST_K - if kelvin { 0.0 } else { 273.0 };
                if let Some((_, odd)) = values.iter().find(|(_, v)| v.is_finite() && *v > hottest) {
                    let unit = if kelvin { "K" } else { "°C" };
                    return Err(whole(format!(
                        "{name}: {odd} {unit} is no temperature of a drive: is it in another unit?"
                    )));
                }
                if trace.temperatures.iter().any(|known| known.name == name) {
                    return Err(whole(format!(
                        "the temperature {name} is there twice: query it from one exporter"
                    )));
                }
                trace
                    .temperatures
                    .push(Temperature { name: name.into(), kelvin: temperature(&values, zero_s, kelvin) });
            }
            Meaning::Moved(direction, unit, source) => {
                let op = [SegmentOp::Read, SegmentOp::Write, SegmentOp::Trim][direction];
                if speeds.iter().any(|(known, series)| *known == source && series.op == op) {
                    return Err(whole(
                        "a counter of bytes is there twice: query one drive from one exporter".into(),
                    ));
                }
                let intervals = differences(&values, zero_s, unit, &mut trace);
                speeds.push((source, SpeedSeries { op, intervals }));
            }
            Meaning::Counter(which) => counted[which] = values,
            Meaning::Nothing => {}
        }
    }
    add_counters(&counted, zero_s, &mut trace);
    let best = speeds.iter().map(|(source, _)| *source).min();
    let speeds =
        speeds.into_iter().filter(|(source, series)| Some(*source) == best && !series.intervals.is_empty());
    trace.speeds = speeds.map(|(_, series)| series).collect();
    trace.temperatures.sort_by(|a, b| a.name.cmp(&b.name));
    let source = best.unwrap_or(CountedBy::Drive);
    Ok(RunPart { files: vec![file.to_owned()], source, clock: TimeBase::Unix { zero_s }, trace })
}

fn temperature(values: &[(f64, f64)], zero_s: f64, is_kelvin: bool) -> Series<f64> {
    let mut kelvin = Series::new();
    for (t, value) in values {
        let t = instant(t - zero_s);
        match *value {
            value if !value.is_finite() || (is_kelvin && value == 0.0) => kelvin.push_gap(t, "no reading"),
            value if is_kelvin => kelvin.push(t, value),
            // The kernel's and smartctl's whole degrees are whole kelvins less 273; hwmon's are exact (.85).
            value if value.fract() == 0.0 => kelvin.push(t, value + 273.0),
            value => kelvin.push(t, Celsius::from_degrees(value).as_kelvin_f64()),
        }
    }
    kelvin
}

fn add_counters(counted: &[Vec<(f64, f64)>; 4], zero_s: f64, trace: &mut Trace) {
    let mut rows: BTreeMap<u64, Counters> = BTreeMap::new();
    for (which, values) in counted.iter().enumerate() {
        for (t, value) in values.iter().filter(|(_, value)| *value >= 0.0) {
            let row = rows.entry(instant(t - zero_s).as_ns()).or_default();
            let value = Some(*value as u64);
            match which {
                0 => row.tmt1_transitions = value,
                1 => row.tmt2_transitions = value,
                2 => row.tmt1_seconds = value,
                _ => row.tmt2_seconds = value,
            }
        }
    }
    for (ns, row) in rows {
        trace.counters.push(measure::Instant::from_ns(ns), row);
    }
}
