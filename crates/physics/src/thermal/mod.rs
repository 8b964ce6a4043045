//! Heat: an RC network that is solved exactly while power is constant.
//!
//! Nodes form a Cauer ladder from the flash outwards (model: Lin, Middelkoop, Barooah, CDC 2012:
//! two nodes suffice); a heat sink is one more node beside it. Power, ambient, air flow and heat
//! sink are inputs. Between two changes of an input the state moves by a matrix exponential, so
//! the length of a step changes nothing: there is no integration error to keep small.
//!
//! The composite sensor's first-order lag and the heat given off to the surroundings are states of
//! the same linear system and are exact too.
//!
//! Not modelled: radiation and other temperature-dependent resistances; all resistances are constant.

mod foster;
mod matrix;

pub(crate) use foster::ladder;
use matrix::{DIM, Matrix};

use crate::profile::{Heatsink, SensorProfile, ThermalProfile};

/// Most nodes of a profile: as many as decades of time have room for modes that data can tell apart, twice over.
pub(crate) const MAX_PROFILE_NODES: usize = 8;
/// Those and the heat sink.
pub(crate) const MAX_NODES: usize = MAX_PROFILE_NODES + 1;
/// Steps of 2^0 .. 2^7 ticks are prepared: spans end at least every second, for the power reading.
const LADDER: usize = 8;
/// Kelvins between the scales, as `measure::Celsius` has it.
fn kelvin(celsius: f64) -> f64 {
    measure::Celsius::from_degrees(celsius).as_kelvin_f64()
}

/// Where the energy went; all in joules since the drive was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnergyBalance {
    /// Electrical energy turned into heat.
    pub in_j: f64,
    /// Heat given off to the surroundings.
    pub out_j: f64,
    /// Heat kept: the sum of capacity times rise over all nodes.
    pub stored_j: f64,
}

/// The thermal network and its state.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    /// Nodes in use, the heat sink included.
    nodes: usize,
    capacity_j_per_k: [f64; MAX_NODES],
    coupling_w_per_k: [[f64; MAX_NODES]; MAX_NODES],
    to_ambient_w_per_k: [f64; MAX_NODES],
    heat_share: [f64; MAX_NODES],
    probe_share: [f64; MAX_NODES],
    probe_lag_s: f64,
    airflow: f64,
    has_heatsink: bool,
    tick_s: f64,
    /// Nodes, probe, heat given off, power, ambient: see `probe_at` and what follows it.
    state: [f64; DIM],
    in_j: f64,
    /// The stored heat at which the balance is zero.
    stored_zero_j: f64,
    ladder: Vec<Matrix>,
}

impl Network {
    /// A network at rest: every node at the temperature it settles to under `idle_w`,
    /// or at ambient when `idle_w` is zero.
    pub(crate) fn new(profile: &ThermalProfile, sensor: &SensorProfile, idle_w: f64, tick_s: f64) -> Self {
        let node_profiles = profile.nodes();
        let nodes = node_profiles.len();
        let mut network = Self {
            nodes,
            capacity_j_per_k: [0.0; MAX_NODES],
            coupling_w_per_k: [[0.0; MAX_NODES]; MAX_NODES],
            to_ambient_w_per_k: [0.0; MAX_NODES],
            heat_share: [0.0; MAX_NODES],
            probe_share: [0.0; MAX_NODES],
            probe_lag_s: sensor.composite_lag_s,
            airflow: profile.airflow,
            has_heatsink: false,
            tick_s,
            state: [0.0; DIM],
            in_j: 0.0,
            stored_zero_j: 0.0,
            ladder: Vec::new(),
        };
        for (i, node) in node_profiles.iter().enumerate() {
            network.capacity_j_per_k[i] = node.capacity_j_per_k;
            network.heat_share[i] = node.heat_share;
            // Modes are those of the composite, and their ladder begins there.
            let of_modes = f64::from(u8::from(i == 0 && !profile.mode.is_empty()));
            network.probe_share[i] = sensor.composite_share.get(i).copied().unwrap_or(of_modes);
            if i + 1 < nodes {
                network.couple(i, i + 1, 1.0 / node.outward_k_per_w);
            } else {
                network.to_ambient_w_per_k[i] = 1.0 / node.outward_k_per_w;
            }
        }
        let ambient_k = kelvin(profile.ambient_c);
        network.state[network.ambient_at()] = ambient_k;
        network.set_heatsink(profile.heatsink.as_ref());
        let settled = network.settled(idle_w);
        network.state[..network.nodes].copy_from_slice(&settled[..network.nodes]);
        let probe = network.probe_at();
        network.state[probe] = network.weighted(&network.probe_share);
        network.stored_zero_j = network.stored();
        network
    }

    /// Lets `power_w` act for `ticks` ticks.
    pub(crate) fn step_ticks(&mut self, mut ticks: u64, power_w: f64) {
        let (power, rows) = (self.power_at(), self.power_at());
        self.state[power] = power_w;
        self.in_j += power_w * self.tick_s * ticks as f64;
        while ticks > 0 {
            let rung = (ticks.trailing_zeros() as usize).min(LADDER - 1);
            self.ladder[rung].apply(rows, &mut self.state);
            ticks -= 1 << rung;
        }
        self.without_lag();
    }

    /// Lets `power_w` act for any span, without regard to ticks.
    #[cfg(test)]
    pub(crate) fn step(&mut self, span_s: f64, power_w: f64) {
        let (power, rows) = (self.power_at(), self.power_at());
        self.state[power] = power_w;
        self.in_j += power_w * span_s;
        self.system().exp(span_s).apply(rows, &mut self.state);
        self.without_lag();
    }

    /// Temperature of the lagging probe in kelvins.
    #[inline]
    pub(crate) const fn probe_k(&self) -> f64 {
        self.state[self.probe_at()]
    }

    /// Temperatures of the nodes in kelvins, from the flash outwards; the heat sink last.
    pub(crate) fn node_k(&self) -> &[f64] {
        &self.state[..self.nodes]
    }

    /// Temperature of the surroundings in kelvins.
    pub(crate) const fn ambient_k(&self) -> f64 {
        self.state[self.ambient_at()]
    }

    /// Changes the temperature of the surroundings.
    pub(crate) const fn set_ambient_k(&mut self, ambient_k: f64) {
        let at = self.ambient_at();
        self.state[at] = ambient_k;
    }

    /// Scales every conductance to the surroundings: 1 is the profile's own air, 2 twice as good.
    pub(crate) fn set_airflow(&mut self, airflow: f64) {
        self.airflow = airflow;
        self.prepare();
    }

    /// Puts a heat sink at ambient temperature on, or takes it off (with the heat in it).
    pub(crate) fn set_heatsink(&mut self, heatsink: Option<&Heatsink>) {
        let before = self.stored();
        let inputs = (self.probe_k(), self.state[self.heat_at()], self.ambient_k());
        if self.has_heatsink {
            self.nodes -= 1;
            for i in 0..MAX_NODES {
                self.coupling_w_per_k[i][self.nodes] = 0.0;
                self.coupling_w_per_k[self.nodes][i] = 0.0;
            }
            self.to_ambient_w_per_k[self.nodes] = 0.0;
            self.capacity_j_per_k[self.nodes] = 0.0;
        }
        self.has_heatsink = heatsink.is_some();
        if let Some(sink) = heatsink {
            self.state[self.nodes] = inputs.2;
            self.capacity_j_per_k[self.nodes] = sink.capacity_j_per_k;
            self.to_ambient_w_per_k[self.nodes] = 1.0 / sink.to_ambient_k_per_w;
            self.couple(sink.node, self.nodes, 1.0 / sink.contact_k_per_w);
            self.nodes += 1;
        }
        let (probe, heat, ambient) = (self.probe_at(), self.heat_at(), self.ambient_at());
        (self.state[probe], self.state[heat], self.state[ambient]) = inputs;
        self.stored_zero_j += self.stored() - before;
        self.prepare();
    }

    /// Where the energy went so far.
    pub(crate) fn energy(&self) -> EnergyBalance {
        EnergyBalance {
            in_j: self.in_j,
            out_j: self.state[self.heat_at()],
            stored_j: self.stored() - self.stored_zero_j,
        }
    }

    /// The temperatures the nodes would settle to under `power_w` for ever.
    pub(crate) fn settled(&self, power_w: f64) -> [f64; MAX_NODES] {
        let mut balance = Matrix::zero(self.nodes);
        let mut right = [0.0; DIM];
        for (i, heat_w) in right.iter_mut().enumerate().take(self.nodes) {
            let ambient = self.airflow * self.to_ambient_w_per_k[i];
            balance.add(i, i, ambient);
            *heat_w = self.heat_share[i] * power_w + ambient * self.ambient_k();
            for j in 0..self.nodes {
                balance.add(i, i, self.coupling_w_per_k[i][j]);
                balance.add(i, j, -self.coupling_w_per_k[i][j]);
            }
        }
        let solved = balance.solve(right).expect("a validated network always reaches the surroundings");
        let mut settled = [0.0; MAX_NODES];
        settled.copy_from_slice(&solved[..MAX_NODES]);
        settled
    }

    /// A weighted sum of the node temperatures in kelvins.
    pub(crate) fn weighted(&self, share: &[f64]) -> f64 {
        share.iter().zip(self.node_k()).map(|(w, t)| w * t).sum()
    }

    fn couple(&mut self, a: usize, b: usize, w_per_k: f64) {
        self.coupling_w_per_k[a][b] = w_per_k;
        self.coupling_w_per_k[b][a] = w_per_k;
    }

    const fn probe_at(&self) -> usize {
        self.nodes
    }

    const fn heat_at(&self) -> usize {
        self.nodes + 1
    }

    const fn power_at(&self) -> usize {
        self.nodes + 2
    }

    const fn ambient_at(&self) -> usize {
        self.nodes + 3
    }

    fn stored(&self) -> f64 {
        self.capacity_j_per_k.iter().zip(self.node_k()).map(|(c, t)| c * t).sum()
    }

    /// A probe without lag follows its nodes at once.
    fn without_lag(&mut self) {
        if self.probe_lag_s == 0.0 {
            self.state[self.probe_at()] = self.weighted(&self.probe_share);
        }
    }

    fn prepare(&mut self) {
        self.ladder.clear();
        let mut step = self.system().exp(self.tick_s);
        for _ in 1..LADDER {
            let next = step.times(&step);
            self.ladder.push(step);
            step = next;
        }
        self.ladder.push(step);
    }

    /// The derivative of the state as a matrix; inputs have none.
    fn system(&self) -> Matrix {
        let mut m = Matrix::zero(self.nodes + 4);
        let (probe, heat, power, ambient) =
            (self.probe_at(), self.heat_at(), self.power_at(), self.ambient_at());
        for i in 0..self.nodes {
            let c = self.capacity_j_per_k[i];
            for j in 0..self.nodes {
                m.add(i, j, self.coupling_w_per_k[i][j] / c);
                m.add(i, i, -self.coupling_w_per_k[i][j] / c);
            }
            let out = self.airflow * self.to_ambient_w_per_k[i];
            m.add(i, i, -out / c);
            m.add(i, ambient, out / c);
            m.add(i, power, self.heat_share[i] / c);
            m.add(heat, i, out);
            m.add(heat, ambient, -out);
            if self.probe_lag_s > 0.0 {
                m.add(probe, i, self.probe_share[i] / self.probe_lag_s);
            }
        }
        if self.probe_lag_s > 0.0 {
            m.add(probe, probe, -1.0 / self.probe_lag_s);
        }
        m
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::{Node, Rounding, Start};

    fn profile(nodes: &[(f64, f64, f64)]) -> ThermalProfile {
        let node = |&(capacity_j_per_k, outward_k_per_w, heat_share)| Node {
            name: "node".into(),
            capacity_j_per_k,
            outward_k_per_w,
            heat_share,
        };
        ThermalProfile {
            ambient_c: 30.0,
            airflow: 1.0,
            start: Start::Ambient,
            node: nodes.iter().map(node).collect(),
            mode: Vec::new(),
            heatsink: None,
        }
    }

    fn network(nodes: &[(f64, f64, f64)], lag_s: f64) -> Network {
        let mut composite_share = vec![0.0; nodes.len()];
        composite_share[0] = 1.0;
        let sensor = SensorProfile {
            composite_share,
            composite_offset_k: 0.0,
            composite_lag_s: lag_s,
            update_period_s: 1.0,
            rounding: Rounding::Floor,
            sensor: Vec::new(),
            frozen_composite_k: None,
        };
        Network::new(&profile(nodes), &sensor, 0.0, 0.01)
    }

    /// Published Foster form of SSD1: parts of 1/2 with 40 s and 140 s; its Cauer form must agree.
    #[test]
    fn a_cauer_ladder_equals_its_foster_form() {
        const R: f64 = 12.5;
        let c1 = 5600.0 / (90.0 * R);
        let b = 180.0 - 5600.0 / 90.0;
        let outer = R * (1.0 - 90.0 / b);
        let mut ladder = network(&[(c1, R * 90.0 / b, 1.0), (b / outer, outer, 0.0)], 0.0);
        for k in 1..=50_u32 {
            ladder.step(7.3, 2.0);
            let t = 7.3 * f64::from(k);
            let rise = 2.0 * R * (1.0 - 0.5 * (-t / 40.0).exp() - 0.5 * (-t / 140.0).exp());
            let got = ladder.node_k()[0] - ladder.ambient_k();
            assert!((got - rise).abs() < 1e-9, "at {t} s: {got} K, closed form {rise} K");
        }
    }

    /// Rise to a threshold, one node: t = tau ln((Tss - T0)/(Tss - Th)); the second node is made
    /// a part of the air by a capacity and a conductance that swallow everything.
    #[test]
    fn one_node_reaches_a_threshold_when_the_closed_form_says() {
        let (c, r, power_w) = (8.0, 10.0, 4.0);
        let mut one = network(&[(c, r, 1.0), (1e6, 0.001, 0.0)], 0.0);
        let (settled, threshold): (f64, f64) = (power_w * r, 30.0);
        let t_s = c * r * (settled / (settled - threshold)).ln();
        one.step(t_s, power_w);
        let rise = one.node_k()[0] - one.ambient_k();
        assert!((rise - threshold).abs() < 0.005, "{rise}");
    }

    #[test]
    fn a_lagging_probe_follows_the_closed_form() {
        // A node that stands still: the probe decays towards it with its own time constant.
        let mut still = network(&[(5.0, 9.0, 1.0), (40.0, 3.0, 0.0)], 2.0);
        let settled = still.settled(3.0);
        still.state[..2].copy_from_slice(&settled[..2]);
        let start = still.probe_k();
        still.step(3.0, 3.0);
        let left = (still.probe_k() - settled[0]) / (start - settled[0]);
        assert!((left - (-1.5_f64).exp()).abs() < 1e-9, "{left}");
    }

    #[test]
    fn a_heat_sink_comes_on_cold_and_goes_off_with_its_heat() {
        let mut network = network(&[(5.0, 9.0, 1.0), (40.0, 3.0, 0.0)], 1.0);
        network.step(600.0, 3.0);
        let bare = network.node_k()[0];
        let sink =
            Heatsink { node: 0, capacity_j_per_k: 20.0, contact_k_per_w: 1.0, to_ambient_k_per_w: 8.0 };
        network.set_heatsink(Some(&sink));
        assert_eq!(network.node_k().len(), 3);
        assert_eq!(network.node_k()[2], network.ambient_k());
        network.step(600.0, 3.0);
        assert!(network.node_k()[0] < bare - 5.0);
        network.set_heatsink(None);
        network.step(6000.0, 3.0);
        assert!((network.node_k()[0] - network.settled(3.0)[0]).abs() < 1e-6);
        let energy = network.energy();
        // The heat that left with the sink is in neither account: only the balance before it counts.
        assert!(energy.in_j > 0.0 && energy.out_j > 0.0);
    }

    proptest! {
        /// Exactness: any partition of a span gives the same state, in ticks or not.
        #[test]
        fn steps_do_not_matter(power in 0.0..10.0_f64, ticks in 1_u64..5000, cut in 1_u64..5000) {
            let nodes = [(5.0, 9.0, 0.8), (40.0, 3.0, 0.2), (300.0, 1.0, 0.0)];
            let mut whole = network(&nodes, 1.5);
            let mut parts = whole.clone();
            let mut free = whole.clone();
            whole.step_ticks(ticks, power);
            free.step(ticks as f64 * 0.01, power);
            let cut = cut.min(ticks);
            parts.step_ticks(cut, power);
            parts.step_ticks(ticks - cut, power);
            for (i, ((a, b), c)) in whole.state.iter().zip(&parts.state).zip(&free.state).enumerate() {
                // Heat is the difference of terms near 300 K/K/W times seconds: 1e4 J in a double.
                let tolerance = if i == whole.heat_at() { 1e-7 } else { 1e-9 };
                prop_assert!((a - b).abs() < tolerance && (a - c).abs() < tolerance, "{i}: {a} {b} {c}");
            }
        }

        /// Energy in = heat stored + heat out, to 1e-9 of what went in, whatever the inputs do.
        #[test]
        fn energy_is_conserved(spans in prop::collection::vec((0.1..12.0_f64, 1_u64..30_000, -10.0..70.0_f64, 0.2..5.0_f64), 1..40)) {
            let nodes = [(5.0, 9.0, 0.8), (40.0, 3.0, 0.2)];
            let mut network = network(&nodes, 1.0);
            for (power, ticks, ambient_c, airflow) in spans {
                network.set_ambient_k(kelvin(ambient_c));
                network.set_airflow(airflow);
                network.step_ticks(ticks, power);
            }
            let energy = network.energy();
            let turnover = energy.in_j + energy.out_j.abs() + energy.stored_j.abs();
            let missing = energy.in_j - energy.out_j - energy.stored_j;
            prop_assert!(missing.abs() <= 1e-9 * turnover, "{missing} J of {energy:?}");
        }
    }
}
