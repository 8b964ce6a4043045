//! smartctl as a program: found, run, and ended if it hangs.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// Where it is: root's PATH is not asked for a tool that root will run.
const PLACES: [&str; 4] =
    ["/usr/sbin/smartctl", "/usr/local/sbin/smartctl", "/usr/bin/smartctl", "/sbin/smartctl"];

/// A bridge that is asked in a way that it does not know may need a reset by the kernel, which takes this long
/// (Linux, default SCSI command timeout of 30 s). One is known to answer after 61 s, with nothing but zeroes
/// (smartmontools issue 496): what comes later than this is not waited for.
const LIMIT: Duration = Duration::from_secs(40);

/// More than its longest answer.
const OUTPUT_BYTES_MAX: u64 = 4 << 20;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// It did not come in time.
    TooLate(String),
    /// There was none.
    Failed(String),
}

impl From<NoAnswer> for String {
    fn from(no: NoAnswer) -> Self {
        match no {
            NoAnswer::TooLate(why) | NoAnswer::Failed(why) => why,
        }
    }
}

/// The program.
///
/// # Errors
/// A sentence: it is not installed, and what to do.
pub(super) fn program() -> Result<PathBuf, String> {
    let place = PLACES.into_iter().map(Path::new).find(|place| place.is_file());
    place.map(Path::to_owned).ok_or_else(|| {
        "smartctl is not installed (package smartmontools), so SATA drives and drives behind USB bridges tell no \
         temperature but by hwmon"
            .to_owned()
    })
}

/// Its standard output for `arguments`, whatever its exit status, which stands in its JSON as well.
///
/// # Errors
/// A sentence: it could not be run, or did not end.
pub(super) fn output(program: &Path, arguments: &[&str]) -> Result<String, NoAnswer> {
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // A group of its own, so that what it starts ends with it.
        .process_group(0)
        .spawn()
        .map_err(|error| NoAnswer::Failed(format!("cannot run {}: {error}", program.display())))?;
    let (sender, receiver) = channel();
    let stdout = child.stdout.take();
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.map(|stdout| stdout.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes));
        // Nobody waits any more: it took too long.
        let _ = sender.send(read.map(|read| read.map(|_| bytes)));
    });
    let answer = receiver.recv_timeout(LIMIT);
    if matches!(answer, Err(RecvTimeoutError::Timeout)) {
        // It may hang in the kernel; then the thread and the process are left to themselves.
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        return Err(NoAnswer::TooLate(format!("smartctl did not answer within {} s", LIMIT.as_secs())));
    }
    let _ = reader.join();
    let _ = child.wait();
    match answer {
        Ok(Some(Ok(bytes))) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        _ => Err(NoAnswer::Failed("smartctl's answer could not be read".to_owned())),
    }
}
