//! One simulated drive a policy class: the analysis of a run on it has to find what its profile says.

use analysis::findings::{Cause, EventKind, Label, PolicyClass};

use crate::known::{profile, tmt1_k, twin_findings, within, within_a_kelvin};

/// A minute of rest, then reading at full speed until long after everything has settled.
const READ: &str = r#"
[[phase]]
name = "rest"
op = "idle"
duration = "1m"

[[phase]]
name = "read"
op = "read"
block_size = "1MiB"
depth = 64
region = { start = "0B", len = "64GiB" }
duration = "15m"
"#;

/// Writes past the end of the fast write cache.
const WRITE: &str = r#"
[[phase]]
name = "write"
op = "write"
block_size = "1MiB"
depth = 64
region = { start = "0B", len = "400GiB" }
duration = "3m"
"#;

#[test]
fn a_relay_is_found_with_both_its_thresholds_and_its_floor() {
    let found = twin_findings("relay", READ);
    assert_eq!(found.policy.class, PolicyClass::Relay, "{:?}", found.policy);
    let (on_k, hysteresis_k) = (tmt1_k("relay"), profile("relay").policy[0].hysteresis_k);
    within_a_kelvin(found.policy.onset_k, on_k, "onset");
    within_a_kelvin(found.policy.release_k, on_k - hysteresis_k, "release");
    within(found.policy.floor_bytes_per_s, 3.0e8, 0.05, "floor");
    let onsets = found.events.iter().filter(|e| e.kind == EventKind::ThrottleOnset);
    assert!(onsets.clone().count() >= 3, "a cycle: {:?}", found.events);
    assert!(onsets.clone().all(|e| e.cause == Cause::HctmTmt1), "{:?}", found.events);
}

#[test]
fn a_two_level_latch_is_told_from_a_relay() {
    let found = twin_findings("two-level", READ);
    assert_eq!(found.policy.class, PolicyClass::TwoLevel, "{:?}", found.policy);
    let hctm = profile("two-level").limits.hctm.expect("it has HCTM");
    let hysteresis_k = profile("two-level").policy[0].hysteresis_k;
    within_a_kelvin(found.policy.onset_k, hctm.tmt1_k.into(), "onset");
    within_a_kelvin(found.policy.release_k, f64::from(hctm.tmt1_k) - hysteresis_k, "release");
    within(found.policy.floor_bytes_per_s, 2.2e9, 0.05, "floor");
    // Each level at its threshold, down to its speed: 2.2 of 3.0 GB/s, then 100 MB/s.
    assert_eq!(found.policy.levels.len(), 2, "{:?}", found.policy);
    for (level, (cause, threshold_k, speed, strength)) in found.policy.levels.iter().zip([
        (Cause::HctmTmt1, hctm.tmt1_k, 2.2e9, 2.2 / 3.0),
        (Cause::HctmTmt2, hctm.tmt2_k, 1.0e8, 0.1 / 2.2),
    ]) {
        assert_eq!(level.cause, cause, "{:?}", found.policy);
        within_a_kelvin(level.onset_k, threshold_k.into(), "onset of a level");
        within_a_kelvin(level.release_k, f64::from(hctm.tmt1_k) - hysteresis_k, "release of a level");
        within(level.floor_bytes_per_s, speed, 0.05, "floor of a level");
        let onsets = found.events.iter().filter(|e| e.kind == EventKind::ThrottleOnset && e.cause == cause);
        assert!(onsets.clone().count() >= 3, "{cause:?}: {:?}", found.events);
        for onset in onsets {
            within_a_kelvin(onset.temp_k, threshold_k.into(), "onset of a level");
            within(onset.strength, strength, 0.05, "strength of a level");
        }
    }
}

#[test]
fn a_regulator_is_found_where_it_holds_the_temperature() {
    let found = twin_findings("regulator", READ);
    assert_eq!(found.policy.class, PolicyClass::Regulator, "{:?}", found.policy);
    let last = found.segments.last().expect("a segment");
    assert_eq!(last.label, Label::Throttled, "{last:?}");
    within_a_kelvin(last.temp_end_k, tmt1_k("regulator") - 1.0, "held temperature");
}

#[test]
fn a_duty_cycled_regulator_is_told_from_a_smooth_one() {
    let found = twin_findings("duty-cycled", READ);
    assert_eq!(found.policy.class, PolicyClass::DutyCycled, "{:?}", found.policy);
}

#[test]
fn a_vendors_own_threshold_is_found_without_any_setting() {
    let found = twin_findings("vendor", READ);
    assert_eq!(found.policy.class, PolicyClass::Vendor, "{:?}", found.policy);
    within_a_kelvin(found.policy.onset_k, 348.0, "onset");
    within(found.policy.floor_bytes_per_s, 2.2e9, 0.05, "floor");
    let onset = found.events.iter().find(|e| e.kind == EventKind::ThrottleOnset).expect("an onset");
    assert_eq!(onset.cause, Cause::Vendor);
    within(onset.strength, 2.2 / 3.0, 0.05, "strength");
}

#[test]
fn a_drive_that_stops_is_found_with_both_its_thresholds() {
    let found = twin_findings("stop", READ);
    // A threshold of the vendor's own, and all I/O stops at it: both are so, in whatever order they are told.
    for class in [PolicyClass::Stop, PolicyClass::Vendor] {
        let acts = found.policy.class == class || found.policy.also.contains(&class);
        assert!(acts, "{class:?}: {:?}", found.policy);
    }
    assert!(found.policy.floor_bytes_per_s.is_some_and(|floor| floor < 1e6), "{:?}", found.policy);
    within_a_kelvin(found.policy.onset_k, 351.0, "onset");
    within_a_kelvin(found.policy.release_k, 341.0, "release");
}

#[test]
fn the_end_of_the_fast_write_cache_is_not_heat() {
    let found = twin_findings("slc", WRITE);
    let slc = found.slc_cache.as_ref().expect("its end was passed");
    let truth = profile("slc").slc.expect("it has one");
    within(Some(slc.bytes as f64), truth.capacity_bytes as f64, 0.02, "size of the cache");
    within(Some(slc.before_bytes_per_s), 1.6e9, 0.05, "speed before");
    within(Some(slc.after_bytes_per_s), 2.0e8, 0.05, "speed after");
    assert_eq!(found.policy.class, PolicyClass::None, "{:?}", found.policy);
    assert!(found.events.iter().all(|e| e.kind == EventKind::SlcExhausted), "{:?}", found.events);
}
