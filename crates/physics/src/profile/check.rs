//! What a profile may say: every value against the range in which the model means something.

use thiserror::Error;

use crate::thermal::MAX_PROFILE_NODES;

use super::{Cap, Ceiling, Gains, Latency, Machine, Policy, Profile};

/// Why a profile cannot be used.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ProfileError {
    /// There is no built-in profile of that name.
    #[error(
        "no simulated drive is called {name:?}; {hint}`heatsoak profiles` lists all {all}, or give the path of a profile"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// "did you mean ...? " or nothing.
        hint: String,
        /// How many there are.
        all: usize,
    },
    /// The text is not TOML, or a key is unknown, missing or of the wrong type.
    #[error("the profile does not read: {0}")]
    Toml(String),
    /// A value lies outside its range.
    #[error("the profile's {key} is {value}; allowed is {allowed}")]
    Range {
        /// The key, with the path to it.
        key: String,
        /// Its value.
        value: String,
        /// What would be allowed.
        allowed: String,
    },
}

impl ProfileError {
    pub(super) fn toml(error: toml::de::Error) -> Self {
        Self::Toml(error.to_string().trim_end().to_owned())
    }

    pub(super) fn write(error: toml::ser::Error) -> Self {
        Self::Toml(error.to_string())
    }
}

type Check = Result<(), ProfileError>;

/// Widest range of a temperature in kelvins: what the parts of a drive survive.
const TEMPERATURE_K: (f64, f64) = (200.0, 500.0);
/// Slowest and fastest speed: a byte a second to well past PCIe 6 x4.
const SPEED: (f64, f64) = (1.0, 1e12);
/// Shortest and longest period: the firmware tick to a day.
const PERIOD_S: (f64, f64) = (crate::grain::Grain::FIRMWARE.tick_s(), 86_400.0);
/// By how much each mode must be slower than the one before: closer ones no measurement tells apart.
const MODE_RATIO: f64 = 1.1;
const SHARE: (f64, f64) = (0.0, 1.0);
/// How far shares that make a whole may miss it.
const WHOLE_TOLERANCE: f64 = 1e-6;

impl Profile {
    /// Checks every value against the range in which the model means something.
    ///
    /// # Errors
    /// The first value that lies outside, with its key and range.
    pub fn check(&self) -> Result<(), ProfileError> {
        self.check_identity()?;
        self.check_limits()?;
        self.check_thermal()?;
        self.check_power()?;
        self.check_media()?;
        self.check_slc()?;
        self.check_housekeeping()?;
        self.check_host()?;
        self.check_sensors()?;
        for (i, dip) in self.dip.iter().enumerate() {
            within(&format!("dip[{i}].every_s"), dip.every_s, PERIOD_S)?;
            within(&format!("dip[{i}].duration_s"), dip.duration_s, PERIOD_S)?;
            within(&format!("dip[{i}].speed_share"), dip.speed_share, SHARE)?;
        }
        self.policy.iter().enumerate().try_for_each(|(i, policy)| self.check_policy(i, policy))
    }

    fn check_identity(&self) -> Check {
        let id = &self.identity;
        for (key, text, most) in
            [("model", &id.model, 40), ("serial", &id.serial, 20), ("firmware", &id.firmware, 8)]
        {
            let printable = text.bytes().all(|b| (0x20..0x7f).contains(&b));
            require(
                printable && !text.is_empty() && text.len() <= most,
                format!("identity.{key}"),
                format!("{text:?}"),
                format!("1 to {most} printable ASCII characters"),
            )?;
        }
        require(matches!(id.block_bytes, 512 | 4096), "identity.block_bytes", id.block_bytes, "512 or 4096")?;
        // 1 MiB to 1 PiB: below there is nothing to measure, above the chunk map grows past 512 MB.
        require(
            (1 << 20..=1 << 50).contains(&id.capacity_bytes)
                && id.capacity_bytes.is_multiple_of(u64::from(id.block_bytes)),
            "identity.capacity_bytes",
            id.capacity_bytes,
            "1 MiB to 1 PiB, a whole number of blocks",
        )
    }

    fn check_limits(&self) -> Check {
        let limits = &self.limits;
        within("limits.wctemp_k", f64::from(limits.wctemp_k), TEMPERATURE_K)?;
        within("limits.cctemp_k", f64::from(limits.cctemp_k), (f64::from(limits.wctemp_k), TEMPERATURE_K.1))?;
        let Some(hctm) = &limits.hctm else { return Ok(()) };
        within("limits.hctm.mntmt_k", f64::from(hctm.mntmt_k), TEMPERATURE_K)?;
        let settable = (f64::from(hctm.mntmt_k), TEMPERATURE_K.1);
        within("limits.hctm.mxtmt_k", f64::from(hctm.mxtmt_k), settable)?;
        crate::tmt::check_tmt(hctm, hctm.tmt1_k, hctm.tmt2_k).map_err(|error| ProfileError::Range {
            key: "limits.hctm.tmt1_k and tmt2_k".to_owned(),
            value: format!("{} and {}", hctm.tmt1_k, hctm.tmt2_k),
            allowed: error.to_string(),
        })
    }

    fn check_thermal(&self) -> Check {
        let thermal = &self.thermal;
        within("thermal.ambient_c", thermal.ambient_c, (-60.0, 120.0))?;
        within("thermal.airflow", thermal.airflow, (0.01, 100.0))?;
        if thermal.mode.is_empty() {
            self.check_nodes()?;
        } else {
            self.check_modes()?;
        }
        let Some(sink) = &thermal.heatsink else { return Ok(()) };
        let nodes = thermal.node.len().max(thermal.mode.len());
        require(sink.node < nodes, "thermal.heatsink.node", sink.node, format!("0 to {}", nodes - 1))?;
        within("thermal.heatsink.capacity_j_per_k", sink.capacity_j_per_k, (0.01, 1e6))?;
        within("thermal.heatsink.contact_k_per_w", sink.contact_k_per_w, (0.001, 1e4))?;
        within("thermal.heatsink.to_ambient_k_per_w", sink.to_ambient_k_per_w, (0.001, 1e4))
    }

    fn check_nodes(&self) -> Check {
        let nodes = &self.thermal.node;
        let allowed = format!("1 to {MAX_PROFILE_NODES} nodes, or thermal.mode in their place");
        require((1..=MAX_PROFILE_NODES).contains(&nodes.len()), "thermal.node", nodes.len(), allowed)?;
        for (i, node) in nodes.iter().enumerate() {
            within(&format!("thermal.node[{i}].capacity_j_per_k"), node.capacity_j_per_k, (0.01, 1e6))?;
            within(&format!("thermal.node[{i}].outward_k_per_w"), node.outward_k_per_w, (0.001, 1e4))?;
        }
        let shares: Vec<f64> = nodes.iter().map(|node| node.heat_share).collect();
        whole("thermal.node heat_share", &shares, &shares)
    }

    /// Modes, each slower than the one before by so much that their ladder keeps its digits.
    fn check_modes(&self) -> Check {
        let modes = &self.thermal.mode;
        require(
            self.thermal.node.is_empty(),
            "thermal.node",
            self.thermal.node.len(),
            "no node beside thermal.mode: one of the two states the network",
        )?;
        let allowed = format!("1 to {MAX_PROFILE_NODES} modes");
        require((1..=MAX_PROFILE_NODES).contains(&modes.len()), "thermal.mode", modes.len(), allowed)?;
        let mut least_s = 0.01;
        for (i, mode) in modes.iter().enumerate() {
            within(&format!("thermal.mode[{i}].tau_s"), mode.tau_s, (least_s, 1e6))?;
            within(&format!("thermal.mode[{i}].k_per_w"), mode.k_per_w, (0.001, 1e4))?;
            least_s = mode.tau_s * MODE_RATIO;
        }
        Ok(())
    }

    fn check_power(&self) -> Check {
        let power = &self.power;
        for (key, value) in [
            ("idle_w", power.idle_w),
            ("active_w", power.active_w),
            ("read_w_per_gb_per_s", power.read_w_per_gb_per_s),
            ("read_wait_w", power.read_wait_w),
            ("write_w_per_gb_per_s", power.write_w_per_gb_per_s),
            ("fold_w_per_gb_per_s", power.fold_w_per_gb_per_s),
        ] {
            within(&format!("power.{key}"), value, (0.0, 1000.0))?;
        }
        if let Some(start_up) = power.start_up {
            within("power.start_up.power_w", start_up.power_w, (0.0, 1000.0))?;
            within("power.start_up.duration_s", start_up.duration_s, PERIOD_S)?;
        }
        // Below 1 a throttle would raise the power of a byte without bound as it closes.
        within("power.read_level_exponent", power.read_level_exponent, (1.0, 20.0))?;
        within("power.write_level_exponent", power.write_level_exponent, (1.0, 20.0))?;
        let states = &self.power_state;
        require((1..=32).contains(&states.len()), "power_state", states.len(), "1 to 32 states")?;
        require(states[0].operational, "power_state[0].operational", false, "true")?;
        for (i, state) in states.iter().enumerate() {
            within(&format!("power_state[{i}].max_power_w"), state.max_power_w, (0.0001, 655.0))?;
            within(&format!("power_state[{i}].read_energy_scale"), state.read_energy_scale, (0.0, 10.0))?;
            within(&format!("power_state[{i}].write_energy_scale"), state.write_energy_scale, (0.0, 10.0))?;
            for (key, value) in [("idle_w", state.idle_w), ("active_w", state.active_w)] {
                within(&format!("power_state[{i}].{key}"), value.unwrap_or(0.0), (0.0, 1000.0))?;
            }
            for (key, cap) in
                [("read_cap", state.read_cap_bytes_per_s), ("write_cap", state.write_cap_bytes_per_s)]
            {
                within(&format!("power_state[{i}].{key}_bytes_per_s"), cap.unwrap_or(SPEED.1), SPEED)?;
            }
        }
        Ok(())
    }

    fn check_media(&self) -> Check {
        let media = &self.media;
        within("media.link_bytes_per_s", media.link_bytes_per_s, SPEED)?;
        ceiling("media.sequential_read", media.sequential_read)?;
        ceiling("media.random_read", media.random_read)?;
        ceiling("media.sequential_write", media.sequential_write)?;
        ceiling("media.random_write", media.random_write)?;
        within("media.trim_iops", media.trim_iops, (1.0, 1e9))?;
        latency("media.read_latency", media.read_latency)?;
        latency("media.write_latency", media.write_latency)?;
        let Some(wobble) = media.wobble else { return Ok(()) };
        within("media.wobble.period_s", wobble.period_s, PERIOD_S)?;
        within("media.wobble.depth", wobble.depth, (0.0, 0.99))
    }

    fn check_slc(&self) -> Check {
        let Some(slc) = &self.slc else { return Ok(()) };
        require(
            (1..=self.identity.capacity_bytes).contains(&slc.capacity_bytes),
            "slc.capacity_bytes",
            slc.capacity_bytes,
            "1 to the drive's capacity",
        )?;
        ceiling("slc.direct_write", slc.direct_write)?;
        within("slc.idle_fold_bytes_per_s", slc.idle_fold_bytes_per_s, (0.0, SPEED.1))?;
        within("slc.idle_fold_after_s", slc.idle_fold_after_s, (0.0, PERIOD_S.1))?;
        within("slc.pressure_fold_bytes_per_s", slc.pressure_fold_bytes_per_s, (0.0, SPEED.1))?;
        within("slc.reopen_share", slc.reopen_share, (0.001, 1.0))
    }

    fn check_housekeeping(&self) -> Check {
        let Some(housekeeping) = &self.housekeeping else { return Ok(()) };
        within("housekeeping.pause_s", housekeeping.pause_s, PERIOD_S)?;
        within("housekeeping.every_s", housekeeping.every_s, PERIOD_S)?;
        within("housekeeping.fold_bytes_per_s", housekeeping.fold_bytes_per_s, (0.0, SPEED.1))?;
        ceiling("housekeeping.cached_write", housekeeping.cached_write)
    }

    fn check_host(&self) -> Check {
        let Some(host) = &self.host else { return Ok(()) };
        // A page at the least; a computer of 1 PiB is none.
        within("host.memory_bytes", host.memory_bytes as f64, ((1u64 << 20) as f64, (1u64 << 50) as f64))?;
        within("host.copy_bytes_per_s", host.copy_bytes_per_s, SPEED)?;
        let piece = (4096.0, f64::from(1 << 30));
        within("host.io_bytes", f64::from(host.io_bytes), piece)?;
        within("host.read_ahead_bytes", f64::from(host.read_ahead_bytes), piece)
    }

    fn check_sensors(&self) -> Check {
        let (sensor, nodes) = (&self.sensor, &self.thermal.node);
        if self.thermal.mode.is_empty() {
            whole("sensor.composite_share", &sensor.composite_share, nodes)?;
        } else {
            require(
                sensor.composite_share.is_empty() && sensor.sensor.is_empty(),
                "sensor",
                "more than the composite",
                "neither composite_share nor sensor.sensor beside thermal.mode, whose modes are the composite's",
            )?;
        }
        within("sensor.composite_offset_k", sensor.composite_offset_k, (-100.0, 100.0))?;
        within("sensor.composite_lag_s", sensor.composite_lag_s, (0.0, 3600.0))?;
        within("sensor.update_period_s", sensor.update_period_s, PERIOD_S)?;
        require(sensor.sensor.len() <= 8, "sensor.sensor", sensor.sensor.len(), "up to 8 sensors")?;
        for (i, extra) in sensor.sensor.iter().enumerate() {
            whole(&format!("sensor.sensor[{i}].share"), &extra.share, nodes)?;
            within(&format!("sensor.sensor[{i}].offset_k"), extra.offset_k, (-100.0, 100.0))?;
        }
        Ok(())
    }

    fn check_policy(&self, i: usize, policy: &Policy) -> Check {
        let key = |name: &str| format!("policy[{i}] ({}) {name}", policy.name);
        self.threshold(&key("on"), policy.on)?;
        within(&key("hysteresis_k"), policy.hysteresis_k, (0.0, 100.0))?;
        within(&key("poll_s"), policy.poll_s, PERIOD_S)?;
        within(&key("dwell_s"), policy.dwell_s, (0.0, PERIOD_S.1))?;
        within(&key("slew_per_s"), policy.slew_per_s.unwrap_or(1.0), (1e-6, 1e6))?;
        within(&key("only_from_k"), policy.only_from_k.unwrap_or(TEMPERATURE_K.0), TEMPERATURE_K)?;
        match policy.machine {
            Machine::Relay(limits) => cap(&key("machine.relay"), limits),
            Machine::TwoLevel(two) => {
                self.threshold(&key("machine.two_level.heavy_on"), two.heavy_on)?;
                cap(&key("machine.two_level.light"), two.light)?;
                cap(&key("machine.two_level.heavy"), two.heavy)
            }
            Machine::Regulator(pi) => gains(&key("machine.regulator"), pi),
            Machine::DutyCycled(duty) => {
                within(&key("machine.duty_cycled.burst_s"), duty.burst_s, (2.0 * PERIOD_S.0, PERIOD_S.1))?;
                gains(&key("machine.duty_cycled.gains"), duty.gains)
            }
            Machine::Stairs(stairs) => {
                within(&key("machine.stairs.step_share"), stairs.step_share, (0.001, 1.0))?;
                within(&key("machine.stairs.each_k"), stairs.each_k, (0.01, 100.0))?;
                within(&key("machine.stairs.floor_share"), stairs.floor_share, SHARE)
            }
            Machine::Stop {} => Ok(()),
        }
    }

    fn threshold(&self, key: &str, threshold: super::Threshold) -> Check {
        use super::Threshold::{Kelvin, Tmt1PlusK, Tmt2PlusK};
        match threshold {
            Kelvin(kelvin) => within(key, kelvin, TEMPERATURE_K),
            Tmt1PlusK(offset) | Tmt2PlusK(offset) => {
                require(
                    self.limits.hctm.is_some(),
                    key,
                    "tied to a setting",
                    "an absolute temperature, as the drive has no limits.hctm",
                )?;
                within(key, offset, (-100.0, 100.0))
            }
        }
    }
}

fn require(
    holds: bool,
    key: impl Into<String>,
    value: impl std::fmt::Display,
    allowed: impl Into<String>,
) -> Check {
    if holds {
        return Ok(());
    }
    Err(ProfileError::Range { key: key.into(), value: value.to_string(), allowed: allowed.into() })
}

fn within(key: &str, value: f64, (least, most): (f64, f64)) -> Check {
    require((least..=most).contains(&value), key, value, format!("{least} to {most}"))
}

fn ceiling(key: &str, ceiling: Ceiling) -> Check {
    within(&format!("{key}.bytes_per_s"), ceiling.bytes_per_s, SPEED)?;
    within(&format!("{key}.iops"), ceiling.iops, (0.001, 1e9))
}

fn latency(key: &str, latency: Latency) -> Check {
    within(&format!("{key}.base_us"), latency.base_us, (0.0, 1e9))?;
    within(&format!("{key}.jitter_us"), latency.jitter_us, (0.0, 1e9))
}

fn cap(key: &str, cap: Cap) -> Check {
    within(&format!("{key}.read_bytes_per_s"), cap.read_bytes_per_s.unwrap_or(SPEED.1), SPEED)?;
    within(&format!("{key}.write_bytes_per_s"), cap.write_bytes_per_s.unwrap_or(SPEED.1), SPEED)
}

fn gains(key: &str, gains: Gains) -> Check {
    within(&format!("{key}.share_per_k"), gains.share_per_k, (0.0, 100.0))?;
    within(&format!("{key}.share_per_k_s"), gains.share_per_k_s, (1e-9, 100.0))?;
    within(&format!("{key}.floor_share"), gains.floor_share, SHARE)
}

/// One share a node, none negative, adding up to 1.
fn whole<T>(key: &str, shares: &[f64], nodes: &[T]) -> Check {
    let sum: f64 = shares.iter().sum();
    require(
        shares.len() == nodes.len()
            && shares.iter().all(|share| *share >= 0.0)
            && (sum - 1.0).abs() <= WHOLE_TOLERANCE,
        key,
        format!("{shares:?}"),
        format!("{} shares from 0 to 1 that add up to 1", nodes.len()),
    )
}
