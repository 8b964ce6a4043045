//! What lies where a file is to be written: nothing or a file, which is replaced, or something that takes what it is given.
//!
//! A file is written beside and renamed over. Over a device that would leave a file where a device was (`--out /dev/null` as root), and
//! over a link a file where a link was.

use std::fs;
use std::io::{self, IsTerminal};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// `null`, `zero` and `full` (Linux, admin-guide/devices.rst): character devices of memory.
const MEMORY: u64 = 1;
const SINKS: [u64; 3] = [3, 5, 7];

/// How a file gets to a path.
#[derive(Debug, PartialEq, Eq)]
pub enum OutputPlace {
    /// Written beside this and renamed over it: the path itself, or what it links to.
    File(PathBuf),
    /// Written into what is there: a pipe, a terminal, `/dev/null`.
    Stream,
}

impl OutputPlace {
    /// What is at `path`.
    ///
    /// # Errors
    /// Where a device is there that keeps what it is given; what the system says.
    pub fn of(path: &Path) -> io::Result<Self> {
        let there = match fs::metadata(path) {
            Ok(there) => there,
            // Nothing, or a link to nothing.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::File(path.to_owned())),
            Err(error) => return Err(error),
        };
        let kind = there.file_type();
        if kind.is_file() {
            return fs::canonicalize(path).map(Self::File);
        }
        if kind.is_dir() {
            return Err(rustix::io::Errno::ISDIR.into());
        }
        let device = there.rdev();
        let (major, minor) = (u64::from(rustix::fs::major(device)), u64::from(rustix::fs::minor(device)));
        let is_sink = kind.is_char_device() && major == MEMORY && SINKS.contains(&minor);
        let is_terminal =
            || fs::OpenOptions::new().write(true).open(path).is_ok_and(|file| file.is_terminal());
        if kind.is_fifo() || is_sink || kind.is_char_device() && is_terminal() {
            return Ok(Self::Stream);
        }
        let what = if kind.is_block_device() { "a block device" } else { "no file" };
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("it is {what}, and nothing is written over it; name a file"),
        ))
    }
}

#[cfg(test)]
mod test {
    use super::super::write_whole;
    use super::*;

    /// Goal: `--out /dev/null` leaves /dev/null, and a link stays one. Method: device nodes of the test's own where it may make some.
    #[test]
    fn what_is_no_file_is_not_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        assert_eq!(OutputPlace::of(Path::new("/dev/null")).expect("a sink"), OutputPlace::Stream);
        assert_eq!(OutputPlace::of(&at("new")).expect("nothing"), OutputPlace::File(at("new")));
        assert!(OutputPlace::of(folder.path()).is_err());
        std::fs::write(at("file"), b"old").expect("written");
        std::os::unix::fs::symlink(at("file"), at("link")).expect("a link");
        write_whole(&at("link"), b"new").expect("written");
        assert!(at("link").is_symlink());
        assert_eq!(std::fs::read(at("file")).expect("there"), b"new");
        let socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket");
        assert!(write_whole(&at("socket"), b"text").is_err() && at("socket").exists());
        drop(socket);
        // A null and a loop device that nothing is behind; only root may make them.
        use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
        let node = |name: &str, kind, major, minor| {
            mknodat(CWD, at(name), kind, Mode::from_raw_mode(0o600), makedev(major, minor)).is_ok()
        };
        if node("null", FileType::CharacterDevice, 1, 3) && std::fs::write(at("null"), b"").is_ok() {
            write_whole(&at("null"), b"text").expect("taken");
            assert!(std::fs::metadata(at("null")).expect("there").file_type().is_char_device());
        }
        if node("disk", FileType::BlockDevice, 7, 999) {
            let error = write_whole(&at("disk"), b"text").expect_err("a disk").to_string();
            assert!(error.contains("disk"), "{error}");
            assert!(std::fs::metadata(at("disk")).expect("there").file_type().is_block_device());
        }
    }
}
