//! What the block layer has moved to and from a device since boot: `/sys/class/block/X/stat`.
//!
//! It is the independent witness: what the load did, and what else was done to the drive beside it.

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
}

impl BlockstatSampler {
    /// A sampler of the block device `block` (a name such as `nvme0n1`) below `sysfs`.
    pub fn new(sysfs: &Path, block: &str, period: Duration) -> Self {
        Self { period, path: sysfs.join("class/block").join(block).join("stat") }
    }
}

impl Sampler for BlockstatSampler {
    fn source(&self) -> &'static str {
        SOURCE
    }

    fn period(&self) -> Duration {
        self.period
    }

    fn sample(&mut self, now: Instant) -> Reading {
        let counters = read_text(&self.path).and_then(|text| {
            counters(&text)
                .ok_or_else(|| format!("{} holds {:?}, not its counters", self.path.display(), text.trim()))
        });
        match counters {
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
