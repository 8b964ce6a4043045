//! Entry for the state of a fleet's drive.
//!
//! The law: any bytes become a state or an error; a state is written back as bytes that are the same state, merges with
//! itself in either order to the same result, and ends without a panic.

use crate::FuzzEntry;
use fleet_state::{IntervalRules, STATE_VERSION, ThermalState};

/// Every entry by the name of its fuzz target.
pub const ENTRIES: &[FuzzEntry] = &[("fleet_state", state)];

/// Bytes behind a version byte that is ours.
pub fn state(data: &[u8]) {
    let bytes: Vec<u8> = std::iter::once(STATE_VERSION).chain(data.iter().copied()).collect();
    let Ok(state) = ThermalState::decode(&bytes) else { return };
    assert_eq!(ThermalState::decode(&state.encode()).as_ref(), Ok(&state), "written and read again");
    let rules = IntervalRules { cadence_ms: 60_000 };
    let (mut one, mut other) = (state.clone(), ThermalState::default());
    one.merge(ThermalState::default());
    other.merge(state);
    assert_eq!(one.finish(&rules), other.finish(&rules), "merged in either order");
}
