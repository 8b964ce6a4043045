//! What SCSI drives, and SATA and USB drives behind a SCSI translation, say about themselves.
//!
//! - [`facts`]: everything, asked of an open device.
//! - [`command`]: INQUIRY and READ CAPACITY (16); [`vpd`]: the vital product data pages. Decoding takes any bytes.
//! - [`ScsiTransport`]: how a command reaches a unit: `SG_IO` on this machine ([`SgDevice`]), or a simulated one.
//!
//! # What it does not do
//! [`facts`] changes nothing on a drive: it sends only commands that ask. Those that write and deallocate are sent by the
//! check of TRIM alone (`crate::trim`), after the guard. A page that a drive does not have is `None`, and why stands in
//! the notes.

pub mod command;
mod sg_io;
pub mod vpd;

use std::fs::File;

pub use command::{Capacity, Inquiry, UnmapDescriptor};
pub use sg_io::{ScsiData, ScsiDone, ScsiTransport, SgDevice, SgError};
pub use vpd::{BlockLimits, Characteristics, Designator, Provisioning, Rotation};

/// What one page may have; longer ones are cut, which their decoders take.
const PAGE_LEN: u16 = 512;

/// What a unit says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScsiFacts {
    /// Who it is.
    pub inquiry: Inquiry,
    /// Its size and blocks.
    pub capacity: Option<Capacity>,
    /// Its serial number (VPD page 80h).
    pub serial: Option<String>,
    /// Its names (VPD page 83h).
    pub designators: Vec<Designator>,
    /// How large commands may be (VPD page B0h).
    pub limits: Option<BlockLimits>,
    /// What turns in it (VPD page B1h).
    pub characteristics: Option<Characteristics>,
    /// How it deallocates (VPD page B2h).
    pub provisioning: Option<Provisioning>,
    /// What it did not tell, and why.
    pub notes: Vec<String>,
}

/// Asks the unit that `file`, a block device or `/dev/sg*` opened for reading, leads to.
///
/// # Errors
/// When it does not even answer INQUIRY: it is no SCSI device.
pub fn facts(file: &File) -> Result<ScsiFacts, SgError> {
    facts_from(|name, cdb, buffer| sg_io::ask(file, name, cdb, buffer))
}

/// The same of any unit.
///
/// # Errors
/// When it does not even answer INQUIRY.
pub fn facts_of(unit: &mut dyn ScsiTransport) -> Result<ScsiFacts, SgError> {
    const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(20);
    facts_from(|name, cdb, buffer| {
        unit.execute(name, cdb, ScsiData::In(buffer), TIMEOUT).map(|done| done.bytes)
    })
}

/// The same by any way to a drive.
fn facts_from(
    mut ask: impl FnMut(&'static str, &[u8], &mut [u8]) -> Result<usize, SgError>,
) -> Result<ScsiFacts, SgError> {
    let mut notes = Vec::new();
    let mut buffer = [0; PAGE_LEN as usize];
    // 96 bytes: what every operating system asks for first; some bridges hang on more (Linux, scsi_scan.c, asks for 36).
    let len = ask("INQUIRY", &command::inquiry(None, 96), &mut buffer[..96])?.min(96);
    let inquiry = Inquiry::decode(&buffer[..len])
        .map_err(|short| SgError::Send { command: "INQUIRY", source: std::io::Error::other(short) })?;
    let mut answer = |name: &'static str, cdb: &[u8], len: usize| {
        buffer.fill(0);
        match ask(name, cdb, &mut buffer[..len]) {
            Ok(filled) => Some(buffer[..filled.min(len)].to_vec()),
            Err(error) => {
                notes.push(error.to_string());
                None
            }
        }
    };
    let capacity = answer("READ CAPACITY (16)", &command::read_capacity_16(), command::READ_CAPACITY_16_LEN);
    let mut page = |name, code| answer(name, &command::inquiry(Some(code), PAGE_LEN), PAGE_LEN.into());
    let serial = page("INQUIRY for page 80h", vpd::UNIT_SERIAL_NUMBER);
    let names = page("INQUIRY for page 83h", vpd::DEVICE_IDENTIFICATION);
    let limits = page("INQUIRY for page B0h", vpd::BLOCK_LIMITS);
    let turning = page("INQUIRY for page B1h", vpd::BLOCK_DEVICE_CHARACTERISTICS);
    let provisioning = page("INQUIRY for page B2h", vpd::LOGICAL_BLOCK_PROVISIONING);
    let mut read = Reader { notes };
    Ok(ScsiFacts {
        inquiry,
        capacity: read.answer(capacity, Capacity::decode),
        serial: serial.and_then(|page| vpd::serial_number(&page)),
        designators: read.answer(names, vpd::designators).unwrap_or_default(),
        limits: read.answer(limits, vpd::block_limits),
        characteristics: read.answer(turning, vpd::characteristics),
        provisioning: read.answer(provisioning, vpd::provisioning),
        notes: read.notes,
    })
}

/// Decodes answers, and notes what is wrong with them.
struct Reader {
    notes: Vec<String>,
}

impl Reader {
    fn answer<T, E: std::fmt::Display>(
        &mut self,
        data: Option<Vec<u8>>,
        decode: impl FnOnce(&[u8]) -> Result<T, E>,
    ) -> Option<T> {
        match decode(&data?) {
            Ok(value) => Some(value),
            Err(error) => {
                self.notes.push(error.to_string());
                None
            }
        }
    }
}

#[cfg(test)]
mod test;
