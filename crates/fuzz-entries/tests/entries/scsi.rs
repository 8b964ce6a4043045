//! The entries of the fuzz targets of this crate, run here on noise and on spoilt answers of real drives.
//!
//! Goal: the entries compile and their laws hold in every test run, without a fuzzing engine.

use crate::shared::{assert_targets, at, enter_all, spoilt};
use entries::ENTRIES;
use fuzz_entries::scsi as entries;
use proptest::prelude::*;

/// Every answer of the recorded drives.
fn answers() -> Vec<Vec<u8>> {
    let mut files: Vec<_> = std::fs::read_dir(at("fixtures/scsi"))
        .expect("the folder")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "hex"))
        .collect();
    files.sort();
    let texts = files.iter().map(|path| std::fs::read_to_string(path).expect("a readable file"));
    let mut answers = Vec::new();
    for text in texts {
        for answer in text.split('[').skip(1).filter_map(|section| section.split_once(']')) {
            let bytes = answer.1.split_whitespace();
            answers.push(bytes.map(|byte| u8::from_str_radix(byte, 16).expect("hexadecimal")).collect());
        }
    }
    answers
}

#[test]
fn targets_and_entries_are_the_same() {
    assert_targets(&["scsi_", "device_"], ENTRIES);
}

#[test]
fn entries_hold_on_good_answers_and_on_nothing() {
    assert_eq!(answers().len(), 21);
    enter_all(ENTRIES, &[]);
    answers().iter().for_each(|answer| enter_all(ENTRIES, answer));
}

proptest! {
    #[test]
    fn entries_hold_on_noise(noise in prop::collection::vec(any::<u8>(), 0..5000)) {
        enter_all(ENTRIES, &noise);
    }

    #[test]
    fn entries_hold_on_spoilt_answers(answer in spoilt(answers())) {
        enter_all(ENTRIES, &answer);
    }
}
