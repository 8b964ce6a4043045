//! The table `-- S.M.A.R.T. --` of an NVMe drive in CrystalDiskInfo's text: parts of the drive's log page, under numbers of the program's
//! own.
//!
//! A row is `ID RAW NAME`: two and twelve hexadecimal digits, the last byte first in the page. Names are in the program's language and
//! not read. Numbers and places are those of CrystalDiskInfo's `NVMeInterpreter.cpp` (9.9.2), the layout that of NVMe Base, SMART /
//! Health Information log. The rows from 10 on are there since 9.7, and where a drive has the thresholds.

use nvme::log::smart::SMART_LOG_LEN;

/// The title above the rows; drives of other kinds have columns more.
pub(super) const TITLE: &str = "ID RawValues(6)";

/// What a text without rows for heat does not tell.
pub(super) const NO_HEAT: &str = "no counters of throttling or of time above a threshold in it: CrystalDiskInfo before 9.7 lists none, later ones only those of a drive with such thresholds. `smartctl -x` or `nvme smart-log` has them";

/// Rows that are read: the first and the last number, where the first one begins in the page, and its bytes. A counter of 16 bytes
/// shows its first six.
const ROWS: [(u8, u8, usize, usize); 8] = [
    (0x01, 0x01, 0, 1),
    (0x02, 0x02, 1, 2),
    (0x03, 0x05, 3, 1),
    // Data units and commands, 16 bytes apart.
    (0x06, 0x09, 32, 6),
    (0x0c, 0x0c, 128, 6),
    (0x10, 0x11, 192, 4),
    (0x12, 0x19, 200, 2),
    (0x1a, 0x1d, 216, 4),
];
/// Bytes of a counter of 128 bits.
const WIDE: usize = 16;

/// The rows of a drive.
#[derive(Default)]
pub(super) struct Attributes {
    page: Vec<u8>,
    has: Vec<u8>,
}

impl Attributes {
    /// Takes a row; what is none is passed over.
    pub(super) fn take(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        let (Some(id), Some(raw)) = (words.next().and_then(byte), words.next().and_then(six_bytes)) else {
            return;
        };
        let row = ROWS.into_iter().find(|(first, last, ..)| (*first..=*last).contains(&id));
        let Some((first, _, begin, length)) = row else { return };
        let step = if length == raw.len() { WIDE } else { length };
        let at = begin + usize::from(id - first) * step;
        self.page.resize(SMART_LOG_LEN, 0);
        self.page[at..at + length].copy_from_slice(&raw[..length]);
        self.has.push(id);
    }

    /// The log page as far as the rows hold it; `None` where they do not hold what each drive has.
    pub(super) fn page(&self) -> Option<&[u8]> {
        let least = [0x02, 0x05, 0x06, 0x07, 0x0c];
        least.iter().all(|id| self.has.contains(id)).then_some(self.page.as_slice())
    }

    /// Whether there is a row of that number.
    pub(super) fn has(&self, id: u8) -> bool {
        self.has.contains(&id)
    }
}

fn byte(word: &str) -> Option<u8> {
    u8::from_str_radix(word, 16).ok().filter(|_| word.len() == 2)
}

/// Six bytes in the order of the page.
fn six_bytes(word: &str) -> Option<[u8; 6]> {
    let number = u64::from_str_radix(word, 16).ok().filter(|_| word.len() == 12)?;
    number.to_le_bytes().first_chunk().copied()
}
