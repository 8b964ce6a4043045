//! In which way a bridge is asked: an order that is safe for its kind, and what it did the last time.
//!
//! Remembered by bridge (USB id and version: one id is several products, smartmontools issues 580 and 617) and by drive,
//! for this process's life. What worked comes first; what did not answer in time does not come again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use crate::usb::{BridgedWorld, UsbBridge};

/// All ways, for a drive of which nothing is known; `auto` lets smartctl choose. The three `snt` types are those of NVMe
/// drives behind USB bridges (smartctl(8), `-d`).
pub(super) const TYPES: [&str; 6] = ["auto", "sat", "sntasmedia", "sntrealtek", "sntjmicron", "scsi"];

/// A JMicron JMS583 with this version is a SATA adapter (smartmontools `drivedb.h`).
const SATA_VERSION_OF_JMS583: &str = "0414";

/// What is known of one bridge or drive.
#[derive(Debug, Default)]
struct Known {
    works: Option<&'static str>,
    hangs: BTreeSet<&'static str>,
}

/// By key.
static KNOWN: Mutex<BTreeMap<String, Known>> = Mutex::new(BTreeMap::new());

/// The ways to try, in turn.
///
/// Bridges for NVMe drives fake the ATA commands that `sat` sends, so their own way comes first; a way of another maker's
/// chip is vendor-specific to it, may mean anything, and is not sent to a chip that is known.
pub(super) fn order(bridge: Option<&UsbBridge>) -> Vec<&'static str> {
    let Some(bridge) = bridge else { return TYPES.to_vec() };
    let own = match bridge.vendor_id.as_str() {
        "0bda" => "sntrealtek",
        "174c" => "sntasmedia",
        "152d" => "sntjmicron",
        _ => return TYPES.to_vec(),
    };
    match bridge.world {
        Some(BridgedWorld::Nvme) => vec![own, "auto", "scsi"],
        Some(BridgedWorld::NvmeOrSata) if bridge.version.as_deref() == Some(SATA_VERSION_OF_JMS583) => {
            vec!["sat", "auto", "scsi"]
        }
        Some(BridgedWorld::NvmeOrSata) => vec![own, "auto", "sat", "scsi"],
        Some(BridgedWorld::Sata) => vec!["auto", "sat", "scsi"],
        None => vec!["auto", "sat", own, "scsi"],
    }
}

/// The memory of one drive behind one bridge.
#[derive(Debug)]
pub(super) struct BridgeMemory {
    keys: Vec<String>,
}

impl BridgeMemory {
    /// Under these keys.
    pub(super) const fn new(keys: Vec<String>) -> Self {
        Self { keys }
    }

    /// `order` with what worked first and without what hung.
    pub(super) fn ordered(&self, order: &[&'static str]) -> Vec<&'static str> {
        let Ok(known) = KNOWN.lock() else { return order.to_vec() };
        let mine = || self.keys.iter().filter_map(|key| known.get(key));
        let first = mine().find_map(|one| one.works);
        let hangs = |way: &&str| mine().any(|one| one.hangs.contains(way));
        let rest = order.iter().copied().filter(|way| Some(*way) != first);
        first.into_iter().chain(rest).filter(|way| !hangs(way)).collect()
    }

    pub(super) fn works(&self, way: &'static str) {
        self.each(|known| known.works = Some(way));
    }

    pub(super) fn hangs(&self, way: &'static str) {
        self.each(|known| {
            known.hangs.insert(way);
            known.works = known.works.filter(|works| *works != way);
        });
    }

    fn each(&self, change: impl Fn(&mut Known)) {
        if let Ok(mut known) = KNOWN.lock() {
            self.keys.iter().for_each(|key| change(known.entry(key.clone()).or_default()));
        }
    }
}
