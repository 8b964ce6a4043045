//! What an importer hands on: a piece of a run on a clock of its own, before pieces are joined.

use trace::Trace;

/// A piece of a run from one or several files.
#[derive(Debug)]
pub(super) struct RunPart {
    /// Files that it was made of, as the caller named them.
    pub(super) files: Vec<String>,
    /// What its speeds come from.
    pub(super) source: CountedBy,
    /// What its times count from.
    pub(super) clock: TimeBase,
    /// The data, in seconds after [`TimeBase::zero_s`].
    pub(super) trace: Trace,
}

/// Where speeds come from, best first: what the load saw itself, what the operating system counted, what the drive
/// counted. Where several are there, the best is used, since they are the same data twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CountedBy {
    Load,
    System,
    Drive,
}

/// What times count from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TimeBase {
    /// 1970-01-01 UTC; the part's zero is that many seconds later.
    Unix { zero_s: f64 },
    /// As before, but in the time of a place that is not told: exact among themselves only.
    Local { zero_s: f64 },
    /// The part's own beginning.
    Own,
}

impl TimeBase {
    /// The part's zero on its clock.
    pub(super) fn zero_s(self) -> f64 {
        match self {
            Self::Unix { zero_s } | Self::Local { zero_s } => zero_s,
            Self::Own => 0.0,
        }
    }

    /// Whether times of both can be compared as they are.
    pub(super) fn is_same_kind(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Unix { .. }, Self::Unix { .. }) | (Self::Local { .. }, Self::Local { .. })
        )
    }
}
