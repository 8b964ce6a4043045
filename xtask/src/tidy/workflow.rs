//! The rule about workflow files of a forge: their steps are `cargo xtask ..` or `.ci/run`, so that whatever a release does
//! can be done, and is checked, by hand.

use super::Finding;
use super::tree::Tree;

const FOLDER: &str = ".github/workflows/";
const ALLOWED: [&str; 2] = ["cargo xtask ", ".ci/run"];

/// Steps that run anything else.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let files = tree.texts().filter(|(path, _)| path.starts_with(FOLDER));
    let lines = files.flat_map(|(path, text)| text.lines().zip(1..).map(move |(line, at)| (path, line, at)));
    let steps = lines.filter_map(|(path, line, at)| {
        let line = line.trim_start();
        let command = line.strip_prefix("- ").unwrap_or(line).strip_prefix("run:")?.trim();
        Some((path, command, at))
    });
    let foreign = steps.filter(|(_, command, _)| {
        !ALLOWED.iter().any(|allowed| command.starts_with(allowed)) || command.contains([';', '&', '|'])
    });
    let finding = |(path, command, at): (&str, &str, usize)| {
        let instead = "put it behind a command of xtask, which `cargo xtask check` can see";
        Finding::new("workflow", path, at, format!("the step `{command}` is none of ours"), instead)
    };
    foreign.map(finding).collect()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn steps_are_commands_of_ours() {
        let of = |step: &str| {
            check(&Tree::from_texts(&[(
                ".github/workflows/x.yml",
                &format!("    steps:\n      - run: {step}\n"),
            )]))
            .len()
        };
        assert_eq!([of("cargo xtask package --prove"), of(".ci/run")], [0, 0]);
        assert_eq!([of("make"), of("cargo xtask site && scp x"), of("|")], [1, 1, 1]);
    }
}
