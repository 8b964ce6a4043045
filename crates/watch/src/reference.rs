//! How fast a drive is when nothing slows it, by what is asked of it: the reference that "slower" needs.
//!
//! Nobody knows the demand. What can be compared is latency at equal concurrency: seconds with the same mean size of an
//! I/O, the same share of reads and the same mean queue. Within one such bin a drive that needs longer is slower,
//! whatever is asked of it. Below a mean queue of 1 a burst and an even flow look alike, so nothing is compared there.

use std::collections::BTreeMap;

use crate::slice::LoadSlice;

/// Below this mean queue a second says nothing about capacity.
pub const QUEUE_MIN: f64 = 1.0;

/// Seconds that a bin must have seen before it is a reference.
pub const SECONDS_MIN: u32 = 15;

/// More bins than any workload has; beyond it new ones are not learned, so that memory is bounded.
const BINS_MAX: usize = 4096;

/// The median follows a change of the drive over this many seconds at least.
const STEP_MIN: f64 = 0.005;

/// What is alike: operation, size, mix, queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BinKey {
    /// Whether its latency is of writes.
    pub is_write: bool,
    /// Mean size of an I/O, in steps of a half of a doubling.
    size: i16,
    /// Share of writes among bytes, in quarters: only writes, mostly, ...
    mix: i8,
    /// Mean queue, in steps of a half of a doubling.
    queue: i16,
}

/// A second, as it is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// Its bin.
    pub key: BinKey,
    /// Its mean latency in seconds.
    pub latency_s: f64,
}

/// What a slice can be compared by: the operation that moves most of its data. `None` where nothing can be said.
pub fn compared(slice: &LoadSlice) -> Option<Compared> {
    if slice.queue < QUEUE_MIN || slice.discard.time_ms > slice.read.time_ms + slice.write.time_ms {
        return None;
    }
    let (read, write) = (slice.read.bytes.as_f64(), slice.write.bytes.as_f64());
    let share = write / (read + write).max(1.0);
    let is_write = share >= 0.5;
    let op = if is_write { &slice.write } else { &slice.read };
    let latency_s = op.latency_s()?;
    let key = BinKey {
        is_write,
        size: half_doublings(op.size_bytes()?),
        mix: if share < 0.02 { 0 } else { 1 + (share * 3.99) as i8 },
        queue: half_doublings(slice.queue),
    };
    Some(Compared { key, latency_s })
}

/// The logarithm of a number above 0 to the base of the root of 2, whole.
fn half_doublings(number: f64) -> i16 {
    (2.0 * number.max(1e-9).log2()).round() as i16
}

/// Latencies seen while the drive was not slow.
#[derive(Clone, Debug, Default)]
pub struct References {
    bins: BTreeMap<BinKey, Median>,
}

/// A running median of the logarithm of a latency.
#[derive(Clone, Copy, Debug)]
struct Median {
    ln: f64,
    /// Mean distance of the seconds from it.
    spread: f64,
    seconds: u32,
}

impl References {
    /// Learns from a second in which the drive was not slow. In a hot one it may be so already and nobody knows: then what
    /// is longer counts a quarter, so that a fifth of the seconds decides instead of a half.
    pub fn learn(&mut self, second: &Compared, is_cool: bool) {
        let ln = second.latency_s.ln();
        if let Some(median) = self.bins.get_mut(&second.key) {
            median.seconds = median.seconds.saturating_add(1);
            // Towards the reading by less and less (Robbins and Monro 1951): the median, in two numbers.
            let step = (1.0 / f64::from(median.seconds)).max(STEP_MIN);
            let up = if is_cool { step } else { step / 4.0 };
            median.spread += ((ln - median.ln).abs() - median.spread) * step;
            median.ln += (ln - median.ln).clamp(-step, up);
        } else if self.bins.len() < BINS_MAX {
            self.bins.insert(second.key, Median { ln, spread: 0.0, seconds: 1 });
        }
    }

    /// How much longer than when nothing slows it, and by how much seconds there differ among themselves: both logarithms
    /// of a ratio of latencies, 0 for alike. `None` without a reference.
    ///
    /// Where the same bin is not known, those of one half doubling less or more of the queue are taken: latency grows at
    /// most as the queue does, so the lower one is scaled up by it and errs to the side of "not slow".
    pub fn slower_ln(&self, second: &Compared) -> Option<(f64, f64)> {
        let known = |offset: i16| {
            let key = BinKey { queue: second.key.queue + offset, ..second.key };
            let known = self.bins.get(&key).filter(|median| median.seconds >= SECONDS_MIN)?;
            Some((known.ln - f64::from(offset.min(0)) * std::f64::consts::LN_2 / 2.0, known.spread))
        };
        let (reference, spread) = [0, 1, -1, -2, -3, -4].into_iter().find_map(known)?;
        Some((second.latency_s.ln() - reference, spread))
    }

    /// Begins anew: what was slow for long is how the drive is now.
    pub fn forget(&mut self) {
        self.bins.clear();
    }

    /// How many bins are a reference.
    pub fn known(&self) -> usize {
        self.bins.values().filter(|median| median.seconds >= SECONDS_MIN).count()
    }
}

#[cfg(test)]
mod test {
    use std::time::Duration;

    use measure::{Bytes, Instant};

    use super::*;
    use crate::slice::OpSlice;

    fn second(iops: u64, latency_ms: f64, queue: f64) -> LoadSlice {
        let time_ms = (iops as f64 * latency_ms) as u32;
        LoadSlice {
            start: Instant::ZERO,
            span: Duration::from_secs(1),
            read: OpSlice { ios: iops, bytes: Bytes::new(iops * 4096), time_ms },
            write: OpSlice::default(),
            discard: OpSlice::default(),
            queue,
            in_flight: 0,
        }
    }

    #[test]
    fn latency_is_compared_at_equal_concurrency_only() {
        let mut references = References::default();
        let cool = compared(&second(8000, 1.0, 8.0)).expect("comparable");
        (0..SECONDS_MIN).for_each(|_| references.learn(&cool, true));
        let slow = compared(&second(4000, 2.0, 8.0)).expect("comparable");
        assert!((references.slower_ln(&slow).expect("known").0 - 2.0_f64.ln()).abs() < 0.01);
        // Twice the queue for twice the latency is what a full drive does: not slower.
        let fuller = compared(&second(8000, 2.0, 16.0)).expect("comparable");
        assert!(references.slower_ln(&fuller).expect("known").0.abs() < 0.01);
        // Little is asked: nothing is known.
        assert_eq!(compared(&second(500, 0.5, 0.25)), None);
        let another = LoadSlice {
            read: OpSlice { bytes: Bytes::new(1 << 30), ..second(8000, 1.0, 8.0).read },
            ..second(8000, 1.0, 8.0)
        };
        assert_eq!(references.slower_ln(&compared(&another).expect("comparable")), None);
    }
}
