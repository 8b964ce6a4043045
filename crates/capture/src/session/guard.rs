//! The thermal limit: at every reading, is the drive too hot to go on?

use std::time::Duration;

use measure::record::{DriveFacts, TelemetryRow};
use measure::{Celsius, Instant, Kelvin};

use crate::plan::Plan;

/// Without a plan's limit and without a critical threshold: what client drives are specified for, and below the
/// 85 °C to 95 °C at which they shut down.
const LIMIT_DEFAULT: Kelvin = Kelvin::from_kelvin(358);

/// How far below the drive's critical threshold (CCTEMP) load stops.
const BELOW_CRITICAL_K: u16 = 5;

/// A drive without a reading for so long is not watched, and the record says so.
const SILENT_LIMIT: Duration = Duration::from_secs(10);

/// The temperature at which the load of `plan` stops on a drive.
pub fn thermal_limit(plan: &Plan, drive: &DriveFacts) -> Kelvin {
    plan.stop_at.unwrap_or_else(|| match drive.critical_k {
        Some(critical) => Kelvin::from_kelvin(critical.saturating_sub(BELOW_CRITICAL_K)),
        None => LIMIT_DEFAULT,
    })
}

/// Watches the temperature.
#[derive(Debug)]
pub(super) struct ThermalGuard {
    limit: Kelvin,
    last: Option<Instant>,
    silent_since: Option<Instant>,
}

impl ThermalGuard {
    pub(super) const fn new(limit: Kelvin) -> Self {
        Self { limit, last: None, silent_since: None }
    }

    /// Looks at a reading; a sentence when it is at the limit or above.
    pub(super) fn look(&mut self, row: &TelemetryRow) -> Option<String> {
        let hwmon = row.hwmon_millicelsius.map(Celsius::from_millidegrees);
        if row.composite.is_none() && hwmon.is_none() {
            return None;
        }
        self.last = Some(row.t);
        let limit = self.limit;
        if let Some(composite) = row.composite.filter(|composite| *composite >= limit) {
            return Some(format!("composite temperature {composite} at {}: the limit is {limit}", row.t));
        }
        // hwmon has the fraction; the limit is a whole kelvin.
        let hot = hwmon.filter(|hwmon| hwmon.as_kelvin_f64() >= f64::from(limit.as_kelvin()))?;
        Some(format!("hwmon temperature {hot} at {}: the limit is {limit}", row.t))
    }

    /// A sentence when it has been silent for long, once for each silence.
    pub(super) fn silence(&mut self, now: Instant) -> Option<String> {
        let last = self.last.unwrap_or(Instant::ZERO);
        if now.since(last) < SILENT_LIMIT {
            self.silent_since = None;
            return None;
        }
        if self.silent_since == Some(last) {
            return None;
        }
        self.silent_since = Some(last);
        Some(match self.last {
            Some(last) => format!(
                "no temperature could be read for {} s after {last}: the thermal limit was not watched there",
                SILENT_LIMIT.as_secs()
            ),
            None => "no temperature could be read: the thermal limit was not watched".to_owned(),
        })
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn row(seconds: u64) -> TelemetryRow {
        TelemetryRow::empty(Instant::from_ns(seconds * 1_000_000_000), "smart", Duration::ZERO)
    }

    #[test]
    fn the_limit_is_the_plans_or_lies_below_the_critical_threshold() {
        let mut drive = crate::target::drive_facts("twin", measure::Bytes::ZERO, 512);
        let mut plan = Plan::new("p");
        assert_eq!(thermal_limit(&plan, &drive), Kelvin::from_kelvin(358));
        drive.critical_k = Some(363);
        assert_eq!(thermal_limit(&plan, &drive), Kelvin::from_kelvin(358));
        drive.critical_k = Some(353);
        assert_eq!(thermal_limit(&plan, &drive), Kelvin::from_kelvin(348));
        plan.stop_at = Some(Kelvin::from_kelvin(340));
        assert_eq!(thermal_limit(&plan, &drive), Kelvin::from_kelvin(340));
    }

    #[test]
    fn a_reading_at_the_limit_stops_and_one_below_does_not() {
        let mut guard = ThermalGuard::new(Kelvin::from_kelvin(358));
        assert_eq!(guard.look(&TelemetryRow { composite: Some(Kelvin::from_kelvin(357)), ..row(1) }), None);
        let why = guard.look(&TelemetryRow { composite: Some(Kelvin::from_kelvin(358)), ..row(2) });
        assert_eq!(why.as_deref(), Some("composite temperature 85 °C at 2.000 s: the limit is 85 °C"));
        // 84.85 °C are 358 K.
        assert!(guard.look(&TelemetryRow { hwmon_millicelsius: Some(84_850), ..row(3) }).is_some());
        assert_eq!(guard.look(&TelemetryRow { hwmon_millicelsius: Some(84_849), ..row(3) }), None);
    }

    #[test]
    fn every_silence_is_told_once() {
        let at = |seconds: u64| Instant::from_ns(seconds * 1_000_000_000);
        let mut guard = ThermalGuard::new(Kelvin::from_kelvin(358));
        assert_eq!(guard.silence(at(9)), None);
        assert!(guard.silence(at(10)).is_some());
        assert_eq!(guard.silence(at(11)), None);
        guard.look(&TelemetryRow { composite: Some(Kelvin::from_kelvin(300)), ..row(12) });
        assert_eq!(guard.silence(at(13)), None);
        assert!(guard.silence(at(22)).is_some_and(|text| text.contains("after 12.000 s")));
    }
}
