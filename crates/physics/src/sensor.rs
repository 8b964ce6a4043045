//! Sensors: from node temperatures to the whole kelvins that a health log shows.
//!
//! Readings are renewed at their own period; between two renewals they stand still, however often
//! they are asked for. The composite's lag is a state of the thermal network.

use crate::grain::Grain;
use crate::profile::{Rounding, SensorProfile};
use crate::thermal::Network;

/// The latest readings.
#[derive(Clone, Debug)]
pub(crate) struct Sensors {
    profile: SensorProfile,
    period_ticks: u64,
    next: u64,
    composite_k: u16,
    extra_k: [u16; 8],
}

impl Sensors {
    pub(crate) fn new(profile: &SensorProfile, grain: Grain, thermal: &Network) -> Self {
        let mut sensors = Self {
            profile: profile.clone(),
            period_ticks: grain.ticks(profile.update_period_s),
            next: 0,
            composite_k: 0,
            extra_k: [0; 8],
        };
        sensors.run(0, thermal);
        sensors
    }

    /// The tick at which readings are next renewed.
    pub(crate) const fn next_tick(&self) -> u64 {
        self.next
    }

    /// Renews the readings if it is time to.
    pub(crate) fn run(&mut self, tick: u64, thermal: &Network) {
        if tick < self.next {
            return;
        }
        self.next = tick + self.period_ticks;
        let composite = whole(self.profile.rounding, self.firmware_k(thermal));
        self.composite_k = self.profile.frozen_composite_k.unwrap_or(composite);
        for (reading, extra) in self.extra_k.iter_mut().zip(&self.profile.sensor) {
            *reading = whole(self.profile.rounding, thermal.weighted(&extra.share) + extra.offset_k);
        }
    }

    /// The composite temperature as firmware sees it: with fractions, never frozen.
    pub(crate) fn firmware_k(&self, thermal: &Network) -> f64 {
        thermal.probe_k() + self.profile.composite_offset_k
    }

    /// The composite temperature as reported.
    pub(crate) const fn composite_k(&self) -> u16 {
        self.composite_k
    }

    /// Sensors 1 to 8 as reported; 0 where there is none.
    pub(crate) const fn extra_k(&self) -> [u16; 8] {
        self.extra_k
    }
}

fn whole(rounding: Rounding, temp_k: f64) -> u16 {
    match rounding {
        Rounding::Floor => temp_k.floor() as u16,
        Rounding::Nearest => temp_k.round() as u16,
    }
}
