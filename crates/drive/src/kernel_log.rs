//! The kernel's log about one drive: aborted commands, resets, and a drive that left the bus.
//!
//! Opened before a run and read after it: the kernel keeps its log meanwhile. Only lines are taken that begin with a name of
//! this drive, its SCSI host, its USB port, its ATA port or its NVMe controller, and that say one of a few things; a log
//! holds much that is nobody's business. Format: Linux `Documentation/ABI/testing/dev-kmsg`.
//!
//! # What it does not do
//! It proves nothing by its silence: reading the log may be forbidden (`kernel.dmesg_restrict`), and a busy kernel may have
//! overwritten it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use measure::patient;
use measure::record::{TransportEvent, TransportEventKind};
use measure::time::{monotonic_ns, monotonic_raw_ns};
use rustix::fs::{OFlags, SeekFrom, seek};

use crate::sysfs::controllers;

/// Kept of a run: a bridge that resets each 30 s does so 120 times an hour.
const EVENTS_MAX: usize = 200;
const TEXT_CHARS_MAX: usize = 200;
/// The kernel's own limit of a record (`PRINTK_MESSAGE_MAX`).
const RECORD_BYTES_MAX: usize = 8192;
/// More than its ring holds: nobody can make us read for ever.
const RECORDS_MAX: usize = 1 << 20;

/// The log from here on, of one drive.
#[derive(Debug)]
pub struct KernelLog {
    file: File,
    names: Vec<String>,
}

impl KernelLog {
    /// Of `disk`, a name such as `sda`; `None` where the log cannot be read.
    pub fn open(sysfs: &Path, disk: &str) -> Option<Self> {
        let names = names_of(sysfs, disk)?;
        let file = patient::open_with(Path::new("/dev/kmsg"), OFlags::RDONLY | OFlags::NONBLOCK).ok()?;
        seek(&file, SeekFrom::End(0)).ok()?;
        Some(Self { file, names })
    }

    /// What came since it was opened, but not before `zero_ns` of `CLOCK_MONOTONIC`, from which times count.
    ///
    /// The kernel stamps lines by a clock that nobody steers; what the two clocks differ by now is taken for what they
    /// differed by then.
    pub fn events_since(&mut self, zero_ns: u64) -> Vec<TransportEvent> {
        let ahead_ns = i128::from(monotonic_ns()) - i128::from(monotonic_raw_ns());
        let mut events = Vec::new();
        let mut record = vec![0; RECORD_BYTES_MAX];
        for _ in 0..RECORDS_MAX {
            match self.file.read(&mut record) {
                Ok(0) => break,
                Ok(len) => {
                    let line = String::from_utf8_lossy(&record[..len]);
                    let event = decode(&line, &self.names).and_then(|(stamp_us, kind, text)| {
                        let t_ns = i128::from(stamp_us) * 1000 + ahead_ns - i128::from(zero_ns);
                        Some(TransportEvent { t_ns: u64::try_from(t_ns).ok()?, kind, text })
                    });
                    events.extend(event);
                }
                // Lines were overwritten before they were read; the next one is there.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
            if events.len() >= EVENTS_MAX {
                break;
            }
        }
        events
    }
}

/// What lines about `disk` begin with; `None` where the kernel has no such disk.
fn names_of(sysfs: &Path, disk: &str) -> Option<Vec<String>> {
    let place = fs::canonicalize(sysfs.join("class/block").join(disk)).ok()?;
    let mut names = vec![format!("{disk}:")];
    names.extend(controllers(&place).iter().map(|controller| format!("nvme {controller}:")));
    for folder in place.ancestors().take_while(|folder| folder.starts_with(sysfs)) {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let prefixed = |prefix: &str| name.strip_prefix(prefix).is_some_and(is_number);
        if prefixed("host") {
            names.push(format!("scsi {name}:"));
        } else if prefixed("ata") {
            names.extend([format!("{name}:"), format!("{name}.")]);
        } else if prefixed("nvme") {
            names.push(format!("nvme {name}:"));
        } else if name.split(':').count() == 4 && name.split(':').all(is_number) {
            names.extend([format!("sd {name}:"), format!("scsi {name}:")]);
        } else if folder.join("idVendor").is_file() {
            names.push(format!("usb {name}:"));
            break;
        } else if folder.join("bInterfaceProtocol").is_file() {
            names.extend([format!("uas {name}:"), format!("usb-storage {name}:")]);
        }
    }
    Some(names)
}

/// `priority,sequence,microseconds,flags;text`, and lines of a dictionary that begin with a blank.
fn decode(record: &str, names: &[String]) -> Option<(u64, TransportEventKind, String)> {
    let (head, text) = record.split_once(';')?;
    let text = text.lines().next()?;
    if !names.iter().any(|name| text.starts_with(name.as_str())) {
        return None;
    }
    let stamp_us = head.split(',').nth(2)?.parse().ok()?;
    Some((stamp_us, kind_of(text)?, text.trim_end().chars().take(TEXT_CHARS_MAX).collect()))
}

/// Words of drivers/usb/storage/uas.c, drivers/usb/core/hub.c, drivers/scsi/scsi_error.c, drivers/ata/libata-eh.c and
/// drivers/nvme/host/pci.c, Linux 6.1 to 6.12.
fn kind_of(text: &str) -> Option<TransportEventKind> {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["USB disconnect", "Device offlined", "Disabling device", "disable device"]) {
        Some(TransportEventKind::Gone)
    } else if has(&[
        "_reset_handler",
        "reset SuperSpeed",
        "reset high-speed",
        "reset full-speed",
        "resetting link",
        "reset controller",
        "controller is down",
    ]) {
        Some(TransportEventKind::Reset)
    } else if has(&["abort", "timeout", "timed out", "timing out command"]) {
        Some(TransportEventKind::Abort)
    } else {
        None
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::usb::test::usb_tree;

    #[test]
    fn lines_of_this_drive_alone_are_taken() {
        let dir = usb_tree(&[("idVendor", b"0bda\n"), ("idProduct", b"9210\n")], "62", "5000");
        let sysfs = fs::canonicalize(dir.path()).expect("a tree");
        let names = names_of(&sysfs, "sdb").expect("a disk");
        // Lines as of a Raspberry Pi with an EX400U (smartmontools issue 490), and of others at the same time.
        let kind = |text: &str| {
            decode(&format!("6,1234,260383719,-;{text}\n SUBSYSTEM=scsi\n"), &names).map(|(_, kind, _)| kind)
        };
        for (text, expected) in [
            (
                "sd 3:0:0:0: [sdb] tag#12 uas_eh_abort_handler 0 uas-tag 1 inflight: CMD IN",
                Some(TransportEventKind::Abort),
            ),
            ("scsi host3: uas_eh_device_reset_handler start", Some(TransportEventKind::Reset)),
            (
                "usb 2-1: reset SuperSpeed Plus Gen 2x1 USB device number 2 using xhci_hcd",
                Some(TransportEventKind::Reset),
            ),
            ("usb 2-1: USB disconnect, device number 2", Some(TransportEventKind::Gone)),
            ("sd 3:0:0:0: Device offlined - not ready after error recovery", Some(TransportEventKind::Gone)),
            ("sd 3:0:0:0: [sdb] tag#12 CDB: Read(10) 28 00 0d 36 2f 70 00 00 40 00", None),
            ("sd 4:0:0:0: [sdc] tag#12 uas_eh_abort_handler 0 uas-tag 1 inflight: CMD IN", None),
            ("usb 2-11: USB disconnect, device number 2", None),
            ("scsi host33: uas_eh_device_reset_handler start", None),
            ("audit: usb 2-1: USB disconnect, device number 2", None),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
        let (stamp_us, _, text) = decode("6,1,7,-;usb 2-1: USB disconnect", &names).expect("a line");
        assert_eq!((stamp_us, text.as_str()), (7, "usb 2-1: USB disconnect"));
        for bad in ["", ";", "6,1;usb 2-1: USB disconnect", "6,1,x,-;usb 2-1: USB disconnect", "6,1,7,-;"] {
            assert_eq!(decode(bad, &names), None, "{bad}");
        }
        let long = decode(&format!("6,1,7,-;usb 2-1: USB disconnect {}", "\u{fc}".repeat(9000)), &names);
        assert_eq!(long.map(|(_, _, text)| text.chars().count()), Some(TEXT_CHARS_MAX));
        assert_eq!(names_of(&sysfs, "sdz"), None);
    }
}
