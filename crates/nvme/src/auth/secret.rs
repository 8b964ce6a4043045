//! Secrets as they are written down: `DHHC-1:hh:base64:`, as `nvme gen-dhchap-key` makes them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use thiserror::Error;

use super::HashFunction;

/// A secret, which a host or a subsystem is known by.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    /// By which it is transformed before it is used; `None`: it is used as it is.
    hash: Option<HashFunction>,
    key: Vec<u8>,
}

/// Why a text is no secret. None of these shows any of it.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SecretError {
    /// Not of the form.
    #[error("a secret has the form DHHC-1:hh:base64: (`nvme gen-dhchap-key` makes one)")]
    Form,
    /// An unknown hash function.
    #[error("the two digits behind DHHC-1: are 00 to 03 (as it is, SHA-256, SHA-384, SHA-512), not {0:?}")]
    Hash([char; 2]),
    /// Not Base64.
    #[error("what stands behind the second colon is not Base64; was it cut short?")]
    Base64,
    /// A length that none has.
    #[error("its key has {0} bytes, where one has 32, 48 or 64, and a checksum of 4; was it cut short?")]
    Length(usize),
    /// A wrong checksum.
    #[error("its checksum does not fit its key: a letter was changed or two were swapped")]
    Checksum,
}

/// What every secret begins with.
const PREFIX: &str = "DHHC-1:";
/// Bytes of the checksum behind the key.
const CHECKSUM_LEN: usize = 4;
/// What is hashed behind the name (NVMe Base 2.3, DH-HMAC-CHAP, secret transformation).
const TRANSFORM_WORD: &[u8] = b"NVMe-over-Fabrics";

impl Secret {
    /// Reads a secret (NVMe Base 2.3, DH-HMAC-CHAP, secret representation): hash function, key and CRC-32 of the key.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let (hash, rest) =
            text.strip_prefix(PREFIX).and_then(|rest| rest.split_once(':')).ok_or(SecretError::Form)?;
        let encoded =
            rest.strip_suffix(':').filter(|encoded| !encoded.contains(':')).ok_or(SecretError::Form)?;
        let hash = match hash.as_bytes() {
            b"00" => None,
            [b'0', digit @ b'1'..=b'3'] => HashFunction::from_id(digit - b'0'),
            [tens, ones] => return Err(SecretError::Hash([char::from(*tens), char::from(*ones)])),
            _ => return Err(SecretError::Form),
        };
        let mut key = STANDARD.decode(encoded).map_err(|_| SecretError::Base64)?;
        let len = key.len().saturating_sub(CHECKSUM_LEN);
        if !matches!(len, 32 | 48 | 64) {
            return Err(SecretError::Length(len));
        }
        let checksum = key.split_off(len);
        if crc32(&key).to_le_bytes() != *checksum {
            return Err(SecretError::Checksum);
        }
        Ok(Self { hash, key })
    }

    /// The key as it is used by the one who is called `nqn`: the same secret makes other keys for other names.
    pub(super) fn transformed(&self, nqn: &str) -> Vec<u8> {
        match self.hash {
            Some(hash) => hash.hmac(&self.key, &[nqn.as_bytes(), TRANSFORM_WORD]),
            None => self.key.clone(),
        }
    }
}

/// Says nothing about the key.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("hash", &self.hash).finish_non_exhaustive()
    }
}

/// CRC-32 of IEEE 802.3, bit by bit: a key has at most 64 bytes.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

#[cfg(test)]
mod test {
    use super::*;

    /// The key of the specification's example of a secret.
    const EXAMPLE: &str = "ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:";

    #[test]
    fn the_specifications_example_is_read_with_every_hash_function() {
        for (digits, hash) in [
            ("00", None),
            ("01", Some(HashFunction::Sha256)),
            ("02", Some(HashFunction::Sha384)),
            ("03", Some(HashFunction::Sha512)),
        ] {
            let secret = Secret::parse(&format!("DHHC-1:{digits}:{EXAMPLE}")).expect("the example");
            assert_eq!((secret.hash, secret.key.len()), (hash, 32));
            assert_eq!(secret.key[..4], [0x89, 0xae, 0xb3, 0x1a]);
            assert_eq!(secret.transformed("nqn.x").len(), hash.map_or(32, HashFunction::len_bytes));
            assert!(!format!("{secret:?}").contains("137"), "0x89 is a byte of the key");
        }
    }

    #[test]
    fn what_is_no_secret_is_refused_without_showing_it() {
        let cut = &EXAMPLE[..EXAMPLE.len() - 5];
        let changed = EXAMPLE.replacen("ia6z", "ia6y", 1);
        for (text, wanted) in [
            (String::new(), SecretError::Form),
            ("DHHC-1:00".to_owned(), SecretError::Form),
            (format!("DHHC-2:00:{EXAMPLE}"), SecretError::Form),
            (format!("DHHC-1:00:{}", EXAMPLE.trim_end_matches(':')), SecretError::Form),
            (format!("DHHC-1:00:{EXAMPLE}:"), SecretError::Form),
            (format!("DHHC-1:0:{EXAMPLE}"), SecretError::Form),
            (format!("DHHC-1:04:{EXAMPLE}"), SecretError::Hash(['0', '4'])),
            (format!("DHHC-1:00:{cut}:"), SecretError::Length(29)),
            (format!("DHHC-1:00:!{EXAMPLE}"), SecretError::Base64),
            (format!("DHHC-1:00:{changed}"), SecretError::Checksum),
        ] {
            let error = Secret::parse(&text).expect_err(&text);
            assert_eq!(error, wanted, "{text}");
            assert!(!error.to_string().contains("ia6"), "{error}");
        }
    }

    /// The check value of this CRC in every catalogue.
    #[test]
    fn the_checksum_is_crc_32() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
