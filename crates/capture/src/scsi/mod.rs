//! What SCSI drives, and SATA and USB drives behind a SCSI translation, say about themselves.
//!
//! - [`vpd`]: the vital product data pages.
//!
//! # What it does not do
//! It changes nothing on a drive: only commands that ask are known here.

pub mod vpd;
