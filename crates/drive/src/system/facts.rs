//! What a record says of a drive: who it is ([`DriveIdentity`]), and what an NVMe drive says about itself.
//!
//! A file is loaded for the drive under it: its model and temperatures are what the numbers are about.

use std::path::Path;

use measure::record::{DriveFacts, Origin};
use nvme::fabrics::SIMULATED_NQN_PREFIX;
use nvme::host::Controller;
use nvme::host::linux::LinuxController;
use nvme::identify::{IdentifyController, Simulation};

use crate::DriveIdentity;
use crate::sysfs::text;
use crate::telemetry::{discover, hwmon};

/// No drive has a threshold above this; NVMe drives without one are known to report the largest number there is.
const THRESHOLD_K_MAX: i64 = 500;

/// A virtual SSD of heatsoak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VirtualSsd {
    /// Name of its subsystem, which nobody else can own (`.invalid`, RFC 2606).
    nqn: String,
    /// How its time and data relate to the host's.
    scales: Simulation,
}

impl VirtualSsd {
    /// Where numbers of a drive come from that may be one.
    pub(super) fn origin(virtual_ssd: Option<Self>) -> Origin {
        virtual_ssd.map_or(Origin::Device, |Self { nqn, scales }| Origin::VirtualSsd {
            nqn,
            time_scale: scales.time_scale,
            bandwidth_scale: scales.bandwidth_scale,
        })
    }

    /// The one that a controller says it is; `None` for every other drive.
    pub(super) fn known(identify: &IdentifyController) -> Option<Self> {
        Some(Self { nqn: identify.subsystem_nqn.clone()?, scales: identify.simulation? })
    }

    /// The one that sysfs knows under its name, but not its scales: for those one must be let ask.
    fn in_sysfs(sysfs: &Path, disk: &str) -> Option<Self> {
        let nqn = text(&sysfs.join("class/block").join(disk).join("device/subsysnqn"))?;
        nqn.starts_with(SIMULATED_NQN_PREFIX).then_some(Self { nqn, scales: Simulation::REAL })
    }
}

/// Fills in what sysfs knows about `disk`.
pub(super) fn from_sysfs(drive: &mut DriveFacts, sysfs: &Path, disk: &str) {
    if let Some(DriveIdentity { model, serial, firmware, wwn, .. }) = DriveIdentity::read(sysfs, disk) {
        (drive.model, drive.serial, drive.firmware, drive.wwn) = (model, serial, firmware, wwn);
    }
    let Some(temperature) = hwmon::find(sysfs, disk) else { return };
    let threshold = |name: &str| {
        // The kernel has made thousandths of a degree of whole kelvins (drivers/nvme/host/hwmon.c).
        let kelvin =
            (text(&temperature.with_file_name(name))?.parse::<i64>().ok()? + 273_150 + 500).div_euclid(1000);
        u16::try_from(kelvin).ok().filter(|_| kelvin > 273 && kelvin < THRESHOLD_K_MAX)
    };
    drive.warning_k = threshold("temp1_max");
    drive.critical_k = threshold("temp1_crit");
}

/// Fills in what an NVMe controller says about itself.
pub(super) fn from_controller(drive: &mut DriveFacts, identify: &IdentifyController) {
    let kelvin = |temperature: Option<measure::Kelvin>| temperature.map(measure::Kelvin::as_kelvin);
    drive.model = Some(identify.model.clone());
    drive.serial = Some(identify.serial.clone());
    drive.firmware = Some(identify.firmware.clone());
    drive.warning_k = kelvin(identify.warning_temperature);
    drive.critical_k = kelvin(identify.critical_temperature);
    drive.hctm = Some(identify.hctm.supported);
    drive.tmt_min_k = kelvin(identify.hctm.min);
    drive.tmt_max_k = kelvin(identify.hctm.max);
    let states = (0_u8..).zip(&identify.power_states).filter(|(_, state)| !state.non_operational);
    drive.power_states = Some(states.map(|(number, _)| number).collect());
}

/// The disk at or under `place`, who it is, and the way to its SMART log where it is NVMe and lets us.
pub(super) fn identify(
    drive: &mut DriveFacts,
    simulated: &mut Option<VirtualSsd>,
    place: discover::Place<'_>,
) -> Result<Controller<'static>, String> {
    let sysfs = Path::new(discover::SYSFS);
    let disk = discover::disk(place, sysfs)?;
    from_sysfs(drive, sysfs, &disk);
    *simulated = VirtualSsd::in_sysfs(sysfs, &disk);
    if !disk.starts_with("nvme") {
        return Err(format!("{disk} is not an NVMe drive"));
    }
    let refused = |error: nvme::host::HostError| error.to_string();
    let mut controller = Controller::new(LinuxController::open(&format!("/dev/{disk}")).map_err(refused)?);
    let identify = controller.identify_controller().map_err(refused)?;
    from_controller(drive, &identify);
    *simulated = VirtualSsd::known(&identify);
    Ok(controller)
}

#[cfg(test)]
mod test {
    use measure::Bytes;

    use super::*;
    use crate::system::unknown_drive;

    fn tree(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sysfs").join(name)
    }

    /// Goal: a virtual SSD that the kernel has connected does not pass for a measured drive.
    #[test]
    fn a_virtual_ssd_is_known_by_its_name() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let device = folder.path().join("class/block/nvme0n1/device");
        std::fs::create_dir_all(&device).expect("a folder");
        for (name, known) in [("nqn.2026-11.invalid.heatsoak:ssd1", true), ("nqn.2014-08.com.maker:x", false)]
        {
            std::fs::write(device.join("subsysnqn"), format!("{name}\n")).expect("a file");
            assert_eq!(VirtualSsd::in_sysfs(folder.path(), "nvme0n1").is_some(), known, "{name}");
            let mut identify = IdentifyController::unreported();
            identify.subsystem_nqn = Some(name.to_owned());
            let scales = Simulation { time_scale: 20, bandwidth_scale: 7 };
            identify.simulation = Some(scales);
            // As it comes over the wire.
            let identify = IdentifyController::decode(&identify.encode()).expect("a page");
            let wanted = known.then(|| VirtualSsd { nqn: name.to_owned(), scales });
            assert_eq!(VirtualSsd::known(&identify), wanted, "{name}");
        }
    }

    #[test]
    fn thresholds_come_from_hwmon_in_whole_kelvins() {
        let mut drive = unknown_drive("nvme", Bytes::ZERO, 512);
        from_sysfs(&mut drive, &tree("desktop"), "nvme0n1");
        let crit = std::fs::read_to_string(
            hwmon::find(&tree("desktop"), "nvme0n1").expect("it has one").with_file_name("temp1_crit"),
        );
        assert_eq!(
            (drive.warning_k, drive.critical_k, crit.expect("a file").trim()),
            (Some(354), Some(358), "84850")
        );
        let mut none = unknown_drive("block", Bytes::ZERO, 512);
        from_sysfs(&mut none, &tree("virtual-machine"), "vda");
        assert_eq!((none.critical_k, none.model), (None, None));
    }
}
