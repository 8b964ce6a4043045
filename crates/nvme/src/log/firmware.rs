//! Firmware slots (log page 03h): which firmware runs and which waits.
//!
//! Layout: NVMe Base 2.3, Firmware Slot Information Log Page.

use crate::DecodeError;
use crate::identify::{put_text, text};

/// Bytes of the page.
pub const FIRMWARE_LOG_LEN: usize = 512;

const SLOTS: usize = 7;
const REVISION_LEN: usize = 8;

/// The firmware slots of a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirmwareSlots {
    /// Slot that runs now, 1 to 7.
    pub active_slot: u8,
    /// Slot that will run after the next reset; `None`: the same.
    pub next_slot: Option<u8>,
    /// Revision in slot 1 to 7, at index 0 to 6; `None` for an empty slot.
    pub revisions: [Option<String>; SLOTS],
}

impl FirmwareSlots {
    /// Decodes the page: byte 0 active (2:0) and next slot (6:4), revisions of 8 bytes from byte 8.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 64 bytes.
    pub fn decode(page: &[u8]) -> Result<Self, DecodeError> {
        let needed = (SLOTS + 1) * REVISION_LEN;
        let short = DecodeError::Short { what: "the firmware log (03h)", needed, got: page.len() };
        let page = page.get(..needed).ok_or(short)?;
        let mut fields = page.chunks_exact(REVISION_LEN).skip(1).map(text);
        let revisions = std::array::from_fn(|_| fields.next().filter(|revision| !revision.is_empty()));
        let next_slot = Some(page[0] >> 4 & 0b111).filter(|slot| *slot != 0);
        Ok(Self { active_slot: page[0] & 0b111, next_slot, revisions })
    }

    /// Encodes the page.
    pub fn encode(&self) -> [u8; FIRMWARE_LOG_LEN] {
        let mut page = [0; FIRMWARE_LOG_LEN];
        page[0] = self.active_slot & 0b111 | (self.next_slot.unwrap_or(0) & 0b111) << 4;
        let fields = page.chunks_exact_mut(REVISION_LEN).skip(1);
        for (field, revision) in fields.zip(&self.revisions) {
            if let Some(revision) = revision {
                put_text(field, revision, b' ');
            }
        }
        page
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slots_lie_where_the_specification_puts_them() {
        let mut page = [0; FIRMWARE_LOG_LEN];
        page[0] = 0x21;
        page[8..16].copy_from_slice(b"2B7QCXE7");
        let slots = FirmwareSlots::decode(&page).expect("whole page");
        assert_eq!((slots.active_slot, slots.next_slot), (1, Some(2)));
        assert_eq!(slots.revisions[0].as_deref(), Some("2B7QCXE7"));
        assert_eq!(slots.revisions[1], None);
        assert_eq!(slots.encode(), page);
        assert!(FirmwareSlots::decode(&page[..63]).is_err());
    }

    proptest! {
        #[test]
        fn slots_round_trip(page in prop::collection::vec(any::<u8>(), 64)) {
            let slots = FirmwareSlots::decode(&page).expect("64 bytes");
            prop_assert_eq!(FirmwareSlots::decode(&slots.encode()), Ok(slots));
        }
    }
}
