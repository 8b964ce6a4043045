//! Prints how many simulated I/Os a second the drive serves, and how long a simulated hour takes.
//!
//! `cargo run --release -p heatsoak-physics --example io_rate` for the drive alone;
//! `... -- TRACE` serves the requests of a file instead, in the format of MQSim: arrival in nanoseconds, device,
//! first sector, sectors, 0 for a write and 1 for a read (bench/beside_mqsim.py makes both).
#![expect(clippy::print_stdout, reason = "printing is its purpose")]

use std::time::Duration;

use measure::record::Op;
use measure::{Clock as _, Instant, MonotonicClock, Seed};
use physics::{Demand, Drive, Profile, Transfer};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let profile = Profile::builtin("ssd1")?;
    if let Some(path) = std::env::args().nth(1) {
        return trace(&profile, &std::fs::read_to_string(path)?);
    }
    for (name, op, len, random) in [
        ("1 MiB sequential write", Op::Write, 1 << 20, false),
        ("1 MiB sequential read", Op::Read, 1 << 20, false),
        ("4 KiB random read", Op::Read, 4096, true),
        ("4 KiB random write", Op::Write, 4096, true),
    ] {
        ios(name, &profile, op, len, random);
    }
    let mut drive = Drive::new(&profile, Seed::new(1));
    let clock = MonotonicClock::start();
    for (hour, op) in [(1, Op::Write), (2, Op::Read)] {
        let demand = Demand::Transfer(Transfer::sequential(op, 50 << 30));
        drive.advance_demand(Instant::ZERO + Duration::from_secs(3600 * hour), &demand);
    }
    println!("by demand rate: {:.1} ms a simulated hour", clock.now().as_secs_f64() * 1e3 / 2.0);
    Ok(())
}

/// Serves each request at its time, as MQSim does with a trace.
fn trace(profile: &Profile, text: &str) -> Result<(), Box<dyn std::error::Error>> {
    const SECTOR_BYTES: u64 = 512;
    let mut drive = Drive::new(profile, Seed::new(1));
    let mut done = Vec::with_capacity(64);
    let (mut submitted, mut completed) = (0_u64, 0_u64);
    let clock = MonotonicClock::start();
    for line in text.lines() {
        let mut fields = line.split_ascii_whitespace().map(str::parse::<u64>);
        let mut next = || fields.next().ok_or("a line has fewer than five fields");
        let (arrival, _device, sector) = (Instant::from_ns(next()??), next()??, next()??);
        let (sectors, op) = (next()??, if next()?? == 0 { Op::Write } else { Op::Read });
        while drive.next_completion().is_some_and(|at| at <= arrival) {
            done.clear();
            drive.advance(arrival, &mut done);
            completed += done.len() as u64;
        }
        let len = u32::try_from(sectors * SECTOR_BYTES)?;
        drive.submit(arrival, submitted, op, sector * SECTOR_BYTES, len);
        submitted += 1;
    }
    while drive.outstanding() > 0 {
        done.clear();
        drive.advance(Instant::NEVER, &mut done);
        completed += done.len() as u64;
    }
    let wall_s = clock.now().as_secs_f64();
    println!(
        "trace: {completed} of {submitted} I/Os, {:.2} million I/Os/s, {:.1} s simulated in {wall_s:.3} s",
        completed as f64 / wall_s / 1e6,
        drive.now().as_secs_f64(),
    );
    Ok(())
}

fn ios(name: &str, profile: &Profile, op: Op, len: u32, random: bool) {
    const COUNT: u64 = 3_000_000;
    const REGION_BYTES: u64 = 50 << 30;
    let mut drive = Drive::new(profile, Seed::new(1));
    let mut done = Vec::with_capacity(64);
    let (mut submitted, mut completed, mut place) = (0_u64, 0_u64, 1_u64);
    let mut offset = |n: u64| {
        if !random {
            return n * u64::from(len) % REGION_BYTES;
        }
        place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (place >> 33) % (REGION_BYTES / u64::from(len)) * u64::from(len)
    };
    let clock = MonotonicClock::start();
    while submitted < 64 {
        drive.submit(Instant::ZERO, submitted, op, offset(submitted), len);
        submitted += 1;
    }
    while completed < COUNT {
        done.clear();
        drive.advance(Instant::NEVER, &mut done);
        completed += done.len() as u64;
        for _ in 0..done.len() {
            drive.submit(drive.now(), submitted, op, offset(submitted), len);
            submitted += 1;
        }
    }
    let wall_s = clock.now().as_secs_f64();
    println!(
        "{name}: {:.1} million I/Os/s, {:.0} s simulated in {:.3} s",
        COUNT as f64 / wall_s / 1e6,
        drive.now().as_secs_f64(),
        wall_s
    );
}
