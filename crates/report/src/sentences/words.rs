//! The fixed words of findings in plain English.

use analysis::findings::{Candidate, Cause, Event, EventKind, Label, PolicyClass, SegmentOp};

use crate::format;
use crate::view::{Level, LevelKind};

/// What a load is that ran at one speed, which no reference shows to be full speed.
pub(crate) const CONSTANT: &str = "constant";
/// What one is whose speed goes to and fro.
pub(crate) const UNSTEADY: &str = "unsteady";

/// What one is of which a single mean is known.
pub(crate) const ONE_MEAN: &str = "one mean";

/// What a pause is in a log that does not say what was asked for.
pub(crate) const NO_IO: &str = "no I/O";

/// What a time is in which a host asked for less than the drive can do.
pub(crate) const LIGHT_LOAD: &str = "light load";

/// What a segment is; [`super::Summary::states`] knows whether a full speed is known to be one.
pub const fn label(label: Label) -> &'static str {
    match label {
        Label::FullSpeed => "full speed",
        Label::Throttled => "throttled",
        Label::SlcExhausted => "SLC cache full",
        Label::Dip => "dip",
        Label::RateLimited => "rate-limited",
        Label::Ramp => "ramp",
        Label::Idle => "idle",
        // What caused it stands in the sentence of its event, with how sure that is.
        Label::Unknown => "slowdown",
        Label::Constant | Label::Slower => CONSTANT,
    }
}

/// What happened.
pub const fn event_kind(kind: EventKind) -> &'static str {
    match kind {
        EventKind::ThrottleOnset => "throttling onset",
        EventKind::ThrottleRelease => "throttling release",
        EventKind::SlcExhausted => "SLC cache full",
        EventKind::Dip => "dip",
        EventKind::ThermalShutdown => "thermal shutdown",
    }
}

/// The sign of an event in charts; none of them depends on colour.
pub(crate) const fn event_sign(kind: EventKind) -> char {
    match kind {
        EventKind::ThrottleOnset => '▼',
        EventKind::ThrottleRelease => '▲',
        EventKind::SlcExhausted => '■',
        EventKind::Dip => '◆',
        EventKind::ThermalShutdown => '✖',
    }
}

/// The same sign where only ASCII will do.
pub(crate) const fn event_sign_ascii(sign: char) -> char {
    match sign {
        '▼' => 'v',
        '▲' => '^',
        '■' => '#',
        '◆' => 'o',
        '✖' => 'X',
        _ => '?',
    }
}

/// A cause, with the threshold's setting where it is known.
pub fn cause(cause: Cause, levels: &[Level]) -> String {
    let with_setting = |text: &str, kind: LevelKind| {
        let level = levels.iter().find(|level| level.kind == kind);
        match level.map(|level| format::temperature(Some(f64::from(level.temp_k)))) {
            Some(temperature) => format!("{text} {} ({temperature})", kind.name()),
            None => format!("{text} {}", kind.name()),
        }
    };
    match cause {
        Cause::HctmTmt1 => with_setting("light throttling at", LevelKind::Tmt1),
        Cause::HctmTmt2 => with_setting("heavy throttling at", LevelKind::Tmt2),
        Cause::Vendor => "firmware threshold, independent of TMT1 and TMT2".to_owned(),
        Cause::Thermal => "heat; which threshold is not determined".to_owned(),
        Cause::NotThermal => "not heat".to_owned(),
        Cause::Unknown => "not determined".to_owned(),
    }
}

/// The cause of an event; where it is not determined, with what it may have been.
pub(crate) fn event_cause(event: &Event, levels: &[Level]) -> String {
    let cause = cause(event.cause, levels);
    if event.candidates.is_empty() {
        return cause;
    }
    format!("{cause}: {}", candidates(&event.candidates))
}

/// "a firmware threshold (49 %) or a full SLC cache (32 %)".
pub(super) fn candidates(candidates: &[Candidate]) -> String {
    let one = |one: &Candidate| format!("{} ({})", one.cause.name(), format::percent(one.probability));
    match candidates {
        [] => String::new(),
        [only] => one(only),
        [first @ .., last] => {
            format!("{} or {}", first.iter().map(one).collect::<Vec<_>>().join(", "), one(last))
        }
    }
}

/// A threshold of a policy, by whose it is and what it slows down; `nth` of several, from 0 on.
pub(super) fn level(cause: Cause, op: Option<SegmentOp>, nth: usize) -> String {
    let whose = whose(cause, nth);
    let of = match op {
        Some(SegmentOp::Read) => "reads",
        Some(SegmentOp::Write) => "writes",
        Some(SegmentOp::Mixed) => "mixed I/O",
        _ => return whose.to_owned(),
    };
    if cause == Cause::Thermal { of.to_owned() } else { format!("{whose} of {of}") }
}

const fn whose(cause: Cause, nth: usize) -> &'static str {
    match cause {
        Cause::HctmTmt1 => "light (TMT1)",
        Cause::HctmTmt2 => "heavy (TMT2)",
        Cause::Vendor => "firmware threshold",
        Cause::Thermal | Cause::NotThermal | Cause::Unknown if nth == 0 => "one threshold",
        Cause::Thermal | Cause::NotThermal | Cause::Unknown => "a further threshold",
    }
}

/// A relay whose onset and release are one temperature to whole kelvins.
pub(super) const NARROW_RELAY: &str = "relay (on at the onset, off less than 1 K from it)";

/// A kind of heat management.
pub const fn policy_class(class: PolicyClass) -> &'static str {
    match class {
        PolicyClass::None => "none observed",
        PolicyClass::Relay => "relay with hysteresis (on at the onset, off at the release temperature)",
        PolicyClass::TwoLevel => "two levels (light, then heavy until it has cooled)",
        PolicyClass::Regulator => "regulator (speed is controlled to hold a temperature)",
        PolicyClass::DutyCycled => "duty-cycled regulator (bursts and pauses hold a temperature)",
        PolicyClass::Vendor => "firmware threshold, independent of TMT1 and TMT2",
        PolicyClass::Stop => "stop (no I/O until cooled)",
        PolicyClass::PreLimited => "limited from the start of the load",
        PolicyClass::Undetermined => "not determined",
    }
}

/// Further kinds that act beside the first: ", throttled from the start of a load"; empty without any.
pub(crate) fn policy_also(also: &[PolicyClass]) -> String {
    let one = |class: &PolicyClass| match class {
        PolicyClass::PreLimited => ", throttled from the start of a load".to_owned(),
        other => format!(", and {}", policy_class(*other)),
    };
    also.iter().map(one).collect()
}

/// A kind of heat management in a word or two.
pub const fn policy_word(class: PolicyClass) -> &'static str {
    match class {
        PolicyClass::None => "none observed",
        PolicyClass::Relay => "relay",
        PolicyClass::TwoLevel => "two levels",
        PolicyClass::Regulator => "regulator",
        PolicyClass::DutyCycled => "duty-cycled",
        PolicyClass::Vendor => "firmware threshold",
        PolicyClass::Stop => "stop",
        PolicyClass::PreLimited => "limited from the start",
        PolicyClass::Undetermined => "not determined",
    }
}

/// An operation at the start of a sentence.
pub const fn doing(op: SegmentOp) -> &'static str {
    match op {
        SegmentOp::Read => "Reads",
        SegmentOp::Write => "Writes",
        SegmentOp::Mixed => "Mixed I/O",
        SegmentOp::Trim => "Deallocate",
        SegmentOp::Idle => "Idle",
    }
}
