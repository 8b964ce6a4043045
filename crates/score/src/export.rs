//! Writes runs of the corpus with their truth and our verdicts, for programs that are to do the same:
//! `bench/beside_peers.py`.
//!
//! One JSON document a line and run. It holds what a peer may see (phases, speeds and temperatures), what it is asked for (onsets,
//! releases, and where neither counts), and what we said with the time it took.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use analysis::findings::{Caveat, EventKind};
use measure::Point;
use measure::Series;
use measure::time::{Clock as _, MonotonicClock};
use serde_json::{Value, json};

use crate::corpus::{self, Labelled};
use crate::tally::{self, Detection, Tally};

/// How often a run is analysed: the fastest time counts, as other programs on the machine only add to it.
const REPEATS: usize = 5;

/// Writes `runs` to `path`, one after the other, so that each has a processor to itself.
pub(crate) fn write(path: &Path, runs: impl Iterator<Item = Labelled>) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(path)?);
    for run in runs {
        writeln!(out, "{}", line(&run))?;
    }
    out.flush()
}

fn line(run: &Labelled) -> Value {
    let clock = MonotonicClock::start();
    let mut findings = analysis::analyze(&run.trace);
    let mut seconds = clock.now().as_secs_f64();
    for _ in 1..REPEATS {
        let began = clock.now();
        findings = analysis::analyze(&run.trace);
        seconds = seconds.min(clock.now().since(began).as_secs_f64());
    }
    let tally = tally::score(run, &findings);
    let times = |kinds: &[EventKind]| -> Vec<f64> {
        findings.events.iter().filter(|event| kinds.contains(&event.kind)).map(|event| event.t_s).collect()
    };
    json!({
        "number": run.recipe.number,
        "kind": format!("{:?}", run.recipe.kind),
        "hours": run.truth.hours,
        "within_s": run.truth.within_s,
        "throttled": run.truth.throttled,
        "phases": phases(run),
        "speeds": speeds(run),
        "temperatures": temperatures(run),
        "episodes": episodes(run),
        "grey_s": run.truth.grey_s,
        "ours": {
            "seconds": seconds,
            "onsets_s": times(&[EventKind::ThrottleOnset, EventKind::ThermalShutdown]),
            "releases_s": times(&[EventKind::ThrottleRelease]),
            "cyclostationary": findings.caveats.iter().any(|caveat| matches!(caveat, Caveat::Cyclostationary(_))),
            // So that whoever matches events anew can show that it is done alike.
            "counted": counted(&tally),
        },
    })
}

fn phases(run: &Labelled) -> Vec<Value> {
    let phase = |phase: &trace::Phase| {
        json!({
            "op": phase.op,
            "start_s": phase.start_s,
            "end_s": phase.end_s,
            "limit_bytes_per_s": phase.rate_limit_bytes_per_s,
        })
    };
    run.trace.phases.iter().map(phase).collect()
}

fn speeds(run: &Labelled) -> Vec<Value> {
    let series = |series: &trace::SpeedSeries| {
        let column =
            |of: &dyn Fn(&trace::Interval) -> f64| -> Vec<f64> { series.intervals.iter().map(of).collect() };
        json!({
            "op": series.op,
            "start_s": column(&|interval| interval.start_s),
            "span_s": column(&|interval| interval.span_s),
            "bytes": column(&|interval| interval.bytes),
            "phase": column(&|interval| f64::from(interval.phase)),
        })
    };
    run.trace.speeds.iter().map(series).collect()
}

/// Times in seconds, and what the sensor showed then in kelvins.
fn temperatures(run: &Labelled) -> Value {
    let points = run.trace.temperature().map_or(&[][..], Series::points);
    let column = |of: &dyn Fn(&Point<f64>) -> f64| -> Vec<f64> { points.iter().map(of).collect() };
    json!({ "t_s": column(&|point| point.t.as_secs_f64()), "kelvin": column(&|point| point.value) })
}

/// Everything slow that is asked for, heat or not.
fn episodes(run: &Labelled) -> Vec<Value> {
    let episode = |episode: &corpus::Episode| json!({ "heat": episode.heat, "onset_s": episode.onset_s, "release_s": episode.release_s });
    run.truth.episodes.iter().map(episode).collect()
}

fn counted(tally: &Tally) -> Value {
    let of = |Detection { right, missed, false_alarms }: Detection| [right, missed, false_alarms];
    json!({ "onset": of(tally.onset), "release": of(tally.release) })
}
