//! Made-up USB trees at every speed and by both protocols.

use std::os::unix::fs::symlink;

use super::*;

/// A disk behind a bridge: files of the USB device, of its interface and of the hub before it.
pub(crate) fn usb_tree(device: &[(&str, &[u8])], protocol: &str, hub: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a scratch folder");
    let root = dir.path().join("devices/pci0/usb2");
    let disk = root.join("2-1/2-1:1.0/host3/target3:0:0/3:0:0:0/block/sdb");
    fs::create_dir_all(&disk).expect("made");
    fs::create_dir_all(dir.path().join("class/block")).expect("made");
    symlink(&disk, dir.path().join("class/block/sdb")).expect("linked");
    symlink("../..", disk.join("device")).expect("linked");
    fs::write(disk.join("../../queue_depth"), "30\n").expect("written");
    fs::write(root.join("speed"), format!("{hub}\n")).expect("written");
    fs::write(root.join("2-1/2-1:1.0/bInterfaceProtocol"), format!("{protocol}\n")).expect("written");
    for (name, content) in device {
        fs::write(root.join("2-1").join(name), content).expect("written");
    }
    dir
}

/// A binary object store that names 5 Gb/s, and with `plus` so many Gb/s on so many lanes.
pub(crate) fn object_store(plus: Option<(u32, u8)>) -> Vec<u8> {
    let mut store = vec![5, 0x0f, 42, 0, 2, 10, 0x10, 0x03, 0, 0x0e, 0, 1, 10, 0xff, 7];
    if let Some((gigabits, lanes)) = plus {
        let speed = gigabits << 16 | 3 << 4;
        let words = [speed.to_le_bytes(), (speed | 0x80).to_le_bytes()].concat();
        store.extend([20, 0x10, 0x0a, 0, 1, 0, 0, 0, 0, 0x10 | lanes, 0, 0]);
        store.extend(words);
    }
    store
}

#[test]
fn link_and_protocol_are_told_at_every_speed() {
    let uas: &[u8] = &[
        18, 1, 0x20, 3, 0, 0, 0, 9, 0xda, 0x0b, 0x10, 0x92, 1, 0x20, 1, 2, 3, 1, 9, 4, 0, 1, 4, 8, 6, 0x62, 0,
    ];
    let bot: &[u8] = &[9, 4, 0, 0, 2, 8, 6, 0x50, 0];
    let (five, ten, twenty) = (object_store(None), object_store(Some((10, 1))), object_store(Some((10, 2))));
    type Case<'a> = (&'a str, &'a [u8], &'a [u8], &'a str, &'a str, Option<u32>, Option<&'a str>);
    let cases: [Case<'_>; 6] = [
        ("480", bot, &five, "50", "480", Some(5000), Some("check cable, port and hub")),
        ("5000", uas, &five, "62", "5000", None, None),
        ("5000", uas, &ten, "62", "5000", Some(10_000), Some("the port or hub before it runs at 5000 Mb/s")),
        ("5000", uas, &ten, "50", "10000", Some(10_000), Some("check cable")),
        ("10000", uas, &ten, "62", "10000", None, None),
        ("20000", uas, &twenty, "62", "20000", None, None),
    ];
    for (speed, descriptors, store, protocol, hub, possible, why) in cases {
        let dir = usb_tree(
            &[
                ("idVendor", b"0bda\n"),
                ("idProduct", b"9210\n"),
                ("bcdDevice", b"2001\n"),
                ("bMaxPower", b"896mA\n"),
                ("speed", speed.as_bytes()),
                ("descriptors", descriptors),
                ("bos_descriptors", store),
            ],
            protocol,
            hub,
        );
        let sys = fs::canonicalize(dir.path()).expect("it is there");
        let bridge = UsbBridge::of_disk(&sys, "sdb").expect("a bridge");
        assert_eq!(bridge.text(), "Realtek RTL9210 (0bda:9210 version 2001)");
        assert_eq!(
            bridge.protocol.map(UsbProtocol::name),
            Some(if protocol == "62" { "UAS" } else { "BOT" })
        );
        assert_eq!(bridge.offers_uas, Some(descriptors == uas), "{bridge:?}");
        assert_eq!(bridge.speed_mbps.map(|mbps| mbps.to_string()).as_deref(), Some(speed));
        assert_eq!(bridge.possible_mbps(), possible, "{bridge:?}");
        assert_eq!((bridge.max_power_ma, bridge.queue_depth), (Some(896), Some(30)));
        let told = bridge.slow_link();
        assert_eq!(told.is_some(), why.is_some(), "{told:?}");
        assert!(why.is_none_or(|why| told.as_ref().is_some_and(|told| told.contains(why))), "{told:?}");
    }
}

#[test]
fn what_is_cut_short_is_not_known() {
    for bytes in [&[][..], &[0], &[1, 1], &[200, 4, 0], &[20, 0x10, 0x0a], &[2, 0x10, 9, 4]] {
        assert!(!offers_uas(bytes));
        assert_eq!(able_mbps(bytes), None);
    }
    let dir = usb_tree(&[("idVendor", b"abcd"), ("idProduct", b"0001")], "zz", "nonsense");
    let sys = fs::canonicalize(dir.path()).expect("it is there");
    let bridge = UsbBridge::of_disk(&sys, "sdb").expect("a bridge");
    assert_eq!(
        (bridge.protocol, bridge.speed_mbps, bridge.port_mbps, bridge.slow_link()),
        (None, None, None, None)
    );
    assert_eq!(bridge.text(), "unknown chip (abcd:0001)");
    assert_eq!(UsbBridge::of_disk(&sys, "sda"), None);
}
