//! Pages of bytes to decoded values, good and bad.
//!
//! Goal: a layout that is wrong in the same way in decoder and encoder is caught by bytes that neither
//! made. Method: `fixtures/nvme`, whose README says where each page comes from.

use std::fmt::{Debug, Write};
use std::path::PathBuf;

use nvme::DecodeError;
use nvme::feature::power::ApstTable;
use nvme::identify::{IdentifyController, IdentifyNamespace, NamespaceId};
use nvme::log::discovery::DiscoveryLog;
use nvme::log::effects::{Effects, EffectsLog};
use nvme::log::errors::ErrorEntry;
use nvme::log::firmware::FirmwareSlots;
use nvme::log::ocp::OcpSmart;
use nvme::log::persistent::PersistentEventLog;
use nvme::log::power_measurement::PowerMeasurementLog;
use nvme::smart::SmartLog;

/// Reads a page: `length N`, then `OFFSET: BYTES  # field`.
fn page(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/nvme").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = text.lines();
    let length = lines.next().and_then(|line| line.strip_prefix("length ")).expect("a length");
    let mut page = vec![0; length.parse().expect("a number")];
    for line in lines {
        let (offset, rest) = line.split_once(": ").expect("an offset");
        let bytes = rest.split('#').next().expect("always one").split_whitespace();
        let offset = usize::from_str_radix(offset, 16).expect("hexadecimal");
        for (index, byte) in bytes.enumerate() {
            page[offset + index] = u8::from_str_radix(byte, 16).expect("hexadecimal");
        }
    }
    page
}

/// Decodes a good page, checks that what was decoded survives encoding, and returns it.
fn good<V: Debug + PartialEq>(
    name: &str,
    decode: impl Fn(&[u8]) -> Result<V, DecodeError>,
    encode: impl Fn(&V) -> Vec<u8>,
) -> V {
    let value = decode(&page(&format!("good/{name}.hex"))).expect("a good page");
    assert_eq!(decode(&encode(&value)).as_ref(), Ok(&value), "{name} survives encoding");
    value
}

#[test]
fn smart_logs() {
    for name in ["smart-idle-drive", "smart-throttling", "smart-reports-nothing"] {
        let log = good(name, SmartLog::decode, |log| log.encode().to_vec());
        insta::assert_debug_snapshot!(name, log);
    }
}

#[test]
fn identify_controllers() {
    for name in
        ["identify-controller-960-evo", "identify-controller-snv2s250g", "identify-controller-2.3-fabrics"]
    {
        let identify = good(name, IdentifyController::decode, |identify| identify.encode().to_vec());
        insta::assert_debug_snapshot!(name, identify);
    }
}

#[test]
fn identify_namespaces() {
    let namespace =
        good("identify-namespace-512e", IdentifyNamespace::decode, |namespace| namespace.encode().to_vec());
    insta::assert_debug_snapshot!("identify-namespace-512e", namespace);
    let ids = good("namespace-ids", NamespaceId::decode_all, |ids| NamespaceId::encode_all(ids).to_vec());
    insta::assert_debug_snapshot!("namespace-ids", ids);
}

#[test]
fn other_logs() {
    let entries = good("errors", ErrorEntry::decode_all, |entries| {
        entries.iter().flat_map(ErrorEntry::encode).collect()
    });
    insta::assert_debug_snapshot!("errors", entries);
    let slots = good("firmware", FirmwareSlots::decode, |slots| slots.encode().to_vec());
    insta::assert_debug_snapshot!("firmware", slots);
    let log = good("ocp-smart", OcpSmart::decode, |log| log.encode().to_vec());
    insta::assert_debug_snapshot!("ocp-smart", log);
    let log = good("power-measurement", PowerMeasurementLog::decode, PowerMeasurementLog::encode);
    insta::assert_debug_snapshot!("power-measurement", log);
    let log = good("discovery", DiscoveryLog::decode, DiscoveryLog::encode);
    insta::assert_debug_snapshot!("discovery", log);
    let effects = good("effects", EffectsLog::decode, |log| log.encode().to_vec());
    let set = |effects: &[Effects; 256]| {
        let set = effects.iter().enumerate().filter(|(_, effects)| **effects != Effects::NONE);
        set.map(|(opcode, effects)| format!("{opcode:02x}h {:#x}", effects.0)).collect::<Vec<_>>()
    };
    insta::assert_debug_snapshot!("effects", (set(&effects.admin), set(&effects.io)));
}

/// The length in the header is computed when encoding and must come out as the drive had it.
#[test]
fn persistent_events() {
    // Encoding leaves out vendor parts, so lengths shrink; the events are what must survive.
    let log = PersistentEventLog::decode(&page("good/persistent-events.hex")).expect("a good page");
    let again = PersistentEventLog::decode(&log.encode()).expect("our own bytes");
    assert_eq!(again.events, log.events);
    insta::assert_debug_snapshot!("persistent-events", log);
}

#[test]
fn bad_pages_are_errors_that_name_the_page_and_the_reason() {
    fn error<V: Debug>(decoded: Result<V, DecodeError>) -> String {
        decoded.expect_err("a bad page").to_string()
    }
    type Decode = fn(&[u8]) -> String;
    let cases: [(&str, Decode); 17] = [
        ("apst-short", |page| error(ApstTable::decode(page))),
        ("discovery-short", |page| error(DiscoveryLog::decode(page))),
        ("discovery-unknown-format", |page| error(DiscoveryLog::decode(page))),
        ("effects-short", |page| error(EffectsLog::decode(page))),
        ("errors-half-an-entry", |page| error(ErrorEntry::decode_all(page))),
        ("firmware-short", |page| error(FirmwareSlots::decode(page))),
        ("identify-controller-short", |page| error(IdentifyController::decode(page))),
        ("namespace-ids-endless", |page| error(NamespaceId::decode_all(page))),
        ("namespace-ids-runs-over", |page| error(NamespaceId::decode_all(page))),
        ("namespace-ids-wrong-length", |page| error(NamespaceId::decode_all(page))),
        ("ocp-other-vendor", |page| error(OcpSmart::decode(page))),
        ("persistent-no-context", |page| error(PersistentEventLog::decode(page))),
        ("persistent-short-event-header", |page| error(PersistentEventLog::decode(page))),
        ("persistent-vendor-part-too-long", |page| error(PersistentEventLog::decode(page))),
        ("power-measurement-missing-bins", |page| error(PowerMeasurementLog::decode(page))),
        ("power-measurement-tiny-bins", |page| error(PowerMeasurementLog::decode(page))),
        ("smart-short", |page| error(SmartLog::decode(page))),
    ];
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/nvme/bad");
    let files = std::fs::read_dir(folder).expect("the folder").count();
    assert_eq!(files, cases.len(), "every bad page is tried");
    let mut errors = String::new();
    for (name, decode) in cases {
        let error = decode(&page(&format!("bad/{name}.hex")));
        writeln!(errors, "{name}: {error}").expect("a string takes everything");
    }
    insta::assert_snapshot!("bad", errors);
}
