//! DH-HMAC-CHAP: how a host and a subsystem prove to each other that they know a secret.
//!
//! # Architecture
//! - [`Secret`]: a secret as it is written down, `DHHC-1:hh:base64:`.
//! - [`AuthMessage`]: the messages, without any I/O.
//! - [`HostExchange`] and [`ControllerExchange`]: both sides as state machines, message in, message out.
//!   Randomness comes in from outside ([`Nonces`]), so that an exchange can be repeated in tests.
//!
//! # What it does not do
//! No secure channel: what follows the exchange is neither encrypted nor signed, and whoever can change packets
//! can take a connection over once it is authenticated. Private exponents are made for one exchange and then
//! forgotten, so their arithmetic does not run in constant time; comparing responses does.
//!
//! # Where the numbers come from
//! NVMe Base 2.3, NVMe In-band Authentication and DH-HMAC-CHAP Protocol; groups from RFC 7919. What the
//! text leaves open (lengths of transformed keys, padding of Diffie-Hellman values) is as Linux does it.

mod controller;
mod group;
mod hash;
mod host;
mod message;
mod secret;
#[cfg(test)]
mod test;

pub use controller::{ControllerAuth, ControllerExchange};
pub use group::DhGroup;
pub use hash::HashFunction;
pub use host::{AuthError, HostAuth, HostExchange};
pub use message::{AuthMessage, Challenge, FailureReason, Negotiate, Reply};
pub use secret::{Secret, SecretError};

/// Security protocol of these messages in Authentication Send and Receive (SECP; SPC-5 gives E9h to NVMe).
pub const SECURITY_PROTOCOL: u8 = 0xe9;
/// What is specific to that protocol (SPSP1 and SPSP0).
pub const SECURITY_PROTOCOL_SPECIFIC: u16 = 0x0101;
/// Most bytes of a message: a reply with two values of SHA-512 and a number of ffdhe8192 has 1168.
pub const MESSAGE_LEN_MAX: usize = 4096;

/// The random numbers of one side of one exchange; never used for another.
#[derive(Clone)]
pub struct Nonces {
    /// The challenge, of which as much is used as the hash function has bytes.
    pub challenge: [u8; 64],
    /// The private exponent. 512 bits are more than twice the strength of the largest group (RFC 7919, 5.2).
    pub exponent: [u8; 64],
    /// The sequence number; 0 becomes 1, since 0 says that there is no challenge.
    pub sequence: u32,
}

impl Nonces {
    /// Random bytes that one takes.
    pub const LEN: usize = 132;

    /// Makes them from random bytes.
    pub fn from_random(bytes: &[u8; Self::LEN]) -> Self {
        let mut nonces = Self { challenge: [0; 64], exponent: [0; 64], sequence: 0 };
        nonces.challenge.copy_from_slice(&bytes[..64]);
        nonces.exponent.copy_from_slice(&bytes[64..128]);
        nonces.sequence = u32::from_le_bytes([bytes[128], bytes[129], bytes[130], bytes[131]]).max(1);
        nonces
    }
}

/// Private exponents are nobody's business.
impl std::fmt::Debug for Nonces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Nonces").finish_non_exhaustive()
    }
}

/// What both sides have agreed on when a response is computed.
#[derive(Clone, Copy)]
struct Terms<'a> {
    hash: HashFunction,
    /// The Diffie-Hellman secret; `None` with the NULL group.
    shared: Option<&'a [u8]>,
    transaction: u16,
}

impl Terms<'_> {
    /// The parts of the message whose HMAC is the response of `who` (NVMe Base 2.3, DH-HMAC-CHAP_Reply and _Success1):
    /// challenge, sequence number, transaction, SC_C (no secure channel), a word, and both names.
    fn response(
        &self,
        key: &[u8],
        challenge: &[u8],
        sequence: u32,
        word: &str,
        prover: &str,
        verifier: &str,
    ) -> ResponseMac {
        let augmented = self.shared.map(|shared| {
            // With Diffie-Hellman the challenge is HMAC(H(shared secret), challenge).
            self.hash.hmac(&self.hash.digest(shared), &[challenge])
        });
        let challenge = augmented.unwrap_or_else(|| challenge.to_vec());
        let parts: [Vec<u8>; 8] = [
            challenge,
            sequence.to_le_bytes().to_vec(),
            self.transaction.to_le_bytes().to_vec(),
            vec![0],
            word.as_bytes().to_vec(),
            prover.as_bytes().to_vec(),
            vec![0],
            verifier.as_bytes().to_vec(),
        ];
        ResponseMac { hash: self.hash, key: key.to_vec(), message: parts.concat() }
    }

    /// What the host answers to the controller's challenge.
    fn host_response(
        &self,
        secret: &Secret,
        challenge: &[u8],
        sequence: u32,
        names: &AuthNames,
    ) -> ResponseMac {
        let key = secret.transformed(&names.host);
        self.response(&key, challenge, sequence, "HostHost", &names.host, &names.subsystem)
    }

    /// What the controller answers to the host's challenge.
    fn controller_response(
        &self,
        secret: &Secret,
        challenge: &[u8],
        sequence: u32,
        names: &AuthNames,
    ) -> ResponseMac {
        let key = secret.transformed(&names.subsystem);
        self.response(&key, challenge, sequence, "Controller", &names.subsystem, &names.host)
    }
}

/// A response that can be computed, and compared without telling how far it was right.
struct ResponseMac {
    hash: HashFunction,
    key: Vec<u8>,
    message: Vec<u8>,
}

impl ResponseMac {
    fn bytes(&self) -> Vec<u8> {
        self.hash.hmac(&self.key, &[&self.message])
    }

    fn is(&self, other: &[u8]) -> bool {
        self.hash.verify(&self.key, &self.message, other)
    }
}

/// The two whose names are part of every response.
#[derive(Clone, Debug)]
pub struct AuthNames {
    /// NQN of the host.
    pub host: String,
    /// NQN of the subsystem.
    pub subsystem: String,
}
