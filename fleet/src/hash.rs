//! Numbers that follow from what they are for: resamples that are the same on every machine and in every order.

/// From 0 to below 1, from a seed and two numbers (the finalizer of MurmurHash3, public domain, Appleby).
pub(crate) fn chance(seed: u64, one: u64, other: u64) -> f64 {
    let mut h = seed
        ^ one.wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(31)
        ^ other.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    for factor in [0xff51_afd7_ed55_8ccd_u64, 0xc4ce_b9fe_1a85_ec53] {
        h ^= h >> 33;
        h = h.wrapping_mul(factor);
    }
    h ^= h >> 33;
    (h >> 11) as f64 / (1u64 << 53) as f64
}
