//! Telegraf: its metrics as InfluxDB's line protocol or as JSON, from the file output.
//!
//! Rules
//! - `diskio` counts bytes by `name`; `smart_device` and `hddtemp` (by `device`), `smartctl` (by `name`), `sensors` and `temp` have
//!   temperatures, `nvme0` being the drive of `nvme0n1`. A chip of `sensors` says on which bus it is and not which drive: its temperature is taken
//!   where there is one such chip.
//! - Several hosts in one file are refused, and so is a drive that was swapped: two serial numbers at one device.
//! - `temp` lists thresholds beside the composite temperature in old versions: they are passed over. Values of `nvme`, which scripts
//!   write, are °C below 200 and kelvins from there on.
//! - Lines without timestamps need `--every`: the values of each series are that far apart.
//! - Timestamps are seconds, milliseconds, microseconds or nanoseconds since 1970, by their size.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::when::{since_1970, stamp};
use super::{Quantity, Samples};
use crate::device::controller;
use crate::json::{JsonDocuments, number};
use crate::lines::LineReader;
use crate::part::{RunPart, TimeBase};
use crate::which_drive::SerialNumbers;
use crate::{COLDEST_K, ImportError};
use trace::SegmentOp::{Read, Write};

/// One metric: its name, tags, numeric fields and time in seconds since 1970.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Metric {
    pub(super) name: String,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) fields: BTreeMap<String, f64>,
    pub(super) t_s: f64,
}

/// Reads line protocol, one metric a line.
pub(crate) fn lines(
    file: &str,
    mut lines: LineReader<'_>,
    every_s: Option<f64>,
    device: Option<&str>,
) -> Result<RunPart, ImportError> {
    let mut gathered = Gathered::default();
    let mut counted = Counted::default();
    let mut times: Option<IsTimed> = None;
    while let Some((number, line)) = lines.next()? {
        // `telegraf --test` begins its lines with "> ".
        let line = line.trim().trim_start_matches("> ");
        // What telegraf says itself, as in `--test`, begins with a time.
        let begins_with_time = || line.split(' ').next().is_some_and(|word| stamp(word).is_some());
        let is_remark = || line.starts_with(|c: char| c.is_ascii_digit()) && begins_with_time();
        // `influx_inspect export` begins with what makes the database.
        let is_statement = || line.starts_with("CREATE ");
        if line.is_empty() || line.starts_with('#') || is_statement() || is_remark() {
            continue;
        }
        let read = metric(line).filter(|(_, is_timed)| times.is_none_or(|before| before == *is_timed));
        let Some((mut metric, is_timed)) = read else {
            // The file may end within a line.
            if !lines.ended || lines.next()?.is_none() {
                lines.line_is_cut(number);
                break;
            }
            let why = "it is not a line of InfluxDB's protocol as those before it: name,tag=value field=value timestamp";
            return Err(ImportError::at(file, number, None, why));
        };
        times = Some(is_timed);
        if !is_timed {
            let why = "its lines have no timestamps: say how far apart the values of a metric are with --every TIME, such as --every 10s";
            let every_s = every_s.ok_or_else(|| ImportError::at(file, number, None, why))?;
            metric.t_s = counted.next(&metric) * every_s;
            gathered.has_own_times = true;
        }
        gathered.add(&metric);
    }
    gathered.part(file, device)
}

/// How many values of each series there were, where those have no times.
#[derive(Default)]
struct Counted(BTreeMap<(String, BTreeMap<String, String>), f64>);

impl Counted {
    /// How many values of the metric's series came before.
    fn next(&mut self, metric: &Metric) -> f64 {
        let before = self.0.entry((metric.name.clone(), metric.tags.clone())).or_insert(-1.0);
        *before += 1.0;
        *before
    }
}

/// Reads JSON: a metric a line, `{"metrics": [..]}`, or a list of metrics.
pub(crate) fn json(file: &str, lines: LineReader<'_>, device: Option<&str>) -> Result<RunPart, ImportError> {
    let mut documents = JsonDocuments::new(file, lines).with_cut_lists();
    let mut gathered = Gathered::default();
    while let Some(document) = documents.next()? {
        let root: Value = document.parse()?;
        match root.as_array().or(root["metrics"].as_array()) {
            Some(all) => all.iter().for_each(|one| gathered.add(&from_json(one))),
            None => gathered.add(&from_json(&root)),
        }
    }
    gathered.part(file, device)
}

/// Whether a sensor of telegraf's `temp` is the composite of an NVMe drive, and not one of its thresholds, which old versions list
/// beside it (`nvme_composite_crit`).
fn is_composite(sensor: &str) -> bool {
    sensor.strip_prefix("nvme_composite").is_some_and(|rest| ["", "_input"].contains(&rest))
}

/// What the metrics of a file say of drives.
#[derive(Default)]
pub(super) struct Gathered {
    /// Whether times are counted from the beginning of the file, as it has none.
    has_own_times: bool,
    samples: Samples,
    hosts: BTreeSet<String>,
    /// The serial numbers that were read at each device.
    serials: SerialNumbers,
    /// Temperatures of chips, which name no drive: chip, time, °C.
    chips: BTreeMap<String, Vec<(f64, f64)>>,
}

impl Gathered {
    pub(super) fn add(&mut self, metric: &Metric) {
        let tag = |name: &str| metric.tags.get(name).map_or("", String::as_str);
        let field = |name: &str| metric.fields.get(name).copied();
        let t_s = metric.t_s;
        match metric.name.as_str() {
            "diskio" => {
                for (name, op) in [("read_bytes", Read), ("write_bytes", Write)] {
                    if let Some(bytes) = field(name) {
                        self.samples.push(tag("name"), Quantity::Total(op), t_s, bytes);
                    }
                }
                if let Some(busy_ms) = field("io_time") {
                    self.samples.push(tag("name"), Quantity::BusyTotal, t_s, 1e-3 * busy_ms);
                }
            }
            "smart_device" => self.health(tag("device"), tag("serial_no"), t_s, field("temp_c")),
            "smartctl" => self.health(tag("name"), tag("serial"), t_s, field("temperature")),
            "nvme" => {
                let device = Some(tag("device")).filter(|device| !device.is_empty()).unwrap_or(tag("name"));
                let celsius = field("temperature").map(|degrees| match degrees {
                    kelvin if kelvin >= COLDEST_K => kelvin - 273.0,
                    celsius => celsius,
                });
                self.health(device, tag("serial_no"), t_s, celsius);
            }
            "hddtemp" => self.health(tag("device"), "", t_s, field("temperature")),
            "sensors" if tag("chip").starts_with("nvme") && tag("feature") == "composite" => {
                let chip = self.chips.entry(tag("chip").to_owned()).or_default();
                chip.extend(field("temp_input").map(|celsius| (t_s, celsius)));
            }
            "temp" if is_composite(tag("sensor")) => {
                let chip = self.chips.entry(tag("sensor").to_owned()).or_default();
                chip.extend(field("temp").map(|celsius| (t_s, celsius)));
            }
            _ => return,
        }
        if let Some(host) = metric.tags.get("host") {
            self.hosts.insert(host.clone());
        }
    }

    /// Takes what a program says of a drive's health.
    fn health(&mut self, device: &str, serial: &str, t_s: f64, celsius: Option<f64>) {
        let device = controller(device);
        self.serials.add(&device, serial, t_s);
        if let Some(celsius) = celsius {
            self.samples.push(&device, Quantity::Celsius(0), t_s, celsius);
        }
    }

    pub(super) fn part(mut self, file: &str, device: Option<&str>) -> Result<RunPart, ImportError> {
        if self.hosts.len() > 1 {
            let names: Vec<String> = self.hosts.into_iter().collect();
            let why = format!("it is of several hosts ({}): split it by host", names.join(", "));
            return Err(ImportError::whole(file, why));
        }
        // Metrics come in batches of several inputs.
        self.samples.is_unordered = true;
        let drive = self.samples.choose(file, device)?;
        self.serials.one_at(&drive).map_err(|why| ImportError::whole(file, why))?;
        let mut chips = self.chips.into_values();
        if let (Some(values), None) = (chips.next(), chips.next())
            && !self.samples.has(&drive, Quantity::Celsius(0))
        {
            values
                .iter()
                .for_each(|(t, celsius)| self.samples.push(&drive, Quantity::Celsius(0), *t, *celsius));
            self.samples
                .notes
                .push(format!("the temperature is that of the only NVMe chip in it, taken for {drive}'s"));
        }
        let has_own_times = self.has_own_times;
        self.samples.part(file, Some(&drive), |zero_s| match has_own_times {
            true => TimeBase::Own,
            false => TimeBase::Unix { zero_s },
        })
    }
}

fn from_json(value: &Value) -> Metric {
    let texts = |object: &Value| {
        let pairs = object.as_object().into_iter().flatten();
        pairs.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
    };
    let fields = value["fields"].as_object().into_iter().flatten();
    Metric {
        name: value["name"].as_str().unwrap_or_default().to_owned(),
        tags: texts(&value["tags"]),
        fields: fields.filter_map(|(key, value)| Some((key.clone(), number(value)?))).collect(),
        t_s: match &value["timestamp"] {
            Value::String(text) => stamp(text).map_or(f64::NAN, |told| told.seconds),
            time => time.as_f64().and_then(since_1970).unwrap_or(f64::NAN),
        },
    }
}

/// Whether a line has a timestamp.
type IsTimed = bool;

/// A line of InfluxDB's protocol: `name,tag=value field=1i,other="text" 1795340400000000000`, where a comma, a blank or an
/// equals sign in a name is escaped by a backslash. The timestamp may be left out.
fn metric(line: &str) -> Option<(Metric, IsTimed)> {
    let mut parts = split(line, ' ').filter(|part| !part.is_empty());
    let (head, fields, time) = (parts.next()?, parts.next()?, parts.next());
    let mut head = split(head, ',');
    let name = plain(head.next()?);
    let tags = head.filter_map(|tag| {
        let mut sides = split(tag, '=');
        Some((plain(sides.next()?), plain(sides.next()?)))
    });
    let fields: Option<Vec<(String, Option<f64>)>> = split(fields, ',')
        .map(|field| {
            let mut sides = split(field, '=');
            let (name, value) = (plain(sides.next()?), sides.next()?);
            Some((name, value.trim_end_matches(['i', 'u']).parse().ok()))
        })
        .collect();
    let fields = fields?.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let t_s = match time {
        Some(time) => since_1970(time.trim().parse().ok()?)?,
        None => 0.0,
    };
    Some((Metric { name, tags: tags.collect(), fields, t_s }, time.is_some()))
}

/// Splits at a separator that is neither escaped nor within quotation marks.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |c: char| {
        let here = c == separator && !quoted && !escaped;
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        here
    })
}

fn plain(text: &str) -> String {
    text.replace("\\ ", " ").replace("\\,", ",").replace("\\=", "=")
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_line_is_name_tags_fields_and_time() {
        let read = metric(
            r#"diskio,host=a\ b,name=nvme0n1 reads=5i,read_bytes=4096i,note="a, b c",t=1.5 1795340400000000000"#,
        );
        let (read, is_timed) = read.expect("a line");
        assert!(is_timed);
        assert_eq!((read.name.as_str(), read.tags["host"].as_str()), ("diskio", "a b"));
        assert_eq!((read.fields["read_bytes"], read.fields["t"], read.fields.len()), (4096.0, 1.5, 3));
        assert!((read.t_s - 1_795_340_400.0).abs() < 1e-6);
        let untimed = metric("diskio,name=sda reads=5i").expect("a line without a timestamp");
        assert_eq!((untimed.0.fields["reads"], untimed.1), (5.0, false));
        assert_eq!(metric("x y z"), None);
    }
}
