//! What changed since an earlier scan: from its `drives.parquet` to this one's findings.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, Result};
use datafusion::arrow::array::{Array as _, AsArray as _};
use datafusion::arrow::datatypes::Float64Type;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde::Serialize;

use fleet_state::{DriveFinding, ThrottleVerdict};

/// Two scans side by side. Rates are throttled hours in 1000 observed hours of a drive.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Trend {
    pub(crate) before: String,
    pub(crate) drives_in_both: u64,
    /// Throttled now and not before.
    pub(crate) newly_throttled: u64,
    pub(crate) no_longer_throttled: u64,
    pub(crate) per_1000h_before: Option<f64>,
    pub(crate) per_1000h_now: Option<f64>,
}

#[derive(Default)]
struct Before {
    throttled: bool,
    known: bool,
    throttled_h: f64,
    observed_h: f64,
}

/// Compares, over drives whose counters tell in both scans.
pub(crate) fn compare(folder: &Path, findings: &[DriveFinding]) -> Result<Trend> {
    let before = read(&folder.join("drives.parquet"))?;
    let mut now: BTreeMap<&str, Before> = BTreeMap::new();
    for finding in findings {
        let drive = now.entry(&finding.serial).or_default();
        drive.throttled |= finding.verdict == ThrottleVerdict::Throttled;
        if let Some(throttled_h) = finding.throttled_h() {
            drive.known = true;
            drive.throttled_h += throttled_h;
            drive.observed_h += finding.observed_h();
        }
    }
    let mut trend = Trend {
        before: folder.display().to_string(),
        drives_in_both: 0,
        newly_throttled: 0,
        no_longer_throttled: 0,
        per_1000h_before: None,
        per_1000h_now: None,
    };
    let (mut old, mut new) = ((0.0, 0.0), (0.0, 0.0));
    for (serial, drive) in now.iter().filter(|(_, drive)| drive.known) {
        let Some(earlier) = before.get(*serial).filter(|drive| drive.known) else { continue };
        trend.drives_in_both += 1;
        trend.newly_throttled += u64::from(drive.throttled && !earlier.throttled);
        trend.no_longer_throttled += u64::from(!drive.throttled && earlier.throttled);
        old = (old.0 + earlier.throttled_h, old.1 + earlier.observed_h);
        new = (new.0 + drive.throttled_h, new.1 + drive.observed_h);
    }
    let rate = |(throttled, observed): (f64, f64)| (observed > 0.0).then(|| throttled / observed * 1000.0);
    (trend.per_1000h_before, trend.per_1000h_now) = (rate(old), rate(new));
    Ok(trend)
}

fn read(path: &Path) -> Result<BTreeMap<String, Before>> {
    let attempt = || -> Result<BTreeMap<String, Before>> {
        let mut drives: BTreeMap<String, Before> = BTreeMap::new();
        for batch in ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?.build()? {
            let batch = batch?;
            let column =
                |name: &str| batch.column_by_name(name).with_context(|| format!("it has no column {name}"));
            let serials = column("serial")?.as_string_opt::<i32>().context("serial is text")?;
            let verdicts = column("verdict")?.as_string_opt::<i32>().context("verdict is text")?;
            let throttled =
                column("throttled_h")?.as_primitive_opt::<Float64Type>().context("hours are numbers")?;
            let observed =
                column("observed_h")?.as_primitive_opt::<Float64Type>().context("hours are numbers")?;
            for row in 0..batch.num_rows() {
                let drive = drives.entry(serials.value(row).to_owned()).or_default();
                drive.throttled |= verdicts.value(row) == "throttled";
                if throttled.is_valid(row) {
                    drive.known = true;
                    drive.throttled_h += throttled.value(row);
                    drive.observed_h += observed.value(row);
                }
            }
        }
        Ok(drives)
    };
    attempt().with_context(|| format!("cannot read the earlier scan {}", path.display()))
}
