//! Vital product data pages, SPC-5 section 7.7 and SBC-4 section 6.6: decoding only.
//!
//! A field of zeroes that the standard calls "not reported" is `None`. A page that is shorter than a field lacks that
//! field: old drives and USB bridges send pages cut short.

use thiserror::Error;

/// Serial number.
pub const UNIT_SERIAL_NUMBER: u8 = 0x80;
/// What an ATA drive behind a translation says of itself.
pub const ATA_INFORMATION: u8 = 0x89;
/// What the unit is called by others.
pub const DEVICE_IDENTIFICATION: u8 = 0x83;
/// How large commands may be.
pub const BLOCK_LIMITS: u8 = 0xb0;
/// Rotation, form factor.
pub const BLOCK_DEVICE_CHARACTERISTICS: u8 = 0xb1;
/// How blocks are deallocated.
pub const LOGICAL_BLOCK_PROVISIONING: u8 = 0xb2;

/// Page code at 1, length at 2 and 3, then the page (SPC-5, 7.7.1).
const HEADER_LEN: usize = 4;

/// Why bytes are no such page.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum VpdError {
    /// Shorter than its own header.
    #[error("a VPD page of {len} B has no header; four bytes are the least")]
    NoHeader {
        /// How long it is.
        len: usize,
    },
    /// Another page.
    #[error("this is VPD page {got:#04x}, not {expected:#04x}; some USB bridges answer so to any page")]
    OtherPage {
        /// The page code that was asked for.
        expected: u8,
        /// The page code in the answer.
        got: u8,
    },
}

/// The content of page `code`, as far as both its length field and its bytes go.
fn content(page: &[u8], code: u8) -> Result<&[u8], VpdError> {
    let [_, got, high, low, rest @ ..] = page else { return Err(VpdError::NoHeader { len: page.len() }) };
    if *got != code {
        return Err(VpdError::OtherPage { expected: code, got: *got });
    }
    let len = usize::from(u16::from_be_bytes([*high, *low]));
    Ok(&rest[..len.min(rest.len())])
}

/// The field at byte `at` of the whole page, as the standard counts.
fn field<const N: usize>(content: &[u8], at: usize) -> Option<[u8; N]> {
    let start = at.checked_sub(HEADER_LEN)?;
    content.get(start..start + N)?.try_into().ok()
}

fn u32_at(content: &[u8], at: usize) -> Option<u32> {
    field(content, at).map(u32::from_be_bytes)
}

/// The unit serial number of page 80h, without the blanks around it (SPC-5, 7.7.19); `None` where there is none or the
/// page is another.
pub fn serial_number(page: &[u8]) -> Option<String> {
    text(content(page, UNIT_SERIAL_NUMBER).ok()?)
}

/// What an ATA drive is called, by its own IDENTIFY DEVICE data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AtaNames {
    /// Model number, up to 40 letters.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware revision, up to 8 letters.
    pub firmware: Option<String>,
}

/// The names in page 89h (SAT-4, 12.4.3): the drive's IDENTIFY DEVICE data are its bytes 60 to 571 (ACS-4, 7.13.6:
/// serial number in words 10 to 19, firmware in 23 to 26, model in 27 to 46). What the page is too short for, or what
/// is no text, is `None`; so is all of it where the page is another.
pub fn ata_names(page: &[u8]) -> Option<AtaNames> {
    let content = content(page, ATA_INFORMATION).ok()?;
    let words = |first: usize, last: usize| {
        let data = content.get(60 - HEADER_LEN..)?;
        let bytes = data.get(2 * first..2 * (last + 1))?;
        // The first letter is in the upper half of a word, and words are little-endian.
        let letters: Vec<u8> = bytes.chunks_exact(2).flat_map(|word| [word[1], word[0]]).collect();
        let plain = letters.iter().all(|letter| matches!(letter, 0 | b' '..=b'~'));
        plain.then(|| text(&letters)).flatten()
    };
    Some(AtaNames { model: words(27, 46), serial: words(10, 19), firmware: words(23, 26) })
}

/// One name of the unit (page 83h; SPC-5, 7.7.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Designator {
    /// Whether it names the unit itself (0), its port (1) or its target (2).
    pub association: u8,
    /// Kind of name: 1 vendor, 2 EUI-64, 3 NAA, 8 SCSI name.
    pub kind: u8,
    /// The name: text where it is text, else hexadecimal digits.
    pub name: String,
}

/// The designators of page 83h; a list that is cut short ends at the last whole one.
///
/// # Errors
/// When it is another page.
pub fn designators(page: &[u8]) -> Result<Vec<Designator>, VpdError> {
    let mut rest = content(page, DEVICE_IDENTIFICATION)?;
    let mut found = Vec::new();
    while let [codes, flags, _, len, tail @ ..] = rest {
        let len = usize::from(*len);
        let Some(name) = tail.get(..len) else { break };
        // Code set 2 is ASCII and 3 UTF-8; 1 is binary.
        let as_text = matches!(codes & 0x0f, 2 | 3).then(|| text(name)).flatten();
        let name = as_text.unwrap_or_else(|| name.iter().map(|byte| format!("{byte:02x}")).collect());
        found.push(Designator { association: flags >> 4 & 0x03, kind: flags & 0x0f, name });
        rest = &tail[len..];
    }
    Ok(found)
}

/// Page B0h (SBC-4, 6.6.4). `None` is "not reported".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockLimits {
    /// Largest transfer, in blocks.
    pub transfer_blocks_max: Option<u32>,
    /// Best transfer, in blocks.
    pub transfer_blocks_best: Option<u32>,
    /// Most blocks that one UNMAP may name.
    pub unmap_blocks_max: Option<u32>,
    /// Most ranges that one UNMAP may have.
    pub unmap_ranges_max: Option<u32>,
    /// Blocks that are deallocated together.
    pub unmap_granularity_blocks: Option<u32>,
    /// The first block that begins such a group; `None` where the page does not say that it is valid (UGAVALID).
    pub unmap_alignment_blocks: Option<u32>,
    /// Most blocks that one WRITE SAME may write.
    pub write_same_blocks_max: Option<u64>,
}

/// Decodes page B0h.
///
/// # Errors
/// When it is another page.
pub fn block_limits(page: &[u8]) -> Result<BlockLimits, VpdError> {
    let content = content(page, BLOCK_LIMITS)?;
    let reported = |at| u32_at(content, at).filter(|value| *value != 0);
    Ok(BlockLimits {
        transfer_blocks_max: reported(8),
        transfer_blocks_best: reported(12),
        unmap_blocks_max: reported(20),
        unmap_ranges_max: reported(24),
        unmap_granularity_blocks: reported(28),
        unmap_alignment_blocks: u32_at(content, 32)
            .filter(|value| value & 1 << 31 != 0)
            .map(|value| value & !(1 << 31)),
        write_same_blocks_max: field(content, 36).map(u64::from_be_bytes).filter(|value| *value != 0),
    })
}

/// Page B1h (SBC-4, 6.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Characteristics {
    /// What turns.
    pub rotation: Rotation,
    /// Width of the drive: 3 is 2.5 inches, 2 is 3.5 inches; `None` where it is not reported.
    pub form_factor: Option<u8>,
}

/// Medium rotation rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// Not reported, or reserved.
    Unknown,
    /// Nothing turns: flash.
    None,
    /// Turns a minute.
    Rpm(u16),
}

/// Decodes page B1h.
///
/// # Errors
/// When it is another page.
pub fn characteristics(page: &[u8]) -> Result<Characteristics, VpdError> {
    let content = content(page, BLOCK_DEVICE_CHARACTERISTICS)?;
    let rotation = match field(content, 4).map(u16::from_be_bytes) {
        Some(1) => Rotation::None,
        // 2 to 400h and FFFFh are reserved.
        Some(rpm @ 0x401..=0xfffe) => Rotation::Rpm(rpm),
        _ => Rotation::Unknown,
    };
    let form_factor = field(content, 7).map(|[byte]: [u8; 1]| byte & 0x0f).filter(|factor| *factor != 0);
    Ok(Characteristics { rotation, form_factor })
}

/// Page B2h (SBC-4, 6.6.7): the ways in which the unit deallocates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Provisioning {
    /// By UNMAP (LBPU).
    pub unmap: bool,
    /// By WRITE SAME (16) with its UNMAP bit (LBPWS).
    pub write_same_16: bool,
    /// By WRITE SAME (10) with its UNMAP bit (LBPWS10).
    pub write_same_10: bool,
    /// Deallocated blocks read as zeroes (LBPRZ is xx1b).
    pub reads_zeroes: bool,
    /// 0 not reported or fully, 1 resource, 2 thin provisioned.
    pub kind: u8,
}

/// Decodes page B2h.
///
/// # Errors
/// When it is another page.
pub fn provisioning(page: &[u8]) -> Result<Provisioning, VpdError> {
    let content = content(page, LOGICAL_BLOCK_PROVISIONING)?;
    let [flags] = field(content, 5).unwrap_or([0]);
    let [kind] = field(content, 6).unwrap_or([0]);
    Ok(Provisioning {
        unmap: flags & 0x80 != 0,
        write_same_16: flags & 0x40 != 0,
        write_same_10: flags & 0x20 != 0,
        reads_zeroes: flags & 0x04 != 0,
        kind: kind & 0x07,
    })
}

/// Text without the blanks and zeroes around it; `None` for nothing.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}
