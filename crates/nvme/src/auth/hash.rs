//! The hash functions of the protocol, and HMAC over them.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// A hash function, by its identifier (NVMe Base 2.3, DH-HMAC-CHAP hash function identifiers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HashFunction {
    /// SHA-256 (01h).
    Sha256 = 1,
    /// SHA-384 (02h).
    Sha384 = 2,
    /// SHA-512 (03h).
    Sha512 = 3,
}

impl HashFunction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sha256, Self::Sha384, Self::Sha512];

    /// The one with this identifier.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|hash| hash.id() == id)
    }

    /// Its identifier.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// Bytes of its values.
    pub const fn len_bytes(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// The hash of `bytes`.
    pub(super) fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => Sha256::digest(bytes).to_vec(),
            Self::Sha384 => Sha384::digest(bytes).to_vec(),
            Self::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }

    /// The HMAC of all `parts` in a row.
    pub(super) fn hmac(self, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::Sha256 => fed::<Hmac<Sha256>>(key, parts).finalize().into_bytes().to_vec(),
            Self::Sha384 => fed::<Hmac<Sha384>>(key, parts).finalize().into_bytes().to_vec(),
            Self::Sha512 => fed::<Hmac<Sha512>>(key, parts).finalize().into_bytes().to_vec(),
        }
    }

    /// Whether `code` is the HMAC of `message`, in a time that does not depend on where they differ.
    pub(super) fn verify(self, key: &[u8], message: &[u8], code: &[u8]) -> bool {
        match self {
            Self::Sha256 => fed::<Hmac<Sha256>>(key, &[message]).verify_slice(code).is_ok(),
            Self::Sha384 => fed::<Hmac<Sha384>>(key, &[message]).verify_slice(code).is_ok(),
            Self::Sha512 => fed::<Hmac<Sha512>>(key, &[message]).verify_slice(code).is_ok(),
        }
    }
}

fn fed<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> M {
    let mut mac = <M as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length (RFC 2104)");
    parts.iter().for_each(|part| mac.update(part));
    mac
}

impl fmt::Display for HashFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha256 => "SHA-256",
            Self::Sha384 => "SHA-384",
            Self::Sha512 => "SHA-512",
        })
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// RFC 4231, 4.3 (test case 2: key "Jefe").
    #[test]
    fn hmac_is_that_of_rfc_4231() {
        let begins =
            |hash: HashFunction| hash.hmac(b"Jefe", &[b"what do ya want ", b"for nothing?"])[..4].to_vec();
        assert_eq!(begins(HashFunction::Sha256), [0x5b, 0xdc, 0xc1, 0x46]);
        assert_eq!(begins(HashFunction::Sha384), [0xaf, 0x45, 0xd2, 0xe3]);
        assert_eq!(begins(HashFunction::Sha512), [0x16, 0x4b, 0x7a, 0x7b]);
    }

    #[test]
    fn a_code_of_another_length_or_with_one_bit_changed_is_wrong() {
        for hash in HashFunction::ALL {
            let mut code = hash.hmac(b"key", &[b"message"]);
            assert_eq!(code.len(), hash.len_bytes());
            assert!(hash.verify(b"key", b"message", &code));
            assert!(!hash.verify(b"key", b"message", &code[..31]) && !hash.verify(b"key", b"message", &[]));
            code[17] ^= 1;
            assert!(!hash.verify(b"key", b"message", &code));
        }
    }
}
