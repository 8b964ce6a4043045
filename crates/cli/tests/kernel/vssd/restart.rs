//! The virtual SSD loses power under load: the kernel comes back to it by itself and finds its data.

use physics::Profile;
use serde_json::Value;

use super::server::{Bell, Vssd};
use crate::kernel::case::Case;
use crate::kernel::output::Output;

/// How Linux prints a request that it gave up by itself (NVMe Base 2.3, Path Related Status: 370h).
const HOST_PATHING_ERROR: &str = "(sct 0x3 / sc 0x70)";
/// What a program is told of such a request (`BLK_STS_TRANSPORT` in the kernel's block/blk-core.c).
const ENOLINK: i32 = 67;

/// Goal: data that were acknowledged and settings that were saved outlive SIGKILL; settings that were not do not;
/// I/O in flight is only late. Method: the process is killed and started again while fio writes.
///
/// Two things are the kernel's and not ours, between the end of a connection and the moment at which its recovery
/// holds back the queues:
///
/// - Linux sends requests in vain (`failed to send request -32`) and at once again, as often as
///   `nvme_core.max_retries` says (`nvme_decide_disposition` in drivers/nvme/host/core.c). On a crowded machine that
///   takes less time than the recovery does: a write failed after 6 tries in 1 ms; with 255 tries allowed, after
///   45 ms; with one processor just so. Such a request never left the host, and bears a status that only a host gives:
///   Host Pathing Error, which is ENOLINK for fio. Those are let pass, and no other.
/// - It sends in the name of whoever submits, and without `MSG_NOSIGNAL` (`nvme_tcp_try_send` in tcp.c): fio's worker
///   got SIGPIPE, and fio 3.33 itself then ends in a double free (axboe/fio #1598). So SIGPIPE is ignored here.
pub(super) fn a_power_cut_under_load_loses_nothing<'a>(relay: &Vssd, bell: &Bell) -> Case<'a> {
    let fio = "fio --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --iodepth=8 --bs=64k";
    let before = format!(
        "trap '' PIPE
         wait_for test -b /dev/nvme0n1
         nvme set-feature /dev/nvme0 -f 0x10 -v 0x01450150 --save
         nvme set-feature /dev/nvme0 -f 0x04 -v 0x0140
         section written; {fio} --name=kept --rw=write --size=32M --verify=crc32c --do_verify=0
         # Until it is stopped, long after the drive is back.
         {fio} --name=load --offset=256M --size=64M --rw=randwrite --time_based --runtime=3600 \\
             --continue_on_error=io --ignore_error={ENOLINK},{ENOLINK} --output-format=json --output=$out/load >$out/load.told 2>&1 &
         fio=$!
         # The fifth field counts writes (Documentation/block/stat.rst); 512 of them were of `kept`.
         written() {{ awk '{{ print $5 }}' /sys/block/nvme0n1/stat; }}
         more_than() {{ [ $(written) -gt $1 ]; }}
         wait_for more_than 600\n"
    );
    let after = format!(
        "wait_for grep -q live /sys/class/nvme/nvme0/state
         wait_for more_than $(($(written) + 200))
         kill -INT $fio
         wait $fio || true # What it said is in `load.told`.
         section verified; {fio} --name=kept --rw=read --size=32M --verify=crc32c --verify_only=0 --output-format=json
         section saved; nvme get-feature /dev/nvme0 -f 0x10
         section unsaved; nvme get-feature /dev/nvme0 -f 0x04
         section log; dmesg"
    );
    // Looks for it every second, for a minute.
    let connect = relay.connect(0, "--reconnect-delay=1 --ctrl-loss-tmo=60");
    Case::new("power-cut", [connect, before, bell.ring(), after].concat(), the_kernel_came_back_by_itself)
}

fn the_kernel_came_back_by_itself(output: &Output) {
    let log = output.section("log");
    assert!(
        log.contains("Reconnecting in 1 seconds") || log.contains("reconnect"),
        "it never noticed\n{log}"
    );
    let statuses = log.lines().filter(|line| line.contains("(sct 0x"));
    let ours: Vec<&str> = statuses.filter(|line| !line.contains(HOST_PATHING_ERROR)).collect();
    assert!(ours.is_empty(), "{ours:?}\n{log}");
    // Beside its JSON fio says that it was stopped, and nothing else.
    let (told, load) = (output.section("load.told"), output.section("load"));
    let (stopped, load) = load.split_at(load.find('{').unwrap_or(0));
    let load: Value = serde_json::from_str(load).unwrap_or_else(|error| panic!("{error}: {load}\n{told}"));
    let load = &load["jobs"][0];
    // It went on until it was stopped: fio itself ends at any other error than those that it was to let pass.
    assert!(load["error"] == 0 || load["error"] == ENOLINK, "{load}\n{told}");
    assert_eq!((stopped.trim(), told.as_str()), ("fio: terminating on signal 2", ""), "{load}");
    let verified = &output.json("verified")["jobs"][0];
    assert_eq!((&verified["error"], &verified["read"]["io_bytes"]), (&0.into(), &(32 << 20).into()));
    assert!(output.section("saved").contains("0x01450150"), "{}", output.section("saved"));
    let warning = format!("{:#010x}", Profile::builtin("relay").expect("it is built in").limits.wctemp_k);
    assert!(output.section("unsaved").contains(&warning), "{}, not {warning}", output.section("unsaved"));
}
