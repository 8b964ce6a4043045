//! Stalls of simulated drives whose pauses are known, and of drives without any.

use std::time::Duration;

use analysis::accesses::{accesses, stalled};
use measure::record::{Op, OpRow};
use measure::{Instant, Seed};
use physics::Profile;
use physics::drive::Drive;
use physics::truth::TruthKind;
use serde_json::Value;
use trace::{Phase, SegmentOp, Trace};

use crate::support::Scratch;

/// Accesses of `op` one after another, 4 KiB to 4 MiB at random, with the time at which each began and ended, to a
/// millisecond as a coarse table has it.
fn walk(drive: &mut Drive, op: Op, count: usize) -> Vec<OpRow> {
    let mut rows = Vec::new();
    let mut done = Vec::new();
    let ms = |t: Instant| Instant::from_ns(t.as_ns() / 1_000_000 * 1_000_000);
    let mut draw = 1_u64;
    for index in 0..count {
        // A linear congruential generator (Knuth's MMIX) is random enough for sizes and places.
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let len = 4096_u32 << ((draw >> 33) % 11);
        let offset = (draw >> 20) % (1 << 30) / 4096 * 4096;
        let begun = drive.now() + Duration::from_millis((draw >> 40) % 8);
        drive.submit(begun, index as u64, op, offset, len);
        while done.is_empty() {
            let until = drive.next_completion().expect("something is under way");
            drive.advance(until, &mut done);
        }
        let (_, end) = done.remove(0);
        let (t, end) = (ms(begun), ms(end + Duration::from_micros(500)));
        let slat = Duration::ZERO;
        rows.push(OpRow { t, phase: 0, worker: 0, op, offset, len, slat, clat: end - t, errno: None });
    }
    rows
}

/// Goal: precision and recall of 0.95 and more at a resolution of 1 ms. Method: drives that pause for a known time, at
/// random and like clockwork; an access that lay in a pause for 20 ms and longer is a stall, one that met none is not,
/// and what lies between counts for neither.
#[test]
fn known_pauses_are_found_and_nothing_else() {
    let dip = |timing: &str, every_s: f64, duration_s: f64| {
        format!(
            "\n[[dip]]\nname = \"pause\"\nevery_s = {every_s:?}\ntiming = \"{timing}\"\nduration_s = {duration_s:?}\nspeed_share = 0.0\n"
        )
    };
    for (timing, every_s, duration_s) in
        [("poisson", 1.0, 0.06), ("poisson", 3.0, 0.5), ("periodic", 2.0, 0.2), ("poisson", 0.5, 0.12)]
    {
        let text = Profile::builtin_toml("slc").expect("it is built in").to_owned()
            + &dip(timing, every_s, duration_s);
        let profile = Profile::from_toml(&text).unwrap_or_else(|error| panic!("{error}"));
        for op in [Op::Read, Op::Write] {
            let mut drive = Drive::new(&profile, Seed::new(7));
            let rows = walk(&mut drive, op, 20_000);
            let edges = |kind: TruthKind| {
                drive
                    .truth()
                    .iter()
                    .filter(move |event| event.kind == kind)
                    .map(|event| event.t.as_secs_f64())
            };
            let pauses: Vec<(f64, f64)> = edges(TruthKind::DipBegin).zip(edges(TruthKind::DipEnd)).collect();
            assert!(pauses.len() > 20, "{} pauses", pauses.len());
            let found = stalled(&rows.iter().collect::<Vec<_>>());
            let (mut right, mut wrong, mut missed) = (0, 0, 0);
            for (row, found) in rows.iter().zip(found) {
                let (from_s, to_s) = (row.t.as_secs_f64(), (row.t + row.clat).as_secs_f64());
                let met = |pause: &(f64, f64)| (to_s.min(pause.1) - from_s.max(pause.0)).max(0.0);
                let waited_s = pauses.iter().map(met).fold(0.0, f64::max);
                match (found, waited_s) {
                    (true, 0.02..) => right += 1,
                    (false, 0.02..) => missed += 1,
                    (true, ..=0.001) => wrong += 1,
                    _ => {}
                }
            }
            let (precision, recall) =
                (f64::from(right) / f64::from(right + wrong), f64::from(right) / f64::from(right + missed));
            println!(
                "{timing} {duration_s} s every {every_s} s, {op}: precision {precision:.3}, recall {recall:.3} of {}",
                right + missed
            );
            assert!(
                precision >= 0.95 && recall >= 0.95,
                "{timing} {duration_s} s, {op}: {right} {wrong} {missed}"
            );
        }
    }
}

#[test]
fn drives_without_pauses_have_no_stalls() {
    for name in ["slc", "nvme-512gb-gen4", "sata-2tb", "relay", "ssd1"] {
        let profile = Profile::builtin(name).expect("it is built in");
        for op in [Op::Read, Op::Write] {
            let mut drive = Drive::new(&profile, Seed::new(7));
            drive.advance_demand(Instant::from_ns(20_000_000_000), &physics::drive::Demand::Idle);
            let rows = walk(&mut drive, op, 10_000);
            let mut trace = Trace::empty(name);
            trace.phases.push(Phase::bare("walk", SegmentOp::from(op), 0.0, 1e6));
            let (found, _) = accesses(&trace, &rows).expect("there are accesses");
            assert_eq!(found.stalls[0].stalled, 0, "{name}, {op}: {:?}", found.stalls);
        }
    }
}

/// Goal: the figures of the article on a QLC drive come from plans on the command line, and those of the validation are the
/// same. Method: rows D4 to D9b by `run`, held against the quantities of `validate`, whose bounds are the rows'.
#[test]
fn the_qlc_article_comes_from_plans() {
    let scratch = Scratch::new();
    let run = |plan: &str| -> (Value, Vec<OpRow>) {
        let done = scratch.run(&["run", plan, "--drive", "twin:om8tap4", "--out", plan, "--json", "-q"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let ops = measure::record::read_ops(&scratch.path(plan)).expect("a record").expect("single accesses");
        (serde_json::from_str(&done.stdout).expect("findings"), ops)
    };
    let rows = validation::part_with(3, &|_| {}).expect("the part of the QLC drive");
    let stated = |id: &str, number: usize| {
        let row = rows.iter().find(|row| row.id == id).expect("a row");
        assert!(row.holds, "{id}: {}", row.reproduced);
        row.quantities[number].got
    };
    let near = |id: &str, number: usize, got: f64, share: f64| {
        let expected = stated(id, number);
        assert!(
            (got / expected - 1.0).abs() <= share,
            "{id}: {got} by the command line, {expected} by validate"
        );
    };
    let (found, ops) = run("random-sizes");
    let speed = |phase: usize| found["power"]["rows"][phase]["bytes_per_s"].as_f64().expect("a speed");
    let (gib, cache) = (1_073_741_824.0, &found["slc_cache"]);
    let number = |key: &str| cache[key].as_f64().expect("a cache");
    near("D2", 0, number("before_bytes_per_s") / gib, 0.02);
    near("D2", 1, number("bytes") / gib / 4.0, 0.02);
    near("D3", 0, number("after_bytes_per_s") / 1e6, 0.02);
    near("D4", 0, speed(4) / 1e6, 0.02);
    near("D5", 0, speed(5) / 1e9, 0.02);
    // Single accesses are the same I/Os at the same times.
    let of = |op: Op| ops.iter().filter(move |row| row.phase == 3 && row.op == op);
    let mb_per_s = |row: &OpRow| f64::from(row.len) / row.span().as_secs_f64() / 1e6;
    let middle = |op: Op| {
        let large =
            of(op).filter(|row| f64::from(row.len) >= 1e7 && (op == Op::Read || f64::from(row.len) <= 1e8));
        let mut speeds: Vec<f64> = large.map(mb_per_s).collect();
        speeds.sort_by(f64::total_cmp);
        speeds[speeds.len() / 2]
    };
    near("D6b", 0, middle(Op::Write), 1e-9);
    near("D8", 0, middle(Op::Read), 1e-9);
    let small =
        |op: Op| of(op).filter(|row| f64::from(row.len) < 3e5).map(|row| row.span().as_secs_f64().recip());
    near("D7", 1, small(Op::Write).fold(0.0, f64::max), 1e-9);
    let hundred = small(Op::Read).filter(|iops| (50.0..=200.0).contains(iops)).count();
    near("D8a", 0, hundred as f64 / small(Op::Read).count() as f64, 1e-9);
    stated("D6", 1);
    let (found, ops) = run("buffered");
    let longest = |op: Op, least: u32| {
        ops.iter()
            .filter(|row| row.phase == 1 && row.op == op && row.len >= least)
            .map(|row| row.span().as_secs_f64())
            .fold(0.0, f64::max)
    };
    near("D9", 0, longest(Op::Read, 200_000_000), 1e-9);
    near("D9b", 0, longest(Op::Write, 300_000_000), 1e-9);
    let notes = std::fs::read_to_string(scratch.path("buffered/manifest.json")).expect("a manifest");
    assert!(notes.contains("SIMULATED page cache"), "the record says whose memory it is");
    assert_eq!(found["accesses"]["stalls"][0]["owner"], "page_cache");
    stated("D1", 1);
    stated("D10", 1);
}

/// Goal: the cache comes back with rest: nothing after a minute, all of it after half an hour.
#[test]
fn the_cache_of_the_qlc_article_recovers() {
    let scratch = Scratch::new();
    let done = scratch.run(&["run", "cache-recovery", "--drive", "twin:om8tap4", "--json", "-q"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let found: Value = serde_json::from_str(&done.stdout).expect("findings");
    let fast: Vec<f64> = found["fills"]
        .as_array()
        .expect("fills")
        .iter()
        .map(|fill| fill["fast_bytes"].as_f64().expect("bytes") / 1_073_741_824.0)
        .collect();
    assert!(fast[0] > 98.0 && fast[1] < 2.0 && (10.0..25.0).contains(&fast[2]) && fast[3] > 98.0, "{fast:?}");
}
