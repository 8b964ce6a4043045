//! Rows D1 to D10: a QLC drive without DRAM in a PC with 40 GiB of memory.
//!
//! What belongs to the host - its page cache - is modelled here and not in the drive. The random test
//! of the source draws sizes and places; its own program is not published: sizes are spread evenly
//! over orders of magnitude from 512 B to 100 MB here, half of them reads, one at a time.

use std::time::Duration;

use measure::record::Op;
use measure::{Instant, Seed};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

use super::rig::{Rig, commands, mean, median, one_by_one, onsets, span};
use super::row::{Quantity, Row, UNIT};
use physics::drive::{Demand, Drive, Transfer};

const GIB: f64 = 1_073_741_824.0;
/// The test file: stated.
const FILE_GIB: f64 = 400.0;
/// What the host copies into its page cache: a little above the stated 2.55 GiB/s, "a limit of the whole PC".
const HOST_GIB_PER_S: f64 = 2.6;
/// Dirty pages before a writer has to wait: with the speeds of host and drive, full after the stated 8 %.
const DIRTY_GIB: f64 = 2.1;
/// Largest command that the host sends: chosen; with the latency of the drive it gives the speed of single reads.
const COMMAND_BYTES: u64 = 256 << 10;
/// What the host reads ahead at a time: the Linux default.
const READ_AHEAD_BYTES: u32 = 128 << 10;
/// Accesses of the random test.
const ACCESSES: usize = 3000;
/// Longest rest between two accesses, evenly spread from none: what the program does with its data is not
/// stated. Without a rest, an access begins where one has just ended and so never within a pause.
const REST_S: f64 = 0.1;

const IOPS: &str =
    "\"about\" and \"many\" read off a figure on a logarithmic scale: a fifth, and a fifth of them";

pub(super) fn rows(rig: &Rig<'_>) -> Vec<Row> {
    let mut rows = fill(rig);
    let mut drive = used(rig);
    let accesses = random_test(&mut drive);
    let written = median(span(&mut drive, Op::Write, 2e10, 1000).iter().map(|s| s.mb_per_s));
    let read = mean(&commands(&mut drive, Op::Read, 60));
    rows.push(Row::new(
        "D4",
        "sequential write after random: 38 MB/s",
        true,
        "4.9 %, MB or MiB",
        "set how much of the time housekeeping takes: half",
        vec![Quantity::about("speed", "MB/s", 38.0, UNIT, written)],
    ));
    rows.push(Row::new(
        "D5",
        "sequential read after random: about 1.5 GB/s, half of what the link carries",
        true,
        "10 %, \"about\"",
        "the share of housekeeping from D4; that flash reads at 3.1 GB/s, a little less than the link carries, was \
         taken from the author's remark on this very figure",
        vec![Quantity::about("speed", "GB/s", 1.5, 0.1, read / 1e3)],
    ));
    rows.extend(random_writes(&accesses));
    rows.extend(random_reads(&accesses));
    rows.extend(buffered(&mut drive));
    rows.push(endurance(rig));
    rows
}

/// D1 to D3: the file written once into a deallocated drive through the page cache.
fn fill(rig: &Rig<'_>) -> Vec<Row> {
    let mut drive = rig.drive("om8tap4", None);
    let mut cache = PageCache::default();
    // Speed of each 1 % of the file.
    let percent = FILE_GIB / 100.0;
    let speeds: Vec<f64> = (0..40)
        .map(|_| {
            let start = drive.now();
            cache.write(&mut drive, percent);
            percent / drive.now().since(start).as_secs_f64()
        })
        .collect();
    let part = |from: usize, to: usize| median(speeds[from..to].iter().copied());
    let (cached, slc, direct) = (part(0, 8), part(10, 25), part(27, 40));
    let cliff = speeds.iter().position(|speed| *speed < 1.0).unwrap_or(100);
    let direct_mb_per_s = direct * GIB / 1e6;
    vec![
        Row::new(
            "D1",
            "first 8 % of a 400 GiB file: over 2.55 GiB/s, page cache",
            true,
            "as stated",
            "set the host's speed and its room for dirty pages",
            vec![Quantity::least("speed", "GiB/s", 2.55, cached)],
        ),
        Row::new(
            "D2",
            "up to 25 % (100 GiB): 2.4 to 2.45 GiB/s, SLC cache",
            true,
            "as stated; a hundredth of the file",
            "set write speed and SLC cache",
            vec![
                Quantity::within("speed", "GiB/s", 2.4, 2.45, slc),
                Quantity::within("ends at", "%", 24.0, 26.0, cliff as f64),
            ],
        ),
        Row::new(
            "D3",
            "beyond 25 %: 77 to 78 MB/s, 33 to 34 times slower; not thermal",
            true,
            "4.9 %, MB or MiB; no throttling",
            "set the speed past the cache",
            vec![
                Quantity::within("speed", "MB/s", 77.0 * (1.0 - UNIT), 78.0 * (1.0 + UNIT), direct_mb_per_s),
                Quantity::within("drop", "times", 33.0 * (1.0 - UNIT), 34.0 * (1.0 + UNIT), slc / direct),
                Quantity::none("throttled", onsets(&drive)),
            ],
        ),
    ]
}

/// The host's page cache: takes data at the host's speed until it is full of what the drive has not taken.
#[derive(Default)]
struct PageCache {
    dirty_gib: f64,
}

impl PageCache {
    /// Writes `gib` in sequence; returns when the cache has taken it.
    fn write(&mut self, drive: &mut Drive, gib: f64) {
        let step = Duration::from_millis(50);
        let demand = Demand::Transfer(Transfer::sequential(Op::Write, (FILE_GIB * GIB) as u64));
        let mut taken = 0.0;
        while taken < gib {
            let drained = drive.advance_demand(drive.now() + step, &demand).write_bytes / GIB;
            let room = DIRTY_GIB - self.dirty_gib + drained;
            let accepted = (HOST_GIB_PER_S * step.as_secs_f64()).min(room);
            self.dirty_gib = (self.dirty_gib + accepted - drained).max(0.0);
            taken += accepted;
        }
    }
}

/// A drive whose every block has been written.
fn used(rig: &Rig<'_>) -> Drive {
    let mut drive = rig.drive("om8tap4", None);
    let bytes = drive.profile().identity.capacity_bytes as f64;
    span(&mut drive, Op::Write, bytes, 20_000);
    drive
}

/// One access of the random test.
struct RandomAccess {
    op: Op,
    bytes: f64,
    seconds: f64,
}

impl RandomAccess {
    fn mb_per_s(&self) -> f64 {
        self.bytes / self.seconds / 1e6
    }
}

fn random_test(drive: &mut Drive) -> Vec<RandomAccess> {
    let mut generator = Pcg32::seed_from_u64(Seed::new(1).as_u64());
    let mut unit = || f64::from(generator.next_u32()) / 4_294_967_296.0;
    let (small, large): (f64, f64) = (512.0, 1e8);
    (0..ACCESSES)
        .map(|_| {
            let op = if unit() < 0.5 { Op::Read } else { Op::Write };
            let bytes = (small * (large / small).powf(unit())) as u64 / 512 * 512;
            let offset = (unit() * (FILE_GIB - 1.0) * GIB) as u64 / 512 * 512;
            let rest = Duration::from_secs_f64(REST_S * unit());
            drive.advance_demand(drive.now() + rest, &Demand::Idle);
            let seconds = one_by_one(drive, op, offset, bytes.max(512), COMMAND_BYTES);
            RandomAccess { op, bytes: bytes.max(512) as f64, seconds }
        })
        .collect()
}

/// Share of the accesses that are `of` and then also `so`.
fn share<'a>(accesses: impl Iterator<Item = &'a RandomAccess>, so: impl Fn(&RandomAccess) -> bool) -> f64 {
    let (all, hits) = accesses
        .fold((0.0, 0.0), |(all, hits), access| (all + 1.0, hits + if so(access) { 1.0 } else { 0.0 }));
    hits / all
}

/// Accesses of less than 300 kB.
fn small(accesses: &[RandomAccess], op: Op) -> impl Iterator<Item = &RandomAccess> {
    accesses.iter().filter(move |a| a.op == op && a.bytes < 3e5)
}

/// Share of the small ones that come at about 100 a second.
fn near_100(accesses: &[RandomAccess], op: Op) -> f64 {
    share(small(accesses, op), |a| (50.0..=200.0).contains(&(1.0 / a.seconds)))
}

fn most_iops(accesses: &[RandomAccess], op: Op) -> f64 {
    small(accesses, op).map(|a| 1.0 / a.seconds).fold(0.0, f64::max)
}

fn random_writes(accesses: &[RandomAccess]) -> Vec<Row> {
    let of = |from: f64| accesses.iter().filter(move |a| a.op == Op::Write && a.bytes >= from);
    vec![
        Row::new(
            "D6",
            "random writes of 100 kB to 100 MB: 18 to 140 MB/s, often 70 to 140",
            true,
            "nine tenths; often: a fifth, as in D7. Read off a figure",
            "set the speed into a cache that waits for erased blocks; what follows in sequence goes past it",
            vec![
                Quantity::least(
                    "within 18 to 140",
                    "",
                    0.9,
                    share(of(1e5), |a| (18.0..=140.0).contains(&a.mb_per_s())),
                ),
                Quantity::least(
                    "within 70 to 140",
                    "",
                    0.2,
                    share(of(1e5), |a| (70.0..=140.0).contains(&a.mb_per_s())),
                ),
            ],
        ),
        Row::new(
            "D6b",
            "random writes of 128 KiB and more converge to about 36 MB/s",
            true,
            "10 %, \"about\"; the largest fifth of the sizes",
            "the share of housekeeping from D4; that streams go past the cache was taken from here",
            vec![Quantity::about(
                "middle of 10 MB and more",
                "MB/s",
                36.0,
                0.1,
                median(of(1e7).map(RandomAccess::mb_per_s)),
            )],
        ),
        Row::new(
            "D7",
            "write commands: below 300 kB many at about 100 a second, 40,000 a second at most",
            true,
            IOPS,
            "set length of a pause and latency of a write",
            vec![
                Quantity::least("share at 50 to 200 a second", "", 0.2, near_100(accesses, Op::Write)),
                Quantity::about("most", "a second", 40_000.0, 0.2, most_iops(accesses, Op::Write)),
            ],
        ),
    ]
}

fn random_reads(accesses: &[RandomAccess]) -> Vec<Row> {
    let large = || accesses.iter().filter(|a| a.op == Op::Read && a.bytes >= 1e7);
    vec![
        Row::new(
            "D8",
            "random reads of 10 MB and more: about 520 MB/s; 5000 reads a second at most",
            true,
            "10 %, \"about\"; a fifth, read off a figure on a logarithmic scale",
            "set latency of a read and size of a command; half of the time is housekeeping (D4)",
            vec![
                Quantity::about(
                    "middle of 10 MB and more",
                    "MB/s",
                    520.0,
                    0.1,
                    median(large().map(RandomAccess::mb_per_s)),
                ),
                Quantity::about("most", "a second", 5000.0, 0.2, most_iops(accesses, Op::Read)),
            ],
        ),
        Row::new(
            "D8a",
            "reads: many at about 100 a second",
            false,
            IOPS,
            "the pauses of D7",
            vec![Quantity::least("share at 50 to 200 a second", "", 0.2, near_100(accesses, Op::Read))],
        ),
        Row::new(
            "D8b",
            "random reads of 10 MB and more: rarely 1 GB/s and above",
            false,
            "rarely: once in a thousand to once in seven",
            "a read that meets no pause",
            vec![Quantity::within("share", "", 0.001, 0.15, share(large(), |a| a.mb_per_s() >= 1e3))],
        ),
    ]
}

/// D9: accesses through the page cache while it writes back.
fn buffered(drive: &mut Drive) -> Vec<Row> {
    let read_s = read_behind_write_back(drive, 200_000_000);
    let mut cache = PageCache { dirty_gib: DIRTY_GIB };
    let start = drive.now();
    cache.write(drive, 0.3e9 / GIB);
    let write_s = drive.now().since(start).as_secs_f64();
    vec![
        Row::new(
            "D9",
            "buffered reads of 200 MB: over 100 s seen",
            false,
            "as stated",
            "each piece read ahead waits behind a queue of 64 written commands at the speed of D4",
            vec![Quantity::least("time", "s", 100.0, read_s)],
        ),
        Row::new(
            "D9b",
            "buffered writes of 300 MB: over 100 s seen",
            false,
            "as stated",
            "not reproduced: a single writer with a full page cache waits only for its own bytes; what \
             else the host waited for is not stated",
            vec![Quantity::least("time", "s", 100.0, write_s)],
        ),
    ]
}

/// Reads `bytes` piece by piece while 64 writes are always under way; gives up after 1000 s.
fn read_behind_write_back(drive: &mut Drive, bytes: u64) -> f64 {
    const READ: u64 = 1;
    const MOST_S: f64 = 1000.0;
    let start = drive.now();
    let (mut written, mut read) = (0, 0);
    let mut write = |drive: &mut Drive, at: Instant| {
        drive.submit(at, 0, Op::Write, written % (100 << 30), COMMAND_BYTES as u32);
        written += COMMAND_BYTES;
    };
    for _ in 0..64 {
        write(drive, drive.now());
    }
    drive.submit(drive.now(), READ, Op::Read, 200 << 30, READ_AHEAD_BYTES);
    let mut done = Vec::new();
    while read < bytes && drive.now().since(start).as_secs_f64() < MOST_S {
        drive.advance(Instant::NEVER, &mut done);
        for (token, at) in done.drain(..) {
            if token == READ {
                read += u64::from(READ_AHEAD_BYTES);
                drive.submit(at, READ, Op::Read, (200 << 30) + read, READ_AHEAD_BYTES);
            } else {
                write(drive, at);
            }
        }
    }
    let took = drive.now().since(start).as_secs_f64();
    while drive.outstanding() > 0 {
        drive.advance(Instant::NEVER, &mut done);
    }
    took
}

/// D10: what a test costs, as the drive's own counters tell.
fn endurance(rig: &Rig<'_>) -> Row {
    let mut drive = rig.drive("om8tap4", None);
    let capacity = drive.profile().identity.capacity_bytes;
    let rated = drive.profile().identity.rated_write_bytes.unwrap_or(u64::MAX) as f64;
    // 3.5 TB, deallocated after each 100 GB so that it takes virtual minutes and not a day.
    for _ in 0..35 {
        span(&mut drive, Op::Write, 1e11, 1000);
        drive.trim(0, capacity);
    }
    let health = drive.health();
    // The health log counts thousands of 512 B, rounded up (NVMe Base 2.3, figure 206).
    let units = 512_000.0 * (health.write_bytes / 512_000.0).ceil();
    Row::new(
        "D10",
        "rated for 312 times the capacity (160 TB); a test that writes 3.5 TB takes 2.2 % of it",
        true,
        "1 %: whole multiples; one second of writing too much",
        "the rating is a parameter; the share comes from the health log's data units written",
        vec![
            Quantity::about("rated", "capacities", 312.0, 0.01, rated / capacity as f64),
            Quantity::within("share", "%", 2.1, 2.3, 100.0 * units / rated),
            Quantity::within("percentage used", "%", 2.0, 2.0, f64::from(health.percentage_used)),
        ],
    )
}
