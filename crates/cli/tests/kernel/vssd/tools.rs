//! Unmodified nvme-cli, smartctl and hwmon on the virtual SSD, and what went over the wire meanwhile.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use physics::Profile;

use super::number;
use super::server::Vssd;
use crate::kernel::case::Case;
use crate::kernel::output::Output;

/// Goal: every page says what the profile says, to every tool. Method: the profile as truth; and tshark, which
/// knows the protocol from elsewhere, reads the wire.
pub(super) fn the_tools_take_it_for_a_drive<'a>(ssd1: &'a Vssd, wire: &'a Path) -> Case<'a> {
    let script = "
             section list; nvme list -o json
             section subsystems; nvme list-subsys -o json
             section id-ctrl; nvme id-ctrl /dev/nvme0 -o json
             section id-ns; nvme id-ns /dev/nvme0n1 -o json
             section smart; nvme smart-log /dev/nvme0 -o json
             section hwmon; cd /sys/class/hwmon/hwmon0; grep . name temp1_input temp1_max temp1_crit; cd /
             section smartctl; smartctl -x --json /dev/nvme0 || [ $? = 4 ]
             section firmware; nvme fw-log /dev/nvme0 -o json
             section effects; nvme effects-log /dev/nvme0 --csi=0 -o json
             section supported; nvme supported-log-pages /dev/nvme0
             section errors-before; nvme error-log /dev/nvme0 -o json
             section refused; status nvme get-feature /dev/nvme0 -f 0x7f
             section errors-after; nvme error-log /dev/nvme0 -o json
             section flush; nvme flush /dev/nvme0n1 -n 1";
    Case::new("tools", ssd1.while_connected(script), |output| {
        let profile = Profile::builtin("ssd1").expect("it is built in");
        identity_is_the_profiles(output, &profile);
        temperatures_agree(output, &profile);
        errors_are_logged(output);
        assert!(!output.dmesg().contains("nvme nvme0: failed"), "{}", output.dmesg());
        the_wire_is_well_formed(wire, ssd1.port());
    })
}

fn identity_is_the_profiles(output: &Output, profile: &Profile) {
    let (identity, limits) = (&profile.identity, &profile.limits);
    let hctm = limits.hctm.as_ref().expect("it has HCTM");
    let id = output.json("id-ctrl");
    let text = |name: &str| id[name].as_str().map(str::trim).map(str::to_owned);
    assert_eq!(text("mn").as_deref(), Some(identity.model.as_str()));
    assert_eq!(text("fr").as_deref(), Some(identity.firmware.as_str()));
    assert_eq!(number(&id["wctemp"]), u128::from(limits.wctemp_k));
    assert_eq!(number(&id["cctemp"]), u128::from(limits.cctemp_k));
    assert_eq!(number(&id["hctma"]), 1);
    assert_eq!(number(&id["mntmt"]), u128::from(hctm.mntmt_k));
    assert_eq!(number(&id["mxtmt"]), u128::from(hctm.mxtmt_k));
    let blocks = identity.capacity_bytes / u64::from(identity.block_bytes);
    assert_eq!(number(&output.json("id-ns")["nsze"]), u128::from(blocks));
    let smartctl = output.json("smartctl");
    assert_eq!(smartctl["model_name"].as_str(), Some(identity.model.as_str()));
    assert_eq!(smartctl["serial_number"].as_str().map(str::to_owned), text("sn"));
    assert_eq!(smartctl["user_capacity"]["bytes"], identity.capacity_bytes);
    assert_eq!(smartctl["smart_status"]["passed"], true);
    let list = output.json("list");
    let device = &list["Devices"][0];
    assert_eq!(device["PhysicalSize"], identity.capacity_bytes, "{list}");
    assert_eq!(device["SerialNumber"].as_str().map(str::to_owned), text("sn"));
    let subsystems = output.json("subsystems").to_string();
    assert!(subsystems.contains("\"live\"") && subsystems.contains("\"tcp\""), "{subsystems}");
}

/// nvme-cli, smartctl and hwmon within seconds of each other, on a drive that nobody uses.
fn temperatures_agree(output: &Output, profile: &Profile) {
    let composite_k = number(&output.json("smart")["temperature"]);
    let smartctl_c = output.json("smartctl")["temperature"]["current"].as_i64().expect("a temperature");
    let close = |kelvin: i64| (kelvin - composite_k as i64).abs() <= 1;
    assert!(close(smartctl_c + 273), "{composite_k} K, by smartctl {smartctl_c} °C");
    // Whole kelvins, converted with 273.15 (drivers/nvme/host/hwmon.c).
    let hwmon = output.section("hwmon");
    let millidegrees = |name: &str| -> i64 {
        let line = hwmon.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
        line.and_then(|line| line.parse().ok()).unwrap_or_else(|| panic!("no {name} in {hwmon}"))
    };
    assert!(close((millidegrees("temp1_input") + 273_150) / 1000), "{composite_k} K, by {hwmon}");
    assert_eq!(millidegrees("temp1_max") + 273_150, i64::from(profile.limits.wctemp_k) * 1000);
    assert_eq!(millidegrees("temp1_crit") + 273_150, i64::from(profile.limits.cctemp_k) * 1000);
}

/// A command that is refused leaves an entry in the error log.
fn errors_are_logged(output: &Output) {
    assert!(output.section("refused").ends_with("status 1\n"), "{}", output.section("refused"));
    let newest = |name: &str| -> u128 {
        let log = output.json(name);
        let entries = log["errors"].as_array().unwrap_or_else(|| panic!("no entries in {log}"));
        entries.iter().map(|entry| number(&entry["error_count"])).max().unwrap_or(0)
    };
    let (before, after) = (newest("errors-before"), newest("errors-after"));
    assert!(after > before, "{before} errors before, {after} after");
}

/// tshark finds NVMe/TCP, all of it, and nothing malformed.
fn the_wire_is_well_formed(capture: &Path, port: u16) {
    let tshark = |filter: &str, field: &str| {
        let mut command = Command::new("tshark");
        command.arg("-r").arg(capture).args(["-d", &format!("tcp.port=={port},nvme-tcp")]);
        let output = command.args(["-Y", filter, "-T", "fields", "-e", field]).output().expect("tshark runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let malformed = tshark("_ws.malformed || nvme-tcp.type > 9", "frame.number");
    assert!(malformed.is_empty(), "malformed: {malformed}");
    // Commands, responses and data, as tshark names them.
    let types = tshark("nvme-tcp", "nvme-tcp.type");
    let types: Vec<&str> = types.split(['\n', ',']).filter(|found| !found.is_empty()).collect();
    // Counted one by one: how many share a frame is a matter of the machine's speed.
    assert!(types.len() > 100, "{} PDUs", types.len());
    for kind in ["0", "1", "4", "5", "7"] {
        assert!(types.contains(&kind), "no PDU of type {kind}");
    }
}

/// Goal: Host Controlled Thermal Management as the specification has it (NVMe Base 2.3, Get and Set Features), with
/// all four selects and save. Method: nvme-cli against the profile's defaults.
pub(super) fn thermal_settings_keep_the_specification<'a>(saving: &Vssd) -> Case<'a> {
    let show = |name: &str| {
        format!(
            "section {name}
             for select in 0 1 2 3; do nvme get-feature /dev/nvme0 -f 0x10 -s $select; done\n"
        )
    };
    let set = |value: &str| format!("nvme set-feature /dev/nvme0 -f 0x10 -v {value}\n");
    let script = [
        show("found"),
        set("0x01450150"),
        show("set"),
        set("0x01460151 --save"),
        show("saved"),
        REFUSED_AND_ALONE.to_owned(),
        show("last"),
        OTHER_FEATURES.to_owned(),
    ]
    .concat();
    Case::new("thermal", saving.while_connected(&script), every_select_says_what_was_set)
}

/// TMT1 above TMT2; TMT2 above MXTMT; TMT1 below MNTMT; then one threshold alone, which is allowed.
const REFUSED_AND_ALONE: &str = "
    section refused
    for value in 0x01500145 0x01450fff 0x00100145; do status nvme set-feature /dev/nvme0 -f 0x10 -v $value; done
    section alone; nvme set-feature /dev/nvme0 -f 0x10 -v 0x00000145
";

const OTHER_FEATURES: &str = "
    section threshold; nvme set-feature /dev/nvme0 -f 0x04 -v 0x0142; nvme get-feature /dev/nvme0 -f 0x04
    section power; nvme set-feature /dev/nvme0 -f 0x02 -v 0; nvme get-feature /dev/nvme0 -f 0x02
    section dsm
    dd if=/dev/urandom of=/dev/nvme0n1 bs=64k count=4 oflag=direct 2>/dev/null
    nvme dsm /dev/nvme0n1 -n 1 -d -s 64,256 -b 64,64
    dd if=/dev/nvme0n1 bs=32k count=8 iflag=direct 2>/dev/null >/tmp/content
    for at in 0 1 2 3 4 5 6 7; do
        dd if=/tmp/content bs=32k skip=$at count=1 2>/dev/null | tr -d '\\0' | wc -c
    done
";

fn every_select_says_what_was_set(output: &Output) {
    let hctm = Profile::builtin("relay").expect("it is built in").limits.hctm.expect("it has HCTM");
    let default = u32::from(hctm.tmt1_k) << 16 | u32::from(hctm.tmt2_k);
    // Current, default, saved. TMT1 is the upper half (Set Features, Command Dword 11).
    assert_eq!(values(output, "found"), [default, default, default]);
    assert_eq!(values(output, "set"), [0x0145_0150, default, default]);
    assert_eq!(values(output, "saved"), [0x0146_0151, default, 0x0146_0151]);
    let refused = output.section("refused");
    assert_eq!(refused.lines().filter(|line| *line == "status 1").count(), 3, "{refused}");
    assert_eq!(values(output, "last"), [0x0000_0145, default, 0x0146_0151]);
    assert!(output.section("threshold").contains("0x00000142"), "{}", output.section("threshold"));
    assert!(output.section("power").contains("Current value:00000000"), "{}", output.section("power"));
    // Blocks 64..128 (32 KiB from 32 KiB on) and 256..320 (from 128 KiB on) are gone, the others are not.
    let sizes = output.section("dsm");
    let left: Vec<bool> = sizes.lines().filter_map(|line| line.parse::<u32>().ok()).map(|n| n > 0).collect();
    assert_eq!(left, [true, false, true, true, false, true, true, true], "{sizes}");
}

/// Current, default and saved value; the fourth line, "supported", must say saveable and changeable.
fn values(output: &Output, section: &str) -> [u32; 3] {
    let text = output.section(section);
    let value = |line: &str| u32::from_str_radix(line.rsplit_once("0x")?.1.trim(), 16).ok();
    let values: Vec<u32> = text.lines().filter(|line| line.contains("alue:")).filter_map(value).collect();
    assert!(text.contains("Feature is saveable") && text.contains("Feature is changeable"), "{text}");
    values[..3].try_into().unwrap_or_else(|_| panic!("three values in {text}"))
}

/// Goal: several drives behind one address. Method: discovery of the whole shelf; and three of its drives served from
/// inside the guest, so that the address that discovery tells is the one to connect to.
pub(super) fn a_shelf_is_discovered(shelf: &Vssd) -> Case<'_> {
    let script = format!(
        "section discovered; nvme discover -t tcp -a $host -s {port} -o json
         section served
         heatsoak vssd --profile ssd1 --profile relay --profile two-level --listen 127.0.0.1:4420 &
         vssd=$!
         wait_for grep -q listening $out/served
         section connected; nvme connect-all -t tcp -a 127.0.0.1 -s 4420 -k 600
         wait_for sh -c '[ $(ls /dev/nvme*n1 | wc -l) = 3 ]'
         section list; nvme list -o json
         section disconnected; nvme disconnect-all; kill $vssd",
        port = shelf.port(),
    );
    Case::new("shelf", script, |output| everything_on_it_is_found(output, shelf))
}

fn everything_on_it_is_found(output: &Output, shelf: &Vssd) {
    let discovered = output.json("discovered");
    let records = discovered["records"].as_array().expect("records");
    let mut found: Vec<&str> = records.iter().filter_map(|record| record["subnqn"].as_str()).collect();
    let mut expected = shelf.nqns();
    found.sort_unstable();
    expected.sort_unstable();
    assert!(expected.len() > 10 && found == expected, "{discovered}");
    let list = output.json("list");
    let devices = list["Devices"].as_array().expect("devices");
    let text =
        |name: &str| devices.iter().filter_map(|device| device[name].as_str()).collect::<BTreeSet<_>>();
    let model = |name: &str| Profile::builtin(name).expect("it is built in").identity.model;
    let models = ["ssd1", "relay", "two-level"].map(model);
    assert_eq!(text("ModelNumber"), models.iter().map(String::as_str).collect(), "{list}");
    assert_eq!(text("SerialNumber").len(), 3, "two drives bear one serial: {list}");
}
