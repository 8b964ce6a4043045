//! Whole sessions in simulated time, on a drive whose every number is known in closed form.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Duration;

use measure::record::{self, EndReason, IoRow, Op, Origin, Record, RunWriter, ThermalSettings};
use measure::{Bytes, BytesPerSec, Instant, Kelvin, QueueDepth};

use super::*;
use crate::load::fake::{FakeDrive, SharedFake};
use drive::settings::fake::{FakeFeatures, HCTM, POWER};
use drive::settings::journal::Journals;
use drive::settings::journal::memory::{CrashDisk, Fuse};
use drive::settings::{DriveSettings, restore};
use drive::system::unknown_drive;
use drive::{DriveIo, Prepared, PreparedSettings};
use plan::{Load, Mix, Order, Rounds, Sharing, Sizes};

const MIB: u64 = 1 << 20;

/// A run and the drive it was on.
struct Run {
    outcome: Outcome,
    record: Record,
    drive: FakeDrive,
    ops: Vec<record::OpRow>,
}

fn run_on(drive: FakeDrive, plan: &Plan) -> Run {
    run_with(drive, plan, Journals::in_memory(), &mut (), |session| session)
}

/// `drive` prepared for a plan, its settings kept in `journals`; and the drive, to be looked at afterwards.
fn prepared(drive: FakeDrive, journals: Journals) -> (Prepared, Rc<RefCell<FakeDrive>>) {
    // A process that was killed before it could ask changes nothing.
    let settings = DriveSettings::open(drive.features.clone()).ok();
    let drive = Rc::new(RefCell::new(drive));
    let io = DriveIo::Simulated(Box::new(SharedFake(Rc::clone(&drive))));
    let settings = settings.map(|drive| PreparedSettings { drive, nsid: None, journals });
    (Prepared { io, settings, notes: Vec::new() }, drive)
}

/// Runs `plan` on a fake drive of 64 MiB; `with` may add flags and rules.
fn run_with(
    drive: FakeDrive,
    plan: &Plan,
    journals: Journals,
    observer: &mut dyn Observer,
    with: impl for<'a> FnOnce(Session<'a>) -> Session<'a>,
) -> Run {
    let parent = tempfile::tempdir().expect("a scratch folder");
    let origin =
        Origin::Twin { profile: "fake".into(), profile_toml: String::new(), seed: plan.seed.as_u64() };
    let facts = unknown_drive("twin", Bytes::new(64 * MIB), 512);
    let manifest = draft_manifest(plan, "twin:fake", origin, facts);
    let writer =
        RunWriter::create(&parent.path().join("run"), manifest, plan.record_ops).expect("a new folder");
    let session = with(Session::new(plan, writer, observer));
    let (prepared, drive) = prepared(drive, journals);
    let outcome = session.run(prepared).expect("a recorded run");
    let record = record::read(&outcome.folder).expect("a readable run");
    let ops = record::read_ops(&outcome.folder).expect("readable").unwrap_or_default();
    let drive = Rc::into_inner(drive).expect("the session is over").into_inner();
    Run { outcome, record, drive, ops }
}

/// Raises a flag, so many times, at the first word of progress, after three intervals; the session heeds it after the fourth.
struct Stopper {
    flag: StopFlag,
    times: u32,
}

impl Observer for Stopper {
    fn progress(&mut self, _: &Progress<'_>) {
        (0..std::mem::take(&mut self.times)).for_each(|_| self.flag.raise());
    }
}

fn load(order: Order, mix: Mix, size: u32, depth: u16) -> Load {
    Load {
        depth: QueueDepth::new(depth).expect("not zero"),
        ..Load::new("l", order, mix, Sizes::Fixed(size))
    }
}

fn phase(name: &str, seconds: u64, loads: Vec<Load>) -> Phase {
    Phase { loads, ..Phase::idle(name, Duration::from_secs(seconds)) }
}

fn plan(phases: Vec<Phase>) -> Plan {
    Plan { phases, ..Plan::new("test") }
}

fn sum(rows: &[IoRow], of: impl Fn(&IoRow) -> u64) -> u64 {
    rows.iter().map(of).sum()
}

/// Goal: every interval holds exactly what completed in it.
/// Method: depth 1 of 1 MB at 1 GB/s and 100 µs; an I/O takes 1.1 ms, so I/O number n is done at n * 1.1 ms.
#[test]
fn intervals_hold_exactly_what_completed_in_them() {
    let run = run_on(
        FakeDrive::new(),
        &plan(vec![phase("p", 1, vec![load(Order::Sequential, Mix::READ, 1_000_000, 1)])]),
    );
    assert_eq!(run.outcome.end.reason, EndReason::Completed);
    let full: Vec<_> = run.record.io.iter().filter(|row| row.span == Duration::from_millis(100)).collect();
    assert_eq!(full.len(), 10);
    for (index, row) in full.iter().enumerate() {
        assert_eq!(row.t, Instant::from_ns(index as u64 * 100_000_000));
        // Done before the end of this interval, less those before its start; done exactly on an edge is after it.
        let done_before = |us: u64| (us - 1) / 1100;
        let wanted = done_before((index as u64 + 1) * 100_000)
            - if index == 0 { 0 } else { done_before(index as u64 * 100_000) };
        assert_eq!((row.ios, row.bytes.as_u64()), (wanted, wanted * 1_000_000), "interval {index}");
        assert_eq!(row.clat.min(), Some(Duration::from_micros(1100)));
        assert_eq!(row.clat.max(), Some(Duration::from_micros(1100)));
        assert_eq!(row.slat.max(), Some(Duration::ZERO));
    }
    // The last I/O was made before the end at 1 s and is done after it: a short interval of its own.
    let last = run.record.io.last().expect("rows");
    assert_eq!((last.t.as_ns(), last.span, last.ios), (1_000_000_000, Duration::from_micros(1000), 1));
    assert_eq!(run.record.manifest.phases[0].end_ns, Some(1_001_000_000));
    assert_eq!(run.record.manifest.phases[0].ended_by.as_deref(), Some("duration"));
}

#[test]
fn idle_phases_and_start_delays_have_idle_rows_and_every_op_has_its_row() {
    let mixed = load(Order::Random, Mix { read: 60, write: 40, trim: 0 }, 4096, 4);
    let delayed = Phase { start_delay: Duration::from_millis(250), ..phase("load", 1, vec![mixed]) };
    let run = run_on(FakeDrive::new(), &plan(vec![phase("rest", 2, vec![]), delayed]));
    let of = |phase: u32, op: Op| run.record.io.iter().filter(move |row| row.phase == phase && row.op == op);
    assert_eq!(of(0, Op::Idle).count(), 20);
    assert_eq!(of(1, Op::Idle).map(|row| row.span).sum::<Duration>(), Duration::from_millis(250));
    assert_eq!(of(1, Op::Read).count(), of(1, Op::Write).count());
    assert!(of(1, Op::Read).all(|row| row.t >= Instant::from_ns(2_250_000_000)));
    // Rows of one operation follow on each other without gap or overlap.
    let rows: Vec<_> = of(1, Op::Read).collect();
    assert!(rows.windows(2).all(|pair| pair[0].t + pair[0].span == pair[1].t));
    let reads = sum(&rows.iter().map(|row| (*row).clone()).collect::<Vec<_>>(), |row| row.ios) as f64;
    let all = run.drive.log.len() as f64;
    assert!((reads / all - 0.6).abs() < 0.03, "{reads} of {all}");
    assert_eq!(run.record.manifest.phases[1].start_ns, Some(2_000_000_000));
}

/// Goal: a phase that waits for the drive to cool ends at the first reading that is low enough, whatever it does.
/// Method: a drive that loses 1 K a second from 310 K on. Bound: the reading of the sixth second.
#[test]
fn a_phase_ends_as_soon_as_the_drive_is_cool() {
    let cooling = || FakeDrive {
        composite: |t| Some(310 - (t.as_ns() / 1_000_000_000).min(100) as u16),
        ..FakeDrive::new()
    };
    for loads in [vec![], vec![load(Order::Sequential, Mix::READ, 4096, 1)]] {
        let until_below = Some(Kelvin::from_kelvin(304));
        let run = run_on(cooling(), &plan(vec![Phase { until_below, ..phase("cool", 60, loads) }]));
        let facts = &run.record.manifest.phases[0];
        assert_eq!(facts.ended_by.as_deref(), Some("temperature"));
        let end_s = facts.end_ns.expect("it ended") as f64 / 1e9;
        assert!((6.0..6.01).contains(&end_s), "{end_s} s");
        assert_eq!(run.outcome.end.reason, EndReason::Completed);
    }
    // Warmer than that to the end: time ends it.
    let until_below = Some(Kelvin::from_kelvin(200));
    let run = run_on(cooling(), &plan(vec![Phase { until_below, ..phase("cool", 3, vec![]) }]));
    assert_eq!(run.record.manifest.phases[0].ended_by.as_deref(), Some("duration"));
}

/// Goal: laps and bytes end a load after exactly as many I/Os, and threads split a region.
#[test]
fn laps_and_bytes_end_a_load_exactly() {
    let laps = Load {
        laps: Some(3),
        threads: 3,
        sharing: Sharing::Split,
        ..load(Order::Sequential, Mix::WRITE, 1 << 20, 4)
    };
    let bytes = Load { bytes: Some(Bytes::new(10 << 20)), ..load(Order::Random, Mix::READ, 4096, 8) };
    let phases = vec![
        Phase { duration: None, ..phase("laps", 1, vec![laps]) },
        Phase { duration: None, ..phase("bytes", 1, vec![bytes]) },
    ];
    let run = run_on(FakeDrive::new(), &plan(phases));
    let mut writes = vec![0; 64];
    let written = run.drive.log.iter().filter(|(_, io)| io.op == Op::Write);
    written.for_each(|(_, io)| writes[(io.offset / MIB) as usize] += 1);
    assert_eq!(writes, vec![3; 64]);
    assert_eq!(run.drive.log.iter().filter(|(_, io)| io.op == Op::Read).count(), 2560);
    let by = |index: usize| run.record.manifest.phases[index].ended_by.clone();
    assert_eq!((by(0).as_deref(), by(1).as_deref()), (Some("laps"), Some("bytes")));
    assert_eq!(sum(&run.record.io, |row| row.bytes.as_u64()), 3 * 64 * MIB + 10 * MIB);
}

/// Goal: a rate is held over every second, whoever shares it.
#[test]
fn a_rate_is_shared_by_all_threads_and_held() {
    let rate = Some(BytesPerSec::new(100e6));
    let paced = Load { rate, threads: 4, ..load(Order::Random, Mix::READ, 4096, 8) };
    let run = run_on(FakeDrive::new(), &plan(vec![phase("p", 10, vec![paced])]));
    for row in run.record.io.iter().filter(|row| row.span == Duration::from_millis(100)) {
        // 10 MB each 100 ms, to within the I/Os that four threads have just in the air.
        assert!(row.bytes.as_u64().abs_diff(10_000_000) <= 8 * 4096, "{} B at {}", row.bytes.as_u64(), row.t);
    }
    let iops = Load { rate_iops: Some(1000.0), ..load(Order::Random, Mix::READ, 4096, 1) };
    let run = run_on(FakeDrive::new(), &plan(vec![phase("p", 10, vec![iops])]));
    assert_eq!(run.drive.log.len(), 10_000);
    let even = run.drive.log.windows(2).all(|pair| pair[1].0 - pair[0].0 == Duration::from_millis(1));
    assert!(even, "one each millisecond");
}

#[test]
fn think_time_lies_between_a_completion_and_the_next_io_of_its_slot() {
    let thinking =
        Load { think_time: Duration::from_micros(900), ..load(Order::Random, Mix::READ, 100_000, 1) };
    let run = run_on(FakeDrive::new(), &plan(vec![phase("p", 1, vec![thinking])]));
    // 100 µs in the server, 100 µs latency, 900 µs thinking.
    let even = run.drive.log.windows(2).all(|pair| pair[1].0 - pair[0].0 == Duration::from_micros(1100));
    assert!(even && run.drive.log.len() == 910, "{}", run.drive.log.len());
}

#[test]
fn two_runs_from_one_seed_are_identical_and_another_seed_differs() {
    let mixed = Load {
        sizes: Sizes::LogUniform { min: 4096, max: 1 << 20, step: 4096 },
        threads: 3,
        ..load(Order::Random, Mix { read: 50, write: 40, trim: 10 }, 4096, 16)
    };
    let mut plan = plan(vec![phase("p", 2, vec![mixed]), phase("rest", 1, vec![])]);
    plan.record_ops = true;
    let (one, two) = (run_on(FakeDrive::new(), &plan), run_on(FakeDrive::new(), &plan));
    assert_eq!(one.record.io, two.record.io);
    assert_eq!(one.record.telemetry, two.record.telemetry);
    assert_eq!(one.ops, two.ops);
    assert_eq!(one.ops.len() as u64, sum(&one.record.io, |row| row.ios));
    plan.seed = Seed::new(2);
    assert_ne!(one.drive.log, run_on(FakeDrive::new(), &plan).drive.log);
}

#[test]
fn telemetry_runs_from_before_the_first_phase_to_after_the_last() {
    let run =
        run_on(FakeDrive::new(), &plan(vec![phase("p", 3, vec![load(Order::Random, Mix::READ, 4096, 1)])]));
    let times: Vec<u64> = run.record.telemetry.iter().map(|row| row.t.as_ns() / 1_000_000).collect();
    assert_eq!(times, [0, 1000, 2000, 3000, 3000]);
    assert_eq!(
        run.record.manifest.end.map(|end| end.t_ns),
        run.record.telemetry.last().map(|row| row.t.as_ns())
    );
}

#[test]
fn the_thermal_limit_stops_the_load_at_the_reading_that_shows_it() {
    let hot = FakeDrive { composite: |t| Some(350 + (t.as_ns() / 1_000_000_000) as u16), ..FakeDrive::new() };
    let mut plan =
        plan(vec![phase("p", 60, vec![load(Order::Random, Mix::READ, 4096, 8)]), phase("q", 1, vec![])]);
    let run = run_on(hot, &plan);
    assert_eq!(run.outcome.end.reason, EndReason::SafetyLimit);
    assert_eq!(
        run.outcome.end.detail.as_deref(),
        Some("composite temperature 85 °C at 8.000 s: the limit is 85 °C")
    );
    assert!(run.drive.log.iter().all(|(t, _)| *t <= Instant::from_ns(8_000_000_000)));
    assert_eq!(run.record.manifest.phases[0].ended_by.as_deref(), Some("safety"));
    assert_eq!(run.record.manifest.phases[1].start_ns, None, "no further phase begins");
    plan.stop_at = Some(Kelvin::from_kelvin(352));
    let hot = FakeDrive { composite: |t| Some(350 + (t.as_ns() / 1_000_000_000) as u16), ..FakeDrive::new() };
    assert_eq!(run_on(hot, &plan).record.manifest.phases[0].end_ns.map(|ns| ns / 1_000_000_000), Some(2));
}

#[test]
fn a_silent_sensor_is_noted_and_does_not_stop_the_run() {
    let silent = FakeDrive { composite: |t| (t.as_ns() < 5_000_000_000).then_some(300), ..FakeDrive::new() };
    let run = run_on(silent, &plan(vec![phase("rest", 30, vec![])]));
    assert_eq!(run.outcome.end.reason, EndReason::Completed);
    assert_eq!(
        run.record.manifest.notes,
        ["no temperature could be read for 10 s after 4.000 s: the thermal limit was not watched there"]
    );
}

#[test]
fn errors_are_counted_survived_up_to_the_limit_and_then_end_the_run() {
    let fails: fn(&drive::io::Io) -> Option<i32> = |io| (io.offset == 8 * 4096).then_some(5);
    let mut plan = plan(vec![phase("p", 1, vec![load(Order::Sequential, Mix::READ, 4096, 1)])]);
    plan.record_ops = true;
    plan.max_errors = 1000;
    let run = run_on(FakeDrive { fails, ..FakeDrive::new() }, &plan);
    assert_eq!(run.outcome.end.reason, EndReason::Completed);
    let failed = run.drive.log.iter().filter(|(_, io)| fails(io).is_some()).count() as u64;
    assert!(failed > 0);
    assert_eq!(sum(&run.record.io, |row| row.errors), failed);
    assert_eq!(run.outcome.errors, failed);
    assert_eq!(sum(&run.record.io, |row| row.ios), run.drive.log.len() as u64 - failed);
    assert!(run.ops.iter().all(|row| row.errno == (row.offset == 8 * 4096).then_some(5)));

    plan.max_errors = 2;
    let run = run_on(FakeDrive { fails: |_| Some(5), ..FakeDrive::new() }, &plan);
    assert_eq!(run.outcome.end.reason, EndReason::DeviceFailed);
    assert_eq!(run.outcome.end.detail.as_deref(), Some("3 I/Os failed, and the plan allows 2"));
    assert_eq!(run.drive.log.len(), 3);
    assert_eq!(run.record.manifest.phases[0].ended_by.as_deref(), Some("errors"));
}

/// Goal: never a byte more than was permitted, by all phases together. Method: a budget that is no multiple of the I/Os,
/// which ends within the second phase.
#[test]
fn no_more_is_written_than_may_be() {
    let two = || {
        phase(
            "p",
            1,
            vec![load(Order::Sequential, Mix::WRITE, 4096, 4), load(Order::Random, Mix::READ, 4096, 1)],
        )
    };
    let plan = plan(vec![two(), two(), two()]);
    let written = |run: &Run| -> u64 {
        let rows = run.record.io.iter().filter(|row| row.op == Op::Write);
        rows.map(|row| row.bytes.as_u64()).sum()
    };
    let all = run_on(FakeDrive::new(), &plan);
    let most = written(&all) / 2 + 1;
    let within = |most: u64| {
        let budget = Some(WriteBudget::new(Bytes::new(most)));
        run_with(FakeDrive::new(), &plan, Journals::in_memory(), &mut (), |session| {
            session.write_budget(budget)
        })
    };
    let run = within(most);
    assert_eq!(run.outcome.end.reason, EndReason::WriteLimit);
    assert!(written(&run) <= most && written(&run) + 4096 > most, "{} of {most}", written(&run));
    assert_eq!(run.record.manifest.phases[1].ended_by.as_deref(), Some("write_limit"));
    assert_eq!(run.record.manifest.phases[2].start_ns, None, "no further phase begins");
    let enough = within(written(&all));
    assert_eq!(enough.outcome.end.reason, EndReason::Completed);
}

#[test]
fn a_drive_that_stops_answering_ends_the_run_and_not_the_tool() {
    let dead = FakeDrive { dies_at: Instant::from_ns(417_000_000_000), ..FakeDrive::new() };
    let run = run_on(dead, &plan(vec![phase("p", 3600, vec![load(Order::Random, Mix::READ, 1 << 20, 4)])]));
    assert_eq!(run.outcome.end.reason, EndReason::DeviceFailed);
    let detail = run.outcome.end.detail.expect("a sentence");
    assert!(detail.contains("does not answer: 4 I/Os in flight and none completed for 120 s"), "{detail}");
    // The stall is in the record: rows with nothing in them up to the end.
    let silent = run.record.io.iter().rev().take_while(|row| row.ios == 0).count();
    assert!((1199..=1201).contains(&silent), "{silent}");
}

#[test]
fn the_first_stop_drains_and_the_second_waits_for_nothing() {
    for raised in 1..=2 {
        let flag = StopFlag::new();
        let plan =
            plan(vec![phase("p", 10, vec![load(Order::Random, Mix::READ, 4096, 8)]), phase("q", 1, vec![])]);
        let mut stopper = Stopper { flag: flag.clone(), times: raised };
        let run = run_with(FakeDrive::new(), &plan, Journals::in_memory(), &mut stopper, |session| {
            session.stop_flag(&flag)
        });
        assert_eq!(run.outcome.end.reason, EndReason::Interrupted);
        let [p, q] = &run.record.manifest.phases[..] else { panic!("two phases") };
        assert_eq!((p.ended_by.as_deref(), q.start_ns), (Some("interrupted"), None));
        assert!(run.drive.log.iter().all(|(t, _)| t.as_ns() <= 400_000_000));
        let lost = run.drive.log.len() as u64 - sum(&run.record.io, |row| row.ios);
        assert_eq!(lost, if raised == 1 { 0 } else { 8 }, "I/Os in flight");
    }
}

#[test]
fn settings_are_made_noted_and_put_back() {
    let before = ThermalSettings { tmt1_k: Some(338), tmt2_k: Some(343), power_state: Some(0) };
    let mut plan = plan(vec![phase("rest", 1, vec![])]);
    plan.settings = ThermalSettings { tmt1_k: Some(330), tmt2_k: None, power_state: Some(1) };
    let journals = Journals::in_memory();
    let run = run_with(FakeDrive::new(), &plan, journals.clone(), &mut (), |session| session);
    let facts = &run.record.manifest.settings;
    assert_eq!((&facts.before, &facts.set, &facts.after), (&before, &plan.settings, &Some(before.clone())));
    let sets: Vec<(u8, u32, bool)> = run.drive.features.state().sets.clone();
    // The half that was not given stays, nothing is saved, and the last change is undone first.
    let tmt = |tmt1: u32| (0x10, tmt1 << 16 | 343, false);
    assert_eq!(sets, [tmt(330), (0x02, 1, false), (0x02, 0, false), tmt(338)]);
    assert!(journals.all().expect("readable").is_empty());

    plan.settings = ThermalSettings { power_state: Some(99), ..ThermalSettings::default() };
    let run = run_on(FakeDrive::new(), &plan);
    assert_eq!(run.outcome.end.reason, EndReason::DeviceFailed);
    let detail = run.outcome.end.detail.expect("a reason");
    assert!(detail.contains("the drive has power state 0 to 2"), "{detail}");
    assert!(run.drive.features.state().sets.is_empty());
}

/// Goal: a whole run killed at any point leaves every setting as found, or `restore` makes it so.
/// Method: 200 seeds draw the step - a command, an I/O, a write or a sync of the journal - in which the process dies,
/// and what of the unsynced is lost; whatever the dead process still does has no effect.
#[test]
fn two_hundred_kills_of_a_whole_run_leave_every_setting_as_found() {
    let mut plan = plan(vec![phase("p", 1, vec![load(Order::Sequential, Mix::READ, 40_000_000, 1)])]);
    plan.settings = ThermalSettings { tmt1_k: Some(330), tmt2_k: Some(340), power_state: Some(1) };
    let run = |fuse: &Fuse, seed: Seed| {
        let drive = FakeDrive::new();
        let features = drive.features.clone();
        features.state().current.insert(HCTM, 305 << 16 | 347);
        features.state().fuse = Some((fuse.clone(), seed));
        let disk = CrashDisk::new(fuse, seed);
        run_with(drive, &plan, Journals::on(disk.clone()), &mut (), |session| session);
        (features, disk)
    };
    let settings_of = |features: &FakeFeatures| [HCTM, POWER].map(|key| features.state().current[&key]);
    let endless = Fuse::endless();
    run(&endless, Seed::new(0));
    let mut changed = 0;
    for number in 0..200 {
        let seed = Seed::new(number);
        let fuse = Fuse::with_steps(seed.part(1).as_u64() % endless.burnt());
        let (features, disk) = run(&fuse, seed);
        changed += u32::from(settings_of(&features) != [305 << 16 | 347, 0]);
        let journals = Journals::on(disk.reopened(seed.part(2).as_u64() & 1 == 0, &Fuse::endless()));
        features.state().fuse = None;
        let mut settings = DriveSettings::open(features.clone()).expect("the drive lives");
        restore(&mut settings, &journals).expect("nobody kills it");
        assert_eq!(settings_of(&features), [305 << 16 | 347, 0], "seed {number}");
        assert!(journals.all().expect("readable").is_empty(), "seed {number}");
    }
    assert!(changed > 60, "only {changed} of 200 kills came while the settings were changed");
}

/// Goal: several kinds of I/O at once keep apart. Method: each load has its own region.
#[test]
fn loads_of_a_phase_run_at_once_in_their_own_regions() {
    let part = |start: u64| plan::Region {
        start: plan::Extent::Bytes(Bytes::new(start)),
        len: Some(plan::Extent::Bytes(Bytes::new(MIB))),
    };
    let reads = Load { region: part(0), ..load(Order::Random, Mix::READ, 4096, 2) };
    let writes = Load {
        region: part(8 * MIB),
        duration: Some(Duration::from_millis(300)),
        ..load(Order::Sequential, Mix::WRITE, 65536, 2)
    };
    let run = run_on(FakeDrive::new(), &plan(vec![phase("p", 1, vec![reads, writes])]));
    for (t, io) in &run.drive.log {
        match io.op {
            Op::Read => assert!(io.offset < MIB),
            _ => assert!((8 * MIB..9 * MIB).contains(&io.offset) && t.as_ns() < 300_000_000),
        }
    }
    let rows = |op: Op| run.record.io.iter().filter(|row| row.op == op).count();
    assert_eq!(rows(Op::Read), rows(Op::Write), "both have rows to the end");
}

/// Goal: rounds end when the caller's rule says so, at the end of a whole round, and the record says which was which.
/// Method: depth 1 of 1 MB at 1 GB/s and 100 µs moves 1 MB in 1.1 ms, whatever the round.
#[test]
fn rounds_end_when_the_rule_says_that_they_are_steady() {
    let read = load(Order::Sequential, Mix::READ, 1_000_000, 1);
    let round = [phase("one", 1, vec![read]), phase("rest", 1, vec![])];
    let mut plan = plan(vec![phase("before", 1, vec![])]);
    let rounds = Rounds::unroll(&mut plan.phases, &round, 9, "one").expect("rounds");
    plan.rounds = Some(rounds);
    let asked = std::cell::RefCell::new(Vec::new());
    let asked_by = &asked;
    let writer_run = |until: usize| {
        let parent = tempfile::tempdir().expect("a scratch folder");
        let origin = Origin::Twin { profile: "fake".into(), profile_toml: String::new(), seed: 1 };
        let facts = unknown_drive("twin", Bytes::new(64 * MIB), 512);
        let manifest = draft_manifest(&plan, "twin:fake", origin, facts);
        let writer = RunWriter::create(&parent.path().join("run"), manifest, false).expect("a new folder");
        let mut observer = ();
        let session = Session::new(&plan, writer, &mut observer).steady_rule(move |speeds: &[f64]| {
            asked_by.borrow_mut().push(speeds.to_vec());
            if speeds.len() >= until { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let (prepared, _drive) = prepared(FakeDrive::new(), Journals::in_memory());
        let outcome = session.run(prepared).expect("a recorded run");
        (outcome.end.reason, record::read(&outcome.folder).expect("a readable run").manifest)
    };
    let (reason, manifest) = writer_run(6);
    assert_eq!(reason, EndReason::Completed);
    let done = manifest.phases.iter().filter(|phase| phase.end_ns.is_some()).count();
    assert_eq!((manifest.phases.len(), done), (19, 13), "six rounds of two, and what came before");
    let told: Vec<_> = manifest.phases[..4].iter().map(|phase| (phase.round, phase.tracked)).collect();
    assert_eq!(told, [(None, false), (Some(1), true), (Some(1), false), (Some(2), true)]);
    assert!(manifest.notes.iter().any(|note| note.contains("steady after round 6")), "{:?}", manifest.notes);
    let asked_so_far = std::mem::take(&mut *asked.borrow_mut());
    assert_eq!(asked_so_far.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    // The last I/O of a second ends in the next: 910 of them in 1.001 s.
    for speed in &asked_so_far[5] {
        assert!((speed / (910e6 / 1.001) - 1.0).abs() < 1e-3, "{speed}");
    }
    let (_, manifest) = writer_run(usize::MAX);
    assert!(manifest.phases.iter().all(|phase| phase.end_ns.is_some()), "no more rounds than the plan has");
}
