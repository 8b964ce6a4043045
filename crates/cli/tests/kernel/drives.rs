//! One drive of each kind in one guest, and everything that is tried on such: what `heatsoak list` and `inspect` show
//! beside the kernel's other tools, and (in files of their own) runs and settings.

use serde_json::Value;

use crate::case::Case;
use crate::guest::{Guest, Kernel, on_each_kernel, scratch};
use crate::output::Output;
use crate::{features, runs, settings};

on_each_kernel!(drives_of_every_kind);

/// Two NVMe drives of QEMU's, a SATA, a USB and a SCSI disk; and after the first case Linux's own NVMe target, a drive
/// that answers almost nothing, which is `nvme2`.
fn drives_of_every_kind(kernel: Kernel) {
    // Over each of its transports on one kernel.
    let connect = if kernel == Kernel::V6_1 { "nvmet_tcp" } else { "nvmet_loop" };
    let target = format!(
        "modprobe brd rd_nr=1 rd_size=65536
         {connect} nqn.2014-08.org.example:ram /dev/ram0
         wait_for test -b /dev/nvme2n1"
    );
    let folder = scratch();
    let guest = Guest::on(kernel).nvme("NVME1").nvme("NVME2").ata("ATA1").uas("USB1").share(folder.path());
    runs::fill(&guest);
    guest
        .script("wait_for test -b /dev/sdb; modprobe scsi_debug dev_size_mb=64; wait_for test -b /dev/sdc")
        .script(runs::PLAN)
        .run_cases(vec![
            Case::new("list", LIST, list_shows_every_drive_as_lsblk_does),
            Case::new("target", target, |_| ()),
            Case::new("inspect", INSPECT, inspect_shows_other_drives_as_smartctl_does),
            Case::new("inspect-nvme", settings::INSPECT, settings::inspect_says_what_nvme_cli_says),
            Case::new("record", runs::RECORD, |output| {
                runs::a_record_is_what_the_other_tools_say(output, folder.path());
            }),
            Case::new("opens", runs::OPENS, runs::reading_opens_nothing_for_writing),
            Case::new("hot", runs::HOT, |output| {
                runs::the_load_ends_at_the_thermal_limit(output, folder.path())
            }),
            Case::new("no-setting", features::NO_SETTING, features::a_drive_without_a_setting_is_told_so),
        ]);
}

const LIST: &str = "
    udev_up
    section lsblk; lsblk --json --bytes --nodeps --output NAME,SIZE,LOG-SEC,MODEL,TRAN
    section list; heatsoak list --json
    section links; cd /dev/disk/by-id; for link in *; do echo $link $(readlink $link); done
    udevadm control --exit";

/// Goal: no drive is forgotten, none is told wrong. Method: one of each kind, `lsblk` as referee.
fn list_shows_every_drive_as_lsblk_does(output: &Output) {
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

const INSPECT: &str = "
    for drive in sda sdb sdc nvme2n1; do
        section inspect-$drive; heatsoak inspect /dev/$drive --json
        section smartctl-$drive; smartctl --json -i /dev/$drive || true
        section size-$drive; blockdev --getsize64 /dev/$drive
        section block-$drive; blockdev --getss /dev/$drive
    done";

/// Goal: drives that are not NVMe are told as smartctl tells them, as far as either knows them. Method: a SATA, a USB
/// and a SCSI disk; the kernel's own NVMe target for a drive that answers almost nothing.
fn inspect_shows_other_drives_as_smartctl_does(output: &Output) {
    for name in ["sda", "sdb", "sdc", "nvme2n1"] {
        let (ours, theirs) =
            (output.json(&format!("inspect-{name}")), output.json(&format!("smartctl-{name}")));
        let device = &ours["block_device"];
        let said = |section: &str| output.section(&format!("{section}-{name}")).trim().parse::<u64>().ok();
        assert_eq!(device["size_bytes"].as_u64(), said("size"), "{ours}");
        assert_eq!(device["block_bytes"].as_u64(), said("block"), "{ours}");
        assert_eq!(ours["simulated"], false, "{ours}");
        let same = |field: &str, names: &[&str]| {
            let theirs = names.iter().find_map(|name| theirs[name].as_str());
            if let (Some(ours), Some(theirs)) = (ours[field].as_str(), theirs) {
                assert_eq!(ours, theirs, "{name}: {field}");
            }
        };
        same("model", &["model_name", "scsi_model_name"]);
        same("serial", &["serial_number"]);
        same("firmware", &["firmware_version", "scsi_revision"]);
        assert!(ours["model"].is_string(), "{ours}");
        assert_eq!(ours["nvme"].is_object(), name == "nvme2n1", "{ours}");
    }
    let health = &output.json("inspect-nvme2n1")["nvme"]["smart"];
    assert!(health["composite_k"].is_null(), "0 K is no temperature: {health}");
}

fn of_lsblk<'a>(devices: &'a [Value], drive: &Value) -> &'a Value {
    let name = drive["address"].as_str().and_then(|address| address.strip_prefix("/dev/"));
    devices.iter().find(|device| device["name"].as_str() == name).expect("lsblk knows it too")
}
