//! The rule about the README: the two commands a newcomer types are in it, and they are real.
//!
//! That `cargo run` means the tool itself is the workspace's doing (`default-members`), so that is
//! looked at too.

use super::Finding;
use super::tree::Tree;

/// The first commands a newcomer types.
const COMMANDS: [&str; 2] = ["cargo run --release -- run", "cargo xtask check"];
/// What lets `cargo run` find the tool without naming its package.
const DEFAULT_MEMBERS: &str = "default-members = [\"crates/cli\"]";

/// Findings about README.md; that it exists is the rule on expected files.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(readme) = tree.text("README.md") else { return Vec::new() };
    let untold = COMMANDS.into_iter().filter(|command| !readme.lines().any(|line| says(line, command)));
    let mut findings: Vec<Finding> = untold
        .map(|command| {
            let instead = "show it among the first commands";
            Finding::new("readme", "README.md", 0, format!("does not say `{command}`"), instead)
        })
        .collect();
    if !tree.text("Cargo.toml").is_some_and(|manifest| manifest.contains(DEFAULT_MEMBERS)) {
        let what = "`cargo run` does not start the tool, as README.md says";
        findings.push(Finding::new("readme", "Cargo.toml", 0, what, format!("say `{DEFAULT_MEMBERS}`")));
    }
    findings
}

/// Whether `line` has `command` as it would be typed: nothing before it but a prompt or a quote,
/// nothing after it but a comment.
fn says(line: &str, command: &str) -> bool {
    line.match_indices(command).any(|(at, _)| {
        let before = line[..at].trim_end();
        let after = line[at + command.len()..].trim_start();
        let free_before = before.is_empty() || before.ends_with(['$', '`', ' ', '(']);
        free_before && (after.is_empty() || after.starts_with(['#', '`']))
    })
}

#[cfg(test)]
mod test {
    use super::*;
    use clap::Parser;

    #[test]
    fn both_commands_are_asked_for() {
        let manifest = ("Cargo.toml", "default-members = [\"crates/cli\"]");
        let good = "# A\n\n    cargo run --release -- run    # simulates\n`cargo xtask check` checks.\n";
        assert_eq!(check(&Tree::from_texts(&[("README.md", good), manifest])), []);
        let poor = "# A\ncargo run --release -- run hctm-read\n";
        assert_eq!(check(&Tree::from_texts(&[("README.md", poor), manifest])).len(), 2);
        assert_eq!(check(&Tree::from_texts(&[("README.md", good), ("Cargo.toml", "")])).len(), 1);
        assert_eq!(check(&Tree::from_texts(&[])), []);
    }

    #[test]
    fn the_second_command_is_one_of_ours() {
        let typed = COMMANDS[1].split(' ').skip(1);
        assert!(crate::Arguments::try_parse_from(typed).is_ok());
    }
}
