//! The entries of the fuzz targets of this crate, run here on noise and on spoilt answers of real drives.
//!
//! Goal: the entries compile and their laws hold in every test run, without a fuzzing engine.

#[expect(unreachable_pub, reason = "public in the crate it belongs to")]
#[path = "../../../fuzz/src/scsi.rs"]
mod entries;

use std::path::PathBuf;

use proptest::prelude::*;

fn at(folder: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)
}

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
fn every_entry_has_its_target() {
    for (name, _) in entries::ENTRIES {
        assert!(at("fuzz/fuzz_targets").join(format!("{name}.rs")).is_file(), "{name}");
    }
}

#[test]
fn entries_hold_on_good_answers_and_on_nothing() {
    assert_eq!(answers().len(), 21);
    for (_, entry) in entries::ENTRIES {
        entry(&[]);
        answers().iter().for_each(|answer| entry(answer));
    }
}

proptest! {
    #[test]
    fn entries_hold_on_noise(noise in prop::collection::vec(any::<u8>(), 0..5000)) {
        for (_, entry) in entries::ENTRIES {
            entry(&noise);
        }
    }

    #[test]
    fn entries_hold_on_spoilt_answers(
        which in any::<prop::sample::Index>(), length in any::<prop::sample::Index>(),
        spoilt in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..10),
    ) {
        let mut answer = which.get(&answers()).clone();
        answer.truncate(length.index(answer.len() + 1));
        for (at, byte) in spoilt {
            if !answer.is_empty() {
                let at = at.index(answer.len());
                answer[at] = byte;
            }
        }
        for (_, entry) in entries::ENTRIES {
            entry(&answer);
        }
    }
}
