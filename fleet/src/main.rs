//! The program `heatsoak-fleet`: which drives of a fleet lose speed to heat.
//!
//! Everything is the library's, which `heatsoak-fleet-cluster` shares; this one has no client of a cluster and hands such a
//! command line on.

use std::process::ExitCode;

fn main() -> ExitCode {
    heatsoak_fleet::run(None)
}
