//! Writes down what happens, and decides from it when a phase or the run has to end.
//!
//! Real and simulated sessions feed it the same way; it knows no threads and no clock.

use std::time::Duration;

use measure::record::{End, EndReason, IoRow, Manifest, Op, RecordError, RunWriter, TelemetryRow};
use measure::{Bytes, Celsius, Instant, Kelvin, Watts};

use super::guard::{ThermalGuard, thermal_limit};
use super::observer::{Meter, Observer};
use super::rounds::RoundSpeeds;
use super::shaping::Shaping;
use super::stop::{Stop, StopFlag};
use super::{Outcome, SessionError};
use crate::load::{Control, Ended, Halt, IntervalStats};
use drive::telemetry::Reading;
use drive::telemetry::power::{self, CsvColumns};
use plan::{MeterSource, Plan};

/// In simulated time nothing is lost by a killed run: rows are written when they are many.
const FLUSH_SPAN_SIMULATED: Duration = Duration::from_secs(10);

/// Writes down what happens.
pub(super) struct Recorder<'a> {
    pub(super) plan: &'a Plan,
    writer: RunWriter,
    /// As it will be written; on disk it is as old as the last [`Recorder::write_manifest`].
    manifest: Manifest,
    observer: &'a mut dyn Observer,
    stop: StopFlag,
    guard: ThermalGuard,
    meter: Meter,
    /// Rounds of phases, where the plan has any.
    pub(super) rounds: RoundSpeeds<'a>,
    /// Whether a reader may look at the folder while the run is under way.
    real_time: bool,
    flushed_at: Instant,
    phase_index: usize,
    pub(super) control: Control,
    /// The present phase waited for a temperature, and it has come.
    cool: bool,
    run_ends: Option<(EndReason, String)>,
    failed: Option<RecordError>,
    notes: Vec<String>,
    errors: u64,
    composite: Option<Kelvin>,
    power: Option<Watts>,
    /// What shapes the load.
    pub(super) shaping: Option<Shaping<'a>>,
    /// What looks at last facts when the run is over.
    pub(super) last_facts: Option<Box<super::LastFacts<'a>>>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        writer: RunWriter,
        observer: &'a mut dyn Observer,
        stop: StopFlag,
        real_time: bool,
    ) -> Self {
        Self {
            manifest: writer.manifest().clone(),
            guard: ThermalGuard::new(thermal_limit(plan, &writer.manifest().drive), plan),
            meter: Meter::new(plan),
            rounds: RoundSpeeds::new(),
            control: Control::new(plan.max_errors),
            flushed_at: Instant::ZERO,
            phase_index: 0,
            cool: false,
            run_ends: None,
            failed: None,
            notes: Vec::new(),
            errors: 0,
            composite: None,
            power: None,
            shaping: None,
            last_facts: None,
            plan,
            writer,
            observer,
            stop,
            real_time,
        }
    }

    /// What stops the load of the present phase.
    pub(super) const fn control(&self) -> &Control {
        &self.control
    }

    /// The manifest as it stands.
    pub(super) const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether the present phase has to end before its own end.
    pub(super) const fn phase_is_over(&self) -> bool {
        self.cool || self.run_ends.is_some()
    }

    /// Whether no further phase may begin.
    pub(super) const fn run_is_over(&self) -> bool {
        self.run_ends.is_some() || self.rounds.are_steady()
    }

    /// Whether nothing may be waited for any more.
    pub(super) fn at_once(&self) -> bool {
        self.stop.asks() == Stop::AtOnce
    }

    /// Ends the run; the first reason is the one that counts.
    pub(super) fn end_run(&mut self, reason: EndReason, detail: String) {
        self.control.halt(Halt::Drain);
        self.run_ends.get_or_insert((reason, detail));
    }

    /// Changes the manifest; in real time on disk too, so that a killed run tells how far it came.
    pub(super) fn update_manifest(&mut self, change: impl FnOnce(&mut Manifest)) {
        change(&mut self.manifest);
        if self.real_time {
            self.write_manifest();
        }
    }

    fn write_manifest(&mut self) {
        let manifest = self.manifest.clone();
        // Rows first: syncing the manifest can take seconds, in which a killed run would lose what waits.
        let result =
            self.writer.flush().and_then(|()| self.writer.update_manifest(|written| *written = manifest));
        self.check(result);
    }

    /// Notes something for whoever reads the numbers; once, however often it happens.
    pub(super) fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.observer.note(&text);
            self.notes.push(text);
        }
    }

    /// Tells of a setting that could not be put back, whatever else is kept quiet.
    pub(super) fn left_changed(&mut self, text: String) {
        self.observer.left_changed(&text);
        self.notes.push(text);
    }

    /// A phase is about to begin at `t` or a moment later; see [`Recorder::phase_began`].
    ///
    /// The manifest is synced here, before the load: beside a load that takes seconds, in which rows would wait.
    pub(super) fn phase_begins(&mut self, index: usize, t: Instant) {
        self.phase_index = index;
        self.cool = false;
        self.observer.phase_begins(index, &self.plan.phases[index]);
        self.phase_began(t);
        if self.real_time {
            self.write_manifest();
        }
    }

    /// The present phase has begun at `t`.
    pub(super) fn phase_began(&mut self, t: Instant) {
        self.meter.phase_begins(t);
        self.rounds.phase_began(t);
        self.guard.phase_begins();
        if let Some(phase) = self.manifest.phases.get_mut(self.phase_index) {
            phase.start_ns = Some(t.as_ns());
        }
    }

    /// The present phase has ended, its workers for the reasons given.
    pub(super) fn phase_ends(&mut self, t: Instant, ended: &[Ended]) {
        // What left the load at once may have come since the last look.
        self.heed_stop(t);
        if ended.contains(&Ended::Errors) {
            let detail = format!(
                "{} I/Os failed, and the plan allows {}",
                self.control.errors(),
                self.plan.max_errors
            );
            self.end_run(EndReason::DeviceFailed, detail);
        }
        if let Some(budget) = self.control.writes().filter(|_| ended.contains(&Ended::WriteLimit)) {
            let detail = format!(
                "the next write would have exceeded the {} that may be written",
                budget.all().typed()
            );
            self.end_run(EndReason::WriteLimit, detail);
        }
        self.tell_readings(t);
        let by = match &self.run_ends {
            Some((EndReason::SafetyLimit, _)) => "safety",
            Some((EndReason::WriteLimit, _)) => "write_limit",
            Some((EndReason::DeviceFailed, _)) => "errors",
            Some((EndReason::RecordFailed, _)) => "record",
            Some((EndReason::Interrupted | EndReason::Completed, _)) => "interrupted",
            None if self.cool => "temperature",
            None => match ended.last() {
                Some(Ended::Bytes) => "bytes",
                Some(Ended::Laps) => "laps",
                _ => "duration",
            },
        };
        let index = self.phase_index;
        self.update_manifest(|manifest| {
            if let Some(phase) = manifest.phases.get_mut(index) {
                phase.end_ns = Some(t.as_ns());
                phase.ended_by = Some(by.to_owned());
            }
        });
        self.control = self.control.next_phase();
        let rounds = self.plan.rounds.as_ref().filter(|_| self.run_ends.is_none());
        let steady = rounds.and_then(|rounds| self.rounds.phase_ends(rounds, index, t));
        if let Some(round) = steady {
            self.note(format!("the rounds were steady after round {round}, so no further one was made"));
        }
    }

    /// What the readings of the phase that ends at `t` say about themselves.
    fn tell_readings(&mut self, t: Instant) {
        let loads = |phase: &plan::Phase| !phase.loads.is_empty();
        let told = if loads(&self.plan.phases[self.phase_index]) {
            self.guard.stood_still(t)
        } else if self.plan.phases[..self.phase_index].iter().any(loads) {
            None
        } else {
            self.guard.warmed_by_reading()
        };
        told.into_iter().for_each(|text| self.note(text));
    }

    /// An interval of load is whole.
    pub(super) fn interval(&mut self, start: Instant, end: Instant, stats: IntervalStats) {
        for row in stats.rows {
            let result = self.writer.push_op(row);
            self.check(result);
        }
        for op in stats.ops {
            self.errors += op.errors;
            self.meter.count(op.op, op.bytes, op.ios);
            self.rounds.count(op.bytes);
            if let Some(shaping) = &mut self.shaping {
                shaping.count(op.op, op.bytes);
            }
            self.push(IoRow {
                t: start,
                span: end - start,
                phase: self.phase_index as u32,
                op: op.op,
                bytes: op.bytes,
                ios: op.ios,
                errors: op.errors,
                slat: op.slat,
                clat: op.clat,
            });
        }
    }

    /// An interval without load is over.
    pub(super) fn idle(&mut self, start: Instant, end: Instant) {
        let empty = measure::Histogram::new;
        self.push(IoRow {
            t: start,
            span: end - start,
            phase: self.phase_index as u32,
            op: Op::Idle,
            bytes: Bytes::ZERO,
            ios: 0,
            errors: 0,
            slat: empty(),
            clat: empty(),
        });
    }

    fn push(&mut self, row: IoRow) {
        let result = self.writer.push_io(row);
        self.check(result);
    }

    /// A source was read.
    pub(super) fn reading(&mut self, Reading { row, page }: Reading) {
        if let Some(why) = self.guard.look(&row) {
            self.end_run(EndReason::SafetyLimit, why);
        }
        self.composite = row.composite.or_else(|| hwmon_kelvin(&row)).or(self.composite);
        self.power = row.power.or(self.power);
        let until_below = self.plan.phases.get(self.phase_index).and_then(|phase| phase.until_below);
        if let (Some(limit), Some(composite)) = (until_below, self.composite)
            && composite <= limit
        {
            self.cool = true;
            self.control.halt(Halt::Drain);
        }
        if let Some(limit) = self.shaping.as_mut().and_then(|shaping| shaping.reading(&row)) {
            self.control.ceiling().set(row.t, limit);
        }
        if row.is_empty() {
            return;
        }
        let result = self.writer.push_telemetry(row);
        self.check(result);
        if let Some(page) = page {
            let result = self.writer.push_smart(page);
            self.check(result);
        }
    }

    /// Ends the run if the user has asked for that.
    pub(super) fn heed_stop(&mut self, now: Instant) {
        match self.stop.asks() {
            Stop::No => {}
            Stop::Cleanly => self.end_run(EndReason::Interrupted, format!("stopped by the user at {now}")),
            Stop::AtOnce => {
                self.end_run(EndReason::Interrupted, format!("stopped by the user at {now}"));
                self.control.halt(Halt::AtOnce);
            }
        }
    }

    /// What has to be done every now and then: heed stops, flush, tell the observer.
    pub(super) fn poll(&mut self, now: Instant) {
        self.heed_stop(now);
        if let Some(text) = self.guard.silence(now) {
            self.note(text);
        }
        if let Some(why) = self.guard.unwatched(now) {
            self.end_run(EndReason::SafetyLimit, why);
        }
        if let Some(limit) = self.shaping.as_mut().and_then(|shaping| shaping.poll(now)) {
            self.control.ceiling().set(now, limit);
        }
        let flushed = if self.real_time {
            self.writer.flush_if_due(now)
        } else if now.since(self.flushed_at) >= FLUSH_SPAN_SIMULATED {
            self.flushed_at = now;
            self.writer.flush()
        } else {
            Ok(())
        };
        self.check(flushed);
        if let Some(progress) = self.meter.progress(self.plan, self.phase_index, now) {
            let (composite, power, errors) = (self.composite, self.power, self.errors);
            self.observer.progress(&super::Progress { composite, power, errors, ..progress });
        }
    }

    /// A record that cannot be written on ends the run; the first error is the one that says why.
    fn check(&mut self, result: Result<(), RecordError>) {
        if let Err(error) = result {
            self.end_run(EndReason::RecordFailed, error.to_string());
            self.failed.get_or_insert(error);
        }
    }

    /// Merges what a power meter wrote beside the run.
    fn merge_power(&mut self) {
        let began_unix_s = self.manifest.clock_anchor.wall_unix_ns as f64 / 1e9;
        for (index, meter) in self.plan.telemetry.power.iter().enumerate() {
            let MeterSource::Csv { path, time, power, clock } = &meter.source else { continue };
            let watts_per_unit = meter.stated.watts_per_unit.unwrap_or(1.0);
            let columns = CsvColumns { time, power, clock: *clock, began_unix_s, watts_per_unit };
            match power::read_csv(path, &power::source_name(index), &columns) {
                Ok(rows) => {
                    for row in rows {
                        let result = self.writer.push_telemetry(row);
                        self.check(result);
                    }
                }
                Err(error) => self.note(error.to_string()),
            }
        }
    }

    /// The run has ended: closes the folder.
    ///
    /// # Errors
    /// When the record could not be written; what there is of it stays readable.
    pub(super) fn finish(mut self, now: Instant) -> Result<Outcome, SessionError> {
        self.merge_power();
        let (reason, detail) = match self.run_ends.take() {
            Some((reason, detail)) => (reason, Some(detail)),
            None => (EndReason::Completed, None),
        };
        let notes = std::mem::take(&mut self.notes);
        self.manifest.notes.extend(notes);
        if let Some(look) = self.last_facts.take() {
            look(&mut self.manifest);
        }
        self.write_manifest();
        let end = End { reason, t_ns: now.as_ns(), detail };
        let folder = self.writer.dir().to_owned();
        let closed = self.writer.close(end.clone());
        match self.failed {
            Some(source) => Err(SessionError::Record { source, folder }),
            None => closed
                .map(|folder| Outcome { folder: folder.clone(), end, errors: self.errors })
                .map_err(|source| SessionError::Close { source, folder }),
        }
    }
}

/// What hwmon tells, in whole kelvins, of which the kernel has made thousandths of a degree.
fn hwmon_kelvin(row: &TelemetryRow) -> Option<Kelvin> {
    let celsius = Celsius::from_millidegrees(row.hwmon_millicelsius?);
    Some(Kelvin::from_kelvin(celsius.as_kelvin_f64().round() as u16))
}
