//! Format NVM and Device Self-test, as a host sees them.

use nvme::command::{FormatNvm, SecureErase};
use nvme::feature::session::AsyncEvent;
use nvme::identify::IdentifyNamespace;
use nvme::log::self_test::{SelfTestCode, SelfTestLog, SelfTestOutcome};

use super::*;

fn format(format_idx: u8, erase: SecureErase) -> Sqe {
    AdminCommand::Format(FormatNvm { nsid: 1, format_idx, protection: 0, erase }).encode()
}

fn namespace(host: &mut Host<Subsystem>) -> IdentifyNamespace {
    let command = AdminCommand::Identify(nvme::command::Identify::namespace(1)).encode();
    let queue = host.admin;
    let (_, page) = host.send(queue, command, 4096, &[]).expect("a page");
    IdentifyNamespace::decode(&page).expect("well formed")
}

#[test]
fn a_format_changes_the_block_size_and_leaves_zeros() {
    for (erase, kind) in [(SecureErase::None, 0), (SecureErase::UserData, 1), (SecureErase::Cryptographic, 2)]
    {
        assert_eq!(format(1, erase).dword(10), 1 | kind << 9, "LBAFL 3:0, SES 11:9");
        let mut host = host("ssd1");
        let size = namespace(&mut host).size();
        host.write(7, &[7; 4096]).expect("room");
        host.admin(format(1, erase)).expect("4096 bytes a block");
        let after = namespace(&mut host);
        assert_eq!((after.format_idx, after.block_size().map(|size| size.as_u64())), (1, Some(4096)));
        assert!(after.size() <= size && after.size() > size.map(|size| size - measure::Bytes::new(4096)));
        let read = |blocks: u32, start: u64| {
            IoCommand::Read(Transfer { start: Lba::new(start), blocks, fua: false }).encode(1)
        };
        let io = host.io;
        let (_, data) = host.send(io, read(1, 0), 4096, &[]).expect("one block of 4 KiB");
        assert_eq!(data, [0; 4096]);
        let beyond = host.send(io, read(1, after.blocks), 4096, &[]);
        assert_eq!(beyond, Err(never(Status::LBA_OUT_OF_RANGE)));
        assert_eq!(host.service.backing().expect("memory").used_bytes().expect("known"), 0);
        // The format outlives the server.
        let mut again = options("ssd1");
        again.saved = host.service.take_saved().expect("it was formatted");
        let mut host = host_of(Subsystem::new(again).expect("sound"), Instant::ZERO);
        assert_eq!(namespace(&mut host).blocks, after.blocks);
        host.admin(format(0, erase)).expect("and back");
        assert_eq!(namespace(&mut host).size(), size);
    }
}

#[test]
fn a_format_that_does_not_exist_changes_nothing() {
    let mut host = host("ssd1");
    host.write(0, &[7; 512]).expect("room");
    let none = SecureErase::None;
    assert_eq!(host.admin(format(2, none)), Err(never(Status::INVALID_FORMAT)));
    assert_eq!(host.admin(format(0, none).with_dword(10, 1 << 5)), Err(never(Status::INVALID_FORMAT)));
    assert_eq!(host.admin(format(0, none).with_dword(10, 3 << 9)), Err(never(Status::INVALID_FIELD)));
    assert_eq!(host.admin(Sqe { nsid: 2, ..format(1, none) }), Err(never(Status::INVALID_NAMESPACE)));
    assert_eq!(host.read_blocks(0, 512).expect("there"), [7; 512]);
}

/// A host that asked for it is told, and finds the namespace on the list (log page 04h) until it has read it.
#[test]
fn a_format_is_told() {
    let mut host = host("ssd1");
    host.set(FeatureId::ASYNC_EVENTS, 0x100, false).expect("OAES says so");
    let queue = host.admin;
    assert_eq!(host.submit(queue, AdminCommand::AsyncEventRequest.encode(), &[]), Accepted::Pending);
    let request = host.cid;
    let accepted = host.submit(queue, format(1, SecureErase::None), &[]);
    assert_eq!(accepted, Accepted::Pending);
    let told = host.pass(Duration::from_secs(1));
    let event = told.iter().find(|(_, reply)| reply.completion.cid == request).expect("an event");
    assert_eq!(event.1.completion.result, u64::from(AsyncEvent::NAMESPACE_ATTRIBUTE.encode()));
    assert_eq!(host.get_log(LogId::CHANGED_NAMESPACES, 4096).expect("a page")[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(host.get_log(LogId::CHANGED_NAMESPACES, 4096).expect("a page")[..4], [0; 4]);
}

fn self_test(host: &mut Host<Subsystem>, code: SelfTestCode) -> Result<(), Status> {
    host.admin(AdminCommand::SelfTest { nsid: NSID, code }.encode()).map(|_| ())
}

fn log(host: &mut Host<Subsystem>) -> SelfTestLog {
    SelfTestLog::decode(&host.get_log(LogId::SELF_TEST, 564).expect("a page")).expect("well formed")
}

fn outcomes(log: &SelfTestLog) -> Vec<(SelfTestCode, SelfTestOutcome)> {
    log.results.iter().map(|result| (result.code, result.outcome)).collect()
}

use SelfTestCode as Code;
use SelfTestOutcome as End;

#[test]
fn a_self_test_goes_on_in_the_drives_time_and_passes() {
    let mut scaled = options("ssd1");
    scaled.scale = Scale::new(60, 1).expect("in range");
    let mut host = host_of(Subsystem::new(scaled).expect("sound"), Instant::ZERO);
    assert_eq!(log(&mut host), SelfTestLog { running: None, results: Vec::new() });
    self_test(&mut host, Code::EXTENDED).expect("it starts");
    assert_eq!(self_test(&mut host, Code::SHORT), Err(never(Status::SELF_TEST_IN_PROGRESS)));
    // A quarter of half an hour, sixty times as fast.
    host.pass(Duration::from_millis(7_600));
    assert_eq!(log(&mut host).running, Some((Code::EXTENDED, 25)));
    // Its reset does not end it.
    let set = |value| FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value }.encode();
    host.admin(set(ENABLE & !1)).expect("a reset");
    host.admin(set(ENABLE)).expect("it works again");
    host.pass(Duration::from_millis(22_500));
    let done = log(&mut host);
    assert_eq!((done.running, outcomes(&done)), (None, vec![(Code::EXTENDED, End::PASSED)]));
}

#[test]
fn a_self_test_ends_before_its_time() {
    let mut host = host("ssd1");
    assert_eq!(self_test(&mut host, SelfTestCode(3)), Err(never(Status::INVALID_FIELD)));
    self_test(&mut host, Code::ABORT).expect("there is nothing to abort");
    assert_eq!(outcomes(&log(&mut host)), []);
    self_test(&mut host, Code::SHORT).expect("it starts");
    self_test(&mut host, Code::ABORT).expect("it ends");
    self_test(&mut host, Code::SHORT).expect("it starts");
    let set = |value| FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value }.encode();
    host.admin(set(ENABLE & !1)).expect("a reset");
    host.admin(set(ENABLE)).expect("it works again");
    self_test(&mut host, Code::EXTENDED).expect("it starts");
    host.admin(format(0, SecureErase::None)).expect("it formats");
    let expected = [
        (Code::EXTENDED, End::ABORTED_BY_FORMAT),
        (Code::SHORT, End::ABORTED_BY_RESET),
        (Code::SHORT, End::ABORTED_BY_COMMAND),
    ];
    assert_eq!(outcomes(&log(&mut host)), expected);
    // Twenty are kept, the latest.
    for _ in 0..25 {
        self_test(&mut host, Code::SHORT).expect("it starts");
        host.pass(Duration::from_secs(121));
    }
    assert_eq!(outcomes(&log(&mut host)), [(Code::SHORT, End::PASSED); 20]);
}

#[test]
fn an_extended_self_test_goes_on_after_a_restart() {
    let mut host = host("ssd1");
    self_test(&mut host, Code::EXTENDED).expect("it starts");
    host.pass(Duration::from_secs(15 * 60));
    let text = host.service.saved_state(true).to_json().expect("our own");
    let mut again = options("ssd1");
    again.saved = SavedState::from_json(&text).expect("our own");
    let mut host = host_of(Subsystem::new(again).expect("sound"), Instant::ZERO);
    assert_eq!(log(&mut host).running, Some((Code::EXTENDED, 50)));
    host.pass(Duration::from_secs(16 * 60));
    assert_eq!(outcomes(&log(&mut host)), [(Code::EXTENDED, End::PASSED)]);
}
