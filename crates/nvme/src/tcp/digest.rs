//! CRC32C as NVMe/TCP uses it for headers and data.
//!
//! The polynomial is Castagnoli's (RFC 3385, section 4); the four bytes go little-endian.

/// A digest in the making: data may come in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u32);

impl Digest {
    /// The digest of nothing yet.
    #[expect(clippy::new_without_default, reason = "an empty digest is a beginning, not a default")]
    pub const fn new() -> Self {
        Self(0)
    }

    /// The digest of `bytes`.
    pub fn compute(bytes: &[u8]) -> Self {
        Self(crc32c::crc32c(bytes))
    }

    /// Goes on with `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0 = crc32c::crc32c_append(self.0, bytes);
    }

    /// The value.
    pub const fn as_u32(self) -> u32 {
        self.0
    }

    /// The four bytes on the wire.
    pub const fn encode(self) -> [u8; 4] {
        self.0.to_le_bytes()
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// RFC 3720 (iSCSI, the same digest), appendix B.4.
    #[test]
    fn digests_are_those_of_the_standard() {
        assert_eq!(Digest::compute(&[0; 32]).encode(), [0xaa, 0x36, 0x91, 0x8a]);
        assert_eq!(Digest::compute(&[0xff; 32]).encode(), [0x43, 0xab, 0xa8, 0x62]);
        assert_eq!(Digest::compute(b"123456789").as_u32(), 0xe306_9283);
    }

    #[test]
    fn pieces_make_the_same_digest() {
        let mut digest = Digest::new();
        digest.update(b"1234");
        digest.update(b"");
        digest.update(b"56789");
        assert_eq!(digest, Digest::compute(b"123456789"));
    }
}
