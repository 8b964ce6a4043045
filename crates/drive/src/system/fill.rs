//! Fills the parts of a file that were never written, before a plan reads them.
//!
//! A hole is read without asking the drive: the file system answers with zeroes at the speed of memory.
//! What is filled is random, through the page cache, made stable, and then dropped from the cache.

use std::fs::File;
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use measure::{Bytes, Seed, patient};
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};
use rustix::fs::{Advice, SeekFrom};
use rustix::io::Errno;

use super::scratch::ScratchFile;
use crate::drive::FillProgress;
use crate::error::DriveError;
use crate::io::{SECTOR_BYTES, Stamps};

/// What is written at once.
const CHUNK_BYTES: usize = 4 << 20;

/// What may wait in the page cache before it is made stable, so that progress is true.
const STABLE_EVERY_BYTES: u64 = 64 << 20;

/// The parts of `ranges` that were never written.
pub(crate) fn holes(
    target: &ScratchFile,
    file: &File,
    ranges: &[Range<u64>],
) -> Result<Vec<Range<u64>>, DriveError> {
    let seek = |from| match rustix::fs::seek(file, from) {
        Ok(place) => Ok(Some(place)),
        // Behind the last data, or a file system that cannot tell: there it says all is data.
        Err(Errno::NXIO) => Ok(None),
        Err(errno) => Err(target.io("look for holes in", errno.into())),
    };
    let mut holes = Vec::new();
    for range in ranges {
        let mut place = range.start;
        while place < range.end {
            let Some(hole) = seek(SeekFrom::Hole(place))?.filter(|hole| *hole < range.end) else { break };
            let data = seek(SeekFrom::Data(hole))?.map_or(range.end, |data| data.min(range.end));
            holes.push(hole..data);
            place = data;
        }
    }
    Ok(holes)
}

/// Fills `holes` with random bytes, each sector unlike any other.
pub(crate) fn fill(
    target: &ScratchFile,
    file: &File,
    holes: &[Range<u64>],
    seed: Seed,
    progress: &mut FillProgress<'_>,
) -> Result<(), DriveError> {
    let total = Bytes::new(length(holes));
    let mut chunk = vec![0; CHUNK_BYTES];
    Pcg64Mcg::seed_from_u64(seed.as_u64()).fill_bytes(&mut chunk);
    let mut stamps = Stamps::new(seed);
    let (mut done, mut stable) = (0, 0);
    for hole in holes {
        let mut place = hole.start;
        while place < hole.end {
            if progress(Bytes::new(done), total).is_break() {
                return Err(DriveError::Interrupted { path: target.path.clone() });
            }
            let len = (hole.end - place).min(CHUNK_BYTES as u64);
            for sector in chunk.chunks_exact_mut(SECTOR_BYTES) {
                sector[..8].copy_from_slice(&stamps.advance().to_le_bytes());
            }
            file.write_all_at(&chunk[..len as usize], place).map_err(|source| target.io("fill", source))?;
            place += len;
            done += len;
            if done - stable >= STABLE_EVERY_BYTES {
                stable = done;
                patient::sync(file).map_err(|source| target.io("fill", source))?;
            }
        }
    }
    patient::sync(file).map_err(|source| target.io("fill", source))?;
    // What is in the page cache would be read from there. That it stays is no failure of the fill.
    let _ = rustix::fs::fadvise(file, 0, NonZeroU64::new(target.size.as_u64()), Advice::DontNeed);
    let _ = progress(total, total);
    Ok(())
}

/// How much `ranges` are together.
pub(crate) fn length(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

#[cfg(test)]
mod test {
    use std::collections::HashSet;
    use std::ops::ControlFlow;
    use std::os::unix::fs::MetadataExt as _;

    use super::*;
    use crate::address::FileAddress;

    const MIB: u64 = 1 << 20;

    fn target(folder: &tempfile::TempDir, size: u64) -> ScratchFile {
        let path = folder.path().join("t.bin");
        ScratchFile::look(&FileAddress { path, size: Some(Bytes::new(size)), overwrite: false })
            .expect("a size")
    }

    /// Goal: holes are filled, data stays, and nothing that was filled can be deduplicated.
    #[test]
    fn holes_are_found_and_filled_and_data_is_left_alone() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let target = target(&folder, 8 * MIB);
        let file = File::create_new(&target.path).expect("a new file");
        file.set_len(8 * MIB).expect("space on disk");
        file.write_all_at(&[7; MIB as usize], 2 * MIB).expect("space on disk");
        let range = MIB..7 * MIB;
        let found = holes(&target, &file, std::slice::from_ref(&range)).expect("a file");
        assert_eq!(found, [MIB..2 * MIB, 3 * MIB..7 * MIB]);

        let file = File::options().read(true).write(true).open(&target.path).expect("the file");
        let mut told = Vec::new();
        let mut progress = |done: Bytes, total: Bytes| {
            told.push((done.as_u64(), total.as_u64()));
            ControlFlow::Continue(())
        };
        fill(&target, &file, &found, Seed::new(1), &mut progress).expect("space on disk");
        assert_eq!(told.last(), Some(&(5 * MIB, 5 * MIB)));
        assert_eq!(holes(&target, &file, std::slice::from_ref(&range)).expect("a file"), []);
        let content = std::fs::read(&target.path).expect("a file");
        let part = |from: u64, to: u64| &content[from as usize..to as usize];
        assert_eq!(part(2 * MIB, 3 * MIB), [7; MIB as usize]);
        assert_eq!((part(0, MIB), part(7 * MIB, 8 * MIB)), (&[0; MIB as usize][..], &[0; MIB as usize][..]));
        let sectors: HashSet<&[u8]> = part(3 * MIB, 7 * MIB).chunks(SECTOR_BYTES).collect();
        assert_eq!(sectors.len(), 4 * MIB as usize / SECTOR_BYTES, "no sector twice");
        assert!(file.metadata().expect("a file").blocks() * 512 >= 6 * MIB);
    }

    #[test]
    fn filling_can_be_broken_off() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let target = target(&folder, 8 * MIB);
        let file = File::create_new(&target.path).expect("a new file");
        let mut progress = |done: Bytes, _: Bytes| {
            if done > Bytes::ZERO { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let whole = 0..8 * MIB;
        let error = fill(&target, &file, std::slice::from_ref(&whole), Seed::new(1), &mut progress);
        assert!(matches!(error, Err(DriveError::Interrupted { .. })));
    }
}
