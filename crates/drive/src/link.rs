//! The link between host and drive, for the manifest: what it carries now, and what it could.
//!
//! Read from sysfs by walking up from the disk to the first device that has a link speed: a PCIe function, a USB
//! device, or a SATA port. Nothing is opened but sysfs, whose folder is a parameter. A link that is not
//! described there (virtual disks, most fabrics) is not known.
//!
//! Rates: PCIe Base 6.0 (2.5 and 5 GT/s 8b/10b, 8 to 32 GT/s 128b/130b, 64 GT/s 242 of 256 bytes a flit), USB 3.2
//! (5 Gb/s 8b/10b, 10 Gb/s a lane 128b/132b), SATA 3 (8b/10b). Headers of packets are taken off of USB 2.0 alone, which
//! states what is left.

use std::fs;
use std::path::Path;

use measure::record::LinkFacts;

use crate::sysfs::{controllers, text};
use crate::usb::UsbBridge;

/// Of 480 Mb/s: 13 bulk packets of 512 B in each microframe of 125 us (USB 2.0, table 5-10).
const USB2_PAYLOAD: f64 = 13.0 * 512.0 * 8.0 / 60_000.0;

/// The link of `disk`, a name such as `nvme0n1`, below `sysfs`; `None` where it is not described.
pub fn of_disk(sysfs: &Path, disk: &str) -> Option<LinkFacts> {
    let place = fs::canonicalize(sysfs.join("class/block").join(disk)).ok()?;
    // With native multipath the disk hangs on a subsystem; one of its controllers leads to the link.
    let controllers = controllers(&place);
    let controller =
        controllers.first().and_then(|name| fs::canonicalize(place.join("device").join(name)).ok());
    let start =
        if place.components().any(|part| part.as_os_str() == "virtual") { controller? } else { place };
    let mut folders = start.ancestors().take_while(|folder| folder.starts_with(sysfs));
    folders.find_map(|folder| link_of(sysfs, folder, &start))
}

fn link_of(sysfs: &Path, device: &Path, disk: &Path) -> Option<LinkFacts> {
    pcie(device).or_else(|| usb(device, disk)).or_else(|| sata(sysfs, device))
}

/// `current_link_speed` is "8.0 GT/s PCIe", `current_link_width` "4"
/// (Documentation/ABI/testing/sysfs-bus-pci).
fn pcie(device: &Path) -> Option<LinkFacts> {
    let ceiling = |speed: &str, width: &str| {
        let giga_transfers: f64 = text(&device.join(speed))?.split(' ').next()?.parse().ok()?;
        let lanes: f64 = text(&device.join(width))?.parse().ok()?;
        let efficiency = match giga_transfers {
            ..=5.0 => 0.8,
            ..=32.0 => 128.0 / 130.0,
            _ => 242.0 / 256.0,
        };
        (lanes > 0.0).then_some((giga_transfers, lanes, giga_transfers * 1e9 / 8.0 * efficiency * lanes))
    };
    let (speed, lanes, now) = ceiling("current_link_speed", "current_link_width")?;
    Some(LinkFacts {
        name: format!("PCIe {speed:.1} GT/s x{lanes}"),
        ceiling_bytes_per_s: now,
        possible_bytes_per_s: ceiling("max_link_speed", "max_link_width")
            .map(|(_, _, most)| most)
            .filter(|most| *most > now),
    })
}

/// `speed` is in Mb/s (Documentation/ABI/stable/sysfs-bus-usb); a hub's ports are devices of their own. With the protocol:
/// runs over UAS and BOT are not runs over the same link.
fn usb(device: &Path, disk: &Path) -> Option<LinkFacts> {
    // Only a USB device has both; network devices have a `speed` as well.
    text(&device.join("bDeviceClass"))?;
    let megabits: f64 = text(&device.join("speed"))?.parse().ok()?;
    let rate = |megabits: f64| {
        let efficiency = match megabits {
            ..=480.0 => USB2_PAYLOAD,
            ..=5000.0 => 0.8,
            _ => 128.0 / 132.0,
        };
        megabits * 1e6 / 8.0 * efficiency
    };
    let bridge = UsbBridge::at(device, disk);
    let protocol = bridge.as_ref().and_then(|bridge| bridge.protocol);
    let protocol = protocol.map_or(String::new(), |protocol| format!(", {}", protocol.name()));
    Some(LinkFacts {
        name: format!("USB {megabits} Mb/s{protocol}"),
        ceiling_bytes_per_s: rate(megabits),
        possible_bytes_per_s: bridge
            .and_then(|bridge| bridge.possible_mbps())
            .map(|possible| rate(possible.into())),
    })
}

/// A port `ata1` has its speed in `class/ata_link/link1/sata_spd`: "6.0 Gbps", or `<unknown>`.
fn sata(sysfs: &Path, device: &Path) -> Option<LinkFacts> {
    let port = device.file_name()?.to_str()?.strip_prefix("ata")?;
    let link = sysfs.join("class/ata_link").join(format!("link{port}"));
    let speed = |name: &str| text(&link.join(name))?.strip_suffix(" Gbps")?.parse::<f64>().ok();
    let rate = |gigabits: f64| gigabits * 1e9 / 8.0 * 0.8;
    let now = speed("sata_spd")?;
    Some(LinkFacts {
        name: format!("SATA {now} Gb/s"),
        ceiling_bytes_per_s: rate(now),
        possible_bytes_per_s: speed("hw_sata_spd_limit").filter(|most| *most > now).map(rate),
    })
}

#[cfg(test)]
mod test {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    /// A sysfs with one disk at its real place, and files beside it.
    fn tree(place: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a scratch folder");
        let sysfs = fs::canonicalize(dir.path()).expect("a scratch folder");
        let real = sysfs.join("devices").join(place);
        fs::create_dir_all(&real).expect("a scratch folder");
        fs::create_dir_all(sysfs.join("class/block")).expect("a scratch folder");
        symlink(&real, sysfs.join("class/block/disk")).expect("a scratch link");
        for (path, content) in files {
            let path = sysfs.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a scratch folder");
            fs::write(path, content).expect("a scratch file");
        }
        (dir, sysfs)
    }

    /// Goal: the figure that the seed experiments quote for Gen3 x4, 31.504 Gb/s.
    #[test]
    fn pcie_has_its_line_coding_taken_off() {
        let function = "devices/pci0000:00/0000:01:00.0";
        let files = [
            ("current_link_speed", "8.0 GT/s PCIe\n"),
            ("current_link_width", "4\n"),
            ("max_link_speed", "16.0 GT/s PCIe\n"),
            ("max_link_width", "4\n"),
        ]
        .map(|(name, content)| (format!("{function}/{name}"), content));
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, content)| (name.as_str(), *content)).collect();
        let (_dir, sysfs) = tree("pci0000:00/0000:01:00.0/nvme/nvme0/disk", &files);
        let link = of_disk(&sysfs, "disk").expect("a link");
        assert_eq!(link.name, "PCIe 8.0 GT/s x4");
        assert!((link.ceiling_bytes_per_s * 8.0 / 1e9 - 31.508).abs() < 0.005, "{link:?}");
        assert!(
            link.possible_bytes_per_s
                .is_some_and(|most| (most / link.ceiling_bytes_per_s - 2.0).abs() < 1e-9)
        );
    }

    #[test]
    fn a_usb_bridge_is_as_fast_as_its_port() {
        let device = "devices/pci0/usb2/2-1";
        let files = [(format!("{device}/speed"), "10000\n"), (format!("{device}/bDeviceClass"), "00\n")];
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, content)| (name.as_str(), *content)).collect();
        let (_dir, sysfs) = tree("pci0/usb2/2-1/2-1:1.0/host1/target1/1:0:0:0/block/disk", &files);
        let link = of_disk(&sysfs, "disk").expect("a link");
        assert_eq!(link.name, "USB 10000 Mb/s");
        assert!((link.ceiling_bytes_per_s - 1.212e9).abs() < 1e6, "{link:?}");
    }

    #[test]
    fn a_fast_bridge_on_a_slow_port_could_do_more() {
        let device = "devices/pci0/usb2/2-1";
        let files = [
            (format!("{device}/speed"), "5000\n"),
            (format!("{device}/bDeviceClass"), "00\n"),
            (format!("{device}/idVendor"), "0bda\n"),
            (format!("{device}/idProduct"), "9210\n"),
            (format!("{device}/2-1:1.0/bInterfaceProtocol"), "50\n"),
        ];
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, content)| (name.as_str(), *content)).collect();
        let (_dir, sysfs) = tree("pci0/usb2/2-1/2-1:1.0/host1/target1/1:0:0:0/block/disk", &files);
        let store = [20, 0x10, 0x0a, 0, 0, 0, 0, 0, 0, 0x11, 0, 0, 0x30, 0, 10, 0, 0xb0, 0, 10, 0];
        fs::write(sysfs.join(device).join("bos_descriptors"), store).expect("a scratch file");
        let link = of_disk(&sysfs, "disk").expect("a link");
        assert_eq!((link.name.as_str(), link.ceiling_bytes_per_s), ("USB 5000 Mb/s, BOT", 500e6));
        assert!(link.possible_bytes_per_s.is_some_and(|most| (most - 1.212e9).abs() < 1e6), "{link:?}");
    }

    #[test]
    fn sata_tells_what_it_negotiated_and_what_it_could() {
        let files = [
            ("class/ata_link/link1/sata_spd", "3.0 Gbps\n"),
            ("class/ata_link/link1/hw_sata_spd_limit", "6.0 Gbps\n"),
        ];
        let (_dir, sysfs) = tree("pci0/ata1/host0/target0/0:0:0:0/block/disk", &files);
        let link = of_disk(&sysfs, "disk").expect("a link");
        assert_eq!((link.name.as_str(), link.ceiling_bytes_per_s), ("SATA 3 Gb/s", 300e6));
        assert_eq!(link.possible_bytes_per_s, Some(600e6));
    }

    #[test]
    fn what_is_not_described_is_not_known() {
        let (_dir, sysfs) = tree("pci0/virtio1/block/disk", &[]);
        assert_eq!(of_disk(&sysfs, "disk"), None);
        assert_eq!(of_disk(&sysfs, "other"), None);
    }
}
