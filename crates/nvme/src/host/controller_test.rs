//! Typed calls against scripts: the exact dwords they send, and what they make of the answers.

use measure::Kelvin;

use super::*;
use crate::Status;
use crate::feature::power::PowerManagement;
use crate::feature::temperature::{ThresholdSensor, ThresholdSide};
use crate::hctm::HctmError;
use crate::host::scripted::{ScriptedTransport, Step};
use crate::log::persistent::{EventKind, ExcursionThreshold, PersistentEvent, ThermalExcursion};

const ALL: u32 = 0xffff_ffff;

fn controller(steps: Vec<Step>) -> Controller<ScriptedTransport> {
    Controller::new(ScriptedTransport::new(steps))
}

fn finish(controller: Controller<ScriptedTransport>) {
    controller.transport.finish();
}

/// Get Features of `fid` with selection `select`, answering `dword`.
fn get(fid: u32, select: u32, dword: u32) -> Step {
    Step::raw(0x0a, 0, [fid | select << 8, 0, 0, 0, 0, 0]).result(dword)
}

/// Set Features of `fid` with `dword` in dword 11.
fn set(fid: u32, dword: u32) -> Step {
    Step::raw(0x09, 0, [fid, dword, 0, 0, 0, 0])
}

fn hctm(tmt1: u16, tmt2: u16) -> Hctm {
    Hctm { tmt1: Kelvin::from_nvme(tmt1), tmt2: Kelvin::from_nvme(tmt2) }
}

const LIMITS: HctmLimits =
    HctmLimits { supported: true, min: Some(Kelvin::from_kelvin(273)), max: Some(Kelvin::from_kelvin(358)) };

#[test]
fn identify_and_smart_send_one_command_each() {
    let mut page = [0; SMART_LOG_LEN];
    page[1..3].copy_from_slice(&318_u16.to_le_bytes());
    let mut controller = controller(vec![
        Step::raw(0x06, 0, [1, 0, 0, 0, 0, 0]).answers(&[0; 4096]),
        Step::raw(0x02, ALL, [0x007f_0002, 0, 0, 0, 0, 0]).answers(&page),
    ]);
    assert_eq!(controller.identify_controller().expect("a page").serial, "");
    assert_eq!(controller.smart_log().expect("a page").composite, Some(Kelvin::from_kelvin(318)));
    finish(controller);
}

#[test]
fn a_failing_status_becomes_an_error_with_the_command_in_it() {
    let mut controller = controller(vec![get(0x10, 0, 0).fails(Status::INVALID_FIELD)]);
    let error = controller.feature::<Hctm>(Select::Current).expect_err("refused");
    assert!(error.is_unsupported());
    assert_eq!(
        error.to_string(),
        "Get Features Host Controlled Thermal Management (10h) on the scripted drive failed: Invalid Field in \
         Command (0x2). The controller does not support a value in the command, or the feature or page that it \
         names."
    );
}

#[test]
fn values_are_read_with_each_selection_and_refusals_are_absences() {
    let mut told = controller(vec![
        get(0x10, 0, 0x0153_0158),
        get(0x10, 1, 0),
        get(0x10, 2, 0).fails(Status::INVALID_FIELD),
        get(0x10, 3, 5),
    ]);
    let values = told.feature_values::<Hctm>(true).expect("current is told");
    assert_eq!(values.current, hctm(0x0153, 0x0158));
    assert_eq!(values.default, Some(hctm(0, 0)));
    assert_eq!(values.saved, None);
    assert!(values.capabilities.expect("told").saveable);
    finish(told);

    // A drive that cannot select is not asked: it would answer its current value to everything.
    let mut silent = controller(vec![get(0x10, 0, 7)]);
    assert_eq!(silent.feature_values::<Hctm>(false).expect("current is told").default, None);
    finish(silent);

    let mut gone = controller(vec![get(0x10, 0, 7), get(0x10, 1, 0).errors(19)]);
    assert!(gone.feature_values::<Hctm>(true).expect_err("no such device").is_gone());
}

#[test]
fn setting_reads_back_and_never_saves_by_itself() {
    let wanted = hctm(0x0153, 0x0158);
    let mut controller = controller(vec![set(0x10, 0x0153_0158), get(0x10, 0, 0x0153_0158)]);
    controller.set_hctm(&LIMITS, wanted, false).expect("applied");
    finish(controller);
}

#[test]
fn saving_is_bit_31_and_reads_back_the_saved_value_too() {
    let mut controller = controller(vec![set(0x8000_0002, 3), get(0x02, 0, 3), get(0x02, 2, 0)]);
    let error = controller
        .set_feature(&PowerManagement { state: 3, workload_hint: 0 }, true)
        .expect_err("the saved value is another");
    assert!(matches!(error, HostError::NotApplied { feature: FeatureId::POWER_MANAGEMENT, .. }), "{error}");
    finish(controller);
}

/// Goal: a Set that "succeeds" and changes nothing is not believed.
#[test]
fn a_set_that_changes_nothing_is_said() {
    let mut controller = controller(vec![set(0x10, 0x0153_0158), get(0x10, 0, 0)]);
    let error = controller.set_hctm(&LIMITS, hctm(0x0153, 0x0158), false).expect_err("not applied");
    assert_eq!(
        error.to_string(),
        "the scripted drive accepted Host Controlled Thermal Management (10h) = 0x01530158 and then reads back \
         0x00000000: the drive ignores the setting or rounds it; do not rely on it"
    );
}

#[test]
fn temperatures_that_break_the_rule_are_not_sent() {
    let mut controller = controller(vec![]);
    let error = controller.set_hctm(&LIMITS, hctm(350, 340), false).expect_err("wrong order");
    assert!(matches!(error, HostError::Hctm { source: HctmError::Order { .. }, .. }), "{error}");
    finish(controller);
}

#[test]
fn thresholds_carry_their_selector_both_ways() {
    let which = ThresholdSelector { sensor: ThresholdSensor::Sensor(2), side: ThresholdSide::Under };
    let threshold = TemperatureThreshold { which, temperature: Kelvin::from_kelvin(280), hysteresis_k: 0 };
    let mut controller = controller(vec![
        set(0x04, 0x0012_0118),
        // The drive answers the bare temperature, as most do.
        Step::raw(0x0a, 0, [0x04, 0x0012_0000, 0, 0, 0, 0]).result(0x0118),
    ]);
    controller.set_temperature_threshold(threshold, false).expect("applied");
    finish(controller);
}

#[test]
fn features_with_data_bring_buffers_of_their_length() {
    let mut table = [0; 256];
    table[..4].copy_from_slice(&[4 << 3, 0xd0, 0x07, 0]);
    let mut memory = [0; 4096];
    memory[1] = 0x40;
    let mut controller = controller(vec![
        get(0x0c, 0, 1).answers(&table),
        get(0x0d, 0, 1).answers(&memory),
        get(0x0e, 0, 0).answers(&[1, 0, 0, 0, 0, 0, 2, 0]),
    ]);
    let (apst, table) = controller.apst(Select::Current).expect("a table");
    let transition = table.transitions[0].expect("set");
    assert!(apst.enabled && transition.idle_ms == 2000 && transition.target_state == 4);
    let (buffer, attributes) = controller.host_memory().expect("attributes");
    assert!(buffer.enabled && attributes.size_pages == 0x4000);
    assert!(controller.timestamp().expect("a timestamp").set_by_host);
    finish(controller);
}

#[test]
fn long_logs_are_read_piece_by_piece() {
    let mut first = vec![0; 4096];
    first[0] = 1;
    let mut second = vec![0; 64];
    second[0] = 2;
    let mut controller = controller(vec![
        Step::raw(0x02, ALL, [0x03ff_0001, 0, 0, 0, 0, 0]).answers(&first),
        Step::raw(0x02, ALL, [0x000f_0001, 0, 4096, 0, 0, 0]).answers(&second),
    ]);
    let entries = controller.error_log(65).expect("two pieces");
    assert_eq!(entries.iter().map(|entry| entry.number).collect::<Vec<_>>(), [1, 2]);
    finish(controller);
}

fn events() -> Vec<u8> {
    let at = Timestamp { ms: 0, set_by_host: false, may_have_stopped: false };
    let header = PersistentHeader {
        event_count: 1,
        len_bytes: 0,
        at,
        power_on_hours: 0,
        power_cycles: 0,
        serial: String::new(),
        model: String::new(),
        generation: 0,
        supported: [0; 32],
    };
    let kind = EventKind::Thermal(ThermalExcursion { over_k: 0, threshold: ExcursionThreshold::Vendor });
    PersistentEventLog { header, events: vec![PersistentEvent { at, controller_id: 0, kind }] }.encode()
}

/// Reads the header with the context established (action 1), 512 bytes.
fn establish(page: &[u8]) -> Step {
    Step::raw(0x02, ALL, [0x007f_010d, 0, 0, 0, 0, 0]).answers(&page[..512])
}

/// Releases the context (action 2).
fn release() -> Step {
    Step::raw(0x02, ALL, [0x0000_020d, 0, 0, 0, 0, 0])
}

#[test]
fn persistent_events_are_read_in_a_context_that_is_released() {
    let mut page = events();
    assert_eq!(page.len(), 538);
    page.extend([0; 2]);
    let mut controller = controller(vec![
        establish(&page),
        Step::raw(0x02, ALL, [0x0086_000d, 0, 0, 0, 0, 0]).answers(&page),
        release(),
    ]);
    assert_eq!(controller.persistent_events(1 << 20).expect("one event").events.len(), 1);
    finish(controller);
}

#[test]
fn the_context_is_released_after_an_error_too() {
    let mut page = events();
    page[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    let mut controller = controller(vec![establish(&page), release()]);
    let error = controller.persistent_events(1 << 20).expect_err("absurdly long");
    assert!(matches!(error, HostError::TooLong { .. }), "{error}");
    finish(controller);
}

#[test]
fn garbage_is_an_error_that_names_the_drive() {
    let mut controller =
        controller(vec![Step::raw(0x02, ALL, [0x007f_00c0, 0, 0, 0, 0, 0]).answers(&[7; 512])]);
    let error = controller.ocp_smart().expect_err("no GUID");
    assert!(error.to_string().starts_with("the scripted drive sent something"), "{error}");
}
