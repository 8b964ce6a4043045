//! A row for each phase: mean, largest second, energy, and what a byte costs.
//!
//! A reading stands for the time before it, as long as its window; one of the moment for as long before and after. Only
//! readings whose time lies wholly within a phase count for it. Energy is the sum of watts times their time; the edges
//! of a phase, shorter than a reading, are taken to be as their neighbours. A hole longer than two intervals is not
//! bridged: the row says what share of the phase is covered.

use trace::{MeterSeries, Phase, SegmentOp, Trace};

use super::PowerRow;
use super::meter::{MeterCharacter, max_1s, mean, median, plus_minus, quantile};

/// Name of the row from power-on until the drive is ready.
pub(super) const START: &str = "start";

/// Fewer readings give a mean that needs its interval (facts: 8 GiB at 7 GB/s last one reading of a plug).
pub(super) const READINGS_MIN: usize = 10;
/// Below this share of a phase, figures are of a part of it.
pub(super) const COVERED_MIN: f64 = 0.9;
/// A hole longer than this many intervals is not bridged.
const HOLE_INTERVALS: f64 = 2.0;
/// Readings left out at the beginning of a phase: a meter with a filter has not come to rest before.
const SETTLING_READINGS: f64 = 2.0;

/// A reading with the time it stands for.
#[derive(Clone, Copy)]
struct PowerSlice {
    from_s: f64,
    to_s: f64,
    watts: f64,
}

/// A row for each phase of `trace` by `meter`.
pub(super) fn rows(
    trace: &Trace,
    meter: &MeterSeries,
    character: &MeterCharacter,
    lag_s: f64,
) -> Vec<PowerRow> {
    let Some(interval_s) = character.interval_s else { return Vec::new() };
    let slices = slices(meter, interval_s, lag_s);
    let is_own = meter.lag_s == Some(0.0);
    let ruler = PowerRuler {
        trace,
        meter,
        character,
        interval_s,
        settling: if is_own { 0.0 } else { SETTLING_READINGS },
    };
    let mut rows = Vec::new();
    let mut phases = trace.phases.clone();
    if let Some(first) =
        phases.first_mut().filter(|first| first.op == SegmentOp::Idle && trace.facts.switched_on)
        && let Some(ready_s) = ready(&within(&slices, first.start_s, first.end_s))
    {
        let start = Phase { name: START.to_owned(), end_s: ready_s, ..first.clone() };
        rows.push(PowerRuler { settling: 0.0, ..ruler }.row(&start, &slices));
        first.start_s = ready_s;
    }
    rows.extend(
        phases.iter().filter(|phase| phase.end_s > phase.start_s).map(|phase| ruler.row(phase, &slices)),
    );
    let idle_w = mean(
        &rows
            .iter()
            .filter(|row| row.op == SegmentOp::Idle && row.phase != START)
            .filter_map(|row| row.net_w)
            .collect::<Vec<_>>(),
    );
    for row in &mut rows {
        let gb_per_s = row.bytes_per_s.map(|speed| speed / 1e9);
        row.j_per_gb_above_idle = row
            .net_w
            .zip(idle_w)
            .zip(gb_per_s)
            .map(|((net_w, idle_w), gb_per_s)| (net_w - idle_w) / gb_per_s);
    }
    rows
}

fn slices(meter: &MeterSeries, interval_s: f64, lag_s: f64) -> Vec<PowerSlice> {
    let is_moment = meter.window_s == Some(0.0);
    let window_s = meter.window_s.filter(|window_s| *window_s > 0.0).unwrap_or(interval_s);
    let mut before_s = f64::NEG_INFINITY;
    let slice = |point: &measure::Point<f64>| {
        let to_s = point.t.as_secs_f64() - lag_s + if is_moment { interval_s / 2.0 } else { 0.0 };
        // A reading that comes late stands for all the time since the one before, up to a hole.
        let longest_s = window_s.max(interval_s * HOLE_INTERVALS);
        let from_s = if to_s - before_s > longest_s { to_s - window_s } else { before_s };
        before_s = to_s;
        PowerSlice { from_s, to_s, watts: point.value }
    };
    meter.watts.points().iter().map(slice).collect()
}

/// Those wholly within, to a hundredth of a second: phases and readings share edges.
fn within(slices: &[PowerSlice], from_s: f64, to_s: f64) -> Vec<PowerSlice> {
    const EDGE_S: f64 = 0.01;
    let first = slices.partition_point(|slice| slice.to_s <= from_s);
    let inside = slices[first..].iter().take_while(|slice| slice.to_s <= to_s + EDGE_S);
    inside.filter(|slice| slice.from_s >= from_s - EDGE_S).copied().collect()
}

/// Until when power is that of a drive that starts: above the middle between its peak and what it settles at.
fn ready(slices: &[PowerSlice]) -> Option<f64> {
    let settled_w = median(slices[slices.len() / 2..].iter().map(|slice| slice.watts))?;
    let peak_w = slices.iter().map(|slice| slice.watts).reduce(f64::max)?;
    // A drive that was switched on draws more for seconds; a fiftieth of what it settles at is noise.
    if peak_w - settled_w < 0.02 * settled_w {
        return None;
    }
    let middle_w = f64::midpoint(peak_w, settled_w);
    let begun = slices.iter().position(|slice| slice.watts > middle_w).filter(|begun| *begun <= 2)?;
    let rest = &slices[begun..];
    let settled = rest.iter().position(|slice| slice.watts <= settled_w + 0.1 * (peak_w - settled_w))?;
    Some(rest[settled].from_s)
}

/// What a row is made with.
#[derive(Clone, Copy)]
struct PowerRuler<'a> {
    trace: &'a Trace,
    meter: &'a MeterSeries,
    character: &'a MeterCharacter,
    interval_s: f64,
    /// Readings left out at the beginning of a phase.
    settling: f64,
}

impl PowerRuler<'_> {
    fn row(&self, phase: &Phase, all: &[PowerSlice]) -> PowerRow {
        let whole = within(all, phase.start_s, phase.end_s);
        let settled_s = phase.start_s + self.settling * self.interval_s;
        let settled = within(all, settled_s, phase.end_s);
        let used = if settled.len() >= READINGS_MIN { &settled } else { &whole };
        let values: Vec<f64> = used.iter().map(|slice| slice.watts).collect();
        let covered_s: f64 = whole.iter().map(|slice| slice.to_s - slice.from_s).sum();
        let mean_w = weighted_mean(used);
        let (baseline_w, baseline_pm_w) = self.trace.facts.power_baseline_w.unwrap_or((0.0, 0.0));
        let net_w = mean_w.map(|mean_w| mean_w - baseline_w);
        let step_w = self.meter.step_w.or(self.character.step_w).unwrap_or(0.0);
        let plus_minus_w =
            plus_minus(&values, step_w, self.meter.accuracy.unwrap_or(0.0), baseline_pm_w / 1.96);
        let bounds = net_w.zip(plus_minus_w);
        let edges = used.first().map(|slice| slice.from_s).zip(used.last().map(|slice| slice.to_s));
        // What completes in an idle phase was begun before it.
        let loaded = edges.filter(|_| phase.op != SegmentOp::Idle);
        let bytes_per_s =
            loaded.and_then(|(from_s, to_s)| self.speed(from_s, to_s)).filter(|speed| *speed > 0.0);
        let iops = phase
            .ios
            .filter(|ios| *ios > 0 && phase.op != SegmentOp::Idle)
            .map(|ios| ios as f64 / (phase.end_s - phase.start_s));
        let net = net_w.filter(|net_w| *net_w > 0.0);
        let points: Vec<(f64, f64)> = whole.iter().map(|slice| (slice.to_s, slice.watts)).collect();
        PowerRow {
            phase: phase.name.clone(),
            op: phase.op,
            power_state: self
                .trace
                .settings_at(f64::midpoint(phase.start_s, phase.end_s))
                .and_then(|settings| settings.power_state),
            meter: self.meter.name.clone(),
            start_s: phase.start_s,
            end_s: phase.end_s,
            mean_w,
            p95_w: quantile(values.iter().copied(), 0.95),
            max_1s_w: max_1s(&points, self.interval_s),
            net_w,
            low_w: bounds.map(|(net_w, plus_minus)| net_w - plus_minus),
            high_w: bounds.map(|(net_w, plus_minus)| net_w + plus_minus),
            energy_j: energy(&whole, phase, self.interval_s)
                .map(|joules| joules - baseline_w * (phase.end_s - phase.start_s)),
            bytes_per_s,
            mb_per_s_per_w: bytes_per_s.zip(net).map(|(speed, net)| speed / 1e6 / net),
            iops_per_w: iops.zip(net).map(|(iops, net)| iops / net),
            j_per_gb: bytes_per_s.zip(net).map(|(speed, net)| net / (speed / 1e9)),
            j_per_gb_above_idle: None,
            readings: used.len(),
            covered: (covered_s / (phase.end_s - phase.start_s)).clamp(0.0, 1.0),
        }
    }

    /// Data of all operations over a time, by the second.
    fn speed(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let overlap = |interval: &trace::Interval| {
            let span_s = (interval.end_s().min(to_s) - interval.start_s.max(from_s)).max(0.0);
            interval.bytes_per_s() * span_s
        };
        let inside = |series: &trace::SpeedSeries| {
            let first = series.intervals.partition_point(|interval| interval.end_s() <= from_s);
            series.intervals[first..]
                .iter()
                .take_while(|interval| interval.start_s < to_s)
                .map(overlap)
                .sum::<f64>()
        };
        (to_s > from_s).then(|| self.trace.speeds.iter().map(inside).sum::<f64>() / (to_s - from_s))
    }
}

fn weighted_mean(slices: &[PowerSlice]) -> Option<f64> {
    let span_s: f64 = slices.iter().map(|slice| slice.to_s - slice.from_s).sum();
    let joules: f64 = slices.iter().map(|slice| slice.watts * (slice.to_s - slice.from_s)).sum();
    (span_s > 0.0).then(|| joules / span_s)
}

/// Joules of a phase; its edges as their neighbours, holes left out. `None` without a reading.
fn energy(slices: &[PowerSlice], phase: &Phase, interval_s: f64) -> Option<f64> {
    let (first, last) = slices.first().zip(slices.last())?;
    let edge_s = |span_s: f64| span_s.clamp(0.0, HOLE_INTERVALS * interval_s);
    let inside: f64 = slices.iter().map(|slice| slice.watts * (slice.to_s - slice.from_s)).sum();
    Some(
        inside
            + first.watts * edge_s(first.from_s - phase.start_s)
            + last.watts * edge_s(phase.end_s - last.to_s),
    )
}
