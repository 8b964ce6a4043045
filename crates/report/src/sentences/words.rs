//! The fixed words of findings in plain English.

use analysis::findings::{Cause, EventKind, Label, PolicyClass, SegmentOp};

use crate::format;
use crate::view::{Level, LevelKind};

/// What a segment is.
pub const fn label(label: Label) -> &'static str {
    match label {
        Label::FullSpeed => "full speed",
        Label::Throttled => "throttled",
        Label::SlcExhausted => "write cache full",
        Label::Dip => "dip",
        Label::RateLimited => "limited by the plan",
        Label::Ramp => "ramp",
        Label::Idle => "idle",
        Label::Unknown => "slow, cause unknown",
    }
}

/// What happened.
pub const fn event_kind(kind: EventKind) -> &'static str {
    match kind {
        EventKind::ThrottleOnset => "throttling begins",
        EventKind::ThrottleRelease => "throttling ends",
        EventKind::SlcExhausted => "write cache full",
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
            Some(temperature) => format!("{text}, {} at {temperature}", kind.name()),
            None => format!("{text}, {}", kind.name()),
        }
    };
    match cause {
        Cause::HctmTmt1 => with_setting("light throttling set by the host", LevelKind::Tmt1),
        Cause::HctmTmt2 => with_setting("heavy throttling set by the host", LevelKind::Tmt2),
        Cause::Vendor => "the drive's own threshold".to_owned(),
        Cause::Thermal => "heat, but which threshold cannot be told".to_owned(),
        Cause::NotThermal => "not heat".to_owned(),
        Cause::Unknown => "unknown".to_owned(),
    }
}

/// A threshold of a policy, by whose it is.
pub(super) const fn level(cause: Cause) -> &'static str {
    match cause {
        Cause::HctmTmt1 => "light (TMT1)",
        Cause::HctmTmt2 => "heavy (TMT2)",
        Cause::Vendor => "the drive's own",
        Cause::Thermal | Cause::NotThermal | Cause::Unknown => "further",
    }
}

/// A kind of heat management.
pub const fn policy_class(class: PolicyClass) -> &'static str {
    match class {
        PolicyClass::None => "none seen, heat did not slow the drive down",
        PolicyClass::Relay => "relay (slow above one temperature, fast again below a lower one)",
        PolicyClass::TwoLevel => "two levels (light, then heavy until the lower threshold)",
        PolicyClass::Regulator => "regulator (speed follows temperature)",
        PolicyClass::DutyCycled => "duty-cycled regulator (speed follows temperature by bursts)",
        PolicyClass::Vendor => "the drive's own threshold, whatever is set",
        PolicyClass::Stop => "stop (no I/O until it has cooled)",
        PolicyClass::PreLimited => "limited already when a load began",
        PolicyClass::Undetermined => "undetermined: the data do not decide it",
    }
}

/// A kind of heat management in a word or two.
pub const fn policy_word(class: PolicyClass) -> &'static str {
    match class {
        PolicyClass::None => "none seen",
        PolicyClass::Relay => "relay",
        PolicyClass::TwoLevel => "two levels",
        PolicyClass::Regulator => "regulator",
        PolicyClass::DutyCycled => "duty-cycled",
        PolicyClass::Vendor => "the drive's own",
        PolicyClass::Stop => "stop",
        PolicyClass::PreLimited => "limited from the start",
        PolicyClass::Undetermined => "undetermined",
    }
}

/// An operation at the start of a sentence.
pub const fn doing(op: SegmentOp) -> &'static str {
    match op {
        SegmentOp::Read => "Reading",
        SegmentOp::Write => "Writing",
        SegmentOp::Mixed => "Mixed I/O",
        SegmentOp::Trim => "Deallocating",
        SegmentOp::Idle => "Idle time",
    }
}

/// Evidence as the end of a sentence: joined, small first letters where that is safe, no full stops.
pub(super) fn evidence(sentences: impl Iterator<Item = String>) -> String {
    let parts = sentences.map(|text| uncapitalised(text.trim_end_matches('.')));
    parts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
}

/// "The drive" becomes "the drive"; "TMT1" and "SLC" stay.
fn uncapitalised(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && (second.is_lowercase() || second == ' ') => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}
