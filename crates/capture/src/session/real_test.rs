//! Whole sessions in real time, on real files: threads, stops and failures. Nothing here waits for a time.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use measure::record::{self, EndReason, IoRow, Origin, Record, RunWriter, TelemetryRow};
use measure::{Bytes, Instant, Kelvin, QueueDepth};

use super::*;
use drive::io::Access;
use drive::system::{FileDrive, NullDrive};
use drive::telemetry::{Reading, Sampler};
use drive::{Address, Drive as _, DriveError, DriveIo, FileAddress, Stated};
use plan::{Load, Mix, Order, Sharing, Sizes};

const MIB: u64 = 1 << 20;

/// Longer than any test may take: a phase that has to be ended by something else than its time.
const FOREVER: Duration = Duration::from_secs(3600);

/// A drive of that temperature.
struct Thermometer {
    kelvin: u16,
}

impl Sampler for Thermometer {
    fn source(&self) -> &str {
        "smart"
    }

    fn period(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn sample(&mut self, now: Instant) -> Reading {
        let composite = Some(Kelvin::from_kelvin(self.kelvin));
        Reading {
            row: TelemetryRow { composite, ..TelemetryRow::empty(now, "smart", Duration::ZERO) },
            page: None,
        }
    }
}

/// A scratch folder with a target in it.
struct Scratch {
    folder: tempfile::TempDir,
    stop: StopFlag,
    sampler: Option<Box<dyn Sampler>>,
    before_run: fn(&PathBuf),
    access: Option<Access>,
}

impl Scratch {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        Self { folder, stop: StopFlag::new(), sampler: None, before_run: |_| {}, access: None }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("t.bin")
    }

    /// The file of 8 MiB.
    fn drive(&self) -> FileDrive {
        let file = FileAddress { path: self.file(), size: Some(Bytes::new(8 * MIB)), overwrite: false };
        let address = Address::parse(&format!("file:{}?size=8MiB", file.path.display()));
        FileDrive::new(&address.expect("an address"), &file, Stated::default())
    }

    fn run(self, plan: &Plan) -> (Outcome, Record) {
        self.run_with(plan, || ())
    }

    /// Does `at_progress` whenever there is progress: some intervals after a phase has begun, and again and again.
    fn run_with(self, plan: &Plan, at_progress: impl FnMut()) -> (Outcome, Record) {
        let (outcome, scratch) = self.try_run(plan, &mut AtProgress(at_progress));
        let outcome = outcome.expect("a recorded run");
        assert_eq!(outcome.folder, scratch.run_folder());
        let record = record::read(&outcome.folder).expect("a readable run");
        (outcome, record)
    }

    fn run_folder(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    /// The scratch folder comes back, because the record lies in it.
    fn try_run(mut self, plan: &Plan, observer: &mut dyn Observer) -> (Result<Outcome, SessionError>, Self) {
        let mut drive = self.drive();
        let examined = drive.examine().expect("a file");
        plan::check::check(plan, &examined.limits).expect("a plan that fits");
        let mut prepared = drive.prepare(plan, &mut |_, _| ControlFlow::Continue(())).expect("room");
        let DriveIo::RealTime { access, samplers } = &mut prepared.io else { panic!("a file is real") };
        if let Some(other) = self.access.take() {
            *access = other;
        }
        (self.before_run)(&self.file());
        if let Some(sampler) = self.sampler.take() {
            samplers.push(sampler);
        }
        let address = drive.address().to_string();
        let manifest = draft_manifest(plan, &address, Origin::Device, examined.facts);
        let writer = RunWriter::create(&self.run_folder(), manifest, false).expect("a new folder");
        let session = Session::new(plan, writer, observer).stop_flag(&self.stop);
        (session.run(prepared), self)
    }
}

/// Does something whenever there is progress.
struct AtProgress<F>(F);

impl<F: FnMut()> Observer for AtProgress<F> {
    fn progress(&mut self, _: &Progress<'_>) {
        (self.0)();
    }
}

fn load(order: Order, mix: Mix, size: u32, depth: u16) -> Load {
    let depth = QueueDepth::new(depth).expect("not zero");
    Load { depth, direct: false, ..Load::new("l", order, mix, Sizes::Fixed(size)) }
}

fn plan(phases: Vec<Phase>) -> Plan {
    Plan { phases, ..Plan::new("test") }
}

fn phase(name: &str, duration: Option<Duration>, load: Load) -> Phase {
    Phase { name: name.into(), loads: vec![load], duration, ..Phase::idle("", Duration::ZERO) }
}

fn total(record: &Record, phase: u32, of: impl Fn(&IoRow) -> u64) -> u64 {
    record.io.iter().filter(|row| row.phase == phase).map(of).sum()
}

/// Goal: what several threads do is recorded once and whole, and rows follow on each other.
#[test]
fn laps_of_several_threads_add_up() {
    let writes = Load {
        laps: Some(2),
        threads: 3,
        sharing: Sharing::Split,
        ..load(Order::Sequential, Mix::WRITE, 65_536, 4)
    };
    let reads = Load { laps: Some(1), threads: 2, ..load(Order::Random, Mix::READ, 4096, 8) };
    let (outcome, record) =
        Scratch::new().run(&plan(vec![phase("w", None, writes), phase("r", None, reads)]));
    assert_eq!(outcome.end.reason, EndReason::Completed);
    assert_eq!(total(&record, 0, |row| row.bytes.as_u64()), 16 * MIB);
    assert_eq!(total(&record, 1, |row| row.ios), 2 * 8 * MIB / 4096);
    assert_eq!(total(&record, 1, |row| row.clat.count()), 2 * 8 * MIB / 4096);
    let [w, r] = &record.manifest.phases[..] else { panic!("two phases") };
    assert_eq!((w.ended_by.as_deref(), r.ended_by.as_deref()), (Some("laps"), Some("laps")));
    for (index, facts) in [w, r].into_iter().enumerate() {
        let rows: Vec<_> = record.io.iter().filter(|row| row.phase == index as u32).collect();
        assert_eq!(Some(rows[0].t.as_ns()), facts.start_ns);
        assert!(rows.windows(2).all(|pair| pair[0].t + pair[0].span == pair[1].t));
        let last = rows[rows.len() - 1];
        assert_eq!(Some((last.t + last.span).as_ns()), facts.end_ns);
    }
    assert!(record.manifest.clock_anchor.monotonic_ns.is_some());
    let filled = record.manifest.notes.iter().filter(|note| note.starts_with("8 MiB of ")).count();
    assert_eq!(filled, 1, "{:?}", record.manifest.notes);
}

#[test]
fn a_hot_drive_stops_the_load() {
    let scratch = Scratch { sampler: Some(Box::new(Thermometer { kelvin: 400 })), ..Scratch::new() };
    let (outcome, record) =
        scratch.run(&plan(vec![phase("r", Some(FOREVER), load(Order::Random, Mix::READ, 4096, 8))]));
    assert_eq!(outcome.end.reason, EndReason::SafetyLimit);
    assert!(outcome.end.detail.is_some_and(|detail| detail.starts_with("composite temperature 127 °C")));
    // The reading before the load was over the limit: there was no load.
    assert_eq!((record.io.len(), record.manifest.phases[0].start_ns), (0, None));
    assert!(!record.telemetry.is_empty());
}

/// Goal: a stop ends an endless phase, readings go on to the end, and the folder is closed.
#[test]
fn a_stop_ends_a_load_and_an_idle_phase() {
    for phase in [
        phase("r", Some(FOREVER), load(Order::Random, Mix::READ, 4096, 8)),
        Phase::idle("rest", FOREVER),
        Phase {
            start_delay: FOREVER,
            ..phase("late", Some(FOREVER), load(Order::Random, Mix::READ, 4096, 8))
        },
    ] {
        let stop = StopFlag::new();
        let flag = stop.clone();
        let scratch = Scratch { stop, ..Scratch::new() };
        // The first progress may come before a busy machine has closed two intervals.
        let mut times = 0;
        let (outcome, record) = scratch.run_with(&plan(vec![phase]), move || {
            times += 1;
            if times == 4 {
                flag.raise();
            }
        });
        assert_eq!(outcome.end.reason, EndReason::Interrupted);
        assert_eq!(record.manifest.phases[0].ended_by.as_deref(), Some("interrupted"));
        assert!(!record.unfinished && record.io.len() >= 2, "{} rows", record.io.len());
    }
}

/// A file of 8 MiB of which 7 have been cut off.
fn cut(path: &PathBuf) {
    File::options().write(true).open(path).and_then(|file| file.set_len(MIB)).expect("a file");
}

/// Goal: errors of real I/O are counted and end the run at the limit. Method: a file that is shorter than its load.
#[test]
fn errors_of_a_real_file_end_the_run_at_the_limit() {
    let scratch = Scratch::new();
    let file = File::create_new(scratch.folder.path().join("short.bin")).expect("a new file");
    file.set_len(MIB).expect("room");
    let file = File::open(scratch.folder.path().join("short.bin")).expect("a file");
    let access = Some(Access::files(None, Some(std::sync::Arc::new(file))));
    let plan = plan(vec![phase("r", Some(FOREVER), load(Order::Random, Mix::READ, 4096, 4))]);
    let (outcome, record) = Scratch { access, ..scratch }.run(&plan);
    assert_eq!(outcome.end.reason, EndReason::DeviceFailed);
    assert!(outcome.errors > plan.max_errors && outcome.errors <= plan.max_errors + 4, "{}", outcome.errors);
    assert_eq!(total(&record, 0, |row| row.errors), outcome.errors);
    assert_eq!(record.manifest.phases[0].ended_by.as_deref(), Some("errors"));
}

/// Goal: a file that somebody makes shorter is a failed drive, also for a load that would make it longer again.
#[test]
fn a_file_that_is_cut_under_the_load_is_a_failed_device() {
    for mix in [Mix::READ, Mix::WRITE] {
        let scratch = Scratch { before_run: cut, ..Scratch::new() };
        let plan = plan(vec![phase("p", Some(FOREVER), load(Order::Random, mix, 4096, 4))]);
        let (outcome, record) = scratch.run(&plan);
        assert_eq!(outcome.end.reason, EndReason::DeviceFailed);
        let why = outcome.end.detail.expect("a sentence");
        assert!(why.contains("was cut from 8 MiB to"), "{why}");
        assert_eq!(record.manifest.phases[0].ended_by.as_deref(), Some("errors"));
    }
}

/// Goal: a drive that never answers does not hold the tool. Method: a pipe into which nobody writes, and a user
/// who asks twice.
#[test]
fn a_drive_that_never_answers_is_left_at_the_second_stop() {
    let (reader, _writer) = std::io::pipe().expect("a pipe");
    let file = std::sync::Arc::new(File::from(std::os::fd::OwnedFd::from(reader)));
    let stop = StopFlag::new();
    let sampler = Thermometer { kelvin: 300 };
    let flag = stop.clone();
    let scratch = Scratch {
        access: Some(Access::files(None, Some(file))),
        stop,
        sampler: Some(Box::new(sampler)),
        ..Scratch::new()
    };
    let plan = plan(vec![phase("r", Some(FOREVER), load(Order::Sequential, Mix::READ, 4096, 4))]);
    let (outcome, record) = scratch.run_with(&plan, move || flag.raise());
    assert_eq!(outcome.end.reason, EndReason::Interrupted);
    assert_eq!(total(&record, 0, |row| row.ios), 0);
    assert!(record.io.len() >= 2, "rows of nothing, while nothing came");
}

/// Takes a folder away when a phase begins.
struct Thief(PathBuf);

impl Observer for Thief {
    fn phase_begins(&mut self, _: usize, _: &Phase) {
        std::fs::remove_dir_all(&self.0).expect("it is there at the first phase");
    }
}

/// Goal: a record that cannot be written ends the run. Method: its folder is taken away under it.
#[test]
fn a_record_that_cannot_be_written_stops_the_load() {
    let scratch = Scratch::new();
    let endless = load(Order::Random, Mix::READ, 4096, 8);
    let plan = plan(vec![phase("p", Some(FOREVER), endless)]);
    let mut thief = Thief(scratch.run_folder());
    let (outcome, _scratch) = scratch.try_run(&plan, &mut thief);
    let error = outcome.expect_err("nowhere to write to").to_string();
    assert!(error.starts_with("the load was stopped because the record could not be written: "), "{error}");
    assert!(error.contains("manifest.json"), "{error}");
}

#[test]
fn what_may_not_be_done_is_refused_before_a_folder_is_made() {
    let scratch = Scratch::new();
    std::fs::write(scratch.file(), vec![7; MIB as usize]).expect("space on disk");
    let file = FileAddress { path: scratch.file(), size: None, overwrite: false };
    let address = Address::parse(&format!("file:{}", file.path.display())).expect("an address");
    let mut drive = FileDrive::new(&address, &file, Stated::default());
    let examined = drive.examine().expect("a file");
    let writes = plan(vec![phase("w", Some(FOREVER), load(Order::Sequential, Mix::WRITE, 4096, 1))]);
    let error = plan::check::check(&writes, &examined.limits).expect_err("somebody's file").to_string();
    assert!(error.contains("it holds data that heatsoak did not make"), "{error}");
    let mut refused = |plan: &Plan| drive.prepare(plan, &mut |_, _| ControlFlow::Continue(())).err();
    assert!(matches!(refused(&writes), Some(DriveError::Foreign { .. })));
    let settings = Plan {
        settings: measure::record::ThermalSettings { tmt1_k: Some(330), ..Default::default() },
        ..Plan::new("s")
    };
    assert!(matches!(refused(&settings), Some(DriveError::Settings { .. })));
    assert_eq!(examined.facts.size_bytes, MIB);
    let null = Address::parse("null:").expect("an address");
    let null = NullDrive::new(&null, Bytes::new(MIB), Stated::default()).examine().expect("always there");
    assert!(null.limits.read_only.is_none() && null.limits.direct);
}

/// A power meter that answers once and then not until it is let go.
struct StuckMeter {
    answered: bool,
    let_go: std::sync::mpsc::Receiver<()>,
}

impl Sampler for StuckMeter {
    fn source(&self) -> &str {
        "meter"
    }

    fn period(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn sample(&mut self, now: Instant) -> Reading {
        if std::mem::replace(&mut self.answered, true) {
            // An error is the sender's end.
            let _ = self.let_go.recv();
        }
        let row = TelemetryRow::empty(now, "meter", Duration::ZERO);
        Reading { row, page: None }
    }
}

/// Lets a meter go when the second phase begins.
struct LetGo(Option<std::sync::mpsc::Sender<()>>);

impl Observer for LetGo {
    fn phase_begins(&mut self, index: usize, _: &Phase) {
        if index == 1 {
            self.0 = None;
        }
    }
}

/// Goal: no I/O waits for a meter. Method: a meter that hangs in its second reading until the load is over; if an I/O or
/// its record waited for it, neither would ever end.
#[test]
fn no_io_waits_for_a_meter() {
    let mut scratch = Scratch::new();
    let (hold, let_go) = std::sync::mpsc::channel();
    scratch.sampler = Some(Box::new(StuckMeter { answered: false, let_go }));
    let reads = Load { laps: Some(4), ..load(Order::Random, Mix::READ, 4096, 4) };
    let plan = plan(vec![phase("read", None, reads), Phase::idle("rest", Duration::from_millis(1))]);
    let (outcome, scratch) = scratch.try_run(&plan, &mut LetGo(Some(hold)));
    let record = record::read(&outcome.expect("a recorded run").folder).expect("a readable run");
    assert_eq!(total(&record, 0, |row| row.ios), 4 * 8 * MIB / 4096);
    assert_eq!(record.manifest.end.map(|end| end.reason), Some(EndReason::Completed));
    drop(scratch);
}
