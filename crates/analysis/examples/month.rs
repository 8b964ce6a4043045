//! Analyses a month at 1 Hz in which the drive throttles all along: seconds and memory.
//!
//! `cargo run --release -p heatsoak-analysis --example month`. The target is 5 s and 500 MB. The trace is made up here.

use std::io::Write as _;

use analysis::findings::SegmentOp;
use measure::{Clock as _, MonotonicClock};
use trace::Trace;
use trace::{Interval, SpeedSeries, Temperature, infer_phases, instant};

const SECONDS: usize = 30 * 86_400;

fn main() -> std::io::Result<()> {
    let trace = month();
    let clock = MonotonicClock::start();
    let findings = analysis::analyze(&trace);
    let took_s = clock.now().as_secs_f64();
    let mut out = std::io::stdout();
    writeln!(out, "{SECONDS} intervals and temperatures, {} events", findings.events.len())?;
    writeln!(out, "analysed in {took_s:.2} s, {} at most", peak_memory())
}

/// Cycles of about a minute, no two alike.
fn month() -> Trace {
    let mut trace = Trace::empty("a month");
    let mut kelvin = measure::Series::new();
    let (mut temp_k, mut slow) = (310.0, false);
    let mut intervals = Vec::with_capacity(SECONDS);
    for s in 0..SECONDS {
        let t_s = s as f64;
        let air_k = 303.0 + 4.0 * (t_s / 86_400.0 * std::f64::consts::TAU).sin();
        slow = if slow { temp_k > 338.0 } else { temp_k >= 343.0 };
        let speed = if slow { 3e8 } else { 3e9 };
        let settles_k = air_k + 10.0 + 14.0 * speed / 1e9;
        temp_k += (settles_k - temp_k) / 60.0;
        let noise = 1.0 + 0.03 * (t_s * 12.9898).sin() * (t_s * 78.233).cos();
        intervals.push(Interval { start_s: t_s, span_s: 1.0, bytes: speed * noise, phase: 0 });
        kelvin.push(instant(t_s), f64::floor(temp_k));
    }
    trace.speeds = vec![SpeedSeries { op: SegmentOp::Read, intervals }];
    trace.temperatures = vec![Temperature { name: "composite".into(), kelvin }];
    trace.trust_a_sensor();
    infer_phases(&mut trace);
    trace
}

/// The most memory that this process ever had, as Linux tells it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.map_or_else(|| "unknown memory".to_owned(), |peak| peak.trim().to_owned())
}
