//! The commands that ask, and their answers: INQUIRY and READ CAPACITY (16).

use thiserror::Error;

use super::vpd::text;

/// Standard INQUIRY data as far as everybody sends it (SPC-5, 6.6.2).
const INQUIRY_LEN_MIN: usize = 36;
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
        Ok(Self {
            device_type: data[0] & 0x1f,
            removable: data[1] & 0x80 != 0,
            version: data[2],
            vendor: text(&data[8..16]),
            product: text(&data[16..32]),
            revision: text(&data[32..36]),
        })
    }
}

/// How large a unit is, in what blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Address of the last block.
    pub last_block: u64,
    /// Bytes of a logical block.
    pub block_bytes: u32,
    /// Logical blocks of a physical one, as a power of two.
    pub physical_exponent: u8,
    /// The first logical block that begins a physical one.
    pub lowest_aligned_block: u16,
    /// Whether blocks can be deallocated (LBPME).
    pub provisioned: bool,
    /// Whether deallocated blocks read as zeroes (LBPRZ).
    pub reads_zeroes: bool,
    /// Protection information type, 1 to 3; 0 for none.
    pub protection: u8,
}

impl Capacity {
    /// Decodes READ CAPACITY (16) parameter data.
    ///
    /// # Errors
    /// When it is cut short.
    pub fn decode(data: &[u8]) -> Result<Self, TooShort> {
        let short =
            || TooShort { command: "READ CAPACITY (16)", needed: READ_CAPACITY_16_LEN, len: data.len() };
        let data: &[u8; READ_CAPACITY_16_LEN] = data.first_chunk().ok_or_else(short)?;
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ..] = *data;
        Ok(Self {
            last_block: u64::from_be_bytes([a, b, c, d, e, f, g, h]),
            block_bytes: u32::from_be_bytes([i, j, k, l]),
            // P_TYPE is one less than the type, and counts only with PROT_EN.
            protection: if m & 1 == 1 { (m >> 1 & 0x07) + 1 } else { 0 },
            physical_exponent: n & 0x0f,
            provisioned: o & 0x80 != 0,
            reads_zeroes: o & 0x40 != 0,
            lowest_aligned_block: u16::from_be_bytes([o & 0x3f, p]),
        })
    }

    /// Size in bytes; `None` where the drive's numbers make none.
    pub fn bytes(&self) -> Option<u64> {
        self.last_block.checked_add(1)?.checked_mul(self.block_bytes.into())
    }
}
