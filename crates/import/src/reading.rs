//! Single readings of a drive's health, from `nvme smart-log`, smartctl and their like, to one series.
//!
//! Rules for the time of a reading, the first that it has
//! 1. what it says itself (`local_time` of smartctl, `timestamp` beside the keys of nvme-cli), in seconds since 1970, or a
//!    line before it that is a time, as `date` writes it;
//! 2. a time in the file's name ([`super::file_time`]);
//! 3. `--every`: readings are that far apart, in the order of the files and in the files;
//! 4. when the file was last written, with a caveat; where that contradicts dates in all files' names, as of files that were
//!    copied, those dates.
//!
//! Readings of two drives (by serial number; where those are not told, by the device's name, in the reading or in the file's
//! name, and by the model) are refused. Data counted by the
//! drive gives speeds where nothing better does: differences between readings, in the drive's own steps, where there are three
//! and more of them within ten minutes of one another.

mod times;

use measure::Series;
use serde_json::Value;

use super::json::JsonDocuments;
use super::lines::LineReader;
use super::monitor::when::Stamp;
use super::part::{CountedBy, RunPart};
use super::which_drive::one_drive;
use super::{ImportError, ImportOptions};
use times::{give_times, seconds};
use trace::SegmentOp;
use trace::caveat::{Caveat, CutOff};
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

impl From<Stamp> for When {
    fn from(told: Stamp) -> Self {
        if told.is_utc { Self::Unix(told.seconds) } else { Self::Local(told.seconds) }
    }
}

/// What one document of a tool tells.
#[derive(Clone, Debug)]
pub(super) struct HealthReading {
    pub(super) file: String,
    pub(super) when: When,
    /// The same by the clock of the place, where the reading tells both.
    pub(super) local: Option<When>,
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
    /// The device that it was read from, without folder and namespace: `nvme0`, `sda [SAT]`.
    pub(super) device: Option<String>,
    /// Temperatures that the drive kept itself: how many seconds before the reading, and kelvins.
    pub(super) history: Vec<(f64, Option<f64>)>,
    /// Whether it is a reading at all: identify data is about the drive, not about a moment.
    pub(super) is_moment: bool,
    pub(super) caveats: Vec<Caveat>,
    /// The line before it that looks like a time and was not understood.
    pub(super) unread_time: Option<String>,
    /// Why it says nothing of the drive: an error where no reading says anything, else a gap.
    pub(super) lacks: Option<ImportError>,
    /// Counters that say no number of things, with what they say: left out.
    pub(super) odd: Vec<String>,
    /// What the tool does not tell, though the drive may, and what does.
    pub(super) untold: Option<&'static str>,
}

impl HealthReading {
    pub(super) fn has_temperature(&self) -> bool {
        self.composite_k.is_some() || self.sensors_k != [None; 8] || !self.history.is_empty()
    }

    /// Whether it says anything of the drive's life: a temperature alone does not.
    pub(super) fn counts_its_life(&self) -> bool {
        let limits = LifeCounters { trip_k: self.life.trip_k, ..LifeCounters::default() };
        self.life != limits || self.moved != [None; 2] || !self.history.is_empty()
    }

    /// Takes the time that stands in a line of its own before it, unless it has one.
    pub(super) fn take_time(&mut self, told: Option<Stamp>) {
        if let (When::Never, Some(told)) = (self.when, told) {
            self.when = When::from(told);
        }
    }

    /// Whether both have a time of the same kind.
    fn is_timed_as(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.when) == std::mem::discriminant(&other.when)
    }

    pub(super) fn new(file: &str, when: When) -> Self {
        Self {
            file: file.to_owned(),
            when,
            local: None,
            composite_k: None,
            sensors_k: [None; 8],
            counters: Counters::default(),
            moved: [None; 2],
            power_w: None,
            life: LifeCounters::default(),
            facts: Facts::default(),
            model: None,
            serial: None,
            device: None,
            history: Vec::new(),
            is_moment: true,
            caveats: Vec::new(),
            unread_time: None,
            lacks: None,
            odd: Vec::new(),
            untold: None,
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
    let mut documents = JsonDocuments::new(file, lines).torn_or_not();
    let mut readings = Vec::new();
    while let Some(document) = documents.next()? {
        let (line, told, unread_time) = (document.line, document.time_before, document.unread_time.clone());
        for object in document.objects()? {
            let mut reading = read(&object).map_err(|(key, why)| ImportError::at(file, line, key, why))?;
            reading.take_time(told);
            reading.unread_time.clone_from(&unread_time);
            if let Some(why) = &mut reading.lacks {
                why.line = Some(line);
            }
            readings.push(reading);
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
    one_drive(&mut readings, options.device.as_deref())?;
    add_facts(&mut readings, &mut trace);
    tell_odd(&readings, &mut trace);
    if readings.iter().all(|reading| reading.untold.is_some()) {
        trace.notes.extend(readings.first().and_then(|reading| reading.untold).map(str::to_owned));
    }
    if readings.iter().all(|reading| !reading.is_moment) {
        trace.notes.push(limits(&trace.facts));
    }
    readings.retain(|reading| reading.is_moment);
    leave_out_empty(&mut readings, &mut trace)?;
    let clock = give_times(&mut readings, &mut trace, options)?;
    let zero_s = clock.zero_s();
    let timed: Vec<(f64, HealthReading)> = readings
        .into_iter()
        .map(|reading| {
            let t = if reading.when == When::Never { 0.0 } else { seconds(&reading) - zero_s };
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
            serial: reading.serial.clone(),
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

fn add_facts(readings: &mut [HealthReading], trace: &mut Trace) {
    for reading in readings {
        if let Some(model) = &reading.model {
            trace.name.clone_from(model);
        }
        let facts = &mut trace.facts;
        facts.warning_k = facts.warning_k.or(reading.facts.warning_k);
        facts.critical_k = facts.critical_k.or(reading.facts.critical_k);
        facts.capacity_bytes = facts.capacity_bytes.or(reading.facts.capacity_bytes);
        facts.tmt_min_k = facts.tmt_min_k.or(reading.facts.tmt_min_k);
        facts.tmt_max_k = facts.tmt_max_k.or(reading.facts.tmt_max_k);
        for caveat in reading.caveats.drain(..) {
            if !trace.caveats.contains(&caveat) {
                trace.caveats.push(caveat);
            }
        }
    }
}

/// What identify data without a reading says of heat.
fn limits(facts: &Facts) -> String {
    let degrees = |k: f64| format!("{:.0} °C", k - 273.0);
    let one = |name: &str, k: Option<f64>| k.map(|k| format!("{name} {}", degrees(k)));
    let range = facts.tmt_min_k.zip(facts.tmt_max_k);
    let range = range.map(|(min, max)| format!("TMT1 and TMT2 from {} to {}", degrees(min), degrees(max)));
    let known = [one("WCTEMP", facts.warning_k), one("CCTEMP", facts.critical_k), range];
    let known: Vec<String> = known.into_iter().flatten().collect();
    let said = if known.is_empty() { "no threshold".to_owned() } else { known.join(", ") };
    format!("identify data alone ({said}), which say nothing of a moment: add `nvme smart-log -o json`")
}

/// Says what was left out as it is no count; of many readings one is shown.
fn tell_odd(readings: &[HealthReading], trace: &mut Trace) {
    let mut all = readings.iter().filter(|reading| !reading.odd.is_empty());
    let Some(first) = all.next() else { return };
    let more = match all.count() {
        0 => String::new(),
        n => format!(", and the like in {n} more readings"),
    };
    trace.notes.push(format!(
        "{}: values that cannot be, left out: {}{more}",
        first.file,
        first.odd.join(", ")
    ));
}

/// Refuses readings of which none says anything. Among others, one that says nothing is a gap where it has a time as they
/// have, and else left out.
fn leave_out_empty(readings: &mut Vec<HealthReading>, trace: &mut Trace) -> Result<(), ImportError> {
    let Some(good) = readings.iter().find(|reading| reading.lacks.is_none()).cloned() else {
        return readings.iter().find_map(|reading| reading.lacks.clone()).map_or(Ok(()), Err);
    };
    let count = readings.len();
    readings.retain(|reading| reading.lacks.is_none() || reading.is_timed_as(&good));
    if readings.len() < count {
        let left_out = count - readings.len();
        trace.notes.push(format!("readings with neither a temperature nor a time: {left_out}, left out"));
    }
    Ok(())
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

/// The drive's own temperature, with what it kept itself.
fn composite(timed: &[(f64, HealthReading)]) -> Series<f64> {
    let mut all: Vec<(f64, Option<f64>)> = timed.iter().map(|(t, r)| (*t, r.composite_k)).collect();
    // A newer history holds what an older one has of the same time.
    let mut from_s = f64::INFINITY;
    for (t, reading) in timed.iter().rev() {
        let slots = kept(*t, reading);
        all.extend(slots.iter().filter(|slot| slot.0 < from_s));
        from_s = slots.first().map_or(from_s, |oldest| from_s.min(oldest.0));
    }
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

/// The history beside a reading, oldest first: times and temperatures. Its newest slot is of any time since the one before, and of that of
/// the reading where both say the same.
fn kept(t: f64, reading: &HealthReading) -> Vec<(f64, Option<f64>)> {
    let mut slots: Vec<(f64, Option<f64>)> =
        reading.history.iter().map(|(ago_s, value)| (t - ago_s, *value)).collect();
    if let [.., before, newest] = slots.as_mut_slice()
        && newest.0 >= t
        && newest.1.is_some()
        && newest.1 != reading.composite_k
    {
        newest.0 -= 0.5 * (newest.0 - before.0);
    }
    slots
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
