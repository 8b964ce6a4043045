//! Device self-test (log page 06h): the test that runs, and the latest results.
//!
//! Layout: NVMe Base 2.3, Device Self-test Log Page.

use crate::DecodeError;

/// Bytes of the page.
pub const SELF_TEST_LOG_LEN: usize = 4 + RESULTS_MAX * RESULT_LEN;
/// Results that the page has room for.
pub const RESULTS_MAX: usize = 20;

const RESULT_LEN: usize = 28;
/// Result code of an entry that was never used.
const UNUSED: u8 = 0xf;
/// Bit 0 of the valid diagnostic information: the namespace identifier.
const NSID_VALID: u8 = 1;

/// Which test: Self-test Code, four bits. An open set: unknown values survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SelfTestCode(pub u8);

impl SelfTestCode {
    /// Short: two minutes at most.
    pub const SHORT: Self = Self(1);
    /// Extended: as long as Identify Controller says (EDSTT).
    pub const EXTENDED: Self = Self(2);
    /// No test but the end of the one that runs.
    pub const ABORT: Self = Self(0xf);
}

/// How a test ended, four bits. An open set: unknown values survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SelfTestOutcome(pub u8);

impl SelfTestOutcome {
    /// To its end, without an error.
    pub const PASSED: Self = Self(0);
    /// By a Device Self-test command.
    pub const ABORTED_BY_COMMAND: Self = Self(1);
    /// By a Controller Level Reset.
    pub const ABORTED_BY_RESET: Self = Self(2);
    /// By a Format NVM command.
    pub const ABORTED_BY_FORMAT: Self = Self(4);
}

/// A test that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelfTestResult {
    /// Which test.
    pub code: SelfTestCode,
    /// How it ended.
    pub outcome: SelfTestOutcome,
    /// Power-on hours at its end.
    pub power_on_hours: u64,
    /// The namespace that failed, where one did.
    pub nsid: Option<u32>,
}

/// The log page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfTestLog {
    /// The test that runs, and how much of it is done in percent.
    pub running: Option<(SelfTestCode, u8)>,
    /// The latest results, newest first; at most 20.
    pub results: Vec<SelfTestResult>,
}

impl SelfTestLog {
    /// Decodes the page.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 564 bytes.
    pub fn decode(page: &[u8]) -> Result<Self, DecodeError> {
        let short = DecodeError::Short {
            what: "the self-test log (06h)",
            needed: SELF_TEST_LOG_LEN,
            got: page.len(),
        };
        let page = page.get(..SELF_TEST_LOG_LEN).ok_or(short)?;
        let code = page[0] & 0xf;
        let entries = page[4..].chunks_exact(RESULT_LEN);
        Ok(Self {
            running: (code != 0).then_some((SelfTestCode(code), page[1] & 0x7f)),
            results: entries.filter(|entry| entry[0] & 0xf != UNUSED).map(decode_result).collect(),
        })
    }

    /// Encodes the page; results beyond the twentieth are left out.
    pub fn encode(&self) -> [u8; SELF_TEST_LOG_LEN] {
        let mut page = [0; SELF_TEST_LOG_LEN];
        if let Some((code, percent)) = self.running {
            (page[0], page[1]) = (code.0 & 0xf, percent & 0x7f);
        }
        let mut results = self.results.iter();
        for entry in page[4..].chunks_exact_mut(RESULT_LEN) {
            match results.next() {
                Some(result) => encode_result(result, entry),
                None => entry[0] = UNUSED,
            }
        }
        page
    }
}

/// Bytes of an entry: 0 outcome (3:0) and code (7:4), 2 what is valid, 4 power-on hours, 12 namespace.
fn decode_result(entry: &[u8]) -> SelfTestResult {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    SelfTestResult {
        code: SelfTestCode(entry[0] >> 4),
        outcome: SelfTestOutcome(entry[0] & 0xf),
        power_on_hours: number(&entry[4..12]),
        nsid: (entry[2] & NSID_VALID != 0).then(|| number(&entry[12..16]) as u32),
    }
}

fn encode_result(result: &SelfTestResult, entry: &mut [u8]) {
    entry[0] = result.outcome.0 & 0xf | result.code.0 << 4;
    entry[4..12].copy_from_slice(&result.power_on_hours.to_le_bytes());
    if let Some(nsid) = result.nsid {
        entry[2] = NSID_VALID;
        entry[12..16].copy_from_slice(&nsid.to_le_bytes());
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn results_lie_where_the_specification_puts_them() {
        let result = SelfTestResult {
            code: SelfTestCode::EXTENDED,
            outcome: SelfTestOutcome::ABORTED_BY_RESET,
            power_on_hours: 0x0102,
            nsid: Some(1),
        };
        let log = SelfTestLog { running: Some((SelfTestCode::SHORT, 42)), results: vec![result] };
        let page = log.encode();
        assert_eq!((page.len(), page[0], page[1]), (564, 1, 42));
        assert_eq!((page[4], page[6], page[8], page[9], page[16]), (0x22, 1, 2, 1, 1));
        assert_eq!((page[32], page[60]), (0xf, 0xf), "entries that were never used");
        assert_eq!(SelfTestLog::decode(&page), Ok(log));
        assert!(SelfTestLog::decode(&page[..563]).is_err());
    }

    proptest! {
        #[test]
        fn the_page_round_trips(page in prop::collection::vec(any::<u8>(), SELF_TEST_LOG_LEN)) {
            let log = SelfTestLog::decode(&page).expect("a whole page");
            prop_assert_eq!(SelfTestLog::decode(&log.encode()), Ok(log));
        }
    }
}
