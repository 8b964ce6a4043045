//! `heatsoak trim --prove`: the check of `drive::trim::proof` on a drive whose data was given away.
//!
//! Before the power cycle its state is kept on disk, and after it read again: serial number, enclosure and size must be
//! the same, and the kernel's count of appearances another.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};
use capture::session::Stop;
use drive::guard::{self, Claim, Permission};
use drive::scsi::SgDevice;
use drive::sysfs::text;
use drive::trim::mode::DiscardSetting;
use drive::trim::proof::{Proof, ProofLayout, ProofState, ProofUnit, UnitError};
use drive::trim::{CheckStage, ProvisioningMode, StoredCheck};
use measure::time::wall_unix_ns;
use measure::{Bytes, Seed, patient};

use super::TrimDisk;
use super::document::{CheckJson, TrimDocument};
use crate::Exit;
use crate::args::TrimArgs;
use crate::printer::Printer;
use crate::signals;

/// The window for the command of 4 GiB.
const LONG_BYTES: u64 = 8 << 30;

/// Runs the half that is due.
pub(super) fn prove(
    disk: &TrimDisk,
    args: &TrimArgs,
    document: &mut TrimDocument,
    printer: &mut Printer,
) -> anyhow::Result<Exit> {
    let permission = args.permission().context("--prove needs --destroy SERIAL")?;
    let facts = match &disk.facts {
        Some(Ok(facts)) => facts,
        Some(Err(why)) => bail!("cannot check TRIM on {}: {why}", args.drive),
        None => bail!(
            "cannot check TRIM on {}: the check sends UNMAP, which NVMe and other drives do not know; it is for drives \
             behind SATA, SAS and USB",
            args.drive
        ),
    };
    let capacity = facts.capacity.with_context(|| {
        format!("cannot check TRIM on {}: it does not answer READ CAPACITY (16)", args.drive)
    })?;
    let stored = if args.resume { Some(disk.awaiting(&args.drive)?) } else { None };
    let claim = claim(disk, &permission)?;
    let file = claim.file.try_clone().context("cannot use the device twice")?;
    let mut transport = SgDevice::new(file);
    let block_bytes = u64::from(capacity.block_bytes);
    let stop = signals::stop_flag()?;
    let stopped = move || stop.asks() != Stop::No;
    let unit = ProofUnit::new(&mut transport, &capacity, facts.limits.as_ref())?.stopping(&stopped);
    let mut steps = |step: &str| printer.message(&format!("  {step}"));
    let (layout, sizes, outcome);
    if let Some(stored) = stored {
        layout = stored.layout();
        sizes = [stored.block_bytes, stored.window_blocks, stored.long_blocks];
        let mut proof = Proof::resume(unit, layout, stored.state(), &mut steps);
        let mut done = proof.after_power_cycle();
        if done.is_ok() && !proof.result().is_over() {
            done = by_kernel(disk, &mut proof)?;
        }
        outcome = (done, proof.into_state(), CheckStage::Done);
    } else {
        let window = (args.window.as_u64() / block_bytes).max(1);
        let long = if args.long { LONG_BYTES / block_bytes } else { 0 };
        layout = ProofLayout::new(unit.blocks(), window, long);
        sizes = [block_bytes, window, long];
        steps(&cost(&layout, block_bytes));
        let mut proof = Proof::new(unit, layout, seed()?, &mut steps);
        let done = proof.before_power_cycle();
        let stage = if proof.result().is_over() { CheckStage::Done } else { CheckStage::AwaitsPowerCycle };
        outcome = (done, proof.into_state(), stage);
    }
    drop(claim);
    let (done, state, stage) = outcome;
    match done {
        Ok(()) => finish(disk, document, sizes, &state, stage),
        Err(UnitError::Stopped) => {
            printer.message(
                "stopped; the check has no result. The test windows on the drive hold patterns. Start again with --prove",
            );
            Ok(Exit::Stopped)
        }
        Err(error) => {
            Err(anyhow::Error::new(error).context(format!("the check of {} did not end", args.drive)))
        }
    }
}

/// Keeps what was found, and says it.
fn finish(
    disk: &TrimDisk,
    document: &mut TrimDocument,
    sizes: [u64; 3],
    state: &ProofState,
    stage: CheckStage,
) -> anyhow::Result<Exit> {
    let check = StoredCheck {
        wall_unix_ns: wall_unix_ns(),
        diskseq: disk.diskseq(),
        boot_id: boot_id(),
        ..StoredCheck::new(disk.checked(), stage, sizes, state)
    };
    disk.checks.keep(&check)?;
    document.check = Some(CheckJson::from(&check));
    document.look_again(disk);
    Ok(if check.verdict().is_safe() { Exit::Done } else { Exit::DoesNotHold })
}

/// Step 6, with the kernel's knobs held and put back.
fn by_kernel(disk: &TrimDisk, proof: &mut Proof<'_, '_>) -> anyhow::Result<Result<(), UnitError>> {
    let wanted = DiscardSetting { mode: ProvisioningMode::Unmap, max_bytes: disk.limit_bytes() };
    let mode = disk.mode()?;
    if mode.now()?.mode == ProvisioningMode::Unmap && mode.now()?.max_bytes <= wanted.max_bytes {
        return Ok(proof.by_kernel());
    }
    let mut held = mode.hold(wanted, "trim --prove", wall_unix_ns())?;
    let done = proof.by_kernel();
    let restored = held.put_back();
    if let Some(problem) = restored.problems.first() {
        bail!("{problem}");
    }
    Ok(done)
}

fn claim(disk: &TrimDisk, permission: &Permission) -> anyhow::Result<Claim> {
    let device = disk.roots.dev.join(&disk.name);
    let examined = guard::examine(&device, &disk.roots, None)?;
    Ok(guard::claim(&examined, permission, &disk.roots)?)
}

fn cost(layout: &ProofLayout, block_bytes: u64) -> String {
    format!(
        "this check writes {} in {} places, parts of it many times, and unmaps in between",
        Bytes::new(layout.blocks().saturating_mul(block_bytes)),
        layout.windows().len()
    )
}

fn seed() -> anyhow::Result<Seed> {
    let mut bytes = [0; 8];
    patient::random(&mut bytes).context("cannot have random numbers of the system")?;
    Ok(Seed::new(u64::from_le_bytes(bytes)))
}

fn boot_id() -> Option<String> {
    text(Path::new("/proc/sys/kernel/random/boot_id"))
}

impl TrimDisk {
    /// The half-done check of this drive, if it was unplugged since.
    fn awaiting(&self, typed: &str) -> anyhow::Result<StoredCheck> {
        let Some(check) = self.stored()? else {
            bail!(
                "there is no half-done check of {} in this enclosure: begin with `heatsoak trim {typed} --prove`",
                self.identity
            )
        };
        if check.stage == CheckStage::Done {
            bail!(
                "the check of {} is done already; begin a new one with `heatsoak trim {typed} --prove`",
                self.identity
            );
        }
        let same_boot = check.boot_id.is_some() && check.boot_id == boot_id();
        if same_boot && check.diskseq.is_some() && check.diskseq == self.diskseq() {
            bail!(
                "{typed} was not unplugged since the first half of the check: take it off its power for 10 s, plug it \
                 in again, and type this again"
            );
        }
        Ok(check)
    }

    fn diskseq(&self) -> Option<u64> {
        let folder = fs::canonicalize(self.roots.sys.join("class/block").join(&self.name)).ok()?;
        text(&folder.join("diskseq"))?.parse().ok()
    }
}
