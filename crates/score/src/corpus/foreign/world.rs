//! What a foreign drive, its firmware and its room are made of.

/// All of it.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// Nodes from the controller outwards: heat capacity in J/K, resistance to the next one (to the air) in K/W.
    pub(crate) nodes: Vec<(f64, f64)>,
    pub(crate) power: Power,
    pub(crate) air: Air,
    pub(crate) sensor: ForeignSensor,
    /// Full speed of reading and writing, in bytes per second.
    pub(crate) full: [f64; 2],
    pub(crate) firmware: Vec<Guardian>,
    pub(crate) dips: Option<Dips>,
    pub(crate) cache: Option<Cache>,
    /// A job of the host that takes a share of the drive: from when, to when, what it leaves.
    pub(crate) host_jobs: Vec<(f64, f64, f64)>,
}

impl World {
    /// Whether the firmware follows the temperature, as opposed to a fixed lower speed.
    pub(crate) fn follows(&self) -> bool {
        self.firmware.iter().any(|guardian| !matches!(guardian.acts, Acts::Share(_)))
    }

    /// The period of a policy's bursts, in seconds.
    pub(crate) fn burst_s(&self) -> Option<f64> {
        self.firmware.iter().find_map(|guardian| match guardian.acts {
            Acts::Bursts { period_s, .. } => Some(period_s),
            _ => None,
        })
    }
}

/// Watts by speed and temperature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Power {
    pub(crate) idle_w: f64,
    /// At full speed, beyond idle: reading, writing.
    pub(crate) full_w: [f64; 2],
    /// 1 is in proportion to speed.
    pub(crate) exponent: f64,
    /// Share by which all of it grows in a kelvin above 313 K.
    pub(crate) leak_per_k: f64,
}

/// The air around it.
#[derive(Clone, Debug)]
pub(crate) struct Air {
    pub(crate) kelvin: f64,
    /// Kelvins an hour.
    pub(crate) drift_k_per_h: f64,
    /// Neighbours: from when, to when, by how much they warm it.
    pub(crate) neighbours: Vec<(f64, f64, f64)>,
    /// A fan that halves the last resistance: on above, off below.
    pub(crate) fan: Option<(f64, f64)>,
}

/// The composite sensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForeignSensor {
    /// Share of the second node in what it shows.
    pub(crate) outer: f64,
    pub(crate) lag_s: f64,
    pub(crate) delay_s: f64,
    pub(crate) step_k: f64,
    /// Share of readings that are lost.
    pub(crate) lost: f64,
}

/// Which setting a threshold goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Set {
    Tmt1,
    Tmt2,
    Own,
}

/// A threshold of the firmware.
#[derive(Clone, Debug)]
pub(crate) struct Guardian {
    pub(crate) set: Set,
    pub(crate) on_k: f64,
    pub(crate) off_k: f64,
    /// How often it looks, in seconds.
    pub(crate) poll_s: f64,
    pub(crate) acts: Acts,
}

/// How it slows the drive down.
#[derive(Clone, Debug)]
pub(crate) enum Acts {
    /// To a share of full speed.
    Share(f64),
    /// A step of this share for so many kelvins, down to a floor.
    Stairs { step: f64, each_k: f64, floor: f64 },
    /// Integral control: share a second and kelvin, down to a floor.
    Integral { per_k_s: f64, floor: f64 },
    /// The same, as bursts of full speed.
    Bursts { per_k_s: f64, floor: f64, period_s: f64 },
}

/// Dips that have nothing to do with heat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dips {
    pub(crate) every_s: f64,
    pub(crate) regular: bool,
    pub(crate) lasts_s: f64,
    pub(crate) leaves: f64,
}

/// A fast write cache.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cache {
    pub(crate) bytes: f64,
    pub(crate) leaves: f64,
    /// Emptied at this rate all the time; writes are fast again once a tenth is free.
    pub(crate) emptied_bytes_per_s: f64,
}
