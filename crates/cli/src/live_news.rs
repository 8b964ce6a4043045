//! A live face on another machine (`--on`): the side of the drive prints once a second what is new of it, as a line of
//! JSON, and the other side shows it as it shows drives of its own.
//!
//! News and no state: an hour of history a second would be more than the record itself.

use serde::{Deserialize, Serialize};
use watch::LiveDrive;
use watch::live::{EVENTS_MAX, RECENT_MAX};

use crate::printer::Printer;
use crate::screen::ScreenDrive;

/// What a second brought.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LiveNews {
    /// Since the loop began.
    pub(crate) now_s: f64,
    /// The drives, with the last point and new events alone.
    pub(crate) drives: Vec<ScreenDrive>,
    /// The same for where there is no screen.
    pub(crate) lines: Vec<String>,
}

impl LiveNews {
    /// As a line on standard output, which is the pipe to the other side.
    ///
    /// # Errors
    /// When nobody reads it any more.
    pub(crate) fn tell(&self, printer: &mut Printer) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(printer.bytes(&line)?)
    }
}

/// Leaves what is new since `told_until_s`, and says until when it tells.
pub(crate) fn keep_news(live: &mut LiveDrive, told_until_s: f64) -> f64 {
    live.events.retain(|event| event.told_s > told_until_s);
    live.recent = live.recent.pop().into_iter().collect();
    live.events.iter().map(|event| event.told_s).fold(told_until_s, f64::max)
}

/// What all news together have told of the drives.
#[derive(Debug, Default)]
pub(crate) struct DrivesThere {
    pub(crate) drives: Vec<ScreenDrive>,
    pub(crate) now_s: f64,
}

impl DrivesThere {
    /// Adds what a second brought.
    pub(crate) fn take(&mut self, news: Vec<ScreenDrive>, now_s: f64) {
        self.now_s = now_s;
        for (index, mut drive) in news.into_iter().enumerate() {
            let Some(known) = self.drives.get_mut(index) else {
                self.drives.push(drive);
                continue;
            };
            drive.live.recent = joined(std::mem::take(&mut known.live.recent), drive.live.recent, RECENT_MAX);
            drive.live.events = joined(std::mem::take(&mut known.live.events), drive.live.events, EVENTS_MAX);
            *known = drive;
        }
    }
}

/// The last `most` of both.
fn joined<T>(mut before: Vec<T>, new: Vec<T>, most: usize) -> Vec<T> {
    before.extend(new);
    let over = before.len().saturating_sub(most);
    before.drain(..over);
    before
}

#[cfg(test)]
mod test {
    use watch::{LiveLimits, LivePoint};

    use super::*;

    fn second(t_s: f64) -> ScreenDrive {
        let point =
            LivePoint { t_s, read_bytes_per_s: Some(1e9), write_bytes_per_s: None, temperature_k: Some(320) };
        let live = LiveDrive {
            address: "/dev/nvme0n1".to_owned(),
            model: None,
            serial: None,
            simulated: None,
            age_s: Some(0.0),
            temperature_k: Some(320),
            limits_k: LiveLimits::default(),
            read_bytes_per_s: Some(1e9),
            write_bytes_per_s: None,
            power_w: None,
            state: None,
            events: Vec::new(),
            recent: vec![point],
        };
        ScreenDrive { live, seconds_to: Vec::new(), figures: Vec::new() }
    }

    /// Goal: whatever time it takes, the history here is that of the last hour. Method: more news than an hour has seconds.
    #[test]
    fn news_become_the_last_hour() {
        let mut there = DrivesThere::default();
        for t in 0..RECENT_MAX + 50 {
            there.take(vec![second(t as f64)], t as f64);
        }
        let recent = &there.drives[0].live.recent;
        assert_eq!((recent.len(), recent[0].t_s), (RECENT_MAX, 50.0));
        let mut live = there.drives[0].live.clone();
        assert_eq!(keep_news(&mut live, 3.0), 3.0);
        assert_eq!(live.recent.last(), recent.last());
        assert_eq!(live.recent.len(), 1);
    }
}
