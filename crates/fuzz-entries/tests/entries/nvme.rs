//! The entries of the fuzz targets, run here on noise and on spoilt good pages.
//!
//! Goal: the entries compile and their laws hold in every test run, without a fuzzing engine.

use crate::shared::{assert_targets, at, enter_all, spoilt};
use entries::ENTRIES;
use fuzz_entries::nvme as entries;
use nvme::auth::{AuthMessage, Challenge, FailureReason, HashFunction, Negotiate, Reply};
use proptest::prelude::*;

/// The good pages of the golden tests, by name.
fn good_pages() -> Vec<Vec<u8>> {
    let folder = std::fs::read_dir(at("fixtures/nvme/good")).expect("the folder");
    let mut files: Vec<_> = folder.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files.iter().map(|path| page(&std::fs::read_to_string(path).expect("a readable file"))).collect()
}

/// A page as the golden tests read it.
fn page(text: &str) -> Vec<u8> {
    let number = |text: &str| usize::from_str_radix(text, 16).expect("hexadecimal");
    let length = text.lines().next().and_then(|line| line.strip_prefix("length ")).expect("a length");
    let mut page = vec![0; length.parse().expect("a number")];
    for (offset, rest) in text.lines().filter_map(|line| line.split_once(": ")) {
        let bytes = rest.split('#').next().expect("always one").split_whitespace();
        for (index, byte) in bytes.enumerate() {
            page[number(offset) + index] = number(byte) as u8;
        }
    }
    page
}

#[test]
fn targets_and_entries_are_the_same() {
    assert_targets(&["nvme_"], ENTRIES);
}

#[test]
fn entries_hold_on_good_pages_and_on_nothing() {
    enter_all(ENTRIES, &[]);
    good_pages().iter().for_each(|page| enter_all(ENTRIES, page));
}

/// One message of each kind, sound and addressed to the exchanges of the entry.
fn messages() -> Vec<Vec<u8>> {
    let (hash, values) = (HashFunction::Sha256, vec![9; 32]);
    let all = [
        AuthMessage::Negotiate(Negotiate {
            transaction: 7,
            secure_channel: 0,
            hashes: HashFunction::ALL.map(HashFunction::id).to_vec(),
            groups: vec![0, 1],
        }),
        AuthMessage::Challenge(Challenge {
            transaction: 7,
            hash: hash.id(),
            group: 0,
            sequence: 1,
            challenge: values.clone(),
            dh_value: Vec::new(),
        }),
        AuthMessage::Reply(Reply {
            transaction: 7,
            response: values.clone(),
            challenge: Some((values.clone(), 1)),
            dh_value: Vec::new(),
        }),
        AuthMessage::Success1 { transaction: 7, hash_len: 32, response: Some(values) },
        AuthMessage::Success2 { transaction: 7 },
        AuthMessage::Failure1 { transaction: 7, reason: FailureReason::HASH },
        AuthMessage::Failure2 { transaction: 7, reason: FailureReason::FAILED },
    ];
    all.iter().map(AuthMessage::encode).collect()
}

#[test]
fn messages_of_authentication_let_nobody_in() {
    messages().iter().for_each(|message| entries::auth(message));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn spoilt_messages_of_authentication_let_nobody_in(message in spoilt(messages())) {
        entries::auth(&message);
    }

    #[test]
    fn entries_hold_on_noise(noise in prop::collection::vec(any::<u8>(), 0..5000)) {
        enter_all(ENTRIES, &noise);
    }

    #[test]
    fn entries_hold_on_spoilt_pages(page in spoilt(good_pages())) {
        enter_all(ENTRIES, &page);
    }
}
