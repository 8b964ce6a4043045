//! Where the load of a run stops for heat if its plan names no temperature.
//!
//! The one place of this rule: who stops a load and who says which temperatures a run does not reach ask here. What a plan
//! names (`stop_at`) comes before it, and is theirs to look at.

use measure::Kelvin;

/// Without a critical threshold, in kelvins: 85 °C, at which client drives shut down at the earliest (up to 95 °C).
const WITHOUT_CRITICAL_K: u16 = 358;

/// How far below the drive's critical threshold (CCTEMP, NVMe Base 2.3, Identify Controller bytes 269:268), in kelvins:
/// chosen, so that what a drive still warms by between two readings does not take it there.
const BELOW_CRITICAL_K: u16 = 5;

/// The temperature at which load stops on a drive with this critical threshold, in kelvins, or with none.
///
/// ```
/// assert_eq!(plan::stop_below(Some(353)).as_kelvin(), 348);
/// assert_eq!(plan::stop_below(None).as_kelvin(), 358);
/// ```
pub fn stop_below(critical_k: Option<u16>) -> Kelvin {
    Kelvin::from_kelvin(
        critical_k.map_or(WITHOUT_CRITICAL_K, |critical_k| critical_k.saturating_sub(BELOW_CRITICAL_K)),
    )
}
