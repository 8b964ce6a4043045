//! Temperature and load of a run, side by side.

use crate::cause::heat::Heat;
use crate::findings::SegmentOp;
use trace::Trace;
use trace::caveat::HeatingUnknown;

/// Only this much of a run is fitted: many slow time constants, and a bound on the work. It is the first such part, half overlapping the one
/// before, in which the temperature changed enough.
const WINDOW_S: f64 = 7_200.0;
/// Cells of at least this length; sensors are read once a second.
const CELL_S: f64 = 1.0;
/// Below this there is nothing to fit: the quantiser alone has 1 K.
const LEAST_RANGE_K: f64 = 8.0;
/// A step of 300 s gave the gain to 4 % in trials with known truth, shorter ones did not.
const LEAST_SPAN_S: f64 = 240.0;
/// Fewer readings than this are no course of a temperature.
const LEAST_READINGS: usize = 30;
/// An unread second is not an idle one: with more of them than this the heating is not known.
const MOST_UNREAD: f64 = 0.1;
/// Load of one operation for less than this says nothing about it.
const LEAST_LOAD_S: f64 = 30.0;
/// More than this is load, in GB/s.
const LOADED: f64 = 0.01;
/// A row this long is longer than a sensor lags: whether its time is that of its beginning or of its end makes a difference.
const LONG_ROW_S: f64 = 4.0;
/// A drive at rest is cooler than this in most rooms: one that is hotter in its first reading may have been at work for long.
const AT_REST_K: f64 = 318.0;
/// A load that warms a drive up by less than this share of what its readings moved is not what moved them.
const BY_LOAD: f64 = 0.5;
/// One reading in so many seconds is enough, and so many altogether.
const ENOUGH_S: f64 = 4.0;
const ENOUGH: f64 = 300.0;

/// Temperature and load on one grid of cells.
pub(super) struct ThermalData {
    /// Length of a cell in seconds.
    pub cell_s: f64,
    /// Write and read speed in GB/s, cell by cell.
    pub load: [Vec<f64>; 2],
    /// Seconds of each.
    load_s: [f64; 2],
    /// Time in seconds and temperature in kelvins.
    pub readings: Vec<(f64, f64)>,
    /// How far they are apart, in seconds.
    pub apart_s: f64,
    /// The sensor's resolution in kelvins.
    pub step_k: f64,
    /// By how much earlier than the log has it the load may have been, in seconds: the time of a long row may be that of its end.
    pub early_s: Vec<f64>,
    /// By how much the temperature rose from the first reading to the second, in kelvins, where the load was there already.
    pub rising_k: f64,
    /// By how much it was hotter in the first reading of a log than drives at rest are, in kelvins.
    pub warm_k: f64,
}

impl ThermalData {
    pub(super) fn new(trace: &Trace, heat: &Heat, unread: f64) -> Result<Self, HeatingUnknown> {
        let from_s = window(trace, heat);
        let end_s = (trace.end_s() - from_s).min(WINDOW_S);
        if heat.frozen {
            return Err(HeatingUnknown::EvenTemperature);
        }
        let readings = heat.within(from_s, from_s + end_s);
        if readings.len() < LEAST_READINGS {
            return Err(match heat.all().len() < LEAST_READINGS {
                true => HeatingUnknown::FewTemperatures,
                false => HeatingUnknown::RareTemperatures { every_s: heat.period_s, longest_s: WINDOW_S },
            });
        }
        if unread > MOST_UNREAD {
            return Err(HeatingUnknown::LoadUnread { share: unread });
        }
        if end_s < LEAST_SPAN_S {
            return Err(HeatingUnknown::ShortRun);
        }
        if range_k(readings.iter().map(|p| p.value)) < LEAST_RANGE_K {
            return Err(HeatingUnknown::EvenTemperature);
        }
        let cell_s = CELL_S.max(heat.period_s);
        let cells = (end_s / cell_s).ceil() as usize;
        let mut load = [vec![0.0; cells], vec![0.0; cells]];
        for series in &trace.speeds {
            let of_op = match series.op {
                SegmentOp::Write => &mut load[0],
                SegmentOp::Read => &mut load[1],
                _ => continue,
            };
            let within = series.intervals.iter().filter(|i| i.start_s >= from_s);
            for interval in within.take_while(|i| i.start_s < from_s + end_s) {
                let (start_s, stop_s) = (interval.start_s - from_s, interval.end_s() - from_s);
                spread(of_op, cell_s, start_s, stop_s, interval.bytes / 1e9);
            }
        }
        let loaded = |cell: usize| load.iter().any(|load| load[cell] > LOADED);
        let first_s = readings[0].t.as_secs_f64() - from_s;
        let rising_k = match loaded(((first_s / cell_s) as usize).min(cells - 1)) {
            true => (readings[1].value - readings[0].value).max(0.0),
            false => 0.0,
        };
        // A run that is described begins with its load; a log may begin anywhere.
        let begins_anywhere = trace.phases.iter().any(|phase| phase.inferred);
        let warm_k = if begins_anywhere { (readings[0].value - AT_REST_K).max(0.0) } else { 0.0 };
        let mut early_s = vec![0.0];
        early_s.extend((heat.slice_s >= LONG_ROW_S).then_some(heat.slice_s));
        let load_s = [0, 1].map(|op: usize| load[op].iter().filter(|l| **l > LOADED).count() as f64 * cell_s);
        // More readings than one in so many seconds tell nothing more.
        let every = (ENOUGH_S / heat.period_s).max(readings.len() as f64 / ENOUGH).floor().max(1.0);
        let readings = readings.iter().step_by(every as usize);
        let readings = readings.map(|p| (p.t.as_secs_f64() - from_s, p.value)).collect();
        Ok(Self {
            cell_s,
            load,
            load_s,
            readings,
            apart_s: every * heat.period_s,
            step_k: heat.step_k,
            early_s,
            rising_k,
            warm_k,
        })
    }

    /// Whether there was enough of writing (0) or reading (1) to tell what it does.
    pub(super) fn is_loaded(&self, op: usize) -> bool {
        self.load_s[op] >= LEAST_LOAD_S
    }

    /// Whether a drive of so many kelvins for each GB/s of writing and reading warms up, under the most that was asked of it, by a good part
    /// of what its readings moved: else it was something else that moved them.
    pub(super) fn is_warmed_by_load(&self, gain_k: [f64; 2]) -> bool {
        let [write, read] = &self.load;
        let rise_k = write.iter().zip(read).map(|(write, read)| gain_k[0] * write + gain_k[1] * read);
        rise_k.fold(0.0, f64::max) >= BY_LOAD * range_k(self.readings.iter().map(|(_, kelvin)| *kelvin))
    }

    /// The lowest reading, in kelvins.
    pub(super) fn coolest_k(&self) -> f64 {
        self.readings.iter().map(|(_, kelvin)| *kelvin).fold(f64::INFINITY, f64::min)
    }
}

/// Where the part of a run begins that is fitted, in seconds: at its beginning, unless the temperature changes enough only later.
fn window(trace: &Trace, heat: &Heat) -> f64 {
    let last_s = (trace.end_s() - WINDOW_S).max(0.0);
    let begins_s = (0..).map(|half| 0.5 * WINDOW_S * f64::from(half)).take_while(|from_s| *from_s <= last_s);
    let mut begins_s = begins_s.chain(std::iter::once(last_s));
    let moves = |from_s: &f64| {
        range_k(heat.within(*from_s, from_s + WINDOW_S).iter().map(|p| p.value)) >= LEAST_RANGE_K
    };
    begins_s.find(moves).unwrap_or(0.0)
}

/// From the lowest of these readings to the highest, in kelvins.
fn range_k(readings: impl Iterator<Item = f64>) -> f64 {
    let wider = |(low, high): (f64, f64), kelvin: f64| (low.min(kelvin), high.max(kelvin));
    let (low_k, high_k) = readings.fold((f64::INFINITY, f64::NEG_INFINITY), wider);
    (high_k - low_k).max(0.0)
}

/// Adds `amount` over the cells from `from_s` to `to_s`, as a rate.
fn spread(cells: &mut [f64], cell_s: f64, from_s: f64, to_s: f64, amount: f64) {
    let (first, last) = ((from_s / cell_s) as usize, (to_s / cell_s) as usize);
    for (cell, value) in cells.iter_mut().enumerate().take(last + 1).skip(first) {
        let (start_s, end_s) = (cell as f64 * cell_s, (cell + 1) as f64 * cell_s);
        let overlap_s = (to_s.min(end_s) - from_s.max(start_s)).max(0.0);
        *value += amount * overlap_s / (to_s - from_s) / cell_s;
    }
}
