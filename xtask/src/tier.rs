//! The test tiers, named by what they need, and how each is run.
//!
//! A test target `crates/*/tests/NAME.rs` belongs to the tier its name begins with (`golden.rs`,
//! `loop_cache.rs`); what bears no tier's name needs nothing and is `unit`. What a tier that cannot
//! run here is missing is told by [`Tier::missing`], loudly and each time.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use serde_json::Value;

use crate::cargo::{self, Depth};
use crate::guest;
use crate::tally::{Count, cargo_test, cargo_test_in};

/// `cargo` with this runs every tier that needs nothing prepared. The test targets of the others say
/// `test = false` in their manifest.
pub(crate) const ALL: &[&str] = &["test", "--workspace", "--no-fail-fast"];

/// A tier of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tier {
    /// Needs nothing: modules, doc examples, laws.
    Unit,
    /// Needs fixtures: recorded bytes to decoded values, good and bad.
    Golden,
    /// Needs the built tool and a temporary folder.
    Cli,
    /// Needs virtual time: whole sessions on simulated drives, seeded.
    Sim,
    /// Needs the loopback network: the virtual SSD with known truth, measured by ourselves.
    Loop,
    /// Needs a QEMU guest with a stock kernel.
    Kernel,
    /// Needs a real drive, named by whoever runs it.
    Hardware,
}

impl Tier {
    fn name(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Golden => "golden",
            Self::Cli => "cli",
            Self::Sim => "sim",
            Self::Loop => "loop",
            Self::Kernel => "kernel",
            Self::Hardware => "hardware",
        }
    }

    /// Why this tier cannot run here and now, whatever test targets there are.
    ///
    /// The tier of named drives puts its own question here (which drive was named) when it comes, and
    /// its run into [`run`].
    fn missing(self) -> Option<String> {
        match self {
            Self::Kernel => guest::missing(),
            Self::Hardware => Some("not built yet: no test takes the name of a real drive".into()),
            Self::Unit | Self::Golden | Self::Cli | Self::Sim | Self::Loop => None,
        }
    }

    /// Whether the test target `name` belongs here.
    fn owns(self, target: &str) -> bool {
        let begins = |tier: &Self| {
            target.strip_prefix(tier.name()).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        match Self::value_variants().iter().find(|tier| begins(tier)) {
            Some(tier) => *tier == self,
            None => self == Self::Unit,
        }
    }
}

/// Runs every tier that can run and says which did not.
pub(crate) fn run_all(root: &Path, arguments: &[String]) -> Result<()> {
    let mut count = cargo_test(root, &with(ALL.to_vec(), arguments))?;
    if Tier::Kernel.missing().is_none() {
        count += kernel(root, arguments)?;
    }
    println!("\n{count}");
    print!("{}", not_run(root)?);
    Ok(())
}

/// Runs every tier that needs nothing prepared, as a step of `check`.
pub(crate) fn check(root: &Path) -> Result<()> {
    let count = cargo_test(root, ALL)?;
    // cargo closes with the doc examples of the last crate, of which there may be none: the sum
    // shows whoever reads the last lines alone that tests ran.
    println!("\n{count}");
    ensure!(count.passed > 0, "no test ran at all, which cannot be right");
    Ok(())
}

/// Runs the kernel tier as a step of `check`: left out, loudly, where there is no QEMU, but never in CI.
pub(crate) fn check_kernel(root: &Path) -> Result<()> {
    match Tier::Kernel.missing() {
        Some(reason) if in_ci() => bail!("CI requires the kernel tier: {reason}"),
        Some(reason) => println!("left out: {reason}"),
        None => println!("\n{}", kernel(root, &[])?),
    }
    Ok(())
}

/// CI says so in the environment (`.ci/run` does, and so do the common services).
fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// The targets of the kernel tier, as their manifests name them.
const KERNEL: &[&str] = &["test", "--workspace", "--no-fail-fast", "--test", "kernel"];

/// Prepares the guest and runs the kernel tier in it: a guest a processor, each of which has one itself, and one more,
/// because some wait for the time to pass.
fn kernel(root: &Path, arguments: &[String]) -> Result<Count> {
    let prepared = guest::prepare(root)?;
    let guests = std::thread::available_parallelism().map_or(2, usize::from) + 1;
    let guests = std::env::var_os(THREADS).unwrap_or_else(|| guests.to_string().into());
    let environment = [(guest::PREPARED, prepared.as_os_str()), (THREADS, &guests)];
    cargo_test_in(root, &with(KERNEL.to_vec(), arguments), &environment)
}

/// How many tests run at a time, to the test programs.
const THREADS: &str = "RUST_TEST_THREADS";

/// Runs one tier. One that cannot run is an error here: it was asked for by name.
pub(crate) fn run(root: &Path, tier: Tier, arguments: &[String]) -> Result<()> {
    if let Some(reason) = tier.missing() {
        bail!("tier `{}` cannot run: {reason}", tier.name());
    }
    if tier == Tier::Kernel {
        println!("\n{}", kernel(root, arguments)?);
        return Ok(());
    }
    let targets = targets(root, tier)?;
    ensure!(
        tier == Tier::Unit || !targets.is_empty(),
        "tier `{name}` has no test target yet; it would be crates/*/tests/{name}*.rs",
        name = tier.name()
    );
    let mut line = vec!["test", "--workspace", "--no-fail-fast"];
    if tier == Tier::Unit {
        line.extend(["--lib", "--bins"]);
    }
    line.extend(targets.iter().flat_map(|target| ["--test", target]));
    let mut count = cargo_test(root, &with(line, arguments))?;
    if tier == Tier::Unit {
        // Doc examples: cargo does not run them together with named targets.
        count += cargo_test(root, &with(vec!["test", "--workspace", "--doc"], arguments))?;
    }
    println!("\n{count}");
    Ok(())
}

/// Which tiers did not run when all were asked for, and why: a text to print, never empty silence
/// where something was left out.
pub(crate) fn not_run(root: &Path) -> Result<String> {
    let mut text = String::new();
    for tier in Tier::value_variants() {
        let reason = match tier.missing() {
            Some(reason) => reason,
            None if *tier != Tier::Unit && targets(root, *tier)?.is_empty() => {
                "has no test target yet".into()
            }
            None => continue,
        };
        text += &format!("{:<10} DID NOT RUN: {reason}\n", tier.name());
    }
    Ok(if text.is_empty() { text } else { format!("\n== tiers that did not run\n{text}") })
}

fn with<'a>(mut line: Vec<&'a str>, arguments: &'a [String]) -> Vec<&'a str> {
    if !arguments.is_empty() {
        line.push("--");
        line.extend(arguments.iter().map(String::as_str));
    }
    line
}

/// The names of the test targets of `tier`, each once.
fn targets(root: &Path, tier: Tier) -> Result<Vec<String>> {
    targets_in(&cargo::metadata(root, Depth::OursAlone)?, tier)
}

fn targets_in(metadata: &Value, tier: Tier) -> Result<Vec<String>> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    let targets = packages.iter().filter_map(|package| package["targets"].as_array()).flatten();
    let tests = targets.filter(|target| target["kind"][0] == "test");
    let names = tests.filter_map(|target| target["name"].as_str()).filter(|name| tier.owns(name));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

#[cfg(test)]
mod test {
    use super::*;
    use serde_json::json;

    #[test]
    fn targets_belong_to_the_tier_they_begin_with() {
        let target = |name: &str, kind: &str| json!({"name": name, "kind": [kind]});
        let metadata = json!({"packages": [
            {"targets": [target("nvme", "lib"), target("golden", "test"), target("golden_smart", "test")]},
            {"targets": [target("heatsoak", "bin"), target("cli", "test"), target("golden", "test")]},
            {"targets": [target("simple", "test"), target("loop", "test"), target("loop", "bench")]},
        ]});
        let of = |tier| targets_in(&metadata, tier).expect("the sample is well formed");
        assert_eq!(of(Tier::Golden), ["golden", "golden_smart"]);
        assert_eq!(of(Tier::Cli), ["cli"]);
        assert_eq!(of(Tier::Loop), ["loop"]);
        assert_eq!(of(Tier::Sim), Vec::<String>::new());
        assert_eq!(of(Tier::Unit), ["simple"], "`simple` is not `sim`");
    }

    #[test]
    fn what_cannot_run_says_so() {
        let text = not_run(&cargo::root()).expect("cargo is here, it runs this test");
        for tier in Tier::value_variants().iter().filter(|tier| tier.missing().is_some()) {
            assert!(text.contains(&format!("{:<10} DID NOT RUN: ", tier.name())), "{text}");
            assert!(run(&cargo::root(), *tier, &[]).is_err());
        }
    }

    #[test]
    fn names_are_what_is_typed() {
        for tier in Tier::value_variants() {
            let typed = tier.to_possible_value().expect("no tier is hidden");
            assert_eq!(typed.get_name(), tier.name());
        }
    }
}
