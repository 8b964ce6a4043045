//! Vital product data pages, SPC-5 section 7.7 and SBC-4 section 6.6: decoding only.

/// Where the serial number starts in page 80h; byte 1 is the page code, bytes 2 and 3 the length (SPC-5, 7.7.19).
const SERIAL_AT: usize = 4;

/// The unit serial number of page 80h, without the blanks around it; `None` where there is none or the page is
/// another.
pub fn serial_number(page: &[u8]) -> Option<String> {
    let [_, 0x80, high, low, ..] = *page else { return None };
    let end = SERIAL_AT + usize::from(u16::from_be_bytes([high, low]));
    let bytes = page.get(SERIAL_AT..end.min(page.len()))?;
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}
