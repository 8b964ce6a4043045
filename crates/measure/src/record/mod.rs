//! The run record: what a run leaves behind, raw and append-only.
//!
//! A run folder holds `manifest.json` and one table a file: `io`, `telemetry`, `smart` and, where
//! the plan asks for it, `ops`. While the run is under way a table is an Arrow stream
//! (`io.arrow`), flushed at least twice a second; closing turns it into Parquet (`io.parquet`).
//! [`read`] takes either, so a killed run is a run that ends early and says so.
//!
//! A virtual SSD may live faster than its host. Its run is written in the host's time and read in the
//! drive's: [`read`] applies the scales that the manifest's origin names, once, for all readers.
//!
//! # Damage
//! Every frame of a stream (`frame`), every closed table and the manifest (`seal`) has a checksum, which is checked
//! before anything is decoded.
//!
//! # What it does not do
//! It draws no conclusion. What was read is kept, raw pages included; meaning is derived by the reader.
//!
//! # Schema
//! [`SCHEMA`] is 2, which has checksums; schema 1 is read without. A folder from a newer schema is refused, with what to
//! do.

mod block_table;
mod columns;
mod contained;
mod drive_time;
mod frame;
mod manifest;
mod place;
mod read;
mod reduced;
mod rows;
mod seal;
mod table;
mod write;

pub use columns::{ColumnReference, TableReference, table_reference, unit_in_name};
pub use manifest::{
    ClockAnchor, DriveFacts, End, EndReason, GovernorFacts, HeldFacts, HostFacts, LinkFacts, Manifest,
    MeterFacts, Origin, PhaseFacts, PowerBaseline, RawAnswer, RunEdge, SettingsFacts, ThermalSettings,
    TransportEvent, TransportEventKind,
};
pub use place::OutputPlace;
pub use read::{
    LostPart, Record, is_run_folder, read, read_manifest, read_manifest_and_lost, read_ops, read_reduced,
};
pub use rows::{BlockCounters, IoRow, Op, OpRow, SmartRow, TelemetryRow};
pub use write::{ManifestDocument, RunWriter, write_whole};

use std::path::PathBuf;

use thiserror::Error;

/// The version of the run folder's format that this code writes, and the newest it reads.
pub const SCHEMA: u32 = 2;

/// The file beside the record that whoever loads or watches the drive makes anew once a second, and removes at the end:
/// the present for other programs, no part of the record.
pub const LIVE_FILE: &str = "live.json";

/// Why a run folder could not be written or read.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The folder to be made is already there.
    #[error(
        "cannot make the run folder {path}: it exists and is not empty; name another with --out, or move it away"
    )]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// Not a run folder.
    #[error(
        "{path} is not a run folder: it has no manifest.json; name a folder that `heatsoak run` has written"
    )]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// A run folder of a later format.
    #[error("{path} has schema {found}, this heatsoak reads up to {SCHEMA}: update heatsoak to read it")]
    NewerSchema {
        /// The manifest.
        path: PathBuf,
        /// The schema it names.
        found: u64,
    },
    /// A file whose content is not what the format says.
    #[error(
        "cannot read {path}: {why}; the file is damaged or was not written by heatsoak: restore it from a copy, or move it away to read the rest of the run"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        why: String,
    },
    /// The system refused.
    #[error("cannot {what} {path}: {source}{}", what_to_do(what, source))]
    Io {
        /// What was attempted, as a verb.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// What to do where the system refuses to write, as the end of a sentence; empty where nothing general helps.
fn what_to_do(what: &str, source: &std::io::Error) -> &'static str {
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    match source.kind() {
        _ if what == "read" || what == "open" => "",
        StorageFull | QuotaExceeded => "; free some space there, or write elsewhere with --out",
        PermissionDenied | ReadOnlyFilesystem => {
            "; write elsewhere with --out, or as a user who may write there"
        }
        _ => "",
    }
}
