//! Clocks of speed and temperature that step or drift against each other within a run of the corpus: told, and not told of
//! clean runs.

use super::FIRST;
use crate::corpus::recipe::{Logging, RecipeKind, RecipeSensors};
use crate::corpus::{self, Labelled};
use analysis::Findings;
use measure::Series;
use trace::caveat::{Caveat, ClockStep};
use trace::{Trace, instant};

/// Of so many runs those that go to and fro are used.
const LOOKED_THROUGH: u64 = 60;
/// Load of the runs whose clocks are changed: long enough for three windows of two minutes on each side.
const LOAD_S: f64 = 1500.0;

/// What is said of the clocks of a run.
fn said(trace: &Trace) -> Option<Caveat> {
    of_clocks(&analysis::analyze(trace))
}

fn of_clocks(findings: &Findings) -> Option<Caveat> {
    let of_clocks = |caveat: &&Caveat| matches!(caveat, Caveat::ClockStep(_) | Caveat::ClockDrift { .. });
    findings.caveats.iter().find(of_clocks).cloned()
}

fn shifted<T: Clone>(series: &Series<T>, by_s: &dyn Fn(f64) -> f64) -> Series<T> {
    let seconds = |t: measure::Instant| t.as_secs_f64() + by_s(t.as_secs_f64());
    let mut all: Vec<(f64, T)> = series.points().iter().map(|p| (seconds(p.t), p.value.clone())).collect();
    // As importers do.
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut moved = Series::new();
    all.into_iter().for_each(|(t_s, value)| moved.push(instant(t_s), value));
    moved
}

/// The trace with the clock of its health log changed.
fn health_clock(trace: &Trace, by_s: &dyn Fn(f64) -> f64) -> Trace {
    let mut trace = trace.clone();
    trace.temperatures.iter_mut().for_each(|t| t.kelvin = shifted(&t.kelvin, by_s));
    trace.counters = shifted(&trace.counters, by_s);
    trace
}

/// Runs in which heat makes speed go to and fro, a reading and an interval a second.
fn cycling() -> Vec<Labelled> {
    let goes = |kind| {
        matches!(kind, RecipeKind::Relay | RecipeKind::TwoLevel | RecipeKind::Vendor | RecipeKind::Stop)
    };
    let runs = (0..LOOKED_THROUGH).map(|n| corpus::drawn(false, 2 * n)).filter(|r| goes(r.kind));
    let longer = runs.map(|mut recipe| {
        let sensors = RecipeSensors::Composite;
        recipe.logging = Logging { interval_s: 1.0, temperature_s: 1.0, sensors, ..recipe.logging };
        recipe.profile.sensor.frozen_composite_k = None;
        recipe.loads.last_mut().expect("a load").seconds = LOAD_S;
        corpus::label(recipe)
    });
    let cycles = |run: &Labelled| run.truth.episodes.iter().filter(|e| e.release_s.is_some()).count() >= 8;
    longer.filter(cycles).collect()
}

/// How long its cycles take on average.
fn period_s(run: &Labelled) -> f64 {
    let began: Vec<f64> = run.truth.episodes.iter().map(|episode| episode.onset_s.0).collect();
    (began[began.len() - 1] - began[1]) / (began.len() - 2) as f64
}

/// Whether a step is told within 3 s; where it says so, up to whole cycles.
fn near(told: &ClockStep, step_s: f64, period_s: f64) -> bool {
    let off_s = told.by_s - step_s;
    let cycles = if told.cyclic { (off_s / period_s).round() } else { 0.0 };
    (off_s - cycles * period_s).abs() <= 3.0
}

#[test]
fn a_step_of_one_clock_is_told_with_its_size_and_place() {
    let (mut asked, mut right, mut wrong) = (0, 0, Vec::new());
    for run in cycling() {
        let period_s = period_s(&run);
        let middle_s = run.trace.end_s() - LOAD_S / 2.0;
        for step_s in [-12.0, 9.0, 16.0] {
            let stepped = health_clock(&run.trace, &|t_s| if t_s > middle_s { step_s } else { 0.0 });
            asked += 1;
            match said(&stepped) {
                Some(Caveat::ClockStep(told)) if near(&told, step_s, period_s) => right += 1,
                other => wrong.push((run.recipe.number, run.recipe.kind, step_s, other)),
            }
        }
    }
    // Where temperature swings by two kelvins only, nothing is told; a wrong size is worse than that.
    let misled = wrong.iter().filter(|(.., told)| told.is_some()).count();
    assert!(asked > 45 && 5 * right >= 4 * asked && misled <= 1, "{right} of {asked}: {wrong:#?}");
}

#[test]
fn a_clock_that_runs_slow_is_told() {
    let (mut asked, mut right, mut wrong) = (0, 0, Vec::new());
    for run in cycling() {
        let rate = 30.0 / run.trace.end_s();
        let drifting = health_clock(&run.trace, &|t_s| rate * t_s);
        asked += 1;
        match said(&drifting) {
            // In whole seconds, as the sentence says it.
            Some(Caveat::ClockDrift { by_s, .. }) if (by_s.round() - 30.0).abs() <= 10.0 => right += 1,
            other => wrong.push((run.recipe.number, run.recipe.kind, other)),
        }
    }
    let misled = wrong.iter().filter(|(.., told)| told.is_some()).count();
    assert!(asked > 15 && 4 * right >= 3 * asked && misled <= 1, "{right} of {asked}: {wrong:#?}");
}

#[test]
fn clocks_of_clean_runs_are_left_alone() {
    let false_ones: Vec<Caveat> = FIRST.iter().filter_map(|(_, findings)| of_clocks(findings)).collect();
    assert!(false_ones.len() <= FIRST.len() / 100, "{false_ones:#?}");
}
