//! Rows D1 to D10: a QLC drive without DRAM in a PC with 40 GiB of memory.
//!
//! Each comes from a built-in plan on `twin:om8tap4`, as anybody can run it; docs/qlc-article has the commands. What the
//! source does not say - how its program draws sizes, rests and splits, how many accesses it has at once - is in the plans.

use measure::record::{Op, OpRow};
use plan::Plan;

use super::play::{Played, play};
use super::rig::{Rig, median, onsets};
use super::row::{Quantity, Row, UNIT};

const GIB: f64 = 1_073_741_824.0;
/// The test file: stated.
const FILE_GIB: f64 = 400.0;
/// Laps of `full-span` that write 3.5 TB: stated as 2.2 % of what the drive is rated for.
const LAPS: u32 = 7;

const IOPS: &str =
    "\"about\" and \"many\" read off a figure on a logarithmic scale: a fifth, and a fifth of them";

pub(super) fn rows(rig: &Rig<'_>) -> Vec<Row> {
    let full_span = run(rig, "full-span", |plan| plan.record_ops = true);
    let buffered = run(rig, "buffered", |_| {});
    let mut rows = fill(&full_span, &buffered);
    let random = run(rig, "random-sizes", |_| {});
    let written = median(random.phases[4].mb_per_s());
    let read = mean(random.phases[5].mb_per_s());
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
    let accesses: Vec<RandomAccess> = random.phases[3].accesses.iter().map(RandomAccess::from).collect();
    rows.extend(random_writes(&accesses));
    rows.extend(random_reads(&accesses));
    rows.extend(through_page_cache(&buffered.phases[1].accesses));
    rows.push(endurance(&run(rig, "full-span", |plan| {
        plan.phases[0].loads[0].laps = Some(LAPS);
    })));
    rows
}

/// A built-in plan, changed, on the drive.
fn run(rig: &Rig<'_>, name: &str, change: fn(&mut Plan)) -> Played {
    let mut plan = Plan::builtin(name).expect("experiments name built-in plans only (our own bug)");
    change(&mut plan);
    play(&plan, rig.drive("om8tap4", None))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Speed of each 1 % of the file, in GiB/s.
fn speeds(played: &Played) -> Vec<f64> {
    let percent = FILE_GIB / 100.0;
    let phase = &played.phases[0];
    let (mut bytes, mut begun, mut speeds) = (0.0, phase.start, Vec::new());
    for access in &phase.accesses {
        bytes += f64::from(access.len) / GIB;
        if bytes >= percent {
            let end = access.t + access.span();
            speeds.push(bytes / end.since(begun).as_secs_f64());
            (bytes, begun) = (0.0, end);
        }
    }
    speeds
}

/// D1 to D3: a deallocated drive written in order, through the page cache and past it.
fn fill(full_span: &Played, buffered: &Played) -> Vec<Row> {
    let (direct, buffered) = (speeds(full_span), speeds(buffered));
    let part =
        |speeds: &[f64], from: usize, to: usize| median(speeds.iter().skip(from).take(to - from).copied());
    let (cached, slc, direct_speed) = (part(&buffered, 0, 8), part(&direct, 10, 25), part(&direct, 27, 100));
    let cliff = direct.iter().position(|speed| *speed < 1.0).unwrap_or(100);
    let direct_mb_per_s = direct_speed * GIB / 1e6;
    vec![
        Row::new(
            "D1",
            "first 8 % of a 400 GiB file: over 2.55 GiB/s, page cache",
            true,
            "as stated; for how long: give or take a quarter, \"about\"",
            "set the host's speed; how long it lasts follows from 40 GiB of memory and the defaults of Linux",
            vec![
                Quantity::least("speed", "GiB/s", 2.55, cached),
                Quantity::within(
                    "until",
                    "%",
                    6.0,
                    10.0,
                    buffered.iter().position(|speed| *speed < 2.55).unwrap_or(100) as f64,
                ),
            ],
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
                Quantity::within(
                    "drop",
                    "times",
                    33.0 * (1.0 - UNIT),
                    34.0 * (1.0 + UNIT),
                    slc / direct_speed,
                ),
                Quantity::none("throttled", onsets(&full_span.drive)),
            ],
        ),
    ]
}

/// One access of the random test.
struct RandomAccess {
    op: Op,
    bytes: f64,
    seconds: f64,
}

impl From<&OpRow> for RandomAccess {
    fn from(row: &OpRow) -> Self {
        Self { op: row.op, bytes: f64::from(row.len), seconds: row.span().as_secs_f64() }
    }
}

impl RandomAccess {
    fn mb_per_s(&self) -> f64 {
        self.bytes / self.seconds / 1e6
    }
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
    // The source's range ends at 100 MB.
    let of =
        |from: f64| accesses.iter().filter(move |a| a.op == Op::Write && (from..=1e8).contains(&a.bytes));
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

/// D9: accesses through the page cache while others write.
fn through_page_cache(accesses: &[OpRow]) -> Vec<Row> {
    let longest = |op: Op, from: u32| {
        accesses
            .iter()
            .filter(|row| row.op == op && row.len >= from)
            .map(|row| row.span().as_secs_f64())
            .fold(0.0, f64::max)
    };
    vec![
        Row::new(
            "D9",
            "buffered reads of 200 MB: over 100 s seen",
            false,
            "as stated",
            "each piece read ahead waits behind a queue of 64 written commands",
            vec![Quantity::least("longest", "s", 100.0, longest(Op::Read, 200_000_000))],
        ),
        Row::new(
            "D9b",
            "buffered writes of 300 MB: over 100 s seen",
            true,
            "as stated",
            "set how many write at once, which is not stated: 16; one alone waits for its own bytes only, some 8 s",
            vec![Quantity::least("longest", "s", 100.0, longest(Op::Write, 300_000_000))],
        ),
    ]
}

/// D10: what a test costs, as the drive's own counters tell.
fn endurance(played: &Played) -> Row {
    let drive = &played.drive;
    let capacity = drive.profile().identity.capacity_bytes;
    let rated = drive.profile().identity.rated_write_bytes.unwrap_or(u64::MAX) as f64;
    let health = drive.health();
    // The health log counts thousands of 512 B, rounded up (NVMe Base 2.3, figure 206).
    let units = 512_000.0 * (health.write_bytes / 512_000.0).ceil();
    Row::new(
        "D10",
        "rated for 312 times the capacity (160 TB); a test that writes 3.5 TB takes 2.2 % of it",
        true,
        "1 %: whole multiples; 3.5 and 2.2: their last digits",
        "the rating is a parameter; the share comes from the health log's data units written",
        vec![
            Quantity::about("rated", "capacities", 312.0, 0.01, rated / capacity as f64),
            Quantity::within("share", "%", 2.1, 2.3, 100.0 * units / rated),
            Quantity::within("percentage used", "%", 2.0, 2.0, f64::from(health.percentage_used)),
        ],
    )
}
