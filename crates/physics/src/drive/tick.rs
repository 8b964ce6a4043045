//! The firmware tick: energy becomes heat, and what is due is run.

use measure::Instant;
use measure::record::Op;

use super::{Drive, Work};
use crate::media::erase::Erase;
use crate::media::{OpLimit, Rates, full_speed};
use crate::policy::{Effect, MachineStage, StageChange};
use crate::power::PowerLevel;
use crate::profile::{Machine, Threshold};
use crate::truth::{Source, TruthEvent, TruthKind};

/// Truth events kept; a relay that swings every second fills this in twelve days.
const MAX_TRUTH_EVENTS: usize = 1 << 20;
/// Name of housekeeping in truth events; single pauses would fill the list.
const HOUSEKEEPING: &str = "housekeeping";

impl Drive {
    /// The end of the running tick, in nanoseconds.
    pub(super) const fn tick_end_ns(&self) -> u64 {
        (self.tick + 1) * self.grain.tick_ns()
    }

    /// Ends a span of `ticks` ticks in which [`Work`] was done and nothing was due inside.
    pub(super) fn end_span(&mut self, ticks: u64) {
        let work = std::mem::take(&mut self.work);
        let span_s = self.grain.seconds(ticks);
        let folded_bytes = self.fold(&work, ticks, span_s);
        self.use_erased(work.write_bytes);
        let level = &self.level;
        let energy_j = level.idle_w * span_s
            + level.active_w * work.busy_ns / 1e9
            + level.read_j_per_byte * work.read_bytes
            + level.write_j_per_byte * work.write_bytes
            + level.fold_j_per_byte * folded_bytes;
        self.thermal.step_ticks(ticks, energy_j / span_s);
        self.power.add(energy_j, span_s);
        self.policies.elapse(ticks);
        self.counts.elapse(ticks, work.busy_ns > 0.0, self.sensors.composite_k(), &self.profile.limits);
        self.tick += ticks;
        if work.read_bytes > 0.0 {
            self.load.read_tick = self.tick;
        }
        if work.write_bytes > 0.0 {
            self.load.write_tick = self.tick;
        }
        self.now_ns = self.now_ns.max(self.tick * self.grain.tick_ns());
        if self.tick >= self.next_due {
            self.run_due();
        }
    }

    /// Ticks that may pass before something is due; at least one. That the erased blocks run out is due as well: no
    /// writing is faster than the link, so they last this long.
    pub(super) fn quiet_ticks(&self) -> u64 {
        let tick_bytes = self.profile.media.link_bytes_per_s * self.grain.seconds(1);
        let erased_ticks = self.erase.as_ref().map_or(u64::MAX, |erase| erase.lasts_ticks(tick_bytes));
        (self.next_due - self.tick).min(erased_ticks).max(1)
    }

    /// Runs what is due at this tick and takes over what it changed.
    pub(super) fn run_due(&mut self) {
        let temp_k = self.sensors.firmware_k(&self.thermal);
        self.sensors.run(self.tick, &self.thermal);
        let mut changes = Vec::new();
        self.policies.run(self.tick, temp_k, self.load, &mut changes);
        for change in changes {
            self.note_policy(change, temp_k);
        }
        let mut dips = Vec::new();
        self.disturbances.run(self.tick, &mut dips);
        for change in dips {
            let kind = if change.began { TruthKind::DipBegin } else { TruthKind::DipEnd };
            self.note(kind, temp_k, self.profile.dip[change.dip].name.clone());
        }
        if let Some(erase) = &mut self.erase {
            erase.run(self.tick);
        }
        let per_s = self.grain.per_s();
        if self.tick.is_multiple_of(per_s) {
            self.power.close_second();
        }
        self.refresh();
        let next_second = (self.tick / per_s + 1) * per_s;
        self.next_due = next_second
            .min(self.sensors.next_tick())
            .min(self.policies.next_tick())
            .min(self.disturbances.next_tick())
            .min(self.erase.as_ref().map_or(u64::MAX, Erase::next_tick))
            .min(if self.tick < self.ready_tick { self.ready_tick } else { u64::MAX });
    }

    /// Takes over caps, power state and disturbances into rates and power.
    pub(super) fn refresh(&mut self) {
        let state = &self.profile.power_state[usize::from(self.power_state)];
        let starting = self.tick < self.ready_tick;
        let closed = starting || self.erase.as_ref().is_some_and(Erase::pausing);
        let limit = |op: Op, state_cap: Option<f64>| {
            let effect = self.policies.strictest(op, full_speed(&self.profile, op));
            let cap = effect
                .cap_bytes_per_s
                .min(state_cap.unwrap_or(f64::INFINITY))
                .min(self.profile.media.link_bytes_per_s);
            let cap = if closed { 0.0 } else { cap };
            (OpLimit { cap_bytes_per_s: cap, media_share: self.disturbances.share(op) }, effect)
        };
        let (read, read_effect) = limit(Op::Read, state.read_cap_bytes_per_s);
        let (write, write_effect) = limit(Op::Write, state.write_cap_bytes_per_s);
        self.level = PowerLevel::new(&self.profile, state, read_effect.level, write_effect.level);
        if let Some(start_up) = self.profile.power.start_up.filter(|_| starting) {
            self.level.idle_w = start_up.power_w;
        }
        self.rates = Rates::new(&self.profile, read, write);
        self.caps = [read_effect, write_effect].map(|effect: Effect| effect.cap_bytes_per_s);
    }

    /// Folds the cache over a span; returns the bytes folded.
    fn fold(&mut self, work: &Work, ticks: u64, span_s: f64) -> f64 {
        let idle = !work.asked && work.busy_ns == 0.0 && self.pipe.is_empty();
        if !idle {
            self.idle_since_tick = self.tick + ticks;
        }
        let Some(slc) = &mut self.slc else { return 0.0 };
        let idle_s = self.grain.seconds((self.tick + ticks).saturating_sub(self.idle_since_tick));
        let housekeeping = self.erase.as_ref().map_or(0.0, Erase::fold_bytes_per_s);
        let folded = slc.fold(span_s, idle_s, work.write_bytes > 0.0, housekeeping);
        let open = slc.is_open();
        if open != self.slc_was_open {
            self.slc_was_open = open;
            let kind = if open { TruthKind::SlcOpen } else { TruthKind::SlcFull };
            self.note(kind, self.sensors.firmware_k(&self.thermal), "slc".to_owned());
        }
        folded
    }

    /// Takes erased blocks for what was written.
    fn use_erased(&mut self, bytes: f64) {
        let tick = self.tick;
        if let Some(erase) = self.erase.as_mut().filter(|_| bytes > 0.0)
            && erase.write(tick, bytes)
        {
            self.next_due = self.next_due.min(tick + 1);
            self.note(TruthKind::DipBegin, self.sensors.firmware_k(&self.thermal), HOUSEKEEPING.to_owned());
        }
    }

    /// Gives erased blocks back for what was deallocated.
    pub(super) fn give_back(&mut self, bytes: u64) {
        if let Some(erase) = &mut self.erase
            && erase.trim(bytes)
        {
            self.note(TruthKind::DipEnd, self.sensors.firmware_k(&self.thermal), HOUSEKEEPING.to_owned());
            self.refresh();
        }
    }

    fn note_policy(&mut self, change: StageChange, temp_k: f64) {
        let policy = &self.profile.policy[change.policy];
        // What is let go is named after what it was.
        let heavy = change.stage.max(change.before) == MachineStage::Heavy;
        let source = match (policy.on, policy.machine) {
            (Threshold::Kelvin(_), _) => Source::Vendor,
            (_, Machine::TwoLevel(_)) if heavy => Source::HctmTmt2,
            (Threshold::Tmt2PlusK(_), _) => Source::HctmTmt2,
            (Threshold::Tmt1PlusK(_), _) => Source::HctmTmt1,
        };
        let kind = match change.stage {
            MachineStage::Off => TruthKind::ThrottleRelease(source),
            MachineStage::Light | MachineStage::Heavy => TruthKind::ThrottleOnset(source),
        };
        let name = policy.name.clone();
        self.note(kind, temp_k, name);
    }

    fn note(&mut self, kind: TruthKind, temp_k: f64, name: String) {
        if self.truth.len() < MAX_TRUTH_EVENTS {
            let t = Instant::from_ns(self.tick * self.grain.tick_ns());
            self.truth.push(TruthEvent { t, temp_k, kind, name });
        }
    }
}
