//! `heatsoak trim`: whether TRIM reaches the flash, why not, whether it is harmless, and how to switch it on.
//!
//! Told and changed by `drive::trim`; here is what was typed, what is shown, and what has to be true before something is
//! changed: a finished check of this drive in this enclosure.

mod document;
mod prove;
mod text;

use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, bail};
use drive::guard::Roots;
use drive::scsi::{self, ScsiFacts};
use drive::settings::journal::{Journals, places, state_folder};
use drive::trim::mode::{DiscardMode, DiscardSetting};
use drive::trim::{
    CheckedDrive, KernelDiscard, ProvisioningMode, StoredCheck, StoredChecks, TrimReach, layers, udev_rule,
    unmap_limit_bytes,
};
use drive::usb::UsbBridge;
use drive::{Address, AddressKind, DriveIdentity};

use crate::Exit;
use crate::args::TrimArgs;
use crate::commands::documents::JsonDocument as _;
use crate::door;
use crate::opening::Opening;
use crate::printer::Printer;
use crate::table;
pub(crate) use document::TrimDocument;

/// A disk as this command knows it.
struct TrimDisk {
    roots: Roots,
    /// The kernel's name of it: `sda`.
    name: String,
    identity: DriveIdentity,
    bridge: Option<UsbBridge>,
    /// What it says of itself; why not, where it could not be asked. `None` for what is no SCSI disk.
    facts: Option<Result<ScsiFacts, String>>,
    checks: StoredChecks,
}

/// Tells, changes or checks.
pub(crate) fn execute(args: &TrimArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let disk = TrimDisk::open(&args.drive)?;
    let mut document = disk.document(&args.drive)?;
    let mut exit = Exit::Done;
    if args.prove {
        exit = prove::prove(&disk, args, &mut document, printer)?;
    } else if args.enable || args.disable {
        let wanted = if args.enable { disk.enabled(args.unchecked)? } else { OFF };
        document.changed = Some(disk.change(wanted, printer)?);
        document.look_again(&disk);
    }
    if args.udev_rule {
        let rule = disk.rule(args.unchecked)?;
        for note in &rule.notes {
            printer.message(&format!("note: {note}"));
        }
        if !args.json {
            printer.data(&rule.text)?;
            return Ok(exit);
        }
        document.udev_rule = Some(rule.text);
    }
    if args.json {
        printer.json(&document)?;
    } else {
        printer.data(&text::for_people(&document, printer.data_width()))?;
    }
    Ok(exit)
}

/// No discards.
const OFF: DiscardSetting = DiscardSetting { mode: ProvisioningMode::Full, max_bytes: 0 };

impl TrimDisk {
    fn open(typed: &str) -> anyhow::Result<Self> {
        let address = Address::parse(typed)?;
        let AddressKind::Device { path } = address.kind() else {
            bail!(
                "cannot tell whether TRIM reaches the flash of {typed}: name a block device, such as /dev/sda; \
                 `heatsoak list` shows those of this machine"
            )
        };
        std::fs::metadata(path)
            .with_context(|| format!("cannot look at {typed}; check the path, or run `heatsoak list`"))?;
        let name = door::open(&address, &Opening::plain())?.disk().with_context(|| {
            format!("cannot find the disk of {typed}; name a block device, such as /dev/sda")
        })?;
        let roots = Roots::system();
        let identity = DriveIdentity::read(&roots.sys, &name)
            .with_context(|| format!("cannot find {name} in {}", roots.sys.display()))?;
        let bridge = UsbBridge::of_disk(&roots.sys, &name);
        let facts = name.starts_with("sd").then(|| ask(&roots.dev.join(&name)));
        let folder = state_folder().context(
            "there is no folder for stored checks: HOME is not set; name one with HEATSOAK_STATE_DIR",
        )?;
        Ok(Self { roots, name, identity, bridge, facts, checks: StoredChecks::in_folder(folder) })
    }

    fn reach(&self, kernel: &KernelDiscard, layers: &[layers::TrimLayer]) -> TrimReach {
        match &self.facts {
            None => TrimReach::of_other(kernel, layers),
            Some(facts) => {
                let facts = facts.as_ref().map_err(String::as_str);
                TrimReach::of_scsi(facts, kernel, layers, self.bridge.is_some())
            }
        }
    }

    fn document(&self, typed: &str) -> anyhow::Result<TrimDocument> {
        let check = self.stored()?;
        Ok(TrimDocument::new(TrimDocument::SCHEMA, typed, self, check.as_ref()))
    }

    fn checked(&self) -> CheckedDrive {
        CheckedDrive::new(&self.identity, self.bridge.as_ref())
    }

    fn stored(&self) -> anyhow::Result<Option<StoredCheck>> {
        Ok(self.checks.find(&self.checked())?)
    }

    /// What one UNMAP may name; without a word of the device what every bridge should take.
    fn limit_bytes(&self) -> u64 {
        let told = self.facts.as_ref().and_then(|facts| facts.as_ref().ok()).and_then(unmap_limit_bytes);
        // 32 MiB: 65,536 blocks of 512 B, the most that a counter of 16 bits may reach, less one block.
        told.unwrap_or((1 << 25) - 4096)
    }

    /// UNMAP with the device's own limit, if it is known to be harmless.
    fn enabled(&self, unchecked: bool) -> anyhow::Result<DiscardSetting> {
        self.must_have_passed("set provisioning_mode to unmap", "--enable", unchecked)?;
        Ok(DiscardSetting { mode: ProvisioningMode::Unmap, max_bytes: self.limit_bytes() })
    }

    fn must_have_passed(&self, what: &str, option: &str, unchecked: bool) -> anyhow::Result<()> {
        let device = self.roots.dev.join(&self.name);
        let serial = self.identity.serial.as_deref().unwrap_or("no-serial");
        let check = format!("heatsoak trim {} --prove --destroy {serial}", device.display());
        match self.stored()? {
            Some(check) if check.has_passed() => Ok(()),
            _ if unchecked => Ok(()),
            Some(stored) if stored.verdict().is_safe() => bail!(
                "will not {what} for {}: the check of this drive is half done; unplug it for 10 s, then `{check} \
                 --resume`. {option} --unchecked does it all the same",
                self.identity
            ),
            Some(stored) => bail!(
                "will not {what} for {}: its check ended with {}; {option} --unchecked does it all the same",
                self.identity,
                document::word(&stored.verdict())
            ),
            None => bail!(
                "will not {what} for {}: nobody has checked whether UNMAP is harmless on this drive in this enclosure; \
                 `{check}` does (all data on it is lost), {option} --unchecked goes without",
                self.identity
            ),
        }
    }

    fn mode(&self) -> anyhow::Result<DiscardMode> {
        Ok(DiscardMode::claim(&self.roots, &self.name, &self.identity, &journals()?)?)
    }

    /// Sets the kernel's knobs until the drive is unplugged.
    fn change(
        &self,
        wanted: DiscardSetting,
        printer: &mut Printer,
    ) -> anyhow::Result<document::DiscardChange> {
        let mode = self.mode()?;
        let before = mode.now()?;
        let back = if before.mode.discards() { "--enable" } else { "--disable" };
        printer.message(&format!(
            "provisioning_mode: {}, discard_max_bytes: {}; to put it back: heatsoak trim {} {back}",
            before.mode,
            before.max_bytes,
            self.roots.dev.join(&self.name).display()
        ));
        mode.set(wanted)?;
        Ok(document::DiscardChange { before: before.into(), now: mode.now()?.into() })
    }

    fn rule(&self, unchecked: bool) -> anyhow::Result<drive::trim::UdevRule> {
        self.must_have_passed("print a rule that switches TRIM on", "--udev-rule", unchecked)?;
        let inquiry = self.facts.as_ref().and_then(|facts| facts.as_ref().ok()).map(|facts| &facts.inquiry);
        let scsi =
            inquiry.and_then(|inquiry| Some((inquiry.vendor.as_deref()?, inquiry.product.as_deref()?)));
        udev_rule(&self.identity, self.bridge.as_ref(), scsi, self.limit_bytes())
            .map_err(|why| anyhow::anyhow!("cannot write a udev rule: {why}"))
    }
}

fn ask(device: &Path) -> Result<ScsiFacts, String> {
    let file = File::open(device).map_err(|error| format!("cannot open {}: {error}", device.display()))?;
    scsi::facts(&file).map_err(|error| error.to_string())
}

/// Where what the kernel's knobs held is written down.
fn journals() -> anyhow::Result<Journals> {
    places().into_iter().next().context("there is no folder for the journal of settings: HOME is not set")
}

/// A table of name and value.
fn rows(rows: &[[String; 2]], width: usize) -> String {
    table::fitted(rows, width)
}
