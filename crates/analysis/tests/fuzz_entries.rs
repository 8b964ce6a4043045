//! The entries of the fuzz targets of the importers, run here on noise and on spoilt logs.
//!
//! Goal: the entries compile and their laws hold in every test run, without a fuzzing engine.

#[expect(unreachable_pub, reason = "public in the crate it belongs to")]
#[path = "../../../fuzz/src/import.rs"]
mod entries;

use std::path::{Path, PathBuf};

use proptest::prelude::*;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All logs of the golden tests, good and bad.
fn logs() -> Vec<Vec<u8>> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { collect(&path, found) } else { found.push(path) }
        }
    }
    let mut files = Vec::new();
    collect(&root().join("fixtures/import"), &mut files);
    files.sort();
    files.iter().map(|file| std::fs::read(file).expect("a readable file")).collect()
}

/// Every entry has its target, and every target its entry.
#[test]
fn targets_and_entries_are_the_same() {
    let files = std::fs::read_dir(root().join("fuzz/fuzz_targets")).expect("the folder");
    let mut targets: Vec<String> = files
        .map(|entry| entry.expect("a file").path())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .filter(|name| name.starts_with("import_"))
        .collect();
    targets.sort();
    let mut entries: Vec<_> = entries::ENTRIES.iter().map(|(name, _)| (*name).to_owned()).collect();
    entries.sort();
    assert_eq!(targets, entries);
}

#[test]
fn entries_hold_on_all_logs_and_on_nothing() {
    for (_, entry) in entries::ENTRIES {
        entry(&[]);
        logs().iter().for_each(|log| entry(log));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn entries_hold_on_noise(noise in prop::collection::vec(any::<u8>(), 0..2000)) {
        for (_, entry) in entries::ENTRIES {
            entry(&noise);
        }
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

    /// Cut short, with some bytes changed, with some lines twice: closer to what a broken disk or a hasty script makes.
    #[test]
    fn entries_hold_on_spoilt_logs(
        which in any::<prop::sample::Index>(),
        length in any::<prop::sample::Index>(),
        spoilt in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![any::<u8>(), Just(b'0'), Just(b'9'), Just(b'-')]), 0..12),
        twice in any::<prop::sample::Index>(),
    ) {
        let logs = logs();
        let mut log = which.get(&logs).clone();
        log.truncate(length.index(log.len() + 1));
        for (at, byte) in spoilt {
            if !log.is_empty() {
                let at = at.index(log.len());
                log[at] = byte;
            }
        }
        let again = twice.index(log.len() + 1);
        let mut doubled = log.clone();
        doubled.extend_from_slice(&log[again..]);
        for (_, entry) in entries::ENTRIES {
            entry(&log);
            entry(&doubled);
        }
    }
}
