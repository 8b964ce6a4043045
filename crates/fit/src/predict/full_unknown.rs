//! Loads whose full speed no run showed: heat held them back from their first second on, or they were limited.
//!
//! What such a load comes to where heat does not hold it back is not known, and what was seen of it is no answer.

use super::ForecastCaveat;
use crate::commands::full_speed_plan;
use crate::fitted::Fitted;
use crate::mixed::{SAME_SHARE, SeenMix};
use crate::simulate::{LoadPhase, PhaseOutcome};

/// A load that heat holds back for so much of the time, in the median, is as fast whatever its full speed is.
const ALWAYS: f64 = 0.95;
/// Room for rounding where a limit is held against what was seen, as a share.
const AS_FAST: f64 = 1.005;

/// Whether the full speed of a phase is not known, and what it asks for is more than was seen.
pub(crate) fn full_unknown(fitted: &Fitted, phase: &LoadPhase) -> bool {
    let Some(read) = phase.read_share else { return false };
    let seen = &fitted.seen;
    let ops = [read > 0.0, read < 1.0];
    let alone = (0..2).all(|op| !ops[op] || seen.full[op]);
    let alike = |mix: &SeenMix| mix.full && (mix.read_share - read).abs() < SAME_SHARE;
    let as_slow = |[reads, writes]: [f64; 2]| {
        let gb_per_s = phase.limit_bytes_per_s / 1e9;
        read * gb_per_s <= AS_FAST * reads && (1.0 - read) * gb_per_s <= AS_FAST * writes
    };
    !alone && !seen.mixes.iter().any(alike) && !reached(fitted).into_iter().any(as_slow)
}

/// Speeds that runs reached: reading, writing.
fn reached(fitted: &Fitted) -> Vec<[f64; 2]> {
    let mixes = fitted.seen.mixes.iter();
    let mut reached: Vec<[f64; 2]> =
        mixes.map(|mix| [mix.read_share, 1.0 - mix.read_share].map(|share| share * mix.gb_per_s)).collect();
    for op in 0..2 {
        // Without a run of it alone its speed stands for what the mixes show.
        let alone = fitted.seen.full[op] || fitted.seen.mixes.is_empty();
        let mut only = [0.0; 2];
        only[op] = if alone { fitted.best.full[op] } else { 0.0 };
        reached.push(only);
    }
    reached
}

/// The same for a phase of which the samples come to `of`.
pub(crate) fn is_open(fitted: &Fitted, phase: &LoadPhase, of: &[PhaseOutcome]) -> bool {
    let held = of.iter().filter(|outcome| outcome.throttled_share > ALWAYS).count();
    2 * held <= of.len() && full_unknown(fitted, phase)
}

/// What a phase does, as a sentence names it; `None` at rest.
pub(crate) fn words(phase: &LoadPhase) -> Option<&'static str> {
    Some(match phase.read_share? {
        read if read >= 1.0 => "reads",
        read if read <= 0.0 => "writes",
        _ => "reads and writes at once",
    })
}

/// What is not known of these phases, and the run that shows it; the first is the one whose speed is open.
pub(crate) fn caveat(fitted: &Fitted, load: &[LoadPhase], open: &[&str]) -> Option<ForecastCaveat> {
    let first = load.iter().find(|phase| Some(&phase.name.as_str()) == open.first())?;
    let word = words(first)?;
    let text = format!(
        "Not known: {}. No fitted run shows the full speed of {word}: heat or a limit held them back all along. `{}`, from a cool \
         drive, shows it; fit that run too.",
        open.join(", "),
        full_speed_plan(&fitted.seen, &fitted.common)
    );
    Some(ForecastCaveat { kind: "full_speed_unknown", text })
}

/// The same of the first phase of a load whose full speed is not known, with all that follows it.
pub(crate) fn of_load(fitted: &Fitted, load: &[LoadPhase]) -> Option<ForecastCaveat> {
    let at = load.iter().position(|phase| full_unknown(fitted, phase))?;
    let open: Vec<&str> = load[at..].iter().map(|phase| phase.name.as_str()).collect();
    caveat(fitted, load, &open)
}
