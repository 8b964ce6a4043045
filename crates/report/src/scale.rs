//! Axes: ranges that hold the data, ticks a person would draw, and time in the unit that suits its span.

/// Steps of ticks within a decade; what people write on paper.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];

/// Round values from `min` to `max`, about `count` of them, with the decimals they need.
pub(crate) fn ticks(min: f64, max: f64, count: usize) -> (Vec<f64>, usize) {
    let span = max - min;
    if !span.is_finite() || span <= 0.0 || count == 0 {
        return (vec![], 0);
    }
    let step = nice_step(span / count as f64);
    if !step.is_finite() || step <= 0.0 {
        return (vec![], 0);
    }
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let first = (min / step - 1e-9).ceil();
    let last = (max / step + 1e-9).floor();
    // A range far from zero and narrower than its doubles has no ticks to draw.
    if !(0.0..=1000.0).contains(&(last - first)) {
        return (vec![], 0);
    }
    let ticks = (0..=(last - first) as usize).map(|index| (first + index as f64) * step).collect();
    (ticks, decimals)
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `least`.
pub(crate) fn nice_step(least: f64) -> f64 {
    let decade = 10f64.powf(least.log10().floor());
    STEPS
        .into_iter()
        .map(|step| step * decade)
        .find(|step| *step >= least * 0.999_999)
        .unwrap_or(10.0 * decade)
}

/// The powers of ten from `min` to `max`.
pub(crate) fn decades(min: f64, max: f64) -> Vec<f64> {
    if !(min > 0.0 && max >= min && max.is_finite()) {
        return vec![];
    }
    let (first, last) = (min.log10().ceil() as i32, max.log10().floor() as i32);
    (first..=last).map(|power| 10f64.powi(power)).collect()
}

/// The unit in which a time axis of `span_s` is labelled: (name, seconds in it).
pub(crate) fn time_unit(span_s: f64) -> (&'static str, f64) {
    match span_s {
        span if span <= 1200.0 => ("s", 1.0),
        span if span <= 5.0 * 3600.0 => ("min", 60.0),
        _ => ("h", 3600.0),
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0.0, 600.0, 6), (vec![0.0, 100.0, 200.0, 300.0, 400.0, 500.0, 600.0], 0));
        assert_eq!(ticks(0.0, 3.2, 5), (vec![0.0, 1.0, 2.0, 3.0], 0));
        assert_eq!(ticks(0.0, 0.9, 4), (vec![0.0, 0.5], 1));
        assert_eq!(ticks(27.0, 83.0, 6), (vec![30.0, 40.0, 50.0, 60.0, 70.0, 80.0], 0));
        assert_eq!(decades(0.05, 20.0), [0.1, 1.0, 10.0]);
    }

    proptest! {
        #[test]
        fn ticks_lie_in_the_range_and_are_few(min in any::<f64>(), max in any::<f64>(), count in 1usize..20) {
            let (ticks, _) = ticks(min, max, count);
            let slack = (max - min).abs() * 1e-6;
            prop_assert!(ticks.len() <= count * 2 + 2);
            prop_assert!(ticks.iter().all(|t| *t >= min - slack && *t <= max + slack));
        }
    }
}
