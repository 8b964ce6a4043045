//! The run on the drive's own clock: what a virtual SSD did that lives faster than its host, and moves less data.
//!
//! A record is written in the host's time. What is known about drives - how fast they heat, how long they throttle -
//! holds in theirs, and so do the counters of the health log. One factor a quantity: spans and latencies take the
//! time scale, bytes the bandwidth scale. Numbers of I/Os, settings and log pages stay as they are.

use std::time::Duration;

use super::{IoRow, LostPart, Manifest, Origin, Record};
use crate::time::Instant;
use crate::units::Bytes;

/// The two factors.
#[derive(Clone, Copy)]
struct DriveScale {
    time: u32,
    bandwidth: u32,
}

impl Record {
    /// The record as it was written, in the drive's time.
    pub(super) fn in_drive_time(mut self) -> Self {
        let Origin::VirtualSsd { time_scale: time, bandwidth_scale: bandwidth, .. } = self.manifest.origin
        else {
            return self;
        };
        let scale = DriveScale { time, bandwidth };
        scale.manifest(&mut self.manifest);
        self.io.iter_mut().for_each(|row| scale.io(row));
        for row in &mut self.telemetry {
            row.t = scale.instant(row.t);
            row.cost = scale.span(row.cost);
            row.device_read = row.device_read.map(|bytes| scale.bytes(bytes));
            row.device_written = row.device_written.map(|bytes| scale.bytes(bytes));
        }
        for row in &mut self.smart {
            row.t = scale.instant(row.t);
        }
        for part in &mut self.lost {
            if let LostPart::Rest { after: Some(after), .. } = part {
                *after = scale.instant(*after);
            }
        }
        self
    }
}

impl DriveScale {
    const fn ns(self, ns: u64) -> u64 {
        ns.saturating_mul(self.time as u64)
    }

    const fn instant(self, at: Instant) -> Instant {
        Instant::from_ns(self.ns(at.as_ns()))
    }

    const fn span(self, span: Duration) -> Duration {
        span.saturating_mul(self.time)
    }

    const fn bytes(self, bytes: Bytes) -> Bytes {
        Bytes::new(bytes.as_u64().saturating_mul(self.bandwidth as u64))
    }

    /// A rate of the host as one of the drive.
    fn rate(self, bytes_per_s: f64) -> f64 {
        bytes_per_s * f64::from(self.bandwidth) / f64::from(self.time)
    }

    fn io(self, row: &mut IoRow) {
        (row.t, row.span) = (self.instant(row.t), self.span(row.span));
        row.bytes = self.bytes(row.bytes);
        (row.slat, row.clat) = (row.slat.stretched(self.time), row.clat.stretched(self.time));
    }

    fn manifest(self, manifest: &mut Manifest) {
        manifest.interval_ns = self.ns(manifest.interval_ns);
        let drive = &mut manifest.drive;
        drive.size_bytes = drive.size_bytes.saturating_mul(self.bandwidth.into());
        drive.slc_bytes = drive.slc_bytes.map(|bytes| bytes.saturating_mul(self.bandwidth.into()));
        for phase in &mut manifest.phases {
            phase.start_ns = phase.start_ns.map(|ns| self.ns(ns));
            phase.end_ns = phase.end_ns.map(|ns| self.ns(ns));
            phase.rate_limit_bytes_per_s = phase.rate_limit_bytes_per_s.map(|rate| self.rate(rate));
        }
        if let Some(governor) = &mut manifest.governor {
            governor.at_least_bytes_per_s = self.rate(governor.at_least_bytes_per_s);
            for held in &mut governor.held {
                (held.start_ns, held.end_ns) = (self.ns(held.start_ns), self.ns(held.end_ns));
                held.bytes_per_s = self.rate(held.bytes_per_s);
            }
        }
        if let Some(end) = &mut manifest.end {
            end.t_ns = self.ns(end.t_ns);
        }
    }
}
