//! Thermal modes as a ladder: the form in which a fit finds heat becomes the form in which it flows.
//!
//! What a run shows of a drive's thermal network is its step response at the sensor, a sum of exponentials
//! (Foster form): `Z(s) = sum R_i / (1 + s tau_i)`. A ladder of as many nodes with the heat and the sensor at
//! its inner end has the same response (Cauer form). It is found by Lanczos' recursion on the rates `1/tau_i`:
//! the symmetric tridiagonal matrix that it makes is that of the ladder (Golub and Van Loan, Matrix
//! Computations, 10.1). Vectors are kept orthogonal to all before them, so that eight modes keep their digits.
//!
//! Another ladder of the same response may have its outermost resistance elsewhere: modes do not say how
//! much of them the air is.

use crate::profile::{Mode, Node};

/// The ladder of these modes, from the sensor outwards. Modes have different time constants, all positive.
pub(crate) fn ladder(modes: &[Mode]) -> Vec<Node> {
    let count = modes.len();
    let rate: Vec<f64> = modes.iter().map(|mode| 1.0 / mode.tau_s).collect();
    let per_s: Vec<f64> = modes.iter().map(|mode| mode.k_per_w / mode.tau_s).collect();
    let mut capacity = 1.0 / per_s.iter().sum::<f64>();
    let mut vectors: Vec<Vec<f64>> = vec![per_s.iter().map(|share| (share * capacity).sqrt()).collect()];
    let mut inward_w_per_k = 0.0;
    let mut left_k_per_w: f64 = modes.iter().map(|mode| mode.k_per_w).sum();
    let mut nodes = Vec::with_capacity(count);
    for at in 0..count {
        let vector = &vectors[at];
        let image: Vec<f64> = vector.iter().zip(&rate).map(|(v, rate)| v * rate).collect();
        let outward_k_per_w = if at + 1 == count {
            left_k_per_w
        } else {
            1.0 / (dot(vector, &image) * capacity - inward_w_per_k)
        };
        nodes.push(Node {
            name: format!("node {}", at + 1),
            capacity_j_per_k: capacity,
            outward_k_per_w,
            heat_share: if at == 0 { 1.0 } else { 0.0 },
        });
        if at + 1 < count {
            let (next, length) = next_vector(image, &vectors);
            inward_w_per_k = 1.0 / outward_k_per_w;
            left_k_per_w -= outward_k_per_w;
            capacity = inward_w_per_k * inward_w_per_k / (length * length * capacity);
            vectors.push(next);
        }
    }
    nodes
}

/// What `image` has that no vector before has, as a unit vector, and its length.
fn next_vector(mut image: Vec<f64>, before: &[Vec<f64>]) -> (Vec<f64>, f64) {
    // Twice is enough (Parlett, The Symmetric Eigenvalue Problem, 6.9).
    for _ in 0..2 {
        for vector in before {
            let along = dot(vector, &image);
            image.iter_mut().zip(vector).for_each(|(x, v)| *x -= along * v);
        }
    }
    let length = dot(&image, &image).sqrt();
    image.iter_mut().for_each(|x| *x /= length);
    (image, length)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    /// SSD1 of the published experiments, whose ladder was divided out by hand: 40 s and 140 s in equal parts.
    #[test]
    fn two_modes_are_the_ladder_of_the_published_drive() {
        let nodes = ladder(&[40.0, 140.0].map(|tau_s| Mode { tau_s, k_per_w: 6.25 }));
        let found: Vec<_> = nodes.iter().map(|node| (node.capacity_j_per_k, node.outward_k_per_w)).collect();
        for ((c, r), (c_wanted, r_wanted)) in found.into_iter().zip([(4.978, 9.552), (39.94, 2.948)]) {
            assert!((c / c_wanted - 1.0).abs() < 1e-3 && (r / r_wanted - 1.0).abs() < 1e-3, "{c} {r}");
        }
    }

    proptest! {
        /// The impedance of the ladder is that of the modes at any frequency, and every part of it is positive.
        #[test]
        fn the_ladder_has_the_impedance_of_the_modes(
            k_per_w in proptest::collection::vec(0.001..30.0_f64, 1..=8),
            first_s in 0.5..20.0_f64,
            ratio in 1.5..4.0_f64,
        ) {
            let mut tau_s = first_s;
            let modes: Vec<Mode> = k_per_w.iter().map(|&k_per_w| {
                let mode = Mode { tau_s, k_per_w };
                tau_s *= ratio;
                mode
            }).collect();
            let nodes = ladder(&modes);
            prop_assert!(nodes.iter().all(|n| n.capacity_j_per_k > 0.0 && n.outward_k_per_w > 0.0), "{nodes:?}");
            for s in [0.0, 1e-4, 1e-3, 1e-2, 0.1, 1.0] {
                let wanted: f64 = modes.iter().map(|mode| mode.k_per_w / (1.0 + s * mode.tau_s)).sum();
                // From outside in: each node is its capacity beside what lies behind its resistance.
                let found = nodes.iter().rev().fold(0.0, |behind, node| {
                    1.0 / (s * node.capacity_j_per_k + 1.0 / (node.outward_k_per_w + behind))
                });
                prop_assert!((found / wanted - 1.0).abs() < 1e-6, "{found} {wanted} at {s}");
            }
        }
    }
}
