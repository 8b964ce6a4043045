//! Tidy: the house rules that no lint can keep, read off the tree itself.
//!
//! Each rule is a pure function from the tree (or from `cargo metadata`) to findings, with its own
//! tests on made-up trees; one more test runs them all on the real one, so `cargo test` is enough
//! to keep the house. What a rule permits by exception stands in [`exceptions`], with its reason.
//! Formatting, lints and documentation are not judged here: `cargo xtask check` asks their own tools.

use std::fmt;
use std::path::Path;

use anyhow::{Result, bail};

use crate::cargo;
use tree::Tree;

mod address;
mod edges;
mod exceptions;
mod fixtures;
mod licence;
mod lints;
mod markdown;
mod readme;
mod shape;
mod translation;
mod tree;
mod words;
mod workflow;

/// Something in the tree that a rule minds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Path from the root of the tree.
    path: String,
    /// From 1; 0 where the whole file is meant.
    line: usize,
    /// The rule's name.
    rule: &'static str,
    /// What is there.
    what: String,
    /// What to do instead.
    instead: String,
    /// Told, but not held against the tree.
    only_warns: bool,
}

impl Finding {
    fn new(
        rule: &'static str,
        path: &str,
        line: usize,
        what: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), line, rule, what: what.into(), instead: instead.into(), only_warns: false }
    }

    fn warning(self) -> Self {
        Self { only_warns: true, ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, rule, what, instead, only_warns } = self;
        let place = if *line == 0 { path.clone() } else { format!("{path}:{line}") };
        let kind = if *only_warns { "warning" } else { "error" };
        write!(f, "{place}: {kind} [{rule}] {what}\n    instead: {instead}")
    }
}

/// Prints what the rules find in the tree under `root`. Warnings alone are no error.
pub(crate) fn run(root: &Path) -> Result<()> {
    let findings = findings(root)?;
    for finding in &findings {
        println!("{finding}");
    }
    let errors = findings.iter().filter(|finding| !finding.only_warns).count();
    if errors > 0 {
        bail!("tidy minds {errors} things in the tree; each says above what to do instead");
    }
    println!("tidy: nothing to mind, {} warnings", findings.len());
    Ok(())
}

/// What all rules find in the tree under `root`, by path and line.
fn findings(root: &Path) -> Result<Vec<Finding>> {
    let tree = Tree::read(root)?;
    let mut findings = [
        lints::check(&tree),
        shape::check(&tree),
        words::check(&tree),
        address::check(&tree),
        fixtures::check(&tree),
        markdown::check(&tree),
        readme::check(&tree),
        translation::check(&tree),
        workflow::check(&tree),
        edges::check(&cargo::metadata(root, cargo::Depth::OursAlone)?)?,
        licence::check(&cargo::metadata(root, cargo::Depth::WithDependencies)?)?,
        // The fleet's workspace has a lock file of its own.
        licence::check(&cargo::metadata(&root.join("fleet"), cargo::Depth::WithDependencies)?)?,
    ]
    .concat();
    findings.sort();
    Ok(findings)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_tree_keeps_the_house_rules() {
        let findings = findings(&cargo::root()).expect("the tree and its metadata can be read");
        let errors: Vec<String> =
            findings.iter().filter(|finding| !finding.only_warns).map(Finding::to_string).collect();
        assert!(errors.is_empty(), "`cargo xtask tidy` shows the same:\n{}", errors.join("\n"));
    }

    #[test]
    fn a_finding_says_where_what_and_what_instead() {
        let finding = Finding::new("length", "a.rs", 7, "this", "that");
        assert_eq!(finding.to_string(), "a.rs:7: error [length] this\n    instead: that");
        let whole = Finding::new("length", "a.rs", 0, "this", "that").warning();
        assert_eq!(whole.to_string(), "a.rs: warning [length] this\n    instead: that");
    }
}
