//! A watched drive that is pulled out and put back, and a clock that is set meanwhile.

use crate::kernel::guest::{Guest, Kernel, on_each_kernel};

on_each_kernel!(a_watched_drive_goes_and_comes_back);

/// Goal: the watch outlives its drive, knows it again by its serial number, and tells of a set clock. Method: QEMU takes a USB
/// drive away and brings it back; the script waits for what the watch says, however long that takes.
fn a_watched_drive_goes_and_comes_back(kernel: Kernel) {
    let output = Guest::on(kernel)
        .uas("USB1")
        .removable("STICK")
        .monitor()
        .script("wait_for test -b /dev/sda; wait_for test -b /dev/sdb; monitor_up")
        .script(
            "by() { for disk in /sys/block/sd?; do case $(readlink -f $disk/device/../../../driver) in */$1) basename $disk;; esac; done; }
             told() { grep -q \"$1\" /tmp/told; }
             disk=$(by usb-storage)
             heatsoak watch /dev/$disk --plain --no-record >/tmp/told 2>/tmp/said & watch=$!
             wait_for told \"$disk  idle\"
             monitor 'device_del STICK'
             wait_for told 'the drive is gone'
             monitor 'device_add usb-storage,bus=xhci.0,id=STICK,drive=STICK,serial=STICK'
             wait_for told 'the drive is back'
             date -s '2037-01-01 00:00:00'
             wait_for told 'the wall clock was set forward'
             section end; kill -INT $watch; status wait $watch
             section told; grep -v '  idle' /tmp/told
             section said; cat /tmp/said",
        )
        .run();
    let end = output.section("end");
    assert!(end.trim_end().ends_with("status 0"), "{end}{}", output.section("said"));
    let told = output.section("told");
    let at = |text: &str| told.find(text).unwrap_or_else(|| panic!("{text}: {told}"));
    assert!(at("is gone") < at("is back") && at("is back") < at("set forward"), "{told}");
}
