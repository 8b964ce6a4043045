//! Files that somebody names as input: what is no file is refused before it is opened.
//!
//! A FIFO is waited for until somebody writes to it, a device need not end, and opening some devices does something.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use crate::patient;

/// Where a shell puts its own pipes: `-` as standard input, and `<(..)`. These have somebody who writes.
const OWN: [&str; 3] = ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"];

/// What a path is instead of a file; `None` where it can be read as one.
///
/// # Errors
/// What the system says of the path.
pub fn no_file(path: &Path) -> io::Result<Option<&'static str>> {
    let kind = std::fs::metadata(path)?.file_type();
    let is_own = OWN.iter().any(|own| path.starts_with(own));
    Ok(if kind.is_file() || (is_own && kind.is_fifo()) {
        None
    } else if kind.is_dir() {
        Some("a folder")
    } else if kind.is_fifo() {
        Some("a FIFO")
    } else if kind.is_socket() {
        Some("a socket")
    } else if is_own && io::IsTerminal::is_terminal(&io::stdin()) {
        Some("a terminal")
    } else {
        Some("a device")
    })
}

/// Opens a file for reading.
///
/// # Errors
/// What the system says, or that it is no file.
pub fn open(path: &Path) -> io::Result<File> {
    match no_file(path)? {
        Some(what) => Err(io::Error::other(format!("it is {what}; name a file"))),
        None => patient::open(path),
    }
}

/// Reads a whole file.
///
/// # Errors
/// What the system says, or that it is no file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    use io::Read as _;
    let mut bytes = Vec::new();
    patient::Patient::new(open(path)?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file that is text.
///
/// # Errors
/// What the system says, that it is no file, or that it is no UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn what_is_no_file_is_refused_without_waiting() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (file, fifo) = (folder.path().join("file"), folder.path().join("fifo"));
        std::fs::write(&file, "text").expect("room");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .expect("a FIFO");
        assert_eq!(read_to_string(&file).expect("a file"), "text");
        for (path, what) in
            [(fifo.as_path(), "a FIFO"), (folder.path(), "a folder"), (Path::new("/dev/zero"), "a device")]
        {
            assert_eq!(no_file(path).expect("it is there"), Some(what));
            let error = read_to_string(path).expect_err(what).to_string();
            assert_eq!(error, format!("it is {what}; name a file"));
        }
        let missing = read_to_string(&folder.path().join("missing")).expect_err("missing");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
