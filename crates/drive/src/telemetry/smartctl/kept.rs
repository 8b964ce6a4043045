//! What was found out about bridges, kept on this machine: a bridge that hangs for 61 s is asked so once, not once a run.
//!
//! One small file for all bridges, in the folder of the journals (`HEATSOAK_STATE_DIR`, `/var/lib/heatsoak`, the state
//! folder of the user). It is a convenience: without it, or where it cannot be used, every way is tried anew. Only bridges
//! are kept, by USB id and version, and no drives: what worked is asked first, and not alone, because one id can be several
//! products.
//!
//! # What it does not do
//! It keeps no serial number and nothing that a drive has said. A file of a later version of heatsoak, or one that is none
//! of heatsoak's, is left as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::memory::TYPES;
use crate::settings::journal::{Disk, FolderDisk, state_folder};

/// Version of the format.
const SCHEMA: u32 = 1;
const FILE: &str = "bridges.json";
const LOCK: &str = "bridges.lock";
/// Bridges that are kept; those that did not change for longest go first. More than anybody has.
const BRIDGES_MAX: usize = 64;
/// 64 bridges take some 10 kB.
const FILE_BYTES_MAX: usize = 64 << 10;
/// A way that hung is tried again after so long: 90 days, our choice. The bridge's firmware, the kernel or smartctl may be
/// others by then.
const HANGS_LAST_NS: i64 = 90 * 24 * 3600 * 1_000_000_000;

/// What is known of one bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KnownBridge {
    /// The way that worked.
    pub(super) works: Option<&'static str>,
    /// Ways that did not answer in time.
    pub(super) hangs: BTreeSet<&'static str>,
}

/// The file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BridgeFile {
    schema: u32,
    bridges: Vec<BridgeEntry>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BridgeEntry {
    /// USB id and version: `0bda:9210 2001`.
    bridge: String,
    works: Option<String>,
    hangs: Vec<String>,
    /// When it was last written, in nanoseconds since 1970-01-01 UTC.
    wall_unix_ns: i64,
}

/// The bridges of one file by USB id and version, with when each was written.
pub(super) type KeptBridges = BTreeMap<String, (KnownBridge, i64)>;

/// What a file says at `now_unix_ns`; ways that hung too long ago are left out.
///
/// # Errors
/// A sentence: it is not such a file, or something in it is not what heatsoak writes.
pub(super) fn decode(bytes: &[u8], now_unix_ns: i64) -> Result<KeptBridges, String> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(format!("it has {} B, and at most {FILE_BYTES_MAX} B are read", bytes.len()));
    }
    let file: BridgeFile = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if file.schema != SCHEMA {
        return Err(format!("it is of version {}, and this heatsoak knows {SCHEMA}", file.schema));
    }
    if file.bridges.len() > BRIDGES_MAX {
        return Err(format!("it names {} bridges, and at most {BRIDGES_MAX} are kept", file.bridges.len()));
    }
    let mut kept = KeptBridges::new();
    for entry in file.bridges {
        let way = |name: &String| {
            let known = TYPES.into_iter().find(|known| known == name);
            known.ok_or_else(|| format!("{:?} is no type of smartctl that is asked", shortened(name)))
        };
        let works = entry.works.as_ref().map(way).transpose()?;
        let hangs = entry.hangs.iter().map(way).collect::<Result<BTreeSet<_>, _>>()?;
        if !is_bridge(&entry.bridge) {
            return Err(format!("{:?} is no USB id with a version", shortened(&entry.bridge)));
        }
        let age = now_unix_ns.saturating_sub(entry.wall_unix_ns);
        // A clock that was set back must not make a hang last for ever.
        let hangs = if (0..HANGS_LAST_NS).contains(&age) { hangs } else { BTreeSet::new() };
        let known = KnownBridge { works: works.filter(|way| !hangs.contains(way)), hangs };
        if kept.insert(entry.bridge, (known, entry.wall_unix_ns)).is_some() {
            return Err("it names a bridge twice".to_owned());
        }
    }
    Ok(kept)
}

fn encode(kept: &KeptBridges) -> io::Result<Vec<u8>> {
    let mut entries: Vec<BridgeEntry> = kept
        .iter()
        .map(|(bridge, (known, wall_unix_ns))| BridgeEntry {
            bridge: bridge.clone(),
            works: known.works.map(str::to_owned),
            hangs: known.hangs.iter().map(|way| (*way).to_owned()).collect(),
            wall_unix_ns: *wall_unix_ns,
        })
        .collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.wall_unix_ns));
    entries.truncate(BRIDGES_MAX);
    let mut text = serde_json::to_vec_pretty(&BridgeFile { schema: SCHEMA, bridges: entries })?;
    text.push(b'\n');
    Ok(text)
}

/// `0bda:9210 2001`, or without a version.
fn is_bridge(text: &str) -> bool {
    let hex = |part: &str| part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let (id, version) = text.split_once(' ').unwrap_or((text, ""));
    let is_id = id.split_once(':').is_some_and(|(vendor, product)| hex(vendor) && hex(product));
    is_id && (version.is_empty() || hex(version))
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The file of one bridge.
#[derive(Clone, Debug)]
pub(super) struct BridgeStore {
    disk: Arc<dyn Disk>,
    bridge: String,
}

impl BridgeStore {
    /// On this machine; `None` where there is no folder for it, or the bridge has no such id.
    pub(super) fn of_machine(bridge: &str) -> Option<Self> {
        state_folder().and_then(|folder| Self::on(Arc::new(FolderDisk::new(folder)), bridge))
    }

    /// On any disk.
    pub(super) fn on(disk: Arc<dyn Disk>, bridge: &str) -> Option<Self> {
        let bridge = bridge.trim().to_ascii_lowercase();
        is_bridge(&bridge).then_some(Self { disk, bridge })
    }

    /// What is kept of it at `now_unix_ns`.
    ///
    /// # Errors
    /// A sentence: the file is there and cannot be used.
    pub(super) fn read(&self, now_unix_ns: i64) -> Result<KnownBridge, String> {
        Ok(self.read_all(now_unix_ns)?.remove(&self.bridge).map(|(known, _)| known).unwrap_or_default())
    }

    /// Keeps what is known of it now. Where the folder cannot be written, or another process is about to, nothing is kept.
    ///
    /// # Errors
    /// A sentence: what is there is no such file, and is left as it is.
    pub(super) fn keep(&self, known: KnownBridge, now_unix_ns: i64) -> Result<(), String> {
        let Ok(Some(_lock)) = self.disk.lock(LOCK) else { return Ok(()) };
        let mut kept = self.read_all(now_unix_ns)?;
        kept.insert(self.bridge.clone(), (known, now_unix_ns));
        let beside = format!("{FILE}.new");
        let _ = encode(&kept)
            .and_then(|text| self.disk.write(&beside, &text))
            .and_then(|()| self.disk.sync(&beside))
            .and_then(|()| self.disk.rename(&beside, FILE));
        Ok(())
    }

    fn read_all(&self, now_unix_ns: i64) -> Result<KeptBridges, String> {
        let place = || self.disk.place(FILE);
        let cannot = |why: String| {
            format!(
                "what is kept about bridges in {} cannot be used: {why}; remove the file to keep it anew",
                place()
            )
        };
        match self.disk.read(FILE) {
            Ok(None) => Ok(KeptBridges::new()),
            Ok(Some(bytes)) => decode(&bytes, now_unix_ns).map_err(cannot),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(KeptBridges::new()),
            Err(error) => Err(cannot(error.to_string())),
        }
    }
}

/// Whether any bytes as such a file are refused, or come back as they were read: for fuzzing.
pub fn kept_bridges_come_back(bytes: &[u8]) -> bool {
    let Ok(kept) = decode(bytes, 0) else { return true };
    kept.len() <= BRIDGES_MAX
        && encode(&kept).is_ok_and(|text| decode(&text, 0).is_ok_and(|again| again == kept))
}

#[cfg(test)]
mod test {
    use super::*;

    const DAY_NS: i64 = 24 * 3600 * 1_000_000_000;

    fn store(folder: &std::path::Path, bridge: &str) -> BridgeStore {
        BridgeStore::on(Arc::new(FolderDisk::new(folder)), bridge).expect("a bridge")
    }

    fn known() -> KnownBridge {
        KnownBridge { works: Some("sat"), hangs: BTreeSet::from(["sntjmicron"]) }
    }

    #[test]
    fn what_was_found_out_outlives_the_process_by_id_and_version() {
        let folder = tempfile::tempdir().expect("a folder");
        let jms583 = store(folder.path(), "152d:0583 0414");
        assert_eq!(jms583.read(0), Ok(KnownBridge::default()));
        jms583.keep(known(), 5).expect("kept");
        store(folder.path(), "0BDA:9210 2001").keep(KnownBridge::default(), 6).expect("kept");
        assert_eq!(store(folder.path(), "152d:0583 0414").read(7), Ok(known()));
        assert_eq!(store(folder.path(), "152d:0583 0209").read(7), Ok(KnownBridge::default()));
        // A hang is not for ever; what worked is.
        let later = jms583.read(5 + 90 * DAY_NS).expect("readable");
        assert_eq!((later.works, later.hangs.len()), (Some("sat"), 0));
        // Nor with a clock that was set back.
        assert_eq!(jms583.read(4).expect("readable").hangs.len(), 0);
        assert!(BridgeStore::on(Arc::new(FolderDisk::new(folder.path())), "nvme").is_none());
    }

    #[test]
    fn the_oldest_bridges_go_first() {
        let folder = tempfile::tempdir().expect("a folder");
        for number in 0..BRIDGES_MAX + 3 {
            let one = store(folder.path(), &format!("0bda:{number:04x} 2001"));
            one.keep(known(), number as i64).expect("kept");
        }
        let kept = store(folder.path(), "0bda:0000 2001").read_all(100).expect("readable");
        assert_eq!(kept.len(), BRIDGES_MAX);
        assert!(!kept.contains_key("0bda:0002 2001") && kept.contains_key("0bda:0003 2001"));
    }

    #[test]
    fn a_file_that_is_not_ours_is_refused_and_left() {
        let good = encode(&KeptBridges::from([("152d:0583 0414".to_owned(), (known(), 1))])).expect("text");
        let good = String::from_utf8(good).expect("text");
        assert!(decode(good.as_bytes(), 2).is_ok());
        let many = format!("{{\"schema\":1,\"bridges\":[{}]}}", ["null"; 100].join(","));
        for (bad, why) in [
            (String::new(), "EOF"),
            ("[]".to_owned(), "invalid"),
            (good.replace("\"schema\": 1", "\"schema\": 2"), "version 2"),
            (good.replace("sntjmicron", "sat -s on -T permissive"), "no type of smartctl"),
            (good.replace("152d:0583 0414", "../../etc/passwd"), "no USB id"),
            (good.replace("\"wall_unix_ns\": 1", "\"wall_unix_ns\": 1e99"), "invalid"),
            (many, "invalid"),
            (" ".repeat(FILE_BYTES_MAX + 1), "at most"),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::write(folder.path().join(FILE), &bad).expect("written");
            let store = store(folder.path(), "152d:0583 0414");
            let error = store.read(2).expect_err("not ours");
            assert!(error.contains(why) && error.contains("remove the file"), "{error}");
            assert!(store.keep(known(), 2).is_err());
            assert_eq!(std::fs::read_to_string(folder.path().join(FILE)).expect("there"), bad);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
            proptest::prop_assert!(kept_bridges_come_back(&bytes));
        }
    }
}
