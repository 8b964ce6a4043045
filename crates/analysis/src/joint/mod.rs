//! How one drive manages its heat, from several of its runs: thresholds against settings.
//!
//! A threshold that follows TMT1 or TMT2 moves with it, kelvin for kelvin; one of the drive's own stays where it is.
//! One run shows one setting and cannot tell; runs at several settings can. And where surroundings or thresholds
//! differ, a regulator keeps the temperature, while a fixed lower speed stays the same speed.
//! `explain` finds which thresholds explain all runs; METHODS has the costs.
//!
//! # What it does not do
//! It judges no run again: what was a drop, and what one run says of its cause, comes from that run's findings.

mod disagree;
mod explain;
mod mechanism;
mod open;
mod others;
mod record;
mod starts;

pub use others::others;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::findings::{Cause, Caveat, Event, Findings, Label, Policy, PolicyClass, Segment, SegmentOp};
use crate::observation::Observation;
use crate::others::FirstFall;
use crate::wording;
use explain::Explained;
use record::Record;
use trace::Trace;

/// A stretch at full speed this long shows that no threshold acted at its temperature.
const SHOWS_S: f64 = 30.0;
/// No verdict is surer than one from a single run may be.
const MOST_CERTAIN: f64 = 0.98;
/// Speeds within this share are one speed.
const SAME_SPEED: f64 = 0.04;
/// Speeds this far apart are not.
const OTHER_SPEED: f64 = 0.1;
/// Temperatures this far apart are not one: neither regulated, nor the same air.
const OTHER_K: f64 = 2.5;

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
    ambient_k: Option<f64>,
    /// Its power state; `None` where that is not known, or changed.
    power_state: Option<u8>,
    /// What its link can carry, in bytes per second.
    link_bytes_per_s: Option<f64>,
    /// TMT1 and TMT2 as they were set all along, whether they act or not.
    set_k: (Option<f64>, Option<f64>),
    /// Its stretches under load.
    ran: Vec<Ran>,
    /// The first fall of each of its loads.
    falls: Vec<FirstFall>,
    policy: Policy,
    record: Record,
}

/// A stretch of one speed.
#[derive(Clone, Debug)]
struct Ran {
    op: SegmentOp,
    /// What its load does, for people; empty where the source does not say.
    what: String,
    label: Label,
    bytes_per_s: f64,
    span_s: f64,
    start_k: Option<f64>,
    end_k: Option<f64>,
}

impl Ran {
    fn is_same_load(&self, other: &Self) -> bool {
        let unnamed = self.what.is_empty() || other.what.is_empty();
        self.op == other.op && (unnamed || self.what == other.what)
    }

    /// Whether it is of the same load and faster by more than this share.
    fn is_faster(&self, other: &Self, by: f64) -> bool {
        self.is_same_load(other) && self.bytes_per_s > (1.0 + by) * other.bytes_per_s
    }

    fn is_at(&self, bytes_per_s: f64) -> bool {
        (self.bytes_per_s - bytes_per_s).abs() <= SAME_SPEED * bytes_per_s
    }

    fn is_throttled_at(&self, bytes_per_s: f64) -> bool {
        self.label == Label::Throttled && self.is_at(bytes_per_s)
    }
}

impl JointRun {
    /// Takes from a run and its findings what this needs. `drive` is what tells drives apart.
    pub fn new(name: &str, drive: Option<&str>, trace: &Trace, findings: &Findings) -> Self {
        let readings = trace.temperature().map_or(&[][..], |series| series.points());
        let coolest_k = readings.iter().map(|p| p.value).fold(f64::INFINITY, f64::min);
        let (tmt1_k, tmt2_k) = one_setting(trace);
        let counters = trace.counters.points();
        let moved = |of: fn(&trace::Counters) -> [Option<u64>; 2]| {
            let (Some(first), Some(last)) = (counters.first(), counters.last()) else { return false };
            of(&first.value).iter().zip(of(&last.value)).any(|(a, b)| a.zip(b).is_some_and(|(a, b)| b > a))
        };
        let counted = [
            moved(|c| [c.tmt1_transitions, c.tmt1_seconds]),
            moved(|c| [c.tmt2_transitions, c.tmt2_seconds]),
        ];
        // What lies below everything the drive was in does not act (SSD1 of the seed experiments has 0 °C by default), unless it is
        // counted: in a warm room a drive is above it at rest.
        let acts = |set_k: Option<f64>, counts: bool| set_k.filter(|k| *k > coolest_k || counts);
        Self {
            name: name.to_owned(),
            drive: drive.map(str::to_owned),
            simulated: trace.facts.simulated,
            tmt1_k: acts(tmt1_k, counted[0]),
            tmt2_k: acts(tmt2_k, counted[1]),
            counted,
            ambient_k: trace.facts.ambient_k,
            power_state: one_power_state(trace),
            link_bytes_per_s: trace.facts.link_bytes_per_s,
            set_k: (tmt1_k, tmt2_k),
            falls: falls(trace, findings),
            ran: ran(trace, findings),
            policy: findings.policy.clone(),
            record: Record::new(trace),
        }
    }

    /// The hottest that it was for long at full speed, in kelvins. What the same load exceeds elsewhere by much may be none.
    fn hottest_free_k(&self) -> Option<f64> {
        let free = self.ran.iter().filter(|ran| ran.label == Label::FullSpeed && ran.span_s >= SHOWS_S);
        let free = free.filter(|ran| self.is_fastest(ran));
        free.filter_map(|ran| ran.end_k).reduce(f64::max)
    }

    /// The coolest that it was when a stretch under load began, in kelvins.
    fn coolest_loaded_k(&self) -> Option<f64> {
        self.ran.iter().filter_map(|ran| ran.start_k).reduce(f64::min)
    }

    /// Whether the same load was nowhere much faster in this run.
    fn is_fastest(&self, ran: &Ran) -> bool {
        !self.ran.iter().any(|other| other.is_faster(ran, crate::FASTER - 1.0))
    }

    /// How hot it came to be while it was throttled at this speed, in kelvins.
    fn throttled_k(&self, bytes_per_s: f64) -> Option<f64> {
        self.ran.iter().rfind(|ran| ran.is_throttled_at(bytes_per_s))?.end_k
    }

    /// Whether reading, writing and both at once were slowed down by heat.
    fn slowed(&self) -> [bool; 3] {
        [SegmentOp::Read, SegmentOp::Write, SegmentOp::Mixed]
            .map(|op| self.ran.iter().any(|ran| ran.op == op && ran.label == Label::Throttled))
    }

    /// The same under another name.
    pub fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Whether the same load may be as fast in both: at the same power state and link, as far as those are known.
    fn is_comparable(&self, other: &Self) -> bool {
        self.power_state.zip(other.power_state).is_none_or(|(a, b)| a == b) && self.has_same_link(other)
    }

    fn has_same_link(&self, other: &Self) -> bool {
        let links = self.link_bytes_per_s.zip(other.link_bytes_per_s);
        links.is_none_or(|(a, b)| (a / b - 1.0).abs() <= SAME_SPEED)
    }

    /// Whether this is a run of the same drive as `other`, as far as both name theirs.
    pub fn is_of_drive(&self, other: &Self) -> bool {
        self.drive.is_some() && self.drive == other.drive
    }
}

/// What a run did under load.
fn ran(trace: &Trace, findings: &Findings) -> Vec<Ran> {
    let what = |s: f64| trace.phases.iter().rfind(|phase| phase.start_s <= s).map(|phase| phase.what.clone());
    let ran = |segment: &Segment| {
        Some(Ran {
            op: segment.op,
            what: what((segment.start_s + segment.end_s) / 2.0).unwrap_or_default(),
            label: segment.label.as_seen(),
            bytes_per_s: segment.mean_bytes_per_s?,
            span_s: segment.end_s - segment.start_s,
            start_k: segment.temp_start_k,
            end_k: segment.temp_end_k,
        })
    };
    findings.segments.iter().filter(|segment| segment.op.moves_data()).filter_map(ran).collect()
}

/// The first fall of each load of a run.
fn falls(trace: &Trace, findings: &Findings) -> Vec<FirstFall> {
    let mut falls: Vec<FirstFall> = Vec::new();
    let before = |event: &Event| {
        event.observations.iter().find_map(|seen| match seen.observation {
            Observation::SpeedFell { before_bytes_per_s, .. } => Some(before_bytes_per_s),
            _ => None,
        })
    };
    for event in &findings.events {
        let (Some(before_bytes_per_s), Some(from_k)) = (before(event), event.temp_k) else { continue };
        let phase = trace.phases.iter().rfind(|phase| phase.start_s <= event.t_s && phase.op.moves_data());
        let Some(phase) = phase.filter(|phase| !phase.is_limited() && !phase.buffered) else { continue };
        if !falls.iter().any(|fall| fall.op == phase.op && fall.what == phase.what) {
            let fast_s = event.t_s - phase.start_s;
            falls.push(FirstFall {
                op: phase.op,
                what: phase.what.clone(),
                before_bytes_per_s,
                from_k,
                fast_s,
                same_settings: true,
            });
        }
    }
    falls
}

/// TMT1 and TMT2, where they are one and the same for the whole run.
fn one_setting(trace: &Trace) -> (Option<f64>, Option<f64>) {
    let first = trace.tmt_at(0.0);
    let same = |p: &measure::Point<_>| trace.tmt_at(p.t.as_secs_f64()) == first;
    if trace.settings.points().iter().all(same) { first } else { (None, None) }
}

/// The power state, where it is one and the same for the whole run.
fn one_power_state(trace: &Trace) -> Option<u8> {
    let mut states = trace.settings.points().iter().map(|point| point.value.power_state);
    let first = states.next()?;
    first.filter(|_| states.all(|state| state == first))
}

impl JointPolicy {
    /// The policy of a run, where the runs together know better: it shows a threshold of the drive's, and by itself left open
    /// what that does, or took it for something else with less confidence.
    pub fn policy_of(&self, run: usize, alone: &Policy) -> Option<Policy> {
        let shows = self.machines.iter().flat_map(|machine| &machine.points).any(|point| point.run == run);
        let told = |class: &PolicyClass| *class == alone.class || alone.also.contains(class);
        let agrees = std::iter::once(&self.class).chain(&self.also).any(told);
        let better = match alone.class {
            PolicyClass::Undetermined => true,
            // That its load began throttled is so whatever others show.
            PolicyClass::None | PolicyClass::PreLimited => false,
            _ => !agrees && self.confidence > alone.confidence,
        };
        (shows && better && self.class != PolicyClass::Undetermined).then(|| Policy {
            class: self.class,
            also: self.also.clone(),
            confidence: self.confidence,
            from_runs: Some(self.runs.len()),
            ..alone.clone()
        })
    }
}

/// The policy of the drive that all these runs are of; `None` for fewer than two.
pub fn joint_policy(runs: &[JointRun]) -> Option<JointPolicy> {
    let (first, others) = runs.split_first()?;
    if others.is_empty() {
        return None;
    }
    // A record that is there again says nothing new.
    let distinct = record::distinct(runs);
    let mut observed: Vec<JointRun> = distinct.iter().map(|index| runs[*index].clone()).collect();
    let starts = starts::label(&mut observed);
    let explained = explain::machines(&observed, &starts);
    let (class, also, confidence) = class(&observed, &explained);
    let mut machines: Vec<JointMachine> = explained.into_iter().map(|explained| explained.machine).collect();
    let denied = disagree::denied(&observed, &mut machines);
    let lightest = machines.iter().map(|machine| machine.confidence).fold(1.0, f64::min);
    let confidence = if denied.is_empty() { confidence } else { confidence.min(lightest) };
    // What one run alone shows is no surer for those that show nothing of it.
    let showing: Vec<usize> = machines.iter().flat_map(|m| &m.points).map(|point| point.run).collect();
    let confidence = match showing[..] {
        [first, ref more @ ..] if more.iter().all(|run| *run == first) => {
            confidence.min(observed[first].policy.confidence)
        }
        _ => confidence,
    };
    let mut open = open::open(&observed, &machines);
    open.splice(0..0, denied);
    open.extend(others::slower_states(&observed));
    if observed.len() < runs.len() {
        let exact = record::are_exact(runs, observed.len());
        open.insert(0, Caveat::SameRecord { runs: runs.len(), records: observed.len(), exact });
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

/// The class of all machines together, the host's first, as for one run, and how sure it is.
fn class(runs: &[JointRun], explained: &[Explained]) -> (PolicyClass, Vec<PolicyClass>, f64) {
    let of = |follows: Follows| explained.iter().find(|explained| explained.machine.follows == follows);
    let Some(any) = explained.first() else {
        let none = |run: &JointRun| run.policy.class == PolicyClass::None;
        return match runs.iter().all(none) && !starts::may_be_throttled(runs) {
            // What one run leaves in doubt, others do not clear: they may be parts of one record.
            true => (PolicyClass::None, vec![], runs.iter().map(|r| r.policy.confidence).fold(1.0, f64::min)),
            false => (PolicyClass::Undetermined, vec![], 0.0),
        };
    };
    let host: Vec<&Explained> = [of(Follows::Tmt1), of(Follows::Tmt2)].into_iter().flatten().collect();
    let own = of(Follows::Nothing);
    // What a threshold does is as sure as that, whose it is as sure as what it follows.
    let does = |explained: &Explained| (explained.machine.mechanism, explained.sure);
    let lightest = |all: &[&Explained]| all.iter().map(|e| e.machine.confidence).fold(1.0, f64::min);
    let mut all = match host[..] {
        [light, heavy] if light.machine.mechanism == heavy.machine.mechanism => {
            vec![(PolicyClass::TwoLevel, lightest(&host))]
        }
        [] => own
            .map_or_else(|| vec![does(any)], |own| vec![(PolicyClass::Vendor, lightest(&[own])), does(own)]),
        _ => host.iter().map(|explained| does(explained)).collect(),
    };
    if own.is_some() && !host.is_empty() {
        all.push((PolicyClass::Vendor, 1.0));
    }
    let (class, sure) = all.remove(0);
    let mut also: Vec<PolicyClass> = all.into_iter().map(|(class, _)| class).collect();
    also.retain(|also| *also != class && *also != PolicyClass::Undetermined);
    also.dedup();
    (class, also, sure)
}

#[cfg(test)]
mod test;
