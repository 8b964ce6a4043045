//! `heatsoak watch` and `heatsoak exporter`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use clap_complete::engine::ArgValueCompleter;
use measure::{Bytes, parse};
use plan::MeterAddress;

use super::remote::OnArgs;

/// What stands below the help.
pub(crate) const AFTER_WATCH_HELP: &str = "\
Nothing is written to the drive and no setting is changed. Block statistics are read once a second
(--every), the SMART log once a second while there is I/O and once a minute after a minute without.
Without root there is no SMART log: temperature comes from hwmon then, and TMT counters are unknown.
Nobody knows what is asked of the drive, so `slower` is judged by latency at equal queue, size and
mix (docs/METHODS.md, how and where that fails).

The record is a folder of run folders, one a part of --keep, that analyze, report and compare read.
In it live.json, replaced once a second, is the present state and the last hour.

On a terminal it is a screen: arrows and Enter open a drive, q ends. Elsewhere, and with --plain, a
line a second; with --json a document a line.

With --on the drives are those of HOST: screen, lines and record are here as well as there, and
Ctrl-C or a broken connection ends the watch there (docs/REMOTE.md).

A twin is watched in simulated time under a simulated load; on a terminal 60 s of it in a second.

Examples:
  heatsoak watch /dev/nvme0n1
  heatsoak watch /dev/nvme0n1 /dev/nvme1n1 --keep 7d --out /var/lib/heatsoak
  heatsoak watch /dev/nvme0n1 --plain --for 10m --metrics 127.0.0.1:9897
  heatsoak watch twin:ssd1 --for 30m --json
  heatsoak watch /dev/nvme0n1 --on root@lab7 --out watched/lab7
  heatsoak watch 'file:/srv/data' --no-record          the drive under a file system";

/// What stands below the help.
pub(crate) const AFTER_EXPORTER_HELP: &str = "\
Metrics are at http://ADDRESS/metrics in the text format 0.0.4; docs/METRICS.md lists them, with
alerting rules and a dashboard. A scrape never touches a drive: drives are read by a clock of their
own, and a drive that fails or is gone is `heatsoak_drive_up 0`.

Examples:
  heatsoak exporter                                    all drives of this machine
  heatsoak exporter /dev/nvme0n1 --listen 127.0.0.1:9898
  heatsoak exporter --textfile /var/lib/prometheus/node-exporter/heatsoak.prom";

/// How drives are read.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReadingArgs {
    /// Time between readings of block statistics
    #[arg(long, value_name = "TIME", value_parser = every, default_value = "1s")]
    pub(crate) every: Duration,
    /// Time between readings of the SMART log or hwmon while there is I/O; after 60 s without, once a minute
    #[arg(long, value_name = "TIME", value_parser = smart_every, default_value = "1s")]
    pub(crate) smart_every: Duration,
    /// Read a power meter beside it, as for `heatsoak run`; it is taken for that of the first drive
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) power: Vec<MeterAddress>,
}

/// Where metrics are served.
#[derive(Debug, Clone, Args)]
pub(crate) struct MetricsArgs {
    /// Listen on an address that other machines reach, although nothing is encrypted and nobody is asked who he is
    #[arg(long)]
    pub(crate) allow_network: bool,
    /// Leave serial numbers out of the metrics
    #[arg(long)]
    pub(crate) no_serial: bool,
}

/// `heatsoak watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The drives: /dev/nvme0n1, file:PATH (the drive under it), nvme-tcp://HOST:PORT/NQN, twin:NAME
    #[arg(value_name = "DRIVE", required = true, add = ArgValueCompleter::new(super::complete::drives))]
    pub(crate) drives: Vec<String>,
    /// Stop after this time; without it at Ctrl-C
    #[arg(long = "for", value_name = "TIME", value_parser = parse::some_time)]
    pub(crate) span: Option<Duration>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// The folder of the record; without it a new one under ./runs/. One of an earlier watch is gone on with
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// How long what was recorded is kept, such as 24h or 30d
    #[arg(long, value_name = "TIME", value_parser = keep, default_value = "24h")]
    pub(crate) keep: Duration,
    /// Most space that the closed parts of the record take; the oldest go first
    #[arg(long, value_name = "SIZE", value_parser = parse::size, default_value = "1GiB")]
    pub(crate) max_size: Bytes,
    /// Record nothing
    #[arg(long, conflicts_with_all = ["out", "keep", "max_size"])]
    pub(crate) no_record: bool,
    /// Serve metrics for Prometheus here; port 0 is any free one
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen_address, conflicts_with = "on")]
    pub(crate) metrics: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) serving: MetricsArgs,
    /// Seconds of simulated time in one of real time, for twins; without it 60 on a terminal, else as fast as it goes
    #[arg(long, value_name = "N", value_parser = super::whole::<u32>(1, 100_000))]
    pub(crate) pace: Option<u32>,
    /// A line a second instead of the screen
    #[arg(long)]
    pub(crate) plain: bool,
    /// A JSON document a line, once a second
    #[arg(long, conflicts_with = "plain")]
    pub(crate) json: bool,
    /// The other machine
    #[command(flatten)]
    pub(crate) on: OnArgs,
    /// Stop when standard input ends: for a watch that another machine has asked for
    #[arg(long, hide = true)]
    pub(crate) until_stdin_ends: bool,
    /// Print what is new once a second, for the face there
    #[arg(long, hide = true)]
    pub(crate) news: bool,
}

/// `heatsoak exporter`.
#[derive(Debug, Args)]
pub(crate) struct ExporterArgs {
    /// The drives; without any all of this machine
    #[arg(value_name = "DRIVE", add = ArgValueCompleter::new(super::complete::drives))]
    pub(crate) drives: Vec<String>,
    /// Where to listen; port 0 is any free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9897", value_parser = listen_address, conflicts_with = "textfile")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) serving: MetricsArgs,
    /// Write the metrics into this file instead, for the textfile collector of node_exporter; replaced as a whole
    #[arg(long, value_name = "FILE.prom", value_parser = prom_file, value_hint = ValueHint::FilePath)]
    pub(crate) textfile: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Stop after this time; without it at Ctrl-C
    #[arg(long = "for", value_name = "TIME", value_parser = parse::some_time)]
    pub(crate) span: Option<Duration>,
}

fn every(typed: &str) -> Result<Duration, String> {
    between(typed, Duration::from_millis(10), Duration::from_secs(60))
}

/// Once a second is what was shown not to warm a drive; faster is known to.
fn smart_every(typed: &str) -> Result<Duration, String> {
    between(typed, Duration::from_secs(1), Duration::from_secs(3600))
}

fn keep(typed: &str) -> Result<Duration, String> {
    let (number, unit) = typed.split_at(typed.len() - typed.chars().next_back().map_or(0, char::len_utf8));
    if let (Ok(days), "d") = (number.parse::<u32>(), unit) {
        return between(
            &format!("{}s", u64::from(days) * 86_400),
            Duration::from_secs(60),
            Duration::from_secs(3660 * 86_400),
        );
    }
    between(typed, Duration::from_secs(60), Duration::from_secs(3660 * 86_400))
}

fn between(typed: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let span = parse::duration(typed).map_err(|error| error.to_string())?;
    if (least..=most).contains(&span) {
        return Ok(span);
    }
    let text = |span: Duration| humantime::format_duration(span).to_string();
    Err(format!("it must be between {} and {}", text(least), text(most)))
}

fn listen_address(typed: &str) -> Result<SocketAddr, String> {
    typed.parse().map_err(|_| {
        "it is no address with a port; write for example 127.0.0.1:9897 or [::1]:9897".to_owned()
    })
}

/// What the collector reads: files with this ending only.
fn prom_file(typed: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(typed);
    if path.extension().is_some_and(|ending| ending == "prom") {
        return Ok(path);
    }
    Err("node_exporter reads files that end in .prom only".to_owned())
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn days_are_typed_as_days() {
        assert_eq!(keep("30d"), Ok(Duration::from_secs(30 * 86_400)));
        assert_eq!(keep("24h"), Ok(Duration::from_secs(86_400)));
        for wrong in ["", "d", "1s", "99999d", "-1d"] {
            assert!(keep(wrong).is_err(), "{wrong}");
        }
    }
}
