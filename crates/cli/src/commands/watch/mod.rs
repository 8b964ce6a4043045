//! `heatsoak watch`: one loop that reads, one recorder, the same verdict, several faces.
//!
//! The loop's clock alone makes readings. Terminal, metrics and `live.json` show what it has.
//!
//! - `sources`: a thread a source. `twin`: simulated drives under a simulated load.
//! - `drives`: one watched drive: its readings, its part of the record, its return after it was gone.
//! - `parts`: the record. `faces`: lines, JSON and the screen. `metrics`: pages for Prometheus.

mod drives;
mod faces;
mod metrics;
mod parts;
pub(super) mod sources;
mod twin;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anyhow::{Context as _, bail};
use capture::session::{Stop, StopFlag};
use measure::record::{LIVE_FILE, OutputPlace};
use measure::time::{boottime_ns, monotonic_ns, processor_ns, wall_unix_ns};
use measure::{Clock as _, Histogram, Instant, MonotonicClock};
use plan::TelemetryPlan;
use watch::{
    ClockEvent, ClockReading, DriveWatch, LIVE_SCHEMA, LiveDocument, OwnFigures, WatchEventKind, clock_events,
};

use crate::Exit;
use crate::args::{ExporterArgs, ReadingArgs, WatchArgs};
use crate::block_devices::{self, Roots};
use crate::printer::Printer;
use crate::{run_folder, signals};
use drives::WatchedDrive;
pub(crate) use faces::clock as event_clock;
use faces::{Face, JsonFace, NewsFace, PlainFace, QuietFace, ScreenFace};
use metrics::MetricsSink;
use parts::WatchFolder;
use sources::Wake;

/// The loop looks at stops and keys at least this often.
const LOOK_SPAN: Duration = Duration::from_millis(100);
/// Everything that is shown or published is made anew so often.
const SECOND: Duration = Duration::from_secs(1);
/// Simulated seconds in a real one, on a terminal.
pub(crate) const PACE_ON_TERMINAL: u32 = 60;
/// Simulated time that a twin is watched for where nobody says: two laps of its work.
const TWIN_SPAN: Duration = Duration::from_secs(1680);

/// `heatsoak watch`.
pub(crate) fn execute(args: &WatchArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let stop = signals::stop_flag()?;
    if args.until_stdin_ends {
        signals::stop_when_stdin_ends(&stop)?;
    }
    let mut watching = WatchLoop::new(&args.drives, &args.reading, printer)?;
    // After the drives: what is refused leaves no folder behind.
    watching.folder = match (&args.out, args.no_record) {
        (_, true) => None,
        (Some(out), _) => Some(WatchFolder::open(out, args.keep, args.max_size)?),
        (None, _) => {
            let dir = run_folder::make_new("watch", &args.drives[0])?;
            Some(WatchFolder::open(&dir, args.keep, args.max_size)?)
        }
    };
    watching.tell_own_writes(printer);
    if let Some(listen) = args.metrics {
        watching.metrics = Some(MetricsSink::serve(listen, &args.serving, printer)?);
    }
    let on_terminal = !args.plain && !args.json && !args.news && crate::screen::is_possible();
    let pace = args.pace.or((on_terminal || args.metrics.is_some()).then_some(PACE_ON_TERMINAL));
    let folder = watching.folder.as_ref().map(|folder| folder.dir().to_owned());
    let ended = {
        let mut face: Box<dyn Face + '_> = if on_terminal {
            Box::new(ScreenFace::start(watching.wakes.0.clone())?)
        } else if args.news {
            Box::new(NewsFace::new(printer))
        } else if args.json {
            Box::new(JsonFace::new(printer))
        } else {
            Box::new(PlainFace::new(printer))
        };
        watching.run(&mut *face, &stop, args.span, pace)
    };
    let ended = ended?;
    watching.tell_end(folder.as_deref(), args.json, printer);
    // Without --for, Ctrl-C is how it ends.
    Ok(if ended == WatchEnd::Stopped && args.span.is_some() { Exit::Stopped } else { Exit::Done })
}

/// `heatsoak exporter`.
pub(crate) fn export(args: &ExporterArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let stop = signals::stop_flag()?;
    let mut drives = args.drives.clone();
    if drives.is_empty() {
        let all = block_devices::all(&Roots::system()).context("cannot list the drives of this machine")?;
        drives = all.into_iter().map(|device| device.address).collect();
        if drives.is_empty() {
            bail!(
                "there are no drives in /sys/block to export metrics of; name one, such as twin:ssd1 to try it"
            );
        }
    }
    let mut watching = WatchLoop::new(&drives, &args.reading, printer)?;
    watching.metrics = Some(match &args.textfile {
        Some(path) => MetricsSink::textfile(path, &args.serving),
        None => MetricsSink::serve(args.listen, &args.serving, printer)?,
    });
    let ended =
        watching.run(&mut QuietFace::new(printer), &stop, args.span, args.textfile.is_none().then_some(1))?;
    Ok(if ended == WatchEnd::Stopped && args.span.is_some() { Exit::Stopped } else { Exit::Done })
}

/// How a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WatchEnd {
    /// Its time was over.
    Done,
    /// Somebody stopped it.
    Stopped,
}

/// The loop.
struct WatchLoop {
    watches: Vec<DriveWatch>,
    drives: Vec<WatchedDrive>,
    folder: Option<WatchFolder>,
    metrics: Option<MetricsSink>,
    clock: MonotonicClock,
    clocks: ClockReading,
    wakes: (Sender<Wake>, Receiver<Wake>),
    simulated: bool,
    late: Histogram,
    readings: u64,
}

impl WatchLoop {
    /// Opens the drives; a drive that is not there at the beginning is an error, one that goes later is not.
    fn new(addresses: &[String], reading: &ReadingArgs, printer: &mut Printer) -> anyhow::Result<Self> {
        let clock = MonotonicClock::start();
        let periods = TelemetryPlan {
            smart_period: reading.smart_every,
            hwmon_period: reading.smart_every,
            blockstat_period: reading.every,
            power: Vec::new(),
        };
        let mut watching = Self {
            watches: Vec::new(),
            drives: Vec::new(),
            folder: None,
            metrics: None,
            clock,
            clocks: clocks(),
            wakes: channel(),
            simulated: false,
            late: Histogram::new(),
            readings: 0,
        };
        for (index, address) in addresses.iter().enumerate() {
            let power = if index == 0 { reading.power.clone() } else { Vec::new() };
            let periods = TelemetryPlan { power, ..periods.clone() };
            let (drive, watch) = WatchedDrive::open(address, periods)?;
            for note in drive.notes() {
                printer.message(&format!("note: {address}: {note}"));
            }
            watching.drives.push(drive);
            watching.watches.push(watch);
        }
        let twins = watching.drives.iter().filter(|drive| drive.is_twin()).count();
        if twins > 0 && twins < watching.drives.len() {
            bail!(
                "cannot watch twins beside real drives: a twin lives in simulated time; watch them in two calls"
            );
        }
        watching.simulated = twins > 0;
        let epoch_s =
            if watching.simulated { 0.0 } else { wall_unix_ns() as f64 / 1e9 - clock.now().as_secs_f64() };
        for watch in &mut watching.watches {
            watch.epoch_s = epoch_s;
        }
        Ok(watching)
    }

    /// A record on the drive that is watched is load of ours on it, and is said.
    fn tell_own_writes(&self, printer: &mut Printer) {
        let Some(folder) = &self.folder else { return };
        let Some(disk) = drive::telemetry::discover::disk_under(folder.dir()) else { return };
        if self.drives.iter().any(|drive| drive.disk().as_deref() == Some(&disk)) {
            printer.message(&format!(
                "note: the record lies on {disk}, which is watched: it adds some kB/s of writes; --out elsewhere or --no-record \
                 avoids them"
            ));
        }
    }

    fn run(
        &mut self,
        face: &mut dyn Face,
        stop: &StopFlag,
        span: Option<Duration>,
        pace: Option<u32>,
    ) -> anyhow::Result<WatchEnd> {
        self.begin_parts(Instant::ZERO)?;
        let ended = if self.simulated {
            self.run_simulated(face, stop, span.unwrap_or(TWIN_SPAN), pace)
        } else {
            self.run_real(face, stop, span)
        };
        // Parts are closed however it ended.
        let closed = self.end_parts(self.now_of_drives());
        if let Some(folder) = &self.folder {
            let _ = fs::remove_file(folder.dir().join(LIVE_FILE));
        }
        let ended = ended?;
        closed?;
        Ok(ended)
    }

    fn now_of_drives(&self) -> Instant {
        let simulated = self.drives.iter().filter_map(WatchedDrive::simulated_now).max();
        simulated.unwrap_or_else(|| self.clock.now())
    }

    fn run_real(
        &mut self,
        face: &mut dyn Face,
        stop: &StopFlag,
        span: Option<Duration>,
    ) -> anyhow::Result<WatchEnd> {
        for (index, drive) in self.drives.iter_mut().enumerate() {
            drive.start(index, self.clock, &self.wakes.0).context("cannot start a thread for readings")?;
        }
        let end = span.map_or(Instant::NEVER, |span| self.clock.now() + span);
        let mut due = self.clock.now() + SECOND;
        loop {
            let now = self.clock.now();
            if now >= end {
                return Ok(WatchEnd::Done);
            }
            if stop.asks() != Stop::No {
                return Ok(WatchEnd::Stopped);
            }
            let wait = due.min(end).min(now + LOOK_SPAN).since(now);
            match self.wakes.1.recv_timeout(wait) {
                Ok(wake) => {
                    if self.woken(wake, face)? {
                        return Ok(WatchEnd::Stopped);
                    }
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            let now = self.clock.now();
            if now >= due {
                due = now + SECOND;
                self.look_at_clocks(now, face)?;
                for index in 0..self.drives.len() {
                    self.tend(index, now, face)?;
                }
                self.second(now, face)?;
            }
        }
    }

    /// A reading or a key. True when the user wants to leave.
    fn woken(&mut self, wake: Wake, face: &mut dyn Face) -> anyhow::Result<bool> {
        match wake {
            Wake::Terminal(event) => {
                let now_s = self.now_of_drives().as_secs_f64();
                Ok(face.terminal(&event, &self.watches, now_s))
            }
            Wake::Reading { drive, generation, reading, late } => {
                if self.drives[drive].generation() == generation {
                    self.late.record_ns(late.as_nanos() as u64);
                    self.readings += 1;
                    self.drives[drive].heard(&reading);
                    self.take(drive, &reading, face)?;
                }
                Ok(false)
            }
        }
    }

    fn take(
        &mut self,
        index: usize,
        reading: &drive::telemetry::Reading,
        face: &mut dyn Face,
    ) -> anyhow::Result<()> {
        if reading.row.is_empty() {
            return Ok(());
        }
        let watch = &mut self.watches[index];
        let update = watch.reading(&reading.row, reading.page.as_ref());
        let drive = &mut self.drives[index];
        if let Some(part) = drive.part() {
            part.reading(&reading.row, reading.page.as_ref())?;
            part.io(update.io)?;
        }
        for event in update.events {
            let line = faces::event_line(watch, &event);
            if let Some(part) = drive.part() {
                part.event(&event, line.clone());
            }
            face.event(watch, &event, &line)?;
        }
        Ok(())
    }

    /// Gone drives, slower readings while nothing happens.
    fn tend(&mut self, index: usize, now: Instant, face: &mut dyn Face) -> anyhow::Result<()> {
        let (drive, watch) = (&mut self.drives[index], &mut self.watches[index]);
        drive.ease(watch, now);
        let told = drive.look_for_it(watch, index, self.clock, &self.wakes.0);
        if let Some((kind, text)) = told {
            let event = watch.outside_event(now.as_secs_f64(), kind, text);
            let line = faces::event_line(watch, &event);
            if let Some(part) = drive.part() {
                part.event(&event, line.clone());
            }
            face.event(watch, &event, &line)?;
        }
        Ok(())
    }

    /// Sleep and set clocks, between the last look and this one.
    fn look_at_clocks(&mut self, now: Instant, face: &mut dyn Face) -> anyhow::Result<()> {
        let before = std::mem::replace(&mut self.clocks, clocks());
        for told in clock_events(before, self.clocks) {
            let (kind, text) = match told {
                ClockEvent::Slept(span) => {
                    (WatchEventKind::Slept, format!("the machine slept for {}", faces::span(span)))
                }
                ClockEvent::Stepped(ns) => {
                    let direction = if ns < 0 { "back" } else { "forward" };
                    let span = Duration::from_nanos(ns.unsigned_abs());
                    (
                        WatchEventKind::ClockStep,
                        format!("the wall clock was set {direction} by {}", faces::span(span)),
                    )
                }
            };
            let epoch_s = self.clocks.wall_ns as f64 / 1e9 - now.as_secs_f64();
            for (watch, drive) in self.watches.iter_mut().zip(&mut self.drives) {
                watch.epoch_s = epoch_s;
                if kind == WatchEventKind::Slept {
                    watch.interrupted();
                }
                let event = watch.outside_event(now.as_secs_f64(), kind, text.clone());
                let line = faces::event_line(watch, &event);
                if let Some(part) = drive.part() {
                    let row =
                        measure::record::TelemetryRow::failed(now, "clock", Duration::ZERO, text.clone());
                    part.reading(&row, None)?;
                    part.event(&event, line.clone());
                }
                face.event(watch, &event, &line)?;
            }
        }
        Ok(())
    }

    /// What is done once a second: faces, live.json, metrics, parts.
    fn second(&mut self, now: Instant, face: &mut dyn Face) -> anyhow::Result<()> {
        let now_s = now.as_secs_f64();
        face.second(&self.watches, now_s)?;
        if let Some(folder) = &self.folder {
            write_live(folder.dir(), &self.watches, now_s)?;
        }
        if let Some(metrics) = &mut self.metrics {
            let own = OwnFigures {
                cpu_s: Some(processor_ns() as f64 / 1e9),
                memory_bytes: metrics::resident_bytes(),
                scrapes: metrics.scrapes(),
            };
            metrics.publish(&self.watches, now_s, &own)?;
        }
        self.turn_parts(now)
    }

    fn begin_parts(&mut self, now: Instant) -> anyhow::Result<()> {
        let wall = self.wall_ns(now);
        if let Some(folder) = &mut self.folder {
            for drive in &mut self.drives {
                drive.begin_part(folder, now, wall)?;
            }
        }
        Ok(())
    }

    fn wall_ns(&self, now: Instant) -> i64 {
        if self.simulated { now.as_ns() as i64 } else { wall_unix_ns() }
    }

    fn turn_parts(&mut self, now: Instant) -> anyhow::Result<()> {
        let wall = self.wall_ns(now);
        if let Some(folder) = &mut self.folder {
            for drive in &mut self.drives {
                drive.turn_part(folder, now, wall)?;
            }
        }
        Ok(())
    }

    fn end_parts(&mut self, now: Instant) -> anyhow::Result<()> {
        let wall = self.wall_ns(now);
        let mut ended = Ok(());
        if let Some(folder) = &mut self.folder {
            for drive in &mut self.drives {
                ended = ended.and(drive.end_part(folder, now, wall));
            }
        }
        ended
    }

    /// Twins: a second of simulated time after another, `pace` of them in a real one.
    fn run_simulated(
        &mut self,
        face: &mut dyn Face,
        stop: &StopFlag,
        span: Duration,
        pace: Option<u32>,
    ) -> anyhow::Result<WatchEnd> {
        let mut now = Instant::ZERO;
        while now < Instant::ZERO + span {
            now = now + SECOND;
            for index in 0..self.drives.len() {
                for reading in self.drives[index].simulate(now) {
                    self.take(index, &reading, face)?;
                }
            }
            self.second(now, face)?;
            if stop.asks() != Stop::No {
                return Ok(WatchEnd::Stopped);
            }
            let Some(pace) = pace else { continue };
            let due = Instant::from_ns(now.as_ns() / u64::from(pace));
            loop {
                let left = due.since(self.clock.now());
                let woken = self.wakes.1.recv_timeout(left.min(LOOK_SPAN));
                if woken.is_ok_and(|wake| self.woken(wake, face).unwrap_or(true)) || stop.asks() != Stop::No {
                    return Ok(WatchEnd::Stopped);
                }
                if self.clock.now() >= due {
                    break;
                }
            }
        }
        Ok(WatchEnd::Done)
    }

    /// Where the record is, and what watching has cost.
    fn tell_end(&self, folder: Option<&Path>, is_json: bool, printer: &mut Printer) {
        if is_json {
            return;
        }
        if let Some(folder) = folder {
            printer.message(&format!("record: {}", folder.display()));
        }
        let real_s = self.clock.now().as_secs_f64();
        if !self.simulated && real_s > 0.0 {
            let reading_s: f64 = self.watches.iter().map(|watch| watch.cost_s).sum();
            let late = self.late.quantile(0.999).unwrap_or_default();
            printer.message(&format!(
                "cost: {} readings took {:.3} % of the time, this process {:.2} % of a processor; 99.9 % of readings came at most \
                 {:.1} ms late",
                self.readings,
                100.0 * reading_s / real_s,
                100.0 * processor_ns() as f64 / 1e9 / real_s,
                late.as_secs_f64() * 1e3
            ));
        }
    }
}

fn clocks() -> ClockReading {
    ClockReading { monotonic_ns: monotonic_ns(), boottime_ns: boottime_ns(), wall_ns: wall_unix_ns() }
}

/// Replaces `live.json`. Not synced: it is the present, of which nobody wants the one before a power cut.
///
/// # Errors
/// When the system refuses.
fn write_live(dir: &Path, watches: &[DriveWatch], now_s: f64) -> anyhow::Result<()> {
    let document =
        LiveDocument { schema: LIVE_SCHEMA, drives: watches.iter().map(|watch| watch.live(now_s)).collect() };
    let text = serde_json::to_string(&document)?;
    replace_unsynced(&dir.join(LIVE_FILE), text.as_bytes())
}

/// Writes beside and renames; into what is no file.
pub(crate) fn replace_unsynced(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let replaced = OutputPlace::of(path).and_then(|place| match place {
        OutputPlace::File(path) => {
            let beside = PathBuf::from(format!("{}.new", path.display()));
            fs::write(&beside, content).and_then(|()| fs::rename(&beside, path))
        }
        OutputPlace::Stream => fs::write(path, content),
    });
    replaced.with_context(|| format!("cannot write {}", path.display()))
}
