//! The settings of a run: changed before it, put back after it, and both in the manifest.
//!
//! Real and simulated drives alike.

use measure::Instant;
use measure::record::{EndReason, RunEdge, SettingsFacts, ThermalSettings};

use super::recorder::Recorder;
use drive::PreparedSettings;
use drive::settings::journal::Journals;
use drive::settings::{DriveSettings, Journaled, Restored, SettingsError};

/// The settings of a drive while a run is under way. Dropped by a panic or an error, it puts them back.
pub(super) struct HeldSettings {
    drive: DriveSettings<'static>,
    changed: Option<Journaled>,
}

impl HeldSettings {
    /// Notes what is set, and makes the plan's settings; a drive that refuses them ends the run before it loads.
    pub(super) fn change(recorder: &mut Recorder<'_>, settings: PreparedSettings) -> Self {
        let PreparedSettings { mut drive, nsid, journals } = settings;
        let wanted = recorder.plan.settings.clone();
        let before = drive.thermal();
        keep_answers(recorder, &mut drive, nsid, RunEdge::Start);
        let wall_unix_ns = recorder.manifest().clock_anchor.wall_unix_ns;
        let changed = make(&mut drive, &journals, &wanted, &recorder.plan.name, wall_unix_ns);
        recorder.update_manifest(|manifest| {
            manifest.settings = SettingsFacts { before, set: wanted, after: None };
        });
        let changed = changed.unwrap_or_else(|error| {
            // A user who has ended the wait for an answer is the reason then.
            recorder.heed_stop(Instant::ZERO);
            if recorder.run_is_over()
                && let SettingsError::LeftChanged { problems, .. } = &error
            {
                problems.iter().cloned().for_each(|problem| recorder.left_changed(problem));
            }
            recorder.end_run(EndReason::DeviceFailed, format!("the plan's settings were not made: {error}"));
            None
        });
        Self { drive, changed }
    }

    /// Puts back what was changed, and notes what is then set.
    pub(super) fn put_back(mut self, recorder: &mut Recorder<'_>) {
        let changed = self.changed.take();
        let restored =
            changed.map_or_else(Restored::default, |mut changed| changed.put_back(&mut self.drive));
        restored.problems.into_iter().for_each(|problem| recorder.left_changed(problem));
        let after = self.drive.thermal();
        keep_answers(recorder, &mut self.drive, None, RunEdge::End);
        recorder.update_manifest(|manifest| manifest.settings.after = Some(after));
    }
}

impl Drop for HeldSettings {
    fn drop(&mut self) {
        if let Some(mut changed) = self.changed.take() {
            // There is nobody left to be told: what is not put back here is in the journal, and the next start tells.
            let _ = changed.put_back(&mut self.drive);
        }
    }
}

/// Keeps the drive's answers byte for byte. One that does not answer at all is missed by others, and by name.
fn keep_answers(
    recorder: &mut Recorder<'_>,
    drive: &mut DriveSettings<'static>,
    nsid: Option<u32>,
    when: RunEdge,
) {
    match drive.raw_answers(nsid, when) {
        Ok(answers) => recorder.update_manifest(|manifest| manifest.answers.extend(answers)),
        Err(error) => recorder.note(format!("the drive's own words are not in the record: {error}")),
    }
}

fn make(
    drive: &mut DriveSettings<'static>,
    journals: &Journals,
    wanted: &ThermalSettings,
    plan: &str,
    wall_unix_ns: i64,
) -> Result<Option<Journaled>, SettingsError> {
    if *wanted == ThermalSettings::default() {
        return Ok(None);
    }
    let changes = drive.changes(wanted)?;
    Journaled::begin(drive, journals, &changes, &format!("run {plan}"), wall_unix_ns).map(Some)
}

#[cfg(test)]
mod test {
    use measure::Kelvin;
    use nvme::hctm::Hctm;

    use super::*;
    use drive::settings::Change;
    use drive::settings::fake::{FakeFeatures, HCTM};

    /// Goal: a panic between change and end leaves nothing changed.
    #[test]
    fn a_panic_puts_the_settings_back() {
        let features = FakeFeatures::new();
        let journals = Journals::in_memory();
        let kelvin = |kelvin| Some(Kelvin::from_kelvin(kelvin));
        let wanted = [Change::hctm(Hctm { tmt1: kelvin(310), tmt2: kelvin(320) })];
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut drive = DriveSettings::open(features.clone()).expect("there");
            let changed = Journaled::begin(&mut drive, &journals, &wanted, "run test", 0).expect("made");
            let held = HeldSettings { drive, changed: Some(changed) };
            assert_eq!(features.state().current[&HCTM], 310 << 16 | 320);
            assert!(held.changed.is_none(), "a bug while the settings are changed");
        }));
        assert!(unwound.is_err());
        assert_eq!(features.state().current[&HCTM], 338 << 16 | 343);
        assert!(journals.all().expect("readable").is_empty());
    }
}
