//! What the block layer has moved to and from a device since boot: `/sys/class/block/X/stat`.
//!
//! It is the independent witness: what the load did, and what else was done to the drive beside it.
//!
//! Before Linux 6.5 or so nothing was counted at the head of an NVMe drive with native multipath, only at the hidden
//! paths to it (`nvme0c0n1`); since then at both. So what counts more is right.

use std::path::{Path, PathBuf};
use std::time::Duration;

use measure::{Bytes, Instant};

use super::{Reading, Sampler, read_text};

/// Its name in the record.
const SOURCE: &str = "blockstat";
/// Sectors are 512 bytes here, whatever the drive's own block size (Documentation/block/stat.rst).
const SECTOR_BYTES: u64 = 512;
/// Fields of the file, counted from 0 (Documentation/block/stat.rst).
const SECTORS_READ: usize = 2;
const SECTORS_WRITTEN: usize = 6;

/// Reads the statistics once a period.
#[derive(Clone, Debug)]
pub struct BlockstatSampler {
    period: Duration,
    path: PathBuf,
    /// The same of each path to a drive with native multipath.
    paths: Vec<PathBuf>,
}

impl BlockstatSampler {
    /// A sampler of the block device `block` (a name such as `nvme0n1`) below `sysfs`.
    pub fn new(sysfs: &Path, block: &str, period: Duration) -> Self {
        let class = sysfs.join("class/block");
        let stat = |name: &str| class.join(name).join("stat");
        Self {
            period,
            path: stat(block),
            paths: paths_to(&class, block).iter().map(|name| stat(name)).collect(),
        }
    }

    /// Bytes read and written.
    fn counters(&self) -> Result<(Bytes, Bytes), String> {
        let of = |path: &PathBuf| {
            let text = read_text(path)?;
            counters(&text)
                .ok_or_else(|| format!("{} holds {:?}, not its counters", path.display(), text.trim()))
        };
        let head = of(&self.path)?;
        // A path may go away while others stay.
        let paths = self.paths.iter().filter_map(|path| of(path).ok());
        let sum = paths.fold((Bytes::ZERO, Bytes::ZERO), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        Ok((head.0.max(sum.0), head.1.max(sum.1)))
    }
}

impl Sampler for BlockstatSampler {
    fn source(&self) -> &str {
        SOURCE
    }

    fn period(&self) -> Duration {
        self.period
    }

    fn sample(&mut self, now: Instant) -> Reading {
        match self.counters() {
            Ok((read, written)) => {
                let mut reading = Reading::empty(now, SOURCE);
                reading.row.device_read = Some(read);
                reading.row.device_written = Some(written);
                reading
            }
            Err(why) => Reading::failed(now, SOURCE, why),
        }
    }
}

/// The hidden paths to `nvme0n1` are `nvme0c0n1`, `nvme0c1n1`, ... (`nvme_ns_get_ref` names them in
/// drivers/nvme/host/core.c).
fn paths_to(class: &Path, block: &str) -> Vec<String> {
    let Some((subsystem, namespace)) = block.strip_prefix("nvme").and_then(|rest| rest.split_once('n'))
    else {
        return Vec::new();
    };
    let is_path = |name: &String| {
        let middle = name.strip_prefix("nvme").and_then(|rest| rest.strip_prefix(subsystem));
        let controller =
            middle.and_then(|rest| rest.strip_prefix('c')?.strip_suffix(namespace)?.strip_suffix('n'));
        controller
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let entries = std::fs::read_dir(class).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(is_path).collect();
    names.sort();
    names
}

/// Bytes read and written.
fn counters(text: &str) -> Option<(Bytes, Bytes)> {
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let bytes = |index: usize| {
        let sectors: u64 = fields.get(index)?.parse().ok()?;
        sectors.checked_mul(SECTOR_BYTES).map(Bytes::new)
    };
    Some((bytes(SECTORS_READ)?, bytes(SECTORS_WRITTEN)?))
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::telemetry::discover::test::tree;

    #[test]
    fn sectors_become_bytes() {
        let mut sampler = BlockstatSampler::new(&tree("virtual-machine"), "vda", Duration::from_secs(1));
        let row = sampler.sample(Instant::ZERO).row;
        assert_eq!(row.device_read, Some(Bytes::new(30_998_650 * 512)));
        assert_eq!(row.device_written, Some(Bytes::new(17_191_440 * 512)));
        assert_eq!(row.gap, None);
    }

    /// Goal: what the head does not count is taken from its paths, and nothing is counted twice.
    #[test]
    fn a_head_that_counts_nothing_has_paths_that_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let stat = |name: &str, read: u64, written: u64| {
            let device = folder.path().join("class/block").join(name);
            std::fs::create_dir_all(&device).expect("made");
            std::fs::write(device.join("stat"), format!("1 0 {read} 0 1 0 {written} 0 0 0 0"))
                .expect("written");
        };
        for (name, read, written) in [
            ("nvme1n1", 0, 0),
            ("nvme1c1n1", 8, 16),
            ("nvme1c12n1", 2, 4),
            // Other drives, other namespaces, and what only looks like a path.
            ("nvme11c1n1", 100, 100),
            ("nvme1c1n11", 100, 100),
            ("nvme1cn1", 100, 100),
            ("nvme11n1", 100, 100),
        ] {
            stat(name, read, written);
        }
        let row = || {
            BlockstatSampler::new(folder.path(), "nvme1n1", Duration::from_secs(1)).sample(Instant::ZERO).row
        };
        let bytes = |read: u64, written: u64| (Some(Bytes::new(read * 512)), Some(Bytes::new(written * 512)));
        assert_eq!((row().device_read, row().device_written), bytes(10, 20));
        stat("nvme1n1", 11, 20);
        assert_eq!((row().device_read, row().device_written), bytes(11, 20));
    }

    #[test]
    fn a_device_that_is_gone_is_a_gap() {
        let mut sampler = BlockstatSampler::new(&tree("virtual-machine"), "vdz", Duration::from_secs(1));
        let row = sampler.sample(Instant::ZERO).row;
        assert!(row.gap.expect("a gap").contains("vdz/stat: No such file"));
        assert_eq!(row.device_read, None);
    }

    #[test]
    fn a_line_that_is_not_the_counters_is_refused() {
        for text in ["", "1 2 3 4 5 6", "1 2 x 4 5 6 7", "1 2 99999999999999999999 4 5 6 7"] {
            assert_eq!(counters(text), None, "{text:?}");
        }
    }
}
