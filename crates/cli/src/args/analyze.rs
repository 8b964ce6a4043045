//! `heatsoak analyze`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use clap_complete::engine::ArgValueCompleter;
use import::Format;
use measure::parse;

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
An input is a run folder, finished or cut short, a log of another tool, or a folder of such logs,
which are taken for one run; `-` is a log on standard input. Logs are told by their content:
  CSV with a header line, of which `t_s` is needed and each of these is taken: read_bytes_per_s,
    write_bytes_per_s, read_mb_per_s, write_mb_per_s, composite_k, temp_c, sensor1_c to sensor8_c,
    power_w, ambient_c, tmt1_c, tmt2_c, tmt1_transitions, tmt2_transitions, tmt1_seconds,
    tmt2_seconds, phase, written_bytes, read_bytes. An empty cell is a missing reading. Lines that
    start with # are comments; `# link_bytes_per_s: 3938000000` names a fact of the run. Instead of
    seconds there may be dates and times, instead of names titles such as `Write (MB/s)`, of commas
    semicolons. Rows or columns of several drives need --device.
  fio: logs of bandwidth, I/Os and latencies of any version, JSON and JSON+
  nvme-cli: JSON and text of smart-log and id-ctrl. smartctl: JSON and text, with a SATA drive's
    own history
  Iometer: results and instantaneous results
  Prometheus: answers to range queries of node_exporter, smartctl_exporter and the like
  HWiNFO, Libre Hardware Monitor, Windows' performance counters; iostat, sar, dstat; telegraf,
    InfluxDB's annotated CSV, tables of Grafana; Netdata, collectd; CrystalDiskInfo; Quarch
What is read of each and by which rules: docs/FORMATS.md.

With --join all inputs are one run: jobs of fio are summed, temperatures are put beside speeds.
Clocks that count from 1970 are joined as they are. Others begin where the speeds begin, plus their
--offset; without one it is estimated from how the temperature follows the speed, and a caveat says
so.

Several runs of one drive, at different TMT1 and TMT2, ambients or loads, also tell together
which of its thresholds follow a setting and which are its own. Logs name no drive: --one-drive
says that it is one.

Nothing is written: a run folder stays as it is.

Examples:
  heatsoak analyze runs/2026-11-21T10-00-00-hctm-read-ssd1
  heatsoak analyze log.csv --json
  zcat job_bw.1.log.gz | heatsoak analyze -
  heatsoak analyze log.csv --explain 2
  heatsoak analyze --join job_bw.1.log job_bw.2.log job.json
  heatsoak analyze --join job_bw.1.log smart/ --offset smart/=+3.5s";

/// `heatsoak analyze`.
#[derive(Clone, Debug, Args)]
pub(crate) struct AnalyzeArgs {
    /// Run folders, logs of other tools, or folders of such logs
    #[arg(value_name = "RUN_OR_LOG", required = true, add = ArgValueCompleter::new(super::complete::runs))]
    pub(crate) inputs: Vec<PathBuf>,
    /// Take all inputs for logs of one run and put them on one clock
    #[arg(long)]
    pub(crate) join: bool,
    /// Add this to the times of a log or of a folder of logs, such as smart/=+3.5s; may be given more than once
    #[arg(long, value_name = "FILE=TIME", value_parser = offset)]
    pub(crate) offset: Vec<(String, f64)>,
    /// Take logs for this format instead of telling it by their content
    #[arg(long, value_name = "NAME", value_parser = format_names())]
    pub(crate) format: Option<Format>,
    /// How far apart readings are that carry no time, such as 1s
    #[arg(long, value_name = "TIME", value_parser = parse::some_time)]
    pub(crate) every: Option<Duration>,
    /// The drive in question, such as nvme0n1, of a log of several
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// Tell the reasoning behind event N of a run: what was seen, what was weighed and why the cause won; without N,
    /// the events there are, or the reasoning behind each where they are few
    #[arg(long, value_name = "N", num_args = 0..=1, value_parser = event_number)]
    pub(crate) explain: Option<Option<usize>>,
    /// Take all inputs for runs of one drive, which logs do not name
    #[arg(long, conflicts_with_all = ["join", "explain"])]
    pub(crate) one_drive: bool,
    /// Print one JSON document: the findings, or {"results": [{"source", "findings"}], "joint_policies"} for several
    /// inputs; with --explain the reasoning as data
    #[arg(long)]
    pub(crate) json: bool,
}

/// Events count from 1.
fn event_number(typed: &str) -> Result<usize, String> {
    match typed.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("events have numbers from 1; inputs come before it, as in `heatsoak analyze RUN --explain`"
            .to_owned()),
    }
}

fn format_names() -> impl clap::builder::TypedValueParser<Value = Format> {
    let names = PossibleValuesParser::new(Format::ALL.map(Format::name));
    names.map(|name| Format::from_name(&name).expect("only names of formats are possible"))
}

/// `smart/=+3.5s`: a file and seconds with their sign.
fn offset(typed: &str) -> Result<(String, f64), String> {
    let wanted = "an offset is a file and a time, such as smart/=+3.5s or temps.csv=-200ms";
    let (file, time) = typed.rsplit_once('=').ok_or(wanted)?;
    let (sign, size) = match time.strip_prefix('-') {
        Some(size) => (-1.0, size),
        None => (1.0, time.strip_prefix('+').unwrap_or(time)),
    };
    if file.is_empty() {
        return Err(wanted.to_owned());
    }
    let span = parse::duration(size).map_err(|error| format!("{error}; {wanted}"))?;
    Ok((file.to_owned(), sign * span.as_secs_f64()))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn events_count_from_1() {
        assert_eq!(event_number("12"), Ok(12));
        for typed in ["0", "-1", "1.5", "log.csv"] {
            assert!(event_number(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn offsets_have_a_file_a_sign_and_a_unit() {
        assert_eq!(offset("smart/=+3.5s"), Ok(("smart/".into(), 3.5)));
        assert_eq!(offset("a=b.csv=-200ms"), Ok(("a=b.csv".into(), -0.2)));
        assert_eq!(offset("t.csv=0s"), Ok(("t.csv".into(), 0.0)));
        for typed in ["3s", "=3s", "t.csv=3", "t.csv=x", "t.csv=--3s"] {
            assert!(offset(typed).is_err(), "{typed}");
        }
    }
}
