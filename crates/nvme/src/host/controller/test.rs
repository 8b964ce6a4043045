//! Typed calls against scripts: the exact dwords they send, and what they make of the answers.

use measure::Kelvin;

use super::*;
use crate::Status;
use crate::feature::session::NumberOfQueues;
use crate::hctm::Hctm;
use crate::host::scripted::{ScriptedTransport, Step};

/// A controller that follows a script, all of which must have come when it is dropped.
fn controller(steps: Vec<Step>) -> Controller<'static> {
    Controller::new(ScriptedTransport::new(steps))
}

/// Get Features of `fid` with selection `select`, answering `dword`.
fn get(fid: u32, select: u32, dword: u32) -> Step {
    Step::raw(0x0a, 0, [fid | select << 8, 0, 0, 0, 0, 0]).result(dword)
}

#[test]
fn identify_and_smart_send_one_command_each() {
    let mut page = [0; SMART_LOG_LEN];
    page[1..3].copy_from_slice(&318_u16.to_le_bytes());
    let mut controller = controller(vec![
        Step::raw(0x06, 0, [1, 0, 0, 0, 0, 0]).answers(&[0; 4096]),
        Step::raw(0x02, 0xffff_ffff, [0x007f_0002, 0, 0, 0, 0, 0]).answers(&page),
    ]);
    assert_eq!(controller.identify_controller().expect("a page").serial, "");
    assert_eq!(controller.smart_log().expect("a page").composite, Some(Kelvin::from_kelvin(318)));
}

#[test]
fn a_failing_status_becomes_an_error_with_the_command_in_it() {
    let mut controller = controller(vec![get(0x10, 0, 0).fails(Status::INVALID_FIELD)]);
    let error = controller.feature::<Hctm>().expect_err("refused");
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
    let hctm = Hctm::get(Select::Current);
    let mut reporting = controller(vec![
        get(0x10, 0, 0x0153_0158),
        get(0x10, 1, 0),
        get(0x10, 2, 0).fails(Status::INVALID_FIELD),
        get(0x10, 3, 5),
    ]);
    let values = reporting.feature_values(hctm, true).expect("current is reported");
    assert_eq!((values.current, values.default, values.saved), (0x0153_0158, Some(0), None));
    assert!(values.capabilities.expect("reported").saveable);

    // A drive that cannot select is not asked: it would answer its current value to everything.
    let mut silent = controller(vec![get(0x10, 0, 7)]);
    assert_eq!(silent.feature_values(hctm, false).expect("current is reported"), FeatureValues::only(7));

    let mut gone = controller(vec![get(0x10, 0, 7), get(0x10, 1, 0).errors(19)]);
    assert!(gone.feature_values(hctm, true).expect_err("no such device").is_gone());
}

#[test]
fn a_feature_with_data_brings_a_buffer_of_its_length() {
    let mut memory = [0; 4096];
    memory[1] = 0x40;
    let mut controller = controller(vec![get(0x0d, 0, 1).answers(&memory)]);
    let (buffer, attributes) = controller.host_memory().expect("attributes");
    assert!(buffer.enabled && attributes.size_pages == 0x4000);
}

#[test]
fn garbage_is_an_error_that_names_the_drive() {
    let mut controller = controller(vec![get(0x07, 0, 0xffff_ffff)]);
    let error = controller.feature::<NumberOfQueues>().expect_err("65536 queues, counted from 0");
    assert!(error.to_string().starts_with("the scripted drive sent something"), "{error}");
}
