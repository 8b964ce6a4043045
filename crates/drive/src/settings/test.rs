//! Reading and changing settings: on a drive that behaves as drives do, and byte for byte against a script.

use measure::Kelvin;
use measure::record::ThermalSettings;
use nvme::Status;
use nvme::feature::Select;
use nvme::feature::power::PowerManagement;
use nvme::feature::temperature::{TemperatureThreshold, ThresholdSelector};
use nvme::hctm::Hctm;
use nvme::host::scripted::{ScriptedTransport, Step};
use nvme::identify::IdentifyController;

use super::fake::{FakeFeatures, HCTM, POWER};
use super::journal::{JournalError, Journals};
use super::*;

fn kelvin(kelvin: u16) -> Option<Kelvin> {
    Some(Kelvin::from_kelvin(kelvin))
}

fn hctm(tmt1: u16, tmt2: u16) -> Change {
    Change::hctm(Hctm { tmt1: Kelvin::from_nvme(tmt1), tmt2: Kelvin::from_nvme(tmt2) })
}

fn settings_of(drive: &FakeFeatures) -> DriveSettings<'static> {
    DriveSettings::open(drive.clone()).expect("it is there")
}

/// Identify Controller as `drive` answers it, and then `steps`.
fn scripted(identify: &IdentifyController, steps: Vec<Step>) -> DriveSettings<'static> {
    let identify = Step::raw(0x06, 0, [1, 0, 0, 0, 0, 0]).answers(&identify.encode());
    DriveSettings::open(ScriptedTransport::new([vec![identify], steps].concat())).expect("as scripted")
}

/// Goal: what goes over the wire is what the specification says, and `save` (bit 31) is not among it.
#[test]
fn a_change_is_read_set_and_read_back_without_saving() {
    let identify = FakeFeatures::new().state().identify.clone();
    let mut drive = scripted(
        &identify,
        vec![
            Step::raw(0x0a, 0, [0x10, 0, 0, 0, 0, 0]).result(0x0152_0157),
            Step::raw(0x09, 0, [0x10, 0x0139_0152, 0, 0, 0, 0]),
            Step::raw(0x0a, 0, [0x10, 0, 0, 0, 0, 0]).result(0x0139_0152),
        ],
    );
    let applied = drive.apply(&hctm(313, 338), false).expect("taken");
    assert_eq!((applied.before, applied.now), (Value::Dword(0x0152_0157), Value::Dword(0x0139_0152)));
    assert!(!applied.saved);
}

/// Goal: only `save` in so many words sets bit 31, after the drive was asked whether it saves.
#[test]
fn saving_asks_first_and_reads_the_saved_value_back() {
    let identify = FakeFeatures::new().state().identify.clone();
    let mut drive = scripted(
        &identify,
        vec![
            Step::raw(0x0a, 0, [0x0310, 0, 0, 0, 0, 0]).result(0b101),
            Step::raw(0x0a, 0, [0x0210, 0, 0, 0, 0, 0]).result(0x0152_0157),
            Step::raw(0x0a, 0, [0x10, 0, 0, 0, 0, 0]).result(0x0152_0157),
            Step::raw(0x09, 0, [0x8000_0010, 0x0139_0152, 0, 0, 0, 0]),
            Step::raw(0x0a, 0, [0x10, 0, 0, 0, 0, 0]).result(0x0139_0152),
            Step::raw(0x0a, 0, [0x0210, 0, 0, 0, 0, 0]).result(0x0139_0152),
        ],
    );
    let applied = drive.apply(&hctm(313, 338), true).expect("taken");
    assert_eq!((applied.saved_before, applied.saved), (Some(Value::Dword(0x0152_0157)), true));

    let mut drive = scripted(&identify, vec![Step::raw(0x0a, 0, [0x0310, 0, 0, 0, 0, 0]).result(0b100)]);
    let error = drive.apply(&hctm(313, 338), true).expect_err("it does not save").to_string();
    assert!(error.contains("does not save this setting") && error.contains("next power cycle"), "{error}");
}

#[test]
fn one_half_alone_leaves_the_other_as_it_is() {
    let drive = FakeFeatures::new();
    let mut settings = settings_of(&drive);
    let wanted = ThermalSettings { tmt1_k: Some(330), ..ThermalSettings::default() };
    let changes = settings.changes(&wanted).expect("read");
    assert_eq!(changes, [hctm(330, 343)]);
    let wanted = ThermalSettings { tmt2_k: Some(0), ..ThermalSettings::default() };
    assert_eq!(settings.changes(&wanted).expect("read"), [hctm(338, 0)]);
    assert!(drive.state().sets.is_empty());
}

#[test]
fn what_breaks_a_rule_is_refused_before_anything_is_sent() {
    let drive = FakeFeatures::new();
    let mut settings = settings_of(&drive);
    let refused = |settings: &mut DriveSettings<'_>, change: Change| {
        settings.apply(&change, false).expect_err("against the rule").to_string()
    };
    let error = refused(&mut settings, hctm(300, 340));
    assert!(error.contains("303 K (30 °C) to 348 K (75 °C)") && error.contains("MNTMT <= TMT1"), "{error}");
    let error = refused(&mut settings, hctm(340, 340));
    assert!(error.contains("is not below TMT2"), "{error}");
    let change = settings.power_change(3).expect("read");
    let error = refused(&mut settings, change);
    assert!(error.contains("the drive has power state 0 to 2"), "{error}");
    let change = settings.power_change(32).expect("read");
    let error = refused(&mut settings, change);
    assert!(error.contains("power state 32"), "{error}");
    let error = refused(&mut settings, Change::apst_latency(LatencyTolerance::Us(0)));
    assert!(error.contains("pm_qos_latency_tolerance_us"), "{error}");
    drive.state().identify.hctm.supported = false;
    let mut settings = settings_of(&drive);
    let error = refused(&mut settings, hctm(310, 340));
    assert!(error.contains("HCTMA is 0"), "{error}");
    assert!(drive.state().sets.is_empty());
}

#[test]
fn a_set_that_changes_nothing_is_told() {
    let drive = FakeFeatures::new();
    drive.state().deaf = true;
    let error = settings_of(&drive).apply(&hctm(310, 340), false).expect_err("deaf").to_string();
    assert!(error.contains("changes nothing") && error.contains("TMT1 65 °C, TMT2 70 °C"), "{error}");
}

/// A drive that rounds says something else than one that does nothing.
#[test]
fn a_set_that_is_rounded_is_told_from_one_that_is_ignored() {
    let identify = FakeFeatures::new().state().identify.clone();
    let mut drive = scripted(
        &identify,
        vec![
            Step::raw(0x0a, 0, [0x10, 0, 0, 0, 0, 0]).result(0x0152_0157),
            Step::raw(0x09, 0, [0x10, 0x0139_0153, 0, 0, 0, 0]),
            Step::raw(0x0a, 0, [0x10, 0, 0, 0, 0, 0]).result(0x0139_0152),
        ],
    );
    let error = drive.apply(&hctm(313, 339), false).expect_err("rounded").to_string();
    assert!(error.contains("rounds the value"), "{error}");
}

#[test]
fn a_threshold_is_read_and_set_by_its_selector() {
    let identify = FakeFeatures::new().state().identify.clone();
    let under = ThresholdSelector::decode(0x0012_0000).expect("sensor 2, under");
    let threshold =
        TemperatureThreshold { which: under, temperature: Kelvin::from_kelvin(280), hysteresis_k: 0 };
    let mut drive = scripted(
        &identify,
        vec![
            Step::raw(0x0a, 0, [0x04, 0x0012_0000, 0, 0, 0, 0]).result(0),
            Step::raw(0x09, 0, [0x04, 0x0012_0118, 0, 0, 0, 0]),
            // Drives need not repeat the selector.
            Step::raw(0x0a, 0, [0x04, 0x0012_0000, 0, 0, 0, 0]).result(0x0118),
        ],
    );
    let applied = drive.apply(&Change::threshold(threshold), false).expect("taken");
    assert_eq!(applied.setting.text_of(applied.now), "warns at 7 °C and below");
}

/// Without select and save (ONCS bit 4) a drive may answer "default" with the current value: it is not asked.
#[test]
fn a_drive_without_selection_is_not_asked_for_more() {
    let mut identify = FakeFeatures::new().state().identify.clone();
    identify.optional_nvm = 0;
    let mut drive = scripted(&identify, vec![Step::raw(0x0a, 0, [0x10, 0, 0, 0, 0, 0]).result(5)]);
    let values = drive.read(Setting::Hctm).expect("read");
    assert_eq!((values.current, values.default, values.saved), (Value::Dword(5), None, None));
}

#[test]
fn a_controller_that_refuses_everything_is_told_as_that() {
    let drive = FakeFeatures::new();
    drive.state().mute = true;
    let mut settings = settings_of(&drive);
    let error = settings.read(Setting::PowerState).expect_err("it answers nothing");
    assert!(error.is_unsupported(), "{error}");
    assert!(error.to_string().contains("Invalid Field"), "{error}");
    assert_eq!(settings.thermal(), ThermalSettings::default());
}

#[test]
fn the_kernels_knob_is_read_written_and_put_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let knob = folder.path().join("pm_qos_latency_tolerance_us");
    std::fs::write(&knob, "100000\n").expect("written");
    let mut settings = settings_of(&FakeFeatures::new()).with_apst(knob.clone());
    let journals = Journals::in_memory();
    let changes = [Change::apst_latency(LatencyTolerance::Us(0))];
    let mut journaled = Journaled::begin(&mut settings, &journals, &changes, "run test", 0).expect("made");
    assert_eq!(std::fs::read_to_string(&knob).expect("there"), "0");
    assert!(journaled.put_back(&mut settings).is_whole());
    assert_eq!(std::fs::read_to_string(&knob).expect("there"), "100000");
}

/// A drive that sleeps by itself is found in a state that it leaves at the next I/O, to the last operational one.
#[test]
fn a_sleeping_drive_is_put_back_by_way_of_state_0() {
    let drive = FakeFeatures::new();
    drive.state().current.insert(POWER, 2);
    let mut settings = settings_of(&drive);
    let changes = [Change::power_state(PowerManagement { state: 1, workload_hint: 0 })];
    let mut journaled =
        Journaled::begin(&mut settings, &Journals::in_memory(), &changes, "run test", 0).expect("made");
    assert!(journaled.put_back(&mut settings).is_whole());
    let sets: Vec<u32> = drive.state().sets.iter().map(|(_, dword, _)| *dword).collect();
    assert_eq!(sets, [1, 0, 2]);
    assert!(drive.state().sets.iter().all(|(_, _, save)| !save));
}

#[test]
fn a_change_that_fails_puts_back_those_before_it() {
    let drive = FakeFeatures::new();
    let mut settings = settings_of(&drive);
    let journals = Journals::in_memory();
    // The drive has no threshold for sensor 1, and says so only when it is asked.
    let which = ThresholdSelector::decode(0x0001_0000).expect("sensor 1, over");
    let threshold = TemperatureThreshold { which, temperature: Kelvin::from_kelvin(300), hysteresis_k: 0 };
    let changes = [hctm(310, 320), Change::threshold(threshold)];
    let error =
        Journaled::begin(&mut settings, &journals, &changes, "run test", 0).expect_err("no such sensor");
    assert!(error.is_unsupported(), "{error}");
    assert!(drive.state().sets.is_empty(), "nothing is changed before everything was read");

    drive.state().deaf = true;
    let error =
        Journaled::begin(&mut settings, &journals, &[hctm(310, 320)], "run test", 0).expect_err("deaf");
    assert!(matches!(error, SettingsError::NotApplied { unchanged: true, .. }), "{error}");
    assert!(journals.all().expect("readable").is_empty());
}

/// A value that the drive would not take back must not be left in the first place.
#[test]
fn what_could_not_be_put_back_is_not_changed() {
    let drive = FakeFeatures::new();
    drive.state().current.insert(HCTM, 200 << 16 | 340);
    let mut settings = settings_of(&drive);
    let error = Journaled::begin(&mut settings, &Journals::in_memory(), &[hctm(310, 320)], "run test", 0)
        .expect_err("200 K cannot be set");
    assert!(matches!(error, SettingsError::NotRestorable { .. }), "{error}");
    assert!(drive.state().sets.is_empty());
}

#[test]
fn a_drive_under_a_journal_is_refused_with_what_to_type() {
    let folder = tempfile::tempdir().expect("a folder");
    let journals = Journals::in_folder(folder.path().join("state"));
    let drive = FakeFeatures::new();
    let mut settings = settings_of(&drive);
    let running = Journaled::begin(&mut settings, &journals, &[hctm(310, 320)], "run a", 0).expect("made");
    let error =
        Journaled::begin(&mut settings, &journals, &[hctm(311, 320)], "run b", 0).expect_err("in use");
    assert!(matches!(error, SettingsError::Journal(JournalError::InUse { .. })), "{error}");
    assert!(journals.find(&settings.identity()).expect("there").held);

    // Killed: the lock is gone with the process, the journal is not.
    drop(running);
    let found = journals.find(&settings.identity()).expect("still there");
    assert!(!found.held);
    let error = Journaled::begin(&mut settings, &journals, &[hctm(311, 320)], "run b", 0).expect_err("left");
    let text = error.to_string();
    assert!(text.contains("heatsoak restore /dev/fake0") && text.contains("\"run a\""), "{text}");
    assert!(text.contains("TMT1 65 °C, TMT2 70 °C"), "{text}");

    let (journal, restored) = restore(&mut settings, &journals).expect("free").expect("a journal");
    assert!(restored.is_whole() && journal.why == "run a", "{restored:?}");
    assert_eq!(drive.state().current[&HCTM], 338 << 16 | 343);
    assert!(restore(&mut settings, &journals).expect("free").is_none());
}

#[test]
fn two_drives_do_not_disturb_each_other() {
    let journals = Journals::in_memory();
    let (one, other) = (FakeFeatures::new(), FakeFeatures::new());
    // The same model and serial: told apart by the subsystem's name alone.
    other.state().identify.subsystem_nqn = Some("nqn.2014-08.org.nvmexpress:other".to_owned());
    let (mut first, mut second) = (settings_of(&one), settings_of(&other));
    let mut a = Journaled::begin(&mut first, &journals, &[hctm(310, 320)], "run a", 0).expect("made");
    let mut b = Journaled::begin(&mut second, &journals, &[hctm(311, 321)], "run b", 0).expect("made");
    assert_eq!(journals.all().expect("readable").len(), 2);
    assert!(a.put_back(&mut first).is_whole());
    assert_eq!(other.state().current[&HCTM], 311 << 16 | 321);
    assert!(b.put_back(&mut second).is_whole());
    assert!(journals.all().expect("readable").is_empty());
}

#[test]
fn a_drive_that_vanished_keeps_its_journal() {
    let drive = FakeFeatures::new();
    let journals = Journals::in_memory();
    let mut settings = settings_of(&drive);
    let mut journaled =
        Journaled::begin(&mut settings, &journals, &[hctm(310, 320)], "run a", 0).expect("made");
    drive.state().gone = true;
    let restored = journaled.put_back(&mut settings);
    assert_eq!(restored.problems.len(), 1);
    assert!(restored.problems[0].contains("the drive is gone"), "{restored:?}");
    drop(journaled);
    assert_eq!(journals.all().expect("readable").len(), 1);
    drive.state().gone = false;
    let (_, restored) = restore(&mut settings, &journals).expect("free").expect("kept");
    assert!(restored.is_whole());
    assert_eq!(drive.state().current[&HCTM], 338 << 16 | 343);
}

#[test]
fn a_scripted_refusal_of_the_old_value_keeps_the_journal_and_says_what_to_do() {
    let identify = FakeFeatures::new().state().identify.clone();
    let get = |sel: u32| Step::raw(0x0a, 0, [sel << 8 | 0x10, 0, 0, 0, 0, 0]);
    let found = 338 << 16 | 343;
    let wanted = 310 << 16 | 320;
    let mut settings = scripted(
        &identify,
        vec![
            get(0).result(found),
            get(1).result(found),
            get(2).result(found),
            get(3).result(0b101),
            get(0).result(found),
            Step::raw(0x09, 0, [0x10, wanted, 0, 0, 0, 0]),
            get(0).result(wanted),
            Step::raw(0x09, 0, [0x10, found, 0, 0, 0, 0]).fails(Status::INVALID_FIELD),
        ],
    );
    let journals = Journals::in_memory();
    let mut journaled =
        Journaled::begin(&mut settings, &journals, &[hctm(310, 320)], "run a", 0).expect("made");
    let restored = journaled.put_back(&mut settings);
    assert!(restored.problems[0].contains("--forget"), "{restored:?}");
    assert_eq!(journals.all().expect("readable").len(), 1);
}

#[test]
fn values_that_are_not_current_come_from_their_selection() {
    let drive = FakeFeatures::new();
    drive.state().saved.insert(HCTM, 7);
    drive.state().default.insert(HCTM, 9);
    let mut settings = settings_of(&drive);
    let values = settings.read(Setting::Hctm).expect("read");
    assert_eq!(values.saved, Some(Value::Dword(7)));
    assert_eq!(values.default, Some(Value::Dword(9)));
    assert_eq!(settings.get(Setting::Hctm, Select::Current).expect("read"), Value::Dword(338 << 16 | 343));
    assert_eq!(settings.holds(Setting::Hctm, Value::Dword(338 << 16 | 343)).expect("told"), Some(true));
    assert!(kelvin(338).is_some_and(|tmt1| settings.thermal().tmt1_k == Some(tmt1.as_kelvin())));
}
