//! The entries of the fuzz targets, run here on noise and on spoilt good pages.
//!
//! Goal: the entries compile and their laws hold in every test run, without a fuzzing engine.

#[expect(unreachable_pub, reason = "public in the crate it belongs to")]
#[path = "../../../fuzz/src/nvme.rs"]
mod entries;

use std::path::PathBuf;

use proptest::prelude::*;

/// The good pages of the golden tests, by name.
fn good_pages() -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/nvme/good");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("a file").path()).collect();
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

/// Every entry has its target, and every target its entry.
#[test]
fn targets_and_entries_are_the_same() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let files = std::fs::read_dir(folder).expect("the folder");
    let mut targets: Vec<String> = files
        .map(|entry| entry.expect("a file").path())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .filter(|name| name.starts_with("nvme_"))
        .collect();
    targets.sort();
    let mut entries: Vec<_> = entries::ENTRIES.iter().map(|(name, _)| (*name).to_owned()).collect();
    entries.sort();
    assert_eq!(targets, entries);
}

#[test]
fn entries_hold_on_good_pages_and_on_nothing() {
    for (_, entry) in entries::ENTRIES {
        entry(&[]);
        good_pages().iter().for_each(|page| entry(page));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn entries_hold_on_noise(noise in prop::collection::vec(any::<u8>(), 0..5000)) {
        for (_, entry) in entries::ENTRIES {
            entry(&noise);
        }
    }

    /// Cut short and with some bytes changed: closer to what a broken drive sends.
    #[test]
    fn entries_hold_on_spoilt_pages(
        which in any::<prop::sample::Index>(),
        length in any::<prop::sample::Index>(),
        spoilt in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
    ) {
        let pages = good_pages();
        let mut page = which.get(&pages).clone();
        page.truncate(length.index(page.len() + 1));
        for (at, byte) in spoilt {
            if !page.is_empty() {
                let at = at.index(page.len());
                page[at] = byte;
            }
        }
        for (_, entry) in entries::ENTRIES {
            entry(&page);
        }
    }
}
