//! The check of TRIM: patterns are written, unmapped in every awkward size and place, and all that was not unmapped is
//! read back.
//!
//! # Steps
//! 1. Write, flush and read all windows: whether the drive keeps what it is given at all.
//! 2. Each case of `cases`: unmap, then read every window.
//! 3. All cases once more in places of their own, flush, and read twice.
//! 4. Power off and on, outside of this program; [`Proof::resume`] reads again, because a drive's memory hides what comes
//!    late.
//! 5. Rewrite everything and read.
//! 6. Once through the kernel, and read.
//!
//! The first block that is not what it was ends the check: what a drive may lose further is not worth knowing.
//!
//! # What it does not do
//! It opens nothing and asks nobody: the unit it is given is one whose data was given away. What unmapped blocks read as
//! is told and not judged: with LBPRZ=0 old data, zeroes and anything else are all allowed (SBC-4, 4.7.3).

mod cases;
mod unit;
mod verify;

pub use cases::{ProofLayout, UnmapCase};
pub use unit::{ProofUnit, UnitError};
pub use verify::{ForeignBlock, Lost, UnmappedReads};

use std::time::Duration;

use measure::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BlockMap, BlockRange, BlockState};
use crate::scsi::UnmapDescriptor;
use verify::verify;

/// A command that takes longer hangs: the kernel's own limit, after which it resets the device (Linux `sd.h`,
/// `SD_TIMEOUT`).
pub const HANG: Duration = Duration::from_secs(30);

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrimVerdict {
    /// Nothing else was touched, and unmapped blocks read otherwise than before.
    SafeActs,
    /// Nothing else was touched, and unmapped blocks read as before.
    SafeNoEffect,
    /// Every UNMAP was refused.
    Refused,
    /// Blocks that were not unmapped are lost.
    EatsNeighbours,
    /// A command did not come back in time.
    Hangs,
    /// Written blocks read differently from one time to the next.
    Unstable,
    /// Written blocks are lost before anything was unmapped.
    LosesData,
}

impl TrimVerdict {
    /// Whether TRIM did no harm.
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::SafeActs | Self::SafeNoEffect)
    }
}

/// What came of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseOutcome {
    /// Which.
    pub name: String,
    /// What was unmapped.
    pub ranges: Vec<BlockRange>,
    /// Whether the command keeps to the limits of page B0h, so that a refusal counts.
    pub within_limits: bool,
    /// Why it was refused; `null` where it was taken.
    pub refused: Option<String>,
    /// Longest time that a command took, in milliseconds.
    pub took_ms: u64,
}

/// What a check has found so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProofResult {
    /// Every case that was tried.
    pub cases: Vec<CaseOutcome>,
    /// The first blocks that are not what they were, and when that was seen.
    pub lost: Option<Lost>,
    /// A command that did not come back in time.
    pub hung: Option<String>,
    /// What unmapped blocks read as, over all readings.
    pub unmapped: UnmappedReads,
    /// Whether a discard through the kernel was tried.
    pub by_kernel: bool,
    /// What was done otherwise than usual, and why.
    pub notes: Vec<String>,
}

impl ProofResult {
    /// What to call it.
    pub fn verdict(&self) -> TrimVerdict {
        match &self.lost {
            Some(Lost { unstable: true, .. }) => return TrimVerdict::Unstable,
            Some(Lost { before_unmap: true, .. }) => return TrimVerdict::LosesData,
            Some(_) => return TrimVerdict::EatsNeighbours,
            None => {}
        }
        if self.hung.is_some() {
            return TrimVerdict::Hangs;
        }
        let counted = || self.cases.iter().filter(|case| case.within_limits);
        if counted().next().is_some() && counted().all(|case| case.refused.is_some()) {
            return TrimVerdict::Refused;
        }
        if self.unmapped.zeroes + self.unmapped.other > 0 {
            TrimVerdict::SafeActs
        } else {
            TrimVerdict::SafeNoEffect
        }
    }

    /// Whether there is no point in going on.
    pub const fn is_over(&self) -> bool {
        self.lost.is_some() || self.hung.is_some()
    }
}

/// Told while a check goes on.
pub type ProofProgress<'p> = dyn FnMut(&str) + 'p;

/// A check under way.
pub struct Proof<'u, 'p> {
    unit: ProofUnit<'u>,
    layout: ProofLayout,
    seed: Seed,
    generation: u32,
    map: BlockMap,
    result: ProofResult,
    progress: &'p mut ProofProgress<'p>,
}

/// What has to be kept over a power cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofState {
    /// The run's seed.
    pub seed: Seed,
    /// The last generation that was written.
    pub generation: u32,
    /// What every block has to be.
    pub map: BlockMap,
    /// What was found so far.
    pub result: ProofResult,
}

impl<'u, 'p> Proof<'u, 'p> {
    /// A check of `unit`, in the windows of `layout`.
    pub fn new(
        unit: ProofUnit<'u>,
        layout: ProofLayout,
        seed: Seed,
        progress: &'p mut ProofProgress<'p>,
    ) -> Self {
        let (map, result) = (BlockMap::default(), ProofResult::default());
        Self { unit, layout, seed, generation: 0, map, result, progress }
    }

    /// The same after a power cycle.
    pub fn resume(
        unit: ProofUnit<'u>,
        layout: ProofLayout,
        state: ProofState,
        progress: &'p mut ProofProgress<'p>,
    ) -> Self {
        let ProofState { seed, generation, map, result } = state;
        Self { unit, layout, seed, generation, map, result, progress }
    }

    /// What was found.
    pub const fn result(&self) -> &ProofResult {
        &self.result
    }

    /// What has to be kept over a power cycle.
    pub fn into_state(self) -> ProofState {
        ProofState { seed: self.seed, generation: self.generation, map: self.map, result: self.result }
    }

    /// Steps 1 to 3.
    ///
    /// # Errors
    /// When the drive does not take writes and reads any more, for reasons of its own.
    pub fn before_power_cycle(&mut self) -> Result<(), UnitError> {
        (self.progress)("writing and reading the test windows");
        self.write_missing()?;
        self.read_all("after writing, before any UNMAP")?;
        for case in self.layout.cases(self.unit.unmap_limits()) {
            if self.result.is_over() {
                return Ok(());
            }
            (self.progress)(&case.name);
            self.write_missing()?;
            self.try_case(&case)?;
            self.read_all(&case.name)?;
        }
        if self.result.is_over() {
            return Ok(());
        }
        (self.progress)("32 commands in flight, with writes beside them");
        self.write_missing()?;
        self.in_flight()?;
        self.read_all("32 commands in flight")?;
        if self.result.is_over() {
            return Ok(());
        }
        (self.progress)("all sizes side by side, flushed and read twice");
        self.write_missing()?;
        for case in self.layout.side_by_side(self.unit.unmap_limits()) {
            self.try_case(&case)?;
            if self.result.is_over() {
                break;
            }
        }
        self.unit.flush()?;
        self.read_all("after a flush")?;
        self.read_all("read once more")
    }

    /// Steps 4 and 5.
    ///
    /// # Errors
    /// As before.
    pub fn after_power_cycle(&mut self) -> Result<(), UnitError> {
        (self.progress)("reading the test windows after the power cycle");
        self.read_all("after a power cycle")?;
        if self.result.is_over() {
            return Ok(());
        }
        (self.progress)("writing and reading all of them again");
        self.write_all()?;
        self.read_all("after rewriting everything")
    }

    /// Step 6: a discard that the kernel makes into commands. Its knobs are the caller's business.
    ///
    /// # Errors
    /// As before. That the kernel refuses is a note.
    pub fn by_kernel(&mut self) -> Result<(), UnitError> {
        if self.result.is_over() {
            return Ok(());
        }
        (self.progress)("once through the kernel");
        let Some(range) = self.layout.for_kernel() else { return Ok(()) };
        match self.unit.discard(range) {
            None => return Ok(()),
            Some(Err(error)) => {
                self.result.notes.push(format!("the kernel did not discard: {error}"));
                return Ok(());
            }
            Some(Ok(())) => self.map.unmap(range),
        }
        self.result.by_kernel = true;
        self.unit.flush()?;
        self.read_all("after a discard by the kernel")
    }

    /// Unmaps what a case says.
    fn try_case(&mut self, case: &UnmapCase) -> Result<(), UnitError> {
        let mut outcome = CaseOutcome {
            name: case.name.clone(),
            ranges: case.ranges.clone(),
            within_limits: case.within_limits,
            refused: None,
            took_ms: 0,
        };
        let descriptors: Vec<UnmapDescriptor> = case.descriptors();
        let answer = self.unit.unmap(&descriptors);
        // A refused or lost command may have done a part of its work.
        for range in &case.ranges {
            self.map.unmap(*range);
        }
        match answer {
            Ok(took) => {
                outcome.took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                if took > HANG {
                    self.result.hung = Some(format!("{}: the command took {} s", case.name, took.as_secs()));
                }
            }
            Err(UnitError::Refused(why)) => outcome.refused = Some(why),
            Err(UnitError::TimedOut(why)) => self.result.hung = Some(format!("{}: {why}", case.name)),
            Err(UnitError::Stopped) => return Err(UnitError::Stopped),
            Err(UnitError::Failed(why)) => {
                return Err(UnitError::Failed(format!("case \"{}\": {why}", case.name)));
            }
        }
        self.result.cases.push(outcome);
        Ok(())
    }

    /// Unmaps and writes in turns, next to one another, many at once.
    fn in_flight(&mut self) -> Result<(), UnitError> {
        let Some((unmaps, writes)) = self.layout.in_flight(self.unit.unmap_limits()) else { return Ok(()) };
        self.generation += 1;
        let answers = self.unit.in_flight(&unmaps, &writes, self.seed.as_u64(), self.generation);
        for range in &unmaps {
            self.map.unmap(*range);
        }
        for range in &writes {
            self.map.set(*range, BlockState::Written(self.generation));
        }
        for answer in answers {
            match answer {
                Ok(took) if took > HANG => {
                    self.result.hung = Some(format!("with 32 in flight a command took {} s", took.as_secs()));
                }
                Err(UnitError::TimedOut(why)) => {
                    self.result.hung = Some(format!("with 32 in flight: {why}"));
                }
                Err(error @ (UnitError::Failed(_) | UnitError::Stopped)) => return Err(error),
                Ok(_) | Err(UnitError::Refused(_)) => {}
            }
        }
        Ok(())
    }

    /// Writes whatever does not hold a pattern, as the next generation.
    fn write_missing(&mut self) -> Result<(), UnitError> {
        self.generation += 1;
        for window in self.layout.windows().to_vec() {
            let mut at = window.first;
            let written: Vec<BlockRange> = self.map.within(window).into_iter().filter_map(written).collect();
            let end = BlockRange { first: window.end(), blocks: 0 };
            for run in written.into_iter().chain([end]) {
                self.write(BlockRange { first: at, blocks: run.first - at })?;
                at = run.end();
            }
        }
        self.unit.flush()
    }

    /// Writes every window.
    fn write_all(&mut self) -> Result<(), UnitError> {
        self.generation += 1;
        for window in self.layout.windows().to_vec() {
            self.write(window)?;
        }
        self.unit.flush()
    }

    fn write(&mut self, range: BlockRange) -> Result<(), UnitError> {
        if range.blocks == 0 {
            return Ok(());
        }
        self.unit.write_pattern(range, self.seed.as_u64(), self.generation)?;
        self.map.set(range, BlockState::Written(self.generation));
        Ok(())
    }

    /// Reads every window, and notes the first blocks that are not what they were.
    fn read_all(&mut self, when: &str) -> Result<(), UnitError> {
        let before_unmap = self.result.cases.is_empty();
        let read = verify(&mut self.unit, &self.map, self.seed.as_u64());
        match read {
            Ok(seen) => {
                self.result.unmapped.add(&seen.unmapped);
                if let Some(lost) = seen.lost {
                    let sectors = self.unit.sectors_a_block();
                    self.result.lost.get_or_insert(lost.at(when, before_unmap, sectors));
                }
                Ok(())
            }
            Err(UnitError::TimedOut(why)) => {
                self.result.hung.get_or_insert(format!("reading back {when}: {why}"));
                Ok(())
            }
            Err(other) => Err(other),
        }
    }
}

fn written((range, state): (BlockRange, BlockState)) -> Option<BlockRange> {
    matches!(state, BlockState::Written(_)).then_some(range)
}

#[cfg(test)]
mod test;
