//! The exact sequence that Debian's kernels 6.1 and 6.12 send, in their order, with what they check.
//!
//! Taken down from the traffic of both kernels with a target that they accepted; what is asserted is
//! what drivers/nvme/host/{core,fabrics,tcp,hwmon}.c look at.

use nvme::command::{Cns, Identify, NSID_ALL};
use nvme::fabrics::property::{ControllerCapabilities, ControllerStatus, ShutdownState};
use nvme::feature::power::ApstTable;
use nvme::identify::{IdentifyController, IdentifyNamespace, NamespaceId, decode_active_namespaces};
use nvme::smart::SmartLog;

use super::*;

fn property_get(host: &mut Host<Subsystem>, property: Property) -> u64 {
    host.admin(FabricsCommand::PropertyGet { property }.encode()).expect("a property of Fabrics").0
}

fn property_set(host: &mut Host<Subsystem>, value: u64) {
    let command = FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value };
    host.admin(command.encode()).expect("CC can be set");
}

fn identify(host: &mut Host<Subsystem>, command: Identify) -> Vec<u8> {
    let queue = host.admin;
    host.send(queue, AdminCommand::Identify(command).encode(), 4096, &[]).expect("an answer").1
}

/// Steps 2 to 9: admin queue, properties, enable. `twice` as 6.1, which reads CC back.
fn bring_up(twice: bool) -> Host<Subsystem> {
    let mut service = subsystem("ssd1");
    let request = connect_request(service.nqn(), 0, DYNAMIC_CONTROLLER);
    let connected = service.connect(Instant::ZERO, &request).expect("a free controller");
    let admin = connected.queue;
    assert_eq!(connected.completion.result, u64::from(admin.controller_id()), "no authentication asked for");
    let mut host = Host { service, now: Instant::ZERO, admin, io: admin, cid: 0x1000, closed: Vec::new() };
    let capabilities = property_get(&mut host, Property::CAPABILITIES);
    assert_eq!(capabilities, 127 | 1 << 16 | 20 << 24 | 1 << 37);
    property_set(&mut host, 0x0046_0000);
    if twice {
        assert_eq!(property_get(&mut host, Property::CONTROLLER_CONFIG), 0x0046_0000);
    }
    property_get(&mut host, Property::CAPABILITIES);
    property_set(&mut host, ENABLE);
    let status = ControllerStatus::decode(property_get(&mut host, Property::CONTROLLER_STATUS) as u32);
    assert!(status.ready && !status.fatal);
    assert_eq!(property_get(&mut host, Property::VERSION), 0x0001_0400);
    host
}

#[test]
fn a_kernel_gets_its_drive() {
    for twice in [true, false] {
        let mut host = bring_up(twice);
        admin_set_up(&mut host);
        io_set_up(&mut host);
        namespaces(&mut host);
        shut_down(&mut host);
    }
}

/// Steps 10 to 16.
fn admin_set_up(host: &mut Host<Subsystem>) {
    let page = identify(host, Identify::controller());
    let controller = IdentifyController::decode(&page).expect("a page");
    let capabilities = ControllerCapabilities::decode(127 | 1 << 16 | 20 << 24 | 1 << 37);
    assert_eq!(controller.controller_id, host.admin.controller_id(), "or Linux gives up");
    assert!(controller.keep_alive_100ms.is_some(), "or Linux gives up");
    assert_ne!(controller.sgl_support & 0b11, 0, "or Linux gives up");
    assert_eq!(controller.fabrics.data_offset_16b, 0, "or Linux gives up");
    assert!(controller.fabrics.command_capsule_16b >= 4, "or Linux gives up");
    assert_eq!(controller.max_commands.map(u32::from), Some(capabilities.queue_entries_max));
    assert_eq!((controller.submission_entry_size, controller.completion_entry_size), (0x66, 0x44));
    assert_eq!((controller.multi_path, controller.controller_type, controller.namespaces), (0, 1, 1));
    assert_eq!(controller.subsystem_nqn.as_deref(), Some(host.service.nqn()));
    assert!(controller.has_effects_log() && controller.has_timestamp() && !controller.apst_supported);
    assert_eq!(controller.retry_delays_100ms, [0; 3], "no feature 16h");
    assert!(controller.hctm.supported);
    // 11: the effects, for no namespace.
    let effects = GetLogPage { nsid: 0, ..GetLogPage::controller(LogId::EFFECTS, 4096) };
    host.admin(AdminCommand::GetLogPage(effects).encode()).expect("LPA bit 1 says so");
    // 13: the timestamp, eight bytes in the capsule.
    let queue = host.admin;
    let set = SetFeatures::controller(FeatureId::TIMESTAMP, 0, false);
    let data = 1_700_000_000_000_u64.to_le_bytes();
    host.send_in_capsule(queue, AdminCommand::SetFeatures(set).encode(), &data).expect("ONCS bit 6 says so");
    // 15: hwmon.
    let smart =
        SmartLog::decode(&host.get_log(LogId::SMART, 512).expect("or there is no hwmon")).expect("a page");
    assert!(smart.composite.is_some());
    // 16: as many queues as CPUs.
    assert_eq!(host.set(FeatureId::NUMBER_OF_QUEUES, 0x0001_0001, false), Ok(0x0001_0001));
}

/// Steps 17 to 19.
fn io_set_up(host: &mut Host<Subsystem>) {
    let mut request = connect_request(host.service.nqn(), 1, host.admin.controller_id());
    request.command.queue_entries = 128;
    host.io = host.service.connect(host.now, &request).expect("a queue").queue;
    request.command.queue_id = 2;
    host.service.connect(host.now, &request).expect("a second queue");
    request.command.queue_id = 3;
    let refused = host.service.connect(host.now, &request).expect_err("two were given");
    assert_eq!((refused.status, refused.result), (never(Status::CONNECT_INVALID_PARAMETERS), 42));
    // 18: what OAES has of 900h.
    host.set(FeatureId::ASYNC_EVENTS, 0x100, false).expect("OAES says so");
    // 19: one request for events, which waits.
    let queue = host.admin;
    let accepted = host.submit(queue, AdminCommand::AsyncEventRequest.encode(), &[]);
    assert_eq!(accepted, Accepted::Pending);
}

/// Steps 20 to 24, then Keep Alive.
fn namespaces(host: &mut Host<Subsystem>) {
    identify(host, Identify::new(Cns::CSI_CONTROLLER, 0));
    let list = identify(host, Identify::new(Cns::ACTIVE_NAMESPACES, 0));
    assert_eq!(decode_active_namespaces(&list), Ok(vec![1]));
    let ids = NamespaceId::decode_all(&identify(host, Identify::new(Cns::NAMESPACE_IDS, 1))).expect("a page");
    assert!(ids.contains(&NamespaceId::CommandSet(0)) && ids.len() == 4);
    for _ in 0..2 {
        let page = identify(host, Identify::namespace(1));
        let namespace = IdentifyNamespace::decode(&page).expect("a page");
        assert_eq!(namespace.size().map(|size| size.as_u64()), Some(1_024_209_543_168));
        assert_eq!((namespace.sharing, namespace.deallocated_reads_as()), (0, Some(0)));
    }
    assert_eq!(host.read_blocks(0, 4096), Ok(vec![0; 4096]));
    host.pass(Duration::from_millis(2560));
    host.admin(AdminCommand::KeepAlive.encode()).expect("in time");
    host.pass(Duration::from_millis(4900));
    assert!(host.closed.is_empty());
}

/// Disconnecting: I/O sockets, CC.SHN, CSTS until it is complete, admin socket.
fn shut_down(host: &mut Host<Subsystem>) {
    host.service.disconnect(host.now, host.io);
    property_set(host, 0x0046_4001);
    let status = ControllerStatus::decode(property_get(host, Property::CONTROLLER_STATUS) as u32);
    assert_eq!(status.shutdown, ShutdownState::Complete);
    host.service.disconnect(host.now, host.admin);
    host.pass(Duration::ZERO);
    // The second I/O queue goes with its controller, the event request goes unanswered.
    assert_eq!(host.closed.len(), 1);
    assert_eq!(host.service.under_way(), 0);
}

/// Golden bytes of Identify Controller, at the offsets of the specification and not of our encoder.
#[test]
fn identify_controller_has_its_bytes() {
    let mut host = bring_up(true);
    let page = identify(&mut host, Identify::controller());
    let u16_at = |at: usize| u16::from_le_bytes([page[at], page[at + 1]]);
    let u32_at = |at: usize| u32::from(u16_at(at)) | u32::from(u16_at(at + 2)) << 16;
    assert_eq!(&page[4..24], SubsystemIdentity::for_profile("ssd1", 1).serial.as_bytes());
    assert_eq!((&page[24..37], page[63]), (&b"Simulated SSD"[..], b' '));
    assert_eq!((page[76], page[77]), (0, 8), "CMIC, MDTS");
    assert_eq!((u16_at(78), u32_at(96)), (host.admin.controller_id(), 0x41), "CNTLID, CTRATT");
    assert_eq!((u32_at(80), u32_at(92), page[111]), (0x0001_0400, 0x100, 1), "VER, OAES, CNTRLTYPE");
    assert_eq!((page[258], page[259], page[261], page[262]), (3, 3, 0x17, 63), "ACL, AERL, LPA, ELPE");
    assert_eq!(
        (page[263], page[265], u16_at(266), u16_at(268)),
        (0, 0, 358, 363),
        "NPSS, APSTA, temperatures"
    );
    assert_eq!((u16_at(320), u16_at(322), u16_at(324), u16_at(326)), (10, 1, 273, 358), "KAS, HCTM");
    assert_eq!((page[512], page[513], u16_at(514), u32_at(516)), (0x66, 0x44, 128, 1), "entries, MAXCMD, NN");
    assert_eq!((u16_at(520), page[525], u32_at(536)), (0xdd, 7, 0x0014_0001), "ONCS, VWC, SGLS");
    assert!(page[768..].starts_with(b"nqn.2026-11.invalid.heatsoak:ssd1\0"));
    assert_eq!((u32_at(1792), u32_at(1796), u16_at(1800)), (4 + 512, 1, 0), "IOCCSZ, IORCSZ, ICDOFF");
    // Power state 0: 6 W in steps of 0.0001 W.
    assert_eq!((u16_at(2048), page[2051]), (60_000, 1));
}

/// hwmon's limits: temp1_max and temp1_min are feature 04h, read and written.
#[test]
fn hwmon_reads_and_writes_its_limits() {
    let mut host = bring_up(true);
    let mut threshold = |dword11: u32, set: Option<u32>| {
        let get = GetFeatures {
            dword11,
            ..GetFeatures::controller(FeatureId::TEMPERATURE_THRESHOLD, Select::Current)
        };
        match set {
            Some(kelvin) => host.set(FeatureId::TEMPERATURE_THRESHOLD, dword11 | kelvin, false),
            None => host.admin(AdminCommand::GetFeatures(get).encode()).map(|(result, _)| result as u32),
        }
    };
    assert_eq!(threshold(0, None), Ok(358), "WCTEMP");
    assert_eq!(threshold(1 << 20, None), Ok(0), "no lower limit");
    assert_eq!(threshold(0, Some(333)), Ok(0));
    assert_eq!(threshold(0, None), Ok(333));
    assert_eq!(threshold(1 << 16, None), Err(never(Status::INVALID_FIELD)), "no such sensor");
}

/// What nvme-cli and smartctl ask with, beyond the kernel.
#[test]
fn tools_get_their_answers() {
    let mut host = bring_up(true);
    // smartctl -x: four entries of the error log; nvme fw-log.
    assert_eq!(host.get_log(LogId::ERRORS, 256).expect("a page").len(), 256);
    let firmware = host.get_log(LogId::FIRMWARE, 512).expect("a page");
    assert_eq!((firmware[0], &firmware[8..13]), (1, &b"TWIN1"[..]));
    // get-feature -f 0x10 -s 3: saveable and changeable.
    assert_eq!(host.get(FeatureId::HCTM, Select::Supported), Ok(0b101));
    // nvme get-log --log-id=2 --namespace-id=1.
    let smart = GetLogPage { nsid: 1, ..GetLogPage::controller(LogId::SMART, 512) };
    assert!(host.admin(AdminCommand::GetLogPage(smart).encode()).is_ok());
    assert_eq!(smart.nsid, 1);
    let all = GetLogPage { nsid: NSID_ALL, ..smart };
    assert!(host.admin(AdminCommand::GetLogPage(all).encode()).is_ok());
}

/// A drive with states to sleep in is given its table of transitions (step 12).
#[test]
fn a_drive_with_idle_states_takes_the_kernels_table() {
    let mut profile = Profile::builtin("ssd1").expect("built in");
    let idle = physics::profile::PowerStateProfile {
        operational: false,
        idle_w: Some(0.05),
        ..profile.power_state[0].clone()
    };
    profile.power_state.push(idle);
    let last = profile.power_state.len() as u8 - 1;
    let mut host =
        host_of(Subsystem::new(Options::new(profile, Seed::new(1))).expect("sound"), Instant::ZERO);
    let mut table = ApstTable { transitions: [None; 32] };
    table.transitions[0] = Some(nvme::feature::power::ApstTransition { idle_ms: 2000, target_state: last });
    let set = AdminCommand::SetFeatures(SetFeatures::controller(FeatureId::APST, 1, false)).encode();
    let queue = host.admin;
    host.send_in_capsule(queue, set, &table.encode()).expect("APSTA says so");
    host.pass(Duration::from_millis(1900));
    assert_eq!(host.get(FeatureId::POWER_MANAGEMENT, Select::Current), Ok(0));
    host.pass(Duration::from_millis(200));
    assert_eq!(host.get(FeatureId::POWER_MANAGEMENT, Select::Current), Ok(u32::from(last)));
    host.read_blocks(0, 4096).expect("it wakes up");
    assert_ne!(host.get(FeatureId::POWER_MANAGEMENT, Select::Current), Ok(u32::from(last)));
    // States that work are not slept in.
    table.transitions[0] = Some(nvme::feature::power::ApstTransition { idle_ms: 2000, target_state: 0 });
    assert_eq!(host.send_in_capsule(queue, set, &table.encode()), Err(never(Status::INVALID_FIELD)));
}
