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
//! Everything a guest writes is a file of a scratch folder here, which goes with its [`Output`]. Cases that need the
//! same guest share one: [`crate::kernel::case`].

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::kernel::output::{Output, telling};

/// Where `cargo xtask test kernel` says what it prepared.
const PREPARED: &str = "HEATSOAK_GUEST";
/// Size of a drive that nobody gave another one: small, but every file system fits.
const DRIVE_BYTES: u64 = 512 << 20;
/// Ends a script that hangs: many times what the longest takes on a crowded machine.
const TIMEOUT: Duration = Duration::from_secs(1800);
/// A guest whose script has ended has this long to power off. A 6.1 guest was seen to hang there, once in 250.
const POWER_OFF: Duration = Duration::from_secs(60);
/// Ends a boot that hangs. It takes 3 s on an idle machine.
const BOOT_TIMEOUT: Duration = Duration::from_secs(300);
/// How often a guest is started again that died before its script began.
const MORE_STARTS: u32 = 2;

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
                use $crate::kernel::guest::{Kernel, again_if_the_kernel_hangs};
                again_if_the_kernel_hangs(|| super::$name(Kernel::V6_1));
            }

            #[test]
            fn on_6_12() {
                use $crate::kernel::guest::{Kernel, again_if_the_kernel_hangs};
                again_if_the_kernel_hangs(|| super::$name(Kernel::V6_12));
            }
        }
    )+};
}
pub(crate) use on_each_kernel;

/// What a test panics with whose guest had a kernel that hung: everything that helps to understand it.
struct KernelHung(String);

/// Runs a test, and once more, with all things new, when a worker of the guest's own kernel hung: that is the kernel's failure. One of
/// 6.12.117 did, once in some hundreds of guests: a worker of high priority, with NVMe/TCP in use. Whatever else fails is not tried again.
pub(crate) fn again_if_the_kernel_hangs(mut test: impl FnMut()) {
    let hung = |test: &mut dyn FnMut()| match catch_unwind(AssertUnwindSafe(test)) {
        Ok(()) => None,
        Err(panic) => Some(panic.downcast::<KernelHung>().unwrap_or_else(|panic| resume_unwind(panic)).0),
    };
    let Some(text) = hung(&mut test) else { return };
    say(&format!("the guest's kernel hung, and the test runs once more\n{text}"));
    if let Some(text) = hung(&mut test) {
        panic!("the guest's kernel hung twice\n{text}");
    }
}

/// A folder of a test's own.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch folder")
}

/// A guest that is about to be started.
pub(crate) struct Guest {
    kernel: Kernel,
    scratch: tempfile::TempDir,
    modules: Vec<&'static str>,
    devices: Vec<OsString>,
    script: String,
    memory_mib: u32,
    timeout: Duration,
    broken_starts: u32,
}

impl Guest {
    /// One without drives.
    pub(crate) fn on(kernel: Kernel) -> Self {
        Self {
            kernel,
            scratch: scratch(),
            modules: Vec::new(),
            devices: Vec::new(),
            script: String::new(),
            memory_mib: 768,
            timeout: TIMEOUT,
            broken_starts: 0,
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

    /// Adds a disk behind USB's Bulk-Only Transport with this serial; it comes late as well.
    pub(crate) fn bulk_only(self, serial: &str) -> Self {
        let disk = format!("usb-storage,bus=xhci.0,drive={serial},serial={serial}");
        let guest = self.drive(serial).modules(&["xhci-pci", "usb-storage", "sd_mod", "sg"]);
        guest.device(&["-device", "qemu-xhci,id=xhci", "-device", &disk])
    }

    /// Lets the script speak to QEMU itself: after `monitor_up`, `monitor "device_del USB1"` and so on. QEMU's monitor is the
    /// other end of a serial line of the guest.
    pub(crate) fn monitor(self) -> Self {
        let socket = self.scratch.path().join("monitor");
        let server = ::guest::with_path("socket,id=monitor,path=", &socket, ",server=on,wait=off");
        let client = ::guest::with_path("socket,id=line,path=", &socket, "");
        let mut guest = self;
        guest.devices.extend([
            "-chardev".into(),
            server,
            "-mon".into(),
            "chardev=monitor,mode=readline".into(),
        ]);
        guest.devices.extend(["-chardev".into(), client, "-device".into(), "pci-serial,chardev=line".into()]);
        // What QEMU says is taken away, or it hears no more; and a line that echoes would give it its own words as commands.
        guest.script(
            "monitor_up() {
                 for line in /sys/class/tty/ttyS?; do
                     case $(readlink -f $line/device) in */pci0000*) line=/dev/$(basename $line); break;; esac
                 done
                 stty -F $line raw -echo 115200
                 exec 9<>$line
                 cat <&9 >$out/monitor &
                 echo >&9
             }
             monitor() { echo \"$1\" >&9; }",
        )
    }

    /// Adds a disk behind USB's Bulk-Only Transport that can be taken away with `device_del` of its serial and comes back with
    /// `device_add usb-storage,bus=xhci.0,id=..,drive=..,serial=..`, each the same; needs [`Self::uas`] before it.
    pub(crate) fn removable(mut self, serial: &str) -> Self {
        let image = self.image(serial);
        let made = File::create_new(&image).and_then(|file| file.set_len(DRIVE_BYTES));
        made.expect("two drives have two serials");
        let start = format!("driver=file,node-name={serial},filename=");
        self.devices.extend(["-blockdev".into(), ::guest::with_path(&start, &image, "")]);
        let disk = format!("usb-storage,bus=xhci.0,id={serial},drive={serial},serial={serial}");
        self.modules(&["usb-storage"]).device(&["-device", &disk])
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
        self.devices.extend(::guest::shared_folder("share", folder, false));
        self
    }

    /// What to run. Several calls run one after the other.
    pub(crate) fn script(mut self, text: &str) -> Self {
        self.script.push_str(text);
        self.script.push('\n');
        self
    }

    /// Ends the guest, and the test, this long after its script began.
    pub(crate) fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    /// Lets the first starts die at boot: for the harness's own test.
    pub(crate) fn broken_starts(mut self, starts: u32) -> Self {
        self.broken_starts = starts;
        self
    }

    /// The file that is the drive of this serial, to be filled before and compared after.
    pub(crate) fn image(&self, serial: &str) -> PathBuf {
        self.scratch.path().join(serial)
    }

    /// Runs the script; it must end with status 0.
    pub(crate) fn run(self) -> Output {
        let prepared = std::env::var_os(PREPARED)
            .unwrap_or_else(|| panic!("{PREPARED} is not set: run `cargo xtask test kernel`"));
        let program = Path::new(env!("CARGO_BIN_EXE_heatsoak"));
        let machine = ::guest::GuestMachine {
            prepared: Path::new(&prepared),
            kernel: self.kernel.name(),
            job: &self.scratch.path().join("job"),
            program: program.parent(),
            memory_mib: self.memory_mib,
            devices: self.devices.clone(),
            on_terminal: false,
        };
        let end = self.start_until_it_begins(machine);
        let output = Output::new(self.scratch);
        let all = || output.everything();
        match end {
            End::AtBoot(why) => panic!("the guest {why} before its script began\n{}", all()),
            End::TooLate => panic!("the guest took over {:?}\n{}", self.timeout, all()),
            End::Ended(qemu) => assert!(qemu.success(), "QEMU ended with {qemu}\n{}", all()),
            End::StaysOn => say("the script has ended, and the guest did not power off"),
        }
        match output.status() {
            None if output.kernel_hung() => panic_any(KernelHung(all())),
            None => panic!("the guest ended in its script\n{}", all()),
            Some(0) => output.must_be_in_order(),
            Some(status) => panic!("the script ended with status {status}\n{}", all()),
        }
        output
    }

    /// Starts the guest, and again when it dies at boot. Nothing of a test has happened by then: drives are
    /// as they were made, and nobody has talked to the host.
    fn start_until_it_begins(&self, mut machine: ::guest::GuestMachine<'_>) -> End {
        let mut starts = 0;
        loop {
            let devices = machine.devices.len();
            if starts < self.broken_starts {
                // The last command line counts, and this one names no program to begin with.
                machine
                    .devices
                    .extend(["-append", "console=ttyS0 panic=-1 quiet rdinit=/none"].map(OsString::from));
            }
            let qemu = machine.start(&self.script, &self.modules).expect("a guest can be started");
            machine.devices.truncate(devices);
            let end = wait(qemu, self.timeout);
            let End::AtBoot(why) = end else { return end };
            starts += 1;
            if starts > MORE_STARTS {
                return end;
            }
            let console = fs::read_to_string(machine.job.join("console")).unwrap_or_default();
            say(&format!(
                "a guest {why} before its script began, and is started again ({starts} of {MORE_STARTS})\n{}",
                telling(&console)
            ));
        }
    }

    fn drive(mut self, serial: &str) -> Self {
        let image = self.image(serial);
        let made = File::create_new(&image).and_then(|file| file.set_len(DRIVE_BYTES));
        made.expect("two drives have two serials, and a sparse file takes no room");
        let start = format!("if=none,format=raw,discard=unmap,id={serial},file=");
        self.devices.extend(["-drive".into(), ::guest::with_path(&start, &image, "")]);
        self
    }
}

/// How a guest ended.
enum End {
    /// Before its script began, in this manner.
    AtBoot(&'static str),
    /// By us, because its script took too long.
    TooLate,
    /// By itself.
    Ended(ExitStatus),
    /// By us: its script had ended, and all that it wrote is there, but the kernel did not power off.
    StaysOn,
}

/// Past the capturing of output: a test that passes says so as well.
fn say(what: &str) {
    let name = thread::current().name().unwrap_or("a test").to_owned();
    writeln!(std::io::stderr(), "{name}: {what}").expect("standard error takes a line");
}

/// Waits for a guest, whose script has `limit` from when it begins.
fn wait(mut qemu: Child, limit: Duration) -> End {
    let line = qemu.stdout.take().expect("its second serial line is a pipe");
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(line).lines().map_while(Result::ok) {
            // Nobody listens any more when the test has ended otherwise.
            let _ = tell.send(line);
        }
        // The channel closes here, when QEMU has ended.
    });
    let begun = told.recv_timeout(BOOT_TIMEOUT);
    let hangs = |limit: Duration| told.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
    let mut stays_on = false;
    let too_late = match begun {
        // The second line says that the script has ended; what is left is to power off.
        Ok(_) => match told.recv_timeout(limit) {
            Ok(_) => {
                stays_on = hangs(POWER_OFF);
                false
            }
            Err(error) => error == RecvTimeoutError::Timeout,
        },
        Err(error) => error == RecvTimeoutError::Timeout,
    };
    if too_late || stays_on {
        // Only then: a guest that is about to end by itself must not seem to have been killed.
        qemu.kill().expect("it has not been waited for");
    }
    let ended = qemu.wait().expect("it was started");
    match begun {
        Err(_) if too_late => End::AtBoot("hung"),
        Ok(_) if too_late => End::TooLate,
        Ok(_) if stays_on => End::StaysOn,
        // An error of QEMU itself comes at once and each time.
        Err(_) if ended.success() => End::AtBoot("died"),
        _ => End::Ended(ended),
    }
}
