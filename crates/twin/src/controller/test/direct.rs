//! A drive without a transport: it says what the controller says, and is not disturbed by being asked.

use measure::record::Op;
use nvme::command::{Cns, Identify};
use nvme::feature::Capabilities;
use nvme::identify::IdentifyController;

use super::*;
use physics::Drive;

const FEATURES: [FeatureId; 11] = [
    FeatureId::ARBITRATION,
    FeatureId::ERROR_RECOVERY,
    FeatureId::WRITE_ATOMICITY,
    FeatureId::POWER_MANAGEMENT,
    FeatureId::TEMPERATURE_THRESHOLD,
    FeatureId::VOLATILE_WRITE_CACHE,
    FeatureId::ASYNC_EVENTS,
    FeatureId::HOST_MEMORY_BUFFER,
    FeatureId::HCTM,
    FeatureId::POWER_LIMIT,
    FeatureId(0xc5),
];

/// Goal: whoever asks by `twin:` and whoever asks over a network are told the same.
#[test]
fn it_says_what_is_said_over_a_queue() {
    for profile in ["ssd1", "ssd2", "relay"] {
        let mut direct =
            Direct::new(&Profile::builtin(profile).expect("built in"), Seed::new(1)).expect("sound");
        let mut host = host(profile);
        let mut same = |command: AdminCommand, len: usize| {
            let queue = host.admin;
            let theirs = host.send(queue, command.encode(), len, &[]);
            let ours = direct.admin(&command, &[], len).expect("it answers");
            let ours = match (ours.completion.status, ours.payload) {
                (status, _) if !status.is_success() => Err(status),
                (_, Payload::Bytes(page)) => Ok((ours.completion.result, page)),
                (..) => Ok((ours.completion.result, Vec::new())),
            };
            (ours, theirs)
        };
        for lid in [0x00, 0x01, 0x02, 0x03, 0x05, 0x25, 0xc0, 0xc1] {
            let command = GetLogPage::controller(LogId(lid), 512);
            let (ours, theirs) = same(AdminCommand::GetLogPage(command), 512);
            assert_eq!(ours, theirs, "{profile}, log {lid:02x}");
        }
        for cns in 0..=0x20 {
            let command = Identify::new(Cns(cns), 1);
            let (mut ours, mut theirs) = same(AdminCommand::Identify(command), 4096);
            if Cns(cns) == Cns::CONTROLLER {
                let page = |ended: &CommandEnd| ended.clone().expect("it tells").1;
                let serial = IdentifyController::decode(&page(&ours)).expect("a page").serial;
                assert!(serial.starts_with("TWIN-"), "the serial number is that of the profile: {serial}");
                for page in [&mut ours, &mut theirs] {
                    page.as_mut().expect("it tells").1[4..24].fill(0);
                }
            }
            assert_eq!(ours, theirs, "{profile}, CNS {cns:02x}");
        }
        for fid in FEATURES {
            for select in Select::VALUES {
                let (ours, theirs) =
                    same(AdminCommand::GetFeatures(GetFeatures::controller(fid, select)), 4096);
                assert_eq!(ours, theirs, "{profile}, {fid}, {select:?}");
            }
            let command = GetFeatures::controller(fid, Select::Supported);
            if let (Ok((ours, _)), Ok((theirs, _))) = same(AdminCommand::GetFeatures(command), 0) {
                let [ours, theirs] = [ours, theirs].map(|dword| Capabilities::decode(dword as u32));
                assert_eq!(ours, Capabilities { saveable: false, ..theirs }, "{profile}, {fid}");
            }
        }
    }
}

/// Goal: the controller in front changes nothing of what the drive does, whenever it is asked something.
#[test]
fn admin_commands_do_not_disturb_the_drive() {
    let profile = Profile::builtin("relay").expect("built in");
    let mut alone = Drive::new(&profile, Seed::new(3));
    let mut direct = Direct::new(&profile, Seed::new(3)).expect("sound");
    let (mut now, mut token) = (Instant::ZERO, 0);
    let mut ended = [Vec::new(), Vec::new()];
    // 2,000 reads of 8 MiB at 3 GB/s: five seconds, with looks of the controller in between.
    while token < 2000 {
        for _ in 0..3 {
            alone.submit(now, token, Op::Read, token << 23, 8 << 20);
            direct.submit(now, token, Op::Read, token << 23, 8 << 20);
            token += 1;
        }
        now = now + Duration::from_millis(7);
        // Asked at a time at which I/O is due and not yet taken.
        while alone.next_completion().is_some_and(|at| at <= now) {
            alone.advance(now, &mut ended[0]);
        }
        alone.advance(now, &mut ended[0]);
        loop {
            let before = ended[1].len();
            direct.advance(now, &mut ended[1]);
            let command = GetFeatures::controller(FeatureId::HCTM, Select::Current);
            assert!(direct.admin(&AdminCommand::GetFeatures(command), &[], 0).is_some());
            if ended[1].len() == before && direct.next_completion().is_none_or(|at| at > now) {
                break;
            }
        }
        assert_eq!(direct.drive().now(), alone.now());
    }
    assert!(now > Instant::from_ns(3_000_000_000) && ended[0].len() > 1000, "{now} {}", ended[0].len());
    assert_eq!(ended[0], ended[1]);
    assert_eq!(direct.smart_page(), crate::health_log(&alone).encode());
}

#[test]
fn what_is_set_is_in_force_and_nothing_is_saved() {
    let mut direct = Direct::new(&Profile::builtin("ssd1").expect("built in"), Seed::new(1)).expect("sound");
    let mut set = |save| {
        let command = SetFeatures::controller(FeatureId::HCTM, 331 << 16 | 345, save);
        direct.admin(&AdminCommand::SetFeatures(command), &[], 0).expect("it answers").completion.status
    };
    assert_eq!(set(true), never(Status::NOT_SAVEABLE));
    assert_eq!(set(false), Status::SUCCESS);
    assert_eq!(direct.drive().tmt(), physics::Tmt::from_kelvin(331, 345));
    let timestamp = SetFeatures::controller(FeatureId::TIMESTAMP, 0, false);
    let reply = direct.admin(&AdminCommand::SetFeatures(timestamp), &7_u64.to_le_bytes(), 0);
    assert_eq!(reply.map(|reply| reply.completion.status), Some(Status::SUCCESS), "with data");
    for _ in 0..2 {
        assert_eq!(direct.admin(&AdminCommand::AsyncEventRequest, &[], 0), None, "it waits for ever");
    }
}
