//! The command line: exactly what may be typed, one definition a flag.
//!
//! Help, man page, completions and the reference in `docs/cli` are made from it. Nothing here looks at the
//! system; names are resolved where they are used. Only commands that exist are listed.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

/// The hidden command's name.
const GENERATE: &str = "generate";

const AFTER_HELP: &str = "\
Drives:
  twin:ssd1, twin:PROFILE.toml   a simulated drive, in virtual time
  /dev/nvme0n1, /dev/sda         a real drive; reads only, writing is refused in this version
  file:PATH?size=4GiB            a file on a file system, made if it is not there
  null:                          completes at once: the tool's own floor
  `heatsoak list` shows the drives of this machine.

Exit codes:
  0  done
  1  done, and something you asked to be checked did not hold
  2  not done: usage, refused, or the device failed
  3  stopped early by the thermal limit or by Ctrl-C; what was measured is kept";

/// Finds out how an SSD behaves when it gets hot.
///
/// heatsoak loads a drive, watches speed, temperature, power and the drive's own throttle counters on one
/// clock, and says what slowed the drive down, how that is known, and how sure it is. Without hardware it
/// works on a simulated drive.
#[derive(Debug, Parser)]
#[command(
    name = "heatsoak",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
#[command(after_long_help = AFTER_HELP, max_term_width = 110)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the drives of this machine and how each can be reached
    List(ListArgs),
    /// Show the built-in plans, or print one as TOML to start from
    Plans(NameArgs),
    /// Show the built-in simulated drives, or print the profile of one as TOML
    Profiles(NameArgs),
    /// Print the completions for a shell
    Completions(CompletionsArgs),
}

/// `heatsoak list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// `heatsoak plans` and `heatsoak profiles`.
#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    /// Print this one as TOML
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// `heatsoak completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// The hidden command `heatsoak generate`, for developers: no part of [`Command`], so that help, man page
/// and completions do not have it.
#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// The folder for man pages, completions and the reference
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

/// What was typed.
#[derive(Debug)]
pub(crate) enum Typed {
    /// A command.
    Command(Command),
    /// The hidden one.
    Generate(GenerateArgs),
}

/// Reads the command line of this process; ends the process after `--help` and after wrong usage (2).
pub(crate) fn typed() -> Typed {
    let hidden = GenerateArgs::augment_args(clap::Command::new(GENERATE).hide(true));
    let definition = Cli::command().subcommand(hidden);
    let matches = definition.clone().get_matches();
    let typed = match matches.subcommand() {
        Some((GENERATE, matches)) => GenerateArgs::from_arg_matches(matches).map(Typed::Generate),
        _ => Cli::from_arg_matches(&matches).map(|cli| Typed::Command(cli.command)),
    };
    typed.unwrap_or_else(|error| error.format(&mut definition.clone()).exit())
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
