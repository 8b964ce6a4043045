//! Two time constants that come nearest to how a drive heats: what people ask for.

/// Time constants that are tried, in seconds: steps of a sixteenth.
const FIRST_S: f64 = 2.0;
const RATIO: f64 = 1.06;
const TRIED: usize = 118;
/// Closer together than this, the two are one.
const APART: f64 = 1.5;
/// Moments at which they are held against the drive, even in the logarithm from a second to an hour.
const MOMENTS: usize = 24;

/// The fast and the slow one, in seconds; `risen` is the share of the rise that is there so many seconds after a step of
/// load.
pub fn two_time_constants(risen: impl Fn(f64) -> f64) -> [f64; 2] {
    let moments: [f64; MOMENTS] = std::array::from_fn(|i| 3600f64.powf(i as f64 / (MOMENTS - 1) as f64));
    let risen = moments.map(risen);
    let taus: [f64; TRIED] = std::array::from_fn(|i| FIRST_S * RATIO.powi(i as i32));
    let curves = taus.map(|tau_s| moments.map(|t_s| 1.0 - (-t_s / tau_s).exp()));
    let mut best = ([0.0; 2], f64::INFINITY);
    for (slow_at, slow) in curves.iter().enumerate() {
        for (fast_at, fast) in curves[..slow_at].iter().enumerate() {
            if taus[slow_at] < APART * taus[fast_at] {
                continue;
            }
            let missed = misfit(&risen, fast, slow);
            if missed < best.1 {
                best = ([taus[fast_at], taus[slow_at]], missed);
            }
        }
    }
    best.0
}

/// Whether a fast and a slow one, in seconds, are neither the first nor the last of those that are tried: beyond an end of the search may lie
/// what was looked for.
pub(super) fn are_within_search(fast_s: f64, slow_s: f64) -> bool {
    let last_s = FIRST_S * RATIO.powi(TRIED as i32 - 1);
    fast_s > FIRST_S * RATIO.sqrt() && slow_s < last_s / RATIO.sqrt()
}

/// Sum of squares that the best split between two curves leaves.
fn misfit(risen: &[f64; MOMENTS], fast: &[f64; MOMENTS], slow: &[f64; MOMENTS]) -> f64 {
    let (mut across, mut square) = (0.0, 0.0);
    for ((risen, fast), slow) in risen.iter().zip(fast).zip(slow) {
        across += (risen - slow) * (fast - slow);
        square += (fast - slow).powi(2);
    }
    let share = (across / square.max(1e-12)).clamp(0.0, 1.0);
    let off = risen.iter().zip(fast).zip(slow).map(|((r, f), s)| (r - s - share * (f - s)).powi(2));
    off.sum()
}
