//! Stretches of equal demand in a record whose load nobody planned: what a watch saw of the work of others.
//!
//! There less speed may be less demand. Two readings of the block layer's counters give mean size, mix and mean queue of
//! the time between them (Little's law); as long as these stay the same and the queue is never empty, a lower speed is
//! the drive's. Such stretches become phases, and what lies between them is left out: it says nothing about the drive.

use measure::record::{Manifest, Record, TelemetryRow};

use super::{Phase, Trace};
use crate::SegmentOp;

/// The plan of a record that a watch made, and what its phases do: a plan that somebody calls so is still a plan.
const WATCH: &str = "watch";
const LOAD_OF_OTHERS: &str = "load of others, which nobody planned";
/// Below this mean queue the drive waits for work now and then.
const QUEUE_MIN: f64 = 1.0;
/// A share of the bytes that makes a mix.
const MIX_SHARE: f64 = 0.02;
/// Sizes within this ratio of the stretch's are the same, and so are queues.
const SAME_SIZE: f64 = 1.4;
const SAME_QUEUE: f64 = 1.5;
/// Readings closer together than this are taken as one, in seconds.
const SECOND_S: f64 = 0.95;
/// A stretch is this long at least, or it has no speed of its own to compare with, in seconds.
const SHORTEST_S: f64 = 30.0;
/// So many odd seconds within a stretch do not end it.
const ODD_MAX: usize = 3;

/// Whether nobody planned the load of this record.
pub(crate) fn is_unplanned(manifest: &Manifest) -> bool {
    manifest.plan_name == WATCH && manifest.phases.iter().all(|phase| phase.what == LOAD_OF_OTHERS)
}

/// What was asked of the drive in a second.
#[derive(Clone, Copy, Debug)]
struct AskedLoad {
    op: SegmentOp,
    ln_size: f64,
    ln_queue: f64,
}

/// A second, and what was asked in it; `None` where the drive waited for work.
struct AskedSecond {
    start_s: f64,
    end_s: f64,
    demand: Option<AskedLoad>,
    /// I/Os are in flight and none has completed: the drive stands still, whatever is asked.
    stalled: bool,
}

/// A stretch of equal demand.
struct EqualDemand {
    start_s: f64,
    end_s: f64,
    demand: AskedLoad,
    seconds: f64,
}

impl Trace {
    /// Takes stretches of equal demand for the phases, and leaves out the rest; does nothing to a run that was planned.
    pub(crate) fn judge_equal_demand(&mut self, record: &Record) {
        if !self.facts.unplanned {
            return;
        }
        let stretches = stretches(&seconds(&record.telemetry));
        self.phases = stretches.iter().map(phase).collect();
        for series in &mut self.speeds {
            series.intervals.retain_mut(|interval| {
                let middle_s = interval.start_s + interval.span_s / 2.0;
                let phase = self.phases.partition_point(|phase| phase.end_s <= middle_s);
                let is_in = self.phases.get(phase).is_some_and(|phase| phase.start_s <= middle_s);
                interval.phase = phase as u32;
                is_in
            });
        }
        self.speeds.retain(|series| !series.intervals.is_empty());
        let judged_s: f64 = self.phases.iter().map(|phase| phase.end_s - phase.start_s).sum();
        self.notes.push(format!(
            "speeds are compared within {} stretches of equal demand, {judged_s:.0} s together; the rest says nothing about the \
             drive",
            self.phases.len()
        ));
    }
}

fn seconds(rows: &[TelemetryRow]) -> Vec<AskedSecond> {
    let mut seconds = Vec::new();
    let mut before: Option<&TelemetryRow> = None;
    for row in rows.iter().filter(|row| row.block.is_some()) {
        let Some(first) = before else {
            before = Some(row);
            continue;
        };
        if row.t.since(first.t).as_secs_f64() < SECOND_S {
            continue;
        }
        seconds.extend(second(first, row));
        before = Some(row);
    }
    seconds
}

/// `None` where a counter went back: the drive is another one then, or began anew.
fn second(before: &TelemetryRow, after: &TelemetryRow) -> Option<AskedSecond> {
    let (a, b) = (before.block?, after.block?);
    let span_s = after.t.since(before.t).as_secs_f64();
    let ios = (b.reads.checked_sub(a.reads)? + b.writes.checked_sub(a.writes)?) as f64;
    let bytes = |from: Option<measure::Bytes>, to: Option<measure::Bytes>| {
        to?.as_u64().checked_sub(from?.as_u64()).map(|bytes| bytes as f64)
    };
    let read = bytes(before.device_read, after.device_read)?;
    let written = bytes(before.device_written, after.device_written)?;
    // Milliseconds are 32 bits in the kernel, and begin again.
    let queue = f64::from(b.queue_ms.wrapping_sub(a.queue_ms)) / 1e3 / span_s;
    let share = written / (read + written).max(1.0);
    let op = match share {
        ..MIX_SHARE => SegmentOp::Read,
        share if share > 1.0 - MIX_SHARE => SegmentOp::Write,
        _ => SegmentOp::Mixed,
    };
    let has_demand = queue >= QUEUE_MIN && ios > 0.0 && read + written > 0.0;
    let demand =
        has_demand.then(|| AskedLoad { op, ln_size: ((read + written) / ios).ln(), ln_queue: queue.ln() });
    Some(AskedSecond {
        start_s: before.t.as_secs_f64(),
        end_s: after.t.as_secs_f64(),
        demand,
        stalled: ios == 0.0 && b.in_flight > 0,
    })
}

fn stretches(seconds: &[AskedSecond]) -> Vec<EqualDemand> {
    let mut found: Vec<EqualDemand> = Vec::new();
    let mut now: Option<EqualDemand> = None;
    let mut odd = 0;
    for second in seconds {
        let is_on = now.as_ref().is_some_and(|now| now.goes_on_with(second, odd));
        match (&mut now, second.demand) {
            (Some(now), Some(demand)) if is_on => {
                now.take(second, demand);
                odd = 0;
            }
            // It stands still, or does something else for a moment.
            (Some(now), _) if second.stalled => now.end_s = second.end_s,
            (Some(_), _) if odd < ODD_MAX => odd += 1,
            (now, demand) => {
                found.extend(now.take());
                *now = demand.map(|demand| EqualDemand::from(second, demand));
                odd = 0;
            }
        }
    }
    found.extend(now);
    found.retain(|stretch| stretch.end_s - stretch.start_s >= SHORTEST_S);
    found
}

impl EqualDemand {
    const fn from(second: &AskedSecond, demand: AskedLoad) -> Self {
        Self { start_s: second.start_s, end_s: second.end_s, demand, seconds: 1.0 }
    }

    /// Whether as much is asked in this second as before, and it follows.
    fn goes_on_with(&self, second: &AskedSecond, odd: usize) -> bool {
        let follows = second.start_s - self.end_s <= 2.0 + odd as f64 * 2.0;
        second.demand.is_some_and(|demand| {
            follows
                && demand.op == self.demand.op
                && (demand.ln_size - self.demand.ln_size).abs() <= SAME_SIZE.ln()
                && (demand.ln_queue - self.demand.ln_queue).abs() <= SAME_QUEUE.ln()
        })
    }

    fn take(&mut self, second: &AskedSecond, demand: AskedLoad) {
        self.end_s = second.end_s;
        self.seconds += 1.0;
        self.demand.ln_size += (demand.ln_size - self.demand.ln_size) / self.seconds;
        self.demand.ln_queue += (demand.ln_queue - self.demand.ln_queue) / self.seconds;
    }
}

fn phase(stretch: &EqualDemand) -> Phase {
    let AskedLoad { op, ln_size, ln_queue } = stretch.demand;
    let word = match op {
        SegmentOp::Read => "read",
        SegmentOp::Write => "write",
        _ => "mixed",
    };
    let kib = ln_size.exp() / 1024.0;
    let name = format!("{word} {kib:.0} KiB, queue {:.0}", ln_queue.exp());
    Phase {
        what: "load of others at equal size, mix and queue".to_owned(),
        ..Phase::bare(&name, op, stretch.start_s, stretch.end_s)
    }
}

#[cfg(test)]
mod test {
    use std::time::Duration;

    use measure::record::BlockCounters;
    use measure::{Bytes, Instant};

    use super::*;

    /// Readings a second apart of so many reads of 64 KiB a second at that queue.
    fn readings(load: &[(u64, f64)]) -> Vec<TelemetryRow> {
        let mut block = BlockCounters::default();
        let mut rows = Vec::new();
        for (second, (reads, queue)) in std::iter::once(&(0, 0.0)).chain(load).enumerate() {
            block.reads += reads;
            block.queue_ms = block.queue_ms.wrapping_add((queue * 1e3) as u32);
            block.in_flight = queue.ceil() as u32;
            let t = Instant::from_ns(second as u64 * 1_000_000_000);
            let mut row = TelemetryRow::empty(t, "blockstat", Duration::ZERO);
            row.device_read = Some(Bytes::new(block.reads * 65_536));
            row.device_written = Some(Bytes::ZERO);
            row.block = Some(block);
            rows.push(row);
        }
        rows
    }

    fn found(load: &[(u64, f64)]) -> Vec<(f64, f64)> {
        stretches(&seconds(&readings(load))).iter().map(|s| (s.start_s, s.end_s)).collect()
    }

    /// Goal: less asked is not less given. Method: the same fall of speed, once with the queue kept up, once without.
    #[test]
    fn less_asked_ends_a_stretch_and_less_given_does_not() {
        let slower = [[(8000, 8.0); 60], [(2000, 8.0); 60]].concat();
        assert_eq!(found(&slower), [(0.0, 120.0)]);
        let less = [[(8000, 8.0); 60], [(2000, 1.9); 60]].concat();
        assert_eq!(found(&less), [(0.0, 60.0), (63.0, 120.0)]);
        let idle = [[(8000, 8.0); 60], [(500, 0.4); 60], [(8000, 8.0); 60]].concat();
        assert_eq!(found(&idle), [(0.0, 60.0), (120.0, 180.0)]);
        assert!(found(&[(500, 0.4); 120]).is_empty(), "a drive that waits for work says nothing");
        assert!(found(&[(8000, 8.0); 20]).is_empty(), "too short");
    }

    /// Goal: a drive that stands still with I/Os in flight is the drive's doing; a moment of something else is passed over.
    #[test]
    fn a_stall_is_the_drives_and_a_moment_is_no_change() {
        let mut stalls = [(8000, 8.0); 90];
        // Nothing completes, so the kernel adds nothing to its sums.
        let mut rows = readings(&stalls);
        for row in &mut rows[40..60] {
            let block = row.block.as_mut().expect("there is one");
            let (reads, queue_ms) = (8000 * 39, 8000 * 39);
            (block.reads, block.queue_ms, row.device_read) =
                (reads, queue_ms, Some(Bytes::new(reads * 65_536)));
        }
        let stretches_found = stretches(&seconds(&rows));
        assert!(stretches_found.iter().any(|s| s.start_s == 0.0 && s.end_s >= 60.0));
        stalls[45] = (100, 0.2);
        assert_eq!(found(&stalls), [(0.0, 90.0)]);
    }
}
