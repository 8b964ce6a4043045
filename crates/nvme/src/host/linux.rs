//! NVMe commands through the Linux kernel's passthrough ioctls.
//!
//! The whole unsafe code of this crate is here: one ioctl with its argument struct.
//! Interface: include/uapi/linux/nvme_ioctl.h; behaviour: drivers/nvme/host/ioctl.c (6.1 and 6.12).
//! The kernel does not check that a buffer has the length the command implies, so this module does.

use std::fs::File;
use std::os::fd::AsFd;

use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, opcode};

use super::{AdminTransport, Data, HostError};
use crate::Status;
use crate::command::{AdminCommand, Completion, Sqe};

/// How long the kernel waits for an admin command, in milliseconds.
///
/// The kernel's own default (`nvme_core.admin_timeout`); stated here so that a changed module
/// parameter does not make a sampler hang longer than a run's safety allows for.
const ADMIN_TIMEOUT_MS: u32 = 60_000;

/// A controller by its device, `/dev/nvme0`, opened for reading.
#[derive(Debug)]
pub struct LinuxController {
    file: File,
    path: String,
}

impl LinuxController {
    /// Opens the device. Reading rights are enough: the kernel asks for the administrator instead.
    ///
    /// # Errors
    /// [`HostError::Open`]. That it is no NVMe device shows at the first command.
    pub fn open(path: &str) -> Result<Self, HostError> {
        let file = File::open(path).map_err(|source| HostError::Open { device: path.to_owned(), source })?;
        Ok(Self { file, path: path.to_owned() })
    }
}

impl AdminTransport for LinuxController {
    fn name(&self) -> &str {
        &self.path
    }

    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<Completion, HostError> {
        if let Some(needed) = command.data_len().filter(|needed| *needed != data.len() as u64) {
            let device = self.path.clone();
            return Err(HostError::Length { device, command: command.to_string(), needed, got: data.len() });
        }
        passthrough(&self.file, &command.encode(), data).map_err(|source| HostError::Send {
            device: self.path.clone(),
            command: command.to_string(),
            source: source.into(),
        })
    }
}

/// `struct nvme_passthru_cmd`.
#[repr(C)]
#[derive(Debug)]
struct PassthruCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}
const _: () = assert!(size_of::<PassthruCommand>() == 72);

/// `NVME_IOCTL_ADMIN_CMD`.
const ADMIN_COMMAND: Opcode = opcode::read_write::<PassthruCommand>(b'N', 0x41);
const _: () = assert!(ADMIN_COMMAND == 0xc048_4e41);

/// One passthrough ioctl: the command and the buffer it points to, borrowed for the call.
struct Passthrough<'a> {
    command: &'a mut PassthruCommand,
}

#[expect(unsafe_code, reason = "the kernel's interface is a struct with a pointer in it")]
// SAFETY: the ioctl takes a pointer to `struct nvme_passthru_cmd` in and out, which
// `PassthruCommand` is (size asserted, all fields plain integers); the kernel writes only `result`.
unsafe impl Ioctl for Passthrough<'_> {
    /// Zero, or the Status Field of a command that the drive refused.
    type Output = u16;

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        ADMIN_COMMAND
    }

    fn as_ptr(&mut self) -> *mut rustix::ffi::c_void {
        std::ptr::from_mut(self.command).cast()
    }

    unsafe fn output_from_ptr(
        out: IoctlOutput,
        _: *mut rustix::ffi::c_void,
    ) -> rustix::io::Result<Self::Output> {
        // The status field has 15 bits; negative values have become errors before.
        Ok(out as u16)
    }
}

fn passthrough(file: &File, sqe: &Sqe, mut data: Data<'_>) -> rustix::io::Result<Completion> {
    let addr = match &mut data {
        Data::None => 0,
        Data::Read(buffer) => buffer.as_mut_ptr().expose_provenance() as u64,
        Data::Write(buffer) => buffer.as_ptr().expose_provenance() as u64,
    };
    let mut command = PassthruCommand {
        opcode: sqe.opcode,
        flags: 0,
        reserved: 0,
        nsid: sqe.nsid,
        cdw2: sqe.cdw2_3[0],
        cdw3: sqe.cdw2_3[1],
        metadata: 0,
        addr: if data.is_empty() { 0 } else { addr },
        metadata_len: 0,
        data_len: u32::try_from(data.len()).map_err(|_| rustix::io::Errno::INVAL)?,
        cdw10_15: sqe.cdw,
        timeout_ms: ADMIN_TIMEOUT_MS,
        result: 0,
    };
    let ioctl = Passthrough { command: &mut command };
    #[expect(unsafe_code, reason = "the only way to send a command to a drive")]
    // SAFETY: the opcode is the one that takes this struct. `addr` and `data_len` describe
    // `data`, which stays borrowed until the call returns (mutably if the drive writes to it), and
    // the kernel touches no more than `data_len` bytes of our memory: it maps or copies exactly those.
    let status = unsafe { rustix::ioctl::ioctl(file.as_fd(), ioctl) }?;
    let status = Status::from_field(status);
    Ok(Completion { result: command.result.into(), sq_head: 0, sq_id: 0, cid: 0, status })
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::host::Controller;
    use crate::log::LogId;

    /// Goal: pointing the tool at something else than a drive ends in a sentence.
    #[test]
    fn what_is_no_nvme_device_is_said_to_be_none() {
        let transport = LinuxController::open("/dev/null").expect("exists everywhere");
        let error = Controller::new(transport).smart_log().expect_err("no drive");
        let text = error.to_string();
        assert!(text.starts_with("Get Log Page SMART / Health Information (02h) on /dev/null"), "{text}");
        assert!(text.contains("this is no NVMe device"), "{text}");
        let error = LinuxController::open("/dev/no-such-drive").expect_err("does not exist");
        assert!(error.to_string().contains("heatsoak list"), "{error}");
    }

    #[test]
    fn a_buffer_that_does_not_fit_is_not_sent() {
        let mut transport = LinuxController::open("/dev/null").expect("exists everywhere");
        let command = AdminCommand::GetLogPage(crate::command::GetLogPage::controller(LogId::SMART, 512));
        let error = transport.admin(&command, Data::Read(&mut [0; 511])).expect_err("one byte short");
        assert!(matches!(error, HostError::Length { needed: 512, got: 511, .. }), "{error}");
    }
}
