//! A measurement of a drive with known parameters has to find the parameters.
//!
//! Truth is read from the profile and from the settings that the test makes, so that a changed profile changes what
//! is expected. Bounds are those the tool promises: thresholds to a kelvin, speeds while throttled to 3 %, the
//! size of the fast write cache to 2 %.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use analysis::findings::{Cause, EventKind, Findings, Label, PolicyClass};
use drive::settings::{Change, DriveSettings};
use measure::record::{self, Manifest, Origin};
use measure::{Clock as _, Kelvin, MonotonicClock};
use nvme::hctm::Hctm;
use trace::Trace;
use twin::controller::Scale;

use crate::known::{profile, tmt1_k, twin_findings, within, within_a_kelvin};
use crate::loopback::drive::Vssd;
use crate::support::Scratch;

/// Simulated seconds in one of ours: six minutes pass in 18 s.
const TIME: u32 = 20;
/// Simulated bytes for one of ours: 3 GB/s are moved as 50 MB/s.
const BANDWIDTH: u32 = 1200;

/// How much work the queue of [`READ`] holds, in seconds.
const QUEUE_S: f64 = 0.04;

/// Twenty seconds of rest, then reading for six minutes, in the drive's own time.
///
/// The queue holds 40 ms of work: a host that is kept from its processor for less leaves no gap in the load, and
/// what it finds completed afterwards makes up for what it missed. Stops are not told from longer gaps by an
/// interval, so the class of a policy is asserted only where that does not matter.
const READ: &str = r#"
interval = "50ms"
[telemetry]
smart_period = "20ms"
[[phase]]
name = "rest"
op = "idle"
duration = "1s"
[[phase]]
name = "read"
op = "read"
block_size = "16KiB"
depth = 120
region = { start = "0B", len = "50MiB" }
duration = "18s"
"#;

/// Runs `plan` as a user would. The drive says how much faster it lives, so findings are of its own time: what verdicts
/// know about drives - how fast they can heat, how long a cycle is - holds there and not for a time-lapse of it.
fn findings(drive: &Vssd, plan: &str) -> Findings {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("plan.toml"), plan).expect("a scratch file");
    let done = scratch.run(&["run", "plan.toml", "--drive", &drive.url(), "--out", "run", "--quiet"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stdout.contains("SIMULATED"), "what a virtual SSD shows is said to be simulated");
    let scale = drive.unit().with_drive(|one| one.scale()).expect("a drive");
    assert!(done.stdout.contains(&format!("lives {} times as fast", scale.time())), "{}", done.stdout);
    in_its_own_time(&scratch.path("run"), scale);
    let record = record::read(&scratch.path("run")).expect("a run folder");
    analysis::analyze(&Trace::from_record(&record))
}

/// The record is written in our time, and read in the drive's.
fn in_its_own_time(run: &Path, scale: Scale) {
    let written = record::read_manifest(run).expect("a manifest");
    let Origin::VirtualSsd { time_scale, bandwidth_scale, .. } = written.origin else {
        panic!("{written:?}")
    };
    assert_eq!((time_scale, bandwidth_scale), (scale.time(), scale.bandwidth()));
    let read = record::read(run).expect("a run folder").manifest;
    let end_ns = |manifest: &Manifest| manifest.end.as_ref().expect("it ended").t_ns;
    assert_eq!(end_ns(&read), end_ns(&written) * u64::from(time_scale));
    assert_eq!(read.drive.size_bytes, written.drive.size_bytes * u64::from(bandwidth_scale));
}

/// Of a drive that nobody has used yet. A run in which this machine was too busy is no measurement, and is made again.
fn read(profile: &str) -> Findings {
    const TRIES: usize = 3;
    let once = || watched(|| findings(&Vssd::scaled(profile, TIME, BANDWIDTH), READ));
    let (mut found, mut away_s) = once();
    for _ in 1..TRIES {
        if away_s <= QUEUE_S {
            break;
        }
        (found, away_s) = once();
    }
    found
}

/// What comes of `run`, and for how long at most, in seconds, a thread that only looks at the clock was kept from its processor
/// meanwhile.
fn watched<T>(run: impl FnOnce() -> T) -> (T, f64) {
    const LOOK: Duration = Duration::from_millis(5);
    // Its end, also by a panic, ends the looking.
    let (running, over) = mpsc::channel::<()>();
    let clock = &MonotonicClock::start();
    std::thread::scope(|scope| {
        let looks = scope.spawn(move || {
            let mut most_s = 0.0f64;
            let mut before = clock.now();
            while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let now = clock.now();
                most_s = most_s.max(now.since(before).as_secs_f64() - LOOK.as_secs_f64());
                before = now;
            }
            most_s
        });
        let found = {
            let _running = running;
            run()
        };
        (found, looks.join().expect("it only looks"))
    })
}

#[test]
fn a_relay_at_tmt1() {
    let found = read("relay");
    within_a_kelvin(found.policy.onset_k, tmt1_k("relay"), "onset");
    within_a_kelvin(
        found.policy.release_k,
        tmt1_k("relay") - profile("relay").policy[0].hysteresis_k,
        "release",
    );
    within(found.policy.floor_bytes_per_s, 3.0e8, 0.03, "floor");
    let onsets = || found.events.iter().filter(|event| event.kind == EventKind::ThrottleOnset);
    assert!(
        onsets().count() >= 2 && onsets().all(|event| event.cause == Cause::HctmTmt1),
        "{:?}",
        found.events
    );
    heats_as_in_simulated_time(&found);
}

/// Heating is what a wrong clock would spoil most, by the time scale: cold, the drive takes as long to its first
/// throttling as the same drive takes without a host. Gains and time constants say the same with more arithmetic, but
/// a relay's cycles may leave them open, and a busy machine does. A wrong clock is wrong by [`TIME`]; a host kept from
/// its processor loads the drive less and so delays the onset, by 6 % in the worst of 16 runs beside other work.
fn heats_as_in_simulated_time(found: &Findings) {
    let plan = r#"
[[phase]]
name = "rest"
op = "idle"
duration = "20s"
[[phase]]
name = "read"
op = "read"
block_size = "1MiB"
depth = 64
region = { start = "0B", len = "60GB" }
duration = "6m"
"#;
    let first_onset_s = |findings: &Findings| {
        findings.events.iter().find(|event| event.kind == EventKind::ThrottleOnset).map(|event| event.t_s)
    };
    let alone_s = first_onset_s(&twin_findings("relay", plan)).expect("it is throttled");
    within(first_onset_s(found), alone_s, 0.25, "the time of the first onset");
}

/// The thresholds are not read from the profile but set, over the wire.
#[test]
fn a_relay_whose_tmt1_was_set_by_the_host() {
    let drive = Vssd::scaled("relay", TIME, BANDWIDTH);
    let tmt1_k = 331;
    let hctm = Hctm { tmt1: Some(Kelvin::from_kelvin(tmt1_k)), tmt2: Some(Kelvin::from_kelvin(348)) };
    let mut settings = DriveSettings::open(drive.connect()).expect("it says who it is");
    // Saved: the next host's controller begins with what is saved.
    settings.apply(&Change::hctm(hctm), true).expect("the drive takes it");
    drop(settings);
    let found = findings(&drive, READ);
    within_a_kelvin(found.policy.onset_k, f64::from(tmt1_k), "onset");
    within_a_kelvin(found.policy.release_k, f64::from(tmt1_k) - 4.0, "release");
    within(found.policy.floor_bytes_per_s, 3.0e8, 0.03, "floor");
}

#[test]
fn a_two_level_latch_at_tmt1_and_tmt2() {
    let found = read("two-level");
    let limits = profile("two-level").limits.hctm.expect("it has HCTM");
    within_a_kelvin(found.policy.onset_k, limits.tmt1_k.into(), "onset");
    within_a_kelvin(found.policy.release_k, f64::from(limits.tmt1_k) - 2.0, "release");
    for (cause, threshold_k) in [(Cause::HctmTmt1, limits.tmt1_k), (Cause::HctmTmt2, limits.tmt2_k)] {
        let mut onsets =
            found.events.iter().filter(|e| e.kind == EventKind::ThrottleOnset && e.cause == cause).peekable();
        // Each level at its own threshold.
        assert!(onsets.peek().is_some(), "{cause:?}: {:?}", found.events);
        onsets.for_each(|onset| within_a_kelvin(onset.temp_k, threshold_k.into(), "onset of a level"));
    }
    let floor = |cause| found.policy.levels.iter().find(|level| level.cause == cause)?.floor_bytes_per_s;
    within(floor(Cause::HctmTmt2), 1.0e8, 0.03, "floor of the heavy level");
}

#[test]
fn a_regulator_below_tmt1() {
    let found = read("regulator");
    assert_eq!(found.policy.class, PolicyClass::Regulator, "{:?}", found.policy);
    let last = found.segments.last().expect("a segment");
    assert_eq!(last.label, Label::Throttled, "{last:?}");
    within_a_kelvin(last.temp_end_k, tmt1_k("regulator") - 1.0, "held temperature");
}

#[test]
fn a_vendors_own_threshold() {
    let found = read("vendor");
    within_a_kelvin(found.policy.onset_k, 348.0, "onset");
    within(found.policy.floor_bytes_per_s, 2.2e9, 0.03, "floor");
}

#[test]
fn a_drive_that_stops() {
    let found = read("stop");
    within_a_kelvin(found.policy.onset_k, 351.0, "onset");
    within_a_kelvin(found.policy.release_k, 341.0, "release");
    assert!(found.policy.floor_bytes_per_s.is_some_and(|floor| floor < 1e6), "{:?}", found.policy);
}

#[test]
fn the_end_of_the_fast_write_cache() {
    // Slower than the others, so that the cache is larger than what an interval holds by far.
    let plan = r#"
interval = "10ms"
[telemetry]
smart_period = "20ms"
[[phase]]
name = "write"
op = "write"
block_size = "64KiB"
depth = 32
region = { start = "0B", len = "476MiB" }
duration = "9s"
"#;
    let found = findings(&Vssd::scaled("slc", 20, 400), plan);
    let slc = found.slc_cache.as_ref().expect("its end was passed");
    let truth = profile("slc").slc.expect("it has one");
    within(Some(slc.bytes as f64), truth.capacity_bytes as f64, 0.02, "size of the cache");
    within(Some(slc.after_bytes_per_s), 2.0e8, 0.03, "speed after");
    assert!(found.events.iter().all(|event| event.kind == EventKind::SlcExhausted), "{:?}", found.events);
}
