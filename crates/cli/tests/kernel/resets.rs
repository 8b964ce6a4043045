//! A run during which the transport fails: commands that hang until the kernel gives them up, and a USB drive that is pulled
//! out and put back. What is said of it rests on the kernel's own log.

use std::path::Path;

use measure::record::{self, EndReason, TransportEventKind};
use serde_json::Value;

use crate::kernel::case::Case;
use crate::kernel::guest::{Guest, Kernel, on_each_kernel, scratch};
use crate::kernel::output::Output;
use crate::kernel::runs::PLAN;

on_each_kernel!(a_transport_that_fails);

fn a_transport_that_fails(kernel: Kernel) {
    let share = scratch();
    Guest::on(kernel)
        .uas("USB1")
        .removable("STICK")
        .monitor()
        .share(share.path())
        .script("wait_for test -b /dev/sda; wait_for test -b /dev/sdb; monitor_up")
        .script(PLAN)
        .script(COMMON)
        .run_cases(vec![
            Case::new("aborted", ABORTED, |output| commands_given_up_are_a_reset(output, share.path())),
            Case::new("pulled", PULLED, |output| a_pulled_drive_is_told(output, share.path())),
        ]);
}

const COMMON: &str = "
    sed s/2s/1h/ /tmp/read.toml >/tmp/long.toml
    sectors() { awk '{ print $3 }' /sys/block/$1/stat; }
    read_past() { [ $(sectors $1) -gt $2 ]; }
    by() { for disk in /sys/block/sd?; do case $(readlink -f $disk/device/../../../driver) in */$1) basename $disk;; esac; done; }
    start() { heatsoak run /tmp/long.toml --drive /dev/$1 --out /share/$2 --quiet --json & run=$!; wait_for read_past $1 $(($(sectors $1) + 32768)); }";

/// QEMU's disk takes 2 s for each of the eight reads on their way, and the kernel waits 1 s for one. Not slower: QEMU itself
/// waits for a read that is to be given up. On a busy machine one may be given up before; all eight are only then.
const ABORTED: &str = "
    disk=$(by uas)
    aborts() { dmesg | grep -c 'uas_eh_abort_handler' || true; }
    logged() { [ $(aborts) -ge $((seen + 8)) ]; }
    section run; start $disk aborted
    seen=$(aborts)
    echo 1 >/sys/block/$disk/device/timeout
    monitor 'block_set_io_throttle USB1 65536 0 0 0 0 0'
    wait_for logged
    monitor 'block_set_io_throttle USB1 0 0 0 0 0 0'
    wait_for read_past $disk $(($(sectors $disk) + 32768))
    kill -INT $run
    status wait $run
    section findings; heatsoak analyze /share/aborted --json
    section text; heatsoak analyze /share/aborted
    section dmesg; dmesg | grep -E 'uas|reset|usb '";

const PULLED: &str = "
    disk=$(by usb-storage)
    section run; start $disk pulled
    monitor 'device_del STICK'
    gone() { ! test -e /sys/block/$disk; }
    wait_for gone
    status wait $run
    section findings; heatsoak analyze /share/pulled --json
    section text; heatsoak analyze /share/pulled
    monitor 'device_add usb-storage,bus=xhci.0,id=STICK,drive=STICK,serial=STICK'
    back() { test -n \"$(by usb-storage)\"; }
    wait_for back
    disk=$(by usb-storage)
    wait_for test -b /dev/$disk
    section again; heatsoak run /tmp/read.toml --drive /dev/$disk --out /share/again --quiet --json
    section dmesg; dmesg | grep -E 'uas|reset|usb '";

fn caveat<'a>(findings: &'a Value, kind: &str) -> Option<&'a Value> {
    findings["caveats"].as_array()?.iter().find(|caveat| caveat["kind"] == kind)
}

/// Nothing in `findings` speaks of heat.
fn is_not_throttling(findings: &Value) {
    let label = |segment: &Value| segment["label"] == "throttled";
    assert!(!findings["segments"].as_array().expect("a list").iter().any(label), "{findings}");
    let throttles = |event: &Value| event["kind"].as_str().is_some_and(|kind| kind.starts_with("throttle"));
    assert!(!findings["events"].as_array().expect("a list").iter().any(throttles), "{findings}");
}

/// Goal: a hole of a few seconds is told as a reset, with its seconds and the kernel's line; the run goes on after it.
fn commands_given_up_are_a_reset(output: &Output, share: &Path) {
    let findings = output.json("findings");
    let stopped_s = |caveat: &&Value| caveat["stopped_s"].as_f64().is_some_and(|stopped_s| stopped_s >= 1.5);
    let reset = findings["caveats"].as_array().expect("a list").iter().find(stopped_s);
    let reset = reset.unwrap_or_else(|| panic!("{findings}\n{}", output.section("dmesg")));
    let text = reset["text"].as_str().expect("a sentence");
    assert!(text.contains("Not throttling") && text.contains("uas_eh_abort_handler"), "{text}");
    is_not_throttling(&findings);
    let record = record::read(&share.join("aborted")).expect("a whole record");
    assert_eq!(record.manifest.end.map(|end| end.reason), Some(EndReason::Interrupted));
    let kinds: Vec<_> = record.manifest.transport_events.iter().map(|event| event.kind).collect();
    assert!(kinds.contains(&TransportEventKind::Abort), "{kinds:?}");
    // I/O after the last of it.
    let last_ns = record.manifest.transport_events.last().map_or(0, |event| event.t_ns);
    assert!(record.io.iter().any(|row| row.ios > 0 && row.t.as_ns() > last_ns), "{last_ns}");
}

/// Goal: the record of a drive that is gone ends cleanly, and says why; put back, it is a drive again.
fn a_pulled_drive_is_told(output: &Output, share: &Path) {
    assert_eq!(output.section("run").lines().last(), Some("status 2"), "{}", output.section("run"));
    let findings = output.json("findings");
    let lost = caveat(&findings, "transport_lost");
    let lost = lost.unwrap_or_else(|| panic!("{findings}\n{}", output.section("dmesg")));
    assert!(lost["text"].as_str().is_some_and(|text| text.contains("USB disconnect")), "{lost}");
    is_not_throttling(&findings);
    let record = record::read(&share.join("pulled")).expect("a whole record");
    assert!(!record.unfinished && record.lost.is_empty(), "{:?}", record.lost);
    assert_eq!(record.manifest.end.map(|end| end.reason), Some(EndReason::DeviceFailed));
    let again = record::read(&share.join("again")).expect("a whole record");
    assert_eq!(again.manifest.end.map(|end| end.reason), Some(EndReason::Completed));
}
