//! A run while it is under way, for every face: `live.json` in its folder, and on a terminal the screen.
//!
//! It is told by the session four times a second and only shows; with the run it goes, `live.json` too.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use capture::session::{self, StopFlag};
use measure::record::{LIVE_FILE, Manifest, ThermalSettings};
use measure::{BytesPerSec, Kelvin, Watts};
use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers};
use watch::live::RECENT_MAX;
use watch::{LIVE_SCHEMA, LiveDocument, LiveDrive, LiveLimits, LivePoint};

use crate::live_news::{LiveNews, keep_news};
use crate::screen::{Screen, ScreenDrive};

/// It is made anew so often, in run time.
const SECOND: Duration = Duration::from_secs(1);

/// A run under way.
pub(crate) struct RunLive {
    path: PathBuf,
    live: LiveDrive,
    written: Option<Duration>,
    screen: Option<(Screen, Receiver<Event>)>,
    phase: String,
    left: String,
    errors: u64,
}

impl RunLive {
    /// Of the run that `manifest` begins in `folder`; with `stop` it has the terminal, and q or Ctrl-C raise it.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub(crate) fn start(
        folder: &Path,
        manifest: &Manifest,
        set: &ThermalSettings,
        stop: Option<&StopFlag>,
    ) -> anyhow::Result<Self> {
        let on = |kelvin: Option<u16>| kelvin.filter(|kelvin| *kelvin > 273);
        let drive = &manifest.drive;
        let live = LiveDrive {
            address: manifest.address.clone(),
            model: drive.model.clone(),
            serial: drive.serial.clone(),
            simulated: Some(manifest.origin.is_simulated()),
            age_s: None,
            temperature_k: None,
            limits_k: LiveLimits {
                tmt1: on(set.tmt1_k),
                tmt2: on(set.tmt2_k),
                warning: on(drive.warning_k),
                critical: on(drive.critical_k),
            },
            read_bytes_per_s: None,
            write_bytes_per_s: None,
            power_w: None,
            state: None,
            events: Vec::new(),
            recent: Vec::new(),
        };
        let screen = stop.map(|stop| Self::screen(&manifest.plan_name, stop.clone())).transpose()?;
        Ok(Self {
            path: folder.join(LIVE_FILE),
            live,
            written: None,
            screen,
            phase: String::new(),
            left: String::new(),
            errors: 0,
        })
    }

    /// Ctrl-C is a key here and no signal: it stops the run at once, whatever the session does.
    fn screen(plan: &str, stop: StopFlag) -> anyhow::Result<(Screen, Receiver<Event>)> {
        let (to, keys) = channel();
        let heed = move |event: Event| {
            if let Event::Key(key) = &event
                && (key.code == KeyCode::Char('q')
                    || key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL))
            {
                stop.raise();
            }
            to.send(event).is_ok()
        };
        Ok((Screen::start(&format!("heatsoak run {plan}"), heed)?, keys))
    }

    /// Whether it has the terminal.
    pub(crate) const fn is_on_screen(&self) -> bool {
        self.screen.is_some()
    }

    /// How far the run has come; `left` is that in words. True once a second.
    pub(crate) fn progress(&mut self, progress: &session::Progress<'_>, left: String) -> bool {
        let rate = |speed: Option<BytesPerSec>| Some(speed.map_or(0.0, BytesPerSec::as_f64));
        let live = &mut self.live;
        (live.read_bytes_per_s, live.write_bytes_per_s) =
            (rate(progress.read_speed), rate(progress.write_speed));
        live.temperature_k = progress.composite.map(Kelvin::as_kelvin);
        live.power_w = progress.power.map(Watts::as_f64);
        live.state = Some(if progress.speed.is_some() { "busy" } else { "idle" }.to_owned());
        (self.phase, self.left, self.errors) = (
            format!("{}/{} {}", progress.phase_index + 1, progress.phase_count, progress.phase),
            left,
            progress.errors,
        );
        let is_due = self.written.is_none_or(|written| progress.elapsed.saturating_sub(written) >= SECOND);
        if is_due {
            self.written = Some(progress.elapsed);
            self.second(progress.elapsed);
        }
        self.draw();
        is_due
    }

    /// What the last second brought, for the face on another machine.
    pub(crate) fn news(&self) -> LiveNews {
        let mut drive = self.shown();
        keep_news(&mut drive.live, f64::NEG_INFINITY);
        let now_s = drive.live.recent.last().map_or(0.0, |point| point.t_s);
        LiveNews { now_s, drives: vec![drive], lines: Vec::new() }
    }

    fn shown(&self) -> ScreenDrive {
        let mut figures =
            vec![("phase".to_owned(), self.phase.clone()), ("time".to_owned(), self.left.clone())];
        if self.errors > 0 {
            figures.push(("I/O errors".to_owned(), self.errors.to_string()));
        }
        ScreenDrive { live: self.live.clone(), seconds_to: Vec::new(), figures }
    }

    fn second(&mut self, elapsed: Duration) {
        let live = &mut self.live;
        live.age_s = Some(0.0);
        live.recent.push(LivePoint {
            t_s: elapsed.as_secs_f64(),
            read_bytes_per_s: live.read_bytes_per_s,
            write_bytes_per_s: live.write_bytes_per_s,
            temperature_k: live.temperature_k,
        });
        if live.recent.len() > RECENT_MAX {
            live.recent.remove(0);
        }
        let document = LiveDocument { schema: LIVE_SCHEMA, drives: vec![live.clone()] };
        // A face that misses a second is no reason to end a run.
        if let Ok(text) = serde_json::to_string(&document) {
            let beside = self.path.with_extension("json.new");
            let _ = fs::write(&beside, text).and_then(|()| fs::rename(&beside, &self.path));
        }
    }

    fn draw(&mut self) {
        if self.screen.is_none() {
            return;
        }
        let shown = self.shown();
        let Some((screen, keys)) = &mut self.screen else { return };
        let newest = self.live.recent.last().map_or(0.0, |point| point.t_s);
        for event in keys.try_iter() {
            screen.state.heed(&event, 1, newest);
        }
        // A terminal that is gone sends a signal of its own.
        let _ = screen.draw(&[shown]);
    }
}

impl Drop for RunLive {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(self.path.with_extension("json.new"));
    }
}
