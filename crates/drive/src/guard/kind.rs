//! The list of situations that speak against writing to a device: which are final, and the word that permits the
//! others.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A kind of situation. The order is that in which people are told: what cannot be permitted comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The serial number that was typed is not the drive's.
    WrongSerial,
    /// The path leads to another device than the one that was examined, or another medium is in it.
    Changed,
    /// The device, or a part of it, is mounted.
    Mounted,
    /// The kernel swaps to it.
    Swap,
    /// Another block device is built on it: device mapper (LVM, dm-crypt, multipath), RAID, bcache.
    Held,
    /// A loop device reads and writes through it.
    BacksLoop,
    /// It is served to other machines.
    Exported,
    /// Somebody has it open for themselves alone: a mount elsewhere, ZFS, RAID, a virtual machine.
    Claimed,
    /// A process has it open for writing.
    OpenForWriting,
    /// The device takes no writes.
    ReadOnly,
    /// A process has it open for reading.
    OpenForReading,
    /// Only a part of a disk was named.
    Partition,
    /// It is a loop device: what is written ends in a file.
    Loop,
    /// It is built on other devices: device mapper, RAID.
    Layered,
    /// Other controllers, and so perhaps other machines, have this namespace too.
    Shared,
    /// It could not be looked at.
    Unreadable,
    /// A partition table.
    PartitionTable,
    /// A file system, mounted by nobody.
    FileSystem,
    /// A member of a volume group, a RAID, a pool.
    Volume,
    /// An encrypted volume.
    Encrypted,
    /// A swap area that is not in use, or a hibernated system.
    SwapArea,
}

/// A word behind `--even-if` that there is not.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("there is no {typed:?} here; the words are {}", words())]
pub struct UnknownWord {
    typed: String,
}

impl Kind {
    /// Every kind, in order.
    pub const ALL: [Self; 21] = [
        Self::WrongSerial,
        Self::Changed,
        Self::Mounted,
        Self::Swap,
        Self::Held,
        Self::BacksLoop,
        Self::Exported,
        Self::Claimed,
        Self::OpenForWriting,
        Self::ReadOnly,
        Self::OpenForReading,
        Self::Partition,
        Self::Loop,
        Self::Layered,
        Self::Shared,
        Self::Unreadable,
        Self::PartitionTable,
        Self::FileSystem,
        Self::Volume,
        Self::Encrypted,
        Self::SwapArea,
    ];

    /// The word that permits it behind `--even-if`; `None` for what nothing permits.
    pub const fn word(self) -> Option<&'static str> {
        Some(match self {
            Self::OpenForReading => "open-for-reading",
            Self::Partition => "partition",
            Self::Loop => "loop",
            Self::Layered => "layered",
            Self::Shared => "shared",
            Self::Unreadable => "unreadable",
            Self::PartitionTable => "partition-table",
            Self::FileSystem => "file-system",
            Self::Volume => "volume",
            Self::Encrypted => "encrypted",
            Self::SwapArea => "swap-area",
            _ => return None,
        })
    }

    /// What to do about what nothing permits; empty for the rest.
    pub(super) const fn advice(self) -> &'static str {
        match self {
            Self::WrongSerial => {
                "name the drive that you mean by its path and its serial number, or no-serial where it tells none"
            }
            Self::Changed => "nothing permits that; look which drive is where, and start again",
            Self::Mounted => "nothing permits that; unmount it first",
            Self::Swap => "nothing permits that; `swapoff` it first",
            Self::Held => "nothing permits that; stop what is built on it first",
            Self::BacksLoop => "nothing permits that; detach the loop device first (`losetup -d`)",
            Self::Exported => "nothing permits that; stop exporting it first",
            Self::Claimed => {
                "nothing permits that; find who uses it (`lsblk`, `fuser`, `zpool status`) and stop that"
            }
            Self::OpenForWriting => "nothing permits that; end that process first",
            Self::ReadOnly => "nothing permits that; look why (`blockdev --getro`, a switch on the medium)",
            _ => "",
        }
    }
}

fn words() -> String {
    Kind::ALL.iter().filter_map(|kind| kind.word()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Kind {
    type Err = UnknownWord;

    /// By the word that permits it.
    fn from_str(typed: &str) -> Result<Self, UnknownWord> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.word() == Some(typed))
            .ok_or_else(|| UnknownWord { typed: typed.to_owned() })
    }
}

impl fmt::Display for Kind {
    /// The word that permits it, or "never".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word().unwrap_or("never"))
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_kind_is_listed_once_in_order_and_words_lead_back() {
        assert!(Kind::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        for kind in Kind::ALL {
            match kind.word() {
                Some(word) => assert_eq!(word.parse(), Ok(kind)),
                None => assert!(kind.advice().len() > 10, "{kind:?} says what to do"),
            }
        }
        let soft_from = Kind::ALL.iter().position(|kind| kind.word().is_some()).expect("there are soft ones");
        assert!(Kind::ALL[soft_from..].iter().all(|kind| kind.word().is_some()), "hard ones come first");
    }

    #[test]
    fn what_is_final_has_no_word() {
        for typed in ["mounted", "swap", "never", "", "File-System", "wrong-serial"] {
            let error = typed.parse::<Kind>().expect_err(typed).to_string();
            assert!(error.contains("file-system") && error.contains("open-for-reading"), "{error}");
        }
    }
}
