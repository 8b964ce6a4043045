//! Why a command to a drive did not do what was wanted: what, on what, why, and what to do next.

use std::io;

use thiserror::Error;

use crate::{DecodeError, Status};

/// Why the host's side failed.
#[derive(Debug, Error)]
pub enum HostError {
    /// The device could not be opened.
    #[error("{device} cannot be opened: {source}; {}", open_advice(.source))]
    Open {
        /// Its path.
        device: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system did not carry the command to the drive.
    #[error("{command} on {device} was not carried out: {source}; {}", send_advice(.source))]
    Send {
        /// The device.
        device: String,
        /// The command.
        command: String,
        /// What the system said.
        source: io::Error,
    },
    /// The drive answered with a failing status.
    #[error(
        "{command} on {device} failed: {} ({:#x}). {}",
        status.describe(*opcode).0, status.as_field(), status.describe(*opcode).1
    )]
    Status {
        /// The device.
        device: String,
        /// The command.
        command: String,
        /// Its opcode: some codes depend on it.
        opcode: u8,
        /// What the drive said.
        status: Status,
    },
    /// The buffer does not fit the command. Nothing was sent.
    #[error("{command} on {device} moves {needed} bytes and was given a buffer of {got}; nothing was sent")]
    Length {
        /// The device.
        device: String,
        /// The command.
        command: String,
        /// Bytes the command moves.
        needed: u64,
        /// Bytes of the buffer.
        got: usize,
    },
    /// The drive sent bytes that mean nothing.
    #[error("{device} sent something that cannot be read: {source}")]
    Decode {
        /// The device.
        device: String,
        /// What is wrong with it.
        source: DecodeError,
    },
    /// The connection to a drive on a network could not be made, or broke.
    #[error(
        "{what} with {device} failed: {why}; look whether the target runs and is reached at this address"
    )]
    Connection {
        /// The address.
        device: String,
        /// What was attempted.
        what: String,
        /// Why it failed.
        why: String,
    },
    /// Host and subsystem do not know each other.
    #[error(
        "authentication (DH-HMAC-CHAP) with {device} failed: {why}; name the secrets that both sides know, with \
         ?dhchap-secret-file=FILE and &dhchap-ctrl-secret-file=FILE behind the address"
    )]
    Authentication {
        /// The address.
        device: String,
        /// Why it failed.
        why: String,
    },
}

impl HostError {
    /// The status of the drive, where there was one.
    pub const fn status(&self) -> Option<Status> {
        match self {
            Self::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Whether the drive says that it does not have what was asked for, rather than that it failed.
    pub fn is_unsupported(&self) -> bool {
        const UNSUPPORTED: [Status; 3] =
            [Status::INVALID_OPCODE, Status::INVALID_FIELD, Status::INVALID_LOG_PAGE];
        self.status().is_some_and(|status| UNSUPPORTED.iter().any(|code| status.is(*code)))
    }

    /// Whether the drive is gone: there is no use in asking it anything more.
    pub fn is_gone(&self) -> bool {
        match self {
            Self::Open { source, .. } | Self::Send { source, .. } => {
                matches!(source.raw_os_error(), Some(ENODEV | ENXIO))
            }
            Self::Connection { .. } => true,
            _ => false,
        }
    }
}

// Numbers of the Linux kernel, include/uapi/asm-generic/errno-base.h: the same on every machine
// that has NVMe.
const ENXIO: i32 = 6;
const ENODEV: i32 = 19;
const ENOTTY: i32 = 25;

fn open_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "run as root, or give this user access to the device",
        io::ErrorKind::NotFound => "see `heatsoak list` for the drives there are",
        io::ErrorKind::ResourceBusy => "something else holds it exclusively",
        _ => "see the kernel's log for its state",
    }
}

fn send_advice(error: &io::Error) -> &'static str {
    match (error.raw_os_error(), error.kind()) {
        (Some(ENOTTY), _) => "this is no NVMe device; name the controller (/dev/nvme0) or a namespace of it",
        (Some(ENODEV | ENXIO), _) => "the drive is gone: look for it in the kernel's log",
        (_, io::ErrorKind::PermissionDenied) => {
            "the kernel refuses this command: run as root; since 6.12 it refuses some settings to everybody"
        }
        (_, io::ErrorKind::Interrupted) => "a signal came first: it may be repeated",
        _ => "see the kernel's log for the state of the drive",
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::command::opcode;

    #[test]
    fn errors_say_what_on_what_why_and_what_next() {
        let error = HostError::Open {
            device: "/dev/nvme0".to_owned(),
            source: io::Error::from(io::ErrorKind::PermissionDenied),
        };
        assert_eq!(
            error.to_string(),
            "/dev/nvme0 cannot be opened: permission denied; run as root, or give this user access to the device"
        );
        let error = HostError::Status {
            device: "/dev/nvme0".to_owned(),
            command: "Get Features Host Controlled Thermal Management (10h)".to_owned(),
            opcode: opcode::GET_FEATURES,
            status: Status::INVALID_FIELD.do_not_retry(),
        };
        assert_eq!(
            error.to_string(),
            "Get Features Host Controlled Thermal Management (10h) on /dev/nvme0 failed: Invalid Field in \
             Command (0x4002). The controller does not support a value in the command, or the feature or page \
             that it names."
        );
        assert!(error.is_unsupported() && !error.is_gone());
    }

    #[test]
    fn a_vanished_drive_is_told_from_a_refusing_one() {
        let send = |code| HostError::Send {
            device: "d".to_owned(),
            command: "c".to_owned(),
            source: io::Error::from_raw_os_error(code),
        };
        assert!(send(ENODEV).is_gone() && send(ENXIO).is_gone());
        assert!(!send(ENOTTY).is_gone());
        assert!(send(ENOTTY).to_string().contains("this is no NVMe device"));
    }
}
