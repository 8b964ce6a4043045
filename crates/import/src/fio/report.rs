//! What fio's JSON says, key by key, and where it is in a document.
//!
//! Rules
//! - A document is fio's own, or another program's that has fio's in it: `fio version` tells those.
//! - Where directions are reported together (`unified_rw_reporting=1`), `rw` of the job's options says what they are. Of a job that
//!   reads and writes they are split by `rwmixread`, which counts I/Os, so that both need one block size.
//! - What all clients did together is a job only where no other is there.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::json::JobResultOptions;
use crate::ImportError;
use crate::json::JsonDocument;

/// fio names what all clients did together like this.
const ALL_CLIENTS: &str = "All clients";

#[derive(Deserialize)]
pub(super) struct FioOutput {
    #[serde(rename = "fio version")]
    version: String,
    pub(super) timestamp_ms: Option<f64>,
    pub(super) timestamp: Option<f64>,
    #[serde(rename = "global options", default)]
    global: BTreeMap<String, Value>,
    #[serde(default)]
    jobs: Vec<JobReport>,
    #[serde(default)]
    client_stats: Vec<JobReport>,
}

#[derive(Deserialize)]
pub(super) struct JobReport {
    #[serde(default)]
    pub(super) jobname: String,
    #[serde(default)]
    pub(super) hostname: String,
    #[serde(default)]
    pub(super) groupid: i64,
    #[serde(default)]
    pub(super) error: i64,
    pub(super) elapsed: Option<f64>,
    pub(super) job_start: Option<f64>,
    #[serde(default)]
    pub(super) job_start_clock_id: i64,
    #[serde(rename = "job options", default)]
    pub(super) options: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) read: DirectionTotals,
    #[serde(default)]
    pub(super) write: DirectionTotals,
    #[serde(default)]
    pub(super) trim: DirectionTotals,
    /// All directions together.
    #[serde(default)]
    mixed: DirectionTotals,
}

#[derive(Clone, Copy, Default, Deserialize)]
pub(super) struct DirectionTotals {
    #[serde(default)]
    io_bytes: f64,
    io_kbytes: Option<f64>,
    #[serde(default)]
    bw: f64,
    /// Milliseconds.
    #[serde(default)]
    pub(super) runtime: f64,
}

/// The outputs of fio in a document, and whether another program put them there.
pub(super) fn outputs(document: &JsonDocument<'_>) -> Result<(Vec<FioOutput>, bool), ImportError> {
    let refusal = match document.parse() {
        Ok(output) => return Ok((vec![output], false)),
        Err(refusal) => refusal,
    };
    let mut found = Vec::new();
    collect(document.parse()?, &mut found);
    if found.is_empty() { Err(refusal) } else { Ok((found, true)) }
}

fn collect(value: Value, found: &mut Vec<FioOutput>) {
    match value {
        Value::Object(object) if object.contains_key("fio version") => {
            found.extend(serde_json::from_value(Value::Object(object)));
        }
        Value::Object(object) => object.into_iter().for_each(|(_, inner)| collect(inner, found)),
        Value::Array(list) => list.into_iter().for_each(|inner| collect(inner, found)),
        _ => {}
    }
}

impl FioOutput {
    /// The jobs that it reports.
    pub(super) fn reports(&self) -> Vec<&JobReport> {
        let all = if self.jobs.is_empty() { &self.client_stats } else { &self.jobs };
        let single: Vec<&JobReport> = all.iter().filter(|job| job.jobname != ALL_CLIENTS).collect();
        if single.is_empty() { all.iter().collect() } else { single }
    }

    /// Version, options of all jobs, and the jobs.
    pub(super) fn into_parts(self) -> (String, BTreeMap<String, Value>, Vec<JobReport>) {
        let mut jobs = if self.jobs.is_empty() { self.client_stats } else { self.jobs };
        if jobs.iter().any(|job| job.jobname != ALL_CLIENTS) {
            jobs.retain(|job| job.jobname != ALL_CLIENTS);
        }
        (self.version, self.global, jobs)
    }
}

impl JobReport {
    /// All that it moved.
    pub(super) fn bytes(&self) -> f64 {
        [&self.read, &self.write, &self.trim, &self.mixed].map(DirectionTotals::bytes).iter().sum()
    }

    /// Gives the directions what is reported of all of them together; a note where that is a guess.
    ///
    /// # Errors
    /// Where nothing says which direction it is.
    pub(super) fn split_mixed(&mut self, options: &JobResultOptions) -> Result<Option<String>, String> {
        let mixed = std::mem::take(&mut self.mixed);
        // With `unified_rw_reporting=both` they are there each and together.
        if mixed.bytes() <= 0.0 || self.bytes() > 0.0 {
            return Ok(None);
        }
        let job = &self.jobname;
        let refused = |why: &str| {
            Err(format!(
                "job {job:?} reports reading and writing together (unified_rw_reporting), and {why}: run it again without unified_rw_reporting"
            ))
        };
        let rw = options.rw.as_deref().map(|rw| rw.split(':').next().unwrap_or(rw).to_lowercase());
        match rw.as_deref() {
            Some("read" | "randread") => self.read = mixed,
            Some("write" | "randwrite") => self.write = mixed,
            Some("trim" | "randtrim") => self.trim = mixed,
            Some("rw" | "readwrite" | "randrw") => {
                if options.block[0].is_none() || options.block[0] != options.block[1] {
                    return refused("its reads and writes are not of one block size");
                }
                let share = options.read_share;
                let note = format!(
                    "job {job}: reading and writing are reported together (unified_rw_reporting), and split {:.0} : {:.0} as rwmixread says",
                    100.0 * share,
                    100.0 * (1.0 - share)
                );
                (self.read, self.write) = (mixed.share(share), mixed.share(1.0 - share));
                return Ok(Some(note));
            }
            Some(_) => return refused("its rw is of more than these"),
            None => return refused("its options in the report do not say rw"),
        }
        Ok(None)
    }
}

impl DirectionTotals {
    /// Data moved, in bytes. `io_bytes` was in KiB before `io_kbytes` came beside it (fio 2.99); where there is no
    /// `io_kbytes`, rate and time tell which.
    pub(super) fn bytes(&self) -> f64 {
        let by_rate = self.bw * 1024.0 * self.runtime / 1e3;
        let in_kib = self.io_kbytes.is_none() && by_rate > 32.0 * self.io_bytes;
        if in_kib { self.io_bytes * 1024.0 } else { self.io_bytes }
    }

    fn share(self, share: f64) -> Self {
        Self { io_bytes: share * self.io_bytes, bw: share * self.bw, ..self }
    }
}
