//! State files: what a drive keeps over a restart of its server, one file a drive.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use super::ServerError;
use crate::controller::SavedState;

/// Reads a state file; one that is missing is that of a new drive.
pub(super) fn read(path: &Path) -> Result<SavedState, ServerError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SavedState::default()),
        Err(source) => return Err(ServerError::StateFile { path: path.to_owned(), source }),
    };
    SavedState::from_json(&text).map_err(|source| ServerError::State { path: path.to_owned(), source })
}

/// Writes a state file, whole or not at all.
pub(super) fn write(path: &Path, state: &SavedState) -> io::Result<()> {
    let text = state.to_json().map_err(io::Error::other)?;
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut file = File::create(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)
}
