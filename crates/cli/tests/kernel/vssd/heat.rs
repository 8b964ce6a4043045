//! A thermal life in seconds: fio sees the drive slow down, nvme-cli sees the counters count.

use physics::Profile;
use serde_json::Value;

use super::number;
use super::on_network;
use super::server::Vssd;
use crate::kernel::guest::{Kernel, on_each_kernel};
use crate::kernel::output::Output;

on_each_kernel!(fio_slows_down_as_the_thresholds_are_crossed);

/// Ten seconds of the drive in one of the guest's.
const TIME_SCALE: f64 = 10.0;
/// 3 GB/s become 3 MB/s: a 20th of what emulation moves, so that a crowded machine can follow as well.
const BANDWIDTH_SCALE: f64 = 10_000.0;
/// TMT1 and TMT2 that are set: 57 °C and 63 °C, between the idle 45 °C and what a full-speed read settles at.
const SETTING: &str = "0x014a0150";
const TMT1_K: u128 = 0x14a;
const TMT2_K: u128 = 0x150;

/// At most so fast does it cool while throttled, in its own time: from TMT2 to its idle 45 °C within a minute.
const COOLING_K_PER_S: f64 = 0.3;

/// Goal: crossing TMT1 and TMT2 is seen as a kernel's user sees it. Method: a profile with two known levels, its
/// own thresholds replaced by ours; fio's speed beside the SMART log, until the drive has been under heavy throttling
/// for three seconds of the guest.
fn fio_slows_down_as_the_thresholds_are_crossed(kernel: Kernel) {
    let scale = |factor: f64| format!("{factor}");
    let vssd = Vssd::start(&[
        "--profile",
        "two-level",
        "--time-scale",
        &scale(TIME_SCALE),
        "--bandwidth-scale",
        &scale(BANDWIDTH_SCALE),
    ]);
    let output = on_network(kernel)
        .script(&vssd.connect(0, ""))
        .script("wait_for test -b /dev/nvme0n1")
        .script(&format!("nvme set-feature /dev/nvme0 -f 0x10 -v {SETTING}"))
        .script(
            "fio --name=heat --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --iodepth=4 --rw=read --bs=64k \\
                 --time_based --runtime=3600 --write_bw_log=/tmp/heat --log_avg_msec=1000 \\
                 --log_alternate_epoch=1 --log_alternate_epoch_clock_id=1 >/tmp/fio.out 2>&1 &
             fio=$!
             section logs
             count=0 heavy=0
             while kill -0 $fio && [ $count -le 20 -o $heavy -lt 30 ]; do
                 log=$(nvme smart-log /dev/nvme0 -o json | tr -d ' \\n')
                 echo \"$(cut -d' ' -f1 /proc/uptime) $log\"
                 heavy=$(echo \"$log\" | sed 's/.*\"thm_temp2_total_time\":\"*\\([0-9]*\\).*/\\1/')
                 count=$((count + 1))
                 usleep 250000
             done
             kill -INT $fio
             wait $fio || true
             section speeds; cat /tmp/heat_bw.*.log",
        )
        .run();
    let logs = logs(&output);
    counters_count(&logs);
    speeds_fall(&output, &logs);
}

/// The SMART logs with the guest's time in seconds.
fn logs(output: &Output) -> Vec<(f64, Value)> {
    let text = output.section("logs");
    let line = |line: &str| {
        let (time, log) = line.split_once(' ')?;
        Some((time.parse().ok()?, serde_json::from_str(log).ok()?))
    };
    let logs: Vec<(f64, Value)> = text.lines().filter_map(line).collect();
    assert!(logs.len() > 20, "{} logs\n{text}", logs.len());
    logs
}

/// Transitions come at the thresholds, and seconds count while throttled, in the drive's time.
fn counters_count(logs: &[(f64, Value)]) {
    for (name, tmt_k) in [("thm_temp1_trans_count", TMT1_K), ("thm_temp2_trans_count", TMT2_K)] {
        assert_eq!(number(&logs[0].1[name]), 0, "{name} before the heat");
        let first = logs.iter().position(|(_, log)| number(&log[name]) > 0);
        let first = first.unwrap_or_else(|| panic!("{name} never counted: {:?}", logs.last()));
        // Some seconds of the drive pass between two readings of the guest; on a crowded machine many do.
        let apart_s = logs[first].0 - logs[first - 1].0;
        let cooling_k = COOLING_K_PER_S * TIME_SCALE * (apart_s - 1.0).max(0.0);
        let composite_k = number(&logs[first].1["temperature"]) as f64;
        assert!(
            composite_k + 4.0 + cooling_k >= tmt_k as f64,
            "{name} counted at {composite_k} K, {apart_s} s after the reading before"
        );
        let before = logs.iter().filter(|(_, log)| number(&log[name]) == 0);
        let hottest = before.map(|(_, log)| number(&log["temperature"])).max().unwrap_or(0);
        assert!(hottest < tmt_k + 1, "{name} had not counted at {hottest} K");
    }
    for name in ["thm_temp1_total_time", "thm_temp2_total_time"] {
        let seconds: Vec<u128> = logs.iter().map(|(_, log)| number(&log[name])).collect();
        assert!(seconds.is_sorted() && seconds[0] == 0, "{name}: {seconds:?}");
        assert!(*seconds.last().expect("some") >= 5, "{name}: {seconds:?}");
    }
}

/// Full speed before TMT1, the profile's heavy floor at the worst after TMT2.
fn speeds_fall(output: &Output, logs: &[(f64, Value)]) {
    let profile = Profile::builtin("two-level").expect("it is built in");
    let full = profile.media.sequential_read.bytes_per_s * TIME_SCALE / BANDWIDTH_SCALE;
    // fio's log: milliseconds of the guest's monotonic clock, which is that of its uptime, KiB/s, direction, ... fio's own
    // begin would not do: on a crowded machine it is seconds after the first reading of the drive.
    let text = output.section("speeds");
    let line = |line: &str| {
        let mut fields = line.split(", ");
        let ms: f64 = fields.next()?.trim().parse().ok()?;
        let kib_per_s: f64 = fields.next()?.trim().parse().ok()?;
        Some((ms / 1000.0, kib_per_s * 1024.0))
    };
    let speeds: Vec<(f64, f64)> = text.lines().filter_map(line).collect();
    // A threshold was crossed between two readings, which a crowded machine takes far apart.
    let crossed_between_s = |name: &str| {
        let after = logs.iter().position(|(_, log)| number(&log[name]) > 0).expect("it was crossed");
        (logs[after - 1].0, logs[after].0)
    };
    let (_, light_s) = crossed_between_s("thm_temp1_trans_count");
    let (heavy_s, _) = crossed_between_s("thm_temp2_trans_count");
    // At its best, a second at a time: a crowded machine makes single ones slower, faster by no more than the four reads
    // that may have waited together, and may ask for the log late, when the drive has slowed down already.
    let before = speeds.iter().filter(|(at, _)| *at < light_s).map(|(_, speed)| *speed);
    let fast = before.fold(0.0, f64::max);
    let slow = speeds.iter().filter(|(at, _)| *at > heavy_s).map(|(_, speed)| *speed).fold(fast, f64::min);
    assert!((fast / full - 1.0).abs() < 0.25, "{fast} B/s before TMT1, by the profile {full}: {speeds:?}");
    assert!(slow < 0.2 * fast, "{slow} B/s at the slowest after TMT2, {fast} before: {speeds:?}");
}
