//! The commands that ask, and their answers: INQUIRY and READ CAPACITY (16). Beside them those that the check of TRIM
//! (`crate::trim`) needs to move data and to deallocate; nothing else sends them.

use thiserror::Error;

use super::vpd::text;

/// What of standard INQUIRY data says what kind of unit it is (SPC-5, 6.6.2); its names follow.
const INQUIRY_LEN_MIN: usize = 5;
/// What of READ CAPACITY (16) parameter data says how large a unit is (SBC-4, 5.21.2); some answer no more.
const CAPACITY_LEN_MIN: usize = 12;
/// READ CAPACITY (16) parameter data (SBC-4, 5.21.2).
pub const READ_CAPACITY_16_LEN: usize = 32;

/// Why an answer cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("the answer to {command} has {len} B, and {needed} B are the least")]
pub struct TooShort {
    command: &'static str,
    needed: usize,
    len: usize,
}

/// INQUIRY for standard data (`page` `None`) or a vital product data page (SPC-5, 6.6.1).
pub fn inquiry(page: Option<u8>, len: u16) -> [u8; 6] {
    let [high, low] = len.to_be_bytes();
    [0x12, u8::from(page.is_some()), page.unwrap_or(0), high, low, 0]
}

/// READ CAPACITY (16): SERVICE ACTION IN (16) with service action 10h (SBC-4, 5.21.1).
pub fn read_capacity_16() -> [u8; 16] {
    let mut cdb = [0; 16];
    (cdb[0], cdb[1]) = (0x9e, 0x10);
    cdb[10..14].copy_from_slice(&(READ_CAPACITY_16_LEN as u32).to_be_bytes());
    cdb
}

/// Who a unit says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inquiry {
    /// Peripheral device type: 0 is a disk.
    pub device_type: u8,
    /// Whether its medium can be taken out.
    pub removable: bool,
    /// Version of SPC it claims, as its code: 5 is SPC-3, 6 SPC-4.
    pub version: u8,
    /// Maker; "ATA" behind a SCSI to ATA translation.
    pub vendor: Option<String>,
    /// Model.
    pub product: Option<String>,
    /// Firmware.
    pub revision: Option<String>,
}

impl Inquiry {
    /// Decodes standard INQUIRY data.
    ///
    /// # Errors
    /// When it is shorter than the standard's least.
    pub fn decode(data: &[u8]) -> Result<Self, TooShort> {
        if data.len() < INQUIRY_LEN_MIN {
            return Err(TooShort { command: "INQUIRY", needed: INQUIRY_LEN_MIN, len: data.len() });
        }
        let name = |place: std::ops::Range<usize>| text(data.get(place)?);
        Ok(Self {
            device_type: data[0] & 0x1f,
            removable: data[1] & 0x80 != 0,
            version: data[2],
            vendor: name(8..16),
            product: name(16..32),
            revision: name(32..36),
        })
    }
}

/// How large a unit is, in what blocks. What an answer is too short for is `None`: libata sends 16 bytes of the 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Address of the last block.
    pub last_block: u64,
    /// Bytes of a logical block.
    pub block_bytes: u32,
    /// Logical blocks of a physical one, as a power of two.
    pub physical_exponent: Option<u8>,
    /// The first logical block that begins a physical one.
    pub lowest_aligned_block: Option<u16>,
    /// Whether blocks can be deallocated (LBPME).
    pub provisioned: Option<bool>,
    /// Whether deallocated blocks read as zeroes (LBPRZ).
    pub reads_zeroes: Option<bool>,
    /// Protection information type, 1 to 3; 0 for none.
    pub protection: Option<u8>,
}

impl Capacity {
    /// Decodes READ CAPACITY (16) parameter data.
    ///
    /// # Errors
    /// When it is too short to say how large the unit is.
    pub fn decode(data: &[u8]) -> Result<Self, TooShort> {
        let needed = CAPACITY_LEN_MIN;
        let short = || TooShort { command: "READ CAPACITY (16)", needed, len: data.len() };
        let size: &[u8; CAPACITY_LEN_MIN] = data.first_chunk().ok_or_else(short)?;
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *size;
        let byte = |at: usize| data.get(at).copied();
        Ok(Self {
            last_block: u64::from_be_bytes([a, b, c, d, e, f, g, h]),
            block_bytes: u32::from_be_bytes([i, j, k, l]),
            // P_TYPE is one less than the type, and counts only with PROT_EN.
            protection: byte(12).map(|m| if m & 1 == 1 { (m >> 1 & 0x07) + 1 } else { 0 }),
            physical_exponent: byte(13).map(|n| n & 0x0f),
            provisioned: byte(14).map(|o| o & 0x80 != 0),
            reads_zeroes: byte(14).map(|o| o & 0x40 != 0),
            lowest_aligned_block: byte(14)
                .zip(byte(15))
                .map(|(high, low)| u16::from_be_bytes([high & 0x3f, low])),
        })
    }

    /// Size in bytes; `None` where the drive's numbers make none.
    pub fn bytes(&self) -> Option<u64> {
        self.last_block.checked_add(1)?.checked_mul(self.block_bytes.into())
    }
}

/// READ (16) of `blocks` blocks (SBC-4, 5.18).
pub fn read_16(first: u64, blocks: u32) -> [u8; 16] {
    transfer_16(0x88, first, blocks)
}

/// WRITE (16) of `blocks` blocks (SBC-4, 5.42).
pub fn write_16(first: u64, blocks: u32) -> [u8; 16] {
    transfer_16(0x8a, first, blocks)
}

fn transfer_16(opcode: u8, first: u64, blocks: u32) -> [u8; 16] {
    let mut cdb = [0; 16];
    cdb[0] = opcode;
    cdb[2..10].copy_from_slice(&first.to_be_bytes());
    cdb[10..14].copy_from_slice(&blocks.to_be_bytes());
    cdb
}

/// SYNCHRONIZE CACHE (10) of the whole unit (SBC-4, 5.35): bridges know it where they do not know the longer one.
pub const fn synchronize_cache_10() -> [u8; 10] {
    [0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0]
}

/// Blocks that an UNMAP names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnmapDescriptor {
    /// The first.
    pub first: u64,
    /// How many.
    pub blocks: u32,
}

/// Header of the UNMAP parameter list, and one descriptor of it (SBC-4, 5.38.2).
const UNMAP_HEADER_LEN: usize = 8;
const UNMAP_DESCRIPTOR_LEN: usize = 16;
/// What the two length fields of the list can say (16 bits).
pub const UNMAP_DESCRIPTORS_MAX: usize = (u16::MAX as usize - UNMAP_HEADER_LEN) / UNMAP_DESCRIPTOR_LEN;

/// UNMAP with a parameter list of `list_len` bytes (SBC-4, 5.38.1).
pub fn unmap(list_len: u16) -> [u8; 10] {
    let [high, low] = list_len.to_be_bytes();
    [0x42, 0, 0, 0, 0, 0, 0, high, low, 0]
}

/// The parameter list of an UNMAP; descriptors past [`UNMAP_DESCRIPTORS_MAX`] do not fit and are left out.
pub fn unmap_list(descriptors: &[UnmapDescriptor]) -> Vec<u8> {
    let descriptors = &descriptors[..descriptors.len().min(UNMAP_DESCRIPTORS_MAX)];
    let body = descriptors.len() * UNMAP_DESCRIPTOR_LEN;
    let mut list = Vec::with_capacity(UNMAP_HEADER_LEN + body);
    // Both fit: that is what the largest number of descriptors comes from. The first counts what follows it.
    list.extend((body as u16 + 6).to_be_bytes());
    list.extend((body as u16).to_be_bytes());
    list.extend([0; 4]);
    for UnmapDescriptor { first, blocks } in descriptors {
        list.extend(first.to_be_bytes());
        list.extend(blocks.to_be_bytes());
        list.extend([0; 4]);
    }
    list
}

/// The descriptors of a parameter list, as a device reads it: whole ones within both length fields.
pub fn unmap_descriptors(list: &[u8]) -> Vec<UnmapDescriptor> {
    let Some(header) = list.first_chunk::<UNMAP_HEADER_LEN>() else { return Vec::new() };
    let said = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let body = &list[UNMAP_HEADER_LEN..];
    let descriptors = body[..said.min(body.len())].as_chunks::<UNMAP_DESCRIPTOR_LEN>().0;
    descriptors
        .iter()
        .map(|[a, b, c, d, e, f, g, h, i, j, k, l, ..]| UnmapDescriptor {
            first: u64::from_be_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
            blocks: u32::from_be_bytes([*i, *j, *k, *l]),
        })
        .collect()
}
