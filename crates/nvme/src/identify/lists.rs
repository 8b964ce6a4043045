//! The smaller answers of Identify: active namespaces (CNS 02h), identifiers of a namespace (03h),
//! and the NVM command set's limits (06h).
//!
//! Layouts: NVMe Base 2.3, Active Namespace ID List and Namespace Identification Descriptor; NVM
//! Command Set 1.1, Identify Controller for the NVM command set.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::IDENTIFY_LEN;
use crate::DecodeError;
use crate::wire::{self, assert_layout};

/// Namespaces one list can hold.
const NAMESPACES_MAX: usize = IDENTIFY_LEN / 4;

/// Decodes a list of active namespaces (CNS 02h): ascending identifiers up to the first 0.
///
/// # Errors
/// [`DecodeError::Short`] for fewer than 4096 bytes.
pub fn decode_active_namespaces(page: &[u8]) -> Result<Vec<u32>, DecodeError> {
    let wire: &[U32; NAMESPACES_MAX] = wire::layout("the active namespace list", page)?;
    Ok(wire.iter().map(|nsid| nsid.get()).take_while(|nsid| *nsid != 0).collect())
}

/// Encodes a list of active namespaces; more than 1024 are asked for in several commands.
pub fn encode_active_namespaces(namespaces: &[u32]) -> [u8; IDENTIFY_LEN] {
    let mut wire = [U32::ZERO; NAMESPACES_MAX];
    for (slot, nsid) in wire.iter_mut().zip(namespaces) {
        *slot = (*nsid).into();
    }
    zerocopy::transmute!(wire)
}

/// One identifier of a namespace (CNS 03h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespaceId {
    /// IEEE extended unique identifier (type 1).
    Eui64([u8; 8]),
    /// Globally unique identifier (type 2).
    Nguid([u8; 16]),
    /// UUID (type 3).
    Uuid([u8; 16]),
    /// Command set (type 4): 0 is the NVM command set.
    CommandSet(u8),
}

impl NamespaceId {
    /// Decodes the descriptors of a page; kinds we do not know are skipped.
    ///
    /// # Errors
    /// [`DecodeError`] when a descriptor runs over the end or has a length that its type cannot have.
    pub fn decode_all(page: &[u8]) -> Result<Vec<Self>, DecodeError> {
        const WHAT: &str = "the namespace identification descriptors";
        let mut rest = page;
        let mut found = Vec::new();
        // A descriptor: type, length, two reserved bytes, then the identifier. Type 0 ends the list.
        while let [kind @ 1..=u8::MAX, length, _, _, tail @ ..] = rest {
            let short = DecodeError::Short { what: WHAT, needed: 4 + usize::from(*length), got: rest.len() };
            let (id, next) = tail.split_at_checked((*length).into()).ok_or(short)?;
            let wrong_length = |_| DecodeError::Value {
                what: WHAT,
                field: "NIDL",
                value: (*length).into(),
                why: "types 1 to 4 are 8, 16, 16 and 1 bytes long",
            };
            match kind {
                1 => found.push(Self::Eui64(id.try_into().map_err(wrong_length)?)),
                2 => found.push(Self::Nguid(id.try_into().map_err(wrong_length)?)),
                3 => found.push(Self::Uuid(id.try_into().map_err(wrong_length)?)),
                4 => {
                    let [command_set] = id.try_into().map_err(wrong_length)?;
                    found.push(Self::CommandSet(command_set));
                }
                _ => {}
            }
            rest = next;
        }
        Ok(found)
    }

    /// Encodes a page of descriptors; those that no longer fit are left out.
    pub fn encode_all(ids: &[Self]) -> [u8; IDENTIFY_LEN] {
        let mut page = [0; IDENTIFY_LEN];
        let mut at = 0;
        for id in ids {
            let (kind, bytes): (u8, &[u8]) = match id {
                Self::Eui64(bytes) => (1, bytes),
                Self::Nguid(bytes) => (2, bytes),
                Self::Uuid(bytes) => (3, bytes),
                Self::CommandSet(command_set) => (4, std::slice::from_ref(command_set)),
            };
            let Some(slot) = page.get_mut(at..at + 4 + bytes.len()) else { break };
            slot[0] = kind;
            slot[1] = bytes.len() as u8;
            slot[4..].copy_from_slice(bytes);
            at += 4 + bytes.len();
        }
        page
    }
}

/// Limits of the NVM command set (CNS 06h, command set 0). A limit of 0 is no limit, hence `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentifyNvm {
    /// Most data of one Verify, a power of two of the smallest memory page (VSL).
    pub verify_shift: Option<u8>,
    /// The same for Write Zeroes (WZSL).
    pub write_zeroes_shift: Option<u8>,
    /// Most ranges of one Dataset Management (DMRL).
    pub deallocate_ranges: Option<u8>,
    /// Most blocks of one range (DMRSL).
    pub deallocate_range_blocks: Option<u32>,
    /// Most blocks of one Dataset Management (DMSL).
    pub deallocate_blocks: Option<u64>,
}

impl IdentifyNvm {
    /// Decodes a page.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 16 bytes.
    pub fn decode(page: &[u8]) -> Result<Self, DecodeError> {
        let wire: &NvmWire = wire::layout("Identify Controller for the NVM command set", page)?;
        Ok(Self {
            verify_shift: Some(wire.vsl).filter(|shift| *shift != 0),
            write_zeroes_shift: Some(wire.wzsl).filter(|shift| *shift != 0),
            deallocate_ranges: Some(wire.dmrl).filter(|ranges| *ranges != 0),
            deallocate_range_blocks: Some(wire.dmrsl.get()).filter(|blocks| *blocks != 0),
            deallocate_blocks: Some(wire.dmsl.get()).filter(|blocks| *blocks != 0),
        })
    }

    /// Encodes the page.
    pub fn encode(&self) -> [u8; IDENTIFY_LEN] {
        let mut wire = NvmWire::new_zeroed();
        wire.vsl = self.verify_shift.unwrap_or(0);
        wire.wzsl = self.write_zeroes_shift.unwrap_or(0);
        wire.dmrl = self.deallocate_ranges.unwrap_or(0);
        wire.dmrsl = self.deallocate_range_blocks.unwrap_or(0).into();
        wire.dmsl = self.deallocate_blocks.unwrap_or(0).into();
        let mut page = [0; IDENTIFY_LEN];
        page[..size_of::<NvmWire>()].copy_from_slice(wire.as_bytes());
        page
    }
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct NvmWire {
    vsl: u8,
    wzsl: u8,
    wusl: u8,
    dmrl: u8,
    dmrsl: U32,
    dmsl: U64,
}
assert_layout!(NvmWire, 16, { dmrl: 3, dmrsl: 4, dmsl: 8 });

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_list_ends_at_the_first_zero() {
        let page = encode_active_namespaces(&[1, 3]);
        assert_eq!(page[..12], [1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(decode_active_namespaces(&page), Ok(vec![1, 3]));
        let full: Vec<u32> = (1..=1024).collect();
        assert_eq!(decode_active_namespaces(&encode_active_namespaces(&full)), Ok(full));
    }

    #[test]
    fn descriptors_round_trip_and_unknown_kinds_are_skipped() {
        let ids = [
            NamespaceId::Eui64([1; 8]),
            NamespaceId::Nguid([2; 16]),
            NamespaceId::Uuid([3; 16]),
            NamespaceId::CommandSet(0),
        ];
        let page = NamespaceId::encode_all(&ids);
        assert_eq!(page[..4], [1, 8, 0, 0]);
        assert_eq!(NamespaceId::decode_all(&page).expect("as encoded"), ids);
        let with_unknown = [9, 2, 0, 0, 7, 7, 4, 1, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(NamespaceId::decode_all(&with_unknown), Ok(vec![NamespaceId::CommandSet(0)]));
    }

    #[test]
    fn broken_descriptors_are_errors() {
        assert!(matches!(NamespaceId::decode_all(&[3, 16, 0, 0, 1]), Err(DecodeError::Short { .. })));
        assert!(matches!(
            NamespaceId::decode_all(&[1, 4, 0, 0, 1, 2, 3, 4]),
            Err(DecodeError::Value { field: "NIDL", .. })
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_fail_in_words(page in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(ids) = NamespaceId::decode_all(&page) {
                prop_assert_eq!(NamespaceId::decode_all(&NamespaceId::encode_all(&ids)), Ok(ids));
            }
        }

        #[test]
        fn limits_round_trip(bytes in any::<[u8; 16]>()) {
            let limits = IdentifyNvm::decode(&bytes).expect("16 bytes");
            prop_assert_eq!(IdentifyNvm::decode(&limits.encode()), Ok(limits));
        }
    }
}
