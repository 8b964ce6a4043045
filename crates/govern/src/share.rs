//! One limit divided among those that load a drive.
//!
//! The kernel limits reads and writes of each control group apart; a drive gets warm from the sum. Who used less than an
//! equal part keeps what it used and room to grow, and the rest is divided among the others: the max-min fair share
//! (Bertsekas and Gallager, Data Networks, 6.5.2).

/// One who loads the drive: a control group's reads, or its writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claimant {
    /// What has flowed lately, in bytes a second.
    pub flowed: f64,
    /// What was allowed meanwhile; infinite without a limit.
    pub allowed: f64,
    /// What may be allowed at most: a limit from before; infinite without.
    pub most: f64,
}

/// Who used less than this share of what was allowed would not have used more.
const CONTENT: f64 = 0.8;
/// Room to grow for those, over what they used.
const ROOM: f64 = 1.25;

/// Divides `total` bytes a second. Nobody gets less than `least`, even where that is more than there is in all, nor more
/// than its own bound unless that is less than `least`.
///
/// Without a limit (`None`) everybody has its own bound.
pub fn divide(total: Option<f64>, claimants: &[Claimant], least: f64) -> Vec<f64> {
    let Some(total) = total else { return claimants.iter().map(|one| one.most).collect() };
    let wishes: Vec<f64> = claimants.iter().map(wish).collect();
    let asked: f64 = wishes.iter().sum();
    let (level, spare) = match asked < total {
        true => (f64::INFINITY, (total - asked) / claimants.len().max(1) as f64),
        false => (level(total, &wishes), 0.0),
    };
    let part = |(wish, one): (&f64, &Claimant)| (wish.min(level) + spare).min(one.most).max(least);
    wishes.iter().zip(claimants).map(part).collect()
}

/// What one would take; infinite for who takes all that is allowed. Who takes nothing has the floor and reserves nothing: of
/// many idle groups the floors alone would be the limit.
fn wish(one: &Claimant) -> f64 {
    let is_content = one.flowed < CONTENT * one.allowed;
    let wish = if is_content { ROOM * one.flowed } else { f64::INFINITY };
    wish.min(one.most)
}

/// The level up to which wishes are filled, which together are more than there is.
fn level(total: f64, wishes: &[f64]) -> f64 {
    let mut sorted = wishes.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut left = total;
    for (index, wish) in sorted.iter().enumerate() {
        let part = left / (sorted.len() - index) as f64;
        if *wish >= part {
            return part;
        }
        left -= wish;
    }
    f64::INFINITY
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    fn hungry() -> Claimant {
        Claimant { flowed: 100.0, allowed: 100.0, most: f64::INFINITY }
    }

    #[test]
    fn who_asks_for_less_leaves_the_rest_to_others() {
        let modest = Claimant { flowed: 8.0, ..hungry() };
        assert_eq!(divide(Some(110.0), &[hungry(), modest, hungry()], 1.0), [50.0, 10.0, 50.0]);
        assert_eq!(divide(Some(100.0), &[modest, modest], 1.0), [50.0, 50.0], "room to begin again");
        assert_eq!(divide(None, &[hungry()], 1.0), [f64::INFINITY]);
        let idle = Claimant { flowed: 0.0, ..hungry() };
        assert_eq!(
            divide(Some(100.0), &[hungry(), idle, idle], 5.0),
            [100.0, 5.0, 5.0],
            "idle ones reserve nothing"
        );
        let bound = Claimant { most: 20.0, ..hungry() };
        assert_eq!(divide(Some(100.0), &[hungry(), bound], 1.0), [80.0, 20.0]);
    }

    proptest! {
        /// Goal: the sum is never more than the total but for the floor, and nobody is stalled.
        #[test]
        fn the_sum_is_kept(
            total in 0.0..1e10,
            all in prop::collection::vec((0.0..1e10, 1.0..1e10, prop::option::of(1.0..1e10)), 1..20),
        ) {
            let claimants: Vec<Claimant> = all
                .into_iter()
                .map(|(flowed, allowed, most)| Claimant { flowed, allowed, most: most.unwrap_or(f64::INFINITY) })
                .collect();
            let least = 1000.0;
            let parts = divide(Some(total), &claimants, least);
            prop_assert!(parts.iter().all(|part| *part >= least && part.is_finite()), "{:?}", parts);
            let sum: f64 = parts.iter().sum();
            prop_assert!(sum <= total * (1.0 + 1e-9) + least * parts.len() as f64, "{:?}", parts);
            for (part, one) in parts.iter().zip(&claimants) {
                prop_assert!(*part <= one.most.max(least));
            }
        }
    }
}
