//! What the block layer has moved to and from a device since boot: `/sys/class/block/X/stat`.
//!
//! It is the independent witness: what the load did, and what else was done to the drive beside it.
//!
//! Before Linux 6.5 or so nothing was counted at the head of an NVMe drive with native multipath, only at the hidden
//! paths to it (`nvme0c0n1`); since then at both. So what counts more is right.

use std::path::{Path, PathBuf};
use std::time::Duration;

use measure::record::BlockCounters;
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

    /// What was counted at the head or at its paths, whichever is more.
    fn counters(&self) -> Result<Counted, String> {
        let of = |path: &PathBuf| {
            let text = read_text(path)?;
            Counted::parse(&text)
                .ok_or_else(|| format!("{} holds {:?}, not its counters", path.display(), text.trim()))
        };
        let head = of(&self.path)?;
        // A path may go away while others stay.
        let paths = self.paths.iter().filter_map(|path| of(path).ok());
        let sum = paths.reduce(Counted::plus).unwrap_or_default();
        let block = if sum.ios() > head.ios() { sum.block } else { head.block };
        Ok(Counted { read: head.read.max(sum.read), written: head.written.max(sum.written), block })
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
            Ok(Counted { read, written, block }) => {
                let mut reading = Reading::empty(now, SOURCE);
                reading.row.device_read = Some(read);
                reading.row.device_written = Some(written);
                reading.row.block = Some(block);
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

/// All that one file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    read: Bytes,
    written: Bytes,
    block: BlockCounters,
}

impl Counted {
    /// The fields of the file in order; the last six came with Linux 4.18 and 5.5.
    fn parse(text: &str) -> Option<Self> {
        let fields: Vec<u64> =
            text.split_ascii_whitespace().map(|field| field.parse().ok()).collect::<Option<_>>()?;
        let field = |index: usize| fields.get(index).copied();
        let bytes = |index: usize| field(index)?.checked_mul(SECTOR_BYTES).map(Bytes::new);
        // 32 bits in the kernel; a kernel that shows more is cut alike, so that differences stay right.
        let ms = |index: usize| field(index).map(|ms| ms as u32);
        let block = BlockCounters {
            reads: field(0)?,
            reads_merged: field(1)?,
            read_ms: ms(3)?,
            writes: field(4)?,
            writes_merged: field(5)?,
            write_ms: ms(7)?,
            in_flight: u32::try_from(field(8)?).ok()?,
            io_ms: ms(9)?,
            queue_ms: ms(10)?,
            discards: field(11),
            discarded: bytes(13),
            discard_ms: ms(14),
            flushes: field(15),
            flush_ms: ms(16),
        };
        Some(Self { read: bytes(SECTORS_READ)?, written: bytes(SECTORS_WRITTEN)?, block })
    }

    const fn ios(&self) -> u64 {
        self.block.reads.saturating_add(self.block.writes)
    }

    /// Two paths to one drive together.
    fn plus(self, other: Self) -> Self {
        let (a, b) = (self.block, other.block);
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        let ms = |a: Option<u32>, b: Option<u32>| Some(a?.wrapping_add(b?));
        let block = BlockCounters {
            reads: a.reads.saturating_add(b.reads),
            reads_merged: a.reads_merged.saturating_add(b.reads_merged),
            read_ms: a.read_ms.wrapping_add(b.read_ms),
            writes: a.writes.saturating_add(b.writes),
            writes_merged: a.writes_merged.saturating_add(b.writes_merged),
            write_ms: a.write_ms.wrapping_add(b.write_ms),
            in_flight: a.in_flight.saturating_add(b.in_flight),
            io_ms: a.io_ms.wrapping_add(b.io_ms),
            queue_ms: a.queue_ms.wrapping_add(b.queue_ms),
            discards: sum(a.discards, b.discards),
            discarded: a.discarded.zip(b.discarded).map(|(a, b)| a + b),
            discard_ms: ms(a.discard_ms, b.discard_ms),
            flushes: sum(a.flushes, b.flushes),
            flush_ms: ms(a.flush_ms, b.flush_ms),
        };
        Self { read: self.read + other.read, written: self.written + other.written, block }
    }
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
            assert_eq!(Counted::parse(text), None, "{text:?}");
        }
    }
}
