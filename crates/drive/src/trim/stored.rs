//! A check kept: over the power cycle that belongs to it, and for whoever wants to switch TRIM on later.
//!
//! One file a drive in the folder of the journals, named by bridge and drive: the same drive in another enclosure is
//! another case. Written beside, synced, renamed and its folder synced, as journals are.

use std::io;
use std::sync::Arc;

use measure::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::proof::{ProofLayout, ProofResult, ProofState, TrimVerdict};
use super::{BlockMap, BlockRange, BlockState};
use crate::DriveIdentity;
use crate::settings::journal::{Disk, FolderDisk, JournalIdentity, STATE_DIR_ENV};
use crate::usb::UsbBridge;

/// Version of the format.
const SCHEMA: u32 = 1;
const SUFFIX: &str = ".trim.json";

/// What was checked: a drive behind a bridge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedDrive {
    /// Model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware.
    pub firmware: Option<String>,
    /// Size in bytes.
    pub size_bytes: u64,
    /// USB id of the bridge, `0bda:9210`; `null` without one.
    pub bridge: Option<String>,
    /// Version of the bridge (bcdDevice).
    pub bridge_version: Option<String>,
}

impl CheckedDrive {
    /// That drive behind that bridge.
    pub fn new(identity: &DriveIdentity, bridge: Option<&UsbBridge>) -> Self {
        Self {
            model: identity.model.clone(),
            serial: identity.serial.clone(),
            firmware: identity.firmware.clone(),
            size_bytes: identity.size_bytes,
            bridge: bridge.map(UsbBridge::id),
            bridge_version: bridge.and_then(|bridge| bridge.version.clone()),
        }
    }

    fn file(&self) -> String {
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        let identity = JournalIdentity {
            model: or_none(&self.model),
            serial: or_none(&self.serial),
            subsystem_nqn: Some(format!(
                "{} {} {}",
                or_none(&self.firmware),
                or_none(&self.bridge),
                or_none(&self.bridge_version)
            )),
        };
        format!("{}{SUFFIX}", identity.file_stem())
    }
}

/// How far a check has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStage {
    /// The drive has to be switched off and on.
    AwaitsPowerCycle,
    /// All of it is done.
    Done,
}

/// A check as a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredCheck {
    /// Version of the format.
    pub schema: u32,
    /// Version of heatsoak that wrote it.
    pub heatsoak_version: String,
    /// What was checked.
    pub drive: CheckedDrive,
    /// How far.
    pub stage: CheckStage,
    /// When it was written, in nanoseconds since 1970-01-01 UTC.
    pub wall_unix_ns: i64,
    /// The kernel's number of this appearance of the drive: a drive that was unplugged has another.
    pub diskseq: Option<u64>,
    /// The boot in which that number holds.
    pub boot_id: Option<String>,
    /// Blocks of a window.
    pub window_blocks: u64,
    /// Blocks of the long window; 0 for none.
    pub long_blocks: u64,
    /// Logical block size.
    pub block_bytes: u64,
    /// Seed of the patterns.
    pub seed: u64,
    /// Last generation that was written.
    pub generation: u32,
    /// What each run of blocks has to be.
    pub runs: Vec<(BlockRange, BlockState)>,
    /// What was found.
    pub result: ProofResult,
}

/// Why a stored check cannot be had.
#[derive(Debug, Error)]
pub enum StoredCheckError {
    /// The system refused.
    #[error(
        "cannot {what} the stored check {place}: {source}; name a folder that can be written with {STATE_DIR_ENV}"
    )]
    Io {
        /// What was attempted, as a verb.
        what: &'static str,
        /// Where.
        place: String,
        /// What the system said.
        source: io::Error,
    },
    /// It is none.
    #[error("cannot use the stored check {place}: {why}; remove the file and check again")]
    Unreadable {
        /// Where.
        place: String,
        /// What is wrong with it.
        why: String,
    },
}

impl StoredCheck {
    /// A check that has come to `stage`.
    pub fn new(drive: CheckedDrive, stage: CheckStage, layout: [u64; 3], state: &ProofState) -> Self {
        let [block_bytes, window_blocks, long_blocks] = layout;
        Self {
            schema: SCHEMA,
            heatsoak_version: env!("CARGO_PKG_VERSION").to_owned(),
            drive,
            stage,
            wall_unix_ns: 0,
            diskseq: None,
            boot_id: None,
            window_blocks,
            long_blocks,
            block_bytes,
            seed: state.seed.as_u64(),
            generation: state.generation,
            runs: state.map.runs().collect(),
            result: state.result.clone(),
        }
    }

    /// What it found.
    pub fn verdict(&self) -> TrimVerdict {
        self.result.verdict()
    }

    /// Whether it is finished and did no harm.
    pub fn has_passed(&self) -> bool {
        self.stage == CheckStage::Done && self.verdict().is_safe()
    }

    /// The windows it wrote to.
    pub fn layout(&self) -> ProofLayout {
        ProofLayout::new(self.drive.size_bytes / self.block_bytes, self.window_blocks, self.long_blocks)
    }

    /// What to go on with.
    pub fn state(&self) -> ProofState {
        let mut map = BlockMap::default();
        for (range, state) in &self.runs {
            map.set(*range, *state);
        }
        let seed = Seed::new(self.seed);
        ProofState { seed, generation: self.generation, map, result: self.result.clone() }
    }

    /// Reads one.
    ///
    /// # Errors
    /// Why it is none: no such JSON, another version, blocks that are not on the drive or not in a window.
    pub fn decode(bytes: &[u8]) -> Result<Self, String> {
        let check: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if check.schema != SCHEMA {
            return Err(format!("it is of version {}, and this heatsoak knows {SCHEMA}", check.schema));
        }
        if !(512..=4096).contains(&check.block_bytes) || !check.block_bytes.is_power_of_two() {
            return Err(format!("{} B is no block size that is checked", check.block_bytes));
        }
        if check.drive.size_bytes < check.block_bytes {
            return Err("the drive in it has no blocks".to_owned());
        }
        if check.window_blocks == 0 && !check.runs.is_empty() {
            return Err("its windows have no blocks".to_owned());
        }
        let layout = check.layout();
        let mut end = 0;
        for (range, _) in &check.runs {
            let inside = range.first.checked_add(range.blocks).is_some()
                && layout.windows().iter().any(|window| window.contains(*range));
            if range.blocks == 0 || range.first < end || !inside {
                return Err(format!("its blocks from {} on are in no window, or twice", range.first));
            }
            end = range.end();
        }
        Ok(check)
    }
}

/// The stored checks of one folder.
#[derive(Clone, Debug)]
pub struct StoredChecks {
    disk: Arc<dyn Disk>,
}

impl StoredChecks {
    /// Those in a folder, which is made when it is first needed.
    pub fn in_folder(folder: impl Into<std::path::PathBuf>) -> Self {
        Self::on(FolderDisk::new(folder))
    }

    /// Those on any disk.
    pub fn on(disk: impl Disk + 'static) -> Self {
        Self { disk: Arc::new(disk) }
    }

    /// That of a drive behind a bridge, if there is one.
    ///
    /// # Errors
    /// When it is there and cannot be used.
    pub fn find(&self, drive: &CheckedDrive) -> Result<Option<StoredCheck>, StoredCheckError> {
        let name = drive.file();
        let place = || self.disk.place(&name);
        let io = |source| StoredCheckError::Io { what: "read", place: place(), source };
        let Some(bytes) = self.disk.read(&name).map_err(io)? else { return Ok(None) };
        let check = StoredCheck::decode(&bytes)
            .map_err(|why| StoredCheckError::Unreadable { place: place(), why })?;
        if check.drive == *drive {
            return Ok(Some(check));
        }
        Err(StoredCheckError::Unreadable { place: place(), why: "it is of another drive".to_owned() })
    }

    /// Keeps it, in place of an older one of the same drive.
    ///
    /// # Errors
    /// What the system said. Then there is none, or the one from before.
    pub fn keep(&self, check: &StoredCheck) -> Result<(), StoredCheckError> {
        let name = check.drive.file();
        let beside = format!("{name}.new");
        let failed = |what| {
            let place = self.disk.place(&name);
            move |source| StoredCheckError::Io { what, place, source }
        };
        let mut text = serde_json::to_vec_pretty(check).map_err(io::Error::other).map_err(failed("write"))?;
        text.push(b'\n');
        self.disk.write(&beside, &text).map_err(failed("write"))?;
        self.disk.sync(&beside).map_err(failed("sync"))?;
        self.disk.rename(&beside, &name).map_err(failed("put in place"))?;
        self.disk.sync_folder().map_err(failed("sync the folder of"))
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn drive() -> CheckedDrive {
        CheckedDrive {
            model: Some("Realtek RTL9210B-CG".to_owned()),
            serial: Some("0123".to_owned()),
            firmware: Some("1.00".to_owned()),
            size_bytes: 1 << 30,
            bridge: Some("0bda:9210".to_owned()),
            bridge_version: Some("2001".to_owned()),
        }
    }

    fn check() -> StoredCheck {
        let mut map = BlockMap::default();
        map.set(BlockRange { first: 0, blocks: 1024 }, BlockState::Written(3));
        map.unmap(BlockRange { first: 8, blocks: 8 });
        let state = ProofState { seed: Seed::new(7), generation: 3, map, result: ProofResult::default() };
        StoredCheck::new(drive(), CheckStage::AwaitsPowerCycle, [512, 1024, 0], &state)
    }

    #[test]
    fn a_check_comes_back_for_the_same_drive_behind_the_same_bridge_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let checks = StoredChecks::in_folder(folder.path());
        assert!(checks.find(&drive()).expect("readable").is_none());
        checks.keep(&check()).expect("kept");
        let found = checks.find(&drive()).expect("readable").expect("there");
        assert_eq!(found, check());
        assert_eq!(StoredCheck::new(drive(), found.stage, [512, 1024, 0], &found.state()), check());
        for other in [
            CheckedDrive { bridge_version: Some("f200".to_owned()), ..drive() },
            CheckedDrive { serial: Some("0124".to_owned()), ..drive() },
            CheckedDrive { firmware: None, ..drive() },
        ] {
            assert!(checks.find(&other).expect("readable").is_none(), "{other:?}");
        }
        let grown = checks.find(&CheckedDrive { size_bytes: 1 << 31, ..drive() });
        assert!(grown.is_err_and(|error| error.to_string().contains("another drive")));
    }

    #[test]
    fn blocks_that_are_nowhere_are_refused() {
        let spoilt = |spoil: fn(&mut StoredCheck)| {
            let mut check = check();
            spoil(&mut check);
            StoredCheck::decode(&serde_json::to_vec(&check).expect("JSON"))
        };
        assert!(spoilt(|_| ()).is_ok());
        assert!(spoilt(|check| check.runs[0].0.first = u64::MAX).is_err());
        assert!(spoilt(|check| check.runs[0].0.blocks = u64::MAX).is_err());
        assert!(spoilt(|check| check.runs[0].0.blocks = 0).is_err());
        assert!(spoilt(|check| check.runs.swap(0, 1)).is_err());
        assert!(spoilt(|check| check.runs[0].0.first = 5000).is_err());
        assert!(spoilt(|check| check.block_bytes = 0).is_err());
        assert!(spoilt(|check| check.drive.size_bytes = 0).is_err());
        assert!(spoilt(|check| check.schema = 9).is_err());
        assert!(StoredCheck::decode(b"{}").is_err());
    }
}
