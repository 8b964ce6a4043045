//! Text of CrystalDiskInfo (Edit, Copy; File, Save; `DiskInfo64 /CopyExit`): what a Windows user has of a drive's life.
//!
//! Rules
//! - A drive begins with its line `Model :`. Labels are English whatever the language; names of attributes are not, and are
//!   not read.
//! - NVMe: the bytes under `-- SMART_NVME --` are the drive's own log page and count; identify data come from the words
//!   under `-- IDENTIFY_DEVICE --`, which are little-endian. Both become the keys that nvme-cli writes.
//! - Others, and texts without these dumps: `Temperature` (whole °C, that is whole kelvins less 273) and `Power On Hours`.
//! - `Date :` is local time. One of several drives is named with `--device`, by its number, model or serial number.

use serde_json::{Map, Value, json};

use super::ImportError;
use super::lines::LineReader;
use super::monitor::when;
use super::nvme;
use super::reading::{HealthReading, When};

/// What begins the file, after a line of dashes.
pub(super) const BEGIN: &str = "CrystalDiskInfo ";

/// Bytes of the log page that are read: up to the times of both host thresholds.
const PAGE_BYTES: usize = 232;
/// Words of identify data that are read: up to the highest threshold a host may set.
const IDENTIFY_WORDS: usize = 164;

/// A drive in the text.
#[derive(Default)]
struct DriveText {
    /// As it is listed, without zeros before it.
    number: String,
    /// Labels and values above the tables.
    facts: Vec<(String, String)>,
    identify: Vec<u16>,
    page: Vec<u8>,
}

/// The readings of the drive in question: one, and its identify data where they are there.
pub(super) fn readings(
    file: &str,
    mut lines: LineReader<'_>,
    wanted: Option<&str>,
) -> Result<Vec<HealthReading>, ImportError> {
    let (mut drives, mut date, mut number): (Vec<DriveText>, _, _) = (Vec::new(), None, String::new());
    let mut section = String::new();
    while let Some((_, line)) = lines.next()? {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("-- ") {
            section = name.trim_end_matches('-').trim().to_owned();
        } else if line.starts_with("-----") {
            section.clear();
        } else if let Some(listed) = line.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            number = listed.0.trim().trim_start_matches('0').to_owned();
        } else if let Some((label, value)) = line.split_once(" : ").filter(|_| section.is_empty()) {
            match (label.trim(), drives.last_mut()) {
                ("Date", None) => date = when::stamp(value),
                ("Model", _) => {
                    let facts = vec![("Model".to_owned(), value.trim().to_owned())];
                    drives.push(DriveText { number: number.clone(), facts, ..DriveText::default() });
                }
                (label, Some(drive)) => drive.facts.push((label.to_owned(), value.trim().to_owned())),
                _ => {}
            }
        } else if let Some(drive) = drives.last_mut() {
            match section.as_str() {
                "SMART_NVME" => drive.page.extend(hex(line, 2).filter_map(|byte| u8::try_from(byte).ok())),
                "IDENTIFY_DEVICE" => drive.identify.extend(hex(line, 4)),
                _ => {}
            }
        }
    }
    let drive = choose(file, &drives, wanted)?;
    let when = date.map_or(When::Never, |stamp| When::Local(stamp.seconds));
    let read = |object: &Value| {
        nvme::reading(file, object)
            .map_err(|(_, why)| ImportError::whole(file, format!("{}: {why}", drive.name())))
    };
    let mut reading = read(&drive.health(file)?)?;
    reading.when = when;
    (reading.model, reading.serial) = (drive.fact("Model"), drive.serial());
    let identity = drive.identity().map(|object| read(&object)).transpose()?;
    Ok([Some(reading), identity].into_iter().flatten().collect())
}

/// The numbers of `digits` hexadecimal digits in a row of a dump: after its offset, and before its characters.
fn hex(line: &str, digits: usize) -> impl Iterator<Item = u16> + '_ {
    let row = line.split_once(": ").map_or("", |(_, row)| row);
    row.split(' ').take(16).map_while(move |word| {
        let is_hex = word.len() == digits && word.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u16::from_str_radix(word, 16).ok()).flatten()
    })
}

fn choose<'a>(
    file: &str,
    drives: &'a [DriveText],
    wanted: Option<&str>,
) -> Result<&'a DriveText, ImportError> {
    let list = || drives.iter().map(DriveText::name).collect::<Vec<_>>().join(", ");
    match (wanted, drives) {
        (_, []) => Err(ImportError::whole(file, "CrystalDiskInfo lists no drive in it")),
        (None, [only]) => Ok(only),
        (None, _) => Err(ImportError::whole(
            file,
            format!("it is of several drives ({}): name one with --device NUMBER", list()),
        )),
        (Some(wanted), _) => drives.iter().find(|drive| drive.is(wanted)).ok_or_else(|| {
            ImportError::whole(file, format!("it has nothing of {wanted}; there are {}", list()))
        }),
    }
}

impl DriveText {
    fn fact(&self, label: &str) -> Option<String> {
        self.facts.iter().find(|(known, _)| known == label).map(|(_, value)| value.clone())
    }

    /// The serial number, unless it was hidden.
    fn serial(&self) -> Option<String> {
        self.fact("Serial Number").filter(|serial| serial.bytes().any(|byte| byte != b'*'))
    }

    fn name(&self) -> String {
        format!("{} {}", self.number, self.fact("Model").unwrap_or_default())
    }

    fn is(&self, wanted: &str) -> bool {
        self.number == wanted.trim_start_matches('0')
            || [self.fact("Model"), self.serial()].iter().flatten().any(|name| name == wanted)
    }

    /// What it counts, with the keys of `nvme smart-log`.
    fn health(&self, file: &str) -> Result<Value, ImportError> {
        if self.page.len() >= PAGE_BYTES {
            return Ok(self.log_page());
        }
        let number = |label: &str| self.fact(label)?.split(' ').next()?.parse::<f64>().ok();
        let Some(celsius) = number("Temperature") else {
            let why = format!("{}: it holds no temperature of this drive", self.name());
            return Err(ImportError::whole(file, why));
        };
        let mut object = Map::new();
        object.insert("temperature".to_owned(), json!(celsius + 273.0));
        object.extend(number("Power On Hours").map(|hours| ("power_on_hours".to_owned(), json!(hours))));
        Ok(Value::Object(object))
    }

    /// The SMART / Health Information log page (NVMe Base 2.3, figure of the log page 02h).
    fn log_page(&self) -> Value {
        let number = |from: usize, len: usize| {
            self.page[from..from + len].iter().rev().fold(0_u128, |all, byte| all << 8 | u128::from(*byte))
        };
        // Wider than JSON's numbers where a drive miscounts: text is read as well.
        let wide = |from: usize| number(from, 16).to_string();
        let mut object = Map::new();
        for (key, value) in [
            ("temperature", json!(number(1, 2) as u64)),
            ("avail_spare", json!(self.page[3])),
            ("percent_used", json!(self.page[5])),
            ("data_units_read", json!(wide(32))),
            ("data_units_written", json!(wide(48))),
            ("power_on_hours", json!(wide(128))),
            ("warning_temp_time", json!(number(192, 4) as u64)),
            ("critical_comp_time", json!(number(196, 4) as u64)),
            ("thm_temp1_trans_count", json!(number(216, 4) as u64)),
            ("thm_temp2_trans_count", json!(number(220, 4) as u64)),
            ("thm_temp1_total_time", json!(number(224, 4) as u64)),
            ("thm_temp2_total_time", json!(number(228, 4) as u64)),
        ] {
            object.insert(key.to_owned(), value);
        }
        for sensor in 0..8 {
            let key = format!("temperature_sensor_{}", sensor + 1);
            object.insert(key, json!(number(200 + 2 * sensor, 2) as u64));
        }
        Value::Object(object)
    }

    /// Thresholds, with the keys of `nvme id-ctrl` (NVMe Base 2.3, Identify Controller data structure: WCTEMP at byte 266,
    /// CCTEMP 268, MNTMT 324, MXTMT 326); nothing of other drives, whose words mean something else.
    fn identity(&self) -> Option<Value> {
        let is_nvme = self.page.len() >= PAGE_BYTES && self.identify.len() >= IDENTIFY_WORDS;
        let word = |byte: usize| self.identify[byte / 2];
        is_nvme.then(|| {
            json!({
                "mn": self.fact("Model"), "sn": self.serial(),
                "wctemp": word(266), "cctemp": word(268), "mntmt": word(324), "mxtmt": word(326),
            })
        })
    }
}
