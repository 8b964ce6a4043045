//! Ctrl-C, SIGTERM and SIGHUP end a run: the first cleanly, the second at once, the third as ever.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use capture::session::StopFlag;

use crate::Exit;

/// From this signal on the process ends by itself: whoever should have heeded the first two does not.
const DEAF: usize = 3;

/// A flag that signals raise from now on, instead of ending the process. Once a process.
///
/// # Errors
/// When the system has no thread left to listen with.
pub(crate) fn stop_flag() -> anyhow::Result<StopFlag> {
    let flag = StopFlag::new();
    let raised = flag.clone();
    let count = AtomicUsize::new(0);
    ctrlc::set_handler(move || {
        raised.raise();
        if count.fetch_add(1, Ordering::Relaxed) + 1 >= DEAF {
            std::process::exit(i32::from(Exit::Stopped.code()));
        }
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(flag)
}
