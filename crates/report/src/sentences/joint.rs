//! The policy that several runs of one drive show, in sentences.

use std::collections::BTreeSet;

use analysis::findings::PolicyClass;
use analysis::joint::{Follows, JointMachine, JointPoint, JointPolicy};
use analysis::wording;

use super::{policy_also, policy_class, words};
use crate::format;

/// The policy, then a sentence a threshold, then what stays open; never empty.
pub fn joint_policy(joint: &JointPolicy) -> Vec<String> {
    let drive = joint.drive.as_ref().map(|drive| format!(" of {drive}")).unwrap_or_default();
    let simulated = if joint.simulated == Some(true) { ", all simulated" } else { "" };
    let mut text =
        format!("Throttling over {} runs{drive}{simulated}: {}", joint.runs.len(), policy_class(joint.class));
    text.push_str(&policy_also(&joint.also));
    if joint.class != PolicyClass::Undetermined {
        text.push_str(&format!(" (confidence {})", format::percent(joint.confidence)));
    }
    text.push('.');
    let mut sentences = vec![text];
    sentences.extend(joint.machines.iter().map(machine));
    sentences.extend(joint.open.iter().map(|open| wording::caveat_of(open, joint.simulated == Some(true))));
    sentences
}

fn machine(machine: &JointMachine) -> String {
    let at = match finite(machine.threshold_k) {
        Some(k) => format!(" at {}", format::temperature(Some(k))),
        None => between(machine),
    };
    let mut text = match machine.follows {
        Follows::Tmt1 => format!("A threshold follows TMT1{}", offset(machine.offset_k)),
        Follows::Tmt2 => format!("A threshold follows TMT2{}", offset(machine.offset_k)),
        Follows::Nothing => format!("Firmware threshold{at}, independent of TMT1 and TMT2"),
        Follows::Undetermined => format!("Threshold{at}; whether it follows TMT1 or TMT2 is not determined"),
    };
    if let Some(slope) = finite(machine.slope).and_then(|slope| format::number(slope, 2)) {
        text.push_str(&format!(", {slope} K for each kelvin of the setting"));
    }
    text.push_str(&format!(
        " (seen in {}, confidence {})",
        seen_in(machine),
        format::percent(machine.confidence)
    ));
    if machine.mechanism != PolicyClass::Undetermined {
        text.push_str(&format!("; {}", words::policy_word(machine.mechanism)));
    }
    let kelvin = |k: f64| format::number(k, 1).unwrap_or_default();
    if let Some(k) = finite(machine.hysteresis_k) {
        text.push_str(&format!("; hysteresis {} K", kelvin(k)));
    }
    if let Some(k) = finite(machine.release_offset_from_tmt1_k) {
        text.push_str(&match k.abs() < 0.05 {
            true => "; released at TMT1".to_owned(),
            false if k < 0.0 => format!("; released {} K below TMT1", kelvin(-k)),
            false => format!("; released {} K above TMT1", kelvin(k)),
        });
    }
    if let Some(floor) = finite(machine.floor_bytes_per_s) {
        text.push_str(&format!("; {} while throttled", format::speed(Some(floor))));
    }
    text.push('.');
    text
}

/// Where the runs show a threshold that is not one temperature in all of them: " at 66 °C to 68 °C".
fn between(machine: &JointMachine) -> String {
    let shown = machine.points.iter().filter_map(|point| finite(point.onset_k.or(point.held_k)));
    let ends = shown.fold(None, |ends: Option<(f64, f64)>, k| {
        let (low, high) = ends.unwrap_or((k, k));
        Some((low.min(k), high.max(k)))
    });
    let text = |k: f64| format::temperature(Some(k));
    ends.map_or_else(String::new, |(low, high)| format!(" at {} to {}", text(low), text(high)))
}

/// In how many runs, and in how many of them from the start of the load on: those say nothing of where it begins.
fn seen_in(machine: &JointMachine) -> String {
    let runs =
        |of: &mut dyn Iterator<Item = &JointPoint>| of.map(|point| point.run).collect::<BTreeSet<_>>().len();
    let from_the_start = |point: &&JointPoint| point.onset_k.is_none() && point.held_k.is_none();
    let all = match runs(&mut machine.points.iter()) {
        1 => return "one run".to_owned(),
        all => format!("{all} runs"),
    };
    match runs(&mut machine.points.iter().filter(from_the_start)) {
        0 => all,
        1 => format!("{all}, in one of them from the start of the load"),
        some => format!("{all}, in {some} of them from the start of the load"),
    }
}

fn offset(offset_k: Option<f64>) -> String {
    match finite(offset_k) {
        Some(k) if k <= -0.75 => format!(", {} K below it", format::number(-k, 1).unwrap_or_default()),
        Some(k) if k >= 0.75 => format!(", {} K above it", format::number(k, 1).unwrap_or_default()),
        _ => String::new(),
    }
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}
