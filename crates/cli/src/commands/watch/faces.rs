//! What a watch shows: lines, JSON documents or the screen. A face only reads.

use std::sync::mpsc::Sender;
use std::time::Duration;

use measure::{BytesPerSec, Watts};
use ratatui::crossterm::event::Event;
use watch::{DriveWatch, LIVE_SCHEMA, LiveDocument, SlowCause, WatchEvent};

use super::sources::Wake;
use crate::live_news::{LiveNews, keep_news};
use crate::printer::Printer;
use crate::screen::{Screen, ScreenDrive};

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// Shows a watch.
pub(super) trait Face {
    /// Something happened; `line` is all of it in a sentence.
    fn event(&mut self, watch: &DriveWatch, event: &WatchEvent, line: &str) -> anyhow::Result<()>;

    /// A second is over.
    fn second(&mut self, watches: &[DriveWatch], now_s: f64) -> anyhow::Result<()>;

    /// A key, the mouse, a new size. True when the user wants to leave.
    fn terminal(&mut self, event: &Event, watches: &[DriveWatch], now_s: f64) -> bool {
        let _ = (event, watches, now_s);
        false
    }
}

/// A line a second and drive on stdout, events between them.
pub(super) struct PlainFace<'a> {
    printer: &'a mut Printer,
}

impl<'a> PlainFace<'a> {
    pub(super) const fn new(printer: &'a mut Printer) -> Self {
        Self { printer }
    }
}

impl Face for PlainFace<'_> {
    fn event(&mut self, _: &DriveWatch, _: &WatchEvent, line: &str) -> anyhow::Result<()> {
        Ok(self.printer.data(line)?)
    }

    fn second(&mut self, watches: &[DriveWatch], now_s: f64) -> anyhow::Result<()> {
        for watch in watches {
            self.printer.data(&state_line(watch, now_s))?;
        }
        Ok(())
    }
}

/// A document a line: the state, with the events since the last one and no history.
pub(super) struct JsonFace<'a> {
    printer: &'a mut Printer,
    told_until_s: f64,
}

impl<'a> JsonFace<'a> {
    pub(super) const fn new(printer: &'a mut Printer) -> Self {
        Self { printer, told_until_s: f64::NEG_INFINITY }
    }
}

impl Face for JsonFace<'_> {
    fn event(&mut self, _: &DriveWatch, _: &WatchEvent, _: &str) -> anyhow::Result<()> {
        Ok(())
    }

    fn second(&mut self, watches: &[DriveWatch], now_s: f64) -> anyhow::Result<()> {
        let mut newest = self.told_until_s;
        let live = |watch: &DriveWatch| {
            let mut live = watch.live(now_s);
            newest = keep_news(&mut live, self.told_until_s).max(newest);
            live
        };
        let drives = watches.iter().map(live).collect();
        self.told_until_s = newest;
        self.printer.json_line(&LiveDocument { schema: LIVE_SCHEMA, drives })
    }
}

/// What is new, for the face on the machine that asked for it (`--on`).
pub(super) struct NewsFace<'a> {
    printer: &'a mut Printer,
    lines: Vec<String>,
    told_until_s: f64,
}

impl<'a> NewsFace<'a> {
    pub(super) const fn new(printer: &'a mut Printer) -> Self {
        Self { printer, lines: Vec::new(), told_until_s: f64::NEG_INFINITY }
    }
}

impl Face for NewsFace<'_> {
    fn event(&mut self, _: &DriveWatch, _: &WatchEvent, line: &str) -> anyhow::Result<()> {
        self.lines.push(line.to_owned());
        Ok(())
    }

    fn second(&mut self, watches: &[DriveWatch], now_s: f64) -> anyhow::Result<()> {
        let mut newest = self.told_until_s;
        let news = |watch: &DriveWatch| {
            let mut drive = screen_drive(watch, now_s);
            newest = keep_news(&mut drive.live, self.told_until_s).max(newest);
            drive
        };
        let drives = watches.iter().map(news).collect();
        self.told_until_s = newest;
        let mut lines = std::mem::take(&mut self.lines);
        lines.extend(watches.iter().map(|watch| state_line(watch, now_s)));
        LiveNews { now_s, drives, lines }.tell(self.printer)
    }
}

/// Events only, as a service's log has them.
pub(super) struct QuietFace<'a> {
    printer: &'a mut Printer,
}

impl<'a> QuietFace<'a> {
    pub(super) const fn new(printer: &'a mut Printer) -> Self {
        Self { printer }
    }
}

impl Face for QuietFace<'_> {
    fn event(&mut self, _: &DriveWatch, _: &WatchEvent, line: &str) -> anyhow::Result<()> {
        self.printer.message(line);
        Ok(())
    }

    fn second(&mut self, _: &[DriveWatch], _: f64) -> anyhow::Result<()> {
        Ok(())
    }
}

/// The screen.
pub(super) struct ScreenFace {
    screen: Screen,
}

impl ScreenFace {
    /// Takes the terminal; keys come back through `to`.
    pub(super) fn start(to: Sender<Wake>) -> anyhow::Result<Self> {
        Ok(Self {
            screen: Screen::start("heatsoak watch", move |event| to.send(Wake::Terminal(event)).is_ok())?,
        })
    }

    fn draw(&mut self, watches: &[DriveWatch], now_s: f64) -> anyhow::Result<()> {
        let drives: Vec<ScreenDrive> = watches.iter().map(|watch| screen_drive(watch, now_s)).collect();
        self.screen.draw(&drives)
    }
}

impl Face for ScreenFace {
    fn event(&mut self, _: &DriveWatch, _: &WatchEvent, _: &str) -> anyhow::Result<()> {
        Ok(())
    }

    fn second(&mut self, watches: &[DriveWatch], now_s: f64) -> anyhow::Result<()> {
        self.draw(watches, now_s)
    }

    fn terminal(&mut self, event: &Event, watches: &[DriveWatch], now_s: f64) -> bool {
        self.screen.state.heed(event, watches.len(), now_s) || self.draw(watches, now_s).is_err()
    }
}

/// A drive as the screen shows it.
fn screen_drive(watch: &DriveWatch, now_s: f64) -> ScreenDrive {
    let limits = watch.detector.limits;
    let named = [
        ("TMT1", limits.tmt1),
        ("TMT2", limits.tmt2),
        ("WCTEMP", limits.warning),
        ("CCTEMP", limits.critical),
    ];
    let seconds = |limit: Option<measure::Kelvin>| {
        watch.detector.seconds_to(limit?).filter(|seconds| *seconds < DAY_S / 24.0)
    };
    let mut figures = Vec::new();
    if let Some(second) = watch.second.filter(|_| watch.block.is_some()) {
        figures.push(("queue".to_owned(), format!("{:.1} ({} now)", second.queue, second.in_flight)));
        let latency = |name: &str, latency: Option<f64>| {
            latency.map(|s| (name.to_owned(), format!("{:.2} ms", s * 1e3)))
        };
        figures.extend(latency("read lat.", second.read.latency_s()));
        figures.extend(latency("write lat.", second.write.latency_s()));
    }
    if let Some(lost) = watch.detector.capacity_lost() {
        figures.push(("lost".to_owned(), format!("{:.0} % of speed", lost * 100.0)));
    }
    if let Some(log) = &watch.smart {
        figures
            .push(("TMT1 count".to_owned(), format!("{} x, {} s", log.tmt1_transitions, log.tmt1_seconds)));
        figures
            .push(("TMT2 count".to_owned(), format!("{} x, {} s", log.tmt2_transitions, log.tmt2_seconds)));
        figures.push(("hot".to_owned(), format!("{} + {} min", log.warning_minutes, log.critical_minutes)));
    }
    if let Some(slow) = watch.detector.slow() {
        figures.push(("cause".to_owned(), slow.cause.name().to_owned()));
    }
    if let Some(onset) = watch.onset_k {
        figures.push(("onset".to_owned(), measure::Kelvin::from_kelvin(onset).to_string()));
    }
    let throttled: f64 = watch
        .slow_seconds
        .iter()
        .filter(|(cause, _)| SlowCause::is_heat(**cause))
        .map(|(_, seconds)| seconds)
        .sum();
    figures.push(("throttled".to_owned(), format!("{:.0} s", throttled + 0.0)));
    let seconds_to = named
        .into_iter()
        .filter_map(|(name, limit)| seconds(limit).map(|seconds| (name.to_owned(), seconds)))
        .collect();
    ScreenDrive { live: watch.live(now_s), seconds_to, figures }
}

/// A drive in one line.
fn state_line(watch: &DriveWatch, now_s: f64) -> String {
    let rate = |rate: f64| BytesPerSec::new(rate).to_string();
    let mut parts = vec![clock(now_s + watch.epoch_s), watch.about.name().to_owned()];
    if watch.about.simulated {
        parts.push("simulated".to_owned());
    }
    parts.push(match watch.detector.slow() {
        Some(slow) => format!("{} ({})", watch.state(), slow.cause.name()),
        None => watch.state().to_owned(),
    });
    if let Some(second) = watch.second {
        parts.push(format!("read {}", rate(second.rate(&second.read))));
        parts.push(format!("write {}", rate(second.rate(&second.write))));
        if watch.block.is_some() {
            parts.push(format!("queue {:.1}", second.queue));
        }
    }
    parts.extend(watch.kelvin.map(|kelvin| kelvin.to_string()));
    parts.extend(watch.power.map(|power: Watts| power.to_string()));
    parts.join("  ")
}

/// An event with its time and drive: `14:02:11 nvme0n1: throttling by ...`.
pub(super) fn event_line(watch: &DriveWatch, event: &WatchEvent) -> String {
    let simulated = if watch.about.simulated { " (simulated)" } else { "" };
    format!("{} {}{simulated}: {}", clock(event.at_s), watch.about.name(), event.text)
}

/// The time of day in UTC; in simulated time since its beginning.
pub(crate) fn clock(at_s: f64) -> String {
    let seconds = at_s.max(0.0) as u64;
    let within = seconds % DAY_S as u64;
    format!("{:02}:{:02}:{:02}", within / 3600, within / 60 % 60, within % 60)
}

/// A span in words.
pub(super) fn span(span: Duration) -> String {
    humantime::format_duration(Duration::from_secs(span.as_secs_f64().round() as u64)).to_string()
}
