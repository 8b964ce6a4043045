//! `heatsoak govern` under the load of others: the kernel's own control groups, limited, killed and put back.

use serde_json::Value;

use crate::kernel::guest::{Guest, Kernel, on_each_kernel};

on_each_kernel!(limits_of_control_groups_are_put_back);

/// QEMU's NVMe drive is at 50 °C whatever it does: a limit of 51 °C holds its load at the floor, one of 50 °C is reached.
const SCRIPT: &str = r#"
    ln -s busybox /bin/sh
    mount -t cgroup2 none /sys/fs/cgroup
    cg=/sys/fs/cgroup
    drive=/dev/nvme0n1
    wait_for test -b $drive
    number=$(cat /sys/block/nvme0n1/dev)
    govern() { heatsoak govern $drive --at-least 40MB/s -q "$@"; }
    section off; status govern --below 51C 2>&1
    echo +io >$cg/cgroup.subtree_control
    mkdir $cg/load $cg/other
    echo "$number wbps=70000000 riops=90000" >$cg/load/io.max
    (echo 0 >$cg/load/cgroup.procs; while :; do dd if=$drive of=/dev/null bs=256k count=900 iflag=direct; done) 2>/dev/null & load=$!
    limited() { grep -qE "^$number rbps=4[0-9]{7} " $cg/load/io.max; }
    section found; cat $cg/load/io.max
    heatsoak govern $drive --at-least 40MB/s -q --below 51C 2>/tmp/said & govern=$!
    wait_for limited
    section limited; cat $cg/load/io.max; cat $cg/other/io.max
    section killed; kill -9 $govern; wait $govern || cat $cg/load/io.max
    section refused; status govern --below 51C 2>&1
    section restore; status heatsoak restore
    section restored; cat $cg/load/io.max; cat $cg/other/io.max
    heatsoak govern $drive --at-least 40MB/s -q --below 51C --cgroup load --json >/tmp/told & govern=$!
    wait_for limited
    section other; cat $cg/other/io.max
    section stopped; kill -INT $govern; status wait $govern
    section told; cat /tmp/told
    section put-back; cat $cg/load/io.max; heatsoak restore
    kill $load
    section command; govern --below 51C --json -- dd if=$drive of=/dev/null bs=256k count=400 iflag=direct 2>/dev/null >/tmp/told && status true
    section command-told; cat /tmp/told
    section fails; status govern --below 51C -- false
    section no-command; status govern --below 51C -- no-such-command 2>&1
    section reached; status govern --below 50C --for 3s
    section left-behind; status govern --below 51C -- sh -c "sleep 1000 >/dev/null 2>&1 &" 2>&1
    killall sleep
    section removed; wait_for heatsoak restore
    section groups; ls -d $cg/heatsoak* 2>/dev/null || echo none
"#;

/// Goal: a limit of others' load comes to the kernel and goes again, by Ctrl-C, by the end of a command, and by `restore`
/// after a kill; what was limited before stays so.
fn limits_of_control_groups_are_put_back(kernel: Kernel) {
    let output = Guest::on(kernel).nvme("NVME1").script(SCRIPT).run();
    let has = |section: &str, text: &str| {
        let found = output.section(section);
        assert!(found.contains(text), "{section}: no {text:?} in {found:?}");
    };
    has("off", "the io controller is off");
    has("off", "status 2");
    let found = output.section("found");
    assert!(found.contains("rbps=max wbps=70000000 riops=90000 wiops=max"), "{found}");
    has("limited", "wbps=40000000 riops=90000 wiops=max");
    has("limited", "rbps=40000000 wbps=40000000 riops=max wiops=max");
    has("killed", "rbps=4");
    has("refused", "was interrupted before it could put back io.max of");
    has("refused", "status 2");
    has("restore", "io.max of load: rbps=max wbps=70000000, as it was found");
    has("restore", "status 0");
    assert_eq!(output.section("restored"), found);
    assert_eq!(output.section("other"), "", "it was not named");
    has("stopped", "status 0");
    let told: Value = output.json("told");
    assert_eq!((&told["stayed_below"], &told["highest_k"]), (&true.into(), &323.0.into()), "{told}");
    assert_eq!(told["cgroups"], serde_json::json!(["load"]));
    let put_back = output.section("put-back");
    assert_eq!(put_back, format!("{found}No run has left a setting changed.\n"));
    has("command", "status 0");
    assert_eq!(output.json("command-told")["command_exit"], 0);
    has("fails", "status 1");
    has("no-command", "the command was not run (exit code 127)");
    has("no-command", "status 2");
    has("reached", "status 1");
    has("left-behind", "processes that COMMAND has left behind still run");
    has("left-behind", "status 2");
    has("groups", "none");
}
