//! Properties: a controller's registers, read and written by Fabrics commands.
//!
//! Offsets and fields: NVMe Base 2.3, Controller Properties. Only those that exist on Fabrics.

use crate::command::Sqe;

/// A property: its offset and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Property {
    /// Offset in bytes.
    pub offset: u32,
    /// Whether it has eight bytes instead of four.
    pub is_eight_bytes: bool,
}

impl Property {
    /// Controller Capabilities (CAP), see [`ControllerCapabilities`].
    pub const CAPABILITIES: Self = Self::new(0x00, true);
    /// Version (VS), see [`crate::identify::Version`].
    pub const VERSION: Self = Self::new(0x08, false);
    /// Controller Configuration (CC), see [`ControllerConfig`].
    pub const CONTROLLER_CONFIG: Self = Self::new(0x14, false);
    /// Controller Status (CSTS), see [`ControllerStatus`].
    pub const CONTROLLER_STATUS: Self = Self::new(0x1c, false);
    /// Subsystem Reset (NSSR).
    pub const SUBSYSTEM_RESET: Self = Self::new(0x20, false);
    /// Controller Ready Timeouts (CRTO).
    pub const READY_TIMEOUTS: Self = Self::new(0x68, false);

    const fn new(offset: u32, is_eight_bytes: bool) -> Self {
        Self { offset, is_eight_bytes }
    }

    pub(super) const fn decode(dword10: u32, dword11: u32) -> Self {
        // ATTRIB bits 2:0: 0 is four bytes, 1 is eight; the rest is reserved and treated as four.
        Self::new(dword11, dword10 & 0b111 == 1)
    }

    pub(super) const fn encode(self, sqe: Sqe) -> Sqe {
        sqe.with_dword(10, self.is_eight_bytes as u32).with_dword(11, self.offset)
    }
}

/// Controller Capabilities (CAP), as far as Fabrics hosts look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerCapabilities {
    /// Most entries of a queue, 1 to 65,536 (MQES, zero-based on the wire).
    pub queue_entries_max: u32,
    /// Queues must be contiguous (CQR); always so on Fabrics.
    pub contiguous: bool,
    /// Longest time until ready, in units of 500 ms (TO).
    pub ready_timeout_500ms: u8,
    /// Command sets (CSS): bit 0 is NVM.
    pub command_sets: u8,
}

impl ControllerCapabilities {
    /// Decodes the value.
    pub const fn decode(raw: u64) -> Self {
        Self {
            queue_entries_max: (raw & 0xffff) as u32 + 1,
            contiguous: raw & 1 << 16 != 0,
            ready_timeout_500ms: (raw >> 24) as u8,
            command_sets: (raw >> 37) as u8,
        }
    }

    /// Encodes the value; smallest and largest memory page are 4 KiB.
    pub const fn encode(self) -> u64 {
        (self.queue_entries_max.saturating_sub(1) & 0xffff) as u64
            | (self.contiguous as u64) << 16
            | (self.ready_timeout_500ms as u64) << 24
            | (self.command_sets as u64) << 37
    }
}

/// Controller Configuration (CC), as far as Fabrics hosts set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerConfig(pub u32);

impl ControllerConfig {
    /// EN: the controller shall work.
    pub const fn is_enabled(self) -> bool {
        self.0 & 1 != 0
    }

    /// SHN (15:14): 0 none, 1 normal shutdown, 2 abrupt shutdown.
    pub const fn shutdown(self) -> u8 {
        (self.0 >> 14) as u8 & 0b11
    }

    /// Submission queue entry size as a power of two (IOSQES, 19:16).
    pub const fn submission_entry_shift(self) -> u8 {
        (self.0 >> 16) as u8 & 0xf
    }

    /// Completion queue entry size as a power of two (IOCQES, 23:20).
    pub const fn completion_entry_shift(self) -> u8 {
        (self.0 >> 20) as u8 & 0xf
    }
}

/// Controller Status (CSTS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControllerStatus {
    /// RDY: ready for commands.
    pub ready: bool,
    /// CFS: the controller is broken until it is reset.
    pub fatal: bool,
    /// How far a shutdown is (SHST, 3:2).
    pub shutdown: ShutdownState,
}

/// How far a shutdown is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutdownState {
    /// None was asked for.
    Normal,
    /// Under way.
    Processing,
    /// Done.
    Complete,
    /// The reserved value 3.
    Reserved,
}

impl ControllerStatus {
    /// Decodes the value.
    pub const fn decode(raw: u32) -> Self {
        let shutdown = match raw >> 2 & 0b11 {
            0 => ShutdownState::Normal,
            1 => ShutdownState::Processing,
            2 => ShutdownState::Complete,
            _ => ShutdownState::Reserved,
        };
        Self { ready: raw & 1 != 0, fatal: raw & 2 != 0, shutdown }
    }

    /// Encodes the value.
    pub const fn encode(self) -> u32 {
        self.ready as u32 | (self.fatal as u32) << 1 | (self.shutdown as u32) << 2
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// The values that Debian's kernels accepted and sent.
    #[test]
    fn values_have_the_bits_the_kernel_reads_and_writes() {
        let capabilities = ControllerCapabilities {
            queue_entries_max: 128,
            contiguous: true,
            ready_timeout_500ms: 20,
            command_sets: 1,
        };
        assert_eq!(capabilities.encode(), 127 | 1 << 16 | 20 << 24 | 1 << 37);
        assert_eq!(ControllerCapabilities::decode(capabilities.encode()), capabilities);

        let config = ControllerConfig(0x0046_4001);
        assert!(config.is_enabled() && config.shutdown() == 1);
        assert_eq!((config.submission_entry_shift(), config.completion_entry_shift()), (6, 4));
    }

    #[test]
    fn status_round_trips() {
        for raw in 0..16 {
            assert_eq!(ControllerStatus::decode(raw).encode(), raw);
        }
        let done = ControllerStatus { ready: true, fatal: false, shutdown: ShutdownState::Complete };
        assert_eq!(done.encode(), 9);
    }
}
