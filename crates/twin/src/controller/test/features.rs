//! Features: what is checked, what is saved, what a reset and a restart leave.

use nvme::feature::temperature::{TemperatureThreshold, ThresholdSelector, ThresholdSide};
use nvme::identify::IdentifyController;

use super::*;

const HCTM: FeatureId = FeatureId::HCTM;

fn tmt(tmt1_k: u32, tmt2_k: u32) -> u32 {
    tmt1_k << 16 | tmt2_k
}

/// NVMe Base 2.3, 5.2.26.1.9, on a drive with 273 K to 358 K.
#[test]
fn thermal_management_temperatures_obey_the_rule() {
    let mut host = host("ssd1");
    assert_eq!(host.get(HCTM, Select::Current), Ok(0x0111_0166), "as the published drive");
    for wrong in [tmt(272, 340), tmt(340, 359), tmt(340, 340), tmt(350, 340), tmt(0xffff, 0)] {
        assert_eq!(host.set(HCTM, wrong, false), Err(never(Status::INVALID_FIELD)), "{wrong:#x}");
        assert_eq!(host.get(HCTM, Select::Current), Ok(0x0111_0166), "nothing changed");
    }
    for right in [tmt(0, 0), tmt(330, 0), tmt(0, 340), tmt(330, 340)] {
        assert_eq!(host.set(HCTM, right, false), Ok(0));
        assert_eq!(host.get(HCTM, Select::Current), Ok(right));
    }
    assert_eq!(host.get(HCTM, Select::Default), Ok(0x0111_0166));
    assert_eq!(host.get(HCTM, Select::Saved), Ok(0x0111_0166), "nobody saved anything");
}

#[test]
fn what_is_saved_outlives_controllers_and_servers_and_the_rest_does_not() {
    let mut host = host("ssd1");
    assert!(host.service.take_saved().is_some(), "it was switched on once more");
    assert!(host.service.take_saved().is_none());
    host.set(HCTM, tmt(330, 340), true).expect("saveable");
    host.set(HCTM, tmt(331, 341), false).expect("in range");
    host.set(FeatureId::VOLATILE_WRITE_CACHE, 0, false).expect("changeable");
    let under = ThresholdSelector { side: ThresholdSide::Under, ..ThresholdSelector::COMPOSITE_OVER };
    let threshold = TemperatureThreshold {
        which: under,
        temperature: measure::Kelvin::from_kelvin(280),
        hysteresis_k: 0,
    };
    host.admin(AdminCommand::SetFeatures(threshold.set(true)).encode()).expect("saveable");
    assert_eq!(
        (host.get(HCTM, Select::Current), host.get(HCTM, Select::Saved)),
        (Ok(tmt(331, 341)), Ok(tmt(330, 340)))
    );
    let saved = host.service.take_saved().expect("something was saved");

    // The connection breaks off; another controller starts from what was saved.
    host.service.disconnect(host.now, host.admin);
    let mut host = host_of(host.service, host.now);
    assert_eq!(host.get(HCTM, Select::Current), Ok(tmt(330, 340)));
    assert_eq!(host.get(FeatureId::VOLATILE_WRITE_CACHE, Select::Current), Ok(1));

    // The server is started again, from its state file.
    let text = saved.to_json().expect("our own");
    let mut again = options("ssd1");
    again.saved = SavedState::from_json(&text).expect("our own");
    let mut host = host_of(Subsystem::new(again).expect("sound"), Instant::ZERO);
    assert_eq!(host.get(HCTM, Select::Current), Ok(tmt(330, 340)));
    assert_eq!(host.get(HCTM, Select::Default), Ok(0x0111_0166));
    assert_eq!(host.admin(AdminCommand::GetFeatures(under.get(Select::Current)).encode()), Ok((280, vec![])));
    assert_eq!(host.service.take_saved().expect("switched on").power_cycles, 2);
    assert!(SavedState::from_json(&text.replace("\"schema\": 2", "\"schema\": 3")).is_err());
}

/// A table is saved with its switch.
#[test]
fn saved_transitions_come_back() {
    use nvme::feature::power::{ApstTable, ApstTransition};
    let drive = |saved: SavedState| {
        let mut profile = Profile::builtin("ssd1").expect("built in");
        let idle =
            physics::profile::PowerStateProfile { operational: false, ..profile.power_state[0].clone() };
        profile.power_state.push(idle);
        let options = Options { saved, ..Options::new(profile, Seed::new(1)) };
        host_of(Subsystem::new(options).expect("sound"), Instant::ZERO)
    };
    let mut table = ApstTable { transitions: [None; 32] };
    table.transitions[0] = Some(ApstTransition { idle_ms: 700, target_state: 1 });
    let mut host = drive(SavedState::default());
    let set = AdminCommand::SetFeatures(SetFeatures::controller(FeatureId::APST, 1, true)).encode();
    let queue = host.admin;
    host.send_in_capsule(queue, set, &table.encode()).expect("saveable");
    let text = host.service.take_saved().expect("it was saved").to_json().expect("our own");
    let mut host = drive(SavedState::from_json(&text).expect("our own"));
    let get = |select| AdminCommand::GetFeatures(GetFeatures::controller(FeatureId::APST, select)).encode();
    assert_eq!(host.admin(get(Select::Current)), Ok((1, table.encode().to_vec())));
    assert_eq!(host.admin(get(Select::Default)), Ok((0, vec![0; 256])));
    host.pass(Duration::from_secs(1));
    assert_eq!(host.get(FeatureId::POWER_MANAGEMENT, Select::Current), Ok(1), "it sleeps");
}

#[test]
fn a_reset_puts_settings_back() {
    let mut host = host("ssd1");
    host.set(HCTM, tmt(330, 340), false).expect("in range");
    let set = |value| FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value }.encode();
    host.admin(set(ENABLE & !1)).expect("a reset");
    assert_eq!(host.get(HCTM, Select::Current), Err(never(Status::COMMAND_SEQUENCE_ERROR)));
    host.pass(Duration::ZERO);
    assert_eq!(host.closed, [host.io], "its I/O queues went");
    host.admin(set(ENABLE)).expect("it works again");
    assert_eq!(host.get(HCTM, Select::Current), Ok(0x0111_0166));
}

#[test]
fn what_a_feature_is_not_is_told() {
    let mut host = host("ssd1");
    let set = |host: &mut Host<Subsystem>, fid: FeatureId, nsid| {
        let command = SetFeatures { nsid, ..SetFeatures::controller(fid, 0, false) };
        host.admin(AdminCommand::SetFeatures(command).encode()).map(|_| ())
    };
    assert_eq!(set(&mut host, HCTM, 1), Err(never(Status::NOT_NAMESPACE_SPECIFIC)));
    assert_eq!(set(&mut host, HCTM, 2), Err(never(Status::INVALID_NAMESPACE)));
    assert_eq!(set(&mut host, FeatureId(0x7f), 0), Err(never(Status::INVALID_FIELD)));
    assert_eq!(host.set(FeatureId::KEEP_ALIVE, 1000, true), Err(never(Status::NOT_SAVEABLE)));
    assert_eq!(host.get(FeatureId::KEEP_ALIVE, Select::Supported), Ok(0b100));
    assert_eq!(host.set(FeatureId::POWER_MANAGEMENT, 1, false), Err(never(Status::INVALID_FIELD)));
    assert_eq!(host.get(HCTM, Select::Reserved(5)), Err(never(Status::INVALID_FIELD)));
    assert_eq!(host.set(FeatureId::NUMBER_OF_QUEUES, 0xffff, false), Err(never(Status::INVALID_FIELD)));
    // A queue is open already.
    assert_eq!(host.set(FeatureId::NUMBER_OF_QUEUES, 3, false), Err(never(Status::COMMAND_SEQUENCE_ERROR)));
    assert_eq!(host.set(FeatureId::HOST_MEMORY_BUFFER, 1, false), Err(never(Status::NOT_CHANGEABLE)));
    assert_eq!(host.get(FeatureId::HOST_MEMORY_BUFFER, Select::Current), Ok(0));
    assert_eq!(host.set(FeatureId::ASYNC_EVENTS, 1 << 20, false), Err(never(Status::INVALID_FIELD)));
    // Features of NVMe 2.3 are the profile's to have.
    assert_eq!(host.get(FeatureId::POWER_LIMIT, Select::Current), Err(never(Status::INVALID_FIELD)));
}

/// Features that a controller of the NVM command set must have, and that nothing here depends on.
#[test]
fn what_every_controller_has_is_set_saved_and_told() {
    let mut host = host("ssd1");
    for (fid, value) in [(FeatureId::ARBITRATION, 0x0302_0107), (FeatureId::WRITE_ATOMICITY, 1)] {
        assert_eq!(host.get(fid, Select::Supported), Ok(0b101), "{fid}: saveable, changeable");
        for select in Select::VALUES {
            assert_eq!(host.get(fid, select), Ok(0), "{fid}");
        }
        assert_eq!(
            host.set(fid, value | 8, false),
            Err(never(Status::INVALID_FIELD)),
            "{fid}: a reserved bit"
        );
        assert_eq!(host.set(fid, value, true), Ok(0));
        let all = Select::VALUES.map(|select| host.get(fid, select));
        assert_eq!(all, [Ok(value), Ok(0), Ok(value)], "{fid}: current, default, saved");
    }
    // Error recovery is a namespace's: it is not asked for nor set without one.
    let fid = FeatureId::ERROR_RECOVERY;
    assert_eq!(host.get(fid, Select::Current), Err(never(Status::INVALID_NAMESPACE)));
    assert_eq!(host.set(fid, 7, false), Err(never(Status::INVALID_NAMESPACE)));
    let get = |host: &mut Host<Subsystem>, nsid, select| {
        let command = GetFeatures { nsid, ..GetFeatures::controller(fid, select) };
        host.admin(AdminCommand::GetFeatures(command).encode()).map(|(result, _)| result as u32)
    };
    let set = |host: &mut Host<Subsystem>, nsid, value| {
        let command = SetFeatures { nsid, ..SetFeatures::controller(fid, value, false) };
        host.admin(AdminCommand::SetFeatures(command).encode()).map(|_| ())
    };
    assert_eq!(get(&mut host, u32::MAX, Select::Current), Err(never(Status::INVALID_NAMESPACE)));
    assert_eq!(get(&mut host, 1, Select::Supported), Ok(0b111));
    assert_eq!(set(&mut host, 1, 50), Ok(()));
    assert_eq!(get(&mut host, 1, Select::Current), Ok(50));
    assert_eq!(set(&mut host, u32::MAX, 70), Ok(()), "that is, in all of its namespaces");
    let all = Select::VALUES.map(|select| get(&mut host, 1, select));
    assert_eq!(all, [Ok(70), Ok(0), Ok(0)]);
    // Deallocated blocks are read without an error: Identify says so.
    assert_eq!(set(&mut host, 1, 1 << 16), Err(never(Status::INVALID_FIELD)));
    // A new controller knows what was saved.
    host.service.disconnect(host.now, host.admin);
    let mut host = host_of(host.service, host.now);
    assert_eq!(host.get(FeatureId::ARBITRATION, Select::Current), Ok(0x0302_0107));
    assert_eq!(get(&mut host, 1, Select::Current), Ok(0));
}

/// Goal: one event for each time that a threshold was armed, also where nobody reads a log page in between.
#[test]
fn power_over_the_threshold_is_told_once() {
    use nvme::feature::session::AsyncEvent;
    let mut host = powered();
    let queue = host.admin;
    let armed = 150 | 2 << 16 | 1 << 31;
    for _ in 0..2 {
        let accepted = host.submit(queue, AdminCommand::AsyncEventRequest.encode(), &[]);
        assert_eq!(accepted, Accepted::Pending);
        let request = host.cid;
        host.set(FeatureId::POWER_THRESHOLD, armed, false).expect("a power");
        assert!(host.pass(Duration::from_secs(30)).is_empty(), "idle draws 1.2 W");
        let end = host.now + Duration::from_secs(5);
        let mut told = Vec::new();
        while host.now < end {
            let read =
                IoCommand::Read(transfer(0, 1 << 20)).encode(1).with_sgl(Sgl::Transport { length: 1 << 20 });
            let io = host.io;
            assert_eq!(host.submit(io, read, &[]), Accepted::Pending);
            let done = host.pass(Duration::from_millis(1));
            told.extend(done.into_iter().filter(|(from, _)| *from == queue));
        }
        let told: Vec<_> = told.iter().map(|(_, r)| (r.completion.cid, r.completion.result)).collect();
        assert_eq!(told, [(request, AsyncEvent::POWER_THRESHOLD.encode().into())]);
        host.pass(Duration::from_secs(5));
    }
}

#[test]
fn the_clock_goes_on_from_where_a_host_set_it() {
    let mut host = host("ssd1");
    let queue = host.admin;
    let set = AdminCommand::SetFeatures(SetFeatures::controller(FeatureId::TIMESTAMP, 0, false)).encode();
    host.send(queue, set, 0, &1_700_000_000_000_u64.to_le_bytes()).expect("changeable");
    host.pass(Duration::from_millis(1500));
    let get = GetFeatures::controller(FeatureId::TIMESTAMP, Select::Current);
    let (_, bytes) = host.admin(AdminCommand::GetFeatures(get).encode()).expect("eight bytes");
    let bytes = *bytes.first_chunk().expect("eight bytes");
    let timestamp = nvme::feature::session::Timestamp::decode(bytes);
    assert_eq!((timestamp.ms, timestamp.set_by_host), (1_700_000_001_500, true));
    assert_eq!(host.send(queue, set, 0, &[0; 4]), Err(never(Status::SGL_DATA_LENGTH)));
}

fn powered() -> Host<Subsystem> {
    let mut profile = Profile::builtin("ssd1").expect("built in");
    profile.limits.power_control = true;
    let state =
        |max_power_w| physics::profile::PowerStateProfile { max_power_w, ..profile.power_state[0].clone() };
    profile.power_state = vec![state(6.0), state(4.0), state(2.0)];
    host_of(Subsystem::new(Options::new(profile, Seed::new(1))).expect("sound"), Instant::ZERO)
}

/// Feature 23h: the value is in dword 13, states above it go, the rest is numbered anew.
#[test]
fn a_power_limit_takes_states_away() {
    let mut host = powered();
    let limit = |host: &mut Host<Subsystem>, centiwatt: u32| {
        let dwords = [0, 0, if centiwatt == 0 { 0 } else { centiwatt | 2 << 16 }, 0];
        let command = SetFeatures { dwords, ..SetFeatures::controller(FeatureId::POWER_LIMIT, 0, false) };
        host.admin(AdminCommand::SetFeatures(command).encode()).map(|_| ())
    };
    let states = |host: &mut Host<Subsystem>| {
        let command = AdminCommand::Identify(nvme::command::Identify::controller()).encode();
        let page = host.admin(command).expect("a page").1;
        let controller = IdentifyController::decode(&page).expect("a page");
        assert!(controller.has_power_limit() && controller.has_power_measurement());
        assert_eq!(controller.version.to_string(), "2.3");
        let power = |state: &nvme::identify::PowerState| state.max_power.map(|power| power.watts().as_f64());
        controller.power_states.iter().filter_map(power).collect::<Vec<_>>()
    };
    assert_eq!(states(&mut host), [6.0, 4.0, 2.0]);
    host.set(FeatureId::POWER_MANAGEMENT, 1, false).expect("there is a state 1");
    limit(&mut host, 450).expect("two states are left");
    assert_eq!(states(&mut host), [4.0, 2.0]);
    assert_eq!(host.get(FeatureId::POWER_MANAGEMENT, Select::Current), Ok(0), "the same state, now 0");
    assert_eq!(host.service.drive().power_state(), 1);
    assert_eq!(limit(&mut host, 100), Err(never(Status::INVALID_POWER_LIMIT)));
    assert_eq!(host.get(FeatureId::POWER_LIMIT, Select::Current), Ok(450 | 2 << 16));
    limit(&mut host, 0).expect("none");
    assert_eq!(states(&mut host), [6.0, 4.0, 2.0]);
}

/// Features 24h and 25h, and log 25h.
#[test]
fn power_is_measured_second_by_second() {
    let mut host = powered();
    // 1.5 W, armed; it is armed until more is drawn.
    let armed = 150 | 2 << 16 | 1 << 31;
    host.set(FeatureId::POWER_THRESHOLD, armed, false).expect("a power");
    // Start, stop by itself after a minute.
    host.set(FeatureId::POWER_MEASUREMENT, 1 | 1 << 16, false).expect("the whole subsystem");
    host.pass(Duration::from_secs(30));
    assert_eq!(host.get(FeatureId::POWER_THRESHOLD, Select::Current), Ok(armed), "idle draws 1.2 W");
    let end = host.now + Duration::from_secs(10);
    while host.now < end {
        host.read_blocks(0, 1 << 20).expect("in range");
    }
    assert_eq!(host.get(FeatureId::POWER_THRESHOLD, Select::Current), Ok(armed & !(1 << 31)));
    host.pass(Duration::from_secs(60));
    let page = host.get_log(LogId::POWER_MEASUREMENT, 64 + 64 * 8).expect("2.3");
    let log = nvme::log::power_measurement::PowerMeasurementLog::decode(&page).expect("a page");
    assert_eq!((log.enabled, log.count, log.stop_minutes_left), (false, 60, None));
    assert_eq!(log.bins.iter().map(|bin| bin.count).sum::<u32>(), 60);
    let (average, maximum) = (log.average.expect("measured"), log.maximum.expect("measured"));
    assert!(average.watts().as_f64() > 1.2 && maximum.watts().as_f64() > average.watts().as_f64());
    assert_eq!(host.get(FeatureId::POWER_MEASUREMENT, Select::Current), Ok(1 << 16), "it has stopped");
}
