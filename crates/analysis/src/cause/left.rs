//! What speed drops leave: one cause leaves the same speed each time.
//!
//! A threshold's throttled speed, a host's other job or its power state, a cache that is full: each leaves a speed of its
//! own, wherever the temperature is. Two drops that leave the same speed within a percent are seldom of two causes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::case::Case;
use super::crossing::BEFOREHAND;
use super::drops::LEAST_SLICES;
use super::evidence::Suspect::{Other, Slc};
use super::evidence::{heat_row, heat_share, kinds};
use super::likelihood::{Shares, known_share, normal};
use super::shape::Place;
use crate::observation::Observation;
use crate::segment::{Piece, median};

/// Two of one cause differ by this share of their speed: what a drive's speed wanders from minute to minute.
const SAME: f64 = 0.01;
/// A cause may leave anything from a fiftieth of the speed to nearly all of it: each factor of e is alike, and 50 has so many.
const LEVELS: f64 = 3.9;
/// Odds that a drop is of the cause of another one, whatever speed it leaves.
const SAME_CAUSE: f64 = 0.7;
/// No drop is surer than this not to be of a kind: what is wrong with it may be wrong with all of them.
const DOUBT: f64 = 0.03;
/// Standard deviation between two speeds of one cause, as a share.
const TWO_OF_ONE: f64 = std::f64::consts::SQRT_2 * SAME;
/// What it weighs at most that a cause leaves one speed, or that two do, as a logarithm.
const MOST: f64 = 3.0;
/// After so many others of a cause, what comes next leaves a speed of theirs as likely as another one, ...
const KNOWN_FROM: f64 = 4.0;
/// ... and never more likely than this.
const MOST_KNOWN: f64 = 0.95;
/// What it leaves once in ten times beside another speed is one of its own; what it leaves more rarely, less so.
const RARELY: f64 = 0.1;
/// The level at which nothing moves: next to none that moves.
const STOPPED: f64 = 0.0;
/// Logarithms of speeds are added up in cells of this width.
const CELL: f64 = 0.0025;
/// Further away than so many standard deviations is nothing.
const REACH: f64 = 4.0;

/// A speed left in a place, in cells of [`CELL`].
pub(super) type Level = (Place, i64);

/// The speed at which a drop stood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpeedLeft {
    /// A threshold within another one leaves a speed of its own.
    place: Place,
    /// Logarithm of the speed in bytes per second, and the standard deviation of that.
    level: f64,
    spread: f64,
    /// Whether it stood for some slices: one of a few may be anything between two speeds.
    stands: bool,
}

impl SpeedLeft {
    /// The speed that most of a drop's own time has; `None` where none stands, or nothing moves. Of a drop in
    /// a row or two the slowest is the least mixed with full speed.
    pub(super) fn new(case: &Case) -> Option<Self> {
        let place = case.shape.place((case.op, case.drop.inside.is_some()));
        if case.drop.stops(case.pieces) {
            return Some(Self { place, level: STOPPED, spread: SAME, stands: true });
        }
        let own = || case.drop.own.iter().map(|at| &case.pieces[*at]);
        let stands = own().map(|piece| piece.slices).sum::<usize>() >= LEAST_SLICES;
        let (level, spread) = if !stands {
            (own().map(|piece| piece.slowest).fold(f64::INFINITY, f64::min), SAME)
        } else {
            let longest = case.drop.stands(case.pieces)?;
            let of_mean = longest.variation / (longest.slices.saturating_sub(2).max(1) as f64).sqrt();
            let alike = |piece: &&Piece| (piece.level / longest.level - 1.0).abs() <= REACH * TWO_OF_ONE;
            let alike_s: f64 = own().filter(alike).map(Piece::span_s).sum();
            let own_s: f64 = own().map(Piece::span_s).sum();
            (2.0 * alike_s >= own_s).then_some((longest.level, SAME.hypot(of_mean)))?
        };
        let stopped = own().any(|piece| piece.stopped) || level <= 0.0;
        (!stopped).then(|| Self { place, level: level.ln(), spread, stands })
    }

    /// Whether nothing moved.
    pub(super) fn stopped(&self) -> bool {
        self.level <= STOPPED
    }

    /// Logarithm of the speed in bytes per second.
    pub(super) const fn level(&self) -> f64 {
        self.level
    }

    pub(super) const fn stands(&self) -> bool {
        self.stands
    }

    pub(super) fn at(&self) -> Level {
        (self.place, cell(self.level))
    }

    /// The speeds that may be the same one.
    pub(super) fn alike(&self) -> RangeInclusive<Level> {
        let width = 2f64.sqrt() * self.spread;
        let at = |level: f64| (self.place, cell(level));
        at(self.level - REACH * width)..=at(self.level + REACH * width)
    }
}

/// How unlikely it is that what is no heat leaves the speed that heat leaves, as a logarithm: by how much likelier the speeds of the one are
/// near those of the other than anywhere. Half of them must be, as one in a hundred always is.
pub(super) fn coincide(heat: impl Iterator<Item = SpeedLeft>, other: impl Iterator<Item = SpeedLeft>) -> f64 {
    let mut of_place: BTreeMap<Place, f64> = BTreeMap::new();
    let mut levels: BTreeMap<Level, f64> = BTreeMap::new();
    for left in heat {
        *of_place.entry(left.place).or_default() += 1.0;
        *levels.entry((left.place, cell(left.level))).or_default() += 1.0;
    }
    let mut likelier: BTreeMap<Level, f64> = BTreeMap::new();
    let mut each: Vec<f64> = Vec::new();
    // Nothing at all is what every pause leaves.
    for left in other.filter(|left| !left.stopped()) {
        let (place, at) = (left.place, cell(left.level));
        let Some(of_place) = of_place.get(&place) else { continue };
        each.push(*likelier.entry((place, at)).or_insert_with(|| {
            let reach = (REACH * TWO_OF_ONE / CELL) as i64;
            let near = levels.range((place, at - reach)..=(place, at + reach));
            let near = near.map(|((_, level), heat)| heat * normal((level - at) as f64 * CELL, TWO_OF_ONE));
            (LEVELS * near.sum::<f64>() / of_place).max(1e-9).ln()
        }));
    }
    crate::work::count(each.len());
    median(&each).clamp(0.0, MOST)
}

/// The causes that leave speeds of their own: those of [`kinds`].
const KINDS: usize = 3;

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
pub(super) struct SpeedsLeft {
    by_cell: BTreeMap<Level, Together>,
    /// Of each place, how much of its drops is heat, and how dense the speeds of those usually are.
    heat: BTreeMap<Place, (f64, f64)>,
}

impl SpeedsLeft {
    /// Counts one in by what it is without what its speed says.
    pub(super) fn add(&mut self, left: &SpeedLeft, apart: &Shares) {
        self.by_cell.entry(left.at()).or_default().add(apart, 1.0);
        self.heat.entry(left.place).or_default().0 += heat_share(apart);
    }

    /// Sums up how dense the speeds usually are that heat leaves in a place, once all are counted in.
    pub(super) fn sum_up(&mut self) {
        let mut dense: BTreeMap<Place, f64> = BTreeMap::new();
        for ((place, at), of_cell) in &self.by_cell {
            let near = self.near((*place, *at as f64 * CELL), TWO_OF_ONE);
            *dense.entry(*place).or_default() += of_cell.thermal * near;
        }
        for (place, (heat, usual)) in &mut self.heat {
            *usual = dense.get(place).copied().unwrap_or(0.0) / heat.max(1e-9).powi(2);
        }
    }

    /// How much of heat left a speed, in a unit of its logarithm.
    fn near(&self, (place, level): (Place, f64), width: f64) -> f64 {
        let at = |level: f64| (place, cell(level));
        let near = self.by_cell.range(at(level - REACH * width)..=at(level + REACH * width));
        crate::work::count(1);
        near.map(|((_, at), of_cell)| of_cell.thermal * normal(*at as f64 * CELL - level, width)).sum()
    }

    /// What it weighs that others left the same speed, by what they are; `apart` is what this one is without that.
    pub(super) fn weigh(&self, left: &SpeedLeft, apart: &Shares) -> (Observation, [f64; 5]) {
        // Nothing at all is what every pause leaves.
        let others = if left.level > STOPPED { self.others(left, apart) } else { Together::default() };
        let [heat, cache, other] = others.weights();
        let mut row = heat_row(heat + self.other_speed(left, apart));
        (row[Slc as usize], row[Other as usize]) = (cache, other);
        let drops = others.drops.round() as usize;
        let thermal = (others.thermal.max(0.0).round() as usize).min(drops);
        (Observation::SameSpeedLeft { drops, within: 0, thermal }, row)
    }

    /// How unlikely it is that heat leaves this speed, as a logarithm, where it left others each time, or hardly ever this one beside one
    /// that it usually leaves.
    fn other_speed(&self, left: &SpeedLeft, apart: &Shares) -> f64 {
        let (place, width) = (left.place, 2f64.sqrt() * left.spread);
        let (heat, usual) = self.heat.get(&place).copied().unwrap_or_default();
        let others = (heat - heat_share(apart)).max(0.0);
        let itself = heat_share(apart) * normal(0.0, width);
        let near = (self.near((place, left.level), width) - itself).max(0.0) / others.max(1e-9);
        let known = known_share(others, KNOWN_FROM, MOST_KNOWN);
        let by_others = 1.0 - known + known * LEVELS * near;
        let of_usual = by_others / (RARELY * (1.0 - known + known * LEVELS * usual));
        by_others.min(of_usual).ln().clamp(-MOST, 0.0)
    }

    /// The other drops, each by how likely it is of the same cause.
    fn others(&self, left: &SpeedLeft, apart: &Shares) -> Together {
        let width = 2f64.sqrt() * left.spread;
        let mut sum = Together::default();
        for ((_, at), of_cell) in self.by_cell.range(left.alike()) {
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

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: what heat leaves once in forty times beside the speed that it usually leaves is seldom its own. Method: cycles at one speed, and a
    /// few of another that all else takes for heat as well; two speeds that are left as often; a regulator, which leaves any.
    #[test]
    fn a_speed_that_heat_hardly_ever_leaves_counts_against_it() {
        let heat: Shares = [0.6, 0.2, 0.19, 0.0, 0.01];
        let other_speed = |others: &[(usize, &dyn Fn(usize) -> f64)], bytes_per_s: f64| {
            let left = |bytes_per_s: f64| SpeedLeft {
                place: (0, false, false),
                level: bytes_per_s.ln(),
                spread: SAME,
                stands: true,
            };
            let mut sums = SpeedsLeft::default();
            let speeds = others.iter().flat_map(|(count, speed)| (0..*count).map(speed));
            speeds.chain([bytes_per_s]).for_each(|speed| sums.add(&left(speed), &heat));
            sums.sum_up();
            sums.other_speed(&left(bytes_per_s), &heat)
        };
        let usual = |at: usize| 6e8 * (1.0 + 0.002 * (at % 5) as f64);
        let rare = |at: usize| 1.2e9 * (1.0 + 0.03 * at as f64);
        assert!(other_speed(&[(176, &usual), (4, &rare)], 1.21e9) < -1.5);
        assert_eq!(other_speed(&[(176, &usual), (4, &rare)], 6.01e8), 0.0);
        assert_eq!(other_speed(&[(20, &usual), (20, &|_| 1.2e9)], 1.2e9), 0.0);
        let any = |at: usize| 6e8 * (1.0 + 0.02 * at as f64);
        assert!(other_speed(&[(40, &any)], 9e8) > -0.5);
    }
}
