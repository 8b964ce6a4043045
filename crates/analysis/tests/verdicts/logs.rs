//! Verdicts on logs as hosts make them: no phases, no settings, a logger that runs on, jobs beside the load.

use analysis::findings::{Cause, Event, EventKind, Label, PolicyClass, SegmentOp};
use analysis::{Findings, analyze};
use measure::Series;
use trace::{Counters, Interval, Phase, SpeedSeries, Temperature, Trace};

use crate::of_kind;

/// Full speed of the drive, in bytes per second.
const FULL: f64 = 2.5e9;

/// A drive whose load is a share of its full speed, second by second, and the temperature that follows: two time constants.
pub(crate) struct Logged {
    /// Speed as a share of full speed; `None` for "not logged".
    speed: Vec<f64>,
    /// In kelvins.
    kelvin: Vec<f64>,
    fast_k: f64,
    slow_k: f64,
    /// By how much full speed heats it in the end, in kelvins.
    pub(crate) heats_k: f64,
    state: u64,
}

impl Logged {
    pub(crate) fn new(seed: u64) -> Self {
        let state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        Self { speed: Vec::new(), kelvin: Vec::new(), fast_k: 0.0, slow_k: 0.0, heats_k: 52.0, state }
    }

    /// Between 0 and 1.
    pub(crate) fn random(&mut self) -> f64 {
        // Xorshift (Marsaglia 2003).
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as f64 / (1u64 << 53) as f64
    }

    fn now_k(&self) -> f64 {
        312.0 + self.fast_k + self.slow_k
    }

    /// Goes on for so many seconds with the share of full speed that `load` gives for the second and the temperature.
    pub(crate) fn log(&mut self, seconds: usize, mut load: impl FnMut(usize, f64) -> f64) {
        for second in 0..seconds {
            let share = load(second, self.now_k());
            self.fast_k += (0.6 * self.heats_k * share - self.fast_k) / 35.0;
            self.slow_k += (0.4 * self.heats_k * share - self.slow_k) / 260.0;
            let noise = 1.0 + 0.02 * (self.random() - 0.5);
            self.speed.push(share * noise);
            self.kelvin.push(self.now_k().round());
        }
    }

    /// Leaves out all that was so far: the log begins in the middle of what is going on.
    pub(crate) fn begin_here(&mut self) {
        self.speed.clear();
        self.kelvin.clear();
    }

    fn trace(&self, with_temperature: bool) -> Trace {
        self.trace_of(with_temperature, 1)
    }

    /// As a logger writes it that sums up so many seconds in a row and reads the temperature once in each.
    pub(crate) fn trace_of(&self, with_temperature: bool, row_s: usize) -> Trace {
        let at_s = |i: usize| (i * row_s) as f64;
        let row = |(i, shares): (usize, &[f64])| Interval {
            start_s: at_s(i),
            span_s: shares.len() as f64,
            bytes: shares.iter().sum::<f64>() * FULL,
            phase: 0,
        };
        let mut trace = Trace::empty("log");
        let intervals = self.speed.chunks(row_s).enumerate().map(row).collect();
        trace.speeds = vec![SpeedSeries { op: SegmentOp::Read, intervals }];
        if with_temperature {
            let mut kelvin = Series::new();
            let readings = self.kelvin.iter().step_by(row_s).enumerate();
            readings.for_each(|(i, k)| kelvin.push(trace::instant(at_s(i) + 0.5), *k));
            trace.temperatures = vec![Temperature { name: "composite".into(), kelvin }];
            trace.trust_a_sensor();
        }
        trace::infer_phases(&mut trace);
        trace
    }

    fn findings(&self) -> Findings {
        analyze(&self.trace(true))
    }
}

/// A throttle with a hysteresis.
pub(crate) fn relay(on_k: f64, off_k: f64, share: f64) -> impl FnMut(usize, f64) -> f64 {
    let mut slow = false;
    move |_, kelvin| {
        slow = kelvin >= if slow { off_k } else { on_k };
        if slow { share } else { 1.0 }
    }
}

/// A regulator that takes `slew` of full speed for each kelvin and second above `hold_k`, down to a fifth.
pub(crate) fn regulator(hold_k: f64, slew: f64) -> impl FnMut(usize, f64) -> f64 {
    let mut held = 1.0;
    move |_, kelvin| {
        held = f64::clamp(held + slew * (hold_k - kelvin), 0.2, 1.0);
        held
    }
}

pub(crate) fn heat(findings: &Findings) -> Vec<(f64, f64, Cause, f64)> {
    of_kind(findings, EventKind::ThrottleOnset)
}

/// When heat is said to have slowed the drive down, in seconds, where that is told for as good as certain.
pub(crate) fn sure_heat(findings: &Findings) -> Vec<(f64, f64)> {
    let onset = |e: &&Event| e.kind == EventKind::ThrottleOnset && e.confidence >= 0.9;
    findings.events.iter().filter(onset).map(|e| (e.t_s, e.confidence)).collect()
}

/// Goal: a load that ends is no stop of the drive, however long the logger runs on. Method: a hot drive that never throttles, and a
/// relay, with tails of nothing.
#[test]
fn a_logger_that_runs_on_shows_no_stop() {
    for tail_s in [4, 11, 25, 60, 88, 140] {
        for throttled in [false, true] {
            let mut log = Logged::new(tail_s as u64);
            if throttled {
                log.log(1200, relay(350.0, 345.0, 0.4));
            } else {
                log.log(1200, |_, _| 1.0);
            }
            log.log(tail_s, |_, _| 0.0);
            let findings = log.findings();
            let class = findings.policy.class;
            assert_ne!(class, PolicyClass::Stop, "{tail_s} s: {:#?}", findings.events);
            assert_eq!(heat(&findings).is_empty(), !throttled, "{tail_s} s: {:#?}", findings.events);
            assert!(!throttled || class == PolicyClass::Relay, "{tail_s} s: {:?}", findings.policy);
        }
    }
}

/// Goal: two clean thresholds are heat, though a host moved one in between. Method: a relay whose settings rise unseen, after many
/// cycles and after a few.
#[test]
fn a_threshold_that_was_moved_is_one_all_the_same() {
    let mut denied = Vec::new();
    for (first_k, by_k) in (339..=345).flat_map(|first_k| [6, 7].map(|by_k| (first_k, by_k))) {
        for (heats_k, moved_s) in [(52.0, 400), (64.0, 500), (64.0, 1000)] {
            let (first_k, second_k) = (f64::from(first_k), f64::from(first_k + by_k));
            let mut log = Logged::new(3);
            log.heats_k = heats_k;
            log.log(moved_s, relay(first_k, first_k - 5.0, 0.4));
            log.log(1500, relay(second_k, second_k - 5.0, 0.4));
            let findings = log.findings();
            let at =
                |kelvin: f64| heat(&findings).iter().filter(|onset| (onset.1 - kelvin).abs() <= 1.5).count();
            let cleared = findings.events.iter().filter(|event| event.cause == Cause::NotThermal).count();
            // Where the lower speed holds the drive above its release there are few cycles at the first.
            if at(first_k) < 2 || at(second_k) < 5 || cleared > 0 {
                denied.push((first_k, second_k, heats_k, moved_s, at(first_k), at(second_k), cleared));
            }
        }
    }
    assert!(denied.is_empty(), "{denied:?}");
}

/// Goal: jobs of the host before do not acquit a throttle. Method: jobs at any temperature while the drive is below its threshold,
/// then a heavier load on which a relay acts.
#[test]
fn jobs_beside_a_throttle_do_not_acquit_it() {
    let mut denied = 0;
    for seed in 1..=6 {
        let mut log = Logged::new(seed);
        let mut left_s = 0;
        let mut starts: Vec<usize> = (0..5).map(|n| 90 + 170 * n).collect();
        starts.iter_mut().for_each(|start| *start += (log.random() * 60.0) as usize);
        log.log(900, |second, _| {
            if starts.contains(&second) {
                left_s = 45;
            }
            left_s = usize::saturating_sub(left_s, 1);
            if left_s > 0 { 0.42 } else { 0.63 }
        });
        log.log(700, relay(345.0, 340.0, 0.36));
        let findings = log.findings();
        let found = heat(&findings);
        let jobs = found.iter().filter(|onset| onset.0 < 895.0).count();
        assert_eq!(jobs, 0, "seed {seed}: {found:#?}");
        denied += usize::from(found.len() < 5 || findings.policy.class == PolicyClass::None);
    }
    assert_eq!(denied, 0);
}

/// Goal: a load that asks for little shows nothing of a throttle. Method: a trickle while the drive is hotter than its threshold.
#[test]
fn a_trickle_on_a_hot_drive_acquits_nothing() {
    let mut log = Logged::new(5);
    log.log(600, |_, _| 0.6);
    log.log(540, |_, _| 0.008);
    log.log(600, relay(348.0, 330.0, 0.72));
    let mut trace = log.trace(true);
    let loads = [("warm", 0.0, 600.0), ("trickle", 600.0, 1140.0), ("full", 1140.0, 1740.0)];
    trace.phases =
        loads.map(|(name, start_s, end_s)| Phase::bare(name, SegmentOp::Read, start_s, end_s)).into();
    for interval in &mut trace.speeds[0].intervals {
        interval.phase = loads.iter().rposition(|load| load.1 <= interval.start_s).unwrap_or(0) as u32;
    }
    trace.temperatures[0].kelvin = {
        // Something else heats the drive meanwhile: it is 5 K hotter than its threshold for a minute of the trickle.
        let mut kelvin = Series::new();
        for point in trace.temperatures[0].kelvin.points() {
            let t_s = point.t.as_secs_f64();
            kelvin.push(point.t, if (640.0..760.0).contains(&t_s) { 353.0 } else { point.value });
        }
        kelvin
    };
    let findings = analyze(&trace);
    assert!(findings.events.iter().all(|event| event.cause != Cause::NotThermal), "{:#?}", findings.events);
    assert_ne!(findings.policy.class, PolicyClass::None, "{:?}", findings.policy);
}

/// Goal: a desktop is not throttled at 39 °C. Method: bursts of anything between kilobytes and hundreds of megabytes a second, on a
/// drive that they hardly warm.
#[test]
fn a_desktop_at_rest_is_not_throttled() {
    for seed in 1..=5 {
        let mut log = Logged::new(seed);
        let mut wants = 0.0;
        for _ in 0..1800 {
            if log.random() < 0.02 {
                wants = [0.0, 0.0, 0.002, 0.008, 0.02][(log.random() * 5.0) as usize];
            }
            let share = wants * (2.5 * (log.random() + log.random() - 1.0)).exp() + 1e-4 * log.random();
            log.log(1, |_, _| share);
        }
        let findings = log.findings();
        assert!(heat(&findings).is_empty(), "seed {seed}: {:#?}", heat(&findings));
        assert!(findings.segments.iter().all(|segment| segment.label != Label::Throttled), "seed {seed}");
    }
}

/// Goal: without a temperature heat is neither blamed nor cleared, for small drops as well. Method: drops of 4 to 9 %.
#[test]
fn small_drops_without_a_temperature_are_left_open() {
    for lost in [0.05, 0.07, 0.09] {
        let mut log = Logged::new(7);
        log.log(900, |second, _| if second % 300 >= 240 { 1.0 - lost } else { 1.0 });
        let findings = analyze(&log.trace(false));
        let sure = findings.events.iter().find(|event| event.cause != Cause::Unknown);
        assert!(sure.is_none(), "{lost}: {sure:#?}");
        assert_eq!(findings.policy.class, PolicyClass::Undetermined);
    }
}

/// Goal: stops too short to be drops are not passed over. Method: a second of nothing each time that the drive is at its threshold.
#[test]
fn stops_of_a_row_at_the_threshold_are_not_none() {
    let mut log = Logged::new(9);
    let mut stopped = false;
    log.log(1500, |_, kelvin| {
        stopped = kelvin >= 349.0 && !stopped;
        if stopped { 0.0 } else { 1.0 }
    });
    assert!(log.speed.iter().filter(|speed| **speed == 0.0).count() > 20);
    let findings = log.findings();
    assert_ne!(findings.policy.class, PolicyClass::None, "{:#?}", findings.events);
}

/// A drive that was throttled before the log begins, and comes to rest so; its host takes half of what is left for 6 s, by the clock.
/// The first time after `first_s`.
fn throttled_before(seed: u64, first_s: usize, every_s: usize) -> Logged {
    let mut log = Logged::new(seed);
    log.log(1800, |_, _| 0.7);
    (log.speed, log.kelvin) = (Vec::new(), Vec::new());
    let dips = |second: usize| second >= first_s && (second - first_s) % every_s < 6;
    log.log(900, |second, _| if dips(second) { 0.35 } else { 0.7 });
    log
}

/// Goal: what a threshold and a clock explain about as well is not told for certain. Method: dips on a plateau, to which the
/// temperature comes back before each.
#[test]
fn dips_on_a_plateau_are_not_surely_heat() {
    for (seed, every_s) in [(1, 100), (2, 110), (3, 120), (4, 135), (5, 150)] {
        let findings = throttled_before(seed, every_s, every_s).findings();
        let sure = sure_heat(&findings);
        assert!(sure.is_empty(), "every {every_s} s: {sure:?}");
        assert!(findings.policy.confidence < 0.9, "every {every_s} s: {:?}", findings.policy);
        assert_ne!(findings.policy.class, PolicyClass::None, "every {every_s} s");
    }
}

/// Goal: a drive that counts seconds of throttling at its fastest is throttled then, and what comes on top is not its throttle.
/// Method: the same with counters, also in means of rows in which the first such dip comes soon.
#[test]
fn what_the_drive_counts_all_the_time_is_a_throttled_speed() {
    let every = [(1, 40), (2, 60), (3, 75), (4, 90), (5, 110)];
    let seconds = every.map(|(seed, every_s)| (seed, every_s, every_s, 1));
    let rows = every.map(|(seed, every_s)| (seed, 20, every_s, 5));
    for (seed, first_s, every_s, row_s) in seconds.into_iter().chain(rows) {
        let log = throttled_before(seed, first_s, every_s);
        let mut trace = log.trace_of(true, row_s);
        for second in (0..log.speed.len()).step_by(row_s) {
            let counters = Counters {
                tmt1_transitions: Some(1),
                tmt1_seconds: Some(1800 + second as u64),
                tmt2_transitions: Some(0),
                tmt2_seconds: Some(0),
            };
            trace.counters.push(trace::instant(second as f64 + 0.5), counters);
        }
        let findings = analyze(&trace);
        let at: Vec<f64> = heat(&findings).iter().map(|onset| onset.0).collect();
        assert!(at.len() == 1 && at[0] < 5.0, "every {every_s} s, rows of {row_s} s: {:?}", heat(&findings));
        let policy = &findings.policy;
        let pre_limited =
            policy.class == PolicyClass::PreLimited || policy.also.contains(&PolicyClass::PreLimited);
        assert!(pre_limited, "every {every_s} s, rows of {row_s} s: {policy:?}");
    }
}

/// Goal: a regulator that takes minutes to take a tenth of the speed is seen, and told apart from speed that sinks with no regard to
/// the temperature. Method: drives that creep up to it; and a fall of three tenths by the clock, after which they cool.
#[test]
fn what_holds_a_temperature_by_giving_way_slowly_is_a_regulator() {
    for (seed, heats_k, over_k) in
        [(1, 34.0, 3.0), (2, 38.0, 4.0), (3, 44.0, 4.0), (4, 50.0, 5.0), (5, 40.0, 5.0)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        let set_k = 312.0 + heats_k - over_k;
        let mut share: f64 = 1.0;
        log.log(3000, |_, now_k| {
            share = (share - 0.0003 * (now_k - set_k)).clamp(0.2, 1.0);
            share
        });
        let findings = log.findings();
        let found = heat(&findings);
        assert!(found.len() == 1, "seed {seed}: {:#?}", findings.events);
        assert_eq!(findings.policy.class, PolicyClass::Regulator, "seed {seed}: {:?}", findings.policy);
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        log.log(3000, |second, _| 1.0 - 0.3 * ((second as f64 - 500.0) / 400.0).clamp(0.0, 1.0));
        let sure = sure_heat(&log.findings());
        assert!(sure.is_empty(), "seed {seed}: {sure:?}");
    }
}
