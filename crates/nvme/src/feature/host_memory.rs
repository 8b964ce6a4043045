//! Host Memory Buffer (feature 0Dh): whether a drive without DRAM uses the host's.
//!
//! Read only: the kernel owns the buffer, and taking it away from under a drive is not ours to do.
//! NVMe Base 2.3, Host Memory Buffer.

use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::{DwordFeature, FeatureId};
use crate::DecodeError;
use crate::wire::{self, assert_layout};

/// Whether the drive may use host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostMemoryBuffer {
    /// EHM: the buffer is in use.
    pub enabled: bool,
}

impl DwordFeature for HostMemoryBuffer {
    const ID: FeatureId = FeatureId::HOST_MEMORY_BUFFER;

    fn decode(dword: u32) -> Result<Self, DecodeError> {
        Ok(Self { enabled: dword & 1 != 0 })
    }

    fn encode(&self) -> u32 {
        u32::from(self.enabled)
    }
}

/// Bytes of the attributes that Get Features returns.
pub const HOST_MEMORY_ATTRIBUTES_LEN: usize = 4096;

/// The buffer as the drive holds it, from the data of Get Features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostMemoryAttributes {
    /// Size in units of the controller's memory page (4 KiB with every Linux host).
    pub size_pages: u32,
    /// How many pieces it has.
    pub descriptors: u32,
}

impl HostMemoryAttributes {
    /// Decodes the attributes. Where the descriptors lie in host memory is left alone.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 16 bytes.
    pub fn decode(data: &[u8]) -> Result<Self, DecodeError> {
        let wire: &AttributesWire = wire::layout("the host memory buffer attributes (feature 0Dh)", data)?;
        Ok(Self { size_pages: wire.size.get(), descriptors: wire.descriptors.get() })
    }

    /// Encodes the attributes.
    pub fn encode(&self) -> [u8; HOST_MEMORY_ATTRIBUTES_LEN] {
        let mut wire = AttributesWire::new_zeroed();
        wire.size = self.size_pages.into();
        wire.descriptors = self.descriptors.into();
        let mut data = [0; HOST_MEMORY_ATTRIBUTES_LEN];
        data[..size_of::<AttributesWire>()].copy_from_slice(wire.as_bytes());
        data
    }
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct AttributesWire {
    size: U32,
    list_low: U32,
    list_high: U32,
    descriptors: U32,
}
assert_layout!(AttributesWire, 16, { size: 0, descriptors: 12 });

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn attributes_lie_where_the_specification_puts_them() {
        let attributes = HostMemoryAttributes { size_pages: 16_384, descriptors: 16 };
        let data = attributes.encode();
        assert_eq!((data[1], data[12]), (0x40, 16));
        assert_eq!(HostMemoryAttributes::decode(&data), Ok(attributes));
        assert!(HostMemoryAttributes::decode(&data[..15]).is_err());
        assert_eq!(HostMemoryBuffer::decode(3).map(|value| value.encode()), Ok(1));
    }
}
