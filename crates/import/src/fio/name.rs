//! What the names say that fio gives its logs: `dir/PREFIX_bw.3.log` is the bandwidth of job 3 of `dir/PREFIX`.

/// The parts of a log's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogName<'a> {
    /// The name before what it logs, with its folders.
    pub(super) prefix: &'a str,
    /// What it logs: `bw`, `iops`, `clat`; the whole name where nothing stands before that.
    pub(crate) values: &'a str,
    /// fio counts its jobs from 1; without a number the log is of all jobs.
    pub(super) job: Option<usize>,
}

impl<'a> LogName<'a> {
    /// The parts of `file`; any name has at least a prefix.
    pub(crate) fn parse(file: &'a str) -> Self {
        let stem = file.strip_suffix(".log").unwrap_or(file);
        let (stem, job) = match stem.rsplit_once('.') {
            Some((before, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                (before, number.parse().ok())
            }
            _ => (stem, None),
        };
        let (prefix, values) = stem.rsplit_once('_').unwrap_or((stem, stem));
        Self { prefix, values: base(values), job }
    }
}

/// The name without its folders: logs are moved between machines, their names are not changed.
pub(super) fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
