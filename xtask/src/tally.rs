//! Running `cargo test`: its output handed on untouched, its closing lines added up.
//!
//! Each test program closes with its own line and cargo adds none for all of them, so the last one
//! may well tell of no test at all. Judging the tests is cargo's; this counts, and minds those that
//! are switched off: a test that does not run keeps nothing.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::ops::AddAssign;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};

use crate::cargo;

/// Runs `cargo ARGUMENTS..`, hands on what it prints, byte for byte, and counts.
pub(crate) fn cargo_test(root: &Path, arguments: &[&str]) -> Result<Count> {
    cargo_test_in(root, arguments, &[])
}

/// The same with settings of its environment.
pub(crate) fn cargo_test_in(
    root: &Path,
    arguments: &[&str],
    environment: &[(&str, &OsStr)],
) -> Result<Count> {
    let line = cargo::spelled(arguments, &[]);
    let mut child = cargo::command(root, arguments)
        .envs(environment.iter().copied())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting `{line}`: is cargo installed?"))?;
    let output = child.stdout.take().context("the output of cargo was just asked for")?;
    let count = hand_on(BufReader::new(output), io::stdout().lock());
    let status = child.wait().with_context(|| format!("waiting for `{line}`"))?;
    let count = count.context("handing on what the tests print")?;
    ensure!(status.success(), "`{line}` failed ({status}): {count}");
    none_ignored(count)
}

/// Tests and doc examples under `ignore` are an error: no tier needs them.
fn none_ignored(count: Count) -> Result<Count> {
    ensure!(
        count.skipped == 0,
        "{count}: what is switched off by `ignore` keeps nothing; give it to the tier that can run it, \
         mark an example that is no Rust as `text`, or delete it"
    );
    Ok(count)
}

/// How tests ended, over all test programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// Tests that held.
    pub(crate) passed: u64,
    failed: u64,
    skipped: u64,
}

impl Count {
    /// What a test program's closing line says; `None` for any other line.
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.strip_prefix("test result: ")?.split_once(". ")?;
        let number = |name: &str| {
            let part = rest.split("; ").find_map(|part| part.strip_suffix(name))?;
            part.trim().parse().ok()
        };
        Some(Self { passed: number("passed")?, failed: number("failed")?, skipped: number("ignored")? })
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, skipped } = self;
        write!(f, "{passed} passed, {failed} failed")?;
        if *skipped > 0 { write!(f, ", {skipped} skipped") } else { Ok(()) }
    }
}

/// Copies `from` to `to` line by line and counts what the closing lines say.
fn hand_on(mut from: impl BufRead, mut to: impl Write) -> io::Result<Count> {
    let mut count = Count::default();
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        if let Some(one) = Count::parse(&String::from_utf8_lossy(&line)) {
            count += one;
        }
        line.clear();
    }
    Ok(count)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn closing_lines_are_handed_on_untouched_and_added_up() {
        let printed = b"running 3 tests\ntest a ... ok \xff\n\n\
            test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.1s\n\
            test result: ok. 60 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.1s\nno end";
        let mut handed_on = Vec::new();
        let count = hand_on(&printed[..], &mut handed_on).expect("memory can be read and written");
        assert_eq!(handed_on, printed);
        assert_eq!(count.to_string(), "62 passed, 1 failed, 2 skipped");
        assert!(none_ignored(count).is_err(), "2 are switched off");
        let count = Count { skipped: 0, ..count };
        assert_eq!(none_ignored(count).expect("none is").to_string(), "62 passed, 1 failed");
    }
}
