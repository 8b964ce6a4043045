//! The one door to a drive: whoever wants one, real or simulated, opens it here by its address.
//!
//! Nowhere else is it looked at what an address names; above the door there is only [`Drive`].

use anyhow::bail;
use drive::system::{DeviceDrive, FabricDrive, FileDrive, NullDrive};
use drive::{Address, AddressKind, Drive};
use plan::SweepSetting;

use crate::opening::Opening;
use crate::twin_drive::TwinDrive;

/// The drive at `address`. Nothing is touched: what is not there shows when it is examined or asked.
///
/// # Errors
/// An unknown twin with the nearest names; or what only a simulated drive, or only a real one, can be told.
pub(crate) fn open(address: &Address, opening: &Opening) -> anyhow::Result<Box<dyn Drive>> {
    let stated = opening.stated.clone();
    let SweepSetting { link, ambient, .. } = &opening.surroundings;
    if !matches!(address.kind(), AddressKind::Twin { .. }) && (link.is_some() || ambient.is_some()) {
        bail!(
            "cannot sweep over link or ambient on {address}: only a simulated drive can be put on another link or into \
             another room; make one run in each, and `heatsoak compare` them"
        );
    }
    Ok(match address.kind() {
        AddressKind::Twin { profile } => Box::new(TwinDrive::open(address, profile, opening)?),
        AddressKind::File(file) => Box::new(FileDrive::new(address, file, stated)),
        AddressKind::Device { path } => Box::new(DeviceDrive::new(address, path, stated)),
        AddressKind::Fabric(subsystem) => Box::new(FabricDrive::new(address, subsystem, stated)),
        AddressKind::Null { size } => Box::new(NullDrive::new(address, *size, stated)),
    })
}
