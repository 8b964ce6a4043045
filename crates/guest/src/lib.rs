//! A QEMU guest: its command line, and started.
//!
//! Shared by `cargo xtask guest` and by the kernel tier's harness (`crates/cli/tests/kernel`).
//! Emulation only (TCG): the same everywhere, whatever the processor offers.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::{fs, io};

/// A guest that is about to be started.
pub struct GuestMachine<'a> {
    /// The folder that `cargo xtask guest` prepared.
    pub prepared: &'a Path,
    /// Which kernel in it: `6.1` or `6.12`.
    pub kernel: &'a str,
    /// The folder of the job, made anew by each start: `script` and `modules` are read from there, `out/`,
    /// `status`, `dmesg` and `console` are written there.
    pub job: &'a Path,
    /// The folder of the binary under test, seen as `/program`.
    pub program: Option<&'a Path>,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// Further arguments of QEMU: devices, networks.
    pub devices: Vec<OsString>,
    /// Whether the guest's second serial line is our terminal. It is a pipe otherwise, on which the guest
    /// says a line when its script begins.
    pub on_terminal: bool,
}

impl GuestMachine<'_> {
    /// Writes the job's files and starts the guest.
    ///
    /// # Errors
    /// When a file cannot be written, or QEMU cannot be started.
    pub fn start(&self, script: &str, modules: &[&str]) -> io::Result<Child> {
        match fs::remove_dir_all(self.job) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir_all(self.job.join("out"))?,
        }
        fs::write(self.job.join("script"), script)?;
        fs::write(self.job.join("modules"), modules.iter().map(|m| format!("{m}\n")).collect::<String>())?;
        let mut command = self.command();
        if !self.on_terminal {
            let messages = fs::File::create(self.job.join("qemu"))?;
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(messages);
        }
        command.spawn()
    }

    fn command(&self) -> Command {
        let kernel = self.prepared.join(self.kernel);
        // The guest ends with the thread that started it: a test that is killed leaves none behind.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "qemu-system-x86_64"]);
        // One processor: emulation of several, a thread each, lets one patch the code that another runs (kernel
        // 6.12 died at boot of the int3 that it puts there meanwhile).
        command.args(["-accel", "tcg,thread=single", "-machine", "q35", "-no-reboot"]);
        // No time stamp counter: a kernel measures its rate against a timer, and finds a wrong one where the emulated
        // processor waits for its turn meanwhile; its seconds were a second's 50th then. HPET tells its own rate.
        command.args(["-cpu", "max,tsc=off"]);
        command.args(["-m", &self.memory_mib.to_string(), "-smp", "1"]);
        command.args(["-display", "none", "-nodefaults", "-monitor", "none"]);
        command.arg("-kernel").arg(kernel.join("vmlinux")).arg("-initrd").arg(kernel.join("initrd"));
        // panic=-1 with -no-reboot: a kernel panic ends the guest instead of waiting for the timeout.
        // no_timer_check: on a crowded machine emulated timers look broken to a kernel that tests them.
        // lpj: nor is the speed of its loops measured.
        // nosoftlockup and the stall of RCU: they tell a guest that waits for its turn from one that works.
        let line = "console=ttyS0 panic=-1 no_timer_check nosoftlockup rcupdate.rcu_cpu_stall_suppress=1 quiet \
                    loglevel=5 random.trust_cpu=on lpj=2000000";
        command.args(["-append", line]);
        command.arg("-serial").arg(with_path("file:", &self.job.join("console"), ""));
        command.args(["-serial", "stdio"]);
        let image = self.prepared.join("root.ext4");
        command.arg("-drive").arg(with_path("if=virtio,format=raw,readonly=on,file=", &image, ""));
        command.args(shared_folder("job", self.job, false));
        if let Some(program) = self.program {
            command.args(shared_folder("program", program, true));
        }
        command.args(&self.devices);
        command
    }
}

/// QEMU's arguments for a folder that the guest mounts by `tag`.
pub fn shared_folder(tag: &str, folder: &Path, read_only: bool) -> [OsString; 2] {
    let access = if read_only { ",readonly=on" } else { "" };
    let rest = format!(",mount_tag={tag},security_model=none,multidevs=remap{access}");
    ["-virtfs".into(), with_path("local,path=", folder, &rest)]
}

/// `before`, the path with its commas doubled as QEMU wants them, `after`.
pub fn with_path(before: &str, path: &Path, after: &str) -> OsString {
    format!("{before}{}{after}", path.to_string_lossy().replace(',', ",,")).into()
}
