//! Faults: each does what its name says, to what it matches, while it is on.

use nvme::command::opcode;
use nvme::smart::SmartLog;

use super::*;

fn inject(host: &mut Host<Subsystem>, json: &str) -> u32 {
    let fault: Fault = serde_json::from_str(json).expect("the format of the control socket");
    let again: Fault = serde_json::from_str(&serde_json::to_string(&fault).expect("text")).expect("text");
    assert_eq!(again, fault);
    host.service.inject(host.now, fault)
}

fn smart(host: &mut Host<Subsystem>) -> SmartLog {
    SmartLog::decode(&host.get_log(LogId::SMART, 512).expect("a page")).expect("a page")
}

#[test]
fn delays_hold_answers_back_and_nothing_else() {
    let mut host = host("ssd1");
    inject(
        &mut host,
        r#"{"fault": "command", "on": {"queue": "io", "opcode": 2, "times": 1}, "act": {"delay": {"ms": 500}}}"#,
    );
    inject(
        &mut host,
        r#"{"fault": "command", "on": {"queue": "admin", "opcode": 2, "id": 2, "times": 1}, "act": {"delay": {"ms": 2000}}}"#,
    );
    let start = host.now;
    host.read_blocks(0, 4096).expect("late");
    assert_eq!(host.now - start, Duration::from_millis(500));
    host.read_blocks(0, 4096).expect("in time");
    assert!(host.now - start < Duration::from_millis(501));
    let start = host.now;
    host.get_log(LogId::ERRORS, 64).expect("another page");
    assert_eq!(host.now, start);
    host.get_log(LogId::SMART, 512).expect("late");
    assert_eq!(host.now - start, Duration::from_secs(2));
}

#[test]
fn failures_strike_what_they_match() {
    let mut host = host("ssd1");
    let number = inject(
        &mut host,
        r#"{"fault": "command", "on": {"queue": "io", "first_lba": 100, "last_lba": 200, "skip": 1, "times": 2},
            "act": {"fail": {"status": 641}}}"#,
    );
    let failed = Err(Status::UNRECOVERED_READ);
    assert!(host.read_blocks(92, 4096).is_ok(), "below");
    assert!(host.read_blocks(96, 4096).is_ok(), "the one that is skipped");
    assert_eq!(host.read_blocks(200, 4096), failed);
    assert_eq!(host.read_blocks(150, 4096), failed);
    assert!(host.read_blocks(150, 4096).is_ok(), "twice only");
    assert_eq!(host.service.faults().count(), 1);
    assert!(host.service.clear(host.now, number) && !host.service.clear(host.now, number));
    assert_eq!(smart(&mut host).error_log_entries, 2);
}

#[test]
fn a_set_that_does_nothing_says_success() {
    let mut host = host("ssd1");
    inject(&mut host, r#"{"fault": "command", "on": {"opcode": 9, "id": 16}, "act": "ignore"}"#);
    let before = host.get(FeatureId::HCTM, Select::Current);
    assert_eq!(host.set(FeatureId::HCTM, 330 << 16 | 340, true), Ok(0));
    assert_eq!(host.get(FeatureId::HCTM, Select::Current), before);
    // A write that keeps the old data takes the new ones all the same.
    host.write(0, &[1; 4096]).expect("in range");
    inject(&mut host, r#"{"fault": "command", "on": {"opcode": 1}, "act": "ignore"}"#);
    let queue = host.io;
    let command = IoCommand::Write(transfer(0, 4096)).encode(1).with_sgl(Sgl::Transport { length: 4096 });
    let Accepted::NeedsData { ticket, len_bytes: 4096 } = host.submit(queue, command, &[]) else {
        panic!("it takes the data")
    };
    let Accepted::Done(reply) = host.service.data(host.now, ticket, &[2; 4096]) else {
        panic!("it succeeds")
    };
    assert!(reply.completion.status.is_success());
    host.service.clear_all(host.now);
    assert_eq!(host.read_blocks(0, 4096), Ok(vec![1; 4096]));
}

#[test]
fn a_lost_command_ends_when_it_is_aborted() {
    let mut host = host("ssd1");
    inject(&mut host, r#"{"fault": "command", "on": {"queue": "io"}, "act": "lose"}"#);
    let queue = host.io;
    let command = IoCommand::Read(transfer(0, 512)).encode(1).with_sgl(Sgl::Transport { length: 512 });
    assert_eq!(host.submit(queue, command, &[]), Accepted::Pending);
    let lost = host.cid;
    assert!(host.pass(Duration::from_secs(60)).is_empty());
    let abort = |cid| AdminCommand::Abort { sq_id: 1, cid }.encode();
    let admin = host.admin;
    assert_eq!(host.submit(admin, abort(lost), &[]), Accepted::Pending);
    let replies = host.pass(Duration::ZERO);
    assert_eq!(replies[0].1.completion.cid, lost, "the aborted one first");
    assert_eq!(replies[0].1.completion.status, Status::ABORT_REQUESTED);
    assert_eq!(replies[1].1.completion.dword0(), 0, "aborted");
    // What is not there cannot be aborted.
    assert_eq!(host.admin(abort(lost)), Ok((1, vec![])));
}

#[test]
fn connections_break_off() {
    let mut host = host("ssd1");
    inject(&mut host, r#"{"fault": "command", "on": {"opcode": 24}, "act": "disconnect"}"#);
    let admin = host.admin;
    assert_eq!(host.submit(admin, AdminCommand::KeepAlive.encode(), &[]), Accepted::Close);
    host.pass(Duration::ZERO);
    assert_eq!(host.closed, [host.io], "the others of the controller");
    let io = host.io;
    assert_eq!(host.submit(io, IoCommand::Flush.encode(1), &[]), Accepted::Close);
    assert_eq!(host.service.under_way(), 0);
}

#[test]
fn sensors_and_counters_lie() {
    let mut host = host("ssd1");
    let honest = smart(&mut host);
    let offset = inject(&mut host, r#"{"fault": "offset-sensor", "sensor": "composite", "kelvin": -20}"#);
    let shown = |host: &mut Host<Subsystem>| smart(host).composite.map(|kelvin| kelvin.as_kelvin());
    let honest_k = honest.composite.expect("known").as_kelvin();
    assert_eq!(shown(&mut host), Some(honest_k - 20));
    host.service.clear(host.now, offset);
    inject(&mut host, r#"{"fault": "freeze-sensor", "sensor": "composite"}"#);
    inject(&mut host, r#"{"fault": "freeze-sensor", "sensor": {"sensor": 9}}"#);
    inject(&mut host, r#"{"fault": "stick-counters"}"#);
    let now = host.now;
    host.service.set_ambient(now, measure::Celsius::from_degrees(60.0));
    host.pass(Duration::from_secs(600));
    host.write(0, &vec![1; 1 << 20]).expect("in range");
    let stuck = smart(&mut host);
    assert_eq!(stuck.composite, honest.composite);
    assert_eq!((stuck.host_writes, stuck.data_units_written), (0, honest.data_units_written));
    host.service.clear_all(host.now);
    let after = smart(&mut host);
    assert!(after.composite > honest.composite && after.host_writes == 1);
}

#[test]
fn a_drive_vanishes_and_comes_back_with_its_data() {
    let mut host = host("ssd1");
    host.write(0, &[9; 4096]).expect("in range");
    inject(&mut host, r#"{"fault": "vanish", "for_ms": 3000}"#);
    assert!(!host.service.is_present());
    host.pass(Duration::ZERO);
    host.closed.sort();
    assert_eq!(host.closed, [host.admin, host.io]);
    let request = connect_request(host.service.nqn(), 0, DYNAMIC_CONTROLLER);
    assert!(host.service.connect(host.now, &request).is_err());
    assert_eq!(host.service.next_event(), Some(host.now + Duration::from_secs(1)), "it stays awake");
    host.pass(Duration::from_secs(3));
    assert!(host.service.is_present());
    let mut host = host_of(host.service, host.now);
    assert_eq!(host.read_blocks(0, 4096), Ok(vec![9; 4096]));
    assert_eq!(opcode::KEEP_ALIVE, 24, "as in the text above");
}
