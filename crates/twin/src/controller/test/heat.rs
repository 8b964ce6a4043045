//! Heat through the controller: thermal management set, felt, counted and told.

use nvme::command::log_action;
use nvme::feature::session::AsyncEvent;
use nvme::log::ocp::OcpSmart;
use nvme::log::persistent::{ExcursionThreshold, PersistentEventKind, PersistentEventLog};
use nvme::smart::SmartLog;

use super::*;

fn smart(host: &mut Host<Subsystem>) -> SmartLog {
    SmartLog::decode(&host.get_log(LogId::SMART, 512).expect("a page")).expect("a page")
}

/// Sequential reads of 1 MiB, eight at a time, for so long; bytes a second.
fn read_for(host: &mut Host<Subsystem>, span: Duration) -> f64 {
    const LEN: usize = 1 << 20;
    let queue = host.io;
    let (start, end) = (host.now, host.now + span);
    let (mut bytes, mut place, mut under_way) = (0.0, 0_u64, 0);
    while host.now < end {
        while under_way < 8 {
            let lba = place * 2048 % (1 << 24);
            place += 1;
            let command = IoCommand::Read(transfer(lba, LEN)).encode(1);
            let accepted = host.submit(queue, command.with_sgl(Sgl::Transport { length: LEN as u32 }), &[]);
            assert_eq!(accepted, Accepted::Pending);
            under_way += 1;
        }
        let next = host.service.next_event().expect("commands are under way");
        for (_, reply) in host.go_to(next.min(end)) {
            assert!(reply.completion.status.is_success());
            bytes += LEN as f64;
            under_way -= 1;
        }
    }
    let span_s = (host.now - start).as_secs_f64();
    while under_way > 0 {
        let next = host.service.next_event().expect("commands are under way");
        under_way -= host.go_to(next).len();
    }
    bytes / span_s
}

/// The relay: full speed, TMT1 crossed, its limit kept, the counters count, all of it told.
#[test]
fn thermal_management_set_by_a_host_throttles_and_is_counted() {
    let mut host = host("relay");
    let cap = match host.service.drive().profile().policy[0].machine {
        physics::profile::Machine::Relay(cap) => cap.read_bytes_per_s.expect("reads are limited"),
        _ => panic!("a relay"),
    };
    let full = read_for(&mut host, Duration::from_secs(5));
    assert!(full > 2.5 * cap, "full speed {full}, throttled {cap}");
    let warm_k = u32::from(smart(&mut host).composite.expect("known").as_kelvin());
    // TMT1 a kelvin below what it has already.
    host.set(FeatureId::HCTM, (warm_k - 1) << 16, false).expect("in range");
    host.pass(Duration::from_millis(500));
    let before = smart(&mut host);
    let throttled = read_for(&mut host, Duration::from_secs(10));
    assert!((throttled / cap - 1.0).abs() < 0.03, "{throttled} instead of {cap}");
    let after = smart(&mut host);
    assert_eq!(after.tmt1_transitions, 1);
    assert!((9..=10).contains(&(after.tmt1_seconds - before.tmt1_seconds)));
    assert_eq!((after.tmt2_transitions, after.tmt2_seconds), (0, 0));
    // The same where nvme-cli looks: count at byte 216, seconds at 224.
    let page = host.get_log(LogId::SMART, 512).expect("a page");
    assert_eq!((page[216], page[220], u32::from(page[224])), (1, 0, after.tmt1_seconds));
    let ocp = OcpSmart::decode(&host.get_log(LogId::OCP_SMART, 512).expect("a page")).expect("its GUID");
    assert_eq!((ocp.throttle_events, ocp.throttle_level), (1, 1));
    // Off again.
    host.set(FeatureId::HCTM, 0, false).expect("always");
    host.pass(Duration::from_secs(1));
    assert!(read_for(&mut host, Duration::from_secs(2)) > 2.5 * cap);
    assert_eq!(diary(&mut host), [ExcursionThreshold::Tmt1, ExcursionThreshold::ManagementStopped]);
}

/// Thermal excursions, oldest first.
fn diary(host: &mut Host<Subsystem>) -> Vec<ExcursionThreshold> {
    let queue = host.admin;
    let command = |specific| {
        let page = GetLogPage { specific, ..GetLogPage::controller(LogId::PERSISTENT_EVENTS, 65_536) };
        AdminCommand::GetLogPage(page).encode()
    };
    let page = host.send(queue, command(log_action::ESTABLISH_AND_READ), 65_536, &[]).expect("a context").1;
    host.send(queue, command(log_action::RELEASE), 0, &[]).expect("always");
    let log = PersistentEventLog::decode(&page).expect("a diary");
    assert!(log.header.supports_thermal_excursions());
    assert!(log.events.is_sorted_by(|newer, older| newer.at.ms >= older.at.ms), "newest first");
    log.events
        .iter()
        .rev()
        .map(|event| match &event.kind {
            PersistentEventKind::Thermal(excursion) => excursion.threshold,
            other => panic!("{other:?}"),
        })
        .collect()
}

/// A temperature threshold: one event a type until its page is read, and the warning as long as it lasts.
#[test]
fn a_host_is_told_when_a_threshold_is_crossed() {
    let mut host = host("ssd1");
    let queue = host.admin;
    let ask = |host: &mut Host<Subsystem>| {
        let accepted = host.submit(queue, AdminCommand::AsyncEventRequest.encode(), &[]);
        assert_eq!(accepted, Accepted::Pending);
        host.cid
    };
    let told = |replies: Vec<(Queue, Reply)>| -> Vec<(u16, u32)> {
        replies.iter().map(|(_, reply)| (reply.completion.cid, reply.completion.dword0())).collect()
    };
    let first = ask(&mut host);
    // It has 318 K; nobody asked to be told of temperatures yet.
    host.set(FeatureId::TEMPERATURE_THRESHOLD, 310, false).expect("any");
    assert_eq!(smart(&mut host).critical_warning.bits(), 2);
    assert_eq!(told(host.pass(Duration::from_secs(3))), []);
    host.set(FeatureId::ASYNC_EVENTS, 0x1ff, false).expect("known bits");
    assert_eq!(told(host.pass(Duration::ZERO)), [(first, AsyncEvent::TEMPERATURE.encode())]);
    // Told once while it lasts.
    let second = ask(&mut host);
    assert_eq!(told(host.pass(Duration::from_secs(5))), []);
    // Gone and back: masked until the page is read, by whoever does not retain it.
    host.set(FeatureId::TEMPERATURE_THRESHOLD, 350, false).expect("any");
    host.set(FeatureId::TEMPERATURE_THRESHOLD, 310, false).expect("any");
    assert_eq!(told(host.pass(Duration::from_secs(2))), []);
    let retained = GetLogPage { retain_event: true, ..GetLogPage::controller(LogId::SMART, 512) };
    host.send(queue, AdminCommand::GetLogPage(retained).encode(), 512, &[]).expect("a page");
    assert_eq!(told(host.pass(Duration::ZERO)), []);
    smart(&mut host);
    assert_eq!(told(host.pass(Duration::ZERO)), [(second, AsyncEvent::TEMPERATURE.encode())]);
    // Four may wait, not five.
    let mut accepted = Vec::new();
    for _ in 0..5 {
        accepted.push(host.submit(queue, AdminCommand::AsyncEventRequest.encode(), &[]));
    }
    assert_eq!(accepted.iter().filter(|accepted| **accepted == Accepted::Pending).count(), 4);
    let Some(Accepted::Done(refused)) = accepted.pop() else { panic!("the fifth is refused") };
    assert_eq!(refused.completion.status, never(Status::ASYNC_EVENT_LIMIT));
}

/// The surroundings: a hot case warms it up past WCTEMP, a cold one cools it down again.
#[test]
fn ambient_temperature_and_air_reach_the_drive() {
    let mut host = host("ssd1");
    let now = host.now;
    host.service.set_ambient(now, measure::Celsius::from_degrees(72.0));
    host.pass(Duration::from_secs(3600));
    let hot = smart(&mut host);
    assert!(hot.composite.expect("known").as_kelvin() >= 358);
    assert!(hot.critical_warning.bits() == 2 && hot.warning_minutes > 10);
    let now = host.now;
    host.service.set_ambient(now, measure::Celsius::from_degrees(20.0));
    host.service.set_airflow(now, 10.0).expect("a fan");
    assert!(host.service.set_airflow(now, 0.0).is_err());
    host.pass(Duration::from_secs(3600));
    assert!(smart(&mut host).composite.expect("known").as_kelvin() < 310);
    // Its own throttle acts from 353 K until 348 K, WCTEMP is 358 K.
    use ExcursionThreshold::{BackToNormal, ManagementStopped, Vendor, Warning};
    assert_eq!(diary(&mut host), [Vendor, Warning, BackToNormal, ManagementStopped]);
}

/// The same commands at the same times give the same answers, bit for bit.
#[test]
fn two_runs_are_the_same() {
    let run = || {
        let mut host = host("two-level");
        let speed = read_for(&mut host, Duration::from_secs(20));
        (speed.to_bits(), host.get_log(LogId::SMART, 512), host.now, diary(&mut host).len())
    };
    assert_eq!(run(), run());
}
