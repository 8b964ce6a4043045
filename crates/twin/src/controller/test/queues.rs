//! Queues and controllers: who may connect, who is given up, and what ends with whom.

use nvme::fabrics::ConnectParameter;

use super::*;

fn refusal(service: &mut Subsystem, change: impl Fn(&mut ConnectRequest)) -> (Status, u64) {
    let mut request = connect_request(service.nqn(), 0, DYNAMIC_CONTROLLER);
    change(&mut request);
    let refused = service.connect(Instant::ZERO, &request).expect_err("it cannot be");
    (refused.status, refused.result)
}

/// 182h with Do Not Retry, dword 0 = offset | 1 << 16 for the data: what the kernel puts in words.
#[test]
fn a_connect_that_cannot_be_names_its_parameter() {
    let mut service = subsystem("ssd1");
    let invalid = never(Status::CONNECT_INVALID_PARAMETERS);
    let told = |parameter: ConnectParameter| (invalid, u64::from(parameter.encode()));
    let name = refusal(&mut service, |request| request.data.subsystem_nqn.push('x'));
    assert_eq!(name, told(ConnectParameter::SUBSYSTEM_NQN));
    assert_eq!(
        refusal(&mut service, |request| request.data.host_id = [0; 16]),
        told(ConnectParameter::HOST_ID)
    );
    assert_eq!(
        refusal(&mut service, |request| request.data.host_nqn.clear()),
        told(ConnectParameter::HOST_NQN)
    );
    assert_eq!(
        refusal(&mut service, |request| request.data.controller_id = 1),
        told(ConnectParameter::CONTROLLER_ID)
    );
    assert_eq!(
        refusal(&mut service, |request| request.command.queue_entries = 1),
        told(ConnectParameter::QUEUE_SIZE)
    );
    assert_eq!(
        refusal(&mut service, |request| request.command.queue_id = 1),
        told(ConnectParameter::CONTROLLER_ID)
    );
    // What comes first on a connection and is no Connect.
    let other = ConnectRequest::decode(&Sqe::new(6, 0), &[]).expect_err("Identify");
    assert_eq!(other.status, never(Status::COMMAND_SEQUENCE_ERROR));
    let sqe = FabricsCommand::Connect(connect_request("", 0, 0).command).encode();
    assert_eq!(
        ConnectRequest::decode(&sqe, &[0; 1023]).expect_err("short").status,
        never(Status::SGL_DATA_LENGTH)
    );
    let sqe = sqe.with_dword(10, 1);
    assert_eq!(
        ConnectRequest::decode(&sqe, &[0; 1024]).expect_err("format").status,
        never(Status::CONNECT_FORMAT)
    );
}

#[test]
fn io_queues_belong_to_the_host_of_the_controller() {
    let mut host = host("ssd1");
    let id = host.admin.controller_id();
    let mut connect = |change: &dyn Fn(&mut ConnectRequest)| {
        let mut request = connect_request(host.service.nqn(), 2, id);
        change(&mut request);
        host.service.connect(host.now, &request).map_err(|refused| refused.result)
    };
    let told = |parameter: ConnectParameter| Err(u64::from(parameter.encode()));
    let result = |connected: Result<Connected, u64>| connected.map(|_| ());
    assert_eq!(result(connect(&|request| request.data.host_id = [8; 16])), told(ConnectParameter::HOST_ID));
    assert_eq!(result(connect(&|request| request.data.host_nqn.push('x'))), told(ConnectParameter::HOST_NQN));
    assert_eq!(result(connect(&|request| request.command.queue_id = 1)), told(ConnectParameter::QUEUE_ID));
    assert_eq!(result(connect(&|request| request.command.queue_id = 65)), told(ConnectParameter::QUEUE_ID));
    assert_eq!(
        result(connect(&|request| request.command.queue_entries = 129)),
        told(ConnectParameter::QUEUE_SIZE)
    );
    let connected =
        connect(&|request| request.command.attributes = Connect::NO_FLOW_CONTROL).expect("a queue");
    assert!(connected.no_flow_control && connected.completion.sq_head == 0xffff);
    assert_eq!((connected.in_capsule_bytes, connected.queue.queue_id()), (8192, 2));
}

#[test]
fn a_second_controller_has_to_wait_until_the_first_has_gone() {
    let mut alone = options("ssd1");
    alone.limits.controllers = 1;
    let mut host = host_of(Subsystem::new(alone).expect("sound"), Instant::ZERO);
    let request = connect_request(host.service.nqn(), 0, DYNAMIC_CONTROLLER);
    let busy = host.service.connect(host.now, &request).expect_err("one controller is all there is");
    assert_eq!(busy.status, Status::CONNECT_BUSY, "and may be tried again");
    host.service.disconnect(host.now, host.admin);
    let connected = host.service.connect(host.now, &request).expect("the first has gone");
    assert_ne!(
        connected.queue.controller_id(),
        host.admin.controller_id(),
        "a number is not used again at once"
    );
    // What is late for the first reaches nobody.
    let late = host.io;
    assert_eq!(host.submit(late, IoCommand::Flush.encode(1), &[]), Accepted::Close);
}

#[test]
fn a_silent_host_is_given_up() {
    let mut service = subsystem("ssd1");
    let request = connect_request(service.nqn(), 0, DYNAMIC_CONTROLLER);
    let admin = service.connect(Instant::ZERO, &request).expect("a controller").queue;
    let mut host = Host { service, now: Instant::ZERO, admin, io: admin, cid: 0, closed: Vec::new() };
    let set = FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value: ENABLE };
    host.admin(set.encode()).expect("it enables");
    for _ in 0..3 {
        host.pass(Duration::from_millis(4900));
        host.admin(AdminCommand::KeepAlive.encode()).expect("in time");
    }
    // Any other command starts the timer anew when it runs out, and not before (traffic based keep-alive).
    host.pass(Duration::from_millis(4900));
    host.get_log(LogId::SMART, 512).expect("still there");
    host.pass(Duration::from_millis(5099));
    assert!(host.closed.is_empty());
    host.pass(Duration::from_millis(1));
    assert_eq!(host.closed, [admin]);
    assert_eq!(host.submit(admin, AdminCommand::KeepAlive.encode(), &[]), Accepted::Close);
}

#[test]
fn a_host_that_sends_more_than_fits_is_closed() {
    let mut host = host("ssd1");
    let queue = host.io;
    let command = IoCommand::Write(transfer(0, 4096)).encode(1).with_sgl(Sgl::Transport { length: 4096 });
    let mut tickets = Vec::new();
    for _ in 0..127 {
        match host.submit(queue, command, &[]) {
            Accepted::NeedsBlocks { ticket, .. } => tickets.push(ticket),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(host.service.under_way(), 127);
    assert_eq!(host.submit(queue, command, &[]), Accepted::Close, "128 entries hold 127");
    assert_eq!(host.service.under_way(), 0);
    for ticket in tickets {
        assert_eq!(host.service.stored(host.now, ticket), Accepted::Close);
    }
    host.get_log(LogId::SMART, 512).expect("the admin queue is untouched");
}

/// The submission queue's head goes round with the commands taken.
#[test]
fn the_head_goes_round() {
    let mut host = host("ssd1");
    let queue = host.admin;
    let heads: Vec<u16> = (0..40)
        .map(|_| match host.submit(queue, AdminCommand::KeepAlive.encode(), &[]) {
            Accepted::Done(reply) => reply.completion.sq_head,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(heads.windows(2).all(|pair| pair[1] == (pair[0] + 1) % 32), "{heads:?}");
}

#[test]
fn commands_wait_for_the_controller_to_be_enabled() {
    let mut service = subsystem("ssd1");
    let request = connect_request(service.nqn(), 0, DYNAMIC_CONTROLLER);
    let admin = service.connect(Instant::ZERO, &request).expect("a controller").queue;
    let mut host = Host { service, now: Instant::ZERO, admin, io: admin, cid: 0, closed: Vec::new() };
    assert_eq!(host.get_log(LogId::SMART, 512), Err(never(Status::COMMAND_SEQUENCE_ERROR)));
    // Entries of 2^5 bytes: CFS.
    let set = FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value: 0x0045_0001 };
    host.admin(set.encode()).expect("written");
    let get = FabricsCommand::PropertyGet { property: Property::CONTROLLER_STATUS };
    assert_eq!(host.admin(get.encode()), Ok((0b10, vec![])));
    let get = FabricsCommand::PropertyGet { property: Property::READY_TIMEOUTS };
    assert_eq!(host.admin(get.encode()), Err(never(Status::INVALID_FIELD)));
    let io = connect_request(host.service.nqn(), 1, admin.controller_id());
    let early = host.service.connect(host.now, &io).expect_err("not ready");
    assert_eq!(early.status, never(Status::COMMAND_SEQUENCE_ERROR));
}

/// A permit that is dropped is found at once, not as a host that hangs.
#[test]
#[should_panic(expected = "was forgotten")]
fn a_forgotten_command_is_found() {
    let queue = host("ssd1").admin;
    drop(super::super::command::Permit::new(queue, 1));
}
