//! Logs as fio writes them with `log_avg_msec`: `time, value, direction, block size, priority`.
//!
//! Each phase is a job of its own: a folder, with times from the phase's beginning. Bandwidth is in KiB/s, latencies in
//! ns; the time is the end of the interval. Where fio leaves a row out because nothing completed, bandwidth and IOPS of 0
//! are written: a stop is what these logs are looked at for.
//!
//! Layout: fio 3.33 HOWTO, "Log File Formats"; its `iolog.c`, `flush_samples`. Names: fio-plot's README, "log data".

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Context as _;
use measure::record::{IoRow, Op, Record};
use plan::{Load, Order, Plan};

use super::{ExportedFile, phase_name};

/// What a log holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum LogValue {
    /// KiB/s.
    Bandwidth,
    /// 1/s.
    Iops,
    /// Submission and completion, in ns.
    Lat,
    /// Completion alone.
    Clat,
    /// Submission alone.
    Slat,
}

impl LogValue {
    const fn ending(self) -> &'static str {
        match self {
            Self::Bandwidth => "bw",
            Self::Iops => "iops",
            Self::Lat => "lat",
            Self::Clat => "clat",
            Self::Slat => "slat",
        }
    }

    /// The value of an interval; `None` where fio has no row either.
    fn of(self, row: &IoRow) -> Option<f64> {
        let seconds = row.span.as_secs_f64();
        let ns = |mean: Option<Duration>| mean.map(|mean| mean.as_nanos() as f64);
        match self {
            Self::Bandwidth => (seconds > 0.0).then(|| row.bytes.as_u64() as f64 / 1024.0 / seconds),
            Self::Iops => (seconds > 0.0).then(|| row.ios as f64 / seconds),
            Self::Lat => Some(ns(row.slat.mean()).unwrap_or(0.0) + ns(row.clat.mean())?),
            Self::Clat => ns(row.clat.mean()),
            Self::Slat => ns(row.slat.mean()),
        }
    }
}

/// The logs of every phase with a load.
///
/// # Errors
/// When the manifest's plan cannot be read, which names the files.
pub(super) fn logs(record: &Record, values: &[LogValue]) -> anyhow::Result<Vec<ExportedFile>> {
    let plan = Plan::from_toml(&record.manifest.plan_toml, "manifest.json")
        .context("cannot name fio's logs: the plan in the manifest cannot be read")?;
    let mut by_phase: BTreeMap<u32, Vec<&IoRow>> = BTreeMap::new();
    for row in record.io.iter().filter(|row| row.op != Op::Idle) {
        by_phase.entry(row.phase).or_default().push(row);
    }
    let mut files = Vec::new();
    for (phase, rows) in by_phase {
        let folder = format!("{}-{}", phase + 1, plain(phase_name(record, phase)));
        let stem = stem(plan.phases.get(phase as usize).map_or(&[][..], |phase| &phase.loads), &rows);
        for value in values {
            let name = format!("{folder}/{stem}_{}.1.log", value.ending());
            files.push((name.into(), log(*value, &rows)));
        }
    }
    Ok(files)
}

fn log(value: LogValue, rows: &[&IoRow]) -> String {
    let begin_ns = rows.first().map_or(0, |row| row.t.as_ns());
    let mut text = String::new();
    for row in rows {
        let Some(value) = value.of(row) else { continue };
        let end_ms = (row.t.as_ns() - begin_ns + row.span.as_nanos() as u64) / 1_000_000;
        let direction = match row.op {
            Op::Write => 1,
            Op::Trim => 2,
            Op::Read | Op::Idle => 0,
        };
        // Averaged rows have no block size and no priority.
        let _ = writeln!(text, "{end_ms}, {value:.0}, {direction}, 0, 0");
    }
    text
}

/// What fio-plot tells runs apart by: `randread-iodepth-32-numjobs-4`.
fn stem(loads: &[Load], rows: &[&IoRow]) -> String {
    let has = |op| rows.iter().any(|row| row.op == op);
    let what = match (has(Op::Read), has(Op::Write), has(Op::Trim)) {
        (true, true, _) => "rw",
        (false, true, _) => "write",
        (_, _, true) => "trim",
        _ => "read",
    };
    let random = if loads.iter().any(|load| load.order == Order::Random) { "rand" } else { "" };
    let depth = loads.iter().map(|load| load.depth.as_usize()).max().unwrap_or(1);
    let threads: u32 = loads.iter().map(|load| u32::from(load.threads)).sum();
    format!("{random}{what}-iodepth-{depth}-numjobs-{}", threads.max(1))
}

/// A phase's name as part of a folder's.
fn plain(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    name.chars().take(40).map(keep).collect()
}
