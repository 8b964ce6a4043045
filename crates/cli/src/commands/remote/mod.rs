//! `--on`: a command on another machine. The run folder arrives here as it is made, findings and report are made here,
//! and everything that keeps a drive safe is done there.

mod arguments;
pub(super) mod fetch;
mod live;
mod view;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use drive::{Address, AddressKind};
use measure::record;
use plan::Plan;
use remote::request::PlanText;
use remote::serving::Serving;
use remote::{Link, LinkLost, RemoteDone, RemoteError, RemoteRequest, ask};

use crate::Exit;
use crate::args::{CliCommand, DEFAULT_DRIVE, OnArgs, RemoteArgs, RunArgs, WatchArgs};
use crate::commands::run::named_plan;
use crate::commands::{PACE_ON_TERMINAL, findings, forecast};
use crate::printer::Printer;
use crate::{run_folder, screen, signals};
use arguments::{ForRun, arguments};
use live::{LiveFace, NewsView};
use view::{Marker, TerminalView};

/// What another machine may ask for.
const COMMANDS: [&str; 8] =
    ["run", "watch", "list", "inspect", "hctm", "power-state", "temp-threshold", "restore"];

/// Runs of other machines, in the folder for state.
const KEPT: &str = "remote-runs";

/// The variable that names another command than `ssh`.
const SSH_ENV: &str = "HEATSOAK_SSH";

/// Does a command on another machine.
pub(crate) fn execute(command: &CliCommand, printer: &mut Printer) -> anyhow::Result<Exit> {
    let Some(on) = command.on() else { bail!("this command works on this machine alone") };
    match command {
        CliCommand::Run(args) => return run(args, printer),
        CliCommand::Watch(args) => return watch(args, printer),
        _ => {}
    }
    let request = RemoteRequest {
        args: arguments(std::env::args_os(), ForRun::No)?,
        folder: None,
        plan: None,
        link_lost: LinkLost::Stop,
        have: Vec::new(),
    };
    let stop = signals::stop_flag()?;
    let link = link(on, printer)?;
    let mut view = TerminalView::new(printer, &stop);
    let done = ask(&link, &request, &mut view)?;
    view.finish()?;
    exit(&link, done.end.code)
}

/// A run there; its folder arrives here.
fn run(args: &RunArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let plan = named_plan(&args.plan)?;
    let is_sweep = args.sweep.is_some() || plan.sweep.is_some();
    if let Some(out) = &args.out {
        run_folder::refuse_unusable(out)?;
    }
    let drive = args.drive.as_deref().or(plan.drive.as_deref()).unwrap_or(DEFAULT_DRIVE).to_owned();
    let name = run_folder::new_name(&plan.name, &drive);
    let for_run = if is_sweep { ForRun::Sweep } else { ForRun::One };
    let request = RemoteRequest {
        args: arguments(std::env::args_os(), for_run)?,
        folder: Some(name),
        plan: plan_text(&args.plan)?,
        link_lost: args.if_link_lost.into(),
        have: Vec::new(),
    };
    let stop = signals::stop_flag()?;
    let link = link(&args.on, printer)?;
    let out = args.out.clone();
    let (plan_name, typed) = (plan.name.clone(), drive.clone());
    let make = move || make_folder(out.as_deref(), &plan_name, &typed);
    let mut view = TerminalView::new(printer, &stop).with_folder(&link.host, Box::new(make), is_sweep);
    if !is_sweep {
        let on_screen = !args.plain && !args.quiet && !args.json && screen::is_possible() && !is_twin(&drive);
        let face =
            if on_screen { LiveFace::screen(&on_host("heatsoak run", &link))? } else { LiveFace::Quiet };
        view = view.with_live(NewsView::new(face));
    }
    let asked = ask(&link, &request, &mut view);
    let arrived = view.arrived();
    view.finish()?;
    let done = match asked {
        Ok(done) => done,
        Err(error) => {
            let there = match args.if_link_lost.into() {
                LinkLost::Stop => "the load there ends within 5 s and settings are put back",
                LinkLost::Finish => "the run there goes on to its end",
            };
            return Err(cut(error, &link, arrived, there));
        }
    };
    let Some(here) = done.here.clone() else { return exit(&link, done.end.code) };
    whole(&done, &link)?;
    Marker::remove(&here);
    if fs::remove_dir(&here).is_ok() {
        // It was refused there before there was a record.
        return exit(&link, done.end.code);
    }
    if !is_sweep && record::is_run_folder(&here) {
        findings::tell_run(&here, args, printer)?;
        if args.fit {
            forecast::fit_run(&here, printer)?;
        }
    }
    if is_sweep && !args.json {
        printer.message(&format!("The runs are in {}", here.display()));
    }
    exit(&link, done.end.code)
}

/// A watch there: shown here, and its record arrives.
fn watch(args: &WatchArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    if let Some(out) = &args.out {
        run_folder::refuse_unusable(out)?;
    }
    let on_screen = !args.plain && !args.json && screen::is_possible();
    let mut sent = arguments(std::env::args_os(), ForRun::Watch)?;
    if on_screen && args.pace.is_none() {
        sent.insert(1, format!("--pace={PACE_ON_TERMINAL}"));
    }
    let request = RemoteRequest {
        args: sent,
        folder: (!args.no_record).then(|| run_folder::new_name("watch", &args.drives[0])),
        plan: None,
        link_lost: LinkLost::Stop,
        have: Vec::new(),
    };
    let stop = signals::stop_flag()?;
    let link = link(&args.on, printer)?;
    let (out, first) = (args.out.clone(), args.drives[0].clone());
    let make = move || make_folder(out.as_deref(), "watch", &first);
    let face = match (on_screen, args.json) {
        (true, _) => LiveFace::screen(&on_host("heatsoak watch", &link))?,
        (_, true) => LiveFace::Json,
        _ => LiveFace::Plain,
    };
    let mut view = TerminalView::new(printer, &stop)
        .with_folder(&link.host, Box::new(make), true)
        .with_live(NewsView::new(face));
    let asked = ask(&link, &request, &mut view);
    let arrived = view.arrived();
    view.finish()?;
    let done = asked.map_err(|error| cut(error, &link, arrived, "the watch there ends within 5 s"))?;
    if let Some(here) = &done.here {
        whole(&done, &link)?;
        Marker::remove(here);
        // It was refused there before there was a record.
        let _ = fs::remove_dir(here);
    }
    exit(&link, done.end.code)
}

/// The folder for a copy: the one that was named, or a new one.
fn make_folder(out: Option<&Path>, plan: &str, drive: &str) -> Result<PathBuf, String> {
    match out {
        Some(out) => fs::create_dir_all(out)
            .map(|()| out.to_owned())
            .map_err(|error| format!("cannot make {}: {error}", out.display())),
        None => run_folder::make_new(plan, drive).map_err(|error| format!("{error:#}")),
    }
}

/// A title that names the machine.
fn on_host(what: &str, link: &Link) -> String {
    format!("{what} on {}", link.host)
}

/// Whether a run of it is over before a screen could show it: simulated time.
fn is_twin(address: &str) -> bool {
    Address::parse(address).is_ok_and(|address| matches!(address.kind(), AddressKind::Twin { .. }))
}

/// What to say of a record that broke off with the connection.
fn cut(error: RemoteError, link: &Link, arrived: Option<(String, PathBuf)>, there: &str) -> anyhow::Error {
    let Some((name, here)) = arrived else { return error.into() };
    anyhow!(
        "{error}; {there}; what arrived is in {}, and `heatsoak fetch {name} --on {} --out {}` brings the rest",
        here.display(),
        link.host,
        here.display()
    )
}

/// Refuses a copy that is not what is there.
fn whole(done: &RemoteDone, link: &Link) -> anyhow::Result<()> {
    let Err(error) = &done.mirror else { return Ok(()) };
    let name = done.there.as_deref().map(view::kept_name).unwrap_or_default();
    let here = done.here.as_deref().unwrap_or(Path::new("DIR")).display();
    bail!(
        "the copy of the record is not whole: {error}; the record is kept on {}: once the cause is mended, `heatsoak fetch \
         {name} --on {} --out {here}` completes it",
        link.host,
        link.host
    )
}

/// A plan file as it is sent; built-in plans are there as well.
fn plan_text(typed: &str) -> anyhow::Result<Option<PlanText>> {
    if Plan::builtin_names().any(|name| name == typed) {
        return Ok(None);
    }
    let text = measure::input::read_to_string(Path::new(typed))
        .with_context(|| format!("cannot read the plan {typed}"))?;
    let name =
        Path::new(typed).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Some(PlanText { name, text }))
}

/// The way to the other machine; this binary is there once that was asked for.
fn link(on: &OnArgs, printer: &mut Printer) -> anyhow::Result<Link> {
    let ssh = on.ssh.clone().or_else(|| std::env::var(SSH_ENV).ok().filter(|ssh| !ssh.trim().is_empty()));
    let host = on.on.clone().unwrap_or_default();
    let mut link = Link { host, ssh, sudo: on.sudo, installed: None }.checked()?;
    if let Some(file) = &on.install {
        let binary = match file {
            Some(file) => file.clone(),
            None => {
                std::env::current_exe().context("cannot find this binary; name one with --install=FILE")?
            }
        };
        let path = remote::install(&link, &binary)?;
        printer.message(&format!(
            "heatsoak {} is on {} as {}",
            remote::VERSION,
            link.host,
            path.trim_matches('"')
        ));
        link.installed = Some(path);
    }
    Ok(link)
}

/// How the command ended there.
fn exit(link: &Link, code: Option<i32>) -> anyhow::Result<Exit> {
    match code {
        Some(0) => Ok(Exit::Done),
        Some(1) => Ok(Exit::DoesNotHold),
        Some(2) => Ok(Exit::NotDone),
        Some(3) => Ok(Exit::Stopped),
        _ => bail!(
            "heatsoak was killed on {}; `heatsoak restore --on {}` puts settings back",
            link.host,
            link.host
        ),
    }
}

/// Serves a request of another machine.
pub(crate) fn serve(args: &RemoteArgs) -> anyhow::Result<Exit> {
    debug_assert!(args.stdio, "clap asks for it");
    let binary = std::env::current_exe().context("cannot find this binary")?;
    let state =
        state_folder().context("there is no folder for run folders: set HOME or HEATSOAK_STATE_DIR")?;
    let run_args = args.max_write.map(|most| format!("--max-write={}B", most.as_u64())).into_iter().collect();
    let serving = Serving { binary, runs: state.join(KEPT), commands: &COMMANDS, run_args };
    let code = serving
        .serve(Unbuffered(std::io::stdin()), std::io::stdout())
        .context("cannot speak with the other machine")?;
    Ok(match code {
        0 => Exit::Done,
        1 => Exit::DoesNotHold,
        2 => Exit::NotDone,
        _ => Exit::Stopped,
    })
}

/// Where this user's state lies: beside the journals of settings (docs/SAFETY.md).
fn state_folder() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(named) = absolute("HEATSOAK_STATE_DIR") {
        return Some(named);
    }
    if rustix::process::geteuid().is_root() {
        return Some("/var/lib/heatsoak".into());
    }
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("heatsoak"))
}

/// Standard input without a buffer: what has come can be waited for.
struct Unbuffered(std::io::Stdin);

impl std::io::Read for Unbuffered {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        measure::patient::retried(|| rustix::io::read(&self.0, &mut *into))
    }
}

impl std::os::fd::AsFd for Unbuffered {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}
