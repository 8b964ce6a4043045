//! What a speed is held against: full speed is known by a reference, and no load is one by itself.

use agree::UNWRAPPED;
use analysis::findings::{Label, PolicyClass, SegmentOp};
use measure::record::Op;
use report::{ReportInput, html, sentences, terminal};
use trace::Caveat;

use crate::scene;

/// Two phases of writing for 300 s each at these speeds in bytes per second, from 30 to 62 °C and then at 62 °C, as a
/// log that tells no loads apart.
fn two_writes(first: f64, second: f64) -> ReportInput {
    let mut run = scene::vendor();
    run.findings.events.clear();
    run.findings.policy.class = PolicyClass::None;
    run.findings.segments.truncate(2);
    for (segment, rate) in run.findings.segments.iter_mut().zip([first, second]) {
        segment.op = SegmentOp::Write;
        segment.mean_bytes_per_s = Some(rate);
    }
    run.findings.segments[1].end_s = 600.0;
    for (phase, name) in run.phases.iter_mut().zip(["fill", "again"]) {
        (phase.name, phase.op, phase.what) = (name.to_owned(), "write".to_owned(), String::new());
    }
    run.loads.clear();
    let reads = run.speed.iter().position(|series| series.op == Op::Read).expect("it reads");
    let reads = run.speed.remove(reads).intervals;
    let writes = run.speed.iter_mut().find(|series| series.op == Op::Write).expect("it writes");
    writes.intervals.extend(reads);
    for interval in &mut writes.intervals {
        interval.value = if interval.start_s < 299.95 { first } else { second };
    }
    for point in run.temperature.iter_mut().flat_map(|readings| &mut readings.points) {
        point.1 = point.1.map(|c| if point.0 < 300.0 { c } else { 62.0 });
    }
    run
}

fn told(run: &ReportInput) -> String {
    let agreement = agree::check(run);
    assert!(agreement.wrong.is_empty(), "{:#?}", agreement.wrong);
    terminal(run, &UNWRAPPED)
}

/// The cells of a load in the terminal's table.
fn row<'a>(text: &'a str, phase: &str) -> Vec<&'a str> {
    let row = text.lines().find(|line| line.starts_with(&format!("{phase} "))).expect("a row");
    row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

fn has(text: &str, wanted: &str) {
    assert!(text.contains(wanted), "{wanted:?} is not in\n{text}");
}

fn states(run: &ReportInput) -> Vec<&'static str> {
    sentences::summary(run).states(&run.findings.segments)
}

/// Goal: a speed that goes to and fro is not called constant, and its mean is no full speed. Method: three to two seconds at two speeds.
#[test]
fn a_load_that_goes_to_and_fro_is_unsteady() {
    let mut run = two_writes(2.6e9, 2.6e9);
    let writes = run.speed.iter_mut().find(|series| series.op == Op::Write).expect("it writes");
    let slow = |start_s: f64| start_s < 299.95 && start_s as usize % 5 < 3;
    writes.intervals.iter_mut().filter(|i| slow(i.start_s)).for_each(|interval| interval.value = 1.1e9);
    let text = told(&run);
    assert_eq!(row(&text, "fill")[2..4], ["1.70 GB/s", "–"], "{text}");
    has(
        &text,
        "fill (write): unsteady, mean 1.70 GB/s for 300 s; 1.10 GB/s to 2.60 GB/s in nine tenths of it;",
    );
    assert_eq!(states(&run)[0], "unsteady");
}

/// Goal: constant is not full speed. Method: writing at 39 MB/s after writing at 2.60 GB/s.
#[test]
fn a_slow_load_is_not_at_full_speed_because_nothing_within_it_was_faster() {
    let run = two_writes(2.6e9, 3.9e7);
    let text = told(&run);
    assert_eq!(row(&text, "fill")[2..4], ["2.60 GB/s", "–"], "that it warmed by 32 K does not say so either");
    assert_eq!(row(&text, "again")[2..4], ["39 MB/s", "–"], "nothing says how fast it could be");
    has(
        &text,
        "again (write): constant 39 MB/s for 300 s; no faster speed is known for this load itself; phase `fill` wrote at \
         2.60 GB/s; 1 % of the link rate.",
    );
    assert_eq!(states(&run), ["constant"; 2]);
    assert_eq!(html(&run).matches("data-label=\"State\">full speed<").count(), 0);
}

/// Goal: the same in a log without phases. Method: rest between two stretches of writing.
#[test]
fn a_log_without_phases_has_the_other_stretch_as_evidence() {
    let mut run = two_writes(2.6e9, 3.9e7);
    run.phases.clear();
    let mut rest = run.findings.segments[0].clone();
    (rest.start_s, rest.end_s, rest.op, rest.label) = (300.0, 310.0, SegmentOp::Idle, Label::Idle);
    rest.mean_bytes_per_s = None;
    run.findings.segments[1].start_s = 310.0;
    run.findings.segments.insert(1, rest);
    has(
        &told(&run),
        "no faster speed is known for this load itself; the drive wrote at 2.60 GB/s from 0 s on;",
    );
    assert_eq!(states(&run), ["constant", "idle", "constant"]);
}

/// Goal: that heat did nothing does not make a speed full. Method: a drive that warms under the slower of two loads,
/// which the record tells apart or not, or which are the same.
#[test]
fn a_load_that_warmed_the_drive_is_held_against_a_faster_one_like_it() {
    let mut run = two_writes(8e8, 2e9);
    let text = told(&run);
    assert_eq!(row(&text, "fill")[2..4], ["800 MB/s", "–"]);
    has(
        &text,
        "fill (write): constant 800 MB/s for 300 s; no faster speed is known for this load itself; no slower at 62 °C than \
         at 30 °C; phase `again` wrote at 2.00 GB/s;",
    );
    assert_eq!(states(&run), ["constant"; 2], "neither shows that it is full speed");

    (run.phases[0].what, run.phases[1].what) = ("random write".to_owned(), "sequential write".to_owned());
    let text = told(&run);
    let asked = "another load, of which is known what was asked for";
    assert_eq!(row(&text, "fill")[2..4], ["800 MB/s", "100 %"], "{asked}");
    has(&text, "fill (write): constant 800 MB/s for 300 s; no slower at 62 °C than at 30 °C.");
    assert_eq!(states(&run), ["full speed", "constant"]);

    run.phases[1].what = run.phases[0].what.clone();
    let text = told(&run);
    assert_eq!(row(&text, "fill")[2..4], ["800 MB/s", "40 %"], "the same load");
    has(&text, "constant 800 MB/s for 300 s; 40 % of full speed, 2.00 GB/s in phase `again`.");
}

/// Goal: a cold load borrows what another phase of the same load shows. Method: rounds of one load, in one of which heat slowed it down.
#[test]
fn rounds_of_one_load_share_their_reference() {
    let rounds = |again: f64| {
        let mut run = two_writes(2e9, again);
        run.phases.iter_mut().for_each(|phase| phase.what = "sequential write".to_owned());
        let mut slow = run.findings.segments[0].clone();
        (slow.label, slow.start_s, slow.mean_bytes_per_s) = (Label::Throttled, 200.0, Some(1e9));
        (run.findings.segments[0].label, run.findings.segments[0].end_s) = (Label::FullSpeed, 200.0);
        run.findings.segments.insert(1, slow);
        let writes = run.speed.iter_mut().flat_map(|series| &mut series.intervals);
        let slow = writes.filter(|interval| (199.95..299.95).contains(&interval.start_s));
        slow.for_each(|interval| interval.value = 1e9);
        told(&run)
    };
    let text = rounds(1.98e9);
    assert_eq!(row(&text, "again")[2..4], ["1.98 GB/s", "99 %"]);
    has(&text, "again (write): constant 1.98 GB/s for 300 s; 99 % of full speed, 2.00 GB/s in phase `fill`.");
    let text = rounds(2.02e9);
    assert_eq!(row(&text, "again")[2..4], ["2.02 GB/s", "100 %"]);
    has(&text, "again (write): constant 2.02 GB/s for 300 s; no slower than the same load in phase `fill`.");
    let text = rounds(3e9);
    assert_eq!(row(&text, "again")[2..4], ["3.00 GB/s", "–"], "faster than what shows a full speed");
}

/// Goal: a constant mean hides no stop. Method: one second of 300 at 184 kB/s.
#[test]
fn a_second_far_below_the_mean_is_told() {
    let mut run = two_writes(1.2e9, 1.2e9);
    assert!(!told(&run).contains("slowest"));
    let writes = run.speed.iter_mut().flat_map(|series| &mut series.intervals);
    for interval in writes.filter(|interval| (99.95..100.95).contains(&interval.start_s)) {
        interval.value = 1.84e5;
    }
    has(&told(&run), "no slower at 62 °C than at 30 °C; 30 % of the link rate; slowest second: 184 kB/s.");
}

/// Goal: a link that carries far more is told. Method: the same speed as reads, as warmed writes, and as cold ones.
#[test]
fn the_share_of_the_link_is_told_where_it_says_something() {
    let mut run = two_writes(1.57e9, 1.57e9);
    run.link_bytes_per_s = Some(3.938e9);
    let text = told(&run);
    has(
        &text,
        "fill (write): constant 1.57 GB/s for 300 s; no faster speed is known for this load; no slower at 62 °C than \
         at 30 °C; 40 % of the link rate.",
    );
    has(
        &text,
        "again (write): constant 1.57 GB/s for 300 s; no faster speed is known for this load; 40 % of the link rate.",
    );
    run.speed.iter_mut().for_each(|series| series.op = Op::Read);
    run.findings.segments.iter_mut().for_each(|segment| segment.op = SegmentOp::Read);
    run.phases.iter_mut().for_each(|phase| phase.op = "read".to_owned());
    has(&told(&run), "no slower at 62 °C than at 30 °C; 40 % of the link rate.");

    let mut run = two_writes(3.8e9, 1.9e9);
    run.link_bytes_per_s = Some(3.938e9);
    run.findings.segments[0].label = Label::FullSpeed;
    let text = told(&run);
    assert_eq!(row(&text, "fill")[2..4], ["3.80 GB/s", "100 %"], "faster it cannot be");
    has(
        &text,
        "fill (write): constant 3.80 GB/s for 300 s; no slower at 62 °C than at 30 °C; 96 % of the link rate.",
    );
}

/// Goal: what is not known is not summed up as if it were. Method: a drop within a load shows what came before it.
#[test]
fn a_drop_within_a_load_shows_its_full_speed() {
    let mut run = two_writes(2.6e9, 3.9e7);
    (run.findings.segments[0].label, run.findings.segments[1].label) = (Label::FullSpeed, Label::Unknown);
    run.phases.pop();
    run.phases[0].end_s = 600.0;
    assert_eq!(states(&run), ["full speed", "slowdown"]);
    assert!(!sentences::summary(&run).sentences().join(" ").contains("no faster speed"));
}

/// Goal: JSON does not say "full speed" where the page says that none is known. Method: a record of a load at one speed whose drive did not
/// warm, and of one that stayed as fast while it did.
#[test]
fn the_findings_of_a_report_name_no_full_speed_that_it_does_not() {
    let labels = |run: &ReportInput| {
        let segments = serde_json::to_value(&run.findings.segments).expect("JSON");
        let labels = segments.as_array().into_iter().flatten();
        labels.map(|one| one["label"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let still = scene::constant(0.0);
    assert_eq!(labels(&still), ["unknown"], "{}", told(&still));
    has(&told(&still), "no faster speed is known for this load");
    let warmed = scene::constant(20.0);
    assert_eq!(labels(&warmed), ["full_speed"], "{}", told(&warmed));
    has(&told(&warmed), "no slower at");
}

/// Goal: nothing is idle that moves data, and what moves none has one row. Method: half of a log is a phase without a load, with data and without.
#[test]
fn an_idle_phase_that_moves_data_is_a_light_load() {
    let mut run = two_writes(2.6e9, 5e8);
    (run.phases[1].name, run.phases[1].op) = ("idle".to_owned(), "idle".to_owned());
    (run.findings.segments[1].op, run.findings.segments[1].label) = (SegmentOp::Idle, Label::Idle);
    assert_eq!(row(&told(&run), "light load")[2], "500 MB/s");
    let of_op = |op: Op| {
        let mut series = run.speed.iter().find(|series| series.op == Op::Write).expect("it writes").clone();
        series.op = op;
        let still = series.intervals.iter_mut().filter(|i| i.start_s >= 299.95);
        still.for_each(|interval| interval.value = 0.0);
        series
    };
    run.speed = vec![of_op(Op::Write), of_op(Op::Read)];
    let text = told(&run);
    assert_eq!(text.matches("\nidle ").count(), 1, "{text}");
    assert!(row(&text, "idle").contains(&"idle"), "{text}");
}

/// Goal: one mean is not called constant. Method: two loads of which one row each is known.
#[test]
fn one_mean_is_not_called_constant() {
    let mut run = two_writes(2.6e9, 3.9e7);
    let writes = run.speed.iter_mut().find(|series| series.op == Op::Write).expect("it writes");
    writes
        .intervals
        .retain(|interval| interval.start_s < 0.05 || (300.0..300.05).contains(&interval.start_s));
    writes.intervals.iter_mut().for_each(|interval| interval.span_s = 300.0);
    let text = told(&run);
    has(&text, "fill (write): one mean, 2.60 GB/s for 300 s; whether it was constant is not known;");
    assert_eq!(states(&run), ["one mean"; 2]);
    assert_eq!(row(&text, "fill").last(), Some(&"one mean"));
}

/// Goal: a speed is told for the time that was recorded. Method: two thirds of a load are missing.
#[test]
fn a_load_is_told_with_how_much_of_it_was_recorded() {
    let mut run = two_writes(2.6e9, 2.6e9);
    let writes = run.speed.iter_mut().find(|series| series.op == Op::Write).expect("it writes");
    writes.intervals.retain(|interval| interval.start_s < 100.0 || interval.start_s >= 300.0);
    let text = told(&run);
    has(&text, "fill (write): constant 2.60 GB/s for 100 s recorded of 300 s;");
    has(&text, "again (write): constant 2.60 GB/s for 300 s;");
}

/// Goal: full speed is that of the drive, whatever its power state. Method: the same load 2.5 times as fast in another one.
#[test]
fn a_slower_power_state_is_no_full_speed() {
    let mut run = two_writes(2e9, 2e9);
    run.phases.iter_mut().for_each(|phase| phase.what = "sequential write".to_owned());
    run.findings.segments.iter_mut().for_each(|segment| segment.label = Label::Slower);
    run.findings.caveats.push(Caveat::SlowerPowerState {
        op: SegmentOp::Write,
        power_state: 6,
        bytes_per_s: 2e9,
        faster_power_state: 0,
        faster_bytes_per_s: 5e9,
    });
    let text = told(&run);
    assert_eq!(row(&text, "fill")[2..4], ["2.00 GB/s", "40 %"], "{text}");
    has(
        &text,
        "constant 2.00 GB/s for 300 s; 40 % of full speed, 5.00 GB/s in power state 0 of another run.",
    );
    has(
        &text,
        "Power state 6 is slower, without throttling: the drive wrote at 2.00 GB/s in it, and at 5.00 GB/s in power state 0, 2.5 times as fast.",
    );
    assert_eq!(states(&run), ["constant"; 2]);
}
