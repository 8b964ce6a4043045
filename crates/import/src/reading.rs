//! Single readings of a drive's health, from `nvme smart-log`, smartctl and their like, to one series.
//!
//! Rules for the time of a reading, the first that it has
//! 1. what it says itself (`local_time` of smartctl, `timestamp` beside the keys of nvme-cli), in seconds since 1970;
//! 2. a time in the file's name: 9 to 19 digits are s, ms, µs or ns since 1970; `2026-11-21T10:20:30` in any of its
//!    usual spellings is a time of day, in UTC where it ends with Z and of an untold zone otherwise;
//! 3. `--every`: readings are that far apart, in the order of the files and in the files;
//! 4. when the file was last written, with a caveat.
//!
//! Readings of two drives (by serial number) are refused. Data counted by the drive gives speeds where nothing
//! better does: differences between readings, in the drive's own steps, where there are three and more of them within ten
//! minutes of one another.

use measure::Series;
use serde_json::Value;

use super::json::JsonDocuments;
use super::lines::LineReader;
use super::part::{CountedBy, RunPart, TimeBase};
use super::{ImportError, ImportOptions};
use trace::SegmentOp;
use trace::caveat::{Caveat, ClockDoubt, CutOff};
use trace::{Counters, Facts, Interval, LifeCounters, SpeedSeries, Temperature, Trace, instant};

/// Readings further apart than this show no load: throttling comes and goes between them unseen.
const LONGEST_STEP_S: f64 = 600.0;

/// When a reading was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum When {
    /// Seconds since 1970.
    Unix(f64),
    /// The same in an untold zone.
    Local(f64),
    /// The file's last writing, in seconds since 1970.
    Written(f64),
    /// Not told.
    Never,
}

/// What one document of a tool tells.
#[derive(Clone, Debug)]
pub(super) struct HealthReading {
    pub(super) file: String,
    pub(super) when: When,
    /// Composite temperature in kelvins.
    pub(super) composite_k: Option<f64>,
    pub(super) sensors_k: [Option<f64>; 8],
    pub(super) counters: Counters,
    /// Data moved in the drive's life, in bytes: read, written.
    pub(super) moved: [Option<f64>; 2],
    pub(super) power_w: Option<f64>,
    /// What it has counted over its life.
    pub(super) life: LifeCounters,
    pub(super) facts: Facts,
    /// Model and serial number.
    pub(super) model: Option<String>,
    pub(super) serial: Option<String>,
    /// Temperatures that the drive kept itself: how many seconds before the reading, and kelvins.
    pub(super) history: Vec<(f64, Option<f64>)>,
    /// Whether it is a reading at all: identify data is about the drive, not about a moment.
    pub(super) is_moment: bool,
    pub(super) caveats: Vec<Caveat>,
}

impl HealthReading {
    /// Whether it says anything of the drive's life: a temperature alone does not.
    fn counts_its_life(&self) -> bool {
        self.life != LifeCounters::default() || self.moved != [None; 2] || !self.history.is_empty()
    }

    pub(super) fn new(file: &str, when: When) -> Self {
        Self {
            file: file.to_owned(),
            when,
            composite_k: None,
            sensors_k: [None; 8],
            counters: Counters::default(),
            moved: [None; 2],
            power_w: None,
            life: LifeCounters::default(),
            facts: Facts::default(),
            model: None,
            serial: None,
            history: Vec::new(),
            is_moment: true,
            caveats: Vec::new(),
        }
    }
}

/// The readings in a file, one or many, each made from an object of its JSON; what is wrong with one stands at a key, if
/// any.
pub(super) fn from_documents(
    file: &str,
    lines: LineReader<'_>,
    read: impl Fn(&Value) -> Result<HealthReading, (Option<&'static str>, String)>,
) -> Result<Vec<HealthReading>, ImportError> {
    let mut documents = JsonDocuments::new(file, lines);
    let mut readings = Vec::new();
    while let Some(document) = documents.next()? {
        let line = document.line;
        for object in document.objects()? {
            readings.push(read(&object).map_err(|(key, why)| ImportError::at(file, line, key, why))?);
        }
    }
    if let (Some(line), Some(last)) = (documents.cut_short, readings.last_mut()) {
        let file = Some(file.to_owned());
        last.caveats.push(Caveat::Truncated { file, line, left_out: CutOff::LastReading });
    }
    Ok(readings)
}

/// The part that all readings make; `None` when there are none.
pub(super) fn part(
    mut readings: Vec<HealthReading>,
    options: &ImportOptions,
) -> Result<Option<RunPart>, ImportError> {
    let Some(first) = readings.first() else { return Ok(None) };
    let mut trace = Trace::empty(first.model.as_deref().unwrap_or(&first.file));
    let mut files: Vec<String> = readings.iter().map(|reading| reading.file.clone()).collect();
    files.dedup();
    one_drive(&readings)?;
    add_facts(&mut readings, &mut trace);
    readings.retain(|reading| reading.is_moment);
    let clock = give_times(&mut readings, &mut trace, options)?;
    let zero_s = clock.zero_s();
    let timed: Vec<(f64, HealthReading)> = readings
        .into_iter()
        .map(|reading| {
            let t = match reading.when {
                When::Unix(t) | When::Local(t) | When::Written(t) => t - zero_s,
                When::Never => 0.0,
            };
            (t, reading)
        })
        .collect();
    add_temperatures(&timed, &mut trace);
    add_moved(&timed, &mut trace);
    for (t, reading) in timed.iter().filter(|(_, reading)| reading.counts_its_life()) {
        let [read_bytes, written_bytes] = reading.moved;
        let throttling = reading.counters;
        trace.life.push(LifeCounters {
            t_s: *t,
            throttling,
            read_bytes,
            written_bytes,
            ..reading.life.clone()
        });
    }
    for (t, reading) in &timed {
        if reading.counters != Counters::default() {
            trace.counters.push(instant(*t), reading.counters);
        }
        if let Some(power_w) = reading.power_w {
            trace.power_w.push(instant(*t), power_w);
        }
    }
    Ok(Some(RunPart { files, source: CountedBy::Drive, clock, trace }))
}

fn one_drive(readings: &[HealthReading]) -> Result<(), ImportError> {
    let mut known: Option<&HealthReading> = None;
    for reading in readings.iter().filter(|reading| reading.serial.is_some()) {
        match known {
            Some(first) if first.serial != reading.serial => {
                let why = format!(
                    "it is of the drive with serial number {}, {} of that with {}: analyze one drive at a time",
                    reading.serial.as_deref().unwrap_or_default(),
                    first.file,
                    first.serial.as_deref().unwrap_or_default()
                );
                return Err(ImportError::whole(&reading.file, why));
            }
            Some(_) => {}
            None => known = Some(reading),
        }
    }
    Ok(())
}

fn add_facts(readings: &mut [HealthReading], trace: &mut Trace) {
    for reading in readings {
        if let Some(model) = &reading.model {
            trace.name.clone_from(model);
        }
        let facts = &mut trace.facts;
        facts.warning_k = facts.warning_k.or(reading.facts.warning_k);
        facts.critical_k = facts.critical_k.or(reading.facts.critical_k);
        facts.tmt_min_k = facts.tmt_min_k.or(reading.facts.tmt_min_k);
        facts.tmt_max_k = facts.tmt_max_k.or(reading.facts.tmt_max_k);
        for caveat in reading.caveats.drain(..) {
            if !trace.caveats.contains(&caveat) {
                trace.caveats.push(caveat);
            }
        }
    }
}

/// Gives every reading a time and sorts them; tells the clock of them all.
fn give_times(
    readings: &mut [HealthReading],
    trace: &mut Trace,
    options: &ImportOptions,
) -> Result<TimeBase, ImportError> {
    let untimed = |reading: &HealthReading| matches!(reading.when, When::Never | When::Written(_));
    if let Some(every_s) = options.every_s
        && readings.iter().any(untimed)
    {
        for (index, reading) in readings.iter_mut().enumerate() {
            reading.when = When::Local(index as f64 * every_s);
        }
        trace
            .notes
            .push(format!("readings carry no time: taken to be {every_s} s apart, as said by --every"));
        return Ok(TimeBase::Own);
    }
    let several = readings.len() > 1;
    if several && let Some(reading) = readings.iter().find(|reading| reading.when == When::Never) {
        let why = "it holds readings that carry no time: say how far apart they are with --every TIME, such as --every 1s, or keep each in a file of its own with the time in its name";
        return Err(ImportError::whole(&reading.file, why));
    }
    let same_kind = |a: &HealthReading, b: &HealthReading| {
        std::mem::discriminant(&a.when) == std::mem::discriminant(&b.when)
    };
    if let Some(pair) = readings.windows(2).find(|pair| !same_kind(&pair[0], &pair[1])) {
        let why = format!(
            "its time is of another kind than that of {} (told by the reading, by the file's name, or by when it was written): name all files alike",
            pair[0].file
        );
        return Err(ImportError::whole(&pair[1].file, why));
    }
    let seconds = |reading: &HealthReading| match reading.when {
        When::Unix(t) | When::Local(t) | When::Written(t) => t,
        When::Never => 0.0,
    };
    readings.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    // What a drive kept itself is older than the reading.
    let oldest =
        |reading: &HealthReading| reading.history.iter().map(|(ago_s, _)| *ago_s).fold(0.0, f64::max);
    let zero_s = readings.iter().map(|r| seconds(r) - oldest(r)).fold(f64::INFINITY, f64::min);
    let zero_s = if zero_s.is_finite() { zero_s } else { 0.0 };
    let same = readings.windows(2).filter(|pair| seconds(&pair[0]) >= seconds(&pair[1])).count();
    if same > 0 {
        trace.caveats.push(Caveat::Clock(ClockDoubt::SameTime { readings: same }));
    }
    Ok(match readings.first().map(|reading| reading.when) {
        Some(When::Unix(_)) => TimeBase::Unix { zero_s },
        Some(When::Local(_)) => TimeBase::Local { zero_s },
        Some(When::Written(_)) => {
            if several {
                trace.caveats.push(Caveat::Clock(ClockDoubt::FileTimes));
            }
            TimeBase::Unix { zero_s }
        }
        _ => TimeBase::Own,
    })
}

fn add_temperatures(timed: &[(f64, HealthReading)], trace: &mut Trace) {
    let mut add = |name: String, pick: &dyn Fn(&HealthReading) -> Option<f64>| {
        if timed.iter().all(|(_, reading)| pick(reading).is_none()) {
            return;
        }
        let mut kelvin = Series::new();
        for (t, reading) in timed {
            match pick(reading) {
                Some(k) => kelvin.push(instant(*t), k),
                None => kelvin.push_gap(instant(*t), "not reported"),
            }
        }
        trace.temperatures.push(Temperature { name, kelvin });
    };
    for sensor in 0..8 {
        add(format!("sensor{}", sensor + 1), &|reading| reading.sensors_k[sensor]);
    }
    let composite = composite(timed);
    if !composite.points().is_empty() {
        trace.temperatures.insert(0, Temperature { name: "composite".into(), kelvin: composite });
    }
}

/// The drive's own temperature, with what it kept itself: the newest history holds the older ones.
fn composite(timed: &[(f64, HealthReading)]) -> Series<f64> {
    let kept = timed.iter().rfind(|(_, reading)| !reading.history.is_empty());
    let kept = kept.iter().flat_map(|(t, r)| r.history.iter().map(move |(ago_s, value)| (t - ago_s, *value)));
    let mut all: Vec<(f64, Option<f64>)> =
        timed.iter().map(|(t, r)| (*t, r.composite_k)).chain(kept).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    // The newest slot of a history is the reading itself.
    all.dedup_by(|next, kept| next.0 <= kept.0 && (next.1.is_none() || kept.1.is_some()));
    let mut kelvin = Series::new();
    for (t, value) in all {
        match value {
            Some(k) => kelvin.push(instant(t), k),
            None => kelvin.push_gap(instant(t), "not reported"),
        }
    }
    kelvin
}

/// Speeds from what the drive counted, where readings follow one another as in a load. Two readings, or readings far apart,
/// tell what was moved between them, but no speed of a load.
fn add_moved(timed: &[(f64, HealthReading)], trace: &mut Trace) {
    for (which, op) in [SegmentOp::Read, SegmentOp::Write].into_iter().enumerate() {
        let counts: Vec<(f64, f64)> =
            timed.iter().filter_map(|(t, reading)| Some((*t, reading.moved[which]?))).collect();
        let intervals: Vec<Interval> = counts
            .windows(2)
            .filter(|pair| pair[1].0 > pair[0].0 && pair[1].0 - pair[0].0 <= LONGEST_STEP_S)
            .filter(|pair| pair[1].1 >= pair[0].1)
            .map(|pair| Interval {
                start_s: pair[0].0,
                span_s: pair[1].0 - pair[0].0,
                bytes: pair[1].1 - pair[0].1,
                phase: 0,
            })
            .collect();
        if intervals.len() > 1 && intervals.iter().any(|interval| interval.bytes > 0.0) {
            trace.speeds.push(SpeedSeries { op, intervals });
        }
    }
    if !trace.speeds.is_empty() {
        trace.notes.push("speeds are differences of what the drive counted (data units of 512,000 B)".into());
    }
}

/// The time in a file's name; see the header.
pub(super) fn time_in_name(file: &str) -> Option<When> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    if let Some(local) = date_in(name) {
        return Some(local);
    }
    let digits = name.split(|c: char| !c.is_ascii_digit());
    let longest = digits.max_by_key(|digits| digits.len())?;
    let number: f64 = longest.parse().ok()?;
    let unit = match longest.len() {
        9 | 10 => 1.0,
        12 | 13 => 1e3,
        15 | 16 => 1e6,
        18 | 19 => 1e9,
        _ => return None,
    };
    // Between the name and the digits of a fraction there may be a point: 1795246049.25.
    let fraction = name.split(longest).nth(1).and_then(|rest| rest.strip_prefix('.')).map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        format!("0.{digits}").parse::<f64>().unwrap_or(0.0)
    });
    Some(When::Unix(number / unit + fraction.unwrap_or(0.0)))
}

/// A date and time of day in `name`: year, month, day, hour, minute, second, with anything but letters and digits
/// between them, and `T` or `t` between the halves.
fn date_in(name: &str) -> Option<When> {
    let bytes = name.as_bytes();
    (0..bytes.len()).find_map(|start| {
        let mut at = start;
        let mut parts = [0.0; 6];
        for (index, (part, width)) in parts.iter_mut().zip([4, 2, 2, 2, 2, 2]).enumerate() {
            if index > 0 && bytes.get(at).is_some_and(|b| b"-_:. Tt".contains(b)) {
                at += 1;
            }
            let digits = bytes.get(at..at + width)?;
            if !digits.iter().all(u8::is_ascii_digit) {
                return None;
            }
            *part = std::str::from_utf8(digits).ok()?.parse().ok()?;
            at += width;
        }
        let outside = |b: Option<&u8>| b.is_none_or(|b| !b.is_ascii_digit());
        let [year, month, day, hour, minute, second] = parts;
        let is_date = (1990.0..2200.0).contains(&year)
            && (1.0..=12.0).contains(&month)
            && (1.0..=31.0).contains(&day)
            && hour < 24.0
            && minute < 60.0
            && second < 61.0;
        if !is_date
            || !outside(start.checked_sub(1).and_then(|before| bytes.get(before)))
            || !outside(bytes.get(at))
        {
            return None;
        }
        let seconds = days_since_1970(year as i64, month as i64, day as i64) as f64 * 86_400.0
            + hour * 3600.0
            + minute * 60.0
            + second;
        let zulu = bytes.get(at).is_some_and(|b| b"Zz".contains(b));
        Some(if zulu { When::Unix(seconds) } else { When::Local(seconds) })
    })
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, with years that begin in March so that the leap day is
/// their last.
pub(super) fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn names_tell_times() {
        assert_eq!(time_in_name("d/smart-1795246049.json"), Some(When::Unix(1_795_246_049.0)));
        assert_eq!(time_in_name("1795246049.250.json"), Some(When::Unix(1_795_246_049.25)));
        assert_eq!(time_in_name("1795246049250.json"), Some(When::Unix(1_795_246_049.25)));
        assert_eq!(time_in_name("nvme0-2026-11-21T10:20:30Z.json"), Some(When::Unix(1_795_256_430.0)));
        assert_eq!(time_in_name("smart_20261121_102030.json"), Some(When::Local(1_795_256_430.0)));
        assert_eq!(time_in_name("smart_20261121-10-20-30.json"), Some(When::Local(1_795_256_430.0)));
        assert_eq!(time_in_name("sensor-12.json"), None);
        assert_eq!(time_in_name("smart_20269921_102030.json"), None);
    }

    #[test]
    fn days_are_counted_over_leap_years() {
        assert_eq!(days_since_1970(1970, 1, 1), 0);
        assert_eq!(days_since_1970(2000, 3, 1), 11_017);
        assert_eq!(days_since_1970(2026, 11, 21), 20_778);
    }
}
