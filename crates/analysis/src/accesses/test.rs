//! Stalls and sizes against accesses whose truth is known; on twins in `crates/cli/tests/simulated/stalls.rs`.

use std::time::Duration;

use measure::Instant;
use measure::record::Op;

use super::*;
use trace::Phase;

/// Accesses one by one, `took_ms` each, a millisecond apart.
fn rows(took_ms: impl Iterator<Item = (u32, f64)>) -> Vec<OpRow> {
    let mut t_ns = 0;
    let row = |(len, ms): (u32, f64)| {
        let clat = Duration::from_secs_f64(ms / 1e3);
        let t = Instant::from_ns(t_ns);
        t_ns += clat.as_nanos() as u64 + 1_000_000;
        OpRow {
            t,
            phase: 0,
            worker: 0,
            op: Op::Write,
            offset: 0,
            len,
            slat: Duration::ZERO,
            clat,
            errno: None,
        }
    };
    took_ms.map(row).collect()
}

fn found(rows: &[OpRow]) -> StallFindings {
    let mut trace = Trace::empty("accesses");
    let end_s = rows.last().map_or(0.0, |row| row.t.as_secs_f64() + seconds(row));
    trace.phases.push(Phase::bare("write", SegmentOp::Write, 0.0, end_s));
    accesses(&trace, rows).expect("there are accesses").0.stalls.remove(0)
}

#[test]
fn an_access_that_waits_is_a_stall_and_a_slow_drive_is_none() {
    let steady = |n: usize| (0..n).map(|i| (65_536, 0.4 + 0.01 * (i % 7) as f64));
    assert_eq!(found(&rows(steady(2000))).stalled, 0);
    // Every 100th waits 30 ms, which is a hundred times as long.
    let waits =
        steady(2000).enumerate().map(|(i, access)| if i % 100 == 50 { (65_536, 30.0) } else { access });
    let waiting = found(&rows(waits));
    assert_eq!((waiting.stalled, waiting.pauses, waiting.decades), (20, 20, [0, 20, 0, 0, 0, 0]));
    assert_eq!(waiting.clustering, Some(StallClustering::Clocked));
    assert_eq!(waiting.owner, StallOwner::Drive);
    assert!(waiting.longest_s.is_some_and(|longest_s| (longest_s - 0.03).abs() < 1e-9), "{waiting:?}");
    // Throttled to a hundredth from the middle on: a level, not a thousand stalls.
    let slow = (0..2000).map(|i| (65_536, if i < 1000 { 0.4 } else { 40.0 }));
    assert_eq!(found(&rows(slow)).stalled, 0);
    // Half of the accesses meet a pause of 10 ms: "100-IOPS stalls".
    let half = (0..2000).map(|i| (4096, if (i * 7919) % 100 < 50 { 10.0 } else { 0.17 }));
    assert_eq!(found(&rows(half)).stalled, 1000);
}

#[test]
fn large_accesses_take_longer_without_stalling() {
    let sizes = (0..4000).map(|i| {
        let octave = 12 + i % 14;
        (1_u32 << octave, 0.1 + f64::from(1_u32 << octave) / 1e6)
    });
    let rows = rows(sizes);
    assert_eq!(found(&rows).stalled, 0);
    let mut trace = Trace::empty("sizes");
    trace.phases.push(Phase::bare("write", SegmentOp::Write, 0.0, 1e6));
    let (found, clouds) = accesses(&trace, &rows).expect("there are accesses");
    let sizes: Vec<u64> = found.sizes.iter().map(|size| size.from_bytes).collect();
    assert_eq!((sizes.first(), sizes.last(), sizes.len()), (Some(&4096), Some(&(1 << 25)), 14));
    let last = found.sizes.last().expect("octaves");
    // 33.6 MB in 33.65 ms.
    assert!((last.median_bytes_per_s / 9.97e8 - 1.0).abs() < 0.01, "{last:?}");
    let drawn: u32 = clouds[0].cells.iter().map(|cell| cell.2).sum();
    assert_eq!((clouds.len(), drawn), (1, 4000));
}
