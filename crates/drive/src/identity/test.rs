//! Drives of every transport in made-up trees: each is told by the same names wherever it is asked.

use std::os::unix::fs::symlink;

use super::*;

/// A sysfs in a scratch folder.
struct SysfsTree(tempfile::TempDir);

impl SysfsTree {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a scratch folder"))
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.0.path().join("devices").join(path);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a scratch folder");
        fs::write(path, content).expect("a scratch file");
    }

    /// A disk at its real place, with the device that it is of.
    fn disk(&self, place: &str, device: &str) {
        let name = place.rsplit('/').next().expect("a name");
        self.write(&format!("{place}/size"), "2048\n");
        let link = |target: &Path, link: &Path| {
            fs::create_dir_all(link.parent().expect("a folder")).expect("a scratch folder");
            symlink(target, link).expect("a scratch link");
        };
        let root = self.0.path();
        link(&root.join("devices").join(place), &root.join("class/block").join(name));
        if !device.is_empty() {
            link(&root.join("devices").join(device), &root.join("devices").join(place).join("device"));
        }
    }

    fn identity(&self, name: &str) -> DriveIdentity {
        DriveIdentity::read(self.0.path(), name).expect("it is there")
    }
}

/// Page 89h as libata answers it, with these names in IDENTIFY DEVICE data.
fn page_89(serial: &str, firmware: &str, model: &str) -> Vec<u8> {
    let mut page = vec![0; 572];
    page[..4].copy_from_slice(&[0, 0x89, 0x02, 0x38]);
    for (first, len, text) in [(10, 20, serial), (23, 8, firmware), (27, 40, model)] {
        let padded = format!("{text:<len$}");
        for (word, letters) in padded.as_bytes().chunks_exact(2).enumerate() {
            let at = 60 + 2 * (first + word);
            (page[at], page[at + 1]) = (letters[1], letters[0]);
        }
    }
    page
}

type ToldNames<'a> = (&'a str, Option<&'a str>, Option<&'a str>, Option<&'a str>, Option<&'a str>);

fn names_of(identity: &DriveIdentity) -> ToldNames<'_> {
    let DriveIdentity { kind, model, serial, firmware, wwn, .. } = identity;
    (kind.name(), model.as_deref(), serial.as_deref(), firmware.as_deref(), wwn.as_deref())
}

#[test]
fn every_transport_tells_who_it_is() {
    let tree = SysfsTree::new();
    tree.disk("pci0/nvme/nvme0/nvme0n1", "pci0/nvme/nvme0");
    tree.write("pci0/nvme/nvme0/model", "Example NVMe 1TB                        \n");
    tree.write("pci0/nvme/nvme0/serial", "NV9   \n");
    tree.write("pci0/nvme/nvme0/firmware_rev", "1B2Q    \n");
    tree.write("pci0/nvme/nvme0/nvme0n1/wwid", "eui.0025385a91b2c3d4\n");
    let sata = "pci0/ata1/host0/target0:0:0/0:0:0:0";
    tree.disk(&format!("{sata}/block/sda"), sata);
    for (name, content) in [("vendor", "ATA     \n"), ("model", "Samsung SSD 860 \n"), ("rev", "2B6Q\n")] {
        tree.write(&format!("{sata}/{name}"), content);
    }
    tree.write(&format!("{sata}/vpd_pg80"), b"\0\x80\0\x14     S3Z9NB0K123456X");
    tree.write(&format!("{sata}/wwid"), "naa.5002538e40a1b2c3\n");
    tree.write(&format!("{sata}/block/sda/sda1/partition"), "1\n");
    symlink(
        tree.0.path().join("devices").join(sata).join("block/sda/sda1"),
        tree.0.path().join("class/block/sda1"),
    )
    .expect("a scratch link");
    let usb = "pci0/usb2/2-1/2-1:1.0/host3/target3:0:0/3:0:0:0";
    tree.disk(&format!("{usb}/block/sdb"), usb);
    for (name, content) in [("vendor", "Realtek \n"), ("model", "RTL9210B-CG\n"), ("rev", "1.00\n")] {
        tree.write(&format!("{usb}/{name}"), content);
    }
    tree.write("pci0/usb2/2-1/idVendor", "0bda\n");
    tree.write("pci0/usb2/2-1/serial", "012345678999\n");
    tree.disk("pci0/virtio1/block/vda", "pci0/virtio1");
    tree.write("pci0/virtio1/vendor", "0x1af4\n");
    tree.write("pci0/virtio1/block/vda/serial", "VIRT1\n");
    tree.disk("soc/mmc0/mmc0:0001/block/mmcblk0", "soc/mmc0/mmc0:0001");
    for (name, content) in [("name", "DG4064\n"), ("serial", "0x1234\n"), ("fwrev", "0x1\n")] {
        tree.write(&format!("soc/mmc0/mmc0:0001/{name}"), content);
    }

    let nvme = ("nvme", Some("Example NVMe 1TB"), Some("NV9"), Some("1B2Q"), Some("eui.0025385a91b2c3d4"));
    assert_eq!(names_of(&tree.identity("nvme0n1")), nvme);
    let wwn = Some("naa.5002538e40a1b2c3");
    let cut = ("sata", Some("Samsung SSD 860"), Some("S3Z9NB0K123456X"), Some("2B6Q"), wwn);
    assert_eq!(names_of(&tree.identity("sda")), cut, "a kernel without page 89h");
    tree.write(
        &format!("{sata}/vpd_pg89"),
        page_89("S3Z9NB0K123456X", "RVT02B6Q", "Samsung SSD 860 EVO 500GB"),
    );
    let whole = ("sata", Some("Samsung SSD 860 EVO 500GB"), Some("S3Z9NB0K123456X"), Some("RVT02B6Q"), wwn);
    assert_eq!(names_of(&tree.identity("sda")), whole);
    assert_eq!(names_of(&tree.identity("sda1")), whole, "a partition is its disk's");
    assert_eq!(tree.identity("sda1").size(), Bytes::new(1 << 20));
    let bridge = ("usb", Some("Realtek RTL9210B-CG"), Some("012345678999"), Some("1.00"), None);
    assert_eq!(names_of(&tree.identity("sdb")), bridge);
    // A page that is not this drive's, as scsi_debug gives it.
    tree.write(&format!("{usb}/vpd_pg89"), page_89("S1", "F1", "The drive in it"));
    assert_eq!(names_of(&tree.identity("sdb")), bridge);
    tree.write(&format!("{usb}/vpd_pg80"), b"\0\x80\0\x02S1");
    assert_eq!(
        names_of(&tree.identity("sdb")),
        ("usb", Some("The drive in it"), Some("S1"), Some("F1"), None)
    );
    assert_eq!(names_of(&tree.identity("vda")), ("virtio", None, Some("VIRT1"), None, None));
    assert_eq!(
        names_of(&tree.identity("mmcblk0")),
        ("mmc", Some("DG4064"), Some("0x1234"), Some("0x1"), None)
    );
    assert_eq!(DriveIdentity::read(tree.0.path(), "sdz"), None);
}

/// Goal: what is built on one drive is known by that drive's names, and what is built on none or several has none.
#[test]
fn layers_are_known_by_the_one_drive_below_them() {
    let tree = SysfsTree::new();
    tree.disk("pci0/nvme/nvme0/nvme0n1", "pci0/nvme/nvme0");
    tree.write("pci0/nvme/nvme0/serial", "NV9\n");
    for (name, file, content) in [
        ("dm-0", "slaves/nvme0n1", ""),
        ("dm-1", "slaves/dm-0", ""),
        ("md0", "slaves/nvme0n1", ""),
        ("md0", "slaves/dm-0", ""),
        ("loop0", "loop/backing_file", "/dev/nvme0n1\n"),
        ("loop1", "loop/backing_file", "/var/tmp/x.img\n"),
    ] {
        let place = format!("virtual/block/{name}");
        if !tree.0.path().join("class/block").join(name).exists() {
            tree.disk(&place, "");
        }
        tree.write(&format!("{place}/{file}"), content);
    }
    for (name, serial) in
        [("dm-0", Some("NV9")), ("dm-1", Some("NV9")), ("md0", None), ("loop0", Some("NV9")), ("loop1", None)]
    {
        let identity = tree.identity(name);
        assert_eq!((identity.serial.as_deref(), identity.kind.name()), (serial, "other"), "{name}");
    }
}

/// Goal: a name that the kernel has made of model and serial number is not taken for a world wide one.
#[test]
fn names_that_are_not_world_wide_are_none() {
    for (wwid, known) in [
        ("naa.5000c500a1b2c3d4", true),
        ("uuid.6f0f", true),
        ("t10.ATA     QEMU HARDDISK", false),
        ("nvme.1b36-4e564d4531-51454d55-00000001", false),
    ] {
        let tree = SysfsTree::new();
        tree.disk("pci0/ata1/x/block/sda", "pci0/ata1/x");
        tree.write("pci0/ata1/x/wwid", wwid);
        assert_eq!(tree.identity("sda").wwn.is_some(), known, "{wwid}");
    }
}

/// Goal: a page 89h that is cut short, or holds what is no text, leaves what the kernel knows without it.
#[test]
fn a_bad_page_89_is_no_name() {
    for spoil in [
        |page: &mut Vec<u8>| page.truncate(60),
        |page: &mut Vec<u8>| page[60..].fill(0xff),
        |page: &mut Vec<u8>| page[1] = 0x80,
        |page: &mut Vec<u8>| page[60..].fill(0),
    ] {
        let tree = SysfsTree::new();
        tree.disk("pci0/ata1/x/block/sda", "pci0/ata1/x");
        tree.write("pci0/ata1/x/model", "By SCSI\n");
        tree.write("pci0/ata1/x/vpd_pg80", b"\0\x80\0\x01S");
        let mut page = page_89("S", "F", "M");
        spoil(&mut page);
        tree.write("pci0/ata1/x/vpd_pg89", page);
        assert_eq!(names_of(&tree.identity("sda")), ("sata", Some("By SCSI"), Some("S"), None, None));
    }
}
