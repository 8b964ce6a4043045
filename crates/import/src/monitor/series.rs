//! Columns of a monitor's log to the series of a trace.

use std::borrow::Cow;

use measure::Series;

use super::Quantity;
use crate::csv::kelvin_from_celsius;
use crate::rates::{GAP_STEPS, differences, is_counter, usual_step};
use crate::{COLDEST_K, HOTTEST_K, stands_for_none};
use trace::{Interval, SpeedSeries, Temperature, Trace, instant};

/// A counter of busy seconds runs ahead of the log's times by this factor at most; else it counts something else.
const MOST_BUSY: f64 = 1.2;

/// Takes one column over into the trace.
pub(super) fn add(
    trace: &mut Trace,
    quantity: Quantity,
    values: &[(f64, f64)],
    zero_s: f64,
) -> Result<(), String> {
    match quantity {
        Quantity::Rate(op) => {
            let Some(intervals) = of_rates(values, zero_s)? else { return Ok(()) };
            trace.speeds.push(SpeedSeries { op, intervals });
        }
        Quantity::Total(op) => {
            if trace.speeds.iter().any(|known| known.op == op) {
                return Ok(());
            }
            is_counter(values)?;
            let intervals = differences(values, zero_s, 1.0, trace);
            trace.speeds.push(SpeedSeries { op, intervals });
        }
        Quantity::Celsius(number) => trace.temperatures.push(temperature(number, values, zero_s)?),
        Quantity::Busy => {
            for (t, share) in values.iter().filter(|(_, share)| share.is_finite()) {
                trace.busy.push(instant(t - zero_s), share.clamp(0.0, 1.0));
            }
        }
        Quantity::BusyTotal => {
            for of_time in values.windows(2) {
                let [(from_s, before), (to_s, after)] = of_time else { continue };
                let share = (after - before) / (to_s - from_s);
                if (0.0..=MOST_BUSY).contains(&share) {
                    trace.busy.push(instant(to_s - zero_s), share.min(1.0));
                }
            }
        }
        Quantity::Power => {
            for (t, watts) in values.iter().filter(|(_, watts)| watts.is_finite()) {
                trace.power_w.push(instant(t - zero_s), *watts);
            }
        }
    }
    Ok(())
}

/// Whether speeds have a minus so that they are drawn downwards, as dashboards do with one of reading and writing.
pub(super) fn is_drawn_down(quantity: Quantity, values: &[(f64, f64)]) -> bool {
    let known = || values.iter().map(|(_, value)| *value).filter(|value| !value.is_nan());
    matches!(quantity, Quantity::Rate(_)) && known().all(|rate| rate <= 0.0) && known().any(|rate| rate < 0.0)
}

/// Values without the rows that have none, where most of those are of other columns: tables that were joined by time have a row for
/// each time of any of their columns.
pub(super) fn of_own_rows(values: &[(f64, f64)]) -> Cow<'_, [(f64, f64)]> {
    let known = values.iter().filter(|(_, value)| !value.is_nan());
    if known.clone().count() * 3 > values.len() * 2 {
        return Cow::Borrowed(values);
    }
    Cow::Owned(known.copied().collect())
}

/// Intervals of rates, each over the time before its row; `None` where there are none.
fn of_rates(values: &[(f64, f64)], zero_s: f64) -> Result<Option<Vec<Interval>>, String> {
    let values = &of_own_rows(values)[..];
    let Some(usual_s) = usual_step(values) else { return Ok(None) };
    let mut intervals = Vec::with_capacity(values.len());
    let mut before_s = f64::NEG_INFINITY;
    for (t_s, rate) in values {
        let span_s = if t_s - before_s <= GAP_STEPS * usual_s { t_s - before_s } else { usual_s };
        before_s = *t_s;
        if rate.is_nan() {
            continue;
        }
        if !(0.0..=crate::FASTEST_BYTES_PER_S).contains(rate) {
            return Err(format!("{rate} B/s is no drive's speed: is it in another unit?"));
        }
        let start_s = (t_s - span_s - zero_s).max(0.0);
        intervals.push(Interval { start_s, span_s, bytes: rate * span_s, phase: 0 });
    }
    Ok((!intervals.is_empty()).then_some(intervals))
}

fn temperature(number: u8, values: &[(f64, f64)], zero_s: f64) -> Result<Temperature, String> {
    let whole = values.iter().all(|(_, value)| value.is_nan() || value.fract() == 0.0);
    let name = if number == 0 { "composite".to_owned() } else { format!("sensor{number}") };
    let mut kelvin = Series::new();
    for (t, value) in &of_own_rows(values)[..] {
        let t = instant(t - zero_s);
        if value.is_nan() || stands_for_none(value + 273.0) {
            kelvin.push_gap(t, "no reading");
        } else if (COLDEST_K..=HOTTEST_K).contains(&(value + 273.15)) {
            kelvin.push(t, kelvin_from_celsius(*value, whole));
        } else {
            return Err(format!("{value} °C is no temperature of a drive: is it in another unit?"));
        }
    }
    Ok(Temperature { name, kelvin })
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_rate_is_that_of_the_time_before_and_a_hole_stays_one() {
        let values = [(10.0, 5.0), (11.0, 6.0), (20.0, 7.0), (21.0, 8.0)];
        let intervals = of_rates(&values, 9.0).expect("rates").expect("some");
        let spans: Vec<(f64, f64)> = intervals.iter().map(|i| (i.start_s, i.end_s())).collect();
        assert_eq!(spans, [(0.0, 1.0), (1.0, 2.0), (10.0, 11.0), (11.0, 12.0)]);
    }
}
