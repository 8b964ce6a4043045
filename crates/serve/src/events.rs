//! What a live page is sent, made once for all who look at the same run.
//!
//! A growing record is read anew each time, so a long run is read less often: at most a twentieth of a processor goes
//! into it, however many look.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use measure::record::LIVE_FILE;
use measure::{Clock as _, Instant, MonotonicClock};
use report::web::{self, LiveView};
use serde_json::{Value, json};

use crate::library::{OpenRun, RunLibrary};
use crate::{ServedState, live};

/// Between two events of a page.
pub(crate) const PERIOD: Duration = Duration::from_secs(1);
/// A little less than the period, so that a page never waits two of them.
const FRESH: Duration = Duration::from_millis(900);
/// A reading that took so long is made again after twenty times as long.
const SHARE: u32 = 20;
/// `live.json` is written once a second; one that is older than this is of a program that has ended.
const STALE_S: f64 = 30.0;
/// It has some drives and some minutes.
const LIVE_MAX: u64 = 8 << 20;

/// What was made of each run that somebody looks at.
pub(crate) struct LivePages {
    clock: MonotonicClock,
    made: Mutex<BTreeMap<String, Arc<Mutex<MadeEvent>>>>,
}

#[derive(Default)]
struct MadeEvent {
    due: Option<Instant>,
    text: Arc<str>,
}

impl LivePages {
    pub(crate) fn new() -> Self {
        Self { clock: MonotonicClock::start(), made: Mutex::default() }
    }

    /// The event of now, as one line of JSON; `None` where the run is gone, or where its first is being made elsewhere.
    pub(crate) fn event(&self, library: &RunLibrary, id: &str) -> Option<Arc<str>> {
        let slot = {
            let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            // Runs that nobody looks at any more.
            made.retain(|_, slot| {
                Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|slot| self.is_fresh(&slot))
            });
            Arc::clone(made.entry(id.to_owned()).or_default())
        };
        let mut slot = match slot.try_lock() {
            Ok(slot) => slot,
            // Somebody makes it: next time.
            Err(TryLockError::WouldBlock) => return None,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        if !self.is_fresh(&slot) {
            let began = self.clock.now();
            slot.text = event(library, id)?.to_string().into();
            let now = self.clock.now();
            slot.due = Some(now + FRESH.max(now.since(began) * SHARE));
        }
        Some(Arc::clone(&slot.text))
    }

    fn is_fresh(&self, slot: &MadeEvent) -> bool {
        slot.due.is_some_and(|due| self.clock.now() < due)
    }
}

fn event(library: &RunLibrary, id: &str) -> Option<Value> {
    let run = library.run(id)?;
    let (views, note) =
        views(library, &run).map_or_else(|why| (Vec::new(), Some(why)), |views| (views, None));
    let drives: Vec<Value> = views
        .iter()
        .map(|view| json!({"title": view.title, "badge": view.badge, "now": view.now, "sentences": view.sentences}))
        .collect();
    Some(json!({
        "state": run.run.state,
        "note": note,
        "drives": drives,
        "charts": views.into_iter().map(|view| view.chart).collect::<Vec<_>>(),
    }))
}

/// A run as it is now: what is written about it each second, else what its record holds so far.
///
/// # Errors
/// Why nothing can be shown of it.
pub(crate) fn views(library: &RunLibrary, run: &OpenRun) -> Result<Vec<LiveView>, String> {
    let stamp = run.folder.stamp(LIVE_FILE);
    let age_s =
        stamp.map(|stamp| (measure::time::wall_unix_ns() as i128 - stamp.modified_unix_ns) as f64 / 1e9);
    if let Some(age_s) = age_s.filter(|age_s| *age_s < STALE_S && run.run.state != ServedState::Done) {
        let text = run
            .folder
            .read(LIVE_FILE, LIVE_MAX)
            .map_err(|error| format!("live.json cannot be read: {error}"))?;
        return live::views(&text, age_s.max(0.0));
    }
    if let Some(why) = run.refusal() {
        return Err(why);
    }
    let input = library.pages().so_far(&run.run.folder, &run.folder.path())?;
    Ok(vec![web::live_run(&input, &live::chart_id(0))])
}
