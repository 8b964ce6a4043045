//! fio job files as plans.
//!
//! # Architecture
//! - `lines`: the file as sections of options, each with its line.
//! - `value`: fio's spelling of sizes, times and shares.
//! - `options`: what one option means, and which ones say nothing about the load.
//! - `job`: a section with everything it inherits, as a load; jobs between stonewalls as a phase.
//!
//! # What it does not do
//! It never guesses: an option that is not understood is an error with its line, because a load that differs from
//! what fio would do is worse than none. Options that do not change the load are passed over with a note each.
//! It takes the syntax that fio takes, without what fio takes by mistake (`size=1.5g` is one byte there).
//!
//! # Where the facts come from
//! fio's HOWTO and its behaviour in version 3.33, which also referees the fixtures.

mod job;
mod lines;
mod options;
#[cfg(test)]
mod test;
mod value;

use std::collections::BTreeMap;
use std::path::Path;

use super::{Plan, PlanError};
use options::JobOptions;

/// The file being read, and what was passed over in it.
struct JobReader<'a> {
    file: &'a str,
    /// One note a line at most: an option in `[global]` is met again by every job.
    notes: BTreeMap<usize, String>,
}

impl JobReader<'_> {
    /// An error about a line.
    fn error(&self, line: usize, why: impl Into<String>) -> PlanError {
        PlanError::Line { file: self.file.to_owned(), line, column: None, why: why.into() }
    }

    /// Tells the reader of the record what was done another way.
    fn note(&mut self, line: usize, note: impl AsRef<str>) {
        self.notes.entry(line).or_insert_with(|| format!("{}, line {line}: {}", self.file, note.as_ref()));
    }
}

impl Plan {
    /// Reads a plan from a fio job file; `file` is for errors and notes, its stem is the plan's name.
    ///
    /// # Errors
    /// [`PlanError::Line`] at the first thing that is not understood, and what to do about it.
    pub fn from_fio(text: &str, file: &str) -> Result<Self, PlanError> {
        let mut reader = JobReader { file, notes: BTreeMap::new() };
        let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or(file);
        let mut plan = Self::new(stem);
        let sections = lines::sections(text, &reader)?;
        let mut global = JobOptions::default();
        let mut jobs = Vec::new();
        for section in &sections {
            // Global options hold for the jobs after them, and add up over several such sections.
            if section.is_global() {
                global.apply(section, &mut reader)?;
            } else {
                let mut options = global.clone();
                options.apply(section, &mut reader)?;
                jobs.push(job::FioJob { name: &section.name, line: section.line, options });
            }
        }
        if jobs.is_empty() {
            return Err(reader.error(1, "it has no job; a job is a section such as [write] with its options"));
        }
        plan.description = jobs[0].options.description.clone().unwrap_or_default();
        plan.drive = job::drive(&jobs, &reader)?;
        plan.phases = job::phases(&jobs, &mut reader)?;
        job::note_shared_target(&jobs, &mut reader);
        plan.notes = reader.notes.into_values().collect();
        Ok(plan)
    }
}
