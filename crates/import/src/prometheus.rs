//! Answers of Prometheus to range queries (`api/v1/query_range`), and its text with timestamps ([`text`]): metrics of node_exporter,
//! smartctl_exporter, the exporters around nvme-cli, and heatsoak's own ([`own`]).
//!
//! Rules
//! - Metrics are told by name ([`meaning`]); an answer to an expression such as `rate(...)` has no name and is refused:
//!   query the bare metric.
//! - One drive: `nvme0n1`, `/dev/nvme0` and the chip `nvme_nvme0` are the same one. Of several the one that `--device` names is
//!   taken, else they are refused.
//! - Speeds are differences of counters over the time between two points. A counter that falls was reset: a gap.
//! - `NaN` is a missing reading. Data counted by the operating system (`node_disk_*`) comes before the drive's own.

mod meaning;
mod own;
mod text;

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
use meaning::{Meaning, meaning};
use own::{OPS, Rates};
pub(super) use text::is_series;
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
    let mut documents = JsonDocuments::new(file, lines).with_cut_lists();
    let mut found = Found::default();
    while let Some(document) = documents.next()? {
        let wrong = |why: String| ImportError::at(file, document.line, None, why);
        for one in results(document.parse()?).map_err(wrong)? {
            let name = one.metric.get("__name__").cloned().unwrap_or_default();
            if !found.take(one) {
                let what = if name.is_empty() {
                    "a series has no metric's name".to_owned()
                } else {
                    format!("{name} is not known here")
                };
                return Err(wrong(format!(
                    "{what}: query bare metrics such as node_hwmon_temp_celsius, node_disk_written_bytes_total or smartctl_device_temperature"
                )));
            }
        }
    }
    found.part(file, wanted)
}

/// Reads text with timestamps, which holds whatever an exporter has: what is not known is passed over.
pub(super) fn text_part(
    file: &str,
    lines: LineReader<'_>,
    wanted: Option<&str>,
) -> Result<RunPart, ImportError> {
    let mut found = Found::default();
    for one in text::series(file, lines)? {
        found.take(one);
    }
    found.part(file, wanted)
}

/// What was found in a file.
#[derive(Default)]
struct Found {
    all: Vec<FoundSeries>,
    /// Programs spell a serial number in several ways, so each metric is asked alone.
    serials: BTreeMap<String, SerialNumbers>,
    simulated: Option<bool>,
}

impl Found {
    /// Takes a series; whether its metric is known.
    fn take(&mut self, one: MetricSeries) -> bool {
        let name = one.metric.get("__name__").map_or("", String::as_str);
        let Some(meaning) = meaning(&one.metric) else { return false };
        let source = Source::of(&one.metric);
        if let (Some(drive), Some(serial)) = (&source.drive, serial(&one.metric)) {
            let by_metric = self.serials.entry(name.to_owned()).or_default();
            one.values.iter().for_each(|(t, _)| by_metric.add(drive, serial, *t));
        }
        if name.starts_with(own::PREFIX)
            && let Some(simulated) = one.metric.get("simulated")
        {
            self.simulated = simulated.parse().ok();
        }
        if meaning != Meaning::Nothing {
            let phase = one.metric.get("phase").cloned().unwrap_or_default();
            let values = one.values.into_iter().map(|(t, value)| (t, value.0)).collect();
            self.all.push(FoundSeries { meaning, values, source, phase });
        }
        true
    }

    /// The part that the series of one drive make.
    fn part(self, file: &str, wanted: Option<&str>) -> Result<RunPart, ImportError> {
        let Self { mut all, serials, simulated } = self;
        let wanted = wanted.map(drive_of);
        keep_one_drive(&mut all, wanted.as_deref());
        let drive = one_source(&all, wanted.as_deref()).map_err(|why| ImportError::whole(file, why))?;
        if let Some(drive) = &drive {
            let swapped = serials.values().find_map(|serials| serials.one_at(drive).err());
            swapped.map_or(Ok(()), |why| Err(ImportError::whole(file, why)))?;
        }
        let mut part = build(file, all, drive)?;
        part.trace.facts.simulated = simulated;
        Ok(part)
    }
}

/// Leaves out what is of other drives than the wanted one, and what stands on a drive.
fn keep_one_drive(all: &mut Vec<FoundSeries>, wanted: Option<&str>) {
    let is_wanted = |one: &FoundSeries| one.source.drive.is_some() && one.source.drive.as_deref() == wanted;
    if all.iter().any(is_wanted) {
        all.retain(|one| is_wanted(one) || one.source.drive.is_none());
    }
    // What stands on a drive counts the same data again.
    let is_layer = |one: &FoundSeries| one.source.drive.as_deref().is_some_and(is_layer);
    if all.iter().any(|one| one.source.drive.is_some() && !is_layer(one)) {
        all.retain(|one| !is_layer(one));
    }
}

/// A series with what it says, and of what.
struct FoundSeries {
    meaning: Meaning,
    values: Vec<(f64, f64)>,
    source: Source,
    /// The phase of a plan; empty where none is told.
    phase: String,
}

/// What a series is of.
#[derive(Default)]
struct Source {
    drive: Option<String>,
    chip: Option<String>,
    host: Option<String>,
    /// A run of heatsoak.
    run: Option<String>,
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
        source.run = metric.get("run").cloned();
        let labels = ["device", "disk", "volume", "chip", "drive"];
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
    let of: [(&str, Name); 4] = [
        ("runs", |source| source.run.as_ref()),
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
            "runs" => (("run", source.run.as_ref().unwrap_or(&source.instance)), ""),
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
    Ok(first(of[1].1).or_else(|| first(of[2].1)))
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

fn build(file: &str, mut all: Vec<FoundSeries>, drive: Option<String>) -> Result<RunPart, ImportError> {
    let whole = |why: String| ImportError::whole(file, why);
    let mut trace = Trace::empty(drive.as_deref().unwrap_or(file));
    for FoundSeries { values, .. } in &mut all {
        values.retain(|(t, _)| t.is_finite());
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|next, kept| next.0 <= kept.0);
    }
    let mut rates = Rates::default();
    for FoundSeries { meaning, values, phase, .. } in &mut all {
        if let Meaning::Rate(op) = meaning {
            rates.add(*op, std::mem::take(values), phase);
        }
    }
    let firsts = all.iter().filter_map(|one| one.values.first()).map(|(t, _)| *t);
    let zero_s = firsts.chain(rates.begin_s()).fold(f64::INFINITY, f64::min);
    if !zero_s.is_finite() {
        return Err(whole(
            "no metric in it is of use here: temperatures, bytes read and written, throttle counters".into(),
        ));
    }
    let mut counted: [Vec<(f64, f64)>; 4] = Default::default();
    let mut speeds: Vec<(CountedBy, SpeedSeries)> = Vec::new();
    for FoundSeries { meaning, values, .. } in all {
        match meaning {
            Meaning::Temperature(name, kelvin) => {
                check_temperatures(name, kelvin, &values).map_err(whole)?;
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
                let op = OPS[direction];
                if speeds.iter().any(|(known, series)| *known == source && series.op == op) {
                    return Err(whole(
                        "a counter of bytes is there twice: query one drive from one exporter".into(),
                    ));
                }
                let intervals = differences(&values, zero_s, unit, &mut trace);
                speeds.push((source, SpeedSeries { op, intervals }));
            }
            Meaning::Counter(which) => counted[which] = values,
            Meaning::Power => {
                let known = values.iter().filter(|(_, watts)| watts.is_finite() && *watts >= 0.0);
                known.for_each(|(t, watts)| trace.power_w.push(instant(t - zero_s), *watts));
            }
            Meaning::Rate(_) | Meaning::Nothing => {}
        }
    }
    add_counters(&counted, zero_s, &mut trace);
    let best = speeds.iter().map(|(source, _)| *source).min();
    let speeds =
        speeds.into_iter().filter(|(source, series)| Some(*source) == best && !series.intervals.is_empty());
    trace.speeds = speeds.map(|(_, series)| series).collect();
    trace.temperatures.sort_by(|a, b| a.name.cmp(&b.name));
    let mut source = best.unwrap_or(CountedBy::Drive);
    if rates.begin_s().is_some() {
        trace.speeds.clear();
        rates.put(zero_s, &mut trace);
        source = CountedBy::Load;
    }
    Ok(RunPart { files: vec![file.to_owned()], source, clock: TimeBase::Unix { zero_s }, trace })
}

/// Refuses values that are no temperatures of a drive in that unit; what is no number is a gap.
fn check_temperatures(name: &str, is_kelvin: bool, values: &[(f64, f64)]) -> Result<(), String> {
    // Some exporters write °C by that name; a running drive is over 200 K.
    let in_kelvin = values.iter().all(|(_, v)| v.is_nan() || *v == 0.0 || *v >= COLDEST_K);
    if is_kelvin && !in_kelvin {
        return Err("nvme_temperature is in kelvins with most exporters, and these are not: relabel it as nvme_temperature_celsius if it is °C".into());
    }
    let hottest = HOTTEST_K - if is_kelvin { 0.0 } else { 273.0 };
    let unit = if is_kelvin { "K" } else { "°C" };
    match values.iter().find(|(_, v)| v.is_finite() && *v > hottest) {
        Some((_, odd)) => {
            Err(format!("{name}: {odd} {unit} is no temperature of a drive: is it in another unit?"))
        }
        None => Ok(()),
    }
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
