//! What was seen of a slow stretch: speeds, temperatures, settings, counters.

use measure::{Bytes, BytesPerSec, Kelvin};

use super::{Seen, Sources};
use crate::cause::Judged;
use crate::cause::evidence::Weighing;
use crate::findings::SegmentOp;
use crate::observation::Observation;
use crate::wording::degrees;

/// What was seen, in numbers and in sentences.
pub(super) fn seen(evidence: &Sources, judged: &Judged) -> Seen {
    let stretch = evidence.stretch(judged);
    let op = stretch.op;
    let first = &evidence.pieces[judged.drop.first];
    let during = evidence.heat.within(judged.start_s, judged.end_s);
    let kelvin = || during.iter().map(|point| point.value);
    let settings = evidence.trace.settings_at(judged.start_s);
    let fell_slowly = |of: &Weighing| {
        matches!(
            of.observation,
            Observation::FellSlowly { .. }
                | Observation::SankThoughCooled { .. }
                | Observation::SankAlready { .. }
        )
    };
    let slowly = judged.evidence.weighings().iter().any(fell_slowly);
    let mut seen = Seen {
        op,
        phase: evidence.trace.phases[stretch.phase].name.clone(),
        start_s: judged.start_s,
        end_s: judged.end_s,
        recovered: judged.drop.recovered,
        gradual: first.gradual || !judged.drop.sharp || slowly,
        before_bytes_per_s: judged.drop.before,
        during_bytes_per_s: judged.drop.level,
        temp_start_k: judged.temp_k(),
        temp_max_k: kelvin().max_by(f64::total_cmp),
        temp_min_k: kelvin().min_by(f64::total_cmp),
        temp_end_k: judged.release_k.or_else(|| evidence.heat.nearest_k(judged.end_s)),
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
            .push(format!("{written} had been written since the SLC cache was last assumed empty."));
    }
    seen
}

fn speed(seen: &Seen) -> String {
    let load = match seen.op {
        SegmentOp::Read => "reads",
        SegmentOp::Write => "writes",
        SegmentOp::Mixed => "mixed I/O",
        SegmentOp::Trim => "deallocate",
        SegmentOp::Idle => "idle",
    };
    let during = BytesPerSec::new(seen.during_bytes_per_s);
    let mut text = match seen.before_bytes_per_s {
        Some(before) => {
            let way = if seen.gradual { "fell gradually" } else { "fell in one step" };
            let share = seen.during_bytes_per_s / before * 100.0;
            let before = BytesPerSec::new(before);
            let (phase, start_s) = (&seen.phase, seen.start_s);
            format!(
                "At {start_s:.1} s ({load}, phase `{phase}`) speed {way} from {before} to {during} ({share:.0} %)."
            )
        }
        None => format!(
            "At {:.1} s {load} in phase `{}` started at {during}; no faster speed is known for this load.",
            seen.start_s, seen.phase
        ),
    };
    let span_s = seen.end_s - seen.start_s;
    text.push_str(&match seen.recovered {
        true => format!(" It recovered after {span_s:.1} s."),
        false => format!(" It stayed there for {span_s:.1} s, to the end of the load."),
    });
    text
}

fn temperature(seen: &Seen) -> String {
    let (Some(start), Some(low), Some(high), Some(end)) =
        (seen.temp_start_k, seen.temp_min_k, seen.temp_max_k, seen.temp_end_k)
    else {
        return match seen.temp_start_k {
            Some(start) => format!("Temperature: {} at the onset.", degrees(start)),
            None => "No usable temperature near the onset.".to_owned(),
        };
    };
    format!(
        "Temperature: {} at the onset, {} to {} during, {} at the end.",
        degrees(start),
        degrees(low),
        degrees(high),
        degrees(end)
    )
}

fn settings_then(seen: &Seen) -> String {
    let threshold = |name: &str, kelvin: Option<u16>| match kelvin {
        None => format!("{name} unknown"),
        Some(0) => format!("{name} disabled"),
        Some(kelvin) => format!("{name} {}", Kelvin::from_kelvin(kelvin)),
    };
    let mut parts = vec![threshold("TMT1", seen.tmt1_k), threshold("TMT2", seen.tmt2_k)];
    parts.extend(seen.power_state.map(|state| format!("power state {state}")));
    format!("{}.", parts.join(", "))
}

fn counters(seen: &Seen) -> String {
    let counter = |name: &str, counted: Option<u64>| match counted {
        None => format!("{name} unknown"),
        Some(0) => format!("{name} did not move"),
        Some(by) => format!("{name} moved by {by}"),
    };
    if seen.tmt1_counted.is_none() && seen.tmt2_counted.is_none() {
        return "TMT counters: unknown.".to_owned();
    }
    format!(
        "TMT counters (transitions and seconds) around the onset: {}, {}.",
        counter("TMT1", seen.tmt1_counted),
        counter("TMT2", seen.tmt2_counted)
    )
}
