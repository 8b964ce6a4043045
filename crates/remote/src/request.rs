//! What is asked of the other machine, and how it ended.

use serde::{Deserialize, Serialize};

/// Commands that end when their standard input does.
pub(crate) const UNTIL_STDIN_ENDS: [&str; 2] = ["run", "watch"];

/// A command, as it was typed but for what concerns this machine alone.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct RemoteRequest {
    /// The command and its arguments.
    pub args: Vec<String>,
    /// Of what records: how its folder shall be called there.
    pub folder: Option<String>,
    /// Of a run: the plan, where it is a file here.
    pub plan: Option<PlanText>,
    /// What becomes of a run when the connection breaks.
    pub link_lost: LinkLost,
    /// Of a fetch: what is here already.
    pub have: Vec<FileSum>,
}

/// A plan file.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct PlanText {
    /// Its name, by whose ending its form is told.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// What becomes of a run when the connection breaks.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum LinkLost {
    /// It ends, and settings are put back.
    #[default]
    Stop,
    /// It goes on to its end.
    Finish,
}

/// How it ended there.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct RemoteEnd {
    /// The command's exit code; `None` where a signal ended it.
    pub code: Option<i32>,
}

/// What a file is.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct FileSum {
    /// Name within its folder.
    pub name: String,
    /// Length.
    pub bytes: u64,
    /// CRC32C of all of it.
    pub crc32c: u32,
}

/// Names of files and folders that may be made of what the other side says: plain ones, at most one folder deep, and none
/// that is hidden or long.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part.len() <= 128
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte))
    };
    name.split('/').count() <= 3 && name.split('/').all(is_plain)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn only_plain_names_become_files() {
        for name in ["io.arrow", "1-default/io.parquet", "2026-11-22T10-00-00Z-quick-ssd1", "a/b/c"] {
            assert!(is_plain_name(name), "{name}");
        }
        for name in
            ["", "..", "/etc/passwd", "a/../b", ".ssh", "a//b", "a/", "a/b/c/d", "a\0b", "a b", "ü", "a/.b"]
        {
            assert!(!is_plain_name(name), "{name:?}");
        }
    }
}
