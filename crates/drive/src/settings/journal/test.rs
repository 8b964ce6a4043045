//! The journal's file: where it lies, what survives, what is said of what cannot be read.

use super::*;

fn identity(serial: &str) -> JournalIdentity {
    JournalIdentity { model: "Some Drive 1TB".to_owned(), serial: serial.to_owned(), subsystem_nqn: None }
}

fn journal(serial: &str) -> Journal {
    Journal {
        settings: vec![JournalEntry {
            setting: Setting::PowerState,
            found: Value::Dword(0),
            found_text: "power state 0".to_owned(),
            set: Value::Dword(1),
            default: None,
            saved: None,
            by_way_of: None,
        }],
        ..Journal::new(identity(serial), "/dev/nvme0", "run quick", 1)
    }
}

/// Goal: the file that is left is whole, alone, and readable by a person.
#[test]
fn a_journal_is_one_readable_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let journals = Journals::in_folder(folder.path().join("not/there/yet"));
    assert!(journals.all().expect("no folder is no journal").is_empty());
    let claim = journals.claim(&identity("S1")).expect("free");
    claim.write(&journal("S1")).expect("written");
    let text = std::fs::read_to_string(claim.place()).expect("there");
    assert!(
        text.contains(r#""setting": "power_state""#) && text.contains(r#""found": "0x00000000""#),
        "{text}"
    );
    assert_eq!(claim.read().expect("readable"), Some(journal("S1")));
    let all = journals.all().expect("readable");
    assert_eq!(all.len(), 1);
    assert!(all[0].held && all[0].place.contains("Some_Drive_1TB-S1-"), "{:?}", all[0]);
    let left = std::fs::read_dir(folder.path().join("not/there/yet")).expect("there").count();
    assert_eq!(left, 2, "the journal and its lock");
    claim.remove().expect("removed");
    claim.remove().expect("removed already");
    assert!(journals.all().expect("readable").is_empty());
}

/// Goal: whoever is killed while writing leaves no litter for good. Method: what such a process leaves, then the next claim.
#[test]
fn what_never_became_a_journal_goes_with_the_next_claim() {
    let folder = tempfile::tempdir().expect("a folder");
    let journals = Journals::in_folder(folder.path());
    let place = journals.claim(&identity("S1")).expect("free").place();
    let unfinished = format!("{place}.new");
    std::fs::write(&unfinished, "{\"sch").expect("written");
    assert!(journals.all().expect("readable").is_empty(), "half a journal is none");
    let claim = journals.claim(&identity("S1")).expect("free");
    assert_eq!(claim.read().expect("readable"), None);
    assert!(!std::path::Path::new(&unfinished).exists(), "swept");
}

/// Somebody else's process has the lock: another open file of the same name stands for it.
#[test]
fn a_lock_holds_between_processes_and_goes_with_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let (here, there) = (Journals::in_folder(folder.path()), Journals::in_folder(folder.path()));
    let claim = there.claim(&identity("S1")).expect("free");
    let error = here.claim(&identity("S1")).expect_err("taken");
    assert!(error.to_string().contains("another heatsoak"), "{error}");
    here.claim(&identity("S2")).expect("another drive");
    drop(claim);
    here.claim(&identity("S1")).expect("free again");
}

#[test]
fn what_cannot_be_read_is_no_journal_that_is_not_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let journals = Journals::in_folder(folder.path());
    let claim = journals.claim(&identity("S1")).expect("free");
    for text in ["", "{", "[]", "{\"schema\": 1}"] {
        std::fs::write(claim.place(), text).expect("written");
        let error = claim.refuse_interrupted("/dev/nvme0").expect_err("not readable").to_string();
        assert!(error.contains("power cycle"), "{error}");
    }
    let mut newer = serde_json::to_value(journal("S1")).expect("a value");
    newer["schema"] = 2.into();
    std::fs::write(claim.place(), newer.to_string()).expect("written");
    assert!(claim.read().expect_err("newer").to_string().contains("of version 2"));
}

#[test]
fn drives_have_files_of_their_own() {
    let stems: std::collections::BTreeSet<String> = [
        identity("S/1"),
        identity("S_1"),
        identity("S 1"),
        identity(""),
        JournalIdentity { subsystem_nqn: Some("nqn.a".to_owned()), ..identity("S_1") },
        JournalIdentity { model: "Some".to_owned(), ..identity(" Drive 1TB") },
    ]
    .iter()
    .map(JournalIdentity::file_stem)
    .collect();
    assert_eq!(stems.len(), 6);
    assert!(stems.iter().all(|stem| !stem.contains(['/', '.', ' '])), "{stems:?}");
}

/// A folder that cannot be written refuses the change, and says where to put the journal instead.
#[test]
fn no_folder_no_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("written");
    let error = Journals::in_folder(file.join("state")).claim(&identity("S1")).expect_err("no folder");
    assert!(error.to_string().contains(STATE_DIR_ENV), "{error}");
}
