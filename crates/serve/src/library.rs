//! The runs in the served folder. What is known of each is kept until one of its files changes, so that a list of a
//! thousand runs costs a few calls of stat(2) a run.
//!
//! A run goes by an id, the hash of its path: nothing that a request holds is ever made into a path.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use measure::record::LIVE_FILE;
use sha2::{Digest as _, Sha256};

use crate::admit::hex;
use crate::folder::{FileStamp, OpenFolder};
use crate::{LIBRARY_SCHEMA, RunPages, RunSummary, ServedLibrary, ServedRun, ServedState};

/// Folders within folders that are looked into: a library, its sweeps, their runs; as `heatsoak runs` does.
const DEPTH: usize = 3;
/// Folders and runs beyond these are not listed: the list says so.
const FOLDERS_MAX: usize = 50_000;
const RUNS_MAX: usize = 10_000;
/// How a sweep names what happens between two of its runs.
const BETWEEN: &str = "between-";
/// A manifest has some hundred kilobytes at most, findings a few megabytes.
const TEXT_MAX: u64 = 32 << 20;
/// A table beyond this is not made a page of while somebody waits.
const TABLE_MAX: u64 = 4 << 30;
/// A record that was not written to for so long is nobody's any more: it is flushed four times a second, and readings of
/// an idle drive come once a minute.
const QUIET_NS: i128 = 90_000_000_000;

/// What a run folder holds that readers of records open.
const RECORD: [&str; 10] = [
    "manifest.json",
    "findings.json",
    "io.arrow",
    "telemetry.arrow",
    "smart.arrow",
    "ops.arrow",
    "io.parquet",
    "telemetry.parquet",
    "smart.parquet",
    "ops.parquet",
];

/// The runs of a folder.
pub(crate) struct RunLibrary {
    root: OpenFolder,
    pages: Arc<dyn RunPages>,
    known: Mutex<BTreeMap<PathBuf, (RunStamps, RunSummary)>>,
    /// Paths by id, of the last list.
    by_id: Mutex<BTreeMap<String, PathBuf>>,
}

/// A run that was asked for, its folder open.
pub(crate) struct OpenRun {
    pub(crate) run: ServedRun,
    pub(crate) folder: OpenFolder,
    /// Changes with whatever a page is made of.
    pub(crate) stamps: RunStamps,
}

/// About the files of a run folder, those of the record and then [`LIVE_FILE`] and `report.html`.
pub(crate) type RunStamps = Vec<Option<FileStamp>>;

impl RunLibrary {
    /// Opens the folder.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn open(dir: &Path, pages: Arc<dyn RunPages>) -> io::Result<Self> {
        let root = OpenFolder::named(dir)?;
        Ok(Self { root, pages, known: Mutex::default(), by_id: Mutex::default() })
    }

    /// What makes pages of runs.
    pub(crate) fn pages(&self) -> &dyn RunPages {
        &*self.pages
    }

    /// The runs as they are now.
    pub(crate) fn list(&self) -> ServedLibrary {
        let mut found = RunSearch::default();
        found.look(&self.root, Path::new(""), DEPTH);
        let mut runs = self.describe_all(&found.runs);
        let first =
            |run: &ServedRun| (run.state != ServedState::UnderWay, std::cmp::Reverse(run.began_unix_s));
        runs.sort_by(|a, b| first(a).cmp(&first(b)).then_with(|| a.folder.cmp(&b.folder)));
        let by_id = found.runs.iter().map(|path| (id(path), path.clone())).collect();
        *self.by_id.lock().unwrap_or_else(PoisonError::into_inner) = by_id;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).retain(|path, _| found.runs.contains(path));
        let left_out = found.too_many.then(|| {
            format!("More than {FOLDERS_MAX} folders or {RUNS_MAX} runs: serve a part of them, the others are not listed")
        });
        ServedLibrary { schema: LIBRARY_SCHEMA, runs, left_out }
    }

    /// The run of that id; `None` where there is none.
    pub(crate) fn run(&self, id: &str) -> Option<OpenRun> {
        let known = || self.by_id.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        let path = known().or_else(|| {
            // Made since the last list.
            self.list();
            known()
        })?;
        self.describe(&path).ok()
    }

    /// What all of them are, read by as many threads as there are processors: the first list of a library is what somebody
    /// waits for.
    fn describe_all(&self, paths: &[PathBuf]) -> Vec<ServedRun> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let share = paths.len().div_ceil(threads).max(1);
        let described = |share: &[PathBuf]| -> Vec<ServedRun> {
            share.iter().filter_map(|path| self.describe(path).ok()).map(|run| run.run).collect()
        };
        thread::scope(|scope| {
            let shares: Vec<_> =
                paths.chunks(share).map(|share| scope.spawn(move || described(share))).collect();
            // A thread that panicked leaves its runs out of this list; summaries catch their own panics.
            shares.into_iter().flat_map(|share| share.join().unwrap_or_default()).collect()
        })
    }

    /// What a run is, from what is known of it where its files are the same.
    fn describe(&self, path: &Path) -> io::Result<OpenRun> {
        let folder = self.root.inside(path)?;
        let stamps: RunStamps =
            RECORD.iter().chain(&[LIVE_FILE, "report.html"]).map(|name| folder.stamp(name)).collect();
        // The series grow all the time, and a summary does not depend on them.
        let key: RunStamps = stamps[..2].to_vec();
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let of_before = known().get(path).filter(|(old, _)| *old == key).map(|(_, summary)| summary.clone());
        // Not while the lock is held: others are read meanwhile.
        let summary = of_before.unwrap_or_else(|| {
            let summary = self.summary(&folder, &stamps);
            known().insert(path.to_owned(), (key, summary.clone()));
            summary
        });
        let written = stamps[2..].iter().flatten().map(|stamp| stamp.modified_unix_ns).max();
        let age_ns = written.map(|written| measure::time::wall_unix_ns() as i128 - written);
        let state = match summary.has_ended {
            true => ServedState::Done,
            false if age_ns.is_some_and(|age| age < QUIET_NS) => ServedState::UnderWay,
            false => ServedState::Unfinished,
        };
        let verdict = match state {
            ServedState::UnderWay => "under way".to_owned(),
            _ => summary.verdict,
        };
        let name = match path.to_string_lossy() {
            name if name.is_empty() => ".".to_owned(),
            name => name.into_owned(),
        };
        let run = ServedRun {
            id: id(path),
            folder: name,
            drive: summary.drive,
            plan: summary.plan,
            began_unix_s: summary.began_unix_s,
            simulated: summary.simulated,
            verdict,
            state,
        };
        Ok(OpenRun { run, folder, stamps })
    }

    fn summary(&self, folder: &OpenFolder, stamps: &RunStamps) -> RunSummary {
        let unreadable = |why: &str| RunSummary {
            drive: "-".to_owned(),
            plan: "-".to_owned(),
            verdict: why.to_owned(),
            has_ended: true,
            ..RunSummary::default()
        };
        if let Some(why) = refusal(folder, stamps, 2) {
            return unreadable(&why);
        }
        let path = folder.path();
        let described = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.pages.describe(&path)));
        described.unwrap_or_else(|_| unreadable("unreadable manifest"))
    }
}

impl OpenRun {
    /// Why no page is made of it; `None` where one can be.
    pub(crate) fn refusal(&self) -> Option<String> {
        refusal(&self.folder, &self.stamps, RECORD.len())
    }
}

/// Why the first files of a record are not read.
fn refusal(folder: &OpenFolder, stamps: &RunStamps, count: usize) -> Option<String> {
    for (name, stamp) in RECORD.iter().zip(stamps).take(count) {
        let most = if name.ends_with(".json") { TEXT_MAX } else { TABLE_MAX };
        match stamp {
            Some(stamp) if stamp.bytes > most => return Some(format!("{name} is too large to be read here")),
            None if folder.is_trap(name) => return Some(format!("{name} is no file")),
            _ => {}
        }
    }
    None
}

/// Where runs are.
#[derive(Default)]
struct RunSearch {
    runs: Vec<PathBuf>,
    folders: usize,
    too_many: bool,
}

impl RunSearch {
    fn look(&mut self, folder: &OpenFolder, path: &Path, depth: usize) {
        if folder.stamp("manifest.json").is_some() {
            if self.runs.len() >= RUNS_MAX {
                self.too_many = true;
            } else {
                self.runs.push(path.to_owned());
            }
            return;
        }
        if depth == 0 {
            return;
        }
        // A folder that may not be read holds no runs of ours to list.
        let names = folder.folders(FOLDERS_MAX).unwrap_or_default();
        for name in names.into_iter().filter(|name| !name.as_bytes().starts_with(BETWEEN.as_bytes())) {
            self.folders += 1;
            if self.folders > FOLDERS_MAX {
                self.too_many = true;
                return;
            }
            if let Ok(inner) = folder.inside(Path::new(&name)) {
                self.look(&inner, &path.join(&name), depth - 1);
            }
        }
    }
}

/// The id of a run: 96 bits of the hash of its path.
fn id(path: &Path) -> String {
    hex(&Sha256::digest(path.as_os_str().as_bytes())[..12])
}
