//! This side: asks, shows what comes back, keeps the copy of the run folder, and is the lifeline of the other side.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use measure::{Clock as _, MonotonicClock};

use crate::MAGIC;
use crate::frame::{Downward, Upward};
use crate::mirror::{FolderMirror, MirrorError};
use crate::request::{FileSum, RemoteEnd, RemoteRequest};
use crate::ssh::{Link, RemoteError, shown};

/// The other side ends a run when nothing came for four seconds ([`crate::serving::SILENCE`]): eight chances.
const PING: Duration = Duration::from_millis(500);
/// How often signals are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// The other side pings as often; a link over which nothing came for so long is broken. As many seconds as `ssh` takes
/// with the options that it is given.
const SILENCE: Duration = Duration::from_secs(20);
/// What a login shell may print before.
const NOISE_MAX: usize = 64 << 10;
/// What is kept of what `ssh` says.
const STDERR_MAX: u64 = 64 << 10;
/// Frames that wait to be shown.
const WAITING: usize = 16;

/// How often the user asked for the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopLevel {
    /// Not at all.
    No,
    /// Once: cleanly.
    Cleanly,
    /// Again: at once.
    AtOnce,
}

/// Shows what comes back.
pub trait RemoteView {
    /// What the command printed.
    fn stdout(&mut self, bytes: &[u8]);
    /// What it said.
    fn stderr(&mut self, line: &str);
    /// Where its run folder is there; says where the copy goes.
    fn folder(&mut self, there: &str) -> Result<PathBuf, String>;
    /// Whether the user wants it to end.
    fn stop(&mut self) -> StopLevel;
}

/// How it ended.
#[derive(Debug)]
pub struct RemoteDone {
    /// The command's end.
    pub end: RemoteEnd,
    /// The run folder there, where it made one.
    pub there: Option<String>,
    /// Its copy.
    pub here: Option<PathBuf>,
    /// Why the copy is not whole.
    pub mirror: Result<(), MirrorError>,
}

/// Asks the other machine, until the command there has ended.
///
/// # Errors
/// Why there was no connection, or that it broke.
pub fn ask(
    link: &Link,
    request: &RemoteRequest,
    view: &mut dyn RemoteView,
) -> Result<RemoteDone, RemoteError> {
    let failed =
        |source| RemoteError::Start { command: link.ssh.clone().unwrap_or_else(|| "ssh".to_owned()), source };
    let mut child = link.command(&link.remote_command()).spawn().map_err(failed)?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(failed(std::io::ErrorKind::BrokenPipe.into()));
    };
    let said = thread::spawn(move || all_of(stderr));
    let (up, orders) = channel();
    let lifeline = thread::spawn(move || feed(stdin, &orders));
    let (down, frames) = sync_channel(WAITING);
    let reader = thread::spawn(move || read(stdout, &down));
    let _ = up.send(Upward::Request(serde_json::to_vec(request).unwrap_or_default()));
    let mut session = AskedSession {
        link,
        view,
        there: None,
        mirror: None,
        mirrored: Ok(()),
        here: None,
        line: Vec::new(),
        said_hello: false,
    };
    let ended = session.follow(&frames, |frame| {
        let _ = up.send(frame);
    });
    let (there, here, mirror, said_hello) =
        (session.there, session.here, session.mirrored, session.said_hello);
    // The end of its standard input ends the other side as well.
    drop((up, frames));
    let _ = lifeline.join();
    if ended.is_err() {
        // It may never end by itself where the link is dead.
        let _ = child.kill();
    }
    let code = wait(&mut child);
    let (_, said) = (reader.join(), said.join().unwrap_or_default());
    match ended {
        Ok(Some(end)) => Ok(RemoteDone { end, there, here, mirror }),
        Ok(None) if !said_hello => Err(link.failure(code, &said, "")),
        Ok(None) => {
            let detail =
                said.lines().rev().find(|line| !line.trim().is_empty()).map_or("ssh ended", str::trim);
            Err(RemoteError::Lost { host: link.host.clone(), detail: shown(detail) })
        }
        // What a shell prints is worth less than what ssh says.
        Err(RemoteError::Noise { noise, .. }) => {
            Err(link.failure(code.filter(|code| *code != 0), &said, &noise))
        }
        Err(error) => Err(error),
    }
}

fn wait(child: &mut Child) -> Option<i32> {
    child.wait().ok().and_then(|status| status.code())
}

/// What came of reading.
enum Came {
    Hello(String),
    Frame(Downward),
    /// No frame of ours, or what came before them.
    Broken(String),
}

struct AskedSession<'a> {
    link: &'a Link,
    view: &'a mut dyn RemoteView,
    there: Option<String>,
    here: Option<PathBuf>,
    mirror: Option<FolderMirror>,
    mirrored: Result<(), MirrorError>,
    /// A line of standard error that is not whole yet.
    line: Vec<u8>,
    said_hello: bool,
}

impl AskedSession<'_> {
    /// Shows what comes until the end; `None` where the stream ended without one.
    fn follow(
        &mut self,
        frames: &Receiver<Came>,
        mut order: impl FnMut(Upward),
    ) -> Result<Option<RemoteEnd>, RemoteError> {
        let clock = MonotonicClock::start();
        let (mut heard, mut asked) = (clock.now(), StopLevel::No);
        loop {
            let wanted = self.view.stop();
            if wanted > asked {
                asked = wanted;
                if !self.said_hello {
                    let detail = "you ended it before the other side had answered".to_owned();
                    return Err(RemoteError::Lost { host: self.link.host.clone(), detail });
                }
                order(Upward::Stop);
            }
            match frames.recv_timeout(LOOK) {
                Ok(came) => {
                    heard = clock.now();
                    if let Some(end) = self.take(came)? {
                        return Ok(Some(end));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                // Before the other side has answered, a person may be typing a password.
                Err(RecvTimeoutError::Timeout) if self.said_hello && clock.now().since(heard) > SILENCE => {
                    let detail = format!("nothing came for {} s", SILENCE.as_secs());
                    return Err(RemoteError::Lost { host: self.link.host.clone(), detail });
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn take(&mut self, came: Came) -> Result<Option<RemoteEnd>, RemoteError> {
        let lost = |detail: String| RemoteError::Lost { host: self.link.host.clone(), detail };
        let frame = match came {
            Came::Hello(line) => {
                self.link.check_hello(&line)?;
                self.said_hello = true;
                return Ok(None);
            }
            Came::Broken(noise) if !self.said_hello => {
                return Err(RemoteError::Noise { host: self.link.host.clone(), noise: shown(&noise) });
            }
            Came::Broken(why) => return Err(lost(why)),
            Came::Frame(frame) => frame,
        };
        match frame {
            Downward::Ping => {}
            Downward::Stdout(bytes) => self.view.stdout(&bytes),
            Downward::Stderr(bytes) => self.lines(&bytes),
            Downward::Folder(there) => {
                let here = self.view.folder(&there).map_err(lost)?;
                self.mirror = Some(FolderMirror::new(here.clone()));
                (self.there, self.here) = (Some(there), Some(here));
            }
            Downward::Append { name, offset, bytes } => {
                self.mirrored(|mirror| mirror.append(&name, offset, &bytes))
            }
            Downward::Piece { name, offset, bytes } => {
                self.mirrored(|mirror| mirror.piece(&name, offset, &bytes))
            }
            Downward::Whole(name) => self.mirrored(|mirror| mirror.whole(&name)),
            Downward::Gone(name) => self.mirrored(|mirror| mirror.gone(&name)),
            Downward::Files(json) => {
                let files: Vec<FileSum> = serde_json::from_slice(&json)
                    .map_err(|error| lost(format!("its list of files cannot be read: {error}")))?;
                self.mirrored(|mirror| mirror.check(&files));
            }
            Downward::End(json) => {
                let end = serde_json::from_slice(&json)
                    .map_err(|error| lost(format!("its end cannot be read: {error}")))?;
                if !self.line.is_empty() {
                    self.lines(b"\n");
                }
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Does something with the copy. After the first failure no more: the record is there, and the run goes on.
    fn mirrored(&mut self, act: impl FnOnce(&mut FolderMirror) -> Result<(), MirrorError>) {
        if let (Some(mirror), Ok(())) = (&mut self.mirror, &self.mirrored) {
            self.mirrored = act(mirror);
            if let Err(error) = &self.mirrored {
                let text = format!(
                    "warning: {error}; the run goes on, and its record is kept on {}",
                    self.link.host
                );
                self.view.stderr(&text);
            }
        }
    }

    fn lines(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' || self.line.len() > NOISE_MAX {
                let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
                self.view.stderr(&line);
            } else {
                self.line.push(*byte);
            }
        }
    }
}

/// Writes orders, and a ping where there are none; ends the other side's standard input when nobody gives orders.
fn feed(mut stdin: ChildStdin, orders: &Receiver<Upward>) {
    loop {
        let frame = match orders.recv_timeout(PING) {
            Ok(frame) => frame,
            Err(RecvTimeoutError::Timeout) => Upward::Ping,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        if stdin.write_all(&frame.encode()).and_then(|()| stdin.flush()).is_err() {
            return;
        }
    }
}

/// Reads the first line of ours, whatever stands before it, and then frames.
fn read(stdout: ChildStdout, to: &SyncSender<Came>) {
    let mut stdout = BufReader::new(stdout);
    let mut noise = String::new();
    loop {
        let mut line = Vec::new();
        let read = stdout.by_ref().take(NOISE_MAX as u64).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            // Its end says more than what a shell printed.
            if !noise.is_empty() {
                let _ = to.send(Came::Broken(noise));
            }
            return;
        }
        let text = String::from_utf8_lossy(&line);
        if text.starts_with(MAGIC) {
            let _ = to.send(Came::Hello(text.trim().to_owned()));
            break;
        }
        noise.push_str(&text);
        if noise.len() > NOISE_MAX {
            let _ = to.send(Came::Broken(noise));
            return;
        }
    }
    loop {
        let came = match Downward::read(&mut stdout) {
            Ok(Some(frame)) => Came::Frame(frame),
            Ok(None) => return,
            Err(error) => Came::Broken(error.to_string()),
        };
        let is_end = matches!(came, Came::Broken(_) | Came::Frame(Downward::End(_)));
        if to.send(came).is_err() || is_end {
            return;
        }
    }
}

fn all_of(stderr: ChildStderr) -> String {
    let mut said = Vec::new();
    let mut stderr = stderr;
    let _ = stderr.by_ref().take(STDERR_MAX).read_to_end(&mut said);
    // More is read and thrown away, so that ssh is not held up.
    let _ = std::io::copy(&mut stderr, &mut std::io::sink());
    String::from_utf8_lossy(&said).into_owned()
}
