//! A USB disk that speaks the Bulk-Only Transport, as older sticks and enclosures do, in a guest of its own: what is said
//! of it is what the tools say.

use crate::case::Case;
use crate::drives::{
    are_told_alike, identity_script, link_is_the_kernels, scsi_facts_are_those_of_sg3_utils,
};
use crate::guest::{Guest, Kernel, on_each_kernel};
use crate::output::Output;

on_each_kernel!(a_bulk_only_disk);

fn a_bulk_only_disk(kernel: Kernel) {
    let identity = identity_script(&["sda"], &["sda"])
        + "section driver; basename $(readlink /sys/block/sda/device/../../../driver)
           section usb-link; cat /sys/block/sda/device/../../../../speed
           udevadm control --exit";
    Guest::on(kernel).bulk_only("USB1").script("wait_for test -b /dev/sda").run_cases(vec![Case::new(
        "identity",
        identity,
        is_told_alike_everywhere,
    )]);
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
