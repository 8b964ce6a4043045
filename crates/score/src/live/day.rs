//! A simulated day of a drive in production, second by second, with everything that makes a drive look slow.
//!
//! Open loop traffic with a daily course and bursts, closed loop jobs (backups, scans), phases of fsync, neighbours on the
//! same drive, an SLC cache that fills, garbage collection, a fan that stops. Throttling by TMT1 and TMT2 with counters,
//! by a firmware threshold without, or none. All of it is drawn from the number of the day.
//!
//! Nothing here is taken from the detector or from `physics`: the queue is a fluid one, heat has two poles.

use std::time::Duration;

use measure::record::{BlockCounters, DriveFacts, TelemetryRow, ThermalSettings};
use measure::{Bytes, Instant, Kelvin, Seed};
use watch::{AboutDrive, DriveWatch};

/// Seconds of a day.
const DAY_S: u32 = 86_400;

/// What throttles on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecretKind {
    /// TMT1 and TMT2, and their counters can be read.
    Counted,
    /// The same, and nobody may read the counters.
    Uncounted,
    /// A firmware threshold some kelvins below WCTEMP, which no counter shows.
    Firmware,
    /// Nothing: it stays cool.
    Calm,
}

impl SecretKind {
    /// For the table.
    pub(crate) const NAMES: [&'static str; 4] =
        ["TMT, counters read", "TMT, no counters (no root)", "firmware threshold", "nothing throttles"];
}

/// A job that keeps so many I/Os in flight.
#[derive(Clone, Copy, Debug)]
struct DayJob {
    start_s: u32,
    end_s: u32,
    depth: f64,
    size: f64,
    write_share: f64,
}

/// What holds for all that is served in a second.
struct DayTerms {
    left: f64,
    noise: f64,
    write_rate: f64,
    slow_writes: f64,
    in_fsync: bool,
    depth: f64,
}

/// What one was served in a second: I/Os, whether throttling made them longer, bytes.
#[derive(Clone, Copy)]
struct ServedDemand {
    rate: f64,
    affected: bool,
    read: f64,
    written: f64,
}

/// What one second showed, and what was true.
pub(crate) struct DaySecond {
    /// Its end.
    pub(crate) t_s: f64,
    /// Readings.
    pub(crate) rows: Vec<TelemetryRow>,
    /// Whether the drive was throttled.
    pub(crate) throttled: bool,
    /// Whether anybody could know: a counter that is read moved, or an I/O took longer.
    pub(crate) visible: bool,
}

/// A day.
pub(crate) struct Day {
    draw: DayDraw,
    kind: SecretKind,
    second: u32,
    jobs: Vec<DayJob>,
    neighbour: Vec<DayJob>,
    // Demand of the day's own service.
    iops_mean: f64,
    swing: f64,
    peak_hour: f64,
    size: f64,
    write_share: f64,
    burst_left: u32,
    burst: f64,
    fsync: (u32, u32),
    // The drive.
    read_latency_s: f64,
    write_latency_s: f64,
    iops_max: f64,
    read_rate: f64,
    write_rate: f64,
    direct_rate: f64,
    cache: f64,
    cache_size: f64,
    backlog: f64,
    collecting: u32,
    // Heat, in degrees above the air and kelvins.
    ambient_k: f64,
    fan_off: (u32, u32),
    fast: f64,
    slow: f64,
    watts_per_gb: (f64, f64),
    k_per_w: (f64, f64),
    tau_s: (f64, f64),
    // Throttle.
    onset_k: [f64; 2],
    hysteresis_k: f64,
    factors: [f64; 2],
    level: usize,
    warning_k: u16,
    counted: [(u32, u32); 2],
    unread_s: u32,
    busy_s: u32,
    block: BlockCounters,
    moved: (f64, f64),
    time_ms: (f64, f64),
}

/// Numbers by chance, from the number of the day.
struct DayDraw {
    seed: Seed,
    index: u64,
}

impl DayDraw {
    fn unit(&mut self) -> f64 {
        self.index += 1;
        (self.seed.part(self.index).as_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    fn count(&mut self, low: u32, high: u32) -> u32 {
        low + (self.unit() * f64::from(high - low + 1)) as u32
    }

    /// A factor around 1 with that spread of its logarithm; the sum of uniforms stands for the normal law.
    fn factor(&mut self, spread: f64) -> f64 {
        let normal = (0..6).map(|_| self.unit()).sum::<f64>() * 2.0f64.sqrt() - 3.0 * 2.0f64.sqrt();
        (spread * normal).exp()
    }
}

impl Day {
    /// The day of that number.
    #[expect(clippy::too_many_lines, reason = "a list of draws, in an order that makes the day what it is")]
    pub(crate) fn new(number: u64) -> Self {
        let mut draw = DayDraw { seed: Seed::new(0x5eed_0019).part(number), index: 0 };
        let kind = match draw.count(0, 9) {
            0..=4 => SecretKind::Counted,
            5 => SecretKind::Uncounted,
            6 | 7 => SecretKind::Firmware,
            _ => SecretKind::Calm,
        };
        let warning_k = draw.count(350, 358) as u16;
        let onset = match kind {
            SecretKind::Counted | SecretKind::Uncounted => draw.between(333.0, 346.0).round(),
            SecretKind::Firmware => f64::from(warning_k) - draw.between(1.0, 8.0),
            SecretKind::Calm => 1e9,
        };
        let ambient_k = draw.between(296.0, 308.0);
        let watts_per_gb = (draw.between(0.8, 1.4), draw.between(1.6, 3.0));
        let read_rate = draw.between(2.0e9, 7.0e9);
        // Heavy work for long ends somewhat above the onset, so that most days throttle and some do not.
        let hottest_w = 2.5 + watts_per_gb.0 * read_rate / 1e9;
        let reach = if kind == SecretKind::Calm {
            draw.between(18.0, 32.0)
        } else {
            (onset - ambient_k) * draw.between(0.95, 1.5)
        };
        let k_per_w = reach / hottest_w;
        let slow_share = draw.between(0.4, 0.7);
        let jobs = jobs(&mut draw, 3, 9);
        let neighbour = if draw.unit() < 0.4 { jobs_of_neighbour(&mut draw) } else { Vec::new() };
        let fan = draw.count(0, DAY_S - 7200);
        let has_failure = draw.unit() < 0.25;
        let fsync_start = draw.count(0, DAY_S - 7200);
        let read_latency_s = draw.between(60e-6, 110e-6);
        let cache_size = draw.between(6e9, 60e9);
        let mut day = Self {
            kind,
            second: 0,
            jobs,
            neighbour,
            iops_mean: draw.between(500.0, 40_000.0),
            swing: draw.between(0.2, 0.9),
            peak_hour: draw.between(9.0, 21.0),
            size: draw.between(4096.0, 32_768.0),
            write_share: draw.between(0.1, 0.5),
            burst_left: 0,
            burst: 1.0,
            fsync: (fsync_start, fsync_start + draw.count(600, 7200)),
            read_latency_s,
            write_latency_s: draw.between(15e-6, 60e-6),
            iops_max: draw.between(250e3, 900e3),
            read_rate,
            write_rate: read_rate * draw.between(0.5, 0.9),
            direct_rate: read_rate * draw.between(0.12, 0.3),
            cache: cache_size,
            cache_size,
            backlog: 0.0,
            collecting: 0,
            ambient_k,
            fan_off: if has_failure { (fan, fan + draw.count(900, 5400)) } else { (0, 0) },
            fast: 0.0,
            slow: 0.0,
            watts_per_gb,
            k_per_w: (k_per_w * (1.0 - slow_share), k_per_w * slow_share),
            tau_s: (draw.between(20.0, 60.0), draw.between(200.0, 900.0)),
            onset_k: [onset, onset + draw.between(4.0, 9.0)],
            hysteresis_k: draw.between(2.0, 6.0),
            factors: [draw.between(0.35, 0.75), draw.between(0.1, 0.3)],
            level: 0,
            warning_k,
            counted: [(0, 0); 2],
            unread_s: 0,
            busy_s: 0,
            block: BlockCounters::default(),
            moved: (0.0, 0.0),
            time_ms: (0.0, 0.0),
            draw,
        };
        // A drive that runs has the warmth of its idle watts.
        (day.fast, day.slow) = (2.0 * day.k_per_w.0, 2.0 * day.k_per_w.1);
        day
    }

    /// What throttles.
    pub(crate) const fn kind(&self) -> SecretKind {
        self.kind
    }

    /// Hours of it.
    pub(crate) fn hours(&self) -> f64 {
        f64::from(self.second) / 3600.0
    }

    /// The watch of such a drive: what Identify and Get Features say, where somebody may ask.
    pub(crate) fn watch(&self) -> DriveWatch {
        let tmt = matches!(self.kind, SecretKind::Counted);
        let facts = DriveFacts {
            kind: "nvme".to_owned(),
            model: None,
            serial: None,
            firmware: None,
            wwn: None,
            size_bytes: 1 << 40,
            block_bytes: 512,
            warning_k: Some(self.warning_k),
            critical_k: Some(self.warning_k + 5),
            tmt_min_k: None,
            tmt_max_k: None,
            hctm: Some(tmt),
            slc_bytes: None,
            power_states: None,
        };
        let kelvin = |index: usize| Some(self.onset_k[index] as u16);
        // Without root the thresholds are as unknown as the counters.
        let settings = if tmt {
            ThermalSettings { tmt1_k: kelvin(0), tmt2_k: kelvin(1), power_state: None }
        } else {
            ThermalSettings::default()
        };
        let address = "/dev/nvme0n1".to_owned();
        DriveWatch::new(AboutDrive { address, facts, settings, simulated: true, bandwidth_scale: 1 }, 0.0)
    }

    /// The next second; `None` at the end of the day.
    pub(crate) fn next_second(&mut self) -> Option<DaySecond> {
        if self.second >= DAY_S {
            return None;
        }
        self.second += 1;
        let slowed = self.throttle();
        let (affected, watts) = self.serve(slowed);
        self.heat(watts);
        let throttled = self.level > 0;
        let mut rows = Vec::new();
        let t = Instant::from_ns(u64::from(self.second) * 1_000_000_000);
        // Once a second while there is I/O, once a minute after a minute without.
        self.unread_s += 1;
        let every = if self.busy_s > 60 { 60 } else { 1 };
        let read_now = self.unread_s >= every;
        if read_now {
            self.unread_s = 0;
            rows.push(self.health(t));
        }
        rows.push(self.statistics(t));
        let told = throttled && self.kind == SecretKind::Counted && read_now;
        Some(DaySecond { t_s: t.as_secs_f64(), rows, throttled, visible: told || (throttled && affected) })
    }

    /// The throttle machine; the share of the speed that is left.
    fn throttle(&mut self) -> f64 {
        let kelvin = self.kelvin();
        let before = self.level;
        self.level = if kelvin >= self.onset_k[1] {
            2
        } else if kelvin >= self.onset_k[0] {
            before.max(1)
        } else if kelvin < self.onset_k[0] - self.hysteresis_k {
            0
        } else {
            before.min(1)
        };
        for level in 1..=2 {
            let counter = &mut self.counted[level - 1];
            counter.0 += u32::from(self.level == level && before < level);
            counter.1 += u32::from(self.level == level);
        }
        if self.level == 0 { 1.0 } else { self.factors[self.level - 1] }
    }

    fn kelvin(&self) -> f64 {
        let fan = if (self.fan_off.0..self.fan_off.1).contains(&self.second) { 1.35 } else { 1.0 };
        self.ambient_k + self.fast * fan + self.slow * fan
    }

    fn heat(&mut self, watts: f64) {
        self.fast += (watts * self.k_per_w.0 - self.fast) / self.tau_s.0;
        self.slow += (watts * self.k_per_w.1 - self.slow) / self.tau_s.1;
    }

    /// I/Os a second that the service wants now.
    fn wanted(&mut self) -> f64 {
        let hour = f64::from(self.second) / 3600.0;
        let course = 1.0 + self.swing * ((hour - self.peak_hour) / 24.0 * std::f64::consts::TAU).cos();
        if self.burst_left == 0 && self.draw.unit() < 0.002 {
            self.burst_left = self.draw.count(2, 40);
            self.burst = self.draw.between(1.5, 12.0);
        }
        let burst = if self.burst_left > 0 { self.burst } else { 1.0 };
        self.burst_left = self.burst_left.saturating_sub(1);
        self.iops_mean * course * burst * self.draw.factor(0.1)
    }

    /// Serves a second of demand with the share of speed that throttling leaves. Whether an I/O took longer for it by 15 %,
    /// and what was drawn.
    fn serve(&mut self, left: f64) -> (bool, f64) {
        let now = self.second;
        let in_fsync = (self.fsync.0..self.fsync.1).contains(&now);
        let wanted = self.wanted();
        let write_share = if in_fsync { 0.9 } else { self.write_share };
        let all = self.jobs.iter().chain(&self.neighbour);
        let jobs: Vec<DayJob> = all.filter(|job| (job.start_s..job.end_s).contains(&now)).copied().collect();
        if self.collecting == 0 && self.draw.unit() < 0.0006 {
            self.collecting = self.draw.count(3, 30);
        }
        let collecting = self.collecting > 0;
        self.collecting = self.collecting.saturating_sub(1);
        let slow_writes = if collecting { self.draw.between(1.5, 3.0) } else { 1.0 };
        let write_rate = if self.cache > 0.0 { self.write_rate } else { self.direct_rate };
        let noise = self.draw.factor(0.06);
        let mut terms = DayTerms { left, noise, write_rate, slow_writes, in_fsync, depth: 0.0 };
        let own = DayJob { start_s: 0, end_s: 0, depth: 0.0, size: self.size, write_share };
        // What waits from before is asked for again.
        let offered = wanted + self.backlog;
        let own = DayJob { depth: (offered * self.least(&terms, &own)).max(0.01), ..own };
        terms.depth = own.depth + jobs.iter().map(|job| job.depth).sum::<f64>();
        let first = self.serve_one(&terms, &own, Some(offered));
        let mut sum = first;
        for job in &jobs {
            let one = self.serve_one(&terms, job, None);
            sum.affected |= one.affected;
            (sum.read, sum.written) = (sum.read + one.read, sum.written + one.written);
        }
        // What could not be served waits, up to what callers wait for at all.
        self.backlog = (offered - first.rate).clamp(0.0, 256.0);
        self.busy_s = if sum.read + sum.written > 0.0 { 0 } else { self.busy_s + 1 };
        self.cache -= sum.written;
        if sum.written < 0.02 * self.write_rate {
            self.cache += self.cache_size / 600.0;
        }
        self.cache = self.cache.clamp(-1.0, self.cache_size);
        (self.moved.0, self.moved.1) = (self.moved.0 + sum.read, self.moved.1 + sum.written);
        self.block.in_flight = (terms.depth + self.backlog).min(1023.0) as u32;
        (sum.affected, 2.0 + self.watts_per_gb.0 * sum.read / 1e9 + self.watts_per_gb.1 * sum.written / 1e9)
    }

    /// The least latency of a job's I/O, in seconds.
    fn least(&self, terms: &DayTerms, job: &DayJob) -> f64 {
        let write = self.write_latency_s * terms.slow_writes * if terms.in_fsync { 4.0 } else { 1.0 };
        (1.0 - job.write_share) * self.read_latency_s + job.write_share * write + job.size / 3.0e9
    }

    /// Serves one of those that share the device's time in proportion to what each has in flight: `offered` I/Os a second in
    /// open loop, else what its depth asks for.
    fn serve_one(&mut self, terms: &DayTerms, job: &DayJob, offered: Option<f64>) -> ServedDemand {
        let share = job.write_share;
        let alone = 1.0 / ((1.0 - share) / self.read_rate + share * terms.slow_writes / terms.write_rate);
        let alone = (alone / job.size).min(self.iops_max);
        let full = alone * (job.depth / terms.depth).max(0.02) / terms.noise;
        let floor = self.least(terms, job) * terms.noise;
        let at = |left: f64| {
            let most = full * left;
            let rate = offered.unwrap_or(job.depth / (floor / left)).min(most);
            let load = (rate / most).min(0.97);
            let latency = match offered {
                Some(offered) if offered > most => floor / left / 0.03 + (offered - most) / most,
                Some(_) => floor / left * (1.0 + load * load / (1.0 - load)),
                None => job.depth / rate.max(1e-9),
            };
            (rate, latency.min(30.0))
        };
        let ((rate, latency), (_, unthrottled)) = (at(terms.left), at(1.0));
        let (reads, writes) = (rate * (1.0 - share), rate * share);
        self.block.reads += reads as u64;
        self.block.writes += writes as u64;
        self.time_ms.0 += reads * latency * 1e3;
        self.time_ms.1 += writes * latency * 1e3;
        let affected = terms.left < 1.0 && rate * latency > 1.0 && latency > 1.15 * unthrottled;
        ServedDemand { rate, affected, read: reads * job.size, written: writes * job.size }
    }

    fn statistics(&self, t: Instant) -> TelemetryRow {
        let mut row = TelemetryRow::empty(t, "blockstat", Duration::from_micros(2));
        let sectors = |bytes: f64| Bytes::new(bytes as u64 / 512 * 512);
        (row.device_read, row.device_written) = (Some(sectors(self.moved.0)), Some(sectors(self.moved.1)));
        // 32 bits, as in the kernel.
        let ms = |ms: f64| (ms as u64) as u32;
        row.block = Some(BlockCounters {
            read_ms: ms(self.time_ms.0),
            write_ms: ms(self.time_ms.1),
            queue_ms: ms(self.time_ms.0 + self.time_ms.1),
            ..self.block
        });
        row
    }

    fn health(&mut self, t: Instant) -> TelemetryRow {
        let source = if self.kind == SecretKind::Uncounted { "hwmon" } else { "smart" };
        let mut row = TelemetryRow::empty(t, source, Duration::from_micros(90));
        row.composite = Some(Kelvin::from_kelvin(self.kelvin() as u16));
        if self.kind != SecretKind::Uncounted {
            // A firmware threshold moves no counter, and neither does a drive without host thresholds.
            let counted = if self.kind == SecretKind::Counted { self.counted } else { [(0, 0); 2] };
            (row.tmt1_transitions, row.tmt1_seconds) = (Some(counted[0].0), Some(counted[0].1));
            (row.tmt2_transitions, row.tmt2_seconds) = (Some(counted[1].0), Some(counted[1].1));
        }
        row
    }
}

fn jobs(draw: &mut DayDraw, low: u32, high: u32) -> Vec<DayJob> {
    let one = |draw: &mut DayDraw| {
        let start_s = draw.count(0, DAY_S - 600);
        let write_share = match draw.count(0, 3) {
            0 | 1 => 0.0,
            2 => 1.0,
            _ => draw.between(0.1, 0.6),
        };
        let size = [65_536.0, 131_072.0, 262_144.0, 1_048_576.0][draw.count(0, 3) as usize];
        // Backups and scans: minutes to an hour.
        DayJob {
            start_s,
            end_s: start_s + draw.count(120, 3600),
            depth: f64::from(draw.count(4, 48)),
            size,
            write_share,
        }
    };
    (0..draw.count(low, high)).map(|_| one(draw)).collect()
}

/// A neighbour comes and goes in short runs.
fn jobs_of_neighbour(draw: &mut DayDraw) -> Vec<DayJob> {
    jobs(draw, 10, 30)
        .into_iter()
        .map(|job| DayJob { end_s: job.start_s + (job.end_s - job.start_s) / 12, ..job })
        .collect()
}
