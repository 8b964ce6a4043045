//! `heatsoak fetch`: the record of a run that another machine keeps.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;
use measure::Bytes;
use remote::{LinkLost, RemoteRequest, RemoteView, StopLevel, ask, sums_in};

use super::view::{Marker, TerminalView};
use super::{exit, link, whole};
use crate::Exit;
use crate::args::FetchArgs;
use crate::printer::Printer;
use crate::{run_folder, signals, table};

/// Brings a run, or lists them.
pub(crate) fn execute(args: &FetchArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    if args.on.on.is_none() {
        bail!("name the machine that keeps the run: heatsoak fetch [RUN] --on [USER@]HOST");
    }
    let stop = signals::stop_flag()?;
    let link = link(&args.on, printer)?;
    let mut request = RemoteRequest {
        args: vec!["fetch".to_owned()],
        folder: None,
        plan: None,
        link_lost: LinkLost::Stop,
        have: Vec::new(),
    };
    let Some(run) = &args.run else {
        let mut listing = KeptRuns::default();
        let done = ask(&link, &request, &mut listing)?;
        printer.data(&listing.table(&link.host, printer.data_width()))?;
        return exit(&link, done.end.code);
    };
    let out = args.out.clone().unwrap_or_else(|| Path::new("runs").join(run));
    let marker = Marker { host: link.host.clone(), run: run.clone() };
    // What is there is completed only where it is known to be of the same run.
    if !marker.is_in(&out) {
        run_folder::refuse_unusable(&out)?;
    }
    request.args.push(run.clone());
    request.have = sums_in(&out);
    let dir = out.clone();
    let make = move || {
        fs::create_dir_all(&dir).map_err(|error| format!("cannot make {}: {error}", dir.display()))?;
        Ok(dir.clone())
    };
    let mut view = TerminalView::new(printer, &stop).with_folder(&link.host, Box::new(make), true);
    let done = ask(&link, &request, &mut view)?;
    view.finish()?;
    if done.here.is_some() {
        whole(&done, &link)?;
        Marker::remove(&out);
        printer.data(&format!("{}\n", out.display()))?;
        if !out.join(crate::commands::findings::REPORT).exists() {
            printer.message(&format!("`heatsoak report {}` makes its report", out.display()));
        }
    }
    exit(&link, done.end.code)
}

/// Takes the list of runs: a line a run.
#[derive(Default)]
struct KeptRuns {
    text: Vec<u8>,
}

impl KeptRuns {
    fn table(&self, host: &str, width: usize) -> String {
        let text = String::from_utf8_lossy(&self.text);
        let mut rows = vec![["RUN", "SIZE", "STATE"].map(str::to_owned)];
        for line in text.lines() {
            let mut cells = line.split('\t').map(str::to_owned);
            let mut next = || cells.next().unwrap_or_default();
            let (name, bytes, state) = (next(), next(), next());
            let size = bytes.parse().map_or(bytes, |bytes| Bytes::new(bytes).to_string());
            rows.push([name, size, state]);
        }
        if rows.len() == 1 {
            return format!("{host} keeps no runs.\n");
        }
        table::fitted(&rows, width)
    }
}

impl RemoteView for KeptRuns {
    fn stdout(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }

    fn stderr(&mut self, _line: &str) {}

    fn folder(&mut self, _there: &str) -> Result<PathBuf, String> {
        Err("it sends a run folder that nobody asked for".to_owned())
    }

    fn stop(&mut self) -> StopLevel {
        StopLevel::No
    }
}
