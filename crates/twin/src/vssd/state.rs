//! State files: what a drive keeps over a restart of its server, one file a drive, for this user alone.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::ServerError;
use crate::controller::{SavedState, backing_name};

/// Reads a state file; `None` for one that is missing.
fn find(path: &Path) -> Result<Option<SavedState>, ServerError> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    let mut text = String::new();
    match opened.and_then(|mut file| file.read_to_string(&mut text)) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::LOOP) => {
            return Err(ServerError::StateLink { path: path.to_owned() });
        }
        Err(source) => return Err(ServerError::StateFile { path: path.to_owned(), source }),
    }
    let state = SavedState::from_json(&text);
    state.map(Some).map_err(|source| ServerError::State { path: path.to_owned(), source })
}

/// Reads a state file; one that is missing is that of a new drive.
pub(super) fn read(path: &Path) -> Result<SavedState, ServerError> {
    find(path).map(Option::unwrap_or_default)
}

/// The name that a drive has by the files it keeps; `None` for a new one. A state of a version that kept no names is
/// that of the drive `unnamed`.
///
/// # Errors
/// A state file that cannot be read.
pub fn kept_name(
    state: Option<&Path>,
    backing: Option<&Path>,
    unnamed: &str,
) -> Result<Option<String>, ServerError> {
    if let Some(state) = state.map(find).transpose()?.flatten() {
        return Ok(Some(state.name.unwrap_or_else(|| unnamed.to_owned())));
    }
    Ok(backing.and_then(backing_name))
}

/// Writes a state file, whole or not at all, and so that a power cut finds either the old or the new one.
pub(super) fn write(path: &Path, state: &SavedState) -> io::Result<()> {
    let text = state.to_json().map_err(io::Error::other)?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // Mode 0600 and a name that nobody can have put a link at.
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().sync_all()?;
    beside.persist(path)?;
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some network file systems sync no folders.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod test {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_state_file_is_the_users_alone_and_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.json");
        assert_eq!(read(&path).expect("a new drive"), SavedState::default());
        let state = SavedState { name: Some("relay-1".to_owned()), power_cycles: 3, ..SavedState::default() };
        for _ in 0..2 {
            write(&path, &state).expect("room");
            assert_eq!(read(&path).expect("ours"), state);
        }
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left beside it");
    }

    #[test]
    fn no_link_is_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("letter"), folder.path().join("state.json"));
        fs::write(&path, "{}").expect("room");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        let why = read(&link).expect_err("a link").to_string();
        assert!(why.contains("symbolic link"), "{why}");
        assert_eq!(fs::read(&path).expect("there"), b"{}");
    }

    #[test]
    fn a_drive_keeps_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.json");
        let name = |path: &Path| kept_name(Some(path), None, "relay").expect("readable");
        assert_eq!(name(&path), None, "a new drive");
        fs::write(&path, r#"{"schema":1,"power_cycles":2}"#).expect("room");
        assert_eq!(name(&path).as_deref(), Some("relay"), "of the time before drives had names");
        let state = SavedState { name: Some("relay-1f".to_owned()), ..SavedState::default() };
        write(&path, &state).expect("room");
        assert_eq!(name(&path).as_deref(), Some("relay-1f"));
    }
}
