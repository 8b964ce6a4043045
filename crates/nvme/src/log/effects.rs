//! Commands supported and effects (log page 05h): what each opcode does to the drive.
//!
//! Layout: NVMe Base 2.3, Commands Supported and Effects Log Page.

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DecodeError;
use crate::wire::{self, assert_layout};

/// Bytes of the page.
pub const EFFECTS_LOG_LEN: usize = 4096;

const OPCODES: usize = 256;

/// What one opcode does, bits as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Effects(pub u32);

impl Effects {
    /// The command does not exist.
    pub const NONE: Self = Self(0);
    /// Bit 0: the command exists.
    pub const SUPPORTED: Self = Self(1 << 0);
    /// Bit 1: it may change the content of blocks.
    pub const CONTENT_CHANGE: Self = Self(1 << 1);
    /// Bit 2: it may change what a namespace can do.
    pub const NAMESPACE_CHANGE: Self = Self(1 << 2);
    /// Bit 4: it may change what the controller can do.
    pub const CONTROLLER_CHANGE: Self = Self(1 << 4);

    /// Bits 18:16 are 1: no other command to the namespace may be under way.
    pub const ALONE_IN_NAMESPACE: Self = Self(1 << 16);

    /// Both.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every bit of `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What every opcode does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectsLog {
    /// Admin commands by opcode.
    pub admin: [Effects; OPCODES],
    /// I/O commands by opcode.
    pub io: [Effects; OPCODES],
}

impl EffectsLog {
    /// A page without any command. A start for building one.
    pub const NONE: Self = Self { admin: [Effects::NONE; OPCODES], io: [Effects::NONE; OPCODES] };

    /// Decodes the page.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 4096 bytes.
    pub fn decode(page: &[u8]) -> Result<Self, DecodeError> {
        let wire: &EffectsWire = wire::layout("the effects log (05h)", page)?;
        let effects = |raw: U32| Effects(raw.get());
        Ok(Self { admin: wire.admin.map(effects), io: wire.io.map(effects) })
    }

    /// Encodes the page.
    pub fn encode(&self) -> [u8; EFFECTS_LOG_LEN] {
        let mut wire = EffectsWire::new_zeroed();
        wire.admin = self.admin.map(|effects| effects.0.into());
        wire.io = self.io.map(|effects| effects.0.into());
        zerocopy::transmute!(wire)
    }
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct EffectsWire {
    admin: [U32; OPCODES],
    io: [U32; OPCODES],
    reserved2048: [u8; 2048],
}
assert_layout!(EffectsWire, 4096, { io: 1024, reserved2048: 2048 });

#[cfg(test)]
mod test {
    use super::*;
    use crate::command::opcode;

    #[test]
    fn effects_lie_where_the_specification_puts_them() {
        let mut log = EffectsLog::NONE;
        log.admin[usize::from(opcode::GET_LOG_PAGE)] = Effects::SUPPORTED;
        log.io[usize::from(opcode::WRITE)] = Effects::SUPPORTED.with(Effects::CONTENT_CHANGE);
        let page = log.encode();
        assert_eq!((page[8], page[1024 + 4]), (1, 3));
        let decoded = EffectsLog::decode(&page).expect("whole page");
        assert_eq!(decoded, log);
        assert!(decoded.io[1].contains(Effects::CONTENT_CHANGE));
        assert!(EffectsLog::decode(&page[..4095]).is_err());
    }
}
