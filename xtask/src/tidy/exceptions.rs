//! What tidy's rules permit by exception: one table a rule, a reason for every row.
//!
//! An exception is a path prefix, so that it covers a file or a folder and nothing beside it.
//! A new row is a decision for review, not a way to get green.

/// A path prefix from the root of the tree, and why the rule does not hold there.
pub(super) type Exception = (&'static str, &'static str);

/// Where `unsafe` may stand.
pub(super) const UNSAFE: &[Exception] = &[
    ("crates/drive/src/io/ring", "io_uring submission: the kernel reads our buffers"),
    ("crates/drive/src/scsi/sg_io.rs", "SCSI commands that ask: ioctl with pointers to our buffers"),
    ("crates/nvme/src/host/linux.rs", "admin commands: ioctl with pointers to our buffers"),
];

/// Where code outside tests may sleep. Elsewhere waiting goes through the session's clock or a
/// blocking call with a timeout, for both of which virtual time can stand in.
pub(super) const SLEEP: &[Exception] = &[
    ("crates/drive/src/io/null.rs", "the null device has no completion to wait for, only the next due time"),
    (
        "crates/drive/src/settings/journal/disk.rs",
        "a lock that another process has for a moment: flock(2) knows no timeout",
    ),
];

/// Where a clock may be read.
pub(super) const CLOCK: &[Exception] = &[
    ("crates/measure/src/time.rs", "the one place that tells time"),
    ("xtask/", "times its own steps; no measurement depends on it"),
];

/// Files longer than the limit.
pub(super) const LENGTH: &[Exception] = &[];

/// Code of others that lies in the tree as it came. Each folder holds its licence.
pub(super) const VENDORED: &[Exception] =
    &[("crates/report/assets/uplot/", "charts of the HTML report, which must work without a network")];

/// Beginnings of links that may stand in strings: not a path but the text itself.
pub(super) const LINKS: &[Exception] =
    &[("http://www.w3.org/", "names of XML namespaces, which nothing fetches")];

/// Whether `path` lies under one of the exceptions.
pub(super) fn permits(exceptions: &[Exception], path: &str) -> bool {
    exceptions.iter().any(|(prefix, _)| path.starts_with(prefix))
}
