//! `heatsoak export`: a run in the formats of other tools.
//!
//! It converts what was recorded and judges nothing. What a format cannot hold (gaps with their reason, histograms) stays
//! in the record.

mod csv;
mod fio;
mod prometheus;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use measure::record::{self, Record, write_whole};

use crate::Exit;
use crate::args::{ExportArgs, ExportFormat};
use crate::damage;
use crate::printer::Printer;

/// The folder within a run folder that is written to without `--out`.
const FOLDER: &str = "export";

/// A file to be written: its path below the folder, and its text.
type ExportedFile = (PathBuf, String);

/// Exports.
pub(crate) fn execute(args: &ExportArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let record = record::read(&args.run)?;
    damage::warn_of(&args.run, &record.lost, printer);
    if record.manifest.origin.is_simulated() {
        printer.message("these numbers are SIMULATED; the files say so where their format can");
    }
    if args.out.as_deref() == Some(Path::new("-")) {
        let [format @ (ExportFormat::Csv | ExportFormat::Prometheus)] = args.format[..] else {
            bail!("cannot write several files to stdout: --out - takes csv or prometheus alone");
        };
        let files = files(format, &record, &args.run)?;
        files.iter().try_for_each(|(_, text)| printer.data(text))?;
        return Ok(Exit::Done);
    }
    let folder = args.out.clone().unwrap_or_else(|| args.run.join(FOLDER));
    for format in &args.format {
        for (path, text) in files(*format, &record, &args.run)? {
            let path = folder.join(path);
            let parent = path.parent().unwrap_or(&folder);
            fs::create_dir_all(parent).map_err(|error| {
                anyhow!("cannot make the folder {}: {error}; name another with --out", parent.display())
            })?;
            write_whole(&path, text.as_bytes())?;
            printer.data(&path.display().to_string())?;
        }
    }
    Ok(Exit::Done)
}

fn files(format: ExportFormat, record: &Record, run: &Path) -> anyhow::Result<Vec<ExportedFile>> {
    let name = run.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy());
    Ok(match format {
        ExportFormat::FioBwLog => fio::logs(record, &[fio::LogValue::Bandwidth])?,
        ExportFormat::FioIopsLog => fio::logs(record, &[fio::LogValue::Iops])?,
        ExportFormat::FioLatLog => {
            fio::logs(record, &[fio::LogValue::Lat, fio::LogValue::Clat, fio::LogValue::Slat])?
        }
        ExportFormat::Csv => vec![("run.csv".into(), csv::table(record, &name))],
        ExportFormat::Prometheus => vec![("run.openmetrics.txt".into(), prometheus::text(record, &name))],
    })
}

/// Name of a phase, where the manifest has it.
fn phase_name(record: &Record, phase: u32) -> &str {
    record.manifest.phases.get(phase as usize).map_or("", |phase| &phase.name)
}
