//! Signals end a run: the first cleanly, the second at once, the third by ending the process. So does every one that
//! would otherwise end the process without the settings being put back; the table is in `docs/SAFETY.md`.

use std::fs;
use std::io::Read as _;
use std::os::fd::IntoRawFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use capture::session::StopFlag;
use signal_hook::consts::signal;

use crate::Exit;

/// From this signal on the process ends by itself: whoever should have heeded the first two does not.
const DEAF: usize = 3;

/// A run that nobody watches any more has this long to end cleanly before it ends at once: settings are to be back five
/// seconds after the link broke.
const CLEAN_END: Duration = Duration::from_millis(2500);

/// Those that ask for the end (signal(7)). Not among them: faults of the process itself, and KILL and STOP.
const ENDING: [i32; 10] = [
    signal::SIGINT,
    signal::SIGTERM,
    signal::SIGHUP,
    signal::SIGQUIT,
    // What a service manager's watchdog sends; an abort of ours still ends the process.
    signal::SIGABRT,
    signal::SIGALRM,
    signal::SIGVTALRM,
    signal::SIGPROF,
    // The soft limit of processor time; the hard one kills.
    signal::SIGXCPU,
    signal::SIGIO,
];

/// Those numbers that Linux has beside (signal(7)): SIGSTKFLT, SIGPWR, and the real-time signals that the C library
/// leaves to programs.
const ENDING_BY_NUMBER: [std::ops::RangeInclusive<i32>; 3] = [16..=16, 30..=30, REAL_TIME_MIN..=64];

/// SIGRTMIN: glibc keeps 32 and 33 for itself (nptl(7)), musl 34 as well (its src/signal/sigrtmin.c), and its sigaction
/// refuses them.
const REAL_TIME_MIN: i32 = if cfg!(target_env = "musl") { 35 } else { 34 };

/// Those that end nothing: other programs take the first two for "say how far you are", and what the others tell is
/// told by the write that failed as well.
const IGNORED: [i32; 4] = [signal::SIGUSR1, signal::SIGUSR2, signal::SIGPIPE, signal::SIGXFSZ];

/// A flag that signals raise from now on, instead of ending the process. Once a process.
///
/// # Errors
/// When the system has no thread left to listen with, or takes no handler.
pub(crate) fn stop_flag() -> anyhow::Result<StopFlag> {
    listen().context("cannot listen for Ctrl-C and other signals")
}

/// Raises the flag once for each byte on standard input, when that ends, and once more a while later: whoever asked for
/// the run from another machine is the other end of it.
///
/// # Errors
/// When the system has no thread left.
pub(crate) fn stop_when_stdin_ends(flag: &StopFlag) -> anyhow::Result<()> {
    let raised = flag.clone();
    let watching = move || {
        while let Ok(1..) = std::io::stdin().read(&mut [0]) {
            raised.raise();
        }
        raised.raise();
        // Nobody ever sends: the timeout is the wait.
        let (_keep, never) = std::sync::mpsc::channel::<()>();
        let _ = never.recv_timeout(CLEAN_END);
        raised.raise();
    };
    thread::Builder::new()
        .name("lifeline".to_owned())
        .spawn(watching)
        .context("cannot watch standard input")?;
    Ok(())
}

fn listen() -> anyhow::Result<StopFlag> {
    // Ignored by a handler that does nothing, not by the system: programs that are started do not inherit that.
    for number in IGNORED {
        signal_hook::flag::register(number, Arc::new(AtomicBool::new(false)))?;
    }
    let without_terminal = is_ignored(signal::SIGHUP);
    let by_number = ENDING_BY_NUMBER.into_iter().flatten();
    let ending = ENDING.into_iter().chain(by_number);
    // A byte for each signal: two of one kind are two, however late this thread looks.
    let (mut came, to) = UnixStream::pair()?;
    let to = to.into_raw_fd();
    for number in ending.filter(|number| !(without_terminal && *number == signal::SIGHUP)) {
        signal_hook::low_level::pipe::register_raw(number, to)?;
    }
    let flag = StopFlag::new();
    let raised = flag.clone();
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut count = 0;
        while came.read_exact(&mut [0]).is_ok() {
            raised.raise();
            count += 1;
            if count >= DEAF {
                std::process::exit(i32::from(Exit::Stopped.code()));
            }
        }
    })?;
    Ok(flag)
}

/// Whether whoever started this process has it ignore a signal, as nohup does (proc(5), `SigIgn`).
fn is_ignored(number: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}
