//! Runs that read real block devices: what the record says is what nvme-cli, smartctl and the kernel say.

use std::path::Path;

use measure::record::{self, EndReason, RawAnswer, Record, RunEdge};
use nvme::smart::SmartLog;
use serde_json::Value;

use crate::kernel::guest::Guest;
use crate::kernel::output::Output;

/// Reads for two seconds, with several readings of each source a second. A drive that is slow to answer is no matter
/// here (`stop_unwatched`), and the speed is one that leaves the processor time for the readings.
pub(crate) const PLAN: &str = r#"cat >/tmp/read.toml <<'PLAN'
name = "read"
stop_unwatched = "1h"
[telemetry]
smart_period = "200ms"
hwmon_period = "200ms"
blockstat_period = "200ms"
[[phase]]
op = "read"
block_size = "128KiB"
depth = 8
rate = "16MiB/s"
duration = "2s"
PLAN
"#;

fn read(folder: &Path, name: &str) -> Record {
    record::read(&folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub(crate) const RECORD: &str = "
    # Kernel 6.1 counts nothing at the head of a multipath drive, which Linux's own target is taken for.
    stat_of() { if [ -e /sys/block/nvme2c2n1 ] && [ $1 = nvme2n1 ]; then echo /sys/block/nvme2c2n1/stat; else echo /sys/block/$1/stat; fi; }
    sed s/2s/1h/ /tmp/read.toml >/tmp/long.toml
    # A table grows with each flush, by one row or more.
    longer() { [ $(stat -c %s $1) -gt $2 ]; }
    sectors() { awk '{ print $3 }' $(stat_of $1); }
    read_past() { [ $(sectors $1) -gt $2 ]; }
    grows() { for flush in 1 2 3 4 5 6; do wait_for longer $1 $(stat -c %s $1); done; }
    for drive in nvme0n1 nvme2n1 sda sdb sdc; do
        case $drive in nvme*)
            section before-$drive; nvme smart-log /dev/$drive -o json
            section id-$drive; nvme id-ctrl /dev/$drive -o json
            nvme id-ctrl /dev/$drive -o binary >/share/$drive.ctrl
            nvme id-ns /dev/$drive -o binary >/share/$drive.ns;;
        esac
        section stat-before-$drive; cat $(stat_of $drive); before=$(sectors $drive)
        section run-$drive; heatsoak run /tmp/long.toml --drive /dev/$drive --out /share/$drive --quiet --json &
        run=$!
        wait_for test -e /share/$drive/telemetry.arrow; grows /share/$drive/telemetry.arrow
        case $drive in nvme*) wait_for longer /share/$drive/smart.arrow 8192;; esac
        # More than the kernel reads of a drive by itself.
        wait_for read_past $drive $((before + 16384))
        kill -INT $run
        status wait $run
        section stat-after-$drive; cat $(stat_of $drive)
        section size-$drive; blockdev --getsize64 /dev/$drive
        section smartctl-$drive; smartctl --json -x /dev/$drive || true
        case $drive in nvme*) section after-$drive; nvme smart-log /dev/$drive -o json;; esac
    done";

/// Goal: identity and telemetry agree with the referees, field by field. Method: one drive of each kind, each run
/// on between two readings of the referee, until there are enough readings of ours.
pub(crate) fn a_record_is_what_the_other_tools_say(output: &Output, folder: &Path) {
    for name in ["nvme0n1", "nvme2n1"] {
        let record = read(folder, name);
        identity_agrees_with_nvme_cli(&record, &output.json(&format!("id-{name}")));
        raw_bytes_agree_with_nvme_cli(&record, folder, name);
        let around = ["before", "after"].map(|when| output.json(&format!("{when}-{name}")));
        every_page_agrees_with_nvme_cli(&record, &around);
    }
    for name in ["nvme0n1", "nvme2n1", "sda", "sdb", "sdc"] {
        let run = output.section(&format!("run-{name}"));
        assert!(run.ends_with("status 3\n"), "{name}: {run}");
        let record = read(folder, name);
        assert_eq!(
            record.manifest.drive.size_bytes.to_string(),
            output.section(&format!("size-{name}")).trim()
        );
        identity_agrees_with_smartctl(&record, &output.json(&format!("smartctl-{name}")));
        bytes_agree_with_the_kernel(&record, output, name);
    }
    temperatures_are_what_they_are(folder);
}

fn identity_agrees_with_nvme_cli(record: &Record, id: &Value) {
    let drive = &record.manifest.drive;
    let text = |name: &str| id[name].as_str().map(|text| text.trim().to_owned());
    assert_eq!(drive.model, text("mn"));
    assert_eq!(drive.serial, text("sn"));
    assert_eq!(drive.firmware, text("fr"));
    // Zero is "not reported".
    let kelvin = |name: &str| Some(number(&id[name])).filter(|kelvin| *kelvin > 0);
    assert_eq!(drive.warning_k.map(u128::from), kelvin("wctemp"));
    assert_eq!(drive.critical_k.map(u128::from), kelvin("cctemp"));
    assert_eq!(drive.tmt_min_k.map(u128::from), kelvin("mntmt"));
    assert_eq!(drive.tmt_max_k.map(u128::from), kelvin("mxtmt"));
    assert_eq!(drive.hctm, Some(number(&id["hctma"]) & 1 == 1));
}

/// Identify is what nvme-cli got, byte for byte; the features were asked at both ends of the run.
fn raw_bytes_agree_with_nvme_cli(record: &Record, folder: &Path, name: &str) {
    let identify = |cns: u32, suffix: &str| {
        let theirs = std::fs::read(folder.join(format!("{name}.{suffix}"))).expect("nvme-cli's bytes");
        let ours = record.manifest.answers.iter().find(|answer| (answer.opcode, answer.cdw10) == (6, cns));
        let ours = ours.expect("it was asked");
        assert_eq!((ours.status, ours.data().as_deref()), (0, Some(theirs.as_slice())), "{name} {suffix}");
    };
    identify(1, "ctrl");
    identify(0, "ns");
    for edge in [RunEdge::Start, RunEdge::End] {
        let asked =
            |answer: &&RawAnswer| answer.when == edge && (answer.opcode, answer.cdw10) == (0x0a, 0x02);
        assert!(record.manifest.answers.iter().any(|answer| asked(&answer)), "{name} {edge:?}");
    }
}

/// Values that stand still are equal; counters lie between those before and after.
fn every_page_agrees_with_nvme_cli(record: &Record, around: &[Value; 2]) {
    assert!(record.smart.len() >= 5, "{} pages", record.smart.len());
    for page in &record.smart {
        let log = SmartLog::decode(&page.page).expect("a whole page");
        let fields: [(&str, u128); 20] = [
            ("critical_warning", log.critical_warning.bits().into()),
            ("temperature", log.composite.map_or(0, |composite| composite.as_kelvin().into())),
            ("avail_spare", log.available_spare_percent.into()),
            ("spare_thresh", log.spare_threshold_percent.into()),
            ("percent_used", log.percentage_used.into()),
            ("data_units_read", log.data_units_read.as_u128()),
            ("data_units_written", log.data_units_written.as_u128()),
            ("host_read_commands", log.host_reads),
            ("host_write_commands", log.host_writes),
            ("controller_busy_time", log.busy_minutes),
            ("power_cycles", log.power_cycles),
            ("power_on_hours", log.power_on_hours),
            ("unsafe_shutdowns", log.unsafe_shutdowns),
            ("media_errors", log.media_errors),
            ("num_err_log_entries", log.error_log_entries),
            ("warning_temp_time", log.warning_minutes.into()),
            ("thm_temp1_trans_count", log.tmt1_transitions.into()),
            ("thm_temp2_trans_count", log.tmt2_transitions.into()),
            ("thm_temp1_total_time", log.tmt1_seconds.into()),
            ("thm_temp2_total_time", log.tmt2_seconds.into()),
        ];
        for (name, ours) in fields {
            let [before, after] = [number(&around[0][name]), number(&around[1][name])];
            assert!((before..=after).contains(&ours), "{name}: {ours}, by nvme-cli {before} to {after}");
        }
    }
}

/// What smartctl knows of a drive; of the USB disk it knows nothing ("Unknown USB bridge").
fn identity_agrees_with_smartctl(record: &Record, smartctl: &Value) {
    let drive = &record.manifest.drive;
    let ours = [&drive.model, &drive.serial, &drive.firmware];
    let theirs = ["model_name", "serial_number", "firmware_version"];
    for (ours, name) in ours.iter().zip(theirs) {
        if let (Some(ours), Some(theirs)) = (ours, smartctl[name].as_str()) {
            assert_eq!(ours, theirs, "{name}");
        }
    }
    if let Some(bytes) = smartctl["user_capacity"]["bytes"].as_u64() {
        assert_eq!(drive.size_bytes, bytes);
        assert_eq!(u64::from(drive.block_bytes), smartctl["logical_block_size"]);
    }
}

/// The load's own count, the record's reading of the kernel's, and the kernel's.
fn bytes_agree_with_the_kernel(record: &Record, output: &Output, name: &str) {
    // Documentation/block/stat.rst: the third field counts sectors of 512 bytes that were read.
    let sectors = |when: &str| {
        let stat = output.section(&format!("stat-{when}-{name}"));
        let field = stat.split_whitespace().nth(2).and_then(|field| field.parse::<u64>().ok());
        field.expect("the kernel counts sectors")
    };
    let (before, after) = (sectors("before") * 512, sectors("after") * 512);
    let loaded: u64 = record.io.iter().map(|row| row.bytes.as_u64()).sum();
    assert!(loaded > 0 && record.io.iter().all(|row| row.errors == 0), "{name}: {loaded} bytes");
    // Opening a drive makes the kernel read its beginning and end for partitions; nothing else may be read.
    const PROBING_BYTES: u64 = 4 << 20;
    let read = after - before;
    assert!(
        (loaded..=loaded + PROBING_BYTES).contains(&read),
        "{name}: {loaded} bytes, by the kernel {read}"
    );
    let readings: Vec<u64> =
        record.telemetry.iter().filter_map(|row| row.device_read.map(|bytes| bytes.as_u64())).collect();
    assert!(readings.len() >= 5 && readings.is_sorted(), "{name}: {readings:?}");
    assert!(readings.iter().all(|reading| (before..=after).contains(reading)), "{name}: {readings:?}");
}

/// 323 K for ever from QEMU; none from Linux's target, which reports 0 K.
fn temperatures_are_what_they_are(folder: &Path) {
    let of = |name: &str| {
        let rows = read(folder, name).telemetry;
        let composite: Vec<_> = rows.iter().filter_map(|row| row.composite.map(|k| k.as_kelvin())).collect();
        let hwmon: Vec<_> = rows.iter().filter_map(|row| row.hwmon_millicelsius).collect();
        (composite, hwmon)
    };
    let (composite, hwmon) = of("nvme0n1");
    assert!(composite.len() >= 5 && composite.iter().all(|kelvin| *kelvin == 323), "{composite:?}");
    assert!(hwmon.len() >= 5 && hwmon.iter().all(|reading| *reading == 49_850), "{hwmon:?}");
    assert_eq!(of("nvme2n1"), (vec![], vec![]), "0 K is no temperature");
}

/// nvme-cli writes 128 bit numbers as text.
fn number(value: &Value) -> u128 {
    let number = value.as_u64().map(u128::from).or_else(|| value.as_str()?.parse().ok());
    number.unwrap_or_else(|| panic!("{value} is no number"))
}

/// Every drive that is a file here.
const FILES: [&str; 4] = ["NVME1", "NVME2", "ATA1", "USB1"];

/// What is on the drives: not all zeros, so that a change shows.
fn content() -> Vec<u8> {
    (0..1_u32 << 20).flat_map(u32::to_le_bytes).collect()
}

/// Fills the drives.
pub(crate) fn fill(guest: &Guest) {
    for serial in FILES {
        let size = std::fs::metadata(guest.image(serial)).expect("an image").len();
        std::fs::write(guest.image(serial), content()).expect("an image");
        let file = std::fs::OpenOptions::new().write(true).open(guest.image(serial)).expect("an image");
        file.set_len(size).expect("an image");
    }
}

pub(crate) const OPENS: &str = "
    for drive in nvme0n1 sda; do
        section run-$drive
        strace -f -e trace=open,openat,openat2,ioctl -o $out/trace-$drive \\
            heatsoak run /tmp/read.toml --drive /dev/$drive --out /tmp/$drive --quiet --json
    done
    section list; strace -f -e trace=open,openat,openat2 -o $out/trace-list heatsoak list";

/// Goal: harmless by construction. Method: every call that opens a device, as the kernel got it; and the content of
/// every drive.
pub(crate) fn reading_opens_nothing_for_writing(output: &Output) {
    for name in ["nvme0n1", "sda", "list"] {
        let trace = output.section(&format!("trace-{name}"));
        let opens = trace.lines().filter(|line| line.contains("open") && line.contains("\"/dev/"));
        let opens: Vec<&str> = opens.filter(|line| !line.contains("\"/dev/null\"")).collect();
        assert!(name == "list" || opens.iter().any(|line| line.contains(name)), "{opens:?}");
        let writing = ["O_RDWR", "O_WRONLY", "O_CREAT", "O_TRUNC"];
        assert!(!opens.iter().any(|line| writing.iter().any(|flag| line.contains(flag))), "{opens:?}");
    }
    let content = content();
    for serial in FILES {
        let after = std::fs::read(output.image(serial)).expect("an image");
        let (written, rest) = after.split_at(content.len());
        assert!(written == content && rest.iter().all(|byte| *byte == 0), "{serial} was written to");
    }
}

pub(crate) const HOT: &str = r#"
    sed -e 's/^name/stop_at = "45C"\nname/' -e 's/200ms/10s/' -e 's/2s/1h/' /tmp/read.toml >/tmp/hot.toml
    section run; status heatsoak run /tmp/hot.toml --drive /dev/nvme0n1 --out /share/hot --quiet"#;

/// Goal: heat ends the load within one sampling period of the reading. Method: a limit below the only temperature
/// that QEMU's drive ever has.
pub(crate) fn the_load_ends_at_the_thermal_limit(output: &Output, folder: &Path) {
    assert!(output.section("run").ends_with("status 3\n"), "{}", output.section("run"));
    let record = read(folder, "hot");
    let end = record.manifest.end.expect("an end");
    assert_eq!(end.reason, EndReason::SafetyLimit, "{end:?}");
    let hot = record.telemetry.iter().find(|row| row.composite.is_some() || row.hwmon_millicelsius.is_some());
    let hot_ns = hot.expect("a reading").t.as_ns();
    let last_ns = record.io.iter().filter(|row| row.ios > 0).map(|row| row.t.as_ns()).max().unwrap_or(0);
    assert!(last_ns <= hot_ns + 10_000_000_000, "hot at {hot_ns} ns, last I/O at {last_ns} ns");
}
