//! The trend of the last readings: a straight line by least squares.

use std::collections::VecDeque;

/// So many readings at most, whatever their rate.
const MOST: usize = 256;
/// Fewer give no slope, and so many are kept however old they are: a sensor may be read rarely.
const FEWEST: usize = 3;

/// Readings of the last seconds.
#[derive(Clone, Debug)]
pub(crate) struct Trend {
    window_s: f64,
    readings: VecDeque<(f64, f64)>,
}

/// A straight line, at the last reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) value: f64,
    /// Change in a second.
    pub(crate) slope: f64,
}

impl Trend {
    /// Over so many seconds.
    pub(crate) const fn new(window_s: f64) -> Self {
        Self { window_s, readings: VecDeque::new() }
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.readings.clear();
    }

    /// Takes a reading; those before the window go.
    pub(crate) fn push(&mut self, t_s: f64, value: f64) {
        self.readings.push_back((t_s, value));
        while self.readings.len() > MOST || (self.readings.len() > FEWEST && self.first_is_old(t_s)) {
            self.readings.pop_front();
        }
    }

    fn first_is_old(&self, now_s: f64) -> bool {
        self.readings.front().is_some_and(|first| now_s - first.0 > self.window_s)
    }

    /// The line through what there is.
    pub(crate) fn line(&self) -> Line {
        let Some(&(last_s, last)) = self.readings.back() else { return Line { value: 0.0, slope: 0.0 } };
        let count = self.readings.len() as f64;
        let mean_s = self.readings.iter().map(|reading| reading.0 - last_s).sum::<f64>() / count;
        let mean = self.readings.iter().map(|reading| reading.1).sum::<f64>() / count;
        let (mut along, mut square) = (0.0, 0.0);
        for (t_s, value) in &self.readings {
            let off_s = t_s - last_s - mean_s;
            along += off_s * (value - mean);
            square += off_s * off_s;
        }
        if self.readings.len() < FEWEST || square <= f64::EPSILON {
            return Line { value: last, slope: 0.0 };
        }
        let slope = along / square;
        Line { value: mean - slope * mean_s, slope }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_line_is_found_and_old_readings_go() {
        let mut trend = Trend::new(10.0);
        assert_eq!(trend.line(), Line { value: 0.0, slope: 0.0 });
        for second in 0..100 {
            trend.push(f64::from(second), if second < 80 { 300.0 } else { 220.0 + f64::from(second) });
        }
        let line = trend.line();
        assert!((line.value - 319.0).abs() < 1e-9 && (line.slope - 1.0).abs() < 1e-9, "{line:?}");
    }

    #[test]
    fn readings_of_one_moment_have_no_slope() {
        let mut trend = Trend::new(10.0);
        (0..5).for_each(|value| trend.push(1e9, 300.0 + f64::from(value)));
        assert_eq!(trend.line().slope, 0.0);
    }
}
