//! One drive of each kind in one guest, and everything that is tried on such: what `heatsoak list` and `inspect` show
//! beside the kernel's other tools, and (in files of their own) runs and settings.

use serde_json::Value;

use crate::kernel::case::Case;
use crate::kernel::guest::{Guest, Kernel, on_each_kernel, scratch};
use crate::kernel::output::Output;
use crate::kernel::{features, runs, settings};

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
    let identity = identity_script(&DRIVES, &SCSI) + HEALTH_AND_LINKS;
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
            Case::new("identity", identity, every_drive_is_told_alike_everywhere),
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

/// SATA, USB, SCSI, NVMe, and the guest's own root, which is virtio.
const DRIVES: [&str; 5] = ["sda", "sdb", "sdc", "nvme0n1", "vda"];
const SCSI: [&str; 3] = ["sda", "sdb", "sdc"];

/// Everything that heatsoak and the tools of the system say of `drives`, of which `scsi` are SCSI disks to the kernel.
pub(crate) fn identity_script(drives: &[&str], scsi: &[&str]) -> String {
    format!(
        "udev_up
         section lsblk; lsblk --json --bytes --nodeps --output NAME,SIZE,LOG-SEC,MODEL,SERIAL,WWN,REV
         section list; heatsoak list --json
         printf '[[phase]]\\nop = \"read\"\\nblock_size = \"4KiB\"\\nbytes = \"64KiB\"\\n' >/tmp/short.toml
         for drive in {drives}; do
             section inspect-$drive; heatsoak inspect /dev/$drive --json
             section smartctl-$drive; smartctl --json -i -A /dev/$drive || true
             section run-$drive; heatsoak run /tmp/short.toml --drive /dev/$drive --out /tmp/identity-$drive --json
             section manifest-$drive; cat /tmp/identity-$drive/manifest.json
         done
         for drive in {scsi}; do
             section capacity-$drive; sg_readcap --16 /dev/$drive
             section serial-$drive; sg_vpd --page=sn --raw /dev/$drive | tail -c +5
         done\n",
        drives = drives.join(" "),
        scsi = scsi.join(" ")
    )
}

/// What belongs to these drives alone.
const HEALTH_AND_LINKS: &str = "
    section health; nvme smart-log /dev/nvme0 --output-format=json
    section controller; nvme id-ctrl /dev/nvme0 --output-format=json
    section sata-link; cat /sys/class/ata_link/link*/sata_spd
    section usb-link; cat /sys/block/sdb/device/../../../../speed
    udevadm control --exit";

/// Goal: which drive a record is of can be told, whatever it is attached by. Method: a drive of each kind; everything
/// that heatsoak says of it, field by field, against every tool of the system that knows the field.
fn every_drive_is_told_alike_everywhere(output: &Output) {
    are_told_alike(output, &DRIVES);
    scsi_facts_are_those_of_sg3_utils(output, &SCSI);
    let health = &output.json("health")["temperature"];
    assert_eq!(&output.json("inspect-nvme0n1")["nvme"]["smart"]["composite_k"], health);
    link_is_the_kernels(output, "sda", "sata-link", "SATA");
    link_is_the_kernels(output, "sdb", "usb-link", "USB");
}

/// What `list`, `inspect` and a record say of drives is the same, and what the tools say.
pub(crate) fn are_told_alike(output: &Output, drives: &[&str]) {
    let (lsblk, list) = (output.json("lsblk"), output.json("list"));
    let theirs = lsblk["blockdevices"].as_array().expect("block devices");
    let ours = list["drives"].as_array().expect("drives");
    for name in drives {
        let listed = ours.iter().find(|drive| drive["address"] == format!("/dev/{name}")).expect("listed");
        let inspected = output.json(&format!("inspect-{name}"));
        let recorded = &output.json(&format!("manifest-{name}"))["drive"];
        for field in ["model", "serial", "firmware"] {
            assert_eq!(inspected[field], listed[field], "{name}: {field} of inspect and list");
            assert_eq!(recorded[field], listed[field], "{name}: {field} of the record and list");
        }
        for field in ["wwn", "size_bytes", "block_bytes", "kind"] {
            assert_eq!(recorded[field], listed[field], "{name}: {field} of the record and list");
            assert_eq!(
                inspected["block_device"][field], listed[field],
                "{name}: {field} of inspect and list"
            );
        }
        agrees_with_the_tools(output, name, listed, &inspected, of_lsblk(theirs, listed));
    }
}

/// What lsblk and smartctl say of a drive.
fn agrees_with_the_tools(output: &Output, name: &str, listed: &Value, inspected: &Value, told: &Value) {
    let smartctl = output.json(&format!("smartctl-{name}"));
    assert_eq!(listed["size_bytes"], told["size"], "{name}");
    assert_eq!(listed["block_bytes"], told["log-sec"], "{name}");
    let digits = |wwn: &Value| {
        let wwn = wwn.as_str()?.trim_start_matches("0x").to_owned();
        Some(wwn.split_once('.').map_or(wwn.clone(), |(_, digits)| digits.to_owned()))
    };
    let agree = |what: &str, theirs: Option<&str>, ours: Option<&str>| {
        if let Some(theirs) = theirs.map(str::trim).filter(|theirs| !theirs.is_empty()) {
            assert_eq!(ours, Some(theirs), "{name}: {what}\n{listed}\n{told}\n{smartctl}");
        }
    };
    if listed["kind"] != "usb" {
        // There lsblk shows the enclosure's.
        agree("serial number of lsblk", told["serial"].as_str(), listed["serial"].as_str());
    }
    agree("serial number of smartctl", smartctl["serial_number"].as_str(), listed["serial"].as_str());
    agree("model of smartctl", smartctl["model_name"].as_str(), listed["model"].as_str());
    let revision = smartctl["firmware_version"].as_str().or(smartctl["scsi_revision"].as_str());
    agree("firmware of smartctl", revision, listed["firmware"].as_str());
    if digits(&listed["wwn"]).is_some() {
        agree("world wide name", digits(&told["wwn"]).as_deref(), digits(&listed["wwn"]).as_deref());
    }
    let celsius = smartctl["temperature"]["current"].as_u64();
    let own = match name {
        "nvme0n1" => &inspected["nvme"]["smart"]["composite_k"],
        _ => &inspected["scsi"]["smartctl"]["temperature_k"],
    };
    assert_eq!(own.as_u64(), celsius.filter(|celsius| *celsius > 0).map(|celsius| celsius + 273), "{name}");
    assert!(listed["serial"].is_string() || matches!(name, "vda"), "{name} lost its serial number: {listed}");
}

pub(crate) fn scsi_facts_are_those_of_sg3_utils(output: &Output, drives: &[&str]) {
    for name in drives {
        let inspected = output.json(&format!("inspect-{name}"));
        let capacity = output.section(&format!("capacity-{name}"));
        let bytes =
            capacity.lines().find_map(|line| line.trim().strip_prefix("Device size: ")?.split(' ').next());
        let bytes: Option<u64> = bytes.and_then(|bytes| bytes.parse().ok());
        assert_eq!(inspected["scsi"]["size_bytes"].as_u64(), bytes, "{name}: {capacity}");
        let serial = output.section(&format!("serial-{name}"));
        assert_eq!(inspected["serial"].as_str(), Some(serial.trim()), "{name}");
    }
}

/// The link of a drive is the speed that `section` has from sysfs, where the kernel knows one.
pub(crate) fn link_is_the_kernels(output: &Output, name: &str, section: &str, unit: &str) {
    let link = output.json(&format!("inspect-{name}"))["link"]["name"].clone();
    let speed = output.section(section).lines().find_map(|line| {
        let number = line.split(' ').next()?;
        number.parse::<f64>().ok().map(|_| number.trim_end_matches(".0").to_owned())
    });
    if let Some(speed) = speed {
        let told = link.as_str().is_some_and(|link| link.starts_with(&format!("{unit} {speed}")));
        assert!(told, "{name}: {link} {speed}");
    }
}

fn of_lsblk<'a>(devices: &'a [Value], drive: &Value) -> &'a Value {
    let name = drive["address"].as_str().and_then(|address| address.strip_prefix("/dev/"));
    devices.iter().find(|device| device["name"].as_str() == name).expect("lsblk knows it too")
}
