//! `heatsoak vssd`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;
use measure::{Bytes, parse};
use nvme::auth::{DhGroup, HashFunction};

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
A host sees a drive whose speed is the profile's times --time-scale over --bandwidth-scale, with the
profile's capacity over --bandwidth-scale; it heats up --time-scale times faster. With 60 and 600 a
drive of 3 GB/s moves 300 MB/s and lives an hour in a minute.

Output, on stdout and at once when hosts can connect: the line `listening on ADDRESS:PORT`, then a
line `NQN  PROFILE  SIZE` a drive. With --json it is one line instead:
  {\"simulated\":true,\"address\":\"127.0.0.1\",\"port\":4420,\"control\":null,\"drives\":[{\"nqn\":\"...\",
   \"url\":\"nvme-tcp://127.0.0.1:4420/...\",\"profile\":\"ssd1\",\"serial\":\"...\",\"size_bytes\":...}]}
Each start is a new drive, with an NQN and a serial number of its own; --name, --state and --backing
make it the same one again. The process then serves until Ctrl-C or SIGTERM and exits with 0.

The control socket (--control) takes one JSON document a line and answers each with one;
docs/VSSD.md has the verbs: status, ambient, airflow, inject, clear, faults.

Examples:
  heatsoak vssd --profile ssd1                                a drive on 127.0.0.1:4420
  heatsoak vssd --profile ssd1 --name lab1 --state lab1.json  the same drive at each start
  heatsoak vssd --shelf --listen 127.0.0.1:0 --json           one of each, on any free port
  heatsoak vssd --profile relay --time-scale 60 --bandwidth-scale 600 --control /tmp/vssd.sock

Connect a kernel, as root:
  heatsoak vssd --profile ssd1 --name lab1 &
  modprobe nvme-tcp
  nvme connect -t tcp -a 127.0.0.1 -s 4420 -n nqn.2026-11.invalid.heatsoak:lab1";

/// An address with its port; what has none is told with the whole of what is needed.
fn listen_address(typed: &str) -> Result<SocketAddr, String> {
    typed.parse().map_err(|_| match typed.parse::<IpAddr>() {
        Ok(address) => {
            let network = if address.is_loopback() {
                String::new()
            } else {
                "; other machines reach that address, which needs --allow-network as well".to_owned()
            };
            format!("it has no port: write {}{network}", SocketAddr::new(address, 4420))
        }
        Err(_) => "it is no address with a port; write for example 127.0.0.1:4420 or [::1]:4420".to_owned(),
    })
}

/// `heatsoak vssd`.
#[derive(Debug, Args)]
pub(crate) struct VssdArgs {
    /// A simulated drive: the name of a built-in profile or a TOML file; may be given more than once
    #[arg(long, value_name = "PROFILE", default_value = "ssd1", conflicts_with = "shelf", add = ArgValueCompleter::new(super::complete::profiles))]
    pub(crate) profile: Vec<String>,
    /// One of each built-in profile
    #[arg(long)]
    pub(crate) shelf: bool,
    /// Name of the drive: the end of its NQN, from which its serial number follows; with several drives
    /// the beginning of their names
    #[arg(long, value_name = "NAME", value_parser = drive_name)]
    pub(crate) name: Option<String>,
    /// Where to listen; port 0 is any free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4420", value_parser = listen_address)]
    pub(crate) listen: SocketAddr,
    /// Listen on an address that other machines reach, although nothing is encrypted
    #[arg(long)]
    pub(crate) allow_network: bool,
    /// Only let the host with this NQN connect; may be given more than once
    #[arg(long, value_name = "NQN")]
    pub(crate) allow_host: Vec<String>,
    /// Only let hosts connect that prove that they know the secret in this file (DH-HMAC-CHAP; a line DHHC-1:...,
    /// readable by you alone, as `nvme gen-dhchap-key` makes it)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) dhchap_secret_file: Option<PathBuf>,
    /// Prove to hosts that ask for it that the drives know the secret in this file
    #[arg(long, value_name = "FILE", requires = "dhchap_secret_file", value_hint = ValueHint::FilePath)]
    pub(crate) dhchap_ctrl_secret_file: Option<PathBuf>,
    /// Authenticate with this hash function only (sha256, sha384, sha512); by default what the host likes best
    #[arg(long, value_name = "HASH", requires = "dhchap_secret_file", value_parser = hash_function)]
    pub(crate) dhchap_hash: Option<HashFunction>,
    /// Authenticate with this Diffie-Hellman group only (null, ffdhe2048, 3072, 4096, 6144, 8192); by default what the
    /// host likes best, but null
    #[arg(long, value_name = "GROUP", requires = "dhchap_secret_file", value_parser = dh_group)]
    pub(crate) dhchap_group: Option<DhGroup>,
    /// How many hosts may be connected to a drive at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = super::whole::<u16>(1, 64))]
    pub(crate) hosts: u16,
    /// Say that the drive may be shared; Linux makes a multipath device of it then
    #[arg(long)]
    pub(crate) multipath: bool,
    /// Let the drive live N times faster
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::whole::<u32>(1, u32::MAX))]
    pub(crate) time_scale: u32,
    /// Let each byte count as N
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = super::whole::<u32>(1, u32::MAX))]
    pub(crate) bandwidth_scale: u32,
    /// Size of each drive as hosts see it, instead of the profile's
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub(crate) size: Option<Bytes>,
    /// Most memory that the data of each drive may take
    #[arg(long, value_name = "SIZE", value_parser = parse::size, default_value = "4GiB", conflicts_with = "backing")]
    pub(crate) memory: Bytes,
    /// Keep the data in this sparse file, a new one or one that heatsoak made; with several drives in this folder
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) backing: Option<PathBuf>,
    /// Use the file of --backing although heatsoak did not make it: hosts may overwrite all of it
    #[arg(long, requires = "backing")]
    pub(crate) overwrite: bool,
    /// Keep name, saved settings and counters in this file over restarts; with several drives in this folder
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

/// A name that can stand in an NQN, in a file's name and behind a shell's option as it is.
fn drive_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if (1..=64).contains(&text.len()) && text.chars().all(is_plain) && !text.starts_with(['.', '-']) {
        return Ok(text.to_owned());
    }
    Err("a name has 1 to 64 letters, digits, '.', '_' and '-', and begins with a letter, a digit or '_'"
        .to_owned())
}

/// A hash function as it is typed: its name in small letters, without the hyphen.
fn hash_function(text: &str) -> Result<HashFunction, String> {
    let name = |hash: &HashFunction| hash.to_string().to_lowercase().replace('-', "");
    let mut known = HashFunction::ALL.into_iter();
    known
        .find(|hash| name(hash) == text)
        .ok_or_else(|| "a hash function is sha256, sha384 or sha512".to_owned())
}

/// A group as it is typed.
fn dh_group(text: &str) -> Result<DhGroup, String> {
    let known = DhGroup::ALL.map(|group| group.to_string());
    let found = DhGroup::ALL.into_iter().find(|group| group.to_string() == text);
    found.ok_or_else(|| format!("a Diffie-Hellman group is one of {}", known.join(", ")))
}
