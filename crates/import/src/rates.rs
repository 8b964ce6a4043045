//! Speeds from what was counted: differences of a counter, and what step is usual.

use trace::caveat::{Caveat, Hole};
use trace::{FASTEST_LINK_BYTES_PER_S, Interval, Trace};

/// A hole of more than this many usual steps is a gap.
pub(super) const GAP_STEPS: f64 = 3.0;

/// Counters begin anew when a machine does: more often than so many times, and in one row of so many, is none.
const FEW_RESETS: usize = 3;
const ROWS_A_RESET: usize = 10;

/// A counter rises so often, and in one of so many rows, and falls in one of so many at most: speeds wander, or stay.
const LEAST_RISES: usize = 5;
const ROWS_A_RISE: usize = 3;
const ROWS_A_FALL: usize = 50;

/// Less than this is what a machine writes that does nothing; more than the second is a load.
const IDLE_BYTES_PER_S: f64 = 10_000.0;
const LOAD_BYTES_PER_S: f64 = 1e6;

/// The usual distance of two times in seconds: the median, which neither gaps nor jitter move. `None` for fewer than two.
pub(super) fn usual_step_s(times: impl IntoIterator<Item = f64>) -> Option<f64> {
    let times: Vec<f64> = times.into_iter().collect();
    let mut steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // Of two the shorter: the other one is a hole.
    let middle = steps.len().checked_sub(1)? / 2;
    Some(*steps.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// The same of times with values.
pub(super) fn usual_step(values: &[(f64, f64)]) -> Option<f64> {
    usual_step_s(values.iter().map(|(t, _)| *t))
}

/// Intervals between the values of a counter in steps of `unit` bytes, over what is missing (`NaN`): what was moved meanwhile is known. A
/// counter that falls was reset: a gap.
pub(super) fn differences(values: &[(f64, f64)], zero_s: f64, unit: f64, trace: &mut Trace) -> Vec<Interval> {
    let values: Vec<(f64, f64)> = values.iter().copied().filter(|(_, value)| !value.is_nan()).collect();
    let Some(usual_s) = usual_step(&values) else { return Vec::new() };
    let mut resets = 0;
    let mut intervals = Vec::new();
    for pair in values.windows(2) {
        let span_s = pair[1].0 - pair[0].0;
        let bytes = (pair[1].1 - pair[0].1) * unit;
        resets += usize::from(bytes < 0.0);
        if bytes >= 0.0 && span_s <= GAP_STEPS * usual_s {
            intervals.push(Interval { start_s: pair[0].0 - zero_s, span_s, bytes, phase: 0 });
        }
    }
    if resets > 0 {
        // Counters of reading and of writing begin anew together.
        let known = trace.caveats.iter_mut().find_map(|caveat| match caveat {
            Caveat::Gap(Hole::CounterReset { resets }) => Some(resets),
            _ => None,
        });
        match known {
            Some(known) => *known = resets.max(*known),
            None => trace.caveats.push(Caveat::Gap(Hole::CounterReset { resets })),
        }
    }
    intervals
}

/// Refuses what falls so often that it is no counter.
pub(super) fn is_counter(values: &[(f64, f64)]) -> Result<(), String> {
    let falls = values.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
    if falls > FEW_RESETS && falls * ROWS_A_RESET > values.len() {
        return Err(format!(
            "bytes read or written fall in {falls} of {} steps: are they rates, as of derivative(), or bytes of a row each? Export the counters as they are, or call rates that, such as write_bytes_per_s",
            values.len() - 1
        ));
    }
    Ok(())
}

/// Refuses what a title calls bytes, of both directions, where it is not told whether they are of all time or of a row each: as bytes
/// moved so far they stand nearly still, and as bytes of a row each they are the load of a drive.
/// `what_to_do` ends the refusal.
pub(super) fn is_told_as_counter(columns: &[&[(f64, f64)]], what_to_do: &str) -> Result<(), String> {
    let (mut as_counter, mut as_rows) = (0.0_f64, 0.0_f64);
    for values in columns {
        let known: Vec<(f64, f64)> = values.iter().copied().filter(|(_, bytes)| !bytes.is_nan()).collect();
        let (Some(step_s), [first, .., last]) = (usual_step(&known), &known[..]) else { continue };
        as_counter += (last.1 - first.1).abs() / (last.0 - first.0);
        as_rows += known[known.len() / 2].1 / step_s;
    }
    if as_counter < IDLE_BYTES_PER_S && (LOAD_BYTES_PER_S..FASTEST_LINK_BYTES_PER_S).contains(&as_rows) {
        return Err(format!(
            "are its bytes all that were ever moved, or those of each row? As the first nothing was done ({as_counter:.0} B/s), as the second it is a load ({:.1} MB/s). {what_to_do}",
            as_rows / 1e6
        ));
    }
    Ok(())
}

/// Whether values are those of a counter: they rise in a third of all rows, and fall as seldom as machines are started.
pub(super) fn counts_up(values: &[f64]) -> bool {
    let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let steps = || known.windows(2).map(|pair| pair[1] - pair[0]);
    let (rises, falls) =
        (steps().filter(|step| *step > 0.0).count(), steps().filter(|step| *step < 0.0).count());
    rises >= LEAST_RISES && rises * ROWS_A_RISE >= known.len() && falls * ROWS_A_FALL <= known.len()
}
