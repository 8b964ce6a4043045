//! When readings were taken, from all that tells it, and on which clock.
//!
//! The rules stand in the header of [`super`]; what is told in a reading or in a file's name is read elsewhere
//! ([`super::super::file_time`], [`super::super::monitor::line_time`]).

use super::super::file_time::date_in_name;
use super::super::part::TimeBase;
use super::super::{ImportError, ImportOptions, set_back};
use super::{HealthReading, When};
use trace::Trace;
use trace::caveat::{Caveat, ClockDoubt};

/// Files are written within so long of the dates in their names that both are as far apart: a day and a zone.
const DATE_OFF_S: f64 = 38.0 * 3600.0;

/// Gives every reading a time and sorts them; tells the clock of them all.
pub(super) fn give_times(
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
        let unread = reading.unread_time.as_ref().map_or_else(String::new, |line| {
            format!(" ({line} looks like a time and is not understood; `date -Is` writes one that is)")
        });
        let why = format!(
            "it holds readings that carry no time{unread}: say how far apart they are with --every TIME, such as --every 1s, or keep each in a file of its own with the time in its name"
        );
        return Err(ImportError::whole(&reading.file, why));
    }
    take_local(readings);
    if let Some(pair) = readings.windows(2).find(|pair| !pair[0].is_timed_as(&pair[1])) {
        let why = format!(
            "its time is of another kind than that of {} (told by the reading, by the file's name, or by when it was written): name all files alike",
            pair[0].file
        );
        return Err(ImportError::whole(&pair[1].file, why));
    }
    take_dates(readings, trace);
    order_copies(readings);
    keep_order(readings, trace);
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

/// The time of a reading, in seconds of its clock.
pub(super) fn seconds(reading: &HealthReading) -> f64 {
    match reading.when {
        When::Unix(t) | When::Local(t) | When::Written(t) => t,
        When::Never => 0.0,
    }
}

/// Takes the time by the clock of the place of all readings, where only some tell another one: of smartctl's JSON and its text, for
/// one.
fn take_local(readings: &mut [HealthReading]) {
    let is_local = |when: When| matches!(when, When::Local(_));
    let both = |reading: &HealthReading| is_local(reading.when) || reading.local.is_some_and(is_local);
    if !readings.iter().any(|reading| is_local(reading.when)) || !readings.iter().all(both) {
        return;
    }
    for reading in readings {
        if let Some(local) = reading.local.filter(|_| !is_local(reading.when)) {
            reading.when = local;
        }
    }
}

/// Takes the dates in the names of files in place of when these were written, where each has another date and they are not as
/// far apart as the dates: files that were copied.
fn take_dates(readings: &mut [HealthReading], trace: &mut Trace) {
    let dates: Option<Vec<f64>> = readings
        .iter()
        .map(|reading| match reading.when {
            When::Written(_) => date_in_name(&reading.file),
            _ => None,
        })
        .collect();
    let Some(mut dates) = dates.filter(|dates| dates.len() > 1) else { return };
    // Any time of day and any zone.
    let is_copied = |pair: (usize, usize)| {
        let (a, b) = (&readings[pair.0], &readings[pair.1]);
        ((seconds(b) - seconds(a)) - (dates[pair.1] - dates[pair.0])).abs() > DATE_OFF_S
    };
    if !(1..readings.len()).any(|index| is_copied((index - 1, index))) {
        return;
    }
    for (reading, date_s) in readings.iter_mut().zip(&dates) {
        reading.when = When::Local(*date_s);
    }
    dates.sort_by(f64::total_cmp);
    trace.caveats.push(Caveat::Clock(ClockDoubt::DatesInNames));
    if dates.windows(2).any(|pair| pair[0] == pair[1]) {
        trace
            .notes
            .push("several readings have one date in their names: which was first is not known".into());
    }
}

/// Orders readings by their hours powered on where their files were written closer together than those allow: they were copied,
/// by their names perhaps (`after`, `before`), and the times say nothing of which was first.
fn order_copies(readings: &mut [HealthReading]) {
    let times: Option<Vec<f64>> = readings
        .iter()
        .map(|reading| match (reading.when, reading.life.power_on_h) {
            (When::Written(t), Some(_)) => Some(t),
            _ => None,
        })
        .collect();
    let Some(mut times) = times else { return };
    let hours = |reading: &HealthReading| reading.life.power_on_h.unwrap_or(0.0);
    let spread = |all: &mut dyn Iterator<Item = f64>| {
        let (least, most) =
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), value| (l.min(value), m.max(value)));
        most - least
    };
    let apart_h = spread(&mut times.iter().copied()) / 3600.0;
    // So many whole hours take one less at least.
    if spread(&mut readings.iter().map(hours)) - 1.0 <= apart_h {
        return;
    }
    times.sort_by(f64::total_cmp);
    readings.sort_by(|a, b| hours(a).total_cmp(&hours(b)));
    for (reading, t) in readings.iter_mut().zip(times) {
        reading.when = When::Written(t);
    }
}

/// Undoes what was done to the clock while a file of several readings was written.
fn keep_order(readings: &mut [HealthReading], trace: &mut Trace) {
    for of_a_file in readings.chunk_by_mut(|a, b| a.file == b.file) {
        let mut seconds = Vec::with_capacity(of_a_file.len());
        for reading in of_a_file.iter() {
            match reading.when {
                When::Unix(t) | When::Local(t) => seconds.push(t),
                When::Written(_) | When::Never => return,
            }
        }
        let is_utc = matches!(of_a_file[0].when, When::Unix(_));
        trace.caveats.extend(set_back::undo(&of_a_file[0].file, &mut seconds, is_utc));
        for (reading, t) in of_a_file.iter_mut().zip(seconds) {
            reading.when = if matches!(reading.when, When::Unix(_)) { When::Unix(t) } else { When::Local(t) };
        }
    }
}
