//! TRIM on made-up machines: what the kernel shows, what lies above, what is told about it, and the two knobs.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::layers::above;
use super::liar::LyingUnit;
use super::mode::{DiscardMode, DiscardSetting, restore_discards};
use super::*;
use crate::DriveIdentity;
use crate::guard::Roots;
use crate::scsi::facts_of;
use crate::settings::journal::Journals;

const UNIT: &str = "devices/pci0/usb2/2-1/2-1:1.0/host3/target3:0:0/3:0:0:0";

/// A machine with one SCSI disk `sdb`, behind USB.
struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    fn new(thin: &str, mode: &str, most: &str) -> Self {
        let machine = Self { dir: tempfile::tempdir().expect("a scratch folder") };
        let disk = format!("{UNIT}/block/sdb");
        machine.write(&format!("{disk}/size"), "131072\n");
        machine.write(&format!("{disk}/dev"), "8:16\n");
        machine.write(&format!("{disk}/queue/discard_max_bytes"), most);
        machine.write(&format!("{disk}/queue/discard_max_hw_bytes"), "4294966784\n");
        machine.write(&format!("{UNIT}/scsi_disk/3:0:0:0/thin_provisioning"), thin);
        machine.write(&format!("{UNIT}/scsi_disk/3:0:0:0/provisioning_mode"), mode);
        machine.write(&format!("{UNIT}/vendor"), "Realtek \n");
        machine.write(&format!("{UNIT}/model"), "RTL9210B-CG\n");
        machine.link(&format!("{disk}/device"), UNIT);
        machine.link("class/block/sdb", &disk);
        machine
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.dir.path().join("sys").join(path);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("made");
        fs::write(path, content).expect("written");
    }

    fn link(&self, path: &str, target: &str) {
        let root = self.dir.path().join("sys");
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a link lies in a folder")).expect("made");
        symlink(root.join(target), path).expect("linked");
    }

    fn roots(&self) -> Roots {
        let root = fs::canonicalize(self.dir.path()).expect("it is there");
        Roots { sys: root.join("sys"), proc: root.join("proc"), dev: PathBuf::from("/dev") }
    }

    fn kernel(&self) -> KernelDiscard {
        KernelDiscard::read(&self.roots().sys, "sdb")
    }

    fn identity(&self) -> DriveIdentity {
        DriveIdentity::read(&self.roots().sys, "sdb").expect("it is there")
    }

    fn reach(&self, unit: &mut LyingUnit) -> TrimReach {
        let facts = facts_of(unit).expect("it answers");
        TrimReach::of_scsi(Ok(&facts), &self.kernel(), &above(&self.roots(), "sdb"), true)
    }
}

fn provisioned() -> LyingUnit {
    let mut unit = LyingUnit::new(131_072);
    unit.says_provisioned = true;
    unit
}

/// Goal: each state of the kernel beside each of the device has its own answer, the deciding fact first.
#[test]
fn both_views_make_one_answer() {
    let mut modest = LyingUnit::new(131_072);
    let mut provisioned = provisioned();
    let cases = [
        ("0\n", "full\n", "0\n", &mut modest.clone(), TrimPath::OffInKernel, "LBPME=0, though page B2h says"),
        (
            "0\n",
            "full\n",
            "0\n",
            &mut provisioned.clone(),
            TrimPath::OffInKernel,
            "usb-storage driver does not ask",
        ),
        (
            "1\n",
            "disabled\n",
            "0\n",
            &mut provisioned.clone(),
            TrimPath::OffInKernel,
            "refused a discard before",
        ),
        ("0\n", "unmap\n", "4294966784\n", &mut modest, TrimPath::TooLong, "allows 1048576 B (page B0h)"),
        (
            "1\n",
            "unmap\n",
            "1048576\n",
            &mut provisioned,
            TrimPath::Open,
            "discards by unmap, up to 1048576 B",
        ),
    ];
    for (thin, mode, most, unit, path, reason) in cases {
        let reach = Machine::new(thin, mode, most).reach(unit);
        assert_eq!(reach.path, path, "{mode} {reach:?}");
        assert!(reach.reasons[0].contains(reason), "{mode} {reach:?}");
    }
    let machine = Machine::new("0\n", "full\n", "0\n");
    let unknown = TrimReach::of_scsi(Err("no permission"), &machine.kernel(), &[], true);
    assert_eq!(unknown.path, TrimPath::Unknown);
    assert!(unknown.reasons[0].contains("no permission"), "{unknown:?}");
    let none = KernelDiscard::read(&machine.roots().sys, "sdz");
    assert_eq!(
        (none.clone(), TrimReach::of_other(&none, &[]).path),
        (KernelDiscard::default(), TrimPath::NotOffered)
    );
}

/// Goal: what lies on a disk is shown in its order, and the layer that holds TRIM up is named with what to type.
#[test]
fn layers_say_whether_they_pass_discards() {
    let machine = Machine::new("1\n", "unmap\n", "1048576\n");
    let part = format!("{UNIT}/block/sdb/sdb1");
    machine.write(&format!("{part}/partition"), "1\n");
    machine.write(&format!("{part}/dev"), "8:17\n");
    for (name, uuid, label, most) in
        [("dm-0", "CRYPT-LUKS2-00-luks", "luks", "0\n"), ("dm-1", "LVM-abc", "vg-home", "0\n")]
    {
        let folder = format!("devices/virtual/block/{name}");
        machine.write(&format!("{folder}/dm/uuid"), uuid);
        machine.write(&format!("{folder}/dm/name"), label);
        machine.write(&format!("{folder}/dev"), &format!("253:{}\n", &name[3..]));
        machine.write(&format!("{folder}/queue/discard_max_bytes"), most);
        machine.link(&format!("class/block/{name}"), &folder);
    }
    machine.write(&format!("{part}/holders/dm-0"), "");
    machine.write("devices/virtual/block/dm-0/holders/dm-1", "");
    let proc = machine.dir.path().join("proc/self");
    fs::create_dir_all(&proc).expect("made");
    let mounts = "30 1 253:1 / /home rw,relatime shared:1 - ext4 /dev/mapper/vg-home rw,discard\n";
    fs::write(proc.join("mountinfo"), mounts).expect("written");
    let layers = above(&machine.roots(), "sdb");
    let told: Vec<_> =
        layers.iter().map(|one| (one.name.as_str(), one.what, one.depth, one.passes)).collect();
    assert_eq!(
        told,
        [("sdb1", "partition", 1, None), ("dm-0", "crypt", 2, Some(false)), ("dm-1", "lvm", 3, Some(false))]
    );
    let mount = &layers[2].mounts[0];
    assert_eq!((mount.point.as_str(), mount.file_system.as_str(), mount.discards), ("/home", "ext4", true));
    let reach = machine.reach(&mut provisioned());
    assert!(reach.reasons.iter().any(|reason| reason.contains("--allow-discards")), "{reach:?}");
}

/// Goal: the knobs are set in their order, read back, and put back as they were found; what was found outlives the
/// process. Method: plain files as knobs; a journal in a folder.
#[test]
fn knobs_are_put_back_as_they_were() {
    let machine = Machine::new("0\n", "full\n", "0\n");
    let (roots, identity) = (machine.roots(), machine.identity());
    let journals = Journals::in_folder(machine.dir.path().join("state"));
    let wanted = DiscardSetting { mode: ProvisioningMode::Unmap, max_bytes: 1 << 20 };
    let claim = || DiscardMode::claim(&roots, "sdb", &identity, &journals);
    let held = claim().expect("free").hold(wanted, "test", 0).expect("set");
    assert_eq!(held.now().expect("readable"), wanted);
    assert!(claim().is_err_and(|error| error.to_string().contains("another heatsoak")));
    // Killed: nobody puts back.
    drop(held);
    assert!(claim().is_err_and(|error| error.to_string().contains("provisioning_mode (full)")));
    let (journal, restored) =
        restore_discards(&roots, "sdb", &identity, &journals).expect("readable").expect("a journal");
    assert!(restored.is_whole() && journal.why == "test", "{restored:?}");
    let now = claim().expect("free").now().expect("readable");
    assert_eq!(now.mode, ProvisioningMode::Full);
    // While it discarded nothing the kernel took no limit: what it keeps for later is its own again.
    assert_eq!(now.max_bytes, 4_294_966_784);
    assert!(restore_discards(&roots, "sdb", &identity, &journals).expect("readable").is_none());
    let mut held = claim().expect("free").hold(wanted, "test", 0).expect("set");
    assert!(held.put_back().is_whole());
    drop(held);
    assert!(journals.all().expect("readable").is_empty());
    let nvme = DiscardMode::claim(&roots, "nvme0n1", &identity, &journals);
    assert!(nvme.is_err_and(|error| error.to_string().contains("no SCSI disk")));
}
