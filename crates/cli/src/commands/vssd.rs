//! `heatsoak vssd`: simulated drives behind NVMe/TCP, until a signal comes.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use capture::session::{Stop, StopFlag};
use measure::{Bytes, Seed};
use nvme::auth::ControllerAuth;
use physics::Profile;
use schemars::JsonSchema;
use serde::Serialize;
use twin::controller::{BackingFile, BackingOptions, Options, Scale, SubsystemIdentity};
use twin::vssd::{ControlSocket, DriveOptions, Server, ServerLimits, ServerOptions, kept_name};

use crate::Exit;
use crate::args::VssdArgs;
use crate::commands::documents::JsonDocument as _;
use crate::printer::Printer;
use crate::signals;
use crate::twin_drive::read_profile;

/// How often the signals are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Serves.
pub(crate) fn execute(args: &VssdArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let drives = drives(args)?;
    let told: Vec<(String, u64)> =
        drives.iter().map(|drive| (drive.options.profile.name.clone(), size_bytes(&drive.options))).collect();
    let stop = signals::stop_flag()?;
    let server = Server::start(ServerOptions {
        listen: args.listen,
        allow_network: args.allow_network,
        allowed_hosts: args.allow_host.clone(),
        auth: auth(args)?,
        drives: drives.clone(),
        limits: ServerLimits::default(),
    })?;
    // It goes before the server, so that nobody asks about drives that have ended.
    let control = args.control.as_deref().map(|path| ControlSocket::start(path, &server)).transpose()?;
    tell(args, &server, &drives, &told, printer)?;
    wait(&stop);
    drop(control);
    server.stop();
    Ok(Exit::Done)
}

/// What hosts have to prove.
fn auth(args: &VssdArgs) -> anyhow::Result<Option<ControllerAuth>> {
    let Some(path) = &args.dhchap_secret_file else { return Ok(None) };
    let controller_secret = args.dhchap_ctrl_secret_file.as_deref().map(drive::secret::read).transpose()?;
    Ok(Some(ControllerAuth {
        host_secret: drive::secret::read(path)?,
        controller_secret,
        hash: args.dhchap_hash,
        group: args.dhchap_group,
    }))
}

/// Waits for a signal.
fn wait(stop: &StopFlag) {
    // Nobody ever sends: the timeout is the wait.
    let (_keep, never) = channel::<()>();
    while stop.asks() == Stop::No && never.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {}
}

/// The drives that were asked for.
fn drives(args: &VssdArgs) -> anyhow::Result<Vec<DriveOptions>> {
    let names: Vec<String> =
        if args.shelf { Profile::builtin_names().map(str::to_owned).collect() } else { args.profile.clone() };
    let scale = Scale::new(args.time_scale, args.bandwidth_scale)
        .ok_or_else(|| anyhow!("cannot scale: --time-scale and --bandwidth-scale are 1 to {}", Scale::MAX))?;
    let mut instances = BTreeMap::new();
    let several = names.len() > 1;
    names
        .iter()
        .map(|name| {
            let profile = sized(read_profile(name)?, args.size, scale)?;
            let instance: &mut u32 = instances.entry(profile.name.clone()).or_default();
            *instance += 1;
            drive(args, profile, scale, *instance, several)
        })
        .collect()
}

fn drive(
    args: &VssdArgs,
    profile: Profile,
    scale: Scale,
    instance: u32,
    several: bool,
) -> anyhow::Result<DriveOptions> {
    // Tells drives of one profile apart, in one folder and from start to start.
    let stem = SubsystemIdentity::for_profile(&profile.name, instance).name().to_owned();
    let place = |path: &PathBuf, ending: &str| -> anyhow::Result<PathBuf> {
        if !several {
            return Ok(path.clone());
        }
        std::fs::create_dir_all(path).with_context(|| {
            format!("several drives need a folder, and {} cannot be made one", path.display())
        })?;
        Ok(path.join(format!("{stem}.{ending}")))
    };
    let data_file = args.backing.as_ref().map(|path| place(path, "data")).transpose()?;
    let state_file = args.state.as_ref().map(|path| place(path, "json")).transpose()?;
    let name = match &args.name {
        Some(name) if several => format!("{name}-{stem}"),
        Some(name) => name.clone(),
        None => {
            kept_name(state_file.as_deref(), data_file.as_deref(), &stem)?.unwrap_or_else(|| new_name(&stem))
        }
    };
    let backing = match data_file {
        Some(path) => BackingOptions::File(BackingFile { path, overwrite: args.overwrite }),
        None => BackingOptions::Memory { limit_bytes: args.memory.as_u64() },
    };
    let mut options = Options::new(profile, Seed::new(args.seed));
    options.identity = SubsystemIdentity::named(&name);
    options.limits.controllers = args.hosts;
    options.multipath = args.multipath;
    (options.scale, options.backing) = (scale, backing);
    Ok(DriveOptions { options, state_file })
}

/// A name that no other drive has: a host takes two drives of one name for one drive with two ways to it.
fn new_name(stem: &str) -> String {
    // Its keys are random in each process, and differ from state to state.
    let random = RandomState::new().build_hasher().finish() as u32;
    format!("{stem}-{random:08x}")
}

/// The profile with the size that hosts shall see.
fn sized(mut profile: Profile, size: Option<Bytes>, scale: Scale) -> anyhow::Result<Profile> {
    if let Some(size) = size {
        let bytes = size.as_u64().checked_mul(u64::from(scale.bandwidth()));
        profile.identity.capacity_bytes =
            bytes.context("cannot make a drive of that size: it is too large")?;
        profile.check().with_context(|| format!("profile {} cannot be {size} large", profile.name))?;
    }
    Ok(profile)
}

/// Size as hosts see it.
fn size_bytes(options: &Options) -> u64 {
    let block = u64::from(options.profile.identity.block_bytes);
    options.profile.identity.capacity_bytes / (block * u64::from(options.scale.bandwidth())) * block
}

/// The line of `--json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Told<'a> {
    /// Version of this format.
    schema: u32,
    /// Always true.
    simulated: bool,
    /// Where it listens.
    address: String,
    /// On which TCP port.
    port: u16,
    /// The control socket; `null` without one.
    control: Option<&'a Path>,
    /// The drives it serves.
    drives: Vec<ToldDrive>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ToldDrive {
    /// NVMe qualified name.
    nqn: String,
    /// What `--drive` takes.
    url: String,
    /// Name of its profile.
    profile: String,
    /// Serial number.
    serial: String,
    /// Size as hosts see it.
    size_bytes: u64,
}

fn tell(
    args: &VssdArgs,
    server: &Server,
    drives: &[DriveOptions],
    told: &[(String, u64)],
    printer: &mut Printer,
) -> anyhow::Result<()> {
    let address = server.address();
    ensure!(drives.len() == told.len(), "a drive was lost on the way");
    let drives = drives.iter().zip(told).map(|(drive, (profile, size_bytes))| {
        let SubsystemIdentity { nqn, serial, .. } = drive.options.identity.clone();
        ToldDrive {
            url: format!("nvme-tcp://{address}/{nqn}"),
            nqn,
            profile: profile.clone(),
            serial,
            size_bytes: *size_bytes,
        }
    });
    if args.json {
        let told = Told {
            schema: Told::SCHEMA,
            simulated: true,
            address: address.ip().to_string(),
            port: address.port(),
            control: args.control.as_deref(),
            drives: drives.collect(),
        };
        printer.json_line(&told)?;
    } else {
        let mut text = format!("listening on {address}\n");
        for drive in drives {
            text += &format!("{}  {}  {}\n", drive.nqn, drive.profile, Bytes::new(drive.size_bytes));
        }
        printer.data(&text)?;
    }
    for path in server.unmarked_files() {
        printer.message(&format!(
            "{} is not marked as made by heatsoak; the next start with it needs --overwrite",
            path.display()
        ));
    }
    printer.message("These drives are SIMULATED: heat, speed and health are a model's. Ctrl-C ends them.");
    Ok(())
}
