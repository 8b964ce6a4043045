//! The record of a watch: a folder of run folders, the oldest of which are deleted.
//!
//! `watch.json` in it lists the parts, and only what it lists is ever deleted: a folder that a watch has written, file by
//! file by their names. Whatever else lies in the folder stays.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, bail};
use capture::session::draft_manifest;
use measure::record::{
    ClockAnchor, DriveFacts, End, EndReason, IoRow, Manifest, Origin, RunWriter, SmartRow, TelemetryRow,
    ThermalSettings, read_manifest, write_whole,
};
use measure::{Bytes, Instant};
use plan::{Phase, Plan};
use serde::{Deserialize, Serialize};
use watch::{ClosedPart, KeepRule, WatchEvent};

/// The list of parts.
const INDEX: &str = "watch.json";
/// Name of the plan of such a record: there is none.
const PLAN: &str = "watch";
/// Rows wait at most this long in memory: a hundredth of the space of a stream that is flushed four times a second.
const FLUSH_SPAN: Duration = Duration::from_secs(5);
/// What a reader of such a record has to know first.
const UNPLANNED: &str = "watched under the load of others: nobody knows what was asked of the drive, so a lower speed alone \
    does not show that it was slowed down";
/// Events that a part's notes name.
const NOTES_MAX: usize = 200;

/// The folder of a watch.
pub(super) struct WatchFolder {
    dir: PathBuf,
    rule: KeepRule,
    index: Index,
}

/// `watch.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Index {
    schema: u32,
    parts: Vec<IndexedPart>,
}

/// A part that was begun.
#[derive(Debug, Serialize, Deserialize)]
struct IndexedPart {
    /// Its folder, directly in the watch's.
    name: String,
    /// Seconds since 1970; 0 in simulated time.
    began_unix_s: f64,
    /// `null` while it is under way, or when it was killed.
    ended_unix_s: Option<f64>,
    /// Bytes of the closed part.
    bytes: u64,
}

impl WatchFolder {
    /// Takes `dir`: a new folder, or that of an earlier watch.
    ///
    /// # Errors
    /// When it is somebody else's, or the system refuses.
    pub(super) fn open(dir: &Path, keep: Duration, max: Bytes) -> anyhow::Result<Self> {
        let rule = KeepRule { keep, bytes_max: max.as_u64() };
        let path = dir.join(INDEX);
        let mut index = Index { schema: 1, parts: Vec::new() };
        if path.exists() {
            let text = measure::input::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            index = serde_json::from_str(&text).with_context(|| {
                format!(
                    "cannot go on with the watch in {}: {INDEX} is damaged; name another folder with --out",
                    dir.display()
                )
            })?;
            for part in index.parts.iter_mut().filter(|part| part.ended_unix_s.is_none()) {
                // It was killed. It ended after it began: what is kept of it is kept too short rather than for ever.
                (part.ended_unix_s, part.bytes) =
                    (Some(part.began_unix_s), folder_bytes(&dir.join(&part.name)));
            }
        } else if fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
            bail!(
                "cannot watch into {}: it is not empty and no watch wrote it; name another folder with --out",
                dir.display()
            );
        }
        fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
        let folder = Self { dir: dir.to_owned(), rule, index };
        folder.write_index()?;
        Ok(folder)
    }

    /// The folder.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    fn write_index(&self) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(&self.index)?;
        Ok(write_whole(&self.dir.join(INDEX), text.as_bytes())?)
    }

    /// Begins a part at `t`, which is `wall_unix_ns` on the wall clock.
    pub(super) fn begin(
        &mut self,
        about: &PartFacts,
        t: Instant,
        wall_unix_ns: i64,
    ) -> anyhow::Result<PartWriter> {
        let seconds = wall_unix_ns as f64 / 1e9;
        let utc = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(seconds.max(0.0));
        let stamp = humantime::format_rfc3339_seconds(utc).to_string().replace(':', "-");
        let base = format!("{}-{stamp}", crate::run_folder::plain(&about.address));
        let free = |name: &String| !self.dir.join(name).exists();
        let mut names = std::iter::once(base.clone()).chain((2..).map(|number| format!("{base}-{number}")));
        let name = names.find(free).unwrap_or(base);
        let writer = RunWriter::create(&self.dir.join(&name), manifest(about, wall_unix_ns), false)?;
        self.index.parts.push(IndexedPart {
            name: name.clone(),
            began_unix_s: seconds,
            ended_unix_s: None,
            bytes: 0,
        });
        self.write_index()?;
        Ok(PartWriter { writer, name, begun: t, flushed: t, notes: Vec::new() })
    }

    /// Closes a part at `t`, and deletes what is too old or too much.
    pub(super) fn end(&mut self, mut part: PartWriter, t: Instant, wall_unix_ns: i64) -> anyhow::Result<()> {
        let end_ns = t.since(part.begun).as_nanos() as u64;
        let notes = std::mem::take(&mut part.notes);
        part.writer.update_manifest(|manifest| {
            manifest.notes.extend(notes);
            for phase in &mut manifest.phases {
                (phase.end_ns, phase.ended_by) = (Some(end_ns), Some("duration".to_owned()));
            }
        })?;
        let folder = part.writer.close(End { reason: EndReason::Completed, t_ns: end_ns, detail: None })?;
        let now_s = wall_unix_ns as f64 / 1e9;
        if let Some(entry) = self.index.parts.iter_mut().find(|entry| entry.name == part.name) {
            (entry.ended_unix_s, entry.bytes) = (Some(now_s), folder_bytes(&folder));
        }
        self.delete_old(now_s);
        self.write_index()
    }

    fn delete_old(&mut self, now_s: f64) {
        let closed = |part: &IndexedPart| {
            let age = Duration::try_from_secs_f64(now_s - part.ended_unix_s?).unwrap_or_default();
            Some(ClosedPart { name: part.name.clone(), age, bytes: part.bytes })
        };
        let closed: Vec<ClosedPart> = self.index.parts.iter().filter_map(closed).collect();
        let delete = self.rule.to_delete(&closed);
        for name in &delete {
            delete_part(&self.dir, name);
        }
        self.index.parts.retain(|part| !delete.contains(&part.name) || self.dir.join(&part.name).exists());
    }
}

/// Deletes a folder that a watch has written: known files by their names, then the folder if nothing else is in it.
fn delete_part(dir: &Path, name: &str) {
    let folder = dir.join(name);
    let is_name = Path::new(name).components().count() == 1 && !name.starts_with('.');
    // Neither a link to elsewhere nor a run that somebody put here.
    let is_ours = is_name
        && fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_dir())
        && read_manifest(&folder).is_ok_and(|manifest| manifest.plan_name == PLAN);
    if !is_ours {
        return;
    }
    // The manifest last: until then it is a run folder that says what it is. What cannot be deleted stays listed.
    let tables = ["io", "telemetry", "smart"].into_iter();
    let files = tables.flat_map(|table| [format!("{table}.parquet"), format!("{table}.arrow")]);
    for file in files.chain(["findings.json", "report.html", "manifest.json"].map(str::to_owned)) {
        let _ = fs::remove_file(folder.join(file));
    }
    let _ = fs::remove_dir(&folder);
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// What a part says of its drive.
#[derive(Clone, Debug)]
pub(super) struct PartFacts {
    pub(super) address: String,
    pub(super) facts: DriveFacts,
    pub(super) origin: Origin,
    pub(super) settings: ThermalSettings,
    pub(super) interval: Duration,
    pub(super) notes: Vec<String>,
    pub(super) power: Vec<plan::MeterAddress>,
}

fn manifest(about: &PartFacts, wall_unix_ns: i64) -> Manifest {
    let mut plan = Plan::new(PLAN);
    plan.description = "watched under the load of others".to_owned();
    plan.phases = vec![Phase::idle(PLAN, Duration::ZERO)];
    plan.interval = about.interval;
    plan.telemetry.power.clone_from(&about.power);
    let mut manifest = draft_manifest(&plan, &about.address, about.origin.clone(), about.facts.clone());
    let is_twin = matches!(about.origin, Origin::Twin { .. });
    manifest.host = (!is_twin).then(crate::host::facts);
    manifest.stop_at_k = None;
    manifest.settings.before = about.settings.clone();
    manifest.clock_anchor = ClockAnchor { wall_unix_ns, monotonic_ns: None };
    manifest.notes = vec![UNPLANNED.to_owned()];
    manifest.notes.extend_from_slice(&about.notes);
    for phase in &mut manifest.phases {
        phase.ops = ["read", "write", "trim"].map(str::to_owned).to_vec();
        phase.what = "load of others, which nobody planned".to_owned();
        phase.start_ns = Some(0);
    }
    manifest
}

/// A part under way.
pub(super) struct PartWriter {
    writer: RunWriter,
    name: String,
    begun: Instant,
    flushed: Instant,
    notes: Vec<String>,
}

impl PartWriter {
    /// Whether it is as long as a part is.
    pub(super) fn is_due(&self, folder: &WatchFolder, now: Instant) -> bool {
        now.since(self.begun) >= folder.rule.part()
    }

    fn in_part(&self, t: Instant) -> Instant {
        Instant::from_ns(t.since(self.begun).as_nanos() as u64)
    }

    /// Adds a reading.
    pub(super) fn reading(&mut self, row: &TelemetryRow, page: Option<&SmartRow>) -> anyhow::Result<()> {
        let t = self.in_part(row.t);
        self.writer.push_telemetry(TelemetryRow { t, ..row.clone() })?;
        if let Some(page) = page {
            self.writer.push_smart(SmartRow { t, ..page.clone() })?;
        }
        Ok(())
    }

    /// Adds what others did to the drive.
    pub(super) fn io(&mut self, rows: Vec<IoRow>) -> anyhow::Result<()> {
        for row in rows {
            let end = row.t + row.span;
            let t = self.in_part(row.t);
            let span = self.in_part(end).since(t);
            if !span.is_zero() {
                self.writer.push_io(IoRow { t, span, ..row })?;
            }
        }
        Ok(())
    }

    /// Notes an event.
    pub(super) fn event(&mut self, event: &WatchEvent, text: String) {
        let _ = event;
        if self.notes.len() < NOTES_MAX {
            self.notes.push(text);
        } else if self.notes.len() == NOTES_MAX {
            self.notes.push("further events of this part are not listed".to_owned());
        }
    }

    /// Hands waiting rows to the kernel every few seconds.
    pub(super) fn flush_if_due(&mut self, now: Instant) -> anyhow::Result<()> {
        if now.since(self.flushed) >= FLUSH_SPAN {
            self.flushed = now;
            self.writer.flush()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod test {
    use drive::system::unknown_drive;
    use measure::record::Op;
    use measure::{Histogram, Kelvin};

    use super::*;

    fn about() -> PartFacts {
        PartFacts {
            address: "/dev/nvme0n1".to_owned(),
            facts: unknown_drive("nvme", Bytes::new(1 << 40), 512),
            origin: Origin::Device,
            settings: ThermalSettings::default(),
            interval: Duration::from_secs(1),
            notes: Vec::new(),
            power: Vec::new(),
        }
    }

    /// Goal: a week takes no more space than was allowed, every part reads, and what is not ours stays. Method: hours
    /// of rows every 10 s in virtual time.
    #[test]
    fn a_week_is_bounded_and_readable() {
        let parent = tempfile::tempdir().expect("a scratch folder");
        let dir = parent.path().join("watch");
        let keep = Duration::from_secs(24 * 3600);
        let mut folder = WatchFolder::open(&dir, keep, Bytes::new(1 << 30)).expect("a new folder");
        fs::create_dir(dir.join("mine")).expect("a folder");
        let at = |s: u64| Instant::from_ns(s * 1_000_000_000);
        let wall = |s: u64| (1_800_000_000 + s) as i64 * 1_000_000_000;
        let mut part = folder.begin(&about(), at(0), wall(0)).expect("a part");
        for s in (10..=7 * 86_400).step_by(10) {
            let mut row = TelemetryRow::empty(at(s), "smart", Duration::from_micros(90));
            row.composite = Some(Kelvin::from_kelvin(318));
            part.reading(&row, None).expect("space");
            let io = IoRow {
                t: at(s - 10),
                span: Duration::from_secs(10),
                phase: 0,
                op: Op::Read,
                bytes: Bytes::new(s),
                ios: 1,
                errors: 0,
                slat: Histogram::new(),
                clat: Histogram::new(),
            };
            part.io(vec![io]).expect("space");
            if part.is_due(&folder, at(s)) {
                folder.end(part, at(s), wall(s)).expect("space");
                part = folder.begin(&about(), at(s), wall(s)).expect("a part");
            }
        }
        folder.end(part, at(7 * 86_400), wall(7 * 86_400)).expect("space");
        let parts: Vec<PathBuf> = fs::read_dir(&dir)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.is_dir() && !path.ends_with("mine"))
            .collect();
        assert!((24..=26).contains(&parts.len()), "{}", parts.len());
        for part in &parts {
            let record = measure::record::read(part).expect("a part reads");
            assert!(
                record.io.iter().all(|row| row.span == Duration::from_secs(10)) && record.lost.is_empty()
            );
        }
        assert!(dir.join("mine").exists());
    }

    #[test]
    fn a_folder_of_somebody_else_is_refused_and_a_killed_watch_goes_on() {
        let parent = tempfile::tempdir().expect("a scratch folder");
        fs::write(parent.path().join("letter.txt"), "dear").expect("space");
        let keep = Duration::from_secs(3600);
        let refused =
            WatchFolder::open(parent.path(), keep, Bytes::new(1)).map(|_| ()).expect_err("not ours");
        assert!(refused.to_string().contains("no watch wrote it"), "{refused}");
        let dir = parent.path().join("watch");
        let mut folder = WatchFolder::open(&dir, keep, Bytes::new(1 << 20)).expect("a new folder");
        drop(folder.begin(&about(), Instant::ZERO, 0).expect("a part"));
        let again = WatchFolder::open(&dir, keep, Bytes::new(1 << 20)).expect("the same folder");
        assert!(again.index.parts.iter().all(|part| part.ended_unix_s.is_some()));
    }
}
