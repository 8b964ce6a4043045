//! The Japanese README beside the English one: commands and numbers must be the same.
//!
//! It is shorter, so it may leave out; it may not say anything else. Sentences are for people to compare.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::Tree;

const ORIGINAL: &str = "README.md";
const TRANSLATION: &str = "README.ja.md";

/// Commands and numbers of the translation that the original does not have.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let (Some(original), Some(translation)) = (tree.text(ORIGINAL), tree.text(TRANSLATION)) else {
        return Vec::new();
    };
    let instead = "say the same in both, or leave it out of the translation";
    let known: BTreeSet<&str> = original.lines().collect();
    let numbers_known = numbers(original);
    let mut findings = Vec::new();
    let mut fenced = false;
    for (line, at) in translation.lines().zip(1..) {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced && !known.contains(line) {
            let what = format!("`{line}` is not in {ORIGINAL}");
            findings.push(Finding::new("translation", TRANSLATION, at, what, instead));
        } else {
            for number in numbers(line).difference(&numbers_known) {
                let what = format!("the number {number} is not in {ORIGINAL}");
                findings.push(Finding::new("translation", TRANSLATION, at, what, instead));
            }
        }
    }
    findings
}

/// Whole and decimal numbers, as they are written.
fn numbers(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let words = text.split(|c| !is_part(c)).map(|word| word.trim_matches('.'));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let found: Vec<String> = numbers("仮想時間なので 10 分の加熱が 1.5 秒。v0.1.0").into_iter().collect();
        assert_eq!(found, ["0.1.0", "1.5", "10"]);
    }
}
