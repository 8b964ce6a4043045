//! How one drive manages its heat, from several of its runs: thresholds against settings.
//!
//! A threshold that follows TMT1 or TMT2 moves with it, kelvin for kelvin; one of the drive's own stays where it is.
//! One run shows one setting and cannot tell; runs at several settings can. And where surroundings or thresholds
//! differ, a regulator keeps the temperature, while a fixed lower speed stays the same speed.
//! `explain` finds which thresholds explain all runs; METHODS has the costs.
//!
//! # What it does not do
//! It judges no run again: what was a drop, and what one run says of its cause, comes from that run's findings.

mod explain;
mod mechanism;
mod open;

use std::hash::{Hash as _, Hasher as _};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::findings::{Cause, Caveat, Findings, Label, Policy, PolicyClass, SegmentOp};
use crate::wording;
use trace::Trace;

/// A stretch at full speed this long shows that no threshold acted at its temperature.
const SHOWS_S: f64 = 30.0;
/// No verdict is surer than one from a single run may be.
const MOST_CERTAIN: f64 = 0.98;

/// The policy of a drive as several runs show it. A file format, as the findings are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JointPolicy {
    /// The drive; `None` where the sources do not name it.
    pub drive: Option<String>,
    /// Whether the runs are simulated; `None` where that is not known of all of them, or differs.
    pub simulated: Option<bool>,
    /// The runs, by name.
    pub runs: Vec<String>,
    /// The kind that explains the runs best.
    pub class: PolicyClass,
    /// Other kinds that act beside it.
    pub also: Vec<PolicyClass>,
    /// Each threshold that acted in these runs.
    pub machines: Vec<JointMachine>,
    /// How sure the class is, from 0 to 1.
    pub confidence: f64,
    /// What these runs leave open, and which measurement would decide it.
    #[serde(serialize_with = "wording::caveats_with_text")]
    #[schemars(with = "Vec<wording::CaveatWithText<'static>>")]
    pub open: Vec<Caveat>,
}

/// One threshold of a drive and what it does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JointMachine {
    /// What moves the threshold.
    pub follows: Follows,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// What it does; `undetermined` where these runs do not tell.
    pub mechanism: PolicyClass,
    /// Kelvins that the threshold rises for each kelvin of the setting that it follows, or of TMT1 (else TMT2) where it
    /// follows none: 1 follows, 0 does not. `None` unless these runs have two such settings or more.
    pub slope: Option<f64>,
    /// Threshold less the setting that it follows, in kelvins; `None` where it follows none.
    pub offset_k: Option<f64>,
    /// The threshold in kelvins where it is one temperature in all runs.
    pub threshold_k: Option<f64>,
    /// How much it has to cool before speed recovers, in kelvins; `None` where no release was seen.
    pub hysteresis_k: Option<f64>,
    /// Release less TMT1, in kelvins, where what begins at TMT2 is held until TMT1.
    pub release_offset_from_tmt1_k: Option<f64>,
    /// Speed while it acts, in bytes per second; `None` where it differs from run to run.
    pub floor_bytes_per_s: Option<f64>,
    /// What each run shows of it.
    pub points: Vec<JointPoint>,
}

/// What moves a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Follows {
    /// TMT1, as the host set it.
    Tmt1,
    /// TMT2, as the host set it.
    Tmt2,
    /// Nothing: it is the drive's own.
    Nothing,
    /// These runs do not tell.
    Undetermined,
}

impl Follows {
    /// The setting that counts, in kelvins; 0 for what follows nothing.
    const fn setting_k(self, tmt1_k: Option<f64>, tmt2_k: Option<f64>) -> Option<f64> {
        match self {
            Self::Tmt1 => tmt1_k,
            Self::Tmt2 => tmt2_k,
            Self::Nothing | Self::Undetermined => Some(0.0),
        }
    }
}

/// One threshold in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JointPoint {
    /// Index into the runs.
    pub run: usize,
    /// TMT1 in that run, in kelvins; `None` where it is off, not known, or below everything the drive was in.
    pub tmt1_k: Option<f64>,
    /// TMT2, likewise.
    pub tmt2_k: Option<f64>,
    /// Where slowing down began, in kelvins.
    pub onset_k: Option<f64>,
    /// Where it ended.
    pub release_k: Option<f64>,
    /// The temperature that was kept meanwhile.
    pub held_k: Option<f64>,
    /// Speed meanwhile, in bytes per second.
    pub floor_bytes_per_s: Option<f64>,
    /// What that run alone was taken to show.
    pub cause: Cause,
}

/// What is taken of one run.
#[derive(Clone, Debug)]
pub struct JointRun {
    name: String,
    drive: Option<String>,
    simulated: Option<bool>,
    tmt1_k: Option<f64>,
    tmt2_k: Option<f64>,
    /// Whether the drive counted light and heavy throttling in it.
    counted: [bool; 2],
    /// The hottest that it was for long at full speed, in kelvins.
    hottest_free_k: Option<f64>,
    /// Whether reading, writing and both at once were slowed down by heat.
    slowed: [bool; 3],
    policy: Policy,
    /// A number over all that was measured: the same record again is no second observation.
    data: u64,
}

impl JointRun {
    /// Takes from a run and its findings what this needs. `drive` is what tells drives apart.
    pub fn new(name: &str, drive: Option<&str>, trace: &Trace, findings: &Findings) -> Self {
        let readings = trace.temperature().map_or(&[][..], |series| series.points());
        let coolest_k = readings.iter().map(|p| p.value).fold(f64::INFINITY, f64::min);
        let (tmt1_k, tmt2_k) = one_setting(trace);
        // What lies below everything the drive was in does not act (SSD1 of the seed experiments has 0 °C by default).
        let acts = |k: &f64| *k > coolest_k;
        let counters = trace.counters.points();
        let moved = |of: fn(&trace::Counters) -> [Option<u64>; 2]| {
            let (Some(first), Some(last)) = (counters.first(), counters.last()) else { return false };
            of(&first.value).iter().zip(of(&last.value)).any(|(a, b)| a.zip(b).is_some_and(|(a, b)| b > a))
        };
        let free = findings.segments.iter().filter(|s| s.label == Label::FullSpeed);
        let long = free.filter(|s| s.end_s - s.start_s >= SHOWS_S);
        Self {
            name: name.to_owned(),
            drive: drive.map(str::to_owned),
            simulated: trace.facts.simulated,
            tmt1_k: tmt1_k.filter(acts),
            tmt2_k: tmt2_k.filter(acts),
            counted: [
                moved(|c| [c.tmt1_transitions, c.tmt1_seconds]),
                moved(|c| [c.tmt2_transitions, c.tmt2_seconds]),
            ],
            hottest_free_k: long.filter_map(|s| s.temp_end_k).reduce(f64::max),
            slowed: [SegmentOp::Read, SegmentOp::Write, SegmentOp::Mixed]
                .map(|op| findings.segments.iter().any(|s| s.op == op && s.label == Label::Throttled)),
            policy: findings.policy.clone(),
            data: data(trace),
        }
    }

    /// The same under another name.
    pub fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Whether this is a run of the same drive as `other`, as far as both name theirs.
    pub fn is_of_drive(&self, other: &Self) -> bool {
        self.drive.is_some() && self.drive == other.drive
    }
}

/// A number over speeds and temperatures, the times relative to the first.
fn data(trace: &Trace) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    let begin_s = trace.begin_s().unwrap_or(0.0);
    // To a tenth of a millisecond and a byte: a copy in another format has rounding of its own.
    let mut number = |value: f64| value.round().to_bits().hash(&mut hasher);
    for interval in trace.speeds.iter().flat_map(|series| &series.intervals) {
        [1e4 * (interval.start_s - begin_s), interval.bytes].into_iter().for_each(&mut number);
    }
    for point in trace.temperature().map_or(&[][..], |series| series.points()) {
        [1e4 * (point.t.as_secs_f64() - begin_s), 10.0 * point.value].into_iter().for_each(&mut number);
    }
    hasher.finish()
}

/// TMT1 and TMT2, where they are one and the same for the whole run.
fn one_setting(trace: &Trace) -> (Option<f64>, Option<f64>) {
    let first = trace.tmt_at(0.0);
    let same = |p: &measure::Point<_>| trace.tmt_at(p.t.as_secs_f64()) == first;
    if trace.settings.points().iter().all(same) { first } else { (None, None) }
}

/// The policy of the drive that all these runs are of; `None` for fewer than two.
pub fn joint_policy(runs: &[JointRun]) -> Option<JointPolicy> {
    let (first, others) = runs.split_first()?;
    if others.is_empty() {
        return None;
    }
    // A record that is there again says nothing new.
    let first_of = |index: &usize| runs[..*index].iter().all(|run| run.data != runs[*index].data);
    let distinct: Vec<usize> = (0..runs.len()).filter(first_of).collect();
    let observed: Vec<JointRun> = distinct.iter().map(|index| runs[*index].clone()).collect();
    let mut machines = explain::machines(&observed);
    let (class, also, confidence) = class(&observed, &machines);
    let alone = observed.len() == 1;
    let confidence = if alone { confidence.min(first.policy.confidence) } else { confidence };
    let mut open = open::open(&observed, &machines);
    if observed.len() < runs.len() {
        open.insert(0, Caveat::SameRecord { runs: runs.len(), records: observed.len() });
    }
    for point in machines.iter_mut().flat_map(|machine| &mut machine.points) {
        point.run = distinct[point.run];
    }
    let common = |same: bool| if same { first.simulated } else { None };
    Some(JointPolicy {
        drive: first.drive.clone().filter(|_| others.iter().all(|run| run.drive == first.drive)),
        simulated: common(others.iter().all(|run| run.simulated == first.simulated)),
        runs: runs.iter().map(|run| run.name.clone()).collect(),
        open,
        class,
        also,
        machines,
        confidence: confidence.min(MOST_CERTAIN),
    })
}

/// The class of all machines together: the host's lead, as they do for one run.
fn class(runs: &[JointRun], machines: &[JointMachine]) -> (PolicyClass, Vec<PolicyClass>, f64) {
    let of = |follows: Follows| machines.iter().find(|machine| machine.follows == follows);
    let Some(any) = machines.first() else {
        let none = |run: &JointRun| run.policy.class == PolicyClass::None;
        return match runs.iter().all(none) {
            // As sure as the run that provoked it most.
            true => (PolicyClass::None, vec![], runs.iter().map(|r| r.policy.confidence).fold(0.0, f64::max)),
            false => (PolicyClass::Undetermined, vec![], 0.0),
        };
    };
    let host: Vec<&JointMachine> = [of(Follows::Tmt1), of(Follows::Tmt2)].into_iter().flatten().collect();
    let own = of(Follows::Nothing);
    let mut all = match host[..] {
        [light, heavy] if light.mechanism == heavy.mechanism => vec![PolicyClass::TwoLevel],
        [] if own.is_some() => vec![PolicyClass::Vendor],
        [] => vec![any.mechanism],
        _ => host.iter().map(|machine| machine.mechanism).collect(),
    };
    match own {
        Some(own) if host.is_empty() => all.push(own.mechanism),
        Some(_) => all.push(PolicyClass::Vendor),
        None => {}
    }
    let class = all.remove(0);
    all.retain(|also| *also != class && *also != PolicyClass::Undetermined);
    all.dedup();
    let sure = machines.iter().map(|machine| machine.confidence).fold(1.0, f64::min);
    (class, all, if class == PolicyClass::Undetermined { 0.5 * sure } else { sure })
}

#[cfg(test)]
mod test;
