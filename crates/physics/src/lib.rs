//! The physics of a drive: power, heat, throttling and speed of an SSD in simulated time.
//!
//! One physical state, [`Drive`], is made from a [`Profile`] and a seed and is driven forward either
//! by single I/Os ([`Drive::submit`], [`Drive::advance`]) or by a demand rate
//! ([`Drive::advance_demand`]). Time is passed in; the physics start no thread, read no clock and do
//! no I/O. The same profile, seed and calls give the same results, bit for bit.
//!
//! # Architecture
//! - [`profile`]: the parameters of one drive, a TOML file each; the built-in ones.
//! - `thermal`: an RC network, solved exactly while power is constant.
//! - `power`: watts from bytes, throttle level and power state.
//! - `media`: speeds, latency, the SLC cache, and slow-downs without heat.
//! - [`tmt`]: the two thermal management temperatures, and what may be set.
//! - [`policy`]: throttle machines (relay, two-level latch, regulator, duty-cycled, stop) at host
//!   controlled or the vendor's own thresholds; the strictest wins.
//! - `sensor`: whole-kelvin readings with lag and period.
//! - [`drive`]: ties them together, tick by tick; the health log; settings.
//! - [`truth`]: what really happened inside, for tests.
//!
//! A tick of 10 ms is the grain of everything that firmware does: bytes and joules add up within it,
//! then heat moves, then policies look. Single I/Os are timed to the nanosecond within a tick. Nothing
//! happens between ticks that is not linear, so a span without anything due is one step.
//!
//! # What it does not model
//! Dies, planes, mapping tables, garbage collection and wear: their sums are the speeds in the
//! profile. Errors and failing media. Data, and any protocol. Voltage, and what
//! temperature does to power and resistances. Sensors that drift.
//!
//! # Where the numbers come from
//! Equations: NVMe Base 2.3 for what throttling must do; Cauer ladders of two nodes after Lin,
//! Middelkoop and Barooah (CDC 2012). Parameters: in each profile, beside the value.

pub mod drive;
mod grain;
mod media;
pub mod policy;
mod power;
pub mod profile;
mod sensor;
mod thermal;
pub mod tmt;
pub mod truth;

pub use drive::{Demand, Drive, Moved, SettingError, Transfer};
pub use policy::HctmCounters;
pub use profile::{Profile, ProfileError};
pub use thermal::EnergyBalance;
pub use tmt::{Tmt, TmtError};
pub use truth::{Source, TruthEvent, TruthKind};
