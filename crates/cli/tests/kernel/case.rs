//! Several cases in one guest: a boot costs more than most of them.
//!
//! Each runs in a shell of its own with sections of its own, one after the other, and is checked by itself: one that
//! fails hides no other. They share the guest's drives and its kernel, so what a case changes it leaves as it was, or
//! comes last.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::kernel::guest::Guest;
use crate::kernel::output::Output;

/// What to run in a guest, and what must have come of it.
pub(crate) struct Case<'a> {
    name: &'static str,
    script: String,
    check: Box<dyn FnOnce(&Output) + 'a>,
}

impl<'a> Case<'a> {
    /// One by this name, which is one word.
    pub(crate) fn new(
        name: &'static str,
        script: impl Into<String>,
        check: impl FnOnce(&Output) + 'a,
    ) -> Self {
        Self { name, script: script.into(), check: Box::new(check) }
    }

    /// The part of the guest's script; its failure ends this case and no other.
    fn part(&self) -> String {
        format!(
            "set +e\n(set -e; out=$out/{name}; mkdir $out; section script\n{script}\n)\n\
             echo $? >$out/{name}/case-status\nset -e\n",
            name = self.name,
            script = self.script
        )
    }
}

impl Guest {
    /// Runs the cases, and checks each.
    pub(crate) fn run_cases(self, cases: Vec<Case<'_>>) {
        check(self.with_cases(&cases).run(), cases);
    }

    /// Adds what the cases run to the script.
    pub(crate) fn with_cases(self, cases: &[Case<'_>]) -> Self {
        self.script(&cases.iter().map(Case::part).collect::<String>())
    }
}

/// Checks each case of a guest that has run them.
pub(crate) fn check(mut output: Output, cases: Vec<Case<'_>>) {
    let mut failed = Vec::new();
    for Case { name, check, .. } in cases {
        output.turn_to(name);
        let judged = catch_unwind(AssertUnwindSafe(|| {
            let status = output.status();
            assert!(
                status == Some(0),
                "the script of `{name}` ended with {status:?}\n{}",
                output.everything()
            );
            check(&output);
        }));
        if let Err(panic) = judged {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
            failed.push(format!("{name}: {text}"));
        }
    }
    assert!(failed.is_empty(), "{} of the cases in this guest failed\n{}", failed.len(), failed.join("\n"));
}
