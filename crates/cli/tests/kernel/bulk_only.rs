//! A USB disk that speaks the Bulk-Only Transport, as older sticks and enclosures do, in a guest of its own: what is said
//! of it is what the tools say.

use crate::kernel::case::Case;
use crate::kernel::drives::{
    are_told_alike, identity_script, link_is_the_kernels, scsi_facts_are_those_of_sg3_utils,
};
use crate::kernel::guest::{Guest, Kernel, on_each_kernel};
use crate::kernel::output::Output;

on_each_kernel!(a_bulk_only_disk);

fn a_bulk_only_disk(kernel: Kernel) {
    let identity = identity_script(&["sda"], &["sda"])
        + "section driver; basename $(readlink /sys/block/sda/device/../../../driver)
           section usb-link; cat /sys/block/sda/device/../../../../speed
           udevadm control --exit";
    Guest::on(kernel).bulk_only("USB1").script("wait_for test -b /dev/sda").run_cases(vec![
        Case::new("identity", identity, is_told_alike_everywhere),
        Case::new("trim", TRIM, move |output| trim_is_switched_on_by_the_rule(output, kernel)),
    ]);
}

/// Unbinding the USB device and binding it again is to the kernel what unplugging is.
const TRIM: &str = "
    section told; heatsoak trim /dev/sda --json
    section rule; heatsoak trim /dev/sda --udev-rule --unchecked
    mkdir -p /run/udev/rules.d
    cp $out/rule /run/udev/rules.d/60-heatsoak-trim.rules
    test -e /bin/sh || ln -s /bin/busybox /bin/sh
    udev_up
    port=$(basename $(readlink -f /sys/block/sda/device/../../../..))
    echo $port >/sys/bus/usb/drivers/usb/unbind
    gone() { ! test -e /sys/block/sda; }
    wait_for gone
    echo $port >/sys/bus/usb/drivers/usb/bind
    is_on() { grep -qx unmap /sys/block/sd?/device/scsi_disk/*/provisioning_mode; }
    wait_for is_on
    udevadm settle
    knobs() { cat /sys/block/sd?/device/scsi_disk/*/provisioning_mode /sys/block/sd?/queue/discard_max_bytes; }
    section on; knobs
    disk=/dev/$(basename /sys/block/sd?)
    printf 'label: gpt\\nstart=2048,size=4096\\nstart=8192,size=3072\\n' | sfdisk -q $disk >/dev/null
    udevadm settle
    section partitioned; wait_for is_on; knobs
    section reread; blockdev --rereadpt $disk; wait_for is_on; udevadm settle; knobs
    section rescanned; echo 1 >/sys/block/$(basename $disk)/device/rescan; udevadm settle; knobs
    section triggered; udevadm trigger --settle --subsystem-match=block --action=change; knobs
    udevadm control --exit";

/// Goal: behind usb-storage the kernel does not ask the device, which is told; the rule finds the bridge by its ids, at
/// each appearance, when partitions are made and when their table is read again. `rescan` has no event on 6.12. Method: QEMU's disk, which says LBPME=1 and a limit that the kernel has not read.
fn trim_is_switched_on_by_the_rule(output: &Output, kernel: Kernel) {
    let told = output.json("told");
    assert_eq!(told["path"], "off_in_kernel", "{told}");
    assert_eq!(
        (&told["device"]["lbpme"], &told["kernel"]["thin_provisioning"]),
        (&true.into(), &false.into()),
        "{told}"
    );
    assert!(told["reasons"][0].as_str().is_some_and(|why| why.contains("usb-storage")), "{told}");
    assert_eq!(told["bridge"]["protocol"], "bulk_only", "{told}");
    assert!(output.section("rule").contains("ATTRS{idVendor}==\"46f4\""), "{}", output.section("rule"));
    let limit = told["device"]["unmap_max_bytes"].as_u64().expect("QEMU states one");
    let on = format!("unmap\n{limit}\n");
    for section in ["on", "partitioned", "reread", "triggered"] {
        assert_eq!(output.section(section), on, "{section}");
    }
    let rescanned = output.section("rescanned");
    assert!(rescanned == on || kernel == Kernel::V6_12 && rescanned.starts_with("full\n"), "{rescanned}");
}

/// Goal and method as with drives of every other kind (`drives`); beside that, that the kernel takes it for what it is.
fn is_told_alike_everywhere(output: &Output) {
    assert_eq!(output.section("driver").trim(), "usb-storage");
    are_told_alike(output, &["sda"]);
    scsi_facts_are_those_of_sg3_utils(output, &["sda"]);
    assert_eq!(output.json("inspect-sda")["block_device"]["kind"], "usb");
    assert!(output.section("usb-link").trim().parse::<f64>().is_ok(), "it is a USB device");
    link_is_the_kernels(output, "sda", "usb-link", "USB");
}
