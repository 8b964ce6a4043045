//! What `heatsoak trim --json` prints, and what the text is made of.

use drive::scsi::ScsiFacts;
use drive::trim::layers::{self, TrimLayer};
use drive::trim::mode::DiscardSetting;
use drive::trim::proof::{ProofResult, TrimVerdict};
use drive::trim::{
    CheckStage, CheckedDrive, KernelDiscard, ProvisioningMode, StoredCheck, TrimPath, unmap_limit_bytes,
};
use drive::usb::UsbBridge;
use schemars::JsonSchema;
use serde::Serialize;

use super::TrimDisk;

/// The JSON of `heatsoak trim --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TrimDocument {
    /// Version of this format.
    schema: u32,
    /// What was typed.
    pub(super) address: String,
    /// The drive, and the bridge it is behind.
    pub(super) drive: CheckedDrive,
    /// The bridge; `null` for a drive behind none.
    pub(super) bridge: Option<UsbBridge>,
    /// How far TRIM gets.
    pub(super) path: TrimPath,
    /// Why no further, the reason that decides first.
    pub(super) reasons: Vec<String>,
    /// What the device says; `null` where it could not be asked or is no SCSI disk.
    pub(super) device: Option<DeviceTrim>,
    /// Why it could not be asked.
    pub(super) device_error: Option<String>,
    /// What the kernel made of it.
    pub(super) kernel: KernelDiscard,
    /// What lies on it, and whether that passes discards on.
    pub(super) layers: Vec<TrimLayer>,
    /// The last check of this drive in this enclosure; `null` where there was none.
    pub(super) check: Option<CheckJson>,
    /// What was changed; `null` where nothing was asked to be.
    pub(super) changed: Option<DiscardChange>,
    /// The rule that was asked for.
    pub(super) udev_rule: Option<String>,
}

/// What a device says about deallocation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DeviceTrim {
    /// LBPME: READ CAPACITY (16) says that blocks can be deallocated.
    pub(super) lbpme: Option<bool>,
    /// LBPU: page B2h names UNMAP; `null` without that page.
    pub(super) lbpu: Option<bool>,
    /// LBPWS: page B2h names WRITE SAME (16).
    pub(super) lbpws: Option<bool>,
    /// LBPWS10: page B2h names WRITE SAME (10).
    pub(super) lbpws10: Option<bool>,
    /// LBPRZ: deallocated blocks read as zeroes.
    pub(super) lbprz: Option<bool>,
    /// Most bytes in one UNMAP (page B0h); `null` where it names no limit.
    pub(super) unmap_max_bytes: Option<u64>,
    /// Most ranges in one UNMAP.
    pub(super) unmap_ranges_max: Option<u32>,
    /// Unit of deallocation.
    pub(super) granularity_bytes: Option<u64>,
}

/// A check of TRIM.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckJson {
    /// What it found so far.
    pub(super) verdict: TrimVerdict,
    /// How far it has come.
    pub(super) stage: CheckStage,
    /// When, in nanoseconds since 1970-01-01 UTC.
    pub(super) wall_unix_ns: i64,
    /// Everything that was tried and seen.
    pub(super) result: ProofResult,
}

/// The kernel's knobs before and after.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DiscardChange {
    /// As they were.
    pub(super) before: KnobValues,
    /// As they were read back.
    pub(super) now: KnobValues,
}

/// What the kernel's knobs hold.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KnobValues {
    /// By which command it discards.
    pub(super) provisioning_mode: ProvisioningMode,
    /// How much in one.
    pub(super) discard_max_bytes: u64,
}

impl From<DiscardSetting> for KnobValues {
    fn from(DiscardSetting { mode, max_bytes }: DiscardSetting) -> Self {
        Self { provisioning_mode: mode, discard_max_bytes: max_bytes }
    }
}

impl From<&StoredCheck> for CheckJson {
    fn from(check: &StoredCheck) -> Self {
        Self {
            verdict: check.verdict(),
            stage: check.stage,
            wall_unix_ns: check.wall_unix_ns,
            result: check.result.clone(),
        }
    }
}

impl From<&ScsiFacts> for DeviceTrim {
    fn from(facts: &ScsiFacts) -> Self {
        let page = facts.provisioning;
        let block = facts.capacity.map(|capacity| u64::from(capacity.block_bytes));
        let groups = facts.limits.and_then(|limits| limits.unmap_granularity_blocks);
        Self {
            lbpme: facts.capacity.and_then(|capacity| capacity.provisioned),
            lbpu: page.map(|page| page.unmap),
            lbpws: page.map(|page| page.write_same_16),
            lbpws10: page.map(|page| page.write_same_10),
            lbprz: facts.capacity.and_then(|capacity| capacity.reads_zeroes),
            unmap_max_bytes: unmap_limit_bytes(facts),
            unmap_ranges_max: facts.limits.and_then(|limits| limits.unmap_ranges_max),
            granularity_bytes: groups.zip(block).map(|(groups, block)| u64::from(groups) * block),
        }
    }
}

impl TrimDocument {
    pub(super) fn new(schema: u32, typed: &str, disk: &TrimDisk, check: Option<&StoredCheck>) -> Self {
        let facts = disk.facts.as_ref();
        let mut document = Self {
            schema,
            address: typed.to_owned(),
            drive: disk.checked(),
            bridge: disk.bridge.clone(),
            path: TrimPath::Unknown,
            reasons: Vec::new(),
            device: facts.and_then(|facts| facts.as_ref().ok()).map(DeviceTrim::from),
            device_error: facts.and_then(|facts| facts.as_ref().err().cloned()),
            kernel: KernelDiscard::default(),
            layers: Vec::new(),
            check: check.map(CheckJson::from),
            changed: None,
            udev_rule: None,
        };
        document.look_again(disk);
        document
    }

    /// What the kernel shows now.
    pub(super) fn look_again(&mut self, disk: &TrimDisk) {
        self.kernel = KernelDiscard::read(&disk.roots.sys, &disk.name);
        self.layers = layers::above(&disk.roots, &disk.name);
        let reach = disk.reach(&self.kernel, &self.layers);
        (self.path, self.reasons) = (reach.path, reach.reasons);
    }
}

/// A verdict, as it stands in JSON.
pub(super) const fn word(verdict: &TrimVerdict) -> &'static str {
    match verdict {
        TrimVerdict::SafeActs => "safe_acts",
        TrimVerdict::SafeNoEffect => "safe_no_effect",
        TrimVerdict::Refused => "refused",
        TrimVerdict::EatsNeighbours => "eats_neighbours",
        TrimVerdict::Hangs => "hangs",
        TrimVerdict::Unstable => "unstable",
        TrimVerdict::LosesData => "loses_data",
    }
}
