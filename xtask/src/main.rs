//! xtask: the commands that keep this repository in order. `cargo xtask check` is the one door.
//!
//! It builds, tests, reads and compares; it measures no drive and depends on no crate of ours but `guest`, so
//! it works while they do not compile. What each command does is told by `cargo xtask --help`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command's job is to print")]

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

mod cargo;
mod check;
mod fleet;
mod guest;
mod package;
mod score;
mod site;
mod tally;
mod tidy;
mod tier;

/// Keeps the heatsoak repository in order.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that must hold before a change is good: run it before each commit.
    ///
    /// Tidy, format, clippy with warnings denied, every test tier that can run, documentation with
    /// warnings denied. Stops at the first step that fails and says how to see it again; otherwise
    /// ends with the time of each step and the tiers that did not run.
    Check,
    /// The house rules no lint can keep: crate edges, lengths, addresses, fixtures, links, licences.
    Tidy,
    /// Runs the tests: all tiers that can run, or one.
    Test {
        /// The tier; tiers are named by what they need.
        tier: Option<tier::Tier>,
        /// Handed to the test programs: a part of a test's name, `--nocapture` and so on.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Prepares the guest of the kernel tier from Debian's stock kernels, and runs scripts in it.
    Guest(guest::GuestArgs),
    /// Makes everything a user can get, under target/package, and proves it.
    Package(package::PackageArgs),
    /// Builds and tests the fleet's workspace, format and lints included.
    Fleet {
        /// Only build it.
        #[arg(value_parser = ["build"])]
        only: Option<String>,
    },
    /// Makes the web site of the documents under target/site, and follows its links.
    Site {
        /// Open it in headless Chromium at three widths: no page is wider than the window, the search finds a word;
        /// pictures go to target/site/pictures.
        #[arg(long)]
        look: bool,
    },
    /// Scores verdicts on simulated runs with known truth: confusion matrix and metrics.
    Score {
        /// Handed to the scorer: `--runs N`, `--half scored|tuned`, `--wrong`, `--show NUMBER`.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    let root = cargo::root();
    match task {
        Task::Check => check::run(&root),
        Task::Tidy => tidy::run(&root),
        Task::Test { tier: None, arguments } => tier::run_all(&root, &arguments),
        Task::Test { tier: Some(tier), arguments } => tier::run(&root, tier, &arguments),
        Task::Guest(args) => guest::run(&root, &args),
        Task::Package(args) => package::run(&root, &args),
        Task::Fleet { only: Some(_) } => fleet::build(&root),
        Task::Fleet { only: None } => fleet::check(&root),
        Task::Site { look } => site::run(&root, look),
        Task::Score { arguments } => score::run(&root, &arguments),
    }
}
