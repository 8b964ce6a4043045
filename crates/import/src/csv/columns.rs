//! What the columns of a plain CSV say beside each other: which doubts do not matter, and which of several that say the same is taken.
//!
//! Rules
//! - A column that cannot be told is passed over where another one says the same, or reads or writes where it does not say which: a log
//!   is not lost by what it need not have. Where none does, it is an error.
//! - Means give way to what they are of. A second temperature is a sensor's, by the number in its title or the next one.
//! - A speed without a direction is of the one that stands in each row, in a column `direction` or `phase`.

use super::header::own;
use super::title::{Convert, FROM_KELVIN, Meaning, rate_of_either};
use super::unit::{TitleUnit, split};
use crate::monitor::units::Measure;
use crate::words::{self, Topic};
use trace::SegmentOp;

/// The name of a column whose rows are of reading or of writing.
pub(super) const EITHER: &str = "either_bytes_per_s";

/// Settles what titles leave open; `below` are the cells of the first row.
pub(super) fn settle(titles: &[String], below: &[String], told: &mut [Result<Meaning, String>]) {
    one_time(titles, told);
    give_way(titles, told);
    take_direction(titles, below, told);
    // What neither title nor first cell gives a unit may be anything.
    let is_open = |at: usize, told: &Result<Meaning, String>| {
        told.is_err()
            || matches!(told, Ok(Meaning::Value(_, None)))
                && below.get(at).is_some_and(|cell| cell.trim().is_empty())
    };
    let sure = told.iter().enumerate().filter(|(at, one)| !is_open(*at, one));
    let sure: Vec<(usize, &'static str)> = sure.filter_map(|(at, one)| Some((at, name(one)?))).collect();
    let owners: Vec<String> = sure.iter().map(|(at, _)| words::owner(&titles[*at])).collect();
    let sure: Vec<&'static str> = sure.into_iter().map(|(_, name)| name).collect();
    for (at, told) in told.iter_mut().enumerate() {
        let title = &titles[at];
        // A speed of something else by its title may be another drive's.
        let owner = words::owner(title);
        let is_of_another = matches!(words::topic(title), Some(Topic::Moved(_)))
            && !owner.is_empty()
            && !owners.contains(&owner);
        if is_open(at, told) && !is_of_another && is_covered(title, &sure) {
            *told = Ok(Meaning::Other);
        }
    }
    number_sensors(titles, told);
}

fn name(told: &Result<Meaning, String>) -> Option<&'static str> {
    match told {
        Ok(Meaning::Value(name, _)) => Some(name),
        _ => None,
    }
}

/// Whether what a title may say is said by columns that are sure.
fn is_covered(title: &str, sure: &[&str]) -> bool {
    let has = |is: &dyn Fn(&&&str) -> bool| sure.iter().any(|name| is(&name));
    let moved = |word: &str| has(&|name| name.starts_with(word));
    let is_heat = |name: &&&str| **name == "temp_c" || **name == "composite_k" || name.starts_with("sensor");
    match (words::topic(title), split(title).1) {
        (Some(Topic::Moved(SegmentOp::Write)), _) => moved("write_") || moved("written_"),
        (Some(Topic::Moved(_)), _) => moved("read_"),
        (Some(Topic::Power), _) => sure.contains(&"power_w"),
        (Some(Topic::Heat(_)), _) => has(&is_heat),
        (_, Some(TitleUnit::Of(unit))) if unit.measure == Measure::Heat => has(&is_heat),
        (_, Some(TitleUnit::Of(unit))) if unit.measure == Measure::Power => sure.contains(&"power_w"),
        _ => moved("write_") || moved("read_") || sure.contains(&EITHER),
    }
}

/// Of several times the plain CSV's own is taken, else the first.
fn one_time(titles: &[String], told: &mut [Result<Meaning, String>]) {
    let times: Vec<usize> = (0..told.len()).filter(|at| matches!(told[*at], Ok(Meaning::Time(_)))).collect();
    let taken = times.iter().find(|at| own(&titles[**at]).is_some()).or(times.first());
    for at in times
        .iter()
        .filter(|at| taken.is_some_and(|taken| !titles[*taken].eq_ignore_ascii_case(&titles[**at])))
    {
        told[*at] = Ok(Meaning::Other);
    }
}

/// Leaves out means of what has a column of its own.
fn give_way(titles: &[String], told: &mut [Result<Meaning, String>]) {
    let names: Vec<Option<String>> =
        told.iter().map(|one| name(one).map(|name| name.replace("_mb_per_s", "_bytes_per_s"))).collect();
    let is_mean = |at: usize| own(&titles[at]).is_none() && words::is_summary(&titles[at]);
    for at in 0..titles.len() {
        let says_it = |other: usize| names[other].is_some() && names[other] == names[at] && !is_mean(other);
        if names[at].is_some() && is_mean(at) && (0..titles.len()).any(says_it) {
            told[at] = Ok(Meaning::Other);
        }
    }
}

/// Takes speeds without a direction for those of the direction that each row names.
fn take_direction(titles: &[String], below: &[String], told: &mut [Result<Meaning, String>]) {
    let is_named = |at: usize| below.get(at).is_some_and(|cell| direction(cell).is_some());
    let is = |wanted: Meaning| {
        let all = told.iter().enumerate();
        all.filter(|(at, one)| **one == Ok(wanted) && is_named(*at)).map(|(at, _)| at).next()
    };
    let Some(at) = is(Meaning::Direction).or_else(|| is(Meaning::Phase)) else { return };
    let is_speed = |one: &Result<Meaning, String>| name(one).is_some_and(|name| name.ends_with("_per_s"));
    let rate = titles.iter().enumerate().find_map(|(at, title)| Some((at, rate_of_either(title)?)));
    if let Some((rate, convert)) = rate.filter(|_| !told.iter().any(is_speed)) {
        let is_phase = |one: &Result<Meaning, String>| matches!(one, Ok(Meaning::Phase | Meaning::Direction));
        told.iter_mut().filter(|one| is_phase(one)).for_each(|one| *one = Ok(Meaning::Other));
        told[at] = Ok(Meaning::Phase);
        told[rate] = Ok(Meaning::Value(EITHER, Some(convert)));
    } else {
        told.iter_mut()
            .filter(|one| **one == Ok(Meaning::Direction))
            .for_each(|one| *one = Ok(Meaning::Other));
    }
}

/// The direction that a cell names.
pub(super) fn direction(cell: &str) -> Option<SegmentOp> {
    match cell.trim().to_lowercase().as_str() {
        "read" | "reads" | "randread" | "r" => Some(SegmentOp::Read),
        "write" | "writes" | "randwrite" | "w" => Some(SegmentOp::Write),
        _ => None,
    }
}

/// Makes temperatures beside a first one those of sensors.
fn number_sensors(titles: &[String], told: &mut [Result<Meaning, String>]) {
    let is_heat = |one: &Result<Meaning, String>| matches!(name(one), Some("temp_c" | "composite_k"));
    let hot: Vec<usize> = (0..told.len()).filter(|at| is_heat(&told[*at])).collect();
    // The plain CSV's own two are kept apart by their names.
    let is_own = |at: &&usize| own(&titles[**at]).is_some();
    let is_composite = |at: &&usize| titles[**at].to_lowercase().contains("composite");
    let first = hot.iter().find(is_own).or_else(|| hot.iter().find(is_composite)).or(hot.first());
    let mut taken: Vec<&str> = told.iter().filter_map(name).collect();
    for at in hot.iter().filter(|at| Some(*at) != first && own(&titles[**at]).is_none()) {
        let own_number = words::heat_number(&titles[*at]).filter(|number| (1..=8).contains(number));
        let sensors = own_number.into_iter().chain(1..=8).map(super::title::sensor);
        let Some(free) = sensors.into_iter().find(|sensor| !taken.contains(sensor)) else { continue };
        taken.push(free);
        told[*at] = Ok(match told[*at] {
            Ok(Meaning::Value("composite_k", _)) => Meaning::Value(free, Some(FROM_KELVIN)),
            Ok(Meaning::Value(_, convert)) => Meaning::Value(free, convert),
            _ => Meaning::Value(free, Some(Convert::NONE)),
        });
    }
}
