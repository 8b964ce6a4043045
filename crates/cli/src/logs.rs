//! Logs of other tools: which files belong to what was typed, and their content handed to the importers.
//!
//! Which format a file has and what it means is not known here.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use analysis::findings::Caveat;
use anyhow::{Context as _, bail};
use import::{self, ImportOptions, LogFile};
use measure::{input, record};
use trace::Trace;

/// The one run in `inputs`: files, and folders of files.
///
/// # Errors
/// When one is a run folder, or cannot be read or understood.
pub(crate) fn read(inputs: &[PathBuf], options: &ImportOptions) -> anyhow::Result<Trace> {
    let mut files = Vec::new();
    for input in inputs {
        if record::is_run_folder(input) {
            bail!(
                "cannot join {}: it is a run folder, whose load and temperatures are on one clock already; analyze it by itself",
                input.display()
            );
        }
        if input.is_dir() { files.extend(files_in(input)?) } else { files.push(input_file(input)?) }
    }
    let sources = files.iter().map(|file| source(file)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut trace = import::import(sources, options)?;
    trace.caveats.extend(jobs_left_out(&files));
    Ok(trace)
}

/// A file that was named. `-` is standard input; that and the like (`/dev/fd/63` of a shell's `<(..)`) may be pipes, which
/// somebody is writing to. Anything else that is no file is refused: a FIFO would be waited for, a device never ends.
fn input_file(typed: &Path) -> anyhow::Result<PathBuf> {
    let path = if typed == Path::new("-") { Path::new(STDIN) } else { typed };
    let what = input::no_file(path).with_context(|| {
        let name = typed.display();
        format!("cannot read {name} as a run folder or a log")
    })?;
    let Some(what) = what else { return Ok(path.to_owned()) };
    bail!(
        "cannot read {} as a run folder or a log: it is {what}; name a file or a folder, or pipe the log to `heatsoak \
         analyze -`",
        typed.display()
    )
}

/// Standard input as a file.
const STDIN: &str = "/dev/stdin";

/// Whether a folder is one of logs: it has files, and is no run folder nor what is left of one.
pub(crate) fn is_folder_of_logs(folder: &Path) -> bool {
    let of_a_run = |file: &PathBuf| file.extension().is_some_and(|end| end == "parquet" || end == "arrow");
    !record::is_run_folder(folder)
        && files_in(folder).is_ok_and(|files| !files.is_empty() && !files.iter().any(of_a_run))
}

/// Refuses a folder that holds folders with logs, as collectd makes one for each thing that it watches.
///
/// # Errors
/// The text says how to name them.
pub(crate) fn has_no_logs_below(folder: &Path) -> anyhow::Result<()> {
    let below = || std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let holds_logs = !record::is_run_folder(folder)
        && files_in(folder).is_ok_and(|files| files.is_empty())
        && below().any(|path| path.is_dir() && is_folder_of_logs(&path));
    if holds_logs {
        let folder = folder.display();
        bail!(
            "{folder} is no run folder and holds no logs, but folders with logs: name these, as one run with --join {folder}/*/*"
        );
    }
    Ok(())
}

/// The files of a folder by name, hidden ones left out.
fn files_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let failed = || format!("cannot read the folder {}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(failed)? {
        let path = entry.with_context(failed)?.path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_file() && !hidden {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn source(file: &Path) -> anyhow::Result<LogFile<'static>> {
    let name = file.display().to_string();
    let about = std::fs::metadata(file).with_context(|| format!("cannot read {name}"))?;
    let since_1970 = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).ok();
    let modified_unix_s = about.modified().ok().and_then(since_1970).map(|since| since.as_secs_f64());
    let path = file.to_owned();
    let open = Box::new(move || File::open(path).map(|file| Box::new(file) as Box<dyn Read>));
    Ok(LogFile { name, modified_unix_s, open })
}

/// Logs of other jobs of the same run of fio that lie beside those that were named.
fn jobs_left_out(files: &[PathBuf]) -> Option<Caveat> {
    let missing: Vec<String> = files
        .iter()
        .filter_map(|file| Some((file.parent()?, job_name(file)?)))
        .flat_map(|(folder, (stem, _))| {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            let beside = files_in(folder).unwrap_or_default();
            let same = move |other: &PathBuf| job_name(other).is_some_and(|(other, _)| other == stem);
            let left_out = |other: &PathBuf| !files.iter().any(|file| file.file_name() == other.file_name());
            beside.into_iter().filter(same).filter(left_out).collect::<Vec<_>>()
        })
        .map(|file| file.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    Some(Caveat::OtherJobs { first: missing.first()?.clone(), last: missing.last()?.clone() })
}

/// `x_bw` and 3 of `x_bw.3.log`.
fn job_name(file: &Path) -> Option<(String, u32)> {
    let name = file.file_name()?.to_str()?.strip_suffix(".log")?;
    let (stem, job) = name.rsplit_once('.')?;
    let is_log = ["_bw", "_iops", "_lat", "_clat", "_slat"].iter().any(|kind| stem.ends_with(kind));
    if is_log { Some((stem.to_owned(), job.parse().ok()?)) } else { None }
}
