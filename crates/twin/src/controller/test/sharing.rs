//! Several hosts at one drive: what each has for itself, and what they share.

use nvme::feature::session::AsyncEvent;
use nvme::log::self_test::{SelfTestCode, SelfTestLog, SelfTestOutcome};

use super::*;

const CONFIG: FeatureId = FeatureId::ASYNC_EVENTS;
const HCTM: FeatureId = FeatureId::HCTM;
const WARM: u32 = 0x0140_0150;

/// Two hosts; the second is at the queues that are returned.
struct Two {
    host: Host<Subsystem>,
    first: Queue,
    second: Queue,
}

impl Two {
    fn new() -> Self {
        let mut host = host("ssd1");
        let first = host.admin;
        let mut request = connect_request(host.service.nqn(), 0, DYNAMIC_CONTROLLER);
        (request.data.host_id, request.data.host_nqn) =
            ([8; 16], "nqn.2014-08.org.nvmexpress:other".to_owned());
        let second = host.service.connect(host.now, &request).expect("room for a second").queue;
        assert_ne!(first.controller_id(), second.controller_id(), "a controller for each");
        host.admin = second;
        let set = FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value: ENABLE };
        host.admin(set.encode()).expect("it enables");
        Self { host, first, second }
    }

    fn on<T>(&mut self, queue: Queue, act: impl FnOnce(&mut Host<Subsystem>) -> T) -> T {
        self.host.admin = queue;
        act(&mut self.host)
    }
}

#[test]
fn settings_of_the_drive_are_shared_and_those_of_a_host_are_its_own() {
    let mut two = Two::new();
    let (first, second) = (two.first, two.second);
    two.on(first, |host| {
        host.set(HCTM, WARM, false).expect("in range");
        host.set(CONFIG, 0x102, false).expect("known bits");
    });
    two.on(second, |host| {
        assert_eq!(host.get(HCTM, Select::Current), Ok(WARM), "there is one drive");
        assert_eq!(host.get(CONFIG, Select::Current), Ok(0), "nobody asked for events here");
        // Its reset is its own: the first goes on with what it set.
        let set =
            |value| FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value }.encode();
        host.admin(set(ENABLE & !1)).expect("a reset");
        host.admin(set(ENABLE)).expect("it works again");
    });
    two.on(first, |host| {
        assert_eq!(
            (host.get(HCTM, Select::Current), host.get(CONFIG, Select::Current)),
            (Ok(WARM), Ok(0x102))
        );
    });
    // With the last of them the settings go that nobody saved.
    let now = two.host.now;
    two.host.service.disconnect(now, first);
    assert_eq!(two.on(second, |host| host.get(HCTM, Select::Current)), Ok(WARM));
    two.host.service.disconnect(now, second);
    let mut host = host_of(two.host.service, now);
    assert_eq!(host.get(HCTM, Select::Current), Ok(0x0111_0166));
}

#[test]
fn a_host_is_told_what_it_asked_for() {
    let mut two = Two::new();
    let (first, second) = (two.first, two.second);
    for queue in [first, second] {
        let asked = two.host.submit(queue, AdminCommand::AsyncEventRequest.encode(), &[]);
        assert_eq!(asked, Accepted::Pending);
    }
    two.on(second, |host| host.set(CONFIG, 0x02, false)).expect("known bits");
    two.on(first, |host| host.set(FeatureId::TEMPERATURE_THRESHOLD, 273, false)).expect("any");
    let told = two.host.pass(Duration::from_secs(2));
    let told: Vec<_> = told.iter().map(|(queue, reply)| (*queue, reply.completion.result)).collect();
    assert_eq!(told, [(second, AsyncEvent::TEMPERATURE.encode().into())]);
}

#[test]
fn one_host_falls_silent_and_the_others_go_on() {
    let mut two = Two::new();
    let (first, second) = (two.first, two.second);
    // The first has no keep-alive, the second one of 5 s that is asked for by traffic.
    two.host.pass(Duration::from_secs(11));
    assert_eq!(two.host.closed, [second]);
    two.on(first, |host| host.get_log(LogId::SMART, 512)).expect("still there");
    two.host.read_blocks(0, 4096).expect("its I/O as well");
}

#[test]
fn a_host_that_is_not_on_the_list_is_refused() {
    let mut listed = options("ssd1");
    let request = connect_request(&listed.identity.nqn, 0, DYNAMIC_CONTROLLER);
    listed.allowed_hosts = vec![request.data.host_nqn.clone()];
    let mut service = Subsystem::new(listed).expect("sound");
    service.connect(Instant::ZERO, &request).expect("on the list");
    let mut other = request;
    other.data.host_nqn = "nqn.2014-08.org.nvmexpress:other".to_owned();
    let refused = service.connect(Instant::ZERO, &other).expect_err("not on the list");
    assert_eq!(refused.status, never(Status::CONNECT_INVALID_HOST));
}

/// Goal: a short self-test ends with the controller that was asked for it, whichever way that goes, and an extended one
/// does not. Method: the second host asks for it and leaves, or falls silent; the first one looks.
#[test]
fn a_short_self_test_ends_with_its_controller() {
    for (code, outcomes) in
        [(SelfTestCode::SHORT, vec![SelfTestOutcome::ABORTED_BY_RESET]), (SelfTestCode::EXTENDED, Vec::new())]
    {
        for falls_silent in [false, true] {
            let mut two = Two::new();
            let (first, second) = (two.first, two.second);
            let command = AdminCommand::SelfTest { nsid: 1, code };
            two.on(second, |host| host.admin(command.encode()).expect("it starts"));
            two.on(first, |host| {
                if falls_silent {
                    // Five seconds in which it spoke, and five in which it did not, less a moment.
                    host.pass(Duration::from_millis(9_900));
                    assert!(self_test_log(host).running.is_some(), "its keep-alive has not run out");
                    host.pass(Duration::from_millis(200));
                } else {
                    host.service.disconnect(host.now, second);
                }
                let log = self_test_log(host);
                assert_eq!(log.results.iter().map(|result| result.outcome).collect::<Vec<_>>(), outcomes);
                assert_eq!(log.running.is_some(), outcomes.is_empty(), "{code:?}, silent: {falls_silent}");
            });
        }
    }
}

fn self_test_log(host: &mut Host<Subsystem>) -> SelfTestLog {
    SelfTestLog::decode(&host.get_log(LogId::SELF_TEST, 564).expect("a page")).expect("well formed")
}
