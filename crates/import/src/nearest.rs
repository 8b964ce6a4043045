//! What a file may be that is of no format: said in the refusal, with what to export in its place.
//!
//! A text that no program is known by is told by the words of the formats that it has, two at least. None of it reads
//! anything: formats are told in [`super::detect`].

use super::Format;
use super::csv::is_own_column;
use super::monitor::when;

/// What to say of metrics without timestamps.
pub(super) const ONE_SCRAPE: &str = "it is one scrape of an exporter: its samples have no timestamps, so it has no course of time; query a range from Prometheus (api/v1/query_range)";

/// Beginnings of lines of texts whose tool writes JSON as well, and what to do instead.
const TEXTS: &[(&[&str], &str)] = &[
    (
        &["fio-", "Run status group "],
        "it is fio's text; run it again with --output-format=json, or name its logs",
    ),
    (&["3;fio-", "2;fio-"], "it is fio's terse output; run it again with --output-format=json"),
    (&["# HELP ", "# TYPE "], ONE_SCRAPE),
    (
        &["<?xml", "<!DOCTYPE", "<!doctype", "<html"],
        "it is XML or HTML, which is not read: export JSON or CSV (`sadf -j`, `smartctl --json`, `relog -f csv`)",
    ),
    (&[NVMECONTROL], "it is FreeBSD's nvmecontrol, which is not read: use `smartctl --json -a /dev/nvme0`"),
    (&["json_format_version:"], "it is smartctl's YAML; run it again with --json"),
    (&["json.", "json = "], "it is smartctl's JSON for grep (--json=g); run it again with --json"),
];

const IOSTAT: &str = "which is not read: use `iostat -x -t 1`";
const HWINFO: &str = "which is not read: HWiNFO logs the same";
const NO_COURSE: &str = "which has no course of time: record the drive with `iostat -x -t 1` meanwhile";
const NO_COURSE_WINDOWS: &str = "which has no course of time: log the drive with HWiNFO meanwhile";
const NVME: &str = "which is not read: use `date +%s; nvme smart-log -o json` once a second";
const SETTINGS: &str =
    "which has settings and no readings: use `date +%s; nvme smart-log -o json` once a second";
const SMARTCTL: &str = "which is not read: use `smartctl --json -x`, once for each reading";
const RANGE: &str = "which is not read: ask for the range with api/v1/query_range";
const OWN_CSV: &str =
    "which is not read: make a CSV of it, with columns t_s, read_mb_per_s and write_mb_per_s";
const COLLECTL: &str = "which is not read: make a CSV of it, with columns time, read (KiB/s) and write (KiB/s), in which it counts, or use `iostat -x -t 1`";
const KERNEL: &str = "which tells when a drive was too hot and has no course of speed or temperature: run `date +%s; nvme smart-log -o json` once a second beside the load";
const NO_TITLES: &str = "which does not say what its values are: make a CSV of it, with columns time (clock) and write_mb_per_s or temp_c";
const NO_DRIVES: &str = "which does not tell drives apart: use `iostat -x -t 1`";

/// Words in lower case that together tell a program whose output is not read, the most telling programs first; what it is,
/// and what to do instead.
const PROGRAMS: &[(&[&str], &str, &str)] = &[
    (&["aaa,progname,nmon"], "nmon's recording", IOSTAT),
    (&["aida64"], "a log of AIDA64", HWINFO),
    (&["hardware monitoring log v"], "a log of MSI Afterburner", "which has no drives: HWiNFO logs them"),
    (&["argus monitor"], "a log of Argus Monitor", HWINFO),
    (&["<timespan>", "<testtimeseconds>"], "a result of DiskSpd", NO_COURSE_WINDOWS),
    (&["hd tune"], "a result of HD Tune", NO_COURSE_WINDOWS),
    (&["iozone:"], "iozone's text", NO_COURSE),
    (&["sysbench", "file operations"], "sysbench's text", NO_COURSE),
    (&["sampled system activity", "disk activity"], "powermetrics' text", OWN_CSV),
    (&["gpu clock ["], "a log of GPU-Z", "which has no drives: HWiNFO logs them"),
    (&["hwmonitor"], "a report of HWMonitor", HWINFO),
    (&["crystaldiskmark"], "a result of CrystalDiskMark", NO_COURSE_WINDOWS),
    (&["kdiskmark"], "a result of KDiskMark", NO_COURSE),
    (&["atto disk benchmark"], "a result of ATTO", NO_COURSE_WINDOWS),
    (&["as ssd benchmark"], "a result of AS SSD", NO_COURSE_WINDOWS),
    (&["diskspd"], "a result of DiskSpd", NO_COURSE_WINDOWS),
    (&["input parameters:", "total io", "thread"], "a result of DiskSpd", NO_COURSE_WINDOWS),
    (
        &["countersamples"],
        "text of PowerShell's Get-Counter",
        "which is not read: use `typeperf -o FILE.csv`",
    ),
    (
        &["timestamp", "path", "cookedvalue"],
        "CSV of PowerShell's Get-Counter with a row for each value",
        "which is not read: use Export-Counter -FileFormat CSV, or `typeperf -o FILE.csv`",
    ),
    (&["timing", "disk reads"], "hdparm's text", NO_COURSE),
    (&["bytes", "copied, ", " s, "], "dd's text", NO_COURSE),
    (&["request(s) completed", "iops"], "ioping's text", NO_COURSE),
    (&["<<<", " time="], "ioping's text", NO_COURSE),
    (&["-sequential output-"], "bonnie++'s text", NO_COURSE),
    (&["procs", "memory", "swap"], "vmstat's text", NO_DRIVES),
    (&["total merged sectors"], "text of `vmstat -d`", IOSTAT),
    (&["kb_rd/s", "kb_wr/s"], "pidstat's text", NO_DRIVES),
    (&["total disk read", "total disk write"], "iotop's text", NO_DRIVES),
    (
        &["avg-cpu"],
        "iostat's text without a table of devices",
        "of which nothing can be read: use `iostat -x -t 1`",
    ),
    (&["total dsk", "read", "writ"], "dstat's text", IOSTAT),
    (&["-dsk/", "read", "writ"], "dstat's text", IOSTAT),
    (&["#<--", "disks--"], "collectl's text", IOSTAT),
    (&["date time [", "[dsk"], "collectl's table", COLLECTL),
    (&["date,time,[", "[dsk"], "collectl's table", COLLECTL),
    (&["#date,time,[cpu]"], "collectl's table without drives", IOSTAT),
    (
        &["bbu status for adapter"],
        "MegaCli's report of a battery",
        "which has no drives: use `smartctl --json -x -d megaraid,N /dev/sdX`",
    ),
    (&["itemid", "clock", "value"], "the history of Zabbix", NO_TITLES),
    (&["atop -", "dsk |"], "atop's text", IOSTAT),
    (&["diskio_", "_read_bytes"], "glances' CSV", IOSTAT),
    (&["extended device statistics"], "iostat's text of another system than Linux", OWN_CSV),
    (&["kb/t", "tps", "mb/s"], "iostat's text of another system than Linux", OWN_CSV),
    (&["l(q)", "ops/s", "kbps"], "gstat's text", OWN_CSV),
    (
        &["capacity", "operations", "bandwidth", "pool"],
        "text of `zpool iostat`",
        "which is of pools and not of drives: use `iostat -x -t 1`",
    ),
    (
        &["%user", "%idle"],
        "sar's text without drives",
        "of which nothing can be read: use `sar -d` or `sadf -j FILE -- -d`",
    ),
    (&["reads queued", "writes queued"], "blkparse's text", IOSTAT),
    (&[" q ", " d ", " c ", " + "], "blkparse's text", IOSTAT),
    (
        &["iops=", "bw="],
        "fio's text",
        "which has no course of time: name its logs (write_bw_log), or use --output-format=json with --status-interval=1",
    ),
    (
        &["fw rev", "namespace"],
        "text of `nvme list`",
        "which tells nothing of heat: use `nvme smart-log -o json`",
    ),
    (
        &["devicepath", "modelnumber"],
        "JSON of `nvme list`",
        "which tells nothing of heat: use `nvme smart-log -o json`",
    ),
    (&["error log entries for device"], "text of `nvme error-log`", NVME),
    (&["adapter:", "temp1_input"], "JSON of sensors", NVME),
    (&["adapter:", "°c"], "text of sensors", NVME),
    (&["adapter:", "composite:"], "text of sensors", NVME),
    (&["/dev/", ": ", "°c"], "hddtemp's text", SMARTCTL),
    (&["|/dev/", "|c|"], "hddtemp's text", SMARTCTL),
    (&["|/dev/", "|f|"], "hddtemp's text", SMARTCTL),
    (&[";\t194;"], "an attribute log of smartd", SMARTCTL),
    (&[";\ttemperature;"], "an attribute log of smartd", SMARTCTL),
    (
        &["additional smart log for nvme device"],
        "text of a maker's additional log (`nvme intel smart-log-add`)",
        NVME,
    ),
    (&["get-feature:0x"], "text of `nvme get-feature`", SETTINGS),
    (
        &["get-feature:", "current value:"],
        "text of `nvme get-feature`, which has settings and no readings",
        NVME,
    ),
    (&["physical media units written"], "the additional log of `nvme ocp smart-add-log`", NVME),
    (&["thermal throttling events"], "JSON of `nvme ocp smart-add-log`", NVME),
    (&["thermal_throttling_events"], "JSON of `nvme ocp smart-add-log`", NVME),
    (&["nvme status:"], "an error of nvme-cli", "and no reading: try the command alone"),
    (&["seq", "mib (q=", "mb/s ["], "a result of CrystalDiskMark", NO_COURSE_WINDOWS),
    (&["i/o size,", "write", "read"], "a result of ATTO", NO_COURSE_WINDOWS),
    (
        &["deviceid", "temperature", "readerrors"],
        "text of PowerShell's Get-StorageReliabilityCounter",
        HWINFO,
    ),
    (&["metric:", "values:", "timestamps:"], "an export of VictoriaMetrics", RANGE),
    (
        &["#group,", "#datatype,"],
        "InfluxDB's annotated CSV without a column _time",
        "of which nothing can be read: export what from() |> range() |> filter() gives",
    ),
    (&[" kernel: ", "nvme"], "the kernel's log", KERNEL),
    (&["] nvme nvme"], "the kernel's log", KERNEL),
    (&["] blk_update_request: "], "the kernel's log", KERNEL),
    (
        &["quarch"],
        "a recording of Quarch's own kind",
        "which is not read: export it as CSV, with a column of the total power",
    ),
];

/// Words that the files of a format have, in lower case: what a text is most like whose beginning is of no format.
const TYPICAL: [(Format, &[&str]); 8] = [
    (Format::SysstatText, &["rkb/s", "wkb/s", "rmb/s", "%util", "kb_read/s", "avgqu-sz", "aqu-sz", "tps"]),
    (Format::HwInfo, &["drive temperature", "read rate", "write rate", "[°c]", "[mb/s]"]),
    (Format::Perfmon, &["physicaldisk", "disk read bytes/sec", "disk write bytes/sec", "avg. disk"]),
    (Format::Iometer, &["access specification", "target type", "read mbps", "iops", "worker"]),
    (Format::NvmeText, &["critical_warning", "available_spare", "percentage_used", "data_units_written"]),
    (Format::TelegrafInflux, &["diskio", "host=", "read_bytes=", "smart_device", "temp_c="]),
    (Format::Prometheus, &["node_disk_", "smartctl_device", "nvme_", "__name__", "metric"]),
    (Format::Quarch, &["12v", "5v", " mv", " ua", " uw", "voltage", "current"]),
];

/// What a line of FreeBSD's `nvmecontrol logpage -p 2` begins with.
const NVMECONTROL: &str = "Critical Warning State:";

/// Whether a line is of nvmecontrol's text.
pub(super) fn is_nvmecontrol(line: &str) -> bool {
    line.starts_with(NVMECONTROL)
}

/// What to do with the text of a tool that writes something better; `None` where it is of none.
pub(super) fn text_of_a_tool(text: &str) -> Option<&'static str> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(20);
    let what =
        |line: &str| TEXTS.iter().find(|(begins, _)| begins.iter().any(|begin| line.starts_with(begin)));
    lines.find_map(what).map(|(_, what)| *what)
}

/// What a text in lower case looks like that has the words of a program whose output is not read.
pub(super) fn program(lower: &str) -> Option<String> {
    program_among(lower, |_| true)
}

/// The same of what begins as JSON does: where it is, words of texts stand in any of it.
pub(super) fn program_of(lower: &str, is_json: bool) -> Option<String> {
    program_among(lower, |what| !(is_json && what.contains("text")))
}

fn program_among(lower: &str, is_one: impl Fn(&str) -> bool) -> Option<String> {
    let lower = lower.replace('"', "");
    let has_all = |words: &&[&str]| words.iter().all(|word| lower.contains(word));
    let (_, what, instead) = PROGRAMS.iter().find(|(words, what, _)| is_one(what) && has_all(words))?;
    Some(format!("it looks like {what}, {instead}"))
}

/// What may be said of text that is none of the logs that are read.
pub(super) fn unknown(text: &str, header: &str) -> String {
    let lower = text.to_lowercase();
    if let Some(program) = program(&lower) {
        return program;
    }
    let begin: String = header.chars().take(40).collect();
    let what = match format(&lower) {
        _ if is_row(header) => {
            "this is a row of a table, whose header line is missing: is the beginning cut off? A header line such as time,write_mb_per_s,temp_c makes it a csv".to_owned()
        }
        _ if is_zabbix(header) => format!("it looks like the history of Zabbix as plain text, {NO_TITLES}"),
        _ if header.split_whitespace().any(is_own_column) => {
            "its columns are separated by blanks: separate titles and cells by commas, semicolons or tabs"
                .to_owned()
        }
        Some(format) => {
            let name = format.name();
            format!("the nearest is {name}, which begins otherwise (--format {name} takes it for one)")
        }
        None if is_table(text) => {
            "the nearest is csv, a table of your own (--format csv says what its header lacks)".to_owned()
        }
        None => "they are logs of fio, iostat, sar, nvme-cli, smartctl, HWiNFO, Grafana and others, which `heatsoak analyze --help` lists, and a CSV of your own with columns such as t_s, write_mb_per_s and temp_c".to_owned(),
    };
    format!("it is none of the logs that are read: it begins with {begin:?}; {what}")
}

/// The format whose words the text has most of, two at least.
fn format(lower: &str) -> Option<Format> {
    let count = |words: &[&str]| words.iter().filter(|word| lower.contains(**word)).count();
    let (format, words) = TYPICAL.into_iter().rev().max_by_key(|(_, words)| count(words))?;
    // Batteries have a voltage and a current, too: rails of drives have their names.
    let has_rail = || ["12v", "5v", "3v3", "3.3v"].iter().any(|rail| lower.contains(rail));
    (count(words) >= 2 && (format != Format::Quarch || has_rail())).then_some(format)
}

/// Whether the first lines that are no comments have cells, as many in each.
fn is_table(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut counts = lines.map(|line| line.split([',', ';', '\t']).count());
    counts.next().is_some_and(|cells| cells > 1 && counts.next().is_none_or(|next| next == cells))
}

/// Whether a line is a time, the same in seconds since 1970, and a number.
fn is_zabbix(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [day, time, clock, value] = words[..] else { return false };
    let clock = clock.parse().ok().and_then(when::since_1970);
    when::date_and_time(day, time).is_some() && clock.is_some() && value.parse::<f64>().is_ok()
}

/// Whether a line begins with a time, in one cell or in two.
fn is_row(line: &str) -> bool {
    let mut cells = line.split([',', ';', '\t']).map(|cell| cell.trim().trim_matches('"'));
    let (Some(first), Some(second)) = (cells.next(), cells.next()) else { return false };
    when::stamp(first).or_else(|| when::date_and_time(first, second)).is_some()
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: what a known program wrote in an unknown way is told as its. Method: beginnings cut off, and other headers.
    #[test]
    fn the_nearest_format_is_named() {
        for (text, nearest) in [
            ("rkB/s wkB/s %util\n1 2 3\n", "sysstat"),
            ("Zeit;Drive Temperature [°C];Read Rate [MB/s]\n", "hwinfo"),
            ("\\\\PC\\PhysicalDisk(0 C:)\\Disk Read Bytes/sec\n", "perfmon"),
            ("critical_warning : 0\navailable_spare : 100%\n", "nvme-text"),
            ("metric value\nnode_disk_read_bytes_total 5\n", "prometheus"),
            ("sample,12V voltage V,12V current A\n1,12,0.3\n", "quarch"),
        ] {
            let why = unknown(text, text.lines().next().unwrap_or_default());
            assert!(why.contains(&format!("the nearest is {nearest}, ")), "{why}");
        }
    }
}
