//! Names of run folders.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::anyhow;
use measure::record::RecordError;

/// Where run folders go that nobody named.
const RUNS: &str = "runs";

/// Longer names of plan and drive are cut, so that the folder's name fits every file system (255 bytes).
const PART_MAX: usize = 60;

/// Makes a new, empty folder under `./runs/`, named by time, plan and drive; never one that was there.
///
/// # Errors
/// When the system refuses, with what to do.
pub(crate) fn make_new(plan: &str, drive: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(RUNS).map_err(|error| refused(Path::new(RUNS), &error))?;
    let name = new_name(plan, drive);
    for number in 1.. {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = Path::new(RUNS).join(format!("{name}{suffix}"));
        // Making it is what claims it: two runs that start in the same second get two folders.
        match fs::create_dir(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refused(&path, &error)),
            Ok(()) => return Ok(path),
        }
    }
    unreachable!("numbers do not run out")
}

/// The name of a run of now, by time, plan and drive.
pub(crate) fn new_name(plan: &str, drive: &str) -> String {
    format!("{}-{}-{}", utc(now()), plain(plan), plain(drive))
}

/// Refuses what cannot become a run folder, before anything else is done for the run.
///
/// # Errors
/// As whoever makes it would say it later: something is in it, or it is no folder.
pub(crate) fn refuse_unusable(dir: &Path) -> Result<(), RecordError> {
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            Some(_) => Err(RecordError::Exists { path: dir.to_owned() }),
            None => Ok(()),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(RecordError::Io { what: "use as a run folder", path: dir.to_owned(), source }),
    }
}

fn refused(path: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow!("cannot make the run folder {}: {error}; name another folder with --out", path.display())
}

/// `2026-11-21T10-00-00Z`: sorts by time, and has no colon, which some file systems refuse.
fn now() -> SystemTime {
    let since = u64::try_from(measure::time::wall_unix_ns()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::from_nanos(since)
}

fn utc(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string().replace(':', "-")
}

/// A name that every shell and file system takes: what stands behind the last `/` or `:`, letters, digits,
/// `-`, `_` and `.`, no ending.
pub(crate) fn plain(name: &str) -> String {
    let name = name.split('?').next().unwrap_or(name).trim_end_matches(['/', ':']);
    let last = name.rsplit(['/', ':']).next().unwrap_or(name);
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| if stem.is_empty() { last } else { stem });
    let keep = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    stem.chars().map(keep).take(PART_MAX).collect()
}

#[cfg(test)]
mod test {

    use super::*;

    #[test]
    fn names_tell_time_plan_and_drive() {
        assert_eq!(utc(SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_256_400)), "2026-11-21T10-20-00Z");
        for (drive, short) in [
            ("twin:ssd1", "ssd1"),
            ("twin:a/b.toml", "b"),
            ("/dev/nvme0n1", "nvme0n1"),
            ("file:/var/tmp/t.bin?size=4GiB", "t"),
            ("null:", "null"),
            ("file:/tmp/mine & yours", "mine___yours"),
        ] {
            assert_eq!(plain(drive), short);
        }
    }
}
