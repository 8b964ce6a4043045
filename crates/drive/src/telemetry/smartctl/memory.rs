//! In which way a bridge is asked: an order that is safe for its kind, and what it did the last time.
//!
//! Remembered by bridge (USB id and version: one id is several products, smartmontools issues 580 and 617) on this machine
//! ([`super::kept`]), and by drive for this process's life. What worked comes first; what did not answer in time does not
//! come again.

use std::collections::BTreeMap;
use std::sync::Mutex;

use measure::time::wall_unix_ns;

use super::kept::{BridgeStore, KnownBridge};
use crate::usb::{BridgedWorld, UsbBridge};

/// All ways, for a drive of which nothing is known; `auto` lets smartctl choose. The three `snt` types are those of NVMe
/// drives behind USB bridges (smartctl(8), `-d`).
pub(super) const TYPES: [&str; 6] = ["auto", "sat", "sntasmedia", "sntrealtek", "sntjmicron", "scsi"];

/// A JMicron JMS583 with this version is a SATA adapter (smartmontools `drivedb.h`).
const SATA_VERSION_OF_JMS583: &str = "0414";

/// An id of JMicron's SATA bridges that enclosures with a JMS583 have as well (smartmontools issue 484).
const MOSTLY_SATA: &str = "0562";

/// By key.
static KNOWN: Mutex<BTreeMap<String, KnownBridge>> = Mutex::new(BTreeMap::new());

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
        Some(BridgedWorld::NvmeOrSata) if bridge.product_id == MOSTLY_SATA => {
            vec!["auto", "sat", own, "scsi"]
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
    /// Where the bridge is kept.
    store: Option<BridgeStore>,
    /// Why it is not.
    remark: Option<String>,
}

impl BridgeMemory {
    /// Under these keys; the last is that of the bridge, which is in `store`, and what is kept of it is heeded.
    pub(super) fn new(keys: Vec<String>, store: Option<BridgeStore>) -> Self {
        let mut memory = Self { keys, store, remark: None };
        match memory.store.as_ref().map(|store| store.read(wall_unix_ns())) {
            Some(Ok(kept)) => memory.learn(kept),
            Some(Err(why)) => (memory.store, memory.remark) = (None, Some(why)),
            None => {}
        }
        memory
    }

    /// Why what is kept could not be used, once.
    pub(super) const fn take_remark(&mut self) -> Option<String> {
        self.remark.take()
    }

    /// What this process has found out by itself counts more.
    fn learn(&self, kept: KnownBridge) {
        if let (Ok(mut known), Some(bridge)) = (KNOWN.lock(), self.keys.last()) {
            known.entry(bridge.clone()).or_insert(kept);
        }
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

    pub(super) fn works(&mut self, way: &'static str) {
        self.each(|known| known.works = Some(way));
    }

    pub(super) fn hangs(&mut self, way: &'static str) {
        self.each(|known| {
            known.hangs.insert(way);
            known.works = known.works.filter(|works| *works != way);
        });
    }

    fn each(&mut self, change: impl Fn(&mut KnownBridge)) {
        let Ok(mut known) = KNOWN.lock() else { return };
        let mut bridge = None;
        for key in &self.keys {
            let one = known.entry(key.clone()).or_default();
            let before = one.clone();
            change(one);
            bridge = (*one != before).then(|| one.clone());
        }
        drop(known);
        // The last key is the bridge's; it is written when it changed, not at each reading.
        if let (Some(store), Some(bridge)) = (&self.store, bridge)
            && let Err(why) = store.keep(bridge, wall_unix_ns())
        {
            (self.store, self.remark) = (None, Some(why));
        }
    }
}
