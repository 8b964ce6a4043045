//! The air around a drive during a run: as it was recorded, or as it may have drifted where nobody recorded it.
//!
//! A room that warms up while the load grows looks like a load that heats more: which of both it was, readings of the drive do not say.
//!
//! # What it does not do
//! It knows no fans: air that moves faster or slower changes what a load does, and not what the drive has at rest.

use measure::Point;
use trace::Trace;

/// Readings must reach from the first to the last tenth of what is fitted.
const REACHES: f64 = 0.1;
/// Beside the drive the air is a little more or less than what a sensor in the inlet shows, as a share of its changes.
const RECORDED_SD: f64 = 0.2;
/// By how much air that nobody recorded drifts in an hour, in kelvins: a scale, and by how many times a normal number the hyperbolic sine is of,
/// so that half of all rooms stay within 0.35 K, one in twelve leaves 2 K, and one in fifty 5 K.
const DRIFT_K: f64 = 0.3;
const DRIFT_TAIL: f64 = 1.5;
const HOUR_S: f64 = 3_600.0;

/// What the air did.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AirCourse {
    /// Kelvins over the first reading, cell by cell.
    Recorded(Vec<f64>),
    /// Nobody knows: a drift of so many kelvins from beginning to end is its scale.
    Unknown { scale_k: f64, span_s: f64 },
}

impl AirCourse {
    /// That of `cells` from `from_s` on, `cell_s` long each.
    pub(super) fn new(trace: &Trace, from_s: f64, cell_s: f64, cells: usize) -> Self {
        let span_s = cell_s * cells as f64;
        let points = trace.ambient.points();
        let after = points.partition_point(|p| p.t.as_secs_f64() <= from_s + REACHES * span_s);
        let last_s = points.last().map_or(f64::NEG_INFINITY, |p| p.t.as_secs_f64());
        if after == 0 || last_s < from_s + (1.0 - REACHES) * span_s {
            return Self::Unknown { scale_k: DRIFT_K * span_s / HOUR_S, span_s };
        }
        let at = |cell: usize| value_at(points, from_s + (cell as f64 + 0.5) * cell_s);
        let first_k = at(0);
        Self::Recorded((0..cells).map(|cell| at(cell) - first_k).collect())
    }

    /// By how much a unit of it warms the drive, by a parameter that is normal before any data.
    pub(super) fn share(&self, parameter: f64) -> f64 {
        match self {
            Self::Recorded(_) => 1.0 + RECORDED_SD * parameter,
            Self::Unknown { scale_k, .. } => scale_k * (DRIFT_TAIL * parameter.clamp(-4.0, 4.0)).sinh(),
        }
    }
}

/// Between the readings around a moment, in seconds; beyond the first and the last as those.
fn value_at(points: &[Point<f64>], t_s: f64) -> f64 {
    let after = points.partition_point(|p| p.t.as_secs_f64() <= t_s);
    let (Some(before), Some(next)) = (points[..after].last(), points.get(after)) else {
        return points[after.min(points.len() - 1)].value;
    };
    let (from_s, to_s) = (before.t.as_secs_f64(), next.t.as_secs_f64());
    before.value + (next.value - before.value) * (t_s - from_s) / (to_s - from_s)
}
