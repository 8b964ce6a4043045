//! What slowed the drive down: drops of speed, joined with temperature, settings, counters and data written.
//!
//! [`drops`] finds where speed gives way, [`weigh`] gathers what speaks for each cause by the rules that [`rule`]
//! names, [`evidence`] weighs it, [`heat`] looks up readings, [`history`] sums up the run.

mod already;
mod amounts;
mod beat;
mod beginning;
mod cache;
mod case;
mod cooler;
mod counters;
mod course;
mod crossing;
pub(crate) mod drops;
mod elsewhere;
mod eras;
pub(crate) mod evidence;
mod governed;
pub(crate) mod heat;
mod history;
mod left;
mod let_cool;
mod likelihood;
mod mix;
mod next_load;
mod noise;
mod pauses;
pub(crate) mod recurring;
mod release;
mod resumed;
pub(crate) mod rule;
mod schedule;
mod settle;
mod shape;
pub(crate) mod starts;
mod stood;
pub(crate) mod told;
mod undecidable;
mod uneven;
mod ways;
mod weigh;
mod within;
mod written;

use std::ops::Range;

use self::amounts::WrittenBefore;
use self::beginning::Beginning;
use self::case::Case;
use self::drops::{DropStart, SpeedDrop};
use self::evidence::{Conclusion, Evidence, Verdict};
use self::governed::Approach;
use self::heat::{Heat, HeatMove};
use self::history::History;
pub(crate) use self::likelihood::ONE_THRESHOLD_K;
use self::shape::{ByShape, DropShape};
use self::starts::Starts;
use self::written::Written;
use crate::findings::SegmentOp;
use crate::others::Others;
use crate::segment::{Piece, Stretch, median};
use trace::{Phase, Trace};

/// Within this share of the plan's limit a load is as fast as it was meant to be.
const AT_LIMIT: f64 = 0.03;
/// Of so many cycles and more the usual one is known. Readings further apart than this share of it tell nothing of where one began.
const LEAST_CYCLES: usize = 3;
const READ_OF_A_CYCLE: f64 = 0.75;
/// ... unless the readings of all of them differ by no more than so many steps of the sensor.
const STANDS: f64 = 2.0;
/// A slow beginning this short is a ramp.
const RAMP_S: f64 = 10.0;

/// What a load ends with: this share of its speed, or so many rows.
const RUN_OUT: f64 = 0.05;
const RUN_OUT_SLICES: usize = 2;

/// One drop with what it was found to be.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    /// The drop.
    pub drop: SpeedDrop,
    /// Everything that was weighed.
    pub evidence: Evidence,
    /// What it was, and why.
    pub verdict: Verdict,
    /// Start in seconds.
    pub start_s: f64,
    /// End in seconds.
    pub end_s: f64,
    /// Temperature at the start, in kelvins.
    pub onset_k: Option<f64>,
    /// The temperature that was crossed at the start, in kelvins: the reading, and half a kelvin more where it
    /// had stood there long enough to have risen further.
    pub crossed_k: Option<f64>,
    /// How it looks.
    shape: DropShape,
    /// Where it began, for what all drops together say; `None` without a temperature.
    pub began: Option<Beginning>,
    /// Temperature at the end, in kelvins, where speed came back.
    pub release_k: Option<f64>,
    /// Speed during over speed before.
    pub strength: Option<f64>,
    /// Data written since the fast cache was last empty, as far as the run shows.
    pub written_bytes: f64,
    /// By how much the drive's counters moved around the beginning.
    pub counted: HeatMove,
    /// Whether full speed is known from another run of the drive.
    pub other_run: bool,
    /// Whether it only goes on with what another one began: no event of its own.
    pub continues: bool,
}

impl Judged {
    /// The temperature that is told of its beginning, in kelvins: what a threshold was crossed at, else the reading.
    pub(crate) fn temp_k(&self) -> Option<f64> {
        if self.verdict.conclusion.is_heat() { self.crossed_k } else { self.onset_k }
    }

    /// Whether speed came back although the drive had not cooled: no threshold lets go so.
    fn came_back_as_warm(&self) -> bool {
        self.release_k.zip(self.onset_k).is_some_and(|(release, onset)| release >= onset)
    }
}

/// All drops of a run with their causes, in order of time.
///
/// Once more where heat that slowed one load down goes on into the next.
pub(crate) fn judge(
    trace: &Trace,
    others: &Others,
    stretches: &[Stretch],
    pieces: &[Piece],
    heat: &Heat,
) -> Vec<Judged> {
    let starts = Starts::new(trace, others, heat, stretches, pieces);
    let judged = judge_from(&starts, trace, stretches, pieces, heat);
    match starts.held_on(&judged) {
        Some(starts) => judge_from(&starts, trace, stretches, pieces, heat),
        None => judged,
    }
}

/// The drops of all stretches.
fn all_drops(
    starts: &Starts,
    trace: &Trace,
    stretches: &[Stretch],
    pieces: &[Piece],
    heat: &Heat,
) -> Vec<SpeedDrop> {
    let mut all: Vec<SpeedDrop> = Vec::new();
    for range in ranges(pieces) {
        let stretch = &stretches[pieces[range.start].stretch];
        if !stretch.op.moves_data() {
            continue;
        }
        let phase = &trace.phases[stretch.phase];
        let range =
            if is_border(trace, stretches, pieces, &range) { range.start + 1..range.end } else { range };
        let start = match as_meant(phase, &pieces[range.start]) {
            true => DropStart::Fresh(None),
            false => starts.of(range.clone()),
        };
        let as_meant = |piece: &Piece| as_meant(phase, piece);
        let slow_still = |piece: &Piece| starts.holds_on(piece);
        let (end, inferred) = (range.end - 1, phase.inferred);
        let mut found = drops::drops(pieces, range, start, &as_meant, &slow_still, inferred);
        let rests = trace.phases.get(stretch.phase + 1).is_some_and(|next| next.op == SegmentOp::Idle);
        found.pop_if(|drop| runs_out(drop, end, pieces, inferred && rests));
        if inferred {
            found = next_load::tell_apart(pauses::cut_off(found, pieces, heat), pieces);
        }
        let offset = all.len();
        all.extend(
            found.into_iter().map(|drop| SpeedDrop { inside: drop.inside.map(|i| i + offset), ..drop }),
        );
    }
    all
}

/// Whether a drop is how a load ends: in the last row, which is in part without it; and where nobody says what was asked for and the drive
/// `rests` next, in two rows, or with next to nothing left.
fn runs_out(drop: &SpeedDrop, end: usize, pieces: &[Piece], rests: bool) -> bool {
    let slices: usize = pieces[drop.first..=end].iter().map(|piece| piece.slices).sum();
    let nothing = drop.before.is_some_and(|before| drop.level < RUN_OUT * before);
    let last_row = drop.first == end && slices <= 1;
    drop.last == end && !drop.at_start && (last_row || rests && (slices <= RUN_OUT_SLICES || nothing))
}

/// Whether a load that was told from another one by its data begins with a row that holds the end of that one too: it is as fast as
/// neither.
fn is_border(trace: &Trace, stretches: &[Stretch], pieces: &[Piece], range: &Range<usize>) -> bool {
    let Some(before) = range.start.checked_sub(1).map(|before| &pieces[before]) else { return false };
    let (first, next) = (&pieces[range.start], pieces.get(range.start + 1));
    let goes_on = |stretch: usize| {
        stretches[stretch].op.moves_data() && trace.phases[stretches[stretch].phase].inferred
    };
    range.len() > 1
        && first.slices <= 1
        && first.start_s - before.end_s < first.span_s()
        && [before.stretch, first.stretch].into_iter().all(goes_on)
        && next.is_some_and(|next| before.level > first.level && first.level > next.level)
}

fn judge_from(
    starts: &Starts,
    trace: &Trace,
    stretches: &[Stretch],
    pieces: &[Piece],
    heat: &Heat,
) -> Vec<Judged> {
    let all = all_drops(starts, trace, stretches, pieces, heat);
    let mut history = History::new(trace, heat, stretches, pieces, &all);
    let written = Written::new(trace, pieces);
    let at_once = written.at_once(stretches, pieces, &all);
    let mut shapes: ByShape<usize> = ByShape::new();
    let resumed = resumed::resumed(trace, heat, &starts::loads(trace), stretches, pieces, &all);
    let last_s = resumed::last_s(&resumed, &all, pieces);
    let handed_on = resumed::handed_on(stretches, pieces, &all);
    let unread = unread(&all, pieces, heat);
    let refilled = cache::refilled(&all, stretches, pieces);
    let approaches = Approach::all(&all, pieces);
    let beside_s = counters::beside_s(&all, pieces);
    let before = |(index, drop): (usize, &SpeedDrop)| {
        let since_rest = approaches[index].filter(|_| refilled[index]).map(|approach| approach.bytes);
        written.before(pieces[drop.first].start_s, since_rest)
    };
    let before: Vec<WrittenBefore> = all.iter().enumerate().map(before).collect();
    // A sum for each row of a month is a tenth of all memory.
    drop(written);
    let amounts = match unread {
        true => vec![None; all.len()],
        false => amounts::before(&all, stretches, pieces, heat, &before),
    };
    let of_drops: Vec<DropShape> = all.iter().map(|drop| DropShape::new(drop, pieces)).collect();
    of_drops.iter().for_each(|shape| *shapes.at(*shape) += 1);
    let mut judged: Vec<Judged> = Vec::with_capacity(all.len());
    for (index, (drop, shape)) in all.into_iter().zip(of_drops).enumerate() {
        let case = Case {
            trace,
            heat,
            history: &history,
            others: starts.others(),
            pieces,
            op: stretches[pieces[drop.first].stretch].op,
            phase: phase_of(trace, stretches, pieces, &drop),
            written: before[index],
            at_once: &at_once,
            refilled: refilled[index],
            approach: approaches[index],
            outer_k: drop.inside.and_then(|outer| judged.get(outer)?.onset_k),
            beside_s: beside_s[index],
            shape,
            alike: shapes.alike(shape).sum(),
            drop: &drop,
            lasted_s: last_s[index] - pieces[drop.first].start_s,
            unread,
            amount_before: amounts[index],
        };
        let mut new = judged_case(&case);
        if resumed[index].is_some() || new.drop.parted {
            // It is judged with what it goes on with, and is no second case of it; or by itself.
            new.began = None;
        }
        if new.verdict.conclusion == Conclusion::SlcFull {
            history.remember_full_cache(new.drop.level);
        }
        judged.push(new);
    }
    recurring::clockwork(&mut judged, stretches, pieces, heat);
    recurring::irregular(&mut judged, pieces, heat.slice_s);
    beat::weigh(&mut judged, heat.slice_s);
    schedule::weigh(&mut judged, stretches, pieces, heat);
    uneven::weigh(&mut judged, stretches, pieces);
    settle::judge(&mut judged, pieces, &history.eras, heat);
    go_on(&mut judged, &resumed, &handed_on);
    within::join(&mut judged, stretches, pieces, heat);
    recurring::tell(&mut judged, heat.slice_s);
    judged
}

/// Gives drops that go on with an earlier one its verdict, and those of another operation the threshold that was met before.
fn go_on(judged: &mut [Judged], resumed: &[Option<usize>], handed_on: &[Option<usize>]) {
    for (index, (resumed, handed_on)) in resumed.iter().zip(handed_on).enumerate() {
        // That both are heat each shows for itself; which threshold acts, only the one that was met.
        let is_heat = |at: usize| judged[at].verdict.conclusion.is_heat();
        let handed_on = handed_on.filter(|earlier| is_heat(*earlier) && is_heat(index));
        if let Some(earlier) = resumed.or(handed_on) {
            let since_s = judged[earlier].end_s;
            judged[index].evidence = judged[earlier].evidence.resumed(since_s);
            judged[index].verdict = judged[earlier].verdict;
        }
    }
}

/// Whether a slow first piece is how a load begins: it is short, or the row in which it begins.
pub(crate) fn is_ramp(first: &Piece) -> bool {
    first.span_s() <= RAMP_S || first.slices <= 1
}

/// Whether temperatures are read more rarely than speed falls and comes back, and another one each time: then that of a drop is not known.
fn unread(drops: &[SpeedDrop], pieces: &[Piece], heat: &Heat) -> bool {
    let recovered = drops.iter().filter(|drop| drop.recovered && drop.inside.is_none() && !drop.at_start);
    let began_s: Vec<f64> = recovered.map(|drop| pieces[drop.first].start_s).collect();
    let cycles_s: Vec<f64> = began_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let rarely = cycles_s.len() >= LEAST_CYCLES && heat.period_s > READ_OF_A_CYCLE * median(&cycles_s);
    let (Some(first_s), Some(last_s), true) = (began_s.first(), began_s.last(), rarely) else { return false };
    let kelvin = || heat.within(*first_s, *last_s).iter().map(|reading| reading.value);
    let (low_k, high_k) = (kelvin().fold(f64::INFINITY, f64::min), kelvin().fold(0.0, f64::max));
    // What reads the same at any moment of a cycle reads so at its beginning.
    kelvin().count() < LEAST_CYCLES || high_k - low_k > STANDS * heat.hides_k()
}

/// Speed during a drop over speed before it.
fn strength(drop: &SpeedDrop) -> Option<f64> {
    drop.before.filter(|before| *before > 0.0).map(|before| drop.level / before)
}

fn judged_case(case: &Case) -> Judged {
    let (evidence, began) = weigh::weigh(case);
    Judged {
        verdict: evidence.verdict(),
        evidence,
        start_s: case.start_s(),
        end_s: case.end_s(),
        onset_k: case.onset_k(),
        crossed_k: case.onset_k().and_then(|_| case.heat.crossed_k(case.start_s())),
        shape: case.shape,
        began,
        release_k: case.release_k(),
        strength: case.strength(),
        written_bytes: case.written.bytes,
        counted: counters::counted_around(case),
        other_run: case.is_known_from_others(),
        continues: false,
        drop: case.drop.clone(),
    }
}

/// A governor that held the load back for this share of a piece is why the piece is as fast as it is.
const HELD: f64 = 0.5;

/// Whether a piece is as fast as the plan, or a governor, allows.
pub(crate) fn as_meant(phase: &Phase, piece: &Piece) -> bool {
    let is_held = !phase.held.is_empty() && phase.held_share(piece.start_s, piece.end_s) >= HELD;
    is_held || phase.rate_limit_bytes_per_s.is_some_and(|limit| (piece.level / limit - 1.0).abs() <= AT_LIMIT)
}

fn phase_of<'a>(trace: &'a Trace, stretches: &[Stretch], pieces: &[Piece], drop: &SpeedDrop) -> &'a Phase {
    &trace.phases[stretches[pieces[drop.first].stretch].phase]
}

/// The pieces of each stretch, as ranges of indices.
fn ranges(pieces: &[Piece]) -> Vec<std::ops::Range<usize>> {
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        match ranges.last_mut() {
            Some(last) if pieces[last.start].stretch == piece.stretch => last.end = index + 1,
            _ => ranges.push(index..index + 1),
        }
    }
    ranges
}
