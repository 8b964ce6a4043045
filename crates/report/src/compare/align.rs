//! Loads of a sweep beside each other: the same place in the plan, at another rate, size or depth.
//!
//! Loads are the same where all that is known of them is ([`super::loads`]). A sweep changes one thing of a load, and what it
//! changes is what a reader wants beside each other: such loads share a table, with a row that says what each run asked for.
//! Limits of `--fail-if` do not go by this: a check that passes or fails because the plan was changed is none.

use super::loads::{ComparedLoad, title};

/// What a run without a rate limit asks for, where others have one.
const NO_LIMIT: &str = "no limit";
/// How a description says a rate limit.
const AT_MOST: &str = "at most ";

/// What differs between loads that share a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoadDifference {
    /// "rate limit" where that is all, else "load".
    pub(super) name: &'static str,
    /// What each run asked for; `None` where it has no such load.
    pub(super) cells: Vec<Option<String>>,
}

/// Puts loads together that lie at the same place of each run's plan and differ in what they ask for.
pub(super) fn aligned(loads: Vec<ComparedLoad>) -> Vec<ComparedLoad> {
    let mut together: Vec<ComparedLoad> = Vec::new();
    for load in loads {
        match together.iter_mut().find(|other| share_a_place(other, &load)) {
            Some(other) => {
                for (mine, theirs) in other.runs.iter_mut().zip(load.runs) {
                    *mine = mine.take().or(theirs);
                }
                for (mine, theirs) in other.places.iter_mut().zip(load.places) {
                    *mine = mine.or(theirs);
                }
                other.asked_alike = false;
            }
            None => together.push(load),
        }
    }
    together.into_iter().map(described).collect()
}

/// Whether no run has both, and all have them as their n-th load of that phase and operation.
fn share_a_place(a: &ComparedLoad, b: &ComparedLoad) -> bool {
    let both = a.runs.iter().zip(&b.runs).any(|(a, b)| a.is_some() && b.is_some());
    let mut places = a.places.iter().chain(&b.places).flatten();
    let first = places.next();
    a.names == b.names && !both && places.all(|place| Some(place) == first)
}

/// With a title of what all runs asked for, and a row of what they did not.
fn described(load: ComparedLoad) -> ComparedLoad {
    if load.asked_alike {
        return load;
    }
    let parts: Vec<Option<Vec<&str>>> =
        load.runs.iter().map(|run| run.as_ref().map(|run| run.what.split(", ").collect())).collect();
    let in_all = |part: &&str| parts.iter().flatten().all(|parts| parts.contains(part));
    let common: Vec<&str> = parts
        .iter()
        .flatten()
        .next()
        .map_or_else(Vec::new, |first| first.iter().copied().filter(in_all).collect());
    let own = |parts: &Vec<&str>| -> Vec<String> {
        parts.iter().filter(|part| !in_all(part)).map(|part| (*part).to_owned()).collect()
    };
    let owns: Vec<Option<Vec<String>>> = parts.iter().map(|parts| parts.as_ref().map(own)).collect();
    let is_rate = owns.iter().flatten().all(|own| match own.as_slice() {
        [] => true,
        [one] => one.starts_with(AT_MOST),
        _ => false,
    });
    let cell = |own: Vec<String>| match (own.is_empty(), is_rate) {
        (true, true) => NO_LIMIT.to_owned(),
        (false, true) => own[0].trim_start_matches(AT_MOST).to_owned(),
        (true, false) => "as the others".to_owned(),
        (false, false) => own.join(", "),
    };
    let name = if is_rate { "rate limit" } else { "load" };
    let cells = owns.into_iter().map(|own| own.map(cell)).collect();
    let place = load.places.iter().flatten().next().copied().unwrap_or(0);
    let title = title(&load.names.0, &load.names.1, &common.join(", "), place);
    ComparedLoad { title, differs: Some(LoadDifference { name, cells }), ..load }
}

/// What tells runs apart where no setting does: what they asked for, of the first load in which each asked for something
/// else.
pub(super) fn labels(loads: &[ComparedLoad]) -> Option<Vec<String>> {
    loads.iter().find_map(|load| {
        let LoadDifference { name, cells } = load.differs.as_ref()?;
        let cells: Vec<&String> = cells.iter().map(Option::as_ref).collect::<Option<_>>()?;
        let all_differ = cells.iter().enumerate().all(|(at, cell)| !cells[..at].contains(cell));
        let named = |cell: &&String| match *name {
            "rate limit" if *cell == NO_LIMIT => "no rate limit".to_owned(),
            "rate limit" => format!("rate limit {cell}"),
            _ => (*cell).clone(),
        };
        all_differ.then(|| cells.iter().map(named).collect())
    })
}
