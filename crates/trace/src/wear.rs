//! What a run took from a drive's endurance, by the drive's own counters: the first and the last SMART page of the run.
//!
//! NVMe Base 2.3, SMART / Health Information: byte 5 is the percentage used, bytes 63:48 are the data units written, each
//! a thousand times 512 bytes, rounded up. What the flash took besides (NAND bytes) is not in this page.

use measure::record::{Record, SmartRow};

use crate::Trace;

/// SMART / Health Information.
const LOG_ID: u8 = 0x02;
const DATA_UNIT_BYTES: f64 = 512_000.0;

/// Endurance counters at the two ends of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WearCounters {
    /// Data units written at the start and at the end, in bytes.
    pub written_bytes: [f64; 2],
    /// Percentage used at the start and at the end.
    pub used_percent: [u8; 2],
    /// Rated endurance in bytes; `None` where nobody stated it.
    pub rated_bytes: Option<f64>,
}

impl Trace {
    /// Takes the counters from the pages of `record`.
    pub(crate) fn add_wear(&mut self, record: &Record) {
        let mut pages = record.smart.iter().filter(|row| row.log_id == LOG_ID).filter_map(counters);
        let Some(first) = pages.next() else { return };
        let last = pages.next_back().unwrap_or(first);
        self.wear = Some(WearCounters {
            written_bytes: [first.0, last.0],
            used_percent: [first.1, last.1],
            rated_bytes: record.manifest.rated_write_bytes.map(|bytes| bytes as f64),
        });
    }
}

fn counters(row: &SmartRow) -> Option<(f64, u8)> {
    let units: [u8; 16] = row.page.get(48..64)?.try_into().ok()?;
    Some((u128::from_le_bytes(units) as f64 * DATA_UNIT_BYTES, *row.page.get(5)?))
}
