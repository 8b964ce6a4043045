//! The governed control groups: what flows through each, and one limit divided among them.

use std::path::{Path, PathBuf};

use drive::cgroup::{CgroupError, CgroupTree, HeldLimits, IoMax};
use govern::share::{Claimant, divide};
use measure::BytesPerSec;

/// A limit is written anew where it differs from the one in force by more than this: each costs the kernel a lock.
const SAME_LIMIT: f64 = 0.01;

/// The groups.
pub(super) struct GovernedGroups {
    tree: CgroupTree,
    held: HeldLimits,
    number: String,
    at_least: f64,
    groups: Vec<GovernedGroup>,
    /// Whether all groups at the top are governed, those too that come later.
    takes_all: bool,
    is_put_back: bool,
}

/// One of them.
struct GovernedGroup {
    path: PathBuf,
    /// As found.
    found: IoMax,
    /// In force.
    set: IoMax,
    /// Bytes so far, and bytes a second lately.
    moved: (u64, u64),
    flowed: (f64, f64),
    is_gone: bool,
}

impl GovernedGroups {
    pub(super) const fn new(
        tree: CgroupTree,
        held: HeldLimits,
        number: String,
        at_least: BytesPerSec,
    ) -> Self {
        let at_least = at_least.as_f64();
        Self { tree, held, number, at_least, groups: Vec::new(), takes_all: false, is_put_back: false }
    }

    /// Takes these groups, or all at the top where none is named.
    pub(super) fn take(&mut self, typed: &[PathBuf]) -> Result<(), CgroupError> {
        self.takes_all = typed.is_empty();
        let groups = match self.takes_all {
            true => self.tree.top()?,
            false => typed.iter().map(|typed| self.tree.group(typed)).collect::<Result<_, _>>()?,
        };
        self.held.add(&groups, false)?;
        self.follow();
        Ok(())
    }

    /// Makes a group of its own for a command.
    pub(super) fn make(&mut self) -> Result<PathBuf, CgroupError> {
        let group = self.held.make(&format!("heatsoak-govern-{}", std::process::id()))?;
        self.follow();
        Ok(group)
    }

    /// Takes groups that have come, where all are governed.
    pub(super) fn look_for_new(&mut self) -> Result<(), CgroupError> {
        if self.takes_all {
            // Without any at the top there is nothing new.
            let top = self.tree.top().unwrap_or_default();
            self.held.add(&top, false)?;
            self.follow();
        }
        Ok(())
    }

    /// Follows what is in the journal.
    fn follow(&mut self) {
        for (path, found) in self.held.groups().zip(self.held.found()).skip(self.groups.len()) {
            let moved = self.tree.moved(path, &self.number);
            self.groups.push(GovernedGroup {
                path: path.to_owned(),
                found,
                set: found,
                moved,
                flowed: (0.0, 0.0),
                is_gone: false,
            });
        }
    }

    /// What they are called.
    pub(super) fn names(&self) -> Vec<String> {
        self.groups.iter().map(|group| self.tree.name(&group.path).into_owned()).collect()
    }

    /// Whether none is left of those that were named.
    pub(super) fn are_gone(&self) -> bool {
        !self.takes_all && self.groups.iter().all(|group| group.is_gone)
    }

    /// What all of them have read and written over the last `span_s` seconds, in bytes a second.
    pub(super) fn flowed(&mut self, span_s: f64) -> (f64, f64) {
        for group in &mut self.groups {
            let now = self.tree.moved(&group.path, &self.number);
            let rate = |now: u64, before: u64| {
                if span_s > 0.0 { now.saturating_sub(before) as f64 / span_s } else { 0.0 }
            };
            group.flowed = (rate(now.0, group.moved.0), rate(now.1, group.moved.1));
            group.moved = now;
        }
        let sum = |of: fn(&GovernedGroup) -> f64| self.groups.iter().map(of).sum::<f64>();
        (sum(|group| group.flowed.0), sum(|group| group.flowed.1))
    }

    /// Divides `limit` among all reads and writes; without one each has what it was found with.
    pub(super) fn limit(&mut self, limit: Option<BytesPerSec>) -> Result<(), CgroupError> {
        let bound = |limit: Option<u64>| limit.map_or(f64::INFINITY, |limit| limit as f64);
        let claimants: Vec<Claimant> = self
            .groups
            .iter()
            .flat_map(|group| {
                let reads = Claimant {
                    flowed: group.flowed.0,
                    allowed: bound(group.set.rbps),
                    most: bound(group.found.rbps),
                };
                let writes = Claimant {
                    flowed: group.flowed.1,
                    allowed: bound(group.set.wbps),
                    most: bound(group.found.wbps),
                };
                [reads, writes]
            })
            .collect();
        let parts = divide(limit.map(BytesPerSec::as_f64), &claimants, self.at_least);
        for (group, part) in self.groups.iter_mut().zip(parts.chunks_exact(2)) {
            let bytes = |part: f64, found: Option<u64>| {
                let part = if part.is_finite() { Some(part as u64) } else { None };
                // A limit from before that is below the floor stays as it is.
                part.zip(found).map_or(part.or(found), |(part, found)| Some(part.min(found)))
            };
            let wanted =
                IoMax { rbps: bytes(part[0], group.found.rbps), wbps: bytes(part[1], group.found.wbps) };
            group.set_to(wanted, &self.held)?;
        }
        Ok(())
    }

    /// Puts back what was found; what was not, and what to do.
    pub(super) fn put_back(&mut self) -> Vec<String> {
        let problems = self.held.put_back();
        self.is_put_back = problems.is_empty();
        problems
    }

    /// Whether everything is as it was found.
    pub(super) const fn are_put_back(&self) -> bool {
        self.is_put_back
    }
}

impl GovernedGroup {
    fn set_to(&mut self, wanted: IoMax, held: &HeldLimits) -> Result<(), CgroupError> {
        if self.is_gone || (same(self.set.rbps, wanted.rbps) && same(self.set.wbps, wanted.wbps)) {
            return Ok(());
        }
        match held.set(&self.path, wanted) {
            Err(error) if error.is_gone() => self.is_gone = true,
            set => set?,
        }
        self.set = wanted;
        Ok(())
    }
}

fn same(a: Option<u64>, b: Option<u64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.abs_diff(b) as f64 <= SAME_LIMIT * a as f64,
        (a, b) => a == b,
    }
}

/// Where a group lists its processes.
pub(super) fn processes(group: &Path) -> PathBuf {
    group.join("cgroup.procs")
}
