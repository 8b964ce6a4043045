//! Fit, predict, recommend: from what happened to what to do.
//!
//! # Architecture
//! Data goes one way: `record -> trace -> data -> fitting -> fitted -> predict -> recommend`.
//! - [`data`]: what a fit takes from a trace; `host`: which speeds a log's host asked for.
//! - `speed`: full speeds, and the seconds that heat held back.
//! - `to_and_fro`: full speed of what began slow; `mixed`: reads and writes at once, and what they say of each alone.
//! - `heat`: from speeds to temperature, and the likelihood of readings; `chain`: its posterior (the optimum is `analysis::posterior::least`).
//! - `onset`: thresholds that acted; `throttle`, `regulator`, `stairs`, `two_level`: their numbers, read off a sample's own course; `closed`: their class. `air`, `states`: a second airflow, other power states.
//! - `floors`: what a threshold leaves of an operation that no run shows there.
//! - [`sample`]: one drive that the runs allow, and the profile it makes.
//! - [`fitting`]: all of these in order. [`fitted`], `open`: what is kept of it, and what stays open; `commands`: the runs that would tell.
//! - [`opinion`]: which machine the runs make probable, beside what the verdict says.
//! - [`check`]: the runs again on what was fitted, measured beside simulated.
//! - [`load`]: a plan as a forecast takes it; [`simulate`]: a profile under a load.
//! - [`mod@predict`], [`mod@recommend`]: what it would do elsewhere, and what to set. [`next`]: both for a run's own load.
//! - [`cooling`]: how much cooling a limit takes, and what parts do that.
//! - [`narrow`]: the ten minutes that would tell most.
//!
//! # What it does not do
//! It opens no file and prints nothing. It has no model of a drive: every closed loop is simulated by `physics`, as twins
//! are, and a regulator that is driven by a course moves by the same law.
//!
//! # Where the numbers come from
//! Each constant says so beside it; how it is used is in METHODS, how well it did in ACCURACY.

mod air;
mod chain;
pub mod check;
mod closed;
mod commands;
pub mod cooling;
pub mod data;
pub mod fitted;
pub mod fitting;
mod floors;
mod heat;
mod host;
pub mod load;
mod mixed;
pub mod narrow;
pub mod next;
mod onset;
mod open;
pub mod opinion;
mod power;
pub mod predict;
pub mod recommend;
mod regulator;
pub mod sample;
pub mod simulate;
mod speed;
mod stairs;
mod states;
mod throttle;
mod to_and_fro;
mod two_level;

pub use commands::{RateLimit, THERMAL_ID, THERMAL_ID_QUICK, low_tmt1_k, rate_limit, with_cache_size};
pub use data::RunData;
pub use fitted::{Fitted, FittedError};
pub use fitting::{FitError, Fitting, fit};
pub use predict::{Forecast, Scenario, predict};
