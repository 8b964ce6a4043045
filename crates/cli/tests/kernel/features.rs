//! Single settings through the kernel: what heatsoak says and sets is what nvme-cli reads, and a drive that has no
//! such setting is told so.

use crate::kernel::case::Case;
use crate::kernel::output::Output;
use crate::kernel::vssd::Vssd;

/// The value that nvme-cli printed in this section.
fn value(output: &Output, section: &str) -> u32 {
    let text = output.section(section);
    let line = text.lines().find_map(|line| line.rsplit_once("value:"));
    let digits = line.unwrap_or_else(|| panic!("{section}: {text}")).1.trim().trim_start_matches("0x");
    u32::from_str_radix(digits, 16).unwrap_or_else(|error| panic!("{section}: {error}: {text}"))
}

/// Goal: read and set through ioctl, on the real driver. Method: each value set by one tool and read by the other, on
/// a drive with HCTM, power states and thresholds.
pub(crate) fn what_is_set_is_what_nvme_cli_reads<'a>(relay: &Vssd) -> Case<'a> {
    let script = "
             section default; nvme get-feature /dev/nvme0 -f 0x10 -s 1
             section ours; heatsoak hctm /dev/nvme0 --json
             section set; heatsoak hctm /dev/nvme0n1 --tmt1 52C --tmt2 63C --json
             section theirs; nvme get-feature /dev/nvme0 -f 0x10
             section one; heatsoak hctm /dev/nvme0 --tmt2 off
             section theirs-one; nvme get-feature /dev/nvme0 -f 0x10
             section unsaved; nvme get-feature /dev/nvme0 -f 0x10 -s 2
             section save; heatsoak hctm /dev/nvme0 --tmt1 53C --tmt2 64C --save
             section saved; nvme get-feature /dev/nvme0 -f 0x10 -s 2
             section beyond; status heatsoak hctm /dev/nvme0 --tmt2 99C
             section upside-down; status heatsoak hctm /dev/nvme0 --tmt1 70C --tmt2 60C
             section theirs-last; nvme get-feature /dev/nvme0 -f 0x10
             section threshold; heatsoak temp-threshold /dev/nvme0 --over 49C
             section theirs-threshold; nvme get-feature /dev/nvme0 -f 0x04
             section power; heatsoak power-state /dev/nvme0 --json
             section theirs-power; nvme get-feature /dev/nvme0 -f 0x02";
    Case::new("settings", relay.while_connected(script), each_tool_reads_what_the_other_has_set)
}

fn each_tool_reads_what_the_other_has_set(output: &Output) {
    let hctm = &output.json("ours")["hctm"];
    let default = value(output, "default");
    for which in ["current", "default", "saved"] {
        let kelvin = |name: &str| hctm[which][name].as_u64();
        let both = kelvin("tmt1_k").zip(kelvin("tmt2_k"));
        let both = both.unwrap_or_else(|| panic!("no {which} in {}", output.section("ours")));
        assert_eq!(both.0 << 16 | both.1, u64::from(default), "{which}");
    }
    // 52 °C are 325 K, 63 °C 336 K (whole kelvins, as every tool shows them).
    assert_eq!(value(output, "theirs"), 325 << 16 | 336);
    assert_eq!(value(output, "theirs-one"), 325 << 16, "the other one stays");
    assert_eq!(value(output, "unsaved"), default, "nothing is saved unless asked for");
    assert_eq!(value(output, "saved"), 326 << 16 | 337);
    for section in ["beyond", "upside-down"] {
        let text = output.section(section) + &output.errors(section);
        assert!(text.contains("status 2"), "{section}: {text}");
    }
    assert_eq!(value(output, "theirs-last"), 326 << 16 | 337, "what is refused changes nothing");
    assert_eq!(value(output, "theirs-threshold"), 322);
    let power = output.json("power");
    assert_eq!(power["power_state"]["current"].as_u64(), Some(value(output, "theirs-power").into()));
}

pub(crate) const NO_SETTING: &str = "
    for drive in nvme0 nvme2; do
        section hctm-$drive; status heatsoak hctm /dev/$drive
        section set-$drive; status heatsoak hctm /dev/$drive --tmt1 50C --tmt2 60C
        section power-$drive; status heatsoak power-state /dev/$drive
        section threshold-$drive; status heatsoak temp-threshold /dev/$drive
    done
    section over; heatsoak temp-threshold /dev/nvme0 --over 49C
    section theirs-over; nvme get-feature /dev/nvme0 -f 0x04";

/// Goal: a sentence, and nothing sent, where a drive has no such setting. Method: QEMU's drive, which has no HCTM,
/// and Linux's own target, which answers Invalid Field to every feature of ours.
pub(crate) fn a_drive_without_a_setting_is_told_so(output: &Output) {
    assert_eq!(value(output, "theirs-over"), 322);
    for drive in ["nvme0", "nvme2"] {
        let shown = output.section(&format!("hctm-{drive}"));
        assert!(shown.contains("does not support") && shown.contains("status 0"), "{shown}");
        let set = format!("set-{drive}");
        let text = output.section(&set) + &output.errors(&set);
        assert!(text.contains("status 2"), "{drive}: {text}");
    }
    // Linux's target: a sentence, not a panic and not a made-up value.
    let said = |what: &str| output.section(what) + &output.errors(what);
    let power = said("power-nvme2");
    assert!(
        power.contains("status 2") && power.contains("/dev/nvme2") && !power.contains("panicked"),
        "{power}"
    );
    let threshold = said("threshold-nvme2");
    assert!(threshold.contains("No temperature threshold is reported"), "{threshold}");
}
