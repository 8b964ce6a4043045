//! A state as bytes, to cross between threads, processes and versions: a version byte, then whole numbers in LEB128
//! (seven bits a byte, lowest first; signed ones in zigzag), in the order in which they stand here.
//!
//! One list of fields serves writing and reading. Reading takes any bytes: what was not written by this version is an
//! error, never another drive. The bytes of two states one after the other are the bytes of the merged state, so that
//! who only passes states on need not read them.

use std::sync::Arc;

use thiserror::Error;

use crate::row::{ABSENT, DriveLabels, HealthRow};
use crate::state::{RowStretch, ThermalState};
use crate::sums::HealthSums;

/// The first byte of a state. It changes with anything here and with what sums mean: states of two versions must not
/// be merged.
pub const STATE_VERSION: u8 = 2;

/// Longest label that is read, in bytes: a limit against damaged lengths.
const LABEL_BYTES: u64 = 4096;

/// Why bytes are no state.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DecodeStateError {
    /// Written by another version.
    #[error(
        "a drive's state has version {found}, this program reads {STATE_VERSION}: use one version of heatsoak-fleet everywhere"
    )]
    Version {
        /// What was found.
        found: u8,
    },
    /// Cut short.
    #[error("a drive's state ends in the middle")]
    Short,
    /// Numbers that no writer writes.
    #[error("a drive's state holds {0}, which no version writes")]
    Senseless(&'static str),
}

impl ThermalState {
    /// The state as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut to = StateWriter(Vec::with_capacity(256));
        to.0.push(STATE_VERSION);
        let mut copy = self.clone();
        // Writing to memory does not fail.
        let _ = pass_state(&mut copy, &mut to);
        to.0
    }

    /// The state that [`ThermalState::encode`] wrote, or several of them one after the other, merged.
    ///
    /// # Errors
    /// If the bytes are of another version, cut short, or no state at all.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeStateError> {
        let mut from = StateReader(bytes);
        let mut state = from.state()?;
        while !from.0.is_empty() {
            state.merge(from.state()?);
        }
        Ok(state)
    }
}

type Passed = Result<(), DecodeStateError>;

/// Either direction: a number goes out, or comes in.
trait StateWire {
    fn number(&mut self, value: &mut u64) -> Passed;
    fn text(&mut self, value: &mut Box<str>) -> Passed;

    fn signed(&mut self, value: &mut i64) -> Passed {
        let mut zigzag = ((*value << 1) ^ (*value >> 63)).cast_unsigned();
        self.number(&mut zigzag)?;
        *value = (zigzag >> 1).cast_signed() ^ -((zigzag & 1).cast_signed());
        Ok(())
    }

    fn small(&mut self, value: &mut u32) -> Passed {
        let mut wide = u64::from(*value);
        self.number(&mut wide)?;
        *value = u32::try_from(wide).map_err(|_| DecodeStateError::Senseless("too large a count"))?;
        Ok(())
    }

    /// Whether there is a value, which then follows.
    fn is_there<T>(&mut self, value: &mut Option<T>) -> Result<bool, DecodeStateError> {
        let mut some = u64::from(value.is_some());
        self.number(&mut some)?;
        if some == 0 {
            *value = None;
        }
        Ok(some != 0)
    }

    fn maybe(&mut self, value: &mut Option<i64>) -> Passed {
        if self.is_there(value)? {
            let inner = value.get_or_insert_default();
            self.signed(inner)?;
        }
        Ok(())
    }
}

struct StateWriter(Vec<u8>);

impl StateWire for StateWriter {
    fn number(&mut self, value: &mut u64) -> Passed {
        let mut rest = *value;
        while rest >= 0x80 {
            self.0.push(rest.to_le_bytes()[0] | 0x80);
            rest >>= 7;
        }
        self.0.push(rest.to_le_bytes()[0]);
        Ok(())
    }

    fn text(&mut self, value: &mut Box<str>) -> Passed {
        self.number(&mut (value.len() as u64))?;
        self.0.extend_from_slice(value.as_bytes());
        Ok(())
    }
}

struct StateReader<'a>(&'a [u8]);

impl StateReader<'_> {
    /// The next state, version byte first.
    fn state(&mut self) -> Result<ThermalState, DecodeStateError> {
        let (&found, rest) = self.0.split_first().ok_or(DecodeStateError::Short)?;
        if found != STATE_VERSION {
            return Err(DecodeStateError::Version { found });
        }
        self.0 = rest;
        let mut state = ThermalState::default();
        pass_state(&mut state, self)?;
        Ok(state)
    }
}

impl StateWire for StateReader<'_> {
    fn number(&mut self, value: &mut u64) -> Passed {
        let mut sum = 0u64;
        // Ten bytes hold 64 bits.
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first().ok_or(DecodeStateError::Short)?;
            self.0 = rest;
            if shift == 63 && byte > 1 {
                break;
            }
            sum |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                *value = sum;
                return Ok(());
            }
        }
        Err(DecodeStateError::Senseless("a number of more than 64 bits"))
    }

    fn text(&mut self, value: &mut Box<str>) -> Passed {
        let mut length = 0;
        self.number(&mut length)?;
        if length > LABEL_BYTES {
            return Err(DecodeStateError::Senseless("a label of more than 4096 bytes"));
        }
        let length = usize::try_from(length).map_err(|_| DecodeStateError::Short)?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(DecodeStateError::Short)?;
        self.0 = rest;
        *value =
            str::from_utf8(bytes).map_err(|_| DecodeStateError::Senseless("a label that is no text"))?.into();
        Ok(())
    }
}

fn pass_state(state: &mut ThermalState, wire: &mut impl StateWire) -> Passed {
    wire.number(&mut state.rows)?;
    wire.number(&mut state.untimed)?;
    let mut mixed = u64::from(state.mixed);
    wire.number(&mut mixed)?;
    state.mixed = mixed != 0;
    let mut count = state.stretches.len() as u64;
    wire.number(&mut count)?;
    // One by one: a damaged count asks for no memory, it runs out of bytes.
    for at in 0..usize::try_from(count).unwrap_or(usize::MAX) {
        if at == state.stretches.len() {
            let labels = Arc::default();
            let row = HealthRow::new(0);
            state.stretches.reserve_exact(1);
            state.stretches.push(RowStretch { labels, first: row, last: row, sums: HealthSums::default() });
        }
        let RowStretch { labels, first, last, sums } = &mut state.stretches[at];
        let mut texts = [labels.model(), labels.firmware(), labels.host(), labels.slot()].map(Box::from);
        for text in &mut texts {
            wire.text(text)?;
        }
        let own = DriveLabels::new(&texts[0], &texts[1], &texts[2], &texts[3]);
        if own != **labels {
            *labels = Arc::new(own);
        }
        pass_row(first, wire)?;
        pass_row(last, wire)?;
        if last.time_ms < first.time_ms {
            return Err(DecodeStateError::Senseless("a stretch that ends before it begins"));
        }
        pass_sums(sums, wire)?;
    }
    Ok(())
}

/// Which values are there as bits, then those.
fn pass_row(row: &mut HealthRow, wire: &mut impl StateWire) -> Passed {
    wire.signed(&mut row.time_ms)?;
    let mut there = 0u64;
    let values = || std::iter::once(row.temp_mc).chain(row.counters);
    for (at, value) in values().enumerate() {
        there |= u64::from(value != ABSENT) << at;
    }
    wire.number(&mut there)?;
    for (at, value) in std::iter::once(&mut row.temp_mc).chain(&mut row.counters).enumerate() {
        if there >> at & 1 == 1 {
            wire.signed(value)?;
        }
    }
    Ok(())
}

fn pass_sums(sums: &mut HealthSums, wire: &mut impl StateWire) -> Passed {
    for number in [
        &mut sums.rows,
        &mut sums.duplicates,
        &mut sums.conflicts,
        &mut sums.observed_ms,
        &mut sums.gaps,
        &mut sums.gap_ms,
        &mut sums.resets,
        &mut sums.implausible,
        &mut sums.busy_throttled.0,
        &mut sums.busy_throttled.1,
        &mut sums.busy_free.0,
        &mut sums.busy_free.1,
        &mut sums.temp_rows,
    ] {
        wire.number(number)?;
    }
    let mut present = u32::from(sums.present);
    wire.small(&mut present)?;
    sums.present =
        u16::try_from(present).map_err(|_| DecodeStateError::Senseless("counters that there are not"))?;
    sums.moved.iter_mut().try_for_each(|number| wire.number(number))?;
    if wire.is_there(&mut sums.moved_in_gaps)? {
        sums.moved_in_gaps.get_or_insert_default().iter_mut().try_for_each(|number| wire.number(number))?;
    }
    for time in [&mut sums.throttled_first_ms, &mut sums.throttled_last_ms] {
        wire.maybe(time)?;
    }
    wire.signed(&mut sums.throttle_counter_max)?;
    wire.signed(&mut sums.temp_sum_mc)?;
    wire.signed(&mut sums.temp_max_mc)?;
    if wire.is_there(&mut sums.onsets)? {
        let bins = sums.onsets.get_or_insert_with(|| Box::new([0; 64]));
        bins.iter_mut().try_for_each(|bin| wire.small(bin))?;
    }
    Ok(())
}
