//! A sweep: one plan under several settings, one run each, with the drive brought back in between.
//!
//! It is data, like the plan it belongs to. Each setting makes a plan of its own ([`Plan::with_setting`]) that is
//! kept in that setting's record and can be run alone; what happens in between is a plan too
//! ([`Plan::between`]), so that a sweep does nothing to a drive that a plan could not do.
//!
//! # What it does not do
//! It runs nothing. Surroundings ([`SweepSetting::link`], [`SweepSetting::ambient`]) cannot be set on a real drive; who
//! opens the target refuses them there.

use std::time::Duration;

use measure::record::ThermalSettings;
use measure::{BytesPerSec, Celsius, Kelvin, parse};
use serde::{Deserialize, Serialize};

use crate::toml::quantity::{elements, optional, period};
use crate::toml::settings::SettingTable;

use super::{Load, Mix, Order, Phase, Plan, PlanError, Sizes};

/// Longest wait for a drive to cool: five times the slowest time constant of an M.2 drive in a case (170 s)
/// and a half again; a drive in a closed USB case needs more and has to be given more.
const COOL_AT_MOST: Duration = Duration::from_secs(30 * 60);

const fn cool_at_most() -> Duration {
    COOL_AT_MOST
}

/// One command deallocates this much. As large as the length of an I/O allows and still a multiple of every
/// block size; what is left over at the end of a drive is less than a second's worth of writes.
const DEALLOCATE_BYTES: u32 = 64 << 20;

/// One plan under several settings.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// One run each, in this order.
    #[serde(rename = "setting", deserialize_with = "elements")]
    pub settings: Vec<SweepSetting>,
    /// Deallocate the whole target before every run but the first.
    #[serde(default)]
    pub deallocate: bool,
    /// Wait before every run but the first until the composite is as low as this; `None` is where the first
    /// run began, and 1 K more.
    #[serde(default, with = "optional")]
    pub cool_to: Option<Kelvin>,
    /// Do not wait longer than this.
    #[serde(default = "cool_at_most", with = "period")]
    pub cool_at_most: Duration,
}

/// What one run of a sweep has that the others have not.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(from = "SettingTable", into = "SettingTable")]
pub struct SweepSetting {
    /// Its name, for people and for its run folder.
    pub name: String,
    /// Settings of the drive; what is empty is as the plan has it.
    pub thermal: ThermalSettings,
    /// Limit of every load, all its threads together; `None` is as the plan has it.
    pub rate: Option<BytesPerSec>,
    /// What the link carries. Only a simulated drive can be put on another link.
    pub link: Option<BytesPerSec>,
    /// Temperature of the air. Only a simulated drive can be put into another room.
    pub ambient: Option<Celsius>,
}

impl Sweep {
    /// A sweep over `settings`, which does not deallocate and waits as long as is usual.
    pub const fn new(settings: Vec<SweepSetting>) -> Self {
        Self { settings, deallocate: false, cool_to: None, cool_at_most: COOL_AT_MOST }
    }

    /// Whether some setting is about the drive's surroundings, which only a simulated drive can change.
    pub fn changes_surroundings(&self) -> bool {
        self.settings.iter().any(|setting| setting.link.is_some() || setting.ambient.is_some())
    }

    /// A sweep from what was typed: `tmt=default,70C/80C`, `power-state=0,5,7`, `rate=default,400MB/s`,
    /// `link=500MB/s,1GB/s`, `ambient=20C,35C`. Writes nothing between the runs.
    ///
    /// # Errors
    /// A sentence that says what is wrong and how it is written.
    pub fn parse(typed: &str) -> Result<Self, String> {
        const FORMS: &str = "write for example tmt=default,65C/70C,60C/70C, power-state=0,5,7, \
                             rate=default,400MB/s, link=500MB/s,1GB/s or ambient=20C,35C";
        let (axis, values) =
            typed.split_once('=').ok_or_else(|| format!("{typed:?} names nothing to sweep over; {FORMS}"))?;
        let one: fn(&str) -> Result<SweepSetting, String> = match axis.trim() {
            "tmt" => tmt,
            "power-state" => power_state,
            "rate" => rate,
            "link" => link,
            "ambient" => ambient,
            other => return Err(format!("{other:?} cannot be swept over; {FORMS}")),
        };
        let settings: Vec<SweepSetting> = values
            .split(',')
            .map(|value| one(value.trim()).map(SweepSetting::named))
            .collect::<Result<_, _>>()?;
        Ok(Self::new(settings))
    }
}

fn tmt(typed: &str) -> Result<SweepSetting, String> {
    if typed == "default" {
        return Ok(SweepSetting::default());
    }
    let (tmt1, tmt2) =
        typed.split_once('/').ok_or_else(|| format!("{typed:?} is no pair TMT1/TMT2 such as 65C/70C"))?;
    // NVMe feature 10h: a zero in either half disables that half.
    let kelvin = |typed: &str| match typed {
        "off" => Ok(0),
        typed => parse::temperature(typed).map(Kelvin::as_kelvin).map_err(|error| error.to_string()),
    };
    let thermal =
        ThermalSettings { tmt1_k: Some(kelvin(tmt1)?), tmt2_k: Some(kelvin(tmt2)?), power_state: None };
    Ok(SweepSetting { thermal, ..SweepSetting::default() })
}

fn power_state(typed: &str) -> Result<SweepSetting, String> {
    // NVMe feature 02h, bits 4:0.
    let state = typed.parse().ok().filter(|state| *state < 32);
    let state: u8 = state.ok_or_else(|| format!("{typed:?} is no power state: NVMe has 0 to 31"))?;
    let thermal = ThermalSettings { power_state: Some(state), ..ThermalSettings::default() };
    Ok(SweepSetting { thermal, ..SweepSetting::default() })
}

fn rate(typed: &str) -> Result<SweepSetting, String> {
    if typed == "default" {
        return Ok(SweepSetting::default());
    }
    let rate = parse::rate(typed).map_err(|error| error.to_string())?;
    Ok(SweepSetting { rate: Some(rate), ..SweepSetting::default() })
}

fn link(typed: &str) -> Result<SweepSetting, String> {
    let rate = parse::rate(typed).map_err(|error| error.to_string())?;
    Ok(SweepSetting { link: Some(rate), ..SweepSetting::default() })
}

fn ambient(typed: &str) -> Result<SweepSetting, String> {
    let ambient = parse::celsius(typed).map_err(|error| error.to_string())?;
    Ok(SweepSetting { ambient: Some(ambient), ..SweepSetting::default() })
}

impl SweepSetting {
    /// With the name that says what it sets, where it has none.
    #[must_use]
    pub fn named(mut self) -> Self {
        if self.name.is_empty() {
            self.name = self.what();
        }
        self
    }

    fn what(&self) -> String {
        let degrees = |kelvin: u16| match kelvin {
            0 => "off".to_owned(),
            kelvin => Kelvin::from_kelvin(kelvin).as_whole_celsius().to_string(),
        };
        let mut parts = Vec::new();
        match (self.thermal.tmt1_k, self.thermal.tmt2_k) {
            (Some(tmt1), Some(tmt2)) => parts.push(format!("TMT {}/{}", degrees(tmt1), degrees(tmt2))),
            (Some(tmt1), None) => parts.push(format!("TMT1 {}", degrees(tmt1))),
            (None, Some(tmt2)) => parts.push(format!("TMT2 {}", degrees(tmt2))),
            (None, None) => {}
        }
        parts.extend(self.thermal.power_state.map(|state| format!("PS{state}")));
        parts.extend(self.rate.map(|rate| format!("rate {rate}")));
        parts.extend(self.link.map(|link| format!("link {link}")));
        parts.extend(self.ambient.map(|ambient| format!("ambient {}", ambient.brief())));
        if parts.is_empty() { "default".to_owned() } else { parts.join(", ") }
    }
}

impl Plan {
    /// The plan of one setting: the same without its sweep, with that setting made.
    #[must_use]
    pub fn with_setting(&self, setting: &SweepSetting) -> Self {
        let SweepSetting { name, thermal, rate, .. } = setting;
        let settings = ThermalSettings {
            tmt1_k: thermal.tmt1_k.or(self.settings.tmt1_k),
            tmt2_k: thermal.tmt2_k.or(self.settings.tmt2_k),
            power_state: thermal.power_state.or(self.settings.power_state),
        };
        let mut notes = self.notes.clone();
        notes.push(format!("one setting of a sweep: {name}"));
        let mut phases = self.phases.clone();
        for load in phases.iter_mut().flat_map(|phase| &mut phase.loads) {
            // A load that the plan holds lower already stays there.
            load.rate = match (load.rate, *rate) {
                (Some(own), Some(limit)) if own.as_f64() < limit.as_f64() => Some(own),
                (own, limit) => limit.or(own),
            };
        }
        Self { sweep: None, settings, notes, phases, ..self.clone() }
    }

    /// What brings the drive back before the next run of `sweep`: deallocates, if asked, and rests until the
    /// composite is `cool_to` or less.
    #[must_use]
    pub fn between(&self, sweep: &Sweep, cool_to: Kelvin) -> Self {
        let mut plan = Self {
            description: "Between two runs of a sweep: brings the drive back".to_owned(),
            interval: Duration::from_secs(1),
            seed: self.seed,
            telemetry: self.telemetry.clone(),
            stop_at: self.stop_at,
            stop_unwatched: self.stop_unwatched,
            drive: self.drive.clone(),
            ..Self::new("between")
        };
        if sweep.deallocate {
            let mut load =
                Load::new("deallocate", Order::Sequential, Mix::TRIM, Sizes::Fixed(DEALLOCATE_BYTES));
            load.laps = Some(1);
            plan.phases.push(Phase {
                name: load.name.clone(),
                loads: vec![load],
                duration: None,
                ..Phase::idle("", Duration::ZERO)
            });
        }
        let cool = Phase::idle("cool down", sweep.cool_at_most);
        plan.phases.push(Phase { until_below: Some(cool_to), ..cool });
        plan
    }
}

/// Whether a sweep is one: refuses what would be no comparison.
///
/// # Errors
/// [`PlanError::Unfit`] with what is wrong.
pub(super) fn check(plan: &Plan, sweep: &Sweep) -> Result<(), PlanError> {
    let unfit = |why: String| PlanError::Unfit { plan: plan.name.clone(), phase: None, why };
    if sweep.settings.len() < 2 {
        return Err(unfit(format!(
            "its sweep has {} settings; a comparison needs two or more",
            sweep.settings.len()
        )));
    }
    if sweep.cool_at_most.is_zero() {
        return Err(unfit("its sweep waits no time for the drive to cool; 30m is usual".to_owned()));
    }
    for (index, setting) in sweep.settings.iter().enumerate() {
        if sweep.settings[..index].iter().any(|other| other.name == setting.name) {
            return Err(unfit(format!("two settings of its sweep are called {:?}", setting.name)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::Plan;

    #[test]
    fn what_is_typed_becomes_settings_with_names() {
        let names = |typed: &str| {
            let sweep = Sweep::parse(typed).unwrap_or_else(|why| panic!("{typed}: {why}"));
            sweep.settings.into_iter().map(|setting| setting.name).collect::<Vec<_>>()
        };
        assert_eq!(names("tmt=default,65C/70C,off/75C"), ["default", "TMT 65/70", "TMT off/75"]);
        assert_eq!(names("power-state=0,5"), ["PS0", "PS5"]);
        assert_eq!(names("rate=default,400MB/s"), ["default", "rate 400 MB/s"]);
        assert_eq!(names("link=500MB/s, 1GB/s"), ["link 500 MB/s", "link 1.00 GB/s"]);
        assert_eq!(names("ambient=20C,308K"), ["ambient 20 °C", "ambient 34.85 °C"]);
    }

    #[test]
    fn what_is_not_understood_is_refused_with_an_example() {
        for (typed, part) in [
            ("tmt", "names nothing to sweep over"),
            ("fan=1,2", "cannot be swept over"),
            ("tmt=65C", "no pair"),
            ("tmt=65/70", "65"),
            ("power-state=32", "0 to 31"),
            ("link=0B/s", "moves nothing"),
            ("ambient=warm", "warm"),
            ("rate=fast", "fast"),
        ] {
            let why = Sweep::parse(typed).expect_err(typed);
            assert!(why.contains(part), "{part:?} is missing in {why:?}");
        }
    }

    /// Goal: what is kept in a record can be run alone, and says that it belonged to a sweep.
    #[test]
    fn a_setting_makes_a_plan_without_a_sweep() {
        let mut plan = Plan::builtin("hctm-sweep").expect("built in");
        plan.settings.power_state = Some(2);
        let sweep = plan.sweep.clone().expect("it sweeps");
        let one = plan.with_setting(&sweep.settings[1]);
        assert_eq!(one.sweep, None);
        assert_eq!(one.phases, plan.phases);
        assert_eq!(one.settings.power_state, Some(2));
        assert_eq!(one.settings.tmt1_k, sweep.settings[1].thermal.tmt1_k);
        assert!(one.notes.last().is_some_and(|note| note.contains(&sweep.settings[1].name)));
    }

    /// Goal: a rate holds every load, and none that the plan holds lower is let faster.
    #[test]
    fn a_rate_holds_every_load() {
        let mut plan = Plan::builtin("hctm-sweep").expect("built in");
        plan.phases[0].loads[0].rate = Some(BytesPerSec::new(1e8));
        let setting = |typed| Sweep::parse(typed).expect("two settings").settings.remove(0);
        let rates = |plan: &Plan| -> Vec<Option<BytesPerSec>> {
            plan.phases.iter().flat_map(|phase| &phase.loads).map(|load| load.rate).collect()
        };
        let held = plan.with_setting(&setting("rate=400MB/s,700MB/s"));
        let expected: Vec<_> = (0..rates(&plan).len())
            .map(|load| Some(BytesPerSec::new(if load == 0 { 1e8 } else { 4e8 })))
            .collect();
        assert_eq!(rates(&held), expected);
        assert_eq!(plan.with_setting(&setting("rate=default,700MB/s")).phases, plan.phases);
    }

    #[test]
    fn in_between_the_drive_is_deallocated_and_cooled() {
        let plan = Plan::new("x");
        let mut sweep = Sweep::new(Vec::new());
        let cool_to = Kelvin::from_kelvin(318);
        assert_eq!(plan.between(&sweep, cool_to).phases.len(), 1, "deallocating has to be asked for");
        sweep.deallocate = true;
        let between = plan.between(&sweep, cool_to);
        assert_eq!(between.phases[0].loads[0].mix, Mix::TRIM);
        assert_eq!(between.phases[1].until_below, Some(cool_to));
        assert_eq!(between.phases[1].duration, Some(COOL_AT_MOST));
    }

    #[test]
    fn a_sweep_that_compares_nothing_is_refused() {
        let plan = Plan::new("x");
        let one = SweepSetting::default().named();
        let error = |settings: Vec<SweepSetting>| {
            check(&plan, &Sweep::new(settings)).expect_err("no comparison").to_string()
        };
        assert!(error(vec![one.clone()]).contains("1 settings"));
        assert!(error(vec![one.clone(), one]).contains("\"default\""));
    }
}
