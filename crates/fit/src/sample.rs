//! One drive that the runs allow: numbers, and the profile they make.
//!
//! A posterior is a few dozen of these. Each is simulated by `physics` itself, so that a forecast and a twin are one
//! piece of code.

use physics::Profile;
use physics::profile::{
    AtMntmt, Cap, Ceiling, DutyCycle, Gains, HctmRange, Latency, Limits, Machine, MediaProfile, Mode, Ops,
    Policy, PowerProfile, PowerStateProfile, ProfileIdentity, Rounding, SensorProfile, SlcProfile, Stairs,
    Start, ThermalProfile, Threshold, TwoLevel,
};
use serde::{Deserialize, Serialize};

/// Resistance that a profile is written with where no power was measured: that of an M.2 drive without a heat sink.
/// Nothing that a fit predicts depends on it.
pub const ASSUMED_K_PER_W: f64 = 12.5;
/// Rise at rest that a profile is written with where the air was not told.
pub const ASSUMED_REST_RISE_K: f64 = 15.0;
/// Capacity that a profile is written with where no run says how large the drive is: the usual 1 TB (IDEMA LBA1-03).
const USUAL_BYTES: u64 = 1_000_204_886_016;
/// How often fitted firmware looks at the temperature: between what was seen of drives (0.1 to 2 s).
const POLL_S: f64 = 0.5;
/// Length of a burst and its pause where speed comes in bursts: not a whole part of a second, so that the seconds of a
/// forecast scatter as measured ones do (VALIDATION, B7 and B8).
const BURST_S: f64 = 0.7;
/// Least of a mode that a profile takes, with room.
const LEAST_K_PER_W: f64 = 0.002;

/// A drive that the runs allow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveSample {
    /// Kelvins in the end for each GB/s: reading, writing.
    pub gain_k: [f64; 2],
    /// Exponent of dynamic power over the level of a regulator: reading, writing.
    pub exponent: [f64; 2],
    /// Lag of the sensor in seconds.
    pub lag_s: f64,
    /// Modes of the step response: time constant in seconds and share of the whole.
    pub modes: Vec<(f64, f64)>,
    /// Temperature at rest in kelvins.
    pub rest_k: f64,
    /// Full speed in GB/s: reading, writing.
    pub full: [f64; 2],
    /// Share of the resistance that is between drive and air. One air flow does not tell it.
    pub outer_share: f64,
    /// What slows it down.
    pub throttles: Vec<Throttle>,
    /// Other power states that were run.
    #[serde(default)]
    pub states: Vec<StateShare>,
    /// Limits of the power state that it is in, in GB/s: reading, writing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_limit: Option<[f64; 2]>,
}

/// What another power state changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateShare {
    /// Its number.
    pub state: u8,
    /// Full speed in GB/s: reading, writing; 0 where it was not seen.
    pub full: [f64; 2],
    /// Kelvins for each GB/s over those of the state of the other runs: reading, writing.
    pub energy: [f64; 2],
    /// Whether throttling takes its shares of what the state allows; else they stay what they are, and the state is a
    /// limit beside them.
    pub scales_throttling: bool,
    /// Thresholds and gains as the runs in that state have them; empty where those showed no throttling.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttles: Vec<Throttle>,
}

/// One throttle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Throttle {
    /// What its threshold hangs on.
    pub follows: ThresholdSource,
    /// Where it sets in: kelvins above the setting, or absolute.
    pub on_k: f64,
    /// Lets go so many kelvins lower.
    pub hysteresis_k: f64,
    /// Whether it leaves reading, writing as it is.
    #[serde(default)]
    pub spares: [bool; 2],
    /// What it does.
    pub act: ThrottleAct,
}

/// What a threshold hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdSource {
    /// TMT1.
    Tmt1,
    /// TMT2.
    Tmt2,
    /// Nothing: the firmware's own.
    Own,
}

impl ThresholdSource {
    /// As a sentence names it.
    pub const fn named(self) -> &'static str {
        match self {
            Self::Tmt1 => "TMT1",
            Self::Tmt2 => "TMT2",
            Self::Own => "the firmware threshold",
        }
    }
}

impl ThresholdSource {
    /// The name of the speed of an operation while this throttles it.
    pub(crate) fn speed_while_throttled(self, word: &str) -> String {
        let by = match self {
            Self::Tmt1 => "at TMT1",
            Self::Tmt2 => "at TMT2",
            Self::Own => "by firmware",
        };
        format!("{word} speed while throttled {by}")
    }
}

/// What a throttle does; speeds are shares of full speed: reading, writing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThrottleAct {
    /// A fixed lower speed.
    Relay([f64; 2]),
    /// Light, then heavy from TMT2 plus `heavy_k` on.
    TwoLevel {
        /// Shares while light; 1 is no limit.
        light: [f64; 2],
        /// Kelvins above TMT2.
        heavy_k: f64,
        /// Shares while heavy.
        heavy: [f64; 2],
    },
    /// Holds the temperature: shares a kelvin, shares a kelvin and second, least share.
    Regulator([f64; 3]),
    /// The same by bursts.
    DutyCycled([f64; 3]),
    /// A step slower every few kelvins: share a step, kelvins a step, least share.
    Stairs([f64; 3]),
    /// Nothing moves.
    Stop,
}

/// One threshold of a throttle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ThrottleLevel {
    /// What it hangs on.
    pub(crate) follows: ThresholdSource,
    /// Where it sets in: kelvins above the setting, or absolute.
    pub(crate) on_k: f64,
    /// Shares of full speed from there on, where they are fixed: reading, writing.
    pub(crate) shares: Option<[f64; 2]>,
}

impl Throttle {
    /// Its thresholds: two levels have two.
    pub(crate) fn levels(&self) -> Vec<ThrottleLevel> {
        let level = |follows, on_k, shares| ThrottleLevel { follows, on_k, shares };
        match self.act {
            ThrottleAct::TwoLevel { light, heavy_k, heavy } => vec![
                level(self.follows, self.on_k, Some(light)),
                level(ThresholdSource::Tmt2, heavy_k, Some(heavy)),
            ],
            ThrottleAct::Relay(shares) => vec![level(self.follows, self.on_k, Some(shares))],
            _ => vec![level(self.follows, self.on_k, None)],
        }
    }
}

impl ThrottleAct {
    /// Whether it goes from one speed to another, and does not hold a temperature.
    pub(crate) const fn switches(&self) -> bool {
        matches!(self, Self::Relay(_) | Self::TwoLevel { .. } | Self::Stop)
    }
}

/// What is the same in all samples of a drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Common {
    /// Name for `twin:`.
    pub name: String,
    /// Air during the runs in kelvins; `None` where nobody said.
    pub ambient_k: Option<f64>,
    /// K/W from the sensor to the air; `None` where no power was measured.
    pub k_per_w: Option<f64>,
    /// The other airflow that was run, over that of the rest; `None` where all runs had one.
    #[serde(default)]
    pub airflow: Option<f64>,
    /// What the drive says of its limits.
    pub limits: LimitsK,
    /// TMT1 and TMT2 during the last run; 0 is off.
    pub tmt_k: [f64; 2],
    /// TMT1 and TMT2 before that run and after it, 0 is off; `None` where they are those of the run, as far as was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing_tmt_k: Option<[u16; 2]>,
    /// Whether any source says what TMT1, TMT2 are outside of the runs: off is known, a column that is not there is not.
    #[serde(default = "told")]
    pub tmt_recorded: [bool; 2],
    /// Whether it has host controlled thermal management, as far as was told.
    pub hctm: bool,
    /// What the link carries in GB/s.
    pub link: Option<f64>,
    /// Write cache in bytes, and the speed behind it in GB/s, where its end was seen.
    pub cache: Option<(u64, f64)>,
    /// How large the write cache is said to be, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_cache_bytes: Option<u64>,
    /// How large the drive is, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
}

/// Fits that were kept before this was asked are taken for ones of runs that said it.
const fn told() -> [bool; 2] {
    [true; 2]
}

/// Limits that a drive states, in kelvins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitsK {
    /// Warning composite temperature (WCTEMP).
    pub warning_k: Option<f64>,
    /// Critical composite temperature (CCTEMP).
    pub critical_k: Option<f64>,
    /// Lowest settable TMT1 (MNTMT).
    pub tmt_min_k: Option<f64>,
    /// Highest settable TMT2 (MXTMT).
    pub tmt_max_k: Option<f64>,
}

impl DriveSample {
    /// What it moves at full speed in the power state that it is in, in GB/s: reading, writing.
    pub fn full_in_state(&self) -> [f64; 2] {
        let limit = self.state_limit.unwrap_or([f64::INFINITY; 2]);
        [self.full[0].min(limit[0]), self.full[1].min(limit[1])]
    }

    /// The drive in another power state; `None` where it was not run in it.
    pub fn in_state(&self, state: u8) -> Option<Self> {
        let other = self.states.iter().find(|other| other.state == state)?;
        let mut sample = self.clone();
        let mut limit = [f64::INFINITY; 2];
        for op in (0..2).filter(|op| other.full[*op] > 0.0) {
            // A limit beside full speed makes nothing faster.
            if other.scales_throttling || other.full[op] > self.full[op] {
                sample.full[op] = other.full[op];
            } else {
                limit[op] = other.full[op];
            }
        }
        sample.state_limit = limit.iter().any(|limit| limit.is_finite()).then_some(limit);
        (0..2).for_each(|op| sample.gain_k[op] *= other.energy[op]);
        if !other.throttles.is_empty() {
            sample.throttles.clone_from(&other.throttles);
        }
        Some(sample)
    }

    /// The profile of this drive.
    pub fn profile(&self, common: &Common) -> Profile {
        let resistance = common.k_per_w.unwrap_or(ASSUMED_K_PER_W);
        let ambient_k = common.ambient_k.unwrap_or(self.rest_k - ASSUMED_REST_RISE_K).min(self.rest_k);
        let per_gb = |gain_k: f64| gain_k / resistance;
        Profile {
            name: common.name.clone(),
            description: "Fitted to measurements by heatsoak fit".to_owned(),
            identity: ProfileIdentity {
                model: "Fitted twin".to_owned(),
                serial: "FITTED".to_owned(),
                firmware: "FIT1".to_owned(),
                capacity_bytes: common.capacity_bytes.unwrap_or(USUAL_BYTES),
                block_bytes: 512,
                rated_write_bytes: None,
            },
            limits: limits(common),
            thermal: ThermalProfile {
                ambient_c: ambient_k - measure::Celsius::from_degrees(0.0).as_kelvin_f64(),
                airflow: 1.0,
                start: Start::Idle,
                node: Vec::new(),
                mode: modes(&self.modes, resistance),
                heatsink: None,
            },
            power: PowerProfile {
                idle_w: (self.rest_k - ambient_k) / resistance,
                active_w: 0.0,
                read_w_per_gb_per_s: per_gb(self.gain_k[0]).min(1000.0),
                read_wait_w: 0.0,
                write_w_per_gb_per_s: per_gb(self.gain_k[1]).min(1000.0),
                fold_w_per_gb_per_s: 0.0,
                read_level_exponent: self.exponent[0].max(1.0),
                write_level_exponent: self.exponent[1].max(1.0),
                start_up: None,
            },
            power_state: vec![self.power_state()],
            media: self.media(common),
            slc: common.cache.map(|(capacity_bytes, behind)| SlcProfile {
                capacity_bytes,
                direct_write: ceiling(behind),
                idle_fold_bytes_per_s: 0.0,
                idle_fold_after_s: 30.0,
                pressure_fold_bytes_per_s: 0.0,
                reopen_share: 0.05,
            }),
            housekeeping: None,
            host: None,
            dip: Vec::new(),
            sensor: SensorProfile {
                composite_share: Vec::new(),
                composite_offset_k: 0.0,
                composite_lag_s: self.lag_s,
                update_period_s: 1.0,
                rounding: Rounding::Floor,
                sensor: Vec::new(),
                frozen_composite_k: None,
            },
            policy: self.throttles.iter().map(|throttle| self.policy(throttle, common)).collect(),
            fit: None,
        }
    }

    /// The one power state that it is in.
    fn power_state(&self) -> PowerStateProfile {
        let limit = self.state_limit.unwrap_or([f64::INFINITY; 2]);
        // What a slot of four lanes may supply (PCI Express CEM); a fit does not ask what a drive states.
        PowerStateProfile::limited(25.0, limit.map(|gb_per_s| gb_per_s.is_finite().then_some(1e9 * gb_per_s)))
    }

    fn media(&self, common: &Common) -> MediaProfile {
        let [read, write] = self.full.map(ceiling);
        let fastest = self.full[0].max(self.full[1]);
        let latency = Latency { base_us: 20.0, jitter_us: 5.0 };
        MediaProfile {
            link_bytes_per_s: 1e9 * common.link.unwrap_or(fastest).max(fastest),
            sequential_read: read,
            random_read: read,
            sequential_write: write,
            random_write: write,
            trim_iops: 20_000.0,
            read_latency: latency,
            write_latency: latency,
            wobble: None,
        }
    }

    fn policy(&self, throttle: &Throttle, common: &Common) -> Policy {
        let on = |follows, kelvin| match follows {
            ThresholdSource::Tmt1 if common.hctm => Threshold::Tmt1PlusK(kelvin),
            ThresholdSource::Tmt2 if common.hctm => Threshold::Tmt2PlusK(kelvin),
            ThresholdSource::Tmt1 | ThresholdSource::Tmt2 | ThresholdSource::Own => Threshold::Kelvin(kelvin),
        };
        let cap = |shares: [f64; 2]| {
            let limit = |op: usize| (shares[op] < 1.0).then(|| (1e9 * self.full[op] * shares[op]).max(1e3));
            Cap { read_bytes_per_s: limit(0), write_bytes_per_s: limit(1) }
        };
        let gains = |[share_per_k, share_per_k_s, floor_share]: [f64; 3]| Gains {
            share_per_k,
            share_per_k_s,
            floor_share,
        };
        Policy {
            name: match throttle.follows {
                ThresholdSource::Tmt1 => "TMT1",
                ThresholdSource::Tmt2 => "TMT2",
                ThresholdSource::Own => "firmware threshold",
            }
            .to_owned(),
            ops: match throttle.spares {
                [false, true] => Ops::Read,
                [true, false] => Ops::Write,
                _ => Ops::Both,
            },
            on: on(throttle.follows, throttle.on_k),
            hysteresis_k: throttle.hysteresis_k,
            poll_s: POLL_S,
            dwell_s: 0.0,
            slew_per_s: None,
            only_from_k: None,
            machine: match throttle.act {
                ThrottleAct::Relay(shares) => Machine::Relay(cap(shares)),
                ThrottleAct::TwoLevel { light, heavy_k, heavy } => Machine::TwoLevel(TwoLevel {
                    light: cap(light),
                    heavy_on: on(ThresholdSource::Tmt2, heavy_k),
                    heavy: cap(heavy),
                }),
                ThrottleAct::Regulator(numbers) => Machine::Regulator(gains(numbers)),
                ThrottleAct::DutyCycled(numbers) => {
                    Machine::DutyCycled(DutyCycle { burst_s: BURST_S, gains: gains(numbers) })
                }
                ThrottleAct::Stairs([step_share, each_k, floor_share]) => {
                    Machine::Stairs(Stairs { step_share, each_k, floor_share })
                }
                ThrottleAct::Stop => Machine::Stop {},
            },
        }
    }
}

fn ceiling(gb_per_s: f64) -> Ceiling {
    Ceiling { bytes_per_s: (gb_per_s * 1e9).max(1e3), iops: 1e6 }
}

fn limits(common: &Common) -> Limits {
    let LimitsK { warning_k, critical_k, tmt_min_k, tmt_max_k } = common.limits;
    let whole = |kelvin: Option<f64>, usual: f64| kelvin.unwrap_or(usual).clamp(200.0, 500.0) as u16;
    let wctemp_k = whole(warning_k, 358.0);
    let [tmt1_k, tmt2_k] = common.tmt_k.map(|kelvin| kelvin as u16);
    let mxtmt_k = whole(tmt_max_k, 383.0).max(tmt1_k).max(tmt2_k);
    let mntmt_k = whole(tmt_min_k, 273.0).min(if tmt1_k > 0 { tmt1_k } else { u16::MAX });
    Limits {
        wctemp_k,
        cctemp_k: whole(critical_k, 363.0).max(wctemp_k),
        hctm: common.hctm.then_some(HctmRange {
            mntmt_k,
            mxtmt_k,
            tmt1_k: if tmt2_k > 0 && tmt1_k >= tmt2_k { 0 } else { tmt1_k },
            tmt2_k,
            tmt1_at_mntmt: AtMntmt::Inert,
        }),
        power_control: false,
    }
}

/// Modes as a profile has them; those that add nothing are left out.
fn modes(modes: &[(f64, f64)], resistance: f64) -> Vec<Mode> {
    let kept = modes.iter().filter(|(_, share)| share * resistance >= LEAST_K_PER_W);
    kept.map(|(tau_s, share)| Mode { tau_s: *tau_s, k_per_w: share * resistance }).collect()
}
