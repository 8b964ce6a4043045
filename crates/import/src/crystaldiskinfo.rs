//! Text of CrystalDiskInfo (Edit, Copy; File, Save; `DiskInfo64 /CopyExit`): what a Windows user has of a drive's life.
//!
//! Rules
//! - A drive begins with its line `Model :`. Labels are English whatever the language; names of attributes are not, and are
//!   not read. Of the attributes of other drives than NVMe none is: their meaning differs by maker.
//! - NVMe: the bytes under `-- SMART_NVME --` are the drive's own log page and count; identify data come from the words
//!   under `-- IDENTIFY_DEVICE --`, which are little-endian.
//! - NVMe without these dumps: the rows of `-- S.M.A.R.T. --`, which hold parts of the log page ([`attributes`]).
//! - Others, and texts without these rows: `Temperature` (whole °C, that is whole kelvins less 273, else whole °F), `Power On Hours`,
//!   `Host Reads` and `Host Writes` (GB of 2^30 bytes, TB of 2^40), and the percentage in `Health Status`, which is what is left.
//!   Another unit, or a number that can be two, is left out with a note.
//! - A file may have several texts one after the other, as a task that appends them makes: each is a reading.
//! - `Date :` is local time. One of several drives is named with `--device`, by its number, model or serial number.

mod attributes;

use measure::Kelvin;
use nvme::identify::{IDENTIFY_LEN, IdentifyController};
use nvme::log::smart::{SMART_LOG_LEN, SmartLog};

use super::lines::LineReader;
use super::monitor::when;
use super::numbers::{self, Number};
use super::reading::{HealthReading, When};
use super::{COLDEST_K, HOTTEST_K, ImportError};
use attributes::Attributes;
use trace::caveat::{Caveat, CutOff};
use trace::{Counters, LifeCounters};

/// What begins the file, after a line of dashes.
pub(super) const BEGIN: &str = "CrystalDiskInfo ";

/// Whether a line is its title with the version, as in notes that somebody put the text into.
pub(super) fn is_title(line: &str) -> bool {
    let version = line.strip_prefix(BEGIN).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    version && line.contains("hiyohiyo")
}

/// Bytes of the log page that are read: up to the times of both host thresholds.
const PAGE_BYTES: usize = 232;
/// Words of identify data that are read: up to the highest threshold a host may set.
const IDENTIFY_WORDS: usize = 164;

/// Bytes of what the program calls a MB, and each unit's of the one before.
const MIB: f64 = 1_048_576.0;
const UNITS: [&str; 4] = ["MB", "GB", "TB", "PB"];

/// A drive in the text.
#[derive(Default)]
struct DriveText {
    /// As it is listed, without zeros before it.
    number: String,
    /// Labels and values above the tables.
    facts: Vec<(String, String)>,
    identify: Vec<u16>,
    page: Vec<u8>,
    /// Whether the table of attributes is one of NVMe.
    is_nvme_table: bool,
    attributes: Attributes,
}

/// The readings of the drive in question, with its thresholds where they are there.
pub(super) fn readings(
    file: &str,
    mut lines: LineReader<'_>,
    wanted: Option<&str>,
) -> Result<Vec<HealthReading>, ImportError> {
    let mut texts = vec![ListedDrives::default()];
    let (mut section, mut number) = (String::new(), String::new());
    while let Some((line_number, line)) = lines.next()? {
        let line = line.trim();
        // Not in the same text: it names itself once.
        if line.starts_with(BEGIN) && texts.last().is_some_and(|text| !text.drives.is_empty()) {
            texts.push(ListedDrives { line: line_number, ..ListedDrives::default() });
            section.clear();
        }
        let Some(ListedDrives { date, drives, .. }) = texts.last_mut() else { continue };
        if let Some(name) = line.strip_prefix("-- ") {
            section = name.trim_end_matches('-').trim().to_owned();
        } else if line.starts_with("-----") {
            section.clear();
        } else if let Some(listed) = line.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            number = listed.0.trim().trim_start_matches('0').to_owned();
        } else if let Some((label, value)) = line.split_once(" : ").filter(|_| section.is_empty()) {
            match (label.trim(), drives.last_mut()) {
                ("Date", None) => *date = when::stamp(value),
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
                "S.M.A.R.T." if line.starts_with(attributes::TITLE) => drive.is_nvme_table = true,
                "S.M.A.R.T." if drive.is_nvme_table => drive.attributes.take(line),
                _ => {}
            }
        }
    }
    let mut readings = Vec::new();
    check_choice(file, &texts, wanted)?;
    let last = texts.len() - 1;
    for (index, text) in texts.iter().enumerate() {
        // It need not be there all the time.
        let in_question = |drive: &&DriveText| wanted.is_none_or(|wanted| drive.is(wanted));
        let Some(drive) = text.drives.iter().find(in_question) else { continue };
        let when = text.date.map_or(When::Never, |stamp| When::Local(stamp.seconds));
        let mut reading = HealthReading::new(file, when);
        (reading.model, reading.serial) = (drive.fact("Model"), drive.serial());
        let told = drive.tell(&mut reading);
        match (told, readings.last_mut()) {
            (Ok(()), _) => readings.push(reading),
            // The file may end within a text.
            (Err(_), Some(before)) if index == last => {
                let before: &mut HealthReading = before;
                let file = Some(file.to_owned());
                before.caveats.push(Caveat::Truncated {
                    file,
                    line: text.line,
                    left_out: CutOff::LastReading,
                });
            }
            (Err(why), _) => return Err(ImportError::whole(file, format!("{}: {why}", drive.name()))),
        }
    }
    Ok(readings)
}

/// The drives of one text.
#[derive(Default)]
struct ListedDrives {
    /// The line it begins in.
    line: usize,
    date: Option<when::Stamp>,
    drives: Vec<DriveText>,
}

/// The numbers of `digits` hexadecimal digits in a row of a dump: after its offset, and before its characters.
fn hex(line: &str, digits: usize) -> impl Iterator<Item = u16> + '_ {
    let row = line.split_once(": ").map_or("", |(_, row)| row);
    row.split(' ').take(16).map_while(move |word| {
        let is_hex = word.len() == digits && word.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_hex.then(|| u16::from_str_radix(word, 16).ok()).flatten()
    })
}

/// Refuses texts of no drive, of several where none is named, and of none that is.
fn check_choice(file: &str, texts: &[ListedDrives], wanted: Option<&str>) -> Result<(), ImportError> {
    let all = || texts.iter().flat_map(|text| &text.drives);
    // Each once, in the order of the first text.
    let list = || {
        let mut names: Vec<String> = Vec::new();
        for name in all().map(DriveText::name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    };
    let why = match wanted {
        _ if all().next().is_none() => "CrystalDiskInfo lists no drive in it".to_owned(),
        None if texts.iter().any(|text| text.drives.len() > 1) => {
            format!("it is of several drives ({}): name one with --device NUMBER", list())
        }
        Some(wanted) if !all().any(|drive| drive.is(wanted)) => super::device::nothing_of(wanted, &list()),
        _ => return Ok(()),
    };
    Err(ImportError::whole(file, why))
}

impl DriveText {
    fn fact(&self, label: &str) -> Option<String> {
        self.facts.iter().find(|(known, _)| known == label).map(|(_, value)| value.clone())
    }

    /// Life that is left, in percent: the number in brackets behind a word of the program's language.
    fn left_percent(&self) -> Option<f64> {
        let status = self.fact("Health Status")?;
        let inside = status.rsplit_once('(')?.1.split(['%', ')']).next()?;
        inside.trim().parse().ok().filter(|left| (0.0..=100.0).contains(left))
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

    /// Puts what it counts and its thresholds into a reading.
    fn tell(&self, reading: &mut HealthReading) -> Result<(), String> {
        if self.page.len() < PAGE_BYTES
            && let Some(page) = self.attributes.page()
        {
            let log = SmartLog::decode(&padded::<SMART_LOG_LEN>(page.iter().copied()))
                .map_err(|e| e.to_string())?;
            tell_log(&log, reading)?;
            self.leave_out_missing(reading);
            return Ok(());
        }
        if self.page.len() < PAGE_BYTES {
            let text = self.fact("Temperature");
            let kelvin =
                text.as_deref().and_then(kelvins_in).ok_or("it holds no temperature of this drive")?;
            reading.composite_k = Some(plausible(kelvin)?);
            let mut value = |label: &str, read: fn(&str) -> Option<f64>| {
                let text = self.fact(label).filter(|text| text.bytes().any(|byte| byte.is_ascii_digit()))?;
                let value = read(&text);
                if value.is_none() {
                    reading.odd.push(format!("{label} : {text}"));
                }
                value
            };
            reading.life.power_on_h = value("Power On Hours", numbers::whole);
            reading.moved = ["Host Reads", "Host Writes"].map(|label| value(label, bytes_in));
            reading.life.used_percent = self.left_percent().map(|left| 100.0 - left);
            return Ok(());
        }
        let log = SmartLog::decode(&padded::<SMART_LOG_LEN>(self.page.iter().copied()))
            .map_err(|error| error.to_string())?;
        tell_log(&log, reading)?;
        // The words of other drives mean something else.
        if self.identify.len() >= IDENTIFY_WORDS {
            let page = padded::<IDENTIFY_LEN>(self.identify.iter().flat_map(|word| word.to_le_bytes()));
            let identify = IdentifyController::decode(&page).map_err(|error| error.to_string())?;
            reading.facts.warning_k = kelvins(identify.warning_temperature)?;
            reading.facts.critical_k = kelvins(identify.critical_temperature)?;
            // Below the thresholds that may be set there is no plausible limit but that of the number.
            reading.facts.tmt_min_k = identify.hctm.min.map(|min| min.as_kelvin().into());
            reading.facts.tmt_max_k = kelvins(identify.hctm.max)?;
        }
        Ok(())
    }
}

impl DriveText {
    /// What has no row is not known: it is no zero.
    fn leave_out_missing(&self, reading: &mut HealthReading) {
        let known = |id: u8| self.attributes.has(id);
        reading.life.warning_min = reading.life.warning_min.filter(|_| known(0x10));
        reading.life.critical_min = reading.life.critical_min.filter(|_| known(0x11));
        if !known(0x08) || !known(0x09) {
            reading.life.host_commands = None;
        }
        if !known(0x1a) {
            reading.counters = Counters::default();
        }
        if !known(0x10) && !known(0x1a) {
            reading.untold = Some(attributes::NO_HEAT);
        }
    }
}

/// Kelvins of `45 C (113 F)` or `113 F`.
fn kelvins_in(text: &str) -> Option<f64> {
    let end = numbers::end_of_number(text);
    let Number::One(degrees, _) = numbers::number(&text[..end])? else { return None };
    let unit = text[end..].trim_start().trim_start_matches('°').trim_start();
    match unit.chars().next() {
        None | Some('C' | '℃') => Some(degrees + 273.0),
        Some('F' | '℉') => Some(((degrees - 32.0) / 1.8).round() + 273.0),
        Some('K') => Some(degrees),
        Some(_) => None,
    }
}

/// Bytes of `19073 GB`, `19,073 GB` or `18.6 TB`. A GB is counted whole.
fn bytes_in(text: &str) -> Option<f64> {
    let end = numbers::end_of_number(text);
    let unit = UNITS.iter().position(|unit| text[end..].trim() == *unit)?;
    let amount = match numbers::number(&text[..end])? {
        Number::One(amount, _) => Some(amount),
        Number::Either(amount, _) if unit < 2 => Some(1000.0 * amount),
        Number::Either(..) => None,
    };
    amount.filter(|amount| *amount >= 0.0).map(|amount| amount * MIB * 1024f64.powi(unit as i32))
}

fn tell_log(log: &SmartLog, reading: &mut HealthReading) -> Result<(), String> {
    reading.composite_k = kelvins(log.composite)?;
    for (told, sensor) in reading.sensors_k.iter_mut().zip(log.sensors) {
        *told = kelvins(sensor)?;
    }
    reading.counters = Counters {
        tmt1_transitions: Some(log.tmt1_transitions.into()),
        tmt2_transitions: Some(log.tmt2_transitions.into()),
        tmt1_seconds: Some(log.tmt1_seconds.into()),
        tmt2_seconds: Some(log.tmt2_seconds.into()),
    };
    reading.moved =
        [log.data_units_read, log.data_units_written].map(|units| Some(units.bytes_at_most() as f64));
    reading.life = LifeCounters {
        power_on_h: Some(log.power_on_hours as f64),
        warning_min: Some(log.warning_minutes.into()),
        critical_min: Some(log.critical_minutes.into()),
        used_percent: Some(log.percentage_used.into()),
        critical_warning: Some(log.critical_warning.bits()),
        spare_percent: Some(log.available_spare_percent.into()),
        spare_threshold_percent: Some(log.spare_threshold_percent.into()),
        host_commands: Some(log.host_reads as f64 + log.host_writes as f64),
        media_errors: Some(log.media_errors as f64),
        ..LifeCounters::default()
    };
    Ok(())
}

/// The bytes with zeros behind them, which mean "not reported", and without what is beyond the structure.
fn padded<const LEN: usize>(bytes: impl Iterator<Item = u8>) -> [u8; LEN] {
    let mut page = [0; LEN];
    page.iter_mut().zip(bytes).for_each(|(at, byte)| *at = byte);
    page
}

fn kelvins(read: Option<Kelvin>) -> Result<Option<f64>, String> {
    read.map(|read| plausible(read.as_kelvin().into())).transpose()
}

/// A temperature that a drive can have, in kelvins.
fn plausible(k: f64) -> Result<f64, String> {
    let is_plausible = (COLDEST_K..HOTTEST_K).contains(&k);
    is_plausible
        .then_some(k)
        .ok_or_else(|| format!("{k} K is no temperature of a drive: the text was changed"))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn amounts_and_temperatures_are_read_in_their_units() {
        const GIB: f64 = 1024.0 * MIB;
        for (text, bytes) in [
            ("512 GB", Some(512.0 * GIB)),
            ("19,073 GB", Some(19_073.0 * GIB)),
            ("19.073 GB", Some(19_073.0 * GIB)),
            ("19\u{202f}073 GB", Some(19_073.0 * GIB)),
            ("18.6 TB", Some(18.6 * 1024.0 * GIB)),
            ("18,62 TB", Some(18.62 * 1024.0 * GIB)),
            ("900 MB", Some(900.0 * MIB)),
            ("18.600 TB", None),
            ("512", None),
            ("512 GiB/s", None),
        ] {
            assert_eq!(bytes_in(text), bytes, "{text}");
        }
        for (text, kelvin) in [
            ("45 C (113 F)", Some(318.0)),
            ("113 F", Some(318.0)),
            ("45 °C", Some(318.0)),
            ("45", Some(318.0)),
            ("-- C", None),
            ("45 x", None),
        ] {
            assert_eq!(kelvins_in(text), kelvin, "{text}");
        }
    }
}
