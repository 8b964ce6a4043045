//! Entries for the decoders of the crate `nvme`.
//!
//! The law of each: any bytes decode or are refused, and what was decoded survives being encoded.

use crate::FuzzEntry;
use std::fmt::Debug;

use nvme::auth::{
    AuthMessage, AuthNames, ControllerAuth, ControllerExchange, DhGroup, HostAuth, HostExchange,
    MESSAGE_LEN_MAX, Nonces, Secret,
};
use nvme::command::{AdminCommand, Completion, DeallocateRange, IoCommand, Sqe};
use nvme::fabrics::{ConnectData, FabricsCommand};
use nvme::feature::DwordFeature;
use nvme::feature::host_memory::{HostMemoryAttributes, HostMemoryBuffer};
use nvme::feature::power::{Apst, ApstTable, PowerLimit, PowerManagement, PowerMeasurement, PowerThreshold};
use nvme::feature::session::{
    AsyncEventConfig, KeepAliveTimeout, NumberOfQueues, Timestamp, VolatileWriteCache,
};
use nvme::feature::temperature::TemperatureThreshold;
use nvme::hctm::{Hctm, HctmLimits};
use nvme::identify::{
    IdentifyController, IdentifyNamespace, IdentifyNvm, NamespaceId, decode_active_namespaces,
    encode_active_namespaces,
};
use nvme::log::discovery::DiscoveryLog;
use nvme::log::effects::EffectsLog;
use nvme::log::errors::ErrorEntry;
use nvme::log::firmware::FirmwareSlots;
use nvme::log::ocp::{OCP_SMART_GUID, OcpSmart};
use nvme::log::persistent::PersistentEventLog;
use nvme::log::power_measurement::PowerMeasurementLog;
use nvme::log::supported;
use nvme::smart::SmartLog;
use nvme::tcp::{Framing, Pdu, PduError, PduEvent, PduLimits, PduReader, Side, TermReq};
use nvme::{DecodeError, hctm};

/// Every entry by the name of its fuzz target.
pub const ENTRIES: &[FuzzEntry] = &[
    ("nvme_smart", smart),
    ("nvme_identify_controller", identify_controller),
    ("nvme_identify_namespace", identify_namespace),
    ("nvme_identify_lists", identify_lists),
    ("nvme_features", features),
    ("nvme_logs", logs),
    ("nvme_persistent_events", persistent_events),
    ("nvme_power_measurement", power_measurement),
    ("nvme_discovery", discovery),
    ("nvme_commands", commands),
    ("nvme_connect", connect),
    ("nvme_auth", auth),
    ("nvme_tcp_controller", tcp_controller),
    ("nvme_tcp_host", tcp_host),
];

/// Messages of authentication: as such, and as what a controller or a host is sent, which neither lets anybody in nor
/// stumbles.
pub fn auth(data: &[u8]) {
    survives(data, AuthMessage::decode, AuthMessage::encode);
    let secret = Secret::parse(SECRET).expect("the specification's example");
    let names = AuthNames { host: "nqn.host".to_owned(), subsystem: "nqn.subsystem".to_owned() };
    let nonces = Nonces { challenge: [1; 64], exponent: [2; 64], sequence: 3 };
    let known = ControllerAuth {
        host_secret: secret.clone(),
        controller_secret: Some(secret.clone()),
        hash: None,
        // Numbers of the others cost time and are compared in the same place.
        group: Some(DhGroup::Null),
    };
    let host_auth = HostAuth { secret: secret.clone(), controller_secret: Some(secret) };
    let mut host = HostExchange::new(&host_auth, names.clone(), 7, nonces.clone());
    for sound in 0..2 {
        let mut controller = ControllerExchange::new(known.clone(), names.clone());
        if sound == 1 {
            controller.send(&host.negotiate());
            controller.receive(&nonces, MESSAGE_LEN_MAX);
        }
        controller.send(data);
        controller.receive(&nonces, MESSAGE_LEN_MAX);
        // Only who knows the secret can make a reply to a challenge; no fuzzer finds one.
        assert!(!controller.is_authenticated(), "nobody has proved anything");
    }
    if let Ok(reply) = host.reply(data) {
        assert!(matches!(AuthMessage::decode(&reply), Ok(AuthMessage::Reply(_))));
    }
    assert!(host.finish(data).is_err(), "the controller has proved nothing");
}

const SECRET: &str = "DHHC-1:01:ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:";

/// The SMART log.
pub fn smart(data: &[u8]) {
    survives(data, SmartLog::decode, |log| log.encode().to_vec());
}

/// Identify Controller.
pub fn identify_controller(data: &[u8]) {
    survives(data, IdentifyController::decode, |identify| identify.encode().to_vec());
}

/// Identify Namespace, and the sizes derived from it.
pub fn identify_namespace(data: &[u8]) {
    if let Some(namespace) = survives(data, IdentifyNamespace::decode, |page| page.encode().to_vec())
        && let Some(size) = namespace.size()
    {
        let block = namespace.block_size().expect("there is no size without a block size");
        assert_eq!(size.as_u64() / block.as_u64(), namespace.blocks);
    }
}

/// The smaller answers of Identify.
pub fn identify_lists(data: &[u8]) {
    // A list longer than a page does not survive: encoding fills one page.
    let page = &data[..data.len().min(4096)];
    survives(page, NamespaceId::decode_all, |ids| NamespaceId::encode_all(ids).to_vec());
    survives(data, IdentifyNvm::decode, |limits| limits.encode().to_vec());
    survives(data, decode_active_namespaces, |list| encode_active_namespaces(list).to_vec());
}

/// Every feature, and the rule of thermal management.
pub fn features(data: &[u8]) {
    survives(data, ApstTable::decode, |table| table.encode().to_vec());
    survives(data, HostMemoryAttributes::decode, |attributes| attributes.encode().to_vec());
    if let Some(bytes) = data.first_chunk() {
        let timestamp = Timestamp::decode(*bytes);
        assert_eq!(Timestamp::decode(timestamp.encode()), timestamp);
    }
    for dword in dwords(data) {
        feature::<AsyncEventConfig>(dword);
        feature::<Apst>(dword);
        feature::<HostMemoryBuffer>(dword);
        feature::<KeepAliveTimeout>(dword);
        feature::<NumberOfQueues>(dword);
        feature::<PowerLimit>(dword);
        feature::<PowerManagement>(dword);
        feature::<PowerMeasurement>(dword);
        feature::<PowerThreshold>(dword);
        feature::<VolatileWriteCache>(dword);
        feature::<Hctm>(dword);
        if let Ok(threshold) = TemperatureThreshold::decode(dword) {
            assert_eq!(TemperatureThreshold::decode(threshold.encode()), Ok(threshold));
        }
    }
    if let [limits, wanted, ..] = dwords(data)[..]
        && let (Ok(limits), Ok(wanted)) = (Hctm::decode(limits), Hctm::decode(wanted))
    {
        let limits = HctmLimits { supported: true, min: limits.tmt1, max: limits.tmt2 };
        if let Err(error) = limits.check(wanted) {
            assert!(error.to_string().contains(hctm::RULE), "{error}");
        }
    }
}

/// The log pages of fixed shape.
pub fn logs(data: &[u8]) {
    survives(data, EffectsLog::decode, |log| log.encode().to_vec());
    survives(data, FirmwareSlots::decode, |slots| slots.encode().to_vec());
    survives(data, supported::decode, |pages| supported::encode(pages).to_vec());
    survives(data, ErrorEntry::decode_all, |entries| entries.iter().flat_map(ErrorEntry::encode).collect());
    survives(data, OcpSmart::decode, |log| log.encode().to_vec());
    // Noise never has the GUID, so put it there.
    let mut marked = data.to_vec();
    if let Some(guid) = marked.get_mut(496..512) {
        guid.copy_from_slice(&OCP_SMART_GUID);
        survives(&marked, OcpSmart::decode, |log| log.encode().to_vec());
    }
}

/// The persistent event log.
pub fn persistent_events(data: &[u8]) {
    if let Ok(log) = PersistentEventLog::decode(data) {
        assert!(log.events.len() <= log.header.event_count as usize);
        // Vendor parts are left out, so header and lengths change; the events must not.
        let again = PersistentEventLog::decode(&log.encode()).expect("our own bytes decode");
        assert_eq!(again.events, log.events);
    }
}

/// The power measurement log.
pub fn power_measurement(data: &[u8]) {
    let log = survives(data, PowerMeasurementLog::decode, PowerMeasurementLog::encode);
    if let Some(encoded) = log.map(|log| log.encode()) {
        assert_eq!(PowerMeasurementLog::len_bytes(&encoded), Ok(encoded.len() as u32));
    }
}

/// The discovery log.
pub fn discovery(data: &[u8]) {
    if let Ok(log) = DiscoveryLog::decode(data) {
        assert!(log.records.len() as u64 <= log.record_count);
        let again = DiscoveryLog::decode(&log.encode()).expect("our own bytes decode");
        assert_eq!(again.records, log.records);
    }
}

/// Queue entries and what they mean on each kind of queue; ranges; completions.
pub fn commands(data: &[u8]) {
    survives(data, Completion::decode, |completion| completion.encode().to_vec());
    for count in [0, 1, 7, 256] {
        survives(
            data,
            |data| DeallocateRange::decode_all(data, count),
            |ranges| DeallocateRange::encode_all(ranges),
        );
    }
    let Some(sqe) = survives(data, Sqe::decode, |sqe| sqe.encode().to_vec()) else { return };
    let admin = AdminCommand::decode(&sqe);
    assert_eq!(AdminCommand::decode(&admin.encode()), admin);
    assert!(!admin.to_string().is_empty());
    let _ = admin.data_len();
    let io = IoCommand::decode(&sqe);
    assert_eq!(IoCommand::decode(&io.encode(sqe.nsid)), io);
    let fabrics = FabricsCommand::decode(&sqe);
    assert_eq!(FabricsCommand::decode(&fabrics.encode()), fabrics);
    assert_eq!(Sqe::decode(&sqe.with_sgl(sqe.sgl()).encode()).map(|sqe| sqe.sgl()), Ok(sqe.sgl()));
}

/// The data of Connect.
pub fn connect(data: &[u8]) {
    survives(data, ConnectData::decode, |connect| connect.encode().to_vec());
}

/// What a host may send to a controller. The first two bytes choose framing and piece size.
pub fn tcp_controller(data: &[u8]) {
    tcp(Side::Controller, data);
}

/// What a controller may send to a host. The first two bytes choose framing and piece size.
pub fn tcp_host(data: &[u8]) {
    tcp(Side::Host, data);
}

/// Small, so that noise reaches them.
const LIMITS: PduLimits = PduLimits { capsule_data_max: 256, data_max: 512 };

fn tcp(side: Side, data: &[u8]) {
    let [choice, piece, bytes @ ..] = data else { return };
    let framing = Framing {
        header_digest: choice & 1 != 0,
        data_digest: choice & 2 != 0,
        data_alignment_dwords: (choice >> 3) + 1,
    };
    let whole = read(side, framing, bytes, usize::MAX);
    let pieces = read(side, framing, bytes, usize::from(*piece) + 1);
    assert_eq!(whole, pieces, "how bytes arrive does not matter");

    // What was read whole can be sent, and is then read again.
    let mut sent = Vec::new();
    let mut agreed = Framing::PLAIN;
    for found in &whole.pdus {
        if !found.ended {
            break;
        }
        found.pdu.encode(agreed, &found.data, &mut sent);
        // As `read` agrees: after the first PDU.
        agreed = framing;
    }
    let again = read(side, framing, &sent, usize::MAX);
    assert_eq!(again.error, None, "our own bytes are accepted");
    let ended: Vec<_> = whole.pdus.iter().take_while(|found| found.ended).collect();
    assert_eq!(
        again.pdus.iter().map(|found| &found.pdu).collect::<Vec<_>>(),
        ended.iter().map(|found| &found.pdu).collect::<Vec<_>>()
    );
}

#[derive(Debug, Default, PartialEq)]
struct Read {
    pdus: Vec<Found>,
    error: Option<PduError>,
}

#[derive(Debug, PartialEq)]
struct Found {
    pdu: Pdu,
    data: Vec<u8>,
    ended: bool,
}

/// Reads everything in pieces, with the connection initialised by its first PDU.
fn read(side: Side, framing: Framing, bytes: &[u8], piece: usize) -> Read {
    let mut reader = PduReader::new(side, LIMITS);
    let mut result = Read::default();
    for mut bytes in bytes.chunks(piece) {
        loop {
            let (used, event) = match reader.feed(bytes) {
                Ok(found) => found,
                Err(error) => {
                    let mut last_words = Vec::new();
                    TermReq::encode(side, &error, reader.offending_header(), &mut last_words);
                    assert!(last_words.len() <= 152 && reader.feed(bytes) == Err(error.clone()));
                    result.error = Some(error);
                    return result;
                }
            };
            assert!(used <= bytes.len());
            bytes = &bytes[used..];
            match event {
                PduEvent::NeedMore => {
                    assert!(bytes.is_empty(), "everything is taken before more is asked for");
                    break;
                }
                PduEvent::Header(pdu) => {
                    assert!(pdu.data_len() <= LIMITS.data_max, "limits hold");
                    result.pdus.push(Found { pdu, data: Vec::new(), ended: pdu.data_len() == 0 });
                    if result.pdus.len() == 1 {
                        reader.agree(framing, LIMITS);
                    }
                }
                PduEvent::Data(data) => {
                    let found = result.pdus.last_mut().expect("a header comes before its data");
                    found.data.extend(data);
                    assert!(!data.is_empty() && found.data.len() <= found.pdu.data_len() as usize);
                }
                PduEvent::End { .. } => {
                    let found = result.pdus.last_mut().expect("a header comes before its end");
                    found.ended = true;
                    assert_eq!(found.data.len(), found.pdu.data_len() as usize);
                }
            }
        }
    }
    result
}

/// Decodes, and if that works encodes and decodes again: the same must come out.
fn survives<V: Debug + PartialEq>(
    data: &[u8],
    decode: impl Fn(&[u8]) -> Result<V, DecodeError>,
    encode: impl Fn(&V) -> Vec<u8>,
) -> Option<V> {
    match decode(data) {
        Ok(value) => {
            assert_eq!(decode(&encode(&value)).as_ref(), Ok(&value), "what was decoded survives encoding");
            Some(value)
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            None
        }
    }
}

fn feature<F: DwordFeature + Debug + PartialEq>(dword: u32) {
    if let Ok(value) = F::decode(dword) {
        assert_eq!(F::decode(value.encode()), Ok(value), "{} survives encoding", F::ID);
    }
}

fn dwords(data: &[u8]) -> Vec<u32> {
    data.chunks_exact(4).map(|chunk| u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]])).collect()
}
