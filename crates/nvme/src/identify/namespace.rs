//! What a namespace says about itself (Identify, CNS 00h, NVM command set).
//!
//! Layout: NVM Command Set Specification 1.1, Identify Namespace Data Structure.

use measure::Bytes;
use zerocopy::little_endian::{U16, U32, U64, U128};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::IDENTIFY_LEN;
use crate::DecodeError;
use crate::wire::{self, assert_layout};

/// What a namespace says about itself. Sizes in logical blocks unless the name says bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentifyNamespace {
    /// Size (NSZE). 0 for a namespace that is not active.
    pub blocks: u64,
    /// Most blocks that can be allocated at once (NCAP).
    pub capacity_blocks: u64,
    /// Blocks allocated now (NUSE); follows deallocation on thinly provisioned drives only.
    pub used_blocks: u64,
    /// Namespace features (NSFEAT).
    pub features: u8,
    /// Number of the format in use, an index into `formats` (FLBAS bits 6:5 and 3:0).
    pub format_idx: u8,
    /// Metadata lies at the end of each block instead of in a buffer of its own (FLBAS bit 4).
    pub extended_metadata: bool,
    /// Protection settings (DPS).
    pub protection: u8,
    /// Sharing bits (NMIC).
    pub sharing: u8,
    /// Format progress indicator: bit 7 valid, 6:0 percent remaining (FPI).
    pub format_progress: u8,
    /// What deallocated blocks read as, and whether Write Zeroes may deallocate (DLFEAT).
    pub deallocate_features: u8,
    /// Optimal I/O boundary (NOIOB).
    pub optimal_boundary_blocks: Option<u16>,
    /// Capacity in bytes (NVMCAP).
    pub capacity_bytes: Option<u128>,
    /// Preferred write granularity; zero-based on the wire; valid with bit 4 of `features` (NPWG).
    pub write_granularity_blocks: u32,
    /// Preferred write alignment (NPWA), as above.
    pub write_alignment_blocks: u32,
    /// Preferred deallocate granularity (NPDG), as above.
    pub deallocate_granularity_blocks: u32,
    /// Preferred deallocate alignment (NPDA), as above.
    pub deallocate_alignment_blocks: u32,
    /// Optimal write size (NOWS), as above.
    pub optimal_write_blocks: u32,
    /// Asymmetric access group (ANAGRPID).
    pub access_group: u32,
    /// Namespace attributes: bit 0 write protected (NSATTR).
    pub attributes: u8,
    /// Endurance group (ENDGID).
    pub endurance_group: u16,
    /// Globally unique identifier; `None` when all zero (NGUID).
    pub nguid: Option<[u8; 16]>,
    /// IEEE extended unique identifier; `None` when all zero (EUI64).
    pub eui64: Option<[u8; 8]>,
    /// The formats, 1 to 64 of them (NLBAF, NULBAF, LBAF).
    pub formats: Vec<LbaFormat>,
}

/// One format of logical blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LbaFormat {
    /// Bytes of metadata a block (MS).
    pub metadata_bytes: u16,
    /// Bytes of data a block as a power of two (LBADS); below 9 the format is not available.
    pub data_shift: u8,
    /// 0 best, 3 degraded (RP).
    pub relative_performance: u8,
}

/// Formats the layout has room for.
const FORMATS_MAX: usize = 64;

impl LbaFormat {
    /// Bytes of data a block; `None` where the format is not available.
    pub fn block_size(self) -> Option<Bytes> {
        // Below 512 bytes is "not available"; above 2 GiB no block device could show it.
        (9..=31).contains(&self.data_shift).then(|| Bytes::new(1 << self.data_shift))
    }
}

impl IdentifyNamespace {
    /// Bytes of data a block in the format in use; `None` when it is none of the formats.
    pub fn block_size(&self) -> Option<Bytes> {
        self.formats.get(usize::from(self.format_idx))?.block_size()
    }

    /// Size in bytes; `None` without a usable format or beyond 2^64 bytes.
    pub fn size(&self) -> Option<Bytes> {
        self.blocks.checked_mul(self.block_size()?.as_u64()).map(Bytes::new)
    }

    /// What deallocated blocks read as: `Some(0)` zeros, `Some(0xff)` ones, `None` not reported.
    pub const fn deallocated_reads_as(&self) -> Option<u8> {
        match self.deallocate_features & 0b111 {
            1 => Some(0x00),
            2 => Some(0xff),
            _ => None,
        }
    }

    /// A namespace that reports nothing: every field zero, one unavailable format. A start for building one.
    pub fn unreported() -> Self {
        Self::from_wire(&NamespaceWire::new_zeroed())
    }

    /// Decodes a page.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 4096 bytes; every content of 4096 bytes is a page.
    pub fn decode(page: &[u8]) -> Result<Self, DecodeError> {
        wire::layout("Identify Namespace", page).map(Self::from_wire)
    }

    fn from_wire(wire: &NamespaceWire) -> Self {
        let formats = usize::from(wire.nlbaf_z) + 1 + usize::from(wire.nulbaf);
        let blocks = |raw_z: U16| u32::from(raw_z.get()) + 1;
        Self {
            blocks: wire.nsze.get(),
            capacity_blocks: wire.ncap.get(),
            used_blocks: wire.nuse.get(),
            features: wire.nsfeat,
            format_idx: wire.flbas & 0xf | (wire.flbas >> 5 & 0b11) << 4,
            extended_metadata: wire.flbas & 1 << 4 != 0,
            protection: wire.dps,
            sharing: wire.nmic,
            format_progress: wire.fpi,
            deallocate_features: wire.dlfeat,
            optimal_boundary_blocks: Some(wire.noiob.get()).filter(|blocks| *blocks != 0),
            capacity_bytes: Some(wire.nvmcap.get()).filter(|bytes| *bytes != 0),
            write_granularity_blocks: blocks(wire.npwg_z),
            write_alignment_blocks: blocks(wire.npwa_z),
            deallocate_granularity_blocks: blocks(wire.npdg_z),
            deallocate_alignment_blocks: blocks(wire.npda_z),
            optimal_write_blocks: blocks(wire.nows_z),
            access_group: wire.anagrpid.get(),
            attributes: wire.nsattr,
            endurance_group: wire.endgid.get(),
            nguid: Some(wire.nguid).filter(|id| *id != [0; 16]),
            eui64: Some(wire.eui64).filter(|id| *id != [0; 8]),
            formats: wire.lbaf.iter().take(formats).map(LbaFormat::decode).collect(),
        }
    }

    /// Encodes the page; reserved and vendor bytes are zero. Formats beyond 64 are left out.
    pub fn encode(&self) -> [u8; IDENTIFY_LEN] {
        let blocks_z = |blocks: u32| U16::new(u16::try_from(blocks.saturating_sub(1)).unwrap_or(u16::MAX));
        let mut wire = NamespaceWire::new_zeroed();
        wire.nsze = self.blocks.into();
        wire.ncap = self.capacity_blocks.into();
        wire.nuse = self.used_blocks.into();
        wire.nsfeat = self.features;
        wire.nlbaf_z = self.formats.len().clamp(1, FORMATS_MAX) as u8 - 1;
        let extended = u8::from(self.extended_metadata) << 4;
        wire.flbas = self.format_idx & 0xf | (self.format_idx >> 4 & 0b11) << 5 | extended;
        wire.dps = self.protection;
        wire.nmic = self.sharing;
        wire.fpi = self.format_progress;
        wire.dlfeat = self.deallocate_features;
        wire.noiob = self.optimal_boundary_blocks.unwrap_or(0).into();
        wire.nvmcap = self.capacity_bytes.unwrap_or(0).into();
        wire.npwg_z = blocks_z(self.write_granularity_blocks);
        wire.npwa_z = blocks_z(self.write_alignment_blocks);
        wire.npdg_z = blocks_z(self.deallocate_granularity_blocks);
        wire.npda_z = blocks_z(self.deallocate_alignment_blocks);
        wire.nows_z = blocks_z(self.optimal_write_blocks);
        wire.anagrpid = self.access_group.into();
        wire.nsattr = self.attributes;
        wire.endgid = self.endurance_group.into();
        wire.nguid = self.nguid.unwrap_or([0; 16]);
        wire.eui64 = self.eui64.unwrap_or([0; 8]);
        for (descriptor, format) in wire.lbaf.iter_mut().zip(&self.formats) {
            *descriptor = format.encode();
        }
        zerocopy::transmute!(wire)
    }
}

impl LbaFormat {
    fn decode(wire: &LbaFormatWire) -> Self {
        Self {
            metadata_bytes: wire.metadata.get(),
            data_shift: wire.data_shift,
            relative_performance: wire.relative_performance & 0b11,
        }
    }

    fn encode(self) -> LbaFormatWire {
        LbaFormatWire {
            metadata: self.metadata_bytes.into(),
            data_shift: self.data_shift,
            relative_performance: self.relative_performance & 0b11,
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct LbaFormatWire {
    metadata: U16,
    data_shift: u8,
    relative_performance: u8,
}
assert_layout!(LbaFormatWire, 4, { data_shift: 2, relative_performance: 3 });

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct NamespaceWire {
    nsze: U64,
    ncap: U64,
    nuse: U64,
    nsfeat: u8,
    nlbaf_z: u8,
    flbas: u8,
    mc: u8,
    dpc: u8,
    dps: u8,
    nmic: u8,
    rescap: u8,
    fpi: u8,
    dlfeat: u8,
    nawun_z: U16,
    nawupf_z: U16,
    nacwu_z: U16,
    nabsn: U16,
    nabo: U16,
    nabspf: U16,
    noiob: U16,
    nvmcap: U128,
    npwg_z: U16,
    npwa_z: U16,
    npdg_z: U16,
    npda_z: U16,
    nows_z: U16,
    mssrl: U16,
    mcl: U32,
    msrc_z: u8,
    kpios: u8,
    nulbaf: u8,
    reserved83: [u8; 9],
    anagrpid: U32,
    reserved96: [u8; 3],
    nsattr: u8,
    nvmsetid: U16,
    endgid: U16,
    nguid: [u8; 16],
    eui64: [u8; 8],
    lbaf: [LbaFormatWire; FORMATS_MAX],
    vendor: [u8; 3712],
}
assert_layout!(NamespaceWire, 4096, {
    nlbaf_z: 25,
    flbas: 26,
    dlfeat: 33,
    noiob: 46,
    nvmcap: 48,
    npwg_z: 64,
    nows_z: 72,
    nulbaf: 82,
    anagrpid: 92,
    nsattr: 99,
    endgid: 102,
    nguid: 104,
    eui64: 120,
    lbaf: 128,
    vendor: 384,
});

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn size_and_block_size_come_from_the_format_in_use() {
        let mut page = vec![0; IDENTIFY_LEN];
        page[..8].copy_from_slice(&488_397_168_u64.to_le_bytes());
        page[25] = 1;
        page[26] = 1;
        page[130] = 9;
        page[134] = 12;
        page[135] = 1;
        let namespace = IdentifyNamespace::decode(&page).expect("whole page");
        assert_eq!(namespace.formats.len(), 2);
        assert_eq!(namespace.block_size(), Some(Bytes::new(4096)));
        assert_eq!(namespace.size(), Some(Bytes::new(488_397_168 * 4096)));
        assert!(namespace.encode()[..] == page[..], "what was decoded is what is encoded");
    }

    #[test]
    fn a_format_that_is_not_there_gives_no_size() {
        let mut namespace = IdentifyNamespace::unreported();
        assert_eq!((namespace.block_size(), namespace.size()), (None, None));
        namespace.format_idx = 9;
        assert_eq!(namespace.block_size(), None);
        namespace.format_idx = 0;
        namespace.formats = vec![LbaFormat { metadata_bytes: 0, data_shift: 200, relative_performance: 0 }];
        assert_eq!(namespace.block_size(), None);
        namespace.formats[0].data_shift = 31;
        namespace.blocks = u64::MAX;
        assert_eq!(namespace.size(), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn decoded_pages_round_trip(page in prop::collection::vec(any::<u8>(), IDENTIFY_LEN)) {
            let namespace = IdentifyNamespace::decode(&page).expect("any 4096 bytes are a page");
            prop_assert_eq!(IdentifyNamespace::decode(&namespace.encode()), Ok(namespace));
        }
    }
}
