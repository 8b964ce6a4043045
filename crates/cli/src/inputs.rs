//! What was typed where runs are expected, as runs: a sweep's folder stands for its runs, and what lies beside runs is
//! passed over.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use measure::record;

use crate::logs;
use crate::printer::Printer;

/// How a sweep names what happens between two of its runs; see `commands::run::sweep`.
pub(crate) const BETWEEN: &str = "between-";

/// Endings of files that are never a log: what reports, comparisons and drawings are written as.
const NEVER_LOGS: [&str; 5] = ["html", "svg", "png", "md", "pdf"];

/// The runs and logs in `typed`; what is passed over is told in a line.
///
/// One input alone is taken as it is: who names a file means it.
pub(crate) fn runs_in(typed: &[PathBuf], printer: &mut Printer) -> Vec<PathBuf> {
    let is_list = typed.len() > 1;
    let mut runs = Vec::new();
    let mut passed_over = Vec::new();
    for path in in_number_order(typed) {
        let is_folder = path.is_dir();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_page = path.extension().is_some_and(|end| NEVER_LOGS.iter().any(|never| end == *never));
        if is_list && path.is_file() && is_page || is_list && is_folder && name.starts_with(BETWEEN) {
            passed_over.push(name);
        } else if is_folder && !record::is_run_folder(&path) && !runs_of(&path).is_empty() {
            runs.extend(runs_of(&path));
        } else if is_list && is_folder && !record::is_run_folder(&path) && !logs::is_folder_of_logs(&path) {
            passed_over.push(name);
        } else {
            runs.push(path);
        }
    }
    if !passed_over.is_empty() {
        printer.message(&format!("passed over, no runs or logs: {}", passed_over.join(", ")));
    }
    // Nothing left is an error that names what was typed.
    if runs.is_empty() { typed.to_vec() } else { runs }
}

/// The run folders in a folder, in the order of their numbers, without what a sweep does between its runs.
fn runs_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_between =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(BETWEEN));
    let mut runs: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && record::is_run_folder(path) && !is_between(path))
        .collect();
    runs.sort_by(|a, b| by_number(&a.to_string_lossy(), &b.to_string_lossy()));
    runs
}

/// A shell lists `10-x` before `2-x`: what is in that order is put into the order of numbers; any other order is the
/// user's own.
fn in_number_order(typed: &[PathBuf]) -> Vec<PathBuf> {
    let mut paths = typed.to_vec();
    if typed.is_sorted() {
        paths.sort_by(|a, b| by_number(&a.to_string_lossy(), &b.to_string_lossy()));
    }
    paths
}

/// Text by its parts, runs of digits as numbers.
pub(crate) fn by_number(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (digits_a, digits_b) = (leading_digits(a), leading_digits(b));
        if !digits_a.is_empty() && !digits_b.is_empty() {
            let (x, y) = (digits_a.trim_start_matches('0'), digits_b.trim_start_matches('0'));
            let order =
                x.len().cmp(&y.len()).then_with(|| x.cmp(y)).then(digits_a.len().cmp(&digits_b.len()));
            if order != Ordering::Equal {
                return order;
            }
            (a, b) = (&a[digits_a.len()..], &b[digits_b.len()..]);
            continue;
        }
        let (mut rest_a, mut rest_b) = (a.chars(), b.chars());
        match (rest_a.next(), rest_b.next()) {
            (None, None) => return Ordering::Equal,
            (x, y) if x != y => return x.cmp(&y),
            _ => (a, b) = (rest_a.as_str(), rest_b.as_str()),
        }
    }
}

fn leading_digits(text: &str) -> &str {
    &text[..text.bytes().take_while(u8::is_ascii_digit).count()]
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn folders_are_in_the_order_of_their_numbers() {
        let mut names = ["10-b", "2-tmt-65-70", "1-default", "02-a", "2-tmt-65-9", "a", "", "2-"];
        names.sort_by(|a, b| by_number(a, b));
        assert_eq!(names, ["", "1-default", "2-", "2-tmt-65-9", "2-tmt-65-70", "02-a", "10-b", "a"]);
    }

    #[test]
    fn an_order_of_ones_own_is_kept() {
        let paths = |names: [&str; 3]| names.map(PathBuf::from).to_vec();
        assert_eq!(in_number_order(&paths(["10", "2", "3"])), paths(["2", "3", "10"]));
        assert_eq!(in_number_order(&paths(["3", "10", "2"])), paths(["3", "10", "2"]));
    }
}
