//! `score watch`: the sliding verdict of `heatsoak watch` on simulated days of production-like load whose truth is known.
//!
//! The days ([`day`]) share nothing with the detector: they have queues, a thermal model, throttle machines and caches of
//! their own, and hand over what the kernel and the drive would show - counters and whole kelvins - and no more.
//! Episodes of throttling less than [`MERGE_S`] apart are one, as told and as true.

mod day;

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use day::{Day, SecretKind};
use watch::WatchEventKind;

/// Days that are scored.
const DAYS: u64 = 300;
/// Pauses of throttling up to this long belong to one episode: a relay goes on and off.
const MERGE_S: f64 = 60.0;
/// An alarm may come so much after the end of an episode, which the counters still show.
const AFTER_S: f64 = 15.0;
/// One for each core of a small machine.
const THREADS: usize = 2;

/// What the days showed.
#[derive(Clone, Debug, Default)]
struct WatchTally {
    hours: f64,
    found: u64,
    missed: u64,
    false_alarms: u64,
    /// Seconds from onset to alarm.
    delays: Vec<f64>,
    /// Alarms whose cause is not the true one, though heat it was.
    wrong_threshold: u64,
}

impl WatchTally {
    fn add(&mut self, other: Self) {
        self.hours += other.hours;
        self.found += other.found;
        self.missed += other.missed;
        self.false_alarms += other.false_alarms;
        self.wrong_threshold += other.wrong_threshold;
        self.delays.extend(other.delays);
    }

    fn f1(&self) -> f64 {
        let hits = 2.0 * self.found as f64;
        hits / (hits + (self.missed + self.false_alarms) as f64).max(1.0)
    }

    fn delay(&mut self, quantile: f64) -> f64 {
        self.delays.sort_by(f64::total_cmp);
        let last = self.delays.len().saturating_sub(1);
        self.delays.get((last as f64 * quantile).round() as usize).copied().unwrap_or(f64::NAN)
    }
}

/// A true episode, in seconds: begin, end, whether it could be seen, when it first could.
#[derive(Clone, Copy, Debug)]
struct TrueEpisode {
    start_s: f64,
    end_s: f64,
    seen_s: Option<f64>,
}

/// Scores; the table as text.
///
/// # Errors
/// What is wrong with what was typed.
pub(crate) fn run(mut typed: impl Iterator<Item = String>) -> Result<String, String> {
    let (mut days, mut first, mut show) = (DAYS, 0, None);
    while let Some(word) = typed.next() {
        let number = typed.next().and_then(|number| number.parse().ok());
        match (word.as_str(), number) {
            ("--days", Some(number)) => days = number,
            ("--first", Some(number)) => first = number,
            ("--show", Some(number)) => show = Some(number),
            _ => return Err(format!("{word:?} is none of --days N, --first N, --show N")),
        }
    }
    if let Some(number) = show {
        return Ok(shown(number));
    }
    let next = AtomicU64::new(0);
    let part = || {
        let mut tallies: [WatchTally; 4] = Default::default();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= days {
                return tallies;
            }
            let (kind, tally) = judged(first + index, None);
            tallies[kind as usize].add(tally);
        }
    };
    let parts: Vec<[WatchTally; 4]> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(part)).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    let mut tallies: [WatchTally; 4] = Default::default();
    for part in parts {
        for (tally, one) in tallies.iter_mut().zip(part) {
            tally.add(one);
        }
    }
    Ok(table(tallies, days))
}

fn table(mut tallies: [WatchTally; 4], days: u64) -> String {
    let mut text = format!("{days} simulated days, verdicts of `heatsoak watch`, throttle onsets:\n");
    let _ = writeln!(
        text,
        "{:<28} {:>7} {:>6} {:>6} {:>6} {:>6} {:>8} {:>7} {:>7}",
        "days", "hours", "found", "missed", "false", "F1", "false/h", "median", "p90"
    );
    let mut all = WatchTally::default();
    for (name, tally) in SecretKind::NAMES.iter().zip(&mut tallies) {
        all.add(tally.clone());
        line(&mut text, name, tally);
    }
    line(&mut text, "all", &mut all);
    text
}

fn line(text: &mut String, name: &str, tally: &mut WatchTally) {
    let (median, late) = (tally.delay(0.5), tally.delay(0.9));
    let _ = writeln!(
        text,
        "{name:<28} {:>7.0} {:>6} {:>6} {:>6} {:>6.3} {:>8.4} {median:>6.1}s {late:>6.1}s",
        tally.hours,
        tally.found,
        tally.missed,
        tally.false_alarms,
        tally.f1(),
        tally.false_alarms as f64 / tally.hours.max(1.0),
    );
}

fn shown(number: u64) -> String {
    let mut log = String::new();
    let (kind, tally) = judged(number, Some(&mut log));
    format!("day {number}, {}: {tally:?}\n{log}", SecretKind::NAMES[kind as usize])
}

/// One day: what was told against what was true.
fn judged(number: u64, mut log: Option<&mut String>) -> (SecretKind, WatchTally) {
    let mut day = Day::new(number);
    let mut watch = day.watch();
    let mut alarms: Vec<f64> = Vec::new();
    let mut episodes: Vec<TrueEpisode> = Vec::new();
    while let Some(second) = day.next_second() {
        for row in &second.rows {
            for event in watch.reading(row, None).events {
                if let Some(log) = log.as_deref_mut() {
                    let _ = writeln!(
                        log,
                        "  told {:>8.0} (of {:>8.0}) {:?} {}",
                        event.told_s, event.at_s, event.kind, event.text
                    );
                }
                if event.kind == WatchEventKind::ThrottleOnset {
                    alarms.push(event.told_s);
                }
            }
        }
        if second.throttled {
            let seen_s = second.visible.then_some(second.t_s);
            match episodes.last_mut() {
                Some(last) if second.t_s - last.end_s <= MERGE_S => {
                    last.end_s = second.t_s;
                    last.seen_s = last.seen_s.or(seen_s);
                }
                _ => episodes.push(TrueEpisode { start_s: second.t_s, end_s: second.t_s, seen_s }),
            }
        }
    }
    if let Some(log) = log {
        for episode in &episodes {
            let _ = writeln!(
                log,
                "  true {:>8.0} to {:>8.0}, to be seen from {:?}",
                episode.start_s, episode.end_s, episode.seen_s
            );
        }
    }
    (day.kind(), matched(&episodes, &alarms, day.hours()))
}

fn matched(episodes: &[TrueEpisode], alarms: &[f64], hours: f64) -> WatchTally {
    let mut tally = WatchTally { hours, ..WatchTally::default() };
    let within = |episode: &TrueEpisode, alarm: f64| {
        alarm >= episode.start_s - 1.0 && alarm <= episode.end_s + AFTER_S
    };
    for episode in episodes {
        let first = alarms.iter().copied().find(|alarm| within(episode, *alarm));
        match (first, episode.seen_s) {
            (Some(alarm), seen) => {
                tally.found += 1;
                tally.delays.push((alarm - seen.unwrap_or(episode.start_s)).max(0.0));
            }
            (None, Some(_)) => tally.missed += 1,
            // Nobody asked anything of the drive while it was throttled, and no counter told.
            (None, None) => {}
        }
    }
    let mut last = f64::NEG_INFINITY;
    for alarm in alarms {
        if !episodes.iter().any(|episode| within(episode, *alarm)) && alarm - last > MERGE_S {
            tally.false_alarms += 1;
            last = *alarm;
        }
    }
    tally
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: the numbers in `docs/ACCURACY.md` do not rot, at a cost that each test run can bear. The targets are those of
    /// 300 days; so few days have wider limits.
    #[test]
    fn a_dozen_days_are_judged_right() {
        let mut all = WatchTally::default();
        for number in 1000..1012 {
            all.add(judged(number, None).1);
        }
        assert!(all.found >= 20, "{all:?}");
        assert!(all.f1() >= 0.85 && all.false_alarms <= 12 && all.delay(0.5) < 10.0, "{all:?}");
    }

    /// Goal: steps of demand alone are never taken for throttling. Method: days on which nothing throttles.
    #[test]
    fn demand_alone_raises_no_alarm() {
        let calm: Vec<u64> =
            (2000..2060).filter(|number| Day::new(*number).kind() == SecretKind::Calm).take(4).collect();
        let alarms: u64 = calm.into_iter().map(|number| judged(number, None).1.false_alarms).sum();
        assert!(alarms <= 1, "{alarms}");
    }

    #[test]
    fn alarms_are_matched_to_episodes() {
        let episode = |start_s: f64, end_s: f64, seen_s| TrueEpisode { start_s, end_s, seen_s };
        let episodes = [
            episode(100.0, 200.0, Some(110.0)),
            episode(500.0, 600.0, Some(500.0)),
            episode(900.0, 950.0, None),
        ];
        let tally = matched(&episodes, &[114.0, 150.0, 300.0, 310.0], 1.0);
        assert_eq!((tally.found, tally.missed, tally.false_alarms), (1, 1, 1));
        assert_eq!(tally.delays, [4.0]);
    }
}
