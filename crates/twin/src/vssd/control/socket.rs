//! The Unix socket around [`answer`](super::answer): a thread a connection, few of them.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use measure::{Clock as _, MonotonicClock};
use rustix::event::{PollFd, PollFlags, poll};

use crate::vssd::shelf::{Mailbox, Shelf};
use crate::vssd::{Server, ServerError};

/// Longest request: a fault has a few dozen bytes.
const LINE_BYTES_MAX: usize = 64 << 10;
/// Connections at once: people and scripts, not hosts.
const CONNECTIONS_MAX: usize = 16;

/// A control socket at work. Dropping it ends it and removes the socket.
#[derive(Debug)]
pub struct ControlSocket {
    path: PathBuf,
    ending: Arc<Mailbox>,
    thread: Option<JoinHandle<()>>,
}

impl ControlSocket {
    /// Listens at `path` for requests about the drives of `server`. Only this user can use it.
    ///
    /// # Errors
    /// When the socket cannot be made, or somebody else's server answers there.
    pub fn start(path: &Path, server: &Server) -> Result<Self, ServerError> {
        let refused = |source| ServerError::Control { path: path.to_owned(), source };
        remove_stale(path).map_err(refused)?;
        let listener = UnixListener::bind(path).map_err(refused)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let ending = Arc::new(Mailbox::new().map_err(refused)?);
        let talk = Talk {
            shelf: Arc::clone(server.shelf()),
            clock: server.clock(),
            ending: Arc::clone(&ending),
            open: Arc::default(),
        };
        let thread = thread::Builder::new()
            .name("vssd-control".to_owned())
            .spawn(move || talk.accept(&listener))
            .map_err(refused)?;
        Ok(Self { path: path.to_owned(), ending, thread: Some(thread) })
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        self.ending.close();
        if let Some(thread) = self.thread.take() {
            // A thread of ours that panicked has told so itself.
            let _ = thread.join();
        }
        // Somebody may have removed it before us.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes a socket that nobody listens at any more; anything else stays.
fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(meta) = fs::symlink_metadata(path) else { return Ok(()) };
    if meta.file_type().is_socket() && UnixStream::connect(path).is_err() {
        return fs::remove_file(path);
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "something is there already"))
}

/// What the threads share.
#[derive(Clone)]
struct Talk {
    shelf: Arc<Shelf>,
    clock: MonotonicClock,
    /// Readable once all is to end; nobody takes what is in it.
    ending: Arc<Mailbox>,
    open: Arc<AtomicUsize>,
}

impl Talk {
    fn accept(&self, listener: &UnixListener) {
        while self.wait(listener.as_fd(), PollFlags::IN) {
            let Ok((stream, _)) = listener.accept() else { continue };
            if self.open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS_MAX {
                self.open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (talk, open) = (self.clone(), Open(Arc::clone(&self.open)));
            // Without a thread the connection ends, which tells enough.
            let _ = thread::Builder::new().name("vssd-control".to_owned()).spawn(move || {
                let _open = open;
                // Whoever asks and goes away before the answer needs none.
                let _ = talk.converse(&stream);
            });
        }
    }

    /// Answers line by line.
    fn converse(&self, mut stream: &UnixStream) -> io::Result<()> {
        stream.set_nonblocking(true)?;
        let mut heard = Vec::new();
        let mut piece = [0; 4096];
        while self.wait(stream.as_fd(), PollFlags::IN) {
            let came = match stream.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(came) => came,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error),
            };
            heard.extend_from_slice(&piece[..came]);
            while let Some(end) = heard.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = heard.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                if !line.trim().is_empty() {
                    let answer = super::answer(&self.shelf, self.clock.now(), line.trim()) + "\n";
                    self.send(stream, answer.as_bytes())?;
                }
            }
            if heard.len() > LINE_BYTES_MAX {
                return Ok(());
            }
        }
        Ok(())
    }

    fn send(&self, mut stream: &UnixStream, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match stream.write(bytes) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !self.wait(stream.as_fd(), PollFlags::OUT) {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until `fd` is ready; false when all is to end.
    fn wait(&self, fd: std::os::fd::BorrowedFd<'_>, flags: PollFlags) -> bool {
        let mut fds = [
            PollFd::from_borrowed_fd(fd, flags),
            PollFd::from_borrowed_fd(self.ending.wake(), PollFlags::IN),
        ];
        loop {
            match poll(&mut fds, None) {
                Ok(_) => return fds[1].revents().is_empty(),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }
}

/// Counts a connection off, however its thread ends.
struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
