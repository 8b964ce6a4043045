//! What is fuzzed, run on noise and on spoilt good inputs in every test run, without a fuzzing engine.

mod fleet;
mod import;
mod nvme;
mod remote;
mod scsi;
mod shared;
mod twin;
mod vssd;
