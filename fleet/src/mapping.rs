//! Which column is what: the map that a user writes (`map.toml`), and the same for schemas that are known.
//!
//! Units are written out, never guessed from values. Does not look at files; [`crate::projection`] makes SQL of it.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};
use fleet_state::HealthCounter;
use serde::Deserialize;

/// A map from columns to what they mean.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct FleetMap {
    /// One row per drive and time, or one per value.
    #[serde(default)]
    pub(crate) layout: RowLayout,
    /// Serial number and, where there is one, model: what a drive is known by.
    pub(crate) drive: Vec<String>,
    pub(crate) time: TimeColumn,
    pub(crate) temp: Option<TempColumn>,
    /// By the name of a [`HealthCounter`].
    #[serde(default)]
    pub(crate) counters: BTreeMap<String, CounterColumn>,
    #[serde(default)]
    pub(crate) cell: CellColumns,
    /// How often rows come, as in "60s"; found from the rows where it is left out.
    pub(crate) cadence: Option<String>,
    /// Of a long layout.
    pub(crate) long: Option<LongColumns>,
}

/// One row per drive and time, or one per value.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RowLayout {
    #[default]
    Wide,
    Long,
}

/// The column of times.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimeColumn {
    pub(crate) column: String,
    pub(crate) unit: TimeUnitName,
    /// The zone of times that do not say theirs. Only UTC is taken: anything else has hours that come twice.
    #[serde(default)]
    pub(crate) zone: TimeZoneName,
}

/// UTC, the one zone in which every hour comes once.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
pub(crate) enum TimeZoneName {
    #[default]
    #[serde(rename = "UTC")]
    Utc,
}

/// How times are written.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TimeUnitName {
    /// Numbers since 1970.
    S,
    Ms,
    Us,
    Ns,
    /// A column of the type timestamp, or text in ISO 8601.
    Timestamp,
    /// A column of the type date, or text as 2025-01-31.
    Day,
    /// A number or text as 20250131.
    Yyyymmdd,
}

/// The column of temperatures.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct TempColumn {
    pub(crate) column: String,
    pub(crate) unit: TempUnitName,
}

/// What temperatures are in.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(crate) enum TempUnitName {
    C,
    /// Whole kelvins as a drive reports them: 273 less is °C, as nvme-cli and smartctl have it.
    K,
    #[serde(rename = "mC")]
    MilliC,
}

/// The column of a counter.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub(crate) enum CounterColumn {
    /// In the counter's own unit.
    Plain(String),
    /// In so many of it.
    Scaled { column: String, times: i64 },
}

impl CounterColumn {
    pub(crate) fn column(&self) -> &str {
        match self {
            Self::Plain(column) | Self::Scaled { column, .. } => column,
        }
    }

    pub(crate) const fn times(&self) -> i64 {
        match self {
            Self::Plain(_) => 1,
            Self::Scaled { times, .. } => *times,
        }
    }
}

/// What makes a cell beside the model, which stands in `drive`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct CellColumns {
    pub(crate) firmware: Option<String>,
    pub(crate) host: Option<String>,
    pub(crate) slot: Option<String>,
}

/// The columns of a long layout. `temp` and `counters` then name metrics, not columns, and `drive` and `cell` name
/// labels.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct LongColumns {
    pub(crate) metric: String,
    pub(crate) value: String,
    /// Labels by which the values of one scrape belong together: the exporter's address and the device.
    pub(crate) series: Vec<String>,
    /// The metric whose labels name the drive, if not every one does.
    pub(crate) info: Option<String>,
    /// Scrapes of one drive differ by less than this, in milliseconds.
    pub(crate) scrape_ms: i64,
}

/// Names of columns that tell a place in a machine, not a drive: the drive behind one changes.
const DEVICE_NAMES: [&str; 8] =
    ["device", "dev", "disk_name", "name", "devpath", "path", "block_device", "disk"];

impl FleetMap {
    /// From the text of a map.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let map: Self = toml::from_str(text)?;
        if map.drive.is_empty() || map.drive.len() > 2 {
            bail!(
                "`drive` has {} columns; it takes the serial number and, after it, the model: drive = [\"serial_number\", \"model\"]",
                map.drive.len()
            );
        }
        if DEVICE_NAMES.contains(&map.drive[0].to_lowercase().as_str()) {
            bail!(
                "`drive` begins with {:?}, a device name: drives are swapped under one name. Name the column of serial numbers",
                map.drive[0]
            );
        }
        for (name, column) in &map.counters {
            if !HealthCounter::ALL.iter().any(|counter| counter.name() == name) {
                let names: Vec<&str> = HealthCounter::ALL.iter().map(|counter| counter.name()).collect();
                bail!("`counters` has {name:?}, which is none; there are {}", names.join(", "));
            }
            if column.times() < 1 {
                bail!("`counters.{name}.times` is {}; it is at least 1", column.times());
            }
        }
        match (map.layout, &map.long) {
            (RowLayout::Long, None) => bail!(
                "layout = \"long\" needs [long] with metric, value, series and scrape_ms (docs/FLEET.md has an example)"
            ),
            (RowLayout::Wide, Some(_)) => bail!("[long] is for layout = \"long\"; this one is wide"),
            (RowLayout::Long, Some(long)) if long.scrape_ms < 1 || long.series.is_empty() => {
                bail!("[long] needs at least one label in `series` and a `scrape_ms` of at least 1")
            }
            _ => {}
        }
        map.cadence_ms()?;
        Ok(map)
    }

    /// The cadence that the map states, in milliseconds.
    pub(crate) fn cadence_ms(&self) -> Result<Option<i64>> {
        self.cadence.as_deref().map(parse_span_ms).transpose().context("`cadence` cannot be read")
    }

    pub(crate) fn serial(&self) -> &str {
        &self.drive[0]
    }

    pub(crate) fn model(&self) -> Option<&str> {
        self.drive.get(1).map(String::as_str)
    }

    /// The column or metric of a counter.
    pub(crate) fn counter(&self, counter: HealthCounter) -> Option<&CounterColumn> {
        self.counters.get(counter.name())
    }

    /// The columns that a wide file must have.
    pub(crate) fn needed(&self) -> Vec<&str> {
        let mut needed = vec![self.serial(), self.time.column.as_str()];
        if let Some(long) = &self.long {
            needed.extend([long.metric.as_str(), long.value.as_str()]);
            needed.extend(long.series.iter().map(String::as_str));
        }
        needed
    }

    /// The columns that may be missing: then nothing is known of them.
    pub(crate) fn optional(&self) -> Vec<&str> {
        let mut optional: Vec<&str> = self.model().into_iter().collect();
        optional.extend(
            [&self.cell.firmware, &self.cell.host, &self.cell.slot].into_iter().flatten().map(String::as_str),
        );
        if self.layout == RowLayout::Wide {
            optional.extend(self.temp.as_ref().map(|temp| temp.column.as_str()));
            optional.extend(self.counters.values().map(CounterColumn::column));
        }
        optional
    }
}

/// A span such as "60s", "1min", "1d" in milliseconds.
pub(crate) fn parse_span_ms(text: &str) -> Result<i64> {
    let digits = text.trim().trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text.trim()[digits.len()..];
    let factor = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => bail!("{text:?} is no span of time; write 60s, 1min, 1h or 1d"),
    };
    let number: i64 =
        digits.trim().parse().with_context(|| format!("{text:?} is no span of time; write 60s"))?;
    match number.checked_mul(factor) {
        Some(span) if span > 0 => Ok(span),
        _ => bail!("{text:?} is no span of time above 0"),
    }
}

/// A schema that is known by itself.
pub(crate) struct KnownSchema {
    pub(crate) name: &'static str,
    pub(crate) map: &'static str,
    /// What no verdict can rest on, for the report.
    pub(crate) caveat: Option<&'static str>,
}

/// Known schemas, the more special ones first: the first whose needed columns are all there is taken.
pub(crate) const KNOWN: [KnownSchema; 8] = [
    KnownSchema {
        name: "heatsoak fleet rows",
        map: r#"
            drive = ["serial", "model"]
            time = { column = "ts", unit = "timestamp" }
            temp = { column = "temp_c", unit = "C" }
            counters = { tmt1_s = "tmt1_s", tmt1_n = "tmt1_n", tmt2_s = "tmt2_s", tmt2_n = "tmt2_n", warn_min = "warn_min", crit_min = "crit_min", poh_h = "poh_h", read_bytes = "read_bytes", written_bytes = "written_bytes", busy_ms = "busy_ms" }
            cell = { firmware = "firmware", host = "host", slot = "slot" }
        "#,
        caveat: None,
    },
    KnownSchema {
        name: "Backblaze Drive Stats",
        map: r#"
            drive = ["serial_number", "model"]
            time = { column = "date", unit = "day" }
            temp = { column = "smart_194_raw", unit = "C" }
            counters = { poh_h = "smart_9_raw" }
            cell = { host = "pod_id", slot = "pod_slot_num" }
        "#,
        caveat: Some(
            "Backblaze Drive Stats has no throttle counter and one reading a day: throttling cannot be judged from it",
        ),
    },
    KnownSchema {
        name: "Alibaba ssd_open_data",
        map: r#"
            drive = ["disk_id", "model"]
            time = { column = "ds", unit = "yyyymmdd" }
            temp = { column = "r_194", unit = "C" }
            counters = { poh_h = "r_9" }
            cell = { host = "node_id", slot = "slot_id" }
        "#,
        caveat: Some(
            "Alibaba's SSD logs are of SATA drives, without a throttle counter: throttling cannot be judged",
        ),
    },
    KnownSchema {
        name: "telegraf smart_device",
        map: r#"
            drive = ["serial_no", "model"]
            time = { column = "time", unit = "timestamp" }
            temp = { column = "temp_c", unit = "C" }
            counters = { warn_min = "warning_temperature_time", crit_min = "critical_temperature_time", poh_h = "power_on_hours" }
            cell = { host = "host", slot = "device" }
        "#,
        caveat: Some(
            "telegraf's smart input has no TMT counters: time over the drive's warning temperature is all it tells",
        ),
    },
    KnownSchema {
        name: "smartctl_exporter, long rows",
        map: r#"
            layout = "long"
            drive = ["serial_number", "model_name"]
            time = { column = "timestamp", unit = "ms" }
            temp = { column = 'smartctl_device_temperature{temperature_type="current"}', unit = "C" }
            cell = { firmware = "firmware_version", host = "instance", slot = "device" }
            [long]
            metric = "metric"
            value = "value"
            series = ["instance", "device"]
            info = "smartctl_device"
            scrape_ms = 60000
        "#,
        caveat: Some(
            "smartctl_exporter has no NVMe throttle counters (its issue 272): throttling cannot be judged from it",
        ),
    },
    KnownSchema {
        name: "nvme exporter, long rows",
        map: r#"
            layout = "long"
            drive = ["serial", "model"]
            time = { column = "timestamp", unit = "ms" }
            temp = { column = "nvme_temperature", unit = "C" }
            counters = { tmt1_n = "nvme_thm_temp1_trans_count", tmt1_s = "nvme_thm_temp1_trans_time", tmt2_n = "nvme_thm_temp2_trans_count", tmt2_s = "nvme_thm_temp2_trans_time", warn_min = "nvme_warning_temp_time", crit_min = "nvme_critical_comp_time", poh_h = "nvme_power_on_hours" }
            cell = { firmware = "firmware", host = "instance", slot = "device" }
            [long]
            metric = "metric"
            value = "value"
            series = ["instance", "device"]
            info = "nvme_device_info"
            scrape_ms = 60000
        "#,
        caveat: None,
    },
    KnownSchema {
        name: "nvme exporter, wide rows",
        map: r#"
            drive = ["serial", "model"]
            time = { column = "timestamp", unit = "ms" }
            temp = { column = "nvme_temperature", unit = "C" }
            counters = { tmt1_n = "nvme_thm_temp1_trans_count", tmt1_s = "nvme_thm_temp1_trans_time", tmt2_n = "nvme_thm_temp2_trans_count", tmt2_s = "nvme_thm_temp2_trans_time", warn_min = "nvme_warning_temp_time", poh_h = "nvme_power_on_hours" }
            cell = { firmware = "firmware", host = "instance", slot = "device" }
        "#,
        caveat: None,
    },
    KnownSchema {
        name: "heatsoak run folder",
        map: r#"
            drive = ["heatsoak.drive_serial", "heatsoak.drive_model"]
            time = { column = "heatsoak.time", unit = "ms" }
            temp = { column = "composite_k", unit = "K" }
            counters = { tmt1_s = "tmt1_seconds", tmt1_n = "tmt1_transitions", tmt2_s = "tmt2_seconds", tmt2_n = "tmt2_transitions" }
            cell = { firmware = "heatsoak.drive_firmware" }
        "#,
        caveat: None,
    },
];

/// The known schema of files with these columns.
pub(crate) fn known(columns: &[&str]) -> Option<(&'static KnownSchema, FleetMap)> {
    KNOWN.iter().find_map(|schema| {
        let map = FleetMap::parse(schema.map).ok()?;
        map.needed().iter().all(|needed| columns.contains(needed)).then_some((schema, map))
    })
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn known_schemas_are_maps() {
        for schema in &KNOWN {
            FleetMap::parse(schema.map).unwrap_or_else(|error| panic!("{}: {error:#}", schema.name));
        }
        let columns = ["date", "serial_number", "model", "failure", "smart_194_raw"];
        assert_eq!(known(&columns).map(|(schema, _)| schema.name), Some("Backblaze Drive Stats"));
        assert!(known(&["a", "b"]).is_none());
    }

    #[test]
    fn what_is_wrong_with_a_map_is_said() {
        let error = |text: &str| format!("{:#}", FleetMap::parse(text).expect_err("no good map"));
        let time = "time = { column = \"t\", unit = \"s\" }";
        assert!(error(&format!("drive = [\"device\"]\n{time}")).contains("device name"));
        assert!(error(&format!("drive = []\n{time}")).contains("`drive` has 0 columns"));
        assert!(
            error(&format!("drive = [\"s\"]\n{time}\ncounters = {{ tmt3_s = \"x\" }}")).contains("tmt3_s")
        );
        assert!(error(&format!("drive = [\"s\"]\n{time}\nlayout = \"long\"")).contains("[long]"));
        assert!(error("drive = [\"s\"]\ntime = { column = \"t\", unit = \"weeks\" }").contains("weeks"));
        assert!(error(&format!("drive = [\"s\"]\n{time}\ncadence = \"soon\"")).contains("soon"));
    }

    #[test]
    fn spans_have_units() {
        assert_eq!(parse_span_ms("60s").ok(), Some(60_000));
        assert_eq!(parse_span_ms("1d").ok(), Some(86_400_000));
        for wrong in ["", "60", "s", "-1s", "0s", "99999999999999999d", "1 week"] {
            assert!(parse_span_ms(wrong).is_err(), "{wrong}");
        }
    }
}
