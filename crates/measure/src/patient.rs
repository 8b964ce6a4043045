//! System calls that a signal has interrupted are made again, but not for ever.
//!
//! The standard library makes them again without end, so that a file system in user space which answers `EINTR` to
//! every call, or a tracer, holds a program until it is killed. What is opened, read, written or synced here ends in an
//! error that says so.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::rand::GetRandomFlags;

/// So many signals between two system calls are none that anybody sent.
const TRIES: u32 = 1000;

/// Makes `call` until it is not interrupted.
///
/// # Errors
/// What the system says; or that every try was interrupted.
pub fn retried<T>(mut call: impl FnMut() -> Result<T, Errno>) -> io::Result<T> {
    for _ in 0..TRIES {
        match call() {
            Err(Errno::INTR) => {}
            other => return other.map_err(io::Error::from),
        }
    }
    Err(endless())
}

fn endless() -> io::Error {
    io::Error::other(format!("it was interrupted by signals {TRIES} times in a row"))
}

/// Opens a file for reading.
///
/// # Errors
/// What the system says.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::RDONLY)
}

/// Opens a file with these flags; one that is made may be read and written by whomever the process lets (umask(2)).
///
/// # Errors
/// What the system says.
pub fn open_with(path: &Path, flags: OFlags) -> io::Result<File> {
    let mode = Mode::from_raw_mode(0o666);
    retried(|| rustix::fs::open(path, flags | OFlags::CLOEXEC, mode)).map(File::from)
}

/// Reads a whole file.
///
/// # Errors
/// What the system says.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Patient::new(open(path)?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file that is text.
///
/// # Errors
/// What the system says; or that it is no UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Waits until all of a file is on its disk.
///
/// # Errors
/// What the system says.
pub fn sync(file: &File) -> io::Result<()> {
    retried(|| rustix::fs::fsync(file))
}

/// Writes all of `bytes` at `offset`.
///
/// # Errors
/// That of the system call, or that a write made no progress.
pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = retried(|| rustix::io::pwrite(file, bytes, offset))?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
        offset += written as u64;
    }
    Ok(())
}

/// Writes all of `bytes` to a stream: a pipe, a terminal, a socket. One that takes nothing now, because somebody has made
/// it non-blocking (`O_NONBLOCK` belongs to whoever shares it), is waited for, as a blocking one is.
///
/// # Errors
/// That of the system call; or that it takes nothing although it says that it does, again and again.
pub fn write_stream(stream: impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    let mut refused = 0;
    while !bytes.is_empty() {
        match retried(|| rustix::io::write(&stream, bytes)) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => (bytes, refused) = (&bytes[written..], 0),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && refused < TRIES => {
                refused += 1;
                // Whatever ends the wait, the write is tried again.
                let _ = poll(&mut [PollFd::new(&stream, PollFlags::OUT)], None);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Fills `bytes` with random numbers of the system.
///
/// # Errors
/// What the system says; or that it gives none, again and again.
pub fn random(mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let len = retried(|| rustix::rand::getrandom(&mut *bytes, GetRandomFlags::empty()))?;
        if len == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes = &mut bytes[len..];
    }
    Ok(())
}

/// A reader or writer whose interrupted calls have an end.
#[derive(Debug)]
pub struct Patient<F> {
    inner: F,
    interrupted: u32,
}

impl<F> Patient<F> {
    /// Over `inner`.
    pub const fn new(inner: F) -> Self {
        Self { inner, interrupted: 0 }
    }

    /// What is read and written.
    pub const fn inner(&self) -> &F {
        &self.inner
    }

    fn counted<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.interrupted += 1;
                Err(if self.interrupted < TRIES { error } else { endless() })
            }
            other => {
                self.interrupted = 0;
                other
            }
        }
    }
}

impl<F: Read> Read for Patient<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.inner.read(buffer);
        self.counted(result)
    }
}

impl<F: Write> Write for Patient<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.inner.write(bytes);
        self.counted(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.inner.flush();
        self.counted(result)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Interrupted so often between two calls that are not.
    struct Interrupted {
        times: u32,
        left: u32,
    }

    impl Interrupted {
        fn call(&mut self, len: usize) -> io::Result<usize> {
            if self.left == 0 {
                self.left = self.times;
                return Ok(len.min(1));
            }
            self.left -= 1;
            Err(io::ErrorKind::Interrupted.into())
        }
    }

    impl Read for Interrupted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.call(buffer.len())
        }
    }

    impl Write for Interrupted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.call(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            self.call(0).map(|_| ())
        }
    }

    #[test]
    fn some_signals_are_borne_and_endless_ones_are_an_error() {
        for (times, ends_well) in [(0, true), (1, true), (TRIES - 1, true), (TRIES, false), (u32::MAX, false)]
        {
            let patient = || Patient::new(Interrupted { times, left: times });
            assert_eq!(patient().write_all(b"several bytes").is_ok(), ends_well, "{times}");
            assert_eq!(patient().read_exact(&mut [0; 5]).is_ok(), ends_well, "{times}");
            let mut left = times;
            let call = || {
                if left == 0 {
                    Ok(())
                } else {
                    left -= 1;
                    Err(Errno::INTR)
                }
            };
            assert_eq!(retried(call).is_ok(), ends_well, "{times}");
        }
        let error = retried(|| Err::<(), _>(Errno::INTR)).expect_err("without end").to_string();
        assert!(error.contains("interrupted by signals 1000 times"), "{error}");
        assert_eq!(
            retried(|| Err::<(), _>(Errno::NOENT)).expect_err("missing").kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn a_stream_that_takes_nothing_now_is_waited_for() {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let flags = rustix::fs::fcntl_getfl(&writer).expect("its flags");
        rustix::fs::fcntl_setfl(&writer, flags | OFlags::NONBLOCK).expect("its flags");
        // More than a pipe holds (64 KiB), so that it is full until somebody reads.
        let text = vec![b'x'; 1 << 20];
        let len = text.len();
        let reading = std::thread::spawn(move || io::copy(&mut { reader }, &mut io::sink()));
        write_stream(&writer, &text).expect("somebody reads");
        drop(writer);
        assert_eq!(reading.join().expect("it reads").expect("to the end"), len as u64);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        assert_eq!(write_stream(&writer, b"x").expect_err("nobody reads").kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn random_numbers_differ_from_call_to_call() {
        let (mut one, mut other) = ([0; 300], [0; 300]);
        random(&mut one).expect("the system has some");
        random(&mut other).expect("the system has some");
        assert_ne!(one, other);
        assert!(one[256..].iter().any(|byte| *byte != 0), "also what one call does not bring");
    }

    #[test]
    fn files_are_made_read_and_synced() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("x");
        let file = open_with(&path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL).expect("made");
        let mut file = Patient::new(file);
        file.write_all(b"text").expect("room");
        sync(file.inner()).expect("synced");
        assert_eq!(read_to_string(&path).expect("text"), "text");
        assert!(open_with(&path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL).is_err(), "it is there");
    }
}
