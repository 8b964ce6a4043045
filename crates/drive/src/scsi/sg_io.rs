//! One SCSI command through the kernel: the `SG_IO` ioctl.
//!
//! Layout: Linux `include/scsi/sg.h` (`struct sg_io_hdr`, interface version 3), which block devices and `/dev/sg*`
//! both take. INQUIRY and READ CAPACITY pass the kernel's filter on a device that is open for reading
//! (Linux `drivers/scsi/scsi_ioctl.c`, `scsi_cmd_allowed`).

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::time::Duration;

use rustix::ioctl::{Ioctl, IoctlOutput, Opcode};
use thiserror::Error;

/// `SG_IO`.
const SG_IO: Opcode = 0x2285;
/// `SG_DXFER_NONE`.
const NO_DATA: i32 = -1;
/// `SG_DXFER_TO_DEV`.
const TO_DEVICE: i32 = -2;
/// `SG_DXFER_FROM_DEV`.
const FROM_DEVICE: i32 = -3;
/// The interface's mark.
const INTERFACE_ID: i32 = 'S' as i32;
/// Room for sense data in any format (SPC-5, 4.4: at most 252 bytes; the first 18 say what went wrong).
const SENSE_LEN: usize = 32;
/// For commands that ask: longer than a drive takes to wake up; the kernel's own limit for them is 30 s.
const ASK_TIMEOUT: Duration = Duration::from_secs(20);
/// `DID_TIME_OUT`: the command was given up (Linux `include/scsi/scsi_status.h`).
const HOST_TIMED_OUT: u16 = 0x03;
/// CHECK CONDITION (SAM-5, 5.3.1).
const CHECK_CONDITION: u8 = 0x02;

/// Why a command has no answer.
#[derive(Debug, Error)]
pub enum SgError {
    /// The kernel did not send it.
    #[error("{command} could not be sent: {source}; this may be no SCSI device")]
    Send {
        /// The command.
        command: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The drive refused it.
    #[error("the drive refused {command}: sense key {key:#x}, additional sense {code:#04x}/{qualifier:#04x}")]
    Refused {
        /// The command.
        command: &'static str,
        /// Sense key (SPC-5, 4.4.8): 5 is an illegal request.
        key: u8,
        /// Additional sense code.
        code: u8,
        /// Its qualifier.
        qualifier: u8,
    },
    /// It got lost on the way.
    #[error("{command} did not get through: status {status:#x}, host {host:#x}, driver {driver:#x}")]
    Transport {
        /// The command.
        command: &'static str,
        /// SCSI status.
        status: u8,
        /// The host adapter's status.
        host: u16,
        /// The driver's status.
        driver: u16,
    },
}

/// `struct sg_io_hdr`.
#[repr(C)]
#[derive(Debug)]
struct Header {
    interface_id: i32,
    direction: i32,
    cdb_len: u8,
    sense_len: u8,
    vectors: u16,
    data_len: u32,
    data: *mut u8,
    cdb: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack_id: i32,
    user: *mut u8,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residual: i32,
    duration_ms: u32,
    info: u32,
}
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Header>() == 88);

struct SgIoCommand<'a>(&'a mut Header);

#[expect(unsafe_code, reason = "the kernel's interface is a struct with pointers in it")]
// SAFETY: `SG_IO` takes a pointer to `struct sg_io_hdr` in and out, which `Header` is (size asserted); the kernel
// writes its plain fields only.
unsafe impl Ioctl for SgIoCommand<'_> {
    type Output = ();

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        SG_IO
    }

    fn as_ptr(&mut self) -> *mut rustix::ffi::c_void {
        std::ptr::from_mut(self.0).cast()
    }

    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut rustix::ffi::c_void) -> rustix::io::Result<()> {
        Ok(())
    }
}

impl SgError {
    /// Whether the command was given up because no answer came.
    pub const fn is_timeout(&self) -> bool {
        matches!(self, Self::Transport { host: HOST_TIMED_OUT, .. })
    }

    /// Whether the drive said no: it is there, and does not do this.
    pub const fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. })
    }
}

/// What goes with a command.
#[derive(Debug)]
pub enum ScsiData<'a> {
    /// Nothing.
    None,
    /// What the drive sends comes here.
    In(&'a mut [u8]),
    /// This goes to the drive.
    Out(&'a [u8]),
}

/// A command that the drive has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScsiDone {
    /// How much of the data was moved, in bytes.
    pub bytes: usize,
    /// How long it took.
    pub took: Duration,
}

/// A way to a SCSI unit: the kernel's, or a simulated unit's.
pub trait ScsiTransport {
    /// Has the unit do `cdb`, called `command` in errors, and gives up after `timeout`.
    ///
    /// # Errors
    /// [`SgError`]: not sent, refused, or lost.
    fn execute(
        &mut self,
        command: &'static str,
        cdb: &[u8],
        data: ScsiData<'_>,
        timeout: Duration,
    ) -> Result<ScsiDone, SgError>;

    /// The same unit once more, for commands that are in flight at once; `None` where one after the other is all there is.
    fn beside(&self) -> Option<Box<dyn ScsiTransport + Send>> {
        None
    }

    /// Discards bytes as a file system would: by the kernel, which decides by itself what it sends. `None` where there is
    /// no kernel between.
    fn discard(&mut self, _start_bytes: u64, _len_bytes: u64) -> Option<io::Result<()>> {
        None
    }
}

/// A unit of this machine: a block device, or `/dev/sg*`.
#[derive(Debug)]
pub struct SgDevice {
    file: File,
}

impl SgDevice {
    /// The one that `file` is; opened for writing, if it is to be written to.
    pub const fn new(file: File) -> Self {
        Self { file }
    }
}

impl ScsiTransport for SgDevice {
    fn execute(
        &mut self,
        command: &'static str,
        cdb: &[u8],
        data: ScsiData<'_>,
        timeout: Duration,
    ) -> Result<ScsiDone, SgError> {
        send(&self.file, command, cdb, data, timeout)
    }

    fn beside(&self) -> Option<Box<dyn ScsiTransport + Send>> {
        Some(Box::new(Self { file: self.file.try_clone().ok()? }))
    }

    fn discard(&mut self, start_bytes: u64, len_bytes: u64) -> Option<io::Result<()>> {
        Some(crate::io::discard_range(&self.file, start_bytes, len_bytes))
    }
}

/// Sends `cdb`, called `command` in errors, and hands back how much of `buffer` the drive has filled.
///
/// # Errors
/// [`SgError`]: not sent, refused, or lost.
pub(super) fn ask(
    file: &File,
    command: &'static str,
    cdb: &[u8],
    buffer: &mut [u8],
) -> Result<usize, SgError> {
    send(file, command, cdb, ScsiData::In(buffer), ASK_TIMEOUT).map(|done| done.bytes)
}

fn send(
    file: &File,
    command: &'static str,
    cdb: &[u8],
    data: ScsiData<'_>,
    timeout: Duration,
) -> Result<ScsiDone, SgError> {
    let mut sense = [0; SENSE_LEN];
    let invalid = |_| SgError::Send { command, source: io::ErrorKind::InvalidInput.into() };
    let (direction, len, memory): (i32, usize, *mut u8) = match data {
        ScsiData::None => (NO_DATA, 0, std::ptr::null_mut()),
        ScsiData::In(buffer) => (FROM_DEVICE, buffer.len(), buffer.as_mut_ptr()),
        // The kernel only reads what goes to the drive; the field has one type for both ways.
        ScsiData::Out(buffer) => (TO_DEVICE, buffer.len(), buffer.as_ptr().cast_mut()),
    };
    let mut header = Header {
        interface_id: INTERFACE_ID,
        direction,
        cdb_len: cdb.len().try_into().map_err(invalid)?,
        sense_len: SENSE_LEN as u8,
        vectors: 0,
        data_len: len.try_into().map_err(invalid)?,
        data: memory,
        cdb: cdb.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX),
        flags: 0,
        pack_id: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    #[expect(unsafe_code, reason = "the only way to send a command to a drive")]
    // SAFETY: the three pointers describe the data, `cdb` and `sense`, which outlive the call and are not touched
    // meanwhile; their lengths are in the header, and the kernel copies no more than that, whatever the drive sends.
    // It writes to the data only in the direction from the drive, for which they were borrowed mutably.
    unsafe { rustix::ioctl::ioctl(file.as_fd(), SgIoCommand(&mut header)) }
        .map_err(|errno| SgError::Send { command, source: errno.into() })?;
    answered(command, &header, &sense)?;
    let residual = usize::try_from(header.residual).unwrap_or(0);
    let took = Duration::from_millis(header.duration_ms.into());
    Ok(ScsiDone { bytes: len.saturating_sub(residual), took })
}

/// Whether the drive has answered.
fn answered(command: &'static str, header: &Header, sense: &[u8]) -> Result<(), SgError> {
    // The driver's bit for sense data (DRIVER_SENSE, 8) says nothing more than the status does.
    if header.status == 0 && header.host_status == 0 && header.driver_status & 0x07 == 0 {
        return Ok(());
    }
    if header.status == CHECK_CONDITION && header.sense_written >= 8 {
        // SPC-5, 4.4: response codes 72h and 73h are descriptor format, 70h and 71h fixed format.
        let (key, code, qualifier) = match sense[0] & 0x7f {
            0x72 | 0x73 => (sense[1] & 0x0f, sense[2], sense[3]),
            _ => (sense[2] & 0x0f, sense[12], sense[13]),
        };
        return Err(SgError::Refused { command, key, code, qualifier });
    }
    let Header { status, host_status: host, driver_status: driver, .. } = *header;
    Err(SgError::Transport { command, status, host, driver })
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn what_is_no_scsi_device_is_said_to_be_none() {
        let null = File::open("/dev/null").expect("exists everywhere");
        let error = ask(&null, "INQUIRY", &[0x12, 0, 0, 0, 36, 0], &mut [0; 36]).expect_err("no device");
        assert!(error.to_string().contains("may be no SCSI device"), "{error}");
    }
}
