//! The few files of a control group, as the kernel has them; a made-up tree in tests.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

/// Reads and writes files of control groups.
pub trait CgroupFiles: fmt::Debug + Send + Sync {
    /// The content of a file.
    ///
    /// # Errors
    /// What the system said.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// Writes a line to a file of the kernel, in one call.
    ///
    /// # Errors
    /// What the system said.
    fn write(&self, path: &Path, line: &str) -> io::Result<()>;

    /// The groups below a group, by name and in order.
    ///
    /// # Errors
    /// What the system said.
    fn groups(&self, path: &Path) -> io::Result<Vec<String>>;

    /// Makes a group.
    ///
    /// # Errors
    /// What the system said.
    fn make(&self, path: &Path) -> io::Result<()>;

    /// Removes a group, which must be empty.
    ///
    /// # Errors
    /// What the system said.
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// Those of this machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemCgroups;

impl CgroupFiles for SystemCgroups {
    fn read(&self, path: &Path) -> io::Result<String> {
        fs::read_to_string(path)
    }

    fn write(&self, path: &Path, line: &str) -> io::Result<()> {
        // Opened without making it: a file of the kernel that is not there is an error.
        use std::io::Write as _;
        fs::OpenOptions::new().write(true).open(path)?.write_all(line.as_bytes())
    }

    fn groups(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                names.extend(entry.file_name().into_string());
            }
        }
        names.sort();
        Ok(names)
    }

    fn make(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}
