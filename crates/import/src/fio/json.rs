//! The JSON of fio (`--output-format=json` or `json+`), one document or one each status interval.
//!
//! Documents of one file are states of one run: speeds are the differences between them. Latencies, percentiles,
//! `disk_util` and `steadystate` are not read: findings are about speed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::name::base;
use super::report::{FioOutput, JobReport, outputs};
use crate::ImportError;
use crate::json::JsonDocuments;
use crate::lines::LineReader;
use trace::SegmentOp;
use trace::caveat::{Caveat, CutOff, IoFailure};

/// A run as fio's JSON tells it.
#[derive(Debug)]
pub(crate) struct FioJson {
    pub(super) file: String,
    pub(super) version: String,
    pub(super) jobs: Vec<JobRun>,
    /// Seconds since 1970 of the moment that job times count from; `None` where the clock is another.
    pub(super) unix_s: Option<f64>,
    pub(super) notes: Vec<String>,
    pub(super) caveats: Vec<Caveat>,
}

/// A job, or several that fio reports as one.
#[derive(Debug)]
pub(super) struct JobRun {
    pub(super) name: String,
    /// Start in seconds after the run's.
    pub(super) start_s: f64,
    /// How many of fio's threads this is: several where it reports a group as one.
    pub(super) threads: usize,
    /// Read, write, trim: data moved until a time in seconds after the job's start, rising.
    pub(super) moved: [Vec<(f64, f64)>; 3],
    pub(super) options: JobResultOptions,
}

/// What a job's options say that matters here.
#[derive(Debug, Default)]
pub(super) struct JobResultOptions {
    pub(super) numjobs: usize,
    /// What of its options makes its load, for people: loads of the same text can be as fast as each other.
    pub(super) load: String,
    /// What it does, as `rw` says.
    pub(super) rw: Option<String>,
    /// The share of I/Os that read, of a job that reads and writes.
    pub(super) read_share: f64,
    /// Bytes of each I/O where all are of one size: read, write, trim.
    pub(super) block: [Option<f64>; 3],
    /// Bytes per second of each thread.
    pub(super) rate_limit: Option<f64>,
    pub(super) buffered: bool,
    /// Whether it pauses by itself: then no speed is no stop of the drive's.
    pub(super) pauses: bool,
    /// Seconds after fio's own start before which it does not begin.
    pub(super) start_delay_s: f64,
    /// Length of the windows of its logs, in seconds; 0 where each I/O has its row.
    pub(super) log_window_s: Option<f64>,
    /// What the job's logs are called.
    pub(super) log_prefixes: Vec<String>,
}

impl FioJson {
    /// Length of the windows of logs of that name, where it is told.
    pub(crate) fn log_window_s(&self, prefix: &str) -> Option<f64> {
        let named = |job: &&JobRun| job.options.log_prefixes.iter().any(|name| base(name) == base(prefix));
        self.jobs
            .iter()
            .find(named)
            .and_then(|job| job.options.log_window_s)
            .filter(|window_s| *window_s > 0.0)
    }
}

impl JobRun {
    pub(super) fn end_s(&self) -> f64 {
        let last = self.moved.iter().filter_map(|moved| moved.last()).map(|(t, _)| *t);
        self.start_s + last.fold(0.0, f64::max)
    }

    /// What it did: `None` where it moved nothing.
    pub(super) fn op(&self) -> Option<SegmentOp> {
        let total = |d: usize| self.moved[d].last().map_or(0.0, |(_, bytes)| *bytes);
        match [total(0) > 0.0, total(1) > 0.0, total(2) > 0.0] {
            [false, false, false] => None,
            [true, false, false] => Some(SegmentOp::Read),
            [false, true, false] => Some(SegmentOp::Write),
            [false, false, true] => Some(SegmentOp::Trim),
            _ => Some(SegmentOp::Mixed),
        }
    }
}

/// A run is no longer than this, and moves no more: a thousand of the fastest drives for as long.
const LONGEST_RUN_S: f64 = 400.0 * 86_400.0;
const MOST_BYTES: f64 = 1e22;
/// More threads of one job than this are a number that was misread.
const MOST_THREADS: usize = 1 << 14;

/// The options that decide how fast a load can be (fio HOWTO, "I/O type", "Block size", "I/O depth").
const LOAD: [&str; 13] = [
    "rw",
    "readwrite",
    "rwmixread",
    "rwmixwrite",
    "bs",
    "blocksize",
    "bsrange",
    "blocksize_range",
    "bssplit",
    "ioengine",
    "iodepth",
    "numjobs",
    "fsync",
];

/// Reads fio's JSON: one run, or several where another program put them into a document of its own.
pub(crate) fn fio_json(file: &str, lines: LineReader<'_>) -> Result<Vec<FioJson>, ImportError> {
    let mut documents = JsonDocuments::new(file, lines);
    let mut runs: Vec<RunUnderWay> = Vec::new();
    while let Some(document) = documents.next()? {
        let line = document.line;
        let (found, is_wrapped) = outputs(&document)?;
        for output in found {
            if runs.is_empty() || is_wrapped && !runs.last().is_some_and(|run| run.json.goes_on_in(&output)) {
                runs.push(RunUnderWay::new(file));
            }
            let Some(run) = runs.last_mut() else { continue };
            run.states += 1;
            run.json.add(output, &mut run.starts).map_err(|why| ImportError::at(file, line, None, why))?;
        }
    }
    if runs.is_empty() {
        return Err(ImportError::whole(file, "there is no JSON in it"));
    }
    runs.retain(|run| !run.json.jobs.is_empty());
    if runs.is_empty() {
        return Err(ImportError::whole(file, "fio reports no job in it"));
    }
    if let (Some(line), Some(run)) = (documents.cut_short, runs.last_mut()) {
        let left_out = CutOff::LastStatus;
        run.json.caveats.push(Caveat::Truncated { file: Some(file.to_owned()), line, left_out });
    }
    runs.into_iter().map(RunUnderWay::finish).collect()
}

/// A run whose states are being read.
struct RunUnderWay {
    json: FioJson,
    starts: Vec<JobStart>,
    states: usize,
}

impl RunUnderWay {
    fn new(file: &str) -> Self {
        let json = FioJson {
            file: file.to_owned(),
            version: String::new(),
            jobs: Vec::new(),
            unix_s: None,
            notes: Vec::new(),
            caveats: Vec::new(),
        };
        Self { json, starts: Vec::new(), states: 0 }
    }

    fn finish(self) -> Result<FioJson, ImportError> {
        let Self { json: mut run, starts, states } = self;
        run.count_threads();
        run.put_on_one_clock(&starts).map_err(|why| ImportError::whole(&run.file.clone(), why))?;
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let jobs = run.jobs.len();
        run.notes.push(format!(
            "{}: {}, {states} state{} of {jobs} job{}",
            run.file,
            run.version,
            plural(states),
            plural(jobs)
        ));
        Ok(run)
    }
}

/// What is known of when a job started.
struct JobStart {
    job_start_ms: Option<f64>,
    wall_clock: bool,
    group: i64,
    /// Wall clock of the first state in which it had run, and seconds that it had run by then.
    seen_s: Option<f64>,
    ran_s: f64,
    /// Seconds since fio's start at that state.
    elapsed_s: f64,
}

impl FioJson {
    fn add(&mut self, output: FioOutput, starts: &mut Vec<JobStart>) -> Result<(), String> {
        let (timestamp_ms, timestamp) = (output.timestamp_ms, output.timestamp);
        let (version, global, mut jobs) = output.into_parts();
        let first = self.version.is_empty();
        if first {
            self.version = version;
        } else if self.version != version {
            return Err(format!("this is of {version}, the one before of {}: not one run", self.version));
        }
        if first {
            for job in &jobs {
                let name = if job.hostname.is_empty() {
                    job.jobname.clone()
                } else {
                    format!("{} on {}", job.jobname, job.hostname)
                };
                let options = JobResultOptions::read(&global, &job.options);
                self.jobs.push(JobRun { name, start_s: 0.0, threads: 1, moved: Default::default(), options });
                starts.push(JobStart {
                    job_start_ms: job.job_start,
                    wall_clock: job.job_start_clock_id == 0,
                    group: job.groupid,
                    seen_s: None,
                    ran_s: 0.0,
                    elapsed_s: 0.0,
                });
            }
        }
        if jobs.len() != self.jobs.len() {
            let (now, before) = (jobs.len(), self.jobs.len());
            return Err(format!("this status has {now} jobs, the first {before}: not one run"));
        }
        for (run, job) in self.jobs.iter().zip(&mut jobs) {
            let note = job.split_mixed(&run.options)?;
            self.notes.extend(note.filter(|_| first));
        }
        for ((run, job), start) in self.jobs.iter_mut().zip(&jobs).zip(starts.iter_mut()) {
            let ran_ms =
                [&job.read, &job.write, &job.trim].map(|d| d.runtime).into_iter().fold(0.0, f64::max);
            if start.ran_s == 0.0 && ran_ms > 0.0 {
                start.ran_s = ran_ms / 1e3;
                start.seen_s = timestamp_ms.map(|ms| ms / 1e3).or(timestamp);
                start.elapsed_s = job.elapsed.unwrap_or(0.0);
            }
            for (moved, direction) in run.moved.iter_mut().zip([&job.read, &job.write, &job.trim]) {
                let now = (direction.runtime / 1e3, direction.bytes());
                if !((0.0..=LONGEST_RUN_S).contains(&now.0) && (0.0..=MOST_BYTES).contains(&now.1)) {
                    return Err(format!(
                        "job {:?} has moved {:.3e} bytes in {:.3e} s, which no run does",
                        job.jobname, now.1, now.0
                    ));
                }
                let last = moved.last().copied().unwrap_or((0.0, 0.0));
                if now.0 < last.0 || now.1 < last.1 {
                    return Err(format!(
                        "job {:?} has moved less than in the status before: two runs in one file",
                        job.jobname
                    ));
                }
                if now.0 > last.0 && (now.1 > 0.0 || !moved.is_empty()) {
                    moved.push(now);
                }
            }
            if job.error != 0 {
                let (job, error) = (job.jobname.clone(), job.error);
                self.caveats.push(Caveat::IoErrors(IoFailure::Job { job, error }));
            }
        }
        Ok(())
    }

    /// Whether an output can be a later state of this run.
    fn goes_on_in(&self, output: &FioOutput) -> bool {
        let later = output.reports();
        let is_later = |(run, job): (&JobRun, &JobReport)| {
            let known =
                run.moved.iter().filter_map(|moved| moved.last()).map(|(_, bytes)| bytes).sum::<f64>();
            run.name.starts_with(&job.jobname) && job.bytes() > known
        };
        later.len() == self.jobs.len() && self.jobs.iter().zip(later).all(is_later)
    }

    /// A job with `numjobs=3` is there three times, or once for all three (`group_reporting`).
    fn count_threads(&mut self) {
        let names: Vec<String> = self.jobs.iter().map(|job| job.name.clone()).collect();
        for job in &mut self.jobs {
            let entries = names.iter().filter(|name| **name == job.name).count().max(1);
            job.threads = (job.options.numjobs / entries).clamp(1, MOST_THREADS);
        }
    }

    /// Puts the jobs' starts on one clock.
    fn put_on_one_clock(&mut self, starts: &[JobStart]) -> Result<(), String> {
        let known: Option<Vec<f64>> = starts.iter().map(|start| Some(start.job_start_ms? / 1e3)).collect();
        let (at, wall): (Vec<f64>, bool) = match known {
            Some(known) => (known, starts.iter().all(|start| start.wall_clock)),
            None => {
                let several = self.jobs.iter().flat_map(|job| &job.moved).any(|moved| moved.len() > 1);
                self.notes.push(format!(
                    "{}: its version does not say when jobs started; that is counted back from the time of fio's output",
                    self.file
                ));
                let delays: Vec<f64> = self.jobs.iter().map(|job| job.options.start_delay_s).collect();
                (counted_back(starts, &delays, several), starts.iter().all(|start| start.seen_s.is_some()))
            }
        };
        let first = at.iter().copied().fold(f64::INFINITY, f64::min);
        for (job, at) in self.jobs.iter_mut().zip(&at) {
            job.start_s = at - first;
            if !(0.0..=LONGEST_RUN_S).contains(&job.start_s) {
                return Err(format!("job {:?} started over 400 days after the first: not one run", job.name));
            }
        }
        self.unix_s = wall.then_some(first);
        Ok(())
    }
}

/// Starts of jobs that fio does not tell (before `job_start`). In a state while they run it is the state's time less
/// what they had run. In the final one that holds for what ended last. Groups (`stonewall`) ran one after the other
/// where that comes nearer to fio's whole time, else all together. `delays` are the jobs' `startdelay`, which fio counts from its
/// own start (`run_threads` in backend.c).
fn counted_back(starts: &[JobStart], delays: &[f64], several_states: bool) -> Vec<f64> {
    let seen = |start: &JobStart| start.seen_s.unwrap_or(0.0) - start.ran_s;
    if several_states {
        return starts.iter().map(seen).collect();
    }
    let mut groups: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (job, start) in starts.iter().enumerate() {
        groups.entry(start.group).or_default().push(job);
    }
    // Seconds after fio's start at which each begins and all have ended.
    let laid_out = |in_turn: bool| {
        let mut begins = vec![0.0; starts.len()];
        let (mut from_s, mut end_s) = (0.0_f64, 0.0_f64);
        for jobs in groups.values() {
            for job in jobs {
                begins[*job] = delays[*job].max(from_s);
                end_s = end_s.max(begins[*job] + starts[*job].ran_s);
            }
            from_s = if in_turn { end_s } else { 0.0 };
        }
        (begins, end_s)
    };
    let whole_s = starts.iter().map(|start| start.elapsed_s).fold(0.0, f64::max);
    let [(together, together_s), (turns, turns_s)] = [false, true].map(laid_out);
    let in_turn = groups.len() > 1 && (turns_s - whole_s).abs() < (together_s - whole_s).abs();
    let (begins, length_s) = if in_turn { (turns, turns_s) } else { (together, together_s) };
    let end_s = starts.iter().filter_map(|start| start.seen_s).fold(0.0, f64::max);
    begins.into_iter().map(|begin_s| end_s - length_s + begin_s).collect()
}

impl JobResultOptions {
    fn read(global: &BTreeMap<String, Value>, own: &BTreeMap<String, Value>) -> Self {
        let text = |name: &str| match own.get(name).or_else(|| global.get(name))? {
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let numjobs = text("numjobs").and_then(|n| n.parse().ok()).unwrap_or(1);
        let varied = ["bsrange", "blocksize_range", "bssplit"].iter().any(|name| text(name).is_some());
        let size = text("bs").or_else(|| text("blocksize")).unwrap_or_else(|| "4k".into());
        let parts: Vec<Option<f64>> = size.split(',').map(bytes).collect();
        let block = |direction: usize| parts.get(direction).or(parts.last()).copied().flatten();
        let rates = text("rate").map(|rate| rate.split(',').map(bytes).collect::<Option<Vec<f64>>>());
        let told = |name: &&str| text(name).map(|value| format!("{name}={value}"));
        let percent = |name: &str| text(name).and_then(|share| share.parse::<f64>().ok());
        // 50 is fio's own (HOWTO, "rwmixread").
        let read_percent = percent("rwmixread").or(percent("rwmixwrite").map(|writes| 100.0 - writes));
        Self {
            rw: text("rw").or_else(|| text("readwrite")),
            read_share: (read_percent.unwrap_or(50.0) / 100.0).clamp(0.0, 1.0),
            numjobs,
            load: LOAD.iter().filter_map(told).collect::<Vec<_>>().join(", "),
            block: if varied { [None; 3] } else { [block(0), block(1), block(2)] },
            // A limit each for reads and writes is no limit of the sum that a phase could name.
            rate_limit: rates.flatten().filter(|r| r.len() == 1).map(|r| r[0]),
            buffered: text("direct").is_none_or(|direct| direct == "0")
                && text("buffered").is_none_or(|buffered| buffered != "0")
                && text("ioengine").is_none_or(|engine| !["null", "io_uring_cmd", "sg"].contains(&&*engine)),
            pauses: ["thinktime", "thinkcycles", "rate_process"].iter().any(|name| text(name).is_some()),
            start_delay_s: text("startdelay")
                .or_else(|| text("start_delay"))
                .and_then(|t| seconds(&t))
                .unwrap_or(0.0),
            log_window_s: text("log_avg_msec")
                .and_then(|ms| ms.parse::<u32>().ok())
                .map(|ms| f64::from(ms) / 1e3),
            log_prefixes: ["write_bw_log", "write_iops_log", "write_lat_log", "write_hist_log"]
                .iter()
                .filter_map(|name| text(name).filter(|text| !text.is_empty()))
                .collect(),
        }
    }
}

/// Seconds of a time as fio reads it: a number with a unit, seconds without one. Of a range it draws one, which is not told.
fn seconds(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "" | "s" | "sec" => 1.0,
        "us" | "usec" => 1e-6,
        "ms" | "msec" => 1e-3,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    number.parse::<f64>().ok().map(|number| number * unit).filter(|s| (0.0..=LONGEST_RUN_S).contains(s))
}

/// Bytes of a size as fio reads it: a number with k, m, g, t in powers of 1024 (`kb_base` at its default).
fn bytes(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 1.0,
        "k" => 1024.0,
        "m" => 1024f64.powi(2),
        "g" => 1024f64.powi(3),
        "t" => 1024f64.powi(4),
        _ => return None,
    };
    // Four hundred digits are a number without an end.
    number.parse::<f64>().ok().map(|number| number * unit).filter(|bytes| bytes.is_finite())
}
