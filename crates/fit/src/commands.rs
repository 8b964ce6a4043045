//! Runs that a fit names, as they are typed: those that would show what the fitted ones did not.
//!
//! DRIVE stands for the address, SIZE for that of the fast write cache ([`with_cache_size`]). They are not filled in: what was `/dev/nvme0n1` in the record may be another drive now, and
//! without `--drive` a simulated one would be run. They change settings for the run alone, so they work on simulated drives
//! too, which end with the command.

pub use analysis::wording::with_cache_size;

use crate::fitted::SeenRange;
use crate::sample::{Common, ThresholdSource};
use crate::simulate::LoadPhase;

/// Half an hour of both operations with rests.
pub const THERMAL_ID: &str = "heatsoak run thermal-id --drive DRIVE";
/// Ten minutes of the same.
pub const THERMAL_ID_QUICK: &str = "heatsoak run thermal-id-quick --drive DRIVE";

/// Both operations reach it within minutes on the drives that were tried.
const LOW_SHARE: f64 = 0.45;
/// A TMT1 nearer to rest than this slows down a drive that does nothing, and shows no onset.
const LEAST_OVER_REST_K: f64 = 3.0;
/// A drive that was no cooler than this below TMT1 has not let go of it: hystereses of 1 to 7 K were seen.
const NEAR_TMT1_K: f64 = 9.0;

/// A TMT1 that both operations reach within minutes, also in another power state: so much of the way from the coolest to
/// the hottest of the runs, in whole kelvins as it is set, and one that the drive takes beside the TMT2 it has.
pub fn low_tmt1_k([coolest_k, hottest_k]: [f64; 2], common: &Common) -> u16 {
    let low_k = (coolest_k + LOW_SHARE * (hottest_k - coolest_k)).round();
    let tmt2_k = Some(common.tmt_k[1]).filter(|kelvin| *kelvin > 0.0);
    let most_k = tmt2_k.or(common.limits.tmt_max_k).unwrap_or(f64::INFINITY) - 1.0;
    low_k.max(common.limits.tmt_min_k.unwrap_or(0.0)).min(most_k) as u16
}

/// Option for a TMT1 of [`low_tmt1_k`], with a space before it; empty where the drive has none to set.
pub(crate) fn at_low_tmt1(range_k: [f64; 2], common: &Common) -> String {
    match common.hctm {
        true => format!(" --tmt1 {}", typed(low_tmt1_k(range_k, common))),
        false => String::new(),
    }
}

/// Half an hour at a TMT1 lower than any that acted; `None` where the drive is as warm at rest.
pub(crate) fn lower_tmt1(seen: &SeenRange, common: &Common) -> Option<String> {
    let [coolest_k, hottest_k] = seen.range_k;
    let acted_k = seen.tmt1_acted_k.unwrap_or(hottest_k).min(hottest_k);
    let low_k = low_tmt1_k([coolest_k, acted_k], common);
    let is_lower = f64::from(low_k) > coolest_k + LEAST_OVER_REST_K && f64::from(low_k) < acted_k;
    is_lower.then(|| format!("{THERMAL_ID} --tmt1 {}", typed(low_k)))
}

/// Ten minutes that show the full speeds; a drive that rests near its TMT1 is throttled from its first second on there.
pub(crate) fn full_speed_plan(seen: &SeenRange, common: &Common) -> String {
    let near = common.tmt_k[0] > 0.0 && seen.range_k[0] > common.tmt_k[0] - NEAR_TMT1_K;
    let off = if common.hctm && near { " --tmt1 off --tmt2 off" } else { "" };
    format!("{THERMAL_ID_QUICK}{off}")
}

/// Ten minutes without TMT1 and TMT2: what firmware does by itself.
pub(crate) fn unset(common: &Common) -> String {
    let off = if common.hctm { " --tmt1 off --tmt2 off" } else { "" };
    format!("heatsoak run hctm-read --drive DRIVE{off}")
}

/// What TMT2 does by itself: where TMT1 acts, the drive does not reach it.
pub(crate) fn at_low_tmt2(range_k: [f64; 2], common: &Common) -> String {
    format!("{THERMAL_ID} --tmt1 off --tmt2 {}", typed(low_tmt1_k(range_k, common)))
}

/// The half hour that shows what a threshold leaves of the speed of an operation that it was not seen to slow down.
pub(crate) fn floor_plan(follows: ThresholdSource, range_k: [f64; 2], common: &Common) -> String {
    match follows {
        ThresholdSource::Tmt1 => format!("{THERMAL_ID}{}", at_low_tmt1(range_k, common)),
        ThresholdSource::Tmt2 => at_low_tmt2(range_k, common),
        ThresholdSource::Own if common.hctm => format!("{THERMAL_ID} --tmt1 off --tmt2 off"),
        ThresholdSource::Own => THERMAL_ID.to_owned(),
    }
}

/// The ten minutes in each of these power states.
pub(crate) fn in_states(states: &[u8]) -> String {
    match states {
        [state] => format!("{THERMAL_ID_QUICK} --power-state {state}"),
        _ => {
            let states: Vec<String> = states.iter().map(u8::to_string).collect();
            format!("{THERMAL_ID_QUICK} --sweep power-state={}", states.join(","))
        }
    }
}

/// A limit of the load as it is typed.
pub struct RateLimit {
    /// The line of a plan.
    pub plan: String,
    /// The option of fio; `None` where one option cannot say it for all phases.
    pub fio: Option<String>,
}

/// How `load` is held to `bytes_per_s`. fio's `M` and `MB` are 2^20 bytes, so its rate is in bytes; it limits reads and
/// writes apart, a plan limits them together.
pub fn rate_limit(bytes_per_s: f64, load: &[LoadPhase]) -> RateLimit {
    let (bytes, typed) = in_steps(bytes_per_s);
    let mut shares = load.iter().filter_map(|phase| phase.read_share);
    let is_pure = |share: &f64| *share <= 0.0 || *share >= 1.0;
    let first = shares.next().unwrap_or(1.0);
    let fio = if is_pure(&first) {
        shares.all(|share| is_pure(&share)).then(|| format!("fio --rate={bytes:.0}"))
    } else {
        shares
            .all(|share| (share - first).abs() < 1e-6)
            .then(|| format!("fio --rate={:.0},{:.0}", bytes * first, bytes * (1.0 - first)))
    };
    RateLimit { plan: format!("rate = \"{typed}\""), fio }
}

/// A rate as it is typed.
pub(crate) fn typed_rate(bytes_per_s: f64) -> String {
    in_steps(bytes_per_s).1
}

/// A rate in whole steps of a unit that leaves three digits: in bytes a second, and as it is typed.
fn in_steps(bytes_per_s: f64) -> (f64, String) {
    let (step, unit) = match bytes_per_s {
        rate if rate >= 1e8 => (1e6, "MB/s"),
        rate if rate >= 1e5 => (1e3, "kB/s"),
        _ => (1.0, "B/s"),
    };
    let steps = (bytes_per_s / step).round().max(1.0);
    (steps * step, format!("{steps:.0}{unit}"))
}

/// Whole degrees as they are typed: 338 K is 65C, as nvme-cli has it.
pub(crate) fn typed(kelvin: u16) -> String {
    format!("{}C", i32::from(kelvin) - 273)
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::sample::LimitsK;

    /// Goal: a drive takes the TMT1 that is named: between MNTMT and the TMT2 it has, or MXTMT where that is off.
    #[test]
    fn a_low_tmt1_is_one_that_may_be_set() {
        let common = |tmt2_k, tmt_min_k| Common {
            tmt_k: [0.0, tmt2_k],
            hctm: true,
            limits: LimitsK { tmt_min_k: Some(tmt_min_k), tmt_max_k: Some(348.0), ..LimitsK::default() },
            ..Common::default()
        };
        for (range_k, tmt2_k, tmt_min_k, low_k) in [
            ([310.0, 350.0], 0.0, 273.0, 328),
            ([310.0, 350.0], 325.0, 273.0, 324),
            ([340.0, 380.0], 0.0, 273.0, 347),
            ([290.0, 300.0], 0.0, 303.0, 303),
        ] {
            assert_eq!(low_tmt1_k(range_k, &common(tmt2_k, tmt_min_k)), low_k);
        }
        assert_eq!(at_low_tmt1([310.0, 350.0], &Common::default()), "");
    }

    /// Goal: fio and a plan hold a load to the same bytes a second.
    #[test]
    fn a_limit_is_the_same_in_a_plan_and_in_fio() {
        let phase = |read_share| LoadPhase {
            name: String::new(),
            read_share,
            limit_bytes_per_s: f64::INFINITY,
            seconds: 60,
            bytes: None,
            depth: 1,
            io_bytes: 4096,
            sequential: true,
            region_bytes: 1 << 30,
            ratio_moves: false,
        };
        let limit = |rate, shares: &[Option<f64>]| {
            let load: Vec<LoadPhase> = shares.iter().copied().map(phase).collect();
            let RateLimit { plan, fio } = rate_limit(rate, &load);
            (plan, fio.unwrap_or_default())
        };
        let text = |plan: &str, fio: &str| (format!("rate = \"{plan}\""), fio.to_owned());
        let pure = [Some(0.0), None, Some(1.0)];
        assert_eq!(limit(1.5424e9, &pure), text("1542MB/s", "fio --rate=1542000000"));
        assert_eq!(limit(4.1234e6, &pure), text("4123kB/s", "fio --rate=4123000"));
        assert_eq!(limit(512.4, &pure), text("512B/s", "fio --rate=512"));
        assert_eq!(limit(1e9, &[Some(0.7)]), text("1000MB/s", "fio --rate=700000000,300000000"));
        assert_eq!(limit(1e9, &[Some(0.7), Some(1.0)]), text("1000MB/s", ""));
    }

    /// Goal: lower TMT1 are named until the drive is as warm at rest.
    #[test]
    fn a_lower_tmt1_is_lower_than_all_that_acted() {
        let common = Common { hctm: true, ..Common::default() };
        let mut seen = SeenRange { range_k: [310.0, 350.0], ..SeenRange::default() };
        let mut tried = Vec::new();
        while let Some(command) = lower_tmt1(&seen, &common) {
            let typed = command.rsplit(' ').next().and_then(|typed| typed.strip_suffix('C'));
            let tmt1_k = 273.0 + typed.and_then(|typed| typed.parse::<f64>().ok()).expect("degrees");
            tried.push(tmt1_k);
            seen.tmt1_acted_k = Some(tmt1_k);
        }
        assert_eq!(tried, [328.0, 318.0, 314.0]);
    }
}
