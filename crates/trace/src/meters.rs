//! The power meters of a recorded run, each with its own readings.
//!
//! They are never one series: the drive's own measurement and a plug at the wall differ by an adapter, a converter and a
//! second. The first is the one that figures are of: the first that was named, else the drive's own.

use std::collections::BTreeMap;

use measure::Series;
use measure::record::{MeterFacts, Record};

use crate::{MeterSeries, Trace};

/// The drive's own measurement comes with the SMART log.
const OWN: &str = "smart";
/// SMART log, bytes 240 to 243: the mean of the last second (NVMe Base 2.3, Interval Power Measurement).
const OWN_WINDOW_S: f64 = 1.0;

impl Trace {
    /// Adds the meters of `record`, and takes the first for the one that figures are of.
    pub(crate) fn add_meters(&mut self, record: &Record) {
        let mut sources: BTreeMap<&str, Series<f64>> = BTreeMap::new();
        for row in &record.telemetry {
            match (&row.gap, row.power) {
                (Some(reason), _) if row.source.starts_with("power") => {
                    sources.entry(&row.source).or_insert_with(Series::new).push_gap(row.t, reason);
                }
                (None, Some(power)) => {
                    sources.entry(&row.source).or_insert_with(Series::new).push(row.t, power.as_f64())
                }
                _ => {}
            }
        }
        let stated = &record.manifest.meters;
        let rank = |source: &str| match stated.iter().position(|meter| meter.source == source) {
            Some(position) => (0, position),
            None => (if source == OWN { 2 } else { 1 }, 0),
        };
        let mut sources: Vec<(&str, Series<f64>)> = sources.into_iter().collect();
        sources.sort_by_key(|(source, _)| rank(source));
        let series = |(source, watts): (&str, Series<f64>)| {
            let facts = stated.iter().find(|meter| meter.source == source);
            meter(source, facts, watts)
        };
        self.meters = sources.into_iter().map(series).collect();
        // One that gave no reading at all is no meter to go by.
        self.meters.sort_by_key(|meter| meter.watts.points().is_empty());
        if let Some(first) = self.meters.first() {
            self.power_w = first.watts.clone();
        }
    }
}

fn meter(source: &str, facts: Option<&MeterFacts>, watts: Series<f64>) -> MeterSeries {
    let is_own = source == OWN;
    let name = match facts {
        _ if is_own => "drive".to_owned(),
        Some(facts) => facts.address.clone(),
        None => source.to_owned(),
    };
    MeterSeries {
        name,
        at: facts.and_then(|facts| facts.at.clone()).or_else(|| is_own.then(|| "drive".to_owned())),
        window_s: facts.and_then(|facts| facts.window_s).or(is_own.then_some(OWN_WINDOW_S)),
        lag_s: facts.and_then(|facts| facts.lag_s).or(is_own.then_some(0.0)),
        step_w: facts.and_then(|facts| facts.step_w),
        accuracy: facts.and_then(|facts| facts.accuracy),
        watts,
    }
}
