//! Supported log pages (00h): which pages a controller has (NVMe 2.0 and later).
//!
//! Layout: NVMe Base 2.3, Supported Log Pages Log Page: 256 dwords, bit 0 is "supported".

use zerocopy::little_endian::U32;

use super::LogId;
use crate::DecodeError;
use crate::wire;

/// Bytes of the page.
pub const SUPPORTED_LOG_LEN: usize = 1024;

const IDENTIFIERS: usize = 256;
const SUPPORTED: u32 = 1;

/// Decodes the page into the identifiers of the pages that exist, ascending.
///
/// # Errors
/// [`DecodeError::Short`] for fewer than 1024 bytes.
pub fn decode(page: &[u8]) -> Result<Vec<LogId>, DecodeError> {
    let wire: &[U32; IDENTIFIERS] = wire::layout("the supported log pages (00h)", page)?;
    let supported = |lid: &u8| wire[usize::from(*lid)].get() & SUPPORTED != 0;
    Ok((0..=u8::MAX).filter(supported).map(LogId).collect())
}

/// Encodes the page.
pub fn encode(pages: &[LogId]) -> [u8; SUPPORTED_LOG_LEN] {
    let mut wire = [U32::ZERO; IDENTIFIERS];
    for lid in pages {
        wire[usize::from(lid.0)] = SUPPORTED.into();
    }
    zerocopy::transmute!(wire)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn pages_round_trip() {
        let pages = vec![LogId::ERRORS, LogId::SMART, LogId::OCP_SMART];
        let page = encode(&pages);
        assert_eq!((page[4], page[8], page[12], page[768]), (1, 1, 0, 1));
        assert_eq!(decode(&page), Ok(pages));
        assert!(decode(&page[..1023]).is_err());
    }
}
