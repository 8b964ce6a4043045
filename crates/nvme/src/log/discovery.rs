//! Discovery (log page 70h): which subsystems a discovery service offers, and where.
//!
//! Layout: NVMe Base 2.3, Discovery Log Page: a header of 1024 bytes, then records of 1024 bytes.
//! Transport specific subtypes (TSAS) beyond the security byte are left alone.

use zerocopy::little_endian::{U16, U64};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DecodeError;
use crate::identify::{put_text, text};
use crate::wire::{self, assert_layout};

/// Bytes of the header, and of each record.
pub const DISCOVERY_RECORD_LEN: usize = 1024;
/// The name of every discovery subsystem.
pub const DISCOVERY_NQN: &str = "nqn.2014-08.org.nvmexpress.discovery";
/// Controller identifier that means "any; choose one for me".
pub const DYNAMIC_CONTROLLER: u16 = 0xffff;

/// The discovery log as far as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryLog {
    /// Changes when the log does; two reads with different numbers do not belong together.
    pub generation: u64,
    /// Records in the whole log.
    pub record_count: u64,
    /// The records that were read whole.
    pub records: Vec<DiscoveryRecord>,
}

/// One way to reach one subsystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveryRecord {
    /// Transport: 3 is TCP.
    pub transport: u8,
    /// Address family: 1 is IPv4, 2 is IPv6.
    pub address_family: u8,
    /// Subsystem type: 1 another discovery service, 2 NVM, 3 this discovery service.
    pub subsystem_type: u8,
    /// Transport requirements.
    pub requirements: u8,
    /// Port identifier.
    pub port_id: u16,
    /// Controller, or [`DYNAMIC_CONTROLLER`].
    pub controller_id: u16,
    /// Most entries of the admin submission queue.
    pub admin_queue_size: u16,
    /// Entry flags.
    pub flags: u16,
    /// Transport service identifier: the TCP port as text.
    pub service: String,
    /// Name of the subsystem.
    pub subsystem_nqn: String,
    /// Transport address: an IP address as text.
    pub address: String,
    /// TCP: security type, 0 none.
    pub security: u8,
}

impl DiscoveryRecord {
    /// TCP, as transport.
    pub const TCP: u8 = 3;
    /// An NVM subsystem, as subsystem type.
    pub const NVM_SUBSYSTEM: u8 = 2;

    /// A subsystem on TCP over IPv4 with a dynamic controller.
    pub fn tcp_v4(subsystem_nqn: &str, address: &str, port: u16) -> Self {
        Self {
            transport: Self::TCP,
            address_family: 1,
            subsystem_type: Self::NVM_SUBSYSTEM,
            requirements: 0,
            port_id: 0,
            controller_id: DYNAMIC_CONTROLLER,
            admin_queue_size: 32,
            flags: 0,
            service: port.to_string(),
            subsystem_nqn: subsystem_nqn.to_owned(),
            address: address.to_owned(),
            security: 0,
        }
    }

    fn from_wire(wire: &RecordWire) -> Self {
        Self {
            transport: wire.trtype,
            address_family: wire.adrfam,
            subsystem_type: wire.subtype,
            requirements: wire.treq,
            port_id: wire.portid.get(),
            controller_id: wire.cntlid.get(),
            admin_queue_size: wire.asqsz.get(),
            flags: wire.eflags.get(),
            service: text(&wire.trsvcid),
            subsystem_nqn: text(&wire.subnqn),
            address: text(&wire.traddr),
            security: wire.tsas[0],
        }
    }

    fn to_wire(&self) -> RecordWire {
        let mut wire = RecordWire::new_zeroed();
        wire.trtype = self.transport;
        wire.adrfam = self.address_family;
        wire.subtype = self.subsystem_type;
        wire.treq = self.requirements;
        wire.portid = self.port_id.into();
        wire.cntlid = self.controller_id.into();
        wire.asqsz = self.admin_queue_size.into();
        wire.eflags = self.flags.into();
        put_text(&mut wire.trsvcid, &self.service, b' ');
        put_text(&mut wire.subnqn, &self.subsystem_nqn, 0);
        put_text(&mut wire.traddr, &self.address, b' ');
        wire.tsas[0] = self.security;
        wire
    }
}

impl DiscoveryLog {
    /// Decodes the log. Records that were not read whole are left out; the count says how many there are.
    ///
    /// # Errors
    /// [`DecodeError::Short`] for fewer than 18 bytes of header (hosts may read no more than that),
    /// [`DecodeError::Value`] for a record format we do not know.
    pub fn decode(page: &[u8]) -> Result<Self, DecodeError> {
        const WHAT: &str = "the discovery log (70h)";
        let header: &DiscoveryHeaderWire = wire::layout(WHAT, page)?;
        if header.format.get() != 0 {
            let why = "only record format 0 is defined";
            let value = header.format.get().into();
            return Err(DecodeError::Value { what: WHAT, field: "RECFMT", value, why });
        }
        let record_count = header.record_count.get();
        let mut records = Vec::new();
        let chunks = page.chunks_exact(DISCOVERY_RECORD_LEN).skip(1);
        for chunk in chunks.take(usize::try_from(record_count).unwrap_or(usize::MAX)) {
            records.push(DiscoveryRecord::from_wire(wire::layout(WHAT, chunk)?));
        }
        Ok(Self { generation: header.generation.get(), record_count, records })
    }

    /// Encodes the log. The number of records is that of `records`.
    pub fn encode(&self) -> Vec<u8> {
        let mut header = DiscoveryHeaderWire::new_zeroed();
        header.generation = self.generation.into();
        header.record_count = (self.records.len() as u64).into();
        let mut page = header.as_bytes().to_vec();
        page.resize(DISCOVERY_RECORD_LEN, 0);
        for record in &self.records {
            page.extend(record.to_wire().as_bytes());
        }
        page
    }
}

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct DiscoveryHeaderWire {
    generation: U64,
    record_count: U64,
    format: U16,
}
assert_layout!(DiscoveryHeaderWire, 18, { record_count: 8, format: 16 });

#[repr(C)]
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
struct RecordWire {
    trtype: u8,
    adrfam: u8,
    subtype: u8,
    treq: u8,
    portid: U16,
    cntlid: U16,
    asqsz: U16,
    eflags: U16,
    reserved12: [u8; 20],
    trsvcid: [u8; 32],
    reserved64: [u8; 192],
    subnqn: [u8; 256],
    traddr: [u8; 256],
    tsas: [u8; 256],
}
assert_layout!(RecordWire, 1024, {
    portid: 4,
    cntlid: 6,
    asqsz: 8,
    trsvcid: 32,
    subnqn: 256,
    traddr: 512,
    tsas: 768,
});

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn records_round_trip_and_cut_ones_are_left_out() {
        let record = DiscoveryRecord::tcp_v4("nqn.2026-01.org.example:ssd1", "127.0.0.1", 4420);
        let log = DiscoveryLog { generation: 3, record_count: 2, records: vec![record; 2] };
        let page = log.encode();
        assert_eq!(page.len(), 3 * 1024);
        assert_eq!(page[1024], 3);
        assert_eq!(&page[1024 + 32..1024 + 37], b"4420 ");
        assert_eq!(DiscoveryLog::decode(&page), Ok(log));
        // The first read of every host: the header alone, to learn the count.
        let header = DiscoveryLog::decode(&page[..1024]).expect("header");
        assert_eq!((header.record_count, header.records.len()), (2, 0));
        assert!(DiscoveryLog::decode(&page[..17]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_bytes_decode_or_fail_in_words(mut page in prop::collection::vec(any::<u8>(), 0..4000)) {
            page.iter_mut().take(18).skip(16).for_each(|byte| *byte = 0);
            if let Ok(log) = DiscoveryLog::decode(&page) {
                let again = DiscoveryLog::decode(&log.encode()).expect("our own bytes");
                prop_assert_eq!(again.records, log.records);
            }
        }
    }
}
