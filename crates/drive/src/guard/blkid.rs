//! A second opinion on what is on a device: `blkid -p`, where it is installed.
//!
//! libblkid knows some eighty formats and is kept by the people who make them, so it is asked wherever it is. It is
//! not needed: our own table ([`super::signatures`]) covers what drives of today carry, and works in a rescue system
//! that has nothing. What either of the two finds counts.

use std::path::Path;
use std::process::{Command, Stdio};

use super::Kind;
use super::signatures::Signature;

/// Where it is: root's PATH is not asked for a tool that root will run.
const PLACES: [&str; 4] = ["/usr/sbin/blkid", "/sbin/blkid", "/usr/bin/blkid", "/bin/blkid"];

/// blkid(8): nothing was found, or it could not be looked at.
const EXIT_NOTHING: i32 = 2;
/// blkid(8): signatures of several kinds were found.
const EXIT_AMBIVALENT: i32 = 8;

/// What libblkid sees on the device at `path`.
///
/// # Errors
/// Why it was not asked, or did not answer.
pub(super) fn probe(path: &Path) -> Result<Vec<Signature>, String> {
    let Some(program) = PLACES.into_iter().find(|place| Path::new(place).is_file()) else {
        return Err(
            "blkid is not installed: only the formats in heatsoak's own table were looked for".to_owned()
        );
    };
    let refused = |why: String| format!("blkid could not look at {}: {why}", path.display());
    let output = Command::new(program)
        .args(["-p", "-o", "export"])
        .arg(path)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .map_err(|error| refused(error.to_string()))?;
    match output.status.code() {
        Some(0) => Ok(decode(&String::from_utf8_lossy(&output.stdout))),
        Some(EXIT_NOTHING) => Ok(Vec::new()),
        Some(EXIT_AMBIVALENT) => {
            Ok(vec![Signature { kind: Kind::FileSystem, name: "signatures of several formats".to_owned() }])
        }
        _ => Err(refused(format!("it ended with {}", output.status))),
    }
}

/// Its answer: `NAME=value` lines (blkid(8), `-o export`).
fn decode(answer: &str) -> Vec<Signature> {
    let value = |name: &str| {
        answer
            .lines()
            .find_map(|line| line.split_once('=').filter(|(own, _)| *own == name))
            .map(|(_, value)| value)
    };
    let mut found = Vec::new();
    if let Some(table) = value("PTTYPE") {
        found.push(Signature { kind: Kind::PartitionTable, name: format!("a partition table ({table})") });
    }
    if let Some(format) = value("TYPE") {
        // libblkid's four usages (libblkid, superblocks.h).
        let kind = match (value("USAGE"), format) {
            (_, "swap" | "swsuspend") => Kind::SwapArea,
            (Some("crypto"), _) => Kind::Encrypted,
            (Some("raid"), _) => Kind::Volume,
            _ => Kind::FileSystem,
        };
        found.push(Signature { kind, name: format.to_owned() });
    }
    found
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: blkid's words are ours. Method: answers as blkid 2.38 gives them.
    #[test]
    fn answers_are_sorted_by_what_they_mean() {
        let kinds = |answer: &str| decode(answer).into_iter().map(|one| one.kind).collect::<Vec<_>>();
        assert_eq!(kinds("DEVNAME=/dev/loop0\nUUID=1\nTYPE=ext4\nUSAGE=filesystem\n"), [Kind::FileSystem]);
        assert_eq!(kinds("DEVNAME=/dev/loop0\nPTUUID=1\nPTTYPE=gpt\n"), [Kind::PartitionTable]);
        assert_eq!(kinds("TYPE=LVM2_member\nUSAGE=raid\n"), [Kind::Volume]);
        assert_eq!(kinds("TYPE=crypto_LUKS\nUSAGE=crypto\n"), [Kind::Encrypted]);
        assert_eq!(kinds("TYPE=swap\nUSAGE=other\n"), [Kind::SwapArea]);
        assert_eq!(
            kinds("TYPE=zfs_member\nUSAGE=filesystem\nPTTYPE=gpt\n"),
            [Kind::PartitionTable, Kind::FileSystem]
        );
        assert_eq!(kinds("DEVNAME=/dev/loop0\n"), []);
    }
}
