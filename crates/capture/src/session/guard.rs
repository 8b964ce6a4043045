//! The thermal limit: at every reading, is the drive too hot to go on?

use std::time::Duration;

use measure::record::{DriveFacts, TelemetryRow};
use measure::{Celsius, Instant, Kelvin};

use plan::Plan;

/// A drive without a reading for so long is not watched, and the record says so.
const SILENT_LIMIT: Duration = Duration::from_secs(10);

/// The temperature at which the load of `plan` stops on a drive.
pub fn thermal_limit(plan: &Plan, drive: &DriveFacts) -> Kelvin {
    plan.stop_at.unwrap_or_else(|| plan::stop_below(drive.critical_k))
}

/// A temperature that does not move by a kelvin while a drive is loaded for so long is not taken for measured.
const FROZEN_SPAN: Duration = Duration::from_secs(60);

/// An idle drive that gets warmer by this much is kept awake by something; the reading itself swings by one.
const WARMED_K: u16 = 2;

/// Watches the temperature.
#[derive(Debug)]
pub(super) struct ThermalGuard {
    limit: Kelvin,
    /// A drive that has told a temperature may not be silent for longer.
    unwatched_limit: Duration,
    /// ... and a silence of so long is noted; a plan that reads more rarely has none of that.
    silent_limit: Duration,
    last: Option<Instant>,
    silent_since: Option<Instant>,
    composites: Option<Composites>,
}

/// Temperatures since a moment.
#[derive(Clone, Copy, Debug)]
struct Composites {
    what: &'static str,
    since: Instant,
    first: Kelvin,
    last: Kelvin,
    /// Whether all of them were the same.
    still: bool,
}

/// What a source's temperature is called: a composite one is the NVMe health log's, SATA drives have none.
fn temperature_of(source: &str) -> &'static str {
    if source == "smartctl" { "drive temperature" } else { "composite temperature" }
}

impl ThermalGuard {
    pub(super) fn new(limit: Kelvin, plan: &Plan) -> Self {
        let period = plan.telemetry.smart_period.min(plan.telemetry.hwmon_period);
        Self {
            limit,
            unwatched_limit: plan.stop_unwatched.max(period * 3),
            silent_limit: SILENT_LIMIT.max(period * 2),
            last: None,
            silent_since: None,
            composites: None,
        }
    }

    /// Looks at a reading; a sentence when it is at the limit or above.
    pub(super) fn look(&mut self, row: &TelemetryRow) -> Option<String> {
        let hwmon = row.hwmon_millicelsius.map(Celsius::from_millidegrees);
        if row.composite.is_none() && hwmon.is_none() {
            return None;
        }
        self.last = Some(row.t);
        if let Some(composite) = row.composite {
            self.follow(row.t, composite, temperature_of(&row.source));
        }
        let limit = self.limit;
        if let Some(composite) = row.composite.filter(|composite| *composite >= limit) {
            let what = temperature_of(&row.source);
            return Some(format!("{what} {composite} at {}: the limit is {limit}", row.t));
        }
        // hwmon has the fraction; the limit is a whole kelvin.
        let hot = hwmon.filter(|hwmon| hwmon.as_kelvin_f64() >= f64::from(limit.as_kelvin()))?;
        Some(format!("hwmon temperature {hot} at {}: the limit is {limit}", row.t))
    }

    fn follow(&mut self, t: Instant, composite: Kelvin, what: &'static str) {
        let now = Composites { what, since: t, first: composite, last: composite, still: true };
        let before = self.composites.get_or_insert(now);
        before.last = composite;
        before.still &= composite == before.first;
    }

    /// A phase begins: what the temperature does in it is followed anew.
    pub(super) const fn phase_begins(&mut self) {
        self.composites = None;
    }

    /// A phase that loads the drive has ended: a sentence when the temperature stood still all the time.
    pub(super) fn stood_still(&self, now: Instant) -> Option<String> {
        let Composites { what, since, first, .. } = self.composites.filter(|seen| seen.still)?;
        (now.since(since) >= FROZEN_SPAN).then(|| {
            format!(
                "every reading of the {what} was {first} during a load of more than {} s: a sensor that \
                 stands still cannot warn, so the thermal limit may not have been watched",
                FROZEN_SPAN.as_secs()
            )
        })
    }

    /// A phase in which only readings were made has ended: a sentence when the drive got warmer in it.
    pub(super) fn warmed_by_reading(&self) -> Option<String> {
        let Composites { what, first, last, .. } = self.composites?;
        (last.as_kelvin() >= first.as_kelvin().saturating_add(WARMED_K)).then(|| {
            format!(
                "before any load the {what} rose from {first} to {last}: reading it may keep the drive \
                 awake; a longer smart_period in [telemetry] disturbs it less"
            )
        })
    }

    /// A sentence when a drive that has told its temperature has been silent for too long to be loaded on.
    pub(super) fn unwatched(&self, now: Instant) -> Option<String> {
        let last = self.last.filter(|last| now.since(*last) >= self.unwatched_limit)?;
        Some(format!(
            "no temperature could be read for {} s after {last}: nobody watches the thermal limit (stop_unwatched)",
            self.unwatched_limit.as_secs_f64()
        ))
    }

    /// A sentence when it has been silent for long, once for each silence.
    pub(super) fn silence(&mut self, now: Instant) -> Option<String> {
        let last = self.last.unwrap_or(Instant::ZERO);
        if now.since(last) < self.silent_limit {
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
                self.silent_limit.as_secs()
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
        let mut drive = drive::system::unknown_drive("twin", measure::Bytes::ZERO, 512);
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
        let mut guard = ThermalGuard::new(Kelvin::from_kelvin(358), &Plan::new("p"));
        assert_eq!(guard.look(&TelemetryRow { composite: Some(Kelvin::from_kelvin(357)), ..row(1) }), None);
        let why = guard.look(&TelemetryRow { composite: Some(Kelvin::from_kelvin(358)), ..row(2) });
        assert_eq!(why.as_deref(), Some("composite temperature 85 °C at 2.000 s: the limit is 85 °C"));
        let by_smartctl = TelemetryRow { source: "smartctl".into(), ..row(2) };
        let why = guard.look(&TelemetryRow { composite: Some(Kelvin::from_kelvin(358)), ..by_smartctl });
        assert_eq!(why.as_deref(), Some("drive temperature 85 °C at 2.000 s: the limit is 85 °C"));
        // 84.85 °C are 358 K.
        assert!(guard.look(&TelemetryRow { hwmon_millicelsius: Some(84_850), ..row(3) }).is_some());
        assert_eq!(guard.look(&TelemetryRow { hwmon_millicelsius: Some(84_849), ..row(3) }), None);
    }

    #[test]
    fn every_silence_is_told_once() {
        let at = |seconds: u64| Instant::from_ns(seconds * 1_000_000_000);
        let mut guard = ThermalGuard::new(Kelvin::from_kelvin(358), &Plan::new("p"));
        assert_eq!(guard.silence(at(9)), None);
        assert!(guard.silence(at(10)).is_some());
        assert_eq!(guard.silence(at(11)), None);
        guard.look(&TelemetryRow { composite: Some(Kelvin::from_kelvin(300)), ..row(12) });
        assert_eq!(guard.silence(at(13)), None);
        assert!(guard.silence(at(22)).is_some_and(|text| text.contains("after 12.000 s")));
    }

    /// Goal: silence ends a run only on a drive that has spoken, and not before its readings are due.
    #[test]
    fn a_drive_that_falls_silent_is_not_loaded_on() {
        let at = |seconds: u64| Instant::from_ns(seconds * 1_000_000_000);
        let mut plan = Plan::new("p");
        let mut guard = ThermalGuard::new(Kelvin::from_kelvin(358), &plan);
        assert_eq!(guard.unwatched(at(1000)), None, "a drive without a sensor is loaded");
        guard.look(&TelemetryRow { composite: Some(Kelvin::from_kelvin(300)), ..row(5) });
        assert_eq!(guard.unwatched(at(34)), None);
        assert!(guard.unwatched(at(35)).is_some_and(|why| why.contains("for 30 s after 5.000 s")));
        plan.telemetry.smart_period = Duration::from_secs(60);
        plan.telemetry.hwmon_period = Duration::from_secs(60);
        let mut slow = ThermalGuard::new(Kelvin::from_kelvin(358), &plan);
        slow.look(&TelemetryRow { composite: Some(Kelvin::from_kelvin(300)), ..row(0) });
        assert_eq!(slow.unwatched(at(179)), None);
        assert!(slow.unwatched(at(180)).is_some());
    }

    #[test]
    fn a_sensor_that_stands_still_and_a_drive_warmed_by_reading_are_told() {
        let reading = |t, kelvin| TelemetryRow { composite: Some(Kelvin::from_kelvin(kelvin)), ..row(t) };
        let at = |seconds: u64| Instant::from_ns(seconds * 1_000_000_000);
        let mut guard = ThermalGuard::new(Kelvin::from_kelvin(358), &Plan::new("p"));
        (0..61).for_each(|second| drop(guard.look(&reading(second, 313))));
        assert_eq!(guard.stood_still(at(59)), None);
        assert!(guard.stood_still(at(60)).is_some_and(|text| text.contains("40 °C")));
        assert_eq!(guard.warmed_by_reading(), None);
        guard.look(&reading(61, 314));
        assert_eq!((guard.stood_still(at(100)), guard.warmed_by_reading()), (None, None));
        guard.look(&reading(62, 315));
        assert!(guard.warmed_by_reading().is_some_and(|text| text.contains("from 40 °C to 42 °C")));
        guard.phase_begins();
        assert_eq!(guard.warmed_by_reading(), None);
    }
}
