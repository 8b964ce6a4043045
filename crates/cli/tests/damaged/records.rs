//! Pages of records that are torn, as a disk or a power cut leaves them.
//!
//! Goal: whatever happens to a page, reading panics never, and what comes back is what was written, from the beginning
//! on. Method: three runs - closed, cut short, cut short with one row an I/O - and beside each another run of the same
//! shape, whose pages are the stale ones.

use std::path::{Path, PathBuf};

use measure::record::{self, OpRow, Record, RunWriter};
use trace::Trace;

use super::{Dice, cases};
use crate::support::Scratch;

const PLAN: &str = "description = 'both'\ninterval = '100ms'\nrecord_ops = true\n\
    [[phase]]\nname = 'w'\nop = 'write'\nduration = '20s'\nblock_size = '1MiB'\nrate = '100MB/s'\n\
    [[phase]]\nname = 'r'\nop = 'randread'\nduration = '20s'\nblock_size = '4KiB'\nrate = '400KB/s'\n";

struct Victim {
    dir: PathBuf,
    /// A run of the same shape in which everything is another time.
    stale: PathBuf,
    files: Vec<String>,
    whole: Record,
    ops: Option<Vec<OpRow>>,
}

impl Victim {
    fn new(dir: PathBuf, stale: PathBuf) -> Self {
        let names =
            std::fs::read_dir(&dir).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut files: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        files.retain(|name| ["parquet", "arrow"].iter().any(|end| name.ends_with(end)));
        files.sort();
        let whole = record::read(&dir).expect("a whole run");
        assert!(whole.io.len() >= 300 && whole.lost.is_empty());
        let ops = record::read_ops(&dir).expect("a whole run");
        Self { dir, stale, files, whole, ops }
    }

    /// Spoils a page, reads everything, and puts the page back; whether anything was missing.
    fn spoil(&self, dice: &mut Dice) -> bool {
        let name = dice.pick(&self.files);
        let path = self.dir.join(name);
        let good = std::fs::read(&path).expect("a table");
        let stale = std::fs::read(self.stale.join(name)).expect("its like");
        let bad = torn(&good, &stale, dice);
        if bad == good {
            return false;
        }
        std::fs::write(&path, bad).expect("a scratch file");
        let complete = self.check();
        std::fs::write(&path, good).expect("a scratch file");
        !complete
    }

    /// Whether all rows came back. Those that did must be what was written.
    fn check(&self) -> bool {
        let ops = record::read_ops(&self.dir).map(Option::unwrap_or_default);
        let all = self.ops.as_deref().unwrap_or_default();
        let ops_are_whole = ops.is_ok_and(|ops| {
            assert!(all.starts_with(&ops), "wrong rows of I/Os");
            ops.len() == all.len()
        });
        let (Ok(record), Ok(reduced)) = (record::read(&self.dir), record::read_reduced(&self.dir)) else {
            return false;
        };
        assert!(self.whole.io.starts_with(&record.io), "wrong intervals");
        assert!(self.whole.telemetry.starts_with(&record.telemetry), "wrong readings");
        assert!(self.whole.smart.starts_with(&record.smart), "wrong pages");
        assert_eq!((&record.io, &record.telemetry), (&reduced.io, &reduced.telemetry));
        let rows = |of: &Record| (of.io.len(), of.telemetry.len(), of.smart.len());
        let same = rows(&record) == rows(&self.whole);
        assert_eq!(same, record.lost.is_empty(), "what is missing is said: {:?}", record.lost);
        if !same {
            let findings = analysis::analyze(&Trace::from_record(&record));
            assert!(findings.caveats.iter().any(|caveat| matches!(caveat, trace::Caveat::Damaged(_))));
        }
        same && ops_are_whole
    }
}

/// The file with one page, or two, not as they were.
fn torn(good: &[u8], stale: &[u8], dice: &mut Dice) -> Vec<u8> {
    let page = *dice.pick(&[512, 4096]);
    let mut bad = good.to_vec();
    let count = good.len().div_ceil(page);
    let range = |number: usize| number * page..good.len().min((number + 1) * page);
    let here = range(dice.below(count));
    match dice.below(5) {
        0 => bad[here].fill(0),
        1 => bad[here].iter_mut().for_each(|byte| *byte = dice.next() as u8),
        2 => {
            let end = here.end.min(stale.len()).max(here.start);
            if end > here.start {
                bad[here.start..end].copy_from_slice(&stale[here.start..end]);
            }
        }
        3 => {
            let there = range(dice.below(count));
            let length = here.len().min(there.len());
            bad[here.start..here.start + length].copy_from_slice(&good[there.start..there.start + length]);
            bad[there.start..there.start + length].copy_from_slice(&good[here.start..here.start + length]);
        }
        _ => {
            let by = 1 + dice.below(here.len());
            bad[here].rotate_right(by);
        }
    }
    bad
}

/// A run as it stands on the disk when its process dies: batches of half a second.
fn cut_short(from: &Path, to: &Path, with_ops: bool) {
    let run = record::read(from).expect("a whole run");
    let ops = record::read_ops(from).expect("a whole run").unwrap_or_default();
    let (mut telemetry, mut smart, mut ops) =
        (run.telemetry.into_iter().peekable(), run.smart.into_iter().peekable(), ops.into_iter().peekable());
    let manifest = record::Manifest { end: None, ..run.manifest };
    let mut writer = RunWriter::create(to, manifest, with_ops).expect("a new folder");
    for (count, row) in run.io.into_iter().enumerate() {
        let until = row.t + row.span;
        while let Some(row) = telemetry.next_if(|row| row.t <= until) {
            writer.push_telemetry(row).expect("space on disk");
        }
        while let Some(row) = smart.next_if(|row| row.t <= until) {
            writer.push_smart(row).expect("space on disk");
        }
        while let Some(row) = ops.next_if(|row| row.t <= until) {
            writer.push_op(row).expect("space on disk");
        }
        writer.push_io(row).expect("space on disk");
        if count % 5 == 4 {
            writer.flush().expect("space on disk");
        }
    }
    writer.flush().expect("space on disk");
}

#[test]
fn torn_pages_of_a_record_cost_rows_and_never_make_any() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("plan.toml"), PLAN).expect("a scratch file");
    for (out, drive) in [("closed", "twin:ssd1"), ("stale", "twin:ssd2")] {
        let done = scratch.run(&["run", "plan.toml", "--drive", drive, "--no-report", "--out", out]);
        assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    }
    let mut victims = vec![Victim::new(scratch.path("closed"), scratch.path("stale"))];
    for (name, with_ops) in [("killed", false), ("ops", true)] {
        let (dir, stale) = (scratch.path(name), scratch.path(&format!("stale-{name}")));
        cut_short(&scratch.path("closed"), &dir, with_ops);
        cut_short(&scratch.path("stale"), &stale, with_ops);
        victims.push(Victim::new(dir, stale));
    }
    let cases = cases(240);
    let mut missed = 0;
    for case in 0..cases {
        let victim = &victims[(case % 3) as usize];
        missed += u64::from(victim.spoil(&mut Dice(case)));
    }
    println!("{cases} torn pages: {missed} cost rows or a table, no panic, no wrong row");
    // Most pages hold rows: a test that damages nothing shows nothing.
    assert!(missed * 2 > cases, "{missed} of {cases}");
}
