//! Persistent events (log page 0Dh): what happened to the drive in its life, with its own time.
//!
//! Of the events only thermal excursions have a meaning here: they are the drive's own account of
//! when throttling began and ended. The others are counted and kept as bytes.
//! Layout: NVMe Base 2.3, Persistent Event Log; thermal excursions: 5.2.12.1.14.2.13.

use zerocopy::little_endian::{U16, U32, U64, U128};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::LogId;
use crate::DecodeError;
use crate::feature::session::Timestamp;
use crate::identify::{put_text, text};
use crate::wire::{self, assert_layout};

/// Bytes of the log's header, before the first event.
pub const PERSISTENT_HEADER_LEN: usize = 512;

/// The persistent event log as far as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersistentEventLog {
    /// What the header says.
    pub header: PersistentHeader,
    /// The events that were read whole, newest first as drives report them.
    pub events: Vec<PersistentEvent>,
}

/// The header of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersistentHeader {
    /// Events in the whole log (TNEV).
    pub event_count: u32,
    /// Bytes of the whole log (TLL): what to ask for next.
    pub len_bytes: u64,
    /// The drive's clock when the log was put together.
    pub at: Timestamp,
    /// Hours powered on.
    pub power_on_hours: u128,
    /// Power cycles.
    pub power_cycles: u64,
    /// Serial number of the drive.
    pub serial: String,
    /// Model of the drive.
    pub model: String,
    /// Changes when the log does; two reads with different numbers do not belong together.
    pub generation: u16,
    /// Which kinds of event the drive records, one bit a kind.
    pub supported: [u8; 32],
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersistentEvent {
    /// When, by the drive's clock.
    pub at: Timestamp,
    /// Controller that saw it.
    pub controller_id: u16,
    /// What happened.
    pub kind: PersistentEventKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PersistentEventKind {
    /// A thermal excursion (0Dh).
    Thermal(ThermalExcursion),
    /// Anything else.
    Other {
        /// Event type.
        event_type: u8,
        /// Its data, without the vendor's part.
        data: Vec<u8>,
    },
}

/// Event type of a thermal excursion.
const THERMAL_EXCURSION: u8 = 0x0d;

/// A threshold was crossed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThermalExcursion {
    /// Kelvins above the threshold.
    pub over_k: u8,
    /// Which threshold, and in which direction.
    pub threshold: ExcursionThreshold,
}

/// Which threshold a thermal excursion is about. Onset, release and class of throttling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExcursionThreshold {
    /// 1h: at or above WCTEMP.
    Warning,
    /// 2h: at or above CCTEMP.
    Critical,
    /// 3h: throttling of TMT1 started.
    Tmt1,
    /// 4h: throttling of TMT2 started.
    Tmt2,
    /// 5h: the maker's own throttling started.
    Vendor,
    /// 88h: the temperature is normal again.
    BackToNormal,
    /// 89h: thermal management stopped.
    ManagementStopped,
    /// Any other value.
    Reserved(u8),
}

impl ExcursionThreshold {
    const CODES: [(u8, Self); 7] = [
        (0x01, Self::Warning),
        (0x02, Self::Critical),
        (0x03, Self::Tmt1),
        (0x04, Self::Tmt2),
        (0x05, Self::Vendor),
        (0x88, Self::BackToNormal),
        (0x89, Self::ManagementStopped),
    ];

    /// Decodes the byte.
    pub fn from_wire(raw: u8) -> Self {
        Self::CODES.into_iter().find(|(code, _)| *code == raw).map_or(Self::Reserved(raw), |(_, kind)| kind)
    }

    /// The byte.
    pub fn as_wire(self) -> u8 {
        match self {
            Self::Reserved(raw) => raw,
            known => Self::CODES.into_iter().find(|(_, kind)| *kind == known).map_or(0, |(code, _)| code),
        }
    }
}

const WHAT: &str = "the persistent event log (0Dh)";
/// Bytes of an event header that its length field (EHL) does not count.
const EVENT_HEADER_UNCOUNTED: usize = 3;

impl PersistentHeader {
    /// Whether the drive records this kind of event.
    pub fn supports(&self, event_type: u8) -> bool {
        self.supported[usize::from(event_type / 8)] & 1 << (event_type % 8) != 0
    }

    /// Whether the drive records thermal excursions.
    pub fn supports_thermal_excursions(&self) -> bool {
        self.supports(THERMAL_EXCURSION)
    }

    /// Decodes the header.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 512 bytes; [`DecodeError::Value`] when the page does not
    /// name itself 0Dh, which is what a drive returns that has established no context.
    pub fn decode(page: &[u8]) -> Result<Self, DecodeError> {
        let wire: &PersistentHeaderWire = wire::layout(WHAT, page)?;
        if wire.lid != LogId::PERSISTENT_EVENTS.0 {
            let why = "the page must name itself 0Dh; was a reporting context established?";
            return Err(DecodeError::Value { what: WHAT, field: "LID", value: wire.lid.into(), why });
        }
        Ok(Self {
            event_count: wire.event_count.get(),
            len_bytes: wire.len_bytes.get(),
            at: Timestamp::decode(wire.at),
            power_on_hours: wire.power_on_hours.get(),
            power_cycles: wire.power_cycles.get(),
            serial: text(&wire.serial),
            model: text(&wire.model),
            generation: wire.generation.get(),
            supported: wire.supported,
        })
    }
}

impl PersistentEventLog {
    /// Decodes the log. Events that were not read whole are left out; the header says how many there are.
    ///
    /// # Errors
    /// As [`PersistentHeader::decode`], and [`DecodeError::Value`] for an event whose lengths
    /// contradict each other: what follows it cannot be found.
    pub fn decode(page: &[u8]) -> Result<Self, DecodeError> {
        let header = PersistentHeader::decode(page)?;
        let mut rest = &page[PERSISTENT_HEADER_LEN..];
        let mut events = Vec::new();
        while events.len() < header.event_count as usize {
            let Some((event, tail)) = PersistentEvent::decode(rest)? else { break };
            events.push(event);
            rest = tail;
        }
        Ok(Self { header, events })
    }

    /// Encodes the log. Number of events and length are those of `events`, whatever the header says.
    pub fn encode(&self) -> Vec<u8> {
        let events: Vec<u8> = self.events.iter().flat_map(PersistentEvent::encode).collect();
        let mut wire = PersistentHeaderWire::new_zeroed();
        wire.lid = LogId::PERSISTENT_EVENTS.0;
        wire.event_count = (self.events.len() as u32).into();
        wire.len_bytes = ((PERSISTENT_HEADER_LEN + events.len()) as u64).into();
        wire.revision = 3;
        // LHL counts the header's bytes after byte 19.
        wire.header_len = (PERSISTENT_HEADER_LEN as u16 - 20).into();
        wire.at = self.header.at.encode();
        wire.power_on_hours = self.header.power_on_hours.into();
        wire.power_cycles = self.header.power_cycles.into();
        put_text(&mut wire.serial, &self.header.serial, b' ');
        put_text(&mut wire.model, &self.header.model, b' ');
        wire.generation = self.header.generation.into();
        wire.supported = self.header.supported;
        [wire.as_bytes(), &events].concat()
    }
}

impl PersistentEvent {
    /// The event at the beginning of `bytes` and what follows it; `None` when it is not there whole.
    fn decode(bytes: &[u8]) -> Result<Option<(Self, &[u8])>, DecodeError> {
        let Ok((wire, _)) = EventHeaderWire::ref_from_prefix(bytes) else { return Ok(None) };
        let header_len = usize::from(wire.header_len) + EVENT_HEADER_UNCOUNTED;
        let (vendor_len, len) = (usize::from(wire.vendor_len.get()), usize::from(wire.len.get()));
        let value_error =
            |field, value: usize, why| DecodeError::Value { what: WHAT, field, value: value as u64, why };
        if header_len < size_of::<EventHeaderWire>() {
            return Err(value_error("EHL", wire.header_len.into(), "an event header has at least 24 bytes"));
        }
        if vendor_len > len {
            return Err(value_error("VSIL", vendor_len, "the vendor's part is longer than the event"));
        }
        let Some((event, tail)) = bytes.split_at_checked(header_len + len) else { return Ok(None) };
        let data = &event[header_len + vendor_len..];
        let kind = match (wire.event_type, data) {
            (THERMAL_EXCURSION, [over_k, threshold, ..]) => PersistentEventKind::Thermal(ThermalExcursion {
                over_k: *over_k,
                threshold: ExcursionThreshold::from_wire(*threshold),
            }),
            (event_type, data) => PersistentEventKind::Other { event_type, data: data.to_vec() },
        };
        let at = Timestamp::decode(wire.at);
        Ok(Some((Self { at, controller_id: wire.controller_id.get(), kind }, tail)))
    }

    fn encode(&self) -> Vec<u8> {
        let (event_type, data) = match &self.kind {
            PersistentEventKind::Thermal(excursion) => {
                (THERMAL_EXCURSION, vec![excursion.over_k, excursion.threshold.as_wire()])
            }
            PersistentEventKind::Other { event_type, data } => (*event_type, data.clone()),
        };
        let data = &data[..data.len().min(u16::MAX.into())];
        let mut wire = EventHeaderWire::new_zeroed();
        wire.event_type = event_type;
        wire.revision = 1;
        wire.header_len = (size_of::<EventHeaderWire>() - EVENT_HEADER_UNCOUNTED) as u8;
        wire.controller_id = self.controller_id.into();
        wire.at = self.at.encode();
        wire.len = (data.len() as u16).into();
        [wire.as_bytes(), data].concat()
    }
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct PersistentHeaderWire {
    lid: u8,
    reserved1: [u8; 3],
    event_count: U32,
    len_bytes: U64,
    revision: u8,
    reserved17: u8,
    header_len: U16,
    at: [u8; 8],
    power_on_hours: U128,
    power_cycles: U64,
    vendor_id: U16,
    subsystem_vendor_id: U16,
    serial: [u8; 20],
    model: [u8; 40],
    subnqn: [u8; 256],
    generation: U16,
    context: U32,
    reserved378: [u8; 102],
    supported: [u8; 32],
}
assert_layout!(PersistentHeaderWire, 512, {
    event_count: 4,
    len_bytes: 8,
    header_len: 18,
    at: 20,
    power_on_hours: 28,
    power_cycles: 44,
    serial: 56,
    model: 76,
    generation: 372,
    supported: 480,
});

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct EventHeaderWire {
    event_type: u8,
    revision: u8,
    header_len: u8,
    additional: u8,
    controller_id: U16,
    at: [u8; 8],
    port: U16,
    reserved16: [u8; 4],
    vendor_len: U16,
    len: U16,
}
assert_layout!(EventHeaderWire, 24, { header_len: 2, controller_id: 4, at: 6, vendor_len: 20, len: 22 });

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    fn log(events: Vec<PersistentEvent>) -> PersistentEventLog {
        let mut supported = [0; 32];
        supported[1] = 1 << 5;
        let header = PersistentHeader {
            event_count: events.len() as u32,
            len_bytes: 0,
            at: Timestamp { ms: 9, set_by_host: true, may_have_stopped: false },
            power_on_hours: 3,
            power_cycles: 2,
            serial: "S1".to_owned(),
            model: "M1".to_owned(),
            generation: 7,
            supported,
        };
        PersistentEventLog { header, events }
    }

    fn thermal(over_k: u8, threshold: ExcursionThreshold) -> PersistentEvent {
        let at = Timestamp { ms: 5, set_by_host: true, may_have_stopped: false };
        PersistentEvent {
            at,
            controller_id: 1,
            kind: PersistentEventKind::Thermal(ThermalExcursion { over_k, threshold }),
        }
    }

    /// Goal: the vendor's part comes before the event's data and must be skipped.
    /// Method: an event put together by hand.
    #[test]
    fn the_vendors_part_is_not_the_event() {
        let mut page = log(vec![]).encode();
        page[4] = 1;
        let mut event = vec![0; 24];
        event[0] = THERMAL_EXCURSION;
        event[2] = 21;
        event[20] = 3;
        event[22] = 5;
        event.extend([0xaa, 0xbb, 0xcc, 2, 0x04]);
        page.extend(event);
        let decoded = PersistentEventLog::decode(&page).expect("one event");
        let expected = ThermalExcursion { over_k: 2, threshold: ExcursionThreshold::Tmt2 };
        assert_eq!(decoded.events[0].kind, PersistentEventKind::Thermal(expected));
        assert!(decoded.header.supports_thermal_excursions());
        assert!(!decoded.header.supports(1));
    }

    #[test]
    fn cut_events_are_left_out_and_counted_by_the_header() {
        let page =
            log(vec![thermal(0, ExcursionThreshold::Tmt1), thermal(1, ExcursionThreshold::BackToNormal)])
                .encode();
        let decoded = PersistentEventLog::decode(&page[..page.len() - 1]).expect("cut in the second event");
        assert_eq!((decoded.events.len(), decoded.header.event_count), (1, 2));
        assert_eq!(decoded.header.len_bytes, page.len() as u64);
    }

    #[test]
    fn contradicting_lengths_and_foreign_pages_are_errors() {
        let mut page = log(vec![thermal(0, ExcursionThreshold::Tmt1)]).encode();
        page[512 + 2] = 20;
        assert!(matches!(PersistentEventLog::decode(&page), Err(DecodeError::Value { field: "EHL", .. })));
        page[512 + 2] = 21;
        page[512 + 20] = 3;
        assert!(matches!(PersistentEventLog::decode(&page), Err(DecodeError::Value { field: "VSIL", .. })));
        page[0] = 0;
        assert!(matches!(PersistentEventLog::decode(&page), Err(DecodeError::Value { field: "LID", .. })));
    }

    #[test]
    fn every_threshold_code_round_trips() {
        for raw in 0..=u8::MAX {
            assert_eq!(ExcursionThreshold::from_wire(raw).as_wire(), raw);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_fail_in_words(mut page in prop::collection::vec(any::<u8>(), 512..900)) {
            page[0] = 0x0d;
            page[4..8].copy_from_slice(&[4, 0, 0, 0]);
            if let Ok(log) = PersistentEventLog::decode(&page) {
                let again = PersistentEventLog::decode(&log.encode()).expect("our own bytes");
                prop_assert_eq!(again.events, log.events);
            }
        }
    }
}
