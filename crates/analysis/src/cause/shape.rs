//! Which drops look the same: about as deep, and about as long.
//!
//! They are sorted into cells of loss and of the time's worth of data that was lost, so that the work grows with the
//! number of drops and not with its square; neighbouring cells count as alike.

use std::collections::BTreeMap;

use super::crossing::BEFOREHAND;
use super::drops::SpeedDrop;
use super::history::Depth;
use super::likelihood::Shares;
use crate::segment::Piece;

/// Width of a cell as a factor of the loss; drops that stand at a speed of their own are alike up to one cell apart, ...
const LOSS_FACTOR: f64 = 1.25;
const STANDS: i64 = 1;
/// ... what stands still is like nothing that moves: a host's pause, or a drive's stop, ...
const STOPPED: i64 = 99;
/// ... others further: a log of few intervals a drop mixes slow and fast in each.
const MIXED: i64 = 3;
/// ... and of the time's worth of data that was lost, which such a log keeps.
const LOST_FACTOR: f64 = 1.5;

/// What each cause is beforehand is known as if so many drops of each shape had been seen.
const BEFOREHAND_DROPS: f64 = 2.0;
/// Ten times as long, in cells of that.
const MUCH_LONGER: i64 = 6;

/// The look of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DropShape {
    loss: i64,
    size: i64,
    pub(super) recovered: bool,
    /// Whether its loss is that of a speed at which it stood.
    stands: bool,
    pub(super) fall: Fall,
}

/// What drops are held against each other by: the operation, whether within another drop, and whether speed fell little by little.
pub(super) type Place = (u8, bool, bool);

/// How speed fell. What falls at once is no measure of what falls little by little: few things but heat do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fall {
    AtOnce,
    LittleByLittle,
    /// The load began slow.
    Unseen,
}

impl Fall {
    /// How those fell that this one may be like.
    const fn alike(self) -> &'static [Self] {
        match self {
            Self::AtOnce => &[Self::AtOnce, Self::Unseen],
            Self::LittleByLittle => &[Self::LittleByLittle, Self::Unseen],
            Self::Unseen => &[Self::AtOnce, Self::LittleByLittle, Self::Unseen],
        }
    }
}

impl DropShape {
    pub(super) fn new(drop: &SpeedDrop, pieces: &[Piece]) -> Self {
        let loss = (1.0 - super::strength(drop).unwrap_or(0.5)).max(1e-3);
        let span_s = pieces[drop.last].end_s - pieces[drop.first].start_s;
        let number = |value: f64, factor: f64| (value.ln() / factor.ln()).round() as i64;
        let stands = drop.stands(pieces);
        Self {
            loss: if stands.is_some_and(|piece| piece.stopped) { STOPPED } else { number(loss, LOSS_FACTOR) },
            size: number(loss * span_s.max(1.0), LOST_FACTOR),
            recovered: drop.recovered,
            stands: stands.is_some(),
            fall: drop.fall(pieces),
        }
    }

    /// Whether speed fell little by little.
    pub(super) fn sank(self) -> bool {
        self.fall == Fall::LittleByLittle
    }

    /// Where one of that operation and depth belongs.
    pub(super) fn place(self, (op, within): Depth) -> Place {
        (op as u8, within, self.sank())
    }

    /// How many cells of loss apart others may be that are as deep.
    const fn reach(self) -> i64 {
        if self.stands { STANDS } else { MIXED }
    }

    /// Whether the other one is about as deep and as long.
    fn looks_like(self, other: Self) -> bool {
        let reach = self.reach().unsigned_abs();
        self.fall.alike().contains(&other.fall)
            && self.loss.abs_diff(other.loss) <= reach
            && self.size.abs_diff(other.size) <= 1
    }
}

/// Those of `of` that look like most others of them: a clock, or whatever it is that comes again, makes drops of one kind.
pub(super) fn of_one_kind(of: &[usize], shape: impl Fn(usize) -> DropShape) -> Vec<usize> {
    let mut counts = ByShape::<usize>::new();
    of.iter().for_each(|index| *counts.at(shape(*index)) += 1);
    let like = |index: usize| counts.alike(shape(index)).sum::<usize>();
    let Some(kind) = of.iter().copied().max_by_key(|index| like(*index)).map(&shape) else {
        return Vec::new();
    };
    of.iter().copied().filter(|index| shape(*index).looks_like(kind)).collect()
}

/// Something of each shape.
#[derive(Debug)]
pub(super) struct ByShape<T>(BTreeMap<(Fall, i64, i64), T>);

impl<T: Default> ByShape<T> {
    pub(super) fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// That of drops in the very cell.
    pub(super) fn at(&mut self, shape: DropShape) -> &mut T {
        self.0.entry((shape.fall, shape.loss, shape.size)).or_default()
    }

    /// Those of all drops about as deep, wherever they stood, and up to [`MUCH_LONGER`] cells longer or shorter.
    pub(super) fn as_deep(&self, shape: DropShape) -> impl Iterator<Item = &T> {
        self.around(DropShape { stands: false, ..shape }, MUCH_LONGER)
    }

    /// Those of all drops that look alike.
    pub(super) fn alike(&self, shape: DropShape) -> impl Iterator<Item = &T> {
        self.around(shape, 1)
    }

    /// Those of cells as deep and so many of size apart. How long a drop would have lasted that the end of the load cut
    /// off is not known: it is like all that were larger.
    fn around(&self, shape: DropShape, reach: i64) -> impl Iterator<Item = &T> {
        let DropShape { loss, size, recovered, fall, .. } = shape;
        let largest = if recovered { size + reach } else { i64::MAX };
        let losses = loss - shape.reach()..=loss + shape.reach();
        let cells = fall.alike().iter().flat_map(move |fall| losses.clone().map(move |loss| (*fall, loss)));
        cells.flat_map(move |(fall, loss)| {
            self.0.range((fall, loss, size - reach)..=(fall, loss, largest)).map(|(_, of_cell)| {
                crate::work::count(1);
                of_cell
            })
        })
    }
}

/// How often each cause makes drops of a shape, by the others of the `count` that look alike, against what it was beforehand.
pub(super) fn row(count: usize, alike: &Shares, now: &Shares) -> [f64; 5] {
    let count = count.max(1) as f64;
    // Of drops that look alike one was the first, and had none to go by.
    let not_first = 1.0 - 1.0 / count;
    std::array::from_fn(|s| {
        let others = (alike[s] - now[s]).max(0.0);
        let share = (BEFOREHAND_DROPS * BEFOREHAND[s] + others) / (BEFOREHAND_DROPS + count - 1.0);
        not_first * (share / BEFOREHAND[s]).ln()
    })
}
