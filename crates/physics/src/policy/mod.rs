//! Throttle policies: machines that look at the composite temperature and slow the drive down.
//!
//! All machines of a profile run at once; for each operation the strictest wins. A machine whose
//! threshold hangs on TMT1 or TMT2 is host controlled and moves the counters of log page 02h;
//! one with an absolute threshold is the vendor's own and moves none.
//!
//! Machines see the lagging composite temperature before it is cut to whole kelvins: firmware has
//! finer readings than it reports.
//! A pre-limited start is no machine of its own: it is one that is on when the load begins.

mod machine;

use measure::record::Op;

use crate::grain::Grain;
use crate::profile::{Policy, Threshold};
use crate::tmt::{HctmRange, Tmt, TmtError, check_tmt};
pub(crate) use machine::{MachineStage, PolicyInput, Running};

/// How host controlled thermal management is counted in log page 02h, bytes 216 to 231.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HctmCounters {
    /// Times that light throttling set in.
    pub tmt1_transitions: u32,
    /// Times that heavy throttling set in.
    pub tmt2_transitions: u32,
    /// Whole seconds of light throttling.
    pub tmt1_seconds: u32,
    /// Whole seconds of heavy throttling.
    pub tmt2_seconds: u32,
}

/// What throttling does to one operation at this moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effect {
    /// Most bytes per second; infinite when nothing throttles.
    pub(crate) cap_bytes_per_s: f64,
    /// Share of full speed at which the whole drive runs: what its power depends on.
    pub(crate) level: f64,
}

impl Effect {
    /// Nothing throttles.
    pub(crate) const NONE: Self = Self { cap_bytes_per_s: f64::INFINITY, level: 1.0 };
}

/// A machine that changed its stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StageChange {
    pub(crate) policy: usize,
    pub(crate) before: MachineStage,
    pub(crate) stage: MachineStage,
}

/// All machines of a drive and the setting they hang on.
#[derive(Clone, Debug)]
pub(crate) struct Policies {
    machines: Vec<Running>,
    grain: Grain,
    limits: Option<HctmRange>,
    tmt: Tmt,
    light: bool,
    heavy: bool,
    counters: HctmCounters,
    light_ticks: u64,
    heavy_ticks: u64,
}

impl Policies {
    pub(crate) fn new(policies: &[Policy], limits: Option<&HctmRange>, grain: Grain) -> Self {
        Self {
            machines: policies.iter().map(|policy| Running::new(policy, grain)).collect(),
            grain,
            limits: limits.cloned(),
            tmt: limits.map_or(Tmt::OFF, |hctm| Tmt::from_kelvin(hctm.tmt1_k, hctm.tmt2_k)),
            light: false,
            heavy: false,
            counters: HctmCounters::default(),
            light_ticks: 0,
            heavy_ticks: 0,
        }
    }

    /// The tick at which a machine next looks or toggles.
    pub(crate) fn next_tick(&self) -> u64 {
        self.machines.iter().map(Running::next_tick).min().unwrap_or(u64::MAX)
    }

    /// Lets every machine that is due look at the temperature; says which changed their stage.
    pub(crate) fn run(&mut self, tick: u64, temp_k: f64, load: PolicyInput, changes: &mut Vec<StageChange>) {
        for (policy, machine) in self.machines.iter_mut().enumerate() {
            let before = machine.stage();
            machine.run(tick, temp_k, load, |threshold| resolve(threshold, self.tmt, self.limits.as_ref()));
            if machine.stage() != before {
                changes.push(StageChange { policy, before, stage: machine.stage() });
            }
        }
        self.count();
    }

    /// Counts the time that throttling lasted.
    pub(crate) const fn elapse(&mut self, ticks: u64) {
        if self.heavy {
            self.heavy_ticks += ticks;
        } else if self.light {
            self.light_ticks += ticks;
        }
    }

    /// The strictest of all machines for `op`, whose full speed is `full_bytes_per_s`.
    pub(crate) fn strictest(&self, op: Op, full_bytes_per_s: f64) -> Effect {
        self.machines.iter().fold(Effect::NONE, |strictest, machine| {
            let effect = machine.effect(op, full_bytes_per_s);
            Effect {
                cap_bytes_per_s: strictest.cap_bytes_per_s.min(effect.cap_bytes_per_s),
                level: strictest.level.min(effect.level),
            }
        })
    }

    pub(crate) const fn tmt(&self) -> Tmt {
        self.tmt
    }

    pub(crate) fn set_tmt(&mut self, tmt: Tmt) -> Result<(), TmtError> {
        let limits = self.limits.as_ref().ok_or(TmtError::Unsupported)?;
        check_tmt(limits, tmt.tmt1_raw(), tmt.tmt2_raw())?;
        self.tmt = tmt;
        Ok(())
    }

    pub(crate) fn counters(&self) -> HctmCounters {
        let seconds = |ticks: u64| u32::try_from(ticks / self.grain.per_s()).unwrap_or(u32::MAX);
        HctmCounters {
            tmt1_seconds: seconds(self.light_ticks),
            tmt2_seconds: seconds(self.heavy_ticks),
            ..self.counters
        }
    }

    /// Counters count edges of "any machine throttles at this level" and never wrap.
    fn count(&mut self) {
        let at = |stage| self.machines.iter().any(|machine| machine.hctm_stage() == Some(stage));
        let (light, heavy) = (at(MachineStage::Light), at(MachineStage::Heavy));
        let counters = &mut self.counters;
        if light && !self.light && !self.heavy {
            counters.tmt1_transitions = counters.tmt1_transitions.saturating_add(1);
        }
        if heavy && !self.heavy {
            counters.tmt2_transitions = counters.tmt2_transitions.saturating_add(1);
        }
        (self.light, self.heavy) = (light, heavy);
    }
}

/// The temperature a threshold stands for; `None` when the setting it hangs on is off.
fn resolve(threshold: Threshold, tmt: Tmt, limits: Option<&HctmRange>) -> Option<f64> {
    use crate::tmt::AtMntmt::Inert;
    match threshold {
        Threshold::Kelvin(kelvin) => Some(kelvin),
        Threshold::Tmt1PlusK(offset) => {
            let off = limits.is_some_and(|l| l.tmt1_at_mntmt == Inert && l.mntmt_k == tmt.tmt1_raw());
            let tmt1 = tmt.tmt1().filter(|_| !off)?;
            Some(f64::from(tmt1.as_kelvin()) + offset)
        }
        Threshold::Tmt2PlusK(offset) => Some(f64::from(tmt.tmt2()?.as_kelvin()) + offset),
    }
}
