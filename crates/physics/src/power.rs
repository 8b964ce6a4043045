//! Power: what the drive draws idle, for each byte, and while it folds.
//!
//! `P = idle + active * busy share + e_read * B_read + e_write * B_write + fold`. The energy of a byte depends on
//! the level of a throttle that slows the whole drive down: `e(level) = e * level^(exponent - 1)`
//! with `level = cap / full speed`. Exponent 1 is an affine drive; above 1 slowing down saves more
//! than its share, as voltage and clock go down together. The affine law alone cannot carry
//! published steady states: a drive that gives up 1.4 % of its read speed saves 19 % of the power.
//!
//! That drive shows a second effect. What it saves there it saves only while the link is what limits its
//! reads: flash that could give more than the link takes draws power while it waits. So reads cost
//! `wait_w` for the share of time in which the flash waits, `1 - speed / what the flash may give`; where a power
//! state or a throttle is what limits the flash, it never waits.

use measure::record::Op;

use crate::media::full_speed;
use crate::profile::{PowerStateProfile, Profile};

/// What the drive draws in one power state at one throttle level.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PowerLevel {
    pub(crate) idle_w: f64,
    pub(crate) active_w: f64,
    pub(crate) read_j_per_byte: f64,
    pub(crate) write_j_per_byte: f64,
    pub(crate) fold_j_per_byte: f64,
}

impl PowerLevel {
    /// The level in `state` when throttles hold reads and writes at these shares of full speed.
    pub(crate) fn new(
        profile: &Profile,
        state: &PowerStateProfile,
        read_level: f64,
        write_level: f64,
    ) -> Self {
        let wait_s_per_byte = read_wait_s_per_byte(profile, state, read_level);
        let profile = &profile.power;
        // W per GB/s is J per GB.
        let per_byte = |w_per_gb_per_s: f64| w_per_gb_per_s / 1e9;
        let scaled = |level: f64, exponent: f64| {
            if exponent == 1.0 || level >= 1.0 { 1.0 } else { level.powf(exponent - 1.0) }
        };
        Self {
            idle_w: state.idle_w.unwrap_or(profile.idle_w),
            active_w: state.active_w.unwrap_or(profile.active_w),
            read_j_per_byte: per_byte(profile.read_w_per_gb_per_s)
                * state.read_energy_scale
                * scaled(read_level, profile.read_level_exponent)
                + profile.read_wait_w * wait_s_per_byte,
            write_j_per_byte: per_byte(profile.write_w_per_gb_per_s)
                * state.write_energy_scale
                * scaled(write_level, profile.write_level_exponent),
            fold_j_per_byte: per_byte(profile.fold_w_per_gb_per_s),
        }
    }
}

/// How long the flash waits for the link for each byte of a sequential read at full speed.
fn read_wait_s_per_byte(profile: &Profile, state: &PowerStateProfile, read_level: f64) -> f64 {
    let full = full_speed(profile, Op::Read);
    let throttle = if read_level < 1.0 { read_level * full } else { f64::INFINITY };
    let flash = state.read_cap_bytes_per_s.unwrap_or(f64::INFINITY).min(throttle);
    if flash > 0.0 { 1.0 / full.min(flash) - 1.0 / flash } else { 0.0 }
}
