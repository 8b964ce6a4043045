//! `heatsoak serve`: the runs of a folder in a browser, until a signal comes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::anyhow;
use capture::session::Stop;
use report::{Comparison, ReportInput};
use schemars::JsonSchema;
use serde::Serialize;
use serve::{AccessToken, LibraryServer, RunPages, RunSummary, ServeOptions};

use crate::Exit;
use crate::args::ServeArgs;
use crate::commands::compare::remarks;
use crate::commands::documents::JsonDocument as _;
use crate::commands::findings::Analyzed;
use crate::commands::joint;
use crate::commands::runs::library_run;
use crate::printer::{Printer, sentence};
use crate::signals;

/// How often the signals are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// The line of `--json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ServeTold {
    /// Version of this format.
    schema: u32,
    /// What to open.
    url: String,
    /// On which TCP port.
    port: u16,
    /// Whether a browser is asked for a token.
    token: bool,
}

/// Serves.
pub(crate) fn execute(args: &ServeArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let token =
        args.token_file.as_deref().map(AccessToken::in_file).transpose().map_err(|why| anyhow!(why))?;
    let has_token = token.is_some();
    let stop = signals::stop_flag()?;
    let options =
        ServeOptions { dir: args.dir.clone(), listen: args.listen, hosts: args.host.clone(), token };
    let server = LibraryServer::start(options, Arc::new(Pages))?;
    let address = server.address();
    let url = format!("http://{address}/");
    if args.json {
        printer.json_line(&ServeTold {
            schema: ServeTold::SCHEMA,
            url,
            port: address.port(),
            token: has_token,
        })?;
    } else {
        printer.data(&format!("{url}\n"))?;
    }
    if let Some(file) = &args.token_file {
        printer.message(&format!("A browser is asked for the token in {}.", file.display()));
    }
    if !address.ip().is_loopback() {
        printer.warning(
            "this is plain HTTP: who can read the network between reads the token and the pages; ssh -L is safer",
        );
    }
    printer.message(&format!("Serving the runs in {}, read-only. Ctrl-C ends it.", args.dir.display()));
    // Nobody ever sends: the timeout is the wait.
    let (_keep, never) = channel::<()>();
    while stop.asks() == Stop::No && never.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {}
    drop(server);
    Ok(Exit::Done)
}

/// Pages of runs by the code of `runs`, `report` and `compare`.
struct Pages;

impl RunPages for Pages {
    fn describe(&self, folder: &Path) -> RunSummary {
        let run = library_run(folder);
        RunSummary {
            drive: run.drive,
            plan: run.plan,
            began_unix_s: run.began_unix_s,
            simulated: run.simulated,
            verdict: run.verdict,
            has_ended: run.has_ended,
        }
    }

    fn report(&self, name: &str, folder: &Path) -> Result<String, String> {
        let analyzed = read(name, folder)?;
        Ok(report::html(&analyzed.advised().input))
    }

    fn compare(&self, runs: &[(String, PathBuf)]) -> Result<String, String> {
        let runs = runs.iter().map(|(name, folder)| read(name, folder)).collect::<Result<Vec<_>, _>>()?;
        let (runs, joint) = joint::together(runs, false).map_err(|error| sentence(&error))?;
        let inputs: Vec<ReportInput> = runs.into_iter().map(|run| run.input).collect();
        let remarks = remarks(&inputs);
        let comparison = Comparison { runs: &inputs, baseline: 0, joint: &joint, remarks: &remarks };
        Ok(report::compare_html(&comparison))
    }

    fn so_far(&self, name: &str, folder: &Path) -> Result<ReportInput, String> {
        Ok(read(name, folder)?.input)
    }
}

/// Reads and analyzes a run; errors name it as the library does.
fn read(name: &str, folder: &Path) -> Result<Analyzed, String> {
    let shown = folder.display().to_string();
    Analyzed::read_run_as(folder, Path::new(name)).map_err(|error| sentence(&error).replace(&shown, name))
}
