//! The served folder. What is opened lies in it: every step down is taken from the folder before it, without following
//! links, so that no name, however it is spelled or changed meanwhile, leads out.
//!
//! FIFOs, devices and sockets are not opened, and nothing is read that is larger than its reader can bear.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use measure::patient::{Patient, retried};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

/// A folder that stays the one that was opened.
#[derive(Debug)]
pub(crate) struct OpenFolder {
    fd: OwnedFd,
}

/// What tells whether a file is still the one that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    /// Length.
    pub(crate) bytes: u64,
    /// When it was written last, in nanoseconds since 1970.
    pub(crate) modified_unix_ns: i128,
    inode: u64,
}

const AS_FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl OpenFolder {
    /// Opens the folder that somebody named, links included: who names it means it.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn named(path: &Path) -> io::Result<Self> {
        Ok(Self { fd: retried(|| rustix::fs::open(path, AS_FOLDER, Mode::empty()))? })
    }

    /// Opens a folder inside, by a path of plain names.
    ///
    /// # Errors
    /// What the system says; links and `..` are refused.
    pub(crate) fn inside(&self, path: &Path) -> io::Result<Self> {
        let mut folder = Self { fd: self.fd.try_clone()? };
        for part in path.components() {
            let Component::Normal(name) = part else {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain path"));
            };
            let flags = AS_FOLDER.union(OFlags::NOFOLLOW);
            folder = Self { fd: retried(|| rustix::fs::openat(&folder.fd, name, flags, Mode::empty()))? };
        }
        Ok(folder)
    }

    /// A path to this very folder, for those who read by path, as long as it is open.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.fd.as_raw_fd()))
    }

    /// What is in it: names, and whether each is a folder. Links are neither files nor folders.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn folders(&self, most: usize) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd)?.take(most) {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let is_folder = match entry.file_type() {
                FileType::Unknown => {
                    let about = rustix::fs::statat(&self.fd, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
                    about.is_ok_and(|about| FileType::from_raw_mode(about.st_mode) == FileType::Directory)
                }
                kind => kind == FileType::Directory,
            };
            if is_folder {
                names.push(OsString::from_vec(name.to_vec()));
            }
        }
        Ok(names)
    }

    /// About a file in it; `None` where there is none of that name, or something else than a file.
    pub(crate) fn stamp(&self, name: &str) -> Option<FileStamp> {
        let about = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        (FileType::from_raw_mode(about.st_mode) == FileType::RegularFile).then(|| FileStamp {
            bytes: u64::try_from(about.st_size).unwrap_or(u64::MAX),
            modified_unix_ns: i128::from(about.st_mtime) * 1_000_000_000 + i128::from(about.st_mtime_nsec),
            inode: about.st_ino,
        })
    }

    /// Whether something of that name is there that is no file.
    pub(crate) fn is_trap(&self, name: &str) -> bool {
        rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|about| FileType::from_raw_mode(about.st_mode) != FileType::RegularFile)
    }

    /// Reads a file in it.
    ///
    /// # Errors
    /// What the system says; that it is no file, or longer than `most` bytes.
    pub(crate) fn read(&self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        let stamp = self.stamp(name).ok_or(io::ErrorKind::NotFound)?;
        if stamp.bytes > most {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"));
        }
        // Not waited for, should it have become a FIFO since.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(retried(|| rustix::fs::openat(&self.fd, name, flags, Mode::empty()))?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
        }
        let mut bytes = Vec::new();
        Patient::new(file).take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod test {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_leads_out_of_the_folder() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (inside, outside) = (scratch.path().join("inside"), scratch.path().join("outside"));
        fs::create_dir_all(inside.join("a/b")).expect("room");
        fs::create_dir(&outside).expect("room");
        fs::write(outside.join("secret"), "x").expect("room");
        fs::write(inside.join("a/file"), "text").expect("room");
        symlink(&outside, inside.join("out")).expect("a link");
        symlink(outside.join("secret"), inside.join("a/link")).expect("a link");
        let root = OpenFolder::named(&inside).expect("a folder");
        for path in ["out", "../outside", "/", "a/../../outside", "a/file"] {
            assert!(root.inside(Path::new(path)).is_err(), "{path}");
        }
        let folder = root.inside(Path::new("a")).expect("a folder");
        assert_eq!(folder.read("file", 4).expect("a file"), b"text");
        assert!(folder.read("file", 3).is_err(), "too large");
        assert!(
            folder.read("link", 100).is_err() && folder.is_trap("link") && folder.stamp("link").is_none()
        );
        assert_eq!(root.folders(100).expect("a list"), ["a"], "links are not followed");
        let fifo = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(&folder.fd, "fifo", FileType::Fifo, fifo, 0).expect("a FIFO");
        assert!(folder.read("fifo", 100).is_err() && folder.is_trap("fifo"));
    }
}
