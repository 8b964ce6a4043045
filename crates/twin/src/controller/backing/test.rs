//! Both kinds of storage against a plain vector.

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
        let backing = Backing::file(&folder.path().join("data"), LEN).expect("a file");
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
fn a_file_that_is_there_keeps_its_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("data");
    Backing::file(&path, LEN).expect("a file").write_at(5, b"kept").expect("in range");
    let again = Backing::file(&path, 2 * LEN).expect("the same file");
    let mut read = [0; 4];
    again.read_at(5, &mut read).expect("in range");
    assert_eq!(&read, b"kept");
    assert!(Backing::file(folder.path(), LEN).is_err(), "a folder is no file");
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
