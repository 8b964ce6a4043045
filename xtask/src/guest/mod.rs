//! `cargo xtask guest`: what the kernel tier starts its guests from, and a guest to try things in.
//!
//! `target/guest` holds a folder a kernel (`vmlinux`, `initrd`), the root they share (`root.ext4`) and
//! the key that tells when it must be made anew: this recipe and the versions of every package in it.
//! Needs Debian's apt and dpkg, and no privileges. Kernels are asked for only when something has to be
//! made, so that a prepared guest works without a network.

mod kernels;
mod needs;
mod root;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use kernels::KERNELS;
use needs::PACKAGES;

/// The variable that tells the tests of the kernel tier where the guest was prepared.
pub(crate) const PREPARED: &str = "HEATSOAK_GUEST";

/// Arguments of `cargo xtask guest`.
#[derive(Args)]
pub(crate) struct GuestArgs {
    /// The kernel: 6.1 or 6.12.
    #[arg(long, default_value = "6.12")]
    kernel: String,
    /// Runs this script in a guest with one drive of each kind, or `-` for a shell to type in.
    #[arg(long, value_name = "SCRIPT")]
    shell: Option<PathBuf>,
    /// Asks apt for newer kernels and makes everything anew.
    #[arg(long)]
    fresh: bool,
}

/// Prepares, and runs what was asked for.
pub(crate) fn run(root: &Path, args: &GuestArgs) -> Result<()> {
    let known: Vec<&str> = KERNELS.iter().map(|kernel| kernel.name).collect();
    ensure!(
        known.contains(&args.kernel.as_str()),
        "no kernel `{}`; there are {}",
        args.kernel,
        known.join(", ")
    );
    if args.fresh && folder(root).exists() {
        fs::remove_dir_all(folder(root)).context("removing the guest of yesterday")?;
    }
    let prepared = prepare(root)?;
    match &args.shell {
        None => println!("guest: ready in {}", prepared.display()),
        Some(script) => shell(root, &prepared, &args.kernel, script)?,
    }
    Ok(())
}

/// Why no guest can be started here; `None` when one can.
pub(crate) fn missing() -> Option<String> {
    needs::missing()
}

fn folder(root: &Path) -> PathBuf {
    root.join("target/guest")
}

/// Makes what is missing or stale, and hands back where it lies.
///
/// # Errors
/// When programs are missing, or a kernel cannot be fetched.
pub(crate) fn prepare(root: &Path) -> Result<PathBuf> {
    if let Some(reason) = missing() {
        bail!("{reason}");
    }
    let prepared = folder(root);
    fs::create_dir_all(&prepared)?;
    let lock = File::create(prepared.join("lock"))?;
    lock.lock().context("waiting for another `cargo xtask guest`")?;
    let key = key()?;
    if fs::read_to_string(prepared.join("key")).is_ok_and(|made| made == key) {
        return Ok(prepared);
    }
    // The key goes first and comes last: a half made guest is never taken for a whole one.
    fs::remove_file(prepared.join("key")).or_else(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(e),
    })?;
    println!("guest: making kernels and root in {}", prepared.display());
    let scratch = tempfile::tempdir_in(&prepared)?;
    let mut unpacked = Vec::new();
    for kernel in KERNELS {
        let at = scratch.path().join(kernel.name);
        let package = kernel.package()?;
        let one = kernels::unpack(&package, &prepared.join("packages"), &at)?;
        let home = prepared.join(kernel.name);
        fs::create_dir_all(&home)?;
        fs::write(home.join("vmlinux"), one.vmlinux()?)?;
        let initrd = scratch.path().join(format!("initrd-{}", kernel.name));
        root::make_initrd(&one, &initrd, &home.join("initrd"))?;
        println!("guest: kernel {} is {}", kernel.name, one.release);
        unpacked.push(one);
    }
    root::make_image(&unpacked, &scratch.path().join("root"), &prepared.join("root.ext4"))?;
    fs::write(prepared.join("key"), key)?;
    Ok(prepared)
}

/// What the guest is made of: this recipe, and the version of each package whose programs are copied.
fn key() -> Result<String> {
    let names = PACKAGES.iter().filter(|package| !package.inside.is_empty()).map(|package| package.name);
    let versions = output_of(Command::new("dpkg-query").arg("-W").args(names).arg("libc6"))?;
    Ok(format!("{versions}\n{}", root::RECIPE.join("\n")))
}

/// Runs `script` (or a shell, for `-`) with the terminal as its input and output.
fn shell(root: &Path, prepared: &Path, kernel: &str, script: &Path) -> Result<()> {
    let scratch = tempfile::tempdir_in(prepared)?;
    let text = if script == Path::new("-") {
        "stty -F /dev/ttyS1 sane; exec setsid -c sh -i </dev/ttyS1 >/dev/ttyS1 2>&1\n".to_owned()
    } else {
        let text = fs::read_to_string(script).with_context(|| format!("reading {}", script.display()))?;
        format!("exec >/dev/ttyS1 2>&1\n{text}")
    };
    let mut devices = Vec::new();
    for (name, model) in DRIVES {
        let image = scratch.path().join(name);
        File::create(&image)?.set_len(DRIVE_BYTES)?;
        devices.push("-drive".into());
        devices.push(::guest::with_path(&format!("if=none,format=raw,id={name},file="), &image, ""));
        devices.extend(model.iter().flat_map(|device| ["-device".into(), (*device).into()]));
    }
    devices
        .extend(["-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile="].map(Into::into));
    let program = root.join("target/debug");
    let machine = ::guest::GuestMachine {
        prepared,
        kernel,
        job: &scratch.path().join("job"),
        program: program.is_dir().then_some(program.as_path()),
        memory_mib: 1024,
        devices,
        on_terminal: true,
    };
    machine.start(&text, &["nvme", "ahci", "xhci-pci", "uas", "sd_mod", "sg", "virtio_net"])?.wait()?;
    let status = fs::read_to_string(machine.job.join("status")).unwrap_or_default();
    let console = || fs::read_to_string(machine.job.join("console")).unwrap_or_default();
    ensure!(!status.is_empty(), "the guest ended before the script did:\n{}", console());
    ensure!(status.trim() == "0", "the script ended with status {}", status.trim());
    Ok(())
}

/// Size of each drive of a guest for trying things.
const DRIVE_BYTES: u64 = 256 << 20;

/// One drive of each kind: name of the image, devices.
const DRIVES: &[(&str, &[&str])] = &[
    ("nvme", &["nvme,drive=nvme,serial=NVME1"]),
    ("ata", &["ide-hd,drive=ata,serial=ATA1"]),
    ("usb", &["qemu-xhci,id=xhci", "usb-uas,id=uas,bus=xhci.0", "scsi-hd,bus=uas.0,drive=usb,serial=USB1"]),
];

/// Runs a program and hands back what it printed.
fn output_of(command: &mut Command) -> Result<String> {
    let line = format!("{command:?}");
    let output = command.output().with_context(|| format!("starting {line}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{line} failed ({}): {}", output.status, errors.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
