//! Runs the binary in a scratch folder of its own.

pub(crate) mod schema;

use std::path::PathBuf;
use std::process::{Command, Output};

/// A scratch folder in which the binary runs.
pub(crate) struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    /// An empty one, beside what is built: on a real file system, which `/tmp` need not be.
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch folder") }
    }

    /// A path in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A command that is about to run in it, with nothing of this environment that changes its output, and with journals
    /// of settings in its folder `state`.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heatsoak"));
        command.args(args).current_dir(self.dir.path()).env("COLUMNS", "100");
        command.env("HEATSOAK_STATE_DIR", self.path("state"));
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the binary. A JSON document that it prints must be as its schema has it.
    pub(crate) fn run(&self, args: &[&str]) -> Done {
        let done = Done::from(self.command(args).output().expect("the binary runs"));
        if args.contains(&"--json") {
            let folder = schema::must_fit_command(args, &done.stdout);
            folder.into_iter().for_each(|folder| schema::must_fit_folder(&self.path(&folder)));
        }
        done
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
