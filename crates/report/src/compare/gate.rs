//! Limits on differences: `write.mean < -5%`, for checks of firmware and setups by machine.

use std::str::FromStr;

use super::loads::{ComparedLoad, loads};
use crate::figures::PhaseFigures;
use crate::format;
use crate::view::ReportInput;

/// A difference from the baseline that must not be.
#[derive(Clone, Debug, PartialEq)]
pub struct FailIf {
    /// As it was typed.
    typed: String,
    /// A phase's name or an operation.
    load: String,
    metric: GateMetric,
    /// Whether what is below the limit fails; else what is above it.
    below: bool,
    /// As a share of the baseline.
    limit: f64,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GateMetric {
    Mean,
    FullSpeed,
    Throttled,
    TimeThrottled,
    Iops,
    P50,
    P99,
    P999,
    Max,
    Power,
}

/// Names as they are typed.
const METRICS: [(&str, GateMetric); 10] = [
    ("mean", GateMetric::Mean),
    ("full_speed", GateMetric::FullSpeed),
    ("throttled", GateMetric::Throttled),
    ("time_throttled", GateMetric::TimeThrottled),
    ("iops", GateMetric::Iops),
    ("p50", GateMetric::P50),
    ("p99", GateMetric::P99),
    ("p999", GateMetric::P999),
    ("max", GateMetric::Max),
    ("power", GateMetric::Power),
];

impl GateMetric {
    fn of(self, one: &PhaseFigures) -> Option<f64> {
        match self {
            Self::Mean => one.mean_bytes_per_s,
            Self::FullSpeed => one.full.map(|full| full.bytes_per_s),
            Self::Throttled => one.throttled_bytes_per_s,
            Self::TimeThrottled => one.throttled_s,
            Self::Iops => one.iops,
            Self::P50 => one.latency.map(|latency| latency.p50_ns),
            Self::P99 => one.latency.map(|latency| latency.p99_ns),
            Self::P999 => one.latency.map(|latency| latency.p999_ns),
            Self::Max => one.latency.map(|latency| latency.max_ns),
            Self::Power => one.power_w,
        }
    }
}

impl FromStr for FailIf {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let wrong = |why: String| {
            format!("{why}; expected LOAD.METRIC < PERCENT or > PERCENT, as in \"write.mean < -5%\"")
        };
        let Some((left, below, right)) = typed
            .split_once('<')
            .map(|(left, right)| (left, true, right))
            .or_else(|| typed.split_once('>').map(|(left, right)| (left, false, right)))
        else {
            return Err(wrong("there is no < or > in it".to_owned()));
        };
        let Some((load, metric)) = left.trim().rsplit_once('.') else {
            return Err(wrong(format!("{:?} has no . between load and metric", left.trim())));
        };
        let metric = METRICS.iter().find(|(name, _)| *name == metric).ok_or_else(|| {
            let names: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
            wrong(format!("{metric:?} is no metric ({})", names.join(", ")))
        })?;
        let number = right.trim().strip_suffix('%').map(str::trim);
        let limit: f64 = number
            .and_then(|number| number.parse().ok())
            .filter(|limit: &f64| limit.is_finite())
            .ok_or_else(|| wrong(format!("{:?} is no percentage", right.trim())))?;
        if load.trim().is_empty() {
            return Err(wrong("the load is missing".to_owned()));
        }
        let load = load.trim().to_owned();
        Ok(Self { typed: typed.trim().to_owned(), load, metric: metric.1, below, limit: limit / 100.0 })
    }
}

/// What came of one limit.
#[derive(Clone, Debug, PartialEq)]
pub struct GateResult {
    /// As it was typed.
    pub limit: String,
    /// What broke it, a sentence each; empty where it holds.
    pub broken_by: Vec<String>,
    /// Pairs that were looked at; 0 means that nothing could be checked.
    pub checked: usize,
}

/// Holds every limit against every run but the baseline.
pub fn check_limits(runs: &[ReportInput], baseline: usize, limits: &[FailIf]) -> Vec<GateResult> {
    let loads = loads(runs);
    limits.iter().map(|limit| check(&loads, runs.len(), baseline, limit)).collect()
}

fn check(loads: &[ComparedLoad], runs: usize, baseline: usize, limit: &FailIf) -> GateResult {
    let mut result = GateResult { limit: limit.typed.clone(), broken_by: Vec::new(), checked: 0 };
    let named = |load: &&ComparedLoad| load.names.0 == limit.load || load.names.1 == limit.load;
    for load in loads.iter().filter(named) {
        for run in (0..runs).filter(|run| *run != baseline) {
            let value = |run: usize| load.runs[run].as_ref().and_then(|one| limit.metric.of(one));
            let (Some(base), Some(value)) = (value(baseline), value(run)) else { continue };
            // From nothing to something is no percentage: any growth of a zero is beyond every limit.
            let share = if base == 0.0 && value == 0.0 { 0.0 } else { value / base - 1.0 };
            if share.is_nan() {
                continue;
            }
            result.checked += 1;
            if (limit.below && share < limit.limit) || (!limit.below && share > limit.limit) {
                let letter = super::alias::letter(run);
                let by = match share.is_finite() {
                    true => format::signed_percent(share),
                    false => "from zero".to_owned(),
                };
                result.broken_by.push(format!("{letter}, {}: {by}", load.title));
            }
        }
    }
    result
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn limits_are_read_as_typed_and_refused_with_the_reason() {
        let limit: FailIf = "sequential read.p99 > +10 %".parse().expect("a limit");
        assert_eq!(
            (limit.load.as_str(), limit.metric, limit.below),
            ("sequential read", GateMetric::P99, false)
        );
        assert!((limit.limit - 0.1).abs() < 1e-12);
        for (typed, why) in [
            ("write.mean -5%", "no < or >"),
            ("write < -5%", "no . between"),
            ("write.speed < -5%", "\"speed\" is no metric (mean, full_speed"),
            ("write.mean < 5", "\"5\" is no percentage"),
            ("write.mean < nan%", "is no percentage"),
            (".mean < -5%", "the load is missing"),
        ] {
            let error = typed.parse::<FailIf>().expect_err("refused");
            assert!(error.contains(why) && error.contains("write.mean < -5%"), "{typed}: {error}");
        }
    }
}
