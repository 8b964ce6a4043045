//! What the words of a column's title say of a drive, in tables whose titles people choose: the plain CSV and dashboards.
//!
//! Rules
//! - A word of another part of a machine, or of something that is not moved data, rules a column out (`cpu`, `iops`, `limit`),
//!   and so does a number of I/Os (`read/s`).
//! - Else a word for reading or writing, for heat or for power decides, in this order.
//! - A drive is named by its device (`nvme0n1`, `sda`).

use crate::monitor::is_drive;
use trace::SegmentOp;

/// What a column is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Data that were read or written: a speed, or bytes ever moved.
    Moved(SegmentOp),
    /// The temperature of the drive itself, or of a sensor by its number.
    Heat(Option<u8>),
    Power,
    /// The temperature of the air around the drive.
    Ambient,
    /// Something that is not of a drive, or no speed.
    Other,
}

const READING: [&str; 18] = [
    "read",
    "reads",
    "reading",
    "readings",
    "readbytes",
    "rd",
    "diskread",
    "lesen",
    "leserate",
    "gelesen",
    "lecture",
    "lectura",
    "lettura",
    "leitura",
    "odczyt",
    "чтение",
    "读取",
    "読み取り",
];
const WRITING: [&str; 20] = [
    "write",
    "writes",
    "writing",
    "writebytes",
    "wr",
    "written",
    "wrtn",
    "diskwrite",
    "schreiben",
    "schreibrate",
    "geschrieben",
    "écriture",
    "ecriture",
    "escritura",
    "scrittura",
    "escrita",
    "zapis",
    "запись",
    "写入",
    "書き込み",
];
const HEAT: [&str; 15] = [
    "temp",
    "temps",
    "temperature",
    "temperatures",
    "temperatur",
    "celsius",
    "composite",
    "hot",
    "°c",
    "température",
    "temperatura",
    "temperatuur",
    "температура",
    "温度",
    "teplota",
];
const POWER: [&str; 5] = ["power", "watt", "watts", "leistung", "consumption"];
const AMBIENT: [&str; 1] = ["ambient"];

/// Words of other parts of a machine, of what is counted beside data, and of lines that are drawn for comparison.
const OTHERS: [&str; 104] = [
    "iops",
    "ios",
    "ops",
    "operations",
    "requests",
    "req",
    "reqs",
    "completed",
    "merged",
    "merges",
    "count",
    "queue",
    "util",
    "utilization",
    "utilisation",
    "busy",
    "await",
    "latency",
    "lat",
    "time",
    "duration",
    "percentile",
    "p",
    "errors",
    "error",
    "sectors",
    "blocks",
    "pages",
    "chunks",
    "cache",
    "cached",
    "pagecache",
    "hit",
    "hits",
    "miss",
    "misses",
    "writeback",
    "dirty",
    "amplification",
    "threshold",
    "warning",
    "critical",
    "limit",
    "limits",
    "target",
    "on",
    "cycles",
    "state",
    "cpu",
    "gpu",
    "core",
    "cores",
    "coretemp",
    "package",
    "processor",
    "acpitz",
    "pch",
    "chipset",
    "board",
    "motherboard",
    "mainboard",
    "vrm",
    "dram",
    "dimm",
    "memory",
    "ram",
    "swap",
    "network",
    "net",
    "eth",
    "lan",
    "wifi",
    "battery",
    "psu",
    "coolant",
    "water",
    "room",
    "case",
    "air",
    "inlet",
    "fan",
    "fans",
    "exhaust",
    "outlet",
    "nand",
    "link",
    "pcie",
    "lanes",
    "rpm",
    "rx",
    "tx",
    "pct",
    "percent",
    "percentage",
    "share",
    "ratio",
    "mix",
    "amp",
    "waf",
    "protect",
    "protected",
    "protection",
    "only",
    "enabled",
];
/// Words of what is warm beside a drive; data may be of them.
const OTHER_HEAT: [&str; 6] = ["system", "chassis", "enclosure", "server", "hba", "nic"];

/// Words of what may be of several drives, or of a time that is past: a drive's own where nothing says it better.
const BOUNDS: [&str; 8] = ["total", "sum", "all", "max", "min", "maximum", "minimum", "host"];
/// Words of what is made from several values.
const MEANS: [&str; 3] = ["avg", "average", "mean"];

/// Words of what was moved since the row before. A sum over a row's time is how clouds export it (CloudWatch's and Azure's `Sum`).
const OF_A_ROW: [&str; 6] = ["row", "interval", "sample", "delta", "increase", "sum"];

/// The words of a title in lower case: they end at blanks, marks and before a capital letter.
pub(crate) fn words(title: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(title.len() + 4);
    let mut before = ' ';
    for c in title.chars() {
        if c.is_uppercase() && before.is_lowercase() || c.is_ascii_digit() && before.is_alphabetic() {
            spaced.push(' ');
        }
        spaced.push(if c.is_alphanumeric() || c == '°' { c } else { ' ' });
        before = c;
    }
    spaced.to_lowercase().split_whitespace().map(str::to_owned).collect()
}

/// What a title is about; `None` where no word of it is known.
pub(crate) fn topic(title: &str) -> Option<Topic> {
    let words = words(title);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let sensor = sensor(&words);
    match (has(&READING), has(&WRITING)) {
        _ if has(&AMBIENT) => Some(Topic::Ambient),
        _ if has(&OTHERS) || title.contains('%') => Some(Topic::Other),
        // `read/s` and `ms/read` of gstat.
        (true, _) | (_, true) if is_of_ios(title) => Some(Topic::Other),
        (true, false) => Some(Topic::Moved(SegmentOp::Read)),
        (false, true) => Some(Topic::Moved(SegmentOp::Write)),
        (true, true) => None,
        _ if has(&HEAT) && has(&OTHER_HEAT) => Some(Topic::Other),
        _ if sensor.is_some() => Some(Topic::Heat(sensor)),
        _ if has(&HEAT) => Some(Topic::Heat(None)),
        _ if has(&POWER) => Some(Topic::Power),
        _ => None,
    }
}

/// Bytes in one of what a title counts whose size is the same everywhere: data units of NVMe are a thousand blocks of 512 bytes
/// (NVMe Base, SMART / Health Information log), sectors of Linux 512 bytes (block layer statistics).
pub(crate) fn counted(title: &str) -> Option<(SegmentOp, f64)> {
    let words = words(title);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let bytes = match () {
        () if has(&["data"]) && has(&["units"]) => 512_000.0,
        () if has(&["sectors"]) && !has(&["merged", "bad", "reallocated", "pending", "s", "sec"]) => 512.0,
        () => return None,
    };
    match (has(&READING), has(&WRITING)) {
        (true, false) => Some((SegmentOp::Read, bytes)),
        (false, true) => Some((SegmentOp::Write, bytes)),
        _ => None,
    }
}

/// The number behind a word for heat (`temp2_c`).
pub(crate) fn heat_number(title: &str) -> Option<u8> {
    let words = words(title);
    let at = words.iter().position(|word| HEAT.contains(&word.as_str()))?;
    words.get(at + 1)?.parse().ok()
}

/// Whether a title has a word for reading or writing.
pub(crate) fn has_direction(title: &str) -> bool {
    let is = |word: &String| READING.contains(&word.as_str()) || WRITING.contains(&word.as_str());
    words(title).iter().any(is)
}

/// Whether a title says that a temperature is in °C.
pub(crate) fn names_celsius(title: &str) -> bool {
    words(title).iter().any(|word| ["celsius", "°c", "℃"].contains(&word.as_str()))
}

/// Whether a title speaks of reads or writes, of which there is a number.
pub(crate) fn is_plural(title: &str) -> bool {
    words(title).iter().any(|word| ["reads", "writes"].contains(&word.as_str()))
}

/// Whether a title has a word of a sum or of the highest or lowest value.
pub(crate) fn is_bound(title: &str) -> bool {
    words(title).iter().any(|word| BOUNDS.contains(&word.as_str()))
}

/// Whether a title has a word of what is made from several values.
pub(crate) fn is_summary(title: &str) -> bool {
    is_bound(title) || words(title).iter().any(|word| MEANS.contains(&word.as_str()))
}

/// Whether a title counts bytes, without a time that they are divided by.
pub(crate) fn counts_bytes(title: &str) -> bool {
    let words = words(title);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    has(&["bytes", "byte", "octets", "readbytes", "writebytes"])
        && !has(&["s", "sec", "second", "rate", "speed"])
}

/// Whether a title counts what was moved in the time of each row.
pub(crate) fn is_of_a_row(title: &str) -> bool {
    words(title).iter().any(|word| OF_A_ROW.contains(&word.as_str()))
}

/// Whether a title speaks of differences, as dashboards make them of counters.
pub(crate) fn is_difference(title: &str) -> bool {
    words(title).iter().any(|word| ["delta", "increase", "interval"].contains(&word.as_str()))
}

/// What a title says beside that: whose column it is.
pub(crate) fn owner(title: &str) -> String {
    let says = [
        &READING[..],
        &WRITING,
        &HEAT,
        &POWER,
        &BOUNDS,
        &MEANS,
        &["bytes", "speed", "rate", "throughput", "sensor"],
    ]
    .concat();
    let title = title.split(['(', '[']).next().unwrap_or(title);
    let whose = |word: &&str| {
        let of_word = words(word);
        !word.ends_with("/s") && !of_word.iter().any(|word| says.contains(&word.as_str()))
    };
    title.split_whitespace().filter(whose).collect::<Vec<_>>().join(" ")
}

/// Whether a title counts or times I/Os.
fn is_of_ios(title: &str) -> bool {
    let lower = title.trim().to_lowercase();
    ["read/s", "reads/s", "write/s", "writes/s"].iter().any(|end| lower.ends_with(end))
        || ["ms/", "us/", "µs/"].iter().any(|begin| lower.starts_with(begin))
}

/// The number in `sensor 1`, `Temperature Sensor 1` and `temp_sensor1`.
fn sensor(words: &[String]) -> Option<u8> {
    let joined = words.join(" ");
    let (_, behind) = joined.split_once("sensor")?;
    behind.split_whitespace().next()?.parse().ok().filter(|number| (1..=8).contains(number))
}

/// The drive that a title names.
pub(crate) fn drive(title: &str) -> Option<String> {
    let lower = title.to_lowercase();
    lower.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| is_drive(word)).map(str::to_owned)
}

/// Columns of iostat in a table of one's own: kB and MB are 1024 and 1024² bytes there.
const IOSTAT: [(&str, SegmentOp, f64); 6] = [
    ("rkB/s", SegmentOp::Read, 1024.0),
    ("wkB/s", SegmentOp::Write, 1024.0),
    ("kB_read/s", SegmentOp::Read, 1024.0),
    ("kB_wrtn/s", SegmentOp::Write, 1024.0),
    ("rMB/s", SegmentOp::Read, 1_048_576.0),
    ("wMB/s", SegmentOp::Write, 1_048_576.0),
];

/// What a title of iostat counts, and in how many bytes per second.
pub(crate) fn iostat(title: &str) -> Option<(SegmentOp, f64)> {
    let last = title.split_whitespace().last()?;
    IOSTAT.into_iter().find(|(name, ..)| *name == last).map(|(_, op, factor)| (op, factor))
}

#[cfg(test)]
mod test {
    use super::*;
    use SegmentOp::{Read, Write};

    #[test]
    fn a_title_is_told_by_its_words() {
        for (title, told) in [
            ("nvme0n1 written", Topic::Moved(Write)),
            ("node_disk_read_bytes_total", Topic::Moved(Read)),
            ("diskio.write_bytes", Topic::Moved(Write)),
            ("Temperature Sensor 2", Topic::Heat(Some(2))),
            ("ssd temp", Topic::Heat(None)),
            ("drive power", Topic::Power),
            ("ambient temp", Topic::Ambient),
        ] {
            assert_eq!(topic(title), Some(told), "{title}");
        }
        for title in [
            "CPU temperature",
            "Package temperature",
            "temp warning threshold",
            "network write",
            "net_write",
            "pagecache writeback",
            "Writes completed",
            "write requests",
            "Write p99",
            "Write limit",
            "write time",
            "read/s",
            "written sectors",
            "write_pct",
            "write%",
            "write_amp",
            "write_protect",
            "read_only",
            "ChassisTempC",
            "System Temp",
            "RX_kBps",
            "Write cache hit",
        ] {
            assert_eq!(topic(title), Some(Topic::Other), "{title}");
        }
        for title in ["link_speed", "pcie_link_speed_gts"] {
            assert_eq!(topic(title), Some(Topic::Other), "{title}");
        }
        for title in ["thread spread", "overwritten", "attempts", "Vtemplate", "note"] {
            assert_eq!(topic(title), None, "{title}");
        }
        assert_eq!((drive("nvme0n1 write").as_deref(), drive("Write")), (Some("nvme0n1"), None));
        assert!(counts_bytes("write_bytes") && !counts_bytes("write_bytes_per_s"));
    }
}
