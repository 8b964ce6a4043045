//! What was seen of a slow stretch: speeds, temperatures, settings, counters.

use measure::{Bytes, BytesPerSec, Kelvin};

use super::{Seen, Sources};
use crate::cause::Judged;
use crate::findings::SegmentOp;
use crate::wording::degrees;

/// What was seen, in numbers and in sentences.
pub(super) fn seen(evidence: &Sources, judged: &Judged) -> Seen {
    let stretch = evidence.stretch(judged);
    let op = stretch.op;
    let first = &evidence.pieces[judged.drop.first];
    let during = evidence.heat.within(judged.start_s, judged.end_s);
    let kelvin = || during.iter().map(|point| point.value);
    let settings = evidence.trace.settings_at(judged.start_s);
    let mut seen = Seen {
        op,
        phase: evidence.trace.phases[stretch.phase].name.clone(),
        start_s: judged.start_s,
        end_s: judged.end_s,
        recovered: judged.drop.recovered,
        gradual: first.gradual || !judged.drop.sharp,
        before_bytes_per_s: judged.drop.before,
        during_bytes_per_s: judged.drop.level,
        temp_start_k: judged.onset_k,
        temp_max_k: kelvin().max_by(f64::total_cmp),
        temp_min_k: kelvin().min_by(f64::total_cmp),
        temp_end_k: evidence.heat.nearest_k(judged.end_s),
        tmt1_k: settings.and_then(|settings| settings.tmt1_k),
        tmt2_k: settings.and_then(|settings| settings.tmt2_k),
        power_state: settings.and_then(|settings| settings.power_state),
        tmt1_counted: judged.counted.tmt1,
        tmt2_counted: judged.counted.tmt2,
        written_bytes: judged.written_bytes,
        sentences: Vec::new(),
    };
    seen.sentences = vec![speed(&seen), temperature(&seen), settings_then(&seen), counters(&seen)];
    if matches!(op, SegmentOp::Write | SegmentOp::Mixed) {
        let written = Bytes::new(seen.written_bytes as u64);
        seen.sentences
            .push(format!("{written} had been written since the fast cache was last taken to be empty."));
    }
    seen
}

fn speed(seen: &Seen) -> String {
    let load = match seen.op {
        SegmentOp::Read => "reading",
        SegmentOp::Write => "writing",
        SegmentOp::Mixed => "mixed load",
        SegmentOp::Trim => "deallocating",
        SegmentOp::Idle => "idle time",
    };
    let during = BytesPerSec::new(seen.during_bytes_per_s);
    let mut text = match seen.before_bytes_per_s {
        Some(before) => {
            let way = if seen.gradual { "gave way bit by bit" } else { "fell at once" };
            let share = seen.during_bytes_per_s / before * 100.0;
            let before = BytesPerSec::new(before);
            let (phase, start_s) = (&seen.phase, seen.start_s);
            format!(
                "At {start_s:.1} s, {load} in the phase `{phase}`, speed {way}: from {before} to {during}, which is {share:.0} %."
            )
        }
        None => format!(
            "At {:.1} s, {load} in the phase `{}` began at {during}; no faster speed of that load is known.",
            seen.start_s, seen.phase
        ),
    };
    let span_s = seen.end_s - seen.start_s;
    text.push_str(&match seen.recovered {
        true => format!(" It came back after {span_s:.1} s."),
        false => format!(" It stayed so for {span_s:.1} s, up to the end of the load."),
    });
    text
}

fn temperature(seen: &Seen) -> String {
    let (Some(start), Some(low), Some(high), Some(end)) =
        (seen.temp_start_k, seen.temp_min_k, seen.temp_max_k, seen.temp_end_k)
    else {
        return match seen.temp_start_k {
            Some(start) => format!("The drive was at {} when it began.", degrees(start)),
            None => "There is no temperature near it that says anything.".to_owned(),
        };
    };
    format!(
        "The drive was at {} when it began, between {} and {} meanwhile, and at {} when it ended.",
        degrees(start),
        degrees(low),
        degrees(high),
        degrees(end)
    )
}

fn settings_then(seen: &Seen) -> String {
    let threshold = |name: &str, kelvin: Option<u16>| match kelvin {
        None => format!("{name} is not known"),
        Some(0) => format!("{name} was disabled"),
        Some(kelvin) => format!("{name} was {}", Kelvin::from_kelvin(kelvin)),
    };
    let mut parts = vec![threshold("TMT1", seen.tmt1_k), threshold("TMT2", seen.tmt2_k)];
    parts.extend(seen.power_state.map(|state| format!("the power state was {state}")));
    format!("{}.", parts.join(", "))
}

fn counters(seen: &Seen) -> String {
    let counter = |name: &str, counted: Option<u64>| match counted {
        None => format!("those of {name} are not known"),
        Some(0) => format!("those of {name} stood still"),
        Some(by) => format!("those of {name} moved by {by}"),
    };
    if seen.tmt1_counted.is_none() && seen.tmt2_counted.is_none() {
        return "The drive's counters of TMT1 and TMT2 are not known.".to_owned();
    }
    format!(
        "Of the drive's counters (transitions and seconds) around that moment, {} and {}.",
        counter("TMT1", seen.tmt1_counted),
        counter("TMT2", seen.tmt2_counted)
    )
}
