//! What is kept of one drive while its rows go by: a state that can be updated, merged and finished.
//!
//! A fleet's rows come in any order, in pieces, on several machines. So a drive's [`ThermalState`] takes rows
//! ([`ThermalState::push`]), takes another state of the same drive ([`ThermalState::merge`]) and gives sums for each
//! place the drive was in ([`ThermalState::finish`]). All sums are of whole numbers, so that their order does not
//! matter, and the result is the one of [`SortedDrive`], which reads the same rows in the order of time. Where it
//! cannot be - rows of one stretch that lie within another - the state says so ([`Finish::NeedsSort`]) and the caller
//! reads that drive's rows once more, sorted. Nothing is ever nearly right.
//!
//! Deliberately without Arrow, engine and files: engines differ in their Arrow.
//!
//! # Map
//! - [`row`]: one row, its counters and where the drive was. [`sums`]: what two rows in a row add.
//! - [`state`]: stretches of rows and how they join. [`run`]: rows as columns. [`sorted`]: the same for rows in order of time.
//! - [`codec`]: the state as bytes, with its version.
//! - [`verdict`]: what may be said of a drive, by how often rows come. [`columns`]: the table of drives.

pub mod codec;
pub mod columns;
pub mod row;
pub mod run;
pub mod sorted;
pub mod state;
pub mod sums;
pub mod verdict;

pub use codec::{DecodeStateError, STATE_VERSION};
pub use columns::{DRIVE_COLUMNS, DriveValues};
pub use row::{COUNTERS, DriveLabels, HealthCounter, HealthRow};
pub use run::{HealthRun, RUN_ROWS};
pub use sorted::SortedDrive;
pub use state::{DrivePart, Finish, STRETCH_BYTES, ThermalState};
pub use sums::{HealthSums, IntervalRules, OnsetBins};
pub use verdict::{DriveFinding, RowCadence, ScannedDrive, ThrottleVerdict};
