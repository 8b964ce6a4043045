//! Loads of which the runs say nothing: a forecast leaves them open, and all that follows them.
//!
//! What a drive does under them is not guessed from other loads. What would tell it is named.

use crate::commands::THERMAL_ID;
use crate::fitted::{Fitted, SeenRange};
use crate::predict::scenario::{Scenario, set_up};
use crate::predict::{ForecastCaveat, full_speed};
use crate::sample::{Common, ThresholdSource};
use crate::simulate::{LoadPhase, phase_seconds};

/// The smallest I/O that a drive takes as fast as large ones, in bytes.
const LARGE_IO: u32 = 128 << 10;
/// Bytes in flight with which a drive is about as fast as it goes: of fewer its latency decides, which no fit knows.
const DEEP_BYTES: u64 = 1 << 20;
/// A region up to this is taken for one within the write cache where nothing says how large the cache is: what plans were
/// given for caches, and what a twin without one is given.
const USUAL_CACHE: u64 = 64 << 30;

/// Why a load is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoadUnknown {
    /// Random, small or shallow I/O: the runs are large and sequential.
    Access,
    /// Some of its loads have a rate and others none.
    Ratio,
    /// It writes more than the runs show before the write cache is full.
    CacheEnd,
    /// It goes over the whole drive, whose size no run says.
    Size,
}

/// The first phase of which the runs say nothing, and why. What comes after it begins at a temperature that is not known.
pub(crate) fn first_unknown(fitted: &Fitted, load: &[LoadPhase]) -> Option<usize> {
    unknown(fitted, load).map(|(at, _)| at)
}

fn unknown(fitted: &Fitted, load: &[LoadPhase]) -> Option<(usize, LoadUnknown)> {
    let mut written = 0.0;
    load.iter().enumerate().find_map(|(at, phase)| {
        let read = phase.read_share?;
        let in_flight = u64::from(phase.depth) * u64::from(phase.io_bytes);
        let shallow = in_flight < DEEP_BYTES && phase.limit_bytes_per_s.is_infinite();
        let why = if !phase.sequential || phase.io_bytes < LARGE_IO || shallow {
            Some(LoadUnknown::Access)
        } else if phase.ratio_moves {
            Some(LoadUnknown::Ratio)
        } else if phase.bytes.is_some_and(f64::is_infinite) {
            Some(LoadUnknown::Size)
        } else {
            let most = cache_bytes(&fitted.common, &fitted.seen);
            if phase.region_bytes as f64 > most {
                written += written_bytes(fitted, phase, 1.0 - read);
            }
            (fitted.common.cache.is_none() && written > most).then_some(LoadUnknown::CacheEnd)
        };
        why.map(|why| (at, why))
    })
}

/// So much may be written before what the runs show ends.
fn cache_bytes(common: &Common, seen: &SeenRange) -> f64 {
    let unstated = (USUAL_CACHE as f64).max(seen.written_bytes);
    common.stated_cache_bytes.map_or(unstated, |bytes| bytes as f64)
}

/// What a phase writes at most.
fn written_bytes(fitted: &Fitted, phase: &LoadPhase, share: f64) -> f64 {
    let moved = full_speed(&fitted.best, fitted, phase) * phase.seconds as f64;
    share * moved.min(phase.bytes.unwrap_or(f64::INFINITY))
}

/// What is not known of the load, and the command that shows it.
pub(crate) fn load_caveat(fitted: &Fitted, load: &[LoadPhase]) -> Option<ForecastCaveat> {
    let (at, why) = unknown(fitted, load)?;
    let name = &load[at].name;
    let after: Vec<&str> = load[at + 1..].iter().map(|phase| phase.name.as_str()).collect();
    let after = match after.as_slice() {
        [] => String::new(),
        after => format!(" What follows begins as warm as that leaves the drive: {}.", after.join(", ")),
    };
    let (kind, text) = match why {
        LoadUnknown::Access => (
            "other_load",
            format!(
                "Not known: {name}. The fit knows large sequential I/O in a deep queue; random, small or shallow I/O has another \
                 full speed and heats otherwise. `heatsoak run PLAN --drive DRIVE` measures it."
            ),
        ),
        LoadUnknown::Ratio => (
            "ratio_unknown",
            format!(
                "Not known: {name}. Some of its loads at once have a rate and others none, so their ratio moves with the speed, and \
                 the fit knows mixes of one ratio. `heatsoak run PLAN --drive DRIVE` measures it; with a rate for each load it is \
                 forecast."
            ),
        ),
        LoadUnknown::CacheEnd => {
            let most = measure::Bytes::new(cache_bytes(&fitted.common, &fitted.seen) as u64).decimal();
            let shown = match fitted.common.stated_cache_bytes {
                Some(_) => format!("The SLC cache has {most}, and no fitted run shows the speed behind it"),
                None => format!("No fitted run shows where the SLC cache ends; they wrote up to {most}"),
            };
            (
                "cache_unknown",
                format!(
                    "Not known: {name}. {shown}: `heatsoak run full-span --drive DRIVE` shows it; fit that run too."
                ),
            )
        }
        LoadUnknown::Size => (
            "size_unknown",
            format!(
                "Not known: {name}. It goes over the whole drive, whose size no fitted run recorded; `{THERMAL_ID}` \
                 records it."
            ),
        ),
    };
    Some(ForecastCaveat { kind, text: text + &after })
}

/// What is known of a threshold that no run shows act: when the drive is there. `at` is the first phase in which it is.
pub(crate) fn tmt_caveat(
    fitted: &Fitted,
    scenario: &Scenario,
    load: &[LoadPhase],
    at: usize,
) -> ForecastCaveat {
    let seen = |follows| fitted.best.throttles.iter().any(|throttle| throttle.follows == follows);
    let asked = [("TMT1", ThresholdSource::Tmt1), ("TMT2", ThresholdSource::Tmt2)];
    let sets = asked.into_iter().zip(scenario.tmt_k).filter_map(|((name, follows), set_k)| {
        set_k.filter(|set_k| *set_k > 0 && !seen(follows)).map(|set_k| (name, set_k))
    });
    let Some((name, set_k)) = sets.min_by_key(|(_, set_k)| *set_k) else {
        return ForecastCaveat { kind: "tmt_unknown", text: unshown("TMT1 or TMT2 do", "", "") };
    };
    let degrees = i32::from(set_k) - 273;
    let mut drive = set_up(fitted, scenario, &fitted.best);
    let seconds: Vec<_> = load[..=at].iter().map(|phase| phase_seconds(&mut drive, phase)).collect();
    let phase = &load[at];
    let reached = seconds.last().and_then(|seconds| {
        let reached = seconds.iter().position(|second| second.kelvin >= f64::from(set_k))?;
        let bytes: f64 = seconds[..=reached].iter().map(|second| second.bytes).sum();
        Some((reached, bytes / (reached + 1) as f64 / 1e9))
    });
    let until = match reached {
        Some((0, _)) => format!(" It is as warm when phase {} begins.", phase.name),
        Some((reached, gb_per_s)) => format!(
            " Phase {} reaches {degrees} °C after about {reached} s, at {gb_per_s:.2} GB/s until then.",
            phase.name
        ),
        None => format!(" Phase {} comes within 2 K of it.", phase.name),
    };
    let option = format!(" --{} {degrees}C", name.to_lowercase());
    ForecastCaveat {
        kind: "tmt_unknown",
        text: unshown(&format!("{name} does at {degrees} °C"), &until, &option),
    }
}

fn unshown(what: &str, until: &str, option: &str) -> String {
    format!("No fitted run shows what {what}.{until} `{THERMAL_ID}{option}` shows it; fit that run too.")
}
