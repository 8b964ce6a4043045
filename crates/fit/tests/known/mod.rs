//! Simulated drives at work, and the log that somebody would have taken of them: whole kelvins and speeds once a second.

use std::time::Duration;

use fit::simulate::{LoadPhase, demand, drive, set_tmt};
use measure::record::ThermalSettings;
use measure::{Instant, Series};
use physics::{Drive, Profile};
use trace::{Interval, Phase, SegmentOp, SpeedSeries, Temperature, Trace, instant};

pub(crate) fn profile(name: &str) -> Profile {
    let mut profile = Profile::builtin(name).expect("built in");
    // The experiment stays within the write cache.
    profile.slc = None;
    profile
}

pub(crate) fn phase(
    name: &str,
    read_share: Option<f64>,
    limit_bytes_per_s: f64,
    seconds: usize,
) -> LoadPhase {
    LoadPhase { limit_bytes_per_s, ..LoadPhase::sequential(name, read_share, seconds) }
}

/// The run of a drive as our own record would have it.
pub(crate) fn record(profile: &Profile, tmt_k: [u16; 2], phases: &[LoadPhase]) -> Trace {
    record_from(&mut drive(profile), profile, tmt_k, phases)
}

/// The run of a drive that has run before.
pub(crate) fn record_from(
    drive: &mut Drive,
    profile: &Profile,
    tmt_k: [u16; 2],
    phases: &[LoadPhase],
) -> Trace {
    let mut trace = Trace::empty(&profile.name);
    trace.facts.simulated = Some(true);
    let start = drive.now();
    if let Some(hctm) = &profile.limits.hctm {
        set_tmt(drive, Some(tmt_k)).expect("it may be set");
        (trace.facts.tmt_min_k, trace.facts.tmt_max_k) =
            (Some(hctm.mntmt_k.into()), Some(hctm.mxtmt_k.into()));
        let [tmt1_k, tmt2_k] = tmt_k.map(Some);
        trace.settings.push(Instant::ZERO, ThermalSettings { tmt1_k, tmt2_k, power_state: Some(0) });
    }
    let mut speeds = [Vec::new(), Vec::new()];
    let mut composite = Series::new();
    let mut second = 0_u64;
    for (number, phase) in phases.iter().enumerate() {
        let op = match phase.read_share {
            None => SegmentOp::Idle,
            Some(1.0) => SegmentOp::Read,
            Some(0.0) => SegmentOp::Write,
            Some(_) => SegmentOp::Mixed,
        };
        let start_s = second as f64;
        trace.phases.push(Phase {
            rate_limit_bytes_per_s: Some(phase.limit_bytes_per_s).filter(|limit| limit.is_finite()),
            ..Phase::bare(&phase.name, op, start_s, start_s + phase.seconds as f64)
        });
        for _ in 0..phase.seconds {
            composite.push(instant(second as f64), f64::from(drive.composite().as_kelvin()));
            let until = start + Duration::from_secs(second + 1);
            let moved = drive.advance_demand(until, &demand(phase));
            for (speeds, bytes) in speeds.iter_mut().zip([moved.read_bytes, moved.write_bytes]) {
                if bytes > 0.0 {
                    let start_s = second as f64;
                    speeds.push(Interval { start_s, span_s: 1.0, bytes, phase: number as u32 });
                }
            }
            second += 1;
        }
    }
    for (op, intervals) in [SegmentOp::Read, SegmentOp::Write].into_iter().zip(speeds) {
        trace.speeds.push(SpeedSeries { op, intervals });
    }
    trace.temperatures = vec![Temperature { name: "composite".to_owned(), kelvin: composite }];
    trace.trust_a_sensor();
    trace
}
