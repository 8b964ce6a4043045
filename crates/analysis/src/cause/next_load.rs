//! Where a throttle ends in a lighter load of the host's, in a log that does not say what was asked for.
//!
//! Speed then leaves what the threshold left for more, and not for as much as before: by speed alone that is one slow stretch. What a
//! threshold leaves, and for how long, the other drops of the load show. All numbers are chosen: the corpora hardly have such loads.

use super::drops::{SpeedDrop, median_speed};
use crate::segment::{Piece, median};

/// So many drops of a load show what it falls to and for how long, ...
const LEAST: usize = 3;
/// ... if so many of them fell to one speed within this share of it.
const MOST: f64 = 0.75;
const ONE_SPEED: f64 = 0.05;
/// A speed higher by this factor is another one.
const LEFT_FOR: f64 = 1.15;
/// A throttle lasts up to so many times as long as most do, and what is longer is none.
const AS_LONG: f64 = 2.0;

/// The drops of a load, each that goes on at a higher speed for long in two: the throttle, which ends there, and the slower load after it.
pub(super) fn tell_apart(drops: Vec<SpeedDrop>, pieces: &[Piece]) -> Vec<SpeedDrop> {
    let Some(usual) = Usual::of(&drops, pieces) else { return drops };
    let mut places: Vec<usize> = Vec::with_capacity(drops.len());
    // Where each drop was parted, and where what comes after that is.
    let mut later: Vec<Option<(usize, usize)>> = Vec::with_capacity(drops.len());
    let mut parted: Vec<SpeedDrop> = Vec::with_capacity(drops.len());
    for mut drop in drops {
        let of_later = |outer: usize| later[outer].filter(|(from, _)| *from <= drop.first).map(|(_, at)| at);
        drop.inside = drop.inside.map(|outer| of_later(outer).unwrap_or(places[outer]));
        places.push(parted.len());
        let from = usual.left_at(&drop, pieces);
        later.push(from.map(|from| (from, parted.len() + 1)));
        let Some(from) = from else {
            parted.push(drop);
            continue;
        };
        let (own, own_later) = drop.own.iter().copied().partition(|own| *own < from);
        let of = |first: usize, last: usize, own: Vec<usize>, recovered: bool| {
            let level = median_speed(pieces, &own);
            SpeedDrop { first, last, level, recovered, own, ..drop.clone() }
        };
        let throttle = of(drop.first, from - 1, own, true);
        let load = SpeedDrop { sharp: true, parted: true, ..of(from, drop.last, own_later, drop.recovered) };
        parted.extend([throttle, load]);
    }
    parted
}

/// What the drops of a load fall to, in bytes per second, and how long most of them last, in seconds.
struct Usual {
    bytes_per_s: f64,
    lasts_s: f64,
}

impl Usual {
    /// Of drops that come back from one speed.
    fn of(drops: &[SpeedDrop], pieces: &[Piece]) -> Option<Self> {
        let came_back = |drop: &&SpeedDrop| drop.inside.is_none() && !drop.at_start && drop.recovered;
        let (levels, lasts_s): (Vec<f64>, Vec<f64>) =
            drops.iter().filter(came_back).map(|drop| (drop.level, span_s(drop, pieces))).unzip();
        let (bytes_per_s, lasts_s) = (median(&levels), median(&lasts_s));
        let usual = Self { bytes_per_s, lasts_s };
        let alike = levels.iter().filter(|level| usual.is_it(**level)).count();
        (levels.len() > LEAST && bytes_per_s > 0.0 && alike as f64 >= MOST * levels.len() as f64)
            .then_some(usual)
    }

    fn is_it(&self, bytes_per_s: f64) -> bool {
        (bytes_per_s / self.bytes_per_s - 1.0).abs() <= ONE_SPEED
    }

    /// The piece at which a drop leaves that speed for a higher one, where it stays for longer than a throttle lasts.
    fn left_at(&self, drop: &SpeedDrop, pieces: &[Piece]) -> Option<usize> {
        if drop.inside.is_some() || drop.at_start {
            return None;
        }
        // The row of a step holds some of both speeds.
        let mut own = drop.own.iter().copied().skip_while(|own| pieces[*own].slices <= 1);
        let first = own.next().filter(|first| self.is_it(pieces[*first].level))?;
        let from = own.next()?;
        let higher = |own: usize| pieces[own].level >= LEFT_FOR * self.bytes_per_s;
        let stays_s = pieces[drop.last].end_s - pieces[from].start_s;
        let as_long = pieces[first].end_s - pieces[drop.first].start_s <= AS_LONG * self.lasts_s;
        let stays = higher(from) && own.all(higher) && stays_s > AS_LONG * self.lasts_s;
        (as_long && stays).then_some(from)
    }
}

fn span_s(drop: &SpeedDrop, pieces: &[Piece]) -> f64 {
    pieces[drop.last].end_s - pieces[drop.first].start_s
}
