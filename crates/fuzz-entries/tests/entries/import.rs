//! The entries of the fuzz targets of the importers, run here on noise and on spoilt logs.
//!
//! Goal: the entries compile and their laws hold in every test run, without a fuzzing engine.

use std::path::{Path, PathBuf};

use crate::shared::{assert_targets, at, enter_all, spoilt};
use entries::ENTRIES;
use fuzz_entries::import as entries;
use proptest::prelude::*;

/// All logs of the golden tests, good and bad.
fn logs() -> Vec<Vec<u8>> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { collect(&path, found) } else { found.push(path) }
        }
    }
    let mut files = Vec::new();
    collect(&at("fixtures/import"), &mut files);
    files.sort();
    files.iter().map(|file| std::fs::read(file).expect("a readable file")).collect()
}

#[test]
fn targets_and_entries_are_the_same() {
    assert_targets(&["import_"], ENTRIES);
}

#[test]
fn entries_hold_on_all_logs_and_on_nothing() {
    enter_all(ENTRIES, &[]);
    logs().iter().for_each(|log| enter_all(ENTRIES, log));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn entries_hold_on_noise(noise in prop::collection::vec(any::<u8>(), 0..2000)) {
        enter_all(ENTRIES, &noise);
    }

    /// Rows of whole numbers of every size: what a log of fio is made of.
    #[test]
    fn entries_hold_on_rows_of_numbers(
        rows in prop::collection::vec(
            prop::collection::vec(prop_oneof![0u64..4, 0u64..100_000, any::<u64>()], 4..9), 0..60),
    ) {
        let text: String = rows.iter().map(|row| {
            let cells: Vec<String> = row.iter().map(u64::to_string).collect();
            cells.join(", ") + "\n"
        }).collect();
        entries::fio_log(text.as_bytes());
        entries::any(text.as_bytes());
    }

    /// As a broken disk or a hasty script makes them, and with some lines twice.
    #[test]
    fn entries_hold_on_spoilt_logs(log in spoilt(logs()), twice in any::<prop::sample::Index>()) {
        let mut doubled = log.clone();
        doubled.extend_from_slice(&log[twice.index(log.len() + 1)..]);
        enter_all(ENTRIES, &log);
        enter_all(ENTRIES, &doubled);
    }
}
