//! The SMART log of an NVMe drive (log page 02h) as a source of readings.
//!
//! How the page is read is not known here: a function brings the bytes. They are kept as they came, beside what
//! they mean, so that later versions can read more from them.

use std::time::Duration;

use measure::Instant;
use measure::record::{SmartRow, TelemetryRow};
use nvme::smart::{SMART_LOG_LEN, SmartLog};

use super::plausible::{implausible, is_plausible_in_kelvin};
use super::{Reading, Sampler};

/// Its name in the record.
pub(super) const SOURCE: &str = "smart";
/// NVMe Base 2.3, Get Log Page: the identifier of SMART / Health Information.
const LOG_ID: u8 = 0x02;

/// Reads the SMART log once a period.
pub struct SmartSampler<F> {
    period: Duration,
    read_page: F,
}

impl<F> SmartSampler<F>
where
    F: FnMut() -> Result<[u8; SMART_LOG_LEN], String> + Send,
{
    /// A sampler over `read_page`, which reads the page or says why it cannot.
    pub const fn new(period: Duration, read_page: F) -> Self {
        Self { period, read_page }
    }
}

impl<F> Sampler for SmartSampler<F>
where
    F: FnMut() -> Result<[u8; SMART_LOG_LEN], String> + Send,
{
    fn source(&self) -> &str {
        SOURCE
    }

    fn period(&self) -> Duration {
        self.period
    }

    fn sample(&mut self, now: Instant) -> Reading {
        match (self.read_page)() {
            Ok(page) => decode(now, &page),
            Err(why) => Reading::failed(now, SOURCE, why),
        }
    }
}

/// The reading that a page is; a page that cannot be decoded is a gap, and is kept.
pub fn decode(now: Instant, page: &[u8]) -> Reading {
    let row = match SmartLog::decode(page) {
        Ok(SmartLog { composite: Some(composite), .. }) if !is_plausible_in_kelvin(composite.as_kelvin()) => {
            let why = implausible(i64::from(composite.as_kelvin()) - 273);
            TelemetryRow::failed(now, SOURCE, Duration::ZERO, why)
        }
        Ok(log) => row(now, &log),
        Err(error) => TelemetryRow::failed(now, SOURCE, Duration::ZERO, error.to_string()),
    };
    Reading { row, page: Some(SmartRow { t: now, log_id: LOG_ID, page: page.to_vec() }) }
}

fn row(now: Instant, log: &SmartLog) -> TelemetryRow {
    TelemetryRow {
        composite: log.composite,
        sensors: log.sensors,
        critical_warning: Some(log.critical_warning.bits()),
        // A zero is "never" or "not kept"; one page alone cannot tell, so it stays a zero.
        tmt1_transitions: Some(log.tmt1_transitions),
        tmt2_transitions: Some(log.tmt2_transitions),
        tmt1_seconds: Some(log.tmt1_seconds),
        tmt2_seconds: Some(log.tmt2_seconds),
        power: log.interval_power.map(|interval| interval.power.watts()),
        ..TelemetryRow::empty(now, SOURCE, Duration::ZERO)
    }
}

#[cfg(test)]
mod test {
    use measure::{Kelvin, Watts};

    use super::*;

    fn page() -> [u8; SMART_LOG_LEN] {
        let mut page = [0; SMART_LOG_LEN];
        page[0] = 0x02;
        page[1..3].copy_from_slice(&318_u16.to_le_bytes());
        page[202..204].copy_from_slice(&340_u16.to_le_bytes());
        page[216..220].copy_from_slice(&3_u32.to_le_bytes());
        page[224..228].copy_from_slice(&1474_u32.to_le_bytes());
        page[240..244].copy_from_slice(&(825_u32 | 2 << 16).to_le_bytes());
        page
    }

    #[test]
    fn a_page_is_read_whole_and_kept() {
        let mut sampler = SmartSampler::new(Duration::from_secs(1), || Ok(page()));
        let reading = sampler.sample(Instant::from_ns(7));
        let row = &reading.row;
        assert_eq!((row.source.as_str(), row.t), ("smart", Instant::from_ns(7)));
        assert_eq!(row.composite, Some(Kelvin::from_kelvin(318)));
        assert_eq!(row.sensors[1], Some(Kelvin::from_kelvin(340)));
        assert_eq!(row.sensors[0], None);
        assert_eq!(row.critical_warning, Some(2));
        assert_eq!((row.tmt1_transitions, row.tmt1_seconds), (Some(3), Some(1474)));
        assert_eq!(row.tmt2_transitions, Some(0));
        assert_eq!(row.power, Some(Watts::new(8.25)));
        assert_eq!(row.gap, None);
        let kept = reading.page.expect("the page is kept");
        assert_eq!((kept.log_id, kept.page.as_slice()), (2, page().as_slice()));
    }

    #[test]
    fn a_page_that_does_not_come_is_a_gap_with_the_reason() {
        let mut answers = vec![Ok(page()), Err("the controller does not answer".to_owned())];
        let mut sampler =
            SmartSampler::new(Duration::from_secs(1), move || answers.pop().expect("two readings"));
        let reading = sampler.sample(Instant::ZERO);
        assert_eq!(reading.row.gap.as_deref(), Some("the controller does not answer"));
        assert_eq!((reading.row.composite, reading.page), (None, None));
        assert_eq!(sampler.sample(Instant::ZERO).row.gap, None);
    }

    #[test]
    fn a_composite_temperature_that_no_drive_has_is_a_gap_and_kept() {
        for (kelvin, is_reading) in
            [(273_u16, true), (398, true), (1, false), (500, false), (u16::MAX, false)]
        {
            let mut page = page();
            page[1..3].copy_from_slice(&kelvin.to_le_bytes());
            let reading = decode(Instant::ZERO, &page);
            assert_eq!(
                (reading.row.composite.is_some(), reading.row.gap.is_none()),
                (is_reading, is_reading)
            );
            assert!(reading.page.is_some());
        }
    }

    #[test]
    fn a_page_cut_short_is_a_gap_and_kept() {
        let reading = decode(Instant::ZERO, &page()[..100]);
        assert!(reading.row.gap.expect("a gap").contains("cut short"));
        assert_eq!(reading.page.map(|kept| kept.page.len()), Some(100));
    }
}
