//! What a run did not show: a value that is `None` in the findings has a caveat that says why.
//!
//! Where a part is missing as a whole its own caveat says so (`policy_undetermined`, `thermal_not_identified`,
//! `no_temperature`); this is about single values beside others that are known.

use crate::findings::{Caveat, EventKind, Findings, PolicyClass, SegmentOp};
use trace::Trace;

/// One caveat for all of it; `None` where everything that can be asked was seen.
pub(crate) fn caveat(findings: &Findings, trace: &Trace) -> Option<Caveat> {
    let moved = |op: SegmentOp| {
        let series = trace.speeds.iter().filter(|series| series.op == op);
        series.flat_map(|series| &series.intervals).map(|interval| interval.bytes).sum::<f64>()
    };
    let (read, written) = (moved(SegmentOp::Read), moved(SegmentOp::Write));
    if read + written == 0.0 {
        return None;
    }
    let mut unseen: Vec<String> = Vec::new();
    if findings.slc_cache.is_none() {
        let why = match written {
            0.0 => "nothing was written".to_owned(),
            bytes if bytes < 1e9 => "less than 1 GB was written".to_owned(),
            _ if findings.events.iter().any(|event| event.kind == EventKind::SlcExhausted) => {
                "before it ended more than twice what is stated was written".to_owned()
            }
            bytes => format!("writing {:.0} GB was not seen to fill one", bytes / 1e9),
        };
        unseen.push(format!("how large a fast write cache is ({why})"));
    }
    let policy = &findings.policy;
    if !matches!(policy.class, PolicyClass::None | PolicyClass::Undetermined) {
        if policy.onset_k.is_none() {
            unseen.push("at which temperature slowing down begins".to_owned());
        }
        if policy.release_k.is_none() {
            unseen.push("at which temperature slowing down ends".to_owned());
        }
    }
    let thermal = &findings.thermal;
    let gains = [
        ("writing", "written", written, thermal.kelvin_per_gb_per_s_write),
        ("reading", "read", read, thermal.kelvin_per_gb_per_s_read),
    ];
    // Where neither is known, how load becomes temperature was not determined at all, and that is told.
    if gains.iter().any(|(.., gain)| gain.is_some()) {
        for (doing, done, bytes, _) in gains.into_iter().filter(|(.., gain)| gain.is_none()) {
            let why = if bytes > 0.0 {
                "the data do not decide it".to_owned()
            } else {
                format!("nothing was {done}")
            };
            unseen.push(format!("how {doing} warms the drive ({why})"));
        }
    }
    (!unseen.is_empty()).then(|| Caveat {
        kind: "not_seen".to_owned(),
        text: format!("Not seen in this run, and so not known: {}.", unseen.join("; ")),
    })
}
