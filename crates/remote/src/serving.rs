//! The other side: starts the command, sends what it says and what it records, and ends it when the lifeline breaks.
//!
//! The command is a process of its own whose standard input is a pipe from here: a byte asks for the end of the run, its
//! end does so too. So the command ends when this process does, however that came about.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use measure::patient::write_stream;
use measure::{Clock as _, Instant, MonotonicClock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::frame::{Downward, LEN_MAX, Upward};
use crate::request::{LinkLost, RemoteEnd, RemoteRequest, UNTIL_STDIN_ENDS, is_plain_name};
use crate::tail::FolderTail;
use crate::{MAGIC, PROTOCOL, VERSION};

/// A side that says nothing for so long is gone: pings come twice a second. With the second that a run takes to end, its
/// settings are back within five.
pub const SILENCE: Duration = Duration::from_secs(4);
/// How often the run folder is looked at.
const LOOK: Duration = Duration::from_millis(150);
const PING: Duration = Duration::from_millis(500);
/// After the command has ended, a link that takes nothing is waited for this long.
const LAST_WORDS: Duration = Duration::from_secs(20);
/// What a command may say before it is read.
const WAITING: usize = 64;
const CHUNK: usize = 64 << 10;
/// A plan is a page of text.
const PLAN_MAX: usize = 1 << 20;

/// What this side does with requests.
pub struct Serving {
    /// The binary.
    pub binary: PathBuf,
    /// Where run folders are kept.
    pub runs: PathBuf,
    /// Commands that may be asked for; everything else is refused.
    pub commands: &'static [&'static str],
    /// Arguments that whoever owns this machine adds to runs.
    pub run_args: Vec<String>,
}

/// Why a request was refused, as a sentence.
type Refused = String;

impl Serving {
    /// Serves one request over these streams, and gives the exit code of its command.
    ///
    /// # Errors
    /// What the streams say; a link that broke is none.
    pub fn serve(&self, mut stdin: impl Read + AsFd + Send + 'static, stdout: impl AsFd) -> io::Result<i32> {
        write_stream(&stdout, format!("\n{MAGIC} {PROTOCOL} {VERSION}\n").as_bytes())?;
        let request = match Upward::read(&mut stdin) {
            Ok(Some(Upward::Request(json))) => serde_json::from_slice::<RemoteRequest>(&json).ok(),
            Ok(None) => return Ok(2),
            _ => None,
        };
        let mut send = |frame: Downward| write_stream(&stdout, &frame.encode());
        let started = match request {
            None => Err("the request is not that of this heatsoak".to_owned()),
            Some(request) if request.args.first().is_some_and(|name| name == "fetch") => {
                return self.fetch(&request, &mut send);
            }
            Some(request) => self.start(request),
        };
        match started {
            Ok(started) => started.watch(stdin, &stdout),
            Err(why) => refuse(&why, &mut send),
        }
    }

    fn start(&self, request: RemoteRequest) -> Result<Started, Refused> {
        let Some(name) = request.args.first().filter(|name| self.commands.contains(&name.as_str())) else {
            return Err(format!(
                "only these commands can be asked for from another machine: {}",
                self.commands.join(", ")
            ));
        };
        let has_lifeline = UNTIL_STDIN_ENDS.contains(&name.as_str());
        let mut command = Command::new(&self.binary);
        command.arg(name).args(has_lifeline.then_some("--until-stdin-ends"));
        if name == "run" {
            command.args(&self.run_args);
        }
        let mut folder = None;
        if let Some(wanted) = &request.folder {
            let dir = self.make_folder(wanted)?;
            command.arg("--out").arg(dir.join(RUN));
            if let Some(plan) = &request.plan {
                command.arg("--plan-file").arg(write_plan(&dir, &plan.name, &plan.text)?);
            }
            folder = Some(dir);
        }
        command.args(&request.args[1..]);
        command
            .stdin(if has_lifeline { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child =
            command.spawn().map_err(|error| format!("cannot start {}: {error}", self.binary.display()))?;
        Ok(Started { child, folder, link_lost: request.link_lost })
    }

    /// A folder of that name, or of the next number: it holds the run folder and the plan that was sent.
    fn make_folder(&self, wanted: &str) -> Result<PathBuf, Refused> {
        if !is_plain_name(wanted) || wanted.contains('/') {
            return Err(format!("{wanted:?} is no name of a run folder"));
        }
        let refused = |path: &Path, error: io::Error| {
            format!(
                "cannot make the run folder {}: {error}; HEATSOAK_STATE_DIR names another place there",
                path.display()
            )
        };
        fs::create_dir_all(&self.runs).map_err(|error| refused(&self.runs, error))?;
        for number in 1..10_000 {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let path = self.runs.join(format!("{wanted}{suffix}"));
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map_err(|error| refused(&path, error)).map(|()| path),
            }
        }
        Err(format!("cannot make the run folder {wanted}: there are ten thousand of that name"))
    }

    /// Sends a run that is kept here, but for what the other side has; without a name, says which there are.
    fn fetch(
        &self,
        request: &RemoteRequest,
        send: &mut dyn FnMut(Downward) -> io::Result<()>,
    ) -> io::Result<i32> {
        let Some(name) = request.args.get(1) else {
            send(Downward::Stdout(self.list().into_bytes()))?;
            return end(send, 0);
        };
        let dir = self.runs.join(name).join(RUN);
        if !is_plain_name(name) || !dir.is_dir() {
            return refuse(
                &format!("there is no run {name:?}; `heatsoak fetch --on HOST` lists those that are kept"),
                send,
            );
        }
        send(Downward::Folder(dir.display().to_string()))?;
        let mut tail = FolderTail::new(dir, &request.have);
        while tail.send_news(send)? {}
        send(files(&tail))?;
        end(send, 0)
    }

    /// A line a run that is kept: name, bytes, and whether it has ended.
    fn list(&self) -> String {
        let mut names: Vec<String> = fs::read_dir(&self.runs)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| is_plain_name(name) && self.runs.join(name).join(RUN).is_dir())
            .collect();
        names.sort();
        let line = |name: &String| {
            let files = FolderTail::new(self.runs.join(name).join(RUN), &[]).files();
            let bytes: u64 = files.iter().map(|file| file.bytes).sum();
            let is_open = files.iter().any(|file| file.name.ends_with(".arrow"));
            format!("{name}\t{bytes}\t{}\n", if is_open { "unfinished" } else { "done" })
        };
        names.iter().map(line).collect()
    }
}

/// The run folder within the folder of a request.
const RUN: &str = "run";

fn write_plan(dir: &Path, name: &str, text: &str) -> Result<PathBuf, Refused> {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    let path = dir.join(format!(
        "plan-{}",
        plain.chars().rev().take(100).collect::<Vec<_>>().iter().rev().collect::<String>()
    ));
    if text.len() > PLAN_MAX {
        return Err("the plan is too large".to_owned());
    }
    fs::write(&path, text).map_err(|error| format!("cannot write the plan {}: {error}", path.display()))?;
    Ok(path)
}

fn refuse(why: &str, send: &mut dyn FnMut(Downward) -> io::Result<()>) -> io::Result<i32> {
    send(Downward::Stderr(format!("error: {why}\n").into_bytes()))?;
    end(send, 2)
}

fn end(send: &mut dyn FnMut(Downward) -> io::Result<()>, code: i32) -> io::Result<i32> {
    send(Downward::End(serde_json::to_vec(&RemoteEnd { code: Some(code) }).unwrap_or_default()))?;
    Ok(code)
}

fn files(tail: &FolderTail) -> Downward {
    let mut files = tail.files();
    // A sweep of more runs than a frame has room for is checked in part.
    while serde_json::to_vec(&files).is_ok_and(|json| json.len() > LEN_MAX) {
        files.truncate(files.len() / 2);
    }
    Downward::Files(serde_json::to_vec(&files).unwrap_or_default())
}

/// A command under way.
struct Started {
    child: Child,
    folder: Option<PathBuf>,
    link_lost: LinkLost,
}

/// What happens to it.
enum Happened {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    /// Both streams and the process have ended, with this code.
    Ended(Option<i32>),
}

/// The command's standard input: what ends it.
type Lifeline = Arc<Mutex<Option<ChildStdin>>>;

impl Started {
    /// Watches until it has ended and all has been sent.
    fn watch(mut self, stdin: impl Read + AsFd + Send + 'static, stdout: &impl AsFd) -> io::Result<i32> {
        let lifeline: Lifeline = Arc::new(Mutex::new(self.child.stdin.take()));
        let (happened, events) = sync_channel(WAITING);
        let is_lost = Arc::new(AtomicBool::new(false));
        let (ended, has_ended) = channel();
        follow_child(self.child, &happened, ended);
        let (lost, line, link_lost) = (Arc::clone(&is_lost), Arc::clone(&lifeline), self.link_lost);
        thread::spawn(move || {
            obey(stdin, &line);
            lost.store(true, Ordering::Relaxed);
            if link_lost == LinkLost::Stop {
                line.lock().unwrap_or_else(PoisonError::into_inner).take();
            }
            exit_after(&has_ended);
        });
        let mut sender =
            FrameSender { stdout, is_lost, clock: MonotonicClock::start(), pinged: Instant::ZERO };
        let mut tail = None;
        if let Some(folder) = &self.folder {
            let dir = folder.join(RUN);
            sender.send(Downward::Folder(dir.display().to_string()))?;
            tail = Some(FolderTail::new(dir, &[]));
        }
        let code = sender.relay(&events, tail.as_mut());
        if sender.is_lost() {
            // Who broke off asks for the rest later.
            return Ok(code.unwrap_or(3));
        }
        if let Some(tail) = &tail {
            sender.send(files(tail))?;
        }
        sender.send(Downward::End(serde_json::to_vec(&RemoteEnd { code }).unwrap_or_default()))?;
        Ok(code.unwrap_or(3))
    }
}

/// Threads that pass on what the command says, and its end.
fn follow_child(mut child: Child, to: &SyncSender<Happened>, ended: Sender<()>) {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let out = spawn_reader(out, to.clone(), Happened::Stdout);
    let err = spawn_reader(err, to.clone(), Happened::Stderr);
    let to = to.clone();
    thread::spawn(move || {
        let code = child.wait().ok().and_then(|status| status.code());
        let _ = ended.send(());
        let _ = (out.join(), err.join());
        let _ = to.send(Happened::Ended(code));
    });
}

fn spawn_reader(
    stream: Option<impl Read + Send + 'static>,
    to: SyncSender<Happened>,
    make: fn(Vec<u8>) -> Happened,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let Some(mut stream) = stream else { return };
        let mut chunk = vec![0; CHUNK];
        while let Ok(read @ 1..) = stream.read(&mut chunk) {
            if to.send(make(chunk[..read].to_vec())).is_err() {
                return;
            }
        }
    })
}

/// Does what the other side orders, until it is gone: its stream ends, or nothing comes.
fn obey(mut stdin: impl Read + AsFd, lifeline: &Lifeline) {
    let silence = Timespec { tv_sec: SILENCE.as_secs() as i64, tv_nsec: 0 };
    loop {
        let ready = {
            let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
            poll(&mut fds, Some(&silence))
        };
        match ready {
            Ok(0) => return,
            Err(rustix::io::Errno::INTR) => continue,
            _ => {}
        }
        // A frame is a few bytes, and comes whole or never.
        match Upward::read(&mut stdin) {
            Ok(Some(Upward::Ping)) => {}
            Ok(Some(Upward::Stop)) => {
                if let Some(pipe) = lifeline.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
                    let _ = pipe.write_all(b"s").and_then(|()| pipe.flush());
                }
            }
            _ => return,
        }
    }
}

/// Ends the process some time after the command has ended, should its last words never be taken.
fn exit_after(has_ended: &Receiver<()>) {
    let _ = has_ended.recv();
    // Nobody ever sends: the timeout is the wait.
    let (_keep, never) = channel::<()>();
    let _ = never.recv_timeout(LAST_WORDS);
    std::process::exit(3);
}

/// Writes frames until nobody takes them any more.
struct FrameSender<'a, W> {
    stdout: &'a W,
    is_lost: Arc<AtomicBool>,
    clock: MonotonicClock,
    pinged: Instant,
}

impl<W: AsFd> FrameSender<'_, W> {
    fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Sends; what cannot be sent is not missed, because the record is kept here.
    fn send(&mut self, frame: Downward) -> io::Result<()> {
        if self.is_lost() {
            return Ok(());
        }
        if write_stream(self.stdout, &frame.encode()).is_err() {
            // The other thread sees the same link break, and ends the run.
            self.is_lost.store(true, Ordering::Relaxed);
        }
        self.pinged = self.clock.now();
        Ok(())
    }

    /// Sends what the command says and records, until it has ended; its exit code.
    fn relay(&mut self, events: &Receiver<Happened>, mut tail: Option<&mut FolderTail>) -> Option<i32> {
        let mut looked = Instant::ZERO;
        loop {
            let event = events.recv_timeout(LOOK);
            let ended = match event {
                Ok(Happened::Stdout(bytes)) => {
                    let _ = self.send(Downward::Stdout(bytes));
                    None
                }
                Ok(Happened::Stderr(bytes)) => {
                    let _ = self.send(Downward::Stderr(bytes));
                    None
                }
                Ok(Happened::Ended(code)) => Some(code),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => Some(None),
            };
            let now = self.clock.now();
            if ended.is_some() || now.since(looked) >= LOOK {
                looked = now;
                if let Some(tail) = tail.as_deref_mut().filter(|_| !self.is_lost()) {
                    // What closes while it is looked at is there the next time.
                    while tail.send_news(&mut |frame| self.send(frame)).unwrap_or(false) && ended.is_some() {}
                }
            }
            if let Some(code) = ended {
                return code;
            }
            if now.since(self.pinged) >= PING {
                let _ = self.send(Downward::Ping);
            }
        }
    }
}
