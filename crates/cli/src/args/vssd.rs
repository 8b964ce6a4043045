//! `heatsoak vssd`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use measure::{Bytes, parse};

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
A host sees a drive whose speed is the profile's times --time-scale over --bandwidth-scale, with the
profile's capacity over --bandwidth-scale; it heats up --time-scale times faster. With 60 and 600 a
drive of 3 GB/s moves 300 MB/s and lives an hour in a minute.

Output, on stdout and at once when hosts can connect: the line `listening on ADDRESS:PORT`, then a
line `NQN  PROFILE  SIZE` a drive. With --json it is one line instead:
  {\"simulated\":true,\"address\":\"127.0.0.1\",\"port\":4420,\"control\":null,\"drives\":[{\"nqn\":\"...\",
   \"url\":\"nvme-tcp://127.0.0.1:4420/...\",\"profile\":\"ssd1\",\"serial\":\"...\",\"size_bytes\":...}]}
The process then serves until Ctrl-C or SIGTERM and exits with 0.

The control socket (--control) takes one JSON document a line and answers each with one;
docs/VSSD.md has the verbs: status, ambient, airflow, inject, clear, faults.

Examples:
  heatsoak vssd --profile ssd1                                a drive on 127.0.0.1:4420
  heatsoak vssd --shelf --listen 127.0.0.1:0 --json           one of each, on any free port
  heatsoak vssd --profile relay --time-scale 60 --bandwidth-scale 600 --control /tmp/vssd.sock

Connect a kernel, as root:
  modprobe nvme-tcp
  nvme connect -t tcp -a 127.0.0.1 -s 4420 -n nqn.2026-11.invalid.heatsoak:ssd1";

/// `heatsoak vssd`.
#[derive(Debug, Args)]
pub(crate) struct VssdArgs {
    /// A simulated drive: the name of a built-in profile or a TOML file; may be given more than once
    #[arg(long, value_name = "PROFILE", default_value = "ssd1", conflicts_with = "shelf", value_hint = ValueHint::FilePath)]
    pub(crate) profile: Vec<String>,
    /// One of each built-in profile
    #[arg(long)]
    pub(crate) shelf: bool,
    /// Where to listen; port 0 is any free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4420")]
    pub(crate) listen: SocketAddr,
    /// Listen on an address that other machines reach, although nobody has to log in
    #[arg(long)]
    pub(crate) allow_network: bool,
    /// Let the drive live N times faster
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) time_scale: u32,
    /// Let each byte count as N
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) bandwidth_scale: u32,
    /// Size of each drive as hosts see it, instead of the profile's
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub(crate) size: Option<Bytes>,
    /// Most memory that the data of each drive may take
    #[arg(long, value_name = "SIZE", value_parser = parse::size, default_value = "4GiB", conflicts_with = "backing")]
    pub(crate) memory: Bytes,
    /// Keep the data in this sparse file; with several drives in this folder
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) backing: Option<PathBuf>,
    /// Keep saved settings in this file over restarts; with several drives in this folder
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) state: Option<PathBuf>,
    /// Take changes of the surroundings and faults at this Unix socket
    #[arg(long, value_name = "SOCKET", value_hint = ValueHint::AnyPath)]
    pub(crate) control: Option<PathBuf>,
    /// Seed of everything random in the drives
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
