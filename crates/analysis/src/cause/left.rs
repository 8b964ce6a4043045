//! What speed drops leave: one cause leaves the same speed each time.
//!
//! A threshold's throttled speed, a host's other job or its power state, a cache that is full: each leaves a speed of its
//! own, wherever the temperature is. Two drops that leave the same speed within a percent are seldom of two causes.

use std::collections::BTreeMap;

use super::case::Case;
use super::crossing::BEFOREHAND;
use super::evidence::Suspect::{Other, Slc};
use super::evidence::{heat_row, heat_share};
use super::likelihood::{Shares, normal};
use crate::findings::SegmentOp;
use crate::observation::Observation;

/// Two of one cause differ by this share of their speed: what a drive's speed wanders from minute to minute.
const SAME: f64 = 0.01;
/// A cause may leave anything from a fiftieth of the speed to nearly all of it: each factor of e is alike, and 50 has so many.
const LEVELS: f64 = 3.9;
/// Logarithms of speeds are added up in cells of this width.
const CELL: f64 = 0.0025;
/// Further away than so many standard deviations is nothing.
const REACH: f64 = 4.0;
/// Odds that a drop is of the cause of another one, whatever speed it leaves.
const SAME_CAUSE: f64 = 0.7;
/// No drop is surer than this not to be of a kind: what is wrong with it may be wrong with all of them.
const DOUBT: f64 = 0.03;

/// The speed at which a drop stood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpeedLeft {
    op: SegmentOp,
    /// Logarithm of the speed in bytes per second, and the standard deviation of that.
    level: f64,
    spread: f64,
}

impl SpeedLeft {
    /// The speed that most of a drop's own time has; `None` where none stands, or nothing moves.
    pub(super) fn new(case: &Case) -> Option<Self> {
        let longest = case.drop.stands(case.pieces)?;
        let most = 2.0 * longest.span_s() >= case.span_s();
        let of_mean = longest.variation / (longest.slices.saturating_sub(2).max(1) as f64).sqrt();
        (!longest.stopped && most && longest.level > 0.0).then(|| Self {
            op: case.op,
            level: longest.level.ln(),
            spread: SAME.hypot(of_mean),
        })
    }
}

/// The causes that leave speeds of their own: heat, a full cache, anything else.
const KINDS: usize = 3;

fn kinds(shares: &Shares) -> [f64; KINDS] {
    [heat_share(shares), shares[Slc as usize], shares[Other as usize]]
}

/// What a drop says of which kind it is, as logarithms of its odds over those beforehand.
fn says(shares: &Shares) -> [f64; KINDS] {
    let (now, before) = (kinds(shares), kinds(&BEFOREHAND));
    std::array::from_fn(|kind| (now[kind].max(DOUBT) / before[kind]).ln())
}

/// What drops of one speed say together.
#[derive(Clone, Copy, Debug, Default)]
struct Together {
    drops: f64,
    thermal: f64,
    says: [f64; KINDS],
}

impl Together {
    fn add(&mut self, shares: &Shares, times: f64) {
        self.drops += times;
        self.thermal += times * heat_share(shares);
        self.says.iter_mut().zip(says(shares)).for_each(|(sum, says)| *sum += times * says);
    }

    /// What all of it weighs for each kind: what one of them says, as the mean of all. That is little more where they are many, as
    /// they share a run, its settings and its sensor.
    fn weights(&self) -> [f64; KINDS] {
        let before = kinds(&BEFOREHAND);
        let mean = |kind: usize| self.says[kind] / self.drops.max(1e-9);
        let odds: [f64; KINDS] = std::array::from_fn(|kind| before[kind] * mean(kind).exp());
        let sum: f64 = odds.iter().sum();
        let known = self.drops.min(1.0);
        std::array::from_fn(|kind| (1.0 - known + known * odds[kind] / sum / before[kind]).max(DOUBT).ln())
    }
}

/// The speeds that the drops of a run leave, and what those drops are by all else.
#[derive(Debug, Default)]
pub(super) struct SpeedsLeft(BTreeMap<(usize, i64), Together>);

impl SpeedsLeft {
    /// Counts one in by what it is without what its speed says.
    pub(super) fn add(&mut self, left: &SpeedLeft, apart: &Shares) {
        self.0.entry((left.op as usize, cell(left.level))).or_default().add(apart, 1.0);
    }

    /// What it weighs that others left the same speed, by what they are; `apart` is what this one is without that.
    pub(super) fn weigh(&self, left: &SpeedLeft, apart: &Shares) -> (Observation, [f64; 5]) {
        let others = self.others(left, apart);
        let [heat, cache, other] = others.weights();
        let mut row = heat_row(heat);
        (row[Slc as usize], row[Other as usize]) = (cache, other);
        let drops = others.drops.round() as usize;
        let thermal = (others.thermal.max(0.0).round() as usize).min(drops);
        (Observation::SameSpeedLeft { drops, thermal }, row)
    }

    /// The other drops, each by how likely it is of the same cause.
    fn others(&self, left: &SpeedLeft, apart: &Shares) -> Together {
        let width = 2f64.sqrt() * left.spread;
        let op = left.op as usize;
        let reach = (op, cell(left.level - REACH * width))..=(op, cell(left.level + REACH * width));
        let mut sum = Together::default();
        for ((_, at), of_cell) in self.0.range(reach) {
            crate::work::count(1);
            let mut others = *of_cell;
            if *at == cell(left.level) {
                others.add(apart, -1.0);
            }
            let odds = SAME_CAUSE * LEVELS * normal(*at as f64 * CELL - left.level, width);
            let same = odds / (1.0 + odds);
            sum.drops += same * others.drops;
            sum.thermal += same * others.thermal;
            sum.says.iter_mut().zip(others.says).for_each(|(sum, says)| *sum += same * says);
        }
        Together { drops: sum.drops.max(0.0), ..sum }
    }
}

fn cell(level: f64) -> i64 {
    (level / CELL).round() as i64
}
