//! What a log shows in which nothing was loaded, or no speed was recorded: its temperatures and its power.

use super::capitalised;
use crate::format;
use crate::view::{LevelKind, Readings, ReportInput, plausible};

/// Sensors and meters that get a sentence each.
const MOST: usize = 6;
/// Time between two readings counts up to so many times what usually lies between two.
const LONGEST_GAP: f64 = 3.0;

/// What the readings of a run without a load show, a sentence each; the first says why there is no speed.
pub(super) fn without_load(input: &ReportInput) -> Vec<String> {
    let mut speeds =
        input.speed.iter().flat_map(|series| &series.intervals).map(|interval| interval.value).peekable();
    let first = match speeds.peek().is_some() {
        false => "No speed was recorded.",
        true if speeds.all(|speed| speed <= 0.0) => "No load: no data were read or written.",
        true => "No load that can be judged was recorded.",
    };
    let temperatures = input.temperature.iter().filter_map(Course::new);
    let temperatures = temperatures.take(MOST).map(|course| course.temperature(input));
    let power = input.power.iter().filter_map(Course::new).take(MOST).map(|course| course.power());
    [first.to_owned()].into_iter().chain(temperatures).chain(power).collect()
}

/// Readings that are numbers, at least one.
struct Course<'a> {
    name: &'a str,
    /// (seconds, value, seconds until the next reading).
    points: Vec<(f64, f64, f64)>,
}

impl<'a> Course<'a> {
    fn new(readings: &'a Readings) -> Option<Self> {
        let read = readings.points.iter().filter_map(|(t_s, value)| Some((*t_s, (*value)?)));
        let read: Vec<(f64, f64)> =
            read.filter(|(t_s, value)| plausible(*t_s) && plausible(*value)).collect();
        let mut apart_s: Vec<f64> = read.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        apart_s.sort_by(f64::total_cmp);
        let usual_s = apart_s.get(apart_s.len() / 2).copied().unwrap_or(0.0);
        let longest_s = (LONGEST_GAP * usual_s).max(0.0);
        let until = |at: usize| read.get(at + 1).map_or(0.0, |next| next.0 - read[at].0);
        let points =
            (0..read.len()).map(|at| (read[at].0, read[at].1, until(at).clamp(0.0, longest_s))).collect();
        (!read.is_empty()).then_some(Self { name: &readings.name, points })
    }

    fn ends(&self) -> (f64, f64) {
        let values = self.points.iter().map(|point| point.1);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
    }

    /// "Composite temperature: 40 °C to 78 °C, hottest at 1,005 s, 78 °C at the end; 9 min at 70 °C (WCTEMP) and above."
    fn temperature(&self, input: &ReportInput) -> String {
        let name = match self.name.contains("temperature") {
            true => capitalised(self.name),
            false => capitalised(&format!("{} temperature", self.name)),
        };
        let (low, high) = self.ends();
        let last = self.points[self.points.len() - 1];
        if low >= high {
            let read = if self.points.len() == 1 { "" } else { " in every reading" };
            return format!("{name}: {}{read}.", format::degrees(high));
        }
        let hottest_s = self.points.iter().find(|point| point.1 >= high).map_or(0.0, |point| point.0);
        let mut text = format!(
            "{name}: {} to {}, hottest at {}, {} at the end",
            format::degrees(low),
            format::degrees(high),
            format::seconds(hottest_s),
            format::degrees(last.1)
        );
        let crossed = |level: &&crate::view::Level| {
            !matches!(level.kind, LevelKind::StopLimit) && high >= format::celsius(f64::from(level.temp_k))
        };
        for level in input.levels.iter().filter(crossed) {
            let limit = format::celsius(f64::from(level.temp_k));
            let above_s = self.points.iter().filter(|point| point.1 >= limit).map(|point| point.2).sum();
            text.push_str(&format!(
                "; {} at {} ({}) and above",
                format::seconds(above_s),
                format::degrees(limit),
                level.kind.name()
            ));
        }
        text + "."
    }

    /// "Power: 1.20 to 6.50 W, mean 4.74 W."
    fn power(&self) -> String {
        let (low, high) = self.ends();
        let watts = |value: f64| format::cell(Some(value), 2);
        let name = capitalised(self.name);
        let span_s: f64 = self.points.iter().map(|point| point.2).sum();
        if low >= high || span_s <= 0.0 {
            return format!("{name}: {} W.", watts(high));
        }
        let mean = self.points.iter().map(|point| point.1 * point.2).sum::<f64>() / span_s;
        format!("{name}: {} to {} W, mean {} W.", watts(low), watts(high), watts(mean))
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn readings(name: &str, points: &[(f64, f64)]) -> Readings {
        Readings { name: name.into(), points: points.iter().map(|(t, v)| (*t, Some(*v))).collect() }
    }

    /// Goal: a mean over time, not over readings: they may come at any moment.
    #[test]
    fn power_is_a_mean_over_time() {
        let read = readings("power", &[(0.0, 2.0), (1.0, 2.0), (2.0, 8.0), (4.0, 8.0)]);
        let course = Course::new(&read).expect("readings");
        assert_eq!(course.power(), "Power: 2.00 to 8.00 W, mean 5.00 W.");
    }

    #[test]
    fn what_failed_to_be_read_and_what_is_no_number_is_left_out() {
        let none = Readings { name: "composite".into(), points: vec![(0.0, None), (1.0, Some(f64::NAN))] };
        assert!(Course::new(&none).is_none());
    }
}
