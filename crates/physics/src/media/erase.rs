//! Erased blocks: how much can be written before the drive has to erase, and the pauses it then makes.
//!
//! Every byte written takes an erased one; deallocating gives back what was written, as the drive
//! erases it while nobody waits. When none is left, blocks are erased between commands: the drive
//! pauses again and again until something is deallocated. Not modelled: which blocks; moving what
//! is still valid in them, whose cost is part of the pauses; spare blocks beyond the capacity.

use measure::Seed;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::SeedableRng;

use super::disturb::unit;
use crate::grain::Grain;
use crate::profile::Housekeeping;

/// Erased blocks of a drive that has to mind them.
#[derive(Clone, Debug)]
pub(crate) struct Erase {
    keeping: Housekeeping,
    grain: Grain,
    generator: Pcg32,
    capacity_bytes: f64,
    erased_bytes: f64,
    pausing: bool,
    next: u64,
}

impl Erase {
    /// A deallocated drive.
    pub(crate) fn new(keeping: Housekeeping, capacity_bytes: u64, grain: Grain, seed: Seed) -> Self {
        Self {
            keeping,
            grain,
            generator: Pcg32::seed_from_u64(seed.as_u64()),
            capacity_bytes: capacity_bytes as f64,
            erased_bytes: capacity_bytes as f64,
            pausing: false,
            next: u64::MAX,
        }
    }

    /// Whether no erased block is left.
    pub(crate) fn exhausted(&self) -> bool {
        self.erased_bytes <= 0.0
    }

    /// For how many ticks the erased blocks last at the least while each takes up to `tick_bytes`; for ever once there are
    /// none.
    pub(crate) fn lasts_ticks(&self, tick_bytes: f64) -> u64 {
        if self.exhausted() { u64::MAX } else { (self.erased_bytes / tick_bytes) as u64 }
    }

    /// Whether commands wait at this moment.
    pub(crate) const fn pausing(&self) -> bool {
        self.pausing
    }

    /// The tick at which a pause next begins or ends.
    pub(crate) const fn next_tick(&self) -> u64 {
        self.next
    }

    /// What the cache is emptied at while nobody writes, in bytes per second.
    pub(crate) fn fold_bytes_per_s(&self) -> f64 {
        if self.exhausted() { self.keeping.fold_bytes_per_s } else { 0.0 }
    }

    /// Notes written bytes; says whether they were the last erased ones.
    pub(crate) fn write(&mut self, tick: u64, bytes: f64) -> bool {
        let before = self.exhausted();
        self.erased_bytes = (self.erased_bytes - bytes).max(0.0);
        let now = self.exhausted() && !before;
        if now {
            self.next = tick + 1;
        }
        now
    }

    /// Notes deallocated bytes; says whether that ends the housekeeping.
    pub(crate) fn trim(&mut self, bytes: u64) -> bool {
        let before = self.exhausted();
        self.erased_bytes = (self.erased_bytes + bytes as f64).min(self.capacity_bytes);
        let over = before && !self.exhausted();
        if over {
            (self.pausing, self.next) = (false, u64::MAX);
        }
        over
    }

    /// Begins or ends the pause that is due.
    pub(crate) fn run(&mut self, tick: u64) {
        if tick < self.next {
            return;
        }
        self.pausing = !self.pausing;
        let span_s = if self.pausing {
            self.keeping.pause_s
        } else {
            // Exponential gaps, as of dips; 1 - u is never 0.
            -self.keeping.every_s * (1.0 - unit(&mut self.generator)).ln()
        };
        // Spans are whole firmware ticks whatever the grain: they are too short for the grain not to matter.
        let firmware = Grain::FIRMWARE;
        self.next = tick + self.grain.ticks(firmware.seconds(firmware.ticks(span_s)));
    }
}
