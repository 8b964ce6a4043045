//! What tidy's rules permit by exception: one table a rule, a reason for every row.
//!
//! An exception is a path prefix, so that it covers a file or a folder and nothing beside it.
//! A new row is a decision for review, not a way to get green.

/// A path prefix from the root of the tree, and why the rule does not hold there.
pub(super) type Exception = (&'static str, &'static str);

/// Lints that keep a promise, and where each may be lifted.
pub(super) const LIFTED: &[(&str, &[Exception])] = &[
    (
        "unsafe_code",
        &[
            ("crates/drive/src/io/ring", "io_uring submission: the kernel reads our buffers"),
            ("crates/drive/src/scsi/sg_io.rs", "SCSI commands that ask: ioctl with pointers to our buffers"),
            (
                "crates/drive/src/telemetry/punctual.rs",
                "scheduling of a thread: a call without a safe wrapper",
            ),
            ("crates/nvme/src/host/linux.rs", "admin commands: ioctl with pointers to our buffers"),
        ],
    ),
    // Sleeping and reading a clock. Elsewhere waiting goes through the session's clock or a blocking
    // call with a timeout, for both of which virtual time can stand in.
    (
        "disallowed_methods",
        &[
            ("crates/measure/src/time.rs", "the one place that tells time"),
            (
                "crates/drive/src/io/null.rs",
                "the null device has no completion to wait for, only the next due time",
            ),
            (
                "crates/drive/src/settings/journal/disk.rs",
                "a lock that another process has for a moment: flock(2) knows no timeout",
            ),
            ("xtask/src/check.rs", "times its own steps; no measurement depends on it"),
            ("xtask/src/package/mod.rs", "times its own steps; no measurement depends on it"),
        ],
    ),
    // Groups with the lints above in them.
    ("clippy::all", &[]),
    ("clippy::style", &[]),
];

/// Code of others that lies in the tree as it came. Each folder holds its licence.
pub(super) const VENDORED: &[Exception] =
    &[("crates/report/assets/uplot/", "charts of the HTML report, which must work without a network")];

/// Beginnings of links that may stand in strings: not a path but the text itself.
pub(super) const LINKS: &[Exception] = &[
    ("http://www.w3.org/", "names of XML namespaces, which nothing fetches"),
    (
        "https://www.debian.org/doc/packaging-manuals/copyright-format/",
        "the name of a format, which nothing fetches",
    ),
];

/// Whether `path` lies under one of the exceptions.
pub(super) fn permits(exceptions: &[Exception], path: &str) -> bool {
    exceptions.iter().any(|(prefix, _)| path.starts_with(prefix))
}
