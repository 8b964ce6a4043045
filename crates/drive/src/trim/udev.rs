//! A udev rule that switches TRIM on for one drive behind one bridge, and stays ahead of the kernel.
//!
//! The rule is for the event of the *block* device. The one that is passed around is for `scsi_disk`, whose event Linux
//! sends before it has looked at the disk: then it sets `provisioning_mode` anew (Linux 6.12, `sd_revalidate_disk`), and
//! what the rule had written is gone.
//!
//! Later looks at the disk that come with an event run the rule again. Which they are, by the source of Linux 6.12: udev
//! itself sends `change` of the disk when somebody who wrote to it closes it (its rules watch every disk), which is what
//! partitioning tools do; `BLKRRPART` alone sends none of the disk, but takes each partition away and adds it again
//! (`bdev_disk_changed`), so a second rule is for the partitions. Without partitions `BLKRRPART` has no event at all, and
//! neither has `device/rescan` nor a write to `cache_type` (`sd_revalidate_disk` tells a new size only): no rule can know
//! of these.

use crate::DriveIdentity;
use crate::usb::UsbBridge;

/// A rule, and what is to be known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UdevRule {
    /// Comment and rule, as a file below `/etc/udev/rules.d`.
    pub text: String,
    /// Why it may match more than this drive, or nothing.
    pub notes: Vec<String>,
}

/// What may not stand in a rule's string: its end, udev's own patterns and substitutions, line ends.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| !letter.is_control() && !"\"\\$%*?[]|".contains(letter))
}

/// The rule for a drive: UNMAP of at most `most_bytes` in one command.
///
/// # Errors
/// A sentence: there is nothing to know the drive by.
pub fn udev_rule(
    identity: &DriveIdentity,
    bridge: Option<&UsbBridge>,
    scsi: Option<(&str, &str)>,
    most_bytes: u64,
) -> Result<UdevRule, String> {
    let mut notes = Vec::new();
    let matches = match (bridge, scsi) {
        (Some(bridge), _) => of_bridge(bridge, &mut notes),
        // The two attributes are of one device, the SCSI unit, which pads them with blanks.
        (None, Some((vendor, model))) if is_plain(vendor) && is_plain(model) => {
            notes.push(
                "it matches every drive of this vendor and model: no serial number is shown by sysfs"
                    .to_owned(),
            );
            format!("ATTRS{{vendor}}==\"{vendor}*\", ATTRS{{model}}==\"{model}*\"")
        }
        _ => {
            return Err(format!(
                "there is nothing in sysfs to know {identity} by: neither a USB id nor a SCSI vendor and model"
            ));
        }
    };
    let name = identity.to_string().replace(char::is_control, " ");
    let rule = |kind: &str, device: &str, disk: &str| {
        // Mode first: in `full` the kernel takes no limit. Nothing but the shell's own commands, because udev starts it
        // without a PATH; `$$` is udev's way to write `$`.
        format!(
            "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"{kind}\", KERNEL==\"sd*\", {matches}, \
             RUN+=\"/bin/sh -c 'for knob in {device}/scsi_disk/*/provisioning_mode; do echo unmap > $$knob; done; \
             echo {most_bytes} > {disk}/queue/discard_max_bytes'\"\n"
        )
    };
    let text = format!(
        "# TRIM for {name}\n{}# When its partition table is read again the kernel takes the mode back and adds the partitions anew.\n{}",
        rule("disk", "/sys%p/../..", "/sys%p"),
        rule("partition", "/sys%p/../../..", "/sys%p/..")
    );
    Ok(UdevRule { text, notes })
}

/// All of it on one device, the USB device: attributes of different parents would match nothing, silently.
fn of_bridge(bridge: &UsbBridge, notes: &mut Vec<String>) -> String {
    let mut matches =
        format!("ATTRS{{idVendor}}==\"{}\", ATTRS{{idProduct}}==\"{}\"", bridge.vendor_id, bridge.product_id);
    match bridge.version.as_deref().filter(|version| is_plain(version)) {
        Some(version) => matches.push_str(&format!(", ATTRS{{bcdDevice}}==\"{version}\"")),
        None => notes.push("it matches every version of this bridge: sysfs shows none".to_owned()),
    }
    match bridge.serial.as_deref().filter(|serial| is_plain(serial)) {
        Some(serial) => {
            matches.push_str(&format!(", ATTRS{{serial}}==\"{serial}\""));
            notes.push(
                "the ids are those of the bridge: another drive in this enclosure matches too".to_owned(),
            );
        }
        None => notes.push(
            "the ids are those of the bridge, which tells no serial number: every enclosure with it matches"
                .to_owned(),
        ),
    }
    matches
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::system::DriveKind;

    fn identity() -> DriveIdentity {
        DriveIdentity {
            kind: DriveKind::Usb,
            model: Some("Realtek RTL9210B-CG\nACTION".to_owned()),
            serial: Some("1".to_owned()),
            firmware: None,
            wwn: None,
            size_bytes: 0,
        }
    }

    #[test]
    fn a_rule_is_for_the_block_event_of_one_bridge() {
        let bridge = UsbBridge {
            serial: Some("012345678999".to_owned()),
            version: Some("2001".to_owned()),
            ..UsbBridge::unknown("0bda", "9210")
        };
        let rule = udev_rule(&identity(), Some(&bridge), None, 1 << 20).expect("a rule");
        let line = rule.text.lines().nth(1).expect("a rule");
        assert_eq!(
            line,
            "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", KERNEL==\"sd*\", \
             ATTRS{idVendor}==\"0bda\", ATTRS{idProduct}==\"9210\", ATTRS{bcdDevice}==\"2001\", \
             ATTRS{serial}==\"012345678999\", RUN+=\"/bin/sh -c 'for knob in \
             /sys%p/../../scsi_disk/*/provisioning_mode; do echo unmap > $$knob; done; \
             echo 1048576 > /sys%p/queue/discard_max_bytes'\""
        );
        let partition = rule.text.lines().nth(3).expect("a second rule");
        assert!(
            partition.contains("ENV{DEVTYPE}==\"partition\"")
                && partition.contains("/sys%p/../../../scsi_disk/*/")
                && partition.contains("/sys%p/../queue/"),
            "{partition}"
        );
        assert_eq!(rule.text.lines().count(), 4, "a name must not become a rule: {}", rule.text);
    }

    #[test]
    fn names_that_would_be_patterns_are_left_out() {
        let bridge = UsbBridge { serial: Some("a*\"b".to_owned()), ..UsbBridge::unknown("0bda", "9210") };
        let rule = udev_rule(&identity(), Some(&bridge), None, 4096).expect("a rule");
        assert!(!rule.text.contains("ATTRS{serial}") && rule.notes.len() == 2, "{rule:?}");
        assert!(udev_rule(&identity(), None, Some(("A\"", "b")), 1).is_err());
        assert!(udev_rule(&identity(), None, None, 1).is_err());
    }
}
