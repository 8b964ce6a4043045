//! The SGL descriptor that a command carries in place of physical page pointers.
//!
//! Only the two kinds that NVMe/TCP allows have meaning here; the others survive as [`Sgl::Other`]
//! so that a controller can refuse them by name. Layout: NVMe Base 2.3, SGL Descriptor Format.

/// Where the data of a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sgl {
    /// Data block at an offset (type 0h, subtype 1h, byte 01h): inside the command capsule.
    InCapsule {
        /// Bytes from the start of the in-capsule data.
        offset: u64,
        /// Bytes of data.
        length: u32,
    },
    /// Transport data block (type 5h, subtype Ah, byte 5Ah): moved by separate data PDUs.
    Transport {
        /// Bytes of data.
        length: u32,
    },
    /// Any other descriptor, as it came.
    Other([u8; 16]),
}

const IN_CAPSULE: u8 = 0x01;
const TRANSPORT: u8 = 0x5a;

impl Sgl {
    /// The descriptor of a command that moves no data.
    pub const NONE: Self = Self::Transport { length: 0 };

    /// Decodes a descriptor: address 8 bytes, length 4, reserved 3, type 1.
    pub fn decode(bytes: [u8; 16]) -> Self {
        let (address, rest) = bytes.split_at(8);
        let address = address.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let length = rest[..4].iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
        let reserved_clear = bytes[12..15] == [0; 3];
        match bytes[15] {
            IN_CAPSULE if reserved_clear => Self::InCapsule { offset: address, length },
            TRANSPORT if reserved_clear && address == 0 => Self::Transport { length },
            _ => Self::Other(bytes),
        }
    }

    /// Encodes the descriptor.
    pub fn encode(self) -> [u8; 16] {
        let (address, length, kind) = match self {
            Self::InCapsule { offset, length } => (offset, length, IN_CAPSULE),
            Self::Transport { length } => (0, length, TRANSPORT),
            Self::Other(bytes) => return bytes,
        };
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&address.to_le_bytes());
        bytes[8..12].copy_from_slice(&length.to_le_bytes());
        bytes[15] = kind;
        bytes
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_two_kinds_of_nvme_tcp_have_their_type_bytes() {
        let transport = Sgl::Transport { length: 4096 }.encode();
        assert_eq!((transport[8..12].to_vec(), transport[15]), (vec![0, 0x10, 0, 0], 0x5a));
        let capsule = Sgl::InCapsule { offset: 0, length: 1024 }.encode();
        assert_eq!((capsule[9], capsule[15]), (4, 0x01));
    }

    proptest! {
        #[test]
        fn any_descriptor_round_trips(bytes in any::<[u8; 16]>(), kind in prop::sample::select(vec![0x01, 0x5a, 0x00])) {
            let mut descriptor = bytes;
            descriptor[15] = kind;
            prop_assert_eq!(Sgl::decode(descriptor).encode(), descriptor);
            prop_assert_eq!(Sgl::decode(bytes).encode(), bytes);
        }
    }
}
