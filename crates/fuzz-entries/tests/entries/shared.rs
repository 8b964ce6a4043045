//! What the tests of all entries share: the recorded inputs, spoiling them, and entering.

use std::path::PathBuf;

use fuzz_entries::FuzzEntry;
use proptest::prelude::*;
use proptest::sample::Index;

/// A file or folder of the workspace.
pub(crate) fn at(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Every entry has its target, and every target whose name begins with one of these its entry.
pub(crate) fn assert_targets(prefixes: &[&str], entries: &[FuzzEntry]) {
    let files = std::fs::read_dir(at("fuzz/fuzz_targets")).expect("the folder");
    let mut targets: Vec<String> = files
        .map(|entry| entry.expect("a file").path())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    targets.sort();
    let mut entries: Vec<_> = entries.iter().map(|(name, _)| (*name).to_owned()).collect();
    entries.sort();
    assert_eq!(targets, entries);
}

/// All entries on the same bytes.
pub(crate) fn enter_all(entries: &[FuzzEntry], bytes: &[u8]) {
    for (_, entry) in entries {
        entry(bytes);
    }
}

/// One of `good`, cut short and with some bytes changed: closer to what a broken drive, disk or script makes than noise.
pub(crate) fn spoilt(good: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![any::<u8>(), Just(b'0'), Just(b'9'), Just(b'-')];
    let changes = prop::collection::vec((any::<Index>(), byte), 0..20);
    (any::<Index>(), any::<Index>(), changes).prop_map(move |(which, length, changes)| {
        let mut bytes = which.get(&good).clone();
        bytes.truncate(length.index(bytes.len() + 1));
        for (at, byte) in changes {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        bytes
    })
}
