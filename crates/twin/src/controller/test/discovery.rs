//! The discovery service, as `nvme discover` and a persistent discovery controller use it.

use nvme::command::Identify;
use nvme::identify::IdentifyController;
use nvme::log::discovery::{DISCOVERY_NQN, DiscoveryLog, DiscoveryRecord};

use super::*;

fn host_of_two() -> Host<Discovery> {
    let record =
        |name: &str| DiscoveryRecord::tcp_v4(&SubsystemIdentity::for_profile(name, 1).nqn, "127.0.0.1", 4420);
    let mut service = Discovery::new(vec![record("ssd1"), record("ssd2")], Vec::new());
    let mut request = connect_request(DISCOVERY_NQN, 0, DYNAMIC_CONTROLLER);
    request.command.keep_alive_ms = 0;
    let admin = service.connect(Instant::ZERO, &request).expect("a controller").queue;
    let mut host = Host { service, now: Instant::ZERO, admin, io: admin, cid: 0, closed: Vec::new() };
    let set = FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value: ENABLE };
    host.admin(set.encode()).expect("it enables");
    host
}

#[test]
fn hosts_find_what_there_is() {
    let mut host = host_of_two();
    let page = host.admin(AdminCommand::Identify(Identify::controller()).encode()).expect("a page").1;
    let controller = IdentifyController::decode(&page).expect("a page");
    assert_eq!((controller.controller_type, controller.namespaces), (2, 0));
    assert_eq!(controller.subsystem_nqn.as_deref(), Some(DISCOVERY_NQN));
    // The header first, then as many records as it says.
    let header =
        DiscoveryLog::decode(&host.get_log(LogId::DISCOVERY, 1024).expect("a page")).expect("a page");
    assert_eq!((header.record_count, header.records.len()), (2, 0));
    let log = DiscoveryLog::decode(&host.get_log(LogId::DISCOVERY, 3072).expect("a page")).expect("a page");
    assert_eq!(log.generation, header.generation);
    assert_eq!(log.records[1].subsystem_nqn, "nqn.2026-11.invalid.heatsoak:ssd2");
    assert!(host.get_log(LogId::SMART, 512).expect_err("no drive").is(Status::INVALID_LOG_PAGE));
    let io = connect_request(DISCOVERY_NQN, 1, host.admin.controller_id());
    assert!(host.service.connect(host.now, &io).is_err(), "it has no I/O queues");
}

#[test]
fn hosts_are_told_when_the_list_changes() {
    let mut host = host_of_two();
    host.set(FeatureId::ASYNC_EVENTS, 1 << 31, false).expect("OAES says so");
    assert!(host.set(FeatureId::ASYNC_EVENTS, 2, false).is_err());
    let queue = host.admin;
    assert_eq!(host.submit(queue, AdminCommand::AsyncEventRequest.encode(), &[]), Accepted::Pending);
    let now = host.now;
    host.service.set_records(now, Vec::new());
    let told = host.pass(Duration::ZERO);
    // Notice, F0h, page 70h.
    assert_eq!(told[0].1.completion.dword0(), 0x0070_f002);
    let log = DiscoveryLog::decode(&host.get_log(LogId::DISCOVERY, 1024).expect("a page")).expect("a page");
    assert_eq!((log.generation, log.record_count), (2, 0));
}
