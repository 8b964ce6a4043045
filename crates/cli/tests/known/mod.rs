//! Drives whose truth is known, and how near to it a finding has to be.
//!
//! Truth is read from the profile, so that a changed profile changes what is expected.

use analysis::findings::Findings;
use physics::Profile;

use crate::support::Scratch;

pub(crate) fn profile(name: &str) -> Profile {
    Profile::builtin(name).expect("it is built in")
}

/// What is found of a run of `plan` on the built-in twin `profile`.
pub(crate) fn twin_findings(profile: &str, plan: &str) -> Findings {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("plan.toml"), plan).expect("a scratch file");
    let done = scratch.run(&["run", "plan.toml", "--drive", &format!("twin:{profile}"), "--json", "--quiet"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    serde_json::from_str(&done.stdout).expect("findings")
}

pub(crate) fn tmt1_k(name: &str) -> f64 {
    f64::from(profile(name).limits.hctm.expect("it has HCTM").tmt1_k)
}

/// Thresholds are read to the whole kelvin.
pub(crate) fn within_a_kelvin(found: Option<f64>, truth: f64, what: &str) {
    let found = found.unwrap_or_else(|| panic!("no {what}"));
    assert!((found - truth).abs() <= 1.0, "{what} at {found} K, in truth at {truth} K");
}

pub(crate) fn within(found: Option<f64>, truth: f64, share: f64, what: &str) {
    let found = found.unwrap_or_else(|| panic!("no {what}"));
    assert!((found / truth - 1.0).abs() <= share, "{what} is {found}, in truth {truth}");
}
