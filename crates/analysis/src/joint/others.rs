//! What the runs of a drive tell each other.

use super::{Follows, JointRun, OTHER_SPEED, Ran, SHOWS_S};
use crate::FASTER;
use crate::findings::{Cause, Caveat, Label, PolicyLevel};
use crate::others::{AtFull, FasterElsewhere, FirstFall, Others, ShownLoad, ShownSlow};

/// A speed that lasts so long is one.
pub(super) const LASTS_S: f64 = 10.0;

/// For each of these runs of one drive what the others show of its loads; nothing where they add nothing.
///
/// Only loads whose source says what they do are compared drop by drop, and only at the same power state and link; of others it is told
/// that they were much faster elsewhere. A copy of a run shows nothing that the run itself does not.
pub fn others(runs: &[JointRun]) -> Vec<Others> {
    let of = |index: usize| {
        let mut loads: Vec<ShownLoad> = Vec::new();
        for ran in runs[index].ran.iter().filter(|ran| !ran.what.is_empty()) {
            let told = loads.iter().any(|load| load.op == ran.op && load.what == ran.what);
            if !told && let Some(load) = shown(runs, index, ran) {
                loads.push(load);
            }
        }
        let records = other_records(runs, index);
        let is_same = |of: &&JointRun| of.set_k == runs[index].set_k;
        let falls = |run: &&JointRun| {
            let same_settings = is_same(run);
            run.falls.iter().map(|fall| FirstFall { same_settings, ..fall.clone() }).collect::<Vec<_>>()
        };
        let first = records.iter().flat_map(falls).collect();
        let full = records.iter().flat_map(|run| at_full(run, is_same(run))).collect();
        Others::new(loads, faster(runs, index)).with_heat(first, full)
    };
    (0..runs.len()).map(of).collect()
}

/// A load of a run as the others show it, where it was nowhere in that run as fast as there.
fn shown(runs: &[JointRun], index: usize, load: &Ran) -> Option<ShownLoad> {
    let run = &runs[index];
    let others = || runs.iter().enumerate().filter(|(at, of)| *at != index && of.is_comparable(run));
    let is_load = |ran: &&Ran| !ran.what.is_empty() && ran.is_same_load(load);
    let full = |ran: &&Ran| is_load(ran) && is_full(ran);
    let speeds = others().flat_map(|(_, of)| of.ran.iter().filter(full)).map(|ran| ran.bytes_per_s);
    let full_bytes_per_s = speeds.reduce(f64::max)?;
    // A load that is slowed down within seconds was never at full speed for long.
    let lasting = |ran: &&Ran| is_load(ran) && ran.span_s >= LASTS_S;
    let own = run.ran.iter().filter(lasting).map(|ran| ran.bytes_per_s).fold(0.0, f64::max);
    let slowed = others().flat_map(|(_, of)| slowed(of, run, load)).collect();
    let load = ShownLoad { op: load.op, what: load.what.clone(), full_bytes_per_s, slowed };
    (full_bytes_per_s > (1.0 + OTHER_SPEED) * own).then_some(load)
}

/// Where others were much faster than a run ever was at what may be the same load. In another power state that is told of loads that
/// are the same as well: what is slower for a setting is not judged drop by drop.
fn faster(runs: &[JointRun], index: usize) -> Vec<FasterElsewhere> {
    let run = &runs[index];
    let others = runs.iter().enumerate().filter(|(at, of)| *at != index && of.has_same_link(run));
    let of_run = |of: &'_ JointRun| of.power_state.zip(run.power_state).filter(|(there, here)| there != here);
    let full: Vec<(&Ran, Option<u8>)> = others
        .flat_map(|(_, of)| of.ran.iter().map(move |ran| (ran, of_run(of).map(|(there, _)| there))))
        .filter(|(ran, _)| is_full(ran))
        .collect();
    if full.is_empty() {
        return Vec::new();
    }
    // A month of cycles runs the same few loads many thousand times.
    let mut loads: Vec<&Ran> = Vec::new();
    for own in &run.ran {
        if !loads.iter().any(|load| load.op == own.op && load.what == own.what) {
            loads.push(own);
        }
    }
    let faster = |own: &Ran| {
        let may_be = |(ran, other_state): &&(&Ran, Option<u8>)| {
            let is_unnamed = ran.what.is_empty() || own.what.is_empty();
            ran.is_same_load(own) && (is_unnamed || other_state.is_some())
        };
        let (fastest, there) =
            full.iter().filter(may_be).max_by(|a, b| a.0.bytes_per_s.total_cmp(&b.0.bytes_per_s))?;
        let alike = run.ran.iter().filter(|ran| ran.is_same_load(own)).map(|ran| ran.bytes_per_s);
        let load = FasterElsewhere {
            op: own.op,
            what: own.what.clone(),
            bytes_per_s: fastest.bytes_per_s,
            own_bytes_per_s: alike.fold(0.0, f64::max),
            power_states: run.power_state.zip(*there).map(|(here, there)| [here, there]),
        };
        (load.bytes_per_s > FASTER * load.own_bytes_per_s).then_some(load)
    };
    loads.into_iter().filter_map(faster).collect()
}

/// The power states in which a load was much slower than in another one, each once, where nothing slowed it down.
pub(super) fn slower_states(runs: &[JointRun]) -> Vec<Caveat> {
    let mut slower: Vec<Caveat> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        for load in faster(runs, index).iter().filter(|load| load.power_states.is_some()) {
            let is_it = |ran: &&Ran| ran.op == load.op && ran.what == load.what;
            let is_free = run
                .ran
                .iter()
                .filter(is_it)
                .filter(|ran| is_full(ran))
                .any(|ran| ran.is_at(load.own_bytes_per_s));
            let caveat = load.caveat();
            let is_told = slower.iter().any(|told| is_same_state(told, &caveat));
            slower.extend((is_free && !is_told).then_some(caveat));
        }
    }
    slower
}

fn is_same_state(one: &Caveat, other: &Caveat) -> bool {
    let state = |caveat: &Caveat| match caveat {
        Caveat::SlowerPowerState { op, power_state, .. } => Some((*op, *power_state)),
        _ => None,
    };
    state(one) == state(other)
}

/// For a run that fell, the other records at the same power state: what heat does begins at the same temperature in those with the same
/// thresholds, and what fills a cache does so after as much data in all.
fn other_records(runs: &[JointRun], index: usize) -> Vec<&JointRun> {
    let run = &runs[index];
    if run.falls.is_empty() {
        return Vec::new();
    }
    let is_other = |of: &JointRun| of.is_comparable(run) && !of.record.is_same(&run.record);
    runs.iter().enumerate().filter(|(at, of)| *at != index && is_other(of)).map(|(_, of)| of).collect()
}

/// The times of a run at full speed; how hot it was then only where that says something of the other one.
fn at_full(run: &JointRun, same_thresholds: bool) -> Vec<AtFull> {
    let full = run.ran.iter().filter(|ran| is_full(ran) && ran.span_s >= SHOWS_S);
    let at_full = |ran: &Ran| AtFull {
        op: ran.op,
        what: ran.what.clone(),
        bytes_per_s: ran.bytes_per_s,
        bytes: ran.bytes_per_s * ran.span_s,
        kelvin: ran.end_k.filter(|_| same_thresholds),
    };
    full.map(at_full).collect()
}

/// Whether it shows a full speed.
pub(super) fn is_full(ran: &Ran) -> bool {
    ran.label == Label::FullSpeed && ran.span_s >= LASTS_S
}

/// The speeds that heat left of a load in `of`, with the temperatures from which it would do so in `run`.
fn slowed(of: &JointRun, run: &JointRun, load: &Ran) -> Vec<ShownSlow> {
    let at = |level: &PolicyLevel| {
        let bytes_per_s = level.floor_bytes_per_s?;
        let shows = |ran: &Ran| ran.is_same_load(load) && ran.is_throttled_at(bytes_per_s);
        let from_k = threshold_k(level, of, run)?;
        of.ran.iter().any(shows).then_some(ShownSlow { bytes_per_s, from_k, cause: level.cause })
    };
    of.policy.levels.iter().filter_map(at).collect()
}

/// Where a level of one run begins to act in another, in kelvins: a threshold moves with the setting that it follows. `None` where that
/// is not known.
pub(super) fn threshold_k(level: &PolicyLevel, of: &JointRun, run: &JointRun) -> Option<f64> {
    let follows = match level.cause {
        Cause::HctmTmt1 => Follows::Tmt1,
        Cause::HctmTmt2 => Follows::Tmt2,
        _ => Follows::Nothing,
    };
    let moved_k = follows.setting_k(run.tmt1_k, run.tmt2_k)? - follows.setting_k(of.tmt1_k, of.tmt2_k)?;
    Some(level.onset_k.or(level.held_k)? + moved_k)
}
