//! What a log does not say: which of its speeds a host asked for, and which the drive gave.

use analysis::Findings;
use analysis::findings::{EventKind, Label, Segment, SegmentOp};

use crate::data::{Asked, FitReading, LoadStep, STEP_S, TRICKLE, median, reading_k};

/// Seconds of a trickle that say how fast it is, and how far others may be from that: noise of a second's speed is 3 % at most
/// in what is scored, a trickle that a host holds keeps to its rate.
const LEAST_TRICKLE_S: usize = 10;
const SAME_SPEED: f64 = 0.1;
/// A trickle that the verdict blames heat for throughout is known by loads that fall to it from so many times its speed, at
/// so many readings, each so many steps of the sensor (of 1 K at least) hotter than the last: a threshold has one onset, which
/// a sensor that lags shows a step earlier or later.
const FALL: f64 = 3.0;
const LEAST_FALLS: usize = 3;
const APART_STEPS: f64 = 1.5;
/// A speed below this share of the fastest of its operation, on a drive cooler by this than any threshold, is one that a host holds:
/// hystereses of 2 to 7 K were seen.
const SLOWER: f64 = 0.9;
const COOLER_K: f64 = 9.0;

/// What tells a host's speeds from a drive's, in a log that does not say what was asked for.
pub(crate) struct HostSpeeds {
    /// The fastest full speed of reads and writes, in bytes per second.
    fastest: [f64; 2],
    /// The coolest at which heat slowed something down, in kelvins; infinite where it did not.
    coolest_k: f64,
}

impl HostSpeeds {
    pub(crate) fn new(findings: &Findings) -> Self {
        let fastest = |op: SegmentOp| {
            let full = findings.segments.iter().filter(|of| of.op == op && of.label == Label::FullSpeed);
            full.filter_map(|of| of.mean_bytes_per_s).fold(0.0, f64::max)
        };
        let onsets = findings.events.iter().filter(|event| event.kind == EventKind::ThrottleOnset);
        let coolest_k = onsets.filter_map(|event| event.temp_k).fold(f64::INFINITY, f64::min);
        Self { fastest: [SegmentOp::Read, SegmentOp::Write].map(fastest), coolest_k }
    }

    /// Whether a stretch goes at one speed, slower than elsewhere in the log, and began far cooler than heat slowed down anything.
    pub(crate) fn held(&self, segment: &Segment) -> bool {
        let fastest = self.fastest[usize::from(segment.op == SegmentOp::Write)];
        matches!(segment.label, Label::Constant | Label::Slower)
            && segment.mean_bytes_per_s.is_some_and(|speed| speed < SLOWER * fastest)
            && segment.temp_start_k.is_some_and(|kelvin| kelvin < self.coolest_k - COOLER_K)
    }
}

/// What was asked for in a stretch of a log without phases, by what the verdict takes it for.
pub(crate) const fn asked(segment: &Segment) -> Option<Asked> {
    match (segment.op, segment.label) {
        (SegmentOp::Idle, _) | (_, Label::Idle) => None,
        (_, Label::RateLimited | Label::Unknown) | (SegmentOp::Mixed | SegmentOp::Trim, _) => {
            Some(Asked::Limited)
        }
        (SegmentOp::Read, _) => Some(Asked::Read),
        (SegmentOp::Write, _) => Some(Asked::Write),
    }
}

/// The speed of a trickle that heat is not to blame for is the host's wherever it comes again: beside a throttled load a
/// verdict takes it for a part of that. Whether it did.
pub(crate) fn limit_trickle(steps: &mut [LoadStep], readings: &[FitReading], resolution_k: f64) -> bool {
    let fastest = steps.iter().map(LoadStep::speed).fold(0.0, f64::max);
    let cool = |step: &&LoadStep| step.asked == Asked::Limited || step.label == Some(Label::Dip);
    let of = steps.iter().filter(cool).map(LoadStep::speed);
    let slow: Vec<f64> = of.filter(|speed| (1e-9..TRICKLE * fastest).contains(speed)).collect();
    let blameless = median(&slow).filter(|_| slow.len() >= LEAST_TRICKLE_S);
    let Some(usual) =
        blameless.or_else(|| trickle_by_falls(steps, TRICKLE * fastest, readings, resolution_k))
    else {
        return false;
    };
    let is_usual = |step: &&mut LoadStep| (step.speed() / usual - 1.0).abs() < SAME_SPEED;
    let mut misread = false;
    for step in steps.iter_mut().filter(is_usual) {
        step.asked = Asked::Limited;
        misread |= step.label == Some(Label::Throttled);
    }
    misread
}

/// A speed below `most` that loads fall to at once whatever the temperature is: no threshold lies at all of them. A verdict
/// that blames heat for all of it leaves no other sign.
fn trickle_by_falls(
    steps: &[LoadStep],
    most: f64,
    readings: &[FitReading],
    resolution_k: f64,
) -> Option<f64> {
    let fell = |at: usize| Some((fall(steps, at, most)?, reading_k(readings, at as f64 * STEP_S)?));
    let falls: Vec<(f64, f64)> = (1..steps.len()).filter_map(fell).collect();
    let usual = median(&falls.iter().map(|(speed, _)| *speed).collect::<Vec<_>>())?;
    let mut at_k: Vec<f64> = falls
        .iter()
        .filter(|(speed, _)| (speed / usual - 1.0).abs() < SAME_SPEED)
        .map(|fall| fall.1)
        .collect();
    at_k.sort_by(f64::total_cmp);
    let apart_k = APART_STEPS * resolution_k.max(1.0);
    let mut last_k = f64::NEG_INFINITY;
    at_k.retain(|kelvin| {
        let is_apart = *kelvin > last_k + apart_k;
        if is_apart {
            last_k = *kelvin;
        }
        is_apart
    });
    (at_k.len() >= LEAST_FALLS).then_some(usual)
}

/// The speed that a load which was fast in the second before, or that before it, holds from here on.
fn fall(steps: &[LoadStep], at: usize, most: f64) -> Option<f64> {
    let after: Vec<f64> = steps.get(at..at + LEAST_TRICKLE_S)?.iter().map(LoadStep::speed).collect();
    let speed = median(&after).filter(|speed| (1e-9..most).contains(speed))?;
    let holds = after.iter().filter(|after| (*after / speed - 1.0).abs() < SAME_SPEED).count();
    let before = &steps[at.saturating_sub(2)..at];
    let alike = before.iter().all(|step| (step.write > step.read) == (steps[at].write > steps[at].read));
    let fell = before.first().is_some_and(|step| step.speed() > FALL * speed)
        && before.last().is_some_and(|step| (step.speed() / speed - 1.0).abs() >= SAME_SPEED);
    (4 * holds >= 3 * LEAST_TRICKLE_S && alike && fell).then_some(speed)
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: a slow speed that loads fall to at 330, 326 and 322 K is the host's, at one threshold it is not. Method: loads of
    /// 20 s and rests at 20 MB/s of 20 s, the reading of each fall as named.
    #[test]
    fn a_speed_that_loads_fall_to_anywhere_is_a_trickle() {
        let usual = |falls_k: &[f64]| {
            let step = |read: f64| LoadStep { read, asked: Asked::Read, ..LoadStep::default() };
            let speeds = falls_k.iter().flat_map(|_| [[3.0; 20], [0.02; 20]].concat());
            let steps: Vec<LoadStep> = speeds.map(step).collect();
            let reading = |(at, kelvin): (usize, &f64)| FitReading { t_s: 40.0 * at as f64, kelvin: *kelvin };
            let readings: Vec<FitReading> = falls_k.iter().enumerate().map(reading).collect();
            trickle_by_falls(&steps, 0.3, &readings, 1.0)
        };
        assert_eq!(usual(&[330.0, 326.0, 322.0]), Some(0.02));
        assert_eq!(usual(&[330.0, 331.0, 330.0, 329.0]), None, "one threshold, a step to either side");
        assert_eq!(usual(&[330.0, 322.0]), None, "too few");
    }
}
