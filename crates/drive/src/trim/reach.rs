//! Whether TRIM reaches the flash, and what stands in its way: what the device says beside what the kernel made of it.

use schemars::JsonSchema;
use serde::Serialize;

use super::KernelDiscard;
use super::layers::TrimLayer;
use crate::scsi::ScsiFacts;

/// How far TRIM gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrimPath {
    /// The kernel sends it, and the device says that it takes it.
    Open,
    /// The device takes it, and the kernel sends none.
    OffInKernel,
    /// The kernel sends more in one command than the device allows.
    TooLong,
    /// The device offers no way to deallocate.
    NotOffered,
    /// The device could not be asked.
    Unknown,
}

/// How far TRIM gets on a disk, and why no further.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrimReach {
    /// How far.
    pub path: TrimPath,
    /// Why, the reason that decides first.
    pub reasons: Vec<String>,
}

/// What one UNMAP may name, in bytes, by the device's own word; `None` where it has no limit or does not say.
pub fn unmap_limit_bytes(facts: &ScsiFacts) -> Option<u64> {
    let blocks = facts.limits?.unmap_blocks_max.filter(|blocks| *blocks != u32::MAX)?;
    u64::from(blocks).checked_mul(facts.capacity?.block_bytes.into())
}

impl TrimReach {
    /// Of a SCSI disk: `facts` by SG_IO where it could be asked, `is_usb` for one behind a USB bridge.
    pub fn of_scsi(
        facts: Result<&ScsiFacts, &str>,
        kernel: &KernelDiscard,
        layers: &[TrimLayer],
        is_usb: bool,
    ) -> Self {
        let mut reach = match facts {
            Ok(facts) => Self::of_facts(facts, kernel, is_usb),
            Err(why) => {
                let sends = if kernel.sends() { "sends discards" } else { "sends no discards" };
                Self::new(
                    TrimPath::Unknown,
                    format!("the device could not be asked ({why}); the kernel {sends}"),
                )
            }
        };
        reach.add_layers(layers);
        reach
    }

    /// Of a disk of another kind, whose driver knows by itself what the device takes.
    pub fn of_other(kernel: &KernelDiscard, layers: &[TrimLayer]) -> Self {
        let mut reach = if kernel.sends() {
            let most = kernel.discard_max_bytes.unwrap_or(0);
            let text = format!("the driver asked the device and sends up to {most} B in one discard");
            Self::new(TrimPath::Open, text)
        } else {
            Self::new(
                TrimPath::NotOffered,
                "the driver found no way to deallocate (discard_max_bytes is 0)".into(),
            )
        };
        reach.add_layers(layers);
        reach
    }

    fn of_facts(facts: &ScsiFacts, kernel: &KernelDiscard, is_usb: bool) -> Self {
        let provisioning = facts.provisioning;
        let unmap = provisioning.is_some_and(|page| page.unmap);
        let write_same = provisioning.is_some_and(|page| page.write_same_16 || page.write_same_10);
        let lbpme = facts.capacity.and_then(|capacity| capacity.provisioned);
        if !unmap && !write_same && lbpme != Some(true) {
            let text = "the device offers no way to deallocate: LBPME is 0 or not told, and page B2h names no command";
            return Self::new(TrimPath::NotOffered, text.to_owned());
        }
        if !kernel.sends() {
            return Self::off(facts, kernel, lbpme, is_usb);
        }
        let most = kernel.discard_max_bytes.unwrap_or(0);
        if let Some(limit) = unmap_limit_bytes(facts).filter(|limit| most > *limit)
            && kernel.provisioning_mode == Some(super::ProvisioningMode::Unmap)
        {
            let text = format!(
                "the kernel sends up to {most} B in one UNMAP, and the device allows {limit} B (page B0h): a bridge \
                 that counts in fewer bits may unmap something else"
            );
            let mut reach = Self::new(TrimPath::TooLong, text);
            reach.reasons.push("`heatsoak trim DRIVE --enable` sets the limit of the device".to_owned());
            return reach;
        }
        let mode = kernel.provisioning_mode.map_or("a command of its driver", super::ProvisioningMode::word);
        Self::new(TrimPath::Open, format!("the kernel discards by {mode}, up to {most} B in one command"))
    }

    /// The device takes it, and the kernel sends none.
    fn off(facts: &ScsiFacts, kernel: &KernelDiscard, lbpme: Option<bool>, is_usb: bool) -> Self {
        let mode = kernel.provisioning_mode.map_or("not shown", super::ProvisioningMode::word);
        let text = match (lbpme, kernel.thin_provisioning) {
            (Some(false) | None, _) => format!(
                "the kernel sends none (provisioning_mode {mode}): the device says LBPME=0, though page B2h says that \
                 it takes UNMAP (LBPU=1)"
            ),
            (Some(true), Some(false)) if is_usb => format!(
                "the kernel sends none (provisioning_mode {mode}): the usb-storage driver does not ask this device, \
                 which says LBPME=1"
            ),
            (Some(true), Some(false)) => format!(
                "the kernel sends none (provisioning_mode {mode}): it has not seen that the device says LBPME=1"
            ),
            (Some(true), _) => format!(
                "the kernel sends none (provisioning_mode {mode}) though the device says LBPME=1: it was switched off, \
                 or the device refused a discard before"
            ),
        };
        let mut reach = Self::new(TrimPath::OffInKernel, text);
        if unmap_limit_bytes(facts).is_none() {
            reach.reasons.push(
                "the device names no limit for one UNMAP (page B0h): Linux would send up to 4,294,966,784 B"
                    .to_owned(),
            );
        }
        reach.reasons.push(
            "whether UNMAP is harmless here is not known before `heatsoak trim DRIVE --prove --destroy SERIAL`".to_owned(),
        );
        reach
    }

    fn add_layers(&mut self, layers: &[TrimLayer]) {
        for layer in layers.iter().filter(|layer| layer.passes == Some(false)) {
            let advice = match layer.what {
                "crypt" => {
                    "; `cryptsetup --allow-discards --persistent refresh NAME` lets it (it shows which blocks hold data)"
                }
                "lvm" => "; LVM passes them where the layers below it do",
                _ => "",
            };
            self.reasons.push(format!("{} ({}) passes no discards{advice}", layer.name, layer.what));
        }
    }

    fn new(path: TrimPath, reason: String) -> Self {
        Self { path, reasons: vec![reason] }
    }
}
