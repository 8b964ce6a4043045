//! Identify (opcode 06h): what a controller and its namespaces say about themselves.
//!
//! Decodes the pages and encodes them; which page is asked for is `command`'s matter. Vendor
//! specific bytes, but for our own, and fields that no part of heatsoak uses are left alone; the raw
//! page is kept by whoever read it. Layouts: NVMe Base 2.3, Identify command; NVM Command Set 1.1, Identify Namespace.

mod controller;
mod controller_wire;
mod lists;
mod namespace;
mod power_state;
mod simulation;

pub use controller::{FabricsAttributes, HostMemoryNeeds, IdentifyController, Version};
pub use lists::{IdentifyNvm, NamespaceId, decode_active_namespaces, encode_active_namespaces};
pub use namespace::{IdentifyNamespace, LbaFormat};
pub use power_state::{POWER_STATES_MAX, PowerState};
pub use simulation::Simulation;

/// Bytes of every Identify page.
pub const IDENTIFY_LEN: usize = 4096;

/// Text of a fixed field: up to the first NUL, without surrounding spaces.
///
/// The specification allows printable ASCII only; anything else becomes `?`, so that a broken
/// string can be shown and does not hide the rest of the page.
pub(crate) fn text(field: &[u8]) -> String {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    let printable = |byte: &u8| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '?' };
    field[..end].iter().map(printable).collect::<String>().trim().to_owned()
}

/// Writes `text` into a field and pads it; what does not fit is cut off.
pub(crate) fn put_text(field: &mut [u8], text: &str, padding: u8) {
    let mut bytes = text.chars().map(|c| if c.is_ascii() { c as u8 } else { b'?' });
    for byte in field {
        *byte = bytes.next().unwrap_or(padding);
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn text_is_padded_trimmed_and_never_breaks_the_page() {
        assert_eq!(text(b"  S3ESNX0J  "), "S3ESNX0J");
        assert_eq!(text(b"abc\0garbage"), "abc");
        assert_eq!(text(b"a\xff\x07b"), "a??b");
        let mut field = [0; 4];
        put_text(&mut field, "ab", b' ');
        assert_eq!(&field, b"ab  ");
        put_text(&mut field, "abcdef", b' ');
        assert_eq!(&field, b"abcd");
    }
}
