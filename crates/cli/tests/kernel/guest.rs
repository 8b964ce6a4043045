//! A guest for one test: drives, a script, and what came of it.
//!
//! ```text
//! let output = Guest::on(kernel).nvme("NVME1").script("section log\nnvme smart-log /dev/nvme0 -o json").run();
//! let log = output.json("log");
//! ```
//!
//! A script is busybox's `sh` with `set -eu`: a command that fails ends it, and the test with it. What
//! it finds defined (`section`, `status`, `wait_for`, `udev_up`, `net_up`, `nvmet_tcp`, ..) stands in
//! `xtask/src/guest/root/prelude`; which programs there are, in `xtask/src/guest/needs.rs`. The binary
//! under test is `heatsoak` in the guest's path.
//!
//! Everything a guest writes is a file of a scratch folder here, which goes with its [`Output`].

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::Value;

#[path = "../../../../xtask/src/guest/qemu.rs"]
mod qemu;

/// Where `cargo xtask test kernel` says what it prepared.
const PREPARED: &str = "HEATSOAK_GUEST";
/// Size of a drive that nobody gave another one: small, but every file system fits.
const DRIVE_BYTES: u64 = 512 << 20;
/// Ends a guest that hangs. A boot takes 3 s on an idle machine and 15 s on a crowded one.
const TIMEOUT_S: u32 = 300;
/// `timeout` exits with this when it had to end the program with SIGKILL: 128 + 9.
const TIMED_OUT: i32 = 137;
/// What a kernel says when it has met a bug of its own or of our making.
const KERNEL_BUGS: &[&str] =
    &["BUG:", "Oops", "general protection fault", "Kernel panic", "hung_task", "blocked for more than"];

/// Debian's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// Debian 12's own.
    V6_1,
    /// The newer one that it ships beside it.
    V6_12,
}

impl Kernel {
    fn name(self) -> &'static str {
        match self {
            Self::V6_1 => "6.1",
            Self::V6_12 => "6.12",
        }
    }
}

/// Makes tests out of functions that take a kernel: `on_each_kernel!(list_shows_every_drive)`.
macro_rules! on_each_kernel {
    ($($name:ident),+ $(,)?) => {$(
        mod $name {
            #[test]
            fn on_6_1() {
                super::$name($crate::guest::Kernel::V6_1);
            }

            #[test]
            fn on_6_12() {
                super::$name($crate::guest::Kernel::V6_12);
            }
        }
    )+};
}
pub(crate) use on_each_kernel;

/// A guest that is about to be started.
pub(crate) struct Guest {
    kernel: Kernel,
    scratch: tempfile::TempDir,
    modules: Vec<&'static str>,
    devices: Vec<OsString>,
    script: String,
    memory_mib: u32,
    processors: u32,
    timeout_s: u32,
}

impl Guest {
    /// One without drives.
    pub(crate) fn on(kernel: Kernel) -> Self {
        Self {
            kernel,
            scratch: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch folder"),
            modules: Vec::new(),
            devices: Vec::new(),
            script: String::new(),
            memory_mib: 768,
            processors: 2,
            timeout_s: TIMEOUT_S,
        }
    }

    /// Adds QEMU's own NVMe drive with this serial: `/dev/nvme0n1`, `/dev/nvme1n1`, ... A drive without
    /// HCTM whose temperature is 323 K for ever.
    pub(crate) fn nvme(self, serial: &str) -> Self {
        let device = format!("nvme,drive={serial},serial={serial}");
        self.drive(serial).modules(&["nvme"]).device(&["-device", &device])
    }

    /// Adds a SATA disk with this serial, `/dev/sda` or so; `wait_for test -b /dev/sda`.
    pub(crate) fn ata(self, serial: &str) -> Self {
        let device = format!("ide-hd,drive={serial},serial={serial}");
        self.drive(serial).modules(&["ahci", "sd_mod", "sg", "drivetemp"]).device(&["-device", &device])
    }

    /// Adds a disk behind USB attached SCSI with this serial; at most one a guest, and it comes late:
    /// `wait_for test -b /dev/sda`.
    pub(crate) fn uas(self, serial: &str) -> Self {
        let disk = format!("scsi-hd,bus=uas.0,drive={serial},serial={serial}");
        let guest = self.drive(serial).modules(&["xhci-pci", "uas", "sd_mod", "sg"]);
        guest.device(&[
            "-device",
            "qemu-xhci,id=xhci",
            "-device",
            "usb-uas,id=uas,bus=xhci.0",
            "-device",
            &disk,
        ])
    }

    /// Adds a network: after `net_up` the script finds in `$host` the address of our loopback services.
    pub(crate) fn network(self) -> Self {
        let guest = self.modules(&["virtio_net", "af_packet"]);
        guest.device(&["-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile="])
    }

    /// Adds arguments of QEMU, as they are.
    pub(crate) fn device(mut self, arguments: &[&str]) -> Self {
        self.devices.extend(arguments.iter().map(OsString::from));
        self
    }

    /// Loads kernel modules before the script, in this order.
    pub(crate) fn modules(mut self, names: &[&'static str]) -> Self {
        self.modules.extend(names);
        self
    }

    /// Shows the guest a folder of ours as `/share`, for reading and writing.
    pub(crate) fn share(mut self, folder: &Path) -> Self {
        self.devices.extend(qemu::shared_folder("share", folder, false));
        self
    }

    /// What to run. Several calls run one after the other.
    pub(crate) fn script(mut self, text: &str) -> Self {
        self.script.push_str(text);
        self.script.push('\n');
        self
    }

    /// Ends the guest, and the test, after this many seconds.
    pub(crate) fn timeout_s(mut self, seconds: u32) -> Self {
        self.timeout_s = seconds;
        self
    }

    /// The file that is the drive of this serial, to be filled before and compared after.
    pub(crate) fn image(&self, serial: &str) -> PathBuf {
        self.scratch.path().join(serial)
    }

    /// Runs the script; it must end with status 0.
    pub(crate) fn run(self) -> Output {
        let output = self.run_to_any_end();
        assert!(output.status == 0, "the script ended with status {}\n{}", output.status, output.told());
        output
    }

    /// Runs the script, whatever its status will be. The guest itself must have come to its end.
    pub(crate) fn run_to_any_end(self) -> Output {
        let prepared = std::env::var_os(PREPARED)
            .unwrap_or_else(|| panic!("{PREPARED} is not set: run `cargo xtask test kernel`"));
        let program = Path::new(env!("CARGO_BIN_EXE_heatsoak"));
        let machine = qemu::Machine {
            prepared: Path::new(&prepared),
            kernel: self.kernel.name(),
            job: &self.scratch.path().join("job"),
            program: program.parent(),
            memory_mib: self.memory_mib,
            processors: self.processors,
            devices: self.devices,
            timeout_s: self.timeout_s,
            on_terminal: false,
        };
        let ended = machine.run(&self.script, &self.modules).expect("a guest can be started");
        let mut output = Output { scratch: self.scratch, status: 0 };
        assert!(
            ended.code() != Some(TIMED_OUT),
            "the guest took over {} s\n{}",
            self.timeout_s,
            output.told()
        );
        assert!(ended.success(), "QEMU ended with {ended}\n{}", output.told());
        let status = output.file("status").trim().parse();
        output.status =
            status.unwrap_or_else(|_| panic!("the guest ended before its script\n{}", output.told()));
        let missing = output.file("modules-missing");
        assert!(missing.is_empty(), "modules that this guest has not: {missing}");
        let dmesg = output.dmesg();
        let bug = KERNEL_BUGS.iter().find(|bug| dmesg.contains(*bug));
        assert!(bug.is_none(), "the kernel has met a bug\n{dmesg}");
        output
    }

    fn drive(mut self, serial: &str) -> Self {
        let image = self.image(serial);
        let made = File::create_new(&image).and_then(|file| file.set_len(DRIVE_BYTES));
        made.expect("two drives have two serials, and a sparse file takes no room");
        let start = format!("if=none,format=raw,discard=unmap,id={serial},file=");
        self.devices.extend(["-drive".into(), qemu::with_path(&start, &image, "")]);
        self
    }
}

/// What came of a guest.
pub(crate) struct Output {
    scratch: tempfile::TempDir,
    /// The script's exit status.
    pub(crate) status: i32,
}

impl Output {
    /// What was printed after `section NAME`, errors aside.
    pub(crate) fn section(&self, name: &str) -> String {
        let path = self.scratch.path().join("job/out").join(name);
        let bytes = fs::read(path).unwrap_or_else(|_| panic!("no section `{name}`\n{}", self.told()));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What went to standard error after `section NAME`.
    pub(crate) fn errors(&self, name: &str) -> String {
        self.section(&format!("{name}.err"))
    }

    /// A section as JSON.
    pub(crate) fn json(&self, name: &str) -> Value {
        let text = self.section(name);
        serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("section `{name}` is no JSON: {error}\n{text}\n{}", self.errors(name))
        })
    }

    /// The file that was the drive of this serial.
    pub(crate) fn image(&self, serial: &str) -> PathBuf {
        self.scratch.path().join(serial)
    }

    /// The kernel's messages.
    pub(crate) fn dmesg(&self) -> String {
        self.file("dmesg")
    }

    fn file(&self, name: &str) -> String {
        let bytes = fs::read(self.scratch.path().join("job").join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Everything that helps to understand a failure.
    fn told(&self) -> String {
        let mut text = String::new();
        let mut names: Vec<String> = fs::read_dir(self.scratch.path().join("job/out"))
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        for name in names.iter().map(|name| format!("out/{name}")).chain(["console".into(), "qemu".into()]) {
            let content = self.file(&name);
            if !content.trim().is_empty() {
                text += &format!("--- {name}\n{}\n", tail(&content));
            }
        }
        text
    }
}

/// The last lines, which are where it went wrong.
fn tail(text: &str) -> String {
    const LINES: usize = 40;
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
