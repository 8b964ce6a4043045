//! Killed at any point of a run that changes settings, and the power cut as well: `restore` makes them as found.

use measure::{Kelvin, Seed};
use nvme::feature::power::PowerManagement;
use nvme::feature::temperature::{TemperatureThreshold, ThresholdSelector};
use nvme::hctm::Hctm;

use super::fake::{COMPOSITE_OVER, FakeFeatures, HCTM, POWER};
use super::journal::Journals;
use super::journal::memory::{CrashDisk, Fuse, FuseStep};
use super::*;

fn changes() -> Vec<Change> {
    let kelvin = |kelvin| Some(Kelvin::from_kelvin(kelvin));
    vec![
        Change::hctm(Hctm { tmt1: kelvin(310), tmt2: kelvin(320) }),
        Change::power_state(PowerManagement { state: 1, workload_hint: 0 }),
        Change::threshold(TemperatureThreshold {
            which: ThresholdSelector::COMPOSITE_OVER,
            temperature: Kelvin::from_kelvin(333),
            hysteresis_k: 0,
        }),
    ]
}

/// A whole run, as far as the fuse lets it come: journal, changes, load, putting back.
fn run(drive: &FakeFeatures, disk: &CrashDisk, fuse: &Fuse, seed: Seed) -> Result<(), SettingsError> {
    drive.state().fuse = Some((fuse.clone(), seed));
    let mut settings = DriveSettings::open(drive.clone())?;
    let journals = Journals::on(disk.clone());
    let mut journaled = Journaled::begin(&mut settings, &journals, &changes(), "run test", 0)?;
    // The load: as many steps in which nothing is changed.
    for _ in 0..5 {
        settings.thermal();
    }
    let restored = journaled.put_back(&mut settings);
    assert!(fuse.step() != FuseStep::Alive || restored.is_whole(), "{restored:?}");
    Ok(())
}

fn as_found(drive: &FakeFeatures) -> [u32; 3] {
    [HCTM, POWER, COMPOSITE_OVER].map(|key| drive.state().current[&key])
}

/// What a whole run costs in steps, the last of which is the test's own.
fn steps_of_a_run() -> u64 {
    let (drive, fuse) = (FakeFeatures::new(), Fuse::endless());
    run(&drive, &CrashDisk::new(&fuse, Seed::new(0)), &fuse, Seed::new(0)).expect("nobody kills it");
    fuse.burnt()
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Killed {
    /// kill -9: what was written is there.
    Process,
    /// The machine lost its power, and the drive has its own.
    Host,
    /// Both lost it.
    HostAndDrive,
}

/// Goal: after a kill or a power cut at any step, restoring makes every setting as it was found.
/// Method: a run of three changes is cut at a step that the seed draws; what was not synced is kept, torn or lost as
/// the seed draws; then the next start restores, is cut itself at random for one seed in three, and restores again.
#[test]
fn two_hundred_kills_leave_every_setting_as_found() {
    let steps = steps_of_a_run();
    assert!(steps > 30, "{steps} steps are too few to be cut at");
    let (mut changed, mut restored) = (0, 0);
    for number in 0..200_u64 {
        let seed = Seed::new(number);
        let cut = seed.part(1).as_u64() % steps;
        let killed =
            [Killed::Process, Killed::Host, Killed::HostAndDrive][(seed.part(2).as_u64() % 3) as usize];
        let case = format!("seed {number}, cut at {cut}, {killed:?}");
        let drive = FakeFeatures::new();
        // Found unlike its saved values: what a power cycle brings back is not what was found.
        drive.state().current.insert(HCTM, 305 << 16 | 347);
        let found = as_found(&drive);
        let fuse = Fuse::with_steps(cut);
        let disk = CrashDisk::new(&fuse, seed);
        let _ = run(&drive, &disk, &fuse, seed);
        let left = as_found(&drive);
        changed += u64::from(left != found);
        if killed == Killed::HostAndDrive {
            drive.power_cycle();
        }
        let again =
            if number % 3 == 0 { Fuse::with_steps(seed.part(3).as_u64() % 12) } else { Fuse::endless() };
        let disk = disk.reopened(killed != Killed::Process, &again);
        let looked = Journals::on(disk.reopened(false, &Fuse::endless())).all().expect("readable");
        let had_journal = !looked.is_empty();
        let _ = restore_once(&drive, &disk, &again, seed);
        let last = Fuse::endless();
        let disk = disk.reopened(false, &last);
        restore_once(&drive, &disk, &last, seed).expect("nobody kills it");
        restored += u64::from(had_journal);
        if had_journal || killed != Killed::HostAndDrive {
            assert_eq!(as_found(&drive), found, "{case}");
        } else {
            // Then nothing was changed any more, and the power cut did to the drive what it does to any.
            assert_eq!(left, found, "{case}: no journal of a change");
        }
        let journals = Journals::on(disk);
        assert!(journals.all().expect("readable").is_empty(), "{case} leaves a journal");
        // Doing it again does nothing.
        let sets = drive.state().sets.len();
        let mut settings = DriveSettings::open(drive.clone()).expect("there");
        assert_eq!(restore(&mut settings, &journals).expect("no journal"), None);
        assert_eq!(drive.state().sets.len(), sets, "{case}");
    }
    // The seeds must reach into the changes, or nothing was tested.
    assert!(changed > 80 && restored > changed, "{changed} cut while changed, {restored} restored");
}

/// The next start.
fn restore_once(
    drive: &FakeFeatures,
    disk: &CrashDisk,
    fuse: &Fuse,
    seed: Seed,
) -> Result<(), SettingsError> {
    drive.state().fuse = Some((fuse.clone(), seed.part(5)));
    let mut settings = DriveSettings::open(drive.clone())?;
    restore(&mut settings, &Journals::on(disk.clone())).map(|_| ())
}

/// Goal: the test above can fail. Method: the same cuts against a journal that is not synced before it is renamed.
#[test]
fn a_journal_that_is_not_synced_is_caught() {
    #[derive(Clone, Debug)]
    struct Unsynced(CrashDisk);
    impl journal::Disk for Unsynced {
        fn place(&self, name: &str) -> String {
            self.0.place(name)
        }
        fn lock(&self, name: &str) -> std::io::Result<Option<journal::JournalLock>> {
            self.0.lock(name)
        }
        fn locked(&self, name: &str) -> std::io::Result<bool> {
            self.0.locked(name)
        }
        fn read(&self, name: &str) -> std::io::Result<Option<Vec<u8>>> {
            self.0.read(name)
        }
        fn write(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
            self.0.write(name, bytes)
        }
        fn sync(&self, _name: &str) -> std::io::Result<()> {
            Ok(())
        }
        fn rename(&self, from: &str, to: &str) -> std::io::Result<()> {
            self.0.rename(from, to)
        }
        fn remove(&self, name: &str) -> std::io::Result<()> {
            self.0.remove(name)
        }
        fn sync_folder(&self) -> std::io::Result<()> {
            self.0.sync_folder()
        }
        fn names(&self) -> std::io::Result<Vec<String>> {
            self.0.names()
        }
    }
    let mut lost = 0;
    for number in 0..50 {
        let fuse = Fuse::endless();
        let disk = CrashDisk::new(&fuse, Seed::new(number));
        let mut settings = DriveSettings::open(FakeFeatures::new()).expect("there");
        let journals = Journals::on(Unsynced(disk.clone()));
        let journaled = Journaled::begin(&mut settings, &journals, &changes(), "run test", 0).expect("made");
        drop(journaled);
        let journals = Journals::on(disk.reopened(true, &fuse));
        let readable = journals.find(&settings.identity()).is_some_and(|found| found.journal.is_ok());
        lost += u32::from(!readable);
    }
    assert!(lost > 5, "only {lost} of 50 power cuts lost a journal that was never synced");
}
