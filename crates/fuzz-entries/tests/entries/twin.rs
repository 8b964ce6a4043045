//! The entries of the fuzz targets of the controller, run on noise in every test run.
//!
//! Goal: every accepted command of a controller ends exactly once, whatever hosts, people and the
//! network do; no panic; what waits is bounded.

use crate::shared::{assert_targets, enter_all};
use entries::ENTRIES;
use fuzz_entries::twin as entries;
use proptest::prelude::*;

#[test]
fn targets_and_entries_are_the_same() {
    assert_targets(&["twin_"], ENTRIES);
}

/// Noise after a beginning that gets somewhere: an admin queue, enabled, and two I/O queues.
fn connected(noise: &[u8]) -> Vec<u8> {
    let admin = [1, 0, 15, 0, 0, 7, 0];
    let io = |queue_id| [1, 1, queue_id, 15, 0, 0, 0];
    [&admin[..], &io(1), &io(2), noise].concat()
}

#[test]
fn entries_hold_on_nothing() {
    enter_all(ENTRIES, &[]);
    enter_all(ENTRIES, &connected(&[]));
}

/// Goal: streams get past the gates. The beginning enables a controller; a read of one block on the
/// first I/O queue, then a second of time.
#[test]
fn a_stream_gets_somewhere() {
    let read = [1, 3, 1, 2, 0, 3, 3, 3, 3, 3, 3, 1];
    let a_second = [1, 11, 30];
    let stream = [&read[..], &a_second].concat();
    assert_eq!(entries::answered(&connected(&stream)), 2);
}

/// Goal: noise exercises more than refusals. The numbers are those of one fixed noise; far fewer
/// answers would mean that the entry no longer understands its own streams.
#[test]
fn noise_gets_somewhere_too() {
    let mut state = 1_u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let mut noise = || connected(&(0..2000).map(|_| byte()).collect::<Vec<_>>());
    let answered: u64 = (0..50).map(|_| entries::answered(&noise())).sum();
    assert!(answered > 500, "{answered} commands succeeded");
}

#[test]
fn a_state_of_another_drive_is_no_reason_not_to_start() {
    let text = r#"{"schema": 1, "power_cycles": 3, "features": [
        {"fid": 16, "value": 4294967295}, {"fid": 4, "selector": 250, "value": 9},
        {"fid": 12, "value": 1, "table": [1, 2]}, {"fid": 99, "value": 1}]}"#;
    entries::saved_state(text.as_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn entries_hold_on_noise(noise in prop::collection::vec(any::<u8>(), 0..3000)) {
        enter_all(ENTRIES, &noise);
        enter_all(ENTRIES, &connected(&noise));
    }
}
