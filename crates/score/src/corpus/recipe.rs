//! What a run of the corpus is made of: the drive, the load, and how it was logged.

use measure::Seed;
use measure::record::Op;
use physics::Profile;

use super::draw::CorpusDraw;
use super::foreign::World;

/// What a run shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RecipeKind {
    Relay,
    TwoLevel,
    Regulator,
    DutyCycled,
    Vendor,
    Stop,
    PreLimited,
    HctmAndVendor,
    /// Down a stair every few kelvins.
    Stairs,
    /// Two thresholds of the drive's own.
    Several,
    /// From here on nothing is heat.
    Plain,
    Dips,
    PeriodicDips,
    Wobble,
    SlcCliff,
    RateLimits,
    LinkCeiling,
    PowerState,
    /// A cache that is emptied while it is filled.
    CacheRecovers,
    /// Another job of the host takes a share.
    HostJobs,
}

impl RecipeKind {
    /// Whether heat is meant to slow the drive down.
    pub(crate) const fn is_heat(self) -> bool {
        (self as u8) < (Self::Plain as u8)
    }
}

/// How often each kind is drawn: as many runs without heat as with it.
pub(super) const KINDS: [(RecipeKind, f64); 16] = [
    (RecipeKind::Relay, 9.0),
    (RecipeKind::TwoLevel, 9.0),
    (RecipeKind::Regulator, 8.0),
    (RecipeKind::DutyCycled, 6.0),
    (RecipeKind::Vendor, 9.0),
    (RecipeKind::Stop, 4.0),
    (RecipeKind::PreLimited, 4.0),
    (RecipeKind::HctmAndVendor, 4.0),
    (RecipeKind::Plain, 4.0),
    (RecipeKind::Dips, 8.0),
    (RecipeKind::PeriodicDips, 8.0),
    (RecipeKind::Wobble, 4.0),
    (RecipeKind::SlcCliff, 9.0),
    (RecipeKind::RateLimits, 5.0),
    (RecipeKind::LinkCeiling, 4.0),
    (RecipeKind::PowerState, 5.0),
];

/// What the health log says about throttling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    /// It counts as the specification says.
    Honest,
    /// It shows zeroes, whatever happens.
    Silent,
    /// The log does not have the counters.
    Absent,
    /// They move every half a minute, whatever happens. Not drawn: for tests.
    #[allow(dead_code, reason = "tests make recipes with it")]
    Invented,
}

/// Which temperatures the log has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecipeSensors {
    Composite,
    /// The composite and two more.
    Several,
    /// The composite stands still, a second sensor moves.
    FrozenComposite,
    /// The only one stands still.
    FrozenAlone,
    None,
    /// Several, and the composite shows what the first sensor does. Not drawn: for tests.
    #[allow(dead_code, reason = "tests make recipes with it")]
    Copied,
    /// Several, and the composite stops in the middle of the run. Not drawn: for tests.
    #[allow(dead_code, reason = "tests make recipes with it")]
    Stopping,
}

/// A part of the load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecipeLoad {
    pub(crate) op: Op,
    pub(crate) seconds: f64,
    /// The plan's limit in bytes per second; infinite without one.
    pub(crate) limit: f64,
    /// The power state that is set when it begins.
    pub(crate) power_state: u8,
}

/// How it was logged.
#[derive(Clone, Debug)]
pub(crate) struct Logging {
    pub(crate) interval_s: f64,
    pub(crate) temperature_s: f64,
    /// Temperatures are read this much later than their time says.
    pub(crate) late_s: f64,
    /// Standard deviation of the speed of an interval.
    pub(crate) noise: f64,
    /// Share of intervals that are slow by chance.
    pub(crate) stalls: f64,
    pub(crate) sensors: RecipeSensors,
    pub(crate) counting: Counting,
    pub(crate) settings_known: bool,
    pub(crate) phases_known: bool,
    /// Whether WCTEMP, CCTEMP and the link's rate are known.
    pub(crate) facts_known: bool,
}

/// Everything a run is made from.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) number: u64,
    pub(crate) seed: Seed,
    pub(crate) kind: RecipeKind,
    pub(crate) profile: Profile,
    pub(crate) loads: Vec<RecipeLoad>,
    pub(crate) logging: Logging,
    /// A drive that shares nothing with `physics`; the profile then bears settings alone.
    pub(crate) world: Option<World>,
}

/// From 10 Hz to once a minute, most of it at 1 Hz.
const INTERVALS: [(f64, f64); 8] =
    [(0.1, 14.0), (0.2, 8.0), (0.5, 10.0), (1.0, 46.0), (2.0, 8.0), (5.0, 6.0), (10.0, 4.0), (60.0, 4.0)];

pub(super) fn logging(draw: &mut CorpusDraw, kind: RecipeKind) -> Logging {
    let interval_s = draw.pick(&INTERVALS);
    let coarse = interval_s >= 5.0;
    let temperature_s =
        if coarse { interval_s } else { draw.pick(&[(1.0, 70.0), (2.0, 15.0), (5.0, 10.0), (10.0, 5.0)]) };
    // 0.3 to 4 % over a second; shorter intervals hold fewer I/Os.
    let noise = draw.between(0.003, 0.04) * (1.0f64 / interval_s).sqrt().clamp(0.3, 2.0);
    let known = draw.chance(0.75);
    let counting = match draw.unit() {
        _ if !known => Counting::Absent,
        u if u < 0.65 => Counting::Honest,
        u if u < 0.8 => Counting::Silent,
        _ => Counting::Absent,
    };
    let sensors = draw.pick(&[
        (RecipeSensors::Composite, 60.0),
        (RecipeSensors::Several, 25.0),
        (RecipeSensors::FrozenComposite, 7.0),
        (RecipeSensors::FrozenAlone, 4.0),
        (RecipeSensors::None, 4.0),
    ]);
    Logging {
        interval_s,
        temperature_s,
        late_s: draw.between(-0.3, 0.3),
        noise,
        stalls: if draw.chance(0.5) { 0.0 } else { draw.between(0.0, 0.01) },
        sensors,
        counting,
        settings_known: known,
        // The limits of a plan are only known where its phases are.
        phases_known: kind == RecipeKind::RateLimits || draw.chance(0.7),
        facts_known: draw.chance(0.6),
    }
}
