//! One watched drive: readings come in, seconds, findings and the state for every face come out.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use measure::record::{DriveFacts, IoRow, Op, SmartRow, TelemetryRow, ThermalSettings};
use measure::{Bytes, Celsius, Histogram, Instant, Kelvin, Watts};
use nvme::smart::{DataUnits, SmartLog};

use crate::detector::{Detector, KnownLimits, TmtCounters};
use crate::event::{SlowCause, WatchEvent, WatchEventKind};
use crate::live::{EVENTS_MAX, LiveDrive, LiveLimits, LivePoint, RECENT_MAX};
use crate::slice::{LoadSlice, OpSlice};

/// Seconds are this long: readings that come faster are added up.
const SECOND: Duration = Duration::from_millis(950);

/// A stretch without readings that is longer than this is a gap, and not one slow second.
const GAP_S: f64 = 150.0;

/// What is known of a drive before the first reading.
#[derive(Clone, Debug, PartialEq)]
pub struct AboutDrive {
    /// The address it is watched by.
    pub address: String,
    /// Who it is and what it says of its limits.
    pub facts: DriveFacts,
    /// Its thresholds, as far as anybody may read them.
    pub settings: ThermalSettings,
    /// Whether it is simulated.
    pub simulated: bool,
    /// Bytes of a simulated drive for one of the host's: its own counters are divided by it.
    pub bandwidth_scale: u32,
}

impl AboutDrive {
    /// A short name for labels: `nvme0n1` of `/dev/nvme0n1`.
    pub fn name(&self) -> &str {
        let address = self.address.split('?').next().unwrap_or(&self.address);
        address.trim_end_matches('/').rsplit('/').next().unwrap_or(address)
    }

    fn limits(&self) -> KnownLimits {
        // 0 is off, and some drives come with 273 K, which they ignore: no drive throttles at the freezing point.
        let on = |kelvin: Option<u16>| kelvin.filter(|kelvin| *kelvin > 273).map(Kelvin::from_kelvin);
        KnownLimits {
            tmt1: on(self.settings.tmt1_k),
            tmt2: on(self.settings.tmt2_k),
            warning: on(self.facts.warning_k),
            critical: on(self.facts.critical_k),
        }
    }
}

/// What a reading brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Update {
    /// What began or ended.
    pub events: Vec<WatchEvent>,
    /// Rows of the record's table of I/O: what others did to the drive.
    pub io: Vec<IoRow>,
}

/// All that is known of one watched drive.
#[derive(Clone, Debug)]
pub struct DriveWatch {
    /// Who it is.
    pub about: AboutDrive,
    /// The verdict.
    pub detector: Detector,
    /// Whether it is there.
    pub up: bool,
    /// What happened, the newest last; the last [`EVENTS_MAX`].
    pub events: VecDeque<WatchEvent>,
    /// The last hour.
    pub recent: VecDeque<LivePoint>,
    /// The last reading of each source, seconds of the loop's clock.
    pub read_at_s: BTreeMap<String, f64>,
    /// The last SMART page.
    pub smart: Option<SmartLog>,
    /// The last reading of block statistics.
    pub block: Option<TelemetryRow>,
    /// The last whole second.
    pub second: Option<LoadSlice>,
    /// Composite temperature.
    pub kelvin: Option<Kelvin>,
    /// Power.
    pub power: Option<Watts>,
    /// Seconds throttled, by cause, as the verdict has it.
    pub slow_seconds: BTreeMap<SlowCause, f64>,
    /// Temperature at the last onset of throttling.
    pub onset_k: Option<u16>,
    /// Time that readings took, in seconds.
    pub cost_s: f64,
    /// Readings that failed.
    pub failed_readings: u64,
    /// What the loop's zero is on the wall clock, in seconds since 1970.
    pub epoch_s: f64,
    last_io_s: Option<f64>,
    part: Option<LoadSlice>,
    smart_before: Option<(Instant, SmartLog)>,
    slow_counted_s: Option<f64>,
    last_reason: Option<String>,
}

impl DriveWatch {
    /// A drive that has not been read.
    pub fn new(about: AboutDrive, epoch_s: f64) -> Self {
        Self {
            detector: Detector::new(about.limits()),
            about,
            up: true,
            events: VecDeque::new(),
            recent: VecDeque::new(),
            read_at_s: BTreeMap::new(),
            smart: None,
            block: None,
            second: None,
            kelvin: None,
            power: None,
            slow_seconds: BTreeMap::new(),
            onset_k: None,
            cost_s: 0.0,
            failed_readings: 0,
            epoch_s,
            last_io_s: None,
            part: None,
            smart_before: None,
            slow_counted_s: None,
            last_reason: None,
        }
    }

    /// The drive was opened again, under another name perhaps.
    pub fn reopened(&mut self, about: AboutDrive) {
        self.detector.limits = about.limits();
        self.about = about;
        self.interrupted();
        self.up = true;
    }

    /// What was read before says nothing about what comes: the machine slept, or the drive was away.
    pub fn interrupted(&mut self) {
        (self.block, self.part, self.smart_before, self.second) = (None, None, None, None);
        self.slow_counted_s = None;
        self.detector.interrupted();
    }

    /// A reading of any source, with the log page that it was decoded from.
    pub fn reading(&mut self, row: &TelemetryRow, page: Option<&SmartRow>) -> Update {
        let t_s = row.t.as_secs_f64();
        self.cost_s += row.cost.as_secs_f64();
        if let Some(reason) = &row.gap {
            self.failed_readings += 1;
            self.last_reason = Some(reason.clone());
            return Update::default();
        }
        self.read_at_s.insert(row.source.clone(), t_s);
        self.power = row.power.or(self.power);
        if let Some(kelvin) = row.composite.or_else(|| hwmon_kelvin(row)) {
            self.kelvin = Some(kelvin);
            self.detector.temperature(t_s, f64::from(kelvin.as_kelvin()));
        }
        let mut update = Update::default();
        update.events.extend(self.tmt(t_s, row));
        if let Some(log) = page.and_then(|page| SmartLog::decode(&page.page).ok()) {
            if self.block.is_none() {
                self.by_data_units(row.t, &log, &mut update);
            }
            self.smart_before = Some((row.t, log.clone()));
            self.smart = Some(log);
        }
        if row.block.is_some() {
            self.block_reading(row, &mut update);
        }
        self.count_slow(t_s);
        self.finish(update)
    }

    fn tmt(&mut self, t_s: f64, row: &TelemetryRow) -> Option<WatchEvent> {
        let counters = TmtCounters {
            light: (row.tmt1_transitions?, row.tmt1_seconds?),
            heavy: (row.tmt2_transitions?, row.tmt2_seconds?),
        };
        self.detector.counters(t_s, counters)
    }

    fn block_reading(&mut self, row: &TelemetryRow, update: &mut Update) {
        let slice = self.block.as_ref().and_then(|before| LoadSlice::between(before, row));
        self.block = Some(row.clone());
        let Some(slice) = slice.filter(|slice| slice.span.as_secs_f64() < GAP_S) else {
            self.part = None;
            return;
        };
        let whole = self.part.take().map_or(slice, |part| part.and(slice));
        if whole.span < SECOND {
            self.part = Some(whole);
            return;
        }
        update.events.extend(self.detector.second(whole.end().as_secs_f64(), &whole));
        self.whole_second(whole, update);
    }

    /// Without block statistics - our own initiator's, a drive given to a virtual machine - the drive's own counters
    /// say how much is moved, and nothing about latency.
    fn by_data_units(&mut self, t: Instant, log: &SmartLog, update: &mut Update) {
        let Some((before_t, before)) = &self.smart_before else { return };
        let span = t.since(*before_t);
        if span < SECOND || span.as_secs_f64() >= GAP_S {
            return;
        }
        let scale = u128::from(self.about.bandwidth_scale.max(1));
        let op = |bytes: (DataUnits, DataUnits), ios: (u128, u128)| OpSlice {
            ios: u64::try_from(ios.1.saturating_sub(ios.0)).unwrap_or(u64::MAX),
            bytes: Bytes::new(
                u64::try_from(
                    bytes.1.as_u128().saturating_sub(bytes.0.as_u128()) * u128::from(DataUnits::UNIT_BYTES)
                        / scale,
                )
                .unwrap_or(u64::MAX),
            ),
            time_ms: 0,
        };
        let slice = LoadSlice {
            start: *before_t,
            span,
            read: op((before.data_units_read, log.data_units_read), (before.host_reads, log.host_reads)),
            write: op(
                (before.data_units_written, log.data_units_written),
                (before.host_writes, log.host_writes),
            ),
            discard: OpSlice::default(),
            queue: 0.0,
            in_flight: 0,
        };
        update.events.extend(self.detector.time(t.as_secs_f64()));
        self.whole_second(slice, update);
    }

    fn whole_second(&mut self, slice: LoadSlice, update: &mut Update) {
        if !slice.is_idle() {
            self.last_io_s = Some(slice.end().as_secs_f64());
        }
        update.io.extend(io_rows(&slice));
        self.recent.push_back(LivePoint {
            t_s: slice.end().as_secs_f64(),
            read_bytes_per_s: Some(slice.rate(&slice.read)),
            write_bytes_per_s: Some(slice.rate(&slice.write)),
            temperature_k: self.kelvin.map(Kelvin::as_kelvin),
        });
        while self.recent.len() > RECENT_MAX {
            self.recent.pop_front();
        }
        self.second = Some(slice);
    }

    fn count_slow(&mut self, t_s: f64) {
        let since = self.slow_counted_s.replace(t_s);
        if let (Some(slow), Some(since)) = (self.detector.slow(), since) {
            *self.slow_seconds.entry(slow.cause).or_default() += (t_s - since).clamp(0.0, GAP_S);
        }
    }

    fn finish(&mut self, mut update: Update) -> Update {
        for event in &mut update.events {
            event.at_s += self.epoch_s;
            event.told_s += self.epoch_s;
            self.keep_event(event.clone());
        }
        update
    }

    /// Keeps an event that came from outside: the drive is gone, the machine slept. Its times are wall clock already.
    pub fn keep_event(&mut self, event: WatchEvent) {
        if event.kind == WatchEventKind::ThrottleOnset {
            self.onset_k = event.temp_k;
        }
        self.events.push_back(event);
        while self.events.len() > EVENTS_MAX {
            self.events.pop_front();
        }
    }

    /// An event that is no verdict, at `t_s` of the loop's clock.
    pub fn outside_event(&mut self, t_s: f64, kind: WatchEventKind, text: String) -> WatchEvent {
        let at_s = t_s + self.epoch_s;
        let temp_k = self.kelvin.map(Kelvin::as_kelvin);
        let event = WatchEvent { at_s, told_s: at_s, kind, cause: None, temp_k, capacity_lost: None, text };
        self.keep_event(event.clone());
        event
    }

    /// Seconds since the last reading.
    pub fn age_s(&self, now_s: f64) -> Option<f64> {
        self.read_at_s.values().copied().max_by(f64::total_cmp).map(|last| (now_s - last).max(0.0))
    }

    /// Seconds without I/O; `None` where that cannot be known.
    pub fn idle_s(&self, now_s: f64) -> Option<f64> {
        self.second?;
        Some(now_s - self.last_io_s.unwrap_or(0.0))
    }

    /// Why the last reading failed that did.
    pub fn last_reason(&self) -> Option<&str> {
        self.last_reason.as_deref()
    }

    /// In a word.
    pub fn state(&self) -> &'static str {
        let waits =
            self.second.is_some_and(|second| second.in_flight > 0 && second.read.ios + second.write.ios == 0);
        match (self.up, self.detector.slow(), self.second) {
            (false, ..) => "gone",
            (_, Some(slow), _) if slow.cause.is_heat() => "throttled",
            (_, Some(_), _) => "slow",
            (_, None, _) if waits => "stalled",
            (_, None, Some(second)) if second.is_idle() => "idle",
            (_, None, Some(_)) => "busy",
            (_, None, None) => "unknown",
        }
    }

    /// Its limits for documents.
    pub fn limits_k(&self) -> LiveLimits {
        let kelvin = |limit: Option<Kelvin>| limit.map(Kelvin::as_kelvin);
        let KnownLimits { tmt1, tmt2, warning, critical } = self.detector.limits;
        LiveLimits {
            tmt1: kelvin(tmt1),
            tmt2: kelvin(tmt2),
            warning: kelvin(warning),
            critical: kelvin(critical),
        }
    }

    /// All of it for a face, at `now_s` of the loop's clock.
    pub fn live(&self, now_s: f64) -> LiveDrive {
        let rate = |op: fn(&LoadSlice) -> OpSlice| self.second.map(|second| second.rate(&op(&second)));
        LiveDrive {
            address: self.about.address.clone(),
            model: self.about.facts.model.clone(),
            serial: self.about.facts.serial.clone(),
            simulated: Some(self.about.simulated),
            age_s: self.age_s(now_s),
            temperature_k: self.kelvin.map(Kelvin::as_kelvin),
            limits_k: self.limits_k(),
            read_bytes_per_s: rate(|second| second.read),
            write_bytes_per_s: rate(|second| second.write),
            power_w: self.power.map(Watts::as_f64),
            state: Some(self.state().to_owned()),
            events: self.events.iter().cloned().collect(),
            recent: self.recent.iter().copied().collect(),
        }
    }
}

/// What hwmon tells, in whole kelvins, of which the kernel has made thousandths of a degree.
fn hwmon_kelvin(row: &TelemetryRow) -> Option<Kelvin> {
    let celsius = Celsius::from_millidegrees(row.hwmon_millicelsius?);
    Some(Kelvin::from_kelvin(celsius.as_kelvin_f64().round() as u16))
}

/// The rows of a second. Latencies are not known one by one, so their histograms stay empty: the block layer's own sums
/// stand in the table of readings.
fn io_rows(slice: &LoadSlice) -> Vec<IoRow> {
    let row = |op: Op, part: OpSlice| IoRow {
        t: slice.start,
        span: slice.span,
        phase: 0,
        op,
        bytes: part.bytes,
        ios: part.ios,
        errors: 0,
        slat: Histogram::new(),
        clat: Histogram::new(),
    };
    let parts = [(Op::Read, slice.read), (Op::Write, slice.write), (Op::Trim, slice.discard)];
    let rows: Vec<IoRow> =
        parts.into_iter().filter(|(_, part)| part.ios > 0).map(|(op, part)| row(op, part)).collect();
    if rows.is_empty() { vec![row(Op::Idle, OpSlice::default())] } else { rows }
}
