//! Fabrics: what takes the place of registers and queue creation when the drive is on a network.
//!
//! Commands (opcode 7Fh, kind in byte 4), the data of Connect, and properties. They are the same on
//! every transport; how they travel is `tcp`'s matter. Authentication is not covered.
//! Layouts: NVMe Base 2.3, Fabrics Command Set.

mod connect;
pub mod property;

pub use connect::{CONNECT_DATA_LEN, ConnectData, ConnectParameter};

use property::Property;

use crate::command::{Sqe, opcode};

/// How the names of simulated subsystems begin, ours on both sides. RFC 2606 reserves `.invalid`: nobody
/// owns the name, so no real drive can have it.
pub const SIMULATED_NQN_PREFIX: &str = "nqn.2026-11.invalid.heatsoak:";

/// A Fabrics command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricsCommand {
    /// Property Set (00h).
    PropertySet {
        /// Which property.
        property: Property,
        /// Its new value; only the low half of a 4-byte property counts.
        value: u64,
    },
    /// Connect (01h): makes this connection a queue. Its data is [`ConnectData`].
    Connect(Connect),
    /// Property Get (04h); the value is the result of the completion.
    PropertyGet {
        /// Which property.
        property: Property,
    },
    /// Disconnect (08h): ends an I/O queue.
    Disconnect,
    /// Any other kind, as it came.
    Other(Sqe),
}

/// The fields of Connect in the command itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect {
    /// Format of the data; only 0 is defined.
    pub record_format: u16,
    /// 0 is the admin queue.
    pub queue_id: u16,
    /// Entries of the submission queue, 1 to 65,536 (zero-based on the wire).
    pub queue_entries: u32,
    /// Connect attributes.
    pub attributes: u8,
    /// Milliseconds the controller waits for a sign of life; 0 for ever. Admin queue only.
    pub keep_alive_ms: u32,
}

impl Connect {
    /// Attribute bit 2: the host does without flow control of the submission queue.
    pub const NO_FLOW_CONTROL: u8 = 1 << 2;
}

const PROPERTY_SET: u8 = 0x00;
const CONNECT: u8 = 0x01;
const PROPERTY_GET: u8 = 0x04;
const DISCONNECT: u8 = 0x08;

impl FabricsCommand {
    /// Reads the meaning of an entry with opcode 7Fh. Reserved bits are ignored.
    pub fn decode(sqe: &Sqe) -> Self {
        let [dword10, dword11, dword12, dword13, ..] = sqe.cdw;
        // The kind is byte 4, where other commands have the lowest byte of their namespace.
        match (sqe.opcode, sqe.nsid as u8) {
            (opcode::FABRICS, PROPERTY_SET) => Self::PropertySet {
                property: Property::decode(dword10, dword11),
                value: u64::from(dword12) | u64::from(dword13) << 32,
            },
            (opcode::FABRICS, CONNECT) => Self::Connect(Connect {
                record_format: dword10 as u16,
                queue_id: (dword10 >> 16) as u16,
                queue_entries: (dword11 & 0xffff) + 1,
                attributes: (dword11 >> 16) as u8,
                keep_alive_ms: dword12,
            }),
            (opcode::FABRICS, PROPERTY_GET) => {
                Self::PropertyGet { property: Property::decode(dword10, dword11) }
            }
            (opcode::FABRICS, DISCONNECT) => Self::Disconnect,
            _ => Self::Other(*sqe),
        }
    }

    /// The entry to send; command identifier and data pointer are the transport's to fill in.
    pub fn encode(&self) -> Sqe {
        let kind = |kind: u8| Sqe::new(opcode::FABRICS, kind.into());
        match self {
            Self::PropertySet { property, value } => property
                .encode(kind(PROPERTY_SET))
                .with_dword(12, *value as u32)
                .with_dword(13, (*value >> 32) as u32),
            Self::Connect(connect) => {
                let entries_z = connect.queue_entries.saturating_sub(1) & 0xffff;
                kind(CONNECT)
                    .with_dword(10, u32::from(connect.record_format) | u32::from(connect.queue_id) << 16)
                    .with_dword(11, entries_z | u32::from(connect.attributes) << 16)
                    .with_dword(12, connect.keep_alive_ms)
            }
            Self::PropertyGet { property } => property.encode(kind(PROPERTY_GET)),
            Self::Disconnect => kind(DISCONNECT),
            Self::Other(sqe) => *sqe,
        }
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    /// The Connect of Linux 6.1's admin queue: SQSIZE 31, KATO 5000 ms.
    #[test]
    fn connect_has_the_bytes_the_kernel_sends() {
        let connect =
            Connect { record_format: 0, queue_id: 0, queue_entries: 32, attributes: 0, keep_alive_ms: 5000 };
        let bytes = FabricsCommand::Connect(connect).encode().encode();
        assert_eq!((bytes[0], bytes[4]), (0x7f, 1));
        assert_eq!(bytes[40..52], [0, 0, 0, 0, 31, 0, 0, 0, 0x88, 0x13, 0, 0]);
    }

    /// Property Set CC = 460001h, as the kernel enables a controller.
    #[test]
    fn property_set_has_the_bytes_the_kernel_sends() {
        let command =
            FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value: 0x0046_0001 };
        let bytes = command.encode().encode();
        assert_eq!((bytes[0], bytes[4], bytes[40]), (0x7f, 0, 0));
        assert_eq!(bytes[44..56], [0x14, 0, 0, 0, 1, 0, 0x46, 0, 0, 0, 0, 0]);
        let get = FabricsCommand::PropertyGet { property: Property::CAPABILITIES }.encode().encode();
        assert_eq!((get[4], get[40], get[44]), (4, 1, 0));
    }

    proptest! {
        #[test]
        fn commands_round_trip(kind in 0_u32..16, cdw in any::<[u32; 6]>()) {
            let sqe = Sqe { cdw, ..Sqe::new(opcode::FABRICS, kind) };
            let command = FabricsCommand::decode(&sqe);
            prop_assert_eq!(FabricsCommand::decode(&command.encode()), command);
        }
    }
}
