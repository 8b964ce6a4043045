//! Heat against chance, over all drops of a run together.
//!
//! A threshold is a temperature: what it causes begins when the drive has warmed up to it, each time. What has nothing
//! to do with heat comes at some rate in time, whatever the temperature. Both say how many beginnings to expect in a
//! kelvin, so they can be held against each other (a point process on the axis of temperature):
//!
//! - a host's threshold: a density around what it is set to, known before;
//! - the drive's own: one that other drops began at, or a new one where drives usually have them;
//! - chance: the rate of such drops, times the seconds that the drive stayed in that kelvin at full speed.
//!
//! Rates, the drive's own thresholds and how often each cause makes drops of a shape are not known beforehand; each
//! drop is judged by what all *others* say of them ([`super::settle`]).

use std::collections::BTreeMap;

use super::beginning::{Beginning, HostBeginning, RanHotter};
use super::eras::{Eras, InTurn};
use super::evidence::Suspect::{Other, Slc, Tmt1, Tmt2, Vendor};
use super::evidence::{Suspect, heat_row, heat_share};
use super::left::{SpeedLeft, SpeedsLeft};
use super::likelihood::{CELL_K, Shares, cell, kelvin, known_share, mean_of_counts, normal, part_way};
use super::release::Releases;
use super::shape::{self, ByShape, DropShape, Place};
use crate::findings::SegmentOp;
use crate::observation::Observation;

/// "Anywhere within 50 K": the density in a kelvin that all others are told against.
pub(super) const ANYWHERE_PER_K: f64 = 0.02;
/// What is no heat comes once in 500 s, known as if 0.2 had been seen in 100 s.
const RATE_DROPS: f64 = 0.2;
const RATE_S: f64 = 100.0;
/// From so many drops that look alike on, half of what others tell of their rate is left out.
const FEW_ALIKE: f64 = 2.0;
/// A load that begins slow does so for a reason other than heat this often.
const SLOW_BEGINNING: f64 = 0.1;
/// How far above its threshold a drive may be when a load begins, and how far below: a hysteresis, the
/// widest seen is 6 K.
pub(super) const PAST_K: f64 = 30.0;
pub(super) const HYSTERESIS_K: f64 = 8.0;
/// Share of the causes beforehand: TMT1, TMT2, the drive's own, the cache, anything else.
pub(super) const BEFOREHAND: [f64; 5] = [0.2, 0.1, 0.1, 0.1, 0.5];
/// A new threshold of the drive's own is as likely as that one more drop began at a known one.
pub(super) const NEW_THRESHOLD: f64 = 1.5;
/// ... but never less likely than this leaves.
const MOST_KNOWN: f64 = 0.8;
/// One drive in two has a threshold for each operation.
const EACH_ITS_OWN: f64 = 0.5;
/// Of a drive that heat slows down already, and that is hotter now than where that began, a further drop is heat more often than
/// another one is: odds times one more than this.
const STAIRS: f64 = 4.0;
/// ... of a threshold that is not much hotter; one that is further away, from and in full from, is another matter.
const ONE_STAIR_K: [f64; 2] = [5.0, 12.0];
/// A late sensor shows a threshold some kelvins below itself, each time alike: on so many drives, and this the standard
/// deviation of how far.
const LATE: f64 = 0.3;
const LATE_K: f64 = 1.5;
/// Speed that comes back while writing goes on is no full cache.
const BACK_FROM_CACHE: f64 = -2.0;
/// That a threshold acts each time is known as if so many drops had begun at it, all by heat.
const ACTS: f64 = 2.0;
/// The host's thresholds.
const HOST: [Suspect; 2] = [Tmt1, Tmt2];
/// A threshold that acts does not set in once more: so much of a further drop is not it.
const MEETS_ONCE: f64 = 0.8;
/// Further away than so many standard deviations is nothing.
const REACH: f64 = 4.0;

pub(super) struct CandidateDrop {
    pub(super) index: usize,
    pub(super) place: usize,
    pub(super) began: Beginning,
    pub(super) shape: DropShape,
    /// Log odds of everything else that is known of it.
    pub(super) alone: [f64; 5],
    /// The drop that it lies in, and by how much hotter it began than that one, in kelvins, where that is another threshold.
    pub(super) hotter_within: Option<(usize, f64)>,
}

impl CandidateDrop {
    /// What weighs for it that thresholds may have moved unseen: the drive was hotter at full speed only while they stood elsewhere.
    pub(super) fn moved(&self, eras: &Eras) -> Option<(Observation, [f64; 5])> {
        let RanHotter { weight, if_moved, shared } = self.began.ran_hotter;
        let back = (if_moved - weight) * shared;
        let mut row = [0.0; 5];
        (row[Tmt1 as usize], row[Tmt2 as usize]) = (back, back);
        let seen = match eras.in_turn() {
            // Firmware has two of its own as well.
            Some(InTurn { low_k, high_k }) => {
                row[Vendor as usize] = back;
                Observation::ThresholdsInTurn { low_k, high_k }
            }
            None => Observation::ThresholdMoved { moves: eras.moves(), first_s: eras.first_s()? },
        };
        (back > 0.0).then_some((seen, row))
    }
}

/// The place in [`RunSums::rows`] of what the same speed left weighs.
pub(super) const LEFT: usize = 6;

/// What a drop may be.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    pub(super) shares: Shares,
    /// The same without what others say that left the same speed: what it says to those.
    pub(super) apart: Shares,
}

/// What all drops together say of rates, thresholds and shapes.
pub(super) struct RunSums {
    /// Drops of the drive's own, and of any heat whose threshold is not known: of all operations, and of each.
    own: Onsets,
    own_of: BTreeMap<u8, Onsets>,
    /// Of each place, all drops, and those of heat.
    fell: BTreeMap<Place, [Onsets; 2]>,
    /// Drops of the host's thresholds by how far above them they began.
    host: BTreeMap<i64, f64>,
    host_drops: f64,
    shapes: ByShape<(usize, Shares)>,
    releases: Releases,
    left: SpeedsLeft,
    /// How much of each drop is heat.
    heat: Vec<f64>,
    /// How much of each drop is TMT1, and TMT2.
    host_acts: Vec<[f64; 2]>,
    /// Of each drop, the hotter one within it that is heat most likely by all else that is known of it: how likely, and by how
    /// much hotter it began, in kelvins.
    within: Vec<(f64, f64)>,
}

impl RunSums {
    pub(super) fn new(drops: &[CandidateDrop], now: &[Standing]) -> Self {
        let heat: Vec<f64> = now.iter().map(|now| heat_share(&now.shares)).collect();
        let host_acts = now.iter().map(|now| HOST.map(|host| now.shares[host as usize])).collect();
        let mut within = vec![(0.0, 0.0); drops.len()];
        for (drop, inner) in drops.iter().zip(&heat) {
            let Some((outer, by_k)) = drop.hotter_within else { continue };
            let alone = without(*inner, heat[outer]);
            if alone > within[outer].0 {
                within[outer] = (alone, by_k);
            }
        }
        let (mut own, mut own_of) = (Onsets::default(), BTreeMap::<u8, Onsets>::new());
        let mut fell: BTreeMap<Place, [Onsets; 2]> = BTreeMap::new();
        let (mut host, mut host_drops) = (BTreeMap::new(), 0.0);
        let mut shapes: ByShape<(usize, Shares)> = ByShape::new();
        let mut releases = Releases::default();
        let mut left = SpeedsLeft::default();
        for (drop, Standing { shares, apart }) in drops.iter().zip(now) {
            let of_shape = shapes.at(drop.shape);
            of_shape.0 += 1;
            of_shape.1.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
            if let Some(release) = &drop.began.release {
                releases.add(release, heat_share(shares));
            }
            if let Some(speed) = drop.began.left.as_ref().filter(|left| left.stands()) {
                left.add(speed, apart);
            }
            if !drop.began.at_start {
                let [all, by_heat] = fell.entry(drop.shape.place(drop.began.of)).or_default();
                all.add(drop.began.temp_k, 1.0);
                by_heat.add(drop.began.temp_k, heat_share(shares));
                let share = own_share(drop, shares);
                own.add(drop.began.temp_k, share);
                own_of.entry(op(drop)).or_default().add(drop.began.temp_k, share);
                for (above_k, share) in host_shares(drop, shares) {
                    *host.entry(cell(above_k)).or_default() += share;
                    host_drops += share;
                }
            }
        }
        left.sum_up();
        Self { own, own_of, fell, host, host_drops, shapes, releases, left, heat, host_acts, within }
    }

    /// What the other drops show about this one, and what it weighs.
    pub(super) fn observations(
        &self,
        drop: &CandidateDrop,
        standing: &Standing,
    ) -> Vec<(Observation, [f64; 5])> {
        let [chance, others, alike, _, further, within, left, otherwise] = self.rows(drop, standing);
        let now = &standing.shares;
        let Beginning { stay_s_per_k, temp_k, .. } = drop.began;
        let (drops, sums) = self.alike(drop);
        let every_s = 1.0 / self.rate_per_s(drop, now, Other);
        let mut seen = vec![(Observation::ByChance { stay_s_per_k, every_s }, chance)];
        let counts = |row: &[f64; 5]| row.iter().any(|weight| weight.abs() > 0.01);
        if counts(&others) {
            let drops = self.near(drop, now).round() as usize;
            seen.push((Observation::BeganAlike { drops, within: 0, temp_k }, others));
        }
        if counts(&otherwise) {
            let [drops, thermal] = self.fell_there(drop, now).map(|drops| drops.round() as usize);
            seen.push((Observation::FellOtherwise { drops, thermal, temp_k }, otherwise));
        }
        // The sums hold the drop itself.
        let like_it = drops.saturating_sub(1);
        if like_it > 0 && counts(&alike) {
            let thermal = (heat_share(&sums) - heat_share(now)).round().max(0.0) as usize;
            seen.push((Observation::LooksAlike { drops: like_it, within: 0, thermal }, alike));
        }
        seen.extend(self.release(drop, now));
        seen.extend(self.left(drop, standing).map(|(seen, _)| (seen, left)).filter(|_| counts(&left)));
        if let Some((_, by_k)) = self.further(drop).filter(|_| counts(&further)) {
            seen.push((Observation::HotterWhileThrottled { by_k }, further));
        }
        if counts(&within) {
            seen.push((Observation::FurtherWithin { by_k: self.within[drop.place].1 }, within));
        }
        seen
    }

    /// Where speed came back, or had not, and what that weighs: a full cache does not empty while writing goes on.
    fn release(&self, drop: &CandidateDrop, now: &Shares) -> Option<(Observation, [f64; 5])> {
        if let Some(held) = &drop.began.held_on {
            let (seen, weight) = self.releases.held_on(held)?;
            return Some((seen, heat_row(weight)));
        }
        let (seen, weight) = self.releases.weigh(&drop.began.release?, heat_share(now));
        let mut row = heat_row(weight);
        row[Slc as usize] = if drop.began.rested { 0.0 } else { BACK_FROM_CACHE };
        Some((seen, row))
    }

    /// Whether others left the same speed, and what that weighs.
    fn left(&self, drop: &CandidateDrop, now: &Standing) -> Option<(Observation, [f64; 5])> {
        drop.began.left.filter(SpeedLeft::stands).map(|left| self.left.weigh(&left, &now.apart))
    }

    /// How much of the drop that this one lies in is heat, and by how much hotter this one began.
    fn further(&self, drop: &CandidateDrop) -> Option<(f64, f64)> {
        drop.hotter_within.map(|(outer, by_k)| (self.heat[outer], by_k))
    }

    /// What it weighs that the drive was throttled already and got hotter still.
    fn further_row(&self, drop: &CandidateDrop) -> [f64; 5] {
        // Where nobody knows what was asked for, a host pauses on a throttled drive as on any other.
        let Some((outer, _)) = drop.hotter_within.filter(|_| !drop.began.paused()) else { return [0.0; 5] };
        let mut row = stairs(self.heat[outer]);
        if drop.began.host_unknown {
            return row;
        }
        for (host, acts) in HOST.iter().zip(self.host_acts[outer]) {
            row[*host as usize] = (1.0 + STAIRS * (self.heat[outer] - acts) - MEETS_ONCE * acts).ln();
        }
        row
    }

    /// What it weighs that heat slowed the drive down further when it had got hotter.
    fn within_row(&self, drop: &CandidateDrop) -> [f64; 5] {
        let (heat, by_k) = self.within[drop.place];
        stairs(heat * (1.0 - part_way(by_k, ONE_STAIR_K)))
    }

    /// What chance, the thresholds of others, the shape, where speed came back and the rest weigh for a drop.
    pub(super) fn rows(&self, drop: &CandidateDrop, standing: &Standing) -> [[f64; 5]; 8] {
        let now = &standing.shares;
        let began = &drop.began;
        let (count, alike) = self.alike(drop);
        let mut chance = [0.0; 5];
        let by = |rate_per_s: f64| match began.at_start {
            true => (SLOW_BEGINNING / (PAST_K + HYSTERESIS_K) / ANYWHERE_PER_K).ln(),
            false => (rate_per_s * began.stay_s_per_k / ANYWHERE_PER_K).ln(),
        };
        chance[Other as usize] = by(self.rate_per_s(drop, now, Other));
        // Reading fills no cache, however long it goes on; one that a rest empties in part is full again soon, as often as it was.
        if began.of.0 != SegmentOp::Read {
            let again = if began.refilled { self.rate_per_s(drop, now, Slc) } else { 0.0 };
            chance[Slc as usize] = by(began.cache_ends_per_s.max(again));
        }
        let mut others = [0.0; 5];
        // Of drops that share a threshold one was the first, and had none to go by.
        let first = 1.0 / (1.0 + self.near(drop, now));
        let own = (self.own_per_k(drop, now) / began.own_per_k).ln();
        // What is slowed down already and got hotter meets another threshold, if any, and what holds on while others come and go within it
        // is met once: that no other began here says nothing.
        let further = self.further(drop).map_or(0.0, |(heat, _)| heat).max(self.within[drop.place].0);
        let own = if own > 0.0 { own * (1.0 - first) } else { own * (1.0 - further) };
        others[Vendor as usize] = own;
        if began.host_unknown {
            (others[Tmt1 as usize], others[Tmt2 as usize]) = (own, own);
        }
        for (host, suspect) in began.host.iter().zip([Tmt1, Tmt2]) {
            if let Some(host) = host {
                others[suspect as usize] = self.host(drop, now, host);
            }
        }
        // A threshold that is met acts, and does not leave most of what begins there to something else.
        let [there, by_heat] = self.fell_there(drop, now);
        let otherwise = heat_row(((by_heat + ACTS) / (there + ACTS)).ln());
        let release = self.release(drop, now).map_or([0.0; 5], |(_, row)| row);
        let alike = shape::row(count, &alike, now);
        let mut left = self.left(drop, standing).map_or([0.0; 5], |(_, row)| row);
        // A full cache is rare beforehand, so that either says most for it: that others look alike and left the same speed is one reason.
        left[Slc as usize] = beyond(left[Slc as usize], alike[Slc as usize]);
        [chance, others, alike, release, self.further_row(drop), self.within_row(drop), left, otherwise]
    }

    /// Density of thresholds of the drive's own at this temperature: one that others began at, or a new one. A drive may have one for all it
    /// does, or one for each operation.
    fn own_per_k(&self, drop: &CandidateDrop, now: &Shares) -> f64 {
        let began = &drop.began;
        let itself = if began.at_start { 0.0 } else { own_share(drop, now) };
        let any_per_k = self.own.per_k(began, itself);
        let of_op = self.own_of.get(&op(drop));
        let (op_per_k, others) =
            of_op.map_or((0.0, 0.0), |of_op| (of_op.per_k(began, itself), of_op.drops - itself));
        let by_op = EACH_ITS_OWN * known_share(others.max(0.0), NEW_THRESHOLD, MOST_KNOWN);
        // However often a known one was met, there may be another.
        let known = known_share(self.own.drops - itself, NEW_THRESHOLD, MOST_KNOWN);
        ((1.0 - known) * began.own_per_k + known * (any_per_k + by_op * (op_per_k - any_per_k))).max(1e-9)
    }

    /// What others that began as far above a threshold of the host's weigh for this one: a late sensor is late each time.
    fn host(&self, drop: &CandidateDrop, now: &Shares, host: &HostBeginning) -> f64 {
        if drop.began.at_start || host.above_k > 0.0 {
            return 0.0;
        }
        let width_k = 2f64.sqrt() * drop.began.spread_k;
        let per_k = |above: i64| normal(above as f64 * CELL_K - host.above_k, width_k);
        let (low, high) = (cell(host.above_k - REACH * width_k), cell(host.above_k + REACH * width_k));
        let mut density: f64 = self.host.range(low..=high).map(|(above, share)| share * per_k(*above)).sum();
        let mut drops = self.host_drops;
        for (above_k, share) in host_shares(drop, now) {
            density -= share * per_k(cell(above_k));
            drops -= share;
        }
        let known = known_share(drops, NEW_THRESHOLD, MOST_KNOWN);
        // Whether the sensor is late is asked once of all that began there.
        let late = (LATE * (-0.5 * (host.above_k / LATE_K).powi(2)).exp()).powf(1.0 / (1.0 + drops.max(0.0)));
        let by_others = late * known * density.max(0.0) / drops.max(1e-9);
        (((1.0 - known) * host.per_k + by_others) / host.per_k).ln().max(0.0)
    }

    /// How many others of this place began there, and how many of them are heat.
    fn fell_there(&self, drop: &CandidateDrop, now: &Shares) -> [f64; 2] {
        let Some(fell) = self.fell.get(&drop.shape.place(drop.began.of)) else { return [0.0; 2] };
        let itself = if drop.began.at_start { [0.0; 2] } else { [1.0, heat_share(now)] };
        [0, 1].map(|at: usize| (fell[at].near(drop) - itself[at]).max(0.0))
    }

    /// How many others began there, those of heat.
    fn near(&self, drop: &CandidateDrop, now: &Shares) -> f64 {
        let itself = if drop.began.at_start { 0.0 } else { own_share(drop, now) };
        (self.own.near(drop) - itself).max(0.0)
    }

    /// How often a drop like this one comes by chance, by the others: those that look like it, and where those are few, all as
    /// deep and up to ten times as long or short. A speed that wobbles falls for any time.
    fn rate_per_s(&self, drop: &CandidateDrop, now: &Shares, of: Suspect) -> f64 {
        let of = of as usize;
        let alike = (self.alike(drop).1[of] - now[of]).max(0.0);
        let as_deep = self.shapes.as_deep(drop.shape).map(|(_, shares)| shares[of]);
        let as_deep = (as_deep.sum::<f64>() - now[of]).max(alike);
        let others = alike + (as_deep - alike) * FEW_ALIKE / (FEW_ALIKE + alike);
        // The first had none to go by, the second one, and so on: their geometric mean.
        let seen_per_s = mean_of_counts(RATE_DROPS, 1.0 + others) / (RATE_S + drop.began.exposed_s);
        seen_per_s.max(drop.began.least_rate_per_s)
    }

    /// How many drops look like this one, and what they may be.
    fn alike(&self, drop: &CandidateDrop) -> (usize, Shares) {
        let mut sum = (0, [0.0; 5]);
        for (count, shares) in self.shapes.alike(drop.shape) {
            sum.0 += count;
            sum.1.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
        }
        sum
    }
}

/// Where drops of heat began.
#[derive(Debug, Default)]
struct Onsets {
    /// How many, by temperature.
    by_cell: BTreeMap<i64, f64>,
    drops: f64,
}

impl Onsets {
    fn add(&mut self, temp_k: f64, share: f64) {
        *self.by_cell.entry(cell(temp_k)).or_default() += share;
        self.drops += share;
    }

    /// How many began where a drop did.
    fn near(&self, drop: &CandidateDrop) -> f64 {
        let reach_k = 2.0 * drop.began.spread_k;
        let (low, high) = (cell(drop.began.temp_k - reach_k), cell(drop.began.temp_k + reach_k));
        self.by_cell.range(low..=high).map(|(_, share)| share).sum()
    }

    /// Density at the beginning of another drop, `itself` of which is one of these.
    fn per_k(&self, began: &Beginning, itself: f64) -> f64 {
        let width_k = 2f64.sqrt() * began.spread_k;
        let (low, high) = match began.at_start {
            true => (began.temp_k - PAST_K, began.temp_k + HYSTERESIS_K),
            false => (began.temp_k - REACH * width_k, began.temp_k + REACH * width_k),
        };
        let per_k = |cell: i64| match began.at_start {
            true => 1.0 / (PAST_K + HYSTERESIS_K),
            false => normal(kelvin(cell) - began.temp_k, width_k),
        };
        let near = self.by_cell.range(cell(low)..=cell(high));
        let density: f64 = near.map(|(cell, share)| share * per_k(*cell)).sum();
        (density - itself * per_k(cell(began.temp_k))).max(0.0) / (self.drops - itself).max(1e-9)
    }
}

/// The operation of a drop.
const fn op(drop: &CandidateDrop) -> u8 {
    drop.began.of.0 as u8
}

/// What an observation weighs beyond another one that says the same.
fn beyond(weight: f64, other: f64) -> f64 {
    if weight * other <= 0.0 { weight } else { weight.signum() * (weight.abs() - other.abs()).max(0.0) }
}

/// What a step of stairs weighs for another one, by how likely it is heat.
fn stairs(heat: f64) -> [f64; 5] {
    heat_row((heat * STAIRS).ln_1p())
}

/// A probability without what the other of two says for it by [`STAIRS`].
fn without(heat: f64, other: f64) -> f64 {
    let odds = heat / (1.0 - heat).max(1e-9) / (1.0 + other * STAIRS);
    odds / (1.0 + odds)
}

/// How much of a drop is one of the drive's own threshold, or of one that is not known.
fn own_share(drop: &CandidateDrop, shares: &Shares) -> f64 {
    let host = if drop.began.host_unknown { shares[Tmt1 as usize] + shares[Tmt2 as usize] } else { 0.0 };
    shares[Vendor as usize] + host
}

/// How far above a threshold of the host's a drop began, and how much of it is due to that.
fn host_shares(drop: &CandidateDrop, shares: &Shares) -> impl Iterator<Item = (f64, f64)> {
    let each = drop.began.host.into_iter().zip([shares[Tmt1 as usize], shares[Tmt2 as usize]]);
    each.filter_map(|(host, share)| Some((host?.above_k, share)))
}
