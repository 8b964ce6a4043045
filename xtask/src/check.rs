//! `cargo xtask check`: the one door. Every check there is, in the order of what it costs.
//!
//! No check lives anywhere else: CI calls this and nothing more. Output of the tools goes through
//! untouched, because the closing lines of the tests are read by machines as well.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::{cargo, fleet, package, site, tidy, tier};

/// One thing that must hold.
struct Step {
    name: &'static str,
    run: Action,
    /// What to type to see it fail again, alone.
    again: String,
}

enum Action {
    /// A cargo command line, with settings of its environment.
    Cargo(&'static [&'static str], &'static [(&'static str, &'static str)]),
    /// A task of ours.
    Own(fn(&Path) -> Result<()>),
}

/// Runs every step under `root`, up to the first that fails.
#[expect(clippy::disallowed_methods, reason = "times its own steps; no measurement depends on it")]
pub(crate) fn run(root: &Path) -> Result<()> {
    let steps = steps();
    let mut times: Vec<(&str, Duration)> = Vec::new();
    for (step, number) in steps.iter().zip(1..) {
        println!("\n== {number}/{} {}: {}", steps.len(), step.name, step.again);
        let start = Instant::now();
        let result = match step.run {
            Action::Cargo(arguments, environment) => cargo::run(root, arguments, environment),
            Action::Own(task) => task(root),
        };
        times.push((step.name, start.elapsed()));
        if let Err(error) = result {
            print!("{}", summary(&times, "FAILED"));
            bail!("{error:#}\ncheck failed at `{}`; to see it again: {}", step.name, step.again);
        }
    }
    print!("{}", summary(&times, "ok"));
    print!("{}", tier::not_run(root)?);
    println!("\ncheck: ok");
    Ok(())
}

fn steps() -> [Step; 11] {
    let cargo = |name, arguments, environment| Step {
        name,
        run: Action::Cargo(arguments, environment),
        again: cargo::spelled(arguments, environment),
    };
    let own = |name, run, again: &str| Step { name, run: Action::Own(run), again: again.into() };
    [
        own("tidy", tidy::run, "cargo xtask tidy"),
        cargo("format", &["fmt", "--all", "--", "--check"], &[]),
        // Warnings are denied behind `--`: in RUSTFLAGS they would make every dependency build anew.
        cargo("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[]),
        // `--all-targets` leaves out what a plain `cargo test` leaves out.
        cargo(
            "clippy of the kernel tier",
            &["clippy", "--workspace", "--test", "kernel", "--", "-D", "warnings"],
            &[],
        ),
        // One failing crate must not hide another: CI may be the only look anybody gets.
        own("test", tier::check, &cargo::spelled(tier::ALL, &[])),
        cargo("doc", &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")]),
        own("site", site::check, "cargo xtask site"),
        // A workspace of its own, with an engine that takes longer to build than all of ours: told apart.
        own("fleet build", fleet::build, "cargo xtask fleet build"),
        own("fleet test", fleet::check, "cargo xtask fleet"),
        own("package", package::check, "cargo xtask package --prove --binary target/debug/heatsoak"),
        own("kernel", tier::check_kernel, "cargo xtask test kernel"),
    ]
}

/// How long each step took; the last one ended with `outcome`, the ones before it well.
fn summary(times: &[(&str, Duration)], outcome: &str) -> String {
    let mut text = String::from("\n== time\n");
    for (number, (name, time)) in times.iter().enumerate() {
        let outcome = if number + 1 == times.len() { outcome } else { "ok" };
        text += &format!("{name:<10} {:>7.1} s  {outcome}\n", time.as_secs_f64());
    }
    let total: Duration = times.iter().map(|(_, time)| *time).sum();
    text + &format!("{:<10} {:>7.1} s\n", "total", total.as_secs_f64())
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_step_says_how_to_see_it_again() {
        for step in steps() {
            assert!(step.again.contains("cargo "), "{}: {}", step.name, step.again);
        }
        assert!(
            steps()
                .iter()
                .any(|step| step.again == "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps")
        );
    }

    #[test]
    fn the_summary_tells_the_outcome_of_the_last_step() {
        let times = [("tidy", Duration::from_millis(140)), ("clippy", Duration::from_secs(61))];
        let text = summary(&times, "FAILED");
        assert_eq!(
            text.lines().skip(2).collect::<Vec<_>>(),
            ["tidy           0.1 s  ok", "clippy        61.0 s  FAILED", "total         61.1 s"]
        );
    }
}
