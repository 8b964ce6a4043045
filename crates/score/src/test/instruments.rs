//! Instruments that lie, and housekeeping that looks like nothing in particular: told on runs of the corpus that were made
//! to, and not told of the corpus as it is.

use super::FIRST;
use crate::corpus::recipe::{Counting, Logging, RecipeKind, RecipeSensors};
use crate::corpus::{self, Labelled};
use analysis::Findings;
use analysis::findings::{Caveat, EventKind};
use analysis::observation::Observation;
use trace::HostThreshold;
use trace::caveat::{CounterDoubt, Cycles, StillSensor};

/// Runs of the half that may be tuned on that are looked through.
const RUNS: usize = 120;

/// Runs of these kinds, read and logged once a second as `change` says.
fn logged(kinds: &[RecipeKind], change: impl Fn(&mut Logging)) -> Vec<(Labelled, Findings)> {
    let recipes = (0..RUNS as u64).map(|n| corpus::drawn(false, 2 * n));
    let recipes = recipes.filter(|recipe| kinds.contains(&recipe.kind));
    let changed = recipes.map(|mut recipe| {
        let logging = &mut recipe.logging;
        (logging.interval_s, logging.temperature_s, logging.noise) = (1.0, 1.0, 0.02);
        (logging.sensors, logging.counting) = (RecipeSensors::Several, Counting::Honest);
        (logging.settings_known, logging.phases_known) = (true, true);
        change(logging);
        let stuck = matches!(logging.sensors, RecipeSensors::FrozenComposite | RecipeSensors::FrozenAlone);
        recipe.profile.sensor.frozen_composite_k = stuck.then_some(313);
        let run = corpus::label(recipe);
        let findings = analysis::analyze(&run.trace);
        (run, findings)
    });
    changed.collect()
}

fn find(findings: &Findings, is: impl Fn(&Caveat) -> bool) -> Option<&Caveat> {
    findings.caveats.iter().find(|caveat| is(caveat))
}

/// How many runs have the caveat, of how many.
fn share(runs: &[(Labelled, Findings)], is: fn(&Caveat) -> bool) -> (usize, usize) {
    (runs.iter().filter(|(_, findings)| find(findings, is).is_some()).count(), runs.len())
}

fn is_counted_without_heat(caveat: &Caveat) -> bool {
    matches!(caveat, Caveat::CountersWithoutHeat(_))
}

fn is_uncounted(caveat: &Caveat) -> bool {
    matches!(caveat, Caveat::SlowdownWithoutCounters { .. })
}

#[test]
fn counters_that_move_beside_a_stuck_composite_are_told() {
    let kinds = [RecipeKind::Relay, RecipeKind::TwoLevel];
    let runs = logged(&kinds, |logging| logging.sensors = RecipeSensors::FrozenComposite);
    let moved = |(run, _): &&(Labelled, Findings)| {
        let counters = run.trace.counters.points();
        counters.last().is_some_and(|last| last.value.tmt1_transitions > Some(0))
    };
    let counted: Vec<_> = runs.iter().filter(moved).collect();
    assert!(counted.len() > 10);
    for (run, findings) in counted {
        let told = find(findings, is_counted_without_heat).expect("a caveat");
        let Caveat::CountersWithoutHeat(CounterDoubt::StillComposite { threshold, composite_k, .. }) = told
        else {
            panic!("{} {told:?}", run.recipe.number);
        };
        assert_eq!((*threshold, *composite_k), (HostThreshold::Tmt1, 313.0), "{}", run.recipe.number);
        let beside = StillSensor::BesideOthers { sensor: "composite".into() };
        assert!(findings.caveats.contains(&Caveat::FrozenSensor(beside)));
    }
}

#[test]
fn counters_that_nothing_moves_are_told() {
    // TMT1 lies above all that these drives get to, or they are cool for most of the run.
    let runs = logged(&[RecipeKind::Plain, RecipeKind::Dips, RecipeKind::Wobble], |logging| {
        logging.counting = Counting::Invented
    });
    let (with_heat, all) = share(&runs, is_counted_without_heat);
    assert!(all > 10 && 10 * with_heat >= 9 * all, "{with_heat} of {all}");
}

#[test]
fn a_composite_that_stops_or_is_a_copy_is_told() {
    let kinds = [RecipeKind::Relay, RecipeKind::Vendor, RecipeKind::Stop];
    let stopping = logged(&kinds, |logging| logging.sensors = RecipeSensors::Stopping);
    // It can be seen where it had moved before, and another sensor goes on to move.
    let seen = |(run, _): &(Labelled, Findings)| {
        let half_s = run.trace.end_s() / 2.0;
        let range = |from_s: f64, to_s: f64, sensor: usize| {
            let points = run.trace.temperatures[sensor].kelvin.points().iter();
            let values = points.filter(|p| (from_s..to_s).contains(&p.t.as_secs_f64())).map(|p| p.value);
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            high - low
        };
        half_s >= 130.0 && range(0.0, half_s, 0) > 0.0 && range(half_s + 1.0, 2.0 * half_s, 1) >= 6.0
    };
    let stopping: Vec<_> = stopping.into_iter().filter(seen).collect();
    let (told, all) = share(&stopping, |c| matches!(c, Caveat::FrozenSensor(_)));
    assert!(all >= 8 && told == all, "{told} of {all} that stop");
    let copies = logged(&kinds, |logging| logging.sensors = RecipeSensors::Copied);
    let (told, all) = share(&copies, |c| matches!(c, Caveat::CopiedSensor { .. }));
    assert!(10 * told >= 9 * all, "{told} of {all} copies");
}

#[test]
fn hidden_throttling_is_told() {
    let runs = logged(&[RecipeKind::Relay, RecipeKind::TwoLevel, RecipeKind::Stop], |l| {
        l.counting = Counting::Silent
    });
    let slowed = |(run, _): &(Labelled, Findings)| run.truth.episodes.iter().any(|episode| episode.heat);
    let runs: Vec<_> = runs.into_iter().filter(slowed).collect();
    let (told, all) = share(&runs, is_uncounted);
    assert!(all > 10 && 10 * told >= 9 * all, "{told} of {all}");
}

/// Goal: an honest drive is not called a liar. Method: the corpus as it is, the counters and sensors that it has.
#[test]
fn honest_instruments_are_left_alone() {
    let mut false_ones = Vec::new();
    for (run, findings) in &FIRST[..RUNS] {
        let (sensors, honest) = (run.recipe.logging.sensors, run.recipe.logging.counting == Counting::Honest);
        let moving = matches!(sensors, RecipeSensors::Composite | RecipeSensors::Several);
        // A threshold of the drive's own is not counted, on an honest drive either.
        let own =
            matches!(run.recipe.kind, RecipeKind::Vendor | RecipeKind::Stop | RecipeKind::HctmAndVendor);
        let lies = |caveat: &&Caveat| match caveat {
            Caveat::FrozenSensor(_) | Caveat::CopiedSensor { .. } | Caveat::CountersWithoutHeat(_) => moving,
            Caveat::SlowdownWithoutCounters { .. } => honest && !own,
            _ => false,
        };
        let told = findings.caveats.iter().filter(lies);
        false_ones
            .extend(told.map(|caveat| format!("{} {:?}: {caveat:?}", run.recipe.number, run.recipe.kind)));
    }
    assert!(false_ones.len() <= RUNS / 100, "{false_ones:#?}");
}

/// Of what recurs, the period where it has one.
fn periods_s(findings: &Findings) -> impl Iterator<Item = Option<f64>> {
    findings.events.iter().flat_map(|event| &event.observations).filter_map(|seen| match seen.observation {
        Observation::Recurs { period_s, .. } => Some(period_s),
        _ => None,
    })
}

#[test]
fn housekeeping_is_named_with_its_period() {
    let (mut asked, mut right, mut flips, mut wrong) = (0, 0, 0, Vec::new());
    for (run, findings) in logged(&[RecipeKind::PeriodicDips], |logging| logging.noise = 0.01) {
        let dip = &run.recipe.profile.dip[0];
        // From the end of one to the beginning of the next, and the dip itself.
        let period_s = dip.every_s + dip.duration_s;
        let dips = findings.events.iter().filter(|event| event.kind == EventKind::Dip).count();
        if dips < 6 {
            continue;
        }
        asked += 1;
        let flip = |c: &Caveat| matches!(c, Caveat::Cyclostationary(Cycles::Dips { .. }));
        flips += usize::from(find(&findings, flip).is_some());
        let named = |told: Option<f64>| told.is_some_and(|told_s| (told_s - period_s).abs() <= 1.0);
        match periods_s(&findings).any(named) {
            true => right += 1,
            false => wrong.push((run.recipe.number, period_s, dips)),
        }
    }
    assert!(asked > 5 && 10 * right >= 8 * asked && flips > 0, "{right} of {asked}, {flips} flip: {wrong:?}");
}

#[test]
fn dips_by_chance_are_not_called_clockwork() {
    let mut named = (0, 0);
    for (_, findings) in logged(&[RecipeKind::Dips], |_| ()) {
        named.0 += usize::from(periods_s(&findings).any(|period_s| period_s.is_some()));
        named.1 += usize::from(periods_s(&findings).any(|period_s| period_s.is_none()));
    }
    assert!(named.0 <= 1 && named.1 > 1, "{named:?}");
}
