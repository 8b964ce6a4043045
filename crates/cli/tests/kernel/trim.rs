//! TRIM in a guest: what is told beside what sysfs and sg3_utils say, the check on real SCSI disks of the kernel's own, the
//! kernel's knobs, and the udev rule over everything that takes the mode back.

use crate::kernel::case::Case;
use crate::kernel::guest::{Guest, Kernel, on_each_kernel};
use crate::kernel::output::Output;

on_each_kernel!(trim_of_scsi_disks);

/// A disk as behind an RTL9210B that says LBPME=0 and takes UNMAP all the same: while `fake_rw` is set, scsi_debug answers
/// READ CAPACITY (16) without LBPME, so what the kernel has seen stays so.
///
/// The kernel looks at a new disk twice, the second time when it reads its partitions (`disk_scan_partitions`), and shows
/// the node in between: only what it says last tells that it is done.
const BRIDGE: &str = "
    modprobe scsi_debug lbpu=1 dev_size_mb=64 unmap_max_blocks=2048 unmap_granularity=8 physblk_exp=3 \
        inq_vendor=Realtek inq_product=RTL9210B-CG
    fake=/sys/bus/pseudo/drivers/scsi_debug/fake_rw
    sd() { basename $(echo /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/target*/*/block/*); }
    there() { test -b /dev/$(sd); }
    attached() { dmesg | grep -c 'Attached SCSI disk' || true; }
    attached_again() { [ $(attached) -gt $seen ]; }
    replug() {
        seen=$(attached)
        echo 1 >$fake
        echo 1 >/sys/block/$(sd)/device/delete
        for host in /sys/bus/pseudo/drivers/scsi_debug/adapter0/host*/scsi_host/host*/scan; do echo '- - -' >$host; done
        wait_for attached_again
        wait_for there
        echo 0 >$fake
    }
    knobs() { cat /sys/block/$(sd)/device/scsi_disk/*/provisioning_mode /sys/block/$(sd)/queue/discard_max_bytes; }
    wait_for there
    replug
    serial=$(tail -c +5 /sys/block/$(sd)/device/vpd_pg80)";

const TELL: &str = "
    section capacity; sg_readcap --16 /dev/$(sd)
    section page; sg_vpd --page=lbpv /dev/$(sd)
    section told; heatsoak trim /dev/$(sd) --json
    section text; heatsoak trim /dev/$(sd)
    section unchecked; status heatsoak trim /dev/$(sd) --enable
    section rule-unchecked; status heatsoak trim /dev/$(sd) --udev-rule
    section wrong; status heatsoak trim /dev/$(sd) --prove --destroy OTHER
    section knobs; knobs";

const PROVE: &str = "
    section first; status heatsoak trim /dev/$(sd) --prove --destroy \"$serial\" --window 512KiB --json
    section soon; status heatsoak trim /dev/$(sd) --prove --resume --destroy \"$serial\"
    replug
    section second; status heatsoak trim /dev/$(sd) --prove --resume --destroy \"$serial\" --json
    section after; knobs; ls /var/lib/heatsoak";

const ENABLE: &str = "
    section enable; heatsoak trim /dev/$(sd) --enable --json
    section on; knobs
    section lsblk; lsblk --discard --bytes --noheadings --nodeps --output DISC-MAX /dev/$(sd)
    section trimmed; blkdiscard -o 0 -l 1048576 /dev/$(sd); echo done
    section disable; heatsoak trim /dev/$(sd) --disable --json
    section off; knobs";

const RULE: &str = "
    section rule; heatsoak trim /dev/$(sd) --udev-rule
    mkdir -p /run/udev/rules.d
    cp $out/rule /run/udev/rules.d/60-heatsoak-trim.rules
    test -e /bin/sh || ln -s /bin/busybox /bin/sh
    udev_up
    is_on() { [ \"$(knobs | tr '\\n' ' ')\" = 'unmap 1048576 ' ]; }
    section replugged; replug; udevadm settle; wait_for is_on; knobs
    echo 1 >$fake
    section bare; blockdev --rereadpt /dev/$(sd); udevadm settle; knobs
    section rescanned; echo 1 >/sys/block/$(sd)/device/rescan; udevadm settle; knobs
    section triggered; udevadm trigger --settle --subsystem-match=block --action=change; knobs
    section fstrim-would; lsblk --discard --bytes --noheadings --nodeps --output DISC-MAX /dev/$(sd)
    echo 0 >$fake
    udevadm control --exit";

const MODES: &str = "
    modes=/sys/block/sda/device/scsi_disk/*/provisioning_mode
    for mode in unmap writesame_16 writesame_10 writesame_zero disabled full; do
        echo $mode | tee $modes >/dev/null
        section $mode; cat /sys/block/sda/queue/discard_max_bytes
        section told-$mode; heatsoak trim /dev/sda --json
    done
    section enable; heatsoak trim /dev/sda --enable --unchecked --json";

fn trim_of_scsi_disks(kernel: Kernel) {
    Guest::on(kernel).uas("USB1").script("wait_for test -b /dev/sda").script(BRIDGE).run_cases(vec![
        Case::new("tell", TELL, is_told),
        Case::new("prove", PROVE, is_proved),
        Case::new("enable", ENABLE, is_switched),
        Case::new("rule", RULE, move |output| rule_lasts(output, kernel)),
        Case::new("modes", MODES, modes_are_told),
    ]);
}

/// Goal: what the device says stands beside what the kernel made of it. Method: sg3_utils and sysfs as referees; a
/// disk whose two views differ.
fn is_told(output: &Output) {
    let told = output.json("told");
    assert!(output.section("capacity").contains("lbpme=1"), "{}", output.section("capacity"));
    assert!(
        output.section("page").contains("Unmap command supported (LBPU): 1"),
        "{}",
        output.section("page")
    );
    assert_eq!(told["device"]["lbpu"], true, "{told}");
    assert_eq!(told["device"]["unmap_max_bytes"], 1 << 20, "{told}");
    assert_eq!(told["kernel"]["provisioning_mode"], "full", "{told}");
    assert_eq!(told["kernel"]["thin_provisioning"], false, "{told}");
    assert_eq!(told["path"], "off_in_kernel", "{told}");
    let text = output.section("text");
    assert!(text.contains("the kernel sends none") && text.contains("provisioning_mode full"), "{text}");
    for (section, sentence) in [
        ("unchecked", "nobody has checked"),
        ("rule-unchecked", "nobody has checked"),
        ("wrong", "serial number"),
    ] {
        assert_eq!(output.section(section).trim(), "status 2", "{section}");
        assert!(output.errors(section).contains(sentence), "{}", output.errors(section));
    }
    assert_eq!(output.section("knobs"), "full\n0\n", "nothing was changed");
}

/// The document that `status` prints its line behind.
fn document(output: &Output, section: &str) -> (serde_json::Value, String) {
    let text = output.section(section);
    let (json, status) =
        text.rsplit_once("status ").unwrap_or_else(|| panic!("{text} {}", output.errors(section)));
    let json =
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {}", output.errors(section)));
    crate::support::schema::must_fit("trim", &json);
    (json, status.trim().to_owned())
}

/// Goal: an honest disk passes, over its power cycle, once through the kernel, and leaves nothing changed.
fn is_proved(output: &Output) {
    let (first, status) = document(output, "first");
    assert_eq!(status, "0", "{first}");
    assert_eq!(first["check"]["stage"], "awaits_power_cycle", "{first}");
    assert_eq!(first["check"]["verdict"], "safe_acts", "{first}");
    assert!(first["check"]["result"]["cases"].as_array().is_some_and(|cases| cases.len() > 20), "{first}");
    assert_eq!(output.section("soon").trim(), "status 2");
    assert!(output.errors("soon").contains("was not unplugged"), "{}", output.errors("soon"));
    let (second, status) = document(output, "second");
    assert_eq!(status, "0", "{second} {}", output.errors("second"));
    assert_eq!(second["check"]["stage"], "done", "{second}");
    assert_eq!(second["check"]["verdict"], "safe_acts", "{second}");
    assert_eq!(second["check"]["result"]["by_kernel"], true, "{second}");
    let after = output.section("after");
    assert!(after.starts_with("full\n0\n") && !after.contains(".settings.json"), "{after}");
}

/// Goal: switched on with the device's own limit, read back, and off again. Method: lsblk and blkdiscard as referees.
fn is_switched(output: &Output) {
    let changed = &output.json("enable")["changed"];
    assert_eq!(changed["now"]["provisioning_mode"], "unmap", "{changed}");
    assert_eq!(changed["now"]["discard_max_bytes"], 1 << 20, "{changed}");
    assert_eq!(changed["before"]["provisioning_mode"], "full", "{changed}");
    assert_eq!(output.section("on"), "unmap\n1048576\n");
    assert_eq!(output.section("lsblk").trim(), "1048576");
    assert_eq!(output.section("trimmed"), "done\n");
    assert_eq!(output.json("disable")["changed"]["now"]["provisioning_mode"], "full");
    assert_eq!(output.section("off"), "full\n0\n");
}

/// Goal: the rule wins at each appearance of the drive. Linux 6.12 takes the mode back without an event at `rescan`, and at
/// `rereadpt` of a disk without partitions (with them: `bulk_only`); what docs/TRIM.md says to do then, does it.
fn rule_lasts(output: &Output, kernel: Kernel) {
    let on = "unmap\n1048576\n";
    assert!(output.section("rule").contains("SUBSYSTEM==\"block\""), "{}", output.section("rule"));
    for section in ["replugged", "triggered"] {
        assert_eq!(output.section(section), on, "{section}");
    }
    for section in ["bare", "rescanned"] {
        let knobs = output.section(section);
        let without_event = kernel == Kernel::V6_12 && knobs.starts_with("full\n");
        assert!(without_event || knobs == on, "{section}: {knobs}");
    }
    assert_eq!(output.section("fstrim-would").trim(), "1048576");
}

/// Goal: each mode that the kernel can be in is told as it is. Method: QEMU's disk, which says LBPME=1, put into all six.
fn modes_are_told(output: &Output) {
    for mode in ["unmap", "writesame_16", "writesame_10", "writesame_zero", "disabled", "full"] {
        let told = output.json(&format!("told-{mode}"));
        assert_eq!(told["kernel"]["provisioning_mode"], mode, "{told}");
        let most: u64 = output.section(mode).trim().parse().expect("a number");
        assert_eq!(told["kernel"]["discard_max_bytes"], most, "{told}");
        let sends = !matches!(mode, "disabled" | "full");
        assert_eq!(told["path"] == "off_in_kernel", !sends, "{mode}: {told}");
        assert_eq!(told["bridge"]["protocol"], "uas", "{told}");
    }
    let changed = &output.json("enable")["changed"]["now"];
    assert_eq!(changed["provisioning_mode"], "unmap", "{changed}");
}
