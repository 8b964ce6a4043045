//! The manifest of a run that has not begun.

use measure::record::{ClockAnchor, DriveFacts, Manifest, Origin, PhaseFacts, SCHEMA, SettingsFacts};

use drive::telemetry::power;

use super::guard::thermal_limit;
use plan::{Phase, Plan};

/// The manifest of `plan` on a drive, before the run.
///
/// The caller may add what it knows of host and link. Times, phases, settings and the end are filled in by the
/// session; the clock anchor only in real time, simulated runs start at the beginning of 1970.
pub fn draft_manifest(plan: &Plan, address: &str, origin: Origin, drive: DriveFacts) -> Manifest {
    Manifest {
        schema: SCHEMA,
        heatsoak_version: env!("CARGO_PKG_VERSION").to_owned(),
        origin,
        address: address.to_owned(),
        stop_at_k: Some(thermal_limit(plan, &drive).as_kelvin()),
        drive,
        plan_name: plan.name.clone(),
        plan_toml: plan.to_toml(),
        interval_ns: plan.interval.as_nanos() as u64,
        phases: phases(plan),
        settings: SettingsFacts::default(),
        host: None,
        link: None,
        link_end: None,
        ambient_k: None,
        meters: power::facts(&plan.telemetry.power),
        power_baseline: None,
        rated_write_bytes: None,
        switched_on: false,
        answers: Vec::new(),
        clock_anchor: ClockAnchor { wall_unix_ns: 0, monotonic_ns: None },
        transport_events: Vec::new(),
        governor: None,
        notes: plan.notes.clone(),
        end: None,
    }
}

/// What the manifest keeps of the phases, with the rounds they belong to.
fn phases(plan: &Plan) -> Vec<PhaseFacts> {
    let facts = |(index, phase): (usize, &Phase)| PhaseFacts {
        round: plan.rounds.as_ref().and_then(|rounds| rounds.round_of(index)),
        tracked: plan.rounds.as_ref().is_some_and(|rounds| rounds.is_tracked(index)),
        ..phase.facts()
    };
    plan.phases.iter().enumerate().map(facts).collect()
}
