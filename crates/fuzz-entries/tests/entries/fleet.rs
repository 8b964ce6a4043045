//! The entry for states of a fleet's drives, on noise and on spoilt states.

use crate::shared::{assert_targets, enter_all, spoilt};
use entries::ENTRIES;
use fleet_state::{HealthCounter, HealthRow, IntervalRules, ThermalState};
use fuzz_entries::fleet as entries;
use proptest::prelude::*;

/// A state of some stretches, without its version byte.
fn good() -> Vec<Vec<u8>> {
    let mut state = ThermalState::default();
    for minute in [0i64, 1, 2, 300, 301, 900] {
        let row = HealthRow::new(minute * 60_000)
            .with_temp_mc(70_000)
            .with(HealthCounter::Tmt1Seconds, minute)
            .with(HealthCounter::Tmt1Transitions, minute / 2);
        state.push(["M", "F", "h", "1"], &row, &IntervalRules { cadence_ms: 60_000 });
    }
    vec![state.encode().split_off(1), ThermalState::default().encode().split_off(1)]
}

#[test]
fn targets_and_entries_are_the_same() {
    assert_targets(&["fleet_"], ENTRIES);
}

#[test]
fn entries_hold_on_good_states_and_on_nothing() {
    enter_all(ENTRIES, &[]);
    good().iter().for_each(|bytes| enter_all(ENTRIES, bytes));
}

proptest! {
    #[test]
    fn entries_hold_on_noise(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        enter_all(ENTRIES, &bytes);
    }

    #[test]
    fn entries_hold_on_spoilt_states(bytes in spoilt(good())) {
        enter_all(ENTRIES, &bytes);
    }
}
