//! What a SATA, USB or SCSI drive says about itself: by SCSI commands, and by smartctl.

use std::fs::File;
use std::path::Path;

use drive::scsi::{self, Rotation};
use drive::telemetry::smartctl::{self, Report};
use measure::{Clock as _, MonotonicClock};
use schemars::JsonSchema;
use serde::Serialize;

/// The JSON of it. What a drive does not tell is `null`, and why stands in the notes.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ScsiPart {
    /// Vendor (INQUIRY).
    pub(super) vendor: Option<String>,
    /// Product (INQUIRY).
    pub(super) product: Option<String>,
    /// Capacity.
    pub(super) size_bytes: Option<u64>,
    /// Logical block size.
    pub(super) block_bytes: Option<u32>,
    /// Physical block size.
    pub(super) physical_block_bytes: Option<u32>,
    /// Turns a minute; 0 for flash.
    pub(super) rotation_rpm: Option<u16>,
    /// Ways in which it deallocates: `unmap`, `write_same_16`, `write_same_10`.
    pub(super) deallocates_by: Vec<&'static str>,
    /// Deallocated blocks read as zeroes.
    pub(super) reads_zeroes: Option<bool>,
    /// Most blocks that one UNMAP takes.
    pub(super) unmap_blocks_max: Option<u32>,
    /// Most ranges that one UNMAP takes.
    pub(super) unmap_ranges_max: Option<u32>,
    /// What smartctl tells.
    pub(super) smartctl: Option<SmartctlPart>,
    /// What could not be asked, and why.
    pub(super) notes: Vec<String>,
}

/// What smartctl tells.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SmartctlPart {
    /// The type that it was asked as or has found.
    pub(super) device_type: Option<String>,
    /// Model name.
    pub(super) model: Option<String>,
    /// Serial number.
    pub(super) serial: Option<String>,
    /// Firmware revision.
    pub(super) firmware: Option<String>,
    /// Temperature.
    pub(super) temperature_k: Option<u16>,
    /// Temperature that the maker allows.
    pub(super) limit_k: Option<u16>,
    /// How long the readings took, from trying out how to ask to the last answer.
    pub(super) took_ms: Option<u64>,
    /// Throttle and temperature counters of an NVMe drive, as far as the bridge passes them.
    pub(super) counters: Option<CountersPart>,
    /// The drive's own record of its temperature, oldest first.
    pub(super) history: Option<HistoryPart>,
}

/// Counters of an NVMe drive behind a bridge; `null` for what smartctl does not print.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CountersPart {
    /// How often it went into light throttling (TMT1).
    pub(super) tmt1_transitions: Option<u32>,
    /// How often into heavy (TMT2).
    pub(super) tmt2_transitions: Option<u32>,
    /// Seconds in light throttling.
    pub(super) tmt1_seconds: Option<u32>,
    /// Seconds in heavy.
    pub(super) tmt2_seconds: Option<u32>,
    /// Minutes at or above the warning threshold.
    pub(super) warning_minutes: Option<u32>,
    /// Minutes at or above the critical threshold.
    pub(super) critical_minutes: Option<u32>,
    /// Written by the host, in bytes (data units of 512,000 B).
    pub(super) written_bytes: Option<u64>,
}

/// The SCT temperature history.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HistoryPart {
    /// Time between two entries.
    pub(super) minutes_between: u32,
    /// From the oldest to the newest; `null` is no reading.
    pub(super) composite_k: Vec<Option<u16>>,
}

impl ScsiPart {
    /// Asks the drive `disk`; `None` for what is no SCSI disk to the kernel.
    pub(super) fn read(sysfs: &Path, disk: &str) -> Option<Self> {
        if !disk.starts_with("sd") {
            return None;
        }
        let device = format!("/dev/{disk}");
        let asked = File::open(&device)
            .map_err(|error| format!("cannot open {device}: {error}"))
            .and_then(|file| scsi::facts(&file).map_err(|error| error.to_string()));
        let mut part = match asked {
            Ok(facts) => Self::from_facts(facts),
            Err(why) => Self::empty(why),
        };
        let clock = MonotonicClock::start();
        let asked = smartctl::read(&device, sysfs);
        let took = clock.now().since(measure::Instant::ZERO);
        match asked {
            Ok((report, remarks)) => {
                part.notes.extend(remarks);
                // That it has none is `null`; that it says something that cannot be, nobody would see.
                part.notes.extend(report.implausible_celsius.map(|_| report.no_temperature()));
                let took_ms = u64::try_from(took.as_millis()).ok();
                part.smartctl = Some(SmartctlPart { took_ms, ..SmartctlPart::from(report) });
            }
            Err(why) => part.notes.push(why),
        }
        Some(part)
    }

    fn from_facts(facts: scsi::ScsiFacts) -> Self {
        let provisioning = facts.provisioning.unwrap_or_default();
        let ways = [
            (provisioning.unmap, "unmap"),
            (provisioning.write_same_16, "write_same_16"),
            (provisioning.write_same_10, "write_same_10"),
        ];
        Self {
            vendor: facts.inquiry.vendor,
            product: facts.inquiry.product,
            size_bytes: facts.capacity.and_then(|capacity| capacity.bytes()),
            block_bytes: facts.capacity.map(|capacity| capacity.block_bytes),
            physical_block_bytes: facts
                .capacity
                .and_then(|capacity| capacity.block_bytes.checked_shl(capacity.physical_exponent?.into())),
            rotation_rpm: facts.characteristics.and_then(|one| match one.rotation {
                Rotation::Unknown => None,
                Rotation::None => Some(0),
                Rotation::Rpm(rpm) => Some(rpm),
            }),
            deallocates_by: ways.into_iter().filter_map(|(has, name)| has.then_some(name)).collect(),
            reads_zeroes: facts.capacity.and_then(|capacity| capacity.reads_zeroes),
            unmap_blocks_max: facts.limits.and_then(|limits| limits.unmap_blocks_max),
            unmap_ranges_max: facts.limits.and_then(|limits| limits.unmap_ranges_max),
            smartctl: None,
            notes: facts.notes,
        }
    }

    fn empty(why: String) -> Self {
        Self {
            vendor: None,
            product: None,
            size_bytes: None,
            block_bytes: None,
            physical_block_bytes: None,
            rotation_rpm: None,
            deallocates_by: Vec::new(),
            reads_zeroes: None,
            unmap_blocks_max: None,
            unmap_ranges_max: None,
            smartctl: None,
            notes: vec![why],
        }
    }

    /// In lines for people: name, value. `serial` is the serial number that the kernel tells.
    pub(super) fn rows(&self, serial: Option<&str>) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        let ways = if self.deallocates_by.is_empty() {
            "no way told".into()
        } else {
            self.deallocates_by.join(", ")
        };
        rows.push(("deallocates by", ways));
        if let Some(smartctl) = &self.smartctl {
            let degrees = |kelvin: u16| measure::Kelvin::from_kelvin(kelvin).to_string();
            let limit = smartctl.limit_k.map_or(String::new(), |limit| format!(", limit {}", degrees(limit)));
            let now = smartctl.temperature_k.map_or_else(|| "not told".to_owned(), degrees);
            rows.extend(smartctl.name_row(serial));
            let way = smartctl.device_type.as_deref().unwrap_or("auto");
            let took = smartctl.took_ms.map_or(String::new(), |ms| format!(", read in {ms} ms"));
            rows.push(("temperature", format!("{now}{limit} (smartctl -d {way}{took})")));
            rows.extend(smartctl.counters.as_ref().map(CountersPart::row));
            if let Some(history) = &smartctl.history {
                rows.push(("own history", history.sentence()));
            }
        }
        rows.extend(self.notes.iter().map(|note| ("not told", note.clone())));
        rows
    }
}

impl SmartctlPart {
    /// Who it says it is, if the kernel says another: of the bridge that the drive is behind.
    fn name_row(&self, known: Option<&str>) -> Option<(&'static str, String)> {
        let (model, serial) = (self.model.as_ref()?, self.serial.as_ref()?);
        let firmware = self.firmware.as_deref().unwrap_or("not known");
        let text = || ("behind the bridge", format!("{model}, serial {serial}, firmware {firmware}"));
        (known != Some(serial)).then(text)
    }
}

impl CountersPart {
    fn row(&self) -> (&'static str, String) {
        let told = |count: Option<u32>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
        let text = format!(
            "TMT1 {} ({} s), TMT2 {} ({} s), at the warning threshold {} min",
            told(self.tmt1_transitions),
            told(self.tmt1_seconds),
            told(self.tmt2_transitions),
            told(self.tmt2_seconds),
            told(self.warning_minutes)
        );
        ("throttle counters", text)
    }
}

/// Columns of a drawn history.
const DRAWN_COLUMNS: usize = 60;
/// From the lowest reading to the highest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl HistoryPart {
    /// The course as bars, the hottest reading of each column; blank where there is none.
    fn drawn(&self, least: u16, most: u16) -> String {
        let columns = self.composite_k.chunks(self.composite_k.len().div_ceil(DRAWN_COLUMNS).max(1));
        let bar = |kelvin: u16| {
            let height = usize::from(kelvin - least) * (BARS.len() - 1);
            BARS[height / usize::from(most - least).max(1)]
        };
        columns.map(|column| column.iter().flatten().max().map_or(' ', |hottest| bar(*hottest))).collect()
    }

    fn sentence(&self) -> String {
        let degrees = |kelvin: u16| measure::Kelvin::from_kelvin(kelvin).to_string();
        let readings = || self.composite_k.iter().flatten().copied();
        match (readings().min(), readings().max()) {
            (Some(least), Some(most)) => format!(
                "{} to {} in {} readings, one each {} min: {}",
                degrees(least),
                degrees(most),
                readings().count(),
                self.minutes_between,
                self.drawn(least, most)
            ),
            _ => "empty".to_owned(),
        }
    }
}

impl From<Report> for SmartctlPart {
    fn from(report: Report) -> Self {
        let kelvin = |kelvin: Option<measure::Kelvin>| kelvin.map(measure::Kelvin::as_kelvin);
        Self {
            temperature_k: kelvin(report.temperature),
            limit_k: kelvin(report.limit),
            history: report.history.map(|history| HistoryPart {
                minutes_between: history.logging_minutes,
                composite_k: history.entries.into_iter().map(kelvin).collect(),
            }),
            took_ms: None,
            counters: report.counters.map(|counters| CountersPart {
                tmt1_transitions: counters.tmt1_transitions,
                tmt2_transitions: counters.tmt2_transitions,
                tmt1_seconds: counters.tmt1_seconds,
                tmt2_seconds: counters.tmt2_seconds,
                warning_minutes: counters.warning_minutes,
                critical_minutes: counters.critical_minutes,
                written_bytes: counters.data_units_written.and_then(|units| units.checked_mul(512_000)),
            }),
            device_type: report.device_type,
            model: report.model,
            serial: report.serial,
            firmware: report.firmware,
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_report_is_told_with_its_history_and_what_is_missing() {
        let json = r#"{"smartctl":{"exit_status":0},"device":{"type":"sat"},"model_name":"M","serial_number":"S",
            "temperature":{"current":36,"op_limit_max":70},"ata_sct_temperature_history":
            {"sampling_period_minutes":1,"logging_interval_minutes":10,"table":[null,33,57]}}"#;
        let report = Report::decode(json).expect("smartctl's JSON");
        let part = ScsiPart { smartctl: Some(report.into()), ..ScsiPart::empty("no INQUIRY".to_owned()) };
        assert_eq!(
            part.rows(Some("S")),
            [
                ("deallocates by", "no way told".to_owned()),
                ("temperature", "36 °C, limit 70 °C (smartctl -d sat)".to_owned()),
                ("own history", "33 °C to 57 °C in 2 readings, one each 10 min:  ▁█".to_owned()),
                ("not told", "no INQUIRY".to_owned()),
            ]
        );
        assert_eq!(
            part.rows(Some("BRIDGE"))[1],
            ("behind the bridge", "M, serial S, firmware not known".to_owned())
        );
        assert!(ScsiPart::read(Path::new("/sys"), "nvme0n1").is_none(), "that is no SCSI disk");
    }
}
