//! `heatsoak fleet`: finds `heatsoak-fleet` and becomes it, so that its output, exit code and Ctrl-C are its own.
//!
//! `partial` and `finish` need no engine: they are the state of a drive for the engines that others have, over Arrow
//! streams, and the Python package calls them.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufReader, BufWriter, ErrorKind, IsTerminal as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use fleet_state::IntervalRules;
use fleet_streams::PartialOptions;

use crate::Exit;
use crate::args::{FleetArgs, FleetStream};
use crate::printer::Printer;

/// The program that has the engine in it.
const PROGRAM: &str = "heatsoak-fleet";

/// Does not return where the program is needed and found.
pub(super) fn execute(args: &FleetArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    if let Some(stream) = args.stream() {
        return stream_through(stream, printer);
    }
    let program = env::current_exe().ok().and_then(|own| beside(&own)).unwrap_or_else(|| PROGRAM.into());
    let error = Command::new(&program).args(&args.command).exec();
    if error.kind() != ErrorKind::NotFound {
        return Err(error).with_context(|| format!("cannot start {}", program.display()));
    }
    let typed: Vec<String> = args.command.iter().map(shown).collect();
    anyhow::bail!(
        "cannot run `heatsoak fleet {}`: {PROGRAM} is neither beside heatsoak nor in PATH; it is a program of its own. \
         In heatsoak's source tree `cargo build --release --manifest-path fleet/Cargo.toml` builds \
         target/fleet/release/{PROGRAM}; put it beside heatsoak",
        typed.join(" ")
    )
}

/// Arrow streams on stdin and stdout.
fn stream_through(stream: Result<FleetStream, clap::Error>, printer: &mut Printer) -> anyhow::Result<Exit> {
    let stream = match stream {
        Ok(stream) => stream,
        Err(error) if error.use_stderr() => {
            printer.usage(&error);
            return Ok(Exit::NotDone);
        }
        Err(help) => {
            printer.help(&help)?;
            return Ok(Exit::Done);
        }
    };
    let (input, mut output) = (io::stdin(), BufWriter::new(io::stdout().lock()));
    if input.is_terminal() || io::stdout().is_terminal() {
        anyhow::bail!(
            "`heatsoak fleet {stream}` reads an Arrow stream on stdin and writes one on stdout; heatsoak.fleet of the Python package calls it (docs/FLEET.md)"
        );
    }
    let input = BufReader::new(input.lock());
    match stream {
        FleetStream::Partial { every, simulated } => {
            let cadence_ms = i64::try_from(every.as_millis()).unwrap_or(i64::MAX).max(1);
            let options = PartialOptions { rules: IntervalRules { cadence_ms }, simulated };
            fleet_streams::partial(input, &mut output, &options)?;
        }
        FleetStream::Finish => {
            let nameless = fleet_streams::finish(input, &mut output)?;
            if nameless > 0 {
                printer.warning(&format!("{nameless} rows have no serial number and are in no drive"));
            }
        }
    }
    output.flush().context("the result cannot be written")?;
    Ok(Exit::Done)
}

fn shown(word: &OsString) -> String {
    word.to_string_lossy().into_owned()
}

/// The program in the folder of our own binary, or where the build of the fleet's workspace leaves it beside ours:
/// `target/fleet/PROFILE` for `target/PROFILE`.
fn beside(own: &Path) -> Option<PathBuf> {
    let folder = own.parent()?;
    let built =
        folder.parent().zip(folder.file_name()).map(|(target, profile)| target.join("fleet").join(profile));
    [Some(folder.to_path_buf()), built]
        .into_iter()
        .flatten()
        .map(|folder| folder.join(PROGRAM))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_program_lies_beside_or_in_the_build_folder() {
        let target = tempfile::tempdir().expect("a folder");
        let own = target.path().join("debug/heatsoak");
        assert_eq!(beside(&own), None);
        let built = target.path().join("fleet/debug");
        std::fs::create_dir_all(&built).expect("a folder");
        std::fs::write(built.join(PROGRAM), "").expect("a file");
        assert_eq!(beside(&own), Some(built.join(PROGRAM)));
        std::fs::create_dir_all(target.path().join("debug")).expect("a folder");
        std::fs::write(target.path().join("debug").join(PROGRAM), "").expect("a file");
        assert_eq!(beside(&own), Some(target.path().join("debug").join(PROGRAM)), "the nearer one");
    }
}
