//! A command in a control group of its own.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

use anyhow::{Context as _, bail};
use capture::session::Stop;
use rustix::process::{Pid, Signal, kill_process};

use super::groups::processes;

/// Moves itself into the group and becomes the command: so nothing of it ever ran outside.
const INTO_GROUP: &str = r#"echo $$ > "$1" && shift && exec "$@""#;

/// What a shell exits with when there is no such command, or it cannot be run (POSIX, Exit Status for Commands).
const NOT_FOUND: i32 = 127;
const NOT_RUN: i32 = 126;

/// A command under way, or what became of it.
pub(super) struct GovernedCommand {
    child: Child,
    ended: Option<ExitStatus>,
    told: Stop,
}

impl GovernedCommand {
    /// Starts it in `group`.
    pub(super) fn start(words: &[OsString], group: &Path) -> anyhow::Result<Self> {
        let name = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        let child = Command::new("/bin/sh")
            .args(["-c", INTO_GROUP, "heatsoak"])
            .arg(processes(group))
            .args(words)
            .spawn()
            .with_context(|| format!("cannot start {name} by /bin/sh"))?;
        Ok(Self { child, ended: None, told: Stop::No })
    }

    /// Whether it has ended.
    ///
    /// # Errors
    /// When it could never be run.
    pub(super) fn has_ended(&mut self) -> anyhow::Result<bool> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().context("cannot wait for the command")?;
        }
        if let Some(code @ (NOT_FOUND | NOT_RUN)) = self.exit_code() {
            bail!("the command was not run (exit code {code}): check its name, and that it may be executed");
        }
        Ok(self.ended.is_some())
    }

    /// Passes on what the user asks: the first time an end, the second an end at once.
    pub(super) fn heed(&mut self, asks: Stop, is_over: bool) {
        let wanted = if asks == Stop::No && is_over { Stop::Cleanly } else { asks };
        let signal = match wanted {
            Stop::Cleanly if self.told == Stop::No => Signal::TERM,
            Stop::AtOnce if self.told != Stop::AtOnce => Signal::KILL,
            _ => return,
        };
        self.told = wanted;
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(0));
        // One that has just ended is not there to be told.
        let _ = pid.map(|pid| kill_process(pid, signal));
    }

    /// Its exit code; `None` while it runs, and where a signal ended it.
    pub(super) fn exit_code(&self) -> Option<i32> {
        self.ended.and_then(|status| status.code())
    }
}
