//! Rows C1 to C4: USB drives written from end to end, speed and temperature once a second.

use measure::record::Op;

use super::rig::{Log, Rig, deviation, end_temp, first_below, hottest, mean, onsets, slowest, span, temp_at};
use super::row::{KELVIN, Quantity, Row, UNIT};
use physics::drive::Drive;

const MB: &str = "MB/s";
const C: &str = "°C";
/// Longer than any run takes.
const MOST_S: usize = 20_000;

/// A drive written from end to end.
fn full(rig: &Rig<'_>, name: &str) -> (Drive, Log) {
    let mut drive = rig.drive(name, None);
    let bytes = drive.profile().identity.capacity_bytes as f64;
    let log = span(&mut drive, Op::Write, bytes, MOST_S);
    (drive, log)
}

pub(super) fn rows(rig: &Rig<'_>) -> Vec<Row> {
    let idle_c = f64::from(rig.drive("exceria-g2-usb10", None).composite().as_whole_celsius());
    let (_, fast) = full(rig, "exceria-g2-usb10");
    let (fan, cooled) = full(rig, "exceria-g2-usb10-fan");
    let (slow_drive, slow) = full(rig, "exceria-g2-usb5");
    vec![c1(idle_c, &fast), c2(&fan, &cooled), c3(&fast, &slow_drive, &slow), c4(rig)]
}

fn c1(idle_c: f64, log: &Log) -> Row {
    let start = mean(&log[..10]);
    let onset = first_below(log, 0.97 * start).min(log.len() - 20);
    let after = &log[onset..];
    let coldest = after.iter().map(|s| s.temp_c).fold(f64::MAX, f64::min);
    let tenth = (after.len() / 10).max(1);
    Row::new(
        "C1",
        "EXCERIA G2, USB 10 Gb/s: 31 °C idle, starts at about 700 MB/s, nothing at 72 °C, limited from near 80 °C on, \
         does not cool, limited more and more to hold about 82 °C",
        true,
        "4.9 %, MB or MiB; 2 K, whole kelvins read off a figure; more: 5 % less speed",
        "set link, heat and regulator; speed falls further as the case warms up",
        vec![
            Quantity::within("idle", C, 31.0 - KELVIN, 31.0 + KELVIN, idle_c),
            Quantity::about("start", MB, 700.0, UNIT, start),
            Quantity::within("limited from", C, 80.0 - KELVIN, 80.0 + KELVIN, temp_at(log, onset)),
            Quantity::within("hottest", C, 82.0 - KELVIN, 82.0 + KELVIN, hottest(log)),
            Quantity::least("coldest after", C, temp_at(log, onset) - 1.0, coldest),
            Quantity::most(
                "last tenth/first tenth",
                "",
                0.95,
                mean(&after[after.len() - tenth..]) / mean(&after[..tenth]),
            ),
        ],
    )
}

fn c2(drive: &Drive, log: &Log) -> Row {
    Row::new(
        "C2",
        "EXCERIA G2, USB 10 Gb/s with fan: 700 MB/s to the end, below 80 °C",
        true,
        "4.9 %, MB or MiB; as stated",
        "set that the link and not the flash is what limits; heat and resistances are those of C1, the air flow of the \
         fan is a guess",
        vec![
            Quantity::about("slowest second", MB, 700.0, UNIT, slowest(&log[..log.len() - 1])),
            Quantity::most("hottest", C, 79.0, hottest(log)),
            Quantity::none("throttled", onsets(drive)),
        ],
    )
}

fn c3(fast: &Log, drive: &Drive, log: &Log) -> Row {
    let at = 300.min(fast.len() - 1).min(log.len() - 1);
    Row::new(
        "C3",
        "EXCERIA G2, USB 5 Gb/s: slower, heats more slowly, is done before throttling; hard to say which is better",
        true,
        "as stated; hard to say: total times within a factor of 1.5",
        "bounded the energy of a byte from above: the slower link must not throttle",
        vec![
            Quantity::none("throttled", onsets(drive)),
            Quantity::most("speed against C1's start", "", 0.9, mean(log) / mean(&fast[..10])),
            Quantity::least("C1 less C3 after 5 min", "K", 1.0, temp_at(fast, at) - temp_at(log, at)),
            Quantity::within("time against C1", "", 1.0 / 1.5, 1.5, log.len() as f64 / fast.len() as f64),
            Quantity::most("end", C, 79.0, end_temp(log)),
        ],
    )
}

fn c4(rig: &Rig<'_>) -> Row {
    let (_, fast) = full(rig, "usb-stick-usb10");
    let (drive, slow) = full(rig, "usb-stick-usb5");
    Row::new(
        "C4",
        "stick, 10 against 5 Gb/s: 10 starts faster, 5 is steady, has the higher mean and is done first",
        true,
        "each larger than the other; steady: 2 %",
        "set how far below its threshold the stick lets go: a wide band lowers the mean temperature",
        vec![
            Quantity::least("start, 10/5", "", 1.0, mean(&fast[..20]) / mean(&slow[..20])),
            Quantity::most("deviation/mean on 5", "", 0.02, deviation(&slow[..slow.len() - 1]) / mean(&slow)),
            Quantity::least("mean, 5/10", "", 1.0, mean(&slow) / mean(&fast)),
            Quantity::most("time, 5/10", "", 1.0, slow.len() as f64 / fast.len() as f64),
            Quantity::none("throttled on 5", onsets(&drive)),
        ],
    )
}
