//! How the drive manages its heat: the class of its policy, from the drops that were heat.
//!
//! One run rarely decides everything. Where two classes explain it alike, the class is `undetermined` and a caveat
//! says which measurement would tell them apart. The seed experiments' vendor throttle is the example: a
//! constant speed at a constant temperature may be a regulator, or a fixed lower speed whose heat happens to
//! hold the drive there.

mod clipped;
mod cycles;
mod followed;
mod levels;
mod loads;
mod only_hot;
mod unprovoked;

pub(crate) use self::unprovoked::{never_below_onset, never_cool};

use self::cycles::{counted_cycles, floor, floor_unseen, mostly_stopped, still_share};
use crate::cause::drops::median_speed;
use crate::cause::evidence::{Conclusion, Suspect};
use crate::cause::heat::Heat;
use crate::cause::{Judged, ONE_THRESHOLD_K};
use crate::findings::{Caveat, Policy, PolicyClass};
use crate::segment::{BURSTY_VARIATION, LEVEL_S, Piece, Stretch, median};
use trace::Trace;
use trace::caveat::SlowdownSeen;

/// A release this far below the onset is hysteresis rather than rounding.
const HYSTERESIS_K: f64 = 1.9;
/// A temperature is held when its middle 80 % lie within this: rounding to whole kelvins, twice, and a ripple.
const HELD_K: f64 = 2.6;
/// ... for at least this long, the fast time constant of an M.2 drive (40 s) one and a half times.
const HELD_S: f64 = 60.0;
/// Bursts make speed vary this many times as much as at full speed, and at least by [`BURSTY_VARIATION`].
const BURSTY: f64 = 3.0;
/// Speed that is off a fifth of the time and full otherwise varies by sqrt(0.2 / 0.8): nothing smooth varies so much.
const ON_OFF_VARIATION: f64 = 0.5;
/// Slices as long as this blur the cycles of a relay, or stops, as well as bursts.
const BLURRED_S: f64 = 5.0;
/// In the means of rows as long as this a narrow relay, whose cycles they average, looks like a regulator.
const AVERAGED_S: f64 = 10.0;
/// A regulator that starts early lets speed give way bit by bit: by a tenth and more from beginning to end, or by a
/// quarter of a loss that is no smaller. A fixed lower speed is lost at once.
const GAVE_WAY: f64 = 0.9;
const GAVE_WAY_LATER: f64 = 0.25;
/// Where a drive stops for about a row, one row in ten and more is empty.
const STILL_ROWS: f64 = 0.1;
/// A piece of so few slices is its two ends, and one between.
const EDGES: usize = 3;
/// A host that asks for less than this share of what a throttle leaves lets the drive cool.
const LULL: f64 = 0.5;
/// Levels further apart than this are several: the same 4 % from which on a piece counts as slow.
const ONE_LEVEL: f64 = 0.96;

/// The policy (`unread` is the share of time without a speed) and, where it stays open, the measurement that would decide it.
pub(crate) fn policy(
    trace: &Trace,
    heat: &Heat,
    stretches: &[Stretch],
    pieces: &[Piece],
    judged: &[Judged],
    unread: f64,
) -> (Policy, Vec<Caveat>) {
    let hot: Vec<&Judged> =
        judged.iter().filter(|j| j.verdict.conclusion.is_heat() && !j.continues).collect();
    if hot.is_empty() {
        return unprovoked::policy(trace, heat, stretches, pieces, judged, unread);
    }
    let host: Vec<&Judged> = hot.iter().copied().filter(|j| is_host(j)).collect();
    let own: Vec<&Judged> =
        hot.iter().copied().filter(|j| j.verdict.conclusion == Conclusion::Heat(Suspect::Vendor)).collect();
    let mut leading = if host.is_empty() { if own.is_empty() { &hot } else { &own } } else { &host };
    let shows = |drops: &[&Judged]| {
        let followed = followed::followed(heat, stretches, pieces, judged, drops);
        let found = mechanisms(trace, heat, stretches, pieces, judged, drops, &followed);
        (found, followed.contains(&true))
    };
    let (mut found, mut followed) = shows(leading);
    let is_open = |found: &[(PolicyClass, f64)]| found[0].0 == PolicyClass::Undetermined;
    // How the drive's own threshold works may show where the host's was met once and held on.
    if is_open(&found) && !host.is_empty() && !own.is_empty() {
        let by_own = shows(&own);
        if !is_open(&by_own.0) {
            (found, followed) = by_own;
            leading = &own;
        }
    }
    let is_own = !own.is_empty() && std::ptr::eq(leading, &own);
    let mut also: Vec<PolicyClass> = Vec::new();
    let mut confidence = mean(leading.iter().map(|j| j.verdict.confidence));
    let (class, how_sure) = found[0];
    // A drive that stops altogether does so whoever set the threshold: that outweighs whose it is.
    let class = if is_own && class != PolicyClass::Stop {
        also.extend(found.iter().map(|(class, _)| *class).filter(|c| *c != PolicyClass::Undetermined));
        PolicyClass::Vendor
    } else {
        confidence *= how_sure;
        also.extend(found[1..].iter().map(|(class, _)| *class));
        if !own.is_empty() {
            also.push(PolicyClass::Vendor);
        }
        class
    };
    let caveats = if is_open(&found) {
        vec![undecided(class, leading, stretches, pieces, followed)]
    } else {
        Vec::new()
    };
    let mut levels = levels::of(heat, pieces, judged, if host.is_empty() { leading } else { &host });
    if !host.is_empty() {
        levels.extend(levels::of(heat, pieces, judged, &own));
    }
    let lightest = levels.first();
    let policy = Policy {
        class,
        also,
        onset_k: lightest.and_then(|level| level.onset_k),
        release_k: lightest.and_then(|level| level.release_k),
        floor_bytes_per_s: lightest.and_then(|level| level.floor_bytes_per_s),
        levels,
        confidence,
        from_runs: None,
    };
    (policy, caveats)
}

fn is_host(judged: &Judged) -> bool {
    matches!(judged.verdict.conclusion, Conclusion::Heat(Suspect::Tmt1 | Suspect::Tmt2))
}

/// The ways of slowing down that these drops show, the plainest first; never empty.
/// `followed` says of which drops speed followed the temperature.
fn mechanisms(
    trace: &Trace,
    heat: &Heat,
    stretches: &[Stretch],
    pieces: &[Piece],
    judged: &[Judged],
    drops: &[&Judged],
    followed: &[bool],
) -> Vec<(PolicyClass, f64)> {
    use PolicyClass::{DutyCycled, PreLimited, Regulator, Relay, Stop, TwoLevel, Undetermined};
    let released: Vec<&&Judged> =
        drops.iter().filter(|j| let_go_k(pieces, judged, j).is_some_and(|k| k >= HYSTERESIS_K)).collect();
    let held = |j: &Judged| held_k(heat, pieces, judged, j).is_some() || unread(heat, j);
    let regulated: Vec<&Judged> =
        drops.iter().zip(followed).filter(|(j, followed)| **followed && held(j)).map(|(j, _)| *j).collect();
    let slow_s = |of: &[&Judged]| of.iter().map(|j| j.end_s - j.start_s).sum::<f64>();
    // Work in the background that cools a regulated drive lets it go each time.
    let mostly_regulated = 2.0 * slow_s(&regulated) > slow_s(drops);
    let regulator = (Regulator, if heat.slice_s < AVERAGED_S { 0.93 } else { 0.75 });
    let mut found = Vec::new();
    if mostly_stopped(stretches, pieces, drops) {
        found.push((Stop, 0.98));
    } else if levels::are_the_hosts_two(trace, drops) {
        found.push((TwoLevel, 0.99));
    } else if levels::are_two(heat, judged, drops) {
        found.push((TwoLevel, 0.95));
    } else if counted_cycles(heat, drops) {
        found.push((Relay, 0.95));
    } else if bursty(pieces, drops) && !cycles(drops, &released) {
        found.push(match heat.slice_s < BLURRED_S {
            true => (DutyCycled, 0.98),
            // No burst is over as late as that.
            false if still_share(stretches, pieces, drops) >= STILL_ROWS => (Stop, 0.8),
            false => (DutyCycled, 0.7),
        });
    } else if mostly_regulated {
        found.push(regulator);
    } else if (released.len() >= 2 && released.len() * 2 >= drops.len()) || to_and_fro(pieces, judged, drops)
    {
        found.push(match floor_unseen(stretches, pieces, drops) {
            true if still_share(stretches, pieces, drops) >= STILL_ROWS => (Stop, 0.95),
            true => (Undetermined, 0.5),
            false => (Relay, 0.98),
        });
    } else if !regulated.is_empty() {
        found.push(regulator);
    } else if released.len() == 1 {
        found.push((Relay, 0.6));
    }
    let began_slow = |j: &&&Judged| j.drop.at_start && !read_again(stretches, pieces, j);
    let only = drops.iter().all(|j| j.drop.at_start);
    let any_began_slow = drops.iter().any(|j| began_slow(&j));
    // What was only read again after a gap says neither how it began nor how it works.
    if found.is_empty() && !(only && any_began_slow) {
        found.push((Undetermined, 0.5));
    }
    if any_began_slow {
        // Slow from the first second on and steady says how it began, bursts and cycles say how it works.
        let steady = found.iter().all(|(class, _)| *class == Regulator);
        found.insert(if only && steady { 0 } else { found.len() }, (PreLimited, 0.8));
    }
    found
}

/// Whether a drop begins where a load is read again after a time that was not: then no load began.
fn read_again(stretches: &[Stretch], pieces: &[Piece], judged: &Judged) -> bool {
    let stretch = pieces[judged.drop.first].stretch;
    stretch.checked_sub(1).is_some_and(|before| stretches[before].phase == stretches[stretch].phase)
}

/// Whether it lasted, and no temperature of that time can be gone by: then that speed followed one has to do.
fn unread(heat: &Heat, judged: &Judged) -> bool {
    judged.end_s - judged.start_s >= HELD_S && heat.within(judged.start_s, judged.end_s).is_empty()
}

/// Whether speed went to and fro between full speed and one lower speed: a relay, though its hysteresis may be too narrow
/// to show, or the temperature not known.
fn to_and_fro(pieces: &[Piece], all: &[Judged], drops: &[&Judged]) -> bool {
    const TIMES: usize = 3;
    let let_go = |j: &Judged| j.drop.recovered && until_s(pieces, all, j) >= j.end_s;
    let level = |j: &&Judged| (let_go(j) && !j.drop.at_start).then(|| floor(pieces, j));
    let levels: Vec<f64> = drops.iter().filter_map(level).collect();
    let alike =
        |middle: f64| levels.iter().filter(|level| (*level / middle - 1.0).abs() <= 1.0 - ONE_LEVEL).count();
    levels.len() >= TIMES && levels.len() * 2 > drops.len() && alike(median(&levels)) * 4 >= levels.len() * 3
}

fn cooled_k(judged: &Judged) -> Option<f64> {
    Some(judged.onset_k? - judged.release_k?)
}

/// The same where it was the drive that let go: not where it cooled because less was asked for.
fn let_go_k(pieces: &[Piece], all: &[Judged], judged: &Judged) -> Option<f64> {
    cooled_k(judged).filter(|_| until_s(pieces, all, judged) >= judged.end_s)
}

/// Until when a drop shows what slowed the drive down, in seconds: its end, or the beginning of what it ends with, be it a further fall that
/// is not heat, or a lull, but for the row in which speed comes back. What falls so far once the drive has got hotter is throttled further.
fn until_s(pieces: &[Piece], all: &[Judged], judged: &Judged) -> f64 {
    if ends_in(all, judged).is_some_and(|other| !other.verdict.conclusion.is_heat()) {
        return pieces[judged.drop.last_own()].end_s;
    }
    let lull = |at: &usize| pieces[*at].level < LULL * judged.drop.level;
    let mut tail = (judged.drop.first..=judged.drop.last).rev().peekable();
    tail.next_if(|at| pieces[*at].slices <= 1 && !lull(at));
    let Some(first) = tail.take_while(lull).last() else { return judged.end_s };
    let later = &all[all.partition_point(|other| other.drop.first < first)..];
    let further = later.iter().take_while(|other| other.drop.first <= judged.drop.last).any(|other| {
        let hotter_k = other.onset_k.zip(judged.onset_k).map(|(other, own)| other - own);
        other.verdict.conclusion.is_heat() && hotter_k.is_none_or(|k| k >= ONE_THRESHOLD_K)
    });
    if further { judged.end_s } else { pieces[first].start_s }
}

/// Until when a drop was at a speed of its own, in seconds: where it ends in one of heat that began hotter, that shows how another threshold
/// works.
fn alone_until_s(pieces: &[Piece], all: &[Judged], judged: &Judged) -> f64 {
    let until_s = until_s(pieces, all, judged);
    let hotter = ends_in(all, judged).is_some_and(|other| {
        let by_k = other.crossed_k.zip(judged.crossed_k).map(|(other, own)| other - own);
        other.verdict.conclusion.is_heat() && by_k.is_some_and(|k| k > ONE_THRESHOLD_K)
    });
    if hotter { until_s.min(pieces[judged.drop.last_own()].end_s) } else { until_s }
}

/// The further drop that one ends in, if it is at no speed of its own any more by then.
fn ends_in<'a>(all: &'a [Judged], judged: &Judged) -> Option<&'a Judged> {
    let last = judged.drop.last_own();
    let next = all.get(all.partition_point(|other| other.drop.first <= last))?;
    (next.drop.first <= judged.drop.last).then_some(next)
}

/// Whether most drops show by themselves that they were released cooler than they began: bursts hold a temperature.
fn cycles(drops: &[&Judged], released: &[&&Judged]) -> bool {
    // So many, by so much each, and such a share of all; or fewer and by more.
    const SWINGS: [(usize, f64, f64); 2] = [(5, 2.5, 0.75), (2, 5.0, 0.5)];
    let cooled = middle(drops.iter().filter_map(|judged| cooled_k(judged)));
    let released = released.len() as f64;
    // What the log ends in has not come back yet.
    let ended = drops.iter().filter(|judged| judged.drop.recovered).count() as f64;
    let swings = |(many, by_k, share): (usize, f64, f64)| {
        released >= many as f64 && cooled.is_some_and(|k| k >= by_k) && released >= share * ended
    };
    SWINGS.into_iter().any(swings)
}

/// Whether slow speed comes as bursts rather than as a lower speed.
fn bursty(pieces: &[Piece], drops: &[&Judged]) -> bool {
    let (while_slow, otherwise) = variations(pieces, drops);
    // A full speed that varies as much may be the regulator's first bursts.
    while_slow >= ON_OFF_VARIATION || (while_slow >= BURSTY_VARIATION && while_slow >= BURSTY * otherwise)
}

/// By how much speed varies within the pieces of these drops, and within all others, stops left out. Half of the time
/// varies less: a relay's single burst on the edge of a piece makes no bursts of the whole.
fn variations(pieces: &[Piece], drops: &[&Judged]) -> (f64, f64) {
    let mut slow = vec![false; pieces.len()];
    for judged in drops {
        slow[judged.drop.first..=judged.drop.last].fill(true);
    }
    let of = |wanted: bool| {
        let of_kind = pieces.iter().zip(&slow).filter(|(p, s)| **s == wanted && !p.stopped);
        // The slices at both ends hold some of their neighbours' speed: what is hardly longer varies by that.
        let variation = |piece: &Piece| if wanted && piece.slices <= EDGES { 0.0 } else { piece.variation };
        let mut by_variation: Vec<(f64, f64)> = of_kind.map(|(p, _)| (variation(p), p.span_s())).collect();
        by_variation.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = by_variation.iter().map(|(_, span)| span).sum::<f64>() / 2.0;
        let mut seen = 0.0;
        let middle = by_variation.iter().find(|(_, span)| {
            seen += span;
            seen >= half
        });
        middle.map_or(0.0, |(variation, _)| *variation)
    };
    (of(true), of(false))
}

/// The temperature that was held while speed gave way, in kelvins.
fn held_k(heat: &Heat, pieces: &[Piece], all: &[Judged], judged: &Judged) -> Option<f64> {
    let until_s = alone_until_s(pieces, all, judged);
    if until_s - judged.start_s < HELD_S {
        return None;
    }
    let steady_from = |from_s: f64| {
        let mut during: Vec<f64> = heat.within(from_s, until_s).iter().map(|p| p.value).collect();
        during.sort_by(f64::total_cmp);
        let at = |share: f64| during[((during.len() - 1) as f64 * share) as usize];
        (!during.is_empty() && at(0.9) - at(0.1) <= HELD_K).then(|| at(0.5))
    };
    let at_onset =
        |k: &f64| judged.onset_k.is_none_or(|onset| judged.drop.at_start || (k - onset).abs() <= HELD_K);
    // One that starts early: speed gave way bit by bit while it still heated, then both stood.
    let no_cooler = |k: &f64| judged.onset_k.is_none_or(|onset| *k >= onset - HELD_K);
    steady_from(judged.start_s).filter(at_onset).or_else(|| {
        steady_from(middle_s(pieces, all, judged)).filter(|k| gave_way(pieces, all, judged) && no_cooler(k))
    })
}

/// Whether speed went on giving way after it had begun to. Dips within count neither early nor late, nor do the rows in which it fell and
/// came back, or the load ended: these hold some of what is beside them.
fn gave_way(pieces: &[Piece], all: &[Judged], judged: &Judged) -> bool {
    let middle_s = middle_s(pieces, all, judged);
    let inner: Vec<usize> =
        judged.drop.own.iter().copied().filter(|own| !is_edge(pieces, judged, *own)).collect();
    let (early, late): (Vec<usize>, Vec<usize>) =
        inner.iter().partition(|own| pieces[**own].start_s < middle_s);
    let lasting = |own: &&usize| **own == judged.drop.first || pieces[**own].span_s() >= LEVEL_S;
    let early = early.iter().filter(lasting).map(|own| pieces[*own].level).fold(0.0, f64::max);
    let last = inner.last().copied().unwrap_or(judged.drop.last);
    let late = if late.is_empty() { pieces[last].level } else { median_speed(pieces, &late) };
    let of_all = judged
        .drop
        .before
        .is_some_and(|before| late <= GAVE_WAY * before && early - late >= GAVE_WAY_LATER * (before - late));
    late <= GAVE_WAY * early || of_all
}

/// Whether a piece of a drop is the row in which it fell or came back: it holds some of what is beside it.
fn is_edge(pieces: &[Piece], judged: &Judged, own: usize) -> bool {
    pieces[own].slices <= 1 && (own == judged.drop.first || own == judged.drop.last)
}

fn middle_s(pieces: &[Piece], all: &[Judged], judged: &Judged) -> f64 {
    (judged.start_s + until_s(pieces, all, judged)) / 2.0
}

/// What one run leaves open of how the drive slows down, and which measurement would decide it.
fn undecided(
    class: PolicyClass,
    drops: &[&Judged],
    stretches: &[Stretch],
    pieces: &[Piece],
    followed: bool,
) -> Caveat {
    let seen = if floor_unseen(stretches, pieces, drops) {
        SlowdownSeen::BetweenRows
    } else if drops.iter().any(|j| j.drop.recovered) {
        SlowdownSeen::Irregular
    } else if followed {
        SlowdownSeen::Following
    } else {
        SlowdownSeen::OneStep
    };
    // Whose threshold it is may be known all the same.
    match class {
        PolicyClass::Undetermined => Caveat::PolicyUndetermined { seen },
        _ => Caveat::MechanismUndetermined { seen },
    }
}

fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    if values.is_empty() { None } else { Some(median(&values)) }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(s, n), v| (s + v, n + 1));
    sum / f64::from(count.max(1))
}
