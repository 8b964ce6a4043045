//! The messages of DH-HMAC-CHAP: bytes to values and back.
//!
//! Layouts: NVMe Base 2.3, In-band Authentication, messages AUTH_Negotiate to AUTH_Failure. What lies behind a message
//! is ignored: Authentication Receive fills the host's buffer up.

use std::fmt;

use zerocopy::little_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DecodeError;
use crate::wire::{self, assert_layout};

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthMessage {
    /// AUTH_Negotiate, host: what it can.
    Negotiate(Negotiate),
    /// DH-HMAC-CHAP_Challenge, controller: what was chosen, and the challenge.
    Challenge(Challenge),
    /// DH-HMAC-CHAP_Reply, host: its response, and a challenge of its own.
    Reply(Reply),
    /// DH-HMAC-CHAP_Success1, controller: the response was right.
    Success1 {
        /// The transaction.
        transaction: u16,
        /// Bytes of the hash function's values, told also without a response.
        hash_len: u8,
        /// Its response to the host's challenge.
        response: Option<Vec<u8>>,
    },
    /// DH-HMAC-CHAP_Success2, host: the controller's response was right.
    Success2 {
        /// The transaction.
        transaction: u16,
    },
    /// AUTH_Failure1, controller.
    Failure1 {
        /// The transaction.
        transaction: u16,
        /// Why.
        reason: FailureReason,
    },
    /// AUTH_Failure2, host.
    Failure2 {
        /// The transaction.
        transaction: u16,
        /// Why.
        reason: FailureReason,
    },
}

/// What a host can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negotiate {
    /// The transaction, chosen by the host.
    pub transaction: u16,
    /// Secure channel concatenation (SC_C): 0 is none.
    pub secure_channel: u8,
    /// Identifiers of hash functions, the best liked one first; at most 30.
    pub hashes: Vec<u8>,
    /// Identifiers of groups, the best liked one first; at most 30.
    pub groups: Vec<u8>,
}

/// A controller's choice and challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The transaction.
    pub transaction: u16,
    /// Identifier of the hash function.
    pub hash: u8,
    /// Identifier of the group.
    pub group: u8,
    /// Sequence number of the challenge (S1).
    pub sequence: u32,
    /// The challenge (C1).
    pub challenge: Vec<u8>,
    /// The controller's Diffie-Hellman number; nothing with the NULL group.
    pub dh_value: Vec<u8>,
}

/// A host's response and challenge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The transaction.
    pub transaction: u16,
    /// The response (R1).
    pub response: Vec<u8>,
    /// The host's challenge with its sequence number (C2, S2), where it wants the controller to prove itself. Both
    /// have as many bytes as the response.
    pub challenge: Option<(Vec<u8>, u32)>,
    /// The host's Diffie-Hellman number; nothing with the NULL group.
    pub dh_value: Vec<u8>,
}

/// Why an authentication failed: the reason code explanation (the reason code is always 01h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureReason(pub u8);

impl FailureReason {
    /// Authentication failed: a wrong secret.
    pub const FAILED: Self = Self(1);
    /// Authentication protocol not usable.
    pub const NOT_USABLE: Self = Self(2);
    /// Secure channel concatenation mismatch.
    pub const SECURE_CHANNEL: Self = Self(3);
    /// Hash function not usable.
    pub const HASH: Self = Self(4);
    /// Diffie-Hellman group not usable.
    pub const GROUP: Self = Self(5);
    /// Incorrect payload.
    pub const PAYLOAD: Self = Self(6);
    /// Incorrect protocol message.
    pub const MESSAGE: Self = Self(7);
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::FAILED => "authentication failed",
            Self::NOT_USABLE => "authentication protocol not usable",
            Self::SECURE_CHANNEL => "secure channel concatenation mismatch",
            Self::HASH => "hash function not usable",
            Self::GROUP => "Diffie-Hellman group not usable",
            Self::PAYLOAD => "incorrect payload",
            Self::MESSAGE => "incorrect protocol message",
            Self(code) => return write!(f, "reason {code:#04x}"),
        })
    }
}

/// AUTH_TYPE: messages of every protocol, and those of DH-HMAC-CHAP.
const COMMON: u8 = 0;
const DH_HMAC_CHAP: u8 = 1;
// AUTH_ID.
const NEGOTIATE: u8 = 0x00;
const CHALLENGE: u8 = 0x01;
const REPLY: u8 = 0x02;
const SUCCESS1: u8 = 0x03;
const SUCCESS2: u8 = 0x04;
const FAILURE2: u8 = 0xf0;
const FAILURE1: u8 = 0xf1;
/// The protocol's identifier in AUTH_Negotiate.
const PROTOCOL: u8 = 1;
/// Reason code: authentication failure, the only one.
const AUTHENTICATION_FAILURE: u8 = 1;
/// Places for identifiers in a protocol descriptor; those of groups come second.
const IDS: usize = 30;
const WHAT: &str = "an authentication message";

impl AuthMessage {
    /// Reads a message.
    ///
    /// # Errors
    /// [`DecodeError::Short`] where it ends before its lengths say, [`DecodeError::Value`] for kinds, lengths and
    /// protocols that there are not.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let head: &HeadWire = wire::layout(WHAT, bytes)?;
        let transaction = head.transaction.get();
        match (head.kind, head.id) {
            (COMMON, NEGOTIATE) => negotiate(bytes).map(Self::Negotiate),
            (DH_HMAC_CHAP, CHALLENGE) => challenge(bytes).map(Self::Challenge),
            (DH_HMAC_CHAP, REPLY) => reply(bytes).map(Self::Reply),
            (DH_HMAC_CHAP, SUCCESS1) => success1(bytes),
            (DH_HMAC_CHAP, SUCCESS2) => Ok(Self::Success2 { transaction }),
            (COMMON, FAILURE1) => Ok(Self::Failure1 { transaction, reason: FailureReason(head.byte7) }),
            (COMMON, FAILURE2) => Ok(Self::Failure2 { transaction, reason: FailureReason(head.byte7) }),
            (COMMON | DH_HMAC_CHAP, id) => Err(value("AUTH_ID", id, "there is no such message")),
            (kind, _) => Err(value("AUTH_TYPE", kind, "0 and 1 are the messages of DH-HMAC-CHAP")),
        }
    }

    /// The bytes of the message.
    pub fn encode(&self) -> Vec<u8> {
        let head = |kind, id, transaction: u16, byte6, byte7| HeadWire {
            kind,
            id,
            reserved2: [0; 2],
            transaction: transaction.into(),
            byte6,
            byte7,
        };
        match self {
            Self::Negotiate(negotiate) => negotiate.encode(),
            Self::Challenge(challenge) => challenge.encode(),
            Self::Reply(reply) => reply.encode(),
            Self::Success1 { transaction, hash_len, response } => {
                let wire = Success1Wire {
                    head: head(DH_HMAC_CHAP, SUCCESS1, *transaction, *hash_len, 0),
                    valid: response.is_some().into(),
                    reserved9: [0; 7],
                };
                // Without a response there is room for one (Linux, struct nvmf_auth_dhchap_success1_data).
                let nothing = vec![0; usize::from(*hash_len)];
                [wire.as_bytes(), response.as_deref().unwrap_or(&nothing)].concat()
            }
            Self::Success2 { transaction } => {
                [head(DH_HMAC_CHAP, SUCCESS2, *transaction, 0, 0).as_bytes(), &[0; 8]].concat()
            }
            Self::Failure1 { transaction, reason } => {
                head(COMMON, FAILURE1, *transaction, AUTHENTICATION_FAILURE, reason.0).as_bytes().to_vec()
            }
            Self::Failure2 { transaction, reason } => {
                head(COMMON, FAILURE2, *transaction, AUTHENTICATION_FAILURE, reason.0).as_bytes().to_vec()
            }
        }
    }

    /// Its name in the specification.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Negotiate(_) => "AUTH_Negotiate",
            Self::Challenge(_) => "DH-HMAC-CHAP_Challenge",
            Self::Reply(_) => "DH-HMAC-CHAP_Reply",
            Self::Success1 { .. } => "DH-HMAC-CHAP_Success1",
            Self::Success2 { .. } => "DH-HMAC-CHAP_Success2",
            Self::Failure1 { .. } => "AUTH_Failure1",
            Self::Failure2 { .. } => "AUTH_Failure2",
        }
    }

    /// The transaction that it belongs to.
    pub const fn transaction(&self) -> u16 {
        match self {
            Self::Negotiate(negotiate) => negotiate.transaction,
            Self::Challenge(challenge) => challenge.transaction,
            Self::Reply(reply) => reply.transaction,
            Self::Success1 { transaction, .. }
            | Self::Success2 { transaction }
            | Self::Failure1 { transaction, .. }
            | Self::Failure2 { transaction, .. } => *transaction,
        }
    }
}

impl Negotiate {
    fn encode(&self) -> Vec<u8> {
        let mut ids = [0; 2 * IDS];
        for (place, id) in ids[..IDS].iter_mut().zip(&self.hashes) {
            *place = *id;
        }
        for (place, id) in ids[IDS..].iter_mut().zip(&self.groups) {
            *place = *id;
        }
        let wire = NegotiateWire {
            head: HeadWire {
                kind: COMMON,
                id: NEGOTIATE,
                reserved2: [0; 2],
                transaction: self.transaction.into(),
                byte6: self.secure_channel,
                byte7: 1,
            },
            protocol: ProtocolWire {
                id: PROTOCOL,
                reserved1: 0,
                hash_count: self.hashes.len().min(IDS) as u8,
                group_count: self.groups.len().min(IDS) as u8,
                ids,
            },
        };
        wire.as_bytes().to_vec()
    }
}

fn negotiate(bytes: &[u8]) -> Result<Negotiate, DecodeError> {
    let head: &HeadWire = wire::layout(WHAT, bytes)?;
    // NAPD: one descriptor a protocol, and there is one protocol so far.
    for number in 0..usize::from(head.byte7) {
        let at = size_of::<HeadWire>() + number * size_of::<ProtocolWire>();
        let protocol: &ProtocolWire = wire::layout(WHAT, bytes.get(at..).unwrap_or_default())?;
        if protocol.id != PROTOCOL {
            continue;
        }
        let ids = |count: u8, from: usize, field| match usize::from(count) {
            count @ 0..=IDS => Ok(protocol.ids[from..from + count].to_vec()),
            _ => Err(value(field, count, "there is room for 30")),
        };
        return Ok(Negotiate {
            transaction: head.transaction.get(),
            secure_channel: head.byte6,
            hashes: ids(protocol.hash_count, 0, "HALEN")?,
            groups: ids(protocol.group_count, IDS, "DHLEN")?,
        });
    }
    Err(value("NAPD", head.byte7, "DH-HMAC-CHAP is none of its protocols"))
}

impl Challenge {
    fn encode(&self) -> Vec<u8> {
        let wire = ValuesWire {
            head: values_head(CHALLENGE, self.transaction, self.challenge.len()),
            byte8: self.hash,
            byte9: self.group,
            dh_len: (self.dh_value.len() as u16).into(),
            sequence: self.sequence.into(),
        };
        [wire.as_bytes(), &self.challenge, &self.dh_value].concat()
    }
}

fn challenge(bytes: &[u8]) -> Result<Challenge, DecodeError> {
    let wire: &ValuesWire = wire::layout(WHAT, bytes)?;
    let mut rest = Rest::new(bytes);
    Ok(Challenge {
        transaction: wire.head.transaction.get(),
        hash: wire.byte8,
        group: wire.byte9,
        sequence: wire.sequence.get(),
        challenge: rest.take(wire.head.byte6.into())?,
        dh_value: rest.take(wire.dh_len.get().into())?,
    })
}

impl Reply {
    fn encode(&self) -> Vec<u8> {
        let nothing = vec![0; self.response.len()];
        let (challenge, sequence) = match &self.challenge {
            Some((challenge, sequence)) => (challenge, *sequence),
            None => (&nothing, 0),
        };
        let wire = ValuesWire {
            head: values_head(REPLY, self.transaction, self.response.len()),
            byte8: self.challenge.is_some().into(),
            byte9: 0,
            dh_len: (self.dh_value.len() as u16).into(),
            sequence: sequence.into(),
        };
        [wire.as_bytes(), &self.response, challenge, &self.dh_value].concat()
    }
}

fn reply(bytes: &[u8]) -> Result<Reply, DecodeError> {
    let wire: &ValuesWire = wire::layout(WHAT, bytes)?;
    let mut rest = Rest::new(bytes);
    let response = rest.take(wire.head.byte6.into())?;
    let challenge = rest.take(wire.head.byte6.into())?;
    // CVALID, bit 0.
    let is_asked = wire.byte8 & 1 != 0;
    Ok(Reply {
        transaction: wire.head.transaction.get(),
        response,
        challenge: is_asked.then(|| (challenge, wire.sequence.get())),
        dh_value: rest.take(wire.dh_len.get().into())?,
    })
}

fn success1(bytes: &[u8]) -> Result<AuthMessage, DecodeError> {
    let wire: &Success1Wire = wire::layout(WHAT, bytes)?;
    let hash_len = wire.head.byte6;
    // RVALID, bit 0.
    let response = if wire.valid & 1 == 0 { None } else { Some(Rest::new(bytes).take(hash_len.into())?) };
    Ok(AuthMessage::Success1 { transaction: wire.head.transaction.get(), hash_len, response })
}

const fn values_head(id: u8, transaction: u16, hash_len: usize) -> HeadWire {
    HeadWire {
        kind: DH_HMAC_CHAP,
        id,
        reserved2: [0; 2],
        transaction: U16::new(transaction),
        byte6: hash_len as u8,
        byte7: 0,
    }
}

/// What follows the first 16 bytes, piece by piece.
struct Rest<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: size_of::<ValuesWire>() }
    }

    fn take(&mut self, len: usize) -> Result<Vec<u8>, DecodeError> {
        let end = self.at + len;
        let piece = self.bytes.get(self.at..end);
        let piece = piece.ok_or(DecodeError::Short { what: WHAT, needed: end, got: self.bytes.len() })?;
        self.at = end;
        Ok(piece.to_vec())
    }
}

fn value(field: &'static str, value: u8, why: &'static str) -> DecodeError {
    DecodeError::Value { what: WHAT, field, value: value.into(), why }
}

/// What all messages begin with. Bytes 6 and 7 are SC_C and NAPD of AUTH_Negotiate, HL and reserved of the messages
/// with values, reason code and its explanation of failures.
#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct HeadWire {
    kind: u8,
    id: u8,
    reserved2: [u8; 2],
    transaction: U16,
    byte6: u8,
    byte7: u8,
}
assert_layout!(HeadWire, 8, { transaction: 4, byte6: 6, byte7: 7 });

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct ProtocolWire {
    id: u8,
    reserved1: u8,
    hash_count: u8,
    group_count: u8,
    ids: [u8; 2 * IDS],
}
assert_layout!(ProtocolWire, 64, { hash_count: 2, group_count: 3, ids: 4 });

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct NegotiateWire {
    head: HeadWire,
    protocol: ProtocolWire,
}
assert_layout!(NegotiateWire, 72, { protocol: 8 });

/// Challenge (HASHID, DHGID) and Reply (CVALID, reserved).
#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct ValuesWire {
    head: HeadWire,
    byte8: u8,
    byte9: u8,
    dh_len: U16,
    sequence: U32,
}
assert_layout!(ValuesWire, 16, { byte8: 8, byte9: 9, dh_len: 10, sequence: 12 });

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct Success1Wire {
    head: HeadWire,
    valid: u8,
    reserved9: [u8; 7],
}
assert_layout!(Success1Wire, 16, { valid: 8 });

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    /// What Linux 6.1 sends first (drivers/nvme/host/auth.c): three hash functions, six groups.
    #[test]
    fn negotiate_has_the_bytes_the_kernel_sends() {
        let message = AuthMessage::Negotiate(Negotiate {
            transaction: 0x0102,
            secure_channel: 0,
            hashes: vec![1, 2, 3],
            groups: vec![0, 1, 2, 3, 4, 5],
        });
        let bytes = message.encode();
        assert_eq!(bytes.len(), 72);
        assert_eq!(bytes[..16], [0, 0, 0, 0, 2, 1, 0, 1, 1, 0, 3, 6, 1, 2, 3, 0]);
        assert_eq!(bytes[42..48], [0, 1, 2, 3, 4, 5]);
        assert_eq!(AuthMessage::decode(&bytes), Ok(message));
    }

    #[test]
    fn protocols_that_nobody_knows_are_passed_over() {
        let wanted = Negotiate { transaction: 7, secure_channel: 0, hashes: vec![1], groups: vec![0] };
        let mut bytes = AuthMessage::Negotiate(wanted.clone()).encode();
        let mut other = bytes[8..].to_vec();
        other[0] = 9;
        bytes.splice(8..8, other);
        bytes[7] = 2;
        assert_eq!(AuthMessage::decode(&bytes), Ok(AuthMessage::Negotiate(wanted)));
        bytes[7] = 1;
        assert!(AuthMessage::decode(&bytes).is_err(), "only the unknown one");
        bytes[7] = 3;
        bytes[8 + 64] = 9;
        assert!(matches!(AuthMessage::decode(&bytes), Err(DecodeError::Short { .. })), "fewer than it says");
    }

    #[test]
    fn a_message_cut_anywhere_is_refused_or_is_a_shorter_one_with_the_same_meaning() {
        let reply = AuthMessage::Reply(Reply {
            transaction: 1,
            response: vec![1; 32],
            challenge: Some((vec![2; 32], 5)),
            dh_value: vec![3; 256],
        });
        let bytes = reply.encode();
        assert_eq!(bytes.len(), 16 + 64 + 256);
        for len in 0..bytes.len() {
            assert!(AuthMessage::decode(&bytes[..len]).is_err(), "{len}");
        }
        let padded = [bytes, vec![0xaa; 9]].concat();
        assert_eq!(AuthMessage::decode(&padded), Ok(reply));
    }

    proptest! {
        #[test]
        fn decoded_messages_round_trip(
            kind in 0_u8..3,
            id in prop_oneof![0_u8..6, Just(0xf0), Just(0xf1)],
            rest in prop::collection::vec(any::<u8>(), 0..1500),
            lengths in any::<(u8, u8)>(),
        ) {
            let mut bytes = [vec![kind, id, 0, 0], rest].concat();
            if bytes.len() > 12 {
                (bytes[6], bytes[7], bytes[11]) = (lengths.0 % 80, lengths.1 % 3, bytes[11] % 5);
            }
            if let Ok(message) = AuthMessage::decode(&bytes) {
                prop_assert_eq!(AuthMessage::decode(&message.encode()), Ok(message));
            }
        }
    }
}
