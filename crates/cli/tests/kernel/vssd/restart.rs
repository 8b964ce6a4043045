//! The virtual SSD loses power under load: the kernel comes back to it by itself and finds its data.

use std::thread;

use twin::Profile;

use super::server::{Bell, Vssd};
use crate::guest::{Guest, Kernel, on_each_kernel};

on_each_kernel!(a_power_cut_under_load_loses_nothing);

/// Goal: data that were acknowledged and settings that were saved outlive SIGKILL; settings that were not do not;
/// I/O in flight is only late. Method: the process is killed and started again while fio writes.
fn a_power_cut_under_load_loses_nothing(kernel: Kernel) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch folder");
    let place = |name: &str| folder.path().join(name).display().to_string();
    let (state, backing) = (place("state.json"), place("data"));
    let mut vssd = Vssd::start(&["--profile", "relay", "--state", &state, "--backing", &backing]);
    let bell = Bell::new();
    let fio = "fio --filename=/dev/nvme0n1 --direct=1 --ioengine=libaio --iodepth=8 --bs=64k";
    let guest = Guest::on(kernel)
        .network()
        .modules(&["nvme-tcp", "crc32c_generic"])
        .script("net_up")
        // Looks for it every second, for a minute.
        .script(&vssd.connect(0, "--reconnect-delay=1 --ctrl-loss-tmo=60"))
        .script("wait_for test -b /dev/nvme0n1")
        .script(&format!(
            "nvme set-feature /dev/nvme0 -f 0x10 -v 0x01450150 --save
             nvme set-feature /dev/nvme0 -f 0x04 -v 0x0140
             section written; {fio} --name=kept --rw=write --size=32M --verify=crc32c --do_verify=0
             {fio} --name=load --offset=256M --size=64M --rw=randwrite --time_based --runtime=20 \\
                 --output-format=json --output=/tmp/load.json >/dev/null 2>&1 &
             fio=$!
             # The fifth field counts writes (Documentation/block/stat.rst); 512 of them were of `kept`.
             wait_for sh -c '[ $(awk \"{{print \\$5}}\" /sys/block/nvme0n1/stat) -gt 600 ]'"
        ))
        .script(&bell.ring())
        .script(&format!(
            "wait_for grep -q live /sys/class/nvme/nvme0/state
             wait $fio
             section load; cat /tmp/load.json
             section verified; {fio} --name=kept --rw=read --size=32M --verify=crc32c --verify_only=0 --output-format=json
             section saved; nvme get-feature /dev/nvme0 -f 0x10
             section unsaved; nvme get-feature /dev/nvme0 -f 0x04
             section log; dmesg"
        ));
    let output = thread::scope(|scope| {
        let run = scope.spawn(|| guest.run());
        bell.answer(|| vssd.crash_and_restart());
        run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let log = output.section("log");
    assert!(
        log.contains("Reconnecting in 1 seconds") || log.contains("reconnect"),
        "it never noticed\n{log}"
    );
    assert!(!log.contains("I/O error"), "{log}");
    assert_eq!(output.json("load")["jobs"][0]["error"], 0);
    let verified = &output.json("verified")["jobs"][0];
    assert_eq!((&verified["error"], &verified["read"]["io_bytes"]), (&0.into(), &(32 << 20).into()));
    assert!(output.section("saved").contains("0x01450150"), "{}", output.section("saved"));
    let warning = format!("{:#010x}", Profile::builtin("relay").expect("it is built in").limits.wctemp_k);
    assert!(output.section("unsaved").contains(&warning), "{}, not {warning}", output.section("unsaved"));
}
