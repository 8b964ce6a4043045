//! Where and how: other settings, air, cooling and power states, and a sample as a drive there.

use physics::Profile;
use physics::profile::Node;

use crate::fitted::Fitted;
use crate::sample::DriveSample;
use crate::simulate::{drive, set_tmt};

/// Where and how.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scenario {
    /// TMT1 and TMT2 in kelvins, 0 for off; `None` leaves each as it was.
    pub tmt_k: [Option<u16>; 2],
    /// Air in kelvins.
    pub ambient_k: Option<f64>,
    /// Air warmer than in the runs by so many kelvins, whatever it was then.
    pub warmer_k: f64,
    /// Resistance of a heat sink from drive to air, in K/W.
    pub heatsink_k_per_w: Option<f64>,
    /// Air flow over that of the runs.
    pub airflow: Option<f64>,
    /// Power state.
    pub power_state: Option<u8>,
    /// How full the drive is, in percent.
    pub fill_percent: Option<u8>,
}

/// A sample as a drive in its surroundings, with its settings.
pub(crate) fn set_up(fitted: &Fitted, scenario: &Scenario, sample: &DriveSample) -> physics::Drive {
    let profile = placed(sample.profile(&fitted.common), scenario, sample);
    let mut drive = drive(&profile);
    if profile.limits.hctm.is_some() {
        let now = drive.tmt();
        let tmt_k =
            [scenario.tmt_k[0].unwrap_or(now.tmt1_raw()), scenario.tmt_k[1].unwrap_or(now.tmt2_raw())];
        // Checked by `answerable` for all samples at once.
        let _ = set_tmt(&mut drive, Some(tmt_k));
    }
    drive
}

/// Samples in the power state that is asked about.
pub(crate) fn in_state(fitted: &Fitted, scenario: &Scenario, stride: usize) -> Vec<DriveSample> {
    fitted.samples.iter().step_by(stride).map(|sample| as_asked(fitted, scenario, sample)).collect()
}

/// A sample in the power state that is asked about.
pub(crate) fn as_asked(fitted: &Fitted, scenario: &Scenario, sample: &DriveSample) -> DriveSample {
    let state = scenario.power_state.filter(|state| fitted.seen.power_state != Some(*state));
    state.and_then(|state| sample.in_state(state)).unwrap_or_else(|| sample.clone())
}

/// The profile in its surroundings.
fn placed(mut profile: Profile, scenario: &Scenario, sample: &DriveSample) -> Profile {
    if let Some(ambient_k) = scenario.ambient_k {
        profile.thermal.ambient_c = measure::Celsius::from_kelvin_f64(ambient_k).as_degrees();
    }
    profile.thermal.ambient_c += scenario.warmer_k;
    let total: f64 = profile.thermal.mode.iter().map(|mode| mode.k_per_w).sum();
    let outer = sample.outer_share * total;
    let mut outer_then = outer / scenario.airflow.unwrap_or(1.0);
    if let Some(sink) = scenario.heatsink_k_per_w {
        outer_then = outer_then * sink / (outer_then + sink);
    }
    if outer_then != outer {
        let nodes = aired(profile.thermal.nodes(), sample.outer_share, outer_then / outer);
        profile.sensor.composite_share = (0..nodes.len()).map(|at| f64::from(u8::from(at == 0))).collect();
        profile.thermal.mode.clear();
        profile.thermal.node = nodes;
    }
    profile
}

/// A ladder whose outermost part, `outer` of the whole resistance, has `times` as much of it. Capacities stay where they
/// are, and so do the first seconds.
pub(crate) fn aired(mut nodes: Vec<Node>, outer: f64, times: f64) -> Vec<Node> {
    let mut left_k_per_w = outer * nodes.iter().map(|node| node.outward_k_per_w).sum::<f64>();
    for node in nodes.iter_mut().rev() {
        let part_k_per_w = node.outward_k_per_w.min(left_k_per_w);
        node.outward_k_per_w -= part_k_per_w * (1.0 - times);
        left_k_per_w -= part_k_per_w;
    }
    nodes
}

#[cfg(test)]
mod test {
    use physics::profile::{Mode, ladder};
    use proptest::prelude::*;

    use super::*;

    fn total(nodes: &[Node]) -> f64 {
        nodes.iter().map(|node| node.outward_k_per_w).sum()
    }

    proptest! {
        /// Laws of another airflow: so much resistance is gone, from the air inwards, and each capacity stays.
        #[test]
        fn resistance_goes_and_capacity_stays(
            shares in prop::collection::vec(0.05_f64..1.0, 2..8),
            outer in 0.02_f64..0.98,
            times in 0.1_f64..3.0,
        ) {
            let mode = |(at, share): (usize, &f64)| Mode { tau_s: 3.0 * 2.3_f64.powi(at as i32), k_per_w: *share };
            let before = ladder(&shares.iter().enumerate().map(mode).collect::<Vec<_>>());
            let after = aired(before.clone(), outer, times);
            let left = total(&after) / total(&before);
            prop_assert!((left - (1.0 - outer * (1.0 - times))).abs() < 1e-9, "{left}");
            let ratio = |at: usize| (after[at].outward_k_per_w / before[at].outward_k_per_w - 1.0) / (times - 1.0);
            for at in 1..before.len() {
                prop_assert!(after[at].capacity_j_per_k == before[at].capacity_j_per_k);
                prop_assert!(ratio(at) >= ratio(at - 1) - 1e-9);
            }
        }
    }

    /// Worked example of METHODS: half of the outermost quarter of 10 K/W.
    #[test]
    fn the_outermost_resistance_goes_first() {
        let mode = |tau_s, k_per_w| Mode { tau_s, k_per_w };
        let before = ladder(&[mode(20.0, 5.0), mode(180.0, 5.0)]);
        let after = aired(before.clone(), 0.25, 0.5);
        let found = |nodes: &[Node], at: usize| (nodes[at].capacity_j_per_k, nodes[at].outward_k_per_w);
        let near = |(c, r): (f64, f64), (wanted_c, wanted_r): (f64, f64)| {
            assert!((c - wanted_c).abs() < 0.05 && (r - wanted_r).abs() < 0.005, "{c} J/K, {r} K/W");
        };
        near(found(&before, 0), (3.6, 6.10));
        near(found(&before, 1), (42.0, 3.90));
        near(found(&after, 0), (3.6, 6.10));
        near(found(&after, 1), (42.0, 2.65));
    }
}
