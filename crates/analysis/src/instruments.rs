//! Whether a drive's instruments contradict each other: counters and temperature, one sensor and the others.
//!
//! Composites stuck at one value while TMT1 transitions are counted are known (nvme-cli issue 3945).
//!
//! # What it does not do
//! It does not say which of two is wrong where that cannot be seen, and changes no verdict.

use measure::{Instant, Point};

use crate::cause::heat::Heat;
use crate::findings::Caveat;
use trace::caveat::{CounterDoubt, HostThreshold, StillSensor};
use trace::{Counters, STUCK_WHILE_OTHERS_MOVED_K, Temperature, Trace};

/// A counter that moves so far below its threshold contradicts the temperature: regulators that act ahead of it count up to 8 K below.
const FAR_BELOW_K: f64 = 12.0;
/// ... when it does so this often.
const LEAST_MOVES: usize = 3;
/// SensorReadings are looked for this long before a counter moved.
const COUNTED_LATE_S: f64 = 10.0;
/// Between temperatures further apart than this a drive heats up and cools down unseen.
const UNSEEN_S: f64 = 120.0;
/// A sensor that stands still for so long, while another moves, has stopped.
const STOPPED_S: f64 = 120.0;
/// ... by this: what a lagging or averaging sensor may miss, beyond what tells a stuck one.
const OTHERS_MOVED_K: f64 = 1.5 * STUCK_WHILE_OTHERS_MOVED_K;

/// One of the counters.
type Count = fn(&Counters) -> Option<u64>;

/// The caveats.
pub(crate) fn caveats(trace: &Trace, heat: &Heat) -> Vec<Caveat> {
    let stopped = trace.temperatures.iter().filter_map(|sensor| stopped(sensor, trace));
    let counted = counted_without_heat(trace, heat).map(Caveat::CountersWithoutHeat);
    counted.into_iter().chain(stopped.map(Caveat::FrozenSensor)).collect()
}

/// The counters of a threshold moved and the composite was nowhere near it.
fn counted_without_heat(trace: &Trace, heat: &Heat) -> Option<CounterDoubt> {
    let transitions: [(HostThreshold, Count); 2] =
        [(HostThreshold::Tmt1, |c| c.tmt1_transitions), (HostThreshold::Tmt2, |c| c.tmt2_transitions)];
    let composite = trace.temperatures.iter().find(|t| t.name == "composite")?.kelvin.points();
    let (first, last) = (composite.first()?, composite.last()?);
    let still =
        composite.iter().all(|p| p.value == first.value) && last.t.since(first.t).as_secs_f64() >= STOPPED_S;
    for (threshold, of) in transitions {
        let counted = counted_s(trace, of, composite);
        let moved = counted.len();
        if still && moved > 0 {
            return Some(CounterDoubt::StillComposite { threshold, moved, composite_k: first.value });
        }
        let far = counted.iter().filter_map(|t_s| {
            let (tmt1_k, tmt2_k) = trace.tmt_at(*t_s);
            let threshold_k = if threshold == HostThreshold::Tmt1 { tmt1_k } else { tmt2_k }?;
            let reach_s = COUNTED_LATE_S.max(3.0 * heat.counter_period_s());
            let from = composite.partition_point(|p| p.t.as_secs_f64() < t_s - reach_s);
            let to = composite.partition_point(|p| p.t.as_secs_f64() <= t_s + reach_s);
            let hottest = composite[from..to.max(from)].iter().map(|p| p.value).max_by(f64::total_cmp)?;
            (hottest < threshold_k - FAR_BELOW_K).then_some(threshold_k - hottest)
        });
        let below: Vec<f64> = far.collect();
        if below.len() >= LEAST_MOVES {
            let below_k = below.iter().copied().fold(f64::INFINITY, f64::min);
            return Some(CounterDoubt::FarBelow { threshold, moved: below.len(), below_k });
        }
    }
    None
}

/// When a counter was seen to have moved, in seconds, where the temperature meanwhile is known: between readings far apart a drive heats up
/// and cools down unseen.
fn counted_s(trace: &Trace, of: Count, composite: &[Point<f64>]) -> Vec<f64> {
    let is_seen = |from: Instant, to: Instant| {
        let first = composite.partition_point(|p| p.t <= from).saturating_sub(1);
        let after = (composite.partition_point(|p| p.t < to) + 1).min(composite.len());
        let within = &composite[first..after.max(first)];
        within.windows(2).all(|pair| pair[1].t.since(pair[0].t).as_secs_f64() <= UNSEEN_S)
    };
    let pairs = trace.counters.points().windows(2);
    let moved = pairs.filter(|pair| of(&pair[0].value).zip(of(&pair[1].value)).is_some_and(|(a, b)| b > a));
    moved.filter(|pair| is_seen(pair[0].t, pair[1].t)).map(|pair| pair[1].t.as_secs_f64()).collect()
}

/// A sensor that had moved, and stood still for long while another one went on.
fn stopped(sensor: &Temperature, trace: &Trace) -> Option<StillSensor> {
    let points = sensor.kelvin.points();
    let first = points.first()?;
    if points.iter().all(|p| p.value == first.value) {
        // Told as a sensor that never moved.
        return None;
    }
    let still = points.chunk_by(|a, b| a.value == b.value);
    let ends = still.map(|run| (run[0].t.as_secs_f64(), run[run.len() - 1].t.as_secs_f64(), run[0].value));
    for (from_s, to_s, temp_k) in ends.filter(|(from_s, to_s, _)| to_s - from_s >= STOPPED_S) {
        for other in trace.temperatures.iter().filter(|other| other.name != sensor.name) {
            let all = other.kelvin.points();
            let from = all.partition_point(|p| p.t.as_secs_f64() < from_s);
            let to = all.partition_point(|p| p.t.as_secs_f64() <= to_s).max(from);
            let values = all[from..to].iter().map(|p| p.value);
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            if high - low >= OTHERS_MOVED_K {
                return Some(StillSensor::Stopped {
                    sensor: sensor.name.clone(),
                    temp_k,
                    from_s,
                    to_s,
                    other: other.name.clone(),
                    other_moved_k: high - low,
                });
            }
        }
    }
    None
}

#[cfg(test)]
mod test {
    use measure::Series;
    use trace::instant;

    use super::*;
    use crate::readings::SensorReadings;

    /// A drive at 45 °C at each reading, so far apart, whose TMT1 counter goes on.
    fn still(period_s: f64) -> Option<CounterDoubt> {
        let mut trace = Trace::empty("drive");
        let mut kelvin = Series::new();
        for n in 0..5_u32 {
            let t = instant(f64::from(n) * period_s);
            kelvin.push(t, 318.0);
            trace.counters.push(t, Counters { tmt1_transitions: Some(n.into()), ..Counters::default() });
        }
        trace.temperatures = vec![Temperature { name: "composite".into(), kelvin }];
        counted_without_heat(&trace, &Heat::new(&trace, &SensorReadings::new(&trace)))
    }

    #[test]
    fn a_temperature_that_was_not_read_meanwhile_contradicts_no_counter() {
        let doubt = |moved| {
            Some(CounterDoubt::StillComposite { threshold: HostThreshold::Tmt1, moved, composite_k: 318.0 })
        };
        for period_s in [30.0, 60.0, UNSEEN_S] {
            assert_eq!(still(period_s), doubt(4), "{period_s}");
        }
        for period_s in [UNSEEN_S + 1.0, 3600.0, 86_400.0, 604_800.0] {
            assert_eq!(still(period_s), None, "{period_s}");
        }
    }
}
