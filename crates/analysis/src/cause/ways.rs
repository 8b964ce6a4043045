//! The ways to explain all drops of a run: how likely each is, which one is told, and what the others weigh beside it.

use super::crossing::Standing;
use super::evidence::kinds;
use super::likelihood::Shares;
use crate::observation::{ExplainedAs, Observation};

/// What a likelihood is off by in each drop, as a logarithm, for all that is not modelled. By the drops of 262 runs that heat slowed down
/// and of 15 that it was taken for, all by others' simulators: nine of ten of the first are likelier by more than 0.5 a drop, and eight
/// of the others by less.
const INEXACT: f64 = 0.6;
/// ... of those beyond so many: fewer are allowed for by the root that they count by.
const FEW: f64 = 14.0;
/// Two ways are one where no drop's probabilities differ by more than this.
const ONE_WAY: f64 = 0.1;
/// Where they take a drop for the same, they count if they are surer of it, or less sure, by this.
const MATTERS: f64 = 0.01;
/// Other ways that are less likely together than this are not told.
const TOLD: f64 = 3e-3;

/// One way to explain the drops of a run.
pub(super) struct Settled {
    /// Logarithm of its likelihood.
    pub(super) likelihood: f64,
    /// The same of what is seen once in the run, and not once a drop.
    pub(super) once: f64,
    /// Whether thresholds moved unseen by it.
    pub(super) moved: bool,
    /// Whether something was kept out of it.
    pub(super) barred: bool,
    /// What each drop is by it.
    pub(super) drops: Vec<Standing>,
}

impl Settled {
    /// Odds against the likeliest one. A likelihood counts what the drops have in common for each of them, and what misleads one of
    /// them misleads all: what n drops say counts by the root of n.
    pub(super) fn odds(&self, best: &Self) -> f64 {
        let drops = self.differing(best).max(1) as f64;
        let likelier = self.likelihood - best.likelihood;
        let shows = likelier.signum() * (likelier.abs() - INEXACT * (drops - FEW).max(0.0)).max(0.0);
        (shows / drops.sqrt() + self.once - best.once).exp()
    }

    /// How many drops are something else by the other one.
    pub(super) fn differing(&self, other: &Self) -> usize {
        let differs = |(one, other): &(&Standing, &Standing)| {
            one.shares.iter().zip(&other.shares).any(|(one, other)| (one - other).abs() > ONE_WAY)
        };
        self.drops.iter().zip(&other.drops).filter(differs).count()
    }
}

/// Those that differ, the likeliest first.
pub(super) fn distinct(mut ends: Vec<Settled>) -> Vec<Settled> {
    // Of those that came to the same, the one that assumes least.
    ends.sort_by(|a, b| (b.likelihood + b.once).total_cmp(&(a.likelihood + a.once)));
    let mut distinct: Vec<Settled> = Vec::new();
    for end in ends {
        if !distinct.iter().any(|known| known.differing(&end) == 0) {
            distinct.push(end);
        }
    }
    distinct.sort_by(|a, b| b.likelihood.total_cmp(&a.likelihood));
    // What counts once may turn the order around.
    for other in 1..distinct.len() {
        if distinct[other].odds(&distinct[0]) > 1.0 {
            distinct.swap(0, other);
        }
    }
    distinct
}

/// Which of them is told: the first that keeps nothing out. Evidence tells of no drop that it cannot be heat: that none is stands beside it as
/// another explanation.
pub(super) fn told(settled: &[Settled], odds: &[f64]) -> usize {
    if !settled[0].barred {
        return 0;
    }
    let open = (0..settled.len()).filter(|way| !settled[*way].barred);
    open.max_by(|a, b| odds[*a].total_cmp(&odds[*b])).unwrap_or(0)
}

/// What the other ways to explain the run, each by its odds, weigh for a drop beside the one that is told. `of_told` is what the drop is by
/// the evidence of that one: where it settled, what is as good as impossible is still rounded up.
pub(super) fn otherwise(
    settled: &[Settled],
    odds: &[f64],
    told: usize,
    place: usize,
    of_told: &Shares,
) -> Option<(Observation, [f64; 5])> {
    // Less than any sum of evidence comes to.
    const NONE: f64 = 1e-15;
    let all: f64 = odds.iter().sum();
    // Ways that take this drop for the same are one explanation of it.
    let of_way = |way: usize| if way == told { of_told } else { &settled[way].drops[place].shares };
    let ways = || odds.iter().enumerate().map(|(way, odds)| (of_way(way), odds));
    let others = ways().filter(|(shares, _)| class(shares) != class(of_told));
    let probability = others.fold(0.0, |sum, (_, odds)| sum + odds) / all;
    let of_all: Shares =
        std::array::from_fn(|s| ways().map(|(shares, odds)| odds * shares[s]).sum::<f64>() / all);
    let matters = of_all.iter().zip(of_told).any(|(all, told)| (all - told).abs() > MATTERS);
    let row = std::array::from_fn(|s| ((of_all[s] + NONE) / (of_told[s] + NONE)).ln());
    let than = class(of_told);
    (probability >= TOLD || matters).then_some((Observation::OtherwiseExplained { probability, than }, row))
}

/// What a drop is most likely.
fn class(shares: &Shares) -> ExplainedAs {
    let [heat, cache, other] = kinds(shares);
    match () {
        () if other > heat.max(cache) => ExplainedAs::Neither,
        () if cache > heat => ExplainedAs::FullCache,
        () => ExplainedAs::Heat,
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn way(likelihood: f64, once: f64, barred: bool, heat: f64) -> Settled {
        let shares = [heat, 0.0, 0.0, 0.0, 1.0 - heat];
        let drops = vec![Standing { shares, apart: shares }; 5];
        Settled { likelihood, once, moved: false, barred, drops }
    }

    /// Goal: what assumes more does not take the place of what assumes less and comes to the same.
    #[test]
    fn of_two_that_are_one_the_likelier_is_kept() {
        let ways = distinct(vec![
            way(10.2, -3.0, false, 0.9),
            way(10.0, 0.0, false, 0.9),
            way(8.0, 0.0, false, 0.0),
        ]);
        let kept: Vec<f64> = ways.iter().map(|way| way.likelihood).collect();
        assert_eq!(kept, [10.0, 8.0]);
    }

    /// Goal: explanations that differ elsewhere and take a drop for the same are no other one of it.
    #[test]
    fn ways_that_agree_on_a_drop_are_one_explanation_of_it() {
        let ways = [way(3.0, 0.0, false, 0.9), way(3.0, 0.0, false, 0.7), way(1.0, 0.0, false, 0.1)];
        let other = otherwise(&ways, &[1.0, 1.0, 0.2], 0, 0, &ways[0].drops[0].shares);
        let Some((Observation::OtherwiseExplained { probability, .. }, row)) = other else { panic!("none") };
        assert!((probability - 0.2 / 2.2).abs() < 1e-9, "{probability}");
        // One that is less sure of it counts, though.
        let mean = (0.9 + 0.7 + 0.2 * 0.1) / 2.2;
        assert!((row[0] - (mean / 0.9f64).ln()).abs() < 1e-9, "{row:?}");
        let agreed = otherwise(&ways[..2], &[1.0, 1.0], 0, 0, &ways[0].drops[0].shares);
        let none = |seen: &Observation| matches!(seen, Observation::OtherwiseExplained { probability, .. } if *probability <= 0.0);
        assert!(agreed.is_some_and(|(seen, _)| none(&seen)));
        let alike = [way(3.0, 0.0, false, 0.9), way(2.0, 0.0, false, 0.9)];
        assert!(otherwise(&alike, &[1.0, 0.4], 0, 0, &alike[0].drops[0].shares).is_none());
    }

    /// Goal: a drop is heat as surely as the ways together say, also where the likeliest is that nothing was: evidence, which keeps no cause
    /// out, is that of another one, and is set right by what the likeliest weighs beside it.
    #[test]
    fn evidence_is_never_that_of_a_way_that_keeps_heat_out() {
        let ways = distinct(vec![way(3.0, 0.0, true, 0.0), way(2.0, 0.0, false, 0.9)]);
        let odds: Vec<f64> = ways.iter().map(|way| way.odds(&ways[0])).collect();
        let told = told(&ways, &odds);
        assert!(ways[0].barred && !ways[told].barred);
        let (seen, row) =
            otherwise(&ways, &odds, told, 0, &ways[told].drops[0].shares).expect("another explanation");
        let of_all = odds[told] / (odds[0] + odds[told]);
        assert!(
            matches!(seen, Observation::OtherwiseExplained { probability, .. } if (probability - 1.0 + of_all).abs() < 1e-9)
        );
        let heat = 0.9 * row[0].exp() / (0.9 * row[0].exp() + 0.1 * row[4].exp());
        assert!((heat - 0.9 * of_all).abs() < 1e-3, "{heat}");
    }
}
