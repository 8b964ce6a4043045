//! Keeps a drive below a temperature by shaping the load on it: the law, and what came of it.
//!
//! # Architecture
//! - [`Governor`]: from readings to a rate limit, by the slope of the last readings (`trend`).
//! - [`share`]: one limit divided among those that load the drive.
//! - [`Account`]: what a governed load came to: how hot, how long it was held back, to what rate.
//!
//! # What it does not do
//! It has no clock, reads nothing and limits nothing: whoever has the drive does, the session of `capture` for a load of
//! ours, control groups of the kernel for a load of others.

mod account;
mod law;
pub mod share;
mod trend;

pub use account::{Account, HeldSpan};
pub use law::{Bounds, Governor};

#[cfg(test)]
mod ladders;
#[cfg(test)]
mod test;
