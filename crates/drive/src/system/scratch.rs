//! A file that a drive is loaded through: whose it is, how large it becomes, and what is opened.
//!
//! The rules, which `docs/SAFETY.md` explains to people:
//! - Nothing happens to a file until a plan is about to run on it.
//! - A file that heatsoak makes carries a mark: the extended attribute [`MARK`], whose value is the file's size.
//!   Only a marked file of that very size is taken for ours: one that was refilled by somebody else has
//!   nearly always another size. A file in which there is nothing (empty, or all holes) is as good as ours.
//! - What is not ours is never written, extended or filled, unless the address says `overwrite=yes`.
//! - Between looking and opening another file may have come to the path: what was opened is looked at once more.
//! - A file that a loop device lies on is somebody's in use, whoever made it, and nothing permits writing to it.
//! - Files are never shrunk, never removed (except one made a moment ago that did not fit).

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use measure::{Bytes, patient};
use rustix::fs::{AtFlags, CWD, FallocateFlags, FlockOperation, OFlags, SeekFrom, StatxFlags, XattrFlags};
use rustix::io::Errno;

use super::needs::Needs;
use crate::address::FileAddress;
use crate::error::DriveError;
use crate::telemetry::discover::SYSFS;

/// The extended attribute of files that heatsoak has made.
const MARK: &str = "user.heatsoak.scratch";

/// The block of a file whose file system does not tell: the smallest there is.
const BLOCK_BYTES_DEFAULT: u32 = 512;

/// A file, looked at and not touched.
#[derive(Clone, Debug)]
pub(crate) struct ScratchFile {
    pub(crate) path: PathBuf,
    /// How much of it is used.
    pub(crate) size: Bytes,
    /// What sizes and offsets of direct I/O must be multiples of.
    pub(crate) block_bytes: u32,
    /// Whether its file system takes direct I/O, as far as can be told without opening it.
    pub(crate) direct: bool,
    overwrite: bool,
    found: Content,
}

/// What is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    Nothing,
    File {
        len: u64,
        owner: Owner,
        /// Which file it is.
        place: FileId,
    },
}

/// The device of its file system, and its number there.
type FileId = (u64, u64);

/// Whose the content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Ours, or nobody's.
    Ours,
    /// Somebody's, with the size that the mark names if there is one.
    Foreign { marked_len: Option<u64> },
}

/// A file that is ready for load.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) file: File,
    /// Whether its holes may be filled.
    pub(crate) ours: bool,
    pub(crate) note: Option<String>,
}

impl ScratchFile {
    /// Looks at what the address names.
    pub(crate) fn look(address: &FileAddress) -> Result<Self, DriveError> {
        let path = address.path.clone();
        let found = match std::fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                let owner = owner(&path, metadata.len())?;
                Content::File { len: metadata.len(), owner, place: place(&metadata) }
            }
            Ok(metadata) => return Err(wrong_kind(path, &metadata.file_type())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Content::Nothing,
            Err(source) => return Err(DriveError::Io { what: "look at", path, source }),
        };
        let size = match (address.size, found) {
            (Some(size), _) => size,
            (None, Content::File { len, .. }) if len > 0 => Bytes::new(len),
            (None, _) => return Err(DriveError::NoSuchFile { path }),
        };
        let told = match found {
            Content::File { .. } => direct_block_bytes(&path),
            Content::Nothing => device_block_bytes(&path),
        };
        let block_bytes = told.filter(|block| *block > 0).unwrap_or(BLOCK_BYTES_DEFAULT);
        Ok(Self { path, size, block_bytes, direct: told != Some(0), overwrite: address.overwrite, found })
    }

    /// Makes or extends the file as far as the address says so and the rules allow, and opens and locks it.
    pub(crate) fn open(&self, needs: &Needs) -> Result<OpenFile, DriveError> {
        let ours = match self.found {
            Content::Nothing => true,
            Content::File { owner, .. } => owner == Owner::Ours || self.overwrite,
        };
        let len = match self.found {
            Content::Nothing => 0,
            Content::File { len, .. } => len,
        };
        let grows = len < self.size.as_u64();
        if !ours {
            self.refuse_to_touch(needs, grows)?;
        }
        let writable = ours && (needs.changes() || grows || !needs.reads.is_empty());
        let make =
            if self.found == Content::Nothing { OFlags::CREATE | OFlags::EXCL } else { OFlags::empty() };
        let file = patient::open_with(&self.path, access(writable) | make)
            .map_err(|source| self.io("open", source))?;
        self.look_again(&file, writable)?;
        self.lock(&file, writable)?;
        let note = if writable && grows { self.grow(&file, len)? } else { None };
        Ok(OpenFile { file, ours, note })
    }

    /// Whether what was opened is what was looked at, and may still be written to.
    fn look_again(&self, file: &File, writable: bool) -> Result<(), DriveError> {
        let metadata = file.metadata().map_err(|source| self.io("look at", source))?;
        if let Content::File { place: looked_at, .. } = self.found
            && !(metadata.is_file() && place(&metadata) == looked_at)
        {
            return Err(DriveError::Moved { path: self.path.clone() });
        }
        if !writable {
            return Ok(());
        }
        let given = self.overwrite || self.found == Content::Nothing;
        if !given && !ours(file, metadata.len(), mark(file)) {
            return Err(DriveError::Moved { path: self.path.clone() });
        }
        match loop_on(&metadata, Path::new(SYSFS)) {
            Some(name) => Err(DriveError::Attached { path: self.path.clone(), name }),
            None => Ok(()),
        }
    }

    /// Why it must not be written to, if so.
    pub(crate) fn read_only(&self) -> Option<String> {
        let Content::File { owner: Owner::Foreign { .. }, .. } = self.found else { return None };
        (!self.overwrite).then(|| {
            format!(
                "it holds data that heatsoak did not make{}; name another file, or add &overwrite=yes behind its \
                 size if all of it may be destroyed",
                self.refilled()
            )
        })
    }

    /// Why a file that carries our mark is not ours.
    fn refilled(&self) -> String {
        match self.found {
            Content::File { owner: Owner::Foreign { marked_len: Some(marked) }, len, .. } => format!(
                " (heatsoak made it {}, now it is {}: somebody else has written it)",
                Bytes::new(marked),
                Bytes::new(len)
            ),
            _ => String::new(),
        }
    }

    fn refuse_to_touch(&self, needs: &Needs, grows: bool) -> Result<(), DriveError> {
        let what = if needs.writes {
            "write to"
        } else if needs.trims {
            "trim"
        } else if grows {
            "extend"
        } else {
            return Ok(());
        };
        let detail = self.refilled();
        Err(DriveError::Foreign { path: self.path.clone(), what, detail })
    }

    /// One load at a time: another one on the same file would spoil both measurements.
    fn lock(&self, file: &File, exclusive: bool) -> Result<(), DriveError> {
        let operation = if exclusive {
            FlockOperation::NonBlockingLockExclusive
        } else {
            FlockOperation::NonBlockingLockShared
        };
        match rustix::fs::flock(file, operation) {
            // Some network file systems have no locks: nothing is lost by going without.
            Ok(()) | Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(Errno::WOULDBLOCK) => Err(DriveError::InUse { path: self.path.clone() }),
            Err(errno) => Err(self.io("lock", errno.into())),
        }
    }

    /// Gives the file its size, with room on the disk for all of it, and the mark.
    fn grow(&self, file: &File, old_len: u64) -> Result<Option<String>, DriveError> {
        let size = self.size.as_u64();
        // Asked first: trying would fill the disk for everybody until it fails.
        if self.free().is_some_and(|free| free < Bytes::new(size - old_len)) {
            self.undo_grow(file, old_len);
            return Err(self.no_room());
        }
        let grown = match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.set_len(size),
            other => other.map_err(Into::into),
        };
        if let Err(source) = grown {
            self.undo_grow(file, old_len);
            return Err(self.io("extend", source));
        }
        // A file with somebody's data that may be overwritten stays theirs: next time they say so again.
        if matches!(self.found, Content::File { owner: Owner::Foreign { .. }, .. }) {
            return Ok(None);
        }
        match rustix::fs::fsetxattr(file, MARK, size.to_string().as_bytes(), XattrFlags::empty()) {
            Ok(()) => Ok(None),
            Err(errno) => Ok(Some(format!(
                "{} could not be marked as made by heatsoak ({errno}): the next plan that writes to it will ask for \
                 &overwrite=yes",
                self.path.display()
            ))),
        }
    }

    /// Leaves the file as it was; that this fails too is nothing that anybody could do something about.
    fn undo_grow(&self, file: &File, old_len: u64) {
        let _ = match self.found {
            Content::Nothing => std::fs::remove_file(&self.path),
            Content::File { .. } => file.set_len(old_len),
        };
    }

    /// What is free on the file system, where it says so.
    fn free(&self) -> Option<Bytes> {
        let stat = rustix::fs::statvfs(parent(&self.path)).ok()?;
        Some(Bytes::new(stat.f_bavail.saturating_mul(stat.f_frsize)))
    }

    fn no_room(&self) -> DriveError {
        let free = self.free().unwrap_or(Bytes::ZERO);
        DriveError::NoRoom { path: self.path.clone(), size: self.size, free }
    }

    /// The error of a system call on this file.
    pub(crate) fn io(&self, what: &'static str, source: io::Error) -> DriveError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => self.no_room(),
            _ => DriveError::Io { what, path: self.path.clone(), source },
        }
    }

    /// Opens it once more, past the page cache, if it still is the file that was `opened`.
    pub(crate) fn open_direct(&self, opened: &File, writable: bool) -> Result<File, DriveError> {
        let direct = patient::open_with(&self.path, access(writable) | OFlags::DIRECT)
            .map_err(|source| direct_error(&self.path, source))?;
        let place_of = |file: &File| file.metadata().map(|metadata| place(&metadata));
        let same = place_of(&direct)
            .and_then(|direct| place_of(opened).map(|opened| opened == direct))
            .map_err(|source| self.io("look at", source))?;
        if same { Ok(direct) } else { Err(DriveError::Moved { path: self.path.clone() }) }
    }
}

const fn access(writable: bool) -> OFlags {
    if writable { OFlags::RDWR } else { OFlags::RDONLY }
}

fn place(metadata: &std::fs::Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

/// The loop device that reads and writes through a file (sysfs-block-loop), as far as its path can be seen from here.
fn loop_on(file: &std::fs::Metadata, sysfs: &Path) -> Option<String> {
    let devices = std::fs::read_dir(sysfs.join("block")).ok()?;
    let backed = devices.filter_map(Result::ok).find(|device| {
        let path = std::fs::read_to_string(device.path().join("loop/backing_file")).unwrap_or_default();
        std::fs::metadata(path.trim_end_matches('\n')).is_ok_and(|backing| place(&backing) == place(file))
    })?;
    Some(backed.file_name().to_string_lossy().into_owned())
}

/// `EINVAL` from open(2) with O_DIRECT: the file system does not have it.
fn direct_error(path: &Path, source: io::Error) -> DriveError {
    if source.raw_os_error() == Some(Errno::INVAL.raw_os_error()) {
        return DriveError::NoDirect { path: path.to_owned() };
    }
    DriveError::Io { what: "open past the page cache", path: path.to_owned(), source }
}

/// Whose the content of the file is.
fn owner(path: &Path, len: u64) -> Result<Owner, DriveError> {
    let mut value = [0u8; 32];
    // A file that cannot be read, or a file system without attributes, has no mark.
    let read = rustix::fs::getxattr(path, MARK, &mut value).ok();
    let marked_len = read.and_then(|read| decode_mark(value.get(..read)?));
    if len == 0 || marked_len == Some(len) {
        return Ok(Owner::Ours);
    }
    let file =
        File::open(path).map_err(|source| DriveError::Io { what: "open", path: path.to_owned(), source })?;
    Ok(if ours(&file, len, marked_len) { Owner::Ours } else { Owner::Foreign { marked_len } })
}

/// The size that the mark of an open file names.
fn mark(file: &File) -> Option<u64> {
    let mut value = [0u8; 32];
    let read = rustix::fs::fgetxattr(file, MARK, &mut value).ok()?;
    decode_mark(value.get(..read)?)
}

fn decode_mark(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// Whether an open file of `len` bytes is one of ours, or has nothing in it but holes.
fn ours(file: &File, len: u64, marked_len: Option<u64>) -> bool {
    // Where the file system cannot tell, there is data.
    let empty = || rustix::fs::seek(file, SeekFrom::Data(0)) == Err(Errno::NXIO);
    len == 0 || marked_len == Some(len) || empty()
}

/// What direct I/O on an existing file must be aligned to; 0 where the file has none
/// (statx(2), STATX_DIOALIGN, Linux 6.1).
pub(crate) fn direct_block_bytes(path: &Path) -> Option<u32> {
    match rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN) {
        Ok(stat) if stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0 => Some(stat.stx_dio_offset_align),
        _ => device_block_bytes(path),
    }
}

/// The logical block size of the device under the folder in which a file lies or will lie.
fn device_block_bytes(path: &Path) -> Option<u32> {
    let stat = std::fs::metadata(parent(path)).ok()?;
    let (major, minor) = (rustix::fs::major(stat.dev()), rustix::fs::minor(stat.dev()));
    let device = format!("/sys/dev/block/{major}:{minor}");
    // A partition has no queue of its own; its disk is the folder above.
    ["queue/logical_block_size", "../queue/logical_block_size"]
        .into_iter()
        .find_map(|file| std::fs::read_to_string(Path::new(&device).join(file)).ok())?
        .trim()
        .parse()
        .ok()
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn wrong_kind(path: PathBuf, kind: &std::fs::FileType) -> DriveError {
    let (what, advice) = if kind.is_dir() {
        ("a folder", format!("name a file in it: file:{}?size=4GiB", path.join("heatsoak.bin").display()))
    } else if kind.is_block_device() {
        ("a block device", format!("write {} without \"file:\"", path.display()))
    } else {
        ("not a regular file", "name a regular file".to_owned())
    };
    DriveError::WrongKind { path, what, advice }
}

#[cfg(test)]
mod test {
    use std::fs;

    use super::*;

    const MIB: u64 = 1 << 20;

    /// A scratch folder with a file `t.bin` in it that may be anything.
    struct Scratch(tempfile::TempDir);

    impl Scratch {
        fn new() -> Self {
            Self(tempfile::tempdir().expect("a scratch folder"))
        }

        fn path(&self) -> PathBuf {
            self.0.path().join("t.bin")
        }

        fn look(&self, size: Option<u64>, overwrite: bool) -> Result<ScratchFile, DriveError> {
            let size = size.map(Bytes::new);
            ScratchFile::look(&FileAddress { path: self.path(), size, overwrite })
        }

        /// What becomes of a plan that needs `needs`.
        fn open(&self, size: Option<u64>, overwrite: bool, needs: &Needs) -> Result<bool, String> {
            let target = self.look(size, overwrite).map_err(|error| error.to_string())?;
            target.open(needs).map(|opened| opened.ours).map_err(|error| error.to_string())
        }

        fn len(&self) -> u64 {
            fs::metadata(self.path()).expect("a file").len()
        }

        fn fill(&self, len: u64) {
            fs::write(self.path(), vec![7; len as usize]).expect("space on disk");
        }
    }

    fn writes() -> Needs {
        Needs { writes: true, buffered: true, ..Needs::default() }
    }

    fn reads() -> Needs {
        Needs { reads: std::iter::once(0..MIB).collect(), buffered: true, ..Needs::default() }
    }

    #[test]
    fn a_missing_file_is_made_as_large_as_said_and_not_otherwise() {
        let scratch = Scratch::new();
        let why = scratch.open(None, false, &writes()).expect_err("no size");
        assert!(why.contains("does not exist; to have it made, say how large"), "{why}");
        let target = scratch.look(Some(3 * MIB), false).expect("a size");
        assert!(!scratch.path().exists(), "looking touches nothing");
        drop(target.open(&writes()).expect("made"));
        assert_eq!(scratch.len(), 3 * MIB);
    }

    /// Goal: the plain case twice in a row, with another tool writing the same file in between.
    #[test]
    fn what_heatsoak_made_it_uses_again_until_somebody_changes_its_size() {
        let scratch = Scratch::new();
        for _ in 0..2 {
            assert_eq!(scratch.open(Some(2 * MIB), false, &writes()), Ok(true));
            let other = File::options().write(true).open(scratch.path()).expect("the file");
            std::os::unix::fs::FileExt::write_all_at(&other, &[9; MIB as usize], MIB / 2)
                .expect("space on disk");
        }
        assert_eq!(scratch.open(Some(4 * MIB), false, &writes()), Ok(true), "extended as said");
        assert_eq!((scratch.len(), scratch.open(None, false, &writes())), (4 * MIB, Ok(true)));
        assert_eq!(scratch.open(Some(MIB), false, &writes()), Ok(true), "a part of it");
        assert_eq!(scratch.len(), 4 * MIB, "never shrunk");
        scratch.fill(MIB);
        let why = scratch.open(Some(MIB), false, &writes()).expect_err("somebody else's now");
        assert!(why.contains("heatsoak made it 4 MiB, now it is 1 MiB"), "{why}");
    }

    /// Goal: nobody's data is lost. Method: everything that a plan may want of somebody's file.
    #[test]
    fn somebodys_file_is_read_and_nothing_else() {
        let scratch = Scratch::new();
        scratch.fill(MIB);
        let content = fs::read(scratch.path()).expect("a file");
        for (size, needs, verb) in [
            (Some(MIB), writes(), "write to"),
            (None, Needs { trims: true, ..Needs::default() }, "trim"),
            (Some(2 * MIB), reads(), "extend"),
        ] {
            let why = scratch.open(size, false, &needs).expect_err("somebody's");
            assert!(why.starts_with(&format!("will not {verb} ")) && why.contains("&overwrite=yes"), "{why}");
        }
        assert!(scratch.look(None, false).expect("a file").read_only().is_some());
        let opened = scratch.look(None, false).expect("a file").open(&reads()).expect("reading is harmless");
        assert!(!opened.ours);
        assert!(
            std::os::unix::fs::FileExt::write_at(&opened.file, b"x", 0).is_err(),
            "opened for reading only"
        );
        assert_eq!(fs::read(scratch.path()).expect("a file"), content);
    }

    #[test]
    fn overwrite_holds_for_the_run_that_says_so() {
        let scratch = Scratch::new();
        scratch.fill(MIB);
        assert_eq!(scratch.open(Some(MIB), true, &writes()), Ok(true));
        assert_eq!(scratch.open(Some(2 * MIB), true, &writes()), Ok(true));
        assert!(scratch.open(Some(2 * MIB), false, &writes()).is_err());
    }

    #[test]
    fn a_file_with_nothing_in_it_is_as_good_as_ours() {
        let scratch = Scratch::new();
        scratch.fill(0);
        assert_eq!(scratch.open(Some(MIB), false, &writes()), Ok(true));
        let sparse = Scratch::new();
        File::create(sparse.path()).and_then(|file| file.set_len(MIB)).expect("space on disk");
        assert_eq!(sparse.open(None, false, &writes()), Ok(true));
    }

    #[test]
    fn a_file_that_does_not_fit_is_refused_and_leaves_nothing() {
        let scratch = Scratch::new();
        let why = scratch.open(Some(1 << 60), false, &writes()).expect_err("no room");
        assert!(why.contains("1048576 TiB large: ") && why.contains("are free"), "{why}");
        assert!(!scratch.path().exists());
    }

    #[test]
    fn a_file_under_load_is_not_loaded_twice() {
        let scratch = Scratch::new();
        let first = scratch.look(Some(MIB), false).expect("a size").open(&writes()).expect("free");
        let why = scratch.open(Some(MIB), false, &writes()).expect_err("locked");
        assert!(why.contains("another process has locked it"), "{why}");
        drop(first);
        assert_eq!(scratch.open(Some(MIB), false, &writes()), Ok(true));
    }

    /// Goal: the file that is written is the one that was looked at. Method: somebody's file comes to the path, or
    /// somebody writes into the empty file, between looking and opening.
    #[test]
    fn what_changes_between_looking_and_opening_is_left_alone() {
        let scratch = Scratch::new();
        drop(scratch.look(Some(MIB), false).expect("a size").open(&writes()).expect("made"));
        let looked = scratch.look(Some(2 * MIB), false).expect("ours");
        fs::rename(scratch.path(), scratch.0.path().join("ours")).expect("moved");
        scratch.fill(MIB);
        let why = looked.open(&writes()).expect_err("somebody's").to_string();
        assert!(why.contains("is not what it was when it was looked at"), "{why}");
        assert_eq!(scratch.len(), MIB);
        let sparse = Scratch::new();
        File::create(sparse.path()).and_then(|file| file.set_len(MIB)).expect("space on disk");
        let looked = sparse.look(Some(2 * MIB), false).expect("nobody's");
        let filled = File::options().write(true).open(sparse.path()).expect("the file");
        std::os::unix::fs::FileExt::write_all_at(&filled, b"a letter", 0).expect("space on disk");
        assert!(matches!(looked.open(&writes()), Err(DriveError::Moved { .. })));
        assert_eq!(sparse.len(), MIB, "not extended either");
        assert!(fs::read(sparse.path()).expect("a file").starts_with(b"a letter"));
    }

    #[test]
    fn past_the_page_cache_the_same_file_is_opened_or_none() {
        let scratch = Scratch::new();
        let target = scratch.look(Some(MIB), false).expect("a size");
        let opened = target.open(&writes()).expect("made");
        fs::rename(scratch.path(), scratch.0.path().join("ours")).expect("moved");
        scratch.fill(MIB);
        // A scratch folder in memory has no direct I/O before Linux 6.6; then that is why nothing was opened.
        let why = target.open_direct(&opened.file, true).expect_err("another file");
        assert!(matches!(why, DriveError::Moved { .. } | DriveError::NoDirect { .. }), "{why}");
    }

    #[test]
    fn a_file_under_a_loop_device_is_in_use() {
        let scratch = Scratch::new();
        scratch.fill(MIB);
        let sys = tempfile::tempdir().expect("a scratch folder");
        let metadata = fs::metadata(scratch.path()).expect("a file");
        assert_eq!(loop_on(&metadata, sys.path()), None);
        for (name, file) in
            [("loop0", "/nowhere".to_owned()), ("loop1", scratch.path().display().to_string())]
        {
            let folder = sys.path().join("block").join(name).join("loop");
            fs::create_dir_all(&folder).expect("a scratch folder");
            fs::write(folder.join("backing_file"), file + "\n").expect("a scratch file");
        }
        assert_eq!(loop_on(&metadata, sys.path()).as_deref(), Some("loop1"));
    }

    #[test]
    fn other_things_than_files_are_refused_with_what_to_write() {
        let scratch = Scratch::new();
        fs::create_dir(scratch.path()).expect("space on disk");
        let why = scratch.open(Some(MIB), false, &writes()).expect_err("a folder");
        assert!(why.contains("it is a folder; name a file in it: file:"), "{why}");
        let null = FileAddress { path: "/dev/null".into(), size: None, overwrite: true };
        assert!(ScratchFile::look(&null).expect_err("a device").to_string().contains("not a regular file"));
    }

    #[test]
    fn a_file_system_without_direct_io_is_named_with_the_way_out() {
        let error = direct_error(Path::new("/x/t.bin"), Errno::INVAL.into()).to_string();
        assert!(error.contains("/x/t.bin") && error.contains("set direct = false"), "{error}");
    }
}
