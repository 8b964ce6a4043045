//! The run folder as it arrives: streams grow, other files appear whole, and nothing outside the folder can be named.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use measure::patient;
use thiserror::Error;

use crate::request::{FileSum, is_plain_name};
use crate::tail::file_sum;

/// Why the copy here is not what is there.
#[derive(Debug, Error)]
pub enum MirrorError {
    /// The system refused.
    #[error("cannot write {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The other side sends what it must not.
    #[error("the other side names a file {name:?}, which is none of a run folder")]
    Name {
        /// The name.
        name: String,
    },
    /// It is not the same.
    #[error("{path} arrived with {here} bytes and another checksum; there it has {there}")]
    Differs {
        /// The file.
        path: PathBuf,
        /// Its length here.
        here: u64,
        /// Its length there.
        there: u64,
    },
}

/// A copy of a run folder in the making.
pub(crate) struct FolderMirror {
    dir: PathBuf,
    /// What this side has written, by name: nothing else is ever removed.
    brought: BTreeSet<String>,
}

impl FolderMirror {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir, brought: BTreeSet::new() }
    }

    /// Adds a piece to a file that only grows; what stands behind it was taken away there.
    pub(crate) fn append(&mut self, name: &str, offset: u64, bytes: &[u8]) -> Result<(), MirrorError> {
        let path = self.path(name)?;
        self.brought.insert(name.to_owned());
        self.write(&path, &path, offset, bytes, bytes.is_empty())
    }

    /// Adds a piece to a file that is not there yet.
    pub(crate) fn piece(&self, name: &str, offset: u64, bytes: &[u8]) -> Result<(), MirrorError> {
        let path = self.path(name)?;
        self.write(&path, &beside(&path), offset, bytes, offset == 0)
    }

    /// All of it has come.
    pub(crate) fn whole(&mut self, name: &str) -> Result<(), MirrorError> {
        let path = self.path(name)?;
        self.brought.insert(name.to_owned());
        fs::rename(beside(&path), &path).map_err(|source| MirrorError::Io { path, source })
    }

    /// It is gone there: a stream that has become a table, or the oldest part of a watch.
    pub(crate) fn gone(&mut self, name: &str) -> Result<(), MirrorError> {
        let path = self.path(name)?;
        if !self.brought.remove(name) && !name.ends_with(".arrow") {
            return Ok(());
        }
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(MirrorError::Io { path, source });
            }
            _ => {}
        }
        // With its last file a part goes too; one that holds anything stays.
        if let Some(folder) = path.parent().filter(|folder| *folder != self.dir) {
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }

    /// Whether the copy is what is there, byte for byte.
    pub(crate) fn check(&self, files: &[FileSum]) -> Result<(), MirrorError> {
        for there in files {
            let path = self.path(&there.name)?;
            let here = file_sum(&path, &there.name, None)
                .map_err(|source| MirrorError::Io { path: path.clone(), source })?;
            if here != *there {
                return Err(MirrorError::Differs { path, here: here.bytes, there: there.bytes });
            }
        }
        Ok(())
    }

    fn path(&self, name: &str) -> Result<PathBuf, MirrorError> {
        if is_plain_name(name) {
            Ok(self.dir.join(name))
        } else {
            Err(MirrorError::Name { name: name.to_owned() })
        }
    }

    fn write(&self, path: &Path, to: &Path, offset: u64, bytes: &[u8], cut: bool) -> Result<(), MirrorError> {
        use rustix::fs::OFlags;
        let attempt = || -> io::Result<()> {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK;
            let file: File = patient::open_with(to, flags)?;
            if cut {
                file.set_len(offset)?;
            }
            patient::write_all_at(&file, bytes, offset)
        };
        attempt().map_err(|source| MirrorError::Io { path: path.to_owned(), source })
    }
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::frame::Downward;
    use crate::tail::{FolderTail, sums_in};

    /// Does with the frame what this side does.
    fn take(mirror: &mut FolderMirror, frame: Downward) -> Result<(), MirrorError> {
        match frame {
            Downward::Append { name, offset, bytes } => mirror.append(&name, offset, &bytes),
            Downward::Piece { name, offset, bytes } => mirror.piece(&name, offset, &bytes),
            Downward::Whole(name) => mirror.whole(&name),
            Downward::Gone(name) => mirror.gone(&name),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_folder_arrives_byte_for_byte_as_it_grows_and_closes() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (there, here) = (scratch.path().join("there"), scratch.path().join("here"));
        fs::create_dir_all(there.join("1-default")).expect("room");
        fs::create_dir(&here).expect("room");
        let mut mirror = FolderMirror::new(here.clone());
        let mut tail = FolderTail::new(there.clone(), &[]);
        let mut step = || {
            let news = tail.send_news(&mut |frame| {
                take(&mut mirror, frame).expect("room");
                Ok(())
            });
            assert_eq!(sums_in(&there), sums_in(&here));
            news.expect("it is sent")
        };
        fs::write(there.join("io.arrow"), vec![7; 600_000]).expect("room");
        fs::write(there.join("manifest.json"), "{}").expect("room");
        fs::write(there.join("empty.json"), "").expect("room");
        fs::write(there.join("1-default/io.arrow"), "abc").expect("room");
        assert!(step() && !step());
        fs::write(there.join("io.arrow"), vec![7; 700_001]).expect("room");
        fs::write(there.join("manifest.json"), "{ }").expect("room");
        assert!(step());
        // A frame that did not fit, taken away again.
        File::options().write(true).open(there.join("io.arrow")).expect("a file").set_len(100).expect("cut");
        step();
        fs::write(there.join("io.parquet"), vec![9; 300_000]).expect("room");
        fs::remove_file(there.join("io.arrow")).expect("it is there");
        assert!(step());
        mirror.check(&sums_in(&there)).expect("the same");
        fs::write(here.join("io.parquet"), "x").expect("room");
        assert!(matches!(mirror.check(&sums_in(&there)), Err(MirrorError::Differs { .. })));
    }

    #[test]
    fn a_fetch_goes_on_where_it_was_cut() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (there, here) = (scratch.path().join("there"), scratch.path().join("here"));
        fs::create_dir(&there).expect("room");
        fs::create_dir(&here).expect("room");
        for (dir, len) in [(&there, 5000), (&here, 3000)] {
            fs::write(dir.join("io.arrow"), vec![1; len]).expect("room");
            fs::write(dir.join("manifest.json"), "{}").expect("room");
        }
        fs::write(here.join("smart.arrow"), "another").expect("room");
        fs::write(there.join("smart.arrow"), "smart pages").expect("room");
        let mut mirror = FolderMirror::new(here.clone());
        let (mut bytes, mut tail) = (0, FolderTail::new(there.clone(), &sums_in(&here)));
        let sent = tail.send_news(&mut |frame| {
            bytes += frame.encode().len();
            take(&mut mirror, frame).expect("room");
            Ok(())
        });
        assert!(sent.expect("sent") && bytes < 2500, "{bytes} bytes for 2011 that are new");
        mirror.check(&sums_in(&there)).expect("the same");
    }

    #[test]
    fn a_part_that_goes_there_goes_here_and_nothing_else_does() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (there, here) = (scratch.path().join("there"), scratch.path().join("here"));
        let (old, new) = ("sda-1/io.parquet", "sda-2/io.parquet");
        for folder in ["sda-1", "sda-2"] {
            fs::create_dir_all(there.join(folder)).expect("room");
        }
        fs::create_dir(&here).expect("room");
        fs::write(here.join("letter.txt"), "mine").expect("room");
        fs::write(there.join(old), "old").expect("room");
        fs::write(there.join("live.json"), "the present").expect("room");
        let mut mirror = FolderMirror::new(here.clone());
        let mut tail = FolderTail::new(there.clone(), &[]);
        let mut step = || {
            tail.send_news(&mut |frame| {
                take(&mut mirror, frame).expect("room");
                Ok(())
            })
            .expect("it is sent")
        };
        assert!(step() && here.join(old).exists());
        assert!(!here.join("live.json").exists(), "the present is no part of the record");
        fs::remove_dir_all(there.join("sda-1")).expect("it is there");
        fs::write(there.join(new), "new").expect("room");
        assert!(step());
        assert!(!here.join("sda-1").exists() && here.join(new).exists());
        mirror.gone("letter.txt").expect("a plain name");
        assert!(here.join("letter.txt").exists(), "the other side cannot remove what it did not bring");
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let mut mirror = FolderMirror::new(scratch.path().join("run"));
        for name in ["../x", "/tmp/x", ".bashrc", "a/../../x"] {
            assert!(mirror.append(name, 0, b"x").is_err() && mirror.piece(name, 0, b"x").is_err());
            assert!(mirror.whole(name).is_err() && mirror.gone(name).is_err());
        }
        std::os::unix::fs::symlink("/etc/passwd", scratch.path().join("link")).expect("a link");
        assert!(FolderMirror::new(scratch.path().to_owned()).append("link", 0, b"x").is_err());
    }
}
