//! What is new in a run folder, as frames: pieces of its streams as they grow, and its other files whole once they
//! appear.
//!
//! The order is the one in which a run folder is closed (tables, manifest, streams gone), so that what has arrived is at
//! every moment a run folder that can be read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use measure::record::LIVE_FILE;

use crate::frame::Downward;
use crate::request::{FileSum, is_plain_name};

/// A piece of a file.
const PIECE: usize = 256 << 10;
/// Folders within folders: those of a sweep.
const DEPTH: usize = 2;
/// A run folder has a dozen files, and a sweep some dozen runs.
const FILES_MAX: usize = 10_000;

/// Follows a run folder.
pub(crate) struct FolderTail {
    dir: PathBuf,
    sent: BTreeMap<String, Sent>,
}

/// What of a file has been sent.
struct Sent {
    bytes: u64,
    /// Length, time and number of the file that was sent whole.
    version: Option<(u64, i64, i64, u64)>,
}

/// Whether a file only grows.
fn is_stream(name: &str) -> bool {
    name.ends_with(".arrow")
}

impl FolderTail {
    /// Follows `dir`, of which the files in `have` are on the other side as they are.
    pub(crate) fn new(dir: PathBuf, have: &[FileSum]) -> Self {
        let mut sent = BTreeMap::new();
        for sum in have.iter().filter(|sum| is_plain_name(&sum.name)) {
            let path = dir.join(&sum.name);
            if !path.exists() {
                // A stream that has become a table since: the other side is told.
                sent.insert(sum.name.clone(), Sent { bytes: 0, version: None });
                continue;
            }
            // What the other side has is the beginning of a stream, or it is sent again.
            let beginning = file_sum(&path, &sum.name, Some(sum.bytes)).ok();
            if beginning.as_ref() == Some(sum) {
                let version = version(&path).filter(|version| version.0 == sum.bytes);
                if is_stream(&sum.name) || version.is_some() {
                    sent.insert(sum.name.clone(), Sent { bytes: sum.bytes, version });
                }
            }
        }
        Self { dir, sent }
    }

    /// Hands on what is new; says whether there was anything.
    ///
    /// # Errors
    /// Those of `send`. A file that cannot be read now is looked at again the next time.
    pub(crate) fn send_news(&mut self, send: &mut dyn FnMut(Downward) -> io::Result<()>) -> io::Result<bool> {
        let names = self.names();
        let mut is_news = false;
        // A manifest that says that the run has ended comes after the tables it speaks of.
        let rank = |name: &String| (!is_stream(name), name.ends_with("manifest.json"));
        let mut ordered: Vec<&String> = names.iter().collect();
        ordered.sort_by_key(|name| rank(name));
        for name in ordered {
            is_news |= if is_stream(name) { self.grow(name, send)? } else { self.whole(name, send)? };
        }
        let gone: Vec<String> = self.sent.keys().filter(|name| !names.contains(*name)).cloned().collect();
        for name in gone {
            self.sent.remove(&name);
            send(Downward::Gone(name))?;
            is_news = true;
        }
        Ok(is_news)
    }

    /// All files as they are now.
    pub(crate) fn files(&self) -> Vec<FileSum> {
        self.names().iter().filter_map(|name| file_sum(&self.dir.join(name), name, None).ok()).collect()
    }

    fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        list(&self.dir, "", DEPTH, &mut names);
        names.sort();
        names
    }

    fn grow(&mut self, name: &str, send: &mut dyn FnMut(Downward) -> io::Result<()>) -> io::Result<bool> {
        let path = self.dir.join(name);
        let Ok(file) = open(&path) else { return Ok(false) };
        let len = file.metadata().map_or(0, |about| about.len());
        let sent = self.sent.entry(name.to_owned()).or_insert(Sent { bytes: 0, version: None });
        if len < sent.bytes {
            // A frame that did not fit was taken away again: the other side has to as well.
            send(Downward::Append { name: name.to_owned(), offset: len, bytes: Vec::new() })?;
            sent.bytes = len;
        }
        let begun = sent.bytes;
        while sent.bytes < len {
            let mut bytes = vec![0; PIECE.min((len - sent.bytes) as usize)];
            let Ok(read) = file.read_at(&mut bytes, sent.bytes) else { break };
            if read == 0 {
                break;
            }
            bytes.truncate(read);
            send(Downward::Append { name: name.to_owned(), offset: sent.bytes, bytes })?;
            sent.bytes += read as u64;
        }
        Ok(sent.bytes != begun)
    }

    fn whole(&mut self, name: &str, send: &mut dyn FnMut(Downward) -> io::Result<()>) -> io::Result<bool> {
        let path = self.dir.join(name);
        let Some(now) = version(&path) else { return Ok(false) };
        if self.sent.get(name).is_some_and(|sent| sent.version == Some(now)) {
            return Ok(false);
        }
        let Ok(file) = open(&path) else { return Ok(false) };
        let mut offset = 0;
        loop {
            let mut bytes = vec![0; PIECE];
            let Ok(read) = file.read_at(&mut bytes, offset) else { return Ok(false) };
            bytes.truncate(read);
            if read == 0 && offset > 0 {
                break;
            }
            send(Downward::Piece { name: name.to_owned(), offset, bytes })?;
            offset += read as u64;
            if read == 0 {
                break;
            }
        }
        send(Downward::Whole(name.to_owned()))?;
        self.sent.insert(name.to_owned(), Sent { bytes: offset, version: Some(now) });
        Ok(true)
    }
}

fn list(dir: &Path, within: &str, depth: usize, names: &mut Vec<String>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = format!("{within}{}", entry.file_name().to_string_lossy());
        let Ok(kind) = entry.file_type() else { continue };
        // What is written beside its place is not there yet. The present state is made anew once a second with an hour of
        // history: faces of the other side have their own news of it, and the record does not need it.
        if !is_plain_name(&name)
            || name.ends_with(".new")
            || name.ends_with(LIVE_FILE)
            || names.len() >= FILES_MAX
        {
            continue;
        }
        if kind.is_file() {
            names.push(name);
        } else if kind.is_dir() && depth > 0 {
            list(&entry.path(), &format!("{name}/"), depth - 1, names);
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits() as i32;
    fs::OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn version(path: &Path) -> Option<(u64, i64, i64, u64)> {
    let about = fs::symlink_metadata(path).ok()?;
    Some((about.len(), about.mtime(), about.mtime_nsec(), about.ino()))
}

/// What a file is, or its first `most` bytes.
///
/// # Errors
/// What the system says.
pub(crate) fn file_sum(path: &Path, name: &str, most: Option<u64>) -> io::Result<FileSum> {
    let file = open(path)?;
    let (mut bytes, mut crc32c) = (0_u64, 0);
    let mut piece = vec![0; PIECE];
    loop {
        let wanted = most.map_or(PIECE, |most| PIECE.min(usize::try_from(most - bytes).unwrap_or(PIECE)));
        let read = file.read_at(&mut piece[..wanted], bytes)?;
        if read == 0 {
            return Ok(FileSum { name: name.to_owned(), bytes, crc32c });
        }
        crc32c = crc32c::crc32c_append(crc32c, &piece[..read]);
        bytes += read as u64;
    }
}

/// The files of a folder here, for a fetch that goes on where it was cut.
pub fn sums_in(dir: &Path) -> Vec<FileSum> {
    FolderTail::new(dir.to_owned(), &[]).files()
}
