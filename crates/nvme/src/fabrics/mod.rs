//! Fabrics: what takes the place of registers and queue creation when the drive is on a network.
//!
//! Commands (opcode 7Fh, kind in byte 4), the data of Connect, and properties. They are the same on
//! every transport; how they travel is `tcp`'s matter. What the messages of authentication say is in [`crate::auth`].
//! Layouts: NVMe Base 2.3, Fabrics Command Set.

mod connect;
pub mod property;

pub use connect::{CONNECT_DATA_LEN, ConnectData, ConnectParameter};

use property::Property;

use crate::auth::{SECURITY_PROTOCOL, SECURITY_PROTOCOL_SPECIFIC};
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
    /// Authentication Send (05h): its data are a message to the controller.
    AuthenticationSend(SecurityTransfer),
    /// Authentication Receive (06h): fetches a message of the controller.
    AuthenticationReceive(SecurityTransfer),
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

/// The fields of Authentication Send and Receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecurityTransfer {
    /// Security protocol (SECP).
    pub protocol: u8,
    /// What is specific to it (SPSP1 and SPSP0).
    pub specific: u16,
    /// Bytes of the message, or of the room for it (TL, AL).
    pub len: u32,
}

impl SecurityTransfer {
    /// A message of DH-HMAC-CHAP.
    pub const fn dh_hmac_chap(len: u32) -> Self {
        Self { protocol: SECURITY_PROTOCOL, specific: SECURITY_PROTOCOL_SPECIFIC, len }
    }

    const fn decode(dword10: u32, dword11: u32) -> Self {
        Self { protocol: (dword10 >> 24) as u8, specific: (dword10 >> 8) as u16, len: dword11 }
    }

    const fn encode(self, sqe: Sqe) -> Sqe {
        sqe.with_dword(10, (self.protocol as u32) << 24 | (self.specific as u32) << 8)
            .with_dword(11, self.len)
    }
}

/// What the result of Connect asks for before any other command (AUTHREQ, NVMe Base 2.3, Connect Response).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthRequirement(u32);

impl AuthRequirement {
    /// An authentication transaction (ATR).
    pub const TRANSACTION: u32 = 1 << 17;
    /// Authentication and a secure channel (ASCR).
    pub const SECURE_CHANNEL: u32 = 1 << 18;

    /// Reads dword 0 of the completion.
    pub const fn decode(dword0: u32) -> Self {
        Self(dword0)
    }

    /// Whether the host has to authenticate itself.
    pub const fn asks(self) -> bool {
        self.0 & (Self::TRANSACTION | Self::SECURE_CHANNEL) != 0
    }

    /// Whether it has to set up a secure channel as well.
    pub const fn asks_for_secure_channel(self) -> bool {
        self.0 & Self::SECURE_CHANNEL != 0
    }
}

const PROPERTY_SET: u8 = 0x00;
const CONNECT: u8 = 0x01;
const PROPERTY_GET: u8 = 0x04;
const AUTHENTICATION_SEND: u8 = 0x05;
const AUTHENTICATION_RECEIVE: u8 = 0x06;
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
            (opcode::FABRICS, AUTHENTICATION_SEND) => {
                Self::AuthenticationSend(SecurityTransfer::decode(dword10, dword11))
            }
            (opcode::FABRICS, AUTHENTICATION_RECEIVE) => {
                Self::AuthenticationReceive(SecurityTransfer::decode(dword10, dword11))
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
            Self::AuthenticationSend(transfer) => transfer.encode(kind(AUTHENTICATION_SEND)),
            Self::AuthenticationReceive(transfer) => transfer.encode(kind(AUTHENTICATION_RECEIVE)),
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

    /// Linux, struct nvmf_auth_send_command: SPSP0 and SPSP1 of 1, SECP of E9h behind a reserved byte, then the length.
    #[test]
    fn authentication_has_the_bytes_the_kernel_sends() {
        let send = FabricsCommand::AuthenticationSend(SecurityTransfer::dh_hmac_chap(72)).encode().encode();
        assert_eq!((send[4], &send[40..48]), (5, &[0, 1, 1, 0xe9, 72, 0, 0, 0][..]));
        let receive =
            FabricsCommand::AuthenticationReceive(SecurityTransfer::dh_hmac_chap(4096)).encode().encode();
        assert_eq!((receive[4], &receive[40..48]), (6, &[0, 1, 1, 0xe9, 0, 16, 0, 0][..]));
        assert!(!AuthRequirement::decode(0xffff).asks() && !AuthRequirement::decode(1 << 16).asks());
        assert!(AuthRequirement::decode(0x0002_0001).asks());
        assert!(AuthRequirement::decode(0x0004_0001).asks_for_secure_channel());
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
