//! A fleet's rows, states and drives as Arrow streams: the way for engines that are not ours (Spark, Ray, DuckDB, Polars)
//! to the state of a drive, through the Python package.
//!
//! Rows in any order become a state a drive ([`partial`]); states of many such streams become the table of drives
//! ([`finish`]). Between the two, states of one drive are merged by putting their bytes one after the other. Columns
//! and types are fixed ([`row_schema`], [`state_schema`]): who calls has an Arrow that casts.

mod columns;
mod finish;
mod partial;

use arrow_schema::ArrowError;
use fleet_state::DecodeStateError;
use thiserror::Error;

pub use columns::{row_schema, state_schema};
pub use finish::finish;
pub use partial::{PartialOptions, partial};

/// Why a stream was not taken.
#[derive(Debug, Error)]
pub enum FleetStreamError {
    /// The bytes are no Arrow stream, or it ended early.
    #[error("the Arrow stream of {what} cannot be read")]
    Read {
        /// Rows or states.
        what: &'static str,
        /// What Arrow says.
        source: ArrowError,
    },
    /// A column is not there or of another type.
    #[error("{what} need the columns {wanted}; there are {found}")]
    Columns {
        /// Rows or states.
        what: &'static str,
        /// Names and types.
        wanted: String,
        /// Names and types.
        found: String,
    },
    /// States that do not go together.
    #[error(
        "states of rows every {one} ms and every {other} ms cannot be merged: what is a gap follows from it; give partial() one cadence"
    )]
    Cadences {
        /// In milliseconds.
        one: i64,
        /// In milliseconds.
        other: i64,
    },
    /// A state that cannot be read.
    #[error("the state of drive {serial} cannot be read")]
    State {
        /// Of the drive.
        serial: String,
        /// What is wrong.
        source: DecodeStateError,
    },
    /// Nobody takes the result.
    #[error("the result cannot be written")]
    Write(#[source] ArrowError),
}
