//! Runs the binary in a scratch folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A scratch folder in which the binary runs.
pub(crate) struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a scratch folder") }
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A command that is about to run in it, with nothing of this environment that changes its output.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heatsoak"));
        command.args(args).current_dir(self.dir.path()).env("COLUMNS", "100");
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the binary.
    pub(crate) fn run(&self, args: &[&str]) -> Done {
        Done::from(self.command(args).output().expect("the binary runs"))
    }
}

/// What the binary said and how it ended.
#[derive(Debug)]
pub(crate) struct Done {
    /// Exit code; `None` after a signal.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the output is text");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// All files below a folder, as paths from it, in order.
pub(crate) fn files(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let below = path.strip_prefix(dir).expect("it lies below");
                found.push(below.to_str().expect("a plain name").to_owned());
            }
        }
    }
    found.sort();
    found
}
