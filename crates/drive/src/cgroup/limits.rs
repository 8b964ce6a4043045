//! Lines of `io.max` and `io.stat` (Linux Documentation/admin-guide/cgroup-v2.rst, IO Interface Files).
//!
//! `io.max` has a line for each disk with a limit: `259:0 rbps=max wbps=1048576 riops=max wiops=max`. A disk without a
//! limit has none. What is written may leave keys out, which keep their value; `max` takes a limit away.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The limits of a group on a disk, in bytes a second; `None` is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoMax {
    /// Of reads.
    pub rbps: Option<u64>,
    /// Of writes.
    pub wbps: Option<u64>,
}

/// What was found of a group before it was limited. This is part of a file format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitEntry {
    /// The group's folder.
    pub group: PathBuf,
    /// The disk's number, such as `259:0`.
    pub number: String,
    /// As it was found: what is put back.
    pub found: IoMax,
    /// Whether the group was made by us and is to be removed.
    pub is_ours: bool,
    /// Which boot of the machine it is of: limits end with it.
    pub boot: Option<String>,
}

impl IoMax {
    /// From the whole of `io.max`: the line of the disk with that number, such as `259:0`.
    pub fn parse(io_max: &str, number: &str) -> Self {
        let words = line_of(io_max, number);
        let limit = |key: &str| value(words, key).and_then(|text| text.parse().ok());
        Self { rbps: limit("rbps"), wbps: limit("wbps") }
    }

    /// As a line to write for the disk with that number.
    pub fn line(self, number: &str) -> String {
        format!("{number} {self}")
    }
}

impl fmt::Display for IoMax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |limit: Option<u64>| limit.map_or_else(|| "max".to_owned(), |limit| limit.to_string());
        write!(f, "rbps={} wbps={}", text(self.rbps), text(self.wbps))
    }
}

/// Bytes that a group has read from and written to a disk, from the whole of its `io.stat`.
pub fn moved(io_stat: &str, number: &str) -> (u64, u64) {
    let words = line_of(io_stat, number);
    let bytes = |key: &str| value(words, key).and_then(|text| text.parse().ok()).unwrap_or(0);
    (bytes("rbytes"), bytes("wbytes"))
}

fn line_of<'a>(text: &'a str, number: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.split_once(' ').filter(|(first, _)| *first == number));
    line.map_or("", |(_, words)| words)
}

fn value<'a>(words: &'a str, key: &str) -> Option<&'a str> {
    words
        .split_whitespace()
        .find_map(|word| word.split_once('=').filter(|(name, _)| *name == key))
        .map(|(_, value)| value)
}

#[cfg(test)]
mod test {
    use super::*;

    const MAX: &str =
        "8:16 rbps=max wbps=5 riops=max wiops=7\n259:0 rbps=2097152 wbps=max riops=max wiops=120\n";

    #[test]
    fn a_line_is_that_of_the_disk() {
        let found = IoMax::parse(MAX, "259:0");
        assert_eq!(found, IoMax { rbps: Some(2_097_152), wbps: None });
        assert_eq!(found.line("259:0"), "259:0 rbps=2097152 wbps=max");
        assert_eq!(IoMax::parse(MAX, "8:16").wbps, Some(5));
        assert_eq!(IoMax::parse(MAX, "9:0"), IoMax::default());
        assert_eq!(IoMax::parse("", "9:0").line("9:0"), "9:0 rbps=max wbps=max");
    }

    #[test]
    fn what_has_moved_is_counted_by_disk() {
        let stat = "8:16 rbytes=1 wbytes=2 rios=0\n259:0 rbytes=10 wbytes=20 rios=1 wios=1 dbytes=0 dios=0\n";
        assert_eq!(moved(stat, "259:0"), (10, 20));
        assert_eq!(moved("", "259:0"), (0, 0));
        assert_eq!(moved("259:0 rbytes=x\n", "259:0"), (0, 0));
    }
}
