//! What the drops of a run are, all together.
//!
//! Each is judged by what all others say, and that again until it stands (expectation-maximisation with each drop left out of
//! what it is judged by). Where that leads depends on where it begins: a run may be explained by a threshold, and nearly as well
//! by chance on a plateau of temperature. Each way counts by its likelihood.

use std::collections::BTreeMap;

use super::Judged;
use super::beginning::{Beginning, RanHotter};
use super::case::OTHER_THRESHOLD_K;
use super::crossing::{ANYWHERE_PER_K, CandidateDrop, LEFT, RunSums, Standing};
use super::eras::Eras;
use super::evidence::Suspect::{Other, Slc, Tmt1, Tmt2, Vendor};
use super::evidence::{HEAT, NOT_HEAT, Suspect, heat_share};
use super::heat::Heat;
use super::likelihood::{ONE_THRESHOLD_K, Shares, cell, kelvin, log_sum, part_way, seen_once, shares};
use super::mix::ONE_ROSE;
use super::ways::{Settled, distinct, otherwise, told};
use super::{governed, left, release, shape, undecidable};
use crate::findings::SegmentOp;
use crate::segment::{Piece, median, median_and_deviation};

/// One run in twenty has drops by heat and by chance: the logarithm of that.
const BOTH: f64 = 3.0;
/// What is no heat begins late by itself, with the drive's filling or the host's clock, in one run of twenty: the logarithm of that.
const BEGINS_LATE: f64 = 3.0;
/// ... and does so again in another load more easily.
const AGAIN: f64 = 0.5;
/// In one run of twenty nothing was heat though each drop by itself would rather be: the logarithm of that.
const NEVER_HEAT: f64 = 3.0;
/// A quiet first time as unlikely as that, as a logarithm, says nothing: of some hundred runs that are not heat each has its own.
const ANY_QUIET: f64 = 2.5;
/// What it weighs at most that a threshold was not met for long, as a logarithm.
const MOST_HOTTER: f64 = 3.0;
/// One drive in seven has a threshold of its host's anywhere above 45 °C: so much counts for each drop alone.
const ANY_SETTING: f64 = 2.0;
/// What it weighs that writing never came back but over a rest, from so many times on in part, and when it may have done so all the same.
const ONLY_BY_RESTS: f64 = 2.0;
const REST_SHOWS: [f64; 2] = [4.0, 8.0];
const MAY_COME_BACK: f64 = 0.1;
/// ... to speeds that differ by no more than this share.
const AS_SLOW: f64 = 0.05;
/// What a drive that stops to cool weighs once, beside what each stop does: with none of it a host's rests at 57 °C were stops, 81 %, and with
/// twice as much a drive that stopped 50 times was cleared (both by others' simulators).
const STOPS: f64 = 0.8;
/// As good as impossible, as a logarithm.
const BARRED: f64 = -60.0;
/// Rounds until nothing changes any more; three quarters of the way are gone in each.
const ROUNDS: usize = 24;
const STEP: f64 = 0.75;

/// Judges all drops together, and adds what that weighs to the evidence of each.
pub(super) fn judge(judged: &mut [Judged], pieces: &[Piece], eras: &Eras, heat: &Heat) {
    // What is known of no temperature has only itself to go by.
    judged.iter_mut().filter(|judged| judged.began.is_none()).for_each(|one| undecidable::weigh(one, pieces));
    let stands = Model::new(judged, None, heat);
    if stands.drops.is_empty() {
        return;
    }
    let mut settled = stands.all_settled();
    let moved = eras.unlikely().map(|_| Model::new(judged, Some(eras), heat));
    if let Some(moved) = &moved {
        settled = distinct(settled.into_iter().chain(moved.all_settled()).collect());
    }
    let odds: Vec<f64> = settled.iter().map(|way| way.odds(&settled[0])).collect();
    let told = told(&settled, &odds);
    let best = &settled[told];
    let model = moved.as_ref().filter(|_| best.moved).unwrap_or(&stands);
    let sums = RunSums::new(&model.drops, &best.drops);
    for (drop, now) in model.drops.iter().zip(&best.drops) {
        let judged = &mut judged[drop.index];
        let moved = drop.moved(eras).filter(|_| best.moved);
        let seen = moved.into_iter().chain(sums.observations(drop, now));
        seen.for_each(|(observation, weights)| judged.evidence.weigh_row(observation, weights));
        undecidable::weigh(judged, pieces);
        let of_told = shares(&judged.evidence.total());
        if let Some((seen, weights)) = otherwise(&settled, &odds, told, drop.place, &of_told) {
            judged.evidence.weigh_row(seen, weights);
        }
        judged.verdict = judged.evidence.verdict();
        judged.evidence.shrink();
    }
}

struct Model {
    /// The sensor's resolution in kelvins, and how long a speed usually lasts in seconds.
    step_k: f64,
    slice_s: f64,
    drops: Vec<CandidateDrop>,
    /// How unlikely it is that thresholds moved unseen as they do by it, as a logarithm; `None` where they stand.
    moved: Option<f64>,
}

impl Model {
    /// By the thresholds that stand, or by those that moved.
    fn new(judged: &[Judged], moved: Option<&Eras>, heat: &Heat) -> Self {
        let mut drops: Vec<CandidateDrop> = Vec::with_capacity(judged.len());
        for (index, judged) in judged.iter().enumerate() {
            let Some(began) = judged.began else { continue };
            let outer = judged
                .drop
                .inside
                .and_then(|outer| drops.binary_search_by_key(&outer, |drop| drop.index).ok());
            let hotter_within = outer
                .map(|outer| (outer, began.temp_k - drops[outer].began.temp_k))
                .filter(|(_, by_k)| *by_k >= OTHER_THRESHOLD_K);
            let mut drop = CandidateDrop {
                index,
                place: drops.len(),
                began,
                shape: judged.shape,
                alone: judged.evidence.total(),
                hotter_within,
            };
            if let Some((_, moved)) = moved.and_then(|eras| drop.moved(eras)) {
                drop.alone.iter_mut().zip(moved).for_each(|(alone, moved)| *alone += moved);
            }
            if moved.is_some() {
                drop.began = drop.began.moved();
            }
            drops.push(drop);
        }
        Self { step_k: heat.step_k, slice_s: heat.slice_s, drops, moved: moved.and_then(Eras::unlikely) }
    }

    /// What some beginnings lead to, the likeliest first: all by what is known of each alone and heat if it can be, the same by the
    /// host's thresholds, all by chance, and a part of them by heat and the rest by chance.
    fn all_settled(&self) -> Vec<Settled> {
        let heat_or_chance =
            |is_heat: &dyn Fn(usize) -> bool| self.without(|at| if is_heat(at) { &[Other] } else { &HEAT });
        let caches = self.caches();
        let of_one =
            [self.without(|_| &[Other, Slc]), self.without(|_| &[Other, Vendor]), heat_or_chance(&|_| false)];
        let of_one = of_one.into_iter().chain(caches.clone());
        let of_both = self.parts().into_iter().map(|part| heat_or_chance(&|at| part[at]));
        let of_one = of_one.map(|from| self.settle(from, |_| &[]));
        let of_both = of_both.map(|from| {
            let settled = self.settle(from, |_| &[]);
            Settled { likelihood: settled.likelihood - BOTH, ..settled }
        });
        let mut distinct = distinct(of_one.chain(of_both).collect());
        let any_heat = distinct.iter().any(|way| self.heat(&way.drops).next().is_some());
        let some_heat = if any_heat || self.drops.len() < 2 { Vec::new() } else { self.some_heat() };
        for kept in std::iter::once(self.no_heat(caches)).chain(some_heat) {
            if !distinct.iter().any(|known| known.differing(&kept) == 0) {
                distinct.push(kept);
            }
        }
        distinct
    }

    /// That nothing was heat explains a run even where nothing settles there; it is told as the other explanation.
    fn no_heat(&self, caches: Option<Vec<Standing>>) -> Settled {
        let never = |from: Vec<Standing>| self.settle(from, |_| &HEAT);
        let mut no_heat = never(self.without(|_| &HEAT));
        if let Some(caches) = caches.map(never) {
            no_heat = if caches.likelihood > no_heat.likelihood { caches } else { no_heat };
        }
        no_heat.once -= NEVER_HEAT;
        no_heat
    }

    /// Likewise, where no drop of any explanation stays heat, that those of a part were that may be heat, or all of them: one after the other
    /// gives way, and takes from the rest what speaks for them together.
    fn some_heat(&self) -> Vec<Settled> {
        let all = vec![true; self.drops.len()];
        let parts = self.parts().into_iter().map(|part| (part, BOTH)).chain([(all, 0.0)]);
        let kept = parts.map(|(part, both)| {
            let kept = |at: usize| -> &'static [Suspect] { if part[at] { &NOT_HEAT } else { &[] } };
            let from = self.without(|at| if part[at] { &NOT_HEAT } else { &HEAT });
            let settled = self.settle(from, kept);
            Settled { once: settled.once - NEVER_HEAT, likelihood: settled.likelihood - both, ..settled }
        });
        kept.collect()
    }

    /// All writing by a cache that rests empty in part, and the rest by chance; `None` where none may be. A full cache stops nothing.
    fn caches(&self) -> Option<Vec<Standing>> {
        let slow = |began: &Beginning| began.of.0 == SegmentOp::Write && !began.stopped();
        let any = self.drops.iter().any(|drop| drop.began.refilled && slow(&drop.began));
        any.then(|| {
            self.without(|at| match slow(&self.drops[at].began) {
                true => &[Tmt1, Tmt2, Vendor, Other],
                false => &[Tmt1, Tmt2, Vendor, Slc],
            })
        })
    }

    /// What is known of each drop alone, with some suspects much less likely.
    fn without(&self, suspects: impl Fn(usize) -> &'static [Suspect]) -> Vec<Standing> {
        const LESS: f64 = -6.0;
        let drops = self.drops.iter().map(|drop| {
            let mut alone = drop.alone;
            suspects(drop.place).iter().for_each(|suspect| alone[*suspect as usize] += LESS);
            let shares = shares(&alone);
            Standing { shares, apart: shares }
        });
        drops.collect()
    }

    /// Of which drops a drive that has some by heat and some by chance may have those by heat: those of the commonest kind, all
    /// others, or those that began at the commonest temperature.
    fn parts(&self) -> Vec<Vec<bool>> {
        let all: Vec<usize> = (0..self.drops.len()).collect();
        let mut of_kind = vec![false; self.drops.len()];
        shape::of_one_kind(&all, |at| self.drops[at].shape).into_iter().for_each(|at| of_kind[at] = true);
        let others = of_kind.iter().map(|of_kind| !of_kind).collect();
        let mut began: BTreeMap<i64, usize> = BTreeMap::new();
        self.drops.iter().for_each(|drop| *began.entry(cell(drop.began.temp_k)).or_default() += 1);
        let near = |middle: i64| {
            began.range(cell(kelvin(middle) - ONE_THRESHOLD_K)..=cell(kelvin(middle) + ONE_THRESHOLD_K))
        };
        let count = |middle: &i64| near(*middle).map(|(_, drops)| drops).sum::<usize>();
        let Some(commonest) = began.keys().copied().max_by_key(count) else { return Vec::new() };
        let at_it = |drop: &CandidateDrop| (drop.began.temp_k - kelvin(commonest)).abs() <= ONE_THRESHOLD_K;
        let parts = [of_kind, others, self.drops.iter().map(at_it).collect()];
        parts.into_iter().filter(|part| part.contains(&true) && part.contains(&false)).collect()
    }

    /// Goes round until it stands; the logarithm of the likelihood, and what each drop may be.
    /// No drop is what is `barred` for it.
    fn settle(&self, mut now: Vec<Standing>, barred: impl Fn(usize) -> &'static [Suspect]) -> Settled {
        let any_barred = (0..now.len()).any(|at| !barred(at).is_empty());
        let mut likelihood = f64::NEG_INFINITY;
        for _ in 0..ROUNDS {
            crate::work::count(self.drops.len());
            let sums = RunSums::new(&self.drops, &now);
            likelihood = 0.0;
            let mut most = 0.0f64;
            for (drop, now) in self.drops.iter().zip(&mut now) {
                let rows = sums.rows(drop, now);
                let mut total: [f64; 5] =
                    std::array::from_fn(|s| drop.alone[s] + rows.iter().map(|row| row[s]).sum::<f64>());
                barred(drop.place).iter().for_each(|suspect| total[*suspect as usize] += BARRED);
                likelihood += log_sum(&total);
                let apart: [f64; 5] = std::array::from_fn(|s| total[s] - rows[LEFT][s]);
                most = most.max(step(&mut now.shares, shares(&total)));
                step(&mut now.apart, shares(&apart));
            }
            if most < 1e-3 {
                break;
            }
        }
        Settled {
            likelihood,
            once: self.ran_hotter(&now) + self.cooled_far(&now) + self.set_low(&now)
                - self.quiet_at_first(&now)
                - self.quiet_hotter(&now)
                - self.one_speed(&now)
                - self.by_time(&now)
                - self.by_rests(&now)
                - self.by_approach(&now)
                - self.stops(&now)
                - self.rose(&now)
                - self.moved.unwrap_or(0.0),
            moved: self.moved.is_some(),
            barred: any_barred,
            drops: now,
        }
    }

    /// What weighs that the drive had been hotter at full speed than where most drops of heat began. Each drop counts a share of it,
    /// as a threshold that was moved speaks against none; this is the rest.
    fn ran_hotter(&self, now: &[Standing]) -> f64 {
        let weight = |ran: RanHotter| if self.moved.is_some() { ran.if_moved } else { ran.weight };
        let weights: Vec<f64> = self.heat(now).map(|drop| weight(drop.began.ran_hotter)).collect();
        shared_rest(&weights)
    }

    /// How unlikely it is that heat lets go only so far below where it set in, as a logarithm: a drive has one hysteresis, and that of
    /// most is narrow. A host lets a drive cool as far as it likes.
    fn cooled_far(&self, now: &[Standing]) -> f64 {
        let cooled: Vec<f64> = self.heat(now).filter_map(|drop| Some(drop.began.release?.cooled_k)).collect();
        -release::width(median(&cooled))
    }

    /// How unlikely a threshold is where most drops of heat began, as a logarithm: a drive has it there or not, and what is shared of it as
    /// by [`Self::ran_hotter`] is the rest.
    fn set_low(&self, now: &[Standing]) -> f64 {
        let unlikely = |drop: &CandidateDrop| (drop.began.own_per_k / ANYWHERE_PER_K).ln() + ANY_SETTING;
        let unknown = self.heat(now).filter(|drop| drop.began.host_unknown);
        let low: Vec<f64> = unknown.map(|drop| unlikely(drop).min(0.0)).collect();
        shared_rest(&low)
    }

    /// Those that are heat, rather than not.
    fn heat<'a>(&'a self, now: &'a [Standing]) -> impl Iterator<Item = &'a CandidateDrop> {
        let is_heat = |now: &Standing| heat_share(&now.shares) > 0.5;
        self.drops.iter().zip(now).filter(move |(_, now)| is_heat(now)).map(|(drop, _)| drop)
    }

    /// How unlikely it is that what is no heat came only once the drive had warmed up, as a logarithm: by the time at full speed
    /// that usually passed between two of these drops, against that before the first of a load while the drive was cooler than any of
    /// them began. A clock would have struck, and chance comes at any temperature. What begins late once with the drive's filling does not
    /// do so in each load.
    fn quiet_at_first(&self, now: &[Standing]) -> f64 {
        let mut by_op: BTreeMap<u8, (f64, f64, BTreeMap<usize, f64>)> = BTreeMap::new();
        for (drop, now) in self.drops.iter().zip(now) {
            let Beginning { of: (op, inside), stretch, quiet_s, full_speed_s, at_start, .. } = drop.began;
            let chance = now.shares[Other as usize];
            if !inside && !at_start && chance > 0.5 {
                let (drops, all_s, quiets_s) = by_op.entry(op as u8).or_default();
                *drops += chance;
                *all_s = full_speed_s;
                let least_s = quiets_s.entry(stretch).or_insert(f64::INFINITY);
                *least_s = least_s.min(quiet_s);
            }
        }
        let each = by_op.values().flat_map(|(drops, all_s, quiets_s)| {
            let quiet_s: f64 = quiets_s.values().sum();
            quiets_s
                .values()
                .map(move |s| (drops * s / (all_s - quiet_s).max(1.0) - ANY_QUIET).clamp(0.0, BEGINS_LATE))
        });
        let (sum, most) = each.fold((0.0, 0.0f64), |(sum, most), one| (sum + one, most.max(one)));
        most + (AGAIN * (sum - most)).min(BEGINS_LATE)
    }

    /// How unlikely it is that the drive was at full speed for long before any drop, hotter by a step of its sensor than where most drops of
    /// heat began later, as a logarithm: it would have met their threshold.
    fn quiet_hotter(&self, now: &[Standing]) -> f64 {
        let began = self.heat(now).map(|drop| drop.began).filter(|began| !began.at_start && !began.of.1);
        let times: Vec<f64> = began.map(|began| began.quiet_hotter).collect();
        if times.is_empty() { 0.0 } else { median(&times).ln().clamp(0.0, MOST_HOTTER) }
    }

    /// How unlikely it is that a temperature governed when drops of heat ended, as a logarithm.
    fn by_time(&self, now: &[Standing]) -> f64 {
        governed::by_time(self.heat(now).map(|drop| &drop.began), self.step_k, self.slice_s)
    }

    /// How unlikely it is that a temperature governed when drops of heat began, as a logarithm.
    fn by_approach(&self, now: &[Standing]) -> f64 {
        governed::by_approach(self.heat(now).map(|drop| &drop.began))
    }

    /// How unlikely it is that writing that heat slowed down never came back but over a rest, as a logarithm: a rest empties a cache, and a
    /// drive that is slowed down cools while it writes.
    fn by_rests(&self, now: &[Standing]) -> f64 {
        let writes =
            |drop: &&CandidateDrop| drop.began.of == (SegmentOp::Write, false) && !drop.began.stopped();
        let (back, rests): (Vec<&CandidateDrop>, Vec<_>) =
            self.heat(now).filter(writes).partition(|drop| drop.shape.recovered && !drop.began.rested);
        // A cache leaves one speed.
        let left: Vec<f64> = rests.iter().filter_map(|drop| Some(drop.began.left?.level())).collect();
        if left.is_empty() || median_and_deviation(&left).1 > AS_SLOW {
            return 0.0;
        }
        let (back, rests) = (back.len() as f64, rests.len() as f64);
        if back <= MAY_COME_BACK * rests { ONLY_BY_RESTS * part_way(rests, REST_SHOWS) } else { 0.0 }
    }

    /// How unlikely it is that a drive stops to cool, where nobody knows whether anything was asked for, as a logarithm: what is shared of
    /// it as by [`Self::ran_hotter`] is the rest.
    fn stops(&self, now: &[Standing]) -> f64 {
        STOPS * (1.0 - seen_once(self.heat(now).filter(|drop| drop.began.paused()).count()))
    }

    /// How unlikely it is that a drive that is slowed down does more of what it did less of, as a logarithm, shared likewise.
    fn rose(&self, now: &[Standing]) -> f64 {
        let rose: Vec<f64> = self.heat(now).map(|drop| drop.began.rose).collect();
        -ONE_ROSE * shared_rest(&rose)
    }

    /// How unlikely it is that heat and what is no heat leave one speed, as a logarithm. A load that begins slow may go on with what heat began.
    fn one_speed(&self, now: &[Standing]) -> f64 {
        let is_other =
            |drop: &CandidateDrop, now: &Standing| !drop.began.at_start && now.shares[Other as usize] > 0.5;
        let other = self.drops.iter().zip(now).filter(|(drop, now)| is_other(drop, now));
        let left = |drop: &CandidateDrop| drop.began.left;
        left::coincide(self.heat(now).filter_map(left), other.filter_map(|(drop, _)| left(drop)))
    }
}

/// What is seen once of the drops of a run and was not counted by any of them: each has counted a share.
fn shared_rest(weights: &[f64]) -> f64 {
    median(weights) * (1.0 - seen_once(weights.len()))
}

/// Goes most of the way to `new`; by how much that changed anything at most.
fn step(now: &mut Shares, new: Shares) -> f64 {
    let mut most = 0.0f64;
    for (now, new) in now.iter_mut().zip(new) {
        most = most.max((new - *now).abs());
        *now += STEP * (new - *now);
    }
    most
}
