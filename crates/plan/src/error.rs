//! Why a plan could not be had, or cannot run.

use std::path::PathBuf;

use thiserror::Error;

/// Why a plan could not be had, or cannot run on a target.
#[derive(Debug, Error)]
pub enum PlanError {
    /// A line of a plan file that is not understood.
    #[error("cannot read the plan {file}, line {line}{}: {why}", .column.map(|column| format!(", column {column}")).unwrap_or_default())]
    Line {
        /// The file, as the user named it.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1, where one is to blame.
        column: Option<usize>,
        /// What is wrong with it and what to write instead.
        why: String,
    },
    /// The plan file could not be opened or read.
    #[error("cannot read the plan {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Neither a built-in plan nor a file.
    #[error("there is no plan {name:?}: {why}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is instead.
        why: String,
    },
    /// A plan that makes no sense, or not on this target.
    #[error("cannot run the plan {plan:?}{}: {why}", .phase.as_ref().map(|phase| format!(", phase {phase:?}")).unwrap_or_default())]
    Unfit {
        /// The plan's name.
        plan: String,
        /// The phase, where it is one.
        phase: Option<String>,
        /// What does not fit, with numbers, and what to do.
        why: String,
    },
}
