//! Parts of one run on one clock.
//!
//! Rules
//! - The part whose speeds are used leads: speeds of the load itself, else of the operating system, else of the drive;
//!   of several alike the first named.
//! - Parts with the same kind of clock (seconds since 1970; local times) are joined as they are. `--offset` is added.
//! - Any other part begins where the leading one does, plus its `--offset`; without one the offset is estimated
//!   ([`super::offset`]), with a caveat; where that is not possible, it is asked for.
//! - Speeds are never summed over parts: two loads on one drive at one time are refused. One after the other they
//!   are one run. Two programs that watched one machine and counted as much in the time that both saw are the same load:
//!   of the second one all but the speeds is taken.
//! - Time 0 is the beginning of whatever begins first.

use measure::Series;

use super::ImportError;
use super::offset::{Estimate, estimate};
use super::part::{CountedBy, RunPart};
use trace::Caveat;
use trace::{Interval, Phase, SegmentOp, SpeedSeries, Temperature, Trace, instant};

/// Parts may overlap by this without being two loads at once: the last window of one.
const SAME_TIME_S: f64 = 1.0;
/// Two programs that count one load differ by less than this share of it: their rows begin at other times, and their MB are
/// of 10^6 or 2^20 bytes.
const SAME_LOAD: f64 = 0.1;

/// The trace of all parts.
///
/// # Errors
/// When an offset names no part, has to be told, or two loads overlap.
pub(super) fn join(parts: Vec<RunPart>, offsets: &[(String, f64)]) -> Result<Trace, ImportError> {
    for (name, _) in offsets {
        if !parts.iter().any(|part| part.is_named(name)) {
            let files: Vec<&str> = parts.iter().flat_map(|part| &part.files).map(String::as_str).collect();
            let why = format!("--offset names it, but the files are {}", files.join(", "));
            return Err(ImportError::whole(name, why));
        }
    }
    let lead = leading(&parts);
    let mut caveats = Vec::new();
    let mut shifts = Vec::new();
    let given_s =
        |part: &RunPart| offsets.iter().find(|(name, _)| part.is_named(name)).map(|(_, offset_s)| *offset_s);
    let lead_s = given_s(&parts[lead]).unwrap_or(0.0);
    for (index, part) in parts.iter().enumerate() {
        let given = given_s(part);
        let shift_s = if index == lead {
            lead_s
        } else if part.clock.is_same_kind(parts[lead].clock) {
            part.clock.zero_s() - parts[lead].clock.zero_s() + given.unwrap_or(0.0)
        } else if let Some(offset_s) = given {
            offset_s
        } else {
            // Against the leading part's own clock, wherever that was told to begin.
            lead_s + estimated(&parts[lead], part, &mut caveats)?
        };
        shifts.push(shift_s);
    }
    let begin_s = |(part, shift_s): (&RunPart, &f64)| part.trace.begin_s().map(|begin_s| begin_s + shift_s);
    let first_s = parts.iter().zip(&shifts).filter_map(begin_s).fold(f64::INFINITY, f64::min);
    // A single part keeps its zero, and so does a run that begins after it: its own clock says when that was.
    let zero_s = if parts.len() == 1 { first_s.min(0.0) } else { first_s };
    let zero_s = if zero_s.is_finite() { zero_s } else { 0.0 };
    let best = parts[lead].source;
    let mut whole = Trace::empty(&parts[lead].trace.name);
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|index| *index != lead);
    let mut parts: Vec<Option<RunPart>> = parts.into_iter().map(Some).collect();
    for index in order {
        let Some(part) = parts[index].take() else { continue };
        add(&mut whole, part, shifts[index] - zero_s, best)?;
    }
    whole.caveats.extend(caveats);
    Ok(whole)
}

impl RunPart {
    fn is_named(&self, name: &str) -> bool {
        let below = |file: &String| {
            file.strip_prefix(name).is_some_and(|rest| name.ends_with('/') || rest.starts_with('/'))
        };
        self.files.iter().any(|file| file == name || below(file))
    }

    fn name(&self) -> &str {
        self.files.first().map_or("a file", String::as_str)
    }
}

/// The first part with the best source of speeds; the first of all where none has speeds.
fn leading(parts: &[RunPart]) -> usize {
    let with_speeds = (0..parts.len()).filter(|index| !parts[*index].trace.speeds.is_empty());
    with_speeds.min_by_key(|index| (parts[*index].source, *index)).unwrap_or(0)
}

/// The estimated shift of `part` against the leading one.
fn estimated(lead: &RunPart, part: &RunPart, caveats: &mut Vec<Caveat>) -> Result<f64, ImportError> {
    let asks = |why: &str| {
        let text = format!(
            "its times do not count from where those of {} do, and how far apart they are cannot be estimated: {why}. Say it: --offset {}=+0s if both began together",
            lead.name(),
            part.name()
        );
        ImportError::whole(part.name(), text)
    };
    let mut with_sensor = part.trace.clone();
    with_sensor.trust_a_sensor();
    let Some(temperature) = with_sensor.temperature() else {
        return Err(asks("it holds no temperature that could follow the speed"));
    };
    if lead.trace.speeds.is_empty() {
        return Err(asks("there is no speed that a temperature could follow"));
    }
    let Estimate { offset_s, uncertainty_s, explained } =
        estimate(&lead.trace.speeds, temperature).map_err(|why| asks(&why))?;
    let (lead, part) = (lead.name().to_owned(), part.name().to_owned());
    caveats.push(Caveat::ClockOffsetEstimated { lead, part, offset_s, uncertainty_s, explained });
    Ok(offset_s)
}

/// Adds a part's data, moved by `shift_s`.
fn add(whole: &mut Trace, part: RunPart, shift_s: f64, best: CountedBy) -> Result<(), ImportError> {
    let name = part.name().to_owned();
    let RunPart { source, mut trace, .. } = part;
    if source == best && source == CountedBy::System && is_same_load(&whole.speeds, &trace.speeds, shift_s) {
        whole.notes.push(format!(
            "speeds of {name} are those of {:?} once more: not used, what else is in it is",
            whole.name
        ));
    } else if source == best {
        let (speeds, phases) = (std::mem::take(&mut trace.speeds), std::mem::take(&mut trace.phases));
        add_speeds(whole, &name, speeds, phases, shift_s)?;
    } else if !trace.speeds.is_empty() {
        whole.notes.push(format!("speeds of {name} are not used: what the load itself saw is better"));
    }
    for temperature in trace.temperatures {
        add_temperature(whole, &name, temperature, shift_s);
    }
    let mut twice = Vec::new();
    if follow(&mut whole.counters, moved(trace.counters, shift_s)).is_err() {
        twice.push("throttle counters");
    }
    if whole.life.is_empty() {
        whole.life = trace.life;
        whole.life.iter_mut().for_each(|reading| reading.t_s += shift_s);
    }
    if follow(&mut whole.power_w, moved(trace.power_w, shift_s)).is_err() {
        twice.push("power");
    }
    if follow(&mut whole.busy, moved(trace.busy, shift_s)).is_err() {
        twice.push("how busy the drive was");
    }
    if follow(&mut whole.settings, moved(trace.settings, shift_s)).is_err() {
        twice.push("settings");
    }
    let unused =
        |what: &&str| format!("{what} of {name} are not used: another file has them for the same time");
    whole.notes.extend(twice.iter().map(unused));
    let (into, from) = (&mut whole.facts, trace.facts);
    into.simulated = into.simulated.or(from.simulated);
    into.link_bytes_per_s = into.link_bytes_per_s.or(from.link_bytes_per_s);
    into.warning_k = into.warning_k.or(from.warning_k);
    into.critical_k = into.critical_k.or(from.critical_k);
    into.tmt_min_k = into.tmt_min_k.or(from.tmt_min_k);
    into.tmt_max_k = into.tmt_max_k.or(from.tmt_max_k);
    into.capacity_bytes = into.capacity_bytes.or(from.capacity_bytes);
    into.slc_bytes = into.slc_bytes.or(from.slc_bytes);
    into.ambient_k = into.ambient_k.or(from.ambient_k);
    whole.io_errors = whole.io_errors.saturating_add(trace.io_errors);
    whole.notes.extend(trace.notes);
    whole.caveats.extend(trace.caveats);
    Ok(())
}

/// Whether two programs that watched one machine counted the same load: as much was read, and as much was written, in the time
/// that both saw.
fn is_same_load(known: &[SpeedSeries], new: &[SpeedSeries], shift_s: f64) -> bool {
    let span = |speeds: &[SpeedSeries], shift_s: f64| {
        let all = || speeds.iter().flat_map(|series| &series.intervals);
        let from_s = all().map(|one| one.start_s + shift_s).fold(f64::INFINITY, f64::min);
        (from_s, all().map(|one| one.end_s() + shift_s).fold(f64::NEG_INFINITY, f64::max))
    };
    let (a, b) = (span(known, 0.0), span(new, shift_s));
    let both = (a.0.max(b.0), a.1.min(b.1));
    if both.1 - both.0 <= SAME_TIME_S {
        return false;
    }
    let moved = |speeds: &[SpeedSeries], op: SegmentOp, shift_s: f64| -> f64 {
        let intervals = speeds.iter().filter(|series| series.op == op).flat_map(|series| &series.intervals);
        let within = |one: &Interval| {
            let (start_s, end_s) = (one.start_s + shift_s, one.end_s() + shift_s);
            let common_s = (end_s.min(both.1) - start_s.max(both.0)).max(0.0);
            if one.span_s > 0.0 { one.bytes * common_s / one.span_s } else { 0.0 }
        };
        intervals.map(within).sum()
    };
    let ops = [SegmentOp::Read, SegmentOp::Write];
    let pairs = ops.map(|op| (moved(known, op, 0.0), moved(new, op, shift_s)));
    let most = pairs.iter().map(|(a, b)| a.max(*b)).fold(0.0, f64::max);
    most > 0.0 && pairs.iter().all(|(a, b)| (a - b).abs() <= SAME_LOAD * most)
}

fn add_speeds(
    whole: &mut Trace,
    name: &str,
    speeds: Vec<SpeedSeries>,
    phases: Vec<Phase>,
    shift_s: f64,
) -> Result<(), ImportError> {
    let range = |speeds: &[SpeedSeries]| {
        let all = || speeds.iter().flat_map(|series| &series.intervals);
        let from_s = all().map(|i| i.start_s).fold(f64::INFINITY, f64::min);
        (from_s, all().map(|i| i.end_s()).fold(f64::NEG_INFINITY, f64::max))
    };
    let (here, new) = (range(&whole.speeds), range(&speeds));
    let new = (new.0 + shift_s, new.1 + shift_s);
    if new.0 < here.1 - SAME_TIME_S && new.1 > here.0 + SAME_TIME_S {
        let why = format!(
            "it holds speeds over the time of those of {:?}: two loads at once, or the same one twice; name one of them (jobs of one fio run are summed when their logs have the same name before _bw)",
            whole.name
        );
        return Err(ImportError::whole(name, why));
    }
    let first_phase = whole.phases.len() as u32;
    let is_first = whole.speeds.is_empty();
    let (had_phases, has_phases) = (is_first || !whole.phases.is_empty(), !phases.is_empty());
    for mut series in speeds {
        for interval in &mut series.intervals {
            interval.start_s += shift_s;
            interval.phase += first_phase;
        }
        let place = whole.speeds.iter().position(|known| known.op == series.op).unwrap_or(whole.speeds.len());
        match whole.speeds.get_mut(place) {
            Some(known) => known.intervals.extend(series.intervals),
            None => whole.speeds.push(series),
        }
        whole.speeds[place].intervals.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    }
    // Phases that only some parts have are none: they are then read off the speeds.
    if had_phases && has_phases {
        whole.phases.extend(phases.into_iter().map(|mut phase| {
            phase.start_s += shift_s;
            phase.end_s += shift_s;
            phase
        }));
    } else {
        whole.phases.clear();
    }
    Ok(())
}

fn add_temperature(whole: &mut Trace, file: &str, new: Temperature, shift_s: f64) {
    let kelvin = moved(new.kelvin, shift_s);
    let Some(known) = whole.temperatures.iter_mut().find(|known| known.name == new.name) else {
        whole.temperatures.push(Temperature { name: new.name, kelvin });
        return;
    };
    if let Err(kelvin) = follow(&mut known.kelvin, kelvin) {
        let name = format!("{} ({file})", new.name);
        whole.notes.push(format!(
            "{} is there twice over the same time: that of {file} is kept beside it",
            new.name
        ));
        whole.temperatures.push(Temperature { name, kelvin });
    }
}

/// Puts what comes after or before into one series; gives it back where both are of the same time.
fn follow<T: Clone>(known: &mut Series<T>, new: Series<T>) -> Result<(), Series<T>> {
    let ends = |series: &Series<T>| Some((series.points().first()?.t, series.points().last()?.t));
    let Some(after) = ends(&new) else { return Ok(()) };
    let Some(before) = ends(known) else {
        *known = new;
        return Ok(());
    };
    if after.0 <= before.1 && after.1 >= before.0 {
        return Err(new);
    }
    let (first, second) = if after.0 > before.1 { (&*known, &new) } else { (&new, &*known) };
    let mut both = Series::new();
    append(&mut both, first, 0.0);
    append(&mut both, second, 0.0);
    *known = both;
    Ok(())
}

/// A series with other times.
fn moved<T: Clone>(series: Series<T>, shift_s: f64) -> Series<T> {
    if shift_s == 0.0 {
        return series;
    }
    let mut result = Series::new();
    append(&mut result, &series, shift_s);
    result
}

fn append<T: Clone>(result: &mut Series<T>, series: &Series<T>, shift_s: f64) {
    let at = |t: measure::Instant| instant(t.as_secs_f64() + shift_s);
    let mut gaps = series.gaps().iter().peekable();
    for point in series.points() {
        while let Some(gap) = gaps.next_if(|gap| gap.from <= point.t) {
            push_gap(result, at(gap.from), at(gap.to), &gap.reason);
        }
        result.push(at(point.t), point.value.clone());
    }
    for gap in gaps {
        push_gap(result, at(gap.from), at(gap.to), &gap.reason);
    }
}

fn push_gap<T>(result: &mut Series<T>, from: measure::Instant, to: measure::Instant, reason: &str) {
    result.push_gap(from, reason);
    if to > from {
        result.push_gap(to, reason);
    }
}
