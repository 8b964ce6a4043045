//! Both kinds of storage against a plain vector.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use proptest::prelude::*;

use super::memory::CHUNK_BYTES;
use super::*;

const LEN: u64 = 4 * CHUNK_BYTES as u64;

#[derive(Clone, Debug)]
enum Act {
    Write(u64, Vec<u8>),
    Zero(u64, u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let span = (0..LEN).prop_flat_map(|from| (Just(from), 0..=(LEN - from).min(100_000)));
    let write = (span.clone(), 1_u8..).prop_map(|((from, len), byte)| {
        let data = (0..len).map(|index| byte.wrapping_add(index as u8 / 3)).collect();
        Act::Write(from, data)
    });
    prop::collection::vec(prop_oneof![write, span.prop_map(|(from, len)| Act::Zero(from, len))], 1..12)
}

fn same_as_a_vector(backing: &Backing, acts: &[Act]) {
    let mut plain = vec![0; LEN as usize];
    for act in acts {
        match act {
            Act::Write(from, data) => {
                backing.write_at(*from, data).expect("in range");
                plain[*from as usize..][..data.len()].copy_from_slice(data);
            }
            Act::Zero(from, len) => {
                backing.zero(*from, *len).expect("in range");
                plain[*from as usize..][..*len as usize].fill(0);
            }
        }
    }
    let mut read = vec![0xee; LEN as usize];
    backing.read_at(0, &mut read).expect("in range");
    assert!(read == plain, "what was written is what is read");
    if let Some(pieces) = backing.pieces(1, LEN as usize - 2).expect("in range") {
        assert!(joined(&pieces) == plain[1..plain.len() - 1]);
    }
}

/// A file that heatsoak made, or that is new.
fn file(path: &Path, len_bytes: u64) -> Result<Backing, String> {
    let options = BackingFile { path: path.to_owned(), overwrite: false };
    Backing::file(&options, "ssd1-test", len_bytes).map_err(|error| error.to_string())
}

fn joined(pieces: &[ChunkPiece]) -> Vec<u8> {
    pieces.iter().flat_map(|piece| piece.iter().copied()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn memory_keeps_what_was_written(acts in acts()) {
        same_as_a_vector(&Backing::memory(LEN, LEN), &acts);
    }

    #[test]
    fn a_file_keeps_what_was_written(acts in acts()) {
        let folder = tempfile::tempdir().expect("a folder");
        let backing = file(&folder.path().join("data"), LEN).expect("a file");
        same_as_a_vector(&backing, &acts);
    }
}

#[test]
fn memory_is_taken_by_writes_and_given_back_by_zeros() {
    let chunk = CHUNK_BYTES as u64;
    // Sixteen terabytes: nothing is made until it is written to.
    let backing = Backing::memory(1 << 44, 2 * chunk);
    assert_eq!(backing.used_bytes().expect("known"), 0);
    backing.write_at(chunk - 1, &[1, 2]).expect("two chunks");
    let full = backing.write_at(1 << 43, &[3]).expect_err("a third is beyond the limit");
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    let held = backing.pieces(chunk - 1, 2).expect("in range").expect("memory");
    backing.zero(0, 1 << 44).expect("all of it");
    assert_eq!(backing.used_bytes().expect("known"), 0);
    assert_eq!(joined(&held), [1, 2], "what was read stays as it was");
    backing.write_at((1 << 44) - 1, &[3]).expect("there is room again");
    assert!(backing.write_at((1 << 44) - 1, &[3, 4]).is_err(), "past the end");
}

#[test]
fn a_file_that_heatsoak_made_keeps_its_data_its_name_and_its_tail() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data");
    file(&path, LEN).expect("a file").write_at(5, b"kept").expect("in range");
    assert_eq!(fs::metadata(&path).expect("made").permissions().mode() & 0o777, 0o600, "nobody else's");
    assert_eq!(backing_name(&path).as_deref(), Some("ssd1-test"));
    for len in [2 * LEN, LEN] {
        let again = file(&path, len).expect("the same file");
        let mut read = [0; 4];
        again.read_at(5, &mut read).expect("in range");
        assert_eq!((&read, again.len_bytes()), (b"kept", len));
        assert_eq!(fs::metadata(&path).expect("there").len(), 2 * LEN);
    }
}

/// Goal: nobody's data are lost. Method: a file with data in it, one that was copied over ours, links, a folder, a
/// pipe; none of them is changed.
#[test]
fn a_file_that_heatsoak_did_not_make_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, link) = (folder.path().join("letters"), folder.path().join("link"));
    fs::write(&path, "dear reader").expect("room");
    let why = file(&path, LEN).expect_err("somebody's");
    assert!(why.contains("did not make;") && why.contains("--overwrite"), "{why}");
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    assert!(file(&link, LEN).expect_err("a link").contains("symbolic link"));
    assert!(file(folder.path(), LEN).expect_err("a folder").contains("a folder"));
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe"), rustix::fs::Mode::RWXU)
        .expect("a pipe");
    assert!(file(&folder.path().join("pipe"), LEN).expect_err("a pipe").contains("regular file"));
    assert_eq!(fs::read(&path).expect("there"), b"dear reader");

    let ours = folder.path().join("ours");
    drop(file(&ours, LEN).expect("made"));
    fs::write(&ours, "copied over it").expect("room");
    let why = file(&ours, LEN).expect_err("somebody's by now");
    assert!(why.contains("heatsoak made it 256 KiB, now it is 14 B"), "{why}");
    assert_eq!(fs::read(&ours).expect("there"), b"copied over it");
}

#[test]
fn a_file_that_was_given_away_has_to_be_given_away_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("image");
    fs::write(&path, "an image").expect("room");
    let given = BackingFile { path: path.clone(), overwrite: true };
    let backing = Backing::file(&given, "ssd1-test", LEN).expect("given away");
    let mut read = [0; 8];
    backing.read_at(0, &mut read).expect("in range");
    assert_eq!((&read, backing.is_marked()), (b"an image", false), "its data are served");
    drop(backing);
    file(&path, LEN).expect_err("not marked");
    // In an empty file there is nothing to lose.
    let empty = folder.path().join("empty");
    File::create(&empty).expect("made");
    assert!(file(&empty, LEN).expect("nobody's").is_marked());
}

#[test]
fn one_file_is_one_drive() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data");
    let first = file(&path, LEN).expect("made");
    assert!(file(&path, LEN).expect_err("in use").contains("locked"));
    drop(first);
    file(&path, LEN).expect("free again");
}

#[test]
fn what_is_being_read_is_not_changed_by_writes() {
    let chunk = CHUNK_BYTES as u64;
    let backing = Backing::memory(LEN, LEN);
    backing.write_at(0, &vec![1; 2 * CHUNK_BYTES]).expect("in range");
    let held = backing.pieces(0, 2 * CHUNK_BYTES).expect("in range").expect("memory");
    // A part of the first chunk and the whole second.
    backing.write_at(chunk - 4, &vec![2; CHUNK_BYTES + 4]).expect("in range");
    assert!(joined(&held).iter().all(|byte| *byte == 1));
    let mut read = vec![0; 2 * CHUNK_BYTES];
    backing.read_at(0, &mut read).expect("in range");
    assert!(read[..CHUNK_BYTES - 4].iter().all(|byte| *byte == 1));
    assert!(read[CHUNK_BYTES - 4..].iter().all(|byte| *byte == 2));
    assert_eq!(backing.used_bytes().expect("known"), 2 * chunk);
}
