//! `heatsoak list` beside what the kernel's other tools say about the same drives.

use serde_json::Value;

use crate::guest::{Guest, Kernel, on_each_kernel};

on_each_kernel!(list_shows_every_drive_as_lsblk_does);

/// Goal: no drive is forgotten, none is told wrong. Method: one of each kind, `lsblk` as referee.
fn list_shows_every_drive_as_lsblk_does(kernel: Kernel) {
    let output = Guest::on(kernel)
        .nvme("NVME1")
        .nvme("NVME2")
        .ata("ATA1")
        .uas("USB1")
        .script(
            "modprobe scsi_debug dev_size_mb=64
             wait_for test -b /dev/sdc
             udev_up
             section lsblk
             lsblk --json --bytes --nodeps --output NAME,SIZE,LOG-SEC,MODEL,TRAN
             section list
             heatsoak list --json
             section links
             cd /dev/disk/by-id; for link in *; do echo $link $(readlink $link); done",
        )
        .run();
    let (lsblk, list) = (output.json("lsblk"), output.json("list"));
    let drives = list["drives"].as_array().expect("drives");
    let theirs = lsblk["blockdevices"].as_array().expect("block devices");
    let mut kinds: Vec<&str> = drives.iter().filter_map(|drive| drive["kind"].as_str()).collect();
    kinds.sort_unstable();
    // The virtio drive is the guest's own root.
    assert_eq!(kinds, ["nvme", "nvme", "sata", "scsi", "usb", "virtio"], "{list}");
    assert_eq!(drives.len(), theirs.len(), "{lsblk}");
    for (drive, device) in drives.iter().map(|drive| (drive, of_lsblk(theirs, drive))) {
        assert_eq!(drive["size_bytes"], device["size"], "{drive}");
        assert_eq!(drive["block_bytes"], device["log-sec"], "{drive}");
        let model = device["model"].as_str().unwrap_or_default();
        assert!(drive["model"].as_str().unwrap_or_default().ends_with(model), "{drive} {device}");
        let link = drive["by_id"].as_str().and_then(|link| link.strip_prefix("/dev/disk/by-id/"));
        let is_there = |link: &str| {
            let name = device["name"].as_str().expect("a name");
            output.section("links").lines().any(|line| line == format!("{link} ../../{name}"))
        };
        assert!(link.is_none_or(is_there), "{drive}");
        assert!(link.is_some() || drive["kind"] == "virtio", "{drive} has no lasting name");
    }
}

fn of_lsblk<'a>(devices: &'a [Value], drive: &Value) -> &'a Value {
    let name = drive["address"].as_str().and_then(|address| address.strip_prefix("/dev/"));
    devices.iter().find(|device| device["name"].as_str() == name).expect("lsblk knows it too")
}
